"""What every leg's data share, and the register of leg kinds.

A kind registers itself by subclassing ``LegData`` with ``kind="..."``; nothing else is needed for its
legs to be read from files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..arrays import Array
from ..errors import InputError
from .drive import Bearing, Drive
from .quantities import Data, Direction, HalfAngle, KindData, Number, Position, field_schemas, in_either


class Friction(Data):
    """Friction of one joint, opposing its rate: viscous, dry by reaction, and a constant drag.

    ``viscous`` N s/m or N m s/rad; ``coulomb`` times the reaction (a coefficient for a slider, an arm in m
    for a rotary joint); ``drag`` N or N m, independent of the load (a ball screw's preload torque
    divided by its lead). ``static`` is the ratio of static to kinetic dry friction. Friction drops to the kinetic value
    as soon as the joint moves, or gradually with ``stribeck_speed`` v: by the factor 1 + (static - 1) exp(-(w/v)^2) at
    a rate w.
    """

    viscous: Annotated[
        Number,
        BeforeValidator(in_either("N s/m", "N m s/rad")),
        Field(ge=0, json_schema_extra={"unit": "N s/m or N m s/rad"}),
    ] = 0.0
    coulomb: Annotated[Number, BeforeValidator(in_either("m")), Field(ge=0, json_schema_extra={"unit": "1 or m"})] = 0.0
    drag: Annotated[
        Number, BeforeValidator(in_either("N", "N m")), Field(ge=0, json_schema_extra={"unit": "N or N m"})
    ] = 0.0
    static: Annotated[Number, Field(ge=1, json_schema_extra={"unit": "1"})] = 1.0
    stribeck_speed: Annotated[
        Number, BeforeValidator(in_either("m/s", "rad/s")), Field(ge=0, json_schema_extra={"unit": "m/s or rad/s"})
    ] = 0.0

    @model_validator(mode="after")
    def _check_falls(self) -> Friction:
        if self.stribeck_speed > 0 and self.static == 1:
            raise ValueError(
                f"stribeck_speed: got {self.stribeck_speed:g} (the speed over which dry friction drops from "
                "static to sliding), but 'static' is 1, so it does not drop; give 'static' too, such as 1.3"
            )
        return self


class ConeLimit(Data):
    """Cone limit of a joint: the leg stays within ``half_angle`` of ``axis``.

    The angle is that between ``axis`` and the direction n of the leg (of the link, if its length is fixed) from its
    joint at the base or slider towards its joint at the platform, at both ends: acos(n . axis) <= half_angle.
    ``axis`` of ``base_cone`` and ``slider_cone`` is in the base frame; that of ``platform_cone`` is in the platform
    frame, turns with the platform and also points away from the base, +z for a leg upright below a level platform.
    """

    axis: Direction
    half_angle: HalfAngle


class LegData(KindData, family="leg"):
    """Data of one leg. ``platform`` is its attachment point in the platform frame.

    ``name`` is what messages and results call it; the robot fills it in (leg1, leg2, ...) if absent.
    """

    name: str = ""
    platform: Position

    @property
    def relations(self) -> tuple[Any, ...]:
        """Relations between displacements of its joints; only chains have some."""
        return ()

    def at_home(self, position: Any, rotation: Any, like: Any = None) -> LegData:
        """The leg as part of a robot with a given home pose; kinds that are stated at home keep it.

        Parameters
        ----------
        position : array_like, shape (3,)
            Position of the platform at home [m].
        rotation : array_like, shape (3, 3)
            Its rotation at home.
        like : LegData, optional
            For a leg with symbols as parameters, the same leg in numbers, by which all choices are made.

        Returns
        -------
        LegData
            The leg.
        """
        return self

    def following(self, joint: str) -> tuple[LegData, str]:
        """The leg that also states the coordinate of a joint, which is then a coordinate of the robot.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        leg : LegData
            The leg.
        motion : str
            What the coordinate is: ``rotation`` or ``translation``.

        Raises
        ------
        InputError
            If the leg has no such joint coordinate.
        """
        raise InputError(f"{self.name} is a leg of kind {self.kind}; only chains have joint coordinates")

    def with_internal(self, joints: Sequence[str], held: Sequence[bool]) -> tuple[LegData, tuple[str, ...]]:
        """The leg in which coordinates of joints are given beside the platform's pose.

        Parameters
        ----------
        joints : sequence of str
            Names of the joints.
        held : sequence of bool
            Which of them stand still, so that they have no drive.

        Returns
        -------
        leg : LegData
            The leg.
        motions : tuple of str
            What each coordinate is: ``rotation`` or ``translation``.

        Raises
        ------
        InputError
            If the leg has no such joint coordinates, or they depend on each other.
        """
        raise InputError(f"{self.name} is a leg of kind {self.kind}; only chains have joint coordinates")

    def attachment(self, position: Any, rotation: Any) -> Any:
        """Attachment point of the leg in the platform frame.

        Parameters
        ----------
        position : array_like, shape (3,)
            Position of the platform at home [m].
        rotation : array_like, shape (3, 3)
            Its rotation at home.

        Returns
        -------
        ndarray or casadi.SX, shape (3,)
            The point [m].
        """
        return self.platform if not isinstance(self.platform, tuple) else np.array(self.platform)

    def platform_points(self, position: Any, rotation: Any) -> list[Any]:
        """Points of the platform on which the leg holds it.

        Parameters
        ----------
        position : array_like, shape (3,)
            Position of the platform at home [m].
        rotation : array_like, shape (3, 3)
            Its rotation at home.

        Returns
        -------
        list of ndarray or casadi.SX, shape (3,)
            The points [m], platform frame.
        """
        return [self.attachment(position, rotation)]

    def carrier_points(self, position: Any, rotation: Any) -> list[Any]:
        """Points of the other joints of the bodies on which the leg carries the platform.

        Parameters
        ----------
        position : array_like, shape (3,)
            Position of the platform at home [m].
        rotation : array_like, shape (3, 3)
            Its rotation at home.

        Returns
        -------
        list of ndarray or casadi.SX, shape (3,)
            The points [m], platform frame.
        """
        return []

    def points(self) -> list[tuple[float, float, float]]:
        """Points of the leg's data, from which its size is known.

        Returns
        -------
        list of (float, float, float)
            Points [m].
        """
        values = (getattr(self, name) for name, schema in field_schemas(type(self)).items() if schema.unit == "m")
        return [v for v in values if isinstance(v, tuple) and len(v) == 3 and isinstance(v[0], float)]

    def joint_kinds(self) -> dict[str, str]:
        """Kinds of the leg's joints; leg kinds know them, plain data do not.

        Returns
        -------
        dict of str to str
            Kinds by name of the joint.
        """
        return {}

    def limits_joint(self, joint: str) -> bool:
        """Whether a displacement of a joint has a range; leg kinds know it, plain data do not.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        bool
            Whether it has.
        """
        return False

    def spin_lines(self) -> dict[str, tuple[Array, Array]]:
        """Bodies that spin freely, with the line about which they do.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            Two points (3,) of the line at home, by name of the body [m].
        """
        return {}

    def label(self, part: str) -> str:
        """What results call a body, joint or spring of the leg.

        Parameters
        ----------
        part : str
            Its name within the leg.

        Returns
        -------
        str
            The leg's name and that.
        """
        return f"{self.name}.{part}"

    def joint_of(self, label: str) -> str | None:
        """The joint of the leg, or coordinate of a joint, that a label is of.

        Parameters
        ----------
        label : str
            What results call it, ``leg.joint``.

        Returns
        -------
        str or None
            Its name within the leg; None for a label of another leg.
        """
        return label[len(self.name) + 1 :] if label.startswith(f"{self.name}.") else None

    def actuator_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """What results call the leg's actuators.

        Parameters
        ----------
        names : tuple of str
            Their names within the leg.

        Returns
        -------
        tuple of str
            Their labels: the leg's name if it has only one.
        """
        return (self.name,) if len(names) == 1 else tuple(self.label(name) for name in names)

    def file_path(self, parts: list[str]) -> list[str]:
        """The path of a field in a robot file, by names.

        Parameters
        ----------
        parts : list of str
            Its path within the leg.

        Returns
        -------
        list of str
            Its path within the file.
        """
        return ["legs", self.name, *parts]

    def body_names(self) -> tuple[str, ...]:
        """Names of the leg's bodies; leg kinds know them, plain data do not.

        Returns
        -------
        tuple of str
            Names.
        """
        return ()

    @property
    def constrains(self) -> bool:
        """Whether the leg states constraints on the platform."""
        return False

    @property
    def topology(self) -> str:
        """What a leg decided by its numbers beyond their zeros, for the robot's topology."""
        return ""

    def actuator_names(self) -> tuple[str, ...]:
        """Names of the leg's actuators; leg kinds know them, plain data do not.

        Returns
        -------
        tuple of str
            Names.
        """
        return ()

    def drive(self, actuator: str = "") -> Drive:
        """Limits, screw or gear and motor of an actuator; unlimited by default.

        Parameters
        ----------
        actuator : str, optional
            Name of the actuator; a leg with one actuator may leave it out.

        Returns
        -------
        Drive
            The drive.
        """
        return Drive()

    def states_rotor(self, actuator: str = "") -> bool:
        """Whether the data state the inertia of an actuator's motor, even if it is zero.

        Parameters
        ----------
        actuator : str, optional
            Name of the actuator; a leg with one actuator may leave it out.

        Returns
        -------
        bool
            Whether they do; plain data do not.
        """
        return False

    def bearing(self, joint: str) -> Bearing:
        """Rating of a joint's bearing.

        Parameters
        ----------
        joint : str
            Name of the joint.

        Returns
        -------
        Bearing
            The rating; none by default.
        """
        return Bearing()

    def coordinate_rows(self, pose: Any) -> Array:
        """Rows of the Jacobian of the leg's actuators: dq/d(twist). Leg kinds know them, plain data do not.

        Parameters
        ----------
        pose : array_like, shape (4, 4)
            Pose of {P} in {B}.

        Returns
        -------
        ndarray, shape (a, 6)
            Rows, for twists of the origin of {P} in base axes.
        """
        return np.zeros((0, 6))

    def closure_faults(self, position: Sequence[float], rotation: Any) -> list[str]:
        """Why the leg does not close at a pose; leg kinds know it, plain data do not.

        Parameters
        ----------
        position : sequence of float
            Position of the platform [m].
        rotation : array_like, shape (3, 3)
            Its rotation.

        Returns
        -------
        list of str
            The reasons; empty if the leg closes.
        """
        return []

    def consistency_faults(self, poses: Sequence[Any]) -> list[str]:
        """What is inconsistent in the leg's description when the platform moves; leg kinds know it, plain data do not.

        Parameters
        ----------
        poses : sequence of array_like, shape (4, 4)
            Poses of {P} in {B}.

        Returns
        -------
        list of str
            The faults; empty if there are none.
        """
        return []


SHORT_KINDS: list[str] = []
"""Names of kinds that files write out as others before they are read here: for messages."""


def parse_leg(value: Any) -> LegData:
    """A leg from its mapping, by its ``kind``."""
    return LegData.parse(value, also=SHORT_KINDS, advice=" For a kind of your own import its module first.")
