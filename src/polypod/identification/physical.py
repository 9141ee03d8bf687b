"""Numbers that real bodies can have, nearest to what data and file say: a convex problem, solved by Newton's method.

A body is real if its pseudo-inertia [[Sigma, s], [s^T, m]] is positive definite (Wensing, Kim, Slotine 2018); friction
and rotors are not negative. Minimised is ||R P p - z||^2/2 + ||(p - p0)/sigma0||^2/2 - mu sum log det(J_i(p)) with the
barrier mu going to zero: the J_i are linear in p, so the problem is convex and has one minimum.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .base import BaseParameters
from .cones import Cone, inside

BARRIERS = (1.0, 1e-2, 1e-4, 1e-6)
"""mu, in units of the objective, which is a log-likelihood, or as a part of it where it is large: the last one changes
nothing that data can see."""


def most_likely(
    triangle: Array, side: Array, base: BaseParameters, prior: Array, sigma: Array, constraints: list[Cone]
) -> tuple[Array, Array, bool]:
    """Numbers p (k,), their covariance (k, k) by data and prior, and whether a body had to be held real.

    ``triangle`` R and ``side`` z are the data's, ``prior`` p0 and ``sigma`` the file's values and their uncertainty
    (0: held as they are).
    """
    free = np.flatnonzero(sigma > 0)
    scale = sigma[free]
    moving = [c for c in constraints if (sigma[c.places] > 0).any()]
    seen = triangle @ base.matrix
    data = seen[:, free] * scale
    rest = side - seen @ prior
    # the prior's rows make the matrix of full rank; in units of sigma0 they are the unit matrix
    stacked = np.concatenate([data, np.eye(len(free))])
    target = np.concatenate([rest, np.zeros(len(free))])
    q, r = np.linalg.qr(stacked)
    inverse = np.linalg.inv(r)
    covariance = np.zeros((len(prior), len(prior)))
    covariance[np.ix_(free, free)] = (inverse @ inverse.T) * scale * scale[:, None]
    p = prior.copy()
    p[free] += scale * np.linalg.solve(r, q.T @ target)
    if inside([c.across_flat(prior, sigma > 0) for c in moving], p):
        return p, covariance, False
    # numbers that no force shows follow where they have to: they cost what the file's uncertainty says
    whole = sigma.copy()
    for cone in moving:
        if cone.across_flat(prior, sigma > 0).interior(prior, sigma) is None:
            whole[cone.places] = np.where(sigma[cone.places] > 0, sigma[cone.places], cone.spare)
    barrier = _Barrier(prior, whole, [c.across_flat(prior, whole > 0) for c in moving])
    shown = sigma[barrier.free] > 0
    weight, z = np.eye(len(shown)), np.zeros(len(shown))
    weight[np.ix_(shown, shown)], z[shown] = r, q.T @ target
    return _held(weight, z, barrier), covariance, True


class _Barrier:
    """-sum log det of the cones as a function of steps x of the free numbers, in units of their uncertainty."""

    def __init__(self, prior: Array, sigma: Array, moving: list[Cone]) -> None:
        self.free = np.flatnonzero(sigma > 0)
        self._prior, self._sigma, self._scale = prior, sigma, sigma[self.free]
        slot = {int(k): j for j, k in enumerate(self.free)}
        self.bodies = [c for c in moving if len(c.places) > 1]
        single = np.array([int(c.places[0]) for c in moving if len(c.places) == 1], dtype=np.int64)
        self.single, self._single_slots = single, np.array([slot[int(k)] for k in single], dtype=np.int64)
        self._slots = []
        for cone in self.bodies:
            own = [(i, slot[int(k)]) for i, k in enumerate(cone.places) if int(k) in slot]
            index = np.array([j for _, j in own])
            self._slots.append((index, cone.parts[[i for i, _ in own]] * self._scale[index][:, None, None]))

    def numbers(self, x: Array) -> Array:
        """Numbers p (k,) of a step x, in units of their uncertainty, from the file's."""
        p = self._prior.copy()
        p[self.free] += self._scale * x
        return p

    def value(self, x: Array) -> float:
        """The barrier; infinite outside."""
        p = self.numbers(x)
        lone = p[self.single]
        if (lone <= 0).any():
            return np.inf
        total = -float(np.log(lone).sum())
        for cone in self.bodies:
            try:
                total -= 2 * float(np.log(np.diag(np.linalg.cholesky(cone.at(p)))).sum())
            except np.linalg.LinAlgError:
                return np.inf
        return total

    def add(self, x: Array, mu: float, gradient: Array, curvature: Array) -> None:
        """mu times its slope and curvature, added."""
        p = self.numbers(x)
        steep = self._scale[self._single_slots] / p[self.single]
        np.add.at(gradient, self._single_slots, -mu * steep)
        np.add.at(curvature, (self._single_slots, self._single_slots), mu * steep**2)
        for cone, (index, parts) in zip(self.bodies, self._slots, strict=True):
            turned = np.linalg.inv(cone.at(p)) @ parts
            gradient[index] -= mu * np.trace(turned, axis1=1, axis2=2)
            curvature[np.ix_(index, index)] += mu * np.einsum("aij,bji->ab", turned, turned)

    def reach(self, x: Array, step: Array) -> float:
        """How many times a step leads from x inside to the first border; infinite if there is none."""
        p = self.numbers(x)
        fall = [-self._scale[self._single_slots] * step[self._single_slots] / p[self.single]]
        for cone, (index, parts) in zip(self.bodies, self._slots, strict=True):
            root = np.linalg.inv(np.linalg.cholesky(cone.at(p)))
            fall.append(-np.linalg.eigvalsh(root @ np.tensordot(step[index], parts, axes=1) @ root.T)[:1])
        steepest = float(np.concatenate(fall).max(initial=0.0))
        return 1 / steepest if steepest > 0 else np.inf

    def start(self) -> Array:
        """A point strictly inside: the file's numbers, with thin bodies made a little thicker."""
        p = self._prior.copy()
        p[self.single] = np.maximum(p[self.single], 1e-3 * self._sigma[self.single])
        for cone in self.bodies:
            interior = cone.interior(p, self._sigma)
            if interior is None:
                raise InputError("uncertainty: a body that no real one can be is held by an uncertainty of 0")
            p = interior
        return np.asarray((p[self.free] - self._prior[self.free]) / self._scale)


def _held(r: Array, z: Array, barrier: _Barrier) -> Array:
    """The minimum of ||r x - z||^2/2 inside the cones, by Newton's method along a falling barrier."""
    x, hessian = barrier.start(), r.T @ r
    for part in BARRIERS:
        # data that no real body fits push hard: a barrier as high keeps numbers a fair way from the border
        mu = part * max(1.0, 0.5 * float(((r @ x - z) ** 2).sum()))
        for _ in range(50):
            gradient, curvature = r.T @ (r @ x - z), hessian.copy()
            barrier.add(x, mu, gradient, curvature)
            step = -_solved(curvature, gradient)
            decrement = float(-gradient @ step)
            if decrement < 1e-8:
                break
            here = 0.5 * float(((r @ x - z) ** 2).sum()) + mu * barrier.value(x)
            # a low barrier does not stop a step a rounding before the border, where there is no slope to go on by
            length = min(1.0, 0.95 * barrier.reach(x, step))
            while length > 1e-8:
                there = x + length * step
                value = 0.5 * float(((r @ there - z) ** 2).sum()) + mu * barrier.value(there)
                if value <= here - 0.2 * length * decrement:
                    break
                length /= 2
            else:
                break
            x = x + length * step
    return barrier.numbers(x)


def _solved(curvature: Array, gradient: Array) -> Array:
    """curvature^-1 gradient, and a way down whatever rounding does to a curvature that is steep at the border."""
    size = np.sqrt(np.diag(curvature))
    values, vectors = np.linalg.eigh(curvature / size / size[:, None])
    along = vectors.T @ (gradient / size)
    return np.asarray(vectors @ (along / np.maximum(values, 1e-15 * values[-1])) / size)
