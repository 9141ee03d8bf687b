"""The numbers of a robot as inputs of its functions: symbols, values, paths."""

from .numbers import Entry, Numbers

__all__ = ["Entry", "Numbers"]
