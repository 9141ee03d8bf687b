"""A robot as a ROS 2 package: URDF, RViz, a node that completes the states of passive joints, kinematics, control.

``robot_state_publisher`` needs the position of every joint of the URDF, a drive measures its own only. The node finds
the pose from the driven joints by forward kinematics, from that of the last message, and all other joints from the
pose by the same operations as ``urdf_positions``. A ``kinematics_interface`` plugin and a ``ros2_control`` controller
have the driven joints as theirs. Their mathematics are headers without ROS: ``completion.hpp``, ``kinematics.hpp``,
``computed_torque.hpp``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ...errors import InputError
from ...exchange.linkage import BASE
from ...model import Model
from ...output.stl import stl
from ...pages import template_text
from ..code import identifier, namespace
from ..cpp import export_cpp
from ..joint_states import AXES, JointPlace, name_in_tree, source_of
from ..text import file_name, mesh_name
from ..tree import Tree, body_surface
from ..urdf import urdf_files, urdf_places

_PARTS = ("forward_kinematics_along", "joint_positions", "joint_rates", "twist", "bodies")
_FILES = {
    "include/{package}/completion.hpp": "completion.hpp",
    "include/{package}/kinematics.hpp": "kinematics.hpp",
    "src/joint_state_completion.cpp": "joint_state_completion.cpp",
    "src/kinematics_plugin.cpp": "kinematics_plugin.cpp",
    "kinematics_plugin.xml": "kinematics_plugin.xml",
    "launch/display.launch.py": "display.launch.txt",
    "rviz/display.rviz": "display.rviz",
    "CMakeLists.txt": "CMakeLists.txt",
    "package.xml": "package.xml",
}
"""Files of every package, and the templates that they are made from."""
_CONTROLLER = {
    "include/{package}/computed_torque.hpp": "computed_torque.hpp",
    "src/computed_torque_controller.cpp": "computed_torque_controller.cpp",
    "controller_plugin.xml": "controller_plugin.xml",
    "config/controllers.yaml": "controllers.yaml",
    "launch/control.launch.py": "control.launch.txt",
}
"""The same of the controller."""


def ros2_files(model: Model) -> dict[str, str | bytes]:
    """A ROS 2 package of a robot, in a folder of its name.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to str or bytes
        Contents by path: package.xml, CMakeLists.txt, the URDF with its loops and meshes, launch and RViz files, a node
        that publishes the states of all joints from those of the driven ones, a ``kinematics_interface`` plugin, a
        ``ros2_control`` controller (of robots that are regular at home), and their mathematics as headers without ROS.

    Examples
    --------
    >>> sorted(ros2_files(Model("delta")))[:2]
    ['delta_polypod/CMakeLists.txt', 'delta_polypod/config/controllers.yaml']
    """
    robot = model.robot
    if robot.flexible:
        raise InputError(f"ros2: the platform of {robot.name!r} is flexible, which URDF has no joints for")
    if model.internal:
        raise InputError(
            f"ros2: drives of {robot.name!r} do not tell its internal coordinates {', '.join(model.internal)}; state "
            "them as held in the robot file"
        )
    package = f"{re.sub('__+', '_', identifier(robot.name).lower()).strip('_')}_polypod"
    words = {"PACKAGE": package, "ROBOT": robot.name.replace("\\", " "), "FILE": file_name(model)}
    title = re.sub(r"\s+", " ", robot.title or robot.name)
    words["TITLE"] = title.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    words["DISTANCE"] = f"{4.0 * model.size:.3g}"
    headers = [export_cpp(model, function) for function in _PARTS]
    words["INCLUDES"] = "".join(f'#include "{package}/{name}.hpp"\n' for name, _ in headers)
    tree, places = urdf_places(model)
    words |= _completion_words(model, tree, places) | _kinematics_words(model, tree)
    words["GUARD"] = f"{package.upper()}_COMPLETION_HPP"
    words["WITH_CONTROLLER"], words["FOLDERS"] = "", "launch meshes rviz urdf"
    wanted = dict(_FILES)
    controlled = float(model.conditioning(robot.home.matrix).distance) > 0.0
    if controlled:
        name, text = export_cpp(model, "safe_step")
        headers.append((name, text))
        words["WITH_CONTROLLER"] = template_text(__package__, "files/controller.cmake")
        words["FOLDERS"] = f"config {words['FOLDERS']}"
        words["SAFE_STEP"] = name
        wanted |= _CONTROLLER
    files: dict[str, str | bytes] = {
        f"urdf/{name}": text for name, text in urdf_files(model, package, controlled).items()
    }
    files |= {f"meshes/{name}": content for name, content in _meshes(tree)}
    files |= {f"include/{package}/{name}.hpp": text for name, text in headers}
    for path, template in wanted.items():
        text = template_text(__package__, f"files/{template}")
        files[path.format(package=package)] = re.sub("@([A-Z_]+)@", lambda found: words[found[1]], text)
    return {f"{package}/{path}": content for path, content in files.items()}


def _string(text: str) -> str:
    """A text as C++ writes it."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def _numbers(values: object) -> str:
    return ", ".join(map(repr, np.asarray(values, dtype=float).ravel().tolist()))


def _meshes(tree: Tree) -> Iterator[tuple[str, bytes]]:
    """Surfaces of the links that have shapes."""
    for name in (BASE, *(node.body for node in tree.nodes)):
        found = body_surface(tree, name)
        if len(found):
            yield f"{mesh_name(name)}.stl", stl(found, name)


def _bodies(model: Model) -> dict[str, np.ndarray]:
    """Poses (4, 4) of platform and bodies at home, as the header has them, by their names in the tree."""
    legs = model.bodies(model.robot.home.matrix)
    frames = {"platform": legs.pop("platform"), **legs}
    return {name_in_tree(model, name, "/"): frame for name, frame in frames.items()}


def _completion_words(model: Model, tree: Tree, places: list[tuple[str, JointPlace]]) -> dict[str, str]:
    """What the completion knows of the robot: its joints, home, and where each position is found."""
    home = model.robot.home.matrix
    frames = _bodies(model)
    numbers = {name: k for k, name in enumerate(frames)}
    if len(tree.driven) != len(model.actuators):
        raise InputError(f"ros2: {model.robot.name!r} has actuators that no joint of its URDF is")
    ratios = [joint.ratio for joint in tree.driven]
    hinges = [k for k, (_, place) in enumerate(places) if place.joint.kind == "spherical"]
    return {
        "SPACE": namespace(model),
        "DRIVES": str(len(ratios)),
        "DRIVEN": ", ".join(_string(joint.name) for joint in tree.driven),
        "COUNT": str(len(places)),
        "JOINTS": "".join(f"    {_string(name)},\n" for name, _ in places),
        "HOME_Q": _numbers(model.inverse_kinematics(home)),
        "RATIO": _numbers(ratios),
        "HOME": _numbers(home),
        "BODIES": str(16 * len(frames)),
        "HOME_BODIES": _numbers(list(frames.values())),
        "ASSIGN": "".join(_assignments(model, tree, places, numbers)),
        "RATES": "".join(
            f"        rates[{k}] = joint.joint_rates[{number}];\n" for k, number, _ in _single(model, tree, places)
        ),
        "BALLS": str(len(hinges)),
        "HINGES": ", ".join(map(str, hinges)),
    }


def _single(model: Model, tree: Tree, places: list[tuple[str, JointPlace]]) -> Iterator[tuple[int, int, float]]:
    """Joints of one degree of freedom: number, number among the model's joint positions, position there at home."""
    own = {name_in_tree(model, name): name for name in model.joints}
    home = model.joint_positions(model.robot.home.matrix)
    starts: dict[str, int] = {}
    for name in model.joints:
        starts[name] = sum(home[before].shape[-1] for before in starts)
    for k, (_, place) in enumerate(places):
        if place.joint.kind != "spherical":
            whole, number = source_of(place, {name: model.joints[one] for name, one in own.items()}, tree)
            yield k, starts[own[whole]] + number, float(home[own[whole]][number])


def _assignments(
    model: Model, tree: Tree, places: list[tuple[str, JointPlace]], bodies: dict[str, int]
) -> Iterator[str]:
    """Where the position of every joint of the URDF is found in what the exported functions give."""
    for k, (_, place) in enumerate(places):
        if place.joint.kind == "spherical":
            first, second = (
                -1 if body == BASE else bodies[re.sub(r"-half\d+$", "", body)] for body in place.joint.between
            )
            yield f"        positions[{k}] = angle(frames, {first}, {second}, {AXES.index(place.motion)});\n"
    for k, number, start in _single(model, tree, places):
        yield f"        positions[{k}] = joint.joint_positions[{number}] - ({start!r});\n"


def _kinematics_words(model: Model, tree: Tree) -> dict[str, str]:
    """Links of the URDF by their bodies."""
    frames = _bodies(model)
    found = [name for name in frames if name in tree.frames]  # others are fixed to one of these
    own = [np.linalg.inv(frames[name]) @ tree.frames[name] for name in found]
    names = [*found, f"{tree.platform}-frame", BASE]
    return {
        "LINK_COUNT": str(len(names)),
        "LINKS": "".join(f"    {_string(name)},\n" for name in names),
        "BODY_COUNT": str(len(found)),
        "BODY_OF": ", ".join(str(list(frames).index(name)) for name in found),
        "IN_BODY": _numbers(own),
        "DOF": str(model.mobility.count),
    }
