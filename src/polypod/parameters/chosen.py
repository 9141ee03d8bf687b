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
from ..description import Robot
from ..description.paths import get, unit_at
from ..lazy import lazy
from ..symbols.expression import Port
from .paths import BODY_FIELDS, bodies_of, is_direction, parameter_values
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
        return (entry.path, entry.index) in self.port_expressions

    def expressions(self, numbers: ParameterVector) -> ca.SX:
        """The robot's own parameter port (k) as expressions of the chosen numbers; the others are constants."""
        found = self.port_expressions
        return ca.vertcat(*(found.get((entry.path, entry.index), ca.SX(entry.value)) for entry in numbers.entries))

    @lazy
    def port_expressions(self) -> dict[tuple[str, tuple[int, ...] | str], ca.SX]:
        """Every number of the port that depends on the chosen ones, by path and index, as an expression of them."""
        found: dict[tuple[str, tuple[int, ...] | str], ca.SX] = {}
        for path, symbols in self._symbols.items():
            if path.rpartition(".")[0] not in self.bodies:
                value = _directions(symbols) if is_direction(self.robot, path) else symbols
                shape = np.shape(get(self.robot, path))
                for index in np.ndindex(shape):
                    found[_place(path, index, shape)] = value[int(np.ravel_multi_index(index, shape)) if shape else 0]
        for path in self.bodies:
            moments = symbolic_moments(get(self.robot, path), *self.body_fields(path))
            found |= {(path, name): moment for name, moment in zip(MOMENTS, moments, strict=True)}
        return found

    def symbols(self, path: str) -> ca.SX:
        """The numbers at a chosen path as a column."""
        return self._symbols[path]

    @lazy
    def bodies(self) -> list[str]:
        """Paths of the bodies of which some number is chosen."""
        return bodies_of(self.robot, self._symbols)

    def body_fields(self, path: str) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Mass, centre of mass (3) and tensor (3, 3) of a body as its file states them."""
        mass, com, tensor = (self._field(path, field) for field in BODY_FIELDS)
        return mass, com, ca.reshape(tensor, 3, 3).T

    def _field(self, path: str, field: str) -> ca.SX:
        symbols = self._symbols.get(f"{path}.{field}")
        if symbols is not None:
            return symbols
        return ca.SX(ca.DM(np.array(get(self.robot, f"{path}.{field}"), dtype=np.float64).ravel()))


def _place(path: str, index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Path and index in the port of a number of a value: of pairs each has a path of its own
    (``ParameterVector._value``)."""
    if shape in ((), (3,), (3, 3)):
        return path, index
    return _place(f"{path}.{index[0]}", index[1:], shape[1:])


def _directions(symbols: ca.SX) -> ca.SX:
    """A direction (3), or two (6) of which the second is perpendicular to the first, that may be given with rounded
    digits."""
    first = symbols[:3] / ca.norm_2(symbols[:3])
    if symbols.numel() == 3:
        return first
    across = symbols[3:] - ca.dot(symbols[3:], first) * first
    return ca.vertcat(first, across / ca.norm_2(across))
