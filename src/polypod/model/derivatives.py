"""Derivatives and the regressor of a model, compiled when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description.paths import get
from ..errors import InputError, UnknownNameError
from ..formulations import derivatives as formulas
from ..kernels import Kernel
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..mechanism.verdict import with_verdict
from ..parameters import Parameter
from ..parameters.design import Design
from ..parameters.linear import is_linear_of_element
from ..parameters.paths import matching_paths
from ..platforms import DegreesOfFreedom
from ..symbols.expression import Expression, Iteration
from .arguments import check_wrench, takes_wrench
from .calls import first, function
from .diagnosis import Errors, check_policy
from .interpreted_derivatives import InterpretedDerivatives, MotionDerivatives, needs_interpretation
from .port_jacobian import JOINT_FIELDS, ParametricRobot


class Derivatives(NamedTuple):
    """Derivatives d(result)/d(input), each (..., n, k) for n results; None where not requested.

    For a flexible robot, results are forces or the frame's acceleration, then the elastic accelerations.

    Attributes
    ----------
    pose : ndarray, shape (..., n, 6)
        By a twist [v; omega] on the left of the pose, base axes.
    twist, acceleration, wrench : ndarray, shape (..., n, 6)
        By these inputs.
    force : ndarray, shape (..., n, n)
        By the actuator forces.
    parameters : ndarray, shape (..., n, k)
        By the parameters that were named, in their order, one column for each number: at this motion of the platform
        or, where the legs determine it, at these generalized coordinates and rates. NaN for parameters of an
        overconstrained robot that cannot change alone, because it could no longer move.
    elastic, elastic_rate : ndarray, shape (..., n, N)
        By the elastic coordinates and their rates.
    internal : ndarray, shape (..., n, k)
        By the internal coordinates; ``twist`` and ``acceleration`` (..., n, 6 + k) end with those by their rates.
    x, xdot, xddot : ndarray, shape (..., n, m)
        By the generalized coordinates and their rates, as ``motion`` takes them.
    """

    pose: Array | None = None
    twist: Array | None = None
    acceleration: Array | None = None
    force: Array | None = None
    wrench: Array | None = None
    parameters: Array | None = None
    elastic: Array | None = None
    elastic_rate: Array | None = None
    internal: Array | None = None
    x: Array | None = None
    xdot: Array | None = None
    xddot: Array | None = None


_BROKEN = 1e-9
"""Derivative of a constraint by a number above which the constraint does not hold with another one."""
COORDINATES = {"inverse_dynamics": {"x": "pose", "xdot": "twist", "xddot": "acceleration"}}
"""Generalized coordinates and rates by which functions have derivatives, and what they are of the platform's motion."""
COORDINATES["direct_dynamics"] = {by: motion for by, motion in COORDINATES["inverse_dynamics"].items() if by != "xddot"}


class Regressor(NamedTuple):
    """Regressor of inverse dynamics: f = Y p.

    Attributes
    ----------
    matrix : ndarray, shape (..., n, k)
        Y.
    names : tuple of str
        Names of the k parameters p.
    values : ndarray, shape (k,) or (..., k)
        The robot's values of p; with leading axes for a batch of designs.
    """

    matrix: Array
    names: tuple[str, ...]
    values: Array


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
        order, paths, own_blocks = formulas.BLOCKS[name], tuple(parameters), COORDINATES[name]
        values = parameters if isinstance(parameters, Mapping) else None
        follows = self._kernels.mechanism.platform.is_constrained
        further = ("internal",) if self._kernels.mechanism.platform.internal else ()
        usual = (*order, *further, *(own_blocks if follows else ()))
        blocks = tuple(b for b in self.possible(name) if b in usual) if wrt is None else tuple(wrt)
        by_numbers = bool(paths) and (values is None or wrt is None or "parameters" in wrt)
        every = (*order, *self._elastic, *own_blocks, *(("parameters",) if paths else ()))
        blocks = tuple(block for block in blocks if block != "parameters" or not paths)
        for block in blocks:
            if block not in every:
                raise UnknownNameError(f"input of {name}", block, every)
            if block not in self.possible(name):
                raise self.no_derivative("derivatives", name, block)
        if not follows and any(block in own_blocks for block in blocks):
            inner = tuple(dict.fromkeys((*(own_blocks.get(block, block) for block in blocks), *further)))
            wrt = (*inner, *(("parameters",) if by_numbers and values is not None else ()))
            found = self.call(name, states, named, wrt, parameters, friction, errors)
            return self._along_fixed_axes(found, blocks, own_blocks)
        if follows and further:
            self._robot.refuse_internal("derivatives of a platform whose motion its legs determine")
        given = self._given(name, states, named)
        wanted = (*blocks, *(("parameters",) if by_numbers else ()))
        design = None if values is None else self._kernels.design(values)
        moves = follows and (any(block in own_blocks for block in blocks) or (by_numbers and self._geometry(paths)))
        if moves or needs_interpretation(self._kernels.mechanism, name, friction):
            return self._interpreted(name, given, wanted, paths, friction, errors, design)
        kernel, own, parametric = self._kernel(name, wanted, paths, friction)
        jacobian = parametric.jacobian_at(design) if by_numbers else None

        def answer(parts: list[Array]) -> Derivatives:
            found = dict(zip(wanted, parts, strict=True))
            if jacobian is not None:
                found["parameters"] = found["parameters"] @ jacobian
            return Derivatives(**found)

        title = f"derivatives of {name}"
        if values is None:
            return self._calls.of_kernel(title, own, given, errors, answer)
        check_policy(errors)
        run = self._calls.run(kernel, given, self._calls.designs(values, parametric.mechanism))
        return run.results(title, errors, answer)

    def _given(self, name: str, states: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs of a function by name; an error for those that it does not have or that are missing."""
        order = formulas.BLOCKS[name]
        if len(states) > len(order):
            raise InputError(f"derivatives: {name} takes {', '.join(order)}, got {len(states)} arrays")
        shared = name == "inverse_dynamics" and self._kernels.mechanism.redundant
        known = (*order, *self._elastic, *(("weights", "preload") if shared else ()))
        for key in named:
            if key not in known:
                raise UnknownNameError(f"input of {name}", key, known)
        given = dict(zip(order, states, strict=False)) | dict(named)
        missing = [key for key in order if key not in given and key != "wrench"]
        if missing:
            raise InputError(f"derivatives: {missing[0]} is needed; {name} takes {', '.join(order)}")
        check_wrench(self._robot, given.get("wrench"))
        return given

    def _along_fixed_axes(self, found: Derivatives, blocks: Sequence[str], own: Mapping[str, str]) -> Derivatives:
        """Derivatives by generalized coordinates along and about fixed axes: pose, twist, acceleration are S times."""
        basis, parts = DegreesOfFreedom(self._robot).basis, found._asdict()
        if parts["internal"] is not None:
            parts["pose"] = np.concatenate([parts["pose"], parts["internal"]], axis=-1)
            basis = scipy.linalg.block_diag(basis, np.eye(parts["internal"].shape[-1]))
        asked = {block: parts[own[block]] @ basis if block in own else parts[block] for block in blocks}
        return Derivatives(**asked, parameters=found.parameters)

    def possible(self, name: str) -> tuple[str, ...]:
        """Inputs of a function by which there are derivatives, and the robot's generalized coordinates."""
        mechanism = self._kernels.mechanism
        impossible = formulas.MOTION if mechanism.platform.is_constrained else ()
        if not takes_wrench(self._robot):
            impossible = (*impossible, "wrench")
        own = COORDINATES[name] if self._robot.dof and not mechanism.platform.elastic else ()
        return tuple(block for block in (*formulas.BLOCKS[name], *self._elastic, *own) if block not in impossible)

    def no_derivative(self, caller: str, name: str, block: str) -> InputError:
        """That a function has no derivative by one of its inputs, and why."""
        if block == "wrench":
            why = "the modes of the platform have no shape at its origin, so its elastic forces are unknown"
        elif block in COORDINATES[name]:
            why = "the platform moves freely, so its coordinates are its pose"
        else:
            why = "the platform's motion is constrained by its legs, so its components cannot change one by one"
        others = ", ".join((*self.possible(name), "parameters"))
        return InputError(f"{caller}: no derivative by {block} for {self._robot.name!r}: {why}. Available: {others}")

    @property
    def _elastic(self) -> tuple[str, ...]:
        """Coordinates beside those of the platform's frame."""
        platform = self._kernels.mechanism.platform
        return formulas.ELASTIC_BLOCKS if platform.elastic else ("internal",) if platform.internal else ()

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
        own, by_numbers = COORDINATES[name], "parameters" in wanted
        follows = self._kernels.mechanism.platform.is_constrained
        moves = follows and (any(block in own for block in wanted) or (by_numbers and self._geometry(paths)))
        if key not in self._known:
            parametric = self.parametric(paths)
            indices = parametric.indices if by_numbers else []
            blocks = tuple(dict.fromkeys([*(b for b in wanted if b not in own), *(own.values() if moves else ())]))
            interpreted = InterpretedDerivatives(self._kernels, parametric.mechanism, name, blocks, indices, friction)
            motion = MotionDerivatives(parametric.mechanism, indices) if moves else None
            self._known[key] = interpreted, motion, parametric
        derivatives, motion, parametric = self._known[key]
        kernel = self._kernels.get(name, friction, verdict=True)
        arguments = self._calls.arguments(kernel, given)
        numbers: Array | None = None
        if design is None:
            states = self._calls.states(arguments, None)
        else:
            states = self._calls.states(arguments, design.values)
            numbers = design.rows(parametric.mechanism.numbers)[states.which]
        values = None if design is None else design.values
        result = self._calls.call(function(name, *given), tuple(given.values()), errors, values, friction)
        at = states.rows
        parts = dict(zip(derivatives.blocks, derivatives(at, numbers), strict=True))
        if motion is not None:
            still = np.zeros((states.size, 6))
            made = motion(states.own, at["pose"], at["twist"], at.get("acceleration", still), numbers)
            for by in wanted:
                if by in own or by == "parameters":
                    parts[by] = sum((parts[m] @ made[m][by] for m in own.values()), parts.get(by, 0.0))
        lost = np.asarray(np.isnan(result.reshape(states.size, result.shape[-1])).any(axis=1))
        restored = {by: states.restore(np.where(lost[:, None, None], np.nan, parts[by])) for by in wanted}
        if by_numbers:
            port = parametric.jacobian_at(design)
            restored["parameters"] = restored["parameters"] @ port
            if motion is not None:
                broken = states.restore(made["constraints"]["parameters"]) @ port
                restored["parameters"] = self._without_impossible(restored["parameters"], broken, parametric)
        return Derivatives(**restored)

    def _geometry(self, patterns: Sequence[str]) -> list[str]:
        """Which of the numbers that patterns name change the poses a platform that follows its legs can take."""
        paths = [path for pattern in patterns for path in matching_paths(self._robot, pattern)]
        return [path for path in paths if path.startswith("home.") or path.rpartition(".")[2] in JOINT_FIELDS]

    def _without_impossible(self, found: Array, broken: Array, parametric: ParametricRobot) -> Array:
        """Derivatives (..., r, k) by numbers, NaN by those with which constraints ``broken`` (..., c, k) do not hold.

        Raises if they hold with no number of a path changed.
        """
        apart = np.abs(broken).max(axis=-2, initial=0.0) > _BROKEN
        start = 0
        for path in parametric.paths:
            stop = start + np.size(get(self._robot, path))
            if apart[..., start:stop].all() and apart.size:
                raise InputError(
                    f"derivatives: by {path}: {self._robot.name!r} is overconstrained, and with this alone changed its "
                    "legs let it move no more; those by masses, inertias, friction and gravity exist"
                )
            start = stop
        return np.where(apart[..., None, :], np.nan, found)

    def refuse_geometry(self, paths: Sequence[str]) -> None:
        """Raise for numbers that change which poses a platform that follows its legs can take."""
        if self._kernels.mechanism.platform.is_constrained and (found := self._geometry(paths)):
            raise InputError(
                f"derivatives: by {found[0]}: with other geometry the platform of {self._robot.name!r} cannot stay in "
                "its pose; those by masses, inertias, friction and gravity exist, and model.derivatives has those at "
                "the robot's generalized coordinates"
            )

    def _kernel(
        self, name: str, wanted: tuple[str, ...], paths: tuple[str, ...], friction: bool
    ) -> tuple[Kernel, Kernel, ParametricRobot]:
        """The function of numbers, the same with the robot's own, and which numbers are its inputs."""
        key = name, wanted, paths, friction
        if key not in self._known:
            parametric = self.parametric(paths)
            mechanism = parametric.mechanism
            columns = mechanism.numbers.symbols[parametric.indices] if parametric.indices else ca.SX(0, 1)
            dry = self._kernels.options.dry

            def build() -> Expression | Iteration:
                derivatives = formulas.derivatives(mechanism, name, wanted, columns, friction, dry)
                return closed(mechanism, with_verdict(mechanism, derivatives))

            what = repr(("derivatives", name, wanted, parametric.indices, friction))
            kernel = self._kernels.shared(build, self._kernels.cache_key(what, mechanism))
            bound = kernel.at(mechanism.numbers.values) if kernel.parameters else kernel
            self._known[key] = kernel, bound, parametric
        found: tuple[Kernel, Kernel, ParametricRobot] = self._known[key]
        return found

    def parametric(self, patterns: tuple[str, ...]) -> ParametricRobot:
        """The robot with the numbers that patterns name as inputs."""
        paths = [path for pattern in patterns for path in matching_paths(self._robot, pattern)]
        return ParametricRobot.of(self._robot, paths, self._kernels.options.simplify)

    def regressor(
        self,
        given: Mapping[str, Any],
        errors: Errors | None,
        parameters: Mapping[str, ArrayLike] | None,
    ) -> Regressor:
        """Y of inverse dynamics without dry friction, at states by name."""
        if parameters is not None:
            check_policy(errors)
            designs = self._calls.designs(parameters)
            mechanism = designs.kernels.mechanism
            chosen, names = _linear_numbers(mechanism)
            values = designs.numbers[:, chosen].reshape(*designs.shape, len(chosen))
            states = self._calls.run(self._regressor(mechanism), given, designs)
            return Regressor(states.results("regressor", errors, first), names, values)
        if "regressor" not in self._known:
            mechanism = Mechanism(self._robot, self._kernels.options.simplify)
            kernel = self._regressor(mechanism).at(mechanism.numbers.values)
            chosen, names = _linear_numbers(mechanism)
            self._known["regressor"] = kernel, names, mechanism.numbers.values[chosen]
        kernel, names, values = self._known["regressor"]
        matrix = self._calls.of_kernel("regressor", kernel, given, errors, first)
        return Regressor(matrix, names, values)

    def _regressor(self, mechanism: Mechanism) -> Kernel:
        """The compiled function of the numbers that a mechanism has as inputs, with its verdict."""
        key = "regressor", mechanism.numbers.structure
        if key not in self._known:
            columns = mechanism.numbers.symbols[_linear_numbers(mechanism)[0]]
            self._known[key] = self._kernels.shared(
                lambda: closed(mechanism, with_verdict(mechanism, formulas.regressor(mechanism, columns))),
                self._kernels.cache_key("regressor", mechanism),
            )
        kernel: Kernel = self._known[key]
        return kernel


def _linear_numbers(mechanism: Mechanism) -> tuple[list[int], tuple[str, ...]]:
    """Places in the port and names of the numbers that forces are linear in."""
    chosen = [(k, e) for k, e in enumerate(mechanism.numbers.entries) if linear(e)]
    names = (".".join([e.path, *([e.index] if isinstance(e.index, str) else map(str, e.index))]) for _, e in chosen)
    return [k for k, _ in chosen], tuple(names)


def linear(entry: Parameter) -> bool:
    """Whether inverse dynamics without dry friction is linear in a number, together with all others of this kind."""
    if entry.path.startswith("elements."):
        return is_linear_of_element(entry)
    return isinstance(entry.index, str) or entry.path.endswith(".viscous") or "rotor" in entry.path.rpartition(".")[2]


def derivative_functions(model: Any) -> DerivativeFunctions:
    """The compiled derivatives of a model, kept with it."""
    functions: DerivativeFunctions = model.derivative_functions
    return functions
