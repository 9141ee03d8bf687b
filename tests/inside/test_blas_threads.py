"""Linear algebra of many small matrices runs in one thread, and the process gets its threads back."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import polypod as pp
from polypod.identification import LinearModel, excite, identify, simulated_log


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_excitation_and_identification_use_one_thread(monkeypatch: Any) -> None:
    seen: list[set[int]] = []
    entry = import_module("polypod.identification.identify")  # the package's name is the function's
    solve = entry.solve
    monkeypatch.setattr(entry, "solve", lambda *given: (seen.append(threads()), solve(*given))[1])
    model = pp.Model("five-bar")
    with threadpool_limits(2, user_api="blas"):
        best = excite(model, duration=1.0, harmonics=4, tries=200, progress=lambda step: seen.append(threads()))
        identify(model, simulated_log(model, best.motion, rate=200.0, noise_q=1e-6, noise_force=0.002))
        assert threads() == {2}
    assert len(seen) > 1
    assert all(each == {1} for each in seen)


@pytest.mark.long
def test_many_threads_cost_no_more() -> None:
    """100,000 samples of pedrammehr with two threads of BLAS take the processor time of one (it was five times)."""
    from polypod.identification.identify import identified
    from polypod.identification.logs import checked
    from polypod.identification.prepared import prepared

    model = pp.Model("pedrammehr")
    motion = excite(model, duration=10.0, harmonics=8, tries=100).motion
    run = prepared(model, checked(simulated_log(model, motion, rate=1e4, noise_q=1e-7, noise_force=0.5)))
    linear = LinearModel(model)
    took: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for count, times in took.items():
            with threadpool_limits(count, user_api="blas"):
                start = time.process_time()
                identified(linear, [run], [])
                times.append(time.process_time() - start)
    assert min(took[2]) < 1.5 * min(took[1])
