"""A robot's shapes and joints at given poses, for any leg kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..mechanism import LegModel
from ..mobility.numeric_leg import NumericLeg
from .samples import BASE, PLATFORM, BodyFixed, Samples
from .shapes import Shape, drawn_shapes, samples_of


@dataclass(frozen=True)
class PosedRobot:
    """Shapes of a robot at n poses; ``frames`` (n, bodies, 4, 4) are those of its bodies, base frame [m].

    ``joints`` (n, joints, 3) are those of all legs. ``roots`` (n, legs, 3) are the joints that each leg starts from: on
    the base, or on its rail. ``platform`` (n, k, 3) are the joints on the platform, ``ground`` (m, 3) those that stay
    in the base.
    """

    shapes: tuple[Shape, ...]
    frames: Array
    joints: Array
    platform: Array
    ground: Array
    roots: Array

    def placed(self, k: int) -> Iterator[tuple[Shape, Array]]:
        """Every shape with its points (m, 3) at pose k, base frame."""
        for shape in self.shapes:
            yield shape, shape.at(self.frames[k, shape.body])

    def lines(self) -> list[tuple[int, Array]]:
        """Leg and ends (n, 2, 3) of every capsule of a leg's bodies: the robot as lines."""
        found = []
        for shape in self.shapes:
            if shape.role in ("link", "tube", "rod") and shape.leg >= 0 and shape.kind == "capsule":
                frames = self.frames[:, shape.body]
                ends = np.einsum("nij,kj->nki", frames[:, :3, :3], shape.points) + frames[:, None, :3, 3]
                found.append((shape.leg, ends))
        return found

    def rails(self) -> list[tuple[int, Array]]:
        """Leg and ends (2, 3) of every rail."""
        return [(shape.leg, shape.points) for shape in self.shapes if shape.role == "rail"]

    @property
    def size(self) -> float:
        """Largest extent [m] of joints and rails at the first pose along an axis of the base."""
        points = np.concatenate([self.joints[0], *(ends for _, ends in self.rails())])
        return float(np.ptp(points, axis=0).max())


def posed(robot: Robot, poses: Array, deflection: Array | None = None, internal: Array | None = None) -> PosedRobot:
    """A robot's shapes at poses (n, 4, 4), from the frames that its legs place.

    ``deflection`` (n, legs, 3) [m], platform axes, moves the attachment points of a flexible platform: a leg sees of
    the platform its attachment point and the axes, and p + R (a + d) is that point of a platform at p + R d.
    ``internal`` (n, k) are internal coordinates; home without.
    """
    samples = samples_of(robot.rigid)
    frames = np.tile(np.eye(4), (len(poses), len(samples.bodies), 1, 1))
    frames[:, PLATFORM] = poses
    first = PLATFORM + 1
    for number, leg in enumerate(samples.mechanism.legs):
        moved = poses
        if deflection is not None:
            moved = poses.copy()
            moved[:, :3, 3] += np.einsum("nij,nj->ni", poses[:, :3, :3], deflection[:, number])
        count = len(leg.placement.bodies)
        frames[:, first : first + count, :3] = _leg_frames(samples, number, leg, moved, internal)
        first += count
    points = [
        np.einsum("nij,j->ni", frames[:, at.body, :3, :3], at.local) + frames[:, at.body, :3, 3]
        for at in _joint_points(samples)
    ]
    joints = np.stack(points, axis=1) if points else np.zeros((len(poses), 0, 3))
    pairs = [samples.joint_bodies(k) for k in range(len(points))]
    slides = [samples.joints[k][1].kind in ("prismatic", "cylindrical") for k in range(len(points))]
    ground = [k for k, pair in enumerate(pairs) if BASE in pair and not slides[k]]
    on_platform = [k for k, pair in enumerate(pairs) if PLATFORM in pair]
    roots = []
    for number in range(len(robot.legs)):
        own = [k for k in range(len(points)) if samples.joints[k][0] == number]
        roots.append(next((k for k in own if pairs[k][0] == BASE), own[0]))
    return PosedRobot(
        drawn_shapes(samples, robot), frames, joints, joints[:, on_platform], joints[0, ground], joints[:, roots]
    )


def _joint_points(samples: Samples) -> Iterator[BodyFixed]:
    """Where every joint stays: in a body of its leg if it can, which bends aside with the platform's attachment."""
    for k, at in enumerate(samples.joint_points):
        bodies = [body for body in samples.joint_bodies(k) if body > PLATFORM and samples.is_fixed_in(k, body)]
        if bodies:
            frame = samples.frames[0, bodies[0]]
            yield BodyFixed(bodies[0], (samples.points[0, k] - frame[:3, 3]) @ frame[:3, :3])
        else:
            yield at


def _leg_frames(samples: Samples, number: int, leg: LegModel, poses: Array, internal: Array | None = None) -> Array:
    """Frames (n, bodies, 3, 4) of a leg's bodies at poses; unknowns are followed from pose to pose, from home."""
    robot = samples.robot
    outputs = [ca.vec(ca.horzcat(body.frame.axes, body.frame.origin)) for body in leg.placement.bodies]
    count = len(outputs)
    if not count:
        return np.zeros((len(poses), 0, 3, 4))
    tips = poses[:, :3, 3] + poses[:, :3, :3] @ robot.attachments[number]
    numeric = NumericLeg(robot.legs[number], robot)
    inner = np.tile(numeric.internal, (len(poses), 1))
    if internal is not None:
        free = iter(range(internal.shape[1]))
        columns = [next(free) if one.held is None else None for one in robot.internal]
        own = [column for column, owner in zip(columns, robot.internal_legs(), strict=True) if owner == number]
        for k, column in enumerate(own):
            if column is not None:
                inner[:, k] = internal[:, column]
    x = np.concatenate([tips, poses[:, :3, :3].transpose(0, 2, 1).reshape(len(poses), 9), inner], axis=1)
    if leg.unknowns is None:
        function = ca.Function("frames", [leg.all_inputs], [ca.densify(ca.vertcat(*outputs))])
        rows = np.array(function.map(len(poses))(x.T)).T
    else:
        unknowns = leg.unknowns
        parts = ca.substitute(outputs, [unknowns.move], [ca.SX.zeros(unknowns.move.numel())])
        function = ca.Function("frames", [leg.all_inputs, unknowns.place], [ca.densify(ca.vertcat(*parts))])
        places = []
        place = numeric.home
        for pose, numeric.internal in zip(poses, inner, strict=True):  # each from the one before
            place = numeric.at(pose, place)[0]
            places.append(np.ravel(place))
        rows = np.array(function.map(len(poses))(x.T, np.array(places).T)).T
    return rows.reshape(len(poses), count, 4, 3).transpose(0, 1, 3, 2)
