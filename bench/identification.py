"""Identification studied: do 95 % intervals hold the truth, and how long do 100,000 samples take?

``python -m bench.identification coverage pedrammehr 200 [TRIES]`` (motions tried to find the excitation) and
``python -m bench.identification speed``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from scipy.linalg import eigh

import polypod as pp
from polypod.identification import LinearModel, excite, simulated_log
from polypod.identification.base import base_parameters
from polypod.identification.identify import Identification, identified
from polypod.identification.logs import checked
from polypod.identification.new_robot import Z95
from polypod.identification.prepared import prepared

CASES: dict[str, dict[str, Any]] = {
    "pedrammehr": {"rate": 200.0, "noise_q": 2e-6, "noise_force": 0.5},
    "kim-ryu": {"rate": 200.0, "noise_q": 2e-6, "noise_force": 0.5},
    "delta": {"rate": 200.0, "noise_q": 1e-5, "noise_force": 0.1},
    "five-bar": {"rate": 200.0, "noise_q": 1e-6, "noise_force": 0.02},
}
"""Noise of coordinates [m or rad] and forces [N or N m] of each robot's logs."""


def coverage(name: str, runs: int, tries: int = 100) -> dict[str, Any]:
    """The part of many noisy logs whose 95 % intervals hold the truth, by base parameter; held-out errors.

    The file's numbers are 20 % off those of the machine (standard deviation), in every run otherwise. Judged are the
    base parameters by data alone where forces are linear in them. Where friction bends forces, base parameters are by
    data and file together; judged are combinations of them by data alone then, that data determine nine times better
    than the file does at least (:func:`_combinations`). ``errors`` are mean and standard deviation of each one's error
    by its standard uncertainty: near 0 and 1 if all is well.
    """
    truth = pp.Model(name)
    case = CASES[name]
    motion = excite(truth, tries=tries, noise=case["noise_force"]).motion
    other = excite(truth, tries=max(tries // 3, 1), seed=1).motion
    linear = LinearModel(truth)
    base = base_parameters(linear)
    wanted = base.values(linear.values)
    scores, together, errors, visible, files = [], [], [], [], []
    rows: Any = np.eye(base.count)
    check = prepared(truth, checked(simulated_log(truth, other, **case, seed=10_000)), check=False)
    for run in range(runs):
        log = prepared(truth, checked(simulated_log(truth, motion, **case, seed=run)), check=False)
        found = identified(linear, [log], [check], start=_off(linear, run))
        if linear.loaded and run == 0:
            rows = _combinations(found)
        wide = np.sqrt(np.einsum("ij,jk,ik->i", rows, found.fit.covariance, rows))
        scores.append(rows @ (found.fit.beta - wanted) / wide)
        together.append(np.abs(found.beta - wanted) <= found.half_widths)
        free = np.diag(found.covariance) > 0
        off = np.abs(found.numbers - linear.values)[free]
        files.append(float((off <= Z95 * np.sqrt(np.diag(found.covariance)[free])).mean()))
        shown = found.validation[0]
        errors.append(shown.error(shown.after) / shown.error(shown.before))
        visible.append(len(found.invisible))
    score = np.array(scores)
    held = np.abs(score) <= Z95
    each = held.mean(axis=0)
    return {
        "robot": name,
        "runs": runs,
        "base_parameters": base.count,
        "judged": len(rows),
        "coverage_with_the_file": float(np.mean(together)),
        "coverage": float(held.mean()),
        "lowest": float(each.min()),
        "highest": float(each.max()),
        "below_90": [(int(k), float(each[k])) for k in np.flatnonzero(each < 0.9)],
        "above_99": int((each > 0.99).sum()),
        "errors": [(round(float(m), 2), round(float(d), 2)) for m, d in zip(score.mean(0), score.std(0), strict=True)],
        "numbers_of_the_file": float(np.mean(files)),
        "held_out_error_by_that_of_the_truth": float(np.mean(errors)),
        "invisible": float(np.mean(visible)),
    }


def _combinations(found: Identification) -> Any:
    """Combinations w of base parameters (c, r) that data determine, uncorrelated by data and by the file.

    A w = (1/l) C w, with the covariances A of data alone and C of the file: those with l of 9 or more, by which data
    know w beta three times as exactly as the file.
    """
    file = found.base.matrix * found.prior @ (found.base.matrix * found.prior).T
    information = found.fit.triangle.T @ found.fit.triangle
    shares, vectors = eigh(information, np.linalg.inv(file))
    return (information @ vectors).T[shares >= 9]


def _off(linear: LinearModel, seed: int) -> Any:
    """Numbers of a file that is 20 % wrong, each body still real: bodies scaled, friction scaled."""
    draw = np.random.default_rng(1000 + seed)
    factor = {path: 1 + 0.2 * draw.standard_normal() for path in dict.fromkeys(n.path for n in linear.numbers)}
    return linear.values * np.maximum([factor[n.path] for n in linear.numbers], 0.3)


def speed(samples: int = 100_000) -> dict[str, Any]:
    """Wall and processor time of one identification of pedrammehr from arrays to a new robot."""
    model = pp.Model("pedrammehr")
    motion = excite(model, budget=3.0).motion
    log = checked(simulated_log(model, motion, rate=samples / 10.0, noise_q=1e-7, noise_force=0.5))
    linear = LinearModel(model)
    times = []
    for _ in range(3):
        wall, work = time.perf_counter(), time.process_time()
        identified(linear, [prepared(model, log)], [])
        times.append((time.perf_counter() - wall, time.process_time() - work))
    return {"samples": samples, "wall_s": min(t[0] for t in times), "processor_s": min(t[1] for t in times)}


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "speed"
    print(speed() if chosen == "speed" else coverage(sys.argv[2], *map(int, sys.argv[3:])))
