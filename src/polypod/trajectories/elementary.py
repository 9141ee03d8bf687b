"""Paths given by one formula: polynomials in time, piecewise or not, and harmonic functions of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import (  # type: ignore[import-untyped, unused-ignore]
    BPoly,
    PPoly,
    make_interp_spline,
)

from ..errors import InputError
from .checks import Array, finite, knots, number, positive, scalar_or_vector, unit
from .contract import Coordinates, Path


@dataclass(frozen=True, eq=False)
class PolynomialPath(Path):
    """A SciPy piecewise polynomial (PPoly, BPoly or BSpline) on [0, duration], differentiated term by term."""

    duration: float
    shape: tuple[int, ...]
    curve: Any

    def evaluate(self, t: Array) -> Coordinates:
        return Coordinates(*(self.curve(t, nu) for nu in range(3)))


@dataclass(frozen=True, eq=False)
class HarmonicPath(Path):
    """x = offset + a cos(w t) + b sin(w t), each coordinate with its own a, b and w."""

    duration: float
    shape: tuple[int, ...]
    offset: Array
    cosine: Array
    sine: Array
    angular_frequency: Array

    def evaluate(self, t: Array) -> Coordinates:
        w = self.angular_frequency
        angle = np.multiply.outer(t, w)
        c, s = np.cos(angle), np.sin(angle)
        swing = self.cosine * c + self.sine * s
        return Coordinates(self.offset + swing, w * (self.sine * c - self.cosine * s), -w * w * swing)


def polynomial(coefficients: ArrayLike, duration: float) -> Path:
    """x(t) = sum_j c_j t^j; ``coefficients`` by growing power, (n,) for a scalar or (n, k)."""
    c = scalar_or_vector("coefficients", coefficients, extra=1)
    end = positive("duration", duration, "s")
    return PolynomialPath(end, c.shape[1:], PPoly(c[::-1, None], [0.0, end]))


def rest(point: ArrayLike, duration: float) -> Path:
    """x(t) = ``point`` (k,), or a number."""
    return polynomial(scalar_or_vector("point", point)[None], duration)


def sine(
    amplitude: ArrayLike, angular_frequency: ArrayLike, duration: float, phase: ArrayLike = 0.0, offset: ArrayLike = 0.0
) -> Path:
    """x(t) = offset + amplitude sin(w t + phase), w in rad/s; numbers or vectors (k,), as in Staicu et al. (5)."""
    end = positive("duration", duration, "s")
    names = ("amplitude", "angular_frequency", "phase", "offset")
    given = (amplitude, angular_frequency, phase, offset)
    values = [scalar_or_vector(name, value) for name, value in zip(names, given, strict=True)]
    try:
        a, w, shift, middle = np.broadcast_arrays(*values)
    except ValueError as error:
        sizes = ", ".join(f"{name} {value.shape}" for name, value in zip(names, values, strict=True))
        raise InputError(f"sine: numbers, or vectors of one length, got shapes {sizes}") from error
    return HarmonicPath(end, a.shape, middle, a * np.sin(shift), a * np.cos(shift), w)


def circle(
    centre: ArrayLike, radius: float, normal: ArrayLike, rpm: float, turns: float = 1.0, start: ArrayLike | None = None
) -> Path:
    """x(t) = centre + radius (e cos wt + (n x e) sin wt), (3,), w = 2 pi rpm/60: constant speed radius |w|.

    It turns right-handed about ``normal`` (left-handed for negative rpm) and starts from the centre in the
    direction ``start`` projected on the plane; without one, x, or y where the normal is nearest to x.
    """
    middle, n = finite("centre", centre, 3), unit("normal", normal)
    pace = number("rpm", rpm)
    if pace == 0.0:
        raise InputError(f"rpm: must be other than 0 turns per minute, got {rpm!r}")
    towards = np.eye(3)[int(np.argmax(np.abs(n)) == 0)] if start is None else unit("start", start)
    across = towards - (towards @ n) * n
    if np.linalg.norm(across) < 1e-6:
        raise InputError(f"start: must not lie along the normal {n.tolist()}, got {towards.tolist()}")
    e = across / np.linalg.norm(across) * positive("radius", radius, "m")
    duration = 60.0 * positive("turns", turns, "turns") / abs(pace)
    return HarmonicPath(duration, (3,), middle, e, np.cross(n, e), np.full(3, 2 * np.pi * pace / 60))


def constant_accelerations(
    start: ArrayLike, accelerations: ArrayLike, times: ArrayLike, velocity: ArrayLike = 0.0
) -> Path:
    """xddot = accelerations[i] from times[i] to times[i + 1], as in Kim and Ryu (33).

    ``accelerations`` (n, k) or (n,); ``times`` (n + 1,) in s, from 0; at first x = ``start`` (k,) and
    xdot = ``velocity``, (k,) or a number.
    """
    a = scalar_or_vector("accelerations", accelerations, extra=1)
    breaks = knots("times", times, len(a) + 1)
    x0, v0 = finite("start", start), scalar_or_vector("velocity", velocity)
    if x0.shape != a.shape[1:] or v0.shape not in ((), x0.shape):
        raise InputError(f"start, velocity: must have the shape {a.shape[1:]}, got {x0.shape} and {v0.shape}")
    curve = PPoly(a[None], breaks).antiderivative(2)
    # the antiderivative starts at rest in zero; each piece counts from its own break
    curve.c[-1] += x0 + np.multiply.outer(breaks[:-1], np.broadcast_to(v0, x0.shape))
    curve.c[-2] += v0
    return PolynomialPath(float(breaks[-1]), x0.shape, curve)


def hermite(points: ArrayLike, times: ArrayLike, velocities: ArrayLike, accelerations: ArrayLike) -> Path:
    """Quintic between knots, with value, velocity and acceleration given at each: (n,) or (n, k), times (n,)."""
    names = ("points", "velocities", "accelerations")
    given = (points, velocities, accelerations)
    rows = [scalar_or_vector(name, value, extra=1) for name, value in zip(names, given, strict=True)]
    if len({row.shape for row in rows}) > 1:
        sizes = ", ".join(f"{name} {row.shape}" for name, row in zip(names, rows, strict=True))
        raise InputError(f"hermite: points, velocities and accelerations must have one shape, got {sizes}")
    t = knots("times", times, len(rows[0]))
    return PolynomialPath(float(t[-1]), rows[0].shape[1:], BPoly.from_derivatives(t, np.stack(rows, axis=1)))


def spline(
    points: ArrayLike, times: ArrayLike, velocities: ArrayLike = (0.0, 0.0), accelerations: ArrayLike = (0.0, 0.0)
) -> Path:
    """Quintic spline through ``points`` (n,) or (n, k) at ``times`` (n,), smooth to the fourth derivative.

    ``velocities`` and ``accelerations`` hold the values at the first and the last point, each a number or (k,).
    """
    x = scalar_or_vector("points", points, extra=1)
    t = knots("times", times, len(x))
    ends = [scalar_or_vector("velocities", velocities, 1), scalar_or_vector("accelerations", accelerations, 1)]
    for name, end in zip(("velocities", "accelerations"), ends, strict=True):
        if len(end) != 2 or end.shape[1:] not in ((), x.shape[1:]):
            raise InputError(f"{name}: two values, each a number or of shape {x.shape[1:]}, got {end.shape}")
    conditions = [[(nu, np.broadcast_to(end[i], x.shape[1:])) for nu, end in enumerate(ends, 1)] for i in range(2)]
    return PolynomialPath(float(t[-1]), x.shape[1:], make_interp_spline(t, x, k=5, bc_type=tuple(conditions)))
