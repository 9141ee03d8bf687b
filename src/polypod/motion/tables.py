"""Tables of numbers over time from CSV files: a header with a name, and a unit if any, to each column, then rows.

Columns are known by their names, in whatever order they stand; a name or a unit that does not fit is refused.
"""

from __future__ import annotations

import csv
import math
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..errors import Fault, FileError, InputError, MotionFileError
from ..files.documents import read
from .checks import ROUNDING, Array
from .columns import QUANTITY_OF_UNIT, UNITS, Column
from .contract import Timed

_HEADER = re.compile(r"\s*(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?\s*")


@dataclass(frozen=True, eq=False)
class Table:
    """Values (n, k) in SI units at times (n,) [s] from 0; ``start`` is the time that the first row states."""

    name: str
    columns: tuple[Column, ...]
    start: float
    times: Array
    values: Array

    def matched(self, *choices: tuple[Column, ...]) -> Table:
        """The same table with the columns of one of ``choices`` in that order, found by name.

        Other names, or a unit that measures something else, are an InputError that says what was read.
        """
        names = [column.name for column in self.columns]
        wanted = next((choice for choice in choices if {c.name for c in choice} == set(names)), None)
        if wanted is None or len(names) != len(wanted):
            allowed = " or ".join(", ".join(("time", *(c.name for c in choice))) for choice in choices)
            got = ", ".join(("time", *names))
            raise InputError(f"csv: {self.name}: the columns must be {allowed} (in any order), got {got}")
        order = [names.index(column.name) for column in wanted]
        for column, place in zip(wanted, order, strict=True):
            fits(f"csv: {self.name}", column.name, self.columns[place].quantity, column.quantity)
        return replace(self, columns=wanted, values=self.values[:, order])


def _article(quantity: str) -> str:
    return f"an {quantity}" if quantity[0] in "aeiou" else f"a {quantity}"


def one_clock(field: str, *parts: Timed[tuple[Array, ...]]) -> float | None:
    """The time that the tables of several parts that happen at once start at; they have one clock."""
    starts = [part.clock for part in parts if part.clock is not None]
    if not starts:
        return None
    if max(starts) - min(starts) > ROUNDING * max(map(abs, starts)):
        raise InputError(f"{field}: tables of one motion have one clock and start together, got starts {starts} s")
    return starts[0]


def read_table(folder: Path, name: str) -> Table:
    """The table of a field ``csv``; what is wrong with the file is an InputError of that field."""
    try:
        return _read(folder / name, name)
    except FileError as error:
        where = "" if os.path.exists(folder / name) else f" (looked for in {folder.absolute()})"
        raise InputError(f"csv: {name}: {'; '.join(map(str, error.faults))}{where}") from error


def read_columns(path: Path) -> tuple[tuple[Column, ...], Array]:
    """Columns and their values (n, k) in SI units of a CSV file whose rows have no time."""
    columns, values, _ = _numbers(path, timed=False)
    return columns, values


def fits(what: str, name: str, stated: str, quantity: str) -> None:
    """Raise if the unit that a column's header states measures something else than the column holds."""
    if stated not in ("", quantity):
        units = " or ".join(f"[{unit}]" for unit in UNITS[quantity])
        raise InputError(f"{what}: column {name!r} is {_article(quantity)} and takes {units}, got a unit of {stated}")


def _read(path: Path, name: str) -> Table:
    columns, table, lines = _numbers(path, timed=True)
    if not (np.diff(table[:, 0]) > 0).all():
        raise MotionFileError(str(path), _order_faults(lines, table[:, 0].tolist())[:20])
    start = float(table[0, 0])
    return Table(name, columns[1:], start, table[:, 0] - start, table[:, 1:])


def _numbers(path: Path, timed: bool) -> tuple[tuple[Column, ...], Array, list[int]]:
    """Columns, values (n, k) in SI units and the lines they stand in.

    Rows start at the second line; empty lines and lines that start with ``#`` are passed over.
    """
    lines = read(path, MotionFileError).splitlines()
    rows = [
        (number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(rows) < 2:
        got = f"a header and rows of numbers are needed, got {len(rows)} lines"
        raise MotionFileError(str(path), [Fault("", got, rows[0][0] if rows else 1)])
    columns, factors = _header(path, *rows[0], timed)
    try:
        # a long log in less than half of the time that cells one by one take
        table = np.loadtxt([line for _, line in rows[1:]], delimiter=",", comments=None, ndmin=2)
    except ValueError:
        table = np.zeros((0, 0))
    if table.shape != (len(rows) - 1, len(columns)) or not np.isfinite(table).all():
        table = _cell_by_cell(path, columns, rows[1:])
    return columns, table * factors, [number for number, _ in rows[1:]]


def _cell_by_cell(path: Path, columns: tuple[Column, ...], rows: list[tuple[int, str]]) -> Array:
    """Values (n, k), or an error with every cell that is no number."""
    numbers, faults = [], []
    for line, text in rows:
        cells = next(csv.reader([text]))
        if len(cells) != len(columns):
            faults.append(Fault("", f"{len(columns)} columns are needed as in the header, got {len(cells)}", line))
            continue
        row = []
        for column, cell in zip(columns, cells, strict=True):
            try:
                row.append(float(cell))
                if not math.isfinite(row[-1]):
                    raise ValueError
            except ValueError:
                faults.append(Fault(column.name, f"must be a finite number, got {cell.strip()!r}", line))
        numbers.append(row)
    if faults:
        raise MotionFileError(str(path), faults[:20])
    return np.array(numbers)


def _header(path: Path, line: int, text: str, timed: bool) -> tuple[tuple[Column, ...], list[float]]:
    columns: list[Column] = []
    factors, faults = [], []
    for cell in next(csv.reader([text])):
        match = _HEADER.fullmatch(cell)
        unit = (match["unit"] if match else None) or ""
        quantity = QUANTITY_OF_UNIT.get(unit, "")
        column = Column(match["name"] if match else cell, quantity)
        if unit and not quantity:
            faults.append(Fault(column.name, f"unit must be one of {', '.join(QUANTITY_OF_UNIT)}, got {unit!r}", line))
        if column.name in [other.name for other in columns]:
            faults.append(Fault(column.name, "every column needs a name of its own, this one is there twice", line))
        columns.append(column)
        factors.append(UNITS[quantity][unit] if quantity else 1.0)
    if timed and columns[0].name != "time":
        hint = "; separate the columns with commas" if ";" in text or "\t" in text else ""
        wanted = f"the first column must be 'time' (a header such as 'time,x,y,z'), got {text!r}{hint}"
        faults.append(Fault("", wanted, line))
    elif timed and columns[0].quantity not in ("", "time"):
        faults.append(Fault("time", f"takes [s] or [ms], got a unit of {columns[0].quantity}", line))
    if faults:
        raise MotionFileError(str(path), faults)
    return tuple(columns), factors


def _order_faults(lines: list[int], times: list[float]) -> list[Fault]:
    return [
        Fault("time", f"must increase from row to row, got {after:.12g} after {before:.12g}", line)
        for line, before, after in zip(lines[1:], times, times[1:], strict=False)
        if not after > before
    ]
