"""The Runge-Kutta builder: methods check themselves, compiled steps against closed forms and steps in numbers."""

from __future__ import annotations

from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from polypod.kernels import Iteration, Kernel, Port, port
from polypod.symbols.integration import RK4, Method, Outcome, Stage, StageDerivative, runge_kutta
from support.refusals import refused

HALF = Fraction(1, 2)


def test_a_wrong_method_is_refused_at_construction() -> None:
    third = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 3), Fraction(1, 6))
    with refused(ValueError, "4 1 7/6"):
        Method("slip", 4, RK4.nodes, RK4.reach, (Fraction(1, 3), *third[1:]))
    with refused(ValueError, "slip c_i"):
        Method("slip", 4, (Fraction(0), HALF, HALF, HALF), RK4.reach, third)
    with refused(ValueError, "3"):
        Method("midpoint", 3, (Fraction(0), HALF), (Fraction(0), HALF), (Fraction(0), Fraction(1)))
    assert Method("midpoint", 2, (Fraction(0), HALF), (Fraction(0), HALF), (Fraction(0), Fraction(1))).order == 2


def ports(count: int) -> tuple[Port, Port, Port]:
    x = ca.SX.sym("x", count)
    return Port("x", x, (count,)), Port("h", ca.SX.sym("h"), ()), Port("n", ca.SX.sym("n"), ())


def ended(outcome: Outcome) -> tuple[Port, ...]:
    return (
        port("x", outcome.state), port("quality", outcome.quality, ()), port("converged", outcome.converged, ())
    )  # fmt: skip


def run(iteration: Iteration, x: list[float], h: float, n: int) -> tuple[np.ndarray, float, float]:
    state, quality, converged = Kernel(lambda: iteration)(np.array([x]), np.array([h]), np.array([float(n)]))
    return state[0], float(quality[0]), float(converged[0])


def test_steps_of_an_oscillator_are_of_fourth_order_and_equal_those_in_numbers() -> None:
    given = ports(2)
    iteration = runge_kutta(
        "swing", given, given[0].symbols, given[1].symbols, given[2].symbols,
        lambda s: StageDerivative(ca.vertcat(s.y[1], -s.y[0]), ca.SX(1)), ended,
    )  # fmt: skip
    exact = np.array([np.sin(1.0), np.cos(1.0)])
    errors = [np.abs(run(iteration, [0.0, 1.0], 1 / n, n)[0] - exact).max() for n in (8, 16, 32)]
    # a fourth-order method gains 16 with every halving, and a little of the next order
    assert 15 < errors[0] / errors[1] < 17.5
    assert 15 < errors[1] / errors[2] < 17
    y = np.array([0.0, 1.0])
    for k in range(8):
        y = RK4.advance(lambda time, y: np.array([y[1], -y[0]]), k / 8, y, 1 / 8)
    assert np.abs(run(iteration, [0.0, 1.0], 1 / 8, 8)[0] - y).max() < 1e-15


def implicit(factor: float) -> Iteration:
    """y' = -z with z = (y + factor z)/(1 + factor) found by iterating, so that z = y."""
    given = ports(1)

    def slope(s: Stage) -> StageDerivative:
        new = (s.y + factor * s.inner) / (1 + factor)
        return StageDerivative(-s.inner, ca.SX(1), new, ca.fabs(new - s.inner) < 1e-15)

    return runge_kutta("inner", given, *(p.symbols for p in given), slope, ended, inner=ca.SX(0))


def test_inner_values_are_found_at_every_stage() -> None:
    end, _, converged = run(implicit(0.2), [1.0], 0.1, 3)
    decay = 1.0
    for _ in range(3):
        decay *= 1 - 0.1 + 0.1**2 / 2 - 0.1**3 / 6 + 0.1**4 / 24
    assert abs(end[0] - decay) < 1e-14
    assert converged == 1.0


def test_rounds_of_a_stage_do_not_repeat_what_the_stage_alone_determines() -> None:
    """y' = -z with z found by iterating from exp(y): states at different stages side by side end as each does alone."""
    given = ports(1)

    def slope(s: Stage) -> StageDerivative:
        new = 0.9 * s.inner + 0.1 * ca.exp(s.y)
        return StageDerivative(-s.inner, ca.SX(1), new, ca.fabs(new - s.inner) < 1e-6 * ca.fabs(s.y))

    iteration = runge_kutta("kept", given, *(p.symbols for p in given), slope, ended, inner=ca.SX(0))
    loop = iteration.program.loop
    assert loop is not None
    assert loop.renew is not None
    assert ca.OP_EXP in {step.op for step in loop.renew.operations}
    assert ca.OP_EXP not in {step.op for step in loop.step.operations}
    kernel = Kernel(lambda: iteration)
    x, h, n = np.array([[1.0], [0.1], [1e-3], [2.0], [0.5]]), np.array([0.1, 0.3, 0.2, 0.01, 0.1]), np.arange(1.0, 6.0)
    states, _, _ = kernel(x, h, n)
    for k in range(5):
        state, _, _ = kernel(x[k : k + 1], h[k : k + 1], n[k : k + 1])
        assert states[k] == state[0]
        # y' = -exp(y): exp(-y) grows by t; RK4 in steps of up to 0.3, z to 1e-5
        assert np.exp(-state[0]) == pytest.approx(np.exp(-x[k]) + h[k] * n[k], rel=2e-3)


def test_inner_values_without_end_are_reported_and_end_the_steps() -> None:
    end, _, converged = run(implicit(-3.0), [1.0], 0.1, 1_000_000)
    assert converged == 0.0
    assert end[0] == 1.0


def test_a_step_is_cut_where_its_rate_has_a_corner() -> None:
    """y' = 1 up to y = 1/3, then -2: exact if a step ends at the corner, off by a part of a step if not."""
    given = ports(1)

    def slope(s: Stage) -> StageDerivative:
        before = s.inner > 0.5
        now = ca.if_else(s.number < 0.5, s.state < 1 / 3 - 1e-12, before)
        longest = ca.if_else(now, 1 / 3 - s.state, 1e300)
        return StageDerivative(ca.if_else(now, 1, -2), ca.SX(1), now, ca.SX(1), longest)

    iteration = runge_kutta("corner", given, *(p.symbols for p in given), slope, ended, inner=ca.SX(1))
    end, _, _ = run(iteration, [0.0], 0.25, 2)
    assert abs(end[0] - (1 / 3 - 2 * (0.5 - 1 / 3))) < 1e-12
    end, _, _ = run(iteration, [0.0], 0.0, 2)
    assert end[0] == 0.0


def test_a_lost_quality_is_reported_and_ends_the_steps() -> None:
    """y' = 1 with quality 1 - y: lost where a stage passes 1; the state is that of the last whole step."""
    given = ports(1)
    iteration = runge_kutta(
        "wall", given, *(p.symbols for p in given), lambda s: StageDerivative(ca.SX(1), 1 - s.y), ended
    )
    end, quality, _ = run(iteration, [0.0], 0.3, 1_000_000)
    assert abs(end[0] - 0.9) < 1e-15
    assert quality <= 0
    end, quality, _ = run(iteration, [0.0], 0.3, 2)
    assert abs(quality - 0.4) < 1e-15
    assert np.isnan(run(iteration, [float("nan")], 0.3, 2)[1])
