"""Functions folded over states in machine code: the largest, least or weighted total of each output, design by design.

States are walked in pieces that stay in the processor's second cache, all designs of a call at one piece before the
next; what designs have in common there is computed once. Results are folds, a few numbers per design, which later
pieces carry on: memory does not grow with the states. The answer for a design depends on its states and their order
alone, to the bit.
"""

from __future__ import annotations

import hashlib
from array import array as words_of
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Array
from ..lazy import lazy
from ..symbols.expression import Expression, Iteration
from ..symbols.graph import Graph
from ..symbols.program import DesignProgram, Program
from . import machine
from .block import Signature, address_of
from .cache_key import CacheKey
from .emit import INTEGER, Emitter, Module, Writer, check
from .function import RowArray, Source, States, block_words, pointer, values_of

Fold = Literal["most", "least", "total"]
_INITIAL = {"most": -np.inf, "least": np.inf, "total": 0.0}
_PIECE = 32_768
"""Numbers of states that a piece may have: a quarter of a megabyte, which stays in the second cache."""


class Folds(NamedTuple):
    """A function of a state with parameters, and the fold of each of its outputs."""

    function: Expression | Iteration
    folds: tuple[Fold, ...]


class ReductionKernel:
    """A compiled function folded over states, for designs that differ in the numbers at the places ``varied``.

    ``cache_key``, if given, determines what ``build`` makes and spares building it when its code is kept on disk.
    """

    def __init__(self, build: Callable[[], Folds], varied: Sequence[int], cache_key: CacheKey | None = None) -> None:
        self.varied = tuple(varied)
        self.width = machine.vector_width()
        with machine.COMPILING:
            built = cache(build)

            def of_graph() -> bytes:
                return hashlib.sha256(repr((built().function.program, built().folds)).encode()).digest()

            content = of_graph() if cache_key is None else cache_key.content(of_graph)
            digest = hashlib.sha256(content + repr(self.varied).encode()).digest()
            key = machine.key_of(b"folded\n" + digest, self.width)
            compiled = machine.compiled(key, lambda: _compiled(built(), self.varied, self.width))
            self._linked = machine.Linked(compiled.code)
        about = compiled.about
        self.folds: tuple[Fold, ...] = tuple(about["folds"])
        self.inputs = tuple(Signature(name, tuple(shape)) for name, shape in about["inputs"])
        self.outputs = tuple(Signature(name, tuple(shape)) for name, shape in about["outputs"])
        self.operations: tuple[int, int] = tuple(about["operations"])
        self._lengths: dict[str, int] = about["lengths"]
        self._prepare, self._states, self._fold = (
            self._linked.function(name) for name in ("prepare", "states", "fold")
        )

    @lazy
    def _kinds(self) -> list[Fold]:
        """The fold of every number of the outputs."""
        return [fold for fold, p in zip(self.folds, self.outputs, strict=True) for _ in range(p.length)]

    def __call__(self, values: Array, inputs: Mapping[str, Array], weights: Array) -> dict[str, Array]:
        """Folds (D, *shape) by output, of designs (D, k) at states (n, *shape) with weights (n,).

        An input has n rows, or one for all states. Designs must have the same numbers at all places but ``varied``.
        """
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        designs, n, width = len(numbers), len(weights), self.width
        given = [np.ascontiguousarray(inputs[p.name], dtype=np.float64) for p in self.inputs]
        for p, rows in zip(self.inputs, given, strict=True):
            if rows.shape[1:] != p.shape or len(rows) not in (1, n):
                raise ValueError(f"{p.name}: an array ({n} or 1, *{p.shape}) is needed, got {rows.shape}")
        same = np.ones(numbers.shape[1], dtype=bool)
        same[list(self.varied)] = False
        if not np.array_equal(numbers[:, same], np.broadcast_to(numbers[:1, same], (designs, int(same.sum())))):
            raise ValueError(f"designs differ in other numbers than those at {list(self.varied)}")
        lengths = self._lengths
        common, own = np.empty((designs, lengths["common"])), np.empty((designs, lengths["own"]))
        folds = np.empty((designs, len(self._kinds), width))
        folds[...] = np.array([_INITIAL[kind] for kind in self._kinds])[:, None]
        if designs and n:
            _called(self._prepare, [designs, *_strided(numbers), *_strided(common), *_strided(own)])
            piece = max(1, _PIECE // (width * max(lengths["state"], 1))) * width
            table = np.empty((piece // width, lengths["state"], width))
            padded = np.zeros(-(-n // width) * width)
            padded[:n] = weights
            for first in range(0, n, piece):
                count = min(piece, n - first)
                here = [_strided(rows, first) for rows in given]
                words = [word for pair in here for word in pair]
                _called(self._states, [count, *words, address_of(common), 0, address_of(table)])
                shares = address_of(padded) + 8 * first
                _called(self._fold, [designs, count, address_of(table), shares, address_of(own), address_of(folds)])
        return self._finished(folds)

    def _finished(self, folds: Array) -> dict[str, Array]:
        """The lanes of all folds as one."""
        result, at = {}, 0
        combine: dict[Fold, Callable[..., Any]] = {"most": np.max, "least": np.min, "total": np.sum}
        for fold, p in zip(self.folds, self.outputs, strict=True):
            lanes = folds[:, at : at + p.length]
            result[p.name] = combine[fold](lanes, axis=2).reshape(-1, *p.shape)
            at += p.length
        return result


def _strided(rows: Array, first: int = 0) -> tuple[int, int]:
    """Where rows start, from the one at ``first``, and the doubles from row to row."""
    length = int(np.prod(rows.shape[1:], dtype=int))
    stride = 0 if len(rows) == 1 else length
    return address_of(rows) + 8 * first * stride, stride


def _called(function: Callable[[int], None], words: list[int]) -> None:
    block = words_of("q", words)  # named: it must outlive the call, which lets other threads run
    function(block.buffer_info()[0])


def _compiled(built: Folds, varied: Sequence[int], width: int) -> machine.Compiled:
    function, folds = built
    parts = DesignProgram.of(function.program, set(varied))
    loop = () if parts.loop is None else parts.loop.graphs
    for graph in (parts.prepare, parts.states, parts.body, *loop):
        check(graph)
    module = Module()
    _add_prepare(module, parts.prepare, width)
    _add_states(module, parts.states, width)
    kinds = [fold for fold, p in zip(folds, function.outputs, strict=True) for _ in range(p.length)]
    _add_fold(module, parts, kinds, width)
    about = {
        "name": function.name,
        "folds": folds,
        "inputs": [(p.name, p.shape) for p in function.inputs],
        "outputs": [(p.name, p.shape) for p in function.outputs],
        "operations": [parts.states.count, Program(None, parts.body, parts.loop).cost],
        "lengths": {
            "common": len(parts.prepare.outputs[0]),
            "own": len(parts.prepare.outputs[1]),
            "state": len(parts.states.outputs[0]),
        },
    }
    return machine.Compiled(about, machine.compile_module(module))


def _add_prepare(module: Module, graph: Graph, width: int) -> None:
    """``void prepare(block)``: designs; then address and stride of numbers, common and own numbers."""
    writer = Writer(module, "prepare", "nounwind")
    words = block_words(writer, 7)
    lengths = (graph.inputs[0], *map(len, graph.outputs))
    given, *written = (
        RowArray(pointer(writer, words[1 + 2 * k]), words[2 + 2 * k], length) for k, length in enumerate(lengths)
    )
    emitter = Emitter(writer, width)
    with writer.counting(words[0], width) as first:
        states = States(emitter, first, words[0])
        results = emitter.graph(graph, lambda _, element: states.load(given, element))
        for rows, values in zip(written, results, strict=True):
            states.store(rows, values)
    writer.finish()


def _add_states(module: Module, graph: Graph, width: int) -> None:
    """``void states(block)``: states; address and stride of each input and of common numbers; address of the table.

    The table has (vectors, numbers, lanes): one vector of states after the other.
    """
    writer = Writer(module, "states", "nounwind")
    words = block_words(writer, 2 + 2 * len(graph.inputs))
    given = [
        RowArray(pointer(writer, words[1 + 2 * k]), words[2 + 2 * k], length) for k, length in enumerate(graph.inputs)
    ]
    table = pointer(writer, words[-1])
    emitter = Emitter(writer, width)
    with writer.counting(words[0], width) as first:
        states = States(emitter, first, words[0])
        (row,) = emitter.graph(graph, lambda array, element: states.load(given[array], element))
        start = writer.offset(table, writer.value(f"mul {INTEGER} {first}, {len(row)}"))
        for k, value in enumerate(row):
            writer.line(f"store {emitter.type} {value}, ptr {writer.offset(start, k * width)}, align 8")
    writer.finish()


def _add_fold(module: Module, parts: DesignProgram, kinds: Sequence[Fold], width: int) -> None:
    """``void fold(block)``: designs, states; addresses of the table, the weights, own numbers of designs and folds."""
    aligned = " alignstack(64)" if width == 8 else ""
    writer = Writer(module, "fold", f"nounwind{aligned}")
    designs, n, *addresses = block_words(writer, 6)
    table, weights, numbers, folds = (pointer(writer, address) for address in addresses)
    emitter = Emitter(writer, width)
    own, row = parts.body.inputs
    with writer.counting(designs, 1) as design:
        mine = writer.offset(numbers, writer.value(f"mul {INTEGER} {design}, {own}"))
        kept = writer.offset(folds, writer.value(f"mul {INTEGER} {design}, {len(kinds) * width}"))
        with writer.counting(n, width) as first:
            start = writer.offset(table, writer.value(f"mul {INTEGER} {first}, {row}"))
            results = values_of(emitter, Program(None, parts.body, parts.loop), _source(emitter, mine, start))
            weight = writer.value(f"load {emitter.type}, ptr {writer.offset(weights, first)}, align 8")
            for k, (kind, value) in enumerate(zip(kinds, (v for out in results for v in out), strict=True)):
                place = writer.offset(kept, k * width)
                old = writer.value(f"load {emitter.type}, ptr {place}, align 8")
                new = emitter.folded(kind, old, value, weight)
                writer.line(f"store {emitter.type} {new}, ptr {place}, align 8")
    writer.finish()


def _source(emitter: Emitter, mine: str, start: str) -> Source:
    """Numbers of a design, the same in all lanes, and of the states side by side; each is read once."""
    writer, loaded = emitter.writer, dict[tuple[int, int], str]()

    def source(array: int, element: int) -> str:
        if (array, element) not in loaded:
            if array == 0:
                loaded[0, element] = emitter.everywhere(writer.unchanging(writer.offset(mine, element)))
            else:
                place = writer.offset(start, element * emitter.width)
                loaded[1, element] = writer.unchanging(place, emitter.type)
        return loaded[array, element]

    return source
