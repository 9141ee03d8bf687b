"""Mechanics of a robot by CasADi's own differentiation and d'Alembert's principle: a formulation that shares no code.

Only ``Leg.place`` is used, which says where bodies and joints are and what is actuated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import polypod as pp
from polypod.description import Body, Friction
from polypod.legs import Actuator, Joint, PlacedBody
from polypod.symbols.vectors import Frame
from support.states import basis

Array = NDArray[np.float64]


class BodyState(NamedTuple):
    """Pose, motion of the centre of mass and what moves the body so: force and moment about its centre, base axes."""

    pose: Array
    centre: Array
    velocity: Array
    omega: Array
    force: Array
    moment: Array


class LegState(NamedTuple):
    """Bodies by name; points, axes and rates (child against parent, a vector) of the joints by name.

    ``coordinates`` are the actuated ones with their first and second derivatives, (3, a).
    """

    bodies: dict[str, BodyState]
    points: dict[str, Array]
    axes: dict[str, list[Array]]
    rates: dict[str, Array]
    coordinates: Array


class _Leg(NamedTuple):
    """What a leg states, and one function of its tip's motion that gives all of it with two derivatives."""

    bodies: tuple[PlacedBody, ...]
    inertias: list[tuple[float, Array, Array]]
    joints: tuple[Joint, ...]
    actuators: tuple[Actuator, ...]
    function: ca.Function


@lru_cache(maxsize=200)
def _leg(robot: pp.Robot, number: int) -> _Leg:
    tip = Frame.symbols("tip")
    x = ca.vertcat(tip.origin, ca.vec(tip.axes))
    placed = robot.legs[number].place(tip)  # type: ignore[attr-defined]
    parts = [ca.vec(ca.horzcat(ca.densify(b.frame.axes), b.frame.origin)) for b in placed.bodies]
    for joint in placed.joints:
        parts += [joint.point, *joint.axes]
    parts += [actuator.coordinate for actuator in placed.actuators]
    stacked, velocity, push = ca.vertcat(*parts), ca.SX.sym("v", 12), ca.SX.sym("a", 12)
    first = ca.jtimes(stacked, x, velocity)
    second = ca.jtimes(first, ca.vertcat(x, velocity), ca.vertcat(velocity, push))
    function = ca.Function("leg", [x, velocity, push], [stacked, first, second])
    return _Leg(placed.bodies, [_inertia(b) for b in placed.bodies], placed.joints, placed.actuators, function)


def leg_state(robot: pp.Robot, number: int, pose: Array, twist: Array, acceleration: Array) -> LegState:
    """Everything about one leg at one motion of the platform."""
    leg = _leg(robot, number)
    rotation, omega, alpha = pose[:3, :3], twist[3:], acceleration[3:]
    arm = rotation @ np.array(robot.legs[number].platform)
    x0 = np.r_[pose[:3, 3] + arm, rotation.T.ravel()]
    spin, turn = _skew(omega), _skew(alpha) + _skew(omega) @ _skew(omega)
    x1 = np.r_[twist[:3] + spin @ arm, (spin @ rotation).T.ravel()]
    x2 = np.r_[acceleration[:3] + turn @ arm, (turn @ rotation).T.ravel()]
    series = np.array([np.array(part).ravel() for part in leg.function(x0, x1, x2)])

    gravity = np.array(robot.gravity)
    bodies, moving = {}, {"base": (np.zeros(3), np.zeros(3), np.zeros(3)), "platform": (x0[:3], x1[:3], omega)}
    for k, body in enumerate(leg.bodies):
        frame = series[:, 12 * k : 12 * k + 12].reshape(3, 4, 3).transpose(0, 2, 1)
        (axes, origin), (axes1, origin1), (axes2, origin2) = ((f[:, :3], f[:, 3]) for f in frame)
        turning = _axial(axes1 @ axes.T)
        change = _axial(axes2 @ axes.T - _skew(turning) @ _skew(turning))
        mass, com, central = leg.inertias[k]
        tensor, matrix = axes @ central @ axes.T, np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = axes, origin
        moving[body.name] = origin, origin1, turning
        bodies[body.name] = BodyState(
            matrix,
            origin + axes @ com,
            origin1 + axes1 @ com,
            turning,
            mass * (origin2 + axes2 @ com - gravity),
            tensor @ change + _skew(turning) @ tensor @ turning,
        )
    at = 12 * len(leg.bodies)
    points, directions, rates = {}, {}, {}
    for joint in leg.joints:
        point, *axes_ = series[0, at : at + 3 + 3 * len(joint.axes)].reshape(-1, 3)
        at += 3 + 3 * len(joint.axes)
        points[joint.name], directions[joint.name] = point, axes_
        (o_c, v_c, w_c), (o_p, v_p, w_p) = moving[joint.child], moving[joint.parent]
        slide = v_c + _skew(w_c) @ (point - o_c) - v_p - _skew(w_p) @ (point - o_p)
        rates[joint.name] = axes_[0] * (axes_[0] @ slide) if joint.kind == "prismatic" else w_c - w_p
    return LegState(bodies, points, directions, rates, series[:, at:])


def _inertia(body: PlacedBody) -> tuple[float, Array, Array]:
    """Mass, centre of mass and central tensor of a body."""
    if isinstance(body.inertia, Body):
        return body.inertia.mass, np.array(body.inertia.com), body.inertia.central_inertia
    found = body.moments
    com, tensor = (np.array(ca.DM(ca.densify(x))) for x in (found.com, found.central_tensor))
    return float(found.mass), com.ravel(), tensor


class Balance(NamedTuple):
    """Virtual powers for each of the robot's degrees of freedom: those of unit actuator forces (n, m), and the power
    asked (m).

    ``size`` (m) is the sum of the absolute parts of what is asked, for tolerances.
    """

    rows: Array
    demand: Array
    size: Array


Resistance = Callable[[Any, Joint, Array], Array]


def dalembert(robot: pp.Robot, state: Any, resistance: Resistance | None = None) -> Balance:
    """Actuator forces f must satisfy rows^T f = demand: for every virtual velocity u,

    sum f dq/du = sum over bodies (m (a - g) . dv/du + dH . dw/du) + sum rotor q'' dq/du + friction . drate/du - w . S.
    ``resistance`` gives what overcomes friction of a joint (leg, joint, rate), a vector along the rate.
    """
    still, axes = np.zeros(6), basis(robot)
    rows, parts = [], [-state.wrench @ axes]
    body, turn = robot.platform, state.pose[:3, :3]
    com, tensor = turn @ np.array(body.com), turn @ body.central_inertia @ turn.T
    omega, alpha = state.twist[3:], state.acceleration[3:]
    lift = state.acceleration[:3] + np.cross(alpha, com) + np.cross(omega, np.cross(omega, com)) - robot.gravity
    moment = tensor @ alpha + np.cross(omega, tensor @ omega) + np.cross(com, body.mass * lift)
    parts.append(np.r_[body.mass * lift, moment] @ axes)
    for number, leg in enumerate(robot.legs):
        now = leg_state(robot, number, state.pose, state.twist, state.acceleration)
        moved = [leg_state(robot, number, state.pose, u, still) for u in axes.T]
        for name, b in now.bodies.items():
            parts.append(np.array([b.force @ m.bodies[name].velocity + b.moment @ m.bodies[name].omega for m in moved]))
        derivatives = np.array([m.coordinates[1] for m in moved]).T
        for k, actuator in enumerate(_leg(robot, number).actuators):
            parts.append(float(actuator.rotor) * now.coordinates[2, k] * derivatives[k])
        for joint in _leg(robot, number).joints if resistance is not None else ():
            push = resistance(leg, joint, now.rates[joint.name])
            parts.append(np.array([push @ m.rates[joint.name] for m in moved]))
        rows.append(derivatives)
    return Balance(np.concatenate(rows), np.sum(parts, axis=0), np.sum(np.abs(parts), axis=0))


def friction_law(loads: dict[tuple[str, str], float] | None = None, dry: bool = True) -> Resistance:
    """c w + (k L + d) w/|w| with the exact direction; loads L by (leg, joint)."""

    def resistance(leg: Any, joint: Joint, rate: Array) -> Array:
        data = getattr(leg, joint.friction) if joint.friction else Friction()
        size = np.linalg.norm(rate)
        load = loads[leg.name, joint.name] if loads and data.coulomb else 0.0
        direction = rate / size if size > 0 and dry else np.zeros(3)
        return data.viscous * rate + (data.coulomb * load + data.drag) * direction

    return resistance


def _skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def _axial(matrix: Array) -> Array:
    return 0.5 * np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
