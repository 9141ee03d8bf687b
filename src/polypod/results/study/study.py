"""A study: inverse dynamics of a robot along a task, with everything a designer asks of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...description import Robot
from ...errors import StateError
from ...model import Conditioning, LimitReport, Model
from ...model.reactions import Reactions
from ...models import model_of, rigid_of
from ...motions import Task, located_motion, make_task

if TYPE_CHECKING:
    from ...flexible import FlexibleModel
    from .flexible import Bending

Array = NDArray[np.float64]
Progress = Callable[[str], None]
PARTS = ("inertia", "Coriolis", "gravity", "friction", "external")
"""What actuator forces are for; the parts add up to the force."""
BENDING = "bending"
"""The part beside them of a robot whose platform bends."""


class Reaction(NamedTuple):
    """Force and moment (n, 3) [N, N m] that a joint puts on its child, base axes, about the joint's centre."""

    force: Array
    moment: Array


@dataclass(frozen=True)
class Study:
    """Results along a task: actuated coordinates, rates, accelerations, forces and power (n, legs) and more.

    ``parts`` splits the forces as :data:`PARTS`; ``reactions`` is by leg and joint, NaN where inner stresses of an
    overconstrained robot leave a number open; ``indeterminate`` names those numbers. ``bending`` is that of a flexible
    platform; all else is then that of the bent robot.
    """

    model: Model
    task: Task
    friction: bool
    q: Array
    qdot: Array
    qddot: Array
    force: Array
    parts: dict[str, Array]
    conditioning: Conditioning
    limits: LimitReport
    reactions: dict[tuple[str, str], Reaction]
    indeterminate: tuple[str, ...] = ()
    bending: Bending | None = None

    @property
    def robot(self) -> Robot:
        """The robot, its platform as it is; ``model`` is that of the rigid one."""
        return self.model.robot if self.bending is None else self.bending.model.robot

    @property
    def time(self) -> Array:
        """Times (n,) [s]."""
        return self.task.time

    @property
    def power(self) -> Array:
        """Mechanical power of the actuators (n, legs) [W], positive where they drive."""
        return self.force * self.qdot

    @property
    def violations(self) -> list[str]:
        """A sentence for each limit the motion leaves, with the time of its worst value."""
        return self.limits.violations(lambda k: f"t = {self.time[k]:.6g} s") if self.limits.names else []


def study(
    model: Model | FlexibleModel | Robot | str | Path,
    task: Task | str | Path | None = None,
    friction: bool = True,
    progress: Progress = lambda step: None,
    vibration: bool | None = None,
) -> Study:
    """Inverse dynamics of a robot along a task.

    The robot may be a model, a robot, a library name or a file; the task a task, a published motion's name, a motion
    file, or None for the robot's own motion.

    A motion that leaves the workspace is a :class:`~polypod.errors.StateError` that names leg, amount and time; so is
    one that crosses a singular pose, between samples too.
    ``progress`` is told what is done next. A flexible platform vibrates along the motion, unless ``vibration`` says
    that it does not or its frame cannot be led exactly (see :func:`polypod.results.study.flexible.flexible_study`).

    >>> from polypod.motions import make_task
    >>> model = Model("kim-ryu")
    >>> done = study(model, make_task(model, "kim-ryu-circle", rate=20.0))
    >>> done.force.shape, sorted(done.parts)
    ((31, 6), ['Coriolis', 'external', 'friction', 'gravity', 'inertia'])
    >>> study("kim-ryu", "kim-ryu-circle").force.shape
    (301, 6)
    """
    made = model_of(model) if isinstance(model, (Robot, str, Path)) else model
    rigid_of(made)  # refuses what is no model
    if isinstance(task, Task):
        return _study(made, task, friction, progress, vibration)
    with located_motion(task):
        return _study(made, make_task(made, task), friction, progress, vibration)


def _study(
    model: Model | FlexibleModel, task: Task, friction: bool, progress: Progress, vibration: bool | None
) -> Study:
    if isinstance(model, Model):
        return rigid_study(model, task, friction, progress)
    from .flexible import flexible_study

    return flexible_study(model, task, friction, progress, vibration)


def rigid_study(model: Model, task: Task, friction: bool, progress: Progress) -> Study:
    """The study of a robot of rigid bodies."""
    pose, twist, acceleration = task.motion.pose, task.motion.twist, task.motion.acceleration
    progress("kinematics")
    q = _timed(task, lambda: model.inverse_kinematics(pose, errors="raise"))
    _no_crossing(model, task)
    qdot = model.rates(pose, twist)
    qddot = model.accelerations(pose, twist, acceleration)
    progress("actuator forces")
    still = np.zeros(6)

    def forces(twist: Array, acceleration: Array, wrench: Array | None = None, friction: bool = False) -> Array:
        return _timed(task, lambda: model.inverse_dynamics(pose, twist, acceleration, wrench, friction, errors="raise"))

    gravity = forces(still, still)
    slow = forces(twist, still)
    dry = forces(twist, acceleration)
    loaded = dry if task.wrench is None else forces(twist, acceleration, wrench=task.wrench)
    total = forces(twist, acceleration, wrench=task.wrench, friction=True) if friction else loaded
    parts = dict(zip(PARTS, (dry - slow, slow - gravity, gravity, total - loaded, loaded - dry), strict=True))
    progress("joint reactions")
    reactions, indeterminate = _reactions(model, task, friction)
    progress("limits and conditioning")
    return Study(
        model, task, friction, q, qdot, qddot, total, parts, model.conditioning(pose), model.limits(pose), reactions,
        indeterminate,
    )  # fmt: skip


def _reactions(model: Model, task: Task, friction: bool) -> tuple[dict[tuple[str, str], Reaction], tuple[str, ...]]:
    motion = task.motion
    found = model.reactions(motion.pose, motion.twist, motion.acceleration, task.wrench, friction)
    numbers: dict[str, list[str]] = {}
    for leg, joint, number in found.indeterminate:
        numbers.setdefault(f"{leg} {joint}", []).append(number)
    told = (f"{joint} ({'all' if len(listed) == 6 else ', '.join(listed)})" for joint, listed in numbers.items())
    return named_reactions(found), tuple(told)


def named_reactions(found: Reactions) -> dict[tuple[str, str], Reaction]:
    """Reactions by leg and joint."""
    return {
        (leg, joint): Reaction(value.force, value.moment)
        for leg, joints in found.legs.items()
        for joint, value in joints.items()
    }


def _no_crossing(model: Model, task: Task) -> None:
    """A determinant of J that changes its sign has passed zero, however well the samples miss it."""
    matrix = model.jacobian(task.motion.pose)
    determinant = np.linalg.det(matrix)
    crossed = np.flatnonzero(np.sign(determinant[1:]) != np.sign(determinant[:-1]))
    if not len(crossed):
        return
    k = int(crossed[0])
    share = determinant[k] / (determinant[k] - determinant[k + 1])
    time = task.time[k] + share * (task.time[k + 1] - task.time[k])
    # Forces that balance each other on the platform without a load: the leg that has most of them.
    leg = model.legs[int(np.abs(np.linalg.svd(matrix[k])[0][:, -1]).argmax())]
    reason = f"the robot is singular there; forces between its legs grow without bound, most in {leg}"
    message = f"motion {task.name!r} crosses a singular pose at t = {time:.6g} s: {reason}"
    raise StateError(message, np.array([k]), [reason], time=float(time))


def _timed(task: Task, call: Callable[[], Array]) -> Array:
    """States without an answer are told by their time."""
    try:
        return call()
    except StateError as error:
        first = int(error.index[0])
        told = error.reasons[0] if error.reasons else str(error)
        count = len(error.index)
        message = (
            f"motion {task.name!r} leaves what the robot can do at t = {task.time[first]:.6g} s "
            f"({count} of {len(task.time)} samples): {told}"
        )
        raise StateError(message, error.index, error.reasons, error.result, float(task.time[first])) from error
