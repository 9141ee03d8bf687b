"""What a kernel and all its designs share: the expression, and the machine code made from it or found in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Literal

from ..lazy import lazy
from ..symbols.expression import Expression, Iteration
from ..symbols.program import Program
from . import machine
from .emit import check
from .function import add_function
from .text import Module

Part = Literal["prepare", "batch", "small_batch", "per_state"]
_PREPARED = 2
"""Designs prepared side by side. Vectors of 8 take two to four times as long to compile and gain 60 ns a design."""


class CompiledCode:
    """Functions of one expression, each called with the address of a block (see :mod:`polypod.kernels.function`).

    ``prepare`` derives numbers from parameters; ``batch`` evaluates many states side by side, ``small_batch`` up to as
    many as ``narrow_width``; they read one row of derived numbers a design. ``per_state`` reads one for each state.
    Each but ``prepare`` is compiled when first used: most programs call with many states or with one, and never pay for
    the other. The machine code is freed with this object.
    """

    def __init__(self, build: Callable[[], Expression | Iteration], cache_key: bytes | None) -> None:
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
        return self._build()

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
        if self._cache_key is not None:
            return self._cache_key
        return hashlib.sha256(repr(self.expression.program).encode()).digest()

    def _compiled(self, part: Part) -> machine.Compiled:
        key = machine.key_of(part.encode() + b"\n" + self._content, machine.vector_width(), self._level)
        compiled = machine.load(key)
        if compiled is None:
            code = _object_code(part, self.expression.program, self._level)
            compiled = machine.Compiled(_description(self.expression), code)
            machine.keep(key, compiled)
        return compiled


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
