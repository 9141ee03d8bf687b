"""LLVM functions of programs: they walk designs, and for each a batch of states.

A function takes one pointer to a block of 64-bit words: the number of designs, the number n of states, then of each
array (inputs, derived numbers if the program has parameters, outputs) its address, the doubles from row to row and
the doubles from design to design. A stride of 0 repeats a row for all states, or an array for all designs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from llvmlite import ir

from ..symbols.graph import Graph
from ..symbols.program import Loop, Program
from .emit import Emitter
from .rows import I64, POINTER, Rows, States

_CACHE_LINE = 64
Source = Callable[[int, int], ir.Value]


def add_function(module: ir.Module, name: str, program: Program, width: int, own_design: bool = False) -> None:
    """Add ``void name(int64 *block)`` to a module; ``width`` states side by side.

    The states of a batch share one row of derived numbers, read as plain numbers for all lanes; with ``own_design``
    each state has a row of its own.
    """
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64.as_pointer()]), name)
    function.attributes.add("nounwind")
    if 8 * width == _CACHE_LINE:
        # The stack is aligned to 16 bytes only; vectors kept there would lie across two cache lines each.
        function.attributes.alignstack = _CACHE_LINE
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    emitter = Emitter(builder, width)
    ends = program.body if program.loop is None else program.loop.finish
    lengths = [*program.body.inputs, *(len(row) for row in ends.outputs)]
    words = [
        builder.load(builder.gep(function.args[0], [ir.Constant(I64, k)], inbounds=True))
        for k in range(2 + 3 * len(lengths))
    ]
    with _counting(builder, words[0], 1) as design:
        arrays = []
        for k, length in enumerate(lengths):
            address, stride, outer = words[2 + 3 * k : 5 + 3 * k]
            start = builder.gep(builder.inttoptr(address, POINTER), [builder.mul(design, outer)], inbounds=True)
            arrays.append(Rows(start, stride, length))
        with _counting(builder, words[1], width) as first:
            states = States(emitter, first, words[1])
            shared = program.prepare is not None and not own_design
            inputs, outputs = arrays[: len(program.body.inputs)], arrays[len(program.body.inputs) :]
            results = _values(emitter, program, _source(emitter, states, inputs, shared))
            for rows, values in zip(outputs, results, strict=True):
                states.store(rows, values)
    builder.ret_void()


def _source(emitter: Emitter, states: States, inputs: Sequence[Rows], shared: bool) -> Source:
    """Elements of the inputs; the last input is one row for all states if ``shared``."""
    loaded: dict[int, ir.Value] = {}
    builder = emitter.builder

    def source(array: int, element: int) -> ir.Value:
        if not shared or array != len(inputs) - 1:
            return states.load(inputs[array], element)
        if element not in loaded:
            place = builder.gep(inputs[array].start, [ir.Constant(I64, element)], inbounds=True)
            number = builder.load(place, align=8)
            # Nothing writes derived numbers during a call: rather than keep one, the code may read it again.
            number.set_metadata("invariant.load", builder.module.add_metadata([]))
            loaded[element] = emitter.everywhere(number)
        return loaded[element]

    return source


def _values(emitter: Emitter, program: Program, source: Source) -> list[list[ir.Value]]:
    """Outputs of one vector of states."""
    values = emitter.graph(program.body, source)
    return values if program.loop is None else _iterated(emitter, program.loop, values[0])


def _iterated(emitter: Emitter, loop: Loop, shared: Sequence[ir.Value]) -> list[list[ir.Value]]:
    """Rounds until every lane is done; a lane that is done keeps its state."""
    builder = emitter.builder

    def values(graph: Graph, state: Sequence[ir.Value]) -> list[list[ir.Value]]:
        return emitter.graph(graph, lambda array, k: shared[k] if array else state[k])

    (initial,) = values(loop.start, ())
    before = builder.block
    iterate, leave = (builder.function.append_basic_block(part) for part in ("iterate", "found"))
    builder.branch(iterate)
    builder.position_at_end(iterate)
    state = [builder.phi(emitter.type) for _ in initial]
    for phi, value in zip(state, initial, strict=True):
        phi.add_incoming(value, before)
    (moved,) = values(loop.step, state)
    frozen = emitter.true(state[-1])
    kept = [builder.select(frozen, old, new) for old, new in zip(state, moved, strict=True)]
    for phi, value in zip(state, kept, strict=True):
        phi.add_incoming(value, builder.block)
    builder.cbranch(emitter.any_lane(builder.not_(emitter.true(kept[-1]))), iterate, leave)
    builder.position_at_end(leave)
    return values(loop.finish, kept)


@contextmanager
def _counting(builder: ir.IRBuilder, end: ir.Value, step: int) -> Iterator[ir.Value]:
    """for (k = 0; k < end; k += step) with what is emitted inside."""
    function, entry = builder.function, builder.block
    head, work, leave = (function.append_basic_block(part) for part in ("head", "work", "leave"))
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(I64)
    k.add_incoming(ir.Constant(I64, 0), entry)
    builder.cbranch(builder.icmp_signed("<", k, end), work, leave)
    builder.position_at_end(work)
    yield k
    k.add_incoming(builder.add(k, ir.Constant(I64, step)), builder.block)
    builder.branch(head)
    builder.position_at_end(leave)
