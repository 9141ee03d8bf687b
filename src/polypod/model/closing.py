"""Whether and why not the legs close at poses: a code a state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.open_legs import opening
from .results import Closing, ClosingCode

Array = NDArray[np.float64]
_SINGULAR = 1e-9
"""Smallest over largest singular value of the scaled Jacobian at which the platform is singular."""


def judged(mechanism: Mechanism, pose: Array, margins: Array, condition: Array) -> Closing:
    """Codes of n poses (n, 4, 4) from the margins and excesses (n, k, 2) of all conditions and condition numbers (n,).

    Poses at which a leg without a closed form stays open are looked at one by one: they are few, and only a search for
    the least gap tells whether the leg does not reach or would have to pass a singularity of its own.
    """
    conditions = [(k, c) for k, leg in enumerate(mechanism.legs) for c in leg.placement.conditions]
    count = len(pose)
    code, first = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    excess = np.full(count, np.nan)
    if conditions:
        lost = ~(margins[:, :, 0] > SMALLEST_MARGIN)
        which = lost.argmax(axis=1)
        bad = np.flatnonzero(lost.any(axis=1))
        first[bad] = np.array([leg for leg, _ in conditions])[which[bad]]
        excess[bad] = margins[bad, which[bad], 1]
        singular = np.array([c.singular for _, c in conditions])
        code[bad] = np.where(singular[which[bad]], ClosingCode.SINGULAR_LEG, ClosingCode.OUT_OF_REACH)
        opened = bad[np.isin(first[bad], mechanism.open_legs) & (code[bad] == ClosingCode.OUT_OF_REACH)]
        for state in opened.tolist():
            code[state], first[state], excess[state] = _opened(mechanism, pose[state])
    flat = (code == ClosingCode.CLOSED) & ~(condition * _SINGULAR < 1.0)
    code[flat] = ClosingCode.SINGULAR
    return Closing(code, first, excess)


def _opened(mechanism: Mechanism, pose: Array) -> tuple[ClosingCode, int, float]:
    """Code, leg and gap of a pose that legs without a closed form did not reach on the way from home."""
    for number in mechanism.open_legs:
        found = opening(mechanism, number, pose)
        if not found.closed:
            return (ClosingCode.OUT_OF_REACH if found.ended else ClosingCode.NOT_CONVERGED), number, found.gap
        if not found.drawn:
            return ClosingCode.OTHER_BRANCH, number, found.gap
    # every leg reaches, but not on the straight way from home
    return ClosingCode.NOT_CONVERGED, mechanism.open_legs[0], 0.0
