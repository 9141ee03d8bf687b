"""A robot: a platform on legs, in a gravity field, with the degrees of freedom it has and where its numbers come
from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from ..arrays import Array
from ..errors import InputError, UnknownNameError
from .body import Body, Payload, Payloads, parallel_axis
from .dof import DegreeOfFreedom, InternalCoordinate, check_dof, leg_and_joint, undriven_motion
from .drive import PlatformLimits
from .element import ElementData, parse_element
from .flexible import FlexiblePlatform, parse_platform
from .leg import LegData, parse_leg
from .modes import Modes
from .paths import numbers
from .poses import Pose, rotation_from_vector
from .quantities import Acceleration, Data, Frozen, Number, list_of, rating
from .shapes import BaseShape, Floor

_FAR_AWAY = 10.0  # times the size of the robot
AT_ORIGIN = 1e-9
"""Distance [m] up to which a point is the origin: the middle of a leg's joints has roundings."""
EULER_CONVENTION = re.compile(r"[xyz]{3}|[XYZ]{3}")


Positive = Annotated[Number, Field(gt=0)]
Platform = Annotated[SerializeAsAny[Body | FlexiblePlatform], BeforeValidator(parse_platform)]
Leg = Annotated[SerializeAsAny[LegData], BeforeValidator(parse_leg)]
Element = Annotated[SerializeAsAny[ElementData], BeforeValidator(parse_element)]


_BASE = "3 stiffnesses [N/m] and 3 rotational ones [N m/rad]"
BaseStiffness = Annotated[
    tuple[Positive, Positive, Positive, Positive, Positive, Positive],
    BeforeValidator(list_of(6, _BASE)),
    Field(json_schema_extra={"unit": "N/m and N m/rad"}),
]


class Robot(Data):
    """A parallel robot as data: frozen, checked when made, the same when written and read again.

    ``home`` is a pose inside the workspace; every leg must close there. ``dof`` is empty for a six-degree-of-freedom
    robot. ``internal`` are coordinates of joints that the robot has beside those of the platform: they are given with
    its pose, or held. ``payload`` is a body fastened to the platform, or a list of bodies. ``euler`` is the order in
    which the robot's paper states rotations, as SciPy spells it (capitals: about moving axes). ``sources`` says for
    each number (a dotted path, ``*`` for any part) where it is printed, or begins with ``assumed`` and says why.
    ``base_stiffness`` says how the base deflects at its origin to forces along the base axes [N/m] and to moments about
    them [N m/rad]; it is rigid if not given. ``elements`` are springs, dampers and other forces between its bodies.
    ``platform_limits`` says how fast the platform may move. ``base`` says what the base looks like, ``floor`` is a
    plane that nothing may reach beyond. ``clearance`` is the distance that bodies keep from each other and from the
    floor at least (``Model.clearance``); pairs of bodies or legs in ``touching`` may come nearer.
    """

    name: str = Field(min_length=1)
    title: str = ""
    reference: str = ""
    gravity: Acceleration = (0.0, 0.0, -9.81)
    platform: Platform
    payload: Payloads = None
    home: Pose = Pose()
    dof: tuple[DegreeOfFreedom, ...] = ()
    internal: tuple[InternalCoordinate, ...] = ()
    euler: str = "ZYX"
    legs: tuple[Leg, ...]
    elements: tuple[Element, ...] = ()
    base_stiffness: BaseStiffness | None = None
    platform_limits: PlatformLimits | None = None
    base: BaseShape | None = None
    floor: Floor | None = None
    clearance: Annotated[Number, rating("m", gt=0)] | None = None
    touching: tuple[tuple[str, str], ...] = ()
    sources: Annotated[dict[str, str], Frozen] = Field(default={})

    def with_(self, values: Mapping[str, Any] | None = None, /, **fields: Any) -> Robot:
        """A copy with other values, checked as if its file gave them.

        Parameters
        ----------
        values : mapping of str to value, optional
            Values by path (``platform.mass``, ``legs.*.max_force``, ``legs.leg1.joints.motor.gear``), as a robot file
            would write them (``"60 kg"``).
        **fields
            Values by field, nested as in a file: ``platform={"mass": 60}``, ``name="heavy"``.

        Returns
        -------
        Robot
            The copy; the robot itself stays as it is.

        Raises
        ------
        RobotFileError
            If it is no robot with these values.
        UnknownNameError
            If there is no such number; names similar ones.
        """
        from ..files import changed

        return changed(self, values or {}, fields)

    @model_validator(mode="before")
    @classmethod
    def _name_the_legs(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("legs"), (list, tuple)):
            legs = [
                {**leg, "name": leg.get("name") or f"leg{number}"}
                if isinstance(leg, dict)
                else leg.model_copy(update={"name": f"leg{number}"})
                if isinstance(leg, LegData) and not leg.name
                else leg
                for number, leg in enumerate(value["legs"], 1)
            ]
            return {**value, "legs": legs}
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Robot:
        repeated = any(a == b for a, b in zip(self.euler, self.euler[1:], strict=False))
        if not EULER_CONVENTION.fullmatch(self.euler) or repeated:
            raise ValueError(
                "euler: must be three letters of xyz (fixed axes) or XYZ (moving axes), no two neighbours equal, "
                f"got {self.euler!r}"
            )
        self._complete(home=self.home.with_rotation(self.euler))
        if self.platform.mass == 0.0:
            raise ValueError("platform.mass: must be positive, got 0")
        names = [leg.name for leg in self.legs]
        for number, name in enumerate(names):
            if name in names[:number]:
                raise ValueError(f"legs.{number}.name: leg names must be unique, got {names}")
        self._resolve_internal()
        self._complete(legs=tuple(self._at_home(number, leg) for number, leg in enumerate(self.legs)))
        self._resolve_joints()
        dof = len(self.dof) or 6
        check_dof(self.dof, self.internal)
        self._check_actuators(dof)
        if isinstance(self.platform, FlexiblePlatform):
            if self.internal:
                raise ValueError("internal: a robot with internal coordinates cannot have a flexible platform")
            if self.dof:
                raise ValueError(
                    f"platform.kind: a flexible platform needs a robot of six degrees of freedom, this one has {dof}"
                )
            if self.payloads:
                raise ValueError(
                    "payload: a payload changes the modes of a flexible platform; include its mass in the "
                    "platform's modes"
                )
            coupled = next((leg.name for leg in self.legs if leg.relations), None)
            if coupled is not None:
                raise ValueError(
                    f"platform.kind: joints of {coupled} are coupled, which legs of a flexible platform cannot be yet; "
                    "use platform.kind: rigid, or leave the couplings out"
                )
            faults = self.platform.attachment_faults(names, self.attachments)
            if faults:
                raise ValueError(f"platform.{'plate' if self.platform.plate else 'modes'}: {'; '.join(faults)}")
        for number, leg in enumerate(self.legs):
            faults = leg.closure_faults(self.home.position, self.home.rotation)
            if faults:
                raise ValueError(
                    f"legs.{number}: {leg.name} does not close at the home pose: {'; '.join(faults)}. "
                    "Move home, or change the leg"
                )
            faults = leg.consistency_faults(self._around_home())
            if faults:
                raise ValueError(f"legs.{number}: {leg.name} ({leg.kind}): {'; '.join(faults)}")
        self._check_elements()
        return self

    def _check_elements(self) -> None:
        """Raise for elements whose names repeat, or whose bodies, joints or units cannot be."""
        met: set[str] = set()
        for number, element in enumerate(self.elements):
            if element.name in met:
                raise ValueError(f"elements.{number}.name: names must be unique, got {element.name!r} twice")
            met.add(element.name)
            try:
                element.check(self.legs)
            except (InputError, UnknownNameError) as error:
                raise ValueError(f"elements.{number}.{error}") from error

    def _at_home(self, number: int, leg: LegData) -> LegData:
        try:
            return leg.at_home(self.home.position, self.home.rotation)
        except InputError as error:
            raise ValueError(f"legs.{number}.{error}") from error

    def _resolve_joints(self) -> None:
        """Find the joints whose coordinates are degrees of freedom; their legs state them, and they move as their
        joints do."""
        legs, dof = list(self.legs), list(self.dof)
        for k, coordinate in enumerate(dof):
            if not coordinate.joint:
                continue
            try:
                number, joint = leg_and_joint(coordinate.joint, legs)
                legs[number], motion = legs[number].following(joint)
            except (InputError, UnknownNameError) as error:
                raise ValueError(f"dof.{k}.joint: {error}") from error
            if coordinate.motion not in (None, motion):
                raise ValueError(f"dof.{k}.motion: the coordinate of {coordinate.joint!r} is a {motion}; leave it out")
            dof[k] = coordinate.model_copy(update={"motion": motion})
        self._complete(legs=tuple(legs), dof=tuple(dof))

    def _resolve_internal(self) -> None:
        """Find the joints whose coordinates are given beside the pose; their legs take them as known."""
        if not self.internal:
            return
        legs, found = list(self.legs), list(self.internal)
        joints = self._internal_joints()
        for k, (number, joint) in enumerate(joints):
            own = [other for other in range(k + 1) if joints[other][0] == number]
            try:
                legs[number], motions = self.legs[number].with_internal(
                    [joints[other][1] for other in own], [found[other].held is not None for other in own]
                )
            except (InputError, UnknownNameError) as error:
                raise ValueError(f"internal.{k}: {joint}: {error}") from error
            if found[k].motion not in (None, motions[-1]):
                raise ValueError(f"internal.{k}.motion: the coordinate of {joint!r} is a {motions[-1]}; leave it out")
            found[k] = found[k].model_copy(update={"motion": motions[-1]})
        self._complete(legs=tuple(legs), internal=tuple(found))

    def _internal_joints(self) -> list[tuple[int, str]]:
        """Leg and joint of every internal coordinate."""
        found = []
        for k, coordinate in enumerate(self.internal):
            try:
                found.append(leg_and_joint(coordinate.joint, self.legs))
            except UnknownNameError as error:
                raise ValueError(f"internal.{k}: {error}") from error
        return found

    @property
    def free_internal(self) -> tuple[InternalCoordinate, ...]:
        """Internal coordinates that are not held."""
        return tuple(coordinate for coordinate in self.internal if coordinate.held is None)

    def refuse_internal(self, what: str) -> None:
        """Raise for what does not take internal coordinates, unless all are held.

        Parameters
        ----------
        what : str
            What is asked for.

        Raises
        ------
        InputError
            If the robot has internal coordinates that are not held.
        """
        if self.free_internal:
            names = [coordinate.name for coordinate in self.free_internal]
            raise InputError(
                f"{what}: {self.name!r} has the internal coordinates {', '.join(names)}, which this does not "
                f"take; hold them: 'held: 0' for {names[0]} under 'internal' in its file",
                code="internal",
            )

    def internal_legs(self) -> list[int]:
        """The leg of every internal coordinate.

        Returns
        -------
        list of int
            Indices of the legs; coordinates of one leg are in the order in which it takes them.
        """
        return [number for number, _ in self._internal_joints()]

    def coordinate_joints(self) -> list[tuple[int, int]]:
        """Joints whose coordinates are degrees of freedom of the robot.

        Returns
        -------
        list of (int, int)
            For each such degree of freedom, the index of its leg and its index among the coordinates that this leg
            states.
        """
        met, found = [0] * len(self.legs), []
        for coordinate in self.dof:
            if coordinate.joint:
                number, _ = leg_and_joint(coordinate.joint, self.legs)
                found.append((number, met[number]))
                met[number] += 1
        return found

    def __repr__(self) -> str:
        kinds = "/".join(dict.fromkeys(leg.kind for leg in self.legs))
        what = f"{len(self.legs)} {kinds} legs, {len(self.dof) or 6} degrees of freedom"
        if self.free_internal:
            what += f" and {len(self.free_internal)} internal"
        return f"Robot({self.name!r}: {what}, platform {self.platform.mass:.4g} kg)"

    __str__ = __repr__

    @property
    def attachments(self) -> Array:
        """Attachment points of the legs (l, 3) [m], platform frame."""
        home = self.home
        return np.array([leg.attachment(home.position, home.rotation) for leg in self.legs], dtype=float).reshape(-1, 3)

    @property
    def platform_size(self) -> float:
        """Characteristic length [m]: mean distance of the attachment points from the platform's origin.

        If all lie there, that of the joints on the platform; if these do too, that of the other joints of the bodies
        that carry it; else 1.
        """
        mean = float(np.linalg.norm(self.attachments, axis=1).mean())
        return mean if mean > AT_ORIGIN else self._reach

    @property
    def held_around(self) -> Literal["", "platform_points", "carrier_points"]:
        """Which points of legs say how large a robot is whose attachment points all lie at the platform's origin."""
        if float(np.linalg.norm(self.attachments, axis=1).mean()) > AT_ORIGIN:
            return ""
        ways: tuple[Literal["platform_points", "carrier_points"], ...] = ("platform_points", "carrier_points")
        return next((way for way in ways if self._distance(way) > AT_ORIGIN), "")

    def _distance(self, points: str) -> float:
        """Mean distance [m] of ``platform_points`` or ``carrier_points`` from the platform's origin."""
        place = self.home.position, self.home.rotation
        found = [point for leg in self.legs for point in getattr(leg, points)(*place)]
        return float(np.linalg.norm(np.reshape(found, (-1, 3)), axis=1).mean()) if found else 0.0

    @property
    def _reach(self) -> float:
        return self._distance(self.held_around) if self.held_around else 1.0

    def _check_actuators(self, dof: int) -> None:
        """Raise if there are fewer actuators than degrees of freedom, with the motion that nothing drives."""
        count = sum(len(leg.actuator_names()) for leg in self.legs)
        inner = self.free_internal
        if inner and count < dof + len(inner):
            names = ", ".join(coordinate.name for coordinate in inner)
            raise ValueError(
                f"internal: a robot of {dof} degrees of freedom and the internal coordinates {names} needs "
                f"{dof + len(inner)} actuators, got {count}; drive more joints, or hold coordinates (held)"
            )
        if count >= dof or any(leg.constrains for leg in self.legs):
            # degrees of freedom that legs leave are found with the mechanism, and the actuators that they need
            return
        rows = [leg.coordinate_rows(self.home.matrix) for leg in self.legs]
        basis = np.zeros((6, dof)) if self.dof else np.eye(6)
        for k, coordinate in enumerate(self.dof):
            basis[3 * (coordinate.motion == "rotation") :, k][:3] = coordinate.direction
        undriven = undriven_motion(np.concatenate([np.zeros((0, 6)), *rows]) @ basis, basis, self._size)
        raise ValueError(f"legs: a robot of {dof} degrees of freedom needs {dof} actuators, got {count}; {undriven}")

    @property
    def _size(self) -> float:
        """Largest distance of an attachment point from the platform's origin [m]; if all lie there, the mean of the
        joints', or 1."""
        largest = float(np.linalg.norm(self.attachments, axis=1).max(initial=0.0))
        return largest if largest > AT_ORIGIN else self._reach

    def _around_home(self) -> list[Array]:
        """Home and a few poses near it that the robot's degrees of freedom lead to."""
        size, poses = self._size, [self.home.matrix]
        for step in np.random.default_rng(0).uniform(-0.05, 0.05, (3, 6)):
            move, turn = step[:3], step[3:]
            if self.dof:
                straight = [f for f in self.dof if f.motion == "translation"]
                move = sum((s * np.array(f.direction) for s, f in zip(step, straight, strict=False)), np.zeros(3))
                hinges = [f for f in self.dof if f.motion == "rotation"]
                turn = sum((step[5] * np.array(f.direction) for f in hinges), np.zeros(3))
            pose = self.home.matrix
            pose[:3, 3] += size * move
            pose[:3, :3] = rotation_from_vector(turn) @ pose[:3, :3]
            poses.append(pose)
        return poses

    @property
    def payloads(self) -> dict[str, Payload]:
        """The bodies on the platform by their paths: ``payload``, or ``payload.0`` and so on of several."""
        if self.payload is None or isinstance(self.payload, Payload):
            return {} if self.payload is None else {"payload": self.payload}
        return {f"payload.{number}": body for number, body in enumerate(self.payload)}

    @property
    def loaded_platform(self) -> Body:
        """The platform with its payload as one body in the platform frame: moments about the origin add."""
        loads = list(self.payloads.values())
        if not loads:
            return self.platform
        bodies = [self.platform, *loads]
        mass = sum(body.mass for body in bodies)
        com = np.sum([body.first_moment for body in bodies], axis=0) / mass
        tensor = np.sum([body.origin_inertia for body in bodies], axis=0)
        tensor = tensor - parallel_axis(mass, com)
        check = "none" if any(body.check == "none" for body in bodies) else "physical"
        return Body.model_validate({"mass": mass, "com": com, "inertia": 0.5 * (tensor + tensor.T), "check": check})

    @property
    def flexible(self) -> bool:
        """Whether the platform bends."""
        return isinstance(self.platform, FlexiblePlatform)

    @property
    def plate_edge(self) -> Array | None:
        """Corners (k, 3) [m] of a platform that is a plate, platform frame; None for other platforms."""
        plate = getattr(self.platform, "plate", None)  # only a flexible platform may have one
        return None if plate is None else np.pad(np.array(plate.outline, dtype=np.float64), ((0, 0), (0, 1)))

    @property
    def rigid(self) -> Robot:
        """The same robot with a rigid platform; the robot itself if its platform is rigid."""
        if not self.flexible:
            return self
        fields = {name: getattr(self.platform, name) for name in Body.model_fields}
        return self.model_copy(update={"platform": Body(**fields)})

    def on_modes(self, modes: Modes) -> Robot:
        """The same robot on a flexible platform with given modes.

        Parameters
        ----------
        modes : Modes
            Modes of the platform; their attachment points must be those of the legs.

        Returns
        -------
        Robot
            The flexible robot.

        Raises
        ------
        InputError
            If the modes do not fit, or the robot has a payload or fewer than six degrees of freedom.
        """
        if not isinstance(modes, Modes):
            raise InputError(f"modes: must be a polypod.description.Modes, got {type(modes).__name__}")
        if self.dof:
            raise InputError(
                f"robot: {self.name!r} has {len(self.dof)} degrees of freedom; a flexible platform needs six"
            )
        if self.payloads:
            raise InputError(
                f"robot: {self.name!r} has a payload; include its mass in the modes instead", code="payload"
            )
        coupled = next((leg.name for leg in self.legs if leg.relations), None)
        if coupled is not None:
            raise InputError(
                f"robot: joints of {coupled} of {self.name!r} are coupled, which legs of a flexible platform cannot be "
                "yet",
                code="couplings",
            )
        platform = FlexiblePlatform(modes=modes)
        faults = platform.attachment_faults([leg.name for leg in self.legs], self.attachments)
        if faults:
            raise InputError(f"modes: {faults[0]}")
        return self.model_copy(update={"platform": platform})

    @property
    def unphysical(self) -> dict[str, str]:
        """Bodies whose file opts out of the physical check and needs to: path -> what is wrong."""
        return {path: body.unphysical for path, body in self.bodies() if body.unphysical}

    @property
    def farthest(self) -> float:
        """Largest coordinate of home and of any point of the legs [m]."""
        points = [self.home.position]
        for leg in self.legs:
            points += leg.points()
        return float(np.abs(np.array(points)).max())

    def bodies(self) -> Iterator[tuple[str, Body]]:
        """Every body of the description with its path, the platform first.

        Yields
        ------
        path : str
            Dotted path, such as ``leg1.rod``.
        body : Body
            The body.
        """
        yield "platform", self.platform
        yield from self.payloads.items()
        for leg in self.legs:
            for field in type(leg).model_fields:
                value = getattr(leg, field)
                if isinstance(value, Body):
                    yield f"{leg.name}.{field}", value
                elif isinstance(value, dict):
                    for name, body in value.items():
                        if isinstance(body, Body):
                            yield ".".join(leg.file_path([field, name])).removeprefix("legs."), body

    def source_of(self, path: str) -> str | None:
        """Where a value of the robot file comes from.

        Parameters
        ----------
        path : str
            Dotted path of the value, such as ``legs.2.axis``.

        Returns
        -------
        str or None
            The source that the file states; None if it states none.
        """
        forms = [path]
        parts = path.split(".")
        if len(parts) > 2 and parts[0] == "legs" and parts[1].isdigit():
            forms.append(".".join(self.legs[int(parts[1])].file_path(parts[2:])))
        for pattern, text in self.sources.items():
            if any(fnmatchcase(form, one) for form in forms for one in (pattern, pattern + ".*")):
                return text
        return None

    def numbers(self) -> Iterator[str]:
        """Dotted paths of all numeric fields; a vector or tensor counts as one.

        Yields
        ------
        str
            Path, such as ``platform.mass``.
        """
        yield from numbers(self)


def implausibly_far(robot: Robot, positions: Array) -> str | None:
    """How far positions (..., 3) of the platform are from home, in words, where ten times the robot's size is exceeded.

    Millimetres are probably meant then. None where all are plausible; positions that are NaN are passed over.
    """
    away = float(np.fmax.reduce(np.linalg.norm(positions - robot.home.position, axis=-1), axis=None, initial=0.0))
    size = max(robot.farthest, robot.platform_size)
    if away <= _FAR_AWAY * size:
        return None
    return (
        f"{away:.4g} m from home, but the robot's size is {size:.4g} m; lengths are in metres: write {away:.4g} mm, or "
        f"divide numbers by 1000, if millimetres are meant"
    )
