"""Robots whose files say everything that a file can: every optional field of the robot, its legs, joints, bodies."""

from __future__ import annotations

from typing import Any

import polypod as pp
from polypod.description import Body, Drive, Friction, Robot
from polypod.legs.chain import ChainJoint
from support.robots.random_chains import hexapod, shuffled

_DRIVE = {
    "max_force": 900.5, "rms_force": 300.25, "max_speed": 0.7, "max_acceleration": 9.5, "max_power": 510.0,
    "force_speed": [[0.0, 900.0], [0.2, 300.0], [0.5, 0.0]], "max_stroke": 0.31, "gear": 1.5, "rotor_inertia": 1.1e-5,
    "torque_constant": 0.07, "efficiency": 0.8, "max_motor_torque": 2.5, "rms_motor_torque": 0.9,
    "max_motor_speed": 950.0, "drive_spring": "servo loop",
}  # fmt: skip
_FRICTION = {"viscous": 1.5, "coulomb": 0.01, "drag": 0.7, "static": 1.3, "stribeck_speed": 0.02}
_RATING = {
    "dynamic_load_rating": 5e3, "radial_factor": 0.56, "axial_factor": 1.4, "rolling_elements": "roller",
    "static_load_rating": 4e3, "static_radial_factor": 0.6, "static_axial_factor": 0.5,
    "max_reaction": 3.5e3,
}  # fmt: skip
_WHOLE = {
    "title": "Robot \"&\" <every field> -- \u00e9\nsecond line",
    "reference": "Nobody, 2026; it\'s printed", "euler": "zyx",
    "gravity": [0.1, -0.2, -9.7], "base_stiffness": [1e8, 2e8, 3e8, 4e6, 5e6, 6e6],
    "platform_limits": {
        "max_speed": 0.8, "max_acceleration": [4.0, 5.0, 6.0], "max_angular_speed": 2.0,
        "max_angular_acceleration": 30.0,
    },
    "sources": {"*": "assumed: a test", "gravity": "table 1 <3>"},
    "base": {"shapes": [{"kind": "plate", "thickness": 0.01,
                         "corners": [[0, 0, -0.1], [0.3, 0, -0.1], [0, 0.2, -0.1]]}]},
    "clearance": 2e-4, "touching": [["base", "platform"]],
    "floor": {"at": [0, 0, -0.2], "normal": [0, 0.6, 0.8]},
    "elements": [{"kind": "spring", "name": "a <spring>", "between": ["base", "platform"], "stiffness": 800.0,
                  "at": [[0.1, 0.2, 0.3], [0.3, 0.2, 0.4]], "length": 0.1, "damping": 3.0}],
    "payload": [
        {"name": "tool", "mass": 1.1, "com": [0.01, 0.02, 0.03],
         "inertia": [[2e-3, 1e-5, 0], [1e-5, 3e-3, 0], [0, 0, 4e-3]],
         "shapes": [{"kind": "sphere", "center": [0, 0, 0.05], "radius": 0.02},
                    {"kind": "capsule", "ends": [[0, 0, 0], [0, 0, 0.05]], "radius": 0.01}]},
        {"mass": 0.2, "radius": 0.03, "about": "origin", "frame": "tilted", "points": {"a": [0, 0, 0.1]},
         "frames": {"tilted": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]},
         "inertia": [[1e-3, 0, 0], [0, 1e-3, 0], [0, 0, 1e-3]]},
    ],
}  # fmt: skip


def rich_struts() -> Robot:
    """The hexapod, all UPS legs with all they may have."""
    robot = pp.load("hexapod")
    legs = []
    for k, leg in enumerate(robot.legs):
        data = leg.model_dump(exclude_unset=True) | _DRIVE | {"kind": "UPS", "lead": 0.005, "name": f"leg{k + 1}"}
        data |= {f"{joint}_friction": _FRICTION for joint in ("universal", "prismatic", "spherical")}
        data |= {"cross_inertia": 1e-4, "rotor_mass": 0.3, "stiffness": 1e8, "link_stiffness": 2e8}
        data |= {"universal_stiffness": 3e8, "spherical_stiffness": 4e8, "bearings": {"universal": _RATING}}
        legs.append(data)
    whole = Robot.model_validate(robot.model_dump(exclude_unset=True) | _WHOLE | {"legs": legs})
    _assert_given(whole, {"dof", "internal"})
    for leg in whole.legs:
        _assert_given(leg, {"actuated"})
    return whole


def rich_chain() -> Robot:
    """The planar 3-RRR, its motors and passive joints with all they may have."""
    robot = pp.load("planar-3-rrr")
    legs: list[dict[str, Any]] = []
    fields: set[str] = set()
    for leg in robot.legs:
        joints = []
        for joint in leg.joints:
            data = joint.model_dump(exclude_unset=True) | _RATING | {"friction": _FRICTION, "stiffness": 1e5}
            data["cone"] = {"axis": [0, 0, 1], "direction": [0, 0.6, 0.8], "half_angle": 0.9}
            if joint.actuated:
                data |= _DRIVE | {"range": [-0.5, 2.0], "offset": 0.25, "ratio": 1.5, "rotor": 0.02}
            joints.append(data)
            fields |= set(data)
        legs.append(leg.model_dump(exclude_unset=True) | {"kind": "chain", "name": leg.name, "joints": joints})
    assert fields == set(ChainJoint.model_fields) - OF_SEVERAL_DOF - OF_SLIDES
    whole = Robot.model_validate(robot.model_dump(exclude_unset=True) | _WHOLE | {"legs": legs})
    _assert_given(whole, {"internal"})
    return whole


def rich_joints() -> Robot:
    """Slides, universal, cylindrical and spherical joints, stated either way round, with what only they have."""
    data, *others = (hexapod(1, letters, (0, 1), count=3, change=shuffled) for letters in ("PRUC", "CRS", "PPPS"))
    data["legs"] = [data["legs"][0], *(other["legs"][k + 1] for k, other in enumerate(others))]
    fields: set[str] = set()
    for leg in data["legs"]:
        for joint in leg["joints"]:
            joint |= _SEVERAL.get(joint["kind"], {})
            if "actuated" in joint:
                joint |= {"range": [-0.3, 0.45]} | ({} if joint["kind"] == "revolute" else {"lead": 0.005})
            fields |= set(joint)
    assert {*OF_SEVERAL_DOF, *OF_SLIDES} <= fields
    return Robot.model_validate(data)


OF_SLIDES = {"lead", "guide_normal"}
OF_SEVERAL_DOF = {"axes", "ranges", "frictions"}
_CONE = {"axis": [0, 0, 1], "half_angle": 1.2}
_SEVERAL: dict[str, dict[str, Any]] = {
    "prismatic": {"guide_normal": [0.36, 0.48, 0.8]},
    "universal": {"ranges": {"first": [-0.7, 0.6], "second": [-0.5, 0.9]}},
    "cylindrical": {
        "ranges": {"rotation": [-0.8, 1.1], "translation": [-0.2, 0.35]},
        "frictions": {"rotation": {"viscous": 0.4, "drag": 0.2}, "translation": {"drag": 3.0, "static": 1.2}},
    },
    "spherical": {"ranges": {"twist": [-0.6, 1.0]}, "cone": _CONE},
}


def _assert_given(data: Any, others: set[str]) -> None:
    """That nothing which may be given is left out, now and when fields are added."""
    missing = set(type(data).model_fields) - data.model_fields_set - others
    assert not missing, missing
    assert set(_FRICTION) == set(Friction.model_fields)
    assert {*_DRIVE, "lead"} == set(Drive.model_fields)
    assert {"mass", "com", "inertia", "about", "frame", "points", "frames", "radius", "shapes"} <= set(
        Body.model_fields
    )
