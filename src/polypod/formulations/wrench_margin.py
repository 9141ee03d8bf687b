"""By how much actuator forces within bounds hold every wrench of a set, in closed form; and wrench closure.

Forces f + N y, with N the null space of J^T, are within bounds l and h for some y if and only if
sum max(z_i (l_i - f_i), z_i (h_i - f_i)) >= 0 for all z with z^T N = 0, and of these only the elementary ones matter:
one for each choice of r + 1 actuators, its entries the minors of their rows of N (Rockafellar's elementary vectors;
the normals of the faces of the zonotope of wrenches, J^T f for f within bounds, are J^+ z). A box of wrenches of half
widths d about the given one lowers the sum by sum_k |z . df/dw_k| d_k, an ellipsoid of semi-axes d by
sqrt(sum_k (z . df/dw_k d_k)^2), and a box or an ellipsoid of accelerations likewise with df/da_k. Divided by
sum |z_i|, the smallest sum is the force by which all bounds can be drawn in.

A pose has wrench closure if internal forces N y pull in all cables: with f = 0 and bounds from -1 to 0, by t > 0.
"""

from __future__ import annotations

import casadi as ca

from ..mechanism import Mechanism
from ..symbols.bounded import DEPENDENT, elementary_vectors, null_space
from ..symbols.expression import Expression, Port, port
from ..symbols.linear import solve_general, solve_least_norm
from .virtual_power import State

_LARGEST = 1e300


def wrench_margin(mechanism: Mechanism, ellipsoid: bool = False, dynamic: bool = False) -> Expression:
    """(pose, wrench, spread, low, high) -> margin [N or N m] of forces at rest, number of the limiting actuator.

    ``spread`` (6) are half widths of a box of wrenches, or semi-axes of an ellipsoid; with ``dynamic``, those of a box
    or ellipsoid of accelerations (6) follow them.
    """
    x, n, m = mechanism.inputs(), len(mechanism.actuators), mechanism.platform.count
    platform = mechanism.platform.rest(x)
    if dynamic:
        platform = mechanism.platform.at(x, ca.SX.zeros(6), x.acceleration.symbols)
    state = State.of(mechanism, platform, False, None)
    need = state.required_wrench - state.external(x.wrench.symbols)
    matrix = state.jacobian
    if n == m:
        solution, free = solve_general(matrix.T, need), []
    else:
        solution = solve_least_norm(matrix, need, ca.SX.ones(n), ca.SX.zeros(n))
        free = null_space(matrix)
    sets = [x.wrench.symbols, *([x.acceleration.symbols] if dynamic else [])]
    names = "spread", *(["reach"] if dynamic else [])
    ports = [Port(name, ca.SX.sym(name, 6), (6,)) for name in names]
    low, high = (Port(name, ca.SX.sym(name, n), (n,)) for name in ("low", "high"))
    spreads = [
        ca.jacobian(solution.x, by) * ca.repmat(given.symbols.T, n, 1) for by, given in zip(sets, ports, strict=True)
    ]
    force = solution.x
    if dynamic:
        still = ca.SX.zeros(6)
        force, *spreads = ca.substitute([force, *spreads], [x.acceleration.symbols], [still])
    margin, limiting = _margin(free, low.symbols - force, high.symbols - force, spreads, ellipsoid)
    outputs = port("margin", margin, ()), port("limiting", limiting, ())
    quality = port("quality", mechanism.quality(state.legs, solution.quality), ())
    return Expression("wrench_margin", (x.pose, x.wrench, *ports, low, high), (*outputs, quality), mechanism.port)


def wrench_closure(mechanism: Mechanism) -> Expression:
    """(pose) -> the largest t with internal forces from t - 1 to -t in all actuators, number of the limiting one."""
    x, n = mechanism.inputs(), len(mechanism.actuators)
    legs = mechanism.resting(x)[1]
    matrix = mechanism.jacobian(legs)
    free = null_space(matrix) if n > mechanism.platform.count else []
    margin, limiting = _margin(free, -ca.SX.ones(n), ca.SX.zeros(n), [], False)
    # least norm solves with J^T J: its quality is that of the matrix
    solve = solve_least_norm(matrix, ca.SX.zeros(matrix.size2()), ca.SX.ones(n), ca.SX.zeros(n)) if free else None
    quality = mechanism.quality(legs, 1.0 if solve is None else solve.quality)
    outputs = port("margin", margin, ()), port("limiting", limiting, ()), port("quality", quality, ())
    return Expression("wrench_closure", (x.pose,), outputs, mechanism.port)


def _margin(
    free: list[list[ca.SX]], below: ca.SX, above: ca.SX, spreads: list[ca.SX], ellipsoid: bool
) -> tuple[ca.SX, ca.SX]:
    """The largest t with below + t <= N y <= above - t for some y, whatever the point of the sets; who limits it.

    Columns of ``spreads`` (n, 6) are changes of the forces along the axes of each set.
    """
    n = below.numel()
    margin, limiting = ca.SX(_LARGEST), ca.SX(0)
    for i in range(n):  # bounds that are drawn in meet in the middle
        middle = 0.5 * (above[i] - below[i])
        margin, limiting = ca.fmin(margin, middle), ca.if_else(middle < margin, i, limiting)
    for chosen, z, total in elementary_vectors(free, n):
        sizes = [ca.fabs(value) for value in z]
        lost = ca.SX(0)
        for spread in spreads:
            along = [
                sum((value * spread[i, k] for value, i in zip(z, chosen, strict=True)), ca.SX(0)) for k in range(6)
            ]
            if ellipsoid:
                lost = lost + ca.sqrt(sum((one * one for one in along), ca.SX(0)))
            else:
                lost = sum((ca.fabs(one) for one in along), lost)
        ends = [
            sum((ca.fmax(s * v * below[i], s * v * above[i]) for v, i in zip(z, chosen, strict=True)), ca.SX(0))
            for s in (1, -1)
        ]
        some = total > DEPENDENT
        slack = ca.if_else(some, (ca.fmin(*ends) - lost) / ca.if_else(some, total, 1), _LARGEST)
        worse = slack < margin
        most, who = sizes[0], ca.SX(chosen[0])
        for value, i in zip(sizes[1:], chosen[1:], strict=True):
            who, most = ca.if_else(value > most * (1 + 1e-9), i, who), ca.fmax(most, value)
        margin, limiting = ca.fmin(margin, slack), ca.if_else(worse, who, limiting)
    return margin, limiting
