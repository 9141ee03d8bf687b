"""Structured text (IEC 61131-3) run: by a small interpreter of its own, and by matiec where that is installed.

The interpreter reads declarations, assignments, IF, FOR, WHILE, RETURN and expressions with the standard's precedence.
It is strict where compilers are: every variable is declared, indices are within bounds, conditions are BOOL, numbers
LREAL or REAL, inputs are not written to, names are not keywords and have no two underscores in turn. Case does not
matter.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

TOKEN = re.compile(
    r"\(\*.*?\*\)|(?:LREAL|REAL)#-?\d+\.\d+(?:E-?\d+)?|[A-Za-z_]\w*|\d+|:=|<>|<=|>=|\.\.|[-+*/=<>()\[\]:;,.]|\S",
    re.DOTALL | re.IGNORECASE,
)
RESERVED = set(
    "ACTION AND ARRAY AT BOOL BY BYTE CASE CONFIGURATION CONSTANT DATE DINT DO DT DWORD ELSE ELSIF EN END_CASE END_FOR "  # noqa: SIM905
    "END_FUNCTION END_FUNCTION_BLOCK END_IF END_REPEAT END_VAR END_WHILE ENO EXIT FALSE FOR FUNCTION FUNCTION_BLOCK IF "
    "INT INTERNAL LINT LREAL LWORD MOD NOT OF ON OR PROGRAM REAL REPEAT RETAIN RETURN SINT STEP STRING STRUCT TASK "
    "THEN TIME TO TRUE TYPE UDINT UINT ULINT UNTIL USINT VAR VAR_INPUT VAR_OUTPUT WHILE WITH WORD XOR S R LD ST".split()
)
NUMBERS = ("LREAL", "REAL")


class ReturnedError(Exception):
    """RETURN."""


def _divided(a, b):
    with np.errstate(all="ignore"):
        return float(np.float64(a) / np.float64(b))


def _safe(function):
    def call(*x):
        with np.errstate(all="ignore"):
            return float(function(*map(np.float64, x)))

    return call


BUILT_IN: dict[str, Callable] = {
    "ABS": abs, "SQRT": _safe(np.sqrt), "SIN": _safe(np.sin), "COS": _safe(np.cos), "TAN": _safe(np.tan),
    "ASIN": _safe(np.arcsin), "ACOS": _safe(np.arccos), "ATAN": _safe(np.arctan), "EXP": _safe(np.exp),
    "LN": _safe(np.log), "EXPT": _safe(np.power),
}  # fmt: skip


class Unit:
    """A function or function block: its variables by name (kind, type, size or None), and what it does."""

    def __init__(self, name: str, returns: str | None):
        self.name, self.returns = name, returns
        self.variables: dict[str, tuple[str, str, int | None]] = {}
        self.run: Callable[[dict], None] = lambda values: None

    def fresh(self) -> dict[str, Any]:
        start = {"BOOL": False, "LREAL": 0.0, "REAL": 0.0}
        found = {
            n: start.get(t, 0) if size is None else [start[t]] * size for n, (_, t, size) in self.variables.items()
        }
        return found | ({self.name: 0.0} if self.returns else {})


class Source:
    """All functions and function blocks of a text."""

    def __init__(self, text: str):
        self.tokens = [t.upper() for t in TOKEN.findall(text) if not t.startswith("(*")]
        self.at = 0
        self.units: dict[str, Unit] = {}
        while self.at < len(self.tokens):
            unit = self._unit()
            assert unit.name not in self.units, unit.name
            self.units[unit.name] = unit

    def call(self, name: str, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Outputs of a block by name, in lower case."""
        unit = self.units[name.upper()]
        values = unit.fresh()
        for label, array in inputs.items():
            kind, _, size = unit.variables[label.upper()]
            flat = [float(x) for x in np.ravel(array)]
            assert (kind, size) == ("VAR_INPUT", len(flat)), label
            values[label.upper()] = flat
        with contextlib.suppress(ReturnedError):
            unit.run(values)
        return {n.lower(): np.array(values[n]) for n, (kind, _, _) in unit.variables.items() if kind == "VAR_OUTPUT"}

    # ---- parser
    def _next(self, wanted: str | None = None) -> str:
        token = self.tokens[self.at]
        assert wanted is None or token == wanted, (
            wanted,
            token,
            " ".join(self.tokens[max(self.at - 12, 0) : self.at + 5]),
        )
        self.at += 1
        return token

    def _is(self, *tokens: str) -> bool:
        return self.tokens[self.at] in tokens

    def _name(self) -> str:
        name = self._next()
        assert re.fullmatch(r"(?!\w*__)[A-Z_]\w*(?<!_)", name), name
        assert name not in RESERVED, name
        return name

    def _unit(self) -> Unit:
        word = self._next()
        assert word in ("FUNCTION", "FUNCTION_BLOCK"), word
        name, returns = self._name(), None
        if word == "FUNCTION":
            self._next(":")
            returns = self._next()
        self.unit = unit = Unit(name, returns)
        while self._is("VAR_INPUT", "VAR_OUTPUT", "VAR"):
            kind = self._next()
            while not self._is("END_VAR"):
                names = [self._name()]
                while self._is(","):
                    self._next()
                    names.append(self._name())
                self._next(":")
                size = None
                if self._is("ARRAY"):
                    for token in ("ARRAY", "[", "0", ".."):
                        self._next(token)
                    size = int(self._next()) + 1
                    self._next("]")
                    self._next("OF")
                type_ = self._next()
                assert type_ in ("LREAL", "REAL", "BOOL", "INT", "DINT"), type_
                if self._is(":="):
                    self._next()
                    assert float(self._next().partition("#")[2]) == 0.0  # the only initial value that is written
                self._next(";")
                for one in names:
                    assert one not in {*unit.variables, name}, one
                    unit.variables[one] = (kind, type_, size)
            self._next()
        steps = self._statements(f"END_{word}")
        unit.run = lambda values: [step(values) for step in steps] and None
        return unit

    def _statements(self, *ends: str) -> list[Callable[[dict], None]]:
        steps = []
        while not self._is(*ends):
            steps.append(self._statement())
        if len(ends) == 1:
            self._next()
        return steps

    def _statement(self) -> Callable[[dict], None]:
        if self._is("IF"):
            return self._if()
        if self._is("FOR"):
            return self._for()
        if self._is("WHILE"):
            self._next()
            condition = self._expression("BOOL")
            self._next("DO")
            steps = self._statements("END_WHILE")
            self._next(";")

            def repeat(values):
                while condition(values):
                    for step in steps:
                        step(values)

            return repeat
        if self._is("RETURN"):
            self._next()
            self._next(";")

            def leave(values):
                raise ReturnedError

            return leave
        name = self._name()
        kind, type_, size = self._variable(name)
        assert kind != "VAR_INPUT", f"{name} is an input"
        index = None
        if self._is("["):
            index = self._index(size)
        else:
            assert size is None, name
        self._next(":=")
        value = self._expression("NUMBER" if type_ in NUMBERS else "INTEGER" if type_ != "BOOL" else "BOOL")
        self._next(";")
        if index is None:

            def assign(values):
                values[name] = value(values)
        else:

            def assign(values):
                k = index(values)
                assert 0 <= k < size, (name, k)
                values[name][k] = value(values)

        return assign

    def _variable(self, name: str) -> tuple[str, str, int | None]:
        if self.unit.returns and name == self.unit.name:
            return "VAR", self.unit.returns, None
        assert name in self.unit.variables, f"{name} is not declared"
        return self.unit.variables[name]

    def _index(self, size: int | None) -> Callable:
        assert size is not None
        self._next("[")
        index = self._expression("INTEGER")
        self._next("]")
        return index

    def _if(self):
        cases = []
        self._next("IF")
        while True:
            condition = self._expression("BOOL")
            self._next("THEN")
            cases.append((condition, self._statements("ELSIF", "ELSE", "END_IF")))
            if not self._is("ELSIF"):
                break
            self._next()
        if self._is("ELSE"):
            self._next()
            cases.append((lambda values: True, self._statements("END_IF", "END_IF")))
        self._next("END_IF")
        self._next(";")

        def choose(values):
            for condition, steps in cases:
                if condition(values):
                    for step in steps:
                        step(values)
                    return

        return choose

    def _for(self):
        self._next("FOR")
        name = self._name()
        assert self._variable(name)[1] == "DINT"
        self._next(":=")
        first = self._expression("INTEGER")
        self._next("TO")
        last = self._expression("INTEGER")
        self._next("DO")
        steps = self._statements("END_FOR")
        self._next(";")

        def loop(values):
            for k in range(first(values), last(values) + 1):
                values[name] = k
                for step in steps:
                    step(values)

        return loop

    def _expression(self, wanted: str) -> Callable[[dict], Any]:
        value, type_ = self._or()
        assert type_ == wanted, (type_, wanted, " ".join(self.tokens[self.at - 8 : self.at + 1]))
        return value

    def _or(self):
        return self._logical(self._and, "OR", lambda a, b: a or b)

    def _and(self):
        return self._logical(self._comparison, "AND", lambda a, b: a and b)

    def _logical(self, below, word, rule):
        value, type_ = below()
        while self._is(word):
            self._next()
            other, other_type = below()
            assert type_ == other_type == "BOOL"
            value = (lambda a, b: lambda v: rule(a(v), b(v)))(value, other)
        return value, type_

    def _comparison(self):
        value, type_ = self._sum()
        rules = {
            "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
            "=": lambda a, b: a == b, "<>": lambda a, b: a != b,
        }  # fmt: skip
        if self.tokens[self.at] in rules:
            rule = rules[self._next()]
            other, other_type = self._sum()
            assert type_ == other_type != "BOOL"
            return (lambda v: rule(value(v), other(v))), "BOOL"
        return value, type_

    def _sum(self):
        return self._arithmetic(self._product, {"+": lambda a, b: a + b, "-": lambda a, b: a - b})

    def _product(self):
        return self._arithmetic(self._unary, {"*": lambda a, b: a * b, "/": _divided})

    def _arithmetic(self, below, rules):
        value, type_ = below()
        while self.tokens[self.at] in rules:
            rule = rules[self._next()]
            other, other_type = below()
            assert type_ == other_type != "BOOL", (type_, other_type)
            value = (lambda r, a, b: lambda v: r(a(v), b(v)))(rule, value, other)
        return value, type_

    def _unary(self):
        if self._is("-"):
            self._next()
            value, type_ = self._unary()
            assert type_ != "BOOL"
            return (lambda v: -value(v)), type_
        if self._is("NOT"):
            self._next()
            value, type_ = self._unary()
            assert type_ == "BOOL"
            return (lambda v: not value(v)), "BOOL"
        return self._primary()

    def _primary(self):
        if self._is("("):
            self._next()
            found = self._or()
            self._next(")")
            return found
        token = self._next()
        if token.isdigit():
            return (lambda v, k=int(token): k), "INTEGER"
        if "#" in token:
            assert token.partition("#")[0] in NUMBERS
            number = float(token.partition("#")[2])
            return (lambda v: number), "NUMBER"
        if self._is("("):
            return self._call(token)
        _, type_, size = self._variable(token)
        type_ = "NUMBER" if type_ in NUMBERS else "BOOL" if type_ == "BOOL" else "INTEGER"
        if size is None:
            return (lambda v: v[token]), type_
        index = self._index(size)

        def element(v):
            k = index(v)
            assert 0 <= k < size, (token, k)
            return v[token][k]

        return element, type_

    def _call(self, name: str):
        self._next("(")
        arguments = [self._or()]
        while self._is(","):
            self._next()
            arguments.append(self._or())
        self._next(")")
        values, types = zip(*arguments, strict=True)
        if name == "SEL":  # IN0 where G is false
            assert types in (("BOOL", "NUMBER", "NUMBER"), ("BOOL", "INTEGER", "INTEGER")), types
            return (lambda v: values[2](v) if values[0](v) else values[1](v)), types[1]
        converted = re.fullmatch(r"(L?REAL|L?INT|DINT)_TO_(L?REAL|L?INT|DINT)", name)
        if converted:
            if converted[1] in NUMBERS:
                return (lambda v: math.trunc(values[0](v))), "INTEGER"  # some round: the text must not depend on it
            return (lambda v: float(values[0](v))), "NUMBER"
        assert all(t == "NUMBER" for t in types), (name, types)
        if name in BUILT_IN:
            rule = BUILT_IN[name]
            return (lambda v: rule(*(value(v) for value in values))), "NUMBER"
        unit = self.units[name]  # defined before it is called
        labels = [n for n, (kind, _, _) in unit.variables.items() if kind == "VAR_INPUT"]
        assert unit.returns, name
        assert len(labels) == len(values), name

        def call(v):
            own = unit.fresh() | {n: value(v) for n, value in zip(labels, values, strict=True)}
            unit.run(own)
            return own[name]

        return call, "NUMBER"


MATIEC = shutil.which("iec2c")
MATIEC_LIBRARY = os.environ.get("MATIEC_INCLUDE_PATH", "")
"""Folder of matiec's library; the C headers of its output are in ``C`` within it."""


def compiled_by_matiec(folder: Path, name: str, source: str, inputs: dict[str, int], outputs: dict[str, int]):
    """A block compiled by matiec and the C compiler, as a function of rows (n, inputs) that gives rows (n, outputs).

    ``inputs`` and ``outputs`` are lengths by name, 0 of a number alone.
    """
    (folder / "block.st").write_text(source)
    command = [MATIEC, "-I", MATIEC_LIBRARY, "-T", str(folder), str(folder / "block.st")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name = name.upper()

    def places(sizes):
        for label, size in sizes.items():
            at = f"block.{label.upper()}.value"
            yield from ([f"{at}.table[{k}]" for k in range(size)] if size else [at])

    reads = "".join(f'if (scanf("%lf", &x) != 1) return 0; {place} = x;\n' for place in places(inputs))
    writes = "".join(f'printf("%.17g ", (double){place});\n' for place in places(outputs))
    (folder / "main.c").write_text(
        f'#include <stdio.h>\n#include "POUS.h"\nTIME __CURRENT_TIME; BOOL __DEBUG;\n#include "POUS.c"\n'
        f"int main(void) {{ for (;;) {{ double x; static {name} block; {name}_init__(&block, 0);\n{reads}"
        f'{name}_body__(&block);\n{writes}printf("\\n"); }} }}\n'
    )
    compiler = shutil.which("cc") or shutil.which("gcc")
    flags = ["-w", "-O0", "-ffp-contract=off", f"-I{MATIEC_LIBRARY}/C", f"-I{folder}"]
    done = subprocess.run(
        [compiler, *flags, str(folder / "main.c"), "-lm", "-o", str(folder / "main")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr

    def run(rows: np.ndarray) -> np.ndarray:
        text = "\n".join(" ".join(map(repr, row)) for row in rows.tolist())
        done = subprocess.run([str(folder / "main")], input=text, capture_output=True, text=True, check=True)
        return np.array([[float(x) for x in line.split()] for line in done.stdout.splitlines()])

    return run
