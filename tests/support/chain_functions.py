"""A robot's functions in CasADi's interpreter, legs closed by Newton's iteration included: nothing is compiled."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import polypod as pp
from polypod.formulations.dry_friction import DryFriction
from polypod.kernels import Expression, Iteration
from polypod.model.kernels import Kernels, Options

Array = NDArray[np.float64]
EXACT = Options(dry=DryFriction.of(0.0, "implicit"))
"""Dry friction that jumps with the sign of a rate."""


class Functions:
    """Outputs by name of a robot's functions at one state."""

    def __init__(self, robot: pp.Robot, options: Options | None = None) -> None:
        self.kernels = Kernels(robot, options or Options())
        self.mechanism = self.kernels.mechanism
        self._expressions: dict[Any, Any] = {}
        self._functions: dict[int, tuple[Expression, ca.Function]] = {}

    def __call__(self, name: str, friction: bool = False, formulation: str = "virtual-power", **given: Any) -> Any:
        key = (name, friction, formulation)
        if key not in self._expressions:
            self._expressions[key] = self.kernels.expression(self.mechanism, *key)
        return self.evaluate(self._expressions[key], **given)

    def evaluate(self, expression: Expression | Iteration, **given: Any) -> Any:
        """Outputs by name of an expression, its other inputs zero."""
        default = {p.name: np.ones(p.shape) if p.name == "weights" else np.zeros(p.shape) for p in expression.inputs}
        rows = [np.asarray((default | given)[p.name], dtype=float).ravel() for p in expression.inputs]
        numbers = [self.mechanism.numbers.values] if expression.parameters else []
        if isinstance(expression, Iteration):
            start, step, finish = expression.functions
            state = np.array(start.call([*rows, *numbers])[0]).ravel()
            while not state[-1]:
                state = np.array(step.call([*rows, state, *numbers])[0]).ravel()
            results = finish.call([*rows, state, *numbers])
        else:
            results = self._interpreted(expression).call([*rows, *numbers])
        return {p.name: np.array(r).reshape(p.shape) for p, r in zip(expression.outputs, results, strict=True)}

    def _interpreted(self, expression: Expression) -> ca.Function:
        """Without merging equal parts (``Expression.function``), which takes longer than a few evaluations gain."""
        if id(expression) not in self._functions:
            given = [*expression.inputs, *([expression.parameters] if expression.parameters else [])]
            function = ca.Function("f", [p.symbols for p in given], [p.symbols for p in expression.outputs])
            self._functions[id(expression)] = expression, function
        return self._functions[id(expression)][1]
