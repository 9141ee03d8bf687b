"""``polypod import`` of limbs, of joints' own angles as coordinates, of SDF, and of loops that are far open."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError, RobotFileError, UnknownNameError
from polypod.exchange import import_robot
from polypod.export import export_sdf
from support.refusals import refused
from test_import import LINK, joint, urdf

SDF = """<sdf version="1.9"><world name="w"><gravity>9.81 0 0</gravity><model name="four-bar">
<link name="crank"><pose degrees="true">0 0 0 0 0 90</pose>{inertial}</link>
<link name="coupler"><pose relative_to="crank">1 0 0 0 0 0</pose>{inertial}</link>
<link name="rocker"><pose rotation_format="quat_xyzw">1 0 0 0 0 0 1</pose>{inertial}</link>
<frame name="tip" attached_to="coupler"><pose>0 -1 0 0 0 0</pose></frame>
<joint name="motor" type="revolute"><parent>world</parent><child>crank</child>
  <axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper><effort>7</effort></limit></axis></joint>
<joint name="elbow" type="revolute"><parent>crank</parent><child>coupler</child>
  <axis><xyz expressed_in="__model__">0 0 1</xyz></axis></joint>
<joint name="pivot" type="continuous"><parent>world</parent><child>rocker</child><axis/></joint>
<joint name="loop" type="revolute"><pose relative_to="tip"/><parent>coupler</parent><child>rocker</child>
  <axis><xyz>0 0 -1</xyz></axis></joint>
<plugin filename="gz-sim-joint-controller-system" name="gz::sim::systems::JointController">
  <joint_name>motor</joint_name></plugin>
</model></world></sdf>"""
INERTIAL = "<inertial><mass>1</mass><inertia><ixx>0.01</ixx><iyy>0.01</iyy><izz>0.01</izz></inertia></inertial>"


def sdf_file(folder: Path, text: str = SDF.format(inertial=INERTIAL)) -> Path:
    path = folder / "four-bar.sdf"
    path.write_text(text)
    return path


def test_sdf_by_hand(tmp_path: Path) -> None:
    """A square four-bar: crank and rocker have their centres on their pivots, the coupler's on the crank's tip."""
    robot = import_robot(sdf_file(tmp_path), "coupler").robot
    joints = {j.name: j for leg in robot.legs for j in leg.joints}
    places = {"motor": (0, 0, 0), "elbow": (0, 1, 0), "pivot": (1, 0, 0), "loop": (1, 1, 0)}
    for name, place in places.items():
        assert joints[name].at == pytest.approx(place, abs=1e-15)
    assert (joints["motor"].actuated, joints["motor"].max_force, joints["motor"].range) == (True, 7.0, (-1.0, 1.0))
    assert robot.gravity == pytest.approx((9.81, 0.0, 0.0))
    # the weight along x of the coupler, at the end of an arm of 1 m along y: the motor holds it with +9.81 N m about z
    still = np.zeros(6)
    assert pp.Model(robot).inverse_dynamics(robot.home.matrix, still, still) == pytest.approx([9.81], rel=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("</model>", "<include/></model>", "include"),
        ("<parent>crank</parent><child>coupler", "<child>coupler", "elbow parent missing"),
        ("<parent>crank</parent>", "<parent>crnk</parent>", "crnk"),
        ('type="continuous"', 'type="gearbox"', "pivot gearbox"),
        ("1 0 0 0 0 0 1</pose>", "1 0 0 0 0 0</pose>", "7 numbers"),
        ("<xyz>0 0 -1</xyz>", "<xyz>0 0 0</xyz>", "loop axis zero"),
        (INERTIAL, "", "crank inertial"),
        ('<frame name="tip" attached_to="coupler">', '<frame name="tip" attached_to="tip">', "tip circle"),
        ("</world>", '<model name="other"><link name="a"/></model></world>', "2 four-bar other"),
    ],
)
def test_sdf_that_is_no_robot_is_refused_by_what_is_wrong(old: str, new: str, words: str, tmp_path: Path) -> None:
    text = SDF.format(inertial=INERTIAL)
    assert old in text
    with refused(InputError, words):
        import_robot(sdf_file(tmp_path, text.replace(old, new, 1)), "coupler")


def test_exported_sdf_comes_back(tmp_path: Path) -> None:
    """Unchanged it is the robot itself; changed, its elements give the same forces."""
    model = pp.Model("five-bar")
    text = export_sdf(model)
    path = sdf_file(tmp_path, text)
    assert import_robot(path).robot == model.robot
    path.write_text(text.replace('model name="', 'model name="other-', 1))
    imported = import_robot(path)
    assert imported.robot.name == "other-five-bar"
    assert any("changed" in remark for remark in imported.remarks)
    again = pp.Model(imported.robot)
    state = model.motion([0.02, -0.03], [0.4, 0.1], [2.0, -1.0])
    given = state.pose, state.twist, state.acceleration
    forces = model.inverse_dynamics(*given, friction=False)
    assert again.inverse_dynamics(*given, friction=False) == pytest.approx(forces, rel=1e-9)


def humanoid(folder: Path) -> Path:
    """A hip, a shank below it and an ankle: cross and foot on two hinges, a crank and rod of 3d loops on each side."""
    links = "".join(
        LINK.format(name, "0 0 0", mass, 0.001)
        for name, mass in (("thigh", 3.0), ("shank", 2.0), ("cross", 0.05), ("foot", 0.8), ("toe", 0.1), ("arm", 1.0))
    )
    joints = (
        joint("hip", "ground", "thigh", "0 0 1")
        + joint("knee", "thigh", "shank", "0 0 -0.4")
        + joint("shoulder", "ground", "arm", "0 0.2 1.4")
        + joint("pitch", "shank", "cross", "0 0 -0.4").replace("0 0 1", "0 1 0")
        + joint("roll", "cross", "foot", "0 0 -0.02").replace("0 0 1", "1 0 0")
        + joint("toes", "foot", "toe", "0.12 0 -0.05").replace("0 0 1", "0 1 0")
    )
    for side, y in (("left", 0.04), ("right", -0.04)):
        inertia = '<inertia ixx="1e-4" iyy="1e-4" izz="1e-6"/>'
        links += LINK.format(f"crank_{side}", "0.02 0 0", 0.1, 1e-5)
        links += (
            f'<link name="rod_{side}"><inertial><origin xyz="0 0 -0.15"/><mass value="0.05"/>{inertia}</inertial>'
            "</link>"
            f'<link name="eye_{side}"/><link name="pin_{side}"/>'
        )
        joints += (
            joint(f"motor_{side}", "shank", f"crank_{side}", f"0 {y} -0.1").replace(
                'axis xyz="0 0 1"', 'axis xyz="0 1 0"'
            )
            + joint(f"ball_{side}", f"crank_{side}", f"rod_{side}", "0.05 0 0", "fixed")
            + joint(f"at_{side}", f"rod_{side}", f"eye_{side}", "0 0 -0.3", "fixed")
            + joint(f"on_{side}", "foot", f"pin_{side}", f"0.05 {y} 0.02", "fixed")
        )
    path = urdf(links, joints, folder)
    side_file = "closed_loop: [[eye_left, pin_left], [eye_right, pin_right]]\ntype: [3D, 3d]\n"
    side_file += "name_mot: [motor_left, motor_right]\njoint_name: [ball_left, ball_right]\n"
    side_file += "joint_type: [SPHERICAL, spherical]\n"
    path.with_name("robot.yaml").write_text(side_file)
    return path


def test_a_limb_of_a_whole_robot(tmp_path: Path) -> None:
    """An ankle with its hinges' angles as coordinates, whose motor rates follow from the four-bars in their planes."""
    path = humanoid(tmp_path)
    with refused(InputError, "second platform"):
        import_robot(path, "foot")
    imported = import_robot(path, limb=("shank", "foot"))
    robot = imported.robot
    assert [(one.name, one.joint.split(".")[-1]) for one in robot.dof] == [("pitch", "pitch"), ("roll", "roll")]
    text = " ".join(imported.remarks)
    assert "3 other joints were left out" in text
    assert "toes" in text
    assert robot.home.position == pytest.approx((0, 0, -0.42), abs=1e-12)  # in the frame of the shank
    assert robot.platform.mass == pytest.approx(0.9)  # foot and toe
    model = pp.Model(robot)
    assert [[joint.name for joint in leg.joints if joint.actuated] for leg in robot.legs][:2] == [
        ["motor_left"],
        ["motor_right"],
    ]
    # crank 50 mm ahead of its axis, rod vertical: at home its end falls by 50 mm a rad; the foot's pin is 50 mm ahead
    # of the pitch axis and +-40 mm beside the roll axis
    pitch, roll = 0.3, -0.2
    state = model.motion([0.0, 0.0], [pitch, roll], [0.0, 0.0])
    rates = model.rates(state.pose, state.twist)
    down = [0.05 * pitch - y * roll for y in (0.04, -0.04)]
    assert rates == pytest.approx([one / 0.05 for one in down], abs=1e-12)
    chosen = import_robot(path, limb=("shank", "foot"), dof=("motor_left", "motor_right")).robot
    assert [one.joint for one in chosen.dof] == ["leg1.motor_left", "leg2.motor_right"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limb": ("foot", "shank")}, "base foot"),
        ({"limb": ("foot", "pin_left")}, "no joint"),
        ({"limb": ("shank", "arm")}, "arm base"),
        ({"limb": ("shank",)}, "two"),
        ({"limb": ("shank", "foot"), "dof": ("pitch",)}, "2"),
        ({"limb": ("shank", "foot"), "dof": ("pitch", "rol")}, "roll"),
    ],
)
def test_a_limb_that_is_none(options: dict, words: str, tmp_path: Path) -> None:
    with refused((InputError, RobotFileError), words):
        import_robot(humanoid(tmp_path), **options)


def test_loops_far_open_close_and_say_what_moved(tmp_path: Path) -> None:
    """A coupler drawn 40 mm and 0.2 rad off its place; bodies keep their sizes, and the remark has what each moved."""
    links = "".join(LINK.format(n, "0 0 0", 1.0, 0.01) for n in ("crank", "coupler", "rocker"))
    joints = (
        joint("motor", "ground", "crank", "0 0 0").replace("<joint ", '<joint independent="true" ', 1)
        + joint("elbow", "crank", "coupler", "0 1 0").replace('xyz="0 1 0"', 'xyz="0 1 0" rpy="0 0 0.2"', 1)
        + joint("pivot", "ground", "rocker", "1.04 0 0")
    )
    joints = joints.replace('<joint name="elbow"', '<joint independent="false" name="elbow"')
    joints = joints.replace('<joint name="pivot"', '<joint independent="false" name="pivot"')
    pair = '<link name="a"/><link name="b"/>' + joint("fa", "coupler", "a", "1 0 0", "fixed")
    pair += joint("fb", "rocker", "b", "0 1 0", "fixed")
    path = urdf(links, joints + pair, tmp_path)
    path.with_name("robot.yaml").write_text("closed_loop: [[a, b]]\ntype: [5d]\nname_mot: [motor]\n")
    imported = import_robot(path, "coupler", close=True)
    at = {j.name: np.array(j.at) for leg in imported.robot.legs for j in leg.joints}
    lengths = [np.linalg.norm(at[a] - at[b]) for a, b in (("motor", "elbow"), ("elbow", "loop1"), ("pivot", "loop1"))]
    assert lengths == pytest.approx([1.0, 1.0, 1.0], rel=1e-12)
    assert {j.kind for leg in imported.robot.legs for j in leg.joints} == {"revolute"}  # 5d is a hinge
    text = next(remark for remark in imported.remarks if "moved from" in remark)
    for body in ("crank", "coupler", "rocker"):
        assert body in text


def test_a_body_of_a_limb_is_suggested(tmp_path: Path) -> None:
    with refused(UnknownNameError, near="shank"):
        import_robot(humanoid(tmp_path), limb=("shnk", "foot"))
