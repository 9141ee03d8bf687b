"""A study with its robot and motions read, and its designs drawn: all that evaluates a block of them, anywhere."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..description.file_names import resolve_name
from ..description.paths import get
from ..errors import InputError, UnknownNameError
from ..files import dumps, load
from ..model import Model
from ..motion import AROUND_HOME, Task, make_task
from ..parameters.design import with_numbers
from .evaluate import HOME, WORK, Evaluator, base_points
from .study import Study, designs_of, load_study, study_fault


@dataclass(frozen=True)
class Prepared:
    """A study with its robot and motions read: all that another machine needs to evaluate a block of its designs.

    Attributes
    ----------
    study : Study
        The study.
    model : Model
        Model of its robot.
    tasks : tuple of Task
        Its motions, sampled.
    values : ndarray, shape (D, v)
        Values of the varied parameters of all designs.
    block : int
        Number of designs in a block.
    """

    study: Study
    model: Model
    tasks: tuple[Task, ...]
    values: Array
    block: int

    @property
    def load_case_names(self) -> tuple[str, ...]:
        """Names of the motions and workspaces that designs are judged by."""
        return (*(task.name for task in self.tasks), *(workspace.name for workspace in self.study.workspaces))

    @property
    def blocks(self) -> int:
        """How many blocks of designs there are."""
        return -(-len(self.values) // self.block)

    def span(self, number: int) -> tuple[int, int]:
        """Range of designs of a block.

        Parameters
        ----------
        number : int
            Index of the block.

        Returns
        -------
        start : int
            First design.
        stop : int
            End, exclusive.
        """
        return number * self.block, min((number + 1) * self.block, len(self.values))

    def fingerprint(self) -> str:
        """Digest of everything that results depend on: results of another study do not fit this one.

        Returns
        -------
        str
            Digest.
        """
        digest = hashlib.sha256(self.study.model_dump_json().encode() + dumps(self.model.robot).encode())
        for task in self.tasks:
            for array in (task.time, *task.motion[1:], task.wrench):
                digest.update(b"" if array is None else np.ascontiguousarray(array).tobytes())
        digest.update(self.values.tobytes() + str(self.block).encode())
        return digest.hexdigest()


def prepare(study: Study | str | Path, settings: Mapping[str, Any] | None = None) -> tuple[Prepared, Evaluator]:
    """Read a study, its robot and its motions, and draw its designs.

    Parameters
    ----------
    study : Study, str or Path
        The study or its file.
    settings : mapping of str to value, optional
        Values that replace parameters of the robot, as in ``polypod.load``; not those that vary.

    Returns
    -------
    prepared : Prepared
        The study, ready to run.
    evaluator : Evaluator
        Evaluates its designs.

    Raises
    ------
    StudyFileError
        If the study has faults: all of them, with their lines.
    """
    origin = study if isinstance(study, (str, Path)) else None
    read = load_study(study) if isinstance(study, (str, Path)) else study
    folder = Path(origin).parent if origin is not None else Path()
    named = resolve_name(read.robot, folder)
    if settings:
        _check_settings(read, settings)
    robot = load(named, settings) if settings else named  # a name leads messages to lines of its file
    try:
        model = Model(robot)
        tasks = tuple(make_task(model, resolve_name(m, folder), read.rate) for m in read.motions)
        if not tasks and not read.workspaces:
            tasks = (make_task(model, None, read.rate),)
        evaluator = Evaluator(read, model, tasks)
        if evaluator.moves_home:
            _check_home(model, tasks, [resolve_name(m, folder) for m in read.motions] or [None], read.rate)
        values = designs_of(read, evaluator.bounds)
    except (InputError, UnknownNameError) as error:
        if origin is None:
            raise
        field, message = _blamed(read, str(error))
        raise study_fault(origin, field, message) from error
    states = sum(len(case.shares) for case in evaluator.load_cases)
    block = read.block or max(1, min(len(values), WORK // states))
    return Prepared(read, model, tasks, values, block), evaluator


def _check_home(model: Model, tasks: tuple[Task, ...], motions: list[Any], rate: float | None) -> None:
    """Raise if the home position varies and a motion does not count from home alone, or a leg would not follow it."""
    robot = model.robot
    away = 1e-3 * robot.platform_size * np.array([0.3, 0.5, 0.8])
    if robot.dof:  # along what the platform can move
        axes = [np.array(one.axis) for one in robot.dof if one.motion != "rotation"]
        away = sum((axis * (axis @ away) for axis in axes), np.zeros(3))
    moved = with_numbers(robot, {HOME: np.array(robot.home.position) + away}, robot.name)
    other = Model(moved)
    own = {path: np.array(get(robot, path)) - away for path in base_points(robot)}
    still = np.zeros(6)
    pairs = [
        (other.inverse_kinematics(moved.home.matrix), model.inverse_kinematics(robot.home.matrix, parameters=own)),
        (
            other.inverse_dynamics(moved.home.matrix, still, still),
            model.inverse_dynamics(robot.home.matrix, still, still, parameters=own),
        ),
    ]
    if not all(np.allclose(a, b, rtol=1e-6, atol=1e-6 * np.abs(b).max()) for a, b in pairs):
        raise InputError(
            f"vary: legs of {robot.name!r} depend on home by more than points of the base; make a robot file for each "
            "home and compare them"
        )
    for task, motion in zip(tasks, motions, strict=False):
        if task.name == AROUND_HOME:
            raise InputError(
                f"motions: {AROUND_HOME} adapts its amplitude to each home; give a motion with 'relative_to: home'"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # given for the robot itself
            there = make_task(other, motion, rate)
        gap = there.motion.pose[:, :3, 3] - task.motion.pose[:, :3, 3] - away
        same = all(np.allclose(a, b) for a, b in zip(there.motion[2:], task.motion[2:], strict=True))
        if not (same and np.abs(gap).max() < 1e-6 * np.abs(away).max()):
            raise InputError(
                f"motions: {task.name} does not count from home, so {HOME!r} does not change it; write 'relative_to: "
                "home' in its file, or vary 'legs.*.base' with the pattern z"
            )


def _check_settings(study: Study, settings: Mapping[str, Any]) -> None:
    """Raise if a setting gives a value to a number that the study varies."""
    for path in settings:
        for varied in study.vary:
            if varied.pattern == "value" and (
                fnmatchcase(varied.parameters, path) or fnmatchcase(path, varied.parameters)
            ):
                raise InputError(f"{path}: the study varies {varied.parameters!r}; change its range or values instead")


def _blamed(study: Study, message: str) -> tuple[str, str]:
    """The field of a study that an error is about."""
    named, _, rest = message.partition(": ")
    if named.partition(".")[0] in type(study).model_fields:
        return named, rest
    if message.startswith("unknown robot"):
        return "robot", message
    if message.startswith("unknown motion"):
        return "motions", message
    return "vary", message
