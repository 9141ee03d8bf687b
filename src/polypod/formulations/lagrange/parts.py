"""Lagrange's equation in matrices: I, V and G, how they change with the coordinates, and those of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ...symbols.vectors import axis_rotation, skew, symmetric, total

PARTS = ("platform", "actuators", "translating links", "rotating links")


@dataclass(frozen=True)
class Matrices:
    """I, V and G of I d(rate)/dt + V rate + G = generalized force, for one set of coordinates."""

    inertia: ca.SX
    coriolis: ca.SX
    gravity: ca.SX

    def __add__(self, other: Matrices) -> Matrices:
        return Matrices(self.inertia + other.inertia, self.coriolis + other.coriolis, self.gravity + other.gravity)

    def force(self, rate: ca.SX, change: ca.SX) -> ca.SX:
        """Generalized force of a motion, Lopes (70)-(72)."""
        return self.inertia @ change + self.coriolis @ rate + self.gravity

    def transformed(self, carry: ca.SX, change: ca.SX) -> Matrices:
        """The same for other rates w with rate = C w: C^T I C (28), C^T (V C + I Cdot), C^T G.

        Where both rates are derivatives of coordinates, this V is (76) of the new inertia matrix; where one is a twist,
        it is that of Lagrange's equations in quasi-velocities. Idot - 2 V stays skew-symmetric in either.
        """
        coriolis = self.coriolis @ carry + self.inertia @ change
        return Matrices(carry.T @ self.inertia @ carry, carry.T @ coriolis, carry.T @ self.gravity)


def christoffel(derivatives: Sequence[ca.SX], rate: ca.SX) -> ca.SX:
    """V = (Idot + U^T - U)/2 from the derivatives dI/dx_k, Lopes (76).

    Row i of U is xdot^T dI/dx_i: (77)-(79) with derivatives by x; those by xdot, as printed, are zero.
    """
    change = total([slope * rate[k] for k, slope in enumerate(derivatives)], derivatives[0].shape)
    u = ca.vertcat(*[rate.T @ slope for slope in derivatives])
    return 0.5 * (change + u.T - u)


def platform_matrices(mass: ca.SX, arm: ca.SX, tensor: ca.SX, gravity: ca.SX, twist: ca.SX) -> Matrices:
    """I, V and G of the platform with respect to its twist; Lopes (18)-(23), the centre at ``arm`` from the origin.

    ``tensor`` is the central inertia; both in base axes. Since a twist is not the rate of coordinates, V is found in
    local ones, x = [p, a] with R = Rz(a3) Ry(a2) Rx(a1) R_now, at a = 0, where T = 1: V = V_x - I Tdot. The angles
    are zero in any pose, so no orientation is singular and no sine is left.
    """
    angles = ca.SX.sym("angles", 3)
    turned, axes = euler_axes("xyz", angles)
    carry = ca.diagcat(ca.SX.eye(3), axes)
    across = mass * skew(turned @ arm)
    turning = turned @ tensor @ turned.T - across @ skew(turned @ arm)
    base = ca.vertcat(ca.horzcat(mass * ca.SX.eye(3), -across), ca.horzcat(across, turning))
    slope = ca.jacobian(ca.vec(symmetric(ca.densify(carry.T @ base @ carry))), angles)
    derivatives = [ca.SX.zeros(6, 6) for _ in range(3)] + [ca.reshape(slope[:, k], 6, 6) for k in range(3)]
    quasi = christoffel(derivatives, twist) - base @ ca.jtimes(carry, angles, twist[3:])
    inertia, coriolis = ca.substitute([base, quasi], [angles], [ca.SX.zeros(3)])
    weight = -mass * gravity
    return Matrices(inertia, coriolis, ca.vertcat(weight, skew(arm) @ weight))


def euler_axes(convention: str, angles: ca.SX) -> tuple[ca.SX, ca.SX]:
    """R and J_A with omega = J_A d(angles)/dt, for an Euler convention as SciPy spells it.

    Capitals turn about moving axes in the order given; ``ZYX`` is Lopes (4) and (9). Small letters turn about fixed
    axes, the first angle first.
    """
    order = range(3) if convention.isupper() else range(2, -1, -1)
    turned, columns = ca.SX.eye(3), [ca.SX.zeros(3)] * 3
    for k in order:
        number = "xyz".index(convention[k].lower())
        columns[k] = turned[:, number]
        turned = turned @ axis_rotation(number, angles[k])
    return turned, ca.horzcat(*columns)
