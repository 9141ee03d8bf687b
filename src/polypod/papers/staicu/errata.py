"""Staicu et al.: the errata, each with what it costs in newtons on one second of (5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shared.arrays import norm, peak
from ..shared.contract import Erratum, Measure, at_most
from . import cases
from . import printed as eq

ALONE = "largest force error on (5), this slip alone"


def base_triangle() -> Erratum:
    """What is wrong in section 1."""
    p = cases.parameters()
    A, B, C = (np.array(leg.rail_start) for leg in cases.model().robot.legs)  # type: ignore[attr-defined]
    sides = [float(np.linalg.norm(end - C)) for end in (A, B)]
    area = 0.5 * np.sqrt(max(0.0, p.R**2 - float(np.linalg.norm(A - B) / 2) ** 2)) * 2 * p.R
    return Erratum(
        "section 1, text",
        "A2C2 = B2C2 = R with A2B2 = 2R",
        "A2C2 = B2C2 = R sqrt(2)",
        "r10 of (7): A1 = (0, -R, .), C1 = (-R, 0, .). Sides R, R, 2R lie on one line.",
        "sides of the base by (7), and area of the triangle as printed",
        (
            *(
                Measure(name, side, "m", float(np.sqrt(2) * p.R), 1e-12, "closed form")
                for name, side in zip(("A2C2", "B2C2"), sides, strict=True)
            ),
            at_most("area as printed", area, "m^2", 0.0, "no triangle"),
        ),
    )


def closure() -> Erratum:
    """What is wrong in (6), leg C."""
    p, x = cases.parameters(), cases.path().x
    right, printed = (eq.closure(p, x, s) for s in (eq.NOTHING, frozenset({"(6) C"})))
    gap = norm(printed[2])
    square = "sqrt(2) L: the two directions are perpendicular to each other"
    return Erratum(
        "(6) leg C",
        "c20^T r43",
        "c30^T r43",
        "r43 = -L u2 lies along the bar T3, (7), and is given in its axes.",
        "gap by which leg C does not close on (5)",
        (
            Measure("smallest", float(gap.min()), "m", float(np.sqrt(2) * p.L), 1e-12, square),
            Measure("largest", float(gap.max()), "m", float(np.sqrt(2) * p.L), 1e-12, square),
            at_most("corrected, all legs", max(peak(leg) for leg in right), "m", 1e-15, "rounding"),
        ),
    )


def _slip(where: str, printed: str, corrected: str, proof: str, name: str, newtons: str) -> Callable[[], Erratum]:
    def make() -> Erratum:
        last = 10.0 ** -len(newtons.partition(".")[2]) / float(newtons)
        reason = f"known as {newtons} N, rounded or cut off: one unit of its last digit"
        size = Measure("error", cases.error(name), "N", float(newtons), last, reason)
        return Erratum(where, printed, corrected, proof, ALONE, (size,))

    make.__name__ = "equation_" + name.translate(str.maketrans(" ,", "__", "()"))
    return make


ALL: tuple[Callable[[], Erratum], ...] = (
    base_triangle,
    closure,
    _slip(
        "(13) line 1",
        "c_{k,k-1} eps_{k,k-1}",
        "c_{k,k-1} eps_{k-1,0}",
        "The derivative of (11): the body's angular acceleration builds on that of the body before.",
        "(13) line 1",
        "38",
    ),
    _slip(
        "(13) line 3",
        "c_{k,k-1} gamma_{k,k-1} + gamma_{k,k-1}",
        "c_{k,k-1} gamma_{k-1,0}, and gamma_{k,k-1} where a joint slides",
        "The derivative of (12); the relative acceleration in a hinge is zero.",
        "(13) line 3",
        "57",
    ),
    _slip(
        "(14),(15) leg C",
        "r c20^T u3~ c32^T u2",
        "r c20^T u3~ c52^T u1",
        "The arm from C5 to P is r u1 in the axes of T5, (7).",
        "(14) arm",
        "17",
    ),
    _slip(
        "(14),(15) leg C",
        "omega54 L c50^T u3~ u1; eps54 L ..",
        "omega54 r c50^T u3~ u1; eps54 r ..",
        "The arm from C5 to P is r u1, (7).",
        "(14) length",
        "327",
    ),
    _slip(
        "(15) legs A, B",
        "omega21^2 L a20^T u3~ u1; b20 likewise",
        "omega21^2 L a20^T u3~ u3~ u1",
        "The derivative of a20^T is a20^T omega21 u3~, so that (14) gives a second u3~. The scan may have lost it.",
        "(15) A,B",
        "2.6",
    ),
    _slip(
        "(15) leg C",
        "omega32^2 L c30^T u3~ u2",
        "omega32^2 L c30^T u3~ u3~ u2",
        "As for legs A, B.",
        "(15) 32",
        "16",
    ),
    _slip(
        "(15) leg C",
        "omega54^2 r c50^T u3~ u1",
        "omega54^2 r c50^T u3~ u3~ u1",
        "As for legs A, B.",
        "(15) 54",
        "16",
    ),
    _slip(
        "(15) leg C",
        "2 omega21 omega32 L c20^T u3~ u2",
        "2 omega21 omega32 L c20^T u3~ c32^T u3~ u2",
        "The derivative of omega21 c20^T u3~ c32^T u2 by phi32; without c32^T the axes do not match.",
        "(15) 21 32",
        "1.5",
    ),
    _slip(
        "(15) leg C",
        "2 omega21 omega54 r c20^T u3~ c52^T u1",
        "2 omega21 omega54 r c20^T u3~ c52^T u3~ u1",
        "The derivative of omega21 c20^T u3~ c52^T u1 by phi54.",
        "(15) 21 54",
        "1.7",
    ),
    _slip(
        "(18)",
        "F_k = F_k0 + a_{k+1,k}^T F_{k+1}; M_k likewise",
        "T2 also carries T6: add c62^T F6, and c62^T M6 + r62~ c62^T F6",
        "The parallelogram branches at T2: both bars hang on it.",
        "(18)",
        "17",
    ),
)
