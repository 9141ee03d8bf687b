"""Designs: other values for some numbers of a robot, checked, as rows of the parameter port of its functions.

What a file's numbers are in the port is stated once, in symbols (``.chosen.ChosenNumbers``): here it is a
function of them, whose exact derivatives are the Jacobian of the port.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..description import Robot
from ..description.paths import get, replaced, unit_at
from ..description.quantities import LARGEST_NUMBER, SQUARE, SYMMETRIC, Data, FrozenDict
from ..description.units import argument_in_si
from ..errors import InputError, short_repr
from ..files import dumps, loads
from ..lazy import lazy
from ..symbols.expression import Mapped
from .chosen import ChosenNumbers
from .paths import is_direction, matching_paths
from .vector import MOMENTS, Parameter, ParameterVector, central_tensor

Place = tuple[str, tuple[int, ...] | str]
"""Path and index of a number of the port."""
_UNIT_TOLERANCE = 1e-3
"""How far the length of a direction may be from 1: digits of a file."""
_ROUNDING = 1e-15
"""Part of the largest second moment of a body below which another one is rounding, as ``moments`` takes it."""
_COMPARISONS: dict[str, tuple[str, Any]] = {
    "ge": ("at least", np.greater_equal),
    "gt": ("more than", np.greater),
    "le": ("at most", np.less_equal),
    "lt": ("less than", np.less),
}


class ParameterMap:
    """The port of a robot's functions as a function of the numbers of its file that ``patterns`` name.

    ``paths`` are the numbers named, in their order, ``places`` the numbers of the port that depend on them.
    """

    def __init__(self, robot: Robot, patterns: Sequence[str]) -> None:
        self.robot, self.patterns = robot, tuple(patterns)
        self._named = {pattern: matching_paths(robot, pattern) for pattern in self.patterns}
        self.paths = tuple(dict.fromkeys(path for paths in self._named.values() for path in paths))
        self._chosen = ChosenNumbers(robot, self.paths)
        self.cores: dict[str, tuple[int, ...]] = {c.path: c.value.shape for c in self._chosen.choices}
        ends = np.cumsum([0, *(c.length for c in self._chosen.choices)]).tolist()
        self.columns = {c.path: slice(*ends[k : k + 2]) for k, c in enumerate(self._chosen.choices)}
        self.own: Array = self._chosen.values
        self.places: tuple[Place, ...] = tuple(self._chosen.port_expressions)
        self.moves_legs = not all(isinstance(index, str) or path == "gravity" for path, index in self.places)
        """Whether legs may close otherwise: not by inertias and gravity."""
        self._index = {place: k for k, place in enumerate(self.places)}
        self._memory = threading.local()

    def design(self, given: Mapping[str, ArrayLike]) -> Design:
        """Designs with these values by pattern."""
        return Design(self, given)

    def checked(self, given: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Values by path, as arrays of the right shapes."""
        values: dict[str, Array] = {}
        for pattern, value in given.items():
            for path in self._named[pattern]:
                written = argument_in_si(f"parameters: {path}", value, unit_at(self.robot, path))
                values[path] = _checked(path, written, self.cores[path])
        return values

    def index(self, entry: Parameter) -> int | None:
        """Where a number of the port is among ``places``; None if no number named changes it."""
        return self._index.get((entry.path, entry.index))

    @lazy
    def _inputs(self) -> ca.SX:
        port = self._chosen.port
        return ca.SX(0, 1) if port is None else port.symbols

    @lazy
    def _expressions(self) -> ca.SX:
        """The numbers of the port (places), and whether the values surely are those of a robot."""
        found = dict(self._chosen.port_expressions)
        for path in self._chosen.bodies:
            names = MOMENTS[4:]
            largest = ca.SX(0)
            for name in names:
                largest = ca.fmax(largest, ca.fabs(found[path, name]))
            for name in names:
                value = found[path, name]
                found[path, name] = ca.if_else(ca.fabs(value) < _ROUNDING * largest, 0, value)
        return ca.vertcat(*found.values(), self._surely_possible())

    def _surely_possible(self) -> ca.SX:
        """1 where no number is doubtful; bodies of which some matrix is singular are, and are looked at in numbers."""
        good = [ca.fabs(self._inputs) <= LARGEST_NUMBER]
        for path, core in self.cores.items():
            x = self._chosen.symbols(path)
            for how, limit in _limits_at(self.robot, path):
                good.append({"ge": x >= limit, "gt": x > limit, "le": x <= limit, "lt": x < limit}[how])
            if self._is_range(path):
                good.append(x[0] < x[1])
            if is_direction(self.robot, path):
                lines = ca.vertsplit(x, 3)
                good += [ca.fabs(ca.norm_2(line) - 1) <= _UNIT_TOLERANCE for line in lines]
                if len(lines) == 2:
                    cosine = ca.dot(*lines) / (ca.norm_2(lines[0]) * ca.norm_2(lines[1]))
                    good.append(ca.fabs(cosine) <= SQUARE)
            if core == (3, 3):
                tensor = ca.reshape(x, 3, 3)
                good.append(
                    ca.mmax(ca.fabs(tensor - tensor.T)) <= SYMMETRIC * ca.mmax(ca.fabs(tensor))
                    if path.rpartition(".")[0] in self._chosen.bodies
                    else ca.SX(1)
                )
        for path in self._chosen.bodies:
            body = get(self.robot, path)
            if body.check == "physical":
                mass, com, tensor = self._chosen.body_fields(path)
                good.append(mass > 0)
                central = central_tensor(body, mass, com, tensor)
                if not central.is_constant():  # else it is the robot's own, which was checked with its file
                    second = 0.5 * ca.trace(central) * ca.DM.eye(3) - central
                    good += [second[0, 0] > 0, second[0, 0] * second[1, 1] - second[0, 1] * second[1, 0] > 0]
                    good.append(ca.det(second) > 0)
        result = ca.SX(1)
        for condition in good:
            for one in ca.vertsplit(condition) if condition.numel() else ():
                result = ca.logic_and(result, one)
        return result

    def _is_range(self, path: str) -> bool:
        """Whether a value is what a coordinate or length goes from and to: a pair, unless it is two masses or an
        element's."""
        is_range = not path.startswith("elements.") or path.endswith(".range")
        return self.cores[path] == (2,) and is_range and unit_at(self.robot, path) != "kg"

    @lazy
    def by_pattern(self) -> Array:
        """d(number named)/d(value given for its pattern), (c, columns): 1 where a pattern gives a number, else 0."""
        cores = {pattern: self.cores[paths[0]] for pattern, paths in self._named.items()}
        ends = np.cumsum([0, *(int(np.prod(core, dtype=int)) for core in cores.values())]).tolist()
        found = np.zeros((len(self.own), ends[-1]))
        given: dict[str, slice] = {}
        for k, pattern in enumerate(self.patterns):
            given |= {path: slice(*ends[k : k + 2]) for path in self._named[pattern]}  # of two patterns the last gives
        for path, columns in given.items():
            found[self.columns[path], columns] = np.eye(columns.stop - columns.start)
        return found

    @lazy
    def _mapped(self) -> Mapped:
        return Mapped([self._inputs], [self._expressions])

    @lazy
    def _derivatives(self) -> ca.SX:
        return ca.jacobian(ca.vertcat(*self._chosen.port_expressions.values()), self._inputs)

    @lazy
    def _jacobian(self) -> Mapped:
        return Mapped([self._inputs], [self._derivatives])

    @lazy
    def dependent(self) -> list[int]:
        """Which of ``places`` depend on the numbers named, at some value of these if not at the robot's own."""
        return sorted(set(self._derivatives.sparsity().row()))

    def evaluated(self, chosen: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Numbers of the port (D, places) at values (D, c) of the numbers named, and which designs surely can be."""
        found = self._one(chosen) if len(chosen) == 1 and chosen.size else self._mapped(chosen)[0][:, :, 0]
        return found[:, :-1], found[:, -1] != 0

    def _one(self, chosen: Array) -> Array:
        """The same of one design, in memory of the calling thread: CasADi's conversions take ten times as long."""
        memory = self._memory
        if not hasattr(memory, "run"):
            function = ca.Function("port", [self._inputs], [ca.densify(self._expressions)])
            memory.given, memory.found = np.zeros((1, len(self.own))), np.zeros((1, len(self.places) + 1))
            memory.buffer, memory.run = function.buffer()
            memory.buffer.set_arg(0, memory.given.reshape(-1).data)
            memory.buffer.set_res(0, memory.found.reshape(-1).data)
        memory.given[:] = chosen
        memory.run()
        found: Array = memory.found.copy()
        return found

    def jacobian(self, chosen: Array) -> Array:
        """d(number of the port)/d(number named), (D, places, c), at values (D, c)."""
        return np.ascontiguousarray(self._jacobian(chosen)[0])

    # -- why designs can be no robot -----------------------------------------------------------------------------------

    def reasons(self, chosen: Array, which: NDArray[np.int64]) -> dict[int, str]:
        """Why designs, those of rows ``which`` of values (D, c), cannot be; the first reason of each."""
        rows = chosen[which]
        found: dict[int, str] = {}
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # numbers that are refused may be anything
            for bad, text in self._faults(rows):
                for k in np.flatnonzero(bad).tolist():
                    found.setdefault(int(which[k]), text(k))
        return dict(sorted(found.items()))

    def _faults(self, rows: Array) -> Any:
        """Which rows (d, c) break a rule, rule by rule, and a text about one of them."""
        for path in self._chosen.bodies:
            yield from self._body_faults(path, rows)
        for path, core in self.cores.items():
            value = rows[:, self.columns[path]].reshape(len(rows), *core)
            flat = rows[:, self.columns[path]]
            large = ~(np.abs(flat) <= LARGEST_NUMBER).all(axis=1)
            yield large, lambda k, path=path: f"{path}: must be finite and at most {LARGEST_NUMBER:g}"
            for how, limit in _limits_at(self.robot, path):
                words, holds = _COMPARISONS[how]
                text = f"{path}: {words} {limit:g} is needed, got "
                yield ~holds(flat, limit).all(axis=1), lambda k, text=text, flat=flat: f"{text}{flat[k, 0]:.6g}"
            if self._is_range(path):
                text = f"{path}: the lower limit must come first, got "
                yield ~(flat[:, 0] < flat[:, 1]), lambda k, text=text, flat=flat: f"{text}{flat[k].tolist()}"
            if is_direction(self.robot, path):
                yield from _direction_faults(path, value.reshape(len(rows), -1, 3))

    def _body_faults(self, path: str, rows: Array) -> Any:
        body, (mass, com, tensor) = get(self.robot, path), self._chosen.body_fields(path)
        parts = Mapped([self._inputs], [mass, tensor, central_tensor(body, mass, com, tensor)])(rows)
        own, (masses, central) = parts[1], (parts[0][:, 0, 0], parts[2])
        # which half of an uneven tensor is meant nobody knows, whatever a body may be
        gap, largest = (np.abs(part).max(axis=(1, 2)) for part in (own - own.swapaxes(1, 2), own))
        yield gap > SYMMETRIC * largest, lambda k: f"{path}.inertia: an inertia tensor must be symmetric"
        if body.check == "physical":
            finite = np.isfinite(central).all(axis=(1, 2), keepdims=True)
            moments = np.linalg.eigvalsh(np.where(finite, central, 0.0))  # as LAPACK needs it
            slack = 1e-9 * np.abs(moments).max(axis=1)
            broken = (moments[:, 0] < -slack) | (moments[:, 2] > moments[:, 0] + moments[:, 1] + slack)

            def text(k: int) -> str:
                low, middle, high = moments[k].tolist()
                return (
                    f"{path}: no body can have mass {masses[k]:.6g} kg and principal moments {low:.6g}, {middle:.6g}, "
                    f"{high:.6g} kg m^2"
                )

            yield broken | (masses < 0) | ((masses == 0) & (moments[:, 2] > slack)), text


def _direction_faults(path: str, lines: Array) -> Any:
    """Which rows have directions (d, 1 or 2, 3) that are not of length 1, or not perpendicular to each other."""
    length = np.linalg.norm(lines, axis=2)

    def long(k: int) -> str:
        return f"{path}: a direction must have length 1, got {', '.join(f'{one:.6g}' for one in length[k])}"

    yield ~(np.abs(length - 1) <= _UNIT_TOLERANCE).all(axis=1), long
    if lines.shape[1] == 2:
        cosine = (lines[:, 0] * lines[:, 1]).sum(axis=1) / length.prod(axis=1)
        text = f"{path}: the axes must be perpendicular to each other, got a cosine of "
        yield np.abs(cosine) > SQUARE, lambda k: f"{text}{cosine[k]:.4g}"


class Design:
    """Values of some numbers of a robot for a batch of designs, as rows of the parameter port.

    ``shape`` is the batch's, ``count`` D its size; ``values`` are the given ones by path, ``chosen`` (D, c) the same in
    rows.
    """

    def __init__(self, source: Robot | ParameterMap, given: Mapping[str, ArrayLike]) -> None:
        """``source`` is the robot, or the map of the names given if it is known."""
        check_mapping(given)
        known = source if isinstance(source, ParameterMap) else ParameterMap(source, tuple(given))
        values = known.checked(given)
        self.map, self.values = known, values
        leads = {path: v.shape[: v.ndim - len(known.cores[path])] for path, v in values.items()}
        try:
            self.shape: tuple[int, ...] = np.broadcast_shapes(*leads.values()) if any(leads.values()) else ()
        except ValueError as error:
            listed = ", ".join(f"{path} {shape}" for path, shape in leads.items())
            raise InputError(f"parameters: batch axes of designs do not broadcast: {listed}") from error
        self.count = int(np.prod(self.shape, dtype=int)) if self.shape else 1
        self.chosen: Array = np.zeros((self.count, len(known.own)))
        for path, columns in known.columns.items():
            self.chosen[:, columns] = self.flat(path).reshape(self.count, columns.stop - columns.start)
        self.port, self._sure = known.evaluated(self.chosen)

    @property
    def robot(self) -> Robot:
        """The robot whose numbers are replaced."""
        return self.map.robot

    @lazy
    def reasons(self) -> dict[int, str]:
        """Why a design, by its place in the flattened batch, cannot be."""
        return {} if self._sure.all() else self.map.reasons(self.chosen, np.flatnonzero(~self._sure))

    def flat(self, path: str) -> Array:
        """Values at a path (D, ...), or the robot's own (1, ...)."""
        if path not in self.values:
            return np.array(get(self.robot, path), dtype=np.float64)[None]
        core = self.map.cores[path]
        return np.broadcast_to(self.values[path], (*self.shape, *core)).reshape(self.count, *core)

    def is_free(self, entry: Parameter) -> bool:
        """Whether a zero or one of the robot's topology takes another value in some design."""
        column = self.map.index(entry)
        return column is not None and bool((self.port[:, column] != entry.value).any())

    def places(self, numbers: ParameterVector) -> tuple[int, ...]:
        """Places in the parameter port of the numbers that designs may change."""
        return tuple(k for k, entry in enumerate(numbers.entries) if self.map.index(entry) is not None)

    def rows(self, numbers: ParameterVector) -> Array:
        """The parameter port (D, k) of every design."""
        rows = np.tile(numbers.values, (self.count, 1))
        known = [(k, self.map.index(entry)) for k, entry in enumerate(numbers.entries)]
        pairs = [(k, column) for k, column in known if column is not None]
        rows[:, [k for k, _ in pairs]] = self.port[:, [column for _, column in pairs]]
        return rows


def port_jacobian(robot: Robot, paths: list[str]) -> tuple[Array, dict[Place, int]]:
    """d(number of the port)/d(number of the file): a matrix (k, columns), and the row of each number that depends."""
    known = ParameterMap(robot, paths)
    matrix = known.jacobian(known.own[None])[0]
    used = np.flatnonzero(np.abs(matrix).max(axis=1, initial=0.0) > 0)
    return matrix[used], {known.places[k]: row for row, k in enumerate(used.tolist())}


def port_jacobians(numbers: ParameterVector, design: Design) -> Array:
    """d(number of the port)/d(number given), (D, k, columns), at designs; columns by the patterns of the design."""
    known = design.map
    found = np.zeros((design.count, len(numbers.entries), len(known.own)))
    pairs = [(k, known.index(entry)) for k, entry in enumerate(numbers.entries)]
    own = [(k, row) for k, row in pairs if row is not None]
    found[:, [k for k, _ in own]] = known.jacobian(design.chosen)[:, [row for _, row in own]]
    return np.asarray(found @ known.by_pattern)


def check_mapping(given: object) -> None:
    """Raise if parameters are not given as a mapping of names to values."""
    if not (isinstance(given, Mapping) and all(isinstance(path, str) for path in given)):
        example = "{'platform.mass': 2.0}"
        raise InputError(f"parameters: must be a mapping of names to values, {example}, got {short_repr(given)}")


def _limits_at(robot: Robot, path: str) -> list[tuple[str, float]]:
    """Limits of a number by the schema of files: names of comparisons and what is compared with."""
    owner, _, name = path.rpartition(".")
    kind = type(get(robot, owner)) if owner else type(robot)
    asked = kind.model_fields[name].metadata if issubclass(kind, Data) else []
    return [(how, getattr(limit, how)) for limit in asked for how in _COMPARISONS if hasattr(limit, how)]


def _checked(path: str, value: ArrayLike, core: tuple[int, ...]) -> Array:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"parameters: {path}: an array of numbers is needed, got {short_repr(value)}") from error
    if array.dtype.kind not in "fiu":  # NumPy would also read texts and truths, and drop imaginary parts
        raise InputError(f"parameters: {path}: an array of numbers is needed, got {short_repr(value)}")
    array = array.astype(np.float64, copy=False)
    if array.ndim < len(core) or array.shape[array.ndim - len(core) :] != core:
        wanted = ", ".join(["...", *map(str, core)])
        raise InputError(f"parameters: {path}: shape ({wanted}) is needed, got {array.shape}")
    return array


def with_numbers(robot: Robot, numbers: Mapping[str, ArrayLike], name: str | None = None) -> Robot:
    """The robot with other numbers by path, checked as if its file gave them."""
    for path, value in numbers.items():
        robot = replaced(robot, path, np.asarray(value, dtype=np.float64).tolist())
    robot = robot.model_copy(update={"name": name or robot.name, "title": robot.title, "sources": FrozenDict()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever read the robot was warned
        return loads(dumps(robot), f"robot {robot.name!r}")
