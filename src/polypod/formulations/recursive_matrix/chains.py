"""A leg as a tree of bodies, each with the joint that carries it: what Staicu's recursions run along.

The tree grows from the base over the leg's joints; a joint between two bodies already reached closes a loop, and the
platform's joint closes the leg. A universal joint is two hinges with a cross between them, massless unless the leg
gives it a body.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ...errors import InputError
from ...legs import Joint
from ...mechanism import LegModel
from ...symbols.vectors import Frame, columns, cross
from .links import Bulk, Link, hinge_passing
from .samples import Array, Samples

_EYE = ca.SX(ca.DM.eye(3))
_BASE = Frame(ca.SX.zeros(3), _EYE)
# Loops are cut at the joints that leave the most freedom: their conditions are the fewest.
_ORDER = ("prismatic", "revolute", "universal", "spherical")


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
        ends = (self.tip.parent, self.tip.child)
        self.last = self.places["platform" if welded else ends[ends[0] == "platform"]]
        self._check_tip(ends)
        for body in model.placement.bodies:
            if (body.on or body.name) not in self.places:
                raise self._error(f"no joint carries the body {body.name!r}")

    @property
    def count(self) -> int:
        """Number n of rates."""
        return self.links[-1].rates.stop if self.links else 0

    def arm_to(self, place: int, joint: Joint) -> ca.SX:
        """From A_k of a link (-1: from the base's origin) to a joint's centre, in the link's axes."""
        frame, name = self._at(place)
        return self._fixed(frame.axes.T @ (joint.point - frame.origin), joint, "centre", name, length=True)

    def axis_in(self, place: int, joint: Joint) -> ca.SX:
        """A joint's axis in a link's axes."""
        frame, name = self._at(place)
        return self._fixed(frame.axes.T @ joint.axes[0], joint, "axis", name)

    def axes_of(self, place: int) -> ca.SX:
        """Axes of a link in the base."""
        return self._at(place)[0].axes

    def _at(self, place: int) -> tuple[Frame, str]:
        return (self.links[place].frame, self.links[place].name) if place >= 0 else (_BASE, "base")

    def _platform_joint(self) -> tuple[Joint, list[Joint]]:
        """The platform's joint, and the others; universal joints whose cross is a body are two hinges from here on."""
        joints: list[Joint] = []
        for joint in self.model.placement.joints:
            joints += self._hinges(joint) if joint.cross else [joint]
        at_platform = [j for j in joints if "platform" in (j.parent, j.child)]
        if len(at_platform) != 1:
            raise self._error(f"one joint at the platform is needed, got {[j.name for j in at_platform]}")
        tip = at_platform[0]
        offset = self.samples.fixed(tip.point - self._frames["platform"].origin, self.samples.length)
        if offset is None or offset.any():
            raise self._error(f"the platform's joint {tip.name!r} must be at the leg's attachment point")
        return tip, [j for j in joints if j is not tip]

    def _check_tip(self, ends: tuple[str, str]) -> None:
        """The platform's joint must hold what it says it holds, in the tree or not."""
        axes = self.tip.axes if self.tip.kind in ("revolute", "universal") else ()
        for axis, body in zip((axes[0], axes[-1]) if axes else (), ends, strict=False):
            turned = _EYE if body == "base" else self._frames[body].axes
            self._fixed(turned.T @ axis, self.tip, "axis", body)

    def _grow(self, joints: list[Joint]) -> None:
        """The spanning tree from the base; what is left over closes loops."""
        waiting = sorted(joints, key=lambda j: _ORDER.index(j.kind))
        while waiting:
            reached = [(j.parent in self.places) + (j.child in self.places) for j in waiting]
            ends = 1 if 1 in reached else 2
            if ends not in reached:
                raise self._error(f"joints {[j.name for j in waiting]} do not hang on the base")
            joint = waiting.pop(reached.index(ends))
            if ends == 1:
                self._add(joint)
            elif joint.kind == "prismatic":
                raise self._error(f"slides alone make a loop, {joint.name!r} among them")
            elif joint.kind == "universal":
                # Its cross stays in the tree; its second hinge closes the loop.
                hinge, closing = self._hinges(joint)
                self._add(hinge)
                self.loops.append(closing)
            else:
                self.loops.append(joint)

    def _hinges(self, joint: Joint) -> list[Joint]:
        """A universal joint as two hinges on its cross, square to each other."""
        first, second = joint.axes
        slant = self.samples.fixed(ca.dot(first, second))
        if slant is None or slant.any():
            raise self._error(f"the two axes of universal joint {joint.name!r} must be square to each other")
        name = joint.cross or f"cross of {joint.name}"
        self._frames.setdefault(name, Frame(joint.point, columns(first, second, cross(first, second))))
        hinge = replace(joint, kind="revolute", cross="")
        return [replace(hinge, child=name, axes=(first,)), replace(hinge, parent=name, axes=(second,))]

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
        before, slides, body = self._at(parent)[0], joint.kind == "prismatic", self._frames[name]
        frame = Frame(body.origin if slides else joint.point, body.axes)
        free, passing = self._turned(joint, carrier, name, before, frame)
        arm = self.samples.settled(before.axes.T @ (frame.origin - before.origin))
        if slides:
            along = passing.T @ free
            self._fixed(arm - along @ (along.T @ arm), joint, "line", carrier, length=True)
        else:
            arm = self._fixed(arm, joint, "centre", carrier, length=True)

        def fixed(expression: ca.SX, length: bool) -> Array:
            return np.array(ca.DM(self._fixed(expression, joint, "body", name, length)))

        bodies = [b for b in self.model.placement.bodies if name in (b.name, b.on)]
        bulk = Bulk.of(bodies, frame, fixed)
        self.links.append(Link(name, joint.name, parent, slides, free, self.count, passing, arm, frame, bulk))
        self.places[name] = len(self.links) - 1

    def _turned(self, joint: Joint, carrier: str, name: str, before: Frame, frame: Frame) -> tuple[ca.SX, ca.SX]:
        """Free directions in the body's axes, and the passing matrix."""
        if joint.kind == "spherical":
            return _EYE, frame.axes.T @ before.axes
        own = self._fixed(frame.axes.T @ joint.axes[0], joint, "axis", name)
        carriers = self._fixed(before.axes.T @ joint.axes[0], joint, "axis", carrier)
        if joint.kind == "prismatic":
            return own, self._fixed(frame.axes.T @ before.axes, joint, "other body", carrier)
        return own, hinge_passing(before.axes, frame.axes, carriers, own)

    def _fixed(self, expression: ca.SX, joint: Joint, what: str, body: str, length: bool = False) -> ca.SX:
        """A constant, or an error that says what of the joint moves where it must not."""
        value = self.samples.fixed(expression, self.samples.length if length else 1.0)
        if value is None:
            raise self._error(f"the {what} of joint {joint.name!r} moves in {body!r}, where it must stay")
        return ca.SX(ca.DM(value))

    def _error(self, message: str) -> InputError:
        return InputError(f"recursive-matrix: leg {self.model.name!r}: {message}")
