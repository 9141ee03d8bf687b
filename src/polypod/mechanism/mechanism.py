"""A whole robot in symbols: platform and legs, joined at the attachment points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..description import Robot
from ..description.robot import AT_ORIGIN
from ..errors import InputError
from ..lazy import lazy
from ..legs import Actuator, Leg, Limit, Unknowns
from ..parameters import Entry, Numbers
from ..platforms import ConstrainedState, Freedoms, Inputs, Platform, PlatformState, RigidPlatform, Tip, platform_of
from ..symbols.expression import Port
from ..symbols.implicit import ImplicitReplay
from ..symbols.mapped import mapped
from ..symbols.tape import Replay
from ..symbols.vectors import Frame
from .leg import CLOSED, LegModel, PlacedLeg
from .mobility import known_mobility
from .simplify import Simplification


@dataclass(frozen=True)
class LegAtState:
    """A leg at one state of the platform: its tip, its input series and its values."""

    number: int
    model: LegModel
    platform: PlatformState
    tip: Tip
    start: ca.SX | None = None

    @lazy
    def series(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the leg's inputs, and after them the place of its unknowns, if it has any."""
        parts = [self.tip.series, *([self.tip.turning] if self.model.uses_axes else [])]
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
        u = self.model.unknowns
        assert u is not None
        start = u.place if self.start is None else self.start
        symbols = ca.vertcat(self.model.all_inputs, u.place)
        return ca.substitute(self.model.closing[0], symbols, ca.vertcat(self._here, start))

    @property
    def _here(self) -> ca.SX:
        return ca.vertcat(self.tip.series[0], ca.vec(self.tip.axes))

    @property
    def arm(self) -> ca.SX:
        """From the origin of {P} to the tip, base axes."""
        return self.tip.arm

    @property
    def axes(self) -> ca.SX:
        """The platform's axes at the tip."""
        return self.tip.axes

    @lazy
    def values(self) -> Replay | ImplicitReplay:
        """Values of the leg's vectors at the tip, for first derivatives."""
        return self.model.at(self.series[0])

    @lazy
    def vectors(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Taylor coefficients in time of the leg's moving vectors, (3, K) each."""
        return self.model.series(self.series)

    @lazy
    def coordinates(self) -> ca.SX:
        """The leg's actuated coordinates (a)."""
        return self.model.coordinates_of(self.values.y)

    @lazy
    def slopes(self) -> list[ca.SX]:
        """dq/d(tip) of every actuator as a column: the direction in which a force at the tip drives it."""
        return [self.model.coordinate_row(self.values, k) for k in range(len(self.model.actuators))]

    @lazy
    def rows(self) -> list[ca.SX]:
        """dq/d(velocity) (6 + N) of every actuator: the leg's rows of the Jacobian before they are reduced."""
        return [self.force(slope) for slope in self.slopes]

    @lazy
    def rates(self) -> list[ca.SX]:
        """Rates of the actuated coordinates along the tip's motion."""
        return [ca.dot(slope, self.series[1][: slope.numel()]) for slope in self.slopes]

    @lazy
    def accelerations(self) -> ca.SX:
        """Second derivatives (a) of the actuated coordinates along the tip's motion."""
        return 2 * self.model.coordinate_tape.taylor(*self.series)[2]

    @lazy
    def margins(self) -> list[ca.SX]:
        """Margins of the leg's conditions that count in a state's quality."""
        stated = [self.at_tip(c.margin) for c in self.model.placement.conditions if c.in_quality]
        if self.model.unknowns is None:
            return stated
        values = self.values
        assert isinstance(values, ImplicitReplay)
        closed = ca.dot(self.gap, self.gap) <= (CLOSED * self.model.unknowns.size) ** 2
        return [*stated, ca.if_else(closed, values.factor.quality, 0)]

    @property
    def closing_determinants(self) -> list[ca.SX]:
        """Of the slopes of the equations that close the leg, block by block; none where it has a closed form."""
        values = self.values
        return values.factor.determinants if isinstance(values, ImplicitReplay) else []

    @property
    def gap(self) -> ca.SX:
        """The equations of the leg's unknowns at their place: zero where it is closed."""
        assert isinstance(self.values, ImplicitReplay)
        return self.values.residual

    @lazy
    def constraints(self) -> list[ca.SX]:
        """d(constraint)/d(velocity) (6) of every constraint that the leg puts on the platform."""
        count = len(self.model.placement.constraints)
        return [self.force(self.model.constraint_row(self.values, k)) for k in range(count)]

    @lazy
    def before(self) -> ca.SX:
        """The equations of the leg's unknowns before the step of Newton that its place has taken."""
        u = self.model.unknowns
        assert u is not None
        start = u.place if self.start is None else self.start
        symbols = ca.vertcat(self.model.all_inputs, u.place)
        return ca.substitute(self.model.closing[1], symbols, ca.vertcat(self._here, start))

    @lazy
    def constraint_values(self) -> ca.SX:
        """What the leg constrains, zero where the platform keeps to it."""
        return self.at_tip(ca.vertcat(*[c.value for c in self.model.placement.constraints], ca.SX(0, 1)))

    @lazy
    def constraint_accelerations(self) -> ca.SX:
        """Second derivatives of the constraints along the tip's motion."""
        return 2 * self.model.constraint_tape.taylor(*self.series)[2]

    @lazy
    def followed(self) -> ca.SX:
        """Coordinates of the leg's joints that are the robot's [m or rad]."""
        return self.at_tip(ca.vertcat(*self.model.placement.followed))

    @lazy
    def followed_rows(self) -> list[ca.SX]:
        """Their slopes d/d(velocity) (6)."""
        count = len(self.model.placement.followed)
        return [self.force(self.model.followed_row(self.values, k)) for k in range(count)]

    @lazy
    def followed_accelerations(self) -> ca.SX:
        """Their second derivatives along the tip's motion."""
        return 2 * self.model.followed_tape.taylor(*self.series)[2]

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


class Mechanism:
    """Symbols of a robot; formulations read it, kernels never see it.

    With ``free`` its platform is a rigid one that takes any pose: what its legs constrain is then left as equations,
    for robots that are not quite the one described.
    """

    def __init__(
        self,
        robot: Robot,
        simplify: Simplification | None = None,
        opened: Callable[[Entry], bool] = lambda entry: False,
        specialise: bool = False,
        free: bool = False,
    ) -> None:
        self.robot, self.simplify = robot, simplify
        for leg in robot.legs:
            if not isinstance(leg, Leg):
                raise InputError(f"{leg.name}: the kind {leg.kind!r} has no place(); derive it from polypod.legs.Leg")
        self.numbers = Numbers(robot, opened, specialise)
        self.mobility = known_mobility(robot)
        follows = self.mobility is not None and not self.mobility.constant
        self.platform: Platform = RigidPlatform(self.numbers) if free else platform_of(self.numbers, follows)

    @lazy
    def placed(self) -> list[PlacedLeg]:
        """Where everything of each leg is."""
        return [PlacedLeg.of(leg) for leg in self.numbers.legs]

    @lazy
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

    @lazy
    def actuators(self) -> list[tuple[int, Actuator]]:
        """Every actuator with the number of its leg, in the order of coordinates and forces."""
        return [(number, a) for number, leg in enumerate(self.placed) for a in leg.placement.actuators]

    @property
    def limits(self) -> list[tuple[str, Limit]]:
        """Every limited quantity with the name of its leg."""
        return [(placed.leg.name, limit) for placed in self.placed for limit in placed.placement.limits]

    @lazy
    def limit_ranges(self) -> NDArray[np.float64]:
        """Lowest and highest values (k, 2) of the limited quantities, for the robot's numbers; angles as cosines."""
        return self.limit_ranges_of(self.numbers.values[None])[0]

    def limit_ranges_of(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lowest and highest values (D, k, 2) of the limited quantities, for the numbers (D, p) of designs."""
        rows = ca.vertcat(*[ca.horzcat(limit.low, limit.high) for _, limit in self.limits], ca.SX(0, 2))
        return mapped([self.numbers.symbols], rows, numbers)

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than freedoms."""
        return len(self.actuators) > self.platform.count

    @property
    def gravity(self) -> ca.SX:
        """Acceleration of gravity (3), base axes."""
        return self.numbers.gravity

    @lazy
    def size(self) -> ca.SX:
        """Mean distance of the attachment points from {P}'s origin [m], to scale rotations by; 1 if all are there."""
        arms = [ca.norm_2(leg.arm) for leg in self.legs if not leg.arm.is_zero()]
        mean = sum(arms, ca.SX(0)) / len(self.legs) if arms else ca.SX(1)
        # one leg may hold the platform all around: the middle of its joints is the origin then
        return mean if len(arms) > 2 else ca.if_else(mean > AT_ORIGIN, mean, 1)

    @property
    def port(self) -> Port | None:
        """The numbers as inputs of a function."""
        return self.numbers.port

    def inputs(self) -> Inputs:
        """Fresh symbols of a state."""
        return self.platform.inputs(len(self.actuators))

    @lazy
    def open_legs(self) -> list[int]:
        """Numbers of the legs that are closed by iterating."""
        return [k for k, leg in enumerate(self.placed) if leg.placement.unknowns is not None]

    @property
    def places(self) -> ca.SX:
        """Symbols of where the unknowns of these legs are, one leg after the other."""
        return ca.vertcat(*[unknowns.place for unknowns in self._unknowns], ca.SX(0, 1))

    @property
    def home_places(self) -> ca.SX:
        """The same places at home."""
        return ca.vertcat(*[unknowns.home for unknowns in self._unknowns], ca.SX(0, 1))

    @property
    def _unknowns(self) -> list[Unknowns]:
        return [u for leg in self.placed if (u := leg.placement.unknowns) is not None]

    @property
    def home(self) -> Frame:
        """The platform's frame at home."""
        return Frame(self.numbers.home_position, ca.densify(self.numbers.home_rotation))

    def attach(self, platform: PlatformState, places: ca.SX | None = None) -> list[LegAtState]:
        """Every leg at a state of the platform; legs closed by iterating near ``places``."""
        legs, at = [], 0
        for k, leg in enumerate(self.legs):
            start = None
            if leg.unknowns is not None and places is not None:
                count = leg.unknowns.place.numel()
                start, at = places[at : at + count], at + count
            legs.append(LegAtState(k, leg, platform, platform.tip(k, leg.arm), start))
        if isinstance(platform, ConstrainedState):
            platform.constrain(self.following_rows(legs))
        return legs

    def constraint_rows(self, legs: list[LegAtState]) -> ca.SX:
        """Slopes W (6 - m, 6) of the independent constraints by the twist."""
        assert self.mobility is not None
        return ca.horzcat(*[legs[leg].constraints[k] for leg, k in self.mobility.used]).T

    def constraint_values(self, legs: list[LegAtState]) -> ca.SX:
        """The independent constraints (6 - m): zero in poses that the robot can take."""
        assert self.mobility is not None
        return ca.vertcat(*[legs[leg].constraint_values[k] for leg, k in self.mobility.used])

    def constraint_accelerations(self, legs: list[LegAtState]) -> ca.SX:
        """Their second derivatives (6 - m) along the legs' motion."""
        assert self.mobility is not None
        return ca.vertcat(*[legs[leg].constraint_accelerations[k] for leg, k in self.mobility.used])

    @lazy
    def followed_joints(self) -> list[tuple[int, int]]:
        """Leg, and number there, of every joint's coordinate that is the robot's, in the order of its freedoms."""
        return self.robot.followed_joints()

    def followed(self, legs: list[LegAtState]) -> ca.SX:
        """Coordinates of joints that are the robot's (j)."""
        return ca.vertcat(*[legs[leg].followed[k] for leg, k in self.followed_joints], ca.SX(0, 1))

    def following_rows(self, legs: list[LegAtState]) -> ca.SX:
        """[W; G] (6 - m + j, 6): slopes of the constraints, then of joints' coordinates."""
        return ca.vertcat(
            self.constraint_rows(legs), *[legs[leg].followed_rows[k].T for leg, k in self.followed_joints]
        )

    def following_accelerations(self, legs: list[LegAtState]) -> ca.SX:
        """Second derivatives (6 - m + j) of the same along the legs' motion."""
        own = [legs[leg].followed_accelerations[k] for leg, k in self.followed_joints]
        return ca.vertcat(self.constraint_accelerations(legs), *own)

    def own_rates(self, legs: list[LegAtState]) -> ca.SX | ca.DM:
        """E (m, 6) of u = E V: chosen components of the twist, and slopes of joints' coordinates."""
        freedoms = Freedoms(self.robot)
        rows = ca.sparsify(ca.DM(freedoms.components.T))
        if not self.followed_joints:
            return rows
        slopes = iter([legs[leg].followed_rows[k].T for leg, k in self.followed_joints])
        return ca.vertcat(*[next(slopes) if joint else rows[k, :] for k, joint in enumerate(freedoms.of_joints)])

    def coasting(self, x: Inputs) -> ca.SX:
        """Acceleration of the platform (6) at the twist of the inputs while the rates of its own coordinates stay."""
        if not self.platform.follows_legs:
            return ca.SX.zeros(6)
        state = self.platform.at(x, x.twist.symbols, ca.SX.zeros(6))
        assert isinstance(state, ConstrainedState)
        legs = self.attach(state)
        return state.coasting(self.following_accelerations(legs))

    def moving(self, x: Inputs, acceleration: bool = True) -> tuple[PlatformState, list[LegAtState]]:
        """Platform and legs at the motion of the inputs; without acceleration, at constant rates of its coordinates."""
        change = x.acceleration.symbols if acceleration else self.coasting(x)
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
        if self.platform.follows_legs and legs:
            smallest = ca.fmin(smallest, legs[0].platform.quality)
        for leg in legs:
            for margin in leg.margins:
                smallest = ca.fmin(smallest, margin)
        return smallest
