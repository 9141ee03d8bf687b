"""How far an answer may be off by rounding: condition times rounding, as a number with a unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.verdict import BAD_INPUT
from .arguments import OPTIONAL, check_wrench
from .calls import Calls, Parameters
from .results import DIAGNOSTICS

BOUNDED = (
    "inverse_kinematics", "jacobian", "rates", "accelerations", "twist", "acceleration", "mass_matrix",
    "inverse_dynamics", "direct_dynamics", "bias", "energy", "reactions",
)  # fmt: skip
ROUNDINGS = 30.0
"""Roundings over the quality of an answer that its error stays below: 0.8 near the edge of reach, 2 elsewhere."""


class ErrorBound(NamedTuple):
    """Bounds of rounding errors: no component of a result is farther from the exact one.

    Attributes
    ----------
    bound : dict of str to ndarray, shape (...)
        Bound of each result by name, in its unit; infinite where there is no answer.
    quality : ndarray, shape (...)
        Share of the digits that the state leaves.
    digits : ndarray, shape (...)
        Number of correct decimal digits of the largest component of the worst result.
    """

    bound: dict[str, Array]
    quality: Array
    digits: Array


def error_bound(
    calls: Calls,
    function: str,
    arguments: tuple[Any, ...],
    friction: bool,
    parameters: Parameters | None,
    given: Mapping[str, Any],
) -> ErrorBound:
    """``polypod.Model.error_bound``."""
    if function not in BOUNDED:
        raise UnknownNameError("function", function, BOUNDED)
    kernel = calls.kernels.get(function, friction, verdict=True)
    names = [p.name for p in kernel.inputs]
    order = [name for name in names if not name.startswith("elastic")]  # as the method takes them
    if len(arguments) > len(order):
        raise InputError(f"{function}: at most {len(order)} arguments are needed ({', '.join(order)})")
    state = dict(zip(order, arguments, strict=False)) | dict(given)
    unknown = [name for name in state if name not in names]
    if unknown:
        raise UnknownNameError("argument", unknown[0], tuple(names))
    missing = [name for name in names if name not in state and name not in OPTIONAL]
    if missing:
        raise InputError(f"{function}: {missing[0]} is needed; it takes {', '.join(names)}")
    check_wrench(calls.kernels.robot, state.get("wrench"))
    states = calls.of(function, state, parameters, friction)
    kernel, outputs = states.functions.get(function, friction, verdict=True), states.outputs
    lost = states.lost | (outputs["verdict"] >= BAD_INPUT)
    quality = outputs["quality"]
    lost |= ~(quality > SMALLEST_MARGIN) | (outputs.get("converged", np.ones(1)) == 0.0)
    results = [name for name in outputs if name not in DIAGNOSTICS]
    sizes = {name: _largest(outputs[name]) for name in results}
    rows = [states.rows[name] for name in names]
    held = ("pose", "elastic", "weights", "preload")  # what is not among them may be zero
    for alone in [None, *(name for name in names if name not in held and name in state)]:
        part = [row if n in held or n == alone else np.zeros_like(row) for n, row in zip(names, rows, strict=True)]
        shares = dict(zip((p.name for p in kernel.outputs), kernel(*part), strict=True))
        for name in results:
            sizes[name] = sizes[name] + np.nan_to_num(_largest(shares[name]), nan=0.0, posinf=np.inf)
    epsilon = float(np.finfo(float).eps)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(lost, np.inf, ROUNDINGS * epsilon / quality)
        bound = {name: np.where(lost, np.inf, share * size) for name, size in sizes.items()}
        worst = [bound[name] / _largest(outputs[name]) for name in results]
        digits = np.where(lost, 0.0, -np.log10(np.clip(np.nan_to_num(np.max(worst, axis=0), nan=1.0), 1e-17, 1.0)))
    return ErrorBound(
        {name: states.restore(value) for name, value in bound.items()},
        states.restore(np.where(lost, 0.0, quality)),
        states.restore(digits),
    )


def _largest(values: Array) -> Array:
    """Largest size (n,) of the components of rows (n, ...); reactions that are left open are none."""
    return np.asarray(np.nanmax(np.abs(values).reshape(len(values), -1), axis=1, initial=0.0))
