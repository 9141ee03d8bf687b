"""A body of a leg with the joint that carries it, in the terms of Staicu's recursions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ...errors import InputError
from ...legs import Joint, PlacedBody
from ...legs.spanning import spanning
from ...mechanism import LegModel
from ...symbols.vectors import Frame, columns, cross, dot, skew, unit
from .samples import ConstantMatrix, Samples

# A rod's zero moment moved to its end and back is rounding; it must not keep a product alive.
_ROUNDING = 1e-15


@dataclass(frozen=True)
class LumpedInertia:
    """Mass, first moment (3) and inertia tensor (3, 3) about a joint's centre A_k, body axes [kg, kg m, kg m^2].

    ``weight`` and ``weight_moment`` are mass and first moment of what has weight but no inertia.
    """

    mass: ca.SX
    first: ca.SX
    tensor: ca.SX
    weight: ca.SX
    weight_moment: ca.SX

    @staticmethod
    def of(
        bodies: Iterable[PlacedBody], frame: Frame, fixed: Callable[[ca.SX, bool], ca.SX], samples: Samples
    ) -> LumpedInertia:
        """All that is fastened to one frame; ``fixed`` gives a constant matrix, or a length if so said.

        With a body's axes T and origin r in the frame: s -> T s + m r,
        Sigma -> T Sigma T^T + (T s) r^T + r (T s)^T + m r r^T, and the tensor is tr(Sigma) 1 - Sigma.
        """
        mass, first, second = ca.SX(0), ca.SX.zeros(3), ca.SX.zeros(3, 3)
        weight, weight_moment = ca.SX(0), ca.SX.zeros(3)
        for body in bodies:
            own = body.moments
            turn = fixed(frame.axes.T @ body.frame.axes, False)
            offset = fixed(frame.axes.T @ (body.frame.origin - frame.origin), True)
            turned = turn @ own.first
            moment = turned + own.mass * offset
            if not body.has_inertia:
                weight, weight_moment = weight + own.mass, weight_moment + moment
                continue
            mass, first = mass + own.mass, first + moment
            second = second + turn @ own.second @ turn.T + turned @ offset.T + offset @ moment.T
        tensor = ca.trace(second) * ca.SX.eye(3) - second
        largest = float(np.abs(samples.values(tensor)).max())
        return LumpedInertia(mass, first, samples.snapped(tensor, _ROUNDING * largest, False), weight, weight_moment)


@dataclass(frozen=True)
class Link:
    """Body T_k of a leg with the ``joint`` A_k that carries it; ``parent`` is its carrier's number, -1 the base.

    ``free`` (3, f) are the joint's free directions u in the body's own axes: f is 1, or 3 for a spherical joint whose
    rates are the components of its angular velocity. ``first_rate`` is the number of its first rate. ``passing`` is
    a_{k,k-1}, from the carrier's axes to the body's; ``arm`` r_{k,k-1} from A_{k-1} to A_k in the carrier's axes.
    ``frame`` is A_k and the body's axes in the base.
    """

    name: str
    joint: str
    parent: int
    slides: bool
    free: ca.SX
    first_rate: int
    passing: ca.SX
    arm: ca.SX
    frame: Frame
    inertia: LumpedInertia

    @property
    def rates(self) -> slice:
        """Where its rates stand among the leg's."""
        return slice(self.first_rate, self.first_rate + int(self.free.size2()))


def hinge_passing(before: ca.SX, after: ca.SX, carriers: ca.SX, own: ca.SX) -> ca.SX:
    """Passing matrix of a hinge as Staicu's a^phi times constants (2), from bases that begin with its axis.

    a t = s; a t2 = cos s2 - sin s3; a t3 = sin s2 + cos s3 with (t, t2, t3) the carrier's and (s, s2, s3) its own.
    """
    if before.is_constant():
        return after.T @ before
    second = after @ own[:, 1]
    cosine, sine = ca.dot(second, before @ carriers[:, 1]), ca.dot(second, before @ carriers[:, 2])
    turn = ca.SX.eye(3)
    turn[1, 1], turn[1, 2], turn[2, 1], turn[2, 2] = cosine, sine, -sine, cosine
    return own @ turn @ carriers.T


def basis(axis: ConstantMatrix, samples: Samples) -> ca.SX:
    """A right-handed basis of columns that begins with a unit vector; coordinate axes stay coordinate axes."""
    numbers = axis.numbers.ravel()
    place = int(np.argmax(np.abs(numbers)))
    if abs(numbers[place]) == 1.0 and axis.symbols.is_constant():
        second = ca.SX(ca.DM(np.roll(np.eye(3)[place], 1)))
    else:
        second = unit(cross(axis.symbols, ca.SX(ca.DM(np.eye(3)[(place + 1) % 3]))))
    return samples.snapped(columns(axis.symbols, second, cross(axis.symbols, second)))


# ----------------------------------------------------------------------------------------------------------------------
# A leg as a tree of links, bodies with the joints that carry them: what Staicu's recursions run along.
#
# The tree spans the leg's bodies from the base; a joint left over closes a loop, and the platform's joint closes
# the leg.
# A universal joint is two hinges with a cross between them, massless unless the leg gives it a body.

_EYE = ca.SX(ca.DM.eye(3))
_BASE = Frame(ca.SX.zeros(3), _EYE)
# Loops are cut at the joints that leave the most degrees of freedom: their conditions are the fewest.
_ORDER = ("prismatic", "revolute", "universal", "spherical")


class LinkTree:
    """The links of one leg in order from the base, the joints that close its loops, and the platform's joint.

    ``index`` gives the place of a body among ``links``, -1 for the base.

    ``welded`` takes the platform's joint into the tree too, with a massless copy of the platform as the last link.
    """

    def __init__(self, model: LegModel, samples: Samples, welded: bool = False) -> None:
        self.model, self.samples, self.welded = model, samples, welded
        self.links: list[Link] = []
        self.index = {"base": -1}
        self.loops: list[Joint] = []
        self.driven = {actuator.joint for actuator in model.actuators}
        inputs = model.all_inputs
        self._frames = {body.name: body.frame for body in model.placement.bodies}
        self._frames["platform"] = Frame(inputs[:3], ca.reshape(inputs[3:], 3, 3))
        self.tip, joints = self._platform_joint()
        self._grow(joints)
        if welded:
            self._add(self.tip)
        ends = (self.tip.parent, self.tip.child)
        self.last = self.index["platform" if welded else ends[ends[0] == "platform"]]
        self._check_tip(ends)
        for body in model.placement.bodies:
            if (body.on or body.name) not in self.index:
                raise self.error(f"no joint carries the body {body.name!r}", "loose_body")

    @property
    def count(self) -> int:
        """Number n of rates."""
        return self.links[-1].rates.stop if self.links else 0

    def rates_of(self, joint: str) -> list[int]:
        """The numbers of a joint's rates in the tree; a joint that closes a loop lacks one or all of them."""
        slices = [link.rates for link in self.links if link.joint == joint]
        return [k for rates in slices for k in range(rates.start, rates.stop)]

    def arm_to(self, number: int, joint: Joint) -> ca.SX:
        """From A_k of a link (-1: from the base's origin) to a joint's centre, in the link's axes."""
        frame, name = self._at(number)
        return self._fixed(frame.axes.T @ (joint.point - frame.origin), joint, "centre", name, length=True).symbols

    def basis_in(self, number: int, joint: Joint) -> ca.SX:
        """A basis in a link's axes that begins with a joint's axis."""
        frame, name = self._at(number)
        return basis(self._fixed(frame.axes.T @ joint.axes[0], joint, "axis", name), self.samples)

    def axes_of(self, number: int) -> ca.SX:
        """Axes of a link in the base."""
        return self._at(number)[0].axes

    def error(self, message: str, code: str) -> InputError:
        """An error about this leg."""
        instead = "use virtual-power, newton-euler or lagrange, which support any leg"
        return InputError(f"recursive-matrix: leg {self.model.name!r}: {message}; {instead}", code=code)

    def _at(self, number: int) -> tuple[Frame, str]:
        return (self.links[number].frame, self.links[number].name) if number >= 0 else (_BASE, "base")

    def _platform_joint(self) -> tuple[Joint, list[Joint]]:
        """The platform's joint, and the others; universal joints whose cross is a body are two hinges from here on."""
        joints: list[Joint] = []
        for joint in self.model.placement.joints:
            if joint.kind not in _ORDER:
                raise self.error(
                    f"joint {joint.name!r} is {joint.kind}: this formulation supports joints that either rotate "
                    "or slide",
                    "joint_kind",
                )
            joints += self._hinges(joint) if joint.cross_body else [joint]
        at_platform = [j for j in joints if "platform" in (j.parent, j.child)]
        if len(at_platform) != 1:
            raise self.error(
                f"needs exactly one joint at the platform, got {[j.name for j in at_platform]}", "platform_joints"
            )
        tip = at_platform[0]
        offset = self.samples.fixed(tip.point - self._frames["platform"].origin, self.samples.length)
        if offset is None or offset.numbers.any():
            raise self.error(f"the platform's joint {tip.name!r} must be at the leg's attachment point", "attachment")
        return tip, [j for j in joints if j is not tip]

    def _check_tip(self, ends: tuple[str, str]) -> None:
        """The platform's joint must hold what it says it holds, in the tree or not."""
        axes = self.tip.axes if self.tip.kind in ("revolute", "universal") else ()
        for axis, body in zip((axes[0], axes[-1]) if axes else (), ends, strict=False):
            turned = _EYE if body == "base" else self._frames[body].axes
            self._fixed(turned.T @ axis, self.tip, "axis", body)

    def _grow(self, joints: list[Joint]) -> None:
        """The spanning tree with the driven joints in it and the freest ones out; what is left over closes loops."""
        joints = sorted(joints, key=lambda j: (j.name not in self.driven, _ORDER.index(j.kind)))
        waiting, closing = spanning(joints, [(j.parent, j.child) for j in joints])
        while waiting:
            joint = next((j for j in waiting if j.parent in self.index or j.child in self.index), None)
            if joint is None:
                loose = [j.name for j in joints if not {j.parent, j.child} & self.index.keys()]
                raise self.error(f"joints {loose} are not connected to the base", "unconnected")
            waiting.remove(joint)
            self._add(joint)
        for joint in closing:
            self._close(joint)

    def _close(self, joint: Joint) -> None:
        """A joint that closes a loop."""
        if joint.name in self.driven:
            raise self.error(
                f"joint {joint.name!r} is actuated and closes a loop of actuated joints; every loop needs one "
                "passive joint that does not slide",
                "driven_loop",
            )
        if joint.kind == "prismatic":
            raise self.error(
                f"a loop consists of slides and actuated joints only, {joint.name!r} among them", "driven_loop"
            )
        if joint.kind == "universal":
            # Its cross stays in the tree; its second hinge closes the loop.
            hinge, joint = self._hinges(joint)
            self._add(hinge)
        self.loops.append(joint)

    def _hinges(self, joint: Joint) -> list[Joint]:
        """A universal joint as two hinges on its cross, perpendicular to each other."""
        first, second = joint.axes
        slant = self.samples.fixed(ca.dot(first, second))
        if slant is None or slant.numbers.any():
            raise self.error(
                f"the two axes of universal joint {joint.name!r} must be perpendicular to each other",
                "not_perpendicular",
            )
        name = joint.cross_body or f"cross of {joint.name}"
        self._frames.setdefault(name, Frame(joint.point, columns(first, second, cross(first, second))))
        hinge = replace(joint, kind="revolute", cross_body="")
        return [replace(hinge, child=name, axes=(first,)), replace(hinge, parent=name, axes=(second,))]

    def _add(self, joint: Joint) -> None:
        """A joint of the tree with the body it carries."""
        if joint.kind == "universal":
            hinges = self._hinges(joint)
            for hinge in hinges if joint.parent in self.index else reversed(hinges):
                self._add(hinge)
            return
        if joint.parent not in self.index:
            # The same joint seen from its other end: its displacement is the parent's against the axis.
            joint = replace(joint, parent=joint.child, child=joint.parent, axes=tuple(-axis for axis in joint.axes))
        name, parent = joint.child, self.index[joint.parent]
        before, slides, body = self._at(parent)[0], joint.kind == "prismatic", self._frames[name]
        frame = Frame(body.origin if slides else joint.point, body.axes)
        free, passing = self._turned(joint, before, frame)
        arm = self.samples.fold_constants(before.axes.T @ (frame.origin - before.origin))
        if slides:
            along = passing.T @ free
            self._fixed(arm - along @ (along.T @ arm), joint, "line", joint.parent, length=True)
        else:
            arm = self._fixed(arm, joint, "centre", joint.parent, length=True).symbols

        def fixed(expression: ca.SX, length: bool) -> ca.SX:
            return self._fixed(expression, joint, "body", name, length).symbols

        bodies = [b for b in self.model.placement.bodies if name in (b.name, b.on)]
        inertia = LumpedInertia.of(bodies, frame, fixed, self.samples)
        self.links.append(Link(name, joint.name, parent, slides, free, self.count, passing, arm, frame, inertia))
        self.index[name] = len(self.links) - 1

    def _turned(self, joint: Joint, before: Frame, frame: Frame) -> tuple[ca.SX, ca.SX]:
        """Free directions in the body's axes, and the passing matrix."""
        if joint.kind == "spherical":
            return _EYE, frame.axes.T @ before.axes
        own = self._fixed(frame.axes.T @ joint.axes[0], joint, "axis", joint.child)
        carriers = self._fixed(before.axes.T @ joint.axes[0], joint, "axis", joint.parent)
        if joint.kind == "prismatic":
            fixed = self._fixed(frame.axes.T @ before.axes, joint, "other body", joint.parent)
            return own.symbols, fixed.symbols
        bases = basis(carriers, self.samples), basis(own, self.samples)
        return own.symbols, hinge_passing(before.axes, frame.axes, *bases)

    def _fixed(self, expression: ca.SX, joint: Joint, what: str, body: str, length: bool = False) -> ConstantMatrix:
        """A constant, or an error that says what of the joint moves where it must not."""
        value = self.samples.fixed(expression, self.samples.length if length else 1.0)
        if value is None:
            raise self.error(
                f"the {what} of joint {joint.name!r} moves in {body!r}, where it must be fixed",
                f"moving_{what.split()[-1]}",
            )
        return value


# ----------------------------------------------------------------------------------------------------------------------
# Staicu's recursions over the bodies of a leg, (10)-(13) outwards and (18) back, every vector in its body's axes.
#
# Corrected as printed forms need: (13) carries on the acceleration of the body before, not that of the joint; (18)
# sums
# over all bodies that a body carries. They hold for hinges, slides and spherical joints alike.

_ZERO = ca.SX.zeros(3)


@dataclass(frozen=True)
class Velocity:
    """Absolute angular velocity omega_k0 and velocity v_k0 of the joint A_k, columns for several motions at once."""

    omega: ca.SX
    v: ca.SX


@dataclass(frozen=True)
class Acceleration:
    """Angular acceleration eps_k0, acceleration gamma_k0 of A_k, and B_k = omega~ omega~ + eps~."""

    epsilon: ca.SX
    gamma: ca.SX
    turning: ca.SX

    def at(self, arm: ca.SX) -> ca.SX:
        """Acceleration of the body's point at ``arm`` from A_k."""
        return self.gamma + self.turning @ arm


@dataclass(frozen=True)
class Load:
    """A force and a moment about A_k that a body needs, in its axes."""

    force: ca.SX
    moment: ca.SX


def turning(omega: ca.SX, epsilon: ca.SX) -> ca.SX:
    """B = omega~ omega~ + eps~: (13) line 2 follows from lines 1 and (11)."""
    return skew(epsilon) + omega @ omega.T - dot(omega, omega) * ca.SX.eye(3)


def velocities(links: Sequence[Link], rates: ca.SX) -> list[Velocity]:
    """omega_k = a omega_{k-1} + u thetadot (11); v_k = a (v_{k-1} + omega_{k-1} x r) (12), + u qdot for a slide.

    ``rates`` (n, c): the unit matrix gives the virtual velocities of (17), a column the velocities themselves.
    """
    result: list[Velocity] = []
    for link in links:
        own = link.free @ rates[link.rates, :]
        if link.parent < 0:
            none = ca.SX.zeros(3, rates.size2())
            result.append(Velocity(none, own) if link.slides else Velocity(own, none))
            continue
        before = result[link.parent]
        omega = link.passing @ before.omega
        v = link.passing @ (before.v - skew(link.arm) @ before.omega)
        result.append(Velocity(omega, v + own) if link.slides else Velocity(omega + own, v))
    return result


def accelerations(
    links: Sequence[Link], moving: Sequence[Velocity], rates: ca.SX, second: ca.SX, base: ca.SX
) -> list[Acceleration]:
    """(13): eps_k = a eps_{k-1} + u thetaddot + (a omega_{k-1}) x u thetadot, gamma_k = a (gamma_{k-1} + B_{k-1} r).

    A slide adds u qddot + 2 (a omega_{k-1}) x u qdot to gamma. ``base`` is the base's acceleration: -g instead of the
    weights f*, m* of (18).
    """
    result: list[Acceleration] = []
    start = Acceleration(_ZERO, base, ca.SX.zeros(3, 3))
    for link, velocity in zip(links, moving, strict=True):
        before = result[link.parent] if link.parent >= 0 else start
        carried = link.passing @ moving[link.parent].omega if link.parent >= 0 else _ZERO
        own, rate = link.free @ second[link.rates], link.free @ rates[link.rates]
        epsilon = link.passing @ before.epsilon
        gamma = link.passing @ before.at(link.arm)
        if link.slides:
            gamma = gamma + own + 2 * cross(carried, rate)
        else:
            epsilon = epsilon + own + cross(carried, rate)
        result.append(Acceleration(epsilon, gamma, turning(velocity.omega, epsilon)))
    return result


def inertia_load(mass: ca.SX, first: ca.SX, tensor: ca.SX, omega: ca.SX, moved: Acceleration) -> Load:
    """F_k0 = m gamma + B m r_C, M_k0 = m r_C x gamma + J eps + omega x J omega (18), about A_k."""
    force = mass * moved.gamma + moved.turning @ first
    moment = cross(first, moved.gamma) + tensor @ moved.epsilon + cross(omega, tensor @ omega)
    return Load(force, moment)


def own_load(link: Link, velocity: Velocity, moved: Acceleration, base: ca.SX) -> Load:
    """What inertia and weight of one body ask for, (18) lines 3-6."""
    inertia = link.inertia
    load = inertia_load(inertia.mass, inertia.first, inertia.tensor, velocity.omega, moved)
    if inertia.weight.is_zero():
        return load
    lift = link.frame.axes.T @ base
    return Load(load.force + inertia.weight * lift, load.moment + cross(inertia.weight_moment, lift))


def joint_forces(links: Sequence[Link], loads: Sequence[Load]) -> ca.SX:
    """Force or moment along every free direction, (n): u^T F_k of a slide, u^T M_k of a hinge.

    F_k = F_k0 + sum a^T F_c, M_k = M_k0 + sum (a^T M_c + r x a^T F_c) over the bodies c that body k carries (18).
    """
    total = list(loads)
    result = ca.SX.zeros(links[-1].rates.stop)
    for place in range(len(links) - 1, -1, -1):
        link, load = links[place], total[place]
        result[link.rates] = link.free.T @ (load.force if link.slides else load.moment)
        if link.parent >= 0:
            force, moment = link.passing.T @ load.force, link.passing.T @ load.moment
            carrier = total[link.parent]
            total[link.parent] = Load(carrier.force + force, carrier.moment + moment + cross(link.arm, force))
    return result
