"""Poses of a platform in a plane, held by a hinge and a strut (five-bar linkages): where two circles meet; or held by
three struts (3-RRR, 3-PRR, 3-RPR): the roots of a sextic.

Three struts in complex numbers: with z = exp(i phi), the first joint at p from the first centre, joints b_i and
centres c_i from there, p p* = l_1^2 and p* w_i + p w_i* = 2 r_i (i = 2, 3), w_i = z b_i - c_i. Eliminating p
leaves a polynomial of degree six in z.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
DEGREE = 6
_ON_CIRCLE = 1e-5
"""How far from 1 the size of a root may be that stands for an angle: double roots have half of the digits."""
_SAMPLES = 16
_DOUBT = 1e-13
"""What rounding leaves in doubt of places and lengths of a robot, in its size: some hundred units."""


def circles_meet(apart: Complexes, radii: Array) -> tuple[Complexes, NDArray[np.bool_]]:
    """Points (m, 2) of circles of ``radii`` (m, 2) whose second centre is ``apart`` (m) from the first; NaN if none.

    There are two where |r_1 - r_2| < d < r_1 + r_2, d = |apart|, and none where d is beyond those ends: the second
    result (m) says that it is on one side of both by more than what rounding leaves in doubt.
    """
    d, (first, second) = np.abs(apart), radii.T
    inside = np.minimum(first + second - d, d - np.abs(first - second))
    with np.errstate(all="ignore"):
        along = (first**2 - second**2 + d**2) / (2 * d)
        # (r_1^2 - along^2)(2 d)^2 as a product (Heron): no cancellation next to either end
        product = (first + second + d) * (first + second - d) * (d + first - second) * (d - first + second)
        across = np.sqrt(product) / (2 * d)
        ends = np.stack([along + 1j * across, along - 1j * across], axis=1) * (apart / d)[:, None]
    return ends, np.abs(inside) > _DOUBT * (first + second + d)


def plane_poses(centres: Complexes, joints: Complexes, lengths: Array) -> tuple[Complexes, Array]:
    """Places (m, 6) of the platform's origin and turns (m, 6) [rad]; NaN where there are fewer.

    ``centres`` (m, 3) in the plane, ``joints`` (3) on the platform, ``lengths`` (m, 3).
    """
    c, b = centres[:, 1:] - centres[:, :1], joints[1:] - joints[0]
    sampled = np.exp(2j * np.pi * np.arange(_SAMPLES) / _SAMPLES)
    place, left, delta = _eliminated(sampled[None], c, b, lengths)
    values = place * left - lengths[:, :1] ** 2 * delta * delta
    coefficients = np.fft.fft(values, axis=1) / _SAMPLES  # of z^k at k, those of negative powers at the end
    row = np.concatenate([coefficients[:, -3:], coefficients[:, :4]], axis=1)
    z = roots(row)
    place, _, delta = _eliminated(z, c, b, lengths)
    with np.errstate(all="ignore"):
        z = np.where(np.abs(np.abs(z) - 1) < _ON_CIRCLE, z, np.nan)
        return centres[:, :1] + place / delta - z / np.abs(z) * joints[0], np.angle(z)


def _eliminated(z: Complexes, c: Complexes, b: Complexes, lengths: Array) -> tuple[Complexes, Complexes, Complexes]:
    """p Delta, p* Delta and Delta (m, k) for z (m or 1, k)."""
    w = [z * b[i] - c[:, i, None] for i in range(2)]
    v = [np.conj(b[i]) / z - np.conj(c[:, i, None]) for i in range(2)]
    r = [
        (
            lengths[:, i + 1, None] ** 2
            - lengths[:, :1] ** 2
            - abs(b[i]) ** 2
            - np.abs(c[:, i, None]) ** 2
            + np.conj(c[:, i, None]) * b[i] * z
            + c[:, i, None] * np.conj(b[i]) / z
        )
        for i in range(2)
    ]
    return r[0] * w[1] - r[1] * w[0], r[1] * v[0] - r[0] * v[1], v[0] * w[1] - w[0] * v[1]


def roots(coefficients: Complexes) -> Complexes:
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
