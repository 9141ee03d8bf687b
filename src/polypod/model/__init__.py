"""The numeric face of a robot."""

from ..assembly.results import AssemblyModes, Completeness, Reachability
from ..friction.solutions import FrictionSolutions, FrictionStatus
from ..friction.static_force_range import StaticForceRange
from ..limits import LimitReport
from .actuators import ActuatorInfo
from .bounds import ErrorBound
from .derivatives import Derivatives, Regressor
from .discrete_step import DiscreteStep
from .model import Model
from .results import (
    Closure,
    ClosureStatus,
    Conditioning,
    DirectDynamics,
    Distribution,
    Energy,
    Equilibrium,
    ForwardKinematics,
    ForwardKinematicsStatus,
    InverseDynamics,
    JointReaction,
    PlatformMotion,
    Reactions,
)

__all__ = [
    "ActuatorInfo",
    "AssemblyModes",
    "Closure",
    "ClosureStatus",
    "Completeness",
    "Conditioning",
    "Derivatives",
    "DirectDynamics",
    "DiscreteStep",
    "Distribution",
    "Energy",
    "Equilibrium",
    "ErrorBound",
    "ForwardKinematics",
    "ForwardKinematicsStatus",
    "FrictionSolutions",
    "FrictionStatus",
    "InverseDynamics",
    "JointReaction",
    "LimitReport",
    "Model",
    "PlatformMotion",
    "Reachability",
    "Reactions",
    "Regressor",
    "StaticForceRange",
]
