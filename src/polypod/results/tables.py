"""Small tables with units, for people (terminal, HTML), for catalogues (CSV) and for programs (JSON)."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..files.safe_names import cell


@dataclass(frozen=True)
class Column:
    """A column: what it holds, in which unit (empty for texts and pure numbers)."""

    name: str
    unit: str = ""

    @property
    def header(self) -> str:
        """Name and unit, as a CSV header and a table's heading spell them."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    @property
    def key(self) -> str:
        """Name of the value in JSON."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True)
class Table:
    """Rows of texts and numbers under columns; the caption says what a reader must know of them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""

    def only(self, names: Sequence[str]) -> Table:
        """The table with some of its columns."""
        shown = [k for k, column in enumerate(self.columns) if column.name in names]
        rows = tuple(tuple(row[k] for k in shown) for row in self.rows)
        return replace(self, columns=tuple(self.columns[k] for k in shown), rows=rows)

    def csv(self) -> str:
        """As CSV text; numbers in full precision, an open number as an empty cell."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([cell(column.header) for column in self.columns])
        writer.writerows([[_full(value) for value in row] for row in self.rows])
        return out.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """As JSON data, one mapping a row; SI units; an open number is null."""
        keys = [column.key for column in self.columns]
        rows = ([None if _open(value) else value for value in row] for row in self.rows)
        return [dict(zip(keys, row, strict=True)) for row in rows]

    def texts(self) -> list[list[str]]:
        """Rows as short texts for reading."""
        return [[short(value) for value in row] for row in self.rows]


def _open(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _full(value: Any) -> Any:
    if isinstance(value, str):
        return cell(value)
    return "" if _open(value) else repr(value) if isinstance(value, float) else value


def short(value: Any) -> str:
    """A number with four digits that count (``-`` for one that is open), anything else as it is."""
    if _open(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"
    return str(value)


def table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], caption: str = "") -> Table:
    """A table from names, units and rows.

    >>> print(table("Drives", [("leg", ""), ("peak force", "N")], [("leg1", 12.5)]).csv())
    leg,peak force [N]
    leg1,12.5
    <BLANKLINE>
    """
    return Table(title, tuple(Column(*column) for column in columns), tuple(tuple(row) for row in rows), caption)
