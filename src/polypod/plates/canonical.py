"""One choice of what is free in a basis of modes: the sign of each, the rotation within equal frequencies."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Array

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
