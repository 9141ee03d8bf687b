"""Names, paths and files made to hurt: nothing leaves its folder, nothing is lost, nothing damaged passes unsaid."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import polypod as pp
from polypod.cli.frame import report_errors
from polypod.cli.run import results_folder
from polypod.cli.user_modules import load_module
from polypod.control import Reference
from polypod.datasets import load_result, save_result
from polypod.errors import InputError, RobotFileError, StateError
from polypod.exchange import import_robot
from polypod.export.code import identifier
from polypod.files.settings import parse_setting
from polypod.files.templates import template
from polypod.formulations import newton_euler
from polypod.identification import Log
from polypod.identification.logs import checked
from polypod.legs.chain.place import UnknownCoordinates
from polypod.motion import loads_motion, make_task
from polypod.output import atomic
from polypod.output.atomic import atomic_write, clear_leftovers, partial_prefix
from polypod.output.safe_names import LONGEST, file_name
from polypod.results import study
from polypod.results.figures import robot_picture
from polypod.results.figures.picture import write_picture
from polypod.results.report import FILES, atomic_folder
from polypod.tables import table
from support.command_line import polypod
from support.refusals import failed, refused, says, warned

RIGID = template("robot", "mine")
NAMES = [
    "../../../escaped", "/abs/path", "..", ".", "", "a/b", "a\\b", "x" * 300, "\u0421\u0438" * 60, "CON", "nul.txt",
    "-rf", "~root", "a\x00b", "a b", "$x$", ".hidden", "e\u0301", "\U0001f916", "a:b", "a*b?", "a\nb",
]  # fmt: skip


# -- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_one_file_below_its_folder(name, tmp_path):
    safe = file_name(name)
    assert len(safe.encode()) <= LONGEST
    assert (tmp_path / safe).resolve().parent == tmp_path.resolve()
    (tmp_path / safe).write_text("x")
    assert os.listdir(tmp_path) == [safe]
    assert ".." not in results_folder(name, name).parts
    assert not results_folder(name, name).is_absolute()


def test_long_names_that_differ_at_their_end_stay_apart():
    assert file_name("x" * 300 + "a") != file_name("x" * 300 + "b")


@pytest.mark.parametrize("name", [r'"a\x1b[31mb"', r'"a\0b"', r'"a\u202eb"', r'"a\nb"', "x" * 300, r'"a\x9bb"'])
def test_names_that_steer_a_terminal_are_faults_with_their_line(name):
    with pytest.raises(RobotFileError) as caught:
        pp.loads(RIGID.replace("name: mine", f"name: {name}", 1))
    (fault,) = caught.value.faults
    assert fault.field == "name"
    assert fault.line is not None
    assert len(str(fault)) < 200
    assert "\x1b" not in str(fault)


def test_a_cell_is_no_formula():
    text = table("Forces", [("leg", ""), ("=1+1", "N")], [("@SUM(A1)", -2.5), ("-x", 1.0)]).csv()
    header, first, second = csv.reader(io.StringIO(text))
    assert header == ["leg", "'=1+1 [N]"]
    assert first == ["'@SUM(A1)", "-2.5"]  # numbers are numbers
    assert second[0] == "'-x"


@pytest.mark.parametrize("name", ["6-ups", "a.b", "*/ int x;", "", "\u0421\u0438\u043d\u0438\u0439", "int"])
def test_c_functions_have_names_that_c_takes(name):
    assert identifier(f"{name}_jacobian").isidentifier()
    assert identifier(f"{name}_jacobian").isascii()


@pytest.mark.parametrize("name", [r"$\frac$", "<b>&"])
def test_a_name_of_any_markup_is_drawn(name, tmp_path):
    robot = pp.loads(RIGID.replace("name: mine", f"name: '{name}'", 1))
    write_picture(tmp_path / "robot.png", robot_picture, robot)
    assert (tmp_path / "robot.png").stat().st_size > 1000


def test_a_name_in_brackets_is_one_symbol():
    """CasADi makes a vector of a symbol named '[a,b]': a joint of such a name was a traceback."""
    unknowns = UnknownCoordinates()
    unknowns.angle("[a,b]")
    unknowns.length("[bold]x[/]")
    unknowns.rotation("[")
    assert [part.numel() for part in (*unknowns.place, *unknowns.move)] == [1, 1, 1, 9, 1, 1, 3]
    assert unknowns.labels[:2] == [("[a,b]", False), ("[bold]x[/]", True)]


# -- files that are there already -------------------------------------------------------------------------------------


def test_a_picture_that_is_named_is_replaced_with_force_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim.png"
    victim.write_bytes(b"mine")
    refused = polypod("show", "five-bar", "--picture", victim)
    assert refused.exit_code == 2
    failed(refused, "victim.png --force")
    assert victim.read_bytes() == b"mine"
    assert polypod("show", "five-bar", "--picture", victim, "--force").exit_code == 0
    for _ in range(2):  # one below polypod's own folder is replaced
        assert polypod("show", "five-bar").exit_code == 0


def test_force_deletes_only_what_is_listed(tmp_path):
    target = tmp_path / "results"
    with atomic_folder(target, False, FILES) as folder:
        (folder / "figures").mkdir()
        (folder / "figures" / "forces.png").write_bytes(b"png")
        (folder / "report.html").write_text("whole")
    (target / "figures" / "mine.png").write_bytes(b"foreign")
    with (
        refused(InputError, "figures/mine.png", code="foreign_file"),
        atomic_folder(target, True, FILES),
    ):
        pass
    assert (target / "figures" / "mine.png").read_bytes() == b"foreign"
    (target / "figures" / "mine.png").unlink()
    with atomic_folder(target, True, FILES) as folder:
        (folder / "report.html").write_text("new")
    assert sorted(p.name for p in target.iterdir()) == ["checksums.txt", "report.html"]
    listed = (target / "checksums.txt").read_text().split()
    assert listed[1] == "report.html"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_pipes_and_devices_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with refused(RobotFileError, code="not_a_file"):
        pp.load(tmp_path / "pipe.yaml")
    with refused(InputError, code="not_a_file"):
        atomic_write(tmp_path / "pipe.yaml", b"x")


def test_a_fault_of_a_pipe_is_printed_without_reading_it(tmp_path):
    """'polypod check /dev/zero' read it to quote its lines."""
    os.mkfifo(tmp_path / "pipe")
    output = polypod("check", tmp_path / "pipe")
    assert output.exit_code == 2
    assert "pipe" in " ".join(output.stderr.split())


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_what_is_written_keeps_to_the_umask(tmp_path):
    old = os.umask(0o077)
    try:
        atomic_write(tmp_path / "file", b"x")
        with atomic_folder(tmp_path / "folder", False, FILES) as folder:
            (folder / "report.html").write_text("x")
    finally:
        os.umask(old)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o700


# -- what killed processes leave ---------------------------------------------------------------------------------------


def test_left_overs_of_processes_that_are_gone_are_cleared(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    name = partial_prefix("results").replace(f"-{os.getpid()}-", f"-{gone.pid}-")
    (tmp_path / f"{name}abc.partial" / "figures").mkdir(parents=True)
    (tmp_path / f"{partial_prefix('results')}abc.partial").mkdir()  # of this process, which runs
    (tmp_path / ".results-other.partial").mkdir()  # not ours
    (tmp_path / f"{name}abc.old").mkdir()
    (tmp_path / f"{name}abc.old" / "report.html").write_text("before")
    clear_leftovers(tmp_path / "results")
    left = sorted(entry.name for entry in tmp_path.iterdir())
    assert left == sorted([f"{partial_prefix('results')}abc.partial", ".results-other.partial", "results"])
    assert (tmp_path / "results" / "report.html").read_text() == "before"  # set aside and never replaced


def test_processes_are_not_asked_where_that_would_interrupt_them(tmp_path, monkeypatch):
    """Signal 0 is Ctrl-C on Windows: there left-overs go by their age, as those of other machines do."""
    monkeypatch.setattr(atomic, "_CAN_ASK", False)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("a process was signalled"))
    fresh, old = (tmp_path / f"{partial_prefix('results')}{name}.partial" for name in ("fresh", "old"))
    for entry in (fresh, old):
        entry.mkdir()
    os.utime(old, (0.0, 0.0))
    clear_leftovers(tmp_path / "results")
    assert [*tmp_path.iterdir()] == [fresh]


_WRITES = """
import sys, time
from pathlib import Path
from typing import Any
from polypod import cli
from polypod.results.report import atomic_folder

def slow():
    with atomic_folder(Path(sys.argv[1]), False, ()) as folder:
        (folder / "half").write_text("half")
        print("writing", flush=True)
        time.sleep(60)

cli.app = lambda prog_name: slow()
cli.main()
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no terminals to hang up here")
def test_a_closed_terminal_leaves_nothing(tmp_path):
    # a test run that is itself detached ignores the signal, and its children would too
    usual = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    child = subprocess.Popen([sys.executable, "-c", _WRITES, tmp_path / "out"], stdout=subprocess.PIPE)
    signal.signal(signal.SIGHUP, usual)
    assert child.stdout is not None
    child.stdout.readline()
    started = time.monotonic()
    child.send_signal(signal.SIGHUP)
    assert child.wait(timeout=30) == 128 + signal.SIGHUP
    assert time.monotonic() - started < 5.0
    assert os.listdir(tmp_path) == []


# -- damaged results ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    model = pp.Model("lopes")
    path = tmp_path_factory.mktemp("results") / "results.nc"
    return save_result(study(model, make_task(model, rate=20.0), certify=False), path)


def test_a_result_comes_back_as_it_was(saved):
    result = load_result(saved)
    assert "sha256" not in result.attrs
    again = saved.with_name("again.nc")
    save_result(result, again)
    assert load_result(again).identical(result)


def test_cut_off_and_flipped_results_say_so(saved, tmp_path):
    """One flipped bit in each of 30 places: unnoticed in padding alone, which holds nothing."""
    content, path = saved.read_bytes(), tmp_path / "damaged.nc"
    original = load_result(saved)
    for length in (0, 3, 100, len(content) // 2, len(content) - 200):
        path.write_bytes(content[:length])
        with refused(InputError, code="damaged"):
            load_result(path)
    noticed = 0
    for place in np.random.default_rng(0).integers(0, len(content), 30).tolist():
        flipped = bytearray(content)
        flipped[place] ^= 1 << (place % 8)
        path.write_bytes(flipped)
        try:
            same = load_result(path).identical(original)
        except InputError:
            noticed += 1
        else:
            assert same, place
    assert noticed > 25


# -- numbers and arrays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1e300", "1.7e308", "-1e16"])
def test_numbers_too_large_to_count_with_are_faults(number):
    with refused(RobotFileError, "com 1e+15"):
        pp.loads(RIGID.replace("com: [0.0, 0.0, 0.02]", f"com: [0.0, 0.0, {number}]", 1))


def test_a_rate_beyond_all_samples_is_refused():
    trajectory = loads_motion(
        "{name: up, trajectory: {kind: coordinates, path: {kind: line, start: 0, end: 0.1, duration: 2}}}"
    ).trajectory
    with refused(InputError, "rate 1e+300 2e+300 2000000"):
        Reference(trajectory, 1e300)


def test_masked_numbers_are_not_taken_for_numbers():
    model, twist = pp.Model("hexapod"), np.zeros(6)
    masked = np.ma.masked_array(np.zeros(6), mask=[0, 0, 1, 0, 0, 0])
    with refused(InputError, "twist", code="masked"):
        model.rates(model.robot.home.matrix, masked)
    assert np.array_equal(model.rates(model.robot.home.matrix, np.ma.masked_array(twist)), np.zeros(6))


SLIPS = {
    "gravity in mm/s^2": ("gravity: [0.0, 0.0, -9.81]", "gravity: [0.0, 0.0, -9810]", "gravity -9.81"),
    "platform in g": ("mass: 50.0", "mass: 50000", "platform.mass 50"),
    "friction coefficient": ("{viscous: 100.0}", "{coulomb: 5}", "coulomb 5"),
    "viscous friction": ("{viscous: 100.0}", "{viscous: 1e9}", "viscous"),
    "drag": ("{viscous: 100.0}", "{drag: 1e9}", "drag"),
    "rotor": ("rotor_mass: 30.0", "rotor_mass: 1e9", "rotor_mass 1e9"),
    "cross": ("rotor_mass: 30.0", "cross_inertia: 1e9", "cross_inertia 1e9"),
    "length": ("length: [0.37, 0.53]", "length: [-0.37, 0.53]", "length -0.37 0"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_numbers_beyond_anything_built_are_remarked_on(slip):
    from polypod.files.robot_files import _source

    old, new, expected = SLIPS[slip]
    text, _ = _source("hexapod")
    assert old in text
    with warned(pp.errors.ImplausibleWarning, expected):
        pp.loads(text.replace(old, new, 1))


@pytest.mark.parametrize("name", ["x" * 300, "x" * 20_000, "a\x00b"])
def test_names_that_no_file_has_are_unknown_names(name):
    with pytest.raises(pp.errors.PolypodError) as caught:
        pp.load(name)
    assert len(str(caught.value)) < 25_000  # not an OSError


def test_a_motion_for_a_robot_of_a_long_name_is_a_fault_with_its_line():
    with refused(pp.errors.MotionFileError, "2 robot 1000"):
        loads_motion(f"name: m\nrobot: {'x' * 20_000}\ntrajectory: {{kind: published, name: kim-ryu-circle}}\n")


@pytest.mark.parametrize("long", ["x" * 20_000, "x " * 10_000], ids=["word", "words"])
def test_no_fault_quotes_a_file_at_length(long):
    """Whatever the message: what must stand there stays readable, and so does the end."""
    with pytest.raises(pp.errors.MotionFileError) as caught:
        loads_motion(f"name: m\nrobot: lopes\ntrajectory: {long}\n")
    (fault,) = caught.value.faults
    assert fault.line == 3
    says(fault.message, "kind axis coordinates")
    assert len(str(fault)) < 2100


@pytest.mark.parametrize("given", [[1.0], {3: 1.0}, "platform.mass"])
def test_designs_are_a_mapping_of_names(given):
    """An AttributeError before."""
    model, still = pp.Model("lopes"), np.zeros(6)
    with refused(InputError, "parameters platform.mass"):
        model.inverse_dynamics(model.robot.home.matrix, still, still, parameters=given)


def test_numbers_of_designs_are_as_large_as_those_of_files():
    """A platform of 1e300 kg had forces of 1e300 N without a word."""
    model, still = pp.Model("lopes"), np.zeros(6)
    with refused(pp.errors.StateError, "platform.mass 1e+15"):
        model.inverse_dynamics(model.robot.home.matrix, still, still, parameters={"platform.mass": 1e300})


def test_import_says_that_a_pipe_is_no_file(tmp_path):
    """Before: that there is no such file."""
    os.mkfifo(tmp_path / "robot.xml")
    with refused(InputError, code="not_a_file"):
        import_robot(tmp_path / "robot.xml")


def test_no_command_makes_a_path_of_a_name_as_it_is():
    """A path with a robot's or motion's name in it goes through file_name."""
    folder = Path(pp.__file__).parent / "cli"
    for path in sorted(folder.glob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "Path(" in line and ".name}" in line:
                raise AssertionError(f"{path.name}: {line.strip()}")


def test_a_long_text_is_not_quoted_whole():
    with pytest.raises(RobotFileError) as caught:
        pp.loads(RIGID.replace("com: [0.0, 0.0, 0.02]", f"about: {'x' * 20_000}\n  com: [0.0, 0.0, 0.02]", 1))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "ending", ["import sys; sys.exit(0)", "raise BaseException('no')", "raise ValueError('no' * 9999)"]
)
def test_a_module_that_ends_is_an_error_with_its_line(ending, tmp_path):
    """sys.exit(0) in a file of --with ended the command without a word, and well."""
    path = tmp_path / "mine.py"
    path.write_text(f"# mine\n{ending}\n")
    with refused(InputError, "mine.py 2") as caught:
        load_module(path)
    assert len(str(caught.value)) < 400


def test_numbers_have_no_marks_within():
    """1_000 is a text of YAML 1.2 and was 1000 kg."""
    with refused(RobotFileError, "1_000"):
        pp.load("five-bar", dict([parse_setting("platform.mass=1_000")]))


@pytest.mark.parametrize("error", [MemoryError("16 TiB"), OSError(36, "File name too long", "x" * 5000)])
def test_what_the_machine_refuses_is_a_sentence(error, capsys):
    @report_errors
    def command() -> None:
        raise error

    with pytest.raises(typer.Exit):
        command()
    message = capsys.readouterr().err
    assert "error: " in message
    assert len(message) < 400


URDF = """<robot name="r"><link name="base"/><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            URDF.replace('<link name="base"/>', '<link name="base"/><link name="a"/>'),
            {},
            "link a",
        ),
        (URDF, {"at": {"j": 1e300}}, "loops"),
    ],
)
def test_imports_refuse_what_they_cannot_mean(text, options, message, tmp_path):
    """Of two links of one name the last was taken; 1e300 rad were followed in steps of 0.1 rad."""
    path = tmp_path / "r.urdf"
    path.write_text(text)
    with refused(InputError, message):
        import_robot(path, platform="a", actuated=("j",), **options)


LOG = {"time": np.arange(100) * 0.01, "q": np.cos(np.arange(200.0)).reshape(100, 2)}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"force": np.full((100, 2), 1e308)}, "log.csv 1e+15 1e+308"),
        ({"time": LOG["time"] * 1e9}, "log.csv 1e+07"),
    ],
)
def test_logs_beyond_any_machine_are_refused(changed, message):
    """The one ended in a traceback of linear algebra, the other in a robot file of nothing."""
    with refused(InputError, message):
        checked(Log(**{**LOG, "force": np.ones((100, 2)), "name": "log.csv", **changed}))


def test_a_force_that_never_changes_is_no_force():
    """Without noise it was trusted without bound: errors of the others became 2e6 N m."""
    force = np.sin(np.arange(200.0)).reshape(100, 2)
    force[:, 0] = 1e-320
    log = checked(Log(**LOG, force=force, name="log.csv"), ("right", "left"))
    assert any(text.startswith("forces of right are constant in the whole log") for text in log.notes)
    assert not log.good[:, 0].any()
    assert log.good[:, 1].all()


@pytest.mark.parametrize("size", [1e200, 1e308])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_states_beyond_counting_are_states_without_an_answer(which, size, model_of):
    """Twist, acceleration or wrench: friction was claimed to have one solution, proven, or linear algebra raised."""
    model, state = model_of("kim-ryu"), [np.zeros(6), np.zeros(6), np.zeros(6)]
    state[which] = np.full(6, size)
    with refused(StateError, code="overflow"):
        model.inverse_dynamics(model.robot.home.matrix, *state)
    found = model.error_bound("inverse_dynamics", model.robot.home.matrix, *state)
    assert np.isinf(found.bound["force"])
    assert found.digits == 0


def test_free_bodies_of_a_home_nearly_out_of_reach_are_analysed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where legs close very near to home only, an accepted call ended in 'no pose near home closes'."""
    near = newton_euler.closed_around_home

    def closed(mechanism: Any, count: int, reach: float, seed: int = 0) -> Any:
        return [] if reach > 0.05 else near(mechanism, count, reach, seed)

    monkeypatch.setattr(newton_euler, "closed_around_home", closed)
    model = pp.Model(pp.load("five-bar", {"platform.mass": 0.3125}))
    pose, still = model.robot.home.matrix, np.zeros(6)
    acceleration = model.motion(np.zeros(2), np.zeros(2), np.array([0.3, -0.2])).acceleration
    forces = [
        model.inverse_dynamics(pose, still, acceleration, friction=False, formulation=formulation)
        for formulation in ("newton-euler", "virtual-power")
    ]
    assert np.allclose(*forces, rtol=1e-9, atol=0)
    monkeypatch.setattr(newton_euler, "closed_around_home", lambda *_: [])
    with refused(InputError, "virtual-power", code="does_not_close"):
        pp.Model(pp.load("five-bar", {"platform.mass": 0.375})).inverse_dynamics(
            pose, still, acceleration, friction=False, formulation="newton-euler"
        )
