"""How bodies of a leg move against each other at its joints, at a state."""

from __future__ import annotations

import casadi as ca

from ..legs import Joint
from ..symbols.vectors import cross, dot
from .leg_at_state import LegAtState


def joint_rate(leg: LegAtState, joint: Joint) -> ca.SX:
    """Rate of a joint: of a slide along its axis (1) [m/s], else the child's angular velocity against the parent's (3).

    Base axes, without what a rod between two spherical joints spins freely.
    """
    if joint.kind == "prismatic":
        return dot(leg.at_tip(joint.axes[0]), _relative_velocity(leg, joint, leg.at_tip(joint.point)))
    rate = _angular_velocity(leg, joint.child) - _angular_velocity(leg, joint.parent)
    if joint.spins_about is None:
        return rate
    line = leg.at_tip(joint.spins_about)
    return rate - dot(rate, line) * line


def _angular_velocity(leg: LegAtState, body: str) -> ca.SX:
    """Angular velocity of a body of a leg (``base`` and ``platform`` among them), base axes."""
    if body == "base":
        return ca.SX.zeros(3)
    if body == "platform":
        return leg.tip.spin
    vectors, rates, _ = leg.vectors
    return leg.model.angular_velocity(body, vectors, rates)


def _relative_velocity(leg: LegAtState, joint: Joint, point: ca.SX) -> ca.SX:
    """Velocity of the child's point at a joint against that of the parent's, base axes."""
    vectors, rates, _ = leg.vectors

    def velocity(body: str) -> ca.SX:
        if body == "base":
            return ca.SX.zeros(3)
        if body == "platform":
            place, rate, _ = leg.tip.series
            return rate + cross(leg.tip.spin, point - place)
        return leg.model.point_velocity(body, vectors, rates, point)

    return velocity(joint.child) - velocity(joint.parent)
