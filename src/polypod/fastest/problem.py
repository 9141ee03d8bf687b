"""The limits of a robot along a way as constraints on speed and acceleration, linear about the last answer.

Without friction forces are affine in u and x = w^2. Friction (viscous, dry, dependent on loads), power and the size of
reactions are not: each round takes them from the full model at the last answer. Friction's share is frozen; the
hyperbola |force| <= P/speed is replaced by its tangent, which lies below it, so that what keeps the tangent keeps the
power; so is each straight piece of a force-speed curve, which is convex in x; a reaction's size is replaced by its part
along its last direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .limits import curve_shares
from .reach import Lines, lines
from .way import Way, joint_forces, needs, pushed

if TYPE_CHECKING:
    from ..model import Model

Array = NDArray[np.float64]
Rows = tuple[Array, Array, Array]
"""Factors of u and x and bounds of constraints, (N, 2, k) each: a pair bounds one quantity above and below."""
_CREEP = 1e-8
"""Share of the largest x at which friction at rest is read: a robot that starts has the friction of one that moves."""
_CUTS = 3
_FREE = 1e100
"""A bound that says nothing."""
_ROUND = 4
"""Numbers of constraints are rounded up to a multiple, so that a few kernels serve all robots."""


class Use(NamedTuple):
    """Shares of the limits used, by kind, at starts, ends and middles of N intervals, (3, N, k); (2, N, k) without."""

    kinds: dict[str, Array]
    friction: Array
    """The least and largest that friction adds to the forces at starts and ends (2, 2, N, n)."""
    force: Array
    """Forces (3, N, n)."""
    reaction: Array | None
    """Forces in joints (3, N, joints, 3), None without a limit."""


class Problem:
    """A robot on a way with limits (arrays (n,) by kind)."""

    def __init__(self, model: Model, way: Way, limits: dict[str, Array], friction: bool) -> None:
        self.model, self.way, self.limits, self.friction = model, way, limits, friction
        self._wrench = None if way.wrench is None else [pushed(way.wrench, p) for p in (way.places, way.middle)]
        here = None if self._wrench is None else self._wrench[0]
        self.needs = needs(model, way.places, here, "reaction" in limits)
        count = len(way.step)
        self.margin = np.ones((count, 1))
        self.force_limit = limits.get("force")
        size = len(model.actuators)
        self._friction = np.zeros((2, 2, count, size))  # least and largest, at starts and ends
        self._cuts: list[Rows] = []
        self.slow_start = False  # whether curves are first met where they give more force
        self._at_rest = np.stack([way.stops[:-1], way.stops[1:]])[..., None]

    @property
    def linear(self) -> bool:
        """Whether one round gives the answer."""
        return not (self.friction or {"power", "reaction", "force_speed"} & set(self.limits))

    def most(self) -> Array:
        """Largest squares of speeds (N + 1,)."""
        rate = np.abs(self.needs.rate)
        most = np.full(len(rate), 1e30)
        if "speed" in self.limits:
            fast = np.where(rate > 0, self.limits["speed"] / np.where(rate > 0, rate, 1.0), 1e15).min(axis=1)
            near = np.minimum(np.append(self.margin[:, 0], 1.0), np.insert(self.margin[:, 0], 0, 1.0))
            most = np.minimum(most, (fast * near) ** 2)
        return np.where(self.way.stops, 0.0, most)

    def lines(self, x: Array | None) -> Lines:
        """The constraints about the last answer (N + 1,), None for the first round."""
        rows: list[Rows] = []
        own, none = self.needs, np.zeros((2, 2, *self.margin.shape))
        whole = own.force_u, own.force_x, own.force_0
        if self.force_limit is not None:
            rows += self._both(*whole, self._friction, np.broadcast_to(self.force_limit, own.rate.shape))
        if "acceleration" in self.limits:
            bound = np.broadcast_to(self.limits["acceleration"], own.rate.shape)
            rows += self._both(own.rate, own.rate_x, np.zeros_like(own.rate), none, bound)
        if "power" in self.limits:
            x0 = self._power_start() if x is None else np.maximum(x, 1e-6 * x.max())
            rate = np.maximum(np.abs(own.rate), 1e-9 * np.abs(own.rate).max())
            at = self.limits["power"] / (rate * np.sqrt(x0)[:, None])
            rows += self._both(*whole, self._friction, 1.5 * at, 0.5 * at / x0[:, None])
        if "force_speed" in self.limits:
            start = self._slow_curves() if self.slow_start else 0.25 * self.most()
            rows += self._curves(start if x is None else x)
        rows += [(np.stack([u, 0 * u], 1), np.stack([f, 0 * f], 1), np.stack([b, np.full_like(b, _FREE)], 1))
                 for u, f, b in self._cuts]  # fmt: skip
        u, factor, bound = (
            (np.concatenate(parts, axis=2) for parts in zip(*rows, strict=True)) if rows else self._free()
        )
        seam = self.way.step == 0.0
        u[seam], factor[seam], bound[seam] = 0.0, 0.0, _FREE
        spare = ((0, 0), (0, 0), (0, -u.shape[2] % _ROUND))
        if spare[2][1]:
            u, factor, bound = np.pad(u, spare), np.pad(factor, spare), np.pad(bound, spare, constant_values=_FREE)
        return lines(u, factor, np.minimum(bound, _FREE))

    def _free(self) -> Rows:
        """No constraint but the speeds'."""
        shape = len(self.way.step), 2, _ROUND
        return np.zeros(shape), np.zeros(shape), np.full(shape, _FREE)

    def _curves(self, x: Array) -> list[Rows]:
        """Tangents at squares of speeds x (N + 1,) to the pieces top - slope |qdot| of force-speed curves.

        Of each curve the piece that is met counts, and those beside it where it bends outwards.
        """
        own, curves = self.needs, self.limits["force_speed"]
        root = np.sqrt(np.maximum(x, 1e-6 * x.max()))[:, None]
        speed = np.abs(own.rate) * root
        met = np.stack([np.searchsorted(c[:, 0], v, "right") - 1 for c, v in zip(curves, speed.T, strict=True)], axis=1)
        each = np.arange(len(curves))

        def piece(number: Array) -> tuple[Array, Array]:
            (v0, f0), (v1, f1) = (np.moveaxis(curves[each, number + k], 2, 0) for k in (0, 1))
            real = np.isfinite(f0) & (v1 > v0)
            v0, f0, v1, f1 = (np.where(real, part, 0.0) for part in (v0, f0, v1, f1))
            slope = (f0 - f1) / np.where(real, v1 - v0, 1.0)
            return np.where(real, f0 + slope * v0, _FREE), slope

        last = curves.shape[1] - 2
        top, slope = piece(np.clip(met, 0, last))
        most, rows = top - slope * speed, list[Rows]()
        for beside in (0, -1, 1):
            top, slope = piece(np.clip(met + beside, 0, last))
            holds = top - slope * speed >= most * (1 - 1e-12)
            bound = np.where(holds, top - 0.5 * slope * speed, _FREE)
            fall = np.where(holds, 0.5 * slope * speed / root**2, 0.0)
            rows += self._both(own.force_u, own.force_x, own.force_0, self._friction, bound, fall)
        return rows

    def _slow_curves(self) -> Array:
        """Squares of speeds at which curves give twice the force that is there anyway, or half of their largest."""
        own, curves = self.needs, self.limits["force_speed"]
        rate = np.maximum(np.abs(own.rate), 1e-9 * np.abs(own.rate).max())
        fast = np.full(rate.shape, np.inf)
        for k, curve in enumerate(curves):
            if np.isfinite(curve).all():
                most = curve[0, 1]
                needed = np.minimum(np.maximum(2 * np.abs(own.force_0[:, k]), 0.5 * most), most)
                fast[:, k] = np.interp(needed, curve[::-1, 1], curve[::-1, 0]) / rate[:, k]
        x = np.asarray(fast.min(axis=1) ** 2)
        return np.maximum(x, 1e-6 * x.max())

    def _power_start(self) -> Array:
        """Squares of speeds at which power and the force that is there anyway meet."""
        own, power = self.needs, self.limits["power"]
        needed = np.maximum(2 * np.abs(own.force_0), 1e-6 * np.abs(own.force_u).max())
        if self.force_limit is not None:
            needed = np.minimum(np.maximum(needed, 0.5 * self.force_limit), self.force_limit)
        rate = np.maximum(np.abs(own.rate), 1e-9 * np.abs(own.rate).max())
        return np.asarray(((power / (rate * needed)).min(axis=1)) ** 2)

    def _both(
        self, u: Array, x: Array, rest: Array, extra: Array, bound: Array, fall: Array | None = None
    ) -> list[Rows]:
        """Constraints |u a + x b + c| <= bound - fall x at starts and ends of all intervals.

        ``extra`` are the least and largest that friction adds, (2, 2, N, k). At an interval's end x is x + 2 d u.
        """
        result = []
        for end, side in enumerate((slice(0, -1), slice(1, None))):
            falls = 0.0 if fall is None else fall[side]
            factor = np.stack([x[side] + falls, falls - x[side]], axis=1)
            slope = np.stack([u[side], -u[side]], axis=1)
            if end:
                slope = slope + 2 * self.way.step[:, None, None] * factor
            most = bound[side] * self.margin
            left = np.stack([most - rest[side] - extra[1][end], most + rest[side] + extra[0][end]], axis=1)
            result.append((slope, factor, left))
        return result

    # -- the full model ------------------------------------------------------------------------------------------------

    def use(self, x: Array, middles: bool = True) -> Use:
        """What the full model says of an answer, at starts and ends of the intervals, and at their middles."""
        way, model = self.way, self.model
        u = way.accelerations(x)
        moving = np.maximum(x, _CREEP * x.max())
        parts = 3 if middles else 2
        squares = np.stack([moving[:-1], moving[1:], (x[:-1] + x[1:]) / 2][:parts])

        def ends(part: Array, middle: Array) -> Array:
            return np.stack([part[:-1], part[1:], middle][:parts])

        pose = ends(way.places.pose, way.middle.pose)
        tangent = ends(way.places.tangent, way.middle.tangent)
        curvature = ends(way.places.curvature, way.middle.curvature)
        twist = np.sqrt(squares)[..., None] * tangent
        acceleration = u[:, None] * tangent + squares[..., None] * curvature
        wrench = None if self._wrench is None else ends(*self._wrench)
        force = model.inverse_dynamics(pose, twist, acceleration, wrench, self.friction, errors="raise")
        own = self._ends(u, squares)
        real = self.way.step > 0
        about = self._friction_about(force[:2] - own)
        largest = np.abs(force)
        largest[:2] = np.maximum(np.abs(own + about[0]), np.abs(own + about[1]))
        kinds, reaction = {}, None
        values: dict[str, Callable[[], Array]] = {
            "force": lambda: largest,
            "speed": lambda: model.rates(pose, twist),
            "acceleration": lambda: model.accelerations(pose, twist, acceleration),
            "power": lambda: force * model.rates(pose, twist),
        }
        for name in values:
            if name in self.limits:
                kinds[name] = np.abs(values[name]()) / self.limits[name] * real[:, None]
        if "force_speed" in self.limits:
            kinds["force_speed"] = curve_shares(self.limits["force_speed"], model.rates(pose, twist), largest)
            kinds["force_speed"] *= real[:, None]
        if "reaction" in self.limits:
            flat = pose.reshape(-1, 4, 4), twist.reshape(-1, 6), acceleration.reshape(-1, 6)
            push = None if wrench is None else wrench.reshape(-1, 6)
            reaction = joint_forces(model, *flat, push, self.friction)
            reaction = reaction.reshape(len(squares), len(u), *reaction.shape[1:])
            reaction[:2] = self._larger(reaction[:2], u, squares)
            kinds["reaction"] = np.linalg.norm(reaction, axis=-1) / self.limits["reaction"][0] * real[:, None]
        return Use(kinds, about, force, reaction)

    def _friction_about(self, found: Array) -> Array:
        """The least and largest of friction (2, 2, N, n) from that at starts and ends (2, N, n).

        A rate that changes its sign within an interval has the friction of both ends; a robot at rest has none yet, or
        no more.
        """
        still = np.where(self._at_rest, 0.0, found)
        low, high = (np.broadcast_to(pick(found, axis=0), found.shape) for pick in (np.min, np.max))
        return np.stack([np.minimum(low, still), np.maximum(high, still)])

    def _larger(self, reaction: Array, u: Array, squares: Array) -> Array:
        """Reactions (2, N, joints, 3) at starts and ends; at rest those without friction, where they are larger."""
        assert self.needs.reaction is not None
        a, b, c = (np.stack([part[:-1], part[1:]]) for part in self.needs.reaction)
        free = u[:, None, None] * a + squares[:2, :, None, None] * b + c
        sizes = [np.linalg.norm(part, axis=-1).max(axis=-1) for part in (free, reaction)]
        return np.where((self._at_rest[..., 0] & (sizes[0] > sizes[1]))[..., None, None], free, reaction)

    def _ends(self, u: Array, squares: Array) -> Array:
        """Forces without friction at starts and ends (2, N, n)."""
        own = self.needs.force_u, self.needs.force_x, self.needs.force_0
        a, b, c = (np.stack([part[:-1], part[1:]]) for part in own)
        return np.asarray(u[:, None] * a + squares[:2, :, None] * b + c)

    def learn(self, use: Use, x: Array, keep: bool) -> None:
        """Take from the full model what the next round needs; ``keep`` also what earlier rounds have seen."""
        if self.friction:
            low, high = use.friction
            if keep:
                low, high = np.minimum(low, self._friction[0]), np.maximum(high, self._friction[1])
            self._friction = np.stack([low, high])
        if use.reaction is not None:
            self._cuts = (self._cuts if keep else self._cuts[2 - 2 * _CUTS :]) + self._cut(use, x)

    def _cut(self, use: Use, x: Array) -> list[Rows]:
        """The largest reaction's part along itself stays below the limit, at starts and ends."""
        assert use.reaction is not None
        assert self.needs.reaction is not None
        u, result = self.way.accelerations(x), []
        every = np.arange(len(u))
        for end, side in enumerate((slice(0, -1), slice(1, None))):
            worst = np.linalg.norm(use.reaction[end], axis=-1).argmax(axis=1)
            vector = use.reaction[end][every, worst]
            size = np.linalg.norm(vector, axis=1)
            along = vector / np.where(size > 0, size, 1.0)[:, None]
            a, b = ((part[side][every, worst] * along).sum(axis=1) for part in self.needs.reaction[:2])
            moving = np.maximum(x, _CREEP * x.max())[side]
            rest = (size - u * a - moving * b)[:, None]  # the part at rest, friction's among it
            bound = self.limits["reaction"][0] * self.margin - rest
            factor = b[:, None]
            slope = a[:, None] + (2 * self.way.step[:, None] * factor if end else 0.0)
            result.append((slope, factor, bound))
        return result
