"""Robots that differ from the real one, for controllers whose model is wrong."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..description import Body, FlexiblePlatform, Robot
from ..errors import InputError, UnphysicalWarning


def scaled_masses(robot: Robot, platform: float = 1.0, legs: float = 1.0) -> Robot:
    """The robot with mass and inertia of its platform and of all that moves in its legs multiplied by factors.

    All masses of a flexible platform's nodes are multiplied; its shapes, stiffness and generalized damping stay.
    """
    for name, factor in (("platform", platform), ("legs", legs)):
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(f"{name}: a factor greater than 0 is needed, got {factor}")
    data = robot.model_dump(exclude={"platform"})
    data["platform"] = _platform(robot, platform)
    for leg, numbers in zip(robot.legs, data["legs"], strict=True):
        for field in type(leg).model_fields:
            value = getattr(leg, field)
            if isinstance(value, Body):
                numbers[field] = _scaled(value, legs)
            elif field in ("rotor_mass", "cross_inertia"):
                numbers[field] = legs * value
    with warnings.catch_warnings():  # the same oddities as the robot's own, already told
        warnings.simplefilter("ignore", UnphysicalWarning)
        return Robot.model_validate(data)


def _platform(robot: Robot, factor: float) -> Any:
    if not isinstance(robot.platform, FlexiblePlatform):
        return _scaled(robot.platform, factor)
    if factor == 1.0:  # a plate stays a plate
        return robot.platform
    from ..flexible.platforms import modes_of

    modes = modes_of(robot)
    # a damping ratio would give another damping with other masses
    damping = None if modes.damping_ratio is None and modes.damping is None else modes.generalized_damping
    return FlexiblePlatform(modes=replace(modes, masses=factor * modes.masses, damping=damping, damping_ratio=None))


def _scaled(body: Body, factor: float) -> dict[str, object]:
    numbers = body.model_dump()
    numbers["mass"] = factor * body.mass
    numbers["inertia"] = [[factor * entry for entry in row] for row in body.inertia]
    return numbers
