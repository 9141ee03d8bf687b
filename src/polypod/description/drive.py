"""What drives a leg and what it stands: limits of force, speed and power, the screw or gear, the motor; bearings."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from ..arrays import Array
from .quantities import Data, Length, Moment, Number, in_either, rating
from .units import in_si

_LIMIT_UNITS = {
    "max_force": ("N", "N m"),
    "rms_force": ("N", "N m"),
    "max_speed": ("m/s", "rad/s"),
    "max_acceleration": ("m/s^2", "rad/s^2"),
    "max_stroke": ("m", "rad"),
}
"""Units of a drive's limits: of one that pushes, and of one that turns."""
TORQUE_NAMES = {"max_torque": "max_force", "rms_torque": "rms_force", "torque_speed": "force_speed"}
"""Other names of limits, for drives that turn."""
_OF_MOTORS = ("gear", "rotor_inertia", "torque_constant", "efficiency", "max_motor_torque", "rms_motor_torque",
              "max_motor_speed")  # fmt: skip
"""Fields that say something of a motor, which a linear actuator has behind a screw only."""


def _points(value: Any) -> Any:
    """Points [speed, force] with their units as SI numbers."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in value):
        raise ValueError(f"must be points [speed, force], such as [[0, 2 kN], [300 mm/s, 1 kN]], got {value!r}")
    speed, force = in_either("m/s", "rad/s"), in_either("N", "N m")
    return tuple((speed(v), force(f)) for v, f in value)


def _falling(value: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    speeds, forces = zip(*value, strict=True) if value else ((), ())
    if len(value) < 2:
        raise ValueError(f"at least two points [speed, force] are needed, got {len(value)}")
    if speeds[0] != 0.0 or not all(a < b for a, b in pairwise(speeds)):
        raise ValueError(f"speeds must start at 0 and increase, got {list(speeds)}")
    if min(forces[:-1]) <= 0.0 or forces[-1] < 0.0 or not all(a >= b for a, b in pairwise(forces)):
        raise ValueError(
            f"forces must be positive (the last may be 0) and must not increase with speed, got {list(forces)}"
        )
    return value


Force = Annotated[Number, BeforeValidator(in_either("N", "N m")), rating("N or N m", gt=0)]
Speed = Annotated[Number, BeforeValidator(in_either("m/s", "rad/s")), rating("m/s or rad/s", gt=0)]
Acceleration = Annotated[Number, BeforeValidator(in_either("m/s^2", "rad/s^2")), rating("m/s^2 or rad/s^2", gt=0)]
Stroke = Annotated[Number, BeforeValidator(in_either("m", "rad")), rating("m or rad", gt=0)]
Power = Annotated[Number, rating("W", gt=0)]
Curve = Annotated[
    tuple[tuple[Number, Number], ...],
    BeforeValidator(_points),
    AfterValidator(_falling),
    rating("m/s and N, or rad/s and N m", form="list of [speed, force]"),
]


class Drive(Data):
    """Limits of an actuator and the transmission to its motor. All fields are optional.

    ``max_force`` (``max_torque`` of a rotary actuator), ``max_speed``, ``max_acceleration`` and ``max_power`` hold at
    every instant; ``rms_force`` (``rms_torque``), the continuous force in a catalogue, over the whole motion.
    ``force_speed`` (``torque_speed``) are points [speed, force] of the drive's envelope, joined by straight lines; it
    ends at the last speed. ``max_stroke`` is the largest minus the smallest coordinate. The motor turns ``gear`` times
    per turn of a screw of ``lead`` (m per turn), or per turn of a rotary coordinate. ``rotor_inertia`` is the inertia
    of everything that rotates with the motor, at the motor shaft; the actuator's force includes its acceleration.
    ``torque_constant`` is the motor torque per current. Limits of the motor are ``max_motor_torque`` at every instant,
    ``rms_motor_torque`` over a whole motion and ``max_motor_speed``; the ``efficiency`` of screw and gear counts in
    motor torques, not in actuator forces. ``drive_spring`` says what the stiffness of the drive is: that of the
    ``servo loop``, with the rotor on the platform's side of it, or that of screw and gear behind a ``held motor``,
    whose rotor stands still; it counts in natural frequencies.
    """

    max_force: Force | None = None
    rms_force: Force | None = None
    max_speed: Speed | None = None
    max_acceleration: Acceleration | None = None
    max_power: Power | None = None
    force_speed: Curve | None = None
    max_stroke: Stroke | None = None
    lead: Length | None = None
    gear: Annotated[Number | None, Field(gt=0, json_schema_extra={"unit": "1"})] = None
    rotor_inertia: Moment | None = None
    torque_constant: Annotated[Number | None, rating("N m/A", gt=0)] = None
    efficiency: Annotated[Number | None, rating("1", gt=0, le=1)] = None
    max_motor_torque: Annotated[Number | None, rating("N m", gt=0)] = None
    rms_motor_torque: Annotated[Number | None, rating("N m", gt=0)] = None
    max_motor_speed: Annotated[Number | None, rating("rad/s", gt=0)] = None

    drive_spring: Annotated[Literal["servo loop", "held motor"] | None, Field(json_schema_extra={"rating": "yes"})] = (
        None
    )

    @property
    def tension_range(self) -> tuple[float, float] | None:
        """Lowest and highest tension [N] of a drive that pulls at a cable; None of others."""
        return None

    @property
    def geared(self) -> bool:
        """Whether the file says how the motor turns with the coordinate."""
        return self.lead is not None or self.gear is not None

    @property
    def motor_ratio(self) -> Any:
        """Angle of the motor for a unit of the coordinate [rad/m or 1]: 2 pi gear/lead, or gear; numbers or symbols."""
        gear = 1.0 if self.gear is None else self.gear
        return gear if self.lead is None else 2 * math.pi * gear / self.lead

    @property
    def reflected(self) -> Any:
        """The motor's inertia reflected to the coordinate [kg or kg m^2]: J n^2; 0 if none is given."""
        return 0.0 if self.rotor_inertia is None else self.rotor_inertia * self.motor_ratio**2

    @property
    def drive_only(self) -> Drive:
        """The drive's own fields, of a leg or joint that has them among others."""
        return Drive.model_construct(**{name: getattr(self, name) for name in Drive.model_fields})


class Bearing(Data):
    """Ratings of a joint's bearing: dynamic load rating C for fatigue life (ISO 281), static C0 (ISO 76).

    ``radial_factor`` X and ``axial_factor`` Y are those of its catalogue: the equivalent load is X Fr + Y Fa, or Fr
    if that is larger; ``static_radial_factor`` X0 and ``static_axial_factor`` Y0 likewise for the static load.
    Without them the equivalent load is the magnitude of the force. ``max_reaction`` is the largest force that the
    joint may carry.
    """

    dynamic_load_rating: Annotated[Number | None, rating("N", gt=0)] = None
    radial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    axial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    static_load_rating: Annotated[Number | None, rating("N", gt=0)] = None
    static_radial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    static_axial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    max_reaction: Annotated[Number | None, rating("N", gt=0)] = None
    rolling_elements: Annotated[Literal["ball", "roller"], Field(json_schema_extra={"rating": "yes"})] = "ball"

    @model_validator(mode="after")
    def _both_factors(self) -> Bearing:
        for before, sign in (("", ""), ("static_", "0")):
            radial, axial = f"{before}radial_factor", f"{before}axial_factor"
            if (getattr(self, radial) is None) != (getattr(self, axial) is None):
                raise ValueError(f"{radial}: X{sign} and {axial} Y{sign} must be given together")
        return self

    @property
    def life_exponent(self) -> float:
        """p of the life (C/P)^p: 3 for balls, 10/3 for rollers."""
        return 3.0 if self.rolling_elements == "ball" else 10.0 / 3.0


def _one_or_three(value: Any) -> Any:
    """A number, or three of them as a tuple."""
    if isinstance(value, (list, tuple)):
        if len(value) != 3:
            raise ValueError(f"must be one number, or three for the base axes x, y and z, got {list(value)!r}")
        return tuple(value)
    return value


def _all_positive(value: float | tuple[float, ...]) -> float | tuple[float, ...]:
    if not min(value if isinstance(value, tuple) else (value,)) > 0:
        raise ValueError(f"must be greater than 0, got {value!r}")
    return value


def _of_platform(unit: str) -> Any:
    """A limit of the platform's motion: of its size, or of each component in base axes."""
    either = Annotated[
        Number | tuple[Number, Number, Number],
        BeforeValidator(_one_or_three),
        AfterValidator(_all_positive),
        rating(unit, form="number, or one for each of the base axes"),
    ]
    return either


class PlatformLimits(Data):
    """How fast the platform may move: the origin of its frame, and its rotation.

    Each limit is one number, for the size of the vector, or three, for its components along the base axes. An
    acceleration may be written in g: ``0.5 g`` is 4.903 m/s^2. Gravity is not part of it.
    """

    max_speed: _of_platform("m/s") | None = None  # type: ignore[valid-type]
    max_acceleration: _of_platform("m/s^2") | None = None  # type: ignore[valid-type]
    max_angular_speed: _of_platform("rad/s") | None = None  # type: ignore[valid-type]
    max_angular_acceleration: _of_platform("rad/s^2") | None = None  # type: ignore[valid-type]


def drive_fields(value: dict[str, Any], turns: bool) -> dict[str, Any]:
    """A mapping with ``max_torque`` and its like by the names of a drive's fields, ``max_force``.

    Raises for fields, and units of texts, of the other kind of drive: one that ``turns``, or one that pushes.
    """
    found = dict(value)
    for name, plain in TORQUE_NAMES.items():
        if name not in found:
            continue
        if not turns:
            raise ValueError(f"{name}: this is a linear actuator; write {plain}")
        if plain in found:
            raise ValueError(f"{name}: is another name of {plain}; give only one of them")
        found[plain] = found.pop(name)
    for name, units in _LIMIT_UNITS.items():
        right, wrong = units[turns], units[not turns]
        if isinstance(found.get(name), str) and not isinstance(in_si(found[name], wrong), str):
            kind = "rotary" if turns else "linear"
            raise ValueError(f"{name}: a {kind} actuator needs {right}, got {found[name]!r}")
    if turns and found.get("lead") is not None:
        raise ValueError(
            "lead: this is a rotary actuator without a screw; use 'gear' for a gear between it and its motor"
        )
    if not turns and found.get("lead") is None:
        for name in _OF_MOTORS:
            if found.get(name) is not None:
                raise ValueError(f"{name}: a motor on a linear actuator needs the 'lead' of its screw; give it too")
    return found


# ----------------------------------------------------------------------------------------------------------------------
# The force that a drive gives at a speed.


def force_at(drive: Drive, speed: Array) -> Array:
    """The largest force (n,) that a drive gives at speeds (n,) of either sign; infinite where nothing limits it.

    Beyond the last speed of its curve there is none.
    """
    v = np.abs(speed)
    force = np.full(v.shape, np.inf if drive.max_force is None else drive.max_force)
    if drive.force_speed is not None:
        speeds, forces = np.array(drive.force_speed).T
        force = np.minimum(force, np.interp(v, speeds, forces, right=0.0))
    if drive.max_power is not None:
        with np.errstate(divide="ignore"):
            force = np.minimum(force, drive.max_power / v)
    return force
