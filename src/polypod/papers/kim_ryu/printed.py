"""Kim and Ryu, equations (4)-(32): corrected, and with any of their equations as printed, in plain arrays.

What is wrong as printed runs here only, one equation at a time: ``printed`` names those that are taken as they stand
in the paper. Arrays are (T, 6, 3): times, legs, components in the base frame; z points down.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...motion import Motion
from ..shared.arrays import cross, direction, dot, norm, rotated_tensor, times, unit
from ..shared.platform import Platform
from .data import Parameters

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
