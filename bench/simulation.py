"""One second of pedrammehr under computed torque at 1 kHz, RK4 inside: how long it takes, beside MuJoCo's.

    python -m bench.simulation

The same robot without friction, the same controller called at every step, the same step of 1 ms and order of
integration. MuJoCo (if installed, with Pinocchio for its start state) closes loops by soft constraints: how far its
legs come off the platform is printed too.
"""

from __future__ import annotations

import time
import warnings
from statistics import median

import numpy as np

import polypod as pp
from polypod.control import ComputedTorque, Measurement
from polypod.errors import UnphysicalWarning
from polypod.motion import Published
from polypod.simulation import simulate

ITERATIONS = 7
DURATION, RATE = 1.0, 1000.0


def ours(model: pp.Model, controller: ComputedTorque) -> tuple[float, float]:
    """Time [s] and largest tracking error [m or rad]."""
    start = time.perf_counter()
    result = simulate(model, controller, duration=DURATION, rate=RATE, step=1 / RATE, friction=False)
    return time.perf_counter() - start, float(np.abs(result.error).max())


def mujoco(model: pp.Model, controller: ComputedTorque) -> tuple[float, float, float]:
    """Time [s], largest tracking error [m or rad], and how far the loops open [m]."""
    import mujoco as mj

    from bench.peers.mujoco import MujocoRobot
    from bench.peers.pinocchio import Oracle

    robot = MujocoRobot(model.robot, 1 / RATE)
    start = controller.reference.at(0.0)
    tree = Oracle(model.robot).open_tree(*start)
    robot.set_state(*start, tree.q[7:], tree.v[6:], tree.a[6:])
    m, d = robot.model, robot.data
    empty = np.zeros(0)
    poses, opened = np.empty((int(DURATION * RATE), 4, 4)), 0.0
    pose, turn = np.eye(4), np.empty(9)
    begin = time.perf_counter()
    for k in range(len(poses)):
        mj.mju_quat2Mat(turn, d.qpos[3:7])
        pose[:3, :3], pose[:3, 3] = turn.reshape(3, 3), d.qpos[:3]
        twist = np.r_[d.qvel[:3], pose[:3, :3] @ d.qvel[3:6]]
        poses[k] = pose
        d.qfrc_applied[robot.drives] = controller(k / RATE, Measurement(empty, empty, pose, twist, empty, empty))
        mj.mj_step(m, d)
        opened = max(opened, float(np.abs(d.efc_pos).max(initial=0.0)))
    seconds = time.perf_counter() - begin
    from polypod.simulation.result import pose_errors

    wanted = controller.reference.sampled(np.arange(len(poses)) / RATE).pose
    return seconds, float(np.abs(pose_errors(wanted, poses)).max()), opened


def main() -> None:
    """Print both."""
    warnings.simplefilter("ignore", UnphysicalWarning)
    model = pp.Model("pedrammehr")
    controller = ComputedTorque(model, Published(name="pedrammehr-path-3"), friction=False)
    ours(model, controller)
    runs = [ours(model, controller) for _ in range(ITERATIONS)]
    times = [run[0] for run in runs]
    print(f"{DURATION:g} s of pedrammehr on Path 3, computed torque at {RATE:g} Hz, RK4 of {1e3 / RATE:g} ms")
    print(f"polypod: best {min(times):.4f} s, median {median(times):.4f} s; tracking error {runs[0][1]:.2e}")
    try:
        rivals = [mujoco(model, controller) for _ in range(ITERATIONS)]
    except ImportError as error:
        print(f"MuJoCo: not installed ({error})")
        return
    others = [run[0] for run in rivals]
    print(
        f"MuJoCo:  best {min(others):.4f} s, median {median(others):.4f} s; tracking error {rivals[0][1]:.2e}, "
        f"loops open by up to {rivals[0][2]:.1e} m"
    )


if __name__ == "__main__":
    main()
