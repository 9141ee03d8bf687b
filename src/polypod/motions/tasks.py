"""Which motion is meant: a file, a published name, or a small one about home if none is named."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from .. import trajectories as tr
from ..errors import ImplausibleWarning, InputError, UnknownNameError
from ..mechanism import Freedoms
from ..model import Model
from ..models import rigid_of
from .files import load_motion
from .motion import Task
from .parts import Array
from .platform import CoordinateMotion, Published
from .published import PUBLISHED, default_motion, published

if TYPE_CHECKING:
    from ..flexible import FlexibleModel

AROUND_HOME = "around-home"
_REACH = 0.1  # of the platform's size, and in rad
_SPAN = 0.5  # s from one pose to the next


def make_task(model: Model | FlexibleModel, motion: str | Path | None = None, rate: float | None = None) -> Task:
    """The task for a robot: ``motion`` is a motion file, a published name, ``around-home``, or None for the default.

    A published motion on a robot that neither is the paper's nor is named after it is told by a warning.

    >>> task = make_task(Model("kim-ryu"), rate=100.0)
    >>> task.name, len(task.time)
    ('kim-ryu-circle', 151)
    """
    model = rigid_of(model)
    if motion is not None and not isinstance(motion, (str, Path)):
        raise InputError(f"motion: a published motion's name or a motion file's path is needed, got {motion!r}")
    name = str(motion) if motion is not None else default_motion(model.robot.name) or AROUND_HOME
    path = Path(name)
    if isinstance(motion, Path) or path.suffix or path.name != name:
        read = load_motion(path)
        if isinstance(read.trajectory, Published):
            _remark_on_another_robot(read.trajectory.name, model.robot.name)
        return read.task(model.robot, rate)
    if name == AROUND_HOME:
        return Task.of(name, around_home(model), rate)
    if name not in PUBLISHED:
        beside = [name + end for end in (".yaml", ".yml") if Path(name + end).is_file()]
        raise UnknownNameError("motion", name, (*beside, *PUBLISHED, AROUND_HOME))
    _remark_on_another_robot(name, model.robot.name)
    made = published(name)
    if isinstance(made, tr.Path):
        count = made.shape[0]
        if model.robot.freedoms == () or len(model.freedoms) != count:
            raise InputError(
                f"motion: {name} moves the {count} coordinates of {PUBLISHED[name].robot!r}, "
                f"which {model.robot.name!r} does not have"
            )
        made = CoordinateMotion(made.duration, made, Freedoms(model.robot))
    return Task.of(name, made, rate)


def _remark_on_another_robot(motion: str, robot: str) -> None:
    meant = PUBLISHED[motion].robot
    if robot != meant and not robot.startswith(f"{meant}-"):
        text = f"motion {motion!r} was published for robot {meant!r}; {robot!r} is another"
        warnings.warn(text, ImplausibleWarning, stacklevel=3)


def around_home(model: Model) -> tr.Trajectory:
    """Each freedom in turn there and back about home, a tenth of the platform's size or 0.1 rad, 0.5 s each way.

    The reach is halved until all poses lie within the robot's limits, so any robot can make the motion.
    """
    at_home = model.limits(model.robot.home.matrix)
    if not at_home.ok:
        raise InputError(
            f"around-home: home itself is outside the limits of {model.robot.name!r}: "
            f"{'; '.join(at_home.violations())}; move home, correct the limits, or give a motion"
        )
    for shrink in range(12):
        offsets = _offsets(model, 0.5**shrink)
        poses = _poses(model, offsets)
        fits = np.isfinite(model.inverse_kinematics(poses, errors="nan")).all() and model.limits(poses).ok
        if fits:
            break
    times = _SPAN * np.arange(len(offsets))
    if model.robot.freedoms:
        return CoordinateMotion(float(times[-1]), tr.through(offsets, times), Freedoms(model.robot))
    return tr.pose_motion(poses, times)


def _offsets(model: Model, scale: float) -> Array:
    """Home, one freedom off, home, the next off, ..., home: (2 m + 1, m)."""
    size = float(np.mean([np.linalg.norm(leg.platform) for leg in model.robot.legs]))
    turning = np.abs(Freedoms(model.robot).basis[3:]).sum(axis=0) > 0
    offsets = np.zeros((2 * len(turning) + 1, len(turning)))
    offsets[1::2] = np.diag(scale * np.where(turning, _REACH, _REACH * size))
    return offsets


def _poses(model: Model, offsets: Array) -> Array:
    if model.robot.freedoms:
        return model.motion(offsets).pose
    home = model.robot.home.matrix
    poses = np.tile(home, (len(offsets), 1, 1))
    poses[:, :3, 3] += offsets[:, :3]
    poses[:, :3, :3] = Rotation.from_rotvec(offsets[:, 3:]).as_matrix() @ home[:3, :3]
    return poses
