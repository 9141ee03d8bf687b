"""Fastest motions with bounded jerk: speeds averaged over a window of time, then slowed until all limits hold.

The mean of the speed over the last tau seconds has a continuous acceleration (w(t) - w(t - tau))/tau, and a jerk of
1/tau times what accelerations change in that time. So the motion that is averaged is the fastest one whose actuators
accelerate by no more than jerk times tau. Between stops each part is averaged by itself, so that stops stay. Of some
windows the one with the shortest motion is taken. This keeps every limit, and is a little slower than the true optimum:
on a straight line with nothing but jerk bounded 3 (2 D/j)^(1/3) instead of (32 D/j)^(1/3), 19 %.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..motion.trajectories.retimed import constant_jerk
from .limits import TENSION, shares, tension_middle
from .path_grid import PathGrid, joint_forces, wrench_at
from .sharing import Sharing, of_least_norm

if TYPE_CHECKING:
    from ..model import Model

_WINDOWS = np.geomspace(0.01, 1.0, 13)
"""Widths of the window as shares of the duration of the shortest part."""
_SAMPLES = 3000
"""Times at which the full model judges a motion while windows are compared."""
_PARTS, _JUDGED = 4, 10_000
"""Of every stretch of constant jerk in the last judgement, where the actuators' jerk jumps from one to the next; more
where stretches are few and long, so that so many times are judged."""
_APART = 1e-6
"""Times of that judgement are at least this part of the duration apart, so that differences of rounding stay small."""
_MAX_SLOWDOWN, _HALVINGS = 16.0, 16


class JerkLimitedLaw(NamedTuple):
    """Jerk constant between knots: times [s], lengths [m], speeds [m/s] and accelerations [m/s^2], (n,)."""

    times: Array
    lengths: Array
    speeds: Array
    accelerations: Array

    def slowed(self, factor: float) -> JerkLimitedLaw:
        """The same path, ``factor`` times as long."""
        return JerkLimitedLaw(self.times * factor, self.lengths, self.speeds / factor, self.accelerations / factor**2)


class _LinearSpeeds:
    """Speeds (n,) at times (n,) with straight lines between: their integrals, at rest before and after."""

    def __init__(self, times: Array, speeds: Array) -> None:
        step = np.diff(times)
        self.times, self.speeds = times, speeds
        self._slope = np.diff(speeds) / step
        self._length = np.concatenate([[0.0], np.cumsum(step * (speeds[1:] + speeds[:-1]) / 2)])
        part = step * (self._length[:-1] + step * (speeds[:-1] / 2 + step * self._slope / 6))
        self._area = np.concatenate([[0.0], np.cumsum(part)])

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Speed, its integral, and the integral of that, at times (...) of which some lie outside."""
        inside = np.clip(t, self.times[0], self.times[-1])
        i = np.clip(np.searchsorted(self.times, inside, "right") - 1, 0, len(self._slope) - 1)
        d, w, a = inside - self.times[i], self.speeds[i], self._slope[i]
        length = self._length[i] + d * (w + d * a / 2)
        area = self._area[i] + d * (self._length[i] + d * (w / 2 + d * a / 6))
        late = np.maximum(t - self.times[-1], 0.0)
        return w + d * a, length, area + late * self._length[-1]


def averaged(grid: PathGrid, x: Array, window: float) -> JerkLimitedLaw:
    """The law whose speed is the mean of sqrt(x) over the last ``window`` seconds, part by part between stops."""
    times, speeds, real = grid.times(x), np.sqrt(x), np.concatenate([[True], grid.step > 0])
    stops = np.flatnonzero(grid.stops & real)
    rows: list[list[Array]] = []
    start, before = 0.0, 0.0
    for first, last in pairwise(stops):
        chosen = np.flatnonzero(real[first : last + 1]) + first
        chosen = chosen if chosen[0] == first else np.insert(chosen, 0, first)
        law = _LinearSpeeds(times[chosen] - times[first], speeds[chosen])
        knots = np.unique(np.concatenate([law.times, law.times + window]))
        knots = knots[np.insert(np.diff(knots) > 1e-9 * knots[-1], 0, True)]
        now, then = law.at(knots), law.at(knots - window)
        part = (
            knots + start,
            (now[2] - then[2]) / window + before,
            (now[1] - then[1]) / window,
            (now[0] - then[0]) / window,
        )
        rows.append([values[0 if not rows else 1 :] for values in part])
        start, before = part[0][-1], grid.length[last]
    return JerkLimitedLaw(*(np.concatenate(columns) for columns in zip(*rows, strict=True)))


def bounded_jerk(
    model: Model, grid: PathGrid, squares: Callable[[dict[str, Array]], Array], limits: dict[str, Array], friction: bool
) -> tuple[JerkLimitedLaw, Array, dict[str, Array]]:
    """The shortest of the averaged laws, slowed until the full model keeps all limits; times (T,) [s] and shares then.

    ``squares`` gives the squares of the fastest speeds (N + 1,) along the path within limits that are not jerks.
    """
    times = grid.times(squares(limits))
    shortest = np.diff(times[grid.stops & np.concatenate([[True], grid.step > 0])]).min()
    best: JerkLimitedLaw | None = None
    for window in _WINDOWS * shortest:
        most = np.minimum(limits.get("acceleration", np.inf), limits["jerk"] * window)
        x = squares({**limits, "acceleration": most})
        judge = _SpeedTest(model, grid, averaged(grid, x, float(window)), limits, friction)
        factor = judge.slowdown(np.inf if best is None else best.times[-1])
        if factor is not None:
            best = judge.law.slowed(factor)
    if best is None:
        raise InputError(f"limits.jerk: exceeded even at {_MAX_SLOWDOWN:g} times the duration; allow more")
    last = _SpeedTest(model, grid, best, limits, friction, _everywhere(best))
    factor = last.slowdown(np.inf)
    if factor is None:
        raise InputError(f"limits.jerk: exceeded even at {_MAX_SLOWDOWN:g} times the duration; allow more")
    return best.slowed(factor), last.time * factor, last.shares(factor)


def _everywhere(law: JerkLimitedLaw) -> Array:
    """Times within every stretch of constant jerk, its ends among them."""
    count = max(_PARTS, -(-_JUDGED // (len(law.times) - 1)))
    parts = np.linspace(law.times[:-1], law.times[1:], count, endpoint=False, axis=1).ravel()
    parts = np.append(parts, law.times[-1])
    apart = np.diff(np.floor(parts / (_APART * parts[-1])), prepend=-1.0) > 0
    apart[-1] = True
    return parts[apart]


class _SpeedTest:
    """What the full model says of a law at several speeds: where it goes does not change with them."""

    def __init__(
        self,
        model: Model,
        grid: PathGrid,
        law: JerkLimitedLaw,
        limits: dict[str, Array],
        friction: bool,
        time: Array | None = None,
    ) -> None:
        self.model, self.law, self.limits, self.friction = model, law, limits, friction
        self.time = np.linspace(0.0, law.times[-1], _SAMPLES) if time is None else time
        length, self.speed, self.acceleration = constant_jerk(self.time, *law)
        self.samples = grid.path.at(length)
        self.wrench = None if grid.wrench is None else wrench_at(grid.wrench, self.samples)
        self.sharing = Sharing(model, self.samples.pose) if Sharing.applies(model) else None

    def slowdown(self, below: float) -> float | None:
        """The least factor of the time that keeps all limits; None if that lasts longer than ``below`` [s]."""
        low, high = 1.0, min(_MAX_SLOWDOWN, below / float(self.time[-1]))
        if high <= low or self.share(high) > 1.0:
            return None
        if self.share(low) <= 1.0:
            return low
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.share(middle) <= 1.0 else (middle, high)
        return high

    def share(self, factor: float) -> float:
        """The largest share of a limit used by the law ``factor`` times as slow."""
        return max(float(share.max()) for share in self.shares(factor).values())

    def shares(self, factor: float) -> dict[str, Array]:
        """Shares (T, actuators or joints) of limits used by the law ``factor`` times as slow.

        Of the jerk they are those of the stretches between times, and of the rms force there is one row.
        """
        model, limits, at = self.model, self.limits, self.samples
        speed, acceleration = self.speed[:, None] / factor, self.acceleration[:, None] / factor**2
        motion = at.pose, speed * at.tangent, acceleration * at.tangent + speed**2 * at.curvature
        force = model.inverse_dynamics(*motion, self.wrench, self.friction, errors="raise", **of_least_norm(model))
        rates, changes = model.rates(*motion[:2]), model.accelerations(*motion)
        time = self.time * factor
        mean = np.trapezoid(force**2, time, axis=0) / time[-1]
        shown = shares(limits, model.robot_limits.numbers, force, rates, changes, motion[1:])
        if "force" in limits and self.sharing is not None:
            shown["force"] = self.sharing.uses(force, np.abs(force), limits["force"])
        if TENSION in limits:
            middle, half = tension_middle(limits[TENSION])
            rest = force - middle
            shown[TENSION] = np.abs(rest) / half
            if self.sharing is not None:
                shown[TENSION] = self.sharing.uses(rest, np.abs(rest), half)
        over = {"jerk": np.diff(changes, axis=0) / np.diff(time)[:, None], "rms_force": np.sqrt(mean)[None]}
        shown |= {kind: np.abs(value) / limits[kind] for kind, value in over.items() if kind in limits}
        if "reaction" in limits:
            found = joint_forces(model, *motion, self.wrench, self.friction)
            shown["reaction"] = np.linalg.norm(found, axis=-1) / limits["reaction"]
        return shown
