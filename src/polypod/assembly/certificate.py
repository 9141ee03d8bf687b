"""Proof that a solution of the distance equations is near: Smale's alpha (:mod:`polypod.assembly.smale`), compiled.

Every rounding is counted: that of an evaluation is bounded by a multiple of the sum of the sizes of what is added.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..kernels import Expression, Kernel, Port, port
from .complex_symbols import Complex, Factored, complex_of, from_rows, to_rows, total
from .distance_equations import JOINTS, LENGTHS, UNKNOWNS, JointPair, jacobian, joint_pairs_of, residual
from .smale import ROUNDING_UP
from .tracking import cache_key

_POLISHING = 3
_ROUNDINGS = 32 * float(np.finfo(float).eps)
"""Bound of the error of an equation or a derivative relative to the sum of its terms' sizes. Its longest chain is of 12
additions and 3 products; products of complex numbers count as three, a chart's rotated joints and what follows from
them as 15: less than 64 roundings of eps/2."""


def polished() -> Expression:
    """Unknowns ``x`` (14) after three steps of Newton at ``lengths`` (12), ``alpha`` and the ``radius`` 2 beta."""
    joints = ca.SX.sym("joints", 6 * JOINTS)
    given, numbers = ca.SX.sym("x", 2 * UNKNOWNS), ca.SX.sym("lengths", 2 * LENGTHS)
    pairs, lengths, x = joint_pairs_of(joints), from_rows(numbers), from_rows(given)
    for _ in range(_POLISHING):
        step = Factored(jacobian(x, lengths, pairs)).solve(residual(x, lengths, pairs))
        x = [a - d for a, d in zip(x, step, strict=True)]
    alpha, radius = _alpha(x, lengths, pairs)
    outputs = port("found", to_rows(x)), port("alpha", alpha, ()), port("radius", radius, ())
    inputs = Port("x", given, (2 * UNKNOWNS,)), Port("lengths", numbers, (2 * LENGTHS,))
    return Expression("polished", inputs, outputs, Port("joints", joints, (6 * JOINTS,)))


def _alpha(x: list[Complex], lengths: list[Complex], pairs: list[JointPair]) -> tuple[ca.SX, ca.SX]:
    matrix, f = jacobian(x, lengths, pairs), residual(x, lengths, pairs)
    factored, n = Factored(matrix), range(UNKNOWNS)
    columns = [factored.solve([complex_of(1 if i == j else 0) for i in n]) for j in n]
    terms = _terms(x, lengths, pairs)
    beta, gamma, off = (ca.SX(0) for _ in range(3))
    for i in n:
        row = [columns[j][i] for j in n]
        weights = [_size(y) for y in row]
        step = [w * (_size(value) + _ROUNDINGS * t.value) for w, value, t in zip(weights, f, terms, strict=True)]
        beta = ca.fmax(beta, _sum(step))
        gamma = ca.fmax(gamma, _sum([w * t.square for w, t in zip(weights, terms, strict=True)]))
        products = [total([y * r[j] for y, r in zip(row, matrix, strict=True)]) for j in n]
        far = _sum([_size(z - (1 if j == i else 0)) for j, z in enumerate(products)])
        off = ca.fmax(off, far + 2 * _ROUNDINGS * _sum([w * t.slope for w, t in zip(weights, terms, strict=True)]))
    left = 1 - off * ROUNDING_UP
    alpha = ROUNDING_UP * beta * gamma / (left * left)
    # what is not a number is not below the limit either
    return ca.if_else(left > 0, alpha, ca.inf), 2 * ROUNDING_UP * beta / left


class _Terms(NamedTuple):
    """Upper bounds of an equation's sums of sizes: of its terms, its derivatives' terms, its quadratic coefficients."""

    value: ca.SX
    slope: ca.SX
    square: ca.SX


def _terms(x: list[Complex], lengths: list[Complex], pairs: list[JointPair]) -> list[_Terms]:
    """Of every equation. Joints count with |A|_1, |B|_1 in every component: they were rotated."""
    sizes = [_size(z) for z in x]
    g0, g, e = sizes[0], _sum(sizes[1:4]), _sum(sizes[4:])
    first, norm = _size(lengths[-1]), 1 + e * e
    rows = [_Terms(g0 + e * g, 1 + e + g, ca.SX(3))]
    for number, pair in zip(lengths, pairs, strict=False):
        a, b = (_sum([ca.fabs(c) for c in point]) for point in (pair.a, pair.b))
        both, product, kappa = a + b, a * b, _size(number)
        # kappa is a difference: its error is that of what it was made from
        kappa_error = kappa + 2 * first + both * both
        value = kappa_error * norm + product * (1 + e + e * e) + both * (g + e * g0 + e * g)
        slope = both * (1 + 3 * e + g0 + 2 * g) + 2 * kappa_error * e + 2 * product * (1 + e)
        rows.append(_Terms(value, slope, 3 * kappa + 3 * both + product))
    last = _Terms(g0 * g0 + g * g + first * norm, 2 * (g0 + g + first * e), 4 + 3 * first)
    return [*rows, last]


def _size(z: Complex) -> ca.SX:
    """|re| + |im|, no smaller than |z|."""
    return ca.fabs(z.re) + ca.fabs(z.im)


def _sum(values: list[ca.SX]) -> ca.SX:
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


@cache
def kernel() -> Kernel:
    """The compiled :func:`polished`."""
    return Kernel(polished, cache_key("polished"))
