"""A robot learns to reach random poses: augmented random search on its Gymnasium environment, in a minute.

    python learn_to_reach.py [FOLDER]

The policy is linear, from the error of the pose and the twist (12 numbers) to the actuators' forces (6), and knows
nothing of the robot. Each iteration tries it with random changes, two opposite ones each, in all environments side by
side, and moves it along those that earned more (Mania, Guy, Recht: Simple random search, NeurIPS 2018, algorithm ARS
V1-t). Platform masses differ by up to 20 % from episode to episode. Prints and draws the mean return of new episodes.
Needs the package ``gymnasium``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import polypod as pp

DIRECTIONS, BEST, EPISODES = 24, 12, 6
SIZE, RATE = 0.2, 0.3  # of the changes, of the steps
NEW = 32


def returns(env: Any, policies: Any, seed: int) -> Any:
    """Mean return of each policy (p, n, k) in its share of the environments, over one episode."""
    observations, _ = env.reset(seed=seed)
    share = env.num_envs // len(policies)
    total, alive = np.zeros(env.num_envs), np.ones(env.num_envs, dtype=bool)
    while alive.any():
        seen = observations.reshape(len(policies), share, -1)
        actions = np.einsum("pnk,pek->pen", policies, seen).reshape(env.num_envs, -1)
        observations, rewards, terminated, truncated, _ = env.step(actions)
        total += rewards * alive
        alive &= ~(terminated | truncated)
    return total.reshape(len(policies), share).mean(axis=1)


def learn(robot: str = "reachy-mini", iterations: int = 80, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The policy, and its mean returns of new episodes every tenth iteration."""
    mass = pp.load(robot).platform.mass
    given = {
        "duration": 0.5,
        "rate": 100.0,
        "friction": False,
        "parameters": {"platform.mass": (0.8 * mass, 1.2 * mass)},
    }
    env = pp.gym(robot, 2 * DIRECTIONS * EPISODES, **{**given, **options})
    fresh = pp.gym(robot, NEW, **{**given, **options})
    draw = np.random.default_rng(seed)
    policy = np.zeros((env.single_action_space.shape[0], env.single_observation_space.shape[0]))
    history = [(0, float(returns(fresh, policy[None], 1)[0]))]
    begin = time.process_time()
    for k in range(1, iterations + 1):
        changes = draw.normal(size=(DIRECTIONS, *policy.shape))
        earned = returns(env, np.concatenate([policy + SIZE * changes, policy - SIZE * changes]), seed + k)
        plus, minus = earned[:DIRECTIONS], earned[DIRECTIONS:]
        best = np.argsort(-np.maximum(plus, minus))[:BEST]
        spread = np.concatenate([plus[best], minus[best]]).std() + 1e-9
        policy = policy + RATE / spread * np.einsum("d,dnk->nk", plus[best] - minus[best], changes[best]) / BEST
        if k % 10 == 0 or k == iterations:
            history.append((k, float(returns(fresh, policy[None], 1)[0])))
    steps = iterations * env.num_envs * round(0.5 * 100)
    return {"policy": policy, "history": history, "time": time.process_time() - begin, "steps": steps}


def draw(found: dict[str, Any], path: Path) -> None:
    """Mean return of new episodes by iteration."""
    figure = Figure((6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*found["history"], strict=True), "o-", color="#1f6f8b")
    axes.set(xlabel="iteration", ylabel="mean return of new episodes", title="A robot learns to reach random poses")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


def main(folder: Path) -> None:
    """Learn, print and draw."""
    found = learn()
    for k, value in found["history"]:
        print(f"iteration {k:3d}: mean return {value:.1f} of at most 50")
    print(f"{found['steps']:,} control periods in {found['time']:.0f} s of processor time")
    draw(found, folder / "learn-to-reach.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
