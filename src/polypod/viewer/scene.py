"""All that a live page knows of a robot beside its functions, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..drawing import COLOURS, Samples, Shape, drawn_shapes
from ..drawing.shapes import ROD, actuator_range, samples_of
from ..legs.contract import SMALLEST_MARGIN
from ..limits import KINDS, left_out_text
from ..limits.symbols import state_limits
from ..mechanism.forward_kinematics import largest_residual
from ..model import Model
from .cones import cones
from .coordinates import Coordinates

_FARTHEST = {"m": 0.6, "rad": np.pi / 3}
"""How far a slider goes from home, in sizes of the robot or rad, if the legs let it."""
_STEPS = 120
NEAR_SINGULAR = 100.0
"""Condition number above which a page warns."""


def scene(model: Model, own: Coordinates, robot: Robot, friction: bool = True) -> dict[str, Any]:
    """Names, shapes, ranges of sliders, limits and thresholds of a rigid ``model``; ``robot`` may be flexible."""
    samples = samples_of(model.robot)
    sweeps = _sweeps(model, own, samples.scale)
    home = np.array(own.read.function(model.robot.home.matrix.ravel())).ravel()
    return {
        "name": robot.name,
        "title": robot.title,
        "notes": [
            *(["The platform is flexible; this page treats it as rigid."] if robot.flexible else []),
            *([] if friction else ["Friction is not included."]),
        ],
        "gravity": list(robot.gravity),
        "colours": list(COLOURS),
        "legs": list(model.legs),
        "coordinates": [
            {"name": c.name, "unit": c.unit, "home": float(x), "low": low, "high": high}
            for c, x, (low, high, _) in zip(own.names, home, sweeps, strict=True)
        ],
        "internal": _internal(model, samples.scale),
        "pivot": not model.robot.dof,
        "followed": [k for k, coordinate in enumerate(model.robot.dof) if coordinate.joint],
        "home": model.robot.home.matrix.ravel().tolist(),
        "actuators": _actuators(model, samples, sweeps),
        "bodies": samples.bodies,
        "masses": [{"body": body, "mass": mass, "com": com.tolist()} for body, mass, com in samples.masses],
        "joints": _joints(samples),
        "shapes": [_drawn(shape) for shape in drawn_shapes(samples, robot)],
        "floor": None if robot.floor is None else {"at": list(robot.floor.at), "normal": list(robot.floor.normal)},
        "cones": cones(samples),
        "limits": _limits(model),
        "uses": _uses(model),
        "not_judged": left_out_text(state_limits(model.robot_limits)[1]),
        "not_given": list(model.robot_limits.not_given),
        "conditions": [
            {"leg": k, "name": c.name, "unit": c.unit}
            for k, leg in enumerate(samples.mechanism.placed)
            for c in leg.placement.conditions
        ],
        "scale": samples.scale,
        "rod": ROD * samples.scale,
        "least_margin": SMALLEST_MARGIN,
        "largest_residual": largest_residual(model.size, model.robot),
        "near_singular": NEAR_SINGULAR,
    }


def _joints(samples: Samples) -> list[dict[str, Any]]:
    return [
        {
            "leg": leg,
            "name": joint.name,
            "kind": joint.kind,
            "parent": samples.joint_bodies(k)[0],
            "child": samples.joint_bodies(k)[1],
            "body": samples.joint_points[k].body,
            "point": samples.joint_points[k].local.tolist(),
            "axes": [{"body": axis.body, "local": axis.local.tolist()} for axis in samples.joint_axes(k)],
        }
        for k, (leg, joint) in enumerate(samples.joints)
    ]


def _actuators(model: Model, samples: Samples, sweeps: list[tuple[float, float, Array]]) -> list[dict[str, Any]]:
    every = np.concatenate([q for _, _, q in sweeps])
    entries = []
    for k, actuator in enumerate(model.actuators):
        leg, stated = samples.actuators[k]
        names = [(owner, joint.name) for owner, joint in samples.joints]
        low, high = actuator_range(samples, k) or (float(every[:, k].min()), float(every[:, k].max()))
        entries.append(
            {"name": actuator.name, "leg": leg, "joint": names.index((leg, stated.joint)), "unit": actuator.unit,
             "force_unit": actuator.force_unit, "low": low, "high": high,
             "forwards": float(np.sign(samples.mechanism.numbers.evaluate(stated.ratio).item()))}
        )  # fmt: skip
    return entries


def _drawn(shape: Shape) -> dict[str, Any]:
    """A shape as the page draws it, in the frame of its body [m]."""
    return {
        "body": shape.body, "leg": shape.leg, "role": shape.role, "points": shape.points.tolist(),
        "radius": shape.radius, "flat": shape.flat,
    }  # fmt: skip


def _limits(model: Model) -> list[dict[str, Any]]:
    report = model.joint_ranges(model.robot.home.matrix, **_place(model, 0))
    angles = [limit.angle for _, limit in model.kernels.mechanism.limits]
    return [
        {"leg": model.legs.index(leg), "name": name, "unit": unit, "low": float(low), "high": float(high),
         "cosine": angle}
        for (leg, name), unit, low, high, angle in zip(
            report.names, report.units, report.low, report.high, angles, strict=True
        )
    ]  # fmt: skip


def _uses(model: Model) -> list[dict[str, Any]]:
    """Limits of a state in the order of the page's uses: of drives with their number, of the platform without."""
    judged, _ = state_limits(model.robot_limits)
    legs = {leg.name: number for number, leg in enumerate(model.robot.legs)}
    found = []
    for one in judged.limits:
        kind = KINDS[one.kind]
        found.append(
            {
                "name": one.quantity,
                "where": one.where,
                "actuator": one.index if kind.of == "actuator" else None,
                "range": kind.of == "range",
                "pair": one.index if kind.of == "pair" else None,
                "low": one.low if kind.of == "pair" else None,
                "legs": [legs[who] for who in one.where.split(" against ") if kind.of == "pair" and who in legs],
                "changes": bool({"qddot", "acceleration"} & set(kind.needs)),
                "force": "force" in kind.needs,
            }
        )
    return found


def _sweeps(model: Model, own: Coordinates, size: float) -> list[tuple[float, float, Array]]:
    """For each coordinate how far it goes either way from home while the legs close, and the q (n, actuators) there."""
    home = np.array(own.read.function(model.robot.home.matrix.ravel())).ravel()
    ranges = []
    for k, coordinate in enumerate(own.names):
        farthest = _FARTHEST[coordinate.unit] * (size if coordinate.unit == "m" else 1.0)
        steps = np.linspace(-farthest, farthest, 2 * _STEPS + 1)
        x = np.tile(home, (len(steps), 1))
        x[:, k] += steps
        poses = _poses(model, own, x)
        known = np.isfinite(poses[:, 0, 0])
        q = np.full((len(steps), len(model.actuators)), np.nan)
        q[known] = model.inverse_kinematics(poses[known], errors="nan", **_place(model, int(known.sum())))
        first, last = _closing(q)
        ranges.append((float(home[k] + steps[first]), float(home[k] + steps[last]), q[first : last + 1]))
    return ranges


def _closing(q: Array) -> tuple[int, int]:
    """First and last step about the middle of all at which the legs close."""
    closes = np.asarray(np.isfinite(q).all(axis=-1))
    first = _STEPS - int(np.argmin([*closes[_STEPS::-1], False])) + 1
    return first, _STEPS + int(np.argmin([*closes[_STEPS:], False])) - 1


def _place(model: Model, count: int) -> dict[str, Any]:
    """Internal coordinates at home of ``count`` states, of one for 0; nothing for a robot without."""
    k = len(model.internal)
    return {"internal": np.zeros((count, k) if count else k)} if k else {}


def _internal(model: Model, size: float) -> list[dict[str, Any]]:
    """Internal coordinates with their units, and how far sliders move them from home while the legs close."""
    found = []
    for k, coordinate in enumerate(model.robot.free_internal):
        unit = "rad" if coordinate.motion == "rotation" else "m"
        steps = np.linspace(-1, 1, 2 * _STEPS + 1) * _FARTHEST[unit] * (size if unit == "m" else 1.0)
        s = np.zeros((len(steps), len(model.internal)))
        s[:, k] = steps
        home = np.tile(model.robot.home.matrix, (len(steps), 1, 1))
        first, last = _closing(model.inverse_kinematics(home, internal=s, errors="nan"))
        found.append({"name": coordinate.name, "unit": unit, "low": float(steps[first]), "high": float(steps[last])})
    return found


def _poses(model: Model, own: Coordinates, x: Array) -> Array:
    """Poses (n, 4, 4) of coordinates (n, m); NaN where the legs do not allow them."""
    if own.place is None:
        return model.motion(np.c_[x, np.zeros((len(x), len(model.internal)))], errors="nan").pose
    return np.array(own.place.function.map(len(x))(x.T)).T.reshape(-1, 4, 4)
