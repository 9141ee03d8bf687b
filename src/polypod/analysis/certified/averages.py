"""The mean, over a box, of what is left between several upper and several lower bounds of a column, from both sides.

Of X = delta + sum g_k s_k, s uniform over a box, the sum is symmetric and unimodal with variance sigma^2 (a sum of such
is, Wintner), so a mixture of uniform distributions (Khinchine). Of all mixtures with that variance

    E|X| <= |delta| + (2/9) sigma^2/|delta|  if sigma <= sqrt(3) |delta|,  else (delta^2 + 3 sigma^2)/(2 sqrt(3) sigma)

is the largest. As each s_k has moments below those of a normal number of its variance, the mean of what exceeds zero is
also at most exp(t delta + t^2 sigma^2/2)/(e t) for any t > 0 (Chernoff). E|X| is convex and even in delta and at 0 no
less than sqrt(2/pi) sigma, so E|X| >= max(|delta|, sqrt(2/pi) sigma). The mean of what exceeds zero is
(E X + E|X|)/2.

Proof of E|S| >= sqrt(2/pi) sigma for S = sum a_k U_k, U_k uniform in [-1, 1] and a_k >= 0. Let two of the a be a >= b,
or nearer to each other, a' >= b', with a^2 + b^2 = a'^2 + b'^2, and Y the sum of the others. The density of a U + b U'
is a trapezoid: 1/(2a) up to a - b, then falling to 0 at a + b with slope -1/(4ab). That of a, b is lower in the middle,
wider at its top, steeper and ends earlier than that of a', b': their difference f - f' has the signs -, +, - along
y > 0. D(y) = E|y + a U + b U'| - E|y + a' U + b' U'| is even and smooth, D'' = 2 (f - f') and D = D' = 0 from a' + b'
on, so D' has the signs -, + and D only + and then -. Its integral is the difference of the variances, zero. The density
of Y falls on both sides of 0 (unimodal), so E D(Y) >= 0: with squares nearer to each other E|S| does not grow. So each
a_k may be replaced by n of a_k/sqrt(n) each (pair by pair, T-transforms), and as n grows S becomes normal: E|S| is no
less than that of a normal number.
"""

from __future__ import annotations

from functools import cache
from math import exp, pi, sqrt
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...kernels import Expression, Kernel, Port, port
from ..fingerprint import fingerprint
from .columns import NUMBERS

_SLACK = 1e-12
"""What some hundred sums of numbers of about one size may have lost, relative to them."""
_ITERATIONS = 3
"""Functions that are combined with the first two, at most."""


class Averages(NamedTuple):
    """Of n boxes: ends of the mean length of their columns (n,), and heights (n, 2) that hold all of them."""

    least: Array
    most: Array
    heights: Array


def averages(functions: Array, low: Array, high: Array) -> Averages:
    """Of boxes (n, 6) from the functions (n, k, NUMBERS) of all legs, see :class:`Columns`."""
    flat = np.ascontiguousarray(functions.reshape(len(functions), -1))
    least, most, heights = _kernel(functions.shape[1])(flat, low, high)
    return Averages(least, most, heights)


@cache
def _kernel(count: int) -> Kernel:
    code = fingerprint("analysis/certified/averages.py", "analysis/certified/columns.py")
    return Kernel(lambda: _expression(count), f"averages {count} {code}".encode())


class _Line(NamedTuple):
    """A function over the box: ends of its mean, value in the middle, derivatives (5), remainder, its mean size."""

    low: ca.SX
    high: ca.SX
    middle: ca.SX
    derivatives: ca.SX
    remainder: ca.SX
    mean_remainder: ca.SX


def _expression(count: int) -> Expression:
    given, low, high = ca.SX.sym("functions", count * NUMBERS), ca.SX.sym("low", 6), ca.SX.sym("high", 6)
    half = 0.5 * (high - low)[[0, 1, 3, 4, 5]] * (1 + _SLACK)
    least_of, most_of = ([_line(given[NUMBERS * k : NUMBERS * (k + 1)], side) for k in range(count)] for side in (0, 3))
    flat = [_Line(z, z, z, ca.SX.zeros(5), ca.SX(0), ca.SX(0)) for z in (low[2], high[2])]

    def split(lines: list[_Line]) -> tuple[list[_Line], list[_Line]]:
        # a function that bounds z from below is turned over, so that one rule does for both
        return [flat[1], *lines[0::2]], [_negated(line) for line in (flat[0], *lines[1::2])]

    ends = high[2] - low[2]
    least = _least(*split(least_of), half)
    most = _most(*split(most_of), half, ends)
    tops, bottoms = split(most_of)
    top, bottom = (_smallest([line.middle + _reach(line, half) for line in lines]) for lines in (tops, bottoms))
    scale = _SLACK * (1 + ca.fabs(low[2]) + ca.fabs(high[2]))
    heights = ca.vertcat(ca.fmax(-bottom - scale, low[2]), ca.fmin(top + scale, high[2]))
    outputs = (
        port("least", ca.fmax(least - scale, 0), ()),
        port("most", ca.fmin(ca.fmax(most + scale, 0), ends), ()),
        port("heights", heights),
    )
    ports = Port("functions", given, (count * NUMBERS,)), Port("low", low, (6,)), Port("high", high, (6,))
    return Expression("averages", ports, outputs)


def _line(numbers: ca.SX, side: int) -> _Line:
    low, high, middle = (numbers[side + k] for k in range(3))
    return _Line(low, high, middle, numbers[6:11], numbers[11], numbers[12])


def _negated(line: _Line) -> _Line:
    return _Line(-line.high, -line.low, -line.middle, -line.derivatives, line.remainder, line.mean_remainder)


def _reach(line: _Line, half: ca.SX) -> ca.SX:
    """How far a function goes from its middle value in the box, at most."""
    return line.remainder + ca.dot(ca.fabs(line.derivatives), half)


def _smallest(values: list[ca.SX]) -> ca.SX:
    result = values[0]
    for value in values[1:]:
        result = ca.fmin(result, value)
    return result


def _lowest(lines: list[_Line]) -> tuple[_Line, ca.SX]:
    """The function that is lowest in the middle, and its number."""
    best, number = lines[0], ca.SX(0)
    for k, line in enumerate(lines[1:], 1):
        lower = line.middle < best.middle
        best = _Line(*[ca.if_else(lower, a, b) for a, b in zip(line, best, strict=True)])
        number = ca.if_else(lower, k, number)
    return best, number


class _Difference(NamedTuple):
    """Of two functions a - b: ends of its mean, value in the middle, deviation, farthest from it, mean remainder."""

    low: ca.SX
    high: ca.SX
    middle: ca.SX
    deviation: ca.SX
    reach: ca.SX
    mean_remainder: ca.SX

    @staticmethod
    def of(a: _Line, b: _Line, half: ca.SX) -> _Difference:
        across = (a.derivatives - b.derivatives) * half
        reach = ca.sum1(ca.fabs(across)) + a.remainder + b.remainder
        rest = a.mean_remainder + b.mean_remainder
        return _Difference(
            a.low - b.high, a.high - b.low, a.middle - b.middle, ca.sqrt(ca.sumsqr(across) / 3), reach, rest
        )

    @property
    def excess_most(self) -> ca.SX:
        """Mean of its positive part, at most."""
        return _excess(self.high, self.middle, self.deviation, self.reach, self.mean_remainder)

    @property
    def excess_least(self) -> ca.SX:
        """Mean of its positive part, at least."""
        mean = ca.fmax(ca.fabs(self.middle), sqrt(2 / pi) * (1 - 1e-9) * self.deviation)
        return ca.fmax(0, ca.fmax(self.low, 0.5 * (self.low + mean - self.mean_remainder)))


def _excess(high: ca.SX, middle: ca.SX, deviation: ca.SX, reach: ca.SX, mean_remainder: ca.SX) -> ca.SX:
    """Mean of the positive part of a number, at most."""
    size, s = ca.fabs(middle), deviation + 1e-150
    near = (size**2 + 3 * s**2) / (2 * sqrt(3) * s)
    far = size + (2 / 9) * s**2 / (size + 1e-150)
    mixed = 0.5 * (high + ca.if_else(s <= sqrt(3) * size, far, near) + mean_remainder)
    t = (size + ca.sqrt(size**2 + 4 * s**2)) / (2 * s**2)
    normal = ca.exp(0.5 * t**2 * s**2 - t * size) / (exp(1) * t) * (1 + 1e-9) + mean_remainder
    bound = ca.fmin(mixed, ca.if_else(middle < 0, normal, mixed))
    return ca.if_else(middle + reach <= 0, 0, ca.fmax(bound, 0))


def _least(tops: list[_Line], bottoms: list[_Line], half: ca.SX) -> ca.SX:
    """E max(0, min tops + min bottoms) >= E t + E b - sum E max(0, t - other) - ..., t and b lowest in the middle."""
    total = ca.SX(0)
    for lines in (tops, bottoms):
        best, number = _lowest(lines)
        total += best.low
        for k, line in enumerate(lines):
            lost = _Difference.of(best, line, half).excess_most
            total -= ca.if_else(number == k, 0, lost)
    return total


def _most(tops: list[_Line], bottoms: list[_Line], half: ca.SX, ends: ca.SX) -> ca.SX:
    """The smaller of two bounds: of the positive part of t + b; and, where columns surely have a length, less kinks."""
    best = [_lowest(lines)[0] for lines in (tops, bottoms)]
    one = _combined(best, (tops, bottoms), half)
    floors = [_smallest([line.middle - _reach(line, half) for line in lines]) for lines in (tops, bottoms)]
    kinked = best[0].high + best[1].high
    for lines, b in zip((tops, bottoms), best, strict=True):
        cut = ca.SX(0)
        for line in lines:
            cut = ca.fmax(cut, _Difference.of(b, line, half).excess_least)
        kinked -= cut
    return ca.fmin(ca.fmin(one, ends), ca.if_else(floors[0] + floors[1] > 0, kinked, ends))


def _combined(best: list[_Line], sides: tuple[list[_Line], list[_Line]], half: ca.SX) -> ca.SX:
    """The mean of max(0, t + b), at most, for means t of tops and b of bottoms, which are no less than the least.

    Each round adds the function, with the weight, that makes the mean of t + b smallest against its deviation: near a
    corner of the workspace derivatives of several functions cancel, and what is outside is seen to be.
    """
    current = list(best)
    least = _bound(current, half)
    for _ in range(_ITERATIONS):
        chosen = list(current)
        for side in range(2):
            total = (current[0].derivatives + current[1].derivatives) * half
            delta = current[0].middle + current[1].middle
            for line in sides[side]:
                way = (line.derivatives - current[side].derivatives) * half
                d, c, w, s = line.middle - current[side].middle, ca.dot(total, way), ca.sumsqr(way), ca.sumsqr(total)
                part = (d * s - delta * c) / (delta * w - c * d)
                part = ca.if_else(ca.logic_and(part > 0, part < 1), part, 0)
                mixed = _Line(*[(1 - part) * a + part * b for a, b in zip(current[side], line, strict=True)])
                pair = [mixed, current[1]] if side == 0 else [current[0], mixed]
                found = _bound(pair, half)
                better = found < least
                least = ca.if_else(better, found, least)
                chosen = [
                    _Line(*[ca.if_else(better, a, b) for a, b in zip(new, old, strict=True)])
                    for new, old in zip(pair, chosen, strict=True)
                ]
        current = chosen
    return least


def _bound(pair: list[_Line], half: ca.SX) -> ca.SX:
    return _Difference.of(pair[0], _negated(pair[1]), half).excess_most
