"""Robots stepped side by side, and the Gymnasium environment that is made of them."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.errors import InputError
from polypod.simulation import VectorSimulation
from support.refusals import refused

pytest.importorskip("gymnasium", reason="gymnasium is not installed")
ModelOf = Callable[[str], pp.Model]
EXAMPLES = Path(__file__).parents[2] / "examples"
MASS = "platform.mass"


def test_rows_are_the_runs_of_simulate(model_of: ModelOf) -> None:
    """To the bit, where periods are (1/64 s), until one is lost: it stays where it was when its run ends."""
    model = model_of("five-bar")
    pose = model.motion([[0.0, 0.0], [0.005, 0.01], [-0.01, 0.0]]).pose
    force = np.array([[0.01, -0.02], [0.0, 0.03], [3.0, 3.0]])
    runs = pp.simulate(model, force, pose=pose, duration=5 / 64, rate=64)
    rows = VectorSimulation(model, 3, rate=64.0)
    assert not rows.place(pose).any()
    gone = np.zeros(3, dtype=bool)
    for k in range(5):
        before = rows.pose
        lost = rows.advance(force)
        np.testing.assert_array_equal(rows.pose[lost], before[lost])
        gone |= lost
        np.testing.assert_array_equal(rows.pose[~gone], runs.pose.values[~gone, k + 1])
        np.testing.assert_array_equal(rows.qdot[~gone], runs.qdot.values[~gone, k + 1])
    assert gone.tolist() == [False, False, True]
    assert (runs.end_time.values < 5 / 64).tolist() == gone.tolist()


def test_rows_have_designs_of_their_own_and_change_them(model_of: ModelOf) -> None:
    model = model_of("five-bar")
    mass = model.robot.platform.mass * np.array([1.0, 3.0])
    rows = VectorSimulation(model, 2, parameters={MASS: mass})
    rows.place(model.robot.home.matrix, rows=[1], parameters={MASS: [2 * mass[0]]})
    rows.advance([0.02, -0.01])
    for k, value in enumerate([mass[0], 2 * mass[0]]):
        alone = pp.simulate(pp.load("five-bar", {MASS: value}), [0.02, -0.01], duration=0.01, rate=100)
        # numbers as inputs and in the file are the same function of them, rounded otherwise
        np.testing.assert_allclose(rows.q[k], alone.q.values[-1], rtol=1e-12)
    assert rows.place(model.robot.home.matrix, rows=[0], parameters={MASS: [-1.0]}).tolist() == [True]
    assert rows.advance([0.0, 0.0]).tolist() == [True, False]


def environment(model: pp.Model, **options: Any) -> Any:
    return pp.gym(model, 5, rate=50.0, duration=0.1, **options)


def test_an_environment_as_gymnasium_has_them(model_of: ModelOf) -> None:
    """Spaces, seeds, ends of time, and rows that start anew in the same step."""
    env = environment(model_of("five-bar"), parameters={MASS: (0.04, 0.06)})
    first, _ = env.reset(seed=3)
    assert env.observation_space.contains(first)
    assert env.metadata["autoreset_mode"].name == "SAME_STEP"
    histories = []
    for _ in range(2):
        observations, _ = env.reset(seed=3)
        np.testing.assert_array_equal(observations, first)
        history = []
        for k in range(5):
            observations, rewards, terminated, truncated, info = env.step(np.full((5, 2), 0.5))
            assert env.observation_space.contains(observations)
            assert not terminated.any()
            assert (truncated == (k == 4)).all()
            assert ("final_obs" in info) == (k == 4)
            history.append(rewards)
        histories.append(history)
        assert not np.array_equal(info["final_obs"], observations)
        assert (observations[:, 2:] == 0).all()  # at rest
    np.testing.assert_array_equal(*histories)


def test_rewards_are_of_the_state_that_was_reached(model_of: ModelOf) -> None:
    """The default from the error by itself; a reward and observations of one's own."""
    model, seen = model_of("five-bar"), []

    def reward(situation: Any) -> Any:
        seen.append(situation)
        return -np.linalg.norm(situation.target[:, :2, 3] - situation.pose[:, :2, 3], axis=1)

    env = environment(model, reward=reward, observe=lambda situation: situation.q)
    observations, _ = env.reset(seed=0)
    np.testing.assert_allclose(observations, env.simulation.q, rtol=1e-6)
    _, rewards, *_ = env.step(np.zeros((5, 2)))
    assert (rewards < 0).all()
    plain = environment(model)
    plain.reset(seed=0)
    _, usual, *_ = plain.step(np.zeros((5, 2)))
    e = rewards / (0.1 * model.robot.platform_size)
    np.testing.assert_allclose(usual, 1 / (1 + e**2), rtol=1e-9)


def test_a_row_that_leaves_its_limits_is_terminated(model_of: ModelOf) -> None:
    env = environment(model_of("five-bar"), force=30.0)
    env.reset(seed=1)
    ended = np.zeros(5, dtype=bool)
    for _ in range(4):
        _, rewards, terminated, _, info = env.step(np.ones((5, 2)))
        assert (rewards[terminated] == 0).all()
        ended |= terminated
        np.testing.assert_array_equal(terminated, info.get("_final_obs", np.zeros(5, dtype=bool)))
    assert ended.any()


@pytest.mark.parametrize(
    ("given", "data"),
    [
        ({"duration": 0.0}, "duration 0.0"),
        ({"reach": 40.0}, "reach"),
        ({"force": [1.0, 2.0, 3.0]}, "force 2"),
        ({"parameters": {MASS: 1.0}}, f"{MASS} 1.0"),
        ({"parameters": {MASS: (-2.0, -1.0)}}, "parameters"),
        ({"rate": -1.0}, "rate -1.0"),
        ({"reward": lambda situation: 1.0}, "reward (5,)"),
    ],
)
def test_what_makes_no_environment_is_refused(given: dict[str, Any], data: str, model_of: ModelOf) -> None:
    with refused(InputError, data):
        env = pp.gym(model_of("five-bar"), 5, **{"rate": 50.0, **given})
        env.reset()
        env.step(np.zeros((5, 2)))


def test_rows_of_other_shapes_are_refused(model_of: ModelOf) -> None:
    model = model_of("five-bar")
    rows = VectorSimulation(model, 2)
    for data, give in (
        ("force (2, 2) (3, 2)", lambda: rows.advance(np.zeros((3, 2)))),
        (f"parameters {MASS}", lambda: rows.place(model.robot.home.matrix, parameters={MASS: 1.0})),
        ("count 0", lambda: VectorSimulation(model, 0)),
        ("parameters 3 (2,)", lambda: VectorSimulation(model, 3, parameters={MASS: [0.1, 0.2]})),
    ):
        with refused(InputError, data):
            give()
    assert rows.advance([[np.nan, 0.0], [0.0, 0.0]]).tolist() == [True, False]


def test_a_policy_learns() -> None:
    """Twelve iterations on the smallest robot: returns that random changes do not give."""
    example = runpy.run_path(str(EXAMPLES / "learn_to_reach.py"))
    found = example["learn"]("five-bar", 12, duration=0.25, rate=40.0, step=0.0125)
    (_, before), *_, (_, after) = found["history"]
    assert after > 1.3 * before


def test_sampling_finds_the_way_around() -> None:
    example = runpy.run_path(str(EXAMPLES / "mppi_obstacle.py"))
    found = example["run"](periods=40, samples=96)
    away = np.linalg.norm(found["path"] - example["GOAL"], axis=1)
    assert away[-1] < 0.5 * away[0]
    assert np.linalg.norm(found["path"] - example["OBSTACLE"], axis=1).min() > example["RADIUS"]
