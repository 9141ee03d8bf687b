"""Where the platform may be for all that is not exact: by derivatives, by drawing at random, and bounds of all orders.

A controller commands the coordinates q of a pose by the numbers of the file. With errors dp of numbers and dq of
coordinates the platform is displaced by x (6), base axes: J x + (dq/dp) dp = dq to first order.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, StateError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..model.arguments import Argument, PoseLike, batch
from ..model.derivatives import port_slopes
from ..parameters.paths import matching_paths, value_at
from ..symbols.expression import Expression, port
from .tolerances import Tolerance, Tolerances

Array = NDArray[np.float64]
_GEOMETRY = ("axis", "axes", "rail_direction", "rotation")
_STEPS = 6
_FOUND = 1e-10


class Source(NamedTuple):
    """One cause of errors: c independent numbers of one tolerance.

    ``columns`` (..., n, c) is what the coordinates of the commanded pose are off by for a unit of each. Errors of
    numbers are ``path`` plus ``scale`` (k, c) times the c errors; ``at_actuators`` (n, c) are those of coordinates.
    """

    name: str
    tolerance: Tolerance
    columns: Array
    scales: dict[str, Array]
    at_actuators: Array


class Budget(NamedTuple):
    """Errors of the platform [m, rad] by cause, to first order.

    ``deviation`` (..., 6) is the standard deviation of each component, ``bound`` (..., 6) the largest possible (of
    normal distributions, at three standard deviations). ``parts`` (..., s, 6) are the standard deviations by source,
    ``share`` (..., s) their part of the variance of the displacement, rotations weighted by the platform's size;
    ``names`` (s). Sources stand in the order of their share at the first pose, largest first.
    """

    deviation: Array
    bound: Array
    parts: Array
    share: Array
    names: tuple[str, ...]


class Scatter(NamedTuple):
    """Displacements (samples, 6) of the platform drawn at random, by the exact equations; ``lost`` had no pose."""

    displacement: Array
    lost: int

    @property
    def deviation(self) -> Array:
        """Standard deviation (6) of each component."""
        return np.asarray(self.displacement.std(axis=0))


class Worst(NamedTuple):
    """Bounds (6) [m, rad] that no error within the tolerances exceeds, rounding of the computation apart."""

    bound: Array


def budget(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Budget:
    """The error budget at poses (..., 4, 4), home unless given: x = J^-1 (dq - (dq/dp) dp)."""
    poses, shape = _poses(model, pose)
    sources = _sources(model, tolerances, poses)
    inverse = _inverse(model, poses)
    weight = np.r_[np.ones(3), np.full(3, model.size)] ** 2
    parts, bounds = [], []
    for source in sources:
        moved = model.mobility.basis @ inverse @ source.columns
        parts.append(np.sqrt((moved * moved).sum(axis=2)) * source.tolerance.deviation)
        bounds.append(np.abs(moved).sum(axis=2) * source.tolerance.bound)
    listed = np.stack(parts, axis=1)
    variance = (listed * listed * weight).sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = variance / variance.sum(axis=1, keepdims=True)
    order = np.argsort(-share[0], kind="stable") if len(share) else np.arange(len(sources))
    names = tuple(sources[k].name for k in order)
    deviation = np.sqrt((listed * listed).sum(axis=1))
    s = len(sources)
    return Budget(
        deviation.reshape(*shape, 6),
        np.sum(bounds, axis=0).reshape(*shape, 6),
        listed[:, order].reshape(*shape, s, 6),
        share[:, order].reshape(*shape, s),
        names,
    )


def scatter(
    model: Model, tolerances: Tolerances, pose: PoseLike | None = None, samples: int = 1000, seed: int = 0
) -> Scatter:
    """Displacements at one pose for errors drawn at random, each found by Newton's iteration on the exact equations."""
    if samples < 1:
        raise InputError(f"samples: at least 1 is needed, got {samples}")
    poses, shape = _poses(model, pose)
    if shape:
        raise InputError(f"scatter: one pose is needed, got a batch of shape {shape}")
    draw = np.random.default_rng(seed)
    n = len(model.actuators)
    goal = np.tile(np.asarray(model.inverse_kinematics(poses[0])), (samples, 1))
    changed: dict[str, Array] = {}
    for source in _sources(model, tolerances, poses):
        errors = source.tolerance.sample(draw, (samples, source.columns.shape[2]))
        goal = goal + errors @ source.at_actuators.T
        for path, scale in source.scales.items():
            own = np.array(value_at(model.robot, path), dtype=np.float64)
            old = changed.get(path, np.broadcast_to(own, (samples, *own.shape)))
            changed[path] = old + (errors @ scale.T).reshape(samples, *own.shape)
    at = np.tile(poses[0], (samples, 1, 1))
    error = np.zeros((samples, n))
    for _ in range(_STEPS):
        designs = changed or None
        error = goal - np.asarray(model.inverse_kinematics(at, errors="nan", parameters=designs))
        slopes = np.asarray(model.jacobian(at, errors="nan", parameters=designs))
        good = np.isfinite(error).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2))
        step = np.linalg.solve(slopes[good], error[good][..., None])[..., 0] @ model.mobility.basis.T
        at[good] = _moved(at[good], step)
    found = np.isfinite(error).all(axis=1) & (np.abs(error).max(axis=1) <= _FOUND * (1 + model.size))
    return Scatter(_displacement(poses[0], at[found]), int((~found).sum()))


def worst_case(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Worst:
    """Bounds of the displacement for all errors within the tolerances, second order and beyond counted.

    Of robots on six struts whose lengths are actuated (UPS), for tolerances of their joints' places and coordinates.
    A strut's length changes by n.d + r, 0 <= r <= |d|^2/(2 (l - |d|)), for a displacement d between its ends. If for a
    box |x| <= e the first-order errors and these rests, times |J^-1|, stay within e, the box holds a pose (Brouwer).
    """
    poses, shape = _poses(model, pose)
    if shape:
        raise InputError(f"worst_case: one pose is needed, got a batch of shape {shape}")
    struts = _strut_data(model, tolerances, poses[0])
    sources = _sources(model, tolerances, poses)
    inverse = np.abs(_inverse(model, poses)[0])
    linear = np.zeros(6)
    for source in sources:
        linear += np.abs(_inverse(model, poses)[0] @ source.columns[0]).sum(axis=1) * source.tolerance.bound
    box = 1.01 * linear + 1e-15
    for _ in range(60):
        needed = linear + inverse @ struts.rest(box)
        if not np.isfinite(needed).all():
            break
        if (needed <= box).all():
            # the box is sent into the one that is needed, which therefore holds the pose as well
            for _ in range(5):
                needed = linear + inverse @ struts.rest(needed)
            return Worst(needed)
        box = 1.05 * np.maximum(box, needed)
    raise StateError("worst_case: no bound was found: the errors are too large for this pose, which may be singular")


class _Struts(NamedTuple):
    """Lengths (6) of the struts, arms (6) of the platform's joints, bounds (6) of errors of both joints [m]."""

    length: Array
    arm: Array
    base: Array
    platform: Array

    def rest(self, box: Array) -> Array:
        """What the lengths change by beyond first order, at most, for displacements in a box (6)."""
        move, turn = np.linalg.norm(box[:3]), np.linalg.norm(box[3:])
        reach = move + turn * self.arm + self.base + self.platform
        with np.errstate(divide="ignore", invalid="ignore"):
            curved = np.where(reach < self.length, reach**2 / (2 * (self.length - reach)), np.inf)
        return np.asarray((curved + 0.5 * turn**2 * self.arm + turn * self.platform) * (1 + 1e-12))


def _strut_data(model: Model, tolerances: Tolerances, pose: Array) -> _Struts:
    legs = model.robot.legs
    if not model.mobility.full or len(legs) != 6 or any(leg.kind != "UPS" for leg in legs):
        raise InputError(
            f"worst_case: bounds of all orders are known for six UPS legs; {model.robot.name!r} has others. A budget's "
            "bound is of first order"
        )
    wide: dict[str, Array] = {"base": np.zeros((6, 3)), "platform": np.zeros((6, 3))}
    listed = [(pattern, t.bound, False) for pattern, t in tolerances.numbers.items()]
    listed += [(p, g.expansion * g.temperature.bound, True) for g in tolerances.growth for p in g.numbers]
    for pattern, bound, relative in listed:
        for path in matching_paths(model.robot, pattern):
            parts = path.split(".")
            if len(parts) != 3 or parts[2] not in wide:
                raise InputError(f"worst_case: no bound for errors of {path}; only of base and platform joints")
            own = np.abs(np.array(value_at(model.robot, path))) if relative else 1.0
            wide[parts[2]][int(parts[1])] += bound * own
    arm = np.linalg.norm(model.robot.attachments, axis=1)
    q = np.asarray(model.inverse_kinematics(pose))
    return _Struts(q, arm, *(np.linalg.norm(wide[name], axis=1) for name in ("base", "platform")))


def _poses(model: Model, pose: PoseLike | None) -> tuple[Array, tuple[int, ...]]:
    if model.robot.flexible:
        raise InputError(f"accuracy: {model.robot.name!r} has a flexible platform; ask for that of model.rigid")
    states = batch([Argument("pose", model.robot.home.matrix if pose is None else pose, (4, 4))])
    return model._calls.exact_pose(states.rows[0], "pose", bool(states.shape)), states.shape


def _inverse(model: Model, poses: Array) -> Array:
    """J^-1 (k, m, n)."""
    if len(model.actuators) != model.mobility.count:
        raise InputError(
            f"accuracy: {model.robot.name!r} has more actuators than freedoms: they work against each other"
        )
    return np.asarray(np.linalg.inv(np.asarray(model.jacobian(poses, errors="raise"))))


def _sources(model: Model, tolerances: Tolerances, poses: Array) -> list[Source]:
    """Every cause of errors, with its slopes at poses (k, 4, 4)."""
    n, k = len(model.actuators), len(poses)
    patterns = [*tolerances.numbers, *(p for growth in tolerances.growth for p in growth.numbers)]
    paths = list(dict.fromkeys(path for pattern in patterns for path in matching_paths(model.robot, pattern)))
    _refuse(model, paths)
    slopes = _slopes(model, tuple(paths), poses)
    eye = np.eye(n)
    sources: list[Source] = []
    for pattern, tolerance in tolerances.numbers.items():
        for path in matching_paths(model.robot, pattern):
            size = slopes[path].shape[2]
            sources.append(Source(path, tolerance, -slopes[path], {path: np.eye(size)}, np.zeros((n, size))))
    single = {"actuators": tolerances.actuators}
    single |= {name: _uniform(getattr(tolerances, name) / 2) for name in ("encoder_step", "backlash")}
    for name, own in single.items():
        for i, actuator in enumerate(model.actuators if own is not None and own.bound > 0 else ()):
            assert own is not None
            column = eye[:, i : i + 1]
            sources.append(Source(f"{name} {actuator.name}", own, np.tile(column, (k, 1, 1)), {}, column))
    q = np.asarray(model.inverse_kinematics(poses))
    for growth in tolerances.growth:
        grown = [path for pattern in growth.numbers for path in matching_paths(model.robot, pattern)]
        scales = {p: growth.expansion * np.ravel(value_at(model.robot, p))[:, None] for p in grown}
        columns = np.zeros((k, n, 1))
        for path, scale in scales.items():
            columns = columns - slopes[path] @ scale
        lengths = np.array([growth.actuators and a.unit == "m" for a in model.actuators]) * growth.expansion
        at_actuators = (lengths * q[0])[:, None]
        sources.append(
            Source(growth.name, growth.temperature, columns + (lengths * q)[..., None], scales, at_actuators)
        )
    if not sources:
        raise InputError("tolerances: nothing is off: give numbers, actuators, encoder_step, backlash or growth")
    return sources


def _uniform(bound: float) -> Tolerance:
    return Tolerance(distribution="uniform", within=bound)


def _refuse(model: Model, paths: list[str]) -> None:
    """Raise for numbers whose errors this analysis does not know."""
    for path in paths:
        if not model.mobility.full:
            raise InputError(
                f"tolerances: {path}: with other geometry the platform of {model.robot.name!r}, of fewer than six "
                "freedoms, leaves them; errors of its actuators can be given"
            )
        if path.rpartition(".")[2] in _GEOMETRY:
            raise InputError(f"tolerances: {path}: a direction has length 1, so its numbers cannot be off one by one")


def _slopes(model: Model, paths: tuple[str, ...], poses: Array) -> dict[str, Array]:
    """dq/dp (k, n, size) of every path at poses (k, 4, 4), exact by differentiation, compiled."""
    if not paths:
        return {}
    chain, entries = port_slopes(model.robot, list(paths))
    mechanism = Mechanism(model.robot, model.simplify, lambda entry: (entry.path, entry.index) in entries)
    places = [entries[e.path, e.index] for e in mechanism.numbers.entries if (e.path, e.index) in entries]
    chosen = [k for k, e in enumerate(mechanism.numbers.entries) if (e.path, e.index) in entries]
    n = len(model.actuators)
    sizes = [int(np.size(value_at(model.robot, path))) for path in paths]
    if not chosen:
        whole = np.zeros((len(poses), n, sum(sizes)))
    else:

        def build() -> Expression:
            x = mechanism.inputs()
            _, legs = mechanism.resting(x)
            slopes = ca.jacobian(mechanism.coordinates(legs), mechanism.numbers.symbols[chosen])
            outputs = port("slopes", slopes, (n, len(chosen))), port("quality", mechanism.quality(legs), ())
            return Expression("coordinate_slopes", x.place, outputs, mechanism.port)

        kernel = Kernel(lambda: closed(mechanism, build())).at(mechanism.numbers.values)
        found, quality = kernel(poses)
        if not (quality > SMALLEST_MARGIN).all():
            bad = np.flatnonzero(~(quality > SMALLEST_MARGIN))
            raise StateError(f"accuracy: no answer at state {bad[0]}: the pose is out of reach", bad)
        whole = found @ chain[places]
    parts = np.split(whole, np.cumsum(sizes)[:-1], axis=2)
    return dict(zip(paths, parts, strict=True))


def _moved(pose: Array, step: Array) -> Array:
    """Poses (k, 4, 4) displaced by [translation; rotation vector] (k, 6), base axes."""
    from scipy.spatial.transform import Rotation

    moved = pose.copy()
    moved[:, :3, 3] += step[:, :3]
    moved[:, :3, :3] = Rotation.from_rotvec(step[:, 3:]).as_matrix() @ pose[:, :3, :3]
    return moved


def _displacement(first: Array, last: Array) -> Array:
    """Displacements (k, 6) from a pose to others (k, 4, 4)."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(last[:, :3, :3] @ first[:3, :3].T).as_rotvec()
    return np.concatenate([last[:, :3, 3] - first[:3, 3], turn], axis=1)
