"""Several axes from any state to a target, all at rest at the same time, in symbols.

Positions are taken relative to the target, which may move at a constant speed: what rests there moves with it.
"""

from __future__ import annotations

import casadi as ca

from ..symbols.expression import Iteration, Port, port
from .profile import (
    MAX_ITERATIONS,
    SINGLE_TOLERANCE,
    TOLERANCE,
    AxisState,
    Limits,
    back_within_limits,
    farthest,
    stop,
    time_to_cruise,
)

STATE = ("q", "qdot", "qddot")
LIMITS = ("max_speed", "max_acceleration", "max_jerk")
TARGET = ("target", "target_velocity")
RANGE = ("lowest", "highest")


class _Axis:
    """One axis: what its state needs before it is within limits, and the search for its shortest time afterwards."""

    def __init__(self, state: AxisState, limits: Limits) -> None:
        self.start, self.limits = state, limits
        self.first = back_within_limits(state.v, state.a, limits)
        self.state = self.first.end(state)
        v, a = self.state.v, self.state.a
        least = stop(v, a, limits)
        rest = least.end(self.state).x
        self.sign = ca.if_else(rest > 0, -1, 1)  # the target is at zero
        self.shortest = least.duration
        self.v, self.a, self.distance = self.sign * v, self.sign * a, -self.sign * self.state.x
        self.along = limits.towards(self.sign)
        self.to_cruise = ca.fmax(time_to_cruise(self.v, self.a, self.along), self.shortest)
        beyond = self.distance - self.reach(self.to_cruise)[0]
        self.cruises = beyond >= 0
        # from rest to rest over what the stop leaves, without a highest speed: not shorter than what is sought
        A, J = limits.acceleration, limits.jerk
        left = ca.fabs(rest)
        jerky = (32 * left / J) ** (1 / 3)
        guess = self.shortest + ca.if_else(J * jerky > 4 * A, A / J + ca.sqrt((A / J) ** 2 + 4 * left / A), jerky)
        self.guess = ca.if_else(self.cruises, self.to_cruise + beyond / self.along.high, ca.fmin(guess, self.to_cruise))

    def reach(self, time: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The farthest distance towards the target in a time, and its derivative."""
        found = farthest(time, self.v, self.a, self.along)
        return found.phases.end(AxisState(ca.SX(0), self.v, self.a)).x, found.growth

    def searched(self, state: ca.SX, tolerance: float) -> tuple[ca.SX, ca.SX]:
        """A step of the search and whether it ends: Newton's, or half the interval where that is slower.

        ``state`` (4) is the time, the interval of it, and the last step.
        """
        time, low, high, last = (state[k] for k in range(4))
        found, growth = self.reach(time)
        gap = found - self.distance
        short = gap < 0
        low, high = ca.if_else(short, time, low), ca.if_else(short, high, time)
        newton = time - gap / ca.fmax(growth, 1e-150)
        slow = ca.logic_or(ca.logic_or(newton < low, newton > high), ca.fabs(newton - time) > ca.fabs(last) / 2)
        following = ca.if_else(slow, (low + high) / 2, newton)
        step = following - time
        done = ca.logic_or(ca.fabs(step) <= tolerance * ca.fabs(following), self.cruises)
        return ca.vertcat(ca.if_else(self.cruises, time, following), low, high, step), done

    def at(self, time: ca.SX, whole: ca.SX) -> AxisState:
        """The state at a time of a motion that takes the ``whole`` time."""
        early = self.first.at(time, self.start)
        spare = ca.fmax(whole - self.first.duration, self.shortest)
        v, a = self.state.v, self.state.a
        up = farthest(spare, v, a, self.limits).phases
        down = farthest(spare, -v, -a, self.limits.mirrored).phases.scaled(ca.SX(-1))
        high, low = up.end(self.state).x, down.end(self.state).x
        part = ca.fmax(0, ca.fmin(1, ca.if_else(high > low, -low / (high - low), 1)))
        then = ca.fmax(time - self.first.duration, 0)
        mean = [
            part * x + (1 - part) * y for x, y in zip(up.at(then, self.state), down.at(then, self.state), strict=True)
        ]
        late = time > self.first.duration
        return AxisState(*(ca.if_else(late, x, y) for x, y in zip(mean, early, strict=True)))


def online_step(count: int, single: bool = False) -> Iteration:
    """The state of ``count`` axes some time after another, on the shortest way to a target.

    Inputs: ``q``, ``qdot``, ``qddot`` (n), the ``target`` and the speed at which it moves (n), the largest speed,
    acceleration and jerk (n), the range of the target (n), and the ``time``. Outputs: the state (n) at that time, the
    ``duration`` in which all axes come to the target, the shortest of each axis (n), by how much the target is
    ``outside`` its range (n; the nearest within is taken), and whether the search ``converged``.
    """
    tolerance = SINGLE_TOLERANCE if single else TOLERANCE
    given = {name: ca.SX.sym(name, count) for name in (*STATE, *TARGET, *LIMITS, *RANGE)}
    time = ca.SX.sym("time")
    axes, goals = [], []
    for k in range(count):
        x, v, a, target, moves, speed, acceleration, jerk, lowest, highest = (given[name][k] for name in given)
        target = ca.fmax(lowest, ca.fmin(highest, target))
        goals.append(target)
        limits = Limits(speed - moves, -speed - moves, acceleration, jerk)
        axes.append(_Axis(AxisState(x - target, v - moves, a), limits))
    state = ca.SX.sym("state", 4 * count + 2)
    steps, ends = zip(*(axis.searched(state[4 * k : 4 * k + 4], tolerance) for k, axis in enumerate(axes)), strict=True)
    rounds = state[4 * count] + 1
    done = ca.logic_or(_all(ends), rounds >= MAX_ITERATIONS)
    start = [ca.vertcat(axis.guess, axis.shortest, axis.to_cruise, 2 * axis.to_cruise) for axis in axes]
    times = [ca.fmax(state[4 * k], axis.shortest) + axis.first.duration for k, axis in enumerate(axes)]
    whole = ca.mmax(ca.vertcat(*times))
    found = [axis.at(time, whole) for axis in axes]
    arrived = time >= whole
    drift = [given["target_velocity"][k] for k in range(count)]
    outputs = [
        [ca.if_else(arrived, 0, one.x) + goal + u * time for one, goal, u in zip(found, goals, drift, strict=True)],
        [ca.if_else(arrived, 0, one.v) + u for one, u in zip(found, drift, strict=True)],
        [ca.if_else(arrived, 0, one.a) for one in found],
    ]
    ports = [port(name, ca.vertcat(*values), (count,)) for name, values in zip(STATE, outputs, strict=True)]
    ports += [port("duration", whole, ()), port("durations", ca.vertcat(*times), (count,))]
    ports.append(port("outside", given["target"] - ca.vertcat(*goals), (count,)))
    slower = _all(tuple(ca.fabs(u) < given["max_speed"][k] for k, u in enumerate(drift)))
    ports.append(port("converged", ca.logic_and(state[4 * count] < MAX_ITERATIONS, slower), ()))
    return Iteration(
        "online_step",
        (*(Port(name, symbols, (count,)) for name, symbols in given.items()), Port("time", time, ())),
        tuple(ports),
        state,
        ca.vertcat(*start, 0, 0),
        ca.vertcat(*steps, rounds, done),
        max_iterations=MAX_ITERATIONS,
    )


def _all(conditions: tuple[ca.SX, ...]) -> ca.SX:
    found = conditions[0]
    for one in conditions[1:]:
        found = ca.logic_and(found, one)
    return found
