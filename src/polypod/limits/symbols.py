"""The same judge in symbols, for compiled sweeps, pages and exported code: uses of limits at one state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from ..mechanism import Mechanism
from ..symbols.expression import Expression, Iteration, Port, port
from .kinds import KINDS
from .limits import NEEDS, NEEDS_MOTION, Limit, RobotLimits
from .report import ROUNDING

OUTPUTS = {
    "q": "inverse_kinematics.q", "qdot": "rates.qdot", "qddot": "accelerations.qddot",
    "force": "inverse_dynamics.force", "limited": "limited.values", "clearance": "clearance.clearance",
}  # fmt: skip
"""Outputs of a model's functions, as ``merged`` names them, for what limits need."""
_ABOUT = ("quality", "converged")


def motor_numbers(mechanism: Mechanism) -> dict[str, ca.SX]:
    """Ratio n and reflected inertia J n^2 (n) of every actuator's motor, in the symbols of the robot's numbers."""
    drives = [leg.leg.drive(actuator.name) for leg in mechanism.placed for actuator in leg.placement.actuators]
    return {
        "ratio": ca.vertcat(*[ca.SX(drive.motor_ratio) for drive in drives]),
        "reflected": ca.vertcat(*[ca.SX(drive.reflected) for drive in drives]),
    }


def range_uses(mechanism: Mechanism, values: ca.SX) -> ca.SX:
    """Uses (k) of ranges and cones from the limited quantities (k), angles as cosines."""
    uses = []
    for k, (_, limit) in enumerate(mechanism.limits):
        value, low, high = values[k], ca.SX(limit.low), ca.SX(limit.high)
        if limit.angle:
            uses.append(ca.acos(ca.fmin(ca.fmax(value, -1), 1)) / ca.acos(low))
        else:
            uses.append(ca.fabs(value - 0.5 * (low + high)) / (0.5 * (high - low)))
    return ca.vertcat(*uses, ca.SX(0, 1))


def range_margin(value: ca.SX, low: ca.SX, high: ca.SX, angle: bool) -> ca.SX:
    """What is left of a range: 1 - use, min(v - low, high - v) over half of the range, exactly zero at its ends.

    Of a cone, whose cosines are v and ``low`` (``angle``), (v - low)/(1 - low): it has the sign of 1 - use and takes no
    arc cosine, for maps of millions of poses.
    """
    if angle:
        return (value - low) / (1 - low)
    return ca.fmin(value - low, high - value) / (0.5 * (high - low))


def range_holds(value: ca.SX, low: ca.SX, high: ca.SX, angle: bool) -> ca.SX:
    """Whether a quantity is in its range, or the cosine ``value`` of an ``angle`` in its cone: use <= 1."""
    above = value >= low
    return above if angle else ca.logic_and(above, value <= high)


def clearances_hold(distances: ca.SX, bound: float) -> list[ca.SX]:
    """Whether each of the least distances (G) is a clearance of ``bound``: use <= 1, but for rounding."""
    return [distances[k] >= bound * (1 - ROUNDING) for k in range(distances.numel())]


def state_limits(limits: RobotLimits) -> tuple[RobotLimits, dict[str, str]]:
    """Those limits that one state uses by known functions of it, and the others, with the reason."""
    left = {}
    for one in limits.limits:
        kind = KINDS[one.kind]
        if kind.over != "instant":
            left[one.quantity] = NEEDS_MOTION
        elif kind.of == "joint":
            left[one.quantity] = NEEDS["load"]
    return limits.only(lambda one: one.quantity not in left), left


def uses_expression(
    kernels: Any, mechanism: Mechanism, limits: RobotLimits, friction: bool, clearances: Any
) -> Expression | Iteration:
    """(pose, twist, acceleration, wrench) -> use (k) of every limit of ``state_limits``, 1 where one is reached.

    ``kernels`` merges a model's functions in symbols; the bounds are constants, as are the shapes of ``clearances``.
    """
    apart = [clearances.function.constant_expression(mechanism)] if "clearance" in limits.kinds else []
    functions = ["rates", "accelerations", "limited", "inverse_dynamics"]
    function = kernels.merged(mechanism, functions, friction, False, apart)
    known = {p.name: p.symbols for p in (*function.inputs, *function.outputs)}
    given = {name: known[output] for name, output in OUTPUTS.items() if output in known}
    given |= {name: known[name] for name in ("twist", "acceleration")}
    about = [p for p in function.outputs if p.name.rpartition(".")[2] in _ABOUT]
    named: dict[str, Any] = {}
    for p in about:  # the worst of several
        short = p.name.rpartition(".")[2]
        named[short] = p.symbols if short not in named else ca.fmin(named[short], p.symbols)
    outputs = [port("use", _uses(mechanism, limits, given)), *(port(name, value, ()) for name, value in named.items())]
    return replace(function, name="limits", outputs=tuple(outputs))


def uses_of_outputs(mechanism: Mechanism, limits: RobotLimits) -> Expression:
    """(force, qdot, qddot, limited, twist, acceleration) -> use (k), for what a program knows of a state already.

    And ``clearance`` (G), where that is limited.
    """
    count, size = len(mechanism.actuators), 1 + len(mechanism.limits)
    shapes = {"force": count, "qdot": count, "qddot": count, "limited": size, "twist": 6, "acceleration": 6}
    if "clearance" in limits.kinds:
        shapes["clearance"] = len(limits.of_kind("clearance"))
    given = {name: ca.SX.sym(name, length) for name, length in shapes.items()}
    inputs = tuple(Port(name, symbols, (shapes[name],)) for name, symbols in given.items())
    return Expression("limit_uses", inputs, (port("use", _uses(mechanism, limits, given)),), mechanism.port)


def _uses(mechanism: Mechanism, limits: RobotLimits, known: Mapping[str, ca.SX]) -> ca.SX:
    """Uses (1 + k) of the limits of a state, after a zero."""
    judged, _ = state_limits(limits)
    given = dict(known) | motor_numbers(mechanism) | {"efficiency": ca.SX(ca.DM(limits.numbers["efficiency"]))}
    ranges = range_uses(mechanism, given["limited"][1:])
    return ca.vertcat(0, *[_use(one, judged, given, ranges) for one in judged.limits])


def _use(one: Limit, limits: RobotLimits, given: Mapping[str, ca.SX], ranges: ca.SX) -> ca.SX:
    """Use of one limit in symbols."""
    kind = KINDS[one.kind]
    if kind.of == "range":
        return ranges[one.index]
    if kind.of == "platform":
        first = 3 if "angular" in one.kind else 0
        vector = given[kind.needs[0]][first : first + 3]
        return (ca.norm_2(vector) if one.index < 0 else ca.fabs(vector[one.index])) / one.high
    if kind.side == "least":
        value = given[kind.needs[0]][one.index]
        return ca.if_else(value > 0, one.low / ca.fmax(value, 1e-300), ca.inf)
    names = (*kind.needs, "ratio", "reflected", "efficiency")
    own: dict[str, Any] = {name: given[name][one.index] for name in names}
    if one.kind == "force at speed":
        own["curves"] = [tuple(map(ca.SX, corner)) for corner in limits.corners([one])[0].tolist()]
    value = kind.value(own)
    if kind.side == "range":
        return ca.fabs(value - 0.5 * (one.low + one.high)) / (0.5 * (one.high - one.low))
    return (ca.fabs(value) if kind.side == "size" else value) / one.high


def use_names(limits: RobotLimits) -> list[str]:
    """Names of the outputs of ``uses_expression``: a zero leads, as robots may have no limit."""
    return ["zero", *(f"{one.quantity} of {one.where}" for one in state_limits(limits)[0].limits)]
