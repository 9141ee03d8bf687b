"""Loops closed from anywhere: the unknowns are the coordinates of a tree of joints, the equations the joints beside it.

A tree of joints places all bodies, whatever the coordinates q are; the other joints close loops, c(q) = 0. Gauss-Newton
iteration from coordinates drawn at random has far fewer unknowns than the displacements of all bodies, and may start
far from where loops close.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..legs.chain import ChainJoint
from .linkage import BASE

_ITERATIONS = 100
_LONGEST = 0.5
"""Largest change [rad, or part of the linkage's size] of a coordinate in one step."""
_NEARLY = 1e-9
"""Residual from which on the displacements of all bodies are solved for."""

Constraints = Callable[[Array], tuple[Array, Array]]
"""Jacobian (k, 6 b) by the bodies' twists and residual (k,) of the joints beside the tree, at displacements."""


class _Branch(NamedTuple):
    """A joint of the tree: its number, the body that it is reached from, and the other one."""

    number: int
    parent: str
    child: str


class JointTree:
    """A tree of joints that reaches all bodies; ``loops`` are the numbers of the joints beside it.

    ``seats`` are the frames (4, 4) of the halves of every joint, ``index`` the number of every body. Joints ``last``
    are taken only where no other reaches a body.
    """

    def __init__(
        self,
        joints: Sequence[ChainJoint],
        seats: Sequence[tuple[Array, Array]],
        index: Mapping[str, int],
        size: float,
        last: Mapping[str, object],
    ) -> None:
        self.joints, self.seats, self.index, self.size = joints, seats, index, size
        self.branches: list[_Branch] = []
        reached = {BASE}
        order = sorted(range(len(joints)), key=lambda number: joints[number].name in last)
        while True:
            found = next((n for n in order if len(set(joints[n].between) & reached) == 1), None)
            if found is None:
                break
            one, two = joints[found].between
            self.branches.append(_Branch(found, one, two) if one in reached else _Branch(found, two, one))
            reached |= {one, two}
        within = {branch.number for branch in self.branches}
        self.loops = [number for number in range(len(joints)) if number not in within]

    def moves(self, values: Mapping[str, float], draw: np.random.Generator | None = None) -> list[Array]:
        """What each joint of the tree moves its second half by (4, 4) in the frame of the first.

        Joints of ``values`` [m or rad] have these, the others stay or, with ``draw``, are anywhere within their ranges.
        """
        found = []
        for branch in self.branches:
            joint, (first, second) = self.joints[branch.number], self.seats[branch.number]
            move = np.eye(4)
            if joint.axes is not None:  # halves of a universal joint are turned against each other
                move = np.linalg.inv(first) @ second
            if joint.name in values:
                move = moved_by(joint, values[joint.name]) @ move
            elif draw is not None:
                move = self._drawn(joint, move, draw)
            found.append(move)
        return found

    def placed(self, moves: Sequence[Array]) -> Array:
        """Displacements (b, 4, 4) of all bodies; those that no joint reaches stay."""
        at = {BASE: np.eye(4)}
        for branch, move in zip(self.branches, moves, strict=True):
            first, second = self.seats[branch.number]
            across = first @ move @ np.linalg.inv(second)
            forward = branch.parent == self.joints[branch.number].between[0]
            at[branch.child] = at[branch.parent] @ (across if forward else np.linalg.inv(across))
        return np.array([at.get(name, np.eye(4)) for name in self.index]).reshape(-1, 4, 4)

    def closed(self, moves: list[Array], fixed: Mapping[str, float], constraints: Constraints) -> Array:
        """Displacements (b, 4, 4) at which the joints beside the tree are closed, or as near as steps came.

        Joints of ``fixed`` stay where they are.
        """
        displacements = self.placed(moves)
        for _ in range(_ITERATIONS):
            rows, residual = constraints(displacements)
            if not len(residual) or np.abs(residual).max() < _NEARLY:
                break
            screws, ways = self._screws(moves, displacements, fixed)
            if not ways:
                break
            step = np.linalg.lstsq(rows @ screws, -residual, rcond=1e-10)[0]
            longest = float(np.abs(step).max(initial=0.0))
            step = step * min(1.0, _LONGEST / longest) if longest else step
            for change, (branch, left, motion) in zip(step, ways, strict=True):
                by = self._elementary(motion, float(change))
                moves[branch] = by @ moves[branch] if left else moves[branch] @ by
            displacements = self.placed(moves)
        return displacements

    def _drawn(self, joint: ChainJoint, move: Array, draw: np.random.Generator) -> Array:
        for left, motion in _motions(joint):
            wide = np.pi if motion < 3 else 0.25
            low, high = -wide, wide
            if joint.range is not None and not joint.actuated and joint.kind in ("revolute", "prismatic"):
                unit = 1.0 if motion < 3 else self.size
                low, high = max(low, joint.range[0] / unit), min(high, joint.range[1] / unit)
            by = self._elementary(motion, draw.uniform(low, high) if low < high else 0.0)
            move = by @ move if left else move @ by
        return move

    def _elementary(self, motion: int, value: float) -> Array:
        """A rotation [rad] about (0 to 2), or a displacement [parts of the size] along (3 to 5), an axis."""
        move = np.eye(4)
        if motion < 3:
            move[:3, :3] = Rotation.from_rotvec(value * np.eye(3)[motion]).as_matrix()
        else:
            move[motion - 3, 3] = self.size * value
        return move

    def _screws(
        self, moves: Sequence[Array], displacements: Array, fixed: Mapping[str, float]
    ) -> tuple[Array, list[tuple[int, bool, int]]]:
        """Twists (6 b, n) of all bodies by the coordinates that are free, and which these are."""
        ways: list[tuple[int, bool, int]] = []
        columns: list[Array] = []
        above: dict[str, list[int]] = {BASE: []}  # the coordinates that move a body
        signs: list[float] = []
        twists: list[Array] = []
        for number, branch in enumerate(self.branches):
            joint, (first, _) = self.joints[branch.number], self.seats[branch.number]
            own = []
            if joint.name not in fixed:
                one = joint.between[0]
                before = (np.eye(4) if one == BASE else displacements[self.index[one]]) @ first
                after = before @ moves[number]
                for left, motion in _motions(joint):
                    frame = before if left else after
                    axis = frame[:3, motion % 3]
                    linear = np.cross(frame[:3, 3], axis) / self.size if motion < 3 else axis
                    twists.append(np.r_[linear, axis if motion < 3 else np.zeros(3)])
                    signs.append(1.0 if branch.parent == one else -1.0)
                    own.append(len(ways))
                    ways.append((number, left, motion))
            above[branch.child] = above[branch.parent] + own
        for k, (twist, sign) in enumerate(zip(twists, signs, strict=True)):
            column = np.zeros(6 * len(self.index))
            for name, coordinates in above.items():
                if name != BASE and k in coordinates:
                    column[6 * self.index[name] : 6 * self.index[name] + 6] = sign * twist
            columns.append(column)
        return np.array(columns).reshape(-1, 6 * len(self.index)).T, ways


def moved_by(joint: ChainJoint, value: float) -> Array:
    """What a joint's coordinate [m or rad] moves its second half by, in the frame (4, 4) of the first."""
    move = np.eye(4)
    if joint.kind == "prismatic" or joint.actuated == "translation":
        move[0, 3] = value
    else:
        c, s = np.cos(value), np.sin(value)
        move[1:3, 1:3] = [[c, -s], [s, c]]
    return move


def _motions(joint: ChainJoint) -> list[tuple[bool, int]]:
    """Free motions of a joint: in the frame of its first half (True) or its second, and which (see _elementary)."""
    return {
        "spherical": [(False, 0), (False, 1), (False, 2)],
        "universal": [(True, 0), (False, 0)],
        "revolute": [(False, 0)],
        "cylindrical": [(False, 0), (False, 3)],
        "prismatic": [(False, 3)],
        "fixed": [],
    }[joint.kind]
