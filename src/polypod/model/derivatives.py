"""Derivatives and the regressor of a model, compiled when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..formulations import derivatives as formulas
from ..kernels import Kernel
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..mechanism.verdict import with_verdict
from ..parameters import Entry, Numbers
from ..parameters.paths import Design, is_direction, matching_paths, value_at
from ..symbols.expression import Expression, Iteration
from .arguments import PoseLike
from .calls import first
from .diagnosis import Errors, check_policy
from .interpreted_derivatives import InterpretedDerivatives, broadcast, needed

_STEPS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60
_SHORT = 4e-3
_OF_JOINTS = ("at", "axis", "axes")
"""Step of directions: an error of 1e-13 by the step and by rounding."""


class Derivatives(NamedTuple):
    """d(result)/d(input), each (..., n, k) with n results; None where not asked for.

    Results of a flexible robot are forces or the frame's acceleration, then the elastic accelerations.
    ``pose`` is by a twist [v; omega] on the left of the pose, base axes. ``parameters`` is by the numbers that were
    named, in their order, each number of a vector or tensor a column.
    """

    pose: Array | None = None
    twist: Array | None = None
    acceleration: Array | None = None
    force: Array | None = None
    wrench: Array | None = None
    parameters: Array | None = None
    elastic: Array | None = None
    elastic_rate: Array | None = None


class Regressor(NamedTuple):
    """Y (..., n, k), the names (k) of the numbers p it multiplies, and the robot's values (k,) of them.

    Values of designs are (..., k) with the designs' axes.
    """

    matrix: Array
    names: tuple[str, ...]
    values: Array


class Opened(NamedTuple):
    """A robot with numbers that ``paths`` name as inputs: their ``places`` in the port of its ``mechanism``.

    ``chain`` (places, columns) are the slopes of the port by the numbers as files state them, at the robot's own.
    """

    robot: Any
    paths: tuple[str, ...]
    mechanism: Mechanism
    places: list[int]
    chain: Array

    def chain_at(self, design: Design | None) -> Array:
        """The chain, (..., places, columns) of designs."""
        if design is None:
            return self.chain
        given = {path: design.flat(path) for path in self.paths}
        slopes = slopes_of_designs(self.robot, self.mechanism.numbers, given)[:, self.places]
        return slopes.reshape(*design.shape, *slopes.shape[1:])


class DerivativeFunctions:
    """The compiled derivatives of one model."""

    def __init__(self, model: Any) -> None:
        self._kernels = model.kernels
        self._calls = model._calls
        self._robot = model.robot
        self._known: dict[Any, Any] = {}

    def call(
        self,
        name: str,
        states: tuple[Any, ...],
        named: dict[str, Any],
        wrt: tuple[str, ...] | None,
        parameters: Sequence[str] | Mapping[str, ArrayLike],
        friction: bool,
        errors: Errors | None,
    ) -> Derivatives:
        """The blocks asked for at some states, and at designs if ``parameters`` gives their values."""
        if name not in formulas.BLOCKS:
            raise UnknownNameError("function with derivatives", name, tuple(formulas.BLOCKS))
        if isinstance(parameters, str):
            raise InputError(f"parameters: a tuple of paths is needed, got {parameters!r}; write ({parameters!r},)")
        order, paths = formulas.BLOCKS[name], tuple(parameters)
        values = parameters if isinstance(parameters, Mapping) else None
        blocks = tuple(b for b in self.possible(name) if b in order) if wrt is None else tuple(wrt)
        by_numbers = bool(paths) and (values is None or wrt is None or "parameters" in wrt)
        every = (*order, *self._elastic, *(("parameters",) if paths else ()))
        blocks = tuple(block for block in blocks if block != "parameters" or not paths)
        for block in blocks:
            if block not in every:
                raise UnknownNameError(f"input of {name}", block, every)
            if block not in self.possible(name):
                raise InputError(
                    f"derivatives: by {block}: the platform of {self._robot.name!r} moves as its legs let it, so its "
                    "components cannot change one by one; those by wrench, force and parameters exist"
                )
        if len(states) > len(order):
            raise InputError(f"derivatives: {name} takes {', '.join(order)}, got {len(states)} arrays")
        given = dict(zip(order, states, strict=False)) | named
        wanted = (*blocks, *(("parameters",) if by_numbers else ()))
        design = None if values is None else Design(self._robot, values)
        if needed(self._kernels.mechanism, name, friction):
            return self._interpreted(name, given, wanted, paths, friction, errors, design)
        kernel, own, opened = self._kernel(name, wanted, paths, friction)
        chain = opened.chain_at(design) if by_numbers else None

        def answer(parts: list[Array]) -> Derivatives:
            found = dict(zip(wanted, parts, strict=True))
            if chain is not None:
                found["parameters"] = found["parameters"] @ chain
            return Derivatives(**found)

        title = f"derivatives of {name}"
        if values is None:
            result: Derivatives = self._calls.call_kernel(title, own, given, errors, answer)
            return result
        check_policy(errors)
        run = self._calls.of_designs(title, given, values, make=lambda _: kernel, opened=opened.mechanism)
        result = self._calls.answered_designs(title, run, errors, answer)
        return result

    def possible(self, name: str) -> tuple[str, ...]:
        """Inputs of a function by which there are derivatives."""
        motion = ("pose", "twist", "acceleration") if self._kernels.mechanism.platform.follows_legs else ()
        return tuple(block for block in (*formulas.BLOCKS[name], *self._elastic) if block not in motion)

    @property
    def _elastic(self) -> tuple[str, ...]:
        return formulas.ELASTIC_BLOCKS if self._kernels.mechanism.platform.elastic else ()

    def _interpreted(
        self,
        name: str,
        given: Mapping[str, Any],
        wanted: tuple[str, ...],
        paths: tuple[str, ...],
        friction: bool,
        errors: Errors | None,
        design: Design | None,
    ) -> Derivatives:
        """The same from the differentiated graph of the function, which itself says where it has no answer."""
        key = "interpreted", name, wanted, paths, friction
        if key not in self._known:
            opened = self.opened(paths, "parameters" in wanted)
            interpreted = InterpretedDerivatives(
                self._kernels, opened.mechanism, name, wanted, opened.places if "parameters" in wanted else [], friction
            )
            self._known[key] = interpreted, opened
        slopes, opened = self._known[key]
        kernel = self._kernels.get(name, friction, verdict=True)
        arguments = self._calls.arguments(kernel, given)
        numbers: Array | None = None
        if design is None:
            states = self._calls.checked(arguments)
            results = self._calls.call(name, given, errors, list, friction=friction)
        else:
            rows = self._calls.rows_of_designs(arguments, design.values)
            states, numbers = rows.batch, design.rows(opened.mechanism.numbers)[rows.which]
            results = self._calls.call(name, given, errors, list, design.values, friction=friction)
        found = slopes(broadcast(arguments, states.rows, states.size), numbers)
        lost = np.asarray(np.isnan(results[0].reshape(states.size, results[0].shape[-1])).any(axis=1))
        parts = {
            block: np.where(lost[:, None, None], np.nan, part) for block, part in zip(slopes.blocks, found, strict=True)
        }
        restored = {block: states.restore(part) for block, part in parts.items()}
        if "parameters" in wanted:
            restored["parameters"] = restored["parameters"] @ opened.chain_at(design)
        return Derivatives(**restored)

    def _refuse_geometry(self, paths: list[str]) -> None:
        """Raise for numbers that change which poses a platform that follows its legs can take."""
        if not self._kernels.mechanism.platform.follows_legs:
            return
        for path in paths:
            if path.startswith("home.") or path.rpartition(".")[2] in _OF_JOINTS:
                raise InputError(
                    f"derivatives: by {path}: with other geometry the platform of {self._robot.name!r} cannot stay in "
                    "its pose; those by masses, inertias, friction and gravity exist"
                )

    def _kernel(
        self, name: str, wanted: tuple[str, ...], paths: tuple[str, ...], friction: bool
    ) -> tuple[Kernel, Kernel, Opened]:
        """The function of numbers, the same with the robot's own, and which numbers are its inputs."""
        key = name, wanted, paths, friction
        if key not in self._known:
            opened = self.opened(paths, "parameters" in wanted)
            mechanism = opened.mechanism
            columns = mechanism.numbers.symbols[opened.places] if opened.places else ca.SX(0, 1)
            dry = self._kernels.options.dry

            def build() -> Expression | Iteration:
                slopes = formulas.derivatives(mechanism, name, wanted, columns, friction, dry)
                return closed(mechanism, with_verdict(mechanism, slopes))

            kernel = Kernel(build)
            bound = kernel.at(mechanism.numbers.values) if kernel.parameters else kernel
            self._known[key] = kernel, bound, opened
        found: tuple[Kernel, Kernel, Opened] = self._known[key]
        return found

    def opened(self, paths: tuple[str, ...], by_numbers: bool = True) -> Opened:
        """The robot with the numbers that paths name as inputs, to differentiate ``by_numbers`` too."""
        listed = [path for pattern in paths for path in matching_paths(self._robot, pattern)]
        if by_numbers:
            self._refuse_geometry(listed)
        chain, entries = port_slopes(self._robot, listed)
        robot = _aslant(self._robot, listed)
        mechanism = Mechanism(robot, self._kernels.options.simplify, lambda entry: _key(entry) in entries)
        places = [k for k, e in enumerate(mechanism.numbers.entries) if _key(e) in entries]
        rows = [entries[_key(mechanism.numbers.entries[k])] for k in places]
        return Opened(self._robot, tuple(listed), mechanism, places, chain[rows])

    def regressor(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        errors: Errors | None,
        parameters: Mapping[str, ArrayLike] | None,
    ) -> Regressor:
        """Y of inverse dynamics without dry friction."""
        given = {"pose": pose, "twist": twist, "acceleration": acceleration}
        if parameters is not None:
            check_policy(errors)
            design = Design(self._robot, parameters)
            mechanism = self._kernels.of_design(design).mechanism
            chosen, names = _linear_numbers(mechanism)
            values = design.rows(mechanism.numbers)[:, chosen].reshape(*design.shape, len(chosen))
            found = self._calls.of_designs("regressor", given, parameters, make=self._regressor)
            result = self._calls.answered_designs("regressor", found, errors, first)
            return Regressor(result, names, values)
        if "regressor" not in self._known:
            mechanism = Mechanism(self._robot, self._kernels.options.simplify)
            kernel = self._regressor(mechanism).at(mechanism.numbers.values)
            chosen, names = _linear_numbers(mechanism)
            self._known["regressor"] = kernel, names, mechanism.numbers.values[chosen]
        kernel, names, values = self._known["regressor"]
        matrix = self._calls.call_kernel("regressor", kernel, given, errors)
        return Regressor(matrix, names, values)

    def _regressor(self, mechanism: Mechanism) -> Kernel:
        """The compiled function of the numbers that a mechanism has as inputs, with its verdict."""
        key = "regressor", mechanism.numbers.structure
        if key not in self._known:
            columns = mechanism.numbers.symbols[_linear_numbers(mechanism)[0]]
            self._known[key] = Kernel(
                lambda: closed(mechanism, with_verdict(mechanism, formulas.regressor(mechanism, columns)))
            )
        kernel: Kernel = self._known[key]
        return kernel


def _linear_numbers(mechanism: Mechanism) -> tuple[list[int], tuple[str, ...]]:
    """Places in the port and names of the numbers that forces are linear in."""
    chosen = [(k, e) for k, e in enumerate(mechanism.numbers.entries) if linear(e)]
    names = tuple(e.path if not isinstance(e.index, str) else f"{e.path}.{e.index}" for _, e in chosen)
    return [k for k, _ in chosen], names


def linear(entry: Entry) -> bool:
    """Whether inverse dynamics without dry friction is linear in a number, together with all others of this kind."""
    return isinstance(entry.index, str) or entry.path.endswith(".viscous") or "rotor" in entry.path.rpartition(".")[2]


_FUNCTIONS: WeakKeyDictionary[Any, DerivativeFunctions] = WeakKeyDictionary()


def derivative_functions(model: Any) -> DerivativeFunctions:
    """The compiled derivatives of a model, kept as long as it is."""
    if model not in _FUNCTIONS:
        _FUNCTIONS[model] = DerivativeFunctions(model)
    return _FUNCTIONS[model]


def _aslant(robot: Any, paths: list[str]) -> Any:
    """The robot whose legs hold beside the line that they are drawn in, if paths name where their joints are."""
    moved = {path.split(".")[1] for path in paths if path[:5] == "legs." and path.rpartition(".")[2] in _OF_JOINTS}
    legs = tuple(leg.aslant() if str(number) in moved else leg for number, leg in enumerate(robot.legs))
    return robot.model_copy(update={"legs": legs}) if moved else robot


def _key(entry: Entry) -> tuple[str, Any]:
    return entry.path, entry.index


def port_slopes(robot: Any, paths: list[str]) -> tuple[Array, dict[tuple[str, Any], int]]:
    """d(number of the port)/d(number of the file): a matrix (k, columns), and the row of each number that depends."""
    if not paths:
        return np.zeros((0, 0)), {}
    numbers = Numbers(robot, lambda entry: True)
    rows = {_key(e): k for k, e in enumerate(numbers.entries)}
    own = {path: np.array(value_at(robot, path), dtype=np.float64)[None] for path in paths}
    matrix = slopes_of_designs(robot, numbers, own)[0]
    used = np.flatnonzero(np.abs(matrix).max(axis=1) > 0)
    inverse = {k: row for row, k in enumerate(used.tolist())}
    return matrix[used], {key: inverse[k] for key, k in rows.items() if k in inverse}


def slopes_of_designs(robot: Any, numbers: Numbers, given: Mapping[str, Array]) -> Array:
    """d(number of the port)/d(number given), (D, k, columns), at D designs; ``given`` are (D, ...) by path or pattern.

    Fields are numbers of the port themselves. A body stands there as its ten moments, polynomials of degree three at
    most in each number of its file: differences of sixth order give their slopes, exact to rounding with any step.
    Directions are made to have length 1, which is no polynomial: short steps.
    """
    count, steps = len(next(iter(given.values()))), len(_STEPS)
    places = [(path, place) for path, value in given.items() for place in np.ndindex(value.shape[1:])]
    moved = {path: np.tile(value, (len(places), steps, *(1,) * value.ndim)) for path, value in given.items()}
    sizes = np.ones(len(places))
    for column, (path, place) in enumerate(places):
        short = _SHORT if is_direction(robot, matching_paths(robot, path)[0]) else 1.0
        sizes[column] = short * max(1.0, float(np.abs(given[path]).max(initial=0.0)))
        moved[path][(column, slice(None), slice(None), *place)] += sizes[column] * _STEPS[:, None]
    ports = Design(robot, moved).rows(numbers).reshape(len(places), steps, count, -1)
    slopes = np.einsum("s,csdk->dkc", _WEIGHTS, ports)
    return np.asarray(slopes / sizes)
