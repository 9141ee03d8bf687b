"""A chain whose bodies are placed by the recipes of their joints, one after the other; joints without are unknowns.

Each pattern is one equation A cos + B sin = D or one square root, on the branch that is drawn at home; the rest are
directions to known points. Frames have an axis along what a body reaches for, so that this direction is that axis.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from ...symbols.vectors import Frame, cross, dot, norm, unit, vector
from ..contract import Condition
from .patterns import Recipe
from .place import ChainBody, Choices, PlacedChain
from .plan import Edge, Plan
from .roots import solve_quadratic, solve_trigonometric


class SolvedChain(PlacedChain):
    """A chain whose tree joints are solved by ``recipes``; those without one have unknown coordinates."""

    def __init__(
        self, leg: Any, plan: Plan, choices: Choices, recipes: dict[int, Recipe], tip: Frame, attached: Frame
    ) -> None:
        self._recipes = recipes
        self._stretch: dict[int, ca.SX] = {}
        self._carried: set[str] = set()
        super().__init__(leg, plan, choices, tip, attached)

    # -- hinges --------------------------------------------------------------------------------------------------------

    def _hinge(self, edge: Edge, parent: ChainBody, at: ca.SX, axis: ca.SX, slides: bool = False) -> None:
        recipe = self._recipes.get(edge.joint)
        if recipe is None:
            super()._hinge(edge, parent, at, axis, slides)
            return
        if recipe.method in ("carried", "alongside"):
            self._beside(edge, recipe, parent, at)
            return
        if recipe.method in ("turn axis", "cones"):
            toward = self._axis(recipe.cut if recipe.method == "turn axis" else recipe.other)
            goal = self._direction(recipe.cut)
        else:
            brought = self._at(recipe.cut) if recipe.method in ("turn", "swing", "tilt") else self._elbow(recipe)
            toward, centre = brought - at, at
            if recipe.counter >= 0:
                # a bar of a parallelogram, shifted to end in the point that it brings
                toward = self._at(recipe.counter) - at
                centre = brought - toward
            goal = self._target(recipe.cut) - parent.point(centre)
            if recipe.method == "tilt":
                toward = self._axis(recipe.other)
        flat = toward - dot(toward, axis) * axis
        size = norm(flat)
        first = flat * (1 / size)
        start = ca.horzcat(axis, first, cross(axis, first))
        a, origin = parent.vector(axis), parent.point(at)
        if recipe.method in ("turn", "turn axis"):
            flat = goal - dot(goal, a) * a
            p = unit(flat) if recipe.alone else flat * (1 / size)
            self._drawn(edge, parent, start, (p, cross(a, p)))
            self._set(edge, at, start, origin, ca.horzcat(a, p, cross(a, p)))
            return
        if recipe.method == "swing":
            self._swing(edge, recipe, parent, at, (a, origin, goal), start)
            return
        p, n, c_home, s_home = self._plane(edge, parent, start)
        gp, gn, rod = dot(goal, p), dot(goal, n), None
        if recipe.method in ("cones", "tilt"):
            # the next axis e keeps its angle to a direction, or its distance from a point: g.e is what it is at home
            other = self._axis(recipe.cut) if recipe.method == "cones" else self._at(recipe.cut) - at
            wanted = dot(toward, other) - dot(goal, a) * dot(toward, axis)
        else:
            reach = self._at(recipe.cut) - self._elbow(recipe)
            rod = norm(reach)
            if recipe.method == "reach":
                # |g - t|^2 = L^2 with t the arm: g.t = (g.g + t.t - L^2)/2
                lift = dot(toward, axis)
                wanted = 0.5 * (dot(goal, goal) + dot(toward, toward) - dot(reach, reach)) - dot(goal, a) * lift
            else:
                self._assume(edge, "the next joint's axis stays along its own", cross(axis, self._axis(recipe.other)))
                flat_rod2 = dot(reach, reach) - dot(reach, axis) ** 2
                wanted = 0.5 * (gp * gp + gn * gn + size * size - flat_rod2)
        c, s, condition = solve_trigonometric(self._name(edge), recipe.branch, gp * size, gn * size, wanted, rod)
        self.reaches.append(condition)
        if self._driven(edge):
            self.displacement[edge.joint, "rotation"] = ca.atan2(s * c_home - c * s_home, c * c_home + s * s_home)
        self._set(edge, at, start, origin, ca.horzcat(a, c * p + s * n, c * n - s * p))

    def _beside(self, edge: Edge, recipe: Recipe, parent: ChainBody, at: ca.SX) -> None:
        """What does not turn against the body that a parallelogram's bar starts from, or the bar opposite."""
        bar = next(tree for tree in self.plan.tree if tree.joint == recipe.other)
        like = self.bodies[bar.parent if recipe.method == "carried" else bar.child]
        other = self._recipes[recipe.other].counter
        if recipe.method == "alongside":
            side, opposite = self._at(recipe.cut) - at, self._at(other) - self._at(recipe.other)
            off = side - opposite if recipe.straight else side + opposite
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

    def _swing(self, edge: Edge, recipe: Recipe, parent: ChainBody, at: ca.SX, reach: Any, start: ca.SX) -> None:
        """A hinge and a slide: the slide reaches as far as the point is from the hinge."""
        a, origin, goal = reach
        flat = goal - dot(goal, a) * a
        w, along = start.T @ (self._at(recipe.cut) - at), start.T @ self._slide_axis(recipe.other)
        distance2 = dot(flat, flat)
        if recipe.straight:
            # the slide runs along the frame's second axis or against it
            self._assume_in_line(edge, recipe, start[:, 1])
            distance = ca.sqrt(distance2)
            shift = recipe.sense * (distance - w[1])
            p = flat * (1 / distance)
        else:
            slope2, meet = along[1] * along[1] + along[2] * along[2], w[1] * along[1] + w[2] * along[2]
            shift = self._moved(edge, recipe, slope2, meet, w[1] * w[1] + w[2] * w[2] - distance2, distance2)
            x, y = w[1] + shift * along[1], w[2] + shift * along[2]
            turned = cross(a, flat)
            p = (x * flat - y * turned) * (1 / distance2)
        self._stretch[recipe.other] = shift
        self._drawn(edge, parent, start, (p, cross(a, p)))
        self._set(edge, at, start, origin, ca.horzcat(a, p, cross(a, p)))

    def _drawn(self, edge: Edge, parent: ChainBody, start: ca.SX, now: tuple[ca.SX, ca.SX]) -> None:
        """The angle of a driven hinge from home, from where its frame's second axis is."""
        if self._driven(edge):
            p, n = parent.vector(start[:, 1]), parent.vector(start[:, 2])
            self.displacement[edge.joint, "rotation"] = ca.atan2(dot(now[0], n), dot(now[0], p))

    # -- slides --------------------------------------------------------------------------------------------------------

    def _slide(self, edge: Edge, parent: ChainBody, at: ca.SX, axis: ca.SX) -> None:
        recipe = self._recipes.get(edge.joint)
        if recipe is None:
            super()._slide(edge, parent, at, axis)
            return
        a = parent.vector(axis)
        if recipe.method == "stretched":
            shift = self._stretch[edge.joint]
        else:
            elbow = self._elbow(recipe)
            goal, rod, along = self._target(recipe.cut) - parent.point(elbow), self._at(recipe.cut) - elbow, a
            if recipe.method == "reach across":
                hinge = self._axis(recipe.other)
                carried = parent.vector(hinge)
                goal, along = goal - dot(goal, carried) * carried, a - dot(a, carried) * carried
                rod = rod - dot(rod, hinge) * hinge
            slope2 = ca.SX(1) if recipe.method == "reach" else dot(along, along)
            shift = self._moved(edge, recipe, slope2, -dot(along, goal), dot(goal, goal) - dot(rod, rod), dot(rod, rod))
        self._shift(edge, parent, at, a, shift)

    # -- universal joints ----------------------------------------------------------------------------------------------

    def _universal(self, edge: Edge, parent: ChainBody, at: ca.SX, first: ca.SX, second: ca.SX) -> None:
        """A universal joint whose child reaches for a point g away: e, the second axis, is square to a, the first."""
        recipe = self._recipes.get(edge.joint)
        if recipe is None:
            super()._universal(edge, parent, at, first, second)
            return
        a, origin = parent.vector(first), parent.point(at)
        goal = self._target(recipe.cut) - origin
        if not recipe.straight:
            self._skew_universal(edge, recipe, parent, at, goal, first, second)
            return
        reach = self._at(recipe.cut) - at
        length = norm(reach)
        along = reach * (1 / length)
        self._assume(edge, "what it carries stays square to its second axis", dot(along, second) * along)
        start = ca.horzcat(second, along, cross(second, along))
        if recipe.method == "stretch":
            self._assume_in_line(edge, recipe, along)
            distance = norm(goal)
            f = goal * (1 / distance)
            self._stretch[recipe.other] = recipe.sense * (distance - length)
        else:
            f = unit(goal) if recipe.alone else goal * (1 / length)
        side = cross(a, f)
        alignment = norm(side)
        e = side * (recipe.tilt / alignment)
        text = f"{self._name(edge)}: what it carries is in line with its first axis"
        self.reaches.append(Condition(text, alignment, dot(a, f), "cosine", singular=True))
        self._set(edge, at, start, origin, ca.horzcat(e, f, cross(e, f)))

    def _skew_universal(
        self, edge: Edge, recipe: Recipe, parent: ChainBody, at: ca.SX, goal: ca.SX, first: ca.SX, second: ca.SX
    ) -> None:
        """The same where the child reaches out aslant: in its frame (e, f, g) = (second, first x second, first) at r.

        With h = goal.a: r_f s2 + r_g c2 = h gives the second angle, then e and k = r_f c2 - r_g s2 turn into the plane
        across a.
        """
        a, p, n = parent.vector(first), parent.vector(second), parent.vector(cross(first, second))
        own = ca.horzcat(second, cross(first, second), first)
        r = own.T @ (self._at(recipe.cut) - at)
        if recipe.alone:
            # it points at the joint; how far that is constrains the platform
            goal = unit(goal) * norm(r)
        if recipe.method == "stretch":
            along = own.T @ self._slide_axis(recipe.other)
            shift = self._moved(edge, recipe, ca.SX(1), dot(r, along), dot(r, r) - dot(goal, goal), dot(goal, goal))
            self._stretch[recipe.other] = shift
            r = r + shift * along
        h = dot(goal, a)
        across2 = dot(goal, goal) - r[0] * r[0] - h * h
        k = recipe.tilt * ca.sqrt(across2)
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
        solved = [(edge, one) for edge in self.plan.tree if (one := self._recipes.get(edge.joint)) is not None]
        edge, recipe = next(((k, one) for k, one in solved if one.alone and one.cut == cut.joint), (None, None))
        if edge is None or recipe is None or recipe.counter >= 0 or recipe.method not in ("rod", "turn"):
            return super()._gap(cut, square)
        reached = cut.child if edge.child == cut.parent else cut.parent
        parent, at = self.bodies[edge.parent], self._at(edge.joint)
        goal, toward = self.bodies[reached].point(self._at(cut.joint)) - parent.point(at), self._at(cut.joint) - at
        if recipe.method == "rod":
            return [(norm(goal) - norm(toward), "gap along the rod")]
        axis = self._axis(edge.joint)
        a = parent.vector(axis)
        height, home = dot(a, goal), dot(axis, toward)
        off = norm(goal - height * a) - norm(toward - home * axis)
        return [(off, "gap across"), (height - home, "gap along the axis")]

    # -- geometry ------------------------------------------------------------------------------------------------------

    def _moved(self, edge: Edge, recipe: Recipe, a: ca.SX, b: ca.SX, c: ca.SX, reach2: ca.SX) -> ca.SX:
        shift, condition = solve_quadratic(self._name(edge), recipe.branch, a, b, c, reach2)
        self.reaches.append(condition)
        return shift

    def _assume_in_line(self, edge: Edge, recipe: Recipe, toward: ca.SX) -> None:
        """A slide that runs where its joint points: away from it, or towards it if its sense says so."""
        slide = next(tree for tree in self.plan.tree if tree.joint == recipe.other)
        what = f"its axis stays in line with {self._name(edge)} and {self.leg.joints[recipe.cut].name}"
        self._assume(slide, what, self._slide_axis(recipe.other) - recipe.sense * toward)

    def _name(self, edge: Edge) -> str:
        return str(self.leg.joints[edge.joint].name)

    def _elbow(self, recipe: Recipe) -> ca.SX:
        """The point at home from which the next joint reaches for a cut joint.

        That joint's own; of a parallelogram the start of its bar, shifted to end in the cut joint; of two hinges that
        stand for a universal joint the point in which their axes meet.
        """
        other, at = self._recipes[recipe.other], self._at(recipe.other)
        if other.counter >= 0:
            return at + self._at(recipe.cut) - self._at(other.counter)
        if other.method != "tilt":
            return at
        last = self._recipes[other.other]
        between = self._at(other.other) - at
        if last.counter >= 0:
            between = between + self._at(recipe.cut) - self._at(last.counter)
        first, second = self._axis(recipe.other), self._axis(other.other)
        normal = cross(first, second)
        edge = next(tree for tree in self.plan.tree if tree.joint == recipe.other)
        self._assume(edge, "its axis and the next still meet", dot(between, normal))
        return at + (dot(cross(between, second), normal) / dot(normal, normal)) * first

    def _driven(self, edge: Edge) -> bool:
        joint = self.leg.joints[edge.joint]
        return bool(joint.actuated) or joint.range is not None

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
