"""Variables of an FMU: doubles in one row, their place the value reference; names by FMI's structured convention."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Role = Literal["time", "input", "parameter", "state", "output", "derivative"]
LOWEST = -1e300
_PLAIN = r"[A-Za-z_][A-Za-z0-9_]*"
_ODD = r"[^A-Za-z0-9_!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]"


@dataclass(frozen=True)
class Variable:
    """One number: ``start`` is its value before anything is set; ``of`` the place of what it is the derivative of."""

    name: str
    role: Role
    unit: str
    about: str
    start: float = 0.0
    minimum: float = LOWEST
    of: int | None = None


def quoted(text: str) -> str:
    """A part of a name: as it is if that is an identifier, else between quotation marks, odd characters as _.

    Examples
    --------
    >>> quoted("leg1"), quoted("a.b"), quoted("é")
    ('leg1', "'a.b'", "'_'")
    """
    return text if re.fullmatch(_PLAIN, text) else f"'{re.sub(_ODD, '_', text) or '_'}'"


class Variables:
    """All variables of a model in order; the first is the time."""

    def __init__(self) -> None:
        self.all: list[Variable] = [Variable("time", "time", "s", "time")]
        self._groups: dict[str, tuple[int, int]] = {}
        self._taken = {v.name for v in self.all}

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.all)

    def add(
        self,
        group: str,
        role: Role,
        members: Sequence[str],
        unit: str | Sequence[str],
        about: str,
        start: ArrayLike = 0.0,
        minimum: float = LOWEST,
    ) -> None:
        """Variables ``group.member``, or ``group`` itself for a member without a name."""
        units = [unit] * len(members) if isinstance(unit, str) else list(unit)
        values = np.broadcast_to(np.asarray(start, dtype=np.float64), (len(members),)).tolist()
        self._groups[group] = len(self.all), len(members)
        for member, own, value in zip(members, units, values, strict=True):
            name = self._free(f"{group}.{quoted(member)}" if member else group)
            self.all.append(Variable(name, role, own, about, value, minimum))

    def add_named(self, group: str, variables: Sequence[Variable]) -> None:
        """Variables with names of their own; one whose name is taken gets a number."""
        self._groups[group] = len(self.all), len(variables)
        for variable in variables:
            self.all.append(replace(variable, name=self._free(variable.name)))

    def add_derivatives(self) -> None:
        """The derivative of every state."""
        states = [(k, v) for k, v in enumerate(self.all) if v.role == "state"]
        rates = [Variable(f"der({v.name})", "derivative", _rate(v.unit), f"rate of {v.name}", of=k) for k, v in states]
        self.add_named("derivatives", rates)

    def at(self, group: str) -> str:
        """A pointer to a group's numbers in C."""
        return f"m->values + {self._groups[group][0]}"

    def first(self, role: Role) -> int:
        """The first place of a role; 0 if there is none."""
        return next((k for k, v in enumerate(self.all) if v.role == role), 0)

    def count(self, role: Role) -> int:
        """How many variables have a role."""
        return sum(v.role == role for v in self.all)

    def _free(self, name: str) -> str:
        number, free = 2, name
        while free in self._taken:  # two names that differ in odd characters only
            part, quote, rest = name.rpartition("'")
            free = f"{part} {number}'{rest}" if quote else f"{name}_{number}"
            number += 1
        self._taken.add(free)
        return free


def _rate(unit: str) -> str:
    return "1/s" if unit in ("", "1") else f"{unit}^2" if unit.endswith("/s") else f"{unit}/s"
