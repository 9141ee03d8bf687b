"""A model function as a self-contained C99 file and header, from the same list of operations that is compiled."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from .. import __version__
from ..errors import InputError
from ..files import digest
from ..kernels import Expression
from ..lazy import lazy
from ..model import Model
from ..parameters.chosen import Choice, ChosenNumbers
from ..symbols.expression import Iteration
from .code import Dialect, body, dialect_of, identifier, iterates, literal, named_expression, ports
from .header import Target, comment, main_file
from .motions import MOTIONS, motion_expression
from .status import Judge, Threshold, enum
from .steps import STEPS, Step

Precision = Literal["double", "float"]
# Minimum and maximum pass on what is not a number, unlike C's fmin and fmax: a bad state must stay visible.
HELPERS: dict[str, str] = {
    "smaller": "static inline double smaller(double a, double b) { return a != a || a < b ? a : b; }\n",
    "larger": "static inline double larger(double a, double b) { return a != a || a > b ? a : b; }\n",
    "sign": "static inline double sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }\n",
}
DOUBLE = Dialect("C", "const double", "double state[{}]", "(double)NAN", "(double)INFINITY")
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
CHECKED = "Inputs are checked: numbers must be finite and poses valid. Whatever goes in, a call ends in bounded time."
_CONDITIONING_ITERATIONS = 12
"""Fewest iterations for the distance to a singularity: Laguerre's method converges cubically, and from below."""
_STACK_OVERHEAD = 1.2
"""Stack without optimisation over what all values take: clang 14 adds up to 13 % (control_step of a hexapod), gcc 12
below 1 %."""
_STACK_SAVED, _STACK_FRAMES = 2.5, 256
"""Factor by which optimising reduces the stack at least, and bytes of the frames of small functions. Of what all values
take, gcc 12 needs 5 to 12 % with -O1 to -O3 and -Os, clang 14 5 to 33 % (inverse dynamics and steps of kim-ryu,
hexapod, delta; most in single precision, where it vectorises)."""
_ITERATIONS = (
    "Every loop takes {} iterations, whatever the state: calls differ in time by the processor's caches only. Look at "
    "residual and converged, which say whether that was enough."
)
_FLAGS = (
    "-fno-math-errno makes it faster and changes no number. With -ffast-math sums are taken in another order; inputs "
    "and outputs are still tested, by their bits."
)
SINGLE = (
    "Single precision: expect some 1e-5 of the largest numbers, less near singular poses; iterations of forward "
    "kinematics end where the error no longer falls."
)


class Function(NamedTuple):
    """An exported function in C or C++: its name, arrays, tests, struct of parameters, and code.

    ``code`` has all functions, ``loops`` the largest number of iterations of each that iterates, as macros.
    """

    name: str
    expression: Expression | Iteration
    judge: Judge
    struct: Struct | None
    code: str
    loops: tuple[Threshold, ...]

    def thresholds(self) -> str:
        """All numbers that tests and loops compare with, as macros."""
        return "".join(one.text() for one in (*self.judge.thresholds(), *self.loops))


def function_code(
    model: Model, function: str, friction: bool, dialect: Dialect, end: tuple[str, str], parameters: Sequence[str]
) -> Function:
    """A function of a model, or a step of a controller, in C or C++.

    Its name ends with ``end``: the first text, of a function that iterates the second.
    """
    numbers = ChosenNumbers(model.robot, parameters) if parameters else None
    single = number_type(dialect) == "float"
    step: Step | None = None
    expression: Expression | Iteration
    if function in STEPS:
        step = STEPS[function](model, friction, numbers, single)
        name = identifier(f"{model.robot.name}_{function}{'' if friction else '_without_friction'}{end[1]}")
        parts, expression = step.parts, step.expression
    elif function in MOTIONS:
        expression = motion_expression(model, function, single, numbers is not None)
        name = identifier(f"{model.robot.name}_{function}{end[iterates(expression)]}")
        parts = {"compute": expression}
    else:
        name, expression = named_expression(
            model, function, friction, numbers or False, single=single, further=(*STEPS, *MOTIONS)
        )
        name += end[iterates(expression)]
        parts = {"compute": expression}
    struct = None if numbers is None else Struct(name, dialect, numbers)
    codes, loops = [], []
    for part, one in parts.items():
        own, chosen = f"{name}_{part}", dialect_of(one, _enough(part, dialect))
        bound = ""
        if isinstance(one, Iteration) and (chosen.iterations or one.max_iterations):
            bound = f"{name}_{'' if part == 'compute' else part + '_'}MAX_ITERATIONS".upper()
            count = chosen.iterations or one.max_iterations
            about = "iterations, always" if chosen.iterations else "iterations at most"
            loops.append(Threshold(bound, str(count), about, own=False))
        codes.append(definition(own, one, chosen, struct=struct, bound=bound))
    if step is not None:
        prototype = _prototype(f"{name}_compute", expression, number_type(dialect), struct, "static void")
        codes.append(step.code(name, number_type(dialect), prototype))
    judge = Judge(
        model,
        name,
        expression,
        dialect,
        distance=step is not None and step.distance,
        clearance=step is not None and step.clearance,
        members=() if struct is None else struct.pointers(),
        guarded="" if step is None else step.guarded,
    )
    prototype = _prototype(name, expression, number_type(dialect), struct)
    code = "\n".join([judge.helpers(), *codes, judge.function(prototype)])
    return Function(name, expression, judge, struct, code, tuple(loops))


def _enough(part: str, dialect: Dialect) -> Dialect:
    """A dialect with as many iterations as a part needs: a distance to a singularity that is not yet found is too
    small, and would stop a machine without need."""
    if part != "conditioning" or not dialect.iterations:
        return dialect
    return replace(dialect, iterations=max(dialect.iterations, _CONDITIONING_ITERATIONS))


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
    that the robot has can be exported, steps of a controller (``control_step``, ``safe_step``), which chain several of
    them, and steps of online motion (``online_step``). A function without friction says so in its name.

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
    checked_iterations(iterations)
    dialect = replace(_DIALECTS[precision], iterations=iterations or 0)
    single = "" if precision == "double" else "_float"
    end = (single, f"{single}_{iterations}_iterations" if iterations else single)
    found = function_code(model, function, friction, dialect, end, parameters)
    name, struct = found.name, found.struct
    if not found.loops:
        iterations = None
    guard, stamp = f"{name.upper()}_H", Stamp.of(model, found)
    header = "\n".join(
        [
            comment(model, name, found.expression, friction, _target(precision, found, stamp, iterations)),
            f"#ifndef {guard}\n#define {guard}\n",
            enum(),
            f"{found.thresholds()}{stamp.check()}",
            '#ifdef __cplusplus\nextern "C" {\n#endif\n',
            f"extern const char {name}_stamp[];\n",
            *([] if struct is None else [struct.declaration()]),
            f"{_prototype(name, found.expression, precision, struct)};\n",
            "#ifdef __cplusplus\n}\n#endif\n",
            "#endif\n",
        ]
    )
    own = "" if struct is None else f"{struct.definition()}\n"
    includes = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
    start = f'#include "{name}.h"\n\n{includes}\n{stamp.guard()}\n{stamp.definition()}\n'
    return name, header, f"{start}{helpers(found.code, precision)}\n{own}{found.code}"


def checked_iterations(iterations: int | None) -> None:
    """Refuse a fixed number of iterations below one."""
    if iterations is not None and iterations < 1:
        raise InputError(f"iterations: at least 1 is needed, got {iterations}")


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
    struct: Struct | None = None,
    bound: str = "",
) -> str:
    """The text of a static C function; the robot's numbers that are inputs are an array, or members of a struct.

    ``bound`` is the macro of the largest number of its iterations.
    """
    prototype = _prototype(name, expression, number_type(dialect), struct, "static void")
    code = body(expression, dialect, bound=bound, **({} if struct is None else {"parameter": struct.access}))
    for label, _ in (pair for side in ports(expression) for pair in side):
        if not re.search(rf"\b{label}\b", code):
            code = f"    (void){label};\n{code}"
    return f"{prototype}\n{{\n{code}}}\n"


def number_type(dialect: Dialect) -> Precision:
    """The type of numbers in a dialect of C."""
    return "float" if dialect.suffix else "double"


def _target(precision: Precision, found: Function, stamp: Stamp, iterations: int | None) -> Target:
    """What the header says of the language, with the stack that the code takes at most."""
    size, code = 8 if precision == "double" else 4, found.code
    numbers = code.count(f"const {precision} ") + sum(map(int, re.findall(rf"{precision} \w+\[(\d+)\];", code)))
    most = math.ceil((_STACK_OVERHEAD * numbers * size + _STACK_FRAMES) / 1000)
    least = math.ceil((numbers * size / _STACK_SAVED + _STACK_FRAMES) / 1000)
    stack = (
        f"No recursion, no static data but the stamp. Without optimisation (-O0) every value has its own place and the "
        f"stack takes {most} kB at most; with -O1 and above {least} kB at most."
    )
    more = [SINGLE] if precision == "float" else []
    if iterations and iterates(found.expression):
        more.append(_ITERATIONS.format(iterations))
    elif found.loops:
        listed = ", ".join(f"{one.value} ({one.name})" for one in found.loops)
        more.append(f"Loops that iterate are bounded: at most {listed} iterations.")
    members = () if found.struct is None else tuple(found.struct.listed())
    return replace(
        _TARGET,
        arrays=_TARGET.arrays.replace("double", precision),
        notes=(stack, *more, _FLAGS),
        members=members,
        precision=precision,
        checked=CHECKED,
        returned=tuple(found.judge.returned()),
        stamp=stamp.text,
    )


def _prototype(
    name: str,
    expression: Expression | Iteration,
    number: Precision,
    struct: Struct | None = None,
    returned: str = "int",
) -> str:
    inputs, outputs = ports(expression)
    types = {} if struct is None else {"parameters": struct.type}
    arguments = [f"const {types.get(label, number)} *{label}" for label, _ in inputs]
    arguments += [f"{number} *{label}" for label, _ in outputs]
    line = f"{returned} {name}({', '.join(arguments)})"
    return line if len(line) < 110 else "{} {}(\n    {})".format(returned, name, ",\n    ".join(arguments))


@dataclass(frozen=True)
class Stamp:
    """Which robot a binary holds: polypod's version, digests of the robot's data and of the code, the function."""

    name: str
    text: str
    digest: str

    @classmethod
    def of(cls, model: Model, found: Function) -> Stamp:
        """Of an exported function."""
        code = hashlib.sha256((found.thresholds() + found.code).encode()).hexdigest()[:8]
        # a name in the robot's file must not end the text
        robot = re.sub(r"[^\w .+-]", "_", model.robot.name, flags=re.ASCII)
        text = f"polypod {__version__}; robot {robot}, sha256 {digest(model.robot)}; {found.name}, code {code}"
        return cls(found.name, text, code)

    def check(self) -> str:
        """The macro in the header that the source asks for."""
        return f"#define {self.name.upper()}_CODE 0x{self.digest}U /* of the source that belongs to this header */\n"

    def guard(self) -> str:
        """The lines in the source that refuse the header of another export."""
        return (
            f"#if {self.name.upper()}_CODE != 0x{self.digest}U\n"
            f'#error "{self.name}.h and {self.name}.c are of different exports"\n#endif\n'
        )

    def definition(self) -> str:
        """The constant, for the source."""
        return f'const char {self.name}_stamp[] = "{self.text}";\n'


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

    def pointers(self) -> list[tuple[str, int]]:
        """Every member as a pointer to its numbers in C, and how many they are."""
        return [(f"{'' if c.value.shape else '&'}parameters->{name}", c.length) for name, c in self.members]

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
