"""Lopes: Table 2, Euler coordinates of a motion, and the two models of a link as point masses."""

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
from ..shared.arrays import solve, times

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
