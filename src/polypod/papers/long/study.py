"""Long, Khalil and Martinet: does the model of a flexible platform hold, and what does its validation show?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ...description import Integrals
from ...results.figures.style import COLOURS, INK, TIME, dress, figure, leg_line, legend
from ...tables import Table, table
from ..shared.arrays import cross, norm, peak, peak_ratio, times
from ..shared.contract import Claim, Drawing, Erratum, Measure, PaperStudy, at_least, at_most, recorded, stated
from ..shared.panels import all_legs
from . import cases
from . import printed as eq
from .cases import compare_table_2, hexagon_points
from .printed import JOINTS, LINKS, heavier

# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet: claims about the plate, the tables and what the simulation shows of them.

LIMIT = "limit of thin-plate theory to two decimals; the mesh used here is up to 3e-5 above it"
SHAPES = "known from shapes of a coarser mesh with lumped masses"
FLAT = "bending only"


def low_frequencies() -> Claim:
    """Frequencies of modes 7 to 13, Table 2."""
    rows = compare_table_2(cases.modes("computed"))
    known = {7: 189.29, 9: 316.44, 10: 404.19, 11: 477.12, 12: 705.44}
    found = [r for r in rows if r.mode in known]
    values = [Measure(f"mode {r.mode}", r.computed, "rad/s", known[r.mode], 5e-5, LIMIT) for r in found]
    largest = 100 * max(abs(r.deviation) for r in rows[:7])
    return Claim(
        "Table 2, modes 7-13",
        "Natural frequencies of the hexagonal plate (MSC Nastran).",
        "188.75, 315.72, 401.02, 474.75, 709.57 rad/s",
        (at_most("largest deviation of Table 2", largest, "%", 1.0, "the same plate: within 1 %"),),
        tuple(values),
        "Within 1 % of the limit of thin-plate theory, with Poisson's ratio 0.3.",
    )


def high_frequencies() -> Claim:
    """Frequencies of modes 14 to 16, Table 2."""
    pair, _, last = compare_table_2(cases.modes("computed"))[7:]
    return Claim(
        "Table 2, modes 14-16",
        "Natural frequencies of the hexagonal plate (MSC Nastran).",
        "828.29, 828.31, 1310.58 rad/s",
        (
            at_most("deviation of Table 2, modes 14, 15", 100 * pair.deviation, "%", 1.0, "the same plate: within 1 %"),
            at_most("deviation of Table 2, mode 16", 100 * last.deviation, "%", 1.0, "the same plate: within 1 %"),
        ),
        (
            Measure("modes 14, 15", pair.computed, "rad/s", 761.35, 5e-5, LIMIT),
            Measure("mode 16, one of a pair with 17", last.computed, "rad/s", 1197.31, 5e-5, LIMIT),
            recorded("Table 2 too high, modes 14, 15", 100 * pair.deviation, "%", 8.790),
            recorded("Table 2 too high, mode 16", 100 * last.deviation, "%", 9.458),
        ),
        "No converged plate, no Poisson's ratio and no coarse mesh gives them. Ten modes also cut the pair 16, 17; "
        "nine or eleven keep the plate's symmetry.",
    )


def mass_of_the_plate() -> Claim:
    """The mass of the plate, section 6.1."""
    mass, closed = Integrals.of(cases.modes()).mass, 1.5 * np.sqrt(3) * 0.5**2 * 0.015 * 7500
    return Claim(
        "section 6.1",
        "The total mass of the platform is 73.069 kg.",
        "73.069 kg",
        (Measure("sum of the nodes' masses", mass, "kg", 73.069, 4e-5, "2 g above the printed one"),),
        (Measure("the same", mass, "kg", closed, 1e-12, "closed form of the hexagon"),),
        "The hexagon's area times thickness and density.",
    )


def table_4_closes() -> Claim:
    """Whether the legs of Table 4 close."""
    hexagon, ends = hexagon_points(), eq.tips(JOINTS)
    centred = ends - ends.mean(axis=0)
    left, _, right = np.linalg.svd(hexagon.T @ centred)
    gap = 1e3 * float(norm(centred - hexagon @ (left @ right)).max())
    condition = float(np.linalg.cond(cases.rigid().jacobian(cases.home())))
    return Claim(
        "Table 4, (1)-(4)",
        "Base points and initial joint values of the legs.",
        "three digits",
        (
            at_most(
                "attachment points off the best-fitting hexagon, largest",
                gap,
                "mm",
                1.0,
                "three digits of two angles and a length of 1 m",
            ),
        ),
        (stated("the same", gap, "mm", "0.75"), stated("condition of J_p^-1 in this pose", condition, "1", "32")),
        "With the base frame at b_1 the joint values give the hexagon of section 6.1 to the table's rounding.",
    )


def base_parameters() -> Claim:
    """The base inertial parameters of Table 3, and what those set to zero would change."""
    states, right, change = cases.states(), cases.forces(), 0.0
    for number in (0, 1):
        found, _ = eq.system(cases.modes(), states, links=heavier(number, 2.0)).inverse(states.motion.acceleration)
        change = max(change, peak_ratio(found - right, right))
    lowest = [float(np.linalg.eigvalsh(link.central())[0]) for link in LINKS[1:]]
    least = float(np.linalg.eigvalsh(cases.rigid().mass_matrix(cases.home())).min())
    return Claim(
        "Table 3",
        "Base inertial parameters of the legs; those without effect are set to zero.",
        "M_1 = 3.176 kg, M_2 = 30.176 kg",
        (
            at_least(
                "change of the forces if M_1 or M_2 is doubled", change, "1", 1e-6, "a base parameter has an effect"
            ),
            at_least("smallest eigenvalue of the mass matrix", least, "kg, kg m^2", 0.0, "a robot that can be"),
        ),
        (
            at_most("change of the forces if M_1 or M_2 is doubled", change, "1", 1e-12, "rounding"),
            recorded("smallest central moment, link 2", lowest[0], "kg m^2", -1.693),
            recorded("smallest central moment, link 3", lowest[1], "kg m^2", -0.6219),
        ),
        "Not a minimal set: M_1 and M_2 have no effect, their frames do not move. Grouped, the tensors belong to no "
        "real body; the legs' inertia matrices are positive definite all the same.",
    )


def directions() -> Claim:
    """Directions in which the platform deforms most, Figs. 6, 7."""
    plate, run = cases.modes(), cases.run()
    assert plate.origin_shape is not None
    assert plate.origin_rotation is not None
    shift, turn = (_peaks(cases.at_points(s, run.elastic)) for s in (plate.origin_shape, plate.origin_rotation))
    ends = _peaks(cases.at_points(plate.attachment_shapes, run.elastic))
    sideways = float(max(*shift[:2], *ends[:2]))
    return Claim(
        "section 6.2, Figs. 6, 7",
        "The deformation is greatest in the z direction, the angular deformation around the x and y axes.",
        "z; x, y",
        (
            at_most("along x and y, origin and attachment points", sideways, "m", 0.0, FLAT),
            at_most("about z, origin", float(turn[2]), "rad", 0.0, FLAT),
        ),
        (
            recorded("origin, along z", 1e3 * float(shift[2]), "mm", 0.4633),
            recorded("origin, about x", 1e3 * float(turn[0]), "mrad", 0.03949),
            recorded("origin, about y", 1e3 * float(turn[1]), "mrad", 0.1159),
            recorded("attachment points, along z", 1e3 * float(ends[2]), "mm", 28.89),
        ),
        "But it says nothing about the model: any set of bending modes has no other components.",
    )


def _peaks(values: Array) -> Array:
    """Largest size of each component."""
    found: Array = np.abs(values).reshape(-1, 3).max(axis=0)
    return found


def small_deformations() -> Claim:
    """The hypothesis of section 4.1."""
    plate, run = cases.modes(), cases.run()
    assert plate.attachment_rotations is not None
    sag = peak(cases.at_points(plate.attachment_shapes, run.elastic[:1]))
    moving = peak(cases.at_points(plate.attachment_shapes, run.elastic))
    slope = float(norm(cases.at_points(plate.attachment_rotations, run.elastic)).max())
    return Claim(
        "section 4.1",
        "The manipulator undergoes small deformations that can be described using modal shape functions.",
        "small",
        (
            at_most("largest slope on the path", slope, "rad", 0.1, "shapes linear in q_e"),
            at_most(
                "largest deflection on the path over the thickness",
                moving / cases.THICKNESS,
                "1",
                0.5,
                "linear plate theory",
            ),
        ),
        (
            Measure("largest deflection at rest, initial pose", 1e3 * sag, "mm", 12.6, 0.04, SHAPES),
            Measure("the same over the thickness", sag / cases.THICKNESS, "1", 0.84, 0.04, SHAPES),
            recorded("largest on the path over the thickness", moving / cases.THICKNESS, "1", 1.926),
            recorded("largest slope on the path", slope, "rad", 0.09742),
        ),
        "Derivatives are small, so that shapes linear in q_e will do. Deflections are not small beside the "
        "thickness, where "
        "linear plate theory asks for a fraction of it.",
    )


def attachment_deformation() -> Claim:
    """Deformation at the attachment points, Fig. 7."""
    run = cases.run()
    motion = run.motion.pose, run.motion.twist, run.motion.acceleration
    forces = cases.model().reactions(*motion, friction=False, **run.shape).on_platform
    normal = peak(np.einsum("ta,tia->ti", run.motion.pose[:, :3, 2], forces))
    return Claim(
        "section 6.2, Fig. 7",
        "The deformation at the attachment points ensures that the constraints there are satisfied.",
        "no number",
        (),
        (
            recorded("largest force of a leg on the platform", float(norm(forces).max()), "N", 3682.0),
            recorded("largest part normal to the plate", normal, "N", 3489.0),
        ),
        "With free modes the legs' lengths follow the deformed plate: no constraint forces a shape upon it. The "
        "deformation is what these forces make of it.",
    )


def start_at_rest() -> Claim:
    """Where the elastic coordinates start."""
    run, zero = cases.run(), cases.run(start="zero", step=1e-3)
    return Claim(
        "section 6.2, Figs. 3, 4",
        "The system rests at the beginning of the trajectory.",
        "no initial elastic coordinates",
        (),
        (
            recorded("largest force at rest, static equilibrium", peak(run.force[0]), "N", 1919.0),
            stated("largest force, start at zero, over that", peak(zero.force) / peak(run.force[0]), "times", "5"),
            recorded("the same over the largest force on the path", peak(zero.force) / peak(run.force), "times", 2.430),
        ),
        "The paper does not say where q_e starts. Zero is no rest: the plate drops into its shape with the forces.",
    )


def damping() -> Claim:
    """What the damping ratio of 0.4 changes in forces and deformation."""
    run, undamped = cases.run(), cases.run(damping_ratio=0.0)
    return Claim(
        "Table 2",
        "The damping ratio of all modes is 0.4.",
        "0.4",
        (),
        (
            recorded("largest force, undamped over damped", peak(undamped.force) / peak(run.force), "times", 1.490),
            recorded(
                "largest elastic coordinate, the same", peak(undamped.elastic) / peak(run.elastic), "times", 1.135
            ),
        ),
        "Far above a bare metal plate's. The elastic motion along the path is stable without any.",
    )


CLAIMS_OF_THE_PLATE: tuple[Callable[[], Claim], ...] = (
    low_frequencies,
    high_frequencies,
    mass_of_the_plate,
    table_4_closes,
    base_parameters,
    directions,
    small_deformations,
    attachment_deformation,
    start_at_rest,
    damping,
)


# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet, Figs. 3-7 again for the motion chosen here, and two more that test the model.

AXES = ("x", "y", "z")


def _stack(time: Array, panels: tuple[tuple[Array, str, str], ...], title: str) -> Figure:
    """One panel below the other with curves for x, y and z."""
    drawn = figure(7.2, 0.9 + 1.9 * len(panels))
    drawn.suptitle(title, fontsize=10, x=0.01, ha="left", color=INK)
    grid: Any = drawn.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (values, ylabel, heading) in zip(grid, panels, strict=True):
        # the largest curve first: smaller ones would be hidden below it
        order = np.argsort(-np.abs(values).max(axis=0))
        for k, name in enumerate(AXES):
            axes.plot(time, values[:, k], label=name, zorder=2.0 + 0.1 * list(order).index(k), **leg_line(k))
        dress(axes, "", ylabel, heading)
    grid[-1].set_xlabel(TIME, fontsize=9)
    drawn.align_ylabels()
    legend(drawn, grid[0])
    return drawn


def motion() -> Figure:
    """The desired motion of the platform frame, Fig. 3."""
    at = cases.run().motion
    turn = Rotation.from_matrix(at.pose[:, :3, :3]).as_rotvec()
    panels = (
        (
            1e3 * (at.pose[:, :3, 3] - cases.home()[:3, 3]),
            "position [mm]",
            "(a) origin of the platform frame, from its start",
        ),
        (turn, "turn [rad]", "(b) rotation vector"),
        (at.twist[:, :3], "velocity [m/s]", "(c) linear velocity"),
        (at.twist[:, 3:], "velocity [rad/s]", "(d) angular velocity"),
    )
    return _stack(at.time, panels, "The motion asked for in Fig. 3: rest, quintic through three poses, rest")


def forces() -> Figure:
    """Actuator forces, and what flexibility adds to them."""
    run = cases.run()
    rigid = cases.rigid().inverse_dynamics(run.motion.pose, run.motion.twist, run.motion.acceleration)
    blocks = (
        (run.force, "force [N]", "(a) inverse model, flexible platform"),
        (run.force - rigid, "force [N]", "(b) less those of the rigid platform of the same mass"),
    )
    return all_legs(run.time, blocks, "Actuated prismatic joint forces, stiffness of Table 2")


def accelerations() -> Figure:
    """Acceleration by the direct model, and its difference to the desired one."""
    run, found = cases.run(), cases.followed(True)
    desired = cases.path(len(found.pose)).acceleration
    time = np.linspace(0.0, run.time[-1], len(desired))
    error = found.acceleration - desired
    panels = (
        (found.acceleration[:, :3], "acceleration [m/s$^2$]", "(a) linear acceleration by the direct model"),
        (found.acceleration[:, 3:], "acceleration [rad/s$^2$]", "(b) angular acceleration"),
        (1e15 * error[:, :3], "error [10$^{-15}$ m/s$^2$]", "(c) computed less desired, linear"),
        (1e15 * error[:, 3:], "error [10$^{-15}$ rad/s$^2$]", "(d) computed less desired, angular"),
    )
    return _stack(time, panels, "Rigid acceleration in the closed simulation of Fig. 3 (an identity but for rounding)")


def origin() -> Figure:
    """Deformation at the platform's origin."""
    run, plate = cases.run(), cases.modes()
    assert plate.origin_shape is not None
    assert plate.origin_rotation is not None
    panels = (
        (1e3 * cases.at_points(plate.origin_shape, run.elastic), "deformation [mm]", "(a) linear, $\\Phi_d(p)\\,q_e$"),
        (
            1e3 * cases.at_points(plate.origin_rotation, run.elastic),
            "deformation [mrad]",
            "(b) angular, $\\Phi_r(p)\\,q_e$",
        ),
    )
    return _stack(run.time, panels, "Deformation at the platform's origin, platform axes")


def attachments() -> Figure:
    """Linear deformation at the six attachment points."""
    run, plate = cases.run(), cases.modes()
    found = 1e3 * cases.at_points(plate.attachment_shapes, run.elastic)
    drawn = figure(8.4, 4.6)
    drawn.suptitle(
        "Linear deformation at the attachment points, platform axes (a thin plate bends along z only)",
        fontsize=10, x=0.01, ha="left", color=INK,
    )  # fmt: skip
    grid: Any = drawn.subplots(2, 3, sharex=True, sharey=True)
    for k, axes in enumerate(grid.ravel()):
        axes.axhspan(
            -1e3 * cases.THICKNESS, 1e3 * cases.THICKNESS, color="#F0F0F0", zorder=0, label="± the plate's thickness"
        )
        for j, name in enumerate(AXES):
            axes.plot(run.time, found[:, k, j], label=name, **leg_line(j))
        dress(axes, TIME if k > 2 else "", "deformation [mm]" if k % 3 == 0 else "", f"p$_{k + 1}$")
    legend(drawn, grid[0, 0])
    return drawn


def frequencies_figure() -> Figure:
    """Table 2 against the converged plate."""
    rows = compare_table_2(cases.modes("computed"))
    drawn = figure(7.2, 3.0)
    axes = drawn.subplots()
    modes = [row.mode for row in rows]
    axes.bar(modes, [100 * row.deviation for row in rows], color=COLOURS[0], width=0.6)
    axes.axhline(0.0, color=INK, linewidth=0.6)
    axes.set_xticks(modes)
    dress(
        axes,
        "mode [number in Table 2]",
        "Table 2 / converged - 1 [%]",
        "Frequencies of Table 2 against the converged thin plate",
    )
    axes.grid(False, axis="x")
    return drawn


def energy_figure() -> Figure:
    """Energies of the falling robot and the drift of their sum."""
    fall = cases.fall()
    drawn = figure(7.2, 4.6)
    drawn.suptitle("The robot let go at static equilibrium, no damping", fontsize=10, x=0.01, ha="left", color=INK)
    above, below = drawn.subplots(2, 1, sharex=True)
    parts = {"kinetic": fall.kinetic, "gravity's": fall.potential, "elastic": fall.elastic}
    for k, (name, values) in enumerate(parts.items()):
        above.plot(fall.time, values - values[0], label=name, **leg_line(k))
    below.plot(fall.time, 1e12 * fall.drift, color=COLOURS[3], linewidth=1.4, marker=".", markersize=3)
    dress(above, "", "change [J]", "(a) energies, change from the start")
    dress(below, TIME, "drift [10$^{-12}$]", "(b) change of their sum over the largest kinetic energy")
    drawn.align_ylabels()
    legend(drawn, above)
    return drawn


FIGURES = (
    Drawing("table-02", "Table 2: deviation of its frequencies from those of the converged plate.", frequencies_figure),
    Drawing("fig-03", "Fig. 3: the motion asked for; the paper does not give its own.", motion),
    Drawing("fig-04", "Fig. 4: actuated prismatic joint forces, and what flexibility adds.", forces),
    Drawing("fig-05", "Fig. 5: rigid acceleration by the direct model and its error.", accelerations),
    Drawing("fig-06", "Fig. 6: deformation at the platform's origin.", origin),
    Drawing(
        "fig-07", "Fig. 7: deformation at the attachment points, with the plate's thickness as a band.", attachments
    ),
    Drawing("energy", "Truth check: energies of the robot let go, and the drift of their sum.", energy_figure),
)


# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet: the errata, each with what it costs along the path of the simulation.

PATH = "largest force error on the path over the largest force"


def elastic_coordinates() -> Erratum:
    """What is wrong in (12)."""
    wrong, right = cases.forces("(12)"), cases.forces()
    share = np.linalg.norm(wrong - right, axis=1) / np.linalg.norm(right, axis=1)
    return Erratum(
        "(12)",
        "r_i = r_i(0) + sum Phi_dk(i) qdot_ek",
        "r_i = r_i(0) + sum Phi_dk(i) q_ek",
        "A displacement; (13) is its derivative and has the rate.",
        "|force error|/|force| if the attachment points are placed by the rates; known as 92 % on a path not at hand, "
        "without bound on this one, where J_sys so read changes the sign of its determinant",
        (
            recorded("at rest in static equilibrium", 100 * float(share[0]), "%", 37.20),
            recorded("median of the path", 100 * float(np.median(share)), "%", 78.70),
        ),
    )


def jacobian_rate() -> Erratum:
    """What is wrong in (36) and c_xi."""
    return Erratum(
        "(36), c_xi",
        "vdot_i - J_i qdot_i; c_xi = J_i^-T c_i - A_xi J_i qdot_i",
        "vdot_i - Jdot_i qdot_i; c_xi = J_i^-T c_i - A_xi Jdot_i qdot_i",
        "(6) put into (10). J_i qdot_i is the velocity v_i and cannot be taken from an acceleration.",
        PATH,
        (recorded("error", cases.error("(36)"), "%", 10.03),),
    )


def deformed_tensor() -> Erratum:
    """What is wrong in (34), I_0p."""
    return Erratum(
        "(34) I_0p",
        "the total rigid inertia matrix of the platform",
        "I_0p(q_e), the tensor of the deformed platform, quadratic in q_e",
        "Kinetic energy of nodes at r + sum Phi_k q_k, as MS_r and MS_re beside it have them.",
        PATH,
        (recorded("error", cases.error("(34) I_0p"), "%", 0.02761),),
    )


def cross_product() -> Erratum:
    """What is wrong in (34), lambda and MS_re."""
    return Erratum(
        "(34) lambda_ik, MS_re",
        "lambda_ik = integral of Phi_dk Phi_di dm; MS_re = (beta_1 + sum .. + .. + beta_N + sum ..)",
        "lambda_ik = integral of Phi_dk x Phi_di dm; MS_re = (beta_1 + sum .., .., beta_N + sum ..), N columns",
        "MS_re qdot_e is the angular momentum of bending about the origin, the integral of r x Phi qdot_e dm.",
        PATH + ", with the product component by component",
        (recorded("error", cases.error("(34) lambda"), "%", 2.382),),
    )


def order_of_indices() -> Erratum:
    """What is wrong in (34), lambda_ki: on a body whose shapes are not parallel."""
    plate = cases.modes()
    shapes = np.zeros((len(plate.nodes), 3, 2))
    shapes[:, 2, 0] = shapes[:, 0, 1] = plate.shapes[:, 2, 0]
    still = np.zeros((6, 3, 2))
    body = replace(
        plate, shapes=shapes, stiffness=np.ones(2), damping_ratio=None, free=False, attachment_shapes=still,
        attachment_rotations=still, origin_shape=None, origin_rotation=None,
    )  # fmt: skip
    q = np.array([0.03, 0.02])
    rho = body.nodes + body.shapes @ q
    right = np.einsum("n,nak->ak", body.masses, np.cross(rho[:, :, None], body.shapes, axis=1))
    integrals = Integrals.of(body)
    printed = integrals.beta + np.einsum("kia,k->ai", integrals.lam, q)
    return Erratum(
        "(34) MS_re",
        "column i of MS_re: beta_i + sum_k lambda_ki q_ek",
        "beta_i + sum_k lambda_ik q_ek with lambda_ik = integral of Phi_dk x Phi_di dm",
        "Column i is the integral of (r + sum_k Phi_k q_k) x Phi_i, and lambda_ki = -lambda_ik.",
        "error of MS_re on a body that moves as mode 7 along z and, second shape, along x (the plate's own is zero)",
        (
            Measure("printed order", 100 * peak_ratio(printed - right, right), "%", 200.0, 1e-9, "a change of sign"),
            at_most("corrected", peak_ratio(integrals.deformed_beta(q) - right, right), "1", 1e-12, "sum over nodes"),
        ),
    )


def elastic_accelerations() -> Erratum:
    """What is wrong in (23), (40)."""
    return Erratum(
        "(23), (40)",
        "A_xi W_ei^T qdot_e",
        "A_xi W_ei^T qddot_e",
        "Derivative of (18); (38) and (41) have qddot_e.",
        PATH,
        (recorded("error", cases.error("(40)"), "%", 27.19),),
    )


def desired_acceleration() -> Erratum:
    """What is wrong in (38), (41), (43), section 5.1."""
    right, states = cases.forces(), cases.states()
    wrong, _ = cases.system().inverse(states.motion.twist)
    return Erratum(
        "section 5.1; (38), (41), (43)",
        "input V_p, the desired velocity; V_p with two dots",
        "input Vdot_p, the desired acceleration; one dot",
        "(46) takes Vdot_p; V_p is a velocity already.",
        PATH + " if the inverse model is given the velocity",
        (recorded("error", 100 * peak_ratio(wrong - right, right), "%", 194.6),),
    )


def column_of_the_jacobian() -> Erratum:
    """What is wrong below (4)."""
    J = eq.jacobian(JOINTS)
    a, row = J[..., 2], J[..., 2, :]
    inverse = np.linalg.inv(J)[..., 2, :]
    return Erratum(
        "below (4)",
        "the third row of the Jacobian matrix is a_3i^T",
        "the third column of J_i is a_3i, and so is the third row of its inverse (4)",
        "(3): v = .. + a_3 qdot_3. a_3 is perpendicular to the other columns, so it is a row of the inverse too.",
        "|third row of (3) - a_3| at the joint values of Table 4, largest of the legs",
        (
            recorded("printed", float(norm(row - a).max()), "1", 1.020),
            at_most("third row of the inverse", peak(inverse - a), "1", 1e-14, "rounding"),
        ),
    )


def velocity_of_the_origin() -> Erratum:
    """What is wrong in (14)."""
    run, plate = cases.run(), cases.modes()
    assert plate.origin_shape is not None
    axes = run.motion.pose[:, :3, :3]
    missing = cross(run.motion.twist[:, 3:], times(axes, cases.at_points(plate.origin_shape, run.elastic)))
    flow = times(axes, cases.at_points(plate.origin_shape, run.rate))
    return Erratum(
        "(14)",
        "V_t = V_p + (Phi_d(p), Phi_r(p)) qdot_e",
        "v_t = v_p + omega_p x Phi_d(p) q_e + Phi_d(p) qdot_e",
        "The body's point at the origin is displaced by Phi_d(p) q_e and turns with the frame, as (18) has it.",
        "what is missing over what is there, both at their largest on the path",
        (recorded("missing", 100 * peak_ratio(missing, flow), "%", 9.42),),
    )


def elastic_rates_in_32() -> Erratum:
    """What is wrong in (32), (33)."""
    run, plate = cases.run(), cases.modes()
    axes = run.motion.pose[::8, None, :3, :3]
    shape = np.swapaxes(axes @ plate.attachment_shapes, -1, -2)
    by_coordinate = cross(run.motion.twist[::8, None, None, 3:], shape)
    return Erratum(
        "(32), (33)",
        "W_ei = (dv_i/dq_e)^T, J_ei^-T = (dqdot_3i/dq_e)^T",
        "W_ei = (dv_i/dqdot_e)^T = Phi_d(i)^T, J_ei^-T = (dqdot_3i/dqdot_e)^T",
        "(18) holds Phi_d(i) qdot_e. By q_e it would be omega_p x Phi_d(i), which vanishes at rest.",
        "largest omega_p x Phi_d(i) over the largest Phi_d(i) on the path",
        (recorded("printed", peak_ratio(by_coordinate, shape), "rad/s", 0.5212),),
    )


def coupling_of_the_plate() -> Erratum:
    """What is wrong in (43), (19), (6)."""
    run, plate = cases.run(), cases.modes()
    full = Integrals.of(plate).mass_matrix(run.elastic[::8])
    coupled = peak(full[:, :6, 6:])
    rates = _length_rates()
    wanted = cases.model().rates(run.motion.pose, run.motion.twist, **run.shape)
    return Erratum(
        "(43); (19), (6)",
        "A_r, A_re below the diagonal; qdot_i on the left of (19); two dots on v_i in (6)",
        "A_rr, A_re^T; qdot_a; vdot_i",
        "(35) and (20) have them right; A_re is 6 x N and does not fit below the diagonal.",
        "A_re along the path (free modes that bend in one direction only: it is zero, and the slip does not show); "
        "(19) read so against the legs' own inverse Jacobians (4)",
        (
            at_most("largest element of A_re", coupled, "kg, kg m", 1e-11, "rounding of sums over the nodes"),
            at_most("qdot_a by (19), error", peak_ratio(wanted - rates, rates), "1", 1e-12, "rounding"),
        ),
    )


def _length_rates() -> Array:
    """qdot_3 (T, 6) of the run by the legs' own Jacobians (1)-(4) and (18)."""
    run, plate = cases.run(), cases.modes()
    axes, w = run.motion.pose[:, None, :3, :3], run.motion.twist[:, None, 3:]
    shape = axes @ plate.attachment_shapes
    arm = times(axes, plate.attachments) + times(shape, run.elastic[:, None])
    velocity = run.motion.twist[:, None, :3] + cross(w, arm) + times(shape, run.rate[:, None])
    J = eq.world(eq.jacobian(eq.joints(run.motion.pose[:, None, :3, 3] + arm)))
    return times(np.asarray(np.linalg.inv(J), dtype=np.float64), velocity)[..., 2]


ERRATA: tuple[Callable[[], Erratum], ...] = (
    elastic_coordinates,
    jacobian_rate,
    deformed_tensor,
    cross_product,
    order_of_indices,
    elastic_accelerations,
    desired_acceleration,
    elastic_rates_in_32,
    velocity_of_the_origin,
    column_of_the_jacobian,
    coupling_of_the_plate,
)


# ----------------------------------------------------------------------------------------------------------------------
# Long, Khalil and Martinet: does the model of a flexible platform hold, and what does its validation show?

ROUNDING = "double precision through 10 x 10 and 6 x 6 solves"


def closed_form() -> Claim:
    """(44)-(49) against the library."""
    states, system = cases.states(), cases.system()
    force, elastic = system.inverse(states.motion.acceleration)
    pose, twist, shape = states.motion.pose, states.motion.twist, states.shape
    inverse = cases.model().inverse_dynamics(
        pose, twist, states.motion.acceleration, friction=False, full_output=True, **shape
    )
    push = np.roll(force, 1, axis=1)  # forces that do not belong to the motion
    moved, bending = system.direct(push)
    direct = cases.model().direct_dynamics(pose, twist, push, friction=False, full_output=True, **shape)
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
            Measure("largest eigenvalue", float(roots[0, -1]), "1", 35.0, 0.07, SHAPES),
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
        *CLAIMS_OF_THE_PLATE,
        closed_form,
        acceleration_error,
        energy,
        stiff_limit,
        elastic_inertia,
        invertible,
    ),
    errata=ERRATA,
    tables=(
        frequencies,
        two_stiffnesses,
    ),
    figures=FIGURES,
)
