"""A whole robot in symbols: platform and legs, joined at the attachment points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..description import Robot
from ..description.robot import AT_ORIGIN
from ..elements import Brake
from ..errors import InputError
from ..lazy import Kept, lazy
from ..legs import Actuator, Leg, Limit, PlacedFriction, Unknowns
from ..mobility.mobility import known_mobility
from ..parameters import Parameter, ParameterVector
from ..platforms import (
    BaseMotion,
    ConstrainedState,
    DegreesOfFreedom,
    Inputs,
    Platform,
    PlatformState,
    RigidPlatform,
    platform_of,
)
from ..symbols.bounded import MOST_FREE
from ..symbols.expression import Port, mapped
from ..symbols.iterations import single_precision
from ..symbols.vectors import Frame
from .drive_bounds import DriveBounds, limits_force
from .leg import LegModel, PlacedLeg
from .leg_at_state import LegAtState
from .simplify import Simplification


class Mechanism(Kept):
    """Symbols of a robot; formulations read it, kernels never see it.

    With ``free`` its platform is a rigid one that takes any pose: what its legs constrain is then left as equations,
    for robots that are not quite the one described. With ``moving_base`` the motion of the base is an input of its
    functions, ``base``; all else stays relative to the base. Redundant actuators share their work within what their
    drives give (``drive_bounds``); with ``bounded_forces`` within bounds that are inputs instead. With ``single`` its
    functions are computed in single precision: iterations have tolerances that such numbers reach.
    """

    def __init__(
        self,
        robot: Robot,
        simplify: Simplification | None = None,
        is_free: Callable[[Parameter], bool] = lambda entry: False,
        specialise: bool = False,
        free: bool = False,
        single: bool = False,
        moving_base: bool = False,
        bounded_forces: bool = False,
    ) -> None:
        super().__init__()
        self._choices = robot, simplify, is_free, specialise, free, single
        self.single, self.bounded_forces = single, bounded_forces
        self.robot, self.simplify = robot, simplify
        for leg in robot.legs:
            if not isinstance(leg, Leg):
                raise InputError(f"{leg.name}: the kind {leg.kind!r} has no place(); derive it from polypod.legs.Leg")
        self.numbers = ParameterVector(robot, is_free, specialise)
        self.base = BaseMotion() if moving_base else None
        if self.base is not None:
            self.numbers.gravity = self.numbers.gravity + self.base.gravity
        if simplify is not None and not any(b.along is not None for leg in self.placed for b in leg.placement.bodies):
            kinds = ", ".join(dict.fromkeys(leg.kind for leg in robot.legs))
            raise InputError(
                f"simplify: {simplify!r} applies to links, and the legs of {robot.name!r} ({kinds}) do not say "
                "which of their bodies are links (PlacedBody's along); change masses and inertias in the file "
                "instead"
            )
        self.mobility = known_mobility(robot)
        follows = self.mobility is not None and not self.mobility.constant
        self.platform: Platform = RigidPlatform(self.numbers) if free else platform_of(self.numbers, follows)
        self.platform.base = self.base
        self.drive_bounds = None if free else self._drive_bounds()

    def _drive_bounds(self) -> DriveBounds | None:
        """Ratings of the drives of a redundant robot that limit their forces; None if there are none."""
        if not 0 < len(self.actuators) - self.platform.count <= MOST_FREE:
            return None
        drives = [self.robot.legs[number].drive(actuator.name) for number, actuator in self.actuators]
        if not any(map(limits_force, drives)):
            return None
        twins = [self.numbers.legs[number].drive(actuator.name) for number, actuator in self.actuators]
        return DriveBounds(self.numbers, drives, twins)

    @lazy
    def on_moving_base(self) -> Mechanism:
        """The same robot on a base that moves: ``base`` are its inputs then."""
        return Mechanism(*self._choices, moving_base=True, bounded_forces=self.bounded_forces)

    @lazy
    def with_bounds(self) -> Mechanism:
        """The same robot, whose redundant actuators share their work within bounds."""
        return Mechanism(*self._choices, bounded_forces=True)

    def tolerance(self, double: float) -> float:
        """A tolerance of an iteration, given as that of double precision, in the precision of the functions."""
        return single_precision(double) if self.single else double

    @lazy
    def placed(self) -> list[PlacedLeg]:
        """Where everything of each leg is, with the brakes that are engaged in its joints."""
        placed = [PlacedLeg.of(leg) for leg in self.numbers.legs]
        for data, twin in zip(self.robot.elements, self.numbers.elements, strict=True):
            if isinstance(data, Brake) and data.engaged:
                end = data.joint_end(self.robot.legs)
                own = PlacedFriction(f"brake {data.name}", end.name, 0, twin.friction())
                placed[end.leg] = placed[end.leg].with_friction(own)
        return placed

    @lazy
    def legs(self) -> list[LegModel]:
        """The legs in symbols, built when first needed: compiled functions do without."""
        legs = [
            LegModel(
                placed,
                self.numbers,
                self.simplify,
                moving_base=self.base is not None,
                tolerance=self.tolerance,
            )
            for placed in self.placed
        ]
        turning = next((leg for leg in legs if leg.uses_axes), None) if self.platform.elastic else None
        if turning is not None:
            raise InputError(
                f"robot: {turning.name} ({turning.leg.kind}) follows the platform's orientation; a flexible "
                "platform needs legs that end in a spherical joint"
            )
        return legs

    @lazy
    def actuators(self) -> list[tuple[int, Actuator]]:
        """Every actuator with the number of its leg, in the order of coordinates and forces."""
        return [(number, a) for number, leg in enumerate(self.placed) for a in leg.placement.actuators]

    @lazy
    def rotary_drives(self) -> list[bool]:
        """Whether each actuated joint turns; one that slides behind a screw does not, whatever its coordinate is."""
        kinds = [(self.placed[leg].placement.joint(one.joint).kind, one.unit) for leg, one in self.actuators]
        return [kind == "revolute" or (kind != "prismatic" and unit == "rad") for kind, unit in kinds]

    def joint_scale(self, size: Any) -> ca.SX:
        """(n) that makes rows of J those of the actuated joints' own motions [m]: 1/ratio, times ``size`` if one turns.

        Gears and screws then count for nothing, and arcs at the platform's size compare with slides.
        """
        ratios = [actuator.ratio for _, actuator in self.actuators]
        pairs = zip(ratios, self.rotary_drives, strict=True)
        return ca.vertcat(*[(size if turns else 1.0) / ca.SX(ratio) for ratio, turns in pairs], ca.SX(0, 1))

    @property
    def turn_periods(self) -> list[ca.SX | None]:
        """What a whole turn of each actuated joint adds to its coordinate; None where it is another position: of
        slides, and of joints whose turns are counted."""
        joints = [self.placed[leg].placement.joint(one.joint) for leg, one in self.actuators]
        pairs = zip(joints, self.actuators, self.rotary_drives, strict=True)
        return [2 * np.pi * ca.SX(a.ratio) if turns and joint.turn is None else None for joint, (_, a), turns in pairs]

    def coordinate_errors(self, asked: ca.SX, q: ca.SX) -> ca.SX:
        """Coordinates (n) asked for minus those that legs have, but for a turn.

        A pose does not say whether a joint has made a turn, which coordinates of encoders do. More than one turn is
        taken as it is: degrees are probably meant.
        """
        error, parts = asked - q, []
        for k, period in enumerate(self.turn_periods):
            turns = ca.SX(0) if period is None else ca.floor(error[k] / period + 0.5)
            parts.append(error[k] if period is None else error[k] - period * ca.fmax(-1, ca.fmin(1, turns)))
        return ca.vertcat(*parts, ca.SX(0, 1))

    def without_turns(self, differences: Array) -> Array:
        """Differences (k, n) of coordinates in numbers, but for a turn, of the robot's own numbers."""
        periods = ca.vertcat(*[ca.SX(0) if period is None else period for period in self.turn_periods], ca.SX(0, 1))
        length = mapped([self.numbers.symbols], periods, self.numbers.values[None])[0].ravel()
        turns = np.clip(np.floor(differences / np.where(length == 0, np.inf, length) + 0.5), -1.0, 1.0)
        return differences - turns * length

    def joint_errors(self, legs: list[LegAtState], error: ca.SX) -> ca.SX:
        """Errors (n) of actuated coordinates as motions of the joints [m, arcs at the platform's size]: gears and
        screws taken out, as they multiply rounding too. Where joints are coupled, motions of the platform likewise if
        these are smaller."""
        parts = []
        for k, ((number, actuator), turns) in enumerate(zip(self.actuators, self.rotary_drives, strict=True)):
            arm = self.size if turns else ca.SX(1)
            part = arm * error[k]
            if self.placed[number].placement.couplings:
                row = arm * legs[number].rows[self._place_in_leg(k)]
                gain2 = ca.sumsqr(row[:3]) + ca.sumsqr(row[3:]) / self.size**2
                part = part / ca.sqrt(ca.fmax(gain2, 1))
            elif not (isinstance(actuator.ratio, float) and abs(actuator.ratio) == 1.0):
                part = part / ca.fabs(actuator.ratio)
            parts.append(part)
        return ca.vertcat(*parts, ca.SX(0, 1))

    def _place_in_leg(self, k: int) -> int:
        """The number of an actuator among those of its leg."""
        return k - next(i for i, (number, _) in enumerate(self.actuators) if number == self.actuators[k][0])

    def joint_scales(self, size: float) -> Array:
        """The same (n,) in numbers, for the robot's own."""
        return mapped([self.numbers.symbols], self.joint_scale(size), self.numbers.values[None])[0].ravel()

    @property
    def limits(self) -> list[tuple[str, Limit]]:
        """Every limited quantity with the name of its leg."""
        return [(placed.leg.name, limit) for placed in self.placed for limit in placed.placement.limits]

    @lazy
    def limit_ranges(self) -> Array:
        """Lowest and highest values (k, 2) of the limited quantities, for the robot's numbers; angles as cosines."""
        return self.limit_ranges_of(self.numbers.values[None])[0]

    def limit_ranges_of(self, numbers: Array) -> Array:
        """Lowest and highest values (D, k, 2) of the limited quantities, for the numbers (D, p) of designs."""
        rows = ca.vertcat(*[ca.horzcat(limit.low, limit.high) for _, limit in self.limits], ca.SX(0, 2))
        return mapped([self.numbers.symbols], rows, numbers)

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than degrees of freedom."""
        return len(self.actuators) > self.platform.count

    @property
    def gravity(self) -> ca.SX:
        """Acceleration of gravity (3), base axes."""
        return self.numbers.gravity

    @lazy
    def size(self) -> ca.SX:
        """Characteristic length [m], to scale rotations by: ``Robot.platform_size`` in the robot's numbers."""
        held = self.robot.held_around
        if held:
            numbers = self.numbers
            place = numbers.home_position, ca.densify(numbers.home_rotation)
            points = [ca.SX(point) for leg in self.legs for point in getattr(leg.leg, held)(*place)]
            return sum((ca.norm_2(point) for point in points), ca.SX(0)) / len(points)
        arms = [ca.norm_2(leg.arm) for leg in self.legs if not leg.arm.is_zero()]
        mean = sum(arms, ca.SX(0)) / len(self.legs) if arms else ca.SX(1)
        # one leg may hold the platform all around: the middle of its joints is the origin then
        return mean if len(arms) > 2 else ca.if_else(mean > AT_ORIGIN, mean, 1)

    @property
    def extent(self) -> ca.SX:
        """How far the robot extends [m]: the platform's size and its distance from the base's origin at home."""
        return self.size + ca.norm_2(self.numbers.home_position)

    @property
    def port(self) -> Port | None:
        """The numbers as inputs of a function."""
        return self.numbers.port

    def inputs(self) -> Inputs:
        """Fresh symbols of a state."""
        return self.platform.inputs(len(self.actuators))

    @lazy
    def implicit_legs(self) -> list[int]:
        """Numbers of the legs that are closed by iterating: they have no closed form and state unknowns."""
        return [k for k, leg in enumerate(self.placed) if leg.placement.unknowns is not None]

    @property
    def has_couplings(self) -> bool:
        """Whether joints of a leg are coupled."""
        return any(leg.placement.couplings for leg in self.placed)

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
            platform.constrain(self.dependent_rows(legs))
        return legs

    def constraint_rows(self, legs: list[LegAtState]) -> ca.SX:
        """Derivatives W (6 - m, 6) of the independent constraints by the twist."""
        assert self.mobility is not None
        return ca.horzcat(*[legs[leg].constraint_rows[k] for leg, k in self.mobility.used]).T

    def constraint_values(self, legs: list[LegAtState]) -> ca.SX:
        """The independent constraints (6 - m): zero in poses that the robot can take."""
        assert self.mobility is not None
        return ca.vertcat(*[legs[leg].constraint_values[k] for leg, k in self.mobility.used])

    def constraint_scale(self, size: Any) -> ca.SX:
        """(6 - m) that makes the independent constraints lengths [m]: ``size`` for angles, 1 for lengths."""
        assert self.mobility is not None
        turns = [self.placed[leg].placement.constraints[k].turns for leg, k in self.mobility.used]
        return ca.vertcat(*[size if turn else ca.SX(1) for turn in turns])

    def constraint_accelerations(self, legs: list[LegAtState]) -> ca.SX:
        """Their second derivatives (6 - m) along the legs' motion."""
        assert self.mobility is not None
        return ca.vertcat(*[legs[leg].constraint_accelerations[k] for leg, k in self.mobility.used])

    @lazy
    def coordinate_joints(self) -> list[tuple[int, int]]:
        """Leg, and number there, of every joint's coordinate that is the robot's, in the order of its degrees of
        freedom."""
        return self.robot.coordinate_joints()

    def joint_coordinates(self, legs: list[LegAtState]) -> ca.SX:
        """Coordinates of joints that are the robot's (j)."""
        return ca.vertcat(*[legs[leg].joint_coordinates[k] for leg, k in self.coordinate_joints], ca.SX(0, 1))

    def dependent_rows(self, legs: list[LegAtState]) -> ca.SX:
        """[W; G] (6 - m + j, 6): derivatives of the constraints, then of joints' coordinates."""
        return ca.vertcat(
            self.constraint_rows(legs), *[legs[leg].joint_coordinate_rows[k].T for leg, k in self.coordinate_joints]
        )

    def dependent_accelerations(self, legs: list[LegAtState]) -> ca.SX:
        """Second derivatives (6 - m + j) of the same along the legs' motion."""
        own = [legs[leg].joint_coordinate_accelerations[k] for leg, k in self.coordinate_joints]
        return ca.vertcat(self.constraint_accelerations(legs), *own)

    def reduced_rates(self, legs: list[LegAtState]) -> ca.SX | ca.DM:
        """E (m, 6) of u = E V: chosen components of the twist, and derivatives of joints' coordinates."""
        dof = DegreesOfFreedom(self.robot)
        inner = ca.DM.eye(self.platform.internal)
        rows = ca.diagcat(ca.sparsify(ca.DM(dof.components.T)), inner)
        if not self.coordinate_joints:
            return rows
        derivatives = iter([legs[leg].joint_coordinate_rows[k].T for leg, k in self.coordinate_joints])
        of_joints = (*dof.of_joints, *[False] * self.platform.internal)
        return ca.vertcat(*[next(derivatives) if joint else rows[k, :] for k, joint in enumerate(of_joints)])

    def drift_acceleration(self, x: Inputs) -> ca.SX:
        """Acceleration of the platform (6) at the twist of the inputs while u, that of J, stays."""
        if not self.platform.is_constrained:
            return x.still
        state = self.platform.at(x, x.twist.symbols, x.still)
        assert isinstance(state, ConstrainedState)
        legs = self.attach(state)
        return state.drift_acceleration(self.dependent_accelerations(legs))

    def moving(self, x: Inputs, acceleration: bool = True) -> tuple[PlatformState, list[LegAtState]]:
        """Platform and legs at the motion of the inputs; without acceleration, at constant rates of its coordinates."""
        change = x.acceleration.symbols if acceleration else self.drift_acceleration(x)
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
        if self.platform.is_constrained and legs:
            smallest = ca.fmin(smallest, legs[0].platform.quality)
        for leg in legs:
            for margin in leg.margins:
                smallest = ca.fmin(smallest, margin)
        return smallest
