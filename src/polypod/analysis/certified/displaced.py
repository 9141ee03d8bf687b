"""Poses in symbols from the coordinates that boxes are made of: those of a robot, or displacements about a pose."""

from __future__ import annotations

import casadi as ca

from ...mechanism import Mechanism
from ...platforms.motion import frame_of, pose_of
from ...symbols.vectors import Frame, cayley, skew


def about(x: ca.SX, pose: ca.SX) -> ca.SX:
    """The pose (p + d, Cayley's rotation by 2 atan|c| about c, times R) of a displacement (d, c) about (p, R)."""
    frame = frame_of(pose)
    return pose_of(Frame(frame.origin + x[:3], cayley(x[3:]) @ frame.axes))


def displaced(mechanism: Mechanism, x: ca.SX, fixed: ca.SX) -> ca.SX:
    """The pose of coordinates from home, about a pivot; of fewer than six freedoms along and about its own axes."""
    home, pivot = frame_of(fixed[:16]), fixed[16:]
    if mechanism.platform.full:
        axes = turned(x[3:]) @ home.axes
        return pose_of(Frame(home.origin + home.axes @ pivot + x[:3] - axes @ pivot, axes))
    origin, axes = home.origin, home.axes
    for k, freedom in enumerate(mechanism.robot.freedoms):
        along = ca.DM(freedom.axis)
        if freedom.motion == "translation":
            origin = origin + along * x[k]
        else:
            across = skew(ca.SX(along))
            axes = (ca.SX.eye(3) + ca.sin(x[k]) * across + (1 - ca.cos(x[k])) * (across @ across)) @ axes
    return pose_of(Frame(origin, axes))


def turned(angles: ca.SX) -> ca.SX:
    """Rotation matrix of roll, pitch and yaw: Rz(yaw) Ry(pitch) Rx(roll)."""
    return _turn(2, angles[2]) @ _turn(1, angles[1]) @ _turn(0, angles[0])


def _turn(axis: int, angle: ca.SX) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    rows: list[list[ca.SX]] = [[ca.SX(1), ca.SX(0), ca.SX(0)], [ca.SX(0), c, -s], [ca.SX(0), s, c]]
    order = [(k - axis) % 3 for k in range(3)]
    turned: ca.SX = ca.vertcat(*[ca.horzcat(*[rows[i][j] for j in order]) for i in order])
    return turned
