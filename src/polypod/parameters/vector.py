"""Every number of a robot as a symbol: one set of functions for all robots of one topology.

The topology of a robot is all that is not a number (kinds, texts, which fields are given) and which numbers
are exactly zero, or one among directions: such numbers stay constants, so that vertical rails and plane joints stay
cheap. All other numbers are symbols of one column, the parameter port of every function. A body counts as its ten
moments (``polypod.symbols.inertia.Inertia``), in which dynamics is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Body, ElementData, Robot
from ..description.quantities import Data, field_schemas
from ..symbols.expression import Port
from ..symbols.inertia import SECOND_MOMENTS, Inertia, moments

MOMENTS = ("m", "sx", "sy", "sz", "Sxx", "Syy", "Szz", "Sxy", "Sxz", "Syz")


@dataclass(frozen=True)
class Parameter:
    """One number of the port: the path of its field (``legs.0.base``, ``platform``), its place in it, its value."""

    path: str
    index: tuple[int, ...] | str
    value: float


class ParameterVector:
    """The numbers of one robot: symbols for those that are inputs, constants for the others.

    ``is_free`` says of a path whether its zeros and ones are inputs too. With ``specialise`` every number is a
    constant.
    """

    def __init__(
        self, robot: Robot, is_free: Callable[[Parameter], bool] = lambda entry: False, specialise: bool = False
    ) -> None:
        self.robot, self._is_free, self._specialise = robot, is_free, specialise
        self.entries: list[Parameter] = []
        self.constants: list[Parameter] = []
        self._without_unit: set[str] = set()
        self._symbols: list[ca.SX] = []
        self._column = ca.SX(0, 1)  # they as a column, which functions ask for often
        self._structure: list[str] = []
        self.gravity = self._vector("gravity", robot.gravity)
        self.platform = self.inertia("platform", robot.platform)
        for path, body in robot.payloads.items():
            self._note("payload")
            self.platform = self.platform + self.inertia(path, body)
        self.home_position = self._vector("home.position", robot.home.position)
        self.home_rotation = self.array("home.rotation", np.array(robot.home.rotation), ones=True)
        self.legs: list[Any] = []
        for number, leg in enumerate(robot.legs):
            self._note(f"{type(leg).__module__}.{type(leg).__qualname__}")
            twin = self._data(f"legs.{number}", leg)
            self.legs.append(twin.at_home(self.home_position, ca.densify(self.home_rotation), like=leg))
            self._note(leg.topology)
        self._note(repr([(f.motion, f.axis, bool(f.joint)) for f in robot.dof]))
        if robot.internal:
            self._note(repr([(f.motion, leg) for f, leg in zip(robot.internal, robot.internal_legs(), strict=True)]))
        self.held: list[ca.SX | None] = [
            None if f.held is None else self.scalar(f"internal.{k}.held", f.held) for k, f in enumerate(robot.internal)
        ]
        self.elements: list[Any] = [self._element(f"elements.{k}", one) for k, one in enumerate(robot.elements)]

    @property
    def port(self) -> Port | None:
        """The parameter port of the robot's functions; None if every number is a constant."""
        return Port("parameters", self.symbols, (len(self._symbols),)) if self._symbols else None

    @property
    def symbols(self) -> ca.SX:
        """The inputs as a column (k)."""
        if self._column.numel() != len(self._symbols):
            self._column = ca.vertcat(*self._symbols)
        return self._column

    @property
    def values(self) -> Array:
        """The robot's own values of the inputs (k,)."""
        return np.array([entry.value for entry in self.entries])

    @property
    def structure(self) -> str:
        """All but the values: robots with the same text share their functions."""
        return "\n".join(self._structure)

    def evaluate(self, expression: ca.SX, values: Array | None = None) -> Array:
        """An expression of the inputs alone as numbers, for this robot or for other values (k,)."""
        function = ca.Function("value", [self.symbols], [ca.densify(ca.SX(expression))])
        return np.array(function(self.values if values is None else values))

    def varied(self, count: int, part: float = 0.1) -> list[tuple[Array, Array]]:
        """Values (k,) of robots of the same topology whose numbers differ by up to a ``part``, and a displacement (3,).

        What holds for all of them and the robot's own holds by an identity. Directions keep their length.
        """
        random, own = np.random.default_rng(0), self.values
        paths: dict[str, list[int]] = {}
        for k, entry in enumerate(self.entries):
            paths.setdefault(entry.path, []).append(k)
        found = []
        for _ in range(count):
            values = own * random.uniform(1 - part, 1 + part, len(self.entries))
            for path, places in paths.items():
                if path == "home.rotation":
                    values[places] = own[places]
                elif path in self._without_unit and len(places) > 1:
                    values[places] *= np.linalg.norm(own[places]) / np.linalg.norm(values[places])
            found.append((values, random.uniform(-1, 1, 3)))
        return found

    # -- from data to symbols ------------------------------------------------------------------------------------------

    def scalar(self, path: str, value: float, index: tuple[int, ...] | str = (), ones: bool = False) -> ca.SX:
        """One number: a constant if it is zero (or one, if ``ones``) by the robot's topology, else a symbol."""
        entry = Parameter(path, index, float(value))
        plain = value == 0.0 or (ones and abs(value) == 1.0)
        if self._specialise or (plain and not self._is_free(entry)):
            self._note(f"{value:g}" if plain else "#")
            self.constants.append(entry)
            return ca.SX(float(value))
        self._note("*")
        self.entries.append(entry)
        if ones:
            self._without_unit.add(path)
        self._symbols.append(ca.SX.sym(f"p{len(self._symbols)}"))
        return self._symbols[-1]

    def array(self, path: str, values: Array, ones: bool = False) -> ca.SX:
        """Numbers (rows, columns) as a matrix, or (n,) as a column; zeros by topology are left out of a matrix."""
        if values.ndim == 1:
            return ca.densify(ca.vertcat(*[self.scalar(path, v, (i,), ones) for i, v in enumerate(values.tolist())]))
        result = ca.SX(*values.shape)
        for (i, j), value in np.ndenumerate(values):
            symbol = self.scalar(path, float(value), (i, j), ones)
            if not symbol.is_zero():
                result[i, j] = symbol
        return result

    def inertia(self, path: str, body: Any) -> Inertia:
        """A body's ten moments."""
        numbers = [self.scalar(path, v, name) for v, name in zip(moments(body), MOMENTS, strict=True)]
        return Inertia.from_moments(numbers)

    def _note(self, text: str) -> None:
        self._structure.append(text)

    def _vector(self, path: str, values: Sequence[float], ones: bool = False) -> ca.SX:
        return self.array(path, np.array(values, dtype=float), ones)

    def _data(self, path: str, data: Data) -> Any:
        """The same data with symbols for its numbers."""
        fields: dict[str, Any] = {}
        for name, schema in field_schemas(type(data)).items():
            if schema.rating:
                fields[name] = getattr(data, name)
                continue
            self._note(name)
            fields[name] = self._value(f"{path}.{name}", getattr(data, name), schema.unit in ("1", ""))
        return type(data).model_construct(**fields)

    def _element(self, path: str, element: ElementData) -> Any:
        """An element with symbols for its numbers; lists of them are columns, lists of lists matrices."""
        self._note(f"{type(element).__module__}.{type(element).__qualname__}")
        fields: dict[str, Any] = {}
        for name, schema in field_schemas(type(element)).items():
            value, ones = getattr(element, name), schema.unit == "1"
            self._note(name)
            if isinstance(value, tuple) and not isinstance(value[0], str):
                self._note(repr(np.shape(value)))
                fields[name] = ca.densify(self.array(f"{path}.{name}", np.array(value, dtype=float), ones))
            else:
                fields[name] = self._value(f"{path}.{name}", value, ones)
        return type(element).model_construct(**fields)

    def _value(self, path: str, value: Any, ones: bool) -> Any:
        if isinstance(value, Body):
            return self.inertia(path, value)
        if isinstance(value, Data):
            return self._data(path, value)
        if isinstance(value, float):
            symbol = self.scalar(path, value, (), ones)
            return float(value) if symbol.is_constant() else symbol
        if isinstance(value, dict):
            return {name: self._value(f"{path}.{name}", item, ones) for name, item in value.items()}
        if isinstance(value, tuple):
            if len(value) == 3 and all(isinstance(x, float) for x in value):
                return self._vector(path, value, ones)
            if len(value) == 3 and all(isinstance(x, tuple) and len(x) == 3 for x in value):
                return ca.densify(self.array(path, np.array(value, dtype=float), ones))
            return tuple(self._value(f"{path}.{k}", item, ones) for k, item in enumerate(value))
        self._note("" if path.endswith(".name") else repr(value))
        return value


# ----------------------------------------------------------------------------------------------------------------------
# Ten moments of a body from its mass, centre of mass and tensor as a file states them, in symbols.
#
# Sigma = tr(I)/2 1 - I with the inertia tensor I about the origin, in body axes. A file's tensor is about the point
# and
# in the axes that the body names.


def central_tensor(body: Body, mass: ca.SX, com: ca.SX, tensor: ca.SX) -> ca.SX:
    """Inertia tensor (3, 3) about the centre of mass in body axes: what ``Body.central_inertia`` is in numbers."""
    axes = ca.DM(np.array(body.frames[body.frame])) if body.frame != "body" else ca.DM.eye(3)
    central = axes @ tensor @ axes.T
    if body.about == "com":
        return central
    point = np.zeros(3) if body.about == "origin" else np.array(body.points[body.about])
    return central - _parallel_axis(mass, com - ca.DM(point))


def symbolic_moments(body: Body, mass: ca.SX, com: ca.SX, tensor: ca.SX) -> list[ca.SX]:
    """The ten moments of one body from mass, com (3) and tensor (3, 3)."""
    whole = central_tensor(body, mass, com, tensor) + _parallel_axis(mass, com)
    second = 0.5 * ca.trace(whole) * ca.DM.eye(3) - whole
    first = mass * com
    return [mass, first[0], first[1], first[2], *(second[i, j] for i, j in SECOND_MOMENTS)]


def _parallel_axis(mass: ca.SX, offset: ca.SX) -> ca.SX:
    """m (d.d 1 - d d^T), (3, 3)."""
    return mass * (ca.dot(offset, offset) * ca.DM.eye(3) - offset @ offset.T)
