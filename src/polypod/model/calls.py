"""How a model's functions are called: states broadcast against parameters, checked, evaluated, failures reported.

There is one way. Arguments are laid out as rows and the kernel judges every state (``polypod.mechanism.verdict``);
only what it objects to is looked at one by one. ``parameters=`` gives other numbers for the kernels' parameter port,
broadcast against the states like any input. One state or a few in plain arrays need no bookkeeping at all
(``polypod.kernels.PlainCall``): that is tried first, for every function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from operator import itemgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import InputError, Reason
from ..kernels import Kernel, PlainCall, designs_of_states, row_per_state
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..limits import LimitReport
from ..mechanism import Mechanism
from ..mechanism.verdict import BAD_INPUT
from ..parameters.design import Design
from ..platforms import DegreesOfFreedom
from .actuators import actuators_of
from .arguments import (
    OPTIONAL,
    Argument,
    Batch,
    batch,
    check_finite,
    check_wrench,
    default_value,
    exact_poses,
    is_given,
    takes_wrench,
)  # fmt: skip
from .diagnosis import OVERFLOWS, TOO_STRONG, Errors, bounds_reason, check_policy, reasons, report, unconverged_reasons
from .generalized_coordinates import GeneralizedCoordinates, generalized_coordinates
from .kernels import Functions, Kernels, OpenedKernels, RowKernels
from .results import DIAGNOSTICS

Parameters = Mapping[str, ArrayLike]
"""Other values for numbers of the robot, by path."""
Text = str | Callable[[int], str]
"""Why a state has no answer: the same words for all, or those of the state with this number."""
Failures = list[tuple[NDArray[np.bool_], Text]]
"""Rows (n) without an answer, and why; the first note on a row counts."""
Result = TypeVar("Result")
_SCALARS = (float, int, str)
"""Types of values that nobody can change in place; True is none of them, and equal to 1."""
first: Callable[[list[Array]], Array] = itemgetter(0)
"""The first of a function's results."""
NOT_ALLOWED = Reason("the design's legs do not allow this pose or motion", "not_admissible")


class Function:
    """A function that calls name by itself, not by what it says: its kernel's name, and the inputs given, in order."""

    __slots__ = ("bounded", "inputs", "moving_base", "name")

    def __init__(self, name: str, *inputs: str) -> None:
        self.name, self.inputs = name, inputs
        self.moving_base, self.bounded = "base_twist" in inputs, "low" in inputs

    def with_inputs(self, *more: str) -> Function:
        """The same function with more inputs, always the same object."""
        return function(self.name, *self.inputs, *more)


function = cache(Function)
"""``Function`` of a name and inputs, the same object each time."""


class States:
    """States of one call, broadcast against designs if there are any, and what is known of them.

    ``shape`` is that of the whole batch; ``outputs`` are those of a kernel by name, a row (n, ...) for each state.
    ``failures`` say which rows have no answer, and why.
    """

    def __init__(self, calls: Calls, names: Sequence[str], given: Batch, designs: DesignBatch | None) -> None:
        self._calls, self.names, self.given, self.designs = calls, tuple(names), given, designs
        self.shape: tuple[int, ...] = given.shape if designs is None else designs.broadcast(given.shape)
        self.failures: Failures = []
        self._direct, self.friction = False, False
        self.outputs: dict[str, Array] = {}

    @property
    def size(self) -> int:
        """Number n of states."""
        return prod(self.shape)

    def restore(self, rows: Array) -> Array:
        """Rows (n, ...) with the batch's axes."""
        return rows.reshape(self.shape + rows.shape[1:])

    @lazy
    def rows(self) -> dict[str, Array]:
        """A row of every argument for every state, by name."""
        return {
            name: np.ascontiguousarray(row_per_state(row, self.given.shape, self.shape))
            for name, row in zip(self.names, self.given.rows, strict=True)
        }

    @lazy
    def which(self) -> NDArray[np.int64]:
        """The number (n) of the design of every state."""
        return designs_of_states(() if self.designs is None else self.designs.shape, self.shape)

    @lazy
    def functions(self) -> Functions:
        """The compiled functions with the numbers of every row."""
        if self.designs is None:
            return self._calls.kernels
        return RowKernels(self.designs.kernels, self.designs.numbers[self.which])

    @lazy
    def own(self) -> GeneralizedCoordinates:
        """Motions of a robot of fewer than six degrees of freedom, on these rows."""
        if self.designs is None:
            return self._calls.own
        return generalized_coordinates(
            self._calls.dof, self._calls.size, self.functions, self.designs.homes[self.which]
        )

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols, with what the designs open as inputs."""
        return self._calls.kernels.mechanism if self.designs is None else self.designs.kernels.mechanism

    @property
    def limit_ranges(self) -> Array:
        """Ranges (k, 2) of the limited quantities of the robot, or (..., k, 2) of the designs of the states."""
        if self.designs is None:
            return self.mechanism.limit_ranges
        return self.mechanism.limit_ranges_of(self.designs.numbers)[self.which].reshape(*self.shape, -1, 2)

    def evaluated(self, kernel: Kernel) -> dict[str, Array]:
        """Outputs by name of a kernel of the rows, one of ``functions``, whose inputs are among the arguments."""
        return _by_name(kernel, kernel(*(self.rows[p.name] for p in kernel.inputs)))

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Rows (n) without an answer."""
        return np.any([np.zeros(self.size, dtype=bool), *(states for states, _ in self.failures)], axis=0)

    def failure_reason(self, state: int) -> str | None:
        """What the first note on a state says; None if there is none."""
        text = next((text for states, text in self.failures if states[state]), None)
        return text(state) if callable(text) else text

    def finalise(
        self, name: str, results: Sequence[Array], errors: Errors | None, answer: Callable[[list[Array]], Result]
    ) -> Result:
        """``answer`` of results (n, ...) with the batch's axes, NaN in rows that notes name, which are reported."""
        if not self.failures:
            return answer([self.restore(result) for result in results])
        bad = self.lost
        for result in results:
            result[bad] = np.nan
        found = answer([self.restore(result) for result in results])
        if bad.any():
            report(name, bad, self._explained, found, bool(self.shape), errors)
        return found

    def results(self, name: str, errors: Errors | None, answer: Callable[[list[Array]], Result]) -> Result:
        """``finalise`` for the outputs of a kernel, after a look at their quality, convergence and size."""
        outputs = dict(self.outputs)
        about = {key: outputs.pop(key, None) for key in DIAGNOSTICS}
        found = list(outputs.values())
        verdict, quality, converged = about["verdict"], about["quality"], about["converged"]
        if quality is None or not (self.failures or verdict is None or verdict.any()):
            return self.finalise(name, found, errors, answer)
        bad = self.lost
        unclosed = ~bad & ~(quality > SMALLEST_MARGIN)
        self.note(unclosed, self.margin_text)
        bad |= unclosed
        if "low" in self.names:
            lost = ~bad & ~np.isfinite(outputs["force"]).all(axis=-1)
            self.note(lost, self._bounds_text)
            bad |= lost
        if converged is not None:
            self.note(~bad & (converged == 0.0), TOO_STRONG)
            bad |= converged == 0.0
        # Reactions that statics leaves open are NaN; the forces beside them tell whether there is an answer.
        for result in found[2:] if name == "reactions" else found:
            if not np.isfinite(result).all():
                huge = ~bad & ~np.isfinite(result).all(axis=tuple(range(1, result.ndim)))
                self.note(huge, OVERFLOWS)
                bad |= huge
        self._direct = name == "direct_dynamics"
        return self.finalise(name, found, errors, answer)

    def note(self, states: NDArray[np.bool_], text: Text) -> None:
        """Keep why some rows (n) have no answer."""
        if states.any():
            self.failures.append((states, text))

    def _explained(self, index: NDArray[np.int64]) -> list[str]:
        """Why some rows have no answer, one sentence each."""
        texts = [self.failure_reason(int(k)) or "" for k in index]
        weak = [k for k, text in enumerate(texts) if text is TOO_STRONG]
        if weak:
            some = {name: row[index[weak]] for name, row in self.rows.items()}
            found = unconverged_reasons(self.functions.at(index[weak]), some, self._direct, len(weak))
            for k, text in zip(weak, found, strict=True):
                texts[k] = text
        return texts

    def margin_text(self, state: int) -> str:
        """Which legs do not close in a state, and by how much."""
        ask = self.functions.at(np.array([state])).get("margins")
        margins = ask(*(np.ascontiguousarray(self.rows[p.name][state : state + 1]) for p in ask.inputs))
        return self.margin_message(np.asarray(margins))

    def _bounds_text(self, state: int) -> str:
        """Which actuators keep all forces of a state from being within their bounds, and by how much."""
        if self.mechanism.platform.elastic:
            return Reason("no forces within their bounds", "bounds")
        functions = self.functions.at(np.array([state]))
        given = {name: np.ascontiguousarray(row[state : state + 1]) for name, row in self.rows.items()}
        plain = functions.get("inverse_dynamics", self.friction, moving_base="base_twist" in given)
        force, matrix = (
            np.asarray(kernel(*(given[p.name] for p in kernel.inputs))[0])
            for kernel in (plain, functions.get("jacobian"))
        )
        free = np.linalg.svd(matrix)[0][..., matrix.shape[-1] :]
        return bounds_reason(actuators_of(self.mechanism), force, free, given["low"][0], given["high"][0])

    def margin_message(self, margins: Array) -> str:
        """The same from the margins and excesses (1, k, 2) of the legs' conditions."""
        return reasons(self.mechanism, margins)[0]


class DesignBatch:
    """Designs of a call: their numbers (D, k) for the port of ``kernels``, and which of them can be no robot."""

    def __init__(self, design: Design, kernels: OpenedKernels) -> None:
        self.design, self.kernels = design, kernels
        self.shape, self.count = design.shape, design.count
        self.numbers: Array = kernels.rows(design)

    @property
    def rows(self) -> Array:
        """Parameters (D, k) of the kernel that is called: the numbers, unless it takes more."""
        return self.numbers

    def broadcast(self, states: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of designs and states broadcast against each other."""
        try:
            return np.broadcast_shapes(states, self.shape)
        except ValueError as error:
            raise InputError(
                f"parameters: the batch axes of the designs {self.shape} do not broadcast with those of the "
                f"states {states}; give the designs leading axes of their own, (D, 1, ...)",
                code="batch_axes",
            ) from error

    @lazy
    def homes(self) -> Array:
        """Home poses (D, 4, 4)."""
        homes = np.tile(self.design.robot.home.matrix, (self.count, 1, 1))
        homes[:, :3, 3] = self.design.flat("home.position")
        return homes

    @lazy
    def impossible(self) -> dict[int, str]:
        """Why designs, by number, can be no robot: bodies that cannot be, legs that do not close at home."""
        failures = {k: f": {text}" for k, text in self.design.reasons.items()}
        if not self.design.map.moves_legs:
            return failures
        ask = self.kernels.get("margins")
        still = [self.homes if p.shape == (4, 4) else np.zeros((self.count, *p.shape)) for p in ask.inputs]
        closed = np.asarray(ask.at(self.numbers, rows=True)(*still) if ask.parameters else ask(*still))
        lost = ~(closed[..., 0] > SMALLEST_MARGIN).all(axis=-1)
        for k in np.flatnonzero(lost).tolist():
            text = reasons(self.kernels.kernels.mechanism, closed[k : k + 1])[0]
            failures.setdefault(k, f" does not close at home: {text}")
        return failures

    def noted(self, which: Callable[[], NDArray[np.int64]]) -> Failures:
        """One note on the rows of all designs that cannot be, so that memory does not grow with their number."""
        impossible = self.impossible
        if not impossible:
            return []
        design = which()
        return [
            (
                np.isin(design, list(impossible)),
                lambda state: Reason(f"design {design[state]}{impossible[int(design[state])]}", "design"),
            )
        ]


class Calls:
    """Checked calls into the compiled functions of one robot; ``size`` is its platform's [m]."""

    def __init__(self, kernels: Kernels, dof: DegreesOfFreedom, size: float) -> None:
        self.kernels, self.dof, self.size = kernels, dof, size
        self._short = kernels.plain
        self.own = generalized_coordinates(dof, size, kernels)

    def call(
        self,
        function: Function,
        values: tuple[Any, ...],
        errors: Errors | None = None,
        parameters: Parameters | None = None,
        friction: bool = False,
        formulation: str = "virtual-power",
        answer: Callable[[list[Array]], Result] = first,  # type: ignore[assignment]
    ) -> Result:
        """What ``answer`` makes of the results of a function of states, whose inputs may be left out (None)."""
        key = function, friction, formulation
        if parameters is None:
            plain, numbers = self._short.known.get(key), None
        else:
            plain, numbers = self._short.of_last_design(parameters, key)
        if plain is not None:
            results = plain(values, numbers)
            if results is not None:
                if errors is not None:
                    check_policy(errors)
                return answer(results)
        check_policy(errors)
        name, names = function.name, function.inputs
        given = dict(zip(names, values, strict=True))
        if self.kernels.robot.flexible:
            check_wrench(self.kernels.robot, given.get("wrench"))
        else:
            self.refuse_elastic(name, given)
        designs = None if parameters is None else self.designs(parameters)
        functions = self.kernels if designs is None else designs.kernels
        more = {"moving_base": function.moving_base, "bounded": function.bounded}
        kernel = functions.get(name, friction, formulation, verdict=True, **more)
        known = functions.plain.known
        if key not in known:
            known[key] = self._plain(kernel, names)
        results = None
        if designs is None or parameters is None:
            results = known[key](values)
        elif not designs.shape and not self._moves_otherwise(designs) and not designs.impossible:
            results = known[key](values, designs.numbers[0])
            if all(type(value) in _SCALARS for value in parameters.values()):
                self._short.last_design = dict(parameters), known, designs.numbers[0]
        if results is not None:
            return answer(results)
        states = self.run(kernel, given, designs)
        states.friction = friction
        return states.results(name, errors, answer)

    def _plain(self, kernel: Kernel, names: tuple[str, ...]) -> PlainCall:
        """The short way into a function with these inputs given; wrenches that must be looked at are not."""
        presets = {p.name: default_value(p.name, p.shape) for p in kernel.inputs if p.name in OPTIONAL}
        looked_at = "wrench" in names and not takes_wrench(self.kernels.robot)
        return PlainCall(kernel, names, presets, DIAGNOSTICS, ("wrench",) if looked_at else ())

    def plain(self, function: Function, values: tuple[Any, ...]) -> list[Array] | None:
        """Results of a function of one state or a few by the short way; None if the states must be looked at."""
        known = self._short.known
        if function not in known:
            known[function] = self._plain(self.kernels.get(function.name, verdict=True), function.inputs)
        return known[function](values)

    def of(
        self,
        name: str,
        given: Mapping[str, Any],
        parameters: Parameters | None,
        friction: bool = False,
        names: Mapping[str, str] = {},
    ) -> States:
        """``run`` of a function by name."""
        designs = None if parameters is None else self.designs(parameters)
        functions = self.kernels if designs is None else designs.kernels
        return self.run(functions.get(name, friction, verdict=True), given, designs, names)

    def limits(self, given: Mapping[str, Any], parameters: Parameters | None) -> LimitReport:
        """Limited quantities at states given by name."""
        states = self.of("limited", given, parameters)
        values = states.results("limits", "warn", first)
        return LimitReport.of(states.mechanism, values[..., 1:], states.limit_ranges)

    def of_kernel(
        self,
        name: str,
        kernel: Kernel,
        given: Mapping[str, Any],
        errors: Errors | None,
        answer: Callable[[list[Array]], Result],
    ) -> Result:
        """Results of a kernel made elsewhere, with the robot's numbers; its outputs end with the verdict."""
        check_policy(errors)
        key = kernel, tuple(given)
        known = self._short.known
        if key not in known:
            known[key] = self._plain(kernel, tuple(given))
        results = known[key](tuple(given.values()))
        return self.run(kernel, given).results(name, errors, answer) if results is None else answer(results)

    def refuse_elastic(self, name: str, given: Mapping[str, Any]) -> None:
        """Raise for elastic or internal coordinates of a robot that has none."""
        robot = self.kernels.robot
        if not robot.internal and given.get("internal") is not None:
            raise InputError(
                f"{name}: internal: {robot.name!r} has no internal coordinates; leave it out, or name joints under "
                "'internal' in its file",
                code="no_internal",
            )
        if not robot.flexible and any(value is not None for key, value in given.items() if key.startswith("elastic")):
            raise InputError(f"{name}: elastic: {robot.name!r} has a rigid platform; leave it out", code="rigid")

    # -- arguments -----------------------------------------------------------------------------------------------------

    def arguments(self, kernel: Kernel, given: Mapping[str, Any], names: Mapping[str, str] = {}) -> list[Argument]:
        """The kernel's inputs in order, under the caller's own ``names``; what is not given is zero (weights: one)."""
        result = []
        for port in kernel.inputs:
            if port.name == "internal" and given.get("internal") is None:
                raise self._needs_internal()
            value = given[port.name] if is_given(port.name, given) else default_value(port.name, port.shape)
            result.append(Argument(names.get(port.name, port.name), value, port.shape))
        return result

    def _needs_internal(self) -> InputError:
        names = ", ".join(self.dof.internal)
        return InputError(
            f"internal: {self.kernels.robot.name!r} has the internal coordinates {names}, which are part of every "
            f"state; give internal= with shape (..., {len(self.dof.internal)})",
            code="internal",
        )

    def place_arguments(self, pose: Any, internal: Any) -> list[Argument]:
        """Arguments that say where a robot is; an error for internal coordinates that are missing or not its own."""
        self.refuse_elastic("internal", {"internal": internal})
        if not self.dof.internal:
            return [Argument("pose", pose, (4, 4))]
        if internal is None:
            raise self._needs_internal()
        return [Argument("pose", pose, (4, 4)), Argument("internal", internal, (len(self.dof.internal),))]

    def designs(self, parameters: Parameters, parametric: Mechanism | None = None) -> DesignBatch:
        """Designs by the values of their numbers; ``parametric`` is the robot with these and more as inputs."""
        design = self.kernels.design(parameters)
        kernels = self.kernels.of_design(design) if parametric is None else self.kernels.with_numbers_of(parametric)
        return DesignBatch(design, kernels)

    def checked(self, arguments: Sequence[Argument]) -> Batch:
        """Arguments as rows; an error for what is no pose, not finite, or no motion of the robot."""
        return self._examined(batch(arguments), arguments)

    def _examined(self, states: Batch, arguments: Sequence[Argument]) -> Batch:
        states = _rigid_and_finite(states, arguments)
        rows = list(states.rows)
        if not self.dof.full:
            batched = bool(states.shape)
            named = {argument.name: row for argument, row in zip(arguments, rows, strict=True)}
            for k, argument in enumerate(arguments):
                if argument.shape == (4, 4):
                    rows[k] = self.own.exact_poses(rows[k], argument.name, batched, named.get("internal"))
                    named[argument.name] = rows[k]
            if "twist" in named:
                self.own.check_motion(named, batched)
        return Batch(states.shape, tuple(rows))

    def exact_pose(self, rows: Array, name: str, batched: bool) -> Array:
        """Poses (n, 4, 4) that the robot can take, the rounding of printed digits removed; an error for others."""
        poses = exact_poses(rows, name, batched)
        return poses if self.dof.full else self.own.exact_poses(poses, name, batched)

    # -- states --------------------------------------------------------------------------------------------------------

    def run(
        self,
        kernel: Kernel,
        given: Mapping[str, Any],
        designs: DesignBatch | None = None,
        names: Mapping[str, str] = {},
    ) -> States:
        """States and the outputs of a kernel with a verdict, which is 1 where there is no answer, else 0.

        Only if a verdict asks for it are the inputs looked at one by one: an error then names the argument, by its name
        among the caller's own ``names``, or poses printed with few digits are made exact.
        """
        arguments = self.arguments(kernel, given, names)
        ports = [p.name for p in kernel.inputs]
        if designs is not None and self._moves_otherwise(designs):
            states = States(self, ports, self.states(arguments, designs).given, designs)
            states.outputs = self._outputs(kernel, states)
            states.failures = designs.noted(lambda: states.which)
            states.note(states.outputs["verdict"] >= BAD_INPUT, NOT_ALLOWED)
            return states
        states = States(self, ports, batch(arguments), designs)
        states.outputs = self._outputs(kernel, states)
        if states.outputs["verdict"].max(initial=0.0) >= BAD_INPUT:
            states = States(self, ports, self._examined(states.given, arguments), designs)
            states.outputs = self._outputs(kernel, states)
            # What was looked at is right: numbers too large for their sum, poses exact to the square of their digits.
            states.outputs["verdict"] %= BAD_INPUT
        if designs is not None:
            states.failures = designs.noted(lambda: states.which)
        return states

    def _outputs(self, kernel: Kernel, states: States) -> dict[str, Array]:
        given, designs = states.given, states.designs
        if designs is None:
            return _by_name(kernel, kernel(*given.rows))
        numbers = designs.rows.reshape(*designs.shape, designs.rows.shape[1])
        return _by_name(kernel, kernel.broadcast(given.rows, given.shape, numbers))

    def evaluated(
        self, kernel: Kernel, given: Mapping[str, Any], names: Mapping[str, str] = {}
    ) -> tuple[Batch, dict[str, Array]]:
        """Rows and outputs of ``run`` with the robot's own numbers."""
        states = self.run(kernel, given, names=names)
        return states.given, states.outputs

    def states(self, arguments: Sequence[Argument], parameters: Parameters | DesignBatch | None) -> States:
        """States for what is more than one function of the mechanics: checked, with a row for each.

        Of designs, notes say which can be no robot, and which poses their legs do not allow.
        """
        names = [argument.name for argument in arguments]
        if parameters is None:
            return States(self, names, self.checked(arguments), None)
        designs = parameters if isinstance(parameters, DesignBatch) else self.designs(parameters)
        given = _rigid_and_finite(batch(arguments), arguments)
        states = States(self, names, given, designs)
        states.failures = designs.noted(lambda: states.which)
        if self.dof.full or not any(argument.shape == (4, 4) for argument in arguments):
            return states
        rows = dict(states.rows)
        for argument in arguments:
            if argument.shape == (4, 4):
                rows[argument.name], close = states.own.nearest_poses(rows[argument.name])
                states.note(~close, NOT_ALLOWED)
        near = States(self, names, Batch(states.shape, tuple(rows.values())), designs)
        near.failures = states.failures
        return near

    def _moves_otherwise(self, designs: DesignBatch) -> bool:
        """Whether designs may move as the robot itself cannot: other homes, or other legs that a platform follows."""
        if self.dof.full:
            return False
        moved = ("home.", "legs.") if self.kernels.mechanism.platform.is_constrained else ("home.",)
        return any(path.startswith(moved) for path in designs.design.values)


def _rigid_and_finite(states: Batch, arguments: Sequence[Argument]) -> Batch:
    """Rows of which all poses are exact; an error for what is no pose or not finite."""
    rows = list(states.rows)
    for k, argument in enumerate(arguments):
        if argument.shape == (4, 4):
            rows[k] = exact_poses(rows[k], argument.name, bool(states.shape))
    # A number that no result depends on (a force that does no work, a speed along all rails) leaves no trace later.
    others = [k for k, a in enumerate(arguments) if a.shape != (4, 4)]
    check_finite(Batch(states.shape, tuple(rows[k] for k in others)), [arguments[k] for k in others])
    return Batch(states.shape, tuple(rows))


def _by_name(kernel: Kernel, results: Any) -> dict[str, Array]:
    every = results if isinstance(results, tuple) else (results,)
    return dict(zip((p.name for p in kernel.outputs), every, strict=True))
