"""A robot as a ROS 2 package: URDF, launch file with RViz, and a node that completes the states of passive joints.

``robot_state_publisher`` needs the position of every joint of the URDF, a drive measures its own only. The node finds
the pose from the driven joints by forward kinematics, from that of the last message, and all other joints from the
pose by the same operations as ``urdf_positions``. Its mathematics is a header without ROS, ``completion.hpp``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import InputError
from ..exchange.linkage import BASE
from ..model import Model
from .code import identifier, namespace
from .cpp import export_cpp
from .joint_states import AXES, JointPlace, name_in_tree, source_of
from .text import file_name
from .tree import Tree
from .urdf import urdf_files, urdf_places

_PARTS = ("forward_kinematics_along", "joint_positions", "bodies")
_COMPLETION = """// Positions of all joints of the URDF of '@ROBOT@' from those of its driven ones. Written by polypod.
#ifndef @GUARD@
#define @GUARD@

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

@INCLUDES@
namespace @PACKAGE@ {

/// Driven joints of the URDF, in the order of the robot's actuators.
inline constexpr std::array<const char *, @DRIVES@> driven_joints = {@DRIVEN@};

/// Joints of the URDF that move.
inline constexpr std::array<const char *, @COUNT@> joints = {
@JOINTS@};

/// Finds the positions of all joints; keeps the last pose, from which forward kinematics starts.
class Completion {
public:
    /// Position [m or rad] of every joint from those of the driven ones; false, and nothing changes, where there is no
    /// solution near the last one.
    bool update(const std::array<double, @DRIVES@> &driven, std::array<double, @COUNT@> &positions)
    {
        static constexpr std::array<double, @DRIVES@> home_q = {@HOME_Q@};
        static constexpr std::array<double, @DRIVES@> ratio = {@RATIO@};
        std::array<double, @DRIVES@> q{};
        for (std::size_t k = 0; k < q.size(); k++) q[k] = home_q[k] + ratio[k] * driven[k];
        const auto found = polypod::@SPACE@::forward_kinematics_along(q, pose_);
        if (found.status != POLYPOD_OK) return false;
        const auto joint = polypod::@SPACE@::joint_positions(found.pose_found);
        const auto body = polypod::@SPACE@::bodies(found.pose_found);
        if (joint.status != POLYPOD_OK || body.status != POLYPOD_OK) return false;
        pose_ = found.pose_found;
        std::array<double, @BODIES@> frames{};  // platform, then the bodies of the legs
        std::copy(pose_.begin(), pose_.end(), frames.begin());
        std::copy(body.bodies.begin(), body.bodies.end(), frames.begin() + 16);
@ASSIGN@        return true;
    }

    /// Start again from home.
    void reset() { pose_ = home_pose; }

    /// Pose of the platform of the last update, 4x4 by rows.
    const std::array<double, 16> &pose() const { return pose_; }

private:
    static constexpr std::array<double, 16> home_pose = {@HOME@};
    std::array<double, 16> pose_ = home_pose;

    /// Angle about x, y or z (0, 1, 2) of a spherical joint as three hinges: how its second body has turned from home,
    /// against its first. A body below 0 is the base.
    static double angle(const std::array<double, @BODIES@> &bodies, int first, int second, int axis)
    {
        double a[9], b[9], t[9];
        turned(bodies, first, a);
        turned(bodies, second, b);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) t[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
        if (axis == 0) return std::atan2(-t[5], t[8]);
        if (axis == 1) return std::atan2(t[2], std::hypot(t[5], t[8]));
        return std::atan2(-t[1], t[0]);
    }

    /// Rotation of a body from home, base axes, by rows.
    static void turned(const std::array<double, @BODIES@> &bodies, int body, double *r)
    {
        static constexpr std::array<double, @BODIES@> home = {@HOME_BODIES@};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                r[3 * i + j] = body < 0 ? (i == j ? 1.0 : 0.0) : 0.0;
                for (int k = 0; k < 3 && body >= 0; k++)
                    r[3 * i + j] += bodies[16 * body + 4 * i + k] * home[16 * body + 4 * j + k];
            }
    }
};

}  // namespace @PACKAGE@

#endif
"""
_NODE = """// Node that completes joint states: driven joints in, all joints of the URDF out. Written by polypod.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "@PACKAGE@/completion.hpp"
#include "rclcpp/rclcpp.hpp"
#include "sensor_msgs/msg/joint_state.hpp"

using sensor_msgs::msg::JointState;

class JointStateCompletion : public rclcpp::Node {
public:
    JointStateCompletion() : Node("joint_state_completion")
    {
        publisher_ = create_publisher<JointState>("joint_states", 10);
        subscription_ = create_subscription<JointState>(
            "driven_joint_states", 10, [this](const JointState &message) { complete(message); });
    }

private:
    void complete(const JointState &message)
    {
        std::array<double, @PACKAGE@::driven_joints.size()> driven{};
        for (std::size_t k = 0; k < driven.size(); k++) {
            const auto at = std::find(message.name.begin(), message.name.end(), @PACKAGE@::driven_joints[k]);
            const auto index = static_cast<std::size_t>(at - message.name.begin());
            if (at == message.name.end() || index >= message.position.size()) {
                RCLCPP_WARN(get_logger(), "no position of driven joint '%s'", @PACKAGE@::driven_joints[k]);
                return;
            }
            driven[k] = message.position[index];
        }
        std::array<double, @PACKAGE@::joints.size()> positions{};
        if (!completion_.update(driven, positions)) {
            RCLCPP_WARN(get_logger(), "no pose near the last one has these positions of the driven joints");
            return;
        }
        JointState all;
        all.header = message.header;
        all.name.assign(@PACKAGE@::joints.begin(), @PACKAGE@::joints.end());
        all.position.assign(positions.begin(), positions.end());
        publisher_->publish(all);
    }

    @PACKAGE@::Completion completion_;
    rclcpp::Publisher<JointState>::SharedPtr publisher_;
    rclcpp::Subscription<JointState>::SharedPtr subscription_;
};

int main(int argc, char **argv)
{
    rclcpp::init(argc, argv);
    rclcpp::spin(std::make_shared<JointStateCompletion>());
    rclcpp::shutdown();
    return 0;
}
"""
_CMAKE = """cmake_minimum_required(VERSION 3.16)
project(@PACKAGE@ LANGUAGES CXX)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)

find_package(ament_cmake REQUIRED)
find_package(rclcpp REQUIRED)
find_package(sensor_msgs REQUIRED)

add_executable(joint_state_completion src/joint_state_completion.cpp)
target_include_directories(joint_state_completion PRIVATE include)
target_link_libraries(joint_state_completion rclcpp::rclcpp ${sensor_msgs_TARGETS})

install(TARGETS joint_state_completion DESTINATION lib/${PROJECT_NAME})
install(DIRECTORY include/ DESTINATION include)
install(DIRECTORY launch rviz urdf DESTINATION share/${PROJECT_NAME})

ament_package()
"""
_PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>@PACKAGE@</name>
  <version>0.1.0</version>
  <description>@TITLE@: URDF, display, and a node that completes joint states. Written by polypod.</description>
  <maintainer email="you@example.com">you</maintainer>
  <license>not stated</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <depend>rclcpp</depend>
  <depend>sensor_msgs</depend>
  <exec_depend>launch</exec_depend>
  <exec_depend>launch_ros</exec_depend>
  <exec_depend>robot_state_publisher</exec_depend>
  <exec_depend>rviz2</exec_depend>
  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""
_LAUNCH = '''"""Show the robot in RViz: publish its driven joints on /driven_joint_states."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch_ros.actions import Node


def generate_launch_description():
    share = Path(get_package_share_directory("@PACKAGE@"))
    description = (share / "urdf" / "@FILE@.urdf").read_text()
    return LaunchDescription(
        [
            Node(package="robot_state_publisher", executable="robot_state_publisher",
                 parameters=[{"robot_description": description}]),
            Node(package="@PACKAGE@", executable="joint_state_completion"),
            Node(package="rviz2", executable="rviz2", arguments=["-d", str(share / "rviz" / "display.rviz")]),
        ]
    )
'''
_RVIZ = """Visualization Manager:
  Global Options:
    Fixed Frame: base
  Displays:
    - Class: rviz_default_plugins/Grid
      Name: Grid
      Enabled: true
    - Class: rviz_default_plugins/RobotModel
      Name: Robot
      Enabled: true
      Description Topic:
        Value: /robot_description
    - Class: rviz_default_plugins/TF
      Name: Frames
      Enabled: false
  Tools:
    - Class: rviz_default_plugins/MoveCamera
  Views:
    Current:
      Class: rviz_default_plugins/Orbit
      Distance: @DISTANCE@
"""


def ros2_files(model: Model) -> dict[str, str]:
    """A ROS 2 package of a robot, in a folder of its name.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to str
        Texts by path: package.xml, CMakeLists.txt, the URDF with its loops file, launch and RViz files, a node that
        publishes the states of all joints from those of the driven ones, and its mathematics as headers without ROS.

    Examples
    --------
    >>> sorted(ros2_files(Model("delta")))[:2]
    ['delta_polypod/CMakeLists.txt', 'delta_polypod/include/delta_polypod/completion.hpp']
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
    words |= _completion_words(model)
    words["GUARD"] = f"{package.upper()}_COMPLETION_HPP"
    files = {f"urdf/{name}": text for name, text in urdf_files(model).items()}
    files |= {f"include/{package}/{name}.hpp": text for name, text in headers}
    for path, text in {
        f"include/{package}/completion.hpp": _COMPLETION,
        "src/joint_state_completion.cpp": _NODE,
        "launch/display.launch.py": _LAUNCH,
        "rviz/display.rviz": _RVIZ,
        "CMakeLists.txt": _CMAKE,
        "package.xml": _PACKAGE,
    }.items():
        files[path] = re.sub("@([A-Z_]+)@", lambda found: words[found[1]], text)
    return {f"{package}/{path}": text for path, text in files.items()}


def _string(text: str) -> str:
    """A text as C++ writes it."""
    return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))


def _completion_words(model: Model) -> dict[str, str]:
    """What the completion knows of the robot: its joints, home, and where each position is found."""
    tree, places = urdf_places(model)
    home = model.robot.home.matrix
    legs = model.bodies(home)
    bodies = {"platform": legs.pop("platform"), **legs}  # as the header has them
    frames = list(bodies.values())
    numbers = {name_in_tree(model, name, "/"): k for k, name in enumerate(bodies)}
    if len(tree.driven) != len(model.actuators):
        raise InputError(f"ros2: {model.robot.name!r} has actuators that no joint of its URDF is")
    ratios = [joint.ratio for joint in tree.driven]
    return {
        "SPACE": namespace(model),
        "DRIVES": str(len(ratios)),
        "DRIVEN": ", ".join(_string(joint.name) for joint in tree.driven),
        "COUNT": str(len(places)),
        "JOINTS": "".join(f"    {_string(name)},\n" for name, _ in places),
        "HOME_Q": ", ".join(map(repr, model.inverse_kinematics(home).tolist())),
        "RATIO": ", ".join(map(repr, map(float, ratios))),
        "HOME": ", ".join(map(repr, home.ravel().tolist())),
        "BODIES": str(16 * len(frames)),
        "HOME_BODIES": ", ".join(repr(value) for frame in frames for value in frame.ravel().tolist()),
        "ASSIGN": "".join(_assignments(model, tree, places, numbers)),
    }


def _assignments(
    model: Model, tree: Tree, places: list[tuple[str, JointPlace]], bodies: dict[str, int]
) -> Iterator[str]:
    """Where the position of every joint of the URDF is found in what the exported functions give."""
    own = {name_in_tree(model, name): name for name in model.joints}
    home = model.joint_positions(model.robot.home.matrix)
    starts: dict[str, int] = {}
    for name in model.joints:
        starts[name] = sum(home[before].shape[-1] for before in starts)
    for k, (_, place) in enumerate(places):
        if place.joint.kind == "spherical":
            first, second = (
                -1 if body == BASE else bodies[re.sub(r"-half\d+$", "", body)] for body in place.joint.between
            )
            yield f"        positions[{k}] = angle(frames, {first}, {second}, {AXES.index(place.motion)});\n"
            continue
        whole, number = source_of(place, {name: model.joints[one] for name, one in own.items()}, tree)
        start = float(home[own[whole]][number])
        yield f"        positions[{k}] = joint.joint_positions[{starts[own[whole]] + number}] - ({start!r});\n"
