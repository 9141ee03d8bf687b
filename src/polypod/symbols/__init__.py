"""Vectors and exact derivatives; expressions as graphs."""
