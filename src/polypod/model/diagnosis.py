"""Why a state has no answer, in words: which leg, what, by how much."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError, Reason, StateError, StateWarning
from ..formulations.at_rest import coupled_loads, load_groups
from ..friction import loaded_joints
from ..friction.solutions import CELLS, FEW_CELLS, LARGEST_LOAD, FrictionSolutions, FrictionStatus, solutions
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..symbols.bounded import UNLIMITED
from .actuators import ActuatorInfo
from .kernels import Functions
from .least_use import least_use

Errors = Literal["raise", "warn", "nan"]
NOT_CONVERGED = "the friction iteration did not converge: "
TOO_STRONG = Reason(NOT_CONVERGED + "friction coefficients too large for this pose", "friction")
_HUGE = Reason("input values overflow", "overflow")
_FAR = 1e3
"""Where an end of a range that has none is taken to be, over the largest force."""
OVERFLOWS = Reason("the result overflows", "overflow")
_SINGULAR = Reason("the pose is singular: actuator forces or motion are not determined there", "singular")


def check_policy(errors: str | None) -> None:
    """Raise if ``errors`` is none of the policies."""
    if errors is not None and errors not in ("raise", "warn", "nan"):
        raise InputError(f"errors: 'raise', 'warn' or 'nan' is needed, got {errors!r}")


def reasons(mechanism: Mechanism, margins: Array) -> list[str]:
    """One sentence a state from the margins and excesses (n, k, 2) of the legs' conditions."""
    names = [(leg.name, c) for leg in mechanism.legs for c in leg.placement.conditions]
    sentences: list[str] = []
    for state in margins:
        lost: dict[str, str] = {}
        for k, (leg, c) in enumerate(names):
            if not state[k, 0] > SMALLEST_MARGIN:
                # What a leg loses after the first is only its consequence.
                lost.setdefault(leg, f"{leg}: {c.name} ({state[k, 1]:.6g} {c.unit})")
        sentences.append(Reason("; ".join(lost.values()), "leg") if lost else _SINGULAR)
    return sentences


def bounds_reason(actuators: Sequence[ActuatorInfo], force: Array, free: Array, low: Array, high: Array) -> str:
    """Why no forces force + free y (1, n) are within bounds: the actuators of those that exceed them least."""
    finite = np.abs(np.r_[low, high, force[0]])
    far = _FAR * finite[finite < UNLIMITED].max(initial=1e-300)
    middle, half = 0.5 * (low.clip(-far) + high.clip(None, far)), 0.5 * (high.clip(None, far) - low.clip(-far))
    best = least_use(force, free, half, middle)[0]
    over = np.maximum(low - best, best - high) / np.maximum(half, far / _FAR**2)
    limiting = [k for k in np.argsort(-over, kind="stable").tolist() if over[k] > 0 and over[k] > 0.999 * over.max()]
    if not limiting:
        return OVERFLOWS
    parts = [
        f"{actuators[k].name} needs {best[k]:.6g} {actuators[k].force_unit} "
        + (f"(at least {low[k]:.6g})" if best[k] < low[k] else f"(at most {high[k]:.6g})")
        for k in limiting
    ]
    return Reason(f"no forces within their bounds: at best {', '.join(parts)}", "bounds")


def report(
    what: str,
    bad: NDArray[np.bool_],
    explain: Callable[[NDArray[np.int64]], list[str]],
    result: Any,
    batched: bool,
    errors: Errors | None,
) -> None:
    """Say that states have no answer: raise for one state or on demand, else warn; ``nan`` says nothing more."""
    index = np.flatnonzero(bad)
    policy = errors or ("warn" if batched else "raise")
    if policy == "nan":
        return
    texts = explain(index[:20])
    shown = [f"state {k}: {text}" if batched else text for k, text in zip(index[:3].tolist(), texts, strict=False)]
    head = f"{what}: no answer for {len(index)} of {len(bad)} states" if batched else f"{what}: no answer"
    more = "; and others" if len(index) > 3 else ""
    message = f"{head}. {'. '.join(shown)}{more}"
    if policy == "raise":
        raise StateError(message, index, texts, result)
    warnings.warn(StateWarning(message, index, texts), stacklevel=4)


def motion_solutions(
    kernels: Functions, rows: list[Array], direct: bool = False, cells: int = CELLS
) -> FrictionSolutions:
    """Solutions at n states: rows of pose, twist, acceleration (``direct``: actuator forces) and wrench.

    Nothing is known (UNKNOWN) where loads overflow.
    """
    mechanism, dry = kernels.mechanism, kernels.options.dry
    make = partial(coupled_loads, mechanism, dry, direct)
    kernel = kernels.custom(f"coupled_loads {direct}", lambda: closed(mechanism, make()))
    constant, derivatives, *_ = kernel(*(np.ascontiguousarray(row) for row in rows))
    groups = load_groups(mechanism, loaded_joints(mechanism))
    count = len(constant)
    code, contracted = np.full(count, int(FrictionStatus.UNKNOWN)), np.full(count, np.inf)
    loads = np.full((count, len(groups)), np.nan)
    good = (np.abs(constant).max(axis=1, initial=0.0) < LARGEST_LOAD) & np.isfinite(derivatives).all(axis=(1, 2))
    code[good], loads[good], contracted[good] = solutions(constant[good], derivatives[good], groups, cells)
    return FrictionSolutions(code, loads, contracted)


def unconverged_reasons(functions: Functions, rows: Mapping[str, Array], direct: bool, count: int) -> list[str]:
    """Why friction did not converge in ``count`` states, given as rows of their inputs by name: one sentence each."""
    wanted = ["pose", "twist", "force" if direct else "acceleration", "wrench"]
    if functions.mechanism.platform.elastic or not set(wanted) <= set(rows):
        return [TOO_STRONG] * count
    given = [rows[name] for name in wanted]
    found = motion_solutions(functions, given, direct, FEW_CELLS)
    huge = [max(float(np.abs(row[k]).max()) for row in given) > LARGEST_LOAD for k in range(count)]
    texts = [Reason(NOT_CONVERGED + FrictionStatus(code).message, "friction") for code in found.status.tolist()]
    return [_HUGE if large else text for large, text in zip(huge, texts, strict=True)]
