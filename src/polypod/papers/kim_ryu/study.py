"""Kim and Ryu: how much link inertia and joint friction matter in a HexaSlide manipulator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from ...arrays import Array
from ...formulations import FORMULATIONS
from ...model import Model
from ...tables import Table, table
from ..shared import operations as cost
from ..shared.arrays import Platform, cross, dot, norm, outer, peak, peak_ratio, skew
from ..shared.contract import Claim, Drawing, Erratum, Measure, PaperStudy, at_least, at_most, recorded, stated
from ..shared.panels import all_legs
from . import cases
from . import printed as eq
from .printed import KINDS, angular_acceleration, euler_accelerations, euler_rates, link_inertia_force, rotation

# ----------------------------------------------------------------------------------------------------------------------
# Kim and Ryu, Figs. 7-11 again.


def slender_link(rpm: int) -> Figure:
    """Actuator forces by the exact model and what the slender link leaves out."""
    what = f"circle at {rpm} rpm" if rpm else "motion (33)"
    micro = 1e6 * (cases.paper(rpm) - cases.exact(rpm))
    milli = 1e3 * (cases.paper(rpm, "rail") - cases.exact(rpm, "rail"))
    blocks = (
        (cases.exact(rpm), "force [N]", "(a) exact model (the slender-link model's curves lie on these)"),
        (micro, "difference [µN]", "(b) slender link, (21)-(29) corrected, less exact; alpha horizontal"),
        (milli, "difference [mN]", "(c) the same with alpha along the rail"),
    )
    return all_legs(cases.motion(rpm).time, blocks, f"Actuator forces, {what}, no friction")


def link_inertia(rpm: int) -> Figure:
    """Total actuator forces and the share of link inertia."""
    blocks = (
        (cases.exact(rpm), "force [N]", "(a) total"),
        (cases.link_inertia(rpm), "force [N]", "(b) link inertia"),
    )
    return all_legs(cases.motion(rpm).time, blocks, f"Actuator forces, circle at {rpm} rpm, no friction")


def friction() -> Figure:
    """What friction in each kind of joint adds."""
    heads = {"slider": "(a) sliders", "universal": "(b) universal joints", "spherical": "(c) spherical joints"}
    blocks = tuple((cases.friction_force(20, kind), "force [N]", heads[kind]) for kind in KINDS)
    return all_legs(cases.motion(20).time, blocks, "Additional actuator forces due to friction, circle at 20 rpm")


FIGURES = (
    Drawing(
        "fig-07", "Fig. 7: circle at 40 rpm, exact forces and the slender link's error.", partial(slender_link, 40)
    ),
    Drawing("fig-08", "Fig. 8: the motion (33), exact forces and the slender link's error.", partial(slender_link, 0)),
    Drawing("fig-09", "Fig. 9: total and link inertia forces at 20 rpm.", partial(link_inertia, 20)),
    Drawing("fig-10", "Fig. 10: total and link inertia forces at 60 rpm.", partial(link_inertia, 60)),
    Drawing(
        "fig-11",
        "Fig. 11: friction in sliders, universal joints and spherical joints, each alone, at 20 rpm.",
        friction,
    ),
)


# ----------------------------------------------------------------------------------------------------------------------
# Kim and Ryu: the errata, each with what it costs.

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
        "d/dt [kdot/(2 sqrt k)] = (2 kddot k - kdot^2)/(4 k sqrt k). The copy at hand prints the definition of kddot "
        "with one dot too: dots may have been lost in it, not in the paper.",
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
        "mu (|N_u| + |N_v|), taken here",
        "Turning v into -v names the same rail and changes the printed force; friction does not depend on names. The "
        "sum is one choice among several: it is that of a guide with two perpendicular pairs of faces (guide_normal in "
        "the robot file); with mu |N|, which any other slide of the library has, u and v count for nothing.",
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


ERRATA: tuple[Callable[[], Erratum], ...] = (
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


# ----------------------------------------------------------------------------------------------------------------------
# Kim and Ryu: how much link inertia and joint friction matter in a HexaSlide manipulator.

ALMOST = 1e-3, "almost the same: a thousandth"


def slender_link_on_the_circle() -> Claim:
    """Errors of slender links on the circle, Fig. 7."""
    slender = {axes: peak(cases.paper(40, axes) - cases.exact(40, axes)) for axes in cases.AXES}
    return Claim(
        "section 4.1, Fig. 7",
        "The derived equations agree with DADS; a minor discrepancy may be due to the slender link (40 rpm).",
        "almost the same",
        tuple(
            at_most(f"alpha {axes}, over the largest force", error / peak(cases.exact(40, axes)), "1", *ALMOST)
            for axes, error in slender.items()
        ),
        (
            Measure("alpha horizontal", slender["horizontal"], "N", 5e-6, 0.1, "stated with one digit"),
            stated("alpha along the rail", slender["rail"], "N", "0.0035"),
            stated("largest force", peak(cases.exact(40)), "N", "51.5"),
        ),
        "With its equations corrected. A link this thin (I_zz is 1/1300 of I_xx) hardly feels its spin.",
    )


def slender_link_on_the_acceleration() -> Claim:
    """Errors of slender links at constant acceleration, Fig. 8."""
    errors = {
        axes: peak_ratio(cases.paper(0, axes) - cases.exact(0, axes), cases.exact(0, axes)) for axes in cases.AXES
    }
    return Claim(
        "section 4.1, Fig. 8",
        "The same on the motion with constant acceleration (33).",
        "almost the same",
        tuple(at_most(f"alpha {axes}, over the largest force", error, "1", *ALMOST) for axes, error in errors.items()),
        (
            recorded("alpha horizontal", peak(cases.paper(0) - cases.exact(0)), "N", 5.439e-06),
            recorded("alpha along the rail", peak(cases.paper(0, "rail") - cases.exact(0, "rail")), "N", 6.356e-04),
            recorded("largest force", peak(cases.exact(0)), "N", 101.3),
        ),
        "With its equations corrected.",
    )


def what_the_slender_link_is() -> Claim:
    """What (16)-(19) neglect: the link as a slender rod."""
    worst = max(
        peak_ratio(cases.paper(rpm, axes) - cases.exact(rpm, axes, "slender"), cases.exact(rpm))
        for rpm in (*cases.SPEEDS, 0)
        for axes in cases.AXES
    )
    return Claim(
        "section 2.3, (16)-(19)",
        "For slender links the rotation about the link may be neglected.",
        "n.omega_l = 0",
        (at_most("largest difference over the largest force", worst, "1", 1e-12, "rounding"),),
        (),
        "The corrected (21)-(29) equal the exact model with I_lzz = 0, whatever alpha is: nothing else is neglected.",
    )


def link_inertia_grows_with_speed() -> Claim:
    """The share of link inertia grows with speed, Figs. 9, 10."""
    shares = [cases.share(cases.link_inertia(rpm), rpm) for rpm in cases.SPEEDS]
    return Claim(
        "section 4.2, Figs. 9, 10",
        "The higher the speed, the more significant the link inertia.",
        "grows from 20 to 60 rpm",
        (
            at_least("40 rpm over 20 rpm", shares[1] / shares[0], "times", 1.0, "more significant"),
            at_least("60 rpm over 40 rpm", shares[2] / shares[1], "times", 1.0, "more significant"),
        ),
        tuple(
            stated(f"{rpm} rpm", share, "%", e)
            for rpm, share, e in zip(cases.SPEEDS, shares, ("3.9", "15.2", "21.8"), strict=True)
        ),
        "The links' weight is not counted as inertia here.",
    )


def cost_of_link_inertia() -> Claim:
    """Operations of the Newton-Euler form."""
    counts = [
        Model(cases.robot("horizontal", "all"), **cases.MODELS[name], specialise=True)  # type: ignore[arg-type]
        .kernel("inverse_dynamics", False, "newton-euler")
        .operations
        for name in ("exact", "no link inertia")
    ]
    ratio = counts[0] / counts[1]
    return Claim(
        "section 4.2",
        "Link inertia takes 16.59 s against 8.52 s (601 steps, MATLAB, Pentium III 650 MHz).",
        "ratio 1.95",
        (
            at_least(f"operations, {counts[0]} / {counts[1]}", ratio, "times", 1.0, "link inertia is not free"),
            Measure("the same", ratio, "times", 16.59 / 8.52, 0.1, "the paper's ratio of times, to a tenth"),
        ),
        (at_most("the same", ratio, "times", 16.59 / 8.52, "the paper's ratio of times, 16.59 s / 8.52 s"),),
        "A count of operations, since a compiled state takes well below a microsecond either way: link inertia costs "
        "less than the paper's program paid for it.",
    )


def friction_by_joint() -> Claim:
    """What friction of each kind of joint adds, Fig. 11."""
    shares = {kind: cases.share(cases.friction_force(20, kind), 20) for kind in KINDS}
    return Claim(
        "section 4.3, Fig. 11",
        "Friction in universal and spherical joints has small influence in this case (20 rpm).",
        "small",
        tuple(
            at_most(
                f"{kind} joints over sliders",
                shares[kind] / shares["slider"],
                "times",
                0.5,
                "small: less than half of the sliders'",
            )
            for kind in ("universal", "spherical")
        ),
        tuple(
            stated(f"{kind} joints", share, "%", e)
            for (kind, share), e in zip(shares.items(), ("17", "3.1", "6.8"), strict=True)
        ),
        "Small beside the sliders', but together a tenth of the largest force.",
    )


def explicit_friction() -> Claim:
    """Friction from the reactions without it, (32), against the solution."""
    jumps = "the largest difference sits where a slider turns round, and depends on the samples"
    values = []
    for rpm, expected in zip(cases.SPEEDS, (0.57, 0.61, 0.86), strict=True):
        off = peak(cases.exact(rpm, friction=True) - cases.exact(rpm, name="explicit", friction=True))
        values.append(Measure(f"{rpm} rpm", off, "N", expected, 0.03, jumps))
    worst = max(m.value / peak(cases.exact(rpm, friction=True)) for m, rpm in zip(values, cases.SPEEDS, strict=True))
    return Claim(
        "section 3.4, (32)",
        "The actuator forces that overcome joint friction follow from the reactions.",
        "added to the frictionless forces",
        (
            at_most("largest difference over the largest force", worst, "1", 0.05, "near: a twentieth"),
            at_most("the same", worst, "1", 1e-6, "equal"),
        ),
        tuple(values),
        "Friction changes the reactions it depends on. Explicit (reactions without dry friction) against implicit "
        "(both solved together).",
    )


def where_the_motions_are() -> Claim:
    """Where the motions may lie, by the travel of the sliders."""
    places = {rpm: cases.legs(rpm).place for rpm in (40, 0)}
    return Claim(
        "section 4.1",
        "A circle of 100 mm radius; a constant acceleration (33).",
        "no centre, no start",
        (),
        (
            stated("circle: smallest lambda", float(places[40].min()), "m", "0.261"),
            stated("circle: largest lambda", float(places[40].max()), "m", "0.387"),
            stated("(33): smallest lambda", float(places[0].min()), "m", "0.160"),
            stated("(33): largest lambda", float(places[0].max()), "m", "0.560"),
        ),
        "The figures' curves depend on where the motion is, which the paper does not say. With the choices made here "
        "the sliders stay on their rails (0 to 0.7 m).",
    )


def shares_by_speed() -> Table:
    """Link inertia and friction at every speed."""
    columns = [("part", ""), *((f"{rpm} rpm", "%") for rpm in cases.SPEEDS)]
    rows = [("link inertia", *(cases.share(cases.link_inertia(rpm), rpm) for rpm in cases.SPEEDS))]
    rows += [
        (f"friction, {kind} joints", *(cases.share(cases.friction_force(rpm, kind), rpm) for rpm in cases.SPEEDS))
        for kind in KINDS
    ]
    return table("Largest part of an actuator force over the largest frictionless force", columns, rows)


def operations_of_link_inertia() -> Table:
    """What link inertia costs on Kim and Ryu's robot."""
    rows = []
    for name in FORMULATIONS:
        full, weight, none = (cost.operations("kim-ryu", name, s) for s in (None, *cost.LINKS["kim-ryu"]))
        rows.append((name, full, weight, none, full / weight, full / none))
    heads = ("formulation", "complete", "no link inertia", "massless links", "complete / first", "complete / second")
    title = "kim-ryu: operations with and without link inertia; the paper's ratio of times is 1.95"
    return table(title, [(head, "") for head in heads], rows)


STUDY = PaperStudy(
    "kim-ryu",
    "Inverse kinematic and dynamic analyses of 6-DOF PUS type parallel manipulators",
    "J.-P. Kim, J. Ryu, KSME International Journal (2002)",
    (
        "alpha_i, the universal joint's axis on the slider, is not given: horizontal, (z x a_i)/|z x a_i|, unless said "
        "otherwise; along the rail is the other choice. u_i is the same direction, v_i = a_i x u_i.",
        "z points down, gravity (0, 0, 9.81) m/s^2. The circle has its centre at (0, 0, 0.9) m and a level platform; "
        "(33) starts from rest at (0, 0, 0.7) m and its numbers are second derivatives of [x y z Psi theta phi].",
        "Slider friction (30) takes |N_u| + |N_v|. Friction and reactions are solved together unless said otherwise; "
        "the sign of a rate is taken exactly.",
        f"Exact means the library's model; {cases.SAMPLES} samples a motion. Shares are largest values over time and "
        "legs over the largest frictionless force.",
    ),
    claims=(
        slender_link_on_the_circle,
        slender_link_on_the_acceleration,
        what_the_slender_link_is,
        link_inertia_grows_with_speed,
        cost_of_link_inertia,
        friction_by_joint,
        explicit_friction,
        where_the_motions_are,
    ),
    errata=ERRATA,
    tables=(shares_by_speed, operations_of_link_inertia),
    figures=FIGURES,
)
