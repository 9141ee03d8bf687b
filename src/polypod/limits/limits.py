"""The limits of one robot as data, and the judge: how much of each a state or a motion uses, designs broadcast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Bearing, Drive, PlatformLimits, Robot
from ..errors import InputError, UnknownNameError
from ..mechanism import Mechanism
from ..mechanism.drive_bounds import limits_force
from ..symbols.bounded import MOST_FREE
from ..tables import called
from .kinds import KINDS, Kind, curve_corners
from .loads import equivalent_load
from .report import LimitReport, used

NEEDS_MOTION = "it is one of a whole motion"
NEEDS = {
    "limited": "it needs the pose", "q": "it needs the pose", "qdot": "it needs the twist",
    "twist": "it needs the twist",
    "qddot": "it needs the acceleration", "acceleration": "it needs the acceleration",
    "force": "it needs twist and acceleration", "load": "it needs joint reactions",
    "clearance": "it needs the pose", "condition": "it needs the Jacobian", "distance": "it needs the Jacobian",
}  # fmt: skip
"""Why a limit is not judged where a model's output is not known."""
OPEN = "inner stresses leave its reaction open"
"""Why a joint of an overconstrained robot is not judged."""
LEAST_NORM = "forces of redundant actuators are shared by least norm"
WITHIN_DRIVES = "forces of redundant actuators are shared within the limits of their drives, nearest to least norm"
_HOLDING = ("force", "tension", "force at speed", "motor torque")
"""Kinds of what drives hold a pose at rest with."""
BEST_SHARING = "forces of redundant actuators are shared so that their limits are used least"
"""Which of many possible forces are judged where there are more actuators than degrees of freedom."""


@dataclass(frozen=True)
class Limit:
    """A limit: its ``kind`` (of ``KINDS``), what the verdict calls it, where it is, its bounds and their unit.

    ``index`` is the number of the actuator, limited quantity, joint or pair, of the platform that of a component (-1:
    the size of the vector). ``low`` and ``high`` of a size are -b and b; a curve of force over speed has 1, its use.
    """

    kind: str
    quantity: str
    where: str
    low: float
    high: float
    unit: str
    index: int
    name: str = ""


class _Column(NamedTuple):
    """A limit with its values (...), low and high ends, and its use where that is not by its side."""

    limit: Limit
    value: Array
    low: Array | float
    high: Array | float
    use: Array | None = None


class ActuatorData(NamedTuple):
    """An actuator as the judge needs it."""

    name: str
    unit: str
    force_unit: str
    drive: Drive


class RangeData(NamedTuple):
    """A limited quantity of a leg: a range, or a cone (0 to its half angle)."""

    leg: str
    name: str
    low: float
    high: float
    unit: str
    cone: bool


class JointData(NamedTuple):
    """A joint with the ratings of its bearing."""

    leg: str
    name: str
    kind: str
    bearing: Bearing


@dataclass(frozen=True)
class RobotLimits:
    """All limits of a robot, in the order of the verdict; ``evaluate`` is the judge."""

    limits: tuple[Limit, ...]
    actuators: tuple[ActuatorData, ...] = ()
    joints: tuple[JointData, ...] = ()
    redundancy: int = 0
    """Actuators more than degrees of freedom."""
    numbers: Mapping[str, Array] = field(default_factory=dict)

    @staticmethod
    def of(
        actuators: Iterable[Any],
        ranges: Sequence[RangeData] = (),
        joints: Sequence[JointData] = (),
        platform: PlatformLimits | None = None,
        redundancy: int = 0,
        pairs: Sequence[str] = (),
        clearance: float | None = None,
    ) -> RobotLimits:
        """Limits of actuators (name, unit, force_unit, drive), of legs, of joints, of the platform and of clearances.

        ``pairs`` are the names of what is kept apart, such as ``leg1 against leg2``.
        """
        who = tuple(ActuatorData(a.name, a.unit, a.force_unit, a.drive) for a in actuators)
        found: list[Limit] = []
        for name in KINDS:
            if KINDS[name].of == "pair":
                bound = () if clearance is None else enumerate(pairs)
                found += [Limit(name, name, pair, float(clearance or 0), np.inf, "m", k) for k, pair in bound]
            else:
                found += _stated(name, who, ranges, joints, platform)
        drives = [a.drive for a in who]
        numbers = {
            "ratio": np.array([float(d.motor_ratio) for d in drives]),
            "reflected": np.array([float(d.reflected) for d in drives]),
            "efficiency": np.array([1.0 if d.efficiency is None else d.efficiency for d in drives]),
        }
        return RobotLimits(tuple(found), who, tuple(joints), redundancy, numbers)

    @staticmethod
    def of_robot(
        robot: Robot, mechanism: Mechanism, actuators: Iterable[Any], pairs: Callable[[], Sequence[str]] = tuple
    ) -> RobotLimits:
        """Limits of a robot, as its file states them; ``pairs`` gives the names of its clearances, where needed."""
        empty = LimitReport.of(mechanism, np.zeros((0, len(mechanism.limits))))
        ranges = [
            RangeData(leg, name, float(low), float(high), unit, kind == "cone")
            for (leg, name), low, high, unit, kind in zip(
                empty.names, empty.low, empty.high, empty.units, empty.kinds, strict=True
            )
        ]
        joints = [
            JointData(data.name, joint.name, joint.kind, data.bearing(joint.name))
            for data, leg in zip(robot.legs, mechanism.placed, strict=True)
            for joint in leg.placement.joints
        ]
        apart = () if robot.clearance is None else pairs()
        redundancy = len(mechanism.actuators) - mechanism.platform.count
        return RobotLimits.of(actuators, ranges, joints, robot.platform_limits, redundancy, apart, robot.clearance)

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds that the robot has limits of, in the order of the verdict."""
        return tuple(dict.fromkeys(limit.kind for limit in self.limits))

    @property
    def quantities(self) -> tuple[str, ...]:
        """What the verdict calls them, each once."""
        return tuple(dict.fromkeys(limit.quantity for limit in self.limits))

    @property
    def sharing(self) -> str:
        """Which of many possible forces of redundant actuators are judged; empty where there is one alone."""
        if self.redundancy <= 0:
            return ""
        if self.redundancy > MOST_FREE:
            return f"{LEAST_NORM}, as there are more than {MOST_FREE} actuators more than degrees of freedom"
        return WITHIN_DRIVES if any(limits_force(actuator.drive) for actuator in self.actuators) else LEAST_NORM

    @property
    def needs(self) -> frozenset[str]:
        """What the model must say of states so that all limits are judged."""
        return frozenset(name for kind in self.kinds for name in KINDS[kind].needs)

    @property
    def not_given(self) -> tuple[str, ...]:
        """Usual limits that the robot file does not give of any drive."""
        unit = self.actuators[0].force_unit if self.actuators else "N"
        return tuple(called(name, unit) for name, kind in KINDS.items() if kind.usual and name not in self.kinds)

    def only(self, wanted: Callable[[Limit], bool]) -> RobotLimits:
        """Some of the limits."""
        return replace(self, limits=tuple(limit for limit in self.limits if wanted(limit)))

    def without(self, kinds: Iterable[str]) -> RobotLimits:
        """All but those of some kinds."""
        left = set(kinds)
        return self.only(lambda limit: limit.kind not in left)

    def at_rest(self, forces: bool = True) -> tuple[RobotLimits, dict[str, str]]:
        """Limits that a pose at rest may break, and why the others are not judged there, by quantity.

        Without ``forces`` those of drives are left out too. Reactions, which are not computed for poses, always are.
        """
        kept: list[Limit] = []
        left: dict[str, str] = {}
        for one in self.limits:
            if one.kind in _HOLDING and not forces:
                left[one.quantity] = "forces are judged on request only"
            elif KINDS[one.kind].of == "joint":
                left[one.quantity] = "reactions are not computed"
            elif one.kind not in _HOLDING and KINDS[one.kind].of not in ("range", "pair"):
                left[one.quantity] = "poses are at rest"
            else:
                kept.append(one)
        return replace(self, limits=tuple(kept)), left

    def of_kind(self, kind: str) -> tuple[Limit, ...]:
        """Limits of one kind."""
        return tuple(limit for limit in self.limits if limit.kind == kind)

    def bounds(self, kind: str) -> Array:
        """Bounds (n,) of all actuators of one of ``DRIVE_KINDS``, infinite where a drive has none."""
        found = np.full(len(self.actuators), np.inf)
        for limit in self.of_kind(kind):
            found[limit.index] = limit.high
        return found

    @property
    def forces_at_rest(self) -> Array:
        """The largest forces (n,) at rest: of max_force, of the curve at zero speed, of the motor behind its losses."""
        found = self.bounds("force")
        for limit in self.of_kind("force at speed"):
            points = self.actuators[limit.index].drive.force_speed or ((0.0, np.inf),)
            found[limit.index] = min(found[limit.index], points[0][1])
        held = self.bounds("motor torque") * self.numbers["ratio"] * self.numbers["efficiency"]
        return np.minimum(found, held)

    @property
    def force_range_at_rest(self) -> tuple[Array, Array]:
        """Lowest and highest forces (n,) at rest, infinite where a drive has no limit."""
        low, high = -self.forces_at_rest, self.forces_at_rest
        for limit in self.of_kind("tension"):
            low[limit.index] = max(low[limit.index], -limit.high)
            high[limit.index] = min(high[limit.index], -limit.low)
        return low, high

    @property
    def tension_range(self) -> tuple[Array, Array]:
        """Lowest and highest tensions (n,) of cables, infinite for other actuators."""
        low, high = np.full(len(self.actuators), -np.inf), np.full(len(self.actuators), np.inf)
        for limit in self.of_kind("tension"):
            low[limit.index], high[limit.index] = limit.low, limit.high
        return low, high

    def stated(self, **bounds: float) -> RobotLimits:
        """With limits that a study or a command states: ``condition_number`` at most, ``distance_to_singularity`` at
        least."""
        more = []
        for name, bound in bounds.items():
            kind = name.replace("_", " ")
            if KINDS.get(kind) is None or KINDS[kind].of != "robot":
                known = tuple(k.replace(" ", "_") for k, v in KINDS.items() if v.of == "robot")
                raise UnknownNameError("limit", name, known)
            if not (np.isfinite(bound) and bound > 0):
                raise InputError(f"{name}: must be a finite number greater than 0, got {bound!r}")
            least = KINDS[kind].side == "least"
            ends = (float(bound), np.inf) if least else (0.0, float(bound))
            more.append(Limit(kind, kind, "robot", *ends, KINDS[kind].unit, 0, kind))
        return replace(self, limits=(*self.limits, *more))

    def with_bounds(self, kind: str, bounds: Array) -> RobotLimits:
        """With other bounds (n,) of a kind that drives have; infinite ones are none."""
        entry = KINDS[kind]
        new = [
            _of_actuator(kind, entry, k, actuator, float(bound))
            for k, (actuator, bound) in enumerate(zip(self.actuators, bounds, strict=True))
            if np.isfinite(bound)
        ]
        order = {name: k for k, name in enumerate(KINDS)} | {"cone": list(KINDS).index("range")}
        kept = [limit for limit in self.limits if limit.kind != kind]
        return replace(self, limits=tuple(sorted([*kept, *new], key=lambda limit: order[limit.kind])))

    # -- the judge ----------------------------------------------------------------------------------------------------

    def evaluate(
        self, given: Mapping[str, Any], time: Array | None = None, ranges: tuple[Array, Array] | None = None
    ) -> LimitReport:
        """Use of every limit for what a model says of states.

        Parameters
        ----------
        given : arrays (..., n) by name: ``q``, ``qdot``, ``qddot``, ``force`` of all actuators, ``limited`` quantities
            of the legs (angles, not cosines), ``twist``, ``acceleration`` (..., 6), ``reaction_force`` (..., joints, 3)
            with ``joint_axes`` (..., joints, 2, 3), ``clearance`` (..., pairs), ``condition``, ``distance`` (...); what
            is missing leaves its limits out
        time : times (T,) of a motion, whose states are along the axis before the last; without it limits of whole
            motions are left out
        ranges : low and high (..., k) of the limited quantities where they depend on designs

        Returns
        -------
        LimitReport : value, bounds and use (..., k) of all limits that could be judged, and the others by name
        """
        columns: list[_Column] = []
        left_out: dict[str, str] = {}
        for kind in self.kinds:
            entry, limits = KINDS[kind], self.of_kind(kind)
            missing = next((name for name in entry.needs if not _known(given, name)), None)
            if missing is not None or (entry.over != "instant" and time is None):
                reason = NEEDS_MOTION if missing is None else NEEDS[missing]
                left_out |= {limit.quantity: reason for limit in limits}
                continue
            columns += self._columns(entry, limits, given, time, ranges)
        places = {id(limit): k for k, limit in enumerate(self.limits)}
        columns.sort(key=lambda column: places[id(column.limit)])
        lead = np.broadcast_shapes(*(np.shape(column.value) for column in columns)) if columns else _lead(given)
        judged = [column.limit for column in columns]
        value = _stack([column.value for column in columns], lead)
        ends = lead if any(np.ndim(end) for column in columns for end in (column.low, column.high)) else ()
        low, high = _stack([column.low for column in columns], ends), _stack([column.high for column in columns], ends)
        sides = tuple(KINDS[limit.kind].side for limit in judged)
        given_use = None
        if any(column.use is not None for column in columns):
            given_use = used(value, low, high, sides)
            for k, column in enumerate(columns):
                if column.use is not None:
                    given_use[..., k] = column.use
        return LimitReport(
            tuple((limit.where, limit.name or limit.quantity) for limit in judged), value, low, high,
            tuple(limit.unit for limit in judged), tuple(limit.quantity for limit in judged),
            tuple(limit.kind for limit in judged), sides, given_use,
            np.array([KINDS[limit.kind].over != "instant" for limit in judged], dtype=bool), left_out,
        )  # fmt: skip

    def _columns(
        self,
        entry: Kind,
        limits: tuple[Limit, ...],
        given: Mapping[str, Any],
        time: Array | None,
        ranges: tuple[Array, Array] | None,
    ) -> list[_Column]:
        """Limits of one kind with values (...), low and high ends, and the use where it is not by the side."""
        index = [limit.index for limit in limits]
        if entry.of == "joint":
            return [_Column(one, self._load(one, given, time), one.low, one.high) for one in limits]
        if entry.of == "robot":
            return [_Column(one, np.asarray(entry.value(given)), one.low, one.high) for one in limits]
        if entry.of == "platform":
            vector = entry.value(given)
            length = np.linalg.norm(vector, axis=-1)
            parts = [length if one.index < 0 else vector[..., one.index] for one in limits]
            return [_Column(one, part, one.low, one.high) for one, part in zip(limits, parts, strict=True)]
        if entry.of == "pair":
            apart = np.asarray(entry.value(given))
            return [_Column(one, apart[..., one.index], one.low, one.high) for one in limits]
        if entry.of == "range":
            values = np.asarray(given["limited"])
            ends: list[tuple[Any, Any]] = [(one.low, one.high) for one in limits]
            if ranges is not None:
                ends = [(ranges[0][..., k], ranges[1][..., k]) for k in index]
            return [_Column(one, values[..., one.index], *end) for one, end in zip(limits, ends, strict=True)]
        chosen = {name: np.asarray(given[name])[..., index] for name in entry.needs}
        chosen |= {name: numbers[index] for name, numbers in self.numbers.items()}
        if limits[0].kind == "force at speed":
            return self._on_curves(limits, entry, chosen)
        value = over_time(entry.over, np.asarray(entry.value(chosen)), time)
        return [_Column(one, value[..., k], one.low, one.high) for k, one in enumerate(limits)]

    def corners(self, limits: Sequence[Limit]) -> Array:
        """Corners (k, m, 2) of the force-speed curves of limits."""
        return curve_corners([self.actuators[one.index].drive.force_speed or () for one in limits])

    def _on_curves(self, limits: tuple[Limit, ...], entry: Kind, chosen: dict[str, Array]) -> list[_Column]:
        """Forces on force-speed curves; allowed is the force where growing force and speed alike meet the curve."""
        use = np.asarray(entry.value({**chosen, "curves": self.corners(limits)}))
        force, speed = np.abs(chosen["force"]), np.abs(chosen["qdot"])
        columns = []
        for k, one in enumerate(limits):
            points = np.array(self.actuators[one.index].drive.force_speed)
            f, share = force[..., k], use[..., k]
            with np.errstate(divide="ignore", invalid="ignore"):
                met = np.where((f > 0) & (share > 0), f / share, np.interp(speed[..., k], *points.T))
            columns.append(_Column(one, f, 0.0, met, share))
        return columns

    def _load(self, limit: Limit, given: Mapping[str, Any], time: Array | None) -> Array:
        """Loads (...) [N] of a joint: equivalent ones of its bearing, or the size of its reaction."""
        joint = self.joints[limit.index]
        force = np.asarray(given["reaction_force"])[..., limit.index, :]
        if limit.kind == "reaction":
            return np.asarray(np.linalg.norm(force, axis=-1))
        axes, bearing = np.asarray(given["joint_axes"])[..., limit.index, :, :], joint.bearing
        if limit.kind == "bearing, static":
            return equivalent_load(force, axes, joint.kind, bearing.static_radial_factor, bearing.static_axial_factor)
        load = equivalent_load(force, axes, joint.kind, bearing.radial_factor, bearing.axial_factor)
        return over_time("mean", load[..., None], time, bearing.life_exponent)[..., 0]


def _known(given: Mapping[str, Any], name: str) -> bool:
    return given.get("reaction_force" if name == "load" else name) is not None


def _lead(given: Mapping[str, Any]) -> tuple[int, ...]:
    """Leading axes of states of which nothing is limited."""
    trailing = {"reaction_force": 2, "joint_axes": 3, "condition": 0, "distance": 0}
    shapes = [np.shape(v)[: np.ndim(v) - trailing.get(k, 1)] for k, v in given.items() if v is not None]
    return np.broadcast_shapes(*shapes) if shapes else ()


def _stack(parts: Sequence[Array | float], lead: tuple[int, ...]) -> Array:
    """Columns (..., k) of k parts."""
    if not parts:
        return np.zeros((*lead, 0))
    return np.stack([np.broadcast_to(np.asarray(part, dtype=np.float64), lead) for part in parts], axis=-1)


def over_time(over: str, value: Array, time: Array | None, power: float = 2.0) -> Array:
    """What counts of values (..., T, k) over a motion, the same (..., T, k) at all of its states.

    Root mean square and power mean by the trapezoidal rule; span is the largest less the smallest.
    """
    if over == "instant":
        return value
    assert time is not None
    if over == "span":
        found = np.ptp(value, axis=-2)
    else:
        exponent = 2.0 if over == "rms" else power
        mean = np.trapezoid(np.abs(value) ** exponent, time, axis=-2) / (time[-1] - time[0])
        found = mean ** (1 / exponent) if exponent != 2.0 else np.sqrt(mean)
    return np.broadcast_to(found[..., None, :], value.shape)


# ----------------------------------------------------------------------------------------------------------------------
# What a robot file states of one kind.


def _stated(
    name: str,
    actuators: Sequence[ActuatorData],
    ranges: Sequence[RangeData],
    joints: Sequence[JointData],
    platform: PlatformLimits | None,
) -> list[Limit]:
    entry = KINDS[name]
    if entry.of == "cable":
        pulled = [(k, actuator, actuator.drive.tension_range) for k, actuator in enumerate(actuators)]
        return [Limit(name, name, one.name, *ends, entry.unit, k) for k, one, ends in pulled if ends is not None]
    if entry.of == "actuator":
        stated = [(k, actuator, getattr(actuator.drive, entry.field)) for k, actuator in enumerate(actuators)]
        return [
            _of_actuator(name, entry, k, actuator, 1.0 if name == "force at speed" else float(bound))
            for k, actuator, bound in stated
            if bound is not None
        ]
    if entry.of == "range":
        if name == "cone":  # leg by leg, with the ranges
            return []
        named = [("cone", one.name) if one.cone else ("range", f"{one.name} range") for one in ranges]
        return [
            Limit(kind, label, one.leg, one.low, one.high, one.unit, k, one.name)
            for k, ((kind, label), one) in enumerate(zip(named, ranges, strict=True))
        ]
    if entry.of == "joint":
        rated = [(k, joint, getattr(joint.bearing, entry.field)) for k, joint in enumerate(joints)]
        return [
            Limit(name, name, f"{joint.leg} {joint.name}", 0.0, float(bound), "N", k)
            for k, joint, bound in rated
            if bound is not None
        ]
    bound = None if platform is None or entry.of != "platform" else getattr(platform, entry.field.rpartition(".")[2])
    if bound is None:
        return []
    if isinstance(bound, tuple):
        axes = enumerate(zip("xyz", bound, strict=True))
        return [Limit(name, name, f"platform {axis}", -b, b, entry.unit, k) for k, (axis, b) in axes]
    return [Limit(name, name, "platform", -float(bound), float(bound), entry.unit, -1)]


def _of_actuator(name: str, entry: Kind, k: int, actuator: ActuatorData, bound: float) -> Limit:
    unit = entry.unit.format(q=actuator.unit, f=actuator.force_unit)
    low = -bound if entry.side == "size" else 0.0
    return Limit(name, called(name, actuator.force_unit), actuator.name, low, bound, unit, k)


# ----------------------------------------------------------------------------------------------------------------------
# States of a model, judged.


def judge(
    model: Any,
    pose: Any,
    twist: Any = None,
    acceleration: Any = None,
    wrench: Any = None,
    *,
    time: Any = None,
    friction: bool = True,
    parameters: Any = None,
    limits: RobotLimits | None = None,
    base: Mapping[str, Any] | None = None,
    internal: Any = None,
) -> LimitReport:
    """What ``model.limits`` gives: see there. ``limits`` are others than those of the robot file, ``base`` is the
    motion of the base by the names of the model's arguments.

    Only what the limits need is computed of the states. States without an answer have uses that are not numbers.
    """
    own = model.robot_limits if limits is None else limits
    if twist is None and (acceleration is not None or wrench is not None):
        raise InputError("twist: is needed with an acceleration or a wrench; zeros are a robot at rest")
    if acceleration is None and wrench is not None:
        raise InputError("acceleration: is needed with a wrench; zeros are a robot without acceleration")
    needs, inner = own.needs, {} if internal is None else {"internal": internal}
    place = {**inner, "parameters": parameters}
    named = {"errors": "nan", **inner} if parameters is None else {"errors": "nan", **place}
    loaded = {**named, **(base or {})}
    given: dict[str, Any] = {}
    ranges = None
    if "limited" in needs:
        found = model.joint_ranges(pose, **place)
        given["limited"] = found.value
        ranges = (found.low, found.high) if parameters is not None else None
    if {"condition", "distance"} & needs:
        conditioning = model.conditioning(pose, **place)
        given |= {"condition": conditioning.condition, "distance": conditioning.distance}
    if "clearance" in needs:
        given["clearance"] = model.clearances.least(pose, **place)
    if "q" in needs and time is not None:
        given["q"] = model.inverse_kinematics(pose, **named)
    if twist is not None:
        given["twist"] = np.asarray(twist, dtype=np.float64)[..., :6]
        if "qdot" in needs:
            given["qdot"] = model.rates(pose, twist, **named)
    if acceleration is not None:
        given["acceleration"] = np.asarray(acceleration, dtype=np.float64)[..., :6]
        if "qddot" in needs:
            given["qddot"] = model.accelerations(pose, twist, acceleration, **named)
        if "force" in needs:
            given["force"] = model.inverse_dynamics(
                pose, twist, acceleration, wrench, friction, **named, **(base or {})
            )
        if "load" in needs:
            given |= reaction_arrays(model.reactions(pose, twist, acceleration, wrench, friction, **loaded))
    if not given:
        given["limited"] = model.joint_ranges(pose, **place).value  # of nothing; the states' shape
    return own.evaluate(given, None if time is None else np.asarray(time, dtype=np.float64), ranges)


def reaction_arrays(found: Any) -> dict[str, Array]:
    """Forces (..., joints, 3) and free directions (..., joints, 2, 3) of all joints; NaN for directions it lacks."""
    joints = [joint for leg in found.legs.values() for joint in leg.values()]
    if not joints:
        return {}
    return {
        "reaction_force": np.stack([joint.force for joint in joints], axis=-2),
        "joint_axes": np.stack([_two_axes(joint.axes) for joint in joints], axis=-3),
    }


def _two_axes(axes: Array) -> Array:
    full = np.full((*axes.shape[:-2], 2, 3), np.nan)
    full[..., : axes.shape[-2], :] = axes
    return full
