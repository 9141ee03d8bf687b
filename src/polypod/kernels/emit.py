"""LLVM code for graphs: one function that walks a batch of states, several states side by side in a vector.

The function takes one pointer to a block of 64-bit words: n, then (address, row stride) of each input, then the
address of each output. Arrays are rows of doubles, one row a state; a stride of 0 repeats one row for all states.
The last vector of a batch repeats the last state, so any n works and nothing outside the arrays is touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
from llvmlite import ir

from ..symbols.graph import SELECT, Graph, unsupported

_I64 = ir.IntType(64)
_F64 = ir.DoubleType()
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

    def __init__(self, module: ir.Module, width: int) -> None:
        self.module, self.width = module, width
        self.type = ir.VectorType(_F64, width)
        self.builder = ir.IRBuilder()
        self._bits: dict[ir.Value, ir.Value] = {}

    def constant(self, value: float) -> ir.Value:
        """A number in every lane."""
        return ir.Constant(self.type, [ir.Constant(_F64, value)] * self.width)

    def graph(self, graph: Graph, source: Callable[[int, int], ir.Value]) -> list[list[ir.Value]]:
        """Values of the graph's outputs; ``source(input, element)`` gives its inputs."""
        values: list[ir.Value] = []
        # A comparison's bits, by the value (1.0 or 0.0) that stands for it: choices use them directly.
        self._bits = {}
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
        """A vector intrinsic."""
        kind = ir.FunctionType(self.type, [self.type] * len(x))
        full = f"{name}.v{self.width}f64"
        function = self.module.globals.get(full) or ir.Function(self.module, kind, full)
        return self.builder.call(function, list(x))

    def each_lane(self, name: str, x: Sequence[ir.Value]) -> ir.Value:
        """A function of the C library, lane by lane."""
        kind = ir.FunctionType(_F64, [_F64] * len(x))
        function = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        result = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.width):
            index = ir.Constant(ir.IntType(32), lane)
            value = self.builder.call(function, [self.builder.extract_element(v, index) for v in x])
            result = self.builder.insert_element(result, value, index)
        return result


class Rows:
    """Arrays of one call: loads a vector of states element by element and stores it back."""

    def __init__(self, emitter: Emitter, block: ir.Value, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        self._emitter, self._inputs, self._outputs = emitter, tuple(inputs), tuple(outputs)
        builder = emitter.builder
        count = 1 + 2 * len(inputs) + len(outputs)
        words = [builder.load(builder.gep(block, [ir.Constant(_I64, k)], inbounds=True)) for k in range(count)]
        self.n = words[0]
        pointer = _F64.as_pointer()
        self._input_base = [builder.inttoptr(words[1 + 2 * k], pointer) for k in range(len(inputs))]
        self._input_stride = [words[2 + 2 * k] for k in range(len(inputs))]
        self._output_base = [builder.inttoptr(words[1 + 2 * len(inputs) + k], pointer) for k in range(len(outputs))]

    def start(self, first: ir.Value) -> None:
        """Begin the vector of states whose first row is ``first``."""
        builder, width = self._emitter.builder, self._emitter.width
        last = builder.sub(self.n, ir.Constant(_I64, 1))
        self._rows = []
        for lane in range(width):
            row = builder.add(first, ir.Constant(_I64, lane))
            self._rows.append(builder.select(builder.icmp_signed("<", row, last), row, last))
        self._input_rows = [
            [
                builder.gep(base, [builder.mul(row, builder.mul(stride, ir.Constant(_I64, length)))], inbounds=True)
                for row in self._rows
            ]
            for base, stride, length in zip(self._input_base, self._input_stride, self._inputs, strict=True)
        ]
        self._loaded: dict[tuple[int, int], list[ir.Value]] = {}

    def load(self, array: int, element: int) -> ir.Value:
        """One element of the rows of an input, as a vector over the states."""
        width = self._emitter.width
        chunk = element // width
        if (array, chunk) not in self._loaded:
            count = min(width, self._inputs[array] - chunk * width)
            lanes = [self._read(row, chunk * width, count) for row in self._input_rows[array]]
            self._loaded[array, chunk] = self._transposed(lanes)
        return self._loaded[array, chunk][element - chunk * width]

    def store(self, array: int, values: Sequence[ir.Value]) -> None:
        """The rows of an output."""
        builder, width, length = self._emitter.builder, self._emitter.width, self._outputs[array]
        starts = [
            builder.gep(self._output_base[array], [builder.mul(row, ir.Constant(_I64, length))], inbounds=True)
            for row in self._rows
        ]
        for first in range(0, length, width):
            part = list(values[first : first + width])
            filler = [ir.Constant(self._emitter.type, ir.Undefined)] * (width - len(part))
            for start, lane in zip(starts, self._transposed(part + filler), strict=True):
                self._write(start, first, len(part), lane)

    def _transposed(self, rows: list[ir.Value]) -> list[ir.Value]:
        """A square block turned over its diagonal, by exchanging halves of pairs of vectors."""
        builder, width = self._emitter.builder, self._emitter.width
        mask = ir.VectorType(ir.IntType(32), width)
        rows, step = list(rows), 1
        while step < width:
            low = ir.Constant(mask, [k if not k & step else k - step + width for k in range(width)])
            high = ir.Constant(mask, [k + step if not k & step else k + width for k in range(width)])
            for i in range(width):
                if not i & step:
                    a, b = rows[i], rows[i | step]
                    rows[i] = builder.shuffle_vector(a, b, low)
                    rows[i | step] = builder.shuffle_vector(a, b, high)
            step *= 2
        return rows

    def _mask(self, count: int) -> ir.Constant:
        return ir.Constant(
            ir.VectorType(ir.IntType(1), self._emitter.width), [k < count for k in range(self._emitter.width)]
        )

    def _place(self, row: ir.Value, first: int) -> ir.Value:
        builder = self._emitter.builder
        return builder.bitcast(
            builder.gep(row, [ir.Constant(_I64, first)], inbounds=True), self._emitter.type.as_pointer()
        )

    def _read(self, row: ir.Value, first: int, count: int) -> ir.Value:
        """``count`` numbers of a row; nothing beyond them is touched."""
        emitter, place = self._emitter, self._place(row, first)
        if count == emitter.width:
            return emitter.builder.load(place, align=8)
        mask = self._mask(count)
        kind = ir.FunctionType(emitter.type, [place.type, ir.IntType(32), mask.type, emitter.type])
        name = f"llvm.masked.load.v{emitter.width}f64.p0"
        function = emitter.module.globals.get(name) or ir.Function(emitter.module, kind, name)
        nothing = ir.Constant(emitter.type, ir.Undefined)
        return emitter.builder.call(function, [place, ir.Constant(ir.IntType(32), 8), mask, nothing])

    def _write(self, row: ir.Value, first: int, count: int, value: ir.Value) -> None:
        """``count`` numbers of a row; nothing beyond them is touched."""
        emitter, place = self._emitter, self._place(row, first)
        if count == emitter.width:
            emitter.builder.store(value, place, align=8)
            return
        mask = self._mask(count)
        kind = ir.FunctionType(ir.VoidType(), [emitter.type, place.type, ir.IntType(32), mask.type])
        name = f"llvm.masked.store.v{emitter.width}f64.p0"
        function = emitter.module.globals.get(name) or ir.Function(emitter.module, kind, name)
        emitter.builder.call(function, [value, place, ir.Constant(ir.IntType(32), 8), mask])


def batch_function(module: ir.Module, name: str, width: int) -> tuple[Emitter, ir.Value]:
    """An empty ``void name(int64 *block)`` with its entry block open; returns the emitter and the block pointer."""
    kind = ir.FunctionType(ir.VoidType(), [_I64.as_pointer()])
    function = ir.Function(module, kind, name)
    function.attributes.add("nounwind")
    emitter = Emitter(module, width)
    emitter.builder = ir.IRBuilder(function.append_basic_block("entry"))
    return emitter, function.args[0]


def loop_over_states(emitter: Emitter, rows: Rows, body: Callable[[], None]) -> None:
    """for (first = 0; first < n; first += width) body"""
    builder = emitter.builder
    function = builder.function
    entry = builder.block
    head, work, leave = (function.append_basic_block(part) for part in ("head", "states", "leave"))
    builder.branch(head)
    builder.position_at_end(head)
    first = builder.phi(_I64)
    first.add_incoming(ir.Constant(_I64, 0), entry)
    builder.cbranch(builder.icmp_signed("<", first, rows.n), work, leave)
    builder.position_at_end(work)
    rows.start(first)
    body()
    following = builder.add(first, ir.Constant(_I64, emitter.width))
    first.add_incoming(following, builder.block)
    builder.branch(head)
    builder.position_at_end(leave)
    builder.ret_void()


def emit_graph(graph: Graph, name: str, width: int) -> ir.Module:
    """A module whose function evaluates the graph for a batch of states."""
    module = ir.Module(name)
    emitter, block = batch_function(module, name, width)
    rows = Rows(emitter, block, graph.inputs, [len(row) for row in graph.outputs])

    def body() -> None:
        for array, values in enumerate(emitter.graph(graph, rows.load)):
            rows.store(array, values)

    loop_over_states(emitter, rows, body)
    return module


def emit_iteration(start: Graph, step: Graph, finish: Graph, name: str, width: int) -> ir.Module:
    """A module whose function iterates ``step`` from ``start`` until every lane is done, then ``finish``."""
    module = ir.Module(name)
    emitter, block = batch_function(module, name, width)
    rows = Rows(emitter, block, start.inputs, [len(row) for row in finish.outputs])
    last = len(start.inputs)

    def body() -> None:
        builder = emitter.builder
        (initial,) = emitter.graph(start, rows.load)
        # Inputs the loop reads must be loaded where they dominate it.
        for graph in (step, finish):
            for operation in graph.operations:
                if operation.op == ca.OP_INPUT and operation.source[0] < last:
                    rows.load(*operation.source)
        before = builder.block
        iterate, leave = (builder.function.append_basic_block(part) for part in ("iterate", "found"))
        builder.branch(iterate)
        builder.position_at_end(iterate)
        state = [builder.phi(emitter.type) for _ in initial]
        for phi, value in zip(state, initial, strict=True):
            phi.add_incoming(value, before)
        (moved,) = emitter.graph(step, lambda array, k: state[k] if array == last else rows.load(array, k))
        frozen = emitter.true(state[-1])
        kept = [builder.select(frozen, old, new) for old, new in zip(state, moved, strict=True)]
        open_lanes = builder.bitcast(builder.not_(emitter.true(kept[-1])), ir.IntType(width))
        for phi, value in zip(state, kept, strict=True):
            phi.add_incoming(value, builder.block)
        builder.cbranch(builder.icmp_unsigned("!=", open_lanes, ir.Constant(ir.IntType(width), 0)), iterate, leave)
        builder.position_at_end(leave)
        results = emitter.graph(finish, lambda array, k: kept[k] if array == last else rows.load(array, k))
        for array, values in enumerate(results):
            rows.store(array, values)

    loop_over_states(emitter, rows, body)
    return module
