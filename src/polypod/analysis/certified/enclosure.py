"""What is true of a robot in every pose of a box: limits kept, legs closed, no singularity; compiled."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...kernels import Expression, Kernel, Port, port
from ...legs.contract import SMALLEST_MARGIN
from ...mechanism import Mechanism
from ...model import Model
from ...platforms.motion import frame_of, pose_of
from ...symbols.graph import Graph
from ...symbols.vectors import Frame, cayley, skew
from ..workspace.quantities import Quantities, scaled_jacobian
from ..workspace.space import Space
from .intervals import Interval, enclosed, mean_value, outward, within

Array = NDArray[np.float64]
Truth = NDArray[np.bool_]
Chart = Literal["coordinates", "about"]
_SLACK = 1e-11
"""What the products of an interval matrix with an inverse may be off by rounding: 6 x 6 of numbers about 1."""


class Verdict(NamedTuple):
    """Of n boxes: every pose is in the workspace (n,), none is (n,); neither is known where both are false.

    ``regular`` (n,): det J has the sign that it has at home in every pose, so it has in every part of the box.
    """

    inside: Truth
    outside: Truth
    regular: Truth


class Enclosure:
    """Bounds over boxes of a robot's coordinates (``coordinates``), or of displacements ``about`` given poses.

    About a pose (p, R) a displacement is (d, c): p + d and Cayley's rotation by 2 atan|c| about c, times R.
    """

    def __init__(self, space: Space, chart: Chart = "coordinates") -> None:
        self.space, self.chart = space, chart
        mechanism = space.model.kernels.mechanism
        if mechanism.open_legs or mechanism.platform.follows_legs:
            raise InputError(
                f"certified: the legs of {space.model.robot.name!r} close by iterating, or leave its platform motions "
                "that follow from others; bounds over boxes are for legs and platforms in closed form"
            )
        if chart == "about" and not space.full:
            raise InputError("certified: boxes about a pose are for robots of six freedoms; use boxes of coordinates")
        self._kernel = _kernel(space.model, chart)
        self._numbers = mechanism.numbers.values[None]
        self._fixed = np.concatenate([space.home.ravel(), space.pivot])[None]
        self._ranges = mechanism.limit_ranges
        self._angles = np.array([limit.angle for _, limit in mechanism.limits], dtype=bool)

    def __call__(self, low: Array, high: Array, poses: Array | None = None, regular: Truth | None = None) -> Verdict:
        """Boxes (n, m) from low to high; with ``about`` also their poses (n, 4, 4).

        ``regular`` (n,) says of which boxes it is known that det J keeps its sign.
        """
        given = [np.ascontiguousarray(low), np.ascontiguousarray(high)]
        if self.chart == "about":
            assert poses is not None
            # exact in the sense of the box: the pose's own rounding is part of the question asked
            given.append(np.ascontiguousarray(poses))
        bottom, top, real = self._kernel(*given, self._fixed, self._numbers)
        k = len(self._ranges)
        values, closing, matrix = (
            (bottom[:, part], top[:, part]) for part in (slice(0, k), slice(k, k + 1), slice(k + 1, None))
        )
        least, most = self._ranges[:, 0], np.where(self._angles, np.inf, self._ranges[:, 1])
        edge = 4e-16 * np.abs(self._ranges).max(axis=1, initial=0.0)
        kept = ((values[0] >= least + edge) & (values[1] <= most - edge)).all(axis=1)
        broken = ((values[1] < least - edge) | (values[0] > most + edge)).any(axis=1)
        kept &= closing[0][:, 0] > SMALLEST_MARGIN
        broken |= (closing[1][:, 0] < SMALLEST_MARGIN) | (real < 0)
        wanted = self.space.sign
        sign = np.zeros(len(low)) if regular is None else np.where(regular, wanted, 0.0)
        asked = ~broken & (sign == 0.0)
        sign[asked] = regular_sign(*(self._square(end[asked]) for end in matrix))
        return Verdict(kept & (sign == wanted), broken | (sign == -wanted), sign == wanted)

    def _square(self, entries: Array) -> Array:
        side = len(self.space.model.actuators)
        return entries.reshape(len(entries), side, entries.shape[1] // side)


def regular_sign(low: Array, high: Array) -> Array:
    """Sign (n,) of the determinant of every matrix between two (n, k, k); 0 where one may be singular.

    With C the inverse of the middle, all A = M +- r are regular if the rows of |1 - C M| + |C| r sum to less than 1.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        middle, radius = 0.5 * (low + high), 0.5 * (high - low)
    good = np.isfinite(radius).all(axis=(1, 2))
    sign = np.zeros(len(low))
    if not good.any() or low.shape[1] != low.shape[2]:
        return sign
    m, r = middle[good], radius[good] * (1 + 1e-14)
    det = np.linalg.det(m)
    fine = np.abs(det) > 1e-12 * np.linalg.norm(m, axis=(1, 2)) ** low.shape[1]
    inverse = np.linalg.inv(np.where(fine[:, None, None], m, np.eye(low.shape[1])))
    rest = np.abs(np.eye(low.shape[1]) - inverse @ m) + np.abs(inverse) @ r
    size = np.abs(inverse).sum(axis=2).max(axis=1) * np.abs(m).sum(axis=1).max(axis=1)
    regular = fine & (rest.sum(axis=2).max(axis=1) + _SLACK * (1 + size) < 1)
    sign[good] = np.where(regular, np.sign(det), 0.0)
    return sign


def _kernel(model: Model, chart: Chart) -> Kernel:
    kernels = model.kernels
    recipe = kernels.recipe(f"enclosure {chart} {_digest()} {model.robot.freedoms!r}")
    return kernels.shared(partial(_expression, kernels.mechanism, chart), recipe)


def _expression(mechanism: Mechanism, chart: Chart) -> Expression:
    """(low, high, pose if ``about``, home and pivot, numbers) -> lower and upper ends of limited values, closing, J;
    and the least of what stands under roots, at most: where it is negative no leg closes.

    Lengths and ranges, which bind most, are also bounded by their slopes over the box. The robot's numbers are inputs
    and not parameters: what is prepared from parameters may be summed in another order.
    """
    m = 6 if mechanism.platform.full else len(mechanism.robot.freedoms)
    x, pose, fixed = ca.SX.sym("x", m), ca.SX.sym("pose", 16), ca.SX.sym("fixed", 19)
    numbers = mechanism.numbers.symbols
    moved = _about(x, pose) if chart == "about" else _displaced(mechanism, x, fixed)
    inputs = mechanism.inputs()
    inputs.pose = port("pose", moved, (4, 4))
    legs = mechanism.resting(inputs)[1]
    found = Quantities.at(mechanism, moved)
    matrix = scaled_jacobian(mechanism, legs)
    values = [*(r.value for r in found.requirements), found.closing, ca.vec(matrix.T)]
    ranged = [k for k, r in enumerate(found.requirements) if not r.angle]
    lengths = ca.vertcat(*[values[k] for k in ranged], ca.SX(0, 1))
    slopes = ca.vec(ca.densify(ca.jacobian(lengths, x)).T)
    given = [x, pose, fixed, numbers]
    parts = [ca.vertcat(*values), slopes, lengths]
    graph = Graph.of(ca.Function("values", given, ca.cse([ca.densify(part) for part in parts])))
    low, high = ca.SX.sym("low", m), ca.SX.sym("high", m)
    box = [Interval(low[k], high[k]) for k in range(m)]
    rest = [[Interval(symbols[k], symbols[k]) for k in range(symbols.numel())] for symbols in given[1:]]
    roots: list[ca.SX] = []
    bounds, sloped, _ = enclosed(graph, [box, *rest], roots)
    real = ca.SX(1)
    for root in roots:
        real = ca.fmin(real, root)
    middle = [0.5 * (b.low + b.high) for b in box]
    centred = enclosed(graph.only([2]), [[Interval(c, c) for c in middle], *rest])[0]
    ways = [outward(b.low - c, b.high - c) for b, c in zip(box, middle, strict=True)]
    for row, k in enumerate(ranged):
        bounds[k] = within(bounds[k], mean_value(centred[row], sloped[m * row : m * row + m], ways))
    outputs = (
        port("bottom", ca.vertcat(*[b.low for b in bounds])),
        port("top", ca.vertcat(*[b.high for b in bounds])),
        port("real", real, ()),
    )
    ports = [Port("low", low, (m,)), Port("high", high, (m,)), Port("pose", pose, (4, 4))]
    ports += [Port("fixed", fixed, (19,)), Port("numbers", numbers, (numbers.numel(),))]
    used = [p for p in ports if chart == "about" or p.name != "pose"]
    return Expression(f"enclosure_{chart}", tuple(used), outputs)


def _about(x: ca.SX, pose: ca.SX) -> ca.SX:
    frame = frame_of(pose)
    return pose_of(Frame(frame.origin + x[:3], cayley(x[3:]) @ frame.axes))


def _displaced(mechanism: Mechanism, x: ca.SX, fixed: ca.SX) -> ca.SX:
    """The pose of coordinates from home, about a pivot; of fewer than six freedoms along and about its own axes."""
    home, pivot = frame_of(fixed[:16]), fixed[16:]
    if mechanism.platform.full:
        axes = _turn(2, x[5]) @ _turn(1, x[4]) @ _turn(0, x[3]) @ home.axes
        return pose_of(Frame(home.origin + home.axes @ pivot + x[:3] - axes @ pivot, axes))
    origin, axes = home.origin, home.axes
    for k, freedom in enumerate(mechanism.robot.freedoms):
        along = ca.DM(freedom.axis)
        if freedom.motion == "translation":
            origin = origin + along * x[k]
        else:
            across = skew(ca.SX(along))
            axes = (ca.SX.eye(3) + ca.sin(x[k]) * across + (1 - ca.cos(x[k])) * (across @ across)) @ axes
    return pose_of(Frame(origin, axes))


def _turn(axis: int, angle: ca.SX) -> ca.SX:
    c, s = ca.cos(angle), ca.sin(angle)
    rows: list[list[ca.SX]] = [[ca.SX(1), ca.SX(0), ca.SX(0)], [ca.SX(0), c, -s], [ca.SX(0), s, c]]
    order = [(k - axis) % 3 for k in range(3)]
    turned: ca.SX = ca.vertcat(*[ca.horzcat(*[rows[i][j] for j in order]) for i in order])
    return turned


def _digest() -> str:
    """Fingerprint of the code here that makes graphs."""
    here = Path(__file__).parent
    files = [here / "enclosure.py", here / "intervals.py", here.parent / "workspace" / "quantities.py"]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
