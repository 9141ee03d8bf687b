"""Functions of one state by CasADi's interpreter: slow, and independent of the code generation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..symbols.expression import Expression, Iteration
from .block import Signature


def row_of(array: Array, signature: Signature, design: int, state: int) -> Array:
    """The numbers of one state of one design."""
    own = array[design] if array.ndim - len(signature.shape) == 2 else array
    return np.ravel(own[0 if len(own) == 1 else state])


def interpreted(expression: Expression | Iteration, values: list[Array], parameters: list[Array]) -> Any:
    """Outputs of one state; ``parameters`` is empty or has one row."""
    if isinstance(expression, Expression):
        return expression.function.call([*values, *parameters])
    start, step, finish = expression.functions
    (state,) = start.call([*values, *parameters])
    while True:
        (state,) = step.call([*values, state, *parameters])
        if float(state[-1]) != 0.0:
            return finish.call([*values, state, *parameters])
