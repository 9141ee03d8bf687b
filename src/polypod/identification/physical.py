"""Numbers that real bodies can have, nearest to what data and file say: a convex problem, solved by Newton's method.

A body is real if its pseudo-inertia [[Sigma, s], [s^T, m]] is positive definite (Wensing, Kim, Slotine 2018); friction
and rotors are not negative. Minimised is ||R P p - z||^2/2 + ||(p - p0)/sigma0||^2/2 - mu sum log det(J_i(p)) with the
barrier mu going to zero: linear in p inside, so there is one minimum and no solver is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..description import Body
from ..errors import InputError
from ..parameters.numbers import MOMENTS
from ..parameters.paths import value_at
from .base import BaseParameters
from .numbers import LinearModel
from .spread import PAIRS

Array = NDArray[np.float64]
BARRIERS = (1.0, 1e-2, 1e-4, 1e-6)
"""mu, in units of the objective, which is a log-likelihood: the last one changes nothing that data can see."""


@dataclass(frozen=True)
class Cone:
    """A matrix E_0 + sum p_j E_j (d, d) of the numbers ``places`` that must be positive definite.

    E_0, ``slack``, is zero but for flat bodies whose thickness forces do not show: these may stay flat.
    """

    places: NDArray[np.int64]
    parts: Array
    slack: Array | float = 0.0

    def at(self, p: Array) -> Array:
        """The matrix at numbers p."""
        return np.asarray(np.tensordot(p[self.places], self.parts, axes=1) + self.slack)


def cones(linear: LinearModel, base: BaseParameters) -> list[Cone]:
    """What must be positive: pseudo-inertias of bodies that the file does not exempt, masses, friction, rotors.

    Of a body of which forces show the mass alone (it does not turn) only the mass must be.
    """
    found = []
    place = {n.key: k for k, n in enumerate(linear.numbers)}
    bodies = dict.fromkeys(n.path for n in linear.numbers if n.moment)
    for path in bodies:
        body: Any = value_at(linear.robot, path)
        assert isinstance(body, Body)
        if body.check == "none":
            continue
        seen = {n.moment for k, n in enumerate(linear.numbers) if n.path == path and base.sight[k] != "not"}
        if seen <= {"m"}:
            found.append(_scalar(place[f"{path}.m"]))
        elif f"{path}.Sacross" in place:
            names = ("m", "along", "Salong")
            parts = np.array([[[0, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [0, 0]]], dtype=float)
            found.append(Cone(np.array([place[f"{path}.{n}"] for n in names]), parts))
            found.append(_scalar(place[f"{path}.Sacross"]))
        else:
            used = [m for m in MOMENTS if f"{path}.{m}" in place]
            cone = Cone(np.array([place[f"{path}.{m}"] for m in used]), _pseudo_inertia()[
                [MOMENTS.index(m) for m in used]])  # fmt: skip
            found.append(_flat(cone, linear.values) if len(seen) < len(used) else cone)
    found += [_scalar(k) for k, n in enumerate(linear.numbers) if not n.moment]
    return found


def _flat(cone: Cone, values: Array) -> Cone:
    """The same with a little slack if the file's body is flat: some of its moments are not shown and stay."""
    matrix = cone.at(values)
    if np.linalg.eigvalsh(_even(matrix))[0] >= 1e-9:
        return cone
    diagonal = np.abs(np.diag(matrix))
    diagonal[:3] = np.maximum(diagonal[:3], 1e-3 * diagonal[:3].max())
    return replace(cone, slack=1e-6 * np.diag(diagonal))


def _scalar(place: int) -> Cone:
    return Cone(np.array([place]), np.ones((1, 1, 1)))


def _pseudo_inertia() -> Array:
    """E (10, 4, 4): the pseudo-inertia of each moment alone."""
    parts = np.zeros((10, 4, 4))
    parts[0, 3, 3] = 1.0
    for k in range(3):
        parts[1 + k, k, 3] = parts[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(PAIRS):
        parts[4 + k, i, j] = parts[4 + k, j, i] = 1.0
    return parts


def inside(constraints: list[Cone], p: Array) -> bool:
    """Whether all matrices are positive semidefinite to rounding."""
    for cone in constraints:
        values = np.linalg.eigvalsh(_even(cone.at(p)))
        if values[0] < -1e-12 * max(abs(values[-1]), 1e-300):
            return False
    return True


def _even(matrix: Array) -> Array:
    """A matrix with its rows and columns scaled to a unit diagonal where it has one."""
    d = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
    return np.asarray(matrix / d / d[:, None])


def most_likely(
    triangle: Array, side: Array, base: BaseParameters, prior: Array, sigma: Array, constraints: list[Cone]
) -> tuple[Array, Array, bool]:
    """Numbers p (k,), their covariance (k, k) by data and prior, and whether a body had to be held real.

    ``triangle`` R and ``side`` z are the data's, ``prior`` p0 and ``sigma`` the file's values and their uncertainty
    (0: held as they are).
    """
    free = np.flatnonzero(sigma > 0)
    scale = sigma[free]
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
    if inside(constraints, p):
        return p, covariance, False
    return _held(r, q.T @ target, _Barrier(prior, free, scale, constraints)), covariance, True


class _Barrier:
    """-sum log det of the cones as a function of steps x of the free numbers, in units of their uncertainty."""

    def __init__(self, prior: Array, free: NDArray[np.int64], scale: Array, constraints: list[Cone]) -> None:
        self._prior, self._free, self._scale = prior, free, scale
        slot = {int(k): j for j, k in enumerate(free)}
        moving = [c for c in constraints if np.isin(c.places, free).any()]
        self.bodies = [c for c in moving if c.parts.shape[1] > 1]
        single = np.array([int(c.places[0]) for c in moving if c.parts.shape[1] == 1], dtype=np.int64)
        self.single, self._single_slots = single, np.array([slot[int(k)] for k in single], dtype=np.int64)
        self._slots = []
        for cone in self.bodies:
            own = [(i, slot[int(k)]) for i, k in enumerate(cone.places) if int(k) in slot]
            index = np.array([j for _, j in own])
            self._slots.append((index, cone.parts[[i for i, _ in own]] * scale[index][:, None, None]))

    def numbers(self, x: Array) -> Array:
        """p at a step x."""
        p = self._prior.copy()
        p[self._free] += self._scale * x
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

    def start(self) -> Array:
        """A point strictly inside: the file's numbers, with thin bodies made a little thicker."""
        p, sigma = self._prior.copy(), np.zeros(len(self._prior))
        sigma[self._free] = self._scale
        p[self.single] = np.maximum(p[self.single], 1e-3 * sigma[self.single])
        for cone in self.bodies:
            share, step = 1e-3, np.trace(cone.parts, axis1=1, axis2=2) * sigma[cone.places]
            while np.linalg.eigvalsh(_even(cone.at(p)))[0] < 1e-9:
                if share > 1e9:
                    raise InputError("uncertainty: a body that no real one can be is held by an uncertainty of 0")
                p[cone.places] += share * step
                share *= 2
        return np.asarray((p[self._free] - self._prior[self._free]) / self._scale)


def _held(r: Array, z: Array, barrier: _Barrier) -> Array:
    """The minimum of ||r x - z||^2/2 inside the cones, by Newton's method along a falling barrier."""
    x, hessian = barrier.start(), r.T @ r
    for mu in BARRIERS:
        for _ in range(50):
            gradient, curvature = r.T @ (r @ x - z), hessian.copy()
            barrier.add(x, mu, gradient, curvature)
            step = -np.linalg.solve(curvature, gradient)
            decrement = float(-gradient @ step)
            if decrement < 1e-8:
                break
            here = 0.5 * float(((r @ x - z) ** 2).sum()) + mu * barrier.value(x)
            length = 1.0
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
