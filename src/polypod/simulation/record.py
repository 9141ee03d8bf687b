"""What a simulation keeps as it goes: states, forces and events, in arrays that grow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .events import Event
from .system import Place

Array = NDArray[np.float64]


class Record:
    """Rows of time, state, q, qdot, commanded and applied force, wrench; and the events."""

    def __init__(self, state: int, legs: int, room: int = 1024) -> None:
        # a place's row as it is (its last three numbers are margin, room and safety), then the forces
        self._widths = {"time": 1, "state": state, "q": legs, "qdot": legs, "health": 3}
        self._widths |= {"command": legs, "force": legs, "wrench": 6}
        self._starts = dict(zip(self._widths, np.cumsum([0, *self._widths.values()]), strict=False))
        self._rows: Array = np.empty((room, sum(self._widths.values())))
        self._count = 0
        self.events: list[Event] = []

    def __len__(self) -> int:
        return self._count

    def add(self, time: float, place: Place, command: Array, force: Array, wrench: Array) -> None:
        """One more row."""
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        row = self._rows[self._count]
        row[0] = time
        np.concatenate([place.row, command, force, wrench], out=row[1:])
        self._count += 1

    @property
    def last_time(self) -> float:
        """Time of the last row."""
        return float(self._rows[self._count - 1, 0]) if self._count else -np.inf

    def __getitem__(self, name: str) -> Array:
        """All rows (n, width) of a quantity; times are (n,)."""
        start = int(self._starts[name])
        rows = self._rows[: self._count, start : start + self._widths[name]].copy()
        return rows[:, 0] if name == "time" else rows
