"""Small tables with units, for people (terminal, HTML), for catalogues (CSV) and for programs (JSON)."""

from __future__ import annotations

import csv
import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

SQUARED = "\N{SUPERSCRIPT TWO}"
_NOISE = 1e-9  # of the largest number of a unit; less is rounding


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        What it holds.
    unit : str
        Its unit; empty for texts and pure numbers.
    """

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


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of texts and numbers under columns; prints as text and shows as HTML in notebooks.

    Attributes
    ----------
    title : str
        Title.
    columns : tuple of Column
        Names and units of the columns.
    rows : tuple of tuple
        Values, in SI units.
    caption : str
        What a reader must know about them.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""

    def only(self, names: Sequence[str]) -> Table:
        """The table with some of its columns.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.

        Returns
        -------
        Table
            The table.
        """
        shown = [k for k, column in enumerate(self.columns) if column.name in names]
        rows = tuple(tuple(row[k] for k in shown) for row in self.rows)
        return replace(self, columns=tuple(self.columns[k] for k in shown), rows=rows)

    def csv(self) -> str:
        """The table as CSV text; numbers in full precision, NaN as an empty cell.

        Returns
        -------
        str
            CSV text.
        """
        from .output.safe_names import cell

        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([cell(column.header) for column in self.columns])
        writer.writerows(
            [[cell(value) if isinstance(value, str) else _full(value) for value in row] for row in self.rows]
        )
        return out.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """The table as JSON data, in SI units.

        Returns
        -------
        list of dict
            One mapping per row; NaN is None.
        """
        keys = [column.key for column in self.columns]
        rows = ([None if _missing(value) else value for value in row] for row in self.rows)
        return [dict(zip(keys, row, strict=True)) for row in rows]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame, in SI units.

        Returns
        -------
        pandas.DataFrame
            One row per row; columns are named with their units, such as ``peak force [N]``.
        """
        import pandas as pd  # type: ignore[import-untyped]

        return pd.DataFrame([list(row) for row in self.rows], columns=[column.header for column in self.columns])

    def texts(self, digits: int = 4) -> list[list[str]]:
        """Rows as short texts for reading; a number that is rounding beside the largest of its unit is 0.

        Parameters
        ----------
        digits : int, optional
            Number of significant digits.

        Returns
        -------
        list of list of str
            Texts by row.
        """
        largest: dict[str, float] = {}
        for row in self.rows:
            for column, value in zip(self.columns, row, strict=True):
                if isinstance(value, float) and math.isfinite(value):
                    largest[_family(column.unit)] = max(largest.get(_family(column.unit), 0.0), abs(value))
        least = [_NOISE * largest.get(_family(column.unit), 0.0) if column.unit else 0.0 for column in self.columns]
        return [
            [
                "0" if isinstance(value, float) and abs(value) < limit else short(value, digits)
                for value, limit in zip(row, least, strict=True)
            ]
            for row in self.rows
        ]

    def practical(self) -> Table:
        """The table in practical units: mm, mm/s and deg in place of m, m/s and rad; forces in N m are called torques.

        A column named ``unit`` gives the unit of the numbers of its row that have none of their own.

        Returns
        -------
        Table
            The table.
        """
        own = next((k for k, column in enumerate(self.columns) if column.name == "unit"), None)
        columns = tuple(Column(called(c.name, c.unit), practical_unit(c.unit)[1]) for c in self.columns)
        rows = []
        for row in self.rows:
            factor, unit = (1.0, "") if own is None else practical_unit(str(row[own]))
            cells = []
            for k, (column, value) in enumerate(zip(self.columns, row, strict=True)):
                scale = practical_unit(column.unit)[0] if column.unit else factor
                cells.append(unit if k == own else scale * value if isinstance(value, float) else value)
            rows.append(tuple(cells))
        return replace(self, columns=columns, rows=tuple(rows))

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers, which stand to the right."""
        return [any(isinstance(row[k], float) for row in self.rows) for k in range(len(self.columns))]

    def lines(self, width: int | None = None, digits: int = 4) -> list[list[str]]:
        """The table in monospaced text.

        Parameters
        ----------
        width : int, optional
            Width of a terminal: headings of numbers then take one line per word, and a last column of texts is wrapped.
        digits : int, optional
            Number of significant digits.

        Returns
        -------
        list of list of str
            Lines of the title, heading, rows and caption.
        """
        numeric, narrow = self.numeric, width is not None
        heads = [
            [*(column.name.split() if number and narrow else [column.name]), *([column.unit] if column.unit else [])]
            for column, number in zip(self.columns, numeric, strict=True)
        ]
        with_units = any(column.unit for column in self.columns)
        for head, column in zip(heads, self.columns, strict=True):
            head += [""] if with_units and not column.unit else []
        tall = max(map(len, heads), default=0)
        heads = [[""] * (tall - len(head)) + head for head in heads]
        body = self.texts(digits)
        wide = [max(map(len, [*head, *(row[k] for row in body)]), default=0) for k, head in enumerate(heads)]
        last = len(wide) - 1
        room = None
        if width is not None and last >= 0 and not numeric[last]:
            room = max(width - sum(wide[:-1]) - 2 * last, 20)

        def laid_out(cells: Sequence[str]) -> list[str]:
            broken = textwrap.wrap(cells[last], room) if room is not None and len(cells[last]) > room else [cells[last]]
            rows = [[*cells[:last], broken[0]], *([""] * last + [part] for part in broken[1:])]
            return [
                "  ".join(
                    cell.rjust(size) if number else cell.ljust(size)
                    for cell, size, number in zip(row, wide, numeric, strict=True)
                ).rstrip()
                for row in rows
            ]

        heading = [line for k in range(tall) for line in laid_out([head[k] for head in heads])]
        return [
            [self.title],
            heading,
            [line for row in body for line in laid_out(row)],
            [self.caption] if self.caption else [],
        ]

    def __str__(self) -> str:
        return "\n".join(line for part in self.lines() for line in part)

    def __repr__(self) -> str:
        return f"Table({self.title!r}: {len(self.rows)} rows of {', '.join(column.header for column in self.columns)})"

    def html(self, digits: int = 4) -> str:
        """The table as HTML; texts are escaped.

        Parameters
        ----------
        digits : int, optional
            Number of significant digits.

        Returns
        -------
        str
            HTML.
        """
        numeric = self.numeric
        head = "".join(
            f'<th class="{"number" if number else "text"}">{escape(column.header.replace("^2", SQUARED))}</th>'
            for column, number in zip(self.columns, numeric, strict=True)
        )
        body = "\n".join(
            "<tr>"
            + "".join(
                f'<td class="{"number" if number else "text"}">{escape(text)}</td>'
                for text, number in zip(row, numeric, strict=True)
            )
            + "</tr>"
            for row in self.texts(digits)
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"

    def _repr_html_(self) -> str:
        caption = f"<p>{escape(self.caption)}</p>" if self.caption else ""
        return f"<h4>{escape(self.title)}</h4>{self.html()}{caption}"


def _missing(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _full(value: Any) -> Any:
    return "" if _missing(value) else repr(value) if isinstance(value, float) else value


def _family(unit: str) -> str:
    """Units whose numbers are compared to tell rounding: a moment is a force at a metre."""
    return "N" if unit == "N m" else unit


def called(name: str, unit: str) -> str:
    """Name of a quantity of drives in its unit: forces in N m are torques.

    Parameters
    ----------
    name : str
        Name of the quantity.
    unit : str
        Its unit.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> called("rms force", "N m"), called("rms force", "N")
    ('rms torque', 'rms force')
    """
    return name.replace("force", "torque") if unit == "N m" else name


def practical_unit(unit: str) -> tuple[float, str]:
    """Practical unit of a unit: mm for m, deg for rad.

    Parameters
    ----------
    unit : str
        SI unit.

    Returns
    -------
    factor : float
        Factor from the SI unit.
    unit : str
        Name of the practical unit.

    Examples
    --------
    >>> practical_unit("m/s"), practical_unit("m/s^2"), practical_unit("N m")
    ((1000.0, 'mm/s'), (1.0, 'm/s^2'), (1.0, 'N m'))
    """
    if unit in ("rad", "rad/s", "rad/s^2"):
        return 180.0 / math.pi, unit.replace("rad", "deg", 1)
    return (1e3, f"m{unit}") if unit in ("m", "m/s") else (1.0, unit)


def short(value: Any, digits: int = 4) -> str:
    """A value as a short text.

    Parameters
    ----------
    value : object
        A number, or anything else.
    digits : int, optional
        Number of significant digits.

    Returns
    -------
    str
        The number with these digits (``-`` for NaN), anything else as it is.
    """
    if _missing(value):
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if 10.0 ** (digits - 1) <= abs(value) < 1e6 else f"{value:.{digits}g}"
    return str(value)


def table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], caption: str = "") -> Table:
    """A table from names, units and rows.

    Parameters
    ----------
    title : str
        Title.
    columns : sequence of (str, str)
        Name and unit of each column.
    rows : sequence of sequence
        Values.
    caption : str, optional
        What a reader must know about them.

    Returns
    -------
    Table
        The table.

    Examples
    --------
    >>> print(table("Drives", [("leg", ""), ("peak force", "N")], [("leg1", 12.5)]).csv())
    leg,peak force [N]
    leg1,12.5
    <BLANKLINE>
    """
    return Table(title, tuple(Column(*column) for column in columns), tuple(tuple(row) for row in rows), caption)


__all__ = [
    "Column",
    "Table",
    "called",
    "practical_unit",
    "short",
    "table",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
