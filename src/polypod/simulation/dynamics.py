"""What a simulation needs of a model, in symbols: rates of a state from forces, and what encoders see."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..errors import InputError
from ..formulations import newton_euler, virtual_power
from ..formulations.dry_friction import DryFriction, loads_in_motion, next_loads
from ..friction import (
    FrictionIteration,
    GivenForces,
    Loads,
    SlidingJoint,
    dry_joints,
    friction_iteration,
    friction_pairs,
    has_dry_friction,
    next_modes,
    resumed_tries,
    sliding_joints,
)
from ..mechanism import LegAtState, Mechanism
from ..mechanism.closing import LegClosing
from ..platforms import ConstrainedState, DegreesOfFreedom, Inputs
from ..symbols.expression import Port
from ..symbols.iterations import NewtonStep, aitken_relaxation, changes
from ..symbols.linear import GeneralFactor, SymmetricFactor
from .chart import orthonormal_state, pose_of

# Relative tolerance of the loads on which friction depends: friction takes the same power in motion and energy, so no
# energy is lost by what is left, and joints that hold have forces rounded to a few digits less.
LOAD_TOLERANCE = 1e-8
# The same outside of fixed steps: integrators that judge their own error need a rate without noise.
INSTANT_LOAD_TOLERANCE = 1e-9
# How many times as much loads may still change where iterations shrink their changes and what is left is less: a change
# that is small by chance misleads by less than the pace of iterations (a twentieth for ordinary friction) times this.
LAST_CHANGE = 100
# After so many iterations loads go on by Aitken's relaxation, and what is about to break away does so.
SLOW, MANY_ITERATIONS = 30, 100


@dataclass(frozen=True)
class Rates:
    """Accelerations of a state; power of the works of a state [W] (``Layout.works``); quality; dry friction.

    ``friction`` are its numbers after one more round, ``converged`` says whether they solve the state, and ``max_step``
    [s] is the longest step: the first sliding joint comes to rest at its end.
    """

    acceleration: ca.SX
    elastic_acceleration: ca.SX
    power: ca.SX
    quality: ca.SX
    friction: ca.SX
    converged: ca.SX
    max_step: ca.SX


@dataclass(frozen=True)
class SmoothRates:
    """Accelerations of a state, quality, and the loads of joints that follow."""

    acceleration: ca.SX
    elastic_acceleration: ca.SX
    quality: ca.SX
    loads: ca.SX


@dataclass(frozen=True)
class FrictionIterate:
    """Where the solution of dry friction at one stage of a step is: what its next round depends on beside the state.

    ``friction`` are the numbers of the round before (see ``Dynamics``), ``stage`` is that of the Runge-Kutta step
    (``INSTANT`` outside of one), ``iterations`` how many iterations were taken at it, ``tau`` the time [s] within which
    joints may come to rest.
    """

    friction: ca.SX
    stage: ca.SX
    iterations: ca.SX
    tau: ca.SX


@dataclass(frozen=True)
class _Loads:
    """Joint loads (k) for the next round, their changes fresh - old (k), the relaxation factor ``pace`` that was
    applied to these, the largest change as a part of the largest load, and whether the loads have converged."""

    loads: ca.SX
    changes: ca.SX
    pace: ca.SX
    part: ca.SX
    converged: ca.SX


@dataclass(frozen=True)
class Sensed:
    """Actuated coordinates q and rates (n), limited quantities, J (n, m), and four numbers that warn of trouble.

    ``margin`` is the smallest of the legs' conditions, ``limit_margin`` how far the nearest limit is,
    ``singularity_bound`` a lower bound of the distance to singularity: 1/|J^-1| (Frobenius); zero where J has no
    inverse. J is that of the robot's own degrees of freedom, rotations scaled by the platform's size. ``determinant``
    is that of J: it changes sign where a singularity is passed, of the platform or of a leg closed by iterating (1 if
    there are more actuators than degrees of freedom).
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
    """A robot in symbols, for the kernels of a simulation; places are row-major poses with internal coordinates after
    them (16 + k).

    Dry friction is solved by iterating ``rates`` on a column of ``friction_size`` numbers: forces or moments of all
    joints with dry friction (``friction_components``), a mode for each joint (held or sliding), the loads on which
    friction depends (``load_count``), the last changes of these, the relaxation factor, and the iterations taken in
    vain. ``explicit``: friction follows from the loads of the robot without friction. Legs without a closed form have
    ``place_count`` unknowns, the symbols ``mechanism.places``, on which what is computed here depends.
    """

    def __init__(self, mechanism: Mechanism, dry: DryFriction, friction: bool) -> None:
        self.mechanism, self._friction = mechanism, friction
        self.actuators, self.modes = len(mechanism.actuators), mechanism.platform.elastic
        self.explicit = dry.coupling == "explicit"
        self._loads = Loads.symbols(mechanism, dry.law) if friction and has_dry_friction(mechanism) else None
        self.load_count = 0 if self._loads is None or self._loads.port is None else self._loads.port.length
        self._joints = dry_joints(mechanism) if friction else []
        self.friction_components = sum(size for _, size in self._joints)
        forces_and_modes = self.friction_components + len(self._joints)
        self.friction_size = forces_and_modes + 2 * self.load_count + 2 if self._joints else 0
        self.place_count = mechanism.places.numel()
        falling = [
            leg.name for leg in mechanism.legs for pair in friction_pairs(leg) if pair.friction.static_exceeds_kinetic
        ]
        if friction and self.load_count and self.explicit and falling:
            raise InputError(
                f"friction_coupling: static friction of joints of {', '.join(dict.fromkeys(falling))} exceeds "
                "their sliding friction and depends on loads that include friction; simulate with "
                "friction_coupling='implicit'"
            )

    @property
    def port(self) -> Port | None:
        """The robot's numbers as inputs of a function."""
        return self.mechanism.port

    def _at(self, place: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Inputs:
        """Inputs whose symbols are these expressions."""
        x = self.mechanism.inputs()
        x.at_place(place)
        given = {"twist": twist, "elastic": elastic, "elastic_rate": elastic_rate}
        for name, value in given.items():
            setattr(x, name, Port(name, value, x.by_name[name].shape))
        return x

    def rates(
        self,
        place: ca.SX,
        twist: ca.SX,
        elastic: ca.SX,
        elastic_rate: ca.SX,
        force: ca.SX,
        wrench: ca.SX,
        iterate: FrictionIterate,
        base: ca.SX | None = None,
    ) -> Rates:
        """Direct dynamics with its power balance; with dry friction, one round of its solution.

        ``base`` are twist and acceleration (12) of a base that moves.
        """
        mechanism, x = self.mechanism, self.mechanism.inputs()
        solution = virtual_power.direct_solution(mechanism, x, self._friction, None)
        acceleration, bending, converged, longest = solution.acceleration, solution.elastic, ca.SX(1), ca.SX(1e300)
        given, numbers = None, ca.SX(0, 1)
        if self._joints:
            joints, held = self._held(x, iterate)
            drift_acceleration = mechanism.drift_acceleration(x)
            platform = mechanism.platform.at(x, x.twist.symbols, drift_acceleration)
            mechanism.attach(platform)  # a platform that follows its legs then knows how
            acceleration = platform.acceleration(held.change) + drift_acceleration
            # a column of none, also of a robot of one degree of freedom
            bending = held.change[mechanism.platform.count :, 0]
            given = self._given(held.forces)
            start = self.friction_components + len(self._joints)
            old = iterate.friction[start : start + self.load_count]
            fresh = ca.SX(0, 1)
            if self.load_count:
                shared = x.force.symbols
                fresh = loads_in_motion(mechanism, x, given, acceleration, bending, shared=shared)
            following = self._relaxed_loads(old, fresh, iterate)
            # loads follow from friction that obeys its law, not from a guess of it
            # where loads do not repeat while a joint is about to break away, it does so at those with which it held
            breaks = ca.logic_and(held.starting, iterate.iterations > MANY_ITERATIONS)
            lawful = ca.logic_and(held.converged, ca.logic_not(breaks))
            found = ca.if_else(
                lawful, ca.vertcat(following.loads, following.changes, following.pace), iterate.friction[start:-1]
            )
            over = ca.logic_and(held.converged, ca.logic_or(following.converged, breaks))
            tries = ca.if_else(lawful, resumed_tries(held.tries, following.part), held.tries)
            modes = ca.if_else(over, next_modes(joints, held.modes), held.modes)
            converged = ca.logic_and(ca.logic_and(held.converged, following.converged), held.final)
            longest = held.max_step
            numbers = ca.vertcat(held.forces, modes, found, tries)
        platform = mechanism.platform.at(x, x.twist.symbols, acceleration)
        state = virtual_power.State.of(mechanism, platform, self._friction, given)
        qdot, lost = state.rates, platform.damping_power + state.friction_power
        lost = lost + state.elements.loss if state.elements.elements else lost
        external = ca.dot(platform.external(x.wrench.symbols), platform.velocity)
        power = ca.vertcat(ca.dot(x.force.symbols, qdot), external, lost)
        before = [*(p.symbols for p in x.state), x.force.symbols, x.wrench.symbols]
        now = [*self._state(place, twist, elastic, elastic_rate), force, wrench]
        if mechanism.base is not None:
            assert base is not None
            before, now = [*before, mechanism.base.symbols], [*now, base]
            carried = mechanism.base.velocity_at(platform.motion.frame.origin)
            power = power + ca.vertcat(0, ca.dot(x.wrench.symbols, carried), 0)
            power = ca.vertcat(power, self._power_of_base(x, acceleration))
        parts = [acceleration, bending, power, solution.quality, numbers, converged, longest]
        parts = [ca.densify(part) for part in parts]
        return Rates(*ca.substitute(parts, before, [ca.densify(v) for v in now]))

    def _power_of_base(self, x: Inputs, acceleration: ca.SX) -> ca.SX:
        """Power [W] of a moving base: the wrench on the robot times the twist of the base, both at its origin."""
        assert self.mechanism.base is not None
        moving = self.mechanism.inputs()
        given = (*x.state, x.wrench)
        wrench = newton_euler.supporting_wrench(self.mechanism, moving)
        own = [*(moving.by_name[p.name].symbols for p in given), moving.acceleration.symbols]
        (acting,) = ca.substitute([wrench], own, [*(p.symbols for p in given), acceleration])
        return ca.dot(acting, self.mechanism.base.twist.symbols)

    def _state(self, place: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> list[ca.SX]:
        """Expressions in the order of ``Inputs.state``."""
        more = [elastic, elastic_rate] if self.modes else [place[16:]] if place.numel() > 16 else []
        return [place[:16], twist, *more]

    def smooth_rates(
        self, place: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> SmoothRates:
        """Direct dynamics with friction that is smooth in the rates (``friction_width``), at given joint loads."""
        mechanism, x = self.mechanism, self.mechanism.inputs()
        solution = virtual_power.direct_solution(mechanism, x, self._friction, self._loads)
        fresh, symbols = ca.SX(0, 1), ca.SX(0, 1)
        if self._loads is not None and self._loads.port is not None:
            symbols = self._loads.port.symbols
            fresh = next_loads(mechanism, x, self._loads, direct=True)
        old = [*(p.symbols for p in x.state), x.force.symbols, x.wrench.symbols, symbols]
        given = self._state(place, twist, elastic, elastic_rate)
        parts = [ca.densify(part) for part in (solution.acceleration, solution.elastic, solution.quality, fresh)]
        return SmoothRates(*ca.substitute(parts, old, [ca.densify(v) for v in (*given, force, wrench, loads)]))

    def _held(self, x: Inputs, iterate: FrictionIterate) -> tuple[list[SlidingJoint], FrictionIteration]:
        """A round of dry friction at the state of the inputs, and the joints that have it."""
        mechanism = self.mechanism
        platform = mechanism.platform.at(x, x.twist.symbols, mechanism.drift_acceleration(x))
        state = virtual_power.State.of(mechanism, platform, True, None)
        force = x.force.symbols - state.driven_friction
        push = state.jacobian.T @ force + state.external(x.wrench.symbols) - state.required_wrench
        joints = sliding_joints(state.legs)
        forces = iterate.friction[: self.friction_components]
        modes = iterate.friction[self.friction_components : self.friction_components + len(joints)]
        start = self.friction_components + len(joints)
        tries, loads = iterate.friction[-1], iterate.friction[start : start + self.load_count]
        if self.explicit:
            loads = ca.if_else(iterate.iterations < 0.5, 0, loads)
        keys = list(self._loads.values) if self._loads is not None else []
        limits = [j.friction.limit(loads[keys.index(j.key)] if j.key in keys else ca.SX(0)) for j in joints]
        held = friction_iteration(
            joints, limits, state.mass, push, forces, modes, iterate.stage, iterate.iterations, tries, iterate.tau
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

    def _relaxed_loads(self, old: ca.SX, fresh: ca.SX, iterate: FrictionIterate) -> _Loads:
        """Loads for the next round, from those of this one and those that follow from them.

        Rounds that shrink changes c by a ratio r = c/c_before leave c r/(1 - r) to come: loads have converged where
        that is below the tolerance.
        """
        if not self.load_count or self.explicit:
            found = iterate.iterations > 0.5 if self.load_count else ca.SX(1)
            return _Loads(ca.if_else(found, old, fresh), ca.SX.zeros(self.load_count), ca.SX(1), ca.SX(0), found)
        tolerance = ca.if_else(iterate.stage < -0.5, INSTANT_LOAD_TOLERANCE, LOAD_TOLERANCE)
        begins = iterate.iterations < 0.5
        before, pace = ca.if_else(begins, 0, iterate.friction[-2 - self.load_count : -2]), iterate.friction[-2]
        largest, change = changes(old, fresh)
        last = changes(before, ca.SX.zeros(self.load_count))[1]
        left = ca.logic_and(
            change <= LAST_CHANGE * tolerance * largest, change**2 <= tolerance * largest * (last - change)
        )
        slow = ca.logic_and(iterate.iterations > SLOW, last > 0)
        pace = ca.if_else(slow, aitken_relaxation(fresh - old, before, pace), 1)
        found = ca.logic_or(change <= tolerance * largest, ca.logic_and(left, ca.logic_not(slow)))
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
        """Elastic accelerations (N) where the frame's motion is given (Long, Fig. 3), quality, loads that follow."""
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

    def projected(self, x: ca.SX) -> ca.SX:
        """A state (frame, twist and more) projected onto what is possible: rounding and drift of many steps removed.

        The rotation is made orthonormal. A platform that moves as its legs let it is brought back to their constraints
        by one step of Newton, and its twist to what they allow.
        """
        x = orthonormal_state(x)
        if not self.mechanism.platform.is_constrained:
            return x
        k = self.mechanism.platform.internal
        place, twist = ca.vertcat(pose_of(x), x[12 : 12 + k]), x[12 + k : 18 + 2 * k]
        state, legs = self.mechanism.resting(self._at(place, twist, ca.SX(0, 1), ca.SX(0, 1)))
        assert isinstance(state, ConstrainedState)
        joints = ca.SX.zeros(len(self.mechanism.coordinate_joints))  # they stay as they are
        back = state.drift_acceleration(ca.vertcat(self.mechanism.constraint_values(legs), joints))
        moved = self.mechanism.platform.displaced(place, back)
        rates = state.basis @ (self.mechanism.reduced_rates(legs) @ twist)
        return ca.vertcat(moved[:12], moved[16:], rates, x[18 + 2 * k :])

    def closing(self, place: ca.SX, elastic: ca.SX) -> NewtonStep:
        """A step of Newton for the legs without a closed form at a place, from ``mechanism.places``."""
        x = self.mechanism.inputs()
        x.at_place(place)
        inner = {"internal": x.internal} if x.internal.length else {}
        given = {"pose": x.pose, "elastic": Port("elastic", elastic, (elastic.numel(),)), **inner}
        return LegClosing(self.mechanism, given).newton(ca.SX(1), self.mechanism.places)

    def sensed(self, place: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """What the actuators' encoders see, limited quantities, J.

        A zero precedes the limited quantities, as some robots have none.
        """
        mechanism = self.mechanism
        x = self._at(place, twist, elastic, elastic_rate)
        platform, legs = mechanism.moving(x, acceleration=False)
        limited, nearest = [ca.SX(0)], ca.SX(1e300)
        for leg in legs:
            for limit in leg.model.placement.limits:
                value = leg.at_tip(limit.value)
                limited.append(value)
                nearest = ca.fmin(nearest, ca.fmin(value - limit.low, limit.high - value))
        m, turns = mechanism.platform.count, DegreesOfFreedom(mechanism.robot).all_turns
        by_own = platform.to_base(mechanism.jacobian(legs).T).T[:, :m]
        scale = ca.horzcat(*[1 / mechanism.size if turn else 1 for turn in turns])
        scaled = by_own * (mechanism.joint_scale(mechanism.size) @ scale)
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
