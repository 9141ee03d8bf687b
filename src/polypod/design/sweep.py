"""Sweeps: every design of a study evaluated in blocks, on threads here or on a cluster, judged by its limits."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, MissingPackageError
from ..kernels.threads import cores
from .evaluate import Evaluator, Results
from .prepared import Prepared, prepare
from .results import dataset, judged, variable
from .study import Study

if TYPE_CHECKING:
    import xarray as xr

    from ..model.designs import Designs


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
    """Evaluate every design of a study.

    Blocks of designs are evaluated on threads or by Dask workers; results are the same to the bit.

    Parameters
    ----------
    study : Study, str or Path
        The study or its file.
    settings : mapping of str to value, optional
        Values that replace parameters of the robot, as in ``polypod.load``; not those that vary.
    store : str or Path, optional
        Zarr folder that keeps every finished block: an interrupted sweep continues with the missing ones.
    scheduler : str, optional
        Address of a Dask scheduler whose workers evaluate the blocks.
    threads : int, optional
        Number of threads. Default: all cores.
    progress : callable, optional
        Called with the number of finished blocks, their total and the time left [s].

    Returns
    -------
    xarray.Dataset
        Quantities (design, motion) by name, and whether each design keeps the limits of the study.

    Raises
    ------
    StudyFileError
        If the study has faults: all of them, with their lines.
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
    """Evaluate every design of a prepared study, as ``sweep``.

    Parameters
    ----------
    prepared : Prepared
        The study.
    evaluator : Evaluator
        Evaluates its designs.
    store : str or Path, optional
        Zarr folder that keeps every finished block: an interrupted run continues with the missing ones.
    scheduler : str, optional
        Address of a Dask scheduler whose workers evaluate the blocks.
    threads : int, optional
        Number of threads. Default: all cores.
    progress : callable, optional
        Called with the number of finished blocks, their total and the time left [s].

    Returns
    -------
    xarray.Dataset
        Quantities (design, motion) by name.
    """
    kept = None if store is None else Store(Path(store), prepared, evaluator)
    shape = len(prepared.values), len(prepared.load_case_names)
    values = {name: np.full(shape, np.nan) for name in evaluator.columns}
    reason = np.zeros(shape, dtype=np.int8)
    missing = list(range(prepared.blocks)) if kept is None else kept.missing()
    started, done, total = time.monotonic(), 0, sum(np.subtract(*prepared.span(k)[::-1]) for k in missing)
    if scheduler is None:
        found: Iterator[tuple[int, Results]] = _on_threads(prepared, evaluator, missing, threads or cores())
    else:
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
    pool = ThreadPoolExecutor(threads, thread_name_prefix="polypod-sweep")
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
        pool.shutdown(wait=False, cancel_futures=True)  # what runs is not waited for: an interrupt comes at once


# ----------------------------------------------------------------------------------------------------------------------
# Blocks of designs on the workers of a Dask cluster.

_ATTEMPTS = 3
"""Rounds of what workers lost: a block that kills every worker it meets must end some time."""
_PATIENCE = 10.0
"""Seconds to wait for a scheduler."""


def on_cluster(prepared: Prepared, missing: list[int], address: str) -> Iterator[tuple[int, Results]]:
    """Blocks in the order in which they are done; one whose worker is lost is given to another."""
    client = _client(address)
    try:
        # pickled once: workers keep what they make of it by these bytes
        package = pickle.dumps((prepared.study, prepared.model, prepared.tasks, prepared.values))
        left = set(missing)
        for attempt in range(_ATTEMPTS):
            for number, results in _round(client, prepared, package, sorted(left), attempt):
                left.discard(number)
                yield number, results
            if not left:
                return
        raise InputError(
            f"scheduler: {len(left)} of {len(missing)} blocks of designs were lost with their workers, {_ATTEMPTS} "
            "times; give the workers more memory, or use smaller blocks (block: ...)"
        )
    finally:
        client.close()


def _client(address: str) -> Any:
    try:
        connect: Any = import_module("distributed").Client
    except ImportError as error:
        raise MissingPackageError("a sweep on a cluster", "dask.distributed", "cluster") from error
    try:
        client = connect(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"scheduler: no answer from {address!r} within {_PATIENCE:g} s ({type(error).__name__}); give an "
            "address such as tcp://10.0.0.1:8786, which 'dask scheduler' prints when it starts"
        ) from error
    if not client.scheduler_info(n_workers=-1)["workers"]:
        client.close()
        raise InputError(f"scheduler: {address} has no workers; start some with: dask worker {address}")
    return client


def _round(
    client: Any, prepared: Prepared, package: bytes, numbers: list[int], attempt: int
) -> Iterator[tuple[int, Results]]:
    as_completed: Any = import_module("distributed").as_completed
    shared = client.scatter(package, broadcast=True, hash=False)
    futures = {
        client.submit(_block, shared, *prepared.span(number), key=f"polypod-block-{id(shared)}-{attempt}-{number}",
                      pure=False, retries=_ATTEMPTS): number
        for number in numbers
    }  # fmt: skip
    for future in as_completed(futures, loop=client.loop):
        if future.status == "finished":
            yield futures[future], future.result()
        elif future.status == "error" and not _is_loss(future.exception()):
            raise future.exception()
        future.release()


def _is_loss(error: BaseException | None) -> bool:
    """Whether a worker, or data that only it had, was lost: worth another try."""
    return type(error).__module__.partition(".")[0] == "distributed"


def _block(package: bytes, start: int, stop: int) -> Results:
    """The results of designs ``start`` to ``stop`` on a worker."""
    evaluator, designs = _unpacked(package)
    return evaluator.evaluate(designs, start, stop)


@lru_cache(maxsize=2)
def _unpacked(package: bytes) -> tuple[Evaluator, Designs]:
    study, model, tasks, values = pickle.loads(package)
    evaluator = Evaluator(study, model, tasks)
    designs = evaluator.designs(values)
    _ = designs.impossible
    return evaluator, designs


# ----------------------------------------------------------------------------------------------------------------------
# Results of a sweep on disk, block by block: a Zarr store that a stopped sweep goes on with.


class Store:
    """A Zarr store of one study: quantities chunked by blocks of designs, and which blocks are done.

    A block's numbers are written before it is marked as done, so that one that was cut short is computed again.
    """

    def __init__(self, path: Path, prepared: Prepared, evaluator: Evaluator) -> None:
        _needed()
        if path.is_symlink() and not path.exists():
            raise InputError(f"store: {path} is a broken link; name another store, or remove it", code="broken_link")
        self.path, self.prepared, self._columns = path, prepared, evaluator.columns
        if not path.exists():
            self._create(evaluator)
        elif self._open().attrs.get("fingerprint") != prepared.fingerprint():
            raise InputError(
                f"store: {path} holds results of another study, robot, motion or block size; name another store, or "
                "remove it",
                code="other_inputs",
            )

    def _create(self, evaluator: Evaluator) -> None:
        from numcodecs import CRC32  # type: ignore[import-untyped, unused-ignore]

        prepared = self.prepared
        shape = len(prepared.values), len(prepared.load_case_names)
        values = {name: np.full(shape, np.nan) for name in evaluator.columns}
        empty = dataset(prepared, evaluator, values, np.zeros(shape, dtype=np.int8))
        empty["done"] = ("block", np.zeros(prepared.blocks, dtype=np.int8), {"long_name": "whether a block is done"})
        # a bit that flips on disk is found when a block is read
        encoding: dict[str, Any] = {
            str(name): {"chunks": (prepared.block, *variable.shape[1:]), "filters": [CRC32()]}
            for name, variable in empty.data_vars.items()
            if "design" in variable.dims
        }
        encoding["done"] = {"chunks": (1,), "filters": [CRC32()]}
        # whole when it appears: a sweep that is stopped here leaves nothing that looks like results
        partial = self.path.with_name(f".{self.path.name}.partial")
        empty.to_zarr(partial, mode="w", encoding=encoding, consolidated=False, zarr_format=2)
        partial.rename(self.path)

    def _open(self) -> xr.Dataset:
        import xarray as xr

        try:
            return xr.open_zarr(self.path, consolidated=False, chunks=None, zarr_format=2)
        except Exception as error:  # whatever a reader of broken files raises
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> InputError:
        return InputError(
            f"store: {self.path} is not a readable sweep store ({type(error).__name__}: {error}); name another, "
            "or remove it to start again",
            code="not_a_store",
        )

    def missing(self) -> list[int]:
        """Blocks that are not done, or whose files are cut short: both are computed again."""
        with self._open() as opened:
            return [number for number in range(self.prepared.blocks) if not self._whole(opened, number)]

    def _whole(self, opened: xr.Dataset, number: int) -> bool:
        names = [*map(variable, self._columns), "reason"]
        try:
            for name in names:
                _ = opened[name].variable[slice(*self.prepared.span(number))].values
            return bool(opened["done"].variable[number].values == 1)
        except Exception:  # whatever a reader of broken files raises
            return False

    def write(self, number: int, results: Results) -> None:
        """A block's numbers, then that it is done."""
        import xarray as xr

        start, stop = self.prepared.span(number)
        dims = ("design", "motion")
        numbers = {variable(name): (dims, value) for name, value in results.values.items()}
        part = xr.Dataset({**numbers, "reason": (dims, results.reason)})
        mark = xr.Dataset({"done": ("block", np.ones(1, dtype=np.int8))})
        try:
            part.to_zarr(self.path, region={"design": slice(start, stop), "motion": slice(None)}, consolidated=False)
            mark.to_zarr(self.path, region={"block": slice(number, number + 1)}, consolidated=False)
        except (ValueError, KeyError) as error:  # its arrays are not those that were made
            raise self._unreadable(error) from error

    def read(self) -> xr.Dataset:
        """The results of all blocks that are done, as a dataset."""
        with self._open() as opened:
            try:
                return opened.drop_vars("done").load()
            except Exception as error:  # whatever a reader of broken files raises
                raise self._unreadable(error) from error


def _needed() -> None:
    try:
        import zarr  # noqa: F401
    except ImportError as error:
        raise MissingPackageError("a store", "zarr", "cluster") from error
