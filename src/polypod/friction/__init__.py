"""Friction of joints: its laws, its forces at a state, and loads found together with the reactions they depend on."""

from .joints import (
    Coefficients,
    GivenForces,
    JointFriction,
    Loads,
    Rub,
    actuator_friction,
    driven_dry,
    has_dry_friction,
    has_friction,
    loaded_joints,
    loaded_rubs,
    rubs,
)
from .laws import LAWS, Law, Smooth, law_of_width
from .sliding import SlidingJoint, dry_joints, sliding_joints
from .stick import INSTANT, REST, Held, after, hold

__all__ = [
    "INSTANT",
    "LAWS",
    "REST",
    "Coefficients",
    "GivenForces",
    "Held",
    "JointFriction",
    "Law",
    "Loads",
    "Rub",
    "SlidingJoint",
    "Smooth",
    "actuator_friction",
    "after",
    "driven_dry",
    "dry_joints",
    "has_dry_friction",
    "has_friction",
    "hold",
    "law_of_width",
    "loaded_joints",
    "loaded_rubs",
    "rubs",
    "sliding_joints",
]
