"""Times that can be compared: all rivals in one process, taking turns, best and median of many rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple


class Timing(NamedTuple):
    """Best and median time of one call [s]."""

    best: float
    median: float


def take_turns(rivals: Mapping[str, Callable[[], object]], seconds: float = 1.0, rounds: int = 7) -> dict[str, Timing]:
    """Time each rival in turn, ``rounds`` times; each turn repeats the call for its share of ``seconds``."""
    share = seconds / (rounds * max(len(rivals), 1))
    repeats: dict[str, int] = {}
    for name, call in rivals.items():
        call()
        start = time.perf_counter()
        call()
        once = max(time.perf_counter() - start, 1e-7)
        repeats[name] = max(1, int(share / once))
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, call in rivals.items():
            count = repeats[name]
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append((time.perf_counter() - start) / count)
    return {name: Timing(min(values), median(values)) for name, values in times.items()}
