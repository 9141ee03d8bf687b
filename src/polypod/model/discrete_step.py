"""A step of time of a robot under constant forces, with its sensitivities: what a model-predictive controller takes.

A step is that of ``simulate``, one compiled function (``polypod.formulations.discrete_step``). Legs that are closed by
iterating are closed at every stage by functions of their own: there the stages are taken here.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..formulations import discrete_step as formulas
from ..friction import has_dry_friction
from ..mechanism.verdict import with_verdict
from ..symbols.expression import Expression, Iteration
from ..symbols.integration import RK4


class DiscreteStep(NamedTuple):
    """A state after a step of time, and how it depends on the state and forces before.

    Attributes
    ----------
    pose : ndarray, shape (..., 4, 4)
        Pose of the platform after the step.
    twist : ndarray, shape (..., 6)
        Twist after the step.
    a : ndarray, shape (..., 12, 12), or None
        A of delta x_1 = A delta x_0 + B delta f, with delta x = [delta p; delta theta; delta twist]: displacement [m],
        rotation vector [rad] on the left of the pose, linear and angular velocity, all in base axes.
    b : ndarray, shape (..., 12, n), or None
        B, by the actuator forces.
    """

    pose: Array
    twist: Array
    a: Array | None = None
    b: Array | None = None


def discrete_step(
    model: Any,
    pose: Any,
    twist: ArrayLike,
    force: ArrayLike,
    dt: float,
    wrench: ArrayLike | None = None,
    substeps: int = 1,
    friction: bool = True,
    sensitivities: bool = True,
) -> DiscreteStep:
    """The state after a time ``dt`` at constant forces; ``model`` has direct dynamics and their derivatives."""
    _check(model, dt, substeps, friction)
    poses = pose.as_matrix() if hasattr(pose, "as_matrix") else np.asarray(pose, dtype=np.float64)
    given = [np.asarray(twist, dtype=np.float64), np.asarray(force, dtype=np.float64)]
    load = np.zeros(6) if wrench is None else np.asarray(wrench, dtype=np.float64)
    lead = np.broadcast_shapes(poses.shape[:-2], *(one.shape[:-1] for one in (*given, load)))
    poses = np.broadcast_to(poses, (*lead, 4, 4)).copy()
    twists, forces = (np.broadcast_to(one, (*lead, one.shape[-1])).copy() for one in given)
    load = np.broadcast_to(load, (*lead, 6))
    if not model.kernels.mechanism.implicit_legs:
        return _compiled(model, (poses, twists, forces, load), dt, substeps, friction, sensitivities)
    n = forces.shape[-1]
    total = np.broadcast_to(np.eye(12, 12 + n), (*lead, 12, 12 + n)) if sensitivities else None
    for _ in range(substeps):
        poses, twists, own = _rk4(model, poses, twists, forces, load, dt / substeps, friction, sensitivities)
        if total is not None and own is not None:
            rest = np.concatenate([np.zeros((*lead, 12, 12)), own[..., 12:]], axis=-1)
            total = own[..., :12] @ total + rest
    if total is None:
        return DiscreteStep(poses, twists)
    return DiscreteStep(poses, twists, total[..., :12], total[..., 12:])


def _compiled(
    model: Any, state: tuple[Array, ...], dt: float, substeps: int, friction: bool, sensitivities: bool
) -> DiscreteStep:
    """The step as one function of pose, twist, forces and wrench."""
    kernels, key = model.kernels, f"discrete step {friction} {sensitivities}"
    kernel = kernels.custom(key, partial(_function, kernels, friction, sensitivities))
    given = dict(zip((p.name for p in kernel.inputs), (*state, dt, float(substeps)), strict=True))
    return model._calls.of_kernel("step", kernel, given, "raise", lambda parts: DiscreteStep(*parts))


def _function(kernels: Any, friction: bool, sensitivities: bool) -> Expression | Iteration:
    mechanism = kernels.mechanism
    step = formulas.discrete_step(mechanism, friction, kernels.options.dry, sensitivities)
    return with_verdict(mechanism, step)


def casadi_step(model: Any, friction: bool) -> ca.Function:
    """One step as a function in CasADi, which derives it itself."""
    refuse_discrete_step(model, friction)
    mechanism = model.kernels.mechanism
    if mechanism.implicit_legs:
        raise InputError(
            f"casadi: legs of {model.robot.name!r} close by iteration, so its discrete step is not one graph"
        )
    step = formulas.discrete_step(mechanism, friction, model.kernels.options.dry, sensitivities=False, once=True)
    return (step.fixed(mechanism.numbers.values) if step.parameters else step).unrolled


def _check(model: Any, dt: float, substeps: int, friction: bool) -> None:
    if not np.isfinite(dt) or dt <= 0:
        raise InputError(f"dt: must be a finite time greater than 0 s, got {dt!r}")
    if substeps < 1:
        raise InputError(f"substeps: at least 1 is needed, got {substeps}")
    refuse_discrete_step(model, friction)


def refuse_discrete_step(model: Any, friction: bool) -> None:
    """Raise for robots that have no discrete step with derivatives."""
    robot = model.robot
    if robot.flexible:
        raise InputError(f"step: the platform of {robot.name!r} is flexible; {AS_RIGID}", code="flexible")
    if robot.dof or model.internal:
        raise InputError(
            f"step: {robot.name!r} has its own generalized coordinates; a step is that of a platform with six degrees "
            "of freedom; use polypod.simulate, or polypod.analysis.linearise"
        )
    if friction and has_dry_friction(model.kernels.mechanism):
        raise InputError(
            f"step: dry friction of {robot.name!r} has no derivatives where a joint sticks; use friction=False, or "
            "polypod.simulate"
        )


def _rk4(
    model: Any, pose: Array, twist: Array, force: Array, wrench: Array, dt: float, friction: bool, sensitivities: bool
) -> tuple[Array, Array, Array | None]:
    """One step of RK4 and its matrix (..., 12, 12 + n), by the variations before it and the forces."""
    lead, n = twist.shape[:-1], force.shape[-1]
    rotation, start = pose[..., :3, :3], np.concatenate([pose[..., :3, 3], np.zeros((*lead, 3)), twist], axis=-1)
    # variations of the chart [p, a, twist], and of the rotation about which it is
    first = np.zeros((12, 12 + n))
    first[:3, :3], first[6:, 6:12] = np.eye(3), np.eye(6)
    about = np.eye(12 + n)[3:6]
    rate, change = np.zeros_like(start), np.zeros((*lead, 12, 12 + n))
    total, summed = np.zeros_like(start), np.zeros((*lead, 12, 12 + n))
    for reach, weight in zip(map(float, RK4.reach), map(float, RK4.weights), strict=True):
        y = start + reach * dt * rate
        a, omega = y[..., 3:6], y[..., 9:]
        turn = _cayley(a)
        at = _pose(turn @ rotation, y[..., :3])
        rate = np.concatenate(
            [y[..., 6:9], (_rate_map(a) @ omega[..., None])[..., 0],
             model.direct_dynamics(at, y[..., 6:], force, wrench, friction, errors="raise")], axis=-1
        )  # fmt: skip
        total = total + weight * dt * rate
        if not sensitivities:
            continue
        moved = first + reach * dt * change
        known = model.derivatives(
            "direct_dynamics", at, y[..., 6:], force, wrench, wrt=("pose", "twist", "force"), friction=friction,
            errors="raise",
        )  # fmt: skip
        turned = _turning(a) @ moved[..., 3:6, :] + turn @ about
        own = 0.5 * (_skew(omega) + a[..., :, None] * omega[..., None, :] + _scaled(np.sum(a * omega, axis=-1)))
        change = np.concatenate(
            [
                moved[..., 6:9, :],
                own @ moved[..., 3:6, :] + _rate_map(a) @ moved[..., 9:, :],
                known.pose[..., :3] @ moved[..., :3, :]
                + known.pose[..., 3:] @ turned
                + known.twist @ moved[..., 6:, :],
            ],
            axis=-2,
        )
        change[..., 6:, 12:] += known.force
        summed = summed + weight * dt * change
    end = start + total
    a = end[..., 3:6]
    found = _pose(_cayley(a) @ rotation, end[..., :3])
    if not sensitivities:
        return found, end[..., 6:], None
    last = first + summed
    rows = [last[..., :3, :], _turning(a) @ last[..., 3:6, :] + _cayley(a) @ about, last[..., 6:, :]]
    return found, end[..., 6:], np.concatenate(rows, axis=-2)


def _pose(axes: Array, position: Array) -> Array:
    pose = np.zeros((*position.shape[:-1], 4, 4))
    pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = axes, position, 1.0
    return pose


def _skew(a: Array) -> Array:
    matrix = np.zeros((*a.shape, 3))
    matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0] = a[..., 0], a[..., 1], a[..., 2]
    return matrix - np.swapaxes(matrix, -1, -2)


def _scaled(factor: Array) -> Array:
    return np.asarray(factor)[..., None, None] * np.eye(3)


def _cayley(a: Array) -> Array:
    tilde = _skew(a)
    return np.eye(3) + (2 / (1 + np.sum(a * a, axis=-1)))[..., None, None] * (tilde + tilde @ tilde)


def _turning(a: Array) -> Array:
    """T with omega = T da/dt."""
    return (2 / (1 + np.sum(a * a, axis=-1)))[..., None, None] * (np.eye(3) + _skew(a))


def _rate_map(a: Array) -> Array:
    """da/dt by omega, the inverse of T."""
    return 0.5 * (np.eye(3) - _skew(a) + a[..., :, None] * a[..., None, :])
