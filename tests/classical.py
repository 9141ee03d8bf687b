"""Motion of a leg's bodies by CasADi's own differentiation, and what Newton and Euler ask of each.
Only Leg.place is used, which says where bodies and joints are.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import polypod as pp
from polypod.symbols.vectors import Frame

Array = NDArray[np.float64]


class BodyState(NamedTuple):
    """Pose, angular velocity and what moves the body so: force and moment about its centre of mass, base axes."""

    pose: Array
    centre: Array
    omega: Array
    force: Array
    moment: Array


class LegState(NamedTuple):
    """Bodies by name; points and axes of the joints by name."""

    bodies: dict[str, BodyState]
    points: dict[str, Array]
    axes: dict[str, list[Array]]


def leg_state(robot: pp.Robot, number: int, pose: Array, twist: Array, acceleration: Array) -> LegState:
    """Everything about one leg at one motion of the platform."""
    leg = robot.legs[number]
    rotation, omega, alpha = pose[:3, :3], twist[3:], acceleration[3:]
    arm = rotation @ np.array(leg.platform)
    x0 = np.r_[pose[:3, 3] + arm, rotation.T.ravel()]
    spin, turn = _skew(omega), _skew(alpha) + _skew(omega) @ _skew(omega)
    x1 = np.r_[twist[:3] + spin @ arm, (spin @ rotation).T.ravel()]
    x2 = np.r_[acceleration[:3] + turn @ arm, (turn @ rotation).T.ravel()]
    tip = Frame.symbols("tip")
    x = ca.vertcat(tip.origin, ca.vec(tip.axes))
    placement = leg.place(tip)  # type: ignore[attr-defined]
    velocity, push = ca.SX.sym("v", 12), ca.SX.sym("a", 12)

    def along(expression: ca.SX) -> list[Array]:
        first = ca.jtimes(expression, x, velocity)
        second = ca.jtimes(first, ca.vertcat(x, velocity), ca.vertcat(velocity, push))
        values = ca.Function("f", [x, velocity, push], [expression, first, second])(x0, x1, x2)
        return [np.array(v) for v in values]

    bodies = {}
    gravity = np.array(robot.gravity)
    for body in placement.bodies:
        frame = along(ca.horzcat(ca.densify(body.frame.axes), body.frame.origin))
        (axes, origin), (axes1, _), (axes2, origin2) = ((f[:, :3], f[:, 3]) for f in frame)
        omega_body = _axial(axes1 @ axes.T)
        alpha_body = _axial(axes2 @ axes.T - _skew(omega_body) @ _skew(omega_body))
        inertia, com = body.inertia, np.array(body.inertia.com)
        tensor = axes @ inertia.central_inertia @ axes.T
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = axes, origin
        bodies[body.name] = BodyState(
            matrix,
            origin + axes @ com,
            omega_body,
            inertia.mass * (origin2 + axes2 @ com - gravity),
            tensor @ alpha_body + np.cross(omega_body, tensor @ omega_body),
        )
    points = {joint.name: along(joint.point)[0].ravel() for joint in placement.joints}
    directions = {joint.name: [along(axis)[0].ravel() for axis in joint.axes] for joint in placement.joints}
    return LegState(bodies, points, directions)


def _skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _axial(matrix: Array) -> Array:
    return 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
