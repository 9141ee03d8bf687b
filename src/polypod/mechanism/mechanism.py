"""A whole robot in symbols: platform and legs, joined at the attachment points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..description import Robot
from ..errors import InputError
from ..legs import Actuator, Leg, Limit
from ..parameters import Entry, Numbers
from ..platforms import Inputs, Platform, PlatformState, Tip, platform_of
from ..symbols.expression import Port
from ..symbols.tape import Replay
from .leg import LegModel, PlacedLeg
from .simplify import Simplification


@dataclass(frozen=True)
class LegAtState:
    """A leg at one state of the platform: its tip, its input series and its values."""

    number: int
    model: LegModel
    platform: PlatformState
    tip: Tip

    @cached_property
    def series(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the leg's inputs."""
        if not self.model.uses_axes:
            return self.tip.series
        zero, first, half = (ca.vertcat(s, t) for s, t in zip(self.tip.series, self.tip.turning, strict=True))
        return zero, first, half

    @property
    def arm(self) -> ca.SX:
        """From the origin of {P} to the tip, base axes."""
        return self.tip.arm

    @property
    def axes(self) -> ca.SX:
        """The platform's axes at the tip."""
        return self.tip.axes

    @cached_property
    def values(self) -> Replay:
        """Values of the leg's vectors at the tip, for first derivatives."""
        return self.model.at(self.series[0])

    @cached_property
    def coordinates(self) -> ca.SX:
        """The leg's actuated coordinates (a)."""
        return self.model.coordinates_of(self.values.y)

    @cached_property
    def slopes(self) -> list[ca.SX]:
        """dq/d(inputs) of every actuator as a column: the direction in which a force at the tip drives it."""
        return [self.model.coordinate_row(self.values, k) for k in range(len(self.model.actuators))]

    @cached_property
    def rows(self) -> list[ca.SX]:
        """dq/d(velocity) (6 + N) of every actuator: the leg's rows of the Jacobian before they are reduced."""
        return [self.force(slope) for slope in self.slopes]

    @cached_property
    def rates(self) -> list[ca.SX]:
        """Rates of the actuated coordinates along the tip's motion."""
        return [ca.dot(slope, self.series[1]) for slope in self.slopes]

    @cached_property
    def accelerations(self) -> ca.SX:
        """Second derivatives (a) of the actuated coordinates along the tip's motion."""
        return 2 * self.model.coordinate_tape.taylor(*self.series)[2]

    @cached_property
    def margins(self) -> list[ca.SX]:
        """Margins of the leg's conditions that count in a state's quality."""
        return [self.at_tip(c.margin) for c in self.model.placement.conditions if c.in_quality]

    def at_tip(self, expression: ca.SX) -> ca.SX:
        """Any expression of the leg's placement, at this tip."""
        here = ca.vertcat(self.tip.series[0], ca.vec(self.tip.axes))
        return ca.substitute(ca.SX(expression), self.model.all_inputs, here)

    def force(self, force: ca.SX) -> ca.SX:
        """A generalized force on the leg's inputs as one on the platform (6 + N)."""
        return self.platform.force(self.number, self.tip, force)


class Mechanism:
    """Symbols of a robot; formulations read it, kernels never see it."""

    def __init__(
        self,
        robot: Robot,
        simplify: Simplification | None = None,
        opened: Callable[[Entry], bool] = lambda entry: False,
        specialise: bool = False,
    ) -> None:
        self.robot, self.simplify = robot, simplify
        for leg in robot.legs:
            if not isinstance(leg, Leg):
                raise InputError(f"{leg.name}: the kind {leg.kind!r} has no place(); derive it from polypod.legs.Leg")
        self.numbers = Numbers(robot, opened, specialise)
        self.platform: Platform = platform_of(self.numbers)

    @cached_property
    def placed(self) -> list[PlacedLeg]:
        """Where everything of each leg is."""
        return [PlacedLeg.of(leg) for leg in self.numbers.legs]

    @cached_property
    def legs(self) -> list[LegModel]:
        """The legs in symbols, built when first needed: compiled functions do without."""
        legs = [LegModel(placed, self.numbers, self.simplify) for placed in self.placed]
        turning = next((leg for leg in legs if leg.uses_axes), None) if self.platform.elastic else None
        if turning is not None:
            raise InputError(
                f"robot: {turning.name} ({turning.leg.kind}) turns with the platform's axes; a flexible platform needs "
                "legs that end in a spherical joint"
            )
        return legs

    @cached_property
    def actuators(self) -> list[tuple[int, Actuator]]:
        """Every actuator with the number of its leg, in the order of coordinates and forces."""
        return [(number, a) for number, leg in enumerate(self.placed) for a in leg.placement.actuators]

    @property
    def limits(self) -> list[tuple[str, Limit]]:
        """Every limited quantity with the name of its leg."""
        return [(placed.leg.name, limit) for placed in self.placed for limit in placed.placement.limits]

    @cached_property
    def limit_ranges(self) -> NDArray[np.float64]:
        """Lowest and highest values (k, 2) of the limited quantities, for the robot's numbers; angles as cosines."""
        rows = [ca.horzcat(limit.low, limit.high) for _, limit in self.limits]
        return self.numbers.evaluate(ca.vertcat(*rows, ca.SX(0, 2)))

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than freedoms."""
        return len(self.actuators) > self.platform.count

    @property
    def gravity(self) -> ca.SX:
        """Acceleration of gravity (3), base axes."""
        return self.numbers.gravity

    @cached_property
    def size(self) -> ca.SX:
        """Mean distance of the attachment points from the origin of {P} [m], what rotations are scaled by."""
        arms = [ca.norm_2(leg.arm) for leg in self.legs if not leg.arm.is_zero()]
        return sum(arms, ca.SX(0)) / len(self.legs) if arms else ca.SX(1)

    @property
    def port(self) -> Port | None:
        """The numbers as inputs of a function."""
        return self.numbers.port

    def inputs(self) -> Inputs:
        """Fresh symbols of a state."""
        return self.platform.inputs(len(self.actuators))

    def attach(self, platform: PlatformState) -> list[LegAtState]:
        """Every leg at a state of the platform."""
        return [LegAtState(k, leg, platform, platform.tip(k, leg.arm)) for k, leg in enumerate(self.legs)]

    def moving(self, x: Inputs, acceleration: bool = True) -> tuple[PlatformState, list[LegAtState]]:
        """Platform and legs at the motion of the inputs; without acceleration, at none."""
        change = x.acceleration.symbols if acceleration else ca.SX.zeros(6)
        state = self.platform.at(x, x.twist.symbols, change)
        return state, self.attach(state)

    def resting(self, x: Inputs) -> tuple[PlatformState, list[LegAtState]]:
        """Platform and legs at rest in the place of the inputs."""
        state = self.platform.rest(x)
        return state, self.attach(state)

    def coordinates(self, legs: list[LegAtState]) -> ca.SX:
        """Actuated coordinates q (n)."""
        return ca.vertcat(*[leg.coordinates for leg in legs])

    def jacobian(self, legs: list[LegAtState]) -> ca.SX:
        """J with qdot = J u, (n, m + N)."""
        return legs[0].platform.reduced(ca.horzcat(*[row for leg in legs for row in leg.rows])).T

    def quality(self, legs: list[LegAtState], solve: ca.SX | float = 1.0) -> ca.SX:
        """The smallest margin of a state: of its linear solve and of every leg's conditions; 1 is good, 0 is lost."""
        smallest = ca.SX(solve)
        for leg in legs:
            for margin in leg.margins:
                smallest = ca.fmin(smallest, margin)
        return smallest
