"""The limits of a robot along a path as constraints on speed and acceleration, linear about the last answer.

Without friction forces are affine in u and x = w^2. Friction and dampers, power and the size of reactions
are not: each round takes them from the full model at the last answer. Friction's share is frozen; the
hyperbola |force| <= P/speed is replaced by its tangent, which lies below it, so that what keeps the tangent keeps the
power; so is each straight piece of a force-speed curve, which is convex in x; reactions have tangents of their own
(``polypod.fastest.problem``). Limits of the forces of redundant actuators hold for the best way to share them
(``polypod.fastest.sharing``), other limits of forces for least norm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..mechanism.acting_elements import has_dampers
from .limits import MOTOR, TENSION, shares, tension_middle
from .path_grid import PathGrid, joint_forces, path_dynamics, wrench_at
from .reach import AccelerationBounds, as_bounds
from .sharing import Sharing, of_least_norm

if TYPE_CHECKING:
    from ..model import Model


_CREEP = 1e-8
"""Share of the largest x at which friction at rest is read: a robot that starts has the friction of one that moves."""
_SPEEDS = ("platform_speed", 0), ("platform_angular_speed", 3)
_ACCELERATIONS = ("platform_acceleration", 0), ("platform_angular_acceleration", 3)
"""Limits of the platform, and where their three components begin."""
_MULTIPLE = 4
"""Numbers of constraints are rounded up to a multiple, so that a few kernels serve all robots."""


class LimitShares(NamedTuple):
    """Shares of the limits used, by kind, along N intervals, (s, N, k): at the path's shares, or at starts and ends."""

    kinds: dict[str, Array]
    friction: Array
    """The least and largest that friction adds to the forces at starts and ends (2, 2, N, n)."""
    force: Array
    """Forces (s, N, n)."""
    reaction: Array | None
    """Forces in joints at starts and ends (2, N, joints, 3), None without a limit."""

    def largest(self) -> dict[str, Array]:
        """By kind the largest share in each interval (N, k), between the places that were seen too."""
        return {kind: _largest(share) for kind, share in self.kinds.items()}

    def worst(self) -> float:
        """The largest share of any limit."""
        return max(float(share.max()) for share in self.largest().values())


def _largest(share: Array) -> Array:
    """The largest (N, k) of values (s, N, k) evenly along intervals: a parabola through three rises bend/4 above.

    With bend = f_i - (f_(i-1) + f_(i+1))/2 its peak is nearest to f_i if it lies less than half a step away, and then
    at most bend/4 higher. A jump, as of dry friction, bends one value up and the one beside down: that is no peak.
    """
    if len(share) == 2:
        return np.asarray(share.max(axis=0))
    bend = share[1:-1] - (share[:-2] + share[2:]) / 2
    if len(bend) > 1:
        beside = np.maximum(np.concatenate([bend[:1] * 0, bend[:-1]]), np.concatenate([bend[1:], bend[-1:] * 0]))
        bend = np.minimum(bend, beside)
    return np.maximum(share[[0, -1]].max(axis=0), (share[1:-1] + np.maximum(bend, 0.0) / 4).max(axis=0))


class Problem:
    """A robot on a path with limits (arrays (n,) by kind)."""

    def __init__(self, model: Model, grid: PathGrid, limits: dict[str, Array], friction: bool) -> None:
        self.model, self.grid, self.limits, self.friction = model, grid, limits, friction
        self._resisted = friction or has_dampers(model.kernels.mechanism)
        self._wrench = (
            None if grid.wrench is None else [wrench_at(grid.wrench, p) for p in (grid.samples, grid.between)]
        )
        here = None if self._wrench is None else self._wrench[0]
        self.dynamics = path_dynamics(model, grid.samples, here, "reaction" in limits)
        count = len(grid.step)
        self._margin: dict[str, Array] = {}
        self.force_limit = limits.get("force")
        size = len(model.actuators)
        self.friction_bounds = np.zeros((2, 2, count, size))  # least and largest, at starts and ends
        self._reactions = None
        if self.dynamics.reaction is not None:
            self._reactions = Reactions(self.dynamics.reaction, np.minimum(limits["reaction"], FREE), grid.step)
        self._sharing = Sharing(model, grid.samples.pose) if self._shared else None
        self._platform = self._platform_accelerations()
        self.slow_start = False  # whether curves are first met where they give more force
        self._at_rest = np.stack([grid.stops[:-1], grid.stops[1:]])[..., None]
        self._real = (grid.step > 0)[:, None]

    def _platform_accelerations(self) -> dict[str, Reactions]:
        """Limits of the size of the platform's accelerations, which are a u + b x as reactions are."""
        _, _, tangent, curvature = self.grid.samples
        found = {}
        for name, first in _ACCELERATIONS:
            if name in self.limits and np.isfinite(self.limits[name][0]):
                a, b = (part[:, None, first : first + 3] for part in (tangent, curvature))
                found[name] = Reactions((a, b, np.zeros_like(a)), self.limits[name][:1], self.grid.step)
        return found

    @property
    def _shared(self) -> bool:
        """Whether limits of forces hold for whoever carries the load; one that rms asks for later counts too."""
        return Sharing.applies(self.model) and bool({"force", "rms_force", TENSION} & set(self.limits))

    @property
    def linear(self) -> bool:
        """Whether one round gives the answer."""
        curved = bool({"power", "reaction", "force_speed"} & set(self.limits)) or bool(self._platform)
        return not (self._resisted or curved)

    @property
    def _asks_speeds(self) -> bool:
        """Whether a limit depends on the actuators' speeds."""
        return bool({"speed", "power", "force_speed", MOTOR} & set(self.limits))

    @property
    def _asks_accelerations(self) -> bool:
        """Whether a limit depends on the actuators' accelerations."""
        return bool({"acceleration", MOTOR} & set(self.limits))

    def max_squares(self) -> Array:
        """Largest squares of speeds (N + 1,)."""
        rate = np.abs(self.dynamics.rate)
        most = np.full(len(rate), 1e30)
        if "speed" in self.limits:
            fast = np.where(rate > 0, self.limits["speed"] / np.where(rate > 0, rate, 1.0), 1e15)
            if "speed" in self._margin:
                margin, one = self._margin["speed"], np.ones((1, rate.shape[1]))
                fast *= np.minimum(np.concatenate([margin, one]), np.concatenate([one, margin]))
            most = np.minimum(most, fast.min(axis=1) ** 2)
        tangent = self.grid.samples.tangent
        for name, first in _SPEEDS:
            if name in self.limits:
                own = tangent[:, first : first + 3]
                sizes = np.abs(np.concatenate([np.linalg.norm(own, axis=1, keepdims=True), own], axis=1))
                fast = np.where(sizes > 0, self.limits[name] / np.where(sizes > 0, sizes, 1.0), 1e15)
                fast = np.minimum(fast, 1e15)
                if name in self._margin:
                    margin, one = self._margin[name], np.ones((1, 4))
                    fast *= np.minimum(np.concatenate([margin, one]), np.concatenate([one, margin]))
                most = np.minimum(most, fast.min(axis=1) ** 2)
        return np.where(self.grid.stops, 0.0, most)

    def tighten(self, use: LimitShares) -> None:
        """Allow less in the intervals in which more than the limits was used."""
        for kind, share in use.largest().items():
            if (share > 1.0).any():
                self._margin[kind] = self._margin.get(kind, 1.0) / np.maximum(share, 1.0)

    def lines(self, x: Array | None) -> AccelerationBounds:
        """The constraints about the last answer (N + 1,), None for the first round."""
        rows: list[ConstraintRows] = []
        path, none = self.dynamics, np.zeros((2, 2, len(self.grid.step), 1))
        whole = path.force_u, path.force_x, path.force_0
        if self.force_limit is not None and self._sharing is not None:
            by_u, by_x, rest = (self._sharing.combined(part) for part in whole)
            extra = np.stack(self._sharing.of_intervals().spread(*self.friction_bounds))
            rows += self._two_sided("force", by_u, by_x, rest, extra, self._sharing.bounds(self.force_limit))
        elif self.force_limit is not None:
            rows += self._two_sided(
                "force", *whole, self.friction_bounds, np.broadcast_to(self.force_limit, path.rate.shape)
            )
        if TENSION in self.limits:
            rows += self._tensions(whole)
        if "acceleration" in self.limits:
            bound = np.broadcast_to(self.limits["acceleration"], path.rate.shape)
            rows += self._two_sided("acceleration", path.rate, path.rate_x, np.zeros_like(path.rate), none, bound)
        if "power" in self.limits:
            x0 = self._power_start() if x is None else np.maximum(x, 1e-6 * x.max())
            rate = np.maximum(np.abs(path.rate), 1e-9 * np.abs(path.rate).max())
            at = self.limits["power"] / (rate * np.sqrt(x0)[:, None])
            rows += self._two_sided("power", *whole, self.friction_bounds, 1.5 * at, 0.5 * at / x0[:, None])
        if MOTOR in self.limits:
            rows += self._motors()
        for name, first in _ACCELERATIONS:
            if name in self.limits and np.isfinite(self.limits[name][1:]).any():
                a, b = (part[:, first : first + 3] for part in self.grid.samples[2:])
                most = np.broadcast_to(np.minimum(self.limits[name][1:], FREE), a.shape)
                rows += self._two_sided(name, a, b, np.zeros_like(a), none, most, columns=slice(1, None))
        for name, sizes in self._platform.items():
            margin = self._margin.get(name)
            rows += sizes.rows(None if margin is None else margin[:, :1])
        if "force_speed" in self.limits:
            start = self._slow_curves() if self.slow_start else 0.25 * self.max_squares()
            rows += self._curves(start if x is None else x)
        if self._reactions is not None:
            rows += self._reactions.rows(self._margin.get("reaction"))
        u, factor, bound = (
            (np.concatenate(parts, axis=2) for parts in zip(*rows, strict=True)) if rows else self._unconstrained()
        )
        seam = self.grid.step == 0.0
        u[seam], factor[seam], bound[seam] = 0.0, 0.0, FREE
        spare = ((0, 0), (0, 0), (0, -u.shape[2] % _MULTIPLE))
        if spare[2][1]:
            u, factor, bound = np.pad(u, spare), np.pad(factor, spare), np.pad(bound, spare, constant_values=FREE)
        return as_bounds(u, factor, np.minimum(bound, FREE))

    def _unconstrained(self) -> ConstraintRows:
        """No constraint but the speeds'."""
        shape = len(self.grid.step), 2, _MULTIPLE
        return np.zeros(shape), np.zeros(shape), np.full(shape, FREE)

    def _tensions(self, whole: tuple[Array, Array, Array]) -> list[ConstraintRows]:
        """Tensions of cables between their bounds, whoever of redundant ones carries the load."""
        middle, half = tension_middle(self.limits[TENSION])
        by_u, by_x, rest = whole[0], whole[1], whole[2] - middle
        if self._sharing is None:
            bound = np.broadcast_to(np.minimum(half, FREE), rest.shape)
            return self._two_sided(TENSION, by_u, by_x, rest, self.friction_bounds, bound)
        by_u, by_x, rest = (self._sharing.combined(part) for part in (by_u, by_x, rest))
        extra = np.stack(self._sharing.of_intervals().spread(*self.friction_bounds))
        return self._two_sided(TENSION, by_u, by_x, rest, extra, self._sharing.bounds(half))

    def _motors(self) -> list[ConstraintRows]:
        """Torques of motors: tau = r + s/eta where the motor drives, r + s eta where it brakes.

        r is what turns the rotor, s what goes through screw and gear. Where the coordinate grows, tau is the larger of
        both: both are below the limit, and r + s eta is above its negative; the other way round where it shrinks.
        """
        path, own = self.dynamics, self.model.robot_limits.numbers
        ratio, reflected, efficiency = (own[name] for name in ("ratio", "reflected", "efficiency"))
        bound = np.broadcast_to(np.minimum(self.limits[MOTOR], FREE), path.rate.shape)
        lossy, rows = efficiency < 1, list[ConstraintRows]()
        for driving, share in ((False, efficiency), (True, 1 / efficiency)):
            through = share / ratio
            rotor = reflected / ratio - reflected * through
            u, x = path.force_u * through + path.rate * rotor, path.force_x * through + path.rate_x * rotor
            found = self._two_sided(MOTOR, u, x, path.force_0 * through, self.friction_bounds * through, bound)
            for end, (_, _, left) in enumerate(found if driving else ()):
                rate = path.rate[end : len(path.rate) - 1 + end]
                left[:, 0][(rate < 0) & lossy] = FREE
                left[:, 1][(rate > 0) & lossy] = FREE
            rows += found
        return rows

    def _curves(self, x: Array) -> list[ConstraintRows]:
        """Tangents at squares of speeds x (N + 1,) to the pieces top - slope |qdot| of force-speed curves.

        Of each curve the piece that is met counts, and those beside it where it bends outwards.
        """
        path, curves = self.dynamics, self.limits["force_speed"]
        root = np.sqrt(np.maximum(x, 1e-6 * x.max()))[:, None]
        speed = np.abs(path.rate) * root
        met = np.stack([np.searchsorted(c[:, 0], v, "right") - 1 for c, v in zip(curves, speed.T, strict=True)], axis=1)
        each = np.arange(len(curves))

        def piece(number: Array) -> tuple[Array, Array]:
            (v0, f0), (v1, f1) = (np.moveaxis(curves[each, number + k], 2, 0) for k in (0, 1))
            real = np.isfinite(f0) & (v1 > v0)
            v0, f0, v1, f1 = (np.where(real, part, 0.0) for part in (v0, f0, v1, f1))
            slope = (f0 - f1) / np.where(real, v1 - v0, 1.0)
            return np.where(real, f0 + slope * v0, FREE), slope

        last = curves.shape[1] - 2
        top, slope = piece(np.clip(met, 0, last))
        most, rows = top - slope * speed, list[ConstraintRows]()
        for beside in (0, -1, 1):
            top, slope = piece(np.clip(met + beside, 0, last))
            holds = top - slope * speed >= most * (1 - 1e-12)
            bound = np.where(holds, top - 0.5 * slope * speed, FREE)
            fall = np.where(holds, 0.5 * slope * speed / root**2, 0.0)
            rows += self._two_sided(
                "force_speed", path.force_u, path.force_x, path.force_0, self.friction_bounds, bound, fall
            )
        return rows

    def _slow_curves(self) -> Array:
        """Squares of speeds at which curves give twice the force that is there anyway, or half of their largest."""
        path, curves = self.dynamics, self.limits["force_speed"]
        rate = np.maximum(np.abs(path.rate), 1e-9 * np.abs(path.rate).max())
        fast = np.full(rate.shape, np.inf)
        for k, curve in enumerate(curves):
            if np.isfinite(curve).all():
                most = curve[0, 1]
                needed = np.minimum(np.maximum(2 * np.abs(path.force_0[:, k]), 0.5 * most), most)
                fast[:, k] = np.interp(needed, curve[::-1, 1], curve[::-1, 0]) / rate[:, k]
        x = np.asarray(fast.min(axis=1) ** 2)
        return np.maximum(x, 1e-6 * x.max())

    def _power_start(self) -> Array:
        """Squares of speeds at which power and the force that is there anyway meet."""
        path, power = self.dynamics, self.limits["power"]
        needed = np.maximum(2 * np.abs(path.force_0), 1e-6 * np.abs(path.force_u).max())
        if self.force_limit is not None:
            needed = np.minimum(np.maximum(needed, 0.5 * self.force_limit), self.force_limit)
        rate = np.maximum(np.abs(path.rate), 1e-9 * np.abs(path.rate).max())
        return np.asarray(((power / (rate * needed)).min(axis=1)) ** 2)

    def _two_sided(
        self,
        kind: str,
        u: Array,
        x: Array,
        rest: Array,
        extra: Array,
        bound: Array,
        fall: Array | None = None,
        columns: slice = slice(None),
    ) -> list[ConstraintRows]:
        """Constraints |u a + x b + c| <= bound - fall x at starts and ends of all intervals, less by the kind's margin.

        ``extra`` are the least and largest that friction adds, (2, 2, N, k). At an interval's end x is x + 2 d u.
        """
        result, margin = [], self._margin.get(kind)
        margin = None if margin is None else margin[:, columns]
        for end, side in enumerate((slice(0, -1), slice(1, None))):
            falls = 0.0 if fall is None else fall[side] * (1.0 if margin is None else margin)
            factor = np.stack([x[side] + falls, falls - x[side]], axis=1)
            slope = np.stack([u[side], -u[side]], axis=1)
            if end:
                slope = slope + 2 * self.grid.step[:, None, None] * factor
            most = bound[side] * (1.0 if margin is None else margin)
            left = np.stack([most - rest[side] - extra[1][end], most + rest[side] + extra[0][end]], axis=1)
            if fall is not None:  # tangents where it is slow are steep: in shares of the bound all are of one size
                slope, factor, left = (part / most[:, None] for part in (slope, factor, left))
            result.append((slope, factor, left))
        return result

    # -- the full model ------------------------------------------------------------------------------------------------

    def at_ends(self, x: Array) -> LimitShares:
        """What the full model says of an answer at starts and ends of the intervals."""
        grid, path, model = self.grid, self.dynamics, self.model
        u = grid.accelerations(x)
        squares = self._squares(x)
        roots = np.sqrt(squares)[..., None]
        force = self._affine_at_ends(u, squares, path.force_u, path.force_x, path.force_0)
        largest, bounds, reaction = np.abs(force), self.friction_bounds, None
        if self._resisted or "reaction" in self.limits:
            pose, tangent, curvature = (np.stack([part[:-1], part[1:]]) for part in grid.samples[1:])
            motion = pose, roots * tangent, u[:, None] * tangent + squares[..., None] * curvature
            wrench = None if self._wrench is None else np.stack([self._wrench[0][:-1], self._wrench[0][1:]])
            if self._resisted:
                free, force = force, self._forces(motion, wrench)
                bounds = self._bounds_of_friction(force - free)
                largest = np.maximum(np.abs(free + bounds[0]), np.abs(free + bounds[1]))
            if "reaction" in self.limits:
                reaction = self._larger_at_rest(joint_forces(model, *motion, wrench, self.friction), u, squares)
        rates, accelerations = force, force
        moving = self._platform_motion(roots, u, squares)
        if self._asks_speeds:
            rates = roots * np.stack([path.rate[:-1], path.rate[1:]])
        if self._asks_accelerations:
            accelerations = self._affine_at_ends(u, squares, path.rate, path.rate_x, np.zeros_like(path.rate))
        sharing = None if self._sharing is None else self._sharing.of_intervals()
        kinds = self._kinds(force, largest, rates, accelerations, reaction, moving, sharing)
        return LimitShares(kinds, bounds, force, reaction)

    def _forces(self, motion: tuple[Array, Array, Array], wrench: Array | None) -> Array:
        """What the full model says of forces; of redundant actuators those of least norm, which are affine."""
        return self.model.inverse_dynamics(*motion, wrench, self.friction, errors="raise", **of_least_norm(self.model))

    def _platform_motion(self, roots: Array, u: Array, squares: Array) -> tuple[Array, Array]:
        """Twist and acceleration (2, N, 6) of the platform at starts and ends."""
        tangent, curvature = (np.stack([part[:-1], part[1:]]) for part in self.grid.samples[2:])
        return roots * tangent, u[:, None] * tangent + squares[..., None] * curvature

    def everywhere(self, x: Array, ends: LimitShares) -> LimitShares:
        """The use of limits at the ends of intervals, and at the places between them."""
        grid, model = self.grid, self.model
        _, pose, tangent, curvature = grid.between
        squares = (x[:-1] + grid.shares[1:-1, None] * np.diff(x))[..., None]
        motion = pose, np.sqrt(squares) * tangent, grid.accelerations(x)[:, None] * tangent + squares * curvature
        wrench = None if self._wrench is None else self._wrench[1]
        force = self._forces(motion, wrench)
        rates, accelerations, reaction = force, force, None
        if self._asks_speeds:
            rates = model.rates(*motion[:2])
        if self._asks_accelerations:
            accelerations = model.accelerations(*motion)
        if "reaction" in self.limits:
            reaction = joint_forces(model, *motion, wrench, self.friction)
        sharing = None if self._sharing is None else Sharing(model, pose)
        inner = self._kinds(force, np.abs(force), rates, accelerations, reaction, motion[1:], sharing)

        def along(end: Array, part: Array) -> Array:
            return np.concatenate([end[:1], part, end[1:]])

        kinds = {kind: along(share, inner[kind]) for kind, share in ends.kinds.items()}
        return LimitShares(kinds, ends.friction, along(ends.force, force), ends.reaction)

    def _kinds(
        self,
        force: Array,
        largest: Array,
        rates: Array,
        accelerations: Array,
        reaction: Array | None,
        motion: tuple[Array, Array],
        sharing: Sharing | None,
    ) -> dict[str, Array]:
        """Shares (s, N, k) of the limits by kind from forces, their largest sizes, rates, accelerations, reactions."""
        numbers = self.model.robot_limits.numbers
        kinds = shares(self.limits, numbers, force, rates, accelerations, motion, largest)
        if sharing is not None and "force" in kinds:
            kinds["force"] = sharing.uses(force, largest, self.limits["force"])
        if TENSION in self.limits:
            middle, half = tension_middle(self.limits[TENSION])
            rest = force - middle
            kinds[TENSION] = np.abs(rest) / half
            if sharing is not None:
                kinds[TENSION] = sharing.uses(rest, np.abs(rest) + largest - np.abs(force), half)
        if reaction is not None:
            kinds["reaction"] = np.linalg.norm(reaction, axis=-1) / self.limits["reaction"]
        return {kind: share * self._real for kind, share in kinds.items()}

    @staticmethod
    def _squares(x: Array) -> Array:
        """Squares of speeds (2, N) at starts and ends at which friction is read."""
        moving = np.maximum(x, _CREEP * x.max())
        return np.stack([moving[:-1], moving[1:]])

    def _bounds_of_friction(self, found: Array) -> Array:
        """The least and largest of friction (2, 2, N, n) from that at starts and ends (2, N, n).

        A rate that changes its sign within an interval has the friction of both ends; a robot at rest has none yet, or
        no more.
        """
        still = np.where(self._at_rest, 0.0, found)
        low, high = (np.broadcast_to(pick(found, axis=0), found.shape) for pick in (np.min, np.max))
        return np.stack([np.minimum(low, still), np.maximum(high, still)])

    def _larger_at_rest(self, reaction: Array, u: Array, squares: Array) -> Array:
        """Reactions (2, N, joints, 3) at starts and ends; at rest those without friction, where they are larger."""
        assert self.dynamics.reaction is not None
        free = self._affine_at_ends(u[:, None], squares[..., None], *self.dynamics.reaction)
        sizes = [np.linalg.norm(part, axis=-1).max(axis=-1) for part in (free, reaction)]
        return np.where((self._at_rest[..., 0] & (sizes[0] > sizes[1]))[..., None, None], free, reaction)

    @staticmethod
    def _affine_at_ends(u: Array, squares: Array, by_u: Array, by_x: Array, rest: Array) -> Array:
        """What is affine in u and x without friction, at starts and ends (2, N, k)."""
        a, b, c = (np.stack([part[:-1], part[1:]]) for part in (by_u, by_x, rest))
        return np.asarray(u[:, None] * a + squares[..., None] * b + c)

    def update(self, use: LimitShares, x: Array, keep: bool) -> None:
        """Take from the full model what the next round needs; ``keep`` also what earlier iterations have seen."""
        if self._resisted:
            low, high = use.friction
            if keep:
                low, high = np.minimum(low, self.friction_bounds[0]), np.maximum(high, self.friction_bounds[1])
            self.friction_bounds = np.stack([low, high])
        if self._reactions is not None and use.reaction is not None:
            self._reactions.update(use.reaction, self.grid.accelerations(x), self._squares(x))
        for sizes in self._platform.values():
            sizes.look_along(self.grid.accelerations(x), self._squares(x))


# ----------------------------------------------------------------------------------------------------------------------
# Limits of reactions as lines: tangents to what they allow in the plane of acceleration u and squared speed x.
#
# The force in a joint is a u + b x + c, with friction's part frozen in c. That its size stays below a limit R is an
# ellipse in this plane, or a strip. From rest, u = x = 0, rays go out to where the first of all joints meets its
# limit;
# the tangent there, n . (a u + b x + c) <= R with n along the force, leaves out nothing that is allowed. Rays go to
# all
# sides of x >= 0, and through the last answers, where the tangents must be exact.

ConstraintRows = tuple[Array, Array, Array]
"""Factors of u and x and bounds of constraints, (N, 2, k) each: a pair bounds one quantity above and below."""
FREE = 1e100
"""A bound that says nothing."""
_SIDES = np.linspace(0.0, np.pi, 8)
_KEPT = 3
"""Last answers through which rays go."""


class Reactions:
    """Reactions of joints at starts and ends of N intervals of lengths ``step`` (N,): parts a, b, c (N + 1, joints, 3)
    without friction, and the ``limit`` (joints,) [N] of their sizes."""

    def __init__(self, parts: tuple[Array, Array, Array], limit: Array, step: Array) -> None:
        self.limit = limit
        self._step = step
        self._a, self._b, self._c = (np.stack([part[:-1], part[1:]]) for part in parts)
        self._aa, self._ab, self._bb = _dot(self._a, self._a), _dot(self._a, self._b), _dot(self._b, self._b)
        sizes = [np.sqrt(part) for part in (self._aa, self._bb)]
        u, x = ((limit / np.where(size > 0, size, 1.0)).min(axis=-1, keepdims=True) for size in sizes)
        self._rays = u * np.cos(_SIDES), x * np.sin(_SIDES)  # (2, N, sides) each
        self._last: list[tuple[Array, Array]] = []

    def update(self, found: Array, u: Array, squares: Array) -> None:
        """Take friction's part from the full model's reactions (2, N, joints, 3) at an answer."""
        self._c = found - u[:, None, None] * self._a - squares[..., None, None] * self._b
        self.look_along(u, squares)

    def look_along(self, u: Array, squares: Array) -> None:
        """Take a ray through an answer, where the tangents are then exact."""
        self._last = [*self._last, (np.broadcast_to(u, squares.shape), squares)][-_KEPT:]

    def rows(self, margin: Array | None) -> list[ConstraintRows]:
        """Constraints at starts and ends; ``margin`` (N, joints) is the share of the limit that is allowed."""
        du, dx = (
            np.concatenate([side, *(ray[k][..., None] for ray in self._last)], axis=-1)
            for k, side in enumerate(self._rays)
        )
        most = np.broadcast_to(self.limit * (1.0 if margin is None else margin), self._aa.shape)
        ca, cb, cc = _dot(self._c, self._a), _dot(self._c, self._b), _dot(self._c, self._c)
        u, x = du[..., None], dx[..., None]  # (2, N, rays, 1)
        aa, ab, bb, ac, bc, room = (
            part[:, :, None] for part in (self._aa, self._ab, self._bb, ca, cb, np.maximum(most**2 - cc, 0.0))
        )
        rise, size = u * ac + x * bc, u * (u * aa + 2 * x * ab) + x * x * bb
        far = np.where(size > 0, (np.sqrt(rise**2 + size * room) - rise) / np.where(size > 0, size, 1.0), FREE)
        first = far.argmin(axis=-1)  # the joint that meets its limit first, (2, N, rays)
        along = np.take_along_axis(far, first[..., None], axis=-1)[..., 0]
        along = np.where((along < FREE) & (along > 0), along, 0.0)

        def of(part: Array) -> Array:
            return np.take_along_axis(part, first, axis=-1)

        tu, tx = along * du, along * dx
        by_u = of(ca) + tu * of(self._aa) + tx * of(self._ab)  # the force there times a, b, c and itself
        by_x = of(cb) + tu * of(self._ab) + tx * of(self._bb)
        rest = of(cc) + tu * of(ca) + tx * of(cb)
        force = np.sqrt(np.maximum(rest + tu * by_u + tx * by_x, 0.0))
        force = np.where(force > 0, force, 1.0)
        by_u, by_x, bound = by_u / force, by_x / force, of(most) - rest / force
        by_u[1] += 2 * self._step[:, None] * by_x[1]  # at an interval's end x is x + 2 d u
        return [_one_sided(by_u[end], by_x[end], bound[end]) for end in (0, 1)]


def _dot(one: Array, other: Array) -> Array:
    return np.asarray((one * other).sum(axis=-1))


def _one_sided(u: Array, x: Array, bound: Array) -> ConstraintRows:
    """Constraints (N, k) each as one of a pair, of which the other says nothing."""
    return np.stack([u, 0 * u], axis=1), np.stack([x, 0 * x], axis=1), np.stack([bound, np.full_like(bound, FREE)], 1)
