"""Friction of joints: its laws, its forces at a state, and loads found together with the reactions they depend on."""

from .joints import (
    Coefficients,
    JointFriction,
    Loads,
    actuator_friction,
    friction_of,
    has_dry_friction,
    has_friction,
    loaded_joints,
)
from .laws import LAWS, Law, Smooth, law_of_width

__all__ = [
    "LAWS",
    "Coefficients",
    "JointFriction",
    "Law",
    "Loads",
    "Smooth",
    "actuator_friction",
    "friction_of",
    "has_dry_friction",
    "has_friction",
    "law_of_width",
    "loaded_joints",
]
