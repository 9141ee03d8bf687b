"""What a simulation needs of a model, in symbols: rates of a state from forces, and what encoders see."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..errors import InputError
from ..formulations import virtual_power
from ..formulations.dry_friction import DryFriction, loads_in_motion, next_loads
from ..friction import (
    FrictionRound,
    GivenForces,
    Loads,
    SlidingJoint,
    dry_joints,
    friction_pairs,
    friction_round,
    has_dry_friction,
    next_modes,
    resumed_tries,
    sliding_joints,
)
from ..mechanism import LegAtState, Mechanism
from ..mechanism.closing import Closing
from ..platforms import ConstrainedState, Freedoms, Inputs
from ..symbols.continuation import NewtonStep
from ..symbols.expression import Port
from ..symbols.fixed_point import aitken_relaxation, changes
from ..symbols.linear import GeneralFactor, SymmetricFactor
from .chart import pose_of, tightened

# Loads repeat to this part: friction takes the same power in motion and energy, so no energy is lost by what is left,
# and joints that hold have forces rounded to a few digits less.
SAME_LOADS = 1e-8
# Integrators that judge their own error need a rate without noise.
SAME_LOADS_EXACTLY = 1e-9
# How many times as much loads may still change where rounds shrink their changes and what is left is less: a change
# that is small by chance misleads by less than the pace of rounds (a twentieth for ordinary friction) times this.
LAST_CHANGE = 100
# After so many rounds loads go on by Aitken's relaxation, and what is about to break away does so.
SLOW, MANY_ROUNDS = 30, 100


@dataclass(frozen=True)
class Rates:
    """Accelerations of a state; power of actuators, external wrench and friction (3) [W]; quality; dry friction.

    ``friction`` are its numbers found anew, ``converged`` says whether they are those of the state, and ``longest`` [s]
    when the first sliding joint will come to rest.
    """

    acceleration: ca.SX
    elastic_acceleration: ca.SX
    power: ca.SX
    quality: ca.SX
    friction: ca.SX
    converged: ca.SX
    longest: ca.SX


@dataclass(frozen=True)
class SmoothRates:
    """Accelerations of a state, quality, and the loads of joints that follow."""

    acceleration: ca.SX
    elastic_acceleration: ca.SX
    quality: ca.SX
    loads: ca.SX


@dataclass(frozen=True)
class Moment:
    """What dry friction at an instant of a step depends on beside the state.

    ``friction`` are its last numbers, ``stage`` and ``rounds`` where the step's computation is, ``tau`` the time [s]
    in which joints may come to rest.
    """

    friction: ca.SX
    stage: ca.SX
    rounds: ca.SX
    tau: ca.SX


@dataclass(frozen=True)
class _Loads:
    """Loads (k) to go on with, how much they change by themselves (k) and at which pace they are changed, the largest
    change as a part of the largest load, and whether they are found."""

    loads: ca.SX
    changes: ca.SX
    pace: ca.SX
    part: ca.SX
    found: ca.SX


@dataclass(frozen=True)
class Sensed:
    """Actuated coordinates q and rates (n), limited quantities, J (n, m), and four numbers that warn of trouble.

    ``margin`` is the smallest of the legs' conditions, ``limit_margin`` how far the nearest limit is,
    ``singularity_bound`` a lower bound of the distance to singularity: 1/|J^-1| (Frobenius); zero where J has no
    inverse. J is that of the robot's own freedoms, rotations scaled by the platform's size. ``determinant`` is that of
    J: it changes sign where a singularity is passed, of the platform or of a leg closed by iterating (1 if there are
    more actuators than freedoms).
    """

    q: ca.SX
    qdot: ca.SX
    limited: ca.SX
    jacobian: ca.SX
    margin: ca.SX
    limit_margin: ca.SX
    singularity_bound: ca.SX
    determinant: ca.SX


class Dynamics:
    """A robot in symbols, for the kernels of a simulation; poses are row-major columns of 16.

    Dry friction holds joints at rest: its numbers are a force or moment of every joint with dry friction, what the
    joint does, the loads that friction depends on, their last changes and the pace of these, and the rounds in vain:
    ``friction`` in all, ``loads`` of them loads. They are found by iterating :meth:`rates`. ``explicit`` says that
    friction is that of loads without it. Legs without a closed form have ``places`` numbers that say where their
    unknowns are: what is computed here depends on the symbols ``mechanism.places`` for them.
    """

    def __init__(self, mechanism: Mechanism, dry: DryFriction, friction: bool) -> None:
        self.mechanism, self._friction = mechanism, friction
        self.actuators, self.modes = len(mechanism.actuators), mechanism.platform.elastic
        self.explicit = dry.coupling == "explicit"
        self._loads = Loads.symbols(mechanism, dry.law) if friction and has_dry_friction(mechanism) else None
        self.loads = 0 if self._loads is None or self._loads.port is None else self._loads.port.length
        self._joints = dry_joints(mechanism) if friction else []
        self.components = sum(size for _, size in self._joints)
        self.friction = self.components + len(self._joints) + 2 * self.loads + 2 if self._joints else 0
        self.places = mechanism.places.numel()
        falling = [
            leg.name for leg in mechanism.legs for pair in friction_pairs(leg) if pair.friction.static_exceeds_kinetic
        ]
        if friction and self.loads and self.explicit and falling:
            raise InputError(
                f"friction_coupling: joints of {', '.join(dict.fromkeys(falling))} break away at more than they slide "
                "with (static), which depends on loads with friction; simulate with friction_coupling='implicit'"
            )

    @property
    def port(self) -> Port | None:
        """The robot's numbers as inputs of a function."""
        return self.mechanism.port

    def _at(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Inputs:
        """Inputs whose symbols are these expressions."""
        x = self.mechanism.inputs()
        given = {"pose": pose, "twist": twist, "elastic": elastic, "elastic_rate": elastic_rate}
        for name, value in given.items():
            setattr(x, name, Port(name, value, x.by_name[name].shape))
        return x

    def rates(
        self,
        pose: ca.SX,
        twist: ca.SX,
        elastic: ca.SX,
        elastic_rate: ca.SX,
        force: ca.SX,
        wrench: ca.SX,
        moment: Moment,
    ) -> Rates:
        """Direct dynamics with its power balance; with dry friction, one round of its solution."""
        mechanism, x = self.mechanism, self.mechanism.inputs()
        solution = virtual_power.direct_solution(mechanism, x, self._friction, None)
        acceleration, bending, converged, longest = solution.acceleration, solution.elastic, ca.SX(1), ca.SX(1e300)
        given, numbers = None, ca.SX(0, 1)
        if self._joints:
            joints, held = self._held(x, moment)
            coasting = mechanism.coasting(x)
            platform = mechanism.platform.at(x, x.twist.symbols, coasting)
            mechanism.attach(platform)  # a platform that follows its legs then knows how
            acceleration = platform.acceleration(held.change) + coasting
            bending = held.change[mechanism.platform.count :, 0]  # a column of none, also of a robot of one freedom
            given = self._given(held.forces)
            start = self.components + len(self._joints)
            old = moment.friction[start : start + self.loads]
            fresh = ca.SX(0, 1)
            if self.loads:
                shared = x.force.symbols
                fresh = loads_in_motion(mechanism, x, given, acceleration, bending, shared=shared)
            following = self._judged(old, fresh, moment)
            # loads follow from friction that obeys its law, not from a guess of it
            # where loads do not repeat while a joint is about to break away, it does so at those with which it held
            breaks = ca.logic_and(held.starting, moment.rounds > MANY_ROUNDS)
            lawful = ca.logic_and(held.converged, ca.logic_not(breaks))
            found = ca.if_else(
                lawful, ca.vertcat(following.loads, following.changes, following.pace), moment.friction[start:-1]
            )
            over = ca.logic_and(held.converged, ca.logic_or(following.found, breaks))
            tries = ca.if_else(lawful, resumed_tries(held.tries, following.part), held.tries)
            modes = ca.if_else(over, next_modes(joints, held.modes), held.modes)
            converged = ca.logic_and(ca.logic_and(held.converged, following.found), held.final)
            longest = held.longest
            numbers = ca.vertcat(held.forces, modes, found, tries)
        platform = mechanism.platform.at(x, x.twist.symbols, acceleration)
        state = virtual_power.State.of(mechanism, platform, self._friction, given)
        qdot = _rates(state.legs)
        lost = sum((friction.power for friction in state.frictions), platform.damping_power)
        external = ca.dot(platform.external(x.wrench.symbols), platform.velocity)
        power = ca.vertcat(ca.dot(x.force.symbols, qdot), external, lost)
        before = [*(p.symbols for p in x.state), x.force.symbols, x.wrench.symbols]
        now = [pose, twist, elastic, elastic_rate] if self.modes else [pose, twist]
        parts = [acceleration, bending, power, solution.quality, numbers, converged, longest]
        parts = [ca.densify(part) for part in parts]
        return Rates(*ca.substitute(parts, before, [ca.densify(v) for v in (*now, force, wrench)]))

    def smooth_rates(
        self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> SmoothRates:
        """Direct dynamics with friction that is smooth in the rates (``friction_width``), at given joint loads."""
        mechanism, x = self.mechanism, self.mechanism.inputs()
        solution = virtual_power.direct_solution(mechanism, x, self._friction, self._loads)
        fresh, symbols = ca.SX(0, 1), ca.SX(0, 1)
        if self._loads is not None and self._loads.port is not None:
            symbols = self._loads.port.symbols
            fresh = next_loads(mechanism, x, self._loads, direct=True)
        old = [*(p.symbols for p in x.state), x.force.symbols, x.wrench.symbols, symbols]
        given = [pose, twist, elastic, elastic_rate] if self.modes else [pose, twist]
        parts = [ca.densify(part) for part in (solution.acceleration, solution.elastic, solution.quality, fresh)]
        return SmoothRates(*ca.substitute(parts, old, [ca.densify(v) for v in (*given, force, wrench, loads)]))

    def _held(self, x: Inputs, moment: Moment) -> tuple[list[SlidingJoint], FrictionRound]:
        """A round of dry friction at the state of the inputs, and the joints that have it."""
        mechanism = self.mechanism
        platform = mechanism.platform.at(x, x.twist.symbols, mechanism.coasting(x))
        state = virtual_power.State.of(mechanism, platform, True, None)
        force = x.force.symbols - state.driven_friction
        push = state.jacobian.T @ force + state.external(x.wrench.symbols) - state.required_wrench
        joints = sliding_joints(state.legs)
        forces = moment.friction[: self.components]
        modes = moment.friction[self.components : self.components + len(joints)]
        start = self.components + len(joints)
        tries, loads = moment.friction[-1], moment.friction[start : start + self.loads]
        if self.explicit:
            loads = ca.if_else(moment.rounds < 0.5, 0, loads)
        keys = list(self._loads.values) if self._loads is not None else []
        limits = [j.friction.limit(loads[keys.index(j.key)] if j.key in keys else ca.SX(0)) for j in joints]
        held = friction_round(
            joints, limits, state.mass, push, forces, modes, moment.stage, moment.rounds, tries, moment.tau
        )
        return joints, held

    def _given(self, forces: ca.SX) -> GivenForces:
        """Dry friction of all joints, from their forces one after another."""
        assert self._loads is not None
        values, start = {}, 0
        for key, size in self._joints:
            values[key] = forces[start : start + size]
            start += size
        return GivenForces(self._loads.law, None, values)

    def _judged(self, old: ca.SX, fresh: ca.SX, moment: Moment) -> _Loads:
        """Loads to go on with.

        Rounds that shrink changes c by a pace c/c_before leave c pace/(1 - pace) to come.
        """
        if not self.loads or self.explicit:
            found = moment.rounds > 0.5 if self.loads else ca.SX(1)
            return _Loads(ca.if_else(found, old, fresh), ca.SX.zeros(self.loads), ca.SX(1), ca.SX(0), found)
        part = ca.if_else(moment.stage < -0.5, SAME_LOADS_EXACTLY, SAME_LOADS)
        begins = moment.rounds < 0.5
        before, pace = ca.if_else(begins, 0, moment.friction[-2 - self.loads : -2]), moment.friction[-2]
        largest, change = changes(old, fresh)
        last = changes(before, ca.SX.zeros(self.loads))[1]
        left = ca.logic_and(change <= LAST_CHANGE * part * largest, change**2 <= part * largest * (last - change))
        slow = ca.logic_and(moment.rounds > SLOW, last > 0)
        pace = ca.if_else(slow, aitken_relaxation(fresh - old, before, pace), 1)
        found = ca.logic_or(change <= part * largest, ca.logic_and(left, ca.logic_not(slow)))
        return _Loads(old + pace * (fresh - old), fresh - old, pace, change / ca.fmax(largest, 1e-300), found)

    def elastic_rates(
        self,
        pose: ca.SX,
        twist: ca.SX,
        acceleration: ca.SX,
        wrench: ca.SX,
        elastic: ca.SX,
        elastic_rate: ca.SX,
        loads: ca.SX,
    ) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Elastic accelerations (N) where the frame's motion is given (Long, Fig. 3), quality, loads found."""
        mechanism, x = self.mechanism, self.mechanism.inputs()
        platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
        state = virtual_power.State.of(mechanism, platform, self._friction, self._loads)
        solution = virtual_power.inverse_solution(state, x.wrench.symbols)
        fresh, symbols = ca.SX(0, 1), ca.SX(0, 1)
        if self._loads is not None and self._loads.port is not None:
            symbols = self._loads.port.symbols
            fresh = next_loads(mechanism, x, self._loads, direct=False)
        old = [*(p.symbols for p in x.state), x.acceleration.symbols, x.wrench.symbols, symbols]
        new = [pose, twist, elastic, elastic_rate, acceleration, wrench, loads]
        parts = [solution.elastic, mechanism.quality(state.legs, solution.quality), fresh]
        found = ca.substitute([ca.densify(part) for part in parts], old, [ca.densify(v) for v in new])
        return found[0], found[1], found[2]

    def tightened(self, x: ca.SX) -> ca.SX:
        """A state (frame, twist and more) with the rounding and drift of many steps removed.

        A platform that moves as its legs let it is brought back to what they constrain by one step of Newton, and its
        twist to what they allow.
        """
        x = tightened(x)
        if not self.mechanism.platform.follows_legs:
            return x
        place = self._at(pose_of(x), x[12:18], ca.SX(0, 1), ca.SX(0, 1))
        state, legs = self.mechanism.resting(place)
        assert isinstance(state, ConstrainedState)
        joints = ca.SX.zeros(len(self.mechanism.followed_joints))  # they stay as they are
        back = state.coasting(ca.vertcat(self.mechanism.constraint_values(legs), joints))
        pose = self.mechanism.platform.displaced(pose_of(x), back)
        return ca.vertcat(pose[:12], state.basis @ (self.mechanism.own_rates(legs) @ x[12:18]), x[18:])

    def closing(self, pose: ca.SX, elastic: ca.SX) -> NewtonStep:
        """A step of Newton for the legs without a closed form at a pose, from ``mechanism.places``."""
        x = self._at(pose, ca.SX.zeros(6), elastic, ca.SX.zeros(elastic.numel()))
        return Closing(self.mechanism, {"pose": x.pose, "elastic": x.elastic}).newton(ca.SX(1), self.mechanism.places)

    def sensed(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """What the actuators' encoders see, limited quantities, J of the robot's own rates.

        A zero precedes the limited quantities, as some robots have none.
        """
        mechanism = self.mechanism
        x = self._at(pose, twist, elastic, elastic_rate)
        platform, legs = mechanism.moving(x, acceleration=False)
        limited, nearest = [ca.SX(0)], ca.SX(1e300)
        for leg in legs:
            for limit in leg.model.placement.limits:
                value = leg.at_tip(limit.value)
                limited.append(value)
                nearest = ca.fmin(nearest, ca.fmin(value - limit.low, limit.high - value))
        m, turns = mechanism.platform.count, Freedoms(mechanism.robot).turns
        by_own = platform.to_base(mechanism.jacobian(legs).T).T[:, :m]
        scaled = by_own @ ca.diag(ca.vertcat(*[1 / mechanism.size if turn else 1 for turn in turns]))
        factor = SymmetricFactor(scaled.T @ scaled)
        unit = ca.SX.eye(scaled.size2())
        inverse = sum((factor.solve(unit[:, k])[k] for k in range(scaled.size2())), ca.SX(0))
        # what is not a number fails both comparisons
        bound = ca.if_else(ca.logic_and(inverse > 0, inverse < 1e300), 1 / ca.sqrt(inverse), 0)
        margin = mechanism.quality(legs)
        q = mechanism.coordinates(legs)
        square = scaled.size1() == scaled.size2()
        determinant = GeneralFactor(scaled).determinant if square else ca.SX(1)
        for leg in legs:
            for closing in leg.closing_determinants:  # a leg that is singular by itself is passed as unseen
                determinant = determinant * ca.sign(closing)
        return Sensed(q, _rates(legs), ca.vertcat(*limited), scaled, margin, nearest, bound, determinant)


def _rates(legs: list[LegAtState]) -> ca.SX:
    """Rates of the actuated coordinates (n)."""
    return ca.vertcat(*[rate for leg in legs for rate in leg.rates])
