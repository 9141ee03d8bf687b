"""Lopes: the errata, each with what it costs on the path P1 -> P2 -> P1, 1 s each way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ...arrays import Array
from ...motion import Motion
from ..shared.arrays import norm, peak, peak_ratio, times
from ..shared.contract import Erratum, Measure, at_most, recorded, stated
from . import cases
from . import printed as eq
from .data import Path


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


ALL: tuple[Callable[[], Erratum], ...] = (
    moment_in_base_axes,
    actuator_forces,
    rows_of_leg_1,
    entry_of_the_turn_jacobian,
    derivative_of_the_inertia,
    links_that_spin,
    energies,
    end_masses,
)
