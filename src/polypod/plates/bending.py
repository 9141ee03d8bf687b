"""Converged bending modes of a free plate of unit size, in standard form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import eigh  # type: ignore[import-untyped, unused-ignore]
from scipy.sparse import coo_array  # type: ignore[import-untyped, unused-ignore]
from scipy.sparse.linalg import (
    eigsh,  # type: ignore[import-untyped, unused-ignore]
    splu,  # type: ignore[import-untyped, unused-ignore]
)

from ..arrays import Array
from ..description.modes.plate import interior_angles
from ..errors import InputError, StateError
from .argyris import Argyris
from .mesh import triangulate

# ----------------------------------------------------------------------------------------------------------------------
# Bending of a thin free plate as an eigenproblem on a mesh of Argyris triangles, in coordinates of unit size.
#
# int (1 - nu) w_ab v_ab + nu w_aa v_bb = mu int w v for all v, with natural (free) boundary conditions. The
# quadrature rule is exact for polynomials of degree 10, hence for both integrals.

_SHIFT = -1.0  # any negative number of the order of the first eigenvalues keeps the factored matrix definite


def fem() -> Any:
    """The scikit-fem package, imported when first needed: most models do without a plate."""
    return import_module("skfem")


@dataclass(frozen=True)
class MeshModes:
    """Mode shapes on one mesh.

    Attributes
    ----------
    eigenvalues : (k,) mu in ascending order, the three of rigid motion included
    points, weights : (q, 2) and (q,) quadrature points and weights over the plate
    values : (q, k) shapes at the quadrature points
    vectors : (unknowns, k) the shapes as coefficients of the elements' functions
    """

    eigenvalues: Array
    points: Array
    weights: Array
    values: Array
    elements: Argyris
    vectors: Array

    def at(self, points: Array) -> tuple[Array, Array]:
        """Shapes (m, k) and their gradients (m, 2, k) at any points (m, 2) of the plate."""
        cells = self.elements.nearest(points)
        own = self.vectors[self.elements.dofs[cells]]
        w, w_x, w_y = (
            (self.elements.tabulate(cells, points[:, None], a, b) @ own)[:, 0] for a, b in ((0, 0), (1, 0), (0, 1))
        )
        return w, np.stack([w_x, w_y], axis=1)


def solve(mesh: Any, poisson: float, count: int) -> MeshModes:
    """The first ``count`` modes of the free plate on a scikit-fem mesh of triangles."""
    skfem = fem()
    elements = Argyris.on(mesh)
    reference, share = skfem.quadrature.get_quadrature(skfem.MeshTri.elem, 10)
    sides = elements.corners[:, 1:] - elements.corners[:, :1]
    points = elements.corners[:, :1] + np.einsum("aq,tab->tqb", reference, sides)
    weights = np.abs(np.linalg.det(sides))[:, None] * share
    cells = np.arange(len(weights))
    w, w_xx, w_xy, w_yy = (
        elements.tabulate(cells, points, a, b) * np.sqrt(weights)[..., None]
        for a, b in ((0, 0), (2, 0), (1, 1), (0, 2))
    )
    bending = (1.0 - poisson) * (_gram(w_xx) + 2.0 * _gram(w_xy) + _gram(w_yy)) + poisson * _gram(w_xx + w_yy)
    K, M = (_assemble(local, elements.dofs, elements.size) for local in (bending, _gram(w)))
    eigenvalues, vectors = _eigen(K, M, count)
    values = w @ vectors[elements.dofs] / np.sqrt(weights)[..., None]
    return MeshModes(eigenvalues, points.reshape(-1, 2), weights.ravel(), values.reshape(-1, count), elements, vectors)


def _gram(part: Array) -> Array:
    """Element matrices (t, i, j) of products of functions (t, q, i)."""
    return np.asarray(part.transpose(0, 2, 1) @ part)


def _assemble(local: Array, dofs: Any, size: int) -> Any:
    rows = np.broadcast_to(dofs[:, :, None], local.shape).ravel()
    columns = np.broadcast_to(dofs[:, None, :], local.shape).ravel()
    return coo_array((local.ravel(), (rows, columns)), shape=(size, size)).tocsc()


def _eigen(K: Any, M: Any, count: int) -> tuple[Array, Array]:
    """Smallest eigenvalues and vectors; unknowns are scaled, as values and derivatives differ in size.

    Lanczos iteration may miss one of several equal eigenvalues; a Sturm count tells, and then the dense solver runs.
    """
    size = K.shape[0]
    scale = 1.0 / np.sqrt(K.diagonal() + M.diagonal())
    K, M = ((matrix * scale[:, None] * scale[None, :]).tocsc() for matrix in (K, M))
    start = 1.0 + np.cos(np.arange(size))  # fixed and without symmetry, so that every run gives the same
    eigenvalues, vectors = eigsh(K, count, M, sigma=_SHIFT, v0=start)
    order = np.argsort(eigenvalues)
    eigenvalues, vectors = eigenvalues[order], vectors[:, order]
    widest = 4 + int(np.argmax(eigenvalues[4:] / eigenvalues[3:-1]))
    if _negative_eigenvalues(K - 0.5 * (eigenvalues[widest - 1] + eigenvalues[widest]) * M) != widest:
        eigenvalues, vectors = eigh(K.toarray(), M.toarray(), subset_by_index=[0, count - 1])
    return np.asarray(eigenvalues), np.asarray(vectors * scale[:, None])


def _negative_eigenvalues(shifted: Any) -> int:
    """Number of negative eigenvalues of a symmetric matrix by its factors (Sylvester), or -1 if they do not tell."""
    factors = splu(shifted.tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    if not np.array_equal(factors.perm_r, factors.perm_c):
        return -1
    return int((factors.U.diagonal() < 0).sum())


# ----------------------------------------------------------------------------------------------------------------------
# Converged bending modes of a free plate of unit size, in standard form.

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
            f"the free plate must have three rigid modes, got eigenvalues {eigenvalues[:4].tolist()}: rounding "
            "errors on this outline exceed the tolerance"
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
    mixing = mixing @ basis(modes.points, modes.weights, values @ mixing, frequencies)
    splits_pair = False
    for group in groups(frequencies):
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


# ----------------------------------------------------------------------------------------------------------------------
# One choice of what is free in a basis of modes: the sign of each, the rotation within equal frequencies.

EQUAL = 1e-5  # frequencies closer than this, relative, are one


def groups(frequencies: Array) -> list[slice]:
    """Runs of equal frequencies in an ascending list, each as a slice."""
    gaps = np.diff(frequencies) > EQUAL * frequencies[1:]
    cuts = [0, *(np.flatnonzero(gaps) + 1).tolist(), len(frequencies)]
    return [slice(a, b) for a, b in pairwise(cuts)]


def basis(points: Array, weights: Array, values: Array, frequencies: Array) -> Array:
    """Orthogonal matrix (k, k) that brings modes with values (q, k) at points (q, 2) of unit size to standard form.

    Within equal frequencies the modes are made to diagonalise int exp(3 x) w_i w_j dA, in descending order: on
    outlines with the x axis as mirror each is then even or odd in y. The sign makes int exp(3 d) w dA positive,
    d the coordinate along a direction 0.35 rad from x, which is no symmetry axis of common outlines. Exponentials
    have every harmonic, so neither integral vanishes for a mode of any symmetry.
    """
    x, y = points.T
    matrix = np.eye(values.shape[1])
    heavy = weights * np.exp(3.0 * x)
    for group in groups(frequencies):
        part = values[:, group]
        if part.shape[1] > 1:
            vectors = np.linalg.eigh(part.T @ (heavy[:, None] * part))[1]
            matrix[group, group] = vectors[:, ::-1]
    along = np.cos(0.35) * x + np.sin(0.35) * y
    signs = np.sign((weights * np.exp(3.0 * along)) @ (values @ matrix))
    return np.asarray(matrix * np.where(signs == 0, 1.0, signs))
