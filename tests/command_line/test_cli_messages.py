"""What a new user reads after a slip: where it is, what was got, what is allowed, what to write."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import typer

import polypod as pp
from polypod.cli.frame import command, report_errors
from polypod.description.units import advice
from polypod.errors import InputError, MotionFileError, RobotFileError, StateError, UnphysicalWarning
from polypod.file_kinds import check
from polypod.files.robot_files import with_file_lines
from polypod.files.templates import template
from polypod.motion import loads_motion, make_task
from polypod.results import study
from support.command_line import polypod
from support.refusals import failed, refused, says

ROBOT, MOTION = template("robot", "my-hexapod"), template("motion", "lift")
LEG_1 = ROBOT[ROBOT.index("  - base: [0.4891, -0.1040") : ROBOT.index("  - base: [0.4891, 0.1040")]
LEG_2 = ROBOT[ROBOT.index("  - base: [0.4891, 0.1040") : ROBOT.index("  - base: [-0.1545, 0.4755")]
POSES = re.search(r"  poses:\n(?:    - .*\n)+", MOTION)[0]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder with the robot file that 'polypod new' writes."""
    monkeypatch.chdir(tmp_path)
    Path("my-hexapod.yaml").write_text(ROBOT)
    return tmp_path


def line_with(text, mark):
    return next(number for number, row in enumerate(text.splitlines(), 1) if mark in row)


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "unit", "instead"),
    [
        ("50 N s/m", "N s/m or N m s/rad", "50 N s/m"),
        ("-1.5e3 N", "N, N m", "-1.5e3 N"),
        ("2 kN", "N, N m", "2 kN"),
        ("66 lb", "kg", "a number in kg, g or t"),
        ("10 deg", "kg", "a number in kg, g or t"),
        ("3 turns", "", "a plain number in SI units"),
        ("50 %", "1", "a plain number"),
        ("300,5", "kg", "300.5"),
        ("0,7", "", "0.7"),
        ("1,000", "kg", "1.000 or 1000"),
        ("1.000,5", "kg", "1000.5"),
        ("1,000,000.5", "kg", "1000000.5"),
        ("0,3 kg", "kg", "0.3 kg"),
        ("60,5 mm", "m", "60.5 mm"),
        ("15 degrees", "rad", "15 deg"),
        ("15,5°", "m, rad", "15.5 deg"),
    ],
)
def test_what_to_write_instead_of_a_text(written, unit, instead):
    assert advice(written, unit) == f"write {instead}"


@pytest.mark.parametrize("written", ["heavy", "", "1.2.3", ",", "-", "1,2,3", "kg 3"])
def test_no_advice_where_nobody_can_tell(written):
    assert advice(written, "kg") == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mass: 30.0", "mass: 30 kg"),
        ("mass: 30.0", "mass: 30000 g"),
        ("mass: 30.0", "mass: 0.03t"),
        ("0.0, 0.6]", "0.0, 600 mm]"),
        ("gravity: [0.0, 0.0, -9.81]", "gravity: [0.0, 0.0, -9810 mm/s^2]"),
        ("inertia: [0.7, 0.7, 1.35]", "inertia: [0.7, 700000 kg mm^2, 1.35 kg m^2]"),
        ("# rotor_mass: 20.0", "rotor_mass: 0 kg"),
    ],
)
def test_numbers_may_have_a_unit(old, new):
    assert old in ROBOT
    assert pp.loads(ROBOT.replace(old, new, 1)) == pp.loads(ROBOT)


def test_numbers_of_a_motion_may_have_a_unit():
    changed = (
        MOTION.replace("time: 0.8", "time: 800 ms").replace("[0.05,", "[50 mm,").replace("rate: 200", "rate: 200 Hz")
    )
    assert all(text in changed for text in ("800 ms", "[50 mm,", "200 Hz"))
    got, wanted = loads_motion(changed), loads_motion(MOTION)
    assert (got.trajectory.poses, got.rate) == (wanted.trajectory.poses, wanted.rate)


# -- files: the change, the field blamed, words of the message, a mark in the line that is shown ---------------------

ROBOT_ERRORS = {
    "unit": ("mass: 30.0", "mass: 30 lb", "platform.mass", "30 lb kg g t", "30 lb"),
    "comma": ("mass: 30.0", "mass: 30,5", "platform.mass", "30,5 30.5", "30,5"),
    "unit in a list": ("0.0, 0.6]", "0.0, 600 g]", "home.position.2", "600 g m mm", "600 g"),
    "commas in a list": (
        "[0.7, 0.7, 1.35]", "[0,7, 0,7, 1,35]", "platform.inertia", "[0, 7, point", "[0,7",
    ),
    "unit among defaults": (
        "viscous: 50.0", "viscous: 50 kg", "leg_defaults.prismatic_friction.viscous", "50 kg", "50 kg",
    ),
    "kind in small letters": ("kind: UPS", "kind: ups", "leg_defaults.kind", "ups UPS", "kind: ups"),
    "two equal legs": (LEG_2, LEG_1, "legs.1", "leg2 leg1", "axis: [0.207"),
    "singular home": ("0.0, 0.6]", "0.0, 0.0]", "home", "[0.0, 0.0, 0.0]", "home:"),
    "axis of another length": ("[0.207911691, 0.978147601", "[0.3, 0.4", "legs.0.axis", "0.6 0.8", "[0.3"),
    "angles for a matrix": (
        "# rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "rotation: [0, 0, 0]", "home.rotation", "3", "rotation:",
    ),
    "degrees for a matrix": (
        "# rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "rotation: [0, 0, 30 deg]", "home.rotation",
        "angles: [0, 0, 30 deg]", "rotation:",
    ),
    "both kinds of turn": (
        "  # angles: [0.0, 0.0, 30 deg]", "  rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n  angles: [0.0, 0.0, 30 deg]",
        "home.angles", "rotation angles", "  angles: [",
    ),
    "degrees for radians": ("# angles: [0.0, 0.0, 30 deg]", "angles: [0, 0, 30]", "home.angles", "30 deg", "30]"),
    "gravity as a number": ("[0.0, 0.0, -9.81]", "-9.81", "gravity", "[0, 0, -9.81]", "gravity:"),
    "no commas": (
        "[0.2007, -0.2229, 0.0]", "[0.2007 -0.2229 0.0]", "legs.0.platform",
        "[0.2007, -0.2229, 0.0]", "-0.2229",
    ),
    "no brackets": (
        "[0.2007, -0.2229, 0.0]", "0.2007, -0.2229, 0.0", "legs.0.platform",
        "[0.2007, -0.2229, 0.0]", "-0.2229",
    ),
    "a colon in a text": (
        "title: Gough-Stewart platform of 1 m", "title: Gough's platform: a test # mine", "",
        'title: "Gough\'s platform: a test"', "title:",
    ),
    "no space after a colon": ("  mass: 30.0", "  mass:30.0", "", "name: value", "mass:30"),
    "a number for a name": ("name: my-hexapod", "name: 12", "name", "'12'", "name: 12"),
    "nothing": ("name: my-hexapod", "name:", "name", "nothing", "name:"),
    "a number for a mapping": (
        "{viscous: 50.0}", "50.0", "leg_defaults.prismatic_friction", "viscous stribeck_speed 50", "50.0",
    ),
    "degrees without a unit": (
        "  # rotor_mass: 20.0", "  base_cone: {axis: [0.0, 0.0, 1.0], half_angle: 45}\n  # rotor_mass: 20.0",
        "leg_defaults.base_cone.half_angle", "45 deg", "half_angle",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slip", ROBOT_ERRORS)
def test_slips_in_a_robot_file(slip, here):
    old, new, field, message, mark = ROBOT_ERRORS[slip]
    assert old in ROBOT
    broken = ROBOT.replace(old, new, 1)
    Path("robot.yaml").write_text(broken)
    (fault,) = check("robot.yaml").faults
    assert fault.field == field
    says(fault.message, message)
    start = line_with(broken, LEG_1.splitlines()[0]) + 3 if slip == "two equal legs" else line_with(broken, mark)
    assert fault.line == start
    for name in ("run", "simulate"):
        output = polypod(name, "robot.yaml")
        assert output.exit_code == 2
        assert "robot.yaml" in output.stderr
        assert f"line {start}: " in output.stderr


MOTION_ERRORS = {
    "unit of time": ("time: 0.8", "time: 0.8 h", "trajectory.poses.1.time", "s ms min", "0.8 h"),
    "unit in a list": ("[0.05,", "[50 s,", "trajectory.poses.1.position.0", "50 s m mm", "50 s"),
    "unit of a force": ("-50, 0", "-50 mm, 0", "wrench.values", "-50 mm N kN", "-50 mm"),
    "unit of another": ("-50, 0", "-50 N m, 0", "wrench.values", "fz -50 N m", "-50 N m"),
    "rate in hertz": ("rate: 200", "rate: 200 s", "rate", "1/s Hz kHz", "200 s"),
    "times out of order": ("time: 1.6", "time: 0.6", "trajectory.poses.2.time", "0.6 0.8", "time: 0.6"),
    "a late start": ("time: 0.0", "time: 0.1", "trajectory.poses.0.time", "0 0.1", "time: 0.1"),
    "one angle": ("[5 deg, 0.0, 0.0]", "[5 deg]", "trajectory.poses.2.angles", "3", "[5 deg]"),
    "a short row": ("[0, 0, -50, 0, 0, 0]", "[0, 0, -50]", "wrench.values", "3 2", "values:"),
    "poses and csv": ("  # csv: ", "  csv: a.csv # ", "trajectory.poses", "poses csv", "  poses:"),
    "no csv": (POSES, "  csv: way.csv\n", "trajectory.csv", "way.csv", "  csv: way"),
    "a long ramp": (
        "law: quintic", "law: {kind: trapezoid, ramp: 0.5}", "trajectory.law.ramp", "0.5 0.8", "ramp: 0.5",
    ),
    "beyond a singular pose": (
        "[0.05, 0.0, 0.02]", "[0.0, 0.0, -0.6]", "trajectory.poses.1", "lift t", "-0.6]",
    ),
    "a path for a trajectory": (
        "kind: poses", "kind: circle", "trajectory.kind", "circle kind: stack, parts: axis",
        "kind: circle",
    ),
    "too many samples": ("rate: 200", "rate: 1e9", "rate", "2000000", "rate: 1e9"),
}  # fmt: skip


@pytest.mark.parametrize("slip", MOTION_ERRORS)
def test_slips_in_a_motion_file(slip, here):
    old, new, field, message, mark = MOTION_ERRORS[slip]
    assert old in MOTION
    broken = MOTION.replace(old, new, 1)
    Path("lift.yaml").write_text(broken)
    (fault,) = check("lift.yaml", "my-hexapod.yaml").faults
    assert fault.field == field
    says(fault.message, message)
    assert fault.line == line_with(broken, mark)
    output = polypod("run", "my-hexapod.yaml", "lift.yaml", "--no-files", "--no-certify")
    assert output.exit_code == 2
    assert "lift.yaml" in output.stderr
    assert f"line {fault.line}: " in output.stderr


def test_warnings_are_printed_beside_errors(here):
    """A metre where a millimetre was meant leads to a singular pose; the number meant is in the same answer."""
    Path("lift.yaml").write_text(MOTION.replace("[0.05, 0.0, 0.02]", "[0.05, 0.0, -50]"))
    output = polypod("check", "lift.yaml", "--robot", "my-hexapod.yaml")
    assert output.exit_code == 2
    says(output.stderr, "50 m home")
    says(output.stderr, "50 mm 0.05")


def test_an_error_about_a_misplaced_field_names_its_right_place(here):
    Path("misplaced.yaml").write_text(ROBOT.replace("platform:\n  mass", "platform:\n  max_force: 2 kN\n  mass"))
    failed(polypod("check", "misplaced.yaml"), "platform.max_force max_force")
    failed(polypod("check", "misplaced.yaml"), "legs")
    Path("misplaced.yaml").write_text(MOTION.replace("trajectory:\n", "trajectory:\n  rate: 100\n"))
    failed(polypod("check", "misplaced.yaml"), "indent")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time;x;y;z;a;b;c\n0;0;0;0;0;0;0\n", "7 1"),
        ("time,x,y,z,a1,a2,a3\n0,0,0,0,0,0,0\n1,0,0,0,10,0,0\n", "10 rad a1 [deg]"),
    ],
)
def test_slips_in_a_table(content, message, here):
    Path("way.csv").write_text(content + "2,0,0,0,0,0,0\n")
    Path("lift.yaml").write_text(MOTION.replace(POSES, "  csv: way.csv\n"))
    (fault,) = check("lift.yaml", "my-hexapod.yaml").faults
    assert fault.field == "trajectory.csv"
    says(fault.message, message)


def test_a_published_motion_of_a_motion_file(here):
    text = "name: a\ntrajectory:\n  kind: published\n  name: %s\n"
    Path("a.yaml").write_text(text % "kim-ryu-circl")
    (fault,) = check("a.yaml").faults
    assert (fault.field, fault.line) == ("trajectory.name", 4)
    says(fault.message, "kim-ryu-circle")
    Path("a.yaml").write_text(text % "staicu-path")
    (fault,) = check("a.yaml", "my-hexapod.yaml").faults
    assert (fault.field, fault.line) == ("trajectory.name", 4)
    says(fault.message, "3 staicu my-hexapod")


def test_numbers_in_powers_of_ten_are_numbers(here):
    """YAML 1.1 takes 1e-3 for a text."""
    path = "{kind: rest, point: [0, 0, 1e-3, 1e-2, 0, 0], duration: 1e0}"
    Path("a.yaml").write_text(f"name: a\ntrajectory: {{kind: euler, relative_to: home, path: {path}}}\n")
    assert check("a.yaml", "my-hexapod.yaml").ok


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        (
            "{kind: circle, centre: [0, 0, 0], radius: 0.1, normal: [0, 0, 1], rpm: 40}",
            "trajectory.path",
            "3 {kind: stack, parts: [{kind: circle, ...}, {kind: rest, point: [0, 0, 0], duration: 1.5}]}",
        ),
        ("{kind: rest, point: [0, 0], duration: 1}", "trajectory.path", "2"),
        (
            "{kind: poses}",
            "trajectory.path.kind",
            "poses circle constant_accelerations",
        ),
        ("{kind: circel}", "trajectory.path.kind", "circel circle"),
    ],
)
def test_paths_where_they_do_not_belong(path, field, message):
    with pytest.raises(MotionFileError) as caught:
        loads_motion(f"name: a\ntrajectory: {{kind: euler, path: {path}}}\n")
    (fault,) = caught.value.faults
    assert fault.field == field
    says(fault.message, message)


def test_a_motion_that_starts_nowhere_near(here):
    Path("lift.yaml").write_text(MOTION.replace("relative_to: home", "relative_to: base"))
    (fault,) = check("lift.yaml", "my-hexapod.yaml").faults
    says(fault.message, "relative_to home")


def test_the_robot_that_a_motion_names_is_not_there(here):
    Path("lift.yaml").write_text(MOTION.replace("# robot: my-hexapod.yaml", "robot: my-hexapd.yaml"))
    (fault,) = check("lift.yaml").faults
    assert (fault.field, fault.line) == ("robot", line_with(MOTION, "# robot:"))
    says(fault.message, "my-hexapod.yaml")


# -- faults found after reading --------------------------------------------------------------------------------------


def test_a_singular_home_that_the_file_does_not_give_is_reported_at_the_legs(here):
    text = ROBOT.replace("home:\n  position: [0.0, 0.0, 0.6]", "# home:")
    Path("robot.yaml").write_text(text)
    with pytest.raises(RobotFileError) as caught:
        pp.Model("robot.yaml")
    (fault,) = caught.value.faults
    assert (caught.value.origin, fault.field) == ("robot.yaml", "legs")
    assert text.splitlines()[fault.line - 1] == "legs:"


def test_a_robot_that_is_no_file_has_no_lines():
    robot = pp.loads(ROBOT.replace("0.0, 0.6]", "0.0, 0.0]"))
    with refused(RobotFileError, "my-hexapod home") as caught:
        pp.Model(robot)
    assert caught.value.faults[0].line is None
    with pytest.raises(RobotFileError) as again, with_file_lines(robot):
        raise caught.value
    assert again.value is caught.value


def test_states_without_an_answer_keep_what_they_carry(here):
    Path("lift.yaml").write_text(MOTION.replace("[0.05, 0.0, 0.02]", "[0.0, 0.0, -0.6]"))
    with refused(StateError, "lift.yaml trajectory.poses.1") as caught:
        study("my-hexapod.yaml", "lift.yaml")
    assert 0.0 < caught.value.time < 0.8
    assert caught.value.reasons


# -- names, limits and strictness ------------------------------------------------------------------------------------


def test_what_the_library_has_can_be_checked_by_name(here):
    robot = json.loads(polypod("check", "kim-ryu", "--json").stdout)
    assert (robot["file"], robot["kind"], robot["ok"], robot["within_limits"]) == ("kim-ryu", "robot", True, True)
    motion = json.loads(polypod("check", "kim-ryu-circle", "--json").stdout)
    assert (motion["kind"], motion["ok"], motion["within_limits"], motion["limits"]) == ("motion", True, True, [])
    says(motion["remarks"][0], "kim-ryu")
    says(polypod("check", "around-home", "--robot", "my-hexapod.yaml").stdout, "my-hexapod")
    assert "not checked with a robot" in polypod("check", "around-home").stdout
    failed(polypod("check", "kim-ryu-circle", "--robot", "staicu"), "degrees freedom")
    Path("kim-ryu").mkdir()
    assert check("kim-ryu").kind == "robot"  # a library name stays one


@pytest.mark.parametrize(
    ("asked", "near"),
    [("kim-ruy", "'kim-ryu'"), ("lopes-there-and-bak", "'lopes-there-and-back'"), ("my-hexapod", "'my-hexapod.yaml'")],
)
def test_unknown_names_have_near_ones(asked, near, here):
    result = polypod("check", asked)
    assert result.exit_code == 2
    assert near in result.stderr.partition("Did you mean ")[2].partition("?")[0]
    data = json.loads(polypod("check", asked, "--json").stdout)
    assert data["ok"] is False
    assert near in data["faults"][0]["message"]
    Path("lift.yaml").write_text(MOTION)
    failed(polypod("run", "my-hexapod.yaml", "lift"), "lift.yaml")


def test_broken_limits_are_a_table_and_strictness_minds_them(here):
    Path("high.yaml").write_text(MOTION.replace("[0.05, 0.0, 0.02]", "[0.05, 0.0, 0.2]"))
    asked = ("check", "high.yaml", "--robot", "my-hexapod.yaml")
    loose, strict = polypod(*asked), polypod(*asked, "--strict")
    assert (loose.exit_code, strict.exit_code) == (0, 2)
    says(strict.stderr, "limits")
    data = json.loads(polypod(*asked, "--json").stdout)
    assert data["within_limits"] is False
    ran = json.loads(polypod("run", "my-hexapod.yaml", "high.yaml", "--no-files", "--no-certify", "--json").stdout)
    assert ran["within_limits"] is False
    assert ran["limits"] == data["limits"] != []
    shown = polypod("run", "my-hexapod.yaml", "high.yaml", "--no-files", "--no-certify")
    assert shown.exit_code == 0
    for text in (loose.stdout, shown.stdout):
        assert "share of time outside" in text
        assert re.search(r"leg4 +length +450 +850 +88\d\.?\d* +mm +0\.8 ", text)
    Path("lift.yaml").write_text(MOTION)
    assert polypod("check", "lift.yaml", "--robot", "my-hexapod.yaml", "--strict").exit_code == 0


def test_strictness_minds_warnings_and_home(here):
    assert polypod("check", "pedrammehr").exit_code == 0
    strict = polypod("check", "pedrammehr", "--strict")
    assert strict.exit_code == 2
    says(strict.stderr, "warning")
    assert json.loads(polypod("check", "pedrammehr", "--json").stdout)["warnings"]
    Path("short.yaml").write_text(ROBOT.replace("[0.45, 0.85]", "[0.45, 0.55]"))
    assert polypod("check", "short.yaml").exit_code == 0
    assert polypod("check", "short.yaml", "--strict").exit_code == 2
    assert json.loads(polypod("check", "short.yaml", "--json").stdout)["within_limits"] is False


def test_whose_unphysical_numbers_they_are():
    def output(load):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            load()
        return next(w.message for w in caught if issubclass(w.category, UnphysicalWarning))

    printed = output(lambda: pp.load("pedrammehr"))
    assert "your installation is fine" in printed.head
    assert str(printed).startswith(f"{printed.head}: platform.inertia")
    text = ROBOT.replace("[0.7, 0.7, 1.35]", "[0.7, 0.7, 1.55]").replace("# check: none  ", "check: none #")
    own = output(lambda: pp.loads(text))
    assert "turns the check off" in own.head
    assert "has 1 body with" in own.head
    assert "installation" not in str(own)


def test_check_lists_all_odd_bodies_and_points_at_no_other_command():
    output = polypod("check", "pedrammehr").stdout
    assert "polypod check" not in output
    for body in ("platform", "leg1.lower", "leg1.upper"):
        assert output.count(f"warning: {body}.inertia: ") == 1
    assert output.count("(and in 5 other legs)") == 2


def test_names_of_the_library_are_taken(here):
    for arguments, what in ((("kim-ryu",), "robot"), (("around-home", "--motion"), "motion")):
        result = polypod("new", *arguments)
        assert result.exit_code == 2
        assert f"{arguments[0]!r} is a {what} of the library" in result.stderr
        assert not Path(f"{arguments[0]}.yaml").exists()
    assert polypod("new", "kim-ryu", "--motion").exit_code == 0  # a motion may be named like a robot


def test_an_option_that_is_no_number_is_shown(here):
    for asked in (("--rate", "abc"), ("--rate=abc",)):
        result = polypod("run", *asked)
        assert result.exit_code == 2
        assert "'abc'" in result.stderr


def test_every_group_has_an_example():
    assert "Example: polypod export c kim-ryu" in polypod("export", "--help").stdout


def test_a_published_motion_on_another_robot_is_reported(here):
    remark = "motion 'kim-ryu-circle' is meant for robot 'kim-ryu', not for 'low'"
    text = ROBOT.replace("name: my-hexapod", "name: low").replace("[0.45, 0.85]", "[0.1, 2.0]")
    Path("low.yaml").write_text(text)
    checked = json.loads(polypod("check", "kim-ryu-circle", "--robot", "low.yaml", "--json").stdout)
    assert remark in checked["warnings"]
    assert remark in polypod("run", "low.yaml", "kim-ryu-circle", "--no-files", "--no-certify").stderr
    Path("again.yaml").write_text("name: again\ntrajectory: {kind: published, name: kim-ryu-circle}\n")
    assert remark in polypod("run", "low.yaml", "again.yaml", "--no-files", "--no-certify").stderr
    assert "published for" not in polypod("run", "kim-ryu", "kim-ryu-circle", "--no-files", "--no-certify").stderr
    Path("low.yaml").write_text(text.replace("name: low", "name: kim-ryu-low"))  # named after it: a variant
    assert "published for" not in polypod("run", "low.yaml", "kim-ryu-circle", "--no-files", "--no-certify").stderr


# -- from Python -----------------------------------------------------------------------------------------------------


def test_a_study_takes_names_and_files(here):
    Path("lift.yaml").write_text(MOTION.replace("rate: 200", "rate: 20"))
    model = pp.Model("my-hexapod.yaml")
    wanted = study(model, make_task(model, "lift.yaml"), certify=False)
    assert abs(wanted.force).max() > 10
    for robot in ("my-hexapod.yaml", Path("my-hexapod.yaml"), model.robot, model):
        for motion in ("lift.yaml", Path("lift.yaml")):
            assert (study(robot, motion, certify=False).force == wanted.force).all()
    assert study("my-hexapod.yaml", certify=False).attrs["motion"] == "around-home"
    Path("bad.yaml").write_text(MOTION.replace("[0.05, 0.0, 0.02]", "[0.0, 0.0, -0.6]"))
    with refused(StateError, "bad.yaml trajectory.poses.1"):
        study("my-hexapod.yaml", "bad.yaml")
    for robot, motion, message in (
        (3, "lift.yaml", "model polypod.Model int"),
        (model, 3, "motion 3"),
    ):
        with refused(InputError, message):
            study(robot, motion)


def test_a_task_for_a_flexible_platform_is_that_of_the_rigid_one(here):
    Path("bendy.yaml").write_text(template("robot", "bendy", "flexible"))
    model = pp.Model("bendy.yaml")
    task, wanted = make_task(model, "around-home", rate=20.0), make_task(model.rigid, "around-home", rate=20.0)
    assert (task.motion.pose == wanted.motion.pose).all()


# -- words of users are quoted as they are ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [":x:", "[bold]a[/bold]"])
def test_texts_of_users_are_no_markup(name, here):
    Path("odd.yaml").write_text(ROBOT.replace("name: my-hexapod", f"name: '{name}'"))
    shown = polypod("check", "odd.yaml").stdout + polypod("show", "odd.yaml", "--no-draw").stdout
    assert shown.count(name) >= 2
    Path("odd.yaml").write_text(ROBOT.replace("mass: 30.0", f"mass: '{name}'"))
    assert f"got '{name}'" in polypod("check", "odd.yaml").stderr
    assert name in polypod("run", name).stderr


# -- hints -----------------------------------------------------------------------------------------------------------


def test_only_near_names_are_suggested(here):
    Path("robot.yaml").write_text(ROBOT.replace("kind: UPS", "kind: UPS\n  max_froce: 2000"))
    (fault,) = check("robot.yaml").faults
    says(fault.message, "max_froce max_force")
    assert "cone" not in fault.message.partition("Known: ")[0]


def test_missing_sources_are_remarked_only_where_they_are_kept(here):
    own = ROBOT[: ROBOT.index("sources:")]
    Path("own.yaml").write_text(own)
    assert not any("source" in remark for remark in check("own.yaml").remarks)
    says(polypod("check", "own.yaml", "--sources").stdout, "gravity")
    Path("some.yaml").write_text(own + "sources:\n  platform.mass: weighed\n")
    assert any("parameters have no source, such as gravity" in remark for remark in check("some.yaml").remarks)


def test_the_package_runs_as_a_module():
    result = subprocess.run([sys.executable, "-m", "polypod", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == pp.__version__


def test_a_note_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Several parts of a command may warn of the same thing, each from a place of its own."""

    @report_errors
    def command() -> None:
        for line in (1, 2, 3):
            warnings.warn_explicit("the pivot is off the robot", UserWarning, "file.py", line)

    command()
    assert capsys.readouterr().err.count("the pivot is off the robot") == 1


def test_a_command_that_takes_no_robot_reports_its_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polypod.cli.frame.REGISTERED", {})

    @command("sized", "sized")
    def sized() -> None:
        raise InputError("sizes: 3 are needed, got 2")

    with pytest.raises(typer.Exit) as ended:
        sized()
    assert ended.value.exit_code == 2
    assert capsys.readouterr().err == "error: sizes: 3 are needed, got 2\n"
