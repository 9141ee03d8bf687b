"""Bodies followed through space by brute force: forces from positions alone, by differences in time.

Knows nothing of formulations: a body asks for Jm (Tddot - [0 g])^T, Jm = [Sigma s; s^T m] its pseudo-inertia and T its
frame in space; what that does on a virtual motion dT is the trace of the product. Frames are those of ``Model.bodies``
(which other tests compare with Pinocchio), moved by whatever carries the robot.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg import expm

import polypod as pp
from polypod.arrays import Array

STEP = 2e-3
WEIGHTS = {
    1: np.array([-1, 9, -45, 0, 45, -9, 1]) / 60,
    2: np.array([2, -27, 270, -490, 270, -27, 2]) / 180,
}
"""Central differences of sixth order: an error of about 1e-11 by the step, and by rounding (1e-16 / STEP^2)."""
TIMES = STEP * np.arange(-3, 4)


def derivative(values: Array, order: int) -> Array:
    """Of values at ``TIMES`` (first axis), in the middle."""
    return np.tensordot(WEIGHTS[order], values, axes=1) / STEP**order


def skew(w: Array) -> Array:
    """The matrix w~."""
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def moved(twist: Array, acceleration: Array, time: float) -> Array:
    """A frame that starts at the identity with a twist and acceleration of its origin, axes of the start."""
    result = np.eye(4)
    result[:3, 3] = twist[:3] * time + acceleration[:3] * time**2 / 2
    # R = exp((w t + wdot t^2/2)~): at t = 0 the second derivative is wdot~ + w~ w~
    result[:3, :3] = expm(skew(twist[3:] * time + acceleration[3:] * time**2 / 2))
    return result


def displaced(pose: Array, twist: Array, acceleration: Array) -> Array:
    """Poses (7, 4, 4) at ``TIMES`` of a platform with a twist and acceleration of its origin, base axes."""
    path = []
    for time in TIMES:
        step, here = moved(twist, acceleration, time), np.eye(4)
        here[:3, :3], here[:3, 3] = step[:3, :3] @ pose[:3, :3], pose[:3, 3] + step[:3, 3]
        path.append(here)
    return np.array(path)


def inertias(model: pp.Model) -> dict[str, Array]:
    """[Sigma s; s^T m] (4, 4) of every body, about the origin of its frame and in its axes."""
    mechanism = model.kernels.mechanism
    found: dict[str, Any] = {"platform": mechanism.numbers.platform}
    for leg in mechanism.placed:
        found |= {f"{leg.leg.name}.{body.name}": body.moments for body in leg.placement.bodies if body.has_inertia}
    symbols, values = mechanism.numbers.symbols, mechanism.numbers.values
    result = {}
    for name, inertia in found.items():
        matrix = ca.vertcat(ca.horzcat(inertia.second, inertia.first), ca.horzcat(inertia.first.T, inertia.mass))
        result[name] = np.array(ca.Function("inertia", [symbols], [ca.densify(matrix)])(values))
    return result


def rotor_inertias(model: pp.Model) -> Array:
    """Of every actuator's rotor, reflected to its coordinate."""
    mechanism = model.kernels.mechanism
    column = ca.vertcat(*[ca.SX(actuator.rotor) for _, actuator in mechanism.actuators])
    return np.array(ca.Function("rotors", [mechanism.numbers.symbols], [column])(mechanism.numbers.values)).ravel()


def state_of(model: pp.Model, seed: int) -> tuple[Array, Array, Array, Array]:
    """Poses (7, 4, 4) of a motion at ``TIMES``, and pose, twist and acceleration in the middle."""
    rng = np.random.default_rng(seed)
    home = model.robot.home.matrix
    if model.mobility.full:
        pose = home @ moved(0.03 * rng.normal(size=6), np.zeros(6), 1.0)
        twist, acceleration = 0.2 * rng.normal(size=6), rng.normal(size=6)
        return displaced(pose, twist, acceleration), pose, twist, acceleration
    count = len(model.dof)
    scale = np.where(model.mobility.turns, 1.0, model.size)
    x = model.coordinates(home) + 0.03 * scale * rng.normal(size=count)
    xdot, xddot = 0.3 * scale * rng.normal(size=count), scale * rng.normal(size=count)
    t = TIMES[:, None]
    return model.motion(x + xdot * t + xddot * t**2 / 2)[0], *model.motion(x, xdot, xddot)


def virtual_paths(model: pp.Model, pose: Array) -> list[Array]:
    """Poses (7, 4, 4) at ``TIMES`` while each of the robot's own coordinates grows at unit rate."""
    if model.mobility.full:
        return [displaced(pose, unit, np.zeros(6)) for unit in np.eye(6)]
    x = model.coordinates(pose)
    return [model.motion(x + unit * TIMES[:, None])[0] for unit in np.eye(len(x))]


def rate_matrix(model: pp.Model, pose: Array) -> Array:
    """qdot = A xdot for the coordinates of ``virtual_paths``."""
    return model.jacobian(pose) @ (np.eye(6) if model.mobility.full else model.rate_map(pose))


def needed(frames: dict[str, Array], matrices: dict[str, Array], gravity: Array) -> dict[str, Array]:
    """What every body asks for (4, 3) along frames in space (7, 4, 4): forces on its axes' ends and its origin."""
    result = {}
    for name, matrix in matrices.items():
        change = derivative(frames[name][:, :3, :], 2)
        change[:, 3] -= gravity
        result[name] = matrix @ change.T
    return result


def power(frames: dict[str, Array], need: dict[str, Array]) -> float:
    """Of what bodies ask for, on a virtual motion along frames in space (7, 4, 4)."""
    return sum(float(np.sum(derivative(frames[name], 1)[:3, :].T * forces)) for name, forces in need.items())


def total_wrench(frames: dict[str, Array], need: dict[str, Array]) -> Array:
    """Sum of what bodies ask for, moment about the origin."""
    total = np.zeros(6)
    for name, forces in need.items():
        total[:3] += forces[3]
        total[3:] += sum(np.cross(frames[name][3][:3, k], forces[k]) for k in range(4))
    return total


def platform_twist(path: Array) -> Array:
    """Twist (6) in the middle of a platform's path (7, 4, 4)."""
    rate = derivative(path, 1)
    turn = rate[:3, :3] @ path[3][:3, :3].T
    return np.r_[rate[:3, 3], turn[2, 1], turn[0, 2], turn[1, 0]]
