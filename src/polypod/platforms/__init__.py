"""Platform kinds, one file each: how the platform moves, what its inertia asks for, where the legs are attached."""

from __future__ import annotations

from ..parameters import Numbers
from .contract import Platform, PlatformState, Tip
from .flexible import FlexiblePlatform
from .inputs import Inputs
from .lower_mobility import Freedoms, LowerMobilityPlatform
from .motion import Motion
from .rigid import RigidPlatform

PLATFORMS: dict[str, type[Platform]] = {
    "rigid": RigidPlatform,
    "lower-mobility": LowerMobilityPlatform,
    "flexible": FlexiblePlatform,
}

__all__ = ["PLATFORMS", "Freedoms", "Inputs", "Motion", "Platform", "PlatformState", "Tip", "platform_of"]


def platform_of(numbers: Numbers) -> Platform:
    """The platform that a robot states: flexible, of fewer than six freedoms, or rigid with six."""
    robot = numbers.robot
    kind = "flexible" if robot.flexible else "lower-mobility" if robot.freedoms else "rigid"
    return PLATFORMS[kind](numbers)
