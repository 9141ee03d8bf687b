"""Loops closed from anywhere: the unknowns are the coordinates of a tree of joints, the equations the joints beside it.

A tree of joints places all bodies, whatever the coordinates q are; the other joints close loops, c(q) = 0. Gauss-Newton
iteration from coordinates drawn at random has far fewer unknowns than the displacements of all bodies, and may start
far from where loops close.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..legs.chain import ChainJoint
from .linkage import BASE

_ITERATIONS = 100
_LONGEST = 0.5
"""Largest change [rad, or part of the linkage's size] of a coordinate in one step."""
_NEARLY = 1e-9
"""Residual from which on the displacements of all bodies are solved for."""

Constraints = Callable[[Array], tuple[Array, Array]]
"""Jacobian (s, k, 6 b) by the bodies' twists and residual (s, k) of the joints beside the tree, at displacements."""


class _Branch(NamedTuple):
    """A joint of the tree: its number, the body that it is reached from, and the other one."""

    number: int
    parent: str
    child: str


class _Ways(NamedTuple):
    """Coordinates (n) that are free: their branches, whether they move the frame of the first half (see _motions), and
    which motion; and the sign (b, n) with which they move each body, 0 where they do not."""

    branch: NDArray[np.int64]
    left: NDArray[np.bool_]
    motion: NDArray[np.int64]
    sign: Array


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
        halves = np.array([seats[branch.number] for branch in self.branches]).reshape(-1, 2, 4, 4)
        self._first, self._back = halves[:, 0], np.linalg.inv(halves[:, 1])
        self._reversed = np.array([b.parent != joints[b.number].between[0] for b in self.branches], dtype=bool)

    def moves(self, values: Mapping[str, float], draw: np.random.Generator | None = None) -> Array:
        """What each joint of the tree moves its second half by (n, 4, 4) in the frame of the first.

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
        return np.array(found).reshape(-1, 4, 4)

    def placed(self, moves: Array) -> Array:
        """Displacements (..., b, 4, 4) of all bodies by moves (..., n, 4, 4); those that no joint reaches stay."""
        across = self._first @ moves @ self._back
        across[..., self._reversed, :, :] = np.linalg.inv(across[..., self._reversed, :, :])
        still = np.broadcast_to(np.eye(4), (*moves.shape[:-3], 4, 4))
        at = {BASE: still}
        for number, branch in enumerate(self.branches):
            at[branch.child] = at[branch.parent] @ across[..., number, :, :]
        placed = [at.get(name, still) for name in self.index]
        return np.stack(placed, axis=-3) if placed else np.zeros((*moves.shape[:-3], 0, 4, 4))

    def closed(self, moves: Array, fixed: Mapping[str, float], constraints: Constraints) -> Array:
        """Displacements (s, b, 4, 4) at which the joints beside the tree are closed, or as near as steps came.

        From s starts ``moves`` (s, n, 4, 4), side by side. Joints of ``fixed`` stay where they are.
        """
        moves, displacements, ways = moves.copy(), self.placed(moves), self._ways(fixed)
        if not len(ways.branch):
            return displacements
        for _ in range(_ITERATIONS):
            rows, residual = constraints(displacements)
            going = np.flatnonzero(np.abs(residual).max(axis=1, initial=0.0) >= _NEARLY)
            if not len(going):
                break
            jacobian = rows[going] @ self._screws(moves[going], displacements[going], ways)
            step = -(np.linalg.pinv(jacobian, rcond=1e-10) @ residual[going, :, None])[..., 0]
            step *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(step).max(axis=1), 1e-300))[:, None]
            for branch, left, motion, change in zip(*ways[:3], step.T, strict=True):
                by, move = self._elementary(motion, change), moves[going, branch]
                moves[going, branch] = by @ move if left else move @ by
            displacements[going] = self.placed(moves[going])
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

    def _elementary(self, motion: int, value: Array | float) -> Array:
        """Rotations [rad] about (0 to 2), or displacements [parts of the size] along (3 to 5), an axis."""
        move = np.zeros((*np.shape(value), 4, 4))
        move[...] = np.eye(4)
        if motion < 3:
            j, k = (motion + 1) % 3, (motion + 2) % 3
            move[..., j, j] = move[..., k, k] = np.cos(value)
            move[..., k, j] = np.sin(value)
            move[..., j, k] = -move[..., k, j]
        else:
            move[..., motion - 3, 3] = self.size * np.asarray(value)
        return move

    def _ways(self, fixed: Mapping[str, float]) -> _Ways:
        ways: list[tuple[int, bool, int]] = []
        signs: list[float] = []
        above: dict[str, list[int]] = {BASE: []}  # the coordinates that move a body
        for number, branch in enumerate(self.branches):
            joint = self.joints[branch.number]
            own = [] if joint.name in fixed else [(number, left, motion) for left, motion in _motions(joint)]
            above[branch.child] = above[branch.parent] + list(range(len(ways), len(ways) + len(own)))
            ways += own
            signs += [-1.0 if self._reversed[number] else 1.0] * len(own)
        sign = np.zeros((len(self.index), len(ways)))
        for name, k in self.index.items():
            moved = above.get(name, [])
            sign[k, moved] = np.array(signs)[moved]
        branches, left, motion = np.array(ways, dtype=np.int64).reshape(-1, 3).T
        return _Ways(branches, left.astype(bool), motion, sign)

    def _screws(self, moves: Array, displacements: Array, ways: _Ways) -> Array:
        """Twists (..., 6 b, n) of all bodies by the coordinates that are free."""
        base = np.broadcast_to(np.eye(4), (*displacements.shape[:-3], 1, 4, 4))
        at = np.concatenate([displacements, base], axis=-3)
        ones = [self.index.get(self.joints[b.number].between[0], len(self.index)) for b in self.branches]
        before = at[..., ones, :, :] @ self._first
        after = before @ moves
        frame = np.where(ways.left[:, None, None], before[..., ways.branch, :, :], after[..., ways.branch, :, :])
        axis = np.swapaxes(frame, -1, -2)[..., np.arange(len(ways.branch)), ways.motion % 3, :3]
        turns = (ways.motion < 3)[:, None]
        linear = np.where(turns, np.cross(frame[..., :3, 3], axis) / self.size, axis)
        twists = np.swapaxes(np.concatenate([linear, np.where(turns, axis, 0.0)], axis=-1), -1, -2)
        screws = ways.sign[:, None, :] * twists[..., None, :, :]
        return np.asarray(screws.reshape(*screws.shape[:-3], -1, screws.shape[-1]))


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
