"""Motion along straight segments with rounded corners, within limits of speed, acceleration and jerk.

The segments are travelled at their speeds, one after the other, and the result is averaged over time twice, over T1 and
over T2. With r(t) = max(t, 0)^3/6, one segment from t_i to t_i + T_i in direction u_i at speed f_i adds

    f_i u_i (R(t - t_i) - R(t - t_i - T_i)),   R(t) = (r(t) - r(t - T1) - r(t - T2) + r(t - T1 - T2)) / (T1 T2),

so acceleration is continuous and jerk is constant between knots. Where segments follow each other at once the corner is
cut by at most f |u_i+1 - u_i| R((T1 + T2 - g)/2) with g = 0; a pause g between them makes the cut smaller, and at
g = T1 + T2 the motion rests in the corner. T1, T2 and the pauses are chosen such that all limits hold: acceleration is
linear and jerk constant between knots, so what is checked at the knots holds at every instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .contract import Coordinates

_MOST_ROUNDS = 200
_SLACK = 1e-9  # of a limit, for rounding


@dataclass(frozen=True)
class Segments:
    """What is travelled.

    Attributes
    ----------
    points : corners (n + 1, k), no two in a row equal
    speed : largest speeds (n,)
    pause : rests (n + 1,) at the corners, in addition to those that rounding needs [s]
    radius : radii (n,) of arcs that segments are chords of; inf for straight lines
    """

    points: Array
    speed: Array
    pause: Array
    radius: Array


@dataclass(frozen=True)
class CubicMotion:
    """Piecewise cubic coordinates: at times (m,), position, velocity, acceleration and the jerk from then on (m, k)."""

    times: Array
    position: Array
    velocity: Array
    acceleration: Array
    jerk: Array

    def at(self, t: Array) -> Coordinates:
        """Coordinates at times (...)."""
        i = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        h = (t - self.times[i])[..., None]
        x, v, a, j = (part[i] for part in (self.position, self.velocity, self.acceleration, self.jerk))
        return Coordinates(x + h * (v + h * (a / 2 + h * j / 6)), v + h * (a + h * j / 2), a + h * j)


def feed_motion(segments: Segments, acceleration: float, jerk: float, corner: float) -> CubicMotion:
    """The motion along segments within limits; the shorter of one with rounded corners and one that rests in each.

    Parameters
    ----------
    segments : what is travelled
    acceleration : largest norm of the acceleration
    jerk : largest norm of the jerk
    corner : largest distance from the segments; 0 for a rest in every corner

    Returns
    -------
    CubicMotion
        The motion.
    """
    cuts = [corner] if np.isfinite(segments.radius).any() else dict.fromkeys((corner, 0.0))  # chords need rounding
    tried = [_limited(segments, acceleration, jerk, cut) for cut in cuts]
    return min(tried, key=lambda motion: float(motion.times[-1]))


def _limited(segments: Segments, acceleration: float, jerk: float, corner: float) -> CubicMotion:
    """The motion whose corners are cut by that much."""
    top = float(segments.speed.max())
    long = max(top / acceleration, np.sqrt(top / jerk))
    short = top / (jerk * long)
    aim = corner
    for _ in range(_MOST_ROUNDS):
        speed = _speeds(segments, long, short, acceleration, corner)
        starts, spans = _schedule(segments, speed, long, short, aim)
        motion = _filtered(segments, speed, starts, spans, long, short)
        used = np.linalg.norm(motion.acceleration, axis=1).max() / acceleration
        jerked = np.linalg.norm(motion.jerk, axis=1).max() / jerk
        if used > 1 + _SLACK:
            long *= used
        elif jerked > 1 + _SLACK:
            # the shorter of both averages, or both if they are equally long
            short = min(short * jerked, long) if short < long else short * np.sqrt(jerked)
            long = max(long, short)
        else:
            cut = _deviation(segments.points, motion, starts, spans, long + short)
            if cut <= corner * (1 + 1e-6) or aim == 0:
                return motion
            aim = aim * max(0.3, 0.95 * corner / cut) if aim > 1e-6 * corner else 0.0
    raise InputError("speed, acceleration, jerk, corner: no motion within these limits was found; allow more")


def _speeds(segments: Segments, long: float, short: float, acceleration: float, corner: float) -> Array:
    """Speeds (n,) at which arcs keep to the limits: f^2/r <= a, and f^2 (T1^2 + T2^2)/(24 r) <= corner/2."""
    curved = np.isfinite(segments.radius)
    if not curved.any():
        return segments.speed
    slow = np.minimum(0.98 * acceleration * segments.radius, 12 * corner * segments.radius / (long**2 + short**2))
    return np.where(curved, np.minimum(segments.speed, np.sqrt(np.where(curved, slow, 0.0))), segments.speed)


def _response(t: Array, long: float, short: float) -> Array:
    """R(t): the distance of a unit speed that begins at 0, averaged."""

    def cube(s: Array) -> Array:
        return np.maximum(s, 0.0) ** 3 / 6

    return (cube(t) - cube(t - long) - cube(t - short) + cube(t - long - short)) / (long * short)


def _schedule(segments: Segments, speed: Array, long: float, short: float, aim: float) -> tuple[Array, Array]:
    """When each segment begins, and how long it takes, (n,) each."""
    steps = np.diff(segments.points, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    spans, directions, whole = lengths / speed, steps / lengths[:, None], long + short
    bend = np.linalg.norm(np.diff(directions, axis=0), axis=1) * np.maximum(speed[1:], speed[:-1])
    allowed = np.divide(aim, bend, out=np.full_like(bend, np.inf), where=bend > 1e-12)
    low, high = np.zeros_like(bend), np.full_like(bend, whole)
    open_ = _response(np.full_like(bend, whole / 2), long, short) > allowed
    for _ in range(60):
        middle = (low + high) / 2
        cuts = _response((whole - middle) / 2, long, short) > allowed
        low, high = np.where(cuts, middle, low), np.where(cuts, high, middle)
    gaps = np.where(open_, high, 0.0)
    pause = segments.pause[1:-1]
    gaps = np.where(pause > 0, whole + pause, gaps)  # a rest is one
    begun = np.concatenate([[0.0], np.cumsum((spans[:-1] + gaps).astype(np.longdouble))])
    return segments.pause[0] + begun, spans


def _filtered(segments: Segments, speed: Array, starts: Array, spans: Array, long: float, short: float) -> CubicMotion:
    """The sum of all segments, integrated exactly from its jerk."""
    steps = np.diff(segments.points, axis=0)
    velocity = steps / np.linalg.norm(steps, axis=1)[:, None] * speed[:, None] / (long * short)
    delays = np.array([0.0, long, short, long + short])
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    begin, end = starts[:, None] + delays, (starts + spans)[:, None] + delays
    times = np.concatenate([begin.ravel(), end.ravel()])
    jumps = (signs[None, :, None] * velocity[:, None, :]).reshape(-1, steps.shape[1])
    jumps = np.concatenate([jumps, -jumps])
    last = times.max() + segments.pause[-1]
    times = np.concatenate([[0.0], times, [last]])
    jumps = np.concatenate([0 * jumps[:1], jumps, 0 * jumps[:1]])
    order = np.argsort(times, kind="stable")
    times, jumps = times[order], jumps[order]
    # thousands of terms are added: rounding of long doubles stays below that of the result
    h = np.diff(times)[:, None]
    j = np.cumsum(jumps.astype(np.longdouble), axis=0)
    zero = np.zeros_like(j[:1])
    a = np.concatenate([zero, np.cumsum(j[:-1] * h, axis=0)])
    v = np.concatenate([zero, np.cumsum(h * (a[:-1] + h * j[:-1] / 2), axis=0)])
    x = segments.points[0] + np.concatenate([zero, np.cumsum(h * (v[:-1] + h * (a[:-1] / 2 + h * j[:-1] / 6)), axis=0)])
    keep = np.concatenate([h[:, 0] > 1e-13 * last, [True]])
    return CubicMotion(*(np.asarray(part[keep], dtype=float) for part in (times, x, v, a, j)))


def _deviation(points: Array, motion: CubicMotion, starts: Array, spans: Array, whole: float) -> float:
    """Largest distance of the motion from the segments, at knots and three instants between each two."""
    edges = motion.times
    starts = starts.astype(float)
    t = np.concatenate([edges[:-1] + part * np.diff(edges) for part in (0.0, 0.25, 0.5, 0.75)])
    x = motion.at(t).x
    now = np.searchsorted(starts, t - whole / 2, side="right") - 1
    # segments that begin within half an average of another
    reach = 1 + int(np.max(np.searchsorted(starts, starts + spans + whole, side="right") - np.arange(len(starts))))
    nearest = np.full(len(t), np.inf)
    steps = np.diff(points, axis=0)
    squares = (steps**2).sum(axis=1)
    for offset in range(-reach, reach + 1):
        i = np.clip(now + offset, 0, len(steps) - 1)
        along = np.clip(((x - points[i]) * steps[i]).sum(axis=1) / squares[i], 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(x - points[i] - along[:, None] * steps[i], axis=1))
    return float(nearest.max())
