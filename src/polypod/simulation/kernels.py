"""The compiled functions of a simulation: rates in a chart, a chart's state, and whole periods of RK4."""

from __future__ import annotations

import casadi as ca

from ..friction.dry import settled
from ..kernels import Expression, Iteration, Port, port
from .chart import Layout, pose_of, tidy, turn_rate
from .dynamics import Dynamics, Rates


class _Ports:
    """Fresh symbols of the inputs."""

    def __init__(self, layout: Layout, actuators: int) -> None:
        self.state = Port("state", ca.SX.sym("state", layout.state), (layout.state,))
        self.base = Port("base", ca.SX.sym("base", 9), (9,))
        self.chart = Port("chart", ca.SX.sym("chart", layout.chart), (layout.chart,))
        self.force = Port("force", ca.SX.sym("force", actuators), (actuators,))
        self.wrench = Port("wrench", ca.SX.sym("wrench", 6), (6,))
        self.step = Port("step", ca.SX.sym("step"), ())
        self.count = Port("count", ca.SX.sym("count"), ())


def _chart_rate(
    dynamics: Dynamics, base: ca.SX, y: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
) -> tuple[ca.SX, Rates]:
    """dy/dt of a chart, and all rates."""
    layout = Layout(dynamics.modes)
    _, a, twist, elastic, elastic_rate, _ = layout.split(y)
    pose = pose_of(layout.state_of(base, y))
    rates = dynamics.rates(pose, twist, elastic, elastic_rate, force, wrench, loads)
    moving = (twist[:3], turn_rate(a, twist[3:]), rates.acceleration, elastic_rate, rates.elastic_acceleration)
    return ca.vertcat(*moving, rates.power), rates


def chart_rate(dynamics: Dynamics) -> Expression | Iteration:
    """dy/dt (D) and quality from base rotation, chart, force and wrench."""
    layout = Layout(dynamics.modes)
    x = _Ports(layout, dynamics.actuators)
    given = (x.base, x.chart, x.force, x.wrench)
    loads = ca.SX.sym("loads", dynamics.loads)
    base, y, force, wrench = (p.symbols for p in given)
    rate, rates = _chart_rate(dynamics, base, y, force, wrench, loads)
    if not dynamics.loads:
        return Expression("chart_rate", given, (port("rate", rate), port("quality", rates.quality, ())))
    count, answered = ca.SX.sym("count"), ca.SX.sym("answered")
    ready, lost = settled(loads, rates.loads, count, dynamics.explicit)
    state = ca.vertcat(loads, count, answered, ca.SX.sym("done"))
    step = ca.vertcat(rates.loads, count + 1, ca.logic_not(lost), ca.logic_or(ready, lost))
    outputs = (port("rate", rate), port("quality", answered * rates.quality, ()))
    return Iteration("chart_rate", given, outputs, state, ca.SX.zeros(dynamics.loads + 3), step)


def place(dynamics: Dynamics) -> Expression:
    """What is known at a chart: ``row`` and ``legs``, see :func:`_known`."""
    layout = Layout(dynamics.modes)
    x = _Ports(layout, dynamics.actuators)
    state = tidy(layout.state_of(x.base.symbols, x.chart.symbols))
    return Expression("place", (x.base, x.chart), _known(dynamics, state))


def _known(dynamics: Dynamics, state: ca.SX) -> tuple[Port, Port]:
    """row: state, q, qdot, margin, room, safety; legs: Jacobian by rows, limited quantities."""
    n = dynamics.modes
    sensed = dynamics.sensed(pose_of(state), state[12:18], state[18 : 18 + n], state[18 + n : 18 + 2 * n])
    row = ca.vertcat(state, sensed.q, sensed.qdot, sensed.margin, sensed.room, sensed.safety)
    return port("row", row), port("legs", ca.vertcat(ca.vec(sensed.jacobian.T), sensed.limited))


def period(dynamics: Dynamics) -> Iteration:
    """``count`` steps of classical RK4 of length ``step`` at constant force and wrench.

    One round of the loop is one stage (or one round of dry friction's loads, which the next stage starts from), so the
    code holds direct dynamics once. Loop state: x, sum of the rates, last rate, loads, stage, steps to go, rounds,
    smallest quality, done.
    """
    layout, n = Layout(dynamics.modes), dynamics.loads
    x = _Ports(layout, dynamics.actuators)
    h = x.step.symbols
    start, total, last, loads = (
        ca.SX.sym(name, length)
        for name, length in (("x", layout.state), ("total", layout.chart), ("last", layout.chart), ("loads", n))
    )
    stage, left, rounds, quality, done = (ca.SX.sym(name) for name in ("stage", "left", "rounds", "quality", "done"))
    base, y0 = layout.chart_of(start)
    late, first = stage > 2.5, stage < 0.5
    reach = ca.if_else(first, 0, ca.if_else(late, 1, 0.5))
    y = y0 + (reach * h) * last
    rate, rates = _chart_rate(dynamics, base, y, x.force.symbols, x.wrench.symbols, loads)
    ready, lost = settled(loads, rates.loads, rounds, dynamics.explicit) if n else (ca.SX(1), ca.SX(0))
    summed = total + ca.if_else(ca.logic_or(first, late), 1, 2) * rate
    moved = layout.state_of(base, y0 + (h / 6) * summed)
    whole = ca.logic_and(ready, late)
    poor = ca.fmin(quality, rates.quality)
    over = ca.logic_or(lost, ca.logic_not(poor > 0))
    fresh = ca.if_else(ready, 0, rates.loads) if dynamics.explicit else rates.loads
    step = ca.vertcat(
        ca.if_else(whole, moved, start),
        ca.if_else(whole, 0, ca.if_else(ready, summed, total)),
        ca.if_else(ready, rate, last),
        fresh,
        ca.if_else(ready, ca.if_else(late, 0, stage + 1), stage),
        ca.if_else(whole, left - 1, left),
        ca.if_else(ready, 0, rounds + 1),
        ca.if_else(over, 0, ca.if_else(ready, poor, quality)),
        ca.logic_or(over, ca.logic_and(whole, left < 1.5)),
    )
    loop = ca.vertcat(start, total, last, loads, stage, left, rounds, quality, done)
    begin = ca.vertcat(x.state.symbols, ca.SX.zeros(2 * layout.chart + n), 0, x.count.symbols, 0, 1, 0)
    outputs = (*_known(dynamics, tidy(start)), port("quality", quality, ()))
    return Iteration("period", (x.state, x.force, x.wrench, x.step, x.count), outputs, loop, begin, step)
