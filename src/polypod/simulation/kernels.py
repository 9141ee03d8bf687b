"""The compiled functions of a simulation: rates in a chart, snapshots, and whole periods of RK4."""

from __future__ import annotations

import casadi as ca

from ..kernels import Expression, Iteration, Port, port
from ..mechanism.closing import closed
from ..symbols.integration import MAX_ITERATIONS, Outcome, Stage, StageDerivative, runge_kutta
from .chart import MARGINS, Layout, cayley_rate, pose_of
from .dynamics import Dynamics, FrictionIterate, Rates, Sensed

_CLOSING_ITERATIONS = 30
"""Steps of Newton from the last stage's places after which legs are taken not to close."""
ALERT = ("limit_margin", "distance", "determinant", "total", "fastest")
"""Margin of the nearest limit, the smaller of the bounds of singularity and legs, det J, a sum that is finite if all
numbers of the state are, and the largest component of the twist."""
NEGLIGIBLE_TWIST = 1e-100
"""Components of a twist [m/s, rad/s] that count as zero."""


class _Ports:
    """Fresh symbols of the inputs."""

    def __init__(self, layout: Layout, actuators: int) -> None:
        self.state = Port("state", ca.SX.sym("state", layout.state_size), (layout.state_size,))
        self.base = Port("base", ca.SX.sym("base", 9), (9,))
        self.chart = Port("chart", ca.SX.sym("chart", layout.chart_size), (layout.chart_size,))
        self.force = Port("force", ca.SX.sym("force", actuators), (actuators,))
        self.wrench = Port("wrench", ca.SX.sym("wrench", 6), (6,))
        self.base_motion = Port("base_motion", ca.SX.sym("base_motion", 12), (12,))
        self.base_nodes = Port("base_motion", ca.SX.sym("base_motion", 36), (36,))
        self.step = Port("step", ca.SX.sym("step"), ())
        self.count = Port("count", ca.SX.sym("count"), ())


def _layout(dynamics: Dynamics) -> Layout:
    mechanism = dynamics.mechanism
    platform, moving = mechanism.platform, mechanism.base is not None
    return Layout(dynamics.modes, dynamics.actuators, platform.count, moving, platform.internal)


def _chart_rate(
    dynamics: Dynamics,
    base: ca.SX,
    y: ca.SX,
    force: ca.SX,
    wrench: ca.SX,
    iterate: FrictionIterate,
    base_motion: ca.SX | None,
) -> tuple[ca.SX, Rates]:
    """dy/dt of a chart, and all rates."""
    layout = _layout(dynamics)
    a, twist, elastic, elastic_rate = (y[layout.chart[name]] for name in ("cayley", "twist", "elastic", "elastic_rate"))
    if dynamics.friction_size:
        # what is held comes to rest by a part a step: at last it is at rest, before its numbers underflow
        twist = ca.if_else(ca.fabs(twist) > NEGLIGIBLE_TWIST, twist, 0)
    place = layout.place_of(layout.state_of(base, y))
    rates = dynamics.rates(place, twist, elastic, elastic_rate, force, wrench, iterate, base_motion)
    moving = (twist[:3], cayley_rate(a, twist[3:6]), twist[6:], rates.acceleration, elastic_rate)
    return ca.vertcat(*moving, rates.elastic_acceleration, rates.power), rates


def _ports_of(layout: Layout, state: ca.SX) -> tuple[Port, ...]:
    """Pose and internal coordinates of a state, by which legs are closed."""
    pose = Port("pose", pose_of(state), (4, 4))
    return (pose, Port("internal", state[layout.row["internal"]], (layout.internal,))) if layout.internal else (pose,)


def chart_rate(dynamics: Dynamics) -> Expression | Iteration:
    """dy/dt (D) and quality from base rotation, chart, force and wrench, and the motion (12) of a base that moves.

    With dry friction also from its last numbers, the stage of a step (or INSTANT) and the time tau [s] in which joints
    may come to rest; then it also gives those numbers anew, how long a step may be, and whether they were found.
    """
    x = _Ports(_layout(dynamics), dynamics.actuators)
    given: tuple[Port, ...] = (x.base, x.chart, x.force, x.wrench)
    base, y, force, wrench = (p.symbols for p in given)
    moving = None
    if dynamics.mechanism.base is not None:
        given, moving = (*given, x.base_motion), x.base_motion.symbols
    count = dynamics.friction_size
    last, stage, tau = ca.SX.sym("friction", count), ca.SX.sym("stage"), ca.SX.sym("tau")
    friction, iterations, converged = ca.SX.sym("friction", count), ca.SX.sym("iterations"), ca.SX.sym("converged")
    iterate = FrictionIterate(friction, stage, iterations, tau)
    rate, rates = _chart_rate(dynamics, base, y, force, wrench, iterate, moving)
    outputs: tuple[Port, ...] = (port("rate", rate), port("quality", rates.quality, ()))
    layout = _layout(dynamics)
    place = _ports_of(layout, layout.state_of(base, y))
    if not count:
        return closed(dynamics.mechanism, Expression("chart_rate", given, outputs, dynamics.port), place)
    given = (*given, Port("friction", last, (count,)), Port("stage", stage, ()), Port("tau", tau, ()))
    lost = ca.logic_not(ca.sum1(ca.fabs(rate)) <= 1e300)
    done = ca.logic_or(ca.logic_or(rates.converged, lost), iterations + 1 >= MAX_ITERATIONS)
    state = ca.vertcat(friction, iterations, converged, ca.SX.sym("done"))
    step = ca.vertcat(rates.friction, iterations + 1, rates.converged, done)
    outputs = (*outputs, port("friction", friction), port("longest", rates.max_step, ()))
    outputs = (*outputs, port("converged", converged, ()))
    start = ca.vertcat(last, ca.SX.zeros(3))
    found = Iteration("chart_rate", given, outputs, state, start, step, dynamics.port, max_iterations=MAX_ITERATIONS)
    return closed(dynamics.mechanism, found, place)


def snapshot(dynamics: Dynamics) -> Expression | Iteration:
    """What is known at a chart: ``row``, ``legs``, the legs' margin as quality, and where legs without a closed form
    are."""
    layout = _layout(dynamics)
    x = _Ports(layout, dynamics.actuators)
    there = layout.state_of(x.base.symbols, x.chart.symbols)
    known, sensed = _snapshot_ports(dynamics, dynamics.projected(there))
    outputs: tuple[Port, ...] = (*known, port("quality", sensed.margin, ()))
    if dynamics.place_count:
        outputs = (*outputs, port("places", dynamics.mechanism.places))
    function = Expression("snapshot", (x.base, x.chart), outputs, dynamics.port)
    return closed(dynamics.mechanism, function, _ports_of(layout, there))


def _snapshot_ports(dynamics: Dynamics, state: ca.SX) -> tuple[tuple[Port, Port], Sensed]:
    """row: state, q, qdot and ``MARGINS``; legs: Jacobian by rows, limited quantities."""
    layout = _layout(dynamics)
    twist, elastic, elastic_rate = (state[layout.row[name]] for name in ("twist", "elastic", "elastic_rate"))
    sensed = dynamics.sensed(layout.place_of(state), twist, elastic, elastic_rate)
    warnings = (sensed.margin, sensed.limit_margin, sensed.singularity_bound, sensed.determinant)  # as MARGINS has them
    row = ca.vertcat(state, sensed.q, sensed.qdot, *warnings)
    return (port("row", row), port("legs", ca.vertcat(ca.vec(sensed.jacobian.T), sensed.limited))), sensed


def _alert(layout: Layout, row: ca.SX, legs: ca.SX, inner: ca.SX) -> Port:
    """What tells of a state whether anything can have happened (``ALERT``), so that nobody goes through its row."""
    margin, limit_margin, bound, determinant = ca.vertsplit(row[-len(MARGINS) :])
    total = ca.sum1(row) + ca.sum1(legs) + (ca.sum1(inner) if inner.numel() else 0)
    fastest = ca.mmax(ca.fabs(row[layout.row["twist"]]))
    return port("alert", ca.vertcat(limit_margin, ca.fmin(bound, margin), determinant, total, fastest))


def period(dynamics: Dynamics) -> Iteration:
    """``count`` steps of RK4 of length ``step`` at constant force and wrench, the snapshot at their end and ``ALERT``.

    Every step has the chart about its own beginning. Dry friction is solved at every stage; a step ends early where a
    joint comes to rest, and goes on from there. Its numbers are taken from the last period, and given to the next; so
    are the places of legs without a closed form, which are closed from where they were at the stage before. The motion
    of a base that moves is that at beginning, middle and end of a single step (3 times 12), a parabola between them.
    """
    layout = _layout(dynamics)
    x = _Ports(layout, dynamics.actuators)
    inner = _Inner(dynamics)
    given = Port("inner", ca.SX.sym("inner", inner.count), (inner.count,))
    moving = (x.base_nodes,) if dynamics.mechanism.base is not None else ()

    def derivative(stage: Stage) -> StageDerivative:
        base, _ = layout.chart_of(stage.state)
        iterate = FrictionIterate(inner.friction(stage), stage.number, inner.iterations(stage), stage.step)
        nodes = None if not moving else _between_nodes(x.base_nodes.symbols, stage.time / x.step.symbols)
        rate, rates = _chart_rate(dynamics, base, stage.y, x.force.symbols, x.wrench.symbols, iterate, nodes)
        longest = rates.max_step if dynamics.friction_size else None
        return inner.closed(StageDerivative(rate, rates.quality, rates.friction, rates.converged, longest), stage, base)

    def outputs(end: Outcome) -> tuple[Port, ...]:
        known, sensed = _snapshot_ports(dynamics, dynamics.projected(end.state))
        there = [ca.fmin(end.quality, sensed.margin), *(p.symbols for p in known)]
        quality, *parts = inner.closed_at(end.state, there, end.inner)
        found = tuple(Port(p.name, part, p.shape) for p, part in zip(known, parts, strict=True))
        numbers = (port("inner", end.inner),) if inner.count else ()
        alert = _alert(layout, found[0].symbols, found[1].symbols, end.inner)
        return *found, *numbers, port("quality", quality, ()), port("converged", end.converged, ()), alert

    return runge_kutta(
        "period",
        (x.state, x.force, x.wrench, *moving, x.step, x.count, *((given,) if inner.count else ())),
        x.state.symbols,
        x.step.symbols,
        x.count.symbols,
        derivative,
        outputs,
        inner=given.symbols,
        chart=lambda state: layout.chart_of(state)[1],
        state_of=lambda state, y: layout.state_of(layout.chart_of(state)[0], y),
        parameters=dynamics.port,
    )


def _between_nodes(nodes: ca.SX, part: ca.SX) -> ca.SX:
    """The parabola (12) through numbers at 0, 1/2 and 1 of a step, at a part of it."""
    first, middle, last = ca.vertsplit(nodes, 12)
    return (1 - part) * (1 - 2 * part) * first + 4 * part * (1 - part) * middle + part * (2 * part - 1) * last


class _Inner:
    """The inner iteration at a stage: unknowns (places) of legs without a closed form, then numbers of dry friction.

    Friction waits until the legs are closed. A column of ``count`` numbers: those of friction, then, if there are such
    legs, their places and the iterations of friction since they were closed.
    """

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics, self._layout = dynamics, _layout(dynamics)
        self.count = dynamics.friction_size + (dynamics.place_count + 1 if dynamics.place_count else 0)

    def friction(self, stage: Stage) -> ca.SX:
        """Numbers of dry friction at a stage."""
        return stage.inner[: self._dynamics.friction_size]

    def iterations(self, stage: Stage) -> ca.SX:
        """Rounds of friction before this one."""
        return (
            ca.if_else(stage.iterations < 0.5, 0, stage.inner[-1]) if self._dynamics.place_count else stage.iterations
        )

    def closed(self, derivative: StageDerivative, stage: Stage, base: ca.SX) -> StageDerivative:
        """A slope of legs that are closed first."""
        if not self._dynamics.place_count:
            return derivative
        state = self._layout.state_of(base, stage.y)
        newton = self._dynamics.closing(self._layout.place_of(state), state[self._layout.row["elastic"]])
        near = newton.solved
        found = ca.vertcat(
            ca.if_else(near, derivative.inner, self.friction(stage)),
            ca.if_else(near, self._dynamics.mechanism.places, newton.moved),
            ca.if_else(near, self.iterations(stage) + 1, 0),
        )
        # while legs are open nothing is known of the state, unless they never close
        quality = ca.if_else(near, derivative.quality, ca.if_else(stage.iterations < _CLOSING_ITERATIONS, 1, 0))
        parts = [derivative.rate, quality, found, ca.logic_and(near, derivative.converged)]
        if derivative.max_step is not None:
            parts.append(derivative.max_step)
        return StageDerivative(*self._at(parts, stage.inner))

    def closed_at(self, state: ca.SX, parts: list[ca.SX], numbers: ca.SX) -> list[ca.SX]:
        """Expressions of a state, its legs closed from where the last stage left them."""
        if not self._dynamics.place_count:
            return parts
        newton = self._dynamics.closing(self._layout.place_of(state), state[self._layout.row["elastic"]])
        (after,) = self._at([newton.moved], numbers)
        return list(ca.substitute([ca.densify(part) for part in parts], [self._dynamics.mechanism.places], [after]))

    def _at(self, parts: list[ca.SX], numbers: ca.SX) -> list[ca.SX]:
        """Expressions at the places among the numbers."""
        start = self._dynamics.friction_size
        places = numbers[start : start + self._dynamics.place_count]
        return list(ca.substitute([ca.densify(part) for part in parts], [self._dynamics.mechanism.places], [places]))
