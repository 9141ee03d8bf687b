"""A rigid platform of six degrees of freedom, and internal coordinates of a robot beside its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from ..description import Robot
from ..lazy import lazy
from ..parameters import ParameterVector
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame, cross, dot, skew, symmetric
from .contract import Platform, PlatformState, Tip
from .degrees_of_freedom import DegreesOfFreedom
from .motion import FrameMotion, Inputs, Series, frame_of, moved, pose_of


@dataclass(frozen=True)
class InternalMotion:
    """All internal coordinates with their rates and accelerations, and the leg of each: bodies of legs alone move with
    them. ``numbers`` are their places among the k that are not held, -1 for those that are."""

    legs: tuple[int, ...]
    numbers: tuple[int, ...]
    s: ca.SX
    rate: ca.SX
    acceleration: ca.SX

    @property
    def count(self) -> int:
        """Number k of internal coordinates that are not held."""
        return sum(number >= 0 for number in self.numbers)

    def of_leg(self, leg: int) -> tuple[tuple[int, ...], Series]:
        """Numbers of a leg's coordinates, and their Taylor coefficients in time."""
        own = [k for k, owner in enumerate(self.legs) if owner == leg]
        series = (self.s, self.rate, 0.5 * self.acceleration)
        zero, first, half = (part[own, 0] for part in series)
        return tuple(self.numbers[k] for k in own), (zero, first, half)


class RigidState(PlatformState):
    """A rigid platform at one state; its velocity is the twist in base axes, then the rates of internal coordinates."""

    def __init__(
        self, inertia: Inertia, gravity: ca.SX, motion: FrameMotion, internal: InternalMotion | None = None
    ) -> None:
        self.body, self.gravity, self.motion, self.internal = inertia, gravity, motion, internal
        self.internal_count = 0 if internal is None else internal.count
        self._reference: ca.SX | None = None

    def referred(self, point: ca.SX) -> RigidState:
        """The same state with a point (3) of the platform, in its axes, in place of its origin.

        Twists, wrenches and moments are those at the point then; ``external`` and ``acceleration`` lead there and back.
        """
        motion = self.motion
        arm = motion.frame.axes @ point
        origin, v, half = motion.series(arm)
        moved = FrameMotion(Frame(origin, motion.frame.axes), v, motion.omega, 2 * half, motion.alpha)
        state = RigidState(self.body.about(point), self.gravity, moved)
        state._reference, state.base = point, self.base
        return state

    def tip(self, leg: int, arm: ca.SX) -> Tip:
        """p + R r with its first and second derivatives."""
        axes = self.motion.frame.axes
        turned = axes @ self.from_reference(arm)
        tip = Tip(turned, axes, self.motion.series(turned), self.motion.axes_series(), self.motion.omega)
        if self.internal is None:
            return tip
        owned, series = self.internal.of_leg(leg)
        return replace(tip, internal=series, owned=owned, total=self.internal.count)

    def from_reference(self, arm: ca.SX) -> ca.SX:
        """A point (3) of the platform, from its origin, from the point that the state is referred to."""
        return arm if self._reference is None else arm - self._reference

    def _wide(self, wrench: ca.SX) -> ca.SX:
        """A wrench (6) as a generalized force (6 + k) that does no work on internal coordinates."""
        return wrench if not self.internal_count else ca.vertcat(wrench, ca.SX(self.internal_count, 1))

    def force(self, leg: int, tip: Tip, force: ca.SX) -> ca.SX:
        """[f; r x f + sum e_k x g_k] with f on the point and g_k on the axes."""
        f = force[:3]
        moment = cross(tip.arm, f)
        if force.numel() > 3:
            g = ca.reshape(force[3:12], 3, 3)
            for k in range(3):
                moment = moment + cross(tip.axes[:, k], g[:, k])
        wide = self._wide(ca.vertcat(f, moment))
        for k, number in enumerate(tip.owned if force.numel() > 12 else ()):
            if number >= 0:
                wide[6 + number] = force[12 + k]
        return wide

    def moment(self, leg: int, moment: ca.SX) -> ca.SX:
        """[0; m]"""
        return self._wide(ca.vertcat(ca.SX.zeros(3), moment))

    def inertia_of(self, leg: int, tip: Tip, inertia: ca.SX) -> ca.SX:
        """C^T A C with C = [1, -r~]."""
        # [A, -A r~; r~ A, -r~ A r~] with A symmetric: three products of 3x3 matrices are all it takes.
        arm = skew(tip.arm)
        across = arm @ inertia
        turn = symmetric(-across @ arm)
        return self._wide_matrix(ca.vertcat(ca.horzcat(inertia, across.T), ca.horzcat(across, turn)))

    def _wide_matrix(self, inertia: ca.SX) -> ca.SX:
        """An inertia matrix (6, 6) as one (6 + k, 6 + k) of a body that internal coordinates do not move."""
        k = self.internal_count
        return inertia if not k else ca.diagcat(inertia, ca.SX(k, k))

    @lazy
    def required_wrench(self) -> ca.SX:
        """Inertia and weight of the platform as a wrench at its origin."""
        return self.wrench_of(self.body)

    def wrench_of(self, body: Inertia) -> ca.SX:
        """What a body needs that moves with the platform, as ``required_wrench``."""
        motion = self.absolute
        return self._wide(body.force(motion.frame.axes, motion.omega, motion.alpha, motion.a - self.gravity))

    @lazy
    def inertia(self) -> ca.SX:
        """[m 1, -s~; s~, I] in base axes."""
        return self.matrix_of(self.body)

    def matrix_of(self, body: Inertia) -> ca.SX:
        """Inertia matrix of a body that moves with the platform, as ``inertia``."""
        return self._wide_matrix(body.matrix(self.motion.frame.axes))

    @property
    def velocity(self) -> ca.SX:
        """Twist, then the rates of internal coordinates."""
        free = [] if self.internal is None else [k for k, number in enumerate(self.internal.numbers) if number >= 0]
        rates = [self.internal.rate[free, 0]] if self.internal is not None and free else []
        return ca.vertcat(self.motion.v, self.motion.omega, *rates)

    def external(self, wrench: ca.SX) -> ca.SX:
        """The generalized force of a wrench: of a rigid platform the wrench itself."""
        if self._reference is None:
            return self._wide(wrench)
        arm = self.motion.frame.axes @ self._reference
        return ca.vertcat(wrench[:3], wrench[3:] - cross(arm, wrench[:3]))

    def energies(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """u^T M u/2, -g.(m p + R s), none."""
        twist = ca.vertcat(self.absolute.v, self.absolute.omega)
        potential = -dot(self.gravity, self.first_moment)
        return 0.5 * ca.dot(twist, self.inertia[:6, :6] @ twist), potential, ca.SX(0)

    @property
    def first_moment(self) -> ca.SX:
        """sum m r (3) about the origin of {B}."""
        s, _ = self.body.in_base(self.motion.frame.axes)
        return self.body.mass * self.motion.frame.origin + s

    @property
    def momentum(self) -> tuple[ca.SX, ca.SX]:
        """Mass, and momentum (3) without what the velocity of the base's origin adds."""
        s, _ = self.body.in_base(self.motion.frame.axes)
        return self.body.mass, self.body.mass * self.absolute.v + cross(self.absolute.omega, s)


class RigidPlatform(Platform):
    """Six degrees of freedom: any pose, twist and acceleration."""

    @classmethod
    def suits(cls, robot: Robot, is_constrained: bool) -> bool:
        return not (robot.dof or robot.flexible)

    def __init__(self, numbers: ParameterVector) -> None:
        self.body, self.gravity = numbers.platform, numbers.gravity
        robot, dof = numbers.robot, DegreesOfFreedom(numbers.robot)
        self._legs, self._held = tuple(robot.internal_legs()), numbers.held
        self.internal = len(dof.internal)
        self.names = (*Platform.names, *dof.internal)

    def _at(self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None) -> RigidState:
        """The platform at a motion."""
        motion = FrameMotion.of(frame_of(x.pose.symbols), twist, acceleration)
        return RigidState(self.body, self.gravity, motion, self._internal(x, twist, acceleration))

    def _internal(self, x: Inputs, twist: ca.SX, acceleration: ca.SX) -> InternalMotion | None:
        """The internal coordinates at a state of the inputs, with rates and accelerations after those of the frame."""
        if not self._legs:
            return None
        free = iter(range(self.internal))
        numbers = tuple(next(free) if held is None else -1 for held in self._held)

        def every(part: ca.SX) -> ca.SX:
            return ca.vertcat(*[part[number] if number >= 0 else 0 for number in numbers])

        s = [
            x.internal.symbols[number] if held is None else x.part * held
            for number, held in zip(numbers, self._held, strict=True)
        ]
        return InternalMotion(self._legs, numbers, ca.vertcat(*s), every(twist[6:]), every(acceleration[6:]))

    def displaced(self, pose: ca.SX, move: ca.SX) -> ca.SX:
        """By Cayley's map, so that rotations stay rotations."""
        return ca.vertcat(pose_of(moved(frame_of(pose), move)), pose[16:] + move[6:])

    def projected(self, pose: ca.SX) -> ca.SX:
        """The pose itself."""
        return pose
