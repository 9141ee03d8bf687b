"""Why a state has no answer, in words: which leg, what, by how much."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError, Reason, StateError, StateWarning
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism

Errors = Literal["raise", "warn", "nan"]
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
