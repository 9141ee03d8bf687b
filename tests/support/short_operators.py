"""Arithmetic of CasADi's symbols without its search for an overload, for tests only.

``a + b`` of two SX asks first whether they are sparsities, numbers or matrices of numbers, in Python: some 20 us, of
which the sum itself takes 3. Tests derive thousands of functions from tens of thousands of such operations each, where
a user derives a few: here symbols go to ``SX.binary`` directly, which is where CasADi ends. Everything else (arrays,
DM, MX) takes CasADi's own way. The expressions are the same, node for node (``test_operators``). The library itself
leaves CasADi as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

_OPERATORS = {"add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV}
_NUMBERS = frozenset({float, int, np.float64})


def shorten() -> None:
    """Give SX the short operators, once."""
    for name, code in _OPERATORS.items():
        for method, reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
            own = getattr(ca.SX, method)
            if own.__module__ != __name__:
                setattr(ca.SX, method, _short(own, code, reflected))


def _short(own: Callable[[Any, Any], Any], code: int, reflected: bool) -> Callable[[Any, Any], Any]:
    """An operator of x and y (y and x if ``reflected``); ``own`` is CasADi's, for what is neither symbol nor number."""
    binary, symbol = ca.SX.binary, ca.SX

    def operator(x: Any, y: Any) -> Any:
        kind = type(y)
        if kind is not symbol:
            if kind not in _NUMBERS:
                return own(x, y)
            y = symbol(float(y))
        return binary(code, y, x) if reflected else binary(code, x, y)

    return operator
