"""Arrays in LLVM code: rows of doubles, one row a state, turned into vectors over the states and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir

from .emit import F64, Emitter

I64 = ir.IntType(64)
POINTER = F64.as_pointer()


@dataclass(frozen=True, eq=False)
class Rows:
    """An array of one design: where it starts, doubles from row to row, and doubles in a row."""

    start: ir.Value
    stride: ir.Value
    length: int


class States:
    """The states side by side in one vector; the last vector of a batch repeats the last state.

    So any n works, nothing outside the arrays is touched, and results may overwrite the inputs.
    """

    def __init__(self, emitter: Emitter, first: ir.Value, n: ir.Value) -> None:
        self._emitter = emitter
        builder = emitter.builder
        last = builder.sub(n, ir.Constant(I64, 1))
        self._numbers = [first]
        for lane in range(1, emitter.width):
            number = builder.add(first, ir.Constant(I64, lane))
            self._numbers.append(builder.select(builder.icmp_signed("<", number, last), number, last))
        self._starts: dict[Rows, list[ir.Value]] = {}
        self._loaded: dict[tuple[Rows, int], list[ir.Value]] = {}

    def load(self, rows: Rows, element: int) -> ir.Value:
        """One element of each state's row, as a vector over the states."""
        width = self._emitter.width
        chunk = element // width
        if (rows, chunk) not in self._loaded:
            count = min(width, rows.length - chunk * width)
            lanes = [self._read(start, chunk * width, count) for start in self._lanes(rows)]
            self._loaded[rows, chunk] = self._transposed(lanes)
        return self._loaded[rows, chunk][element - chunk * width]

    def store(self, rows: Rows, values: Sequence[ir.Value]) -> None:
        """Each state's row."""
        width = self._emitter.width
        for first in range(0, rows.length, width):
            part = list(values[first : first + width])
            filler = [ir.Constant(self._emitter.type, ir.Undefined)] * (width - len(part))
            for start, lane in zip(self._lanes(rows), self._transposed(part + filler), strict=True):
                self._write(start, first, len(part), lane)

    def _lanes(self, rows: Rows) -> list[ir.Value]:
        """Where the states' rows start."""
        if rows not in self._starts:
            builder = self._emitter.builder
            self._starts[rows] = [
                builder.gep(rows.start, [builder.mul(number, rows.stride)], inbounds=True) for number in self._numbers
            ]
        return self._starts[rows]

    def _transposed(self, rows: list[ir.Value]) -> list[ir.Value]:
        """A square block turned over its diagonal, by exchanging halves of pairs of vectors."""
        builder, width = self._emitter.builder, self._emitter.width
        mask = ir.VectorType(ir.IntType(32), width)
        rows, step = list(rows), 1
        while step < width:
            low = ir.Constant(mask, [k if not k & step else k - step + width for k in range(width)])
            high = ir.Constant(mask, [k + step if not k & step else k + width for k in range(width)])
            for i in range(width):
                if not i & step:
                    a, b = rows[i], rows[i | step]
                    rows[i] = builder.shuffle_vector(a, b, low)
                    rows[i | step] = builder.shuffle_vector(a, b, high)
            step *= 2
        return rows

    def _mask(self, count: int) -> ir.Constant:
        return ir.Constant(
            ir.VectorType(ir.IntType(1), self._emitter.width), [k < count for k in range(self._emitter.width)]
        )

    def _place(self, row: ir.Value, first: int) -> ir.Value:
        builder = self._emitter.builder
        return builder.bitcast(
            builder.gep(row, [ir.Constant(I64, first)], inbounds=True), self._emitter.type.as_pointer()
        )

    def _read(self, row: ir.Value, first: int, count: int) -> ir.Value:
        """``count`` numbers of a row; nothing beyond them is touched."""
        emitter, place = self._emitter, self._place(row, first)
        if count == emitter.width:
            return emitter.builder.load(place, align=8)
        mask = self._mask(count)
        kind = ir.FunctionType(emitter.type, [place.type, ir.IntType(32), mask.type, emitter.type])
        function = emitter.declared(f"llvm.masked.load.{emitter.suffix}.p0", kind)
        nothing = ir.Constant(emitter.type, ir.Undefined)
        return emitter.builder.call(function, [place, ir.Constant(ir.IntType(32), 8), mask, nothing])

    def _write(self, row: ir.Value, first: int, count: int, value: ir.Value) -> None:
        """``count`` numbers of a row; nothing beyond them is touched."""
        emitter, place = self._emitter, self._place(row, first)
        if count == emitter.width:
            emitter.builder.store(value, place, align=8)
            return
        mask = self._mask(count)
        kind = ir.FunctionType(ir.VoidType(), [emitter.type, place.type, ir.IntType(32), mask.type])
        function = emitter.declared(f"llvm.masked.store.{emitter.suffix}.p0", kind)
        emitter.builder.call(function, [value, place, ir.Constant(ir.IntType(32), 8), mask])
