"""Numbers that are allowed but hardly meant, mostly in another unit: what was got, what is usual, what to write.

Thresholds lie far from anything built, so that a remark nearly always points at a slip.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..description.body import Body
from ..description.flexible import FlexiblePlatform, PlateData
from ..description.leg import Friction
from ..description.paths import walk
from ..description.robot import Robot
from ..legs import Leg
from .faults import merge_remarks

LARGEST = 50.0
"""No parallel robot built is larger [m]."""
LARGEST_ARM = 0.02
"""Friction arm of a rotary joint [m]: a coefficient of 0.2 in a bearing of 100 mm radius has it."""
_FAR = 3.0  # radius of gyration, or centre of mass from the body's origin, in sizes of the robot
_FAR_POINT = 20.0  # points and lengths of elements, in sizes of the robot
_WIDE = 20.0  # plate's outline in distances of the platform's joints from the origin of {P}
_THICK = 0.25  # of the plate's width: a thin plate's equations are far off there
_SOFTEST, _STIFFEST = 1e6, 2e12  # Pa: soft foam, and above diamond
_LIGHTEST, _HEAVIEST = 25.0, 2.3e4  # kg/m^3: light foam, and above osmium
_MOST_DAMPED = 0.5
_LONGEST_LEAD = 0.5  # m for a turn: a belt drive's pulley of 160 mm; screws have a tenth of it at most
_HEAVIEST_ROTOR = 300.0  # reflected inertia of one motor over the mass of all bodies
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
    yield from merge_remarks(
        (*_bodies(robot), *_arms(robot), *_drives(robot), *_elements(robot), *extreme), [leg.name for leg in robot.legs]
    )


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
            f"{place}: reaches {reach:.4g} m from the platform's origin, but its joints only {joints:.4g} m; "
            f"positions are in metres: write {0.001 * reach:.4g} for {reach:.4g} if millimetres are meant"
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


def _drives(robot: Robot) -> Iterator[tuple[str, str]]:
    """Screws and rotors beyond anything built: field and remark."""
    if robot.farthest > LARGEST:
        return
    mass = sum(body.mass for _, body in robot.bodies())
    for leg in robot.legs:
        actuators = leg.actuator_names()
        for actuator, own in zip(actuators, leg.actuator_labels(actuators), strict=True):
            drive = leg.drive(actuator)
            turning = drive.lead is None
            usual = _HEAVIEST_ROTOR * mass * (robot.farthest**2 if turning else 1.0)
            if drive.lead is not None and drive.lead > _LONGEST_LEAD:
                yield (
                    f"{own}.lead",
                    f"is {drive.lead:g} m for a turn; screws have 1 to 100 mm: write {drive.lead:g} mm, or "
                    f"{1e-3 * drive.lead:g}, if mm are meant",
                )
            elif drive.rotor_inertia and drive.reflected > usual:
                unit = "kg m^2" if turning else "kg"
                yield (
                    f"{own}.rotor_inertia",
                    f"{drive.rotor_inertia:g} kg m^2 at the motor is {drive.reflected:.4g} {unit} at the actuator, in "
                    f"a robot of {mass:.4g} kg; the unit is kg m^2: write {drive.rotor_inertia:g} kg cm^2 or "
                    f"{drive.rotor_inertia:g} kg mm^2 if these are meant",
                )


def _elements(robot: Robot) -> Iterator[tuple[str, str]]:
    """Springs and the like with points or lengths much larger than the robot: field and remark."""
    size = robot.farthest
    if size > LARGEST:
        return
    for element in robot.elements:
        if element.joint:
            continue  # displacements of joints may be angles of many turns
        given = {"at": np.array(element.at).ravel(), "length": np.ravel(getattr(element, "length", None) or 0.0)}
        if element.kind == "gas spring":
            given["force"] = np.array(element.force)[:, 0]  # type: ignore[attr-defined]
        for field, values in given.items():
            far = float(np.abs(values).max(initial=0.0))
            if far > _FAR_POINT * max(size, 0.1):
                what = "a length" if field != "at" else "a coordinate"
                yield (
                    f"elements.{element.name}.{field}",
                    f"has {what} of {far:.4g} m in a robot of {size:.4g} m; the unit is m: write {far:.4g} mm or "
                    f"{far / 1e3:.4g} if mm are meant",
                )


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
                f"got {large[name]:g}, an arm of {1000.0 * large[name]:g} mm; in a revolute joint coulomb is an "
                "arm in m: the friction coefficient times the bearing radius, such as 0.1 * 0.02 m = 0.002",
            )


def _turning(leg: Any) -> set[str]:
    """Friction fields of a leg that belong to joints that turn only."""
    kinds = leg.friction_joints()
    return {name for name, joints in kinds.items() if "prismatic" not in joints}


# ----------------------------------------------------------------------------------------------------------------------
# Numbers that no machine has: gravity of no planet, bodies denser than any material, friction that holds a ship.

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
    "static": _Largest(10.0, "(times the friction in motion)", "static friction is 1 to 2 times sliding friction"),
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
        yield "gravity", f"is {strength:.4g} m/s^2 (Earth: 9.81): write {meant} if {unit} are meant"
    for path, body in robot.bodies():
        if not isinstance(body, FlexiblePlatform) and body.check != "none":
            yield from _density(path, body, robot.farthest)
    for leg in robot.legs:
        for path, value, _ in walk(leg, leg.name):
            yield from _extreme_value(path, value, robot.farthest)


def _density(path: str, body: Body, size: float) -> Iterator[tuple[str, str]]:
    """A ball is the largest body for its mass and moments: R^2 = 5/2 of its radius of gyration's square."""
    moment = float(np.trace(body.central_inertia)) / 3
    radius, of = size or math.inf, f"the robot reaches {size:.4g} m"  # a gantry may be drawn in one point
    if moment > 0.0 and body.mass > 0.0:
        own = math.sqrt(2.5 * moment / body.mass)
        if own < radius:
            radius, of = own, f"its moments of inertia fit a body of at most {2000.0 * own:.4g} mm"
    if densest_radius(body.mass) > radius:
        yield (
            f"{path}.mass",
            f"got {body.mass:g} kg, more than any material allows: {of}; write {body.mass / 1000.0:g} if grams "
            "are meant",
        )


def _extreme_value(path: str, value: Any, size: float) -> Iterator[tuple[str, str]]:
    """Field and remark of an extreme number of a leg."""
    field = path.rpartition(".")[2]
    if field == "length" and isinstance(value, tuple) and len(value) == 2 and value[0] < 0.0:
        yield path, f"from {value[0]:g} m; a leg's length cannot be negative: write 0 for no lower limit"
    elif not isinstance(value, float):
        return
    elif field in _FIELDS and abs(value) > _FIELDS[field].value:
        largest = _FIELDS[field]
        yield path, f"got {value:g} {largest.unit}; {largest.usual}, never more than {largest.value:g}; check its unit"
    elif field == "cross_inertia" and value > 0.4 * DENSEST * _BALL * size**5:
        ball = f"a solid ball of the robot's size ({size:.4g} m) of any material"
        yield path, f"got {value:g} kg m^2, more than {ball}; check its unit"
