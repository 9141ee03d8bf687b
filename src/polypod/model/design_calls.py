"""Calls with other numbers than the robot's: designs broadcast against states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.verdict import BAD_INPUT
from ..parameters.paths import Design
from .checked import Checked, Run
from .diagnosis import reasons, report

Array = NDArray[np.float64]
Notes = list[tuple[NDArray[np.bool_], str]]


class DesignCalls(Checked):
    """Functions of designs."""

    def of_designs(
        self,
        name: str,
        given: Mapping[str, Any],
        parameters: Mapping[str, ArrayLike],
        options: Mapping[str, Any] = {},
        names: Mapping[str, str] = {},
        make: Callable[[Mechanism], Kernel] | None = None,
    ) -> tuple[Run, Notes]:
        """States broadcast against designs: every design at every state where the designs' axes lead.

        ``make`` gives the kernel of a function that is made elsewhere, with its verdict. Notes say of which rows the
        design cannot be, and why.
        """
        design = Design(self._kernels.robot, parameters)
        of_design = self._kernels.of_design(design)
        mechanism, ask = of_design.mechanism, of_design.get("margins")
        kernel = make(mechanism) if make else of_design.get(name, **options, verdict=True)
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
            raw = as_tuple(bound(*rows))
        else:
            size = int(np.prod(shape, dtype=int))
            bound = kernel.at(values[which()], rows=True)
            rows = [_rows(row, states.shape, shape) for row in states.rows]
            raw = as_tuple(bound(*(np.ascontiguousarray(np.broadcast_to(r, (size, *r.shape[1:]))) for r in rows)))
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

        return Run(shape, outputs, margins, mechanism, values, which), notes

    def of_possible_designs(
        self, name: str, given: Mapping[str, Any], parameters: Mapping[str, ArrayLike], results: tuple[str, ...]
    ) -> Run:
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


def as_tuple(results: Any) -> tuple[Array, ...]:
    """Results of a kernel, which gives one without a tuple."""
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
