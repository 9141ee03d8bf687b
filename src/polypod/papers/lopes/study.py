"""Lopes: a complete Lagrange model of a platform with vertical actuators, and one with the links as point masses."""

from __future__ import annotations

import numpy as np

from ...formulations import FORMULATIONS
from ...model import Model
from ..shared import operations as cost
from ..shared.arrays import norm, peak, peak_ratio
from ..shared.contract import Claim, Measure, PaperStudy, at_least, at_most, counted, recorded, stated
from . import cases, errata, figures
from . import printed as eq
from .data import Path
from .operations import TABLE_1, matrix_operations, operations_by_part


def totals_of_table_1() -> Claim:
    """The totals of Table 1 are the sums of its rows."""
    sums = np.array([np.sum(numbers, axis=0) for numbers in zip(*TABLE_1.values(), strict=True)])
    printed = np.array([[20924, 36733, 108], [1611, 3270, 60]])
    kept = np.sum([TABLE_1["platform"], TABLE_1["actuators"]])
    exact = "integers"
    return Claim(
        "Table 1",
        "V takes 20,924 + 36,733 + 108 operations, I takes 1,611 + 3,270 + 60.",
        "57,765 and 4,941",
        (
            Measure("rows summed, V", float(sums[0].sum()), "operations", 57765.0, 0.0, exact),
            Measure("rows summed, I", float(sums[1].sum()), "operations", 4941.0, 0.0, exact),
            at_most("largest difference from a printed total", peak(1.0 * (sums - printed)), "operations", 0.0, exact),
        ),
        (stated("platform and actuators", 100 * float(kept / sums.sum()), "%", "14.6"),),
        "The sums are right. Platform and actuators, which the simplified model keeps, are a seventh of the whole.",
    )


def cost_of_the_matrices() -> Claim:
    """I and V of the library in the same coordinates."""
    inertia, coriolis, _, both = matrix_operations()
    _, _, _, kept = matrix_operations(shared_out=True)
    return Claim(
        "Table 1",
        "The complete I and V take 62,706 operations; the simplified model keeps 14.6 % of them.",
        "62,706; 14.6 %",
        (
            at_most("kept by (86)-(91)", 100 * kept / both, "%", 100.0, "less work"),
            Measure("the same", 100 * kept / both, "%", 14.6, 0.1, "the paper's, to a tenth"),
            Measure("I and V", both, "operations", 62706.0, 0.1, "the paper's, to a tenth"),
        ),
        (
            counted("I", inertia, 1140),
            counted("V", coriolis, 3644),
            counted("I and V, work shared", both, 3742),
            at_most("the same over Table 1", both / 62706, "times", 0.1, "a tenth is enough to differ"),
            counted("kept by (86)-(91)", 100 * kept / both, 56.8, "%"),
        ),
        "Expanded entry by entry V repeats the same products; with common parts shared the complete matrices take a "
        "seventeenth of Table 1, and the simplified model saves less than half of that.",
    )


def cost_of_the_forces() -> Claim:
    """Forces straight from the motion."""
    simple = Model(cases.shared_out(), specialise=True)
    counts = {name: cost.operations("lopes", name) for name in FORMULATIONS}
    short = simple.kernel("inverse_dynamics", False, "newton-euler").operations
    saved = short / counts["newton-euler"]
    return Claim(
        "abstract, sections 3.4, 5",
        "The simplified model presents a much lower computational burden.",
        "much lower; 14.6 %",
        (
            at_most("(86)-(91) over complete, Newton-Euler", saved, "times", 1.0, "lower"),
            at_most("the same", saved, "times", 0.5, "much lower"),
        ),
        (
            at_most("Newton-Euler, complete", counts["newton-euler"], "operations", 1100, "bound known for this robot"),
            counted("virtual power, complete", counts["virtual-power"], 1044),
            counted("Lagrange, complete", counts["lagrange"], 3226),
            counted("recursive matrices, complete", counts["recursive-matrix"], 1634),
            counted("Newton-Euler, (86)-(91)", short, 881),
            counted("(86)-(91) over complete, Newton-Euler", short / counts["newton-euler"], 0.813, "times"),
        ),
        "Forces need no matrices. From the motion straight to the forces the complete model takes a sixtieth of "
        "Table 1, and leaving the links out saves a fifth.",
    )


def gravity_is_cheap() -> Claim:
    """Operations of gravity G beside those of inertia I and velocities V."""
    _, _, gravity, both = matrix_operations()
    return Claim(
        "section 3.4",
        "Gravitational terms present negligible computational burden.",
        "negligible",
        (at_most("G alone over I and V", gravity / both, "times", 0.1, "negligible: a tenth"),),
        (counted("G alone", gravity, 240),),
        "Most of it is kinematics that I and V need anyway.",
    )


def simplified_forces() -> Claim:
    """Errors of the simplified forces of Fig. 5, at several speeds."""
    lumped = cases.parameters().lumped()
    errors = {half: cases.simplified_error(half) for half in cases.HALVES}
    return Claim(
        "section 4, Fig. 5",
        "The forces are similar for both the complete and the simplified models.",
        "similar",
        (at_most("largest difference, four speeds", max(errors.values()), "%", 10.0, "similar: a tenth"),),
        (
            *(
                stated(f"T = {half:g} s each way", error, "%", text)
                for (half, error), text in zip(errors.items(), ("8.2", "4.0", "1.1", "0.3"), strict=True)
            ),
            stated("moment of inertia of two end masses", float(lumped.I_L[1]), "kg m^2", "0.327"),
            Measure("of the link", float(cases.parameters().I_L[1]), "kg m^2", 0.1, 1e-12, "Table 2"),
        ),
        "Largest difference over the largest force. It is a matter of speed: the point masses keep weight and centre "
        "of mass, but give a link three times its moment of inertia.",
    )


def point_masses() -> Claim:
    """(85) against (86)-(91), and the library's option."""
    worst, option = 0.0, 0.0
    for half in cases.HALVES:
        lumped, shared = cases.paper(half, "lumped"), cases.paper(half, "shared out")
        worst = max(worst, peak_ratio(lumped - shared, shared))
        option = max(option, peak_ratio(cases.exact(half, "point-mass-links") - shared, shared))
    return Claim(
        "section 3.4, (80)-(91)",
        "The links as two point masses are equivalent to heavier actuators and a heavier platform.",
        "equivalent",
        (
            at_most("(85) less (86)-(91), four speeds", worst, "1", 1e-12, "rounding"),
            at_most("library's point-mass-links less (86)-(91)", option, "1", 1e-12, "rounding"),
        ),
        (),
        "Difference over the largest force.",
    )


def what_links_are_worth() -> Claim:
    """Share of the links in the forces."""
    whole = cases.exact()
    inertia = whole - cases.exact(simplify="no-link-inertia")
    weight = cases.exact(simplify="no-link-inertia") - cases.exact(simplify="massless-links")
    size = float(np.linalg.norm(whole))
    links, by_weight, by_inertia = (
        100 * float(np.linalg.norm(part)) / size for part in (weight + inertia, weight, inertia)
    )
    return Claim(
        "sections 3.1, 3.2, (15), (66)",
        "The fixed-length links take part in the energies of the complete model.",
        "no number",
        (at_least("links", links, "%", 1.0, "they take part"),),
        (
            recorded("the same", links, "%", 51.58),
            recorded("their weight", by_weight, "%", 50.39),
            recorded("their inertia", by_inertia, "%", 10.44),
        ),
        "Share of the forces on the path, root mean square. Links are worth half of the force, most of it weight, "
        "which point masses keep.",
    )


def corrected_equations() -> Claim:
    """Lagrange against all other formulations."""
    right = cases.paper()
    found = {name: peak_ratio(cases.exact(formulation=name) - right, right) for name in FORMULATIONS}
    path = Path.of(cases.motion())
    matrices = eq.matrices(cases.parameters(), path)
    lightest = float(np.linalg.eigvalsh(matrices.inertia).min())
    return Claim(
        "sections 3.1-3.3",
        "Lagrange's equation with I, V and G of platform, actuators and links gives the forces.",
        "no number",
        (
            *(at_most(f"less {name}", off, "1", 1e-12, "rounding, a 6 x 6 solve") for name, off in found.items()),
            at_least("smallest eigenvalue of I_E on the path", lightest, "kg, kg m^2", 0.1, "positive definite"),
        ),
        (),
        "With the errata corrected the paper's equations, differentiated numerically, equal the library's four "
        "formulations. Differences over the largest force.",
    )


def level_axes() -> Claim:
    """(53)-(56) against the library's link frames."""
    at = cases.motion()
    mine = eq.link_axes(eq.legs(cases.parameters(), Path.of(at).x))
    bodies = cases.model().bodies(at.pose)
    frames = np.stack([bodies[f"{leg}.link"][:, :3, :3] for leg in cases.model().legs], axis=1)
    turned = np.stack([frames[..., 2], -frames[..., 1], frames[..., 0]], axis=-1)
    return Claim(
        "section 3.1.3, (53)-(56)",
        "The universal joint keeps y_L parallel to the base plane; z_L always points up.",
        "always",
        (
            at_most("axes less the library's, joint along z_B", peak(mine - turned), "1", 1e-14, "rounding"),
            at_least("smallest z_L.z_B on the path", float(mine[..., 2, 2].min()), "1", 0.4, "positive"),
        ),
        (),
        "If, and only if, the joint's axis on the actuator is z_B.",
    )


def links_do_not_turn() -> Claim:
    """Whether the links turn about themselves."""
    across, spin = eq.link_turning(cases.parameters(), cases.motion())
    return Claim(
        "section 3.1.3, above (59)",
        "The universal joint negates any rotation of a link along its own axis.",
        "always zero",
        (
            at_most(
                "largest spin over the largest omega_L without it",
                peak(norm(spin)) / peak(norm(across)),
                "1",
                1e-6,
                "always zero",
            ),
        ),
        (
            stated("largest spin", peak(norm(spin)), "rad/s", "0.52"),
            recorded("largest omega_L without spin", peak(norm(across)), "rad/s", 0.5710),
        ),
        "A universal joint hinders the spin relative to its cross, not in space: with one axis along z_B a link that "
        "swings round also spins. It would matter for links with a moment of inertia about themselves.",
    )


def where_the_path_goes() -> Claim:
    """Where the path of Fig. 4 may lie."""
    pose = cases.motion().pose
    travel = cases.model().inverse_kinematics(pose)
    condition = np.linalg.cond(cases.model().jacobian(pose))
    return Claim(
        "section 4, Fig. 4",
        "Third order trigonometric splines through P1, P2, P1.",
        "no time, no formula",
        (),
        (
            stated("smallest l_i", float(travel.min()), "m", "0.533"),
            stated("largest l_i", float(travel.max()), "m", "1.580"),
            stated("smallest condition number of J", float(condition.min()), "1", "2.2"),
            stated("largest condition number of J", float(condition.max()), "1", "3.0"),
            recorded("largest force", peak(cases.exact()), "N", 10.95),
        ),
        "The curves of Figs. 4 and 5 depend on the time law, and forces also on the time, which the paper does not "
        "give. The end points and the range of the lengths do not.",
    )


STUDY = PaperStudy(
    "lopes",
    "Complete dynamic model of a Stewart version parallel manipulator",
    "A. M. Lopes, Universidade do Porto",
    (
        "Joints: the paper gives radii and half-angles only. Platform pairs at 0, 120, 240 deg, each +-phi_P; base "
        "pairs at 60, 180, 300 deg, each +-phi_B; each platform point goes to the neighbouring base point. Then (89), "
        "(90) hold and L is sqrt(2) times the distance of a base point from its platform point, seen from above.",
        "The path P1 -> P2 -> P1 has neither time nor formula: s = (1 - cos(pi t/T))/2 on position and Euler angles, "
        f"T = 1 s each way unless said otherwise; {cases.SAMPLES} samples. Gravity (0, 0, -9.81) m/s^2, a_cm = 0.",
        "The universal joint's axis on the actuator is z_B, as (53)-(56) have it.",
        "Operations are counted after common parts are shared: additions, products, divisions, roots, comparisons.",
    ),
    claims=(
        totals_of_table_1,
        cost_of_the_matrices,
        cost_of_the_forces,
        gravity_is_cheap,
        simplified_forces,
        point_masses,
        what_links_are_worth,
        corrected_equations,
        level_axes,
        links_do_not_turn,
        where_the_path_goes,
    ),
    errata=errata.ALL,
    tables=(
        operations_by_part,
        cost.operations_table,
    ),
    figures=figures.ALL,
)
