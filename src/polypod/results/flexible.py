"""How a flexible platform bends along a task, as the model's functions and a study's dataset take it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arrays import Array
from ..errors import InputError, StateError, UnstableBendingError
from ..model import Model
from ..motion import Task

if TYPE_CHECKING:
    from ..simulation.follow import FlexiblePath

Progress = Callable[[str], None]


class Bending(NamedTuple):
    """How a flexible platform bends along a task; empty for a rigid one. ``steady`` says why it does not vibrate.

    ``position``, ``velocity``, ``acceleration`` and ``load`` are keywords of the model's functions: elastic coordinates
    and as many of their derivatives as these need.
    """

    path: Any = None
    steady: str = ""

    @property
    def position(self) -> dict[str, Any]:
        """Elastic coordinates."""
        return {} if self.path is None else {"elastic": self.path.elastic}

    @property
    def velocity(self) -> dict[str, Any]:
        """Elastic coordinates and rates."""
        return {} if self.path is None else {**self.position, "elastic_rate": self.path.elastic_rate}

    @property
    def acceleration(self) -> dict[str, Any]:
        """Elastic coordinates, rates and accelerations."""
        return {} if self.path is None else {**self.velocity, "elastic_acceleration": self.path.elastic_acceleration}

    @property
    def load(self) -> dict[str, Any]:
        """Those that forces take: a steady shape has no rates."""
        return self.position if self.steady else self.velocity

    @property
    def about(self) -> dict[str, Any]:
        """Attributes of the result."""
        if self.path is None:
            return {}
        return {"vibration": f"no, {self.steady}" if self.steady else "yes", "step": self.path.step}

    def values(self, model: Model) -> dict[str, Array]:
        """Variables of the result."""
        if self.path is None:
            return {}
        elastic, shape = self.path.elastic, model.modes.origin_shape
        return {
            **self.velocity,
            "frequency": model.modes.frequencies,
            "deflection": model.deflection(elastic),
            **({} if shape is None else {"origin_deflection": elastic @ shape.T}),
        }


def bending_along(model: Model, task: Task, friction: bool, progress: Progress, vibration: bool | None) -> Bending:
    """How the platform bends along the task; where its frame cannot follow exactly, without vibration."""
    from ..simulation.follow import follow

    if task.trajectory is None:
        raise InputError(
            f"motion {task.name!r}: a flexible platform vibrates between the samples; give the task its trajectory"
        )
    progress("bending of the platform")
    duration = float(task.time[-1])
    along: Callable[..., FlexiblePath] = partial(
        follow, model, task.trajectory, task.time, task.load, friction,
        progress=lambda time: progress(f"bending of the platform, {time:.3g} of {duration:.3g} s"),
    )  # fmt: skip
    try:
        return Bending(along(vibration=vibration is not False), "" if vibration is not False else "as asked for")
    except UnstableBendingError as error:
        if vibration:
            raise
        return Bending(along(vibration=False), f"since {error}")
    except StateError as error:
        raise StateError(f"motion {task.name!r}: {error}", error.index, error.reasons, time=error.time) from error
