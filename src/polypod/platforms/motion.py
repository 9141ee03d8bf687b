"""Motion of the platform's frame in symbols, and that of points fixed to it."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..lazy import lazy
from ..symbols.expression import Port
from ..symbols.inertia import half_acceleration_matrix
from ..symbols.vectors import Frame, cayley, cross, skew

Series = tuple[ca.SX, ca.SX, ca.SX]


class Turning:
    """A frame that turns with ``omega`` and ``alpha`` (3): what moves in it, seen from axes that stand still.

    A vector c of the frame moves by cdot + Omega x c and accelerates by
    cddot + 2 Omega x cdot + (Omegadot~ + Omega~ Omega~) c.
    """

    def __init__(self, omega: ca.SX, alpha: ca.SX) -> None:
        self.omega, self.alpha = omega, alpha
        self._half = half_acceleration_matrix(omega, alpha)

    def carried(self, series: Series) -> Series:
        """Taylor coefficients in time (3, K) of vectors of the frame, seen from axes that stand still."""
        zero, first, half = series
        turn = skew(self.omega)
        return zero, first + turn @ zero, half + turn @ first + self._half @ zero

    def acceleration_at(self, point: ca.SX) -> ca.SX:
        """Acceleration (3) of a point at rest in the frame against the frame's origin."""
        return 2 * self._half @ point


class BaseMotion(Turning):
    """Symbols of the motion of {B} itself: twist and acceleration of its origin in space, base axes.

    The acceleration of the base's origin acts as a change of gravity; its velocity has no effect.
    """

    def __init__(self) -> None:
        self.twist = Port("base_twist", ca.SX.sym("base_twist", 6), (6,))
        self.acceleration = Port("base_acceleration", ca.SX.sym("base_acceleration", 6), (6,))
        self.ports = self.twist, self.acceleration
        self.symbols = ca.vertcat(self.twist.symbols, self.acceleration.symbols)
        super().__init__(self.twist.symbols[3:], self.acceleration.symbols[3:])

    @property
    def gravity(self) -> ca.SX:
        """What is added to the acceleration of gravity (3)."""
        return -self.acceleration.symbols[:3]

    def velocity_at(self, point: ca.SX) -> ca.SX:
        """Twist (6) in space of a point at rest in {B}, base axes."""
        v = self.twist.symbols[:3] + cross(self.omega, point)
        return ca.vertcat(v, self.omega)

    def carried_frame(self, motion: FrameMotion) -> FrameMotion:
        """The motion of a frame of the base, seen from axes that stand still; without that of the base's origin."""
        _, v, half = self.carried((motion.frame.origin, motion.v, 0.5 * motion.a))
        alpha = motion.alpha + self.alpha + cross(self.omega, motion.omega)
        return FrameMotion(motion.frame, v, motion.omega + self.omega, 2 * half, alpha)


@dataclass(frozen=True)
class FrameMotion:
    """Pose, twist and acceleration of the platform frame's origin, base axes."""

    frame: Frame
    v: ca.SX
    omega: ca.SX
    a: ca.SX
    alpha: ca.SX

    @staticmethod
    def of(frame: Frame, twist: ca.SX, acceleration: ca.SX) -> FrameMotion:
        """From a twist [v; omega] and an acceleration [a; alpha]."""
        return FrameMotion(frame, twist[:3], twist[3:6], acceleration[:3], acceleration[3:6])

    @lazy
    def half_acceleration_matrix(self) -> ca.SX:
        """B/2 with B = alpha~ + omega~ omega~: a point at r from the origin accelerates by a + B r."""
        return half_acceleration_matrix(self.omega, self.alpha)

    def series(self, arm: ca.SX) -> Series:
        """Taylor coefficients in time of the point at ``arm`` (base axes) from the origin."""
        half = 0.5 * self.a + self.half_acceleration_matrix @ arm
        return self.frame.origin + arm, self.v + cross(self.omega, arm), half

    def axes_series(self) -> Series:
        """Taylor coefficients in time of the platform's axes, as columns of nine."""
        axes = self.frame.axes
        return ca.vec(axes), ca.vec(skew(self.omega) @ axes), ca.vec(self.half_acceleration_matrix @ axes)


def frame_of(pose: ca.SX) -> Frame:
    """The frame of a row-major pose of 16."""
    axes = ca.vertcat(*[ca.horzcat(*[pose[4 * i + j] for j in range(3)]) for i in range(3)])
    return Frame(ca.vertcat(pose[3], pose[7], pose[11]), axes)


def pose_of(frame: Frame) -> ca.SX:
    """A frame as a row-major pose of 16."""
    return ca.vertcat(ca.vec(ca.horzcat(frame.axes, frame.origin).T), 0, 0, 0, 1)


def short_place(place: ca.SX) -> ca.SX:
    """A place (16 + k) without the last row of its pose (12 + k)."""
    return ca.vertcat(place[:12], place[16:])


def long_place(place: ca.SX) -> ca.SX:
    """A place (16 + k) from one without the last row of its pose (12 + k)."""
    return ca.vertcat(place[:12], 0, 0, 0, 1, place[12:])


def moved(frame: Frame, move: ca.SX) -> Frame:
    """A frame displaced by [translation; rotation vector] (6), small: by Cayley's map, so that rotations stay such."""
    return Frame(frame.origin + move[:3], cayley(0.5 * move[3:6]) @ frame.axes)


# ----------------------------------------------------------------------------------------------------------------------
# The symbols of a state, shared by all functions of a model: names, order and shapes of kernel inputs.


class Inputs:
    """Fresh symbols of a state; a pose is row-major 4x4, everything else a column.

    A flexible platform's state also has ``elastic`` coordinates and their rates (N each). Robots with k ``internal``
    coordinates have their rates and accelerations after those of the platform, in ``twist`` and ``acceleration``.
    """

    def __init__(self, actuators: int = 6, elastic: int = 0, internal: int = 0) -> None:
        def column(name: str, length: int) -> Port:
            return Port(name, ca.SX.sym(name, length), (length,))

        self.pose = Port("pose", ca.SX.sym("pose", 16), (4, 4))
        self.twist = column("twist", 6 + internal)
        self.elastic = column("elastic", elastic)
        self.elastic_rate = column("elastic_rate", elastic)
        self.acceleration = column("acceleration", 6 + internal)
        self.elastic_acceleration = column("elastic_acceleration", elastic)
        self.wrench = column("wrench", 6)
        self.force = column("force", actuators)
        self.q = column("q", actuators)
        self.internal = column("internal", internal)
        self._part = ca.SX(1)

    @property
    def part(self) -> ca.SX:
        """Part of the way from home that joints have gone which are held elsewhere."""
        return self._part

    def on_the_way(self, part: ca.SX) -> None:
        """Put joints that are held a ``part`` of the way from home."""
        self._part = part

    @property
    def place(self) -> tuple[Port, ...]:
        """Where the robot is: pose, and elastic or internal coordinates if it has any."""
        return (self.pose, *(port for port in (self.elastic, self.internal) if port.length))

    @property
    def state(self) -> tuple[Port, ...]:
        """Pose and twist, with elastic coordinates and their rates on a flexible platform, or internal coordinates."""
        rigid = (self.pose, self.twist)
        more = (self.internal,) if self.internal.length else ()
        return (*rigid, self.elastic, self.elastic_rate) if self.elastic.length else (*rigid, *more)

    def at_place(self, place: ca.SX) -> None:
        """Take expressions for pose and internal coordinates (16 + k)."""
        self.pose = Port("pose", place[:16], (4, 4))
        self.internal = Port("internal", place[16:], (place.numel() - 16,))

    @property
    def place_symbols(self) -> ca.SX:
        """Pose and internal coordinates (16 + k)."""
        return ca.vertcat(self.pose.symbols, self.internal.symbols)

    @property
    def by_name(self) -> dict[str, Port]:
        """The symbols of every input under its name."""
        return {port.name: port for port in vars(self).values() if isinstance(port, Port)}

    @property
    def still(self) -> ca.SX:
        """A twist or acceleration of zero."""
        return ca.SX.zeros(self.twist.length)
