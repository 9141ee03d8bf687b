"""Commands, logs, calibrations, stores and studies made to hurt: each is an error in words, before the work is done."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from polypod.analysis.workspace import dexterous, full_workspace
from polypod.cli import app
from polypod.design import optimise as optimising
from polypod.design.optimise import optimise
from polypod.design.sensitivity import sobol
from polypod.design.sweep import Store
from polypod.errors import InputError, MotionFileError
from polypod.files import loads
from polypod.files.templates import template
from polypod.files.templates.sizes import DEFAULTS, robot_text
from polypod.identification import Log, Measurements, calibrate, excite
from polypod.identification.calibrate import check_uncertainty
from polypod.identification.logs import checked
from polypod.identification.prepared import milliseconds_hint, prepared
from polypod.motion import loads_motion
from polypod.motion.tables import read_cells
from polypod.results.figures.picture import write_picture
from polypod.results.figures.style import figure
from support.refusals import refused, says

NOBODY: Any = None
"""In the place of what must not be looked at before the error."""


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command; 1 is a traceback."""
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.output


# -- robots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("up", "hangs"), [(-9.81, False), (9.81, True)])
def test_gravity_that_points_from_base_to_platform_is_said(up: float, hangs: bool) -> None:
    """A sign that is wrong cannot be told from a robot at the ceiling: whoever reads it knows."""
    code, said = run("check", "hexapod", "--set", f"gravity=[0, 0, {up}]")
    assert code == 0
    assert ("hangs below its base" in said) is hangs


# -- logs and calibrations --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.6, -0.6, 1e300, np.nan])
def test_forces_are_late_by_less_than_half_a_log(delay: float) -> None:
    """Beyond the log's end its last force was taken for all."""
    log = Log("log.csv", np.linspace(0.0, 1.0, 100), np.ones((100, 6)), np.ones((100, 6)))
    with refused(InputError, "delay 1"):
        prepared(NOBODY, log, delay=delay)


def test_times_in_milliseconds_are_known_by_the_forces() -> None:
    """In s nothing moves: the file gives the weight alone, of which forces at a thousand times the rates are more."""
    time = np.linspace(0.0, 1.0, 200)[:, None]
    weight, moving = np.full((200, 2), 40.0), 30.0 * np.sin(7.0 * time + np.array([0.0, 1.0]))
    assert milliseconds_hint(weight + moving, weight, weight + moving).startswith(
        "times seem to be in ms: with ms the file"
    )
    assert milliseconds_hint(weight + moving, weight + moving, weight) == ""
    assert (
        milliseconds_hint(weight + moving, weight + 0.9 * moving, weight + moving) == ""
    )  # a file that is nearly right


@pytest.mark.parametrize("kind", ["position", "pose"])
def test_places_far_from_a_robot_are_in_other_units(kind: Any, model_of: Any) -> None:
    """Places in mm, 80 m and more from a robot of 0.3 m, gave a robot of that size."""
    model = model_of("hexapod")
    measured = np.zeros((5, 6 if kind == "pose" else 3))
    measured[:, :3] = 1e3 * np.array(model.robot.home.position)
    data = Measurements(kind, np.ones((5, 6)), measured)
    with refused(InputError, "measurements 399.6 0.4"):
        calibrate(model, data)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        *((wrong, "1e-09 m") for wrong in (-1e-3, 0.0, np.nan, 1e-300)),
        (5.0, "0.005 5 mm"),
    ],
)
def test_an_uncertainty_is_a_length_within_the_robot(value: float, said: str, model_of: Any) -> None:
    with refused(InputError, said):
        check_uncertainty(model_of("hexapod"), value)


def test_a_log_in_which_no_force_changes_measures_nothing() -> None:
    """It ended in a traceback of linear algebra."""
    rng = np.random.default_rng(0)
    log = Log("log.csv", np.arange(200) * 0.01, rng.normal(size=(200, 6)), np.zeros((200, 6)))
    with refused(InputError, "log.csv force"):
        checked(log)


@pytest.mark.parametrize(
    ("option", "value"), [("--anchor", "1e300 0 0"), ("--tool", "0 0 -1e16"), ("--uncertainty", "1e300")]
)
def test_numbers_of_options_are_as_large_as_those_of_files(option: str, value: str) -> None:
    """A ball at 1e300 m was a traceback."""
    code, said = run("calibrate", "hexapod", "--plan", "2", option, value)
    assert code == 2
    says(" ".join(said.split()), "1e+15")


def test_excitations_have_rates_that_files_have(model_of: Any) -> None:
    with refused(InputError, "rate 1e+15 1e+300"):
        excite(model_of("hexapod"), rate=1e300)


@pytest.mark.parametrize("command", ["identify", "calibrate", "excite"])
@pytest.mark.parametrize("target", [".", "taken.yaml"])
def test_where_results_go_is_asked_before_the_work(
    command: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, or a file that is there: an error, not a traceback, and not after minutes of computing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"polypod.identification.{command}", None)  # whoever calls it fails
    (tmp_path / "taken.yaml").write_text("mine")
    code, said = run(command, "hexapod", *(() if command == "excite" else ("nothing.csv",)), "--out", target)
    assert code == 2
    assert "is a folder" in said if target == "." else "exists; add --force" in said
    assert (tmp_path / "taken.yaml").read_text() == "mine"


def test_an_excitation_stays_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot's name led it anywhere."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    Path("mine.yaml").write_text(template("robot", "mine").replace("name: mine", "name: ../../escaped"))
    taken = tmp_path / "escaped-excitation.yaml"
    taken.write_text("mine")
    motion = SimpleNamespace(robot="../../escaped", title="")
    base = SimpleNamespace(names=(), units=(), count=0)
    found = SimpleNamespace(
        motion=motion, base=base, deviations=(), invisible=(), log_determinant=0.0, condition=1.0, noise=1.0, rate=1.0,
        tried=1, limits="within all limits", period=1.0, shown=lambda time=None: 0,
    )  # fmt: skip
    monkeypatch.setattr("polypod.identification.excite", lambda *a, **k: found)
    monkeypatch.setattr("polypod.motion.files.dumps_motion", lambda motion: "text")
    assert run("excite", "mine.yaml", "--force")[0] == 0
    assert taken.read_text() == "mine"
    assert [path.name for path in inner.glob("*excitation.yaml")]


# -- studies and stores -----------------------------------------------------------------------------------------------


def test_a_store_that_is_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    """Its results were written where the link pointed."""
    pytest.importorskip("zarr")
    (tmp_path / "store").symlink_to(tmp_path / "nowhere")
    with refused(InputError, code="broken_link"):
        Store(tmp_path / "store", NOBODY, NOBODY)
    assert not (tmp_path / "nowhere").exists()


def test_designs_beyond_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with refused(InputError, "count 1099511627776 4398046511104"):
        sobol(SimpleNamespace(bounds=[(0, 1), (0, 1)]), 2**40)  # type: ignore[arg-type]
    study = SimpleNamespace(minimise=("peak force",), vary=())
    monkeypatch.setattr(optimising, "prepare", lambda *given: (SimpleNamespace(study=study), None))
    with refused(InputError, "population 1000000000000"):
        optimise("study.yaml", population=10**12)


@pytest.mark.parametrize("points", [1000, 200])
def test_grids_beyond_memory_and_days_are_refused(points: int, model_of: Any) -> None:
    """A thousand points of six coordinates took all of the machine's memory."""
    with refused(InputError, "points"):
        full_workspace(model_of("hexapod"), points, dict.fromkeys(("x", "y", "z", "roll", "pitch", "yaw"), (-0.1, 0.1)))


def test_counts_and_angles_of_workspaces_are_named_as_they_were_given() -> None:
    says(run("workspace", "hexapod", "--full", "0")[1], "--full 2 0")
    with refused(InputError, "pi rad -0.0872665"):
        dexterous(NOBODY, np.radians(-5.0))


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e300, np.inf, np.nan, 0.0, -1.0, 2e9])
def test_sizes_of_a_new_robot_can_be(value: float) -> None:
    """1e300 m ended in a traceback, as squares of it are no number."""
    with refused(InputError, "arm 0 1e+09"):
        robot_text("delta", "mine", {"arm": value})


def test_a_header_as_long_as_a_book_is_none(tmp_path: Path) -> None:
    """Python's reader of CSV files takes 131,072 letters a cell, and raises its own error beyond."""
    path = tmp_path / "table.csv"
    path.write_text("time," + "x" * 200_000 + "\n0,0\n1,1\n")
    with refused(MotionFileError, "header") as error:
        read_cells(path)
    assert error.value.faults[0].line == 1
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("values", ["3.0", "[1, 2]", "2 kN", "[]", "[[]]"])
def test_wrenches_that_are_no_rows_are_faults(values: str) -> None:
    """One number in the place of a table of wrenches was a traceback."""
    text = template("motion", "mine").split("\nwrench")[0]
    with refused(MotionFileError, "wrench"):
        loads_motion(f"{text}\nwrench: {{kind: table, times: [0, 1], values: {values}}}\n")


def test_two_faults_of_which_one_hides_what_is_meant_are_two_faults() -> None:
    """A field misspelt was looked for in a wrench without values too, which raised while the fault was written."""
    text = template("motion", "mine").split("\nwrench")[0].replace("time: ", "tie: ", 1)
    with pytest.raises(MotionFileError) as error:
        loads_motion(f"{text}\nwrench: {{times: [0, 1]}}\n")
    said = [str(fault) for fault in error.value.faults]
    assert any("tie" in text for text in said)
    assert any("one of value, values or csv is needed" in text for text in said)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "txt", "yaml", ""])
def test_no_picture_replaces_a_file_unasked(ending: str, tmp_path: Path) -> None:
    """Pictures of assembly modes, stiffness and uncontrolled motions replaced anything."""
    victim = tmp_path / f"victim.{ending}"
    victim.write_bytes(b"mine")
    with refused(InputError, "force", code="exists"):
        write_picture(victim, figure, 1.0, 1.0)
    assert victim.read_bytes() == b"mine"
    write_picture(victim, figure, 1.0, 1.0, force=True)
    assert victim.stat().st_size > 100


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("modes", "hexapod", "--picture", "victim.png"), marks=pytest.mark.long),
        pytest.param(("stiffness", "hexapod", "--drive", "20 N/um", "--map", "victim.png"), marks=pytest.mark.long),
        ("check", "delta", "--draw", "victim.png"),
    ],
    ids=lambda words: str(words[0]),
)
def test_pictures_of_commands_are_no_exception(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("victim.png").write_bytes(b"mine")
    code, said = run(*words)
    assert code == 2
    says(said, "victim.png --force")
    assert Path("victim.png").read_bytes() == b"mine"
    assert run(*words, "--force")[0] == 0
    assert Path("victim.png").read_bytes().startswith(b"\x89PNG")


# -- files made from sizes --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::polypod.errors.ImplausibleWarning")
@pytest.mark.parametrize("kind", DEFAULTS)
@pytest.mark.parametrize("count", [2, pytest.param(300, marks=pytest.mark.long)])
def test_robots_of_any_sizes_are_valid(kind: str, count: int) -> None:
    """Moments rounded one by one broke the triangle inequality for one in three radii of full precision."""
    rng = np.random.default_rng(count)
    for _ in range(count):
        scale = 10 ** rng.uniform(-2.0, 1.0)
        sizes = {
            key: value * rng.uniform(0.8, 1.25) * (1.0 if key.endswith(("mass", "angle")) else scale)
            for key, value in DEFAULTS[kind].items()
        }
        robot = loads(robot_text(kind, "any", sizes))
        disc = 0.25 * sizes["mass"] * sizes["platform_radius"] ** 2
        assert np.allclose(np.diag(robot.platform.inertia), [disc, disc, 2 * disc], rtol=1e-8, atol=0)
