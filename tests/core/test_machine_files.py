"""Machines in stages from files: Pinocchio's model of all coordinates, differences, one function for all stages."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml

import polypod as pp
from polypod.errors import InputError, RobotFileError
from polypod.export import urdf_files
from polypod.stages import Series, staged_library
from support.command_line import polypod
from support.engines.closed_loop import closed, state
from support.engines.pinocchio_tree import PinocchioTree
from support.refusals import refused
from support.states import mostly_long

RAIL_MASS, RAIL_COM, RAIL_MOMENTS = 12.0, "0 0 -0.01", (0.16, 0.16, 0.3)
ROTOR = 4.0


@pytest.fixture(scope="module")
def machine() -> Series:
    return pp.Model("hexapod-on-rail")


def seven_coordinates(folder: Path) -> PinocchioTree:
    """The hexapod's URDF on a slide whose link is the carriage: where the rail's platform frame is, 10 mm below."""
    files = urdf_files(pp.Model("hexapod"))
    root = ET.fromstring(files["hexapod.urdf"])
    ground = ET.SubElement(root, "link", name="ground")
    assert ground is not None
    carriage = ET.SubElement(root, "link", name="carriage")
    inertial = ET.SubElement(carriage, "inertial")
    ET.SubElement(inertial, "origin", xyz=RAIL_COM, rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=str(RAIL_MASS))
    moments = dict(zip(("ixx", "iyy", "izz"), map(str, RAIL_MOMENTS), strict=True))
    ET.SubElement(inertial, "inertia", **moments, ixy="0", ixz="0", iyz="0")
    for name, kind, parent, child, height in (("slide", "prismatic", "ground", "carriage", 0.12),
                                              ("flange", "fixed", "carriage", "base", 0.01)):  # fmt: skip
        joint = ET.SubElement(root, "joint", name=name, type=kind)
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=child)
        ET.SubElement(joint, "origin", xyz=f"0 0 {height}", rpy="0 0 0")
        if kind == "prismatic":
            ET.SubElement(joint, "axis", xyz="1 0 0")
            ET.SubElement(joint, "limit", effort="1e9", velocity="1e9", lower="-9", upper="9")
    side = yaml.safe_load(files["hexapod-loops.yaml"])
    side["name_mot"] = ["slide", *side["name_mot"]]
    side["polypod"]["motors"]["slide"] = {"rotor": ROTOR}
    (folder / "seven.urdf").write_text(ET.tostring(root, encoding="unicode"))
    (folder / "seven.yaml").write_text(yaml.safe_dump(side))
    return PinocchioTree(folder / "seven.urdf", folder / "seven.yaml", "platform-frame")


def test_a_hexapod_on_a_rail_is_pinocchios_model_of_seven_coordinates(machine: Series, tmp_path: Path) -> None:
    """Forces, and accelerations from them. Differences of Pinocchio's Jacobians leave 1e-12, loops magnify it."""
    tree = seven_coordinates(tmp_path)
    rng, start = np.random.default_rng(4), pin.neutral(tree.model)
    for _ in range(2):
        q = closed(tree, start, np.r_[0.2, 0.02 * rng.uniform(-1, 1, 6)])
        rates, changes = rng.uniform(-1, 1, 7), rng.uniform(-5, 5, 7)
        at = state(tree, q, rates, changes)
        slide = tree.model.joints[tree.model.getJointId("slide")]
        x, v, a = q[slide.idx_q], rates[0], changes[0]
        rail = np.eye(4)
        rail[:3, 3] = x, 0, 0.12
        carried = np.eye(4)
        carried[:3, 3] = x, 0, 0.13
        along = np.r_[1.0, np.zeros(5)]
        motions = [(rail, v * along, a * along),
                   (np.linalg.inv(carried) @ at.pose, at.twist - v * along, at.acceleration - a * along)]  # fmt: skip
        forces = machine.inverse_dynamics(motions, friction=False)
        got, wanted = np.concatenate(forces), at.force / tree.ratios
        assert np.abs(got - wanted).max() < 1e-9 * np.abs(wanted).max()
        back = machine.direct_dynamics([m[:2] for m in motions], forces, friction=False)
        for found, (_, _, given) in zip(back, motions, strict=True):
            assert np.abs(found - given).max() < 1e-8 * np.abs(at.acceleration).max()


@pytest.mark.parametrize("name", mostly_long(staged_library(), ["hexapod-on-rail"]))
def test_one_function_of_all_stages_is_the_stages_one_by_one(name: str) -> None:
    """And its Jacobian is the difference of the tool's poses."""
    machine, rng = pp.series(name), np.random.default_rng(3)
    motions = []
    for model in machine.stages:
        m, n = len(model.dof), 4
        scale = np.where(model.mobility.turns, 0.1, 0.05 * model.size)
        if model.mobility.full:
            pose = np.tile(model.robot.home.matrix, (n, 1, 1))
            pose[:, :3, 3] += 0.03 * model.size * rng.uniform(-1, 1, (n, 3))
            motions.append((pose, *rng.normal(size=(2, n, 6))))
        else:
            motions.append(tuple(model.motion(scale * rng.uniform(-1, 1, (n, m)), *rng.normal(size=(2, n, m)))))
    wrench, base = rng.normal(size=6), {"base_twist": rng.normal(size=6), "base_acceleration": rng.normal(size=(4, 6))}
    for moving in ({}, base):
        one = machine.inverse_dynamics(motions, wrench, **moving)
        given = moving.get("base_twist"), moving.get("base_acceleration")
        for got, (wanted, _) in zip(one, machine._solved(motions, wrench, True, *given), strict=True):
            assert np.abs(got - wanted).max() < 1e-11 * max(np.abs(wanted).max(), 1e-3)
    poses = [motion[0][0] for motion in motions]
    q, h = machine.inverse_kinematics(poses), 1e-5
    found, flat = machine.jacobian(poses), np.concatenate(q)
    splits = np.cumsum([len(one) for one in q])[:-1]

    def tool(values: np.ndarray) -> np.ndarray:
        return machine.platform_poses(machine.forward_kinematics(np.split(values, splits)))[-1]

    here = tool(flat)
    assert found.shape == (6, len(machine.actuators))
    for k in range(len(flat)):
        step = h * np.eye(len(flat))[k]
        change = (tool(flat + step) - tool(flat - step)) / (2 * h)
        turn = change[:3, :3] @ here[:3, :3].T
        wanted = np.r_[change[:3, 3], turn[2, 1], turn[0, 2], turn[1, 0]]
        assert np.abs(found[:, k] - wanted).max() < 1e-6 * max(1.0, np.abs(found).max())


def test_what_the_rail_costs(machine: Series, model_of: Any) -> None:
    """Operations of all stages against the hexapod alone, both with the verdict on their inputs."""
    home = [(model.robot.home.matrix, np.zeros(6), np.zeros(6)) for model in machine.stages]
    machine.inverse_dynamics(home)
    whole = machine._functions[True, False]
    assert whole is not None
    alone = model_of("hexapod").kernels.get("inverse_dynamics", True, verdict=True)
    assert whole.operations < 1.2 * alone.operations


def test_limits_and_joints_by_stage(machine: Series, model_of: Any) -> None:
    home = [(model.robot.home.matrix, np.zeros(6), np.zeros(6)) for model in machine.stages]
    moved = home[0][0].copy()
    moved[0, 3] = 0.4
    found = machine.limits([(moved, *home[0][1:]), home[1]])
    assert list(found) == ["rail", "hexapod"]
    assert found["rail"].ok
    moved[0, 3] = 0.51
    assert not machine.limits([(moved, *home[0][1:]), home[1]])["rail"].ok
    joints = machine.joint_positions([moved, home[1][0]])
    assert joints["rail.axis.slide"] == pytest.approx(0.51)
    assert len(joints) == 19


def test_files_and_what_is_refused(machine: Series, tmp_path: Path, model_of: Any) -> None:
    above = "{robot: hexapod, mount: {position: [0, 0, 100 mm], angles: [0, 0, 30 deg]}}"
    text = f"name: pair\nstages: [hexapod, {above}]\n"
    file = tmp_path / "pair.yaml"
    file.write_text(text)
    with refused(RobotFileError, "stages.1", "hexapod"):
        pp.Model(file)
    file.write_text(text.replace("{robot: hexapod,", "{robot: hexapod, name: top,"))
    pair = pp.Model(file)
    assert isinstance(pair, Series)
    assert pair.names == ("hexapod", "top")
    turned = np.array([[np.cos(np.pi / 6), -0.5, 0, 0], [0.5, np.cos(np.pi / 6), 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]])
    np.testing.assert_allclose(pair.mounts[1], turned, atol=1e-15)
    assert polypod("check", file).exit_code == 0
    for wrong, place in (("stages: [hexapod]", "stages"), ("stages: [hexapod, nosuch]", "stages.1"),
                         ("stages: [{robot: hexapod, mount: {position: [0, 0, 1]}}, delta]", "stages.0")):  # fmt: skip
        file.write_text(f"name: wrong\n{wrong}\n")
        with refused(RobotFileError, place):
            pp.Model(file)
    with refused(InputError, code="stages"):
        pp.study("two-3-prs")
    with refused(RobotFileError, code="another_kind"):
        file.write_text(text)
        pp.load(file)
