"""Results of a sweep on disk, block by block: a Zarr store that a stopped sweep goes on with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .evaluate import Evaluator, Results
from .results import dataset, variable

if TYPE_CHECKING:
    import xarray as xr

    from .prepared import Prepared


class Store:
    """A Zarr store of one study: quantities chunked by blocks of designs, and which blocks are done.

    A block's numbers are written before it is marked as done, so that one that was cut short is computed again.
    """

    def __init__(self, path: Path, prepared: Prepared, evaluator: Evaluator) -> None:
        _needed()
        self.path, self.prepared = path, prepared
        if path.is_symlink() and not path.exists():
            raise InputError(f"store: {path} is a link to nothing; name another store, or remove it")
        if not path.exists():
            self._create(evaluator)
        elif self._open().attrs.get("fingerprint") != prepared.fingerprint():
            raise InputError(
                f"store: {path} holds results of another study, robot, motion or block size; name another store, or "
                "remove it"
            )

    def _create(self, evaluator: Evaluator) -> None:
        from numcodecs import CRC32  # type: ignore[import-untyped, unused-ignore]

        prepared = self.prepared
        shape = len(prepared.values), len(prepared.load_case_names)
        values = {name: np.full(shape, np.nan) for name in prepared.study.quantities}
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
            f"store: {self.path} is no store of a sweep that can be read ({type(error).__name__}: {error}); name "
            "another, or remove it to start anew"
        )

    def missing(self) -> list[int]:
        """Blocks that are not done, or whose files are cut short: both are computed again."""
        with self._open() as opened:
            return [number for number in range(self.prepared.blocks) if not self._whole(opened, number)]

    def _whole(self, opened: xr.Dataset, number: int) -> bool:
        names = [*map(variable, self.prepared.study.quantities), "reason"]
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
        raise InputError("store: needs zarr: python -m pip install 'polypod[cluster]'") from error
