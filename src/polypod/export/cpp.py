"""A model function as one C++17 header: the operations of the C file, ``std::array`` in and out, nothing allocated."""

from __future__ import annotations

import re
from math import prod

from ..kernels import Expression
from ..model import Model
from ..symbols.expression import Iteration, Port
from .c import HELPERS, STEP, control_step, definition, helpers
from .code import Dialect, exported, identifier, namespace, ports
from .example import cpp_file
from .header import Target, comment

_CPP = Dialect(
    "C++",
    "const double",
    "double state[{}]",
    "NAN",
    "INFINITY",
    calls=lambda name: name if name in HELPERS else f"std::{name}",
)
_TARGET = Target(
    arrays="Inputs are std::array<double, n>: matrices by rows. Outputs are the fields of what is returned; a number "
    "alone is a double.",
    input="Nothing is kept between calls, allocated or thrown, so several threads may call at once.",
    use="C++17, in one header, with the standard library's mathematics. Compile with",
    command="c++ -std=c++17 -O2 main.cpp -o main",
    example="Example of a main.cpp, at home and at rest:",
    program=cpp_file,
)


def export_cpp(model: Model, function: str = "inverse_dynamics", friction: bool = True) -> tuple[str, str]:
    """Name and text of a C++17 header of a model function, in a namespace of the robot.

    >>> name, header = export_cpp(Model("kim-ryu"), "inverse_kinematics")
    >>> name, [line for line in header.splitlines() if line.startswith("namespace")][-1]
    ('kim_ryu_inverse_kinematics', 'namespace polypod::kim_ryu {')
    """
    expression: Expression | Iteration
    if function == STEP:
        name, expression, code, _ = control_step(model, friction, _CPP, "", None)
    else:
        name, expression = exported(model, function, friction)
        code = definition(name, expression, _CPP)
    space = namespace(model)
    short = name.removeprefix(f"{identifier(model.robot.name)}_")
    guard = f"POLYPOD_{name.upper()}_HPP"
    functions = re.sub(r"^(?:static )?void ", "inline void ", code, flags=re.MULTILINE)
    lines = [
        comment(model, name, expression, friction, _TARGET),
        f"#ifndef {guard}\n#define {guard}\n",
        "#include <array>\n#include <cmath>\n",
        f"namespace polypod::{space}::{name}_code {{\n",  # of its own, so that several headers may be included
        helpers(code).replace("static inline", "inline") + functions,
        "}\n",
        f"namespace polypod::{space} {{\n",
        _result(short, expression),
        _wrapper(short, f"{name}_code::{name}", expression),
        "}\n\n#endif",
    ]
    return name, "\n".join(lines) + "\n"


def cpp_files(model: Model, function: str, friction: bool) -> dict[str, str]:
    """The header of a model function by file name."""
    name, text = export_cpp(model, function, friction)
    return {f"{name}.hpp": text}


def _type(port: Port) -> str:
    return f"std::array<double, {prod(port.shape)}>" if port.shape else "double"


def _result(short: str, expression: Expression | Iteration) -> str:
    """What the function returns: its outputs by name."""
    fields = "".join(f"    {_type(port)} {label};\n" for label, port in ports(expression)[1])
    return f"/// Outputs of {short}.\nstruct {short}_result {{\n{fields}}};\n"


def _wrapper(short: str, inner: str, expression: Expression | Iteration) -> str:
    """The function itself, around that of pointers."""
    inputs, outputs = ports(expression)
    arguments = ",\n    ".join(f"const std::array<double, {prod(port.shape)}> &{label}" for label, port in inputs)
    given = [f"{label}.data()" for label, _ in inputs]
    found = [f"result.{label}.data()" if port.shape else f"&result.{label}" for label, port in outputs]
    call = ",\n        ".join([*given, *found])
    return (
        f"[[nodiscard]] inline {short}_result {short}(\n    {arguments}) noexcept\n{{\n    {short}_result result{{}};\n"
        f"    {inner}(\n        {call});\n    return result;\n}}\n"
    )
