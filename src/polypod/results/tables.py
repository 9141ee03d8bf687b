"""Tables with units of results; see :mod:`polypod.tables`, which needs no other part of polypod."""

from ..tables import Column, Table, short, table

__all__ = ["Column", "Table", "short", "table"]
