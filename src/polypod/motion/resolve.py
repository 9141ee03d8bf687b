"""Names of a robot and a motion as a command or a script gives them: either alone brings the other."""

from __future__ import annotations

from pathlib import Path

from ..description.file_names import resolve_name
from ..errors import Fault, MotionFileError, RobotFileError
from ..files.documents import parse, read
from .files import load_motion
from .tasks import PUBLISHED

DEFAULT_ROBOT = "hexapod"


def robot_and_motion(robot: str | None = None, motion: str | None = None) -> tuple[str, str | None]:
    """Names of the robot and the motion that are meant; a motion alone brings the robot it belongs to.

    Parameters
    ----------
    robot : a robot or its file, or a motion or its file; the library's hexapod if not given
    motion : a motion or its file; None is the robot's own

    Returns
    -------
    tuple : name or file of the robot, and of the motion or None

    Examples
    --------
    >>> robot_and_motion("staicu-path")
    ('staicu', 'staicu-path')
    """
    if robot is None:
        return DEFAULT_ROBOT, motion
    if motion is None and robot in PUBLISHED:
        return PUBLISHED[robot].robot or DEFAULT_ROBOT, robot
    if motion is None and Path(robot).suffix in (".yaml", ".yml") and is_motion_file(robot):
        meant = load_motion(robot).robot
        if meant is None:
            message = "missing: name a robot in the file, or give one before the motion"
            raise MotionFileError(robot, [Fault("robot", message)])
        return str(resolve_name(meant, Path(robot).parent)), robot
    return robot, motion


def is_motion_file(path: str | Path) -> bool:
    """Whether a YAML file is a motion (it has a trajectory) rather than a robot."""
    document, _ = parse(read(Path(path), RobotFileError), str(path), RobotFileError, "a mapping")
    return "trajectory" in document
