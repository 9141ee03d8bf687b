"""Dry friction depends on reactions and reactions on friction: the implicit problem, solved by iterating.

Loads L of the joints -> friction -> free bodies -> loads again, until they repeat. Each round changes the reactions by
the small fraction (friction coefficient times arm over leg length), so a few rounds reach rounding; near singular
poses the fraction is not small, and Aitken's pace keeps the rounds few. One round from frictionless reactions is the
explicit form of the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import casadi as ca

from ..errors import InputError
from ..formulations import newton_euler
from ..mechanism import Attached, Mechanism, Motion
from ..mechanism.free_bodies import Wrench
from ..mechanism.inputs import Inputs
from ..symbols.expression import Expression, Iteration, Port, port
from ..symbols.vectors import dot, norm
from .joints import Law, Loads, loaded_joints

MAX_ROUNDS = 100
# Rounds end when no load changes by more than this part of the largest: a few roundings of the free-body solve.
REPEATED = 1e-13
# Largest step of the accelerated iteration, in plain steps.
_PACE = 20.0


@dataclass(frozen=True)
class DryFriction:
    """How dry friction is treated: the law of its sign, and whether reactions include friction themselves."""

    law: Law = field(default_factory=Law)
    coupling: Literal["implicit", "explicit"] = "implicit"

    @staticmethod
    def of(width: float, coupling: str) -> DryFriction:
        """From a model's options ``friction_width`` and ``friction_coupling``, checked."""
        if not (isinstance(width, (int, float)) and math.isfinite(width) and width >= 0):
            raise InputError(f"friction_width: a rate of at least 0 is needed (0 is the exact sign), got {width}")
        if coupling not in ("implicit", "explicit"):
            raise InputError(f"friction_coupling: 'implicit' or 'explicit', got {coupling!r}")
        return DryFriction(Law(float(width)), coupling)  # type: ignore[arg-type]


def joint_loads(mechanism: Mechanism, wrenches: list[tuple[str, str, Wrench]], attached: list[Attached]) -> ca.SX:
    """Loads of the joints with Coulomb friction (k): |F| of rotary joints, sum of |N.normal| of slides."""
    by_joint = {(leg, joint): w for leg, joint, w in wrenches}
    joints = {(leg.name, joint.name): joint for leg in mechanism.legs for joint in leg.placement.joints}
    legs = {leg.model.name: leg for leg in attached}
    result = []
    for key in loaded_joints(mechanism):
        force, joint = by_joint[key].force, joints[key]
        if joint.kind == "prismatic":
            normals = [legs[key[0]].at_tip(normal) for normal in joint.normals]
            result.append(sum((ca.fabs(dot(force, normal)) for normal in normals), ca.SX(0)))
        else:
            result.append(norm(force))
    return ca.vertcat(*result)


def iterated(
    mechanism: Mechanism,
    dry: DryFriction,
    expression: Callable[[Loads], Expression],
    acceleration: Callable[[Inputs, Loads], ca.SX] | None = None,
) -> Expression | Iteration:
    """A function of loads as a function of the state alone.

    ``expression`` makes the function with loads among its inputs. ``acceleration`` gives the platform's acceleration
    where it is not an input (direct dynamics). Outputs gain ``converged`` (1 or 0).
    """
    loads = Loads.symbols(mechanism, dry.law)
    target = expression(loads)
    if loads.port is None:
        return target
    if not newton_euler.closed_form(mechanism):
        raise InputError(
            f"friction: {mechanism.robot.name!r} is overconstrained, so reactions that Coulomb friction depends on are "
            "not determined; pass friction=False or give its joints viscous friction and drag only"
        )
    x = Inputs(len(mechanism.legs))
    ports = tuple(x.by_name[p.name] for p in target.inputs if p.name != "loads")
    moving = x.acceleration.symbols if acceleration is None else acceleration(x, loads)
    motion: Motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, moving)
    solved = newton_euler.balance(mechanism, motion, x.wrench.symbols, True, loads)
    fresh = joint_loads(mechanism, newton_euler.joint_wrenches(solved), solved.attached)
    return repeated(target, loads.port, ports, fresh, dry)


def repeated(target: Expression, loads: Port, inputs: tuple[Port, ...], fresh: ca.SX, dry: DryFriction) -> Iteration:
    """``target`` at loads that repeat: ``fresh`` are those found from ``loads`` at the state in ``inputs``.

    The target's inputs are the same, and the loads last.
    """
    k = loads.length
    state = ca.SX.sym("state", 2 * k + 4)
    old, previous, pace, count = state[:k], state[k : 2 * k], state[2 * k], state[2 * k + 1]
    new = ca.substitute(fresh, loads.symbols, old)
    residual = new - old
    largest, change = ca.SX(0), ca.SX(0)
    for i in range(k):
        largest = ca.fmax(largest, ca.fabs(new[i]))
        change = ca.fmax(change, ca.fabs(residual[i]))
    explicit = dry.coupling == "explicit"
    # What is not a finite number is never equal to itself: such a state must not pass, nor keep its neighbours waiting.
    lost = ca.logic_not(change <= 1e300)
    converged = ca.SX(1) if explicit else ca.logic_and(change <= REPEATED * largest, ca.logic_not(lost))
    # Aitken: the pace that would have cancelled the last change of the residual; the first rounds go plainly.
    turn = residual - previous
    faster = -pace * ca.dot(previous, turn) / ca.fmax(ca.dot(turn, turn), 1e-300)
    pace = ca.if_else(count < 1, 1, ca.fmax(-_PACE, ca.fmin(_PACE, faster)))
    following = ca.if_else(converged, new, old + pace * residual)
    done = ca.logic_or(ca.logic_or(converged, lost), count + 1 >= MAX_ROUNDS)
    step = ca.vertcat(following, residual, pace, count + 1, converged, done)
    results = target.function.call([*(p.symbols for p in inputs), old])
    outputs = [port(p.name, value, p.shape) for p, value in zip(target.outputs, results, strict=True)]
    outputs.append(port("converged", state[2 * k + 2], ()))
    return Iteration(target.name, inputs, tuple(outputs), state, ca.SX.zeros(2 * k + 4), step)


def settled(old: ca.SX, new: ca.SX, rounds: ca.SX, explicit: bool) -> tuple[ca.SX, ca.SX]:
    """Whether loads repeat (or the explicit form's one round is over), and whether they never will.

    For loops that iterate loads plainly, stage by stage of an integrator: the last stage's are a good start.
    """
    largest, change = ca.SX(0), ca.SX(0)
    for i in range(old.numel()):
        largest = ca.fmax(largest, new[i])
        change = ca.fmax(change, ca.fabs(new[i] - old[i]))
    ready = rounds >= 1 if explicit else change <= REPEATED * largest
    # a load that is not a number is never equal to itself
    endless = ca.SX(0) if explicit else ca.logic_and(rounds + 1 >= MAX_ROUNDS, ca.logic_not(ready))
    return ready, ca.logic_or(ca.logic_not(change <= 1e300), endless)
