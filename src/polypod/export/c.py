"""A model function as a self-contained C99 file and header, from the same list of operations that is compiled."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import InputError
from ..kernels import Expression
from ..lazy import lazy
from ..model import Model
from ..parameters.chosen import Choice, ChosenNumbers
from ..symbols.expression import Iteration, Port
from .code import Dialect, body, identifier, literal, named_expression, ports
from .header import Target, comment, main_file

Precision = Literal["double", "float"]
STEP = "control_step"
"""One step of a controller: forward kinematics from the last pose, twist, acceleration, inverse dynamics."""
_PARTS = ("forward_kinematics", "twist", "acceleration", "inverse_dynamics")
# Minimum and maximum pass on what is not a number, unlike C's fmin and fmax: a bad state must stay visible.
HELPERS: dict[str, str] = {
    "smaller": "static inline double smaller(double a, double b) { return a != a || a < b ? a : b; }\n",
    "larger": "static inline double larger(double a, double b) { return a != a || a > b ? a : b; }\n",
    "sign": "static inline double sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }\n",
}
DOUBLE = Dialect("C", "const double", "double state[{}]", "NAN", "INFINITY")
_FLOAT = Dialect(
    "C",
    "const float",
    "float state[{}]",
    "NAN",
    "INFINITY",
    calls=lambda name: name if name in HELPERS else f"{name}f",
    suffix="f",
)
_TARGET = Target(
    arrays="All arrays are flat, double[n]: matrices by rows without gaps; of a double pose[4][4] pass &pose[0][0].",
    input="Nothing is kept between calls and no memory is allocated, so several threads may call at once.",
    use="C99 (the header serves C++ too) with the mathematics library. Compile with",
    command="cc -std=c99 -O2 main.c {name}.c -lm -o main",
    example="Example of a main.c, at home and at rest:",
    program=main_file,
)
_DIALECTS: dict[Precision, Dialect] = {"double": DOUBLE, "float": _FLOAT}
_STACK_OVERHEAD = 1.2
"""Stack without optimisation over what all values take: clang 14 adds up to 13 % (control_step of a hexapod), gcc 12
below 1 %."""
_STACK_SAVED = 4
"""Factor by which optimising reduces the stack at least: gcc 12 needs 6 to 11 % of what -O0 takes with -O1 to -O3,
clang 7 to 17 % (inverse dynamics of kim-ryu, pedrammehr, staicu)."""
_ITERATIONS = (
    "Every loop takes {} iterations, whatever the state: calls differ in time by the processor's caches only. Look at "
    "residual and converged, which say whether that was enough."
)
_FLAGS = (
    "-fno-math-errno makes it faster and changes no number. With -ffast-math sums are taken in another order and a "
    "compiler may drop the tests for what is not a number: then check that inputs are finite."
)
SINGLE = (
    "Single precision: expect some 1e-5 of the largest numbers, less near singular poses; iterations of forward "
    "kinematics end where the error no longer falls."
)


def function_code(
    model: Model, function: str, friction: bool, dialect: Dialect, end: tuple[str, str], parameters: Sequence[str]
) -> tuple[str, Expression | Iteration, str, Struct | None]:
    """Name, expression, code and parameter struct of a function in C or C++.

    The name ends with ``end``: the first text, of a function that iterates the second.
    """
    numbers = ChosenNumbers(model.robot, parameters) if parameters else None
    if function == STEP:
        return control_step(model, friction, dialect, end[1], numbers)
    single = number_type(dialect) == "float"
    name, expression = named_expression(model, function, friction, numbers or False, single=single, further=(STEP,))
    name += end[isinstance(expression, Iteration)]
    struct = None if numbers is None else Struct(name, dialect, numbers)
    return name, expression, definition(name, expression, dialect, struct=struct), struct


def export_c(
    model: Model,
    function: str = "inverse_dynamics",
    friction: bool = True,
    precision: Precision = "double",
    parameters: Sequence[str] = (),
    iterations: int | None = None,
) -> tuple[str, str, str]:
    """A model function as C99 source that needs only the mathematics library.

    The C function takes a pointer to each input and output of one state, arrays by rows, SI units. Parameters that are
    inputs are members of a struct, to which it takes a pointer. Every function of ``polypod.model.kernels.FUNCTIONS``
    that the robot has can be exported, and ``control_step``, which chains four of them. A function without friction
    says so in its name.

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
    iterations : int, optional
        Fixed number of iterations of functions that iterate, so that every call takes the same time; ``residual`` and
        ``converged`` say whether they were enough. Default: until convergence.

    Returns
    -------
    name : str
        Name of the C function.
    header : str
        Text of the header.
    source : str
        Text of the source.

    Examples
    --------
    >>> name, header, source = export_c(Model("kim-ryu"), "inverse_kinematics")
    >>> name, source.splitlines()[0]
    ('kim_ryu_inverse_kinematics', '#include "kim_ryu_inverse_kinematics.h"')
    """
    checked_precision(precision)
    if iterations is not None and iterations < 1:
        raise InputError(f"iterations: at least 1 is needed, got {iterations}")
    dialect = replace(_DIALECTS[precision], iterations=iterations or 0)
    single = "" if precision == "double" else "_float"
    end = (single, f"{single}_{iterations}_iterations" if iterations else single)
    name, expression, code, struct = function_code(model, function, friction, dialect, end, parameters)
    if function != STEP and not isinstance(expression, Iteration):
        iterations = None
    guard = f"{name.upper()}_H"
    header = "\n".join(
        [
            comment(model, name, expression, friction, _target(precision, code, struct, iterations)),
            f"#ifndef {guard}\n#define {guard}\n",
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            *([] if struct is None else [struct.declaration()]),
            f"{_prototype(name, expression, precision, struct)};\n",
            "#ifdef __cplusplus\n}\n#endif\n",
            "#endif\n",
        ]
    )
    own = "" if struct is None else f"{struct.definition()}\n"
    return name, header, f'#include "{name}.h"\n\n#include <math.h>\n\n{helpers(code, precision)}\n{own}{code}'


def checked_precision(precision: Precision) -> Precision:
    """A type of numbers that is known."""
    if precision not in _DIALECTS:
        raise InputError(f"precision: {' or '.join(map(repr, _DIALECTS))} is needed, got {precision!r}")
    return precision


def c_files(
    model: Model,
    function: str,
    friction: bool,
    parameters: Sequence[str] = (),
    precision: Precision = "double",
    iterations: int | None = None,
) -> dict[str, str]:
    """Header and C source of a model function.

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
    iterations : int, optional
        Fixed number of iterations of functions that iterate, so that every call takes the same time; ``residual`` and
        ``converged`` say whether they were enough. Default: until convergence.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    name, header, source = export_c(model, function, friction, precision, parameters, iterations)
    return {f"{name}.h": header, f"{name}.c": source}


def helpers(code: str, precision: Precision = "double") -> str:
    """The small functions that C code calls."""
    texts = "".join(text for helper, text in HELPERS.items() if f"{helper}(" in code)
    return texts if precision == "double" else texts.replace("double", "float").replace(".0", ".0f")


def definition(
    name: str,
    expression: Expression | Iteration,
    dialect: Dialect = DOUBLE,
    static: bool = False,
    struct: Struct | None = None,
) -> str:
    """The text of a C function; the robot's numbers that are inputs are an array, or members of a struct."""
    prototype = _prototype(name, expression, number_type(dialect), struct)
    code = body(expression, dialect) if struct is None else body(expression, dialect, struct.access)
    for label, _ in (pair for side in ports(expression) for pair in side):
        if not re.search(rf"\b{label}\b", code):
            code = f"    (void){label};\n{code}"
    return f"{'static ' if static else ''}{prototype}\n{{\n{code}}}\n"


def number_type(dialect: Dialect) -> Precision:
    """The type of numbers in a dialect of C."""
    return "float" if dialect.suffix else "double"


def _target(precision: Precision, code: str, struct: Struct | None, iterations: int | None) -> Target:
    """What the header says of the language, with the stack that the code takes at most."""
    size = 8 if precision == "double" else 4
    numbers = code.count(f"const {precision} ") + sum(map(int, re.findall(rf"{precision} \w+\[(\d+)\];", code)))
    most = math.ceil(_STACK_OVERHEAD * numbers * size / 1000)
    stack = (
        f"No recursion, no static data. Without optimisation (-O0) every value has its own place and the stack takes "
        f"{most} kB at most; with -O1 and above {-(-numbers * size // (1000 * _STACK_SAVED))} kB at most."
    )
    more = [SINGLE] if precision == "float" else []
    if iterations:
        more.append(_ITERATIONS.format(iterations))
    members = () if struct is None else tuple(struct.listed())
    arrays = _TARGET.arrays.replace("double", precision)
    return replace(_TARGET, arrays=arrays, notes=(stack, *more, _FLAGS), members=members, precision=precision)


def _prototype(name: str, expression: Expression | Iteration, number: Precision, struct: Struct | None = None) -> str:
    inputs, outputs = ports(expression)
    types = {} if struct is None else {"parameters": struct.type}
    arguments = [f"const {types.get(label, number)} *{label}" for label, _ in inputs]
    arguments += [f"{number} *{label}" for label, _ in outputs]
    line = f"void {name}({', '.join(arguments)})"
    return line if len(line) < 110 else "void {}(\n    {})".format(name, ",\n    ".join(arguments))


def control_step(
    model: Model, friction: bool, dialect: Dialect, end: str, numbers: ChosenNumbers | None = None
) -> tuple[str, Expression, str, Struct | None]:
    """Name, arrays and C code of a controller's step, and the struct of its parameters if it has some.

    From measured coordinates and rates: the pose (Newton from the last one), the twist J u = qdot; from commanded
    accelerations of the coordinates that of the platform, J udot = qddot - Jdot u, and the forces that give it.
    """
    if model.robot.flexible:
        raise InputError(
            f"{STEP}: the coordinates of {model.robot.name!r} do not tell how its flexible platform moves; export "
            "inverse_dynamics"
        )
    name = identifier(f"{model.robot.name}_{STEP}{'' if friction else '_without_friction'}{end}")
    struct = None if numbers is None else Struct(name, dialect, numbers)
    number = number_type(dialect)
    given_numbers = numbers or False
    parts = {
        part: named_expression(model, part, friction, given_numbers, search=False, single=number == "float")[1]
        for part in _PARTS
    }
    taken: dict[str, Port] = {}
    given: dict[str, Port] = {}
    for one in parts.values():
        for port in one.inputs:
            if port.name not in taken:
                given.setdefault(port.name, port)
        taken.update({port.name: port for port in one.outputs})
    found = [taken[label] for label in ("pose", "twist", "force", "residual", "quality", "converged") if label in taken]
    own = [f"    {number} acceleration[6];", f"    {number} steps[1];"]
    calls = []
    for k, (part, expression) in enumerate(parts.items()):
        inputs, outputs = ports(expression)
        known = {"pose": "pose_found" if k else "pose"}
        arguments = [known.get(label, label) for label, _ in inputs]
        for _, port in outputs:
            arguments.append({"quality": f"quality_{k}", "pose": "pose_found"}.get(port.name, port.name))
        own.append(f"    {number} quality_{k}[1];")
        calls.append(f"    {name}_{part}({', '.join(arguments)});")
    smallest = "quality_0[0]"
    for k in range(1, len(parts)):
        smallest = f"smaller({smallest}, quality_{k}[0])"
    whole = Expression(STEP, tuple(given.values()), tuple(found), None if numbers is None else numbers.port)
    lines = [
        _prototype(name, whole, number, struct),
        "{",
        *own,
        *calls,
        "    (void)steps;",
        f"    quality[0] = {smallest};",
        "}",
    ]
    static = [definition(f"{name}_{part}", parts[part], dialect, True, struct) for part in _PARTS]
    return name, whole, "\n".join([*static, "\n".join(lines), ""]), struct


# ----------------------------------------------------------------------------------------------------------------------
# The numbers of a robot that an exported C or C++ function takes: a struct with readable names, and its values.


@dataclass(frozen=True)
class Struct:
    """A C type ``NAME_parameters`` and a constant ``NAME_defaults`` of it."""

    name: str
    dialect: Dialect
    numbers: ChosenNumbers

    @property
    def type(self) -> str:
        """The type's name."""
        return f"{self.name}_parameters"

    @lazy
    def members(self) -> list[tuple[str, Choice]]:
        """Names of the members, each once: legs by their names, where that is enough."""
        choices = self.numbers.choices
        short = [identifier(self._named(c.path)) for c in choices]
        often = Counter(short)
        used = {name for name in short if often[name] == 1}
        names = []
        for name, choice in zip(short, choices, strict=True):
            if often[name] > 1:  # the path instead, longer where a leg is called like it
                name = identifier(choice.path)
                while name in used:
                    name += "_"
                used.add(name)
            names.append(name)
        return list(zip(names, choices, strict=True))

    def _named(self, path: str) -> str:
        parts = path.split(".")
        if parts[0] != "legs":
            return path
        return ".".join([self.numbers.robot.legs[int(parts[1])].name, *parts[2:]])

    @lazy
    def _places(self) -> list[str]:
        return [f"{name}[{k}]" if c.value.shape else name for name, c in self.members for k in range(c.length)]

    def access(self, k: int) -> str:
        """The k-th number in C code."""
        return f"parameters->{self._places[k]}"

    def declaration(self) -> str:
        """The type and the constant, for the header of C."""
        return f"typedef struct {{\n{self._fields()}}} {self.type};\n\nextern const {self.type} {self.name}_defaults;\n"

    def definition(self) -> str:
        """The constant, for the source of C."""
        return f"const {self.type} {self.name}_defaults = {{\n{self._values()}}};\n"

    def cpp(self) -> str:
        """The type and the constant in C++."""
        constant = f"inline constexpr {self.type} {self.name}_defaults = {{\n{self._values()}}};\n"
        return f"struct {self.type} {{\n{self._fields()}}};\n\n{constant}"

    def _fields(self) -> str:
        number = "float" if self.dialect.suffix else "double"
        return "".join(f"    {number} {name}{f'[{c.length}]' if c.value.shape else ''};\n" for name, c in self.members)

    def _values(self) -> str:
        lines = []
        for _, choice in self.members:
            texts = [literal(self.dialect, value) for value in choice.value.ravel().tolist()]
            lines.append(f"    {{{', '.join(texts)}}},\n" if choice.value.shape else f"    {texts[0]},\n")
        return "".join(lines)

    def listed(self) -> Iterator[str]:
        """What every member is, for the header's comment."""
        for name, choice in self.members:
            rows = f"{'x'.join(map(str, choice.value.shape))} by rows, " if choice.value.ndim > 1 else ""
            size = f"[{choice.length}]" if choice.value.shape else ""
            yield f"{name}{size}: {rows}{choice.path} [{choice.unit or '1'}]"
