"""Lopes: a complete Lagrange model of a platform with vertical actuators, and one with the links as point masses."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import casadi as ca
import numpy as np
from matplotlib.figure import Figure

from ...arrays import Array
from ...description import Robot
from ...errors import InputError, UnknownNameError
from ...files import load
from ...formulations import FORMULATIONS
from ...formulations.lagrange import PARTS, LegEnergies, Matrices, euler_axes, platform_part
from ...kernels import Expression
from ...mechanism import LegAtState, Mechanism
from ...model import Model
from ...motion import Motion
from ...platforms.contract import tip_map
from ...platforms.motion import pose_of
from ...symbols.expression import Port, port
from ...symbols.vectors import Frame, skew
from ...tables import Table, table
from ..shared import operations as cost
from ..shared.arrays import norm, peak, peak_ratio, times
from ..shared.contract import Claim, Drawing, Erratum, Measure, PaperStudy, at_least, at_most, counted, recorded, stated
from ..shared.panels import Block, all_legs, leg_panels
from . import cases
from . import printed as eq
from .printed import Path

# ----------------------------------------------------------------------------------------------------------------------
# Lopes, Table 1: operations for I and V, beside the library's matrices in the same coordinates.

TABLE_1 = {
    "platform": ((310, 590, 0), (36, 90, 0)),
    "actuators": ((3028, 4403, 30), (297, 384, 12)),
    "translating links": ((4506, 9474, 36), (378, 1038, 30)),
    "rotating links": ((13080, 22266, 42), (900, 1758, 18)),
}
"""Additions, multiplications and divisions for V and for I, by part."""


@cache
def matrix_operations(part: str | None = None, shared_out: bool = False) -> tuple[int, int, int, int]:
    """Lopes' robot: operations for I, for V, for G, and for I and V together, in Euler coordinates.

    ``shared_out`` takes its simplified form (86)-(91).
    """
    robot = cases.shared_out() if shared_out else load("lopes")
    whole = matrices(Mechanism(robot, specialise=True), part, "euler")
    inertia, coriolis, gravity = whole.outputs
    chosen = ((inertia,), (coriolis,), (gravity,), (inertia, coriolis))
    first, second, third, both = (Expression(whole.name, whole.inputs, outputs).graph.count for outputs in chosen)
    return first, second, third, both


def operations_by_part() -> Table:
    """Lopes' Table 1 beside the library's matrices in the same coordinates."""
    printed = {part: [sum(numbers) for numbers in both] for part, both in TABLE_1.items()}
    printed["all"] = [sum(numbers) for numbers in zip(*printed.values(), strict=True)]
    rows = []
    for part in (*PARTS, "all"):
        inertia, coriolis, _, _ = matrix_operations(None if part == "all" else part)
        rows.append((part, *printed[part], coriolis, inertia))
    columns = [("part", ""), ("V, Table 1", ""), ("I, Table 1", ""), ("V, library", ""), ("I, library", "")]
    return table("Operations for V and I in Euler coordinates, a part alone; all together share work", columns, rows)


# ----------------------------------------------------------------------------------------------------------------------
# I, V and G of a robot and of its parts, in twists or in the paper's coordinates [p, Euler angles].

COORDINATES = ("base", "euler")


def known_coordinates(robot: Robot, coordinates: str) -> str:
    """The name, if the robot has such coordinates."""
    if coordinates not in COORDINATES:
        raise UnknownNameError("coordinates", coordinates, COORDINATES)
    if coordinates == "euler" and robot.dof:
        names = ", ".join(coordinate.name for coordinate in robot.dof)
        raise InputError(f"coordinates: {robot.name!r} moves in {names} only; 'base' has the matrices of these")
    return coordinates


class State:
    """Inputs, the platform's state they mean, and for Euler angles T with twist = T xdot and its rate, (29)."""

    def __init__(self, mechanism: Mechanism, coordinates: str) -> None:
        still, x = ca.SX.zeros(6), mechanism.inputs()
        self.carry: tuple[ca.SX, ca.SX] | None = None
        if known_coordinates(mechanism.robot, coordinates) == "base":
            self.inputs: tuple[Port, ...] = (x.pose, x.twist)
            self.platform = mechanism.platform.at(x, x.twist.symbols, still)
            return
        place, rate = ca.SX.sym("x", 6), ca.SX.sym("xdot", 6)
        self.inputs = (Port("x", place, (6,)), Port("xdot", rate, (6,)))
        axes, turning = euler_axes(mechanism.robot.euler, place[3:])
        carry = ca.diagcat(ca.SX.eye(3), turning)
        self.carry = carry, ca.jtimes(carry, place[3:], rate[3:])
        x.pose = port("pose", pose_of(Frame(place[:3], axes)), (4, 4))
        self.platform = mechanism.platform.at(x, carry @ rate, still)


def matrices(mechanism: Mechanism, part: str | None = None, coordinates: str = "base") -> Expression:
    """I (m, m), V (m, m) and G (m) of one part, or of the whole robot, without friction.

    ``base``: inputs pose and twist. ``euler``: inputs x = [p, angles] in the robot's convention and xdot; the
    matrices are T^T I T (28), T^T (V T + I Tdot) and T^T G, which is (76)-(79) of I_E.
    """
    if part is not None and part not in PARTS:
        raise UnknownNameError("part", part, PARTS)
    parts = PARTS if part is None else (part,)
    state = State(mechanism, coordinates)
    platform, motion = state.platform, state.platform.motion
    result = Matrices(ca.SX.zeros(6, 6), ca.SX.zeros(6, 6), ca.SX.zeros(6))
    if "platform" in parts:
        result = result + platform_part(mechanism, motion)
    for leg in mechanism.attach(platform) if parts != ("platform",) else []:
        energies = LegEnergies(leg, mechanism.gravity)
        own = Matrices(*energies.matrices(parts)(*energies.series[:2]))
        result = result + own.transformed(*_tip_maps(leg, motion.omega))
    if not mechanism.platform.full:
        basis = platform.reduced(ca.SX.eye(6)).T
        result = result.transformed(basis, ca.SX.zeros(*basis.shape))
    if state.carry is not None:
        result = result.transformed(*state.carry)
    outputs = (port("inertia", result.inertia), port("coriolis", result.coriolis), port("gravity", result.gravity))
    return Expression("lagrange_matrices", state.inputs, outputs, mechanism.port)


def _tip_maps(leg: LegAtState, omega: ca.SX) -> tuple[ca.SX, ca.SX]:
    """C with tdot = C u for the twist u, and its time derivative: C = [1, -r~], Cdot = [0, -(omega x r)~]."""
    moving = [leg.arm, *([leg.axes[:, k] for k in range(3)] if leg.model.uses_axes else [])]
    rates = [ca.horzcat(ca.SX.zeros(3, 3), -skew(skew(omega) @ r)) for r in moving]
    return tip_map(leg.tip)[: 3 * len(moving), :], ca.vertcat(*rates)


# ----------------------------------------------------------------------------------------------------------------------
# Lopes, Figs. 4 and 5 again.


def trajectories() -> Figure:
    """Lengths of the actuators along the path, Fig. 4."""
    _, pose, _, _ = at = cases.motion()
    blocks = ((cases.model().inverse_kinematics(pose), "length $l_i$ [m]", ""),)
    return all_legs(at.time, blocks, "Actuators' trajectories, P1 to P2 and back, 1 s each way", "actuator")


def forces() -> Figure:
    """Complete and simplified model, and their difference."""
    complete, simplified = cases.exact(), cases.exact(simplify="point-mass-links")
    blocks = (
        Block({"complete": complete, "simplified": simplified}, "force [N]"),
        Block({"simplified less complete": simplified - complete}, "difference [N]", "simplified less complete"),
    )
    title = "Actuators' forces, P1 to P2 and back, 1 s each way"
    return leg_panels(cases.motion().time, blocks, title, "actuator")


FIGURES = (
    Drawing("fig-04", "Fig. 4: trajectories of the actuators.", trajectories),
    Drawing("fig-05", "Fig. 5: forces of the actuators, complete and simplified model, and the difference.", forces),
)


# ----------------------------------------------------------------------------------------------------------------------
# Lopes: the errata, each with what it costs on the path P1 -> P2 -> P1, 1 s each way.


@cache
def _path() -> tuple[Path, Array]:
    """Coordinates and generalized force f_E on the path."""
    path = Path.of(cases.motion())
    return path, eq.matrices(cases.parameters(), path).force(path)


def moment_in_base_axes() -> Erratum:
    """What is wrong in (13)."""
    path, f_E = _path()
    right, printed = (eq.base_moment(path.x, f_E, s) for s in (eq.NOTHING, frozenset({"(13)"})))
    error, size = norm(printed - right), norm(right)
    return Erratum(
        "(13)",
        "M_B = J_A^T M_E",
        "M_B = J_A^-T M_E",
        "M_B.omega = M_E.d(angles)/dt for every motion, and omega = J_A d(angles)/dt by (8).",
        "error of the moment on the path",
        (
            recorded("largest in a state", 100 * peak(error / size), "%", 25.94),
            recorded("largest over the largest moment", 100 * peak_ratio(error, size), "%", 19.13),
        ),
    )


def actuator_forces() -> Erratum:
    """What is wrong in (14)."""
    path, f_E = _path()
    q = cases.parameters()
    right, printed = (eq.actuator_forces(q, path.x, f_E, s) for s in (eq.NOTHING, frozenset({"(14)"})))
    return Erratum(
        "(14)",
        "tau = J_E^T f",
        "tau = J_E^-T f",
        "(2) is f = J^T tau.",
        "largest printed force over the largest right one",
        (stated("factor", peak(printed) / peak(right), "times", "5"),),
    )


def rows_of_leg_1() -> Erratum:
    """What is wrong in (46), (63)."""
    q, slip = cases.parameters(), frozenset({"(46),(63)"})
    path, _ = _path()
    right, printed = (eq.inertia(q, path.x, s) for s in (eq.NOTHING, slip))
    off = {
        part: 100 * float(np.linalg.norm(printed[part] - right[part]) / np.linalg.norm(right[part]))
        for part in ("translating links", "rotating links")
    }
    force = 100 * peak_ratio(eq.forces(q, cases.motion(), slip) - _forces(), _forces())
    return Erratum(
        "(46),(63)",
        "J_C11, J_C12, .. J_C16 for every link; six rows of three",
        "J_Ci1, J_Ci2, .. J_Ci6 of its own leg; one matrix of three rows and six columns",
        "(44), (58) have the rate ldot_i of leg i, which is row i of J_C, (34).",
        "error of the links' inertia matrices (root mean square) and of the forces on the path",
        (
            recorded("translating links", off["translating links"], "%", 77.20),
            recorded("rotating links", off["rotating links"], "%", 46.22),
            recorded("largest force error over the largest force", force, "%", 28.39),
        ),
    )


def entry_of_the_turn_jacobian() -> Erratum:
    """What is wrong in (63), second row, third column."""
    q = cases.parameters()
    path, _ = _path()
    k = eq.legs(q, path.x)
    right, printed = (eq.turn_jacobian(q, k, s) for s in (eq.NOTHING, frozenset({"(63) entry"})))
    return Erratum(
        "(63) row 2, column 3",
        "-a_iz (1 - J_C13)",
        "-a_ix (1 - J_C13)",
        "a x (v - ldot z) has -a_x (v_z - ldot) in its second row.",
        "none: J_Ci3 = 1, since the actuators are vertical",
        (
            at_most("largest change of J_D", peak(printed - right), "1/m", 1e-15, "1 - J_Ci3 is zero to rounding"),
            at_most("largest |1 - J_Ci3|", peak(1 - k.J_C[..., 2]), "1", 1e-15, "rounding"),
        ),
    )


def derivative_of_the_inertia() -> Erratum:
    """What is wrong in (77), (78)."""
    q = cases.parameters()
    path, _ = _path()
    tau = {}
    for name in ("", "(77),(78)"):
        matrices = eq.matrices(q, path, frozenset({name}))
        tau[name] = eq.actuator_forces(q, path.x, times(matrices.coriolis, path.xdot))
    right, error = tau[""], tau["(77),(78)"] - tau[""]
    return Erratum(
        "(77),(78)",
        "dI/d(xdot)",
        "dI/dx",
        "Lagrange's equation has d(xdot^T I xdot/2)/dx; I does not depend on xdot, so that U as printed is zero.",
        "error of the Coriolis and centripetal part of the forces on the path",
        (
            recorded("root mean square", 100 * float(np.linalg.norm(error) / np.linalg.norm(right)), "%", 92.77),
            recorded("largest over the largest", 100 * peak_ratio(error, right), "%", 88.23),
            recorded("largest over the largest force", 100 * peak_ratio(error, _forces()), "%", 2.458),
        ),
    )


def links_that_spin() -> Erratum:
    """What is wrong in (58)-(60)."""
    across, spin = eq.link_turning(cases.parameters(), cases.motion())
    change = peak_ratio(cases.exact(simplify="no-spin") - cases.exact(), cases.exact())
    return Erratum(
        "(58)-(60)",
        "a link cannot rotate about its own axis",
        "spin n (n_z/(1 - n_z^2)) z.(n x ndot)",
        "The joint's axes are z and y_L, (55): omega = omega_z z + omega_y y_L, so that omega.n = omega_z n_z.",
        "spin of the links on the path; no force depends on it, since I_Lxx = 0",
        (
            stated("largest spin", peak(norm(spin)), "rad/s", "0.52"),
            recorded("over the largest omega_L", 100 * peak_ratio(norm(spin), norm(across + spin)), "%", 79.90),
            at_most("change of the forces without spin", change, "1", 1e-12, "rounding"),
        ),
    )


def energies() -> Erratum:
    """What is wrong in (65), (81), (84)."""
    q, at = cases.parameters().lumped(), cases.motion()
    path, _ = _path()
    parts = eq.inertia(q, path.x)
    meant = parts["translating links"] + parts["rotating links"]
    energy = 0.5 * np.einsum("ti,tij,tj->t", path.xdot, meant, path.xdot)
    direct = eq.point_mass_energy(q, at)
    return Erratum(
        "(65),(81),(84)",
        "I_L(rot)|B(eq) in (65); pdot.pdot and xdot T^T.. in (81), (84)",
        "I_L(rot)|E(eq); pdot^T pdot and xdot^T T^T..",
        "(65) is what the text calls the matrix in Euler angles; an energy is a number.",
        "notation only: (81) and (84) so read are the energy of two point masses",
        (at_most("difference over the largest energy", peak_ratio(energy - direct, direct), "1", 1e-13, "rounding"),),
    )


def end_masses() -> Erratum:
    """What is wrong in Table 2."""
    q = cases.parameters()
    lumped, still = q.lumped(), _at_rest()
    right, printed = eq.forces(q, still), eq.forces(lumped, still)
    exact = "as printed"
    return Erratum(
        "Table 2",
        "m_L1 + m_L2 = 0.194 + 0.194, b = 0.9185 by (85)",
        "m_L = 0.389, b_cm = 0.918",
        "m_L = m_L1 + m_L2 and the same centre of mass, by section 3.4; the end masses are rounded.",
        "static forces on the path",
        (
            Measure("m_L1 + m_L2", lumped.m_l, "kg", 0.388, 1e-12, exact),
            Measure("b", lumped.b_cm, "m", 0.9185, 1e-12, exact),
            stated("largest error over the largest force", 100 * peak_ratio(printed - right, right), "%", "0.14"),
        ),
    )


def _forces() -> Array:
    return cases.paper()


def _at_rest() -> Motion:
    """The poses of the path without motion."""
    at = cases.motion()
    return Motion(at.time, at.pose, 0 * at.twist, 0 * at.acceleration)


ERRATA: tuple[Callable[[], Erratum], ...] = (
    moment_in_base_axes,
    actuator_forces,
    rows_of_leg_1,
    entry_of_the_turn_jacobian,
    derivative_of_the_inertia,
    links_that_spin,
    energies,
    end_masses,
)


# ----------------------------------------------------------------------------------------------------------------------
# Lopes: a complete Lagrange model of a platform with vertical actuators, and one with the links as point masses.


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
    errata=ERRATA,
    tables=(
        operations_by_part,
        cost.operations_table,
    ),
    figures=FIGURES,
)
