"""The numeric face of a robot."""

from .actuators import ActuatorInfo
from .assembly_results import AssemblyModes, Complete, Reach
from .bounds import ErrorBound
from .coupling import FrictionCode, FrictionSolutions
from .derivatives import Derivatives, Regressor
from .holding import Holding
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
    "ErrorBound",
    "FlexibleEnergy",
    "ForwardKinematics",
    "FrictionCode",
    "FrictionSolutions",
    "Holding",
    "InverseDynamics",
    "LimitReport",
    "Model",
    "PlatformMotion",
    "Reach",
    "Regressor",
]
