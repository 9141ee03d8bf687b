"""The machine's floating-point peak, measured by code of the same generator: the yardstick for all kernels."""

from __future__ import annotations

import casadi as ca
import numpy as np

from bench.timing import take_turns
from polypod.kernels import machine
from polypod.kernels.block import Block, Signature, strided
from polypod.kernels.emit import Module
from polypod.kernels.function import add_function
from polypod.symbols.graph import Graph, Operation
from polypod.symbols.program import Program

# Two fused products and sums a cycle, each ready after four or five: ten chains keep a core busy, and with a and b
# they still fit the sixteen registers of machines without 512-bit vectors.
_CHAINS, _LENGTH = 12, 400


def _products_and_sums() -> Graph:
    """Independent chains x <- x a + b, a step of each in turn: total of all of (a, b, first, gap).

    Written by hand because the order counts: CasADi would put each chain's steps one after the other.
    """
    operations = [Operation(ca.OP_INPUT, source=(0, k)) for k in range(4)]
    a, b, first, gap = range(4)

    def add(op: int, *arguments: int) -> int:
        operations.append(Operation(op, arguments))
        return len(operations) - 1

    chains = [first]
    while len(chains) < _CHAINS:
        chains.append(add(ca.OP_ADD, chains[-1], gap))
    for _ in range(_LENGTH):
        chains = [add(ca.OP_ADD, add(ca.OP_MUL, x, a), b) for x in chains]
    total = chains[0]
    for x in chains[1:]:
        total = add(ca.OP_ADD, total, x)
    return Graph((4,), tuple(operations), ((total,),))


def peak(seconds: float = 0.5) -> float:
    """Operations a second of one core, products and sums counted one each, also where one instruction does both."""
    graph = _products_and_sums()
    module = Module()
    add_function(module, "peak", Program(None, graph), machine.vector_width())
    code = machine.Linked(machine.compile_module(module))
    function = code.function("peak")
    n = 1024
    x, total = np.full((n, 4), 0.5), np.empty(n)
    arrays = strided(x, Signature("x", (4,)), None), strided(total, Signature("total", ()), None, written=True)
    words = Block(1, n, arrays).words()
    address = words.buffer_info()[0]
    return graph.count * n / take_turns({"peak": lambda: function(address)}, seconds)["peak"].best
