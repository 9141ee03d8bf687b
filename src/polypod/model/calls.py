"""How a model's functions are called: arguments checked, kernels run, states without an answer told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Freedoms, Mechanism
from .arguments import Argument, Batch, batch, first_not_finite
from .checks import check_poses
from .diagnosis import Errors, check_policy, reasons, report
from .freedoms import check_motion, check_pose_freedom
from .single import SingleStates

Array = NDArray[np.float64]
Answer = Callable[[list[Array]], Any]


def first(results: list[Array]) -> Array:
    return results[0]


class Functions(Protocol):
    """Compiled functions of one robot by name, ``margins`` among them, which says which leg is to blame."""

    @property
    def mechanism(self) -> Mechanism: ...

    def get(self, name: str, friction: bool = False) -> Kernel: ...


class Calls:
    """Checked calls into the compiled functions of one robot; ``size`` is its platform's [m]."""

    def __init__(self, kernels: Functions, freedoms: Freedoms, size: float) -> None:
        self._kernels, self._freedoms, self._size = kernels, freedoms, size
        self._singles = SingleStates()

    def checked(self, arguments: list[Argument]) -> Batch:
        """Arguments as rows; an error for what is no pose, not finite, or no motion of the robot."""
        states = batch(arguments)
        self.check_pose(states, 0, "pose")
        # A number that no result depends on (a force that does no work, a speed along all rails) leaves no trace later.
        first_not_finite(Batch(states.shape, states.rows[1:]), arguments[1:])
        if not self._freedoms.full:
            for argument, rows in zip(arguments, states.rows, strict=True):
                if argument.name in ("twist", "acceleration"):
                    check_motion(self._freedoms, rows, argument.name, bool(states.shape))
        return states

    def check_pose(self, states: Batch, position: int, name: str) -> None:
        """Raise if an argument's rows are not poses the robot can take."""
        check_poses(states.rows[position], name, bool(states.shape))
        if not self._freedoms.full:
            check_pose_freedom(self._freedoms, states.rows[position], name, bool(states.shape), self._size)

    def call(
        self, name: str, arguments: list[Argument], errors: Errors | None, answer: Answer = first, **options: Any
    ) -> Any:
        """A function with the quality of each state, and whether its iteration converged, among its outputs.

        ``answer`` makes what the caller gets of the other outputs.
        """
        check_policy(errors)
        kernel = self._kernels.get(name, **options)
        if self._freedoms.full:
            single = self._singles.get((name, *options.values()), kernel)([a.value for a in arguments])
            if single is not None:
                return answer(single)
        states = self.checked(arguments)
        outputs = dict(zip((p.name for p in kernel.outputs), kernel(*states.rows), strict=True))
        bad = ~(outputs.pop("quality") > SMALLEST_MARGIN)
        open_loop = outputs.pop("converged", None)
        results = list(outputs.values())
        notes: list[tuple[NDArray[np.bool_], str]] = []
        if open_loop is not None and not open_loop.all():
            adrift = ~bad & (open_loop == 0.0)
            notes.append(
                (adrift, "the friction iteration did not converge: friction coefficients too large for this pose")
            )
            bad |= adrift
        # Reactions that statics leaves open are NaN; the forces beside them tell whether there is an answer.
        for result in results[-1:] if name == "reactions" else results:
            if not np.isfinite(result).all():
                huge = ~bad & ~np.isfinite(result).all(axis=tuple(range(1, result.ndim)))
                notes.append((huge, "the result is too large for a floating-point number"))
                bad |= huge
        return self._finish(name, arguments, states, results, bad, errors, answer, notes)

    def _finish(
        self,
        name: str,
        arguments: list[Argument],
        states: Batch,
        results: list[Array],
        bad: NDArray[np.bool_],
        errors: Errors | None,
        answer: Answer,
        notes: list[tuple[NDArray[np.bool_], str]],
    ) -> Any:
        if bad.any():
            for result in results:
                result[bad] = np.nan
        answered = answer([states.restore(result) for result in results])
        if bad.any():
            report(
                name,
                bad,
                lambda index: self._reasons(arguments, states, index, notes),
                answered,
                bool(states.shape),
                errors,
            )
        return answered

    def _reasons(
        self,
        arguments: list[Argument],
        states: Batch,
        index: NDArray[np.int64],
        notes: list[tuple[NDArray[np.bool_], str]],
    ) -> list[str]:
        margins = self._kernels.get("margins")
        given = {argument.name: rows for argument, rows in zip(arguments, states.rows, strict=True)}
        places = [
            np.ascontiguousarray(np.broadcast_to(given[p.name], (states.size, *p.shape))[index]) for p in margins.inputs
        ]
        told = reasons(self._kernels.mechanism, margins(*places))
        for states_, note in notes:
            told = [note if states_[k] else text for k, text in zip(index, told, strict=True)]
        return told
