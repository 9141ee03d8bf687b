"""Linear models about a state, exact by differentiation, and the natural frequencies they imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description import Robot
from ..errors import InputError, StateError
from ..model import Model
from ..model.arguments import Argument, PoseLike, batch, check_finite
from ..model.checks import exact_poses
from ..simulation.system import System
from .linear_equations import States, linearised


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B f + E w, q = C x about a state; x = [xi, elastic, u, elastic rate] as deviations.

    ``a`` (..., k, k), ``b`` (..., k, n) per N, ``e`` (..., k, 6) per N and N m, ``c`` (..., n, k) [m]; ``drift``
    (..., k) is f at the state itself, zero at an equilibrium. ``names`` name the states. Leading axes are a batch.
    """

    a: Array
    b: Array
    e: Array
    c: Array
    drift: Array
    names: tuple[str, ...]

    def to_control(self) -> Any:
        """A ``control.StateSpace`` from actuator forces to actuated coordinates (needs python-control); no batch."""
        if self.a.ndim > 2:
            raise InputError(f"to_control: one linear model is needed, got a batch of shape {self.a.shape[:-2]}")
        try:
            import control  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError as error:
            raise InputError("to_control: needs the package 'control' (pip install control)") from error
        n = len(self.c)
        return control.ss(
            self.a,
            self.b,
            self.c,
            np.zeros((n, n)),
            states=list(self.names),
            inputs=[f"force{k + 1}" for k in range(n)],
            outputs=[f"q{k + 1}" for k in range(n)],
        )


_RANK = 1e-13
"""Masses below this part of the largest are rounding."""


class NaturalModes(NamedTuple):
    """Frequencies (..., k) [Hz], growing, and shapes (..., k, k): columns of [xi, elastic], of unit generalized mass.

    ``stiffness`` and ``mass`` (..., k, k) are the matrices they solve: K v = (2 pi f)^2 M v. A negative eigenvalue (the
    pose is not stable) is a frequency that is not a number.
    """

    frequency: Array
    shape: Array
    stiffness: Array
    mass: Array


def linearise(
    model: Model,
    pose: PoseLike | None = None,
    twist: ArrayLike | None = None,
    force: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    elastic: ArrayLike | None = None,
    elastic_rate: ArrayLike | None = None,
    friction: bool = True,
) -> LinearModel:
    """The linear model of a robot about a state; without a force, about the forces that hold the pose at rest.

    Arguments may have leading axes, which are a batch. Rigid robots whose friction does not depend on reactions take
    the compiled derivatives of direct dynamics, some microseconds a state; of others, what is differentiated is kept
    with the model and interpreted, some milliseconds a state.
    """
    system = System(model, friction)
    states, shape = _states(system, pose, twist, force, wrench, elastic, elastic_rate)
    found = linearised(system, states)
    a, b, e, c, drift = (part.reshape(*shape, *part.shape[1:]) for part in found)
    elastics = [f"elastic{number + 1}" for number in range(system.modes)]
    names = system.dof.names
    labels = [f"xi {n}" for n in names] + elastics + [f"u {n}" for n in names] + [f"{n} rate" for n in elastics]
    return LinearModel(a, b, e, c, drift, tuple(labels))


def natural_modes(
    model: Model, pose: PoseLike | None = None, stiffness: ArrayLike = 1e6, wrench: ArrayLike | None = None
) -> NaturalModes:
    """Undamped natural frequencies at rest in a pose (..., 4, 4), each actuator a spring of given stiffness [N/m].

    The springs are loaded by what holds the pose, so K = J^T k J plus the stiffness of gravity and of turned legs.
    """
    system = System(model, False)
    count = len(system.actuators)
    springs = one_or_each("stiffness", stiffness, count)
    if not (np.isfinite(springs).all() and (springs >= 0).all()):
        raise InputError(f"stiffness: numbers of at least 0 N/m are needed, got {springs.tolist()}")
    states, shape = _states(system, pose, None, None, wrench, None, None)
    found = linearised(system, states)
    half = found.a.shape[-1] // 2
    # accelerations are M^-1 (generalized forces): B = M^-1 J^T, and J = C at the actuators
    closed = found.a[:, half:, :half] - found.b[:, half:] @ (springs[:, None] * found.c[..., :half])
    mass = system.mass_matrix(states.pose, states.elastic)
    modes = modes_of(-mass @ closed, mass)
    return NaturalModes(*(part.reshape(*shape, *part.shape[1:]) for part in modes))


def one_or_each(name: str, given: ArrayLike, count: int) -> Array:
    """Stiffnesses (count,) of all actuators from one for all or one for each."""
    try:
        return np.broadcast_to(np.asarray(given, dtype=np.float64), (count,))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: one stiffness or {count} are needed, got {given!r}") from error


def load_stiffness(model: Model, pose: Array, wrench: Array) -> Array:
    """Stiffness (n, m, m) of weights, a constant wrench (n, 6) and turned legs, in the robot's generalized coordinates.

    At rest in poses (n, 4, 4), the actuators' forces constant: K = -M A, A the accelerations' derivatives by
    coordinates.
    """
    system = System(model, False)
    states, _ = _states(system, pose, None, None, wrench, None, None)
    half = model.mobility.count
    derivatives = linearised(system, states).a[:, half:, :half]
    return np.asarray(-system.mass_matrix(states.pose, states.elastic) @ derivatives)


def _states(system: System, pose: PoseLike | None, *given: ArrayLike | None) -> tuple[States, tuple[int, ...]]:
    """States of a batch, and its shape; elastic coordinates and forces not given are those at rest."""
    n, count = system.modes, len(system.actuators)
    twist, force, wrench, elastic, rate = given
    if not n and (elastic is not None or rate is not None):
        raise InputError(f"elastic: the platform of {system.robot.name!r} is rigid and has no elastic coordinates")
    vectors = [("twist", twist, 6), ("force", force, count), ("wrench", wrench, 6)]
    vectors += [("elastic", elastic, n), ("elastic_rate", rate, n)] if n else []
    rows, shape = state_rows(system.robot, pose, vectors)
    rows += [] if n else [np.zeros((len(rows[0]), 0))] * 2
    return _held(system, States(*rows), force is None, elastic is None), shape


def state_rows(
    robot: Robot, pose: PoseLike | None, vectors: Sequence[tuple[str, ArrayLike | None, int]]
) -> tuple[list[Array], tuple[int, ...]]:
    """Poses (n, 4, 4), home unless given, and vectors (n, length), zero unless given, of a batch; and its shape."""
    arguments = [Argument("pose", robot.home.matrix if pose is None else pose, (4, 4))]
    for name, value, length in vectors:
        arguments.append(Argument(name, np.zeros(length) if value is None else value, (length,)))
    states = batch(arguments)
    check_finite(states, arguments)
    poses = exact_poses(states.rows[0], "pose", bool(states.shape))
    rows = zip((poses, *states.rows[1:]), arguments, strict=True)
    return [np.broadcast_to(row, (states.size, *argument.shape)) for row, argument in rows], states.shape


def _held(system: System, states: States, free_force: bool, free_shape: bool) -> States:
    """States with the forces, and the shape of a flexible platform, that hold them at rest where none were given."""
    if not free_force and (not system.modes or not free_shape):
        return states
    if system.modes:
        # a flexible platform's shape at rest is searched state by state
        held = [
            system.static_equilibrium(pose, wrench) for pose, wrench in zip(states.pose, states.wrench, strict=True)
        ]
        shape = np.array([elastic for elastic, _ in held]).reshape(states.elastic.shape)
        force = np.array([force for _, force in held]).reshape(states.force.shape)
    else:
        shape, force = states.elastic, system.static_equilibrium(states.pose, states.wrench)[1]
    return states._replace(force=force if free_force else states.force, elastic=shape if free_shape else states.elastic)


def modes_of(stiffness: Array, mass: Array) -> NaturalModes:
    """Natural modes of matrices (..., k, k); infinite frequencies of what has no mass come last."""
    transposed = np.swapaxes(stiffness, -1, -2)
    off, size = (np.abs(part).max(axis=(-2, -1)) for part in (stiffness - transposed, stiffness))
    if (off > 1e-6 * size).any():
        raise StateError("natural_modes: the stiffness matrix is not symmetric; the pose is not an equilibrium")
    symmetric = 0.5 * (stiffness + transposed)
    lead, k = symmetric.shape[:-2], symmetric.shape[-1]
    pairs = zip(symmetric.reshape(-1, k, k), mass.reshape(-1, k, k), strict=True)
    found = [_modes(a, b) for a, b in pairs]
    squares = np.array([values for values, _ in found]).reshape(*lead, k)
    with np.errstate(invalid="ignore"):
        frequency: Array = np.sqrt(squares) / (2 * np.pi)
    return NaturalModes(frequency, np.array([shape for _, shape in found]).reshape(*lead, k, k), symmetric, mass)


def _modes(stiffness: Array, mass: Array) -> tuple[Array, Array]:
    """(2 pi f)^2 (k) and shapes (k, k) of unit mass, or of unit stiffness where there is no mass."""
    from scipy.linalg import eigh

    own = np.sqrt(np.abs(np.diag(mass)))
    if own.all() and np.linalg.eigvalsh(mass / np.outer(own, own))[0] > _RANK:
        values, shapes = eigh(stiffness, mass)
        return values, shapes
    try:
        inverse, shapes = eigh(mass, stiffness)
    except np.linalg.LinAlgError as error:
        raise StateError("natural_modes: something without mass has no stiffness: the pose is not stable") from error
    heavy = inverse[::-1] > _RANK * inverse[-1]
    values = np.where(heavy, 1 / np.where(heavy, inverse[::-1], 1.0), np.inf)
    return values, shapes[:, ::-1] * np.where(heavy, np.sqrt(np.where(heavy, values, 1.0)), 1.0)
