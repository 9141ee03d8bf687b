"""Leg kinds, one file each: where the bodies of a leg are for a given platform pose."""

from .contract import Condition, Inertance, Joint, Leg, Limit, PlacedBody, Placement
from .prpar import PRPaR
from .pru import PRU
from .pus import PUS
from .ups import UPS

__all__ = [
    "PRU",
    "PUS",
    "UPS",
    "Condition",
    "Inertance",
    "Joint",
    "Leg",
    "Limit",
    "PRPaR",
    "PlacedBody",
    "Placement",
]
