"""Linear solves by blocks against NumPy's, for matrices with many structural zeros."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from polypod.symbols.linear import BlockFactor
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
