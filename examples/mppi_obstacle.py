"""Sampling control (MPPI): a five-bar robot finds its way around an obstacle, planning with 512 simulations a period.

    python mppi_obstacle.py [FOLDER]

Each period of 10 ms simulates 512 random changes of the last plan 24 periods ahead, all side by side
(``polypod.simulation.VectorSimulation``), and takes their mean weighted by exp(-cost/temperature) (Williams et al.:
Model predictive path integral control, J. Guid. Control Dyn. 40, 2017). The plant's payload is 20 % heavier than the
model's. Prints and draws the path of the tool.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import polypod as pp
from polypod.simulation import VectorSimulation

SAMPLES, HORIZON, RATE = 512, 24, 100.0
NOISE, MOST, TEMPERATURE = 0.05, 0.3, 1.0  # N m, N m, of the cost
START, GOAL = np.array([-0.05, 0.0]), np.array([0.05, 0.0])  # m from home
OBSTACLE, RADIUS = np.array([0.0, 0.01]), 0.02


def costs(place: Any, speed: Any, force: Any) -> Any:
    """Costs (n,) of a period at places (n, 2) [m from home]: distance, speed, the obstacle, torque."""
    away = np.linalg.norm(place - GOAL, axis=1) / 0.005
    inside = np.maximum(0.0, 1.2 * RADIUS - np.linalg.norm(place - OBSTACLE, axis=1)) / 0.002
    return away**2 + 0.2 * (speed**2).sum(axis=1) / 0.1**2 + 400.0 * inside**2 + 0.1 * (force**2).sum(axis=1) / MOST**2


def run(periods: int = 80, samples: int = SAMPLES, seed: int = 0) -> dict[str, Any]:
    """Path (periods + 1, 2) of the tool, torques, and the time that planning took."""
    model = pp.Model("five-bar")
    home, start = model.robot.home.matrix, model.motion(START).pose
    plan = VectorSimulation(model, samples, rate=RATE, friction=False, step=5e-3)
    payload = 1.2 * model.robot.platform.mass
    plant = VectorSimulation(model, 1, rate=RATE, step=1e-3, parameters={"platform.mass": payload})
    plant.place(start)
    draw, nominal = np.random.default_rng(seed), np.zeros((HORIZON, 2))
    path, torques, spent = [START], [], 0.0
    for _ in range(periods):
        begin = time.perf_counter()
        noise = NOISE * draw.normal(size=(HORIZON, samples, 2))
        noise[:, 0] = 0.0  # the last plan itself
        tried = np.clip(nominal[:, None] + noise, -MOST, MOST)
        plan.place(plant.pose[0], plant.twist[0])
        total, lost = np.zeros(samples), np.zeros(samples, dtype=bool)
        for force in tried:
            lost |= plan.advance(force)
            total += costs(plan.pose[:, :2, 3] - home[:2, 3], plan.twist[:, :2], force)
        total[lost] += 1e6
        weights = np.exp(-(total - total.min()) / (TEMPERATURE * HORIZON))
        nominal = np.einsum("s,hsn->hn", weights / weights.sum(), tried)
        spent += time.perf_counter() - begin
        plant.advance(nominal[0])
        path.append(plant.pose[0, :2, 3] - home[:2, 3])
        torques.append(nominal[0])
        nominal = np.concatenate([nominal[1:], nominal[-1:]])
    return {"path": np.array(path), "torque": np.array(torques), "time": spent / periods}


def draw(found: dict[str, Any], file: Path) -> None:
    """The tool's path around the obstacle."""
    figure = Figure((6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    angle = np.linspace(0, 2 * np.pi, 100)
    axes.fill(*(1e3 * (OBSTACLE[:, None] + RADIUS * np.array([np.cos(angle), np.sin(angle)]))), color="#d9d9d9")
    axes.plot(*(1e3 * found["path"].T), ".-", color="#1f6f8b", markersize=4)
    axes.plot(*(1e3 * START), "o", *(1e3 * GOAL), "*", color="#c0392b", markersize=10)
    axes.set(xlabel="x from home [mm]", ylabel="y from home [mm]", title="512 simulations a period find the way")
    axes.set_aspect("equal")
    axes.grid(alpha=0.3)
    figure.savefig(file, dpi=150)


def main(folder: Path) -> None:
    """Run, print and draw."""
    found = run()
    left = 1e3 * np.linalg.norm(found["path"][-1] - GOAL)
    near = 1e3 * (np.linalg.norm(found["path"] - OBSTACLE, axis=1).min() - RADIUS)
    print(f"{left:.1f} mm from the goal after {len(found['torque']) / RATE:.1f} s, {near:.1f} mm from the obstacle")
    rate = SAMPLES * HORIZON / found["time"]
    print(f"planning takes {1e3 * found['time']:.1f} ms a period: {rate / 1e6:.2f} million periods a second")
    draw(found, folder / "mppi-obstacle.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
