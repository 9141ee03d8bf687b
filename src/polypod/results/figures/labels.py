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


def label_legs(axes: Any, names: list[str], lines: Skeleton, size: float) -> None:
    """Write the legs' names beside their joints on the base or the ends of their rails; ``size`` in points.

    Every leg takes the place with the fewest points of lines and of earlier labels under its name, then the nearest,
    then the one farthest out. Lines at all poses of the skeleton count and names stand by what does not move, so that
    pictures of several poses have them in the same places. Names from an earlier call go.
    """
    for text in list(axes.texts):
        text.remove()
    axes.apply_aspect()
    count = len(lines.joints)
    drawn = [(leg, _on_screen(axes, segment)) for k in range(count) for leg, segment in _segments(lines, k)]
    ink = np.concatenate([points for _, points in drawn])
    edges = np.concatenate([_on_screen(axes, segment) for segment in _edges(axes)])
    numbers = _numbers(axes)
    roots = _on_screen(axes, lines.roots[0])
    middle = roots.mean(axis=0)
    taken: list[tuple[Array, Array]] = []
    for number, name in enumerate(names):
        half = np.array([0.29 * size * len(name) + 1.0, 0.42 * size])
        # a leg that is one joint has no line of its own
        own = np.concatenate([roots[number, None], *(points for leg, points in drawn if leg == number)])
        others = np.concatenate([roots[:0], *(points for leg, points in drawn if leg not in (number, None))])
        places = [end for rail in lines.rails if rail.leg == number for end in _along(rail.ends)] or [
            lines.roots[0, number]
        ]
        anchors = [(place, _on_screen(axes, place[None])[0]) for place in places]
        best: tuple[float, Array, Array, Array] | None = None
        for (place, anchor), angle, distance in product(anchors, _DIRECTIONS, _DISTANCES):
            way = np.array([np.cos(angle), np.sin(angle)])
            centre = anchor + way * (distance + np.abs(way) @ half - 4.0)
            covered = _under(ink, centre, half) / count + 0.3 * _under(edges, centre, half)
            others_there = [*taken, *numbers]
            clashes = sum(bool((np.abs(other - centre) < half + extent + 1.0).all()) for other, extent in others_there)
            # a name nearer to another leg would be taken for that leg's
            doubt = max(_gap(own, centre, half) - _gap(others, centre, half) + 5.0, 0.0)
            outward = (anchor - middle) @ way / max(float(np.linalg.norm(anchor - middle)), 1e-9)
            cost = 4.0 * covered + 200.0 * clashes + 3.0 * doubt + 0.5 * distance - 3.0 * outward
            if best is None or cost < best[0]:
                best = cost, centre, anchor, place
        assert best is not None
        _, centre, anchor, place = best
        taken.append((centre, half))
        _write(axes, name, anchor, centre, size, place)


def _along(ends: Array) -> Array:
    """Ends and middle of a rail (3, 3)."""
    return np.stack([ends[0], ends.mean(axis=0), ends[1]])


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
    ring = lines.platform[k] if lines.outline is None else lines.outline[k]
    ends += [(None, ring[[i, i - 1]]) for i in range(len(ring))]
    return [(leg, a + _SAMPLES * (b - a)) for leg, (a, b) in ends]


def _numbers(axes: Any) -> list[tuple[Array, Array]]:
    """Middle and half of the size of the axes' numbers and labels on paper [point]; known once they are drawn."""
    axes.figure.canvas.draw()
    texts = []
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        texts += [axis.label, *(tick.label1 for tick in axis.get_major_ticks() if tick.label1.get_text())]
    boxes = [text.get_window_extent() for text in texts]
    scale = 72.0 / axes.figure.dpi
    return [(scale * 0.5 * (box.min + box.max), scale * 0.5 * (box.max - box.min)) for box in boxes]


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
