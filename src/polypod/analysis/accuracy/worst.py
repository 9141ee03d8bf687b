"""Bounds of the platform's errors that nothing within the tolerances exceeds, for certain."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError, StateError
from ...mechanism import Mechanism
from ...model import Model
from ...model.arguments import PoseLike
from ...model.derivatives import port_slopes
from ...parameters.paths import value_at
from ...symbols.expression import port
from ...symbols.graph import Graph
from ..certified.intervals import Interval, enclosed
from ..certified.matrices import middle_of
from ..tolerances import Tolerances
from .closures import Closures
from .sources import Source, closures_of, pose_batch, sources_of

_SLACK = 1e-12
"""What sums of products may have lost."""
_COMMAND = 1e-14
"""What a commanded coordinate may be off by the rounding of its own computation, relative to the robot's size."""


class Worst(NamedTuple):
    """Bounds (6) [m, rad] that no error within the tolerances exceeds, rounding included."""

    bound: Array


def worst_case(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Worst:
    """Bounds of the displacement for all errors within the tolerances, second order and beyond counted.

    For legs in closed form; of geometry, for those that hold the platform once. With u a displacement in all six
    components and F the coordinates and what the legs constrain (:mod:`.closures`), the platform is where
    F(u, p + dp) = [q + dq; 0]. Over a box |u| <= r and all dp, intervals of the slopes J = dF/du and P = dF/dp give

        b + G r <= r,   b = sum over causes |C ([dq; 0] - P dp)|,   G = |1 - C J|,   C near J^-1

    and then exactly one such u is in the box, and it is within b + G r (Krawczyk). Every rounding is counted. Where
    only actuators are off, platforms that exact legs keep to their freedoms have u in those, and F is q; of legs that
    hold a platform more than once, F has the constraints that the others follow from.
    """
    poses, shape = pose_batch(model, pose)
    if shape:
        raise InputError(f"worst_case: one pose is needed, got a batch of shape {shape}")
    slopes = _Slopes(model, poses[0], sources_of(model, tolerances, poses), closures_of(model, tolerances))
    solved = np.linalg.inv(slopes.rows)
    box = 1.01 * slopes.needed(solved, np.full(len(solved[0]), 1e-9)) + 1e-15
    for _ in range(30):
        needed = slopes.needed(solved, box)
        if not np.isfinite(needed).all():
            break
        if (needed <= box).all():
            # the box is sent into the one that is needed, which therefore holds the displacement as well
            for _ in range(2):
                needed = np.minimum(needed, slopes.needed(solved, needed))
            return Worst(np.abs(slopes.basis) @ needed * (1 + _SLACK))
        # components that fit stay: larger ones would ask for more in those that are of second order in them
        box = np.where(needed <= box, box, 1.05 * needed)
    raise StateError("worst_case: no bound was found: the errors are too large for this pose, which may be singular")


class _Slopes:
    """Slopes of what holds the platform by displacements and by numbers, as intervals over boxes of both.

    ``rows`` (m, m) are those by displacements, in numbers; a displacement is ``basis`` (6, m) times u.
    """

    def __init__(self, model: Model, pose: Array, sources: list[Source], closures: Closures) -> None:
        whole = model.kernels.mechanism
        if whole.open_legs:
            raise InputError(
                f"worst_case: the legs of {model.robot.name!r} close by iterating; bounds of all orders are for legs "
                "in closed form. A budget's bound is of first order"
            )
        n, geometry = len(model.actuators), any(source.scales for source in sources)
        free = whole.platform.follows_legs or geometry
        if geometry and closures.count != 6:
            raise InputError(
                f"worst_case: the legs of {model.robot.name!r} hold its platform by {closures.count} equations, more "
                "than once: parts that are not exact then fit by strain or play only, and where the platform goes "
                "depends on how stiff each is. Errors of actuators have bounds of all orders; for geometry take the "
                "bound of a budget, of first order, where all parts are equally stiff"
            )
        held, kept = closures.at(pose[None]), _kept(whole) if free else list(range(n))
        self.basis = np.eye(6) if free else model.mobility.basis
        self.rows = held.rows[0][kept] if free else np.asarray(model.jacobian(pose, errors="raise"))
        self._command = np.full(len(self.rows), _COMMAND * max(model.robot.farthest, model.size, 1.0))
        self._command[n:] += np.abs(held.values[0, kept[n:]])  # constraints are zero but for rounding
        sizes = {path: np.size(value_at(model.robot, path)) for source in sources for path in source.scales}
        chain, entries = port_slopes(model.robot, list(sizes))
        mechanism = Mechanism(
            model.robot, model.simplify, lambda entry: (entry.path, entry.index) in entries, free=free
        )
        rows = {k: entries.get((e.path, e.index)) for k, e in enumerate(mechanism.numbers.entries)}
        chosen = [k for k, row in rows.items() if row is not None]
        own = chain[[row for row in rows.values() if row is not None]]
        # what each cause moves coordinates and numbers by, a column for each of its errors, times their bound
        self._moves = [
            (
                np.eye(len(self.rows), n) @ source.at_actuators * source.tolerance.bound,
                own @ _stacked(source, sizes) * source.tolerance.bound,
            )
            for source in sources
        ]
        values, radius = mechanism.numbers.values, np.zeros(len(mechanism.numbers.values))
        radius[chosen] = sum((np.abs(moved).sum(axis=1) for _, moved in self._moves), np.zeros(len(chosen)))
        radius *= 1 + _SLACK
        self._numbers = values - radius, values + radius
        self._ends = _ends(mechanism, pose, chosen, kept)

    def needed(self, solved: Array, box: Array) -> Array:
        """b + G r (m) for a box r (m), with an approximate inverse C (m, n) of J."""
        m = len(box)
        low, high = (np.array(end) for end in self._ends(-box, box, *self._numbers))
        jacobian, by_numbers = (middle_of(low[:, part], high[:, part]) for part in (slice(0, m), slice(m, None)))
        size = np.abs(solved)
        rest = np.abs(np.eye(m) - solved @ jacobian[0]) + size @ (jacobian[1] + _SLACK * np.abs(jacobian[0]))
        total = size @ self._command + rest @ box
        for commanded, moved in self._moves:
            vague = by_numbers[1] @ np.abs(moved) + _SLACK * np.abs(by_numbers[0]) @ np.abs(moved)
            vague += _SLACK * np.abs(commanded)
            total += (np.abs(solved @ (commanded - by_numbers[0] @ moved)) + size @ vague).sum(axis=1)
        return np.asarray(total * (1 + _SLACK) + 1e-300)


def _stacked(source: Source, sizes: dict[str, int]) -> Array:
    """What the numbers of all paths, one after the other, move by for each of a cause's errors."""
    parts = [source.scales.get(path, np.zeros((size, source.columns.shape[2]))) for path, size in sizes.items()]
    return np.concatenate([np.zeros((0, source.columns.shape[2])), *parts])


def _kept(mechanism: Mechanism) -> list[int]:
    """Numbers, among coordinates and all legs' constraints after them, of coordinates and independent constraints."""
    counts = [len(leg.placement.constraints) for leg in mechanism.placed]
    first = len(mechanism.actuators) + np.cumsum([0, *counts])
    used = mechanism.mobility.used if mechanism.mobility is not None else ()
    return [*range(len(mechanism.actuators)), *sorted(int(first[leg]) + k for leg, k in used)]


def _ends(mechanism: Mechanism, pose: Array, chosen: list[int], kept: list[int]) -> ca.Function:
    """(low and high u, low and high numbers) -> ends of dF/d[u, chosen numbers], evaluated as it is, not compiled."""
    u, at, numbers = ca.SX.sym("u", mechanism.platform.count), ca.SX.sym("pose", 16), mechanism.numbers.symbols
    x = mechanism.inputs()
    x.pose = port("pose", mechanism.platform.displaced(at, u), (4, 4))
    legs = mechanism.resting(x)[1]
    values = mechanism.coordinates(legs)
    if mechanism.platform.count == 6:
        values = ca.vertcat(values, *[leg.constraint_values for leg in legs])[kept]
    slopes = ca.densify(ca.jacobian(values, ca.vertcat(u, numbers[chosen])))
    graph = Graph.of(ca.Function("slopes", [u, at, numbers], ca.cse([ca.vec(slopes)])))
    pairs = [[ca.SX.sym(name, part.numel()) for name in ("low", "high")] for part in (u, numbers)]
    boxes = [[Interval(low[k], high[k]) for k in range(low.numel())] for low, high in pairs]
    # the pose is exact: it is the one asked about
    exact = [Interval(ca.SX(value), ca.SX(value)) for value in pose.ravel().tolist()]
    (found,) = enclosed(graph, [boxes[0], exact, boxes[1]])
    ends = [ca.reshape(ca.vertcat(*end), *slopes.shape) for end in zip(*found, strict=True)]
    return ca.Function("ends", [*pairs[0], *pairs[1]], ends)
