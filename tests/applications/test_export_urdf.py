"""URDF of robots: read by Pinocchio, its tree projected through the loops has polypod's forces; read back it is the
robot."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

import polypod as pp
from polypod.description import Friction
from polypod.exchange import import_robot
from polypod.export import export_urdf, urdf_files
from support.engines.closed_loop import closed, state
from support.engines.pinocchio_tree import PinocchioTree
from support.same_robot import assert_same
from support.states import mostly_long

# Loops by points, by a hinge, and by universal joints with friction; the second has a body fixed to the platform.
ROBOTS = ("hexapod", "five-bar", pytest.param("3-prs", marks=pytest.mark.long))
# Differences of fourth order of Pinocchio's Jacobians leave 1e-12; the condition of loops magnifies it.
TOLERANCE = 1e-9


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_reads_the_tree_and_finds_the_same_forces(name: str, tmp_path: Path) -> None:
    model = pp.Model(name)
    for file, text in urdf_files(model).items():
        (tmp_path / file).write_text(text)
    tree = PinocchioTree(tmp_path / f"{name}.urdf", tmp_path / f"{name}-loops.yaml", "platform-frame")
    start = pin.neutral(tree.model)
    assert np.abs(tree.gap(start)).max() < 1e-14, "all loops close at zero"
    np.testing.assert_allclose(tree.platform(start)[0], model.robot.home.matrix, atol=1e-14)
    random, n = np.random.default_rng(3), len(tree.driven)
    for _ in range(2):
        q = closed(tree, start, 0.02 * random.uniform(-1, 1, n))
        at = state(tree, q, random.uniform(-1, 1, n), random.uniform(-5, 5, n))
        got = model.inverse_dynamics(at.pose, at.twist, at.acceleration, friction=False)
        wanted = at.force / tree.ratios
        assert np.abs(got - wanted).max() < TOLERANCE * np.abs(wanted).max()


@pytest.mark.parametrize("name", mostly_long(("hexapod", "five-bar"), ("five-bar",)))
def test_export_then_import_is_the_identity(name: str, tmp_path: Path) -> None:
    model = pp.Model(name)
    for file, text in urdf_files(model).items():
        (tmp_path / file).write_text(text)
    assert import_robot(tmp_path / f"{name}.urdf").robot == model.robot
    assert_same(model.robot, import_robot(tmp_path / f"{name}.urdf", "platform-frame").robot)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::polypod.errors.UnphysicalWarning")
@pytest.mark.parametrize("name", sorted({*pp.library()} - {"cable-camera", "cogiro", "ipanema", "planar-4-cable"}))
def test_every_robot_of_the_library_is_itself_again(name: str, tmp_path: Path) -> None:
    model = pp.Model(name).rigid
    plain = without_dry_friction(model.robot)
    for file, text in urdf_files(model).items():
        (tmp_path / file).write_text(text)
    path = tmp_path / f"{model.robot.name}.urdf"
    assert import_robot(path).robot == model.robot
    assert_same(plain, import_robot(path, "platform-frame").robot)


def without_dry_friction(robot: pp.Robot) -> pp.Robot:
    """The robot as URDF can have it: no friction by reaction."""
    legs = []
    for leg in robot.legs:
        fields = {name: value for name, value in leg if isinstance(value, Friction)}
        legs.append(leg.model_copy(update={key: f.model_copy(update={"coulomb": 0.0}) for key, f in fields.items()}))
    return robot.model_copy(update={"legs": tuple(legs)})


def test_loops_are_beside_the_tree() -> None:
    tree, side = export_urdf(pp.Model("five-bar"))
    loops = yaml.safe_load(side)
    assert loops["closed_loop"] == [["right-tip-A", "right-tip-B"]]
    assert (loops["type"], loops["name_mot"]) == (["6d"], ["right-motor", "left-motor"])
    assert "in five-bar-loops.yaml, meet (3d) or are fixed together (6d): " in tree
    assert "Rotors of right-motor, left-motor are there too" in tree


def test_loops_are_elements_too(tmp_path: Path) -> None:
    """Without the file beside it a URDF still has its loops: pairs of links, of points or fixed to each other."""
    model = pp.Model("planar-3-rrr")
    tree, side = export_urdf(model)
    path = tmp_path / "planar.urdf"
    path.write_text(tree)
    root = ET.fromstring(tree)
    pairs = [[one.find(end).get("link") for end in ("parent", "child")] for one in root.findall("constraint")]
    assert pairs == yaml.safe_load(side)["closed_loop"]
    drives = yaml.safe_load(side)["name_mot"]
    imported = import_robot(path, "platform-frame", actuated=drives)
    again = pp.Model(imported.robot)
    state = model.motion([0.01, -0.02, 0.1], [0.3, 0.2, 0.1], [1.0, 2.0, 3.0])
    # rotors and gravity are in the file beside alone: motions are compared
    assert again.rates(state.pose, state.twist) == pytest.approx(model.rates(state.pose, state.twist), rel=1e-9)
