"""Events: a limit reached, a singularity approached, a joint that reverses; found between steps and located.

Every limit of the robot file that a state has is watched: ranges and cones by their own margins, so that they are
located to rounding, all others by the use that ``polypod.limits`` computes. ``not_watched`` says which are left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from ..arrays import Array
from ..elements import Brake, Stop
from ..errors import InputError, UnknownNameError
from ..fingerprint import fingerprint
from ..friction import dry_drives
from ..kernels import Kernel
from ..kernels.kernel import Call
from ..limits import KINDS, ROUNDING, RobotLimits
from ..limits.symbols import state_limits, uses_of_outputs
from ..mechanism import Mechanism
from ..mechanism.acting_elements import placed_elements
from ..model import Model
from ..motion import BaseTrajectory
from .chart import Snapshot
from .integrators import Step
from .system import System

Action = Literal["stop", "log", "ignore"]
ACTIONS = ("stop", "log", "ignore")
MAX_TRAVEL = 0.02
"""How far [rad, or sizes of the platform] the platform moves at most between two looks at limits and singularities."""
MAX_PARTS = 64
HELD_RATE = 1e-9
"""Rates [m/s, rad/s] below which a joint is at rest and does not change direction."""
DEFAULTS: dict[str, Action] = {
    "limit": "stop", "overload": "log", "singularity": "stop", "reversal": "log", "contact": "log",
    "brake": "log",
}  # fmt: skip
BENDS = "the platform bends"
"""Why limits that need accelerations or shapes are not watched on a flexible platform."""
_RESTS = 1e-6
"""Rate [m/s, rad/s] below which a joint has been stopped."""
_REACHED = 1e-9
"""Relative: a force that is held at its limit does not exceed it."""
Acting = Callable[[float, Snapshot], tuple[Array, Array]]
"""Actuator forces (n,) and external wrench (6,) at a time and state."""


class Event(NamedTuple):
    """Something that happened during a simulation.

    Attributes
    ----------
    time : float
        When it happened [s].
    kind : str
        Kind of event: ``limit``, ``overload``, ``singularity``, ``reversal``, ``contact`` or ``brake``.
    leg : str
        Name of the leg; empty for the whole robot.
    text : str
        What happened, in words.
    """

    time: float
    kind: str
    leg: str
    text: str


class Watch(ABC):
    """Functions of a state whose change of sign is an event of one kind."""

    kind: str
    falling: bool = True
    once: bool = False
    """Whether only the first event of each number counts, also one that the start has already."""
    time: float = 0.0
    """Time [s] of the state that is looked at."""

    def __init__(self, action: Action) -> None:
        self.action = action

    def quiet(self, snapshot: Snapshot) -> bool:
        """Whether nothing can have happened, known at little cost."""
        return False

    @abstractmethod
    def values(self, snapshot: Snapshot) -> Array:
        """Numbers (k,), positive while nothing happens."""

    @abstractmethod
    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Leg and words for the event of one of the numbers, at the state where it happened."""


class LimitWatch(Watch):
    """Limited quantities of the legs: lengths, positions on rails, cones of joints; angles by their cosine."""

    kind = "limit"
    stopped = False

    def __init__(self, action: Action, system: System) -> None:
        super().__init__(action)
        legs, held = system.mechanism.legs, _stopped_joints(system.mechanism)
        every = [(leg.name, limit) for leg in legs for limit in leg.placement.limits]
        self._own = [k for k, (leg, limit) in enumerate(every) if ((leg, limit.joint) in held) == self.stopped]
        self._limits = [every[k] for k in self._own]
        self._low, self._high = system.limit_ranges[self._own].T

    def quiet(self, snapshot: Snapshot) -> bool:
        """Whether no limit is reached."""
        return bool(snapshot.limit_margin > 0)

    def values(self, snapshot: Snapshot) -> Array:
        """How far each quantity is inside its range, low ends first."""
        limited = snapshot.limited[self._own]
        return np.concatenate([limited - self._low, self._high - limited])

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Which quantity reached which end."""
        count = len(self._limits)
        leg, limit = self._limits[number % count]
        if limit.angle:
            return leg, f"{limit.name} reaches {np.arccos(np.clip(self._low[number % count], -1, 1)):.6g} rad"
        end = self._low[number % count] if number < count else self._high[number % count]
        return leg, f"{limit.name} reaches {end:.6g} {limit.unit}"


class ClearanceWatch(Watch):
    """Distances between bodies, which must not fall below the robot file's ``clearance``."""

    kind = "limit"

    def __init__(self, action: Action, model: Model) -> None:
        super().__init__(action)
        self._model, self._limits = model, model.robot_limits.of_kind("clearance")
        self._bound = np.array([one.low * (1 - ROUNDING) for one in self._limits])

    def values(self, snapshot: Snapshot) -> Array:
        """How much more than required each pair is apart."""
        return self.distances(snapshot.pose, **snapshot.place)

    def distances(self, pose: Array, internal: Array | None = None) -> Array:
        """The same (..., k) at poses (..., 4, 4)."""
        return np.asarray(self._model.clearances.least(pose, internal=internal)) - self._bound

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Who comes near."""
        one = self._limits[number]
        return one.where, f"clearance falls to {one.low:.6g} m"


class OverloadWatch(Watch):
    """Limits of drives, motors and the platform: what is left of each, 1 - use, by the judge's own function."""

    kind = "overload"
    once = True
    acting: Acting
    base: BaseTrajectory | None = None

    def __init__(self, action: Action, model: Model, limits: RobotLimits, friction: bool) -> None:
        super().__init__(action)
        self._model, self._limits, self._friction = model, limits, friction
        self._call = Call(_uses_kernel(model, limits))
        needs = limits.needs
        self._changes, self._forces = bool({"qddot", "acceleration"} & needs), "force" in needs
        count = len(model.actuators)
        self._none, self._still = np.zeros(count), np.zeros(6 + len(model.internal))
        self._legs = np.zeros(1 + len(model.kernels.mechanism.limits))

    @property
    def count(self) -> int:
        """How many limits are watched."""
        return len(self._limits.limits)

    def values(self, snapshot: Snapshot) -> Array:
        """What is left of each limit."""
        force, qddot, acceleration = self._none, self._none, self._still
        twist, qdot = snapshot["twist"], snapshot["qdot"]
        if self._forces or self._changes:
            force, wrench = self.acting(self.time, snapshot)
        if self._changes:
            pose = snapshot.pose
            moving: dict[str, Any] = {} if self.base is None else dict(self.base.arguments(self.time))
            acceleration = self._model.direct_dynamics(
                pose, twist, force, wrench, self._friction, errors="nan", **moving, **snapshot.place
            )
            qddot = self._model.accelerations(pose, twist, acceleration, errors="nan", **snapshot.place)
        use = self._call(force, qdot, qddot, self._legs, twist[:6], acceleration[:6])[0]
        return (1 + _REACHED) - use[1:]

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Which limit is exceeded."""
        one = self._limits.limits[number]
        bound = "its curve" if one.kind == "force at speed" else f"{one.high:.6g} {one.unit}"
        return one.where, f"{one.quantity} exceeds {bound}"


def _uses_kernel(model: Model, limits: RobotLimits) -> Kernel:
    """What the page and the C code compute of a state too, for some limits; their bounds are constants of it."""
    data = [a.drive.force_speed for a in limits.actuators], limits.numbers["efficiency"].tolist()
    name = f"limit uses {limits.limits} {data} {fingerprint('limits').hex()}"
    return model.kernels.custom(name, lambda: uses_of_outputs(model.kernels.mechanism, limits))


def watched_limits(model: Model) -> tuple[RobotLimits, dict[str, str]]:
    """Limits that states of a simulation have, and the others of the robot file with the reason."""
    found, left = state_limits(model.robot_limits)
    if model.robot.flexible:
        bent = {"qddot", "acceleration", "clearance"}
        lost = {one.quantity: BENDS for one in found.limits if bent & set(KINDS[one.kind].needs)}
        found, left = found.only(lambda one: one.quantity not in lost), left | lost
    return found, left


class ContactWatch(LimitWatch):
    """Joints that reach their stop: elements of kind ``stop`` at the ends of their ranges."""

    kind = "contact"
    stopped = True


class StopWatch(Watch):
    """Stops with a range of their own, which joints reach."""

    kind = "contact"

    def __init__(self, action: Action, model: Model, stops: list[Stop]) -> None:
        super().__init__(action)
        self._model, self._stops = model, stops
        self._ranges = [np.atleast_2d(np.array(one.range, dtype=float)) for one in stops]

    def values(self, snapshot: Snapshot) -> Array:
        """How far each displacement is inside, low ends first of each stop."""
        found = self._model.elements(snapshot.pose, snapshot["twist"], errors="nan", **snapshot.place)
        parts = []
        for one, ends in zip(self._stops, self._ranges, strict=True):
            s = np.atleast_1d(found[one.name].displacement)
            parts += [s - ends[:, 0], ends[:, 1] - s]
        return np.concatenate(parts)

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Which stop is reached, and where."""
        for one, ends in zip(self._stops, self._ranges, strict=True):
            if number < ends.size:
                return one.joint.partition(".")[0], f"{one.joint} reaches {one.name} at {ends.T.ravel()[number]:.6g}"
            number -= ends.size
        raise IndexError(number)


def _stopped_joints(mechanism: Mechanism) -> set[tuple[str, str]]:
    """Joints (leg, joint) with a stop at the ends of their own range."""
    stops = [one for one in placed_elements(mechanism) if isinstance(one.element, Stop) and one.element.range is None]
    return {(mechanism.robot.legs[one.joint.leg].name, one.joint.name) for one in stops if one.joint is not None}


class BrakeWatch(Watch):
    """Actuated joints with an engaged brake, which come to rest."""

    kind = "brake"

    def __init__(self, action: Action, system: System, braked: list[tuple[int, str]]) -> None:
        super().__init__(action)
        self._which, self._names = [k for k, _ in braked], [name for _, name in braked]
        self._legs = [system.actuators[k].name for k in self._which]

    def values(self, snapshot: Snapshot) -> Array:
        """How much faster than at rest each joint is."""
        return np.abs(snapshot["qdot"][self._which]) - _RESTS

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Which brake holds."""
        return self._legs[number], f"{self._names[number]} has stopped the joint and holds it"


def _braked(mechanism: Mechanism) -> list[tuple[int, str]]:
    """Actuators whose joint has an engaged brake, with its name."""
    found = []
    for one in mechanism.robot.elements:
        if isinstance(one, Brake) and one.engaged:
            end = one.joint_end(mechanism.robot.legs)
            found += [(k, one.name) for k, (leg, a) in enumerate(mechanism.actuators) if (leg, a.joint) == end[:2]]
    return found


class SingularityWatch(Watch):
    """Distance to singularity (as ``polypod.Model.conditioning``) and margins of the legs, above a threshold.

    A distance is positive on both sides of a singularity: that one is passed between two states is seen by the sign of
    det J.
    """

    kind = "singularity"

    def __init__(self, action: Action, threshold: float, start: Snapshot) -> None:
        super().__init__(action)
        self._threshold = threshold
        self._side = -1.0 if start.determinant < 0 else 1.0

    def quiet(self, snapshot: Snapshot) -> bool:
        """The lower bound of the distance is large enough, and the robot is on the side where it started."""
        far = min(snapshot.singularity_bound, snapshot.margin) > self._threshold
        return bool(far and self._side * snapshot.determinant > 0)

    def values(self, snapshot: Snapshot) -> Array:
        """Distance and margin less the threshold, det J positive where the robot started."""
        singular = np.linalg.svd(snapshot.jacobian, compute_uv=False)
        distances = [singular[-1] - self._threshold, snapshot.margin - self._threshold]
        return np.array([*distances, self._side * snapshot.determinant])

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """How near, or that it was passed."""
        if number == 2:
            return "", "the robot passes a singularity: det J changes sign"
        what = ("distance to singularity", "smallest margin of a leg")[number]
        return "", f"{what} falls to {self._threshold:.6g}"


class ReversalWatch(Watch):
    """Rates of actuated joints with dry friction, which jumps where they change sign."""

    kind = "reversal"
    falling = False

    def __init__(self, action: Action, system: System) -> None:
        super().__init__(action)
        dry = np.flatnonzero([one for leg in system.mechanism.legs for one in dry_drives(leg)])
        self._which, self._legs = dry, [actuator.name for actuator in system.actuators]

    def quiet(self, snapshot: Snapshot) -> bool:
        """No joint has dry friction."""
        return not len(self._which)

    def values(self, snapshot: Snapshot) -> Array:
        """Rates; those of joints that friction holds are zero but for rounding."""
        rates: Array = snapshot["qdot"][self._which]
        rates[np.abs(rates) <= HELD_RATE] = 0.0  # a copy: taken by places
        return rates

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Name of the leg, and what happens to it."""
        return self._legs[self._which[number]], "the actuator changes direction and its friction changes sign"


def chosen_actions(wanted: Mapping[str, Action] | None, threshold: float) -> dict[str, Action]:
    """The action of every kind of event; what is not named keeps its default. ``threshold`` is checked too."""
    actions = dict(DEFAULTS)
    for kind, action in (wanted or {}).items():
        if kind not in DEFAULTS:
            raise UnknownNameError("event", kind, tuple(DEFAULTS))
        if action not in ACTIONS:
            raise InputError(f"events[{kind!r}]: one of {', '.join(ACTIONS)} is needed, got {action!r}")
        actions[kind] = action
    if not (np.isfinite(threshold) and threshold >= 0):
        raise InputError(f"singularity: a threshold of at least 0 is needed, got {threshold}")
    return actions


def make_watches(
    wanted: Mapping[str, Action] | None, system: System, friction: bool, threshold: float, start: Snapshot
) -> list[Watch]:
    """The watches for a choice of actions by kind; what is not named keeps its default."""
    actions = chosen_actions(wanted, threshold)
    watches: list[Watch] = []
    if actions["limit"] != "ignore":
        watches.append(LimitWatch(actions["limit"], system))
    watched, _ = watched_limits(system.model)
    if actions["limit"] != "ignore" and "clearance" in watched.kinds:
        watches.append(ClearanceWatch(actions["limit"], system.model))
    driven = watched.only(lambda one: KINDS[one.kind].of not in ("range", "pair"))
    if actions["overload"] != "ignore" and driven.limits:
        watches.append(OverloadWatch(actions["overload"], system.model, driven, friction))
    if actions["contact"] != "ignore" and _stopped_joints(system.mechanism):
        watches.append(ContactWatch(actions["contact"], system))
    own = [one for one in system.robot.elements if isinstance(one, Stop) and one.range is not None]
    if actions["contact"] != "ignore" and own:
        watches.append(StopWatch(actions["contact"], system.model, own))
    braked = _braked(system.mechanism) if friction else []
    if actions["brake"] != "ignore" and braked:
        watches.append(BrakeWatch(actions["brake"], system, braked))
    if actions["singularity"] != "ignore":
        watches.append(SingularityWatch(actions["singularity"], threshold, start))
    if actions["reversal"] != "ignore" and friction:
        watches.append(ReversalWatch(actions["reversal"], system))
    return watches


class EventDetector:
    """Remembers the signs of all watches and finds the events of each step in order of time.

    A step in which the platform, of a ``size`` [m], moves or turns far is looked at inside as well.
    """

    def __init__(self, watches: list[Watch], snapshot: Snapshot, size: float) -> None:
        self._watches, self._size, self._speed = watches, size, _speed(snapshot, size)
        # lists: there are a few numbers a step, for which arrays take ten times as long
        self._signs = [[_sign(value) for value in _start_values(watch, snapshot)] for watch in watches]
        self._positive = [[1] * len(signs) for signs in self._signs]

    def acts(self, acting: Acting, base: BaseTrajectory | None = None) -> None:
        """Tell the watches what acts on the robot at a time and state, and how its base moves."""
        for watch in self._watches:
            if isinstance(watch, OverloadWatch):
                watch.acting, watch.base = acting, base

    def events(self, step: Step) -> list[tuple[Event, Action, Snapshot]]:
        """Events within a step."""
        count = self._parts(step) if self._watches else 1
        if count == 1:
            return self._between(step, step.start, step.end, step.snapshot)
        times = [step.start, *(step.start + (step.end - step.start) * k / count for k in range(1, count)), step.end]
        found: list[tuple[Event, Action, Snapshot]] = []
        for low, high in pairwise(times):
            found += self._between(step, low, high, step.within(high) if high < step.end else step.snapshot)
        return found

    def _parts(self, step: Step) -> int:
        """In how many parts a step is looked at: the platform moves and turns by less than MAX_TRAVEL in each."""
        before, self._speed = self._speed, _speed(step.snapshot, self._size)
        parts = max(before, self._speed) * (step.end - step.start) / MAX_TRAVEL
        return int(min(max(np.ceil(parts), 1), MAX_PARTS)) if parts > 1 else 1

    def _between(self, step: Step, low: float, high: float, snapshot: Snapshot) -> list[tuple[Event, Action, Snapshot]]:
        """Events between two times of a step in order of time, with the state at the later one."""
        found: list[tuple[Event, Action, Snapshot]] = []
        for number, watch in enumerate(self._watches):
            watch.time = high
            if watch.quiet(snapshot):
                if watch.falling:
                    self._signs[number] = self._positive[number]
                continue
            array = watch.values(snapshot)
            if watch.falling and b"\0" not in (array > 0).tobytes():  # for a few numbers faster than all()
                if not watch.once:
                    self._signs[number] = self._positive[number]
                continue
            values, signs = array.tolist(), self._signs[number]
            for k, (value, old) in enumerate(zip(values, signs, strict=True)):
                if (old > 0 and not value > 0) if watch.falling else old * value < 0:
                    time, there = _locate(watch, k, step, (low, high), snapshot)
                    found.append((Event(time, watch.kind, *watch.describe(k, there)), watch.action, there))
            # a rate that starts from rest has no sign to change until it has moved
            now = [_sign(v) if v != 0.0 else old for v, old in zip(values, signs, strict=True)]
            self._signs[number] = [min(v, old) for v, old in zip(now, signs, strict=True)] if watch.once else now
        return sorted(found, key=lambda event: event[0].time) if found else found


def _start_values(watch: Watch, snapshot: Snapshot) -> list[float]:
    """Numbers of the start; of those whose first event counts none has happened yet."""
    if isinstance(watch, OverloadWatch):
        return [1.0] * watch.count
    values: list[float] = watch.values(snapshot).tolist()
    return values


def _sign(value: float) -> int:
    """1 or -1; 0 for zero and for what is not a number."""
    return (value > 0) - (value < 0)


def start_fault(watches: Sequence[Watch], start: Snapshot) -> str:
    """Which limit a start violates, in words; empty if none."""
    for watch in watches:
        if watch.once or watch.kind in ("contact", "brake") or not watch.falling:
            continue
        values = watch.values(start)
        if (~(values > 0)).any():
            leg, text = watch.describe(int(np.argmin(values > 0)), start)
            return f"the start violates the robot's limits: {f'{leg}: ' if leg else ''}{text}"
    return ""


def _speed(snapshot: Snapshot, size: float) -> float:
    """How fast the platform is [1/s]: the larger of its speed in sizes and its angular speed."""
    u, v, w, x, y, z, *_ = snapshot["twist"].tolist()
    return max(float((u * u + v * v + w * w) ** 0.5) / size, float((x * x + y * y + z * z) ** 0.5))


def _locate(
    watch: Watch, k: int, step: Step, between: tuple[float, float], snapshot: Snapshot
) -> tuple[float, Snapshot]:
    """When a number changes sign: by bracketing, to rounding of the time; ``snapshot`` is that at the later time."""
    from scipy.optimize import brentq

    def value(time: float) -> float:
        watch.time = time
        return float(watch.values(step.within(time))[k])

    low, high = between
    last, first = float(watch.values(snapshot)[k]), value(low)
    if watch.once and not first > 0:  # what acts has jumped
        return low, step.within(low)
    if not (np.isfinite(last) and first * last < 0):
        return high, snapshot
    time = float(brentq(value, low, high, xtol=1e-14 * max(1.0, high), rtol=1e-14))
    return time, step.within(time)
