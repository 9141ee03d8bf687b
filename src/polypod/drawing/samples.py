"""Where a robot's bodies and joints are at home and around it, in numbers: what a drawing of any leg kind needs."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..lazy import lazy
from ..legs.contract import Actuator, Joint, Limit
from ..mechanism import Mechanism
from ..mechanism.samples import closed_around_home
from ..symbols.inertia import Inertia

COUNT, REACH = 16, 0.05
"""Poses beside home, and how far they are from it in platform sizes and rad."""
BASE, PLATFORM = 0, 1
"""The first bodies of every robot."""


@dataclass(frozen=True)
class BodyFixed:
    """A point or direction fixed in a body: the body's number and its numbers (3) there."""

    body: int
    local: Array


class Samples:
    """A rigid robot at home (first) and at poses around it.

    ``bodies`` names the base, the platform and every body of every leg; ``frames`` (n, bodies, 4, 4) are their poses.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.mechanism = Mechanism(robot, specialise=True)
        self.bodies: list[str] = ["base", "platform"]
        self.masses: list[tuple[int, float, Array]] = []
        self.joints: list[tuple[int, Joint]] = []
        self.actuators: list[tuple[int, Actuator]] = []
        self.limits: list[tuple[int, Limit]] = []
        home = self.mechanism.numbers.evaluate(ca.vertcat(self.mechanism.home_places, ca.SX(0, 1))).ravel()
        states = [(robot.home.matrix, home), *closed_around_home(self.mechanism, COUNT, REACH)]
        self._evaluate(np.stack([pose for pose, _ in states]), np.stack([place for _, place in states]))
        self.scale = float(np.linalg.norm(self.points[0] - self.points[0].mean(axis=0), axis=1).max(initial=1e-3))

    def _evaluate(self, poses: Array, places: Array) -> None:
        """All that is known at poses (n, 4, 4) and places (n, k) of what legs without a closed form leave open."""
        mechanism, parts = self.mechanism, []
        x = mechanism.inputs()
        x.at_place(ca.vertcat(x.pose.symbols, x.internal.symbols * 0))  # internal coordinates as at home
        _, legs = mechanism.resting(x)
        self._add_mass(PLATFORM, mechanism.numbers.platform)
        for leg in legs:
            for body in leg.model.placement.bodies:
                self._add_mass(len(self.bodies), body.moments)
                self.bodies.append(leg.model.leg.label(body.name))
                parts.append(leg.at_tip(ca.vertcat(ca.vec(body.frame.axes), body.frame.origin)))
        for number, leg in enumerate(legs):
            for joint in leg.model.placement.joints:
                self.joints.append((number, joint))
                axes = [*joint.axes, *[ca.SX.zeros(3)] * (2 - len(joint.axes))][:2]
                parts.append(leg.at_tip(ca.vertcat(joint.point, *axes)))
        for number, leg in enumerate(legs):
            self.limits += [(number, limit) for limit in leg.model.placement.limits]
            self.actuators += [(number, actuator) for actuator in leg.model.placement.actuators]
            parts += [leg.at_tip(limit.value) for limit in leg.model.placement.limits]
        parts.append(mechanism.coordinates(legs))
        function = ca.Function("samples", [x.pose.symbols, mechanism.places], [ca.densify(ca.vertcat(*parts))])
        values = np.array(function.map(len(poses))(poses.reshape(len(poses), 16).T, places.T)).T
        moving, joints, limits = len(self.bodies) - 2, len(self.joints), len(self.limits)
        frames, points, rest = np.split(values, [12 * moving, 12 * moving + 9 * joints], axis=1)
        self.frames = np.tile(np.eye(4), (len(poses), len(self.bodies), 1, 1))
        self.frames[:, PLATFORM] = poses
        numbers = frames.reshape(len(poses), moving, 4, 3)  # columns of the axes, then the origin
        self.frames[:, 2:, :3, :] = numbers.transpose(0, 1, 3, 2)
        placed = points.reshape(len(poses), joints, 3, 3)
        self.points, self.axes = placed[:, :, 0], placed[:, :, 1:]
        self.limited, self.q = rest[:, :limits], rest[:, limits:]

    def _add_mass(self, body: int, inertia: Inertia) -> None:
        mass, com = (self.mechanism.numbers.evaluate(value).ravel() for value in (inertia.mass, inertia.com))
        if mass[0] > 0:
            self.masses.append((body, float(mass[0]), com))

    def body_number(self, leg: int, name: str) -> int:
        """Number of a body of a leg, ``base`` and ``platform`` among them."""
        own = name if name in ("base", "platform") else self.robot.legs[leg].label(name)
        return self.bodies.index(own)

    def joint_bodies(self, joint: int) -> tuple[int, int]:
        """Numbers of a joint's parent and child."""
        leg, found = self.joints[joint]
        return self.body_number(leg, found.parent), self.body_number(leg, found.child)

    @lazy
    def joint_points(self) -> list[BodyFixed]:
        """Every joint's point, in the body in which it stays: the child, or the parent of a slide stated there."""
        return [self._fixed(self.points[:, k], self.joint_bodies(k)[::-1]) for k in range(len(self.joints))]

    def joint_axes(self, joint: int) -> list[BodyFixed]:
        """The free directions of a joint, each in the body in which it stays: the parent's first."""
        count = min(len(self.joints[joint][1].axes), 2)
        return [self._fixed(self.axes[:, joint, k], self.joint_bodies(joint), direction=True) for k in range(count)]

    def is_fixed_in(self, joint: int, body: int) -> bool:
        """Whether a joint's point stays in a body."""
        return self._spread(self.points[:, joint], body, False)[1] <= 1e-7 * self.scale

    def _fixed(self, vectors: Array, bodies: tuple[int, int], direction: bool = False) -> BodyFixed:
        found = [(*self._spread(vectors, body, direction), body) for body in bodies]
        local, _, body = min(found, key=lambda f: f[1] if f[1] > 1e-7 * self.scale else 0.0)
        return BodyFixed(body, local)

    def _spread(self, vectors: Array, body: int, direction: bool) -> tuple[Array, float]:
        """A point or direction (n, 3) seen from a body: at home, and how far it moves there."""
        frames = self.frames[:, body]
        inside = np.einsum("nji,nj->ni", frames[:, :3, :3], vectors if direction else vectors - frames[:, :3, 3])
        return inside[0], float(np.ptp(inside, axis=0).max())
