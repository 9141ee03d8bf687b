"""All assembly modes of a robot: the poses with given coordinates, and what is known of each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from ..kernels import Kernel
from ..lazy import lazy
from ..mechanism import Mechanism
from ..platforms import DegreesOfFreedom
from .contract import Solutions
from .results import AssemblyModes, Completeness, Flags, Reachability
from .robots import pose_solver

_GUESSES = 400
"""Starts of Newton's iteration for robots without known equations."""
_SAME = 1e-6
"""Difference of poses, lengths in sizes of the platform, below which they are one."""
_SAMPLES, _FINEST = 64, 1024
"""Poses on a path from home to a mode, at first and at most."""
_PATHS = 32
"""Paths from home to a mode that are tried before it is unknown whether it is reachable."""


class Functions(Protocol):
    """Compiled functions of a robot by name."""

    robot: Robot
    mechanism: Mechanism

    def get(self, name: str, *, verdict: bool = False) -> Kernel:
        """The kernel of a function, with the verdict on each state if asked for."""


class Motions(Protocol):
    """Motions of a robot of fewer than six degrees of freedom."""

    def coordinates(self, poses: Array) -> Array:
        """Coordinates (n, m) of poses (n, 4, 4)."""

    def motion(self, x: Array, xdot: Array, xddot: Array) -> tuple[Array, Array, Array]:
        """Poses, twists and accelerations of coordinates (n, m) and their rates."""


class Assembly:
    """All poses of a robot with given coordinates; ``size`` is its platform's [m].

    ``from_home`` is forward kinematics of coordinates (n, k) with home as the guess: poses (n, 4, 4), NaN where none.
    """

    def __init__(
        self,
        functions: Functions,
        dof: DegreesOfFreedom,
        size: float,
        own: Motions,
        from_home: Callable[[Array], Array],
        within: Callable[[Array], Flags],
    ) -> None:
        self._kernels, self._dof, self.size, self.own, self._from_home = functions, dof, size, own, from_home
        self._within = within
        self.robot = functions.robot
        units = [a.unit for leg in functions.mechanism.placed for a in leg.placement.actuators]
        self._turning = np.array([unit == "rad" for unit in units])

    @lazy
    def _mode_solver(self) -> Callable[[Array], Solutions] | None:
        return pose_solver(self.robot, self._dof, self._kernels.mechanism.platform.is_constrained)

    def modes(self, rows: Array, reach: bool) -> AssemblyModes:
        """Modes of each of n rows of coordinates (n, k); ``reach`` looks for paths to them from home."""
        solve = self._mode_solver
        found = self._multistart(rows) if solve is None else solve(rows)
        pose, certified = _sorted(found, self.robot.home.matrix, self.size)
        flat = pose.reshape(-1, 4, 4)
        there = np.isfinite(flat[:, 0, 0])
        own, inside = self._on_own_branch(flat, np.repeat(rows, pose.shape[1], axis=0), there)
        reachable = _PathSearch(self).codes(flat, own, there, reach)
        complete = np.where(found.proven, Completeness.PROVEN, np.where(found.all_found, Completeness.ALL_FOUND, 0))
        if solve is None:
            complete = np.zeros(len(rows), dtype=np.int64)
        shape = pose.shape[:2]
        return AssemblyModes(
            pose,
            certified.reshape(shape),
            own.reshape(shape),
            inside.reshape(shape),
            reachable.reshape(shape),
            complete.astype(np.int64),
        )

    def _on_own_branch(self, pose: Array, q: Array, there: Flags) -> tuple[Flags, Flags]:
        """Which poses (k, 4, 4) have coordinates q by the model's own functions, and are within all limits."""
        own, inside = np.zeros(len(pose), dtype=bool), np.zeros(len(pose), dtype=bool)
        rows = np.flatnonzero(there)
        if not len(rows):
            return own, inside
        kernel = self._kernels.get("inverse_kinematics")
        values, quality = kernel(np.ascontiguousarray(pose[rows]))
        difference = values - q[rows]
        turning = self._turning
        difference[:, turning] = (difference[:, turning] + np.pi) % (2 * np.pi) - np.pi
        scale = np.where(turning, 1.0, self.size)
        with np.errstate(invalid="ignore"):
            own[rows] = (np.abs(difference) <= _SAME * scale).all(axis=1) & (quality > 0)
        rows = np.flatnonzero(own)
        if len(rows):
            inside[rows] = self._within(pose[rows])
        return own, inside

    def _multistart(self, q: Array) -> Solutions:
        """Poses (m, k, 4, 4) found by Newton's iteration from guesses around home and far from it, and from home."""
        guesses = self._guesses()
        kernel = self._kernels.get("forward_kinematics", verdict=True)
        m, g = len(q), len(guesses)
        rows = np.repeat(q, g, axis=0), np.tile(guesses, (m, 1, 1))
        outputs = dict(zip((p.name for p in kernel.outputs), kernel(*map(np.ascontiguousarray, rows)), strict=True))
        pose = outputs["pose"].reshape(m, g, 4, 4)
        pose[(outputs["verdict"] != 0).reshape(m, g)] = np.nan
        distinct = [_distinct(part, self.size) for part in np.concatenate([self._from_home(q)[:, None], pose], axis=1)]
        most = max((len(part) for part in distinct), default=0)
        found = np.full((m, most, 4, 4), np.nan)
        for k, part in enumerate(distinct):
            found[k, : len(part)] = part
        none = np.zeros(m, dtype=bool)
        return Solutions(found, np.zeros((m, most), dtype=bool), none, none)

    def _guesses(self) -> Array:
        """Poses (k, 4, 4) that the robot can take, from near home to as far as it reaches."""
        from scipy.spatial.transform import Rotation

        draw = np.random.default_rng(12)
        home = self.robot.home.matrix
        far = float(np.linalg.norm(home[:3, 3])) + self.robot.farthest
        width = far * np.linspace(0.05, 1.0, _GUESSES)
        if self._dof.full:
            pose = np.tile(home, (_GUESSES, 1, 1))
            pose[:, :3, 3] += width[:, None] * draw.uniform(-1, 1, (_GUESSES, 3))
            turns = Rotation.from_rotvec(np.pi * draw.uniform(-1, 1, (_GUESSES, 3)) * (width / far)[:, None])
            pose[:, :3, :3] = turns.as_matrix() @ home[:3, :3]
            return pose
        reach = np.where(self._dof.turns, np.pi * (width / far)[:, None], width[:, None])
        x = reach * draw.uniform(-1, 1, (_GUESSES, self._dof.count))
        x[0] = 0.0
        pose = self.own.motion(x, np.zeros_like(x), np.zeros_like(x))[0]
        return np.ascontiguousarray(pose[np.isfinite(pose).all(axis=(1, 2))])


def _distance(a: Array, b: Array, size: float) -> Array:
    """Difference of poses (..., 4, 4), lengths in sizes of the platform."""
    return np.asarray(
        np.abs(a[..., :3, 3] - b[..., :3, 3]).max(axis=-1) / size
        + np.abs(a[..., :3, :3] - b[..., :3, :3]).max(axis=(-2, -1))
    )


def _distinct(pose: Array, size: float) -> Array:
    """Poses (k, 4, 4) without NaN and repetitions."""
    there = pose[np.isfinite(pose[:, 0, 0])]
    same = _distance(there[:, None], there[None], size) < _SAME
    return there[~np.tril(same, -1).any(axis=1)]


def _sorted(found: Solutions, home: Array, size: float) -> tuple[Array, Flags]:
    """Poses and what is certified, those nearest to home first, without rows that no state fills."""
    away = np.nan_to_num(_distance(found.pose, home, size), nan=np.inf)
    order = np.argsort(away, axis=1, kind="stable")
    most = int(np.isfinite(away).sum(axis=1).max(initial=0))
    order = order[:, :most]
    pose = np.take_along_axis(found.pose, order[:, :, None, None], axis=1)
    return pose, np.take_along_axis(found.certified, order, axis=1)


class _PathSearch:
    """Looks for paths from home to poses along which the Jacobian stays regular."""

    def __init__(self, model: Assembly) -> None:
        self._model = model
        dof = model._dof
        rows = model._kernels.mechanism.joint_scales(model.size)
        self._scale = rows[:, None] * np.where(dof.turns, 1 / model.size, 1.0)
        self._square = len(model._turning) == dof.count

    def codes(self, pose: Array, own: Flags, there: Flags, look: bool) -> NDArray[np.int64]:
        """A ``Reachability`` for each pose (k, 4, 4)."""
        codes = np.full(len(pose), int(Reachability.UNKNOWN))
        # another working mode is beyond a singularity of a leg
        codes[there & ~own] = Reachability.NO
        rows = np.flatnonzero(own)
        if not len(rows):
            return codes
        if self._square:
            home = np.linalg.det(self._matrices(self._model.robot.home.matrix[None])[0])[0]
            sign = np.linalg.det(self._matrices(np.ascontiguousarray(pose[rows]))[0])
            codes[rows[sign * home < 0]] = Reachability.NO
        for row in rows[codes[rows] == Reachability.UNKNOWN] if look else ():
            if self._reached(pose[row]):
                codes[row] = Reachability.YES
        return codes

    def _matrices(self, pose: Array) -> tuple[Array, Array]:
        """Jacobians (k, n, m), rotations scaled, and the quality of the poses."""
        matrix, quality = self._model._kernels.get("jacobian")(pose)
        return matrix * self._scale, quality

    def _reached(self, pose: Array) -> bool:
        """Whether one of some paths is regular: the straight one first, then those over random poses in between."""
        draw, home = np.random.default_rng(3), self._model.robot.home.matrix
        for number in range(_PATHS):
            via = _between(home, pose, np.array([0.5]))[0]
            if number:
                via[:3, 3] += self._model.size * draw.normal(size=3) * 0.5 * (1 + number // 4)
                via[:3, :3] = _rotated(via[:3, :3], draw.normal(size=3) * 0.3 * (1 + number // 4))
            if self._regular([home, via, pose] if number else [home, pose]):
                return True
        return False

    def _regular(self, stops: list[Array]) -> bool:
        """Whether the Jacobian changes from sample to sample by less than its distance to singular matrices."""
        count = _SAMPLES
        while count <= _FINEST:
            part = np.linspace(0, 1, count)
            path = np.concatenate([_between(a, b, part) for a, b in itertools.pairwise(stops)])
            path = self._possible(path)
            if not _distance(path[-1], stops[-1], self._model.size) < _SAME:
                return False
            matrix, quality = self._matrices(np.ascontiguousarray(path))
            if not (np.isfinite(matrix).all() and (quality > 1e-6).all()):
                return False
            if self._square and np.ptp(np.sign(np.linalg.det(matrix))) > 0:
                return False
            smallest = np.linalg.svd(matrix, compute_uv=False)[:, -1]
            step = np.linalg.norm(np.diff(matrix, axis=0), axis=(1, 2))
            if (step < 0.5 * np.minimum(smallest[1:], smallest[:-1])).all():
                return True
            if smallest.min() < 1e-4 * smallest[0]:
                return False
            count *= 4
        return False

    def _possible(self, path: Array) -> Array:
        """Poses that the robot can take with the coordinates of these."""
        model = self._model
        if model._dof.full:
            return path
        x = model.own.coordinates(path)
        return model.own.motion(x, np.zeros_like(x), np.zeros_like(x))[0]


def _between(first: Array, last: Array, part: Array) -> Array:
    """Poses (k, 4, 4) at parts of the straight path, turning about one axis."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(last[:3, :3] @ first[:3, :3].T).as_rotvec()
    pose = np.tile(np.eye(4), (len(part), 1, 1))
    pose[:, :3, :3] = Rotation.from_rotvec(part[:, None] * turn).as_matrix() @ first[:3, :3]
    pose[:, :3, 3] = first[:3, 3] + part[:, None] * (last[:3, 3] - first[:3, 3])
    return pose


def _rotated(axes: Array, by: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(by).as_matrix() @ axes)
