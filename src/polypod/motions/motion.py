"""A motion file's content, and the sampled task it stands for: motion of the platform and wrench on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from .. import trajectories as tr
from ..description import Robot
from ..description.quantities import Data, Number
from ..errors import InputError
from .parts import Array
from .platform import AnyTrajectory
from .wrench import Wrench

MOST_SAMPLES = 2_000_000
"""More are a slip of a digit rather than a wish: they would take gigabytes."""
DEFAULT_RATE = 200.0


@dataclass(frozen=True)
class Task:
    """What a robot is to do: name, the platform's motion at n times, and the external wrench (n, 6) or None.

    ``trajectory`` and ``load`` give both at any other time: a flexible platform vibrates between the samples.
    """

    name: str
    motion: tr.Motion
    wrench: Array | None = None
    trajectory: tr.Trajectory | None = None
    load: Callable[[tr.Motion], Array] | None = None

    @staticmethod
    def of(
        name: str,
        trajectory: tr.Trajectory,
        rate: float | None = None,
        load: Callable[[tr.Motion], Array] | None = None,
    ) -> Task:
        """A trajectory, and what pushes meanwhile, at ``rate`` samples a second."""
        motion = sampled(trajectory, DEFAULT_RATE if rate is None else rate)
        return Task(name, motion, None if load is None else load(motion), trajectory, load)

    @property
    def time(self) -> Array:
        """Times (n,) [s]."""
        return self.motion.time


def sampled(trajectory: tr.Trajectory, rate: float) -> tr.Motion:
    """A trajectory at ``rate`` samples a second, evenly spaced, both ends included."""
    if not rate > 0:
        raise InputError(f"rate: must be greater than 0 samples a second, got {rate}")
    count = round(trajectory.duration * rate) + 1
    if count > MOST_SAMPLES:
        raise InputError(f"rate: {rate:g}/s for {trajectory.duration:g} s are {count} samples; at most {MOST_SAMPLES}")
    return trajectory.at(trajectory.times(max(count, 2)))


class MotionData(Data):
    """A motion file: what moves how, how often it is looked at, what pushes meanwhile.

    ``rate`` is in samples a second. ``robot`` names the robot the motion is meant for; ``polypod run`` uses it if
    none is named there.
    """

    name: str = Field(min_length=1)
    title: str = ""
    robot: str | None = None
    rate: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "1/s"})] = DEFAULT_RATE
    trajectory: AnyTrajectory
    wrench: Wrench | None = None

    def task(self, robot: Robot, rate: float | None = None) -> Task:
        """The motion sampled for a robot, at another rate if given."""
        load = None if self.wrench is None else self.wrench.at
        return Task.of(self.name, self.trajectory.trajectory(robot), self.rate if rate is None else rate, load)
