"""Singularities for reading: where det J vanishes in sections, and the screw by which the platform moves there."""

from __future__ import annotations

from itertools import combinations
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...arrays import Array
from ...description import Robot
from ...drawing import posed
from ...tables import practical_unit
from .scene import draw, extent, frame
from .style import INK, dress, figure
from .view import best_view
from .workspace import coordinate_label, nearest, place_text

if TYPE_CHECKING:
    from ...analysis.singularity import SingularityReport

RED = "#B00020"


def loci(result: xr.Dataset) -> Figure:
    """Sections of a map: det J over that at home by colour, its zeros in red, the workspace's edge in black.

    Of a map of one coordinate a curve of det J.
    """
    names = [name for name in result.attrs["names"].split(", ") if name in result.inside.dims]
    if len(names) == 1:
        return _curve(result, names[0])
    pairs = list(combinations(names, 2))[:3]
    fig = figure(3.1 * len(pairs) + 0.9, 3.6)
    panels = fig.subplots(1, len(pairs), squeeze=False)[0]
    drawn: Any = None
    for axes, (a, b) in zip(panels, pairs, strict=True):
        others = {n: nearest(result, n) for n in names if n not in (a, b)}
        part = result.isel(others).transpose(b, a, ...)
        x, y = (part[n].values * practical_unit(part[n].units)[0] for n in (a, b))
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
    fig.colorbar(drawn, ax=list(panels)).set_label("det J relative to home", fontsize=9)
    handles = [Line2D([], [], color=RED, linewidth=2, label="singular"), Line2D([], [], color=INK, label="workspace")]
    fig.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return fig


def _curve(result: xr.Dataset, name: str) -> Figure:
    """det J over that at home along a coordinate, and a red line at zero."""
    fig = figure(5.4, 3.2)
    axes = fig.subplots()
    axes.plot(result[name].values * practical_unit(result[name].units)[0], result.determinant.values, color=INK)
    axes.axhline(0.0, color=RED, linewidth=1.0)
    dress(axes, coordinate_label(result, name), "det J relative to home")
    return fig


def screw(robot: Robot, pose: Array, report: SingularityReport) -> Figure:
    """The robot at a singular pose, and the axis about (or direction along) which its platform is free to move."""
    drawn = posed(robot, pose[None])
    view = best_view(robot, drawn)
    points, centre, free = drawn.platform[0], pose[:3, 3], report.screw
    half = 0.5 * float(np.ptp(drawn.joints[0], axis=0).max())
    near = free.point + free.axis * float((centre - free.point) @ free.axis)
    far = bool(np.linalg.norm(near - centre) > 2 * half)
    shown = centre if far or np.isinf(free.pitch) else near
    ends = np.stack([shown - 0.8 * half * free.axis, shown + 0.95 * half * free.axis])
    low, high = extent(robot, drawn, pose[None], view, ends)
    fig = figure(5.4, 5.4 * float((high - low)[1] / (high - low)[0]) + 0.8, fitted=False)
    axes: Any = fig.add_axes((0.02, 0.4 / fig.get_figheight(), 0.96, 1.0 - 0.75 / fig.get_figheight()))
    draw(axes, robot, drawn, 0, pose, view)
    axes.plot(
        *view.project(ends).T, color=RED, linewidth=2.0, linestyle="--" if np.isinf(free.pitch) else "-", zorder=12
    )
    _arrow(axes, view.project(ends[1] - 0.15 * half * free.axis), view.project(ends[1]), 2.0)
    if not np.isinf(free.pitch) and not far:
        across = np.linalg.svd(free.axis[None])[2][1:]
        angle = np.linspace(0.0, 1.7 * np.pi, 60)[:, None]
        ring = shown + 0.25 * half * (np.cos(angle) * across[0] + np.sin(angle) * across[1])
        ring = ring + free.axis * free.pitch * (angle - angle.mean())
        axes.plot(*view.project(ring).T, color=RED, linewidth=1.4, zorder=12)
    # arrows of how the attachment points would move
    velocity = free.twist[:3] + np.cross(free.twist[3:], points - centre)
    size = float(np.linalg.norm(velocity, axis=1).max()) or 1.0
    for point, way in zip(points, 0.3 * half / size * velocity, strict=True):
        _arrow(axes, view.project(point), view.project(point + way), 1.0)
    frame(axes, low, high)
    fig.text(0.03, 0.97, f"{robot.name}: {report.kind} singularity", va="top", fontsize=10, color=INK)
    fig.text(0.03, 0.025, fill(report.motion, 88), fontsize=8, color=INK)
    return fig


def _arrow(axes: Any, start: Array, end: Array, width: float) -> None:
    style = {"arrowstyle": "-|>", "color": RED, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
    axes.annotate("", end, start, arrowprops=style, zorder=12)
