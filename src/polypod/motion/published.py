"""The motions that come with the library, as motion files: those of the papers, and one of every other robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from ..arrays import Array
from ..description.quantities import Number
from ..errors import InputError, UnknownNameError
from .contract import Motion, MotionExpansion, Peak, Trajectory
from .files import loads_motion
from .motion_file import MotionFile
from .trajectories.base import TrajectoryKind
from .trajectories.coordinates import IndependentCoordinates

if TYPE_CHECKING:
    from ..model import Model

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
    "delta-pick-and-place",
    "linear-delta-circle",
    "reachy-mini-look",
    "orthoglide-cube",
    "3-rps-tilt",
    "3-prs-tilt",
    "tricept-square",
    "five-bar-rectangle",
    "planar-3-rrr-square",
    "planar-4-rrr-square",
    "agile-eye-look",
    "ankle-step",
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
    """Name of the first published motion of a library robot; None if it has none."""
    # files that do not even mention the robot need not be read as motions
    return next((name for name in _NAMES if robot in _text(name) and PUBLISHED[name].robot == robot), None)
