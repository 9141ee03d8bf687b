"""Robots with motors that turn: the example's hexa, and one with a sliding leg among its cranks."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import polypod as pp

EXAMPLE = Path(__file__).parents[1] / "examples" / "custom_leg.py"


@cache
def hexa() -> pp.Robot:
    """Six cranks."""
    spec = importlib.util.spec_from_file_location("custom_leg", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    robot: pp.Robot = module.hexa()
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
