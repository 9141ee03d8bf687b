"""Linear solves by blocks against NumPy's, for matrices with many structural zeros."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from polypod.symbols.linear import BlockFactor, solve_general, solve_sparse
from support.compare import assert_close


def sparse_matrix(seed: int) -> np.ndarray:
    """A regular matrix of up to eight rows with hidden blocks."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(1, 9))
        matrix = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.35) + np.diag(rng.normal(size=n))
        matrix = matrix[rng.permutation(n)][:, rng.permutation(n)]
        if np.linalg.cond(matrix) < 1e3:
            return matrix


def numbers(column: ca.SX) -> np.ndarray:
    return np.array(ca.DM(column)).ravel()


@pytest.mark.parametrize("seed", range(30))
def test_solves(seed: int) -> None:
    matrix = sparse_matrix(seed)
    factor = BlockFactor(ca.sparsify(ca.SX(ca.DM(matrix))))
    right = np.random.default_rng(seed + 100).normal(size=len(matrix))
    given = ca.SX(ca.DM(right))
    # condition below 1e3, a dozen roundings
    for got, wanted in (
        (numbers(factor.solve(given)), np.linalg.solve(matrix, right)),
        (numbers(factor.solve_transposed(given)), np.linalg.solve(matrix.T, right)),
    ):
        assert_close(got, wanted, 1e-11, np.abs(wanted).max())
    product = np.prod([float(ca.DM(d)) for d in factor.determinants])
    assert abs(product) == pytest.approx(abs(np.linalg.det(matrix)), rel=1e-10)


def test_hidden_blocks_are_found() -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 0.0], [4.0, 5.0, 6.0]])
    assert len(BlockFactor(ca.sparsify(ca.SX(ca.DM(matrix)))).determinants) == 3


def test_singular_matrix_has_no_quality() -> None:
    for matrix in (np.ones((2, 2)), np.arange(9.0).reshape(3, 3), np.ones((5, 5))):
        quality = float(ca.DM(BlockFactor(ca.SX(ca.DM(matrix))).quality))
        assert not quality > 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_sparse_elimination_swaps_where_it_must(seed: int) -> None:
    """One elimination, made of structure alone, at matrices some of whose entries happen to vanish or nearly do."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    there = rng.random((n, n)) < 0.3
    there[np.arange(n), rng.permutation(n)] = True
    pattern = ca.Sparsity.triplet(n, n, *map(list, np.nonzero(there)))
    matrix, right = ca.SX.sym("a", pattern), ca.SX.sym("b", n)
    solution = solve_sparse(matrix, right)
    function = ca.Function("solve", [matrix, right], [solution.x, solution.quality])
    tried = 0
    while tried < 20:
        numbers_ = np.where(there, rng.normal(size=(n, n)), 0.0)
        numbers_ *= rng.choice([0.0, 1e-14, 1.0], size=(n, n), p=[0.15, 0.05, 0.8])
        if (condition := np.linalg.cond(numbers_)) > 1e4:
            continue
        tried += 1
        b = rng.normal(size=n)
        x, quality = function(ca.DM(pattern, numbers_.T[there.T]), b)
        # partial pivoting: a dozen roundings times the condition number
        assert_close(np.array(x).ravel(), np.linalg.solve(numbers_, b), 1e-14 * condition * n, np.abs(x).max())
        assert float(quality) > 1e-7


def test_sparse_elimination_of_struts_takes_a_fifth() -> None:
    """Six struts of three unknowns with two equations each, and six equations of a platform."""
    there = np.zeros((18, 18), dtype=bool)
    for strut in range(6):
        there[2 * strut : 2 * strut + 2, 3 * strut : 3 * strut + 3] = [[0, 1, 1], [1, 0, 1]]
        there[12:, 3 * strut : 3 * strut + 3] = np.vstack([np.eye(3), 1 - np.eye(3)])
    matrix = ca.SX.sym("a", ca.Sparsity.triplet(18, 18, *map(list, np.nonzero(there))))
    right = ca.SX.sym("b", 18)
    counts = [
        ca.Function("solve", [matrix, right], [solved.x]).n_nodes()
        for solved in (solve_sparse(matrix, right), solve_general(ca.densify(matrix), right))
    ]
    assert counts[0] < 0.2 * counts[1], counts
