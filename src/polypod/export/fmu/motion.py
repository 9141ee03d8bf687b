"""How an FMU states a motion: pose and twist of the platform, or the coordinates of a robot of fewer degrees of
freedom."""

from __future__ import annotations

import numpy as np
import scipy

from ...datasets import COMPONENTS
from ...model.joints import component_names, component_units
from .build import Build
from .variables import Role

ORIENTATION = ("x", "y", "z", "w")
RATES = ("m/s",) * 3 + ("rad/s",) * 3
ACCELERATIONS = ("m/s^2",) * 3 + ("rad/s^2",) * 3
_ABOUT = {
    "position": "origin of {P} in {B}",
    "orientation": "rotation of {P} against {B}, a quaternion",
    "twist": "velocity of the origin of {P}, then angular velocity, base axes",
    "acceleration": "acceleration of the origin of {P}, then angular acceleration, base axes",
}


def add_pose(build: Build, prefix: str, role: Role) -> None:
    """Position and orientation, at home unless set."""
    home = build.model.robot.home.matrix
    turn = scipy.spatial.transform.Rotation.from_matrix(home[:3, :3]).as_quat()
    build.variables.add(f"{prefix}position", role, COMPONENTS[:3], "m", _ABOUT["position"], home[:3, 3])
    build.variables.add(f"{prefix}orientation", role, ORIENTATION, "1", _ABOUT["orientation"], turn)


def add_motion(build: Build, prefix: str, role: Role, acceleration: bool) -> None:
    """The variables of a motion, at home and at rest unless set."""
    robot, variables = build.model.robot, build.variables
    if robot.dof:
        names = [f.name for f in robot.dof]
        unit = ["m" if f.motion == "translation" else "rad" for f in robot.dof]
        for name, per, what in (("x", "", "coordinates"), ("xdot", "/s", "rates"), ("xddot", "/s^2", "accelerations")):
            if acceleration or name != "xddot":
                about = f"{what} of the robot's degrees of freedom, from home"
                variables.add(prefix + name, role, names, [u + per for u in unit], about)
        return
    add_pose(build, prefix, role)
    variables.add(f"{prefix}twist", role, COMPONENTS, RATES, _ABOUT["twist"])
    if acceleration:
        variables.add(f"{prefix}acceleration", role, COMPONENTS, ACCELERATIONS, _ABOUT["acceleration"])


def add_joints(build: Build) -> None:
    """Positions of all joints, passive ones too, as outputs."""
    joints = build.model.joints
    about = "position of the joint: displacement from home with what the robot file adds there"
    home = np.concatenate(list(build.model.joint_positions(build.model.robot.home.matrix).values()))
    build.variables.add("joint", "output", component_names(joints), component_units(joints), about, home)
    build.function("joint_positions")


def joint_lines(build: Build, pose: str) -> list[str]:
    """Lines of C that set them at a pose of the platform."""
    return build.call("joint_positions", pose, pose=pose, joint_positions=build.variables.at("joint"))


def motion_lines(build: Build, prefix: str, acceleration: bool) -> list[str]:
    """Lines of C that make ``pose``, ``twist`` and ``acceleration`` of these variables."""
    variables = build.variables
    if not build.model.robot.dof:
        lines = [
            "double pose[16];",
            f'if (pose_of(m, "{prefix}orientation", {variables.at(prefix + "position")}, '
            f"{variables.at(prefix + 'orientation')}, pose) != FINE)",
            "    return MISUSE;",
            f"const double *twist = {variables.at(prefix + 'twist')};",
        ]
        return (
            [*lines, f"const double *acceleration = {variables.at(prefix + 'acceleration')};"]
            if acceleration
            else lines
        )
    platform = build.mechanism.platform
    build.function("motion")
    given = {name: variables.at(prefix + name) for name in ("x", "xdot")}
    given["xddot"] = variables.at(prefix + "xddot") if acceleration else "zeros"
    home = ", ".join(map(repr, build.model.robot.home.matrix.ravel().tolist()))
    values = {name: name for name in ("pose", "twist", "acceleration")}
    lines = [
        f"static const double home[16] = {{{home}}};",
        "double pose[16], twist[6], acceleration[6];",
        *build.call("motion", "home", **given, **values),
    ]
    return [*lines, "(void)home;"] if not platform.is_constrained else lines
