"""The numeric face of a robot."""

from .actuators import ActuatorInfo
from .derivatives import Derivatives, Regressor
from .model import Model
from .results import (
    Code,
    Conditioning,
    DirectDynamics,
    Distribution,
    Energy,
    Equilibrium,
    FlexibleEnergy,
    ForwardKinematics,
    InverseDynamics,
    LimitReport,
    PlatformMotion,
)

__all__ = [
    "ActuatorInfo",
    "Code",
    "Conditioning",
    "Derivatives",
    "DirectDynamics",
    "Distribution",
    "Energy",
    "Equilibrium",
    "FlexibleEnergy",
    "ForwardKinematics",
    "InverseDynamics",
    "LimitReport",
    "Model",
    "PlatformMotion",
    "Regressor",
]
