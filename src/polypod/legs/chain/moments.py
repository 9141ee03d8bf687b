"""Moments of bodies that are stated at home in the base, in the frames of a chain."""

from __future__ import annotations

import casadi as ca

from ...symbols.inertia import Inertia
from ...symbols.vectors import Frame, dot


def in_frame(inertia: Inertia, frame: Frame) -> Inertia:
    """Moments about the base's origin in base axes as those about a frame's origin in its axes.

    m, s' = E^T (s - m o), Sigma' = E^T (Sigma - o s^T - s o^T + m o o^T) E.
    """
    o, s, m = frame.origin, inertia.first, inertia.mass
    second = inertia.second - o @ s.T - s @ o.T + m * (o @ o.T)
    return Inertia(m, frame.axes.T @ (s - m * o), frame.axes.T @ second @ frame.axes)


def without_spin(inertia: Inertia, along: ca.SX) -> Inertia:
    """A body of revolution about a line through its origin without its moment of inertia about that line.

    I' = I - J n n^T with J = n.I n: what does not spin about the line has the same momentum.
    """
    moment = ca.trace(inertia.second) - dot(along, inertia.second @ along)
    second = inertia.second - 0.5 * moment * ca.SX.eye(3) + moment * (along @ along.T)
    return Inertia(inertia.mass, inertia.first, second)
