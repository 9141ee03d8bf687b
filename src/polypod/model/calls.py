"""How a model's functions are called: arguments checked, kernels run, states without an answer reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.verdict import BAD_INPUT
from ..parameters.paths import Design
from ..platforms import Freedoms
from .arguments import Argument, Batch, batch, first_not_finite, is_given, preset
from .checks import exact_poses
from .coupling import FrictionCode, motion_solutions
from .diagnosis import Errors, check_policy, reasons, report
from .freedoms import own_motion
from .kernels import Kernels
from .single import SingleStates, given_values

Array = NDArray[np.float64]
Answer = Callable[[list[Array]], Any]
Notes = list[tuple[NDArray[np.bool_], str]]
_ADRIFT = "the friction iteration did not converge: "
_JAMMED = _ADRIFT + "friction coefficients too large for this pose"


def first(results: list[Array]) -> Array:
    """The first of a function's results."""
    return results[0]


@dataclass(frozen=True)
class _Run:
    """Outputs of a kernel by name, rows first, of a batch of states; and the function that explains lost margins.

    ``numbers`` (D, k) are the robot's numbers of designs and ``which()`` (n) the design of each row, if there are any.
    """

    shape: tuple[int, ...]
    outputs: dict[str, Array]
    margins: Callable[[NDArray[np.int64]], Array]
    mechanism: Mechanism
    numbers: Array | None = None
    which: Callable[[], NDArray[np.int64]] | None = None
    jammed: Callable[[NDArray[np.int64]], list[str]] | None = None

    def restored(self, name: str) -> Array:
        """An output with the batch's axes."""
        return self.outputs[name].reshape(self.shape + self.outputs[name].shape[1:])


class Calls:
    """Checked calls into the compiled functions of one robot; ``size`` is its platform's [m]."""

    def __init__(self, kernels: Kernels, freedoms: Freedoms, size: float) -> None:
        self._kernels, self._freedoms = kernels, freedoms
        self.own = own_motion(freedoms, size, kernels)
        self._singles = SingleStates()

    def arguments(self, kernel: Kernel, given: Mapping[str, Any], names: Mapping[str, str] = {}) -> list[Argument]:
        """The kernel's inputs in order, under the caller's own ``names``; what is not given is zero (weights: one)."""
        result = []
        for port in kernel.inputs:
            value = given[port.name] if is_given(port.name, given) else preset(port.name, port.shape)
            result.append(Argument(names.get(port.name, port.name), value, port.shape))
        return result

    def checked(self, arguments: list[Argument]) -> Batch:
        """Arguments as rows; an error for what is no pose, not finite, or no motion of the robot."""
        return self._examined(batch(arguments), arguments)

    def _examined(self, states: Batch, arguments: list[Argument]) -> Batch:
        rows = list(states.rows)
        for k, argument in enumerate(arguments):
            if argument.shape == (4, 4):
                rows[k] = self.exact_pose(rows[k], argument.name, bool(states.shape))
        # A number that no result depends on (a force that does no work, a speed along all rails) leaves no trace later.
        others = [k for k, a in enumerate(arguments) if a.shape != (4, 4)]
        first_not_finite(Batch(states.shape, tuple(rows[k] for k in others)), [arguments[k] for k in others])
        if not self._freedoms.full:
            named = {argument.name: row for argument, row in zip(arguments, rows, strict=True)}
            if "twist" in named:
                self.own.check_motion(named["pose"], named["twist"], named.get("acceleration"), bool(states.shape))
        return Batch(states.shape, tuple(rows))

    def exact_pose(self, rows: Array, name: str, batched: bool) -> Array:
        """Poses (n, 4, 4) that the robot can take, the rounding of printed digits removed; an error for others."""
        poses = exact_poses(rows, name, batched)
        if not self._freedoms.full:
            return self.own.exact_poses(poses, name, batched)
        return poses

    def one(self, values: tuple[Any, ...], name: str, friction: Any = False, formulation: str = "virtual-power") -> Any:
        """The first result of a function of one state the short way; None if :meth:`call` must look at it.

        ``values`` are its first inputs. A flexible robot always takes the other way: its inputs stand in another order.
        """
        key = name, friction, formulation, len(values)
        evaluate = self._singles.first.get(key)
        if evaluate is None:
            evaluate = _never
            if not self._kernels.mechanism.platform.elastic:
                kernel = self._kernels.get(name, friction, formulation, verdict=True)
                evaluate = self._singles.get(kernel, len(values)).first
            self._singles.first[key] = evaluate
        return evaluate(*values)

    def call(
        self,
        name: str,
        given: Mapping[str, Any],
        errors: Errors | None,
        answer: Answer = first,
        parameters: Mapping[str, ArrayLike] | None = None,
        **options: Any,
    ) -> Any:
        """A function with the quality of each state, and whether its iteration converged, among its outputs.

        ``answer`` makes what the caller gets of the other outputs.
        """
        check_policy(errors)
        if parameters is not None:
            run, notes = self.of_designs(name, given, parameters, options)
            if notes or run.outputs["verdict"].any():
                del run.outputs["verdict"]  # it is on robots that can be; designs are looked at one by one
            return self._answered(name, (run, notes), errors, answer)
        kernel = self._kernels.get(name, **options, verdict=True)
        return self.call_kernel(name, kernel, given, errors, answer)

    def call_kernel(
        self, name: str, kernel: Kernel, given: Mapping[str, Any], errors: Errors | None, answer: Answer = first
    ) -> Any:
        """The same for a kernel that has its numbers; its outputs end with the verdict on each state."""
        values = given_values(kernel, given)
        single = self._singles.get(kernel, len(values)).all(*values)
        if single is not None:
            return answer(single)
        return self.call_batch(name, kernel, given, errors, answer)

    def call_batch(
        self, name: str, kernel: Kernel, given: Mapping[str, Any], errors: Errors | None, answer: Answer = first
    ) -> Any:
        """The same without the short way for one state, which keeps the kernel."""
        states, outputs = self.evaluated(kernel, given)
        names = [p.name for p in kernel.inputs]

        def margins(index: NDArray[np.int64]) -> Array:
            ask = self._kernels.get("margins")
            rows = {n: np.broadcast_to(r, (states.size, *r.shape[1:])) for n, r in zip(names, states.rows, strict=True)}
            return np.asarray(ask(*(np.ascontiguousarray(rows[p.name][index]) for p in ask.inputs)))

        def jammed(index: NDArray[np.int64]) -> list[str]:
            acting = "force" if name == "direct_dynamics" else "acceleration"
            wanted = ["pose", "twist", acting, "wrench"]
            if self._kernels.mechanism.platform.elastic or not set(wanted) <= set(names):
                return [_JAMMED] * len(index)
            rows = {n: np.broadcast_to(r, (states.size, *r.shape[1:])) for n, r in zip(names, states.rows, strict=True)}
            found = motion_solutions(self._kernels, [rows[n][index] for n in wanted], acting == "force")
            return [_ADRIFT + FrictionCode(code).advice for code in found.code.tolist()]

        run = _Run(states.shape, outputs, margins, self._kernels.mechanism, jammed=jammed)
        return self._answered(name, (run, []), errors, answer)

    def evaluated(
        self, kernel: Kernel, given: Mapping[str, Any], names: Mapping[str, str] = {}
    ) -> tuple[Batch, dict[str, Array]]:
        """States and outputs by name of a kernel with a verdict, which is 1 where there is no answer, else 0.

        Only if a verdict asks for it are the inputs looked at one by one: an error then names the argument, by its name
        among the caller's own ``names``, or poses printed with few digits are made exact.
        """
        arguments = self.arguments(kernel, given, names)
        states = batch(arguments)
        outputs = _by_name(kernel, kernel(*states.rows))
        if outputs["verdict"].max(initial=0.0) >= BAD_INPUT:
            states = self._examined(states, arguments)
            outputs = _by_name(kernel, kernel(*states.rows))
            # What was looked at is right: numbers too large for their sum, poses exact to the square of their digits.
            outputs["verdict"] %= BAD_INPUT
        return states, outputs

    def of_designs(
        self,
        name: str,
        given: Mapping[str, Any],
        parameters: Mapping[str, ArrayLike],
        options: Mapping[str, Any] = {},
        names: Mapping[str, str] = {},
    ) -> tuple[_Run, Notes]:
        """States broadcast against designs: every design at every state where the designs' axes lead.

        Notes say of which rows the design cannot be, and why.
        """
        design = Design(self._kernels.robot, parameters)
        of_design = self._kernels.of_design(design)
        kernel, ask = of_design.get(name, **options, verdict=True), of_design.get("margins")
        mechanism = of_design.mechanism
        values = design.rows(mechanism.numbers)
        states = self.checked(self.arguments(kernel, given, names))
        try:
            shape = np.broadcast_shapes(states.shape, design.shape)
        except ValueError as error:
            raise InputError(
                f"parameters: batch axes of designs {design.shape} do not fit those of the states {states.shape}; give "
                "designs an axis of their own before them, (D, 1, ...)"
            ) from error
        outer = _leading(design.shape, shape)

        def which() -> NDArray[np.int64]:
            """The design of every state; made when asked for: memory that is new takes as long as the mechanics."""
            return np.broadcast_to(np.arange(design.count).reshape(design.shape), shape).ravel()

        inputs = [p.name for p in kernel.inputs]
        bound = kernel.at(values, rows=outer is None) if kernel.parameters else kernel
        if outer is not None:
            rows = [_spread(row, states.shape, shape, outer) for row in states.rows]
            raw = _tuple(bound(*rows))
        else:
            size = int(np.prod(shape, dtype=int))
            bound = kernel.at(values[which()], rows=True)
            rows = [_rows(row, states.shape, shape) for row in states.rows]
            raw = _tuple(bound(*(np.ascontiguousarray(np.broadcast_to(r, (size, *r.shape[1:]))) for r in rows)))
        cores = [p.shape for p in kernel.outputs]
        outputs = {
            p.name: np.ascontiguousarray(r).reshape(-1, *core)
            for p, r, core in zip(kernel.outputs, raw, cores, strict=True)
        }
        verdict = outputs["verdict"]
        impossible = self.impossible(design, values, ask)
        notes = [(which() == k, f"design {k}{text}") for k, text in impossible.items()]
        if mechanism.platform.follows_legs:
            # other geometry lets the platform do other things
            notes.append((verdict >= BAD_INPUT, "the design's legs do not allow this pose or motion"))

        def margins(index: NDArray[np.int64]) -> Array:
            given_rows = {n: _rows(r, states.shape, shape) for n, r in zip(inputs, states.rows, strict=True)}
            picked = [np.ascontiguousarray(given_rows[p.name][index]) for p in ask.inputs]
            return np.asarray(ask.at(values[which()[index]], rows=True)(*picked) if ask.parameters else ask(*picked))

        return _Run(shape, outputs, margins, mechanism, values, which), notes

    def of_possible_designs(
        self, name: str, given: Mapping[str, Any], parameters: Mapping[str, ArrayLike], results: tuple[str, ...]
    ) -> _Run:
        """Outputs of a function that says by its numbers where there is no answer; NaN for designs that cannot be."""
        run, notes = self.of_designs(name, given, parameters)
        bad = np.any([states for states, _ in notes], axis=0) if notes else np.zeros(0, dtype=bool)
        if bad.any():
            for key in results:
                run.outputs[key][bad] = np.nan
            found = {key: run.restored(key) for key in results}

            def explain(index: NDArray[np.int64]) -> list[str]:
                return [next(text for states, text in notes if states[k]) for k in index]

            report(name, bad, explain, found, True, None)
        return run

    def impossible(self, design: Design, values: Array, ask: Kernel) -> dict[int, str]:
        """Why designs, by number, can be no robot: bodies that cannot be, legs that do not close at home.

        ``values`` are their rows of the parameter port and ``ask`` the kernel of their margins.
        """
        notes = {k: f": {text}" for k, text in design.reasons.items()}
        homes = np.tile(self._kernels.robot.home.matrix, (design.count, 1, 1))
        homes[:, :3, 3] = design.flat("home.position")
        still = [homes if p.shape == (4, 4) else np.zeros((design.count, *p.shape)) for p in ask.inputs]
        closed = np.asarray(ask.at(values, rows=True)(*still) if ask.parameters else ask(*still))
        lost = ~(closed[..., 0] > SMALLEST_MARGIN).all(axis=-1)
        for k in np.flatnonzero(lost).tolist():
            text = reasons(self._kernels.mechanism, closed[k : k + 1])[0]
            notes.setdefault(k, f" does not close at home: {text}")
        return notes

    def _answered(self, name: str, found: tuple[_Run, Notes], errors: Errors | None, answer: Answer) -> Any:
        """Results with NaN where there is no answer, and a word about it."""
        run, notes = found
        outputs = run.outputs
        verdict, open_loop = outputs.pop("verdict", None), outputs.pop("converged", None)
        quality = outputs.pop("quality")
        if verdict is not None and not verdict.any():
            return answer([result.reshape(run.shape + result.shape[1:]) for result in outputs.values()])
        bad: NDArray[np.bool_] = ~(quality > SMALLEST_MARGIN)
        for states, _ in notes:
            bad |= states
        results = list(outputs.values())
        if open_loop is not None and not open_loop.all():
            adrift = ~bad & (open_loop == 0.0)
            notes.append((adrift, _JAMMED))
            bad |= adrift
        # Reactions that statics leaves open are NaN; the forces beside them tell whether there is an answer.
        for result in results[2:] if name == "reactions" else results:
            if not np.isfinite(result).all():
                huge = ~bad & ~np.isfinite(result).all(axis=tuple(range(1, result.ndim)))
                notes.append((huge, "the result is too large for a floating-point number"))
                bad |= huge
        if bad.any():
            for result in results:
                result[bad] = np.nan
        answered = answer([result.reshape(run.shape + result.shape[1:]) for result in results])
        if bad.any():
            report(name, bad, lambda index: _explained(run, index, notes), answered, bool(run.shape), errors)
        return answered


def _never(*values: Any) -> None:
    """No short way."""


def _explained(run: _Run, index: NDArray[np.int64], notes: Notes) -> list[str]:
    texts = reasons(run.mechanism, run.margins(index))
    for states, note in notes:
        some = np.flatnonzero(states[index])
        said = run.jammed if note is _JAMMED and len(some) else None
        words = [note] * len(some) if said is None else said(index[some])
        for k, word in zip(some.tolist(), words, strict=True):
            texts[k] = word
    return texts


def _by_name(kernel: Kernel, results: Any) -> dict[str, Array]:
    return dict(zip((p.name for p in kernel.outputs), _tuple(results), strict=True))


def _tuple(results: Any) -> tuple[Array, ...]:
    return results if isinstance(results, tuple) else (results,)


def _leading(designs: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """How many leading axes of a batch the designs take; None if they also vary along axes of the states."""
    padded = (1,) * (len(shape) - len(designs)) + designs
    last = max((k for k, size in enumerate(padded) if size != 1), default=-1)
    return last + 1 if padded[: last + 1] == shape[: last + 1] else None


def _spread(row: Array, states: tuple[int, ...], shape: tuple[int, ...], outer: int) -> Array:
    """Rows of an input for kernels of several designs: (n, ...) for all of them, or (D, n, ...)."""
    core = row.shape[1:]
    if len(row) == 1:
        return row
    lead = (1,) * (len(shape) - len(states)) + states
    full = row.reshape(*lead, *core)
    if all(size == 1 for size in lead[:outer]):
        inner = np.broadcast_to(full, (*(1,) * outer, *shape[outer:], *core))
        return np.ascontiguousarray(inner).reshape(-1, *core)
    every = np.broadcast_to(full, (*shape, *core))
    return np.ascontiguousarray(every).reshape(int(np.prod(shape[:outer], dtype=int)), -1, *core)


def _rows(row: Array, states: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Rows of an input for every state of the broadcast batch."""
    core = row.shape[1:]
    full = np.broadcast_to(row, (int(np.prod(states, dtype=int)), *core)).reshape(*states, *core)
    return np.broadcast_to(full, (*shape, *core)).reshape(-1, *core)
