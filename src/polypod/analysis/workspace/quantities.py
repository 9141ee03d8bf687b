"""What decides whether a pose belongs to a workspace, in symbols: limits, closing of the legs, and det J."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...fingerprint import fingerprint
from ...kernels import Expression, Iteration, Kernel, Port, port
from ...kernels.predicate import Conditions, PredicateKernel
from ...legs.contract import SMALLEST_MARGIN
from ...limits.symbols import clearances_hold, range_holds, range_margin
from ...mechanism import LegAtState, Mechanism
from ...mechanism.closing import closed
from ...model import Model
from ...platforms import DegreesOfFreedom

CLOSING = "legs close"
SINGULARITY = "singularity"
FORCE = "actuator force"
CLOSURE = "wrench closure"
DISTANCE = "distance to singularity"
NO_LIMIT = "no limit"
"""Where angles end that nothing stops: beyond half a turn (pitch: a quarter) orientations are repeated."""


@dataclass(frozen=True)
class Requirement:
    """A quantity that must not be negative; ``margin`` is about 1 in the middle of its range and 0 at its edge.

    ``value`` is the quantity itself, between ``low`` and ``high``; ``unit`` is its unit, for an angle that of its
    cosine's arc.
    """

    leg: str
    name: str
    value: ca.SX
    low: ca.SX
    high: ca.SX
    angle: bool
    unit: str

    @property
    def margin(self) -> ca.SX:
        """What is left, by the judge; it has no unit, so that limits of different kinds compare."""
        return range_margin(self.value, self.low, self.high, self.angle)

    @property
    def holds(self) -> ca.SX:
        """Whether the quantity is in its range."""
        return range_holds(self.value, self.low, self.high, self.angle)


@dataclass(frozen=True)
class Quantities:
    """Requirements, the legs' closing margin and det J of a pose in symbols."""

    requirements: tuple[Requirement, ...]
    closing: ca.SX
    determinant: ca.SX
    legs: list[LegAtState]

    @staticmethod
    def at(mechanism: Mechanism, pose: ca.SX) -> Quantities:
        """At a row-major pose (16) of symbols."""
        x = mechanism.inputs()
        x.pose = port("pose", pose, (4, 4))
        legs = mechanism.resting(x)[1]
        found = tuple(
            Requirement(
                leg.model.leg.name,
                limit.name,
                leg.at_tip(limit.value),
                ca.SX(limit.low),
                ca.SX(limit.high),
                limit.angle,
                limit.unit,
            )
            for leg in legs
            for limit in leg.model.placement.limits
        )
        return Quantities(found, mechanism.quality(legs), determinant(scaled_jacobian(mechanism, legs)), legs)


def scaled_jacobian(mechanism: Mechanism, legs: list[LegAtState]) -> ca.SX:
    """J (n, m) of the actuated joints without their gears, rotations as arcs at the platform's size (``conditioning``).

    Where the platform moves as its legs let it, rows of what they constrain follow, (n + 6 - m, 6): the matrix is
    singular with the actuators or with the constraints.
    """
    if mechanism.platform.is_constrained:
        rows = ca.horzcat(*[row for leg in legs for row in leg.rows]).T
        matrix = ca.vertcat(rows, mechanism.constraint_rows(legs))
        turning = [False] * 3 + [True] * 3
    else:
        m = mechanism.platform.count
        matrix = legs[0].platform.to_base(mechanism.jacobian(legs).T).T[:, :m]
        basis = DegreesOfFreedom(mechanism.robot).basis
        turning = [bool(abs(basis[3:, k]).sum() > 0) for k in range(m)]
    scale = ca.horzcat(*[1 / mechanism.size if turns else 1 for turns in turning])
    rows = ca.vertcat(mechanism.joint_scale(mechanism.size), ca.SX.ones(matrix.size1() - len(mechanism.actuators)))
    return matrix * (rows @ scale)


def determinant(matrix: ca.SX) -> ca.SX:
    """det A of a square matrix without a division; of more rows than columns that of A^T A, which has no sign."""
    if matrix.size1() != matrix.size2():
        return _determinant(matrix.size2())(matrix.T @ matrix)
    return _determinant(matrix.size1())(matrix)


@lru_cache(8)
def _determinant(n: int) -> ca.Function:
    """By Laplace's expansion of both halves of the rows: minors of few rows are shared by larger ones."""
    a = ca.SX.sym("a", n, n)

    def minors(rows: range) -> dict[tuple[int, ...], ca.SX]:
        known: dict[tuple[int, ...], ca.SX] = {(): ca.SX(1)}
        for size, row in enumerate(rows, 1):
            known = {
                columns: sum(
                    (
                        (-1) ** (size - 1 + k) * a[row, columns[k]] * known[columns[:k] + columns[k + 1 :]]
                        for k in range(size)
                    ),
                    ca.SX(0),
                )
                for columns in combinations(range(n), size)
            }
        return known

    half = n // 2
    upper, lower = minors(range(half)), minors(range(half, n))
    total = ca.SX(0)
    for columns, minor in upper.items():
        rest = tuple(k for k in range(n) if k not in columns)
        total += (-1) ** (sum(columns) + half * (half - 1) // 2) * minor * lower[rest]
    return ca.Function("determinant", [a], [total])


# ----------------------------------------------------------------------------------------------------------------------
# The compiled functions of workspaces: margins and det J of single poses, and conditions on whole grids.

_SOURCES = "analysis/workspace/quantities.py", "limits/symbols.py"


class Margins(NamedTuple):
    """Of n poses: margins of k limits (n, k), margin of the legs' closing (n,) and det J (n,), scaled."""

    limits: Array
    closing: Array
    determinant: Array


def limit_names(model: Model) -> tuple[tuple[str, str], ...]:
    """Leg and name of every limit of a robot, in the order of its margins."""
    return tuple((leg, limit.name) for leg, limit in model.kernels.mechanism.limits)


def margins(model: Model, poses: Array) -> Margins:
    """Margins of all limits, of the legs' closing, and det J at poses (n, 4, 4) that the robot can take."""
    limits, closing, det = margins_kernel(model)(np.ascontiguousarray(poses, dtype=np.float64).reshape(-1, 4, 4))
    closing = np.where(closing > SMALLEST_MARGIN, closing, np.minimum(closing, -SMALLEST_MARGIN))
    return Margins(limits[:, 1:], np.where(np.isnan(closing), -1.0, closing), det)


def margins_kernel(model: Model) -> Kernel:
    """(pose) -> 0 and margins of the limits (1 + k), closing margin, det J."""
    kernels = model.kernels
    cache_key = kernels.cache_key(f"margins of limits {fingerprint(*_SOURCES).hex()}")
    kernel = kernels.shared(partial(_margins, kernels.mechanism), cache_key)
    return kernel.at(kernels.mechanism.numbers.values) if kernel.parameters else kernel


def _margins(mechanism: Mechanism) -> Expression | Iteration:
    pose = ca.SX.sym("pose", 16)
    q = Quantities.at(mechanism, pose)
    outputs = (
        port("limits", ca.vertcat(0, *[r.margin for r in q.requirements])),
        port("closing", q.closing, ()),
        port("determinant", q.determinant, ()),
    )
    return closed(mechanism, Expression("workspace", (Port("pose", pose, (4, 4)),), outputs, mechanism.port))


def predicate(model: Model) -> PredicateKernel:
    """Conditions on grids: designs are numbers of the robot, a rotation (9) and an offset (3), states positions (3).

    Two reports: all limits hold, clearances among them, and the legs close; and det J has the sign of the last
    parameter.
    """

    def compiled() -> PredicateKernel:
        sources = fingerprint(*_SOURCES, "clearance", "drawing")
        cache_key = model.kernels.cache_key("workspace predicate", one_robot=True)
        return PredicateKernel(lambda: _conditions(model), cache_key and cache_key.extended(sources))

    return model.kept((__name__, "predicate"), compiled)


def _conditions(model: Model) -> Conditions:
    mechanism = model.kernels.mechanism
    position, rotation, offset, sign = (ca.SX.sym(n, k) for n, k in zip("pros", (3, 9, 3, 1), strict=True))
    place = position + offset
    rows = [ca.vertcat(rotation[3 * k : 3 * k + 3], place[k]) for k in range(3)]
    pose = ca.vertcat(*rows, 0, 0, 0, 1)
    q = Quantities.at(mechanism, pose)
    # what is cheap and often fails first: lengths before cones, which take a division more
    stages = [r.holds for r in q.requirements if not r.angle] + [r.holds for r in q.requirements if r.angle]
    if not ca.SX(q.closing).is_constant():
        stages.append(q.closing > SMALLEST_MARGIN)
    if model.robot.clearance is not None:  # what takes longest last
        stages += clearances_hold(model.clearances.function.at_pose(pose, q.legs), model.robot.clearance)
    stages = stages or [ca.SX(position[0] <= ca.inf)]
    given = ca.vertcat(mechanism.numbers.symbols, rotation, offset, sign)
    stages.append(q.determinant * sign > 0)
    ports = Port("position", position, (3,)), Port("design", given, (given.numel(),))
    return Conditions("workspace", *ports, tuple(stages), (len(stages) - 2, len(stages) - 1))


def predicate_designs(model: Model, rotations: Array, offsets: Array, sign: float) -> Array:
    """Numbers of the robot beside rotations (D, 3, 3), offsets (D, 3) and the sign of det J, for ``predicate``."""
    numbers = np.tile(model.kernels.mechanism.numbers.values, (len(rotations), 1))
    return np.concatenate([numbers, rotations.reshape(-1, 9), offsets, np.full((len(rotations), 1), sign)], axis=1)
