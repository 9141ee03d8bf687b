"""Staicu et al., equations (6)-(18): corrected, and with any of their lines as printed, in plain arrays.

What is wrong as printed runs here only, one line at a time: ``printed`` names those that are taken as they stand in the
paper. Arrays are (T, 3): times, components in the axes of the body that an equation is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...motion import Coordinates
from ..shared.arrays import cross, skew, times
from .data import A1, A2, A3, TURN, U1, U2, U3, Geometry, Parameters, back, geometry

Printed = frozenset[str]
NOTHING: Printed = frozenset()
_TWICE = TURN @ TURN


def closure(p: Parameters, x: Array, printed: Printed = NOTHING) -> tuple[Array, Array, Array]:
    """Left less right side of (6) for the legs A, B, C, (T, 3) [m]; as printed C has c20 for c30."""
    k = geometry(p, x)
    P = np.stack([0 * x[:, 0], x[:, 0], x[:, 1] - p.h], axis=-1)
    lift = k.sliders[..., None] * U3
    A = -p.R * U2 + lift[:, 0] + back(k.a21 @ A1, p.L * U1) + p.r * U2 - P
    B = p.R * U2 + lift[:, 1] + back(k.b21 @ A2, p.L * U1) - p.r * U2 - P
    over = k.c20 if "(6) C" in printed else k.c30
    C = -p.R * U1 + lift[:, 2] + back(over, -p.L * U2) + back(k.c50, p.r * U1) - P
    return A, B, C


class Rates(NamedTuple):
    """Relative velocities (14) or accelerations (15): of the sliders (T, 3), and of the hinges (T,)."""

    sliders: Array
    A21: Array
    B21: Array
    C21: Array
    C32: Array
    C54: Array


def connectivity(
    p: Parameters, k: Geometry, rate: Array, printed: Printed = NOTHING, known: tuple[Array, ...] | None = None
) -> Rates:
    """Relative velocities from those of y, z, theta (T, 3), (14); or accelerations, with ``known`` terms of (15)."""
    given = np.stack([0 * rate[..., 0], rate[..., 0], rate[..., 1]], axis=-1)
    right = [given + term for term in known] if known else [given] * 3
    up = np.broadcast_to(U3, given.shape)
    pairs = []
    for leg, passing in enumerate((k.a21 @ A1, k.b21 @ A2)):
        pairs.append(_solve((up, back(passing, p.L * TURN @ U1)), right[leg], slice(1, None)))
    arm = back(k.c32, U2) if "(14) arm" in printed else back(k.c52, U1)
    reach = p.L if "(14) length" in printed else p.r
    on_21 = -back(k.c20, times(TURN, p.L * back(k.c32, U2) - p.r * arm))
    on_32, on_54 = -p.L * back(k.c30, TURN @ U2), reach * back(k.c50, TURN @ U1)
    slide, C21, C32 = _solve((up, on_21 + on_54, on_32), right[2] - rate[..., 2:] * on_54, slice(None))
    sliders = np.stack([pairs[0][0], pairs[1][0], slide], axis=-1)
    return Rates(sliders, pairs[0][1], pairs[1][1], C21, C32, C21 + rate[..., 2])


def _solve(columns: tuple[Array, ...], right: Array, rows: slice) -> tuple[Array, ...]:
    found = np.linalg.solve(np.stack(columns, axis=-1)[..., rows, :], right[..., rows, None])[..., 0]
    return tuple(np.moveaxis(found, -1, 0))


def second_rates(p: Parameters, k: Geometry, w: Rates, second: Array, printed: Printed = NOTHING) -> Rates:
    """Relative accelerations (15) from those of y, z, theta (T, 3)."""

    def term(name: str, once: Array, twice: Array) -> Array:
        return once if name in printed else twice

    hinge = term("(15) A,B", TURN @ U1, _TWICE @ U1)
    A, B = (
        -((rate**2)[..., None]) * back(passing, p.L * hinge)
        for rate, passing in ((w.A21, k.a21 @ A1), (w.B21, k.b21 @ A2))
    )
    one, two, three = ((rate**2)[..., None] for rate in (w.C21, w.C32, w.C54))
    both_32, both_54 = 2 * (w.C21 * w.C32)[..., None], 2 * (w.C21 * w.C54)[..., None]
    C = one * back(k.c20, times(_TWICE, p.L * back(k.c32, U2) - p.r * back(k.c52, U1)))
    C = C + two * p.L * back(k.c30, term("(15) 32", TURN @ U2, _TWICE @ U2))
    C = C - three * p.r * back(k.c50, term("(15) 54", TURN @ U1, _TWICE @ U1))
    C = C + both_32 * p.L * back(k.c20, term("(15) 21 32", 0 * A + TURN @ U2, times(TURN, back(k.c32, TURN @ U2))))
    inner = term("(15) 21 54", back(k.c52, U1), back(k.c52, TURN @ U1))
    C = C - both_54 * p.r * back(k.c20, times(TURN, inner))
    return connectivity(p, k, second, printed, (A, B, C))


@dataclass(frozen=True)
class Moving:
    """Absolute motion of a body in its axes: omega_k0, eps_k0, gamma_k0 (T, 3); passing matrix from the base."""

    omega: Array
    epsilon: Array
    gamma: Array
    passing: Array

    @property
    def turning(self) -> Array:
        """omega~ omega~ + eps~."""
        tilde = skew(self.omega)
        result: Array = tilde @ tilde + skew(self.epsilon)
        return result

    def load(self, p: Parameters, mass: float, com: Array, J: Array) -> Load:
        """F_k0 and M_k0, (18)."""
        arm = np.broadcast_to(com, self.omega.shape)
        weight = -p.g * mass * times(self.passing, U3)
        F = mass * (self.gamma + times(self.turning, com)) - weight
        M = mass * cross(arm, self.gamma) + times(J, self.epsilon) + cross(self.omega, times(J, self.omega))
        return Load(F, M - cross(arm, weight))


class Load(NamedTuple):
    """Force and moment about the body's joint (T, 3), in its axes."""

    F: Array
    M: Array

    def carry(self, passing: Array, arm: Array, other: Load) -> Load:
        """(18) lines 1, 2: F + a^T F', M + a^T M' + r~ a^T F'."""
        push = back(passing, other.F)
        return Load(self.F + push, self.M + back(passing, other.M) + cross(arm + 0 * push, push))


def step(before: Moving, passing: Array, arm: Array, rate: Array, second: Array, printed: Printed = NOTHING) -> Moving:
    """The next body of a leg by (11), (13)."""
    own, turned = second[..., None] * U3, times(passing, before.omega)
    carried = own if "(13) line 1" in printed else before.epsilon
    spin = rate[..., None] * U3
    epsilon = times(passing, carried) + own + cross(turned, spin)
    # gamma_{k,k-1} is zero in a hinge, so that line 3 as printed drops the acceleration of the body before
    shifted = 0 * before.gamma if "(13) line 3" in printed else before.gamma
    gamma = times(passing, shifted + times(before.turning, arm))
    return Moving(turned + spin, epsilon, gamma, passing @ before.passing)


def forces(p: Parameters, at: Coordinates, printed: Printed = NOTHING) -> Array:
    """f10 of the actuators A, B, C (T, 3) [N], positive up, (17)."""
    k = geometry(p, at.x)
    w = connectivity(p, k, at.xdot, printed)
    e = second_rates(p, k, w, at.xddot, printed)
    still = np.zeros_like(at.x)
    middle, tip, none = 0.5 * p.L * U1, -p.L * U2, np.zeros(3)
    push, moments = [], []
    for leg, (passing, start, rate, second) in enumerate(((k.a21, A1, w.A21, e.A21), (k.b21, A2, w.B21, e.B21))):
        slider = Moving(still, still, e.sliders[:, leg, None] * U3, np.broadcast_to(start, passing.shape))
        link = step(slider, passing, none, rate, second).load(p, p.m2, middle, p.J2)
        push.append(slider.load(p, p.m1, none, np.zeros((3, 3))).carry(passing, none, link).F[:, 2])
        moments.append(link.M[:, 2])
    slider = Moving(still, still, e.sliders[:, 2, None] * U3, np.broadcast_to(A3, k.c21.shape))
    T2 = step(slider, k.c21, none, w.C21, e.C21, printed)
    T3, T6 = (step(T2, k.c32, side * U3, w.C32, e.C32, printed) for side in (p.b, -p.b))
    T4 = step(T3, k.c43, tip, w.C32, e.C32, printed)
    T5 = step(T4, k.c54, -p.b * U1, w.C54, e.C54, printed)
    bar = p.J2[[1, 0, 2]][:, [1, 0, 2]]  # T3 and T6 lie along -y
    nothing = Load(still, still)
    L5 = T5.load(p, p.m3, p.com * U1, p.J3)
    L4 = nothing.carry(k.c54, -p.b * U1, L5)
    L3 = T3.load(p, p.m2, 0.5 * tip, bar).carry(k.c43, tip, L4)
    L6 = T6.load(p, p.m2, 0.5 * tip, bar)
    L2 = nothing.carry(k.c32, p.b * U3, L3)
    if "(18)" not in printed:
        L2 = L2.carry(k.c32, -p.b * U3, L6)
    push.append(slider.load(p, p.m1, none, np.zeros((3, 3))).carry(k.c21, none, L2).F[:, 2])
    moments += [L2.M[:, 2], L3.M[:, 2] + L4.M[:, 2] + L6.M[:, 2], L5.M[:, 2]]
    return np.stack(push, axis=-1) + _virtual_power(p, k, moments, printed)


def _virtual_power(p: Parameters, k: Geometry, moments: list[Array], printed: Printed) -> Array:
    """Sum of virtual rate times moment (T, 3) for unit velocity of each actuator, (17)."""
    shape = k.sliders.shape
    unit = [connectivity(p, k, np.broadcast_to(coordinate, shape), printed) for coordinate in np.eye(3)]
    power = np.stack([sum(rate * M for rate, M in zip(w[1:], moments, strict=True)) for w in unit], axis=-1)
    jacobian = np.stack([w.sliders for w in unit], axis=-1)
    found: Array = np.linalg.solve(np.swapaxes(jacobian, -1, -2), power[..., None])[..., 0]
    return found
