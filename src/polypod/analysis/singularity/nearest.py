"""The nearest singular pose: how many millimetres and degrees a pose is away from a singularity."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from ...model import Model
from ..certified.singularity_free import singularity_free_distance
from ..displacements import displace
from ..workspace.compiled import margins
from ..workspace.pose_coordinates import PoseCoordinates
from .report import one_pose

_DIRECTIONS, _STEPS, _LOOKED_AT, _STARTS = 300, 80, 60, 12
_ZERO = 1e-6
"""|det J| over that at the start which is zero after bisection."""


class Nearest(NamedTuple):
    """The nearest singular pose found by some displacements: ``distance`` [m] and ``angle`` [rad] to it, and itself.

    ``inside`` says whether it keeps the robot's limits. No pose nearer than the part ``certain`` (0 to 0.99) of this
    distance is singular, for certain: the distance is between ``certain * distance`` and ``distance``, the angle
    likewise. Not a number where none was found within reach.
    """

    distance: float
    angle: float
    pose: Array
    inside: bool
    certain: float


class NearestSingularities(NamedTuple):
    """Nearest by displacing alone, by turning alone about the platform's origin, and by both (angles in sizes)."""

    moving: Nearest
    turning: Nearest
    both: Nearest


def nearest_singularity(
    model: Model, pose: Array | None = None, reach: float | None = None, seed: int = 0, boxes: int = 80_000
) -> NearestSingularities:
    """The nearest poses in which det J vanishes, from a pose (4, 4), home unless given.

    By rays in many directions, along each of which the first change of sign of det J is found, and from the best of
    them by projecting on the surface det J = 0 until the way is perpendicular to it. ``reach`` [m] is how far is
    looked, twice the robot's size unless given, and half a turn. What is found is singular to rounding; that nothing is
    nearer than ``certain`` times its distance is proven by up to ``boxes`` boxes of displacements; a leg that is
    stretched nearer than that ends the proof there.
    """
    model = model.rigid
    space = PoseCoordinates(model)
    if len(model.actuators) != model.mobility.count:
        raise InputError(
            f"singularity: {model.robot.name!r} has more actuators than degrees of freedom: its det J has no "
            "sign; look "
            "at model.conditioning"
        )
    given = one_pose(model, pose)
    far = 2 * space.scale if reach is None else float(reach)
    if not far > 0:
        raise InputError(f"reach: more than 0 m is needed, got {reach!r}")
    move = _displacement(space, given)
    value = _determinant(model, move, given)
    turns = space.turns
    metric = np.where(turns, model.size, 1.0)
    known = np.zeros((0, len(turns)))
    found = []
    for used in (~turns, turns, np.ones_like(turns)):
        scale = np.where(turns, np.pi, far) * used
        best = _search(value, scale, metric, used, known, np.random.default_rng(seed)) if used.any() else None
        known = known if best is None else np.concatenate([known, best[None]])
        if best is None:
            found.append(Nearest(np.nan, np.nan, np.full((4, 4), np.nan), False, 0.0))
            continue
        far_off = float(np.linalg.norm(best * metric))
        certain = singularity_free_distance(space, given, used, far_off, boxes) / far_off
        found.append(_result(model, move, best, turns, certain))
    return NearestSingularities(*found)


def _search(
    value: Callable[[Array], Array],
    scale: Array,
    metric: Array,
    used: NDArray[np.bool_],
    known: Array,
    rng: np.random.Generator,
) -> Array | None:
    """Displacement (m,) to the nearest zero of det J in the metric, None if no ray meets one; ``known`` are zeros."""
    count = 2 if used.sum() == 1 else _DIRECTIONS * (1 if used.sum() <= 3 else 4)
    ways = rng.normal(size=(count, len(used))) * used
    if used.sum() == 1:
        ways = np.stack([used, -1.0 * used])
    # unit vectors in the metric, as long as the farthest that is looked at
    ways = ways / np.linalg.norm(ways, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.min(np.where(np.abs(ways) > 0, scale / np.abs(ways), np.inf), axis=1)
    ends = ways * length[:, None]
    parts = np.linspace(0.0, 1.0, _STEPS + 1)[1:]
    values = value((parts[None, :, None] * ends[:, None]).reshape(-1, len(used))).reshape(count, _STEPS)
    with np.errstate(invalid="ignore"):
        gone = np.isnan(values)
        # beyond where legs do not close there is no way
        reachable = np.cumsum(gone, axis=1) == 0
        changed = reachable & (values < 0)
    hit = changed.any(axis=1)
    first = changed[hit].argmax(axis=1)
    low, high = parts[first] - 1 / _STEPS, parts[first]
    rays = ends[hit]
    few = np.argsort(np.linalg.norm(rays * high[:, None] * metric, axis=1))[:_LOOKED_AT]
    rays, low, high = rays[few], low[few], high[few]
    for _ in range(50):
        middle = 0.5 * (low + high)
        positive = value(rays * middle[:, None]) > 0
        low, high = np.where(positive, middle, low), np.where(positive, high, middle)
    # where det J jumps a leg has come to its end: that is no zero
    zeros = np.abs(value(rays * high[:, None])) <= _ZERO
    own = known[(known[:, ~used] == 0).all(axis=1)]
    x = np.concatenate([(rays * high[:, None])[zeros], own])
    if not len(x):
        return None
    order = np.argsort(np.linalg.norm(x * metric, axis=1))[:_STARTS]
    return _projected(value, x[order], metric, used)


def _projected(value: Callable[[Array], Array], x: Array, metric: Array, used: NDArray[np.bool_]) -> Array:
    """The nearest of several zeros after moving each to the foot of the way, y = metric x: y <- g (g.y - f)/g.g."""
    best, best_size = x[0], float(np.linalg.norm(x[0] * metric))
    y = x * metric
    step = 1e-6 * np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1e-6)
    for _ in range(60):
        f = value(y / metric)
        slope = np.zeros_like(y)
        for k in np.flatnonzero(used):
            shift = np.zeros(len(used))
            shift[k] = 1.0
            slope[:, k] = (value((y + step * shift) / metric) - value((y - step * shift) / metric)) / (2 * step[:, 0])
        square = (slope * slope).sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            new = slope * ((slope * y).sum(axis=1, keepdims=True) - f[:, None]) / square
        good = np.isfinite(new).all(axis=1)
        size = np.where(np.abs(f) <= 1e-9, np.linalg.norm(y, axis=1), np.inf)
        first = int(size.argmin())
        if size[first] < best_size:
            best, best_size = y[first] / metric, float(size[first])
        # half steps: the surface bends
        y = np.where(good[:, None], 0.5 * (y + new), y)
    return best


def _displacement(space: PoseCoordinates, pose: Array) -> Callable[[Array], Array]:
    """Poses (n, 4, 4) of displacements (n, m) from a pose: along base axes, and by rotation vectors."""
    if not space.full:
        start = space.model.coordinates(pose)
        return lambda x: np.asarray(space.model.motion(start + x, errors="nan").pose)
    return lambda x: displace(pose, x)


def _determinant(model: Model, move: Callable[[Array], Array], pose: Array) -> Callable[[Array], Array]:
    here = float(margins(model, pose[None]).determinant[0])
    if not np.isfinite(here) or here == 0.0:
        raise InputError("pose: it is singular, or the legs do not close there; singularity(model, pose) says more")

    def value(x: Array) -> Array:
        found = margins(model, move(x))
        return np.where(found.closing > 0, found.determinant / here, np.nan)

    return value


def _result(
    model: Model, move: Callable[[Array], Array], x: Array, turns: NDArray[np.bool_], certain: float
) -> Nearest:
    pose = move(x[None])[0]
    found = margins(model, pose[None])
    inside = bool((found.limits >= 0).all())
    return Nearest(float(np.linalg.norm(x[~turns])), float(np.linalg.norm(x[turns])), pose, inside, certain)
