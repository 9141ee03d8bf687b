"""Calls of machine code in several threads."""

from __future__ import annotations

import os
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from ..errors import InputError

OPERATIONS_PER_BLOCK = 200_000_000
"""At most in one call of machine code, which takes some hundredths of a second: an interrupt comes between calls."""
_Result = TypeVar("_Result")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def run_in_threads(function: Callable[[int], None], blocks: Iterable[array[int]], threads: int, kept: object) -> None:
    """Call a function with the address of every block, in this thread and ``threads`` - 1 others.

    An interrupt comes between blocks. What the blocks point into (``kept``) then lives until every thread is done.
    """
    left = deque(blocks)

    def work(kept: object = kept) -> None:
        while True:
            try:
                block = left.popleft()
            except IndexError:
                return
            function(block.buffer_info()[0])

    waiting = [_pool().submit(work) for _ in range(min(threads, len(left)) - 1)]
    try:
        work()
        for other in waiting:
            other.result()
    finally:
        left.clear()


class BackgroundTask:
    """Long calls in a thread of their own, for which the main thread waits: an interrupt need not."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._done.set()

    @property
    def busy(self) -> bool:
        """Whether a call is still running."""
        return not self._done.is_set()

    def __call__(self, work: Callable[[], _Result]) -> _Result:
        """The result of a function without arguments, or what it raises."""
        if threading.current_thread() is not threading.main_thread():
            return work()  # no signal ends here
        results: list[_Result] = []
        errors: list[BaseException] = []
        done = self._done = threading.Event()  # not the thread's own end, which Python 3.11 loses at an interrupt

        def run() -> None:
            try:
                results.append(work())
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        threading.Thread(target=run, daemon=True, name="polypod-aside").start()
        done.wait()
        if errors:
            raise errors[0]
        return results[0]


def one_blas_thread(function: _Function) -> _Function:
    """The function with its linear algebra in one thread of BLAS: for many small matrices.

    Threads that share a small matrix wait for each other for longer than they work (five to fifteen times on two busy
    cores).
    """
    return threadpool_limits.wrap(limits=1, user_api="blas")(function)


def cores() -> int:
    """Threads to use at most: ``POLYPOD_THREADS`` or the cores this process may run on."""
    chosen = os.environ.get("POLYPOD_THREADS")
    if chosen:
        if not (chosen.isdecimal() and int(chosen) > 0):
            raise InputError(f"POLYPOD_THREADS: must be an integer of at least 1, got {chosen!r}")
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="polypod")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool's object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
