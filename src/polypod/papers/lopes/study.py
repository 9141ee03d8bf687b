"""Lopes: a complete Lagrange model of a platform with vertical actuators, and one with the links as point masses.

A function of a claim's or an erratum's name in ``paper.yaml`` gives its numbers.
"""

from __future__ import annotations

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
from ..shared.arrays import norm, norm_ratio, peak, peak_ratio, times
from ..shared.contract import Values, read_study
from ..shared.panels import Block, all_legs, leg_panels
from . import cases
from . import printed as eq
from .cases import exact, paper, parameters
from .printed import NOTHING, Path

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
# Figs. 4 and 5 again.


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


# ----------------------------------------------------------------------------------------------------------------------
# Errata, each on the path P1 -> P2 -> P1, 1 s each way.


@cache
def _path() -> tuple[Path, Array]:
    """Coordinates and generalized force f_E on the path."""
    path = Path.of(cases.motion())
    return path, eq.matrices(parameters(), path).force(path)


def moment_in_base_axes() -> Values:
    path, f_E = _path()
    right, printed = (eq.base_moment(path.x, f_E, s) for s in (NOTHING, frozenset({"(13)"})))
    error, size = norm(printed - right), norm(right)
    return {
        "largest in a state": 100 * peak(error / size),
        "largest over the largest moment": 100 * peak_ratio(error, size),
    }


def actuator_forces() -> Values:
    path, f_E = _path()
    right, printed = (eq.actuator_forces(parameters(), path.x, f_E, s) for s in (NOTHING, frozenset({"(14)"})))
    return {"factor": peak(printed) / peak(right)}


def rows_of_leg_1() -> Values:
    q, slip, path = parameters(), frozenset({"(46),(63)"}), _path()[0]
    right, printed = (eq.inertia(q, path.x, s) for s in (NOTHING, slip))
    parts = "translating links", "rotating links"
    force = 100 * peak_ratio(eq.forces(q, cases.motion(), slip) - paper(), paper())
    return {
        **{part: 100 * norm_ratio(printed[part] - right[part], right[part]) for part in parts},
        "largest force error over the largest force": force,
    }


def entry_of_the_turn_jacobian() -> Values:
    q = parameters()
    k = eq.legs(q, _path()[0].x)
    right, printed = (eq.turn_jacobian(q, k, s) for s in (NOTHING, frozenset({"(63) entry"})))
    return {"largest change of J_D": peak(printed - right), "largest |1 - J_Ci3|": peak(1 - k.J_C[..., 2])}


def derivative_of_the_inertia() -> Values:
    q, path = parameters(), _path()[0]
    right, printed = (
        eq.actuator_forces(q, path.x, times(eq.matrices(q, path, s).coriolis, path.xdot))
        for s in (NOTHING, frozenset({"(77),(78)"}))
    )
    error = printed - right
    return {
        "root mean square": 100 * norm_ratio(error, right),
        "largest over the largest": 100 * peak_ratio(error, right),
        "largest over the largest force": 100 * peak_ratio(error, paper()),
    }


def links_that_spin() -> Values:
    across, spin = eq.link_turning(parameters(), cases.motion())
    return {
        "largest spin": peak(norm(spin)),
        "over the largest omega_L": 100 * peak_ratio(norm(spin), norm(across + spin)),
        "change of the forces without spin": peak_ratio(exact(simplify="no-spin") - exact(), exact()),
    }


def energies() -> Values:
    q, path = parameters().lumped(), _path()[0]
    parts = eq.inertia(q, path.x)
    meant = parts["translating links"] + parts["rotating links"]
    energy = 0.5 * np.einsum("ti,tij,tj->t", path.xdot, meant, path.xdot)
    direct = eq.point_mass_energy(q, cases.motion())
    return {"difference over the largest energy": peak_ratio(energy - direct, direct)}


def end_masses() -> Values:
    at, lumped = cases.motion(), parameters().lumped()
    still = Motion(at.time, at.pose, 0 * at.twist, 0 * at.acceleration)
    right, printed = eq.forces(parameters(), still), eq.forces(lumped, still)
    return {
        "m_L1 + m_L2": lumped.m_l,
        "b": lumped.b_cm,
        "largest error over the largest force": 100 * peak_ratio(printed - right, right),
    }


# ----------------------------------------------------------------------------------------------------------------------
# Claims.


def totals_of_table_1() -> Values:
    sums = np.array([np.sum(numbers, axis=0) for numbers in zip(*TABLE_1.values(), strict=True)])
    printed = np.array([[20924, 36733, 108], [1611, 3270, 60]])
    kept = np.sum([TABLE_1["platform"], TABLE_1["actuators"]])
    return {
        "rows summed, V": sums[0].sum(),
        "rows summed, I": sums[1].sum(),
        "largest difference from a printed total": peak(1.0 * (sums - printed)),
        "platform and actuators": 100 * float(kept / sums.sum()),
    }


def cost_of_the_matrices() -> Values:
    inertia, coriolis, _, both = matrix_operations()
    _, _, _, kept = matrix_operations(shared_out=True)
    return {
        "kept by (86)-(91)": 100 * kept / both,
        "I": inertia,
        "V": coriolis,
        "I and V": both,
        "I and V, work shared, over Table 1": both / 62706,
    }


def cost_of_the_forces() -> Values:
    counts = {name: cost.operations("lopes", name) for name in FORMULATIONS}
    short = Model(cases.shared_out(), specialise=True).kernel("inverse_dynamics", False, "newton-euler").operations
    return {
        "(86)-(91) over complete, Newton-Euler": short / counts["newton-euler"],
        "Newton-Euler, complete": counts["newton-euler"],
        "virtual power, complete": counts["virtual-power"],
        "Lagrange, complete": counts["lagrange"],
        "recursive matrices, complete": counts["recursive-matrix"],
    }


def gravity_is_cheap() -> Values:
    _, _, gravity, both = matrix_operations()
    return {"G alone over I and V": gravity / both}


def simplified_forces() -> Values:
    errors = {f"T = {half:g} s each way": cases.simplified_error(half) for half in cases.HALVES}
    return {
        "largest difference, four speeds": max(errors.values()),
        **errors,
        "moment of inertia of two end masses": float(parameters().lumped().I_L[1]),
        "of the link": float(parameters().I_L[1]),
    }


def point_masses() -> Values:
    worst, option = 0.0, 0.0
    for half in cases.HALVES:
        lumped, shared = paper(half, "lumped"), paper(half, "shared out")
        worst = max(worst, peak_ratio(lumped - shared, shared))
        option = max(option, peak_ratio(exact(half, "point-mass-links") - shared, shared))
    return {"(85) less (86)-(91), four speeds": worst, "library's point-mass-links less (86)-(91)": option}


def what_links_are_worth() -> Values:
    whole, still = exact(), exact(simplify="no-link-inertia")
    inertia, weight = whole - still, still - exact(simplify="massless-links")
    parts = {"links": weight + inertia, "their weight": weight, "their inertia": inertia}
    return {name: 100 * float(np.linalg.norm(part)) / float(np.linalg.norm(whole)) for name, part in parts.items()}


def corrected_equations() -> Values:
    right = paper()
    inertia = eq.matrices(parameters(), Path.of(cases.motion())).inertia
    return {
        **{f"less {name}": peak_ratio(exact(formulation=name) - right, right) for name in FORMULATIONS},
        "smallest eigenvalue of I_E on the path": float(np.linalg.eigvalsh(inertia).min()),
    }


def level_axes() -> Values:
    at = cases.motion()
    mine = eq.link_axes(eq.legs(parameters(), Path.of(at).x))
    bodies = cases.model().bodies(at.pose)
    frames = np.stack([bodies[f"{leg}.link"][:, :3, :3] for leg in cases.model().legs], axis=1)
    turned = np.stack([frames[..., 2], -frames[..., 1], frames[..., 0]], axis=-1)
    return {
        "axes less the library's, joint along z_B": peak(mine - turned),
        "smallest z_L.z_B on the path": float(mine[..., 2, 2].min()),
    }


def links_do_not_turn() -> Values:
    across, spin = eq.link_turning(parameters(), cases.motion())
    return {
        "largest spin over the largest omega_L without it": peak(norm(spin)) / peak(norm(across)),
        "largest spin": peak(norm(spin)),
        "largest omega_L without spin": peak(norm(across)),
    }


def where_the_path_goes() -> Values:
    pose = cases.motion().pose
    travel = cases.model().inverse_kinematics(pose)
    condition = np.linalg.cond(cases.model().jacobian(pose))
    return {
        "smallest l_i": float(travel.min()),
        "largest l_i": float(travel.max()),
        "smallest condition number of J": float(condition.min()),
        "largest condition number of J": float(condition.max()),
        "largest force": peak(exact()),
    }


STUDY = read_study(
    __package__,
    globals(),
    tables=(operations_by_part, cost.operations_table),
    figures={"fig-04": trajectories, "fig-05": forces},
)
