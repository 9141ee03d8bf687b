"""One leg by Staicu's relations: its joints' rates, its bodies' motions, and the virtual power of its joints (17)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...friction.joints import Loads, friction_of
from ...legs import Joint
from ...mechanism import LegModel, Mechanism
from ...symbols.vectors import cross, dot
from .connectivity import Connectivity
from .recursions import Acceleration, Load, Velocity, accelerations, joint_forces, own_load, velocities

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
        self.drive, self.ratio = self.connectivity.joint_of(model.placement.coordinate, "its coordinate")

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
            joint, ratio = self.connectivity.joint_of(inertance.coordinate, f"the coordinate of {inertance.name!r}")
            forces[joint] = forces[joint] + inertance.mass * ratio**2 * moved.second[joint]
        return forces

    def _rub(self, resistance: Resistance, loads: list[Load], moved: LegMotion, omega: ca.SX) -> tuple[ca.SX, ca.SX]:
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


def _held(joint: Joint, moment: ca.SX) -> ca.SX:
    """The part of a moment (base axes) that a joint does not let turn."""
    if joint.kind == "spherical":
        return _ZERO
    if joint.kind == "universal":
        normal = cross(*joint.axes)
        return dot(normal, moment) * normal
    return moment - dot(joint.axes[0], moment) * joint.axes[0]
