"""The compiled functions of workspaces: margins and det J of single poses, and conditions on whole grids."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ...arrays import Array
from ...kernels import Expression, Iteration, Kernel, Port, port
from ...kernels.predicate import Conditions, PredicateKernel
from ...legs.contract import SMALLEST_MARGIN
from ...mechanism import Mechanism
from ...mechanism.closing import closed
from ...model import Model
from ..fingerprint import fingerprint
from .quantities import Quantities

_SOURCES = "analysis/workspace/compiled.py", "analysis/workspace/quantities.py"
_PREDICATES: WeakKeyDictionary[Model, PredicateKernel] = WeakKeyDictionary()


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
    cache_key = kernels.cache_key(f"margins of limits {fingerprint(*_SOURCES)}")
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

    Two reports: all limits hold and the legs close; and det J has the sign of the last parameter.
    """
    if model not in _PREDICATES:
        _PREDICATES[model] = PredicateKernel(_conditions(model.kernels.mechanism))
    return _PREDICATES[model]


def _conditions(mechanism: Mechanism) -> Conditions:
    position, rotation, offset, sign = (ca.SX.sym(n, k) for n, k in zip("pros", (3, 9, 3, 1), strict=True))
    place = position + offset
    rows = [ca.vertcat(rotation[3 * k : 3 * k + 3], place[k]) for k in range(3)]
    q = Quantities.at(mechanism, ca.vertcat(*rows, 0, 0, 0, 1))
    # what is cheap and often fails first: lengths before cones, which take a division more
    stages = [r.holds for r in q.requirements if not r.angle] + [r.holds for r in q.requirements if r.angle]
    if not ca.SX(q.closing).is_constant():
        stages.append(q.closing > SMALLEST_MARGIN)
    stages = stages or [ca.SX(position[0] <= ca.inf)]
    given = ca.vertcat(mechanism.numbers.symbols, rotation, offset, sign)
    stages.append(q.determinant * sign > 0)
    ports = Port("position", position, (3,)), Port("design", given, (given.numel(),))
    return Conditions("workspace", *ports, tuple(stages), (len(stages) - 2, len(stages) - 1))


def predicate_designs(model: Model, rotations: Array, offsets: Array, sign: float) -> Array:
    """Numbers of the robot beside rotations (D, 3, 3), offsets (D, 3) and the sign of det J, for :func:`predicate`."""
    numbers = np.tile(model.kernels.mechanism.numbers.values, (len(rotations), 1))
    return np.concatenate([numbers, rotations.reshape(-1, 9), offsets, np.full((len(rotations), 1), sign)], axis=1)
