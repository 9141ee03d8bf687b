"""The kinds of limits that there are, one entry each: who has it, what the file calls it, and what is compared with it.

``value`` is what a state asks, in numbers (..., k) or in CasADi symbols (k) alike, from what the model says of it
(``needs``): ``force``, ``qdot``, ``qddot`` and ``q`` of actuators; ``limited`` quantities of legs; ``twist`` and
``acceleration`` of the platform; ``load`` of joints; ``clearance`` of groups of bodies; ``condition`` and ``distance``
of the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np

from ..arrays import Array

Subject = Literal["actuator", "cable", "range", "joint", "platform", "pair", "robot"]
Over = Literal["instant", "rms", "span", "mean"]
Side = Literal["size", "up", "range", "least"]
Given = Mapping[str, Any]


class Kind(NamedTuple):
    """A kind of limit.

    ``of`` says what has it, ``field`` where a robot file states it, ``needs`` what the model must say. ``over``: it
    holds at every instant, or for the root mean square, the span or the power mean of a whole motion. ``side``: a
    ``size`` is |value| over the bound; ``up`` is the value over it; in a ``range`` it is the distance from the middle
    over half of the range; ``least`` is the bound over the value. ``unit`` has {q} and {f} for those of an actuator.
    ``usual``: a robot file without any such limit is worth a word.
    """

    of: Subject
    field: str
    needs: tuple[str, ...]
    over: Over
    side: Side
    unit: str
    value: Callable[[Given], Any]
    usual: bool = False


def where(condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where a condition holds, else ``no``: of arrays or symbols."""
    return ca.if_else(condition, yes, no) if isinstance(condition, ca.SX) else np.where(condition, yes, no)


def size(value: Any) -> Any:
    """|value| of an array or of symbols."""
    return ca.fabs(value) if isinstance(value, ca.SX) else np.abs(value)


def motor_torque(given: Given) -> Any:
    """Torque of motors [N m]: what turns the rotor, and what goes through screw and gear with their losses.

    tau = J n qddot + s/eta if s qdot >= 0 (it drives, or starts), s eta if it brakes, with s = (F - J n^2 qddot)/n the
    torque behind the losses, n the ratio and J n^2 what the rotor counts at the coordinate, in F already.
    """
    # factors in place of quotients: those of numbers alone are computed once for many states
    rotor, turns = given["reflected"] * given["qddot"], 1.0 / given["ratio"]
    behind = (given["force"] - rotor) * turns
    lost = behind * where(behind * given["qdot"] >= 0, 1.0 / given["efficiency"], given["efficiency"])
    return rotor * turns + lost


def envelope_use(corners: Sequence[tuple[Any, Any]], speed: Any, force: Any) -> Any:
    """Use of force-speed curves: the factor by which a curve must grow in both axes to pass through a state.

    ``corners`` are speeds and forces of the curves from zero speed on, the last at zero force; numbers (k,) or symbols.
    A ray from the origin through the state meets the piece between two corners c and d: with the normal n of the piece
    the use is n.p/n.c, n.c = d_v c_f - c_v d_f.
    """
    v, f = size(speed), size(force)

    def piece(start: tuple[Any, Any], end: tuple[Any, Any]) -> Any:
        (v0, f0), (v1, f1) = start, end
        area = v1 * f0 - v0 * f1
        gain = 1.0 / where(area > 0, area, 1.0)
        return ((f0 - f1) * gain) * v + ((v1 - v0) * gain) * f

    use = piece(corners[-2], corners[-1])
    for k in range(len(corners) - 3, -1, -1):
        v1, f1 = corners[k + 1]
        use = where(v * f1 - f * v1 < 0, piece(corners[k], corners[k + 1]), use)
    return use


def curve_corners(curves: Sequence[Sequence[tuple[float, float]]]) -> Array:
    """Corners (k, m, 2) of force-speed curves, each ended at zero force; shorter ones repeat their first corner."""
    rows = []
    for points in curves:
        row = list(dict.fromkeys((float(v), float(f)) for v, f in points))  # each once
        rows.append([*row, *([(row[-1][0], 0.0)] if row[-1][1] > 0 else [])])
    most = max((len(row) for row in rows), default=2)
    return np.array([[row[0]] * (most - len(row)) + row for row in rows], dtype=np.float64).reshape(-1, most, 2)


def curve_use(points: Any, speed: Array, force: Array) -> Array:
    """Use (n,) of one force-speed curve ``points`` (k, 2) at speeds and forces (n,) of either sign.

    A straight line F0 (1 - v/v0) is used by F/F0 + v/v0, a rectangle by the larger of F/F0 and v/v0.

    Examples
    --------
    >>> line = np.array([[0.0, 100.0], [2.0, 0.0]])
    >>> curve_use(line, np.array([1.0, -1.0, 0.0]), np.array([25.0, 50.0, -100.0]))
    array([0.75, 1.  , 1.  ])
    """
    corners = curve_corners([points])[0]
    return np.asarray(envelope_use([(v, f) for v, f in corners], speed, force))


def _curve(given: Given) -> Any:
    curves = given["curves"]
    if not isinstance(curves, np.ndarray):  # corners in symbols already
        return envelope_use(curves, given["qdot"], given["force"])
    corners = [(curves[:, i, 0], curves[:, i, 1]) for i in range(curves.shape[1])]
    return envelope_use(corners, given["qdot"], given["force"])


def _of(name: str) -> Callable[[Given], Any]:
    return lambda given: given[name]


def _tension(given: Given) -> Any:
    return -given["force"]


def _power(given: Given) -> Any:
    return given["force"] * given["qdot"]


def _motor_speed(given: Given) -> Any:
    return given["ratio"] * given["qdot"]


def _platform(name: str, first: int) -> Callable[[Given], Any]:
    return lambda given: given[name][..., first : first + 3]


KINDS: dict[str, Kind] = {
    "force": Kind("actuator", "max_force", ("force",), "instant", "size", "{f}", _of("force"), True),
    "tension": Kind("cable", "tension", ("force",), "instant", "range", "N", _tension),
    "continuous force": Kind("actuator", "rms_force", ("force",), "rms", "up", "{f}", _of("force"), True),
    "force at speed": Kind("actuator", "force_speed", ("force", "qdot"), "instant", "up", "{f}", _curve, True),
    "speed": Kind("actuator", "max_speed", ("qdot",), "instant", "size", "{q}/s", _of("qdot"), True),
    "acceleration": Kind(
        "actuator", "max_acceleration", ("qddot",), "instant", "size", "{q}/s^2", _of("qddot"), True
    ),
    "power": Kind("actuator", "max_power", ("force", "qdot"), "instant", "size", "W", _power, True),
    "stroke": Kind("actuator", "max_stroke", ("q",), "span", "up", "{q}", _of("q"), True),
    "motor torque": Kind(
        "actuator", "max_motor_torque", ("force", "qdot", "qddot"), "instant", "size", "N m", motor_torque
    ),
    "continuous motor torque": Kind(
        "actuator", "rms_motor_torque", ("force", "qdot", "qddot"), "rms", "up", "N m", motor_torque
    ),
    "motor speed": Kind("actuator", "max_motor_speed", ("qdot",), "instant", "size", "rad/s", _motor_speed),
    "range": Kind("range", "length, range, ranges, travel", ("limited",), "instant", "range", "", _of("limited")),
    "cone": Kind("range", "cone, base_cone, platform_cone", ("limited",), "instant", "up", "rad", _of("limited")),
    "bearing": Kind("joint", "dynamic_load_rating", ("load",), "mean", "up", "N", _of("load")),
    "bearing, static": Kind("joint", "static_load_rating", ("load",), "instant", "up", "N", _of("load")),
    "reaction": Kind("joint", "max_reaction", ("load",), "instant", "up", "N", _of("load")),
    "platform speed": Kind(
        "platform", "platform_limits.max_speed", ("twist",), "instant", "size", "m/s", _platform("twist", 0)
    ),
    "platform angular speed": Kind(
        "platform", "platform_limits.max_angular_speed", ("twist",), "instant", "size", "rad/s", _platform("twist", 3)
    ),
    "platform acceleration": Kind(
        "platform", "platform_limits.max_acceleration", ("acceleration",), "instant", "size", "m/s^2",
        _platform("acceleration", 0),
    ),
    "platform angular acceleration": Kind(
        "platform", "platform_limits.max_angular_acceleration", ("acceleration",), "instant", "size", "rad/s^2",
        _platform("acceleration", 3),
    ),
    "clearance": Kind("pair", "clearance", ("clearance",), "instant", "least", "m", _of("clearance")),
    "condition number": Kind("robot", "", ("condition",), "instant", "up", "", _of("condition")),
    "distance to singularity": Kind("robot", "", ("distance",), "instant", "least", "mm/mm", _of("distance")),
}  # fmt: skip
"""Every kind of limit by name, in the order of the verdict; those without a field are stated by a study or command."""

DRIVE_KINDS = tuple(name for name, kind in KINDS.items() if kind.of == "actuator")
"""Kinds that drives have."""
