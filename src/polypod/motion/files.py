"""Motion files: YAML in, with the line of every fault."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import ConfigDict, Field, model_validator

from ..arrays import Array
from ..description.file_names import FileName
from ..description.quantities import Data, Number
from ..description.units import in_si
from ..errors import Fault, InputError, MotionFileError, StateError
from ..files.documents import parse, read
from ..files.faults import line_of, validated
from ..yaml12 import to_yaml
from .checks import ROUNDING
from .contract import Motion, Trajectory
from .kinds import Kind
from .moving_base import ROBOTS_PART, MovingBase
from .moving_base import moving_base as sampled_base
from .paths.base import AnyPath
from .sampling import DEFAULT_RATE, sample_times
from .trajectories.base import AnyTrajectory, Placed
from .trajectories.internal import with_internal
from .wrench import AnyWrench, Wrench

if TYPE_CHECKING:
    from ..model import Model


_OF_THE_MOTION = ("pose", "twist", "acceleration", "wrench", "trajectory", "base", "internal", "rate", "name")
"""Names of fields and arguments that a motion gives; a fault of anything else is not the motion's."""


def load_motion(path: str | Path) -> MotionFile:
    """Read a motion file.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    MotionFile
        The motion.

    Raises
    ------
    MotionFileError
        If the file has faults: all of them, with their lines.
    """
    path = Path(path)
    return loads_motion(read(path, MotionFileError), str(path), path.parent)


def loads_motion(text: str, origin: str = "text", folder: str | Path = ".") -> MotionFile:
    """Read a motion from YAML text.

    Parameters
    ----------
    text : str
        Text of a motion file.
    origin : str, optional
        What messages call it.
    folder : str or Path, optional
        Folder from which relative names of CSV files start.

    Returns
    -------
    MotionFile
        The motion.

    Raises
    ------
    MotionFileError
        If the text has faults: all of them, with their lines.

    Examples
    --------
    >>> text = "{name: up, trajectory: {kind: coordinates, path: {kind: line, start: 0, end: 0.1, duration: 2}}}"
    >>> loads_motion(text).trajectory.path.at([0.0, 1.0, 2.0]).x
    array([0.  , 0.05, 0.1 ])
    """
    return validated(MotionFile, text, origin, MotionFileError, folder)


def dumps_motion(motion: MotionFile) -> str:
    """Write a motion file as YAML text that ``loads_motion`` reads back to the same motion.

    Parameters
    ----------
    motion : MotionFile
        The motion.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> print(dumps_motion(loads_motion("{name: a, trajectory: {kind: published, name: kim-ryu-circle, pace: 2}}")))
    name: a
    trajectory: {kind: published, name: kim-ryu-circle, pace: 2.0}
    <BLANKLINE>
    """
    return to_yaml(_document("", motion), flow=None)


def _document(field: str, value: Any) -> Any:
    """Data as a file writes it: kinds by name, and what differs from the default."""
    if isinstance(value, Data):
        kind = value.model_dump(include={"kind"}) if isinstance(value, Kind) else {}
        fields = {name: getattr(value, name) for name in type(value).model_fields if name != "kind"}
        given = {name: part for name, part in fields.items() if part != type(value).model_fields[name].get_default()}
        return kind | {name: _document(f"{field}.{name}".strip("."), part) for name, part in given.items()}
    if isinstance(value, Trajectory):
        raise InputError(
            f"{field}: {type(value).__name__} is a trajectory defined in Python; a file can only contain those "
            "with a kind"
        )
    if isinstance(value, tuple):
        return [_document(field, item) for item in value]
    return float(value) if isinstance(value, float) else value


@contextmanager
def with_motion_lines(motion: object) -> Iterator[None]:
    """Context in which errors that a motion file causes are reported with its file and line.

    Faults of the robot pass unchanged.

    Parameters
    ----------
    motion : object
        The motion; only a path of a file has lines.

    Yields
    ------
    None
        Nothing.

    Raises
    ------
    MotionFileError
        If the motion asks for what the robot cannot do.
    """
    try:
        yield
    except (InputError, StateError) as error:
        if not isinstance(motion, (str, Path)) or not os.path.isfile(motion) or not _is_motions(error):
            raise
        fault = motion_fault(motion, error)
        if isinstance(error, StateError):  # the file is in order, this robot cannot follow it
            place = f"{motion}, line {fault.line}: {fault.field}"
            raise StateError(f"{error} ({place})", error.index, error.reasons, error.result, error.time) from error
        raise MotionFileError(str(motion), [fault]) from error


def _is_motions(error: InputError | StateError) -> bool:
    """Whether a motion is to blame for an error: it names a time, or what the motion gives."""
    if isinstance(error, StateError):
        return error.time is not None
    named = str(error).partition(":")[0].partition(".")[0]
    return named in _OF_THE_MOTION


def motion_fault(path: str | Path, error: InputError | StateError) -> Fault:
    """What a robot cannot do of a motion file, with the line: that of the pose it moves to, or of the field named.

    A fault of the robot itself is reported at the line that names the robot (the first line if none does).

    Parameters
    ----------
    path : str or Path
        The motion file.
    error : InputError or StateError
        What the model reported.

    Returns
    -------
    Fault
        Field, message and line.
    """
    document, node = parse(read(Path(path), MotionFileError), str(path), MotionFileError, "a mapping")
    if not _is_motions(error):
        return Fault("robot", str(error), line_of("robot", node), error.code)
    named, _, message = str(error).partition(": ")
    field = "trajectory"
    if isinstance(error, StateError):
        poses = document["trajectory"].get("poses") or []
        times = [float(in_si(pose["time"], "s")) for pose in poses]
        k = next((k for k, time in enumerate(times) if error.time is not None and time >= error.time), None)
        field, message = field if k is None else f"trajectory.poses.{k}", str(error)
        if error.time == 0.0 and document["trajectory"].get("relative_to", "base") == "base":
            message += "; positions are in the base frame here: write 'relative_to: home' if they are meant from home"
    elif named.partition(".")[0] in document:
        field = named
    else:
        message = str(error)
    return Fault(field, message, line_of(field, node), error.code)


# ----------------------------------------------------------------------------------------------------------------------
# A motion file's content, and the sampled task it stands for: motion of the platform and wrench on it.


@dataclass(frozen=True)
class Task:
    """What a robot is to do: a sampled motion and the external wrench meanwhile.

    Attributes
    ----------
    name : str
        Name of the task.
    motion : Motion
        Motion of the platform at n times.
    wrench : ndarray, shape (n, 6), or None
        External wrench at the origin of {P}, base axes [N, N m].
    trajectory : Trajectory or None
        The motion at any other time: a flexible platform vibrates between the samples.
    load : callable or None
        Gives the wrench (n, 6) for a ``Motion``.
    base : MovingBase or None
        Motion of the base at the n times; None if it stands still.
    base_trajectory : Trajectory or None
        The motion of the base in space at any other time.
    """

    name: str
    motion: Motion
    wrench: Array | None = None
    trajectory: Trajectory | None = None
    load: Callable[[Motion], Array] | None = None
    base: MovingBase | None = None
    base_trajectory: Trajectory | None = None

    def __repr__(self) -> str:
        load = "" if self.wrench is None else ", with a wrench"
        moving = "" if self.base is None else ", on a moving base"
        return f"Task({self.name!r}: {self.time[-1]:.4g} s, {len(self.time)} samples{load}{moving})"

    @property
    def base_arguments(self) -> dict[str, Any]:
        """``base_twist`` and ``base_acceleration`` as dynamic calls of a model take them; empty if it stands still."""
        if self.base is None:
            return {}
        return {"base_twist": self.base.twist, "base_acceleration": self.base.acceleration}

    @staticmethod
    def of(
        name: str,
        trajectory: Trajectory,
        rate: float = DEFAULT_RATE,
        load: Callable[[Motion], Array] | None = None,
        base: Trajectory | None = None,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> Task:
        """Sample a trajectory and a wrench at the times of ``polypod.motion.sample_times``.

        Parameters
        ----------
        name : str
            Name of the task.
        trajectory : Trajectory
            Motion of the platform.
        rate : float, optional
            Sampling rate [Hz].
        load : callable, optional
            Gives the wrench (n, 6) at the origin of {P}, base axes, for a ``Motion``; for a ``Wrench`` it is its
            ``at``.
        base : Trajectory, optional
            Motion of the base in space. Default: it stands still.
        gravity : array_like, shape (3,), optional
            Acceleration of gravity in space, as the robot file gives it; a base that turns needs it.

        Returns
        -------
        Task
            The task.
        """
        described = _described(load)
        breaks = () if described is None else described.breaks
        if base is None:
            motion = trajectory.at(sample_times(trajectory, rate, breaks))
            return Task(name, motion, None if load is None else load(motion), trajectory, load)
        times = sample_times(trajectory, rate, np.concatenate([breaks, sample_times(base, rate)]))
        motion, moving = trajectory.at(times), sampled_base(base, times, np.asarray(gravity, dtype=float))
        return Task(name, motion, None if load is None else load(motion), trajectory, load, moving, base)

    @property
    def time(self) -> Array:
        """Times (n,) [s]."""
        return self.motion.time

    @property
    def described_wrench(self) -> Wrench | None:
        """The ``Wrench`` whose ``at`` is the ``load``; None without one, or for a function of a program's own."""
        return _described(self.load)


def _described(load: Callable[[Motion], Array] | None) -> Wrench | None:
    owner = getattr(load, "__self__", None)
    return owner if isinstance(owner, Wrench) else None


class MotionFile(Data):
    """A motion file: the platform's trajectory, how often it is sampled, and the external wrench meanwhile.

    ``rate`` is in samples per second; points of the motion are sampled beside, and what is shorter than the time
    between two samples is sampled more often. ``robot`` names the robot the motion is meant for, of the library or by a
    file beside this one; ``polypod run`` uses it if none is named there. ``base`` is the motion of the base itself in
    space (a ship, a truck, a centrifuge), a trajectory as long as that of the platform, which stays relative to it;
    gravity is that of the robot file where the pose of the base is the identity. ``internal`` is a path of the robot's
    internal coordinates, as long as the motion of the platform; they stay at home without it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str = Field(min_length=1)
    title: str = ""
    robot: FileName | None = None
    rate: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1/s"})] = DEFAULT_RATE
    trajectory: AnyTrajectory
    wrench: AnyWrench | None = None
    base: AnyTrajectory | None = None
    internal: AnyPath | None = None

    @model_validator(mode="after")
    def _moves_in_space(self) -> MotionFile:
        if self.base is None:
            return self
        if not isinstance(self.base, Placed) or self.base.relative_to != "base":
            raise ValueError(f"base.kind: {ROBOTS_PART}")
        if abs(self.base.duration - self.trajectory.duration) > ROUNDING * self.trajectory.duration:
            raise ValueError(
                f"base: must last as long as the motion of the platform ({self.trajectory.duration:.6g} s), got "
                f"{self.base.duration:.6g} s"
            )
        return self

    @model_validator(mode="after")
    def _one_clock(self) -> MotionFile:
        if self.wrench is not None:
            try:
                wrench = self.wrench.on_clock(self.trajectory.clock or 0.0, self.trajectory.duration)
            except InputError as error:
                raise ValueError(f"wrench.{error}") from error
            self._complete(wrench=wrench)
        return self

    def task(self, model: Model, rate: float | None = None, moving_base: bool = False) -> Task:
        """The motion sampled for a robot.

        Parameters
        ----------
        model : Model
            Model of the robot.
        rate : float, optional
            Sampling rate [Hz]. Default: that of the file.
        moving_base : bool, optional
            Whether what the task is for takes a base that moves; otherwise such a motion is refused.

        Returns
        -------
        Task
            Motion and wrench at the samples.
        """
        load = None if self.wrench is None else self.wrench.at
        base = None
        if self.base is not None:
            if not moving_base:
                raise InputError(
                    f"base: the base moves in {self.name!r}, which only 'polypod run', 'polypod check', 'polypod "
                    "simulate', polypod.study and polypod.simulate take; leave 'base' out of the motion",
                    code="moving_base",
                )
            assert isinstance(self.base, Placed)
            base = self.base.with_convention(model.robot.euler)
        trajectory = with_internal(self.trajectory.for_model(model), self.internal, model)
        gravity = model.robot.gravity
        return Task.of(self.name, trajectory, self.rate if rate is None else rate, load, base, gravity)
