"""Integrators: a span of time in steps, each with its end and, for events, the states in between.

``RK4`` has fixed steps; with constant force and wrench a whole span is one call of a kernel. The others are SciPy's,
with tolerances, and start anew where the platform has turned by about a radian, so that the chart stays a good one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from math import ceil
from typing import Any, NamedTuple, cast

import numpy as np

from ..arrays import Array
from ..errors import InputError, StateError, UnknownNameError
from ..symbols.integration import MIN_STEP_FRACTION, RK4
from .chart import Snapshot, numeric_chart
from .errors import SimulationError
from .signals import AppliedForces
from .system import STICK_TIME, Stepper

FIXED = "RK4"
METHODS = (FIXED, "RK45", "DOP853", "Radau", "BDF", "LSODA")
_SHORT, _MANY_SHORT = 1e-2, 30
"""Steps shorter than this part of STICK_TIME, so many in a row, are getting nowhere."""
_CHECKED_STEPS, _MAX_RATIO = 1000, 1000.0
"""Progress is checked after every so many steps: the rest may take at most so many times as many."""
MAX_STEPS_PER_CALL = 1000
"""Steps of a compiled call: some hundredths of a second, while an interrupt waits."""
_MAX_CAYLEY = 0.546
"""Cayley parameters |a| = tan(angle/2) of 1 rad, past which a chart is given up."""


class Step(NamedTuple):
    """From one accepted time to the next: its end, and the state at any time within (until the next step)."""

    start: float
    end: float
    snapshot: Snapshot
    within: Callable[[float], Snapshot]


def rate(stepper: Stepper, applied: AppliedForces, time: float, base: Array, y: Array) -> Array:
    """dy/dt under the applied forces at a time; a state without an answer is a ``SimulationError``."""
    try:
        acting = applied.at(time, lambda: stepper.snapshot(base, y).measurement())
        return stepper.rate(base, y, *acting)
    except StateError as error:
        raise no_answer(time, error) from error


def trial_rate(stepper: Stepper, applied: AppliedForces, time: float, base: Array, y: Array) -> Array:
    """dy/dt at a state that an integrator only tries: not a number where there is no answer."""
    snapshot = stepper.try_snapshot(base, y) if applied.held is None else None
    if snapshot is None and applied.held is None:
        return np.full_like(y, np.nan)
    found = stepper.try_rate(base, y, *applied.at(time, lambda: cast(Snapshot, snapshot).measurement()))
    return np.full_like(y, np.nan) if found is None else found


def _rk4_step(stepper: Stepper, applied: AppliedForces, start: float, end: float, x: Snapshot) -> Snapshot:
    """One step of RK4, stage by stage."""
    base, y = numeric_chart(x.state)
    after = RK4.advance(lambda time, y: rate(stepper, applied, time, base, y), start, y, end - start)
    return _reached(stepper, end, base, after, stepper.friction_of(x))


def _rk4_step_with_friction(
    stepper: Stepper, applied: AppliedForces, start: float, end: float, x: Snapshot
) -> Snapshot:
    """One step of RK4 with dry friction, in parts that end where a joint comes to rest."""
    whole, now = end - start, start
    while end - now > 0.5 * MIN_STEP_FRACTION * whole:
        (base, y), friction = numeric_chart(x.state), stepper.friction_of(x)
        longest, total, last = end - now, np.zeros_like(y), np.zeros_like(y)
        for stage, (c, a, b) in enumerate(RK4.numbers):
            at, there = now + c * longest, y + (a * longest) * last
            try:
                acting = applied.at(at, lambda chart=(base, there): stepper.snapshot(*chart).measurement())  # type: ignore[misc]
                last, friction, cut = stepper.stage_rate(base, there, acting, friction, stage, whole)
            except StateError as error:
                raise no_answer(at, error) from error
            if stage == 0 and cut < longest - MIN_STEP_FRACTION * whole:
                longest = max(cut, MIN_STEP_FRACTION * whole)
            total = total + b * last
        now = min(now + longest, end)
        x = _reached(stepper, now, base, y + longest * total, friction)
    return x


class _StepMonitor:
    """Progress of steps of variable length; steps that shrink without end are a ``SimulationError``."""

    def __init__(self, method: str, start: float, end: float) -> None:
        self._method, self._end = method, end
        self.before = start
        self._count, self._mark, self._short = 0, start, 0
        self._span, self._reached = STICK_TIME, -np.inf

    def stuck(self, now: float) -> bool:
        """Whether many steps in a row were far shorter than joints take to come to rest."""
        self._short = self._short + 1 if now - self.before < _SHORT * STICK_TIME else 0
        long = self._short < _MANY_SHORT
        if long:
            self.before = now
        return not long

    def fixed_span(self, now: float) -> float:
        """Time [s] to go on in fixed steps: doubled whenever variable steps have come no farther since the last."""
        far = now - self._reached > self._span
        self._span = STICK_TIME if far else 2 * self._span
        self._reached, self.before, self._short = now + self._span, now + self._span, 0
        return self._span

    def check(self, now: float) -> None:
        """Raise where a thousand steps have come nowhere."""
        self._count += 1
        if self._count % _CHECKED_STEPS:
            return
        rest, gone = self._end - now, now - self._mark
        self._mark = now
        if gone < rest / _MAX_RATIO:
            left = f"{_CHECKED_STEPS * rest / max(gone, 1e-300):.1g} steps"
            raise SimulationError(
                f"{self._method} stalled at t = {now:.6g} s: {_CHECKED_STEPS} steps advanced only {gone:.2g} s, "
                f"the rest would take {left}. Forces change too fast for the integrator: lower the gains, or give "
                "a rate (forces are then held between samples and steps are fixed)",
                now,
            )


def _fixed_steps(stepper: Stepper, applied: AppliedForces, start: float, end: float, x: Snapshot) -> Step | None:
    """Steps past an instant at which joints are about to stick or slide and no rate is found; None if there are none.

    Within a step each joint holds or slides, and the law of friction has an answer where it has none in an instant.
    """

    def within(time: float) -> Snapshot:
        ends = np.linspace(start, time, max(1, int(np.ceil((time - start) / STICK_TIME - 1e-6))) + 1).tolist()
        reached = x
        for now, then in pairwise(ends):
            reached = _rk4_step_with_friction(stepper, applied, now, then, reached)
        return reached

    try:
        return Step(start, end, within(end), within)
    except SimulationError:
        return None


def _reached(stepper: Stepper, time: float, base: Array, y: Array, friction: Array) -> Snapshot:
    try:
        return stepper.snapshot(base, y, friction)
    except StateError as error:
        raise no_answer(time, error) from error


def no_answer(time: float, error: StateError) -> SimulationError:
    """There is no acceleration at some state from here on."""
    return SimulationError(f"no solution at t = {time:.6g} s: {error.reasons[0]}", time, code=error.code)


class Integrator:
    """A method with its step and tolerances."""

    def __init__(self, method: str, step: float, rtol: float, atol: float) -> None:
        if method not in METHODS:
            raise UnknownNameError("method", method, METHODS)
        for name, value in (("step", step), ("rtol", rtol), ("atol", atol)):
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name}: a number greater than 0 is needed, got {value}")
        self.method, self.step, self._tolerances = method, float(step), {"rtol": rtol, "atol": atol}

    def steps(
        self, stepper: Stepper, applied: AppliedForces, start: float, end: float, x: Snapshot, whole: bool = False
    ) -> Iterator[Step]:
        """Accepted steps from a state x at ``start`` to ``end``.

        With ``whole`` the steps of RK4 under constant forces are one, which the compiled kernel takes at once; very
        many are several, between which an interrupt is heard.
        """
        if self.method != FIXED:
            yield from self._adaptive(stepper, applied, start, end, x)
            return
        acting = applied.held if whole and applied.base is None else None
        if acting is None:
            yield from self._fixed(stepper, applied, start, end, x)
            return
        for now, then in self.spans(start, end):
            try:
                step = self._period(stepper, applied, acting, now, then, x)
            except StateError:  # again in single steps, which say when, at which leg and why
                yield from self._fixed(stepper, applied, now, end, x)
                return
            yield step
            x = step.snapshot

    def spans(self, start: float, end: float) -> Iterator[tuple[float, float]]:
        """Parts of a span for one compiled call each."""
        parts = -(-self.count(end - start) // MAX_STEPS_PER_CALL)
        if parts == 1:
            return iter(((start, end),))
        ends = [start + (end - start) * k / parts for k in range(1, parts)]
        return pairwise((start, *ends, end))

    def count(self, span: float) -> int:
        """How many steps of RK4 a span takes."""
        return max(1, ceil(span / self.step * (1 - 1e-9)))

    def _period(
        self,
        stepper: Stepper,
        applied: AppliedForces,
        acting: tuple[Array, Array],
        start: float,
        end: float,
        x: Snapshot,
    ) -> Step:
        """The whole span by the compiled kernel."""

        def reached(time: float) -> Snapshot:
            count = self.count(time - start)
            return stepper.period(x, acting, (time - start) / count, count)

        def within(time: float) -> Snapshot:
            if not time > start:
                return x
            try:
                return reached(time)
            except StateError:  # single steps say when, at which leg and why
                *_, last = self._fixed(stepper, applied, start, time, x)
                return last.snapshot

        return Step(start, end, reached(end), within)

    def _fixed(self, stepper: Stepper, applied: AppliedForces, start: float, end: float, x: Snapshot) -> Iterator[Step]:
        """RK4 step by step; force and wrench that are not constant are evaluated at every stage."""
        count = self.count(end - start)
        for k in range(count):
            now, then = (start + (end - start) * part / count for part in (k, k + 1))

            def within(time: float, now: float = now, x: Snapshot = x) -> Snapshot:
                if not time > now:
                    return x
                acting = applied.over(now, time)
                if acting is not None:
                    try:
                        return stepper.period(x, acting, time - now, 1)
                    except StateError:
                        pass  # stage by stage below, which says when, at which leg and why
                return (_rk4_step_with_friction if stepper.dry else _rk4_step)(stepper, applied, now, time, x)

            x = within(then)
            yield Step(now, then, x, within)

    def _adaptive(
        self, stepper: Stepper, applied: AppliedForces, start: float, end: float, x: Snapshot
    ) -> Iterator[Step]:
        from scipy import integrate

        kind: Any = getattr(integrate, self.method)
        # explicit methods shorten a step whose trial is not a number; the others would choke on it
        slope = trial_rate if self.method in ("RK45", "DOP853") else rate
        monitor = _StepMonitor(self.method, start, end)
        while start < end:
            snapshot = x
            base, y = numeric_chart(x.state)
            if stepper.dry and not np.isfinite(trial_rate(stepper, applied, start, base, y)).all():
                step = _fixed_steps(stepper, applied, start, min(start + monitor.fixed_span(start), end), x)
                if step is None:
                    rate(stepper, applied, start, base, y)  # says why
                    raise SimulationError(f"{self.method} failed at t = {start:.6g} s: no acceleration there", start)
                yield step
                start, x = step.end, step.snapshot
                continue
            solver = kind(lambda t, y, b=base: slope(stepper, applied, t, b, y), start, y, end, **self._tolerances)
            while solver.status == "running":
                message = solver.step()
                now = float(solver.t)
                stuck = monitor.stuck(now) if solver.status != "failed" else True
                if stuck and stepper.dry:
                    begin = monitor.before if solver.status != "failed" else now
                    step = _fixed_steps(stepper, applied, begin, min(begin + monitor.fixed_span(begin), end), snapshot)
                    if step is not None:
                        yield step
                        now, snapshot = step.end, step.snapshot
                        break
                if solver.status == "failed":
                    rate(stepper, applied, now, base, solver.y)  # says which leg if there is no answer right here
                    nearest = stepper.nearest_loss(base, solver.y)
                    raise SimulationError(f"{self.method} failed at t = {now:.6g} s: {message} {nearest}".strip(), now)
                try:
                    snapshot = stepper.snapshot(base, solver.y)
                except StateError as error:
                    raise no_answer(now, error) from error

                # costs evaluations of its own, so only for those who ask before the next step
                @cache
                def between(solver: Any = solver) -> Any:
                    return solver.dense_output()

                def within(time: float, between: Any = between, base: Array = base) -> Snapshot:
                    return stepper.snapshot(base, between()(time))

                monitor.check(now)
                yield Step(float(solver.t_old), now, snapshot, within)
                if np.linalg.norm(solver.y[stepper.layout.chart["cayley"]]) > _MAX_CAYLEY:
                    break
            start, x = now, snapshot
