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
from ..friction import JointFriction, Loads, actuator_friction
from ..lazy import lazy
from ..mechanism import LegAtState, Mechanism
from ..mechanism.acting_elements import ActingElements
from ..platforms import BaseMotion, Inputs, PlatformState
from ..platforms.rigid import RigidState
from ..symbols.expression import Expression, port
from ..symbols.linear import SymmetricFactor
from ..symbols.vectors import dot
from .solution import ForceDistribution, actuator_forces, motion_inputs


def tip_force(leg: LegAtState, friction: JointFriction, gravity: ca.SX, elements: ca.SX | None = None) -> ca.SX:
    """Force on a leg's inputs that its inertia, weight and friction ask for, base axes: H_x of Long (40).

    ``elements`` are forces (3, K) on its moving vectors that overcome those of springs and the like.
    """
    forces = leg.model.inertia_forces(leg.absolute_vectors[2], gravity)
    if friction.by_joint:
        forces = forces + friction.overcoming()[0]
    if elements is not None:
        forces = forces + elements
    return leg.model.pull_back(leg.values, forces)


@dataclass(frozen=True)
class State:
    """A robot at one state: platform, legs, friction, elements."""

    mechanism: Mechanism
    platform: PlatformState
    legs: list[LegAtState]
    frictions: list[JointFriction]
    elements: ActingElements

    @staticmethod
    def of(mechanism: Mechanism, platform: PlatformState, friction: bool, loads: Loads | None) -> State:
        """All legs attached to a platform's state."""
        legs = mechanism.attach(platform)
        elements = ActingElements.of(mechanism, platform, legs)
        return State(mechanism, platform, legs, [JointFriction.of(leg, friction, loads) for leg in legs], elements)

    def tip_force(self, number: int) -> ca.SX:
        """Force on the inputs of one leg."""
        extra = self.elements.overcoming_leg(number)
        return tip_force(self.legs[number], self.frictions[number], self.mechanism.gravity, extra)

    @lazy
    def required_wrench(self) -> ca.SX:
        """w (m + N) of J^T f = w for this motion, without wrench, elastic accelerations and driven friction."""
        total = self.platform.required_wrench
        for number, leg in enumerate(self.legs):
            total = total + leg.force(self.tip_force(number))
            if self.frictions[number].by_joint:
                total = total + self.frictions[number].overcoming()[1]
        if self.elements.overcoming_platform is not None:
            total = total + self.elements.overcoming_platform
        return self.platform.reduced(total)

    @lazy
    def jacobian(self) -> ca.SX:
        """J (n, m + N) with qdot = J u."""
        return self.mechanism.jacobian(self.legs)

    @lazy
    def mass(self) -> ca.SX:
        """Mass matrix (m + N, m + N) of the whole robot."""
        total = self.platform.inertia
        for leg in self.legs:
            if not leg.model.uses_axes:
                total = total + self.platform.inertia_of(leg.number, leg.tip, leg.model.inertia(leg.values))
        result = self.platform.reduced_inertia(total)
        for leg in self.legs:
            if leg.model.uses_axes:  # fewer directions than inputs
                result = result + leg.model.inertia_along(leg.values, self.platform.directions(leg.tip))
        return result

    @lazy
    def driven_friction(self) -> ca.SX:
        """What overcomes friction in the actuated joints (n)."""
        return actuator_friction(self.frictions)

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
    need, m = state.required_wrench - state.external(wrench), state.mechanism.platform.count
    if not state.mechanism.platform.elastic:
        solution = actuator_forces(state.jacobian, need, distribution, state.driven_friction, state.legs)
        return InverseSolution(solution.x, ca.SX(0, 1), solution.quality)
    factor, coupling, rows = SymmetricFactor(state.mass[m:, m:]), state.mass[:m, m:], state.jacobian
    spread = ca.horzcat(*[factor.solve(rows[i, m:].T) for i in range(rows.size1())])
    rest = factor.solve(need[m:])
    reduced, rest_need = rows[:, :m] - (coupling @ spread).T, need[:m] - coupling @ rest
    solution = actuator_forces(reduced, rest_need, distribution, state.driven_friction, state.legs)
    return InverseSolution(solution.x, spread @ solution.x - rest, solution.quality)


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces (and elastic accelerations) for a motion and an external wrench: J^T f = w - w_ext."""
    x, distribution = mechanism.inputs(), ForceDistribution.of(mechanism)
    platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
    state = State.of(mechanism, platform, friction, loads)
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
    push = state.jacobian.T @ force + state.external(x.wrench.symbols) - state.required_wrench
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
    if elements.elements:
        potential = potential + elements.potential
    outputs = [port("kinetic", kinetic, ()), port("potential", potential, ())]
    outputs += [port("elastic_energy", elastic, ())] if mechanism.platform.elastic else []
    return Expression("energy", x.state, (*outputs, port("quality", mechanism.quality(legs), ())), mechanism.port)
