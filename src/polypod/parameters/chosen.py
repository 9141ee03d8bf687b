"""Numbers of a robot that a function takes as a person states them: mass, centre and tensor of a body, not its moments.

The parameter port of the functions has ten moments a body and leaves out zeros of the robot's topology. Here are the
numbers at chosen paths as symbols, zeros included, and the port as expressions of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Body, Robot
from ..lazy import lazy
from ..symbols.expression import Port
from .paths import BODY_FIELDS, bodies_of, index_in, is_direction, parameter_values, source_of, unit_at, value_at
from .vector import MOMENTS, Parameter, ParameterVector, symbolic_moments

ALL = "all"
"""The pattern of every number that is not zero."""


@dataclass(frozen=True)
class Choice:
    """One quantity: its path, the robot's own value (an array of any shape), its unit."""

    path: str
    value: Array
    unit: str

    @property
    def length(self) -> int:
        """How many numbers the path stands for."""
        return prod(self.value.shape)


class ChosenNumbers:
    """The numbers at paths that ``patterns`` name, ``all`` for every one that is not zero."""

    def __init__(self, robot: Robot, patterns: Sequence[str]) -> None:
        self.robot = robot
        found: dict[str, Array] = {}
        for pattern in patterns:
            values = parameter_values(robot, [] if pattern == ALL else [pattern])
            found |= {path: value for path, value in values.items() if pattern != ALL or value.any()}
        self.choices = [Choice(path, value, unit_at(robot, path)) for path, value in found.items()]
        self._symbols = {c.path: ca.SX.sym(c.path, c.length) for c in self.choices}

    @lazy
    def port(self) -> Port | None:
        """All numbers in turn, arrays by rows; None if there are none."""
        count = sum(c.length for c in self.choices)
        return Port("parameters", ca.vertcat(*self._symbols.values()), (count,)) if count else None

    @property
    def values(self) -> Array:
        """The robot's own values of the port (k,)."""
        return np.concatenate([c.value.ravel() for c in self.choices]) if self.choices else np.zeros(0)

    def is_free(self, entry: Parameter) -> bool:
        """Whether a number that the robot's topology would keep is an input."""
        return self._source(entry) is not None

    def expressions(self, numbers: ParameterVector) -> ca.SX:
        """The robot's own parameter port (k) as expressions of the chosen numbers; the others are constants."""
        moments = {path: self._moments(path) for path in self._bodies}
        parts = []
        for entry in numbers.entries:
            source = self._source(entry)
            if source is None:
                parts.append(ca.SX(entry.value))
            elif isinstance(entry.index, str):
                parts.append(moments[source][MOMENTS.index(entry.index)])
            else:
                parts.append(self._number(source, index_in(entry, source)))
        return ca.vertcat(*parts)

    def _source(self, entry: Parameter) -> str | None:
        return source_of(entry, self._symbols, self._bodies)

    @lazy
    def _bodies(self) -> list[str]:
        return bodies_of(self.robot, self._symbols)

    def _number(self, source: str, index: tuple[int, ...]) -> ca.SX:
        symbols = self._symbols[source]
        if is_direction(self.robot, source):
            symbols = _directions(symbols)
        return symbols[3 * index[0] + index[1] if len(index) == 2 else sum(index)]

    def _moments(self, path: str) -> list[ca.SX]:
        """Ten moments of a body as expressions of the chosen numbers."""
        body: Body = value_at(self.robot, path)
        mass, com, tensor = (self._field(path, field) for field in BODY_FIELDS)
        return symbolic_moments(body, mass, com, ca.reshape(tensor, 3, 3).T)

    def _field(self, path: str, field: str) -> ca.SX:
        symbols = self._symbols.get(f"{path}.{field}")
        if symbols is not None:
            return symbols
        return ca.SX(ca.DM(np.array(value_at(self.robot, f"{path}.{field}"), dtype=np.float64).ravel()))


def _directions(symbols: ca.SX) -> ca.SX:
    """A direction (3), or two (6) of which the second is perpendicular to the first, that may be given with rounded
    digits."""
    first = symbols[:3] / ca.norm_2(symbols[:3])
    if symbols.numel() == 3:
        return first
    across = symbols[3:] - ca.dot(symbols[3:], first) * first
    return ca.vertcat(first, across / ca.norm_2(across))
