"""Controllers: step functions from a measurement to actuator forces, and what they follow.

A controller of one's own is a plain function ``(time, measurement) -> forces``; see ``Measurement``.
"""

from .admittance import Admittance
from .computed_torque import ComputedTorque
from .contract import Controller, ControllerWithMemory, Measurement
from .disturbance_observer import DisturbanceObserver
from .integral import Integral
from .joint_computed_torque import JointComputedTorque
from .joint_pd import JointPD, sampled_gains
from .mismatch import scaled_masses
from .reference import Reference, Target
from .registry import CONTROLLERS, controller, default_controller
from .springs import Springs

__all__ = [
    "CONTROLLERS",
    "Admittance",
    "ComputedTorque",
    "Controller",
    "ControllerWithMemory",
    "DisturbanceObserver",
    "Integral",
    "JointComputedTorque",
    "JointPD",
    "Measurement",
    "Reference",
    "Springs",
    "Target",
    "controller",
    "default_controller",
    "sampled_gains",
    "scaled_masses",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
