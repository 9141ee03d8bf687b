"""Joint reactions by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..mechanism import Mechanism

Array = NDArray[np.float64]
_NUMBERS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")


@dataclass(frozen=True)
class JointReaction:
    """What a joint passes on from its parent to its child: force and moment (..., 3) at the joint's point, base axes.

    The opposite acts on the parent. Along the joint's free directions it holds friction and the actuator's force.
    """

    kind: str
    parent: str
    child: str
    force: Array
    moment: Array


@dataclass(frozen=True)
class Reactions:
    """Reactions of every joint: ``legs[leg][joint]``, the actuator forces, and the numbers statics leaves open.

    ``indeterminate`` names them as (leg, joint, number); they are NaN.
    """

    legs: dict[str, dict[str, JointReaction]]
    force: Array
    indeterminate: tuple[tuple[str, str, str], ...]

    @staticmethod
    def of(mechanism: Mechanism, wrenches: Array, force: Array) -> Reactions:
        """From the rows (..., joints, 6) of a kernel."""
        legs: dict[str, dict[str, JointReaction]] = {}
        indeterminate = []
        answered = np.isfinite(force).all(axis=-1)
        row = 0
        for leg in mechanism.legs:
            legs[leg.name] = {}
            for joint in leg.placement.joints:
                numbers = wrenches[..., row, :]
                legs[leg.name][joint.name] = JointReaction(
                    joint.kind, joint.parent, joint.child, numbers[..., :3], numbers[..., 3:]
                )
                lost = np.isnan(numbers[answered]).any(axis=0) if answered.any() else np.zeros(6, dtype=bool)
                indeterminate += [(leg.name, joint.name, _NUMBERS[k]) for k in np.flatnonzero(lost)]
                row += 1
        return Reactions(legs, force, tuple(indeterminate))
