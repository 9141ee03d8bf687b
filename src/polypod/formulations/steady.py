"""The shape of a flexible platform that a motion keeps: no elastic rate, no elastic acceleration."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..friction import Loads, has_dry_friction
from ..mechanism import Mechanism
from ..platforms.flexible import ModalPlatform
from ..symbols.expression import Iteration, port
from ..symbols.iterations import changes
from ..symbols.linear import solve_general
from . import newton_euler, virtual_power
from .dry_friction import DryFriction, joint_loads


def steady_shape(mechanism: Mechanism, friction: bool, dry: DryFriction, steps: int = 200) -> Iteration:
    """Elastic coordinates that stay as they are at a motion, and forces: q -> q - K^-1 (residual), until they repeat.

    Loads that dry friction depends on are iterated with them. State: q (N), forces (n), loads, converged, steps, done.
    """
    platform = mechanism.platform
    assert isinstance(platform, ModalPlatform)
    x, m = mechanism.inputs(), platform.count
    loads = Loads.symbols(mechanism, dry.law) if friction and has_dry_friction(mechanism) else None
    held = loads.port.symbols if loads is not None and loads.port is not None else ca.SX(0, 1)
    state = virtual_power.State.of(mechanism, platform.at(x, x.twist.symbols, x.acceleration.symbols), friction, loads)
    need, rows = state.required_wrench - state.external(x.wrench.symbols), state.jacobian
    force = solve_general(rows[:, :m].T, need[:m]).x
    residual = need[m:] - rows[:, m:].T @ force
    n, actuators, k = platform.elastic, len(mechanism.actuators), held.numel()
    fresh = ca.SX(0, 1)
    if loads is not None and k:
        wrenches = newton_euler.flexible_wrenches(
            mechanism, x, x.acceleration.symbols, ca.SX.zeros(n), force, friction, loads
        )
        fresh = joint_loads(mechanism, wrenches, state.legs)
    total = force + state.driven_friction if friction else force
    loop = ca.SX.sym("state", n + actuators + k + 3)
    old = [x.elastic_rate.symbols, x.elastic.symbols, held]
    new = [ca.SX.zeros(n), loop[:n], loop[n + actuators : n + actuators + k]]
    total, residual, fresh = ca.substitute([total, residual, fresh], old, new)
    move = residual / platform.body.stiffness
    still, near, lost = _repeats(mechanism, loop[:n], move, platform.scale)
    if k:
        same, alike, gone = _repeats(mechanism, new[2], fresh - new[2], ca.SX(0))
        still, near, lost = ca.logic_and(still, same), ca.logic_and(near, alike), ca.logic_or(lost, gone)
    count = loop[n + actuators + k + 1]
    done = ca.logic_or(ca.logic_or(still, lost), count + 1 >= steps)
    step = ca.vertcat(loop[:n] - move, total, fresh, near, count + 1, done)
    outputs = (
        port("elastic", loop[:n]),
        port("force", loop[n : n + actuators]),
        port("converged", loop[n + actuators + k], ()),
        port("steps", count, ()),
    )
    start = ca.SX.zeros(n + actuators + k + 3)
    inputs = (x.pose, x.twist, x.acceleration, x.wrench)
    return Iteration("steady_shape", inputs, outputs, loop, start, step, mechanism.port, max_iterations=steps)


def _repeats(mechanism: Mechanism, values: ca.SX, change: ca.SX, scale: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Whether values repeat to rounding, well enough for an answer, and whether any is no number.

    Relative to the largest of them, or to ``scale`` where all are zero but for rounding.
    """
    largest, most = changes(values, values + change)
    repeated, tiny, near, small = map(mechanism.tolerance, (1e-14, 1e-16, 1e-10, 1e-12))
    still = most <= repeated * largest + tiny * scale + np.finfo(float).tiny
    return still, most <= near * largest + small * scale, ca.logic_not(most <= 1e300)
