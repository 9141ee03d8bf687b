"""Poses about a guess, where the iteration of forward kinematics begins again if it found nothing.

They fill a cube of displacements evenly, the small ones first: multiples n a_k of irrational numbers modulo 1.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..arrays import Array
from ..platforms.lower_mobility import LowerMobilityPlatform
from .mechanism import Mechanism

_SIX = np.array([False] * 3 + [True] * 3)
SPREAD = 2.0
"""How far starts are from the guess at most, in each direction [sizes of the platform, rad]."""
HALVINGS = 4
"""How often that is halved for starts where legs may not reach: six legs of six revolute joints close at 8 % of the
starts within a quarter, at 53 % within a sixteenth."""


def fractions(m: int) -> Array:
    """Numbers a_k (m) whose multiples fill the unit cube evenly: x^-k, with x the positive root of x^(m+1) = x + 1."""
    ratio = 2.0
    for _ in range(60):
        ratio = (1.0 + ratio) ** (1.0 / (m + 1))
    return np.asarray(ratio ** -np.arange(1.0, m + 1))


def start_about(mechanism: Mechanism, guess: ca.SX, number: ca.SX, count: int) -> ca.SX:
    """The pose (16) displaced from ``guess`` that is the ``number``-th of ``count`` starts; the guess itself beyond."""
    platform = mechanism.platform
    turns = np.abs(platform.dof.basis[3:]).sum(axis=0) > 0 if isinstance(platform, LowerMobilityPlatform) else _SIX
    even = [number * float(a) + 0.5 for a in fractions(len(turns))]
    # three fifths of them wide, halved up to twice, the rest near, should the cube leave what legs reach
    wide = 3 * count // 5
    first = number <= wide
    nearer = ca.if_else(first, _modulo(number, 3), 3 + _modulo(number, HALVINGS - 2))
    radius = (ca.if_else(first, number, number - wide) / ca.if_else(first, wide, count - wide)) ** (1 / 3)
    part = ca.if_else(number <= count, SPREAD * radius * 0.5**nearer, 0)
    moves = [
        part * (2 * (x - ca.floor(x)) - 1) * (1 if turn else mechanism.size)
        for x, turn in zip(even, turns, strict=True)
    ]
    return platform.displaced(guess, ca.vertcat(*moves, ca.SX.zeros(platform.internal)))


def _modulo(number: ca.SX, divisor: int) -> ca.SX:
    return number - divisor * ca.floor(number / divisor)
