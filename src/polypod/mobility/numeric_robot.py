"""The whole robot in numbers, moved from home by its chosen components while its legs' constraints are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..description.poses import rotation_from_vector, rotation_vector
from ..platforms import DegreesOfFreedom
from .numeric_leg import NumericLeg, regular

COMPONENTS = ("x", "y", "z", "roll (about x)", "pitch (about y)", "yaw (about z)")
_SAME = 1e-9
_REACH = 0.2
"""How far [sizes, rad] the platform is moved to see how its other components move."""
_PARTS = (1.0, 0.25, 0.06, 0.015)
"""Parts of that way which are tried one after the other where the robot does not reach so far."""


class NumericRobot:
    """The whole robot in numbers at a ``pose``, home at first, with its legs closed there."""

    def __init__(self, legs: Sequence[NumericLeg], robot: Robot) -> None:
        self._legs, self._robot, self._home = legs, robot, robot.home.matrix
        self.pose = self._home.copy()
        self._turns = np.array([f.motion == "rotation" for f in robot.dof] or [False] * 3 + [True] * 3)
        self._internal_legs = robot.internal_legs()
        self._internal_turns = np.array([f.motion == "rotation" for f in robot.free_internal], dtype=bool)
        self.places = [leg.home for leg in legs]
        still = np.zeros(len(self._internal_turns))
        for part in np.linspace(0.2, 1.0, 5) if any(f.held for f in robot.internal) else ():
            self._hold(still, float(part))
            self._update()
        self._home_places = self.places
        self._hold(still)
        self._update()

    def _update(self) -> None:
        """Close the legs; note the gap left, constraints (k,), their derivatives (k, 6) and E (m, 6) of u = E V."""
        found = [leg.at(self.pose, place) for leg, place in zip(self._legs, self.places, strict=True)]
        self.places = [place for place, *_ in found]
        self.gap = float(max(gap for _, gap, *_ in found))
        self.values = np.concatenate([c for _, _, c, _, _ in found])
        self.derivatives = np.concatenate([w for _, _, _, w, _ in found])
        self.chosen = _chosen_rows(self._robot, [g for *_, g in found])

    def basis(self, used: Sequence[int]) -> Array:
        """S (6, m) of twist = S u."""
        m = len(self.chosen)
        whole = np.vstack([self.derivatives[list(used)], self.chosen])
        return np.linalg.solve(whole, np.vstack([np.zeros((len(used), m)), np.eye(m)]))

    def explore(self, used: Sequence[int], home: Array, size: float) -> tuple[bool, dict[str, float], Array]:
        """Whether S is the same in poses around home, how far each component moves that is not chosen, and how far each
        constraint is from being kept there."""
        scale = np.r_[np.full(3, size), np.ones(3)]
        constant, largest, broken, reached = True, np.zeros(6), np.zeros(len(self.values)), 0
        dof = DegreesOfFreedom(self._robot)
        across = np.eye(6) - dof.components @ np.linalg.pinv(dof.components)
        for target in np.random.default_rng(0).uniform(-_REACH, _REACH, (6, len(self.chosen) + len(dof.internal))):
            if not any(self.move_from_home(used, part * target, size) for part in _PARTS):
                continue
            reached += 1
            constant &= bool(np.abs((self.basis(used) - home) / scale[:, None]).max() * size < _SAME)
            turned = rotation_vector(self.pose[:3, :3] @ self._home[:3, :3].T)
            moved = np.r_[self.pose[:3, 3] - self._home[:3, 3], turned]
            # internal coordinates may move the platform too
            constant &= not dof.internal or bool(np.abs(across @ moved / scale).max() < _SAME)
            largest = np.maximum(largest, np.abs(moved))
            broken = np.maximum(broken, np.abs(self.values))
        free = np.abs(dof.components).sum(axis=1) == 0
        parasitic = {COMPONENTS[k]: float(largest[k]) for k in range(6) if free[k] and largest[k] > 1e-9}
        return constant and reached > 0, parasitic, broken

    def move_from_home(self, used: Sequence[int], target: Array, size: float) -> bool:
        """Move from home by a target (m,) [sizes, rad] in steps that keep the constraints; whether that worked.

        Internal coordinates may follow in it; they are those of home otherwise.
        """
        self.pose, self.places = self._home.copy(), list(self._home_places)
        m = len(self.chosen)
        internal = np.zeros(len(self._internal_turns)) if len(target) == m else target[m:]
        internal = internal * np.where(self._internal_turns, 1.0, size)
        aim = target[:m] * np.where(self._turns, 1.0, size)
        kept = list(used)
        self._hold(0.0 * internal)
        self._update()
        for step, part in enumerate(np.diff(np.linspace(0.0, 1.0, 6)), 1):
            self._hold(step / 5 * internal)
            if not regular(np.vstack([self.derivatives[kept], self.chosen])):
                return False
            self._move(self.basis(used) @ (aim * part))
            for _ in range(8):
                self._update()
                if not (np.isfinite(self.derivatives).all() and np.isfinite(self.values).all()):
                    return False
                wanted = np.r_[-self.values[kept], np.zeros(len(self.chosen))]
                self._move(np.linalg.lstsq(np.vstack([self.derivatives[kept], self.chosen]), wanted, rcond=None)[0])
                if np.abs(self.values[kept]).max(initial=0.0) < 1e-13:
                    break
        self._update()
        off = np.abs(self.values[kept]).max(initial=0.0)
        return bool(self.gap < 1e-9 and off < 1e-12 and np.isfinite(self.derivatives).all())

    def _hold(self, internal: Array, part: float = 1.0) -> None:
        """Give the legs values of their internal coordinates; those that are held are a ``part`` of the way there."""
        free = iter(internal.tolist())
        values = np.array([next(free) if f.held is None else part * f.held for f in self._robot.internal])
        for number, leg in enumerate(self._legs):
            leg.internal = values[[k for k, owner in enumerate(self._internal_legs) if owner == number]]

    def _move(self, twist: Array) -> None:
        self.pose[:3, 3] += twist[:3]
        self.pose[:3, :3] = rotation_from_vector(twist[3:]) @ self.pose[:3, :3]


def poses_from_home(
    robot: Robot, kept: Sequence[tuple[int, int]], targets: Array, size: float
) -> list[tuple[Array, Array]]:
    """Poses (4, 4) at targets (k, m) [sizes, rad] from home that the legs allow, with the places of all unknowns.

    ``kept`` are the independent constraints by leg and number.
    """
    legs = [NumericLeg(leg, robot) for leg in robot.legs]
    owners = [(k, c) for k, leg in enumerate(legs) for c in range(len(leg.constraints))]
    used = [owners.index(owner) for owner in kept]
    result = []
    for target in targets:
        moved = NumericRobot(legs, robot)
        if moved.move_from_home(used, target, size):
            result.append((moved.pose, np.concatenate(moved.places)))
    return result


def _chosen_rows(robot: Robot, joints: Sequence[Array]) -> Array:
    """E (m, 6) of u = E V; ``joints`` are the derivatives of joints' coordinates, leg by leg."""
    rows = np.array(DegreesOfFreedom(robot).components.T)
    own = iter(robot.coordinate_joints())
    for row, coordinate in enumerate(robot.dof):
        if coordinate.joint:
            leg, k = next(own)
            rows[row] = joints[leg][k]
    return rows
