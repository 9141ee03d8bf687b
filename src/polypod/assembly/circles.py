"""Poses of a platform whose three joints move on circles (3-RPS, 3-PRS): the roots of a polynomial of degree sixteen.

Joints t_i = o_i + r_i (u_i cos + v_i sin)(theta_i) keep their distances d_ij. With z = exp(i theta) each of the three
equations has degree two in two of the z. Resultants eliminate z_3, then z_2; what is left in z_1 has sixteen roots
(Nanua, Waldron and Murthy 1990).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .plane import roots

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]
DEGREE = 16
_SAMPLES = 32
_PAIRS = ((0, 1), (0, 2), (1, 2))
_ON_CIRCLE, _FITS = 1e-2, 1e-1
"""How far from 1 the size of a root may be, and from 0 what it leaves of an equation: Newton decides after."""
_STEPS = 8
_FOUND = 1e-11


def circle_points(centres: Array, axes: Array, radii: Array, distances: Array) -> Array:
    """Joints (m, k, 3, 3) on circles (m, 3, ...) at ``distances`` (3) of pairs 12, 13, 23; NaN beyond the last."""
    first = np.cross(axes, np.eye(3)[np.abs(axes).argmin(axis=2)])
    first = first / np.linalg.norm(first, axis=2, keepdims=True)
    circles = centres, radii[:, :, None] * first, radii[:, :, None] * np.cross(axes, first)
    forms = [_form(circles, i, j, distances[k]) for k, (i, j) in enumerate(_PAIRS)]
    sampled = np.exp(2j * np.pi * np.arange(_SAMPLES) / _SAMPLES)
    coefficients = np.fft.fft(_resultant(forms, sampled[None]), axis=1) / _SAMPLES
    half = DEGREE // 2
    z = roots(np.concatenate([coefficients[:, -half:], coefficients[:, : half + 1]], axis=1))
    angles = _all_angles(forms, z)
    return _distinct(circles, _polished(circles, angles, distances))


Circles = tuple[Array, Array, Array]


def _form(circles: Circles, i: int, j: int, distance: float) -> Complexes:
    """Coefficients (m, 3, 3) of z_i^a z_j^b, a and b from -1 to 1, of |t_i - t_j|^2 - d^2."""
    o, u, v = circles
    terms = [[(u[:, k] + 1j * v[:, k]) / 2, (u[:, k] - 1j * v[:, k]) / 2] for k in (i, j)]
    between = o[:, i] - o[:, j]
    form = np.zeros((len(o), 3, 3), dtype=np.complex128)

    def put(a: int, b: int, value: NDArray[np.generic]) -> None:
        form[:, 1 + a, 1 + b] += value.sum(axis=1)

    put(0, 0, between * between)
    form[:, 1, 1] -= distance**2
    for a, own in zip((-1, 1), terms[0], strict=True):
        put(a, 0, 2 * own * between)
    for b, other in zip((-1, 1), terms[1], strict=True):
        put(0, b, -2 * other * between)
    for a, own in zip((-1, 1), terms[0], strict=True):
        for b, other in zip((-1, 1), terms[1], strict=True):
            put(a, b, -2 * own * other)
    # |r (u cos + v sin)|^2 = r^2: the circle's axes are square and of one length
    put(0, 0, (u[:, i] ** 2 + u[:, j] ** 2))
    return form


def _at_first(form: Complexes, z: Complexes) -> Complexes:
    """Coefficients (m, k, 3) of powers -1, 0, 1 of the second unknown, the first being z (m, k)."""
    powers = np.stack([1 / z, np.ones_like(z), z], axis=-1)
    return np.asarray(np.einsum("mka,mab->mkb", powers, form))


def _two_roots(quadratic: Complexes) -> list[Complexes]:
    """Both z with c_-1/z + c_0 + c_1 z = 0, (m, k) each."""
    low, middle, high = (quadratic[..., k] for k in range(3))
    root = np.sqrt(middle * middle - 4 * low * high)
    # the larger first: no cancellation
    larger = -(middle + np.where((np.conj(middle) * root).real >= 0, root, -root)) / 2
    return [larger / high, low / larger]


def _common(p: Complexes, q: Complexes) -> Complexes:
    """Resultant of two quadratics (..., 3)."""
    a, b = p[..., 0] * q[..., 2] - p[..., 2] * q[..., 0], p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]
    return np.asarray(a * a - b * (p[..., 1] * q[..., 2] - p[..., 2] * q[..., 1]))


def _resultant(forms: list[Complexes], z: Complexes) -> Complexes:
    """Values (m, k) at z_1 = z of the polynomial that is left: f_12 and the resultant of f_13 and f_23 in z_2."""
    with np.errstate(all="ignore"):
        z = np.broadcast_to(z, (len(forms[0]), z.shape[1]))
        second, third = _at_first(forms[0], z), _at_first(forms[1], z)
        a, b = (_common(third, _at_first(forms[2], y)) for y in _two_roots(second))
        # of a quartic P(y)/y^2 at both roots of low + middle y + high y^2: high^4 P P' = (low high)^2 (P/y^2)(P'/y'^2)
        return np.asarray(a * b * (second[..., 0] * second[..., 2]) ** 2)


def _all_angles(forms: list[Complexes], z: Complexes) -> Array:
    """Angles (m, 64, 3) that roots z_1 may stand for, with either z_2 and z_3; NaN where they do not fit.

    A root z_1 that counts twice stands for two poses, as those of symmetric robots do.
    """
    with np.errstate(all="ignore"):
        second, third = _two_roots(_at_first(forms[0], z)), _two_roots(_at_first(forms[1], z))
        candidates = []
        scale = np.abs(forms[2]).max(axis=(1, 2))[:, None]
        for y in second:
            rows = _at_first(forms[2], y)
            for x in third:
                misfit = np.abs(rows[..., 0] / x + rows[..., 1] + rows[..., 2] * x)
                every = np.stack([z, y, x], axis=-1)
                off = (np.abs(np.abs(every) - 1) > _ON_CIRCLE).any(axis=-1) | ~(misfit < _FITS * scale)
                candidates.append(np.where(off[..., None], np.nan, np.angle(every)))
        return np.concatenate(candidates, axis=1)


def _points(circles: Circles, angles: Array) -> tuple[Array, Array]:
    """Joints (m, k, 3, 3) at angles (m, k, 3), and their slopes."""
    o, u, v = (part[:, None] for part in circles)
    cosine, sine = np.cos(angles)[..., None], np.sin(angles)[..., None]
    return o + cosine * u + sine * v, cosine * v - sine * u


def _polished(circles: Circles, angles: Array, distances: Array) -> Array:
    """Angles after steps of Newton; NaN where they do not end."""
    size = float(distances.max())
    gap = np.full(angles.shape[:2], np.inf)
    for _ in range(_STEPS):
        points, slopes = _points(circles, angles)
        error, matrix = np.zeros_like(angles), np.zeros((*angles.shape, 3))
        for k, (i, j) in enumerate(_PAIRS):
            between = points[..., i, :] - points[..., j, :]
            error[..., k] = (between * between).sum(axis=-1) - distances[k] ** 2
            matrix[..., k, i] = 2 * (between * slopes[..., i, :]).sum(axis=-1)
            matrix[..., k, j] = -2 * (between * slopes[..., j, :]).sum(axis=-1)
        gap = np.abs(error).max(axis=-1) / size**2
        good = np.isfinite(gap) & (np.abs(np.linalg.det(np.nan_to_num(matrix))) > 1e-14 * size**6)
        angles = np.where(good[..., None], angles, np.nan)
        angles[good] -= np.linalg.solve(matrix[good], error[good][..., None])[..., 0]
    return np.where((gap < _FOUND)[..., None], angles, np.nan)


def _distinct(circles: Circles, angles: Array) -> Array:
    """Joints of solutions without repetitions."""
    points = _points(circles, angles)[0]
    gap = np.abs(points[:, :, None] - points[:, None]).max(axis=(3, 4))
    same = np.tril(np.nan_to_num(gap, nan=np.inf) < 1e-7 * np.abs(circles[1]).max(), -1).any(axis=2)
    points[same] = np.nan
    return points
