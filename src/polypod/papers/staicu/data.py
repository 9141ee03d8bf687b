"""Staicu et al.: section 4, the passing matrices (1), (2) and the inverse geometry that closes (6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...description import Body, Robot
from ...legs.prpar import PRPaR
from ...legs.pru import PRU
from ..shared.arrays import times

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
