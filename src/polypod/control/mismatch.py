"""Robots that differ from the real one, for controllers whose model is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel

from ..description import FlexiblePlatform, Robot
from ..description.quantities import unit_of
from ..errors import InputError

Described = TypeVar("Described", bound=BaseModel)
INERTIAL = ("kg", "kg m^2")
"""Units of the numbers that make a robot heavy; the schema states the unit of every quantity."""


def scaled_masses(robot: Robot, platform: float = 1.0, legs: float = 1.0) -> Robot:
    """The robot with all masses and inertias of its platform and its legs multiplied by factors.

    In legs these are all fields whose unit is kg or kg m^2; a user-defined leg kind must declare it (``Mass``,
    ``Moment``, ``Body``). All nodal masses of a flexible platform are multiplied; its shapes, stiffness and generalized
    damping stay.

    Parameters
    ----------
    robot : Robot
        The robot.
    platform : float, optional
        Factor of the platform and its payload.
    legs : float, optional
        Factor of everything that moves in the legs.

    Returns
    -------
    Robot
        The changed robot.
    """
    for name, factor in (("platform", platform), ("legs", legs)):
        if not (np.isfinite(factor) and factor > 0):
            raise InputError(f"{name}: a factor greater than 0 is needed, got {factor}")
    payload = _within(robot.payload, platform)
    changed = {
        "platform": _platform(robot, platform),
        "payload": payload,
        "legs": tuple(_scaled(leg, legs) for leg in robot.legs),
    }
    return robot.model_copy(update=changed)


def _platform(robot: Robot, factor: float) -> Any:
    if not isinstance(robot.platform, FlexiblePlatform):
        return _scaled(robot.platform, factor)
    if factor == 1.0:  # a plate stays a plate
        return robot.platform
    from ..platforms.modes import modes_of

    modes = modes_of(robot)
    # a damping ratio would give another damping with other masses
    damping = None if modes.damping_ratio is None and modes.damping is None else modes.generalized_damping
    return FlexiblePlatform(modes=replace(modes, masses=factor * modes.masses, damping=damping, damping_ratio=None))


def _scaled(data: Described, factor: float) -> Described:
    """Data with every number of an inertial unit multiplied, however deep it stands.

    A factor greater than zero leaves all that was checked when the data were read: no need to check again.
    """
    changed = {}
    for name, field in type(data).model_fields.items():
        value = getattr(data, name)
        new = _multiplied(value, factor) if unit_of(field) in INERTIAL else _within(value, factor)
        if new is not value:
            changed[name] = new
    return data.model_copy(update=changed)


def _within(value: Any, factor: float) -> Any:
    """Data inside a field that has no inertial unit of its own."""
    if isinstance(value, BaseModel):
        return _scaled(value, factor)
    if isinstance(value, tuple) and any(isinstance(item, (BaseModel, tuple)) for item in value):
        return tuple(_within(item, factor) for item in value)
    if isinstance(value, dict) and any(isinstance(item, BaseModel) for item in value.values()):
        return type(value)({key: _within(item, factor) for key, item in value.items()})
    return value


def _multiplied(value: Any, factor: float) -> Any:
    """A number, or numbers in tuples and mappings; None stays."""
    if isinstance(value, tuple):
        return tuple(_multiplied(item, factor) for item in value)
    if isinstance(value, dict):
        return type(value)({key: _multiplied(item, factor) for key, item in value.items()})
    return value if value is None else factor * value
