"""A program that calls an exported function, for the comment of its header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from textwrap import wrap
from typing import Any

import numpy as np

from ..legs.contract import SMALLEST_MARGIN
from ..model import Model
from ..symbols.expression import Port

LEAST = f"{SMALLEST_MARGIN:g}".replace("e-0", "e-")
_A_LINE = 4  # numbers


def main_file(
    model: Model, name: str, inputs: Sequence[tuple[str, Port]], outputs: Sequence[tuple[str, Port]],
    residual: str,
) -> list[str]:  # fmt: skip
    """Lines of a main.c: the robot at home and at rest, the first output printed, 1 returned if there is no answer.

    ``inputs`` and ``outputs`` are the ports with their C names; above ``residual`` there is no answer.
    """
    first, port = outputs[0]
    labels = [label for label, _ in (*inputs, *outputs)]
    tests = {
        "residual": f"!(residual[0] <= {residual})",
        "quality": f"!(quality[0] > {LEAST})",
        "converged": "converged[0] == 0",
    }
    bad = " || ".join(test for label, test in tests.items() if label in dict(outputs))
    return [
        "#include <stdio.h>",
        f'#include "{name}.h"',
        "",
        "int main(void)",
        "{",
        *(f"    {line}" for label, given in inputs for line in _declared(model, label, given)),
        *(f"    double {label}[{prod(made.shape)}];" for label, made in outputs),
        f"    {name}(",
        *(f"        {line}" for line in wrap(f"{', '.join(labels)});", 90)),
        *([f"    if ({bad}) return 1;"] if bad else []),
        f"    for (int k = 0; k < {prod(port.shape)}; k++)",
        f'        printf("%.17g\\n", {first}[k]);',
        "    return 0;",
        "}",
    ]


def _declared(model: Model, label: str, port: Port) -> Iterator[str]:
    """An input with its numbers, four to a line unless they are all zero."""
    values = np.ravel(_value(model, port))
    if not values.any():
        yield f"double {label}[{len(values)}] = {{0}};"
        return
    texts = [repr(value + 0.0).removesuffix(".0") for value in values.tolist()]
    if len(texts) == 1:
        yield f"double {label}[1] = {{{texts[0]}}};"
        return
    yield f"double {label}[{len(values)}] = {{"
    for start in range(0, len(texts), _A_LINE):
        yield f"    {', '.join(texts[start : start + _A_LINE])},"
    yield "};"


def _value(model: Model, port: Port) -> Any:
    home = model.robot.home.matrix
    if port.name == "pose":
        return np.broadcast_to(home, port.shape)
    if port.name == "q":
        return model.inverse_kinematics(home)
    return np.ones(port.shape) if port.name == "weights" else np.zeros(port.shape)
