"""By how much actuator forces within bounds hold every wrench of a box, in closed form.

Forces f + N y, with N the null space of J^T, are within bounds l and h for some y if and only if
sum max(z_i (l_i - f_i), z_i (h_i - f_i)) >= 0 for all z with z^T N = 0, and of these only the elementary ones matter:
one for each choice of r + 1 actuators, its entries the minors of their rows of N (Rockafellar's elementary vectors;
the normals of the faces of the zonotope of wrenches, J^T f for f within bounds, are J^+ z). A box of wrenches of half
widths d about the given one lowers the sum by sum_k |z . df/dw_k| d_k. Divided by sum |z_i|, the smallest sum is the
force by which all bounds can be drawn in.
"""

from __future__ import annotations

import casadi as ca

from ..mechanism import Mechanism
from ..symbols.bounded import DEPENDENT, elementary_vectors, null_space
from ..symbols.expression import Expression, Port, port
from ..symbols.linear import solve_general, solve_least_norm
from .virtual_power import State

_LARGEST = 1e300


def wrench_margin(mechanism: Mechanism) -> Expression:
    """(pose, wrench, box, low, high) -> margin [N or N m] of forces at rest, number of the limiting actuator."""
    x, n, m = mechanism.inputs(), len(mechanism.actuators), mechanism.platform.count
    state = State.of(mechanism, mechanism.platform.rest(x), False, None)
    need, wrench = state.required_wrench - state.external(x.wrench.symbols), x.wrench.symbols
    matrix = state.jacobian
    if n == m:
        solution, free = solve_general(matrix.T, need), []
    else:
        solution = solve_least_norm(matrix, need, ca.SX.ones(n), ca.SX.zeros(n))
        free = null_space(matrix)
    half, low, high = (
        Port(name, ca.SX.sym(name, size), (size,)) for name, size in (("box", 6), ("low", n), ("high", n))
    )
    below, above = low.symbols - solution.x, high.symbols - solution.x
    spread = ca.jacobian(solution.x, wrench) * ca.repmat(half.symbols.T, n, 1)
    margin, limiting = ca.SX(_LARGEST), ca.SX(0)
    for i in range(n):  # bounds that are drawn in meet in the middle
        middle = 0.5 * (high.symbols[i] - low.symbols[i])
        margin, limiting = ca.fmin(margin, middle), ca.if_else(middle < margin, i, limiting)
    for chosen, z, total in elementary_vectors(free, n):
        sizes = [ca.fabs(value) for value in z]
        lost = ca.SX(0)
        for k in range(6):
            lost = lost + ca.fabs(sum((value * spread[i, k] for value, i in zip(z, chosen, strict=True)), ca.SX(0)))
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
    outputs = port("margin", margin, ()), port("limiting", limiting, ())
    quality = port("quality", mechanism.quality(state.legs, solution.quality), ())
    return Expression("wrench_margin", (x.pose, x.wrench, half, low, high), (*outputs, quality), mechanism.port)
