"""A study of a robot whose platform bends: the rigid robot's, and what bending makes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, StateError, UnstableBendingError
from ...motions import Task
from .study import BENDING, Progress, Study, named_reactions, rigid_study

if TYPE_CHECKING:
    from ...flexible import FlexibleModel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bending:
    """How the platform bends along a task: elastic coordinates and rates (n, N), and what follows from them.

    ``deflection`` (n, legs, 3) and ``origin`` (n, 3; None where the modes have no shape there) are displacements [m] in
    platform axes; ``step`` [s] is that of the integration. ``steady`` says why the platform was taken not to vibrate,
    having the shape that each instant bends it to; empty if it was not.
    """

    model: FlexibleModel
    elastic: Array
    elastic_rate: Array
    deflection: Array
    origin: Array | None
    step: float
    steady: str = ""


def flexible_study(
    model: FlexibleModel, task: Task, friction: bool, progress: Progress, vibration: bool | None = None
) -> Study:
    """Inverse dynamics along a task, the frame following it exactly while the platform bends (Long, section 6).

    ``parts`` are those of the rigid robot and ``bending``, which is what is left: forces for the deformed shape and for
    its vibration. Where the frame cannot be led exactly the platform is taken not to vibrate, unless ``vibration``
    insists; the study says so.
    """
    if task.trajectory is None:
        raise InputError(
            f"motion {task.name!r}: a flexible platform vibrates between the samples; give the task its trajectory"
        )
    rigid = rigid_study(model.rigid, task, friction, progress)
    progress("bending of the platform")
    duration = float(task.time[-1])
    follow = partial(
        model.follow, task.trajectory, task.time, task.load, friction,
        progress=lambda time: progress(f"bending of the platform, {time:.3g} of {duration:.3g} s"),
    )  # fmt: skip
    steady = "" if vibration is not False else "as asked for"
    try:
        path = follow(vibration=vibration is not False)
    except UnstableBendingError as error:
        if vibration:
            raise
        steady = f"since {error}"
        path = follow(vibration=False)
    except StateError as error:
        raise StateError(f"motion {task.name!r}: {error}", error.index, error.reasons, time=error.time) from error
    motion = task.motion
    moving = model.actuators(
        motion.pose, motion.twist, path.elastic, path.elastic_rate, motion.acceleration, path.elastic_acceleration
    )
    progress("joint reactions")
    rate = 0.0 * path.elastic_rate if steady else path.elastic_rate  # forces of a steady shape leave its rate out
    found = model.reactions(motion.pose, motion.twist, path.elastic, rate, motion.acceleration, task.wrench, friction)
    shape = model.modes.origin_shape
    origin = None if shape is None else path.elastic @ shape.T
    return replace(
        rigid,
        q=model.inverse_kinematics(motion.pose, path.elastic),
        qdot=moving.qdot,
        qddot=moving.qddot,
        force=path.force,
        parts={**rigid.parts, BENDING: path.force - rigid.force},
        conditioning=model.conditioning(motion.pose, path.elastic),
        limits=model.limits(motion.pose, path.elastic),
        reactions=named_reactions(found),
        bending=Bending(
            model, path.elastic, path.elastic_rate, model.deflection(path.elastic), origin, path.step, steady
        ),
    )
