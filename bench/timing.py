"""Times that can be compared: all rivals in one process, taking turns, best and median of many short bursts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple, TypeVar

_Result = TypeVar("_Result")


class Timing(NamedTuple):
    """Best and median time of one call [s]."""

    best: float
    median: float


# Short enough that most bursts pass without another process in between, long enough for the clock.
_BURST = 2e-4


def take_turns(rivals: Mapping[str, Callable[[], object]], seconds: float = 1.0, rounds: int = 7) -> dict[str, Timing]:
    """Time each rival in turn, ``iterations`` times; a turn is bursts of calls for its share of ``seconds``."""
    share = seconds / (rounds * max(len(rivals), 1))
    repeats: dict[str, int] = {}
    for name, call in rivals.items():
        call()
        repeats[name] = max(1, int(_BURST / max(_time(call, 1), 1e-7)))
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, call in rivals.items():
            end = time.perf_counter() + share
            while True:
                times[name].append(_time(call, repeats[name]))
                if time.perf_counter() >= end:
                    break
    return {name: Timing(min(values), median(values)) for name, values in times.items()}


def _time(call: Callable[[], object], count: int) -> float:
    """Mean time of one call [s]."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def best_time(call: Callable[[], object], repeats: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Shortest of several runs by a clock [s]: the others were disturbed."""
    taken = []
    for _ in range(repeats):
        start = clock()
        call()
        taken.append(clock() - start)
    return min(taken)


def on_one_thread(call: Callable[[], _Result]) -> _Result:
    """What a call gives whose kernels run in one thread."""
    before = os.environ.get("POLYPOD_THREADS")
    os.environ["POLYPOD_THREADS"] = "1"
    try:
        return call()
    finally:
        del os.environ["POLYPOD_THREADS"]
        if before is not None:
            os.environ["POLYPOD_THREADS"] = before
