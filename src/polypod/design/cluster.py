"""Blocks of designs on the workers of a Dask cluster."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .evaluate import Evaluator, Results

if TYPE_CHECKING:
    from ..model.designs import Designs
    from .prepared import Prepared

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
            f"scheduler: {len(left)} of {len(missing)} blocks of designs were lost with their workers, "
            f"{_ATTEMPTS} times; give workers more memory, or the study smaller blocks (block: ...)"
        )
    finally:
        client.close()


def _client(address: str) -> Any:
    try:
        connect: Any = import_module("distributed").Client
    except ImportError as error:
        raise InputError("scheduler: needs dask.distributed: python -m pip install 'polypod[cluster]'") from error
    try:
        client = connect(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"scheduler: nothing answers at {address!r} within {_PATIENCE:g} s ({type(error).__name__}); an address "
            "such as tcp://10.0.0.1:8786 is needed, which 'dask scheduler' prints when it starts"
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
