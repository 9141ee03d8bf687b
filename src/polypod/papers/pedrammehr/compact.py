"""Pedrammehr, Mahboubkhah and Khani, the compact form (41)-(43): as printed, and its inertia corrected."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...motion import Motion
from ..shared.arrays import cross, dot, outer, skew, times
from ..shared.platform import Platform
from .data import Parameters
from .printed import Pods, actuator_forces, pod_tensor, pods


def compact_forces(p: Parameters, motion: Motion, rate: bool = True) -> Array:
    """Actuator forces (T, 6) by (41)-(43), (48), (51) as printed.

    ``rate`` puts the rate of l into the appendix's S_i, where l itself is printed.
    """
    at = Platform.of(motion)
    k = pods(p, at)
    tip = at.acceleration + cross(at.alpha, k.q)
    passive = times(printed_inertia(p, k, shifted=True), tip) + printed_rest(p, k, at, rate)
    return actuator_forces(p, k, at, passive, shifted=True)


def printed_inertia(p: Parameters, k: Pods, shifted: bool) -> Array:
    """Q_i (T, 6, 3, 3) by (42), with the tensors of (32), (33), ``shifted`` or central."""
    n, row, l2 = skew(k.n), k.n[..., None, :], (k.ell * k.ell)[..., None]
    tensor = pod_tensor(p, k, shifted)
    swing = _swing(p, k)
    un = dot(k.u, k.n)[..., None]
    spin = outer(k.n, k.u) @ n * un / (1 - un * un)
    about = row @ (swing @ n - tensor @ spin)
    Q: Array = p.m_u * outer(k.n, k.n) + (n @ (swing - tensor) @ n + _side(k)[..., None] * about) / l2
    return Q


def corrected_inertia(p: Parameters, k: Pods) -> Array:
    """Q_i (T, 6, 3, 3) for any centre of mass and tensor, symmetric.

    Q = m_u n n^T (1 - L_u~ Gamma n~/l) - E [B Gamma n~/l + m_u (L_u x n) n^T], Gamma = 1 + n u^T (u.n)/(1 - (u.n)^2),
    E = [n~ + (c x n) n^T/(c.n)]/l, B = I - m_u L_u~^2 - m_d L_d~^2.
    """
    n, ell, one = skew(k.n), k.ell[..., None], np.eye(3)
    un = dot(k.u, k.n)[..., None]
    turn = (one + outer(k.n, k.u) * un / (1 - un * un)) @ n / ell
    E = (n + outer(_side(k), k.n)) / ell
    B = pod_tensor(p, k, shifted=False) - _swing(p, k)
    Q: Array = p.m_u * outer(k.n, k.n) @ (one - skew(k.L_u) @ turn)
    return Q - E @ (B @ turn + p.m_u * outer(cross(k.L_u, k.n), k.n))


def printed_rest(p: Parameters, k: Pods, at: Platform, rate: bool, mended: bool = False) -> Array:
    """V_i (T, 6, 3) by (43) as printed.

    ``mended`` takes central tensors, L_d in the m_d term where L_u is printed, and (25) corrected: what is left is
    right for on-axis, axisymmetric pods.
    """
    n, w, ell = k.n, k.omega, k.ell
    tensor = pod_tensor(p, k, shifted=not mended)
    turn, pod_turn = cross(at.omega, cross(at.omega, k.q)), cross(w, cross(w, ell * n))
    S = cross(n, turn - pod_turn - 2 * (k.ldot if rate else ell) * cross(w, n))
    S_d, S_u = cross(k.L_d, cross(k.L_d, S)), cross(k.L_u, cross(k.L_u, S))
    weight = -cross(p.m_u * k.L_u + p.m_d * k.L_d, p.G)
    centripetal = cross(w, cross(w, k.L_u))
    lower = cross(w, cross(w, k.L_d)) if mended else centripetal
    gyroscopic = cross(w, times(tensor, w))
    friction = p.C_u * w + p.C_s * (w - at.omega)
    along = p.m_u * dot(n, centripetal + turn - pod_turn - p.G) + p.C_p * k.ldot
    across = (
        cross(weight, n)
        + cross(n, p.m_u * S_u + p.m_d * S_d - times(tensor, S)) / ell
        + cross(cross(p.m_u * k.L_u, centripetal) + cross(p.m_d * k.L_d, lower), n)
        + 2 * k.ldot * p.m_u * cross(cross(k.L_u, cross(w, n)), n)
        + cross(gyroscopic + friction, n)
    )
    un = dot(k.u, n)
    product = k.omega_u * k.omega_v * (dot(k.c, n) / (1 - un * un) if mended else -1.0)
    spin = (dot(k.u, S) * un / (ell * (1 - un * un)) + product) * n
    about = dot(weight - (p.m_u * S_u + p.m_d * S_d) / ell + times(tensor, spin) + gyroscopic + friction, n)
    result: Array = along * n + across / ell - about * _side(k) / ell
    return result


def _swing(p: Parameters, k: Pods) -> Array:
    """m_u L_u~^2 + m_d L_d~^2."""
    upper, lower = skew(k.L_u), skew(k.L_d)
    result: Array = p.m_u * upper @ upper + p.m_d * lower @ lower
    return result


def _side(k: Pods) -> Array:
    """(c x n)/(c.n)."""
    result: Array = cross(k.c, k.n) / dot(k.c, k.n)
    return result
