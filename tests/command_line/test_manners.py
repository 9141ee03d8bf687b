"""Manners: short words for objects, names by attribute, leg kinds of one's own on the command line, schemas, shells."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import typer

import polypod as pp
from polypod.cli import COMMANDS, app, load_command
from polypod.cli.complete import (
    COMPLETED,
    complete_coordinate,
    complete_either,
    complete_motion,
    complete_path,
    complete_robot,
    complete_setting,
)
from polypod.description import LegData
from polypod.description.quantities import Direction
from polypod.errors import RobotFileError
from polypod.file_kinds import schema
from polypod.files.documents import parse
from polypod.files.settings import parse_setting
from polypod.files.templates import template
from polypod.legs import Leg
from polypod.motion import make_task
from polypod.tables import table
from support.command_line import polypod
from support.refusals import failed, refused, says

SOURCE = Path(pp.__file__).parent
ROOT = Path(__file__).parent.parent.parent


# -- words for objects -------------------------------------------------------------------------------------------------


def test_objects_are_printed_in_a_line():
    robot = pp.load("hexapod")
    assert repr(robot) == str(robot) == "Robot('hexapod': 6 UPS legs, 6 degrees of freedom, platform 50 kg)"
    assert repr(pp.load("staicu")) == "Robot('staicu': 3 PRU/PRPaR legs, 3 degrees of freedom, platform 8.157 kg)"
    task = make_task(pp.Model("kim-ryu"), rate=100.0)
    assert repr(task) == "Task('kim-ryu-circle': 1.5 s, 151 samples)"
    result = pp.study("kim-ryu", task, certify=False)
    assert len(repr(result)) < 4000
    drives = table("Drives", [("leg", ""), ("peak force", "N")], [("leg1", 12.5), ("leg10", 120.0)])
    assert repr(drives) == "Table('Drives': 2 rows of leg, peak force [N])"
    assert str(drives) == "Drives\nleg    peak force\n                N\nleg1         12.5\nleg10         120"


def test_notebooks_get_html_with_names_escaped():
    marked = table("A <b>", [("leg", "")], [("<script>",)], "c & d")
    shown = marked._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "c &amp; d" in shown
    for thing in (pp.load("kim-ryu"), pp.Model("kim-ryu")):
        assert thing._repr_html_().startswith("<iframe")  # the live page


def test_rounding_is_no_number_and_units_are_those_of_people():
    columns = [("a", ""), ("peak power", "W"), ("braking power", "W"), ("f", "N"), ("moment", "N m"), ("stroke", "m")]
    numbers = table("T", columns, [("x", 30.0, 8.6e-17, 500.0, 3.4e-8, 0.0802)])
    assert numbers.texts()[0] == ["x", "30", "0", "500", "0", "0.0802"]
    shown = numbers.practical()
    assert shown.columns[-1].header == "stroke [mm]"
    assert shown.texts(3)[0][-1] == "80.2"
    limits = table("L", [("worst value", ""), ("unit", "")], [(0.5, "m"), (1.0, "rad")])
    assert limits.practical().texts(3) == [["500", "mm"], ["57.3", "deg"]]
    assert numbers.csv().splitlines()[1] == "x,30.0,8.6e-17,500.0,3.4e-08,0.0802"  # data stay what they are


def test_python_dash_m():
    done = subprocess.run([sys.executable, "-m", "polypod", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == pp.__version__


# -- own leg kinds -----------------------------------------------------------------------------------------------------


def test_leg_kinds_of_a_file_of_ones_own(tmp_path):
    """A file may name a kind that only --with brings; in another process, since kinds stay known."""
    text = template("robot", "mine").replace("kind: UPS", "kind: MyUPS")
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "my_legs.py").write_text(
        "from typing import Literal\nfrom polypod.legs.ups import UPS\n\n\n"
        "class MyUPS(UPS, kind='MyUPS'):\n    '''A UPS leg of my own.'''\n",
        encoding="utf-8",
    )

    without = polypod("check", tmp_path / "mine.yaml")
    assert without.exit_code == 2
    assert "MyUPS" in without.stderr
    command = [sys.executable, "-m", "polypod", "check", "mine.yaml", "--with", "my_legs.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    says(done.stdout, "6 MyUPS")


def test_a_file_that_is_no_module_is_reported(tmp_path):
    missing = polypod("show", "kim-ryu", "--no-draw", "--with", tmp_path / "none.py")
    assert missing.exit_code == 2
    failed(missing, ".py")
    (tmp_path / "bad.py").write_text("x = 1\ny = x / 0\n")
    bad = polypod("show", "kim-ryu", "--no-draw", "--with", tmp_path / "bad.py")
    assert bad.exit_code == 2
    failed(bad, "line 2 ZeroDivisionError")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["robot", "motion"])
def test_schemas_know_every_file_of_the_library(kind):
    fields = schema(kind)
    jsonschema.Draft202012Validator.check_schema(fields)
    validator = jsonschema.Draft202012Validator(fields)
    folder = SOURCE / ("files/robots" if kind == "robot" else "motion/library")
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.yaml")}
    texts["template"] = template(kind, "mine")
    if kind == "robot":
        texts["flexible"] = template(kind, "mine", "flexible")
    assert len(texts) > 15
    for name, text in texts.items():
        document, _ = parse(text, name, RobotFileError, "a mapping")
        assert not list(validator.iter_errors(document)), name
        document["nmae"] = 1
        assert list(validator.iter_errors(document)), name
    if kind == "robot":
        document, _ = parse(texts["template"], "template", RobotFileError, "a mapping")
        document["legs"][0]["bse"] = [0, 0, 0]
        assert list(validator.iter_errors(document))


@pytest.mark.parametrize("kind", ["study", "tolerances"])
def test_schemas_and_checks_know_the_templates_of_studies_and_tolerances(kind, tmp_path):
    fields = schema(kind)
    jsonschema.Draft202012Validator.check_schema(fields)
    validator = jsonschema.Draft202012Validator(fields)
    text = template(kind, "mine")
    assert text.startswith(f"# yaml-language-server: $schema={kind}.schema.json\n")
    document, _ = parse(text, kind, RobotFileError, "a mapping")
    assert not list(validator.iter_errors(document))
    assert list(validator.iter_errors(document | {"nmae": 1}))
    if kind == "study":
        assert list(validator.iter_errors(document | {"report": ["peek force"]}))
    file = tmp_path / "mine.yaml"
    assert polypod("new", "mine", f"--{kind}", "--out", file).exit_code == 0
    assert file.read_text(encoding="utf-8") == text
    checked = polypod("check", file, "--json", *(["--robot", "hexapod"] if kind == "tolerances" else []))
    assert checked.exit_code == 0
    assert json.loads(checked.stdout)["ok"]
    assert not json.loads(checked.stdout)["warnings"]
    assert polypod("schema", kind, "--out", tmp_path / "schema.json").exit_code == 0
    failed(polypod("new", "mine", f"--{kind}", "--motion"), f"--{kind} --motion")
    failed(polypod("new", "mine", f"--{kind}", "--flexible"), f"--{kind} --flexible")


def test_a_file_of_another_kind_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind in ("robot", "motion", "study", "tolerances"):
        Path(f"{kind}.yaml").write_text(template(kind, "mine"), encoding="utf-8")
    failed(polypod("sweep", "robot.yaml"), "robot vary new")
    failed(polypod("optimise", "motion.yaml"), "motion vary")
    failed(polypod("run", "study.yaml"), "study platform legs")
    failed(polypod("accuracy", "hexapod", "study.yaml"), "study accuracy new")
    failed(polypod("accuracy", "hexapod", "robot.yaml"), "robot accuracy new")
    Path("none.yaml").write_text("{name: mine, vry: []}", encoding="utf-8")
    failed(polypod("check", "none.yaml"), "vary trajectory platform vry")
    failed(polypod("check", "tolerances.yaml", "--robot", "delta"), "legs.*.base")


def test_a_study_is_checked_at_both_ends_of_its_ranges(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = template("study", "mine")
    short = "legs.*.length, pattern: low, range: [300 mm, 600 mm]"
    Path("a.yaml").write_text(text.replace("platform.mass, values: [40 kg, 50 kg]", short), encoding="utf-8")
    found = json.loads(polypod("check", "a.yaml", "--json").stdout)
    assert found["ok"]
    says(" ".join(found["warnings"]), "payload 0.6 legs.0.length")
    for limits, said in (
        ("longest: 40 mm, shortest: 50 mm", "longest 0.04 shortest 0.05"),
        ("condition: 0.5", "condition 0.5"),
        ("stroke: 10 mm}\ntarget: {dexterity: 0.1, stroke: 20 mm", "stroke 0.02 0.01"),
        ("peek force: 1 N", "limits peek peak"),
    ):
        wrong = text.replace("peak force: 205 N, stroke: 92 mm", limits).replace("minimise: [stroke,", "minimise: [")
        Path("b.yaml").write_text(wrong, encoding="utf-8")
        (fault,) = json.loads(polypod("check", "b.yaml", "--json").stdout)["faults"]
        says(f"{fault['field']} {fault['message']}", said)
        assert fault["line"]


def test_schemas_have_ends_of_rails_for_the_legs_that_take_them(monkeypatch):
    """A leg kind with a rail of its own, here one without a start, need not take the end of it."""
    monkeypatch.setattr(LegData, "registry", dict(LegData.registry))

    class Hung(Leg, kind="Hung"):
        """A leg that hangs on a rail."""

        rail_direction: Direction

    Hung.__module__ = "polypod.legs.hung"
    legs = {name: part["properties"] for name, part in schema("robot")["$defs"].items() if name.startswith("leg ")}
    assert {name for name, fields in legs.items() if "rail_end" in fields} == {"leg PRPaR", "leg PRU", "leg PUS"}
    assert "rail_direction" in legs["leg Hung"]


def test_schema_command_and_the_line_of_templates(tmp_path):
    done = polypod("schema", "robot", "--out", tmp_path / "robot.schema.json")
    assert done.exit_code == 0
    assert json.loads((tmp_path / "robot.schema.json").read_text())["title"] == "polypod robot file"
    assert template("robot", "x").startswith("# yaml-language-server: $schema=robot.schema.json\n")
    assert template("motion", "x").startswith("# yaml-language-server: $schema=motion.schema.json\n")
    assert polypod("schema", "leg").exit_code == 2


def test_sizes_take_units(tmp_path):
    a, b = tmp_path / "a.yaml", tmp_path / "b.yaml"
    assert (
        polypod(
            "new", "hex", "--kind", "hexapod", "--height", "350 mm", "--base-angle", "0.4 rad", "--out", a
        ).exit_code
        == 0
    )
    assert (
        polypod(
            "new", "hex", "--kind", "hexapod", "--height", 0.35, "--base-angle", 22.918311805232928, "--out", b
        ).exit_code
        == 0
    )
    assert pp.load(a).home == pp.load(b).home
    assert pp.load(a).legs[0].base == pytest.approx(pp.load(b).legs[0].base, rel=1e-12)
    wrong = polypod("new", "hex", "--kind", "hexapod", "--height", "350 kg", "--out", tmp_path / "c.yaml")
    assert wrong.exit_code == 2
    failed(wrong, "m mm cm um km 350 kg")


# -- shells ------------------------------------------------------------------------------------------------------------


def test_names_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("kim.yaml").write_text("")
    assert [name for name, _ in complete_robot("ki")] == ["kim-ryu", "kim.yaml"]
    assert "kim-ryu-circle" in dict(complete_motion("kim-"))
    assert {"kim-ryu", "kim-ryu-circle"} <= set(dict(complete_either("kim")))
    assert [name for name, _ in COMPLETED["robots"]("hexa")] == ["hexapod"]


def completed(folder, words: str) -> list[str]:
    """What bash is offered: it gives the words so far, and the number of the one that is typed."""
    environment = {
        **os.environ,
        "_POLYPOD_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    code = "import sys; sys.argv = ['polypod']; from polypod.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False, cwd=folder
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.long
def test_numbers_of_a_robot_are_completed(tmp_path):
    """Paths of the robot that the words name, with what it has now, which '--set' takes as it stands."""
    assert completed(tmp_path, "polypod run hexapod --set legs.*.ma") == [
        "legs.*.max_force=1000.0",
        "legs.*.max_speed=0.25",
        "legs.*.max_acceleration=",
        "legs.*.max_power=",
        "legs.*.max_stroke=",
        "legs.*.max_motor_torque=",
        "legs.*.max_motor_speed=",
    ]
    given = typer.Context(typer.main.get_command(app))
    given.params = {"robot": "five-bar"}
    settings = dict(parse_setting(text) for text, _ in complete_setting(given, "") if not text.endswith("="))
    assert "legs.*.joints.motor.friction.viscous" in settings
    five_bar = pp.load("five-bar")
    # all are taken as they stand, and change nothing
    assert pp.load("five-bar", settings).model_dump(exclude={"sources"}) == five_bar.model_dump(exclude={"sources"})
    assert [path for path, _ in complete_path(given, "gravity,platform.ma")] == ["gravity,platform.mass"]
    assert [name for name, _ in complete_coordinate(given, "")] == [f"{one.name}=" for one in five_bar.dof]
    for words in ({"robot": "no-such-robot"}, {"robot": str(tmp_path)}):
        given.params = words
        assert complete_setting(given, "") == complete_path(given, "") == complete_coordinate(given, "") == []
    assert [name for name, _ in COMPLETED["function"]("inverse_d")] == ["inverse_dynamics"]
    assert [name for name, _ in COMPLETED["show"]("")] == ["modes", "workspace"]


def test_every_completion_is_that_of_an_argument():
    names = set()
    for name in COMMANDS:
        command = load_command(name)
        for one in getattr(command, "commands", {name: command}).values():
            names |= {parameter.name for parameter in one.params}
    assert set(COMPLETED) <= names


def test_numbers_of_options_take_units():
    """A number is in the first unit; one with a unit may be of any of the kinds, of no other."""
    import typer

    from polypod.cli.options import measured

    read = measured("N/m", "N m/rad")["parser"]
    assert [read(text) for text in ("5e7", "20 N/um", "3 kN m/rad")] == pytest.approx([5e7, 2e7, 3e3], rel=1e-15)
    with refused(typer.BadParameter, "N/m N/um 20 mm"):
        read("20 mm")


def test_several_numbers_of_an_option_take_units():
    """Commas or not, each number in its own unit; a wrong count, a wrong unit and what is not finite are named."""
    from polypod.cli.options import numbers
    from polypod.errors import InputError

    units, names = ["N"] * 3 + ["N m"] * 3, ("fx", "fy", "fz", "mx", "my", "mz")
    for text in ("0 0 -2 kN 0 0 40 N mm", "0,0,-2kN,0,0,40 N mm", " 0 0 -2000, 0 +0 4e-2 "):
        assert numbers("--wrench", text, units, names) == [0.0, 0.0, -2000.0, 0.0, 0.0, 0.04]
    for text, wrong in (
        ("0 0 1", "--wrench 6 fx fy fz mx my mz 3"),
        ("0 0 2 mm 0 0 0", "--wrench N kN 2 mm"),
        ("0 0 0 0 0 nan", "--wrench"),
        ("0 0 1e999 0 0 0", "1e999"),
    ):
        with refused(InputError, wrong):
            numbers("--wrench", text, units, names)


def test_every_option_that_measures_takes_units():
    """An option with a number whose help or name speaks of a unit reads texts with one, in every command."""
    from polypod.cli.frame import REGISTERED

    factors = {"mass", "reach", "distance", "speed"}  # parts of something, which have no unit
    read = set()
    for name in COMMANDS:
        load_command(name)
    for name, (command, *_) in REGISTERED.items():
        for option in inspect.signature(command).parameters.values():
            kind, info = get_args(option.annotation)
            if "float" in str(kind):
                assert info.parser is not None or option.name in factors, f"polypod {name}: {option.name}"
                read.add(option.name)
    assert read > {"delay", "rate", "pivot", "uncertainty", "constant"}
