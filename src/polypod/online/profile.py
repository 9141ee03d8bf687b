"""Jerk-limited motion of one axis to a target, in symbols: closed forms for a given time, a monotone equation for the
shortest.

A state (v, a) of an axis and limits of speed V, acceleration A and jerk J are given; the axis is to come to rest after
a distance d. Of all motions that rest after a time T, the one that gets farthest raises the acceleration to p (jerk
+J), lowers it to -b (-J) and raises it to 0 (+J); it stays at p = A, at b = A and at the speed V where these are
reached.
With K = a^2/2 - J v the speed at the end is zero where p^2 - b^2 = K, and the jerks take the time

    J T = 2 p - a + 2 b,   so   p, b = (S +- K/S)/2,   S = (J T + a)/2;
    p = A is kept for a time:   b = sqrt(A (J T + a) - K) - A,   b = A:   p = sqrt(A (J T + a) + K) - A.

p may be negative: the axis brakes, a little less at first. The distance grows with the time, by

    dd/dT = b (p + 2 b + 2 J t_b)/(2 J)

(Pontryagin's principle; t_b is how long -A is kept), so that the shortest time is the one root of a monotone function.
Every motion that rests after T can be followed by rest, so the distances that can be made in T grow with T in both
directions: an axis that has more time than it needs takes the mean of the farthest motions forward and backward,
weighted such that its distance is d. Limits hold for both, thus for every mean of them.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

TOLERANCE, SINGLE_TOLERANCE = 4e-16, 3e-7
"""Part of the time by which the last step of the search may change it, in double and in single precision."""
MAX_ITERATIONS = 120
"""Every second step halves the interval at least: more than twice the bits of a double."""


class Limits(NamedTuple):
    """Highest and lowest speed (above and below zero), acceleration and jerk of an axis."""

    high: ca.SX
    low: ca.SX
    acceleration: ca.SX
    jerk: ca.SX

    @property
    def mirrored(self) -> Limits:
        """The same in the other direction."""
        return Limits(-self.low, -self.high, self.acceleration, self.jerk)

    def towards(self, direction: ca.SX) -> Limits:
        """The limits, or the mirrored ones if the direction is -1."""
        up = direction > 0
        high, low = ca.if_else(up, self.high, -self.low), ca.if_else(up, self.low, -self.high)
        return Limits(high, low, self.acceleration, self.jerk)


class AxisState(NamedTuple):
    """Position, speed and acceleration of an axis."""

    x: ca.SX
    v: ca.SX
    a: ca.SX

    def after(self, time: ca.SX, jerk: ca.SX) -> AxisState:
        """The state after some time of constant jerk."""
        return AxisState(
            self.x + time * (self.v + time * (self.a / 2 + time * jerk / 6)),
            self.v + time * (self.a + time * jerk / 2),
            self.a + time * jerk,
        )


class Phases(NamedTuple):
    """Durations of phases and the jerk in each."""

    times: tuple[ca.SX, ...]
    jerks: tuple[ca.SX, ...]

    @property
    def duration(self) -> ca.SX:
        """All of them together."""
        return sum(self.times[1:], self.times[0])

    def at(self, time: ca.SX, start: AxisState) -> AxisState:
        """The state at a time after the start; that of the end later on."""
        state, left = start, time
        for span, jerk in zip(self.times, self.jerks, strict=True):
            now = ca.fmax(0, ca.fmin(span, left))
            state, left = state.after(now, jerk), left - span
        return state

    def end(self, start: AxisState) -> AxisState:
        """The state after all phases."""
        for span, jerk in zip(self.times, self.jerks, strict=True):
            start = start.after(span, jerk)
        return start

    def scaled(self, factor: ca.SX) -> Phases:
        """The same times with every jerk multiplied."""
        return Phases(self.times, tuple(factor * jerk for jerk in self.jerks))


def _root(value: ca.SX) -> ca.SX:
    """The square root of what is negative by rounding only."""
    return ca.sqrt(ca.fmax(value, 0))


def _positive(value: ca.SX) -> ca.SX:
    return ca.fmax(value, 0)


def back_within_limits(v: ca.SX, a: ca.SX, limits: Limits) -> Phases:
    """What comes first where a state exceeds limits, or cannot but exceed them: the shortest way to where it need not.

    The acceleration comes back to A, then the speed to where the highest jerk brings it to its limit without exceeding
    it. All times are zero for a state within limits.
    """
    J, A = limits.jerk, limits.acceleration
    side = ca.if_else(a < 0, -1, 1)
    excess = _positive(ca.fabs(a) - A) / J
    state = AxisState(ca.SX(0), v, a).after(excess, -side * J)
    v, a = state.v, state.a
    rest = v + a * ca.fabs(a) / (2 * J)  # the speed where the acceleration is brought to zero
    over, under = rest > limits.high, rest < limits.low
    sign = ca.if_else(under, -1, 1)
    beyond = ca.logic_or(over, under)
    v, a, most = sign * v, sign * a, ca.if_else(under, -limits.low, limits.high)
    wanted = a**2 / 2 + J * (v - most)
    peak = ca.fmin(_root(wanted), A)
    hold = _positive(wanted - A**2) / (J * A)
    turn = ca.if_else(beyond, _positive(a + peak) / J, 0)
    return Phases((excess, turn, ca.if_else(beyond, hold, 0)), (-side * J, -sign * J, ca.SX(0)))


def stop(v: ca.SX, a: ca.SX, limits: Limits) -> Phases:
    """The shortest motion to rest, wherever that is."""
    J, A = limits.jerk, limits.acceleration
    sign = ca.if_else(v + a * ca.fabs(a) / (2 * J) < 0, -1, 1)
    v, a = sign * v, sign * a
    wanted = J * v + a**2 / 2
    b = ca.fmin(_root(wanted), A)
    times = (_positive(a + b) / J, _positive(wanted - A**2) / (J * A), b / J)
    return Phases(times, (-sign * J, ca.SX(0), sign * J))


class Farthest(NamedTuple):
    """The motion that gets farthest in a time: seven phases, and by how much farther in more time."""

    phases: Phases
    growth: ca.SX


def farthest(time: ca.SX, v: ca.SX, a: ca.SX, limits: Limits) -> Farthest:
    """The motion that gets farthest upward and rests after ``time``, which is not shorter than that of ``stop``."""
    J, A, V = limits.jerk, limits.acceleration, limits.high
    K, total = a**2 / 2 - J * v, J * time + a
    S = ca.fmax(total / 2, _root(K))
    ratio = K / ca.fmax(S, 1e-150)
    p, b = (S + ratio) / 2, (S - ratio) / 2
    # the larger of both peaks reaches A first, then the other
    b_then, p_then = _root(A * total - K) - A, _root(A * total + K) - A
    first, second = ca.logic_and(p > A, K >= 0), ca.logic_and(b > A, K < 0)
    both = ca.logic_or(ca.logic_and(first, b_then > A), ca.logic_and(second, p_then > A))
    p = ca.if_else(ca.logic_or(both, first), A, ca.if_else(second, p_then, p))
    b = ca.if_else(ca.logic_or(both, second), A, ca.if_else(first, b_then, b))
    spare = (total - 4 * A) / J
    keep_p = ca.if_else(both, (spare + K / (J * A)) / 2, ca.if_else(first, (b**2 - A**2 + K) / (J * A), 0))
    keep_b = ca.if_else(both, (spare - K / (J * A)) / 2, ca.if_else(second, (p**2 - A**2 - K) / (J * A), 0))
    # the highest speed
    fast = ca.logic_and(p > 0, b**2 / J + A * keep_b > V)
    p2, b2 = J * V + K, J * V
    p = ca.if_else(fast, ca.fmin(_root(p2), A), p)
    b = ca.if_else(fast, ca.fmin(_root(b2), A), b)
    keep_p = _positive(ca.if_else(fast, (p2 - A**2) / (J * A), keep_p))
    keep_b = _positive(ca.if_else(fast, (b2 - A**2) / (J * A), keep_b))
    p, b = ca.fmax(p, a), ca.fmax(b, -p)
    cruise = ca.if_else(fast, _positive(time - (2 * p - a + 2 * b) / J - keep_p - keep_b), 0)
    falls = ca.if_else(p > 0, p / J, 0)  # down to zero acceleration, where the speed is highest
    times = ((p - a) / J, keep_p, falls, cruise, (p + b) / J - falls, keep_b, _positive(b) / J)
    growth = ca.if_else(fast, V, _positive(b) * (p + 2 * b + 2 * J * keep_b) / (2 * J))
    return Farthest(Phases(times, (J, ca.SX(0), -J, ca.SX(0), -J, ca.SX(0), J)), growth)


def time_to_cruise(v: ca.SX, a: ca.SX, limits: Limits) -> ca.SX:
    """The shortest motion to rest that reaches the highest speed: its duration."""
    J, A, V = limits.jerk, limits.acceleration, limits.high
    p2, b2 = J * V + a**2 / 2 - J * v, J * V
    p, b = ca.fmin(_root(p2), A), ca.fmin(_root(b2), A)
    return (2 * ca.fmax(p, a) - a + 2 * b) / J + (_positive(p2 - A**2) + _positive(b2 - A**2)) / (J * A)
