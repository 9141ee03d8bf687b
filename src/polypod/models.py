"""The model that a robot asks for: of rigid bodies, or with a platform that bends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .description import Robot
from .errors import InputError
from .files import load
from .files.files import located
from .model import Model

if TYPE_CHECKING:
    from .flexible import FlexibleModel


def model_of(robot: Robot | str | Path) -> Model | FlexibleModel:
    """A :class:`polypod.Model`, or a :class:`polypod.FlexibleModel` if the robot's platform is flexible."""
    described = robot if isinstance(robot, Robot) else load(robot)
    with located(robot):
        if not described.flexible:
            return Model(described)
        from .flexible import FlexibleModel  # brings SciPy's sparse solvers along

        model = FlexibleModel(described)
        rigid_of(model)  # refuses a singular home
        return model


def rigid_of(model: Model | FlexibleModel) -> Model:
    """A model of the same robot on a platform that does not bend."""
    if isinstance(model, Model):
        return model
    if not hasattr(model, "rigid"):
        raise InputError(f"model: a polypod.Model or polypod.FlexibleModel is needed, got {model!r}")
    return model.rigid
