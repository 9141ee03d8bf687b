"""Recursive matrix relations: Staicu et al. (10)-(18), corrected, for legs of any joints.

Outwards along every leg: relative rates from the conditions of connectivity (14), (15), then absolute velocities and
accelerations (10)-(13). Backwards: forces and moments (18). The actuators' forces (17) have the power of all joints,
sum of virtual rate times force or moment, in every virtual motion of the platform: with J by the same virtual rates,
J^T f = w. The platform is the last body of the last leg; the other legs end at their platform joints.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import InputError
from ..kernels import Expression, port
from ..legs import Joint
from ..mechanism import Attached, LegModel, Mechanism, Motion
from ..mechanism.inputs import Inputs
from ..symbols.linear import solve_general
from ..symbols.vectors import cross, dot
from .connectivity import Connectivity
from .friction import Loads, friction_of
from .recursions import (
    Acceleration,
    Load,
    Velocity,
    accelerations,
    inertia_load,
    joint_forces,
    own_load,
    turning,
    velocities,
)
from .samples import tidy

_ZERO = ca.SX.zeros(3)


@dataclass(frozen=True)
class TipMotion:
    """Motion of the platform at a leg's tip: v, a of the tip, omega, alpha, all in base axes."""

    v: ca.SX
    omega: ca.SX
    a: ca.SX
    alpha: ca.SX

    @staticmethod
    def symbols() -> TipMotion:
        """A motion of free symbols."""
        return TipMotion(*(ca.SX.sym(name, 3) for name in ("v", "omega", "a", "alpha")))


@dataclass(frozen=True)
class LegMotion:
    """Relative rates and accelerations of a leg's joints; absolute ones of its bodies, the base accelerated by -g."""

    rates: ca.SX
    second: ca.SX
    velocities: list[Velocity]
    accelerations: list[Acceleration]


class RecursiveLeg:
    """The recursions of one leg, in the symbols of its placement (``model.all_inputs``)."""

    def __init__(self, mechanism: Mechanism, model: LegModel) -> None:
        self.model = model
        self.connectivity = Connectivity.of(model, mechanism.freedoms)
        self.chain = self.connectivity.chain
        self._lift = -mechanism.gravity
        self.drive, self.ratio = self._moved_by(model.placement.coordinate, "coordinate")

    def _moved_by(self, coordinate: ca.SX, what: str) -> tuple[int, float]:
        """The joint whose rate is a coordinate's, up to a factor, by comparing both for the platform's freedoms."""
        samples, inputs = self.chain.samples, self.model.all_inputs
        gradient = samples.values(ca.jacobian(coordinate, inputs))
        turned = samples.values(ca.vertcat(*[_turn_map(inputs[3 + 3 * k : 6 + 3 * k]) for k in range(3)]))
        carry = np.concatenate([np.tile(np.eye(3, 6), (len(turned), 1, 1)), turned], axis=1)
        rate = (gradient @ carry @ samples.twists).ravel()
        for joint in range(self.chain.count):
            own = self.connectivity.unit_rates[:, joint].ravel()
            ratio = float(rate @ own / (own @ own)) if own.any() else 0.0
            if np.abs(rate - ratio * own).max() <= 1e-9 * np.abs(rate).max():
                return joint, float(tidy(np.array([[[ratio]]]), 1.0)[0, 0])
        raise InputError(f"recursive-matrix: the {what} of {self.model.name} is not that of one of its joints")

    def motion(self, tip: TipMotion) -> LegMotion:
        """(14), (11)-(12), (15) and (13), in this order."""
        links, known = self.chain.links, self.connectivity
        rates = known.rates(tip.v, tip.omega)
        moving = velocities(links, rates)
        bias = accelerations(links, moving, rates, ca.SX.zeros(self.chain.count), self._lift)
        second = known.second_rates(tip.a + self._lift, tip.alpha, moving, bias, self._lift)
        return LegMotion(rates, second, moving, accelerations(links, moving, rates, second, self._lift))

    def power(self, tip: TipMotion, carried: Load | None, resistance: Resistance | None) -> tuple[ca.SX, ca.SX]:
        """Force at the tip and moment on the platform, base axes, with the virtual power of all joints of the leg (17).

        ``carried`` is what the platform needs at the tip, if it hangs on this leg. Of its moment the leg holds what
        the platform's joint does not let turn; the rest works on the platform's own rotation.
        """
        moved = self.motion(tip)
        links, on_platform = self.chain.links, _ZERO
        loads = [own_load(*item, self._lift) for item in zip(links, moved.velocities, moved.accelerations, strict=True)]
        if carried is not None:
            held = carried.moment if self.chain.welded else _held(self.chain.tip, carried.moment)
            on_platform = carried.moment - held
            self._push(loads, self.chain.last, carried.force, held)
        forces = self._drives(moved)
        if resistance is not None:
            rubbed, moment = self._rub(resistance, loads, moved, tip.omega)
            forces, on_platform = forces + rubbed, on_platform + moment
        force, moment = self.connectivity.at_platform(forces + joint_forces(links, loads))
        return force, moment + on_platform

    def row(self) -> tuple[ca.SX, ca.SX]:
        """The actuator's unit force as force and moment at the tip: the leg's row of J, from (14)."""
        unit = ca.SX.zeros(self.chain.count)
        unit[self.drive] = self.ratio
        return self.connectivity.at_platform(unit)

    def _push(self, loads: list[Load], place: int, force: ca.SX, moment: ca.SX) -> None:
        """Add a force at the platform's joint and a moment, base axes, to what a body needs."""
        if place < 0:
            return
        axes, load = self.chain.links[place].frame.axes, loads[place]
        own = axes.T @ force
        loads[place] = Load(load.force + own, load.moment + axes.T @ moment + cross(self.connectivity.arm, own))

    def _drives(self, moved: LegMotion) -> ca.SX:
        """What the inertances need of their joints: m ratio^2 times the joint's acceleration."""
        forces = ca.SX.zeros(self.chain.count)
        for inertance in self.model.placement.inertances:
            joint, ratio = self._moved_by(inertance.coordinate, f"coordinate of {inertance.name!r}")
            forces[joint] = forces[joint] + inertance.mass * ratio**2 * moved.second[joint]
        return forces

    def _rub(
        self, resistance: Resistance, loads: list[Load], moved: LegMotion, omega: ca.SX
    ) -> tuple[ca.SX, ca.SX]:
        """Friction: forces of the joints in the tree on their rates; of the others, moments on both their bodies.

        The free directions of a joint are square to each other, so its rates are components of its relative velocity.
        """
        forces, on_platform = ca.SX.zeros(self.chain.count), _ZERO
        for joint in self.model.placement.joints:
            own = [link.rates for link in self.chain.links if link.joint == joint.name]
            if len(own) == (2 if joint.kind == "universal" else 1):
                places = [k for rates in own for k in range(rates.start, rates.stop)]
                forces[places] = resistance(self.model, joint, moved.rates[places])
                continue
            parent, child = (self._spin(name, moved, omega) for name in (joint.parent, joint.child))
            moment = resistance(self.model, joint, child - parent)
            for name, part in ((joint.parent, -moment), (joint.child, moment)):
                if name == "platform":
                    on_platform = on_platform + part
                else:
                    self._push(loads, self.chain.places[name], _ZERO, part)
        return forces, on_platform

    def _spin(self, name: str, moved: LegMotion, omega: ca.SX) -> ca.SX:
        """Angular velocity of a body, base axes."""
        if name == "platform":
            return omega
        place = self.chain.places[name]
        return self.chain.links[place].frame.axes @ moved.velocities[place].omega if place >= 0 else _ZERO


@dataclass(frozen=True)
class Resistance:
    """What overcomes friction at a joint's relative rate w: c w + (k L + d) w/|w|, L the load of the joint."""

    loads: Loads | None

    def __call__(self, leg: LegModel, joint: Joint, rate: ca.SX) -> ca.SX:
        """Force or moment along every component of the rate."""
        data = friction_of(leg, joint)
        result = data.viscous * rate
        if self.loads is None or not (data.coulomb or data.drag):
            return result
        load = data.coulomb * self.loads.values[leg.name, joint.name] if data.coulomb else 0.0
        return result + (data.drag + load) * self.loads.law.direction(rate)


def _turn_map(axis: ca.SX) -> ca.SX:
    """d(axis)/d(twist): [0, -axis~]."""
    x, y, z = (axis[k] for k in range(3))
    return ca.vertcat(ca.horzcat(0, 0, 0, 0, z, -y), ca.horzcat(0, 0, 0, -z, 0, x), ca.horzcat(0, 0, 0, y, -x, 0))


def _held(joint: Joint, moment: ca.SX) -> ca.SX:
    """The part of a moment (base axes) that a joint does not let turn."""
    if joint.kind == "spherical":
        return _ZERO
    if joint.kind == "universal":
        normal = cross(*joint.axes)
        return dot(normal, moment) * normal
    return moment - dot(joint.axes[0], moment) * joint.axes[0]


def platform_load(mechanism: Mechanism, motion: Motion, leg: Attached, tip: TipMotion, wrench: ca.SX) -> Load:
    """What the platform needs at a leg's tip, base axes: (18) in its own axes, about the tip, less the wrench on it."""
    axes, inertia, arm = motion.frame.axes, mechanism.platform, leg.model.arm
    first = inertia.first - inertia.mass * arm
    second = inertia.second - inertia.first @ arm.T - arm @ inertia.first.T + inertia.mass * arm @ arm.T
    tensor = ca.trace(second) * ca.SX.eye(3) - second
    omega, epsilon = axes.T @ tip.omega, axes.T @ tip.alpha
    moved = Acceleration(epsilon, axes.T @ (tip.a - mechanism.gravity), turning(omega, epsilon))
    load = inertia_load(inertia.mass, first, tensor, omega, moved)
    force = axes @ load.force - wrench[:3]
    return Load(force, axes @ load.moment - wrench[3:] + cross(leg.arm, wrench[:3]))


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: J^T f = w, all from the recursions."""
    if mechanism.simplify == "no-spin":
        raise InputError("recursive-matrix: no-spin contradicts the joints, whose rates this formulation is made of")
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(motion)
    resistance = Resistance(loads) if friction else None
    rows, demand = [], ca.SX.zeros(6)
    for leg in attached:
        tip = TipMotion(leg.series[1][:3], motion.omega, 2 * leg.series[2][:3], motion.alpha)
        carried = platform_load(mechanism, motion, leg, tip, x.wrench.symbols) if leg is attached[-1] else None
        force, moment, row_force, row_moment = _leg_at(mechanism, leg, tip, carried, resistance)
        demand = demand + ca.vertcat(force, cross(leg.arm, force) + moment)
        rows.append(ca.vertcat(row_force, cross(leg.arm, row_force) + row_moment))
    matrix = mechanism.in_freedoms(ca.horzcat(*rows))
    solution = solve_general(matrix, mechanism.in_freedoms(demand))
    return Expression(
        "inverse_dynamics",
        (x.pose, x.twist, x.acceleration, x.wrench, *(loads.ports if loads else ())),
        (port("force", solution.x), port("quality", mechanism.quality(attached, solution.quality), ())),
    )


def _leg_at(
    mechanism: Mechanism, leg: Attached, tip: TipMotion, carried: Load | None, resistance: Resistance | None
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Force and moment of a leg at its tip, and of its actuator's unit force, at this state."""
    recursive, motion = RecursiveLeg(mechanism, leg.model), TipMotion.symbols()
    load = Load(ca.SX.sym("F", 3), ca.SX.sym("M", 3))
    outputs = [*recursive.power(motion, load if carried is not None else None, resistance), *recursive.row()]
    symbols = [leg.model.all_inputs, motion.v, motion.omega, motion.a, motion.alpha, load.force, load.moment]
    pressed = resistance.loads.ports if resistance is not None and resistance.loads is not None else ()
    extra = [p.symbols for p in pressed]
    function = ca.Function("leg", [*symbols, *extra], outputs)
    here = ca.vertcat(leg.series[0][:3], ca.vec(leg.axes))
    at = carried if carried is not None else Load(_ZERO, _ZERO)
    values = [here, tip.v, tip.omega, tip.a, tip.alpha, at.force, at.moment]
    force, moment, row_force, row_moment = function(*values, *extra)
    return force, moment, row_force, row_moment
