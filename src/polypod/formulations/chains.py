"""A leg as a tree of bodies, each with the joint that carries it: what Staicu's recursions run along.

The tree grows from the base over the leg's joints; a joint between two bodies already reached closes a loop, and the
platform's joint closes the leg. A universal joint is two hinges with a cross between them, massless unless the leg
gives it a body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ..errors import InputError
from ..legs import Joint, PlacedBody
from ..mechanism import LegModel
from ..symbols.vectors import Frame, columns, cross
from .samples import Array, Samples

_EYE = ca.SX(ca.DM.eye(3))
# Loops are cut at the joints that leave the most freedom: their conditions are the fewest.
_ORDER = ("prismatic", "revolute", "universal", "spherical")


@dataclass(frozen=True)
class Link:
    """Body T_k of a leg with the ``joint`` A_k that carries it; ``parent`` is its carrier's number, -1 the base.

    ``free`` (3, f) are the joint's free directions u in the body's own axes: f is 1, or 3 for a spherical joint whose
    rates are the components of its angular velocity. ``first`` is the number of its first rate. ``passing`` is
    a_{k,k-1}, from the carrier's axes to the body's; ``arm`` r_{k,k-1} from A_{k-1} to A_k in the carrier's axes.
    ``frame`` is A_k and the body's axes in the base. Inertia is about A_k in the body's axes [kg, kg m, kg m^2];
    ``weight`` is the mass and first moment of what has weight but no inertia.
    """

    name: str
    joint: str
    parent: int
    slides: bool
    free: ca.SX
    first: int
    passing: ca.SX
    arm: ca.SX
    frame: Frame
    mass: float
    first_moment: Array
    inertia: Array
    weight: tuple[float, Array]

    @property
    def rates(self) -> slice:
        """Where its rates stand among the leg's."""
        return slice(self.first, self.first + int(self.free.size2()))


class Chain:
    """The links of one leg in order from the base, the joints that close its loops, and the platform's joint.

    ``welded`` takes the platform's joint into the tree too, with a massless copy of the platform as the last link.
    """

    def __init__(self, model: LegModel, samples: Samples, welded: bool = False) -> None:
        self.model, self.samples, self.welded = model, samples, welded
        self.links: list[Link] = []
        self.places = {"base": -1}
        self.loops: list[Joint] = []
        inputs = model.all_inputs
        self._frames = {body.name: body.frame for body in model.placement.bodies}
        self._frames["platform"] = Frame(inputs[:3], ca.reshape(inputs[3:], 3, 3))
        self.tip, joints = self._platform_joint()
        self._grow(joints)
        if welded:
            self._add(self.tip)
        side = self.tip.parent if self.tip.child == "platform" else self.tip.child
        self.last = self.places["platform" if welded else side]
        self._check_bodies()
        self.count = self.links[-1].rates.stop

    def _platform_joint(self) -> tuple[Joint, list[Joint]]:
        """The platform's joint, and the others; universal joints whose cross is a body are two hinges from here on."""
        joints: list[Joint] = []
        for joint in self.model.placement.joints:
            joints += self._hinges(joint, joint.cross) if joint.cross else [joint]
        at_platform = [j for j in joints if "platform" in (j.parent, j.child)]
        if len(at_platform) != 1:
            found = [j.name for j in at_platform] or "none"
            raise InputError(f"recursive-matrix: {self.model.name} needs one joint at the platform, got {found}")
        return at_platform[0], [j for j in joints if j is not at_platform[0]]

    def _grow(self, joints: list[Joint]) -> None:
        """The spanning tree from the base; what is left over closes loops."""
        waiting = sorted(joints, key=lambda j: _ORDER.index(j.kind))
        while waiting:
            reached = [(j.parent in self.places) + (j.child in self.places) for j in waiting]
            closing = [j for j, ends in zip(waiting, reached, strict=True) if ends == 2]
            ready = [j for j, ends in zip(waiting, reached, strict=True) if ends == 1]
            if ready:
                self._add(ready[0])
                waiting.remove(ready[0])
            elif closing:
                waiting.remove(closing[0])
                self._close(closing[0])
            else:
                names = [j.name for j in waiting]
                raise InputError(f"recursive-matrix: joints {names} of {self.model.name} do not hang on the base")

    def _close(self, joint: Joint) -> None:
        """A joint that closes a loop: a universal one leaves its cross in the tree and closes with its second hinge."""
        if joint.kind == "prismatic":
            raise InputError(
                f"recursive-matrix: {self.model.name} has a loop of slides alone, closed by {joint.name!r}"
            )
        if joint.kind == "universal":
            hinge, joint = self._hinges(joint)
            self._add(hinge)
        self.loops.append(joint)

    def _hinges(self, joint: Joint, cross_name: str = "") -> list[Joint]:
        """A universal joint as two hinges on its cross, square to each other."""
        first, second = joint.axes
        name = cross_name or f"cross of {joint.name}"
        if not cross_name:
            self._frames[name] = Frame(joint.point, columns(first, second, cross(first, second)))
        one = replace(joint, kind="revolute", child=name, axes=(first,), cross="")
        two = replace(
            joint, kind="revolute", parent=name, axes=(second,), cross="", name=f"second axis of {joint.name}"
        )
        return [one, two]

    def _add(self, joint: Joint) -> None:
        """A joint of the tree with the body it carries."""
        if joint.kind == "universal":
            hinges = self._hinges(joint)
            for hinge in hinges if joint.parent in self.places else reversed(hinges):
                self._add(hinge)
            return
        forwards = joint.parent in self.places
        carrier, name = (joint.parent, joint.child) if forwards else (joint.child, joint.parent)
        parent = self.places[carrier]
        before = self.links[parent].frame if parent >= 0 else Frame(ca.SX.zeros(3), _EYE)
        body = self._frames[name]
        slides = joint.kind == "prismatic"
        frame = Frame(body.origin if slides else joint.point, body.axes)
        free, passing = self._turned(joint, carrier, name, before, frame)
        arm = self.samples.settled(before.axes.T @ (frame.origin - before.origin))
        if not slides:
            arm = self._fixed(arm, joint, "centre", carrier, self.samples.length)
        elif (
            self.samples.fixed(arm - free_in(passing, free) @ (free_in(passing, free).T @ arm), self.samples.length)
            is None
        ):
            raise InputError(f"recursive-matrix: {self.model.name}: {joint.name!r} does not slide along its axis")
        mass, first_moment, inertia, weight = self._inertia(name, joint, frame)
        viscous = float(getattr(self.model.leg, joint.friction).viscous) if joint.friction else 0.0
        self.places[name] = len(self.links)
        first = self.links[-1].rates.stop if self.links else 0
        self.links.append(
            Link(name, parent, slides, free, first, passing, arm, frame, mass, first_moment, inertia, weight, viscous)
        )

    def _turned(self, joint: Joint, carrier: str, name: str, before: Frame, frame: Frame) -> tuple[ca.SX, ca.SX]:
        """Free directions in the body's axes, and the passing matrix."""
        if joint.kind == "spherical":
            return _EYE, frame.axes.T @ before.axes
        own = self._fixed(frame.axes.T @ joint.axes[0], joint, "axis", name)
        carriers = self._fixed(before.axes.T @ joint.axes[0], joint, "axis", carrier)
        if joint.kind == "prismatic":
            return own, self._fixed(frame.axes.T @ before.axes, joint, "child", carrier)
        return own, hinge_passing(before.axes, frame.axes, carriers, own)

    def _fixed(self, expression: ca.SX, joint: Joint, what: str, body: str, scale: float = 1.0) -> ca.SX:
        """A constant, or an error that says what of the joint moves where it must not."""
        value = self.samples.fixed(expression, scale)
        if value is None:
            raise InputError(
                f"recursive-matrix: {self.model.name}: the {what} of joint {joint.name!r} moves in {body!r}"
            )
        return ca.SX(ca.DM(value))

    def fixed_in(self, place: int, joint: Joint) -> ca.SX:
        """From A_k of a link to a joint's centre, in the link's axes."""
        link = self.links[place] if place >= 0 else None
        origin, axes = (link.frame.origin, link.frame.axes) if link else (ca.SX.zeros(3), _EYE)
        name = link.name if link else "base"
        return self._fixed(axes.T @ (joint.point - origin), joint, "centre", name, self.samples.length)

    def fixed_direction(self, place: int, joint: Joint) -> ca.SX:
        """A hinge's axis in a link's axes."""
        link = self.links[place] if place >= 0 else None
        axes, name = (link.frame.axes, link.name) if link else (_EYE, "base")
        return self._fixed(axes.T @ joint.axes[0], joint, "axis", name)

    def _bodies(self, name: str) -> Iterator[PlacedBody]:
        """A body and what is fastened to it."""
        for body in self.model.placement.bodies:
            if name in (body.name, body.on):
                yield body

    def _inertia(self, name: str, joint: Joint, frame: Frame) -> tuple[float, Array, Array, tuple[float, Array]]:
        """Mass, first moment and inertia of a body about its joint, in its axes; and what only has weight."""
        mass, first, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        weight, weight_moment = 0.0, np.zeros(3)
        for body in self._bodies(name):
            data = body.inertia
            turn = np.array(ca.DM(self._fixed(frame.axes.T @ body.frame.axes, joint, "body", name)))
            shift = self._fixed(
                frame.axes.T @ (body.frame.origin - frame.origin), joint, "body", name, self.samples.length
            )
            com = np.array(ca.DM(shift)).ravel() + turn @ np.array(data.com)
            if not body.has_inertia:
                weight, weight_moment = weight + data.mass, weight_moment + data.mass * com
                continue
            mass, first = mass + data.mass, first + data.mass * com
            central = turn @ data.central_inertia @ turn.T
            inertia = inertia + central + data.mass * (com @ com * np.eye(3) - np.outer(com, com))
        # Rounding (a rod's zero moment moved to its end and back) must not keep a product alive.
        inertia[np.abs(inertia) < 1e-15 * np.abs(inertia).max()] = 0.0
        return mass, first, inertia, (weight, weight_moment)

    def _check_bodies(self) -> None:
        for body in self.model.placement.bodies:
            if (body.on or body.name) not in self.places:
                raise InputError(f"recursive-matrix: no joint of {self.model.name} carries the body {body.name!r}")


def hinge_passing(before: ca.SX, after: ca.SX, t: ca.SX, s: ca.SX) -> ca.SX:
    """Passing matrix of a hinge, axis t in the carrier's axes and s in its own, as Staicu's a^phi times constants (2).

    a t = s; a t2 = cos s2 - sin s3; a t3 = sin s2 + cos s3 with (t, t2, t3) and (s, s2, s3) right-handed.
    """
    if before.is_constant():
        return after.T @ before
    own, carriers = (_basis(np.array(ca.DM(axis)).ravel()) for axis in (s, t))
    second = after @ ca.SX(ca.DM(own[:, 1]))
    cosine = ca.dot(second, before @ ca.SX(ca.DM(carriers[:, 1])))
    sine = ca.dot(second, before @ ca.SX(ca.DM(carriers[:, 2])))
    turn = ca.SX.eye(3)
    turn[1, 1], turn[1, 2], turn[2, 1], turn[2, 2] = cosine, sine, -sine, cosine
    return ca.SX(ca.DM(own)) @ turn @ ca.SX(ca.DM(carriers.T))


def _basis(axis: Array) -> Array:
    """A right-handed basis of columns that begins with a unit vector; coordinate axes stay coordinate axes."""
    place = int(np.argmax(np.abs(axis)))
    if abs(axis[place]) == 1.0:
        second = np.roll(np.eye(3)[place], 1)
    else:
        second = np.cross(axis, np.eye(3)[(place + 1) % 3])
        second = second / np.linalg.norm(second)
    return np.column_stack([axis, second, np.cross(axis, second)])
