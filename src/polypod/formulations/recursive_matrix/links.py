"""A body of a leg with the joint that carries it, in the terms of Staicu's recursions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...legs import PlacedBody
from ...symbols.vectors import Frame, columns, cross, unit
from .samples import ConstantMatrix, Samples

# A rod's zero moment moved to its end and back is rounding; it must not keep a product alive.
_ROUNDING = 1e-15


@dataclass(frozen=True)
class LumpedInertia:
    """Mass, first moment (3) and inertia tensor (3, 3) about a joint's centre A_k, body axes [kg, kg m, kg m^2].

    ``weight`` and ``weight_moment`` are mass and first moment of what has weight but no inertia.
    """

    mass: ca.SX
    first: ca.SX
    tensor: ca.SX
    weight: ca.SX
    weight_moment: ca.SX

    @staticmethod
    def of(
        bodies: Iterable[PlacedBody], frame: Frame, fixed: Callable[[ca.SX, bool], ca.SX], samples: Samples
    ) -> LumpedInertia:
        """All that is fastened to one frame; ``fixed`` gives a constant matrix, or a length if so said.

        With a body's axes T and origin r in the frame: s -> T s + m r,
        Sigma -> T Sigma T^T + (T s) r^T + r (T s)^T + m r r^T, and the tensor is tr(Sigma) 1 - Sigma.
        """
        mass, first, second = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3, 3)
        weight, weight_moment = ca.SX(0), ca.SX.zeros(3)
        for body in bodies:
            own = body.moments
            turn = fixed(frame.axes.T @ body.frame.axes, False)
            offset = fixed(frame.axes.T @ (body.frame.origin - frame.origin), True)
            turned = turn @ own.first
            moment = turned + own.mass * offset
            if not body.has_inertia:
                weight, weight_moment = weight + own.mass, weight_moment + moment
                continue
            mass, first = mass + own.mass, first + moment
            second = second + turn @ own.second @ turn.T + turned @ offset.T + offset @ moment.T
        tensor = ca.trace(second) * ca.SX.eye(3) - second
        largest = float(np.abs(samples.values(tensor)).max())
        return LumpedInertia(mass, first, samples.snapped(tensor, _ROUNDING * largest, False), weight, weight_moment)


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
    inertia: LumpedInertia

    @property
    def rates(self) -> slice:
        """Where its rates stand among the leg's."""
        return slice(self.first_rate, self.first_rate + int(self.free.size2()))


def hinge_passing(before: ca.SX, after: ca.SX, carriers: ca.SX, own: ca.SX) -> ca.SX:
    """Passing matrix of a hinge as Staicu's a^phi times constants (2), from bases that begin with its axis.

    a t = s; a t2 = cos s2 - sin s3; a t3 = sin s2 + cos s3 with (t, t2, t3) the carrier's and (s, s2, s3) its own.
    """
    if before.is_constant():
        return after.T @ before
    second = after @ own[:, 1]
    cosine, sine = ca.dot(second, before @ carriers[:, 1]), ca.dot(second, before @ carriers[:, 2])
    turn = ca.SX.eye(3)
    turn[1, 1], turn[1, 2], turn[2, 1], turn[2, 2] = cosine, sine, -sine, cosine
    return own @ turn @ carriers.T


def basis(axis: ConstantMatrix, samples: Samples) -> ca.SX:
    """A right-handed basis of columns that begins with a unit vector; coordinate axes stay coordinate axes."""
    numbers = axis.numbers.ravel()
    place = int(np.argmax(np.abs(numbers)))
    if abs(numbers[place]) == 1.0 and axis.symbols.is_constant():
        second = ca.SX(ca.DM(np.roll(np.eye(3)[place], 1)))
    else:
        second = unit(cross(axis.symbols, ca.SX(ca.DM(np.eye(3)[(place + 1) % 3]))))
    return samples.snapped(columns(axis.symbols, second, cross(axis.symbols, second)))
