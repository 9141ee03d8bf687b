"""Labelled arrays as netCDF 3, the 64-bit offset variant that any reader of the format opens.

The format's own library, or xarray's writer, takes longer to load than a study to compute.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 0x0A, 0x0B, 0x0C
_TYPES = {"S1": 2, ">i4": 4, ">f8": 6}
_NONE = bytes(8)


class Variable(NamedTuple):
    """Names of the dimensions, values (numbers or texts) and attributes of a variable."""

    dims: Sequence[str]
    values: ArrayLike
    attributes: Mapping[str, Any]


def netcdf(variables: Mapping[str, Variable], attributes: Mapping[str, Any]) -> bytes:
    """A whole file: variables by name, and attributes of all of it.

    Texts become characters with one more dimension, ``stringN`` of N bytes, in UTF-8 as their ``_Encoding`` states.
    """
    stored = {name: _stored(*variable) for name, variable in variables.items()}
    sizes: dict[str, int] = {}
    for name, (dims, values, _) in stored.items():
        for dim, size in zip(dims, values.shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ValueError(f"{name}: dimension {dim} has {sizes[dim]} elsewhere and {size} here")
    numbers = {dim: k for k, dim in enumerate(sizes)}
    head = b"CDF\x02" + bytes(4)  # no record dimension: the motion's length is known
    head += _list(_DIMENSIONS, [_name(dim) + struct.pack(">i", size) for dim, size in sizes.items()])
    head += _attributes(attributes)
    entries, blocks = [], []
    for name, (dims, values, about) in stored.items():
        block = _padded(values.tobytes())
        shape = struct.pack(f">i{len(dims)}i", len(dims), *(numbers[dim] for dim in dims))
        kind = struct.pack(">ii", _TYPES[_type(values)], len(block))
        entries.append(_name(name) + shape + _attributes(about) + kind)
        blocks.append(block)
    begin = len(head) + len(_list(_VARIABLES, [entry + bytes(8) for entry in entries]))
    placed = []
    for entry, block in zip(entries, blocks, strict=True):
        placed.append(entry + struct.pack(">q", begin))
        begin += len(block)
    return b"".join([head, _list(_VARIABLES, placed), *blocks])


def _stored(
    dims: Sequence[str], given: ArrayLike, about: Mapping[str, Any]
) -> tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]:
    """Values as the format has them: doubles, integers of four bytes, or characters with one more dimension."""
    values = np.asarray(given)
    if values.dtype.kind in "UO":
        texts = np.char.encode(values.astype(str), "utf-8")
        width = max(texts.dtype.itemsize, 1)
        letters = texts.astype(f"S{width}").reshape(*values.shape, 1).view("S1")
        return (*dims, f"string{width}"), letters, {**about, "_Encoding": "utf-8"}
    whole = values.dtype.kind in "biu"
    if whole and values.size and not -(2**31) <= int(values.min()) <= int(values.max()) < 2**31:
        raise ValueError(f"integers must fit into four bytes, got {int(values.min())} to {int(values.max())}")
    # not ascontiguousarray, which makes a list of a single number
    return tuple(dims), np.asarray(values, dtype=">i4" if whole else ">f8", order="C"), dict(about)


def _type(values: NDArray[Any]) -> str:
    return "S1" if values.dtype.kind == "S" else values.dtype.str


def _attributes(attributes: Mapping[str, Any]) -> bytes:
    return _list(_ATTRIBUTES, [_name(name) + _attribute(value) for name, value in attributes.items()])


def _attribute(value: Any) -> bytes:
    if isinstance(value, str):
        text = value.encode()
        return struct.pack(">ii", _TYPES["S1"], len(text)) + _padded(text)
    numbers = np.atleast_1d(value)
    _, stored, _ = _stored(("n",), numbers, {})
    return struct.pack(">ii", _TYPES[_type(stored)], stored.size) + _padded(stored.tobytes())


def _list(tag: int, entries: Sequence[bytes]) -> bytes:
    return struct.pack(">ii", tag, len(entries)) + b"".join(entries) if entries else _NONE


def _name(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">i", len(encoded)) + _padded(encoded)


def _padded(data: bytes) -> bytes:
    """Filled up to a multiple of four bytes."""
    return data + bytes(-len(data) % 4)
