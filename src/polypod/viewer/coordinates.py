"""Coordinates x that a page moves the platform by: x from a pose and the pose from x, in symbols."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..arrays import Array
from ..description import Robot
from ..platforms import DegreesOfFreedom
from ..platforms.motion import pose_of
from ..symbols.expression import Expression, Port, port
from ..symbols.vectors import Frame, axis_rotation, skew

_POSE = Port("pose", ca.SX.sym("pose", 16), (4, 4))
_DEFAULT_EULER = "ZYX"


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of the platform: its name and its unit, ``m`` or ``rad``."""

    name: str
    unit: str


@dataclass(frozen=True)
class Coordinates:
    """The coordinates, ``place``: x -> pose, and ``read``: pose -> x.

    A robot of six degrees of freedom has the position of its platform's origin and three angles in the order of its
    ``euler`` (ZYX where that is singular without rotation); others have their generalized coordinates. Where the rest
    of the pose follows from the legs, ``place`` is None: the model's function ``motion`` finds it.
    """

    names: tuple[Coordinate, ...]
    place: Expression | None
    read: Expression


def coordinates_of(robot: Robot, is_constrained: bool = False) -> Coordinates:
    """Coordinates of a robot; ``is_constrained`` says that its platform moves as its legs let it."""
    dof = DegreesOfFreedom(robot)
    m = dof.count
    x = Port("x", ca.SX.sym("x", m), (m,))
    pose = ca.reshape(_POSE.symbols, 4, 4).T
    if dof.full:
        order = robot.euler if len(set(robot.euler.lower())) == 3 else _DEFAULT_EULER
        names = (*(Coordinate(k, "m") for k in "xyz"), *(Coordinate(text, "rad") for text in _angle_names(order)))
        placed = Frame(x.symbols[:3], _turned(order, x.symbols[3:]))
        found = ca.vertcat(pose[:3, 3], _angles(order, pose[:3, :3]))
    else:
        names = tuple(Coordinate(f.name, "m" if f.motion == "translation" else "rad") for f in robot.dof)
        if is_constrained:
            return Coordinates(names, None, Expression("read", (_POSE,), (port("x", _displacement(dof, pose)),)))
        placed, found = _pose_from_dof(dof, x.symbols), _dof_from_pose(dof, pose)
    return Coordinates(
        names,
        Expression("place", (x,), (port("pose", pose_of(placed), (4, 4)),)),
        Expression("read", (_POSE,), (port("x", found),)),
    )


def _angle_names(order: str) -> list[str]:
    moving = order.isupper()
    return [f"about {'moving ' if moving and k else ''}{axis}" for k, axis in enumerate(order.lower())]


def _turned(order: str, angles: ca.SX) -> ca.SX:
    """R_1 R_2 R_3 for moving axes, R_3 R_2 R_1 for fixed ones."""
    turns = [axis_rotation("xyz".index(k), angles[i]) for i, k in enumerate(order.lower())]
    first, second, third = turns if order.isupper() else turns[::-1]
    return first @ second @ third


def _about(axis: ca.DM, angle: ca.SX) -> ca.SX:
    """k k^T + cos (1 - k k^T) + sin k~"""
    outer = axis @ axis.T
    return outer + ca.cos(angle) * (ca.DM.eye(3) - outer) + ca.sin(angle) * skew(ca.SX(axis))


def _angles(order: str, r: ca.SX) -> ca.SX:
    """The three angles of a rotation; the one in the middle is within a quarter of a turn."""
    i, j, k = ("xyz".index(axis) for axis in (order.lower() if order.isupper() else order[::-1]))
    sign = 1 if (j - i) % 3 == 1 else -1
    middle = ca.asin(ca.fmax(-1, ca.fmin(1, sign * r[i, k])))
    outer = ca.atan2(-sign * r[j, k], r[k, k])
    inner = ca.atan2(-sign * r[i, j], r[i, i])
    return ca.vertcat(outer, middle, inner) if order.isupper() else ca.vertcat(inner, middle, outer)


def _pose_from_dof(dof: DegreesOfFreedom, x: ca.SX) -> Frame:
    """p = p_home + S x, R = R(theta) R_home, as
    ``polypod.model.generalized_coordinates.GeneralizedCoordinates``."""
    move = ca.DM(dof.basis) @ x
    home = dof.home
    axes = ca.SX(ca.DM(home[:3, :3]))
    if dof.axis is not None:
        axis = ca.DM(dof.axis)
        axes = _about(axis, ca.dot(axis, move[3:])) @ axes
    return Frame(ca.DM(home[:3, 3]) + move[:3], axes)


def _dof_from_pose(dof: DegreesOfFreedom, pose: ca.SX) -> ca.SX:
    """x with the pose nearest to another."""
    move = ca.SX.zeros(6)
    move[:3] = pose[:3, 3] - ca.DM(dof.home[:3, 3])
    if dof.axis is not None:
        axis: Array = dof.axis
        turned = pose[:3, :3] @ ca.DM(dof.home[:3, :3].T)
        twice = ca.vertcat(turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1])
        # about the axis itself, whatever else the pose holds: k.(R - R^T)^v and tr R - k^T R k
        across = ca.trace(turned) - ca.DM(axis).T @ turned @ ca.DM(axis)
        move[3:] = ca.atan2(ca.dot(ca.DM(axis), twice), across) * ca.DM(axis)
    return ca.DM(dof.inverse) @ move


def _displacement(dof: DegreesOfFreedom, pose: ca.SX) -> ca.SX:
    """Components of the displacement from home, as ``polypod.model.generalized_coordinates.FollowedMotion`` has
    them.

    The rotation vector of R is theta k with sin(theta) k = (R - R^T)^v / 2 and 1 + 2 cos(theta) = tr R.
    """
    turned = pose[:3, :3] @ ca.DM(dof.home[:3, :3].T)
    sine = 0.5 * ca.vertcat(turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1])
    size = ca.sqrt(ca.dot(sine, sine))
    angle = ca.atan2(size, 0.5 * (ca.trace(turned) - 1))
    vector = sine * ca.if_else(size > 1e-12, angle / ca.fmax(size, 1e-12), 1)
    return ca.DM(dof.components.T) @ ca.vertcat(pose[:3, 3] - ca.DM(dof.home[:3, 3]), vector)
