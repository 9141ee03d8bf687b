"""Forces of redundant actuators are shared within what their drives give, wherever forces are computed or judged."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import polypod as pp
from polypod.design import loads_study, prepare
from polypod.design.sweep import run
from polypod.fastest import fastest
from polypod.limits.limits import LEAST_NORM, WITHIN_DRIVES
from polypod.limits.symbols import uses_expression
from polypod.model.least_use import least_use
from polypod.results import study, verdict
from support.command_line import polypod

Array = NDArray[np.float64]
MOST = 2.35
"""Torque [N m] with which least norm holds 27 of the 49 poses below, and the best distribution 41."""


def robot(**ratings: Any) -> pp.Robot:
    """The planar robot of four legs with other ratings of its drives."""
    data = pp.load("planar-4-rrr").model_dump(exclude_unset=True)
    for leg in data["legs"]:
        motor = leg["joints"][0]
        del motor["max_force"]
        motor |= ratings
    return pp.Robot.model_validate(data)


@pytest.fixture(scope="module")
def weak() -> pp.Model:
    return pp.Model(robot(max_force=MOST))


def poses(model: pp.Model) -> Array:
    ends = 0.06 * np.linspace(-1, 1, 7)
    return model.motion(np.array([(a, b, 0.0) for a in ends for b in ends])).pose


def test_the_judge_keeps_what_the_best_distribution_keeps(weak: pp.Model) -> None:
    """41 of 49 poses by linear programming; elsewhere forces exceed their limits by as little as any do."""
    pose, still = poses(weak), np.zeros(6)
    plain = weak.inverse_dynamics(pose, still, still, distribution=pp.Distribution())
    force, free = weak.inverse_dynamics(pose, still, still), weak.null_space(pose)
    change = force - plain
    np.testing.assert_allclose(np.einsum("kir,kjr,kj->ki", free, free, change), change, atol=1e-12)
    best = least_use(plain, free, np.full(4, MOST))
    possible, kept = np.abs(best).max(axis=1) <= MOST, np.abs(plain).max(axis=1) <= MOST
    assert (possible.sum(), kept.sum()) == (41, 27)
    np.testing.assert_array_equal(force[kept], plain[kept])
    np.testing.assert_allclose(force[~possible], best[~possible], rtol=1e-9)
    assert (weak.limits(pose, still, still).inside.all(axis=-1) == possible).all()
    np.testing.assert_allclose(weak.reactions(pose, still, still).force, force, rtol=1e-10)


@pytest.mark.parametrize(
    "ratings",
    [
        {"force_speed": [[0.0, 3.0], [2.0, 2.0], [4.0, 0.5]]},
        {"max_force": 4.0, "max_power": 5.0},
        {"max_motor_torque": 0.9, "gear": 3.0, "rotor_inertia": 0.002, "efficiency": 0.8},
    ],
    ids=["curve", "power", "motor"],
)
def test_ranges_of_drives_are_the_inverse_of_the_uses_that_are_judged(ratings: dict[str, Any]) -> None:
    """States are within all limits where linear programming finds forces that each use at most one."""
    model, rng = pp.Model(robot(**ratings)), np.random.default_rng(3)
    scale = np.array([0.05, 1.0, 6.0])[:, None, None]
    motion = model.motion(*(scale * rng.uniform(-1, 1, (3, 60, 3))))
    report = model.limits(*motion, friction=False)
    force = model.inverse_dynamics(*motion, friction=False)
    kept, free = report.inside.all(axis=-1), model.null_space(motion[0])
    assert 5 < kept.sum() < 55
    plain = model.inverse_dynamics(*motion, friction=False, distribution=pp.Distribution())
    assert (kept & (np.abs(force - plain).max(axis=1) > 1e-6)).sum() > 2
    given = {"qdot": model.rates(*motion[:2]), "qddot": model.accelerations(*motion)}
    own = model.robot_limits

    def use(forces: Array, k: int) -> Array:
        return own.evaluate(
            {"force": forces} | {name: np.broadcast_to(v[k], forces.shape) for name, v in given.items()}
        ).use

    for k in range(60):
        ends = np.linspace(-8.0, 8.0, 3201)
        uses = use(np.repeat(ends[:, None], 4, axis=1), k).reshape(len(ends), -1, 4).max(axis=1)
        some = [ends[uses[:, i] <= 1] for i in range(4)]
        if not all(map(len, some)):  # a drive that is too fast for its curve
            assert not kept[k]
            continue
        low, high = (np.array([one[j] for one in some]) for j in (0, -1))
        found = linprog(
            np.r_[0.0, -1.0],
            A_ub=np.block([[free[k], np.ones((4, 1))], [-free[k], np.ones((4, 1))]]),
            b_ub=np.r_[high - plain[k], plain[k] - low],
            bounds=[(None, None)] * 2,
        )
        assert kept[k] == (-found.fun > 0) or abs(found.fun) < 0.006  # the grid of forces


def test_run_sweeps_compiled_uses_and_proofs_agree(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A motion that least norm cannot make and the drives can: kept by all, with the same uses."""
    monkeypatch.chdir(tmp_path)
    model = pp.Model(robot(max_force=3.9))
    pp.save(model.robot, "weak.yaml")
    result = study(model, "planar-4-rrr-square", rate=50, certify=True)
    plain = model.inverse_dynamics(
        result.pose.values, result.twist.values, result.acceleration.values, distribution=pp.Distribution()
    )
    assert np.abs(plain).max() > 3.9
    judged = verdict(result)
    assert judged.ok
    assert judged.note == WITHIN_DRIVES
    assert "samples and midpoints only" in result.attrs["between_samples"]
    text = "{name: s, robot: weak.yaml, motions: planar-4-rrr-square, rate: 50, report: [peak force], "
    text += "vary: [{parameters: platform.mass, values: [1.2, 1.5]}]}"
    swept = run(*prepare(loads_study(text)))
    assert float(swept["peak_force"].values[0, 0]) == pytest.approx(np.abs(result.force.values).max(), rel=1e-12)
    kernels = model.kernels
    function = uses_expression(kernels, kernels.mechanism, model.robot_limits, True, model.clearances)
    k = int(np.abs(plain).max(axis=1).argmax())
    state = {name: result[name].values[k] for name in ("pose", "twist", "acceleration")}
    given = state | {"weights": np.ones(4)}
    call = function.fixed(kernels.mechanism.numbers.values).function
    use = np.array(call(*(given.get(p.name, np.zeros(p.length)).ravel() for p in function.inputs))[0]).ravel()
    np.testing.assert_allclose(use[1:5], model.limits(**state)["torque"], rtol=1e-12)


def test_a_fastest_motion_uses_the_best_distribution() -> None:
    """At nearly every instant the best distribution is at a limit, which least norm exceeds."""
    model = pp.Model("planar-4-rrr")
    found = fastest(model, "planar-4-rrr-square", points=200)
    motion = found.trajectory.for_model(model).at(np.linspace(0, found.duration, 500))
    plain = model.inverse_dynamics(*motion[1:], distribution=pp.Distribution())
    use = np.abs(least_use(plain, model.null_space(motion.pose), np.full(4, 20.0))).max(axis=1) / 20.0
    assert use.max() < 1.001
    assert (use > 0.97).mean() > 0.9
    assert np.abs(plain).max() > 1.3 * 20.0


def test_without_limits_forces_are_of_least_norm() -> None:
    model = pp.Model(robot())
    still = np.zeros(6)
    found = model.inverse_dynamics(model.robot.home.matrix, still, still)
    plain = model.inverse_dynamics(model.robot.home.matrix, still, still, distribution=pp.Distribution())
    np.testing.assert_array_equal(found, plain)
    assert model.robot_limits.sharing == LEAST_NORM


def test_a_fastest_motion_says_for_which_forces_its_limits_held(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of power are searched with forces of least norm, those of forces with the best ones."""
    monkeypatch.chdir(tmp_path)
    said = {}
    for name, options in (("planar-4-rrr", ["--max-power", "30 W"]), ("planar-4-rrr", []), ("planar-3-rrr", [])):
        done = polypod("fastest", name, *options, "--points", 20, "--json", "--force")
        assert done.exit_code == 0, done.output
        said[name, *options] = json.loads(done.stdout)["sharing"]
    power, plain, single = said.values()
    assert "power" in power
    assert "force of" not in power
    assert plain == single == ""
