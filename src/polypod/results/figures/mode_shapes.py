"""Mode shapes of a robot on its springs: the robot displaced to both sides, drawn or animated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.spatial.transform

from ...analysis.linear import NaturalModes
from ...analysis.workspace import PoseCoordinates
from ...arrays import Array
from ...drawing import posed
from ...errors import InputError
from ...model import Model
from .animation import AnimatedRobot, Image, check_animation, write_frames
from .scene import draw, extent, frame
from .style import INK, figure
from .view import best_view, points_down

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGEST = 0.2
"""Largest displacement of a platform joint as it is drawn, in sizes of the platform."""
_WIDTH, _HEAD, _FOOT, _COLUMNS = 2.8, 0.3, 0.24, 3
_FRAMES, _FPS = 24, 20


def displaced(model: Model, modes: NaturalModes, at: Array, k: int, phases: Array) -> Array:
    """Poses of the platform in a mode, displaced by phases from -1 to 1 of an amplitude that can be seen.

    Parameters
    ----------
    model : Model
        Model of the robot.
    modes : NaturalModes
        Modes at one pose, from ``polypod.analysis.resonances``.
    at : ndarray, shape (m,)
        That pose, in coordinates from home as ``polypod.analysis.workspace.PoseCoordinates`` has them.
    k : int
        Number of the mode, from 0.
    phases : ndarray, shape (p,)
        Phases.

    Returns
    -------
    ndarray, shape (p, 4, 4)
        Poses.
    """
    space = PoseCoordinates(model)
    pose, u = space.poses(at[None])[0], modes.shape[: len(at), k]
    points = np.array(model.robot.attachments)
    small = _moved(space, at, u, np.array([1e-6 / (np.abs(u).max() or 1.0)]))[0] - pose
    moved = np.linalg.norm(points @ small[:3, :3].T + small[:3, 3], axis=1).max() / 1e-6 * (np.abs(u).max() or 1.0)
    amplitude = _LARGEST * model.size / moved if moved > 0 else 0.0
    for _ in range(8):  # as far as the robot goes
        found = _moved(space, at, u, amplitude * phases)
        if np.isfinite(found).all() and np.isfinite(model.inverse_kinematics(found, errors="nan")).all():
            return found
        amplitude *= 0.5
    return np.broadcast_to(pose, (len(phases), 4, 4)).copy()


def _moved(space: PoseCoordinates, at: Array, u: Array, amounts: Array) -> Array:
    """Poses (p, 4, 4) displaced along u (m) by amounts (p,)."""
    if not space.full:
        return space.poses(at + amounts[:, None] * u)
    pose = space.poses(at[None])[0]
    found = np.broadcast_to(pose, (len(amounts), 4, 4)).copy()
    found[:, :3, 3] += amounts[:, None] * u[:3]
    turned = scipy.spatial.transform.Rotation.from_rotvec(amounts[:, None] * u[3:]).as_matrix()
    found[:, :3, :3] = turned @ pose[:3, :3]
    return found


def mode_shapes(model: Model, modes: NaturalModes, at: Array) -> Figure:
    """The robot in each mode, displaced to one side; dashed is the platform at rest, dotted the other side.

    Parameters
    ----------
    model : Model
        Model of the robot.
    modes : NaturalModes
        Modes at one pose, from ``polypod.analysis.resonances``.
    at : ndarray, shape (m,)
        That pose, in coordinates from home as ``polypod.analysis.workspace.PoseCoordinates`` has them.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    robot, count = model.robot, _count(model, modes)
    poses = [displaced(model, modes, at, k, np.array([1.0, 0.0, -1.0])) for k in range(count)]
    parts = [posed(robot, found) for found in poses]
    view = best_view(robot, parts[0])
    boxes = np.array([extent(robot, part, found, view) for part, found in zip(parts, poses, strict=True)])
    low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
    wide, tall = high - low
    columns = min(count, _COLUMNS)
    rows, height = -(-count // columns), _WIDTH * tall / wide
    total = rows * (height + _HEAD) + _FOOT
    fig = figure(columns * _WIDTH, total, fitted=False)
    for k, part in enumerate(parts):
        row, column = divmod(k, columns)
        top = total - row * (height + _HEAD)
        axes: Any = fig.add_axes((column / columns, (top - _HEAD - height) / total, 1.0 / columns, height / total))
        draw(axes, robot, part, 0, poses[k][0], view, letters=5.5)
        for number, style in ((1, (0, (4, 2))), (2, (0, (1, 2)))):
            ring = view.project(part.platform[number])
            order = np.argsort(np.arctan2(*(ring - ring.mean(axis=0)).T))
            around = np.vstack([ring[order], ring[order[:1]]])
            axes.plot(*around.T, color=INK, linewidth=0.9, linestyle=style, zorder=4)
        frame(axes, low, high, scale=k == 0)
        fig.text((column + 0.5) / columns, (top - 0.04) / total, _title(modes, k), ha="center", va="top", fontsize=8,
                 color=INK)  # fmt: skip
    down = "; z points down" if points_down(robot) else ""
    fig.text(0.01, 0.01, f"{robot.name}: mode shapes, enlarged; dashed: at rest, dotted: other side{down}", fontsize=7,
             color=INK, va="bottom")  # fmt: skip
    return fig


def animate_modes(model: Model, modes: NaturalModes, path: str | Path, at: Array, *, force: bool = False) -> Path:
    """Write an animation of all modes, one after the other, to a ``.gif``, ``.webp`` or ``.mp4`` file.

    Parameters
    ----------
    model : Model
        Model of the robot.
    modes : NaturalModes
        Modes at one pose, from ``polypod.analysis.resonances``.
    path : str or Path
        The file.
    at : ndarray, shape (m,)
        That pose, in coordinates from home as ``polypod.analysis.workspace.PoseCoordinates`` has them.
    force : bool, optional
        Whether to replace an existing file.

    Returns
    -------
    Path
        The file.
    """
    target = check_animation(path, force)
    phases = np.sin(2 * np.pi * np.arange(_FRAMES) / _FRAMES)
    count = _count(model, modes)
    poses = np.concatenate([displaced(model, modes, at, k, phases) for k in range(count)])
    picture = AnimatedRobot(model.robot, posed(model.robot, poses), poses, poses[:1, :3, 3], 520)

    def frames() -> Iterator[Image]:
        for n in range(len(poses)):
            yield picture.at(n, _title(modes, n // _FRAMES))

    write_frames(target, frames(), _FPS)
    return target


def _count(model: Model, modes: NaturalModes) -> int:
    """How many modes are drawn: those that have a frequency."""
    found = int(np.isfinite(modes.frequency).sum())
    if not found:
        raise InputError(f"modes: {model.robot.name!r} has no mode with a finite frequency at this pose")
    return found


def _title(modes: NaturalModes, k: int) -> str:
    return f"mode {k + 1}: {modes.frequency[k]:.4g} Hz"
