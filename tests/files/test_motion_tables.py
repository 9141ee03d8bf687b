"""Tables of motions: columns by name and unit, one clock for all tables, in any order of columns."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.errors import InputError, MotionFileError
from polypod.motion import Spline, dumps_motion, loads_motion
from support.refusals import refused

POSES = "name: a\ntrajectory: {kind: poses, relative_to: base, convention: XYZ, csv: way.csv}\n"
EULER = "name: a\ntrajectory: {kind: euler, convention: XYZ, path: {kind: through, csv: way.csv}}\n"
WRENCH = "name: a\ntrajectory: {kind: poses, csv: way.csv}\nwrench: {csv: push.csv}\n"
COORDINATES = "name: a\ntrajectory: {kind: coordinates, path: {kind: spline, csv: way.csv}}\n"
STILL = "time,x,y,z,a1,a2,a3\n10,0,0,0,0,0,0\n11,0,0,0.5,0,0,0\n"


def table(folder, header, *rows, name="way.csv"):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    (folder / name).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("text", [POSES, EULER])
def test_columns_are_found_by_name_in_any_order(text, tmp_path):
    table(
        tmp_path,
        "time,a3 [deg],z [mm],y [m],x [m],a2 [rad],a1 [rad]",
        (0, 0, 0, 0, 0, 0, 0),
        (1, 30, 50, 0.02, 0.01, -0.2, 0.1),
    )
    last = loads_motion(text, folder=tmp_path).trajectory.at(1.0).pose
    assert last[:3, 3] == pytest.approx([0.01, 0.02, 0.05], rel=1e-15)
    turned = Rotation.from_euler("XYZ", [0.1, -0.2, np.deg2rad(30)]).as_matrix()
    assert np.abs(last[:3, :3] - turned).max() < 1e-15


def test_roll_pitch_and_yaw_are_those_of_pose(tmp_path):
    """A roll of 5 degrees rolls, whatever the order of the robot's angles."""
    table(tmp_path, "time,x [mm],y [mm],z [mm],roll [deg],pitch [deg],yaw [deg]", [0] * 7, (1, 1, 2, 3, 5, -6, 7))
    text = POSES.replace("convention: XYZ, ", "")
    roll, pitch, yaw = np.deg2rad([5, -6, 7])
    wanted = pp.pose(0.001, 0.002, 0.003, roll, pitch, yaw)
    for convention in ("", "convention: ZYX, ", "convention: xyz, "):
        motion = loads_motion(text.replace("csv:", f"{convention}csv:"), folder=tmp_path).trajectory
        for trajectory in (motion, motion.with_convention("YXZ")):
            assert np.abs(trajectory.at(1.0).pose - wanted).max() < 1e-15
    with refused(MotionFileError, "ZYX XYZ"):
        loads_motion(POSES, folder=tmp_path)


@pytest.mark.parametrize("text", [POSES, EULER])
@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("time,z,y,x,c,b,a", "time x y z a1 a2 a3 c b a"),
        ("time,x,y,z,a1,a2,a4", "a1 a2 a4"),
        (
            "time,x [deg],y,z,a1,a2,a3",
            "x [m] [mm] [um]",
        ),
        ("time,x,y,z,a1 [mm],a2,a3", "a1 [rad] [deg]"),
        ("time,x,y,z [s],a1,a2,a3", "z"),
        ("time [m],x,y,z,a1,a2,a3", "time [s] [ms]"),
        (
            "time,x,y [mm],z,a1,a2,a3",
            "x y [mm] [m]",
        ),
        (
            "time,x [m],y,z,a1,a2 [deg],a3",
            "a1 a2 [deg] [rad]",
        ),
        ("time,x,y,z,a1,a1,a3", "a1"),
        ("time,1,2,3,4,5,6", "1 2 3 4 5 6"),
    ],
)
def test_names_and_units_that_do_not_fit_are_refused(text, header, message, tmp_path):
    table(tmp_path, header, [0] * 7, (1, 0, 0, 0.05, 0, 0, 0))
    with refused(MotionFileError, message) as caught:
        loads_motion(text, folder=tmp_path)
    (fault,) = caught.value.faults
    assert fault.field.endswith("csv")
    assert "way.csv" in fault.message


def test_a_stack_matches_each_table_with_its_own_coordinates(tmp_path):
    table(tmp_path, "time,z,x,y", (3, 3, 1, 2), (4, 6, 4, 5))
    table(tmp_path, "time,a3,a1,a2", (3, 0.3, 0.1, 0.2), (4, 0.3, 0.1, 0.2), name="turn.csv")
    part = "{kind: spline, csv: %s}"
    text = "name: a\ntrajectory: {kind: euler, convention: XYZ, path: {kind: stack, parts: [%s, %s]}}\n"
    right = loads_motion(text % (part % "way.csv", part % "turn.csv"), folder=tmp_path).trajectory.at([0.0, 1.0]).pose
    assert np.abs(right[:, :3, 3] - [[1, 2, 3], [4, 5, 6]]).max() < 1e-14
    turned = Rotation.from_euler("XYZ", [0.1, 0.2, 0.3]).as_matrix()
    assert np.abs(right[:, :3, :3] - turned).max() < 1e-14
    with refused(MotionFileError, "parts.0.csv turn.csv a3"):
        loads_motion(text % (part % "turn.csv", part % "way.csv"), folder=tmp_path)
    table(tmp_path, "time,a3,a1,a2", (5, 0.3, 0.1, 0.2), (6, 0.3, 0.1, 0.2), name="turn.csv")
    with refused(MotionFileError, "3.0 5.0"):
        loads_motion(text % (part % "way.csv", part % "turn.csv"), folder=tmp_path)


def test_own_coordinates_are_matched_with_the_dof(tmp_path, model_of):
    model = model_of("staicu")  # y, z, theta
    table(tmp_path, "time,theta [deg],z [mm],y [m]", (0, 0, 0, 0), (1, 9, 20, 0.01))
    motion = loads_motion(COORDINATES, folder=tmp_path)
    pose = motion.task(model).motion.pose[-1]
    assert model.coordinates(pose) == pytest.approx([0.01, 0.02, np.deg2rad(9)], rel=1e-12)
    table(tmp_path, "time,y,z,x", (0, 0, 0, 0), (1, 9, 20, 0.01))
    with refused(InputError, "trajectory.path.csv time y z theta x"):
        loads_motion(COORDINATES, folder=tmp_path).task(model)
    table(tmp_path, "time,y,z [deg],theta", (0, 0, 0, 0), (1, 9, 20, 0.01))
    with refused(InputError, "z"):
        loads_motion(COORDINATES, folder=tmp_path).task(model)


def test_an_axis_turn_from_tables(tmp_path):
    table(tmp_path, "time,z,y,x", (7, 3, 2, 1), (8, 3, 2, 1))
    table(tmp_path, "time [ms],angle [deg]", (7000, 0), (8000, 90), name="turn.csv")
    text = (
        "name: a\ntrajectory: {kind: axis, position: {kind: through, csv: way.csv}, axis: [0, 0, 1],"
        " angle: {kind: through, csv: turn.csv}}\n"
    )
    last = loads_motion(text, folder=tmp_path).trajectory.at(1.0).pose
    assert np.abs(last[:3, 3] - [1, 2, 3]).max() < 1e-15
    assert np.abs(last[:3, :3] - Rotation.from_rotvec([0, 0, np.pi / 2]).as_matrix()).max() < 1e-15
    table(tmp_path, "time,angle [mm]", (7, 0), (8, 90), name="turn.csv")
    with refused(MotionFileError, "trajectory.angle.csv turn.csv angle"):
        loads_motion(text, folder=tmp_path)


def test_a_wrench_is_known_by_its_names(tmp_path, model_of):
    (tmp_path / "way.csv").write_text(STILL.replace("10,", "0,").replace("11,", "1,"))
    table(
        tmp_path,
        "time,mx,my,mz,fx [N],fy [N],fz [kN]",
        (0, 1, 2, 3, 4, 5, -0.1),
        (1, 1, 2, 3, 4, 5, -0.1),
        name="push.csv",
    )
    task = loads_motion(WRENCH.replace("csv: way", "relative_to: home, csv: way"), folder=tmp_path).task(
        model_of("long")
    )
    assert np.abs(task.wrench - [4, 5, -100, 1, 2, 3]).max() < 1e-13
    for header, message in (
        ("time,fx,fy,fz,mx,my,moment", "time fx fy fz mx my mz"),
        ("time,fx,fy,fz,mx [N],my,mz", "mx [Nm]"),
        ("time,fx [mm],fy,fz,mx,my,mz", "fx [N] [kN]"),
    ):
        table(tmp_path, header, [0] * 7, [1] * 7, name="push.csv")
        with refused(MotionFileError, message) as caught:
            loads_motion(WRENCH, folder=tmp_path)
        assert caught.value.faults[0].field == "wrench.csv"


def test_all_tables_of_a_motion_have_one_clock(tmp_path, model_of):
    """Both recorded from 10 s on: the wrench grows with the motion; before, only the path was shifted."""
    (tmp_path / "way.csv").write_text(STILL)
    table(tmp_path, "time,fx,fy,fz,mx,my,mz", [10] + [0] * 6, (11, 0, 0, -100, 0, 0, 0), name="push.csv")
    text = WRENCH.replace("csv: way", "relative_to: home, csv: way")
    task = loads_motion(text, folder=tmp_path).task(model_of("long"))
    assert np.abs(task.wrench[:, 2] + 100 * task.time).max() < 1e-12
    table(tmp_path, "time,fx,fy,fz,mx,my,mz", [10.5] + [0] * 6, (11, 0, 0, -100, 0, 0, 0), name="push.csv")
    task = loads_motion(text, folder=tmp_path).task(model_of("long"))
    assert np.abs(task.wrench[:, 2] + 200 * np.maximum(task.time - 0.5, 0)).max() < 1e-12
    table(tmp_path, "time,fx,fy,fz,mx,my,mz", [0] * 7, (1, 0, 0, -100, 0, 0, 0), name="push.csv")
    with refused(MotionFileError, "wrench.csv -10 -9 10"):
        loads_motion(text, folder=tmp_path)


def test_a_wrench_outside_the_motion_is_refused():
    text = (
        "name: a\ntrajectory: {kind: coordinates, path: {kind: line, start: 0, end: 1, duration: 2}}\n"
        "wrench: {times: [3, 4], values: [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]}\n"
    )
    with refused(MotionFileError, "3 wrench.times 2"):
        loads_motion(text)


def test_a_path_from_python_has_its_columns_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table(tmp_path, "time,b,a", (0, 1, 2), (1, 3, 4))
    assert Spline(csv="way.csv").at(1.0).x == pytest.approx([3, 4], rel=1e-15)


@pytest.mark.parametrize(("text", "line"), [("", 1), ("# nothing\n\ntime,x,y,z\n", 3)])
def test_a_table_without_rows_has_a_line(text, line, tmp_path):
    (tmp_path / "way.csv").write_text(text)
    with refused(MotionFileError, f"way.csv line {line}"):
        loads_motion(POSES, folder=tmp_path)


def test_numbers_of_a_motion_take_units_of_their_coordinates():
    """Lengths, angles, frequencies, times, forces and moments; a unit of another kind names the coordinate."""
    text = (
        "name: a\ntrajectory: {kind: euler, convention: XYZ, path: {kind: sine, amplitude: "
        "[AMPLITUDE], frequency: FREQUENCY, duration: 2}}\nwrench: {times: TIMES, values: [[0, 0, FORCE, 0, 0, 0], "
        "[0, 0, 0, 0, 0, MOMENT]]}\n"
    )

    def made(**words):
        own = text
        for word, value in words.items():
            own = own.replace(word.upper(), value)
        return loads_motion(own)

    plain = {
        "amplitude": "0.01, 0, 0, 0, 0.1, 0",
        "frequency": "3",
        "times": "[0, 2]",
        "force": "-2000",
        "moment": "0.5",
    }
    units = {
        "amplitude": "10 mm, 0, 0, 0, 100 mrad, 0",
        "frequency": "3 Hz",
        "times": "[0, 2000 ms]",
        "force": "-2 kN",
        "moment": "500 N mm",
    }
    with_units = made(**units)
    again = loads_motion(dumps_motion(with_units))
    for motion in (with_units, again, pickle.loads(pickle.dumps(with_units))):
        for name in ("pose", "twist"):
            one, other = (getattr(m.trajectory.at(0.3), name) for m in (motion, made(**plain)))
            assert np.abs(one - other).max() < 1e-15
        assert motion.wrench.values == made(**plain).wrench.values
    for words, message in (
        ({"amplitude": "5 deg, 0, 0, 0, 0, 0"}, "trajectory.path.amplitude 5 deg"),
        ({"amplitude": "0, 0, 0, 0, 1 mm, 0"}, "trajectory.path.amplitude a2 1 mm"),
        ({"force": "3 N m"}, "wrench.values 3 N m"),
        ({"frequency": "3 s"}, "trajectory.path.frequency 3 s 1/s Hz"),
    ):
        with refused(MotionFileError, message):
            made(**(plain | words))
