"""Elements at a state of a robot: displacements, forces, and what they do to bodies, by virtual power.

An element applies the generalized force f(s, sdot) along its displacements s. Between two points that is a pair of
forces along their line; in a joint a force or moment about its free axes, on its second body, and the opposite on its
first. Rotations of a spherical joint or a bushing are rotation vectors r; with omega = L rdot the moment that belongs
to f = -dV/dr is L^-T f.

Weights of parts whose mass changes with the pose (``HangingWeight``) act in the same way, through their potential.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from ..description.element import COORDINATES, BodyEnd, JointEnd
from ..elements import Brake, Bushing, Element, Spring, Stop
from ..errors import InputError
from ..lazy import lazy
from ..legs import HangingWeight, Joint
from ..platforms import PlatformState
from ..symbols.expression import Expression, port
from ..symbols.vectors import cross, dot, norm, total, vector
from .joint_motion import (
    SAME,
    BodiesAtState,
    BodyAtState,
    JointMeasure,
    PlatformBody,
    inverse_left_jacobian,
    rotation_vector,
    shortest_turn,
)
from .leg_at_state import LegAtState
from .mechanism import Mechanism

_FREE = 1e300
"""End of the range of a displacement that has none."""


@dataclass(frozen=True)
class PlacedElement:
    """An element with symbols for its numbers, and what it is between."""

    element: Element
    joint: JointEnd | None
    ends: tuple[BodyEnd, BodyEnd] | None

    @property
    def name(self) -> str:
        """Its name; of a joint's own stiffness LEG.JOINT."""
        return self.element.name

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of its displacements."""
        if self.joint is not None:
            return COORDINATES[self.joint.kind]
        return self.element.axes_of(())


def placed_elements(mechanism: Mechanism) -> list[PlacedElement]:
    """All elements of a robot: those of its file in order, then passive joints with a stiffness of their own."""
    found, legs = [], mechanism.robot.legs
    for data, twin in zip(mechanism.robot.elements, mechanism.numbers.elements, strict=True):
        if isinstance(data, Brake):  # friction of its joint
            continue
        joint = data.joint_end(legs) if data.joint else None
        found.append(PlacedElement(twin, joint, None if data.joint else data.body_ends(legs)))
    for number, leg in enumerate(mechanism.placed):
        for spring in leg.placement.springs:
            if not spring.joint:
                continue
            name = leg.leg.label(spring.joint)
            twin = Spring.model_construct(kind="spring", name=name, joint=name, stiffness=spring.stiffness)
            kind = leg.placement.joint(spring.joint).kind
            found.append(PlacedElement(twin, JointEnd(number, spring.joint, kind), None))
    return found


def has_elements(mechanism: Mechanism) -> bool:
    """Whether a robot has any element."""
    return any(not isinstance(one, Brake) for one in mechanism.robot.elements) or any(
        spring.joint for leg in mechanism.placed for spring in leg.placement.springs
    )


def has_pushes(mechanism: Mechanism) -> bool:
    """Whether elements or weights that hang on legs act on bodies of a robot."""
    return has_elements(mechanism) or any(leg.placement.weights for leg in mechanism.placed)


def has_dampers(mechanism: Mechanism) -> bool:
    """Whether an element of a robot resists its rate."""
    return any(one.element.resists for one in placed_elements(mechanism)) if has_elements(mechanism) else False


@dataclass(frozen=True)
class Push:
    """A force at a point and a moment on a body, base axes; None where there is none.

    One that does not work goes through a joint into the base. ``generalized`` is the generalized force on the platform
    where that is known already.
    """

    body: BodyAtState
    point: ca.SX
    force: ca.SX | None = None
    moment: ca.SX | None = None
    works: bool = True
    generalized: ca.SX | None = None

    def about(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Force, and moment about another point."""
        force = ca.SX.zeros(3) if self.force is None else self.force
        moment = ca.SX.zeros(3) if self.moment is None else self.moment
        return force, moment if self.force is None else moment + cross(self.point - point, force)


@dataclass(frozen=True)
class ActingElement:
    """An element at a state: displacements and their rates (k), force along them (k), potential, loss, pushes."""

    placed: PlacedElement
    displacement: ca.SX
    rate: ca.SX
    force: ca.SX
    potential: ca.SX
    loss: ca.SX
    pushes: tuple[Push, ...]
    law: Any

    @property
    def stiffness(self) -> ca.SX:
        """-df/ds (k, k) of its law at rest."""
        s = ca.SX.sym("s", self.displacement.numel())
        derivative = ca.jacobian(self.law(s), s)
        return -ca.substitute(derivative, s, self.displacement)


@dataclass(frozen=True)
class ActingWeight:
    """A weight that hangs on a leg, at a state: its potential and pushes."""

    potential: ca.SX
    pushes: tuple[Push, ...]


@dataclass(frozen=True)
class ActingElements:
    """All elements of a robot at a state and weights that hang on its legs; empty for a robot without."""

    platform: PlatformState
    legs: list[LegAtState]
    elements: list[ActingElement] = field(default_factory=list)
    weights: list[ActingWeight] = field(default_factory=list)

    @staticmethod
    def of(mechanism: Mechanism, platform: PlatformState, legs: list[LegAtState]) -> ActingElements:
        """At a platform's state, with the legs attached to it."""
        if not has_pushes(mechanism):
            return ActingElements(platform, legs)
        state = _State(mechanism, platform, legs)
        weights = [state.hanging(leg, one) for leg in legs for one in leg.model.placement.weights]
        return ActingElements(platform, legs, [state.acting(one) for one in placed_elements(mechanism)], weights)

    def __bool__(self) -> bool:
        return bool(self._all)

    @property
    def _all(self) -> list[ActingElement | ActingWeight]:
        return [*self.elements, *self.weights]

    def _pushes(self, leg: int | None, body: str | None = None) -> Iterator[Push]:
        for element in self._all:
            for push in element.pushes:
                if push.body.leg == leg and (body is None or push.body.name == body):
                    yield push

    def overcoming_leg(self, number: int) -> ca.SX | None:
        """Forces (3, K) on a leg's moving vectors that overcome them; None if none acts on its bodies."""
        leg, parts = self.legs[number], []
        for push in self._pushes(number):
            if push.force is not None and push.works:
                parts.append(leg.model.point_forces(push.body.name, leg.vectors[0], push.point, -push.force))
            if push.moment is not None:
                parts.append(leg.model.moment_forces(push.body.name, leg.vectors[0], -push.moment))
        return total(parts, (3, len(leg.model.columns))) if parts else None

    @lazy
    def overcoming_platform(self) -> ca.SX | None:
        """Generalized force (6 + N) on the platform that overcomes them; None if none acts on it."""
        parts = []
        for push in self._pushes(None, "platform"):
            assert isinstance(push.body, PlatformBody)
            if push.generalized is not None:
                parts.append(-push.generalized)
                continue
            if push.force is not None:
                parts.append(self.platform.force(push.body.tip_leg, push.body.tip_at(push.point), -push.force))
            if push.moment is not None:
                parts.append(self.platform.moment(push.body.tip_leg, -push.moment))
        return total(parts[1:], parts[0].shape) + parts[0] if parts else None

    @property
    def required_wrench(self) -> ca.SX:
        """Generalized force (6 + N) that overcomes all of them."""
        result = ca.SX.zeros(self.platform.velocity.numel())
        if self.overcoming_platform is not None:
            result = result + self.overcoming_platform
        for leg in self.legs:
            forces = self.overcoming_leg(leg.number)
            if forces is not None:
                result = result + leg.force(leg.model.pull_back(leg.values, forces))
        return result

    def on_bodies(self, number: int) -> dict[str, list[Push]]:
        """What acts on the bodies of a leg, by their names."""
        found: dict[str, list[Push]] = {}
        for push in self._pushes(number):
            found.setdefault(push.body.name, []).append(push)
        return found

    @property
    def potential(self) -> ca.SX:
        """Potential energy of all of them [J]."""
        return sum((one.potential for one in self._all), ca.SX(0))

    @property
    def loss(self) -> ca.SX:
        """Power that they take [W]."""
        return sum((element.loss for element in self.elements), ca.SX(0))


def element_states(mechanism: Mechanism) -> Expression:
    """Displacements, rates and forces of all elements one after another, and the potential and loss of each."""
    x = mechanism.inputs()
    platform, legs = mechanism.moving(x, acceleration=False)
    elements = ActingElements.of(mechanism, platform, legs).elements
    if not elements:
        raise InputError(f"elements: {mechanism.robot.name!r} has none; add 'elements' to its file")
    outputs = [
        port(name, ca.vertcat(*[getattr(one, name) for one in elements]))
        for name in ("displacement", "rate", "force", "potential", "loss")
    ]
    return Expression("elements", x.state, (*outputs, port("quality", mechanism.quality(legs), ())), mechanism.port)


# ----------------------------------------------------------------------------------------------------------------------
# Elements at a state.


class _State(BodiesAtState):
    """Everything that elements need of a robot at a state."""

    def on_platform(self, name: str, at: ca.SX | None, leg: int | None = None) -> BodyAtState:
        """The platform as an element sees it that acts at a point, or in a joint of a leg."""
        home, elastic = self.mechanism.home, bool(self.mechanism.platform.elastic)
        if not elastic:
            return PlatformBody(self.platform, home, self.platform.tip(0, ca.SX.zeros(3)), 0, None)
        if leg is None:
            assert at is not None
            place = self.mechanism.numbers.evaluate(home.axes.T @ (at - home.origin)).ravel()
            gaps = np.linalg.norm(self.mechanism.robot.attachments - place, axis=1)
            if gaps.min() > SAME:
                raise InputError(
                    f"elements: {name} acts on the flexible platform at {place.round(6).tolist()}, where its shape is "
                    "not known; move it to an attachment point of a leg, or use a rigid platform"
                )
            number = int(gaps.argmin())
            tip = self.platform.tip(number, self.legs[number].model.arm)
            return PlatformBody(self.platform, home, tip, number, at)
        raise InputError(
            f"elements: {name} acts in a joint on the flexible platform, whose turning there is known to first order "
            "only; use a rigid platform, or an element between points"
        )

    def end(self, name: str, end: BodyEnd, at: ca.SX) -> BodyAtState:
        """A body that an element acts on at a point."""
        return self.on_platform(name, at) if end.name == "platform" and end.leg is None else self.body(end)

    def acting(self, placed: PlacedElement) -> ActingElement:
        """An element at the state."""
        if placed.joint is not None:
            return self._in_joint(placed, placed.joint)
        if isinstance(placed.element, Bushing):
            return self._bushing(placed, placed.element)
        return self._between(placed)

    def hanging(self, leg: LegAtState, weight: HangingWeight) -> ActingWeight:
        """A weight that hangs on a leg: what the tip bears by its potential, and the rest on its support."""
        gravity, tip = self.mechanism.gravity, leg.model.inputs[:3]
        moment, mass = (leg.at_tip(part) for part in (weight.moment, weight.mass))
        on_tip = leg.at_tip(ca.jacobian(weight.moment, tip)).T @ gravity
        body, support = (self.body(BodyEnd(leg.number, name)) for name in (weight.body, weight.support))
        placed = next(one for one in leg.model.placement.bodies if one.name == weight.support)
        origin = leg.at_tip(placed.frame.origin)
        pushes = Push(body, leg.series[0][:3], on_tip), Push(support, origin, mass * gravity - on_tip, works=False)
        return ActingWeight(-dot(gravity, moment), pushes)

    # -- between points ------------------------------------------------------------------------------------------------

    def _between(self, placed: PlacedElement) -> ActingElement:
        element, ends = placed.element, placed.ends
        assert ends is not None
        assert element.at is not None
        at = [ca.SX(row).T for row in ca.vertsplit(ca.SX(element.at))]
        first, second = (self.end(element.name, end, point) for end, point in zip(ends, at, strict=True))
        x1, x2 = first.point(at[0]), second.point(at[1])
        line = x2 - x1
        direction = getattr(element, "direction", None)
        if direction is not None:
            over = first.carried(vector(direction))
            length, home, stretch = dot(over, line), dot(vector(direction), at[1] - at[0]), ca.SX(1)
        else:
            length, home, over = norm(line), norm(at[1] - at[0]), line
            stretch = length
        # a direction that the first body carries turns with it: that body's point is taken where the second's is
        x1 = x1 if direction is None else x2
        # on the platform, rate and generalized force have the same lever
        unit2 = second.unit_force(at[1], over)
        unit1 = first.unit_force(at[0], over) if direction is None else None
        rate = (second.rate(x2, over, unit2) - first.rate(x1, over, unit1)) / stretch
        law = partial(element.static_force, s0=home)
        force = law(length)
        resistance = element.resistance(length, rate) if element.resists else ca.SX(0)
        size = (force + resistance) / stretch
        push = size * over
        pushes = (
            Push(second, x2, push, generalized=None if unit2 is None else size * unit2),
            Push(first, x1, -push, generalized=None if unit1 is None else -size * unit1),
        )
        potential, loss = element.potential(length, home), -resistance * rate
        return ActingElement(placed, length, rate, force + resistance, potential, loss, _on_moving(pushes), law)

    # -- in joints -----------------------------------------------------------------------------------------------------

    def _in_joint(self, placed: PlacedElement, end: JointEnd) -> ActingElement:
        leg = self.legs[end.leg]
        joint = leg.model.placement.joint(end.name)
        if self.mechanism.platform.elastic and "platform" in (joint.parent, joint.child):
            self.on_platform(placed.name, None, end.leg)
        measure = self.measure(end.leg, joint)
        if joint.kind == "spherical":
            return self._spherical(placed, joint, end, measure)
        s, rate, columns = measure.of(joint.kind, self.slide(leg, joint))
        element = placed.element
        if isinstance(element, Stop):
            element = element.within(*self._range(element, joint, leg, end.leg))
        return _joint_element(placed, element, measure, s, rate, columns)

    def _range(self, element: Stop, joint: Joint, leg: LegAtState, number: int) -> tuple[ca.SX, ca.SX]:
        """Lowest and highest displacements (k) of a joint from home, its own or those of the stop."""
        motions = COORDINATES[joint.kind]
        if element.range is not None:
            given = ca.SX(element.range) if len(motions) > 1 else ca.SX(element.range).T
            return given[:, 0], given[:, 1]
        low, high = [ca.SX(-_FREE)] * len(motions), [ca.SX(_FREE)] * len(motions)
        for limit in leg.model.placement.limits:
            if limit.joint == joint.name:
                home = self.at_home(number, limit.value)
                ends = [(ca.SX(end) - home) / limit.ratio for end in (limit.low, limit.high)]
                k = motions.index(limit.motion) if limit.motion else 0
                low[k], high[k] = ca.fmin(*ends), ca.fmax(*ends)
        return ca.vertcat(*low), ca.vertcat(*high)

    def _spherical(self, placed: PlacedElement, joint: Joint, end: JointEnd, measure: JointMeasure) -> ActingElement:
        element = placed.element
        rate = measure.spin
        if joint.spins_about is None:
            turned = rotation_vector(measure.relative_rotation)
            rate = measure.first.carried(ca.SX.eye(3)).T @ rate
            back = inverse_left_jacobian(turned).T
            frame = measure.first.carried(ca.SX.eye(3))
        else:
            # a rod's tilt is known, its spin is not: the shortest turn between its line and where that was at home
            _refuse_of_rods(placed)
            rod, home = self.legs[end.leg].at_tip(joint.spins_about), self.at_home(end.leg, joint.spins_about)
            frame, back = measure.first.carried(ca.SX.eye(3)), ca.SX.eye(3)
            turned = frame.T @ shortest_turn(measure.first.carried(home), measure.second.carried(home))
            rate = frame.T @ (rate - dot(rate, rod) * rod)
        law = partial(element.static_force, s0=ca.SX.zeros(3))
        force = law(turned)
        resistance = element.resistance(turned, rate)
        moment = frame @ (back @ force + resistance)
        pushes = (Push(measure.second, measure.point, None, moment), Push(measure.first, measure.point, None, -moment))
        potential = element.potential(turned, ca.SX.zeros(3))
        loss = -dot(resistance, rate)
        return ActingElement(placed, turned, rate, force + resistance, potential, loss, _on_moving(pushes), law)

    # -- bushings ------------------------------------------------------------------------------------------------------

    def _bushing(self, placed: PlacedElement, element: Bushing) -> ActingElement:
        assert placed.ends is not None
        if self.mechanism.platform.elastic and any(end.name == "platform" for end in placed.ends):
            self.on_platform(placed.name, None, 0)
        at = vector(element.at)
        first, second = (self.end(placed.name, end, at) for end in placed.ends)
        axes = ca.SX.eye(3) if element.axes is None else ca.SX(element.axes)
        x1, x2 = first.point(at), second.point(at)
        measure = JointMeasure(first, second, x2, at, [], [])
        frame = first.carried(axes)
        turned = axes.T @ rotation_vector(measure.relative_rotation)
        s = ca.vertcat(frame.T @ (x2 - x1), turned)
        rate = ca.vertcat(frame.T @ (second.velocity(x2) - first.velocity(x2)), frame.T @ measure.spin)
        law = partial(element.static_force, s0=ca.SX.zeros(6))
        force = law(s)
        resistance = element.resistance(s, rate) if element.resists else ca.SX.zeros(6)
        moved = force[:3] + resistance[:3]
        moment = frame @ (inverse_left_jacobian(turned).T @ force[3:] + resistance[3:])
        pushes = (Push(second, x2, frame @ moved, moment), Push(first, x2, -(frame @ moved), -moment))
        potential, loss = element.potential(s, ca.SX.zeros(6)), -dot(resistance, rate)
        return ActingElement(placed, s, rate, force + resistance, potential, loss, _on_moving(pushes), law)


def _refuse_of_rods(placed: PlacedElement) -> None:
    """Raise for what would turn a rod that spins freely about its line."""
    turning = [getattr(placed.element, name, None) for name in ("rest", "preload")]
    sizes = [getattr(placed.element, name, None) for name in ("stiffness", "damping")]
    if any(one is not None for one in turning) or any(one is not None and ca.SX(one).numel() > 1 for one in sizes):
        raise InputError(
            f"elements: {placed.name}: the rod in this spherical joint spins freely about its line, so only one "
            "stiffness and one damping of its tilt can be given; make one of its joints universal"
        )


def _on_moving(pushes: tuple[Push, ...]) -> tuple[Push, ...]:
    """Without those on the base."""
    return tuple(push for push in pushes if push.body.name != "base" or push.body.leg is not None)


def _joint_element(
    placed: PlacedElement, element: Any, measure: JointMeasure, s: ca.SX, rate: ca.SX, columns: list[tuple[ca.SX, bool]]
) -> ActingElement:
    """An element whose displacements are along and about axes that are perpendicular to each other, or one axis."""
    home = ca.SX.zeros(s.numel())
    law = partial(element.static_force, s0=home)
    force = law(s)
    resistance = element.resistance(s, rate) if element.resists else ca.SX.zeros(s.numel())
    whole = force + resistance
    push = turn = None
    for k, (axis, slides) in enumerate(columns):
        part = whole[k] * axis
        if slides:
            push = part if push is None else push + part
        else:
            turn = part if turn is None else turn + part
    pushes = (
        Push(measure.second, measure.point, push, turn),
        Push(measure.first, measure.point, None if push is None else -push, None if turn is None else -turn),
    )
    potential, loss = element.potential(s, home), -dot(resistance, rate)
    return ActingElement(placed, s, rate, whole, potential, loss, _on_moving(pushes), law)
