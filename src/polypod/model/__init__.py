"""The numeric face of a robot."""

from .actuators import ActuatorInfo
from .assembly import AssemblyModes, Complete, Reach
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
    "AssemblyModes",
    "Closing",
    "ClosingCode",
    "Code",
    "Complete",
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
    "Reach",
    "Regressor",
]
