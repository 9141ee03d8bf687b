"""Kim and Ryu, equations (4)-(32): corrected, and with any of their equations as printed, in plain arrays.

What is wrong as printed runs here only, one equation at a time: ``printed`` names those that are taken as they stand
in the paper. Arrays are (T, 6, 3): times, legs, components in the base frame; z points down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ...description import Friction as JointFriction
from ...description import Robot
from ...legs.pus import PUS
from ...motion import Motion
from ..shared.arrays import Platform, cross, direction, dot, norm, rotated_tensor, times, unit

Printed = frozenset[str]
NOTHING: Printed = frozenset()


class Legs(NamedTuple):
    """Sliders and links (4)-(19): rates (T, 6, 1), vectors (T, 6, 3), the links' tensor (T, 6, 3, 3)."""

    CB: Array
    place: Array
    rate: Array
    acceleration: Array
    n: Array
    ndot: Array
    nddot: Array
    c: Array
    omega: Array
    omegadot: Array
    tensor: Array


def legs(p: Parameters, at: Platform, spin: bool = False, printed: Printed = NOTHING) -> Legs:
    """Motion of sliders and links; ``spin`` adds the link's rotation about itself, which (19) neglects."""
    CB = times(at.R, p.CB)
    d = at.position + CB - p.A0
    ddot = at.velocity + cross(at.omega, CB)
    dddot = at.acceleration + cross(at.alpha, CB) + cross(at.omega, cross(at.omega, CB))  # (4)
    a, alpha = np.broadcast_to(p.a, d.shape), np.broadcast_to(p.alpha, d.shape)
    ad, ad1, ad2 = dot(a, d), dot(a, ddot), dot(a, dddot)
    k = ad * ad - dot(d, d) + p.ell**2
    k1 = 2 * (ad1 * ad - dot(ddot, d))
    last = dot(ddot, dddot) if "(10) kddot" in printed else dot(d, dddot)
    k2 = 2 * (ad1 * ad1 + ad * ad2 - dot(ddot, ddot) - last)
    root = np.sqrt(k)
    place, rate = ad - root, ad1 - k1 / (2 * root)  # (8), (9)
    acceleration = ad2 - (2 * (k1 if "(10)" in printed else k2) * k - k1 * k1) / (4 * k * root)  # (10)
    n, ndot, nddot = (d - place * a) / p.ell, (ddot - rate * a) / p.ell, (dddot - acceleration * a) / p.ell
    beta = unit(cross(n, alpha))
    axes = np.stack([cross(beta, n), beta, n], axis=-1)  # (13)
    c = cross(alpha, beta)
    omega, omegadot = cross(n, ndot), cross(n, nddot)  # (19)
    if spin:
        # omega.c = 0 holds at all times, and c turns with the joint's cross, about alpha
        turn = -dot(omega, c) / dot(n, c)
        omega = omega + turn * n
        cdot = dot(omega, alpha) * cross(alpha, c)
        turndot = -(dot(omegadot + turn * ndot, c) + dot(omega, cdot)) / dot(n, c)
        omegadot = omegadot + turn * ndot + turndot * n
    return Legs(CB, place, rate, acceleration, n, ndot, nddot, c, omega, omegadot, rotated_tensor(axes, p.I_l))


class Forces(NamedTuple):
    """Actuator forces tau (T, 6); joint reactions F_A, F_B on the links and N on the sliders (T, 6, 3)."""

    tau: Array
    F_A: Array
    F_B: Array
    N: Array


class Friction(NamedTuple):
    """Slider forces (T, 6, 1), moments of universal and spherical joints on the links (T, 6, 3)."""

    f_s: Array
    f_u: Array
    f_p: Array


def solve(
    p: Parameters, at: Platform, k: Legs, joints: Friction, moment: str = "n", printed: Printed = NOTHING
) -> Forces:
    """(20)-(29) for given friction; ``moment`` says along what the universal joint holds the link, n or c."""
    a = np.broadcast_to(p.a, k.n.shape)
    spin_up = times(k.tensor, k.omegadot) + cross(k.omega, times(k.tensor, k.omega))
    carried = p.m_l * (k.acceleration * a + 0.5 * p.ell * k.nddot - p.g)
    f_u = -joints.f_u if "(23)" in printed else joints.f_u
    need = spin_up + 0.5 * p.ell * cross(k.n, carried) - f_u - joints.f_p
    c = k.c if moment == "c" else k.n
    across: Array = -cross(k.n, need - dot(need, k.n) / dot(c, k.n) * c) / p.ell  # (23), (24)
    if "(27)" in printed:
        across = across - 0.5 * p.m_l * k.acceleration * (cross(k.n, a) - cross(k.n, cross(k.n, a)))
    CG = times(at.R, p.CG)
    GB = k.CB - CG
    turn = at.omega if "(25)" in printed else at.alpha
    Gddot = at.acceleration + cross(turn, CG) + cross(at.omega, cross(at.omega, CG))
    tensor = rotated_tensor(at.R, p.I_p)
    force = p.m * (p.g - Gddot) + at.force - across.sum(axis=1, keepdims=True)
    spun = times(tensor, at.alpha) + cross(at.omega, times(tensor, at.omega))
    moments = at.moment - cross(CG, at.force) - spun - (cross(GB, across) + joints.f_p).sum(axis=1, keepdims=True)
    F_z = np.linalg.solve(lines(k, GB), np.concatenate([force, moments], axis=-1).swapaxes(-1, -2))  # (26)
    F_B = across + F_z * k.n  # (27)
    F_A = carried - F_B  # (28)
    load = F_A - p.m_s * p.g
    N = dot(p.u, load) * p.u + dot(p.v, load) * p.v
    tau = p.m_s * (k.acceleration - dot(p.a, p.g)) - joints.f_s + dot(p.a, F_A)  # (21)
    return Forces(tau[..., 0], F_A, F_B, N)


def lines(k: Legs, GB: Array) -> Array:
    """T_1 (T, 6, 6) of (26): columns [n; GB x n]."""
    return np.concatenate([k.n, cross(GB, k.n)], axis=-1).swapaxes(-1, -2)


def friction(p: Parameters, at: Platform, k: Legs, F: Forces, printed: Printed = NOTHING) -> Friction:
    """(30), (31) and the appendix for given reactions; (30) corrected has |N_u| + |N_v| for (u - v).N."""
    N_u, N_v = dot(p.u, F.N), dot(p.v, F.N)
    load = N_u - N_v if "(30)" in printed else np.abs(N_u) + np.abs(N_v)
    relative = k.omega - at.omega
    along = np.ones(3) / np.sqrt(3) if "appendix" in printed else direction(k.omega)
    return Friction(
        -p.slider.c * k.rate - p.slider.mu * load * np.sign(k.rate),
        -p.universal.c * k.omega - p.universal.mu * norm(F.F_A) * along,
        -p.spherical.c * relative - p.spherical.mu * norm(F.F_B) * direction(relative),
    )


def forces(
    p: Parameters,
    motion: Motion,
    spin: bool = False,
    moment: str = "n",
    explicit: bool = False,
    printed: Printed = NOTHING,
    wrench: Array | None = None,
) -> Forces:
    """Forces with friction: implicit (its reactions have friction in them, by fixed point), or explicit.

    Explicit friction takes the reactions that are there without dry friction, as (32) does.
    """
    at = Platform.of(motion, wrench)
    k = legs(p, at, spin, printed)
    nothing = Forces(np.zeros_like(k.rate), *(np.zeros_like(k.n) for _ in range(3)))
    F = solve(p, at, k, friction(p, at, k, nothing, printed), moment, printed)
    for _ in range(1 if explicit else 60):
        before = F
        F = solve(p, at, k, friction(p, at, k, F, printed), moment, printed)
        if np.abs(F.tau - before.tau).max() <= 1e-14 * np.abs(F.tau).max():
            break
    return F


# ----------------------------------------------------------------------------------------------------------------------
# Kim and Ryu: the numbers that their equations take.

KINDS = ("slider", "universal", "spherical")


@dataclass(frozen=True)
class FrictionPair:
    """Friction of a kind of joint: a viscous coefficient c, and mu, the factor of the reaction."""

    c: float = 0.0
    mu: float = 0.0

    @staticmethod
    def of(friction: JointFriction) -> FrictionPair:
        """From the friction of a joint in a robot's description."""
        return FrictionPair(friction.viscous, friction.coulomb)


@dataclass(frozen=True)
class Parameters:
    """Appendix A.1: rails A_0, a, joints CB', axes alpha, u, v (6, 3), bodies, friction, gravity."""

    A0: Array
    a: Array
    CB: Array
    alpha: Array
    u: Array
    v: Array
    ell: float
    m: float
    m_l: float
    m_s: float
    CG: Array
    I_p: Array
    I_l: Array
    g: Array
    slider: FrictionPair
    universal: FrictionPair
    spherical: FrictionPair

    @staticmethod
    def of(robot: Robot) -> Parameters:
        """The numbers of a 6-PUS robot whose legs are alike; u is horizontal and perpendicular to the rail, v = a x
        u."""
        legs = [leg for leg in robot.legs if isinstance(leg, PUS)]
        one, platform = legs[0], robot.platform
        a = np.array([leg.rail_direction for leg in legs])
        u = unit(cross(np.broadcast_to([0.0, 0.0, 1.0], a.shape), a))
        return Parameters(
            A0=np.array([leg.rail_start for leg in legs]),
            a=a,
            CB=np.array([leg.platform for leg in legs]),
            alpha=np.array([leg.axis for leg in legs]),
            u=u,
            v=cross(a, u),
            ell=one.length,
            m=platform.mass,
            m_l=one.link.mass,
            m_s=one.slider.mass,
            CG=np.array(platform.com),
            I_p=platform.central_inertia,
            I_l=one.link.central_inertia,
            g=np.array(robot.gravity),
            slider=FrictionPair.of(one.slider_friction),
            universal=FrictionPair.of(one.universal_friction),
            spherical=FrictionPair.of(one.spherical_friction),
        )

    def only(self, *kinds: str) -> Parameters:
        """The same with friction in the named kinds of joints only."""
        slider, universal, spherical = (getattr(self, kind) if kind in kinds else FrictionPair() for kind in KINDS)
        return replace(self, slider=slider, universal=universal, spherical=spherical)


# ----------------------------------------------------------------------------------------------------------------------
# Kim and Ryu (1)-(3) and (34): Euler angles, and the actuator force that link inertia takes.


def rotation(angles: Array, printed: bool = False) -> Array:
    """(1) from [Psi theta phi] (3,): R = R_Y(theta) R_X(Psi) R_z(phi); as printed R_Y(Psi) R_X(theta) R_z(phi)."""
    psi, theta, phi = angles
    first, second = (psi, theta) if printed else (theta, psi)
    matrix: Array = Rotation.from_euler("YXZ", [first, second, phi]).as_matrix()
    return matrix


def angular_velocity(angles: Array, rates: Array) -> Array:
    """(2): omega from [Psi theta phi] and their rates."""
    return _euler_rate_matrix(angles) @ rates


def euler_rates(angles: Array, omega: Array) -> Array:
    """Rates of [Psi theta phi] from omega: (2) solved."""
    rates: Array = np.linalg.inv(_euler_rate_matrix(angles)) @ omega
    return rates


def angular_acceleration(angles: Array, rates: Array, accelerations: Array, printed: bool = False) -> Array:
    """(3); as printed its second and third rows have first derivatives in place of the second ones."""
    psi, theta, _ = angles
    dpsi, dtheta, dphi = rates
    top, low = accelerations, rates if printed else accelerations
    sp, cp, st, ct = np.sin(psi), np.cos(psi), np.sin(theta), np.cos(theta)
    return np.array(
        [
            top[0] * ct - dtheta * dpsi * st + top[2] * st * cp - dphi * dpsi * st * sp + dphi * dtheta * ct * cp,
            low[1] - low[2] * sp - dphi * dpsi * cp,
            -low[0] * st - dpsi * dtheta * ct + low[2] * ct * cp - dphi * dtheta * st * cp - dphi * dpsi * ct * sp,
        ]
    )


def euler_accelerations(angles: Array, rates: Array, omegadot: Array) -> Array:
    """Second derivatives of [Psi theta phi] from omegadot: (3) solved."""
    rest = angular_acceleration(angles, rates, np.zeros(3))
    second: Array = np.linalg.inv(_euler_rate_matrix(angles)) @ (omegadot - rest)
    return second


def _euler_rate_matrix(angles: Array) -> Array:
    """E (3, 3) with omega = E d[Psi theta phi]/dt, (2)."""
    psi, theta, _ = angles
    sp, cp, st, ct = np.sin(psi), np.cos(psi), np.sin(theta), np.cos(theta)
    return np.array([[ct, 0.0, st * cp], [0.0, 1.0, -sp], [-st, 0.0, ct * cp]])


def link_inertia_force(p: Parameters, at: Platform, k: Legs, printed: bool = False) -> Array:
    """tau_L (T, 6), (34): the share of link inertia in the actuator forces.

    As printed it has n x a for n x (n x a) in both rows, and omega for omegadot in the moment row.
    """
    n, m, ell = k.n, p.m_l, p.ell
    a = np.broadcast_to(p.a, n.shape)
    gyroscopic = cross(k.omega, times(k.tensor, k.omega))
    doubled = k.nddot * (ell / 4) + 0.5 * k.acceleration * a
    direct = dot(a, cross(n, times(k.tensor, k.omegadot) + gyroscopic)) / ell + m * dot(
        a, doubled + dot(n, doubled) * n
    )
    straight = cross(n, a) if printed else cross(n, cross(n, a))

    def row(turn: Array) -> Array:
        spun = times(k.tensor, turn) + m * (ell / 2) ** 2 * turn + gyroscopic
        return cross(n, spun) / ell + 0.5 * m * k.acceleration * straight

    GB = k.CB - times(at.R, p.CG)
    moments = cross(GB, row(k.omega if printed else k.omegadot))
    sums = np.concatenate([row(k.omegadot).sum(axis=1), moments.sum(axis=1)], axis=-1)[..., None]
    tau: Array = direct - dot(a, n) * np.linalg.solve(lines(k, GB), sums)
    return tau[..., 0]
