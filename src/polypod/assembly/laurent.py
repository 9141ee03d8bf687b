"""Roots of polynomials in z = exp(i angle), and of pairs of them of degree two in one unknown."""

from __future__ import annotations

import numpy as np

from .contract import ComplexArray

_FITS = 1e-1
"""Residual, relative to an equation's terms, up to which a root may be a common one: Newton decides after."""


def substituted(form: ComplexArray, z: ComplexArray) -> ComplexArray:
    """Coefficients (m, k, 3) of powers -1, 0, 1 of the second unknown, the first being z (m, k)."""
    powers = np.stack([1 / z, np.ones_like(z), z], axis=-1)
    return np.asarray(np.einsum("mka,mab->mkb", powers, form))


def quadratic_roots(quadratic: ComplexArray) -> list[ComplexArray]:
    """Both z with c_-1/z + c_0 + c_1 z = 0, (m, k) each."""
    low, middle, high = (quadratic[..., k] for k in range(3))
    root = np.sqrt(middle * middle - 4 * low * high)
    # the larger first: no cancellation
    larger = -(middle + np.where((np.conj(middle) * root).real >= 0, root, -root)) / 2
    return [larger / high, low / larger]


def resultant(p: ComplexArray, q: ComplexArray) -> ComplexArray:
    """Resultant of two quadratics (..., 3)."""
    a, b = p[..., 0] * q[..., 2] - p[..., 2] * q[..., 0], p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]
    return np.asarray(a * a - b * (p[..., 1] * q[..., 2] - p[..., 2] * q[..., 1]))


def roots_from_samples(values: ComplexArray, degree: int) -> ComplexArray:
    """All z (m, degree) where a function is zero that is known at roots of unity (m, more than ``degree``).

    It is a sum of powers of z from -degree/2 to degree/2.
    """
    coefficients, half = np.fft.fft(values, axis=1) / values.shape[1], degree // 2
    return roots(np.concatenate([coefficients[:, -half:], coefficients[:, : half + 1]], axis=1))


def roots_of_unity(count: int) -> ComplexArray:
    """Roots of unity (1, count)."""
    return np.exp(2j * np.pi * np.arange(count) / count)[None]


def nan_unless_root(form: ComplexArray, first: ComplexArray, second: ComplexArray) -> ComplexArray:
    """The second unknowns (m, k), NaN where they with the first ones are far from a root of a form (m, 3, 3)."""
    powers = np.stack([1 / second, np.ones_like(second), second], axis=-1)
    terms = substituted(form, first) * powers
    size = np.abs(terms).sum(axis=-1) + np.abs(form).max(axis=(1, 2))[:, None]
    return np.where(np.abs(terms.sum(axis=-1)) < _FITS * size, second, np.nan)


def roots(coefficients: ComplexArray) -> ComplexArray:
    """Roots (m, n) of polynomials (m, n + 1), lowest power first; of a lower degree some are huge."""
    n = coefficients.shape[1] - 1
    largest = np.abs(coefficients).max(axis=1, initial=1e-300)
    top = coefficients[:, -1:]
    top = np.where(np.abs(top) < 1e-14 * largest[:, None], 1e-14 * largest[:, None], top)
    companion = np.zeros((len(coefficients), n, n), dtype=np.complex128)
    companion[:, np.arange(1, n), np.arange(n - 1)] = 1
    companion[:, :, -1] = -coefficients[:, :-1] / top
    good = np.isfinite(companion).all(axis=(1, 2))
    found = np.full((len(coefficients), n), np.nan, dtype=np.complex128)
    found[good] = np.linalg.eigvals(companion[good])
    return found
