"""Whether and why not the legs close at poses: a code a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..errors import RobotFileError
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mobility.numeric_leg import least_gap
from ..parameters.design import with_numbers
from .calls import NOT_ALLOWED, Calls, Parameters, States
from .results import Closure, ClosureStatus

_SINGULAR = 1e-9
"""Smallest over largest singular value of the scaled Jacobian at which the platform is singular."""


def closing_codes(
    mechanism: Mechanism,
    pose: Array,
    margins: Array,
    condition: Array,
    robot_of: Callable[[int], Robot | None] | None = None,
) -> Closure:
    """Codes of n poses (n, 4, 4) from the margins and excesses (n, k, 2) of all conditions and condition numbers (n,).

    Poses at which a leg without a closed form stays open are looked at one by one: they are few, and only a search for
    the least gap tells whether the leg does not reach or would have to pass a singularity of its own. ``robot_of`` is
    the robot of a state if it is not the mechanism's; None if its legs do not even close at home.
    """
    conditions = [(k, c) for k, leg in enumerate(mechanism.legs) for c in leg.placement.conditions]
    count = len(pose)
    code, first = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    excess = np.full(count, np.nan)
    if conditions:
        lost = ~(margins[:, :, 0] > SMALLEST_MARGIN)
        which = lost.argmax(axis=1)
        bad = np.flatnonzero(lost.any(axis=1))
        first[bad] = np.array([leg for leg, _ in conditions])[which[bad]]
        excess[bad] = margins[bad, which[bad], 1]
        singular = np.array([c.singular for _, c in conditions])
        code[bad] = np.where(singular[which[bad]], ClosureStatus.SINGULAR_LEG, ClosureStatus.OUT_OF_REACH)
        undecided = bad[np.isin(first[bad], mechanism.implicit_legs) & (code[bad] == ClosureStatus.OUT_OF_REACH)]
        for state in undecided.tolist():
            robot = mechanism.robot if robot_of is None else robot_of(state)
            if robot is not None:
                code[state], first[state], excess[state] = _open_leg_code(mechanism.implicit_legs, robot, pose[state])
    singular_pose = (code == ClosureStatus.CLOSED) & ~(condition * _SINGULAR < 1.0)
    code[singular_pose] = ClosureStatus.SINGULAR
    return Closure(code, first, excess)


def closing(calls: Calls, given: Mapping[str, Any], parameters: Parameters | None) -> Closure:
    """``polypod.Model.closing``."""
    states = calls.of("margins", given, parameters)
    condition = calls.of("conditioning", given, parameters).outputs["condition"]
    robot_of = None if states.designs is None else partial(_robot_of, states)
    code, leg, excess = closing_codes(
        states.mechanism, states.rows["pose"], states.outputs["margins"], condition, robot_of
    )
    for off, text in states.failures:
        if text is NOT_ALLOWED:
            code[off], leg[off], excess[off] = ClosureStatus.OUT_OF_REACH, -1, np.nan
    return Closure(code.reshape(states.shape), leg.reshape(states.shape), excess.reshape(states.shape))


def _robot_of(states: States, state: int) -> Robot | None:
    """The design of a state as a robot; None if it cannot be."""
    assert states.designs is not None
    design, k = states.designs.design, int(states.which[state])
    try:
        return with_numbers(design.robot, {path: design.flat(path)[k] for path in design.values})
    except RobotFileError:
        return None


def _open_leg_code(implicit_legs: Sequence[int], robot: Robot, pose: Array) -> tuple[ClosureStatus, int, float]:
    """Code, leg and gap of a pose that legs without a closed form did not reach on the way from home."""
    for number in implicit_legs:
        found = least_gap(robot, number, pose)
        if not found.closed:
            return (ClosureStatus.OUT_OF_REACH if found.converged else ClosureStatus.NOT_CONVERGED), number, found.gap
        if not found.home_mode:
            return ClosureStatus.OTHER_BRANCH, number, found.gap
    # every leg reaches, but not on the straight way from home
    return ClosureStatus.NOT_CONVERGED, implicit_legs[0], 0.0
