"""Platform kinds, one file each: how the platform moves, its inertia, and where the legs are attached."""

from __future__ import annotations

from ..parameters import ParameterVector
from .constrained import ConstrainedPlatform, ConstrainedState
from .contract import Platform, PlatformState, Tip
from .degrees_of_freedom import DegreesOfFreedom
from .flexible import ModalPlatform
from .lower_mobility import LowerMobilityPlatform
from .motion import BaseMotion, FrameMotion, Inputs
from .rigid import RigidPlatform

PLATFORMS: dict[str, type[Platform]] = {
    "rigid": RigidPlatform,
    "lower-mobility": LowerMobilityPlatform,
    "constrained": ConstrainedPlatform,
    "flexible": ModalPlatform,
}

__all__ = [
    "PLATFORMS",
    "BaseMotion",
    "ConstrainedState",
    "DegreesOfFreedom",
    "FrameMotion",
    "Inputs",
    "Platform",
    "PlatformState",
    "RigidPlatform",
    "Tip",
    "platform_of",
]


def platform_of(numbers: ParameterVector, is_constrained: bool = False) -> Platform:
    """The platform that a robot states: flexible, of fewer than six degrees of freedom, or rigid with six.

    ``is_constrained`` says that what its legs let it do changes from pose to pose.
    """
    (kind,) = (kind for kind in PLATFORMS.values() if kind.suits(numbers.robot, is_constrained))
    return kind(numbers)
