"""``polypod import``: what is read, what is reported about it, what is refused and why."""

from __future__ import annotations

import json
import re
import shutil
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError, RobotFileError, UnknownNameError
from polypod.exchange import READERS, Imported, Linkage, import_robot, linkage_of
from polypod.exchange.closing import LoopSolver
from polypod.exchange.linkage import body, checked_joint, combined, dangling_joints, massless
from polypod.exchange.simplify import _meeting, simplified
from polypod.exchange.to_robot import ImportOptions, to_robot
from polypod.exchange.uncontrolled import uncontrolled_motions
from polypod.export import export_mjcf, export_urdf, urdf_files
from polypod.legs.chain import ChainJoint
from support.command_line import polypod
from support.refusals import failed, refused, says

MODELS = Path(__file__).parent.parent / "data" / "models"
FIVE_BAR = MODELS / "gepetto" / "5bar_linkage" / "robot.urdf"
REACHY = MODELS / "reachy_mini" / "reachy_mini.xml"

LINK = (
    '<link name="{0}"><inertial><origin xyz="{1}"/><mass value="{2}"/><inertia ixx="{3}" iyy="{3}" izz="{3}"/>'
    "</inertial></link>"
)


def urdf(links: str, joints: str, folder: Path, name: str = "r") -> Path:
    path = folder / f"{name}.urdf"
    path.write_text(f'<robot name="{name}"><link name="ground"/>{links}{joints}</robot>')
    return path


def joint(name: str, parent: str, child: str, at: str, kind: str = "continuous", more: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/><axis xyz="0 0 1"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{more}</joint>'


def four_bar(folder: Path, first: str = "", gap: float = 0.0) -> Path:
    """A square four-bar of sides 1 m: crank, coupler, rocker."""
    links = "".join(LINK.format(n, "0 0 0", 1.0, 0.01) for n in ("crank", "coupler", "rocker"))
    joints = (
        joint("motor", "ground", "crank", "0 0 0", more=first).replace("<joint ", '<joint independent="true" ', 1)
        + joint("elbow", "crank", "coupler", "0 1 0").replace("<joint ", '<joint independent="false" ', 1)
        + joint("pivot", "ground", "rocker", "1 0 0").replace("<joint ", '<joint independent="false" ', 1)
        + f'<loop name="tip" type="revolute"><predecessor link="coupler"><origin xyz="{1 + gap} 0 0"/></predecessor>'
        '<successor link="rocker"><origin xyz="0 1 0"/></successor><axis xyz="0 0 1"/></loop>'
    )
    return urdf(links, joints, folder)


def test_a_four_bar_by_hand(tmp_path: Path) -> None:
    """Gravity along y: the crank's torque holds the weights of a parallelogram, m g l sin, half a coupler each."""
    robot = import_robot(four_bar(tmp_path), "coupler").robot
    assert [coordinate.name for coordinate in robot.dof] == ["x"]
    assert [len(leg.joints) for leg in robot.legs] == [2, 2]
    model = pp.Model(robot.model_copy(update={"gravity": (9.81, 0.0, 0.0)}))
    still = np.zeros(6)
    # crank and rocker have their centres on their pivots; the coupler's weight of 9.81 N acts at the crank's tip
    assert model.inverse_dynamics(robot.home.matrix, still, still) == pytest.approx([9.81], rel=1e-12)


@pytest.mark.parametrize("instead", ["", "<parent/>"])
def test_a_joint_without_a_link_is_named(instead: str, tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    path.write_text(path.read_text().replace('<parent link="crank"/>', instead))
    with refused(InputError, "elbow link"):
        import_robot(path, "coupler")


def test_gaps_are_reported_and_closed(tmp_path: Path) -> None:
    imported = import_robot(four_bar(tmp_path, gap=0.004), "coupler")
    text = next(remark for remark in imported.remarks if "open" in remark)
    says(text, "4 mm")
    assert "(tip)" in text
    joints = {j.name: np.array(j.at) for leg in imported.robot.legs for j in leg.joints}
    lengths = [
        np.linalg.norm(joints[a] - joints[b]) for a, b in (("motor", "elbow"), ("elbow", "tip"), ("pivot", "tip"))
    ]
    assert lengths == pytest.approx([1.0, 1.004, 1.0], rel=1e-12)  # bodies keep their sizes: they were moved


def test_joints_can_be_moved_first(tmp_path: Path) -> None:
    """Coordinates and ranges stay those of the file."""
    limits = '<limit lower="-1" upper="1" effort="7" velocity="3"/>'
    path = four_bar(tmp_path, limits)
    path.write_text(path.read_text().replace('name="motor" type="continuous"', 'name="motor" type="revolute"'))
    robot = import_robot(path, "coupler", at={"motor": 0.3}).robot
    motor = next(j for leg in robot.legs for j in leg.joints if j.name == "motor")
    assert motor.offset == pytest.approx(0.3, abs=1e-14)
    assert motor.range == pytest.approx((-1.0, 1.0), abs=1e-14)
    assert motor.displacement_range == pytest.approx((-1.3, 0.7), abs=1e-14)
    assert (motor.max_force, motor.max_speed) == (7.0, 3.0)
    elbow = next(j for leg in robot.legs for j in leg.joints if j.name == "elbow")
    assert elbow.at == pytest.approx((-np.sin(0.3), np.cos(0.3), 0.0), abs=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "loop1 300 90"),
        ({"at": {"mot3": 1.0}}, "mot3 closedloop1_A free1 mot1"),
        ({"close": True, "hold": ["mot3"]}, "hold mot3"),
        ({"close": True, "actuated": ["mot1"]}, "2 1"),
        ({"close": True, "platform": "built"}, "built"),
        ({"close": True, "loops": "nothing.yaml"}, "nothing.yaml"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused_with_the_reason(options: dict, message: str) -> None:
    with refused((InputError, RobotFileError), message):
        import_robot(FIVE_BAR, **options)


def test_names_are_suggested() -> None:
    with refused(UnknownNameError, near="effector"):
        import_robot(FIVE_BAR, "efector", close=True)


def test_odd_masses_and_wheels_are_reported() -> None:
    remarks = " ".join(import_robot(FIVE_BAR, close=True).remarks)
    # the file's own mass, twice: balls of 25 mm that weigh as much as a train
    says(remarks, "sphere 654498 1.3091e+06")
    assert "sphere spins freely about the axis of closedloop1_B; it was attached to rod_2 without its moment" in remarks
    assert "end_rod (proposed: 2 joints of loops are on it" in remarks
    assert "with the frame effector on it" in remarks


@pytest.mark.parametrize(("axis", "wanted"), [((0, 0, 1), (-0.6, 0.7)), ((0, 0, -1), (-0.3, 1.0))])
def test_ranges_of_two_hinges_of_one_axis_add_up(axis: tuple, wanted: tuple) -> None:
    """A wheel between them turns freely: what is behind it turns as far as both allow, or without limit."""
    wheel = {name: body(1.0, np.zeros(3), np.eye(3)) for name in ("base", "a", "wheel", "b")}

    def hinge(name: str, first: str, second: str, axis: tuple, limits: tuple | None) -> ChainJoint:
        data = {"name": name, "kind": "revolute", "between": (first, second), "at": (0, 0, 0), "axis": axis}
        return ChainJoint.model_validate(data if limits is None else data | {"range": limits})

    start = ChainJoint.model_validate({"name": "s", "kind": "spherical", "between": ("base", "a"), "at": (0, 0, 1)})
    for limits, found in (((-0.5, 0.2), wanted), (None, None)):
        joints = (start, hinge("one", "a", "wheel", (0, 0, 1), limits), hinge("two", "wheel", "b", axis, (-0.1, 0.5)))
        (_, left) = simplified(Linkage("w", wheel, joints)).joints
        assert left.range == (found if found is None else pytest.approx(found, rel=1e-12))


def test_impossible_inertias_are_reported_and_kept() -> None:
    imported = import_robot(MODELS / "grbda" / "planar_leg_linkage.urdf", at={"thigh_to_driver": 0.4})
    text = next(remark for remark in imported.remarks if "triangle" in remark)
    assert text.startswith("inertia of thigh breaks the triangle inequality (principal moments 0, 0, 4.5389e-05 kg m^2")
    assert imported.robot.legs[0].bodies["thigh"].check == "none"
    assert [coordinate.name for coordinate in imported.robot.dof] == ["y", "yaw"]


def test_axes_of_two_hinges_meet_where_neither_is_placed() -> None:
    """x = 1 with z = 0.5, and y = 2 with z = 0.5: at (1, 2, 0.5), wherever on its axis a hinge is drawn."""

    def hinge(at: list[float], axis: list[float]) -> ChainJoint:
        return ChainJoint.model_validate(
            {"name": "h", "kind": "revolute", "between": ["a", "b"], "at": at, "axis": axis}
        )

    one, two = hinge([1.0, -3.0, 0.5], [0.0, 1.0, 0.0]), hinge([4.0, 2.0, 0.5], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(_meeting(one, two, 1.0), [1.0, 2.0, 0.5], rtol=1e-15)
    assert _meeting(one, hinge([4.0, 2.0, 0.51], [1.0, 0.0, 0.0]), 1.0) is None  # they pass by
    assert _meeting(one, hinge([4.0, 2.0, 0.5], [0.0, 1.0, 0.0]), 1.0) is None  # they are parallel


def test_urdf_plus() -> None:
    """Lengths of grbda's four-bar (0.5, 1, 0.5 and 1 m) make a parallelogram: its coupler stays level."""
    robot = import_robot(MODELS / "grbda" / "four_bar.urdf", at={"joint1": 0.8}).robot
    at = {joint.name: np.array(joint.at) for leg in robot.legs for joint in leg.joints}
    np.testing.assert_allclose(at["joint2"], [0.5 * np.cos(0.8), 0.5 * np.sin(0.8), 0.0], atol=1e-13)
    np.testing.assert_allclose(at["loop1"] - at["joint2"], [1.0, 0.0, 0.0], atol=1e-13)
    assert len(robot.dof) == 1
    with refused(InputError, "constraint1 300"):
        import_robot(MODELS / "grbda" / "six_bar.urdf")


@pytest.mark.long
def test_three_drives_in_one_leg() -> None:
    six = import_robot(MODELS / "grbda" / "six_bar.urdf", at={"joint1": 0.8, "joint4": 0.2}).robot
    assert [len(leg.actuator_names()) for leg in six.legs] == [3, 0]


def test_serial_joints_and_arms_are_refused_with_what_to_do() -> None:
    with refused(InputError, "hold right_antenna left_antenna"):
        import_robot(REACHY)
    with refused(InputError, "hold yaw_body"):
        import_robot(REACHY, hold=["right_antenna", "left_antenna"])


def test_reachy_mini_remarks() -> None:
    imported = import_robot(REACHY, "head", hold=["right_antenna", "left_antenna", "yaw_body"])
    remarks = " ".join(imported.remarks)
    expected = (
        "49 meshes were not found",
        "armature (0.001 to 0.001) of the passive joints passive_1",
        "gains of the servo actuators yaw_body",
        "open by up to 0.0001362 mm",
        "made bodies of revolution (changed by at most 0.17 %",
    )
    for words in expected:
        assert words in remarks
    motor = imported.robot.legs[0].joints[0]
    assert (motor.rotor, motor.max_force, motor.friction.viscous, motor.friction.drag) == (0.001, 20.0, 0.15, 0.1)
    assert motor.range == pytest.approx(np.deg2rad([-48, 80]), rel=1e-15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name="elbow" type="continuous"', 'name="elbow" type="floating"'), 'floating'),
        (("</robot>", '<link name="loose"/></robot>'), "2 ground loose"),
        (('value="1.0"', 'value="-1"'), '-1.0'),
        (('xyz="0 1 0"', 'xyz="0 1"'), '3 0 1'),
        (("<robot", "<model"), 'XML'),
        (('<parent link="crank"/>', '<mimic joint="motor" offset="1"/><parent link="crank"/>'), "elbow 1 #gear"),
        (('<child link="rocker"/>', '<child link="crank"/>'), "crank closed_loop"),
        (('<child link="rocker"/>', '<child link="rock"/>'), 'pivot rock'),
        (('<parent link="crank"/>', '<dynamics damping="-1"/><parent link="crank"/>'), 'elbow friction.viscous'),
    ],
)  # fmt: skip
def test_faults_of_urdf(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    path.write_text(path.read_text().replace(*change, 1))
    with refused(InputError, message):
        import_robot(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"closed_loop": 5}, "closed_loop 5"),
        ({"closed_loop": [["coupler", "rocker", "crank"]]}, "closed_loop.0 2"),
        ({"closed_loop": []}, "closed_loop 0 1"),
        ({"name_mot": [["motor"]]}, "name_mot.0 motor"),
        ({"joint_name": ["tip"]}, "joint_name joint_type"),
        ({"polypod": {"motors": {"motor": {"gear": 3}}}}, "polypod.motors.motor.gear 3"),
        ({"polypod": {"motors": {"motor": {"ratio": 0}}}}, "motor ratio 0"),
        ({"polypod": {"gravity": "down"}}, "polypod.gravity down"),
    ],
)
def test_faults_of_the_file_beside_a_urdf(change: dict, message: str, tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    right = {"closed_loop": [["coupler", "rocker"]], "type": ["3d"], "name_mot": ["motor"]}
    (tmp_path / "robot.yaml").write_text(json.dumps(right | change))
    with refused(InputError, message):
        import_robot(path, "coupler")


def test_a_limit_on_one_side_is_reported(tmp_path: Path) -> None:
    path = four_bar(tmp_path, '<limit lower="-1e9" upper="0.5" effort="7" velocity="3"/>')
    path.write_text(path.read_text().replace('name="motor" type="continuous"', 'name="motor" type="revolute"'))
    assert "joint motor: its one-sided limit was left out" in import_robot(path, "coupler").remarks


def test_limits_changed_in_a_urdf_count(tmp_path: Path) -> None:
    """Effort and velocity of the joint give those of the drive by its gear; the file beside has them exactly."""
    data = pp.load("five-bar").model_dump(exclude_unset=True)
    for leg in data["legs"]:
        leg["joints"][0].update(ratio=-3.0, max_force=0.7, max_speed=11.0)
    for name, text in urdf_files(pp.Model(pp.Robot.model_validate(data))).items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "five-bar.urdf"
    path.write_text(path.read_text().replace('effort="2.0999999999999996"', 'effort="6"', 1))
    drives = [j for leg in import_robot(path, "platform-frame").robot.legs for j in leg.joints if j.actuated]
    assert [(joint.max_force, joint.max_speed) for joint in drives] == [(2.0, 11.0), (0.7, 11.0)]


def test_unknown_elements_are_counted(tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    path.write_text(path.read_text().replace("<inertial>", "<paint/><inertial>"))
    assert "<paint> in <link>: 3 unknown elements ignored" in import_robot(path).remarks


MJCF = """<mujoco><worldbody><body name="a"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
<body name="b" pos="1 0 0"><joint name="h" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody>{}</mujoco>"""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("", "platform a loops"),
        ('<equality><joint name="held" joint1="h"/></equality>', "held #gear"),
        ('<actuator><motor body="a" name="m" site="s"/></actuator>', "MuJoCo"),
    ],
)
def test_faults_of_mjcf(more: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(MJCF.format(more))
    with refused(InputError, message):
        import_robot(path, "a")


@pytest.mark.parametrize(
    ("actuator", "force", "remarks"),
    [
        ('<motor ctrlrange="-3 5"/>', 3.0, 0),
        ('<general gainprm="100" ctrlrange="-1 1"/>', 100.0, 0),
        ('<general gainprm="100" ctrlrange="-1 1" forcerange="-7 7"/>', 7.0, 0),
        ('<general gainprm="-2" ctrlrange="0 5"/>', 10.0, 1),  # of one sign
        ('<general gainprm="100" ctrlrange="-1 1" dyntype="integrator" actdim="1"/>', None, 0),  # no bound of the force
        ('<position kp="50" ctrlrange="-1 1"/>', None, 1),  # positions
        ('<damper kv="5" ctrlrange="0 1"/>', None, 1),
    ],
)
def test_largest_forces_of_mjcf(actuator: str, force: float | None, remarks: int, tmp_path: Path) -> None:
    """Force = gain times control, within the range of the force."""
    path = tmp_path / "r.xml"
    path.write_text(export_mjcf(pp.Model("five-bar")))
    root = ET.parse(path).getroot()
    drives = root.find("actuator")
    for motor in list(drives):
        new = ET.fromstring(actuator)
        new.attrib |= {"name": motor.get("name"), "joint": motor.get("joint")}
        drives.remove(motor)
        drives.append(new)
    path.write_text(ET.tostring(root, encoding="unicode"))
    found = import_robot(path, "platform")
    assert [joint.max_force for leg in found.robot.legs for joint in leg.joints if joint.actuated] == [force] * 2
    assert len([text for text in found.remarks if "actuator" in text]) == remarks * (1 if force is None else 2)


def test_what_controllers_do_in_mjcf_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    text = export_mjcf(pp.Model("five-bar"))
    path.write_text(text.replace('<body name="right-crank"', '<body gravcomp="1" name="right-crank"'))
    assert "gravity compensation of right-crank is part of a controller: left out" in import_robot(path).remarks
    path.write_text(text.replace('gear="1.0"', 'gear="0"', 1))
    with refused(InputError, "gear 0"):
        import_robot(path, "platform")


def test_a_point_mass_beside_its_rod_is_moved_onto_it() -> None:
    """A rod without moments of its own: only the centre of mass is off the line between its spherical joints."""
    linkage = linkage_of(pp.load("delta"))
    rod = linkage.bodies["leg1-rod1"]
    beside = body(rod.mass, np.add(rod.com, [0.0, 0.0, 0.001]), np.zeros((3, 3)))
    found = to_robot(replace(linkage, bodies={**linkage.bodies, "leg1-rod1": beside}), ImportOptions())
    assert any("leg1-rod1: rods between two spherical joints" in text for text in found.remarks)


def test_files_of_no_format(tmp_path: Path) -> None:
    with refused(InputError, "x.xml", code="not_found"):
        import_robot(tmp_path / "x.xml")
    (tmp_path / "x.txt").write_text("")
    with refused(InputError, ".txt .xml .mjcf .urdf .sdf format"):
        import_robot(tmp_path / "x.txt")
    with refused(UnknownNameError, name="step", known="mjcf"):
        import_robot(FIVE_BAR, format="step")
    assert set(READERS) == {"mjcf", "urdf", "sdf"}


def test_dangling_joints_are_found() -> None:
    """A loop from base to platform with an arm on it, a second loop on one body, and a body in a path."""

    def hinge(name: str, a: str, b: str) -> ChainJoint:
        data = {"name": name, "kind": "revolute", "between": (a, b), "at": (0, 0, 0), "axis": (0, 0, 1)}
        return ChainJoint.model_validate(data)

    path = [hinge("1", "base", "a"), hinge("2", "a", "p"), hinge("3", "base", "b"), hinge("4", "b", "p")]
    arm = [hinge("5", "p", "tool")]
    ring = [hinge("6", "a", "r"), hinge("7", "r", "s"), hinge("8", "s", "a")]
    inner = [hinge("9", "a", "t"), hinge("10", "t", "p")]
    assert dangling_joints(path + inner, "p") == []
    assert [j.name for j in dangling_joints(path + arm + ring + inner, "p")] == ["5", "6", "7", "8"]


def test_bodies_combined() -> None:
    """Two points of 1 kg at 0 and 2 m: one body at 1 m with 2 kg m^2 across."""
    points = [body(1.0, np.array([x, 0.0, 0.0]), np.zeros((3, 3))) for x in (0.0, 2.0)]
    whole = combined(points)
    assert (whole.mass, whole.com) == (2.0, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(whole.central_inertia, np.diag([0.0, 2.0, 2.0]), atol=1e-15)
    assert massless(combined([body(0.0, np.zeros(3), np.zeros((3, 3)))] * 2))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    four_bar(tmp_path, gap=0.004)
    asked = ["import", "r.urdf", "--platform", "coupler", "--name", "four"]
    result = polypod(*asked)
    assert result.exit_code == 0, result.output
    assert "Wrote four.yaml" in result.stdout
    says(result.stderr, "note: loops 4 mm")
    text = Path("four.yaml").read_text()
    assert text.startswith("# Imported from r.urdf with 'polypod import'.\n# - loops were open")
    assert pp.load("four.yaml") == pp.loads(text)
    failed(polypod(*asked), "--force")
    result = polypod(*asked, "-o", "other.yaml", "--json")
    assert json.loads(result.stdout)["robot"] == "four"
    failed(polypod("import", "r.urdf", "--at", "motor"), "--at NAME=VALUE motor=30deg")


@pytest.mark.long
def test_uncontrolled_motions_are_drawn(tmp_path: Path) -> None:
    """Of a file that is no robot: without drives three motions are left, with them none."""
    text = (Path(__file__).parent.parent / "data" / "golden" / "general" / "3-rps.yaml").read_text()
    file, picture = tmp_path / "loose.yaml", tmp_path / "loose.png"
    file.write_text(text.replace("actuated: true", "actuated: false"))
    found = uncontrolled_motions(file)
    assert len(found.motions) == 3
    assert all(np.array_equal(motion["base"], found.bodies["base"]) for motion in found.motions)
    assert not uncontrolled_motions("3-rps").motions, "drives hold it"
    (tmp_path / "empty.yaml").write_text("name: empty\n")
    with refused(InputError, "draw legs"):
        uncontrolled_motions(tmp_path / "empty.yaml")
    result = polypod("check", file, "--draw", picture)
    assert result.exit_code == 2
    says(result.stderr, "3 drives")
    assert picture.read_bytes().startswith(b"\x89PNG")
    changed = polypod("check", "3-rps", "--draw", tmp_path / "other.png", "--set", "platform.mass=2")
    failed(changed, "--draw --set")


# -- loops that are far open, digits, hostile files --------------------------------------------------------------------


def stretched_four_bar(folder: Path, angles: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Path:
    """A four-bar drawn in one line, its loop open by 2.5 m along it; bars of 1, 1.2 and 1.5 m, pivots 1 m apart."""
    links = "".join(LINK.format(n, "0 0 0", 1.0, 0.01) for n in ("crank", "coupler", "rocker"))

    def turned(text: str, angle: float, driven: str) -> str:
        text = text.replace('"/><axis', f'" rpy="0 0 {angle!r}"/><axis', 1)
        return text.replace("<joint ", f'<joint independent="{driven}" ', 1)

    joints = (
        turned(joint("motor", "ground", "crank", "0 0 0"), angles[0], "true")
        + turned(joint("elbow", "crank", "coupler", "1 0 0"), angles[1], "false")
        + turned(joint("pivot", "ground", "rocker", "1 0 0"), angles[2], "false")
        + '<loop name="tip" type="revolute"><predecessor link="coupler"><origin xyz="1.2 0 0"/></predecessor>'
        '<successor link="rocker"><origin xyz="-1.5 0 0"/></successor><axis xyz="0 0 1"/></loop>'
    )
    return urdf(links, joints, folder, "line")


def lengths_of_bars(robot: pp.Robot) -> list[float]:
    at = {j.name: np.array(j.at) for leg in robot.legs for j in leg.joints}
    pairs = (("motor", "elbow"), ("elbow", "tip"), ("pivot", "tip"), ("motor", "pivot"))
    return [float(np.linalg.norm((at[a] - at[b])[:2])) for a, b in pairs]


def test_derivatives_of_loops_are_those_of_their_gaps() -> None:
    """Of every kind of joint, free and held, by central differences of the residuals, of two positions at once."""
    kinds = {"revolute": 1, "prismatic": 1, "cylindrical": 1, "spherical": 0, "universal": 2, "fixed": 0}
    random, joints = np.random.default_rng(5), []
    for number, (kind, axes) in enumerate(kinds.items()):
        data = {"name": kind, "kind": kind, "between": ("base" if number % 2 else "other", "body")}
        given = np.linalg.qr(random.normal(size=(3, 3)))[0].tolist()
        about = [{}, {"axis": given[0]}, {"axes": given[:2]}][axes]
        joints.append(data | {"at": random.normal(size=3).tolist()} | about)
    bodies = {name: body(1.0, np.zeros(3), np.eye(3)) for name in ("base", "body", "other")}
    solver = LoopSolver(Linkage("all", bodies, tuple(map(checked_joint, joints))))
    at, values, step = random.normal(size=(2, 2, 6)), {"revolute": 0.3, "prismatic": -0.2}, 1e-6

    def displaced(twists: np.ndarray) -> np.ndarray:
        found = np.tile(np.eye(4), (2, 1, 1))
        found[:, :3, :3] = Rotation.from_rotvec(twists[:, 3:]).as_matrix()
        found[:, :3, 3] = solver.size * twists[:, :3]
        return found

    for held in ({}, values):
        start = np.array([displaced(one) for one in at])
        jacobian, residual = solver.constraints(start, held)
        assert residual.shape == (2, sum((5, 5, 4, 3, 4, 6)) + len(held))
        for k, unit in enumerate(np.eye(12).reshape(12, 2, 6)):
            ends = [solver.constraints(displaced(way * step * unit) @ start, held)[1] for way in (1, -1)]
            assert np.abs((ends[0] - ends[1]) / (2 * step) - jacobian[..., k]).max() < 1e-8
        for one, rows in zip(start, jacobian, strict=True):
            assert np.abs(solver.constraints(one, held)[0] - rows).max() < 1e-15


def test_loops_that_close_from_no_start_near_are_closed_from_others(tmp_path: Path) -> None:
    """Bars in one line stay there in every step; --close tries other positions."""
    path = stretched_four_bar(tmp_path)
    with refused(InputError, "loops tip 2700"):
        import_robot(path, "coupler")
    found = import_robot(path, "coupler", close=True).robot
    assert np.allclose(lengths_of_bars(found), [1.0, 1.2, 1.5, 1.0], rtol=1e-9, atol=0)


def test_a_position_is_taken_as_given(tmp_path: Path) -> None:
    """Where the joints given close the loop, nothing has to be walked from a drawing that no step leads away from."""
    motor = 2.0
    elbow = np.array([np.cos(motor), np.sin(motor)])
    pivot = np.array([1.0, 0.0])
    # where circles of 1.2 m about the elbow and 1.5 m about the pivot meet
    apart = pivot - elbow
    d = float(np.linalg.norm(apart))
    along = (1.2**2 - 1.5**2 + d**2) / (2 * d)
    tip = elbow + along * apart / d + np.sqrt(1.2**2 - along**2) * np.array([-apart[1], apart[0]]) / d
    coupler = float(np.arctan2(*(tip - elbow)[::-1]))
    rocker = float(np.arctan2(*(pivot - tip)[::-1]))
    at = {"motor": motor, "elbow": coupler - motor, "pivot": rocker}
    found = import_robot(stretched_four_bar(tmp_path), "coupler", at=at).robot
    assert np.allclose(lengths_of_bars(found), [1.0, 1.2, 1.5, 1.0], rtol=1e-9, atol=0)
    joints = {j.name: np.array(j.at)[:2] for leg in found.legs for j in leg.joints}
    assert np.allclose([joints["elbow"], joints["tip"]], [elbow, tip], rtol=0, atol=1e-9)


def wrist(digits: int, seed: int) -> str:
    """MJCF of a spherical 3-RRR wrist, turned and placed anyhow, whose numbers have so many digits after the point."""
    turn, centre = Rotation.random(random_state=seed).as_matrix(), np.array([0.02, -0.013, 0.11])

    def say(values: Any) -> str:
        return " ".join(f"{value:.{digits}f}" for value in values)

    def mass(at: Any) -> str:
        return f'<inertial pos="{say(at)}" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>'

    legs, loops = "", ""
    for k in range(3):
        angles = ((2.2, 0.0), (1.4, 0.9), (0.8, 0.3))
        axes = [2 * np.pi * k / 3 + more for _, more in angles]
        u, w, v = (
            turn @ [np.sin(tilt) * np.cos(a), np.sin(tilt) * np.sin(a), np.cos(tilt)]
            for (tilt, _), a in zip(angles, axes, strict=True)
        )
        p, q, r = centre + 0.06 * u, centre + 0.05 * w, centre + 0.04 * v
        top = (
            f'<body name="top">{mass(centre)}<joint name="v" pos="{say(r)}" axis="{say(v)}"/></body>' if k == 0 else ""
        )
        top = "" if k else top
        legs += (
            f'<body name="a{k}">{mass(p)}<joint name="u{k}" pos="{say(p)}" axis="{say(u)}"/><body name="b{k}">{mass(q)}'
            f'<joint name="w{k}" pos="{say(q)}" axis="{say(w)}"/>{top}</body></body>'
        )
        if k:
            ends = (say(centre + length * v) for length in (0.03, 0.05))
            loops += "".join(f'<connect body1="b{k}" body2="top" anchor="{end}"/>' for end in ends)
    motors = "".join(f'<motor joint="u{k}"/>' for k in range(3))
    return (
        f'<mujoco model="wrist"><worldbody>{legs}</worldbody><equality>{loops}</equality>'
        f"<actuator>{motors}</actuator></mujoco>"
    )


@pytest.mark.parametrize(
    ("digits", "seed"), [(6, 1), *(pytest.param(d, 2, marks=pytest.mark.long) for d in (16, 9, 8, 7))]
)
def test_a_wrist_has_three_degrees_of_dof_whatever_its_digits(digits: int, seed: int, tmp_path: Path) -> None:
    """Nine axes that meet to the digits of a CAD program left 0 to 2 degrees of freedom."""
    path = tmp_path / "wrist.xml"
    path.write_text(wrist(digits, seed))
    robot = import_robot(path, "top").robot
    assert len(robot.dof) == 3
    centre = np.array([0.02, -0.013, 0.11])
    for leg in robot.legs:
        for one in leg.joints:
            off = np.cross(np.array(one.at) - centre, one.axis)
            assert np.linalg.norm(off) < 3 * 10.0**-digits + 1e-12


def test_digits_that_decide_how_a_robot_moves_are_named(tmp_path: Path) -> None:
    path = tmp_path / "wrist.xml"
    path.write_text(wrist(4, 0))
    with refused(InputError, "0 3 at"):
        import_robot(path, "top")


def test_a_file_that_check_refuses_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    four_bar(tmp_path)
    assert polypod("import", "r.urdf", "--platform", "coupler", "-o", "good.yaml").exit_code == 0
    assert polypod("check", "good.yaml").exit_code == 0
    monkeypatch.setattr(Imported, "text", lambda *_: "name: r\nlegs: 3\n")
    refused = polypod("import", "r.urdf", "--platform", "coupler", "-o", "bad.yaml")
    assert refused.exit_code == 2
    failed(refused, "bad.yaml polypod check")
    assert not (tmp_path / "bad.yaml").exists()


def test_given_actuators_override_those_of_a_file(tmp_path: Path) -> None:
    """An actuator on a tendon, or two on a joint, left no way in."""
    path = tmp_path / "r.xml"
    bodies = (
        '<body name="crank"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><joint name="motor" axis="0 0 1"/>'
        '<body name="coupler" pos="0 1 0"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<joint name="elbow" axis="0 0 1"/></body></body>'
        '<body name="rocker" pos="1 0 0"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '<joint name="pivot" axis="0 0 1"/></body>'
    )
    loop = "".join(f'<connect body1="coupler" body2="rocker" anchor="1 0 {z}"/>' for z in (0, 0.1))
    tendon = '<tendon><fixed name="t"><joint joint="motor" coef="1"/></fixed></tendon>'
    tendon += '<actuator><motor tendon="t"/></actuator>'
    for actuators in (tendon, '<actuator><motor joint="motor"/><motor joint="motor"/></actuator>'):
        path.write_text(f"<mujoco><worldbody>{bodies}</worldbody><equality>{loop}</equality>{actuators}</mujoco>")
        with refused(InputError, "actuated"):
            import_robot(path, "coupler")
        found = import_robot(path, "coupler", actuated=["motor"])
        assert [j.name for leg in found.robot.legs for j in leg.joints if j.actuated] == ["motor"]
        assert any("left out, driven joints are given" in remark for remark in found.remarks)


def test_a_tree_without_loops_is_named(tmp_path: Path) -> None:
    """It was said to have a second platform."""
    links = LINK.format("rod", "0 0 0", 1.0, 0.01) + LINK.format("end", "0 0 0", 1.0, 0.01)
    path = urdf(links, joint("a", "ground", "rod", "0 0 0") + joint("b", "rod", "end", "1 0 0"), tmp_path)
    with refused(InputError, "loops closed_loop"):
        import_robot(path)
    path.write_text(path.read_text().replace("</robot>", '<fastening name="c"/></robot>'))
    with refused(InputError, "loops closed_loop", "<fastening> in <robot>"):
        import_robot(path)


LOOPS = {
    "urdfdom": '<constraint name="tip" type="revolute"><parent link="coupler"/><parent_origin xyz="1 0 0"/>'
    '<parent_axis xyz="0 0 1"/><child link="rocker"/><child_origin xyz="0 1 0"/><child_axis xyz="0 0 1"/></constraint>',
    "Isaac Sim": '<loop_joint name="tip" type="revolute"><link1 link="coupler" xyz="1 0 0" rpy="0 0 0"/>'
    '<link2 link="rocker" xyz="0 1 0" rpy="0 0 0"/><axis xyz="0 0 1"/></loop_joint>',
}


@pytest.mark.parametrize("program", LOOPS)
def test_loops_as_other_programs_write_them(program: str, tmp_path: Path) -> None:
    """The same robot as by <loop>; faults name the element."""
    path = four_bar(tmp_path)
    wanted = import_robot(path, "coupler").robot
    text = re.sub(r"<loop .*?</loop>", LOOPS[program], path.read_text())
    path.write_text(text)
    assert import_robot(path, "coupler", actuated=["motor"]).robot.legs == wanted.legs
    path.write_text(text.replace('name="tip" type="revolute"', 'name="tip" type="gearbox"'))
    with refused(InputError, "tip gearbox spherical", code="loop_type"):
        import_robot(path, "coupler")
    path.write_text(re.sub(r'(<child|<link2) link="rocker"( xyz|/><child_origin)', r'\1 link="rokker"\2', text))
    with refused(InputError, "tip rokker rocker", code="loop_link"):
        import_robot(path, "coupler")


def test_universal_loops_of_urdfdom(tmp_path: Path) -> None:
    """One axis in each link."""
    path = four_bar(tmp_path)
    loop = (
        LOOPS["urdfdom"].replace("revolute", "Universal").replace('parent_axis xyz="0 0 1"', 'parent_axis xyz="0 2 0"')
    )
    path.write_text(re.sub(r"<loop .*?</loop>", loop, path.read_text()))
    tip = READERS["urdf"].read(path, None).joint("tip")
    assert tip.kind == "universal"
    np.testing.assert_allclose(tip.axes, [[0, 1, 0], [0, 0, 1]], atol=1e-15)


GEARED = """<robot name="geared"><link name="ground"/>{links}
<joint name="hip" type="revolute"><parent link="ground"/><child link="thigh"/><origin xyz="0 0 0.2" rpy="0 -0.17 0"/>
  <axis xyz="0 0 1"/><limit effort="150" lower="-10" upper="10" velocity="100"/></joint>
<joint name="knee" type="revolute"><parent link="thigh"/><child link="shank"/><origin xyz="0.3 0.02 0"/>
  <axis xyz="0 1 0"/><limit effort="150" lower="-10" upper="10" velocity="100"/></joint>
<joint name="hip_rotor" type="revolute" independent="False"><parent link="ground"/><child link="wheel"/>
  <origin xyz="0 0 0.3"/><axis xyz="0 0 1"/><limit effort="150" lower="-10" upper="10" velocity="100"/></joint>
<joint name="knee_rotor" type="revolute" independent="False"><parent link="ground"/><child link="pulley"/>
  <origin xyz="0.1 0 0.3"/><axis xyz="0 1 0"/><limit effort="150" lower="-10" upper="10" velocity="100"/></joint>
<coupling name="reducer"><predecessor link="thigh"/><successor link="wheel"/><ratio value="6.0"/></coupling>
<coupling name="belt"><predecessor link="shank"/><successor link="pulley"/><ratio value="-4.5"/></coupling>
</robot>"""


def test_gears_of_urdf_plus(tmp_path: Path) -> None:
    """Torques G^T tau of Pinocchio's tree, with rotors that turn by 6 hip and -4.5 (hip + knee)."""
    links = "".join(
        LINK.format(name, com, mass, moment)
        for name, com, mass, moment in (("thigh", "0.1 0 0.01", 2.0, 0.02), ("shank", "0.05 0.01 -0.1", 1.0, 0.01),
                                        ("wheel", "0 0 0", 0.3, 2e-4), ("pulley", "0.001 0 0", 0.2, 1e-4))
    )  # fmt: skip
    path = tmp_path / "geared.urdf"
    path.write_text(GEARED.format(links=links.replace("ixx", 'ixy="0" ixz="0" iyz="0" ixx')))
    robot = import_robot(path, "shank").robot
    assert [joint.name for leg in robot.legs for joint in leg.joints if joint.actuated] == ["hip", "knee"]
    model, tree = pp.Model(robot), pin.buildModelFromXML(path.read_text())
    data, spread = tree.createData(), np.array([[1, 0], [0, 1], [6, 0], [-4.5, -4.5]], dtype=float)
    order = [tree.joints[tree.getJointId(name)].idx_v for name in ("hip", "knee", "hip_rotor", "knee_rotor")]
    rng = np.random.default_rng(1)
    for _ in range(2):
        q, v, a = (np.zeros(4) for _ in range(3))
        x, xdot, xddot = rng.uniform(-0.3, 0.3, 2), rng.normal(size=2), rng.normal(size=2)
        q[order], v[order], a[order] = spread @ x, spread @ xdot, spread @ xddot
        torque = spread.T @ pin.rnea(tree, data, q, v, a)[order]
        pin.forwardKinematics(tree, data, q, v, a)
        shank = tree.getJointId("knee")
        pose = data.oMi[shank].homogeneous @ np.linalg.inv(_at_zero(tree, shank)) @ robot.home.matrix
        twist, acceleration = _motion_at(tree, data, shank, pose[:3, 3])
        found = model.inverse_dynamics(pose, twist, acceleration)
        np.testing.assert_allclose(found, torque, rtol=0, atol=1e-11 * np.abs(torque).max())
    _check_gears_written(model, tmp_path / "back.urdf")
    path.write_text(path.read_text().replace('<ratio value="6.0"/>', ""))
    with refused(InputError, "reducer ratio", code="gear"):
        import_robot(path, "shank")


def _check_gears_written(model: pp.Model, path: Path) -> None:
    """The exported file has the belt, whose angle is a sum, as URDF+ has it, and the reducer as a mimic."""
    tree, side = export_urdf(model)
    path.write_text(tree)
    (path.parent / "back.yaml").write_text(side)
    root = ET.fromstring(tree)
    (belt,) = root.findall("coupling")
    ends = {part.tag: part.get("link") or part.get("value") for part in belt}
    assert (ends["predecessor"], ends["successor"]) == ("platform", "leg1-pulley")
    assert float(ends["ratio"] or 0) == pytest.approx(-4.5, rel=1e-12)
    (mimic,) = root.iter("mimic")
    assert float(mimic.get("multiplier") or 0) == pytest.approx(6.0, rel=1e-12)
    relations = READERS["urdf"].read(path, None).relations
    factors = [{term.joint: term.factor / one.terms[-1].factor for term in one.terms} for one in relations]
    assert len(factors) == 2
    wanted = {"leg1-hip": 4.5, "leg1-knee": 4.5, "leg1-knee_rotor": 1.0}
    assert factors[1] == pytest.approx(wanted, rel=1e-12)


def _at_zero(tree: Any, number: int) -> Any:
    data = tree.createData()
    pin.forwardKinematics(tree, data, pin.neutral(tree))
    return data.oMi[number].homogeneous


def _motion_at(tree: Any, data: Any, number: int, point: Any) -> tuple[Any, Any]:
    """Twist and classical acceleration of a joint's body at a point of the base frame."""
    origin = data.oMi[number].translation
    velocity = pin.getVelocity(tree, data, number, pin.LOCAL_WORLD_ALIGNED)
    change = pin.getClassicalAcceleration(tree, data, number, pin.LOCAL_WORLD_ALIGNED)
    arm, w = point - origin, velocity.angular
    twist = np.r_[velocity.linear + np.cross(w, arm), w]
    straight = change.linear + np.cross(change.angular, arm) + np.cross(w, np.cross(w, arm))
    return twist, np.r_[straight, change.angular]


def test_spellings_of_other_programs_are_known(tmp_path: Path) -> None:
    shutil.copytree(FIVE_BAR.parent, tmp_path / "robot")
    beside = tmp_path / "robot" / "robot.yaml"
    text = beside.read_text()
    beside.write_text(re.sub(r"\b([36])d\b", r"\1D", text))
    assert beside.read_text() != text
    same = [import_robot(path, close=True) for path in (FIVE_BAR, tmp_path / "robot" / FIVE_BAR.name)]
    assert same[0].robot == same[1].robot


def _within(element: str, levels: int) -> str:
    return f"<{element}>" * levels + f"</{element}>" * levels


def _mjcf(attributes: str, mass: str) -> str:
    inertial = f"<inertial pos='0 0 0' mass='{mass}' diaginertia='1 1 1'/>"
    return f"<mujoco><worldbody><body name='b' {attributes}><joint name='j'/>{inertial}</body></worldbody></mujoco>"


_FAR = f'<robot name="r">{joint("j", "a", "b", "1e300 0 0")}<link name="a"/><link name="b"/></robot>'
_HEAVY = '<robot name="r"><link name="a"><inertial><mass value="1e308"/></inertial></link></robot>'
_KLINGON = '<?xml version="1.0" encoding="klingon"?>'


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.urdf", _HEAVY, "mass value"),
        ("r.urdf", _FAR, "origin xyz"),
        ("r.urdf", f"<robot>{_within('link', 1000)}</robot>", "r 200"),
        ("r.urdf", f"<robot>{_within('link', 100_000)}</robot>", "r 200"),
        ("r.xml", f"<mujoco><worldbody>{_within('body', 3000)}</worldbody></mujoco>", "r 200"),
        ("r.urdf", f'{_KLINGON}<robot name="r"/>', "UTF-8"),
        ("r.xml", f"{_KLINGON}<mujoco/>", "UTF-8"),
        ("r.urdf", '<?xml version="1.0" encoding="utf-7"?><robot name="r"/>', "UTF-8"),
        ("r.xml", _mjcf("pos='1e300 0 0'", "1"), "r.xml"),
        ("r.xml", _mjcf("", "1e308"), "r.xml"),
        ("r.xml", "<mujoco", "XML"),
    ],
)
def test_hostile_xml_is_refused_with_its_element(name: str, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with refused(InputError, message) as error:
        import_robot(path)
    assert ("UTF-8" in str(error.value)) == (message == "UTF-8")


def test_the_platform_proposed_is_the_end_of_all_joints(tmp_path: Path) -> None:
    """The body with most loops on it was proposed, and the foot below a shank then called a second platform."""
    inertial = '<inertial pos="0.01 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>'

    def part(name: str, pos: str, inner: str = "") -> str:
        joint = f'<joint name="j-{name}" axis="0 1 0"/>'
        return f'<body name="{name}" pos="{pos}">{joint}{inertial}{inner}</body>'

    bodies = part("crank", "0 0 0", part("shank", "0 0 -0.3", part("foot", "0.2 0 -0.3"))) + part("rod", "0.2 0 0")
    loop = '<connect body1="rod" body2="shank" anchor="0 0 -0.3"/>'
    drives = "".join(f'<motor joint="j-{name}"/>' for name in ("crank", "foot"))
    path = tmp_path / "leg.xml"
    path.write_text(
        f"<mujoco><worldbody>{bodies}</worldbody><equality>{loop}</equality><actuator>{drives}</actuator></mujoco>"
    )
    found = import_robot(path)
    assert len(pp.Model(found.robot).actuators) == 2
    assert any("foot" in remark for remark in found.remarks if "platform" in remark)
    with refused(InputError, "shank j-foot foot"):
        import_robot(path, "shank")
