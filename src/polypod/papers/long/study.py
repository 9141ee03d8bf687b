"""Long, Khalil and Martinet: does the model of a flexible platform hold, and what does its validation show?

A function of a claim's or an erratum's name in ``paper.yaml`` gives its numbers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ...description import Integrals
from ...results.figures.style import COLOURS, INK, TIME, dress, figure, leg_line, legend
from ...tables import Table, table
from ..shared.arrays import cross, norm, peak, peak_ratio, times
from ..shared.contract import Values, read_study
from ..shared.panels import all_legs
from . import cases
from . import printed as eq
from .cases import THICKNESS, at_points, compare_table_2, hexagon_points, modes, run
from .printed import JOINTS, LINKS, heavier

# ----------------------------------------------------------------------------------------------------------------------
# Claims about the plate, the tables and what the simulation shows of them.


def low_frequencies() -> Values:
    rows = compare_table_2(modes("computed"))
    found = {f"mode {r.mode}": r.computed for r in rows if r.mode in (7, 9, 10, 11, 12)}
    return found | {"largest deviation of Table 2": 100 * max(abs(r.deviation) for r in rows[:7])}


def high_frequencies() -> Values:
    pair, _, last = compare_table_2(modes("computed"))[7:]
    return {
        "deviation of Table 2, modes 14, 15": 100 * pair.deviation,
        "deviation of Table 2, mode 16": 100 * last.deviation,
        "modes 14, 15": pair.computed,
        "mode 16, one of a pair with 17": last.computed,
    }


def mass_of_the_plate() -> Values:
    return {"sum of the nodes' masses": Integrals.of(modes()).mass}


def table_4_closes() -> Values:
    hexagon, ends = hexagon_points(), eq.tips(JOINTS)
    centred = ends - ends.mean(axis=0)
    left, _, right = np.linalg.svd(hexagon.T @ centred)
    return {
        "attachment points off the best-fitting hexagon, largest": 1e3
        * float(norm(centred - hexagon @ (left @ right)).max()),
        "condition of J_p^-1 in this pose": float(np.linalg.cond(cases.rigid().jacobian(cases.home()))),
    }


def base_parameters() -> Values:
    states, right, change = cases.states(), cases.forces(), 0.0
    for number in (0, 1):
        found, _ = eq.system(modes(), states, links=heavier(number, 2.0)).inverse(states.motion.acceleration)
        change = max(change, peak_ratio(found - right, right))
    lowest = [float(np.linalg.eigvalsh(link.central())[0]) for link in LINKS[1:]]
    return {
        "change of the forces if M_1 or M_2 is doubled": change,
        "smallest eigenvalue of the mass matrix": np.linalg.eigvalsh(cases.rigid().mass_matrix(cases.home())).min(),
        "smallest central moment, link 2": lowest[0],
        "smallest central moment, link 3": lowest[1],
    }


def directions() -> Values:
    plate, elastic = modes(), run().elastic
    assert plate.origin_shape is not None
    assert plate.origin_rotation is not None
    shift, turn, ends = (
        np.abs(at_points(shapes, elastic)).reshape(-1, 3).max(axis=0)
        for shapes in (plate.origin_shape, plate.origin_rotation, plate.attachment_shapes)
    )
    return {
        "along x and y, origin and attachment points": max(*shift[:2], *ends[:2]),
        "about z, origin": turn[2],
        "origin, along z": 1e3 * shift[2],
        "origin, about x": 1e3 * turn[0],
        "origin, about y": 1e3 * turn[1],
        "attachment points, along z": 1e3 * ends[2],
    }


def small_deformations() -> Values:
    plate, elastic = modes(), run().elastic
    assert plate.attachment_rotations is not None
    sag, moving = (peak(at_points(plate.attachment_shapes, part)) for part in (elastic[:1], elastic))
    return {
        "largest slope on the path": float(norm(at_points(plate.attachment_rotations, elastic)).max()),
        "largest deflection on the path over the thickness": moving / THICKNESS,
        "largest deflection at rest, initial pose": 1e3 * sag,
        "the same over the thickness": sag / THICKNESS,
    }


def attachment_deformation() -> Values:
    at = run().motion
    reactions = cases.model().reactions(at.pose, at.twist, at.acceleration, friction=False, **run().shape)
    forces = reactions.on_platform
    return {
        "largest force of a leg on the platform": float(norm(forces).max()),
        "largest part normal to the plate": peak(np.einsum("ta,tia->ti", at.pose[:, :3, 2], forces)),
    }


def start_at_rest() -> Values:
    rest, most, zero = peak(run().force[0]), peak(run().force), peak(run(start="zero", step=1e-3).force)
    return {
        "largest force at rest, static equilibrium": rest,
        "largest force, start at zero, over that": zero / rest,
        "the same over the largest force on the path": zero / most,
    }


def damping() -> Values:
    damped, undamped = run(), run(damping_ratio=0.0)
    return {
        "largest force, undamped over damped": peak(undamped.force) / peak(damped.force),
        "largest elastic coordinate, the same": peak(undamped.elastic) / peak(damped.elastic),
    }


# ----------------------------------------------------------------------------------------------------------------------
# Claims about the model of the flexible platform and its validation.


def closed_form() -> Values:
    states, system = cases.states(), cases.system()
    at, shape, model = states.motion, states.shape, cases.model()
    force, elastic = system.inverse(at.acceleration)
    inverse = model.inverse_dynamics(at.pose, at.twist, at.acceleration, friction=False, full_output=True, **shape)
    push = np.roll(force, 1, axis=1)  # forces that do not belong to the motion
    moved, bending = system.direct(push)
    direct = model.direct_dynamics(at.pose, at.twist, push, friction=False, full_output=True, **shape)
    springs = modes().stiffness * states.elastic  # at rest elastic accelerations are zero, and springs alone are not
    return {
        "forces, (46)": peak_ratio(force - inverse.force, force),
        "elastic accelerations, (44)": peak_ratio(elastic - inverse.elastic_acceleration, springs),
        "rigid accelerations from forces, (46)": peak_ratio(moved - direct.acceleration, moved),
        "elastic ones, (44)": peak_ratio(bending - direct.elastic_acceleration, bending),
    }


def acceleration_error() -> Values:
    closed, open_loop = cases.followed(True), cases.followed(False)
    desired = cases.path(len(closed.pose))
    return {
        "closed simulation, largest": peak(closed.acceleration - desired.acceleration),
        "off the path, inverse model on the desired state": peak(open_loop.pose[:, :3, 3] - desired.pose[:, :3, 3]),
    }


def energy() -> Values:
    fall = cases.fall()
    return {
        "drift of the total energy in 0.2 s": peak(fall.drift),
        "kinetic energy at the end": float(fall.kinetic[-1]),
        "elastic energy at the start": float(fall.elastic[0]),
    }


def stiff_limit() -> Values:
    rigid = cases.rigid().inverse_dynamics(cases.home(), np.zeros(6), np.zeros(6))
    found = {p: cases.model(times_stiffer=10.0**p).static_equilibrium(cases.home()).force for p in (2, 4, 6)}
    return {f"stiffness times 1e{power}": peak_ratio(force - rigid, rigid) for power, force in found.items()}


def elastic_inertia() -> Values:
    roots = np.linalg.eigvalsh(cases.system().A_ee)
    return {
        "smallest eigenvalue on the path": float(roots.min()),
        "smallest eigenvalue, static equilibrium": float(roots[0, 0]),
        "largest eigenvalue": float(roots[0, -1]),
    }


def invertible() -> Values:
    matrices = {"J_sys": cases.system().J_sys, "A": cases.system().A}
    return {f"largest condition of {k} on the path": float(np.linalg.cond(M).max()) for k, M in matrices.items()}


# ----------------------------------------------------------------------------------------------------------------------
# Errata, along the path of the simulation.


def elastic_coordinates() -> Values:
    wrong, right = cases.forces("(12)"), cases.forces()
    share = np.linalg.norm(wrong - right, axis=1) / np.linalg.norm(right, axis=1)
    return {
        "at rest in static equilibrium": 100 * float(share[0]),
        "median of the path": 100 * float(np.median(share)),
    }


def _slip(equation: str) -> Values:
    return {"error": cases.error(equation)}


ALONE = {
    name: partial(_slip, equation)
    for name, equation in (
        ("jacobian_rate", "(36)"),
        ("deformed_tensor", "(34) I_0p"),
        ("cross_product", "(34) lambda"),
        ("elastic_accelerations", "(40)"),
    )
}
"""Errata that one equation taken at its word is."""


def order_of_indices() -> Values:
    """On a body whose shapes are not parallel."""
    plate = modes()
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
    return {
        "printed order": 100 * peak_ratio(printed - right, right),
        "corrected": peak_ratio(integrals.deformed_beta(q) - right, right),
    }


def desired_acceleration() -> Values:
    right, (wrong, _) = cases.forces(), cases.system().inverse(cases.states().motion.twist)
    return {"error": 100 * peak_ratio(wrong - right, right)}


def column_of_the_jacobian() -> Values:
    J = eq.jacobian(JOINTS)
    a, row = J[..., 2], J[..., 2, :]
    inverse = np.linalg.inv(J)[..., 2, :]
    return {"printed": float(norm(row - a).max()), "third row of the inverse": peak(inverse - a)}


def velocity_of_the_origin() -> Values:
    at, shape = run().motion, modes().origin_shape
    assert shape is not None
    axes = at.pose[:, :3, :3]
    missing = cross(at.twist[:, 3:], times(axes, at_points(shape, run().elastic)))
    return {"missing": 100 * peak_ratio(missing, times(axes, at_points(shape, run().rate)))}


def elastic_rates_in_32() -> Values:
    at = run().motion
    shape = np.swapaxes(at.pose[::8, None, :3, :3] @ modes().attachment_shapes, -1, -2)
    return {"printed": peak_ratio(cross(at.twist[::8, None, None, 3:], shape), shape)}


def coupling_of_the_plate() -> Values:
    at, full = run().motion, Integrals.of(modes()).mass_matrix(run().elastic[::8])
    rates, wanted = _length_rates(), cases.model().rates(at.pose, at.twist, **run().shape)
    return {
        "largest element of A_re": peak(full[:, :6, 6:]),
        "qdot_a by (19), error": peak_ratio(wanted - rates, rates),
    }


def _length_rates() -> Array:
    """qdot_3 (T, 6) of the run by the legs' own Jacobians (1)-(4) and (18)."""
    run, plate = cases.run(), cases.modes()
    axes, w = run.motion.pose[:, None, :3, :3], run.motion.twist[:, None, 3:]
    shape = axes @ plate.attachment_shapes
    arm = times(axes, plate.attachments) + times(shape, run.elastic[:, None])
    velocity = run.motion.twist[:, None, :3] + cross(w, arm) + times(shape, run.rate[:, None])
    J = eq.world(eq.jacobian(eq.joints(run.motion.pose[:, None, :3, 3] + arm)))
    return times(np.asarray(np.linalg.inv(J), dtype=np.float64), velocity)[..., 2]


# ----------------------------------------------------------------------------------------------------------------------
# Figs. 3-7 again for the motion chosen here, and two more that test the model.

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


# ----------------------------------------------------------------------------------------------------------------------
# Tables, and the whole.


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


STUDY = read_study(
    __package__,
    globals() | ALONE,
    tables=(frequencies, two_stiffnesses),
    figures={
        "table-02": frequencies_figure,
        "fig-03": motion,
        "fig-04": forces,
        "fig-05": accelerations,
        "fig-06": origin,
        "fig-07": attachments,
        "energy": energy_figure,
    },
)
