"""A leg in numbers: where its unknowns are at a pose of the platform, and what it constrains there."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..description.poses import rotation_from_vector, rotation_vector, skew
from ..symbols.vectors import Frame


class NumericLeg:
    """A leg closed by Newton's iteration in numbers, for analysis at home and along paths.

    ``place`` are values of its unknowns as ``polypod.legs.Unknowns`` states them, ``home`` those at home.
    """

    def __init__(self, leg: Any, robot: Robot) -> None:
        tip = Frame.symbols("tip")
        placement = leg.place(tip)
        self.arm = np.array(leg.attachment(robot.home.position, robot.home.rotation), dtype=float)
        self.constraints = placement.constraints
        u = placement.unknowns
        x = ca.vertcat(tip.origin, ca.vec(tip.axes))
        own = [f.held or 0.0 for f, owner in zip(robot.internal, robot.internal_legs(), strict=True)
               if robot.legs[owner] is leg]  # fmt: skip
        self.internal = np.array(own)
        """Its internal coordinates: zero at home, or where they are held."""
        place, move = (u.place, u.move) if u is not None else (ca.SX(0, 1), ca.SX(0, 1))
        equations = u.equations if u is not None else ca.SX(0, 1)
        stated = ca.vertcat(*[c.value for c in self.constraints], *placement.joint_coordinates, ca.SX(0, 1))
        both = ca.vertcat(equations, stated)
        still = ca.SX.zeros(move.numel())
        parts = [both, ca.jacobian(both, move), ca.jacobian(both, x)]
        parts = [ca.densify(part) for part in ca.substitute(parts, [move], [still])]
        self._value = ca.Function("closing", [ca.vertcat(x, placement.internal), place], parts)
        moved = u.moved if u is not None else ca.SX(0, 1)
        self._moved = ca.Function("moved", [place, move], [ca.densify(moved)])
        self.unknowns = int(move.numel())
        self.home = np.array(ca.DM(u.home)).ravel() if u is not None else np.zeros(0)

    def _tip(self, pose: Array) -> Array:
        """Origin and axes (12) of the tip; after them internal coordinates."""
        axes = pose[:3, :3]
        return np.r_[pose[:3, 3] + axes @ self.arm, axes.T.ravel(), self.internal]

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
        if n and regular(by_move[:n]):
            rows = derivatives[n:] - by_move[n:] @ np.linalg.solve(by_move[:n], derivatives[:n])
        else:  # at a dead point of the leg nothing follows from the tip
            rows = np.full_like(derivatives[n:], np.nan) if n else derivatives
        k = len(self.constraints)
        return place, np.abs(residual[:n]).max(initial=0.0), residual[n : n + k].ravel(), rows[:k], rows[k:]


def interpolated_from_home(robot: Robot, pose: Array, part: float) -> Array:
    """The pose (4, 4) at a part of the straight way from home to another, turned about one axis."""
    home = robot.home.matrix
    turn = rotation_vector(pose[:3, :3] @ home[:3, :3].T)
    there = np.eye(4)
    there[:3, 3] = home[:3, 3] + part * (pose[:3, 3] - home[:3, 3])
    there[:3, :3] = rotation_from_vector(part * turn) @ home[:3, :3]
    return there


def regular(matrix: Array) -> bool:
    """Whether a matrix can be solved with."""
    return bool(np.isfinite(matrix).all() and np.linalg.cond(matrix) < 1e14)


# ----------------------------------------------------------------------------------------------------------------------
# Why a leg without a closed form does not close at a pose: it does not reach, or only in another working mode.

_STEPS = 64
"""Poses on the way from home at which the leg is closed, one after the other."""
_ITERATIONS = 200
_CLOSED = 1e-9
"""Gap [m] of a closed leg."""
_STILL = 1e-12


class LeastGap(NamedTuple):
    """The smallest ``gap`` [m or rad] of a leg that was found at a pose.

    ``converged``: no smaller gap is near. ``home_mode``: the leg is in the working mode of home there,
    by the sign of its closing determinant.
    """

    gap: float
    converged: bool
    home_mode: bool

    @property
    def closed(self) -> bool:
        """Whether the leg reaches the platform: its gap is rounding."""
        return self.gap < _CLOSED


def least_gap(robot: Robot, number: int, pose: Array) -> LeastGap:
    """The smallest gap of a leg at a pose (4, 4), the leg followed there on the straight path from home.

    By Levenberg-Marquardt steps: where Newton's iteration has no solution they end at the least gap.
    """
    leg = NumericLeg(robot.legs[number], robot)
    place, gap, converged = leg.home, np.inf, False
    for part in np.linspace(0.0, 1.0, _STEPS + 1)[1:]:
        place, gap, converged = _minimise(leg, interpolated_from_home(robot, pose, float(part)), place)
    sides = [np.linalg.slogdet(leg.gap_at(*at)[1])[0] for at in ((robot.home.matrix, leg.home), (pose, place))]
    return LeastGap(gap, converged, bool(sides[0] * sides[1] > 0))


def _minimise(leg: NumericLeg, pose: Array, place: Array) -> tuple[Array, float, bool]:
    """The place of least gap near another, that gap, and whether no smaller one is near."""
    damping, (residual, derivatives) = 1e-3, leg.gap_at(pose, place)
    for _ in range(_ITERATIONS):
        gap = float(np.linalg.norm(residual))
        downhill = derivatives.T @ residual
        if gap < _CLOSED or np.linalg.norm(downhill) <= _STILL * max(gap, _STILL):
            return place, gap, True
        normal = derivatives.T @ derivatives
        step = -np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), downhill)
        trial = leg.moved(place, step)
        new_residual, new_derivatives = leg.gap_at(pose, trial)
        if np.linalg.norm(new_residual) < gap:
            place, residual, derivatives, damping = trial, new_residual, new_derivatives, 0.3 * damping
            if np.linalg.norm(step) < _STILL:
                return place, float(np.linalg.norm(residual)), True
        else:
            damping *= 4.0
            if damping > 1e12:
                return place, gap, True
    return place, float(np.linalg.norm(residual)), False
