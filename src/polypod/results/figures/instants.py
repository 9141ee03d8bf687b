"""The robot at the instants of a motion that are worth seeing."""

from __future__ import annotations

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from ...datasets import robot_of
from ..read import actuators
from .fit import Ink, put
from .scene import PAD, PATH_STYLE, draw, points_down, settle
from .skeleton import skeleton
from .style import INK, figure

_PANELS = 3
_WIDTH, _HEIGHT = 3.1, 3.1  # inches, at most, of a panel


def key_instants(result: xr.Dataset) -> dict[int, str]:
    """Samples worth seeing and what they are, at most three, no pose twice.

    Start and end, the largest actuator force, the worst conditioning, the pose farthest from the start, the fastest
    actuator, half-way, in this order. What falls on a pose that is already there is named with it.
    """
    time, pose, force = result.time.values, result.pose.values, np.abs(result.force.values)
    last = len(time) - 1
    most = actuators(result)[int(force.max(axis=0).argmax())]
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
    """The robot at the key instants of a motion, all in one scale, with the path of the platform's origin."""
    robot, chosen = robot_of(result), key_instants(result)
    order = list(chosen)
    lines = skeleton(robot, result.pose.values[order])
    path = result.pose.values[:, :3, 3]
    made = figure(_WIDTH * len(order), _HEIGHT, fitted=False)
    panels = [made.add_axes((0.0, 0.0, 0.5, 0.5), projection="3d") for _ in order]
    inks: list[Ink] = []
    for k, axes in enumerate(panels):
        draw(axes, robot, lines, k, path, 6.0)
        room = _WIDTH - 4 * PAD, _HEIGHT
        inks.append(settle(made, axes, robot, lines, room, 6.5, inks[0].side if inks else None))
    height = max(ink.height for ink in inks)
    head, foot = 0.1 + 0.15 * max(title.count("\n") + 1 for title in chosen.values()), 0.24
    made.set_size_inches(sum(ink.width + 4 * PAD for ink in inks), height + head + foot)
    left = 2 * PAD
    for axes, ink, index in zip(panels, inks, order, strict=True):
        put(made, axes, ink, left, foot + 0.5 * (height - ink.height))
        width, total = made.get_size_inches()
        made.text((left + 0.5 * ink.width) / width, 1.0 - PAD / total, chosen[index], ha="center", va="top",
                  fontsize=8.5, color=INK)  # fmt: skip
        left += ink.width + 4 * PAD
    note = "; z points down" if points_down(robot) else ""
    handle = panels[0].plot([], [], [], **PATH_STYLE)[0]
    made.legend([handle], [f"path of the platform's origin{note}"], loc="lower center", fontsize=8, frameon=False,
                handlelength=2.8, borderaxespad=0.1)  # fmt: skip
    return made
