"""Dry friction of a model: what it holds at rest, and how many solutions it has in motion.

A flexible platform counts as rigid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import StateError
from ..formulations.at_rest import resting_friction
from ..friction import dry_joints, loaded_joints
from ..mechanism.closing import closed
from ..parameters.design import Design
from .arguments import Argument, Batch, PoseLike, batch
from .coupling import FrictionSolutions, FrictionStatus, motion_solutions
from .diagnosis import Errors, report
from .model_part import ModelPart, Parameters
from .row_kernels import Functions
from .stiction import StaticForceRange, stiction_range

Found = TypeVar("Found")
_STILL = np.zeros(6)
_ITERATIONS, _SAME = 60, 1e-8


class FrictionCalls(ModelPart):
    """Dry friction at rest, and the number of its solutions in motion."""

    def _states(self, arguments: list[Argument], parameters: Parameters | None) -> tuple[Batch, Functions]:
        """Rows of every state, and the functions for them."""
        if parameters is not None:
            found = self.rigid._calls.rows_of_designs(arguments, parameters)
            return found.batch, found.kernels
        rows = batch(arguments)
        full = tuple(np.broadcast_to(row, (rows.size, *row.shape[1:])) for row in rows.rows)
        return Batch(rows.shape, full), self.rigid.kernels

    def static_force_range(
        self,
        pose: PoseLike,
        wrench: ArrayLike | None = None,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> StaticForceRange:
        """Between which forces each actuator may be while dry friction holds the robot at rest: a
        ``StaticForceRange``.

        The other actuators have the forces that hold it without friction. Limits that depend on loads have the loads of
        the end itself, where friction is at its limits: each end is attained to 1e-7 of the interval.
        """
        return _with_whole_result(lambda policy: self._static_force_range(pose, wrench, parameters, policy), errors)

    def _static_force_range(
        self, pose: PoseLike, wrench: ArrayLike | None, parameters: Parameters | None, errors: Errors | None
    ) -> StaticForceRange:
        given = [Argument("pose", pose, (4, 4)), Argument("wrench", _STILL if wrench is None else wrench, (6,))]
        force = self._forces(pose, _STILL, _STILL, wrench, parameters, errors)
        rows, kernels = self._states(given, parameters)
        joints = dry_joints(kernels.mechanism)
        keys = tuple(key for key, _ in joints)
        if not joints:
            return StaticForceRange(force.copy(), force, force.copy(), keys, np.zeros((*force.shape[:-1], 0)))
        poses, wrenches = rows.rows
        flat = force.reshape(rows.size, force.shape[-1])
        good = np.isfinite(flat).all(axis=1)
        lower, upper, limit = (
            np.full_like(flat, np.nan),
            np.full_like(flat, np.nan),
            np.full((rows.size, len(keys)), np.nan),
        )
        if good.any():
            sizes = [size for _, size in joints]
            ends, limit[good], same = _ends(kernels.at(good), poses[good], wrenches[good], sizes)
            lower[good], upper[good] = flat[good] - ends[:, 0], flat[good] + ends[:, 1]
            lost = np.zeros(rows.size, dtype=bool)
            lost[good] = ~same
            if lost.any():
                lower[lost] = upper[lost] = np.nan
        found = StaticForceRange(rows.restore(lower), force, rows.restore(upper), keys, rows.restore(limit))
        if good.any() and lost.any():
            why = "friction is so strong there that the joint loads at its limit do not converge"
            report("static_force_range", lost, lambda index: [why] * len(index), found, bool(rows.shape), errors)
        return found

    def friction_solutions(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> FrictionSolutions:
        """How many solutions friction and the reactions it depends on have in a motion, with proof.

        A ``FrictionSolutions``: codes, loads of the joints with Coulomb friction, and a bound of contraction.
        """
        given = [(pose, (4, 4), "pose"), (twist, (6,), "twist"), (acceleration, (6,), "acceleration")]
        given.append((_STILL if wrench is None else wrench, (6,), "wrench"))

        def ask(policy: Errors | None) -> FrictionSolutions:
            force = self._forces(pose, twist, acceleration, wrench, parameters, policy)
            rows, kernels = self._states([Argument(name, value, shape) for value, shape, name in given], parameters)
            keys = loaded_joints(kernels.mechanism)
            code = np.full(rows.size, int(FrictionStatus.UNIQUE))
            loads, bound = np.zeros((rows.size, len(keys))), np.zeros(rows.size)
            good = np.isfinite(force.reshape(rows.size, force.shape[-1])).all(axis=1)
            code[~good], loads[~good], bound[~good] = FrictionStatus.UNKNOWN, np.nan, np.nan
            if keys and good.any():
                whole = [row[good] for row in rows.rows]
                code[good], loads[good], bound[good] = motion_solutions(kernels.at(good), whole)
            return FrictionSolutions(code.reshape(rows.shape), rows.restore(loads), rows.restore(bound))

        return _with_whole_result(ask, errors)

    def _forces(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None,
        parameters: Parameters | None,
        errors: Errors | None,
    ) -> Array:
        """Forces without friction of the model that does not bend; not a number where there is no answer."""
        if parameters is not None and self.robot.flexible:
            Design(self.robot, parameters)  # refuses numbers that the modes follow from
        given = {"friction": False, "parameters": parameters, "errors": errors}
        return np.asarray(self.rigid.inverse_dynamics(pose, twist, acceleration, wrench, **given))


def _with_whole_result(ask: Callable[[Errors | None], Found], errors: Errors | None) -> Found:
    """What ``ask`` gives; a StateError gets the whole result with NaN, not that of an inner function."""
    try:
        return ask(errors)
    except StateError as error:
        error.result = ask("nan")
        raise


def _ends(
    kernels: Functions, poses: Array, wrenches: Array, sizes: list[int]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """How far each force may go down and up (s, 2, n), limits at rest (s, j), and where loads have converged (s,)."""
    mechanism, dry = kernels.mechanism, kernels.options.dry
    loaded = loaded_joints(mechanism)
    keys = [key for key, _ in dry_joints(mechanism)]
    place = np.array([loaded.index(key) + 1 if key in loaded else 0 for key in keys])
    states, components = len(poses), sum(sizes)

    def at(friction: Array) -> tuple[Array, Array, Array]:
        """G, J and limits (s, ..., j) at friction (s, ..., r)."""
        inner = friction.shape[1:-1]
        spread = [np.broadcast_to(x.reshape(states, *(1,) * len(inner), *x.shape[1:]), (states, *inner, *x.shape[1:]))
                  for x in (poses, wrenches)]  # fmt: skip
        flat = [np.ascontiguousarray(x.reshape(-1, *x.shape[1 + len(inner) :])) for x in (*spread, friction)]
        every = kernels.at(np.repeat(np.arange(states), int(np.prod(inner, dtype=int))))
        kernel = every.custom("resting_friction", lambda: closed(mechanism, resting_friction(mechanism, dry)))
        rows, jacobian, loads, numbers, *_ = kernel(*flat)
        limits = numbers[..., 2] * (numbers[..., 1] + numbers[..., 0] * loads[:, place])
        return rows, jacobian, limits.reshape(*friction.shape[:-1], len(sizes))

    rows, jacobian, rest = at(np.zeros((states, components)))
    n = jacobian.shape[1]
    rows, jacobian = np.repeat(rows, 2, axis=0), np.repeat(jacobian, 2, axis=0)
    limits = np.broadcast_to(rest[:, None, None], (states, 2, n, len(sizes)))
    side = np.array([-1.0, 1.0])[:, None, None]
    for _ in range(_ITERATIONS):
        least, _, friction = stiction_range(jacobian, rows, sizes, limits.reshape(2 * states, n, len(sizes)))
        if not loaded:
            return least.reshape(states, 2, n), rest, np.ones(states, dtype=bool)
        fresh = at(side * friction.reshape(states, 2, n, components))[2]
        change = np.abs(fresh - limits).max(axis=(1, 2, 3))
        same = change <= _SAME * np.abs(fresh).max(axis=(1, 2, 3))
        if same.all():
            break
        limits = fresh
    return least.reshape(states, 2, n), rest, same
