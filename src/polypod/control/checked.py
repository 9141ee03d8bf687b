"""Kernels of a model as control and simulation call them: one state, an answer or an error that names the leg."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError, StateError
from ..kernels import CheckedCall, Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..model.arguments import Argument, batch
from ..model.diagnosis import OVERFLOWS, reasons
from ..model.results import Distribution


def checked_call(
    model: Any, name: str, friction: bool = False, bounded: bool = False, moving_base: bool = False
) -> CheckedCall:
    """A function of a model bound to one state; without an answer it raises a ``polypod.errors.StateError``.

    With ``bounded`` it is one of inverse dynamics within bounds, with ``moving_base`` one on a base that moves.
    """
    kernel = model.kernels.get(name, friction, bounded=bounded, moving_base=moving_base)
    names = tuple(p.name for p in kernel.inputs)

    def explain(*values: Array | float) -> str:
        return why_no_answer(model, dict(zip(names, values, strict=True)))

    def explain_bounds(*values: Array | float) -> str:
        given = dict(zip(names, values, strict=True))
        share = Distribution(given.pop("weights"), given.pop("preload"), (given.pop("low"), given.pop("high")))
        try:
            model.inverse_dynamics(**given, friction=friction, distribution=share, errors="raise")
        except StateError as error:
            return error.reasons[0]
        return OVERFLOWS

    return CheckedCall(kernel, SMALLEST_MARGIN, explain, explain_bounds if bounded else None)


class CheckedFunction:
    """A function of a model at one state, as ``checked_call``, or at a batch: NaN in its rows without an answer.

    Results of one state are views that the next call overwrites; those of a batch (..., *shape) are the caller's own.
    """

    def __init__(
        self, model: Any, name: str, friction: bool = False, bounded: bool = False, moving_base: bool = False
    ) -> None:
        self._kernel = model.kernels.get(name, friction, bounded=bounded, moving_base=moving_base)
        self._one = checked_call(model, name, friction, bounded, moving_base)
        self._first = len(self._kernel.inputs[0].shape)

    def __call__(self, *values: Array) -> tuple[Array, ...]:
        """Outputs; the first value tells whether there is a batch."""
        if np.ndim(values[0]) == self._first:
            return self._one(*values)
        return batch_results(self._kernel, *values)


def batch_results(kernel: Kernel, *values: Array) -> tuple[Array, ...]:
    """Outputs (..., *shape) of a kernel for values (..., *shape), NaN where there is no answer."""
    given = batch([Argument(p.name, value, p.shape) for p, value in zip(kernel.inputs, values, strict=True)])
    results = kernel(*given.rows)
    every = results if len(kernel.outputs) > 1 else (results,)
    outputs = dict(zip((p.name for p in kernel.outputs), every, strict=True))
    good = outputs.get("quality", np.full(given.size, np.inf)) > SMALLEST_MARGIN
    good &= outputs.get("converged", np.ones(given.size)) != 0.0
    if not good.all():
        for result in outputs.values():
            result[~good] = np.nan
    return tuple(given.restore(result) for result in outputs.values())


def check_rigid(model: Any) -> None:
    """Raise for the model of a flexible robot: encoders on its actuators do not show how its platform bends."""
    if model.robot.flexible:
        raise InputError(
            f"controller: encoders do not measure how the platform of {model.robot.name!r} bends; use model.rigid",
            code="flexible",
        )


def why_no_answer(model: Any, state: dict[str, Any]) -> str:
    """Which leg has no answer at a state, and why, in words; ``state`` has the inputs of ``margins`` by name."""
    return reasons(model.kernels.mechanism, _margins(model, state)[None])[0]


def nearest_loss(model: Any, state: dict[str, Any]) -> str:
    """Which leg is nearest to having no answer at a state, in words; empty if no leg has a condition to lose."""
    conditions = [(leg.name, c) for leg in model.kernels.mechanism.legs for c in leg.placement.conditions]
    if not conditions:
        return ""
    margins = _margins(model, state)[:, 0]
    leg, condition = conditions[int(np.argmin(margins))]
    return f"Closest to failing is {leg}: {condition.name} (margin {margins.min():.2g}, about 1 is good)."


def _margins(model: Any, state: dict[str, Any]) -> Array:
    """Margins and excesses (k, 2) of the legs' conditions."""
    kernel = model.kernel("margins")
    rows = [np.array(state[p.name], dtype=np.float64).reshape(1, *p.shape) for p in kernel.inputs]
    found: Array = kernel(*rows)[0]
    return found
