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
from .eigen import MeshModes, fem, solve
from .mesh import triangulate

_REENTRANT = np.radians(200.0)  # shapes are singular at corners wider than pi: there the mesh is graded
_EXTRA_MODES = 6  # modes computed beyond those wanted, so that the last group of equal frequencies is whole
_RIGID_TOLERANCE = 0.1  # rigid eigenvalues are below this part of the tolerance times the first elastic one


@dataclass(frozen=True)
class UnitModes:
    """Elastic modes of a plate of unit size, bending stiffness and surface density, orthonormal to rounding.

    Attributes
    ----------
    frequencies : (k,) ascending; equal ones are made exactly equal
    points, weights : (q, 2), (q,) a quadrature rule over the plate, exact for products of shapes
    values : (q, k) shapes w at the points
    triangles : number of elements of the mesh
    longest_edge : of the mesh
    change : largest relative change of a frequency in the last refinement
    splits_pair : the last mode wanted and the first left out have equal frequencies
    """

    frequencies: Array
    points: Array
    weights: Array
    values: Array
    triangles: int
    longest_edge: float
    change: float
    splits_pair: bool
    _on_mesh: MeshModes
    _rigid: Array
    _mixing: Array

    def at(self, points: Array) -> tuple[Array, Array]:
        """Shapes (m, k) and gradients (m, 2, k) at any points (m, 2) of the plate."""
        values, slopes = self._on_mesh.at(points)
        flexible = values[:, 3:] - _affine(points) @ self._rigid
        return flexible @ self._mixing, (slopes[:, :, 3:] - self._rigid[1:]) @ self._mixing


def unit_modes(
    outline: Array, poisson: float, count: int, tolerance: float, max_triangles: int, say: Callable[[str], None]
) -> UnitModes:
    """The first ``count`` elastic modes on meshes refined until frequencies change by less than ``tolerance``."""
    skfem = fem()
    points, triangles = triangulate(outline)
    base = skfem.MeshTri(np.ascontiguousarray(points.T), np.ascontiguousarray(triangles.T))
    wanted = count + 3 + _EXTRA_MODES
    previous: Array | None = None
    change, level = np.inf, 0
    while True:
        mesh = _refined(base, level, outline[interior_angles(outline) > _REENTRANT])
        level += 1
        size = mesh.t.shape[1]
        if size > max_triangles and level > 1:
            raise InputError(
                f"tolerance: got {tolerance:.3g}, but frequencies still changed by {change:.3g} and the next mesh "
                f"has {size} triangles; allow more than {max_triangles} (most_triangles) or a larger tolerance"
            )
        if 6 * mesh.p.shape[1] + mesh.facets.shape[1] < 2 * wanted:
            continue
        say(f"{size} triangles")
        modes = solve(mesh, poisson, wanted)
        _check_rigid(modes.eigenvalues, _RIGID_TOLERANCE * tolerance)
        frequencies = np.sqrt(modes.eigenvalues[3:])
        if previous is not None:
            change = float(np.abs(frequencies / previous - 1.0)[:count].max())
            say(f"{size} triangles: frequencies changed by {change:.1e}, wanted {tolerance:.1e}")
            if change <= tolerance:
                return _standard(modes, mesh, count, change)
        previous = frequencies


def _refined(base: Any, level: int, corners: Array) -> Any:
    """The mesh halved ``level`` times everywhere, and twice as often again at re-entrant corners."""
    mesh = base.refined(level) if level else base
    for _ in range(2 * level + 2 if len(corners) else 0):
        gaps = np.abs(mesh.p.T[:, None, :] - corners).max(axis=2).min(axis=1)
        mesh = mesh.refined(np.flatnonzero((gaps < 1e-12)[mesh.t].any(axis=0)))
    return mesh


def _check_rigid(eigenvalues: Array, zero: float) -> None:
    """The first three eigenvalues are those of heave and two tilts of the free plate; the fourth must not be rigid."""
    if not (np.abs(eigenvalues[:3]) <= zero * eigenvalues[3]).all():
        raise StateError(
            f"the free plate must have three rigid modes, got eigenvalues {eigenvalues[:4].tolist()}: rounding on this "
            "outline is too large for the tolerance"
        )


def _standard(modes: MeshModes, mesh: Any, count: int, change: float) -> UnitModes:
    """Remove what rounding left of rigid motion, make orthonormal, fix signs and equal pairs, keep ``count``."""
    frequencies = np.sqrt(modes.eigenvalues[3:])
    affine = _affine(modes.points)
    weighted = affine * modes.weights[:, None]
    values = modes.values[:, 3:]
    rigid = np.asarray(np.linalg.solve(weighted.T @ affine, weighted.T @ values), dtype=np.float64)
    values = values - affine @ rigid
    eigenvalues, vectors = np.linalg.eigh(values.T @ (modes.weights[:, None] * values))
    mixing = vectors @ (vectors / np.sqrt(eigenvalues)).T
    mixing = mixing @ canonical.basis(modes.points, modes.weights, values @ mixing, frequencies)
    splits_pair = False
    for group in canonical.groups(frequencies):
        frequencies[group] = frequencies[group].mean()
        splits_pair |= group.start < count < group.stop
    edges = mesh.p[:, mesh.facets[0]] - mesh.p[:, mesh.facets[1]]
    return UnitModes(
        frequencies=frequencies[:count],
        points=modes.points,
        weights=modes.weights,
        values=values @ mixing[:, :count],
        triangles=mesh.t.shape[1],
        longest_edge=float(np.hypot(*edges).max()),
        change=change,
        splits_pair=splits_pair,
        _on_mesh=modes,
        _rigid=rigid,
        _mixing=mixing[:, :count],
    )


def _affine(points: Array) -> Array:
    """1, x, y at points (m, 2): the rigid motions out of the plane, (m, 3)."""
    return np.column_stack([np.ones(len(points)), points])
