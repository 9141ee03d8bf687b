"""What a motion asks of a robot at most, at every instant: proven bounds of forces, powers, speeds and the rest.

Intervals of time, first those between samples, are bounded by first-order models (:mod:`.motion_models`); one whose
bounds do not yet decide is cut, into k parts of which k^2 times as much is known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...description.curve import curve_use
from ...errors import InputError
from ...legs.contract import SMALLEST_MARGIN
from ...model import Model
from ...motion import Task
from .linear_models import LinearModels
from .motion_models import MotionModels
from .verdict import in_ranges

_INSTANT = {"force": "max_force", "force at speed": "force_speed", "speed": "max_speed",
            "acceleration": "max_acceleration", "power": "max_power"}  # fmt: skip
"""What is limited at every instant, and the field of a drive that limits it."""
_FIRST, _MOST, _AT_ONCE = 2_000, 16_000, 2_000
"""Intervals at first, at most, and gone through at once."""
_ITERATIONS, _TIGHTEN = 8, 3
"""Rounds of cutting: to decide a limit, and only to tighten bounds towards what is reached."""
_CLOSE, _SHARE = 1.01, 0.005
_PARTS, _TOGETHER = (4, 64), 1_000
"""Parts that an interval is cut into: more where few are left, as long as they make up so many intervals together."""
_REACHED = 1e-9
"""Relative rounding with which a limit that is reached counts as kept."""
_SLACK = 1e-12


class MotionBounds(NamedTuple):
    """Of every actuator (a,), by name of the quantity: ``upper_bound`` is what it is at most, proven; ``observed`` what
    it was somewhere, and ``time`` when [s]. Quantities: force, force at speed (use of the drive's curve), speed,
    acceleration and power as sizes, continuous force (root of the mean square), stroke.

    ``certain``: legs close, keep their limits and stay off singular poses at every instant; where that is not proven,
    ``open`` are times [s] in its intervals.
    """

    upper_bound: dict[str, Array]
    observed: dict[str, Array]
    time: dict[str, Array]
    certain: bool
    open: Array
    intervals: int


class _TimeIntervals(NamedTuple):
    """Intervals (n,) in any order, and what is known of them (n, a); those that are ``out`` break limits half-way."""

    low: Array
    high: Array
    upper_bound: dict[str, Array]
    observed: dict[str, Array]
    force: LinearModels
    coordinate: tuple[Array, Array]
    certain: NDArray[np.bool_]
    out: NDArray[np.bool_]

    @property
    def middle(self) -> Array:
        return 0.5 * (self.low + self.high)

    def only(self, which: NDArray[np.bool_]) -> _TimeIntervals:
        """Some of the intervals."""
        upper_bound, observed = (
            {name: of[which] for name, of in given.items()} for given in (self.upper_bound, self.observed)
        )
        ends = self.coordinate[0][which], self.coordinate[1][which]
        return _TimeIntervals(
            self.low[which],
            self.high[which],
            upper_bound,
            observed,
            self.force[which],
            ends,
            self.certain[which],
            self.out[which],
        )


def bound_motion(model: Model, task: Task, friction: bool = True) -> MotionBounds:
    """Bounds of a robot along a motion and its wrench, whatever the rate of its samples; its platform unbent.

    An InputError says what of the robot or the motion has no bounds: legs closed by iterating, functions of a
    program's own. Intervals are cut until they show that every limit of the drives holds, or that it is broken, or
    there are 16,000 of them.
    """
    bounder = _MotionBounder(model, task, friction)
    edges = bounder.edges()
    left = bounder.rows(edges[:-1], edges[1:])
    done: list[_TimeIntervals] = []
    count = len(left.low)
    for round_ in range(_ITERATIONS):
        bounder.record(left)
        open_ = bounder.undecided(left, tighten=round_ < _TIGHTEN)
        parts = int(np.clip(_TOGETHER // max(open_.sum(), 1), *_PARTS))
        count += parts * int(open_.sum())
        if not open_.any() or count > _MOST:
            break
        done.append(left.only(~open_))
        cut = np.linspace(left.low[open_], left.high[open_], parts + 1)
        left = bounder.rows(cut[:-1].ravel(), cut[1:].ravel())
    return bounder.result([*done, left])


class _MotionBounder:
    """Bounds of intervals of one motion, and what was seen at their middles so far."""

    def __init__(self, model: Model, task: Task, friction: bool) -> None:
        if task.trajectory is None:
            raise InputError("bare arrays have nothing between them")
        wrench, loaded = task.described_wrench, task.load is not None or task.wrench is not None
        if loaded and not (wrench is not None and wrench.piecewise_linear):
            raise InputError("the wrench is a function of a program's own, of which there are no bounds")
        self.model, self.task, self.trajectory, self.friction = model.rigid, task, task.trajectory, friction
        self.wrench = wrench
        self.models = MotionModels(self.model, friction)
        mechanism = self.model.kernels.mechanism
        self.ranges = mechanism.limit_ranges
        self.angles = np.array([limit.angle for _, limit in mechanism.limits], dtype=bool)
        self.sign = self.models.sign(model.robot.home.matrix)
        drives = [actuator.drive for actuator in model.actuators]
        self.curves = [None if drive.force_speed is None else np.array(drive.force_speed) for drive in drives]
        self.allowed = {
            name: np.array([_limit(name, getattr(drive, field)) for drive in drives]) * (1 + _REACHED)
            for name, field in _INSTANT.items()
        }
        self.continuous = np.array([_limit("", drive.rms_force) for drive in drives])
        self.observed = {name: np.zeros(len(drives)) for name in _INSTANT}
        self.time = {name: np.zeros(len(drives)) for name in _INSTANT}
        self.reached = np.full(len(drives), np.inf), np.full(len(drives), -np.inf)

    def edges(self) -> Array:
        """Ends of the first intervals: samples, as many as there is time for, and all ends of smooth pieces."""
        duration, pieces = self.trajectory.duration, self.trajectory.pieces
        breaks = np.zeros(0) if self.wrench is None else self.wrench.breaks
        needed = np.concatenate([pieces[:, 0], pieces[:, 1], breaks[(breaks > 0) & (breaks < duration)]])
        step = -(-len(self.task.time) // _FIRST)
        edges = np.unique(np.clip(np.concatenate([needed, self.task.time[::step], [0.0, duration]]), 0.0, duration))
        # what is nearer than rounding to another is the same time; the next interval reaches over it
        return edges[np.concatenate([[True], np.diff(edges) > 1e-12 * duration])]

    def rows(self, low: Array, high: Array) -> _TimeIntervals:
        """Bounds over intervals (n,)."""
        parts = [
            self._rows(low[k : k + _AT_ONCE], high[k : k + _AT_ONCE]) for k in range(0, max(len(low), 1), _AT_ONCE)
        ]
        return _joined(parts)

    def _rows(self, low: Array, high: Array) -> _TimeIntervals:
        t = 0.5 * (low + high)
        half = np.maximum(high - t, t - low) * (1 + _SLACK) + _SLACK * self.trajectory.duration
        expansion = self.trajectory.expansion(t, half)
        if expansion is None:
            raise InputError("the motion is a function of which no derivatives are known")
        motion = self.trajectory.at(t)
        found = self.models.over(expansion, self.wrench, t, half, motion.pose)
        wrench = None if self.wrench is None else self.wrench.at(motion)
        force = self.model.inverse_dynamics(*motion[1:], wrench, self.friction, errors="nan")
        with np.errstate(invalid="ignore", over="ignore"):
            power = found.force * found.qdot
            upper_bound = {
                "force": found.force.upper_bound,
                "speed": found.qdot.upper_bound,
                "acceleration": found.qddot.upper_bound,
            }
            upper_bound |= {
                "power": power.upper_bound,
                "force at speed": self._shares(found.force.upper_bound, found.qdot.upper_bound),
            }
            speed = found.qdot.middle
            observed = {"force": np.abs(force), "speed": np.abs(speed), "acceleration": np.abs(found.qddot.middle)}
            observed |= {"power": np.abs(force * speed), "force at speed": self._shares(force, speed)}
            self._agree(found.q.middle, motion.pose, upper_bound["force"], observed["force"])
            kept, _ = in_ranges(*found.values.ends, self.ranges, self.angles)
            certain = kept & (found.margins.ends[0] > SMALLEST_MARGIN).all(axis=1) & (found.sign == self.sign)
            _, out = in_ranges(found.values.middle, found.values.middle, self.ranges, self.angles)
            out |= ~(found.margins.middle > SMALLEST_MARGIN).all(axis=1)
        return _TimeIntervals(low, high, upper_bound, observed, found.force, found.q.ends, certain, out)

    def _shares(self, force: Array, speed: Array) -> Array:
        """Use (n, a) of the drives' curves, which grows with force and with speed; zero without a curve."""
        columns = [
            np.zeros(len(force)) if curve is None else _use(curve, speed[:, k], force[:, k])
            for k, curve in enumerate(self.curves)
        ]
        return np.stack(columns, axis=1)

    def _agree(self, q: Array, pose: Array, upper_bound: Array, observed: Array) -> None:
        """Bounds and compiled functions are built apart: where they contradict each other nothing is proven."""
        own = self.model.inverse_kinematics(pose, errors="nan")
        off = np.abs(q - own) > 1e-9 * (1 + np.abs(own))
        if off.any() or (observed > upper_bound * (1 + 1e-9)).any():
            raise InputError(
                f"bounds and values of motion {self.task.name!r} contradict each other: its formula is not what it does"
            )

    def record(self, rows: _TimeIntervals) -> None:
        """Keep the largest values at the middles of intervals so far, when they were, and the range of coordinates."""
        for name, values in rows.observed.items():
            best = np.where(np.isnan(values), -1.0, values).argmax(axis=0)
            largest = values[best, np.arange(values.shape[1])]
            more = largest > self.observed[name]
            self.observed[name] = np.where(more, largest, self.observed[name])
            self.time[name] = np.where(more, rows.middle[best], self.time[name])
        half_way = 0.5 * (rows.coordinate[0] + rows.coordinate[1])
        self.reached = (
            np.fmin(self.reached[0], np.fmin.reduce(half_way)),
            np.fmax(self.reached[1], np.fmax.reduce(half_way)),
        )

    def undecided(self, rows: _TimeIntervals, tighten: bool) -> NDArray[np.bool_]:
        """Intervals (n,) of which it is worth to know more; with ``tighten`` also such as only make bounds wide."""
        open_ = ~rows.certain
        for name, values in rows.upper_bound.items():
            observed, allowed = self.observed[name], self.allowed[name]
            near = _CLOSE * observed + 1e-9 * observed.max(initial=0.0) if tighten else np.full_like(observed, np.inf)
            wanted = np.where(observed > allowed, near, np.minimum(near, np.maximum(allowed, observed)))
            # what a limit leaves is enough where it is not far
            wanted = np.where((allowed > observed) & (allowed < _CLOSE * observed), allowed, wanted)
            open_ |= ~(values <= wanted).all(axis=1)
        if tighten:
            low, high = self.reached
            more = _SHARE * (high - low)
            open_ |= ((rows.coordinate[0] < low - more) | (rows.coordinate[1] > high + more)).any(axis=1)
            # what is not known of the mean square's root is at most the mean of this
            open_ |= (rows.force.remainder > _SHARE * self.continuous).any(axis=1)
        return ~rows.out & open_

    def result(self, parts: list[_TimeIntervals]) -> MotionBounds:
        """Bounds over the whole motion from those of its intervals."""
        rows = _joined(parts)
        self.record(rows)
        upper_bound = {name: values.max(axis=0) for name, values in rows.upper_bound.items()}
        force, span = rows.force, (rows.high - rows.low)[:, None]
        # of c + g s the mean square is c^2 + g^2/3; what is left moves its root by no more than itself (Minkowski)
        square = (np.sqrt(force.middle**2 + force.slope**2 / 3) + force.remainder) ** 2
        upper_bound["continuous force"] = np.sqrt((square * span).sum(axis=0) / span.sum()) * (1 + 1e-9)
        upper_bound["stroke"] = rows.coordinate[1].max(axis=0) - rows.coordinate[0].min(axis=0)
        return MotionBounds(
            upper_bound,
            self.observed,
            self.time,
            bool(rows.certain.all()),
            np.sort(rows.middle[~rows.certain]),
            len(rows.low),
        )


def _limit(name: str, value: object) -> float:
    if value is None:
        return float("inf")
    return 1.0 if name == "force at speed" else float(value)  # type: ignore[arg-type]


def _use(curve: Array, speed: Array, force: Array) -> Array:
    known = np.isfinite(speed) & np.isfinite(force)
    use = curve_use(curve, np.where(known, speed, 0.0), np.where(known, force, 0.0))
    return np.where(known, use, np.nan)


def _joined(parts: list[_TimeIntervals]) -> _TimeIntervals:
    def all_of(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    upper_bound, observed = (
        {k: np.concatenate([getattr(p, of)[k] for p in parts]) for k in _INSTANT} for of in ("upper_bound", "observed")
    )
    force = LinearModels(
        *(np.concatenate([getattr(p.force, of) for p in parts]) for of in ("middle", "slope", "remainder"))
    )
    ends = tuple(np.concatenate([p.coordinate[k] for p in parts]) for k in range(2))
    return _TimeIntervals(
        all_of("low"),
        all_of("high"),
        upper_bound,
        observed,
        force,
        (ends[0], ends[1]),
        all_of("certain"),
        all_of("out"),
    )
