"""Integrators: a span of time in leaps, each with its end and, for events, the states in between.

``RK4`` has fixed steps; with constant force and wrench a whole span is one call of a kernel. The others are SciPy's,
with tolerances, and start anew where the platform has turned by about a radian, so that the chart stays a good one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, UnknownNameError
from ..legs.contract import SMALLEST_MARGIN
from .chart import rebased
from .errors import SimulationError
from .sources import Source, measured
from .system import Place, Stepper

Array = NDArray[np.float64]
FIXED = "RK4"
METHODS = (FIXED, "RK45", "DOP853", "Radau", "BDF", "LSODA")
# |a| = tan(angle/2): past 1 rad a chart is given up.
_CHART = 0.546


@dataclass(frozen=True)
class Leap:
    """From one accepted time to the next: its end, and the state at any time within (until the next leap)."""

    start: float
    end: float
    place: Place
    within: Callable[[float], Place]


@dataclass(frozen=True)
class Field:
    """The robot under a force and a wrench, which are asked for times within a span only."""

    stepper: Stepper
    force: Source
    wrench: Source
    span: tuple[float, float] = (-np.inf, np.inf)

    @property
    def constant(self) -> bool:
        """Whether neither depends on time or state."""
        return self.force.constant is not None and self.wrench.constant is not None

    def rate(self, time: float, base: Array, y: Array, trial: bool = False) -> Array:
        """dy/dt; a state without an answer is a :class:`SimulationError`, or not a number if it is only a trial."""
        rate, quality = self._rate(time, base, y)
        if quality > SMALLEST_MARGIN:
            return rate
        if trial:
            return np.full_like(y, np.nan)
        raise lost(time)

    def _rate(self, time: float, base: Array, y: Array) -> tuple[Array, float]:
        force, wrench = self.force.constant, self.wrench.constant
        if force is None or wrench is None:
            place = self.stepper.place(base, y)
            if not place.margin > SMALLEST_MARGIN:
                return y, 0.0
            sensed, inside = measured(place, self.stepper.modes), min(max(time, self.span[0]), self.span[1])
            force, wrench = self.force.at(inside, sensed), self.wrench.at(inside, sensed)
        return self.stepper.rate(base, y, force, wrench)


def lost(time: float) -> SimulationError:
    """There is no acceleration at some state from here on."""
    return SimulationError(
        f"no answer at t = {time:.6g} s: a leg no longer closes or lines up with its joint, the step is too long for "
        "the forces, or dry friction has no solution",
        time,
    )


class Integrator:
    """A method with its step and tolerances."""

    def __init__(self, method: str, step: float, rtol: float, atol: float) -> None:
        if method not in METHODS:
            raise UnknownNameError("method", method, METHODS)
        for name, value in (("step", step), ("rtol", rtol), ("atol", atol)):
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name}: a number greater than 0 is needed, got {value}")
        self.method, self.step, self._tolerances = method, float(step), {"rtol": rtol, "atol": atol}

    def leaps(self, field: Field, start: float, end: float, x: Array) -> Iterator[Leap]:
        """Accepted steps from a state at ``start`` to ``end``."""
        if self.method != FIXED:
            yield from self._adaptive(field, start, end, x)
        elif field.constant:
            yield self._period(field, start, end, x)
        else:
            yield from self._fixed(field, start, end, x)

    def _period(self, field: Field, start: float, end: float, x: Array) -> Leap:
        """The whole span by the compiled kernel."""
        force, wrench = field.force.constant, field.wrench.constant
        assert force is not None
        assert wrench is not None

        def within(time: float) -> Place:
            span = time - start
            if not span > 0:
                return field.stepper.place(*rebased(x))
            count = max(1, int(np.ceil(span / self.step * (1 - 1e-9))))
            place, quality = field.stepper.period(x, force, wrench, span / count, count)
            if not (quality > SMALLEST_MARGIN and place.margin > SMALLEST_MARGIN):
                raise lost(start)
            return place

        return Leap(start, end, within(end), within)

    def _fixed(self, field: Field, start: float, end: float, x: Array) -> Iterator[Leap]:
        """RK4 with force and wrench evaluated at every stage."""
        count = max(1, int(np.ceil((end - start) / self.step * (1 - 1e-9))))
        for k in range(count):
            now, then = (start + (end - start) * part / count for part in (k, k + 1))

            def within(time: float, now: float = now, x: Array = x) -> Place:
                return _runge_kutta(field, now, time - now, x)

            place = within(then)
            yield Leap(now, then, place, within)
            x = place.state

    def _adaptive(self, field: Field, start: float, end: float, x: Array) -> Iterator[Leap]:
        from scipy import integrate

        kind: Any = getattr(integrate, self.method)
        # explicit methods shorten a step whose trial is not a number; the others would choke on it
        trial = self.method in ("RK45", "DOP853")
        while start < end:
            base, y = rebased(x)
            solver = kind(lambda t, y, base=base: field.rate(t, base, y, trial), start, y, end, **self._tolerances)
            while solver.status == "running":
                message = solver.step()
                if solver.status == "failed":
                    raise SimulationError(f"{self.method} failed at t = {solver.t:.6g} s: {message}", float(solver.t))
                place = field.stepper.place(base, solver.y)

                # costs evaluations of its own, so only for those who ask before the next step
                @cache
                def between(solver: Any = solver) -> Any:
                    return solver.dense_output()

                def within(time: float, between: Any = between, base: Array = base) -> Place:
                    return field.stepper.place(base, between()(time))

                yield Leap(float(solver.t_old), float(solver.t), place, within)
                if np.linalg.norm(solver.y[3:6]) > _CHART:
                    break
            start, x = float(solver.t), place.state


def _runge_kutta(field: Field, time: float, h: float, x: Array) -> Place:
    base, y = rebased(x)
    k1 = field.rate(time, base, y)
    k2 = field.rate(time + h / 2, base, y + h / 2 * k1)
    k3 = field.rate(time + h / 2, base, y + h / 2 * k2)
    k4 = field.rate(time + h, base, y + h * k3)
    return field.stepper.place(base, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
