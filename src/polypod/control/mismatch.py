"""Robots that differ from the real one, for controllers whose model is wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..description import FlexiblePlatform, Robot
from ..description.paths import changed
from ..errors import InputError

Described = TypeVar("Described")
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
    return robot.model_copy(
        update={
            "platform": _platform(robot, platform),
            "payload": _scaled(robot.payload, platform),
            "legs": _scaled(robot.legs, legs),
        }
    )


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
    result: Described = changed(data, lambda value, unit: _times(value, factor) if unit in INERTIAL else value)
    return result


def _times(value: Any, factor: float) -> Any:
    """A number, or numbers in tuples; None stays."""
    if isinstance(value, tuple):
        return tuple(_times(item, factor) for item in value)
    return value if value is None else factor * value
