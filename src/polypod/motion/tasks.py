"""Which motion is meant: a file, a published name, or a small one about home if none is named."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from ..arrays import Array
from ..description.poses import rotation_from_vector
from ..description.quantities import Number
from ..description.robot import implausibly_far
from ..errors import ImplausibleWarning, InputError, UnknownNameError
from ..files.faults import merge_sentences
from ..model.results import suspected_unit_errors
from .contract import Motion, MotionExpansion, Peak, Trajectory
from .files import MotionFile, Task, load_motion, loads_motion
from .paths import Through
from .trajectories import IndependentCoordinates, Poses
from .trajectories.base import TrajectoryKind

if TYPE_CHECKING:
    from ..model import Model


AROUND_HOME = "around-home"
_REACH = 0.1  # of the platform's size, and in rad
_SPAN = 0.5  # s from one pose to the next
_WANTED = "a published motion's name, a motion file or its path, or a trajectory"


def find_motion(model: Model, motion: MotionFile | Trajectory | str | Path | None = None) -> MotionFile:
    """Content of the motion file that is meant: what ``make_task`` samples, named in the same way.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : MotionFile, Trajectory, str or Path, optional
        Motion: a motion file or its path, a trajectory, the name of a published motion, or ``around-home``. Default:
        the robot's own motion.

    Returns
    -------
    MotionFile
        The motion.

    Raises
    ------
    UnknownNameError
        If there is no motion of that name.
    """
    if isinstance(motion, Trajectory):
        return MotionFile(name=getattr(motion, "kind", type(motion).__name__), trajectory=motion)
    if motion is None:
        motion = default_motion(model.robot.name) or AROUND_HOME
    if isinstance(motion, MotionFile):
        return motion
    if not isinstance(motion, (str, Path)):
        raise InputError(f"motion: must be {_WANTED}, got {motion!r}")
    if motion == AROUND_HOME:
        return MotionFile(name=AROUND_HOME, trajectory=_around_home(model))
    return _read(motion)


def make_task(
    model: Model,
    motion: MotionFile | Trajectory | str | Path | None = None,
    rate: float | None = None,
    moving_base: bool = False,
) -> Task:
    """The task of a robot: its motion and the external wrench, sampled.

    A published motion on a robot that is neither the paper's nor named after it gives a warning.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : MotionFile, Trajectory, str or Path, optional
        Motion: a motion file or its path, a trajectory, the name of a published motion, or ``around-home``. Default:
        the robot's own motion.
    rate : float, optional
        Sampling rate [Hz]. Default: that of the file.
    moving_base : bool, optional
        Whether what the task is for takes a base that moves; otherwise such a motion is refused.

    Returns
    -------
    Task
        Motion and wrench at the samples.

    Raises
    ------
    UnknownNameError
        If there is no motion of that name.

    Examples
    --------
    >>> import polypod as pp
    >>> task = make_task(pp.Model("kim-ryu"), rate=100.0)
    >>> task.name, len(task.time)
    ('kim-ryu-circle', 151)
    """
    meant = find_motion(model, motion)
    if isinstance(meant.trajectory, Published):
        _warn_if_another_robot(meant.trajectory.name, model.robot.name)
    task = meant.task(model, rate, moving_base)
    if isinstance(motion, Trajectory) or meant.name == AROUND_HOME:
        return task
    _warn_if_far(task, model)
    return task


def _warn_if_far(task: Task, model: Model) -> None:
    """Positions far beyond the robot are hardly meant: millimetres where metres are needed."""
    far = implausibly_far(model.robot, task.motion.pose[:, :3, 3])
    if far is not None:
        warnings.warn(f"motion {task.name!r} goes {far}", ImplausibleWarning, stacklevel=3)


def _read(motion: str | Path) -> MotionFile:
    """The motion file of a path; for a published name one that speaks of it."""
    path = Path(motion)
    if isinstance(motion, Path) or path.suffix or path.name != motion:
        return load_motion(path)
    if motion not in PUBLISHED:
        beside = [motion + end for end in (".yaml", ".yml") if os.path.isfile(motion + end)]
        raise UnknownNameError("motion", motion, (*beside, *PUBLISHED, AROUND_HOME))
    return PUBLISHED[motion].model_copy(update={"trajectory": Published(name=motion)})


def _warn_if_another_robot(motion: str, robot: str) -> None:
    meant = PUBLISHED[motion].robot
    if robot != meant and not robot.startswith(f"{meant}-"):
        text = f"motion {motion!r} is meant for robot {meant!r}, not for {robot!r}"
        warnings.warn(text, ImplausibleWarning, stacklevel=3)


def around_home(model: Model) -> Trajectory:
    """A motion of each degree of freedom in turn there and back about home, which any robot can make.

    The amplitude is a tenth of the platform's size or 0.1 rad, 0.5 s each way, and is halved until all poses lie within
    the robot's limits.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    Trajectory
        The motion.
    """
    return _around_home(model).for_model(model)


def _around_home(model: Model) -> Trajectory:
    """The same as a file states it: a robot of fewer degrees of freedom moves along its generalized coordinates."""
    at_home = model.joint_ranges(model.robot.home.matrix)
    if not at_home.ok:
        unit_errors = suspected_unit_errors(at_home)
        broken = "; ".join(unit_errors or merge_sentences(at_home.violations()))
        advice = "" if unit_errors else "; move home, correct the limits, or give a motion"
        raise InputError(f"around-home: home itself is outside the limits of {model.robot.name!r}: {broken}{advice}")
    for shrink in range(12):
        offsets = _offsets(model, 0.5**shrink)
        poses = _poses(model, offsets)
        closes = np.isfinite(poses).all() and np.isfinite(model.inverse_kinematics(poses, errors="nan")).all()
        if closes and model.joint_ranges(poses).ok:
            break
    else:
        raise InputError(
            f"around-home: no motion about home, however small, stays within the limits of {model.robot.name!r}; "
            "move home away from them, correct them, or give a motion"
        )
    times = _SPAN * np.arange(len(offsets))
    if model.robot.dof:
        return IndependentCoordinates(path=Through(points=offsets, times=times))
    return Poses.through(poses, times)


def _offsets(model: Model, scale: float) -> Array:
    """Home, one degree of freedom off, home, the next off, ..., home: (2 m + 1, m)."""
    size = model.robot.platform_size
    own = [coordinate.motion == "rotation" for coordinate in model.robot.dof]
    turning = np.array(own or [False] * 3 + [True] * 3)
    offsets = np.zeros((2 * len(turning) + 1, len(turning)))
    offsets[1::2] = np.diag(scale * np.where(turning, _REACH, _REACH * size))
    return offsets


def _poses(model: Model, offsets: Array) -> Array:
    if model.robot.dof:
        return model.motion(offsets, errors="nan").pose
    home = model.robot.home.matrix
    poses = np.tile(home, (len(offsets), 1, 1))
    poses[:, :3, 3] += offsets[:, :3]
    poses[:, :3, :3] = rotation_from_vector(offsets[:, 3:]) @ home[:3, :3]
    return poses


# ----------------------------------------------------------------------------------------------------------------------
# The motions that come with the library, as motion files: those of the papers, and one of every other robot.

_NAMES = (
    "pedrammehr-path-2",
    "pedrammehr-path-1",
    "pedrammehr-path-3",
    "kim-ryu-circle",
    "kim-ryu-acceleration",
    "lopes-there-and-back",
    "staicu-path",
    "long-example",
    "hexapod-tour",
    "screw-hexapod-align",
    "delta-pick-and-place",
    "delta-4-pick-and-place",
    "delta-wrist-tilt",
    "par4-pick-and-place",
    "par4-geared-pick-and-turn",
    "linear-delta-circle",
    "reachy-mini-look",
    "orthoglide-cube",
    "3-rps-tilt",
    "3-prs-tilt",
    "tricept-square",
    "five-bar-rectangle",
    "planar-3-rrr-square",
    "planar-4-rrr-square",
    "cogiro-pick-and-place",
    "ipanema-square",
    "planar-4-cable-square",
    "cable-camera-flight",
    "agile-eye-look",
    "ankle-step",
    "ankle-g1-step",
    "ankle-tiangong-step",
    "motion-platform-ride",
    "flexure-hexapod-scan",
    "spring-ankle-lean",
)
"""One file each; the first of a robot is what it does unless another motion is named."""


class _Library(Mapping[str, MotionFile]):
    """The motion files by name, each read when it is asked for."""

    def __getitem__(self, name: str) -> MotionFile:
        if name not in _NAMES:
            raise UnknownNameError("motion", name, _NAMES)
        return _file(name)

    def __contains__(self, name: object) -> bool:
        return name in _NAMES

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


@cache
def _file(name: str) -> MotionFile:
    return loads_motion(_text(name), f"{name}.yaml")


@cache
def _text(name: str) -> str:
    return (files(__package__) / "library" / f"{name}.yaml").read_text(encoding="utf-8")


PUBLISHED: Mapping[str, MotionFile] = _Library()


@dataclass(frozen=True, eq=False)
class Paced(Trajectory):
    """Another trajectory, ``pace`` times as fast: x(pace t), pace xdot, pace^2 xddot."""

    original: Trajectory
    pace: float

    @property
    def duration(self) -> float:
        return self.original.duration / self.pace

    @property
    def pieces(self) -> Array:
        return self.original.pieces / [self.pace, self.pace, 1.0]

    @property
    def peak(self) -> Peak | None:
        peak = self.original.peak
        if peak is None:
            return None
        velocity, turning, own = peak
        return Peak(self.pace * velocity, self.pace * turning, None if own is None else self.pace * own)

    def expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        found = self.original.expansion(self.pace * t, self.pace * half)
        if found is None:
            return None
        return found._replace(derivatives=found.derivatives * (self.pace ** np.arange(5.0))[:, None, None])

    def evaluate(self, t: Array) -> Motion:
        motion = self.original.at(self.pace * t)
        return Motion(t, motion.pose, self.pace * motion.twist, self.pace**2 * motion.acceleration)

    def for_model(self, model: Model) -> Trajectory:
        return Paced(self.original.for_model(model), self.pace)


class Published(TrajectoryKind):
    """A motion of the library, by name, ``pace`` times as fast."""

    kind: Literal["published"] = "published"
    name: str
    pace: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1"})] = 1.0

    _motion: Paced = PrivateAttr()

    def prepare(self, folder: object) -> None:
        if self.name not in PUBLISHED:
            raise InputError(f"name: {UnknownNameError('motion', self.name, _NAMES)}")
        self._motion = Paced(PUBLISHED[self.name].trajectory, self.pace)

    @property
    def duration(self) -> float:
        return self._motion.duration

    @property
    def pieces(self) -> Array:
        return self._motion.pieces

    def evaluate(self, t: Array) -> Motion:
        return self._motion.evaluate(t)

    def for_model(self, model: Model) -> Trajectory:
        original = self._motion.original
        if isinstance(original, IndependentCoordinates) and len(model.robot.dof) != original.path.count:
            raise InputError(
                f"trajectory.name: {self.name} moves the {original.path.count} coordinates of "
                f"{PUBLISHED[self.name].robot!r}, which {model.robot.name!r} does not have"
            )
        return self._motion.for_model(model)


def default_motion(robot: str) -> str | None:
    """Name of the first published motion of a library robot.

    Parameters
    ----------
    robot : str
        Name of the robot.

    Returns
    -------
    str or None
        Name of the motion; None if the robot has none.
    """
    # files that do not even mention the robot need not be read as motions
    return next((name for name in _NAMES if robot in _text(name) and PUBLISHED[name].robot == robot), None)
