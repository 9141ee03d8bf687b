"""The frame of the commands: answers, files, exit codes, and options where the library names arguments."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import polypod as pp
from polypod.cli import COMMANDS, GROUPS, load_command
from polypod.cli.frame import REGISTERED, Answer, Digits, Styled, Target, command, spellings, with_options
from polypod.cli.options import Replace
from polypod.errors import InputError
from polypod.tables import table
from support.command_line import polypod

SOURCE = Path(pp.__file__).parent
LENGTHS = table("Lengths", [("leg", ""), ("length", "m")], [("leg1", 0.123456), ("leg2", 2.0)], "pass most= for more")


@pytest.fixture
def call(monkeypatch, tmp_path):
    """A command of the test's own, called with words; it writes, complains and fails as it is told."""
    monkeypatch.setattr("polypod.cli.frame.REGISTERED", {})
    monkeypatch.chdir(tmp_path)

    @command("measure", "measure")
    def measure(
        most: Annotated[int, typer.Option(help="How many.")] = 2,
        fail: Annotated[str, typer.Option(help="How it fails.")] = "",
        replace: Replace = False,
    ) -> Answer:
        target = Target(Path("lengths.csv"), replace)
        if fail == "early":
            raise InputError("most: at least 3 are needed, got 2; or pass replace=True")
        return Answer(
            [Styled("Robot", " [b]x[/b]"), Digits(LENGTHS, 2), "One.", "Two.", LENGTHS],
            {"lengths": LENGTHS.records(), "notes": ["try most="]},
            ["try most="],
            {target: LENGTHS.csv()},
            complaints=["a complaint"],
            failure="most= is too small" if fail == "late" else "",
        )

    app = typer.Typer(rich_markup_mode=None)
    app.command()(measure)
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_an_answer_is_printed_with_room_around_tables(call, tmp_path):
    done = call()
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[:2] == ["Robot [b]x[/b]", ""]
    assert lines[2] == "Lengths"
    assert "leg1    0.12" in lines
    assert "\n\nOne.\nTwo.\n\nLengths\n" in done.stdout
    assert lines[-2:] == ["", "Wrote lengths.csv."]
    assert done.stdout.count("pass --most for more") == 2
    assert done.stderr == "a complaint\nnote: try --most\n"
    assert (tmp_path / "lengths.csv").read_text() == LENGTHS.csv()


def test_data_is_printed_alone(call):
    done = call("--json")
    assert json.loads(done.stdout) == {"lengths": LENGTHS.records(), "notes": ["try --most"]}
    assert done.stderr == ""


def test_files_are_checked_before_and_replaced_with_force_only(call, tmp_path):
    (tmp_path / "lengths.csv").write_text("mine")
    done = call("--fail", "early")  # not reached
    assert done.exit_code == 2
    assert done.stderr == "error: lengths.csv: exists; add --force to replace it, or name another\n"
    assert (tmp_path / "lengths.csv").read_text() == "mine"
    assert call("--force").exit_code == 0
    assert (tmp_path / "lengths.csv").read_text() == LENGTHS.csv()


def test_a_failure_names_options_and_comes_last(call, tmp_path):
    early = call("--fail", "early")
    assert (early.exit_code, early.stdout) == (2, "")
    assert early.stderr == "error: --most: at least 3 are needed, got 2; or pass --force\n"
    assert not (tmp_path / "lengths.csv").exists()
    late = call("--fail", "late")
    assert late.exit_code == 2
    assert "Lengths" in late.stdout
    assert late.stderr.splitlines()[-1] == "error: --most is too small"
    assert call("--fail", "late", "--json", "--force").exit_code == 2


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("drive: stiffnesses above 0 are needed", "--drive: stiffnesses above 0 are needed"),
        ("drives: such", "drives: such"),
        ("set it in the file, or pass drive=", "set it in the file, or pass --drive"),
        ("(drive=)", "(--drive)"),
        ("pass delay=0.01.", "pass --delay 0.01."),
        ("pass delay=-3e-4, or", "pass --delay -3e-4, or"),
        ("friction=False", "--no-friction"),
        ("force=True", "--force"),
        ("hold=['a', 'b c']", "--hold a --hold b c"),
        ("at={'JOINT': 0.5}", "--at JOINT=0.5"),
        ("try controller='joint-pd', or", "try --controller joint-pd, or"),
        ("constants= for currents", "--constant for currents"),
        ("got 'drive=3', x.drive=3, my-drive=3, drive=three", "got 'drive=3', x.drive=3, my-drive=3, drive=three"),
        ("mass=3", "mass=3"),  # no option of this command
        ("rigid (model.rigid)", "rigid (--set platform.kind=rigid)"),
    ],
)
def test_arguments_are_options(text, wanted):
    def made(
        drive: Annotated[float, typer.Option()] = 0.0,
        delay: Annotated[float, typer.Option()] = 0.0,
        friction: Annotated[bool, typer.Option()] = True,
        replace: Annotated[bool, typer.Option("--force")] = False,
        hold: Annotated[list[str], typer.Option()] = [],  # noqa: B006
        at: Annotated[list[str], typer.Option("--at")] = [],  # noqa: B006
        controller: Annotated[str, typer.Option("--controller", "-c")] = "",
        constant: Annotated[list[float], typer.Option()] = [],  # noqa: B006
        settings: Annotated[list[str], typer.Option("--set")] = [],  # noqa: B006
        mass: Annotated[float, typer.Argument()] = 0.0,
    ) -> None: ...

    parameters = list(inspect.signature(made, eval_str=True).parameters.values())
    assert with_options(text, spellings(parameters)) == wanted


def test_an_argument_of_the_library_goes_before_an_option_of_its_name():
    """'polypod fastest' has --max-force for force= and --force for files."""
    load_command("fastest")
    parameters = list(inspect.signature(REGISTERED["fastest"].function).parameters.values())
    spelled = spellings(parameters)
    assert [spelled[name] for name in ("force", "speed", "reaction", "replace")] == [
        "--max-force", "--max-speed", "--max-reaction", "--force",
    ]  # fmt: skip


def test_the_library_names_no_options():
    """Its errors name arguments, for those who call it; the frame makes options of them."""
    spoken = re.compile(r"(?:^|[\s\"'(])--[a-z]")
    allowed = {  # programs of others, and the call that a file says it comes from
        "export/__init__.py": ["mujoco.viewer --mjcf", "halcompile --install"],
        "export/linuxcnc.py": ["halcompile --install"],
        "files/templates/sizes.py": ["--kind "],
    }
    found = []
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith("cli/"):
            continue
        source = path.read_text(encoding="utf-8")
        if not spoken.search(source):
            continue
        tree = ast.parse(source)
        prose = {  # docstrings
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if id(node) not in prose and spoken.search(text) and not any(one in text for one in allowed.get(name, ())):
                found.append(f"{name}:{node.lineno}: {text}")
    assert not found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stiffness", "hexapod"), "or pass --drive"),
        (("fastest", "lopes"), "pass at least one of --max-force, --max-speed, --max-acceleration, --max-power and"),
        (("workspace", "hexapod", "--payload", 3), "--payload: is compared with the largest forces; pass --max-force"),
        (("import", "table.csv"), "unknown file type '.csv'; expected .xml, .mjcf, .urdf, .sdf, .world, or"),
        (("run", "hexapod", "--set", "platform.mass"), "--set: PATH=VALUE is needed"),
        (("simulate", "lopes", "--mass", 50), "--mass: a factor of all masses"),
        (("export", "c", "lopes", "forward_kinematics", "--iterations", 0), "--iterations: at least 1 is needed"),
        (("export", "fmu", "lopes", "--fmi", 4), "--fmi: 2 or 3 is needed"),
        (("new", "--kind", "delta", "--platform-radius", 1), "--platform-radius: --base-radius and --arm reach"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)  # fmt: skip
def test_errors_of_commands_name_their_options(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("a\n")
    done = polypod(*words)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_every_command_has_one_purpose():
    assert list(GROUPS) == ["Design", "Analyse", "Simulate", "Measure", "Exchange", "Files"]
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    for about in COMMANDS.values():
        assert about[0].isupper()
        assert about.endswith(".")
