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
    """One limit at its worst, in SI units.

    Attributes
    ----------
    quantity : str
        What is limited.
    where : str
        Actuator, leg or joint.
    value : float
        Value at its worst.
    allowed : float
        What is allowed.
    unit : str
        Unit of both.
    time : float or None
        When [s]; None if it is of the whole motion.
    use : float
        Share of what is allowed; 1 at the limit.
    kept : bool
        Whether the limit holds at the samples.
    least : bool
        Whether it is the lower end of a range.
    proven : bool
        Whether it holds at every instant.
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
    """Limited quantities of a batch of states: their values, what is allowed, and the use of each limit.

    The use is 1 where a limit is reached: abs(value)/high for a force, the distance from the middle divided by half the
    width for a range, the angle divided by the half angle for a cone, low/value for what must not be less.

    Attributes
    ----------
    names : tuple of (str, str)
        Leg, actuator or joint, and quantity, of each of the k limits.
    value : ndarray, shape (..., k)
        Values.
    low, high : ndarray, shape (k,) or (..., k)
        What is allowed; with leading axes where it depends on designs or states.
    units : tuple of str
        Units of the quantities.
    quantities : tuple of str
        What the verdict calls the quantities.
    kinds : tuple of str
        Their kinds in ``polypod.limits.KINDS``.
    sides : tuple of str
        Which side of each quantity is limited.
    given_use : ndarray, shape (..., k), or None
        Uses, where they do not follow from values and bounds.
    whole : ndarray of bool, shape (k,)
        Limits of a whole motion, whose values are the same in all its states.
    left_out : mapping of str to str
        Limits that were not judged, and why.
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
        """Report from the limited quantities of a kernel, in which angles are cosines.

        Parameters
        ----------
        mechanism : Mechanism
            The robot in symbols.
        values : ndarray, shape (..., k)
            Limited quantities.
        ranges : ndarray, shape (..., k, 2), optional
            Ranges of designs. Default: the robot's.

        Returns
        -------
        LimitReport
            The report, in lengths and angles.
        """
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
        """Largest use of each quantity.

        Returns
        -------
        dict of str to float
            Uses by quantity; 1 at the limit.
        """
        return {name: float(np.max(self[name], initial=0.0)) for name in dict.fromkeys(self.quantities)}

    def uses(self, time: Array | None = None) -> list[LimitUse]:
        """Every limit at its worst over all states.

        Parameters
        ----------
        time : ndarray, shape (n,), optional
            Times of the states along their last axis [s].

        Returns
        -------
        list of LimitUse
            The limits.
        """
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
        """One sentence for each limit that is exceeded in any state, at its worst.

        Parameters
        ----------
        which : callable, optional
            Names a state from its index.

        Returns
        -------
        list of str
            The sentences.
        """
        sentences = []
        states = int(np.prod(self.value.shape[:-1], dtype=int))
        values, low, high, use = (
            np.broadcast_to(v, self.value.shape).reshape(states, len(self.names))
            for v in (self.value, self.low, self.high, self.use)
        )
        inside = np.broadcast_to(self.inside, self.value.shape).reshape(states, len(self.names))
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
