"""Known patterns of a chain: which joints are solved without iterating, and how.

A cut joint whose one side is known gives a point w to be reached by the joints on its other side. Read outward from a
known body these are: a hinge or slide and a rod (circle and sphere, line and sphere), a rod (a distance), a universal
joint and a slide, a hinge and a slide, two parallel hinges (two circles), a slide and a hinge, one hinge; or two hinges
whose axes meet a third of known direction (two cones).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .plan import Link, Plan


@dataclass(frozen=True)
class Recipe:
    """How a joint is solved: by what (``way``), to reach which cut joint, with which joint next.

    ``branch`` is that of its root, ``tilt`` that of a universal joint. ``straight`` says that a universal joint's child
    reaches out square to the second axis, or a slide along the line to what it reaches. ``alone`` says that no joint
    before it has brought the point to its distance: that is left to the platform.
    """

    way: str
    cut: int
    other: int = -1
    branch: int = 1
    tilt: int = 1
    straight: bool = False
    alone: bool = False


def recipes(leg: Any, plan: Plan) -> dict[int, Recipe] | None:
    """A recipe for each tree joint in the order of solving; None if a part of the leg is none of the patterns."""
    known = {"base", "platform"}
    found: dict[int, Recipe] = {}
    parent = {link.child: link for link in plan.tree}
    waiting = list(plan.cuts)
    while waiting:
        for cut in waiting:
            path = _path(cut, known, parent)
            new = None if path is None else _matched(leg, plan, path, cut)
            if path is None or new is None:
                continue
            found |= new
            known |= {link.child for link in path}
            waiting.remove(cut)
            break
        else:
            return None
    return found if all(link.joint in found for link in plan.tree) else None


def _path(cut: Link, known: set[str], parent: dict[str, Link]) -> list[Link] | None:
    """Tree joints from a known body to the unknown side of a cut joint; None if both sides are unknown."""
    sides = [side for side in (cut.parent, cut.child) if side not in known]
    if len(sides) > 1:
        return None
    path: list[Link] = []
    body = sides[0] if sides else cut.parent
    while body not in known:
        path.insert(0, parent[body])
        body = parent[body].parent
    return path


def _matched(leg: Any, plan: Plan, path: Sequence[Link], cut: Link) -> dict[int, Recipe] | None:
    kinds = tuple("pointing" if _points(leg, plan, link) else leg.joints[link.joint].kind for link in path)
    numbers = [link.joint for link in path]
    end, target = leg.joints[cut.joint], cut.joint
    if not path:
        return {}
    if end.kind not in ("spherical", "universal", "revolute"):
        return None
    if kinds == ("pointing",):
        return {numbers[0]: replace(_rod(leg, plan, path[0], target), alone=True)}
    if kinds == ("revolute",) and not _on_axis(leg, numbers[0], target):
        return {numbers[0]: Recipe("turn", target, alone=True)}
    if len(path) != 2:
        return None
    first, second = numbers
    across = {first: Recipe("reach across", target, second), second: Recipe("turn", target)}
    if kinds in (("revolute", "pointing"), ("prismatic", "pointing")):
        return {first: Recipe("reach", target, second), second: _rod(leg, plan, path[1], target)}
    if kinds == ("pointing", "prismatic"):
        straight = _along(leg, path[0], second, target)
        return {first: Recipe("stretch", target, second, straight=straight), second: Recipe("stretched", target)}
    if kinds == ("revolute", "prismatic"):
        straight = _along(leg, path[0], second, target) and _square(leg.joints[first].axis, leg.joints[second].axis)
        return {first: Recipe("swing", target, second, straight=straight), second: Recipe("stretched", target)}
    if (
        kinds == ("revolute", "revolute")
        and parallel(leg.joints[first].axis, leg.joints[second].axis)
        and not _on_axis(leg, second, target)
    ):
        return across
    if kinds == ("prismatic", "revolute") and not _on_axis(leg, second, target):
        return across
    if kinds == ("revolute", "revolute") and end.kind == "revolute" and _meet(leg, first, second, target):
        return {first: Recipe("cones", target, second), second: Recipe("turn axis", target)}
    return None


def _rod(leg: Any, plan: Plan, link: Link, target: int) -> Recipe:
    joint = leg.joints[link.joint]
    if link.joint in plan.spins:
        return Recipe("rod", target, straight=True)
    rod = np.array(leg.joints[target].at) - np.array(joint.at)
    second = joint.axes[0 if link.reversed else 1]
    return Recipe("rod", target, straight=_square(rod / (np.linalg.norm(rod) or 1.0), second))


def _points(leg: Any, plan: Plan, link: Link) -> bool:
    """Whether a tree joint is universal, or a spherical one that stands for a universal one."""
    return leg.joints[link.joint].kind == "universal" or link.joint in plan.spins


def _square(a: Any, b: Any) -> bool:
    return bool(abs(np.dot(a, b)) < 1e-12)


def _along(leg: Any, first: Link, slide: int, target: int) -> bool:
    """Whether a slide runs along the line from a joint to the point that it reaches, square to the axis it carries."""
    reach = np.array(leg.joints[target].at) - np.array(leg.joints[first.joint].at)
    axis = np.array(leg.joints[slide].axis)
    axes = (leg.joints[first.joint].axes or ())[:: -1 if first.reversed else 1]
    straight = np.linalg.norm(np.cross(reach, axis)) < 1e-12 * max(float(np.linalg.norm(reach)), 1e-3)
    return bool(straight and all(_square(axis, a) for a in axes[1:]))


def parallel(a: Any, b: Any) -> bool:
    """Whether two directions are one to the rounding of their arithmetic: tilts beyond it are kept."""
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-11)


def _on_axis(leg: Any, hinge: int, target: int) -> bool:
    arm = np.array(leg.joints[target].at) - np.array(leg.joints[hinge].at)
    return bool(np.linalg.norm(np.cross(arm, leg.joints[hinge].axis)) < 1e-9)


def _meet(leg: Any, *numbers: int) -> bool:
    """Whether axes pass through one point."""
    rows, right = [], []
    for number in numbers:
        a = np.array(leg.joints[number].axis)
        across = np.eye(3) - np.outer(a, a)
        rows.append(across)
        right.append(across @ np.array(leg.joints[number].at))
    matrix, wanted = np.vstack(rows), np.concatenate(right)
    point = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    return bool(np.abs(matrix @ point - wanted).max() < 1e-9)


def on_drawn_branch(
    found: dict[int, Recipe], missed: Callable[[dict[int, Recipe]], set[int]]
) -> dict[int, Recipe] | None:
    """The recipes on the branches that are drawn at home; None if no choice gives home.

    ``missed`` says which joints have bodies that are elsewhere at home. A joint is judged by itself: those before it
    are right already, those after it may be wrong yet.
    """
    for joint, recipe in found.items():
        for branch, tilt in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            trial = {**found, joint: replace(recipe, branch=branch, tilt=tilt)}
            solved = {joint, recipe.other} if recipe.way in ("stretch", "swing") else {joint}
            if not solved & missed(trial):
                found = trial
                break
        else:
            return None
    return found
