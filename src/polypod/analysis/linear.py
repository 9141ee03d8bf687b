"""Linear models about a state, exact by differentiation, and the natural frequencies they imply.

Local coordinates are xi (m) with the pose moved by S xi (position, and a turn of rotation vector S xi about base axes),
u (m) the freedoms' rates, elastic coordinates and rates. At a state x' = f(x, force, wrench): A = df/dx, B = df/dforce.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, StateError
from ..model.arguments import PoseLike, pose_matrix
from ..model.checks import check_poses
from ..simulation.chart import Layout, pose_of, turn, turn_rate
from ..simulation.dynamics import Dynamics
from ..simulation.system import System
from ..simulation.systems import system_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B f + E w, q = C x about a state; x = [xi, elastic, u, elastic rate] as deviations.

    ``a`` (k, k), ``b`` (k, n) per N, ``e`` (k, 6) per N and N m, ``c`` (n, k) [m]; ``drift`` (k,) is f at the state
    itself, zero at an equilibrium. ``names`` name the states.
    """

    a: Array
    b: Array
    e: Array
    c: Array
    drift: Array
    names: tuple[str, ...]

    def to_control(self) -> Any:
        """A ``control.StateSpace`` from actuator forces to actuated coordinates (needs python-control)."""
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


class NaturalModes(NamedTuple):
    """Frequencies (k,) [Hz], growing, and shapes (k, k): columns of [xi, elastic], each of unit generalized mass.

    ``stiffness`` and ``mass`` (k, k) are the matrices they solve: K v = (2 pi f)^2 M v. A negative eigenvalue (the pose
    is not stable) is a frequency that is not a number.
    """

    frequency: Array
    shape: Array
    stiffness: Array
    mass: Array


def linearise(
    model: Any,
    pose: PoseLike | None = None,
    twist: ArrayLike | None = None,
    force: ArrayLike | None = None,
    wrench: ArrayLike | None = None,
    elastic: ArrayLike | None = None,
    elastic_rate: ArrayLike | None = None,
    friction: bool = True,
) -> LinearModel:
    """The linear model of a robot about a state; without a force, about the forces that hold the pose at rest."""
    system = system_of(model, friction)
    at = _State(system, model, pose, twist, force, wrench, elastic, elastic_rate)
    local = _Local(system)
    loads = at.loads(local)
    values = local.values(at, loads)
    a, b, e = (_exact(local, of, loads, values) for of in (local.x, local.force, local.wrench))
    c = np.array(ca.Function("c", local.inputs, [ca.jacobian(local.q, local.x)])(*values))
    drift = np.array(ca.Function("drift", local.inputs, [local.rate])(*values)).ravel()
    bent = [f"elastic{k + 1}" for k in range(system.modes)]
    names = system.freedoms.names
    states = [f"xi {n}" for n in names] + bent + [f"u {n}" for n in names] + [f"{n} rate" for n in bent]
    return LinearModel(a, b, e, c, drift, tuple(states))


def natural_modes(
    model: Any, pose: PoseLike | None = None, stiffness: ArrayLike = 1e6, wrench: ArrayLike | None = None
) -> NaturalModes:
    """Undamped natural frequencies at rest in a pose, each actuator a spring of given stiffness [N/m].

    The springs are loaded by what holds the pose, so K = J^T k J plus the stiffness of gravity and of turned legs.
    """
    system = system_of(model, False)
    count = len(system.legs)
    springs = np.broadcast_to(np.asarray(stiffness, dtype=np.float64), (count,))
    if not (np.isfinite(springs).all() and (springs >= 0).all()):
        raise InputError(f"stiffness: numbers of at least 0 N/m are needed, got {springs.tolist()}")
    linear = linearise(model, pose, None, None, wrench, friction=False)
    half = len(linear.a) // 2
    # accelerations are M^-1 (generalized forces): B = M^-1 J^T, and J = C at the actuators
    closed = linear.a[half:, :half] - linear.b[half:] @ (springs[:, None] * linear.c[:, :half])
    mass = _mass(model, system, pose, wrench)
    matrix = -mass @ closed
    if np.abs(matrix - matrix.T).max() > 1e-6 * np.abs(matrix).max():
        raise StateError("natural_modes: the stiffness matrix is not symmetric; the pose is not an equilibrium")
    from scipy.linalg import eigh

    matrix = 0.5 * (matrix + matrix.T)
    squares, shape = eigh(matrix, mass)
    with np.errstate(invalid="ignore"):
        frequency: Array = np.sqrt(squares) / (2 * np.pi)
    return NaturalModes(frequency, shape, matrix, mass)


class _State:
    """A state in numbers, checked."""

    def __init__(self, system: System, model: Any, pose: PoseLike | None, *rest: ArrayLike | None) -> None:
        n, count = system.modes, len(system.legs)
        given = model.robot.home.matrix if pose is None else pose_matrix(pose)
        self.pose: Array = np.array(given, dtype=np.float64)
        if self.pose.shape != (4, 4):
            raise InputError(f"pose: one pose (4, 4) is needed, got shape {self.pose.shape}")
        check_poses(self.pose[None], "pose", False)
        twist, force, wrench, elastic, rate = rest
        self.twist = _vector("twist", twist, np.zeros(6))
        self.wrench = _vector("wrench", wrench, np.zeros(6))
        bent, hold = (np.zeros(n), np.zeros(count)) if force is not None and not n else system.parts.hold(self.pose)
        if force is None and self.wrench.any():
            hold = _held(model, self.pose, self.wrench)
        self.force = _vector("force", force, hold)
        self.elastic = _vector("elastic", elastic, bent)
        self.elastic_rate = _vector("elastic_rate", rate, np.zeros(n))

    def loads(self, local: _Local) -> Array:
        """Joint loads that dry friction repeats itself at."""
        loads = np.zeros(local.dynamics.loads)
        step = ca.Function("loads", local.inputs, [local.fresh])
        for _ in range(1 if local.dynamics.explicit else 200):
            new = np.array(step(*local.values(self, loads))).ravel()
            done = np.abs(new - loads).max(initial=0.0) <= 1e-13 * np.abs(new).max(initial=1e-300)
            loads = new
            if done:
                break
        return loads


class _Local:
    """A robot's rates in local coordinates about a pose, in symbols."""

    def __init__(self, system: System) -> None:
        dynamics: Dynamics = system.dynamics
        layout, basis, n = Layout(dynamics.modes), ca.DM(system.freedoms.basis), dynamics.modes
        m = basis.size2()
        self.dynamics, self.pose = dynamics, ca.SX.sym("pose", 16)
        self.x = ca.SX.sym("x", 2 * (m + n))
        self._nominal = ca.SX.sym("nominal", 2 * n + 6)
        self.force, self.wrench = ca.SX.sym("force", dynamics.actuators), ca.SX.sym("wrench", 6)
        self._loads = ca.SX.sym("loads", dynamics.loads)
        move, speed = basis @ self.x[:m], self._nominal[:6] + basis @ self.x[m + n : 2 * m + n]
        elastic = self._nominal[6 : 6 + n] + self.x[m : m + n]
        elastic_rate = self._nominal[6 + n :] + self.x[2 * m + n :]
        base, chart = layout.chart_of(self.pose[:12])
        y = ca.vertcat(chart[:3] + move[:3], 0.5 * move[3:])
        moved = ca.vertcat(ca.vec(ca.horzcat(turn(y[3:6]) @ ca.reshape(base, 3, 3).T, y[:3]).T))
        pose = pose_of(moved)
        rates = dynamics.rates(pose, speed, elastic, elastic_rate, self.force, self.wrench, self._loads)
        inverse = ca.DM(system.freedoms.inverse)
        drift = ca.vertcat(speed[:3], 2 * turn_rate(y[3:6], speed[3:]))
        self.rate = ca.vertcat(inverse @ drift, elastic_rate, inverse @ rates.acceleration, rates.elastic_acceleration)
        self.fresh = rates.loads
        self.q = dynamics.sensed(pose, speed, elastic, elastic_rate).q
        self.inputs = [self.pose, self.x, self._nominal, self.force, self.wrench, self._loads]
        self.loads = self._loads

    def values(self, at: _State, loads: Array) -> list[Array]:
        """Numbers of the inputs at a state."""
        nominal = np.concatenate([at.twist, at.elastic, at.elastic_rate])
        return [at.pose.ravel(), np.zeros(self.x.numel()), nominal, at.force, at.wrench, loads]


def _exact(local: _Local, of: ca.SX, loads: Array, values: list[Array]) -> Array:
    """d(rate)/d(of), with the joint loads L = g(x, L) of dry friction following: f_x + f_L (1 - g_L)^-1 g_x."""
    direct = ca.jacobian(local.rate, of)
    if not len(loads):
        return np.array(ca.Function("d", local.inputs, [direct])(*values))
    parts = [direct, ca.jacobian(local.rate, local.loads), ca.jacobian(local.fresh, of)]
    parts.append(ca.jacobian(local.fresh, local.loads))
    f_x, f_l, g_x, g_l = (np.array(part) for part in ca.Function("d", local.inputs, parts)(*values))
    if local.dynamics.explicit:
        # the one round that makes the loads starts from none
        start = [*values[:-1], np.zeros_like(loads)]
        return np.asarray(f_x + f_l @ np.array(ca.Function("d", local.inputs, [parts[2]])(*start)))
    return np.asarray(f_x + f_l @ np.linalg.solve(np.eye(len(g_l)) - g_l, g_x))


def _held(model: Any, pose: Array, wrench: Array) -> Array:
    still = np.zeros(6)
    if hasattr(model, "static_equilibrium"):
        return np.asarray(model.static_equilibrium(pose, wrench).force)
    return np.asarray(model.inverse_dynamics(pose, still, still, wrench, friction=False))


def _mass(model: Any, system: System, pose: PoseLike | None, wrench: ArrayLike | None) -> Array:
    if not system.modes:
        return np.asarray(model.mass_matrix(model.robot.home.matrix if pose is None else pose))
    at = _State(system, model, pose, None, None, wrench, None, None)
    return np.asarray(model.system(at.pose, at.twist, at.elastic, at.elastic_rate).mass_matrix)


def _vector(name: str, value: ArrayLike | None, default: Array) -> Array:
    array = np.array(default if value is None else value, dtype=np.float64)
    if array.shape != default.shape or not np.isfinite(array).all():
        raise InputError(f"{name}: {len(default)} finite numbers are needed, got {array.tolist()}")
    return array
