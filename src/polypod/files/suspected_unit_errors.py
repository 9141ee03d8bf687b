"""Numbers that are allowed but hardly meant, mostly in another unit: what was got, what is usual, what to write.

Thresholds lie far from anything built, so that a remark nearly always points at a slip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..description.body import Body
from ..description.flexible import FlexiblePlatform, PlateData
from ..description.leg import Friction
from ..description.robot import Robot
from ..legs import Leg
from .extremes import extreme_numbers
from .per_leg import merge_remarks

LARGEST = 50.0
"""No parallel robot built is larger [m]."""
LARGEST_ARM = 0.02
"""Friction arm of a rotary joint [m]: a coefficient of 0.2 in a bearing of 100 mm radius has it."""
_FAR = 3.0  # radius of gyration, or centre of mass from the body's origin, in sizes of the robot
_WIDE = 20.0  # plate's outline in distances of the platform's joints from the origin of {P}
_THICK = 0.25  # of the plate's width: a thin plate's equations are far off there
_SOFTEST, _STIFFEST = 1e6, 2e12  # Pa: soft foam, and above diamond
_LIGHTEST, _HEAVIEST = 25.0, 2.3e4  # kg/m^3: light foam, and above osmium
_MOST_DAMPED = 0.5
_DENSITY_UNITS = {"g/cm^3": 1e3, "g/mm^3": 1e6, "kg/mm^3": 1e9, "t/mm^3": 1e12}
_INERTIA_UNITS = {"kg mm^2": 1e-6, "g mm^2": 1e-9}


def suspicious_numbers(robot: Robot) -> Iterator[str]:
    """A sentence for each number that is allowed but hardly meant: what was got, what is usual, what to write."""
    far = robot.farthest
    if far > LARGEST:
        meant = f"write {far:.4g} mm or {far / 1e3:.4g} if millimetres are meant"
        yield f"robot {robot.name!r} reaches {far:.4g} m from an origin; numbers are in metres: {meant}"
    if isinstance(robot.platform, FlexiblePlatform):
        yield from _bending(robot, robot.platform)
    extreme = () if far > LARGEST else extreme_numbers(robot)  # millimetres make all else strange
    yield from merge_remarks((*_bodies(robot), *_arms(robot), *extreme), [leg.name for leg in robot.legs])


def _bending(robot: Robot, platform: FlexiblePlatform) -> Iterator[str]:
    """Numbers of a flexible platform that are hardly meant."""
    plate, modes = platform.plate, platform.modes
    if plate is not None:
        place, points, ratios = "platform.plate", np.array(plate.outline), [plate.damping_ratio]
        yield from _plate(plate)
    else:
        assert modes is not None
        place, points = "platform.modes", modes.nodes
        ratios = [] if modes.damping_ratio is None else np.ravel(modes.damping_ratio).tolist()
    reach, joints = float(np.abs(points).max()), float(np.linalg.norm(robot.attachments, axis=1).max())
    if reach > LARGEST or reach > _WIDE * joints > 0.0:
        yield (
            f"{place}: reaches {reach:.4g} m from the platform's origin, the joints on it only {joints:.4g} m; numbers "
            f"are in metres: write {1e-3 * reach:.4g} for {reach:.4g} if millimetres are meant"
        )
    most = max(ratios, default=0.0)
    if most > _MOST_DAMPED:
        yield (
            f"{place}: damping_ratio: got {most:g}; structures have 0.001 to 0.1, and a mode of 1 or more does not "
            f"vibrate: write {most / 100:g} if per cent are meant"
        )


def _plate(plate: PlateData) -> Iterator[str]:
    width = float(np.ptp(np.array(plate.outline), axis=0).min())
    if plate.thickness > _THICK * width:
        yield (
            f"platform.plate.thickness: got {plate.thickness:g} m for a plate {width:.4g} m wide; a thin plate has "
            f"less than a tenth of its width: write {plate.thickness / 1e3:g} if millimetres are meant"
        )
    if not _SOFTEST <= plate.young <= _STIFFEST:
        unit, factor = ("GPa", 1e9) if plate.young < 2e3 else ("MPa (N/mm^2)", 1e6)
        meant = f": write {plate.young * factor:g} if {unit} are meant" if plate.young < _SOFTEST else ""
        yield f"platform.plate.young: got {plate.young:g} Pa; plastics have 1e9, aluminium 70e9, steel 210e9 Pa{meant}"
    if not _LIGHTEST <= plate.density <= _HEAVIEST:
        fits = ((u, f) for u, f in _DENSITY_UNITS.items() if _LIGHTEST <= plate.density * f <= _HEAVIEST)
        unit, factor = next(fits, ("", 0.0))
        meant = f": write {plate.density * factor:g} if {unit} is meant" if unit else ""
        yield f"platform.plate.density: got {plate.density:g} kg/m^3; plastics have 1000, steel 7850 kg/m^3{meant}"


def _bodies(robot: Robot) -> Iterator[tuple[str, str]]:
    """Bodies much larger than the robot: field and remark."""
    size = robot.farthest
    for path, body in robot.bodies():
        if body.mass == 0.0 or isinstance(body, FlexiblePlatform) or size > LARGEST:
            continue  # reported above as a robot in millimetres
        inertia = float(np.abs(np.linalg.eigvalsh(body.central_inertia)).max())
        radius = float(np.sqrt(inertia / body.mass))
        away = float(np.linalg.norm(body.com))
        if away > _FAR * size:
            yield (
                f"{path}.com",
                f"is {away:.4g} m from the body's origin in a robot of {size:.4g} m; the unit is m: write "
                f"{[float(f'{1e-3 * x:.6g}') for x in body.com]} if mm are meant",
            )
        elif radius > _FAR * size:
            yield (
                f"{path}.inertia",
                f"{inertia:.4g} kg m^2 of {body.mass:g} kg is a radius of gyration of {radius:.4g} m in a robot of "
                f"{size:.4g} m; the unit is kg m^2{_instead(body, radius, size)}",
            )


def _instead(body: Body, radius: float, size: float) -> str:
    """The inertia as it would be from the first unit that makes the body smaller than the robot."""
    for unit, factor in _INERTIA_UNITS.items():
        if radius * factor**0.5 < size:
            tensor = np.array(body.inertia)
            plain = not np.any(tensor - np.diag(np.diag(tensor)))
            listed = [float(f"{factor * x:.6g}") for x in np.diag(tensor)]
            return f": write {listed if plain else f'{factor:g} times these numbers'} if {unit} are meant"
    return ""


def _arms(robot: Robot) -> Iterator[tuple[str, str]]:
    """Friction arms of rotary joints as large as a friction coefficient: field and remark."""
    for leg in robot.legs:
        values = {name: getattr(leg, name) for name in type(leg).model_fields}
        large = {k: v.coulomb for k, v in values.items() if isinstance(v, Friction) and v.coulomb > LARGEST_ARM}
        turning = _turning(leg) if large and isinstance(leg, Leg) else set()
        for name in large.keys() & turning:
            yield (
                f"{leg.name}.{name}.coulomb",
                f"got {large[name]:g}, an arm of {1e3 * large[name]:g} mm; coulomb is an arm in m in a joint that "
                "turns: the friction coefficient times the bearing's radius, such as 0.1 * 0.02 m = 0.002",
            )


def _turning(leg: Any) -> set[str]:
    """Friction fields of a leg that belong to joints that turn only."""
    kinds = leg.friction_joints()
    return {name for name, joints in kinds.items() if "prismatic" not in joints}
