"""Codes of poses that legs do not reach: by closed forms, by iterating, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.files import dumps, loads
from polypod.model import ClosureStatus
from support.states import singular_pose

# Links of the planar robot, from its file; the crank's motor and the platform's joint of each leg at home.
LINKS = [
    (
        np.linalg.norm(np.subtract(leg.joints[1].at, leg.joints[0].at)),
        np.linalg.norm(np.subtract(leg.joints[2].at, leg.joints[1].at)),
        np.array(leg.joints[0].at),
        np.array(leg.joints[2].at),
    )
    for leg in pp.load("planar-3-rrr").legs
]


@pytest.fixture(scope="module")
def models() -> tuple[pp.Model, pp.Model]:
    """Legs in closed form, and closed by iterating."""
    robot = pp.load("planar-3-rrr")
    legs = tuple(leg.model_copy(update={"closing": "newton"}) for leg in robot.legs)
    return pp.Model(robot), pp.Model(loads(dumps(robot.model_copy(update={"legs": legs}))))


def by_hand(robot: pp.Robot, pose: Any) -> tuple[int, float]:
    """The first leg that is too short or too long for a pose, and by how much; -1 and 0 if all reach."""
    home = robot.home.matrix
    for number, (crank, rod, motor, joint) in enumerate(LINKS):
        there = pose[:3, :3] @ home[:3, :3].T @ (joint - home[:3, 3]) + pose[:3, 3]
        distance = float(np.linalg.norm(there - motor))
        off = max(distance - crank - rod, abs(crank - rod) - distance)
        if off > 0:
            return number, off
    return -1, 0.0


def test_rows_of_coordinates_at_home_are_those_of_closed_forms(models: tuple[pp.Model, pp.Model]) -> None:
    """dq/d(twist) of a leg closed by iterating: what its unknowns follow is part of the slope."""
    home = models[0].robot.home.matrix
    for known, iterated in zip(*(model.robot.legs for model in models), strict=True):
        np.testing.assert_allclose(iterated.coordinate_rows(home), known.coordinate_rows(home), rtol=0, atol=1e-13)
    rows = np.concatenate([leg.coordinate_rows(home) for leg in models[1].robot.legs])
    np.testing.assert_allclose(rows[:, [0, 1, 5]], models[0].jacobian(home), rtol=0, atol=1e-13)


@pytest.mark.long
def test_out_of_reach_names_the_leg_and_the_length(models: tuple[pp.Model, pp.Model]) -> None:
    """The rod is too short by the distance beyond crank and rod; with a gap left at a joint it is the same length."""
    robot, rng = models[0].robot, np.random.default_rng(0)
    x = rng.uniform(-1, 1, (12, 3)) * [0.2, 0.2, 0.5]
    pose = models[0].motion(x, 0 * x, 0 * x).pose
    wanted = [by_hand(robot, p) for p in pose]
    assert {leg for leg, _ in wanted} >= {-1, 0, 1}
    for model in models:
        found = model.closing(pose)
        for k, (leg, off) in enumerate(wanted):
            assert found.leg[k] == leg
            if leg < 0:
                assert found.status[k] == ClosureStatus.CLOSED
                assert np.isnan(found.excess[k])
            else:
                assert found.status[k] == ClosureStatus.OUT_OF_REACH
                assert found.excess[k] == pytest.approx(off, rel=1e-6)  # a least gap is flat at its bottom


def test_one_pose_has_one_code(models: tuple[pp.Model, pp.Model]) -> None:
    found = models[0].closing(models[0].robot.home.matrix)
    assert found.status.shape == ()
    assert found.status == ClosureStatus.CLOSED


def test_a_singular_platform_and_a_singular_leg(model_of: Any) -> None:
    model = model_of("lopes")
    pose, _ = singular_pose(model)
    found = model.closing(np.stack([model.robot.home.matrix, pose]))
    assert found.status.tolist() == [ClosureStatus.CLOSED, ClosureStatus.SINGULAR]
    assert found.leg.tolist() == [-1, -1]
    model = model_of("pedrammehr")
    pose = model.robot.home.matrix.copy()
    leg = model.robot.legs[2]
    pose[:3, 3] = np.array(leg.base) - pose[:3, :3] @ np.array(leg.platform)  # its two joints coincide
    found = model.closing(pose)
    assert (found.status, found.leg) == (ClosureStatus.SINGULAR_LEG, 2)
