"""Tables of numbers over time from CSV files: a header with a unit to each column, then rows of numbers."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import Fault, InputError, MotionFileError
from ..files.documents import read

Array = NDArray[np.float64]
_HEADER = re.compile(r"\s*(?P<name>[^\[\]]*?)\s*(?:\[(?P<unit>[^\[\]]*)\])?\s*")
UNITS = {"s": 1.0, "ms": 1e-3, "m": 1.0, "mm": 1e-3, "rad": 1.0, "deg": math.pi / 180, "N": 1.0, "kN": 1e3, "N m": 1.0}
"""Units a column's header may state in brackets, as factors to SI; without one the column is in SI units."""


def read_table(path: Path) -> tuple[tuple[str, ...], Array, Array]:
    """Names of the columns after ``time``, times (n,) [s] and values (n, k) in SI units.

    Rows start at the second line; empty lines and lines that start with ``#`` are passed over.
    """
    lines = read(path, MotionFileError).splitlines()
    rows = [
        (number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(rows) < 2:
        raise MotionFileError(str(path), [Fault("", f"a header and rows of numbers are needed, got {len(rows)} lines")])
    names, factors = _header(path, *rows[0])
    numbers, faults = [], []
    for line, text in rows[1:]:
        cells = next(csv.reader([text]))
        if len(cells) != len(names):
            faults.append(Fault("", f"{len(names)} columns are needed as in the header, got {len(cells)}", line))
            continue
        row = []
        for name, cell in zip(names, cells, strict=True):
            try:
                row.append(float(cell))
                if not math.isfinite(row[-1]):
                    raise ValueError
            except ValueError:
                faults.append(Fault(name, f"must be a finite number, got {cell.strip()!r}", line))
        numbers.append(row)
    if not faults:
        faults = _order_faults([line for line, _ in rows[1:]], [row[0] for row in numbers])
    if faults:
        raise MotionFileError(str(path), faults[:20])
    table = np.array(numbers) * factors
    return names[1:], table[:, 0], table[:, 1:]


def table_field(folder: Path, name: str) -> tuple[tuple[str, ...], Array, Array]:
    """:func:`read_table` for a field ``csv`` of a motion file: its faults are that field's."""
    try:
        return read_table(folder / name)
    except MotionFileError as error:
        where = "" if (folder / name).exists() else f" (looked for in {folder.absolute()})"
        raise InputError(f"csv: {name}: {'; '.join(map(str, error.faults))}{where}") from error


def _header(path: Path, line: int, text: str) -> tuple[tuple[str, ...], list[float]]:
    names, factors, faults = [], [], []
    for cell in next(csv.reader([text])):
        match = _HEADER.fullmatch(cell)
        unit = (match["unit"] if match else None) or ""
        names.append(match["name"] if match else cell)
        if unit and unit not in UNITS:
            faults.append(Fault(names[-1], f"unit must be one of {', '.join(UNITS)}, got {unit!r}", line))
        factors.append(UNITS.get(unit, 1.0))
    if names[0] != "time":
        hint = "; separate the columns with commas" if ";" in text or "\t" in text else ""
        wanted = f"the first column must be 'time' (a header such as 'time,x,y,z'), got {text!r}{hint}"
        faults.append(Fault("", wanted, line))
    if faults:
        raise MotionFileError(str(path), faults)
    return tuple(names), factors


def _order_faults(lines: list[int], times: list[float]) -> list[Fault]:
    return [
        Fault("time", f"must increase from row to row, got {after:.12g} after {before:.12g}", line)
        for line, before, after in zip(lines[1:], times, times[1:], strict=False)
        if not after > before
    ]
