"""Kernels: bare compiled functions, arrays in and out, a row for each state."""

from __future__ import annotations

import copy
import ctypes
import hashlib
from array import array as words_of
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import Reason, StateError
from ..lazy import lazy
from ..symbols.expression import Expression, Iteration
from ..symbols.program import Program
from . import machine
from .block import Block, Signature, Strided, address_of, common_rows, plain_address, strided
from .budget import announce, within_budget
from .cache_key import CacheKey
from .emit import Module, check
from .function import add_function
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
    states share. Shapes are checked, values are not: for checked calls use ``polypod.Model``. ``operations``
    counts the arithmetic for one state (of one round for an iteration).

    A kernel with ``parameters`` is called through ``at``, which prepares what depends on them alone. The answer for
    a state does not depend on the batch it is in, to the bit.
    """

    def __init__(self, build: Callable[[], Expression | Iteration], cache_key: CacheKey | None = None) -> None:
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
        """The numbers given to ``at``, (k,) or (D, k); None before."""
        return None if self._design is None else self._design.values

    def at(self, values: ArrayLike, rows: bool = False) -> Kernel:
        """The kernel with numbers for its parameters: one design (k,) or D designs (D, k).

        Of one design the results are (n, *shape). Of D designs they are (D, n, *shape), every design at every state;
        an input is then (n, *shape) for all designs or (D, n, *shape), each n or 1. With ``rows`` every state has a
        design of its own, values (n, k), and results are (n, *shape).

        Examples
        --------
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
        clone = copy.copy(self)
        clone._design = _Design(numbers, derived, len(table) if numbers.ndim == 2 and not rows else None, rows)
        if len(table):
            clone.preparation()()
        return clone

    def preparation(self) -> Callable[[], None]:
        """What derives anew all that depends on the ``values`` alone, after these were written to in place."""
        assert self._design is not None
        assert self.parameters is not None
        values, derived = self._design.values, self._design.derived
        given = strided(values.reshape(-1, values.shape[-1]), self.parameters, None)
        output = strided(derived, Signature("derived", derived.shape[1:]), None, written=True)
        block = Block(1, len(derived), (given, output)).words()
        function, kept = self._code.prepare, (block, self._design)  # which live as long as their addresses are used
        return lambda: function(kept[0].buffer_info()[0])

    def broadcast(self, rows: Sequence[Array], states: tuple[int, ...], numbers: Array) -> tuple[Array, ...]:
        """Outputs (n, *shape) of all states broadcast against ``numbers`` (..., k) of the parameter port.

        ``rows`` are the inputs of a batch of the shape ``states``, one each (n or 1, *shape). Where the axes of the
        numbers lead, what depends on them alone is derived once for all their states.
        """
        designs = numbers.shape[:-1]
        shape = np.broadcast_shapes(states, designs)
        table = numbers.reshape(-1, numbers.shape[-1])
        outer = _leading_axes(designs, shape)
        if self.parameters is None or outer is None:
            size = prod(shape)
            kernel = self
            if self.parameters is not None:
                kernel = self.at(table[designs_of_states(designs, shape)], rows=True)
            full = [np.broadcast_to(row_per_state(row, states, shape), (size, *row.shape[1:])) for row in rows]
            results = kernel(*map(np.ascontiguousarray, full))
        else:
            kernel = self.at(table[0] if len(table) == 1 else table)
            results = kernel(*(_rows_by_design(row, states, shape, outer) for row in rows))
        results = results if isinstance(results, tuple) else (results,)
        return tuple(r.reshape(-1, *p.shape) for r, p in zip(results, self.outputs, strict=True))

    def __call__(self, *arrays: Array, out: Sequence[Array] | None = None, threads: int | None = None) -> Any:
        """Outputs as a tuple of arrays (n, *shape), or the one array if there is one output; see also ``at``.

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


def designs_of_states(designs: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The number of the design of every state of a batch that designs are broadcast to."""
    return np.broadcast_to(np.arange(prod(designs)).reshape(designs), shape).ravel()


def row_per_state(row: Array, states: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Rows (n or 1, ...) of an input of states for every one of the broadcast batch."""
    core = row.shape[1:]
    full = np.broadcast_to(row, (prod(states), *core)).reshape(*states, *core)
    return np.broadcast_to(full, (*shape, *core)).reshape(-1, *core)


def _leading_axes(designs: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """How many leading axes of a batch the designs take; None if they also vary along axes of the states."""
    padded = (1,) * (len(shape) - len(designs)) + designs
    last = max((k for k, size in enumerate(padded) if size != 1), default=-1)
    return last + 1 if padded[: last + 1] == shape[: last + 1] else None


def _rows_by_design(row: Array, states: tuple[int, ...], shape: tuple[int, ...], outer: int) -> Array:
    """Rows of an input for kernels of several designs: (n, ...) for all of them, or (D, n, ...)."""
    core = row.shape[1:]
    if len(row) == 1:
        return row
    lead = (1,) * (len(shape) - len(states)) + states
    full = row.reshape(*lead, *core)
    if all(size == 1 for size in lead[:outer]):
        inner = np.broadcast_to(full, (*(1,) * outer, *shape[outer:], *core))
        return np.ascontiguousarray(inner).reshape(-1, *core)
    every = np.broadcast_to(full, (*shape, *core))
    return np.ascontiguousarray(every).reshape(prod(shape[:outer]), -1, *core)


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


# ----------------------------------------------------------------------------------------------------------------------
# What a kernel and all its designs share: the expression, and the machine code made from it or found in the cache.

Part = Literal["prepare", "batch", "small_batch", "per_state"]
_PREPARED = 2
"""Designs prepared side by side. Vectors of 8 take two to four times as long to compile and gain 60 ns a design."""


class CompiledCode:
    """Functions of one expression, each called with the address of a block (see ``polypod.kernels.function``).

    ``prepare`` derives numbers from parameters; ``batch`` evaluates many states side by side, ``small_batch`` up to as
    many as ``narrow_width``; they read one row of derived numbers per design. ``per_state`` reads one for each state.
    Each but ``prepare`` is compiled when first used: most programs call with many states or with one, and never pay for
    the other. The machine code is freed with this object.
    """

    def __init__(self, build: Callable[[], Expression | Iteration], cache_key: CacheKey | None) -> None:
        self._build, self._cache_key = build, cache_key
        self._linked: dict[Part, machine.Linked] = {}
        self._level = machine.optimisation()  # one for all parts, which must agree to the bit
        self.narrow_width = machine.narrow_width() or 0
        with machine.COMPILING:
            prepare = self._compiled("prepare")
            self.about = prepare.about
            if self.about["parameters"]:
                self._linked["prepare"] = machine.Linked(prepare.code)
                self.prepare = self._linked["prepare"].function("prepare")

    @lazy
    def expression(self) -> Expression | Iteration:
        """What the code computes, in symbols."""
        return within_budget(self._build())

    @lazy
    def batch(self) -> Callable[[int], None]:
        """Many states side by side; those of code that is not optimised no more than a few."""
        return self._function("small_batch" if self.narrow_width and self._level == 0 else "batch")

    @lazy
    def small_batch(self) -> Callable[[int], None]:
        """The function for batches of up to ``narrow_width`` states."""
        return self._function("small_batch") if self.narrow_width else self.batch

    @lazy
    def one(self) -> int:
        """Where the function for one state is."""
        part: Part = "small_batch" if self.narrow_width else "batch"
        self._function(part)
        return self._linked[part].address(part)

    @lazy
    def per_state(self) -> Callable[[int], None]:
        """States side by side, each with derived numbers of its own."""
        return self._function("per_state")

    def _function(self, part: Part) -> Callable[[int], None]:
        with machine.COMPILING:
            if part not in self._linked:
                self._linked[part] = machine.Linked(self._compiled(part).code)
            return self._linked[part].function(part)

    @lazy
    def _content(self) -> bytes:
        """All that determines the code."""
        return self._of_graph() if self._cache_key is None else self._cache_key.content(self._of_graph)

    def _of_graph(self) -> bytes:
        # what is kept with the code are names and shapes too: two functions of the same operations may differ in these
        arrays = [(p.name, p.shape) for p in (*self.expression.inputs, *self.expression.outputs)]
        return hashlib.sha256(f"{arrays}\n{self.expression.program!r}".encode()).digest()

    def _compiled(self, part: Part) -> machine.Compiled:
        key = machine.key_of(part.encode() + b"\n" + self._content, machine.vector_width(), self._level)

        def make() -> machine.Compiled:
            program = self.expression.program
            if part != "prepare":
                announce(self.expression.name, sum(graph.count for graph in program.graphs), self._level)
            return machine.Compiled(_description(self.expression), _object_code(part, program, self._level))

        return machine.compiled(key, make)


def _width(part: Part, level: int) -> int:
    """States, or designs, side by side; one where code is not optimised, which compiles in less than half the time."""
    if level == 0:
        return 1
    if part == "prepare":
        return _PREPARED
    return (part == "small_batch" and machine.narrow_width()) or machine.vector_width()


def _object_code(part: Part, program: Program, level: int) -> bytes:
    """The code of one part; none to prepare a program without parameters."""
    module = Module()
    if part == "prepare":
        for graph in program.graphs:
            check(graph)  # what cannot be compiled is said before the rest is asked for
        if program.prepare is None:
            return b""
        program = Program(None, program.prepare)
    add_function(module, part, program, _width(part, level), own_design=part == "per_state")
    return machine.compile_module(module, level)


def _description(expression: Expression | Iteration) -> dict[str, Any]:
    """What a caller must know, as JSON data."""
    program, parameters = expression.program, expression.parameters
    return {
        "name": expression.name,
        "iterative": isinstance(expression, Iteration),
        "operations": program.operations,
        "cost": program.cost,
        "inputs": [(p.name, p.shape) for p in expression.inputs],
        "outputs": [(p.name, p.shape) for p in expression.outputs],
        "parameters": None if parameters is None else (parameters.name, parameters.shape),
        "derived": 0 if program.prepare is None else len(program.prepare.outputs[0]),
    }


# ----------------------------------------------------------------------------------------------------------------------
# A compiled function and its block as a function of Python without arguments, as fast to call as those built in.
#
# A function built into Python is a C function of one object: here a few instructions read from it, a plain number,
# where function and block are, call one with the other, and give None. ``PyCFunction_NewEx`` belongs to Python's stable
# interface. Through ``ctypes``, which turns arguments and results into C and back, the same code of the hexapod's
# inverse dynamics takes 1.2 us instead of 0.95 (1.6 if it keeps the interpreter lock), of some 3 us for the whole call.

_POINTER_OF, _INCREASE = "polypod_pointer_of", "polypod_increase"
_CODE = f"""
declare ptr @{_POINTER_OF}(ptr)
declare void @{_INCREASE}(ptr)
define ptr @builtin(ptr %self, ptr %none) {{
  %words = call ptr @{_POINTER_OF}(ptr %self)
  %function = load ptr, ptr %words
  %second = getelementptr inbounds i64, ptr %words, i64 1
  %block = load ptr, ptr %second
  call void %function(ptr %block)
  %third = getelementptr inbounds i64, ptr %words, i64 2
  %nothing = load ptr, ptr %third
  call void @{_INCREASE}(ptr %nothing)
  ret ptr %nothing
}}
"""
_NO_ARGUMENTS = 0x0004  # METH_NOARGS of Python's C interface


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("about", ctypes.c_char_p),
    )


def without_arguments(function: int, block: int) -> tuple[Callable[[], None], object]:
    """What calls the function at one address with a block at another, and what must live as long.

    The call keeps the interpreter to itself: to let other threads run and come back takes longer than a short one.
    """
    words = np.array([function, block, id(None)], dtype=np.uint64)
    method, new_function, linked = _method()
    return new_function(ctypes.byref(method), words.ctypes.data, None), (words, method, linked)


@cache
def _method() -> tuple[_Method, Any, machine.Linked]:
    """The entry for Python, what makes an object of it, and the code, which is kept with the kernels."""
    python = ctypes.pythonapi
    machine.name_address(_POINTER_OF, python.PyLong_AsVoidPtr)
    machine.name_address(_INCREASE, python.Py_IncRef)
    key = machine.key_of(_CODE.encode(), 1)

    def make() -> machine.Compiled:
        module = Module()
        module.add(_CODE)
        return machine.Compiled({}, machine.compile_module(module))

    linked = machine.Linked(machine.compiled(key, make).code)
    new_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", python)
    )
    return _Method(b"kernel", linked.address("builtin"), _NO_ARGUMENTS, None), new_function, linked


# ----------------------------------------------------------------------------------------------------------------------
# Kernels called with one state, as loops of control and simulation need them.

_ARRAY, _DOUBLE = np.ndarray, np.dtype(np.float64)


class Call:
    """A kernel tied to arrays of its own; results are views that the next call overwrites. Not for several threads."""

    def __init__(self, kernel: Kernel) -> None:
        inputs = tuple(np.zeros((1, *p.shape)) for p in kernel.inputs)
        # one stretch of memory, so that one look tells whether all results are finite
        lengths = [prod(p.shape) for p in kernel.outputs]
        self._flat = np.zeros(sum(lengths))
        parts = np.split(self._flat, np.cumsum(lengths)[:-1])
        outputs = tuple(part.reshape(1, *p.shape) for part, p in zip(parts, kernel.outputs, strict=True))
        self._rows = tuple(a[0] if a.ndim > 1 else a for a in inputs)
        self._results = tuple(a[0] if a.ndim > 1 else a for a in outputs)
        self._bound = Bound(kernel, inputs, outputs)

    def __call__(self, *values: Array | float) -> tuple[Array, ...]:
        """Outputs for one state; a scalar output is an array of one number."""
        for row, value in zip(self._rows, values, strict=True):
            row[...] = value
        self._bound()
        return self._results


class PlainCall:
    """A kernel called with one state, or a few, in plain arrays, with no more bookkeeping than their addresses take.

    A control loop calls with one state at a time: broadcasting and address look-ups would cost it more than the
    mechanics, and those of a thousand states as much. Anything unusual is left to the caller (the answer is None):
    another layout, and every state whose verdict, the kernel's last output, is not zero.

    ``names`` are the inputs that calls give, in their order; ``presets`` by name are the values of those left out
    (None), without which they may not be. Names that the kernel does not have must be left out. A kernel without
    numbers for its parameters is called with them, one design (k,) a call. Outputs that are ``hidden`` are not among
    the results; values of inputs to be ``looked_at`` are left to the caller. Not for several threads.
    """

    def __init__(
        self,
        kernel: Kernel,
        names: Sequence[str],
        presets: Mapping[str, Array],
        hidden: Container[str],
        looked_at: Container[str] = (),
    ) -> None:
        ports = {p.name: p for p in kernel.inputs}
        order = [*(n for n in names if n in ports), *(n for n in ports if n not in names)]
        # one stretch of memory, filled by one copy
        lengths = [ports[n].length for n in order]
        state = np.concatenate([presets.get(n, np.zeros(ports[n].shape)).ravel() for n in order])
        parts = dict(zip(order, np.split(state, np.cumsum(lengths)[:-1]), strict=True))
        outputs = [np.zeros((1, *p.shape)) for p in kernel.outputs]
        self._numbers: Array | None = None
        if kernel.parameters is not None and kernel.values is None:
            kernel = kernel.at(np.zeros(kernel.parameters.shape))
            self._numbers, self._prepare = kernel.values, kernel.preparation()
        self._kernel = kernel
        self._bound = [parts[n].reshape(1, *p.shape) for n, p in ports.items()], outputs
        self._evaluate: Callable[[], None] = self._bind_and_evaluate
        ends = np.cumsum([0, *(ports[n].length if n in ports else 0 for n in names)]).tolist()
        whole = state.data.cast("B")
        self._given = [whole[: 8 * end] for end in ends]
        self._count, self._preset = 0, bytes(self._given[-1])
        self._left_out = [(None,) * (len(names) - k) for k in range(len(names) + 1)]
        self._fewest = max((k + 1 for k, n in enumerate(names) if n in ports and n not in presets), default=0)
        self._shapes = [ports[n].shape if n in ports and n not in looked_at else None for n in names]
        self._presets = [b"" if n not in ports else presets.get(n) for n in names]
        self._verdict = outputs[-1].data
        self._shown = [k for k, p in enumerate(kernel.outputs) if p.name not in hidden]
        self._results = [outputs[k].reshape(kernel.outputs[k].shape) for k in self._shown]
        self._result = self._results[0] if len(self._results) == 1 else None
        # a few states
        self._sources = [names.index(n) if n in names else None for n in ports]
        self._rows = {n: np.array(presets.get(n, np.zeros(p.shape)))[None] for n, p in ports.items()}
        self._fixed = [(address_of(row), 0, 0) for row in self._rows.values()]
        self._lengths = [p.length for p in kernel.inputs]
        self._outputs = [(p.shape, p.length) for p in kernel.outputs]
        self._design = kernel.design_words
        self._max_states = 2 * OPERATIONS_PER_THREAD // max(kernel.cost, 1)

    def __call__(self, values: tuple[Any, ...], numbers: Array | None = None) -> list[Array] | None:
        """New arrays of the results; None if the caller must look at the values."""
        shapes, k = self._shapes, 0
        for value in values:  # counted by hand: zip takes longer than the rest
            if type(value) is not _ARRAY or value.shape != shapes[k] or value.dtype is not _DOUBLE:
                if value is None:
                    break
                return self._few(values, numbers)
            k += 1
        try:
            last = values[k:] == self._left_out[k]
        except ValueError:  # an array, which is not compared as a whole
            last = False
        given = values[:k] if last else self._completed(values)
        if k < self._fewest or given is None:
            return self._few(values, numbers)
        k = len(given)
        if k < self._count:
            self._given[-1][:] = self._preset
        self._count = k
        try:
            self._given[k][:] = b"".join(given)
        except TypeError:  # not contiguous
            return None
        if self._numbers is not None:
            self._numbers[:] = numbers
            self._prepare()
        self._evaluate()
        if self._verdict[0]:
            return None
        return [self._result.copy()] if self._result is not None else [a.copy() for a in self._results]

    def _bind_and_evaluate(self) -> None:
        """The first call with one state: the code for it is made then, not for those who only have batches."""
        inputs, outputs = self._bound
        self._evaluate = self._kernel.bind(*inputs, out=outputs)
        self._evaluate()

    def _completed(self, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Values of one state with those left out before others; None if some are not of one state."""
        filled = []
        for value, shape, preset in zip(values, self._shapes, self._presets, strict=True):
            if value is not None and (type(value) is not _ARRAY or value.shape != shape or value.dtype is not _DOUBLE):
                return None
            filled.append(preset if value is None else value)
        return None if any(value is None for value in filled) else tuple(filled)

    def _few(self, given: tuple[Any, ...], numbers: Array | None) -> list[Array] | None:
        """The same for a few states (n, *shape), some inputs shared by all."""
        n = 0
        words, fixed, lengths = [1, 0], self._fixed, self._lengths
        try:
            for k, source in enumerate(self._sources):
                value = None if source is None else given[source]
                if value is None:
                    if source is not None and self._presets[source] is None:
                        return None
                    words += fixed[k]
                    continue
                shape = self._shapes[source]  # type: ignore[index]
                if type(value) is not _ARRAY or value.dtype is not _DOUBLE:
                    return None
                if value.shape == shape:
                    words += (plain_address(value), 0, 0)
                    continue
                if value.shape[1:] != shape or len(value) != (n or len(value)):
                    return None
                n = len(value)
                words += (plain_address(value), lengths[k], 0)
        except (TypeError, ValueError):  # not contiguous, read-only, or empty
            return None
        if not 0 < n <= self._max_states or any(
            value is not None and shape is None for value, shape in zip(given, self._shapes, strict=True)
        ):
            return None
        if self._numbers is not None:
            self._numbers[:] = numbers
            self._prepare()
        words += self._design
        words[1] = n
        results = []
        for shape, length in self._outputs:
            results.append(np.empty((n, *shape)))
            words += (plain_address(results[-1]), length, 0)
        block = words_of("q", words)  # named: it must outlive the call, which lets other threads run
        self._kernel.function(n)(block.buffer_info()[0])
        return None if np.count_nonzero(results[-1]) else [results[k] for k in self._shown]


class CheckedCall(Call):
    """A call that gives an answer or an error: no number where the kernel reports that there is none.

    An answer has a ``quality`` above ``least_quality``, an iteration that ``converged`` (where the kernel has such
    outputs), and finite results. ``explain`` says in words why the quality is lost, from the call's own values, and
    ``infinite`` why results are not finite, if another reason than their size is possible.
    """

    def __init__(
        self,
        kernel: Kernel,
        least_quality: float,
        explain: Callable[..., str],
        infinite: Callable[..., str] | None = None,
    ) -> None:
        super().__init__(kernel)
        self._name, self._least, self._explain, self._infinite = kernel.name, least_quality, explain, infinite
        by_name = dict(zip((p.name for p in kernel.outputs), self._results, strict=True))
        always = np.full(1, np.inf)
        self._quality, self._converged = by_name.get("quality", always), by_name.get("converged", always)

    def attempt(self, *values: Array | float) -> tuple[Array, ...] | None:
        """Outputs for one state; None if it has no answer."""
        for row, value in zip(self._rows, values, strict=True):
            row[...] = value
        self._bound()
        if not self._quality[0] > self._least or self._converged[0] == 0.0:
            return None
        # the zero byte of a False; for a few numbers faster than np.isfinite(...).all()
        return None if b"\0" in np.isfinite(self._flat).tobytes() else self._results

    def __call__(self, *values: Array | float) -> tuple[Array, ...]:
        """Outputs for one state; a ``polypod.errors.StateError`` with the reason if it has no answer."""
        results = self.attempt(*values)
        if results is not None:
            return results
        if not self._quality[0] > self._least:
            reason = self._explain(*values)
        elif self._converged[0] == 0.0:
            reason = Reason(
                "the friction iteration did not converge: friction coefficients too large for this state", "friction"
            )
        else:
            overflow = Reason("the result overflows", "overflow")
            reason = overflow if self._infinite is None else self._infinite(*values)
        raise StateError(f"{self._name}: no answer. {reason}", np.array([0]), [reason])


# ----------------------------------------------------------------------------------------------------------------------
# Functions of one state by CasADi's interpreter: slow, and independent of the code generation.


def row_of(array: Array, signature: Signature, design: int, state: int) -> Array:
    """The numbers of one state of one design."""
    own = array[design] if array.ndim - len(signature.shape) == 2 else array
    return np.ravel(own[0 if len(own) == 1 else state])


def interpreted(expression: Expression | Iteration, values: list[Array], parameters: list[Array]) -> Any:
    """Outputs of one state; ``parameters`` is empty or has one row."""
    if isinstance(expression, Expression):
        return expression.function.call([*values, *parameters])
    start, step, finish = expression.functions
    (state,) = start.call([*values, *parameters])
    while True:
        (state,) = step.call([*values, state, *parameters])
        if float(state[-1]) != 0.0:
            return finish.call([*values, state, *parameters])
