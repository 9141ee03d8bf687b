"""Newton's iteration for unknowns along a way from a known place: in one step, then in smaller ones if it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

NEAR = 1e-8
"""Relative gap that one more step of Newton closes to rounding."""
_ROUNDS = 8
"""Steps of Newton for one step of continuation."""
_SMALLEST = 2.0**-12
"""Part of the way below which continuation gives up."""
_MOST = 400


class Newton(NamedTuple):
    """One step of Newton: the unknowns after it, the squared relative gap before it, whether their branch is right."""

    moved: ca.SX
    gap2: ca.SX
    same: ca.SX


class Continuation(NamedTuple):
    """An iteration's state, start and step; the unknowns come first in the state, its ``done`` flag last."""

    state: ca.SX
    start: ca.SX
    step: ca.SX


def continuation(unknowns: ca.SX, start: ca.SX, newton: Callable[[ca.SX, ca.SX], Newton]) -> Continuation:
    """Unknowns (k symbols) at the end t = 1 of a way on which they are ``start`` at t = 0.

    ``newton(t, unknowns)`` takes a step at a place of the way. State: unknowns, those kept from the last place that was
    reached, t, t kept, its step, rounds there, all rounds, done.
    """
    kept, rest = ca.SX.sym("kept", unknowns.numel()), ca.SX.sym("continuation", 6)
    t, t_kept, dt, rounds, total, _ = (rest[k] for k in range(6))
    moved, gap2, same = newton(t, unknowns)
    good = ca.logic_and(gap2 <= NEAR**2, same)
    lost = ca.logic_or(ca.logic_not(gap2 <= 1e6), rounds + 1 >= _ROUNDS)
    back = ca.logic_and(ca.logic_not(good), lost)
    longer = ca.if_else(good, 2 * dt, ca.if_else(back, 0.25 * dt, dt))
    base = ca.if_else(good, t, t_kept)
    step = ca.vertcat(
        ca.if_else(good, unknowns, ca.if_else(back, kept, moved)),
        ca.if_else(good, unknowns, kept),
        ca.if_else(ca.logic_or(good, back), ca.fmin(1, base + longer), t),
        base,
        longer,
        ca.if_else(ca.logic_or(good, back), 0, rounds + 1),
        total + 1,
        ca.logic_or(ca.logic_and(good, t >= 1), ca.logic_or(longer < _SMALLEST, total + 1 >= _MOST)),
    )
    return Continuation(ca.vertcat(unknowns, kept, rest), ca.vertcat(start, start, 1, 0, 1, 0, 0, 0), step)
