"""Kim and Ryu: the errata, each with what it costs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ..shared.arrays import cross, dot, norm, outer, peak, peak_ratio, skew
from ..shared.contract import Erratum, Measure, at_most, recorded, stated
from ..shared.platform import Platform
from . import cases
from . import printed as eq
from .link_inertia import angular_acceleration, euler_accelerations, euler_rates, link_inertia_force, rotation

SPEED = "known as 48 % without its speed; 47, 45 and 45 % at 20, 40 and 60 rpm"


def euler_angles() -> Erratum:
    """What is wrong in (1)."""
    right = rotation(cases.ANGLES)
    error = 100 * float(np.linalg.norm(rotation(cases.ANGLES, printed=True) - right) / np.linalg.norm(right))
    return Erratum(
        "(1)",
        "R = R_{Y,Psi} R_{X,theta} R_{z,phi}",
        "R = R_{Y,theta} R_{X,Psi} R_{z,phi}",
        "The matrices of (1), the text (Psi about X, theta about Y) and (2) all have theta about Y.",
        "|R printed - R|/|R| at [Psi theta phi] = [0.1, -0.08, 0.15] rad",
        (stated("error", error, "%", "21"),),
    )


def second_derivatives() -> Erratum:
    """What is wrong in (3), rows 2 and 3."""
    state = cases.general_state()
    angles = np.array([-0.12, 0.05, -0.1])
    rates = euler_rates(angles, state.twist[0, 3:])
    accelerations = euler_accelerations(angles, rates, state.acceleration[0, 3:])
    right = angular_acceleration(angles, rates, accelerations)
    printed = angular_acceleration(angles, rates, accelerations, printed=True)
    return Erratum(
        "(3) rows 2,3",
        "thetadot - phidot S Psi - ..; -Psidot S theta - .. + phidot C theta C Psi - ..",
        "thetaddot - phiddot S Psi - ..; -Psiddot S theta - .. + phiddot C theta C Psi - ..",
        "The derivative of (2); dots may have been lost in the copy at hand, row 1 has them.",
        "|omegadot printed - omegadot|/|omegadot| in a general state",
        (recorded("error", 100 * float(np.linalg.norm(printed - right) / np.linalg.norm(right)), "%", 53.55),),
    )


def slider_acceleration() -> Erratum:
    """What is wrong in (10)."""
    right = cases.legs(20).acceleration
    printed = eq.legs(cases.parameters(), Platform.of(cases.motion(20)), printed=frozenset({"(10)"})).acceleration
    return Erratum(
        "(10)",
        "2 kdot k - kdot^2",
        "2 kddot k - kdot^2",
        "d/dt [kdot/(2 sqrt k)] = (2 kddot k - kdot^2)/(4 k sqrt k).",
        "largest error of lambdaddot over its largest value, circle at 20 rpm",
        (Measure("error", 100 * peak_ratio(printed - right, right), "%", 48.0, 0.02, SPEED),),
    )


def second_derivative_of_k() -> Erratum:
    """What is wrong in (10), kddot."""
    p, at = cases.parameters(), Platform.of(cases.general_state())
    right, printed = (eq.legs(p, at, printed=s).acceleration for s in (eq.NOTHING, frozenset({"(10) kddot"})))
    return Erratum(
        "(10) kddot",
        "last term -2 ddot.dddot",
        "-2 d.dddot, d times its second derivative",
        "d/dt (d.ddot) = ddot.ddot + d.dddot.",
        "largest error of lambdaddot over its largest value, in a general state",
        (stated("error", peak_ratio(printed - right, right), "times", "2.2"),),
    )


def sign_of_friction() -> Erratum:
    """What is wrong in (23)."""
    p, at = cases.parameters().only("universal"), cases.motion(20)
    right, printed = (eq.forces(p, at, explicit=True, printed=s).tau for s in (eq.NOTHING, frozenset({"(23)"})))
    share = right - cases.paper(20)
    return Erratum(
        "(23)",
        "+f_u/l",
        "-f_u/l",
        "(22) has f_u on the same side as n x F_B; (27), (28), (32) carry it with the right sign.",
        "largest change of the actuator forces over the universal joints' share of them, circle at 20 rpm",
        (
            Measure(
                "change",
                peak_ratio(printed - right, share),
                "times",
                2.0,
                1e-4,
                "the share with its sign turned, but for viscous friction in the reactions",
            ),
        ),
    )


def moment_of_the_universal_joint() -> Erratum:
    """What is wrong in (23), text."""
    measured = []
    for axes, angle, force in (("horizontal", 6.387, 0.01422), ("rail", 68.28, 3.435)):
        k = cases.legs(20, axes)
        off = np.degrees(np.arccos(np.clip(np.abs(dot(k.c, k.n)), 0.0, 1.0)))
        along, square = (
            eq.forces(cases.parameters(axes), cases.motion(20), spin=True, moment=m).tau for m in ("n", "c")
        )
        measured += [
            recorded(f"alpha {axes}: largest angle between alpha x beta and n", float(off.max()), "deg", angle),
            recorded(f"alpha {axes}: largest change of an actuator force", peak(along - square), "N", force),
        ]
    return Erratum(
        "(23) text",
        "M_A has only a component along n",
        "M_A is along alpha x beta",
        "The joint is free about alpha and beta, so its moment is perpendicular to both; n is perpendicular to "
        "beta only.",
        "circle at 20 rpm with friction, whose moment has a part along n when the link spins",
        tuple(measured),
    )


def platform_acceleration() -> Erratum:
    """What is wrong in (25)."""
    p, at = cases.parameters().only(), cases.general_state()
    right, printed = (eq.forces(p, at, printed=s).tau for s in (eq.NOTHING, frozenset({"(25)"})))
    return Erratum(
        "(25)",
        "m omega x R CG'",
        "m omegadot x R CG'",
        "(5): Gddot = Cddot + (omegadot~ + omega~ omega~) R CG'; the dot may have been lost in the copy at hand.",
        "largest change of the actuator forces in a general state (none on the circle, where omega = 0)",
        (recorded("change", peak(printed - right), "N", 0.3497),),
    )


def spherical_reaction() -> Erratum:
    """What is wrong in (27)."""
    p, at = cases.parameters().only(), cases.general_state()
    right, printed = (eq.forces(p, at, printed=s).F_B for s in (eq.NOTHING, frozenset({"(27)"})))
    return Erratum(
        "(27)",
        "-m_l lambdaddot n x a/2",
        "-m_l lambdaddot n x (n x a)/2",
        "(24): F_B = -n x (n x F_B) + .., and (23) has lambdaddot n x a/2 in n x F_B.",
        "largest error of F_B over its largest value, in a general state",
        (recorded("error", 100 * peak_ratio(norm(printed - right), norm(right)), "%", 9.013),),
    )


def universal_reaction() -> Erratum:
    """What is wrong in (28)."""
    k, F_A = _general()
    right = _doubled(k, k.nddot) / 2
    printed = _doubled(k, k.acceleration * cases.parameters().a)
    return Erratum(
        "(28)",
        "(l/2) m_l (1 + n n^T) lambdaddot",
        "(l/4) m_l (1 + n n^T) nddot",
        "m_l l/2 nddot of (22) less its part in F_B, m_l (l/4) (1 - n n^T) nddot by (27).",
        "largest error of F_A over its largest value, in a general state, lambdaddot read as lambdaddot a",
        (recorded("error", 100 * peak_ratio(norm(printed - right), norm(F_A)), "%", 11.30),),
    )


def actuator_force() -> Erratum:
    """What is wrong in (29)."""
    k, _ = _general()
    p = cases.parameters()
    tau = eq.forces(p.only(), cases.general_state()).tau
    error = dot(p.a, _doubled(k, k.acceleration * p.a) - _doubled(k, k.nddot)) / 2
    return Erratum(
        "(29)",
        "(l/4) m_l a^T (1 + n n^T) lambdaddot",
        "(l/4) m_l a^T (1 + n n^T) nddot",
        "a^T times (28) corrected; (34) has it right.",
        "largest error of tau over its largest value, in a general state, lambdaddot read as lambdaddot a",
        (recorded("error", 100 * peak_ratio(error, tau), "%", 5.784),),
    )


def slider_friction() -> Erratum:
    """What is wrong in (30)."""
    measured = []
    for rpm, expected in ((20, "2.0"), (60, "3.4")):
        p, at = cases.parameters(), cases.motion(rpm)
        right, printed = (eq.forces(p, at, explicit=True, printed=s).tau for s in (eq.NOTHING, frozenset({"(30)"})))
        measured.append(stated(f"{rpm} rpm", peak(printed - right), "N", expected))
    return Erratum(
        "(30)",
        "mu (u - v)^T N",
        "mu (|N_u| + |N_v|)",
        "Turning v into -v names the same rail and changes the printed force; friction does not depend on names.",
        "largest change of the actuator forces on the circle",
        tuple(measured),
    )


def link_inertia_share() -> Erratum:
    """What is wrong in (34)."""
    at = Platform.of(cases.motion(60))
    p, k = cases.parameters(), cases.legs(60)
    right, printed = link_inertia_force(p, at, k), link_inertia_force(p, at, k, printed=True)
    exact = cases.exact(60, name="slender") - cases.exact(60, name="no link inertia")
    return Erratum(
        "(34)",
        "n x a; omega_l in the moment row",
        "n x (n x a); omegadot_l in both rows",
        "The inertia terms of (29) with (27) corrected; corrected it is the difference of two models of the library.",
        "largest error of tau_L over its largest value, circle at 60 rpm",
        (
            recorded("printed", 100 * peak_ratio(printed - right, right), "%", 34.47),
            at_most("corrected", peak_ratio(right - exact, exact), "1", 1e-12, "rounding"),
        ),
    )


def direction_of_friction() -> Erratum:
    """What is wrong in the appendix, tau_u."""
    p, at = cases.parameters().only("universal"), cases.motion(20)
    right, printed = (eq.forces(p, at, explicit=True, printed=s).tau for s in (eq.NOTHING, frozenset({"appendix"})))
    return Erratum(
        "appendix, tau_u",
        "0.006 |F_A| |omega_l|/|omega_l|",
        "0.006 |F_A| omega_l/|omega_l|",
        "|omega|/|omega| is the number 1; a moment needs a direction, as tau_p has it.",
        "change of the universal joints' share if the 1 is read as the unit vector (1, 1, 1)/sqrt 3, circle at 20 rpm",
        (recorded("change", peak_ratio(printed - right, right - cases.paper(20)), "times", 1.553),),
    )


def notation() -> Erratum:
    """What is wrong in (13), (14), (19), (24)."""
    k = cases.legs(40)
    tilde = skew(k.n)
    identity = peak(np.eye(3) + tilde @ tilde - outer(k.n, k.n))
    return Erratum(
        "(13),(14),(19),(24)",
        "n^T in (13); I_l^T in (14); ndot x n = 0 below (19); 1 n~ n~ = n n^T above (24)",
        "n; I'_l; ndot x ndot = 0; 1 + n~ n~ = n n^T",
        "A rotation has columns, (14) turns the constant tensor, a vector times itself is 0, n is a unit vector.",
        "notation only: what is meant holds, what is printed below (19) does not (circle at 40 rpm)",
        (
            at_most("1 + n~ n~ - n n^T", identity, "1", 1e-15, "rounding of a unit vector"),
            recorded("largest |ndot x n|", peak(norm(cross(k.ndot, k.n))), "1/s", 0.4654),
        ),
    )


def _general() -> tuple[eq.Legs, Array]:
    p, at = cases.parameters().only(), cases.general_state()
    return eq.legs(p, Platform.of(at)), eq.forces(p, at).F_A


def _doubled(k: eq.Legs, a: Array) -> Array:
    """(l/2) m_l (1 + n n^T) a."""
    p = cases.parameters()
    result: Array = 0.5 * p.ell * p.m_l * (a + dot(k.n, a) * k.n)
    return result


ALL: tuple[Callable[[], Erratum], ...] = (
    euler_angles,
    second_derivatives,
    slider_acceleration,
    second_derivative_of_k,
    sign_of_friction,
    moment_of_the_universal_joint,
    platform_acceleration,
    spherical_reaction,
    universal_reaction,
    actuator_force,
    slider_friction,
    link_inertia_share,
    direction_of_friction,
    notation,
)
