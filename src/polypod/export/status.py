"""What an exported C or C++ function returns: a status, by tests of its inputs and outputs against stated bounds.

A function ``NAME`` is two: ``NAME_compute`` has the operations of the model and ``NAME`` around it looks at what goes
in and comes out. Numbers are tested by their bits, so that no compiler flag (-ffast-math) removes a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..legs.contract import SMALLEST_MARGIN
from ..limits.report import ROUNDING
from ..mechanism.forward_kinematics import largest_residual
from ..model import Model
from ..model.arguments import ROTATION_TOLERANCE
from ..symbols.expression import Expression, Iteration, Port
from .code import BOUNDED, Dialect, literal, ports

STATUS = {
    "OK": "the outputs are the answer",
    "INVALID_INPUT": "an input is not finite, a limit not positive, or a pose no rotation and position; "
    "outputs were not written",
    "NO_SOLUTION": "no solution was found: coordinates that no pose has, a guess too far away, too few iterations, or "
    "no forces within their bounds",
    "NOT_CONVERGED": "an iteration did not converge",
    "NEAR_SINGULAR": "a singular pose is too near, or a leg does not reach the pose",
    "OUT_OF_RANGE": "a limit of the robot is exceeded",
    "NOT_FINITE": "an output is not a finite number: inputs are too large",
}
"""Statuses by name, in the order of their numbers."""
SINGLE_ROTATION_TOLERANCE = 1e-5
_MAY_BE_INFINITE = ("drive", "low", "high", "lowest", "highest")
_POSES = ("pose", "neutral")
_POSITIVE = ("max_speed", "max_acceleration", "max_jerk", "path_limits", "feed")
MAY_BE_UNKNOWN = ("wrenches", "condition", "use")
_BITS = {"double": ("uint64_t", "UINT64_C(0x7ff0000000000000)"), "float": ("uint32_t", "UINT32_C(0x7f800000)")}
_INPUTS = {
    "all_finite": """/* Whether all numbers are finite, by their bits. */
static int all_finite(const NUMBER *x, int count)
{
    int good = 1;
    for (int k = 0; k < count; k++) {
        BITS bits;
        memcpy(&bits, &x[k], sizeof bits);
        if ((bits & EXPONENT) == EXPONENT) {
            good = 0;
        }
    }
    return good;
}
""",
    "no_nan": """/* Whether all are numbers, finite or not. */
static int no_nan(const NUMBER *x, int count)
{
    int good = 1;
    for (int k = 0; k < count; k++) {
        BITS bits;
        memcpy(&bits, &x[k], sizeof bits);
        if ((bits & (EXPONENT | (EXPONENT - 1U))) > EXPONENT) {
            good = 0;
        }
    }
    return good;
}
""",
    "is_pose": """/* Whether a 4x4 matrix of finite numbers is a rotation and a position, but for a tolerance. */
static int is_pose(const NUMBER *pose, NUMBER tolerance)
{
    const NUMBER *const r = pose;
    NUMBER worst = FABS(r[12]) + FABS(r[13]) + FABS(r[14]) + FABS(r[15] - ONE);
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            const NUMBER dot = (r[i] * r[j]) + (r[4 + i] * r[4 + j]) + (r[8 + i] * r[8 + j]);
            const NUMBER off = FABS(dot - ((i == j) ? ONE : ZERO));
            worst = (off > worst) ? off : worst;
        }
    }
    const NUMBER side = (r[0] * ((r[5] * r[10]) - (r[6] * r[9])))
        + (r[1] * ((r[6] * r[8]) - (r[4] * r[10])))
        + (r[2] * ((r[4] * r[9]) - (r[5] * r[8])));
    return ((worst <= tolerance) && (side > ZERO)) ? 1 : 0;
}
""",
    "all_positive": """/* Whether all numbers are greater than zero. */
static int all_positive(const NUMBER *x, int count)
{
    int good = 1;
    for (int k = 0; k < count; k++) {
        if (!(x[k] > ZERO)) {
            good = 0;
        }
    }
    return good;
}
""",
    "all_within": """/* Whether all numbers are finite and at most some bound. */
static int all_within(const NUMBER *x, int count, NUMBER most)
{
    int good = all_finite(x, count);
    for (int k = 0; k < count; k++) {
        if (!(x[k] <= most)) {
            good = 0;
        }
    }
    return good;
}
""",
}


@dataclass(frozen=True)
class Threshold:
    """A number that a test compares with, as a macro: its name, value and meaning; ``own`` if a program may set it."""

    name: str
    value: str
    about: str
    own: bool = True

    def text(self) -> str:
        """The lines that define it."""
        line = f"#define {self.name} {self.value} /* {self.about} */\n"
        return f"#ifndef {self.name}\n{line}#endif\n" if self.own else line


@dataclass(frozen=True)
class Judge:
    """The tests of a function of a robot in a dialect of C: thresholds, and the function that returns a status."""

    model: Model
    name: str
    expression: Expression | Iteration
    dialect: Dialect
    distance: bool = False
    clearance: bool = False
    members: Sequence[tuple[str, int]] = ()
    """Numbers of the struct of parameters: what they are in C, a pointer, and how many."""
    guarded: str = ""
    """An output that is written only if the status is OK."""

    @property
    def _macro(self) -> Callable[[str], str]:
        return f"{self.name.upper()}_{{}}".format

    def thresholds(self) -> Iterator[Threshold]:
        """What the tests compare with."""
        inputs, outputs = map(dict, ports(self.expression))
        single = bool(self.dialect.suffix)
        number = self._number
        if any(port.name in _POSES for port in inputs.values()):
            tolerance = SINGLE_ROTATION_TOLERANCE if single else ROTATION_TOLERANCE
            yield Threshold(
                self._macro("ROTATION_TOLERANCE"),
                number(tolerance),
                "largest entry of R^T R - 1 of a pose that goes in",
            )
        if "residual" in outputs:
            most = float(f"{largest_residual(self.model.size, self.model.robot, single):.2g}")
            yield Threshold(self._macro("MAX_RESIDUAL"), number(most), "largest residual of a solution [m or rad]")
        if "quality" in outputs:
            yield Threshold(
                self._macro("MIN_QUALITY"), number(SMALLEST_MARGIN), "a solution has more quality than this"
            )
        if "use" in outputs:
            yield Threshold(self._macro("MAX_USE"), number(1.0 + ROUNDING), "largest use of a limit")
        if self.distance:
            home = float(self.model.conditioning(self.model.robot.home.matrix).distance)
            if not home > 0.0:
                raise InputError("safe_step: the robot is singular at home: no distance to a singularity can be kept")
            yield Threshold(
                self._macro("MIN_DISTANCE"),
                number(float(f"{0.1 * home:.2g}")),
                "smallest distance to a singularity [1]; a tenth of that at home unless you set it",
            )
        if self.clearance:
            yield Threshold(self._macro("MIN_CLEARANCE"), number(0.0), "smallest distance between bodies [m]")

    def _number(self, value: float) -> str:
        return literal(self.dialect, value)

    def helpers(self) -> str:
        """The functions that the tests call."""
        number = "float" if self.dialect.suffix else "double"
        bits, exponent = _BITS[number]
        code = self.function("")
        wanted = [name for name in _INPUTS if f"{name}(" in code or (name == "all_finite" and "all_within(" in code)]
        text = "\n".join(_INPUTS[name] for name in wanted)
        for word, own in {
            "NUMBER": number, "BITS": bits, "EXPONENT": exponent, "FABS": self.dialect.calls("fabs"),
            "ONE": f"1.0{self.dialect.suffix}", "ZERO": f"0.0{self.dialect.suffix}",
        }.items():  # fmt: skip
            text = text.replace(word, own)
        return text

    def function(self, prototype: str) -> str:
        """The function that is called: its tests around ``NAME_compute``."""
        inputs, outputs = ports(self.expression)
        arguments = ", ".join(
            f"{label}_unchecked" if label == self.guarded else label for label, _ in (*inputs, *outputs)
        )
        length = dict(outputs)[self.guarded].length if self.guarded else 0
        number = "float" if self.dialect.suffix else "double"
        lines = [*([f"    {number} {self.guarded}_unchecked[{length}];"] if length else []), "    int status;"]
        wrong = list(self._wrong_inputs(inputs))
        call = f"{self.name}_compute({arguments});"
        tests = list(self._tests(outputs))
        if wrong:
            lines += [f"    if ({_joined(wrong, 8)}) {{", "        status = POLYPOD_INVALID_INPUT;", "    } else {"]
        indent = "        " if wrong else "    "
        lines.append(indent + call)
        lines += [indent + line for line in _chain(tests)]
        lines += ["    }"] if wrong else []
        if length:
            lines += [
                "    if (status == POLYPOD_OK) {",
                f"        for (int k = 0; k < {length}; k++) {{",
                f"            {self.guarded}[k] = {self.guarded}_unchecked[k];",
                "        }",
                "    }",
            ]
        lines.append("    return status;")
        return "\n".join([prototype, "{", *lines, "}", ""])

    def _wrong_inputs(self, inputs: Sequence[tuple[str, Port]]) -> Iterator[str]:
        for label, port in inputs:
            if label == "parameters" and self.members:
                yield from (f"(all_finite({pointer}, {count}) == 0)" for pointer, count in self.members)
                continue
            if port.length:
                test = "no_nan" if port.name in _MAY_BE_INFINITE else "all_finite"
                yield f"({test}({label}, {port.length}) == 0)"
            if port.name in _POSITIVE:
                yield f"(all_positive({label}, {port.length}) == 0)"
            if port.name in _POSES:
                yield f"(is_pose({label}, {self._macro('ROTATION_TOLERANCE')}) == 0)"

    def _tests(self, outputs: Sequence[tuple[str, Port]]) -> Iterator[tuple[str, str]]:
        """Conditions with the status they mean, in the order in which they are tested."""
        known = dict(outputs)
        if "residual" in known:
            most = self._macro("MAX_RESIDUAL")
            yield f"(all_finite(residual, 1) == 0) || !(residual[0] <= {most})", "NO_SOLUTION"
        if "quality" in known:
            least = self._macro("MIN_QUALITY")
            yield f"(all_finite(quality, 1) == 0) || !(quality[0] > {least})", "NEAR_SINGULAR"
        if "converged" in known:
            yield f"!(converged[0] > 0.5{self.dialect.suffix})", "NOT_CONVERGED"
        if "condition" in known:
            yield "all_finite(condition, 1) == 0", "NEAR_SINGULAR"
        rest = [
            f"(all_finite({label}{'_unchecked' if label == self.guarded else ''}, {port.length}) == 0)"
            for label, port in outputs
            if port.length and port.name not in (*MAY_BE_UNKNOWN, "residual", "quality", "converged")
        ]
        if rest:
            yield _joined(rest, 12), "NO_SOLUTION" if self.expression.name == BOUNDED else "NOT_FINITE"
        if self.distance:
            yield f"!(distance[0] >= {self._macro('MIN_DISTANCE')})", "NEAR_SINGULAR"
        if "use" in known:
            yield f"all_within(use, {known['use'].length}, {self._macro('MAX_USE')}) == 0", "OUT_OF_RANGE"
        if self.clearance:
            for k in range(known["clearance"].length):
                yield f"!(clearance[{k}] >= {self._macro('MIN_CLEARANCE')})", "OUT_OF_RANGE"

    def returned(self) -> Iterator[str]:
        """What the statuses mean that the function may return, for its comment."""
        inputs, outputs = ports(self.expression)
        possible = {"OK", *(["INVALID_INPUT"] if list(self._wrong_inputs(inputs)) else [])}
        possible |= {status for _, status in self._tests(outputs)}
        return (f"POLYPOD_{name} ({k}): {text}" for k, (name, text) in enumerate(STATUS.items()) if name in possible)


def enum() -> str:
    """The statuses as a C or C++ type, once however many headers a file includes."""
    lines = [f"    POLYPOD_{name} = {k}, /* {_short(text)} */" for k, (name, text) in enumerate(STATUS.items())]
    return "\n".join(
        ["#ifndef POLYPOD_STATUS", "#define POLYPOD_STATUS", "enum polypod_status {", *lines, "};", "#endif", ""]
    )


def _short(text: str) -> str:
    return text.partition(";")[0].partition(":")[0]


def _joined(tests: Sequence[str], indent: int) -> str:
    """Conditions of which one suffices, one a line."""
    return f"\n{' ' * indent}|| ".join(tests)


def _chain(tests: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The first condition that holds gives the status."""
    if not tests:
        yield "status = POLYPOD_OK;"
        return
    for k, (condition, status) in enumerate(tests):
        yield f"{'} else ' if k else ''}if ({condition}) {{"
        yield f"    status = POLYPOD_{status};"
    yield from ("} else {", "    status = POLYPOD_OK;", "}")
