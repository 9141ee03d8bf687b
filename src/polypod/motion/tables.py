"""Tables of numbers over time from CSV files: a header with a name, and a unit if any, to each column, then rows.

Columns are known by their names, in whatever order they stand; a name or a unit that does not fit is refused.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..arrays import Array
from ..errors import Fault, FileError, InputError, MotionFileError
from .cells import Cells, read_cells
from .checks import ROUNDING
from .columns import COLUMN_UNITS, MotionColumn
from .contract import Timed


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
        raise InputError(f"{field}: tables of one motion have one clock and start together, got starts {starts} s")
    return starts[0]


def read_table(folder: Path, name: str, chosen: Collection[str] | None = None) -> TimeTable:
    """The table of a field ``csv``; what is wrong with the file is an InputError of that field.

    Of ``chosen`` columns cells may be missing (NaN); other columns are only named then, whatever they hold.
    """
    try:
        return _read(folder / name, name, chosen)
    except FileError as error:
        where = "" if os.path.exists(folder / name) else f" (looked for in {folder.absolute()})"
        raise InputError(f"csv: {name}: {'; '.join(map(str, error.faults))}{where}") from error


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
