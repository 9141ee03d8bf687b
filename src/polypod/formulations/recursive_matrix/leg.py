"""One leg by Staicu's relations: its joints' rates, its bodies' motions, and the virtual power of its joints (17)."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...friction import FrictionPair, Loads, friction_pairs
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
        self.connectivity = Connectivity.of(model, mechanism)
        self.tree = self.connectivity.tree
        self._lift = -mechanism.gravity
        self.drives = self.connectivity.drives()

    def motion(self, tip: TipMotion) -> LegMotion:
        """(14), (11)-(12), (15) and (13), in this order."""
        links, known = self.tree.links, self.connectivity
        rates = known.rates(tip.v, tip.omega)
        moving = velocities(links, rates)
        bias = accelerations(links, moving, rates, ca.SX.zeros(self.tree.count), self._lift)
        second = known.second_rates(tip.a + self._lift, tip.alpha, moving, bias, self._lift)
        return LegMotion(rates, second, moving, accelerations(links, moving, rates, second, self._lift))

    def power(
        self, tip: TipMotion, moved: LegMotion, carried: Load | None, friction: bool, loads: Loads | None
    ) -> tuple[ca.SX, ca.SX]:
        """Force at the tip and moment on the platform, base axes, with the virtual power of all joints of the leg (17).

        ``carried`` is what the platform needs at the tip, if it hangs on this leg. Of its moment the leg holds what
        the platform's joint does not let turn; the rest works on the platform's own rotation. Friction of the driven
        joints is not among it.
        """
        links, on_platform = self.tree.links, _ZERO
        needs = [own_load(*item, self._lift) for item in zip(links, moved.velocities, moved.accelerations, strict=True)]
        if carried is not None:
            held = carried.moment if self.tree.welded else _held(self.tree.tip, carried.moment)
            on_platform = carried.moment - held
            self._push(needs, self.tree.last, carried.force, held)
        forces = self._rotors(moved)
        if friction:
            resisting, moment = self._friction(loads, needs, moved, tip.omega)
            forces, on_platform = forces + resisting, on_platform + moment
        force, moment = self.connectivity.at_platform(forces + joint_forces(links, needs))
        return force, moment + on_platform

    def rows(self) -> list[tuple[ca.SX, ca.SX]]:
        """Each actuator's unit force as force at the tip and moment: its row of J, from (14)."""
        result = []
        for number, actuator in zip(self.drives, self.model.actuators, strict=True):
            unit = ca.SX.zeros(self.tree.count)
            unit[number] = actuator.ratio
            result.append(self.connectivity.at_platform(unit))
        return result

    def driven_friction(self, moved: LegMotion, friction: bool, loads: Loads | None) -> ca.SX:
        """What overcomes friction in the driven joints (a), as forces of their actuators."""
        result = ca.SX.zeros(len(self.drives))
        for pair in friction_pairs(self.model) if friction else ():
            if pair.actuator is not None:
                rate, ratio = moved.rates[self.drives[pair.actuator]], self.model.actuators[pair.actuator].ratio
                result[pair.actuator] = self._resistance(pair, rate, loads) / ratio
        return result

    def _push(self, needs: list[Load], place: int, force: ca.SX, moment: ca.SX) -> None:
        """Add a force at the platform's joint and a moment, base axes, to what a body needs."""
        if place < 0:
            return
        axes, need = self.tree.links[place].frame.axes, needs[place]
        own = axes.T @ force
        needs[place] = Load(need.force + own, need.moment + axes.T @ moment + cross(self.connectivity.arm, own))

    def _rotors(self, moved: LegMotion) -> ca.SX:
        """What the actuators' rotors need of their joints: rotor ratio^2 times the joint's acceleration."""
        forces = ca.SX.zeros(self.tree.count)
        for number, actuator in zip(self.drives, self.model.actuators, strict=True):
            forces[number] = forces[number] + ca.SX(actuator.rotor) * actuator.ratio**2 * moved.second[number]
        return forces

    def _friction(self, loads: Loads | None, needs: list[Load], moved: LegMotion, omega: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Passive joints: forces of those in the tree on their rates; of the others, moments on both their bodies.

        The free directions of a joint are perpendicular to each other, so its rates are components of its relative
        velocity.
        """
        forces, on_platform = ca.SX.zeros(self.tree.count), _ZERO
        for pair in friction_pairs(self.model):
            joint = pair.joint
            if pair.actuator is not None:
                continue
            places = self.tree.rates_of(joint.name)
            if len(places) == _JOINT_DOF[joint.kind]:
                forces[places] = self._resistance(pair, moved.rates[places], loads)
                continue
            parent, child = (self._spin(name, moved, omega) for name in (joint.parent, joint.child))
            moment = self._resistance(pair, child - parent, loads)
            for name, part in ((joint.parent, -moment), (joint.child, moment)):
                if name == "platform":
                    on_platform = on_platform + part
                else:
                    self._push(needs, self.tree.index[name], _ZERO, part)
        return forces, on_platform

    def _resistance(self, pair: FrictionPair, rate: ca.SX, loads: Loads | None) -> ca.SX:
        """Force or moment that overcomes a joint's friction, along every component of its rate."""
        return pair.friction.resistance(rate, (self.model.name, pair.joint.name), loads)

    def _spin(self, name: str, moved: LegMotion, omega: ca.SX) -> ca.SX:
        """Angular velocity of a body, base axes."""
        if name == "platform":
            return omega
        place = self.tree.index[name]
        return self.tree.links[place].frame.axes @ moved.velocities[place].omega if place >= 0 else _ZERO


_JOINT_DOF = {"prismatic": 1, "revolute": 1, "universal": 2, "spherical": 3}


def _held(joint: Joint, moment: ca.SX) -> ca.SX:
    """The part of a moment (base axes) that a joint does not let turn."""
    if joint.kind == "spherical":
        return _ZERO
    if joint.kind == "universal":
        normal = cross(*joint.axes)
        return dot(normal, moment) * normal
    return moment - dot(joint.axes[0], moment) * joint.axes[0]
