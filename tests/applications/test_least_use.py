"""Force limits of robots with more actuators than degrees of freedom: the best distribution, by linear programming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import polypod as pp
from polypod.analysis.workspace import PoseCoordinates, Requirements, WorkspaceTest
from polypod.errors import InputError
from polypod.model.least_use import least_use
from support.refusals import refused

Array = NDArray[np.float64]


def least_largest_use(force: Array, free: Array, limits: Array) -> float:
    """The least t with |force + free y| <= t limits, by HiGHS; drives without a limit do not count."""
    known = np.isfinite(limits)
    start, moves = force[known] / limits[known], free[known] / limits[known, None]
    ones = np.ones((len(start), 1))
    found = linprog(
        np.r_[np.zeros(free.shape[1]), 1.0],
        A_ub=np.block([[moves, -ones], [-moves, -ones]]),
        b_ub=np.r_[-start, start],
        bounds=[(None, None)] * free.shape[1] + [(0, None)],
    )
    return float(found.fun)


@pytest.mark.parametrize(("n", "r"), [(4, 1), (7, 1), (8, 2), (9, 3), (3, 0)])
@pytest.mark.parametrize("kind", ["any", "one without a limit", "idle drives"])
def test_no_distribution_uses_the_limits_less(n: int, r: int, kind: str) -> None:
    """Random robots, and such whose null space leaves some drives out or moves them alike."""
    rng = np.random.default_rng(10 * n + r)
    force, limits = 5 * rng.normal(size=(12, n)), rng.uniform(0.5, 3.0, n)
    matrix = rng.normal(size=(12, n, r))
    if kind == "idle drives":
        matrix[:, 0] = 0.0
        matrix[:, 1] = matrix[:, 2]
    if kind == "one without a limit":
        limits[-1] = np.inf
    free = np.linalg.qr(matrix)[0] if r else matrix
    found = least_use(force, free, limits)
    for k in range(12):
        wanted = least_largest_use(force[k], free[k], limits)
        # HiGHS stops at 1e-7 of what it is asked for
        assert np.abs(found[k] / limits).max() == pytest.approx(wanted, rel=1e-6, abs=1e-7)
        change = found[k] - force[k]
        np.testing.assert_allclose(free[k] @ (free[k].T @ change), change, atol=1e-9 * (1 + np.abs(change).max()))


def test_rows_that_are_no_numbers_stay_so() -> None:
    free = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 4, 1)))[0]
    force = np.ones((3, 4))
    force[1] = np.nan
    found = least_use(force, free, np.ones(4))
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()
    assert least_use(force[:0], free[:0], np.ones(4)).shape == (0, 4)


def test_a_redundant_robot_holds_what_its_best_distribution_holds(model_of: Callable[[str], pp.Model]) -> None:
    """Poses that drives of 2.35 N m hold against gravity: 41 of 49 by linear programming, 27 by least norm."""
    model, most = model_of("planar-4-rrr"), 2.35
    ends = np.linspace(-1, 1, 7)
    x = np.array([(a, b, 0.0) for a in 0.06 * ends for b in 0.06 * ends])
    judged = WorkspaceTest(PoseCoordinates(model), Requirements(max_force=most))(x)
    pose = model.motion(x).pose
    still = np.zeros(6)
    force = model.inverse_dynamics(pose, still, still, friction=False)
    free = model.null_space(pose)
    held = np.array([least_largest_use(f, n, np.full(4, most)) <= 1 for f, n in zip(force, free, strict=True)])
    plain = WorkspaceTest(PoseCoordinates(model))(x).inside
    assert (judged.inside == (held & plain)).all()
    assert (judged.inside.sum(), (np.abs(force).max(axis=1) <= most).sum()) == (41, 27)


def test_a_wrench_feasible_workspace_holds_every_corner_of_the_box(model_of: Callable[[str], pp.Model]) -> None:
    """Poses where forces from -2.5 to 3 N m hold a box of forces, by linear programming at its corners."""
    model, low, high, box = model_of("planar-4-rrr"), np.full(4, -2.5), np.full(4, 3.0), (2.0, 1.0, 0, 0, 0, 0)
    ends = np.linspace(-1, 1, 5)
    x = np.array([(a, b, 0.0) for a in 0.06 * ends for b in 0.06 * ends])
    asked = Requirements(force_range=(-2.5, 3.0), wrench_box=box)
    judged, plain = WorkspaceTest(PoseCoordinates(model), asked)(x), WorkspaceTest(PoseCoordinates(model))(x).inside
    pose, still = model.motion(x).pose, np.zeros(6)
    corners = np.array([(a * box[0], b * box[1], 0, 0, 0, 0) for a in (-1, 1) for b in (-1, 1)])
    force = model.inverse_dynamics(pose[:, None], still, still, corners, friction=False) - 0.5 * (low + high)
    free, half = model.null_space(pose), 0.5 * (high - low)
    held = np.array(
        [all(least_largest_use(f, n, half) <= 1 for f in corner) for corner, n in zip(force, free, strict=True)]
    )
    assert (judged.inside == (held & plain)).all()
    assert 0 < judged.inside.sum() < plain.sum()
    binding = [WorkspaceTest(PoseCoordinates(model), asked).limits[k][0] for k in judged.binding[plain & ~held]]
    assert set(binding) <= {actuator.name for actuator in model.actuators}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"wrench_box": (1.0, 0, 0, 0, 0, 0)}, "max_force"),
        ({"max_force": 2.0, "wrench_box": (1.0, -1.0, 0, 0, 0, 0)}, "wrench_box -1"),
        ({"max_force": 2.0, "accelerations": (1.0, -1.0, 0, 0, 0, 0)}, "accelerations -1"),
        ({"max_force": 2.0, "wrench_box": (1.0,) * 6, "wrench_ellipsoid": (1.0,) * 6}, "#two_sets"),
        ({"max_force": 2.0, "payload": (1.0, (0, 0, 0)), "accelerations": (1.0,) * 6}, "#payload"),
        ({"max_force": 2.0, "force_range": (-1.0, 1.0)}, "force_range max_force"),
    ],
)
def test_requirements_of_wrenches_that_are_none(given: dict[str, Any], named: str) -> None:
    with refused(InputError, named):
        Requirements(**given)


def test_a_workspace_by_drives_holds_what_the_verdict_keeps_at_rest() -> None:
    """Margins share forces so that limits are used least, verdicts nearest to least norm: the same poses pass."""
    model = pp.Model(pp.load("planar-4-rrr", {"legs.*.joints.0.max_torque": "3 N m"}))
    test = WorkspaceTest(PoseCoordinates(model), Requirements(drives=True))
    draw = np.random.default_rng(1).uniform(-1, 1, (600, len(test.space.names)))
    poses = test.space.poses(draw * np.where(test.space.turns, 1.0, 0.35 * model.size))
    poses = poses[np.isfinite(model.inverse_kinematics(poses, errors="nan")).all(axis=1)]
    still, found = np.zeros(6), test.poses(poses)
    kept = model.limits(poses, still, still, friction=False).inside.all(axis=1)
    same_side = found.kept & (found.determinant > 0)
    np.testing.assert_array_equal(found.inside[same_side], kept[same_side])
    assert 20 < (~kept).sum() < len(poses) - 100
