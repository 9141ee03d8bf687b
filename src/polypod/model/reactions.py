"""Joint reactions by name."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..friction import friction_pairs
from ..mechanism import Mechanism

_ROUNDING = 1e-12
"""Entries of a projection below this are zeros of directions along the base axes."""
_NUMBERS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")


@dataclass(frozen=True)
class JointReaction:
    """What a joint passes on from its parent to its child: force and moment (..., 3) at the joint's point, base axes.

    The opposite acts on the parent. Along the joint's free directions ``axes`` (..., k, 3) it holds friction and the
    actuator's force; ``normal_force`` and ``constraint_moment`` are what is left without them. ``idle`` joints have
    neither. Numbers that inner stresses leave open are NaN.
    """

    kind: str
    parent: str
    child: str
    force: Array
    moment: Array
    axes: Array
    idle: bool = False

    @property
    def normal_force(self) -> Array:
        """Force perpendicular to a slide's direction (..., 3) [N]; the whole force of a rotary joint."""
        return self._without(self.force) if self.kind in ("prismatic", "cylindrical") else self.force

    @property
    def constraint_moment(self) -> Array:
        """Moment about the axes the joint blocks (..., 3) [N m]; zero for a spherical joint."""
        if self.kind == "prismatic":
            return self.moment
        return np.zeros_like(self.moment) if self.kind == "spherical" else self._without(self.moment)

    def _without(self, vector: Array) -> Array:
        """A vector (..., 3) less its parts along the free directions; an idle joint has none to take off."""
        projected = perpendicular(vector, self.axes)
        # inner stresses have no part along free directions: a number that they leave alone is one of both
        return np.where(np.isnan(projected), vector, projected) if self.idle else projected


@dataclass(frozen=True)
class Reactions:
    """Reactions of every joint: ``legs[leg][joint]``, the actuator forces, and the numbers statics leaves open.

    ``indeterminate`` names them as (leg, joint, number); they are NaN. ``elements`` is what each element applies along
    its length or the displacements of its joint (..., k).
    """

    legs: dict[str, dict[str, JointReaction]]
    force: Array
    indeterminate: tuple[tuple[str, str, str], ...]
    elements: dict[str, Array] = field(default_factory=dict)

    @property
    def on_platform(self) -> Array:
        """Force of each leg on the platform (..., n, 3) [N], base axes: the sum over its joints there."""
        joints = [[r.force for r in leg.values() if r.child == "platform"] for leg in self.legs.values()]
        return np.stack([np.sum(forces, axis=0) for forces in joints], axis=-2)

    @staticmethod
    def of(
        mechanism: Mechanism,
        wrenches: Array,
        axes: Array,
        force: Array,
        open_numbers: NDArray[np.bool_],
        friction: bool = True,
    ) -> Reactions:
        """From the rows (..., joints, 6) of a kernel and which numbers (joints, 6) of them are open."""
        legs: dict[str, dict[str, JointReaction]] = {}
        indeterminate = []
        row = 0
        for leg in mechanism.legs:
            legs[leg.name] = {}
            busy = {actuator.joint for actuator in leg.placement.actuators}
            busy |= {pair.of for pair in friction_pairs(leg)} if friction else set()
            for joint in leg.placement.joints:
                numbers = wrenches[..., row, :]
                free = axes[..., row, :].reshape(*axes.shape[:-2], 2, 3)[..., : len(joint.axes), :]
                legs[leg.name][joint.name] = JointReaction(
                    joint.kind, joint.parent, joint.child, numbers[..., :3], numbers[..., 3:], free,
                    joint.name not in busy,
                )  # fmt: skip
                indeterminate += [(leg.name, joint.name, _NUMBERS[k]) for k in np.flatnonzero(open_numbers[row])]
                row += 1
        return Reactions(legs, force, tuple(indeterminate))


def perpendicular(vector: Array, axes: Array) -> Array:
    """A vector (..., 3) less its parts along directions (..., k, 3) that are perpendicular to each other.

    P v with P = 1 - sum a a^T: a number that is open leaves those of the result open that depend on it.
    """
    matrix = np.eye(3) - np.einsum("...ki,...kj->...ij", axes, axes)
    matrix = np.where(np.abs(matrix) < _ROUNDING, 0.0, matrix)
    with np.errstate(invalid="ignore"):
        parts = np.where(matrix == 0.0, 0.0, matrix * vector[..., None, :])
    return np.asarray(parts.sum(axis=-1))
