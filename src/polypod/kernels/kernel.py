"""Kernels: bare compiled functions, arrays in and out, a row for each state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..symbols.expression import Expression, Iteration
from . import machine
from .block import Block, Signature, Strided, address_of, common_rows, strided
from .builtin import without_arguments
from .code import CompiledCode
from .interpret import interpreted, row_of
from .threads import OPERATIONS_PER_BLOCK, cores, run_in_threads

# A thread takes about 20 us to wake; with fewer operations for each it does not pay.
OPERATIONS_PER_THREAD = 2_000_000


@dataclass(frozen=True)
class _Design:
    """Parameters and the numbers derived from them; ``count`` designs, None for one without an axis of its own."""

    values: Array
    derived: Array
    count: int | None
    rows: bool


class Kernel:
    """A compiled function of a batch of states.

    Call it with C-contiguous float64 arrays (n, *shape), one for each input, or (1, *shape) for a value that all
    states share. Shapes are checked, values are not: for checked calls use :class:`polypod.Model`. ``operations``
    counts the arithmetic for one state (of one round for an iteration).

    A kernel with ``parameters`` is called through :meth:`at`, which prepares what depends on them alone. The answer for
    a state does not depend on the batch it is in, to the bit.
    """

    def __init__(self, build: Callable[[], Expression | Iteration], cache_key: bytes | None = None) -> None:
        """``build`` makes the expression; ``cache_key``, if given, determines it and spares building it when cached."""
        self._code = CompiledCode(build, cache_key)
        about = self._code.about
        self.name: str = about["name"]
        self.operations: int = about["operations"]
        self.iterative: bool = about["iterative"]
        self.inputs = tuple(Signature(name, tuple(shape)) for name, shape in about["inputs"])
        self.outputs = tuple(Signature(name, tuple(shape)) for name, shape in about["outputs"])
        self.parameters = None
        if about["parameters"] is not None:
            name, shape = about["parameters"]
            self.parameters = Signature(name, tuple(shape))
        self.cost: int = about["cost"]
        self._design: _Design | None = None

    @property
    def expression(self) -> Expression | Iteration:
        """What the kernel computes, in symbols."""
        return self._code.expression

    @property
    def values(self) -> Array | None:
        """The numbers given to :meth:`at`, (k,) or (D, k); None before."""
        return None if self._design is None else self._design.values

    def at(self, values: ArrayLike, rows: bool = False) -> Kernel:
        """The kernel with numbers for its parameters: one design (k,) or D designs (D, k).

        Of one design the results are (n, *shape). Of D designs they are (D, n, *shape), every design at every state;
        an input is then (n, *shape) for all designs or (D, n, *shape), each n or 1. With ``rows`` every state has a
        design of its own, values (n, k), and results are (n, *shape).

        >>> from polypod.kernels import Expression, Kernel, Port, port
        >>> import casadi as ca, numpy as np
        >>> x, p = ca.SX.sym("x", 1), ca.SX.sym("p", 2)
        >>> line = Expression("line", (Port("x", x, ()),), (port("y", p[0] * x + p[1], ()),), Port("p", p, (2,)))
        >>> kernel = Kernel(lambda: line)
        >>> kernel.at([2.0, 1.0])(np.array([0.0, 1.0]))
        array([1., 3.])
        >>> kernel.at([[2.0, 1.0], [3.0, 0.0]])(np.array([0.0, 1.0]))
        array([[1., 3.],
               [0., 3.]])
        """
        if self.parameters is None:
            raise ValueError(f"{self.name}: this kernel has no parameters")
        # A copy: results must not change when the caller's array does.
        numbers = np.array(values, dtype=np.float64, order="C")
        if numbers.ndim not in (1, 2) or numbers.shape[-1:] != self.parameters.shape or (rows and numbers.ndim == 1):
            k = self.parameters.shape[0]
            wanted = f"(n, {k})" if rows else f"({k},) or (D, {k})"
            raise ValueError(f"{self.parameters.name}: an array {wanted} is needed, got {numbers.shape}")
        table = numbers.reshape(-1, numbers.shape[-1])
        derived = np.empty((len(table), self._code.about["derived"]))
        if len(table):
            given = strided(table, self.parameters, None)
            output = strided(derived, Signature("derived", derived.shape[1:]), None, written=True)
            block = Block(1, len(table), (given, output)).words()
            self._code.prepare(block.buffer_info()[0])
        clone = copy.copy(self)
        clone._design = _Design(numbers, derived, len(table) if numbers.ndim == 2 and not rows else None, rows)
        return clone

    def __call__(self, *arrays: Array, out: Sequence[Array] | None = None, threads: int | None = None) -> Any:
        """Outputs as a tuple of arrays (n, *shape), or the one array if there is one output; see also :meth:`at`.

        ``threads`` None uses all cores (or ``POLYPOD_THREADS``) once the batch is large enough to gain from them.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads: at least 1 is needed, got {threads}")
        results, block = self._layout(arrays, out)
        states = block.designs * block.n
        if states:
            if threads is None:
                worth = states * self.cost // OPERATIONS_PER_THREAD
                threads = min(cores(), worth) if worth > 1 else 1
            function = self.function(block.n)
            pieces = max(threads, states * self.cost // OPERATIONS_PER_BLOCK)
            if pieces == 1:
                words = block.words()  # named: it must outlive the call, which lets other threads run
                function(words.buffer_info()[0])
            else:
                parts = [part.words() for part in block.parts(pieces, machine.vector_width())]
                run_in_threads(function, parts, threads, (self, arrays, results))
        return results if len(results) > 1 else results[0]

    def along(self, *arrays: Array, carry: tuple[str, str]) -> tuple[Array, ...]:
        """Outputs (T, n, *shape) row after row of a log, for a kernel of one design or without parameters.

        ``carry`` names an input and an output: the output of a row is the input of the next. That input's array is its
        start (n, *shape), the others are (T, n, *shape). The n states of a row are evaluated side by side.
        """
        design = self._design
        if design is None and self.parameters is not None:
            raise self._without_design()
        if design is not None and design.values.ndim != 1:
            raise ValueError(f"{self.name}: a log needs numbers of one design, got {design.values.shape}")
        source, target = (
            [s.name for s in part].index(name) for name, part in zip(carry, (self.inputs, self.outputs), strict=True)
        )
        _check_count("inputs", arrays, self.inputs)
        rows, n = next(a.shape[:2] for k, a in enumerate(arrays) if k != source)
        # Designs are evaluated in order: rows of the log stand in their place, and carried numbers one row further.
        carried = np.empty((rows + 1, n, *self.inputs[source].shape))
        carried[0] = arrays[source]
        given = [
            strided(carried[:-1] if k == source else a, s, rows)
            for k, (a, s) in enumerate(zip(arrays, self.inputs, strict=True))
        ]
        n = common_rows(given, self.inputs, n)
        if design is not None:
            given.append((address_of(design.derived), 0, 0, 1))
        out = [carried[1:] if k == target else np.empty((rows, n, *s.shape)) for k, s in enumerate(self.outputs)]
        written = [strided(a, s, rows, written=True) for a, s in zip(out, self.outputs, strict=True)]
        if rows and n:
            words = Block(rows, n, (*given, *written)).words()
            self.function(n)(words.buffer_info()[0])
        return tuple(out)

    def bind(self, *arrays: Array, out: Sequence[Array]) -> Bound:
        """A call without arguments on these arrays, for control loops: write the inputs, call, read ``out``."""
        return Bound(self, arrays, out)

    def function(self, n: int) -> Callable[[int], None]:
        """The machine code for n states, which takes the address of a block."""
        own = self._design is not None and self._design.rows
        if n <= self._code.narrow_width and not (own and n > 1):
            return self._code.small_batch
        return self._code.per_state if own and n > 1 else self._code.batch

    def _without_design(self) -> ValueError:
        """What to say of a call without numbers for the parameters: the code would read them from anywhere."""
        assert self.parameters is not None
        count = self.parameters.shape[0]
        return ValueError(f"{self.name}: this kernel has {count} parameters; call kernel.at(values) first")

    def _layout(self, arrays: Sequence[Array], out: Sequence[Array] | None) -> tuple[tuple[Array, ...], Block]:
        """Results (new unless ``out`` is given) and the block of a call, checked."""
        design = self._design
        if design is None and self.parameters is not None:
            raise self._without_design()
        _check_count("inputs", arrays, self.inputs)
        designs = None if design is None else design.count
        given = [strided(a, s, designs) for a, s in zip(arrays, self.inputs, strict=True)]
        signatures = list(self.inputs)
        if design is not None and self.parameters is not None:
            given.append(self._derived(design))
            signatures.append(self.parameters)
        if out is None:
            n = common_rows(given, signatures)
            lead = (n,) if designs is None else (designs, n)
            out = [np.empty((*lead, *s.shape)) for s in self.outputs]
            written = [strided(a, s, designs, written=True) for a, s in zip(out, self.outputs, strict=True)]
        else:
            _check_count("outputs", out, self.outputs)
            written = [strided(a, s, designs, written=True) for a, s in zip(out, self.outputs, strict=True)]
            n = common_rows(given, signatures, written[0][3])
            for (_, _, _, rows), signature in zip(written, self.outputs, strict=True):
                if rows != n:
                    raise ValueError(
                        f"{signature.name}: {n} rows, as {self.outputs[0].name} has, are needed, got {rows}"
                    )
        return tuple(out), Block(1 if designs is None else designs, n, (*given, *written))

    @property
    def design_words(self) -> list[int]:
        """Address and strides, as in a block, of the derived numbers of one design, which all states share."""
        return [] if self._design is None else list(self._derived(self._design)[:3])

    def _derived(self, design: _Design) -> Strided:
        address, length = address_of(design.derived), design.derived.shape[1]
        if design.rows:
            rows = len(design.derived)
            return address, 0 if rows == 1 else length, 0, rows
        return address, 0, length, 1

    def interpreted(self, *arrays: Array) -> tuple[Array, ...]:
        """The same outputs from CasADi's interpreter: slow, and independent of the code generation.

        For states without an answer the two may differ: CasADi's minimum skips what is not a number, the compiled one
        passes it on.
        """
        results, block = self._layout(arrays, None)
        design = self._design
        for place in np.ndindex((block.designs, block.n)):
            values = [row_of(a, s, *place) for a, s in zip(arrays, self.inputs, strict=True)]
            parameters = []
            if design is not None:
                table = design.values.reshape(-1, design.values.shape[-1])
                parameters = [table[0 if len(table) == 1 else place[1 if design.rows else 0]]]
            for result, value in zip(results, interpreted(self.expression, values, parameters), strict=True):
                result.reshape(block.designs, block.n, -1)[place] = np.array(value).ravel()
        return results


def _check_count(kind: str, arrays: Sequence[Array], signatures: Sequence[Signature]) -> None:
    if len(arrays) != len(signatures):
        names = ", ".join(s.name for s in signatures)
        raise ValueError(f"{len(signatures)} {kind} are needed ({names}), got {len(arrays)}")


class Bound(partial[None]):
    """A kernel tied to fixed arrays; calling it evaluates them. (A partial call: the fastest that Python has.)"""

    arrays: tuple[Array, ...]
    results: tuple[Array, ...]
    _kept: tuple[Any, ...]

    def __new__(cls, kernel: Kernel, arrays: Sequence[Array], results: Sequence[Array]) -> Self:
        """The arrays, one row for each state, are read and written by every call."""
        _, block = kernel._layout(arrays, results)
        words = block.words()
        address, code = words.buffer_info()[0], None
        if block.designs * block.n == 1:
            call, code = without_arguments(kernel._code.one, address)
            self = super().__new__(cls, call)
        else:
            self = super().__new__(cls, kernel.function(block.n), address)
        self.arrays, self.results = tuple(arrays), tuple(results)
        self._kept = kernel, words, code  # the code, its derived numbers and the addresses live as long
        return self
