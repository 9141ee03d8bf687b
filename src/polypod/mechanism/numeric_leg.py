"""A leg in numbers: where its unknowns are at a pose of the platform, and what it constrains there."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..description.poses import skew
from ..symbols.vectors import Frame


class NumericLeg:
    """A leg closed by Newton's iteration in numbers, for analysis at home and along paths.

    ``place`` are values of its unknowns as :class:`~polypod.legs.Unknowns` states them, ``home`` those at home.
    """

    def __init__(self, leg: Any, robot: Robot) -> None:
        tip = Frame.symbols("tip")
        placement = leg.place(tip)
        self.arm = np.array(leg.attachment(robot.home.position, robot.home.rotation), dtype=float)
        self.constraints = placement.constraints
        u = placement.unknowns
        x = ca.vertcat(tip.origin, ca.vec(tip.axes))
        place, move = (u.place, u.move) if u is not None else (ca.SX(0, 1), ca.SX(0, 1))
        equations = u.equations if u is not None else ca.SX(0, 1)
        stated = ca.vertcat(*[c.value for c in self.constraints], *placement.joint_coordinates, ca.SX(0, 1))
        both = ca.vertcat(equations, stated)
        still = ca.SX.zeros(move.numel())
        parts = [both, ca.jacobian(both, move), ca.jacobian(both, x)]
        parts = [ca.densify(part) for part in ca.substitute(parts, [move], [still])]
        self._value = ca.Function("closing", [x, place], parts)
        moved = u.moved if u is not None else ca.SX(0, 1)
        self._moved = ca.Function("moved", [place, move], [ca.densify(moved)])
        self.unknowns = int(move.numel())
        self.home = np.array(ca.DM(u.home)).ravel() if u is not None else np.zeros(0)

    def _tip(self, pose: Array) -> Array:
        """Origin and axes (12) of the tip."""
        axes = pose[:3, :3]
        return np.r_[pose[:3, 3] + axes @ self.arm, axes.T.ravel()]

    def gap_at(self, pose: Array, place: Array) -> tuple[Array, Array]:
        """Residuals (k,) of the leg's equations at a place, and their Jacobian (k, k) by moves of the unknowns."""
        residual, by_move, _ = (np.array(part) for part in self._value(self._tip(pose), place))
        return residual[: self.unknowns].ravel(), by_move[: self.unknowns]

    def moved(self, place: Array, step: NDArray[Any]) -> Array:
        """The place after a move."""
        return np.array(self._moved(place, step)).ravel()

    def at(self, pose: Array, place: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Place with the leg closed, largest gap left, constraints (k,) and their derivatives by the twist (k, 6).

        Derivatives (j, 6) of the joints' coordinates that are the robot's follow.
        """
        axes = pose[:3, :3]
        arm = axes @ self.arm
        x = self._tip(pose)
        n = self.unknowns
        for _ in range(20):
            residual, by_move, by_tip = (np.array(v) for v in self._value(x, place))
            if n == 0 or not np.isfinite(residual).all():
                break
            step = -np.linalg.solve(by_move[:n], residual[:n]).ravel() if regular(by_move[:n]) else np.full(n, np.nan)
            place = self.moved(place, step)
            if np.abs(step).max() < 1e-14 or not np.isfinite(step).all():
                break
        residual, by_move, by_tip = (np.array(v) for v in self._value(x, place))
        carry = np.zeros((12, 6))
        carry[:3, :3], carry[:3, 3:] = np.eye(3), -skew(arm)
        for k in range(3):
            carry[3 + 3 * k : 6 + 3 * k, 3:] = -skew(axes[:, k])
        derivatives = by_tip @ carry
        rows = derivatives[n:] - by_move[n:] @ np.linalg.solve(by_move[:n], derivatives[:n]) if n else derivatives
        k = len(self.constraints)
        return place, np.abs(residual[:n]).max(initial=0.0), residual[n : n + k].ravel(), rows[:k], rows[k:]


def interpolated_from_home(robot: Robot, pose: Array, part: float) -> Array:
    """The pose (4, 4) at a part of the straight way from home to another, turned about one axis."""
    home = robot.home.matrix
    turn = scipy.spatial.transform.Rotation.from_matrix(pose[:3, :3] @ home[:3, :3].T).as_rotvec()
    there = np.eye(4)
    there[:3, 3] = home[:3, 3] + part * (pose[:3, 3] - home[:3, 3])
    there[:3, :3] = scipy.spatial.transform.Rotation.from_rotvec(part * turn).as_matrix() @ home[:3, :3]
    return there


def regular(matrix: Array) -> bool:
    """Whether a matrix can be solved with."""
    return bool(np.isfinite(matrix).all() and np.linalg.cond(matrix) < 1e14)
