"""Gears change coordinates and forces, not how near a pose is to a singular one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.analysis import singularity
from polypod.errors import ImplausibleWarning
from polypod.files import dumps
from support.command_line import polypod
from support.refusals import says
from support.robots.machine_chains import MACHINES
from support.robots.unusual_chains import UNUSUAL


def geared(name: str, ratios: dict[int, float]) -> pp.Robot:
    """A library robot whose drives of some legs have a ratio."""
    robot = pp.load(name)
    legs = []
    for number, leg in enumerate(robot.legs):
        data = leg.model_dump(exclude_unset=True) | {"kind": leg.kind, "name": leg.name}
        for joint in data["joints"]:
            if joint.get("actuated"):
                joint["ratio"] = ratios.get(number, 1.0)
        legs.append(data)
    return pp.Robot.model_validate(robot.model_dump(exclude_unset=True) | {"legs": legs})


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("planar-3-rrr", 100.0),
        pytest.param("planar-3-rrr", -1e5, marks=pytest.mark.long),
        pytest.param("3-prs", 1256.6, marks=pytest.mark.long),
    ],
)
def test_a_gear_does_not_count_in_conditioning(name: str, ratio: float) -> None:
    """One drive behind a gear: J has a row that is ratio times larger, and the platform moves as before."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ImplausibleWarning)  # no "nearly singular at home"
        model, other = pp.Model(name), pp.Model(geared(name, {0: ratio}))
    rng, scale = np.random.default_rng(2), np.where(model.mobility.turns, 0.1, 0.1 * model.size)
    pose = model.motion(scale * rng.uniform(-1, 1, (5, len(scale)))).pose
    for one, two in zip(model.conditioning(pose), other.conditioning(pose), strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-11)
    rows = np.where(model.kernels.mechanism.rotary_drives, model.size, 1.0)[:, None]
    columns = np.where(model.mobility.turns, 1 / model.size, 1.0)
    values = np.linalg.svd(rows * model.jacobian(pose) * columns, compute_uv=False)
    np.testing.assert_allclose(model.conditioning(pose).condition, values[:, 0] / values[:, -1], rtol=1e-12)
    np.testing.assert_allclose(model.conditioning(pose).distance, values[:, -1], rtol=1e-12)
    assert singularity(other).actuation == pytest.approx(singularity(model).actuation, rel=1e-11)
    still, wrench = np.zeros(6), rng.normal(size=(5, 6))
    force, found = (m.inverse_dynamics(pose, still, still, wrench) for m in (model, other))
    np.testing.assert_allclose(found * np.r_[ratio, np.ones(force.shape[1] - 1)], force, rtol=1e-9, atol=1e-12)
    changed = model.conditioning(pose, parameters={"legs.0.joints.0.ratio": ratio}) if name == "3-prs" else None
    if changed is not None:
        np.testing.assert_allclose(changed.condition, model.conditioning(pose).condition, rtol=1e-11)


def test_check_counts_no_gear(tmp_path: Any) -> None:
    path = tmp_path / "geared.yaml"
    path.write_text(dumps(geared("planar-3-rrr", {1: 1e4})), encoding="utf-8")
    said = polypod("check", path).output
    says(said, "condition 1.179 home")
    assert "nearly singular" not in said


@pytest.mark.long
def test_joints_that_turn_and_slide_are_compared_in_lengths() -> None:
    """A robot in feet is as near to a singular pose as in metres, whether its drives turn or slide."""
    data = mixed()
    model = pp.Model(pp.Robot.model_validate(data))
    assert len(set(model.kernels.mechanism.rotary_drives)) == 2
    other = pp.Model(pp.Robot.model_validate(enlarged(data, 1 / 0.3048)))
    for one, two in zip(*(m.conditioning(m.robot.home.matrix) for m in (model, other)), strict=True):
        assert two == pytest.approx(one, rel=1e-10)


def mixed() -> dict[str, Any]:
    """A robot some of whose drives turn and some slide."""
    for make in (*MACHINES.values(), *UNUSUAL.values()):
        data = make(1)
        kinds = {j["kind"] for leg in data["legs"] for j in leg["joints"] if j.get("actuated")}
        if {"revolute", "prismatic"} <= kinds:
            return data
    raise AssertionError("no robot has drives of both kinds")


def enlarged(data: dict[str, Any], factor: float) -> dict[str, Any]:
    """The same robot, all lengths times a factor; masses and inertias count for nothing here."""

    def at(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: at(item, name) for name, item in value.items()}
        if key in ("at", "com", "position"):
            return [factor * float(x) for x in value]
        return [at(item) for item in value] if isinstance(value, list) else value

    return at(data)
