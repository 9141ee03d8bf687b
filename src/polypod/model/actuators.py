"""The actuators of a model by name and unit, and motions that none of them drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..description import Drive, dof
from ..mechanism import Mechanism

_UNLIMITED = Drive()


@dataclass(frozen=True)
class ActuatorInfo:
    """One actuator of a robot.

    Attributes
    ----------
    name : str
        Name; that of the leg, if the leg has only this one.
    leg, joint : str
        Leg and joint that it drives.
    unit, force_unit : str
        Units of its coordinate and of its force.
    drive : Drive
        Its limits, screw or gear and motor, as the robot file states them.
    """

    name: str
    leg: str
    joint: str
    unit: str
    force_unit: str
    drive: Drive = _UNLIMITED

    @property
    def rate_unit(self) -> str:
        """Unit of the coordinate's rate."""
        return f"{self.unit}/s"


def actuators_of(mechanism: Mechanism) -> tuple[ActuatorInfo, ...]:
    """All actuators in the order of coordinates and forces."""
    result = []
    for data, placed in zip(mechanism.robot.legs, mechanism.placed, strict=True):
        names = data.actuator_labels(tuple(a.name for a in placed.placement.actuators))
        for name, a in zip(names, placed.placement.actuators, strict=True):
            leg = placed.leg.name
            result.append(ActuatorInfo(name, leg, a.joint, a.unit, a.force_unit, data.drive(a.name)))
    return tuple(result)


def undriven_motion(model: Any) -> str:
    """A sentence on the motion at home that no actuator drives: the velocity u that moves them least."""
    matrix = model.jacobian(model.robot.home.matrix, errors="nan")[:, : model.mobility.count]
    return dof.undriven_motion(matrix, model.mobility.basis, model.size)
