"""Forward kinematics as a model's call: of states on their own, and along a log."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.kinematics import FOUND
from ..mechanism.verdict import BAD_INPUT
from .arguments import Batch, PoseLike, batch
from .caller import Caller
from .diagnosis import Errors, check_policy, report
from .results import Code, ForwardKinematics

Array = NDArray[np.float64]
_NAMES = {"pose": "guess"}


def forward_kinematics(
    model: Caller,
    q: ArrayLike,
    guess: PoseLike,
    elastic: ArrayLike | None,
    along: bool,
    errors: Errors | None,
    full_output: bool,
) -> Any:
    """See :meth:`polypod.Model.forward_kinematics`; ``guess`` is given here."""
    check_policy(errors)
    given = {"q": q, "pose": guess, "elastic": elastic}
    if along:
        states, outputs = _along(model, given)
    else:
        kernel = model._kernels.get("forward_kinematics", verdict=True)
        states, outputs = model._calls.evaluated(kernel, given, _NAMES)
    result, code = _result(model, states, outputs)
    bad = code != Code.CONVERGED
    if bad.any():
        residual = outputs["residual"]
        report(
            "forward_kinematics",
            bad,
            lambda index: [f"{Code(code[k]).advice} (error {residual[k]:.3g})" for k in index],
            result,
            bool(states.shape),
            "nan" if full_output and errors is None else errors,
        )
    if full_output:
        return result
    rigid: Any = type(guess)
    return rigid.from_matrix(result.pose) if hasattr(rigid, "from_matrix") and not bad.any() else result.pose


def _result(model: Caller, states: Batch, outputs: dict[str, Array]) -> tuple[ForwardKinematics, NDArray[np.int64]]:
    pose, residual, quality = outputs["pose"], outputs["residual"], outputs["quality"]
    code = np.full(len(pose), int(Code.CONVERGED))
    if outputs["verdict"].any():
        scale = model.size + float(np.linalg.norm(model.robot.home.position))
        code[outputs["verdict"] != 0] = Code.SINGULAR
        code[~(quality > SMALLEST_MARGIN)] = Code.SINGULAR
        code[~(residual <= FOUND * scale)] = Code.NOT_CONVERGED
        code[np.isnan(residual) & (quality == 0.0)] = Code.BAD_GUESS
        pose[code != Code.CONVERGED] = np.nan
    steps = outputs["steps"].astype(np.int64)
    shape = states.shape
    found = ForwardKinematics(states.restore(pose), code.reshape(shape), states.restore(residual), steps.reshape(shape))
    return found, code


def _along(model: Caller, given: dict[str, Any]) -> tuple[Batch, dict[str, Array]]:
    """Rows of logs one after the other: outputs by name, rows as in the arrays given."""
    kernel = model._kernels.get("forward_kinematics_along", verdict=True)
    arguments = model._calls.arguments(kernel, given, _NAMES)
    states = [batch([argument]) for argument in arguments]
    if not states[0].shape:
        raise InputError(f"q: a log (..., T, {len(model.actuators)}) is needed with along=True, got one state")
    batches, outputs = _followed(kernel, states)
    if outputs["verdict"].max(initial=0.0) >= BAD_INPUT:
        batches, outputs = _followed(kernel, [model._calls.checked([argument]) for argument in arguments])
        outputs["verdict"] %= BAD_INPUT
    return batches, outputs


def _followed(kernel: Kernel, states: list[Batch]) -> tuple[Batch, dict[str, Array]]:
    """Outputs of a log's rows; the second argument, the guess, belongs to a log and the others to its rows."""
    q, start, *rest = states
    length = q.shape[-1]
    logs = np.broadcast_shapes(q.shape[:-1], start.shape, *(r.shape[:-1] for r in rest))
    n = prod(logs)
    first = np.ascontiguousarray(np.broadcast_to(start.restore(start.rows[0]), (*logs, 4, 4))).reshape(n, 4, 4)
    rows = [_by_time(b, logs, length) for b in (q, *rest)]
    outputs = kernel.along(rows[0], first, *rows[1:], carry=("pose", "next"))
    named = {
        p.name: np.ascontiguousarray(np.swapaxes(a, 0, 1)).reshape(n * length, *p.shape)
        for p, a in zip(kernel.outputs, outputs, strict=True)
    }
    return Batch((*logs, length), q.rows), named


def _by_time(values: Batch, logs: tuple[int, ...], length: int) -> Array:
    """An argument (..., T, k) as (T, logs, k)."""
    own = values.restore(values.rows[0])
    every = np.broadcast_to(own, (*logs, length, own.shape[-1])).reshape(prod(logs), length, own.shape[-1])
    return np.ascontiguousarray(np.swapaxes(every, 0, 1))
