"""The command line as a new user meets it: what works, what is refused, and in which words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import polypod as pp
from polypod.cli import COMMANDS, GROUPS, WITH_SUBCOMMANDS, load_command
from polypod.errors import MotionFileError
from polypod.file_kinds import check
from polypod.files.templates import template
from polypod.motion import Published
from polypod.motion.resolve import robot_and_motion
from polypod.results.overview import describe, mobility, parameters
from support.command_line import polypod
from support.refusals import failed, refused, says
from support.robots.small_machines import SMALL_MACHINES

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_run_needs_no_argument(here):
    result = polypod("run", "--rate", 20)
    assert result.exit_code == 0
    says(result.stdout, "hexapod hexapod-tour 4 81")
    fits = "Fits: within all 30 limits at every instant (verified); the most used is speed 84 % in leg4"
    assert result.stdout.splitlines()[1].startswith(fits)
    for text in ("peak force", "rms force", "peak power", "stroke", "Condition number", "Verdict", "Motors", "leg6"):
        assert text in result.stdout
    assert "Forces are positive towards increasing coordinates" in result.stdout
    assert result.stderr == ""  # a healthy robot: nothing to remark
    assert sorted(p.name for p in (here / "polypod-results" / "hexapod" / "hexapod-tour").iterdir()) == [
        "actuators.csv", "bearings.csv", "checksums.txt", "figures", "forces.csv", "manifest.json", "motors.csv",
        "report.html", "results.nc", "verdict.csv",
    ]  # fmt: skip
    assert polypod("run", "--rate", 20).exit_code == 0  # the same inputs: replaced automatically
    again = polypod("run", "--rate", 25)
    assert again.exit_code == 2
    says(again.stderr, "rate 20.0 25.0 --force")
    assert again.stdout == ""
    assert polypod("run", "--rate", 25, "--force").exit_code == 0


def test_impossible_inertias_are_a_note_apart_from_the_results(here):
    result = polypod("run", "pedrammehr", "--rate", 20, "--no-files", "--no-certify")
    assert result.exit_code == 0
    says(result.stderr, "inertia")
    says(result.stderr, "installation")
    assert "principal moments" not in result.stderr  # the list is for 'polypod check'


def test_run_as_data(here):
    result = polypod(
        "run", "kim-ryu", "kim-ryu-circle", "--rate", 40, "--no-friction", "--no-certify", "--json", "--out", "there"
    )
    data = json.loads(result.stdout)
    model = pp.Model("kim-ryu")
    circle = Published(name="kim-ryu-circle")
    at = circle.at(circle.even_times(61))
    peak = abs(model.inverse_dynamics(at.pose, at.twist, at.acceleration, friction=False)).max()
    assert data["robot"] == "kim-ryu"
    assert data["within_limits"] is True
    assert data["limits"] == []
    assert len(data["actuators"]) == 6
    assert len(data["bearings"]) == 18
    assert (here / "there" / "report.html").is_file()
    assert data["summary"]["peak_force_N"] == pytest.approx(peak, rel=1e-14)
    assert polypod("run", "kim-ryu", "--certify-time", "0 s").exit_code == 2
    proven = polypod("run", "kim-ryu", "kim-ryu-circle", "--rate", 40, "--no-friction", "--out", "there")
    says(proven.stderr, "certify")


def test_a_motion_brings_its_robot(here):
    assert robot_and_motion(None, None) == ("hexapod", None)
    assert robot_and_motion("staicu-path", None) == ("staicu", "staicu-path")
    text = "name: turn\nrobot: kim-ryu\ntrajectory: {kind: published, name: kim-ryu-circle}\n"
    Path("turn.yaml").write_text(text)
    assert robot_and_motion("turn.yaml", None) == ("kim-ryu", "turn.yaml")
    Path("turn.yaml").write_text(text.replace("robot: kim-ryu\n", ""))
    with refused(MotionFileError, "robot"):
        robot_and_motion("turn.yaml", None)


def test_list_and_show(here):
    listed = polypod("list").stdout
    data = json.loads(polypod("list", "--json").stdout)
    assert {robot["name"] for robot in data["robots"]} == set(pp.library())
    for name in (*pp.library(), "kim-ryu-circle", "around-home", "PRPaR"):
        assert name in listed
    shown = polypod("show", "staicu", "--picture", "robot.png")
    assert shown.exit_code == 0
    for text in ("Mobility: 3 (y, z, theta)", "Gruebler-Kutzbach", "all legs", "section 4, L", "assumed"):
        assert text in shown.stdout
    assert Path("robot.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads(polypod("show", "kim-ryu", "--json", "--no-draw").stdout)
    assert data["picture"] is None
    assert data["mobility"]["gruebler_kutzbach"] == 6


def test_mobility_and_parameters():
    robot = pp.load("staicu")
    assert mobility(robot)["dof"] == ["y", "z", "theta"]
    # legs of bodies: 2 + 2 + 5 and the platform; joints 3 + 3 + 7 with degrees of freedom 4 + 4 + 7: 6 (10 - 13) + 15
    assert mobility(robot)["gruebler_kutzbach"] == -3
    # a cylindrical, a revolute and a universal joint in each of three legs of two bodies: 6 (7 - 9) + 15
    assert mobility(pp.Robot.model_validate(SMALL_MACHINES["3-CRU"](1)))["gruebler_kutzbach"] == 3
    listed = {p.path: p for p in parameters(robot)}
    assert listed["legs.*.length"].value == 0.4
    assert listed["legs.*.length"].unit == "m"
    assert listed["legs.2.half_width"].source.startswith("assumed")
    assert listed["legs.1.platform"].value == (0.0, 0.1, 0.0)
    assert describe(robot)["parameters_without_source"] == 0


def test_new_files_are_valid(here):
    assert polypod("new", "my-hexapod").exit_code == 0
    assert polypod("new", "lift", "--motion").exit_code == 0
    says(polypod("new", "turn", "--motion").stdout, "polypod check turn.yaml --robot ROBOT")
    failed(polypod("new", "lift"), "lift.yaml --force")
    Path("lab").mkdir()
    assert "Wrote lab/other.yaml" in polypod("new", "--kind", "hexapod", "lab/other.yaml").stdout.replace(os.sep, "/")
    assert "name: other\n" in Path("lab/other.yaml").read_text()
    assert re.search(r"# euler: ZYX .*default: ZYX", template("robot", "x"))
    assert re.search(r"# convention: ZYX .*default: euler of the robot file", template("motion", "x"))
    report = check("my-hexapod.yaml")
    assert report.ok
    assert not any("physically impossible" in remark for remark in report.remarks)
    checked = polypod("check", "lift.yaml", "--robot", "my-hexapod.yaml")
    assert checked.exit_code == 0, checked.stderr
    says(checked.stdout, "my-hexapod")
    ran = polypod("run", "my-hexapod.yaml", "lift.yaml", "--no-files", "--no-certify")
    assert ran.exit_code == 0
    assert "Fits: within all" in ran.stdout
    assert polypod("run", "my-hexapod.yaml", "--no-files", "--no-certify").exit_code == 0


BREAKS = [
    ("mass: 30.0", "mass: -30.0", "platform.mass", "0 -30"),
    ("mass: 30.0", "mas: 30.0", "platform.mas", "mas mass"),
    ("mass: 4.0", "mass: four", "leg_defaults.lower.mass", "four"),
    ("[0.7, 0.7, 1.35]", "[0.7, 0.7, 1.55]", "platform.inertia", "0.7 1.55"),
    ("kind: UPS", "kind: UPPS", "leg_defaults.kind", "UPPS UPS"),
    ("[0.45, 0.85]", "[0.85, 0.45]", "leg_defaults.length", "[0.85, 0.45]"),
    ("[0.0, 0.0, 0.6]", "[0.0, 0.0]", "home.position", "3"),
    ("0.978147601, 0.0]", "0.578147601, 0.0]", "legs.0.axis", "1"),
    ("  - base: [0.4891, -0.1040, 0.0]", "  - base: [0.4891 -0.1040, 0.0]", "legs.0.base", "3"),
    ("gravity:", "gravity", "", "YAML"),
    ("home:\n", "home\n", "", "YAML"),
    ("position: [0.0, 0.0, 0.6]", "position: [0.0, 0.0, .nan]", "home.position.2", "nan"),
    ("\nlegs:", "\nlegz:", "legz", "legz legs"),
    ("name: my-hexapod\n", "", "name", "required"),
    ("length: [0.45, 0.85]", "length: [0.45, 0.85]\n  length: [0.4, 0.9]", "leg_defaults.length", "line"),
]


@pytest.mark.parametrize(("old", "new", "field", "message"), BREAKS)
def test_a_broken_robot_file_is_explained(old, new, field, message, here):
    text = template("robot", "my-hexapod")
    assert text.count(old) >= 1, old
    broken = text.replace(old, new, 1)
    Path("robot.yaml").write_text(broken)
    result = polypod("check", "robot.yaml")
    assert result.exit_code == 2
    assert result.stdout == ""
    data = json.loads(polypod("check", "robot.yaml", "--json").stdout)
    fault = next(f for f in data["faults"] if f["field"] == field)
    says(fault["message"], message)
    assert fault["line"] is not None
    # the line shown is where the change was made, one after it (YAML finds out late), or where the mapping starts
    first = next(k for k, (a, b) in enumerate(zip(text.splitlines(), broken.splitlines(), strict=False), 1) if a != b)
    assert fault["line"] in (first, first + 1) or (message == "missing" and fault["line"] <= first)
    assert f"{fault['line']:4d} | " in result.stderr


def test_what_is_no_file_of_ours(here):
    Path("a.yaml").write_text("colour: red\n")
    failed(polypod("check", "a.yaml"), "a.yaml")
    Path("my-robot.yaml").write_text(template("robot", "x"))
    failed(polypod("check", "my-robt.yaml"), "my-robot.yaml")
    Path("b.yaml").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in polypod("check", "b.yaml").stderr
    assert polypod("check", "/").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rn"], "rn run"),
        (["run", "pedramehr"], "pedramehr pedrammehr"),
        (["run", "kim-ryu", "kim-ryu-cirle"], "kim-ryu-cirle kim-ryu-circle"),
        (["run", "--fricton"], "--friction"),
        (["run", "--rate", "fast"], "--rate"),
        (["run", "--rate", "-3"], "--rate 0 -3"),
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["run", "kim-ryu", "nowhere.yaml"], "nowhere.yaml"),
        (["run", "kim-ryu", "staicu-path"], "3 staicu"),
        (["run", "staicu", "kim-ryu-circle"], "y z theta"),
        (["show", "stewart"], "stewart"),
        (["show"], "robot"),
        (["export", "c", "kim-ryu", "jacobean"], "jacobean jacobian"),
        (["new", "../up"], "../up"),
    ],
)
def test_bad_input_is_refused_with_advice(arguments, message, here):
    result = polypod(*arguments)
    assert result.stdout == ""
    failed(result, message)
    assert list(here.iterdir()) == []


def test_every_command_explains_itself():
    names = [(name, "c") if name in WITH_SUBCOMMANDS else (name,) for name in COMMANDS]
    for name in names:
        result = polypod(*name, "--help")
        assert result.exit_code == 0
        assert "Example: polypod" in result.stdout, name
    output = " ".join(polypod("--help").stdout.replace("│", "").split())
    for name, words in COMMANDS.items():
        assert f"{name} {words}" in output
        assert load_command(name).help == words
    for group, commands in GROUPS.items():  # by purpose
        assert f"{group}: {next(iter(commands))} " in output


@pytest.mark.parametrize("argument", ["--version", "--help", "list"])
def test_what_needs_no_robot_loads_no_library(argument):
    """CasADi, SciPy and the like take a second to import; Typer itself brings Pydantic for what has options."""
    code = f"""
import sys, atexit
sys.argv = ["/somewhere/bin/polypod", "{argument}"]
from polypod.cli import main
heavy = {{"numpy", "scipy", "casadi", "xarray", "matplotlib", "llvmlite"}}
atexit.register(lambda: print("loaded:", *sorted(heavy & set(sys.modules))))
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown, _, loaded = done.stdout.rpartition("loaded:")
    assert shown.strip()
    assert loaded == "\n"
    assert "\x1b" not in done.stdout  # a pipe gets no decoration
    assert done.stderr == ""


def test_help_of_commands_loads_no_library():
    """Nor does completing their options: every command and its help, in one process."""
    code = """
import sys, contextlib, io
sys.argv = ["/somewhere/bin/polypod"]
from polypod.cli import COMMANDS, app, load_command
inner = [("export", name) for name in load_command("export").commands]
for words in [*((name,) for name in COMMANDS), *inner]:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        app([*words, "--help"], prog_name="polypod")
    assert "Usage: polypod " + " ".join(words) in text.getvalue(), words
    heavy = {"scipy", "casadi", "xarray", "pandas", "matplotlib", "llvmlite", "polypod.description"} & set(sys.modules)
    assert not heavy, (words, heavy)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_run_loads_neither_matplotlib_nor_a_writer_of_files(here):
    """Drawing its figures with Matplotlib took longer than all else."""
    code = """
import sys, atexit
sys.argv = ["/somewhere/bin/polypod", "run", "lopes", "--rate", "20", "--no-certify"]
from polypod.cli import main
heavy = {"matplotlib", "scipy.io", "distributed", "scipy.interpolate"}
atexit.register(lambda: print("loaded:", *sorted(heavy & set(sys.modules))))
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Results: " in done.stdout
    assert done.stdout.endswith("loaded:\n")


@pytest.mark.long
def test_a_program_that_imports_polypod():
    """Libraries at once, so that a first model is ready as soon as code on disk is loaded; all else on demand."""
    code = """
from polypod.description import LegData
print(*LegData.registry)
import sys, polypod as pp
print({"casadi", "llvmlite", "polypod.model"} <= set(sys.modules))
pp.plots.forces, pp.motion.make_task, pp.study, pp.tables.table, pp.view, pp.datasets.QUANTITIES, pp.files.load
pp.fastest.Limits, pp.design.sweep
print(pp.pose(z=0.5)[2, 3])
print(set(pp.__all__) <= set(dir(pp)) - {"sys", "escape"} == set(dir(pp)))
print([n for n in pp.__all__ if not hasattr(pp, n)])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kinds, loaded, height, *shown = done.stdout.splitlines()
    assert {"UPS", "PUS", "PRU", "PRPaR"} <= set(kinds.split())
    assert (loaded, height) == ("True", "0.5")
    assert shown == ["True", "[]"]
    with refused(AttributeError, "modle"):
        _ = pp.modle


def test_export_c_writes_two_files(here):
    result = polypod("export", "c", "kim-ryu", "inverse_kinematics", "--out", "fw")
    assert result.exit_code == 0
    assert sorted(p.name for p in Path("fw").iterdir()) == [
        "kim_ryu_inverse_kinematics.c",
        "kim_ryu_inverse_kinematics.h",
    ]
    failed(polypod("export", "c", "kim-ryu", "inverse_kinematics", "--out", "fw"), "--force")


_DRAWS_LONG = """
import time
from polypod.cli import main
from polypod.results.report import output
output.draw_figures = lambda *given: time.sleep(300)  # until the signal comes, however busy the machine is
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize(
    ("signal_", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
def test_interrupted_runs_leave_nothing(signal_, code, here):
    """Stopped while it writes; what was there before is still whole."""
    old = here / "out"
    old.mkdir()
    (old / "report.html").write_text("whole")
    process = subprocess.Popen(
        [sys.executable, "-c", _DRAWS_LONG, "run", "lopes", "--rate", "20", "--no-certify", "--out", "out", "--force"],
        stderr=subprocess.PIPE,
        text=True,
        # Tests started in the background by a shell ignore SIGINT, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not list(here.glob(".out-*.partial/forces.csv")):
        assert process.poll() is None, "it ended before it wrote anything"
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal_)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in stderr
    assert [p.name for p in here.iterdir()] == ["out"]
    assert (old / "report.html").read_text() == "whole"


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_an_interrupt_while_a_text_runs_ends_with_the_code_of_interrupts(here):
    (here / "interrupted.py").write_text(
        "import polypod.cli as cli\ncli.app = lambda prog_name: exec('raise KeyboardInterrupt')\ncli.main()\n"
    )
    assert subprocess.run([sys.executable, "-m", "interrupted"], check=False).returncode == 130


def test_robot_and_motion_the_wrong_way_round(here):
    assert polypod("new", "lift", "--motion").exit_code == 0
    result = polypod("run", "lift.yaml", "kim-ryu-circle")
    assert result.exit_code == 2
    says(result.stderr, "motion")
    says(result.stderr, "ROBOT MOTION")


def test_a_pose_turned_by_ten_radians_is_asked_about(here):
    assert polypod("new", "lift", "--motion").exit_code == 0
    text = (here / "lift.yaml").read_text().replace("5 deg, 0.0, 0.0", "10, 0.0, 0.0")
    (here / "lift.yaml").write_text(text)
    result = polypod("check", "lift.yaml")
    assert result.exit_code == 2
    says(result.stderr + result.stdout, "10 deg")


def test_suspended_robots_are_said_to_be() -> None:
    names = ("cogiro", "ipanema", "cable-camera")
    closed = {name: describe(pp.load(name))["cables"]["wrench_closure_at_home"] for name in names}
    assert closed == {"cogiro": False, "ipanema": True, "cable-camera": False}
    assert "cables" not in describe(pp.load("hexapod"))
