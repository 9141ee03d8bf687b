"""LLVM code as text: values, blocks and functions of a module, written in order.

Written by hand because a kernel has tens of thousands of lines: objects for each, and the text from them, take as long
as compiling it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
        """A value that depends on the block before, and its place for :meth:`incoming`."""
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
