"""Solutions of the distance equations tracked while the lengths change, compiled: one path a lane of a vector.

A round corrects the predicted point by one step of Newton and predicts the next by a Taylor series of order six, both
with one factored matrix: the prediction is so near that its matrix serves for the corrected point too.
"""

from __future__ import annotations

from functools import cache, partial

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..fingerprint import fingerprint
from ..kernels import CacheKey, Iteration, Kernel, Port, port
from .distance_equations import (
    JOINTS,
    LENGTHS,
    UNKNOWNS,
    Change,
    Complex,
    Factored,
    JointPair,
    MovingJointPair,
    SeriesTerm,
    StudyCoordinates,
    Triple,
    dot,
    from_rows,
    jacobian,
    joint_pairs_of,
    residual,
    right_side,
    squares,
    to_rows,
)

ORDER = 6
STEP_CONTROL = (0.4, 1e-2)
"""Step as a fraction of the radius of convergence that the last coefficients show; largest correction, relative to the
unknowns, with which a prediction is accepted."""
CAREFUL_STEP_CONTROL = (0.12, 1e-5)
"""The same for paths that were lost, or that may have jumped to others."""
_SMALLEST = 1e-10
"""Step, relative to the rest of the path, below which a path is lost."""
MAX_ITERATIONS = 400
POINT = 2 * UNKNOWNS
STATE = 2 * POINT + 4
"""Numbers of a path under way: predicted point, last corrected point, the rest of the path from both, largest step,
rounds."""


def tracker(moving: bool = False) -> Iteration:
    """Paths of unknowns x (7 complex numbers) from lengths ``first`` (12: real and imaginary parts) to ``last`` (12).

    Parameters are the joints (30). The path is straight: lengths are last + s (first - last), s from 1 to 0, so that s
    has all its digits where the end is near a singularity. At most ``iterations`` more iterations from ``state``, which
    is that of ``initial_state`` or of an earlier call; ``control`` (2) as ``STEP_CONTROL``. Outputs are the
    state and a ``code``: 1 where the end is reached, 2 where the path is lost, 0 where it goes on.

    With ``moving`` the base joints go from those of the parameters to ``goal`` (15) meanwhile.
    """
    joints = ca.SX.sym("joints", 6 * JOINTS)
    given, first, last = (ca.SX.sym(n, k) for n, k in (("state", STATE), ("first", 2 * LENGTHS), ("last", 2 * LENGTHS)))
    control, iterations, goal = ca.SX.sym("control", 2), ca.SX.sym("iterations", 1), ca.SX.sym("goal", 3 * JOINTS)
    state = ca.SX.sym("tracker", STATE + 3)
    x, kept = from_rows(state[:POINT]), state[POINT : 2 * POINT]
    left, left_kept, longest, done, used, code, _ = (state[2 * POINT + k] for k in range(7))
    begin, end = from_rows(first), from_rows(last)
    change = Change([b - a for a, b in zip(begin, end, strict=True)])
    lengths = [b - r * left for b, r in zip(end, change.lengths, strict=True)]
    pairs = joint_pairs_of(joints)
    if moving:
        ends = [(goal[3 * k], goal[3 * k + 1], goal[3 * k + 2]) for k in range(JOINTS)]
        moves = [_between(pair.a, a) for pair, a in zip(pairs, ends, strict=True)]
        change = change._replace(pairs=[MovingJointPair(d, pair.b) for pair, d in zip(pairs, moves, strict=True)])
        pairs = [
            JointPair((a[0] - left * d[0], a[1] - left * d[1], a[2] - left * d[2]), pair.b)
            for pair, a, d in zip(pairs, ends, moves, strict=True)
        ]

    matrix = Factored(jacobian(x, lengths, pairs))
    correction = matrix.solve(residual(x, lengths, pairs))
    found = [a - d for a, d in zip(x, correction, strict=True)]
    near = squares(correction) <= control[1] * control[1] * (squares(found) + 1)
    arrived = ca.logic_and(near, left <= 0)

    series = _series(matrix, found, lengths, change, pairs)
    sizes = [ca.fmax(squares(c), 1e-300) for c in series]
    radius = ca.fmin(_root8(sizes[0] / sizes[4]), _root8(sizes[1] / sizes[5]))
    allowed = ca.fmin(control[0] * radius, longest)
    ahead = ca.fmax(0, left - allowed)
    h = left - ahead
    predicted = series[-1]
    for coefficient in [*series[-2::-1], found]:
        predicted = [p * h + c for p, c in zip(predicted, coefficient, strict=True)]

    limit = ca.if_else(near, ca.fmin(1, 4 * allowed), 0.25 * (left_kept - left))
    lost = ca.logic_or(ca.logic_not(limit > _SMALLEST * left), done + 1 >= MAX_ITERATIONS)
    ended = ca.if_else(arrived, 1, ca.if_else(lost, 2, 0))
    here = to_rows(found)
    step = ca.vertcat(
        ca.if_else(near, ca.if_else(arrived, here, to_rows(predicted)), kept),
        ca.if_else(near, here, kept),
        ca.if_else(near, ahead, left_kept),
        ca.if_else(near, left, left_kept),
        limit,
        done + 1,
        used + 1,
        ended,
        ca.logic_or(ended > 0, used + 1 >= iterations),
    )
    start = ca.vertcat(given, 0, 0, 0)
    outputs = port("next", state[:STATE]), port("code", code, ())
    inputs = (
        Port("state", given, (STATE,)),
        Port("first", first, (2 * LENGTHS,)),
        Port("last", last, (2 * LENGTHS,)),
        Port("control", control, (2,)),
        Port("iterations", iterations, ()),
        *((Port("goal", goal, (3 * JOINTS,)),) if moving else ()),
    )
    return Iteration("tracker", inputs, outputs, state, start, step, Port("joints", joints, (6 * JOINTS,)))


def initial_state(x: NDArray[np.complex128]) -> Array:
    """The state (n, 32) of paths that begin at unknowns x (n, 7)."""
    point = as_real(x)
    return np.hstack([point, point, np.tile([1.0, 1.0, 1.0, 0.0], (len(x), 1))])


def as_real(numbers: NDArray[np.complex128]) -> Array:
    """Complex numbers (..., k) as real ones (..., 2 k), real and imaginary parts alternating."""
    return np.ascontiguousarray(numbers, dtype=np.complex128).view(np.float64)


def as_complex(parts: Array) -> NDArray[np.complex128]:
    """The inverse of ``as_real``."""
    return np.ascontiguousarray(parts).view(np.complex128)


def _between(a: Triple, b: Triple) -> Triple:
    return b[0] - a[0], b[1] - a[1], b[2] - a[2]


def _series(
    matrix: Factored, x: list[Complex], lengths: list[Complex], change: Change, pairs: list[JointPair]
) -> list[list[Complex]]:
    """Coefficients c_1 .. c_6 of x(t)."""
    e = StudyCoordinates.of(x).e
    series = [SeriesTerm.of(x, dot(e, e) + 1, pairs, change)]
    found: list[list[Complex]] = []
    for _ in range(ORDER):
        right, norm = right_side(series, lengths, change)
        found.append([-c for c in matrix.solve(right)])
        own = StudyCoordinates.of(found[-1]).e
        series.append(SeriesTerm.of(found[-1], norm + dot(e, own) * 2, pairs, change))
    return found


def _root8(value: ca.SX) -> ca.SX:
    return ca.sqrt(ca.sqrt(ca.sqrt(value)))


@cache
def kernel(moving: bool = False) -> Kernel:
    """The compiled ``tracker``."""
    return Kernel(partial(tracker, moving), cache_key(f"tracker {moving}"))


def cache_key(what: str) -> CacheKey:
    """All that determines a graph of this package: its sources, those of the symbols, CasADi."""
    return CacheKey.of(what, fingerprint("assembly", "symbols"))
