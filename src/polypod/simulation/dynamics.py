"""What a simulation needs of a model, in symbols: rates of a state from forces, and what encoders see."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..formulations import newton_euler, virtual_power
from ..formulations.dry_friction import DryFriction, next_loads
from ..friction import Loads, has_dry_friction
from ..mechanism import LegAtState, Mechanism
from ..platforms import Freedoms, Inputs
from ..symbols.expression import Port
from ..symbols.linear import SymmetricFactor


@dataclass(frozen=True)
class Rates:
    """Accelerations of a state; power of actuators, external wrench and friction (3) [W]; quality; loads found."""

    acceleration: ca.SX
    elastic_acceleration: ca.SX
    power: ca.SX
    quality: ca.SX
    loads: ca.SX


@dataclass(frozen=True)
class Sensed:
    """Actuated coordinates q and rates (n), limited quantities, J (n, 6), and three numbers that warn of trouble.

    ``margin`` is the smallest of the legs' conditions, ``limit_margin`` how far the nearest limit is,
    ``singularity_bound`` a lower bound of the distance to singularity: 1/|J^-1| (Frobenius), rotations scaled by the
    platform's size; zero where J has no inverse.
    """

    q: ca.SX
    qdot: ca.SX
    limited: ca.SX
    jacobian: ca.SX
    margin: ca.SX
    limit_margin: ca.SX
    singularity_bound: ca.SX


class Dynamics:
    """A robot in symbols, for the kernels of a simulation; poses are row-major columns of 16.

    ``loads`` counts the joint loads that dry friction depends on; they are found by iterating :meth:`rates`.
    ``explicit`` says that one round from loads of zero is wanted, not a fixed point.
    """

    def __init__(self, mechanism: Mechanism, dry: DryFriction, friction: bool) -> None:
        self.mechanism, self._friction = mechanism, friction
        self.actuators, self.modes = len(mechanism.actuators), mechanism.platform.elastic
        self.explicit = dry.coupling == "explicit"
        self._loads = Loads.symbols(mechanism, dry.law) if friction and has_dry_friction(mechanism) else None
        self.loads = 0 if self._loads is None or self._loads.port is None else self._loads.port.length
        if self.loads and not (self.modes or newton_euler.closed_form(mechanism)):
            raise InputError(
                f"friction: {mechanism.robot.name!r} is overconstrained, so reactions that Coulomb friction depends on "
                "are not determined; simulate with friction=False"
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
        self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
    ) -> Rates:
        """Direct dynamics with its power balance, at given joint loads."""
        mechanism, x = self.mechanism, self.mechanism.inputs()
        solution = virtual_power.direct_solution(mechanism, x, self._friction, self._loads)
        platform = mechanism.platform.at(x, x.twist.symbols, solution.acceleration)
        state = virtual_power.State.of(mechanism, platform, self._friction, self._loads)
        qdot = _rates(state.legs)
        lost = sum((friction.power for friction in state.frictions), platform.damping_power)
        external = ca.dot(platform.external(x.wrench.symbols), platform.velocity)
        power = ca.vertcat(ca.dot(x.force.symbols, qdot), external, lost)
        fresh, symbols = ca.SX(0, 1), ca.SX(0, 1)
        if self._loads is not None and self._loads.port is not None:
            symbols = self._loads.port.symbols
            fresh = next_loads(mechanism, x, self._loads, direct=True)
        old = [*(p.symbols for p in x.state), x.force.symbols, x.wrench.symbols, symbols]
        given = [pose, twist, elastic, elastic_rate] if self.modes else [pose, twist]
        parts = [solution.acceleration, solution.elastic, power, solution.quality, fresh]
        parts = [ca.densify(part) for part in parts]
        return Rates(*ca.substitute(parts, old, [ca.densify(v) for v in (*given, force, wrench, loads)]))

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

    def sensed(self, pose: ca.SX, twist: ca.SX, elastic: ca.SX, elastic_rate: ca.SX) -> Sensed:
        """What the actuators' encoders see, limited quantities, J of the frame's twist (n, 6) in base axes.

        The limited quantities are led by a zero, as some robots have none.
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
        jacobian = platform.to_base(ca.horzcat(*[row for leg in legs for row in leg.rows]))[:6, :].T
        basis = ca.SX(ca.sparsify(ca.DM(Freedoms(mechanism.robot).basis)))
        scaled = jacobian @ ca.diag(ca.vertcat(1, 1, 1, *[1 / mechanism.size] * 3)) @ basis
        factor = SymmetricFactor(scaled.T @ scaled)
        unit = ca.SX.eye(scaled.size2())
        inverse = sum((factor.solve(unit[:, k])[k] for k in range(scaled.size2())), ca.SX(0))
        # what is not a number fails both comparisons
        bound = ca.if_else(ca.logic_and(inverse > 0, inverse < 1e300), 1 / ca.sqrt(inverse), 0)
        margin = mechanism.quality(legs)
        q = mechanism.coordinates(legs)
        return Sensed(q, _rates(legs), ca.vertcat(*limited), jacobian, margin, nearest, bound)


def scaled_basis(freedoms: Freedoms, size: float) -> NDArray[np.float64]:
    """Motions of the freedoms (6, m), rotations by 1/size rad."""
    turning = np.abs(freedoms.basis[3:]).sum(axis=0) > 0
    return freedoms.basis * np.where(turning, 1 / size, 1.0)


def _rates(legs: list[LegAtState]) -> ca.SX:
    """Rates of the actuated coordinates (n)."""
    return ca.vertcat(*[rate for leg in legs for rate in leg.rates])
