"""Leg kinds, one file each: where the bodies of a leg are for a given platform pose."""

from .cable import Cable
from .chain import Chain, Machine
from .contract import (
    Actuator,
    Condition,
    Constraint,
    CoupledJoint,
    HangingWeight,
    Joint,
    LegFrame,
    Limit,
    PlacedBody,
    PlacedCoupling,
    PlacedFriction,
    Placement,
    Spring,
    Unknowns,
)
from .driven import DrivenLeg
from .leg import Leg
from .prpar import PRPaR
from .pru import PRU
from .pus import PUS
from .ups import UPS

__all__ = [
    "PRU",
    "PUS",
    "UPS",
    "Actuator",
    "Cable",
    "Chain",
    "Condition",
    "Constraint",
    "CoupledJoint",
    "DrivenLeg",
    "HangingWeight",
    "Joint",
    "Leg",
    "LegFrame",
    "Limit",
    "Machine",
    "PRPaR",
    "PlacedBody",
    "PlacedCoupling",
    "PlacedFriction",
    "Placement",
    "Spring",
    "Unknowns",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
