"""Kim and Ryu: how much link inertia and joint friction matter in a HexaSlide manipulator."""

from __future__ import annotations

from ...formulations import FORMULATIONS
from ...model import Model
from ...tables import Table, table
from ..shared import operations as cost
from ..shared.arrays import peak, peak_ratio
from ..shared.contract import Claim, Measure, PaperStudy, at_least, at_most, recorded, stated
from . import cases, errata, figures
from .data import KINDS

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
    errata=errata.ALL,
    tables=(shares_by_speed, operations_of_link_inertia),
    figures=figures.ALL,
)
