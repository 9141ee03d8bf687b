"""Many hexapods under constant forces, 0.1 s in steps of 1 ms on one thread, beside ``mujoco.rollout``.

    POLYPOD_THREADS=1 python -m bench.batch_simulation

MuJoCo (if installed) has the robot as polypod exports it; where its joints are at the end is compared with where
polypod's are, in m and rad. Times are processor time, taken in turns, the best of several, by robot and step.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import polypod as pp
from polypod.export import export_mjcf, mjcf_positions

RUNS, STEPS, STEP, ITERATIONS = 4096, 100, 1e-3, 5
ROLLOUTS = 16
"""Robots of MuJoCo, whose time by robot and step does not depend on their number."""
Array = NDArray[np.float64]


def forces(model: pp.Model, count: int) -> Array:
    """Forces that nearly hold the robot, (count, n)."""
    still = np.zeros(6)
    hold = model.inverse_dynamics(model.robot.home.matrix, still, still, friction=False)
    return np.asarray(hold * (1 + 0.02 * np.random.default_rng(0).normal(size=(RUNS, len(hold)))))[:count]


def ours(model: pp.Model, count: int) -> Array:
    """Poses (count, 4, 4) at the end."""
    result = pp.simulate(
        model, forces(model, count), duration=STEPS * STEP, rate=1 / STEP, step=STEP, output=STEPS * STEP
    )
    return np.asarray(result.pose.values[:, -1])


def mujoco_rollout(model: pp.Model, integrator: str) -> Callable[[], Array]:
    """What gives the positions (ROLLOUTS, nq) of MuJoCo's joints at the end, by an integrator of MuJoCo's."""
    import mujoco as mj
    from mujoco import rollout

    robot = mj.MjModel.from_xml_string(export_mjcf(model, time_constant=2.5 * STEP))
    robot.opt.timestep, robot.opt.integrator = STEP, getattr(mj.mjtIntegrator, f"mjINT_{integrator}")
    data = mj.MjData(robot)
    mj.mj_resetDataKeyframe(robot, data, 0)
    start = np.empty(mj.mj_stateSize(robot, mj.mjtState.mjSTATE_FULLPHYSICS))
    mj.mj_getState(robot, data, start, mj.mjtState.mjSTATE_FULLPHYSICS)
    control = np.repeat(forces(model, ROLLOUTS)[:, None], STEPS, axis=1)

    def run() -> Array:
        state, _ = rollout.rollout(robot, data, np.tile(start, (ROLLOUTS, 1)), control, nstep=STEPS)
        return np.asarray(state[:, -1, 1 : 1 + robot.nq])

    return run


def main() -> None:
    """Print times of both, their ratios, and how far apart they end."""
    model = pp.Model("hexapod")
    ours(model, 8)
    rivals: dict[str, tuple[Callable[[], Array], int]] = {
        f"polypod, RK4, {RUNS} robots": (lambda: ours(model, RUNS), RUNS),
    }
    try:
        for integrator in ("EULER", "IMPLICITFAST", "RK4"):
            rivals[f"mujoco.rollout, {integrator}"] = mujoco_rollout(model, integrator), ROLLOUTS
    except ImportError as error:
        print(f"MuJoCo: not installed ({error})")
    best = dict.fromkeys(rivals, np.inf)
    ends: dict[str, Array] = {}
    for _ in range(ITERATIONS):
        for name, (run, count) in rivals.items():
            begin = time.process_time()
            ends[name] = run()
            best[name] = min(best[name], (time.process_time() - begin) / (count * STEPS) * 1e6)
    first = next(iter(rivals))
    wanted = mjcf_positions(model, ends[first][:ROLLOUTS])
    for name, microseconds in best.items():
        off = f", joints off by {np.abs(ends[name] - wanted).max():.1e}" if name.startswith("mujoco") else ""
        print(f"{name}: {microseconds:.2f} us a step, {microseconds / best[first]:.1f} times{off}")


if __name__ == "__main__":
    main()
