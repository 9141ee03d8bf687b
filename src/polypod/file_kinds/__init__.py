"""Kinds of files: their checks and their JSON schemas."""

from .checking import Report, check, kind_of
from .json_schema import schema

__all__ = ["Report", "check", "kind_of", "schema"]
