"""Parts of a chain that need no unknowns even where the rest of it is closed by iterating."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .alignment import on_line
from .patterns import Recipe, points, rod_recipe
from .plan import Link, Plan


def tails(leg: Any, plan: Plan) -> tuple[tuple[Link, ...], dict[int, Recipe]]:
    """For a leg that is closed by iterating: bodies that point at the cut joint they end in, wherever that is.

    Their joints are no unknowns then, and of the gap at the cut joint a length is left, or two at a hinge's end. The
    tree in an order in which everything is known in time, and a recipe for each such joint.
    """
    parent = {link.child: link for link in plan.tree}
    found: dict[int, Recipe] = {}
    waits: dict[str, str] = {}
    for cut in plan.cuts:
        if leg.joints[cut.joint].kind not in ("spherical", "universal", "revolute"):
            continue
        for side, target in ((cut.parent, cut.child), (cut.child, cut.parent)):
            link = parent.get(side)
            recipe = None if link is None or link.joint in found else _tail(leg, plan, link, cut.joint)
            if link is None or recipe is None or _in_time(plan, {**waits, side: target}) is None:
                continue
            found[link.joint], waits[side] = recipe, target
            break
    return _in_time(plan, waits) or plan.tree, found


def _tail(leg: Any, plan: Plan, link: Link, target: int) -> Recipe | None:
    joint, point = leg.joints[link.joint], leg.joints[target].at
    if points(leg, plan, link):
        rod = rod_recipe(leg, plan, link, target)
        return (
            replace(rod, alone=True) if rod.straight and not np.allclose(point, joint.at, rtol=0, atol=1e-9) else None
        )
    if joint.kind == "revolute" and not on_line(point, joint.at, joint.axis):
        return Recipe("turn", target, alone=True)
    return None


def _in_time(plan: Plan, waits: dict[str, str]) -> tuple[Link, ...] | None:
    """Tree joints in an order in which bodies come after those they wait for; None if there is none."""
    known, left, order = {"base", "platform"}, list(plan.tree), []
    while left:
        link = next((one for one in left if one.parent in known and waits.get(one.child, "base") in known), None)
        if link is None:
            return None
        left.remove(link)
        known.add(link.child)
        order.append(link)
    return tuple(order)
