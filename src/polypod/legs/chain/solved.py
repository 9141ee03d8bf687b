"""A chain whose bodies are placed by the closed forms of their joints, one after the other; joints without are
unknowns.

Each pattern is one equation A cos + B sin = D or one square root, on the branch that is drawn at home; the rest are
directions to known points. Frames have an axis along what a body reaches for, so that this direction is that axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from ...symbols.vectors import Frame, cross, dot, norm, total, unit, vector
from ..contract import Condition
from .patterns import ClosedFormStep
from .place import ChainBody, Choices, PlacedChain
from .plan import Edge, Plan


@dataclass(frozen=True)
class Row:
    """Joints in line: their edges outward, what each turns about the line, and cosine and sine of all together."""

    edges: list[Edge]
    turns: dict[int, ca.SX]
    cosine: ca.SX
    sine: ca.SX

    def turned(self, edge: Edge) -> ca.SX:
        """What the child of a joint has turned about the line."""
        return total([self.turns[one.joint] for one in self.edges[: self.edges.index(edge) + 1]], (1, 1))


class SolvedChain(PlacedChain):
    """A chain whose tree joints are solved by ``closed_forms``; those without one have unknown coordinates."""

    def __init__(
        self,
        leg: Any,
        plan: Plan,
        choices: Choices,
        closed_forms: dict[int, ClosedFormStep],
        tip: Frame,
        attached: Frame,
    ) -> None:
        self._closed_forms = closed_forms
        self._universal_slide: dict[int, ca.SX] = {}
        self._carried: set[str] = set()
        self._rows: dict[int, Row] = {}
        super().__init__(leg, plan, choices, tip, attached)

    # -- hinges --------------------------------------------------------------------------------------------------------

    def _hinge(self, edge: Edge, parent: ChainBody, at: ca.SX, axis: ca.SX, slides: bool = False) -> None:
        closed_form = self._closed_forms.get(edge.joint)
        if closed_form is None or closed_form.method == "given":
            super()._hinge(edge, parent, at, axis, slides)
            return
        if closed_form.method == "in_line":
            self._in_line(edge, closed_form)
            return
        if closed_form.method in ("carried", "parallelogram_bar"):
            self._beside(edge, closed_form, parent, at)
            return
        if closed_form.method in ("turn axis", "cones"):
            toward = self._axis(closed_form.cut if closed_form.method == "turn axis" else closed_form.other)
            goal = self._direction(closed_form.cut)
        else:
            brought = (
                self._at(closed_form.cut)
                if closed_form.method in ("turn", "hinge_slide", "spherical_2r")
                else self._elbow(closed_form)
            )
            toward, centre = brought - at, at
            if closed_form.counter >= 0:
                # a bar of a parallelogram, shifted to end in the point that it brings
                toward = self._at(closed_form.counter) - at
                centre = brought - toward
            goal = self._target(closed_form.cut) - parent.point(centre)
            if closed_form.method == "spherical_2r":
                toward = self._axis(closed_form.other)
        flat = toward - dot(toward, axis) * axis
        size = norm(flat)
        first = flat * (1 / size)
        start = ca.horzcat(axis, first, cross(axis, first))
        a, origin = parent.vector(axis), parent.point(at)
        if closed_form.method in ("turn", "turn axis"):
            flat = goal - dot(goal, a) * a
            p = unit(flat) if closed_form.alone else flat * (1 / size)
            self._drawn(edge, parent, start, (p, cross(a, p)))
            self._set(edge, at, start, origin, ca.horzcat(a, p, cross(a, p)))
            return
        if closed_form.method == "hinge_slide":
            self._hinge_slide(edge, closed_form, parent, at, (a, origin, goal), start)
            return
        p, n, c_home, s_home = self._plane(edge, parent, start)
        gp, gn, rod = dot(goal, p), dot(goal, n), None
        if closed_form.method in ("cones", "spherical_2r"):
            # the next axis e keeps its angle to a direction, or its distance from a point: g.e is what it is at home
            other = self._axis(closed_form.cut) if closed_form.method == "cones" else self._at(closed_form.cut) - at
            wanted = dot(toward, other) - dot(goal, a) * dot(toward, axis)
        else:
            reach = self._at(closed_form.cut) - self._elbow(closed_form)
            rod = norm(reach)
            if closed_form.method == "reach":
                # |g - t|^2 = L^2 with t the arm: g.t = (g.g + t.t - L^2)/2
                lift = dot(toward, axis)
                wanted = 0.5 * (dot(goal, goal) + dot(toward, toward) - dot(reach, reach)) - dot(goal, a) * lift
            else:
                self._assume(
                    edge, "the next joint's axis stays along its own", cross(axis, self._axis(closed_form.other))
                )
                flat_rod2 = dot(reach, reach) - dot(reach, axis) ** 2
                wanted = 0.5 * (gp * gp + gn * gn + size * size - flat_rod2)
        c, s, condition = solve_trigonometric(self._name(edge), closed_form.branch, gp * size, gn * size, wanted, rod)
        self.reaches.append(condition)
        if self._driven(edge):
            self.displacement[edge.joint, "rotation"] = ca.atan2(s * c_home - c * s_home, c * c_home + s * s_home)
        self._set(edge, at, start, origin, ca.horzcat(a, c * p + s * n, c * n - s * p))

    def _in_line(self, edge: Edge, closed_form: ClosedFormStep) -> None:
        """A joint on the line f from a universal joint, which carries (e, f, g), to the point that it reaches.

        Bodies of the row have frames (f, p, f x p) with p = e turned about f, at either end of the line.
        """
        joint, start = self.leg.joints[edge.joint], self._closed_forms[closed_form.other]
        first, target = self._at(closed_form.other), self._at(closed_form.cut)
        line = unit(target - first)
        self._assume(edge, "its axis stays in line with the universal joints", cross(self._axis(edge.joint), line))
        if joint.kind != "prismatic":
            off = cross(line, self._at(edge.joint) - first)
            self._assume(edge, "its axis stays on the line between the universal joints", off)
        holder = self.bodies[next(tree.child for tree in self.plan.tree if tree.joint == closed_form.other)]
        (e0, f0, g0), (e, f, g) = (ca.horzsplit(frame.axes) for frame in (holder.home, holder.now))
        row = self._row(closed_form)
        turned = row.turned(edge)
        c, s = (row.cosine, row.sine) if edge is row.edges[-1] else (ca.cos(turned), ca.sin(turned))
        axes = ca.horzcat(f, c * e - s * g, -c * g - s * e)
        beyond = row.edges.index(edge) >= [one.joint for one in row.edges].index(start.other)
        home = Frame(target if beyond else first, ca.horzcat(f0, e0, -g0))
        self.bodies[edge.child] = ChainBody(
            home, Frame(self._target(closed_form.cut) if beyond else holder.now.origin, axes)
        )

    def _row(self, closed_form: ClosedFormStep) -> Row:
        """The joints in line between two universal ones: what they turn in all, psi about their line f, and each.

        The travel is known. psi makes the axis d of the second universal joint perpendicular to its other one, b: with
        d = h f + x e + y g at home, (x b.e + y b.g) cos psi + (y b.e - x b.g) sin psi = -h b.f.
        """
        if closed_form.cut in self._rows:
            return self._rows[closed_form.cut]
        slide = self._closed_forms[closed_form.other].other
        self.displacement[slide, "translation"] = self._universal_slide[slide]
        holder = self.bodies[next(tree.child for tree in self.plan.tree if tree.joint == closed_form.other)]
        cut = next(one for one in self.plan.cuts if one.joint == closed_form.cut)
        known = next(side for side in (cut.parent, cut.child) if side in self.bodies)
        end = self.leg.joints[closed_form.cut]
        own = 1 if self.plan.group[end.between[0]] == known else 0
        b, d = self.bodies[known].vector(vector(end.axes[1 - own])), vector(end.axes[own])
        x, h, y = (dot(axis, d) for axis in ca.horzsplit(holder.home.axes))
        be, bf, bg = (dot(axis, b) for axis in ca.horzsplit(holder.now.axes))
        across, along = x * be + y * bg, y * be - x * bg
        c, s, condition = solve_trigonometric(end.name, closed_form.branch, across, along, -h * bf)
        text = f"{end.name}: what it carries is in line with its first axis"
        size = ca.sqrt(across * across + along * along)
        self.reaches += [condition, Condition(text, size, bf, "cosine", singular=True)]
        edges = [
            edge
            for edge in self.plan.tree
            if (one := self._closed_forms.get(edge.joint)) is not None
            and (one.method, one.cut) == ("in_line", closed_form.cut)
        ]
        turning = {edge.joint: edge for edge in edges if self.leg.joints[edge.joint].kind != "prismatic"}
        free = next(k for k in turning if (k, "rotation") not in self.plan.follows)
        left = ca.atan2(s, c)
        for k in turning:
            if k != free:
                turn = self._following((k, "rotation"))
                assert turn is not None
                self.displacement[k, "rotation"] = turn
                left = left - self._closed_forms[k].sense * turn
        self.displacement[free, "rotation"] = self._closed_forms[free].sense * left
        self._counted |= {(k, "rotation") for k in turning}
        parts = {edge.joint: self._closed_forms[edge.joint].sense * self.displacement[edge.joint, "rotation"]
                 if edge.joint in turning else ca.SX(0) for edge in edges}  # fmt: skip
        self._rows[closed_form.cut] = Row(edges, parts, c, s)
        return self._rows[closed_form.cut]

    def _beside(self, edge: Edge, closed_form: ClosedFormStep, parent: ChainBody, at: ca.SX) -> None:
        """What does not turn against the body that a parallelogram's bar starts from, or the bar opposite."""
        bar = next(tree for tree in self.plan.tree if tree.joint == closed_form.other)
        like = self.bodies[bar.parent if closed_form.method == "carried" else bar.child]
        other = self._closed_forms[closed_form.other].counter
        if closed_form.method == "parallelogram_bar":
            side, opposite = self._at(closed_form.cut) - at, self._at(other) - self._at(closed_form.other)
            off = side - opposite if closed_form.straight else side + opposite
            self._assume(edge, "opposite sides of its parallelogram stay equal", cross(self._axis(other), off))
        else:
            self._carried.add(edge.child)
        tilted = cross(self._axis(edge.joint), self._axis(other))
        self._assume(edge, "the axes of its parallelogram stay parallel", tilted)
        self._set(edge, at, like.home.axes, parent.point(at), like.now.axes)

    def _plane(self, edge: Edge, parent: ChainBody, start: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Two directions across a hinge, carried by its parent, and cosine and sine of the frame's second axis."""
        sense = self.choices.along.get(edge.joint)
        if sense is None or edge.parent in self._carried:
            return parent.vector(start[:, 1]), parent.vector(start[:, 2]), ca.SX(1), ca.SX(0)
        own, now = parent.home.axes, parent.now.axes
        self._assume(edge, "its axis stays along that of the joint before", cross(start[:, 0], own[:, 0]))
        cosine, sine = dot(own[:, 1], start[:, 1]), sense * dot(own[:, 2], start[:, 1])
        return now[:, 1], sense * now[:, 2], cosine, sine

    def _hinge_slide(
        self, edge: Edge, closed_form: ClosedFormStep, parent: ChainBody, at: ca.SX, reach: Any, start: ca.SX
    ) -> None:
        """A hinge and a slide: the slide reaches as far as the point is from the hinge."""
        a, origin, goal = reach
        flat = goal - dot(goal, a) * a
        w, along = start.T @ (self._at(closed_form.cut) - at), start.T @ self._slide_axis(closed_form.other)
        distance2 = dot(flat, flat)
        if closed_form.straight:
            # the slide runs along the frame's second axis or against it
            self._assume_in_line(edge, closed_form, start[:, 1])
            distance = ca.sqrt(distance2)
            shift = closed_form.sense * (distance - w[1])
            p = flat * (1 / distance)
        else:
            slope2, meet = along[1] * along[1] + along[2] * along[2], w[1] * along[1] + w[2] * along[2]
            shift = self._moved(edge, closed_form, slope2, meet, w[1] * w[1] + w[2] * w[2] - distance2, distance2)
            x, y = w[1] + shift * along[1], w[2] + shift * along[2]
            turned = cross(a, flat)
            p = (x * flat - y * turned) * (1 / distance2)
        self._universal_slide[closed_form.other] = shift
        self._drawn(edge, parent, start, (p, cross(a, p)))
        self._set(edge, at, start, origin, ca.horzcat(a, p, cross(a, p)))

    def _drawn(self, edge: Edge, parent: ChainBody, start: ca.SX, now: tuple[ca.SX, ca.SX]) -> None:
        """The angle of a driven hinge from home, from where its frame's second axis is."""
        if self._driven(edge):
            p, n = parent.vector(start[:, 1]), parent.vector(start[:, 2])
            self.displacement[edge.joint, "rotation"] = ca.atan2(dot(now[0], n), dot(now[0], p))

    # -- slides --------------------------------------------------------------------------------------------------------

    def _slide(self, edge: Edge, parent: ChainBody, at: ca.SX, axis: ca.SX) -> None:
        closed_form = self._closed_forms.get(edge.joint)
        if closed_form is None or closed_form.method == "given":
            super()._slide(edge, parent, at, axis)
            return
        if closed_form.method == "in_line":
            self._in_line(edge, closed_form)
            return
        a = parent.vector(axis)
        if closed_form.method == "stretched":
            shift = self._universal_slide[edge.joint]
        else:
            elbow = self._elbow(closed_form)
            goal, rod, along = self._target(closed_form.cut) - parent.point(elbow), self._at(closed_form.cut) - elbow, a
            if closed_form.method == "planar_reach":
                hinge = self._axis(closed_form.other)
                carried = parent.vector(hinge)
                goal, along = goal - dot(goal, carried) * carried, a - dot(a, carried) * carried
                rod = rod - dot(rod, hinge) * hinge
            slope2 = ca.SX(1) if closed_form.method == "reach" else dot(along, along)
            shift = self._moved(
                edge, closed_form, slope2, -dot(along, goal), dot(goal, goal) - dot(rod, rod), dot(rod, rod)
            )
        self._shift(edge, parent, at, a, shift)

    # -- universal joints ----------------------------------------------------------------------------------------------

    def _universal(self, edge: Edge, parent: ChainBody, at: ca.SX, first: ca.SX, second: ca.SX) -> None:
        """A universal joint whose child reaches for a point g away: e, the second axis, is perpendicular to a, the
        first."""
        closed_form = self._closed_forms.get(edge.joint)
        if closed_form is None or closed_form.method == "given":
            super()._universal(edge, parent, at, first, second)
            return
        a, origin = parent.vector(first), parent.point(at)
        goal = self._target(closed_form.cut) - origin
        if not closed_form.straight:
            self._skew_universal(edge, closed_form, parent, at, goal, first, second)
            return
        reach = self._at(closed_form.cut) - at
        length = norm(reach)
        along = reach * (1 / length)
        self._assume(edge, "what it carries stays perpendicular to its second axis", dot(along, second) * along)
        start = ca.horzcat(second, along, cross(second, along))
        if closed_form.method == "universal_slide":
            self._assume_in_line(edge, closed_form, along)
            distance = norm(goal)
            f = goal * (1 / distance)
            self._universal_slide[closed_form.other] = closed_form.sense * (distance - length)
        else:
            f = unit(goal) if closed_form.alone else goal * (1 / length)
        side = cross(a, f)
        alignment = norm(side)
        e = side * (closed_form.tilt / alignment)
        text = f"{self._name(edge)}: what it carries is in line with its first axis"
        self.reaches.append(Condition(text, alignment, dot(a, f), "cosine", singular=True))
        self._set(edge, at, start, origin, ca.horzcat(e, f, cross(e, f)))

    def _skew_universal(
        self,
        edge: Edge,
        closed_form: ClosedFormStep,
        parent: ChainBody,
        at: ca.SX,
        goal: ca.SX,
        first: ca.SX,
        second: ca.SX,
    ) -> None:
        """The same where the child reaches out inclined: in its frame (e, f, g) = (second, first x second, first) at r.

        With h = goal.a: r_f s2 + r_g c2 = h gives the second angle, then e and k = r_f c2 - r_g s2 turn into the plane
        across a.
        """
        a, p, n = parent.vector(first), parent.vector(second), parent.vector(cross(first, second))
        own = ca.horzcat(second, cross(first, second), first)
        r = own.T @ (self._at(closed_form.cut) - at)
        if closed_form.alone:
            # it points at the joint; how far that is constrains the platform
            goal = unit(goal) * norm(r)
        if closed_form.method == "universal_slide":
            along = own.T @ self._slide_axis(closed_form.other)
            shift = self._moved(
                edge, closed_form, ca.SX(1), dot(r, along), dot(r, r) - dot(goal, goal), dot(goal, goal)
            )
            self._universal_slide[closed_form.other] = shift
            r = r + shift * along
        h = dot(goal, a)
        across2 = dot(goal, goal) - r[0] * r[0] - h * h
        k = closed_form.tilt * ca.sqrt(across2)
        size2 = r[1] * r[1] + r[2] * r[2]
        c2, s2 = (r[2] * h + r[1] * k) / size2, (r[1] * h - r[2] * k) / size2
        gp, gn = dot(goal, p), dot(goal, n)
        flat = 1 / (r[0] * r[0] + k * k)
        c, s = (r[0] * gp + k * gn) * flat, (r[0] * gn - k * gp) * flat
        text = f"{self._name(edge)}: in line with its first axis, or out of reach"
        self.reaches.append(Condition(text, across2 / dot(goal, goal), ca.sqrt(ca.fmax(-across2, 0)), "m"))
        e, normal = c * p + s * n, c * n - s * p
        self._set(edge, at, own, parent.point(at), ca.horzcat(e, c2 * normal + s2 * a, c2 * a - s2 * normal))

    # -- what is left of gaps ------------------------------------------------------------------------------------------

    def _gap(self, cut: Edge, square: bool) -> list[tuple[ca.SX, str]]:
        """Of a body that points at the cut joint a length is left, of one that turns towards it a height as well."""
        solved = [(edge, one) for edge in self.plan.tree if (one := self._closed_forms.get(edge.joint)) is not None]
        edge, closed_form = next(((k, one) for k, one in solved if one.alone and one.cut == cut.joint), (None, None))
        if edge is None or closed_form is None or closed_form.counter >= 0 or closed_form.method not in ("rod", "turn"):
            return super()._gap(cut, square)
        reached = cut.child if edge.child == cut.parent else cut.parent
        parent, at = self.bodies[edge.parent], self._at(edge.joint)
        goal, toward = self.bodies[reached].point(self._at(cut.joint)) - parent.point(at), self._at(cut.joint) - at
        if closed_form.method == "rod":
            return [(norm(goal) - norm(toward), "gap along the rod")]
        axis = self._axis(edge.joint)
        a = parent.vector(axis)
        height, home = dot(a, goal), dot(axis, toward)
        off = norm(goal - height * a) - norm(toward - home * axis)
        return [(off, "gap across"), (height - home, "gap along the axis")]

    # -- geometry ------------------------------------------------------------------------------------------------------

    def _moved(self, edge: Edge, closed_form: ClosedFormStep, a: ca.SX, b: ca.SX, c: ca.SX, reach2: ca.SX) -> ca.SX:
        shift, condition = solve_quadratic(self._name(edge), closed_form.branch, a, b, c, reach2)
        self.reaches.append(condition)
        return shift

    def _assume_in_line(self, edge: Edge, closed_form: ClosedFormStep, toward: ca.SX) -> None:
        """A slide that runs where its joint points: away from it, or towards it if its sense says so."""
        slide = next(tree for tree in self.plan.tree if tree.joint == closed_form.other)
        what = f"its axis stays in line with {self._name(edge)} and {self.leg.joints[closed_form.cut].name}"
        self._assume(slide, what, self._slide_axis(closed_form.other) - closed_form.sense * toward)

    def _name(self, edge: Edge) -> str:
        return str(self.leg.joints[edge.joint].name)

    def _elbow(self, closed_form: ClosedFormStep) -> ca.SX:
        """The point at home from which the next joint reaches for a cut joint.

        That joint's own; of a parallelogram the start of its bar, shifted to end in the cut joint; of two hinges that
        stand for a universal joint the point in which their axes meet.
        """
        other, at = self._closed_forms[closed_form.other], self._at(closed_form.other)
        if other.counter >= 0:
            return at + self._at(closed_form.cut) - self._at(other.counter)
        if other.method != "spherical_2r":
            return at
        last = self._closed_forms[other.other]
        between = self._at(other.other) - at
        if last.counter >= 0:
            between = between + self._at(closed_form.cut) - self._at(last.counter)
        first, second = self._axis(closed_form.other), self._axis(other.other)
        normal = cross(first, second)
        edge = next(tree for tree in self.plan.tree if tree.joint == closed_form.other)
        self._assume(edge, "its axis and the next still meet", dot(between, normal))
        return at + (dot(cross(between, second), normal) / dot(normal, normal)) * first

    def _driven(self, edge: Edge) -> bool:
        joint = self.leg.joints[edge.joint]
        coupled = (edge.joint, "rotation") in self._turning
        return bool(joint.actuated) or joint.range is not None or coupled

    def _at(self, joint: int) -> ca.SX:
        return vector(self.leg.joints[joint].at)

    def _axis(self, joint: int) -> ca.SX:
        return vector(self.leg.joints[joint].axis)

    def _slide_axis(self, joint: int) -> ca.SX:
        edge = next(edge for edge in self.plan.tree if edge.joint == joint)
        return self._axis(joint) * (-1 if edge.reversed else 1)

    def _known_side(self, cut: int) -> ChainBody:
        edge = next(edge for edge in self.plan.cuts if edge.joint == cut)
        return next(self.bodies[side] for side in (edge.parent, edge.child) if side in self.bodies)

    def _target(self, cut: int) -> ca.SX:
        """Where a cut joint's point is, from its known side."""
        return self._known_side(cut).point(self._at(cut))

    def _direction(self, cut: int) -> ca.SX:
        """Where a cut joint's axis points, from its known side."""
        return self._known_side(cut).vector(self._axis(cut))


# ----------------------------------------------------------------------------------------------------------------------
# Roots in closed form on a chosen branch, each with the condition that it is real.


def solve_trigonometric(
    name: str, branch: int, a: ca.SX, b: ca.SX, wanted: ca.SX, rod: ca.SX | None = None
) -> tuple[ca.SX, ca.SX, Condition]:
    """cos and sin of the angle with A cos + B sin = D, on a branch (1 or -1); ``wanted`` is D.

    Where D comes from the length of a rod, D = (A^2 + B^2 + ... - rod^2)/2, ``rod`` is that length [m], so that the
    condition's excess is what the rod lacks; without it A, B and D are lengths themselves.
    """
    size2 = a * a + b * b
    inside = size2 - wanted * wanted
    root = branch * ca.sqrt(inside)
    scale = 1 / size2
    excess = ca.fabs(wanted) - ca.sqrt(size2)
    if rod is not None:
        # what the rod is too short or, where D is negative, too long: its square lacks 2 (|D| - sqrt(A^2 + B^2))
        lacking = 2 * excess
        short, long = ca.sqrt(rod * rod + lacking) - rod, rod - ca.sqrt(ca.fmax(rod * rod - lacking, 0))
        excess = ca.if_else(wanted > 0, short, long)
    condition = Condition(f"{name}: out of reach", inside * scale, excess, "m")
    return (a * wanted + b * root) * scale, (b * wanted - a * root) * scale, condition


def solve_quadratic(name: str, branch: int, a: ca.SX, b: ca.SX, c: ca.SX, reach2: ca.SX) -> tuple[ca.SX, Condition]:
    """s of a s^2 + 2 b s + c = 0 on a branch (1 or -1): where a line meets a sphere of squared radius ``reach2``."""
    inside = b * b - a * c
    # inside/a^2 is the square of what is left between the two solutions; the line is -inside/a farther, squared
    scale2 = b * b + ca.fabs(a * c)
    excess = ca.sqrt(reach2 + ca.fmax(-inside / a, 0)) - ca.sqrt(reach2)
    condition = Condition(f"{name}: out of reach", inside / scale2, excess, "m")
    return (branch * ca.sqrt(inside) - b) / a, condition
