"""Identification studied: do 95 % intervals hold the truth, and how long do 100,000 samples take?

``python -m bench.identification coverage pedrammehr 200`` and ``python -m bench.identification speed``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import polypod as pp
from polypod.identification import LinearModel, excite, simulated_log
from polypod.identification.base import base_parameters
from polypod.identification.identify import identified
from polypod.identification.logs import checked
from polypod.identification.prepared import prepared
from polypod.identification.prior import Z95, uncertainties

CASES: dict[str, dict[str, Any]] = {
    "pedrammehr": {"rate": 200.0, "noise_q": 2e-6, "noise_force": 0.5},
    "kim-ryu": {"rate": 200.0, "noise_q": 2e-6, "noise_force": 0.5},
    "delta": {"rate": 200.0, "noise_q": 1e-5, "noise_force": 0.1},
    "five-bar": {"rate": 200.0, "noise_q": 1e-6, "noise_force": 0.02},
}
"""Noise of coordinates [m or rad] and forces [N or N m] of each robot's logs."""


def coverage(name: str, runs: int, budget: float = 5.0) -> dict[str, Any]:
    """The part of many noisy logs whose 95 % intervals hold the truth, by base parameter; held-out errors.

    The file's numbers are 20 % off those of the machine (standard deviation), in every run otherwise. Judged are the
    base parameters that data determine: where intervals are by data and file together, those whose uncertainty is at
    most a third of what the file alone leaves, a ninth of the information (``determined``). ``errors`` are mean and
    standard deviation of each parameter's error by its standard uncertainty: near 0 and 1 if all is well.
    """
    truth = pp.Model(name)
    case = CASES[name]
    motion = excite(truth, budget=budget, noise=case["noise_force"]).motion
    other = excite(truth, budget=min(budget, 2.0), seed=1).motion
    linear = LinearModel(truth)
    base = base_parameters(linear)
    wanted = base.values(linear.values)
    alone = np.sqrt(base.matrix**2 @ uncertainties(linear, None) ** 2)
    scores, errors, visible, files, shares = [], [], [], [], []
    check = prepared(truth, checked(simulated_log(truth, other, **case, seed=10_000)), check=False)
    for run in range(runs):
        log = prepared(truth, checked(simulated_log(truth, motion, **case, seed=run)), check=False)
        found = identified(linear, [log], [check], start=_off(linear, run))
        scores.append(Z95 * (found.beta - wanted) / found.half_widths)
        free = np.diag(found.covariance) > 0
        off = np.abs(found.numbers - linear.values)[free]
        files.append(float((off <= Z95 * np.sqrt(np.diag(found.covariance)[free])).mean()))
        shown = found.validation[0]
        errors.append(shown.error(shown.after) / shown.error(shown.before))
        visible.append(len(found.invisible))
        shares.append(found.deviations / alone)
    chosen = np.flatnonzero(np.mean(shares, axis=0) <= 1 / 3) if linear.loaded else np.arange(base.count)
    score = np.array(scores)[:, chosen]
    held = np.abs(score) <= Z95
    each = held.mean(axis=0)
    return {
        "robot": name,
        "runs": runs,
        "base_parameters": base.count,
        "determined": len(chosen),
        "coverage_of_all": float((np.abs(scores) <= Z95).mean()),
        "coverage": float(held.mean()),
        "lowest": float(each.min()),
        "highest": float(each.max()),
        "below_90": [(base.name(int(chosen[k])), float(each[k])) for k in np.flatnonzero(each < 0.9)],
        "above_99": int((each > 0.99).sum()),
        "errors": [(round(float(m), 2), round(float(d), 2)) for m, d in zip(score.mean(0), score.std(0), strict=True)],
        "numbers_of_the_file": float(np.mean(files)),
        "held_out_error_by_that_of_the_truth": float(np.mean(errors)),
        "invisible": float(np.mean(visible)),
    }


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
    print(speed() if chosen == "speed" else coverage(sys.argv[2], int(sys.argv[3])))
