"""One step of the elastic coordinates along a given motion of the platform frame, compiled (Long, Fig. 3)."""

from __future__ import annotations

import casadi as ca

from ..friction.dry import DryFriction, joint_loads, settled
from ..friction.joints import Loads, has_dry_friction
from ..symbols.expression import Iteration, Port, port
from .dynamics import FlexibleDynamics

_ROWS = (("pose", (4, 4)), ("twist", (6,)), ("acceleration", (6,)), ("wrench", (6,)))


def path_step(dynamics: FlexibleDynamics, friction: bool, dry: DryFriction) -> Iteration:
    """Elastic coordinates and rates (2N) after a step of classical RK4, the frame's motion given.

    Inputs: the motion at the step's beginning, middle and end, three rows each; coordinates and rates before; the
    step [s]. One round of the loop is one stage, or one round of dry friction's loads, so the code holds the inverse
    model once. Loop state: sum of the rates, last rate, loads, stage, rounds, smallest quality, done.
    """
    n = dynamics.body.count
    x = dynamics.inputs()
    loads = None
    if friction and has_dry_friction(dynamics.mechanism):
        loads = Loads.symbols(dynamics.mechanism, dry.law)
    robot = dynamics.robot(x, x.acceleration.symbols, friction, loads)
    force, bent, solve = dynamics.inverse_solution(robot)
    quality = robot.quality(solve)
    held = loads.port.symbols if loads is not None and loads.port is not None else ca.SX(0, 1)
    fresh = ca.SX(0, 1)
    if held.numel():
        fresh = joint_loads(dynamics.mechanism, robot.joint_wrenches(force, bent), [leg.leg for leg in robot.legs])

    rows = {name: ca.SX.sym(name, x.by_name[name].length, 3) for name, _ in _ROWS}
    before, h = ca.SX.sym("before", 2 * n), ca.SX.sym("step")
    total, last = ca.SX.sym("total", 2 * n), ca.SX.sym("last", 2 * n)
    stage, rounds, worst, done = (ca.SX.sym(name) for name in ("stage", "rounds", "worst", "done"))
    first, late = stage < 0.5, stage > 2.5
    y = before + (ca.if_else(first, 0, ca.if_else(late, 1, 0.5)) * h) * last
    now = [ca.if_else(first, r[:, 0], ca.if_else(late, r[:, 2], r[:, 1])) for r in rows.values()]
    symbols = [x.by_name[name].symbols for name, _ in _ROWS] + [x.elastic.symbols, x.elastic_rate.symbols]
    bent, quality, fresh = ca.substitute([bent, quality, fresh], symbols, [*now, y[:n], y[n:]])

    ready, lost = settled(held, fresh, rounds, dry.coupling == "explicit") if held.numel() else (ca.SX(1), ca.SX(0))
    rate = ca.vertcat(y[n:], bent)
    summed = total + ca.if_else(ca.logic_or(first, late), 1, 2) * rate
    poor = ca.fmin(worst, quality)
    over = ca.logic_or(lost, ca.logic_not(poor > 0))
    kept = ca.if_else(ready, 0, fresh) if dry.coupling == "explicit" else fresh
    step = ca.vertcat(
        ca.if_else(ready, summed, total),
        ca.if_else(ready, rate, last),
        kept,
        ca.if_else(ready, stage + 1, stage),
        ca.if_else(ready, 0, rounds + 1),
        ca.if_else(over, 0, ca.if_else(ready, poor, worst)),
        ca.logic_or(over, ca.logic_and(ready, late)),
    )
    loop = ca.vertcat(total, last, held, stage, rounds, worst, done)
    begin = ca.vertcat(ca.SX.zeros(4 * n + held.numel()), 0, 0, 1, 0)
    inputs = [Port(name, ca.vec(rows[name]), (3, *shape)) for name, shape in _ROWS]
    inputs += [Port("before", before, (2 * n,)), Port("step", h, ())]
    outputs = (port("after", before + (h / 6) * total), port("quality", worst, ()))
    return Iteration("path_step", tuple(inputs), outputs, loop, begin, step)
