"""Friction of joints: its laws, its forces at a state, and loads found together with the reactions they depend on."""

from .joints import (
    Coefficients,
    FrictionPair,
    GivenForces,
    JointFriction,
    Loads,
    SlidingJoint,
    actuator_friction,
    dry_drives,
    dry_joints,
    friction_pairs,
    has_dry_friction,
    has_friction,
    loaded_joints,
    loaded_pairs,
    sliding_joints,
)
from .laws import LAWS, FrictionLaw, Smooth, law_of
from .stick import INSTANT, FrictionIteration, friction_iteration, next_modes, resumed_tries

__all__ = [
    "INSTANT",
    "LAWS",
    "Coefficients",
    "FrictionIteration",
    "FrictionLaw",
    "FrictionPair",
    "GivenForces",
    "JointFriction",
    "Loads",
    "SlidingJoint",
    "Smooth",
    "actuator_friction",
    "dry_drives",
    "dry_joints",
    "friction_iteration",
    "friction_pairs",
    "has_dry_friction",
    "has_friction",
    "law_of",
    "loaded_joints",
    "loaded_pairs",
    "next_modes",
    "resumed_tries",
    "sliding_joints",
]
