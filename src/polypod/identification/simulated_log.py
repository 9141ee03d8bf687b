"""Logs made from a model, with noise: to try out a motion and an identification before the machine runs."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..model import Model
from ..motion import MotionFile, Trajectory
from .logs import Log


def simulated_log(
    model: Model,
    motion: MotionFile | Trajectory,
    *,
    rate: float = 1000.0,
    noise_q: float = 0.0,
    noise_force: float = 0.0,
    repeats: int = 1,
    seed: int = 0,
    name: str = "simulated",
) -> Log:
    """A log of a motion as the model makes it: coordinates and forces with white noise [m or rad, N or N m].

    A motion that starts and ends at rest in one pose may be repeated.
    """
    if not rate > 0 or repeats < 1:
        raise InputError(f"rate, repeats: above 0 are needed, got {rate} and {repeats}")
    trajectory = (motion.trajectory if isinstance(motion, MotionFile) else motion).for_model(model)
    count = int(np.floor(trajectory.duration * rate)) * repeats
    time = np.arange(count) / rate
    at = trajectory.at(time % trajectory.duration)
    q, force = model.inverse_kinematics(at.pose), model.inverse_dynamics(at.pose, at.twist, at.acceleration)
    draw = np.random.default_rng(seed)
    return Log(
        name, time, q + noise_q * draw.standard_normal(q.shape), force + noise_force * draw.standard_normal(q.shape)
    )


def save_log(model: Model, log: Log, path: str | Path) -> None:
    """Write a log as a CSV file that :func:`read_log` reads."""
    header = ["time [s]", *(f"{a.name}.q [{a.unit}]" for a in model.actuators),
              *(f"{a.name}.force [{a.force_unit}]" for a in model.actuators)]  # fmt: skip
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(np.column_stack([log.time, log.q, log.force]).tolist())
