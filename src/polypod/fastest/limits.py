"""What a motion must keep: limits of the actuators and of the joints' reactions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

if TYPE_CHECKING:
    from ..model import Model

Array = NDArray[np.float64]


class _Kind(NamedTuple):
    """A limit's name in words, its unit for an actuator that slides and one that turns, and an actuator's own field."""

    words: str
    units: tuple[str, str]
    field: str


KINDS = {
    "force": _Kind("force", ("N", "N m"), "max_force"),
    "speed": _Kind("speed", ("m/s", "rad/s"), "max_speed"),
    "acceleration": _Kind("acceleration", ("m/s^2", "rad/s^2"), "max_acceleration"),
    "power": _Kind("power", ("W", "W"), "max_power"),
    "rms_force": _Kind("rms force", ("N", "N m"), "rms_force"),
    "jerk": _Kind("jerk", ("m/s^3", "rad/s^3"), "max_jerk"),
}
"""Limits that each actuator has of its own."""


@dataclass(frozen=True)
class Limits:
    """Largest absolute values: one for all actuators or one each (n,); None where there is no limit.

    ``force`` [N, N m], ``speed`` [m/s, rad/s], ``acceleration`` [m/s^2, rad/s^2], ``power`` [W], ``rms_force`` [N, N m]
    over the whole motion; ``jerk`` [m/s^3, rad/s^3], which without a limit is unbounded: accelerations then jump.
    ``reaction`` [N] is the largest force in any joint.
    """

    force: ArrayLike | None = None
    speed: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    power: ArrayLike | None = None
    rms_force: ArrayLike | None = None
    jerk: ArrayLike | None = None
    reaction: float | None = None

    def of(self, model: Model) -> dict[str, Array]:
        """Arrays (n,) by name for a robot, its actuators' own where none is given; infinite where there is none."""
        count = len(model.actuators)
        result: dict[str, Array] = {}
        for name, kind in KINDS.items():
            given = getattr(self, name)
            drives = [getattr(actuator, "drive", actuator) for actuator in model.actuators]
            own = [getattr(drive, kind.field, None) for drive in drives]
            if given is None and any(value is not None for value in own):
                given = [np.inf if value is None else value for value in own]
            if given is not None:
                result[name] = _checked(name, given, count)
        if self.reaction is not None:
            result["reaction"] = _checked("reaction", self.reaction, 1)
        return {name: value for name, value in result.items() if np.isfinite(value).any()}


def _checked(name: str, given: ArrayLike, count: int) -> Array:
    try:
        value = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"limits.{name}: numbers are needed, got {given!r}") from error
    if value.shape not in ((), (count,)):
        raise InputError(f"limits.{name}: one number or {count} are needed, one an actuator, got shape {value.shape}")
    if not (value > 0).all():
        raise InputError(f"limits.{name}: must be greater than 0, got {given!r}")
    return np.broadcast_to(value, (count,)).copy()


NAMES = tuple(field.name for field in fields(Limits))
