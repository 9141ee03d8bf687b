"""Leg kinds, one file each: where the bodies of a leg are for a given platform pose."""

from .contract import Actuator, Condition, Joint, Limit, PlacedBody, Placement
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
    "Condition",
    "Joint",
    "Leg",
    "Limit",
    "PRPaR",
    "PlacedBody",
    "Placement",
]
