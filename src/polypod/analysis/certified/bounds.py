"""What a motion asks of a robot at most, at every instant: proven bounds of forces, powers, speeds and the rest.

Intervals of time, first those between samples, are bounded by first-order models (``.motion_models``); one whose
bounds do not yet decide is cut, into k parts of which k^2 times as much is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...description.poses import displacement
from ...errors import InputError
from ...formulations.dry_friction import load_parts
from ...formulations.newton_euler import has_closed_form, joint_wrenches, platform_balance
from ...formulations.virtual_power import State
from ...friction import Loads, has_dry_friction, has_friction
from ...friction.laws import Exact, Smooth
from ...legs.contract import SMALLEST_MARGIN
from ...limits import DRIVE_KINDS, KINDS, curve_use
from ...mechanism import Mechanism
from ...model import Distribution, Model
from ...motion import Task
from ...motion.contract import MotionExpansion
from ...motion.wrench import Wrench
from ...platforms import ConstrainedState, Inputs, PlatformState
from ...platforms.motion import frame_of, pose_of
from ...symbols.expression import Port
from ...symbols.graph import Graph
from ...symbols.vectors import norm
from .affine import Affine, LinearModels, constant, evaluate_affine, majorant, solve
from .displaced import displaced, followed, with_twists
from .equations import Symbols, symbols_of
from .intervals import in_ranges

_INSTANT = tuple(name for name in DRIVE_KINDS if KINDS[name].over == "instant")
"""What of drives is limited at every instant."""
_OF_MOTORS = ("motor torque", "motor speed")
"""Of these bounds need be no closer than limits ask: they follow from those of forces, speeds and accelerations."""
_FIRST, _MOST, _AT_ONCE = 2_000, 16_000, 2_000
"""Intervals at first, at most, and gone through at once."""
_ITERATIONS, _TIGHTEN = 8, 3
"""Rounds of cutting: to decide a limit, and only to tighten bounds towards what is reached."""
_CLOSE, _SHARE = 1.01, 0.005
_BUDGETED, _WORK = 250, 20_000_000
"""Intervals gone through at once where the time is limited: so few at least, and so many times the operations of one
at most, about a second's."""
_PARTS, _TOGETHER = (4, 64), 1_000
"""Parts that an interval is cut into: more where few are left, as long as they make up so many intervals together."""
_REACHED = 1e-9
"""Relative rounding with which a limit that is reached counts as kept."""
_SLACK = 1e-12


class MotionBounds(NamedTuple):
    """Bounds of every actuator along a motion, by name of the quantity.

    Quantities are force, force at speed (use of the drive's curve), speed, acceleration, power, motor torque and motor
    speed as magnitudes, continuous force and continuous motor torque (rms), and stroke.

    Attributes
    ----------
    upper_bound : dict of str to ndarray, shape (a,)
        Proven upper bound for each actuator.
    observed : dict of str to ndarray, shape (a,)
        Largest value found.
    time : dict of str to ndarray, shape (a,)
        When it was found [s].
    certain : bool
        Whether the legs close, keep their limits and stay off singular poses at every instant.
    open : ndarray
        Times [s] in intervals where that is not proven.
    intervals : int
        Number of time intervals examined.
    """

    upper_bound: dict[str, Array]
    observed: dict[str, Array]
    time: dict[str, Array]
    certain: bool
    open: Array
    intervals: int


class BudgetError(InputError):
    """The time for a proof is over."""


class Budget:
    """Seconds from now that a proof may take; None: any."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self._end = seconds, None if seconds is None else monotonic() + seconds

    def check(self) -> None:
        """Raise if they are over."""
        if self._end is not None and monotonic() > self._end:
            raise BudgetError(f"the proof took more than the {self.seconds:g} s that it may take")


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


def bound_motion(
    model: Model,
    task: Task,
    friction: bool = True,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> MotionBounds:
    """Rigorous bounds of the actuators along a motion and its wrench, whatever its sampling rate.

    The platform is taken as rigid. Intervals are halved until they show that every limit of the drives holds or is
    broken, or there are 16,000 of them.

    Parameters
    ----------
    model : Model
        Model of the robot.
    task : Task
        Motion and wrench.
    friction : bool, optional
        Whether friction in the joints is included.
    seconds : float, optional
        Computing time after which the proof is given up [s]. Default: no limit.
    progress : callable, optional
        Called with a text on how far it came.

    Returns
    -------
    MotionBounds
        Upper bounds and largest observed values.

    Raises
    ------
    InputError
        If robot or motion have no bounds: legs closed by iteration, user-defined functions; or if the time is over.
    """
    bounder = _MotionBounder(model, task, friction, Budget(seconds), progress)
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

    def __init__(
        self, model: Model, task: Task, friction: bool, budget: Budget, progress: Callable[[str], None]
    ) -> None:
        self.budget, self.progress = budget, progress
        if task.trajectory is None:
            raise InputError("arrays have no values between samples")
        wrench, loaded = task.described_wrench, task.load is not None or task.wrench is not None
        if loaded and not (wrench is not None and wrench.piecewise_linear):
            raise InputError("the wrench is a user-defined function without bounds")
        self.model, self.task, self.trajectory, self.friction = model.rigid, task, task.trajectory, friction
        self.wrench = wrench
        self.models = MotionModels(self.model, friction)
        mechanism = self.model.kernels.mechanism
        self.ranges = mechanism.limit_ranges
        self.angles = np.array([limit.angle for _, limit in mechanism.limits], dtype=bool)
        self.sign = self.models.sign(model.robot.home.matrix)
        drives = [actuator.drive for actuator in model.actuators]
        self.curves = [None if drive.force_speed is None else np.array(drive.force_speed) for drive in drives]
        own = self.model.robot_limits
        self.allowed = {name: own.bounds(name) * (1 + _REACHED) for name in _INSTANT}
        self.continuous = own.bounds("continuous force")
        self.motors = own.numbers
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
        parts, at_once = [], _AT_ONCE
        if self.budget.seconds is not None:
            at_once = int(np.clip(_WORK // self.models.operations, _BUDGETED, _AT_ONCE))
        for k in range(0, max(len(low), 1), at_once):
            if k:
                self.progress(f"between the samples, {k} of {len(low)} intervals")
            self.budget.check()
            parts.append(self._rows(low[k : k + at_once], high[k : k + at_once]))
        return _joined(parts)

    def _rows(self, low: Array, high: Array) -> _TimeIntervals:
        t = 0.5 * (low + high)
        half = np.maximum(high - t, t - low) * (1 + _SLACK) + _SLACK * self.trajectory.duration
        expansion = self.trajectory.expansion(t, half)
        if expansion is None:
            raise InputError("the motion is a function without known derivatives")
        motion = self.trajectory.at(t)
        found = self.models.over(expansion, self.wrench, t, half, motion.pose)
        wrench = None if self.wrench is None else self.wrench.at(motion)
        share = Distribution() if self.model.robot_limits.redundancy > 0 else None
        force = self.model.inverse_dynamics(*motion[1:], wrench, self.friction, distribution=share, errors="nan")
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
                "motor torque": self._torques(found.force, found.qddot),
                "motor speed": self.motors["ratio"] * found.qdot.upper_bound,
            }
            speed = found.qdot.middle
            observed = {"force": np.abs(force), "speed": np.abs(speed), "acceleration": np.abs(found.qddot.middle)}
            observed |= {"power": np.abs(force * speed), "force at speed": self._shares(force, speed)}
            state = {"force": force, "qdot": speed, "qddot": found.qddot.middle, **self.motors}
            observed |= {name: np.abs(KINDS[name].value(state)) for name in ("motor torque", "motor speed")}
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

    def _torques(self, force: LinearModels, qddot: LinearModels) -> Array:
        """Upper bounds (n, a) of motor torques: that of a motor that drives, or brakes, whichever is more."""
        ratio, reflected, efficiency = (self.motors[name] for name in ("ratio", "reflected", "efficiency"))
        found = []
        for loss in (1 / efficiency, efficiency):  # torque = (loss (F - R qddot) + R qddot)/ratio
            by_force, by_change = loss / ratio, (1 - loss) * reflected / ratio
            middle, slope = (
                by_force * getattr(force, of) + by_change * getattr(qddot, of) for of in ("middle", "slope")
            )
            rest = by_force * force.remainder + np.abs(by_change) * qddot.remainder
            found.append((np.abs(middle) + np.abs(slope) + rest) * (1 + _SLACK))
        return np.asarray(np.maximum(*found))

    def _agree(self, q: Array, pose: Array, upper_bound: Array, observed: Array) -> None:
        """Bounds and compiled functions are built apart: where they contradict each other nothing is proven."""
        own = self.model.inverse_kinematics(pose, errors="nan")
        off = np.abs(q - own) > 1e-9 * (1 + np.abs(own))
        if off.any() or (observed > upper_bound * (1 + 1e-9)).any():
            raise InputError(
                f"bounds and values of motion {self.task.name!r} contradict each other: its formula does not "
                "describe it",
                code="contradiction",
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
            near = np.full_like(observed, np.inf)
            if tighten and name not in _OF_MOTORS:
                near = _CLOSE * observed + 1e-9 * observed.max(initial=0.0)
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
        torque = (rows.upper_bound["motor torque"] ** 2 * span).sum(axis=0) / span.sum()
        upper_bound["continuous motor torque"] = np.sqrt(torque) * (1 + 1e-9)
        upper_bound["stroke"] = rows.coordinate[1].max(axis=0) - rows.coordinate[0].min(axis=0)
        return MotionBounds(
            upper_bound,
            self.observed,
            self.time,
            bool(rows.certain.all()),
            np.sort(rows.middle[~rows.certain]),
            len(rows.low),
        )


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


# ----------------------------------------------------------------------------------------------------------------------
# A robot along a motion in first-order models of time: everything of it over intervals t +- h, rounding included.
#
# Coordinates of the motion are c + c' h s + c'' h^2/2 ..., |s| <= 1, of which the first two parts are kept and the
# others
# bounded by the motion's own derivatives. Pose, twist, acceleration and all that the robot makes of them are then
# models
# c + g s +- r (``.affine``) with r of second order in h.

_DIGITS = 1e-13
"""What numbers of a motion may be off by rounding, relative to the largest of their kind."""
_NARROW = 0.5
"""Spread of a direction below which its model says more than that no direction is longer than 1."""


@dataclass(frozen=True)
class SignedLoads(Loads):
    """Loads of dry friction whose directions are inputs, since a rate that changes its sign has all of them.

    ``directions`` are these symbols by joint, with the rate that each is the direction of.
    """

    directions: dict[tuple[str, str], tuple[ca.SX, ca.SX]] = field(default_factory=dict)

    def direction(self, key: tuple[str, str], rate: ca.SX) -> ca.SX:
        """Symbols for the direction of a joint's rate."""
        if key not in self.directions:
            self.directions[key] = ca.SX.sym("direction", rate.numel()), rate
        return self.directions[key][0]


class IntervalModels(NamedTuple):
    """Models over n intervals of actuator forces, coordinates, rates and accelerations (n, a), of limited values and
    of the legs' margins; ``sign`` (n,) of det J in all of an interval, 0 where it may change."""

    force: LinearModels
    q: LinearModels
    qdot: LinearModels
    qddot: LinearModels
    values: LinearModels
    margins: LinearModels
    sign: Array


class MotionModels:
    """Models of one robot along motions; an InputError where it has something of which there are none."""

    def __init__(self, model: Model, friction: bool) -> None:
        self.model, self.mechanism = model, model.kernels.mechanism
        mechanism = self.mechanism
        if mechanism.implicit_legs:
            names = ", ".join(mechanism.robot.legs[k].name for k in mechanism.implicit_legs)
            raise InputError(
                f"bounds are not available for legs that are closed iteratively ({names} of {mechanism.robot.name!r})",
                code="iterated",
            )
        if mechanism.redundant and mechanism.platform.is_constrained:
            raise InputError(
                "bounds are not available for forces of more actuators than degrees of freedom in such legs"
            )
        self._fixed = np.concatenate([model.robot.home.matrix.ravel(), np.zeros(3)])
        self._friction = friction and has_friction(mechanism)
        self._follow = ConstrainedMotionModel(model) if mechanism.platform.is_constrained else None
        self._build()

    def _build(self) -> None:
        """The graph (pose, twist, acceleration, wrench, loads, directions, numbers) -> all that is bounded."""
        mechanism, dry = self.mechanism, self.model.kernels.options.dry
        self._width = dry.law.width
        x, plain = mechanism.inputs(), Loads.symbols(mechanism, dry.law)
        loads = SignedLoads(plain.law, plain.port, plain.values)
        known = loads if self._friction and has_dry_friction(mechanism) else None
        platform = mechanism.platform.at(x, x.twist.symbols, x.acceleration.symbols)
        state = State.of(mechanism, platform, self._friction, known, in_frames=False)
        legs = state.legs
        rows = [ca.SX(0, 6)]
        if mechanism.platform.is_constrained:
            platform.basis = ca.DM.eye(6)  # type: ignore[attr-defined]  # forces of constraints are unknowns beside
            rows = [mechanism.constraint_rows(legs)]
        loaded = known is not None and known.port is not None
        self._loads = LoadedJoints(mechanism, x, platform, loads, dry.coupling == "explicit") if loaded else None
        reactions = [] if self._loads is None else self._loads.parts
        driven = state.driven_friction if self._friction else ca.SX.zeros(len(mechanism.actuators))
        # only from here on all directions are known: friction is computed when it is asked for
        symbols, rates = zip(*loads.directions.values(), strict=True) if loads.directions else ((), ())
        known_law = isinstance(dry.law, (Exact, Smooth))
        self._alone = [known_law and rate.numel() == 1 for rate in rates for _ in range(rate.numel())]
        matrix = ca.vertcat(state.jacobian, *rows) if mechanism.platform.is_constrained else state.jacobian
        self._shape = matrix.shape
        limited = [leg.at_tip(limit.value) for leg in legs for limit in leg.model.placement.limits]
        parts = [
            ca.vertcat(*rates, ca.SX(0, 1)),
            ca.vertcat(*[dry.law.direction(rate) for rate in rates], ca.SX(0, 1)),
            ca.vec(matrix.T),
            state.required_wrench - state.external(x.wrench.symbols),
            driven,
            mechanism.coordinates(legs),
            ca.vertcat(*[rate for leg in legs for rate in leg.rates]),
            ca.vertcat(*[leg.accelerations for leg in legs]),
            ca.vertcat(*limited, ca.SX(0, 1)),
            ca.vertcat(*[margin for leg in legs for margin in leg.margins], ca.SX(0, 1)),
        ]
        port = plain.port or Port("loads", ca.SX(0, 1), (0,))
        given = [p.symbols for p in (x.pose, x.twist, x.acceleration, x.wrench, port)]
        given += [ca.vertcat(*symbols, ca.SX(0, 1)), mechanism.numbers.symbols]
        graph = Graph.of(ca.Function("along", given, ca.cse([ca.densify(part) for part in (*parts, *reactions)])))
        self.operations, count = graph.count, len(parts)
        ranges = range(2), range(2, count), range(count, count + len(reactions))
        self._rates, self._rest, self._reactions = (graph.only(of) for of in ranges)
        self._numbers = [Affine.exact(value, (0.0,)) for value in mechanism.numbers.values]

    def over(
        self, expansion: MotionExpansion, wrench: Wrench | None, t: Array, half: Array, poses: Array
    ) -> IntervalModels:
        """Bounds over t +- half (n,) of a motion; ``poses`` (n, 4, 4) are those at t."""
        with np.errstate(all="ignore"):
            motion = self._motion(expansion, wrench, t, half, poses)
            directions = self._directions(motion)
            loads = self._loaded(motion, directions)
            return self._bounds(len(t), [*motion, loads, directions, self._numbers])

    def sign(self, pose: Array) -> float:
        """The sign of det J at a pose (4, 4)."""
        still = [Affine.exact(np.zeros(1), (0.0,))] * 6
        at = [Affine.exact(np.full(1, value), (0.0,)) for value in pose.ravel()]
        loads = [still[0]] * (0 if self._loads is None else self._loads.count)
        directions = [still[0]] * len(self._alone)
        with np.errstate(all="ignore"):
            return float(self._bounds(1, [at, still, still, still, loads, directions, self._numbers]).sign[0])

    def _motion(
        self, expansion: MotionExpansion, wrench: Wrench | None, t: Array, half: Array, poses: Array
    ) -> list[list[Affine]]:
        """Pose, twist, acceleration and wrench."""
        orders = _orders(expansion.derivatives, half)
        pushed = _pushed(wrench, t, half)
        if expansion.pose is None and self._follow is not None:
            pose, *others = self._follow(orders, poses)
            return [pose, *others, *self._wrench(wrench, pushed, pose)]
        k, p = len(orders[0]), expansion.constants.shape[1]
        c, cdot, cddot = (ca.SX.sym(name, k) for name in ("c", "cdot", "cddot"))
        numbers = ca.SX.sym("numbers", p)
        if expansion.pose is None:
            at = displaced(self.mechanism, c, ca.SX(ca.DM(self._fixed)))
        else:
            at = pose_of(expansion.pose(c, numbers))
        _, derivatives = with_twists(at, c)
        twist = derivatives @ cdot
        acceleration = derivatives @ cddot + ca.jtimes(twist, c, cdot)
        parts = ca.cse([ca.densify(part) for part in (at, twist, acceleration)])
        graph = Graph.of(ca.Function("motion", [c, cdot, cddot, numbers], parts))
        fixed = [Affine.exact(column, (0.0,), _DIGITS * np.abs(column)) for column in expansion.constants.T]
        pose, *others = evaluate_affine(graph, [*orders, fixed])
        return [pose, *others, *self._wrench(wrench, pushed, pose)]

    def _wrench(self, wrench: Wrench | None, components: list[Affine], pose: list[Affine]) -> list[list[Affine]]:
        """The wrench at the platform's origin, base axes."""
        if wrench is None:
            return [components]
        given, at = ca.SX.sym("components", 6), ca.SX.sym("pose", 16)
        graph = Graph.of(ca.Function("wrench", [given, at], [wrench.symbolic(given, frame_of(at).axes)]))
        return evaluate_affine(graph, [components, pose])

    def _directions(self, motion: list[list[Affine]]) -> list[Affine]:
        """Directions of rates: none has a component above 1; of the usual laws that of one number grows with it."""
        none: list[Affine] = []
        found, width = [], self._width
        for rate, one, alone in zip(
            *evaluate_affine(self._rates, [*motion, none, none, self._numbers]), self._alone, strict=True
        ):
            ends = one.middle - one.radius, one.middle + one.radius
            if alone:
                rates = rate.middle - rate.radius, rate.middle + rate.radius
                ends = tuple(w / np.hypot(w, width) if width else np.sign(w) for w in rates)
            low, high = np.fmax(ends[0] - 1e-15, -1.0), np.fmin(ends[1] + 1e-15, 1.0)
            known = np.logical_and(one.radius < _NARROW, not alone)
            own = 0.5 * (low + high), np.float64(0.0), 0.5 * (high - low) * (1 + 1e-12)
            model = one.middle, one.derivatives[0], one.remainder
            middle, slope, rest = (np.where(known, a, b) for a, b in zip(model, own, strict=True))
            found.append(Affine.exact(middle, (slope,), rest))
        return found

    def _loaded(self, motion: list[list[Affine]], directions: list[Affine]) -> list[Affine]:
        """Loads of dry friction."""
        if self._loads is None:
            return []
        return self._loads.found(evaluate_affine(self._reactions, [*motion, [], directions, self._numbers]))

    def _bounds(self, count: int, given: list[list[Affine]]) -> IntervalModels:
        parts = [LinearModels.stacked(part) for part in evaluate_affine(self._rest, given)]
        # what no pose changes, such as the J of a gantry, is one row for all intervals
        matrix, need, driven, q, qdot, qddot, values, margins = (part.repeated(count) for part in parts)
        n, m = self._shape
        jacobian = matrix.reshape(n, m)
        if n == m:
            solution, sign = solve(jacobian.transposed(), need)
            force = solution[:, : len(self.mechanism.actuators)] + driven
        else:
            # of least norm: f + friction = J y with (J^T J) y = w + J^T friction
            across = jacobian.transposed()
            y, sign = solve(across @ jacobian, need + across.times(driven))
            force = jacobian.times(y)
        return IntervalModels(force, q, qdot, qddot, values, margins, sign)


def _orders(expansion: Array, half: Array) -> list[list[Affine]]:
    """Coordinates, rates and accelerations (k each) as models over t +- half, by Taylor's theorem."""
    values, fourth = expansion[:4], expansion[4]
    h = half[:, None]
    third = np.abs(values[3]) + h * fourth
    second = np.abs(values[2]) + h * (np.abs(values[3]) + 0.5 * h * fourth)
    rests = (0.5 * h**2 * bound * (1 + 1e-12) for bound in (second, third, fourth))
    found = []
    for order, rest in enumerate(rests):
        middle, slope = values[order], h * values[order + 1]
        off = rest + _DIGITS * (np.abs(middle) + np.abs(middle).max(initial=0.0) + np.abs(slope))
        found.append([Affine.exact(middle[:, k], (slope[:, k],), off[:, k]) for k in range(middle.shape[1])])
    return found


def _pushed(wrench: Wrench | None, t: Array, half: Array) -> list[Affine]:
    """Components (6) of a wrench over t +- half: a straight line, and what corners within are off it."""
    if wrench is None:
        return [Affine.exact(np.float64(0.0), (0.0,))] * 6
    # A little beyond both ends, so that the times at which values are read, rounded as they are, are not within.
    wide = half + 4 * np.spacing(np.abs(t) + half)
    first, last = t - wide, t + wide
    low, high = wrench.components(first), wrench.components(last)
    rate = (high - low) / (last - first)[:, None]
    middle, slope = low + (t - first)[:, None] * rate, half[:, None] * rate
    off = _DIGITS * (np.abs(low) + np.abs(high))
    # Where tables have a corner within, by rounding or as steps are too short to be distinguished, they are off the
    # line.
    breaks = np.unique(wrench.breaks)
    start, end = np.searchsorted(breaks, first), np.searchsorted(breaks, last, "right")
    for k in range(int((end - start).max(initial=0))):
        own = start + k < end
        at = breaks[start[own] + k]
        bend = wrench.components(at) - (low[own] + (at - first[own])[:, None] * rate[own])
        off[own] = np.maximum(off[own], np.abs(bend) * (1 + 1e-9) + _DIGITS * np.abs(bend))
    return [Affine.exact(middle[:, k], (slope[:, k],), off[:, k]) for k in range(6)]


# ----------------------------------------------------------------------------------------------------------------------
# A platform that follows its legs, along a motion of its generalized coordinates: pose, twist and acceleration as
# models of time.
#
# What follows, y of E(x, y) = 0, is y0 + S s +- r over an interval: Krawczyk's operator (``.krawczyk``) in one
# variable. Its rates and accelerations solve linear systems with the derivatives of E.

_TRIES = 4


class ConstrainedMotionModel:
    """Pose, twist and acceleration of one robot's platform."""

    def __init__(self, model: Model) -> None:
        mechanism = model.kernels.mechanism
        if mechanism.coordinate_joints:
            raise InputError("bounds are not available for platforms with joint coordinates")
        self._home = model.robot.home.matrix
        state = mechanism.platform.rest(mechanism.inputs())
        assert isinstance(state, ConstrainedState)
        self._chosen, self._others = (np.array(ca.DM(part)) for part in (state.chosen, state.others))
        self._numbers = [Affine.exact(value, (0.0,)) for value in mechanism.numbers.values]
        s: Symbols = symbols_of(mechanism, "coordinates")
        m, k = s.x.numel(), s.y.numel()
        home = ca.SX(ca.DM(np.concatenate([self._home.ravel(), np.zeros(3)])))
        v, vdot, vddot = ca.vertcat(s.x, s.y), ca.SX.sym("vdot", m + k), ca.SX.sym("vddot", m + k)
        equations, derivatives = ca.substitute([s.found.equations, s.derivatives[:k, :]], [s.fixed], [home])
        turning = ca.jtimes(derivatives @ vdot, v, vdot)
        pose, twists = followed(mechanism, s.x, s.y, home)
        twist = twists @ vdot
        moved = pose, twist, twists @ vddot + ca.jtimes(twist, v, vdot)
        self._equations = _graph([v, s.numbers], [equations])
        self._derivatives = _graph([v, s.numbers], [ca.vec(derivatives[:, :m].T), ca.vec(derivatives[:, m:].T)])
        self._turning = _graph([v, vdot, s.numbers], [turning])
        self._moved = _graph([v, vdot, vddot, s.numbers], list(moved))
        self._m, self._k = m, k

    def __call__(self, orders: list[list[Affine]], poses: Array) -> list[list[Affine]]:
        """For coordinates, rates and accelerations (m each), near the poses (n, 4, 4) in the intervals' middles."""
        x, xdot, xddot = orders
        y = self._found(x, poses)
        by_x, by_y = self._by([*x, *y])
        rate = solve(by_y, -by_x.times(LinearModels.stacked(xdot)))[0]
        vdot = [*xdot, *rate.affine]
        (turning,) = evaluate_affine(self._turning, [[*x, *y], vdot, self._numbers])
        right = by_x.times(LinearModels.stacked(xddot)) + LinearModels.stacked(turning)
        vddot = [*xddot, *solve(by_y, -right)[0].affine]
        return evaluate_affine(self._moved, [[*x, *y], vdot, vddot, self._numbers])

    def _by(self, v: list[Affine]) -> tuple[LinearModels, LinearModels]:
        """Derivatives of E by x and by y."""
        by_x, by_y = (LinearModels.stacked(part) for part in evaluate_affine(self._derivatives, [v, self._numbers]))
        return by_x.reshape(self._k, self._m), by_y.reshape(self._k, self._k)

    def _found(self, x: list[Affine], poses: Array) -> list[Affine]:
        """y over the intervals; without a bound where the proof fails."""
        middle = np.stack([one.middle for one in x], axis=-1)
        start = self._displacement(poses, middle)
        at = [Affine.exact(one.middle, (0.0,)) for one in x]
        for _ in range(2):  # what is known of the pose is exact but for rounding
            y0 = [Affine.exact(start[:, k], (0.0,)) for k in range(self._k)]
            (off,) = evaluate_affine(self._equations, [[*at, *y0], self._numbers])
            by_x, by_y = self._by([*at, *y0])
            inverse = _inverse(by_y.middle)
            start = start - (inverse @ LinearModels.stacked(off).middle[..., None])[..., 0]
        slope = np.stack([np.broadcast_to(one.derivatives[0], len(start)) for one in x], axis=-1)
        swing = -(inverse @ by_x.middle @ slope[..., None])[..., 0]
        line = [Affine.exact(start[:, k], (swing[:, k],)) for k in range(self._k)]
        (off,) = evaluate_affine(self._equations, [[*x, *line], self._numbers])
        base = constant(inverse).times(LinearModels.stacked(off)).upper_bound
        reach = 2.0 * base + 1e-12
        for _ in range(_TRIES):
            wide = [Affine.exact(start[:, k], (swing[:, k],), reach[:, k]) for k in range(self._k)]
            _, by_y = self._by([*x, *wide])
            left = (constant(inverse) @ by_y + constant(np.broadcast_to(-np.eye(self._k), inverse.shape))).upper_bound
            near = (base + (left @ reach[..., None])[..., 0]) * (1 + 1e-12)
            proven = np.asarray((near < reach).all(axis=1))
            if proven.all():
                break
            reach = np.where(proven[:, None], reach, 1.5 * near)
        near = np.where(proven[:, None], near, np.inf)
        return [Affine.exact(start[:, k], (swing[:, k],), near[:, k]) for k in range(self._k)]

    def _displacement(self, poses: Array, x: Array) -> Array:
        """w (n, k) of xi = C x + O w, xi the displacement from home."""
        return (displacement(self._home, poses) - x @ self._chosen.T) @ self._others


def _graph(given: list[ca.SX], parts: list[ca.SX]) -> Graph:
    return Graph.of(ca.Function("follow", given, ca.cse([ca.densify(part) for part in parts])))


def _inverse(matrix: Array) -> Array:
    """Inverses (n, k, k); of singular matrices not numbers."""
    good = np.abs(np.linalg.det(matrix)) > 0
    return np.where(
        good[:, None, None], np.linalg.inv(np.where(good[:, None, None], matrix, np.eye(len(matrix[0])))), np.nan
    )


# ----------------------------------------------------------------------------------------------------------------------
# Loads of joints with Coulomb friction along a motion, in models of time: friction and reactions found together.
#
# Reactions are linear in loads and in the legs' forces mu along their lines, and mu is linear in loads by the
# platform's
# balance A mu = b: F = F0 + B L. A load is the size of its reaction, L_j = |F_j|.

_FRICTION_ITERATIONS = 8
"""Rounds in which loads are looked for; what they are off after that counts in their bounds."""


class LoadedJoints:
    """The loads (k) of one robot; ``parts`` are the symbols of which ``found`` takes the models."""

    def __init__(
        self, mechanism: Mechanism, x: Inputs, platform: PlatformState, loads: Loads, explicit: bool = False
    ) -> None:
        if not has_closed_form(mechanism):
            raise InputError(
                "bounds are not available for friction that depends on reactions, except in legs with one "
                "universal joint and a spherical tip"
            )
        assert loads.port is not None
        self._explicit = explicit
        legs, lines, need = platform_balance(mechanism, platform, x.wrench.symbols, True, loads)
        mu, symbols = ca.SX.sym("mu", 6), loads.port.symbols
        attached = [leg.leg for leg in legs]
        reactions = load_parts(mechanism, joint_wrenches(legs, mu), attached)
        self._kinds = [(part.numel(), summed) for part, summed in reactions]
        whole = ca.vertcat(*[part for part, _ in reactions])
        still = [ca.SX.zeros(symbols.numel()), ca.SX.zeros(6)]
        need0, whole0 = ca.substitute([need, whole], [symbols, mu], still)
        parts = [lines, need0, ca.jacobian(need, symbols), whole0, ca.jacobian(whole, mu), ca.jacobian(whole, symbols)]
        self.parts = [ca.vec(ca.densify(part).T) for part in parts]
        self._shapes = [part.shape for part in parts]
        given, sizes, at = ca.SX.sym("reactions", whole.numel()), [], 0
        for count, summed in self._kinds:
            own, at = given[at : at + count], at + count
            sizes.append(ca.sum1(ca.fabs(own)) if summed else norm(own))
        self._sizes = Graph.of(ca.Function("sizes", [given], [ca.vertcat(*sizes)]))

    @property
    def count(self) -> int:
        """Number k of loads."""
        return len(self._kinds)

    def found(self, parts: list[list[Affine]]) -> list[Affine]:
        """Loads from the models of ``parts``; without a bound where it is not proven that there is one solution.

        With a line a + b s near L and N the model of what follows from it, |N - a - b s| + |B| r < r proves that there
        is one L, and that it is within r of the line.
        """
        lines, need, by_loads, first, by_mu, own = (
            LinearModels.stacked(part).reshape(*shape) for part, shape in zip(parts, self._shapes, strict=True)
        )
        n = max(len(one.middle) for one in (lines, need, first))
        lines, need, by_loads, first, by_mu, own = (
            one.repeated(n) for one in (lines, need, by_loads, first, by_mu, own)
        )
        mu = solve(lines, need)[0]
        first = (first + by_mu @ mu)[..., 0]
        if self._explicit:
            return self._sizes_of(first)
        derivatives = by_mu @ solve(lines, by_loads)[0] + own
        k = self.count
        a, b, none = np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k))
        for _ in range(_FRICTION_ITERATIONS):
            after = LinearModels.stacked(self._sizes_of(first + derivatives.times(LinearModels(a, b, none)))).repeated(
                n
            )
            off = (np.abs(after.middle - a) + np.abs(after.slope - b) + after.remainder) * (1 + 1e-12) + 1e-300
            before, a, b = (a, b), after.middle, after.slope
        reach, sure = majorant(self._by_loads(derivatives.upper_bound), off[..., None])
        reach = np.where(sure[:, None], reach[..., 0], np.inf)
        return LinearModels(*before, reach).affine

    def _sizes_of(self, reactions: LinearModels) -> list[Affine]:
        return evaluate_affine(self._sizes, [reactions.affine])[0]

    def _by_loads(self, derivatives: Array) -> Array:
        """Bounds (n, k, k) of the derivatives of loads by loads, from those (n, parts, k) of reactions."""
        found, at = [], 0
        for count, summed in self._kinds:
            own = derivatives[:, at : at + count]
            found.append(own.sum(axis=1) if summed else np.sqrt((own**2).sum(axis=1)))
            at += count
        return np.stack(found, axis=1) * (1 + 1e-12)
