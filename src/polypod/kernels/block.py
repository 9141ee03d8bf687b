"""Arrays of one call: checked against a kernel's signatures and laid out as the block of words its code reads."""

from __future__ import annotations

from array import array as words_of
from collections.abc import Iterator, Sequence
from ctypes import addressof, c_char
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True)
class Signature:
    """Name of an array of a kernel and its shape for one state."""

    name: str
    shape: tuple[int, ...]

    @lazy
    def length(self) -> int:
        """Numbers in a row."""
        return prod(self.shape)


# An array as machine code sees it: its address, doubles from row to row, doubles from design to design, and its rows.
# A plain tuple: a call with six arrays spends a third of its time here.
Strided = tuple[int, int, int, int]


def strided(array: Any, signature: Signature, designs: int | None, written: bool = False) -> Strided:
    """A C-contiguous float64 array (rows, *shape), or (designs, rows, *shape) where there are designs.

    ``written`` arrays have results for every design and can be written to. Columns of a longer array that are only
    read, such as ``array[:, :3]``, may stay where they are. The answer is right as long as ``array`` lives.
    """
    plain = isinstance(array, np.ndarray) and array.flags.c_contiguous
    if not plain and not written and _is_columns(array, signature):
        return address_of(array), array.strides[0] // 8, 0, len(array)
    # of arrays that were pickled the type is another object, and equal; the same object is seen sooner
    if not plain or (array.dtype is not _DOUBLE and array.dtype != _DOUBLE):
        raise ValueError(f"{signature.name}: a C-contiguous float64 array is needed, got {_description(array)}")
    shape = array.shape
    lead = len(shape) - len(signature.shape)
    own = lead == 2
    if (
        not (own if designs is not None and written else lead == 1 or own)
        or shape[lead:] != signature.shape
        or (own and shape[0] != designs)
    ):
        raise ValueError(f"{signature.name}: {_wanted(signature, designs, written)} is needed, got {shape}")
    if written and not array.flags.writeable:
        raise ValueError(f"{signature.name}: results are written to this array, but it is read-only")
    rows, length = shape[lead - 1], signature.length
    return address_of(array), length if written or rows != 1 else 0, rows * length if own else 0, rows


def _is_columns(array: Any, signature: Signature) -> bool:
    """Whether an array (rows, k) of more than one row has rows that are some numbers of longer ones."""
    return (
        isinstance(array, np.ndarray)
        and array.ndim == 2
        and array.dtype == _DOUBLE
        and (array.shape[1],) == signature.shape
        and len(array) > 1
        and array.strides[1] == 8
        and array.strides[0] > 0
        and array.strides[0] % 8 == 0
    )


def plain_address(array: NDArray[Any]) -> int:
    """Where the numbers of an array are that is contiguous and can be written to; a TypeError or ValueError if not."""
    return addressof(c_char.from_buffer(array))  # type: ignore[arg-type]


def address_of(array: NDArray[Any]) -> int:
    """Where a contiguous array's numbers are; the first way is several times faster than the second."""
    try:
        return plain_address(array)
    except (TypeError, ValueError):  # read-only, or empty
        return int(array.__array_interface__["data"][0])


def common_rows(arrays: Sequence[Strided], signatures: Sequence[Signature], rows: int | None = None) -> int:
    """The number n of states of arrays with n rows, or one for all; ``rows`` if that is known."""
    n = rows
    for (_, _, _, count), signature in zip(arrays, signatures, strict=True):
        if n is None and count != 1:
            n = count
        if count != n and count != 1:
            raise ValueError(f"{signature.name}: {n} rows, as in the other arrays, or 1 are needed, got {count}")
    return 1 if n is None else n


class Block(NamedTuple):
    """A call: designs, states of each, and its arrays in the order of the code."""

    designs: int
    n: int
    arrays: tuple[Strided, ...]

    def words(self) -> words_of[int]:
        """The block that machine code reads."""
        words = [self.designs, self.n]
        for address, stride, outer, _ in self.arrays:
            words += (address, stride, outer)
        return words_of("q", words)

    def parts(self, count: int, width: int) -> Iterator[Block]:
        """About ``count`` calls that do the same: of some designs each if there are enough, else of some states."""
        if self.designs >= count:
            share = -(-self.designs // count)
            for start in range(0, self.designs, share):
                yield Block(min(share, self.designs - start), self.n, self._from(start, 0))
        else:
            share = -(-self.n // count // width) * width
            for start in range(0, self.n, share):
                yield Block(self.designs, min(share, self.n - start), self._from(0, start))

    def _from(self, design: int, row: int) -> tuple[Strided, ...]:
        """The arrays from one design and row on."""
        return tuple((a + 8 * (design * outer + row * stride), stride, outer, n) for a, stride, outer, n in self.arrays)


def _description(array: Any) -> str:
    if not isinstance(array, np.ndarray):
        return type(array).__name__
    gaps = "" if array.flags.c_contiguous else ", not contiguous"
    return f"{array.dtype} {array.shape}{gaps}"


def _wanted(signature: Signature, designs: int | None, written: bool) -> str:
    shape = "".join(f", {k}" for k in signature.shape)
    plain, own = f"(n{shape}{'' if shape else ','})", f"({designs}, n{shape})"
    if designs is None:
        return plain
    return own if written else f"{plain} or {own}"
