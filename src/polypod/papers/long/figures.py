"""Long, Khalil and Martinet, Figs. 3-7 again for the motion chosen here, and two more that test the model."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation  # type: ignore[import-untyped, unused-ignore]

from ...arrays import Array
from ...results.figures.style import COLOURS, INK, TIME, dress, figure, leg_line, legend
from ..shared.contract import Drawing
from ..shared.panels import all_legs
from . import cases
from .hexagon import compare_table_2

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


def frequencies() -> Figure:
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


def energy() -> Figure:
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


ALL = (
    Drawing("table-02", "Table 2: deviation of its frequencies from those of the converged plate.", frequencies),
    Drawing("fig-03", "Fig. 3: the motion asked for; the paper does not give its own.", motion),
    Drawing("fig-04", "Fig. 4: actuated prismatic joint forces, and what flexibility adds.", forces),
    Drawing("fig-05", "Fig. 5: rigid acceleration by the direct model and its error.", accelerations),
    Drawing("fig-06", "Fig. 6: deformation at the platform's origin.", origin),
    Drawing(
        "fig-07", "Fig. 7: deformation at the attachment points, with the plate's thickness as a band.", attachments
    ),
    Drawing("energy", "Truth check: energies of the robot let go, and the drift of their sum.", energy),
)
