"""Joint reactions by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..mechanism import Mechanism

_NUMBERS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")


@dataclass(frozen=True)
class JointReaction:
    """What a joint passes on from its parent to its child: force and moment (..., 3) at the joint's point, base axes.

    The opposite acts on the parent. Along the joint's free directions ``axes`` (..., k, 3) it holds friction and the
    actuator's force; ``normal_force`` and ``constraint_moment`` are what is left without them.
    """

    kind: str
    parent: str
    child: str
    force: Array
    moment: Array
    axes: Array

    @property
    def normal_force(self) -> Array:
        """Force perpendicular to a slide's direction (..., 3) [N]; the whole force of a rotary joint."""
        return _without(self.force, self.axes) if self.kind in ("prismatic", "cylindrical") else self.force

    @property
    def constraint_moment(self) -> Array:
        """Moment about the axes the joint blocks (..., 3) [N m]; zero for a spherical joint."""
        if self.kind == "prismatic":
            return self.moment
        return np.zeros_like(self.moment) if self.kind == "spherical" else _without(self.moment, self.axes)


@dataclass(frozen=True)
class Reactions:
    """Reactions of every joint: ``legs[leg][joint]``, the actuator forces, and the numbers statics leaves open.

    ``indeterminate`` names them as (leg, joint, number); they are NaN.
    """

    legs: dict[str, dict[str, JointReaction]]
    force: Array
    indeterminate: tuple[tuple[str, str, str], ...]

    @property
    def on_platform(self) -> Array:
        """Force of each leg on the platform (..., n, 3) [N], base axes: the sum over its joints there."""
        joints = [[r.force for r in leg.values() if r.child == "platform"] for leg in self.legs.values()]
        return np.stack([np.sum(forces, axis=0) for forces in joints], axis=-2)

    @staticmethod
    def of(
        mechanism: Mechanism, wrenches: Array, axes: Array, force: Array, open_numbers: NDArray[np.bool_]
    ) -> Reactions:
        """From the rows (..., joints, 6) of a kernel and which numbers (joints, 6) of them are open."""
        legs: dict[str, dict[str, JointReaction]] = {}
        indeterminate = []
        row = 0
        for leg in mechanism.legs:
            legs[leg.name] = {}
            for joint in leg.placement.joints:
                numbers = wrenches[..., row, :]
                free = axes[..., row, :].reshape(*axes.shape[:-2], 2, 3)[..., : len(joint.axes), :]
                legs[leg.name][joint.name] = JointReaction(
                    joint.kind, joint.parent, joint.child, numbers[..., :3], numbers[..., 3:], free
                )
                indeterminate += [(leg.name, joint.name, _NUMBERS[k]) for k in np.flatnonzero(open_numbers[row])]
                row += 1
        return Reactions(legs, force, tuple(indeterminate))


def _without(vector: Array, axes: Array) -> Array:
    """A vector (..., 3) less its parts along directions (..., k, 3) that are perpendicular to each other."""
    along = np.einsum("...i,...ki->...k", vector, axes)
    return np.asarray(vector - np.einsum("...k,...ki->...i", along, axes))
