"""The motion itself: position, rotation and speed of the platform, and what pushes it."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import Array
from ...datasets import robot_of
from .style import COLOURS, DASHES, INK, TIME, dress, headline, last_with_time, panels, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_ROUNDING = 1e-9  # of a panel's unit: mm, deg, mm/s, deg/s, N, N m


def motion(result: xr.Dataset) -> Figure:
    """Position [mm] and rotation [deg] of the platform relative to home, its speeds, and the external wrench if any.

    Rotation is by roll, pitch and yaw, R = Rz(yaw) Ry(pitch) Rx(roll), about the axes that the platform has at home.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    time, twist = result.time.values, result.twist.values
    place, turn = against_home(result)
    parts: list[tuple[str, tuple[str, ...], Array]] = [
        ("position from home [mm]", ("x", "y", "z"), 1e3 * place),
        ("rotation from home [deg]", ("roll", "pitch", "yaw"), np.degrees(turn)),
        ("speed [mm/s]", ("vx", "vy", "vz"), 1e3 * twist[:, :3]),
        ("angular speed [deg/s]", ("wx", "wy", "wz"), np.degrees(twist[:, 3:])),
    ]
    if "wrench" in result:
        wrench = result.wrench.values
        parts += [("external force [N]", ("fx", "fy", "fz"), wrench[:, :3])]
        parts += [("external moment [N m]", ("mx", "my", "mz"), wrench[:, 3:])]
    shown = [part for part in parts if np.abs(part[2]).max(initial=0.0) > _ROUNDING] or parts[:1]
    fig, grid = panels(ceil(len(shown) / 2), min(len(shown), 2), height=1.55, each=True, legend_rows=0)
    cells = [axes for row in grid for axes in row]
    for axes, (label, names, values) in zip(cells, shown, strict=False):
        axes.axhline(0.0, color=INK, linewidth=0.6)
        largest = float(np.abs(values).max(initial=0.0))
        still = [
            name for k, name in enumerate(names) if np.abs(values[:, k]).max(initial=0.0) <= 1e-6 * largest + _ROUNDING
        ]
        for k, name in enumerate(names):
            if name not in still:
                axes.plot(time, values[:, k], label=name, color=COLOURS[k], linestyle=DASHES[k], linewidth=1.6)
        if len(still) < 3:
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=3, fontsize=7.5, frameon=False,
                        handlelength=2.2, borderaxespad=0.0, columnspacing=1.0)  # fmt: skip
        else:
            axes.set_ylim(-1.0, 1.0)
            axes.set_xlim(float(time[0]), float(time[-1]))
            axes.text(0.5, 0.6, "none", transform=axes.transAxes, ha="center", fontsize=8, color=INK)
        dress(axes, TIME, label)
    last_with_time(cells[: len(shown)], len(grid[0]))
    for axes in cells[len(shown) :]:
        axes.set_visible(False)
    drawn = [label for label, _, _ in shown]
    absent = [f"no {label.split(' from ')[0].split(' [')[0]}" for label, _, _ in parts if label not in drawn]
    headline(fig, title(result, f"the motion ({', '.join(absent)})" if absent else "the motion"))
    return fig


def against_home(result: xr.Dataset) -> tuple[Array, Array]:
    """Position (n, 3) [m] from home in base axes, and roll, pitch, yaw (n, 3) [rad] about the axes at home."""
    home, pose = robot_of(result).home.matrix, result.pose.values
    turned = home[:3, :3].T @ pose[:, :3, :3]
    pitch = -np.arcsin(np.clip(turned[:, 2, 0], -1.0, 1.0))
    roll = np.arctan2(turned[:, 2, 1], turned[:, 2, 2])
    yaw = np.arctan2(turned[:, 1, 0], turned[:, 0, 0])
    angles = np.unwrap(np.stack([roll, pitch, yaw], axis=1), axis=0)
    return pose[:, :3, 3] - home[:3, 3], angles
