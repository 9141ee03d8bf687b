"""A body of a leg with the joint that carries it, in the terms of Staicu's recursions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ...legs import PlacedBody
from ...symbols.vectors import Frame
from .samples import Array


@dataclass(frozen=True)
class Bulk:
    """Mass, first moment and inertia about a joint's centre A_k in body axes [kg, kg m, kg m^2].

    ``weight`` and ``weight_moment`` are mass and first moment of what has weight but no inertia.
    """

    mass: float = 0.0
    first: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    weight: float = 0.0
    weight_moment: Array = field(default_factory=lambda: np.zeros(3))

    @staticmethod
    def of(bodies: Iterable[PlacedBody], frame: Frame, fixed: Callable[[ca.SX, bool], Array]) -> Bulk:
        """All that is fastened to one frame; ``fixed`` evaluates a constant matrix, or a length where told so."""
        mass, first, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        weight, weight_moment = 0.0, np.zeros(3)
        for body in bodies:
            data = body.inertia
            turn = fixed(frame.axes.T @ body.frame.axes, False)
            com = fixed(frame.axes.T @ (body.frame.origin - frame.origin), True).ravel() + turn @ np.array(data.com)
            if not body.has_inertia:
                weight, weight_moment = weight + data.mass, weight_moment + data.mass * com
                continue
            mass, first = mass + data.mass, first + data.mass * com
            central = turn @ data.central_inertia @ turn.T
            inertia = inertia + central + data.mass * (com @ com * np.eye(3) - np.outer(com, com))
        # Rounding (a rod's zero moment moved to its end and back) must not keep a product alive.
        inertia[np.abs(inertia) < 1e-15 * np.abs(inertia).max()] = 0.0
        return Bulk(mass, first, inertia, weight, weight_moment)


@dataclass(frozen=True)
class Link:
    """Body T_k of a leg with the ``joint`` A_k that carries it; ``parent`` is its carrier's number, -1 the base.

    ``free`` (3, f) are the joint's free directions u in the body's own axes: f is 1, or 3 for a spherical joint whose
    rates are the components of its angular velocity. ``first_rate`` is the number of its first rate. ``passing`` is
    a_{k,k-1}, from the carrier's axes to the body's; ``arm`` r_{k,k-1} from A_{k-1} to A_k in the carrier's axes.
    ``frame`` is A_k and the body's axes in the base.
    """

    name: str
    joint: str
    parent: int
    slides: bool
    free: ca.SX
    first_rate: int
    passing: ca.SX
    arm: ca.SX
    frame: Frame
    bulk: Bulk

    @property
    def rates(self) -> slice:
        """Where its rates stand among the leg's."""
        return slice(self.first_rate, self.first_rate + int(self.free.size2()))


def hinge_passing(before: ca.SX, after: ca.SX, t: ca.SX, s: ca.SX) -> ca.SX:
    """Passing matrix of a hinge, axis t in the carrier's axes and s in its own, as Staicu's a^phi times constants (2).

    a t = s; a t2 = cos s2 - sin s3; a t3 = sin s2 + cos s3 with (t, t2, t3) and (s, s2, s3) right-handed.
    """
    if before.is_constant():
        return after.T @ before
    own, carriers = (_basis(np.array(ca.DM(axis)).ravel()) for axis in (s, t))
    second = after @ ca.SX(ca.DM(own[:, 1]))
    cosine = ca.dot(second, before @ ca.SX(ca.DM(carriers[:, 1])))
    sine = ca.dot(second, before @ ca.SX(ca.DM(carriers[:, 2])))
    turn = ca.SX.eye(3)
    turn[1, 1], turn[1, 2], turn[2, 1], turn[2, 2] = cosine, sine, -sine, cosine
    return ca.SX(ca.DM(own)) @ turn @ ca.SX(ca.DM(carriers.T))


def _basis(axis: Array) -> Array:
    """A right-handed basis of columns that begins with a unit vector; coordinate axes stay coordinate axes."""
    place = int(np.argmax(np.abs(axis)))
    if abs(axis[place]) == 1.0:
        second = np.roll(np.eye(3)[place], 1)
    else:
        second = np.cross(axis, np.eye(3)[(place + 1) % 3])
        second = second / np.linalg.norm(second)
    return np.column_stack([axis, second, np.cross(axis, second)])
