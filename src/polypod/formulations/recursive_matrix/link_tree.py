"""A leg as a tree of links, bodies with the joints that carry them: what Staicu's recursions run along.

The tree spans the leg's bodies from the base; a joint left over closes a loop, and the platform's joint closes the leg.
A universal joint is two hinges with a cross between them, massless unless the leg gives it a body.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ...errors import InputError
from ...legs import Joint
from ...legs.spanning import spanning
from ...mechanism import LegModel
from ...symbols.vectors import Frame, columns, cross
from .links import Link, LumpedInertia, basis, hinge_passing
from .samples import ConstantMatrix, Samples

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
                raise self.error(f"no joint carries the body {body.name!r}")

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

    def error(self, message: str) -> InputError:
        """An error about this leg."""
        instead = "use virtual-power, newton-euler or lagrange, which take any leg"
        return InputError(f"recursive-matrix: leg {self.model.name!r}: {message}; {instead}")

    def _at(self, number: int) -> tuple[Frame, str]:
        return (self.links[number].frame, self.links[number].name) if number >= 0 else (_BASE, "base")

    def _platform_joint(self) -> tuple[Joint, list[Joint]]:
        """The platform's joint, and the others; universal joints whose cross is a body are two hinges from here on."""
        joints: list[Joint] = []
        for joint in self.model.placement.joints:
            if joint.kind not in _ORDER:
                raise self.error(
                    f"joint {joint.name!r} is {joint.kind}: these recursions turn or slide, not both at once"
                )
            joints += self._hinges(joint) if joint.cross_body else [joint]
        at_platform = [j for j in joints if "platform" in (j.parent, j.child)]
        if len(at_platform) != 1:
            raise self.error(f"one joint at the platform is needed, got {[j.name for j in at_platform]}")
        tip = at_platform[0]
        offset = self.samples.fixed(tip.point - self._frames["platform"].origin, self.samples.length)
        if offset is None or offset.numbers.any():
            raise self.error(f"the platform's joint {tip.name!r} must be at the leg's attachment point")
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
                raise self.error(f"joints {loose} do not hang on the base")
            waiting.remove(joint)
            self._add(joint)
        for joint in closing:
            self._close(joint)

    def _close(self, joint: Joint) -> None:
        """A joint that closes a loop."""
        if joint.name in self.driven:
            raise self.error(
                f"joint {joint.name!r} is driven and closes a loop of driven joints; one joint of every loop must be "
                "passive, and neither driven nor a slide"
            )
        if joint.kind == "prismatic":
            raise self.error(f"slides and driven joints alone make a loop, {joint.name!r} among them")
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
            raise self.error(f"the two axes of universal joint {joint.name!r} must be perpendicular to each other")
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
            raise self.error(f"the {what} of joint {joint.name!r} moves in {body!r}, where it must stay")
        return value
