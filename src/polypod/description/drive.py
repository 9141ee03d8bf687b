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
_TORQUE_NAMES = {"max_torque": "max_force", "rms_torque": "rms_force", "torque_speed": "force_speed"}
"""Other names of limits, for drives that turn."""


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
    ``torque_constant`` is the motor torque per current.
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
    Without them the equivalent load is the magnitude of the force.
    """

    dynamic_load_rating: Annotated[Number | None, rating("N", gt=0)] = None
    radial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    axial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    static_load_rating: Annotated[Number | None, rating("N", gt=0)] = None
    static_radial_factor: Annotated[Number | None, rating("1", ge=0)] = None
    static_axial_factor: Annotated[Number | None, rating("1", ge=0)] = None
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


def drive_fields(value: dict[str, Any], turns: bool) -> dict[str, Any]:
    """A mapping with ``max_torque`` and its like by the names of a drive's fields, ``max_force``.

    Raises for fields, and units of texts, of the other kind of drive: one that ``turns``, or one that pushes.
    """
    found = dict(value)
    for name, plain in _TORQUE_NAMES.items():
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
        for name in ("gear", "rotor_inertia", "torque_constant"):
            if found.get(name) is not None:
                raise ValueError(f"{name}: a motor on a linear actuator needs the 'lead' of its screw; give it too")
    return found


# ----------------------------------------------------------------------------------------------------------------------
# The force that a drive gives at a speed, and how much of its force-speed curve a state uses.


def curve_use(points: Array, speed: Array, force: Array) -> Array:
    """Use (n,) of a force-speed curve: the factor by which the curve must grow in both axes to pass through a state.

    ``points`` (k, 2) are speeds from 0 upwards and forces that do not grow; the curve drops to zero at the last
    speed. A straight line F0 (1 - v/v0) is used by F/F0 + v/v0, a rectangle by the larger of F/F0 and v/v0.

    Examples
    --------
    >>> line = np.array([[0.0, 100.0], [2.0, 0.0]])
    >>> curve_use(line, np.array([1.0, -1.0, 0.0]), np.array([25.0, 50.0, -100.0]))
    array([0.75, 1.  , 1.  ])
    """
    corners = points if points[-1, 1] == 0.0 else np.concatenate([points, [[points[-1, 0], 0.0]]])
    v, f = np.abs(speed), np.abs(force)
    # The ray from the origin through a state meets the piece between two corners: angles fall along the curve.
    scale = corners[0, 1] / corners[-1, 0]
    angles = np.arctan2(corners[:, 1], scale * corners[:, 0])
    piece = np.clip(np.searchsorted(-angles, -np.arctan2(f, scale * v), side="right") - 1, 0, len(corners) - 2)
    start, end = corners[piece], corners[piece + 1]
    normal = np.stack([start[:, 1] - end[:, 1], end[:, 0] - start[:, 0]], axis=1)
    use: Array = (normal[:, 0] * v + normal[:, 1] * f) / (normal * start).sum(axis=1)
    return use


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
