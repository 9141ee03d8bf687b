"""The robot at the instants of a motion that are worth seeing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...datasets import internal_of, robot_of
from ...drawing import posed
from ..read import actuator_names
from .scene import PATH_STYLE, draw, extent, frame
from .style import INK, figure
from .view import best_view, points_down

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_PANELS = 3
_WIDTH, _TALLEST, _FOOT = 7.2, 4.0, 0.26  # inches: of the figure, of the robot, of the words below


def key_instants(result: xr.Dataset) -> dict[int, str]:
    """Samples worth seeing, at most three, no pose twice.

    Start and end, the largest actuator force, the worst conditioning, the pose farthest from the start, the fastest
    actuator and half-way, in this order. What falls on a pose that is already there is named with it.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    dict of int to str
        What they are, by index of the sample.
    """
    time, pose, force = result.time.values, result.pose.values, np.abs(result.force.values)
    last = len(time) - 1
    most = actuator_names(result)[int(force.max(axis=0).argmax())]
    away = np.abs(pose - pose[0]).max(axis=(1, 2))
    wanted = [
        ("start", 0),
        ("end", last),
        (f"largest force ({most})", int(force.max(axis=1).argmax())),
        ("worst conditioning", int(result.condition.values.argmax())),
        ("farthest from start", int(away.argmax())),
    ]
    spare = [("fastest actuator", int(np.abs(result.qdot.values).max(axis=1).argmax())), ("half-way", last // 2)]
    near = 1e-6 * (float(away.max()) or 1.0)  # a closed path ends where it started but for rounding
    found: dict[int, list[str]] = {}
    for name, index in [*wanted, *spare]:
        same = next((k for k in found if np.abs(pose[k] - pose[index]).max() <= near), None)
        if same is None and len(found) < _PANELS:
            found[index] = [name]
        elif same is not None and (name, index) in wanted:
            found[same].append(name if same == index or name == "end" else f"{name} at {time[index]:.3g} s")
    return {index: _title(names, float(time[index])) for index, names in sorted(found.items())}


def _title(names: list[str], time: float) -> str:
    first = "start and end" if names[:2] == ["start", "end"] else names[0]
    rest = [name for name in names if name not in first]
    listed = [first, *rest]
    between = ", " if sum(map(len, listed)) < 26 else ",\n"  # what is wider than a panel takes a line each
    return f"{between.join(listed)}\nt = {time:.3g} s"


def instants(result: xr.Dataset) -> Figure:
    """The robot at the key instants of a motion, all to one scale, with the path of the platform's origin.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    robot, chosen = robot_of(result), key_instants(result)
    order = list(chosen)
    poses = result.pose.values[order]
    drawn = posed(robot, poses, internal=internal_of(result, order))
    path = result.pose.values[:, :3, 3]
    view = best_view(robot, drawn)
    low, high = extent(robot, drawn, poses, view, path)
    wide, tall = high - low
    side = _WIDTH / len(order)
    height = min(side * tall / wide, _TALLEST)
    head = 0.12 + 0.15 * max(text.count("\n") + 1 for text in chosen.values())
    fig = figure(_WIDTH, height + head + _FOOT, fitted=False)
    total = height + head + _FOOT
    for k, index in enumerate(order):
        axes = fig.add_axes((k / len(order), _FOOT / total, 1.0 / len(order), height / total))
        draw(axes, robot, drawn, k, poses[k], view, path, letters=6.5)
        frame(axes, low, high)
        fig.text((k + 0.5) / len(order), 1.0 - 0.05 / total, chosen[index], ha="center", va="top", fontsize=8.5,
                  color=INK)  # fmt: skip
    down = "; z points down" if points_down(robot) else ""
    handle = fig.axes[0].plot([], [], **PATH_STYLE)[0]
    fig.legend([handle], [f"path of the platform's origin{down}"], loc="lower center", fontsize=8, frameon=False,
                handlelength=2.8, borderaxespad=0.1)  # fmt: skip
    return fig
