"""URDF of robots: read by Pinocchio, its tree projected through the loops has polypod's forces; read back it is the
robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml

import polypod as pp
from closed_loop import closed, state
from pinocchio_tree import PinocchioTree
from polypod.exchange import import_robot
from polypod.export import export_urdf, urdf_files

# Loops by points, by a hinge, and by universal joints with friction; the second has a body fixed to the platform.
ROBOTS = ("hexapod", "five-bar", "3-prs")
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


@pytest.mark.parametrize(("name", "joints"), [("hexapod", [3] * 6), ("five-bar", [3, 2])])
def test_export_then_import_is_the_identity(name: str, joints: list[int], tmp_path: Path) -> None:
    model = pp.Model(name)
    for file, text in urdf_files(model).items():
        (tmp_path / file).write_text(text)
    back = import_robot(tmp_path / f"{name}.urdf").robot
    assert [len(leg.joints) for leg in back.legs] == joints
    home, still = model.robot.home.matrix, np.zeros(6)
    np.testing.assert_allclose(back.home.matrix, home, atol=1e-15)
    np.testing.assert_allclose(
        pp.Model(back).inverse_dynamics(home, still, still), model.inverse_dynamics(home, still, still), rtol=1e-12
    )


def test_loops_are_beside_the_tree() -> None:
    tree, side = export_urdf(pp.Model("five-bar"))
    loops = yaml.safe_load(side)
    assert loops["closed_loop"] == [["right-tip-A", "right-tip-B"]]
    assert (loops["type"], loops["name_mot"]) == (["6d"], ["right-motor", "left-motor"])
    assert "Loops are in five-bar-loops.yaml" in tree
    assert "Rotors of right-motor, left-motor are there too" in tree
