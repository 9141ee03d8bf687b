"""Robots of one degree of freedom whose forces are known by hand, and their studies along a sine."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import polypod as pp
from polypod.motion import Motion, Task
from polypod.results import study

MASS, ACROSS, DOWN = 8.0, 3.0, 9.81
"""Mass of the platform [kg]; gravity across (along the hinge) and downwards [m/s^2]."""
ARM, MOMENT = 0.25, 0.1
"""Distance of the centre of mass below the hinge [m], moment of inertia about the centre of mass [kg m^2]."""
_ROD = {"mass": 0.0}


def slide(guide: dict[str, Any] | None = None, **joint: Any) -> pp.Robot:
    """A mass on a vertical guide, lifted by a slide below it through a vertical rod: F = m (g + a), m g_x across."""
    drive = {"name": "lift", "kind": "prismatic", "between": ["base", "carriage"], "axis": [0, 0, 1], "actuated": True}
    lifted = {
        "name": "drive",
        "kind": "chain",
        "bodies": {"carriage": _ROD, "rod": _ROD},
        "joints": [
            {**drive, **joint},
            {"name": "cross", "kind": "universal", "between": ["carriage", "rod"], "at": [0, 0, -0.5],
             "axes": [[1, 0, 0], [0, 1, 0]]},
            {"name": "ball", "kind": "spherical", "between": ["rod", "platform"], "at": [0, 0, -0.1]},
        ],
    }  # fmt: skip
    passive = {"name": "guide", "kind": "prismatic", "between": ["base", "platform"], "axis": [0, 0, 1]}
    return _robot(
        "slide", [ACROSS, 0.0, -DOWN], [0, 0, 0], {"name": "z", "motion": "translation", "axis": [0, 0, 1]},
        [lifted, {"name": "guide", "kind": "chain", "bodies": {}, "joints": [{**passive, **(guide or {})}]}],
    )  # fmt: skip


def hinge(bearing: dict[str, Any] | None = None, **joint: Any) -> pp.Robot:
    """A mass that hangs on a hinge about y and is turned through a parallelogram: tau = J a + m g r sin."""
    drive = {"name": "motor", "kind": "revolute", "between": ["base", "crank"], "at": [0, 0, -1], "axis": [0, 1, 0],
             "actuated": True}  # fmt: skip
    turned = {
        "name": "drive",
        "kind": "chain",
        "bodies": {"crank": _ROD, "rod": _ROD},
        "joints": [
            {**drive, **joint},
            {"name": "cross", "kind": "universal", "between": ["crank", "rod"], "at": [0.2, 0, -1],
             "axes": [[0, 1, 0], [1, 0, 0]]},
            {"name": "ball", "kind": "spherical", "between": ["rod", "platform"], "at": [0.2, 0, 0]},
        ],
    }  # fmt: skip
    passive = {"name": "hinge", "kind": "revolute", "between": ["base", "platform"], "at": [0, 0, 0], "axis": [0, 1, 0]}
    return _robot(
        "hinge", [0.0, ACROSS, -DOWN], [0, 0, -ARM], {"name": "pitch", "motion": "rotation", "axis": [0, 1, 0]},
        [turned, {"name": "hinge", "kind": "chain", "bodies": {}, "joints": [{**passive, **(bearing or {})}]}],
    )  # fmt: skip


def _robot(name: str, gravity: Any, com: Any, dof: Any, legs: Any) -> pp.Robot:
    platform = {"mass": MASS, "com": com, "inertia": [MOMENT, MOMENT, MOMENT]}
    data = {"name": name, "gravity": gravity, "platform": platform, "dof": [dof], "legs": legs}
    return pp.Robot.model_validate(data)


def sine(robot: pp.Robot, size: float, turns: float, count: int = 801) -> xr.Dataset:
    """The study of x = size sin(w t) over one period, w = 2 pi ``turns`` [rad/s]."""
    model, w = pp.Model(robot), 2 * np.pi * turns
    time = np.linspace(0.0, 1 / turns, count)
    x, v, a = size * np.sin(w * time), size * w * np.cos(w * time), -size * w**2 * np.sin(w * time)
    at = model.motion(x[:, None], v[:, None], a[:, None])
    return study(model, Task("sine", Motion(time, *at), None), certify=False)
