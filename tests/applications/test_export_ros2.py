"""Exported ROS 2 packages: numbers of the completed joint states, and what can be built without ROS."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import casadi
import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation

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
#include "PACKAGE/kinematics.hpp"
int main() {
    PACKAGE::Completion completion;
    PACKAGE::Kinematics kinematics;
    std::array<double, PACKAGE::driven_joints.size()> driven{}, driven_rates{};
    std::array<double, PACKAGE::joints.size()> all{}, rates{};
    std::array<double, 6 * PACKAGE::driven_joints.size()> jacobian{};
    for (const char *name : PACKAGE::joints) std::printf("%s ", name);
    std::printf("\\n");
    for (const char *name : PACKAGE::links) std::printf("%s ", name);
    std::printf("\\n");
    const auto show = [](const auto &values) { for (double one : values) std::printf("%.17g ", one); };
    for (;;) {
        for (double &one : driven) if (std::scanf("%lf", &one) != 1) return 0;
        for (double &one : driven_rates) if (std::scanf("%lf", &one) != 1) return 0;
        const bool good = completion.update(driven, driven_rates, all, rates) && kinematics.set(driven);
        std::printf("%d ", good && kinematics.jacobian(PACKAGE::platform_link, jacobian));
        show(all);
        show(rates);
        show(jacobian);
        for (std::size_t k = 0; k < PACKAGE::links.size(); k++) show(kinematics.link_pose(k));
        std::printf("\\n");
    }
}
"""
CONTROL = """
#include <cstdio>
#include "PACKAGE/computed_torque.hpp"
int main() {
    PACKAGE::ComputedTorque law(10.0);
    PACKAGE::DrivenArray position{}, velocity{}, effort{};
    PACKAGE::Reference reference;
    const auto read = [](auto &values) {
        for (double &x : values) if (std::scanf("%lf", &x) != 1) return false;
        return true;
    };
    while (read(position) && read(velocity) && read(reference.position) && read(reference.velocity)
        && read(reference.acceleration)) {
        std::printf("%d ", law.step(position, velocity, reference, effort));
        for (double one : effort) std::printf("%.17g ", one);
        std::printf("\\n");
    }
}
"""
PLUGIN = """
#include <cstdio>
#include "../src/kinematics_plugin.cpp"
int main() {
    PACKAGE::KinematicsPlugin plugin;
    kinematics_interface::KinematicsInterface &face = plugin;
    constexpr int n = PACKAGE::driven_joints.size();
    Eigen::VectorXd driven(n), deltas(n), back(n);
    for (int k = 0; k < n; k++) if (std::scanf("%lf", &driven[k]) != 1) return 1;
    for (int k = 0; k < n; k++) deltas[k] = 0.1 * (k + 1);
    Eigen::Matrix<double, 6, 1> twist;
    Eigen::Isometry3d pose;
    if (!face.initialize("", nullptr, "")) return 2;
    if (!face.convert_joint_deltas_to_cartesian_deltas(driven, deltas, "platform-frame", twist)) return 3;
    if (!face.convert_cartesian_deltas_to_joint_deltas(driven, twist, "platform-frame", back)) return 4;
    if (!face.calculate_link_transform(driven, "platform-frame", pose)) return 5;
    if (face.calculate_link_transform(driven, "no such link", pose)) return 6;
    if (face.calculate_link_transform(Eigen::VectorXd(n + 1), "platform", pose)) return 7;
    Eigen::Matrix<double, 7, 1> a, b;
    a << 1, 2, 3, 0, 0, 0, 1;
    b << 1.5, 2, 3, 0, 0, std::sin(0.1), std::cos(0.1);
    Eigen::Matrix<double, 6, 1> apart;
    if (!plugin.calculate_frame_difference(a, b, 0.5, apart)) return 8;
    for (int k = 0; k < 6; k++) std::printf("%.17g ", twist[k]);
    for (int k = 0; k < n; k++) std::printf("%.17g ", back[k]);
    for (int k = 0; k < 6; k++) std::printf("%.17g ", apart[k]);
    for (int k = 0; k < 16; k++) std::printf("%.17g ", pose.matrix()(k / 4, k % 4));
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
#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__))
namespace rclcpp {
struct Time {};
struct Duration {};
namespace node_interfaces { class NodeParametersInterface {}; }
}
""",
    "pluginlib/class_list_macros.hpp": """
#pragma once
#include <memory>
#define PLUGINLIB_EXPORT_CLASS(kind, base) static std::unique_ptr<base> made() { return std::make_unique<kind>(); } \\
    static auto *const maker = &made; static const void *const used = &maker;
""",
    # as the version of 2026 has it; functions of vectors are left out
    "kinematics_interface/kinematics_interface.hpp": """
#pragma once
#include "rclcpp/rclcpp.hpp"
namespace kinematics_interface { class KinematicsInterface { public:
    virtual ~KinematicsInterface() = default;
    virtual bool initialize(const std::string &, std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface>,
        const std::string &) = 0;
    virtual bool convert_cartesian_deltas_to_joint_deltas(const Eigen::VectorXd &, const Eigen::Matrix<double, 6, 1> &,
        const std::string &, Eigen::VectorXd &) = 0;
    virtual bool convert_joint_deltas_to_cartesian_deltas(const Eigen::VectorXd &, const Eigen::VectorXd &,
        const std::string &, Eigen::Matrix<double, 6, 1> &) = 0;
    virtual bool calculate_link_transform(const Eigen::VectorXd &, const std::string &, Eigen::Isometry3d &) = 0;
    virtual bool calculate_jacobian(const Eigen::VectorXd &, const std::string &,
        Eigen::Matrix<double, 6, Eigen::Dynamic> &) = 0;
    virtual bool calculate_jacobian_inverse(const Eigen::VectorXd &, const std::string &,
        Eigen::Matrix<double, Eigen::Dynamic, 6> &) = 0;
    virtual bool calculate_frame_difference(Eigen::Matrix<double, 7, 1> &, Eigen::Matrix<double, 7, 1> &, double,
        Eigen::Matrix<double, 6, 1> &) = 0;
}; }
""",
    "trajectory_msgs/msg/joint_trajectory.hpp": """
#pragma once
#include <string>
#include <vector>
namespace trajectory_msgs::msg {
struct JointTrajectoryPoint { std::vector<double> positions, velocities, accelerations, effort; };
struct JointTrajectory { std::vector<std::string> joint_names; std::vector<JointTrajectoryPoint> points; }; }
""",
    "controller_interface/controller_interface.hpp": """
#pragma once
#include "rclcpp/rclcpp.hpp"
#include <vector>
namespace rclcpp_lifecycle { struct State {};
struct LifecycleNode : rclcpp::Node { LifecycleNode() : rclcpp::Node("") {}
    struct Parameter { double as_double() const { return 10.0; } };
    Parameter get_parameter(const std::string &) const { return {}; } }; }
namespace controller_interface {
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class return_type { OK, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration { interface_configuration_type type; std::vector<std::string> names; };
struct Loaned { double get_value() const { return 0.0; } void set_value(double) {} };
class ControllerInterface { public:
    virtual ~ControllerInterface() = default;
    virtual InterfaceConfiguration command_interface_configuration() const = 0;
    virtual InterfaceConfiguration state_interface_configuration() const = 0;
    virtual CallbackReturn on_init() = 0;
    virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
    virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
    virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
    template <class T> T auto_declare(const std::string &, const T &value) { return value; }
    std::shared_ptr<rclcpp_lifecycle::LifecycleNode> get_node() const {
        return std::make_shared<rclcpp_lifecycle::LifecycleNode>(); }
protected:
    std::vector<Loaned> command_interfaces_, state_interfaces_;
}; }
""",
    "sensor_msgs/msg/joint_state.hpp": """
#pragma once
#include <string>
#include <vector>
namespace sensor_msgs::msg { struct JointState { struct {} header; std::vector<std::string> name;
    std::vector<double> position, velocity, effort; }; }
""",
}


@cache
def package_of(robot):
    return ros2_files(model_of(robot))


def written(model, folder):
    known = model.robot.name in pp.library() and model is model_of(model.robot.name)
    files = package_of(model.robot.name) if known else ros2_files(model)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return next(iter(files)).split("/")[0]


def compiled(folder, source, *include, system=None):
    command = [COMPILER, *FLAGS, *(f"-I{one}" for one in include), *(["-isystem", str(system)] if system else []),
               "-Wno-unused-variable", str(source), "-o", str(folder / "program")]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return folder / "program"


@needs_compiler
@pytest.mark.parametrize(
    "robot",
    [
        "delta",  # spherical joints
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("hexapod", "planar-3-rrr", "ankle", "par4", "reachy-mini", "five-bar")
        ),
    ],
)
def test_completed_joint_states_are_those_of_the_model(robot, tmp_path):
    model = model_of(robot)
    package = written(model, tmp_path)
    (tmp_path / "main.cpp").write_text(MAIN.replace("PACKAGE", package))
    program = compiled(tmp_path, tmp_path / "main.cpp", tmp_path / package / "include")
    motion = make_task(model, rate=50.0).motion
    chosen = slice(1, min(len(motion.time), 100) - 1)
    poses, twists = motion.pose[chosen], motion.twist[chosen]
    wanted = urdf_positions(model, poses)
    urdf = ET.parse(next((tmp_path / package / "urdf").glob("*.urdf")))
    side = next((tmp_path / package / "urdf").glob("*.yaml")).read_text()
    driven = [line[2:] for line in side.partition("name_mot:\n")[2].partition("polypod:")[0].splitlines()]
    change = rates_of(model, poses, twists)
    rows = np.stack([wanted[name] for name in driven] + [change[name] for name in driven], axis=-1)
    text = "\n".join(" ".join(map(repr, row)) for row in rows.tolist())
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    first, links, *lines = done.stdout.splitlines()
    names = first.split()
    moving = {joint.get("name") for joint in urdf.iter("joint") if joint.get("type") != "fixed"}
    assert set(names) == moving == set(wanted)
    found = np.array([[float(x) for x in line.split()] for line in lines])
    assert (found[:, 0] == 1).all()
    n, count = len(names), len(driven)
    _, positions, rates, jacobian, frames = np.split(found, np.cumsum([1, n, n, 6 * count]), axis=1)
    expected = np.stack([wanted[name] for name in names], axis=-1)
    off = (positions - expected + np.pi) % (2 * np.pi) - np.pi  # angles may differ by whole turns
    # forward kinematics ends at residuals of 1e-13 of the size, times the condition number
    assert np.abs(off).max() < 1e-11
    speeds = np.stack([change[name] for name in names], axis=-1)
    assert np.abs(rates - speeds).max() < 1e-8 * max(np.abs(speeds).max(), 1.0)  # differences, here and there
    # the twist of the platform's frame from the driven rates; the platform's link has its origin elsewhere
    link = dict(zip(links.split(), np.moveaxis(frames.reshape(len(poses), -1, 4, 4), 1, 0), strict=True))
    assert np.abs(link["platform-frame"] - poses).max() < 1e-11
    arm = link["platform"][:, :3, 3] - poses[:, :3, 3]
    moved = np.einsum("nij,nj->ni", jacobian.reshape(-1, 6, count), rows[:, count:])
    assert np.abs(moved[:, 3:] - twists[:, 3:]).max() < 1e-8
    assert np.abs(moved[:, :3] - np.cross(twists[:, 3:], arm) - twists[:, :3]).max() < 1e-8
    assert_links_are_the_urdfs(urdf, link, wanted, len(poses) - 1)


def rates_of(model, poses, twists):
    """Rates of all joints of the URDF by central differences of fourth order along the motion."""
    step, found = 1e-4, {}
    for weight, time in zip((1.0, -8.0, 8.0, -1.0), (-2.0, -1.0, 1.0, 2.0), strict=True):
        there = poses.copy()
        turn = Rotation.from_rotvec(time * step * twists[:, 3:]).as_matrix()
        there[:, :3, :3] = turn @ poses[:, :3, :3]
        there[:, :3, 3] += time * step * twists[:, :3]
        for name, values in urdf_positions(model, there).items():
            found[name] = found.get(name, 0.0) + weight * values / (12.0 * step)
    return found


def assert_links_are_the_urdfs(urdf, link, positions, k):
    """Poses of links by the joints of the URDF, from the base up, are those of the header."""
    root = urdf.getroot()
    frames = {"base": np.eye(4)}
    joints = root.findall("joint")
    numbers = lambda element, key: np.array([float(x) for x in element.get(key).split()])  # noqa: E731
    while joints:
        joint = next(one for one in joints if one.find("parent").get("link") in frames)
        joints.remove(joint)
        local, origin = np.eye(4), joint.find("origin")
        local[:3, :3] = Rotation.from_euler("xyz", numbers(origin, "rpy")).as_matrix()
        local[:3, 3] = numbers(origin, "xyz")
        moved, value = np.eye(4), positions.get(joint.get("name"), np.zeros(k + 1))[k]
        if joint.get("type") == "prismatic":
            moved[:3, 3] = value * numbers(joint.find("axis"), "xyz")
        elif joint.get("type") != "fixed":
            moved[:3, :3] = Rotation.from_rotvec(value * numbers(joint.find("axis"), "xyz")).as_matrix()
        frames[joint.find("child").get("link")] = frames[joint.find("parent").get("link")] @ local @ moved
    assert {name for name in link if name in frames} == set(link)
    for name, poses in link.items():
        assert np.abs(poses[k] - frames[name]).max() < 1e-11, name


def piped(program, rows):
    text = " ".join(map(repr, np.concatenate([np.ravel(row) for row in rows]).tolist()))
    done = subprocess.run([str(program)], input=text, capture_output=True, text=True, check=True)
    return np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])


@needs_compiler
def test_efforts_of_the_controller_are_those_of_the_model(tmp_path):
    """Inverse dynamics of reference accelerations and of errors times gains; none beyond a limit."""
    robot = pp.load("five-bar", {"legs.*.joints.motor.max_force": 50.0})
    model = pp.Model(robot)
    package = written(model, tmp_path)
    (tmp_path / "main.cpp").write_text(CONTROL.replace("PACKAGE", package))
    program = compiled(tmp_path, tmp_path / "main.cpp", tmp_path / package / "include")
    home = model.inverse_kinematics(robot.home.matrix)
    motion = model.motion([0.01, 0.02], [0.2, -0.1], [1.0, 3.0])
    q = model.inverse_kinematics(motion.pose) - home
    qdot = model.rates(motion.pose, motion.twist)
    qddot = model.accelerations(motion.pose, motion.twist, motion.acceleration)
    error, rate_error = np.array([1e-3, -2e-3]), np.array([0.01, 0.02])
    reference = q + error, qdot + rate_error, qddot - 2 * 10.0 * rate_error - 10.0**2 * error
    far = reference[0] + 5000.0, reference[1], reference[2]
    found = piped(program, [(q, qdot, *reference), (q, qdot, *far)])
    wanted = model.inverse_dynamics(motion.pose, motion.twist, motion.acceleration)
    assert found[0, 0] == 0
    assert found[0, 1:] == pytest.approx(wanted, rel=1e-11)
    assert found[1].tolist() == [5.0, 0.0, 0.0]  # POLYPOD_OUT_OF_RANGE


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("robot", ["delta", "hexapod", "ankle-g1"])
def test_the_plugins_against_stand_ins(robot, tmp_path):
    """kinematics_interface with real Eigen; the controller compiles with every warning an error."""
    model = model_of(robot)
    package = written(model, tmp_path)
    ros = stand_ins(tmp_path)
    eigen = Path(casadi.__file__).parent / "include" / "eigen3"
    if not eigen.is_dir():
        pytest.skip("this CasADi has no Eigen")
    root = tmp_path / package
    (root / "test").mkdir()
    (root / "test" / "main.cpp").write_text(PLUGIN.replace("PACKAGE", package))
    program = compiled(tmp_path, root / "test" / "main.cpp", root / "include", ros, system=eigen)
    motion = make_task(model, rate=50.0).motion
    pose = motion.pose[1]
    positions, side = urdf_positions(model, pose), next((root / "urdf").glob("*.yaml")).read_text()
    driven = [line[2:] for line in side.partition("name_mot:\n")[2].partition("polypod:")[0].splitlines()]
    found = piped(program, [[positions[name] for name in driven]])[0]
    n = len(driven)
    deltas = 0.1 * np.arange(1, n + 1)
    assert "ratio" not in side.partition("polypod:")[2].partition("robot:")[0]  # joints move as the actuators do
    twist = model.twist(pose, deltas)
    assert found[:6] == pytest.approx(twist, abs=1e-12 * np.abs(twist).max() + 1e-12)
    assert found[6 : 6 + n] == pytest.approx(deltas, rel=1e-11)
    assert found[6 + n : 12 + n] == pytest.approx([1.0, 0, 0, 0, 0, 0.4], abs=1e-15)
    assert found[12 + n :] == pytest.approx(pose.ravel(), abs=1e-12)
    controller = root / "src" / "computed_torque_controller.cpp"
    command = [COMPILER, *FLAGS, "-fsyntax-only", "-Wno-unused-variable", f"-I{root / 'include'}", f"-I{ros}"]
    done = subprocess.run([*command, str(controller)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def stand_ins(folder):
    """A folder with headers in place of ROS."""
    for path, text in ROS.items():
        (folder / "ros" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "ros" / path).write_text(text)
    return folder / "ros"


@needs_compiler
def test_what_can_be_built_without_ros(tmp_path):
    package = written(model_of("delta"), tmp_path)
    root = tmp_path / package
    ros = stand_ins(tmp_path)
    node = root / "src" / "joint_state_completion.cpp"
    compiled(tmp_path, node, root / "include", ros)
    manifest = ET.parse(root / "package.xml").getroot()
    assert (manifest.tag, manifest.get("format"), manifest.findtext("name")) == ("package", "3", package)
    # REP 149: the order of elements, the form of the name, every dependency once
    order = ["name", "version", "description", "maintainer", "license", "depends", "export"]
    tags = ["depends" if one.tag.endswith("depend") else one.tag for one in manifest]
    assert [order.index(tag) for tag in tags] == sorted(order.index(tag) for tag in tags)
    assert re.fullmatch(r"[a-z](_?[a-z0-9]+)*", package)
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest.findtext("version"))
    needed = [one.text for one in manifest if one.tag.endswith("depend")]
    assert len(set(needed)) == len(needed)
    for launch in (root / "launch").iterdir():
        ast.parse(launch.read_text())
    meshes = [one.get("filename") for one in ET.parse(next((root / "urdf").glob("*.urdf"))).iter("mesh")]
    assert meshes
    assert all((tmp_path / one.removeprefix("package://")).is_file() for one in meshes)
    cmake = shutil.which("cmake")
    if cmake is None:
        return
    library = "add_library({0} INTERFACE IMPORTED)\nset({1}_TARGETS {0})\n"
    stubs = {
        "pluginlib": library.format("pluginlib::pluginlib", "pluginlib")
        + "function(pluginlib_export_plugin_description_file)\nendfunction()\n",
        "kinematics_interface": library.format("kinematics_interface::all", "kinematics_interface"),
        "controller_interface": library.format("controller_interface::all", "controller_interface"),
        "trajectory_msgs": library.format("trajectory_msgs::all", "trajectory_msgs"),
        "Eigen3": library.format("Eigen3::Eigen", "Eigen3"),
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
    listing = [cmake, "--build", str(tmp_path / "build"), "--target", "help"]
    targets = subprocess.run(listing, capture_output=True, text=True, check=True).stdout
    assert {f"{package}_kinematics", f"{package}_controller", "joint_state_completion"} <= set(targets.split())
    folders = re.search(r"install\(DIRECTORY ([^)]*?) DESTINATION share", (root / "CMakeLists.txt").read_text())[1]
    assert all((root / folder).is_dir() for folder in folders.split())
    used = {one.text for one in manifest.iter() if one.tag.endswith("depend")}
    for name in set(stubs) - {"Eigen3"}:
        assert name in used  # what CMake looks for is in the manifest
    for name in ("kinematics", "controller"):  # classes that the libraries export, where the sources say so
        plugin = ET.parse(root / f"{name}_plugin.xml").getroot()
        assert plugin.get("path") == f"{package}_{name}"
        one = plugin.find("class")
        source = "\n".join(path.read_text() for path in (root / "src").glob("*.cpp"))
        assert f"PLUGINLIB_EXPORT_CLASS({one.get('type')}, {one.get('base_class_type')})" in source
    assert yaml.safe_load((root / "config" / "controllers.yaml").read_text())["controller_manager"]["ros__parameters"][
        "computed_torque"]["type"] == ET.parse(root / "controller_plugin.xml").find("class").get("name")  # fmt: skip
    assert {"ament_cmake", "rclcpp", "sensor_msgs", "robot_state_publisher", "rviz2"} <= used


def test_names_of_packages():
    """Lower case, letters, digits and single underscores, whatever the robot is called."""
    files = ros2_files(pp.Model(pp.load("five-bar").with_(name="7--My & Robot_")))
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
    assert set(done.stdout.splitlines()[0].split()) == moving
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
