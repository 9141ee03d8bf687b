"""Platform kinds, one file each: how the platform moves, its inertia, and where the legs are attached."""

from __future__ import annotations

from ..parameters import Numbers
from .constrained import ConstrainedPlatform, ConstrainedState
from .contract import Platform, PlatformState, Tip
from .flexible import FlexiblePlatform
from .inputs import Inputs
from .lower_mobility import Freedoms, LowerMobilityPlatform
from .motion import Motion
from .rigid import RigidPlatform

PLATFORMS: dict[str, type[Platform]] = {
    "rigid": RigidPlatform,
    "lower-mobility": LowerMobilityPlatform,
    "constrained": ConstrainedPlatform,
    "flexible": FlexiblePlatform,
}

__all__ = [
    "PLATFORMS",
    "ConstrainedState",
    "Freedoms",
    "Inputs",
    "Motion",
    "Platform",
    "PlatformState",
    "RigidPlatform",
    "Tip",
    "platform_of",
]


def platform_of(numbers: Numbers, follows_legs: bool = False) -> Platform:
    """The platform that a robot states: flexible, of fewer than six freedoms, or rigid with six.

    ``follows_legs`` says that what its legs let it do changes from pose to pose.
    """
    (kind,) = (kind for kind in PLATFORMS.values() if kind.suits(numbers.robot, follows_legs))
    return kind(numbers)
