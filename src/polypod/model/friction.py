"""Dry friction of a model: what it holds at rest, and how many solutions it has in motion.

A flexible platform counts as rigid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..errors import StateError
from ..formulations.at_rest import resting_friction
from ..friction import dry_joints, loaded_joints
from ..friction.solutions import FrictionSolutions, FrictionStatus
from ..friction.static_force_range import StaticForceRange, stiction_range
from ..mechanism.closing import closed
from .arguments import Argument, PoseLike, batch
from .calls import Calls, Parameters, States, function
from .diagnosis import Errors, motion_solutions
from .kernels import Functions

Found = TypeVar("Found")
_STILL = np.zeros(6)
_ITERATIONS, _SAME = 60, 1e-8


def static_force_range(
    calls: Calls, pose: PoseLike, wrench: ArrayLike | None, parameters: Parameters | None, errors: Errors | None
) -> StaticForceRange:
    """``polypod.Model.static_force_range``, by calls of a model that does not bend."""
    given = {"pose": pose, "twist": _STILL, "acceleration": _STILL, "wrench": wrench}
    return _with_whole_result(lambda policy: _static_force_range(calls, given, parameters, policy), errors)


def _static_force_range(
    calls: Calls, given: Mapping[str, Any], parameters: Parameters | None, errors: Errors | None
) -> StaticForceRange:
    force: Array = calls.call(function("inverse_dynamics", *given), tuple(given.values()), errors, parameters)
    states = _states(calls, {name: given[name] for name in ("pose", "wrench")}, parameters)
    joints = dry_joints(states.mechanism)
    keys = tuple(key for key, _ in joints)
    if not joints:
        return StaticForceRange(force.copy(), force, force.copy(), keys, np.zeros((*force.shape[:-1], 0)))
    flat = force.reshape(states.size, force.shape[-1])
    good = np.isfinite(flat).all(axis=1)
    lower, upper, limit = (
        np.full_like(flat, np.nan),
        np.full_like(flat, np.nan),
        np.full((len(flat), len(keys)), np.nan),
    )
    states.failures = []  # the forces reported designs that cannot be
    if good.any():
        poses, wrenches = (states.rows[name][good] for name in ("pose", "wrench"))
        ends, limit[good], same = _ends(states.functions.at(good), poses, wrenches, [size for _, size in joints])
        lower[good], upper[good] = flat[good] - ends[:, 0], flat[good] + ends[:, 1]
        lost = np.zeros(states.size, dtype=bool)
        lost[good] = ~same
        states.note(lost, "friction is so strong there that the joint loads at its limit do not converge")
    return states.finalise(
        "static_force_range",
        [lower, upper],
        errors,
        lambda r: StaticForceRange(r[0], force, r[1], keys, states.restore(limit)),
    )


def friction_solutions(
    calls: Calls, given: Mapping[str, Any], parameters: Parameters | None, errors: Errors | None
) -> FrictionSolutions:
    """``polypod.Model.friction_solutions``, by calls of a model that does not bend."""

    def ask(policy: Errors | None) -> FrictionSolutions:
        force: Array = calls.call(function("inverse_dynamics", *given), tuple(given.values()), policy, parameters)
        states = _states(calls, given, parameters)
        keys = loaded_joints(states.mechanism)
        code = np.full(states.size, int(FrictionStatus.UNIQUE))
        loads, bound = np.zeros((states.size, len(keys))), np.zeros(states.size)
        good = np.isfinite(force.reshape(states.size, force.shape[-1])).all(axis=1)
        code[~good], loads[~good], bound[~good] = FrictionStatus.UNKNOWN, np.nan, np.nan
        if keys and good.any():
            whole = [row[good] for row in states.rows.values()]
            code[good], loads[good], bound[good] = motion_solutions(states.functions.at(good), whole)
        return FrictionSolutions(code.reshape(states.shape), states.restore(loads), states.restore(bound))

    return _with_whole_result(ask, errors)


def _states(calls: Calls, given: Mapping[str, Any], parameters: Parameters | None) -> States:
    """A row of every argument for every state, after forces were found for them, and the functions for these."""
    arguments = [Argument(name, _STILL if value is None else value, (4, 4) if name == "pose" else (6,))
                 for name, value in given.items()]  # fmt: skip
    if parameters is not None:
        return calls.states(arguments, parameters)
    return States(calls, tuple(given), batch(arguments), None)


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
