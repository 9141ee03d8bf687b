"""Staicu, Li, Liu, Wang and Wang: recursive matrix relations for a manipulator of three degrees of freedom."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from ...formulations import FORMULATIONS
from ...results.figures.style import COLOURS, DASHES, INK, TIME, dress, figure, legend
from ...tables import Table, table
from ..shared import operations as cost
from ..shared.arrays import norm, peak, peak_ratio
from ..shared.contract import Claim, Drawing, Erratum, Measure, PaperStudy, at_least, at_most, counted, recorded, stated
from . import cases
from . import printed as eq

# ----------------------------------------------------------------------------------------------------------------------
# Staicu et al., Figs. 3-5 again.

SLIPS = ("(13) line 1", "(13) line 3")


def force(leg: int) -> Figure:
    """Force of one actuator: exact, and by the equations with (13) as printed."""
    name = "ABC"[leg]
    curves = {
        "exact; equations corrected": cases.exact()[:, leg],
        "(13) as printed": eq.forces(cases.parameters(), cases.path(), frozenset(SLIPS))[:, leg],
    }
    drawn = figure(7.2, 3.4)
    axes = drawn.subplots()
    for number, (label, values) in enumerate(curves.items()):
        style = {"color": COLOURS[number], "linestyle": DASHES[number], "linewidth": 1.6}
        axes.plot(cases.times(), values, label=label, **style)
    axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(axes, TIME, "force [N]", f"Force of actuator {name} on one second of (5)")
    legend(drawn, axes)
    return drawn


FIGURES = (
    Drawing("fig-03", "Fig. 3: force of actuator A.", partial(force, 0)),
    Drawing("fig-04", "Fig. 4: force of actuator B.", partial(force, 1)),
    Drawing("fig-05", "Fig. 5: force of actuator C.", partial(force, 2)),
)


# ----------------------------------------------------------------------------------------------------------------------
# Staicu et al.: the errata, each with what it costs in newtons on one second of (5).

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


ERRATA: tuple[Callable[[], Erratum], ...] = (
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


# ----------------------------------------------------------------------------------------------------------------------
# Staicu, Li, Liu, Wang and Wang: recursive matrix relations for a manipulator of three degrees of freedom.

ROUNDING = "rounding"


def corrected_recursions() -> Claim:
    """The corrected recursions (6)-(18) against the library."""
    right = eq.forces(cases.parameters(), cases.path())
    found = {name: peak_ratio(cases.exact(name) - right, right) for name in FORMULATIONS}
    return Claim(
        "sections 2, 4, (10)-(18)",
        "The recursive matrix relations with virtual powers give the actuator forces.",
        "no number",
        tuple(at_most(f"less {name}", off, "1", 1e-12, ROUNDING) for name, off in found.items()),
        (),
        "With the errata corrected they equal all four formulations of the library. Differences over the largest "
        "force.",
    )


def forces_of_the_figures() -> Claim:
    """Figs. 3-5: forces at known instants."""
    zero = np.zeros(3)
    home = cases.model().inverse_dynamics(*cases.model().motion(zero, zero, zero))
    start, largest = cases.exact()[0], np.abs(cases.exact()).max(axis=0)
    rest, moving = ("46.785368", "46.785368", "53.556528"), ("52.21422", "37.53964", "49.37333")
    return Claim(
        "section 4, Figs. 3-5",
        "The forces of the three actuators for one second of platform's evolution.",
        "three curves",
        (),
        (
            *(stated(f"at rest at home, {n}", float(f), "N", e) for n, f, e in zip("ABC", home, rest, strict=True)),
            *(stated(f"at t = 0 of (5), {n}", float(f), "N", e) for n, f, e in zip("ABC", start, moving, strict=True)),
            *(
                recorded(f"largest on (5), {n}", float(f), "N", e)
                for n, f, e in zip("ABC", largest, (118.5, 65.57, 89.72), strict=True)
            ),
        ),
        "The copy at hand has no curves, and they depend on tensors whose reference points are not given. Forces "
        "expected at rest and at t = 0 come from a computation with fifty digits.",
    )


def start_and_end() -> Claim:
    """The motion (5) starts and ends as stated, at t = 0 and 1 s."""
    lift = cases.model().inverse_kinematics(cases.motion().pose)
    return Claim(
        "section 1, (5)",
        "The platform moves for one second along (5).",
        "lambda = 0 at home",
        tuple(at_most(f"|lambda| at t = {t} s", peak(lift[k]), "m", 1e-15, ROUNDING) for t, k in ((0, 0), (1, -1))),
        (stated("thetadot at t = 0", float(cases.path().xdot[0, 2]), "rad/s", "5.03"),),
        "It starts and ends at home, but not at rest: the actuators would have to set the platform turning at once.",
    )


def virtual_power() -> Claim:
    """The actuators' work over the second is the change of energy."""
    pose, twist, _ = cases.motion()
    kinetic, potential, _ = cases.model().energy(pose[[0, -1]], twist[[0, -1]])
    gained = float(np.diff(kinetic + potential)[0])
    return Claim(
        "section 4",
        "The virtual power of external, internal and inertia forces is null.",
        "null",
        (at_most("work less energy gained", abs(cases.work() / gained - 1), "1", 1e-12, ROUNDING),),
        (stated("work of the actuators over (5)", cases.work(), "J", "6.771799486"),),
        "The actuators' work is the energy gained, motion and height together.",
    )


def symmetry() -> Claim:
    """The motion mirrored in y = 0 swaps the forces of legs A and B."""
    at = cases.path()
    mirror = np.array([-1.0, 1.0, 1.0])
    turned = cases.model().inverse_dynamics(*cases.model().motion(*(mirror * part for part in at)))
    return Claim(
        "section 1",
        "The legs A and B have identical chains.",
        "identical",
        (
            at_most(
                "y -> -y swaps A and B: difference",
                peak_ratio(turned[:, [1, 0, 2]] - cases.exact(), turned),
                "1",
                1e-12,
                ROUNDING,
            ),
        ),
        (),
        "Difference over the largest force.",
    )


def dof() -> Claim:
    """Wrenches on the platform that do no work change no force."""
    forces = {}
    for name, wrench in (("f_x", 0), ("f_y", 1), ("f_z", 2), ("m_x", 3), ("m_y", 4), ("m_z", 5)):
        forces[name] = peak(cases.model().inverse_dynamics(*cases.motion(), np.eye(6)[wrench]) - cases.exact())
    idle = {name: forces[name] for name in ("f_x", "m_x", "m_z")}
    known = {"f_y": 1.236, "f_z": 0.7430, "m_y": 13.29}
    return Claim(
        "abstract, section 1",
        "Two translational degrees of freedom and one rotational one.",
        "y, z, theta",
        (
            *(at_most(f"unit {name} on the platform", size, "N", 1e-12, "no work") for name, size in idle.items()),
            *(at_least(f"unit {name} on the platform", forces[name], "N", 0.1, "work") for name in known),
        ),
        tuple(
            recorded(f"unit {name} on the platform", forces[name], "N", expected) for name, expected in known.items()
        ),
        "A force along x and moments about x and z are held by the joints: largest change of an actuator force on (5) "
        "for 1 N or 1 N m.",
    )


def efficiency() -> Claim:
    """Operations and time of the formulations on this robot."""
    counts = {name: cost.operations("staicu", name) for name in FORMULATIONS}
    own = counts["recursive-matrix"]
    slowest = max(cost.duration("staicu", name) for name in FORMULATIONS)
    six = cost.operations("lopes", "newton-euler") / cost.operations("lopes", "recursive-matrix")
    return Claim(
        "conclusions 1, 2, 4",
        "The new approach is far more efficient than Newton-Euler and Lagrange.",
        "far more efficient",
        (
            at_least("Newton-Euler over recursive", counts["newton-euler"] / own, "times", 2.0, "far more"),
            at_least("Lagrange over recursive", counts["lagrange"] / own, "times", 2.0, "far more"),
            at_least("Newton-Euler over recursive on lopes", six, "times", 2.0, "far more"),
        ),
        (
            counted("recursive matrices", own, 587),
            at_least("Lagrange over recursive", counts["lagrange"] / own, "times", 1.0, "more"),
            at_most("virtual power, derived, over recursive", counts["virtual-power"] / own, "times", 1.0, "less"),
            at_most("Newton-Euler over recursive on lopes", six, "times", 1.0, "less"),
            at_most("time for a state, slowest formulation", slowest, "us", 100.0, "far below a control period"),
        ),
        "Here Newton-Euler takes over three times as many operations, because it also solves for the reactions of an "
        "overconstrained mechanism; Lagrange takes a third more. But virtual power derived from the bodies' places "
        "takes two thirds of the recursions, and on lopes, which is not overconstrained, so does Newton-Euler.",
    )


def all_reactions() -> Claim:
    """What Newton-Euler leaves open."""
    found = cases.reactions()
    numbers = 6 * sum(len(joints) for joints in found.legs.values())
    joints = [(leg, joint) for leg, joints in found.legs.items() for joint in joints.values()]
    bodies = {(leg, joint.child) for leg, joint in joints if joint.child != "platform"} | {("", "platform")}
    held = sum(6 - {"universal": 2, "spherical": 3}.get(joint.kind, 1) for _, joint in joints)
    bars = sum("hinge of bar" in joint for _, joint, _ in found.indeterminate)
    exact = "counted"
    return Claim(
        "conclusion 1",
        "Newton-Euler leads to all the forces and moments at the joints.",
        "all",
        (at_most("left open", float(len(found.indeterminate)), "1", 0.0, "all"),),
        (
            Measure("mobility by Gruebler, 10 moving bodies", 6.0 * len(bodies) - held, "1", -3.0, 0.0, exact),
            Measure("numbers of 13 joints", float(numbers), "1", 78.0, 0.0, exact),
            Measure("left open", float(len(found.indeterminate)), "1", 43.0, 0.0, exact),
            Measure("of these in the parallelogram's hinges", float(bars), "1", 24.0, 0.0, exact),
            at_most(
                "forces less virtual power", peak_ratio(found.force - cases.exact(), found.force), "1", 1e-12, ROUNDING
            ),
        ),
        "The mechanism moves with three degrees of freedom: six inner stresses are free, so that statics leaves "
        "the reactions "
        "in the table below open. The actuator forces are unique.",
    )


def tensor_of_the_links() -> Claim:
    """The point that the printed tensor J_2 of the links belongs to."""
    p = cases.parameters()
    across = float(p.J2[1, 1])
    return Claim(
        "section 4",
        "J_2 = diag(0.0006, 0.0524, 0.0524) kg m^2.",
        "no reference point",
        (),
        (
            Measure(
                "over m L^2/3, a thin bar about its end", across / (p.m2 * p.L**2 / 3), "1", 1.0, 3e-3, "three digits"
            ),
            at_least(
                "over m L^2/12, about its centre", across / (p.m2 * p.L**2 / 12), "1", 3.0, "no bar of this length"
            ),
        ),
        "It must be about the end: no straight bar of length L has four times m L^2/12 about its centre.",
    )


def tensor_of_the_platform() -> Claim:
    """The printed tensor J_3 of the platform, about the points that it may belong to."""
    readings = {
        "about C5, centre of mass at the triangle's centroid": ((-1 / 30, 0.0, 0.0), "C5", "T5"),
        "about P, the centre of mass, axes of T5": ((0.0, 0.0, 0.0), "com", "T5"),
        "about P, the centre of mass, axes of the platform": ((0.0, 0.0, 0.0), "com", "body"),
    }
    expected = (4.205, 58.66, 71.83)
    return Claim(
        "section 4",
        "J_3 = diag(0.0269, 0.0658, 0.0501) kg m^2.",
        "no reference point, no centre of mass",
        (),
        tuple(
            recorded(f"{name}: largest change", peak(cases.other_platform(*reading) - cases.exact()), "N", e)
            for (name, reading), e in zip(readings.items(), expected, strict=True)
        ),
        "Where it is about changes the forces, in two of three readings by more than all errata but one do.",
    )


def open_reactions() -> Table:
    """Joints and what of their reactions statics leaves open."""
    found = cases.reactions()
    rows = []
    for leg, joints in found.legs.items():
        for joint, reaction in joints.items():
            lost = [number for at, name, number in found.indeterminate if (at, name) == (leg, joint)]
            rows.append((leg, joint, reaction.kind, ", ".join(lost) or "none"))
    columns = [("leg", ""), ("joint", ""), ("kind", ""), ("open (base axes)", "")]
    return table("Joint reactions on (5) that inner stresses leave open", columns, rows)


STUDY = PaperStudy(
    "staicu",
    "Matrix model in inverse dynamics of a 3-DOF spatial parallel manipulator",
    "St. Staicu, Y.-W. Li, X.-J. Liu, J. Wang, L.-P. Wang",
    (
        "World frame: z up, y from A2 to B2, origin midway at the sliders' height for lambda = 0; the platform hangs "
        "below. Forces are positive up. The short bars T2, T4 are massless, half their length b = 0.03 m drops out.",
        "J_2 is about the slider's end of a link, its centre of mass at mid-link. For T3, T6, which lie along -y, the "
        "first two moments change places.",
        "J_3 is about C5 in the axes of T5, the centre of mass 0.069035 m from C5 towards P: a steel plate of the "
        "density that fits the links has these moments there.",
        f"One second of (5), {cases.SAMPLES} samples. Sizes of errata are largest force errors, each slip alone.",
    ),
    claims=(
        corrected_recursions,
        forces_of_the_figures,
        start_and_end,
        virtual_power,
        symmetry,
        dof,
        efficiency,
        all_reactions,
        tensor_of_the_links,
        tensor_of_the_platform,
    ),
    errata=ERRATA,
    tables=(open_reactions,),
    figures=FIGURES,
)
