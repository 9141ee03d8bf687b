"""Steps of time under constant forces, with their sensitivities, in symbols.

A step is RK4 on position p, Cayley parameters a about the rotation R0 at its beginning and twist, R = cay(a) R0.
Variations of the state are [delta p; delta theta; delta twist], with delta R = [delta theta]~ R in base axes. Within a
step delta theta = T(a) delta a + cay(a) delta theta_0 with T(a) = 2/(1 + a.a) (1 + a~); stages carry delta p, delta a
and delta twist along, by the derivatives of the direct dynamics: A and B are exact derivatives of the step itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca

from ..mechanism import Mechanism
from ..symbols.expression import Iteration, Port, port
from ..symbols.integration import Outcome, Stage, StageDerivative, runge_kutta
from ..symbols.vectors import cayley, cross, dot, skew
from .derivatives import derivatives
from .dry_friction import DryFriction
from .virtual_power import direct_dynamics

_STAGES = 4
"""Rounds of the iteration in a step."""
_POSITION, _CAYLEY, _TWIST = slice(0, 3), slice(3, 6), slice(6, 12)


def discrete_step(
    mechanism: Mechanism, friction: bool, dry: DryFriction, sensitivities: bool, once: bool = False
) -> Iteration:
    """State after a time from pose, twist, force and wrench, with A (12, 12) and B (12, n) if asked for.

    Inputs end with the ``time`` and, unless it is one step of RK4 (``once``), the ``count`` of those. The legs are in
    closed form.
    """
    x = mechanism.inputs()
    time, many = Port("time", ca.SX.sym("time"), ()), Port("count", ca.SX.sym("count"), ())
    count, n = ca.SX(1) if once else many.symbols, len(mechanism.actuators)
    layout = _Layout(n if sensitivities else None)
    rate = _rate(mechanism, friction, dry, sensitivities)
    force, wrench = x.force.symbols, x.wrench.symbols

    def derivative(stage: Stage) -> StageDerivative:
        y, about = stage.y, layout.parts(stage.state)
        a, twist = y[_CAYLEY], y[_TWIST]
        v, omega = twist[:3], twist[3:]
        pose = layout.pose(cayley(a) @ about.axes, y[_POSITION])
        acceleration, quality, *by = rate(pose, twist, force, wrench)
        change = [v, 0.5 * (omega - cross(a, omega) + dot(a, omega) * a), acceleration]
        if sensitivities:
            by_pose, by_twist, by_force = by
            moved = layout.matrix(y[12:])
            turned = _turning(a) @ moved[_CAYLEY, :] + cayley(a) @ about.variation[3:6, :]
            turning = 0.5 * (skew(omega) + a @ omega.T + dot(a, omega) * ca.SX.eye(3))
            spun = turning @ moved[_CAYLEY, :] + _rate_map(a) @ moved[9:12, :]
            pushed = by_pose[:, :3] @ moved[_POSITION, :] + by_pose[:, 3:] @ turned + by_twist @ moved[_TWIST, :]
            pushed = pushed + ca.horzcat(ca.SX(6, 12), by_force)
            change.append(ca.vec(ca.vertcat(moved[6:9, :], spun, pushed)))
        return StageDerivative(ca.densify(ca.vertcat(*change)), quality)

    def outputs(end: Outcome) -> tuple[Port, ...]:
        found = layout.parts(end.state)
        known = [port("pose", layout.pose(found.axes, found.position), (4, 4)), port("twist", found.twist)]
        if sensitivities:
            known += [port("a", found.variation[:, :12]), port("b", found.variation[:, 12:])]
        return *known, port("quality", end.quality, ())

    axes = ca.reshape(x.pose.symbols, 4, 4).T
    start = layout.state(axes[:3, :3], axes[:3, 3], x.twist.symbols, ca.SX.eye(12))
    found = runge_kutta(
        "discrete_step",
        (*x.state, x.force, x.wrench, time, *(() if once else (many,))),
        start,
        time.symbols / count,
        count,
        derivative,
        outputs,
        chart=layout.chart,
        state_of=layout.after,
        parameters=mechanism.port,
    )
    return replace(found, any_order=True, max_iterations=_STAGES if once else 0, counted=once)


def _rate(
    mechanism: Mechanism, friction: bool, dry: DryFriction, sensitivities: bool
) -> Callable[..., tuple[ca.SX, ...]]:
    """Acceleration and quality, and the derivatives by pose, twist and force, of expressions of a state."""
    own = direct_dynamics(mechanism, friction)
    parts = {p.name: p for p in own.outputs}
    results = [parts["acceleration"].symbols, parts["quality"].symbols]
    inputs = [p.symbols for p in own.inputs]
    if sensitivities:
        by = derivatives(mechanism, "direct_dynamics", ("pose", "twist", "force"), ca.SX(0, 1), friction, dry)
        blocks = [ca.reshape(p.symbols, p.shape[1], p.shape[0]).T for p in by.outputs[:3]]
        results += ca.substitute(blocks, [p.symbols for p in by.inputs], inputs)
    rest = [] if mechanism.port is None else [mechanism.port.symbols]
    function = ca.Function("rate", [*inputs, *rest], ca.cse(results))
    return lambda *state: tuple(function(*state, *rest))


@dataclass(frozen=True)
class _Parts:
    """What a state is made of, as matrices."""

    axes: ca.SX
    position: ca.SX
    twist: ca.SX
    variation: ca.SX


class _Layout:
    """A state is [axes by columns (9), position, twist, variation (12, 12 + n) by columns], a chart [position, a,
    twist, variation of these]; without sensitivities (``actuators`` None) there are no variations."""

    def __init__(self, actuators: int | None) -> None:
        self._columns = 0 if actuators is None else 12 + actuators

    def matrix(self, columns: ca.SX) -> ca.SX:
        """Variations (12, 12 + n)."""
        return ca.reshape(columns, 12, self._columns)

    def parts(self, state: ca.SX) -> _Parts:
        """The parts of a state."""
        return _Parts(ca.reshape(state[:9], 3, 3), state[9:12], state[12:18], self.matrix(state[18:]))

    def state(self, axes: ca.SX, position: ca.SX, twist: ca.SX, variation: ca.SX) -> ca.SX:
        """A state of its parts; the first columns of ``variation``, the others zero."""
        if self._columns:
            variation = ca.horzcat(variation, ca.SX(12, self._columns - variation.size2()))
        whole = ca.vec(variation) if self._columns else ca.SX(0, 1)
        return ca.densify(ca.vertcat(ca.vec(axes), position, twist, whole))

    def chart(self, state: ca.SX) -> ca.SX:
        """The chart at the beginning of a step, a = 0 and delta a = 0."""
        here = self.parts(state)
        known = [here.position, ca.SX.zeros(3), here.twist]
        if self._columns:
            still = ca.SX.zeros(3, self._columns)
            known.append(ca.vec(ca.vertcat(here.variation[:3, :], still, here.variation[6:, :])))
        return ca.densify(ca.vertcat(*known))

    def after(self, state: ca.SX, y: ca.SX) -> ca.SX:
        """The state at a chart about a state."""
        here, a = self.parts(state), y[_CAYLEY]
        turn, variation = cayley(a), ca.SX(12, 0)
        if self._columns:
            moved = self.matrix(y[12:])
            turned = _turning(a) @ moved[_CAYLEY, :] + turn @ here.variation[3:6, :]
            variation = ca.vertcat(moved[:3, :], turned, moved[6:, :])
        return self.state(turn @ here.axes, y[_POSITION], y[_TWIST], variation)

    @staticmethod
    def pose(axes: ca.SX, position: ca.SX) -> ca.SX:
        """Row-major pose (16)."""
        rows = ca.vertcat(ca.horzcat(axes, position), ca.SX([[0, 0, 0, 1]]))
        return ca.densify(ca.vec(rows.T))


def _turning(a: ca.SX) -> ca.SX:
    """T with omega = T da/dt."""
    return 2 / (1 + dot(a, a)) * (ca.SX.eye(3) + skew(a))


def _rate_map(a: ca.SX) -> ca.SX:
    """da/dt by omega, the inverse of T."""
    return 0.5 * (ca.SX.eye(3) - skew(a) + a @ a.T)
