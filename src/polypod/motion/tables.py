"""Tables of numbers over time from CSV files: a header with a name, and a unit if any, to each column, then rows.

Columns are known by their names, in whatever order they stand; a name or a unit that does not fit is refused.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import Fault, FileError, InputError, MotionFileError
from ..files.documents import read
from .checks import ROUNDING
from .contract import Timed
from .fields import COLUMN_UNITS, QUANTITY_OF_UNIT, MotionColumn


@dataclass(frozen=True, eq=False)
class TimeTable:
    """Values (n, k) in SI units at times (n,) [s] from 0; ``start`` is the time that the first row states.

    ``others`` are columns that were not asked for.
    """

    name: str
    columns: tuple[MotionColumn, ...]
    start: float
    times: Array
    values: Array
    others: tuple[str, ...] = ()

    def select(self, *choices: tuple[MotionColumn, ...]) -> TimeTable:
        """The same table with the columns of one of ``choices`` in that order, found by name.

        Other names, or a unit that measures something else, are an InputError that says what was read.
        """
        names = [column.name for column in self.columns]
        wanted = next((choice for choice in choices if {c.name for c in choice} == set(names)), None)
        if wanted is None or len(names) != len(wanted):
            allowed = " or ".join(", ".join(("time", *(c.name for c in choice))) for choice in choices)
            got = ", ".join(("time", *names))
            nearest = max(choices, key=lambda choice: len({c.name for c in choice} & set(names)))
            missing = ", ".join(c.name for c in nearest if c.name not in names)
            lacks = f"; {missing} missing" if missing and {*names} < {c.name for c in nearest} else ""
            raise InputError(f"csv: {self.name}: the columns must be {allowed} (in any order), got {got}{lacks}")
        order = [names.index(column.name) for column in wanted]
        for column, place in zip(wanted, order, strict=True):
            check_unit(f"csv: {self.name}", column.name, self.columns[place].quantity, column.quantity)
        self._units_alike({column.name: column.quantity for column in wanted})
        return replace(self, columns=wanted, values=self.values[:, order])

    def _units_alike(self, quantities: dict[str, str]) -> None:
        """Raise if a column has no unit where another of its kind has one that is not SI: was the same meant?"""
        for column in self.columns:
            quantity = quantities[column.name]
            other = next(
                (c for c in self.columns if c.quantity == quantity and COLUMN_UNITS[quantity][c.unit] != 1.0), None
            )
            if not column.unit and other is not None:
                meant = f"write '{column.name} [{other.unit}]', or [{next(iter(COLUMN_UNITS[quantity]))}]"
                problem = f"column {column.name!r} has no unit, but {other.name!r} is in {other.unit}: {meant}"
                raise InputError(f"csv: {self.name}: {problem}")


def _article(quantity: str) -> str:
    return f"an {quantity}" if quantity[0] in "aeiou" else f"a {quantity}"


def one_clock(field: str, *parts: Timed[tuple[Array, ...]]) -> float | None:
    """The time that the tables of several parts that happen at once start at; they have one clock."""
    starts = [part.clock for part in parts if part.clock is not None]
    if not starts:
        return None
    if max(starts) - min(starts) > ROUNDING * max(map(abs, starts)):
        raise InputError(f"{field}: tables of one motion must start at the same time, got starts {starts} s")
    return starts[0]


def read_table(folder: Path, name: str, chosen: Collection[str] | None = None) -> TimeTable:
    """The table of a field ``csv``; what is wrong with the file is an InputError of that field.

    Of ``chosen`` columns cells may be missing (NaN); other columns are only named then, whatever they hold.
    """
    try:
        return _read(folder / name, name, chosen)
    except FileError as error:
        where = "" if os.path.exists(folder / name) else f" (looked for in {folder.absolute()})"
        raise InputError(f"csv: {name}: {'; '.join(map(str, error.faults))}{where}", code=error.code) from error


def read_columns(path: Path) -> tuple[tuple[MotionColumn, ...], Array]:
    """Columns and their values (n, k) in SI units of a CSV file whose rows have no time."""
    cells = read_cells(path)
    return cells.columns, cells.values


def check_unit(what: str, name: str, stated: str, quantity: str) -> None:
    """Raise if the unit that a column's header states measures something else than the column holds."""
    if stated not in ("", quantity):
        units = " or ".join(f"[{unit}]" for unit in COLUMN_UNITS[quantity])
        raise InputError(f"{what}: column {name!r} is {_article(quantity)} and takes {units}, got a unit of {stated}")


def _read(path: Path, name: str, chosen: Collection[str] | None) -> TimeTable:
    cells = read_cells(path, chosen, time=True)
    times = cells.values[:, 0]
    if not (np.diff(times) > 0).all():
        raise MotionFileError(str(path), _order_faults(cells, times.tolist())[:20])
    start = float(times[0])
    return TimeTable(name, cells.columns[1:], start, times - start, cells.values[:, 1:], cells.others)


def _order_faults(cells: Cells, times: list[float]) -> list[Fault]:
    faults = []
    for line, before, after in zip(cells.lines[1:], times, times[1:], strict=False):
        if not after > before:
            hint = "; leave out rows that repeat" if after == before else ""
            problem = f"must increase from row to row, got {after:.12g} after {before:.12g}{hint}"
            faults.append(Fault("time", problem, line))
    return faults


# ----------------------------------------------------------------------------------------------------------------------
# Cells of CSV files as spreadsheets and loggers write them.
#
# Columns are separated by commas, or by semicolons or tabs, with decimal points or commas then. Rows start
# after the header; empty lines and lines that start with ``#`` are passed over.

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
        got = f"must have a header and rows of numbers, got {len(rows)} lines"
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
        raise MotionFileError(str(path), [Fault("", f"not a table header: {error}", line)]) from error
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
            faults.append(Fault(names[k], "column names must be unique; this one appears twice", line))
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
        problem = "decimal commas and decimal points are mixed; use one of them, without thousands separators"
        raise MotionFileError(str(path), [Fault("", problem, both, "mixed_commas")])
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
            faults.append(Fault("", f"must have {layout.width} columns as in the header, got {len(cells)}", line))
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
                hint = "; use a decimal point" if re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell) else ""
                faults.append(Fault(column.name, f"must be a finite number, got {cell!r}{hint}", line))
        numbers.append(row)
    if faults:
        raise MotionFileError(str(path), faults[:20])
    return np.array(numbers)
