"""Exported ROS 2 packages: numbers of the completed joint states, and what can be built without ROS."""

from __future__ import annotations

import ast
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.export import ros2_files, urdf_positions
from polypod.motion import make_task
from support.refusals import refused
from support.robots.hexagon import hexagon_modes
from test_export_c import model_of

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler on this machine")
FLAGS = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
MAIN = """
#include <cstdio>
#include "PACKAGE/completion.hpp"
int main() {
    PACKAGE::Completion completion;
    std::array<double, PACKAGE::driven_joints.size()> driven{};
    std::array<double, PACKAGE::joints.size()> all{};
    for (const char *name : PACKAGE::joints) std::printf("%s ", name);
    std::printf("\\n");
    for (;;) {
        for (double &one : driven) if (std::scanf("%lf", &one) != 1) return 0;
        std::printf("%d ", completion.update(driven, all) ? 1 : 0);
        for (double one : all) std::printf("%.17g ", one);
        std::printf("\\n");
    }
}
"""
ROS = {
    "rclcpp/rclcpp.hpp": """
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <cstdio>
namespace rclcpp {
template <class M> struct Publisher { using SharedPtr = std::shared_ptr<Publisher>; void publish(const M &) {} };
template <class M> struct Subscription { using SharedPtr = std::shared_ptr<Subscription>; };
struct Logger {};
class Node {
public:
    explicit Node(const std::string &) {}
    template <class M> typename Publisher<M>::SharedPtr create_publisher(const std::string &, int) {
        return std::make_shared<Publisher<M>>(); }
    template <class M, class F> typename Subscription<M>::SharedPtr create_subscription(const std::string &, int, F f) {
        std::function<void(const M &)> checked = f; return std::make_shared<Subscription<M>>(); }
    Logger get_logger() const { return {}; }
};
inline void init(int, char **) {}
inline void spin(std::shared_ptr<Node>) {}
inline void shutdown() {}
}
#define RCLCPP_WARN(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__))
""",
    "sensor_msgs/msg/joint_state.hpp": """
#pragma once
#include <string>
#include <vector>
namespace sensor_msgs::msg { struct JointState { struct {} header; std::vector<std::string> name;
    std::vector<double> position, velocity, effort; }; }
""",
}


def written(model, folder):
    files = ros2_files(model)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return next(iter(files)).split("/")[0]


def compiled(folder, source, *include):
    command = [COMPILER, *FLAGS, *(f"-I{one}" for one in include), str(source), "-o", str(folder / "program")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return folder / "program"


@needs_compiler
@pytest.mark.parametrize(
    "robot",
    [
        "hexapod",  # universal and spherical joints; loops of 6d
        "delta",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("planar-3-rrr", "ankle", "par4", "reachy-mini", "five-bar")
        ),
    ],
)
def test_completed_joint_states_are_those_of_the_model(robot, tmp_path):
    model = model_of(robot)
    package = written(model, tmp_path)
    (tmp_path / "main.cpp").write_text(MAIN.replace("PACKAGE", package))
    program = compiled(tmp_path, tmp_path / "main.cpp", tmp_path / package / "include")
    motion = make_task(model, rate=50.0).motion
    poses = motion.pose[: min(len(motion.time), 200)]
    wanted = urdf_positions(model, poses)
    urdf = ET.parse(next((tmp_path / package / "urdf").glob("*.urdf")))
    side = next((tmp_path / package / "urdf").glob("*.yaml")).read_text()
    driven = [line[2:] for line in side.partition("name_mot:\n")[2].partition("polypod:")[0].splitlines()]
    rows = np.stack([wanted[name] for name in driven], axis=-1)
    text = "\n".join(" ".join(map(repr, row)) for row in rows.tolist())
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    names, *lines = done.stdout.splitlines()
    moving = {joint.get("name") for joint in urdf.iter("joint") if joint.get("type") != "fixed"}
    assert set(names.split()) == moving == set(wanted)
    found = np.array([[float(x) for x in line.split()] for line in lines])
    assert found.shape == (len(poses), 1 + len(wanted))
    assert (found[:, 0] == 1).all()
    expected = np.stack([wanted[name] for name in names.split()], axis=-1)
    off = (found[:, 1:] - expected + np.pi) % (2 * np.pi) - np.pi  # angles may differ by whole turns
    # forward kinematics ends at residuals of 1e-13 of the size, times the condition number
    assert np.abs(off).max() < 1e-11


@needs_compiler
def test_what_can_be_built_without_ros(tmp_path):
    package = written(model_of("delta"), tmp_path)
    root = tmp_path / package
    for path, text in ROS.items():
        (tmp_path / "ros" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "ros" / path).write_text(text)
    node = root / "src" / "joint_state_completion.cpp"
    compiled(tmp_path, node, root / "include", tmp_path / "ros")
    manifest = ET.parse(root / "package.xml").getroot()
    assert (manifest.tag, manifest.get("format"), manifest.findtext("name")) == ("package", "3", package)
    ast.parse((root / "launch" / "display.launch.py").read_text())
    cmake = shutil.which("cmake")
    if cmake is None:
        return
    stubs = {
        "ament_cmake": "function(ament_package)\nendfunction()\n",
        "rclcpp": "add_library(rclcpp::rclcpp INTERFACE IMPORTED)\n",
        "sensor_msgs": "add_library(sensor_msgs::all INTERFACE IMPORTED)\nset(sensor_msgs_TARGETS sensor_msgs::all)\n",
    }
    for name, text in stubs.items():
        (tmp_path / "stubs" / name).mkdir(parents=True)
        (tmp_path / "stubs" / name / f"{name}Config.cmake").write_text(text)
    command = [cmake, "-S", str(root), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={tmp_path / 'stubs'}",
               *(f"-D{name}_DIR={tmp_path / 'stubs' / name}" for name in stubs)]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    used = {one.text for one in manifest.iter() if one.tag.endswith("depend")}
    assert {"ament_cmake", "rclcpp", "sensor_msgs", "robot_state_publisher", "rviz2"} <= used


def test_names_of_packages():
    """Lower case, letters, digits and single underscores, whatever the robot is called."""
    files = ros2_files(pp.Model(pp.load("delta").with_(name="7--My & Robot_")))
    assert {path.split("/")[0] for path in files} == {"robot_7_my_robot_polypod"}
    assert ET.fromstring(files["robot_7_my_robot_polypod/package.xml"]).findtext("name") == "robot_7_my_robot_polypod"


@needs_compiler
def test_names_of_joints(tmp_path):
    """Quotes, backslashes and dots in a leg's name are those of the URDF in the compiled completion."""
    robot = pp.load("five-bar")
    leg = robot.legs[0].model_copy(update={"name": 'a"b.c\\n'})
    model = pp.Model(robot.model_copy(update={"name": "end\\", "legs": (leg, *robot.legs[1:])}))
    package = written(model, tmp_path)
    (tmp_path / "main.cpp").write_text(MAIN.replace("PACKAGE", package))
    program = compiled(tmp_path, tmp_path / "main.cpp", tmp_path / package / "include")
    done = subprocess.run([program], input="", capture_output=True, text=True, check=True)
    urdf = ET.parse(next((tmp_path / package / "urdf").glob("*.urdf")))
    moving = {joint.get("name") for joint in urdf.iter("joint") if joint.get("type") != "fixed"}
    assert set(done.stdout.split()) == moving
    assert 'a"b.c\\n-motor' in moving


def test_a_flexible_platform_has_no_package():
    with refused(InputError, "ros2", "flexible"):
        ros2_files(pp.Model(pp.load("long").on_modes(hexagon_modes(2))))


@pytest.mark.long
def test_joint_states_of_a_machine_of_groups():
    """Par4's joints are the robot's own, not a leg's: zero at home, and every joint of the file has a state."""
    model = model_of("par4")
    states = urdf_positions(model, model.robot.home.matrix)
    assert max(abs(float(one)) for one in states.values()) < 1e-12
    assert len(states) > len(model.joints)
