"""Robots with motors that turn: the example's hexa, and one with a sliding leg among its cranks."""

from __future__ import annotations

from functools import cache

import polypod as pp
from support.robots.user_legs import custom_leg


@cache
def hexa() -> pp.Robot:
    """Six cranks."""
    robot: pp.Robot = custom_leg().hexa()
    return robot


@cache
def mixed() -> pp.Robot:
    """Five cranks and, in place of the last, a leg that grows from where its motor was."""
    data = hexa().model_dump()
    for leg in data["legs"]:
        leg["kind"] = "RUS"
    last = data["legs"][-1]
    body = {"mass": 0.3, "com": (0.0, 0.0, 0.1), "inertia": (1e-3, 1e-3, 1e-4)}
    place = {"name": last["name"], "base": last["base"], "platform": last["platform"], "axis": last["axis"]}
    data["legs"] = [*data["legs"][:-1], {"kind": "UPS", **place, "lower": body, "upper": body}]
    return pp.Robot.model_validate({**data, "name": "mixed"})
