"""Pedrammehr, Mahboubkhah and Khani, equations (1)-(51) but (41)-(43): as printed, and corrected, in plain arrays.

What is wrong as printed runs here only. Arrays are (T, 6, 3): times, pods, components in the base frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...legs.ups import UPS
from ...motion import Motion
from ..shared.arrays import Platform, cross, dot, norm, outer, rotated_tensor, skew, times, unit


@dataclass(frozen=True)
class Pods:
    """Pod kinematics (1)-(30): lengths (T, 6, 1), axes and vectors (T, 6, 3), T (T, 6, 3, 3)."""

    q: Array
    ell: Array
    ldot: Array
    lddot: Array
    n: Array
    u: Array
    v: Array
    c: Array
    T: Array
    omega_n: Array
    alpha_n: Array
    omega_u: Array
    omega_v: Array
    omega: Array
    alpha: Array
    L_d: Array
    L_u: Array
    Lddot_d: Array
    Lddot_u: Array


def pods(p: Parameters, at: Platform, spin: bool = True) -> Pods:
    """Kinematics of the pods with (21), (25) corrected; ``spin=False`` is the simplified omega.n = alpha.n = 0."""
    q = times(at.R, p.a)  # (3)
    L = at.position + q - p.b
    ell = norm(L)
    n = L / ell
    Ldot = at.velocity + cross(at.omega, q)
    turn = cross(at.omega, cross(at.omega, q))
    Lddot = at.acceleration + cross(at.alpha, q) + turn
    u = np.broadcast_to(p.u, n.shape)
    v = unit(cross(u, n))
    c = cross(u, v)
    ldot = dot(Ldot, n)  # (8)
    omega_n = cross(n, Ldot) / ell  # (16)
    omega_u = -dot(Ldot - ldot * n, v) / (ell * dot(n, c))  # (13)
    omega_v = dot(Ldot - ldot * n, u) / (ell * dot(n, c))  # (14)
    omega = omega_u * u + omega_v * v if spin else omega_n  # (12)
    lddot = dot(Lddot, n) + dot(Ldot, cross(omega_n, n))  # (9) with Ldot, Lddot put together
    alpha_n = cross(n, Lddot - cross(omega, cross(omega, ell * n)) - 2 * ldot * cross(omega, n)) / ell  # (23)
    alpha = alpha_n + alpha_t(u, n, c, alpha_n, omega_u, omega_v) * n if spin else alpha_n  # (22)
    T = np.stack([n, v, cross(n, v)], axis=-1)  # (28)
    L_d, L_u = times(T, p.L_do), L + times(T, p.L_uo)  # (26), (27)
    Lddot_d = cross(alpha, L_d) + cross(omega, cross(omega, L_d))  # (29)
    Lddot_u = cross(alpha, L_u) + cross(omega, cross(omega, L_u)) + 2 * ldot * cross(omega, n) + lddot * n  # (30)
    return Pods(
        q, ell, ldot, lddot, n, u, v, c, T, omega_n, alpha_n, omega_u, omega_v, omega, alpha, L_d, L_u, Lddot_d, Lddot_u
    )


def alpha_t(u: Array, n: Array, c: Array, alpha_n: Array, omega_u: Array, omega_v: Array) -> Array:
    """(25) corrected: alpha_t = [(alpha_n.u)(u.n) + omega_u omega_v (c.n)] / (1 - (u.n)^2)."""
    un = dot(u, n)
    result: Array = (dot(alpha_n, u) * un + omega_u * omega_v * dot(c, n)) / (1 - un * un)
    return result


def alpha_by_axes(k: Pods, at: Platform, printed: bool) -> Array:
    """alpha by (18)-(21); as printed (21) multiplies omega_u omega_v with a vector, its c_i is missing."""
    Lddot = at.acceleration + cross(at.alpha, k.q) + cross(at.omega, cross(at.omega, k.q))
    product = k.omega_u * k.omega_v * k.ell
    term = product * (k.n if printed else cross(k.c, k.n))
    pull = Lddot - term - cross(k.omega, cross(k.omega, k.ell * k.n)) - 2 * k.ldot * cross(k.omega, k.n) - k.lddot * k.n
    reach = k.ell * dot(k.n, k.c)
    result: Array = -dot(pull, k.v) / reach * k.u + dot(pull, k.u) / reach * k.v + k.omega_u * k.omega_v * k.c
    return result


def alpha_t_printed(k: Pods) -> Array:
    """(25) as printed: (alpha_n.u)(u.n)/(1 - (u.n)^2) - omega_u omega_v."""
    un = dot(k.u, k.n)
    result: Array = dot(k.alpha_n, k.u) * un / (1 - un * un) - k.omega_u * k.omega_v
    return result


def bracket(mass: float, arm: Array) -> Array:
    """Parallel-axis term of (32), (33), (50): m (r.r 1 - r r^T)."""
    result: Array = mass * (dot(arm, arm)[..., None] * np.eye(3) - outer(arm, arm))
    return result


@dataclass(frozen=True)
class Choices:
    """What a model takes: pods that spin, the universal joint's moment along c or n, parallel-axis terms as printed.

    ``leg_frame`` has the vectors of these terms in the axes of their body, as they were meant, not in base axes.
    """

    spin: bool = True
    moment: str = "c"
    shifted_pods: bool = False
    shifted_platform: bool = False
    leg_frame: bool = False


PRINTED = Choices(shifted_pods=True, shifted_platform=True)
CORRECTED = Choices()
CLASSIC = Choices(spin=False, moment="n")


def pod_tensor(p: Parameters, k: Pods, shifted: bool, leg_frame: bool = False) -> Array:
    """I_d + I_u: T I_o T^T, or (32), (33) as printed with the bracket of base-frame components inside, or of those in
    pod axes."""
    local = p.I_do + p.I_uo
    if shifted:
        back = np.swapaxes(k.T, -1, -2)
        arms = (times(back, L) if leg_frame else L for L in (k.L_d, k.L_u))
        local = local + sum(bracket(m, arm) for m, arm in zip((p.m_d, p.m_u), arms, strict=True))
    return rotated_tensor(k.T, local)


def pod_moment(p: Parameters, k: Pods, at: Platform, tensor: Array) -> Array:
    """N_i, (36)."""
    return (
        cross(p.m_u * k.L_u, k.Lddot_u - p.G)
        + cross(p.m_d * k.L_d, k.Lddot_d - p.G)
        + times(tensor, k.alpha)
        + cross(k.omega, times(tensor, k.omega))
        + p.C_s * (k.omega - at.omega)
        + p.C_u * k.omega
    )


def passive_force(p: Parameters, k: Pods, at: Platform, choices: Choices) -> Array:
    """F_i + F_act n_i, (40): what a pod asks of the platform apart from its actuator."""
    N = pod_moment(p, k, at, pod_tensor(p, k, choices.shifted_pods, choices.leg_frame))
    along = p.m_u * dot(k.n, k.Lddot_u - p.G) + p.C_p * k.ldot
    moment = k.c if choices.moment == "c" else k.n
    across: Array = cross(N, k.n) - dot(N, k.n) * cross(moment, k.n) / dot(moment, k.n)
    return along * k.n + across / k.ell


def actuator_forces(p: Parameters, k: Pods, at: Platform, passive: Array, choices: Choices) -> Array:
    """F_act (T, 6) from the platform's equations (45), (49) without external wrench."""
    r = times(at.R, p.r_o)
    arm = np.broadcast_to(p.r_o, r.shape) if choices.leg_frame else r
    tensor = p.I_po + (bracket(p.m_p, arm) if choices.shifted_platform else 0.0)
    I_p = rotated_tensor(at.R, tensor)
    weight = p.m_p * (at.acceleration + cross(at.alpha, r) + cross(at.omega, cross(at.omega, r)) - p.G)  # (46)
    force = weight - at.force + passive.sum(axis=1, keepdims=True)
    moment = cross(r, weight) - at.moment + times(I_p, at.alpha) + cross(at.omega, times(I_p, at.omega))
    moment = moment + (cross(k.q, passive) - p.C_s * (k.omega - at.omega)).sum(axis=1, keepdims=True)
    matrix = np.concatenate([k.n, cross(k.q, k.n)], axis=-1).swapaxes(-1, -2)
    solution: Array = np.linalg.solve(matrix, np.concatenate([force, moment], axis=-1).swapaxes(-1, -2))
    return solution[..., 0]


def forces(p: Parameters, motion: Motion, choices: Choices) -> Array:
    """Actuator forces (T, 6) by (36), (40), (45), (49) with the given choices."""
    at = Platform.of(motion)
    k = pods(p, at, choices.spin)
    return actuator_forces(p, k, at, passive_force(p, k, at, choices), choices)


# ----------------------------------------------------------------------------------------------------------------------
# Pedrammehr, Mahboubkhah and Khani: the numbers that their equations take.


@dataclass(frozen=True)
class Parameters:
    """Appendix 2: joints a, b (6, 3), universal joint axes u (6, 3), bodies, viscous coefficients, gravity G."""

    a: Array
    b: Array
    u: Array
    m_d: float
    m_u: float
    m_p: float
    L_do: Array
    L_uo: Array
    r_o: Array
    I_do: Array
    I_uo: Array
    I_po: Array
    C_u: float
    C_p: float
    C_s: float
    G: Array

    @staticmethod
    def of(robot: Robot) -> Parameters:
        """The numbers of a 6-UPS robot whose pods are alike."""
        pods = [leg for leg in robot.legs if isinstance(leg, UPS)]
        pod, platform = pods[0], robot.platform
        return Parameters(
            a=np.array([leg.platform for leg in pods]),
            b=np.array([leg.base for leg in pods]),
            u=np.array([leg.axis for leg in pods]),
            m_d=pod.lower.mass,
            m_u=pod.upper.mass,
            m_p=platform.mass,
            L_do=np.array(pod.lower.com),
            L_uo=np.array(pod.upper.com),
            r_o=np.array(platform.com),
            I_do=pod.lower.central_inertia,
            I_uo=pod.upper.central_inertia,
            I_po=platform.central_inertia,
            C_u=pod.universal_friction.viscous,
            C_p=pod.prismatic_friction.viscous,
            C_s=pod.spherical_friction.viscous,
            G=np.array(robot.gravity),
        )


# ----------------------------------------------------------------------------------------------------------------------
# Pedrammehr, Mahboubkhah and Khani, the compact form (41)-(43): as printed, and its inertia corrected.


def compact_forces(p: Parameters, motion: Motion, rate: bool = True) -> Array:
    """Actuator forces (T, 6) by (41)-(43), (48), (51) as printed.

    ``rate`` puts the rate of l into the appendix's S_i, where l itself is printed.
    """
    at = Platform.of(motion)
    k = pods(p, at)
    tip = at.acceleration + cross(at.alpha, k.q)
    passive = times(printed_inertia(p, k, shifted=True), tip) + printed_rest(p, k, at, rate)
    return actuator_forces(p, k, at, passive, PRINTED)


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


def printed_rest(p: Parameters, k: Pods, at: Platform, rate: bool, corrected: bool = False) -> Array:
    """V_i (T, 6, 3) by (43) as printed.

    ``corrected`` takes central tensors, L_d in the m_d term where L_u is printed, and (25) corrected: what is left is
    right for on-axis, axisymmetric pods.
    """
    n, w, ell = k.n, k.omega, k.ell
    tensor = pod_tensor(p, k, shifted=not corrected)
    turn, pod_turn = cross(at.omega, cross(at.omega, k.q)), cross(w, cross(w, ell * n))
    S = cross(n, turn - pod_turn - 2 * (k.ldot if rate else ell) * cross(w, n))
    S_d, S_u = cross(k.L_d, cross(k.L_d, S)), cross(k.L_u, cross(k.L_u, S))
    weight = -cross(p.m_u * k.L_u + p.m_d * k.L_d, p.G)
    centripetal = cross(w, cross(w, k.L_u))
    lower = cross(w, cross(w, k.L_d)) if corrected else centripetal
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
    product = k.omega_u * k.omega_v * (dot(k.c, n) / (1 - un * un) if corrected else -1.0)
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
