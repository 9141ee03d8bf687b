"""I, V and G of a robot and of its parts, in twists or in the paper's coordinates [p, Euler angles]."""

from __future__ import annotations

import casadi as ca

from ...description import Robot
from ...errors import InputError, UnknownNameError
from ...formulations.lagrange import PARTS, LegEnergies, Matrices, euler_axes, platform_part
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
    if coordinates == "euler" and robot.dof:
        names = ", ".join(coordinate.name for coordinate in robot.dof)
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


def matrices(mechanism: Mechanism, part: str | None = None, coordinates: str = "base") -> Expression:
    """I (m, m), V (m, m) and G (m) of one part, or of the whole robot, without friction.

    ``base``: inputs pose and twist. ``euler``: inputs x = [p, angles] in the robot's convention and xdot; the
    matrices are T^T I T (28), T^T (V T + I Tdot) and T^T G, which is (76)-(79) of I_E.
    """
    if part is not None and part not in PARTS:
        raise UnknownNameError("part", part, PARTS)
    parts = PARTS if part is None else (part,)
    state = State(mechanism, coordinates)
    platform, motion = state.platform, state.platform.motion
    result = Matrices(ca.SX.zeros(6, 6), ca.SX.zeros(6, 6), ca.SX.zeros(6))
    if "platform" in parts:
        result = result + platform_part(mechanism, motion)
    for leg in mechanism.attach(platform) if parts != ("platform",) else []:
        energies = LegEnergies(leg, mechanism.gravity)
        own = Matrices(*energies.matrices(parts)(*energies.series[:2]))
        result = result + own.transformed(*_tip_maps(leg, motion.omega))
    if not mechanism.platform.full:
        basis = platform.reduced(ca.SX.eye(6)).T
        result = result.transformed(basis, ca.SX.zeros(*basis.shape))
    if state.carry is not None:
        result = result.transformed(*state.carry)
    outputs = (port("inertia", result.inertia), port("coriolis", result.coriolis), port("gravity", result.gravity))
    return Expression("lagrange_matrices", state.inputs, outputs, mechanism.port)


def _tip_maps(leg: LegAtState, omega: ca.SX) -> tuple[ca.SX, ca.SX]:
    """C with tdot = C u for the twist u, and its time derivative: C = [1, -r~], Cdot = [0, -(omega x r)~]."""
    moving = [leg.arm, *([leg.axes[:, k] for k in range(3)] if leg.model.uses_axes else [])]
    rates = [ca.horzcat(ca.SX.zeros(3, 3), -skew(skew(omega) @ r)) for r in moving]
    return tip_map(leg.tip)[: 3 * len(moving), :], ca.vertcat(*rates)
