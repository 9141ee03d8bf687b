"""A model function as one C++17 header: the operations of the C file, ``std::array`` in and out, nothing allocated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ..kernels import Expression
from ..model import Model
from ..symbols.expression import Iteration, Port
from .c import CHECKED, HELPERS, SINGLE, Function, Precision, Stamp, checked_precision, function_code, helpers
from .code import Dialect, identifier, namespace, ports
from .header import Target, comment, cpp_file
from .status import enum

_DOUBLE = Dialect(
    "C++",
    "const double",
    "double state[{}]",
    "NAN",
    "INFINITY",
    calls=lambda name: name if name in HELPERS else f"std::{name}",
)
_DIALECTS: dict[Precision, Dialect] = {
    "double": _DOUBLE,
    "float": replace(_DOUBLE, value="const float", state="float state[{}]", suffix="f"),
}
_TARGET = Target(
    arrays="Inputs are std::array<{number}, n>: matrices by rows. Outputs are the fields of what is returned; a number "
    "alone is a {number}.",
    input="Nothing is kept between calls, allocated or thrown, so several threads may call at once.",
    use="C++17, in one header, with the standard library's mathematics. Compile with",
    command="c++ -std=c++17 -O2 main.cpp -o main",
    example="Example of a main.cpp, at home and at rest:",
    program=cpp_file,
)


def export_cpp(
    model: Model,
    function: str = "inverse_dynamics",
    friction: bool = True,
    precision: Precision = "double",
    parameters: Sequence[str] = (),
) -> tuple[str, str]:
    """A model function as a C++17 header, in a namespace of the robot.

    Parameters that are inputs are members of a struct FUNCTION_parameters, the function's last argument; its default is
    FUNCTION_defaults, the robot's values.

    Parameters
    ----------
    model : Model
        Model of the robot.
    function : str, optional
        Name of the model function.
    friction : bool, optional
        Whether friction in the joints is included.
    precision : {'double', 'float'}, optional
        Floating-point type.
    parameters : sequence of str, optional
        Paths of robot parameters that are inputs of the function (``platform.mass``, ``legs.*.base``; ``all`` for every
        value that is not zero). Default: all parameter values are constants.

    Returns
    -------
    name : str
        Name of the header, without suffix.
    header : str
        Its text.

    Examples
    --------
    >>> name, header = export_cpp(Model("kim-ryu"), "inverse_kinematics")
    >>> name, [line for line in header.splitlines() if line.startswith("namespace")][-1]
    ('kim_ryu_inverse_kinematics', 'namespace polypod::kim_ryu {')
    """
    dialect = _DIALECTS[checked_precision(precision)]
    end = "" if precision == "double" else "_float"
    found = function_code(model, function, friction, dialect, (end, end), parameters)
    name, expression, code, struct = found.name, found.expression, found.code, found.struct
    stamp = Stamp.of(model, found)
    space = namespace(model)
    short = name.removeprefix(f"{identifier(model.robot.name)}_")
    guard = f"POLYPOD_{name.upper()}_HPP"
    functions = re.sub(r"^(?:static )?(void|int) (?=\w+\()", r"inline \1 ", code, flags=re.MULTILINE)
    for plain in ("uint64_t", "uint32_t", "memcpy"):
        functions = re.sub(rf"\b{plain}\b", f"std::{plain}", functions)
    own = "" if struct is None else f"{struct.cpp()}\n"
    lines = [
        comment(model, name, expression, friction, _target(precision, short, found, stamp)),
        f"#ifndef {guard}\n#define {guard}\n",
        "#include <array>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n",
        f"{enum()}{found.thresholds()}",
        f"namespace polypod::{space}::{name}_code {{\n",  # of its own, so that several headers may be included
        own + helpers(code, precision).replace("static inline", "inline") + functions,
        "}\n",
        f"namespace polypod::{space} {{\n",
        f'/// Which robot and code this is.\ninline constexpr char {short}_stamp[] = "{stamp.text}";\n',
        *([] if struct is None else [_named(short, name)]),
        _result(short, expression, precision),
        _wrapper(short, f"{name}_code::{name}", expression, precision),
        "}\n\n#endif",
    ]
    return name, "\n".join(lines) + "\n"


def cpp_files(
    model: Model, function: str, friction: bool, parameters: Sequence[str] = (), precision: Precision = "double"
) -> dict[str, str]:
    """C++ header of a model function.

    Parameters
    ----------
    model : Model
        Model of the robot.
    function : str
        Name of the model function.
    friction : bool
        Whether friction in the joints is included.
    parameters : sequence of str, optional
        Paths of robot parameters that are inputs of the function (``platform.mass``, ``legs.*.base``; ``all`` for every
        value that is not zero). Default: all parameter values are constants.
    precision : {'double', 'float'}, optional
        Floating-point type.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    name, text = export_cpp(model, function, friction, precision, parameters)
    return {f"{name}.hpp": text}


def _target(precision: Precision, short: str, found: Function, stamp: Stamp) -> Target:
    members = () if found.struct is None else tuple(found.struct.listed())
    arrays = _TARGET.arrays.format(number=precision)
    notes = (SINGLE,) if precision == "float" else ()
    return replace(
        _TARGET,
        arrays=arrays,
        notes=notes,
        members=members,
        struct=short,
        precision=precision,
        checked=CHECKED,
        returned=tuple(found.judge.returned()),
        stamp=stamp.text,
    )


def _type(port: Port, number: Precision) -> str:
    return f"std::array<{number}, {prod(port.shape)}>" if port.shape else number


def _named(short: str, name: str) -> str:
    """The struct of parameters and the robot's own by short names."""
    inner = f"{name}_code::{name}"
    return (
        f"/// Numbers of the robot.\nusing {short}_parameters = {inner}_parameters;\n"
        f"/// The robot's own.\ninline constexpr {short}_parameters {short}_defaults = {inner}_defaults;\n"
    )


def _result(short: str, expression: Expression | Iteration, number: Precision) -> str:
    """What the function returns: its outputs by name."""
    fields = "".join(f"    {_type(port, number)} {label};\n" for label, port in ports(expression)[1])
    status = "    int status; ///< POLYPOD_OK, or why the other fields are not an answer\n"
    return f"/// Outputs of {short}.\nstruct {short}_result {{\n{status}{fields}}};\n"


def _wrapper(short: str, inner: str, expression: Expression | Iteration, number: Precision) -> str:
    """The function itself, around that of pointers."""
    inputs, outputs = ports(expression)
    arguments = ",\n    ".join(
        f"const {short}_parameters &parameters = {short}_defaults"
        if label == "parameters"
        else f"const std::array<{number}, {prod(port.shape)}> &{label}"
        for label, port in inputs
    )
    given = ["&parameters" if label == "parameters" else f"{label}.data()" for label, _ in inputs]
    found = [f"result.{label}.data()" if port.shape else f"&result.{label}" for label, port in outputs]
    call = ",\n        ".join([*given, *found])
    return (
        f"[[nodiscard]] inline {short}_result {short}(\n    {arguments}) noexcept\n{{\n    {short}_result result{{}};\n"
        f"    result.status = {inner}(\n        {call});\n    return result;\n}}\n"
    )
