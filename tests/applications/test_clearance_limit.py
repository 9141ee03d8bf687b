"""A clearance as a limit of a robot file: every consumer judges it, by distances that other tests compare with coal."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import polypod as pp
from polypod.analysis.workspace import constant_orientation, workspace_map
from polypod.description.robot import Floor
from polypod.design import loads_study, prepare
from polypod.design.sweep import run
from polypod.motion import loads_motion, make_task
from polypod.parameters.design import with_numbers
from polypod.results import study, verdict

EQUAL = 1e-12
HEAVE = """
name: heave
trajectory:
  kind: euler
  relative_to: home
  path: {kind: sine, amplitude: [0, 0, 0.02, 0.05, 0, 0], frequency: 1.0, duration: 1.0, phase: 0.2}
"""
"""Its highest point is between samples, which a motion has every sixteenth of a period at least."""


@pytest.fixture(scope="module")
def model():
    return pp.Model(pp.load("hexapod", {"clearance": "73 mm"}))


def below_a_ceiling(clearance: float) -> pp.Model:
    """A hexapod below a plane 90 mm above its platform: that distance is the platform's height, less its tilt."""
    robot = pp.load("hexapod")
    ceiling = Floor(at=(0.0, 0.0, robot.home.position[2] + 0.09), normal=(0.0, 0.0, -1.0))
    return pp.Model(robot.model_copy(update={"floor": ceiling, "clearance": clearance}))


def of_clearance(result):
    return [one for one in verdict(result).uses if one.quantity == "clearance"]


def test_the_verdict_names_who_comes_near_and_when(model):
    task = make_task(model, "hexapod-tour", 20.0)
    result = study(model, task, certify=False)
    distance = model.clearance(task.motion.pose).distance
    worst = min(of_clearance(result), key=lambda one: one.value)
    state, pair = np.unravel_index(distance.argmin(), distance.shape)
    names = [name.partition(".")[0] for name in model.clearance(model.robot.home.matrix).names[pair]]
    assert worst.where == " against ".join(names)
    assert worst.value == distance.min()
    assert worst.use == pytest.approx(0.073 / distance.min(), rel=EQUAL)
    assert worst.time == task.time[state]
    assert not worst.kept
    assert not verdict(result).ok


def test_a_clearance_that_is_lost_between_samples_is_found():
    """Samples so coarse that the nearest approach is between them: a look at 20,000 instants is the truth."""
    heave = loads_motion(HEAVE)
    model = below_a_ceiling(1e-3)
    coarse, fine = make_task(model, heave, 3.0), make_task(model, heave, 2000.0)
    at_samples, truth = (model.clearance(task.motion.pose).distance.min() for task in (coarse, fine))
    assert truth < at_samples * (1 - 1e-4)
    bound = 0.5 * (at_samples + truth)
    tight = below_a_ceiling(bound)
    result = study(tight, make_task(tight, heave, 3.0))
    assert all(one.kept for one in of_clearance(result))
    assert not verdict(result).ok
    assert "clearance" in result.attrs["broken_between_samples"]
    loose = below_a_ceiling(0.99 * truth)
    kept = study(loose, make_task(loose, heave, 3.0))
    assert verdict(kept).ok
    assert "Smallest clearance between samples" in kept.attrs["between_samples"]


def test_workspaces_end_where_bodies_come_too_near():
    model = below_a_ceiling(0.03)
    found = constant_orientation(model, points=11)
    inside = found.inside.values
    axes = np.meshgrid(*(found[name].values for name in ("x", "y", "z")), indexing="ij")
    poses = np.tile(model.robot.home.matrix, (*inside.shape, 1, 1))
    poses[..., :3, 3] += np.stack(axes, axis=-1)
    free = model.clearance(poses, errors="nan").least >= 0.03
    within = workspace_map(pp.Model("hexapod"), {name: found[name].values for name in ("x", "y", "z")})
    np.testing.assert_array_equal(inside, within.inside.values & free)
    assert (within.inside.values & ~free).any()
    shares = dict(zip(found.limit.values.tolist(), found.share.values.tolist(), strict=True))
    assert sum(share for name, share in shares.items() if name.endswith("clearance")) > 0
    assert any("against" in name for name in shares)


def test_a_sweep_judges_each_design_with_its_own_shapes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "{name: a, robot: hexapod, motions: hexapod-tour, rate: 10, report: [peak force], "
    text += "vary: [{numbers: platform.mass, values: [20 kg, 30 kg]}, "
    text += "{numbers: legs.*.platform, pattern: factor, values: [0.9, 1.1]}]}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared, evaluator = prepare(loads_study(text), {"clearance": "50 mm"})
        result = run(prepared, evaluator, threads=1)
        for k in range(len(prepared.values)):
            numbers = {path: value[0] for path, value in evaluator.parameters(prepared.values[k : k + 1]).items()}
            one = pp.Model(with_numbers(prepared.model.robot, numbers))
            truth = one.clearance(prepared.tasks[0].motion.pose).distance.min()
            assert float(result["use_of_clearance"].values[k, 0]) == pytest.approx(0.05 / truth, rel=EQUAL)


def test_designs_have_the_distances_of_robots_that_are_built():
    model = pp.Model("hexapod")
    robot = model.robot
    moved = np.array(robot.legs[0].platform) + np.array([[0.0, 0.0, 0.0], [0.01, 0.0, 0.004]])
    masses = np.array([1.0, 2.0])
    found = model.clearance(robot.home.matrix, parameters={"legs.0.platform": moved, "platform.mass": masses})
    for k in range(2):
        built = pp.Model(with_numbers(robot, {"legs.0.platform": moved[k], "platform.mass": masses[k]}))
        np.testing.assert_allclose(found.distance[k], built.clearance(robot.home.matrix).distance, rtol=0, atol=1e-14)
    assert np.abs(found.distance[0] - found.distance[1]).max() > 1e-3


def test_a_clearance_must_be_a_length():
    with pytest.raises(pp.errors.RobotFileError):
        pp.load("hexapod", {"clearance": "20 N"})
    with pytest.raises(pp.errors.RobotFileError):
        pp.load("hexapod", {"clearance": 0.0})
