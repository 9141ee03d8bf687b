"""Forward kinematics as a model's call: of states on their own, and along a log."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import InputError, Reason, StateWarning
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.forward_kinematics import largest_residual
from ..mechanism.verdict import BAD_INPUT
from .arguments import Batch, PoseLike, batch, pose_matrix
from .calls import Calls, Parameters, States
from .diagnosis import Errors, check_policy, report
from .forward_search import PoseSearch
from .results import ForwardKinematics, ForwardKinematicsStatus

_NAMES = {"pose": "guess"}


def forward_kinematics(
    calls: Calls,
    q: ArrayLike,
    guess: PoseLike,
    inner: tuple[ArrayLike | None, ArrayLike | None],
    along: bool,
    errors: Errors | None,
    full_output: bool,
) -> Any:
    """See ``polypod.Model.forward_kinematics``; ``guess`` is given here, ``inner`` are elastic and internal ones."""
    check_policy(errors)
    given = {"q": q, "pose": guess, **_inner(inner)}
    if along:
        states, outputs, rows = _along(calls, given)
    else:
        kernel = calls.kernels.get("forward_kinematics", verdict=True)
        states, outputs = calls.evaluated(kernel, given, _NAMES)
        rows = {p.name: row for p, row in zip(kernel.inputs, states.rows, strict=True)}
    _search(calls, rows, outputs)
    result, code = _result(calls, states, outputs)
    if full_output:
        _mark_limits(calls, rows, outputs, code)
        result = result._replace(status=code.reshape(states.shape))
    return _finalise(states, result, code, outputs["residual"], guess, errors, full_output)


def forward_kinematics_of_designs(
    calls: Calls,
    q: ArrayLike,
    guess: PoseLike,
    inner: tuple[ArrayLike | None, ArrayLike | None],
    along: bool,
    parameters: Parameters,
    errors: Errors | None,
    full_output: bool,
) -> Any:
    """The same for designs broadcast against states; designs that cannot be have a guess that does not close."""
    check_policy(errors)
    if along:
        raise InputError(
            "parameters: along=True uses the robot's own parameters; make a robot with the new ones instead"
        )
    given = {"q": q, "pose": guess, **_inner(inner)}
    run = calls.of("forward_kinematics", given, parameters, names=_NAMES)
    states = Batch(run.shape, ())
    for rows, _ in run.failures:
        run.outputs["residual"][rows], run.outputs["quality"][rows], run.outputs["verdict"][rows] = np.nan, 0.0, 1.0
    result, code = _result(calls, states, run.outputs)
    if full_output and len(run.mechanism.limits):
        poses = np.where(np.isnan(result.pose), pose_matrix(guess), result.pose)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StateWarning)  # of designs that cannot be, which follows
            limited = calls.limits({"pose": poses, **_inner(inner)}, parameters)
        outside = ~limited.inside.all(axis=-1).ravel()
        code[(code == ForwardKinematicsStatus.CONVERGED) & outside] = ForwardKinematicsStatus.OUTSIDE_LIMITS
        result = result._replace(status=code.reshape(run.shape))
    return _finalise(states, result, code, run.outputs["residual"], guess, errors, full_output, run)


def _inner(values: tuple[ArrayLike | None, ArrayLike | None]) -> dict[str, ArrayLike | None]:
    return dict(zip(("elastic", "internal"), values, strict=True))


def _reason(status: ForwardKinematicsStatus, residual: float) -> Reason:
    return Reason(f"{status.message} (error {residual:.3g})", status.name.lower())


def _finalise(
    states: Batch,
    result: ForwardKinematics,
    code: NDArray[np.int64],
    residual: Array,
    guess: PoseLike,
    errors: Errors | None,
    full_output: bool,
    run: States | None = None,
) -> Any:
    """What the caller gets; states without an answer are reported."""
    bad = ~np.isin(code, (ForwardKinematicsStatus.CONVERGED, ForwardKinematicsStatus.OUTSIDE_LIMITS))
    if bad.any():
        report(
            "forward_kinematics",
            bad,
            lambda index: [
                (run and run.failure_reason(int(k))) or _reason(ForwardKinematicsStatus(code[k]), residual[k])
                for k in index
            ],
            result,
            bool(states.shape),
            "nan" if full_output and errors is None else errors,
        )
    if full_output:
        return result
    rigid: Any = type(guess)
    return rigid.from_matrix(result.pose) if hasattr(rigid, "from_matrix") and not bad.any() else result.pose


def _result(calls: Calls, states: Batch, outputs: dict[str, Array]) -> tuple[ForwardKinematics, NDArray[np.int64]]:
    pose, residual, quality = outputs["pose"], outputs["residual"], outputs["quality"]
    code = np.full(len(pose), int(ForwardKinematicsStatus.CONVERGED))
    if outputs["verdict"].any():
        code[outputs["verdict"] != 0] = ForwardKinematicsStatus.SINGULAR
        code[quality < -SMALLEST_MARGIN] = ForwardKinematicsStatus.OTHER_SIDE
        code[~(np.abs(quality) > SMALLEST_MARGIN)] = ForwardKinematicsStatus.SINGULAR
        code[~(residual <= largest_residual(calls.size, calls.kernels.robot))] = ForwardKinematicsStatus.NOT_CONVERGED
        code[_unclosed(outputs)] = ForwardKinematicsStatus.BAD_GUESS
        pose[code != ForwardKinematicsStatus.CONVERGED] = np.nan
    steps = outputs["steps"].astype(np.int64)
    shape = states.shape
    internal = outputs.get("internal", np.zeros((len(pose), 0)))
    internal = np.where(np.isnan(pose[:, :1, 0]), np.nan, internal)
    found = ForwardKinematics(
        states.restore(pose),
        code.reshape(shape),
        states.restore(residual),
        steps.reshape(shape),
        states.restore(internal),
    )
    return found, code


def _unclosed(outputs: dict[str, Array]) -> NDArray[np.bool_]:
    """Whether the legs do not close at the guess: no step was taken from it."""
    return np.asarray(np.isnan(outputs["residual"]) & (outputs["quality"] == 0.0))


def _search(calls: Calls, rows: dict[str, Array], outputs: dict[str, Array]) -> None:
    """Look further for the states without an answer whose legs close at the guess; results replace those of Newton."""
    lost = np.flatnonzero((outputs["verdict"] != 0) & ~_unclosed(outputs))
    if not len(lost) or "internal" in outputs:
        return
    count = len(outputs["verdict"])
    own = {name: np.broadcast_to(row, (count, *row.shape[1:]))[lost] for name, row in rows.items()}
    search = PoseSearch(calls, calls.kernels.get("forward_kinematics", verdict=True), own)
    search.run()
    for name, values in search.outputs.items():
        outputs[name][lost[search.found]] = values[search.found]


def _mark_limits(calls: Calls, rows: dict[str, Array], outputs: dict[str, Array], code: NDArray[np.int64]) -> None:
    """Set the code of poses that have the coordinates and are outside the robot's limits."""
    ranges, pose = calls.kernels.mechanism.limit_ranges, outputs["pose"]
    index = np.flatnonzero(code == ForwardKinematicsStatus.CONVERGED)
    if not len(ranges) or not len(index):
        return
    kernel = calls.kernels.get("limited")
    given = {name: np.broadcast_to(row, (len(pose), *row.shape[1:]))[index] for name, row in rows.items()}
    given["pose"] = pose[index]
    if "internal" in outputs:
        given["internal"] = outputs["internal"][index]
    values = kernel(*(np.ascontiguousarray(given[p.name]) for p in kernel.inputs))[:, 1:]
    inside = ((values >= ranges[:, 0]) & (values <= ranges[:, 1])).all(axis=1)
    code[index[~inside]] = ForwardKinematicsStatus.OUTSIDE_LIMITS


def _along(calls: Calls, given: dict[str, Any]) -> tuple[Batch, dict[str, Array], dict[str, Array]]:
    """Rows of logs one after the other: outputs by name, rows as in the arrays given; and the inputs of every row."""
    kernel = calls.kernels.get("forward_kinematics_along", verdict=True)
    arguments = calls.arguments(kernel, given, _NAMES)
    states = [batch([argument]) for argument in arguments]
    if not states[0].shape:
        raise InputError(
            f"q: a log (..., T, {len(calls.kernels.mechanism.actuators)}) is needed with along=True, got one state"
        )
    batches, outputs, inputs = _followed(kernel, states)
    if outputs["verdict"].max(initial=0.0) >= BAD_INPUT:
        batches, outputs, inputs = _followed(kernel, [calls.checked([argument]) for argument in arguments])
        outputs["verdict"] %= BAD_INPUT
    return batches, outputs, inputs


def _followed(kernel: Kernel, states: list[Batch]) -> tuple[Batch, dict[str, Array], dict[str, Array]]:
    """Outputs and inputs of a log's rows; the second argument, the guess, belongs to a log and the others to its rows.

    The inputs' guesses are those that rows had: the last pose found before.
    """
    q, start, *rest = states
    length = q.shape[-1]
    logs = np.broadcast_shapes(q.shape[:-1], start.shape, *(r.shape[:-1] for r in rest))
    n = prod(logs)
    first = np.ascontiguousarray(np.broadcast_to(start.restore(start.rows[0]), (*logs, 4, 4))).reshape(n, 4, 4)
    rows = [_by_time(b, logs, length) for b in (q, *rest)]
    outputs = kernel.along(rows[0], first, *rows[1:], carry=("pose", "next"))
    named = {p.name: _by_log(a) for p, a in zip(kernel.outputs, outputs, strict=True)}
    following = named.pop("next").reshape(n, length, 4, 4)
    guesses = np.concatenate([first[:, None], following[:, :-1]], axis=1)[:, :length].reshape(n * length, 4, 4)
    given = [_by_log(rows[0]), guesses, *(_by_log(a) for a in rows[1:])]
    inputs = {p.name: a for p, a in zip(kernel.inputs, given, strict=True)}
    return Batch((*logs, length), q.rows), named, inputs


def _by_log(values: Array) -> Array:
    """Rows (T, logs, ...) as (logs T, ...)."""
    return np.ascontiguousarray(np.swapaxes(values, 0, 1)).reshape(-1, *values.shape[2:])


def _by_time(values: Batch, logs: tuple[int, ...], length: int) -> Array:
    """An argument (..., T, k) as (T, logs, k)."""
    own = values.restore(values.rows[0])
    every = np.broadcast_to(own, (*logs, length, own.shape[-1])).reshape(prod(logs), length, own.shape[-1])
    return np.ascontiguousarray(np.swapaxes(every, 0, 1))
