"""Long, Khalil and Martinet: the errata, each with what it costs along the path of the simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...description import Integrals
from ..shared.arrays import cross, norm, peak, peak_ratio, times
from ..shared.contract import Erratum, Measure, at_most, recorded
from . import cases
from . import printed as eq
from .data import JOINTS

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


ALL: tuple[Callable[[], Erratum], ...] = (
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
