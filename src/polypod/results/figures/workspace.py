"""Workspaces for reading: sections and a surface coloured by the limit that binds, tilt by height, dexterity."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import scipy
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from ...arrays import Array
from ...datasets import robot_of
from ...drawing import posed
from ...errors import InputError
from ...tables import practical_unit
from .style import COLOURS, FAINT, INK, dress, figure

_KINDS = ("full", "light", "dark", "grey")
_LISTED = 12


def sections(result: xr.Dataset) -> Figure:
    """Planes of two coordinates through the point asked for; the colour is the limit that is nearest there."""
    names = [name for name in result.attrs["names"].split(", ") if name in result.inside.dims]
    if len(names) < 2:
        raise InputError(f"sections: needs a map of at least two coordinates, got one of {', '.join(names)}")
    pairs = list(combinations(names, 2))[:3]
    fig = figure(3.0 * len(pairs) + 0.6, 4.2)
    turns = [name for name in names if result[name].units == "rad"]
    what = "positions" if not turns else "orientations" if len(turns) == len(names) else "poses"
    _title(fig, result, f"{what} reached from the point asked for; dashed: platform at home" if what == "positions"
           else f"{what} reached from the point asked for")  # fmt: skip
    panels = fig.subplots(1, len(pairs), squeeze=False)[0]
    colours = _colours(result)
    outline = _platform(result) if what == "positions" else {}
    for axes, (a, b) in zip(panels, pairs, strict=True):
        others = {n: nearest(result, n) for n in names if n not in (a, b)}
        _section(axes, result.isel(others).transpose(b, a, ...), a, b, colours)
        fixed = ", ".join(f"{n} {place_text(result[n].values[k], result[n].units)}" for n, k in others.items())
        dress(axes, coordinate_label(result, a), coordinate_label(result, b), fixed)
        axes.grid(False)
        if a in outline and b in outline:
            axes.plot(outline[a], outline[b], color=INK, linewidth=0.8, linestyle=(0, (3, 3)), alpha=0.6, zorder=4)
    _legend(fig, result, colours)
    return fig


def _title(fig: Figure, result: xr.Dataset, text: str) -> None:
    fig.suptitle(f"{result.attrs.get('robot', '')}: {text}", fontsize=10, color=INK, x=0.01, ha="left")


def _platform(result: xr.Dataset) -> dict[str, Array]:
    """Outline of the platform at home, by the coordinate of an axis, in practical units: for scale."""
    robot = robot_of(result)
    drawn = posed(robot, robot.home.matrix[None])
    points = drawn.platform[0] - robot.home.matrix[:3, 3]
    if len(points) < 3:
        return {}
    factor = practical_unit("m")[0]
    middle = points.mean(axis=0)
    order = np.argsort(np.arctan2(*(points - middle)[:, 1::-1].T))
    ring = factor * points[[*order, order[0]]]
    return dict(zip("xyz", ring.T, strict=True))


def _section(axes: Axes, part: xr.Dataset, a: str, b: str, colours: dict[int, Any]) -> None:
    x, y = (part[name].values * practical_unit(part[name].units)[0] for name in (a, b))
    inside = part.connected.values.astype(bool)
    table = np.ones((max(colours, default=0) + 1, 3))
    for number, colour in colours.items():
        table[number] = to_rgb(colour)
    # cells at the rim have the colour of their neighbour inside; the rim itself is drawn where the margin vanishes
    own = scipy.ndimage.distance_transform_edt(~inside, return_distances=False, return_indices=True)
    near = tuple(own) if inside.any() else tuple(np.indices(inside.shape))
    image = table[np.clip(part.binding.values, 0, len(table) - 1)][near]
    pale = 0.55 * (1.0 - np.clip(part.margin.values, 0.0, 1.0))[near][..., None] + 0.2
    image = 1.0 - (1.0 - image) * pale if inside.any() else np.ones_like(image)
    half = 0.5 * (x[1] - x[0]), 0.5 * (y[1] - y[0])
    box = (x[0] - half[0], x[-1] + half[0], y[0] - half[1], y[-1] + half[1])
    shown = axes.imshow(image, origin="lower", extent=box, aspect="auto", interpolation="nearest")
    if inside.any() and not inside.all():
        margin = np.where(part.inside == part.connected, part.margin, -0.1)
        axes.contour(x, y, margin, [0.0], colors=INK, linewidths=1.2)
        area = axes.contourf(x, y, margin, [0.0, 1.0 + float(np.nanmax(margin))], alpha=0.0)
        shown.set_clip_path(area.get_paths()[0], axes.transData)
    smooth = part.determinant.values
    if np.nanmin(smooth) < 0 < np.nanmax(smooth):
        axes.contour(x, y, smooth, [0.0], colors="#B00020", linewidths=1.4, linestyles="--")
    if part[a].units == part[b].units:
        axes.set_aspect("equal")


def surface(result: xr.Dataset) -> Figure:
    """How far one goes straight in every direction, as a surface; the colour is the limit that stops it."""
    fig = figure(6.0, 4.6, fitted=False)
    _title(fig, result, "how far it goes straight in every direction")
    axes: Any = fig.add_axes((0.02, 0.16, 0.9, 0.78), projection="3d")
    units = [str(unit) for unit in result.unit.values]
    points = result.surface.values * np.array([practical_unit(unit)[0] for unit in units])
    # poles are closed by the mean of the first and last rings
    poles = [np.broadcast_to(ring.mean(axis=0), ring.shape) for ring in (points[0], points[-1])]
    rings = np.concatenate([poles[0][None], points, poles[1][None]])
    binding = result.surface_binding.values
    colours = _colours(result)
    quads, faces = [], []
    light = np.array([0.4, -0.5, 0.77])
    for i in range(len(rings) - 1):
        for j in range(rings.shape[1]):
            k = (j + 1) % rings.shape[1]
            quad = np.array([rings[i, j], rings[i + 1, j], rings[i + 1, k], rings[i, k]])
            normal = np.cross(quad[2] - quad[0], quad[3] - quad[1])
            bright = 0.62 + 0.38 * abs(float(normal @ light) / (float(np.linalg.norm(normal)) or 1.0))
            colour = np.array(to_rgb(colours.get(int(binding[min(max(i - 1, 0), len(binding) - 1), j]), FAINT)))
            quads.append(quad)
            faces.append(bright * colour)
    axes.add_collection3d(Poly3DCollection(quads, facecolors=faces, edgecolors=faces, linewidths=0.3))
    low, high = points.reshape(-1, 3).min(axis=0), points.reshape(-1, 3).max(axis=0)
    for axis, name, unit, a, b in zip("xyz", result.coordinate.values, units, low, high, strict=True):
        getattr(axes, f"set_{axis}lim")(a, b)
        getattr(axes, f"set_{axis}label")(f"{name} [{practical_unit(unit)[1]}]", fontsize=9)
    axes.tick_params(labelsize=7)
    axes.set_box_aspect(high - low if len(set(units)) == 1 else np.ones(3), zoom=1.25)
    axes.set_proj_type("ortho")
    axes.view_init(22, -58)
    _legend(fig, result, colours)
    return fig


def tilt(result: xr.Dataset) -> Figure:
    """How far the platform tilts at each height: in the best and the worst direction, and in every one."""
    fig = figure(7.2, 3.6)
    _title(fig, result, "tilt at each height")
    left, right = fig.subplots(1, 2, width_ratios=[1, 1.15])
    z, angle = 1e3 * result.z.values, np.degrees(result.tilt.values)
    good = np.isfinite(angle).all(axis=1)
    left.fill_betweenx(z[good], angle[good].min(axis=1), angle[good].max(axis=1), color=COLOURS[0], alpha=0.18)
    left.plot(angle[good].min(axis=1), z[good], color=COLOURS[0], linewidth=2.0, label="every direction")
    left.plot(angle[good].max(axis=1), z[good], color=COLOURS[0], linewidth=1.0, linestyle="--", label="best direction")
    left.set_xlim(0.0, None)
    dress(left, "tilt [deg]", "z from home [mm]")
    left.legend(fontsize=8, frameon=False)
    direction = np.degrees(np.r_[result.direction.values, 2 * np.pi])
    drawn = right.pcolormesh(direction, z, np.c_[angle, angle[:, :1]], cmap="viridis", shading="gouraud")
    right.axhline(0.0, color="white", linewidth=0.8, linestyle=":")
    fig.colorbar(drawn, ax=right).set_label("tilt [deg]", fontsize=9)
    right.set_xticks([0, 90, 180, 270, 360])
    dress(right, "direction of the tilt axis [deg]", "")
    right.grid(False)
    return fig


def dexterity(result: xr.Dataset) -> Figure:
    """Part of the orientations asked for that are possible at each position, in planes through home."""
    names = list(result.orientation_share.dims)
    pairs = list(combinations(names, 2))[:3]
    fig = figure(3.0 * len(pairs) + 0.8, 3.6)
    _title(fig, result, "orientations possible at each position")
    panels = fig.subplots(1, len(pairs), squeeze=False)[0]
    colours = ListedColormap(np.concatenate([np.ones((1, 3)), _ramp()]))
    drawn: Any = None
    for axes, (a, b) in zip(panels, pairs, strict=True):
        others = {n: nearest(result, str(n)) for n in names if n not in (a, b)}
        share = 100 * result.orientation_share.isel(others).transpose(b, a).values
        x, y = (result[n].values * practical_unit(result[n].units)[0] for n in (a, b))
        drawn = axes.pcolormesh(x, y, share, cmap=colours, vmin=0, vmax=100, shading="nearest")
        dress(axes, coordinate_label(result, str(a)), coordinate_label(result, str(b)))
        axes.grid(False)
        if result[a].units == result[b].units:
            axes.set_aspect("equal")
    fig.colorbar(drawn, ax=list(panels)).set_label("orientations possible [%]", fontsize=9)
    return fig


def _ramp() -> Array:
    from matplotlib import colormaps

    return np.asarray(colormaps["viridis_r"](np.linspace(0.0, 1.0, 100)))[:, :3]


def _colours(result: xr.Dataset) -> dict[int, Any]:
    """A colour for each limit: that of its leg, lighter or darker for the second and third kind of limit of a leg."""
    kinds = list(dict.fromkeys(map(str, result.limit_name.values)))
    legs = list(dict.fromkeys(str(text).partition(": ")[0] for text in result.limit.values))
    colours: dict[int, Any] = {}
    for number, (text, kind) in enumerate(zip(result.limit.values, result.limit_name.values, strict=True)):
        leg = str(text).partition(": ")[0]
        if leg == "whole range":
            colours[number] = FAINT  # as maps have it where no limit is near
            continue
        if leg == "robot":
            colours[number] = {"singularity": "#B00020"}.get(str(kind), "#555555")
            continue
        base = np.array(to_rgb(COLOURS[legs.index(leg) % len(COLOURS)]))
        shade = _KINDS[kinds.index(str(kind)) % len(_KINDS)]
        mixed = {"full": base, "light": 0.5 + 0.5 * base, "dark": 0.55 * base, "grey": 0.5 * base + 0.25}[shade]
        colours[number] = tuple(mixed)
    return colours


def _legend(fig: Figure, result: xr.Dataset, colours: dict[int, Any]) -> None:
    """Limits that bind, those with the largest part of the surface first, and the lines."""
    share = result.share.values if "share" in result else _seen(result)
    order = [int(k) for k in np.argsort(-share, kind="stable") if share[k] > 0.005]
    handles: list[Any] = [
        Patch(color=colours[k], label=f"{result.limit.values[k]}  {100 * share[k]:.0f} %")
        for k in sorted(order[:_LISTED])
    ]
    if len(order) > _LISTED:
        handles.append(Patch(color="white", label=f"and {len(order) - _LISTED} more"))
    if "determinant" in result and float(result.determinant.min()) < 0:
        handles.append(Line2D([], [], color="#B00020", linestyle="--", label="det J = 0"))
    # a column of words takes some two inches
    columns = min(4, max(1, int(fig.get_figwidth() / 2.0)))
    fig.legend(
        handles=handles, loc="outside lower center" if fig.get_layout_engine() else "lower center",
        ncols=columns, fontsize=7.5, frameon=False, title_fontsize=7.5,
        title=f"limiting constraint, share of {'boundary' if 'share' in result else 'directions'}",
    )  # fmt: skip


def _seen(result: xr.Dataset) -> Array:
    """Part of the directions of a surface in which each limit binds."""
    binding = result.surface_binding.values
    counts = np.bincount(binding[binding >= 0].ravel(), minlength=result.sizes["limit"])
    return counts / max(binding.size, 1)


def nearest(result: xr.Dataset, name: str) -> int:
    """Number of the grid point of a coordinate that is nearest to where the map was asked for."""
    at = np.atleast_1d(result.attrs["at"])[result.attrs["names"].split(", ").index(name)]
    return int(np.abs(result[name].values - at).argmin())


def coordinate_label(result: xr.Dataset, name: str) -> str:
    """Name of a coordinate with its practical unit, for an axis."""
    return f"{name} [{practical_unit(result[name].units)[1]}]"


def place_text(value: float, unit: str) -> str:
    """A coordinate's value in its practical unit."""
    factor, shown = practical_unit(unit)
    return f"{value * factor:.3g} {shown}"
