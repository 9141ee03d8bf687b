"""Robots whose equations are n quadrics in n unknowns, with a theorem on how many solutions there can be.

Numerical roots, complex ones too, are each proven by Smale's alpha (``polypod.assembly.smale``). As many different
ones as the theorem allows are all there are; those whose neighbourhood holds no real point are proven not to be poses.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..legs.contract import Strut
from .contract import ComplexArray, Flags, Pattern, Solutions
from .smale import LARGEST_ALPHA, alpha_and_radius, inverses, sizes

_ROUNDINGS = 64 * float(np.finfo(float).eps)
"""Bound of the error of a coefficient, a value or a derivative relative to the sum of its terms' sizes: coefficients
are made in at most 30 operations, and sums have at most 43 terms."""
_STEPS, _STILL = 15, 1e-12
"""Steps of Newton at most, and the step, relative to the unknowns, after which there is one more."""
_NEARLY_REAL, _REAL = 1e-5, 1e-6
"""Imaginary parts below which a real solution is tried, and below which one that is not proven counts as real."""
_SAME = 1e-7
"""Difference below which solutions that are not proven are one."""


class Quadrics(NamedTuple):
    """f_i = x.a_i x + b_i.x + c_i = 0 (i < n) of m states, in unknowns of size 1 where these are poses.

    a (m, n, n, n) symmetric, b (m, n, n), c (m, n); ``size`` (m, n) is no less than the sum of the sizes of all that an
    equation's coefficients are sums of.
    """

    a: Array
    b: Array
    c: Array
    size: Array

    def at(self, state: NDArray[np.int64]) -> Quadrics:
        """The quadrics of some of the states."""
        return Quadrics(*(part[state] for part in self))

    def jacobian(self, x: ComplexArray) -> ComplexArray:
        """Derivatives (m, n, n) at x (m, n)."""
        return np.asarray(2 * np.einsum("mijk,mk->mij", self.a, x) + self.b)

    def residual(self, x: ComplexArray) -> ComplexArray:
        """f (m, n) at x (m, n)."""
        return np.asarray(np.einsum("mijk,mj,mk->mi", self.a, x, x) + np.einsum("mij,mj->mi", self.b, x) + self.c)

    def polished(self, x: ComplexArray) -> ComplexArray:
        """Solutions (m, n) after steps of Newton."""
        x, live = x.copy(), np.arange(len(x))
        for _ in range(_STEPS):
            own, here = self.at(live), x[live]
            step = np.einsum("mij,mj->mi", inverses(own.jacobian(here)), own.residual(here))
            x[live] = here - step
            live = live[np.abs(step).max(axis=1) > _STILL * (1 + np.abs(here).max(axis=1))]
        return x

    def alpha(self, x: ComplexArray) -> tuple[Array, Array]:
        """Bounds (m,) of Smale's alpha, and of the distance to the solution where that is below the limit."""
        jacobian, total = self.jacobian(x), sizes(x).sum(axis=1)[:, None]
        inverse = inverses(jacobian)
        weights, n = sizes(inverse), x.shape[1]
        value = sizes(self.residual(x)) + _ROUNDINGS * self.size * (1 + total + total * total)
        defect = sizes(inverse @ jacobian - np.eye(n)).sum(axis=2)
        defect = defect + 2 * n * _ROUNDINGS * np.einsum("mij,mj->mi", weights, self.size * (1 + 2 * total))
        curvature = np.abs(self.a).sum(axis=(2, 3)) * (1 + _ROUNDINGS)
        beta, gamma = (np.einsum("mij,mj->mi", weights, part).max(axis=1) for part in (value, curvature))
        return alpha_and_radius(beta, gamma, defect.max(axis=1))


class Roots(NamedTuple):
    """Of m states at most k different solutions x (m, k, n), NaN beyond; real and certified ones (m, k).

    ``complete`` (m,): k are certified, complex ones counted, and there are no more.
    """

    x: ComplexArray
    real: Flags
    certified: Flags
    complete: Flags


def certified_roots(system: Quadrics, x: ComplexArray, max_solutions: int) -> Roots:
    """Approximate roots (m, any, n), NaN where there is none, polished and proven; at most ``max_solutions`` exist."""
    x = np.pad(x, ((0, 0), (0, max(0, max_solutions - x.shape[1])), (0, 0)), constant_values=np.nan)
    alpha, radius, real = np.full(x.shape[:2], np.inf), np.full(x.shape[:2], np.inf), np.zeros(x.shape[:2], dtype=bool)
    there = np.isfinite(x).all(axis=2)
    own = system.at(np.nonzero(there)[0])
    x[there] = y = own.polished(x[there])
    alpha[there], radius[there] = own.alpha(y)
    imaginary, scale = np.abs(x.imag).max(axis=2), 1 + np.abs(x).max(axis=2)
    nearly = there & (imaginary <= _NEARLY_REAL * scale)
    own = system.at(np.nonzero(nearly)[0])
    y = own.polished(x[nearly].real.astype(np.complex128))
    own_alpha, own_radius = own.alpha(y)
    stayed = np.abs(y - x[nearly]).max(axis=1) <= 10 * _NEARLY_REAL * scale[nearly]
    kept = stayed & ((own_alpha < LARGEST_ALPHA) | (imaginary[nearly] <= _REAL * scale[nearly]))
    x[nearly] = np.where(kept[:, None], y, x[nearly])
    alpha[nearly], radius[nearly] = (
        np.where(kept, *parts) for parts in ((own_alpha, alpha[nearly]), (own_radius, radius[nearly]))
    )
    real[nearly] = kept
    # of two that are one the better proven counts
    order = np.argsort(np.nan_to_num(alpha, nan=np.inf), axis=1)
    x = np.take_along_axis(x, order[..., None], axis=1)
    alpha, radius, real, imaginary, scale = (
        np.take_along_axis(part, order, axis=1) for part in (alpha, radius, real, imaginary, scale)
    )
    proven = alpha < LARGEST_ALPHA
    gap = np.abs(x[:, :, None] - x[:, None]).max(axis=3)
    both = proven[:, :, None] & proven[:, None]
    same = np.where(both, gap <= radius[:, :, None] + radius[:, None], gap <= _SAME * scale[:, :, None])
    x[np.tril(same, -1).any(axis=2)] = np.nan
    order = np.argsort(~np.isfinite(x).all(axis=2), axis=1, kind="stable")[:, :max_solutions]
    x = np.take_along_axis(x, order[..., None], axis=1)
    there = np.isfinite(x).all(axis=2)
    real, certified = (
        there & np.take_along_axis(part, order, axis=1) for part in (real, proven & (real | (imaginary > radius)))
    )
    return Roots(x, real, certified, np.asarray(certified.all(axis=1)))


class QuadricPattern(Pattern):
    """A pattern that states equations, their numerical roots, and their poses; proofs follow."""

    max_solutions: int
    """Largest number of solutions, by a theorem that the pattern's module names."""
    eliminations = 1
    """Ways to eliminate unknowns: the next is taken where those before leave doubt."""

    @abstractmethod
    def system(self, struts: list[Strut]) -> Quadrics:
        """The equations of m states."""

    @abstractmethod
    def roots(self, struts: list[Strut], elimination: int) -> ComplexArray:
        """All numerical solutions (m, k, n), complex ones too, repeated or not; NaN where there are fewer."""

    @abstractmethod
    def poses(self, struts: list[Strut], x: Array) -> Array:
        """Poses (m, k, 4, 4) of real solutions (m, k, n)."""

    def solve(self, struts: list[Strut]) -> Solutions:
        """Roots as poses, with what is proven of them."""
        with np.errstate(all="ignore"):
            system = self.system(struts)
            found = certified_roots(system, self.roots(struts, 0), self.max_solutions)
            for elimination in range(1, self.eliminations):
                doubtful = np.flatnonzero(~found.complete)
                more = self.roots([strut.at(doubtful) for strut in struts], elimination)
                every = np.concatenate([found.x[doubtful], more], axis=1)
                again = certified_roots(system.at(doubtful), every, self.max_solutions)
                for old, new in zip(found, again, strict=True):
                    old[doubtful] = new
            pose = self.poses(struts, np.where(found.real[..., None], found.x.real, np.nan))
        pose[~np.isfinite(pose).all(axis=(2, 3))] = np.nan
        return Solutions(pose, found.certified & found.real, np.ones(len(pose), dtype=bool), found.complete)
