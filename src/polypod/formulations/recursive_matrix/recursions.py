"""Staicu's recursions over the bodies of a leg, (10)-(13) outwards and (18) back, every vector in its body's axes.

Corrected as printed forms need: (13) carries on the acceleration of the body before, not that of the joint; (18) sums
over all bodies that a body carries. They hold for hinges, slides and spherical joints alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ...symbols.vectors import cross, dot, skew
from .links import Link

_ZERO = ca.SX.zeros(3)


@dataclass(frozen=True)
class Velocity:
    """Absolute angular velocity omega_k0 and velocity v_k0 of the joint A_k, columns for several motions at once."""

    omega: ca.SX
    v: ca.SX


@dataclass(frozen=True)
class Acceleration:
    """Angular acceleration eps_k0, acceleration gamma_k0 of A_k, and B_k = omega~ omega~ + eps~."""

    epsilon: ca.SX
    gamma: ca.SX
    turning: ca.SX

    def at(self, arm: ca.SX) -> ca.SX:
        """Acceleration of the body's point at ``arm`` from A_k."""
        return self.gamma + self.turning @ arm


@dataclass(frozen=True)
class Load:
    """A force and a moment about A_k that a body needs, in its axes."""

    force: ca.SX
    moment: ca.SX


def turning(omega: ca.SX, epsilon: ca.SX) -> ca.SX:
    """B = omega~ omega~ + eps~: (13) line 2 follows from lines 1 and (11)."""
    return skew(epsilon) + omega @ omega.T - dot(omega, omega) * ca.SX.eye(3)


def velocities(links: Sequence[Link], rates: ca.SX) -> list[Velocity]:
    """omega_k = a omega_{k-1} + u thetadot (11); v_k = a (v_{k-1} + omega_{k-1} x r) (12), + u qdot for a slide.

    ``rates`` (n, c): the unit matrix gives the virtual velocities of (17), a column the velocities themselves.
    """
    result: list[Velocity] = []
    for link in links:
        own = link.free @ rates[link.rates, :]
        if link.parent < 0:
            none = ca.SX.zeros(3, rates.size2())
            result.append(Velocity(none, own) if link.slides else Velocity(own, none))
            continue
        before = result[link.parent]
        omega = link.passing @ before.omega
        v = link.passing @ (before.v - skew(link.arm) @ before.omega)
        result.append(Velocity(omega, v + own) if link.slides else Velocity(omega + own, v))
    return result


def accelerations(
    links: Sequence[Link], moving: Sequence[Velocity], rates: ca.SX, second: ca.SX, base: ca.SX
) -> list[Acceleration]:
    """(13): eps_k = a eps_{k-1} + u thetaddot + (a omega_{k-1}) x u thetadot, gamma_k = a (gamma_{k-1} + B_{k-1} r).

    A slide adds u qddot + 2 (a omega_{k-1}) x u qdot to gamma. ``base`` is the base's acceleration: -g instead of the
    weights f*, m* of (18).
    """
    result: list[Acceleration] = []
    start = Acceleration(_ZERO, base, ca.SX.zeros(3, 3))
    for link, velocity in zip(links, moving, strict=True):
        before = result[link.parent] if link.parent >= 0 else start
        carried = link.passing @ moving[link.parent].omega if link.parent >= 0 else _ZERO
        own, rate = link.free @ second[link.rates], link.free @ rates[link.rates]
        epsilon = link.passing @ before.epsilon
        gamma = link.passing @ before.at(link.arm)
        if link.slides:
            gamma = gamma + own + 2 * cross(carried, rate)
        else:
            epsilon = epsilon + own + cross(carried, rate)
        result.append(Acceleration(epsilon, gamma, turning(velocity.omega, epsilon)))
    return result


def inertia_load(mass: ca.SX, first: ca.SX, tensor: ca.SX, omega: ca.SX, moved: Acceleration) -> Load:
    """F_k0 = m gamma + B m r_C, M_k0 = m r_C x gamma + J eps + omega x J omega (18), about A_k."""
    force = mass * moved.gamma + moved.turning @ first
    moment = cross(first, moved.gamma) + tensor @ moved.epsilon + cross(omega, tensor @ omega)
    return Load(force, moment)


def own_load(link: Link, velocity: Velocity, moved: Acceleration, base: ca.SX) -> Load:
    """What inertia and weight of one body ask for, (18) lines 3-6."""
    inertia = link.inertia
    load = inertia_load(inertia.mass, inertia.first, inertia.tensor, velocity.omega, moved)
    if inertia.weight.is_zero():
        return load
    lift = link.frame.axes.T @ base
    return Load(load.force + inertia.weight * lift, load.moment + cross(inertia.weight_moment, lift))


def joint_forces(links: Sequence[Link], loads: Sequence[Load]) -> ca.SX:
    """Force or moment along every free direction, (n): u^T F_k of a slide, u^T M_k of a hinge.

    F_k = F_k0 + sum a^T F_c, M_k = M_k0 + sum (a^T M_c + r x a^T F_c) over the bodies c that body k carries (18).
    """
    total = list(loads)
    result = ca.SX.zeros(links[-1].rates.stop)
    for place in range(len(links) - 1, -1, -1):
        link, load = links[place], total[place]
        result[link.rates] = link.free.T @ (load.force if link.slides else load.moment)
        if link.parent >= 0:
            force, moment = link.passing.T @ load.force, link.passing.T @ load.moment
            carrier = total[link.parent]
            total[link.parent] = Load(carrier.force + force, carrier.moment + moment + cross(link.arm, force))
    return result
