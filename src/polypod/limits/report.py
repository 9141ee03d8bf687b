"""What the judge says: how much of every limit states or a motion use, whether it holds, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..mechanism import Mechanism

ROUNDING = 1e-12
"""Relative rounding with which a limit that is reached counts as kept; ranges of legs and joints count exactly."""


def holds(use: Array | float) -> NDArray[np.bool_]:
    """Whether limits are kept at these uses; one that is not a number is not."""
    return np.asarray(np.asarray(use) <= 1 + ROUNDING)


@dataclass(frozen=True)
class LimitUse:
    """One limit at its worst: what is asked where and when (None: over the whole motion), and what is allowed.

    ``use`` is a share of what is allowed, 1 at the limit; ``kept`` says whether the limit holds at the samples;
    ``least`` that it is the low end of a range; ``proven`` that it holds at every instant. SI units.
    """

    quantity: str
    where: str
    value: float
    allowed: float
    unit: str
    time: float | None
    use: float
    kept: bool
    least: bool = False
    proven: bool = False


@dataclass(frozen=True)
class LimitReport:
    """Limited quantities of a batch of states: which, how much, how much is allowed, and the use of each limit.

    ``names`` are (leg, actuator or joint; quantity). ``value`` and ``use`` are (..., k), ``low`` and ``high`` (k,) or
    (..., k) where they depend on designs or states, ``units`` k texts. A limit is used by 1 where it is reached: of a
    force |value|/high, of a range the distance from its middle over half of it, of a cone the angle over the half
    angle, of what must not be less low/value. ``quantities`` are what the verdict calls them, ``kinds`` those of
    ``polypod.limits.KINDS``. ``whole`` (k,) are limits of a whole motion: their values are the same in all its states.
    ``left_out`` are limits that were not judged, and why.
    """

    names: tuple[tuple[str, str], ...]
    value: Array
    low: Array
    high: Array
    units: tuple[str, ...]
    quantities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()
    given_use: Array | None = None
    whole: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    left_out: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(mechanism: Mechanism, values: Array, ranges: Array | None = None) -> LimitReport:
        """From the limited quantities (..., k) of a kernel, angles as cosines; ``ranges`` (..., k, 2) of designs."""
        limits = mechanism.limits
        low, high = np.moveaxis(mechanism.limit_ranges if ranges is None else ranges, -1, 0).copy()
        angles = np.array([limit.angle for _, limit in limits], dtype=bool)
        reported = values.copy()
        reported[..., angles] = np.arccos(np.clip(values[..., angles], -1.0, 1.0))
        low[..., angles], high[..., angles] = 0.0, np.arccos(low[..., angles])
        names = tuple((leg, limit.name) for leg, limit in limits)
        return LimitReport(names, reported, low, high, tuple(limit.unit for _, limit in limits))

    def __post_init__(self) -> None:
        """Without kinds they are ranges and cones, by their names."""
        if self.kinds or not self.names:
            return
        cones = [name.endswith("cone") for _, name in self.names]
        labels = tuple(name if cone else f"{name} range" for (_, name), cone in zip(self.names, cones, strict=True))
        self.__dict__.update(
            kinds=tuple("cone" if cone else "range" for cone in cones), quantities=labels,
            sides=tuple("up" if cone else "range" for cone in cones), whole=np.zeros(len(self.names), dtype=bool),
        )  # fmt: skip

    @cached_property
    def use(self) -> Array:
        """Shares (..., k) of the limits that are used, 1 where one is reached."""
        if self.given_use is not None:
            return self.given_use
        return used(self.value, self.low, self.high, self.sides)

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each limit (..., k) is kept; a value that is not a number is not."""
        exact = (self.value >= self.low) & (self.value <= self.high)
        of_legs = np.array([kind in ("range", "cone") for kind in self.kinds] or [True] * len(self.names), dtype=bool)
        return exact if of_legs.all() else np.where(of_legs, exact, holds(self.use))

    @property
    def ok(self) -> bool:
        """Whether every limit is kept in every state."""
        return bool(self.inside.all())

    def __getitem__(self, quantity: str) -> Array:
        """Uses (..., k) of all limits of a quantity, such as ``force`` or ``length range``."""
        return self.use[..., [k for k, name in enumerate(self.quantities) if name == quantity]]

    def largest(self) -> dict[str, float]:
        """The largest use of each quantity."""
        return {name: float(np.max(self[name], initial=0.0)) for name in dict.fromkeys(self.quantities)}

    def uses(self, time: Array | None = None) -> list[LimitUse]:
        """Every limit at its worst over all states; ``time`` (n,) is that of the states along their last axis."""
        count = len(self.names)
        if not count:
            return []
        value, low, high, use, inside = (
            np.broadcast_to(part, self.value.shape).reshape(-1, count)
            for part in (self.value, self.low, self.high, self.use, self.inside)
        )
        found = []
        for k, (where, _) in enumerate(self.names):
            worst = np.where(np.isnan(use[:, k]), np.inf, use[:, k])
            at = int(worst.argmax()) if len(worst) else 0
            when = None if time is None or self.whole[k] else float(time[at % len(time)])
            asked, side = float(value[at, k]), self.sides[k]
            under = side == "least" or (side == "range" and asked < 0.5 * (low[at, k] + high[at, k]))
            allowed = float(low[at, k] if under else high[at, k])
            found.append(
                LimitUse(self.quantities[k], where, abs(asked) if side == "size" else asked, allowed, self.units[k],
                         when, float(use[at, k]), bool(inside[:, k].all()), bool(under))
            )  # fmt: skip
        return found

    def violations(self, which: Callable[[int], str] = "state {}".format) -> list[str]:
        """A sentence for each limit that is exceeded in any state, at its worst; ``which`` names a state."""
        sentences = []
        states = int(np.prod(self.value.shape[:-1], dtype=int))
        values, low, high, use, inside = (
            np.broadcast_to(v, self.value.shape).reshape(states, len(self.names))
            for v in (self.value, self.low, self.high, self.use, self.inside)
        )
        for k, (leg, quantity) in enumerate(self.names):
            if inside[:, k].all():
                continue
            ends = self.sides[k] == "range" or self.kinds[k] == "cone"
            over = np.fmax(low[:, k] - values[:, k], values[:, k] - high[:, k]) if ends else use[:, k]
            state = int(np.where(np.isnan(values[:, k]), np.inf, over).argmax())
            where = f" ({which(state)})" if self.value.ndim > 1 and not self.whole[k] else ""
            unit = f" {self.units[k]}" if self.units[k] else ""
            if ends:
                beyond = f"is outside {low[state, k]:.6g} to {high[state, k]:.6g}{unit}"
            elif self.sides[k] == "least":
                beyond = f"is below the {low[state, k]:.6g}{unit} required"
            else:
                beyond = f"exceeds the {high[state, k]:.6g}{unit} allowed"
            sentences.append(f"{leg}: {quantity} {values[state, k]:.6g}{unit} {beyond}{where}")
        return sentences


def used(value: Array, low: Array, high: Array, sides: Sequence[str]) -> Array:
    """Shares (..., k) of limits by their sides; see ``polypod.limits.Kind``."""
    side = np.array(sides, dtype="U5")
    with np.errstate(divide="ignore", invalid="ignore"):
        half = 0.5 * (high - low)
        in_range = np.abs(value - 0.5 * (low + high)) / half
        found = np.where(side == "range", in_range, np.where(side == "size", np.abs(value), value) / high)
        return np.asarray(np.where(side == "least", low / np.where(value > 0, value, 0.0), found))


# ----------------------------------------------------------------------------------------------------------------------
# The sentence that says that all limits are kept: the same everywhere, with what was not given and not judged.


def within_all(count: int, not_given: Iterable[str] = (), left_out: Mapping[str, str] | None = None) -> str:
    """The sentence "within all N limits", and what the file gives no limit for, and what was left out and why.

    Examples
    --------
    >>> within_all(12, ["power"], {"bearing": "needs a motion"})
    'within all 12 limits (no limit given for: power; not judged: bearing (needs a motion))'
    """
    missing = list(not_given)
    parts = [f"no limit given for: {', '.join(missing)}"] * bool(missing)
    parts += [f"not judged: {left_out_text(left_out)}"] * bool(left_out)
    more = f" ({'; '.join(parts)})" if parts else ""
    return f"within {'all ' if count != 1 else 'the '}{f'{count} limits' if count != 1 else 'only limit'}{more}"


def left_out_text(left_out: Mapping[str, str] | None) -> str:
    """Limits that were not judged with the reasons, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in (left_out or {}).items():
        by_reason.setdefault(reason, []).append(name)
    return "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())
