"""Load cases of a study, by which all its designs are judged: motions, and workspaces as poses at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..analysis.workspace import PoseCoordinates
from ..arrays import Array
from ..errors import InputError, UnknownNameError
from ..kernels import Kernel
from ..model import Model
from ..motion import Task
from .study import Workspace, in_unit

MOST_POSES = 1_000_000
"""More poses of a workspace are a slip rather than a wish."""


@dataclass(frozen=True)
class LoadCase:
    """A motion that all designs must make: name, inputs of functions by name (T, ...), shares of the time (T,).

    Or a workspace, whose poses they must take ``within`` their ranges and cones: at rest, all poses alike.
    """

    name: str
    inputs: dict[str, Array]
    shares: Array
    within: bool = False

    @staticmethod
    def of(task: Task) -> LoadCase:
        """The load case of a sampled motion; shares of the time by the trapezoidal rule."""
        motion, time = task.motion, task.time
        ends = np.concatenate([time[:1], (time[1:] + time[:-1]) / 2, time[-1:]])
        wrench = np.zeros((1, 6)) if task.wrench is None else task.wrench
        inputs = {"pose": motion.pose, "twist": motion.twist, "acceleration": motion.acceleration, "wrench": wrench}
        own = {name: np.empty(value.shape) for name, value in inputs.items()}
        for name, value in inputs.items():
            # not a copy: an array that another process sent has a dtype object of its own, which kernels do not take
            own[name][...] = value
        return LoadCase(task.name, own, np.diff(ends) / (time[-1] - time[0]))

    @staticmethod
    def poses(name: str, poses: Array) -> LoadCase:
        """The states of poses (n, 4, 4) held at rest."""
        still = {name: np.zeros((1, 6)) for name in ("twist", "acceleration", "wrench")}
        return LoadCase(name, {"pose": poses, **still}, np.full(len(poses), 1.0 / len(poses)), within=True)

    def rows(self, kernel: Kernel, states: slice = slice(None)) -> list[Array]:
        """The inputs of a function for some of the states; weights are one and a preload is zero."""
        given = []
        for port in kernel.inputs:
            rows = self.inputs.get(port.name, np.full((1, *port.shape), 1.0 if port.name == "weights" else 0.0))
            given.append(rows if len(rows) == 1 else np.ascontiguousarray(rows[states]))
        return given


def workspace_poses(model: Model, k: int, workspace: Workspace) -> Array:
    """Poses (n, 4, 4) of a workspace: all combinations of the places of each coordinate."""
    field = f"workspaces.{k}"
    try:
        space = PoseCoordinates(model, workspace.pivot)
        levels = {}
        for name, (low, high) in workspace.box.items():
            unit = space.units[space.index(name)]
            ends = [in_unit(value, unit, f"box.{name}") for value in (low, high)]
            if not ends[0] < ends[1]:
                raise InputError(f"box.{name}: goes from small to large, got {[low, high]}")
            levels[space.index(name)] = np.linspace(ends[0], ends[1], workspace.points)
    except UnknownNameError as error:
        raise InputError(f"{field}.box: {error}") from error
    except InputError as error:
        raise InputError(f"{field}.{error}") from error
    if workspace.points ** len(levels) > MOST_POSES:
        raise InputError(
            f"{field}.points: {workspace.points} places of {len(levels)} coordinates are more than {MOST_POSES} poses"
        )
    grid = np.meshgrid(*levels.values(), indexing="ij")
    x = np.zeros((grid[0].size, len(space.names)))
    for place, column in zip(levels, grid, strict=True):
        x[:, place] = column.ravel()
    poses = space.poses(x)
    if np.isnan(poses).any():
        raise InputError(f"{field}.box: the legs of {model.robot.name!r} do not allow all of its poses")
    return poses
