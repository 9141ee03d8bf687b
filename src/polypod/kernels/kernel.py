"""Kernels: bare compiled functions, arrays in and out, a row for each state."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..symbols.expression import Expression, Iteration
from ..symbols.graph import Graph
from . import machine
from .emit import emit_graph, emit_iteration

Array = NDArray[np.float64]
_ENTRY = "polypod_kernel"
# A thread costs about 20 us to wake; below this much arithmetic for each it does not pay.
_WORTH_A_THREAD = 2_000_000


@dataclass(frozen=True)
class Signature:
    """Name of an array of a kernel and its shape for one state."""

    name: str
    shape: tuple[int, ...]


class Kernel:
    """A compiled function of a batch of states.

    Call it with C-contiguous float64 arrays (n, *shape), one for each input, or (1, *shape) for a value that all
    states share. Nothing is checked: for checked calls use :class:`polypod.Model`. ``operations`` counts the
    arithmetic for one state (of one step for an iteration).
    """

    def __init__(self, build: Callable[[], Expression | Iteration], recipe: bytes | None = None) -> None:
        """``build`` makes the expression; ``recipe``, if given, determines it and spares building it when cached."""
        self._build = build
        compiled = self._compiled(recipe)
        self.name: str = compiled.about["name"]
        self.operations: int = compiled.about["operations"]
        self.iterative: bool = compiled.about["iterative"]
        self.inputs = tuple(Signature(name, tuple(shape)) for name, shape in compiled.about["inputs"])
        self.outputs = tuple(Signature(name, tuple(shape)) for name, shape in compiled.about["outputs"])
        self._function: Callable[[int], None] = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
            machine.address(compiled.code, _ENTRY)
        )

    @cached_property
    def expression(self) -> Expression | Iteration:
        """What the kernel computes, in symbols."""
        return self._build()

    def _compiled(self, recipe: bytes | None) -> machine.Compiled:
        width = machine.vector_width()
        key = machine.key_of(recipe if recipe is not None else repr(self._graphs).encode(), width)
        compiled = machine.load(key)
        if compiled is None:
            expression = self.expression
            emit: Any = emit_graph if isinstance(expression, Expression) else emit_iteration
            about = {
                "name": expression.name,
                "iterative": isinstance(expression, Iteration),
                "operations": self._graphs[1 if isinstance(expression, Iteration) else 0].count,
                "inputs": [(p.name, p.shape) for p in expression.inputs],
                "outputs": [(p.name, p.shape) for p in expression.outputs],
            }
            compiled = machine.Compiled(about, machine.compile_module(emit(*self._graphs, _ENTRY, width)))
            machine.keep(key, compiled)
        return compiled

    @property
    def _graphs(self) -> tuple[Graph, ...]:
        e = self.expression
        return (e.graph,) if isinstance(e, Expression) else e.graphs

    def __call__(self, *arrays: Array, out: Sequence[Array] | None = None, threads: int | None = None) -> Any:
        """Outputs as a tuple of arrays (n, *shape), or the one array if there is one output.

        ``threads`` None uses all cores (or ``POLYPOD_THREADS``) once the batch is large enough to gain from them.
        """
        n = max((len(a) for a in arrays), default=1)
        if any(len(a) == 0 for a in arrays):
            n = 0
        results = tuple(out) if out is not None else tuple(np.empty((n, *p.shape)) for p in self.outputs)
        if n:
            self._run(n, arrays, results, threads)
        return results if len(results) > 1 else results[0]

    def _run(self, n: int, arrays: Sequence[Array], results: Sequence[Array], threads: int | None) -> None:
        if threads is None:
            threads = min(_cores(), max(1, n * self._cost // _WORTH_A_THREAD))
        elif threads < 1:
            raise ValueError(f"threads: at least 1 is needed, got {threads}")
        if threads == 1:
            block = self._block(n, arrays, results)  # named: it must outlive the call, which lets other threads run
            self._function(_address(block))
            return
        width = machine.vector_width()
        share = -(-n // threads // width) * width
        parts = []
        for start in range(0, n, share):
            rows = slice(start, min(start + share, n))
            inputs = [a if len(a) == 1 else a[rows] for a in arrays]
            parts.append(self._block(rows.stop - start, inputs, [r[rows] for r in results]))
        *others, own = parts
        waiting = [_pool().submit(self._function, _address(block)) for block in others]
        self._function(_address(own))
        for part in waiting:
            part.result()

    @property
    def _cost(self) -> int:
        return self.operations * (5 if self.iterative else 1)

    def _block(self, n: int, arrays: Sequence[Array], results: Sequence[Array]) -> NDArray[np.int64]:
        words = [n]
        for a in arrays:
            words += [_address(a), int(len(a) > 1)]
        words += [_address(r) for r in results]
        return np.array(words, dtype=np.int64)

    def bind(self, *arrays: Array, out: Sequence[Array]) -> Bound:
        """A call without arguments on these arrays, for control loops: write the inputs, call, read ``out``."""
        return Bound(self, arrays, tuple(out))

    def interpreted(self, *arrays: Array) -> tuple[Array, ...]:
        """The same outputs from CasADi's interpreter: slow, and independent of the code generation.

        For states without an answer the two may differ: CasADi's minimum skips what is not a number, the compiled one
        passes it on.
        """
        n = max(len(a) for a in arrays)
        rows = [np.broadcast_to(a, (n, *a.shape[1:])).reshape(n, -1) for a in arrays]
        results = [np.empty((n, prod(p.shape))) for p in self.outputs]
        for k in range(n):
            values = self._interpret([row[k] for row in rows])
            for result, value in zip(results, values, strict=True):
                result[k] = np.array(value).ravel()
        return tuple(r.reshape(n, *p.shape) for r, p in zip(results, self.outputs, strict=True))

    def _interpret(self, row: list[Array]) -> Any:
        if isinstance(self.expression, Expression):
            return self.expression.function.call(row)
        start, step, finish = self.expression.functions
        (state,) = start.call(row)
        while True:
            (state,) = step.call([*row, state])
            if float(state[-1]) != 0.0:
                return finish.call([*row, state])


class Bound:
    """A kernel tied to fixed arrays; calling it evaluates them."""

    def __init__(self, kernel: Kernel, arrays: Sequence[Array], results: Sequence[Array]) -> None:
        n = len(results[0])
        for k, (a, p) in enumerate(zip([*arrays, *results], [*kernel.inputs, *kernel.outputs], strict=True)):
            if a.dtype != np.float64 or not a.flags.c_contiguous or a.shape[1:] != p.shape:
                raise ValueError(f"{p.name}: a C-contiguous float64 array (n, {p.shape}) is needed, got {a.shape}")
            written = k >= len(arrays)
            if len(a) != n and (written or len(a) != 1):
                raise ValueError(f"{p.name}: {n} rows are needed{'' if written else ' (or 1)'}, got {len(a)}")
            if written and not a.flags.writeable:
                raise ValueError(f"{p.name}: results are written to this array, but it is read-only")
        self.arrays, self.results = tuple(arrays), tuple(results)
        self._block = kernel._block(len(results[0]), arrays, results)
        self._at = _address(self._block)
        self._function = kernel._function

    def __call__(self) -> None:
        self._function(self._at)


def _address(array: NDArray[Any]) -> int:
    """Where an array's numbers are; several times faster than ``array.ctypes.data``."""
    return int(array.__array_interface__["data"][0])


def _cores() -> int:
    """Threads to use at most: ``POLYPOD_THREADS`` or the cores this process may run on."""
    chosen = os.environ.get("POLYPOD_THREADS", "")
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="polypod")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool's object but none of its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
