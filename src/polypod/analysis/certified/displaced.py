"""Poses in symbols from the coordinates that boxes are made of: those of a robot, or displacements about a pose."""

from __future__ import annotations

import casadi as ca

from ...mechanism import Mechanism
from ...mechanism.dependent_coordinates import sine_series
from ...platforms import ConstrainedState
from ...platforms.motion import frame_of, pose_of
from ...symbols.vectors import Frame, axis_rotation, cayley, dot, skew

TURN = 3.2
"""Largest angle [rad] of rotation vectors here."""
_TERMS = 16
"""Terms of a series in the square of an angle up to that: the next is below 1e-21."""


def about(x: ca.SX, pose: ca.SX) -> ca.SX:
    """The pose (p + d, Cayley's rotation by 2 atan|c| about c, times R) of a displacement (d, c) about (p, R)."""
    frame = frame_of(pose)
    return pose_of(Frame(frame.origin + x[:3], cayley(x[3:]) @ frame.axes))


def displaced(mechanism: Mechanism, x: ca.SX, fixed: ca.SX) -> ca.SX:
    """The pose of coordinates from home, about a pivot; of fewer than six degrees of freedom along and about its own
    axes."""
    home, pivot = frame_of(fixed[:16]), fixed[16:]
    if mechanism.platform.full:
        axes = roll_pitch_yaw(x[3:]) @ home.axes
        return pose_of(Frame(home.origin + home.axes @ pivot + x[:3] - axes @ pivot, axes))
    origin, axes = home.origin, home.axes
    for k, coordinate in enumerate(mechanism.robot.dof):
        along = ca.DM(coordinate.direction)
        if coordinate.motion == "translation":
            origin = origin + along * x[k]
        else:
            across = skew(ca.SX(along))
            axes = (ca.SX.eye(3) + ca.sin(x[k]) * across + (1 - ca.cos(x[k])) * (across @ across)) @ axes
    return pose_of(Frame(origin, axes))


def followed(mechanism: Mechanism, x: ca.SX, w: ca.SX, fixed: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The pose of coordinates x and of what follows from them, w, and the twist (6, 6) for rates of [x, w].

    By xi = C x + O w from home, up to half a turn: the origin moves by the first three numbers of xi, the axes turn
    by the rotation vector of the others, as ``model.motion`` has it; omega = J_l times its rate. Without roots and
    choices, so that there are bounds everywhere.
    """
    state = mechanism.platform.rest(mechanism.inputs())
    assert isinstance(state, ConstrainedState)
    basis = ca.horzcat(state.chosen, state.others)
    xi = basis @ ca.vertcat(x, w)
    home, square, across = frame_of(fixed[:16]), dot(xi[3:], xi[3:]), skew(xi[3:])
    a, b, c = (sine_series(square, first, _TERMS) for first in (1, 2, 3))
    twice = across @ across
    turn = ca.SX.eye(3) + a * across + b * twice
    rates = ca.diagcat(ca.SX.eye(3), ca.SX.eye(3) + b * across + c * twice)
    return pose_of(Frame(home.origin + xi[:3], turn @ home.axes)), rates @ basis


def with_twists(pose: ca.SX, x: ca.SX) -> tuple[ca.SX, ca.SX]:
    """A pose (16) of coordinates x, and the twist (6, m) for their rates: omega~ = R' R^T."""
    frame, columns = frame_of(pose), []
    for k in range(x.numel()):
        moving = frame_of(ca.jacobian(pose, x[k]))
        spin = moving.axes @ frame.axes.T
        columns.append(ca.vertcat(moving.origin, spin[2, 1], spin[0, 2], spin[1, 0]))
    return pose, ca.horzcat(*columns)


def roll_pitch_yaw(angles: ca.SX) -> ca.SX:
    """Rotation matrix of roll, pitch and yaw: Rz(yaw) Ry(pitch) Rx(roll)."""
    return axis_rotation(2, angles[2]) @ axis_rotation(1, angles[1]) @ axis_rotation(0, angles[0])
