"""A robot along a motion in first-order models of time: everything of it over intervals t +- h, rounding included.

Coordinates of the motion are c + c' h s + c'' h^2/2 ..., |s| <= 1, of which the first two parts are kept and the others
bounded by the motion's own derivatives. Pose, twist, acceleration and all that the robot makes of them are then models
c + g s +- r (:mod:`.affine`) with r of second order in h.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...formulations.virtual_power import State
from ...friction import Loads, has_dry_friction, has_friction
from ...friction.laws import Exact, Smooth
from ...model import Model
from ...motion.contract import MotionExpansion
from ...motion.wrench import Wrench
from ...platforms.motion import frame_of, pose_of
from ...symbols.expression import Port
from ...symbols.graph import Graph
from .affine import Affine, evaluate_affine
from .displaced import displaced, with_twists
from .followed_motion import ConstrainedMotionModel
from .linear_models import LinearModels, solve
from .loads import LoadedJoints

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
            raise InputError(f"legs that close by iterating have no bounds ({names} of {mechanism.robot.name!r})")
        if mechanism.redundant and mechanism.platform.is_constrained:
            raise InputError(
                "there are no bounds of forces that more actuators than degrees of freedom share in such legs"
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
        state = State.of(mechanism, platform, self._friction, known)
        legs = state.legs
        rows = [ca.SX(0, 6)]
        if mechanism.platform.is_constrained:
            platform.basis = ca.DM.eye(6)  # type: ignore[attr-defined]  # forces of constraints are unknowns beside
            rows = [mechanism.constraint_rows(legs)]
        loaded = known is not None and known.port is not None
        self._loads = LoadedJoints(mechanism, x, platform, loads, dry.coupling == "explicit") if loaded else None
        reactions = [] if self._loads is None else self._loads.parts
        symbols, rates = zip(*loads.directions.values(), strict=True) if loads.directions else ((), ())
        known_law = isinstance(dry.law, (Exact, Smooth))
        self._alone = [known_law and rate.numel() == 1 for rate in rates for _ in range(rate.numel())]
        matrix = ca.vertcat(state.jacobian, *rows) if mechanism.platform.is_constrained else state.jacobian
        self._shape = matrix.shape
        driven = state.driven_friction if self._friction else ca.SX.zeros(len(mechanism.actuators))
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
        count = len(parts)
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
    """Components (6) of a wrench that change evenly within t +- half."""
    if wrench is None:
        return [Affine.exact(np.float64(0.0), (0.0,))] * 6
    low, high = wrench.components(t - half), wrench.components(t + half)
    middle, slope = 0.5 * (low + high), 0.5 * (high - low)
    off = _DIGITS * (np.abs(low) + np.abs(high))
    return [Affine.exact(middle[:, k], (slope[:, k],), off[:, k]) for k in range(6)]
