"""Names of the legs in a picture, each near where its leg starts and off the lines as far as there is room."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib import patheffects
from mpl_toolkits.mplot3d import proj3d
from numpy.typing import NDArray

from .skeleton import Skeleton
from .style import INK

Array = NDArray[np.float64]
_DIRECTIONS = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
_DISTANCES = (7.0, 10.0, 14.0, 19.0)  # points from the anchor to the label's edge
_SAMPLES = np.linspace(0.0, 1.0, 60)[:, None]


def label_legs(axes: Any, names: list[str], lines: Skeleton, k: int, size: float) -> None:
    """Write the legs' names beside their first joints or the ends of their rails at pose k; ``size`` in points.

    Every leg takes the place with the fewest points of lines and of earlier labels under its name, then the nearest,
    then the one farthest out.
    """
    axes.apply_aspect()
    drawn = [(leg, _on_screen(axes, segment)) for leg, segment in _segments(lines, k)]
    ink = np.concatenate([points for _, points in drawn])
    edges = np.concatenate([_on_screen(axes, segment) for segment in _edges(axes)])
    roots = _on_screen(axes, lines.roots[k])
    middle = roots.mean(axis=0)
    taken: list[tuple[Array, Array]] = []
    for number, name in enumerate(names):
        half = np.array([0.29 * size * len(name) + 1.0, 0.42 * size])
        own = np.concatenate([points for leg, points in drawn if leg == number])
        others = np.concatenate([roots[:0], *(points for leg, points in drawn if leg not in (number, None))])
        anchors = [roots[number]]
        for rail in lines.rails:
            if rail.leg == number:
                anchors += list(_on_screen(axes, rail.ends))
        best: tuple[float, Array] | None = None
        for anchor, angle, distance in product(anchors, _DIRECTIONS, _DISTANCES):
            way = np.array([np.cos(angle), np.sin(angle)])
            centre = anchor + way * (distance + np.abs(way) @ half - 4.0)
            covered = _under(ink, centre, half) + 0.3 * _under(edges, centre, half)
            clashes = sum(bool((np.abs(other - centre) < half + extent + 1.0).all()) for other, extent in taken)
            # a name nearer to another leg would be taken for that leg's
            doubt = max(_gap(own, centre, half) - _gap(others, centre, half) + 5.0, 0.0)
            outward = (anchor - middle) @ way / max(float(np.linalg.norm(anchor - middle)), 1e-9)
            cost = 4.0 * covered + 200.0 * clashes + 3.0 * doubt + 0.5 * distance - 3.0 * outward
            if best is None or cost < best[0]:
                best = cost, centre
        assert best is not None
        taken.append((best[1], half))
        _write(axes, name, roots[number], best[1], size, lines.roots[k][number])


def _under(points: Array, centre: Array, half: Array) -> float:
    """How many points lie under a label of half its width and height."""
    return float((np.abs(points - centre) < half + 1.5).all(axis=1).sum())


def _gap(points: Array, centre: Array, half: Array) -> float:
    """Distance from a label's edge to the nearest of some points [point]."""
    outside = np.maximum(np.abs(points - centre) - half, 0.0)
    return float(np.linalg.norm(outside, axis=1).min(initial=1e3))


def _write(axes: Any, name: str, root: Array, centre: Array, size: float, point: Array) -> None:
    x, y, _ = proj3d.proj_transform(*point, axes.get_proj())
    text = axes.annotate(
        name, (x, y), tuple(centre - root), textcoords="offset points", ha="center", va="center", fontsize=size,
        color=INK, annotation_clip=False, zorder=20,
    )  # fmt: skip
    text.set_path_effects([patheffects.withStroke(linewidth=2.0, foreground="white")])


def _segments(lines: Skeleton, k: int) -> list[tuple[int | None, Array]]:
    """Points along everything that is drawn, a line (60, 3) each, with the number of its leg if it is one's."""
    ends: list[tuple[int | None, Array]] = [(bone.leg, bone.ends[k]) for bone in lines.bones]
    ends += [(rail.leg, rail.ends) for rail in lines.rails]
    ring = lines.platform[k]
    ends += [(None, ring[[i, i - 1]]) for i in range(len(ring))]
    return [(leg, a + _SAMPLES * (b - a)) for leg, (a, b) in ends]


def _edges(axes: Any) -> list[Array]:
    """Points along the edges of the frame, where its numbers stand."""
    limits = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()])
    corners = [np.array([limits[i, bit] for i, bit in enumerate(bits)]) for bits in product((0, 1), repeat=3)]
    pairs = [(a, b) for a, b in product(corners, corners) if (a != b).sum() == 1]
    return [a + _SAMPLES * (b - a) for a, b in pairs]


def _on_screen(axes: Any, points: Array) -> Array:
    """Points (n, 3) as places on paper (n, 2) [point]."""
    x, y, _ = proj3d.proj_transform(*points.T, axes.get_proj())
    flat: Array = axes.transData.transform(np.stack([x, y], axis=1)) * 72.0 / axes.figure.dpi
    return flat
