"""The platform in symbols: its motion, its freedoms, its inertia."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..description import Robot
from ..symbols.vectors import Frame, axial, cross, dot, skew


@dataclass(frozen=True)
class Motion:
    """Pose, twist and acceleration of the platform frame's origin, base axes."""

    frame: Frame
    v: ca.SX
    omega: ca.SX
    a: ca.SX
    alpha: ca.SX

    @cached_property
    def half_turning(self) -> ca.SX:
        """B/2 with B = alpha~ + omega~ omega~: a point at r from the origin accelerates by a + B r."""
        w, h, a = self.omega, 0.5 * self.omega, 0.5 * self.alpha
        squares = [h[k] * w[k] for k in range(3)]
        xy, yz, zx = h[0] * w[1], h[1] * w[2], h[2] * w[0]
        rows = [
            [-(squares[1] + squares[2]), xy - a[2], zx + a[1]],
            [xy + a[2], -(squares[2] + squares[0]), yz - a[0]],
            [zx - a[1], yz + a[0], -(squares[0] + squares[1])],
        ]
        return ca.vertcat(*[ca.horzcat(*row) for row in rows])

    def series(self, arm: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the point at ``arm`` (base axes) from the origin."""
        half = 0.5 * self.a + self.half_turning @ arm
        return self.frame.origin + arm, self.v + cross(self.omega, arm), half

    def axes_series(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the platform's axes, as columns of nine."""
        axes = self.frame.axes
        return ca.vec(axes), ca.vec(skew(self.omega) @ axes), ca.vec(self.half_turning @ axes)


class Freedoms:
    """The motions a robot can make: twist = S u with u of m numbers; S is the unit matrix for six freedoms."""

    def __init__(self, robot: Robot) -> None:
        self.names: tuple[str, ...] = tuple(f.name for f in robot.freedoms) or ("vx", "vy", "vz", "wx", "wy", "wz")
        self.full = not robot.freedoms
        self.basis: NDArray[np.float64] = np.eye(6)
        if not self.full:
            self.basis = np.zeros((6, len(robot.freedoms)))
            for column, freedom in enumerate(robot.freedoms):
                rows = slice(0, 3) if freedom.motion == "translation" else slice(3, 6)
                self.basis[rows, column] = freedom.axis
        self.inverse: NDArray[np.float64] = np.round(np.linalg.pinv(self.basis), 15)
        self.home = robot.home.matrix
        rotations = [np.array(f.axis) for f in robot.freedoms if f.motion == "rotation"]
        self.axis: NDArray[np.float64] | None = rotations[0] if rotations else None

    @property
    def count(self) -> int:
        """m"""
        return int(self.basis.shape[1])

    def allowed(self, twist: ca.SX) -> ca.SX:
        """The part of a twist (or acceleration) that the robot can make."""
        return twist if self.full else ca.DM(self.basis @ self.inverse) @ twist

    def frame(self, pose: ca.SX) -> Frame:
        """Frame of a row-major pose of 16; only the coordinates of a lower-mobility robot are read from it."""
        position = ca.vertcat(pose[3], pose[7], pose[11])
        axes = ca.vertcat(*[ca.horzcat(*[pose[4 * i + j] for j in range(3)]) for i in range(3)])
        if self.full:
            return Frame(position, axes)
        home = ca.DM(self.home[:3, 3])
        straight = self.basis[:3] @ self.inverse[:, :3]
        return Frame(home + ca.DM(straight) @ (position - home), self._turn(axes) @ ca.DM(self.home[:3, :3]))

    def frame_pose(self, pose: ca.SX) -> ca.SX:
        """A row-major pose of 16 with only what the robot can do left in it."""
        frame = self.frame(pose)
        return ca.vertcat(ca.vec(ca.horzcat(frame.axes, frame.origin).T), 0, 0, 0, 1)

    def _turn(self, axes: ca.SX) -> ca.SX:
        """Rotation about the freedom's axis k from home: k k^T + cos (1 - k k^T) + sin k~."""
        if self.axis is None:
            return ca.SX.eye(3)
        relative = axes @ ca.DM(self.home[:3, :3].T)
        k = ca.SX(ca.DM(self.axis))
        cosine = 0.5 * (ca.trace(relative) - 1)
        twice = ca.vertcat(
            relative[2, 1] - relative[1, 2], relative[0, 2] - relative[2, 0], relative[1, 0] - relative[0, 1]
        )
        sine = 0.5 * dot(k, twice)
        outer = ca.DM(np.outer(self.axis, self.axis))
        return outer + cosine * (ca.DM.eye(3) - outer) + sine * skew(k)

    def motion(self, pose: ca.SX, twist: ca.SX, acceleration: ca.SX) -> Motion:
        """The platform's motion from the kernel's inputs."""
        u, du = self.allowed(twist), self.allowed(acceleration)
        return Motion(self.frame(pose), u[:3], u[3:], du[:3], du[3:])


@dataclass(frozen=True)
class Inertia:
    """Inertia of the platform: mass, first moment and second moment about {P}'s origin, platform axes."""

    mass: float
    first: ca.SX
    second: ca.SX

    @staticmethod
    def of(robot: Robot) -> Inertia:
        """From the description."""
        body = robot.platform
        return Inertia(body.mass, ca.SX(ca.DM(body.first_moment)), ca.SX(ca.DM(body.second_moment)))

    def in_base(self, axes: ca.SX) -> tuple[ca.SX, ca.SX]:
        """First moment and second moment in base axes: R s, R Sigma R^T."""
        weighted = axes @ self.second
        second = ca.SX.zeros(3, 3)
        for i in range(3):
            for j in range(i, 3):
                second[i, j] = second[j, i] = dot(weighted[i, :], axes[j, :])
        return axes @ self.first, second

    def force(self, motion: Motion, gravity: ca.SX) -> ca.SX:
        """Wrench [f; m] at the origin that makes the platform move so against gravity, base axes.

        f = m (a - g) + B s, m = s x (a - g) + axial(B Sigma), s and Sigma the first and second moments.
        """
        # Twice the moments for half the turning, so that B itself is never formed.
        twice = Inertia(self.mass, 2 * self.first, 2 * self.second)
        s, sigma = twice.in_base(motion.frame.axes)
        lift = motion.a - gravity
        product = motion.half_turning @ sigma
        return ca.vertcat(self.mass * lift + motion.half_turning @ s, cross(s, 0.5 * lift) + axial(product))

    def matrix(self, axes: ca.SX) -> ca.SX:
        """Inertia matrix (6, 6) with respect to the twist: [m 1, -s~; s~, tr(Sigma) 1 - Sigma]."""
        s, sigma = self.in_base(axes)
        turn = ca.trace(sigma) * ca.SX.eye(3) - sigma
        return ca.vertcat(
            ca.horzcat(self.mass * ca.SX.eye(3), -skew(s)),
            ca.horzcat(skew(s), turn),
        )
