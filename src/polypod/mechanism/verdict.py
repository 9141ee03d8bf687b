"""The verdict on a state, found by the function itself: are its inputs what they must be, and has it an answer.

Checks in machine code cost a few dozen operations per state; the same checks around it cost more than the mechanics.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..legs.contract import SMALLEST_MARGIN
from ..platforms.motion import frame_of
from ..symbols.expression import Expression, Iteration, Port, port
from .forward_kinematics import is_solution
from .mechanism import Mechanism

NO_ANSWER = 1.0
"""Verdict on a state out of reach or singular, whose friction did not converge, or with results that are not finite."""
BAD_INPUT = 2.0
"""Added to it for inputs that are not finite, no exact pose or no motion of the robot: to be looked at more closely."""
EXACT = 1e-12
"""Sum of the entries of R^T R - 1 up to which a rotation matrix is used as it is."""
OFF = 1e-10
"""What a pose may have beyond the robot's degrees of freedom, and a motion relative to its size and 1."""
_LARGEST = float(np.finfo(np.float64).max)
# Outputs that say something about the answer and are not part of it.
_ABOUT = ("quality", "converged", "residual", "steps", "next")


def with_verdict(mechanism: Mechanism, function: Expression | Iteration) -> Expression | Iteration:
    """The same function with one more output ``verdict``: 0 for an answer to rely on, else the sum of what is wrong."""
    wrong = BAD_INPUT * ca.logic_not(_inputs_hold(mechanism, function))
    if any(p.name == "quality" for p in function.outputs):
        wrong = wrong + NO_ANSWER * ca.logic_not(_has_answer(mechanism, function))
    return replace(function, outputs=(*function.outputs, port("verdict", ca.SX(wrong), ())))


def _inputs_hold(mechanism: Mechanism, function: Expression | Iteration) -> ca.SX:
    given = {p.name: p.symbols for p in function.inputs}
    holds = _finite([_sum(column) for column in given.values()])
    if not mechanism.platform.full:
        return ca.logic_and(holds, _possible(mechanism, given))
    return ca.logic_and(holds, _rigid(given["pose"])) if "pose" in given else holds


def _has_answer(mechanism: Mechanism, function: Expression | Iteration) -> ca.SX:
    outputs = {p.name: p.symbols for p in function.outputs}
    # Reactions that statics leaves open are NaN; the forces beside them tell whether there is an answer.
    results = ["force"] if function.name == "reactions" else [name for name in outputs if name not in _ABOUT]
    answered = ca.logic_and(outputs["quality"] > SMALLEST_MARGIN, _finite([_sum(outputs[name]) for name in results]))
    if "converged" in outputs:
        answered = ca.logic_and(answered, outputs["converged"] != 0)
    if "residual" in outputs:
        answered = ca.logic_and(answered, is_solution(mechanism, outputs["residual"], outputs["quality"]))
    return answered


def _finite(sums: list[ca.SX]) -> ca.SX:
    """Whether all numbers in some sums are finite; numbers so large that their sum is not count as infinite."""
    return ca.fabs(_sum(ca.vertcat(*sums))) <= _LARGEST


def _sum(column: ca.SX) -> ca.SX:
    """The sum of a column's numbers, in pairs: a chain of additions would be waited for."""
    terms = [column[k] for k in range(column.numel())] or [ca.SX(0)]
    while len(terms) > 1:
        terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)] + ([terms[-1]] if len(terms) % 2 else [])
    return terms[0]


def _size(column: ca.SX) -> ca.SX:
    """Sum of the numbers' sizes: what is not a number shows in it, unlike in a maximum."""
    return _sum(ca.fabs(column))


def _rigid(pose: ca.SX) -> ca.SX:
    """Whether a row-major pose (16) is a rigid displacement to rounding."""
    axes = frame_of(pose).axes
    gram = axes.T @ axes - ca.SX.eye(3)
    off = _size(ca.vertcat(*[gram[i, j] for i in range(3) for j in range(i, 3)], pose[12:15], pose[15] - 1))
    return ca.logic_and(off <= EXACT, ca.dot(axes[:, 0], ca.cross(axes[:, 1], axes[:, 2])) > 0)


def _possible(mechanism: Mechanism, given: dict[str, ca.SX]) -> ca.SX:
    """Whether inputs are finite, and pose, twist and acceleration those of a robot of fewer than six degrees of
    freedom.

    A pose that the robot leaves as it is turns about one axis, and is a rotation if its numbers' squares add up to 3.
    """
    if mechanism.platform.is_constrained:
        return _allowed(mechanism, given)
    x, platform = mechanism.inputs(), mechanism.platform
    still, holds = x.still, ca.SX(1)
    if "pose" in given:
        x.pose = Port("pose", given["pose"], (4, 4))
        axes = frame_of(given["pose"]).axes
        off = _size(given["pose"] - platform.projected(given["pose"]))
        holds = ca.logic_and(off <= OFF, ca.fabs(_sum(ca.vec(axes * axes)) - 3) <= EXACT)
    motion = platform.at(x, given.get("twist", still), given.get("acceleration", still)).motion
    possible = {"twist": ca.vertcat(motion.v, motion.omega), "acceleration": ca.vertcat(motion.a, motion.alpha)}
    sizes = {name: _size(column) for name, column in given.items()}
    for name, column in possible.items():
        if name in given:
            holds = ca.logic_and(holds, _size(given[name][:6] - column) <= OFF * (1 + sizes[name]))
    return ca.logic_and(holds, _finite(list(sizes.values())))


def _allowed(mechanism: Mechanism, given: dict[str, ca.SX]) -> ca.SX:
    """The same for a platform that moves as its legs let it: what they constrain and its derivatives must vanish."""
    sizes = {name: _size(column) for name, column in given.items()}
    holds = _finite(list(sizes.values()))
    if "pose" not in given:
        return holds
    x = mechanism.inputs()
    still = x.still
    x.at_place(ca.vertcat(given["pose"], given.get("internal", x.internal.symbols)))
    state = mechanism.platform.at(x, given.get("twist", still), given.get("acceleration", still))
    off = [ca.SX(0)] * 3
    for leg in mechanism.attach(state):
        values = leg.model.constraint_tape.taylor(*leg.series)
        off = [total + _size(value) for total, value in zip(off, values, strict=True)]
    holds = ca.logic_and(ca.logic_and(holds, _rigid(given["pose"])), off[0] <= OFF)
    scale = 1 + sizes.get("twist", ca.SX(0))
    if "twist" in given:
        holds = ca.logic_and(holds, off[1] <= OFF * scale)
    if "acceleration" in given:
        holds = ca.logic_and(holds, off[2] <= OFF * (scale * scale + sizes["acceleration"]))
    return holds
