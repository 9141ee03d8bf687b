"""A motion file's content, and the sampled task it stands for: motion of the platform and wrench on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, model_validator

from ..arrays import Array
from ..description.file_names import FileName
from ..description.quantities import Data, Number
from ..errors import InputError
from .contract import Motion, Trajectory
from .sampling import DEFAULT_RATE, sample_times
from .trajectories.base import AnyTrajectory
from .wrench import AnyWrench, Wrench

if TYPE_CHECKING:
    from ..model import Model


@dataclass(frozen=True)
class Task:
    """What a robot is to do: name, the platform's motion at n times, and the external wrench (n, 6) or None.

    ``trajectory`` and ``load`` give both at any other time: a flexible platform vibrates between the samples.
    """

    name: str
    motion: Motion
    wrench: Array | None = None
    trajectory: Trajectory | None = None
    load: Callable[[Motion], Array] | None = None

    def __repr__(self) -> str:
        load = "" if self.wrench is None else ", with a wrench"
        return f"Task({self.name!r}: {self.time[-1]:.4g} s, {len(self.time)} samples{load})"

    @staticmethod
    def of(
        name: str, trajectory: Trajectory, rate: float = DEFAULT_RATE, load: Callable[[Motion], Array] | None = None
    ) -> Task:
        """A trajectory, and the external wrench meanwhile, at the times of :func:`polypod.motion.sample_times`.

        ``load`` is a function of the motion that gives the wrench (n, 6) at the platform's origin, base axes; that of
        a :class:`Wrench` is its ``at``.
        """
        described = _described(load)
        breaks = () if described is None else described.breaks
        motion = trajectory.at(sample_times(trajectory, rate, breaks))
        return Task(name, motion, None if load is None else load(motion), trajectory, load)

    @property
    def time(self) -> Array:
        """Times (n,) [s]."""
        return self.motion.time

    @property
    def described_wrench(self) -> Wrench | None:
        """The :class:`Wrench` whose ``at`` is the ``load``; None without one, or for a function of a program's own."""
        return _described(self.load)


def _described(load: Callable[[Motion], Array] | None) -> Wrench | None:
    owner = getattr(load, "__self__", None)
    return owner if isinstance(owner, Wrench) else None


class MotionFile(Data):
    """A motion file: the platform's trajectory, how often it is sampled, and the external wrench meanwhile.

    ``rate`` is in samples per second; points of the motion are sampled beside, and what is shorter than the time
    between two samples is sampled more often. ``robot`` names the robot the motion is meant for, of the library or by a
    file beside this one; ``polypod run`` uses it if none is named there.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str = Field(min_length=1)
    title: str = ""
    robot: FileName | None = None
    rate: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1/s"})] = DEFAULT_RATE
    trajectory: AnyTrajectory
    wrench: AnyWrench | None = None

    @model_validator(mode="after")
    def _one_clock(self) -> MotionFile:
        if self.wrench is not None:
            try:
                wrench = self.wrench.on_clock(self.trajectory.clock or 0.0, self.trajectory.duration)
            except InputError as error:
                raise ValueError(f"wrench.{error}") from error
            self.__dict__["wrench"] = wrench
        return self

    def task(self, model: Model, rate: float | None = None) -> Task:
        """The motion sampled for a robot, at another rate if given."""
        load = None if self.wrench is None else self.wrench.at
        return Task.of(self.name, self.trajectory.for_model(model), self.rate if rate is None else rate, load)
