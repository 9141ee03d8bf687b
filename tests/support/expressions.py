"""Random scalar expressions: every operation with its CasADi and its NumPy form, and trees made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from hypothesis import strategies as st


class Operation(NamedTuple):
    """An operation: how many arguments, in CasADi, in NumPy, and whether it is smooth everywhere."""

    count: int
    symbol: Callable[..., Any]
    number: Callable[..., Any]
    smooth: bool = True


def _in_range(f: Callable[[Any], Any], g: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """f of an argument brought where it is defined and smooth by g."""
    return lambda x: f(g(x))


def _unit(x: Any) -> Any:
    """Into (-0.9, 0.9)."""
    return 0.9 * x / (1 + x * x) ** 0.5 if isinstance(x, ca.SX) else 0.9 * x / np.sqrt(1 + x * x)


def _positive(x: Any) -> Any:
    return 0.5 + x * x


OPERATIONS: dict[str, Operation] = {
    "add": Operation(2, lambda x, y: x + y, np.add),
    "sub": Operation(2, lambda x, y: x - y, np.subtract),
    "mul": Operation(2, lambda x, y: x * y, np.multiply),
    "div": Operation(2, lambda x, y: x / _positive(y), lambda x, y: x / _positive(y)),
    "neg": Operation(1, lambda x: -x, np.negative),
    "twice": Operation(1, lambda x: 2 * x, lambda x: 2 * x),
    "square": Operation(1, ca.sumsqr, np.square),
    "inverse": Operation(1, lambda x: 1 / _positive(x), lambda x: 1 / _positive(x)),
    "sqrt": Operation(1, _in_range(ca.sqrt, _positive), _in_range(np.sqrt, _positive)),
    "sin": Operation(1, ca.sin, np.sin),
    "cos": Operation(1, ca.cos, np.cos),
    "tan": Operation(1, _in_range(ca.tan, _unit), _in_range(np.tan, _unit)),
    "asin": Operation(1, _in_range(ca.asin, _unit), _in_range(np.arcsin, _unit)),
    "acos": Operation(1, _in_range(ca.acos, _unit), _in_range(np.arccos, _unit)),
    "atan": Operation(1, ca.atan, np.arctan),
    "atan2": Operation(2, lambda x, y: ca.atan2(x, _positive(y)), lambda x, y: np.arctan2(x, _positive(y))),
    "sinh": Operation(1, _in_range(ca.sinh, _unit), _in_range(np.sinh, _unit)),
    "cosh": Operation(1, _in_range(ca.cosh, _unit), _in_range(np.cosh, _unit)),
    "tanh": Operation(1, ca.tanh, np.tanh),
    "exp": Operation(1, _in_range(ca.exp, _unit), _in_range(np.exp, _unit)),
    "log": Operation(1, _in_range(ca.log, _positive), _in_range(np.log, _positive)),
    "pow": Operation(2, lambda x, y: _positive(x) ** _unit(y), lambda x, y: _positive(x) ** _unit(y)),
    "constpow": Operation(1, lambda x: _positive(x) ** 1.7, lambda x: _positive(x) ** 1.7),
    "fabs": Operation(1, ca.fabs, np.abs, False),
    "sign": Operation(1, ca.sign, np.sign, False),
    "floor": Operation(1, ca.floor, np.floor, False),
    "ceil": Operation(1, ca.ceil, np.ceil, False),
    "fmin": Operation(2, ca.fmin, np.minimum, False),
    "fmax": Operation(2, ca.fmax, np.maximum, False),
    "copysign": Operation(2, ca.copysign, np.copysign, False),
    "less": Operation(2, lambda x, y: x < y, lambda x, y: (x < y) + 0.0, False),
    "less or equal": Operation(2, lambda x, y: x <= y, lambda x, y: (x <= y) + 0.0, False),
    "equal": Operation(2, lambda x, y: x == y, lambda x, y: (x == y) + 0.0, False),
    "not equal": Operation(2, lambda x, y: x != y, lambda x, y: (x != y) + 0.0, False),
    "not": Operation(1, ca.logic_not, lambda x: (x == 0) + 0.0, False),
    "and": Operation(2, ca.logic_and, lambda x, y: ((x != 0) & (y != 0)) + 0.0, False),
    "or": Operation(2, ca.logic_or, lambda x, y: ((x != 0) | (y != 0)) + 0.0, False),
    "if else": Operation(3, ca.if_else, lambda c, x, y: np.where(c != 0, x, y), False),
    "if else zero": Operation(2, lambda c, x: ca.if_else(c, x, 0), lambda c, x: np.where(c != 0, x, 0.0), False),
}


class Tree(NamedTuple):
    """An expression: an operation on other trees, an input's number, or a constant."""

    operation: str
    parts: tuple[Any, ...]

    def symbol(self, x: ca.SX) -> ca.SX:
        """In CasADi, of a column x."""
        if self.operation == "input":
            return x[self.parts[0]]
        if self.operation == "constant":
            return ca.SX(self.parts[0])
        return OPERATIONS[self.operation].symbol(*(part.symbol(x) for part in self.parts))

    def number(self, x: Any) -> Any:
        """In NumPy, of columns x (n, k)."""
        if self.operation == "input":
            return x[:, self.parts[0]]
        if self.operation == "constant":
            return np.full(len(x), self.parts[0])
        return OPERATIONS[self.operation].number(*(part.number(x) for part in self.parts))


def trees(inputs: int, smooth: bool = False) -> st.SearchStrategy[Tree]:
    """Random expressions of some inputs."""
    names = [name for name, operation in OPERATIONS.items() if operation.smooth or not smooth]
    leaves = st.one_of(
        st.integers(0, inputs - 1).map(lambda k: Tree("input", (k,))),
        st.floats(-2, 2).map(lambda value: Tree("constant", (value,))),
    )

    def grown(parts: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        return st.sampled_from(names).flatmap(
            lambda name: st.tuples(*[parts] * OPERATIONS[name].count).map(lambda chosen: Tree(name, chosen))
        )

    return st.recursive(leaves, grown, max_leaves=12)
