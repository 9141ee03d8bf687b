"""The actuators of a model by name and unit, and motions that none of them drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..description import undriven
from ..mechanism import Mechanism


@dataclass(frozen=True)
class ActuatorInfo:
    """An actuator: its name (the leg's, if the leg has one), leg and joint, the units of coordinate and force."""

    name: str
    leg: str
    joint: str
    unit: str
    force_unit: str

    @property
    def rate_unit(self) -> str:
        """Unit of the coordinate's rate."""
        return f"{self.unit}/s"


def actuators_of(mechanism: Mechanism) -> tuple[ActuatorInfo, ...]:
    """All actuators in the order of coordinates and forces."""
    result = []
    for placed in mechanism.placed:
        for a in placed.placement.actuators:
            leg = placed.leg.name
            alone = len(placed.placement.actuators) == 1
            result.append(ActuatorInfo(leg if alone else f"{leg}.{a.name}", leg, a.joint, a.unit, a.force_unit))
    return tuple(result)


def undriven_motion(model: Any) -> str:
    """A sentence on the motion at home that no actuator drives: the velocity u that moves them least."""
    matrix = model.jacobian(model.robot.home.matrix, errors="nan")[:, : model.mobility.count]
    return undriven.undriven_motion(matrix, model.mobility.basis, model.size)
