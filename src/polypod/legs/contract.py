"""What a leg kind states: where its bodies and joints are, what is actuated, what must hold, what is limited.

``polypod.legs.Leg.place`` is given the frame of the platform at the leg's attachment point, in symbols, and
returns a ``Placement``: the pose of each body and joint in the base frame, and what is actuated. Velocities,
accelerations, Jacobians, forces and energies are derived from it by differentiation.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Body
from ..symbols.inertia import Inertia
from ..symbols.vectors import Frame

# Below this margin an answer has lost half of its digits: there is none.
SMALLEST_MARGIN = 1e-7


@dataclass(frozen=True)
class PlacedBody:
    """A body of a leg: its frame in the base and its inertia in that frame.

    Attributes
    ----------
    name : str
        Name of the body.
    frame : Frame
        Its frame in {B}.
    inertia : Body or Inertia
        Its inertia, or the data of one.
    along : int or None
        For a link, index of the axis that lies along it.
    end : casadi.SX, shape (3,), or None
        Far end of a link of fixed length.
    length : float or casadi.SX
        That length [m]; else 0.
    on : str
        Body to which it is fastened, if no joint holds it.
    has_inertia : bool
        Whether it has inertia; without it, a body still has weight.
    """

    name: str
    frame: Frame
    inertia: Body | Inertia
    along: int | None = None
    end: ca.SX | None = None
    length: Any = 0.0
    on: str = ""
    has_inertia: bool = True

    @property
    def moments(self) -> Inertia:
        """Its inertia in symbols."""
        return Inertia.of(self.inertia)


@dataclass(frozen=True)
class Actuator:
    """What drives a leg. Forces are power-conjugate to its coordinate q: the joint gets ``ratio`` times the force.

    Attributes
    ----------
    name : str
        Name of the actuator.
    joint : str
        Prismatic or revolute joint in which it acts.
    coordinate : casadi.SX
        q.
    unit : {'m', 'rad'}
        Unit of q; the force is in N or N m.
    ratio : float or casadi.SX
        dq/ds for the joint's displacement s [m or rad]: 1 for a direct drive, 2 pi/lead for the motor's angle behind a
        screw.
    rotor : float or casadi.SX
        Inertia that moves with q [kg or kg m^2].
    """

    name: str
    joint: str
    coordinate: ca.SX
    unit: Literal["m", "rad"] = "m"
    ratio: Any = 1.0
    rotor: Any = 0.0

    @property
    def force_unit(self) -> Literal["N", "N m"]:
        """Unit of the force or torque that it applies."""
        return "N" if self.unit == "m" else "N m"


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies, in base axes; passive unless an actuator names it.

    ``base`` and ``platform`` are bodies too.

    Attributes
    ----------
    name : str
        Name of the joint.
    kind : str
        ``prismatic``, ``revolute``, ``cylindrical``, ``universal`` or ``spherical``.
    parent, child : str
        Names of the bodies.
    point : casadi.SX, shape (3,)
        Its centre.
    axes : tuple of casadi.SX, shape (3,)
        Free directions: the slide, the hinge, or the two axes of the cross (the parent's first).
    friction : str
        Field of the leg with its ``polypod.description.Friction``; for a cylindrical joint a field with ``rotation``
        and ``translation``. Empty for none.
    normals : tuple of casadi.SX, shape (3,)
        Normals of the faces of a slide's guide, if dry friction depends on the load of each; without them it depends on
        the whole force across the slide.
    cross_body : str
        Body that is the cross of a universal joint, if it has inertia.
    spins_about : casadi.SX, shape (3,), or None
        Line of a rod that this joint and another spherical one let spin: neither resists rotation about it.
    start : float or casadi.SX
        Its position at home, if the file states one [m or rad].
    turn : casadi.SX or None
        Rotation from home of a coupled joint, which may be more than a turn [rad]; None where the bodies' poses say it.
    """

    name: str
    kind: str
    parent: str
    child: str
    point: ca.SX
    axes: tuple[ca.SX, ...] = ()
    friction: str = ""
    normals: tuple[ca.SX, ...] = ()
    cross_body: str = ""
    spins_about: ca.SX | None = None
    start: Any = 0.0
    turn: ca.SX | None = None

    @property
    def motions(self) -> tuple[Joint, ...]:
        """Itself, or the hinge and the slide that a cylindrical joint is: joints with one friction each."""
        if self.kind != "cylindrical" or not self.friction:
            return (self,)
        return tuple(
            replace(self, name=f"{self.name} {motion}", kind=kind, friction=f"{self.friction}.{motion}")
            for motion, kind in MOTIONS.items()
        )


MOTIONS = {"rotation": "revolute", "translation": "prismatic"}
"""The motions of a cylindrical joint and the joints that have one of them."""


@dataclass(frozen=True)
class Limit:
    """A quantity with a range: the length of a leg, the position of a slider, an angle in a joint's cone (its cosine).

    Attributes
    ----------
    name : str
        Name of the quantity.
    value : casadi.SX
        Its value.
    low, high : float or casadi.SX
        Range: low <= value <= high.
    unit : str
        Unit in which it is reported.
    angle : bool
        Whether the value is a cosine that is reported as an angle.
    joint : str
        Joint a displacement of which it limits; empty if it is none.
    ratio : float or casadi.SX
        d(value)/d(displacement of that joint).
    motion : str
        Which displacement, of a universal or cylindrical joint.
    """

    name: str
    value: ca.SX
    low: Any
    high: Any
    unit: str
    angle: bool = False
    joint: str = ""
    ratio: Any = 1.0
    motion: str = ""

    @staticmethod
    def of_angle(name: str, cosine: ca.SX, largest: Any) -> Limit:
        """Limit of an angle; its cosine has no upper end, as rounding may take it above 1.

        Parameters
        ----------
        name : str
            Name of the quantity.
        cosine : casadi.SX
            Cosine of the angle.
        largest : float or casadi.SX
            Largest angle [rad].

        Returns
        -------
        Limit
            The limit.
        """
        return Limit(name, cosine, ca.cos(largest), 2.0, "rad", angle=True)


@dataclass(frozen=True)
class Condition:
    """What must be positive for a leg to close and move.

    Results computed from it have a relative error of about 1e-16 divided by the margin.

    Attributes
    ----------
    name : str
        Name of the condition.
    margin : casadi.SX
        About 1 in a good pose, 0 at the edge.
    excess : casadi.SX
        By how much a pose is too far, for the message when the margin is lost.
    unit : str
        Unit of the excess.
    in_quality : bool
        Whether it is part of the quality of every state; a condition whose loss makes another one NaN need not be.
    singular : bool
        Whether the leg reaches the pose where it is lost, but moves by itself or not at all.
    """

    name: str
    margin: ca.SX
    excess: ca.SX
    unit: str
    in_quality: bool = True
    singular: bool = False


@dataclass(frozen=True)
class Unknowns:
    """Unknowns of a leg without a closed form: n unknowns z with n equations c(tip, z) = 0, found by Newton's method.

    Everything a placement states may depend on tip, place and move.

    Attributes
    ----------
    place : casadi.SX, shape (k,)
        Symbols of the values of the unknowns (an angle as cosine and sine).
    home : casadi.SX, shape (k,)
        Their values at home.
    move : casadi.SX, shape (n,)
        Symbols of a displacement from there.
    moved : casadi.SX, shape (k,)
        The values after the displacement.
    equations : casadi.SX, shape (n,)
        c, exact in ``move`` to second order.
    size : float or casadi.SX
        Size of the leg [m], relative to which a gap is small.
    turns : tuple of bool
        Which of the equations are angles or cosines [1]; none of them, if empty: they are lengths [m].
    lengths : tuple of bool
        Which of the unknowns are lengths [m]; none of them, if empty: they are angles [rad].
    travels : float or casadi.SX, shape (n,)
        Lengths from home after the displacement [m], 0 of angles: what a slide has gone is part of the leg's size.
    """

    place: ca.SX
    home: ca.SX
    move: ca.SX
    moved: ca.SX
    equations: ca.SX
    size: Any = 1.0
    turns: tuple[bool, ...] = ()
    lengths: tuple[bool, ...] = ()
    travels: Any = 0.0

    def step2(self, move: ca.SX) -> ca.SX:
        """Squared size of a displacement of the unknowns, lengths relative to the leg's size and their own travel.

        Parameters
        ----------
        move : casadi.SX, shape (n,)
            The displacement.

        Returns
        -------
        casadi.SX
            Its squared size [1].
        """
        if not any(self.lengths):
            return ca.sumsqr(move)
        travels = ca.vertsplit(ca.fabs(ca.substitute(ca.SX(self.travels) + 0 * self.move, self.move, move)))
        sizes = [self.size + gone if length else ca.SX(1) for length, gone in zip(self.lengths, travels, strict=True)]
        return ca.sumsqr(move / ca.vertcat(*sizes))

    def gap2(self, residual: ca.SX, size: Any) -> ca.SX:
        """Squared values of the equations, angles as arcs at a ``size`` [m^2].

        Parameters
        ----------
        residual : casadi.SX, shape (e, 1)
            Residuals of the closure equations.
        size : float
            Length that weighs turns against displacements [m].

        Returns
        -------
        casadi.SX
            The squared gap [m^2].
        """
        if not any(self.turns):
            return ca.sumsqr(residual)
        return ca.sumsqr(residual * ca.vertcat(*[size if turn else ca.SX(1) for turn in self.turns]))


@dataclass(frozen=True)
class Constraint:
    """A constraint of a leg of fewer than six degrees of freedom on the platform.

    Attributes
    ----------
    name : str
        Name of the constraint.
    value : casadi.SX
        Expression that is zero in every pose [m or rad].
    turns : bool
        Whether it is an angle or a cosine, not a length.
    """

    name: str
    value: ca.SX
    turns: bool = False


@dataclass(frozen=True)
class Spring:
    """A part of a leg that deflects: in series with an actuator, or a flexure about the motion of a passive joint.

    In series it adds load^2/stiffness to the compliance of the actuator's coordinate.

    Attributes
    ----------
    name : str
        Name of the part.
    stiffness : float or casadi.SX
        Stiffness [N/m or N m/rad].
    load : float or casadi.SX
        Force in it for a unit of the actuator's force.
    actuator : int
        Index of the actuator in the leg.
    joint : str
        Passive joint whose motion it resists; empty for a part in series.
    """

    name: str
    stiffness: Any
    load: Any = 1.0
    actuator: int = 0
    joint: str = ""


@dataclass(frozen=True)
class HangingWeight:
    """Weight of a part of a leg whose mass changes with the pose, such as a cable that is wound up; without inertia.

    Its potential is -g.s with the first moment of mass s: the part bears on its body with the force (ds/dtip)^T g at
    the tip, and with the rest of its weight on its support.

    Attributes
    ----------
    body, support : str
        Bodies of the leg that bear it: one at the tip, and one whose origin rests in a joint of the base.
    mass : casadi.SX
        Its mass [kg].
    moment : casadi.SX, shape (3,)
        First moment s of its mass about the point from where it comes, base axes [kg m].
    """

    body: str
    support: str
    mass: ca.SX
    moment: ca.SX


@dataclass(frozen=True)
class CoupledJoint:
    """A joint in a coupling.

    Attributes
    ----------
    joint : str
        Name of the joint.
    direction : int
        Which of its free directions: the only one; 0 for the slide and 1 for the turn of a cylindrical joint; the axis
        of a universal joint.
    factor : float or casadi.SX
        Factor of its displacement.
    """

    joint: str
    direction: int
    factor: Any


@dataclass(frozen=True)
class PlacedFriction:
    """Friction along one free direction of a joint, beside the joint's own: losses of a coupling, a brake.

    Attributes
    ----------
    name : str
        What results call it.
    joint : str
        Name of the joint.
    direction : int
        Which of its free directions, as in ``CoupledJoint``.
    friction : Friction
        Its numbers or symbols.
    coupling : str
        Coupling whose reaction is its load; empty for none.
    """

    name: str
    joint: str
    direction: int
    friction: Any
    coupling: str = ""


@dataclass(frozen=True)
class PlacedCoupling:
    """A linear relation between displacements of joints that the leg's placement obeys; the factor of the first is one.

    Its reaction is the force or torque on the first displacement; each displacement gets its factor times that.

    Attributes
    ----------
    name : str
        Name of the coupling.
    joints : tuple of CoupledJoint
        Displacements and their factors.
    unit : {'m', 'rad'}
        Unit of the first displacement; the reaction is in N or N m.
    """

    name: str
    joints: tuple[CoupledJoint, ...]
    unit: Literal["m", "rad"] = "rad"


@dataclass(frozen=True)
class LegFrame:
    """A leg in a frame that moves with it, as functions of its tip.

    There, few of its coordinates change and many are zero, so that derivatives of its forces are short. What is zero in
    every pose is stated as zero, and what is never negative as a root.

    Attributes
    ----------
    axes : casadi.SX, shape (3, 3)
        Axes of the frame as columns, base axes.
    tip : casadi.SX, shape (3,)
        Tip of the leg from a fixed point, in these axes.
    fields : dict of str to casadi.SX
        Parameters of the leg in the base frame, in these axes.
    """

    axes: ca.SX
    tip: ca.SX
    fields: dict[str, ca.SX]


@dataclass(frozen=True)
class Placement:
    """Where everything of one leg is, as functions of its tip (and of unknowns): all that a leg kind states.

    Attributes
    ----------
    bodies : tuple of PlacedBody
        Bodies.
    joints : tuple of Joint
        Joints.
    actuators : tuple of Actuator
        Actuators.
    conditions : tuple of Condition
        What must be positive for the leg to close and move.
    limits : tuple of Limit
        Limited quantities.
    unknowns : Unknowns or None
        Unknowns of a leg without a closed form.
    constraints : tuple of Constraint
        Constraints on the platform.
    springs : tuple of Spring
        Parts that deflect.
    joint_coordinates : tuple of casadi.SX
        Displacements of joints from home that are coordinates of the robot [m or rad].
    couplings : tuple of PlacedCoupling
        Relations between displacements of joints.
    internal : casadi.SX, shape (k,)
        Symbols of the leg's internal coordinates, zero at home [m or rad]: everything may depend on them as on the tip.
    held : tuple of Actuator
        What holds joints whose internal coordinates stand still.
    weights : tuple of HangingWeight
        Weights of parts whose mass changes with the pose.
    frictions : tuple of PlacedFriction
        Friction beside that of the joints themselves.
    """

    bodies: tuple[PlacedBody, ...]
    joints: tuple[Joint, ...]
    actuators: tuple[Actuator, ...]
    conditions: tuple[Condition, ...] = ()
    limits: tuple[Limit, ...] = ()
    unknowns: Unknowns | None = None
    constraints: tuple[Constraint, ...] = ()
    springs: tuple[Spring, ...] = ()
    joint_coordinates: tuple[ca.SX, ...] = ()
    couplings: tuple[PlacedCoupling, ...] = ()
    internal: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    held: tuple[Actuator, ...] = ()
    weights: tuple[HangingWeight, ...] = ()
    frictions: tuple[PlacedFriction, ...] = ()

    def joint(self, name: str) -> Joint:
        """A joint by its name.

        Parameters
        ----------
        name : str
            Name of the joint.

        Returns
        -------
        Joint
            The joint.
        """
        return next(joint for joint in self.joints if joint.name == name)

    def actuator_of(self, joint: str) -> Actuator | None:
        """The actuator that drives a joint.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        Actuator or None
            The actuator; None for a passive joint.
        """
        return next((a for a in self.actuators if a.joint == joint), None)

    def holder_of(self, joint: str) -> Actuator | None:
        """What applies a force along a joint: its actuator, or what holds it.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        Actuator or None
            The actuator; None for a joint that moves freely.
        """
        return next((a for a in (*self.actuators, *self.held) if a.joint == joint), None)


# ----------------------------------------------------------------------------------------------------------------------
# What a leg is to its platform while its actuator stands still: a strut between two joints, or a hinged one.


class Strut(NamedTuple):
    """A leg as a strut: the platform's joint stays at a distance from a point that only the coordinate moves.

    A strut without length holds the joint itself.

    Attributes
    ----------
    point : ndarray, shape (..., 3)
        The point in {B} [m].
    length : ndarray, shape (...)
        The distance [m].
    joint : ndarray, shape (3,)
        Joint on the platform, platform frame [m].
    axis : ndarray, shape (..., 3), or None
        Axis through ``point`` about which the joint moves on a circle; None if it moves on the whole sphere.
    ball : bool
        Whether the joint lets the platform rotate freely.
    hinge : ndarray, shape (3,), or None
        Axis of the platform's joint, platform frame, where both joints are revolute.
    cosine : float
        Cosine of its constant angle with ``axis``.
    start : ndarray, shape (..., 3), or None
        Where the other joint is drawn.
    """

    point: Array
    length: Array
    joint: Array
    axis: Array | None = None
    ball: bool = True
    hinge: Array | None = None
    cosine: float = 0.0
    start: Array | None = None

    def at(self, states: NDArray[np.int64]) -> Strut:
        """The strut at some of its coordinates.

        Parameters
        ----------
        states : ndarray of int, shape (n,)
            Indices of the coordinates.

        Returns
        -------
        Strut
            The strut.
        """
        axis, start = (None if part is None else part[states] for part in (self.axis, self.start))
        return self._replace(point=self.point[states], length=self.length[states], axis=axis, start=start)
