"""Events: a limit reached, a singularity approached, a joint that turns about; found between steps and located."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, UnknownNameError
from ..friction.joints import friction_of
from .dynamics import scaled_basis
from .integrators import Step
from .snapshot import Snapshot
from .system import System

Array = NDArray[np.float64]
Action = Literal["stop", "log", "ignore"]
ACTIONS = ("stop", "log", "ignore")
DEFAULTS: dict[str, Action] = {"limit": "stop", "singularity": "stop", "reversal": "log"}


class Event(NamedTuple):
    """Something that happened: when [s], which kind, at which leg (empty: the whole robot), and what in words."""

    time: float
    kind: str
    leg: str
    text: str


class Watch(ABC):
    """Functions of a state whose change of sign is an event of one kind."""

    kind: str
    falling: bool = True

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
    """Lengths, rail places and cones of the legs that the robot limits; angles by their cosine."""

    kind = "limit"

    def __init__(self, action: Action, system: System) -> None:
        super().__init__(action)
        legs = system.mechanism.legs
        self._limits = [(leg.name, limit) for leg in legs for limit in leg.placement.limits]
        self._low, self._high = system.mechanism.limit_ranges.T

    def quiet(self, snapshot: Snapshot) -> bool:
        """No limit is reached."""
        return bool(snapshot.limit_margin > 0)

    def values(self, snapshot: Snapshot) -> Array:
        """How far each quantity is inside its range, low ends first."""
        return np.concatenate([snapshot.limited - self._low, self._high - snapshot.limited])

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Which quantity reached which end."""
        count = len(self._limits)
        leg, limit = self._limits[number % count]
        if limit.angle:
            return leg, f"{limit.name} reaches {np.arccos(np.clip(self._low[number % count], -1, 1)):.6g} rad"
        end = self._low[number % count] if number < count else self._high[number % count]
        return leg, f"{limit.name} reaches {end:.6g} {limit.unit}"


class SingularityWatch(Watch):
    """Distance to singularity (as :meth:`polypod.Model.conditioning`) and margins of the legs, above a threshold."""

    kind = "singularity"

    def __init__(self, action: Action, system: System, threshold: float, size: float) -> None:
        super().__init__(action)
        self._basis, self._threshold = scaled_basis(system.freedoms, size), threshold

    def quiet(self, snapshot: Snapshot) -> bool:
        """The lower bound of the distance is large enough."""
        return bool(min(snapshot.singularity_bound, snapshot.margin) > self._threshold)

    def values(self, snapshot: Snapshot) -> Array:
        """Distance and margin less the threshold."""
        singular = np.linalg.svd(snapshot.jacobian @ self._basis, compute_uv=False)
        return np.array([singular[-1] - self._threshold, snapshot.margin - self._threshold])

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """How near."""
        what = ("distance to singularity", "smallest margin of a leg")[number]
        return "", f"{what} falls to {self._threshold:.6g}"


class ReversalWatch(Watch):
    """Rates of actuated joints with dry friction, which jumps where they change sign."""

    kind = "reversal"
    falling = False

    def __init__(self, action: Action, system: System) -> None:
        super().__init__(action)
        legs = system.mechanism.legs
        driven = [(legs[number], actuator.joint) for number, actuator in system.mechanism.actuators]
        frictions = [friction_of(leg, leg.placement.joint(name)) for leg, name in driven]
        dry = [number for number, friction in enumerate(frictions) if friction.dry]
        self._which, self._legs = np.array(dry, dtype=int), [actuator.name for actuator in system.actuators]

    def quiet(self, snapshot: Snapshot) -> bool:
        """No joint has dry friction."""
        return not len(self._which)

    def values(self, snapshot: Snapshot) -> Array:
        """Rates."""
        rates: Array = snapshot["qdot"][self._which]
        return rates

    def describe(self, number: int, snapshot: Snapshot) -> tuple[str, str]:
        """Which leg."""
        return self._legs[self._which[number]], "the actuator changes direction and its friction changes sign"


def chosen(
    wanted: Mapping[str, Action] | None, system: System, friction: bool, threshold: float, size: float
) -> list[Watch]:
    """The watches for a choice of actions by kind; what is not named keeps its default."""
    actions = dict(DEFAULTS)
    for kind, action in (wanted or {}).items():
        if kind not in DEFAULTS:
            raise UnknownNameError("event", kind, tuple(DEFAULTS))
        if action not in ACTIONS:
            raise InputError(f"events[{kind!r}]: one of {', '.join(ACTIONS)} is needed, got {action!r}")
        actions[kind] = action
    if not (np.isfinite(threshold) and threshold >= 0):
        raise InputError(f"singularity: a threshold of at least 0 is needed, got {threshold}")
    watches: list[Watch] = []
    if actions["limit"] != "ignore":
        watches.append(LimitWatch(actions["limit"], system))
    if actions["singularity"] != "ignore":
        watches.append(SingularityWatch(actions["singularity"], system, threshold, size))
    if actions["reversal"] != "ignore" and friction:
        watches.append(ReversalWatch(actions["reversal"], system))
    return watches


class EventDetector:
    """Remembers the signs of all watches and finds the events of each step in order of time."""

    def __init__(self, watches: list[Watch], snapshot: Snapshot) -> None:
        self._watches = watches
        self._signs = [np.sign(watch.values(snapshot)) for watch in watches]
        self._positive = [np.ones_like(signs) for signs in self._signs]

    def events(self, step: Step) -> list[tuple[Event, Action, Snapshot]]:
        """Events within a step."""
        found = []
        for number, watch in enumerate(self._watches):
            if watch.quiet(step.snapshot):
                if watch.falling:
                    self._signs[number] = self._positive[number]
                continue
            old, values = self._signs[number], watch.values(step.snapshot)
            new = np.where(values == 0.0, old, np.sign(values))
            changed = (old > 0) & ~(values > 0) if watch.falling else (old * new < 0)
            for k in np.flatnonzero(changed).tolist():
                time, snapshot = _located(watch, k, step)
                found.append((Event(time, watch.kind, *watch.describe(k, snapshot)), watch.action, snapshot))
            # a rate that starts from rest has no sign to change until it has moved
            self._signs[number] = new
        return sorted(found, key=lambda event: event[0].time)


def _located(watch: Watch, k: int, step: Step) -> tuple[float, Snapshot]:
    """When a number changes sign: by bracketing, to rounding of the time."""
    from scipy.optimize import brentq

    def value(time: float) -> float:
        return float(watch.values(step.within(time))[k])

    low, high = step.start, step.end
    first, last = value(low), value(high)
    if not (np.isfinite(last) and first * last < 0):
        return high, step.snapshot
    time = float(brentq(value, low, high, xtol=1e-14 * max(1.0, high), rtol=1e-14))
    return time, step.within(time)
