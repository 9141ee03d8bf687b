"""The C code of an FMU's model: functions of the robot, calls of them, what is said where there is no answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kernels import Expression
from ...lazy import lazy
from ...mechanism import Mechanism
from ...mechanism.forward_kinematics import largest_residual
from ...model import Model
from ...parameters.chosen import Choice, ChosenNumbers
from ...symbols.expression import Iteration
from ..c import definition, helpers
from ..code import chosen_inputs, mechanism_of, ports
from ..header import LEAST
from .variables import LOWEST, Variable, Variables, quoted


@dataclass
class ModelCode:
    """The three C functions of a model as lines of their bodies, and how many numbers it keeps between steps."""

    start: list[str]
    evaluate: list[str]
    step: list[str]
    memory: int = 1
    own: str = ""


class Build:
    """What a kind of FMU is made of: the robot in symbols, variables, C functions."""

    def __init__(self, model: Model, parameters: Sequence[str], friction: bool) -> None:
        self.model, self.friction = model, friction
        self.numbers = ChosenNumbers(model.robot, parameters)
        self.variables = Variables()
        self._functions: dict[str, Expression | Iteration] = {}
        self._longest = 1  # numbers of a constant array
        self.actuators = [a.name for a in model.actuators]

    @lazy
    def mechanism(self) -> Mechanism:
        """The robot in symbols, the chosen numbers among them."""
        return mechanism_of(self.model, self.numbers)

    def add_parameters(self) -> None:
        """The numbers of the robot as variables."""
        names = [v for choice in self.numbers.choices for v in _variables(choice)]
        self.variables.add_named("robot", names)

    def function(self, name: str, expression: Expression | Iteration | None = None) -> Expression | Iteration:
        """A C function of an expression of the robot, or of the model function of that name."""
        if name not in self._functions:
            kernels = self.model.kernels
            source = expression or kernels.expression(self.mechanism, name, self.friction)
            self._functions[name] = chosen_inputs(source, self.mechanism, self.numbers)
        return self._functions[name]

    def call(self, name: str, pose: str, /, **given: str) -> list[str]:
        """Lines that call a function and return if it has no answer; ``given`` are C arrays for its arguments.

        Outputs that are not given become arrays ``name_output``. ``pose`` is where to look for what went wrong.
        """
        inputs, outputs = ports(self.function(name))
        known = {"weights": "ones", "preload": "zeros", "parameters": self.variables.at("robot")} | given
        results = {label: known.get(label, f"{name}_{label}") for label, _ in outputs}
        lines = [f"double {c}[{port.length}];" for (label, port), c in zip(outputs, results.values(), strict=True)
                 if label not in given]  # fmt: skip
        arguments = [known[label] for label, _ in inputs] + list(results.values())
        for (_, port), argument in zip(inputs, arguments, strict=False):
            self._longest = max(self._longest, port.length if argument in ("zeros", "ones") else 1)
        lines.append(f"robot_{name}({', '.join(arguments)});")
        lines += [f"(void){c};" for label, c in results.items() if label not in given and label not in _JUDGED]
        tests = []
        if "quality" in results:
            tests.append(f"!({results['quality']}[0] > {LEAST})")
        if "residual" in results:
            tests.append(f"!({results['residual']}[0] <= {largest_residual(self.model.size, self.model.robot)!r})")
        if tests:
            lines += [f"if ({' || '.join(tests)})", f"    return failed(m, {pose});"]
        if "converged" in results:
            lines += [f"if ({results['converged']}[0] == 0.0)", "    return not_converged(m);"]
        return lines

    def source(self, code: ModelCode) -> str:
        """model.c"""
        body = "\n".join(
            [
                code.own,
                c_function("model_start(Instance *m)", code.start),
                c_function("model_evaluate(Instance *m)", code.evaluate),
                c_function("model_step(Instance *m, double step)", code.step),
            ]
        )
        failed = self._failed()  # uses a function of its own
        functions = "\n".join(definition(f"robot_{name}", one) for name, one in self._functions.items())
        constants = "".join(
            f"static const double {name}[{self._longest}] = {{{', '.join([value] * self._longest)}}};\n"
            for name, value in (("zeros", "0.0"), ("ones", "1.0"))
            if name in body
        )
        table = ",\n".join(
            f"    {{{json.dumps(v.name)}, {v.role.upper()}, {v.start!r}, {v.minimum!r}}}" for v in self.variables
        )
        return "\n".join(
            [
                '#include "instance.h"\n\n#include <math.h>\n#include <stdio.h>\n#include <string.h>\n',
                f"const Variable variables[VARIABLES] = {{\n{table},\n}};\n",
                helpers(functions + body),
                constants,
                functions,
                NOT_CONVERGED if "not_converged(" in body else "",
                failed,
                body,
            ]
        )

    def _failed(self) -> str:
        legs = [(leg.name, c) for leg in self.mechanism.legs for c in leg.placement.conditions]
        labels = [label for label, _ in ports(self.function("margins"))[0]] if legs else []
        known = {"parameters": self.variables.at("robot"), "pose": "pose"}
        arguments = [known.get(label) or self.variables.at(label) for label in labels]
        return failed_function([(f"{leg}: {c.name}", c.unit) for leg, c in legs], arguments)

    def header(self, code: ModelCode, token: str) -> str:
        """model.h"""
        v = self.variables
        sizes = {
            "VARIABLES": len(v.all), "STATES": v.count("derivative"), "FIRST_STATE": v.first("state"),
            "FIRST_DERIVATIVE": v.first("derivative"), "MEMORY": code.memory,
            "ACTUATORS": len(self.actuators),
        }  # fmt: skip
        lines = [*(f"#define {name} {size}" for name, size in sizes.items()), f'#define TOKEN "{token}"']
        return "\n".join(["#ifndef MODEL_H", "#define MODEL_H", "", *lines, "", "#endif", ""])


_JUDGED = ("quality", "converged", "residual")
_MINIMUM = {"viscous": 0.0, "coulomb": 0.0, "drag": 0.0, "stribeck_speed": 0.0, "static": 1.0, "rotor": 0.0}
"""The least values that a robot file may give fields of friction and motors."""


def with_outputs(expression: Expression | Iteration, **sizes: int) -> Expression | Iteration:
    """A function with these outputs alone, the first numbers of each (all for 0)."""
    outputs = []
    for port in expression.outputs:
        size = sizes.get(port.name)
        if size is not None:
            outputs.append(replace(port, symbols=port.symbols[:size], shape=(size,)) if size else port)
    return replace(expression, outputs=tuple(outputs))


def _variables(choice: Choice) -> list[Variable]:
    """Variables of a quantity of the robot: legs.0.base is legs[0].base[0] and so on."""
    name = ""
    for part in choice.path.split("."):
        name += f"[{part}]" if part.isdigit() else f"{'.' if name else ''}{quoted(part)}"
    field = choice.path.rpartition(".")[2]
    minimum = 0.0 if choice.unit == "kg" else _MINIMUM.get(field, LOWEST)
    about = f"robot: {choice.path}"
    return [
        Variable(
            f"{name}[{','.join(map(str, index))}]" if index else name,
            "parameter", choice.unit, about, float(value), minimum,
        )
        for index, value in np.ndenumerate(choice.value)
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------------------------------------
# C code that says why there is no answer: which leg, what, by how much, when.

_SINGULAR = "the state is singular or out of reach within the step"
NOT_CONVERGED = """static Outcome not_converged(Instance *m)
{
    snprintf(m->message, sizeof m->message,
             "no solution at t = %.6g s: dry friction did not settle; its coefficients are too large for this state",
             m->values[0]);
    return NO_ANSWER;
}
"""


def c_function(head: str, lines: Sequence[str], storage: str = "") -> str:
    """A C function that returns an outcome."""
    return f"{storage}Outcome {head}\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"


def failed_function(conditions: Sequence[tuple[str, str]], arguments: Sequence[str]) -> str:
    """The C function that says which leg has no answer at a pose, or is nearest to having none.

    ``conditions`` are texts and units of the legs' margins, ``arguments`` the inputs of ``robot_margins``.
    """
    if not conditions:
        return c_function("failed(Instance *m, const double *pose)", [
            "(void)pose;",
            f'snprintf(m->message, sizeof m->message, "no solution at t = %.6g s: {_SINGULAR}", m->values[0]);',
            "return NO_ANSWER;",
        ], "static ")  # fmt: skip
    texts = ",\n    ".join(
        f"{{{json.dumps(text, ensure_ascii=False)}, {json.dumps(unit)}}}" for text, unit in conditions
    )
    lines = [
        f"double margins_found[{2 * len(conditions)}];",
        "int least = 0;",
        f"robot_margins({', '.join([*arguments, 'margins_found'])});",
        f"for (int k = 0; k < {len(conditions)}; k++) {{",
        "    const double margin = margins_found[2 * k];",
        f"    if (!(margin > {LEAST})) {{",
        '        snprintf(m->message, sizeof m->message, "no solution at t = %.6g s: %s (%.6g %s)", m->values[0],',
        "                 conditions[k][0], margins_found[2 * k + 1], conditions[k][1]);",
        "        return NO_ANSWER;",
        "    }",
        "    if (margin < margins_found[2 * least])",
        "        least = k;",
        "}",
        "snprintf(m->message, sizeof m->message,",
        f'         "no solution at t = %.6g s: {_SINGULAR}; nearest to its limit is %s (margin %.2g)",',
        "         m->values[0], conditions[least][0], margins_found[2 * least]);",
        "return NO_ANSWER;",
    ]
    return f"static const char *const conditions[][2] = {{\n    {texts},\n}};\n\n" + c_function(
        "failed(Instance *m, const double *pose)", lines, "static "
    )
