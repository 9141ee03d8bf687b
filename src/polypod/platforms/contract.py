"""The contract of a platform kind: its velocity, the motion of every leg's tip, and the forces of its own inertia.

Generalized forces and velocities are columns of 6 + N numbers: a wrench (twist) of the platform's frame in axes of the
kind's own choice, then N elastic ones. ``reduced`` takes them to the robot's own m + N.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from ..description import Robot
from ..parameters import ParameterVector
from ..symbols.vectors import skew
from .motion import BaseMotion, FrameMotion, Inputs, Series


@dataclass(frozen=True)
class Tip:
    """The point where a leg is attached, in the base: its arm (3) from {P}'s origin, and the platform's axes (3, 3).

    ``series`` are Taylor coefficients in time, to order two, of the point (3), ``axes_series`` those of the axes (9).
    ``spin`` is the platform's angular velocity there, base axes. ``internal`` are Taylor coefficients of those internal
    coordinates that are the leg's, ``owned`` their numbers among the ``total`` ones of the robot that are not held, or
    -1.
    """

    arm: ca.SX
    axes: ca.SX
    series: Series
    axes_series: Series
    spin: ca.SX
    internal: Series = (ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, 1))
    owned: tuple[int, ...] = ()
    total: int = 0

    @property
    def here(self) -> ca.SX:
        """Point, axes and internal coordinates (12 + k): what a leg's placement depends on."""
        return ca.vertcat(self.series[0], ca.vec(self.axes), self.internal[0])


def tip_map(tip: Tip) -> ca.SX:
    """d(point, axes)/d(twist): [1, -r~], and for the axes [0, -e_k~], (12, 6); with internal coordinates wider."""
    rows = [ca.horzcat(ca.SX.eye(3), -skew(tip.arm))]
    rows += [ca.horzcat(ca.SX(3, 3), -skew(tip.axes[:, k])) for k in range(3)]
    if not tip.owned and not tip.total:
        return ca.vertcat(*rows)
    inner = ca.SX(len(tip.owned), tip.total)
    for k, number in enumerate(tip.owned):
        if number >= 0:
            inner[k, number] = 1
    return ca.diagcat(ca.vertcat(*rows), inner)


class PlatformState(ABC):
    """A platform at one state, in symbols."""

    motion: FrameMotion
    base: BaseMotion | None = None

    @property
    def absolute(self) -> FrameMotion:
        """The frame's motion with that of the base, if it moves: what inertia answers to."""
        return self.motion if self.base is None else self.base.carried_frame(self.motion)

    @abstractmethod
    def tip(self, leg: int, arm: ca.SX) -> Tip:
        """The attachment point of a leg, ``arm`` (3) from {P}'s origin in platform axes when undeformed."""

    def from_reference(self, arm: ca.SX) -> ca.SX:
        """A point (3) of the platform, from its origin, from the point that the state is referred to."""
        return arm

    @abstractmethod
    def force(self, leg: int, tip: Tip, force: ca.SX) -> ca.SX:
        """Generalized force (6 + N) of a force (3) on a leg's tip, base axes; (12): with forces on the axes' ends."""

    @abstractmethod
    def moment(self, leg: int, moment: ca.SX) -> ca.SX:
        """Generalized force (6 + N) of a moment (3, base axes) on the platform at a leg's joint."""

    @abstractmethod
    def inertia_of(self, leg: int, tip: Tip, inertia: ca.SX) -> ca.SX:
        """Inertia matrix (6 + N, 6 + N), with respect to the velocity, of one (3, 3) of a leg's tip, base axes."""

    @property
    @abstractmethod
    def required_wrench(self) -> ca.SX:
        """Generalized force (6 + N) that the platform's motion takes without elastic acceleration, gravity included."""

    @property
    @abstractmethod
    def inertia(self) -> ca.SX:
        """Inertia matrix (6 + N, 6 + N) of the platform itself."""

    @property
    def velocity(self) -> ca.SX:
        """The platform's velocity (6 + N) in the kind's own axes."""
        return ca.vertcat(self.motion.v, self.motion.omega)

    @property
    def quality(self) -> ca.SX:
        """How far the platform's own velocity is from being undetermined; 0 in a constraint singularity."""
        return ca.SX(1)

    @property
    def damping_power(self) -> ca.SX:
        """Power [W] that the platform's own damping takes."""
        return ca.SX(0)

    @abstractmethod
    def external(self, wrench: ca.SX) -> ca.SX:
        """Generalized force (6 + N) of an external wrench at the origin of {P}, base axes."""

    @abstractmethod
    def energies(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Kinetic, gravity's and elastic energy of the platform."""

    def reduced(self, force: ca.SX) -> ca.SX:
        """Generalized forces (6 + N, k) of the robot's own velocity (m + N, k): S^T w."""
        return force

    def reduced_inertia(self, inertia: ca.SX) -> ca.SX:
        """Inertia matrix with respect to the robot's own velocity: S^T M S."""
        return inertia

    def directions(self, tip: Tip) -> ca.SX:
        """How a leg's point and axes (12) move with the robot's own velocity, (12, m)."""
        return self.reduced(tip_map(tip).T).T

    def to_base(self, columns: ca.SX) -> ca.SX:
        """Columns (m + N, k) of forces or velocities from the kind's own axes to those of the base."""
        return columns

    def acceleration(self, change: ca.SX) -> ca.SX:
        """The frame's acceleration (6), base axes, from the rate of the robot's own velocity (m + N)."""
        return change[: 6 + self.internal_count, :]

    internal_count: int = 0


class Platform(ABC):
    """A platform kind.

    Attributes
    ----------
    names : of the m coordinates that a motion gives, internal ones last
    internal : number k of internal coordinates among them
    elastic : number N of elastic coordinates
    full : it has six degrees of freedom, so that any pose, twist and acceleration is one of its own
    is_constrained : its twists S(x) u follow from the legs' constraints and change from pose to pose
    base : motion of the base; None if it stands still
    knows_rotations : how it turns where legs are attached is known; mode files may leave that out
    """

    names: tuple[str, ...] = ("vx", "vy", "vz", "wx", "wy", "wz")
    elastic: int = 0
    internal: int = 0
    full: bool = True
    is_constrained: bool = False
    knows_rotations: bool = True
    base: BaseMotion | None = None

    @classmethod
    @abstractmethod
    def suits(cls, robot: Robot, is_constrained: bool) -> bool:
        """Whether a robot has such a platform; ``is_constrained``: what its legs let it do changes from pose to
        pose."""

    @abstractmethod
    def __init__(self, numbers: ParameterVector) -> None:
        """From the numbers of a robot; a kind may add numbers of its own."""

    @property
    def count(self) -> int:
        """Number m of the coordinates that a motion gives."""
        return len(self.names)

    def inputs(self, actuators: int = 6) -> Inputs:
        """Fresh symbols of a state."""
        return Inputs(actuators, self.elastic, self.internal)

    def at(
        self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None = None
    ) -> PlatformState:
        """The platform at a state of the inputs, with a twist and acceleration (6 + k) of its frame, base axes, and of
        internal coordinates."""
        state = self._at(x, twist, acceleration, elastic_acceleration)
        state.base = self.base
        return state

    @abstractmethod
    def _at(self, x: Inputs, twist: ca.SX, acceleration: ca.SX, elastic_acceleration: ca.SX | None) -> PlatformState:
        """The state itself, of the kind's own class."""

    def rest(self, x: Inputs) -> PlatformState:
        """The platform at rest in the place of the inputs."""
        return self.at(x, x.still, x.still)

    @abstractmethod
    def displaced(self, pose: ca.SX, move: ca.SX) -> ca.SX:
        """A row-major pose, and internal coordinates (16 + k), moved by a small displacement (m) of the robot's
        generalized coordinates."""

    @abstractmethod
    def projected(self, pose: ca.SX) -> ca.SX:
        """A row-major pose, and internal coordinates (16 + k), projected onto those of the robot: what its degrees of
        freedom do not reach is that of home."""
