"""Robot files from a few sizes: hexapod, Delta, servo hexapod, tripod."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from string import Template
from typing import Any

from ...errors import InputError, UnknownNameError
from . import check_name, template_part

DEFAULTS: dict[str, dict[str, float]] = {
    "hexapod": {
        "base_radius": 0.3, "platform_radius": 0.2, "base_angle": 24.0, "platform_angle": 24.0, "height": 0.4,
        "stroke": 0.16, "mass": 50.0, "leg_mass": 4.5,
    },
    "delta": {
        "base_radius": 0.15, "platform_radius": 0.05, "arm": 0.2, "height": 0.4, "mass": 1.0, "leg_mass": 0.7,
    },
    "servo-hexapod": {
        "base_radius": 0.1, "platform_radius": 0.08, "base_angle": 20.0, "platform_angle": 20.0, "arm": 0.03,
        "height": 0.1, "mass": 0.5, "leg_mass": 0.04,
    },
    "tripod": {
        "base_radius": 0.35, "platform_radius": 0.2, "height": 0.6, "stroke": 0.3, "mass": 6.0, "leg_mass": 3.4,
    },
}  # fmt: skip
"""Sizes of each kind of robot [m, deg, kg]; angles are those between the two joints of a pair."""
_WHAT = {
    "hexapod": ("a hexapod (Gough-Stewart platform, six UPS legs)", "Hexapod"),
    "delta": ("a Delta robot", "Delta robot"),
    "servo-hexapod": ("a hexapod on six servo motors (6-RSS)", "Servo hexapod"),
    "tripod": ("a tripod of three hinged, extensible legs (3-RPS)", "Tripod"),
}
_LARGEST = 1e9  # of a size, whatever its unit
_SLENDER = 0.05  # radius of a cylinder over its length, where none is given


def robot_text(kind: str, name: str, sizes: Mapping[str, float | None]) -> str:
    """Text of a robot file of a kind with the sizes given, the others as in ``DEFAULTS``.

    Parameters
    ----------
    kind : "hexapod", "delta", "servo-hexapod" or "tripod"
    name : name of the robot
    sizes : lengths [m], angles [deg] and masses [kg] by name; None is the default

    Returns
    -------
    str : a valid robot file with comments; ``polypod.errors.InputError`` for a size that the kind does not have
        or that is not possible
    """
    from .. import loads

    if kind not in DEFAULTS:
        raise UnknownNameError("kind of robot", kind, tuple(DEFAULTS))
    check_name(name)
    known = DEFAULTS[kind]
    given = {key: value for key, value in sizes.items() if value is not None}
    for key, value in given.items():
        if key not in known:
            owners = " or ".join(other for other, theirs in DEFAULTS.items() if key in theirs)
            raise InputError(f"{key}: is a size of kind {owners}, not of {kind}; leave it out")
        if not (0 < value <= _LARGEST):
            raise InputError(f"{key}: must be greater than 0 and at most {_LARGEST:g}, got {value:g}")
    size = {**known, **given}
    for key in ("base_angle", "platform_angle"):
        if size.get(key, 0.0) >= 120.0:
            raise InputError(f"{key}: two joints of a pair are less than 120 deg apart, got {size[key]:g}")
    disc = _rounded(0.5 * size["mass"] * size["platform_radius"] ** 2)
    options = " ".join([f"--kind {kind}", *(f"{_option(key)} {value:.9g}" for key, value in given.items())])
    what, title = _WHAT[kind]
    words = {"name": name, "what": what, "title": title, "options": options}
    numbers = {**size, **_BUILDERS[kind](size)}
    shown = {key: _shown(value) for key, value in numbers.items()}
    # Half of the moment that the file has, in full: twice a rounded half would exceed it, which no body's does.
    shown |= {"inertia_along": repr(disc), "inertia_across": repr(0.5 * disc)}
    text = Template(template_part("head") + template_part(kind)).substitute({**shown, **words})
    loads(text, f"{name}.yaml")  # what is written is right
    return text


def _option(key: str) -> str:
    return "--" + key.replace("_", "-")


def _shown(value: Any) -> str:
    """A number, or a list of them, as a file has it: nine digits, which close a leg to a nanometre."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(_rounded(value))


def _rounded(value: float) -> float:
    return float(f"{value:.9g}") + 0.0


def _on_circle(radius: float, degrees: float, height: float = 0.0) -> list[float]:
    angle = math.radians(degrees)
    return [round(radius * math.cos(angle), 12), round(radius * math.sin(angle), 12), height]


def _hexapod(size: dict[str, float]) -> dict[str, Any]:
    """Base joints beside 0 deg, platform joints of the same legs beside -60 and 60 deg."""
    base, platform = 0.5 * size["base_angle"], 60.0 - 0.5 * size["platform_angle"]
    points = {}
    for leg, side in ((1, -1.0), (2, 1.0)):
        points[f"base_{leg}"] = _on_circle(size["base_radius"], side * base)
        points[f"platform_{leg}"] = _on_circle(size["platform_radius"], side * platform)
        points[f"axis_{leg}"] = _on_circle(1.0, side * base + 90.0)
    bottom, top = points["base_2"], points["platform_2"]
    length = math.hypot(top[0] - bottom[0], top[1] - bottom[1], size["height"])
    shortest, longest = _stroke(length, size["stroke"])
    lower, upper = size["leg_mass"] * 2 / 3, size["leg_mass"] / 3
    half = 0.5 * length
    return {
        **points, "shortest": shortest, "longest": longest, "quarter": 0.25 * length,
        "lower_mass": lower, "upper_mass": upper, **_cylinder("lower", lower, half), **_cylinder("upper", upper, half),
    }  # fmt: skip


def _cylinder(name: str, mass: float, length: float) -> dict[str, float]:
    """Moments of inertia of a solid cylinder."""
    radius = _SLENDER * length
    return {f"{name}_along": 0.5 * mass * radius**2, f"{name}_across": mass * (3 * radius**2 + length**2) / 12}


def _stroke(length: float, stroke: float) -> tuple[float, float]:
    if stroke >= length:
        raise InputError(f"stroke: must be less than the leg's length at home, {length:.4g} m, got {stroke:g}")
    return length - 0.5 * stroke, length + 0.5 * stroke


def _tripod(size: dict[str, float]) -> dict[str, Any]:
    base, platform, height = size["base_radius"], size["platform_radius"], size["height"]
    length = math.hypot(base - platform, height)
    shortest, longest = _stroke(length, size["stroke"])
    return {
        "length": length, "shortest": shortest, "longest": longest,
        "middle": [0.5 * (base + platform), 0.0, 0.5 * height],
        "lower_mass": 0.75 * size["leg_mass"], "upper_mass": 0.25 * size["leg_mass"],
        "lower_radius": _SLENDER * length, "upper_radius": 0.5 * _SLENDER * length,
    }  # fmt: skip


def _delta(size: dict[str, float]) -> dict[str, Any]:
    elbow = size["base_radius"] + size["arm"]
    if size["platform_radius"] >= elbow:
        reach = f"base_radius= and arm= reach {elbow:g} m"
        raise InputError(f"platform_radius: {reach}; the platform must be smaller, got {size['platform_radius']:g}")
    rod = math.hypot(elbow - size["platform_radius"], size["height"])
    arm = size["leg_mass"] * 5 / 7
    return {
        "elbow": elbow, "rod": rod, "arm_mass": arm, "rod_mass": size["leg_mass"] / 7,
        "arm_radius": _SLENDER * size["arm"], "half_width": 0.5 * size["platform_radius"],
        "rotor": 0.5 * arm * size["arm"] ** 2,
    }  # fmt: skip


def _servo_hexapod(size: dict[str, float]) -> dict[str, Any]:
    """Motors beside 0 deg, arms level and perpendicular to the plane between a pair, away from each other; pairs of
    joints on the platform are those of neighbouring pairs of motors, as of a hexapod."""
    motor = _on_circle(size["base_radius"], 0.5 * size["base_angle"])
    elbow = [motor[0], motor[1] + size["arm"], 0.0]
    ball = _on_circle(size["platform_radius"], 60.0 - 0.5 * size["platform_angle"], size["height"])
    arm = 0.5 * size["leg_mass"]
    return {
        "motor": motor, "elbow": elbow, "ball": ball, "rod": math.dist(elbow, ball), "arm_mass": arm, "rod_mass": arm,
        "arm_radius": 2 * _SLENDER * size["arm"], "rotor": arm * size["arm"] ** 2,
    }  # fmt: skip


_BUILDERS: dict[str, Callable[[dict[str, float]], dict[str, Any]]] = {
    "hexapod": _hexapod,
    "delta": _delta,
    "servo-hexapod": _servo_hexapod,
    "tripod": _tripod,
}
