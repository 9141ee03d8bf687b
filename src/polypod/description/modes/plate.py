"""A thin plate of any polygon outline as data, and the rigid body it is when it does not bend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from .modes import array


@dataclass(frozen=True, eq=False)
class Plate:
    """A plate of uniform thickness in the plane z = 0 of the platform frame {P}.

    Attributes
    ----------
    outline : (n, 2) vertices of a simple polygon [m] in {P}, in either sense, the first not repeated
    thickness : [m]
    young : Young's modulus [Pa]
    poisson : Poisson's ratio, above -1 and below 0.5
    density : [kg/m^3]
    """

    outline: Any
    thickness: float
    young: float
    poisson: float
    density: float

    def __post_init__(self) -> None:
        vertices = polygon(self.outline)
        vertices.setflags(write=False)
        object.__setattr__(self, "outline", vertices)
        for field in ("thickness", "young", "density"):
            if not 0 < getattr(self, field) < np.inf:
                raise InputError(f"{field}: must be positive and finite, got {getattr(self, field)}")
        if not -1 < self.poisson < 0.5:
            raise InputError(f"poisson: must be between -1 and 0.5, got {self.poisson}")

    @property
    def rigidity(self) -> float:
        """Bending stiffness D = E h^3 / (12 (1 - nu^2)) [N m]."""
        return self.young * self.thickness**3 / (12.0 * (1.0 - self.poisson**2))

    @property
    def surface_density(self) -> float:
        """Mass of a unit of area [kg/m^2]."""
        return self.density * self.thickness

    def moments(self) -> tuple[float, Array, Array]:
        """Mass, first moment (3,) and second moment (3, 3) of the mass in the middle plane, about the origin of {P}.

        Integrals over a polygon by Green's theorem: each edge from p to q adds c/2 of area, c (p + q)/6 and
        c (p p^T + q q^T + (p + q)(p + q)^T)/24 with c = p x q.
        """
        p, q = self.outline, np.roll(self.outline, -1, axis=0)
        c = self.surface_density * (p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0])
        both = p + q
        first, second = np.zeros(3), np.zeros((3, 3))
        first[:2] = c @ both / 6
        squares = [a[:, :, None] * a[:, None, :] for a in (p, q, both)]
        second[:2, :2] = np.tensordot(c, squares[0] + squares[1] + squares[2], 1) / 24
        return float(c.sum() / 2), first, second


# ----------------------------------------------------------------------------------------------------------------------
# Polygons: the outline of a plate, checked, and where a point lies in it.


def polygon(outline: Any) -> Array:
    """The vertices of a simple polygon, (n, 2) [m], turned counter-clockwise; raises if it is not simple."""
    points = array("outline", outline, ("n", 2))
    count = len(points)
    if count < 3:
        raise InputError(f"outline: got {count} vertices, at least 3 are needed")
    size = float(np.ptp(points, axis=0).max())
    edges = np.roll(points, -1, axis=0) - points
    short = int(np.argmin(np.hypot(*edges.T)))
    if np.hypot(*edges[short]) <= 1e-9 * size:
        raise InputError(
            f"outline: vertices [{short}] and [{(short + 1) % count}] coincide at {points[short].tolist()}; give "
            "each vertex once and do not repeat the first at the end"
        )
    _check_simple(points, edges)
    turned = points if area(points) > 0 else points[::-1]
    return np.ascontiguousarray(turned)


def _check_simple(points: Array, edges: Array) -> None:
    """Raise if two edges touch other than neighbours at their common vertex."""
    count = len(points)
    for i in range(count):
        behind = -edges[i - 1]
        if abs(_cross(behind, edges[i])) <= 1e-9 * np.hypot(*behind) * np.hypot(*edges[i]) and behind @ edges[i] > 0:
            raise InputError(f"outline: the edges at vertex [{i}] overlap; the angle there must not be zero")
        others = np.array([j for j in range(i + 2, count) if (j + 1) % count != i], dtype=int)
        if len(others) == 0:
            continue
        ends = np.roll(points, -1, axis=0)
        start_side = _cross(edges[i], points[others] - points[i])
        end_side = _cross(edges[i], ends[others] - points[i])
        own_start = _cross(edges[others], points[i] - points[others])
        own_end = _cross(edges[others], ends[i] - points[others])
        apart = _boxes_apart(points[i], ends[i], points[others], ends[others])
        crossing = (start_side * end_side <= 0) & (own_start * own_end <= 0) & ~apart
        if crossing.any():
            j = int(others[np.argmax(crossing)])
            raise InputError(
                f"outline: the edge from vertex [{i}] intersects the edge from vertex [{j}]; must be a simple polygon"
            )


def _boxes_apart(start: Array, end: Array, starts: Array, ends: Array) -> NDArray[np.bool_]:
    low, high = np.minimum(start, end), np.maximum(start, end)
    lows, highs = np.minimum(starts, ends), np.maximum(starts, ends)
    return np.asarray(((lows > high) | (highs < low)).any(axis=1))


def _cross(a: Array, b: Array) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def area(points: Array) -> float:
    """Signed area of a polygon [m^2], positive if its vertices go counter-clockwise."""
    centred = points - points.mean(axis=0)
    return 0.5 * float(_cross(centred, np.roll(centred, -1, axis=0)).sum())


def centroid(points: Array) -> Array:
    """Centre of area of a polygon, (2,) [m]."""
    middle = points.mean(axis=0)
    one = points - middle
    two = np.roll(one, -1, axis=0)
    weight = _cross(one, two)
    return np.asarray(middle + (weight[:, None] * (one + two)).sum(axis=0) / (3.0 * weight.sum()))


def interior_angles(points: Array) -> Array:
    """Interior angle at each vertex of a counter-clockwise polygon, (n,) [rad], above pi where it is re-entrant."""
    ahead = np.roll(points, -1, axis=0) - points
    behind = np.roll(points, 1, axis=0) - points
    return np.asarray(np.arctan2(_cross(ahead, behind), (ahead * behind).sum(axis=1)) % (2.0 * np.pi))


def inside(points: Array, outline: Array) -> NDArray[np.bool_]:
    """Which points (m, 2) lie in the polygon, by the parity of crossings; undecided on the outline itself."""
    x, y = points[:, 0, None], points[:, 1, None]
    x1, y1 = outline.T
    x2, y2 = np.roll(outline, -1, axis=0).T
    spans = (y1 > y) != (y2 > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = x < (x2 - x1) * (y - y1) / (y2 - y1) + x1
    return np.asarray((spans & left).sum(axis=1) % 2 == 1)


def distance(points: Array, outline: Array) -> Array:
    """Distance of points (m, 2) from the plate of this outline, zero inside, (m,) [m]."""
    edges = np.roll(outline, -1, axis=0) - outline
    arms = points[:, None, :] - outline
    along = np.clip((arms * edges).sum(axis=2) / (edges**2).sum(axis=1), 0.0, 1.0)
    gaps = np.linalg.norm(arms - along[..., None] * edges, axis=2).min(axis=1)
    return np.where(inside(points, outline), 0.0, gaps)
