"""What ``polypod show`` says of a robot: units by joint, names of legs, limits, defaults, Euler angles."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.files import dumps
from polypod.files.templates import template
from polypod.results.overview import euler, parameters, quantity
from support.command_line import polypod


def shown(*arguments: str) -> str:
    result = polypod("show", *arguments, "--no-draw")
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(text: str) -> dict[tuple[str, str], str]:
    """Lines of the table by what they are of and the parameter's name."""
    lines = [re.split(r"\s{2,}", line) for line in text.partition("Parameters\n")[2].splitlines()]
    return {(line[0], line[1]): "  ".join(line[2:]) for line in lines if len(line) >= 3}


@pytest.mark.parametrize(
    ("robot", "field", "units"),
    [
        ("kim-ryu", "slider_friction", ("N s/m", "", "N")),
        ("kim-ryu", "universal_friction", ("N m s/rad", "m", "N m")),
        ("kim-ryu", "spherical_friction", ("N m s/rad", "m", "N m")),
        ("pedrammehr", "prismatic_friction", ("N s/m", "", "N")),
        ("staicu", "hinge_friction", ("N m s/rad", "m", "N m")),
        ("staicu", "parallelogram_friction", ("N m s/rad", "m", "N m")),
    ],
)
def test_friction_has_the_unit_of_its_joint(robot, field, units):
    listed = {p.path.split(".", 2)[2]: p.unit for p in parameters(pp.load(robot)) if p.path.startswith("legs.")}
    assert tuple(listed[f"{field}.{part}"] for part in ("viscous", "coulomb", "drag")) == units


def test_no_unit_is_left_open(model):
    assert not [p.path for p in parameters(model.robot) if " or " in p.unit]


def test_legs_have_their_names():
    table = rows(shown("staicu"))
    assert table["A", "rail_start"].startswith("0 -0.25 0 m")
    assert table["C", "half_width"].startswith("0.03 m")
    assert table["all legs", "length"].startswith("0.4 m")
    assert table["degree of freedom theta", "axis"].startswith("0 1 0")
    assert not any("legs." in of for of, _ in table)


def test_what_the_file_does_not_give_is_a_default(tmp_path):
    text = template("robot", "mine").replace("{viscous: 50.0}", "{viscous: 50.0, drag: 0.0}")
    file = tmp_path / "mine.yaml"
    file.write_text(text[: text.index("sources:")])
    robot = pp.load(file)
    given = {p.path: p.given for p in parameters(robot)}
    assert not given["home.rotation"]
    assert given["home.position"]
    assert not given["legs.*.rotor_mass"]
    assert given["legs.*.prismatic_friction.drag"]  # given, though it is the default's value
    assert not given["legs.*.prismatic_friction.coulomb"]
    table = rows(shown(str(file)))
    assert table["all legs", "prismatic_friction.coulomb"] == "0  default"
    assert table["all legs", "prismatic_friction.drag"] == "0 N"
    data = json.loads(shown(str(file), "--json"))
    assert data["parameters_default"] == sum(not value for value in given.values()) > 0
    assert {p["path"]: p["given"] for p in data["parameters"]} == given
    assert data["parameters"][0]["value"] == [0.0, 0.0, -9.81]  # raw
    # a rail given by its ends is given, also its direction and travel that follow
    derived = {p.path: p.given for p in parameters(pp.load("kim-ryu"))}
    assert derived["legs.0.travel"]
    assert derived["legs.0.rail_direction"]


def test_a_default_with_a_reason_keeps_it():
    table = rows(shown("kim-ryu"))
    assert table["all legs", "universal_friction.drag"] == "0 N m  default; assumed: zero, none is printed"
    assert table["all legs", "slider_friction.drag"].endswith("mu_si and tau_b")


def test_limits_are_ranges(tmp_path):
    assert rows(shown("kim-ryu"))["leg1", "travel"].startswith("0 to 0.7 m")
    text = dumps(pp.load("kim-ryu")).replace(
        "leg_defaults:\n", "leg_defaults:\n  slider_cone: {axis: [0.0, 0.0, 1.0], half_angle: 75 deg}\n"
    )
    file = tmp_path / "cone.yaml"
    file.write_text(text)
    assert rows(shown(str(file)))["all legs", "slider_cone.half_angle"].startswith("1.309 rad (75 deg)")
    assert quantity((0.7, 1.2), "m", is_range=True) == "0.7 to 1.2 m"
    assert quantity((-math.pi / 6, math.pi / 2), "rad", is_range=True) == "-0.5236 to 1.571 rad (-30 to 90 deg)"
    assert quantity((0.3, 0.6), "kg") == "0.3 0.6 kg"  # two masses are no range


@pytest.mark.parametrize("convention", ["ZYX", "xyz", "YXZ", "zxz", "ZXZ"])
def test_euler_words_are_scipys_meaning(convention):
    """The product of elementary rotations that the words state is the rotation SciPy makes."""
    words = euler(convention)
    angles = dict(zip(range(3), (0.3, -0.5, 0.7), strict=True))
    order = list(re.search(r"the \w+ (\w), then (\w), then (\w) axis", words).groups())
    assert order == list(convention.lower())
    assert ("moving" in words) == convention.isupper()
    factors = re.findall(r"R(\w)", words.partition("R = ")[2])
    turns = [0, 1, 2] if convention.isupper() else [2, 1, 0]
    assert factors == [order[k] for k in turns]
    product = np.eye(3)
    for axis, k in zip(factors, turns, strict=True):
        product = product @ Rotation.from_euler(axis, angles[k]).as_matrix()
    wanted = Rotation.from_euler(convention, list(angles.values())).as_matrix()
    assert np.abs(product - wanted).max() < 1e-15 * 10  # two products of rotations


def test_euler_convention_is_reported(tmp_path):
    assert "Euler angles YXZ: about the moving y, then x, then z axis" in shown("kim-ryu")
    file = tmp_path / "mine.yaml"
    file.write_text(re.sub(r"(?m)^euler:.*\n", "", template("robot", "mine")))
    assert "Euler angles ZYX (default): about the moving z, then y, then x axis" in shown(str(file))
    assert json.loads(shown("kim-ryu", "--json"))["euler"]["convention"] == "YXZ"
