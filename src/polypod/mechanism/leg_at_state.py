"""A leg at one state of the platform: its values, rates, rows of the Jacobian, and what it constrains."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..lazy import lazy
from ..legs import Joint
from ..platforms import PlatformState, Tip
from ..platforms.motion import Turning
from ..symbols.implicit import ImplicitReplay
from ..symbols.vectors import absent, cross, dot
from .leg import AnyReplay, LegModel


@dataclass(frozen=True)
class LegAtState:
    """A leg at one state of the platform: its tip, its input series and its values.

    ``turning`` is that of a base that moves, in the axes of a leg that is seen in its own.
    """

    number: int
    model: LegModel
    platform: PlatformState
    tip: Tip
    start: ca.SX | None = None
    turning: Turning | None = None

    @lazy
    def series(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the leg's inputs, and after them the place of its unknowns, if it has any."""
        parts = [self.tip.series, *([self.tip.axes_series, self.tip.internal] if self.model.uses_axes else [])]
        if self.model.unknowns is not None:
            still = ca.SX.zeros(self.place.numel())
            parts.append((self.place, still, still))
        zero, first, half = (ca.vertcat(*orders) for orders in zip(*parts, strict=True))
        return zero, first, half

    @lazy
    def place(self) -> ca.SX:
        """Where the leg's unknowns are, after one step of Newton from ``start``.

        That step makes a nearly closed leg exact, and its derivatives are those of the closed one.
        """
        return self._at_start(self.model.newton_step[0])

    def _at_start(self, expression: ca.SX) -> ca.SX:
        """An expression of ``all_inputs`` and the unknowns' place, at this tip and ``start``."""
        u = self.model.unknowns
        assert u is not None
        start = u.place if self.start is None else self.start
        return ca.substitute(expression, ca.vertcat(self.model.all_inputs, u.place), ca.vertcat(self._here, start))

    @property
    def _here(self) -> ca.SX:
        return self.tip.here

    @property
    def arm(self) -> ca.SX:
        """From the origin of {P} to the tip, base axes."""
        return self.tip.arm

    @property
    def axes(self) -> ca.SX:
        """The platform's axes at the tip."""
        return self.tip.axes

    @lazy
    def values(self) -> AnyReplay:
        """Values of the leg's vectors at the tip, for first derivatives."""
        return self.model.at(self.series[0])

    @lazy
    def vectors(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the leg's moving vectors, (3, K) each."""
        return self.model.series(self.series)

    @lazy
    def absolute_vectors(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The same with the motion of the base, if it moves: what inertia answers to. Rotors turn with their motors'
        coordinates alone."""
        base = self.turning or self.platform.base
        if base is None:
            return self.vectors
        zero, first, half = self.model.carried(self.vectors, base)
        for k in self.model.vectors.rotors:
            first[:, k], half[:, k] = self.vectors[1][:, k], self.vectors[2][:, k]
        return zero, first, half

    @lazy
    def coordinates(self) -> ca.SX:
        """The leg's actuated coordinates (a)."""
        return self.model.coordinates_of(self.values.y)

    @lazy
    def coordinate_gradients(self) -> list[ca.SX]:
        """dq/d(tip) of every actuator as a column: the direction in which a force at the tip drives it."""
        return [self.model.coordinate_row(self.values, k) for k in range(len(self.model.actuators))]

    @lazy
    def rows(self) -> list[ca.SX]:
        """dq/d(velocity) (6 + N) of every actuator: the leg's rows of the Jacobian before they are reduced."""
        return [self.force(gradient) for gradient in self.coordinate_gradients]

    @lazy
    def rates(self) -> list[ca.SX]:
        """Rates of the actuated coordinates along the tip's motion."""
        return [ca.dot(gradient, self.series[1][: gradient.numel()]) for gradient in self.coordinate_gradients]

    @lazy
    def accelerations(self) -> ca.SX:
        """Second derivatives (a) of the actuated coordinates along the tip's motion."""
        return 2 * self.model.coordinate_tape.taylor(*self.series)[2]

    @property
    def rotor_forces(self) -> list[ca.SX]:
        """What each actuator's rotor takes: its inertia times the coordinate's acceleration [N or N m]."""
        actuators = self.model.actuators
        return [ca.SX(0) if absent(a.rotor) else a.rotor * self.accelerations[k] for k, a in enumerate(actuators)]

    @lazy
    def margins(self) -> list[ca.SX]:
        """Margins of the leg's conditions that count in a state's quality."""
        stated = [self.at_tip(c.margin) for c in self.model.placement.conditions if c.in_quality]
        if self.model.unknowns is None:
            return stated
        values = self.values
        assert isinstance(values, ImplicitReplay)
        quality = values.factor.quality
        return [*stated, ca.if_else(self.model.is_closed(self.residual, quality), quality, 0)]

    @property
    def closing_determinants(self) -> list[ca.SX]:
        """Of the derivatives of the equations that close the leg, block by block; none where it has a closed form."""
        values = self.values
        return values.factor.determinants if isinstance(values, ImplicitReplay) else []

    @property
    def residual(self) -> ca.SX:
        """Residual of the leg's closing equations at its place: zero where it is closed."""
        assert isinstance(self.values, ImplicitReplay)
        return self.values.residual

    @lazy
    def constraint_rows(self) -> list[ca.SX]:
        """d(constraint)/d(velocity) (6) of every constraint that the leg puts on the platform."""
        count = len(self.model.placement.constraints)
        return [self.force(self.model.constraint_row(self.values, k)) for k in range(count)]

    @lazy
    def start_residual(self) -> ca.SX:
        """Residual of the leg's closing equations at ``start``, before the step of Newton that leads to its place."""
        return self._at_start(self.model.newton_step[1])

    @lazy
    def start_determinants(self) -> list[ca.SX]:
        """Determinants of the derivatives of the closing equations at ``start``, block by block."""
        return [self._at_start(d) for d in self.model.newton_step[2].determinants]

    @lazy
    def start_quality(self) -> ca.SX:
        """How far these are from singular."""
        return self._at_start(self.model.newton_step[2].quality)

    @lazy
    def start_step2(self) -> ca.SX:
        """Squared size of the step of Newton from ``start`` to its place."""
        return self._at_start(self.model.newton_step[3])

    @lazy
    def constraint_values(self) -> ca.SX:
        """What the leg constrains, zero where the platform keeps to it."""
        return self.at_tip(ca.vertcat(*[c.value for c in self.model.placement.constraints], ca.SX(0, 1)))

    @lazy
    def constraint_accelerations(self) -> ca.SX:
        """Second derivatives of the constraints along the tip's motion."""
        return 2 * self.model.constraint_tape.taylor(*self.series)[2]

    @lazy
    def joint_coordinates(self) -> ca.SX:
        """Coordinates of the leg's joints that are the robot's [m or rad]."""
        return self.at_tip(ca.vertcat(*self.model.placement.joint_coordinates))

    @lazy
    def joint_coordinate_rows(self) -> list[ca.SX]:
        """Their derivatives d/d(velocity) (6)."""
        count = len(self.model.placement.joint_coordinates)
        return [self.force(self.model.joint_coordinate_row(self.values, k)) for k in range(count)]

    @lazy
    def joint_coordinate_accelerations(self) -> ca.SX:
        """Their second derivatives along the tip's motion."""
        return 2 * self.model.joint_coordinate_tape.taylor(*self.series)[2]

    def at_tip(self, expression: ca.SX) -> ca.SX:
        """Any expression of the leg's placement, at this tip."""
        u = self.model.unknowns
        if u is None:
            return ca.substitute(ca.SX(expression), self.model.all_inputs, self._here)
        symbols = ca.vertcat(self.model.all_inputs, u.place, u.move)
        return ca.substitute(
            ca.SX(expression), symbols, ca.vertcat(self._here, self.place, ca.SX.zeros(u.move.numel()))
        )

    def force(self, force: ca.SX) -> ca.SX:
        """A generalized force on the leg's inputs as one on the platform (6 + N)."""
        return self.platform.force(self.number, self.tip, force)


# ----------------------------------------------------------------------------------------------------------------------
# How bodies of a leg move against each other at its joints, at a state.


def joint_rate(leg: LegAtState, joint: Joint) -> ca.SX:
    """Rate of a joint: of a slide along its axis (1) [m/s], else the child's angular velocity against the parent's (3).

    Base axes, without what a rod between two spherical joints spins freely.
    """
    if joint.kind == "prismatic":
        return dot(leg.at_tip(joint.axes[0]), _relative_velocity(leg, joint, leg.at_tip(joint.point)))
    rate = _angular_velocity(leg, joint.child) - _angular_velocity(leg, joint.parent)
    if joint.spins_about is None:
        return rate
    line = leg.at_tip(joint.spins_about)
    return rate - dot(rate, line) * line


def _angular_velocity(leg: LegAtState, body: str) -> ca.SX:
    """Angular velocity of a body of a leg (``base`` and ``platform`` among them), base axes."""
    if body == "base":
        return ca.SX.zeros(3)
    if body == "platform":
        return leg.tip.spin
    vectors, rates, _ = leg.vectors
    return leg.model.angular_velocity(body, vectors, rates)


def _relative_velocity(leg: LegAtState, joint: Joint, point: ca.SX) -> ca.SX:
    """Velocity of the child's point at a joint against that of the parent's, base axes."""
    vectors, rates, _ = leg.vectors

    def velocity(body: str) -> ca.SX:
        if body == "base":
            return ca.SX.zeros(3)
        if body == "platform":
            place, rate, _ = leg.tip.series
            return rate + cross(leg.tip.spin, point - place)
        return leg.model.point_velocity(body, vectors, rates, point)

    return velocity(joint.child) - velocity(joint.parent)
