"""Functions of motion in C, each a step of bounded time, that know of a robot the number of its axes alone."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import InputError
from ..kernels import Expression
from ..model import Model
from ..online.planner import online_step
from ..online.stream import path_push, path_step
from ..online.washout import washout_step
from ..symbols.expression import Iteration

ONLINE, WASHOUT = "online_step", "washout_step"
PUSH, PATH = "path_push", "path_step"


def _online(model: Model, single: bool) -> Iteration:
    return online_step(len(model.actuators), single)


MOTIONS: dict[str, Callable[[Model, bool], Expression | Iteration]] = {
    ONLINE: _online,
    WASHOUT: lambda model, single: washout_step(),
    PUSH: lambda model, single: path_push(),
    PATH: lambda model, single: path_step(),
}
"""Functions of motion by name."""


def motion_expression(model: Model, function: str, single: bool, parameters: bool) -> Expression | Iteration:
    """A function of motion; parameters of the robot are no part of it."""
    if parameters:
        raise InputError(f"parameters: {function} has none of the robot's; its limits are inputs")
    return MOTIONS[function](model, single)
