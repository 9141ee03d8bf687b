"""Numbers that no machine has: gravity of no planet, bodies denser than any material, friction that holds a ship."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..description.body import Body
from ..description.flexible import FlexiblePlatform
from ..description.robot import Robot

DENSEST = 2.26e4
"""Osmium [kg/m^3]: no body is denser."""
_STRONGEST, _WEAKEST = 30.0, 0.1  # m/s^2: above Jupiter's, below that of any large moon
_BALL = 4.0 / 3.0 * math.pi


class _Largest(NamedTuple):
    """The largest plausible value of a field, its unit, and what is usual."""

    value: float
    unit: str
    usual: str


_FIELDS = {
    "viscous": _Largest(1e6, "N s/m or N m s/rad", "drives have 1 to 1e4"),
    "coulomb": _Largest(1.5, "(a coefficient, or an arm in m)", "coefficients are 0.001 to 0.3"),
    "drag": _Largest(1e6, "N or N m", "screws have 10 to 1000 N"),
    "static": _Largest(10.0, "(times the friction in motion)", "dry friction at rest is 1 to 2 times that in motion"),
    "rotor_mass": _Largest(1e6, "kg", "motors with a screw have 1 to 1000 kg, J (2 pi/lead)^2"),
    "rotor": _Largest(1e6, "kg or kg m^2", "motors have 1e-5 to 1 kg m^2, with a screw 1 to 1000 kg"),
}


def densest_radius(mass: float) -> float:
    """Radius [m] of a ball of the densest material."""
    return float((mass / (DENSEST * _BALL)) ** (1 / 3))


def extreme_numbers(robot: Robot) -> Iterator[tuple[str, str]]:
    """Field and remark of every number that no machine has."""
    strength = float(np.abs(robot.gravity).max())
    if strength > _STRONGEST or 0.0 < strength < _WEAKEST:
        factor, unit = (1e-3, "mm/s^2") if strength > _STRONGEST else (1e3, "km/s^2")
        meant = [float(f"{factor * x:.6g}") for x in robot.gravity]
        yield "gravity", f"has {strength:.4g} m/s^2, Earth 9.81: write {meant} if {unit} are meant"
    for path, body in robot.bodies():
        if not isinstance(body, FlexiblePlatform) and body.check != "none":
            yield from _density(path, body, robot.farthest)
    for leg in robot.legs:
        yield from _extreme_fields(leg.name, leg.model_dump(), robot.farthest)


def _density(path: str, body: Body, size: float) -> Iterator[tuple[str, str]]:
    """A ball is the largest body for its mass and moments: R^2 = 5/2 of its radius of gyration's square."""
    moment = float(np.trace(body.central_inertia)) / 3
    radius, of = size, f"the robot reaches {size:.4g} m"
    if moment > 0.0 and body.mass > 0.0:
        own = math.sqrt(2.5 * moment / body.mass)
        if own < radius:
            radius, of = own, f"its moments are those of a body of at most {2e3 * own:.4g} mm"
    if densest_radius(body.mass) > radius:
        yield (
            f"{path}.mass",
            f"got {body.mass:g} kg, more than any material has: {of}; write {body.mass / 1e3:g} if grams are meant",
        )


def _extreme_fields(path: str, value: Any, size: float) -> Iterator[tuple[str, str]]:
    """Field and remark of every extreme number of a leg's data, at any depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for key, item in items:
        here = f"{path}.{key}"
        if not isinstance(item, float):
            yield from _extreme_fields(here, item, size)
        elif key in _FIELDS and abs(item) > _FIELDS[key].value:
            largest = _FIELDS[key]
            yield here, f"got {item:g} {largest.unit}; {largest.usual}, and none more than {largest.value:g}"
        elif key == "cross_inertia" and item > 0.4 * DENSEST * _BALL * size**5:
            yield here, f"got {item:g} kg m^2, more than a ball of the robot's size ({size:.4g} m) has of any material"
    length = value.get("length") if isinstance(value, dict) else None
    if isinstance(length, (list, tuple)) and len(length) == 2 and length[0] < 0.0:
        yield f"{path}.length", f"from {length[0]:g} m; a leg's length is never negative: write 0 for no lower limit"
