"""LLVM functions of programs: they walk designs, and for each a batch of states.

A function takes one pointer to a block of 64-bit words: the number of designs, the number n of states, then of each
array (inputs, derived numbers if the program has parameters, outputs) its address, the doubles from row to row and
the doubles from design to design. A stride of 0 repeats a row for all states, or an array for all designs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..symbols.graph import Graph
from ..symbols.program import Loop, Program
from .emit import INTEGER, POINTER, Emitter, Module, Writer, vector

_CACHE_LINE = 64
Source = Callable[[int, int], str]


def add_function(module: Module, name: str, program: Program, width: int, own_design: bool = False) -> None:
    """Add ``void name(int64 *block)`` to a module; ``width`` states side by side.

    The states of a batch share one row of derived numbers, read as plain numbers for all lanes; with ``own_design``
    each state has a row of its own.
    """
    # The stack is aligned to 16 bytes only; vectors kept there would lie across two cache lines each.
    aligned = f" alignstack({_CACHE_LINE})" if 8 * width == _CACHE_LINE else ""
    writer = Writer(module, name, f"nounwind{aligned}")
    emitter = Emitter(writer, width)
    ends = program.body if program.loop is None else program.loop.finish
    lengths = [*program.body.inputs, *(len(row) for row in ends.outputs)]
    words = block_words(writer, 2 + 3 * len(lengths))
    with writer.counting(words[0], 1) as design:
        arrays = []
        for k, length in enumerate(lengths):
            address, stride, outer = words[2 + 3 * k : 5 + 3 * k]
            start = writer.offset(pointer(writer, address), writer.value(f"mul {INTEGER} {design}, {outer}"))
            arrays.append(RowArray(start, stride, length))
        with writer.counting(words[1], width) as first:
            states = States(emitter, first, words[1])
            shared = program.prepare is not None and not own_design
            inputs, outputs = arrays[: len(program.body.inputs)], arrays[len(program.body.inputs) :]
            results = values_of(emitter, program, _source(emitter, states, inputs, shared))
            for rows, values in zip(outputs, results, strict=True):
                states.store(rows, values)
    writer.finish()


def _source(emitter: Emitter, states: States, inputs: Sequence[RowArray], shared: bool) -> Source:
    """Elements of the inputs; the last input is one row for all states if ``shared``."""
    loaded: dict[int, str] = {}
    writer = emitter.writer

    def source(array: int, element: int) -> str:
        if not shared or array != len(inputs) - 1:
            return states.load(inputs[array], element)
        if element not in loaded:
            loaded[element] = emitter.everywhere(writer.unchanging(writer.offset(inputs[array].start, element)))
        return loaded[element]

    return source


def values_of(emitter: Emitter, program: Program, source: Source) -> list[list[str]]:
    """Outputs of one vector of states; ``source(input, element)`` gives the inputs of the program's body."""
    values = emitter.graph(program.body, source)
    return values if program.loop is None else _iterated(emitter, program.loop, values[0])


class StackBuffer:
    """Vectors on the stack, read where they are used: thousands of them are more than registers hold."""

    def __init__(self, emitter: Emitter, count: int) -> None:
        self._emitter, self._align = emitter, f"align {8 * emitter.width}"
        self._start = emitter.writer.room(f"[{count} x {emitter.type}], {self._align}") if count else ""

    def _place(self, k: int) -> str:
        return self._emitter.writer.offset(self._start, k * self._emitter.width)

    def load(self, k: int) -> str:
        """Load the k-th vector of the state."""
        return self._emitter.writer.value(f"load {self._emitter.type}, ptr {self._place(k)}, {self._align}")

    def store(self, bits: str, values: Sequence[str]) -> None:
        """Vectors anew, in some lanes."""
        for k, value in enumerate(values):
            new = self._emitter.chosen(bits, value, self.load(k))
            self._emitter.writer.line(f"store {self._emitter.type} {new}, ptr {self._place(k)}, {self._align}")


def _iterated(emitter: Emitter, loop: Loop, shared: Sequence[str]) -> list[list[str]]:
    """Rounds until every lane is done; a lane that is done keeps its state."""
    writer = emitter.writer

    def values(graph: Graph, state: Sequence[str], kept: Callable[[int], str] = str) -> list[list[str]]:
        sources = (state.__getitem__, shared.__getitem__, kept)
        return emitter.graph(graph, lambda array, k: sources[array](k))

    buffer = StackBuffer(emitter, 0 if loop.renew is None else len(loop.renew.outputs[0]))
    (initial,) = values(loop.start, ())
    before = writer.block
    iterate, leave = writer.labels("iterate", "found")
    writer.branch(iterate)
    writer.start(iterate)
    state = [writer.phi(emitter.type) for _ in initial]
    names = [name for name, _ in state]
    frozen = emitter.true(names[-1])
    if loop.renew is not None:
        renew, go = writer.labels("renew", "go")
        fresh = emitter.none_of(emitter.true(names[loop.count]))
        writer.line(f"br i1 {emitter.any_lane(fresh)}, label %{renew}, label %{go}")
        writer.start(renew)
        buffer.store(fresh, values(loop.renew, names)[0])
        writer.branch(go)
        writer.start(go)
    (moved,) = values(loop.step, names, buffer.load)
    kept = [emitter.chosen(frozen, old, new) for old, new in zip(names, moved, strict=True)]
    for (_, place), first, value in zip(state, initial, kept, strict=True):
        writer.incoming(place, (first, before), (value, writer.block))
    again = emitter.any_lane(emitter.none_of(emitter.true(kept[-1])))
    writer.line(f"br i1 {again}, label %{iterate}, label %{leave}")
    writer.start(leave)
    return values(loop.finish, kept)


# ----------------------------------------------------------------------------------------------------------------------
# Arrays in LLVM code: rows of doubles, one row a state, transposed into vectors over the states and back.

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
