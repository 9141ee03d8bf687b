"""Converged bending modes of a free plate of unit size, in standard form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..description.modes.outline import interior_angles
from ..errors import InputError, StateError
from . import canonical
from .eigen import Field, fem, solve
from .mesh import triangulate

_REENTRANT = np.radians(200.0)  # shapes are singular at corners wider than pi, which asks for a graded mesh
_SPARE = 6  # modes computed beyond those wanted, so that the last group of equal frequencies is whole
_ZERO = 0.1  # a rigid root is zero if below this part of the tolerance, relative to the first elastic root


@dataclass(frozen=True)
class UnitModes:
    """Elastic modes of a plate of unit size, bending stiffness and surface density, orthonormal to rounding.

    Attributes
    ----------
    frequencies : (k,) ascending; equal ones are made exactly equal
    points, weights : (q, 2), (q,) a quadrature rule over the plate, exact for products of shapes
    values : (q, k) shapes w at the points
    triangles : number of elements of the mesh
    longest : longest edge of the mesh
    change : largest relative change of a frequency in the last refinement
    cut : the last mode wanted and the first left out have equal frequencies
    """

    frequencies: Array
    points: Array
    weights: Array
    values: Array
    triangles: int
    longest: float
    change: float
    cut: bool
    _field: Field
    _rigid: Array
    _mix: Array

    def at(self, points: Array) -> tuple[Array, Array]:
        """Shapes (m, k) and gradients (m, 2, k) at any points (m, 2) of the plate."""
        values, slopes = self._field.at(points)
        flexible = values[:, 3:] - _affine(points) @ self._rigid
        return flexible @ self._mix, (slopes[:, :, 3:] - self._rigid[1:]) @ self._mix


def unit_modes(
    outline: Array, poisson: float, count: int, tolerance: float, most: int, say: Callable[[str], None]
) -> UnitModes:
    """The first ``count`` elastic modes on meshes refined until frequencies change by less than ``tolerance``."""
    skfem = fem()
    points, triangles = triangulate(outline)
    base = skfem.MeshTri(np.ascontiguousarray(points.T), np.ascontiguousarray(triangles.T))
    wanted = count + 3 + _SPARE
    previous: Array | None = None
    change, level = np.inf, 0
    while True:
        mesh = _refined(base, level, outline[interior_angles(outline) > _REENTRANT])
        level += 1
        size = mesh.t.shape[1]
        if size > most and level > 1:
            raise InputError(
                f"tolerance: got {tolerance:.3g}, but frequencies still changed by {change:.3g} and the next mesh "
                f"has {size} triangles; allow more than {most} (most_triangles) or a larger tolerance"
            )
        if 6 * mesh.p.shape[1] + mesh.facets.shape[1] < 2 * wanted:
            continue
        say(f"{size} triangles")
        field = solve(mesh, poisson, wanted)
        _check_rigid(field.roots, _ZERO * tolerance)
        frequencies = np.sqrt(field.roots[3:])
        if previous is not None:
            change = float(np.abs(frequencies / previous - 1.0)[:count].max())
            say(f"{size} triangles: frequencies changed by {change:.1e}, wanted {tolerance:.1e}")
            if change <= tolerance:
                return _standard(field, mesh, count, change)
        previous = frequencies


def _refined(base: Any, level: int, corners: Array) -> Any:
    """The mesh halved ``level`` times everywhere, and twice as often again at re-entrant corners."""
    mesh = base.refined(level) if level else base
    for _ in range(2 * level + 2 if len(corners) else 0):
        gaps = np.abs(mesh.p.T[:, None, :] - corners).max(axis=2).min(axis=1)
        mesh = mesh.refined(np.flatnonzero((gaps < 1e-12)[mesh.t].any(axis=0)))
    return mesh


def _check_rigid(roots: Array, zero: float) -> None:
    """The first three roots are the heave and the two tilts of the free plate; the fourth must not be one."""
    if not (np.abs(roots[:3]) <= zero * roots[3]).all():
        raise StateError(
            f"the free plate must have three rigid modes, got roots {roots[:4].tolist()}: rounding on this outline "
            "is too large for the tolerance"
        )


def _standard(field: Field, mesh: Any, count: int, change: float) -> UnitModes:
    """Remove what rounding left of rigid motion, make orthonormal, fix signs and equal pairs, keep ``count``."""
    frequencies = np.sqrt(field.roots[3:])
    affine = _affine(field.points)
    weighted = affine * field.weights[:, None]
    values = field.values[:, 3:]
    rigid = np.asarray(np.linalg.solve(weighted.T @ affine, weighted.T @ values), dtype=np.float64)
    values = values - affine @ rigid
    roots, vectors = np.linalg.eigh(values.T @ (field.weights[:, None] * values))
    mix = vectors @ (vectors / np.sqrt(roots)).T
    mix = mix @ canonical.turn(field.points, field.weights, values @ mix, frequencies)
    cut = False
    for group in canonical.groups(frequencies):
        frequencies[group] = frequencies[group].mean()
        cut |= group.start < count < group.stop
    edges = mesh.p[:, mesh.facets[0]] - mesh.p[:, mesh.facets[1]]
    return UnitModes(
        frequencies=frequencies[:count],
        points=field.points,
        weights=field.weights,
        values=values @ mix[:, :count],
        triangles=mesh.t.shape[1],
        longest=float(np.hypot(*edges).max()),
        change=change,
        cut=cut,
        _field=field,
        _rigid=rigid,
        _mix=mix[:, :count],
    )


def _affine(points: Array) -> Array:
    """1, x, y at points (m, 2): the rigid motions out of the plane, (m, 3)."""
    return np.column_stack([np.ones(len(points)), points])
