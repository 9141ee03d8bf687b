"""Forward kinematics where Newton's iteration from the guess fails or ends beyond a singularity.

First the coordinates go straight from the guess's own to those asked for in steps (where legs are closed by iterating
the compiled function has done so already). They may meet a singularity though the pose is on the guess's side: then
Newton starts from poses scattered about the guess, those on its side, and of the poses found the nearest to the guess
is taken. What is found does not depend on the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description.poses import rotation_from_vector
from ..kernels import Kernel
from ..mechanism.restarts import HALVINGS, SPREAD, fractions
from .calls import Calls

_STEP, _SMALLEST_STEP = 0.25, 2e-3
"""First step along the line of coordinates and the one below which it counts as blocked, as fractions of it."""
_FAR = 0.3
"""Largest move of the platform in a step [sizes of the platform, rad]."""
_MOST_STEPS = 120
_TOGETHER = 1024
"""States whose starts are tried at the same time."""
_STARTS = 64
"""Poses that Newton starts from."""


class PoseSearch:
    """Looks for poses (k, 4, 4) with coordinates q (k, n) on the side of a guess; elastic coordinates stay.

    ``rows`` are inputs of the kernel of forward kinematics by name.
    """

    def __init__(self, calls: Calls, kernel: Kernel, rows: Mapping[str, Array]) -> None:
        self._calls, self._kernel, self._rows = calls, kernel, rows
        self._names = [p.name for p in kernel.outputs]
        self.found: NDArray[np.bool_] = np.zeros(len(rows["q"]), dtype=bool)
        self.outputs: dict[str, Array] = {p.name: np.zeros((len(rows["q"]), *p.shape)) for p in kernel.outputs}
        self._steps = np.zeros(len(rows["q"]))

    def run(self) -> None:
        """Fill ``outputs`` where something is ``found``; their steps are those of all attempts."""
        if not len(self.found):
            return
        if not self._calls.kernels.mechanism.implicit_legs:
            self._follow()
        self._scatter()
        self.outputs["steps"][self.found] = self._steps[self.found]

    def _follow(self) -> None:
        """Along the straight line of the coordinates, in steps that keep to one side and do not jump."""
        guess, goal = self._rows["pose"], self._rows["q"]
        start = self._asked("inverse_kinematics", np.arange(len(goal)), guess)[0]
        way = self._calls.kernels.mechanism.without_turns(goal - start)
        at, part, step = guess.copy(), np.zeros(len(goal)), np.full(len(goal), _STEP)
        walking: NDArray[np.bool_] = np.asarray(np.isfinite(start).all(axis=1))
        for _ in range(_MOST_STEPS):
            index = np.flatnonzero(walking)
            if not len(index):
                return
            there = np.minimum(1.0, part[index] + step[index])
            q = start[index] + there[:, None] * way[index]
            q[there == 1.0] = goal[index][there == 1.0]
            results = self._newton(index, q, at[index])
            good = (results["verdict"] == 0) & (self._distance(results["pose"], at[index]) < _FAR)
            moved = index[good]
            at[moved], part[moved] = results["pose"][good], there[good]
            step[moved] *= 2.0
            step[index[~good]] *= 0.25
            arrived = good & (there == 1.0)
            self._keep(index, results, arrived)
            walking[index[arrived]] = False
            walking &= step > _SMALLEST_STEP

    def _scatter(self) -> None:
        """From poses about the guess on its side; the pose found nearest to the guess is kept."""
        left = np.flatnonzero(~self.found)
        for first in range(0, len(left), _TOGETHER):
            self._from_starts(left[first : first + _TOGETHER])

    def _from_starts(self, index: NDArray[np.int64]) -> None:
        shifts = _shifts(self._calls.dof.count)
        rows, shift = np.repeat(index, len(shifts)), np.tile(shifts, (len(index), 1))
        pose, same = self._starts(rows, shift)
        results = self._newton(rows[same], self._rows["q"][rows[same]], pose[same])
        distance = np.full(len(rows), np.inf)
        away = self._distance(results["pose"], self._rows["pose"][rows[same]])
        distance[same] = np.where(results["verdict"] == 0, away, np.inf)
        best = np.argmin(distance.reshape(len(index), -1), axis=1) + np.arange(len(index)) * len(shifts)
        best = best[np.isfinite(distance[best])]
        used = np.cumsum(same)[best] - 1  # of the starts that were used
        self._keep(rows[best], {name: values[used] for name, values in results.items()}, np.ones(len(best), dtype=bool))

    def _starts(self, rows: NDArray[np.int64], shift: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Guesses displaced by shifts, halved while that is out of reach or on the other side; and which are good."""
        guess = self._rows["pose"]
        guessed = self._side(np.arange(len(guess)), guess)[rows]
        pose = self._shifted(guess[rows], shift)
        same = (self._side(rows, pose) == guessed) & (guessed >= 0)
        for part in 0.5 ** np.arange(1, HALVINGS + 1):
            other = np.flatnonzero(~same & (guessed >= 0))
            pose[other] = self._shifted(guess[rows[other]], part * shift[other])
            same[other] = self._side(rows[other], pose[other]) == guessed[other]
        return pose, same

    def _newton(self, index: NDArray[np.int64], q: Array, guess: Array) -> dict[str, Array]:
        given = {**self._at(index), "q": q, "pose": guess}
        results = self._kernel(*(np.ascontiguousarray(given[p.name]) for p in self._kernel.inputs))
        named = dict(zip(self._names, results, strict=True))
        np.add.at(self._steps, index, named["steps"])
        return named

    def _at(self, index: NDArray[np.int64]) -> dict[str, Array]:
        return {name: row[index] for name, row in self._rows.items()}

    def _keep(self, index: NDArray[np.int64], results: dict[str, Array], which: NDArray[np.bool_]) -> None:
        for name, values in results.items():
            self.outputs[name][index[which]] = values[which]
        self.found[index[which]] = True

    def _asked(self, name: str, index: NDArray[np.int64], pose: Array) -> tuple[Array, ...]:
        """Outputs of another kernel of the pose."""
        kernel = self._calls.kernels.get(name)
        given = {**self._at(index), "pose": pose}
        results: tuple[Array, ...] = kernel(*(np.ascontiguousarray(given[p.name]) for p in kernel.inputs))
        return results

    def _side(self, index: NDArray[np.int64], pose: Array) -> Array:
        """The side of all singularities that poses are on, as compiled code has it; -1 where legs do not close."""
        side, quality = self._asked("sides", index, pose)
        return np.where(quality > 0, side, -1.0)

    def _shifted(self, pose: Array, shift: Array) -> Array:
        """Poses (k, 4, 4) moved along the robot's degrees of freedom by ``shift`` (k, m) [sizes, rad]."""
        dof, own = self._calls.dof, self._calls.own
        amount = shift * np.where(dof.turns, 1.0, self._calls.size)
        if not dof.full:
            x = own.coordinates(pose) + amount
            return own.motion(x, np.zeros_like(x), np.zeros_like(x))[0]
        moved = pose.copy()
        moved[:, :3, 3] += amount[:, :3]
        moved[:, :3, :3] = rotation_from_vector(amount[:, 3:]) @ pose[:, :3, :3]
        return moved

    def _distance(self, first: Array, second: Array) -> Array:
        """How far poses are apart: the larger of shift [sizes of the platform] and turn [rad]."""
        shift = np.sqrt(((first[:, :3, 3] - second[:, :3, 3]) ** 2).sum(axis=1)) / self._calls.size
        cosine = 0.5 * ((first[:, :3, :3] * second[:, :3, :3]).sum(axis=(1, 2)) - 1.0)
        return np.maximum(shift, np.arccos(np.clip(cosine, -1.0, 1.0)))


@cache
def _shifts(m: int) -> Array:
    """Displacements (_STARTS, m) that fill a cube evenly, the small ones first."""
    number = np.arange(1, _STARTS + 1)[:, None]
    even = 2.0 * ((0.5 + number * fractions(m)) % 1.0) - 1.0
    return np.asarray(SPREAD * (number / _STARTS) ** (1 / 3) * even)
