"""LLVM code for the operations of a graph, several states side by side in a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
from llvmlite import ir

from ..symbols.graph import SELECT, Graph, unsupported

F64 = ir.DoubleType()
# Lets the compiler fuse a product and a sum; everything else stays as written.
_FUSE = ("contract",)

_COMPARE = {ca.OP_LT: "<", ca.OP_LE: "<=", ca.OP_EQ: "=="}
_INTRINSIC = {
    ca.OP_SQRT: "llvm.sqrt",
    ca.OP_FABS: "llvm.fabs",
    ca.OP_SIN: "llvm.sin",
    ca.OP_COS: "llvm.cos",
    ca.OP_EXP: "llvm.exp",
    ca.OP_LOG: "llvm.log",
    ca.OP_FLOOR: "llvm.floor",
    ca.OP_CEIL: "llvm.ceil",
    ca.OP_COPYSIGN: "llvm.copysign",
    ca.OP_FMIN: "llvm.minimum",
    ca.OP_FMAX: "llvm.maximum",
    ca.OP_POW: "llvm.pow",
    ca.OP_CONSTPOW: "llvm.pow",
}
_LIBRARY = {
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_ATAN2: "atan2",
    ca.OP_TANH: "tanh",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
}


class Emitter:
    """Writes vector code for graphs into an LLVM function; ``width`` states side by side."""

    def __init__(self, builder: ir.IRBuilder, width: int) -> None:
        self.builder, self.width = builder, width
        self.module: ir.Module = builder.module
        self.type = ir.VectorType(F64, width)
        # A comparison's bits, by the value (1.0 or 0.0) that stands for it: choices use them directly.
        self._bits: dict[ir.Value, ir.Value] = {}

    def constant(self, value: float) -> ir.Value:
        """A number in every lane."""
        return ir.Constant(self.type, [ir.Constant(F64, value)] * self.width)

    def everywhere(self, value: ir.Value) -> ir.Value:
        """A plain number in every lane."""
        nothing = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self.width), [0] * self.width)
        )

    def any_lane(self, bits: ir.Value) -> ir.Value:
        """Whether a comparison holds in any lane."""
        lanes = ir.IntType(self.width)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(bits, lanes), ir.Constant(lanes, 0))

    def graph(self, graph: Graph, source: Callable[[int, int], ir.Value]) -> list[list[ir.Value]]:
        """Values of the graph's outputs; ``source(input, element)`` gives its inputs."""
        values: list[ir.Value] = []
        for step in graph.operations:
            if step.op == ca.OP_INPUT:
                values.append(source(*step.source))
            elif step.op == ca.OP_CONST:
                values.append(self.constant(step.constant))
            else:
                values.append(self.operation(step.op, [values[i] for i in step.arguments]))
        return [[values[i] for i in row] for row in graph.outputs]

    def operation(self, op: int, x: Sequence[ir.Value]) -> ir.Value:
        """One arithmetic operation."""
        b = self.builder
        if op == ca.OP_ADD:
            return b.fadd(x[0], x[1], flags=_FUSE)
        if op == ca.OP_SUB:
            return b.fsub(x[0], x[1], flags=_FUSE)
        if op == ca.OP_MUL:
            return b.fmul(x[0], x[1], flags=_FUSE)
        if op == ca.OP_DIV:
            return b.fdiv(x[0], x[1])
        if op == ca.OP_SQ:
            return b.fmul(x[0], x[0], flags=_FUSE)
        if op == ca.OP_TWICE:
            return b.fadd(x[0], x[0], flags=_FUSE)
        if op == ca.OP_NEG:
            return b.fneg(x[0])
        if op == ca.OP_INV:
            return b.fdiv(self.constant(1.0), x[0])
        if op == ca.OP_ASSIGN:
            return x[0]
        if op == ca.OP_NE:
            return self.truth(b.fcmp_unordered("!=", x[0], x[1]))  # as in C: what is not a number differs from all
        if op in _COMPARE:
            return self.truth(b.fcmp_ordered(_COMPARE[op], x[0], x[1]))
        if op == ca.OP_NOT:
            return self.truth(b.fcmp_ordered("==", x[0], self.constant(0.0)))
        if op == ca.OP_AND:
            return self.truth(b.and_(self.true(x[0]), self.true(x[1])))
        if op == ca.OP_OR:
            return self.truth(b.or_(self.true(x[0]), self.true(x[1])))
        if op == SELECT:
            return b.select(self.true(x[0]), x[1], x[2])
        if op == ca.OP_IF_ELSE_ZERO:
            return b.select(self.true(x[0]), x[1], self.constant(0.0))
        if op == ca.OP_SIGN:
            one = self.call("llvm.copysign", [self.constant(1.0), x[0]])
            return b.select(b.fcmp_unordered("==", x[0], self.constant(0.0)), x[0], one)
        if op in _INTRINSIC:
            return self.call(_INTRINSIC[op], x)
        if op in _LIBRARY:
            return self.each_lane(_LIBRARY[op], x)
        raise unsupported(op, "machine code")

    def truth(self, bits: ir.Value) -> ir.Value:
        """1.0 where a comparison holds, else 0.0."""
        value = self.builder.select(bits, self.constant(1.0), self.constant(0.0))
        self._bits[value] = bits
        return value

    def true(self, value: ir.Value) -> ir.Value:
        """The comparison value != 0; true for what is not a number, so that no iteration waits for it."""
        if value in self._bits:
            return self._bits[value]
        return self.builder.fcmp_unordered("!=", value, self.constant(0.0))

    def call(self, name: str, x: Sequence[ir.Value]) -> ir.Value:
        """An intrinsic of this width."""
        kind = ir.FunctionType(self.type, [self.type] * len(x))
        # "nsz": the smaller of 0 and -0 may be either, which spares minima and maxima half of their instructions.
        flags = ("nsz",) if name in ("llvm.minimum", "llvm.maximum") else ()
        return self.builder.call(self.declared(f"{name}.{self.suffix}", kind), list(x), fastmath=flags)

    @property
    def suffix(self) -> str:
        """How intrinsics of this width are named."""
        return f"v{self.width}f64"

    def declared(self, name: str, kind: ir.FunctionType) -> ir.Function:
        """A function of another module, declared once."""
        return self.module.globals.get(name) or ir.Function(self.module, kind, name)

    def each_lane(self, name: str, x: Sequence[ir.Value]) -> ir.Value:
        """A function of the C library, lane by lane."""
        kind = ir.FunctionType(F64, [F64] * len(x))
        function = self.declared(name, kind)
        result = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.width):
            index = ir.Constant(ir.IntType(32), lane)
            value = self.builder.call(function, [self.builder.extract_element(v, index) for v in x])
            result = self.builder.insert_element(result, value, index)
        return result
