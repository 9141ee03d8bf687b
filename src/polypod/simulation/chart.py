"""States of a simulation in symbols and numbers: rotations as small turns about the last accepted one.

A state x is [frame (12), twist (6), elastic (N), elastic rate (N), work (3)]: the first three rows of the platform's
pose by rows, the twist, the elastic coordinates, and the work of actuators, external wrench and friction so far [J].
Integrators see the chart y = [position, a, twist, elastic, elastic rate, work] about a base rotation R0, where
R = cay(a) R0 = (1 + 2/(1 + a.a) (a~ + a~ a~)) R0 and da/dt = (omega - a x omega + (a.omega) a)/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..symbols.vectors import cross, dot, skew

Array = NDArray[np.float64]
WORKS = ("actuators", "external", "friction")


@dataclass(frozen=True)
class Layout:
    """Where the parts of states and charts are, for N elastic modes."""

    modes: int = 0

    @property
    def state(self) -> int:
        """Numbers of a state."""
        return 21 + 2 * self.modes

    @property
    def chart(self) -> int:
        """Numbers of a chart."""
        return 15 + 2 * self.modes

    def split(self, y: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        """Position, a, twist, elastic, elastic rate and work of a chart."""
        n = self.modes
        return y[:3], y[3:6], y[6:12], y[12 : 12 + n], y[12 + n : 12 + 2 * n], y[12 + 2 * n :]

    def chart_of(self, x: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Base rotation (9, by rows) and chart of a state, with a = 0."""
        rotation = ca.vertcat(*[x[4 * i + j] for i in range(3) for j in range(3)])
        return rotation, ca.vertcat(x[3], x[7], x[11], ca.SX.zeros(3), x[12:])

    def state_of(self, base: ca.SX, y: ca.SX) -> ca.SX:
        """The state at a chart about a base rotation (9, by rows)."""
        axes = turn(y[3:6]) @ ca.reshape(base, 3, 3).T
        return ca.vertcat(ca.vec(ca.horzcat(axes, y[:3]).T), y[6:])


def pose_of(x: ca.SX) -> ca.SX:
    """Row-major pose (16) of a state."""
    return ca.vertcat(x[:12], 0, 0, 0, 1)


def turn(a: ca.SX) -> ca.SX:
    """Cayley's map (3, 3): the turn by 2 atan|a| about a."""
    tilde = skew(a)
    return ca.SX.eye(3) + (2 / (1 + dot(a, a))) * (tilde + tilde @ tilde)


def turn_rate(a: ca.SX, omega: ca.SX) -> ca.SX:
    """da/dt at an angular velocity in base axes."""
    return 0.5 * (omega - cross(a, omega) + dot(a, omega) * a)


def tidy(x: ca.SX) -> ca.SX:
    """The rounding of many turns removed from a state: R -> R (3 - R^T R)/2."""
    rows = ca.reshape(x[:12], 4, 3).T
    axes = rows[:, :3]
    axes = axes @ (1.5 * ca.SX.eye(3) - 0.5 * (axes.T @ axes))
    return ca.vertcat(ca.vec(ca.horzcat(axes, rows[:, 3]).T), x[12:])


def pack(pose: Array, twist: Array, elastic: Array, elastic_rate: Array) -> Array:
    """A state from its parts, without work done yet."""
    return np.concatenate([pose[:3].ravel(), twist, elastic, elastic_rate, np.zeros(len(WORKS))])


def rebased(x: Array) -> tuple[Array, Array]:
    """Base rotation (9,) and chart of a state of numbers."""
    frame = x[:12].reshape(3, 4)
    return np.ascontiguousarray(frame[:, :3]).ravel(), np.concatenate([frame[:, 3], np.zeros(3), x[12:]])


def poses(x: Array) -> Array:
    """Poses (..., 4, 4) of states (..., S)."""
    result = np.zeros((*x.shape[:-1], 4, 4))
    result[..., :3, :] = x[..., :12].reshape(*x.shape[:-1], 3, 4)
    result[..., 3, 3] = 1.0
    return result
