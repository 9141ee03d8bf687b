"""Coordinates for Lagrange's equation: the platform's twist, or [p, Euler angles], and their maps to a leg's tip."""

from __future__ import annotations

import casadi as ca

from ...description import Robot
from ...errors import InputError, UnknownNameError
from ...mechanism import LegAtState, Mechanism
from ...platforms.contract import tip_map
from ...platforms.motion import pose_of
from ...symbols.expression import Expression, Port, port
from ...symbols.vectors import Frame, skew

COORDINATES = ("base", "euler")


def known_coordinates(robot: Robot, coordinates: str) -> str:
    """The name, if the robot has such coordinates."""
    if coordinates not in COORDINATES:
        raise UnknownNameError("coordinates", coordinates, COORDINATES)
    if coordinates == "euler" and robot.freedoms:
        names = ", ".join(freedom.name for freedom in robot.freedoms)
        raise InputError(f"coordinates: {robot.name!r} moves in {names} only; 'base' has the matrices of these")
    return coordinates


class State:
    """Inputs, the platform's state they mean, and for Euler angles T with twist = T xdot and its rate, (29)."""

    def __init__(self, mechanism: Mechanism, coordinates: str) -> None:
        still, x = ca.SX.zeros(6), mechanism.inputs()
        self.carry: tuple[ca.SX, ca.SX] | None = None
        if known_coordinates(mechanism.robot, coordinates) == "base":
            self.inputs: tuple[Port, ...] = (x.pose, x.twist)
            self.platform = mechanism.platform.at(x, x.twist.symbols, still)
            return
        place, rate = ca.SX.sym("x", 6), ca.SX.sym("xdot", 6)
        self.inputs = (Port("x", place, (6,)), Port("xdot", rate, (6,)))
        axes, turning = euler_axes(mechanism.robot.euler, place[3:])
        carry = ca.diagcat(ca.SX.eye(3), turning)
        self.carry = carry, ca.jtimes(carry, place[3:], rate[3:])
        x.pose = port("pose", pose_of(Frame(place[:3], axes)), (4, 4))
        self.platform = mechanism.platform.at(x, carry @ rate, still)


def motion_of(mechanism: Mechanism) -> Expression:
    """Pose (4, 4) and twist (6) of the platform from Euler coordinates and their rates."""
    state = State(mechanism, "euler")
    motion = state.platform.motion
    outputs = port("pose", pose_of(motion.frame), (4, 4)), port("twist", ca.vertcat(motion.v, motion.omega))
    return Expression("motion_of", state.inputs, outputs, mechanism.port)


def tip_maps(leg: LegAtState, omega: ca.SX) -> tuple[ca.SX, ca.SX]:
    """C with tdot = C u for the twist u, and its time derivative: C = [1, -r~], Cdot = [0, -(omega x r)~]."""
    moving = [leg.arm, *([leg.axes[:, k] for k in range(3)] if leg.model.uses_axes else [])]
    rates = [ca.horzcat(ca.SX.zeros(3, 3), -skew(skew(omega) @ r)) for r in moving]
    return tip_map(leg.tip)[: 3 * len(moving), :], ca.vertcat(*rates)


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
        turned = turned @ _turn(number, angles[k])
    return turned, ca.horzcat(*columns)


def _turn(number: int, angle: ca.SX) -> ca.SX:
    """Rotation about a coordinate axis."""
    c, s = ca.cos(angle), ca.sin(angle)
    i, j = (number + 1) % 3, (number + 2) % 3
    matrix = ca.SX.eye(3)
    matrix[i, i], matrix[j, j], matrix[i, j], matrix[j, i] = c, c, -s, s
    return matrix
