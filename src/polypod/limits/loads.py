"""Loads of bearings from reactions: axial and radial parts, equivalent loads by the factors of a catalogue."""

from __future__ import annotations

import numpy as np

from ..arrays import Array

SLIDES = ("prismatic", "cylindrical")
"""Kinds of joints that slide along their first axis."""
_ROUNDING = 1e-12
"""Entries of a projection below this are zeros of directions along the base axes."""


def perpendicular(vector: Array, axes: Array) -> Array:
    """A vector (..., 3) less its parts along directions (..., k, 3) that are perpendicular to each other.

    P v with P = 1 - sum a a^T: a number that is open leaves those of the result open that depend on it.
    """
    matrix = np.eye(3) - np.einsum("...ki,...kj->...ij", axes, axes)
    matrix = np.where(np.abs(matrix) < _ROUNDING, 0.0, matrix)
    with np.errstate(invalid="ignore"):
        parts = np.where(matrix == 0.0, 0.0, matrix * vector[..., None, :])
    return np.asarray(parts.sum(axis=-1))


def axial_and_radial(force: Array, axes: Array) -> tuple[Array, Array]:
    """Axial and radial force (...) [N] of a joint from its force (..., 3) and its free directions (..., 2, 3).

    NaN where it has no axis; of two pivots the larger.
    """
    along = np.einsum("...ki,...i->...k", axes, force)
    across = np.linalg.norm(perpendicular(force[..., None, :], axes[..., None, :]), axis=-1)
    return np.fmax(np.abs(along[..., 0]), np.abs(along[..., 1])), np.fmax(across[..., 0], across[..., 1])


def equivalent_load(force: Array, axes: Array, kind: str, radial: float | None, axial: float | None) -> Array:
    """Equivalent load (...) [N] of a bearing: X Fr + Y Fa, or Fr where that is more; the whole force without factors.

    A slide's guide carries the radial part alone, and a spherical joint has no axis: no factors there.
    """
    along, across = axial_and_radial(force, axes)
    if kind in SLIDES:
        return across
    whole: Array = np.linalg.norm(force, axis=-1)
    if radial is None or axial is None:
        return whole
    both = np.maximum(across, radial * across + axial * along)
    return np.where(np.isnan(both), whole, both)
