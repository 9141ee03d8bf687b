"""Paths that are polynomials in time, one or several in turn, differentiated term by term."""

from __future__ import annotations

from abc import abstractmethod
from math import factorial
from pathlib import Path as FilePath
from typing import Any, Literal

import numpy as np
import scipy
from pydantic import PrivateAttr

from ...arrays import Array
from ...errors import InputError
from ..checks import finite, knots, scalar_or_vector
from ..contract import Coordinates, HigherDerivatives, even_pieces
from ..fields import Accelerations, Coefficients, Duration, Numbers, Times, Velocities
from .base import PathKind


class PolynomialPath(PathKind):
    """Piecewise polynomials; a kind defines ``curve``."""

    _curve: Any = PrivateAttr()
    _breaks: Array = PrivateAttr()
    _shape: tuple[int, ...] = PrivateAttr()

    @abstractmethod
    def curve(self, folder: FilePath) -> tuple[Any, Array, tuple[int, ...]]:
        """The path as a piecewise polynomial.

        Parameters
        ----------
        folder : str or Path
            Folder from which relative names of files start.

        Returns
        -------
        curve : scipy.interpolate.PPoly
            The polynomial.
        breaks : ndarray, shape (m + 1,)
            Times where its pieces meet [s].
        shape : tuple of int
            Shape of its values.
        """

    def prepare(self, folder: FilePath) -> None:
        self._curve, self._breaks, self._shape = self.curve(folder)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def pieces(self) -> Array:
        return even_pieces(self._breaks)

    def evaluate(self, t: Array) -> Coordinates:
        return Coordinates(*(self._curve(t, nu) for nu in range(3)))

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives:
        return polynomial_higher_derivatives(self._curve, len(self._curve.c) - 1, t, half)

    @property
    def peak(self) -> Array:
        return polynomial_peak(self._curve, self._breaks, len(self._curve.c) - 1)


class Polynomial(PolynomialPath):
    """x = sum of c_j t^j; ``coefficients`` by growing power, each a number or one a coordinate."""

    kind: Literal["polynomial"] = "polynomial"
    coefficients: Coefficients
    duration: Duration

    def curve(self, folder: FilePath) -> tuple[Any, Array, tuple[int, ...]]:
        c = scalar_or_vector("coefficients", self.coefficients, extra=1)
        ends = np.array([0.0, self.duration])
        return scipy.interpolate.PPoly(c[::-1, None], ends), ends, c.shape[1:]


class Rest(PathKind):
    """Stay at ``point`` for ``duration``."""

    kind: Literal["rest"] = "rest"
    point: Numbers
    duration: Duration
    _point: Array = PrivateAttr()

    def prepare(self, folder: FilePath) -> None:
        self._point = scalar_or_vector("point", self.point)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._point.shape

    @property
    def pieces(self) -> Array:
        return np.array([[0.0, self.duration, 1.0]])

    def evaluate(self, t: Array) -> Coordinates:
        still = np.zeros(t.shape + self.shape)
        return Coordinates(still + self._point, still, still.copy())

    def higher_derivatives(self, t: Array, half: Array) -> HigherDerivatives:
        still = np.zeros(t.shape + self.shape)
        return still, still

    @property
    def peak(self) -> Array:
        return np.zeros(self.count)


class ConstantAccelerations(PolynomialPath):
    """Constant acceleration from each time to the next, as in Kim and Ryu (33).

    ``accelerations`` are one fewer than ``times``; at first x is ``start`` and xdot is ``velocity``.
    """

    kind: Literal["constant_accelerations"] = "constant_accelerations"
    start: Numbers
    accelerations: Accelerations
    times: Times
    velocity: Velocities = 0.0

    @property
    def duration(self) -> float:
        return float(self._breaks[-1])

    def curve(self, folder: FilePath) -> tuple[Any, Array, tuple[int, ...]]:
        a = scalar_or_vector("accelerations", self.accelerations, extra=1)
        breaks = knots("times", self.times, len(a) + 1)
        x0, v0 = finite("start", self.start), scalar_or_vector("velocity", self.velocity)
        for name, value in (("start", x0), ("velocity", v0)):
            if value.shape != a.shape[1:] and (name == "start" or value.shape):
                raise InputError(f"{name}: must have the shape {a.shape[1:]} of an acceleration, got {value.shape}")
        curve = scipy.interpolate.PPoly(a[None], breaks).antiderivative(2)
        # the antiderivative starts at rest in zero; each piece counts from its own break
        curve.c[-1] += x0 + np.multiply.outer(breaks[:-1], np.broadcast_to(v0, x0.shape))
        curve.c[-2] += v0
        return curve, breaks, x0.shape


class Hermite(PolynomialPath):
    """Quintic between points with their velocities and accelerations given."""

    kind: Literal["hermite"] = "hermite"
    points: Numbers
    times: Times
    velocities: Velocities
    accelerations: Accelerations

    @property
    def duration(self) -> float:
        return float(self._breaks[-1])

    def curve(self, folder: FilePath) -> tuple[Any, Array, tuple[int, ...]]:
        names = ("points", "velocities", "accelerations")
        rows = [scalar_or_vector(name, getattr(self, name), extra=1) for name in names]
        for name, row in zip(names, rows, strict=True):
            if row.shape != rows[0].shape:
                raise InputError(f"{name}: must have the shape {rows[0].shape} of points, got {row.shape}")
        t = knots("times", self.times, len(rows[0]))
        return scipy.interpolate.BPoly.from_derivatives(t, np.stack(rows, axis=1)), t, rows[0].shape[1:]


# ----------------------------------------------------------------------------------------------------------------------
# Bounds of piecewise polynomials: of their rates everywhere, and of their fourth derivatives near a time.

_CELLS = 256
"""Cells of a piece: a rate is bounded to the change of it within half a cell."""


def polynomial_peak(curve: Any, breaks: Array, degree: int) -> Array:
    """Bounds (k,) of |xdot| of a SciPy piecewise polynomial of a ``degree`` whose pieces meet at ``breaks`` (m + 1,).

    No instant is farther than h/2 from the middle of a cell of length h, so that |x^(n)| is at most its largest value
    at middles plus h/2 times a bound of |x^(n+1)|; the last derivative is constant within a piece.
    """
    span = np.diff(breaks)
    middles = breaks[:-1, None] + span[:, None] * (np.arange(_CELLS) + 0.5) / _CELLS
    reach = (0.5 * span / _CELLS)[:, None]
    bound: Array = np.zeros((len(span), np.size(curve(breaks[0]))))
    for order in range(degree, 0, -1):
        values = np.abs(curve(middles, order)).reshape(len(span), _CELLS, -1).max(axis=1)
        bound = values + reach * bound
    return np.asarray(bound.max(axis=0))


def polynomial_higher_derivatives(curve: Any, degree: int, t: Array, half: Array) -> HigherDerivatives:
    """The third derivative at times t (n,), and bounds of the fourth within t +- half: sum |x^(4+j)| h^j/j!."""
    third = np.asarray(curve(t, 3))
    shape = (-1,) + (1,) * (third.ndim - 1)
    orders = range(4, degree + 1)
    parts = [np.abs(curve(t, order)) * (half ** (order - 4) / factorial(order - 4)).reshape(shape) for order in orders]
    return third, np.asarray(sum(parts, np.zeros_like(third)))
