"""What flexibility costs: time of a state by rigid and flexible kernels, and the time to a ready model without a cache.

python -m bench.flexible [--states 20000]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable

import numpy as np

import polypod as pp
from bench.timing import best_time
from polypod.errors import UnphysicalWarning
from polypod.papers.long.cases import hexagon_modes

COLD = """
import os, time
start = time.perf_counter()
import numpy as np
import polypod as pp
from polypod.papers.long.cases import hexagon_modes
loaded = time.perf_counter()
modes = hexagon_modes(10)
modes_ready = time.perf_counter()
model = pp.Model(pp.load("long").on_modes(modes))
still, home = np.zeros(6), model.robot.home.matrix
model.inverse_dynamics(home, still, still)
inverse = time.perf_counter()
model.direct_dynamics(home, still, still)
end = time.perf_counter()
used = os.times()
for name, taken in (("import", loaded - start), ("modes", modes_ready - loaded), ("inverse", inverse - modes_ready),
                    ("direct", end - inverse), ("all", end - start), ("processor", used.user + used.system)):
    print(f"  {name:10s} {taken:6.2f} s")
"""


def seconds(call: Callable[[], object]) -> float:
    """Shortest of several runs [s] of what is compiled."""
    call()
    return best_time(call, 15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=20000, help="states in a batch")
    n = parser.parse_args().states
    warnings.simplefilter("ignore", UnphysicalWarning)
    robot = pp.load("long")
    rng = np.random.default_rng(0)
    pose = np.tile(robot.home.matrix, (n, 1, 1))
    pose[:, :3, 3] += 0.05 * rng.uniform(-1, 1, (n, 3))
    twist, force, wrench = rng.normal(size=(n, 6)), 300 * rng.normal(size=(n, 6)), np.zeros((1, 6))
    rigid = pp.Model(robot)
    print(f"One core, {n} states, robot {robot.name}: time of a state [us], operations, ratio to the rigid robot")
    base = {}
    for name in ("inverse_dynamics", "direct_dynamics"):
        kernel = rigid.kernel(name, False)
        base[name] = seconds(lambda kernel=kernel: kernel(pose, twist, force, wrench, threads=1))
        print(f"  {name:17s} rigid     {1e6 * base[name] / n:7.3f} {kernel.operations:7d}")
    for count in (5, 10):
        model = pp.Model(robot.on_modes(hexagon_modes(count)))
        elastic, rate = 0.01 * rng.normal(size=(n, count)), 0.5 * rng.normal(size=(n, count))
        for name, floor in base.items():
            kernel = model.kernel(name, False)
            taken = seconds(lambda k=kernel, q=elastic, v=rate: k(pose, twist, q, v, force, wrench, threads=1))
            ratio = taken / floor
            print(f"  {name:17s} {count:2d} modes  {1e6 * taken / n:7.3f} {kernel.operations:7d}  {ratio:5.1f} times")
    print("Cold (no cache of compiled code): hexagon with 10 modes, inverse and direct dynamics ready")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "POLYPOD_CACHE": folder}
        subprocess.run([sys.executable, "-W", "ignore", "-c", COLD], env=settings, check=True)


if __name__ == "__main__":
    main()
