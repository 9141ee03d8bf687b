"""Functions folded over states in machine code, against the same functions' results folded by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polypod.kernels import Expression, Iteration, Kernel, reduction
from polypod.kernels.reduction import Folds, ReductionKernel
from polypod.symbols.expression import merged
from polypod.symbols.program import DesignProgram
from support.refusals import refused
from test_kernel_parameters import pendulum, root


def expected(function: Expression | Iteration, folds: tuple[str, ...], values: Any, rows: Any, weights: Any) -> Any:
    """What the plain kernel gives, folded."""
    kernel = Kernel(lambda: function)
    results = kernel.at(values)(*rows, threads=1)
    results = results if isinstance(results, tuple) else (results,)
    combine = {
        "most": lambda r: r.max(axis=1),
        "least": lambda r: r.min(axis=1),
        "total": lambda r: np.einsum("dt...,t->d...", r, weights),
    }
    return {p.name: combine[f](r) for p, f, r in zip(function.outputs, folds, results, strict=True)}


@pytest.mark.parametrize("n", [1, 5, 8, 37])
@pytest.mark.parametrize("varied", [(0, 1, 2, 3, 4), (2,), ()])
def test_folds_are_those_of_the_plain_kernel(n: int, varied: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of states, in several pieces, whatever differs between designs; 1e-14 for sums in another order."""
    monkeypatch.setattr(reduction, "_PIECE", 1)
    draw = np.random.default_rng(n)
    values = np.tile(draw.uniform(0.5, 2.0, 5), (3, 1))
    values[:, varied] = draw.uniform(0.5, 2.0, (3, len(varied)))
    x, y, weights = draw.normal(size=(n, 2, 2)), draw.normal(size=n), draw.random(n)
    for kinds in (("most", "total"), ("least", "most")):
        found = ReductionKernel(lambda k=kinds: Folds(pendulum(), k), varied)(values, {"x": x, "y": y}, weights)
        for name, value in expected(pendulum(), kinds, values, (x, y), weights).items():
            np.testing.assert_allclose(found[name], value, rtol=1e-14, atol=1e-14)


def test_folds_of_iterations_and_designs_one_by_one() -> None:
    draw = np.random.default_rng(1)
    values = np.column_stack([draw.uniform(0.5, 2.0, 4), np.full(4, 0.3)])
    a, weights = draw.normal(size=(11, 2)), draw.random(11)
    kinds = ("most",) * len(root().outputs)
    fold = ReductionKernel(lambda: Folds(root(), kinds), (0,))
    found = fold(values, {"a": a}, weights)
    for name, value in expected(root(), kinds, values, (a,), weights).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-14, atol=1e-15)
        for k in range(4):  # to the bit, whatever designs are beside it
            np.testing.assert_array_equal(fold(values[k : k + 1], {"a": a}, weights)[name][0], found[name][k])
    with refused(ValueError, "designs"):
        fold(values + draw.random(values.shape), {"a": a}, weights)
    with refused(ValueError, "a"):
        fold(values, {"a": a[:3]}, weights)


def test_what_states_alone_determine_is_computed_once() -> None:
    """Of the pendulum's operations only those that the varied number changes are left to each design."""
    program = pendulum().program
    every, one, none = (DesignProgram.of(program, varied) for varied in (range(5), (4,), ()))
    assert every.body.count > one.body.count == none.body.count == 0
    assert one.states.count > every.states.count


def test_two_iterations_are_not_one_function() -> None:
    with refused(ValueError, "iterate"):
        merged([root(), root()])
