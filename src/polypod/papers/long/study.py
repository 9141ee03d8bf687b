"""Long, Khalil and Martinet: does the model of a flexible platform hold, and what does its validation show?"""

from __future__ import annotations

import numpy as np

from ...results.tables import Table, table
from ..arrays import peak, peak_ratio
from ..contract import Claim, Measure, PaperStudy, Verdict, at_least, at_most, recorded, stated
from . import cases as cases
from . import errata as errata
from . import figures as figures
from . import plate as plate
from .hexagon import compare_table_2

STUDY = PaperStudy(
    "long",
    "Dynamic modeling of parallel robots with flexible platforms",
    "P. Long, W. Khalil, P. Martinet, Mechanism and Machine Theory (2014)",
    (
        "Base frame at b_1 with x towards b_2 and gamma_i = atan2 of b_i - b_1; initial pose level at "
        "(0.25, sqrt(3)/4, 1) m with p_3 on +x of the platform: so Table 4 closes. Gravity (0, 0, -9.81) m/s^2.",
        "Table 3: tensors about the link frames; IA is a mass of 45.89 kg on the prismatic joint.",
        "Poisson's ratio 0.3, which the paper does not give. Shapes from a converged thin plate; stiffness of Table 2 "
        "unless said otherwise, damping ratio 0.4.",
        "The paper's trajectory is not given. Here: rest 0.2 s, quintic through three poses within 0.05 m and 0.1 rad "
        "an axis of the start and back, 0.5 s each, rest 0.3 s. Elastic coordinates start at static equilibrium.",
    ),
)
ROUNDING = "double precision through 10 x 10 and 6 x 6 solves"

for claim in plate.ALL:
    STUDY.claim(claim)


@STUDY.claim
def closed_form() -> Claim:
    """(44)-(49) against the library."""
    states, system = cases.states(), cases.system()
    force, bent = system.inverse(states.motion.acceleration)
    at = states.motion.pose, states.motion.twist, states.elastic, states.rate
    inverse = cases.model().inverse_dynamics(*at, states.motion.acceleration, friction=False)
    push = np.roll(force, 1, axis=1)  # forces that do not belong to the motion
    moved, bending = system.direct(push)
    direct = cases.model().direct_dynamics(*at, push, friction=False)
    errors = {
        "forces, (46)": peak_ratio(force - inverse.force, force),
        # at rest they are zero: relative to what the springs alone would give
        "elastic accelerations, (44)": peak_ratio(
            bent - inverse.elastic_acceleration, cases.modes().stiffness * states.elastic
        ),
        "rigid accelerations from forces, (46)": peak_ratio(moved - direct.acceleration, moved),
        "elastic ones, (44)": peak_ratio(bending - direct.elastic_acceleration, bending),
    }
    return Claim(
        "section 5, (44)-(49)",
        "A closed form solution relating the forces to the accelerations is given for both problems.",
        "no number",
        tuple(at_most(name, error, "1", 1e-11, ROUNDING) for name, error in errors.items()),
        Verdict.CONFIRMED,
        "With (12), (23), (34), (36), (40) corrected the paper's equations, on Denavit-Hartenberg legs, equal the "
        "library's, which are derived from positions alone.",
    )


@STUDY.claim
def acceleration_error() -> Claim:
    """Fig. 5."""
    closed, loose = cases.followed(True), cases.followed(False)
    desired = cases.path(len(closed.pose))
    error = peak(closed.acceleration - desired.acceleration)
    astray = peak(loose.pose[:, :3, 3] - desired.pose[:, :3, 3])
    return Claim(
        "section 6.2, Fig. 5",
        "The differences between desired and calculated acceleration are almost zero, which validates the model.",
        "almost zero",
        (
            at_most("closed simulation, largest", error, "m/s^2", 1e-11, ROUNDING),
            at_most(
                "off the path, inverse model on the desired state", astray, "m", 1e-5, "integration in steps of 1 ms"
            ),
        ),
        Verdict.NOT_TESTABLE,
        "True, but an algebraic identity: (46) is solved for the forces and then, with the same matrices, for the "
        "acceleration, right or wrong. Without feedback of the state the robot leaves its path by the integration's "
        "error alone.",
    )


@STUDY.claim
def energy() -> Claim:
    """No damping, no actuation."""
    fall = cases.fall()
    return Claim(
        "section 4.4",
        "The principle of virtual powers gives the dynamics of the flexible body.",
        "no number",
        (
            at_most(
                "drift of the total energy in 0.2 s", peak(fall.drift), "1", 1e-9, "tolerance of integration 1e-10"
            ),
            recorded("kinetic energy at the end", float(fall.kinetic[-1]), "J", 103.1),
            recorded("elastic energy at the start", float(fall.elastic[0]), "J", 25.76),
        ),
        Verdict.CONFIRMED,
        "A test that is no identity: let go without damping, the robot falls and vibrates, and the sum of its energies "
        "stays.",
    )


@STUDY.claim
def stiff_limit() -> Claim:
    """Stiffness times 1e2, 1e4, 1e6."""
    rigid = cases.rigid().inverse_dynamics(cases.home(), np.zeros(6), np.zeros(6))
    values = []
    for power, known in ((2, 2e-4), (4, 2e-6), (6, 2e-8)):
        found = cases.model(times_stiffer=10.0**power).static_equilibrium(cases.home()).force
        error = peak_ratio(found - rigid, rigid)
        values.append(Measure(f"stiffness times 1e{power}", error, "1", known, 0.25, "known to one digit"))
    return Claim(
        "section 1",
        "The method extends that for rigid robots.",
        "no number",
        tuple(values),
        Verdict.CONFIRMED,
        "Static forces approach those of the rigid platform of the same mass as one over the stiffness.",
    )


@STUDY.claim
def elastic_inertia() -> Claim:
    """(45)."""
    roots = np.linalg.eigvalsh(cases.system().A_ee)
    return Claim(
        "(45)",
        "A_ee is a definite positive square matrix.",
        "positive",
        (
            stated("smallest eigenvalue, static equilibrium", float(roots[0, 0]), "1", "1.0"),
            Measure("largest eigenvalue", float(roots[0, -1]), "1", 35.0, 0.07, plate.SHAPES),
            at_least("smallest on the path", float(roots.min()), "1", 1 - 1e-12, "that of m_ee = 1"),
        ),
        Verdict.CONFIRMED,
        "The plate's part is the unit matrix and the legs' part has no negative root.",
    )


@STUDY.claim
def invertible() -> Claim:
    """(46)."""
    system = cases.system()
    return Claim(
        "(46)",
        "A and J_sys are square matrices which, outside special configurations, are invertible.",
        "invertible",
        (
            recorded("largest condition of J_sys on the path", float(np.linalg.cond(system.J_sys).max()), "1", 32.85),
            recorded("largest condition of A on the path", float(np.linalg.cond(system.A).max()), "1", 28.11),
        ),
        Verdict.CONFIRMED,
        "Flexibility hardly changes the conditioning: J_p^-1 alone has 32 in the initial pose.",
    )


for make in errata.ALL:
    STUDY.erratum(make)
for name, caption, draw in figures.ALL:
    STUDY.figure(name, caption)(draw)


@STUDY.table
def frequencies() -> Table:
    """Table 2 beside the converged plate."""
    columns = [("mode", ""), ("Table 2", "rad/s"), ("converged", "rad/s"), ("deviation", "%")]
    rows = [(r.mode, r.table_2, r.computed, 100 * r.deviation) for r in compare_table_2(cases.modes("computed"))]
    return table("Frequencies of Table 2 beside those of the converged thin plate", columns, rows)


@STUDY.table
def two_stiffnesses() -> Table:
    """The simulation with either stiffness."""
    runs, points = [cases.run("table-2"), cases.run("computed", step=1e-3)], cases.modes().attachment_shapes
    bent = [1e3 * cases.at_points(points, run.elastic) for run in runs]
    rows = [
        ("largest actuator force", "N", *(peak(run.force) for run in runs)),
        ("the same at rest", "N", *(peak(run.force[0]) for run in runs)),
        ("largest deflection at an attachment point", "mm", *map(peak, bent)),
        ("the same at rest", "mm", *(peak(one[0]) for one in bent)),
    ]
    columns = [("quantity", ""), ("unit", ""), ("stiffness of Table 2", ""), ("stiffness computed", "")]
    return table("The simulation of section 6 with either stiffness", columns, rows)
