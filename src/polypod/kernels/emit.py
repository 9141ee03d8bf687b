"""LLVM code for the operations of a graph, several states side by side in a vector."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import casadi as ca

from ..symbols.graph import SELECT, Graph, Operation, unsupported

_ARITHMETIC = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul", ca.OP_DIV: "fdiv"}
# Of one value with itself.
_TWICE = {ca.OP_SQ: "fmul", ca.OP_TWICE: "fadd"}
# As in C: what is not a number differs from all.
_COMPARE = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}
_LOGIC = {ca.OP_AND: "and", ca.OP_OR: "or"}
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
_OTHERS = {ca.OP_NEG, ca.OP_INV, ca.OP_ASSIGN, ca.OP_NOT, SELECT, ca.OP_IF_ELSE_ZERO, ca.OP_SIGN}
OPERATIONS = frozenset({*_ARITHMETIC, *_TWICE, *_COMPARE, *_LOGIC, *_INTRINSIC, *_LIBRARY, *_OTHERS})
"""Operations of a graph for which machine code can be written."""


def check(graph: Graph) -> None:
    """Raise for an operation that has no machine code."""
    for op in {step.op for step in graph.operations} - OPERATIONS - {ca.OP_INPUT, ca.OP_CONST}:
        raise unsupported(op, "machine code")


class Emitter:
    """Writes vector code for graphs into an LLVM function; ``width`` states side by side. Values are their names.

    Code of one state has plain numbers instead of vectors, which LLVM compiles in less than half the time.
    """

    def __init__(self, writer: Writer, width: int) -> None:
        self.writer, self.width = writer, width
        self.type = DOUBLE if width == 1 else f"<{width} x {DOUBLE}>"
        self.flags = "i1" if width == 1 else f"<{width} x i1>"
        # "contract" lets the compiler fuse a product and a sum; everything else stays as written. Without optimisation
        # it would fuse some of them, depending on what else is computed nearby.
        fused = "" if width == 1 else " contract"
        self._arithmetic = {
            op: f"{name}{fused if op != ca.OP_DIV else ''} {self.type}" for op, name in (_ARITHMETIC | _TWICE).items()
        }
        self._constants: dict[str, str] = {}
        # A comparison's bits, by the value (1.0 or 0.0) that stands for it: choices use them directly.
        self._bits: dict[str, str] = {}
        # A plain number, by the vector that has it in every lane.
        self._plain: dict[str, str] = {}

    def constant(self, value: float) -> str:
        """A number in every lane."""
        text = number(value)
        if text not in self._constants:
            self._constants[text] = text if self.width == 1 else vector(DOUBLE, [text] * self.width)
        return self._constants[text]

    def everywhere(self, value: str) -> str:
        """A plain number in every lane."""
        if self.width == 1:
            return value
        first = self.writer.value(f"insertelement {self.type} undef, {DOUBLE} {value}, i32 0")
        name = self.shuffled(first, "undef", [0] * self.width)
        self._plain[name] = value
        return name

    def gathered(self, values: Sequence[str]) -> str | None:
        """A vector of the plain numbers that vectors have in every lane; None if one has several."""
        if not all(value in self._plain for value in values):
            return None
        result = "undef"
        for lane, value in enumerate(values):
            result = self.writer.value(f"insertelement {self.type} {result}, {DOUBLE} {self._plain[value]}, i32 {lane}")
        return result

    def shuffled(self, a: str, b: str, places: Sequence[int]) -> str:
        """Lanes of two vectors, those of the second counted after those of the first."""
        mask = vector("i32", places)
        return self.writer.value(
            f"shufflevector {self.type} {a}, {self.type} {b}, <{self.width} x i32> {mask}",
        )

    def part(self, value: str, first: int, count: int) -> str:
        """Type and value of some neighbouring lanes of a vector, or of one."""
        if count == 1:
            return f"{DOUBLE} {self.writer.value(f'extractelement {self.type} {value}, i32 {first}')}"
        mask = vector("i32", range(first, first + count))
        lanes = f"shufflevector {self.type} {value}, {self.type} undef, <{count} x i32> {mask}"
        return f"<{count} x {DOUBLE}> {self.writer.value(lanes)}"

    def any_lane(self, bits: str) -> str:
        """Whether a comparison holds in any lane."""
        if self.width == 1:
            return bits
        lanes = self.writer.value(f"bitcast {self.flags} {bits} to i{self.width}")
        return self.writer.value(f"icmp ne i{self.width} {lanes}, 0")

    def none_of(self, bits: str) -> str:
        """Where a comparison does not hold."""
        all_true = "true" if self.width == 1 else vector("i1", ["true"] * self.width)
        return self.writer.value(f"xor {self.flags} {bits}, {all_true}")

    def graph(self, graph: Graph, source: Callable[[int, int], str]) -> list[list[str]]:
        """Values of the graph's outputs; ``source(input, element)`` gives its inputs."""
        values: list[str] = []
        add = values.append
        for step in graph.operations:
            if step.op == ca.OP_INPUT:
                add(source(*step.source))
            else:
                add(self.operation(step, [values[i] for i in step.arguments]))
        return [[values[i] for i in row] for row in graph.outputs]

    def operation(self, step: Operation, x: Sequence[str]) -> str:
        """The value of one operation on values, or of a constant."""
        if step.op in _ARITHMETIC:
            return self.writer.value(f"{self._arithmetic[step.op]} {x[0]}, {x[1]}")
        return self.constant(step.constant) if step.op == ca.OP_CONST else self._operation(step.op, x)

    def _operation(self, op: int, x: Sequence[str]) -> str:
        """One operation, not of two values by arithmetic."""
        write, kind = self.writer.value, self.type
        if op in _TWICE:
            return write(f"{self._arithmetic[op]} {x[0]}, {x[0]}")
        if op == ca.OP_NEG:
            return write(f"fneg {kind} {x[0]}")
        if op == ca.OP_INV:
            return write(f"fdiv {kind} {self.constant(1.0)}, {x[0]}")
        if op == ca.OP_ASSIGN:
            return x[0]
        if op in _COMPARE:
            return self._truth(self._compared(_COMPARE[op], x[0], x[1]))
        if op == ca.OP_NOT:
            return self._truth(self._compared("oeq", x[0], self.constant(0.0)))
        if op in _LOGIC:
            return self._truth(write(f"{_LOGIC[op]} {self.flags} {self.true(x[0])}, {self.true(x[1])}"))
        if op == SELECT:
            return self.chosen(self.true(x[0]), x[1], x[2])
        if op == ca.OP_IF_ELSE_ZERO:
            return self.chosen(self.true(x[0]), x[1], self.constant(0.0))
        if op == ca.OP_SIGN:
            one = self._call("llvm.copysign", [self.constant(1.0), x[0]])
            return self.chosen(self._compared("ueq", x[0], self.constant(0.0)), x[0], one)
        if op in _INTRINSIC:
            return self._call(_INTRINSIC[op], x)
        if op in _LIBRARY:
            return self._each_lane(_LIBRARY[op], x)
        raise unsupported(op, "machine code")

    def folded(self, kind: str, old: str, value: str, weight: str) -> str:
        """The most or least of two values, which is no number if one is none; or old + weight value."""
        if kind == "total":
            part = self.writer.value(f"{self._arithmetic[ca.OP_MUL]} {weight}, {value}")
            return self.writer.value(f"{self._arithmetic[ca.OP_ADD]} {old}, {part}")
        return self._call(_INTRINSIC[ca.OP_FMAX if kind == "most" else ca.OP_FMIN], [old, value])

    def chosen(self, bits: str, yes: str, no: str) -> str:
        """One of two values in each lane."""
        return self.writer.value(f"select {self.flags} {bits}, {self.type} {yes}, {self.type} {no}")

    def _compared(self, how: str, a: str, b: str) -> str:
        return self.writer.value(f"fcmp {how} {self.type} {a}, {b}")

    def _truth(self, bits: str) -> str:
        """1.0 where a comparison holds, else 0.0."""
        value = self.chosen(bits, self.constant(1.0), self.constant(0.0))
        self._bits[value] = bits
        return value

    def true(self, value: str) -> str:
        """The comparison value != 0; true for what is not a number, so that no iteration waits for it."""
        return self._bits[value] if value in self._bits else self._compared("une", value, self.constant(0.0))

    def _call(self, name: str, x: Sequence[str]) -> str:
        """An intrinsic of this width."""
        # "nsz": the smaller of 0 and -0 may be either, which spares minima and maxima half of their instructions.
        flags = "nsz " if name in ("llvm.minimum", "llvm.maximum") else ""
        return self.writer.call(f"{name}.{self.suffix}", self.type, [(self.type, value) for value in x], flags)

    @property
    def suffix(self) -> str:
        """How intrinsics of this width are named."""
        return "f64" if self.width == 1 else f"v{self.width}f64"

    def _each_lane(self, name: str, x: Sequence[str]) -> str:
        """A function of the C library, lane by lane."""
        if self.width == 1:
            return self.writer.call(name, DOUBLE, [(DOUBLE, value) for value in x])
        write, result = self.writer.value, "undef"
        for lane in range(self.width):
            numbers = [(DOUBLE, write(f"extractelement {self.type} {value}, i32 {lane}")) for value in x]
            value = self.writer.call(name, DOUBLE, numbers)
            result = write(f"insertelement {self.type} {result}, {DOUBLE} {value}, i32 {lane}")
        return result


# ----------------------------------------------------------------------------------------------------------------------
# LLVM code as text: values, blocks and functions of a module, written in order.
#
# Written by hand because a kernel has tens of thousands of lines: objects for each, and the text from them, take as
# long
# as compiling it.

DOUBLE, INTEGER, POINTER = "double", "i64", "ptr"
_NOTHING = "!0"
"""Metadata without content, which some attributes of loads refer to."""


class Module:
    """Functions and the declarations of those of other modules that they call."""

    def __init__(self) -> None:
        self._declarations: dict[str, str] = {}
        self._functions: list[str] = []

    def declared(self, name: str, result: str, arguments: Sequence[str]) -> str:
        """A function of another module, declared once."""
        if name not in self._declarations:
            self._declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"
        return f"@{name}"

    def add(self, text: str) -> None:
        """Add a whole function."""
        self._functions.append(text)

    def __str__(self) -> str:
        return "\n".join([*self._declarations.values(), *self._functions, f"{_NOTHING} = !{{}}", ""])


class Writer:
    """Writes one function ``void name(ptr %block)``; values are named in the order in which they are written."""

    def __init__(self, module: Module, name: str, attributes: str) -> None:
        self.module = module
        self.block = "entry"
        self._lines = [f"define void @{name}(ptr %block) {attributes} {{", "entry:", ""]
        self._values = self._labels = self._rooms = 0

    def value(self, code: str) -> str:
        """The name of a new value."""
        name = f"%{self._values}"
        self._values += 1
        self._lines.append(f"{name} = {code}")
        return name

    def room(self, kind: str) -> str:
        """Where there is memory on the stack, taken once when the function is entered."""
        name = f"%room{self._rooms}"
        self._rooms += 1
        self._lines[2] += f"{name} = alloca {kind}\n"
        return name

    def line(self, code: str) -> None:
        """An instruction without a value."""
        self._lines.append(code)

    def call(self, function: str, result: str, arguments: Sequence[tuple[str, str]], flags: str = "") -> str:
        """The value of a function; arguments by type and value."""
        declared = self.module.declared(function, result, [kind for kind, _ in arguments])
        return self.value(f"call {flags}{result} {declared}({_listed(arguments)})")

    def perform(self, function: str, arguments: Sequence[tuple[str, str]]) -> None:
        """Call a function without a value."""
        declared = self.module.declared(function, "void", [kind for kind, _ in arguments])
        self.line(f"call void {declared}({_listed(arguments)})")

    def labels(self, *names: str) -> list[str]:
        """Names of blocks that are used nowhere else in the function."""
        self._labels += 1
        return [f"{name}{self._labels}" for name in names]

    def start(self, label: str) -> None:
        """Begin a block; the one before has ended."""
        self._lines.append(f"{label}:")
        self.block = label

    def branch(self, label: str) -> None:
        """Go to a block."""
        self.line(f"br label %{label}")

    def phi(self, kind: str) -> tuple[str, int]:
        """A value that depends on the block before, and its place for ``incoming``."""
        return self.value(f"phi {kind}"), len(self._lines) - 1

    def incoming(self, place: int, *values: tuple[str, str]) -> None:
        """What a phi is, by value and the block it comes from."""
        self._lines[place] += " " + ", ".join(f"[ {value}, %{block} ]" for value, block in values)

    def offset(self, pointer: str, doubles: str | int) -> str:
        """A pointer some doubles further."""
        return self.value(f"getelementptr inbounds {DOUBLE}, ptr {pointer}, {INTEGER} {doubles}")

    def unchanging(self, pointer: str, kind: str = DOUBLE) -> str:
        """A number, or a vector, that nothing writes during a call: rather than keep it, the code may read it again."""
        return self.value(f"load {kind}, ptr {pointer}, align 8, !invariant.load {_NOTHING}")

    @contextmanager
    def counting(self, end: str, step: int) -> Iterator[str]:
        """for (k = 0; k < end; k += step) with what is written inside."""
        before = self.block
        head, work, leave = self.labels("head", "work", "leave")
        self.branch(head)
        self.start(head)
        k, place = self.phi(INTEGER)
        more = self.value(f"icmp slt {INTEGER} {k}, {end}")
        self.line(f"br i1 {more}, label %{work}, label %{leave}")
        self.start(work)
        yield k
        following = self.value(f"add {INTEGER} {k}, {step}")
        self.incoming(place, ("0", before), (following, self.block))
        self.branch(head)
        self.start(leave)

    def finish(self) -> None:
        """End the function and add it to its module."""
        self._lines += ["ret void", "}"]
        self.module.add("\n".join(self._lines))


def _listed(arguments: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} {value}" for kind, value in arguments)


def number(value: float) -> str:
    """A double, to the bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def vector(kind: str, values: Sequence[object]) -> str:
    """A constant vector of elements of one kind."""
    return f"<{', '.join(f'{kind} {value}' for value in values)}>"
