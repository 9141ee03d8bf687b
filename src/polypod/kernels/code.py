"""What a kernel and all its designs share: the expression, and the machine code made from it or found in the cache."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

from llvmlite import ir

from ..symbols.expression import Expression, Iteration
from ..symbols.program import Program
from . import machine
from .function import add_function

_PREPARE, _BATCH, _FEW, _ROWS = (f"polypod_{part}" for part in ("prepare", "batch", "few", "rows"))


class Code:
    """Functions of one expression, each called with the address of a block (see :mod:`polypod.kernels.function`).

    ``prepare`` derives numbers from parameters; ``batch`` evaluates many states side by side, ``few`` up to as many
    as ``narrow``, ``one`` a single state; they read one row of derived numbers a design. ``rows`` reads one for each
    state and is compiled when first used. The machine code is freed with this object.
    """

    def __init__(self, build: Callable[[], Expression | Iteration], recipe: bytes | None) -> None:
        self._build, self._recipe = build, recipe
        self._lock = threading.Lock()
        self._rows: tuple[machine.Linked, Callable[[int], None]] | None = None
        compiled = self._compiled(b"", self._main)
        self.about = compiled.about
        self._main_code = machine.Linked(compiled.code)
        self.narrow = machine.narrow_width() or 0
        self.batch = self._main_code.function(_BATCH)
        self.few = self._main_code.function(_FEW) if self.narrow else self.batch
        self.one = self._main_code.function(_FEW if self.narrow else _BATCH, short=True)
        if self.about["parameters"]:
            self.prepare = self._main_code.function(_PREPARE)

    @cached_property
    def expression(self) -> Expression | Iteration:
        """What the code computes, in symbols."""
        return self._build()

    @property
    def rows(self) -> Callable[[int], None]:
        """States side by side, each with derived numbers of its own."""
        with self._lock:
            if self._rows is None:
                linked = machine.Linked(self._compiled(b"rows", self._own_designs).code)
                self._rows = linked, linked.function(_ROWS)
        return self._rows[1]

    def _compiled(self, variant: bytes, fill: Callable[[ir.Module, Program, int], None]) -> machine.Compiled:
        width = machine.vector_width()
        content = self._recipe if self._recipe is not None else repr(self.expression.program).encode()
        key = machine.key_of(variant + b"\n" + content, width)
        compiled = machine.load(key)
        if compiled is None:
            module = ir.Module("polypod")
            fill(module, self.expression.program, width)
            compiled = machine.Compiled(_description(self.expression), machine.compile_module(module))
            machine.keep(key, compiled)
        return compiled

    @staticmethod
    def _main(module: ir.Module, program: Program, width: int) -> None:
        if program.prepare is not None:
            add_function(module, _PREPARE, Program(None, program.prepare), width)
        add_function(module, _BATCH, program, width)
        narrow = machine.narrow_width()
        if narrow:
            add_function(module, _FEW, program, narrow)

    @staticmethod
    def _own_designs(module: ir.Module, program: Program, width: int) -> None:
        add_function(module, _ROWS, program, width, own_design=True)


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
