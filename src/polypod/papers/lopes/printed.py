"""Lopes, equations (2)-(85): corrected, and with any of their equations as printed, in plain arrays.

What is wrong as printed runs here only, one equation at a time: ``printed`` names those that are taken as they stand
in the paper. Coordinates x are (T, 6), legs (T, 6, 3) in the base frame. Only energies and Jacobians are written down;
their derivatives are complex steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ...description import Robot
from ...legs.pus import PUS
from ...motion import Motion
from ..shared.arrays import cross, dot, rotated_tensor, solve, times

# ----------------------------------------------------------------------------------------------------------------------
# Lopes: Table 2, Euler coordinates of a motion, and the two models of a link as point masses.

Numbers = NDArray[Any]
"""Real arrays, or complex ones while a derivative is taken."""

_STEP = 1e-30


@dataclass(frozen=True)
class Parameters:
    """Table 2: joints b, p (6, 3), lengths, masses, moments of inertia of platform and link (3,), gravity."""

    b: Array
    p: Array
    length: float
    b_cm: float
    m_p: float
    m_a: float
    m_l: float
    I_P: Array
    I_L: Array
    m_l1: float
    m_l2: float
    g: float

    @staticmethod
    def of(robot: Robot) -> Parameters:
        """The numbers of a 6-PUS robot with vertical rails whose legs are alike."""
        legs = [leg for leg in robot.legs if isinstance(leg, PUS)]
        leg, platform = legs[0], robot.platform
        assert leg.end_masses is not None
        return Parameters(
            np.array([x.rail_start for x in legs]),
            np.array([x.platform for x in legs]),
            leg.length,
            leg.length - leg.link.com[2],
            platform.mass,
            leg.slider.mass,
            leg.link.mass,
            np.diag(platform.central_inertia),
            np.diag(leg.link.central_inertia)[::-1],  # the library's link axes are (z_L, -y_L, x_L)
            leg.end_masses[1],
            leg.end_masses[0],
            -robot.gravity[2],
        )

    def lumped(self) -> Parameters:
        """(81)-(85): the link as two point masses, still a body of its own."""
        mass = self.m_l1 + self.m_l2
        b = self.length * self.m_l2 / mass
        across = (self.length - b) ** 2 * self.m_l2 + b**2 * self.m_l1
        return replace(self, m_l=mass, b_cm=b, I_L=np.array([0.0, across, across]))

    def shared_out(self) -> Parameters:
        """(86)-(91): the point masses as part of the actuators and of the platform, no link left."""
        r2, phi = float(self.p[0] @ self.p[0]), float(np.arctan2(self.p[0, 1], self.p[0, 0]))
        angles = np.array([np.pi / 3 - phi, np.pi / 3 + phi, phi])
        twice = 2 * self.m_l1 * r2
        extra = np.array([twice * np.sum(np.sin(angles) ** 2), twice * np.sum(np.cos(angles) ** 2), 3 * twice])
        heavier = replace(self, m_a=self.m_a + self.m_l2, m_p=self.m_p + 6 * self.m_l1, I_P=self.I_P + extra)
        return replace(heavier, m_l=0.0, I_L=np.zeros(3))


class Path(NamedTuple):
    """x = [p, psi, theta, phi], xdot, xddot (T, 6), (3)."""

    x: Array
    xdot: Array
    xddot: Array

    @staticmethod
    def of(motion: Motion) -> Path:
        """From a motion of the platform, by (8) and its derivative."""
        angles = Rotation.from_matrix(motion.pose[:, :3, :3]).as_euler("ZYX")
        x = np.concatenate([motion.pose[:, :3, 3], angles], axis=-1)
        T = euler_map(x)
        xdot = solve(T, motion.twist)
        return Path(x, xdot, solve(T, motion.acceleration - times(along(euler_map, x, xdot), xdot)))


def along(function: Callable[[Numbers], Numbers], x: Array, direction: Array) -> Array:
    """Derivative of a function of x along a direction, by a complex step: exact to rounding."""
    slope: Array = np.imag(function(x + 1j * _STEP * direction)) / _STEP
    return slope


def matrix_of(rows: Any) -> Numbers:
    """A batch of matrices from rows of entries."""
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rotation(x: Numbers) -> Numbers:
    """R (T, 3, 3), (4)."""
    (cp, ct, cf), (sp, st, sf) = (np.moveaxis(f(x[..., 3:]), -1, 0) for f in (np.cos, np.sin))
    return matrix_of(
        (
            (cp * ct, cp * st * sf - sp * cf, cp * st * cf + sp * sf),
            (sp * ct, sp * st * sf + cp * cf, sp * st * cf - cp * sf),
            (-st, ct * sf, ct * cf),
        )
    )


def euler_map(x: Numbers) -> Numbers:
    """T = diag(1, J_A) (T, 6, 6) with twist = T xdot, (9) and (29)."""
    psi, theta = x[..., 3], x[..., 4]
    T: Numbers = np.zeros((*x.shape[:-1], 6, 6), dtype=x.dtype)
    T[..., :3, :3] = np.eye(3)
    T[..., 3, 4], T[..., 3, 5] = -np.sin(psi), np.cos(theta) * np.cos(psi)
    T[..., 4, 4], T[..., 4, 5] = np.cos(psi), np.cos(theta) * np.sin(psi)
    T[..., 5, 3], T[..., 5, 5] = 1.0, -np.sin(theta)
    return T


# ----------------------------------------------------------------------------------------------------------------------
# Lopes, equations (2)-(85): corrected, and with any of their equations as printed, in plain arrays.

Printed = frozenset[str]
NOTHING: Printed = frozenset()
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Legs:
    """Links a_i and platform points p_i (T, 6, 3) in base axes, actuators' lengths (T, 6), J_C (T, 6, 6)."""

    p: Numbers
    a: Numbers
    travel: Numbers
    J_C: Numbers


def legs(q: Parameters, x: Numbers) -> Legs:
    """Closure b_i + l_i z + a_i = x + p_i with |a_i| = L, and its rate: ldot_i = a_i.(v + omega x p_i)/a_iz."""
    p = times(rotation(x)[..., None, :, :], q.p)
    reach = x[..., None, :3] + p - q.b
    a_z = np.sqrt(q.length**2 - reach[..., 0] ** 2 - reach[..., 1] ** 2)
    a = np.concatenate([reach[..., :2], a_z[..., None]], axis=-1)
    J_C = np.concatenate([a, cross(p, a)], axis=-1) / a_z[..., None]
    return Legs(p, a, reach[..., 2] - a_z, J_C)


def link_jacobian(q: Parameters, k: Legs, printed: Printed = NOTHING) -> Numbers:
    """J_Bi (T, 6, 3, 6), (46): velocity of the link's centre of mass from the twist."""
    share = q.b_cm / (q.length - q.b_cm)
    x, y, z = (k.p[..., n] for n in range(3))
    o, e = np.zeros_like(x), np.ones_like(x)
    c = share * np.moveaxis(_rows(k, printed), -1, 0)
    rows = (
        (e, o, o, o, z, -y),
        (o, e, o, -z, o, x),
        (c[0], c[1], c[2] + 1, y + c[3], -x + c[4], c[5]),
    )
    J: Numbers = (1 - q.b_cm / q.length) * matrix_of(rows)
    return J


def turn_jacobian(q: Parameters, k: Legs, printed: Printed = NOTHING) -> Numbers:
    """J_Di (T, 6, 3, 6), (63): angular velocity of the link, spin left out, from the twist."""
    J1, J2, J3, J4, J5, J6 = np.moveaxis(_rows(k, printed), -1, 0)
    x, y, z = (k.p[..., n] for n in range(3))
    ax, ay, az = (k.a[..., n] for n in range(3))
    slip = az if "(63) entry" in printed else ax
    rows = (
        (-ay * J1, -ay * J2 - az, ay * (1 - J3), ay * (y - J4) + az * z, -ay * (x + J5), -ay * J6 - az * x),
        (az + ax * J1, ax * J2, -slip * (1 - J3), -ax * (y - J4), az * z + ax * (x + J5), -az * y + ax * J6),
        (-ay, ax, 0 * ax, -ax * z, -ay * z, ax * x + ay * y),
    )
    J: Numbers = matrix_of(rows) / q.length**2
    return J


def _rows(k: Legs, printed: Printed) -> Numbers:
    """J_Cij of leg i; (46) and (63) as printed take those of leg 1 for every leg."""
    return k.J_C[..., :1, :] + 0 * k.J_C if "(46),(63)" in printed else k.J_C


def link_axes(k: Legs) -> Numbers:
    """R_Li = [x_L, y_L, z_L] (T, 6, 3, 3), (53)-(56)."""
    x_L = k.a / np.sqrt(dot(k.a, k.a))
    flat = np.sqrt(k.a[..., :1] ** 2 + k.a[..., 1:2] ** 2)
    y_L = np.concatenate([-k.a[..., 1:2], k.a[..., :1], 0 * flat], axis=-1) / flat
    return np.stack([x_L, y_L, cross(x_L, y_L)], axis=-1)


def inertia(q: Parameters, x: Numbers, printed: Printed = NOTHING) -> dict[str, Numbers]:
    """The parts of I_E (T, 6, 6), (27), (41), (50), (65)."""
    k, T = legs(q, x), euler_map(x)
    platform: Numbers = np.zeros((*x.shape[:-1], 6, 6), dtype=x.dtype)
    platform[..., :3, :3] = q.m_p * np.eye(3)
    platform[..., 3:, 3:] = rotated_tensor(rotation(x), np.diag(q.I_P))
    moved, spun = link_jacobian(q, k, printed), turn_jacobian(q, k, printed)
    turn = np.swapaxes(link_axes(k), -1, -2) @ spun
    parts = {
        "platform": platform,
        "actuators": q.m_a * _square(k.J_C),
        "translating links": q.m_l * _square(moved).sum(axis=-3),
        "rotating links": _square(np.sqrt(q.I_L)[:, None] * turn).sum(axis=-3),
    }
    return {name: np.swapaxes(T, -1, -2) @ part @ T for name, part in parts.items()}


def _square(J: Numbers) -> Numbers:
    """J^T J."""
    product: Numbers = np.swapaxes(J, -1, -2) @ J
    return product


def potential(q: Parameters, x: Numbers) -> Numbers:
    """P (T,), (66)-(69) with a_cm = 0."""
    k = legs(q, x)
    share = q.b_cm / q.length
    height = (1 - share) * (x[..., None, 2] + k.p[..., 2]) + share * k.travel
    energy: Numbers = q.g * (q.m_p * x[..., 2] + np.sum(q.m_a * k.travel + q.m_l * height, axis=-1))
    return energy


class Matrices(NamedTuple):
    """I, V (T, 6, 6) and G (T, 6) of I xddot + V xdot + G = f_E, (70)-(72)."""

    inertia: Array
    coriolis: Array
    gravity: Array

    def force(self, path: Path) -> Array:
        """f_E (T, 6)."""
        return times(self.inertia, path.xddot) + times(self.coriolis, path.xdot) + self.gravity


def matrices(q: Parameters, path: Path, printed: Printed = NOTHING) -> Matrices:
    """(73)-(79); as printed (77), (78) derive I by xdot, of which it is no function, so that U = 0."""

    def whole(x: Numbers) -> Numbers:
        summed: Numbers = np.sum(list(inertia(q, x, printed).values()), axis=0)
        return summed

    unit = np.eye(6)
    derivatives = np.stack([along(whole, path.x, unit[n]) for n in range(6)], axis=1)
    rate = np.einsum("tk,tkij->tij", path.xdot, derivatives)
    U = 0 * rate if "(77),(78)" in printed else np.einsum("tj,tkji->tki", path.xdot, derivatives)
    G = np.stack([along(lambda x: potential(q, x), path.x, unit[n]) for n in range(6)], axis=-1)
    return Matrices(np.real(whole(path.x)), 0.5 * (rate + np.swapaxes(U, -1, -2) - U), G)


def actuator_forces(q: Parameters, x: Array, f_E: Array, printed: Printed = NOTHING) -> Array:
    """tau (T, 6) = J_E^-T f_E with J_E = J_C T, (2), (33); or (14) as printed, J_E^T f_E."""
    back = np.swapaxes(legs(q, x).J_C @ euler_map(x), -1, -2)
    return times(back, f_E) if "(14)" in printed else solve(back, f_E)


def base_moment(x: Array, f_E: Array, printed: Printed = NOTHING) -> Array:
    """M_B (T, 3) = J_A^-T M_E, or (13) as printed, J_A^T M_E."""
    back = np.swapaxes(euler_map(x)[..., 3:, 3:], -1, -2)
    return times(back, f_E[..., 3:]) if "(13)" in printed else solve(back, f_E[..., 3:])


def forces(q: Parameters, motion: Motion, printed: Printed = NOTHING) -> Array:
    """Actuator forces (T, 6) by Lagrange's equation [N]."""
    path = Path.of(motion)
    return actuator_forces(q, path.x, matrices(q, path, printed).force(path), printed)


def link_turning(q: Parameters, motion: Motion) -> tuple[Array, Array]:
    """omega_L (T, 6, 3) by (60), and the spin about the link (T, 6, 3) that (58)-(60) leave out.

    y_L stays level only if the link turns about itself: spin = n (n_z/(1 - n_z^2)) z.(n x ndot).
    """
    k = legs(q, Path.of(motion).x)
    across = times(turn_jacobian(q, k), motion.twist[:, None])
    n = k.a / q.length
    return across, n * (n[..., 2:] / (1 - n[..., 2:] ** 2)) * dot(across, _UP + 0 * n)


def point_mass_energy(q: Parameters, motion: Motion) -> Array:
    """Kinetic energy (T,) of the two point masses of every link, from the velocities of its ends."""
    k = legs(q, Path.of(motion).x)
    v, omega = motion.twist[:, None, :3], motion.twist[:, None, 3:]
    far, near = v + cross(omega, k.p), times(k.J_C, motion.twist)
    energy: Array = 0.5 * np.sum(q.m_l1 * dot(far, far)[..., 0] + q.m_l2 * near**2, axis=-1)
    return energy
