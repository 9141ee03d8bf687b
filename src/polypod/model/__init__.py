"""The numeric face of a robot."""

from .actuators import ActuatorInfo
from .derivatives import Derivatives, Regressor
from .model import Model
from .results import (
    Closing,
    ClosingCode,
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
    "Closing",
    "ClosingCode",
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
