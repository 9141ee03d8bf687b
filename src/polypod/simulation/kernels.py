"""The compiled functions of a simulation: rates in a chart, snapshots, and whole periods of RK4."""

from __future__ import annotations

import casadi as ca

from ..kernels import Expression, Iteration, Port, port
from ..symbols.fixed_point import settled
from ..symbols.integration import FixedPoint, Outcome, Slope, Stage, runge_kutta
from .chart import Layout, pose_of, tightened, turn_rate
from .dynamics import Dynamics, Rates, Sensed


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
    dynamics: Dynamics, base: ca.SX, y: ca.SX, force: ca.SX, wrench: ca.SX, loads: ca.SX
) -> tuple[ca.SX, Rates]:
    """dy/dt of a chart, and all rates."""
    layout = _layout(dynamics)
    a, twist, elastic, elastic_rate = (y[layout.chart[name]] for name in ("turn", "twist", "elastic", "elastic_rate"))
    pose = pose_of(layout.state_of(base, y))
    rates = dynamics.rates(pose, twist, elastic, elastic_rate, force, wrench, loads)
    moving = (twist[:3], turn_rate(a, twist[3:]), rates.acceleration, elastic_rate, rates.elastic_acceleration)
    return ca.vertcat(*moving, rates.power), rates


def chart_rate(dynamics: Dynamics) -> Expression | Iteration:
    """dy/dt (D), quality and, with dry friction, whether it converged, from base rotation, chart, force and wrench."""
    x = _Ports(_layout(dynamics), dynamics.actuators)
    given = (x.base, x.chart, x.force, x.wrench)
    loads = ca.SX.sym("loads", dynamics.loads)
    base, y, force, wrench = (p.symbols for p in given)
    rate, rates = _chart_rate(dynamics, base, y, force, wrench, loads)
    outputs: tuple[Port, ...] = (port("rate", rate), port("quality", rates.quality, ()))
    if not dynamics.loads:
        return Expression("chart_rate", given, outputs, dynamics.port)
    count, converged = ca.SX.sym("count"), ca.SX.sym("converged")
    ready, lost = settled(loads, rates.loads, count, dynamics.explicit)
    state = ca.vertcat(loads, count, converged, ca.SX.sym("done"))
    step = ca.vertcat(rates.loads, count + 1, ca.logic_not(lost), ca.logic_or(ready, lost))
    outputs = (*outputs, port("converged", converged, ()))
    return Iteration("chart_rate", given, outputs, state, ca.SX.zeros(dynamics.loads + 3), step, dynamics.port)


def snapshot(dynamics: Dynamics) -> Expression:
    """What is known at a chart: ``row``, ``legs`` and the legs' margin as quality."""
    layout = _layout(dynamics)
    x = _Ports(layout, dynamics.actuators)
    state = tightened(layout.state_of(x.base.symbols, x.chart.symbols))
    known, sensed = _known(dynamics, state)
    outputs = (*known, port("quality", sensed.margin, ()))
    return Expression("snapshot", (x.base, x.chart), outputs, dynamics.port)


def _known(dynamics: Dynamics, state: ca.SX) -> tuple[tuple[Port, Port], Sensed]:
    """row: state, q, qdot and ``MARGINS``; legs: Jacobian by rows, limited quantities."""
    twist, elastic, elastic_rate = (state[_layout(dynamics).row[name]] for name in ("twist", "elastic", "elastic_rate"))
    sensed = dynamics.sensed(pose_of(state), twist, elastic, elastic_rate)
    row = ca.vertcat(
        state, sensed.q, sensed.qdot, sensed.margin, sensed.limit_margin, sensed.singularity_bound
    )  # in the order of MARGINS
    return (port("row", row), port("legs", ca.vertcat(ca.vec(sensed.jacobian.T), sensed.limited))), sensed


def period(dynamics: Dynamics) -> Iteration:
    """``count`` steps of RK4 of length ``step`` at constant force and wrench, and the snapshot at their end.

    Every step has the chart about its own beginning; the loads of dry friction are iterated at every stage.
    """
    layout = _layout(dynamics)
    x = _Ports(layout, dynamics.actuators)

    def slope(stage: Stage) -> Slope:
        base, _ = layout.chart_of(stage.state)
        rate, rates = _chart_rate(dynamics, base, stage.y, x.force.symbols, x.wrench.symbols, stage.inner)
        return Slope(rate, rates.quality, rates.loads)

    def outputs(end: Outcome) -> tuple[Port, ...]:
        known, sensed = _known(dynamics, tightened(end.state))
        return *known, port("quality", ca.fmin(end.quality, sensed.margin), ()), port("converged", end.converged, ())

    loads = None
    if dynamics.loads:
        loads = FixedPoint(
            dynamics.loads, lambda old, new, rounds: settled(old, new, rounds, dynamics.explicit), dynamics.explicit
        )
    return runge_kutta(
        "period",
        (x.state, x.force, x.wrench, x.step, x.count),
        x.state.symbols,
        x.step.symbols,
        x.count.symbols,
        slope,
        outputs,
        inner=loads,
        chart=lambda state: layout.chart_of(state)[1],
        state_of=lambda state, y: layout.state_of(layout.chart_of(state)[0], y),
        parameters=dynamics.port,
    )
