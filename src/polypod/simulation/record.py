"""What a simulation keeps as it goes: states, forces and events, in arrays that grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..control.contract import Measurement
from .chart import Layout
from .events import Event
from .snapshot import Snapshot

_CAPACITY = 1024
"""Rows to begin with; doubled when they are full."""


class Sample(NamedTuple):
    """One row of a simulation as it is recorded."""

    time: float
    """[s]"""
    measurement: Measurement
    """What the sensors measure at that time."""
    command: Array
    """Forces (n,) that were asked for."""
    force: Array
    """Forces (n,) that act, after saturation and delay."""
    wrench: Array
    """External wrench (6,) on the platform, base axes."""


class Record:
    """Rows of time, snapshot, commanded and applied force, wrench; and the events.

    ``observe`` is called with every row as it is added.
    """

    def __init__(self, layout: Layout, observe: Callable[[Sample], None] | None) -> None:
        # a snapshot's row as it is, then the forces
        self._parts, count = {"time": slice(0, 1)}, layout.actuators
        self._parts |= {name: slice(part.start + 1, part.stop + 1) for name, part in layout.row.items()}
        for name, width in (("command", count), ("force", count), ("wrench", 6)):
            start = max(part.stop for part in self._parts.values())
            self._parts[name] = slice(start, start + width)
        self._rows: Array = np.empty((_CAPACITY, self._parts["wrench"].stop))
        self._count = 0
        self._observe = observe
        self.events: list[Event] = []

    def add(self, time: float, snapshot: Snapshot, command: Array, force: Array, wrench: Array) -> None:
        """Append a row."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        row = self._rows[self._count]
        row[0] = time
        np.concatenate([snapshot.row, command, force, wrench], out=row[1:])
        self._count += 1
        if self._observe is not None:
            self._observe(Sample(time, snapshot.measurement(), command.copy(), force.copy(), wrench.copy()))

    @property
    def last_time(self) -> float:
        """Time of the last row."""
        return float(self._rows[self._count - 1, 0]) if self._count else -np.inf

    def __getitem__(self, name: str) -> Array:
        """All rows (n, width) of a part of the layout, or of what acted; times are (n,)."""
        rows = self._rows[: self._count, self._parts[name]].copy()
        return rows[:, 0] if name == "time" else rows
