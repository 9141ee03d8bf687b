"""Inverse dynamics of all stages as one compiled function.

Going up, the motion of every base follows from the stages below; going down, the wrench on a base is the external
wrench on the platform below. In one graph the forces of a stage and its wrench on its base share what they have in
common, and what the stages below do not ask for is not computed: a rail asks for one component of a force.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..arrays import Array
from ..kernels import Expression, Kernel, Port
from ..model import Model
from ..platforms.motion import frame_of
from ..symbols.expression import port
from ..symbols.vectors import cross


class _Base(NamedTuple):
    """Motion of a base in space: its rotation against the lowest, and in its own axes the rest."""

    rotation: ca.SX
    velocity: ca.SX
    omega: ca.SX
    acceleration: ca.SX
    alpha: ca.SX


def compiled_inverse_dynamics(models: Sequence[Model], mounts: Array, friction: bool, moving: bool) -> Kernel | None:
    """Forces of every stage and a ``verdict`` (0: to rely on); None where a stage is found by iterating.

    Inputs are pose, twist and acceleration of every stage, the wrench on the highest platform, and with ``moving``
    twist and acceleration of the lowest base.
    """
    expression = _expression(models, mounts, friction, moving)
    return None if expression is None else Kernel(lambda: expression)


def _expression(models: Sequence[Model], mounts: Array, friction: bool, moving: bool) -> Expression | None:
    names = ("pose", "twist", "acceleration")
    given = [
        {name: Port(f"{name}_{k}", ca.SX.sym(f"{name}_{k}", size), shape)
         for name, size, shape in zip(names, (16, 6, 6), ((4, 4), (6,), (6,)), strict=True)}
        for k in range(len(models))
    ]  # fmt: skip
    wrench = Port("wrench", ca.SX.sym("wrench", 6), (6,))
    lowest = [Port(name, ca.SX.sym(name, 6), (6,)) for name in ("base_twist", "base_acceleration")] if moving else []
    gravity = ca.DM(np.asarray(models[0].robot.gravity, dtype=float))
    twist, change = (p.symbols for p in lowest) if moving else (ca.SX(6, 1), ca.SX(6, 1))
    base = _Base(ca.SX.eye(3), twist[:3], twist[3:], change[:3], change[3:])
    inputs, bases = [], []
    for k, (model, ports) in enumerate(zip(models, given, strict=True)):
        bases.append(base)
        inputs.append(_sparse(model, {name: p.symbols for name, p in ports.items()}))
        if k + 1 < len(models):
            base = _above(base, inputs[-1], mounts[k + 1])
    load, wrong = wrench.symbols, ca.SX(0)
    forces: list[Port] = []
    for k in range(len(models) - 1, -1, -1):
        model, here = models[k], bases[k]
        own = ca.DM(np.asarray(model.robot.gravity, dtype=float))
        linear = here.acceleration - here.rotation.T @ gravity + own
        arguments = {**inputs[k], "wrench": load, "base_twist": ca.vertcat(here.velocity, here.omega),
                     "base_acceleration": ca.vertcat(linear, here.alpha)}  # fmt: skip
        found = _called(model, "inverse_dynamics", friction, arguments, moving or k > 0)
        raw = {name: p.symbols for name, p in given[k].items()}
        # most of a wrench from above does no work on a stage of few degrees of freedom: it is judged by the forces
        raw |= {"wrench": ca.SX.zeros(6)} if k + 1 < len(models) else {}
        judged = _called(model, "inverse_dynamics", friction, {**arguments, **raw}, moving or k > 0)
        if found is None or judged is None:
            return None
        forces.insert(0, port(f"force_{k}", found["force"]))
        finite = ca.fabs(ca.sum1(found["force"])) <= float(np.finfo(np.float64).max)
        wrong = wrong + judged["verdict"] + ca.logic_not(finite)
        if k:
            down = _called(model, "base_wrench", friction, arguments, True)
            if down is None:
                return None
            load = _on_platform(down["base"], inputs[k - 1], mounts[k])
    motions = [p for stage in given for p in stage.values()]
    return Expression("stages", (*motions, wrench, *lowest), (*forces, port("verdict", wrong, ())))


def _called(
    model: Model, name: str, friction: bool, arguments: dict[str, ca.SX], moving: bool
) -> dict[str, ca.SX] | None:
    """Outputs of a function of a model by name at expressions of its inputs; None if it iterates."""
    kernels = model.kernels
    expression = kernels.expression(kernels.mechanism, name, friction, verdict=True, moving_base=moving)
    if not isinstance(expression, Expression):
        return None
    function = expression.fixed(kernels.mechanism.numbers.values).function
    shares = {"weights": ca.SX.ones(len(model.actuators)), "preload": ca.SX.zeros(len(model.actuators))}
    known = shares | arguments
    values = function.call([ca.densify(known[p.name]) for p in expression.inputs])
    return {p.name: value for p, value in zip(expression.outputs, values, strict=True)}


def _sparse(model: Model, given: dict[str, ca.SX]) -> dict[str, ca.SX]:
    """Inputs with zeros and constants where a platform that moves along and about fixed axes has them.

    Whether what is given has them too is judged beside.
    """
    dof = model.mobility
    if dof.full or model.kernels.mechanism.platform.is_constrained:
        return given
    free = np.abs(dof.basis).max(axis=1) > 0
    found = {name: ca.vertcat(*[given[name][k] if free[k] else ca.SX(0) for k in range(6)])
             for name in ("twist", "acceleration")}  # fmt: skip
    home, pose = model.robot.home.matrix, given["pose"]
    moved = [free[k] or (k < 3 and bool(free[3:].any())) for k in range(3)]
    entries = []
    for row in range(4):
        for column in range(4):
            turns = column < 3 and row < 3 and bool(free[3:].any())
            shifts = column == 3 and row < 3 and moved[row]
            entries.append(pose[4 * row + column] if turns or shifts else ca.SX(float(home[row, column])))
    return {**found, "pose": ca.vertcat(*entries)}


def _above(base: _Base, given: dict[str, ca.SX], mount: Array) -> _Base:
    """Motion of the base on a platform that moves on a base."""
    frame, t, a = frame_of(given["pose"]), given["twist"], given["acceleration"]
    omega = base.omega + t[3:]
    alpha = base.alpha + a[3:] + cross(base.omega, t[3:])
    arm = frame.axes @ ca.DM(mount[:3, 3])
    velocity = base.velocity + cross(base.omega, frame.origin) + t[:3] + cross(omega, arm)
    drawn = cross(base.alpha, frame.origin) + cross(base.omega, cross(base.omega, frame.origin))
    point = base.acceleration + drawn + 2 * cross(base.omega, t[:3]) + a[:3]
    point = point + cross(alpha, arm) + cross(omega, cross(omega, arm))
    axes = frame.axes @ ca.DM(mount[:3, :3])
    return _Base(base.rotation @ axes, *(axes.T @ v for v in (velocity, omega, point, alpha)))


def _on_platform(wrench: ca.SX, below: dict[str, ca.SX], mount: Array) -> ca.SX:
    """What a stage puts on its base, as the external wrench on the platform below, at its origin."""
    frame = frame_of(below["pose"])
    axes, arm = frame.axes @ ca.DM(mount[:3, :3]), frame.axes @ ca.DM(mount[:3, 3])
    force = axes @ wrench[:3]
    return ca.vertcat(force, axes @ wrench[3:] + cross(arm, force))
