"""Motions of the platform in a motion file, one class a kind; some need the robot's convention, home or freedoms."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, model_validator
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from .. import trajectories as tr
from ..description import Robot
from ..description.quantities import Angles, Data, Direction, Position
from ..description.quantities import Rotation as RotationMatrix
from ..errors import InputError, UnknownNameError
from ..mechanism import Freedoms
from ..model.freedoms import platform_motion
from .laws import QUINTIC, Law
from .parts import Array, Part, Seconds, folder_of, parser
from .paths import AnyPath, PathData
from .published import PUBLISHED, published
from .tables import table_field


@dataclass(frozen=True, eq=False)
class CoordinateMotion(tr.Trajectory):
    """A lower-mobility robot's motion from a path of its own coordinates."""

    duration: float
    path: tr.Path
    freedoms: Freedoms

    def evaluate(self, t: Array) -> tr.Motion:
        shape = (*t.shape, self.freedoms.count)
        x = (a.reshape(-1, self.freedoms.count) for a in self.path.evaluate(t))
        pose, twist, acceleration = platform_motion(self.freedoms, *x)
        lead = shape[:-1]
        return tr.Motion(t, pose.reshape(*lead, 4, 4), twist.reshape(*lead, 6), acceleration.reshape(*lead, 6))


@dataclass(frozen=True, eq=False)
class _FromHome(tr.Trajectory):
    """p = p_home + p(t), R = R(t) R_home."""

    duration: float
    inner: tr.Trajectory
    home: Array

    def evaluate(self, t: Array) -> tr.Motion:
        motion = self.inner.evaluate(t)
        pose = motion.pose.copy()
        pose[..., :3, 3] += self.home[:3, 3]
        pose[..., :3, :3] = pose[..., :3, :3] @ self.home[:3, :3]
        return motion._replace(pose=pose)


class PlatformData(Part[tr.Trajectory]):
    """A motion of the platform."""

    registry: ClassVar[dict[str, type[Part[Any]]]] = {}
    what: ClassVar[str] = "trajectory"

    @abstractmethod
    def trajectory(self, robot: Robot) -> tr.Trajectory:
        """The motion for a robot."""


class _Placed(PlatformData):
    """``relative_to: home`` counts positions and turns from the robot's home pose."""

    relative_to: Literal["base", "home"] = "base"

    def trajectory(self, robot: Robot) -> tr.Trajectory:
        motion = self.absolute(robot)
        return motion if self.relative_to == "base" else _FromHome(motion.duration, motion, robot.home.matrix)

    @abstractmethod
    def absolute(self, robot: Robot) -> tr.Trajectory:
        """The motion as the file writes it."""


class Euler(_Placed, kind="euler"):
    """Six coordinates [x y z a1 a2 a3]; angles in the order of ``convention`` (default: the robot's)."""

    path: AnyPath
    convention: str | None = None

    @model_validator(mode="after")
    def _six(self) -> Euler:
        if self.path.path.shape != (6,):
            got = _count(self.path.path)
            raise ValueError(f"path: needs six coordinates, x y z and three angles, got {got}{self._stacked(got)}")
        if self.convention is not None:
            tr.euler_motion(self.path.path, self.convention)
        return self

    def _stacked(self, count: int) -> str:
        """How a path of positions alone is made one of six coordinates."""
        if count != 3:
            return ""
        kind, duration = self.path.kind, self.path.path.duration
        rest = f"{{kind: rest, point: [0, 0, 0], duration: {duration:.12g}}}"
        return f"; for angles that stay write path: {{kind: stack, parts: [{{kind: {kind}, ...}}, {rest}]}}"

    def absolute(self, robot: Robot) -> tr.Trajectory:
        return tr.euler_motion(self.path.path, self.convention or robot.euler)


class Axis(_Placed, kind="axis"):
    """The origin on a ``position`` path (3), turning by an ``angle`` path about a fixed base ``axis``."""

    position: AnyPath
    axis: Direction
    angle: AnyPath
    rotation: RotationMatrix | None = None
    _motion: tr.Trajectory = PrivateAttr()

    @model_validator(mode="after")
    def _build(self) -> Axis:
        self._motion = tr.axis_motion(self.position.path, self.axis, self.angle.path, self.rotation)
        return self

    def absolute(self, robot: Robot) -> tr.Trajectory:
        return self._motion


class Waypoint(Data):
    """A pose and when it is reached; ``angles`` in the order of the convention."""

    time: Seconds
    position: Position
    angles: Angles = (0.0, 0.0, 0.0)


class Poses(_Placed, kind="poses"):
    """Through poses, with one law between each two, turning about one axis from pose to pose.

    Written out, or from a CSV file with the columns time, three positions and three angles.
    """

    poses: tuple[Waypoint, ...] = ()
    csv: str | None = None
    law: Law = QUINTIC
    convention: str | None = None
    _table: tuple[Array, Array] = PrivateAttr()

    @model_validator(mode="after")
    def _build(self, info: ValidationInfo) -> Poses:
        if bool(self.poses) == (self.csv is not None):
            raise ValueError("poses: give poses or csv, not both" if self.poses else "poses: missing: poses or csv")
        if self.csv is None:
            self._check_times()
            rows = [(*p.position, *p.angles) for p in self.poses]
            self._table = np.array([p.time for p in self.poses]), np.array(rows)
        else:
            names, times, rows_ = table_field(folder_of(info), self.csv)
            if len(names) != 6:
                raise InputError(f"csv: {self.csv}: needs time, 3 positions and 3 angles, got time, {', '.join(names)}")
            turned = float(np.abs(rows_[:, 3:]).max())
            if turned > math.pi + 1e-9:
                raise InputError(
                    f"csv: {self.csv}: a pose is turned by at most half a turn (3.1416 rad), got {turned:g} rad; write "
                    f"'{names[3]} [deg]' in the header if degrees are meant"
                )
            self._table = times - times[0], rows_
        self._motion("xyz" if self.convention is None else self.convention)
        return self

    def _check_times(self) -> None:
        """Faults at the pose that has them."""
        if len(self.poses) < 2:
            raise ValueError("poses: two poses at least are needed, where it starts and where it ends, got 1")
        times = [pose.time for pose in self.poses]
        if times[0] != 0.0:
            raise ValueError(f"poses.0.time: the first pose is at 0 s, got {times[0]:g}")
        for k, (before, after) in enumerate(pairwise(times), 1):
            if not after > before:
                raise ValueError(
                    f"poses.{k}.time: must be later than the pose before, got {after:g} after {before:g} s"
                )

    def _motion(self, convention: str) -> tr.Trajectory:
        if convention not in tr.CONVENTIONS:
            raise InputError(f"convention: must be one of {', '.join(tr.CONVENTIONS)}, got {convention!r}")
        times, rows = self._table
        matrices = np.tile(np.eye(4), (len(rows), 1, 1))
        matrices[:, :3, 3] = rows[:, :3]
        matrices[:, :3, :3] = Rotation.from_euler(convention, rows[:, 3:]).as_matrix()
        return tr.pose_motion(matrices, times, self.law.between())

    def absolute(self, robot: Robot) -> tr.Trajectory:
        return self._motion(self.convention or robot.euler)


def _count(path: tr.Path) -> int:
    """How many coordinates a path has."""
    return int(np.prod(path.shape, dtype=int))


class OwnCoordinates(PlatformData, kind="coordinates"):
    """A path of a lower-mobility robot's own coordinates, in the order of its ``freedoms``."""

    path: AnyPath

    def trajectory(self, robot: Robot) -> tr.Trajectory:
        if not robot.freedoms:
            raise InputError(f"trajectory.kind: {robot.name!r} has six freedoms and no coordinates; use euler or poses")
        names = [f.name for f in robot.freedoms]
        if self.path.path.shape != (len(names),):
            got = _count(self.path.path)
            raise InputError(f"trajectory.path: needs the {len(names)} coordinates {', '.join(names)}, got {got}")
        return CoordinateMotion(self.path.path.duration, self.path.path, Freedoms(robot))


class Published(PlatformData, kind="published"):
    """A motion of one of the papers, by name."""

    name: str

    @model_validator(mode="after")
    def _known(self) -> Published:
        if self.name not in PUBLISHED:
            raise ValueError(f"name: {UnknownNameError('motion', self.name, tuple(PUBLISHED))}")
        return self

    def trajectory(self, robot: Robot) -> tr.Trajectory:
        made = published(self.name)
        if isinstance(made, tr.Path):
            if len(robot.freedoms) != _count(made):
                entry = PUBLISHED[self.name]
                raise InputError(
                    f"trajectory.name: {self.name} moves the {_count(made)} coordinates of {entry.robot!r}, which "
                    f"{robot.name!r} does not have"
                )
            return OwnCoordinates.model_construct(path=_Made(made)).trajectory(robot)
        return made


@dataclass(frozen=True)
class _Made:
    path: tr.Path


def _not_a_trajectory(kind: str) -> str:
    """Where a kind of path belongs that stands for the whole motion."""
    if kind not in PathData.registry:
        return ""
    rest = "{kind: rest, point: [0, 0, 0], duration: ...}"
    if kind in ("stack", "piecewise", "sum"):
        use = f"trajectory: {{kind: euler, path: {{kind: {kind}, ...}}}}"
    else:
        use = f"trajectory: {{kind: euler, path: {{kind: stack, parts: [{{kind: {kind}, ...}}, {rest}]}}}}"
    return (
        f"a kind of path, which a trajectory takes inside: {use} for a position with angles that stay, or position: "
        f"{{kind: {kind}, ...}} in kind: axis. Kinds of trajectory: {', '.join(PlatformData.registry)}"
    )


AnyTrajectory = Annotated[PlatformData, BeforeValidator(parser(PlatformData, _not_a_trajectory)), Field()]
