"""NumPy archives from anywhere: what their arrays claim to be is looked at before any of them is read."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...errors import InputError

MAX_BYTES = 1_000_000_000
"""Largest arrays that are read from an archive, together."""
MAX_GROWTH, FREE_BYTES = 100, 10_000_000
"""How many times its own size an archive may grow when it is unpacked, and up to which size this does not count."""
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_arrays(path: Path, known: Collection[str]) -> dict[str, Any]:
    """The arrays of an ``.npz`` file by name; InputError for unknown names, objects, and arrays beyond the limits."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive, path.stat().st_size, known)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except InputError:
        raise
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"not a NumPy archive of plain arrays: {error}") from error


def _check(archive: zipfile.ZipFile, packed: int, known: Collection[str]) -> None:
    """Names, and sizes as the archive's directory and the arrays' headers state them."""
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    for name in names:
        if name not in known:
            raise InputError(f"{name}: unknown field; known: {', '.join(known)}")
        if names.count(name) > 1:
            raise InputError(f"{name}: is there twice")
    size = sum(member.file_size for member in members)
    if size > MAX_BYTES:  # a few compressed kilobytes can hold gigabytes
        raise InputError(f"its arrays take {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read")
    if size > FREE_BYTES and size > MAX_GROWTH * packed:
        raise InputError(
            f"{packed / 1e6:.3g} MB unpack to {size / 1e6:.0f} MB; above {FREE_BYTES / 1e6:.0f} MB at most "
            f"{MAX_GROWTH} times the file's size is read"
        )
    for name, member in zip(names, members, strict=True):
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(f"{name}: packed in a way that NumPy does not write; save it with numpy.savez_compressed")
        with archive.open(member) as file:
            claimed = _claimed(file)
        if claimed != member.file_size:
            raise InputError(f"{name}: its header speaks of {claimed} bytes, there are {member.file_size}")


def _claimed(file: IO[bytes]) -> int:
    """Bytes of a member whose header speaks true: the header's own and those of the array."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise InputError(f"array format {version[0]}.{version[1]}; 1.0 and 2.0 are read")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise InputError("arrays of Python objects are not read")
    return file.tell() + math.prod(shape) * dtype.itemsize
