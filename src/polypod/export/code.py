"""Model functions as text of a programming language: one printer of operations, a dialect for each language.

A function writes to arrays that it is given: one statement an operation, in the order of the graph, so that every
language computes the same numbers but for the rounding of its mathematics library.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import ClassVar

import casadi as ca

from ..errors import UnknownNameError
from ..formulations.discrete_step import discrete_step
from ..kernels import Expression
from ..limits.symbols import uses_expression, uses_of_outputs
from ..mechanism import Mechanism
from ..mechanism.acting_elements import has_elements
from ..mechanism.closing import closed
from ..mechanism.dependent_coordinates import motion_with_actuators
from ..mechanism.forward_kinematics import forward_kinematics, forward_kinematics_with_coordinates
from ..model import Model
from ..model.discrete_step import refuse_discrete_step
from ..model.kernels import FUNCTIONS, Kernels
from ..parameters.chosen import ChosenNumbers
from ..platforms import DegreesOfFreedom
from ..symbols.bounded import MOST_FREE
from ..symbols.expression import Iteration, Port
from ..symbols.graph import SELECT, Graph, unsupported

LIMITS, CLEARANCE, BOUNDED = "limits", "clearance", "bounded_inverse_dynamics"
"""The use of every limit of a state, and distances between bodies, which are no kernels of the model."""
DISCRETE_STEP = "discrete_step"
"""A step of time with its sensitivities, of robots for which ``Model.step`` is one function."""
LIMIT_USES = "limit_uses"
"""The same from what is known of a state already; a part of other functions only."""
_INFIX = {ca.OP_ADD: "+", ca.OP_SUB: "-", ca.OP_MUL: "*", ca.OP_DIV: "/"}
_FORMS = {
    ca.OP_SQ: "{0} * {0}", ca.OP_TWICE: "{0} + {0}", ca.OP_NEG: "-{0}", ca.OP_INV: "{one} / {0}", ca.OP_ASSIGN: "{0}",
}  # fmt: skip
# condition, value if it holds, value if not
_CHOICES = {
    ca.OP_NOT: ("{0} {eq} {zero}", "{one}", "{zero}"),
    ca.OP_AND: ("{0} {ne} {zero} {and} {1} {ne} {zero}", "{one}", "{zero}"),
    ca.OP_OR: ("{0} {ne} {zero} {or} {1} {ne} {zero}", "{one}", "{zero}"),
    ca.OP_IF_ELSE_ZERO: ("{0} {ne} {zero}", "{1}", "{zero}"), SELECT: ("{0} {ne} {zero}", "{1}", "{2}"),
    ca.OP_LT: ("{0} < {1}", "{one}", "{zero}"), ca.OP_LE: ("{0} <= {1}", "{one}", "{zero}"),
    ca.OP_EQ: ("{0} {eq} {1}", "{one}", "{zero}"), ca.OP_NE: ("{0} {ne} {1}", "{one}", "{zero}"),
}  # fmt: skip
_STARTS = 80
"""Poses about the guess where forward kinematics begins again if it found nothing."""
_SMALLEST_FLOAT, _LARGEST_FLOAT = 1.1754944e-38, 3.4028235e38
# C's names of functions, and three that C lacks.
_CALLS = {
    ca.OP_SQRT: "sqrt", ca.OP_FABS: "fabs", ca.OP_SIN: "sin", ca.OP_COS: "cos", ca.OP_TAN: "tan", ca.OP_EXP: "exp",
    ca.OP_LOG: "log", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil", ca.OP_COPYSIGN: "copysign", ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_ATAN2: "atan2",
    ca.OP_TANH: "tanh", ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_FMIN: "smaller", ca.OP_FMAX: "larger",
    ca.OP_SIGN: "sign",
}  # fmt: skip

# Words that a namespace cannot be called.
_KEYWORDS = frozenset({
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "requires", "return", "short", "signed",
    "sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "typeid",
    "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor", "xor_eq", "std",
})  # fmt: skip


@dataclass(frozen=True)
class Dialect:
    """What differs between languages: fields for those of C's family, methods for the others.

    ``value`` declares a number that stays as it is, ``state`` an array ``state`` of {0} numbers. ``calls`` gives the
    name of a function by C's; ``smaller``, ``larger`` and ``sign`` are none of C's: a language has its own, or defines
    them. ``suffix`` ends a number. With ``iterations`` an iteration takes that many, whatever its state: those after
    its last change nothing. ``counter`` declares the count of iterations in a loop that has a bound; an iteration that
    has none takes ``most``, if that is not 0. With ``reuses`` a variable takes the place of one that is no
    longer needed, where a language has no numbers that stay as they are. ``narrow``: literals in the range of single
    precision only.
    """

    language: str
    value: str
    state: str
    nan: str
    infinity: str
    calls: Callable[[str], str] = str
    suffix: str = ""
    iterations: int = 0
    counter: str = "int"
    most: int = 0
    reuses: bool = False
    narrow: bool = False
    words: ClassVar[dict[str, str]] = {"eq": "==", "ne": "!=", "and": "&&", "or": "||"}

    def define(self, name: str, text: str) -> str:
        """A statement that gives a new value a name."""
        return f"{self.value} {name} = {text};"

    def store(self, target: str, text: str) -> str:
        """A statement that writes to an element of an array."""
        return f"{target} = {text};"

    def choice(self, condition: str, value: str, other: str) -> str:
        """A value if a condition holds, or another."""
        return f"{condition} ? {value} : {other}"

    def decimal(self, value: float) -> str:
        """A finite number: the shortest decimal that reads back to the same double."""
        return f"{value!r}{self.suffix}"

    def block(self, condition: str, lines: str) -> str:
        """Statements that are executed if a condition holds."""
        return f"        if ({condition}) {{\n{lines}        }}\n"

    def loop(self, going: str, lines: str, moves: Sequence[str], most: str) -> str:
        """Statements repeated while ``going`` holds, ``most`` times at most (or always, if the number is fixed).

        ``moves`` are new values of the state; an empty ``most`` is no bound.
        """
        counted = f"    for ({self.counter} round = 0; round < {most}"
        ends = "    }\n"
        if self.iterations:
            head = f"{counted}; round++) {{\n        const int going = {going};\n"
        elif most:
            head = f"{counted} && {going}; round++) {{\n"
        else:
            head, ends = "    do {\n", f"    }} while ({going});\n"
        return head + lines + self.moved(moves, "going") + ends

    def moved(self, moves: Sequence[str], going: str) -> str:
        """The state's new values. One may be another's old one: all are read before any is written."""
        lines = [f"        {self.define(f'n{k}', value)}\n" for k, value in enumerate(moves)]
        for k in range(len(moves)):
            new = self.choice(going, f"n{k}", f"state[{k}]") if self.iterations else f"n{k}"
            lines.append(f"        {self.store(f'state[{k}]', new)}\n")
        return "".join(lines)


def named_expression(
    model: Model,
    function: str,
    friction: bool,
    parameters: bool | ChosenNumbers = False,
    search: bool = True,
    further: tuple[str, ...] = (),
    single: bool = False,
) -> tuple[str, Expression | Iteration]:
    """Name of a model function in exported code, and its expression; a format may have ``further`` functions.

    The robot's numbers are constants in it, or inputs: all of them (``parameters``), or those chosen. With ``search``
    forward kinematics looks about the guess too, as ``Model.forward_kinematics`` does; a controller's step must not.
    Iterations of code in ``single`` precision end where such numbers do.
    """
    known = available_functions(model)
    if function not in (*known, LIMIT_USES):
        raise UnknownNameError("model function", function, (*known, *further))
    name = function_name(model, function, friction)
    if isinstance(parameters, ChosenNumbers):
        mechanism = mechanism_of(model, parameters, single)
        expression = _expression(model, model.kernels, mechanism, function, friction, search)
        return name, chosen_inputs(expression, mechanism, parameters)
    kernels = model.kernels if parameters else Kernels(model.robot, replace(model.kernels.options, specialise=True))
    mechanism = kernels.mechanism
    if single:
        mechanism = Mechanism(model.robot, model.kernels.options.simplify, specialise=not parameters, single=True)
    return name, _expression(model, kernels, mechanism, function, friction, search)


def _expression(
    model: Model, kernels: Kernels, mechanism: Mechanism, function: str, friction: bool, search: bool
) -> Expression | Iteration:
    """A function of the model, or the use of its limits, whose bounds are constants."""
    if function == LIMITS:
        return uses_expression(kernels, mechanism, model.robot_limits, friction, model.clearances)
    if function == CLEARANCE:
        return closed(mechanism, model.clearances.function.constant_expression(mechanism))
    if function == LIMIT_USES:
        return uses_of_outputs(mechanism, model.robot_limits)
    if function == BOUNDED:
        return kernels.expression(mechanism.with_bounds, "inverse_dynamics", friction)
    if function == DISCRETE_STEP:
        refuse_discrete_step(model, friction)
        return discrete_step(mechanism, friction, kernels.options.dry, sensitivities=True, once=True)
    lower = not DegreesOfFreedom(mechanism.robot).full
    # legs that iterations close are not known beside them: their motors follow from inverse_kinematics of the pose
    if function == "motion" and lower and not mechanism.implicit_legs:
        return closed(mechanism, motion_with_actuators(mechanism))
    if function == "forward_kinematics" and search:
        # coordinates of joints that iterations close are not known beside them
        whole = lower and not (mechanism.coordinate_joints and mechanism.implicit_legs)
        make = forward_kinematics_with_coordinates if whole else forward_kinematics
        return closed(mechanism, make(mechanism, _STARTS))
    return kernels.expression(mechanism, function, friction)


def mechanism_of(model: Model, numbers: ChosenNumbers, single: bool = False) -> Mechanism:
    """The robot in symbols, the numbers chosen among them."""
    return Mechanism(model.robot, model.kernels.options.simplify, numbers.is_free, single=single)


def chosen_inputs(
    expression: Expression | Iteration, mechanism: Mechanism, numbers: ChosenNumbers
) -> Expression | Iteration:
    """A function of that robot with the chosen numbers as its parameters, all others constants."""
    return expression.rebound(numbers.expressions(mechanism.numbers), numbers.port)


def function_name(model: Model, function: str, friction: bool) -> str:
    """The name of an exported function: two that differ in their friction can be linked together."""
    without = "" if friction or not takes_friction(function) else "_without_friction"
    return identifier(f"{model.robot.name}_{function}{without}")


def takes_friction(function: str) -> bool:
    """Whether friction in the joints is an option of a function: as its method of the model says."""
    method = getattr(Model, function, None)
    return function in (BOUNDED, DISCRETE_STEP) or (method is not None and "friction" in signature(method).parameters)


def available_functions(model: Model) -> tuple[str, ...]:
    """Functions that a robot has: a rigid platform has no shape, coordinates do not tell how a flexible one moves.

    A free platform has no coordinates but its pose; what follows from coordinates is solved for platforms only that
    move as their legs let them; coordinates of joints are found where they are the robot's own.
    """
    missing: tuple[str, ...] = ("twist", "acceleration", "stiffness") if model.robot.flexible else ("steady_shape",)
    if not model.kernels.mechanism.platform.is_constrained:
        missing += ("follow", "rate_map")
    if DegreesOfFreedom(model.robot).full:
        missing += ("motion", "coordinates")
    if not has_elements(model.kernels.mechanism):
        missing += ("elements",)
    if not model.kernels.mechanism.coordinate_joints:
        missing += ("joint_coordinates",)
    own = () if model.robot.flexible else (LIMITS, *([CLEARANCE] if model.clearances.function.pairs else []))
    if 0 < len(model.actuators) - model.mobility.count <= MOST_FREE:
        own += (BOUNDED,)
    if not (model.robot.flexible or model.robot.dof or model.internal or model.kernels.mechanism.implicit_legs):
        own += (DISCRETE_STEP,)
    return (*(name for name in FUNCTIONS if name not in missing), *own)


def identifier(text: str) -> str:
    """A name of a function for a text.

    Examples
    --------
    >>> identifier("6-ups_jacobian"), identifier("kim-ryu_jacobian")
    ('robot_6_ups_jacobian', 'kim_ryu_jacobian')
    """
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return name if name[:1].isalpha() else f"robot_{name.lstrip('_')}"


def namespace(model: Model) -> str:
    """The robot's name as a namespace within ``polypod``."""
    name = identifier(model.robot.name)
    return f"{name}_robot" if name in _KEYWORDS else name


def ports(expression: Expression | Iteration) -> tuple[list[tuple[str, Port]], list[tuple[str, Port]]]:
    """Inputs (parameters last) and outputs with their names; an output that shares an input's name gets a suffix."""
    inputs = [(port.name, port) for port in (*expression.inputs, expression.parameters) if port is not None]
    taken = {name for name, _ in inputs}
    return inputs, [(f"{p.name}_found" if p.name in taken else p.name, p) for p in expression.outputs]


def dialect_of(expression: Expression | Iteration, dialect: Dialect) -> Dialect:
    """The dialect for a function: iterations that are counted anyway take no other number."""
    return replace(dialect, iterations=0) if isinstance(expression, Iteration) and expression.counted else dialect


def iterates(expression: Expression | Iteration) -> bool:
    """Whether a function iterates until its state tells it to end, or a number of times that is chosen."""
    return isinstance(expression, Iteration) and not expression.counted


def body(
    expression: Expression | Iteration,
    dialect: Dialect,
    parameter: Callable[[int], str] = "parameters[{}]".format,
    bound: str = "",
) -> str:
    """The statements of a function whose arguments are its inputs and outputs; ``parameter`` writes the k-th one.

    ``bound`` is the text of the largest number of iterations, unless that is the number itself.
    """
    dialect = dialect_of(expression, dialect)
    inputs, outputs = ports(expression)
    names, results = [name for name, _ in inputs], [name for name, _ in outputs]
    program = expression.program
    before = ""
    derived: Sequence[str] = ()
    if program.prepare is not None:
        before, (derived,) = _statements(dialect, program.prepare, lambda _, k: parameter(k), "p", "    ")

    def given(array: int, k: int) -> str:
        return f"{names[array]}[{k}]" if array < len(expression.inputs) else derived[k]

    if program.loop is None:
        code, values = _statements(dialect, program.body, given, "v", "    ")
        return before + code + _stores(dialect, results, values)
    once, (shared,) = _statements(dialect, program.body, given, "a", "    ")

    size, renew = len(program.loop.start.outputs[0]), program.loop.renew

    def source(array: int, k: int) -> str:
        return shared[k] if array == 1 else f"state[{k if array == 0 else size + k}]"

    # What stays the same; start; do step while not done; finish. The state's last number is the flag; behind it is what
    # is computed anew in some iterations only.
    first, initial = _statements(dialect, program.loop.start, source, "b", "    ")
    loop, moved = _statements(dialect, program.loop.step, source, "c", "        ")
    last, values = _statements(dialect, program.loop.finish, source, "d", "    ")
    lines = []
    if dialect.state:
        lines.append(f"    {dialect.state.format(size + (0 if renew is None else len(renew.outputs[0])))};\n")
    zero = dialect.decimal(0.0)
    if renew is not None:
        anew, (kept,) = _statements(dialect, renew, source, "e", "            ")
        anew += "".join(f"            {dialect.store(f'state[{size + k}]', value)}\n" for k, value in enumerate(kept))
        loop = dialect.block(f"state[{program.loop.count}] {dialect.words['eq']} {zero}", anew) + loop
    lines += [before, once, first]
    lines += [f"    {dialect.store(f'state[{k}]', value)}\n" for k, value in enumerate(initial[0])]
    own = expression.max_iterations if isinstance(expression, Iteration) else 0
    most = bound or str(dialect.iterations or own or dialect.most or "")
    lines += [dialect.loop(f"state[{size - 1}] {dialect.words['eq']} {zero}", loop, moved[0], most), last]
    lines.append(_stores(dialect, results, values))
    return "".join(lines)


def _stores(dialect: Dialect, names: Sequence[str], outputs: Sequence[Sequence[str]]) -> str:
    return "".join(
        f"    {dialect.store(f'{name}[{k}]', value)}\n"
        for name, row in zip(names, outputs, strict=True)
        for k, value in enumerate(row)
    )


def _statements(
    dialect: Dialect, graph: Graph, source: Callable[[int, int], str], letter: str, indent: str
) -> tuple[str, list[list[str]]]:
    """One statement an operation, and the names of the outputs' values."""
    values: list[str] = []
    lines: list[str] = []
    places = _reused_places(graph) if dialect.reuses else range(len(graph.operations))
    for number, step in enumerate(graph.operations):
        if step.op == ca.OP_INPUT:
            values.append(source(*step.source))
        elif step.op == ca.OP_CONST:
            values.append(literal(dialect, step.constant))
        else:
            name = f"{letter}{places[number]}"
            text = _operation(dialect, step.op, [values[i] for i in step.arguments])
            lines.append(f"{indent}{dialect.define(name, text)}\n")
            values.append(name)
    return "".join(lines), [[values[i] for i in row] for row in graph.outputs]


def _reused_places(graph: Graph) -> list[int]:
    """A place for every value such that none is written while the one before it there is still needed."""
    last = {i: number for number, step in enumerate(graph.operations) for i in step.arguments}
    last |= dict.fromkeys((i for row in graph.outputs for i in row), len(graph.operations))
    places: list[int] = []
    free: list[int] = []
    count = 0
    for number, step in enumerate(graph.operations):
        if step.op in (ca.OP_INPUT, ca.OP_CONST):
            places.append(-1)
            continue
        # an operation reads all its arguments before it writes: it may take the place of one
        ends = {places[i] for i in step.arguments if last[i] == number and places[i] >= 0}
        free += sorted(ends, reverse=True)
        if not free:
            free.append(count)
            count += 1
        places.append(free.pop())
    return places


def literal(dialect: Dialect, value: float) -> str:
    """A number in a language: the shortest decimal that reads back to the same double."""
    if math.isnan(value):
        return dialect.nan
    if math.isinf(value):
        return dialect.infinity if value > 0 else f"(-{dialect.infinity})"
    if (
        dialect.suffix or dialect.narrow
    ) and value:  # numbers that only mean "beyond all others" stay so in single precision
        value = math.copysign(min(max(abs(value), _SMALLEST_FLOAT), _LARGEST_FLOAT), value)
    text = dialect.decimal(value)
    return text if value >= 0 and not math.copysign(1.0, value) < 0 else f"({text})"


def _operation(dialect: Dialect, op: int, x: Sequence[str]) -> str:
    if op in _INFIX:
        return f"{x[0]} {_INFIX[op]} {x[1]}"
    if op in _CALLS:
        return f"{dialect.calls(_CALLS[op])}({', '.join(x)})"
    known = {"one": dialect.decimal(1.0), "zero": dialect.decimal(0.0), **dialect.words}
    if op in _CHOICES:
        return dialect.choice(*(part.format(*x, **known) for part in _CHOICES[op]))
    if op not in _FORMS:
        raise unsupported(op, f"{dialect.language} code")
    return _FORMS[op].format(*x, **known)
