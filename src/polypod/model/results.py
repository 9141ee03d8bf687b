"""What model calls return where one array is not enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..friction import friction_pairs
from ..limits import LimitReport
from ..limits.loads import perpendicular
from ..mechanism import Mechanism

DIAGNOSTICS = ("quality", "converged", "verdict")
"""Outputs of a kernel about its results, not among them."""


class Energy(NamedTuple):
    """Kinetic, potential and elastic energy [J], each of the batch's shape.

    Potential is that of gravity, -sum m g.r from the base origin, and of springs and other elements; elastic that of a
    flexible platform, zero for others.
    """

    kinetic: Array
    potential: Array
    elastic: Array


class ElementState(NamedTuple):
    """An element: its displacements (..., k) and their rates, what it applies along them, its potential and loss.

    ``axes`` names the displacements: its length, or those of its joint [m or rad]. ``force`` (..., k) [N or N m] is
    positive along growing displacements: negative where a spring pulls. ``potential`` (...) [J]; ``loss`` (...) [W] is
    the power that it takes.
    """

    axes: tuple[str, ...]
    displacement: Array
    rate: Array
    force: Array
    potential: Array
    loss: Array


class InverseDynamics(NamedTuple):
    """Actuator forces (..., n) [N or N m] and elastic accelerations (..., N); N is 0 for a rigid platform."""

    force: Array
    elastic_acceleration: Array


class DirectDynamics(NamedTuple):
    """Acceleration of the platform frame (..., 6) and elastic accelerations (..., N); N is 0 for a rigid platform."""

    acceleration: Array
    elastic_acceleration: Array


class Equilibrium(NamedTuple):
    """Elastic coordinates (..., N) that stay as they are, and the actuator forces (..., n) of that motion or rest."""

    elastic: Array
    force: Array


class Distribution(NamedTuple):
    """How more actuators than degrees of freedom share their work: the forces nearest to ``preload`` in a weighted
    norm.

    Forces f minimise sum w_i (f_i - p_i)^2; ``weights`` w (..., n) are one and ``preload`` p (..., n) zero if left out.
    """

    weights: Array | None = None
    preload: Array | None = None


class PlatformMotion(NamedTuple):
    """Pose (..., 4, 4), twist (..., 6) and acceleration (..., 6) of the platform."""

    pose: Array
    twist: Array
    acceleration: Array


class Conditioning(NamedTuple):
    """How far a pose is from singular, from the Jacobian in lengths.

    Rows are motions of the actuated joints themselves, gears and screws left out; rotations of joints and platform are
    arcs at the platform's size (the mean distance of its joints from its origin). ``condition`` is the ratio of the
    largest to the smallest singular value, ``distance`` the smallest one [1, i.e. mm/mm]: how far the joints move for
    each millimetre of the platform's motion that they feel least. It is 0 in a singular pose, where they feel nothing.
    """

    condition: Array
    distance: Array


class ClosureStatus(IntEnum):
    """Whether the legs close at a pose."""

    CLOSED = 0
    OUT_OF_REACH = 1
    SINGULAR_LEG = 2
    OTHER_BRANCH = 3
    NOT_CONVERGED = 4
    SINGULAR = 5


class Closure(NamedTuple):
    """How a pose (...) is closed: a ``ClosureStatus``, the number of the first leg at fault (-1: none, or the
    whole platform is singular) and by how much its condition is exceeded [m, or the unit of the condition; nan:
    none]."""

    status: NDArray[np.int64]
    leg: NDArray[np.int64]
    excess: Array


class ForwardKinematicsStatus(IntEnum):
    """How forward kinematics ended."""

    CONVERGED = 0
    NOT_CONVERGED = 1
    SINGULAR = 2
    BAD_GUESS = 3
    OTHER_SIDE = 4
    OUTSIDE_LIMITS = 5

    @property
    def message(self) -> str:
        """What it means and what to do."""
        return {
            ForwardKinematicsStatus.CONVERGED: "converged",
            ForwardKinematicsStatus.NOT_CONVERGED: "no pose with these coordinates was found from the guess; "
            "check the coordinates or give a closer guess",
            ForwardKinematicsStatus.SINGULAR: "the iteration ended in a singular pose; give a closer guess or "
            "stay away from the singularity",
            ForwardKinematicsStatus.BAD_GUESS: "the legs do not close at the guess; start from a pose inside the "
            "workspace",
            ForwardKinematicsStatus.OTHER_SIDE: "every pose found with these coordinates lies beyond a "
            "singularity from the guess (det J has the opposite sign); give "
            "a guess on its side, or check the assembly mode of the robot",
            ForwardKinematicsStatus.OUTSIDE_LIMITS: "the pose has these coordinates but is outside the robot's limits",
        }[self]


class ForwardKinematics(NamedTuple):
    """Poses (..., 4, 4), NaN where there is none; code, largest coordinate error [m] and steps of each state.

    A pose outside the robot's limits is given, with its code.
    """

    pose: Array
    status: NDArray[np.int64]
    residual: Array
    steps: NDArray[np.int64]


_FACTORS = {"m": (1e-3, "mm"), "rad": (np.pi / 180.0, "deg")}


def suspected_unit_errors(report: LimitReport) -> list[str]:
    """A sentence for each kind of limit that all states break and that the other unit would keep, with what to write.

    Examples
    --------
    >>> broken = LimitReport((("leg1", "length"),), np.array([0.44]), np.array([334.0]), np.array([484.0]), ("m",))
    >>> suspected_unit_errors(broken)[0].partition(": ")[2]
    '0.44 m is outside 334 to 484 m; write 334 mm and 484 mm, or 0.334 and 0.484, if mm are meant'
    """
    if not report.names:
        return []
    found: dict[str, str] = {}
    values = report.value.reshape(-1, len(report.names))
    for k, (leg, name) in enumerate(report.names):
        factor, unit = _FACTORS.get(report.units[k], (0.0, ""))
        if not unit or not len(values) or name in found:
            continue
        low, high, value = report.low[k], report.high[k], values[:, k]
        outside = ((value < low) | (value > high)).all()
        if outside and ((value >= factor * low) & (value <= factor * high)).all():
            found[name] = (
                f"{leg} {name}: {value[0]:.4g} {report.units[k]} is outside {low:.6g} to {high:.6g} {report.units[k]}; "
                f"write {low:.6g} {unit} and {high:.6g} {unit}, or {factor * low:.6g} and {factor * high:.6g}, if "
                f"{unit} are meant"
            )
    return list(found.values())


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

    ``indeterminate`` names them as (leg, joint, number); they are NaN. ``base`` (..., 6) is the wrench of the whole
    robot on its base, moment about the origin of {B}, base axes: what the foundation carries. ``elements`` is what
    each element applies along its length or the displacements of its joint (..., k).
    """

    legs: dict[str, dict[str, JointReaction]]
    force: Array
    base: Array
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
        base: Array,
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
        return Reactions(legs, force, base, tuple(indeterminate))
