"""Bounds of the platform's errors that nothing within the tolerances exceeds, for certain."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...description import Robot
from ...description.paths import get
from ...errors import InputError, StateError
from ...legs import Chain
from ...mechanism import Mechanism
from ...model import Model
from ...model.arguments import PoseLike
from ...parameters.design import port_jacobian
from ...symbols.expression import port
from ...symbols.graph import Graph
from ..certified.equations import leg_equations
from ..certified.intervals import Interval, evaluate_intervals, midpoint_radius
from ..tolerances import Tolerances
from .sources import Closures, Source, closures_of, pose_batch, sources_of

_SLACK = 1e-12
"""What sums of products may have lost."""
_COMMAND = 1e-14
"""What a commanded coordinate may be off by the rounding of its own computation, relative to the robot's size."""
_FITS = 1e-12
"""What constraints that follow from others may be off by, relative to the robot's size: rounding, not strain."""


class _StrainError(InputError):
    """Legs that may fit by strain only."""

    code = "strain_unproven"


class Worst(NamedTuple):
    """Rigorous worst case of the platform's error.

    Attributes
    ----------
    bound : ndarray, shape (6,)
        Bounds [m, rad] that no error within the tolerances exceeds, rounding included.
    """

    bound: Array


def worst_case(model: Model, tolerances: Tolerances, pose: PoseLike | None = None) -> Worst:
    """Rigorous bounds of the platform's displacement for all errors within the tolerances.

    With u a displacement in all six components and F the actuated coordinates and the constraints of the legs, the
    platform is where F(u, p + dp) = [q + dq; 0]. Legs closed by iteration add their unknowns to u and their closure
    equations to F. Over a box |u| <= r and all dp, intervals of the derivatives J = dF/du and P = dF/dp give

        b + G r <= r,   b = sum over causes |C ([dq; 0] - P dp)|,   G = |1 - C J|,   C near J^-1

    and then exactly one such u is in the box, and it is within b + G r (Krawczyk). Every rounding is counted. Where
    only actuators are off, platforms that exact legs keep to their degrees of freedom have u in those, and F is q.
    Overconstrained legs fit without strain only if the redundant constraints are zero over the whole box but for
    rounding: where geometry is off, that is proven or the call is refused.

    Parameters
    ----------
    model : Model
        Model of the robot.
    tolerances : Tolerances
        What is not exact about the robot.
    pose : array_like or RigidTransform, shape (4, 4), optional
        Pose of {P} in {B}. Default: home.

    Returns
    -------
    Worst
        Bounds of the displacement [m, rad].

    Raises
    ------
    InputError
        If the robot would be strained, or a batch of poses is given.
    """
    poses, shape = pose_batch(model, pose)
    if shape:
        raise InputError(f"worst_case: needs a single pose, got a batch of shape {shape}")
    sources, closures = sources_of(model, tolerances, poses), closures_of(model, tolerances)
    if any(source.scales for source in sources):
        try:
            return _bounded(_Derivatives(model, _by_equations(model.robot), poses[0], sources, closures))
        except _StrainError:
            pass  # closed forms of legs that hold a platform more than once may show what their equations do not
    return _bounded(_Derivatives(model, model.robot, poses[0], sources, closures))


def _bounded(derivatives: _Derivatives) -> Worst:
    try:
        solved = np.asarray(np.linalg.inv(derivatives.rows), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise StateError("worst_case: no bound: the pose is singular") from error
    box = 1.01 * derivatives.needed(solved, np.full(len(solved[0]), 1e-9)) + 1e-15
    for _ in range(30):
        needed = derivatives.needed(solved, box)
        if not np.isfinite(needed).all():
            break
        if (needed <= box).all():
            # the box is sent into the one that is needed, which therefore holds the displacement as well
            for _ in range(2):
                needed = np.minimum(needed, derivatives.needed(solved, needed))
            if derivatives.geometry:
                derivatives.refuse_strain(needed)
            return Worst(np.abs(derivatives.basis) @ needed[: derivatives.basis.shape[1]] * (1 + _SLACK))
        # components that fit stay: larger ones would ask for more in those that are of second order in them
        box = np.where(needed <= box, box, 1.05 * needed)
    raise StateError("worst_case: no bound was found: the errors are too large for this pose, which may be singular")


class _Derivatives:
    """Derivatives of what holds the platform by displacements and by numbers, as intervals over boxes of both.

    ``rows`` (m + z, m + z) are those by displacements, in numbers; a displacement of the platform is ``basis`` (6, m)
    times the first m of them, the others are those of the legs' unknowns.
    """

    def __init__(self, model: Model, robot: Robot, pose: Array, sources: list[Source], closures: Closures) -> None:
        whole = model.kernels.mechanism
        n, geometry = len(model.actuators), any(source.scales for source in sources)
        self.geometry = geometry
        free = whole.platform.is_constrained or (geometry and closures.count == 6)
        held = (closures if robot is model.robot else Closures(model, (), robot)).at(pose[None])
        if not held.good.all():
            raise StateError("worst_case: no answer: the pose is out of reach")
        self.basis = np.eye(6) if free else model.mobility.basis
        sizes = {path: np.size(get(model.robot, path)) for source in sources for path in source.scales}
        chain, entries = port_jacobian(robot, list(sizes))
        mechanism = Mechanism(robot, model.simplify, lambda entry: (entry.path, entry.index) in entries, free=free)
        kept = kept_equations(mechanism) if free else list(range(n))
        rows = {k: entries.get((e.path, e.index)) for k, e in enumerate(mechanism.numbers.entries)}
        chosen = [k for k, row in rows.items() if row is not None]
        own = chain[[row for row in rows.values() if row is not None]]
        equations = IntervalEquations(mechanism, pose, held.places[0], chosen, kept)
        self._ends, self.rows = equations.ends, equations.rows
        self._name, self._size = model.robot.name, max(model.robot.farthest, model.size, 1.0)
        self._command = equations.off(n, _COMMAND * self._size)
        # what each cause moves coordinates and numbers by, a column for each of its errors, times their bound
        self._moves = [
            (
                np.eye(len(self._command), n) @ source.at_actuators * source.tolerance.bound,
                own @ _stacked(source, sizes) * source.tolerance.bound,
            )
            for source in sources
        ]
        values, radius = mechanism.numbers.values, np.zeros(len(mechanism.numbers.values))
        radius[chosen] = sum((np.abs(moved).sum(axis=1) for _, moved in self._moves), np.zeros(len(chosen)))
        radius *= 1 + _SLACK
        self._numbers = values - radius, values + radius

    def needed(self, solved: Array, box: Array) -> Array:
        """b + G r (m) for a box r (m), with an approximate inverse C (m, m) of J."""
        m = len(box)
        jacobian, by_numbers = self._over(box, slice(0, m))
        size = np.abs(solved)
        rest = np.abs(np.eye(m) - solved @ jacobian[0]) + size @ (jacobian[1] + _SLACK * np.abs(jacobian[0]))
        total = size @ self._command[:m] + rest @ box
        for commanded, moved in self._moves:
            own = commanded[:m]
            vague = by_numbers[1] @ np.abs(moved) + _SLACK * np.abs(by_numbers[0]) @ np.abs(moved)
            vague += _SLACK * np.abs(own)
            total += (np.abs(solved @ (own - by_numbers[0] @ moved)) + size @ vague).sum(axis=1)
        return np.asarray(total * (1 + _SLACK) + 1e-300)

    def refuse_strain(self, box: Array) -> None:
        """Raise if constraints that should follow from the others may be off in a box of displacements (m)."""
        m = len(box)
        jacobian, by_numbers = self._over(box, slice(m, None))
        off = self._command[m:] + (np.abs(jacobian[0]) + jacobian[1]) @ box
        for _, moved in self._moves:
            off += (np.abs(by_numbers[0] @ moved) + by_numbers[1] @ np.abs(moved)).sum(axis=1)
        if off.max(initial=0.0) > _FITS * self._size:
            raise _StrainError(
                f"worst_case: the legs of {self._name!r} overconstrain its platform, and it could not be proven "
                f"that with these errors they still fit without strain: they may be off by {off.max():.2g} m or "
                "rad, and the platform's position then depends on the stiffness of each part. Give errors that "
                "keep the required axes parallel or intersecting; errors of actuators have bounds of all orders"
            )

    def _over(self, box: Array, rows: slice) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Middles and radii of the derivatives of some rows of F by displacements and by numbers."""
        m = len(box)
        low, high = (np.array(end)[rows] for end in self._ends(-box, box, *self._numbers))
        return midpoint_radius(low[:, :m], high[:, :m]), midpoint_radius(low[:, m:], high[:, m:])


def _by_equations(robot: Robot) -> Robot:
    """The robot with all legs drawn at home closed by their equations, of which intervals lose less than of roots.

    Bounds of a Delta's rotations are a tenth above first order then, and eight times as large by its closed forms.
    """
    home = robot.home.position, robot.home.rotation
    legs = [
        leg.model_copy(update={"closing": "newton"}).at_home(*home) if isinstance(leg, Chain) else leg
        for leg in robot.legs
    ]
    return robot.model_copy(update={"legs": tuple(legs)})


def _stacked(source: Source, sizes: dict[str, int]) -> Array:
    """What the numbers of all paths, one after the other, move by for each of a cause's errors."""
    parts = [source.scales.get(path, np.zeros((size, source.columns.shape[2]))) for path, size in sizes.items()]
    return np.concatenate([np.zeros((0, source.columns.shape[2])), *parts])


# ----------------------------------------------------------------------------------------------------------------------
# What holds a platform at a pose, with its derivatives as intervals over boxes of displacements and of numbers.

_ROUNDED = 1e-15
"""What a cosine and a sine may be off by from those of an angle, relative to their size."""


def kept_equations(mechanism: Mechanism) -> list[int]:
    """Numbers, among coordinates and all legs' constraints after them, of coordinates and independent constraints."""
    counts = [len(leg.placement.constraints) for leg in mechanism.placed]
    first = len(mechanism.actuators) + np.cumsum([0, *counts])
    used = mechanism.mobility.used if mechanism.mobility is not None else ()
    return [*range(len(mechanism.actuators)), *sorted(int(first[leg]) + k for leg, k in used)]


class IntervalEquations:
    """F at a pose in symbols, with ``places`` (p) of the legs' unknowns, and its derivatives as intervals.

    ``ends`` is (low and high u, low and high numbers) -> ends of dF/d[u, chosen numbers], evaluated as it is, not
    compiled; ``rows`` are the derivatives by u in the pose itself. First come, as many as u, the coordinates and
    constraints ``kept`` and what closes legs, after them constraints that should follow.
    """

    def __init__(self, mechanism: Mechanism, pose: Array, places: Array, chosen: list[int], kept: list[int]) -> None:
        m, numbers = mechanism.platform.count, mechanism.numbers.symbols
        start = ca.SX.sym("start", len(places))
        u, at = ca.SX.sym("u", m + sum(count for _, count in _unknowns(mechanism))), ca.SX.sym("pose", 16)
        values, self._closing = _values(mechanism, u, at, start, kept)
        derivatives = ca.densify(ca.jacobian(values, ca.vertcat(u, numbers[chosen])))
        graph = Graph.of(ca.Function("derivatives", [u, at, start, numbers], ca.cse([ca.vec(derivatives), values])))
        pairs = [[ca.SX.sym(name, part.numel()) for name in ("low", "high")] for part in (u, numbers)]
        boxes = [[Interval(low[k], high[k]) for k in range(low.numel())] for low, high in pairs]
        # the pose is exact: it is the one asked about; a cosine and a sine are those of an angle but for rounding
        exact = [Interval(ca.SX(value), ca.SX(value)) for value in pose.ravel().tolist()]
        near = [Interval(ca.SX(v - _ROUNDED * abs(v)), ca.SX(v + _ROUNDED * abs(v))) for v in places.tolist()]
        found, there = evaluate_intervals(graph, [boxes[0], exact, near, boxes[1]])
        self.ends = ca.Function(
            "ends",
            [*pairs[0], *pairs[1]],
            [ca.reshape(ca.vertcat(*end), *derivatives.shape) for end in zip(*found, strict=True)],
        )
        ends = [ca.vertcat(*end) for end in zip(*there, strict=True)]
        here = [np.zeros(u.numel())] * 2 + [mechanism.numbers.values] * 2
        low, high = (np.array(end).ravel() for end in ca.Function("values", [*pairs[0], *pairs[1]], ends)(*here))
        self._left = np.maximum(np.abs(low), np.abs(high))
        low, high = (np.array(end)[:, : u.numel()] for end in self.ends(*here))
        self.rows: Array = 0.5 * (low + high)[: u.numel()]

    def off(self, n: int, command: float) -> Array:
        """What all of F may be off by in the pose itself: constraints and closing are zero but for rounding.

        Coordinates are commanded for the legs' exact unknowns, to which a step of Newton leads from the places found.
        """
        off = np.concatenate([np.full(n, command), command + self._left[n:]])
        k = self._closing
        if k:
            m = len(self.rows)
            step = np.abs(np.linalg.inv(self.rows[-k:, -k:])) @ self._left[m - k : m]
            off[:n] += 2 * np.abs(self.rows[:n, -k:]) @ step
        return off


def _unknowns(mechanism: Mechanism) -> list[tuple[int, int]]:
    """Places and displacements of the unknowns of every leg."""
    found = [leg.placement.unknowns for leg in mechanism.placed]
    return [(0, 0) if u is None else (u.place.numel(), u.move.numel()) for u in found]


def _values(mechanism: Mechanism, u: ca.SX, pose: ca.SX, start: ca.SX, kept: list[int]) -> tuple[ca.SX, int]:
    """F with constraints that are not kept last, and how many equations close legs."""
    m = mechanism.platform.count
    x = mechanism.inputs()
    x.pose = port("pose", mechanism.platform.displaced(pose, u[:m]), (4, 4))
    parts: list[list[ca.SX]] = [[], [], []]
    place, move = 0, m
    for leg, (places, moves) in zip(mechanism.resting(x)[1], _unknowns(mechanism), strict=True):
        own = leg_equations(leg.model, start[place : place + places] if moves else None)
        closing, coordinates, *_, constraints = own.at(leg, u[move : move + moves], own.parts)
        place, move = place + places, move + moves
        for part, more in zip(parts, (coordinates, constraints, closing), strict=True):
            part.append(more)
    closing = ca.vertcat(*parts[2])
    held = ca.vertcat(*parts[0], *parts[1])
    left = [k for k in range(held.numel()) if k not in kept]
    return ca.vertcat(held[kept], closing, held[left]), closing.numel()
