"""Lagrange: inertia, Coriolis and gravity matrices from the energies of the bodies, Lopes sections 3.1-3.3.

I du/dt + V u + G = J^T f + w_ext, each of I, V and G the sum of the parts ``platform``, ``actuators`` (what moves only
along an actuated coordinate), ``translating links`` (every other leg body's mass at its centre) and ``rotating links``
(its inertia about the centre), (73)-(75). u is the twist (``base``), or the rates of [p, Euler angles] (``euler``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...description import Robot
from ...errors import InputError, UnknownNameError
from ...friction.joints import Loads, actuator_friction, joint_forces
from ...kernels import Kernel
from ...mechanism import Mechanism, Motion, Simplification
from ...mechanism.inputs import Inputs
from ...symbols.expression import Expression, port
from ...symbols.linear import solve_general
from ...symbols.vectors import dot
from .coordinates import State, known_coordinates, motion_of, tip_maps
from .legs import LegEnergies, carriers
from .parts import PARTS, Matrices, platform_matrices

Array = NDArray[np.float64]


def inverse_dynamics(mechanism: Mechanism, friction: bool, loads: Loads | None = None) -> Expression:
    """Actuator forces for a motion and an external wrench: tau = J^-T (I du/dt + V u + G - w_ext), (2) and (70)-(72).

    Every leg's I, V and G act on its tip's coordinates; only their force is carried to the platform.
    """
    x = Inputs(len(mechanism.legs))
    motion = mechanism.freedoms.motion(x.pose.symbols, x.twist.symbols, x.acceleration.symbols)
    attached = mechanism.attach(motion)
    twist, change = ca.vertcat(motion.v, motion.omega), ca.vertcat(motion.a, motion.alpha)
    demand = _platform(mechanism, motion).force(twist, change) - x.wrench.symbols
    rows = []
    for leg in attached:
        energies = LegEnergies(leg.model, mechanism.gravity)
        place, rate, half = leg.series
        force = Matrices(*energies.matrices(PARTS)(place, rate)).force(rate, 2 * half)
        if friction:
            extra, moment = joint_forces(leg, motion, loads)
            force = force + leg.model.pull_back(leg.values, extra)
            demand = demand + ca.vertcat(ca.SX.zeros(3), moment)
        demand = demand + leg.wrench(force)
        rows.append(mechanism.in_freedoms(leg.wrench(energies.coordinate_slope()(place))))
    solution = solve_general(ca.horzcat(*rows), mechanism.in_freedoms(demand))
    result = solution.x + actuator_friction(mechanism, attached, motion, loads) if friction else solution.x
    return Expression(
        "inverse_dynamics",
        (x.pose, x.twist, x.acceleration, x.wrench, *(loads.ports if loads else ())),
        (port("force", result), port("quality", mechanism.quality(attached, solution.quality), ())),
    )


def matrices(mechanism: Mechanism, part: str | None = None, coordinates: str = "base") -> Expression:
    """I (m, m), V (m, m) and G (m) of one part, or of the whole robot, without friction.

    ``base``: inputs pose and twist. ``euler``: inputs x = [p, angles] in the robot's convention and xdot; the
    matrices are T^T I T (28), T^T (V T + I Tdot) and T^T G, which is (76)-(79) of I_E.
    """
    if part is not None and part not in PARTS:
        raise UnknownNameError("part", part, PARTS)
    parts = PARTS if part is None else (part,)
    state = State(mechanism, coordinates)
    motion, m = state.motion, mechanism.freedoms.count
    result = Matrices(ca.SX.zeros(6, 6), ca.SX.zeros(6, 6), ca.SX.zeros(6))
    if "platform" in parts:
        result = result + _platform(mechanism, motion)
    for leg in mechanism.attach(motion) if parts != ("platform",) else []:
        place, rate, _ = leg.series
        own = Matrices(*LegEnergies(leg.model, mechanism.gravity).matrices(parts)(place, rate))
        result = result + own.carried(*tip_maps(leg, motion.omega))
    if not mechanism.freedoms.full:
        result = result.carried(ca.SX(ca.DM(mechanism.freedoms.basis)), ca.SX.zeros(6, m))
    if state.carry is not None:
        result = result.carried(*state.carry)
    outputs = (port("inertia", result.inertia), port("coriolis", result.coriolis), port("gravity", result.gravity))
    return Expression("lagrange_matrices", state.inputs, outputs)


def energies(mechanism: Mechanism, coordinates: str = "base") -> Expression:
    """Kinetic and potential energy (k,) [J] of every body in the order of :func:`body_names`, (15) and (66)."""
    state = State(mechanism, coordinates)
    motion = state.motion
    twist = ca.vertcat(motion.v, motion.omega)
    body = mechanism.robot.platform
    centre = motion.frame.origin + motion.frame.axes @ ca.DM(body.com)
    kinetic = [0.5 * ca.dot(twist, _platform(mechanism, motion).inertia @ twist)]
    potential = [-body.mass * dot(mechanism.gravity, centre)]
    for leg in mechanism.attach(motion):
        place, rate, _ = leg.series
        k, p = LegEnergies(leg.model, mechanism.gravity).by_body()(place, rate)
        kinetic.append(k)
        potential.append(p)
    outputs = (port("kinetic", ca.vertcat(*kinetic)), port("potential", ca.vertcat(*potential)))
    return Expression("lagrange_energies", state.inputs, outputs)


def body_names(mechanism: Mechanism) -> tuple[str, ...]:
    """``platform``, then ``leg.body`` for every body and every mass that moves with a coordinate."""
    return ("platform", *(f"{leg.name}.{body}" for leg in mechanism.legs for body in carriers(leg)))


def _platform(mechanism: Mechanism, motion: Motion) -> Matrices:
    body, axes = mechanism.robot.platform, motion.frame.axes
    tensor = axes @ ca.DM(body.central_inertia) @ axes.T
    twist = ca.vertcat(motion.v, motion.omega)
    return platform_matrices(body.mass, axes @ ca.DM(body.com), tensor, mechanism.gravity, twist)


class Numbers(NamedTuple):
    """I (..., m, m), V (..., m, m) and G (..., m) of I du/dt + V u + G."""

    inertia: Array
    coriolis: Array
    gravity: Array


class BodyEnergy(NamedTuple):
    """Kinetic and potential energy (...) [J] of one body."""

    kinetic: Array
    potential: Array


class Rigid(Protocol):
    """What is needed of a :class:`polypod.Model`."""

    robot: Robot
    simplify: Simplification | None

    def rates(self, pose: Any, twist: ArrayLike) -> Array:
        """Actuated rates (..., n); an error for what is not a motion of the robot."""


class Lagrangian:
    """Matrices and energies of a model as numbers; friction has no part in them.

    With ``coordinates="base"`` a state is a pose (..., 4, 4) and a twist (..., 6), and a lower-mobility robot's
    matrices are those of its m coordinates. With ``"euler"`` it is x = [p, angles] (..., 6), the angles in the
    robot's ``euler`` convention, and xdot. Leading axes are a batch; states out of reach raise, or give NaN in a batch.

    >>> import polypod as pp
    >>> model = pp.Model("lopes")
    >>> I, V, G = Lagrangian(model).matrices(model.robot.home.matrix, [0.1, 0, 0, 0, 0, 0.2], part="actuators")
    >>> I.shape, V.shape, G.shape
    ((6, 6), (6, 6), (6,))
    """

    def __init__(self, model: Rigid, coordinates: str = "base") -> None:
        self.coordinates = known_coordinates(model.robot, coordinates)
        self._model = model
        self._mechanism = Mechanism(model.robot, model.simplify)
        self._kernels: dict[str, Kernel] = {}

    def matrices(self, place: Any, rate: ArrayLike, part: str | None = None) -> Numbers:
        """I, V and G of a part (one of ``PARTS``) or of the whole robot; V depends on the rates, I and G do not."""
        kernel = self._kernel(f"matrices {part}", lambda: matrices(self._mechanism, part, self.coordinates))
        return Numbers(*self._call(kernel, place, rate))

    def energies(self, place: Any, rate: ArrayLike) -> dict[str, BodyEnergy]:
        """Kinetic and potential energy of every body, by ``leg.body``; potentials are zero at the base's origin."""
        kernel = self._kernel("energies", lambda: energies(self._mechanism, self.coordinates))
        kinetic, potential = self._call(kernel, place, rate)
        names = body_names(self._mechanism)
        return {name: BodyEnergy(kinetic[..., k], potential[..., k]) for k, name in enumerate(names)}

    def _kernel(self, name: str, build: Callable[[], Expression]) -> Kernel:
        if name not in self._kernels:
            self._kernels[name] = Kernel(build)
        return self._kernels[name]

    def _call(self, kernel: Kernel, place: Any, rate: ArrayLike) -> list[Array]:
        """The kernel on a batch; the model's own call for rates checks the state."""
        pose, twist = (place, rate) if self.coordinates == "base" else self._euler(place, rate)
        reached = np.isfinite(self._model.rates(pose, twist)).all(axis=-1)
        rows = [pose.as_matrix() if hasattr(pose, "as_matrix") else place, rate]
        arrays = [
            np.broadcast_to(np.asarray(row, dtype=np.float64), reached.shape + port_.shape)
            for row, port_ in zip(rows, kernel.inputs, strict=True)
        ]
        flat = [np.ascontiguousarray(a).reshape(-1, *p.shape) for a, p in zip(arrays, kernel.inputs, strict=True)]
        results = []
        for result in kernel(*flat):
            result[~reached.ravel()] = np.nan
            results.append(result.reshape(reached.shape + result.shape[1:]))
        return results

    def _euler(self, place: ArrayLike, rate: ArrayLike) -> tuple[Array, Array]:
        """Pose and twist of Euler coordinates and their rates."""
        rows = []
        for name, value in (("x", place), ("xdot", rate)):
            row = np.asarray(value, dtype=np.float64)
            if row.shape[-1:] != (6,):
                raise InputError(
                    f"{name}: shape (..., 6) is needed, three of position and three angles, got {row.shape}"
                )
            rows.append(row)
        try:
            x, xdot = np.broadcast_arrays(*rows)
        except ValueError as error:
            raise InputError(f"batch axes do not fit together: x {rows[0].shape}, xdot {rows[1].shape}") from error
        kernel = self._kernel("motion", lambda: motion_of(self._mechanism))
        pose, twist = kernel(*(np.ascontiguousarray(a).reshape(-1, 6) for a in (x, xdot)))
        return pose.reshape(*x.shape[:-1], 4, 4), twist.reshape(x.shape)
