"""The compiled functions of a simulation: rates in a chart, snapshots, and whole periods of RK4."""

from __future__ import annotations

import casadi as ca

from ..kernels import Expression, Iteration, Port, port
from ..symbols.integration import MAX_ROUNDS, Outcome, Slope, Stage, runge_kutta
from .chart import Layout, pose_of, turn_rate
from .dynamics import Dynamics, Moment, Rates, Sensed

NOTHING = 1e-100
"""Twists [m/s, rad/s] that are none."""


class _Ports:
    """Fresh symbols of the inputs."""

    def __init__(self, layout: Layout, actuators: int) -> None:
        self.state = Port("state", ca.SX.sym("state", layout.state_size), (layout.state_size,))
        self.base = Port("base", ca.SX.sym("base", 9), (9,))
        self.chart = Port("chart", ca.SX.sym("chart", layout.chart_size), (layout.chart_size,))
        self.force = Port("force", ca.SX.sym("force", actuators), (actuators,))
        self.wrench = Port("wrench", ca.SX.sym("wrench", 6), (6,))
        self.step = Port("step", ca.SX.sym("step"), ())
        self.count = Port("count", ca.SX.sym("count"), ())


def _layout(dynamics: Dynamics) -> Layout:
    return Layout(dynamics.modes, dynamics.actuators)


def _chart_rate(
    dynamics: Dynamics, base: ca.SX, y: ca.SX, force: ca.SX, wrench: ca.SX, moment: Moment
) -> tuple[ca.SX, Rates]:
    """dy/dt of a chart, and all rates."""
    layout = _layout(dynamics)
    a, twist, elastic, elastic_rate = (y[layout.chart[name]] for name in ("turn", "twist", "elastic", "elastic_rate"))
    if dynamics.friction:
        # what is held comes to rest by a part a step: at last it is at rest, before its numbers underflow
        twist = ca.if_else(ca.fabs(twist) > NOTHING, twist, 0)
    pose = pose_of(layout.state_of(base, y))
    rates = dynamics.rates(pose, twist, elastic, elastic_rate, force, wrench, moment)
    moving = (twist[:3], turn_rate(a, twist[3:]), rates.acceleration, elastic_rate, rates.elastic_acceleration)
    return ca.vertcat(*moving, rates.power), rates


def chart_rate(dynamics: Dynamics) -> Expression | Iteration:
    """dy/dt (D) and quality from base rotation, chart, force and wrench.

    With dry friction also from its last numbers, the stage of a step (or INSTANT) and the time tau [s] in which joints
    may come to rest; then it also gives those numbers anew, how long a step may be, and whether they were found.
    """
    x = _Ports(_layout(dynamics), dynamics.actuators)
    given: tuple[Port, ...] = (x.base, x.chart, x.force, x.wrench)
    base, y, force, wrench = (p.symbols for p in given)
    count = dynamics.friction
    last, stage, tau = ca.SX.sym("friction", count), ca.SX.sym("stage"), ca.SX.sym("tau")
    friction, rounds, converged = ca.SX.sym("friction", count), ca.SX.sym("rounds"), ca.SX.sym("converged")
    rate, rates = _chart_rate(dynamics, base, y, force, wrench, Moment(friction, stage, rounds, tau))
    outputs: tuple[Port, ...] = (port("rate", rate), port("quality", rates.quality, ()))
    if not count:
        return Expression("chart_rate", given, outputs, dynamics.port)
    given = (*given, Port("friction", last, (count,)), Port("stage", stage, ()), Port("tau", tau, ()))
    lost = ca.logic_not(ca.sum1(ca.fabs(rate)) <= 1e300)
    done = ca.logic_or(ca.logic_or(rates.settled, lost), rounds + 1 >= MAX_ROUNDS)
    state = ca.vertcat(friction, rounds, converged, ca.SX.sym("done"))
    step = ca.vertcat(rates.friction, rounds + 1, rates.settled, done)
    outputs = (*outputs, port("friction", friction), port("longest", rates.longest, ()))
    outputs = (*outputs, port("converged", converged, ()))
    start = ca.vertcat(last, ca.SX.zeros(3))
    return Iteration("chart_rate", given, outputs, state, start, step, dynamics.port)


def snapshot(dynamics: Dynamics) -> Expression:
    """What is known at a chart: ``row``, ``legs`` and the legs' margin as quality."""
    layout = _layout(dynamics)
    x = _Ports(layout, dynamics.actuators)
    state = dynamics.tightened(layout.state_of(x.base.symbols, x.chart.symbols))
    known, sensed = _known(dynamics, state)
    outputs = (*known, port("quality", sensed.margin, ()))
    return Expression("snapshot", (x.base, x.chart), outputs, dynamics.port)


def _known(dynamics: Dynamics, state: ca.SX) -> tuple[tuple[Port, Port], Sensed]:
    """row: state, q, qdot and ``MARGINS``; legs: Jacobian by rows, limited quantities."""
    twist, elastic, elastic_rate = (state[_layout(dynamics).row[name]] for name in ("twist", "elastic", "elastic_rate"))
    sensed = dynamics.sensed(pose_of(state), twist, elastic, elastic_rate)
    warnings = (sensed.margin, sensed.limit_margin, sensed.singularity_bound, sensed.determinant)  # as MARGINS has them
    row = ca.vertcat(state, sensed.q, sensed.qdot, *warnings)
    return (port("row", row), port("legs", ca.vertcat(ca.vec(sensed.jacobian.T), sensed.limited))), sensed


def period(dynamics: Dynamics) -> Iteration:
    """``count`` steps of RK4 of length ``step`` at constant force and wrench, and the snapshot at their end.

    Every step has the chart about its own beginning. Dry friction is solved at every stage; a step ends early where a
    joint comes to rest, and goes on from there. Its numbers are taken from the last period, and given to the next.
    """
    layout = _layout(dynamics)
    x = _Ports(layout, dynamics.actuators)
    count = dynamics.friction
    friction = Port("friction", ca.SX.sym("friction", count), (count,))

    def slope(stage: Stage) -> Slope:
        base, _ = layout.chart_of(stage.state)
        moment = Moment(stage.inner, stage.number, stage.rounds, stage.step)
        rate, rates = _chart_rate(dynamics, base, stage.y, x.force.symbols, x.wrench.symbols, moment)
        longest = rates.longest if count else None
        return Slope(rate, rates.quality, rates.friction, rates.settled, longest)

    def outputs(end: Outcome) -> tuple[Port, ...]:
        known, sensed = _known(dynamics, dynamics.tightened(end.state))
        quality = port("quality", ca.fmin(end.quality, sensed.margin), ())
        numbers = (port("friction", end.inner),) if count else ()
        return *known, *numbers, quality, port("converged", end.converged, ())

    return runge_kutta(
        "period",
        (x.state, x.force, x.wrench, x.step, x.count, *((friction,) if count else ())),
        x.state.symbols,
        x.step.symbols,
        x.count.symbols,
        slope,
        outputs,
        inner=friction.symbols,
        chart=lambda state: layout.chart_of(state)[1],
        state_of=lambda state, y: layout.state_of(layout.chart_of(state)[0], y),
        parameters=dynamics.port,
    )
