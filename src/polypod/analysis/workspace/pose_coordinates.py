"""Coordinates of poses that maps and tables go over, about any pivot point, and what a pose must satisfy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ...arrays import Array
from ...errors import ImplausibleWarning, InputError, UnknownNameError
from ...limits import BEST_SHARING
from ...model import Model
from ...model.distribution import force_bounds
from ...model.least_use import least_use
from ..wrenches import wrench_closure, wrench_feasible
from .quantities import CLOSING, CLOSURE, DISTANCE, FORCE, NO_LIMIT, SINGULARITY, limit_names, margins

RIGID = ("x", "y", "z", "roll", "pitch", "yaw")
"""Coordinates of a robot of six degrees of freedom: displacement of the pivot, and turn Rz(yaw) Ry(pitch) Rx(roll)
from home."""
_TOGETHER = 1e-9
"""Margins that differ by less are equal but for rounding."""
FAR = 20.0
"""A pivot this many sizes of the robot away is hardly meant."""


class PoseCoordinates:
    """Coordinates of a robot: zero at home, displacements in base axes [m] and angles [rad].

    A robot of six degrees of freedom has ``RIGID``; ``pivot`` (3) [m] is the point of the platform, in its own
    frame, whose displacement x, y and z are and about which it turns. One of fewer degrees of freedom has its
    generalized coordinates.
    """

    def __init__(self, model: Model, pivot: ArrayLike | None = None) -> None:
        self.model = model.rigid
        robot = self.model.robot
        robot.refuse_internal("workspaces and maps")
        self.full = not robot.dof
        self.names: tuple[str, ...] = RIGID if self.full else self.model.dof
        turns = [name in RIGID[3:] for name in RIGID] if self.full else [f.motion == "rotation" for f in robot.dof]
        self.turns = np.array(turns, dtype=bool)
        self.pivot = _pivot(self.model, pivot)
        self.home = robot.home.matrix
        self.scale = max(robot.farthest, self.model.size)
        found = margins(self.model, self.home[None]).determinant[0]
        self.home_determinant = float(found)

    @property
    def sign(self) -> float:
        """Sign of det J at home, that of the robot's assembly and working mode."""
        return float(np.sign(self.home_determinant))

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each coordinate."""
        return tuple("rad" if turns else "m" for turns in self.turns)

    def index(self, name: str) -> int:
        """Index of a coordinate by its name."""
        if name not in self.names:
            raise UnknownNameError("coordinate", name, self.names)
        return self.names.index(name)

    def point(self, at: Mapping[str, float] | None = None) -> Array:
        """Coordinates (m) of a point by name, zero where none is given."""
        x = np.zeros(len(self.names))
        for name, value in (at or {}).items():
            if not np.isfinite(value):
                raise InputError(f"at: {name} must be a finite number of {self.units[self.index(name)]}, got {value!r}")
            x[self.index(name)] = value
        return x

    def rotations(self, angles: Array) -> Array:
        """Rotation matrices (n, 3, 3) of the platform for roll, pitch and yaw (n, 3) from home."""
        return scipy.spatial.transform.Rotation.from_euler("ZYX", angles[:, ::-1]).as_matrix() @ self.home[:3, :3]

    def offsets(self, rotations: Array) -> Array:
        """From the pivot's displacement to the place of the platform's origin (n, 3), for its rotations."""
        return self.home[:3, 3] + self.home[:3, :3] @ self.pivot - rotations @ self.pivot

    @property
    def turns_freely(self) -> bool:
        """Whether the angles are a rotation vector, which repeats orientations beyond half a turn."""
        return not self.full and int(self.turns.sum()) == 3

    def repeated(self, x: Array) -> NDArray[np.bool_]:
        """Whether coordinates (n, m) turn by a rotation vector of more than half a turn."""
        return np.asarray(self.turns_freely & (np.linalg.norm(x[:, self.turns], axis=1) > np.pi))

    def poses(self, x: Array) -> Array:
        """Poses (n, 4, 4) of coordinates (n, m); NaN where the legs do not allow them.

        Three angles of a robot of fewer than six degrees of freedom are a rotation vector: beyond half a turn it is an
        orientation that a shorter one has already, and there is no pose.
        """
        if not self.full:
            return np.where(
                self.repeated(x)[:, None, None], np.nan, np.asarray(self.model.motion(x, errors="nan").pose)
            )
        poses = np.tile(np.eye(4), (len(x), 1, 1))
        poses[:, :3, :3] = self.rotations(x[:, 3:])
        poses[:, :3, 3] = x[:, :3] + self.offsets(poses[:, :3, :3])
        return poses


def _pivot(model: Model, pivot: ArrayLike | None) -> Array:
    point = np.zeros(3) if pivot is None else np.asarray(pivot, dtype=np.float64)
    if not _finite(point, 3):
        raise InputError(f"pivot: must be a point of three finite numbers [m] in the platform frame, got {pivot!r}")
    if model.robot.dof and point.any():
        raise InputError(
            f"pivot: {model.robot.name!r} has {len(model.robot.dof)} degrees of freedom and its rotation is "
            "determined by its legs; a pivot needs six degrees of freedom, leave it out",
            code="not_six_dof",
        )
    size = max(model.robot.farthest, model.size)
    if np.linalg.norm(point) > FAR * size:
        warnings.warn(
            f"pivot: {np.linalg.norm(point):.4g} m from the platform's origin, far outside a robot of {size:.4g} "
            "m. Is it in metres, in the platform frame?",
            ImplausibleWarning,
            stacklevel=4,
        )
    return point


def _finite(values: ArrayLike, count: int) -> bool:
    """Whether there are so many numbers, all finite."""
    numbers = np.asarray(values, dtype=np.float64)
    return numbers.shape == (count,) and bool(np.isfinite(numbers).all())


@dataclass(frozen=True)
class Requirements:
    """What a pose must satisfy besides the robot's own limits and the sign of det J.

    Forces at rest are those under gravity, the robot's payload, and ``payload`` and ``wrench`` of this requirement.
    Redundant actuators share the load in the way that uses their limits least.

    Attributes
    ----------
    distance : float
        Least distance to singularity [mm/mm], as in ``Model.conditioning``.
    max_force : float or tuple of float, optional
        Largest actuator force at rest [N or N m], one number or one per actuator.
    payload : (float, (float, float, float)), optional
        Additional mass [kg] and where it is in the platform frame [m].
    wrench : tuple of float, optional
        External wrench (6,) on the platform at the origin of {P}, base axes [N, N m].
    drives : bool
        Whether to take limits from the robot file: the smaller of max_force and the force at zero speed of force_speed.
    force_range : (float or tuple of float, float or tuple of float), optional
        Lowest and highest actuator force at rest [N or N m], one number or one per actuator: (-400, -20) for cables
        that pull with 20 to 400 N, on legs whose coordinate is their length.
    wrench_box : tuple of float, optional
        Half widths (6,) of a box of wrenches about ``wrench`` [N, N m], each of which must be held (wrench-feasible
        workspace); tested exactly, as by ``pp.analysis.wrench_feasible``.
    wrench_ellipsoid : tuple of float, optional
        Semi-axes (6,) of an ellipsoid of wrenches instead of a box [N, N m].
    accelerations : tuple of float, optional
        Half widths (6,) of a box of accelerations from rest [m/s^2, rad/s^2] that the platform must be able to make
        under every wrench (dynamic workspace); semi-axes of an ellipsoid beside ``wrench_ellipsoid``.
    closure : bool
        Whether cables must be able to hold any wrench, were their tensions unlimited (wrench-closure workspace); then
        bounds of tension count only if forces are asked for too.
    """

    distance: float = 0.0
    max_force: float | tuple[float, ...] | None = None
    payload: tuple[float, tuple[float, float, float]] | None = None
    wrench: tuple[float, ...] | None = None
    drives: bool = False
    force_range: tuple[Any, Any] | None = None
    wrench_box: tuple[float, ...] | None = None
    wrench_ellipsoid: tuple[float, ...] | None = None
    accelerations: tuple[float, ...] | None = None
    closure: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.distance) and self.distance >= 0):
            raise InputError(f"distance: must be at least 0, got {self.distance!r}")
        if self.drives and self.max_force is not None:
            raise InputError("max_force: give max_force or use the limits of the drives, not both")
        if self.force_range is not None and (self.drives or self.max_force is not None):
            raise InputError("force_range: give force_range, max_force or drives, not several of them")
        loads = self.payload, self.wrench, self.wrench_box, self.wrench_ellipsoid, self.accelerations
        if not self.forces and any(load is not None for load in loads):
            raise InputError(
                "payload: is compared with the largest forces; pass max_force=, force_range= or drives=True too"
            )
        if self.wrench_box is not None and self.wrench_ellipsoid is not None:
            raise InputError("wrench_ellipsoid: give wrench_box or wrench_ellipsoid, not both", code="two_sets")
        if self.payload is not None and self.accelerations is not None:
            raise InputError(
                "accelerations: need the inertia of a payload; give it as payload of the robot file instead of here",
                code="payload",
            )
        for name, what, unit in (
            ("wrench_box", "half widths", "N, N m"),
            ("wrench_ellipsoid", "semi-axes", "N, N m"),
            ("accelerations", "half widths or semi-axes", "m/s^2, rad/s^2"),
        ):
            given = getattr(self, name)
            if given is not None and not (_finite(given, 6) and min(given) >= 0):
                raise InputError(f"{name}: must be six finite {what} [{unit}] of at least 0, got {given!r}")
        if self.max_force is not None and not (np.asarray(self.max_force, dtype=float) > 0).all():
            raise InputError(f"max_force: must be positive, got {self.max_force!r}")
        if self.payload is not None and not (np.isfinite(self.payload[0]) and self.payload[0] >= 0):
            raise InputError(f"payload: mass must be at least 0 kg, got {self.payload[0]!r}")
        if self.payload is not None and not _finite(self.payload[1], 3):
            raise InputError(f"payload: position must be three finite numbers [m], got {self.payload[1]!r}")
        if self.wrench is not None and not _finite(self.wrench, 6):
            raise InputError(f"wrench: must be six finite numbers [N, N m], got {self.wrench!r}")

    @property
    def plain(self) -> bool:
        """Whether limits, closing and det J are all that is asked."""
        return self.distance == 0.0 and not self.forces and not self.closure

    @property
    def forces(self) -> bool:
        """Whether forces are limited."""
        return self.max_force is not None or self.drives or self.force_range is not None

    @property
    def feasibility(self) -> bool:
        """Whether forces have two bounds, or must hold a set of wrenches."""
        sets = self.force_range, self.wrench_box, self.wrench_ellipsoid, self.accelerations
        return any(given is not None for given in sets)


class PoseMargins(NamedTuple):
    """Of n poses: the smallest margin (n,), which limit has it (n,), and det J over that at home (n,).

    ``kept`` (n,): all limits hold and the legs close, whatever the sign of det J and the further requirements.
    """

    margin: Array
    binding: NDArray[np.int64]
    determinant: Array
    kept: NDArray[np.bool_]

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether every requirement holds."""
        return self.margin >= 0


class WorkspaceTest:
    """Decides on poses of a space; ``limits`` are names (leg, quantity) of what can bind, in ``binding``'s order."""

    def __init__(self, space: PoseCoordinates, requirements: Requirements | None = None) -> None:
        model, asked = space.model, requirements or Requirements()
        cables = "tension" in model.robot_limits.kinds
        if cables and not asked.forces and not asked.closure:  # what they cannot hold is not in reach
            asked = replace(asked, drives=True)
        self.space, self.requirements, self._two_sided = space, asked, asked.feasibility or (cables and asked.drives)
        self.limits: tuple[tuple[str, str], ...] = (*limit_names(model), ("robot", CLOSING), ("robot", SINGULARITY))
        self._apart = model.robot_limits.only(lambda one: one.kind == "clearance")
        self.limits += tuple((one.where, one.quantity) for one in self._apart.limits)
        if self.requirements.distance:
            self.limits += (("robot", DISTANCE),)
        if self.requirements.forces:
            self.limits += tuple((actuator.name, FORCE) for actuator in model.actuators)
        if self.requirements.closure:
            wrench_closure(model)  # refuses robots that are not driven by cables
            self.limits += tuple((actuator.name, CLOSURE) for actuator in model.actuators)
        if space.turns_freely:
            self.limits += (("whole range", NO_LIMIT),)
        self._most = self.requirements.max_force
        if self.requirements.drives:
            self._most = tuple(model.robot_limits.forces_at_rest.tolist())
            if np.isinf(self._most).all() and not cables:
                raise InputError(
                    f"drives: no drive of {model.robot.name!r} has max_force, force_speed or max_motor_torque; add one "
                    "of them, or give max_force"
                )
        if self._two_sided:
            most = np.asarray(self._most, dtype=np.float64) if self._most is not None else 0.0
            given = self.requirements.force_range or (-most, most)
            if self.requirements.drives:
                given = model.robot_limits.force_range_at_rest
            self._range = force_bounds(model.robot_limits, given)
        if self.requirements.max_force is not None:
            count = np.shape(self.requirements.max_force)
            if count not in ((), (len(model.actuators),)):
                raise InputError(f"max_force: must be one number or {len(model.actuators)}, got {count[0]}")

    @property
    def criteria(self) -> tuple[str, ...]:
        """What poses are judged by, in words: every quantity once, and the fields of the file that limit forces."""
        names = dict.fromkeys(name for _, name in self.limits if name != NO_LIMIT)
        if self.requirements.forces:
            fields = ["max_force as given" if self.requirements.force_range is None else "force_range as given"]
            if self.requirements.drives:
                drives = [actuator.drive for actuator in self.space.model.actuators]
                texts = {"max_force": "max_force", "force_speed": "force_speed at zero speed"}
                texts |= {"max_motor_torque": "max_motor_torque with efficiency", "tension_range": "tension"}
                fields = [text for name, text in texts.items() if any(getattr(d, name) is not None for d in drives)]
            if self.requirements.wrench_box is not None:
                fields.append("for every wrench of the box")
            if self.requirements.wrench_ellipsoid is not None:
                fields.append("for every wrench of the ellipsoid")
            if self.requirements.accelerations is not None:
                fields.append("for every acceleration asked for")
            names = {f"{name} at rest ({', '.join(fields)})" if name == FORCE else name: None for name in names}
        return tuple(names)

    @property
    def left_out(self) -> dict[str, str]:
        """Limits of the robot file that are not judged here, and why."""
        return self.space.model.robot_limits.at_rest(self.requirements.drives)[1]

    @property
    def not_proven(self) -> dict[str, str]:
        """Limits of the robot file that proofs over boxes of poses leave out, and why."""
        apart = dict.fromkeys(self._apart.quantities, "distances of bodies are not bounded over boxes of poses")
        return self.left_out | apart

    @property
    def sharing(self) -> str:
        """Which of many possible forces are judged; empty where they are unique, or not judged."""
        return BEST_SHARING if self.requirements.forces and self.space.model.robot_limits.redundancy > 0 else ""

    def __call__(self, x: Array) -> PoseMargins:
        """What holds at coordinates (n, m)."""
        x = np.atleast_2d(x)
        found, beyond = self.poses(self.space.poses(x)), self.space.repeated(x)
        return found._replace(binding=np.where(beyond, len(self.limits) - 1, found.binding))

    def poses(self, poses: Array) -> PoseMargins:
        """What holds at poses (n, 4, 4)."""
        found = margins(self.space.model, poses)
        relative = found.determinant / self.space.home_determinant
        # where legs do not close there is no Jacobian: that is not a singularity
        lost = np.isnan(relative) | np.isnan(found.limits).any(axis=1)
        closing = np.where(lost, np.minimum(found.closing, -1.0), found.closing)
        rows = [found.limits, closing[:, None], np.minimum(relative, 1.0)[:, None]]
        rows = [np.where(np.isnan(row), 1.0, row) for row in rows]
        kept = np.concatenate(rows[:2], axis=1).min(axis=1) >= 0
        if self._apart.limits:
            rows.append(self._apart_at(poses, np.concatenate(rows, axis=1).min(axis=1) >= 0))
            kept &= (rows[-1] >= 0).all(axis=1)
        if not self.requirements.plain:
            rows += self._more(poses, np.concatenate(rows, axis=1).min(axis=1) >= 0)
        every = np.concatenate(rows, axis=1)
        smallest = every.min(axis=1)
        # of limits that bind together in symmetric poses the first, whatever their rounding
        binding = (every <= smallest[:, None] + _TOGETHER).argmax(axis=1)
        return PoseMargins(smallest, binding, relative, kept)

    def _apart_at(self, poses: Array, inside: NDArray[np.bool_]) -> Array:
        """Margins (n, k) of clearances d of at least c: d/c - 1, asked where all else holds (1 elsewhere)."""
        margin = np.ones((len(poses), len(self._apart.limits)))
        found = self._apart.evaluate({"clearance": self.space.model.clearances.least(poses[inside])})
        left = np.clip(found.value / found.low - 1.0, -1.0, 1.0)
        margin[inside] = np.where(found.inside, np.maximum(left, 0.0), np.fmin(left, -1e-30))
        return margin

    def _more(self, poses: Array, inside: NDArray[np.bool_]) -> list[Array]:
        """Margins of what takes longer, asked where all else holds (1 elsewhere)."""
        model, asked, rows = self.space.model, self.requirements, []
        if asked.distance:
            distance = np.full((len(poses), 1), np.inf)
            distance[inside, 0] = model.conditioning(poses[inside]).distance
            rows.append(np.minimum(distance / asked.distance - 1.0, 1.0))
        if self._two_sided:
            rows.append(self._feasible(poses, inside))
        elif asked.forces:
            left = np.ones((len(poses), len(model.actuators)))
            force = holding_forces(model, poses[inside], asked)
            if len(model.actuators) > model.mobility.count:
                most = np.broadcast_to(np.asarray(self._most, dtype=np.float64), force.shape[1:])
                force = least_use(force, model.null_space(poses[inside]), most)
            left[inside] = 1.0 - np.abs(force) / np.asarray(self._most)
            rows.append(np.where(np.isnan(left), -1.0, left))
        if asked.closure:
            rows.append(self._closed(poses, inside))
        return rows

    def _closed(self, poses: Array, inside: NDArray[np.bool_]) -> Array:
        """Margins (n, a) of wrench closure: the tension factor of the limiting cable, 1 of others."""
        found = wrench_closure(self.space.model, poses[inside], errors="nan")
        left = np.ones((len(poses), len(self.space.model.actuators)))
        left[np.flatnonzero(inside), found.limiting] = np.where(found.closed, found.factor, -1.0)
        return left

    def _feasible(self, poses: Array, inside: NDArray[np.bool_]) -> Array:
        """Margins (n, a) of forces that hold all wrenches asked for: that of the limiting actuator, 1 of others."""
        model, (low, high), asked = self.space.model, self._range, self.requirements
        where = poses[inside]
        found = wrench_feasible(
            model,
            where,
            asked.wrench_box,
            external_wrench(model, where, asked),
            ellipsoid=asked.wrench_ellipsoid,
            acceleration=asked.accelerations,
            bounds=(low, high),
            errors="nan",
        )
        left = np.ones((len(poses), len(model.actuators)))
        part = np.where(np.isnan(found.margin), -1.0, found.margin / (0.5 * (high - low))[found.limiting])
        left[np.flatnonzero(inside), found.limiting] = part
        return left


def holding_forces(model: Model, poses: Array, asked: Requirements) -> Array:
    """Actuator forces (n, a) that hold the platform, its payload and a wrench at rest, without friction; some of those
    possible where there are more actuators than degrees of freedom."""
    still, wrench = np.zeros((len(poses), 6)), external_wrench(model, poses, asked)
    return np.asarray(model.inverse_dynamics(poses, still, still, wrench, friction=False, errors="nan"))


def external_wrench(model: Model, poses: Array, asked: Requirements) -> Array:
    """Wrenches (n, 6) of the wrench and the payload asked for."""
    wrench = np.zeros((len(poses), 6)) + (0.0 if asked.wrench is None else np.asarray(asked.wrench, dtype=float))
    if asked.payload is not None:
        mass, place = asked.payload
        weight = mass * np.asarray(model.robot.gravity)
        wrench[:, :3] += weight
        wrench[:, 3:] += np.cross(poses[:, :3, :3] @ np.asarray(place, dtype=float), weight)
    return wrench
