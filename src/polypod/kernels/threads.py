"""Calls of machine code in several threads."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache


def run_together(function: Callable[[int], None], blocks: Sequence[array[int]]) -> None:
    """Call a function with the addresses of several blocks at once, the last in the calling thread."""
    *others, own = blocks
    waiting = [_pool().submit(function, block.buffer_info()[0]) for block in others]
    function(own.buffer_info()[0])
    for part in waiting:
        part.result()


def cores() -> int:
    """Threads to use at most: ``POLYPOD_THREADS`` or the cores this process may run on."""
    chosen = os.environ.get("POLYPOD_THREADS", "")
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="polypod")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool's object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
