"""Controllers: step functions from a measurement to actuator forces, and what they follow.

A controller of one's own is a plain function ``(time, measurement) -> forces``; see :class:`Measurement`.
"""

from .computed_torque import ComputedTorque
from .contract import Controller, ControllerWithMemory, Measurement
from .joint_computed_torque import JointComputedTorque
from .joint_pd import JointPD, sampled_gains
from .mismatch import scaled_masses
from .reference import Reference, Target
from .springs import Springs


def __getattr__(name: str) -> object:
    """The controller of flexible robots brings their modes along: loaded when asked for."""
    if name == "FlexibleComputedTorque":
        from .flexible_computed_torque import FlexibleComputedTorque

        return FlexibleComputedTorque
    raise AttributeError(f"module 'polypod.control' has no attribute {name!r}")


__all__ = [
    "ComputedTorque",
    "Controller",
    "ControllerWithMemory",
    "FlexibleComputedTorque",
    "JointComputedTorque",
    "JointPD",
    "Measurement",
    "Reference",
    "Springs",
    "Target",
    "sampled_gains",
    "scaled_masses",
]
