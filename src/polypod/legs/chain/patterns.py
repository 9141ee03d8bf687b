"""Known patterns of a chain: which joints are solved without iterating, and how.

A cut joint whose one side is known gives a point w to be reached by the joints on its other side. Read outward from a
known body these are: a hinge or slide and a rod (circle and sphere, line and sphere), a rod (a distance), a universal
joint and a slide, a hinge and a slide, two parallel hinges (two circles), a slide and a hinge, one hinge; or two hinges
whose axes meet a third of known direction (two cones). Two hinges that are not parallel stand for a universal joint,
before a hinge or slide where their axes meet; the bars of a parallelogram for one hinge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...arrays import Array
from .alignment import meet, on_line, parallel, square
from .parallelograms import parallelograms
from .plan import Edge, Plan


@dataclass(frozen=True)
class ClosedFormStep:
    """How a joint is solved: by which ``method``, to reach which cut joint (``cut``), with which ``other`` joint.

    ``rod``, ``turn``: a universal joint, or a hinge, points at the point that is reached; ``turn axis``: a hinge brings
    the cut hinge's axis into its direction. ``reach``: a hinge or slide brings the start of a rod to its length from
    the point; ``planar_reach``: the same in the plane across a parallel hinge. ``spherical_2r``, ``cones``: a hinge
    turns the next hinge's axis to its distance from the point, or to its angle with the cut hinge's axis.
    ``hinge_slide``, ``universal_slide``: a hinge or universal joint with a slide next, which is as long as the point is
    far; the slide itself is ``stretched``. ``carried``: what hangs on the far end of a parallelogram's bar and does not
    turn; ``parallelogram_bar``: the bar opposite.

    ``branch`` is that of its root, ``spherical_2r`` that of a universal joint. ``straight`` says that a universal
    joint's child reaches out perpendicular to the second axis, or a slide along the line to what it reaches; ``sense``
    is -1 if that slide grows towards what carries it: its axis is stated the other way round. ``alone`` says that no
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
    known = {"base", "platform"}
    found: dict[int, ClosedFormStep] = {}
    parent = {edge.child: edge for edge in plan.tree}
    bars = parallelograms(leg.joints, plan)
    waiting = list(plan.cuts)
    while waiting:
        for cut in waiting:
            path = _path(cut, known, parent)
            new = None if path is None else _matched(leg, plan, path, cut, bars, found)
            if path is None or new is None:
                continue
            found |= new
            known |= {edge.child for edge in path}
            waiting.remove(cut)
            break
        else:
            return None
    return found if all(edge.joint in found for edge in plan.tree) else None


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
            steps.append(_PathJoint(edge, "pointing" if is_universal(leg, plan, edge) else leg.joints[edge.joint].kind))
    return steps


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
