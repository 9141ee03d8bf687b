"""Known patterns of a chain: which joints are solved without iterating, and how.

A cut joint whose one side is known gives a point w to be reached by the joints on its other side. Read outward from a
known body these are: a hinge or slide and a rod (circle and sphere, line and sphere), a rod (a distance), a universal
joint and a slide, a hinge and a slide, two parallel hinges (two circles), a slide and a hinge, one hinge; or two hinges
whose axes meet a third of known direction (two cones); or a universal joint and a spindle in line with the universal
joint that it ends in, whose screws turn as they travel. Two hinges that are not parallel stand for a universal joint,
before a hinge or slide where their axes meet; the bars of a parallelogram for one hinge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Array
from .data import JOINT_DOF, ChainJoint
from .plan import Edge, Plan, ordered

_IN_LINE = 1e-6
"""Sine below which an axis of a universal joint is along the spindle that ends in it."""


@dataclass(frozen=True)
class ClosedFormStep:
    """How a joint is solved: by which ``method``, to reach which cut joint (``cut``), with which ``other`` joint.

    ``rod``, ``turn``: a universal joint, or a hinge, points at the point that is reached; ``turn axis``: a hinge brings
    the cut hinge's axis into its direction. ``reach``: a hinge or slide brings the start of a rod to its length from
    the point; ``planar_reach``: the same in the plane across a parallel hinge. ``spherical_2r``, ``cones``: a hinge
    turns the next hinge's axis to its distance from the point, or to its angle with the cut hinge's axis.
    ``hinge_slide``, ``universal_slide``: a hinge or universal joint with a slide next, which is as long as the point is
    far; the slide itself is ``stretched``. ``carried``: what hangs on the far end of a parallelogram's bar and does not
    turn; ``parallelogram_bar``: the bar opposite. ``given``: its displacement is an internal coordinate. ``in_line``: a
    hinge, slide or cylindrical joint on the line from one universal joint (``other``) to another: one of them is as
    long as the point is far, one turns until the axes of the second universal joint are perpendicular, others follow.

    ``branch`` is that of its root, ``spherical_2r`` that of a universal joint. ``straight`` says that a universal
    joint's child reaches out perpendicular to the second axis, or a slide along the line to what it reaches; ``sense``
    is -1 if that slide grows towards what carries it: its axis is stated the other way round, as that of a joint in
    line. ``alone`` says that no
    joint before it has brought the point to its distance: that is left to the platform. ``counter`` is the hinge at the
    other end of a bar of a parallelogram, which turns back what this hinge turns.
    """

    method: str
    cut: int
    other: int = -1
    branch: int = 1
    tilt: int = 1
    straight: bool = False
    sense: int = 1
    alone: bool = False
    counter: int = -1


@dataclass(frozen=True)
class _PathJoint:
    """A tree joint on the way to a point, or two that are the ends of a parallelogram's bar."""

    edge: Edge
    kind: str
    counter: int = -1

    @property
    def joint(self) -> int:
        return self.edge.joint


def find_closed_forms(leg: Any, plan: Plan) -> dict[int, ClosedFormStep] | None:
    """A closed form for each tree joint in the order of solving; None if a part of the leg is none of the patterns."""
    if plan.relations:
        return None
    known = {"base", "platform"}
    found: dict[int, ClosedFormStep] = {}
    parent = {edge.child: edge for edge in plan.tree}
    bars = parallelograms(leg.joints, plan)
    waiting = list(plan.cuts)
    _add_given(leg, plan, known, found)
    while waiting:
        for cut in waiting:
            path = _path(cut, known, parent)
            new = None if path is None else _matched(leg, plan, path, cut, bars, found)
            if path is None or new is None:
                continue
            found |= new
            known |= {edge.child for edge in path}
            _add_given(leg, plan, known, found)
            waiting.remove(cut)
            break
        else:
            return None
    return found if all(edge.joint in found or plan.is_coupled(edge.joint) for edge in plan.tree) else None


def _add_given(leg: Any, plan: Plan, known: set[str], found: dict[int, ClosedFormStep]) -> None:
    """Add the bodies that hang on known ones by joints whose displacements are internal coordinates."""
    for edge in plan.tree if plan.internal else ():
        whole = sum(number == edge.joint for number, _ in plan.internal) == JOINT_DOF[leg.joints[edge.joint].kind]
        if whole and edge.parent in known and edge.child not in known:
            found[edge.joint] = ClosedFormStep("given", -1)
            known.add(edge.child)


def _path(cut: Edge, known: set[str], parent: dict[str, Edge]) -> list[Edge] | None:
    """Tree joints from a known body to the unknown side of a cut joint; None if both sides are unknown."""
    sides = [side for side in (cut.parent, cut.child) if side not in known]
    if len(sides) > 1:
        return None
    path: list[Edge] = []
    body = sides[0] if sides else cut.parent
    while body not in known:
        path.insert(0, parent[body])
        body = parent[body].parent
    return path


def _steps(leg: Any, plan: Plan, path: Sequence[Edge], bars: dict[int, tuple[int, int]]) -> list[_PathJoint]:
    steps: list[_PathJoint] = []
    for edge in path:
        if steps and bars.get(steps[-1].joint, (-1,))[0] == edge.joint:
            steps[-1] = replace(steps[-1], counter=edge.joint)
        else:
            steps.append(_PathJoint(edge, _step_kind(leg, plan, edge)))
    return steps


def _step_kind(leg: Any, plan: Plan, edge: Edge) -> str:
    """What a joint does on the way to a point; one whose displacement follows from others, or is given, is no step of a
    pattern."""
    if plan.is_coupled(edge.joint) or plan.is_internal(edge.joint):
        return "coupled"
    return "pointing" if is_universal(leg, plan, edge) else str(leg.joints[edge.joint].kind)


def _matched(
    leg: Any,
    plan: Plan,
    path: Sequence[Edge],
    cut: Edge,
    bars: dict[int, tuple[int, int]],
    found: dict[int, ClosedFormStep],
) -> dict[int, ClosedFormStep] | None:
    end, target = leg.joints[cut.joint], cut.joint
    if not path:
        return {}
    steps = _steps(leg, plan, path, bars)
    if len(steps) == 1 and steps[0].joint in bars and steps[0].counter < 0:
        beside = bars[steps[0].joint][1]
        opposite = next((k for k in (beside, bars[beside][0]) if k in found and found[k].counter >= 0), None)
        if opposite is not None:
            return {steps[0].joint: ClosedFormStep("parallelogram_bar", target, opposite, straight=opposite == beside)}
    if end.kind not in ("spherical", "universal", "revolute"):
        return None
    spindle = _spindle(leg, plan, path, cut) if end.kind == "universal" else None
    if spindle is not None:
        return spindle
    new = _reaching(leg, plan, steps, target, end.kind)
    if new is None:
        return None
    ordered: dict[int, ClosedFormStep] = {}
    for step in steps:
        ordered[step.joint] = replace(new[step.joint], counter=step.counter)
        if step.counter >= 0:
            ordered[step.counter] = ClosedFormStep("carried", target, step.joint)
    return ordered


def _reaching(
    leg: Any, plan: Plan, steps: Sequence[_PathJoint], target: int, end: str
) -> dict[int, ClosedFormStep] | None:
    """Recipes of the joints on the way to a point."""
    kinds = tuple(step.kind for step in steps)
    numbers = [step.joint for step in steps]
    lines = _lines(leg, steps, target)
    point = leg.joints[target].at
    if kinds == ("pointing",):
        return {numbers[0]: replace(rod_closed_form(leg, plan, steps[0].edge, target), alone=True)}
    if kinds == ("revolute",) and (steps[0].counter >= 0 or not on_line(point, *lines[0])):
        return {numbers[0]: ClosedFormStep("turn", target, alone=True)}
    if len(steps) == 3 and kinds[1:] == ("revolute", "revolute") and kinds[0] in ("revolute", "prismatic"):
        return _as_universal(leg, steps, target, lines)
    if len(steps) != 2:
        return None
    first, second = numbers
    across = {first: ClosedFormStep("planar_reach", target, second), second: ClosedFormStep("turn", target)}
    if kinds in (("revolute", "pointing"), ("prismatic", "pointing")):
        return {
            first: ClosedFormStep("reach", target, second),
            second: rod_closed_form(leg, plan, steps[1].edge, target),
        }
    if steps[0].counter < 0 and kinds == ("pointing", "prismatic"):
        sense = _along(leg, steps[0].edge, steps[1].edge, target)
        stretch = ClosedFormStep("universal_slide", target, second, straight=sense != 0, sense=sense or 1)
        return {first: stretch, second: ClosedFormStep("stretched", target)}
    if steps[0].counter < 0 and kinds == ("revolute", "prismatic"):
        sense = _along(leg, steps[0].edge, steps[1].edge, target)
        straight = sense != 0 and square(leg.joints[first].axis, leg.joints[second].axis)
        swing = ClosedFormStep("hinge_slide", target, second, straight=straight, sense=sense if straight else 1)
        return {first: swing, second: ClosedFormStep("stretched", target)}
    if kinds == ("prismatic", "revolute") and _turns(steps[1], lines[1], point):
        return across
    if kinds != ("revolute", "revolute"):
        return None
    if parallel(lines[0][1], lines[1][1]):
        return across if _turns(steps[1], lines[1], point) else None
    if steps[0].counter >= 0:
        return None
    if end == "revolute" and steps[1].counter < 0 and meet([*lines, (point, leg.joints[target].axis)]):
        return {first: ClosedFormStep("cones", target, second), second: ClosedFormStep("turn axis", target)}
    if not _turns(steps[1], lines[1], point):
        return None
    return {first: ClosedFormStep("spherical_2r", target, second), second: ClosedFormStep("turn", target, alone=True)}


def _spindle(leg: Any, plan: Plan, path: Sequence[Edge], cut: Edge) -> dict[int, ClosedFormStep] | None:
    """A universal joint, and joints in line with it and with the universal joint that they end in.

    One of them travels freely and one turns freely; what else turns is a screw that turns as it travels.
    """
    first, row, target = path[0], path[1:], cut.joint
    if leg.joints[first.joint].kind != "universal" or _step_kind(leg, plan, first) != "pointing" or not row:
        return None
    at, point = leg.joints[first.joint].at, leg.joints[target].at
    motions = {"revolute": ("rotation",), "prismatic": ("translation",), "cylindrical": ("rotation", "translation")}
    travels: list[Edge] = []
    turns: list[Edge] = []
    for edge in row:
        joint = leg.joints[edge.joint]
        if joint.kind not in motions or plan.is_internal(edge.joint):
            return None
        if not parallel(joint.axis, unit(np.subtract(point, at))):
            return None
        if joint.kind != "prismatic" and not on_line(at, joint.at, joint.axis):
            return None
        for motion in motions[joint.kind]:
            if (edge.joint, motion) not in plan.follows:
                (travels if motion == "translation" else turns).append(edge)
            elif motion == "translation" or edge not in [one for own in plan.screws.values() for one in own]:
                return None
    if len(travels) != 1 or len(turns) != 1:
        return None
    sense = _along(leg, first, travels[0], target)
    own = 0 if plan.group[leg.joints[target].between[0]] == row[-1].child else 1
    mine, other = (np.array(leg.joints[target].axes[k]) for k in (own, 1 - own))
    line = unit(np.subtract(point, at))
    side = float(other @ np.cross(line, mine))
    if sense == 0 or abs(side) < _IN_LINE:
        return None
    found = {first.joint: ClosedFormStep("universal_slide", target, travels[0].joint, straight=True, sense=sense)}
    for edge in row:
        along = 1 if (line @ leg.joints[edge.joint].axis > 0) != edge.reversed else -1
        found[edge.joint] = ClosedFormStep("in_line", target, first.joint, 1 if side > 0 else -1, sense=along)
    return found


def _as_universal(
    leg: Any, steps: Sequence[_PathJoint], target: int, lines: list[tuple[Array, Array]]
) -> dict[int, ClosedFormStep] | None:
    """A hinge or slide, then two hinges whose axes meet: a rod on a cross."""
    first, second, third = (step.joint for step in steps)
    if steps[1].counter >= 0 or parallel(lines[1][1], lines[2][1]) or not meet(lines[1:]):
        return None
    if not _turns(steps[2], lines[2], leg.joints[target].at):
        return None
    return {
        first: ClosedFormStep("reach", target, second),
        second: ClosedFormStep("spherical_2r", target, third),
        third: ClosedFormStep("turn", target),
    }


def _turns(step: _PathJoint, line: tuple[Array, Array], point: Any) -> bool:
    """Whether a hinge moves a point."""
    return step.counter >= 0 or not on_line(point, *line)


def _lines(leg: Any, steps: Sequence[_PathJoint], target: int) -> list[tuple[Array, Array]]:
    """Where every joint is and its axis, a bar of a parallelogram shifted so that it ends in the point after it."""
    point = np.array(leg.joints[target].at)
    lines: list[tuple[Array, Array]] = []
    for step in reversed(steps):
        at = np.array(leg.joints[step.joint].at)
        point = at + point - leg.joints[step.counter].at if step.counter >= 0 else at
        lines.insert(0, (point, np.array(leg.joints[step.joint].axis or np.zeros(3))))
    return lines


def rod_closed_form(leg: Any, plan: Plan, edge: Edge, target: int) -> ClosedFormStep:
    """How a rod points at a joint that it reaches."""
    joint = leg.joints[edge.joint]
    if edge.joint in plan.spins:
        return ClosedFormStep("rod", target, straight=True)
    rod = np.array(leg.joints[target].at) - np.array(joint.at)
    second = joint.axes[0 if edge.reversed else 1]
    return ClosedFormStep("rod", target, straight=square(rod / (np.linalg.norm(rod) or 1.0), second))


def is_universal(leg: Any, plan: Plan, edge: Edge) -> bool:
    """Whether a tree joint is universal, or a spherical one that stands for a universal one."""
    return leg.joints[edge.joint].kind == "universal" or edge.joint in plan.spins


def _along(leg: Any, first: Edge, slide: Edge, target: int) -> int:
    """Whether a slide runs along the line from a joint to the point that it reaches, perpendicular to the axis it
    carries.

    1 if it grows towards the point, -1 if away from it, 0 if it does not run along; bodies at home do not say which.
    """
    reach = np.array(leg.joints[target].at) - np.array(leg.joints[first.joint].at)
    axis = np.array(leg.joints[slide.joint].axis)
    axes = (leg.joints[first.joint].axes or ())[:: -1 if first.reversed else 1]
    straight = np.linalg.norm(np.cross(reach, axis)) < 1e-12 * max(float(np.linalg.norm(reach)), 1e-3)
    if not (straight and all(square(axis, a) for a in axes[1:])):
        return 0
    return 1 if (reach @ axis > 0) != slide.reversed else -1


def on_drawn_branch(
    found: dict[int, ClosedFormStep], missed: Callable[[dict[int, ClosedFormStep]], set[int]], whole: bool = True
) -> dict[int, ClosedFormStep] | None:
    """The closed forms on the branches that are drawn at home; None if no choice gives home.

    ``missed`` says which joints have bodies that are elsewhere at home. A joint is judged by itself: those before it
    are right already, those after it may be wrong yet. If not all joints have to be solved (``whole``), one that no
    choice puts home is left out.
    """
    tried: dict[int, ClosedFormStep] = {}
    elsewhere: set[int] = set()
    for joint, closed_form in dict(found).items():
        for branch, tilt in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            trial = {**found, joint: replace(closed_form, branch=branch, tilt=tilt)}
            solved = {joint, closed_form.other} if closed_form.method in ("universal_slide", "hinge_slide") else {joint}
            if trial != tried:  # placing the leg takes long; most first choices are those that stand already
                tried, elsewhere = trial, missed(trial)
            if not solved & elsewhere:
                found = trial
                break
        else:
            if whole:
                return None
            found = {other: one for other, one in found.items() if other != joint}
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Recipes for a chain that is closed by iterating: joints that need no unknowns although the rest of it does.


def find_partial_closed_forms(leg: Any, plan: Plan) -> tuple[tuple[Edge, ...], dict[int, ClosedFormStep]]:
    """A closed form for each tree joint whose child ends in a cut joint and points at it, wherever the cut joint is.

    Such a joint is no unknown, and of the gap at the cut joint one length is left, or two where a hinge points at it.
    Returns the tree, every body after those it depends on, and the closed forms by joint.
    """
    parent = {edge.child: edge for edge in plan.tree}
    found: dict[int, ClosedFormStep] = {}
    depends: dict[str, str] = {}
    for cut in plan.cuts:
        if leg.joints[cut.joint].kind not in ("spherical", "universal", "revolute"):
            continue
        for side, target in ((cut.parent, cut.child), (cut.child, cut.parent)):
            edge = parent.get(side)
            closed_form = None if edge is None or edge.joint in found else _pointing(leg, plan, edge, cut.joint)
            if edge is None or closed_form is None or _dependency_order(plan, {**depends, side: target}) is None:
                continue
            found[edge.joint], depends[side] = closed_form, target
            break
    return _dependency_order(plan, depends) or plan.tree, found


def _pointing(leg: Any, plan: Plan, edge: Edge, target: int) -> ClosedFormStep | None:
    joint, point = leg.joints[edge.joint], leg.joints[target].at
    if plan.is_coupled(edge.joint) or plan.is_internal(edge.joint):
        return None
    if is_universal(leg, plan, edge):
        rod = rod_closed_form(leg, plan, edge, target)
        apart = not np.allclose(point, joint.at, rtol=0, atol=1e-9)
        return replace(rod, alone=True) if rod.straight and apart else None
    if joint.kind == "revolute" and not on_line(point, joint.at, joint.axis):
        return ClosedFormStep("turn", target, alone=True)
    return None


def _dependency_order(plan: Plan, depends: dict[str, str]) -> tuple[Edge, ...] | None:
    """The tree with every body after its parent and after the body it depends on; None for circular dependencies."""
    needs = {child: plan.needs.get(child, frozenset()) | {body} for child, body in depends.items()}
    return ordered(plan.tree, {**plan.needs, **needs})


# ----------------------------------------------------------------------------------------------------------------------
# Parallelograms in a chain: two bars between the same two bodies on hinges of one direction, equal and parallel.
#
# The bodies that they join do not turn against each other: one moves against the other on a circle. Each bar may be
# shifted parallel to itself, so that it ends in the point that is to be reached: one hinge then stands for the loop.

_EQUAL = 1e-11
"""Difference of opposite sides, relative to their length, that is the rounding of arithmetic."""


class Bar(NamedTuple):
    """A body on two hinges of one direction: their numbers, and the bodies at their other ends."""

    body: str
    hinges: tuple[int, int]
    ends: tuple[str, str]


def parallelograms(joints: Sequence[ChainJoint], plan: Plan) -> dict[int, tuple[int, int]]:
    """For every hinge of a parallelogram the other hinge of its bar, and the hinge beside it of the bar opposite."""
    found: dict[int, tuple[int, int]] = {}
    for one, two in combinations(hinged_bars(joints, plan), 2):
        if set(one.ends) != set(two.ends) or any(k in found for k in (*one.hinges, *two.hinges)):
            continue
        beside = two.hinges if one.ends == two.ends else two.hinges[::-1]
        if _opposite(joints, one.hinges, beside):
            for k in (0, 1):
                found[one.hinges[k]] = one.hinges[1 - k], beside[k]
                found[beside[k]] = beside[1 - k], one.hinges[k]
    return found


def hinged_bars(joints: Sequence[ChainJoint], plan: Plan) -> list[Bar]:
    """Bodies that two parallel hinges hold and nothing else, between two other bodies."""
    ends = {
        k: tuple(plan.group[name] for name in joint.between) for k, joint in enumerate(joints) if joint.kind != "fixed"
    }
    bars = []
    for body in dict.fromkeys(plan.group.values()):
        held = [k for k, pair in ends.items() if body in pair]
        if body in ("base", "platform") or len(held) != 2 or any(joints[k].kind != "revolute" for k in held):
            continue
        first, second = (next(end for end in ends[k] if end != body) for k in held)
        if first != second and parallel(joints[held[0]].axis, joints[held[1]].axis):
            bars.append(Bar(body, (held[0], held[1]), (first, second)))
    return bars


def _opposite(joints: Sequence[ChainJoint], one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Whether two bars are opposite sides of a parallelogram that is not flat."""
    if not parallel(joints[one[0]].axis, joints[two[0]].axis):
        return False
    axis = np.array(joints[one[0]].axis)
    across = np.eye(3) - np.outer(axis, axis)
    a, b, c, d = (across @ np.array(joints[k].at) for k in (*one, *two))
    length = float(np.linalg.norm(b - a))
    width = float(np.linalg.norm(np.cross(b - a, c - a))) / (length or 1.0)
    return bool(np.linalg.norm((b - a) - (d - c)) < _EQUAL * max(length, 1e-3) and width > 1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# What the numbers of a chain's joints have in common at home, to the rounding of their arithmetic.


def unit(a: Any) -> Array:
    """A vector at length one; zero stays zero."""
    return np.array(a) / (float(np.linalg.norm(a)) or 1.0)


def parallel(a: Any, b: Any) -> bool:
    """Whether two directions are one, or opposite: tilts beyond rounding are kept."""
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-11)


def square(a: Any, b: Any) -> bool:
    """Whether two directions are perpendicular to each other."""
    return bool(abs(np.dot(a, b)) < 1e-12)


def on_line(point: Any, at: Any, axis: Any) -> bool:
    """Whether a point lies on a line."""
    return bool(np.linalg.norm(np.cross(np.subtract(point, at), axis)) < 1e-9)


def meet(lines: Sequence[tuple[Any, Any]]) -> bool:
    """Whether lines, each a point and a direction, pass through one point."""
    rows, right = [], []
    for at, axis in lines:
        across = np.eye(3) - np.outer(axis, axis)
        rows.append(across)
        right.append(across @ np.array(at))
    matrix, wanted = np.vstack(rows), np.concatenate(right)
    point = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    return bool(np.abs(matrix @ point - wanted).max() < 1e-9)
