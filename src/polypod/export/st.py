"""A model function as a function block in structured text (IEC 61131-3), from the operations that are compiled.

Text of the standard's second edition, which all makers read: one assignment an operation, ``SEL`` for choices,
``REPEAT`` for iterations. What the standard lacks (atan2, floor, hyperbolic functions) are small functions in the same
file. Values that are no longer needed give their variables to others, since a PLC keeps those of a block for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..kernels import Expression
from ..mechanism.forward_kinematics import largest_residual
from ..model import Model
from ..model.arguments import ROTATION_TOLERANCE
from ..symbols.expression import Iteration, Port
from .c import SINGLE, Precision, checked_iterations, checked_precision
from .code import Dialect, body, iterates, literal, named_expression, ports
from .header import LEAST, Ports, Target, comment, home_value
from .status import MAY_BE_UNKNOWN, SINGLE_ROTATION_TOLERANCE, STATUS

MAX_ITERATIONS = 100_000
"""Of an iteration that does not say how many it takes at most."""
_LARGEST = 1e38
"""What is larger is not taken for a number."""
# Words that no variable may be called: those of the standard, and what CODESYS and TwinCAT add.
KEYWORDS = frozenset({
    "abs", "abstract", "action", "acos", "add", "and", "any", "array", "asin", "at", "atan", "begin", "bool", "by",
    "byte", "case", "concat", "constant", "configuration", "continue", "cos", "date", "dint", "div", "do", "dt",
    "dword", "else", "elsif", "end_case", "end_for", "end_function", "end_if", "end_repeat", "end_while", "eq",
    "exit", "exp", "expt", "extends", "external", "f_edge", "false", "final", "find", "for", "from", "function",
    "ge", "global", "goto", "gt", "if", "implements", "initial_step", "insert", "int", "interface", "internal",
    "interval", "jmp", "ld", "ldn", "le", "left", "len", "limit", "lint", "ln", "log", "lreal", "lt", "lword",
    "max", "method", "mid", "min", "mod", "move", "mul", "mux", "namespace", "ne", "not", "null", "of", "on", "or",
    "override", "overlap", "pointer", "pragma", "private", "program", "property", "protected", "public", "r_edge",
    "read_only", "read_write", "real", "ref", "reference", "repeat", "replace", "resource", "ret", "retain",
    "return", "right", "rol", "ror", "round", "s", "sel", "shl", "shr", "sin", "single", "sint", "sqrt", "st",
    "step", "stn", "string", "struct", "sub", "super", "task", "tan", "then", "this", "time", "to", "tod",
    "transition", "trunc", "true", "type", "udint", "uint", "ulint", "union", "until", "using", "usint", "var",
    "var_temp", "while", "with", "word", "wstring", "xor",
})  # fmt: skip
_CALLS = {
    "fabs": "ABS", "sqrt": "SQRT", "sin": "SIN", "cos": "COS", "tan": "TAN", "asin": "ASIN", "acos": "ACOS",
    "atan": "ATAN", "exp": "EXP", "log": "LN", "pow": "EXPT",
}  # fmt: skip
# Functions that the standard lacks, or whose treatment of what is not a number it leaves open. A zero has no sign here.
_HELPERS = {
    "smaller": ("a, b", "IF a <> a OR a < b THEN {0} := a; ELSE {0} := b; END_IF;"),
    "larger": ("a, b", "IF a <> a OR a > b THEN {0} := a; ELSE {0} := b; END_IF;"),
    "sign": (
        "a",
        "IF a > {zero} THEN {0} := {one}; ELSIF a < {zero} THEN {0} := -{one}; ELSE {0} := a; END_IF;",
    ),
    "copysign": ("a, b", "IF b < {zero} THEN {0} := -ABS(a); ELSE {0} := ABS(a); END_IF;"),
    "atan2": (
        "a, b",
        """IF ABS(b) >= ABS(a) AND b <> {zero} THEN
        {0} := ATAN(a / b);
        IF b < {zero} AND a < {zero} THEN {0} := ATAN(a / b) - {pi}; END_IF;
        IF b < {zero} AND a >= {zero} THEN {0} := ATAN(a / b) + {pi}; END_IF;
    ELSIF a > {zero} THEN
        {0} := {half_pi} - ATAN(b / a);
    ELSIF a < {zero} THEN
        {0} := -{half_pi} - ATAN(b / a);
    ELSE
        {0} := a + b;
    END_IF;""",
    ),
    # whether conversions round or truncate
    "floor": (
        "a",
        """IF ABS(a) < {whole} THEN
        {0} := {integer}_TO_{number}({number}_TO_{integer}(a));
        IF {integer}_TO_{number}({number}_TO_{integer}(a)) > a THEN
            {0} := {integer}_TO_{number}({number}_TO_{integer}(a)) - {one};
        END_IF;
    ELSE
        {0} := a;
    END_IF;""",
    ),
    "ceil": (
        "a",
        """IF ABS(a) < {whole} THEN
        {0} := {integer}_TO_{number}({number}_TO_{integer}(a));
        IF {integer}_TO_{number}({number}_TO_{integer}(a)) < a THEN
            {0} := {integer}_TO_{number}({number}_TO_{integer}(a)) + {one};
        END_IF;
    ELSE
        {0} := a;
    END_IF;""",
    ),
    "tanh": (
        "a",
        """IF ABS(a) < {small} THEN
        {0} := a * ({one} - a * a * ({third} - a * a * ({tanh_5} - a * a * ({tanh_7} - a * a * {tanh_9}))));
    ELSIF a > {zero} THEN
        {0} := ({one} - EXP(-a - a)) / ({one} + EXP(-a - a));
    ELSE
        {0} := (EXP(a + a) - {one}) / (EXP(a + a) + {one});
    END_IF;""",
    ),
    "sinh": (
        "a",
        """IF ABS(a) < {small} THEN
        {0} := a * ({one} + a * a * ({sixth} + a * a * ({sinh_5} + a * a * {sinh_7})));
    ELSE
        {0} := (EXP(a) - EXP(-a)) * {half};
    END_IF;""",
    ),
    "cosh": ("a", "{0} := (EXP(a) + EXP(-a)) * {half};"),
}
_NUMBER = {name: number for number, name in enumerate(STATUS)}
_MEANINGS = "; ".join(f"{number}: {STATUS[name]}" for name, number in _NUMBER.items())
_EXCEPTIONS = (
    "Where a leg does not reach a pose, roots of negative numbers are taken and status is "
    f"{_NUMBER['NEAR_SINGULAR']}: switch "
    "floating-point exceptions of the task off (TwinCAT: System, Tasks, the task, 'Floating point exceptions'), or "
    "keep poses within reach."
)
_ITERATIONS = (
    "Every loop takes as many iterations as the name says, whatever the state; status says whether they sufficed."
)
_NUMBERS = {
    "zero": 0.0, "one": 1.0, "half": 0.5, "pi": 3.141592653589793, "half_pi": 1.5707963267948966, "small": 0.02,
    "third": 1 / 3, "tanh_5": 2 / 15, "tanh_7": 17 / 315, "tanh_9": 62 / 2835, "sixth": 1 / 6, "sinh_5": 1 / 120,
    "sinh_7": 1 / 5040,
}  # fmt: skip


@dataclass(frozen=True)
class StructuredText(Dialect):
    """Structured text of numbers of a type; functions of the file itself begin with ``prefix``."""

    number: str = "LREAL"
    prefix: str = ""

    words: ClassVar[dict[str, str]] = {"eq": "=", "ne": "<>", "and": "AND", "or": "OR"}

    def define(self, name: str, text: str) -> str:
        """An assignment: variables are declared on top."""
        return f"{name} := {text};"

    def store(self, target: str, text: str) -> str:
        """The same to an element of an array."""
        return f"{target} := {text};"

    def choice(self, condition: str, value: str, other: str) -> str:
        """A value if a condition holds, or another: the standard's SEL has them the other way round."""
        return f"SEL({condition}, {other}, {value})"

    def decimal(self, value: float) -> str:
        """A number with its type and, as the standard wants, with digits behind the point."""
        mantissa, _, exponent = repr(value).partition("e")
        point = mantissa if "." in mantissa else f"{mantissa}.0"
        return f"{self.number}#{point}{f'E{int(exponent)}' if exponent else ''}"

    def block(self, condition: str, lines: str) -> str:
        """Statements that are executed if a condition holds."""
        return f"        IF {condition} THEN\n{lines}        END_IF;\n"

    def loop(self, going: str, lines: str, moves: Sequence[str], most: str) -> str:
        """Statements repeated while ``going`` holds, ``most`` times at most, or always."""
        if self.iterations:
            head, ends = f"    FOR iteration := 1 TO {most} DO\n        going := {going};\n", "    END_FOR;\n"
        else:
            head = f"    iteration := 0;\n    WHILE {going} AND iteration < {most} DO\n"
            ends = "        iteration := iteration + 1;\n    END_WHILE;\n"
        return head + lines + self.moved(moves, "going") + ends


def export_st(
    model: Model,
    function: str = "inverse_kinematics",
    friction: bool = True,
    precision: Precision = "double",
    iterations: int | None = None,
) -> tuple[str, str]:
    """A model function as a function block in structured text, for PLCs (IEC 61131-3).

    The block has an array for each input and output of one state, as the C function does, and a ``status``: 0 if the
    outputs are the answer. It computes at every call; its iterations are bounded.

    Parameters
    ----------
    model : Model
        Model of the robot.
    function : str, optional
        Name of the model function.
    friction : bool, optional
        Whether friction in the joints is included.
    precision : {'double', 'float'}, optional
        Numbers of type LREAL or REAL.
    iterations : int, optional
        Fixed number of iterations of functions that iterate, so that every call takes the same time. Default: until
        convergence.

    Returns
    -------
    name : str
        Name of the function block.
    source : str
        Text of the file.

    Examples
    --------
    >>> name, source = export_st(Model("hexapod"), "inverse_kinematics")
    >>> next(line for line in source.splitlines() if line.startswith("FUNCTION_BLOCK"))
    'FUNCTION_BLOCK hexapod_inverse_kinematics'
    """
    checked_precision(precision)
    checked_iterations(iterations)
    single = precision == "float"
    name, expression = named_expression(model, function, friction, single=single)
    fixed = iterations if iterates(expression) else None
    name = block_name(name + ("_float" if single else "") + (f"_{fixed}_iterations" if fixed else ""))
    dialect = StructuredText(
        "structured text",
        "",
        "",
        "not_a_number",
        "infinite",
        calls=lambda called: _CALLS.get(called, f"{name}_{called}"),
        iterations=iterations or 0,
        most=MAX_ITERATIONS,
        reuses=True,
        narrow=True,  # as compilers read them that read all literals as single numbers first (matiec)
        number="REAL" if single else "LREAL",
    )
    target = _target(dialect, bool(fixed))
    code = _block(model, name, expression, dialect)
    helpers = "".join(
        f"{helper_function(f'{name}_{helper}', helper, dialect)}\n"
        for helper in _HELPERS
        if f"{name}_{helper}(" in code
    )
    return name, f"{comment(model, name, expression, friction, target)}\n\n{helpers}{code}"


def st_files(
    model: Model, function: str, friction: bool, precision: Precision = "double", iterations: int | None = None
) -> dict[str, str]:
    """Structured text of a model function.

    Parameters
    ----------
    model : Model
        Model of the robot.
    function : str
        Name of the model function.
    friction : bool
        Whether friction in the joints is included.
    precision : {'double', 'float'}, optional
        Numbers of type LREAL or REAL.
    iterations : int, optional
        Fixed number of iterations of functions that iterate.

    Returns
    -------
    dict of str to str
        Texts by file name.
    """
    name, source = export_st(model, function, friction, precision, iterations)
    return {f"{name}.st": source}


def block_name(text: str) -> str:
    """A name of the standard: no two underscores in turn, none at the end.

    Examples
    --------
    >>> block_name("my__robot_jacobian_")
    'my_robot_jacobian'
    """
    return re.sub(r"__+", "_", text).rstrip("_")


def variable(label: str) -> str:
    """A variable for an input or output, whose name may be one of the language's words.

    Examples
    --------
    >>> variable("internal"), variable("pose")
    ('internal_value', 'pose')
    """
    return f"{label}_value" if label in KEYWORDS else label


def _block(model: Model, name: str, expression: Expression | Iteration, dialect: StructuredText) -> str:
    inputs, outputs = ports(expression)
    code = body(expression, dialect)
    for label, port in outputs:
        if not port.shape:
            code = re.sub(rf"\b{label}\[0\]", label, code)
    for label, _ in (*inputs, *outputs):
        code = re.sub(rf"\b{label}\b", variable(label), code)
    if "not_a_number" in code:
        code = f"    not_a_number := nothing / nothing;\n{code}"
    if "infinite" in code:
        code = f"    infinite := {dialect.decimal(1.0)} / nothing;\n{code}"
    number = dialect.number
    used = sorted(set(re.findall(r"\b[abcdenpv]\d+\b", code)), key=lambda one: (one[0], int(one[1:])))
    has_pose = any(port.name == "pose" for _, port in inputs)
    sizes = [int(k) for k in re.findall(r"\bstate\[(\d+)\]", code)]
    lines = [
        f"FUNCTION_BLOCK {name}",
        "VAR_INPUT",
        *(f"    {variable(label)} : {_type(port, number)};" for label, port in inputs),
        "END_VAR",
        "VAR_OUTPUT",
        *(f"    {variable(label)} : {_type(port, number)};" for label, port in outputs),
        "    status : INT;",
        "END_VAR",
        "VAR",
        *(f"    {', '.join(used[k : k + 12])} : {number};" for k in range(0, len(used), 12)),
        *([f"    state : ARRAY [0..{max(sizes)}] OF {number};", "    iteration : DINT;"] if sizes else []),
        *(["    going : BOOL;"] if "going" in code else []),
        *(f"    {word} : {number};" for word in ("not_a_number", "infinite") if word in code),
        *([f"    nothing : {number} := {dialect.decimal(0.0)};"] if re.search(r"\bnothing\b", code) else []),
        "    number : DINT;",
        *(["    row : DINT;", "    column : DINT;", f"    difference, worst : {number};"] if has_pose else []),
        "END_VAR",
        "    status := 0;",
        *_input_tests(inputs, dialect),
        "    IF status <> 0 THEN RETURN; END_IF;",
        code.rstrip("\n"),
        *_output_tests(model, outputs, dialect),
        "END_FUNCTION_BLOCK",
    ]
    return "\n".join(lines) + "\n"


def _type(port: Port, number: str) -> str:
    return f"ARRAY [0..{port.length - 1}] OF {number}" if port.shape else number


def _input_tests(inputs: Ports, dialect: StructuredText) -> Iterator[str]:
    """The status of what is not a finite number, and for a pose that is not a rotation and a position."""
    for label, port in inputs:
        yield from _not_finite(label, port, "INVALID_INPUT", dialect)
        if port.name == "pose":
            pose, one, zero = variable(label), dialect.decimal(1.0), dialect.decimal(0.0)
            tolerance = dialect.decimal(ROTATION_TOLERANCE if dialect.number == "LREAL" else SINGLE_ROTATION_TOLERANCE)
            yield f"    worst := ABS({pose}[12]) + ABS({pose}[13]) + ABS({pose}[14]) + ABS({pose}[15] - {one});"
            yield "    FOR row := 0 TO 2 DO"
            yield "        FOR column := 0 TO 2 DO"
            yield f"            difference := SEL(row = column, {zero}, -{one});"
            for k in (0, 4, 8):
                yield f"            difference := difference + {pose}[{k} + row] * {pose}[{k} + column];"
            yield "            difference := ABS(difference);"
            yield "            IF difference > worst THEN worst := difference; END_IF;"
            yield "        END_FOR;"
            yield "    END_FOR;"
            yield f"    IF NOT (worst <= {tolerance}) THEN status := {_NUMBER['INVALID_INPUT']}; END_IF;"


def _not_finite(label: str, port: Port, status: str, dialect: StructuredText) -> Iterator[str]:
    largest = dialect.decimal(_LARGEST)
    name = variable(label)
    if not port.length:
        return
    if not port.shape:
        yield f"    IF NOT (ABS({name}) <= {largest}) THEN status := {_NUMBER[status]}; END_IF;"
        return
    yield f"    FOR number := 0 TO {port.length - 1} DO"
    yield f"        IF NOT (ABS({name}[number]) <= {largest}) THEN status := {_NUMBER[status]}; END_IF;"
    yield "    END_FOR;"


def _output_tests(model: Model, outputs: Ports, dialect: StructuredText) -> Iterator[str]:
    """The statuses of the exported C, from the last test to the first, which wins."""
    known = dict(outputs)
    for label, port in outputs:
        if port.name not in (*MAY_BE_UNKNOWN, "residual", "quality", "converged"):
            yield from _not_finite(label, port, "NOT_FINITE", dialect)
    if "condition" in known:
        yield from _not_finite("condition", known["condition"], "NEAR_SINGULAR", dialect)
    if "converged" in known:
        yield f"    IF NOT (converged > {dialect.decimal(0.5)}) THEN status := {_NUMBER['NOT_CONVERGED']}; END_IF;"
    if "quality" in known:
        least = dialect.decimal(float(LEAST))
        yield f"    IF NOT (quality > {least}) THEN status := {_NUMBER['NEAR_SINGULAR']}; END_IF;"
    if "residual" in known:
        most = float(f"{largest_residual(model.size, model.robot, dialect.number == 'REAL'):.2g}")
        yield f"    IF NOT (residual <= {dialect.decimal(most)}) THEN status := {_NUMBER['NO_SOLUTION']}; END_IF;"


def helper_function(name: str, helper: str, dialect: StructuredText | None = None) -> str:
    """A function that the language lacks, by C's name of it; of numbers of type LREAL without a dialect."""
    dialect = dialect or StructuredText("structured text", "", "", "", "")
    arguments, code = _HELPERS[helper]
    single = dialect.number == "REAL"
    known = {key: dialect.decimal(value) for key, value in _NUMBERS.items()}
    known |= {
        "number": dialect.number,
        "integer": "DINT" if single else "LINT",
        "whole": dialect.decimal(2.0**23 if single else 2.0**52),
    }
    return (
        f"FUNCTION {name} : {dialect.number}\nVAR_INPUT\n    {arguments} : {dialect.number};\nEND_VAR\n"
        f"    {code.format(name, **known)}\nEND_FUNCTION\n"
    )


def _target(dialect: StructuredText, fixed: bool) -> Target:
    def program(model: Model, name: str, inputs: Ports, outputs: Ports, residual: str, number: str) -> list[str]:
        return list(_example(model, name, inputs, outputs, dialect))

    single = dialect.number == "REAL"
    return Target(
        arrays=f"Arrays are ARRAY [0..n-1] OF {dialect.number}, matrices by rows; a number alone has no index.",
        apart="",
        checked="Inputs are checked.",
        input="A block keeps nothing from one call to the next that its outputs depend on.",
        use="Structured text of IEC 61131-3, second edition and later, for CODESYS, TwinCAT and their kin.",
        command="",
        example="Example of a program, at home and at rest:",
        program=program,
        notes=(
            f"Values of status, as in exported C: {_MEANINGS}.",
            *([SINGLE] if single else []),
            *([_ITERATIONS] if fixed else []),
            _EXCEPTIONS,
        ),
        brackets=("(*", "*)"),
        precision="float" if single else "double",
    )


def _example(model: Model, name: str, inputs: Ports, outputs: Ports, dialect: StructuredText) -> Iterator[str]:
    """A program that calls the block at home and at rest, and takes its first output."""
    first, port = outputs[0]
    given = [(variable(label), port, home_value(model, port)) for label, port in inputs]
    yield "PROGRAM example"
    yield "VAR"
    yield f"    block : {name};"
    for label, one, values in given:
        texts = [literal(dialect, value).strip("()") for value in values.ravel().tolist()]
        yield f"    {label} : {_type(one, dialect.number)}{'' if any(values.ravel()) else ';'}"
        if any(values.ravel()):
            rows = [", ".join(texts[k : k + 4]) for k in range(0, len(texts), 4)]
            yield f"        := [{rows[0]}{',' if len(rows) > 1 else '];'}"
            yield from (f"            {row}{',' if k < len(rows) - 1 else '];'}" for k, row in enumerate(rows) if k)
    yield f"    {variable(first)} : {_type(port, dialect.number)};"
    yield "END_VAR"
    yield f"    block({', '.join(f'{label} := {label}' for label, _, _ in given)});"
    yield f"    IF block.status = 0 THEN {variable(first)} := block.{variable(first)}; END_IF;"
    yield "END_PROGRAM"
