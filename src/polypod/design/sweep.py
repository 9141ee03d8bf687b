"""Sweeps: every design of a study evaluated in blocks, on threads here or on a cluster, judged by its limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..kernels.threads import cores
from .evaluate import Evaluator, Results
from .prepared import Prepared, prepare
from .results import dataset, judged
from .store import Store
from .study import Study

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[int, int, float], None]
"""Called with designs done, designs in all, and the seconds left, about."""


def sweep(
    study: Study | str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    store: str | Path | None = None,
    scheduler: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate every design of a study: quantities (design, motion) by name, with what its limits say of each design.

    Blocks of designs are evaluated on ``threads`` (all cores unless given), or by the workers of the Dask ``scheduler``
    at that address; bits are the same anywhere. A ``store`` (a Zarr folder) keeps every block that is done: a sweep
    that was stopped goes on with the blocks that are missing. ``settings`` are other values of the robot's numbers.
    """
    return run(*prepare(study, settings), store=store, scheduler=scheduler, threads=threads, progress=progress)


def run(
    prepared: Prepared,
    evaluator: Evaluator,
    *,
    store: str | Path | None = None,
    scheduler: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """:func:`sweep` of a study that has been read."""
    kept = None if store is None else Store(Path(store), prepared, evaluator)
    shape = len(prepared.values), len(prepared.load_case_names)
    values = {name: np.full(shape, np.nan) for name in prepared.study.quantities}
    reason = np.zeros(shape, dtype=np.int8)
    missing = list(range(prepared.blocks)) if kept is None else kept.missing()
    started, done, total = time.monotonic(), 0, sum(np.subtract(*prepared.span(k)[::-1]) for k in missing)
    if scheduler is None:
        found: Iterator[tuple[int, Results]] = _on_threads(prepared, evaluator, missing, threads or cores())
    else:
        from .cluster import on_cluster

        found = on_cluster(prepared, missing, scheduler)
    for number, results in found:
        start, stop = prepared.span(number)
        if kept is None:
            for name, value in results.values.items():
                values[name][start:stop] = value
            reason[start:stop] = results.reason
        else:
            kept.write(number, results)
        done += stop - start
        if progress is not None:
            progress(done, int(total), (time.monotonic() - started) / done * (int(total) - done))
    result = dataset(prepared, evaluator, values, reason) if kept is None else kept.read()
    return judged(result, evaluator)


def _on_threads(
    prepared: Prepared, evaluator: Evaluator, missing: list[int], threads: int
) -> Iterator[tuple[int, Results]]:
    """Blocks in the order in which they are done, a few ahead of the reader at most."""
    designs = evaluator.designs(prepared.values)
    _ = designs.impossible  # once, before threads ask for it

    def run(number: int) -> Results:
        return evaluator.evaluate(designs, *prepared.span(number))

    if missing:  # compile before the threads start: they would wait for each other
        evaluator.evaluate(designs, 0, 1)
    with ThreadPoolExecutor(threads, thread_name_prefix="polypod-sweep") as pool:
        ahead: dict[Future[Results], int] = {}
        waiting = iter(missing)
        try:
            while True:
                for number in waiting:
                    ahead[pool.submit(run, number)] = number
                    if len(ahead) >= 2 * threads:
                        break
                if not ahead:
                    return
                finished, _ = wait(ahead, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield ahead.pop(future), future.result()
        finally:
            for future in ahead:
                future.cancel()
