"""A model function as a self-contained C99 file and header, from the same list of operations that is compiled."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import casadi as ca

from ..errors import UnknownNameError
from ..kernels import Expression
from ..model import Model
from ..model.kernels import FUNCTIONS, Kernels
from ..symbols.expression import Iteration
from ..symbols.graph import SELECT, Graph, unsupported
from .header import comment

_INFIX = {ca.OP_ADD: "+", ca.OP_SUB: "-", ca.OP_MUL: "*", ca.OP_DIV: "/"}
_COMPARE = {ca.OP_LT: "<", ca.OP_LE: "<=", ca.OP_EQ: "==", ca.OP_NE: "!="}
_CALL = {
    ca.OP_SQRT: "sqrt", ca.OP_FABS: "fabs", ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_EXP: "exp",
    ca.OP_LOG: "log", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil", ca.OP_COPYSIGN: "copysign", ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2",
    ca.OP_TANH: "tanh", ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_FMIN: "smaller", ca.OP_FMAX: "larger",
    ca.OP_SIGN: "sign",
}  # fmt: skip
# Minimum and maximum pass on what is not a number, unlike C's fmin and fmax: a bad state must stay visible.
_HELPERS = """\
static inline double smaller(double a, double b) { return a != a || a < b ? a : b; }
static inline double larger(double a, double b) { return a != a || a > b ? a : b; }
static inline double sign(double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : a; }
"""


def export_c(model: Model, function: str = "inverse_dynamics", friction: bool = True) -> tuple[str, str, str]:
    """Name, header and source of a model function in C99.

    The C function takes a pointer to each input and output of one state, arrays by rows, SI units, and needs nothing
    but the mathematics library. The robot's numbers are constants in it. Every function of
    :data:`polypod.model.kernels.FUNCTIONS` that the robot has can be exported.

    >>> name, header, source = export_c(Model("kim-ryu"), "inverse_kinematics")
    >>> name, source.splitlines()[0]
    ('kim_ryu_inverse_kinematics', '#include "kim_ryu_inverse_kinematics.h"')
    """
    known = functions(model)
    if function not in known:
        raise UnknownNameError("model function", function, known)
    options = replace(model.kernels.options, specialise=True)
    kernels = Kernels(model.robot, options)
    expression = kernels.expression(kernels.mechanism, function, friction)
    name = identifier(f"{model.robot.name}_{function}")
    head = _header(model, name, expression, friction)
    body = _plain(expression) if isinstance(expression, Expression) else _iterated(expression)
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{_HELPERS}\n{_prototype(name, expression)}\n{{\n{body}}}\n'
    return name, head, source


def c_files(model: Model, function: str, friction: bool) -> dict[str, str]:
    """Header and source of a model function by file name."""
    name, header, source = export_c(model, function, friction)
    return {f"{name}.h": header, f"{name}.c": source}


def functions(model: Model) -> tuple[str, ...]:
    """Functions that a robot has: a rigid platform has no shape, coordinates do not tell how a flexible one moves."""
    missing = ("twist", "acceleration") if model.robot.flexible else ("steady_shape",)
    return tuple(name for name in FUNCTIONS if name not in missing)


def identifier(text: str) -> str:
    """A C name for a text.

    >>> identifier("6-ups_jacobian"), identifier("kim-ryu_jacobian")
    ('robot_6_ups_jacobian', 'kim_ryu_jacobian')
    """
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return name if name[:1].isalpha() else f"robot_{name.lstrip('_')}"


def _header(model: Model, name: str, expression: Expression | Iteration, friction: bool) -> str:
    inputs, outputs = _names(expression)
    head = comment(
        model, name, expression.name, friction, [*zip(inputs, expression.inputs, strict=True)],
        [*zip(outputs, expression.outputs, strict=True)],
    )  # fmt: skip
    guard = f"{name.upper()}_H"
    return "\n".join(
        [
            head,
            f"#ifndef {guard}\n#define {guard}\n",
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            f"{_prototype(name, expression)};\n",
            "#ifdef __cplusplus\n}\n#endif\n",
            "#endif\n",
        ]
    )


def _prototype(name: str, expression: Expression | Iteration) -> str:
    inputs, outputs = _names(expression)
    arguments = [*(f"const double *{label}" for label in inputs), *(f"double *{label}" for label in outputs)]
    line = f"void {name}({', '.join(arguments)})"
    return line if len(line) < 110 else "void {}(\n    {})".format(name, ",\n    ".join(arguments))


def _names(expression: Expression | Iteration) -> tuple[list[str], list[str]]:
    """C names of the inputs and outputs; an output that shares an input's name gets a suffix."""
    inputs = [port.name for port in expression.inputs]
    outputs = [port.name for port in expression.outputs]
    return inputs, [f"{label}_found" if label in inputs else label for label in outputs]


def _plain(expression: Expression) -> str:
    names, results = _names(expression)
    code, outputs = _statements(expression.graph, lambda array, k: f"{names[array]}[{k}]", "v", "    ")
    return code + _stores(results, outputs, "    ")


def _iterated(iteration: Iteration) -> str:
    """What stays the same; start; do step while not done; finish. The state's last number is the flag."""
    names, results = _names(iteration)
    program = iteration.program
    assert program.loop is not None
    before, (shared,) = _statements(program.body, lambda array, k: f"{names[array]}[{k}]", "a", "    ")

    def source(array: int, k: int) -> str:
        return shared[k] if array else f"state[{k}]"

    first, initial = _statements(program.loop.start, source, "b", "    ")
    loop, moved = _statements(program.loop.step, source, "c", "        ")
    last, outputs = _statements(program.loop.finish, source, "d", "    ")
    size = len(initial[0])
    lines = [f"    double state[{size}];\n", before, first]
    lines += [f"    state[{k}] = {value};\n" for k, value in enumerate(initial[0])]
    lines += ["    do {\n", loop]
    # A new number may be another's old one: all are read before any is written.
    lines += [f"        const double n{k} = {value};\n" for k, value in enumerate(moved[0])]
    lines += [f"        state[{k}] = n{k};\n" for k in range(size)]
    lines += [f"    }} while (state[{size - 1}] == 0.0);\n", last, _stores(results, outputs, "    ")]
    return "".join(lines)


def _stores(names: Sequence[str], outputs: Sequence[Sequence[str]], indent: str) -> str:
    return "".join(
        f"{indent}{name}[{k}] = {value};\n"
        for name, row in zip(names, outputs, strict=True)
        for k, value in enumerate(row)
    )


def _statements(
    graph: Graph, source: Callable[[int, int], str], letter: str, indent: str
) -> tuple[str, list[list[str]]]:
    """One statement an operation, and the names of the outputs' values."""
    values: list[str] = []
    lines: list[str] = []
    for number, step in enumerate(graph.operations):
        if step.op == ca.OP_INPUT:
            values.append(source(*step.source))
        elif step.op == ca.OP_CONST:
            values.append(_number(step.constant))
        else:
            name = f"{letter}{number}"
            lines.append(f"{indent}const double {name} = {_operation(step.op, [values[i] for i in step.arguments])};\n")
            values.append(name)
    return "".join(lines), [[values[i] for i in row] for row in graph.outputs]


def _number(value: float) -> str:
    """Shortest decimal that reads back to the same double."""
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    return repr(value) if value >= 0 and not math.copysign(1.0, value) < 0 else f"({value!r})"


def _operation(op: int, x: Sequence[str]) -> str:
    if op in _INFIX:
        return f"{x[0]} {_INFIX[op]} {x[1]}"
    if op in _COMPARE:
        return f"{x[0]} {_COMPARE[op]} {x[1]} ? 1.0 : 0.0"
    if op in _CALL:
        return f"{_CALL[op]}({', '.join(x)})"
    forms = {
        ca.OP_SQ: "{0} * {0}", ca.OP_TWICE: "{0} + {0}", ca.OP_NEG: "-{0}", ca.OP_INV: "1.0 / {0}", ca.OP_ASSIGN: "{0}",
        ca.OP_NOT: "{0} == 0.0 ? 1.0 : 0.0", ca.OP_AND: "{0} != 0.0 && {1} != 0.0 ? 1.0 : 0.0",
        ca.OP_OR: "{0} != 0.0 || {1} != 0.0 ? 1.0 : 0.0", ca.OP_IF_ELSE_ZERO: "{0} != 0.0 ? {1} : 0.0",
        SELECT: "{0} != 0.0 ? {1} : {2}",
    }  # fmt: skip
    if op not in forms:
        raise unsupported(op, "C code")
    return forms[op].format(*x)
