"""Commanded accelerations from errors of pose and twist: one compiled kernel for all robots."""

from __future__ import annotations

from functools import cache

import casadi as ca

from ..kernels import Expression, Kernel, Port, port
from ..platforms.motion import frame_of
from ..symbols.vectors import axial


@cache
def feedback_kernel() -> Kernel:
    """The compiled :func:`feedback`."""
    return Kernel(feedback)


def feedback() -> Expression:
    """a = a_d + K_d (u_d - u) + K_p e with e = [p_d - p; phi], exp(phi~) = R_d R^T, base axes (6)."""
    pose, desired = ca.SX.sym("pose", 16), ca.SX.sym("desired_pose", 16)
    twist, desired_twist, desired_acceleration, kp, kd = (
        ca.SX.sym(name, 6) for name in ("twist", "desired_twist", "desired_acceleration", "kp", "kd")
    )
    error = pose_error(desired, pose)
    command = desired_acceleration + kd * (desired_twist - twist) + kp * error
    inputs = (
        Port("pose", pose, (4, 4)),
        Port("twist", twist, (6,)),
        Port("desired_pose", desired, (4, 4)),
        Port("desired_twist", desired_twist, (6,)),
        Port("desired_acceleration", desired_acceleration, (6,)),
        Port("kp", kp, (6,)),
        Port("kd", kd, (6,)),
    )
    return Expression("feedback", inputs, (port("acceleration", command), port("error", error)))


def pose_error(desired: ca.SX, pose: ca.SX) -> ca.SX:
    """[p_d - p; phi] of row-major poses (16), phi the rotation vector of R_d R^T."""
    difference = frame_of(desired).axes @ frame_of(pose).axes.T
    twice_sine = axial(difference)
    sine, cosine = 0.5 * ca.norm_2(twice_sine), 0.5 * (ca.trace(difference) - 1)
    # angle over sine; the tiny bound only keeps 0/0 away, where the vector it multiplies is zero
    stretch = ca.atan2(sine, cosine) / ca.fmax(sine, 1e-150)
    position = ca.vertcat(*[desired[k] - pose[k] for k in (3, 7, 11)])
    return ca.vertcat(position, 0.5 * stretch * twice_sine)
