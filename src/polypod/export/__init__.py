"""Robots and model functions for other programs, one file a format.

A format for model functions has a line in ``EXPORTS``, one for whole robots a line in ``ROBOT_EXPORTS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .c import c_files, export_c
from .cpp import cpp_files, export_cpp
from .js import export_js, js_files, js_function
from .klipper import export_klipper, klipper_files
from .linuxcnc import export_linuxcnc, linuxcnc_files
from .mjcf import export_mjcf, mjcf_files, mjcf_positions
from .ros2 import ros2_files
from .sdf import export_sdf, sdf_files
from .st import export_st, st_files
from .urdf import export_urdf, urdf_files, urdf_positions


class Export(NamedTuple):
    """A format of model functions.

    Attributes
    ----------
    files : callable
        Gives the files by name for ``(model, function, friction)``.
    about : str
        What they are.
    hint : str
        What to do with them.
    options : tuple of str
        Further arguments that ``files`` takes: ``parameters``, ``precision``, ``iterations``.
    """

    files: Callable[..., dict[str, str]]
    about: str
    hint: str
    options: tuple[str, ...] = ()


EXPORTS = {
    "c": Export(
        c_files,
        "A self-contained C99 file and header of a model function; needs only the C mathematics library.",
        "The header says what goes in and out. Compile with: cc -std=c99 -O2 main.c {source} -lm",
        ("parameters", "precision", "iterations"),
    ),
    "c++": Export(
        cpp_files,
        "A C++17 header of a model function: std::array in and out, nothing allocated.",
        "The comment on top says what goes in and out, and has an example. Include {source}.",
        ("parameters", "precision"),
    ),
    "js": Export(
        js_files,
        "A self-contained JavaScript module of a model function, for browsers and Node.js.",
        "The comment on top of {source} says what goes in and out, and has an example.",
    ),
    "st": Export(
        st_files,
        "A function block of a model function in structured text (IEC 61131-3), for PLCs.",
        "The comment on top of {source} says what goes in and out, and has an example program.",
        ("precision", "iterations"),
    ),
}
"""Kinds of export of a model function by name. The last file is the one that a hint calls ``source``."""


class RobotExport(NamedTuple):
    """A format of whole robots.

    Attributes
    ----------
    files : callable
        Gives the files by name for a model.
    about : str
        What they are.
    hint : str
        What to do with them.
    options : tuple of str
        Further arguments that ``files`` takes: ``hinges``, ``actuators``, ``loops``.
    """

    files: Callable[..., Mapping[str, str | bytes]]
    about: str
    hint: str
    options: tuple[str, ...] = ()


ROBOT_EXPORTS = {
    "mjcf": RobotExport(
        mjcf_files,
        "The robot as MJCF: bodies, joints, motors, loops by connect, limits, friction, home.",
        "Look at it: python3 -m mujoco.viewer --mjcf={source}",
        ("hinges", "actuators", "loops"),
    ),
    "urdf": RobotExport(
        urdf_files,
        "The robot as URDF, a tree, with its loops and motors in a second file.",
        "Read it with Pinocchio, or back with: polypod import {source}",
    ),
    "sdf": RobotExport(
        sdf_files,
        "The robot as SDF 1.9, loops included.",
        "Put it into a world of Gazebo; the comment on top says with which gravity.",
    ),
    "ros2": RobotExport(
        ros2_files,
        "The robot as a ROS 2 package: URDF, meshes, RViz, states of passive joints, kinematics and control.",
        "Build it with: colcon build. Then: ros2 launch PACKAGE display.launch.py",
    ),
    "linuxcnc": RobotExport(
        linuxcnc_files,
        "The robot's kinematics as a module of LinuxCNC, in one C file.",
        "Install with: halcompile --install {source}. The comment on top says what goes into the INI file.",
    ),
    "klipper": RobotExport(
        klipper_files,
        "Kinematics of a robot that moves along x, y, z (or some of these) for Klipper, in one C file.",
        "Put {source} into klippy/chelper; the comment on top says how it is called.",
    ),
}
"""Kinds of export of a robot by name. The last file is the one that a hint calls ``source``."""

__all__ = [
    "EXPORTS",
    "ROBOT_EXPORTS",
    "Export",
    "RobotExport",
    "c_files",
    "cpp_files",
    "export_c",
    "export_cpp",
    "export_js",
    "export_klipper",
    "export_linuxcnc",
    "export_mjcf",
    "export_sdf",
    "export_st",
    "export_urdf",
    "js_files",
    "js_function",
    "klipper_files",
    "linuxcnc_files",
    "mjcf_files",
    "mjcf_positions",
    "ros2_files",
    "sdf_files",
    "st_files",
    "urdf_files",
    "urdf_positions",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
