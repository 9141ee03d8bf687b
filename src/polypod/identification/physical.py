"""Numbers that real bodies can have, nearest to what data and file say: a convex problem, solved by Newton's method.

A body is real if its pseudo-inertia [[Sigma, s], [s^T, m]] is positive definite (Wensing, Kim, Slotine 2018); friction
and rotors are not negative. Minimised is ||R P p - z||^2/2 + ||(p - p0)/sigma0||^2/2 - mu sum log det(J_i(p)) with the
barrier mu going to zero: the J_i are linear in p, so the problem is convex and has one minimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Body
from ..description.paths import get
from ..errors import InputError
from ..files.suspected_unit_errors import densest_radius
from ..parameters.vector import MOMENTS
from ..symbols.inertia import SECOND_MOMENTS
from .base import BaseParameters
from .linear_model import ROD_MOMENTS, LinearModel, joint_frames, rod_numbers, rods_of

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
                raise InputError("uncertainty: a physically impossible body is fixed by an uncertainty of 0")
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


# ----------------------------------------------------------------------------------------------------------------------
# What real bodies can have: matrices, linear in the numbers, that must be positive definite.

FLAT = 1e-9
"""A body is flat across a direction where its second moment is below this part of the largest, as files are checked."""

HEAVIER = 2.0
"""A body that is found to be no more than so many times as heavy as the file's is no denser than any material."""


@dataclass(frozen=True)
class Cone:
    """A matrix sum p_j E_j (d, d) of the numbers ``places`` that must be positive definite; E are ``parts`` (k, d, d).

    ``spare`` (k,) are uncertainties of numbers that forces do not show: they stay as they are unless the body could not
    be real with them.
    """

    places: NDArray[np.int64]
    parts: Array
    spare: Array

    def at(self, p: Array) -> Array:
        """The matrix at numbers p."""
        return np.asarray(np.tensordot(p[self.places], self.parts, axes=1))

    def across_flat(self, p: Array, free: NDArray[np.bool_]) -> Cone:
        """The matrix across directions u in which the body is flat whatever the free numbers are.

        J(p) u = 0 and E_j u = 0 for all that are free: J is positive semidefinite if it is so across all u.
        """
        if len(self.places) == 1:
            return self
        size = _sizes(self.at(p))
        parts = self.parts / size / size[:, None]
        values, vectors = np.linalg.eigh(np.tensordot(p[self.places], parts, axes=1))
        flat = vectors[:, values < FLAT * values[-1]]
        if not flat.size:
            return self
        moving = parts[free[self.places]]
        moving = moving / np.abs(moving).max(axis=(1, 2), keepdims=True)
        _, seen, turn = np.linalg.svd((moving @ flat).reshape(-1, flat.shape[1]))
        stays = flat @ turn[int((seen > FLAT).sum()) :].T
        if not stays.size:
            return self
        across = np.linalg.svd(stays)[0][:, stays.shape[1] :]
        return replace(self, parts=across.T @ parts @ across)

    def interior(self, p: Array, sigma: Array) -> Array | None:
        """Numbers strictly inside: p with more mass all over the body, in units of sigma; None if none are."""
        values = np.linalg.eigvalsh(self.parts)
        grows = values[:, 0] > -1e-12 * values[:, -1]
        step = np.where(grows, np.trace(self.parts, axis1=1, axis2=2) * sigma[self.places], 0.0)
        p, share = p.copy(), 1e-3
        size = _sizes(self.at(p) + share * np.tensordot(step, self.parts, axes=1))
        while np.linalg.eigvalsh(self.at(p) / size / size[:, None])[0] < FLAT:
            if share > 1e9:
                return None
            p[self.places] += share * step
            share *= 2
        return p


def _sizes(matrix: Array) -> Array:
    """Scales (d,) of a pseudo-inertia: the largest second moment for all directions, and the mass."""
    diagonal = np.abs(np.diag(matrix))
    size = np.sqrt(np.append(np.full(len(diagonal) - 1, diagonal[:-1].max(initial=0.0)), diagonal[-1]))
    return np.where(size > 0, size, 1.0)


def cones(linear: LinearModel, base: BaseParameters, sigma: Array) -> list[Cone]:
    """What must be positive: pseudo-inertias of bodies that the file does not exempt, masses, friction, rotors.

    Of a body of which forces show the mass alone (it does not turn) only the mass must be. Pseudo-inertias are about
    the file's centre of mass, where they are checked: bodies may be far from their origins. ``sigma`` (k,) is the
    uncertainty of all numbers, also of those that forces do not show.
    """
    found = []
    place = {n.key: k for k, n in enumerate(linear.numbers)}
    rods, frames = rods_of(linear.mechanism), joint_frames(linear.robot)
    bodies = dict.fromkeys(n.path for n in linear.numbers if n.moment)
    for path in bodies:
        body: Any = get(linear.robot, path)
        assert isinstance(body, Body)
        if body.check == "none":
            continue
        seen = {n.moment for k, n in enumerate(linear.numbers) if n.path == path and base.identifiability[k] != "not"}
        if seen <= {"m"}:
            found.append(_scalar(place[f"{path}.m"]))
        elif f"{path}.Sacross" in place:
            places = np.array([place[f"{path}.{n}"] for n in ROD_MOMENTS])
            m, s, along, across = rod_numbers(rods[path].length)
            parts = np.moveaxis(np.array([[along, s], [s, m]]), -1, 0)
            spare = np.where([n in seen for n in ROD_MOMENTS], 0.0, sigma[places])
            found.append(Cone(places, parts, spare))
            found.append(_scalar(place[f"{path}.Sacross"]))
            found += _spread_out(linear, found[-2], m, s[:, None], along + 2 * across, body.mass)
        else:
            used = [m for m in MOMENTS if f"{path}.{m}" in place]
            places = np.array([place[f"{path}.{m}"] for m in used])
            shift = np.eye(4)
            turn, origin = frames.get(path, (np.eye(3), np.zeros(3)))
            shift[:3, 3] = -turn.T @ (np.array(body.com) - origin)
            parts = shift @ _pseudo_inertia()[[MOMENTS.index(m) for m in used]] @ shift.T
            found.append(Cone(places, parts, np.where([m in seen | {"m"} for m in used], 0.0, sigma[places])))
            second = np.trace(parts[:, :3, :3], axis1=1, axis2=2)
            found += _spread_out(linear, found[-1], parts[:, 3, 3], parts[:, :3, 3], second, body.mass)
    found += [_scalar(k) for k, n in enumerate(linear.numbers) if not n.moment and not n.path.startswith("elements.")]
    return found + _of_elements(linear, place)


def _of_elements(linear: LinearModel, place: dict[str, int]) -> list[Cone]:
    """Stiffness and damping, as numbers or matrices; forces of curves and preloads may be of any sign."""
    found, matrices = list[Cone](), dict[str, list[tuple[int, int, int]]]()
    for key, k in place.items():
        _, number, field, *index = key.split(".") if key.startswith("elements.") else ("", "0", "")
        resists = field == "force" and linear.robot.elements[int(number)].kind == "damper"
        if field in ("stiffness", "damping") and len(index) == 2:
            matrices.setdefault(f"{number}.{field}", []).append((k, int(index[0]), int(index[1])))
        elif field in ("stiffness", "damping") or resists:
            found.append(_scalar(k))
    for entries in matrices.values():
        size = 1 + max(max(i, j) for _, i, j in entries)
        parts = np.zeros((len(entries), size, size))
        for part, (_, i, j) in zip(parts, entries, strict=True):
            part[i, j] = part[j, i] = 1.0
        found.append(Cone(np.array([k for k, _, _ in entries]), parts, np.zeros(len(entries))))
    return found


def _spread_out(linear: LinearModel, whole: Cone, m: Array, s: Array, second: Array, mass: float) -> list[Cone]:
    """[[m 1, s], [s^T, tr(Sigma) - k m]]: second moments about the centre of mass at least those of the densest ball.

    A ball has tr(Sigma) = 3/5 m R^2; k is that of ``HEAVIER`` times the file's ``mass``. ``m`` (k,), ``s`` (k, d) and
    ``second`` tr(Sigma) (k,) are shares of the numbers. Nothing is asked of a body that the file has as a point.
    """
    d = s.shape[1]
    parts = np.zeros((len(m), d + 1, d + 1))
    parts[:, :d, :d] = m[:, None, None] * np.eye(d)
    parts[:, :d, d] = parts[:, d, :d] = s
    parts[:, d, d] = second - 0.6 * densest_radius(HEAVIER * mass) ** 2 * m
    own = parts.any(axis=(1, 2))  # products of inertia have no share
    cone = Cone(whole.places[own], parts[own], whole.spare[own])
    held = np.linalg.eigvalsh(_unit_diagonal(cone.at(linear.values)))[0] > FLAT
    return [cone] if held else []


def _scalar(place: int) -> Cone:
    return Cone(np.array([place]), np.ones((1, 1, 1)), np.zeros(1))


def _pseudo_inertia() -> Array:
    """E (10, 4, 4): the pseudo-inertia of each moment alone."""
    parts = np.zeros((10, 4, 4))
    parts[0, 3, 3] = 1.0
    for k in range(3):
        parts[1 + k, k, 3] = parts[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(SECOND_MOMENTS):
        parts[4 + k, i, j] = parts[4 + k, j, i] = 1.0
    return parts


def inside(constraints: list[Cone], p: Array) -> bool:
    """Whether all matrices are positive semidefinite to rounding."""
    for cone in constraints:
        values = np.linalg.eigvalsh(_unit_diagonal(cone.at(p)))
        if values[0] < -1e-12 * max(abs(values[-1]), 1e-300):
            return False
    return True


def _unit_diagonal(matrix: Array) -> Array:
    """A matrix with its rows and columns scaled to a unit diagonal where it has one."""
    d = np.sqrt(np.maximum(np.abs(np.diag(matrix)), 1e-300))
    return np.asarray(matrix / d / d[:, None])
