"""Vectors and exact derivatives; expressions as graphs."""

from .operators import shorten

shorten()
