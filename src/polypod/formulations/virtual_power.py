"""Virtual power: dynamics derived from the positions of the bodies alone.

For every virtual motion the power of inertia, gravity, friction and external forces equals that of the actuators:
J^T f = w with w the sum over platform and legs. A leg contributes sum_k (dc_k/dtip)^T W_k at its tip, where c_k are
its moving vectors and W_k = sum_l J_kl cddot_l - gamma_k g.

A flexible platform has N elastic coordinates beside the six of its frame; with the frame's acceleration given, their
accelerations e'' are unknown too: J^T f = w + M_e e'' (Long (44)-(49), corrected).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..errors import InputError
from ..friction import JointFriction, Loads
from ..lazy import lazy
from ..mechanism import LegAtState, Mechanism
from ..mechanism.acting_elements import ActingElements
from ..mechanism.closing import closed
from ..mechanism.leg_frame import SeenLeg, leg_frames
from ..platforms import BaseMotion, Inputs, PlatformState
from ..platforms.rigid import RigidState
from ..symbols.expression import Expression, Iteration, port
from ..symbols.inertia import Inertia
from ..symbols.linear import SymmetricFactor
from ..symbols.vectors import cross, dot, symmetric
from .solution import ForceDistribution, actuator_forces, motion_inputs


def tip_force(
    leg: LegAtState, friction: JointFriction, gravity: ca.SX, elements: ca.SX | None = None, tip_mass: bool = True
) -> ca.SX:
    """Force on a leg's inputs that its inertia, weight and friction ask for, base axes: H_x of Long (40).

    ``elements`` are forces (3, K) on its moving vectors that overcome those of springs and the like. Without
    ``tip_mass`` the mass at its tip is left to the platform.
    """
    forces = leg.model.inertia_forces(leg.absolute_vectors, gravity, tip_mass)
    if friction.by_joint:
        forces = forces + friction.overcoming()[0]
    if elements is not None:
        forces = forces + elements
    return leg.model.pull_back(leg.values, forces)


@dataclass(frozen=True)
class LegNeeds:
    """What a leg needs: a force on its inputs, one (6 + N) on the platform if its joints have friction, and what
    overcomes friction in its actuated joints. ``direct`` (a) of it its actuators give without the platform's part, and
    ``rest`` is the force on its inputs without that. ``rates`` (a) are those of its actuators, ``lost`` is the power
    [W] of its friction."""

    tip_force: ca.SX
    on_platform: ca.SX | None
    at_actuators: ca.SX
    rest: ca.SX
    direct: ca.SX
    rates: ca.SX
    lost: ca.SX


def _leg_inertia(leg: LegAtState, seen: SeenLeg | None, tip_mass: bool) -> ca.SX:
    """Inertia matrix (3, 3) of a leg on its tip, base axes."""
    if seen is None:
        return leg.model.inertia(leg.values, tip_mass)
    (own,) = seen.at([seen.leg.model.inertia(seen.leg.values, tip_mass)])
    return symmetric(seen.axes @ own @ seen.axes.T)


def _along_drive(leg: LegAtState, force: ca.SX) -> tuple[ca.SX, ca.SX]:
    """A force on a leg's tip, in a frame with an axis along which its only actuator drives it, without its part along
    that axis, and the actuator's force (a) for that part; the whole force where there is no such axis."""
    gradients = leg.coordinate_gradients
    parts = [k for k in range(3) if not gradients[0][k].is_zero()] if len(gradients) == 1 else []
    if len(parts) != 1 or force.numel() != 3:
        return force, ca.SX.zeros(len(gradients))
    rest = ca.SX(force)
    rest[parts[0]] = 0
    return rest, force[parts[0]] / gradients[0][parts[0]]


@dataclass(frozen=True)
class State:
    """A robot at one state: platform, legs, elements, and whether its joints have ``friction``.

    ``loads`` are those of dry friction; ``in_frames`` says that legs are computed in their own frames.
    """

    mechanism: Mechanism
    platform: PlatformState
    legs: list[LegAtState]
    elements: ActingElements
    friction: bool
    loads: Loads | None
    in_frames: bool

    @staticmethod
    def of(
        mechanism: Mechanism, platform: PlatformState, friction: bool, loads: Loads | None, in_frames: bool = True
    ) -> State:
        """All legs attached to a platform's state, computed in their own frames where they have any (``in_frames``)."""
        legs = mechanism.attach(platform)
        elements = ActingElements.of(mechanism, platform, legs)
        return State(mechanism, platform, legs, elements, friction, loads, in_frames)

    @lazy
    def frictions(self) -> list[JointFriction]:
        """Friction of every leg, base axes."""
        return [JointFriction.of(leg, self.friction, self.loads) for leg in self.legs]

    @lazy
    def _seen(self) -> list[SeenLeg | None]:
        """Every leg in its own frame; None where it has none, or forces that are known in base axes act on it."""
        if not self.in_frames:
            return [None] * len(self.legs)
        views = leg_frames(self.mechanism)
        return [
            None if view is None else SeenLeg.of(view, leg, self.mechanism.gravity)
            for view, leg in zip(views, self.legs, strict=True)
        ]

    @lazy
    def _loaded(self) -> tuple[ca.SX, ca.SX] | None:
        """Required wrench and inertia matrix of a rigid platform with the masses at the legs' tips, which move as it
        does; None for others."""
        if not isinstance(self.platform, RigidState):
            return None
        body = self.platform.body
        for leg in self.legs:
            if not leg.model.tip_mass.is_zero():
                body = body + Inertia.mass_at(leg.model.tip_mass, self.platform.from_reference(leg.model.arm))
        return self.platform.wrench_of(body), self.platform.matrix_of(body)

    @property
    def _tip_masses(self) -> bool:
        """Whether masses at the legs' tips are left to the legs."""
        return self._loaded is None

    @lazy
    def _needs(self) -> list[LegNeeds]:
        """What every leg needs."""
        return [self._need(leg, seen) for leg, seen in zip(self.legs, self._seen, strict=True)]

    def _need(self, leg: LegAtState, seen: SeenLeg | None) -> LegNeeds:
        extra = self.elements.overcoming_leg(leg.number)
        if seen is None or extra is not None:
            friction = self.frictions[leg.number]
            force = tip_force(leg, friction, self.mechanism.gravity, extra, self._tip_masses)
            overcoming = friction.overcoming()[1] if friction.by_joint else None
            direct, rates = ca.SX.zeros(len(leg.model.actuators)), ca.vertcat(*leg.rates, ca.SX(0, 1))
            return LegNeeds(force, overcoming, friction.at_actuators, force, direct, rates, friction.power)
        loads = None if self.loads is None else self.loads.seen_in(seen.axes)
        friction = JointFriction.of(seen.leg, self.friction, loads)
        pull = tip_force(seen.leg, friction, seen.gravity, None, self._tip_masses)
        rest, direct = _along_drive(seen.leg, pull)
        wrench = friction.on_platform
        rates = ca.vertcat(*seen.leg.rates, ca.SX(0, 1))
        parts = [pull, rest, direct, friction.at_actuators, rates, friction.power, wrench.force, wrench.moment]
        force, rest, direct, at_actuators, rates, lost, push, moment = seen.at(parts)
        overcoming = None
        if friction.by_joint:
            overcoming = leg.platform.moment(leg.number, -(seen.axes @ moment))
            if not push.is_zero():
                overcoming = overcoming + leg.force(-(seen.axes @ push))
        return LegNeeds(seen.axes @ force, overcoming, at_actuators, seen.axes @ rest, direct, rates, lost)

    @lazy
    def supporting_wrench(self) -> ca.SX:
        """Wrench [f; m] (6) that the motion of all bodies on a base that moves needs, without an external one, moment
        about the origin of {B}, base axes: the rate of their momentum less their weight."""
        need = self.platform.to_base(self.platform.required_wrench if self._loaded is None else self._loaded[0])[:6]
        force, moment = need[:3], need[3:] + cross(self.platform.motion.frame.origin, need[:3])
        for leg, seen in zip(self.legs, self._seen, strict=True):
            own, gravity = (leg, self.mechanism.gravity) if seen is None else (seen.leg, seen.gravity)
            push, turn, mass = own.model.momentum_rate(own.absolute_vectors, gravity, self._tip_masses)
            if seen is None:
                push = push - mass * gravity
            else:
                push, turn = (seen.axes @ part for part in seen.at([push, turn]))
                push = push - mass * seen.gravity_in_base
                turn = turn + cross(seen.origin, push)
            force, moment = force + push, moment + turn
        return ca.vertcat(force, moment)

    @property
    def rates(self) -> ca.SX:
        """Rates (n) of the actuated coordinates."""
        return ca.vertcat(*[need.rates for need in self._needs])

    @property
    def friction_power(self) -> ca.SX:
        """Power [W] that friction takes."""
        return ca.sum1(ca.vertcat(*[need.lost for need in self._needs]))

    def tip_force(self, number: int) -> ca.SX:
        """Force on the inputs of one leg."""
        return self._needs[number].tip_force

    @lazy
    def required_wrench(self) -> ca.SX:
        """w (m + N) of J^T f = w for this motion, without wrench, elastic accelerations and driven friction."""
        return self._required([need.tip_force for need in self._needs])

    @lazy
    def rest_wrench(self) -> ca.SX:
        """w - J^T d: the same without what actuators give their legs directly."""
        return self._required([need.rest for need in self._needs])

    @lazy
    def direct_force(self) -> ca.SX:
        """d (n): forces along the actuators' coordinates that their own legs need."""
        return ca.vertcat(*[need.direct for need in self._needs])

    def _required(self, forces: list[ca.SX]) -> ca.SX:
        """Generalized force (m + N) of forces on the legs' inputs, the platform's own inertia and its friction."""
        total = self.platform.required_wrench if self._loaded is None else self._loaded[0]
        for leg, need, force in zip(self.legs, self._needs, forces, strict=True):
            total = total + leg.force(force)
            if need.on_platform is not None:
                total = total + need.on_platform
        if self.elements.overcoming_platform is not None:
            total = total + self.elements.overcoming_platform
        return self.platform.reduced(total)

    @lazy
    def jacobian(self) -> ca.SX:
        """J (n, m + N) with qdot = J u."""
        rows = []
        for leg, seen in zip(self.legs, self._seen, strict=True):
            if seen is None:
                rows += leg.rows
            else:
                rows += [leg.force(seen.axes @ own) for own in seen.at(seen.leg.coordinate_gradients)]
        return self.platform.reduced(ca.horzcat(*rows)).T

    @lazy
    def mass(self) -> ca.SX:
        """Mass matrix (m + N, m + N) of the whole robot."""
        total = self.platform.inertia if self._loaded is None else self._loaded[1]
        for leg, seen in zip(self.legs, self._seen, strict=True):
            if not leg.model.uses_axes:
                total = total + self.platform.inertia_of(leg.number, leg.tip, _leg_inertia(leg, seen, self._tip_masses))
        result = self.platform.reduced_inertia(total)
        for leg in self.legs:
            if leg.model.uses_axes:  # fewer directions than inputs
                result = result + leg.model.inertia_along(
                    leg.values, self.platform.directions(leg.tip), self._tip_masses
                )
        return result

    @lazy
    def driven_friction(self) -> ca.SX:
        """What overcomes friction in the actuated joints (n)."""
        return ca.vertcat(*[need.at_actuators for need in self._needs])

    def external(self, wrench: ca.SX) -> ca.SX:
        """An external wrench as a generalized force (m + N)."""
        return self.platform.reduced(self.platform.external(wrench))


@dataclass(frozen=True)
class InverseSolution:
    """Actuator forces without those for driven friction, elastic accelerations (N), quality of the solve."""

    force: ca.SX
    elastic: ca.SX
    quality: ca.SX


def inverse_solution(state: State, wrench: ca.SX, distribution: ForceDistribution | None = None) -> InverseSolution:
    """Forces and elastic accelerations for a motion of the frame.

    With elastic coordinates: e'' = M_ee^-1 (J_e^T f - w_e), (J_r^T - M_re M_ee^-1 J_e^T) f = w_r - M_re M_ee^-1 w_e.
    """
    m = state.mechanism.platform.count
    if not state.mechanism.platform.elastic and distribution is None:
        solution = actuator_forces(
            state.jacobian, state.rest_wrench - state.external(wrench), None, state.driven_friction, state.legs
        )
        return InverseSolution(solution.x + state.direct_force, ca.SX(0, 1), solution.quality)
    need = state.required_wrench - state.external(wrench)
    if not state.mechanism.platform.elastic:
        solution = actuator_forces(state.jacobian, need, distribution, state.driven_friction, state.legs)
        return InverseSolution(solution.x, ca.SX(0, 1), solution.quality)
    factor, coupling, rows = SymmetricFactor(state.mass[m:, m:]), state.mass[:m, m:], state.jacobian
    spread = ca.horzcat(*[factor.solve(rows[i, m:].T) for i in range(rows.size1())])
    rest = factor.solve(need[m:])
    reduced, rest_need = rows[:, :m] - (coupling @ spread).T, need[:m] - coupling @ rest
    solution = actuator_forces(reduced, rest_need, distribution, state.driven_friction, state.legs)
    return InverseSolution(solution.x, spread @ solution.x - rest, solution.quality)


def at_a_tip(mechanism: Mechanism, platform: PlatformState) -> PlatformState:
    """A rigid platform of as many degrees of freedom as actuators referred to the first leg's tip.

    Forces of that leg have no moment there, so that its column of J^T is half zero.
    """
    if not isinstance(platform, RigidState) or not mechanism.platform.full or mechanism.platform.internal:
        return platform
    if mechanism.redundant:
        return platform
    return platform.referred(mechanism.legs[0].arm)


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces (and elastic accelerations) for a motion and an external wrench: J^T f = w - w_ext."""
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = State.of(mechanism, at_a_tip(mechanism, platform), friction, loads)
    solution = inverse_solution(state, x.wrench.symbols, distribution)
    force = solution.force + state.driven_friction if friction else solution.force
    elastic = (port("elastic_acceleration", solution.elastic),) if mechanism.platform.elastic else ()
    return Expression(
        "inverse_dynamics",
        motion_inputs(x, distribution, loads.ports if loads else ()),
        (port("force", force), *elastic, port("quality", mechanism.quality(state.legs, solution.quality), ())),
        mechanism.port,
    )


def mass(mechanism: Mechanism) -> Expression:
    """The mass matrix as a function of the place, base axes."""
    x = mechanism.inputs()
    state = State.of(mechanism, mechanism.platform.rest(x), False, None)
    matrix = state.platform.to_base(state.platform.to_base(state.mass).T).T
    outputs = port("mass_matrix", matrix, matrix.shape), port("quality", mechanism.quality(state.legs), ())
    return Expression("mass_matrix", x.place, outputs, mechanism.port)


def bias(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Generalized force of Coriolis, centripetal, gravity and friction terms: M udot + bias = J^T f + S^T w_ext."""
    x = mechanism.inputs()
    state = State.of(
        mechanism, mechanism.platform.at(x, x.twist.symbols, mechanism.drift_acceleration(x)), friction, loads
    )
    required = state.required_wrench + state.jacobian.T @ state.driven_friction if friction else state.required_wrench
    outputs = port("bias", state.platform.to_base(required)), port("quality", mechanism.quality(state.legs), ())
    return Expression("bias", x.state, outputs, mechanism.port)


@dataclass(frozen=True)
class DirectSolution:
    """Acceleration of the frame (6, base axes), elastic accelerations (N), quality."""

    acceleration: ca.SX
    elastic: ca.SX
    quality: ca.SX


def direct_solution(mechanism: Mechanism, x: Inputs, friction: bool, loads: Loads | None) -> DirectSolution:
    """Acceleration from actuator forces: M udot = J^T f + S^T w_ext - bias."""
    drift_acceleration = mechanism.drift_acceleration(x)
    state = State.of(mechanism, mechanism.platform.at(x, x.twist.symbols, drift_acceleration), friction, loads)
    force = x.force.symbols - state.driven_friction if friction else x.force.symbols
    push = state.jacobian.T @ (force - state.direct_force) + state.external(x.wrench.symbols) - state.rest_wrench
    m, size = mechanism.platform.count, push.numel()
    # elastic coordinates first: their matrix is nearly diagonal and is eliminated at little cost
    order = [*range(m, size), *range(m)]
    factor = SymmetricFactor(state.mass[order, order])
    solved = factor.solve(push[order])
    change = ca.vertcat(solved[size - m :], solved[: size - m]) if size > m else solved
    quality = mechanism.quality(state.legs, factor.quality_of(range(size - m, size)))
    elastic = change[m:] if size > m else ca.SX(0, 1)
    return DirectSolution(state.platform.acceleration(change) + drift_acceleration, elastic, quality)


def direct_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Acceleration of the platform from actuator forces."""
    x = mechanism.inputs()
    solution = direct_solution(mechanism, x, friction, loads)
    elastic = (port("elastic_acceleration", solution.elastic),) if mechanism.platform.elastic else ()
    return Expression(
        "direct_dynamics",
        (*x.state, x.force, x.wrench, *(loads.ports if loads else ())),
        (port("acceleration", solution.acceleration), *elastic, port("quality", solution.quality, ())),
        mechanism.port,
    )


def _on_moving_base(
    base: BaseMotion, platform: PlatformState, legs: list[LegAtState], kinetic: ca.SX, potential: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """Energies with the velocity v of the base's origin, T + v.p + m v^2/2, and without its acceleration as gravity."""
    if not isinstance(platform, RigidState):
        raise InputError("base_twist: energies of a flexible platform are those on a base that stands still")
    v, (mass, momentum), moment = base.twist.symbols[:3], platform.momentum, platform.first_moment
    for leg in legs:
        vectors, rates, _ = leg.absolute_vectors
        mass = mass + leg.model.mass
        momentum = momentum + rates @ leg.model.loads
        moment = moment + vectors @ leg.model.loads
    return kinetic + dot(v, momentum) + 0.5 * mass * dot(v, v), potential + dot(base.gravity, moment)


def first_moment(mechanism: Mechanism) -> Expression | Iteration:
    """Mass of the robot [kg] and its first moment sum m r (3) [kg m] about the origin of {B}, base axes."""
    moving = mechanism.on_moving_base
    given = moving.inputs()
    platform = moving.platform.rest(given)
    assert isinstance(platform, RigidState)
    mass, moment, legs = platform.momentum[0], platform.first_moment, moving.attach(platform)
    for leg in legs:
        mass, moment = mass + leg.model.mass, moment + leg.absolute_vectors[0] @ leg.model.loads
    outputs = (port("mass", mass, ()), port("moment", moment), port("quality", moving.quality(legs), ()))
    return closed(moving, Expression("first_moment", given.place, outputs, moving.port))


def energy(mechanism: Mechanism) -> Expression:
    """Kinetic, potential and elastic energy; the potential is -sum m g.r with r from the base frame's origin.

    Potentials of springs and other elements belong to it. On a moving base kinetic energy is that in space, and the
    potential that of gravity alone.
    """
    x = mechanism.inputs()
    platform, legs = mechanism.moving(x, acceleration=False)
    kinetic, potential, elastic = platform.energies()
    for leg in legs:
        vectors, rates, _ = leg.absolute_vectors
        kinetic = kinetic + 0.5 * ca.dot(rates, rates @ leg.model.weights)
        potential = potential - dot(mechanism.gravity, vectors @ leg.model.loads + leg.model.fixed_load)
    if mechanism.base is not None:
        kinetic, potential = _on_moving_base(mechanism.base, platform, legs, kinetic, potential)
    elements = ActingElements.of(mechanism, platform, legs)
    if elements:
        potential = potential + elements.potential
    outputs = [port("kinetic", kinetic, ()), port("potential", potential, ())]
    outputs += [port("elastic_energy", elastic, ())] if mechanism.platform.elastic else []
    return Expression("energy", x.state, (*outputs, port("quality", mechanism.quality(legs), ())), mechanism.port)
