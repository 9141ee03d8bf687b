"""Friction of joints: its laws, its forces at a state, and loads found together with the reactions they depend on."""

from .joints import (
    Coefficients,
    FrictionPair,
    GivenForces,
    JointFriction,
    Loads,
    actuator_friction,
    driven_dry,
    friction_pairs,
    has_dry_friction,
    has_friction,
    loaded_joints,
    loaded_pairs,
)
from .laws import LAWS, Law, Smooth, law_of
from .sliding import SlidingJoint, dry_joints, sliding_joints
from .stick import INSTANT, REST, Held, after, hold, restarted

__all__ = [
    "INSTANT",
    "LAWS",
    "REST",
    "Coefficients",
    "FrictionPair",
    "GivenForces",
    "Held",
    "JointFriction",
    "Law",
    "Loads",
    "SlidingJoint",
    "Smooth",
    "actuator_friction",
    "after",
    "driven_dry",
    "dry_joints",
    "friction_pairs",
    "has_dry_friction",
    "has_friction",
    "hold",
    "law_of",
    "loaded_joints",
    "loaded_pairs",
    "restarted",
    "sliding_joints",
]
