"""Tapes replayed as Taylor series, tangents and adjoints against CasADi's derivatives; linear solves against NumPy."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polypod.symbols.linear import Solution, SymmetricFactor, solve_general
from polypod.symbols.tape import Tape
from support.expressions import OPERATIONS, trees

INPUTS = 3
# Sums of up to a dozen terms in another order; values stay below 1e3 or so.
TOLERANCE = 1e-11


def evaluate(expressions: list[ca.SX], symbols: list[ca.SX], values: list[Any]) -> list[Any]:
    result = ca.Function("f", symbols, expressions).call(values)
    return [np.array(ca.densify(r)) for r in result]


def agree(got: Any, wanted: Any, tolerance: float = TOLERANCE) -> None:
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * max(1.0, np.abs(wanted).max(initial=0.0)))


def check_derivatives(x: ca.SX, y: ca.SX, seed: int) -> None:
    """y(x) by its tape and by CasADi, in one random point and random directions."""
    rng = np.random.default_rng(seed)
    n, m = int(x.numel()), int(y.numel())
    tape = Tape(x, y)
    a, b, c, w = (ca.SX.sym(name, size) for name, size in (("a", n), ("b", n), ("c", n), ("w", m)))
    values = [rng.uniform(-1.5, 1.5, size) for size in (n, n, n, m)]
    here = ca.Function("y", [x], [y])
    time = ca.SX.sym("t")
    moving = here(a + b * time + c * time**2)
    first = ca.jacobian(moving, time)
    second = ca.jacobian(first, time) / 2
    wanted = evaluate([ca.substitute(e, time, 0) for e in (moving, first, second)], [a, b, c], values[:3])
    for got, expected in zip(evaluate(list(tape.taylor(a, b, c)), [a, b, c], values[:3]), wanted, strict=True):
        agree(got, expected)
    replay = tape.values(a)
    jacobian = ca.substitute(ca.jacobian(y, x), x, a)
    got = evaluate(
        [replay.y, replay.jacobian(), replay.tangent(b), replay.adjoint(w)], [a, b, w], [values[k] for k in (0, 1, 3)]
    )
    wanted = evaluate([here(a), jacobian, jacobian @ b, jacobian.T @ w], [a, b, w], [values[k] for k in (0, 1, 3)])
    for one, other in zip(got, wanted, strict=True):
        agree(one, other)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.smooth])
def test_every_smooth_operation(name: str) -> None:
    x = ca.SX.sym("x", INPUTS)
    y = OPERATIONS[name].symbol(*(x[k] for k in range(OPERATIONS[name].count)))
    for seed in range(3):
        check_derivatives(x, y, seed)


@settings(max_examples=60)
@given(st.lists(trees(INPUTS, smooth=True), min_size=1, max_size=3), st.integers(0, 1000))
def test_random_expressions(outputs: list[Any], seed: int) -> None:
    """Random trees; constants and repeated parts among the outputs too."""
    x = ca.SX.sym("x", INPUTS)
    y = ca.vertcat(*[tree.symbol(x) for tree in outputs], outputs[0].symbol(x))
    check_derivatives(x, y, seed)


def test_a_leg_length_and_its_angle() -> None:
    """Division, roots and atan2 as a leg uses them: |p|, p/|p| and atan2(p_y, p_x) in a point with p_x < 0."""
    p = ca.SX.sym("p", 3)
    length = ca.sqrt(ca.dot(p, p))
    y = ca.vertcat(length, p / length, ca.atan2(p[1], p[0]))
    q0, q1, q2 = np.array([-0.3, 0.4, 1.2]), np.array([0.7, -0.2, 0.1]), np.array([0.3, 0.5, -0.4])
    zero, one, two = Tape(p, y).taylor(*(ca.SX(ca.DM(v)) for v in (q0, q1, q2)))
    # Closed forms: l l' = p.v, l'^2 + l l'' = v.v + p.a with a = 2 q2; angle' = (x vy - y vx)/(x^2 + y^2).
    size, acceleration = np.linalg.norm(q0), 2 * q2
    rate = q0 @ q1 / size
    assert float(zero[0]) == pytest.approx(1.3, rel=1e-15)
    assert float(one[0]) == pytest.approx(rate, rel=1e-14)
    assert 2 * float(two[0]) == pytest.approx((q1 @ q1 + q0 @ acceleration - rate**2) / size, rel=1e-14)
    assert float(zero[4]) == pytest.approx(np.pi - np.arctan(0.4 / 0.3), rel=1e-15)
    assert float(one[4]) == pytest.approx((-0.3 * -0.2 - 0.4 * 0.7) / 0.25, rel=1e-14)


def test_an_output_that_does_not_depend_on_anything() -> None:
    x = ca.SX.sym("x", 2)
    y = ca.vertcat(ca.SX(3), x[0], ca.SX(1, 1))
    replay = Tape(x, y).values(x)
    jacobian = np.array(ca.DM(ca.densify(replay.jacobian())))
    assert np.array_equal(jacobian, [[0, 0], [1, 0], [0, 0]])
    assert np.array_equal(np.array(ca.DM(ca.densify(replay.adjoint(ca.SX(ca.DM([5, 7, 9])))))).ravel(), [7, 0])


def test_functions_of_other_numbers_share_what_is_derived() -> None:
    """Legs of a kind differ in which of a robot's numbers they take: the operations are the same, the answers not."""
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p", 5)
    one, other = (Tape(x, ca.vertcat(x[0] * p[j], ca.sin(x[1]) + p[k] * x[0]), p) for j, k in ((0, 1), (4, 2)))
    assert one.operations == other.operations
    at, numbers = np.array([0.3, 0.7]), np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    for tape, (a, b) in ((one, numbers[[0, 1]]), (other, numbers[[4, 2]])):
        value = ca.Function("f", [x, p], [tape.values(x).y, tape.values(x).jacobian()])(at, numbers)
        assert np.allclose(np.array(value[0]).ravel(), [a * 0.3, np.sin(0.7) + b * 0.3], rtol=1e-15, atol=0)
        assert np.allclose(np.array(value[1]), [[a, 0.0], [b, np.cos(0.7)]], rtol=1e-15, atol=0)


# -- linear solves ---------------------------------------------------------------------------------------------------


def solve_symmetric(matrix: ca.SX, right: ca.SX) -> Solution:
    factor = SymmetricFactor(matrix)
    return Solution(factor.solve(right), factor.quality)


def solver(solve: Any, n: int) -> Any:
    matrix, right = ca.SX.sym("A", n, n), ca.SX.sym("b", n)
    solution = solve(matrix, right)
    return ca.Function("solve", [matrix, right], [solution.x, solution.quality])


GENERAL = {n: solver(solve_general, n) for n in (1, 2, 3, 6)}
SYMMETRIC = {n: solver(solve_symmetric, n) for n in (1, 2, 3, 6)}


def solved(function: Any, matrix: Any, right: Any) -> tuple[Any, float]:
    x, quality = function(matrix, right)
    return np.array(x).ravel(), float(quality)


def backward_error(matrix: Any, x: Any, right: Any) -> float:
    """Size of the smallest change of A that makes x exact, over |A|: rounding for a backward stable solve."""
    return float(np.linalg.norm(matrix @ x - right) / (np.linalg.norm(matrix, 2) * np.linalg.norm(x) + 1e-300))


@given(st.sampled_from([1, 2, 3, 6]), st.integers(0, 10_000), st.floats(0, 14))
def test_general_solve_is_backward_stable_at_any_condition(n: int, seed: int, digits: float) -> None:
    """Singular values from 1 down to 10^-digits: the residual is that of rounding, the error the condition times it."""
    rng = np.random.default_rng(seed)
    left, right_turn = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    values = np.logspace(0, -digits, n) if n > 1 else np.ones(1)
    matrix, right = left * values @ right_turn, rng.normal(size=n)
    x, quality = solved(GENERAL[n], matrix, right)
    assert backward_error(matrix, x, right) < 1e-15 * 10 * n
    wanted = np.linalg.solve(matrix, right)
    assert np.linalg.norm(x - wanted) <= 1e-14 * n * (values[0] / values[-1]) * np.linalg.norm(wanted)
    # No pivot is below the smallest singular value over n, none above n times the largest, but for rare growth.
    assert values[-1] / values[0] / n**2 <= quality + 1e-16
    assert quality <= 1


@pytest.mark.parametrize(
    "matrix",
    [
        [[0.0, 1.0], [1.0, 0.0]],
        [[0.0, 2.0], [-3.0, 1.0]],
        [[-0.0, 1.0], [1.0, 1.0]],
        [[1e-20, 1.0], [1.0, 1.0]],
        np.eye(6)[[5, 0, 4, 1, 3, 2]].tolist(),
        (-np.eye(3)).tolist(),
        [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]],
        [[0.0, 0.0, 1.0], [0.0, 1.0, 5.0], [1.0, 5.0, 0.0]],
    ],
    ids=lambda rows: f"{len(rows)}x{len(rows)}",
)
def test_zero_pivots_need_no_choice(matrix: list[list[float]]) -> None:
    """Matrices on which elimination without pivoting divides by zero or loses all digits."""
    right = np.arange(1.0, len(matrix) + 1)
    x, quality = solved(GENERAL[len(matrix)], np.array(matrix), right)
    np.testing.assert_allclose(x, np.linalg.solve(matrix, right), rtol=1e-14, atol=1e-14)
    assert quality > 0.1 * min(abs(np.linalg.svd(matrix)[1])) / max(np.linalg.svd(matrix)[1])


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-5])
def test_quality_tells_a_singular_matrix(n: int, off: float) -> None:
    """A matrix a given distance from singular has about that quality."""
    rng = np.random.default_rng(n)
    left, turn = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    values = np.ones(n)
    values[-1] = off
    _, quality = solved(GENERAL[n], left * values @ turn, np.ones(n))
    if off == 0.0:
        assert quality < 1e-14 or np.isnan(quality)
    else:
        assert off / n**2 <= quality <= 2**n * off
    symmetric, _ = np.linalg.qr(rng.normal(size=(n, n)))
    _, quality = solved(SYMMETRIC[n], symmetric * values @ symmetric.T, np.ones(n))
    # Pivots lie between the extreme eigenvalues and multiply to the determinant; rounding may push one below zero.
    if off == 0.0:
        assert np.isnan(quality) or abs(quality) < 1e-13
    else:
        assert off * 0.99 <= quality <= 1e4 * off


@pytest.mark.parametrize("column", range(6))
@pytest.mark.parametrize("across", [False, True])
def test_quality_sees_one_small_column_or_row(column: int, across: bool) -> None:
    """An actuator that does almost nothing, or a degree of freedom that almost none moves, wherever it stands."""
    matrix = np.linalg.qr(np.random.default_rng(9).normal(size=(6, 6)))[0]
    (matrix if across else matrix.T)[column] *= 1e-10
    _, quality = solved(GENERAL[6], matrix, np.ones(6))
    assert 1e-12 < quality < 1e-8


def test_a_zero_column_is_singular_and_never_a_number_to_trust() -> None:
    for column in range(3):
        matrix = np.random.default_rng(column).normal(size=(3, 3))
        matrix[:, column] = 0
        _, quality = solved(GENERAL[3], matrix, np.ones(3))
        assert not quality > 1e-14


@given(st.sampled_from([1, 2, 3, 6]), st.integers(0, 10_000), st.floats(0, 7))
def test_symmetric_solve(n: int, seed: int, digits: float) -> None:
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.logspace(0, -digits, n)
    matrix, right = turn * values @ turn.T, rng.normal(size=n)
    matrix = (matrix + matrix.T) / 2
    x, quality = solved(SYMMETRIC[n], matrix, right)
    assert backward_error(matrix, x, right) < 1e-14 * n
    wanted = np.linalg.solve(matrix, right)
    assert np.linalg.norm(x - wanted) <= 1e-14 * n * (values[0] / values[-1]) * np.linalg.norm(wanted)
    assert 0 < quality <= 1
    # Only the upper triangle is read.
    spoilt = matrix + np.tril(np.full((n, n), np.nan), -1)
    assert np.array_equal(solved(SYMMETRIC[n], spoilt, right)[0], x)
