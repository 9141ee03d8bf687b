"""The numeric face of a robot."""

from ..limits import LimitReport
from .actuators import ActuatorInfo
from .assembly_results import AssemblyModes, Completeness, Reachability
from .bounds import ErrorBound
from .coupling import FrictionSolutions, FrictionStatus
from .derivatives import Derivatives, Regressor
from .model import Model
from .results import (
    Closure,
    ClosureStatus,
    Conditioning,
    DirectDynamics,
    Distribution,
    Energy,
    Equilibrium,
    FlexibleEnergy,
    ForwardKinematics,
    ForwardKinematicsStatus,
    InverseDynamics,
    PlatformMotion,
)
from .stiction import StaticForceRange

__all__ = [
    "ActuatorInfo",
    "AssemblyModes",
    "Closure",
    "ClosureStatus",
    "Completeness",
    "Conditioning",
    "Derivatives",
    "DirectDynamics",
    "Distribution",
    "Energy",
    "Equilibrium",
    "ErrorBound",
    "FlexibleEnergy",
    "ForwardKinematics",
    "ForwardKinematicsStatus",
    "FrictionSolutions",
    "FrictionStatus",
    "InverseDynamics",
    "LimitReport",
    "Model",
    "PlatformMotion",
    "Reachability",
    "Regressor",
    "StaticForceRange",
]
