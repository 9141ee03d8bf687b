"""Calls with other numbers than the robot's: designs broadcast against states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import InputError, Reason
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.verdict import BAD_INPUT
from ..parameters.design import Design
from .argument_checks import ArgumentChecks, BatchResult
from .arguments import Argument, Batch, batch
from .design_rows import DesignStates, Failures, as_tuple, finalise
from .diagnosis import reasons
from .generalized_coordinates import generalized_coordinates
from .kernels import DesignKernels
from .row_kernels import RowKernels

NOT_ALLOWED = Reason("the design's legs do not allow this pose or motion", "not_admissible")


class DesignCalls(ArgumentChecks):
    """Calls with ``parameters=``: one function for many designs, each with its states."""

    def of_designs(
        self,
        name: str,
        given: Mapping[str, Any],
        parameters: Mapping[str, ArrayLike],
        options: Mapping[str, Any] = {},
        names: Mapping[str, str] = {},
        make: Callable[[Mechanism], Kernel] | None = None,
        parametric: Mechanism | None = None,
    ) -> tuple[BatchResult, Failures]:
        """States broadcast against designs: every design at every state where the designs' axes lead.

        ``make`` gives the kernel of a function that is made elsewhere, with its verdict, and ``parametric`` the robot
        with the numbers that it has as inputs, if these are more than the designs change. Notes say which rows have a
        design that cannot be, and why.
        """
        design = Design(self._kernels.robot, parameters)
        of_design = self._kernels.of_design(design) if parametric is None else self._kernels.with_numbers_of(parametric)
        mechanism, ask = of_design.mechanism, of_design.get("margins")
        kernel = make(mechanism) if make else of_design.get(name, **options, verdict=True)
        values = design.rows(mechanism.numbers)
        arguments = self.arguments(kernel, given, names)
        if self._moves_otherwise(design):
            states = self._design_states(design, of_design, values, arguments).batch
        else:
            states = self.checked(arguments)
        shape = _broadcast_shape(design, states.shape)
        outer = _design_axes(design.shape, shape)

        def which() -> NDArray[np.int64]:
            """The design of every state; made when asked for: memory that is new takes as long as the mechanics."""
            return designs_of_states(design, shape)

        inputs = [p.name for p in kernel.inputs]
        if outer is not None:
            bound = kernel.at(values) if kernel.parameters else kernel
            rows = [_rows_by_design(row, states.shape, shape, outer) for row in states.rows]
            raw = as_tuple(bound(*rows))
        else:
            size = int(np.prod(shape, dtype=int))
            bound = kernel.at(values[which()], rows=True) if kernel.parameters else kernel
            rows = [_row_per_state(row, states.shape, shape) for row in states.rows]
            raw = as_tuple(bound(*(np.ascontiguousarray(np.broadcast_to(r, (size, *r.shape[1:]))) for r in rows)))
        cores = [p.shape for p in kernel.outputs]
        outputs = {
            p.name: np.ascontiguousarray(r).reshape(-1, *core)
            for p, r, core in zip(kernel.outputs, raw, cores, strict=True)
        }
        verdict = outputs["verdict"]
        failures = _noted(self.impossible(design, values, ask), which)
        if self._moves_otherwise(design):
            failures.append((verdict >= BAD_INPUT, NOT_ALLOWED))

        def margins(index: NDArray[np.int64]) -> Array:
            given_rows = {n: _row_per_state(r, states.shape, shape) for n, r in zip(inputs, states.rows, strict=True)}
            picked = [np.ascontiguousarray(given_rows[p.name][index]) for p in ask.inputs]
            return np.asarray(ask.at(values[which()[index]], rows=True)(*picked) if ask.parameters else ask(*picked))

        return BatchResult(shape, outputs, margins, mechanism, values, which), failures

    def of_possible_designs(
        self, name: str, given: Mapping[str, Any], parameters: Mapping[str, ArrayLike], results: tuple[str, ...]
    ) -> BatchResult:
        """Outputs of a function that says by its numbers where there is no answer; NaN for designs that cannot be."""
        run, failures = self.of_designs(name, given, parameters)
        finalise(name, run.shape, [run.outputs[key] for key in results], failures, lambda *found: found, "warn")
        return run

    def rows_of_designs(self, arguments: list[Argument], parameters: Mapping[str, ArrayLike]) -> DesignStates:
        """A row of every argument for every state of every design, and functions with the numbers of each row.

        This is for what is not one function of the mechanics: of_designs takes less memory.
        """
        design = Design(self._kernels.robot, parameters)
        of_design = self._kernels.of_design(design)
        values = design.rows(of_design.mechanism.numbers)
        found = self._design_states(design, of_design, values, arguments)
        failures = _noted(self.impossible(design, values, of_design.get("margins")), lambda: found.which)
        return found._replace(failures=[*failures, *found.failures])

    def _design_states(
        self, design: Design, of_design: DesignKernels, values: Array, arguments: list[Argument]
    ) -> DesignStates:
        """The same without notes on designs that cannot be."""
        given = batch(arguments)
        states = self._rigid_and_finite(given, arguments)
        shape = _broadcast_shape(design, states.shape)
        which = designs_of_states(design, shape)
        rows = [np.ascontiguousarray(_row_per_state(row, states.shape, shape)) for row in states.rows]
        kernels = RowKernels(of_design, values[which])
        own = generalized_coordinates(self._dof, self._size, kernels, self._homes(design)[which])
        failures: Failures = []
        for k, argument in enumerate(arguments):
            if argument.shape == (4, 4) and not self._dof.full:
                rows[k], close = own.nearest_poses(rows[k])
                failures.append((~close, NOT_ALLOWED))
        return DesignStates(Batch(shape, tuple(rows)), tuple(a.name for a in arguments), kernels, own, which, failures)

    def refused_motions(self, found: DesignStates) -> DesignStates:
        """The same, with a note on twists that a lower-mobility platform of the design cannot have."""
        if self._dof.full:
            return found
        off = found.evaluated(found.kernels.get("rates", verdict=True))["verdict"] >= BAD_INPUT
        return found._replace(failures=[*found.failures, (off, NOT_ALLOWED)])

    def _moves_otherwise(self, design: Design) -> bool:
        """Whether designs may move as the robot itself cannot: other homes, or other legs that a platform follows."""
        if self._dof.full:
            return False
        moved = ("home.", "legs.") if self._kernels.mechanism.platform.is_constrained else ("home.",)
        return any(path.startswith(moved) for path in design.values)

    def _homes(self, design: Design) -> Array:
        """Home poses (D, 4, 4)."""
        homes = np.tile(self._kernels.robot.home.matrix, (design.count, 1, 1))
        homes[:, :3, 3] = design.flat("home.position")
        return homes

    def impossible(self, design: Design, values: Array, ask: Kernel) -> dict[int, str]:
        """Why designs, by number, can be no robot: bodies that cannot be, legs that do not close at home.

        ``values`` are their rows of the parameter port and ``ask`` the kernel of their margins.
        """
        failures = {k: f": {text}" for k, text in design.reasons.items()}
        homes = self._homes(design)
        still = [homes if p.shape == (4, 4) else np.zeros((design.count, *p.shape)) for p in ask.inputs]
        closed = np.asarray(ask.at(values, rows=True)(*still) if ask.parameters else ask(*still))
        lost = ~(closed[..., 0] > SMALLEST_MARGIN).all(axis=-1)
        for k in np.flatnonzero(lost).tolist():
            text = reasons(self._kernels.mechanism, closed[k : k + 1])[0]
            failures.setdefault(k, f" does not close at home: {text}")
        return failures


def _noted(impossible: Mapping[int, str], which: Callable[[], NDArray[np.int64]]) -> Failures:
    """One note on the rows of all designs that cannot be, so that memory does not grow with their number."""
    if not impossible:
        return []
    design = which()
    lost = np.isin(design, list(impossible))
    return [(lost, lambda state: Reason(f"design {design[state]}{impossible[int(design[state])]}", "design"))]


def _broadcast_shape(design: Design, states: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of designs and states broadcast against each other."""
    try:
        return np.broadcast_shapes(states, design.shape)
    except ValueError as error:
        raise InputError(
            f"parameters: the batch axes of the designs {design.shape} do not broadcast with those of the "
            f"states {states}; give the designs leading axes of their own, (D, 1, ...)",
            code="batch_axes",
        ) from error


def designs_of_states(design: Design, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The number of the design of every state of a batch."""
    return np.broadcast_to(np.arange(design.count).reshape(design.shape), shape).ravel()


def _design_axes(designs: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """How many leading axes of a batch the designs take; None if they also vary along axes of the states."""
    padded = (1,) * (len(shape) - len(designs)) + designs
    last = max((k for k, size in enumerate(padded) if size != 1), default=-1)
    return last + 1 if padded[: last + 1] == shape[: last + 1] else None


def _rows_by_design(row: Array, states: tuple[int, ...], shape: tuple[int, ...], outer: int) -> Array:
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


def _row_per_state(row: Array, states: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Rows of an input for every state of the broadcast batch."""
    core = row.shape[1:]
    full = np.broadcast_to(row, (int(np.prod(states, dtype=int)), *core)).reshape(*states, *core)
    return np.broadcast_to(full, (*shape, *core)).reshape(-1, *core)
