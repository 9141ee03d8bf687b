"""A model function as a JavaScript module, from the same list of operations that is compiled."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..kernels import Expression
from ..model import Model
from ..symbols.expression import Iteration
from .code import Dialect, body, named_expression, ports
from .header import Target, comment, script_file

MAX_ITERATIONS = 100_000
"""Of a function that does not say how many it takes at most: a page must not hang on one that does not end."""
_OWN = {"fabs": "Math.abs", "smaller": "Math.min", "larger": "Math.max", "copysign": "copysign"}
JAVASCRIPT = Dialect(
    "JavaScript",
    "const",
    "const state = new Float64Array({})",
    "NaN",
    "Infinity",
    calls=lambda name: _OWN.get(name, f"Math.{name}"),
    counter="let",
    most=MAX_ITERATIONS,
)
HELPERS = "const copysign = (a, b) => (b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a));\n"
"""What functions need beside ``Math``."""
_TARGET = Target(
    arrays="All arrays are flat, Float64Array: matrices by rows without gaps; outputs are written in place.",
    input="Nothing is kept between calls.",
    use="An ECMAScript module without dependencies, for browsers and Node.js.",
    command="",
    example="Example of a script, at home and at rest:",
    program=script_file,
)


def export_js(
    model: Model, function: str = "inverse_dynamics", friction: bool = True, parameters: bool = False
) -> tuple[str, str]:
    """A model function as an ECMAScript module.

    The function takes a ``Float64Array`` for each input and output of one state, as the C function does.

    Parameters
    ----------
    model : Model
        Model of the robot.
    function : str, optional
        Name of the model function.
    friction : bool, optional
        Whether friction in the joints is included.
    parameters : bool, optional
        Whether the robot's parameters are the last input; the module then also exports those of the robot. Default:
        they are constants.

    Returns
    -------
    name : str
        Name of the function.
    source : str
        Text of the module.

    Examples
    --------
    >>> name, source = export_js(Model("kim-ryu"), "inverse_kinematics")
    >>> next(line for line in source.splitlines() if line.startswith("export"))
    'export function kim_ryu_inverse_kinematics(pose, q, quality) {'
    """
    name, expression = named_expression(model, function, friction, parameters)
    parts = [comment(model, name, expression, friction, _TARGET) + "\n"]
    if expression.parameters is not None:
        parts.append("".join(_numbers(model)))
    parts += [HELPERS, f"export {js_function(name, expression)}"]
    return name, "\n".join(parts)


def js_function(name: str, expression: Expression | Iteration) -> str:
    """A symbolic function as a JavaScript function of ``Float64Array`` inputs and outputs.

    Parameters
    ----------
    name : str
        Name of the function.
    expression : Expression or Iteration
        The function in symbols.

    Returns
    -------
    str
        Text of the function.
    """
    inputs, outputs = ports(expression)
    arguments = ", ".join(label for label, _ in (*inputs, *outputs))
    return f"function {name}({arguments}) {{\n{body(expression, JAVASCRIPT)}}}\n"


def js_files(model: Model, function: str, friction: bool) -> dict[str, str]:
    """ECMAScript module of a model function.

    Parameters
    ----------
    model : Model
        Model of the robot.
    function : str
        Name of the model function.
    friction : bool
        Whether friction in the joints is included.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    name, source = export_js(model, function, friction)
    return {f"{name}.js": source}


def _numbers(model: Model) -> Iterator[str]:
    yield "export const parameters = Float64Array.of(\n"
    for entry in model.kernels.mechanism.numbers.entries:
        index = entry.index if isinstance(entry.index, str) else ", ".join(map(str, entry.index))
        # quoted: a name in the robot's file must not end the comment
        yield f"    {entry.value!r}, // {json.dumps(f'{entry.path} [{index}]' if index else entry.path)}\n"
    yield ");\n"
