"""Programs that call an exported function, for the comment of its header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from textwrap import wrap
from typing import Any

import numpy as np

from ..legs.contract import SMALLEST_MARGIN
from ..model import Model
from ..symbols.expression import Port
from .code import identifier, namespace

LEAST = f"{SMALLEST_MARGIN:g}".replace("e-0", "e-")
Ports = Sequence[tuple[str, Port]]
_A_LINE = 4  # numbers


def main_file(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
    """Lines of a main.c: the robot at home and at rest, the first output printed, 1 returned if there is no answer.

    ``inputs`` and ``outputs`` are the ports with their C names; above ``residual`` there is no answer. ``number`` is
    the type of numbers.
    """
    first, port = outputs[0]
    bad = _no_answer(outputs, residual)
    arguments = [(f"&{name}_defaults" if label == "parameters" else label, p) for label, p in inputs]
    inputs = [(label, p) for label, p in inputs if label != "parameters"]
    return [
        "#include <stdio.h>",
        f'#include "{name}.h"',
        "",
        "int main(void)",
        "{",
        *(f"    {line}" for label, given in inputs for line in _declared(model, label, given, number)),
        *(f"    {number} {label}[{prod(output.shape)}];" for label, output in outputs),
        f"    {name}(",
        *(f"        {line}" for line in _arguments(arguments, outputs)),
        *([f"    if ({bad}) return 1;"] if bad else []),
        f"    for (int k = 0; k < {prod(port.shape)}; k++)",
        f'        printf("%.17g\\n", {first}[k]);',
        "    return 0;",
        "}",
    ]


def cpp_file(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
    """Lines of a main.cpp that does the same with the function of a C++ header."""
    _, port = outputs[0]
    inputs = [(label, p) for label, p in inputs if label != "parameters"]  # by default the robot's own
    fields = [f"found.{label}" for label, _ in outputs]
    bad = _no_answer(outputs, residual)
    for (label, _), field in zip(outputs, fields, strict=True):
        bad = bad.replace(f"{label}[0]", field)
    function = name.removeprefix(f"{identifier(model.robot.name)}_")
    shown = fields[0] if port.shape else f"{{{fields[0]}}}"
    return [
        "#include <cstdio>",
        f'#include "{name}.hpp"',
        "",
        "int main()",
        "{",
        *(f"    {line}" for label, given in inputs for line in _array(model, label, given, number)),
        f"    const auto found = polypod::{namespace(model)}::{function}(",
        f"        {', '.join(label for label, _ in inputs)});",
        *([f"    if ({bad}) return 1;"] if bad else []),
        f'    for (const double value : {shown}) std::printf("%.17g\\n", value);',
        "    return 0;",
        "}",
    ]


def script_file(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
    """Lines of a script in JavaScript that does the same."""
    bad = _no_answer(outputs, residual)
    own = [label for label, _ in inputs if label == "parameters"]
    return [
        f'import {{ {", ".join([name, *own])} }} from "./{name}.js";',
        "",
        *(line for label, given in inputs if label not in own for line in _constant(model, label, given)),
        *(f"const {label} = new Float64Array({prod(output.shape)});" for label, output in outputs),
        f"{name}(",
        *(f"    {line}" for line in _arguments(inputs, outputs)),
        *([f'if ({bad}) throw new Error("no answer");'] if bad else []),
        f"for (const value of {outputs[0][0]}) console.log(value);",
    ]


def _no_answer(outputs: Ports, residual: str) -> str:
    """What holds where there is no answer, alike in C and JavaScript; empty for a function that always has one."""
    tests = {
        "residual": f"!(residual[0] <= {residual})",
        "quality": f"!(quality[0] > {LEAST})",
        "converged": "converged[0] == 0",
    }
    return " || ".join(test for label, test in tests.items() if label in dict(outputs))


def _arguments(inputs: Ports, outputs: Ports) -> list[str]:
    return wrap(f"{', '.join(label for label, _ in (*inputs, *outputs))});", 90)


def _declared(model: Model, label: str, port: Port, number: str) -> Iterator[str]:
    """An input of C with its numbers, four to a line unless they are all zero."""
    texts = _texts(model, port, number)
    if texts is None:
        yield f"{number} {label}[{port.length}] = {{0}};"
    elif len(texts) == 1:
        yield f"{number} {label}[1] = {{{texts[0]}}};"
    else:
        yield from (f"{number} {label}[{port.length}] = {{", *_lines(texts), "};")


def _array(model: Model, label: str, port: Port, number: str) -> Iterator[str]:
    """The same in C++."""
    texts = _texts(model, port, number)
    if texts is None:
        yield f"const std::array<{number}, {port.length}> {label}{{}};"
    else:
        yield from (f"const std::array<{number}, {port.length}> {label}{{", *_lines(texts), "};")


def _constant(model: Model, label: str, port: Port) -> Iterator[str]:
    """The same in JavaScript."""
    texts = _texts(model, port)
    if texts is None:
        yield f"const {label} = new Float64Array({port.length});"
    else:
        yield from (f"const {label} = Float64Array.of(", *_lines(texts), ");")


def _texts(model: Model, port: Port, number: str = "double") -> list[str] | None:
    """Numbers of an input as texts; None if all are zero."""
    values = np.ravel(_value(model, port))
    if not values.any():
        return None
    texts = [repr(value + 0.0).removesuffix(".0") for value in values.tolist()]
    return texts if number == "double" else [text if text.lstrip("-").isdigit() else f"{text}f" for text in texts]


def _lines(texts: list[str]) -> Iterator[str]:
    return (f"    {', '.join(texts[start : start + _A_LINE])}," for start in range(0, len(texts), _A_LINE))


def _value(model: Model, port: Port) -> Any:
    home = model.robot.home.matrix
    if port.name == "pose":
        return np.broadcast_to(home, port.shape)
    if port.name == "q":
        return model.inverse_kinematics(home)
    return np.ones(port.shape) if port.name == "weights" else np.zeros(port.shape)
