"""Singularities: which kind, how far away, what the platform does there; robots that are singular in every pose.

What a robot does in or near a singularity: which kind it is, and the screw that the platform is free to move by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description.poses import displace
from ..errors import InputError
from ..fingerprint import fingerprint
from ..kernels import Expression, Iteration, Port, port
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..model.arguments import exact_poses
from ..tables import Table, table
from .certified.boxes import Boxes
from .certified.implicit import enclosure_of
from .certified.telescopic_legs import Chart, HexapodJacobian, is_ups_hexapod
from .workspace.maps import workspace_map
from .workspace.pose_coordinates import PoseCoordinates
from .workspace.quantities import margins, scaled_jacobian

if TYPE_CHECKING:
    import xarray as xr

SingularityKind = Literal["actuation", "constraint", "leg"]
_SOURCES = "analysis/singularity.py", "analysis/workspace/quantities.py"


class Screw(NamedTuple):
    """An instantaneous motion.

    Attributes
    ----------
    twist : ndarray, shape (6,)
        Twist of the platform's origin for one radian about the axis, or for one metre of a pure translation, base axes.
    axis : ndarray, shape (3,)
        Unit vector of the axis, or of the translation, base axes.
    point : ndarray, shape (3,)
        Point on the axis in {B} [m].
    pitch : float
        Pitch [m/rad]; infinite for a pure translation.
    """

    twist: Array
    axis: Array
    point: Array
    pitch: float


@dataclass(frozen=True)
class SingularityReport:
    """How near a pose is to each kind of singularity: 1 is good, 0 singular.

    Attributes
    ----------
    kind : str
        The nearest of the three kinds, ``actuation``, ``constraint`` or ``leg``.
    actuation : float
        Smallest singular value of the Jacobian in lengths (as in ``Model.conditioning``); where it is 0, the platform
        can move along ``screw`` with all actuators locked.
    constraint : float
        That of the constraints of the legs (1 if they constrain nothing); where it is 0, the platform gains the degree
        of freedom ``screw``.
    leg : float
        Smallest margin of the conditions of a leg; where it is 0, the leg cannot follow the platform.
    condition : str
        Which condition that is.
    screw : Screw
        The motion that the platform gains.
    """

    kind: SingularityKind
    actuation: float
    constraint: float
    leg: float
    condition: str
    screw: Screw

    def __str__(self) -> str:
        nearest = {"actuation": self.actuation, "constraint": self.constraint, "leg": self.leg}[self.kind]
        return f"nearest singularity: {self.kind} ({nearest:.4g}); {self.motion}"

    @property
    def motion(self) -> str:
        """What the platform does there, in words."""
        if self.kind == "leg":
            return f"a leg cannot follow the platform: {self.condition}"
        locked = "with all actuators locked the platform" if self.kind == "actuation" else "the platform"
        axis, point = (", ".join(f"{v:.3f}" for v in np.round(a, 3) + 0.0) for a in (self.screw.axis, self.screw.point))
        if np.isinf(self.screw.pitch):
            return f"{locked} can translate along ({axis})"
        pitch = round(1e3 * self.screw.pitch, 2)  # less is what the pose is off
        along = f", and moves {pitch:.4g} mm per radian along that axis" if pitch else ""
        return f"{locked} can rotate about ({axis}) through ({point}) m{along}"


def singularity(model: Model, pose: Array | None = None) -> SingularityReport:
    """How near a pose is to each kind of singularity, and what the platform does there.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (4, 4), optional
        Pose of {P} in {B}. Default: home.

    Returns
    -------
    SingularityReport
        Distances to actuation, constraint and leg singularities, and the screw that the platform gains.
    """
    model = model.rigid
    given = one_pose(model, pose)
    matrix, conditions = _matrices(model, given)
    n = len(model.actuators)
    actuated, constrained = matrix[:n], matrix[n:]
    scale = model.size
    constraint, free = 1.0, np.eye(matrix.shape[1])
    lost = None
    if len(constrained):
        rows = constrained / np.linalg.norm(constrained, axis=1, keepdims=True)
        _, values, vectors = np.linalg.svd(rows)
        constraint, free = float(values[-1]), vectors[len(rows) :].T
        lost = vectors[len(rows) - 1]
    values, vectors = np.linalg.svd(actuated @ free)[1:]
    actuation = float(values[-1])
    names = [f"{leg}: {name}" for leg, name in _condition_names(model)]
    worst = int(np.argmin(np.nan_to_num(conditions, nan=-1.0))) if names else -1
    leg = float(np.nan_to_num(conditions, nan=-1.0)[worst]) if names else 1.0
    found: dict[SingularityKind, float] = {"actuation": actuation, "constraint": constraint, "leg": leg}
    kind = min(found, key=lambda key: found[key])
    own = lost if kind == "constraint" and lost is not None else free @ vectors[-1]
    twist = _twist(model, own, scale)
    return SingularityReport(kind, actuation, constraint, leg, names[worst] if names else "", screw_of(twist, given))


def one_pose(model: Model, pose: Array | None) -> Array:
    """A pose (4, 4), home unless given; an error for what is none."""
    model.robot.refuse_internal("singularity")
    if pose is None:
        return model.robot.home.matrix
    given = np.asarray(pose, dtype=np.float64)
    if given.shape != (4, 4):
        raise InputError(f"pose: must be a single pose (4, 4), got {given.shape}")
    exact_poses(np.ascontiguousarray(given[None]), "pose", False)  # for its error: the pose stays as it was given
    return given


def screw_of(twist: Array, pose: Array) -> Screw:
    """The screw of a twist (6) of the platform's origin at a pose: h = w.v/w.w, through p + w x v/w.w."""
    v, w = twist[:3], twist[3:]
    turn = float(np.linalg.norm(w))
    origin = pose[:3, 3]
    reach = max(float(np.linalg.norm(origin)), 1e-3)
    if turn * reach < 1e-9 * float(np.linalg.norm(v)):
        along = v / np.linalg.norm(v)
        return Screw(np.r_[along, np.zeros(3)], along, origin.copy(), np.inf)
    sign = np.sign(w[np.abs(w).argmax()])  # of the two directions the one that counts upward
    v, w = sign * v / turn, sign * w / turn
    pitch = float(w @ v)
    return Screw(np.r_[v, w], w, origin + np.cross(w, v), pitch if abs(pitch) > 1e-12 * reach else 0.0)


def _twist(model: Model, own: Array, scale: float) -> Array:
    """Twist (6) of the platform from numbers of the scaled matrix's columns."""
    if model.kernels.mechanism.platform.is_constrained or not model.robot.dof:
        return own * np.r_[np.ones(3), np.full(3, 1 / scale)]
    basis = model.mobility.basis
    return np.asarray(basis @ (own * np.where(np.abs(basis[3:]).sum(axis=0) > 0, 1 / scale, 1.0)))


def _condition_names(model: Model) -> list[tuple[str, str]]:
    placed = model.kernels.mechanism.placed
    return [(leg.leg.name, c.name) for leg in placed for c in leg.placement.conditions if c.in_quality]


def _matrices(model: Model, pose: Array) -> tuple[Array, Array]:
    """Scaled rows of actuators and constraints, and the margins of the legs' conditions."""
    kernels = model.kernels
    cache_key = kernels.cache_key(f"singularity {fingerprint(*_SOURCES).hex()}")
    kernel = kernels.shared(partial(_expression, kernels.mechanism), cache_key)
    bound = kernel.at(kernels.mechanism.numbers.values) if kernel.parameters else kernel
    matrix, margins = bound(np.ascontiguousarray(pose[None]))
    return matrix[0], margins[0, 1:]


def _expression(mechanism: Mechanism) -> Expression | Iteration:
    x = mechanism.inputs()
    legs = mechanism.resting(x)[1]
    matrix = scaled_jacobian(mechanism, legs)
    stated = [leg.at_tip(c.margin) for leg in legs for c in leg.model.placement.conditions if c.in_quality]
    outputs = port("matrix", matrix, matrix.shape), port("margins", ca.vertcat(1, *stated))
    pose = Port("pose", x.pose.symbols, (4, 4))
    return closed(mechanism, Expression("singularity", (pose,), outputs, mechanism.port))


# ----------------------------------------------------------------------------------------------------------------------
# The nearest singular pose: how many millimetres and degrees a pose is away from a singularity.

_DIRECTIONS, _STEPS, _LOOKED_AT, _STARTS = 300, 80, 60, 12
_ZERO = 1e-6
"""|det J| over that at the start which is zero after bisection."""


class Nearest(NamedTuple):
    """The nearest singular pose found by some kind of displacement; NaN where none was found within reach.

    Attributes
    ----------
    distance : float
        Distance to it [m].
    angle : float
        Angle to it [rad].
    pose : ndarray, shape (4, 4)
        The singular pose, {P} in {B}.
    inside : bool
        Whether it is within the robot's limits.
    certain : float
        No pose nearer than this share (0 to 0.99) of distance and angle is singular, proven.
    """

    distance: float
    angle: float
    pose: Array
    inside: bool
    certain: float


class NearestSingularities(NamedTuple):
    """Nearest singular poses.

    Attributes
    ----------
    moving : Nearest
        By translation alone.
    turning : Nearest
        By rotation alone about the platform's origin.
    both : Nearest
        By both, angles times the robot's size.
    """

    moving: Nearest
    turning: Nearest
    both: Nearest


def nearest_singularity(
    model: Model, pose: Array | None = None, reach: float | None = None, seed: int = 0, boxes: int = 80_000
) -> NearestSingularities:
    """The nearest poses in which det J vanishes.

    Along rays in many directions the first change of sign of det J is found; the best of them are projected on the
    surface det J = 0 until the displacement is perpendicular to it. What is found is singular to rounding. Boxes of
    displacements prove that nothing is nearer than ``certain`` times its distance; a leg that is fully stretched nearer
    than that ends the proof there.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (4, 4), optional
        Pose of {P} in {B}. Default: home.
    reach : float, optional
        How far to search [m], and up to half a turn. Default: twice the robot's size.
    seed : int, optional
        Random seed.
    boxes : int, optional
        Largest number of boxes of the proof.

    Returns
    -------
    NearestSingularities
        Nearest by translation, by rotation and by both.

    Raises
    ------
    InputError
        If the robot has more actuators than degrees of freedom: det J has no sign.
    """
    model.robot.refuse_internal("nearest_singularity")
    model = model.rigid
    space = PoseCoordinates(model)
    if len(model.actuators) != model.mobility.count:
        raise InputError(
            f"singularity: {model.robot.name!r} has more actuators than degrees of freedom, so det J has no sign; "
            "use model.conditioning",
            code="redundant",
        )
    given = one_pose(model, pose)
    far = 2 * space.scale if reach is None else float(reach)
    if not far > 0:
        raise InputError(f"reach: must be greater than 0 m, got {reach!r}")
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
        raise InputError("pose: it is singular, or the legs do not close there; see singularity(model, pose)")

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


# ----------------------------------------------------------------------------------------------------------------------
# How far around a pose no pose is singular, for certain.

_AT_ONCE = 2048
_ALL_BUT = 0.99
"""Part of the distance asked for that is proven at most: at the distance itself there is a singular pose."""


def singularity_free_distance(
    space: PoseCoordinates, pose: Array, used: NDArray[np.bool_], farthest: float, most: int = 40_000
) -> float:
    """Distance [m] from a pose (4, 4) below which none is singular, for certain; at most 0.99 of ``farthest``.

    Displacements are along and about the coordinates ``used`` (m,); the distance of one by d [m] and a turn by a [rad]
    is hypot(d, size a). Boxes of displacements are bisected, nearest first, until those nearer than
    ``farthest`` are known to be regular or ``most`` boxes were looked at: the nearest that is left is the bound. Of
    robots of fewer than six degrees of freedom displacements are those of their coordinates.
    """
    if not used.any() or not np.isfinite(farthest):
        return 0.0
    test = _Test(space, pose)
    size = space.model.size
    angle = min(farthest / size, 0.9 * np.pi)
    half = np.where(space.turns, np.tan(0.5 * angle) if space.full else angle, farthest) * used
    scale = np.where(space.turns, (2.0 if space.full else 1.0) * size, 1.0)
    boxes, taken, target = Boxes.one(-half, half), 0, _ALL_BUT * min(farthest, size * angle)
    near = np.zeros(1)
    while taken < most and len(near) and near.min() < target:
        order = np.argsort(near)
        first, rest = order[:_AT_ONCE], order[_AT_ONCE:]
        part = boxes.only(first)
        taken += len(first)
        halves = part.only(~test(part)).split(scale)
        boxes = Boxes.joined([halves, boxes.only(rest)])
        near = _nearest(boxes, space, size)
        kept = near < target
        boxes, near = boxes.only(kept), near[kept]
    return float(min(near.min(initial=target), target)) * (1 - 1e-12)


def _nearest(boxes: Boxes, space: PoseCoordinates, size: float) -> Array:
    """Distance (n,) of the nearest displacement of each box."""
    nearest = np.maximum(np.maximum(boxes.low, -boxes.high), 0.0)
    move, turn = (np.linalg.norm(nearest[:, part], axis=1) for part in (~space.turns, space.turns))
    return np.asarray(np.hypot(move, size * (2 * np.arctan(turn) if space.full else turn)))


class _Test:
    """Whether all poses of boxes of displacements about a pose are regular."""

    def __init__(self, space: PoseCoordinates, pose: Array) -> None:
        self.pose, self.full = pose, space.full
        self.start = np.zeros(6) if space.full else np.asarray(space.model.coordinates(pose))
        chart: Chart = "about" if space.full else "coordinates"
        self.jacobian = HexapodJacobian(space, "about") if is_ups_hexapod(space) else None
        self.enclosure = None if self.jacobian else enclosure_of(space, chart)

    def __call__(self, boxes: Boxes) -> NDArray[np.bool_]:
        poses = np.repeat(self.pose[None], len(boxes.low), axis=0)
        if self.jacobian is not None:
            return np.asarray(self.jacobian(boxes.low, boxes.high, poses).sign != 0)
        assert self.enclosure is not None
        ends = self.start + boxes.low, self.start + boxes.high
        return self.enclosure(*ends, poses if self.full else None).regular


def margins_table(report: SingularityReport) -> Table:
    """How near a pose is to each kind of singularity."""
    values = [
        ("actuation", report.actuation),
        ("constraint", report.constraint),
        (f"leg ({report.condition})" if report.condition else "leg", report.leg),
    ]
    caption = (
        "Actuation: motion of the joints for the platform's least felt one, mm/mm, rotations as arcs at the platform's "
        "size. Constraint: smallest singular value of the constraints. Leg: its margin. 0 is singular."
    )
    return table("Here", [("kind", ""), ("distance", "1")], values, caption)


def reached(found: NearestSingularities) -> dict[str, Nearest]:
    """The nearest singular poses that were found, by how they are reached."""
    named = {"displacing alone": found.moving, "turning alone": found.turning, "both": found.both}
    return {name: one for name, one in named.items() if np.isfinite(one.distance)}


def nearest_table(nearest: Mapping[str, tuple[Nearest, SingularityReport]]) -> Table:
    """Singular poses by how they are reached: how far they are, what is certain, and what the platform does there."""
    rows = [
        (name, 1e3 * round(one.distance, 9), float(np.degrees(one.angle)),
         f"{100 * one.certain:.0f} %" if one.certain else "not proven", "yes" if one.inside else "no",
         report.kind, report.motion)
        for name, (one, report) in nearest.items()
    ]  # fmt: skip
    columns = [("by", ""), ("distance", "mm"), ("angle", "deg"), ("certain", "")]
    columns += [("within limits", ""), ("kind", ""), ("there", "")]
    caption = "Certain: no pose within this share of the distance is singular, proven by interval arithmetic."
    return table("Nearest singular poses", columns, rows, caption)


def nearest_data(one: Nearest, report: SingularityReport) -> dict[str, Any]:
    """A singular pose as JSON data, SI units; distances from what is proven to what was found."""
    pitch = None if np.isinf(report.screw.pitch) else report.screw.pitch
    return {
        "distance_m": [one.certain * one.distance, one.distance], "angle_rad": [one.certain * one.angle, one.angle],
        "within_limits": one.inside, "pose": one.pose,
        "kind": report.kind, "axis": report.screw.axis, "point_m": report.screw.point, "pitch_m_per_rad": pitch,
    }  # fmt: skip


def section(model: Model, at: Mapping[str, float], points: int = 121) -> xr.Dataset:
    """det J and limits over up to three coordinates around a point: displacements if there are two, else any."""
    model.robot.refuse_internal("singularity")
    space = PoseCoordinates(model)
    moving = [name for name, turns in zip(space.names, space.turns, strict=True) if not turns]
    names = (moving if len(moving) > 1 else list(space.names))[:3]
    start = space.point(at)
    count = points if len(names) < 3 else max(points // 2 | 1, 3)
    far = {n: 1.2 * space.scale if not space.turns[space.index(n)] else 0.5 * np.pi for n in names}
    axes = {n: start[space.index(n)] + np.linspace(-far[n], far[n], count) for n in names}
    return workspace_map(model, axes, at)
