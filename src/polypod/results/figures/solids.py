"""Solids on paper: cylinders, balls and plates as shaded polygons, those farther away first."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .view import View

# Strips of a round bar across its width, from one edge (-1) to the other (1), and how light each is (0 black, 1 its
# colour, 2 white): light falls from the upper left.
_STRIPS = ((-1.0, -0.55, 0.62), (-0.55, 0.0, 0.86), (0.0, 0.45, 1.18), (0.45, 0.75, 1.42), (0.75, 1.0, 1.0))
_BALL = np.stack([np.cos(np.linspace(0, 2 * np.pi, 17)[:-1]), np.sin(np.linspace(0, 2 * np.pi, 17)[:-1])], axis=1)


class Solids:
    """Polygons of one view, collected and then drawn as one artist; sizes in the unit of the points [m]."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._polygons: list[tuple[float, Array, tuple[float, ...], float]] = []

    def polygon(
        self, points: Array, colour: str, alpha: float = 1.0, light: float = 1.0, depth: float | None = None
    ) -> None:
        """A flat face (m, 3) with a thin edge."""
        near = float(self.view.depth(points).mean()) if depth is None else depth
        self._polygons.append((near, self.view.project(points), (*_tone(colour, light), alpha), 0.6))

    def bar(self, start: Array, end: Array, radius: float, colour: str) -> None:
        """A round bar from start to end (3)."""
        a, b = self.view.project(np.stack([start, end]))
        along = b - a
        length = float(np.linalg.norm(along))
        depth = float(self.view.depth(0.5 * (start + end)))
        if length < 1e-3 * radius:  # seen from its end
            self.ball(0.5 * (start + end), radius, colour)
            return
        across = np.array([-along[1], along[0]]) / length * radius
        if across @ [-0.5, 1.0] < 0:
            across = -across
        for low, high, light in _STRIPS:
            strip = np.array([a + low * across, b + low * across, b + high * across, a + high * across])
            self._polygons.append((depth, strip, (*_tone(colour, light), 1.0), 0.0))

    def ball(self, centre: Array, radius: float, colour: str) -> None:
        """A round joint, before what it joins."""
        disc = self.view.project(centre) + radius * _BALL
        shine = self.view.project(centre) + radius * np.array([-0.3, 0.35]) + 0.35 * radius * _BALL
        depth = float(self.view.depth(centre)) + radius
        self._polygons.append((depth, disc, (*_tone(colour, 0.8), 1.0), 0.4))
        self._polygons.append((depth + 1e-9, shine, (*_tone(colour, 1.5), 1.0), 0.0))

    def plate(self, ring: Array, thickness: float, colour: str, alpha: float) -> None:
        """A plate (m, 3), its corners in order, ``thickness`` to both sides of their plane."""
        middle = ring.mean(axis=0)
        normal = np.linalg.svd(ring - middle)[2][2]
        normal = normal if normal @ self.view.towards > 0 else -normal
        back, front = ring - 0.5 * thickness * normal, ring + 0.5 * thickness * normal
        self.polygon(back, colour, alpha, 0.75)
        for k in range(len(ring)):
            side = np.array([back[k - 1], back[k], front[k], front[k - 1]])
            self.polygon(side, colour, alpha, 0.7)
        self.polygon(front, colour, alpha, 1.1)

    def parts(self) -> tuple[list[Array], Array, Array, list[float]]:
        """Corners (m, 2) of all polygons, the nearest last; colours (n, 4) of faces and edges; widths of the edges."""
        ordered = sorted(self._polygons, key=lambda polygon: polygon[0])
        faces = np.array([face for _, _, face, _ in ordered])
        widths = [width for _, _, _, width in ordered]
        edges = np.where(
            np.array(widths)[:, None] > 0, [0.13, 0.13, 0.13, 0.7], np.append(faces[:, :3], 0 * faces[:, 3:], 1)
        )
        return [polygon for _, polygon, _, _ in ordered], faces, edges, widths

    @property
    def box(self) -> tuple[Array, Array]:
        """Lower left and upper right corner of all polygons on paper (2)."""
        points = np.concatenate([polygon for _, polygon, _, _ in self._polygons])
        return points.min(axis=0), points.max(axis=0)


def _tone(colour: str, light: float) -> tuple[float, float, float]:
    """A colour, darker below 1 and towards white above it."""
    rgb = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    r, g, b = rgb * light if light <= 1 else rgb + (1 - rgb) * min(light - 1.0, 1.0)
    return float(r), float(g), float(b)
