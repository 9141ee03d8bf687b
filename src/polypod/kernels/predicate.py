"""Conditions on many states at once: which states pass, as bits, each condition asked only where one still may.

A batch is a grid: every design (numbers that change rarely, such as an orientation) at every state (positions). Values
that a design determines are computed once for it; a vector of states in which none passes a stage is left at once.
Nothing but one bit a state is written, so a billion states need neither memory nor time for their results.
"""

from __future__ import annotations

import hashlib
from array import array as words_of
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..lazy import lazy
from ..symbols.expression import Port
from ..symbols.graph import Graph, Operation
from ..symbols.program import Program
from ..symbols.split import split_by_dependency
from . import machine
from .block import Block, Signature, address_of, strided
from .cache_key import CacheKey
from .emit import DOUBLE, INTEGER, Emitter, Module, Writer, check, vector
from .function import add_function, block_words, pointer
from .threads import OPERATIONS_PER_BLOCK, cores, run_in_threads

Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class Conditions:
    """Conditions of a state in symbols, in the order in which they are asked.

    ``stages`` are comparisons; a state passes a stage if it passed all before it. ``reported`` are the numbers of the
    stages whose bits are written. ``inputs`` change from state to state, ``parameters`` from design to design.
    """

    name: str
    inputs: Port
    parameters: Port
    stages: tuple[ca.SX, ...]
    reported: tuple[int, ...]

    @lazy
    def graphs(self) -> tuple[Graph, Graph]:
        """What designs determine, (p) -> d, and the stages, (inputs, d) -> one output each."""
        symbols = [self.inputs.symbols, self.parameters.symbols]
        graph = Graph.of(ca.Function(self.name, symbols, [ca.densify(stage) for stage in self.stages]))
        return split_by_dependency(graph, {1})


class PredicateKernel:
    """Compiled conditions; call it with designs and states, and it says which states pass."""

    def __init__(self, build: Callable[[], Conditions], cache_key: CacheKey | None = None) -> None:
        """``build`` makes the conditions; ``cache_key``, if given, determines them and spares building them."""
        self._build = build
        self.width = machine.vector_width()
        with machine.COMPILING:
            content = self._of_graph() if cache_key is None else cache_key.content(self._of_graph)
            compiled = machine.compiled(machine.key_of(b"predicate\n" + content, self.width), self._compiled)
            self._linked = machine.Linked(compiled.code)
        self.operations: int = compiled.about["operations"]
        self._derived, self._reported, *self._sizes = (
            compiled.about[name] for name in ("derived", "reported", "parameters", "inputs")
        )
        self._prepare, self._predicate = self._linked.function("prepare"), self._linked.function("predicate")

    @lazy
    def _conditions(self) -> Conditions:
        return self._build()

    def _of_graph(self) -> bytes:
        prepare, body = self._conditions.graphs
        return hashlib.sha256(repr((prepare, body, self._conditions.reported)).encode()).digest()

    def _compiled(self) -> machine.Compiled:
        conditions = self._conditions
        prepare, body = conditions.graphs
        module = Module()
        for graph in (prepare, body):
            check(graph)
        add_function(module, "prepare", Program(None, prepare), self.width)
        _add_predicate(module, body, conditions.reported, self.width)
        about = {
            "name": conditions.name,
            "operations": body.count,
            "derived": len(prepare.outputs[0]),
            "reported": len(conditions.reported),
            "parameters": conditions.parameters.length,
            "inputs": conditions.inputs.length,
        }
        return machine.Compiled(about, machine.compile_module(module))

    def __call__(self, values: ArrayLike, columns: ArrayLike, threads: int | None = None) -> Bits:
        """Bits (D, r, ceil(n/w)) of the r reported stages, for designs (D, k) at states given by columns (c, n).

        Byte v has the states from w v on, the first in its lowest bit; w is ``width``.
        """
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        given = np.ascontiguousarray(columns, dtype=np.float64)
        k, c = self._sizes
        if numbers.ndim != 2 or numbers.shape[1] != k or given.ndim != 2 or given.shape[0] != c:
            raise ValueError(f"designs (D, {k}) and columns ({c}, n) are needed, got {numbers.shape}, {given.shape}")
        designs, n = len(numbers), given.shape[1]
        vectors = -(-n // self.width)
        if n % self.width:  # a whole number of vectors; the last state again, its bits cleared below
            given = np.concatenate([given, np.repeat(given[:, -1:], vectors * self.width - n, axis=1)], axis=1)
        derived = np.empty((designs, self._derived))
        bits = np.zeros((designs, self._reported, vectors), dtype=np.uint8)
        if not designs or not n:
            return bits
        block = Block(1, designs, (_rows(numbers), _rows(derived, written=True))).words()
        self._prepare(block.buffer_info()[0])
        threads = cores() if threads is None else threads
        share = max(1, min(-(-designs // threads), OPERATIONS_PER_BLOCK // (n * max(1, self.operations))))
        parts = []
        for start in range(0, designs, share):
            own = derived[start : start + share], bits[start : start + share]
            words = [len(own[0]), vectors * self.width, address_of(given), *map(address_of, own)]
            parts.append(words_of("q", words))
        run_in_threads(self._predicate, parts, threads, (self, given, derived, bits))
        if n % self.width:
            bits[..., -1] &= (1 << n % self.width) - 1
        return bits


def _rows(table: Array, written: bool = False) -> tuple[int, int, int, int]:
    return strided(table, Signature("table", table.shape[1:]), None, written)


def _add_predicate(module: Module, body: Graph, reported: tuple[int, ...], width: int) -> None:
    """``void predicate(int64 *block)``: designs, states (whole vectors), addresses of columns, derived numbers,
    bits."""
    writer = Writer(module, "predicate", "nounwind")
    emitter = Emitter(writer, width)
    designs, n, *addresses = block_words(writer, 5)
    columns, table, bits = (pointer(writer, address) for address in addresses)
    vectors = writer.value(f"udiv {INTEGER} {n}, {width}")
    each = writer.value(f"mul {INTEGER} {vectors}, {len(reported)}")
    stages = _staged(body)
    with writer.counting(designs, 1) as design:
        derived = writer.offset(table, writer.value(f"mul {INTEGER} {design}, {body.inputs[1]}"))
        start = writer.value(f"mul {INTEGER} {design}, {each}")
        with writer.counting(n, width) as first:
            known: dict[int, str] = {}
            place = writer.value(f"udiv {INTEGER} {first}, {width}")
            (leave,) = writer.labels("left")
            alive = vector("i1", ["true"] * width)
            for number, operations in enumerate(stages):
                for index in operations:
                    known[index] = _emitted(emitter, body.operations[index], known, (columns, n, first), derived)
                bits_of = emitter.true(known[body.outputs[number][0]])
                alive = writer.value(f"and {emitter.flags} {alive}, {bits_of}")
                (further,) = writer.labels("passed")
                some = emitter.any_lane(alive)
                writer.line(f"br i1 {some}, label %{further}, label %{leave}")
                writer.start(further)
                if number in reported:
                    row = writer.value(f"mul {INTEGER} {vectors}, {reported.index(number)}")
                    at = writer.value(f"add {INTEGER} {start}, {writer.value(f'add {INTEGER} {row}, {place}')}")
                    byte = writer.value(f"bitcast {emitter.flags} {alive} to i{width}")
                    if width < 8:
                        byte = writer.value(f"zext i{width} {byte} to i8")
                    target = writer.value(f"getelementptr inbounds i8, ptr {bits}, {INTEGER} {at}")
                    writer.line(f"store i8 {byte}, ptr {target}")
            writer.branch(leave)
            writer.start(leave)
    writer.finish()


def _staged(body: Graph) -> list[list[int]]:
    """Numbers of the operations that each output needs and none before it, in order."""
    done: set[int] = set()
    stages = []
    for (output,) in body.outputs:
        wanted, waiting = set(), [output]
        while waiting:
            index = waiting.pop()
            if index not in done and index not in wanted:
                wanted.add(index)
                waiting += body.operations[index].arguments
        stages.append(sorted(wanted))
        done |= wanted
    return stages


def _emitted(
    emitter: Emitter, step: Operation, known: dict[int, str], states: tuple[str, str, str], derived: str
) -> str:
    """The value of one operation; inputs are loaded where they are first needed."""
    writer = emitter.writer
    if step.op != ca.OP_INPUT:
        return emitter.operation(step, [known[i] for i in step.arguments])
    array, element = step.source
    if array == 1:
        return emitter.everywhere(writer.unchanging(writer.offset(derived, element)))
    columns, n, first = states
    here = writer.value(f"add {INTEGER} {writer.value(f'mul {INTEGER} {n}, {element}')}, {first}")
    return writer.value(f"load <{emitter.width} x {DOUBLE}>, ptr {writer.offset(columns, here)}, align 8")
