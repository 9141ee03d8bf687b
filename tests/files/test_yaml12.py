"""YAML text: numbers of YAML 1.2, and files made to hurt a reader end in a fault with its line, soon."""

from __future__ import annotations

import os
import time

import pytest
import yaml

import polypod as pp
from polypod.description.modes import load_modes
from polypod.errors import InputError, MotionFileError, RobotFileError
from polypod.file_kinds import check
from polypod.files import dumps
from polypod.files.templates import template
from polypod.motion import load_motion, loads_motion
from polypod.yaml12 import MAX_DEPTH, MAX_DIGITS, MAX_NODES, Loader, YamlTextError, read_yaml, to_yaml
from support.refusals import refused

ROBOT = template("robot", "my-hexapod")
MASS = "mass: 30.0"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("010", 10),
        ("0777", 777),
        ("-08", -8),
        ("1e3", 1000.0),
        ("1E-3", 1e-3),
        ("2.", 2.0),
        (".5", 0.5),
        ("70e9", 70e9),
        ("+.inf", float("inf")),
        ("-.INF", -float("inf")),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        # texts, not a number of base 60, a thousand, an octal, a truth value or a date
        ("1:30", "1:30"),
        ("1__0", "1__0"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("0b11", "0b11"),
        ("yes", "yes"),
        ("on", "on"),
        ("2001-02-30", "2001-02-30"),
        ("=", "="),
        ("1.5 mm", "1.5 mm"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(written, value):
    got = read_yaml(f"a: {written}")[0]["a"]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    "text", ["1e3", "08", "010", "1:30", "yes", "on", "0x10", "~", "2001-02-30", "1_000", "", "<<"]
)
def test_texts_come_back_as_texts(text):
    assert read_yaml(to_yaml({"a": text, "b": [text]}))[0] == {"a": text, "b": [text]}
    assert yaml.safe_load(to_yaml({"a": text})) == {"a": text}


@pytest.mark.parametrize("value", [0.1, 1e20, -3e-17, 1e300, 5, -7, True, None])
def test_numbers_come_back_as_numbers(value):
    assert read_yaml(to_yaml({"a": value}))[0] == {"a": value}


def test_a_mass_of_010_is_ten_kilograms():
    assert pp.loads(ROBOT.replace(MASS, "mass: 010")).platform.mass == 10.0


def test_a_robot_may_be_called_like_a_number():
    robot = pp.loads(ROBOT).model_copy(update={"name": "1e3"})
    assert pp.loads(dumps(robot)).name == "1e3"


@pytest.mark.parametrize("written", ["1:30", "1__0", "0x10", "2001-02-30"])
def test_texts_that_yaml_1_1_took_for_numbers_are_faults(written):
    with refused(RobotFileError, f"platform.mass {written}") as caught:
        pp.loads(ROBOT.replace(MASS, f"mass: {written}"))
    assert caught.value.faults[0].line == line(ROBOT, MASS)


def line(text, mark):
    """Number of the line with a mark in it."""
    return text[: text.index(mark)].count("\n") + 1


LAUGHS = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]\n" for k in range(1, 25)
)
MERGES = "a0: &a0 {x: 1}\n" + "".join(f"a{k}: &a{k} {{<<: [{', '.join([f'*a{k - 1}'] * 10)}]}}\n" for k in range(1, 25))
NESTED_ALIASES = "a0: &a0 [1]\n" + "".join(f"a{k}: &a{k} [*a{k - 1}]\n" for k in range(1, 700))
HOSTILE = {
    "integer of many digits": (f"a: 1\nb: {'7' * (MAX_DIGITS + 1)}\n", 2, "301"),
    "integer beyond Python's limit": (f"b: {'7' * 5000}\n", 1, "5000"),
    "tag of another type": ("a: 1\nb: !!int abc\n", 2, "abc"),
    "empty whole number": ("a: !!int ''\n", 1, "''"),
    "tagged truth value": ("a: !!bool 7\n", 1, "7"),
    "tagged date": ("a: 1\nb: !!timestamp 2001-02-30\n", 2, "!!timestamp"),
    "Python object": ("a: !!python/object/apply:os.system [ls]\n", 1, "#not_yaml"),
    "set": ("a: !!set {x}\n", 1, "!!set"),
    "brackets": ("a: 1\nb: " + "[" * 3000 + "]" * 3000 + "\n", 2, f"nested deeper than {MAX_DEPTH} levels"),
    "open brackets": ("[" * 100_000, 1, "#too_deep"),
    "braces": ("{a: " * 3000, 1, "#too_deep"),
    "blocks": ("".join(" " * k + "a:\n" for k in range(900)), MAX_DEPTH + 1, "#too_deep"),
    "aliases of aliases": (
        NESTED_ALIASES,
        MAX_DEPTH + 1,
        f"{MAX_DEPTH} #too_deep",
    ),
    "self-referring list": ("a: 1\nb: &b [1, *b]\n", 2, "#own_alias"),
    "self-referring mapping": ("a: &a\n  b: {c: *a}\n", 1, "#own_alias"),
    "self-referring merge": ("a: &a\n  <<: *a\n", 1, "#own_alias"),
    "billion laughs": (LAUGHS, 6, f"{MAX_NODES} #too_many"),
    "billion merges": (MERGES, 6, f"{MAX_NODES} #too_many"),
    "many values": ("a: [" + "1," * (MAX_NODES + 10) + "]\n", 1, f"{MAX_NODES} #too_many"),
    "unknown alias": ("a: 1\nb: *c\n", 2, "#not_yaml"),
    "two documents": ("a: 1\n---\nb: 2\n", 2, "#not_yaml"),
    "control character": ("a: 1\nb: x\x07y\n", 2, "U+0007"),
    "null character": ("a: 1\n\nb: \x00\n", 3, "U+0000"),
    "half a surrogate": ("a: \udc80\n", 1, "U+DC80"),
    "list as a key": ("a: 1\n? [1, 2]\n: 3\n", 2, "#key"),
    "same key twice": ("a: 1\nb: 2\na: 3\n", 3, "1 #twice"),
    "quote that stays open": ("a: 'x\nb: 1\n", 3, "#not_yaml"),
    "reserved character": ("a: 1\nb: @x\n", 2, "@"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_texts_are_faults_with_a_line(case):
    text, number, words = HOSTILE[case]
    start = time.process_time()
    for read, error in ((pp.loads, RobotFileError), (loads_motion, MotionFileError)):
        with refused(error, words) as caught:
            read(text)
        (fault,) = caught.value.faults
        assert fault.line == number
        assert len(str(fault)) < 500
    assert time.process_time() - start < 10.0  # those that did not end took minutes


def test_hostile_files_are_faults_on_the_command_line(tmp_path):
    for case, (text, number, _) in HOSTILE.items():
        path = tmp_path / "hostile.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        (fault,) = check(str(path)).faults
        assert fault.line == number, case


def test_an_alias_may_repeat_a_value_and_a_merge_may_be_overridden():
    shared = "&rod {mass: 3.0, com: [0.0, 0.0, 0.1], inertia: [0.1, 0.1, 0.01]}"
    text = f"a: {shared}\nb: *rod\nc:\n  <<: *rod\n  mass: 4.0\n"
    data, _ = read_yaml(text)
    assert data["b"] == data["a"]
    assert data["c"] == {**data["a"], "mass": 4.0}


def test_faults_quote_values_in_short():
    for bad in (f"[{'1, ' * 5000}1]", "x" * 20_000):
        with pytest.raises(RobotFileError) as caught:
            pp.loads(ROBOT.replace("gravity: [0.0, 0.0, -9.81]", f"gravity: {bad}", 1))
        assert len(str(caught.value)) < 600
    with pytest.raises(RobotFileError) as caught:
        pp.loads(ROBOT.replace(MASS, f"{'m' * 20_000}: 30.0"))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("load", [pp.load, load_motion, load_modes])
def test_devices_and_pipes_are_refused(load, tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path / "zero.yaml"):
        if path != pipe:
            path.symlink_to("/dev/zero")
        with refused((RobotFileError, MotionFileError, InputError), code="not_a_file"):
            load(path)


def test_a_null_character_in_a_name_is_no_traceback():
    with refused(RobotFileError, "null"):
        pp.load("a\0b.yaml")


def test_the_reader_is_libyaml_where_it_is_installed():
    assert issubclass(Loader, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def test_an_empty_text_is_nothing():
    assert read_yaml("") == (None, None)
    with refused(YamlTextError, "3"):
        read_yaml("a: 1\nb: [\n")
