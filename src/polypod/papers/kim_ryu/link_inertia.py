"""Kim and Ryu (1)-(3) and (34): Euler angles, and the actuator force that link inertia takes."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ..shared.arrays import cross, dot, times
from ..shared.platform import Platform
from .data import Parameters
from .printed import Legs, lines


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
