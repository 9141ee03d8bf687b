"""What a motion must keep: limits of the actuators and motors, of the platform, and of the joints' reactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import limits as judge
from ..arrays import Array
from ..description import Drive
from ..errors import InputError

if TYPE_CHECKING:
    from ..model import Model


class _Kind(NamedTuple):
    """A limit's units for an actuator that slides and one that turns, and what the judge calls it."""

    units: tuple[str, str]
    judged: str | None


KINDS = {
    "force": _Kind(("N", "N m"), "force"),
    "speed": _Kind(("m/s", "rad/s"), "speed"),
    "acceleration": _Kind(("m/s^2", "rad/s^2"), "acceleration"),
    "power": _Kind(("W", "W"), "power"),
    "rms_force": _Kind(("N", "N m"), "continuous force"),
    "jerk": _Kind(("m/s^3", "rad/s^3"), None),
}
"""Limits that each actuator has of its own, and that a caller may give."""
PLATFORM = {
    "platform_speed": "platform speed", "platform_angular_speed": "platform angular speed",
    "platform_acceleration": "platform acceleration", "platform_angular_acceleration": "platform angular acceleration",
}  # fmt: skip
"""Limits of the platform by what the judge calls them: four bounds each, of the size and of three components."""
MOTOR = "motor_torque"
TENSION = "tension"
"""Lowest and highest tensions (2, n) of cables."""


@dataclass(frozen=True)
class Limits:
    """Largest magnitudes allowed, one number for all actuators or one each (n,); None where there is no limit.

    Limits of the robot file hold where none is given, and those of motors, joints and the platform always.

    Attributes
    ----------
    force : array_like, optional
        Actuator force [N or N m].
    speed : array_like, optional
        Rate of the coordinate [m/s or rad/s].
    acceleration : array_like, optional
        Acceleration of the coordinate [m/s^2 or rad/s^2].
    power : array_like, optional
        Mechanical power [W].
    rms_force : array_like, optional
        Rms force over the whole motion [N or N m].
    jerk : array_like, optional
        Jerk of the coordinate [m/s^3 or rad/s^3]; without a limit accelerations jump.
    reaction : float, optional
        Force in any joint [N].
    force_speed : array_like, shape (k, 2), optional
        Points [speed, force] of the drives' envelope, with straight lines between them.
    """

    force: ArrayLike | None = None
    speed: ArrayLike | None = None
    acceleration: ArrayLike | None = None
    power: ArrayLike | None = None
    rms_force: ArrayLike | None = None
    jerk: ArrayLike | None = None
    reaction: float | None = None
    force_speed: ArrayLike | None = None

    def of(self, model: Model) -> dict[str, Array]:
        """Limits of a robot as arrays; the robot's own where none is given.

        Parameters
        ----------
        model : Model
            Model of the robot.

        Returns
        -------
        dict of str to ndarray
            Limits by name; infinite where there is none: of actuators (n,), of joints (joints,), of the platform (4,),
            that of the size and of three components.
        """
        count = len(model.actuators)
        result: dict[str, Array] = {}
        for name, kind in KINDS.items():
            given = getattr(self, name)
            if given is None and kind.judged is not None:
                own = model.robot_limits.bounds(kind.judged)
                if name == "speed":  # a motor's speed is the actuator's, times a ratio
                    own = np.minimum(
                        own, model.robot_limits.bounds("motor speed") / model.robot_limits.numbers["ratio"]
                    )
                given = own if np.isfinite(own).any() else None
            if given is not None:
                result[name] = _checked(name, given, count)
        curves = self._curves(model)
        if curves is not None:
            result["force_speed"] = curves
            ends = np.array([np.nanmax(curve[:, 0]) for curve in curves])  # a curve ends at its last speed
            result["speed"] = np.minimum(result.get("speed", np.inf), ends)
        robot = model.robot_limits
        joints = np.full(len(robot.joints), np.inf)
        for one in robot.of_kind("reaction"):
            joints[one.index] = one.high
        if self.reaction is not None:
            joints = np.minimum(joints, _checked("reaction", self.reaction, 1))
        result["reaction"] = joints
        result[MOTOR] = robot.bounds("motor torque")
        if "tension" in robot.kinds:
            result[TENSION] = np.stack(robot.tension_range)
        for name, judged in PLATFORM.items():
            result[name] = np.full(4, np.inf)
            for one in robot.of_kind(judged):
                result[name][1 + one.index] = one.high
        return {name: value for name, value in result.items() if np.isfinite(value).any()}

    def _curves(self, model: Model) -> Array | None:
        """Force-speed curves (n, k, 2), the last point repeated; infinite force at all speeds for a drive without."""
        if self.force_speed is not None:
            try:
                points = Drive(force_speed=np.asarray(self.force_speed, dtype=np.float64).tolist()).force_speed
            except (TypeError, ValueError) as error:
                raise InputError(f"limits.force_speed: points [speed, force] are needed: {error}") from error
            given = [points] * len(model.actuators)
        else:
            given = [actuator.drive.force_speed for actuator in model.actuators]
        if all(points is None for points in given):
            return None
        size = max(len(points) for points in given if points is not None)
        none = ((0.0, np.inf), (np.inf, np.inf))
        rows = [(none if points is None else points) for points in given]
        return np.array([[*points, *[points[-1]] * (size - len(points))] for points in rows])


def _checked(name: str, given: ArrayLike, count: int) -> Array:
    try:
        value = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"limits.{name}: must be numbers, got {given!r}") from error
    if value.shape not in ((), (count,)):
        raise InputError(f"limits.{name}: must be one number or {count}, one per actuator, got shape {value.shape}")
    if not (value > 0).all():
        raise InputError(f"limits.{name}: must be greater than 0, got {given!r}")
    return np.broadcast_to(value, (count,)).copy()


def shares(
    limits: dict[str, Array],
    numbers: Mapping[str, Array],
    force: Array,
    rates: Array,
    changes: Array,
    motion: tuple[Array, Array],
    peak: Array | None = None,
) -> dict[str, Array]:
    """Uses (..., n) of limits by kind at forces, rates and accelerations (..., n) of actuators, by the judge.

    ``numbers`` are those of the motors, ``motion`` twist and acceleration (..., 6) of the platform. ``peak`` are the
    largest sizes that forces may have where friction may go either way.
    """
    most = force if peak is None else peak
    given = {"force": force, "qdot": rates, "qddot": changes, **numbers}
    found = {"force": most, "speed": rates, "acceleration": changes, "power": judge.KINDS["power"].value(given)}
    found = {kind: np.abs(value) / limits[kind] for kind, value in found.items() if kind in limits}
    if MOTOR in limits:
        found[MOTOR] = np.abs(judge.KINDS["motor torque"].value(given)) / limits[MOTOR]
    for name, kind in PLATFORM.items():
        if name in limits:
            vector = judge.KINDS[kind].value(dict(zip(("twist", "acceleration"), motion, strict=True)))
            size = np.linalg.norm(vector, axis=-1, keepdims=True)
            found[name] = np.abs(np.concatenate([size, vector], axis=-1)) / limits[name]
    if "force_speed" in limits:
        use = np.zeros(force.shape)
        for k, curve in enumerate(limits["force_speed"]):
            if np.isfinite(curve).all():
                use[..., k] = judge.curve_use(curve, rates[..., k], most[..., k])
        found["force_speed"] = use
    return found


def tension_middle(tension: Array) -> tuple[Array, Array]:
    """Forces (n,) in the middle of tensions (2, n), and half of their range; zero and infinite where there is none."""
    low, high = tension
    some = np.isfinite(low)
    middle = -0.5 * (np.where(some, low, 0.0) + np.where(some, high, 0.0))
    return middle, np.where(some, 0.5 * (high - low), np.inf)


OF_FORCES = ("force", TENSION, "power", "rms_force", "force_speed", MOTOR, "reaction")
"""Limits that depend on how redundant actuators share their forces."""
HELD = (
    "force", "tension", "continuous force", "force at speed", "speed", "acceleration", "power", "motor torque",
    "motor speed", "reaction", *PLATFORM.values(),
)  # fmt: skip
"""Kinds of ``polypod.limits`` that the fastest motion is held within; the others are judged when it is found."""
WHY_NOT = {
    "range": "the path alone decides", "pair": "the path alone decides", "joint": "its load is no size of a force",
    "actuator": "it is one of the whole motion",
}  # fmt: skip
"""Why a motion is not held within limits of the other kinds, by what has them."""


def not_held(model: Model) -> dict[str, str]:
    """Limits of the robot file that a fastest motion is not held within but judged by, and why.

    Parameters
    ----------
    model : Model
        Model of the robot.

    Returns
    -------
    dict of str to str
        Reasons by quantity.
    """
    found = [one for one in model.robot_limits.limits if one.kind not in HELD]
    return {
        one.quantity: "it is one of the whole motion"
        if judge.KINDS[one.kind].over != "instant"
        else WHY_NOT[judge.KINDS[one.kind].of]
        for one in found
    }
