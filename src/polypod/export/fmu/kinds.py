"""Kinds of FMU by name, each a function that adds variables and gives the C code of its model."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...datasets import COMPONENTS
from .build import Build, ModelCode
from .motion import RATES, add_joints, add_motion, add_pose, joint_lines, motion_lines
from .plant import WRENCH, plant

_EVALUATE = ["(void)step;", "return model_evaluate(m);"]
_NOTHING = ["(void)m;", "return FINE;"]
_KEEP = ["(void)step;", "const Outcome outcome = model_evaluate(m);", "if (outcome == FINE)",
         "    memcpy(m->memory, m->memory + 16, 16 * sizeof *m->memory);", "return outcome;"]  # fmt: skip
KP, KD = 2500.0, 100.0
"""Gains [1/s^2] and [1/s] of a controller unless set, as those of polypod's own."""


def inverse_dynamics(build: Build) -> ModelCode:
    """A motion in, actuator forces out."""
    variables, actuators = build.variables, build.model.actuators
    add_motion(build, "", "input", acceleration=True)
    variables.add("wrench", "input", COMPONENTS, WRENCH, "external wrench on the platform, base axes")
    build.add_parameters()
    variables.add("force", "output", build.actuators, [a.force_unit for a in actuators], "actuator force")
    build.function("inverse_dynamics")
    evaluate = [
        *motion_lines(build, "", acceleration=True),
        *_forces(build),
        "return FINE;",
    ]
    return ModelCode(_NOTHING, evaluate, _EVALUATE)


def forward_kinematics(build: Build) -> ModelCode:
    """Coordinates and rates in, pose and twist out; each step starts from the pose of the last one."""
    variables = build.variables
    _add_measured(build)
    add_motion(build, "start.", "parameter", acceleration=False)
    build.add_parameters()
    add_pose(build, "", "output")
    variables.add("twist", "output", COMPONENTS, RATES, "twist of the platform, base axes")
    add_joints(build)
    evaluate = [
        *_found(build),
        *joint_lines(build, "found"),
        "for (int i = 0; i < 3; i++)",
        f"    ({variables.at('position')})[i] = found[4 * i + 3];",
        f"orientation_of(found, {variables.at('orientation')});",
        f"memcpy({variables.at('twist')}, moving, 6 * sizeof *moving);",
        "return FINE;",
    ]
    return ModelCode(_start_pose(build, "start."), evaluate, _KEEP, 32)


def controller(build: Build) -> ModelCode:
    """Computed torque in the joints: a wanted motion and the encoders in, actuator forces out.

    J a + Jdot u = qddot_d + K_d (qdot_d - qdot) + K_p (q_d - q) with the pose found from q; a needs the forces.
    """
    variables, actuators, n = build.variables, build.model.actuators, len(build.actuators)
    add_motion(build, "reference.", "input", acceleration=True)
    _add_measured(build)
    variables.add("wrench", "input", COMPONENTS, WRENCH, "external wrench on the platform that is expected, base axes")
    variables.add("kp", "parameter", build.actuators, "1/s^2", "gain of the error", KP, 0.0)
    variables.add("kd", "parameter", build.actuators, "1/s", "gain of its rate", KD, 0.0)
    build.add_parameters()
    variables.add("force", "output", build.actuators, [a.force_unit for a in actuators], "actuator force")
    build.function("accelerations")
    build.function("acceleration")
    evaluate = [
        *motion_lines(build, "reference.", acceleration=True),
        f"double wanted[{n}], wanted_rate[{n}], command[{n}], caused[6];",
        *build.call(
            "accelerations", "pose", pose="pose", twist="twist", acceleration="acceleration", q="wanted",
            qdot="wanted_rate", qddot="command",
        ),
        *_found(build),
        f"for (int k = 0; k < {n}; k++)",
        f"    command[k] += ({variables.at('kd')})[k] * (wanted_rate[k] - ({variables.at('qdot')})[k])",
        f"                + ({variables.at('kp')})[k] * (wanted[k] - ({variables.at('q')})[k]);",
        *build.call("acceleration", "found", pose="found", twist="moving", qddot="command", acceleration="caused"),
        *_forces(build, pose="found", twist="moving", acceleration="caused"),
        "return FINE;",
    ]  # fmt: skip
    return ModelCode(_start_pose(build, "reference."), evaluate, _KEEP, 32)


class FmuKind(NamedTuple):
    """What makes an FMU of a robot, what it does, whether it is for model exchange and for flexible platforms too."""

    make: Callable[[Build], ModelCode]
    about: str
    exchange: bool
    flexible: bool = False


KINDS = {
    "plant": FmuKind(plant, "actuator forces in; pose, twist, coordinates and rates out", True, True),
    "inverse-dynamics": FmuKind(inverse_dynamics, "motion of the platform in, actuator forces out", True),
    "forward-kinematics": FmuKind(
        forward_kinematics, "actuated coordinates and rates in, pose, twist and all joint positions out", False
    ),
    "controller": FmuKind(controller, "computed torque: wanted motion and encoders in, actuator forces out", False),
}


def _add_measured(build: Build) -> None:
    """Coordinates and rates as inputs, at home and at rest unless set."""
    actuators = build.model.actuators
    home = build.model.inverse_kinematics(build.model.robot.home.matrix)
    build.variables.add("q", "input", build.actuators, [a.unit for a in actuators], "actuated coordinate", home)
    build.variables.add("qdot", "input", build.actuators, [a.rate_unit for a in actuators], "its rate")


def _start_pose(build: Build, prefix: str) -> list[str]:
    """Lines that keep the pose from which the first one is found."""
    return [
        *motion_lines(build, prefix, acceleration=False),
        "(void)twist;",
        "memcpy(m->memory, pose, sizeof pose);",
        "return FINE;",
    ]


def _found(build: Build) -> list[str]:
    """Lines that find pose and twist from coordinates and rates, from the pose before."""
    at = build.variables.at
    return [
        "double *found = m->memory + 16;",
        "double moving[6];",
        *build.call("forward_kinematics", "m->memory", q=at("q"), pose="m->memory", pose_found="found"),
        *build.call("twist", "found", pose="found", qdot=at("qdot"), twist="moving"),
    ]


def _forces(build: Build, pose: str = "pose", twist: str = "twist", acceleration: str = "acceleration") -> list[str]:
    """Lines that call the inverse dynamics and keep its forces."""
    return [
        f"double forces[{len(build.actuators)}];",
        *build.call(
            "inverse_dynamics", pose, pose=pose, twist=twist, acceleration=acceleration,
            wrench=build.variables.at("wrench"), force="forces",
        ),
        f"memcpy({build.variables.at('force')}, forces, sizeof forces);",
    ]  # fmt: skip
