"""Cells of CSV files as spreadsheets and loggers write them.

Columns are separated by commas, or by semicolons or tabs, with decimal points or commas then. Rows start
after the header; empty lines and lines that start with ``#`` are passed over.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import Fault, MotionFileError
from ..files.documents import read
from .columns import COLUMN_UNITS, QUANTITY_OF_UNIT, MotionColumn

_HEADER = re.compile(r"\s*(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?\s*")
_MISSING = ("", "nan", "na", "n/a", "-")
Row = tuple[int, str]
"""The number of a line and its text."""


class Cells(NamedTuple):
    """Columns, values (n, k) in SI units, the lines they stand in, and the names of columns not asked for."""

    columns: tuple[MotionColumn, ...]
    values: Array
    lines: list[int]
    others: tuple[str, ...]


class _Layout(NamedTuple):
    """Columns to read, their places among ``width``, factors to SI, the delimiter, and whether cells may be missing."""

    columns: tuple[MotionColumn, ...]
    places: list[int]
    factors: list[float]
    width: int
    delimiter: str
    may_miss: bool


def read_cells(path: Path, chosen: Collection[str] | None = None, time: bool = False) -> Cells:
    """A CSV file's numbers; with ``time`` the column of that name comes first.

    All columns are read, and every cell must be a number. Or ``chosen`` ones, whose cells may be missing (NaN) but
    for the time; others may hold anything.
    """
    lines = read(path, MotionFileError).removeprefix("\ufeff").splitlines()
    rows = [
        (number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(rows) < 2:
        got = f"a header and rows of numbers are needed, got {len(rows)} lines"
        raise MotionFileError(str(path), [Fault("", got, rows[0][0] if rows else 1)])
    layout, others = _header(path, *rows[0], chosen, time)
    values = _values(path, layout, _with_decimal_points(path, layout, rows[1:]))
    return Cells(layout.columns, values * layout.factors, [number for number, _ in rows[1:]], others)


def _header(
    path: Path, line: int, text: str, chosen: Collection[str] | None, time: bool
) -> tuple[_Layout, tuple[str, ...]]:
    delimiter = next((m for m in ";\t" if m in text), ",")
    try:
        cells = [_HEADER.fullmatch(cell) or cell for cell in next(csv.reader([text], delimiter=delimiter))]
    except csv.Error as error:
        raise MotionFileError(str(path), [Fault("", f"the header is none of a table: {error}", line)]) from error
    names = [cell if isinstance(cell, str) else cell["name"] for cell in cells]
    wanted = [k for k, name in enumerate(names) if chosen is None or name in chosen or (time and name == "time")]
    faults = []
    if time and "time" not in names:
        faults.append(Fault("", f"a column 'time' is needed (a header such as 'time,x,y,z'), got {text!r}", line))
    elif time:
        wanted.remove(names.index("time"))
        wanted.insert(0, names.index("time"))
    columns: list[MotionColumn] = []
    factors = []
    for k in wanted:
        cell = cells[k]
        unit = "" if isinstance(cell, str) else cell["unit"] or ""
        quantity = QUANTITY_OF_UNIT.get(unit, "")
        if unit and not quantity:
            faults.append(Fault(names[k], f"unit must be one of {', '.join(QUANTITY_OF_UNIT)}, got {unit!r}", line))
        if names[k] in [other.name for other in columns]:
            faults.append(Fault(names[k], "every column needs a name of its own, this one is there twice", line))
        if time and names[k] == "time" and quantity not in ("", "time"):
            faults.append(Fault("time", f"takes [s] or [ms], got a unit of {quantity}", line))
        columns.append(MotionColumn(names[k], quantity, unit))
        factors.append(COLUMN_UNITS[quantity][unit] if quantity else 1.0)
    if faults:
        raise MotionFileError(str(path), faults)
    others = tuple(name for k, name in enumerate(names) if k not in wanted)
    return _Layout(tuple(columns), wanted, factors, len(names), delimiter, chosen is not None), others


def _with_decimal_points(path: Path, layout: _Layout, rows: list[Row]) -> list[Row]:
    """Rows with decimal points, where columns are not separated by commas and numbers have decimal commas."""

    def first(character: str) -> int | None:
        """Number of the first line with this character in a column to read."""
        for number, text in rows:
            if character in text:
                cells = text.split(layout.delimiter)
                if any(character in cells[place] for place in layout.places if place < len(cells)):
                    return number
        return None

    if layout.delimiter == "," or first(",") is None:
        return rows
    both = first(".")
    if both is not None:
        problem = "decimal commas, and points as well: write all numbers in one way, without marks for thousands"
        raise MotionFileError(str(path), [Fault("", problem, both)])
    return [(number, text.replace(",", ".")) for number, text in rows]


def _values(path: Path, layout: _Layout, rows: list[Row]) -> Array:
    if all(text.count(layout.delimiter) == layout.width - 1 for _, text in rows):
        try:
            # a long log in less than half of the time that cells one by one take
            texts = [text for _, text in rows]
            table = np.loadtxt(texts, delimiter=layout.delimiter, comments=None, ndmin=2, usecols=layout.places)
            if np.isfinite(table).all():
                return np.asarray(table)
        except ValueError:
            pass
    return _cell_by_cell(path, layout, rows)


def _cell_by_cell(path: Path, layout: _Layout, rows: list[Row]) -> Array:
    """Values (n, k), or an error with every cell that is no number."""
    numbers, faults = [], []
    for line, text in rows:
        cells = next(csv.reader([text], delimiter=layout.delimiter))
        if len(cells) != layout.width:
            faults.append(Fault("", f"{layout.width} columns are needed as in the header, got {len(cells)}", line))
            continue
        row = []
        for column, place in zip(layout.columns, layout.places, strict=True):
            cell = cells[place].strip()
            if layout.may_miss and column.name != "time" and cell.lower() in _MISSING:
                row.append(math.nan)
                continue
            try:
                row.append(float(cell))
                if not math.isfinite(row[-1]):
                    raise ValueError
            except ValueError:
                hint = "; a decimal point is needed" if re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell) else ""
                faults.append(Fault(column.name, f"must be a finite number, got {cell!r}{hint}", line))
        numbers.append(row)
    if faults:
        raise MotionFileError(str(path), faults[:20])
    return np.array(numbers)
