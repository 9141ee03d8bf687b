"""Recipes for a chain that is closed by iterating: joints that need no unknowns although the rest of it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .alignment import on_line
from .patterns import ClosedFormStep, is_universal, rod_closed_form
from .plan import Edge, Plan


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
    if is_universal(leg, plan, edge):
        rod = rod_closed_form(leg, plan, edge, target)
        apart = not np.allclose(point, joint.at, rtol=0, atol=1e-9)
        return replace(rod, alone=True) if rod.straight and apart else None
    if joint.kind == "revolute" and not on_line(point, joint.at, joint.axis):
        return ClosedFormStep("turn", target, alone=True)
    return None


def _dependency_order(plan: Plan, depends: dict[str, str]) -> tuple[Edge, ...] | None:
    """The tree with every body after its parent and after the body it depends on; None for circular dependencies."""
    known, left, order = {"base", "platform"}, list(plan.tree), []
    while left:
        edge = next((one for one in left if one.parent in known and depends.get(one.child, "base") in known), None)
        if edge is None:
            return None
        left.remove(edge)
        known.add(edge.child)
        order.append(edge)
    return tuple(order)
