"""Short operators of symbols: the same expressions as CasADi's own, and CasADi's own way for everything else."""

from __future__ import annotations

import operator
from typing import Any

import casadi as ca
import numpy as np
import pytest

from support.refusals import refused

OWN = {operator.add: ca.plus, operator.sub: ca.minus, operator.mul: ca.times, operator.truediv: ca.rdivide}
A, M, S = ca.SX.sym("a", 3), ca.SX.sym("m", 3, 3), ca.SX.sym("s")
OTHERS = (A, S, M, ca.SX(3, 1), 2.5, 2, np.float64(2.5), True, np.arange(3.0), ca.DM([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("how", OWN, ids=lambda how: how.__name__)
@pytest.mark.parametrize("other", OTHERS, ids=lambda x: f"{type(x).__name__}{getattr(x, 'shape', '')}")
def test_are_those_of_casadi(how: Any, other: Any) -> None:
    for x, y in ((A, other), (other, A), (S, other), (other, S)):
        got, wanted = how(x, y), OWN[how](x, y)
        assert type(got) is ca.SX
        assert got.shape == wanted.shape
        assert got.sparsity() == wanted.sparsity()
        assert ca.is_equal(got, wanted, 2)


def test_tests_run_on_them() -> None:
    assert ca.SX.__add__.__module__ == "support.short_operators"


def test_what_does_not_fit_is_refused() -> None:
    with refused(RuntimeError, "mismatch"):
        A + ca.SX.sym("b", 2)
    with refused(TypeError, "operand"):
        A + "text"


def test_other_kinds_of_symbols_are_left_alone() -> None:
    x = ca.MX.sym("x", 3)
    assert isinstance(x + 2.0 * x, ca.MX)
    with refused(TypeError, "operand"):
        A + x
