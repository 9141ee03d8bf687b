"""Pedrammehr et al.: the errata, each with what it costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ..shared.arrays import dot, norm, peak_ratio, rotated_tensor, times
from ..shared.contract import Erratum, Measure, at_most, recorded, stated
from ..shared.platform import Platform
from . import cases
from . import printed as eq
from .compact import compact_forces, corrected_inertia, printed_inertia


def pod_parallel_axis() -> Erratum:
    """What is wrong in (31), (36) with (32), (33)."""
    found = cases.error_range(3, "shifted pods")
    return Erratum(
        "(31),(36) with (32),(33)",
        "I_di = T (I_doi + m_d [..]) T^T beside m_d L_di x Lddot_di; I_ui likewise",
        "I_di = T I_doi T^T, I_ui = T I_uoi T^T",
        "The moment that a body's inertia asks for is L x m Lddot + I_c alpha + omega x I_c omega: the first term is "
        "the parallel-axis part, and (32), (33) add it again.",
        "largest force error on Path 3, this slip alone, over five choices of u",
        (stated("smallest", found.low, "%", "4"), stated("largest", found.high, "%", "10")),
    )


def platform_parallel_axis() -> Erratum:
    """What is wrong in (49), (51) with (50)."""
    found = cases.error_range(3, "shifted platform")
    return Erratum(
        "(49),(51) with (50)",
        "I_p = R (I_p + m_p [..]) R^T beside m_p r x Xddot_g",
        "I_p = R I_p R^T",
        "As for the pods: m_p r x Xddot_g holds the parallel-axis part already.",
        "largest force error on Path 3, this slip alone, over five choices of u",
        (stated("smallest", found.low, "%", "0.6"), stated("largest", found.high, "%", "0.75")),
    )


def components_in_the_bracket() -> Erratum:
    """What is wrong in (32), (33), (50)."""
    p, k = cases.parameters("tangential"), cases.pods("tangential", 3)
    back = np.swapaxes(k.T, -1, -2)
    local = eq.bracket(p.m_d, times(back, k.L_d)) + eq.bracket(p.m_u, times(back, k.L_u))
    meant = rotated_tensor(k.T, p.I_do + p.I_uo + local)
    error = _size(eq.pod_tensor(p, k, shifted=True) - meant) / _size(meant)
    return Erratum(
        "(32),(33),(50)",
        "T (I_o + m [bracket of L_di = T L_doi]) T^T",
        "the bracket's vector in pod axes, L_doi; gone once the two errata above are corrected",
        "T (..) T^T turns a tensor in pod axes into base axes; (26) gives L_di in base axes, so it is turned twice.",
        "largest error of I_d + I_u on Path 3 against the same with the bracket in pod axes",
        (recorded("largest", 100 * float(error.max()), "%", 96.34),),
    )


def spin_acceleration() -> Erratum:
    """What is wrong in (25)."""
    errors = []
    for axes in cases.AXES:
        k = cases.pods(axes, 3)
        right = dot(k.alpha, k.n)
        errors.append(100 * peak_ratio(eq.alpha_t_printed(k) - right, right))
    return Erratum(
        "(25)",
        "alpha_t = (alpha_n.u)(u.n)/(1 - (u.n)^2) - omega_u omega_v",
        "alpha_t = [(alpha_n.u)(u.n) + omega_u omega_v (c.n)]/(1 - (u.n)^2)",
        "(18) times n: alpha_t = alpha_u (u.n) + omega_u omega_v (c.n), and alpha_u = (alpha_n + alpha_t n).u by (24).",
        "largest error of alpha_t on Path 3 over its largest value, five choices of u",
        (recorded("smallest", min(errors), "%", 0.7226), recorded("largest", max(errors), "%", 7.572)),
    )


def missing_axis() -> Erratum:
    """What is wrong in (21)."""
    at = Platform.of(cases.motion(3))
    k = cases.pods("tangential", 3)
    right, printed = eq.alpha_by_axes(k, at, printed=False), eq.alpha_by_axes(k, at, printed=True)
    return Erratum(
        "(21)",
        "omega_u omega_v x l n",
        "omega_u omega_v c x l n",
        "The rate of omega_v v in (18) holds omega_v omega_u u x v = omega_u omega_v c; a number has no cross product.",
        "error of alpha by (18)-(20) on Path 3 if the term is read as omega_u omega_v l n, tangential u",
        (
            recorded("printed", 100 * peak_ratio(printed - k.alpha, k.alpha), "%", 4.123),
            at_most(
                "corrected", peak_ratio(right - k.alpha, k.alpha), "1", 1e-12, "against (22), (23), (25) corrected"
            ),
        ),
    )


def compact_inertia() -> Erratum:
    """What is wrong in (42), (43)."""
    p, k = cases.parameters("tangential"), cases.pods("tangential", 3)
    right, printed = corrected_inertia(p, k), printed_inertia(p, k, shifted=False)
    error = float((_size(printed - right) / _size(right)).max())
    bias = float((_size(printed - np.swapaxes(printed, -1, -2)) / _size(printed)).max())
    straight = float((_size(right - np.swapaxes(right, -1, -2)) / _size(right)).max())
    poses = "known as 20 % without its pose; 9 to 24 % along the path"
    return Erratum(
        "(42),(43)",
        "Q and V with n~ L~^2 n~ terms; L_ui for L_di in the m_d term of (43)",
        "Q = m_u n n^T (1 - L_u~ Gamma n~/l) - E [B Gamma n~/l + m_u (L_u x n) n^T]",
        "alpha_l = Gamma n~ (Xddot + alpha x q)/l + ..; (36), (40) make Q of it. Inertia is symmetric, (42) is not.",
        "error of Q by (42) with central tensors on Path 3, tangential u",
        (
            Measure("largest", 100 * error, "%", 20.0, 0.25, poses),
            recorded("asymmetry |Q - Q^T|/|Q| as printed", 100 * bias, "%", 28.90),
            at_most("asymmetry corrected", straight, "1", 1e-12, "rounding"),
        ),
    )


def references_and_rate() -> Erratum:
    """What is wrong above (40), Appendix 1."""
    p, at = cases.parameters("tangential"), cases.motion(3)
    right, printed = compact_forces(p, at), compact_forces(p, at, rate=False)
    return Erratum(
        "above (40); Appendix 1, S_i",
        '"substituted into Eq. (36)"; 2 omega_l x l n',
        "(38); 2 omega_l x ldot n",
        "(36) holds neither m_i nor n.F; (11) has 2 omega x ldot n, and 2 omega x l n is no acceleration.",
        "change of the compact model's forces on Path 3 if S_i is taken as printed, tangential u",
        (recorded("largest", 100 * peak_ratio(printed - right, right), "%", 2.638),),
    )


def moment_along_the_pod() -> Erratum:
    """What is wrong in (34) and its text."""
    k = cases.pods("tangential", 3)
    smallest = float(np.abs(dot(k.c, k.n)).min())
    return Erratum(
        "(34), text",
        "the universal joint cannot impose any constraint moments in the n, u and v directions",
        "none along u and v; M = m c has the component m (c.n) along n",
        "c = u x v is perpendicular to u and v only; n lies in the plane of u and c.",
        "c.n on Path 3, tangential u",
        (Measure("smallest", smallest, "1", 0.74, 0.05, "known as 0.74 to 1 for other poses of the same robot"),),
    )


def _size(tensor: Array) -> Array:
    size: Array = norm(tensor.reshape(*tensor.shape[:-2], 9))[..., 0]
    return size


ALL: tuple[Callable[[], Erratum], ...] = (
    pod_parallel_axis,
    platform_parallel_axis,
    components_in_the_bracket,
    spin_acceleration,
    missing_axis,
    compact_inertia,
    references_and_rate,
    moment_along_the_pod,
)
