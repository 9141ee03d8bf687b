"""Staicu et al., equations (6)-(18): corrected, and with any of their lines as printed, in plain arrays.

What is wrong as printed runs here only, one line at a time: ``printed`` names those that are taken as they stand in the
paper. Arrays are (T, 3): times, components in the axes of the body that an equation is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...description import Body, Robot
from ...legs.prpar import PRPaR
from ...legs.pru import PRU
from ...motion import Coordinates
from ..shared.arrays import cross, skew, times

# ----------------------------------------------------------------------------------------------------------------------
# Staicu et al.: section 4, the passing matrices (1), (2) and the inverse geometry that closes (6).

U1, U2, U3 = np.eye(3)
TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
"""u3~."""

A1 = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
A2 = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
A3 = np.diag([-1.0, -1.0, 1.0])
A4 = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
A5 = np.diag([-1.0, 1.0, -1.0])
A6 = np.array([[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])
C50_HOME = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@dataclass(frozen=True)
class Parameters:
    """Section 4: sizes, masses, tensors about the joints, centre of mass of the platform from C5, gravity."""

    r: float
    R: float
    L: float
    b: float
    m1: float
    m2: float
    m3: float
    J2: Array
    J3: Array
    com: float
    g: float

    @staticmethod
    def of(robot: Robot) -> Parameters:
        """The numbers of the library's robot; J2 in link axes, J3 in the axes of T5."""
        first, last, platform = robot.legs[0], robot.legs[2], robot.platform
        assert isinstance(first, PRU)
        assert isinstance(last, PRPaR)
        arm = np.array(platform.com) - np.array(last.platform)
        return Parameters(
            float(-last.platform[0]),
            float(-last.rail_start[0]),
            first.length,
            last.half_width,
            first.slider.mass,
            first.link.mass,
            platform.mass,
            _about(first.link, np.array(first.link.com)),
            C50_HOME @ _about(platform, arm) @ C50_HOME.T,
            float(arm[0]),
            float(-robot.gravity[2]),
        )

    @property
    def h(self) -> float:
        """Height of the sliders above P at home, (7)."""
        return float(np.sqrt(self.L**2 - (self.R - self.r) ** 2))

    @property
    def alpha(self) -> float:
        """Inclination of the links at home, (7)."""
        return float(np.arcsin((self.R - self.r) / self.L))


def _about(body: Body, arm: Array) -> Array:
    """Inertia about the point from which the centre of mass is at ``arm``."""
    tensor: Array = body.central_inertia + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return tensor


def turn(phi: Array | float) -> Array:
    """a^phi (..., 3, 3), (2)."""
    c, s = np.cos(phi), np.sin(phi)
    o, e = np.zeros_like(c), np.ones_like(c)
    rows = ((c, s, o), (-s, c, o), (o, o, e))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True)
class Geometry:
    """Displacements of the sliders (T, 3) that close (6), and passing matrices (T, 3, 3), (1)."""

    sliders: Array
    a21: Array
    b21: Array
    c21: Array
    c32: Array
    c43: Array
    c54: Array

    @property
    def c20(self) -> Array:
        """From the base to T2."""
        return self.c21 @ A3

    @property
    def c30(self) -> Array:
        """From the base to T3."""
        return self.c32 @ self.c20

    @property
    def c52(self) -> Array:
        """From T2 to T5."""
        return self.c54 @ self.c43 @ self.c32

    @property
    def c50(self) -> Array:
        """From the base to T5."""
        return self.c52 @ self.c20


def geometry(p: Parameters, x: Array) -> Geometry:
    """From y, z, theta (T, 3), in closed form."""
    y, z, theta = np.moveaxis(x, -1, 0)
    out = p.R - p.r * np.cos(theta)
    s_a, s_b = (np.sqrt(p.L**2 - (p.R - p.r + side * y) ** 2) for side in (1, -1))
    s_c = np.sqrt(p.L**2 - y**2 - out**2)
    sliders = np.stack([s_a, s_b, s_c + p.r * np.sin(theta)], axis=-1) + (z - p.h)[..., None]
    phi_a, phi_b = (np.arcsin((p.R - p.r + side * y) / p.L) - p.alpha for side in (1, -1))
    phi_21, phi_32 = np.arctan2(out, s_c) - p.alpha, np.arcsin(y / p.L)
    lean = turn(p.alpha)
    a21, b21, c21 = (turn(phi) @ lean @ A4 for phi in (phi_a, phi_b, phi_21))
    return Geometry(sliders, a21, b21, c21, turn(phi_32) @ A4, turn(phi_32) @ A5, turn(phi_21 + theta) @ lean @ A6)


def back(matrix: Array, vector: Array) -> Array:
    """a^T v."""
    return times(np.swapaxes(matrix, -1, -2), vector)


# ----------------------------------------------------------------------------------------------------------------------
# Staicu et al., equations (6)-(18): corrected, and with any of their lines as printed, in plain arrays.

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
