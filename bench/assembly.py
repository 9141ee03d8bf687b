"""Time of a state: all assembly modes of a general platform and of an ordinary hexapod, and the stiffness of a pose.

python -m bench.assembly [--states 1000]

The general platform is Dietmaier's with forty real postures; lengths are those of random poses. One core.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import polypod as pp
from bench.timing import best_time
from polypod.assembly import SixDistances

DATA = Path(__file__).parent.parent / "tests" / "data" / "dietmaier_40.json"


def lengths(count: int, base: np.ndarray, platform: np.ndarray, size: float) -> np.ndarray:
    """Distances (n, 6) of random poses."""
    turn = Rotation.random(count, random_state=9).as_matrix()
    place = size * np.random.default_rng(5).normal(size=(count, 3))
    return np.linalg.norm(place[:, None] + np.einsum("nij,kj->nki", turn, platform) - base, axis=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=1000, help="states in a batch")
    count = parser.parse_args().states
    os.environ["POLYPOD_THREADS"] = "1"
    data = json.loads(DATA.read_text())
    hexapod = pp.load("hexapod")
    robots = {
        "general platform": (np.array(data["base_points_a"]), np.array(data["platform_points_b"]), 1.0),
        "ordinary hexapod": (*(np.array([getattr(leg, k) for leg in hexapod.legs]) for k in ("base", "platform")), 0.3),
    }
    for name, (base, platform, size) in robots.items():
        struts = SixDistances(base, platform)
        start = time.process_time()
        paths = struts.start.count
        ready = time.process_time() - start
        given = lengths(count, base, platform, size)
        found = struts.poses(given)
        taken = best_time(lambda struts=struts, given=given: struts.poses(given), 5, time.process_time) / count
        lost, proven = int(found.lost.sum()), int(found.certified.sum())
        print(
            f"{name}: {paths} solutions, {1e3 * taken:.3f} ms a state, proofs included; start system {ready:.2f} s; "
            f"{lost} paths lost, {proven} of {int(found.real.sum())} real poses proven"
        )
    model = pp.Model(hexapod)
    kernel, n = model.kernel("stiffness"), 20_000
    pose = np.tile(hexapod.home.matrix, (n, 1, 1))
    pose[:, :3, 3] += 0.01 * np.random.default_rng(1).normal(size=(n, 3))
    drive = np.full((1, 6), 2e-8)
    kernel(pose, drive, threads=1)  # compiled
    taken = best_time(lambda: kernel(pose, drive, threads=1), 5, time.process_time) / n
    print(f"stiffness: {1e6 * taken:.3f} us a pose, {kernel.operations} operations")


if __name__ == "__main__":
    main()
