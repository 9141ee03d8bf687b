"""The papers' motions by name, and the motion each library robot makes unless told otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..errors import UnknownNameError
from ..trajectories import Path, Trajectory
from ..trajectories import published as papers


class Entry(NamedTuple):
    """A published motion: the robot it was made for, what it is, and how to make it."""

    robot: str
    title: str
    make: Callable[[], Trajectory | Path]


PUBLISHED: dict[str, Entry] = {
    "pedrammehr-path-2": Entry(
        "pedrammehr", "Path 2: 0.28 m and 0.4 rad in 6 s, trapezoidal speeds", lambda: papers.pedrammehr_path(2)
    ),
    "pedrammehr-path-1": Entry(
        "pedrammehr", "Path 1: 0.5 m along x in 6 s at constant speed", lambda: papers.pedrammehr_path(1)
    ),
    "pedrammehr-path-3": Entry("pedrammehr", "Path 3: Path 2 ten times as fast", lambda: papers.pedrammehr_path(3)),
    "kim-ryu-circle": Entry(
        "kim-ryu", "horizontal circle of 0.1 m radius at 40 turns a minute", lambda: papers.kim_ryu_circle()
    ),
    "kim-ryu-acceleration": Entry(
        "kim-ryu", "constant accelerations for 1.5 s, then the opposite", papers.kim_ryu_acceleration
    ),
    "lopes-there-and-back": Entry("lopes", "P1 to P2 and back, 1 s each way", lambda: papers.lopes_there_and_back()),
    "staicu-path": Entry("staicu", "polynomials and a sine of equation (5), 1 s", papers.staicu_path),
    "long-example": Entry("long", "rest, three poses and back, rest; 2.5 s", papers.long_example),
}


def published(name: str) -> Trajectory | Path:
    """A published motion by name; near matches are suggested.

    >>> published("lopes-there-and-back").duration
    2.0
    """
    if name not in PUBLISHED:
        raise UnknownNameError("motion", name, (*PUBLISHED, "around-home"))
    return PUBLISHED[name].make()


def default_motion(robot: str) -> str | None:
    """Name of the first published motion of a library robot; None if it has none."""
    return next((name for name, entry in PUBLISHED.items() if entry.robot == robot), None)
