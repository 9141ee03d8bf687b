"""Shapes that a flexible platform keeps: at rest, or in a motion that does not make it vibrate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description.modes import Modes
from ..errors import InputError, Reason, StateError
from ..legs.contract import SMALLEST_MARGIN
from .arguments import Argument, batch, check_wrench
from .calls import Calls, Parameters, States
from .results import Equilibrium

_NO_SHAPE = "no equilibrium shape of the platform"
_TOO_SOFT = Reason(
    "the platform is too flexible for its load: it would bend by more than its own size, or buckle", "too_flexible"
)


def deflection(modes: Modes, elastic: ArrayLike) -> Array:
    """Displacement of the attachment points (..., n, 3) [m], platform axes: Phi_d(i) q_e of Long (12)."""
    rows = batch([Argument("elastic", elastic, (modes.count,))])
    return rows.restore(np.einsum("iak,nk->nia", modes.attachment_shapes, rows.rows[0]))


def steady_shape(
    name: str, calls: Calls, modes: Modes, given: Mapping[str, Any], friction: bool, parameters: Parameters | None
) -> Equilibrium:
    """Elastic coordinates that stay as they are in states ``given`` by name, and the forces; an error without them."""
    robot = calls.kernels.robot
    if not np.all(modes.stiffness > 0):
        raise InputError(f"{name}: every mode needs a positive stiffness", code="no_stiffness")
    if calls.kernels.mechanism.redundant:
        raise InputError(
            f"{name}: with more actuators than degrees of freedom the deflection depends on how they share "
            "the load, which is not determined; use one actuator per degree of freedom",
            code="redundant",
        )
    check_wrench(robot, given["wrench"])
    arguments = calls.arguments(calls.kernels.get("steady_shape", friction), given)
    states = calls.states(arguments, parameters)
    found = states.evaluated(states.functions.get("steady_shape", friction))
    elastic, force = found["elastic"], found["force"]
    # a shape larger than the platform solves the equations of small deflections and means nothing
    with np.errstate(invalid="ignore"):
        small = np.linalg.norm(deflection(modes, elastic), axis=-1).max(axis=-1) < calls.size
    impossible = states.lost
    elastic[impossible] = force[impossible] = np.nan
    states.note(~((found["converged"] != 0) & small), lambda state: _no_shape(states, state))
    result = Equilibrium(states.restore(elastic), states.restore(force))
    index = np.flatnonzero(states.lost)
    if len(index):
        texts = [states.failure_reason(int(k)) or "" for k in index]
        head = f"{_NO_SHAPE} for {len(index)} of {states.size} poses" if states.size > 1 else _NO_SHAPE
        raise StateError(f"{name}: {head}: {texts[0]}", index, texts, result)
    return result


def _no_shape(states: States, state: int) -> str:
    """Why there is no shape: the undeformed robot is out of reach, or the platform is too soft."""
    kernel = states.functions.at(np.array([state])).get("margins")
    flat = np.zeros((1, *next(p.shape for p in kernel.inputs if p.name == "elastic")))
    pose = np.ascontiguousarray(states.rows["pose"][state : state + 1])
    margins = np.asarray(kernel(*(pose if p.name == "pose" else flat for p in kernel.inputs)))
    if (margins[0, :, 0] > SMALLEST_MARGIN).all():
        return _TOO_SOFT
    return states.margin_message(margins)
