"""Motion files: what they stand for equals the trajectories written in code, and every fault names its line."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod import motion as tr
from polypod.errors import InputError, MotionFileError, StateError
from polypod.motion import PUBLISHED, PathKind, Task, TrajectoryKind, load_motion, loads_motion, make_task
from polypod.motion.tables import read_table
from polypod.results import study
from support.refusals import refused, says
from support.robots.machine_chains import MACHINES
from support.states import displaced, mostly_long, singular_pose


@pytest.fixture(scope="module")
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        return {name: pp.Model(name) for name in ("pedrammehr", "kim-ryu", "staicu")}


GOOD = """\
name: cut
rate: 100
trajectory:
  kind: euler
  convention: xyz
  path:
    kind: stack
    parts:
      - {kind: line, start: [0.1, 0, 0.4], end: [0.3, 0, 0.6], duration: 6, law: {kind: trapezoid, speed: 0.08}}
      - {kind: line, start: [0, 0, -0.2], end: [0, 0, 0.2], duration: 6, law: {kind: trapezoid, speed: 0.08}}
wrench: [0, 0, -10, 0, 0, 0]
"""

# One file for each kind of path, and the path that code makes; rounding of one evaluation apart, so 1e-14.
PATHS = {
    "rest": ("{kind: rest, point: [1, 2], duration: 2}", lambda: tr.Rest(point=[1, 2], duration=2)),
    "line": (
        "{kind: line, start: 0, end: 1, duration: 2, law: cosine}",
        lambda: tr.Line(start=0, end=1, duration=2, law="cosine"),
    ),
    "through": (
        "{kind: through, points: [[0, 1], [2, 3], [1, 1]], times: [0, 1, 3], law: {kind: trapezoid, ramp: 0.2}}",
        lambda: tr.Through(points=[[0, 1], [2, 3], [1, 1]], times=[0, 1, 3], law=tr.Trapezoid(ramp=0.2)),
    ),
    "spline": (
        "{kind: spline, points: [0, 1, 0], times: [0, 1, 2]}",
        lambda: tr.Spline(points=[0, 1, 0], times=[0, 1, 2]),
    ),
    "hermite": (
        "{kind: hermite, points: [0, 1], times: [0, 2], velocities: [0, 1], accelerations: [0, 3]}",
        lambda: tr.Hermite(points=[0, 1], times=[0, 2], velocities=[0, 1], accelerations=[0, 3]),
    ),
    "rounded": (
        "{kind: rounded, points: [[0, 0], [100 mm, 0], [100 mm, 0.1]], speed: 1 m/s, acceleration: 10, jerk: 1000, "
        "corner: 5 mm}",
        lambda: tr.Rounded(points=[[0, 0], [0.1, 0], [0.1, 0.1]], speed=1, acceleration=10, jerk=1000, corner=0.005),
    ),
    "circle": (
        "{kind: circle, centre: [0, 0, 1], radius: 0.1, normal: [0, 0, 1], rpm: 40, turns: 2}",
        lambda: tr.Circle(centre=[0, 0, 1], radius=0.1, normal=[0, 0, 1], rpm=40, turns=2),
    ),
    "sine": (
        "{kind: sine, amplitude: [0.1, 10 deg], frequency: 2, duration: 1, phase: 0.3}",
        lambda: tr.Sine(amplitude=[0.1, math.radians(10)], frequency=4 * math.pi / (2 * np.pi), duration=1, phase=0.3),
    ),
    "polynomial": (
        "{kind: polynomial, coefficients: [1, 0, 3], duration: 2}",
        lambda: tr.Polynomial(coefficients=[1, 0, 3], duration=2),
    ),
    "constant_accelerations": (
        "{kind: constant_accelerations, start: [0, 0], accelerations: [[1, 2], [-1, -2]], times: [0, 1, 2]}",
        lambda: tr.ConstantAccelerations(start=[0, 0], accelerations=[[1, 2], [-1, -2]], times=[0, 1, 2]),
    ),
    "piecewise": (
        "{kind: piecewise, parts: [{kind: line, start: 0, end: 1, duration: 1}, {kind: rest, point: 1, duration: 1}]}",
        lambda: tr.Piecewise(parts=[tr.Line(start=0, end=1, duration=1, law="quintic"), tr.Rest(point=1, duration=1)]),
    ),
    "stack": (
        "{kind: stack, parts: [{kind: rest, point: [1, 2], duration: 1}, {kind: line, start: 0, end: 1, duration: 1}]}",
        lambda: tr.Stack(parts=[tr.Rest(point=[1, 2], duration=1), tr.Line(start=0, end=1, duration=1, law="quintic")]),
    ),
    "sum": (
        "{kind: sum, parts: [{kind: line, start: 0, end: 1, duration: 1},"
        " {kind: sine, amplitude: 0.01, frequency: 20, duration: 1}]}",
        lambda: tr.Sum(
            parts=[
                tr.Line(start=0, end=1, duration=1, law="quintic"),
                tr.Sine(amplitude=0.01, frequency=40 * math.pi / (2 * np.pi), duration=1),
            ]
        ),
    ),
}


def test_every_kind_is_tested():
    assert set(PATHS) | {"gcode"} == set(PathKind.registry)  # programs: core/test_feed.py
    assert set(TrajectoryKind.registry) == {"euler", "axis", "poses", "coordinates", "published", "retimed"}


@pytest.mark.parametrize("kind", PATHS)
def test_paths_are_those_of_the_trajectories(kind):
    text, make = PATHS[kind]
    data = loads_motion(f"name: a\ntrajectory: {{kind: coordinates, path: {text}}}\n")
    got, wanted = data.trajectory.path, make()
    assert got.duration == pytest.approx(wanted.duration, rel=1e-15)
    times = wanted.even_times(17)
    for a, b in zip(got.at(times), wanted.at(times), strict=True):
        assert np.abs(a - b).max() <= 1e-14 * max(np.abs(b).max(), 1.0)


def test_euler_with_trapezoids_is_the_papers_path_two(models):
    task = loads_motion(GOOD).task(models["pedrammehr"])
    published = tr.Published(name="pedrammehr-path-2").at(task.time)
    assert len(task.time) == 601
    for a, b in zip(task.motion, published, strict=True):
        assert np.abs(a - b).max() <= 1e-14
    assert (task.wrench == [0, 0, -10, 0, 0, 0]).all()


def test_axis_motion(models):
    text = """
name: a
trajectory:
  kind: axis
  position: {kind: rest, point: [0.2, 0, 0.5], duration: 1}
  axis: [0, 0, 1]
  angle: {kind: line, start: 0, end: 10 deg, duration: 1}
"""
    motion = loads_motion(text).task(models["pedrammehr"]).motion
    turned = Rotation.from_euler("z", 10, degrees=True).as_matrix()
    assert np.abs(motion.pose[-1, :3, :3] - turned).max() < 1e-15
    assert (motion.pose[:, :3, 3] == [0.2, 0, 0.5]).all()


def test_poses_relative_to_home_and_from_csv(models, tmp_path):
    robot = models["pedrammehr"].robot
    (tmp_path / "way.csv").write_text(
        "time [s],x [mm],y [mm],z [mm],a1 [deg],a2 [deg],a3 [deg]\n"
        "# a comment\n"
        "10,0,0,0,0,0,0\n"
        "10.5,20,10,-5,1,2,3\n"
        "\n"
        "11,0,0,0,0,0,0\n"
    )
    head = "name: way\ntrajectory:\n  kind: poses\n  relative_to: home\n  convention: XYZ\n"
    (tmp_path / "way.yaml").write_text(head + "  csv: way.csv\n")
    written = head + (
        "  poses:\n    - {time: 0, position: [0, 0, 0]}\n"
        "    - {time: 0.5, position: [0.02, 0.01, -0.005], angles: [1 deg, 2 deg, 3 deg]}\n"
        "    - {time: 1, position: [0, 0, 0]}\n"
    )
    from_csv = load_motion(tmp_path / "way.yaml").task(models["pedrammehr"]).motion
    by_hand = loads_motion(written).task(models["pedrammehr"]).motion
    for a, b in zip(from_csv, by_hand, strict=True):
        assert np.abs(a - b).max() <= 1e-13  # mm and degrees are converted once in each
    middle = from_csv.pose[len(from_csv.time) // 2]
    assert np.abs(middle[:3, 3] - np.array(robot.home.position) - [0.02, 0.01, -0.005]).max() < 1e-15
    turned = Rotation.from_euler("XYZ", [1, 2, 3], degrees=True).as_matrix() @ np.array(robot.home.rotation)
    assert np.abs(middle[:3, :3] - turned).max() < 1e-15
    # twist against central differences of the pose, step 1/200 s: quintics, so the error is of the order of h^2
    t, p = from_csv.time, from_csv.pose[:, :3, 3]
    difference = (p[2:] - p[:-2]) / (t[2:] - t[:-2])[:, None]
    assert np.abs(difference - from_csv.twist[1:-1, :3]).max() < 2e-3 * np.abs(from_csv.twist).max()


def test_own_coordinates_of_a_lower_mobility_robot(models):
    line = "{kind: line, start: [0, 0, 0], end: [0.01, 0.02, 0.1], duration: 1}"
    text = f"name: a\ntrajectory: {{kind: coordinates, path: {line}}}"
    model = models["staicu"]
    motion = loads_motion(text).task(model).motion
    assert np.abs(model.coordinates(motion.pose)[-1] - [0.01, 0.02, 0.1]).max() < 1e-15
    with refused(InputError, code="six_dof"):
        loads_motion(text).task(models["kim-ryu"])
    with refused(InputError, "3 y z theta"):
        loads_motion(text.replace("[0, 0, 0]", "[0, 0]").replace("0.02, 0.1]", "0.02]")).task(model)


def test_wrench_table_in_platform_axes_at_a_point(models):
    text = GOOD.replace(
        "wrench: [0, 0, -10, 0, 0, 0]",
        "wrench:\n  times: [1, 3]\n  values: [[2, 0, 0, 0, 0, 1], [4, 0, 0, 0, 0, 3]]\n"
        "  frame: platform\n  point: [0, 0.5, 0]\n",
    )
    task = loads_motion(text).task(models["pedrammehr"])
    size = np.interp(task.time, [1, 3], [2, 4])  # constant outside the table
    assert np.abs(np.linalg.norm(task.wrench[:, :3], axis=1) - size).max() < 1e-14
    x_axis = task.motion.pose[:, :3, 0]
    assert np.abs(task.wrench[:, :3] - size[:, None] * x_axis).max() < 1e-14
    # moment about z of a force along x at y = 0.5 is -0.5 f; the platform turns about z only
    assert np.abs(task.wrench[:, 5] - (size - 1) + 0.5 * size).max() < 1e-14


SLOW = ("delta-wrist", "par4", "ankle", "delta-4", "3-prs", "reachy-mini", "linear-delta", "tricept")
"""Robots whose functions take longest to build."""


@pytest.mark.parametrize("name", mostly_long(PUBLISHED, [name for name in PUBLISHED if not name.startswith(SLOW)]))
def test_published_motions_run_on_their_robots(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pp.errors.UnphysicalWarning)
        model = pp.Model(PUBLISHED[name].robot)
    task = make_task(model, name, rate=50.0)
    assert np.isfinite(model.inverse_kinematics(task.motion.pose, errors="raise")).all()
    data = loads_motion(f"name: a\nrate: 50\ntrajectory: {{kind: published, name: {name}}}")
    assert np.array_equal(data.task(model).motion.pose, task.motion.pose)


@pytest.mark.parametrize("robot", ["kim-ryu", "staicu"])
def test_around_home_stays_in_limits(models, robot):
    model = models[robot]
    task = make_task(model, "around-home")
    assert np.abs(task.motion.pose[0] - model.robot.home.matrix).max() < 1e-15
    assert model.limits(task.motion.pose).ok
    assert np.abs(task.motion.twist).max() > 0.01
    assert np.linalg.matrix_rank(task.motion.twist, tol=1e-3) == len(model.robot.dof or range(6))


FAULTS = [
    ("rate: 100", "rte: 100", 2, "rte rate"),
    ("rate: 100", "rate: -1", 2, "0 -1"),
    ("rate: 100", "rate: fast", 2, "fast"),
    ("name: cut", "nam: cut", 1, "#missing"),
    ("kind: euler", "kind: eulr", 4, "euler"),
    ("convention: xyz", "convention: xyw", 5, "convention"),
    ("  path:", "  pth:", 3, "#missing"),
    ("kind: stack", "kind: stak", 7, "stack"),
    ("    parts:", "    prts:", 8, "parts"),
    ("duration: 6, ", "", 9, "duration ramp speed"),
    ("0, 0.4]", "0, 0.4, 1]", 9, "end start"),
    ("end: [0.3, 0, 0.6]", "end: [a, 0, 0.6]", 9, "a"),
    ("speed: 0.08", "speeed: 0.08", 9, "speed"),
    ("speed: 0.08", "speed: 0.8", 9, "law.speed 0.8"),
    ("kind: trapezoid", "kind: trapeze", 9, "trapezoid"),
    ("wrench: [0, 0, -10, 0, 0, 0]", "wrench: [0, 0, -10]", 11, "fx fy fz mx my mz"),
    ("wrench: [0, 0, -10, 0, 0, 0]", "wrench: {csv: none.csv}", 11, "none.csv"),
    (
        "wrench: [0, 0, -10, 0, 0, 0]",
        "wrench: {values: [[0, 0, 0, 0, 0, 0]]}",
        11,
        "times values",
    ),
    ("wrench: [0, 0, -10, 0, 0, 0]", "rate: 5", 11, "#twice"),
    ("kind: stack", "kind: [stack", None, "#not_yaml"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), FAULTS)
def test_faults_name_their_line(old, new, line, message):
    assert old in GOOD
    with refused(MotionFileError, message) as caught:
        loads_motion(GOOD.replace(old, new, 1), "m.yaml")
    says(str(caught.value), "m.yaml")
    if line is not None:
        assert line in [fault.line for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,2\n", "time"),
        ("time,x\n0,1\n1,b\n", "3 x b"),
        ("time,x\n0,1\n1\n", "3 2"),
        ("time,x\n0,1\n0,2\n", "3 time"),
        ("time,x [inch]\n0,1\n1,1\n", "1 x"),
        ("time,x\n", "header"),
        ("time,x\n0,nan\n1,1\n", "2 x"),
        ('time,x\n0,"1,5"\n1,1\n', "2 x 1,5"),
        ("time;x\n0;1,5\n1;1.5\n", "line 3 #mixed_commas"),
        (
            "time,x\n0,1\n0,1\n",
            "3 time 0",
        ),
    ],
)
def test_tables_say_what_is_wrong(content, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with refused(InputError, message):
        read_table(tmp_path, "t.csv")
    text = "name: a\ntrajectory: {kind: coordinates, path: {kind: spline, csv: t.csv}}"
    with refused(MotionFileError, "trajectory.path.csv t.csv"):
        loads_motion(text, folder=tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "\ufefftime [ms],x [mm]\r\n0,1500\r\n500,2000\r\n",
        "time;x\n0;1,5\n0,5;2\n",
        "x [um]\ttime\n1500000\t0\n2e6\t0.5\n",
        "# by a logger\nx;time\n1.5;0\n2.0;0.5\n",
    ],
)
def test_tables_of_spreadsheets_and_loggers(content, tmp_path):
    """Marks of byte order, semicolons and tabs, decimal commas, the time in any column."""
    (tmp_path / "t.csv").write_text(content, newline="", encoding="utf-8")
    table = read_table(tmp_path, "t.csv")
    assert table.times.tolist() == [0.0, 0.5]
    assert table.values == pytest.approx(np.array([[1.5], [2.0]]), rel=1e-15)
    assert [column.name for column in table.columns] == ["x"]


def test_too_many_samples_are_refused(models):
    with refused(InputError, "6000001"):
        loads_motion(GOOD).task(models["pedrammehr"], rate=1e6)


def test_a_motion_through_a_singular_pose_stops_with_time_and_leg(model_of):
    """Between two samples the determinant of J changes its sign: no sample is singular, the motion is."""
    model = model_of("pedrammehr")
    _, shift = singular_pose(model)
    time = np.linspace(0.0, 1.5, 302)
    poses = displaced(model.robot.home.matrix, time[:, None] * shift)
    volume = np.linalg.det(model.jacobian(poses))
    first = int(np.flatnonzero(np.sign(volume[1:]) != np.sign(volume[:-1]))[0])
    still = np.zeros((len(time), 6))
    with refused(StateError, code="singular") as caught:
        study(model, Task("through", tr.Motion(time, poses, still, still)))
    instant = float(str(caught.value).partition("t = ")[2].partition(" s")[0])
    assert time[first] <= instant <= time[first + 1]


def test_around_home_where_no_pose_has_the_coordinates():
    """A tenth of a radian is more than this wrist can pitch: its reach is halved, as where a limit is broken."""
    model = pp.Model(pp.Robot.model_validate(MACHINES["spherical five-bar"](1)))
    assert np.isnan(model.motion([[0.1, 0.0], [0.0, 0.1]], errors="nan").pose).any()
    assert np.isfinite(make_task(model, rate=20.0).motion.pose).all()


def test_around_home_refuses_a_home_outside_the_limits():
    """Shrinking the motion to nothing would give numbers about nothing."""
    data = pp.load("kim-ryu").model_dump()
    for leg in data["legs"]:
        leg["travel"] = (0.5, 0.6)
    model = pp.Model(pp.Robot.model_validate(data | {"name": "short rails"}))
    with refused(InputError, "short rails leg1 rail"):
        make_task(model, "around-home")


def test_around_home_refuses_a_home_at_the_very_limit():
    """No motion about it stays within, however small; the smallest one tried was returned all the same."""
    data, model = pp.load("kim-ryu").model_dump(), pp.Model("kim-ryu")
    for leg, q in zip(data["legs"], model.inverse_kinematics(model.robot.home.matrix).tolist(), strict=True):
        leg["travel"] = (0.0, q + 1e-9)
    with refused(InputError, "at the end"):
        make_task(pp.Model(pp.Robot.model_validate(data | {"name": "at the end"})), "around-home")
