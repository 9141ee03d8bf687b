"""Arrays in LLVM code: rows of doubles, one row a state, transposed into vectors over the states and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .emit import Emitter
from .text import INTEGER, POINTER, Writer, vector

_WITHOUT_MASKS = 4
"""Widest vectors whose part is stored by dozens of instructions where stores under a mask come without AVX-512."""


def block_words(writer: Writer, count: int) -> list[str]:
    """The first words of the block that a function is called with."""
    result = []
    for k in range(count):
        place = writer.value(f"getelementptr inbounds {INTEGER}, ptr %block, {INTEGER} {k}")
        result.append(writer.value(f"load {INTEGER}, ptr {place}"))
    return result


def pointer(writer: Writer, address: str) -> str:
    """A word that is an address, as a pointer."""
    return writer.value(f"inttoptr {INTEGER} {address} to ptr")


@dataclass(frozen=True)
class RowArray:
    """An array of one design: where it starts, doubles from row to row (values' names), and doubles in a row."""

    start: str
    stride: str
    length: int


class States:
    """The states side by side in one vector; the last vector of a batch repeats the last state.

    So any n works, nothing outside the arrays is touched, and results may overwrite the inputs.
    """

    def __init__(self, emitter: Emitter, first: str, n: str) -> None:
        self._emitter = emitter
        write = emitter.writer.value
        last = write(f"sub {INTEGER} {n}, 1")
        self._numbers = [first]
        for lane in range(1, emitter.width):
            number = write(f"add {INTEGER} {first}, {lane}")
            inside = write(f"icmp slt {INTEGER} {number}, {last}")
            self._numbers.append(write(f"select i1 {inside}, {INTEGER} {number}, {INTEGER} {last}"))
        self._starts: dict[RowArray, list[str]] = {}
        self._loaded: dict[tuple[RowArray, int], list[str]] = {}

    def load(self, rows: RowArray, element: int) -> str:
        """One element of each state's row, as a vector over the states."""
        width = self._emitter.width
        chunk = element // width
        if (rows, chunk) not in self._loaded:
            count = min(width, rows.length - chunk * width)
            lanes = [self._read(start, chunk * width, count) for start in self._lanes(rows)]
            self._loaded[rows, chunk] = self._transposed(lanes)
        return self._loaded[rows, chunk][element - chunk * width]

    def store(self, rows: RowArray, values: Sequence[str]) -> None:
        """Write the values of all lanes, each to the row of its state."""
        width = self._emitter.width
        for first in range(0, rows.length, width):
            part = list(values[first : first + width])
            # Numbers that all states share need no transposing; LLVM 22 aborts where it transposes four of them
            # without optimisation ("Node is not in map").
            shared = self._emitter.gathered(part)
            filler = ["undef"] * (width - len(part))
            lanes = self._transposed(part + filler) if shared is None else [shared] * width
            for start, lane in zip(self._lanes(rows), lanes, strict=True):
                self._write(start, first, len(part), lane)

    def _lanes(self, rows: RowArray) -> list[str]:
        """Where the states' rows start."""
        if rows not in self._starts:
            writer = self._emitter.writer
            self._starts[rows] = [
                writer.offset(rows.start, writer.value(f"mul {INTEGER} {number}, {rows.stride}"))
                for number in self._numbers
            ]
        return self._starts[rows]

    def _transposed(self, rows: list[str]) -> list[str]:
        """A square block transposed, by swapping halves of pairs of vectors."""
        emitter, width = self._emitter, self._emitter.width
        rows, step = list(rows), 1
        while step < width:
            low = [k if not k & step else k - step + width for k in range(width)]
            high = [k + step if not k & step else k + width for k in range(width)]
            for i in range(width):
                if not i & step:
                    a, b = rows[i], rows[i | step]
                    rows[i] = emitter.shuffled(a, b, low)
                    rows[i | step] = emitter.shuffled(a, b, high)
            step *= 2
        return rows

    def _mask(self, count: int) -> tuple[str, str]:
        flags = ["true" if k < count else "false" for k in range(self._emitter.width)]
        return self._emitter.flags, vector("i1", flags)

    def _read(self, row: str, first: int, count: int) -> str:
        """``count`` numbers of a row; nothing beyond them is touched."""
        emitter, writer = self._emitter, self._emitter.writer
        place = writer.offset(row, first)
        if count == emitter.width:
            return writer.value(f"load {emitter.type}, ptr {place}, align 8")
        given = [(POINTER, place), ("i32", "8"), self._mask(count), (emitter.type, "undef")]
        return writer.call(f"llvm.masked.load.{emitter.suffix}.p0", emitter.type, given)

    def _write(self, row: str, first: int, count: int, value: str) -> None:
        """``count`` numbers of a row; nothing beyond them is touched."""
        emitter, writer = self._emitter, self._emitter.writer
        place = writer.offset(row, first)
        if count == emitter.width:
            writer.line(f"store {emitter.type} {value}, ptr {place}, align 8")
            return
        if emitter.width <= _WITHOUT_MASKS:
            for begin, size in ((0, 2), (2, 1)) if count == 3 else ((0, count),):
                part = emitter.part(value, begin, size)
                writer.line(f"store {part}, ptr {writer.offset(row, first + begin)}, align 8")
            return
        given = [(emitter.type, value), (POINTER, place), ("i32", "8"), self._mask(count)]
        writer.perform(f"llvm.masked.store.{emitter.suffix}.p0", given)
