"""What model calls return where one array is not enough."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..friction import friction_pairs
from ..limits import LimitReport
from ..limits.loads import perpendicular
from ..mechanism import Mechanism

DIAGNOSTICS = ("quality", "converged", "verdict")
"""Outputs of a kernel about its results, not among them."""


class Energy(NamedTuple):
    """Kinetic, potential and elastic energy [J].

    Attributes
    ----------
    kinetic : ndarray, shape (...)
        T = u^T M u / 2.
    potential : ndarray, shape (...)
        V = -sum m g.r, from the base origin, and that of springs and other elements.
    elastic : ndarray, shape (...)
        Energy of a flexible platform; zero for others.
    """

    kinetic: Array
    potential: Array
    elastic: Array


class ElementState(NamedTuple):
    """State of a spring, damper or other element.

    Attributes
    ----------
    axes : tuple of str
        Names of its displacements: its length, or those of its joint.
    displacement : ndarray, shape (..., k)
        Displacements [m or rad].
    rate : ndarray, shape (..., k)
        Their rates [m/s or rad/s].
    force : ndarray, shape (..., k)
        What it applies [N or N m], positive along growing displacements: negative where a spring pulls.
    potential : ndarray, shape (...)
        Potential energy [J].
    loss : ndarray, shape (...)
        Power that it dissipates [W].
    """

    axes: tuple[str, ...]
    displacement: Array
    rate: Array
    force: Array
    potential: Array
    loss: Array


class InverseDynamics(NamedTuple):
    """Full output of inverse dynamics.

    Attributes
    ----------
    force : ndarray, shape (..., n)
        Actuator forces [N or N m].
    elastic_acceleration : ndarray, shape (..., N)
        Accelerations of the elastic coordinates [1/s^2]; N is 0 for a rigid platform.
    """

    force: Array
    elastic_acceleration: Array


class DirectDynamics(NamedTuple):
    """Full output of direct dynamics.

    Attributes
    ----------
    acceleration : ndarray, shape (..., 6)
        Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
    elastic_acceleration : ndarray, shape (..., N)
        Accelerations of the elastic coordinates [1/s^2]; N is 0 for a rigid platform.
    """

    acceleration: Array
    elastic_acceleration: Array


class Equilibrium(NamedTuple):
    """Steady shape of a flexible platform and the forces that belong to it.

    Attributes
    ----------
    elastic : ndarray, shape (..., N)
        Elastic coordinates that stay constant.
    force : ndarray, shape (..., n)
        Actuator forces [N or N m].
    """

    elastic: Array
    force: Array


class Distribution(NamedTuple):
    """How redundant actuators share the load: forces f minimise sum w_i (f_i - p_i)^2, within bounds if given.

    Forces within bounds are exact and continuous along a motion. States without any have no answer; the error or
    warning (code ``bounds``) names the limiting actuators. Without a distribution a robot shares its forces within the
    limits of its drives at the speed of the state, and has an answer where it must exceed them.

    Attributes
    ----------
    weights : array_like, shape (..., n), optional
        Positive weights w; an actuator with a small one carries more. Default: one.
    preload : array_like, shape (..., n), optional
        Forces p that f stays near [N or N m]. Default: zero.
    bounds : "drives" or pair of array_like, shape (..., n), optional
        Lowest and highest forces, friction of the actuated joints included [N or N m]; an infinite one is none.
        ``drives``: those that the robot file states (``max_force``, ``force_speed`` and ``max_motor_torque`` at
        rest). Default: no bounds.
    criterion : str, optional
        Which forces p the others stay near: ``least norm`` (zero, or ``preload``), ``middle``, ``lowest`` or
        ``highest`` of the bounds. Default: ``least norm``.

    Examples
    --------
    >>> import numpy as np, polypod as pp
    >>> model = pp.Model("planar-4-rrr")
    >>> home, rest = model.robot.home.matrix, np.zeros(6)
    >>> plain = model.inverse_dynamics(home, rest, rest)
    >>> most = 0.98 * plain.max()
    >>> within = pp.Distribution(bounds=(-np.inf, most))
    >>> bool(model.inverse_dynamics(home, rest, rest, distribution=within).max() <= most)
    True
    """

    weights: ArrayLike | None = None
    preload: ArrayLike | None = None
    bounds: Literal["drives"] | tuple[ArrayLike, ArrayLike] | None = None
    criterion: Literal["least norm", "middle", "lowest", "highest"] = "least norm"


class PlatformMotion(NamedTuple):
    """Motion of the platform.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4)
        Pose of {P} in {B}.
    twist : ndarray, shape (..., 6)
        Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
    acceleration : ndarray, shape (..., 6)
        Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
    """

    pose: Array
    twist: Array
    acceleration: Array


class Conditioning(NamedTuple):
    """How far a pose is from singular, from the Jacobian in lengths.

    Rows are motions of the actuated joints themselves, without gears and screws; rotations of joints and platform are
    arcs at the platform's size (the mean distance of its joints from its origin).

    Attributes
    ----------
    condition : ndarray, shape (...)
        Ratio of the largest to the smallest singular value.
    distance : ndarray, shape (...)
        Smallest singular value [1, i.e. mm/mm]: how far the joints move for each millimetre of the platform's motion
        that they feel least. Zero in a singular pose.
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
    """How the legs close at a pose.

    Attributes
    ----------
    status : ndarray of int, shape (...)
        A ``ClosureStatus``.
    leg : ndarray of int, shape (...)
        Index of the first leg at fault; -1 if there is none or the whole platform is singular.
    excess : ndarray, shape (...)
        By how much its condition is exceeded [m, or the unit of the condition]; NaN if there is none.
    """

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
    """Full output of forward kinematics.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4)
        Pose of {P} in {B}, NaN where none was found; a pose outside the robot's limits is given, with its status.
    status : ndarray of int, shape (...)
        A ``ForwardKinematicsStatus``.
    residual : ndarray, shape (...)
        Largest error of a coordinate, as a motion of its joint without gears [m, turns as arcs at the platform's size].
    steps : ndarray of int, shape (...)
        Number of Newton steps.
    internal : ndarray, shape (..., k)
        Internal coordinates [m, rad]; k is zero for robots without.
    """

    pose: Array
    status: NDArray[np.int64]
    residual: Array
    steps: NDArray[np.int64]
    internal: Array


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
    """Wrench that a joint passes from its parent to its child; the opposite acts on the parent.

    Components that internal stresses of an overconstrained robot leave open are NaN.

    Attributes
    ----------
    kind : str
        Kind of joint.
    parent, child : str
        Names of the bodies it connects.
    force : ndarray, shape (..., 3)
        Force on the child at the joint's point, base axes [N].
    moment : ndarray, shape (..., 3)
        Moment on the child about the joint's point, base axes [N m].
    axes : ndarray, shape (..., k, 3)
        Free directions of the joint, along which the wrench contains friction and the actuator's force.
    idle : bool
        Whether the joint has neither friction nor an actuator.
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
        """Force perpendicular to the direction of a sliding joint (..., 3) [N]; the whole force of a rotary joint."""
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
    """Reactions of every joint, actuator forces, and the wrench on the base.

    Attributes
    ----------
    legs : dict of str to dict of str to JointReaction
        Reactions by leg and joint: ``legs[leg][joint]``.
    force : ndarray, shape (..., n)
        Actuator forces [N or N m].
    base : ndarray, shape (..., 6)
        Wrench of the whole robot on its base, moment about the origin of {B}, base axes [N, N m].
    indeterminate : tuple of (str, str, str)
        Leg, joint and component of numbers that statics leaves open; they are NaN.
    elements : dict of str to ndarray, shape (..., k)
        What each element applies along its length or the displacements of its joint [N or N m].
    couplings : dict of str to dict of str to ndarray, shape (...)
        What each coupling applies to its first joint, by leg and coupling [N or N m]; each of its joints gets this
        times its factor over that of the first.
    """

    legs: dict[str, dict[str, JointReaction]]
    force: Array
    base: Array
    indeterminate: tuple[tuple[str, str, str], ...]
    elements: dict[str, Array] = field(default_factory=dict)
    couplings: dict[str, dict[str, Array]] = field(default_factory=dict)

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
        couplings: Array | None = None,
    ) -> Reactions:
        """Reactions from the rows of a kernel.

        Parameters
        ----------
        mechanism : Mechanism
            The robot in symbols.
        wrenches : ndarray, shape (..., joints, 6)
            Wrench of each joint on its child.
        axes : ndarray, shape (..., joints, 6)
            Free directions of each joint.
        force : ndarray, shape (..., n)
            Actuator forces.
        base : ndarray, shape (..., 6)
            Wrench on the base.
        open_numbers : ndarray of bool, shape (joints, 6)
            Components that statics leaves open.
        friction : bool, optional
            Whether friction in the joints is included.
        couplings : ndarray, shape (..., c), optional
            Reactions of couplings, leg by leg.

        Returns
        -------
        Reactions
            The reactions by name.
        """
        legs: dict[str, dict[str, JointReaction]] = {}
        indeterminate = []
        row = 0
        for leg in mechanism.legs:
            legs[leg.name] = {}
            busy = {actuator.joint for actuator in leg.placement.actuators}
            busy |= {pair.of for pair in friction_pairs(leg)} if friction else set()
            busy |= {term.joint for coupling in leg.placement.couplings for term in coupling.joints}
            for joint in leg.placement.joints:
                numbers = wrenches[..., row, :]
                free = axes[..., row, :].reshape(*axes.shape[:-2], 2, 3)[..., : len(joint.axes), :]
                legs[leg.name][joint.name] = JointReaction(
                    joint.kind, joint.parent, joint.child, numbers[..., :3], numbers[..., 3:], free,
                    joint.name not in busy,
                )  # fmt: skip
                indeterminate += [(leg.name, joint.name, _NUMBERS[k]) for k in np.flatnonzero(open_numbers[row])]
                row += 1
        coupled: dict[str, dict[str, Array]] = {}
        names = [(leg.name, coupling.name) for leg in mechanism.legs for coupling in leg.placement.couplings]
        for k, (leg_name, name) in enumerate(names if couplings is not None else ()):
            assert couplings is not None
            coupled.setdefault(leg_name, {})[name] = couplings[..., k]
        return Reactions(legs, force, base, tuple(indeterminate), couplings=coupled)
