"""Bending of a thin free plate as an eigenproblem on a mesh of Argyris triangles, in coordinates of unit size.

int (1 - nu) w_ab v_ab + nu w_aa v_bb = mu int w v for all v, with natural (free) boundary conditions. The
quadrature rule is exact for polynomials of degree 10, hence for both integrals.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from scipy.linalg import eigh  # type: ignore[import-untyped, unused-ignore]
from scipy.sparse import coo_array  # type: ignore[import-untyped, unused-ignore]
from scipy.sparse.linalg import eigsh, splu  # type: ignore[import-untyped, unused-ignore]

from ..arrays import Array
from .argyris import Argyris

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
