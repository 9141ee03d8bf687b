"""Singularities for reading: where det J vanishes in sections, and the screw by which the platform moves there."""

from __future__ import annotations

from itertools import combinations
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from ...description import Robot
from .scene import draw
from .skeleton import skeleton
from .style import INK, dress, figure
from .workspace import SCALE, coordinate_label, nearest, place_text

if TYPE_CHECKING:
    from ...analysis.singularity import SingularityReport

Array = NDArray[np.float64]
RED = "#B00020"


def loci(result: xr.Dataset) -> Figure:
    """Sections of a map: det J over that at home by colour, its zeros in red, the workspace's edge in black."""
    names = [name for name in result.attrs["names"].split(", ") if name in result.inside.dims]
    pairs = list(combinations(names, 2))[:3]
    made = figure(3.1 * len(pairs) + 0.9, 3.6)
    panels = made.subplots(1, len(pairs), squeeze=False)[0]
    drawn: Any = None
    for axes, (a, b) in zip(panels, pairs, strict=True):
        others = {n: nearest(result, n) for n in names if n not in (a, b)}
        part = result.isel(others).transpose(b, a, ...)
        x, y = (part[n].values * SCALE[part[n].units][0] for n in (a, b))
        value = part.determinant.values
        drawn = axes.pcolormesh(x, y, np.clip(value, -1, 1), cmap="RdBu", vmin=-1, vmax=1, shading="nearest")
        if np.nanmin(value) < 0 < np.nanmax(value):
            axes.contour(x, y, value, [0.0], colors=RED, linewidths=2.0)
        if part.inside.any() and not part.inside.all():
            axes.contour(x, y, part.margin.values, [0.0], colors=INK, linewidths=1.0)
        fixed = ", ".join(f"{n} {place_text(result[n].values[k], result[n].units)}" for n, k in others.items())
        dress(axes, coordinate_label(result, a), coordinate_label(result, b), fixed)
        axes.grid(False)
        if part[a].units == part[b].units:
            axes.set_aspect("equal")
    made.colorbar(drawn, ax=list(panels)).set_label("det J over that at home", fontsize=9)
    handles = [Line2D([], [], color=RED, linewidth=2, label="singular"), Line2D([], [], color=INK, label="workspace")]
    made.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return made


def screw(robot: Robot, pose: Array, report: SingularityReport) -> Figure:
    """The robot at a singular pose, and the axis about (or direction along) which its platform is free to move."""
    made = figure(5.4, 5.4, fitted=False)
    axes = made.add_axes((0.02, 0.08, 0.96, 0.84), projection="3d")
    lines = skeleton(robot, pose[None])
    draw(axes, robot, lines, 0, None, 7.0)
    low, high = np.array([getattr(axes, f"get_{name}lim")() for name in "xyz"]).T
    centre, half = pose[:3, 3], 0.5 * float((high - low).max())
    near = report.screw.point + report.screw.axis * float((centre - report.screw.point) @ report.screw.axis)
    far = bool(np.linalg.norm(near - centre) > 2 * half)
    shown = centre if far or np.isinf(report.screw.pitch) else near
    ends = np.stack([shown - 0.8 * half * report.screw.axis, shown + 0.8 * half * report.screw.axis])
    axes.plot(*ends.T, color=RED, linewidth=2.0, linestyle="--" if np.isinf(report.screw.pitch) else "-")
    axes.quiver(*ends[1], *(0.15 * half * report.screw.axis), color=RED, linewidth=2.0)
    if not np.isinf(report.screw.pitch) and not far:
        across = np.linalg.svd(report.screw.axis[None])[2][1:]
        angle = np.linspace(0.0, 1.7 * np.pi, 60)[:, None]
        ring = shown + 0.25 * half * (np.cos(angle) * across[0] + np.sin(angle) * across[1])
        ring = ring + report.screw.axis * report.screw.pitch * (angle - angle.mean())
        axes.plot(*ring.T, color=RED, linewidth=1.4)
    # arrows of how the attachment points would move
    points = lines.platform[0]
    velocity = report.screw.twist[:3] + np.cross(report.screw.twist[3:], points - centre)
    size = float(np.linalg.norm(velocity, axis=1).max()) or 1.0
    axes.quiver(*points.T, *(0.3 * half / size * velocity).T, color=RED, linewidth=1.0, arrow_length_ratio=0.25)
    made.text(0.03, 0.97, f"{robot.name}: {report.kind} singularity", va="top", fontsize=10, color=INK)
    made.text(0.03, 0.025, fill(report.motion, 88), fontsize=8, color=INK)
    return made
