"""MJCF of robots: MuJoCo's accelerations are as near to polypod's as its loops are stiff; read back it is the robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, PolypodError
from polypod.exchange import import_robot, linkage_of
from polypod.exchange.embedded import embedded_robot, left_out
from polypod.export import ROBOT_EXPORTS, export_mjcf, export_sdf, export_urdf, mjcf_positions, urdf_files
from polypod.files import dumps
from support.command_line import polypod
from support.refusals import failed, refused
from support.robots.every_field import rich_chain, rich_joints, rich_struts
from support.same_robot import assert_same

# loops by welds of halves and by hinges; in the long run all robots that MuJoCo takes with every number
REFUSED = {"pedrammehr", "staicu", "long"}  # inertias and masses that MuJoCo does not take
REFUSED |= {"cable-camera", "cogiro", "ipanema", "planar-4-cable"}  # cables
REFUSED |= {"flexure-hexapod"}  # springs whose matrix couples axes
# kim-ryu: dry friction by reaction; lopes: moments of zero; linear-delta: largest speeds. MuJoCo has no place for them.
OTHERS = sorted({*pp.library()} - {"hexapod", "five-bar", "kim-ryu", "lopes", "linear-delta"} - REFUSED)
ROBOTS = [
    "hexapod",
    "five-bar",
    "kim-ryu",
    *(pytest.param(name, marks=pytest.mark.long) for name in ("lopes", "linear-delta")),
    *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS),
]


@cache
def model(name: str | Callable[[], pp.Robot]) -> pp.Model:
    return pp.Model(name if isinstance(name, str) else name())


@pytest.mark.parametrize("name", ROBOTS)
def test_export_then_import_is_the_identity(name: str, tmp_path: Path) -> None:
    """The same robot, field by field; from its elements alone every number to rounding, and so the forces."""
    path = tmp_path / "robot.xml"
    path.write_text(export_mjcf(model(name)))
    back = import_robot(path)
    assert back.robot == model(name).robot
    assert back.remarks == ("the robot as polypod wrote it: the file is unchanged",)
    assert_same(model(name).robot, import_robot(path, "platform").robot)


@pytest.mark.parametrize("robot", [rich_struts, rich_chain, pytest.param(rich_joints, marks=pytest.mark.long)])
def test_every_field_of_a_robot_file_comes_back(robot: Callable[[], pp.Robot], tmp_path: Path) -> None:
    """From MJCF and from URDF with the file beside it; MuJoCo reads the file with the robot's text in it."""
    rich = model(robot)
    files = {"robot.xml": export_mjcf(rich), **urdf_files(rich)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    for name in ("robot.xml", list(files)[-1]):
        back = import_robot(tmp_path / name)
        assert back.robot == rich.robot
        assert back.robot.model_dump() == rich.robot.model_dump()


def test_a_rotor_behind_a_gear_is_read_from_the_elements(tmp_path: Path) -> None:
    """MuJoCo's armature is about the joint: the rotor's inertia by the square of the gear's ratio."""
    data = pp.load("five-bar").model_dump(exclude_unset=True)
    for leg in data["legs"]:
        leg["joints"][0].update(ratio=3.0, rotor=2e-5)
    root = ET.fromstring(export_mjcf(pp.Model(pp.Robot.model_validate(data))))
    geared = [float(joint.get("armature")) for joint in root.iter("joint") if joint.get("armature")]
    assert geared == pytest.approx([1.8e-4] * 2, rel=1e-12)
    next(root.iter("inertial")).set("mass", "0.5")  # so that polypod's own numbers do not count
    path = tmp_path / "robot.xml"
    path.write_text(ET.tostring(root, encoding="unicode"))
    drives = [joint for leg in import_robot(path).robot.legs for joint in leg.joints if joint.actuated]
    assert [(joint.ratio, joint.rotor) for joint in drives] == [(3.0, pytest.approx(2e-5, rel=1e-12))] * 2


@pytest.mark.long
def test_every_actuated_joint_of_a_loop_has_its_motor(tmp_path: Path) -> None:
    """A loop of nothing but actuated joints is cut at one of them, which keeps its motor in MJCF and URDF."""
    data = pp.load("five-bar").model_dump(exclude_unset=True)
    for leg in data["legs"]:
        for joint in leg["joints"]:
            joint["actuated"] = joint["kind"] == "revolute"
    redundant = pp.Model(pp.Robot.model_validate(data))
    assert len(redundant.actuators) == 5
    files = {"robot.xml": export_mjcf(redundant), **urdf_files(redundant)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name, platform in (("robot.xml", "platform"), (list(files)[-1], "platform-frame")):
        assert_same(redundant.robot, import_robot(tmp_path / name, platform).robot)


def test_armatures_of_a_cross_and_a_rotor_add_up() -> None:
    """A body that only turns about an actuated hinge on the base is armature there, beside the rotor."""
    data = pp.load("five-bar").model_dump(exclude_unset=True)
    for leg in data["legs"]:
        leg["bodies"]["crank"] = {"mass": 0.0, "inertia": [0.0, 0.0, 3e-4], "check": "none"}
        leg["joints"][0]["rotor"] = 2e-4
    root = ET.fromstring(export_mjcf(pp.Model(pp.Robot.model_validate(data))))
    found = [float(joint.get("armature")) for joint in root.iter("joint") if joint.get("armature")]
    assert found == pytest.approx([5e-4] * 2, rel=1e-12)


def test_a_file_that_was_changed_is_read_from_its_elements(tmp_path: Path) -> None:
    """A mass by hand: it counts, and what the elements do not say of the old robot is named."""
    rich = model(rich_struts)
    path, text = tmp_path / "robot.xml", export_mjcf(rich)
    root = ET.fromstring(text)
    upper = root.find(".//body[@name='leg1-upper']/inertial")
    upper.set("mass", "7.25")
    path.write_text(ET.tostring(root, encoding="unicode"))
    back = import_robot(path)
    assert back.robot.legs[0].bodies["leg1-upper"].mass == 7.25
    joined = "\n".join(back.remarks)
    for words in (
        "it was changed since it was written by polypod, so its elements were read",
        "left out: torque constant (torque_constant) of the drives of leg1",
        "left out: lead of the screw (lead) of the drives of leg1",
        "left out: ratings of the bearings of leg1 universal",
        "left out: joint limits of leg1 (universal joint cone, spherical joint cone)",
        "left out: stiffness of leg1 (drive, link, universal, spherical)",
        "left out: stiffness of the base",
        "left out: which part of the platform is payload",
    ):
        assert words in joined
    assert "rms_force" not in joined  # custom numbers say it
    assert back.robot.legs[0].joints[1].rms_force == rich.robot.legs[0].rms_force
    unknown = embedded_robot(
        dumps(rich.robot).replace("kind: UPS", "kind: UPX"), unchanged=True
    )  # of a program with more kinds
    (remark,) = unknown.remarks(())
    assert remark.startswith("the embedded robot file is not a valid robot: line ")
    assert "UPX" in remark
    assert remark.endswith("; its elements were read instead")
    path.write_text(text.replace("<option", "<!-- mine -->\n\n<option"))
    assert import_robot(path).robot == rich.robot  # blanks and comments are no change


@pytest.mark.long
def test_joints_of_several_dof_come_back_from_elements(tmp_path: Path) -> None:
    """Ranges and friction of each motion, from the hinges and slides that other programs have.

    Room within limits at poses around home tells the sense of every axis.
    """
    rich = model(rich_joints)
    files = {"robot.xml": export_mjcf(rich), **urdf_files(rich)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    poses = rich.robot.home.matrix @ pp.pose(*np.random.default_rng(1).uniform(-0.05, 0.05, (6, 5)))
    for name, mark in (("robot.xml", "platform"), (list(files)[-1], "platform-frame")):
        back = import_robot(tmp_path / name, mark)
        assert "left out: ranges of twist (ranges.twist) of leg2-S3" in "\n".join(back.remarks)
        other = pp.Model(back.robot)
        wanted, got = (rooms(one, poses) for one in (rich, other))
        assert len(wanted) == 6 + 1 + 1, "drives, a universal joint and a cylinder that nothing drives"
        for key, room in wanted.items():
            np.testing.assert_allclose(got[key], room, atol=1e-12, err_msg=str(key))
        has = ("viscous", "drag", "static") if mark == "platform" else ("viscous", "drag")  # of URDF
        frictions = [
            {(j.name, *key): [getattr(f, field) for field in has] for j in linkage_of(one.robot).joints
             for *key, f in j.friction_by_motion.items()}
            for one in (rich, other)
        ]  # fmt: skip
        assert frictions[0] == {(name.split("-", 1)[1], *key): value for (name, *key), value in frictions[1].items()}


def rooms(one: pp.Model, poses: np.ndarray) -> dict[tuple[str, str], list[list[float]]]:
    """Room below and above of every joint's motions (2 s), in order of size.

    A universal joint may be stated from its other end. A driven cylinder has two limits of its slide: the nearer ones.
    """
    report, found = one.limits(poses), {}
    for k, (leg, name) in enumerate(report.names):
        joint, _, motion = name.removeprefix(f"{leg}-").partition(" ")
        if motion not in ("cone", "twist"):
            room = np.r_[report.value[:, k] - report.low[k], report.high[k] - report.value[:, k]]
            own = found.setdefault((leg, joint), {})
            motion = "translation" if joint == "C1" and not motion else motion
            own[motion] = np.minimum(room, own.get(motion, np.inf))
    return {key: sorted(room.tolist() for room in own.values()) for key, own in found.items()}


@pytest.mark.long
def test_forces_are_the_same_after_export_and_import(tmp_path: Path) -> None:
    one, path = model("five-bar"), tmp_path / "robot.xml"
    path.write_text(export_mjcf(one))
    back = pp.Model(import_robot(path, "platform").robot)
    state = one.motion([0.01, -0.02], [1.0, 2.0], [3.0, -1.0])
    got, wanted = (each.inverse_dynamics(*state) for each in (back, one))
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def accelerations(one: pp.Model, impedance: float, stiffer: float, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """The platform's acceleration at home by MuJoCo and by polypod, moving, under forces that do not hold it.

    MuJoCo's impedance goes up to 0.9999; beyond that its own estimate of a loop's inertia is made ``stiffer``.
    """
    m = mujoco.MjModel.from_xml_string(export_mjcf(one, impedance=impedance))
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.dof_damping[:] = m.dof_frictionloss[:] = 0.0
    m.body_invweight0[:] /= stiffer
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    platform, random = m.body("platform").id, np.random.default_rng(seed)
    force = d.ctrl + 0.3 * np.abs(d.ctrl).max() * random.uniform(-1, 1, m.nu)

    def jacobians(q):
        d.qpos[:] = q
        mujoco.mj_forward(m, d)
        linear, angular = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        mujoco.mj_jacBody(m, d, linear, angular, platform)
        return np.vstack([linear, angular]), d.efc_J.reshape(-1, m.nv)[: d.ne].copy()

    start = d.qpos.copy()
    along, loops = jacobians(start)
    drives = np.eye(m.nv)[[int(m.joint(m.actuator(k).name).dofadr[0]) for k in range(m.nu)]]
    rates = 0.3 * random.uniform(-1, 1, m.nu)
    v = np.linalg.lstsq(np.vstack([drives, loops]), np.r_[rates, np.zeros(len(loops))], rcond=1e-9)[0]

    def moved(step):
        q = start.copy()
        mujoco.mj_integratePos(m, q, v, step)
        return jacobians(q)[0]

    drift = (moved(1e-4) - moved(-1e-4)) / 2e-4 @ v
    d.qpos[:], d.qvel[:], d.ctrl[:] = start, v, force
    mujoco.mj_forward(m, d)
    exact = one.direct_dynamics(one.robot.home.matrix, along @ v, force, friction=False)
    return along @ d.qacc + drift, exact


@pytest.mark.parametrize("name", ["planar-3-rrr", pytest.param("hexapod", marks=pytest.mark.long)])
def test_mujoco_converges_as_loops_stiffen(name: str) -> None:
    """Tenfold for each nine of the impedance, and on; MuJoCo's solver stops at about 1e-6."""
    errors = []
    for impedance, stiffer in ((0.99, 1.0), (0.999, 1.0), (0.9999, 1.0), (0.9999, 100.0), (0.9999, 1e4)):
        got, exact = accelerations(model(name), impedance, stiffer)
        errors.append(float(np.abs(got - exact).max() / np.abs(exact).max()))
    assert errors[2] < 0.15 * errors[1] < 0.15**2 * 2 * errors[0]
    assert errors[3] < 0.02 * errors[2]
    assert errors[4] < 5e-6


class Free(NamedTuple):
    """What an engine finds at home: along each free motion (k) the rates (k, n) of the drives, the platform's twist
    (k, 6) and the work (k,) against gravity and springs."""

    rates: np.ndarray
    twists: np.ndarray
    work: np.ndarray


def free_motions(loops: np.ndarray, drives: np.ndarray, platform: np.ndarray, forces: np.ndarray) -> Free:
    """From Jacobians of the loops, the drives and the platform by an engine's velocities."""
    _, values, vectors = np.linalg.svd(loops)
    free = vectors[int((values > 1e-9 * values.max(initial=0.0)).sum()) :]
    return Free(free @ drives.T, free @ platform.T, free @ forces)


def in_mujoco(text: str, path: Path, one: pp.Model) -> Free:
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, m.key("home").id)
    mujoco.mj_forward(m, d)
    linear, angular = np.zeros((3, m.nv)), np.zeros((3, m.nv))
    mujoco.mj_jacBody(m, d, linear, angular, m.body("platform").id)
    drives = np.array(
        [m.actuator_gear[k, 0] * np.eye(m.nv)[m.joint(m.actuator(k).name).dofadr[0]] for k in range(m.nu)]
    )
    loops = d.efc_J.reshape(-1, m.nv)[: d.ne]
    return free_motions(loops, drives, np.vstack([linear, angular]), d.qfrc_bias - d.qfrc_passive)


def in_pinocchio(text: str, path: Path, one: pp.Model) -> Free:
    """Pinocchio does not read gravity and gears of motors, which are given to it here, nor springs and couplings."""
    pin = pytest.importorskip("pinocchio")
    path.write_text(text)
    tree, *constraints = pin.buildModelAndConstraintsFromMJCF(str(path))
    tree.gravity.linear = np.array(one.robot.gravity)
    data, home, still = tree.createData(), tree.referenceConfigurations["home"], np.zeros(tree.nv)
    pin.computeJointJacobians(tree, data, home)
    pin.updateFramePlacements(tree, data)
    rows = [np.zeros((0, tree.nv))]
    for constraint in (each for kind in constraints for each in kind):
        own = constraint.createData()
        constraint.calc(tree, data, own)
        rows.append(constraint.jacobian(tree, data, own))
    motors = ET.fromstring(text).findall("actuator/*")
    drives = np.array([
        float(motor.get("gear").split()[0]) * np.eye(tree.nv)[tree.joints[tree.getJointId(motor.get("joint"))].idx_v]
        for motor in motors
    ])  # fmt: skip
    frame = tree.getFrameId("platform")
    platform = pin.getFrameJacobian(tree, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return free_motions(np.vstack(rows), drives, platform, pin.rnea(tree, data, home, still, still))


WAYS = {
    "plain": {},
    "hinges": {"hinges": True},
    "connect": {"loops": "connect"},
    "weld": {"loops": "weld"},
    "servos": {"actuators": "position"},
}


# One robot for each way by default; the long tests have all of both.
CHEAP = [("ankle", "plain"), ("ankle", "weld"), ("delta", "hinges"), ("hexapod", "connect")]
BOTH = [(name, way) for name in sorted({*pp.library()} - REFUSED) for way in WAYS]


@pytest.mark.parametrize(
    ("name", "way"), [pytest.param(*case, marks=() if case in CHEAP else pytest.mark.long) for case in BOTH]
)
def test_engines_find_our_jacobian_and_the_forces_at_rest(name: str, way: str, tmp_path: Path) -> None:
    """Every motion that MuJoCo's and Pinocchio's loops leave free: rates of the drives, and the work of the forces that
    hold the robot, whichever way the file is written. One body holds all, of which Pinocchio reads the first only."""
    one, text = model(name), export_mjcf(model(name), **WAYS[way])
    home, still = one.robot.home.matrix, np.zeros(6 + len(one.internal))
    force = one.inverse_dynamics(home, still, still, friction=False)
    unread = "stiffness=" in text or "<joint name" in text.partition("<equality>")[2]
    for engine in (in_mujoco, *(() if unread else (in_pinocchio,))):
        found = engine(text, tmp_path / "robot.xml", one)
        assert np.linalg.matrix_rank(found.rates, tol=1e-9) == len(one.dof) + len(one.internal)
        if not one.internal:
            rates = np.array([one.rates(home, twist) for twist in found.twists])
            assert np.abs(rates - found.rates).max() < 1e-10 * np.abs(rates).max()
        size = max(np.abs(found.work).max(), np.abs(force).max() * np.abs(found.rates).max(), 1e-9)
        assert np.abs(found.rates @ force - found.work).max() < 1e-11 * size


def test_ball_joints_as_hinges_are_where_the_poses_are() -> None:
    """Angles of the hinges at other poses: MuJoCo puts the platform there, and every loop closes."""
    one = model("ankle")
    m = mujoco.MjModel.from_xml_string(export_mjcf(one, hinges=True, loops="weld"))
    assert 'type="ball"' in export_mjcf(one, loops="weld")
    assert set(m.jnt_type) == {int(mujoco.mjtJoint.mjJNT_HINGE)}
    d = mujoco.MjData(m)
    for x in np.random.default_rng(3).uniform(-0.2, 0.2, (3, len(one.dof))):
        pose = one.motion(x).pose
        d.qpos[:] = mjcf_positions(one, pose, hinges=True, loops="weld")
        mujoco.mj_forward(m, d)
        np.testing.assert_allclose(d.body("platform").xpos, pose[:3, 3], rtol=0, atol=1e-12)
        np.testing.assert_allclose(d.body("platform").xmat.reshape(3, 3), pose[:3, :3], rtol=0, atol=1e-12)
        assert np.abs(d.efc_pos[: d.ne]).max() < 1e-12


def test_servos_move_and_hold_the_robot() -> None:
    """Positions are the actuated coordinates: a servo told those of another pose takes the platform there."""
    one = model("planar-3-rrr")
    m = mujoco.MjModel.from_xml_string(export_mjcf(one, actuators="position", bandwidth=20.0))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, m.key("home").id)
    pose = one.robot.home.matrix @ pp.pose(0.01, -0.02, 0.0, 0.0, 0.0, 0.05)
    held = one.inverse_dynamics(pose, np.zeros(6), np.zeros(6), friction=False)
    d.ctrl[:] = one.inverse_kinematics(pose) + held / m.actuator_gainprm[:, 0]
    mujoco.mj_step(m, d, nstep=int(0.6 / m.opt.timestep))
    np.testing.assert_allclose(d.body("platform").xpos, pose[:3, 3], rtol=0, atol=1e-5)
    rated = mujoco.MjModel.from_xml_string(export_mjcf(one, actuators="velocity"))
    assert (rated.actuator_biasprm[:, 2] == -rated.actuator_gainprm[:, 0]).all()
    assert mujoco.MjModel.from_xml_string(export_mjcf(one, actuators="none")).nu == 0


def test_ways_to_write_a_file_that_there_are_not() -> None:
    for wrong, words in (
        ({"actuators": "servo"}, "position"),
        ({"loops": "pin"}, "weld"),
        ({"bandwidth": 0}, "bandwidth"),
    ):
        with refused(PolypodError, words):
            export_mjcf(model("five-bar"), **wrong)


@pytest.mark.parametrize("way", ["hinges", *(pytest.param(way, marks=pytest.mark.long) for way in ("connect", "weld"))])
def test_files_of_every_way_come_back(way: str, tmp_path: Path) -> None:
    """From their elements alone: balls of three hinges, fixed joints of three points, whole joints."""
    path = tmp_path / "robot.xml"
    path.write_text(export_mjcf(model("hexapod"), **WAYS[way]))
    assert import_robot(path).robot == model("hexapod").robot
    assert_same(model("hexapod").robot, import_robot(path, "platform").robot)


def test_a_simulated_robot_stays_together_and_at_home() -> None:
    """The forces of the keyframe hold the robot against friction-free gravity for a tenth of a second."""
    m = mujoco.MjModel.from_xml_string(export_mjcf(model("five-bar")))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, m.key("home").id)
    assert np.array_equal(d.qpos, m.qpos0)
    mujoco.mj_step(m, d, nstep=200)
    assert np.abs(d.qpos - m.qpos0).max() < 1e-4


def test_the_file_says_what_it_is_and_what_it_leaves_out() -> None:
    text = export_mjcf(model("hexapod"), time_constant=0.004, impedance=0.99)
    root = ET.fromstring(text)
    assert root.find("default/equality").attrib == {"solref": "0.004 1.0", "solimp": "0.99 0.99 0.001"}
    assert [motor.get("joint") for motor in root.findall("actuator/motor")] == [
        f"leg{k}-prismatic" for k in range(1, 7)
    ]
    assert len(root.findall(".//geom[@type='capsule']")) >= 12
    assert "Actuator 1: leg1, force in N." in text
    assert left_out(model("kim-ryu"))[0].startswith("left out: dry friction by reaction (coulomb) of leg1-")


def test_every_format_says_which_limits_it_leaves_out() -> None:
    """Limits of drives beside force and speed, ratings of bearings, cones and stiffness, leg by leg."""
    robot = model("hexapod").robot
    drive = {"max_force": 900.0, "rms_force": 300.0, "max_power": 50.0, "force_speed": [[0, 900], [0.2, 300]]}
    data = robot.model_dump(exclude_unset=True)
    data["legs"] = [
        {
            "kind": "UPS",
            **leg,
            **(drive if k == 2 else {}),
            **({"bearings": {"universal": {"dynamic_load_rating": 5e3}}} if k == 0 else {}),
        }
        for k, leg in enumerate(data["legs"])
    ]
    changed = pp.Model(pp.Robot.model_validate(data))
    for text in (export_mjcf(changed), export_urdf(changed)[0], export_sdf(changed)):
        for reason in (
            "continuous force (rms_force) of the drives of leg3",
            "largest power (max_power) of the drives of leg3",
            "force against speed (force_speed) of the drives of leg3",
            "ratings of the bearings of leg1 universal",
            "joint limits of leg1 (universal joint cone, spherical joint cone) and likewise of 5 other legs",
        ):
            assert f"left out: {reason}" in text


@pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pedrammehr", "leg1-lower MuJoCo"),
        pytest.param("staicu", "C-slider_bar", marks=pytest.mark.long),
    ],
)
def test_robots_that_mujoco_cannot_have(name: str, message: str) -> None:
    with refused(InputError, message):
        export_mjcf(pp.Model(name))


@pytest.mark.long
def test_names_with_markup_and_hyphens(tmp_path: Path) -> None:
    """Whatever robot and legs are called, XML is well formed and the robot comes back with its names."""
    robot = model("five-bar").robot
    legs = (robot.legs[0].model_copy(update={"name": "\u00e9 --> ]]>"}), *robot.legs[1:])
    odd = pp.Model(robot.model_copy(update={"name": '<x> & "y" --- */', "title": "a ---> b", "legs": legs}))
    for kind, export in ROBOT_EXPORTS.items():
        files = export.files(odd)
        for name, text in files.items():
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            if path.suffix in (".xml", ".urdf", ".sdf"):
                ET.parse(path)
            if path.suffix == ".urdf" or kind == "mjcf":
                assert import_robot(path).robot == odd.robot


def test_bad_numbers() -> None:
    with refused(InputError, "impedance 1"):
        export_mjcf(model("five-bar"), impedance=1.0)
    with refused(InputError, "time_constant 0"):
        export_mjcf(model("five-bar"), time_constant=0.0)


def test_the_commands(tmp_path: Path) -> None:
    for kind in ROBOT_EXPORTS:
        result = polypod("export", kind, "five-bar", "--out", tmp_path)
        assert result.exit_code == 0, result.output
        assert "Wrote" in result.stdout
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"five-bar.xml", "five-bar.urdf", "five-bar-loops.yaml", "five-bar.sdf",
                     "five_bar_polypod", "five_barkins.c",
                     "kin_five_bar_polypod.c"}  # fmt: skip
    again = polypod("export", "mjcf", "five-bar", "--out", tmp_path)
    failed(again, "--force")


def sprung_arm() -> pp.Robot:
    """An arm of three hinges and two slides, all driven, with every element that MJCF has."""
    light = {"mass": 0.4, "inertia": [2e-3, 3e-3, 2e-3]}
    names = ["one", "two", "three", "four"]
    bodies = {name: {**light, "com": [0.05 + 0.2 * k, 0.02, 0.3 + 0.03 * k]} for k, name in enumerate(names)}
    rows = [("a", "revolute", [0, 0, 1]), ("b", "revolute", [0, 1, 0]), ("c", "prismatic", [1, 0, 0]),
            ("d", "revolute", [0, 0.6, 0.8]), ("e", "prismatic", [0, 0, 1])]  # fmt: skip
    ends = ["base", *names, "platform"]
    joints = [
        {"name": name, "kind": kind, "axis": axis, "at": [0.2 * k, 0, 0.3], "between": [ends[k], ends[k + 1]],
         "actuated": True, "offset": 0.1 * k}
        for k, (name, kind, axis) in enumerate(rows)
    ]  # fmt: skip
    elements = [
        {"kind": "spring", "name": "torsion", "joint": "leg.b", "stiffness": 7.0, "rest": 0.3, "damping": 0.2},
        {"kind": "spring", "name": "loaded", "joint": "leg.c", "stiffness": 90.0, "preload": 4.0},
        {"kind": "damper", "name": "oil", "joint": "leg.d", "damping": 0.7},
        {"kind": "spring", "name": "line", "between": ["base", "leg.three"], "at": [[0, 0.3, 0], [0.4, 0.1, 0.35]],
         "stiffness": 150.0, "length": 0.2, "damping": 3.0},
        {"kind": "gas spring", "name": "gas", "between": ["leg.one", "platform"], "temperature_factor": 1.1,
         "at": [[0.1, 0, 0.2], [0.9, 0.1, 0.4]], "force": [[0.5, 60.0], [0.9, 40.0]], "damping": 2.0},
        {"kind": "damper", "name": "rod", "between": ["leg.two", "platform"], "at": [[0.3, 0.2, 0.2], [0.9, 0, 0.3]],
         "damping": 5.0},
    ]  # fmt: skip
    data = {"name": "arm", "platform": {"mass": 1.0, "com": [0.02, 0, 0.01], "inertia": [4e-3, 5e-3, 6e-3]},
            "home": {"position": [0.9, 0, 0.35]}, "elements": elements,
            "dof": [{"name": name, "joint": f"leg.{name}"} for name, _, _ in rows],
            "legs": [{"kind": "chain", "name": "leg", "bodies": bodies, "joints": joints}]}  # fmt: skip
    return pp.Robot.model_validate(data)


def test_springs_are_those_of_mujoco(tmp_path: Path) -> None:
    """An arm without loops: MuJoCo's inverse dynamics and potential energy are polypod's to rounding."""
    arm = model(sprung_arm)
    simulated = mujoco.MjModel.from_xml_string(export_mjcf(arm))
    simulated.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    simulated.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data, rng = mujoco.MjData(simulated), np.random.default_rng(4)
    levels = []
    for _ in range(3):
        x, rates, changes = (scale * rng.normal(size=5) for scale in (0.1, 1.0, 1.0))
        motion = arm.motion(x, rates, changes)
        data.qpos[:], data.qvel[:], data.qacc[:] = simulated.qpos0 + x, rates, changes
        mujoco.mj_inverse(simulated, data)
        np.testing.assert_allclose(arm.inverse_dynamics(*motion), data.qfrc_inverse, rtol=0, atol=1e-9)
        mujoco.mj_energyPos(simulated, data)
        levels.append(arm.energy(motion.pose, motion.twist).potential - data.energy[0])
    np.testing.assert_allclose(levels, levels[0], rtol=0, atol=1e-9)  # the gas spring's level is another
    path = tmp_path / "arm.xml"
    path.write_text(export_mjcf(arm))
    assert import_robot(path).robot == arm.robot


@pytest.mark.parametrize(
    "element",
    [
        {"kind": "bushing", "between": ["base", "platform"], "at": [0.9, 0, 0.4], "stiffness": [1, 1, 1, 1, 1, 1]},
        {"kind": "constant force", "joint": "leg.b", "force": 3.0},
        {"kind": "gas spring", "joint": "leg.c", "force": [[-1, 60.0], [0.0, 50.0], [1.0, 45.0]]},
        {"kind": "damper", "joint": "leg.d", "force": [[0, 0], [1, 2], [2, 3]]},
    ],
)
def test_elements_that_mjcf_has_not_are_refused_by_name(element: dict[str, object]) -> None:
    data = sprung_arm().model_dump(exclude_unset=True)
    robot = pp.Robot.model_validate({**data, "elements": [{**element, "name": "special one"}]})
    with refused(InputError, "special one"):
        export_mjcf(pp.Model(robot))
    assert any("special one" in remark for remark in left_out(pp.Model(robot)))
