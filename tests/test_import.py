"""``polypod import``: what is read, what is reported about it, what is refused and why."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import polypod as pp
from command_line import polypod
from polypod.errors import InputError, RobotFileError, UnknownNameError
from polypod.exchange import READERS, import_robot
from polypod.exchange.graph import hanging
from polypod.exchange.idle import idle_motions
from polypod.exchange.linkage import body, massless, together
from polypod.exchange.simplify import _meeting
from polypod.legs.chain import ChainJoint

MODELS = Path(__file__).parent / "data" / "models"
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
    assert [freedom.name for freedom in robot.freedoms] == ["x"]
    assert [len(leg.joints) for leg in robot.legs] == [2, 2]
    model = pp.Model(robot.model_copy(update={"gravity": (9.81, 0.0, 0.0)}))
    still = np.zeros(6)
    # crank and rocker have their centres on their pivots; the coupler's weight of 9.81 N acts at the crank's tip
    assert model.inverse_dynamics(robot.home.matrix, still, still) == pytest.approx([9.81], rel=1e-12)


@pytest.mark.parametrize("instead", ["", "<parent/>"])
def test_a_joint_without_a_link_is_named(instead: str, tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    path.write_text(path.read_text().replace('<parent link="crank"/>', instead))
    with pytest.raises(InputError, match="joint elbow: its parent needs link="):
        import_robot(path, "coupler")


def test_gaps_are_reported_and_closed(tmp_path: Path) -> None:
    imported = import_robot(four_bar(tmp_path, gap=0.004), "coupler")
    text = next(remark for remark in imported.remarks if "open" in remark)
    assert "open by up to 4 mm" in text
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
        ({}, "loop1 is open by 300 mm and 90 deg"),
        ({"at": {"mot3": 1.0}}, "no joint 'mot3' with one coordinate; there are closedloop1_A, free1, mot1"),
        ({"close": True, "hold": ["mot3"]}, "--hold: unknown joint 'mot3'"),
        ({"close": True, "actuated": ["mot1"]}, "needs 2 actuators, got 1"),
        ({"close": True, "platform": "built"}, "'built' does not move"),
        ({"close": True, "loops": "nothing.yaml"}, "nothing.yaml"),
    ],
)
def test_a_request_that_cannot_be_met_is_refused_with_the_reason(options: dict, message: str) -> None:
    with pytest.raises((InputError, RobotFileError), match=message.replace("(", r"\(")):
        import_robot(FIVE_BAR, **options)


def test_names_are_suggested() -> None:
    with pytest.raises(UnknownNameError, match="effector"):
        import_robot(FIVE_BAR, "efector", close=True)


def test_odd_masses_and_wheels_are_reported() -> None:
    remarks = " ".join(import_robot(FIVE_BAR, close=True).remarks)
    # the file's own mass, twice: balls of 25 mm that weigh as much as a train
    assert "body sphere: 654498 kg of 1.3091e+06 kg that move" in remarks
    assert "sphere turns freely on the axis of closedloop1_B; it rides on rod_2 without its moment" in remarks
    assert "platform: end_rod (proposed: 2 joints of loops are on it" in remarks
    assert "with the frame effector on it" in remarks


def test_impossible_inertias_are_reported_and_kept() -> None:
    imported = import_robot(MODELS / "grbda" / "planar_leg_linkage.urdf", at={"thigh_to_driver": 0.4})
    text = next(remark for remark in imported.remarks if "triangle" in remark)
    assert text.startswith("inertia of thigh breaks the triangle inequality (principal moments 0, 0, 4.5389e-05 kg m^2")
    assert imported.robot.legs[0].bodies["thigh"].check == "none"
    assert [freedom.name for freedom in imported.robot.freedoms] == ["y", "yaw"]


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
    assert len(robot.freedoms) == 1
    with pytest.raises(InputError, match="constraint1 is open by 300 mm"):
        import_robot(MODELS / "grbda" / "six_bar.urdf")


@pytest.mark.long
def test_three_drives_in_one_leg() -> None:
    six = import_robot(MODELS / "grbda" / "six_bar.urdf", at={"joint1": 0.8, "joint4": 0.2}).robot
    assert [len(leg.actuator_names()) for leg in six.legs] == [3, 0]


def test_serial_joints_and_arms_are_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match=r"second platform or an arm.*--hold right_antenna --hold left_antenna"):
        import_robot(REACHY)
    with pytest.raises(InputError, match=r"freedom of its own.*--hold yaw_body"):
        import_robot(REACHY, hold=["right_antenna", "left_antenna"])


def test_reachy_mini_remarks() -> None:
    imported = import_robot(REACHY, "head", hold=["right_antenna", "left_antenna", "yaw_body"])
    remarks = " ".join(imported.remarks)
    expected = (
        "49 meshes are not there",
        "armature (0.001 to 0.001) of the passive joints passive_1",
        "gains of the servo actuators yaw_body",
        "open by up to 0.0001362 mm",
        "made bodies of revolution (they were to 0.17 %",
    )
    for words in expected:
        assert words in remarks
    motor = imported.robot.legs[0].joints[0]
    assert (motor.rotor, motor.max_force, motor.friction.viscous, motor.friction.drag) == (0.001, 20.0, 0.15, 0.1)
    assert motor.range == pytest.approx(np.deg2rad([-48, 80]), rel=1e-15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('name="elbow" type="continuous"', 'name="elbow" type="floating"'), "type 'floating' has no place"),
        (("</robot>", '<link name="loose"/></robot>'), "one root link, this file has 2"),
        (('value="1.0"', 'value="-1"'), "its mass is -1.0 kg"),
        (('xyz="0 1 0"', 'xyz="0 1"'), "3 numbers are needed, got '0 1'"),
        (("<robot", "<model"), "is no XML"),
        (('<parent link="crank"/>', '<mimic joint="motor"/><parent link="crank"/>'), "a gear"),
    ],
)  # fmt: skip
def test_faults_of_urdf(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(InputError, match=message):
        import_robot(path)


def test_unknown_elements_are_counted(tmp_path: Path) -> None:
    path = four_bar(tmp_path)
    path.write_text(path.read_text().replace("<inertial>", "<paint/><inertial>"))
    assert "<paint> in <link>: 3 of them passed over, unknown to URDF" in import_robot(path).remarks


MJCF = """<mujoco><worldbody><body name="a"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
<body name="b" pos="1 0 0"><joint name="h" axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
</worldbody>{}</mujoco>"""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("", "no joints lead from it to the base; polypod has robots on a fixed base, no floating"),
        ('<equality><joint joint1="h"/></equality>', "only connect and weld close loops"),
        ('<actuator><motor body="a" name="m" site="s"/></actuator>', "MuJoCo refuses it"),
    ],
)
def test_faults_of_mjcf(more: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(MJCF.format(more))
    with pytest.raises(InputError, match=message):
        import_robot(path, "a")


def test_files_of_no_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        import_robot(tmp_path / "x.xml")
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(InputError, match=r"end in \.xml, \.mjcf, \.urdf"):
        import_robot(tmp_path / "x.txt")
    with pytest.raises(UnknownNameError, match=r"'step'.*Known: mjcf, urdf"):
        import_robot(FIVE_BAR, format="step")
    assert set(READERS) == {"mjcf", "urdf"}


def test_what_hangs_is_found() -> None:
    """A loop from base to platform with an arm on it, a second loop on one body, and a body in a path."""

    def hinge(name: str, a: str, b: str) -> ChainJoint:
        data = {"name": name, "kind": "revolute", "between": (a, b), "at": (0, 0, 0), "axis": (0, 0, 1)}
        return ChainJoint.model_validate(data)

    path = [hinge("1", "base", "a"), hinge("2", "a", "p"), hinge("3", "base", "b"), hinge("4", "b", "p")]
    arm = [hinge("5", "p", "tool")]
    ring = [hinge("6", "a", "r"), hinge("7", "r", "s"), hinge("8", "s", "a")]
    inner = [hinge("9", "a", "t"), hinge("10", "t", "p")]
    assert hanging(path + inner, "p") == []
    assert [j.name for j in hanging(path + arm + ring + inner, "p")] == ["5", "6", "7", "8"]


def test_bodies_together() -> None:
    """Two points of 1 kg at 0 and 2 m: one body at 1 m with 2 kg m^2 across."""
    points = [body(1.0, np.array([x, 0.0, 0.0]), np.zeros((3, 3))) for x in (0.0, 2.0)]
    whole = together(points)
    assert (whole.mass, whole.com) == (2.0, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(whole.central_inertia, np.diag([0.0, 2.0, 2.0]), atol=1e-15)
    assert massless(together([body(0.0, np.zeros(3), np.zeros((3, 3)))] * 2))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    four_bar(tmp_path, gap=0.004)
    asked = ["import", "r.urdf", "--platform", "coupler", "--name", "four"]
    result = polypod(*asked)
    assert result.exit_code == 0, result.output
    assert "Wrote four.yaml" in result.stdout
    assert "note: loops were open by up to 4 mm" in result.stderr
    text = Path("four.yaml").read_text()
    assert text.startswith("# Imported from r.urdf with 'polypod import'.\n# - loops were open")
    assert pp.load("four.yaml") == pp.loads(text)
    assert "exists; add --force" in polypod(*asked).stderr
    result = polypod(*asked, "-o", "other.yaml", "--json")
    assert json.loads(result.stdout)["robot"] == "four"
    assert "--at: JOINT=VALUE" in polypod("import", "r.urdf", "--at", "motor").stderr


def test_what_moves_idly_is_drawn(tmp_path: Path) -> None:
    """Of a file that is no robot: without drives three motions are left, with them none."""
    text = (Path(__file__).parent / "data" / "golden" / "general" / "3-rps.yaml").read_text()
    file, picture = tmp_path / "loose.yaml", tmp_path / "loose.png"
    file.write_text(text.replace("actuated: true", "actuated: false"))
    found = idle_motions(file)
    assert len(found.motions) == 3
    assert all(np.array_equal(motion["base"], found.bodies["base"]) for motion in found.motions)
    assert not idle_motions("3-rps").motions, "drives hold it"
    result = polypod("check", file, "--draw", picture)
    assert result.exit_code == 2
    assert "3 motions while all drives stand still" in result.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
