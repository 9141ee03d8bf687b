"""Linear models about a state, exact by differentiation, and the natural frequencies they imply.

Local coordinates are xi (m) with the pose moved by S xi (position, and a turn of rotation vector S xi about base axes),
u (m) the freedoms' rates, elastic coordinates and rates. At a state x' = f(x, force, wrench): A = df/dx, B = df/dforce.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..control.checked import why_no_answer
from ..errors import InputError, StateError
from ..legs.contract import SMALLEST_MARGIN
from ..model import Model
from ..model.arguments import Argument, PoseLike, batch, first_not_finite
from ..model.checks import exact_poses
from ..platforms import Freedoms
from ..simulation.chart import pose_of, turn_rate
from ..simulation.dynamics import Dynamics
from ..simulation.system import System
from ..symbols.fixed_point import MAX_ROUNDS, REPEATED
from ..symbols.vectors import cayley

Array = NDArray[np.float64]
_NONE = np.zeros(0)


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

    Arguments may have leading axes, which are a batch. What is differentiated is kept with the model: the first call
    takes about a second, another state some milliseconds.
    """
    system = System(model, friction)
    states, shape = _states(system, pose, twist, force, wrench, elastic, elastic_rate)
    equations = system.compiled.derived(_Equations)
    found = [_linearised(system, equations, state) for state in states]
    count = len(system.actuators)
    k = 2 * (system.freedoms.count + system.modes)
    sizes = ((k, k), (k, count), (k, 6), (count, k), (k,))
    a, b, e, c, drift = (np.array([row[i] for row in found]).reshape(*shape, *size) for i, size in enumerate(sizes))
    elastics = [f"elastic{number + 1}" for number in range(system.modes)]
    names = system.freedoms.names
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
    springs = np.broadcast_to(np.asarray(stiffness, dtype=np.float64), (count,))
    if not (np.isfinite(springs).all() and (springs >= 0).all()):
        raise InputError(f"stiffness: numbers of at least 0 N/m are needed, got {springs.tolist()}")
    states, shape = _states(system, pose, None, None, wrench, None, None)
    equations = system.compiled.derived(_Equations)
    found = [_modes(system, state, springs, _linearised(system, equations, state)) for state in states]
    half = system.freedoms.count + system.modes
    sizes = ((half,), (half, half), (half, half), (half, half))
    return NaturalModes(*(np.array([r[i] for r in found]).reshape(*shape, *size) for i, size in enumerate(sizes)))


class _State(NamedTuple):
    """One state in numbers; forces that hold it where none were given."""

    pose: Array
    twist: Array
    force: Array
    wrench: Array
    elastic: Array = _NONE
    elastic_rate: Array = _NONE


class _Linearised(NamedTuple):
    """The matrices of :class:`LinearModel` at one state."""

    a: Array
    b: Array
    e: Array
    c: Array
    drift: Array


def _states(system: System, pose: PoseLike | None, *given: ArrayLike | None) -> tuple[list[_State], tuple[int, ...]]:
    """States of a batch, and its shape; elastic coordinates and forces not given are those at rest."""
    n, count = system.modes, len(system.actuators)
    twist, force, wrench, elastic, rate = given
    if not n and (elastic is not None or rate is not None):
        raise InputError(f"elastic: the platform of {system.robot.name!r} is rigid and has no elastic coordinates")
    arguments = [Argument("pose", system.robot.home.matrix if pose is None else pose, (4, 4))]
    vectors = [("twist", twist, 6), ("force", force, count), ("wrench", wrench, 6)]
    vectors += [("elastic", elastic, n), ("elastic_rate", rate, n)] if n else []
    for name, value, length in vectors:
        arguments.append(Argument(name, np.zeros(length) if value is None else value, (length,)))
    rows = batch(arguments)
    first_not_finite(rows, arguments)
    poses = exact_poses(rows.rows[0], "pose", bool(rows.shape))
    given_rows = zip((poses, *rows.rows[1:]), arguments, strict=True)
    full = [np.broadcast_to(row, (rows.size, *argument.shape)) for row, argument in given_rows]
    states = [_State(*values) for values in zip(*full, strict=True)]
    return [_held(system, state, force is None, elastic is None) for state in states], rows.shape


def _held(system: System, state: _State, free_force: bool, free_shape: bool) -> _State:
    """A state with the forces, and the shape of a flexible platform, that hold it at rest where none were given."""
    if not free_force and (not system.modes or not free_shape):
        return state
    shape, force = system.hold(state.pose, state.wrench)
    return state._replace(force=force if free_force else state.force, elastic=shape if free_shape else state.elastic)


class _Equations:
    """A robot's rates in local coordinates about a pose, and their derivatives, as functions of numbers."""

    def __init__(self, dynamics: Dynamics) -> None:
        freedoms, n = Freedoms(dynamics.mechanism.robot), dynamics.modes
        basis, m = ca.DM(freedoms.basis), freedoms.count
        self.explicit, self.size, self.loads = dynamics.explicit, 2 * (m + n), dynamics.loads
        pose, x, nominal = ca.SX.sym("pose", 16), ca.SX.sym("x", self.size), ca.SX.sym("nominal", 2 * n + 6)
        force, wrench = ca.SX.sym("force", dynamics.actuators), ca.SX.sym("wrench", 6)
        loads = ca.SX.sym("loads", dynamics.loads)
        move, speed = basis @ x[:m], nominal[:6] + basis @ x[m + n : 2 * m + n]
        elastic, elastic_rate = nominal[6 : 6 + n] + x[m : m + n], nominal[6 + n :] + x[2 * m + n :]
        frame = ca.reshape(pose, 4, 4).T
        half = 0.5 * move[3:]
        axes, origin = cayley(half) @ frame[:3, :3], frame[:3, 3] + move[:3]
        moved = pose_of(ca.vec(ca.horzcat(axes, origin).T))
        rates = dynamics.smooth_rates(moved, speed, elastic, elastic_rate, force, wrench, loads)
        inverse = ca.DM(freedoms.inverse)
        drift = ca.vertcat(speed[:3], 2 * turn_rate(half, speed[3:]))
        rate = ca.vertcat(inverse @ drift, elastic_rate, inverse @ rates.acceleration, rates.elastic_acceleration)
        q = dynamics.sensed(moved, speed, elastic, elastic_rate).q
        numbers = dynamics.mechanism.numbers
        self._numbers = numbers.values
        inputs = [pose, x, nominal, force, wrench, loads, numbers.symbols]
        by = [x, force, wrench]
        slopes = [ca.jacobian(rate, of) for of in by]
        follow = [ca.jacobian(rate, loads)] + [ca.jacobian(rates.loads, of) for of in (*by, loads)]
        self.find_loads = ca.Function("loads", inputs, [rates.loads])
        self.derivatives = ca.Function("derivatives", inputs, [*slopes, *follow])
        self.values = ca.Function("values", inputs, [rates.quality, rate, ca.jacobian(q, x)])

    def inputs(self, state: _State, loads: Array) -> list[Array]:
        """Numbers of the functions' inputs at a state."""
        nominal = np.concatenate([state.twist, state.elastic, state.elastic_rate])
        return [state.pose.ravel(), np.zeros(self.size), nominal, state.force, state.wrench, loads, self._numbers]

    def repeated_loads(self, state: _State) -> Array | None:
        """Joint loads that dry friction repeats itself at; None if there are none."""
        loads = np.zeros(self.loads)
        for _ in range(1 if self.explicit else MAX_ROUNDS):
            new = np.array(self.find_loads(*self.inputs(state, loads))).ravel()
            change, largest = np.abs(new - loads).max(initial=0.0), np.abs(new).max(initial=0.0)
            loads = new
            if change <= REPEATED * largest:
                return loads
        return loads if self.explicit else None


def _linearised(system: System, equations: _Equations, state: _State) -> _Linearised:
    """Derivatives at a state; joint loads L = g(x, L) of dry friction follow: f_x + f_L (1 - g_L)^-1 g_x."""
    loads = equations.repeated_loads(state)
    at = equations.inputs(state, np.zeros(equations.loads) if loads is None else loads)
    quality, drift, c = (np.array(part) for part in equations.values(*at))
    # CasADi's minimum skips what is not a number, so the quality alone does not show it
    if not quality.item() > SMALLEST_MARGIN or not np.isfinite(drift).all():
        _refuse(why_no_answer(system.model, {"pose": state.pose, "elastic": state.elastic}))
    if loads is None:
        _refuse("the friction iteration did not converge: friction coefficients too large for this state")
    *slopes, f_l, g_x, g_f, g_w, g_l = (np.array(part) for part in equations.derivatives(*at))
    follow = [g_x, g_f, g_w]
    if equations.explicit:
        # the one round that makes the loads starts from none
        first = equations.derivatives(*equations.inputs(state, np.zeros(equations.loads)))
        follow, g_l = [np.array(part) for part in first[4:7]], np.zeros_like(g_l)
    if equations.loads:
        slopes = [f + f_l @ np.linalg.solve(np.eye(len(g_l)) - g_l, g) for f, g in zip(slopes, follow, strict=True)]
    a, b, e = slopes
    return _Linearised(a, b, e, c, drift.ravel())


def _modes(system: System, state: _State, springs: Array, linear: _Linearised) -> NaturalModes:
    """Natural modes at one state."""
    half = len(linear.a) // 2
    # accelerations are M^-1 (generalized forces): B = M^-1 J^T, and J = C at the actuators
    closed = linear.a[half:, :half] - linear.b[half:] @ (springs[:, None] * linear.c[:, :half])
    mass = system.mass_matrix(state.pose, state.elastic)
    return modes_of(-mass @ closed, mass)


def modes_of(stiffness: Array, mass: Array) -> NaturalModes:
    """Natural modes of matrices (..., k, k)."""
    from scipy.linalg import eigh

    turned = np.swapaxes(stiffness, -1, -2)
    if np.abs(stiffness - turned).max(initial=0.0) > 1e-6 * np.abs(stiffness).max(initial=0.0):
        raise StateError("natural_modes: the stiffness matrix is not symmetric; the pose is not an equilibrium")
    even = 0.5 * (stiffness + turned)
    lead, k = even.shape[:-2], even.shape[-1]
    pairs = zip(even.reshape(-1, k, k), mass.reshape(-1, k, k), strict=True)
    found = [eigh(a, b) for a, b in pairs]
    squares = np.array([values for values, _ in found]).reshape(*lead, k)
    with np.errstate(invalid="ignore"):
        frequency: Array = np.sqrt(squares) / (2 * np.pi)
    return NaturalModes(frequency, np.array([shape for _, shape in found]).reshape(*lead, k, k), even, mass)


def _refuse(reason: str) -> NoReturn:
    raise StateError(f"linearise: no answer. {reason}", np.array([0]), [reason])
