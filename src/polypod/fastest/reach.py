"""The fastest speed along a path under linear constraints: a backward and a forward pass (reachability, TOPP-RA).

With x = w^2 the square of the speed and u the acceleration along the path, x' = 2 u: between two places x_(i+1) = x_i +
2 d_i u_i. Constraints A u + B x <= C at an interval's start are a convex polygon in (x, u): u lies between the greatest
of lower lines and the least of upper lines. Backwards, the interval of x from which the next one can be reached follows
by eliminating u (every lower line below every upper one); forwards, the largest u that stays inside is taken. Both
passes are one compiled kernel each.

Pham, Pham: A new approach to time-optimal path parameterization based on reachability analysis, IEEE T-RO 2018.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Expression, Iteration, Kernel, Port, port

_NO_BOUND = 1e200
"""Stands for a line that says nothing: no sum or product with it overflows."""
_FLAT = 1e-10
"""Share of the largest factor of u among all constraints of a kind below which one does not depend on u."""
_LEVEL = 1e-9
"""Size of 1 - 2 d slope below which a constraint at an interval's end does not depend on x at its start."""
_MAX_SQUARE = 1e30
_SLACK = 1e-9
_MAX_STEPS = 40


class AccelerationBounds(NamedTuple):
    """Bounds on u over N intervals: upper - upper_slope x >= u >= lower - lower_slope x, each (N, r); bounds on x."""

    upper: Array
    upper_slope: Array
    lower: Array
    lower_slope: Array
    least: Array
    most: Array


class Profile(NamedTuple):
    """Squares of speeds (N + 1,); ``infeasible`` is the last interval from which the end cannot be reached, or None."""

    x: Array
    infeasible: int | None


def as_bounds(u: Array, x: Array, bound: Array) -> AccelerationBounds:
    """Constraints u_factor u + x_factor x <= bound, each (N, 2, r), as lines.

    The two of a pair are mostly a quantity's upper and lower bound: one of them bounds u above, the other below.
    """
    flat = np.abs(u) <= _FLAT * np.abs(u).max(axis=0, keepdims=True, initial=0.0)
    factor = 1.0 / np.where(flat, 1.0, u)
    value, slope = bound * factor, x * factor
    up, down = ~flat & (u > 0), ~flat & (u < 0)
    least, most = np.zeros(len(u)), np.full(len(u), _MAX_SQUARE)
    if flat.any():
        edge = bound / np.where(x == 0.0, 1.0, x)
        most = np.minimum(most, np.where(flat & (x > 0), edge, _MAX_SQUARE).min(axis=(1, 2)))
        least = np.maximum(least, np.where(flat & (x < 0), edge, 0.0).max(axis=(1, 2)))
    if not (up[:, 0] & up[:, 1]).any() and not (down[:, 0] & down[:, 1]).any():
        return AccelerationBounds(
            *_one_of_two(up, value, slope, _NO_BOUND), *_one_of_two(down, value, slope, -_NO_BOUND), least, most
        )
    shape = len(u), -1
    return AccelerationBounds(
        np.where(up, value, _NO_BOUND).reshape(shape), np.where(up, slope, 0.0).reshape(shape),
        np.where(down, value, -_NO_BOUND).reshape(shape), np.where(down, slope, 0.0).reshape(shape), least, most,
    )  # fmt: skip


def _one_of_two(chosen: NDArray[np.bool_], value: Array, slope: Array, none: float) -> tuple[Array, Array]:
    """Values and derivatives (N, r) of the chosen of each pair; ``none`` where neither is."""
    first, second = chosen[:, 0], chosen[:, 1]
    height = np.where(first, value[:, 0], np.where(second, value[:, 1], none))
    return height, np.where(first, slope[:, 0], np.where(second, slope[:, 1], 0.0))


def fastest_profile(bounds: AccelerationBounds, step: Array, most: Array) -> Profile:
    """The largest squares of speeds (N + 1,) from rest to rest with x_i <= ``most`` (N + 1,) over steps (N,)."""
    low, high = _feasible(bounds, np.minimum(bounds.most, most[:-1]))
    low = np.maximum(low, bounds.least)
    backward, forward = _kernels(bounds.upper.shape[1])[:2]

    def rows(*arrays: Array, order: int = 1) -> list[Array]:
        return [np.ascontiguousarray(a[::order].reshape(len(step), 1, -1)) for a in arrays]

    parts = rows(low, high, step, *bounds[:4], order=-1)
    _, kept = backward.along(np.zeros((1, 2)), *_squeezed(parts, 3), carry=("next", "reach"))
    reach = np.vstack([np.asarray(kept)[::-1, 0], np.zeros((1, 2))])
    empty = reach[:, 0] > reach[:, 1] + _SLACK * (1.0 + np.abs(reach[:, 1]))
    if empty.any() or reach[0, 0] > _SLACK:
        return Profile(np.maximum(reach[:, 1], 0.0), int(np.flatnonzero(empty)[-1]) if empty.any() else 0)
    given = _squeezed(rows(step, reach[1:, 0], reach[1:, 1], *bounds[:2]), 3)
    _, x = forward.along(np.zeros(1), *given, carry=("x", "after"))
    return Profile(np.maximum(np.concatenate([[0.0], np.asarray(x)[:, 0]]), 0.0), None)


def _squeezed(parts: list[Array], scalars: int) -> list[Array]:
    """Rows of single numbers without an axis of their own."""
    return [part[..., 0] if k < scalars else part for k, part in enumerate(parts)]


def _feasible(bounds: AccelerationBounds, most: Array) -> tuple[Array, Array]:
    """The least and largest x (N,) at which some u is allowed: roots of a convex function, by Newton's steps.

    The excess of the lower over the upper lines is convex in x; from the right of its roots steps lead to the greater,
    from 0 to the smaller. Where it has none the answer is empty, least above largest.
    """
    to_greater, to_smaller = _kernels(bounds.upper.shape[1])[2:]
    high = _root(to_greater, most, bounds)
    low = np.zeros_like(high)
    above, below = bounds.lower.max(axis=1), bounds.upper.min(axis=1)
    rows = np.flatnonzero((high >= 0) & (above - below > _SLACK * (np.abs(above) + np.abs(below))))
    if len(rows):
        low[rows] = _root(to_smaller, low[rows], AccelerationBounds(*(part[rows] for part in bounds)))
    return low, high


def _root(step: Kernel, x: Array, bounds: AccelerationBounds) -> Array:
    """Where Newton's steps from x (N,) end; a line is met once, so they do."""
    for _ in range(_MAX_STEPS):
        after = step(x, *bounds[:4])
        if (after == x).all():
            break
        x = after
    return x


@cache
def _kernels(count: int) -> tuple[Kernel, Kernel, Kernel, Kernel]:
    """The passes and the steps to the greater and the smaller root, for ``count`` lines on each side."""

    def kernel(what: str, build: Callable[[], Expression | Iteration]) -> Kernel:
        return Kernel(build, CacheKey.of(f"{what} {count}", fingerprint("fastest/reach.py", "symbols")))

    return (
        kernel("backward pass", lambda: _backward_pass(count)),
        kernel("forward pass", lambda: _forward_pass(count)),
        kernel("greater root", lambda: _newton_step(count, True)),
        kernel("smaller root", lambda: _newton_step(count, False)),
    )


def _newton_step(count: int, greater: bool) -> Expression:
    """Newton's step in x to the greater root of the excess of lower over upper lines, or to the smaller one.

    Where x has nothing above it to be reduced, it stays; without a root it becomes -1 or _MAX_SQUARE.
    """
    x = ca.SX.sym("x")
    upper, upper_slope, lower, lower_slope = (ca.SX.sym(name, count) for name in ("p", "q", "m", "n"))
    low, low_value, low_slope = _outermost(lower, lower_slope, x, ca.gt)
    up, up_value, up_slope = _outermost(upper, upper_slope, x, ca.lt)
    over = low_value - up_value > _SLACK * (ca.fabs(low_value) + ca.fabs(up_value))
    growth = up_slope - low_slope
    meet = (up - low) / growth
    if greater:
        step = ca.if_else(growth > 0, ca.fmax(meet, -1.0), -1.0)
        after = ca.if_else(ca.logic_and(over, x >= 0), step, x)
    else:
        step = ca.if_else(growth < 0, meet, _MAX_SQUARE)
        after = ca.if_else(ca.logic_and(over, x < _MAX_SQUARE), step, x)
    inputs = (
        Port("x", x, ()), Port("upper", upper, (count,)), Port("upper_slope", upper_slope, (count,)),
        Port("lower", lower, (count,)), Port("lower_slope", lower_slope, (count,)),
    )  # fmt: skip
    return Expression(f"step_{'down' if greater else 'up'}", inputs, (port("after", after, ()),))


def _outermost(
    height: ca.SX, slope: ca.SX, x: ca.SX, beyond: Callable[[ca.SX, ca.SX], ca.SX]
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Of lines height - slope x the height, value and slope of the one beyond all others at x."""
    best, value, steepness = height[0], height[0] - slope[0] * x, slope[0]
    for k in range(1, height.numel()):
        other = height[k] - slope[k] * x
        further = beyond(other, value)
        best, steepness = ca.if_else(further, height[k], best), ca.if_else(further, slope[k], steepness)
        value = ca.if_else(further, other, value)
    return best, value, steepness


def _backward_pass(count: int) -> Expression:
    """Backward pass: from the interval (least, largest) of x at the next place to that here."""
    after, low, high, step = ca.SX.sym("next", 2), ca.SX.sym("low"), ca.SX.sym("high"), ca.SX.sym("step")
    upper, upper_slope, lower, lower_slope = (ca.SX.sym(name, count) for name in ("p", "q", "m", "n"))
    least, most = low, high
    for k in range(count):
        for value, slope, reach, rising in (
            (lower, lower_slope, after[1], True),
            (upper, upper_slope, after[0], False),
        ):
            # x + 2 d (value - slope x) <= largest next, or >= least next; a factor of 0 leaves the next x alone
            factor = 1 - 2 * step * slope[k]
            edge = (reach - 2 * step * value[k]) / factor
            above, below = (factor > _LEVEL, factor < -_LEVEL) if rising else (factor < -_LEVEL, factor > _LEVEL)
            most = ca.if_else(above, ca.fmin(most, edge), most)
            least = ca.if_else(below, ca.fmax(least, edge), least)
    inputs = (
        Port("next", after, (2,)), Port("low", low, ()), Port("high", high, ()), Port("step", step, ()),
        Port("upper", upper, (count,)), Port("upper_slope", upper_slope, (count,)),
        Port("lower", lower, (count,)), Port("lower_slope", lower_slope, (count,)),
    )  # fmt: skip
    return Expression("sweep_back", inputs, (port("most", most, ()), port("reach", ca.vertcat(least, most))))


def _forward_pass(count: int) -> Expression:
    """Forward pass: from x here to the largest at the next place within the interval that the backward pass found."""
    x, step, least, most = (ca.SX.sym(name) for name in ("x", "step", "least", "most"))
    upper, slope = ca.SX.sym("p", count), ca.SX.sym("q", count)
    u = ca.SX(_NO_BOUND)
    for k in range(count):
        u = ca.fmin(u, upper[k] - slope[k] * x)
    after = ca.fmin(ca.fmax(x + 2 * step * u, least), most)
    inputs = (
        Port("x", x, ()), Port("step", step, ()), Port("least", least, ()), Port("most", most, ()),
        Port("upper", upper, (count,)), Port("slope", slope, (count,)),
    )  # fmt: skip
    return Expression("sweep_forth", inputs, (port("u", u, ()), port("after", after, ())))
