"""What is true of a robot in every pose of a box: limits kept, legs closed, no singularity; compiled."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...fingerprint import fingerprint
from ...kernels import Expression, Kernel, Port, port
from ...legs.contract import SMALLEST_MARGIN
from ...mechanism import Mechanism
from ...model import Model
from ...symbols.graph import Graph
from ..workspace.pose_coordinates import PoseCoordinates
from ..workspace.quantities import Quantities, scaled_jacobian
from .displaced import about, displaced
from .intervals import (
    Interval,
    Mask,
    Verdict,
    evaluate_intervals,
    in_ranges,
    mean_value,
    midpoint_radius,
    outward,
    regular_sign,
    within,
)
from .telescopic_legs import Chart, HexapodJacobian, is_ups_hexapod

_SOURCES = (
    "analysis/certified/enclosure.py",
    "analysis/certified/displaced.py",
    "analysis/certified/intervals.py",
    "analysis/workspace/quantities.py",
)
_FEW = 3
"""Degrees of freedom up to which the Jacobian's numbers are also bounded by their derivatives."""


class Limits(NamedTuple):
    """Of n boxes: all limits hold (n,), one is broken or legs do not close (n,), legs close (n,).

    ``matrix`` are the ends of J's numbers over the box; ``derivatives``, of robots of few degrees of freedom, those of
    the numbers in its middle and of their derivatives over it.
    """

    kept: Mask
    broken: Mask
    closed: Mask
    matrix: tuple[Array, Array]
    derivatives: tuple[Array, ...]


class Enclosure:
    """Bounds over boxes of a robot's coordinates (``coordinates``), or of displacements ``about`` given poses.

    About a pose (p, R) a displacement is (d, c): p + d and Cayley's rotation by 2 atan|c| about c, times R.
    """

    def __init__(self, space: PoseCoordinates, chart: Chart = "coordinates") -> None:
        self.space, self.chart = space, chart
        mechanism = space.model.kernels.mechanism
        if chart == "about" and not space.full:
            raise InputError(
                "certified: boxes about a pose need a robot with six degrees of freedom; use boxes of coordinates"
            )
        self._kernel = _kernel(space.model, chart)
        self._jacobian = HexapodJacobian(space, chart) if is_ups_hexapod(space) else None
        self._numbers = mechanism.numbers.values[None]
        self._fixed = np.concatenate([space.home.ravel(), space.pivot])[None]
        self._ranges = mechanism.limit_ranges
        self._angles = np.array([limit.angle for _, limit in mechanism.limits], dtype=bool)

    def __call__(self, low: Array, high: Array, poses: Array | None = None, regular: Mask | None = None) -> Verdict:
        """Boxes (n, m) from low to high; with ``about`` also their poses (n, 4, 4).

        ``regular`` (n,) says of which boxes it is known that the legs close and det J keeps its sign.
        """
        found = self.limits(low, high, poses)
        known = np.zeros(len(low), dtype=bool) if regular is None else regular
        wanted = self.space.sign
        sign = np.where(known, wanted, 0.0)
        asked = ~found.broken & ~known
        if self._jacobian is not None:
            sign[asked] = self._jacobian(low[asked], high[asked], None if poses is None else poses[asked]).sign
        else:
            sign[asked] = self._sign(found, asked, 0.5 * (high - low)[asked])
        good = known | (found.closed & (sign == wanted))
        return Verdict(found.kept & good, found.broken | (sign == -wanted), good)

    def limits(self, low: Array, high: Array, poses: Array | None = None) -> Limits:
        """Limits and closing alone, and the Jacobian's numbers."""
        given = [np.ascontiguousarray(low), np.ascontiguousarray(high)]
        if self.chart == "about":
            assert poses is not None
            # exact in the sense of the box: the pose's own rounding is part of the question asked
            given.append(np.ascontiguousarray(poses))
        bottom, top, real, *first_order = self._kernel(*given, self._fixed, self._numbers)
        k = len(self._ranges)
        values, closing, matrix = (
            (bottom[:, part], top[:, part]) for part in (slice(0, k), slice(k, k + 1), slice(k + 1, None))
        )
        kept, broken = in_ranges(*values, self._ranges, self._angles)
        broken |= (closing[1][:, 0] < SMALLEST_MARGIN) | (real < 0)
        return Limits(kept, broken, closing[0][:, 0] > SMALLEST_MARGIN, matrix, tuple(first_order))

    def _sign(self, found: Limits, asked: Mask, half: Array) -> Array:
        """Sign of det J by the ends of its numbers, or by their derivatives over the box."""
        sign = regular_sign(*midpoint_radius(*(self._square(end[asked]) for end in found.matrix)))
        open_ = np.flatnonzero(sign == 0)
        if found.derivatives and len(open_):
            centre, derivatives = found.derivatives[:2], found.derivatives[2:]
            m = half.shape[1]
            at = midpoint_radius(*(self._square(end[asked][open_]) for end in centre))
            ways = [
                np.moveaxis(self._square(end[asked][open_].reshape(len(open_), -1, m)), 3, 1) * size
                for end in derivatives
                for size in [half[open_][:, :, None, None] * (1 + 1e-14)]
            ]
            sign[open_] = regular_sign(*at, *midpoint_radius(*ways))
        return sign

    def _square(self, entries: Array) -> Array:
        side = len(self.space.model.actuators)
        return entries.reshape(len(entries), side, entries.shape[1] // side, *entries.shape[2:])


def _kernel(model: Model, chart: Chart) -> Kernel:
    kernels = model.kernels
    cache_key = kernels.cache_key(f"enclosure {chart} {fingerprint(*_SOURCES).hex()} {model.robot.dof!r}")
    return kernels.shared(partial(_expression, kernels.mechanism, chart), cache_key)


def _expression(mechanism: Mechanism, chart: Chart) -> Expression:
    """(low, high, pose if ``about``, home and pivot, numbers) -> lower and upper ends of limited values, closing, J;
    and the least of what stands under roots, at most: where it is negative no leg closes.

    Lengths and ranges, which bind most, are also bounded by their derivatives over the box. The robot's numbers are
    inputs and not parameters: what is prepared from parameters may be summed in another order.
    """
    m = 6 if mechanism.platform.full else len(mechanism.robot.dof)
    x, pose, fixed = ca.SX.sym("x", m), ca.SX.sym("pose", 16), ca.SX.sym("fixed", 19)
    numbers = mechanism.numbers.symbols
    moved = about(x, pose) if chart == "about" else displaced(mechanism, x, fixed)
    inputs = mechanism.inputs()
    inputs.pose = port("pose", moved, (4, 4))
    legs = mechanism.resting(inputs)[1]
    found = Quantities.at(mechanism, moved)
    matrix = scaled_jacobian(mechanism, legs)
    values = [*(r.value for r in found.requirements), found.closing, ca.vec(matrix.T)]
    ranged = [k for k, r in enumerate(found.requirements) if not r.angle]
    lengths = ca.vertcat(*[values[k] for k in ranged], ca.SX(0, 1))
    derivatives = ca.vec(ca.densify(ca.jacobian(lengths, x)).T)
    given = [x, pose, fixed, numbers]
    numbers_of = ca.vec(matrix.T) if m <= _FEW else ca.SX(0, 1)
    tilted = ca.vec(ca.densify(ca.jacobian(numbers_of, x)).T)
    parts = [ca.vertcat(*values), derivatives, lengths, numbers_of, tilted]
    graph = Graph.of(ca.Function("values", given, ca.cse([ca.densify(part) for part in parts])))
    low, high = ca.SX.sym("low", m), ca.SX.sym("high", m)
    box = [Interval(low[k], high[k]) for k in range(m)]
    rest = [[Interval(symbols[k], symbols[k]) for k in range(symbols.numel())] for symbols in given[1:]]
    roots: list[ca.SX] = []
    bounds, first_order, _, _, leaning = evaluate_intervals(graph, [box, *rest], roots)
    real = ca.SX(1)
    for root in roots:
        real = ca.fmin(real, root)
    middle = [0.5 * (b.low + b.high) for b in box]
    centred, upright = evaluate_intervals(graph.only([2, 3]), [[Interval(c, c) for c in middle], *rest])
    ways = [outward(b.low - c, b.high - c) for b, c in zip(box, middle, strict=True)]
    for row, k in enumerate(ranged):
        bounds[k] = within(bounds[k], mean_value(centred[row], first_order[m * row : m * row + m], ways))
    outputs = [port(name, ca.vertcat(*ends)) for name, ends in zip(("bottom", "top"), _ends(bounds), strict=True)]
    outputs.append(port("real", real, ()))
    if m <= _FEW:
        named = zip(("least", "most", "falling", "rising"), (*_ends(upright), *_ends(leaning)), strict=True)
        outputs += [port(name, ca.vertcat(*ends)) for name, ends in named]
    ports = [Port("low", low, (m,)), Port("high", high, (m,)), Port("pose", pose, (4, 4))]
    ports += [Port("fixed", fixed, (19,)), Port("numbers", numbers, (numbers.numel(),))]
    used = [p for p in ports if chart == "about" or p.name != "pose"]
    return Expression(f"enclosure_{chart}", tuple(used), tuple(outputs))


def _ends(parts: list[Interval]) -> tuple[list[ca.SX], list[ca.SX]]:
    return [part.low for part in parts], [part.high for part in parts]
