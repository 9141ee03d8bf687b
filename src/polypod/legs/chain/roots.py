"""Roots in closed form on a chosen branch, each with the condition that it is real."""

from __future__ import annotations

import casadi as ca

from ..contract import Condition


def solve_trigonometric(
    name: str, branch: int, a: ca.SX, b: ca.SX, wanted: ca.SX, rod: ca.SX | None = None
) -> tuple[ca.SX, ca.SX, Condition]:
    """cos and sin of the angle with A cos + B sin = D, on a branch (1 or -1); ``wanted`` is D.

    Where D comes from the length of a rod, D = (A^2 + B^2 + ... - rod^2)/2, ``rod`` is that length [m], so that the
    condition's excess is what the rod lacks; without it A, B and D are lengths themselves.
    """
    size2 = a * a + b * b
    inside = size2 - wanted * wanted
    root = branch * ca.sqrt(inside)
    scale = 1 / size2
    excess = ca.fabs(wanted) - ca.sqrt(size2)
    if rod is not None:
        # what the rod is too short or, where D is negative, too long: its square lacks 2 (|D| - sqrt(A^2 + B^2))
        lacking = 2 * excess
        short, long = ca.sqrt(rod * rod + lacking) - rod, rod - ca.sqrt(ca.fmax(rod * rod - lacking, 0))
        excess = ca.if_else(wanted > 0, short, long)
    condition = Condition(f"{name}: out of reach", inside * scale, excess, "m")
    return (a * wanted + b * root) * scale, (b * wanted - a * root) * scale, condition


def solve_quadratic(name: str, branch: int, a: ca.SX, b: ca.SX, c: ca.SX, reach2: ca.SX) -> tuple[ca.SX, Condition]:
    """s of a s^2 + 2 b s + c = 0 on a branch (1 or -1): where a line meets a sphere of squared radius ``reach2``."""
    inside = b * b - a * c
    # inside/a^2 is the square of what is left between the two solutions; the line is -inside/a farther, squared
    scale2 = b * b + ca.fabs(a * c)
    excess = ca.sqrt(reach2 + ca.fmax(-inside / a, 0)) - ca.sqrt(reach2)
    condition = Condition(f"{name}: out of reach", inside / scale2, excess, "m")
    return (branch * ca.sqrt(inside) - b) / a, condition
