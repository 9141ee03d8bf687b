"""How costs grow: with the batch, with threads, with modes, with the graph; and what a model costs to build."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bench.rows import BUILDING, Row
from bench.states import states
from bench.timing import take_turns
from polypod.files import load
from polypod.kernels import Kernel
from polypod.model import Model

_BUILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import polypod as pp
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20
try:
    before = resident()
except OSError:
    before = None
start = time.process_time()
model = pp.Model(sys.argv[1])
pose, rest = model.robot.home.matrix, np.zeros(6)
q = model.inverse_kinematics(pose)
model.forward_kinematics(q, pose)
model.direct_dynamics(pose, rest, model.inverse_dynamics(pose, rest, rest, friction=False), friction=False)
taken = time.process_time() - start
print(json.dumps([taken, None if before is None else resident() - before]))
"""


class Point(NamedTuple):
    """One point of a growth curve."""

    x: float
    seconds: float


def batch_growth(model: Model, largest: int = 1_000_000) -> list[Point]:
    """Time of one state of the checked inverse dynamics against the size of the batch."""
    points = []
    size = 1
    while size <= largest:
        at = states(model, min(size, 8192))
        reps = -(-size // len(at.pose))
        pose, twist, acceleration = (np.tile(a, (reps,) + (1,) * (a.ndim - 1))[:size] for a in at[:3])
        best = take_turns(
            {"call": lambda p=pose, t=twist, a=acceleration: model.inverse_dynamics(p, t, a, friction=False)},  # type: ignore[misc]
            0.2,
            3,
        )["call"].best
        points.append(Point(size, best / size))
        size *= 10
    return points


def threads(model: Model, size: int = 100_000) -> list[Point]:
    """Time of one state against the number of threads."""
    at = states(model, 8192)
    reps = -(-size // 8192)
    rows = [np.tile(a, (reps,) + (1,) * (a.ndim - 1))[:size] for a in at[:3]]
    kernel, none = model.kernel("inverse_dynamics", False), np.zeros((1, 6))
    out = [np.empty((size, 6)), np.empty(size)]
    counts = range(1, (os.cpu_count() or 1) + 1)
    rivals = {str(n): (lambda n=n: kernel(*rows, none, out=out, threads=n)) for n in counts}
    times = take_turns(rivals, 2.0)
    return [Point(n, times[str(n)].best / size) for n in counts]


def mode_growth(counts: tuple[int, ...] = (1, 3, 5, 9, 15)) -> list[Point]:
    """Time of one state of the flexible direct dynamics against the number of modes."""
    from polypod.papers.long.cases import hexagon_modes

    robot = load("long")
    return [Point(count, _flexible_seconds(Model(robot.on_modes(hexagon_modes(count))))) for count in counts]


def _flexible_seconds(model: Model, n: int = 4096) -> float:
    draw, count = np.random.default_rng(0), model.modes.count
    kernel = model.kernel("direct_dynamics", False)
    pose = np.tile(model.robot.home.matrix, (n, 1, 1))
    twist, force = draw.normal(size=(2, n, 6))
    shape, none = 1e-4 * draw.normal(size=(n, count)), np.zeros((1, 6))
    call = {"call": lambda: kernel(pose, twist, shape, shape, force, none, threads=1)}
    return take_turns(call, 0.3, 3)["call"].best / n


def build_costs(robots: tuple[str, ...]) -> Iterator[Row]:
    """Processor time and memory until a model has answered kinematics and dynamics both ways, cold and warm."""
    for robot in robots:
        with tempfile.TemporaryDirectory() as folder:
            for when in ("cold", "warm"):
                done = subprocess.run(
                    [sys.executable, "-c", _BUILD, robot],
                    env={**os.environ, "POLYPOD_CACHE": folder},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                seconds, megabytes = json.loads(done.stdout)
                note = "" if megabytes is None else f"{megabytes:.0f} MB more memory"
                yield Row(BUILDING, f"{robot}, {when}", seconds, note=note)


def compile_growth(model: Model) -> list[Point]:
    """Seconds to make machine code against operations, for the functions of a robot (nothing cached)."""
    from polypod.kernels import machine
    from polypod.kernels.emit import Module
    from polypod.kernels.function import add_function

    points = []
    for name in ("inverse_kinematics", "jacobian", "mass_matrix", "inverse_dynamics", "direct_dynamics"):
        kernel: Kernel = model.kernel(name, False)
        program = kernel.expression.program
        taken = []
        for _ in range(3):
            start = time.perf_counter()
            module = Module()
            add_function(module, "trial", program, machine.vector_width())
            machine.compile_module(module)
            taken.append(time.perf_counter() - start)
        points.append(Point(kernel.operations, min(taken)))
    return sorted(points)
