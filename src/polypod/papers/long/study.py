"""Long, Khalil and Martinet: does the model of a flexible platform hold, and what does its validation show?"""

from __future__ import annotations

import numpy as np

from ...tables import Table, table
from ..shared.arrays import peak, peak_ratio
from ..shared.contract import Claim, Measure, PaperStudy, at_least, at_most, recorded, stated
from . import cases, errata, figures, plate
from .hexagon import compare_table_2

ROUNDING = "double precision through 10 x 10 and 6 x 6 solves"


def closed_form() -> Claim:
    """(44)-(49) against the library."""
    states, system = cases.states(), cases.system()
    force, elastic = system.inverse(states.motion.acceleration)
    pose, twist, shape = states.motion.pose, states.motion.twist, states.shape
    inverse = cases.model().inverse_dynamics(pose, twist, states.motion.acceleration, friction=False, **shape)
    push = np.roll(force, 1, axis=1)  # forces that do not belong to the motion
    moved, bending = system.direct(push)
    direct = cases.model().direct_dynamics(pose, twist, push, friction=False, **shape)
    errors = {
        "forces, (46)": peak_ratio(force - inverse.force, force),
        # at rest they are zero: relative to what the springs alone would give
        "elastic accelerations, (44)": peak_ratio(
            elastic - inverse.elastic_acceleration, cases.modes().stiffness * states.elastic
        ),
        "rigid accelerations from forces, (46)": peak_ratio(moved - direct.acceleration, moved),
        "elastic ones, (44)": peak_ratio(bending - direct.elastic_acceleration, bending),
    }
    return Claim(
        "section 5, (44)-(49)",
        "A closed form solution relating the forces to the accelerations is given for both problems.",
        "no number",
        tuple(at_most(name, error, "1", 1e-11, ROUNDING) for name, error in errors.items()),
        (),
        "With (12), (23), (34), (36), (40) corrected the paper's equations, on Denavit-Hartenberg legs, equal the "
        "library's, which are derived from positions alone.",
    )


def acceleration_error() -> Claim:
    """The error of the accelerations, Fig. 5."""
    closed, open_loop = cases.followed(True), cases.followed(False)
    desired = cases.path(len(closed.pose))
    error = peak(closed.acceleration - desired.acceleration)
    drift = peak(open_loop.pose[:, :3, 3] - desired.pose[:, :3, 3])
    return Claim(
        "section 6.2, Fig. 5",
        "The differences between desired and calculated acceleration are almost zero, which validates the model.",
        "almost zero",
        (),
        (
            at_most("closed simulation, largest", error, "m/s^2", 1e-11, ROUNDING),
            at_most(
                "off the path, inverse model on the desired state", drift, "m", 1e-5, "integration in steps of 1 ms"
            ),
        ),
        "True, but an algebraic identity: (46) is solved for the forces and then, with the same matrices, for the "
        "acceleration, right or wrong. Without feedback of the state the robot leaves its path by the integration's "
        "error alone.",
    )


def energy() -> Claim:
    """Energy is kept without damping and actuation."""
    fall = cases.fall()
    return Claim(
        "section 4.4",
        "The principle of virtual powers gives the dynamics of the flexible body.",
        "no number",
        (at_most("drift of the total energy in 0.2 s", peak(fall.drift), "1", 1e-9, "tolerance of integration 1e-10"),),
        (
            recorded("kinetic energy at the end", float(fall.kinetic[-1]), "J", 103.1),
            recorded("elastic energy at the start", float(fall.elastic[0]), "J", 25.76),
        ),
        "A test that is no identity: let go without damping, the robot falls and vibrates, and the sum of its energies "
        "stays.",
    )


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
        (
            at_most(
                "difference from the rigid platform, stiffness times 1e6",
                values[-1].value,
                "1",
                1e-7,
                "the limit is the rigid robot",
            ),
        ),
        tuple(values),
        "Static forces approach those of the rigid platform of the same mass as one over the stiffness.",
    )


def elastic_inertia() -> Claim:
    """The elastic inertia matrix, (45)."""
    roots = np.linalg.eigvalsh(cases.system().A_ee)
    return Claim(
        "(45)",
        "A_ee is a definite positive square matrix.",
        "positive",
        (
            at_least(
                "smallest eigenvalue on the path",
                float(roots.min()),
                "1",
                1 - 1e-12,
                "positive: that of m_ee = 1 and more",
            ),
        ),
        (
            stated("smallest eigenvalue, static equilibrium", float(roots[0, 0]), "1", "1.0"),
            Measure("largest eigenvalue", float(roots[0, -1]), "1", 35.0, 0.07, plate.SHAPES),
        ),
        "The plate's part is the unit matrix and the legs' part has no negative root.",
    )


def invertible() -> Claim:
    """Whether the matrix of (46) can be inverted."""
    system = cases.system()
    conditions = [float(np.linalg.cond(matrix).max()) for matrix in (system.J_sys, system.A)]
    return Claim(
        "(46)",
        "A and J_sys are square matrices which, outside special configurations, are invertible.",
        "invertible",
        tuple(
            at_most(f"largest condition of {name} on the path", value, "1", 1e6, "invertible with ten digits to spare")
            for name, value in zip(("J_sys", "A"), conditions, strict=True)
        ),
        (
            recorded("condition of J_sys", conditions[0], "1", 32.85),
            recorded("condition of A", conditions[1], "1", 28.11),
        ),
        "Flexibility hardly changes the conditioning: J_p^-1 alone has 32 in the initial pose.",
    )


def frequencies() -> Table:
    """Table 2 beside the converged plate."""
    columns = [("mode", ""), ("Table 2", "rad/s"), ("converged", "rad/s"), ("deviation", "%")]
    rows = [(r.mode, r.table_2, r.computed, 100 * r.deviation) for r in compare_table_2(cases.modes("computed"))]
    return table("Frequencies of Table 2 beside those of the converged thin plate", columns, rows)


def two_stiffnesses() -> Table:
    """The simulation with either stiffness."""
    runs, points = [cases.run("table-2"), cases.run("computed", step=1e-3)], cases.modes().attachment_shapes
    deflections = [1e3 * cases.at_points(points, run.elastic) for run in runs]
    rows = [
        ("largest actuator force", "N", *(peak(run.force) for run in runs)),
        ("the same at rest", "N", *(peak(run.force[0]) for run in runs)),
        ("largest deflection at an attachment point", "mm", *map(peak, deflections)),
        ("the same at rest", "mm", *(peak(one[0]) for one in deflections)),
    ]
    columns = [("quantity", ""), ("unit", ""), ("stiffness of Table 2", ""), ("stiffness computed", "")]
    return table("The simulation of section 6 with either stiffness", columns, rows)


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
    claims=(
        *plate.ALL,
        closed_form,
        acceleration_error,
        energy,
        stiff_limit,
        elastic_inertia,
        invertible,
    ),
    errata=errata.ALL,
    tables=(
        frequencies,
        two_stiffnesses,
    ),
    figures=figures.ALL,
)
