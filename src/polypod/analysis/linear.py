"""Linear models about a state, exact by differentiation, and the natural frequencies they imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..control.checked import why_no_answer
from ..description import Robot
from ..description.units import argument_in_si
from ..errors import InputError, MissingPackageError, Reason, StateError
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..model.arguments import Argument, PoseLike, batch, check_finite, exact_poses
from ..platforms import DegreesOfFreedom
from ..platforms.constrained import ConstrainedState
from ..simulation.chart import cayley_rate, pose_of
from ..simulation.dynamics import Dynamics
from ..simulation.system import System
from ..symbols.expression import Expression, Mapped, Port, port
from ..symbols.iterations import CHANGE_TOLERANCE, MAX_ITERATIONS
from ..symbols.vectors import cayley


@dataclass(frozen=True)
class LinearModel:
    """Linear model about a state: xdot = A x + B f + E w, q = C x, with deviations x = [xi; elastic; u; elastic rates].

    u is that of ``Model.jacobian``: the twist, or its components along the degrees of freedom. xi is the small
    displacement from the state in the same components (rotations about base axes): its rate is u about a state of rest.

    Attributes
    ----------
    a : ndarray, shape (..., k, k)
        A.
    b : ndarray, shape (..., k, n)
        B, for actuator forces [per N or N m].
    e : ndarray, shape (..., k, 6)
        E, for the external wrench [per N and N m].
    c : ndarray, shape (..., n, k)
        C, for actuated coordinates [m or rad].
    drift : ndarray, shape (..., k)
        xdot at the state itself; zero at an equilibrium.
    names : tuple of str
        Names of the k states.
    """

    a: Array
    b: Array
    e: Array
    c: Array
    drift: Array
    names: tuple[str, ...]

    def to_control(self) -> Any:
        """Convert to a ``control.StateSpace`` from actuator forces to actuated coordinates.

        Returns
        -------
        control.StateSpace
            The system (of python-control).

        Raises
        ------
        InputError
            If the linear models are a batch.
        MissingPackageError
            If python-control is not installed.
        """
        if self.a.ndim > 2:
            raise InputError(f"to_control: needs a single linear model, got a batch of shape {self.a.shape[:-2]}")
        try:
            import control  # type: ignore[import-untyped, import-not-found, unused-ignore]
        except ImportError as error:
            raise MissingPackageError("to_control", "python-control", "control") from error
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
    """Natural frequencies and mode shapes: K v = (2 pi f)^2 M v.

    Attributes
    ----------
    frequency : ndarray, shape (..., k)
        Frequencies [Hz] in ascending order; NaN for a negative eigenvalue (an unstable pose).
    shape : ndarray, shape (..., k, k)
        Shapes as columns of [xi; elastic], of unit generalized mass.
    stiffness, mass : ndarray, shape (..., k, k)
        K and M.
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
    """Linear model of a robot about a state: xdot = A x + B f + E w, q = C x.

    Rigid robots whose friction does not depend on reactions use the compiled derivatives of direct dynamics
    (microseconds per state); the derivatives of others are interpreted (milliseconds per state).

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of {P} in {B}. Default: home.
    twist : array_like, shape (..., 6), optional
        Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s]. Default: zero.
    force : array_like, shape (..., n), optional
        Actuator forces [N or N m]. Default: those that hold the pose at rest.
    wrench : array_like, shape (..., 6), optional
        External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
    elastic : array_like, shape (..., N), optional
        Elastic coordinates of a flexible platform. Default: zero.
    elastic_rate : array_like, shape (..., N), optional
        Rates of the elastic coordinates [1/s]. Default: zero.
    friction : bool, optional
        Whether friction in the joints is included.

    Returns
    -------
    LinearModel
        The matrices; leading axes are a batch.
    """
    model.robot.refuse_internal("linearise")
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
    """Undamped natural frequencies at rest in a pose, with each actuator a spring of given stiffness.

    The springs carry the forces that hold the pose, so K = J^T k J plus the stiffness of gravity and of rotating legs.

    Parameters
    ----------
    model : Model
        Model of the robot.
    pose : array_like or RigidTransform, shape (..., 4, 4), optional
        Pose of {P} in {B}. Default: home.
    stiffness : array_like, optional
        Stiffness k of the actuators [N/m or N m/rad], one number or (n,).
    wrench : array_like, shape (..., 6), optional
        External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.

    Returns
    -------
    NaturalModes
        Frequencies, shapes and matrices.
    """
    model.robot.refuse_internal("natural_modes")
    system = System(model, False)
    count = len(system.actuators)
    springs = one_or_each("stiffness", stiffness, count)
    if not (np.isfinite(springs).all() and (springs >= 0).all()):
        raise InputError(f"stiffness: must be at least 0 N/m, got {springs.tolist()}")
    states, shape = _states(system, pose, None, None, wrench, None, None)
    found = linearised(system, states)
    half = found.a.shape[-1] // 2
    # accelerations are M^-1 (generalized forces): B = M^-1 J^T, and J = C at the actuators
    closed = found.a[:, half:, :half] - found.b[:, half:] @ (springs[:, None] * found.c[..., :half])
    mass = system.mass_matrix(states.pose, states.elastic)
    modes = modes_of(-mass @ closed, mass)
    return NaturalModes(*(part.reshape(*shape, *part.shape[1:]) for part in modes))


def one_or_each(name: str, given: ArrayLike, count: int) -> Array:
    """Stiffnesses (count,) of all actuators from one for all or one for each; texts such as ``20 N/um`` have units."""
    numbers = argument_in_si(name, given, "N/m or N m/rad")
    try:
        return np.broadcast_to(np.asarray(numbers, dtype=np.float64), (count,))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: must be one stiffness or {count}, got {given!r}") from error


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
        raise InputError(
            f"elastic: {system.robot.name!r} has a rigid platform without elastic coordinates; leave it out",
            code="rigid",
        )
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
        raise StateError(
            "natural_modes: the stiffness matrix is not symmetric; the pose is not an equilibrium",
            code="not_an_equilibrium",
        )
    symmetric = 0.5 * (stiffness + transposed)
    lead, k = symmetric.shape[:-2], symmetric.shape[-1]
    pairs = zip(symmetric.reshape(-1, k, k), mass.reshape(-1, k, k), strict=True)
    found = [_modes(a, b) for a, b in pairs]
    squares = np.array([values for values, _ in found]).reshape(*lead, k)
    if (squares < -_RANK * np.abs(np.where(np.isfinite(squares), squares, 0.0)).max(initial=1.0)).any():
        raise StateError(
            "natural_modes: the stiffness matrix is not positive: the robot is not stable there, and has no natural "
            "frequencies. Are its springs too soft for the load (N/m where N/um are meant), or does it hang over?"
        )
    frequency: Array = np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi)
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
        raise StateError("natural_modes: a direction without mass has no stiffness: the pose is not stable") from error
    heavy = inverse[::-1] > _RANK * inverse[-1]
    values = np.where(heavy, 1 / np.where(heavy, inverse[::-1], 1.0), np.inf)
    return values, shapes[:, ::-1] * np.where(heavy, np.sqrt(np.where(heavy, values, 1.0)), 1.0)


# ----------------------------------------------------------------------------------------------------------------------
# A robot's equations of motion differentiated at states: from its derivatives where it has them by its pose.
#
# Local coordinates are xi (m), the pose displaced by S xi (position, and a turn of rotation vector about base axes),
# u (m) the degrees of freedom' rates with twist = S u, elastic coordinates and rates. S is that of the displaced pose
# where the platform moves as its legs let it. At a state x' = f(x, force, wrench): A = df/dx, B = df/dforce, E =
# df/dwrench.


class States(NamedTuple):
    """States (n, ...) in numbers, forces among them."""

    pose: Array
    twist: Array
    force: Array
    wrench: Array
    elastic: Array
    elastic_rate: Array


class Linearised(NamedTuple):
    """The matrices of ``polypod.analysis.LinearModel`` at n states."""

    a: Array
    b: Array
    e: Array
    c: Array
    drift: Array


def linearised(system: System, states: States) -> Linearised:
    """Derivatives at states; an error that says why where there is no answer."""
    mechanism = system.mechanism
    if mechanism.platform.is_constrained or mechanism.implicit_legs:
        return _interpreted(system, states)
    return _derived(system, states)


def _derived(system: System, states: States) -> Linearised:
    """From the derivatives of direct dynamics, whose pose is varied by a twist on its left as here."""
    model, dof, count, n = system.model, system.dof, len(states.pose), system.modes
    basis, inverse, m = dof.basis, dof.inverse, dof.count
    shape: dict[str, Any] = {"elastic": states.elastic} if n else {}
    given: dict[str, Any] = {**shape, "elastic_rate": states.elastic_rate} if n else {}
    blocks = ("pose", *(["elastic"] if n else []), "twist", *(["elastic_rate"] if n else []), "force", "wrench")
    inputs = states.pose, states.twist, states.force, states.wrench
    try:
        found = model.derivatives(
            "direct_dynamics", *inputs, wrt=blocks, friction=system.friction, errors="raise", **given
        )
        rates = model.direct_dynamics(*inputs, system.friction, errors="raise", full_output=True, **given)
        c = model.jacobian(states.pose, errors="raise", **shape)
    except StateError as error:
        _refuse(error.reasons[0] if error.reasons else str(error), int(np.ravel(error.index)[0]))
    # rates of [u, elastic rate] from those of the frame and the modes, states from [xi, elastic]
    down = np.zeros((m + n, 6 + n))
    down[:m, :6], down[m:, 6:] = inverse, np.eye(n)
    derivatives = {block: down @ getattr(found, block) for block in blocks}
    k = m + n
    a, omega = np.zeros((count, 2 * k, 2 * k)), states.twist[:, 3:]
    # a turning platform carries its local rotation vector: phi' = omega - phi x omega/2
    carried = np.zeros((count, 6, 6))
    carried[:, 3:, 3:] = 0.5 * np.cross(omega[:, None], np.eye(3), axisb=1, axisc=1)
    a[:, :m, :m], a[:, :k, k:] = inverse @ carried @ basis, np.eye(k)
    a[:, k:, :m], a[:, k:, k : k + m] = derivatives["pose"] @ basis, derivatives["twist"] @ basis
    if n:
        a[:, k:, m:k], a[:, k:, k + m :] = derivatives["elastic"], derivatives["elastic_rate"]
    b, e = (np.concatenate([np.zeros_like(derivatives[f]), derivatives[f]], axis=1) for f in ("force", "wrench"))
    parts = [states.twist @ inverse.T, states.elastic_rate, rates.acceleration @ inverse.T, rates.elastic_acceleration]
    return Linearised(a, b, e, np.concatenate([c, np.zeros_like(c)], axis=2), np.concatenate(parts, axis=1))


class _Equations:
    """A robot's rates in local coordinates about a pose, and their derivatives, as functions of numbers."""

    def __init__(self, dynamics: Dynamics) -> None:
        mechanism, n = dynamics.mechanism, dynamics.modes
        dof = DegreesOfFreedom(mechanism.robot)
        m, self.explicit, self.loads = dof.count, dynamics.explicit, dynamics.load_count
        self.size = 2 * (m + n)
        pose, x, nominal = ca.SX.sym("pose", 16), ca.SX.sym("x", self.size), ca.SX.sym("nominal", 2 * n + 6)
        force, wrench = ca.SX.sym("force", dynamics.actuators), ca.SX.sym("wrench", 6)
        loads, places = ca.SX.sym("loads", dynamics.load_count), ca.SX.sym("places", dynamics.place_count)
        elastic, elastic_rate = nominal[6 : 6 + n] + x[m : m + n], nominal[6 + n :] + x[2 * m + n :]
        # one more step of Newton makes the places exact; a step from there follows the pose to first order
        near = _placed(dynamics, pose, nominal[6 : 6 + n], places)
        at_rest = self._basis(dynamics, pose, near)
        move = at_rest @ x[:m]
        frame = ca.reshape(pose, 4, 4).T
        half = 0.5 * move[3:]
        axes, origin = cayley(half) @ frame[:3, :3], frame[:3, 3] + move[:3]
        moved = pose_of(ca.vec(ca.horzcat(axes, origin).T))
        there = _placed(dynamics, moved, elastic, near)
        rates_of = x[m + n : 2 * m + n]
        if mechanism.platform.is_constrained:
            own = self._reduced_rates(dynamics, pose, near)
            u = own @ nominal[:6] + rates_of
            speed = self._basis(dynamics, moved, there) @ u
        else:
            own = ca.SX(ca.DM(dof.inverse))
            speed = nominal[:6] + at_rest @ rates_of
        rates = dynamics.smooth_rates(moved, speed, elastic, elastic_rate, force, wrench, loads)
        drift = ca.vertcat(speed[:3], 2 * cayley_rate(half, speed[3:]))
        moving, change = own @ drift, own @ rates.acceleration
        if mechanism.coordinate_joints:
            # a joint's coordinate changes by its own rate; E changes from pose to pose, and with it u = E V
            moving = ca.vertcat(*[u[k] if joint else moving[k] for k, joint in enumerate(dof.of_joints)])
            place = mechanism.inputs()
            place.pose, place.twist = Port("pose", moved, (4, 4)), Port("twist", speed, (6,))
            change = self._reduced_rates(dynamics, moved, there) @ (
                rates.acceleration - mechanism.drift_acceleration(place)
            )
        rate = ca.vertcat(moving, elastic_rate, change, rates.elastic_acceleration)
        q = dynamics.sensed(moved, speed, elastic, elastic_rate).q
        rate, q, quality, fresh = ca.substitute(
            [ca.densify(v) for v in (rate, q, rates.quality, rates.loads)], [mechanism.places], [there]
        )
        self._numbers, self.places = mechanism.numbers.values, _places(mechanism)
        inputs = [pose, x, nominal, force, wrench, loads, places, mechanism.numbers.symbols]
        by = [x, force, wrench]
        derivatives = [ca.jacobian(rate, of) for of in by]
        follow = [ca.jacobian(rate, loads)] + [ca.jacobian(fresh, of) for of in (*by, loads)]
        self.find_loads = Mapped(inputs, [fresh])
        self.derivatives = Mapped(inputs, [*derivatives, *follow])
        self.values = Mapped(inputs, [quality, rate, ca.jacobian(q, x)])

    @staticmethod
    def _basis(dynamics: Dynamics, pose: ca.SX, places: ca.SX) -> ca.SX | ca.DM:
        """S (6, m) at a pose, with legs at given places."""
        mechanism = dynamics.mechanism
        if not mechanism.platform.is_constrained:
            return ca.DM(DegreesOfFreedom(mechanism.robot).basis)
        x = mechanism.inputs()
        x.pose = Port("pose", pose, (4, 4))
        state, _ = mechanism.resting(x)
        assert isinstance(state, ConstrainedState)
        return ca.substitute(ca.densify(state.basis), mechanism.places, places)

    @staticmethod
    def _reduced_rates(dynamics: Dynamics, pose: ca.SX, places: ca.SX) -> ca.SX:
        """E (m, 6) of u = E V at a pose, with legs at given places."""
        mechanism, x = dynamics.mechanism, dynamics.mechanism.inputs()
        x.pose = Port("pose", pose, (4, 4))
        _, legs = mechanism.resting(x)
        return ca.substitute(ca.densify(ca.SX(mechanism.reduced_rates(legs))), mechanism.places, places)

    def inputs(self, states: States, loads: Array) -> list[Array]:
        """Numbers of the functions' inputs at n states, (n, k) each."""
        n = len(states.pose)
        nominal = np.concatenate([states.twist, states.elastic, states.elastic_rate], axis=1)
        places = np.zeros((n, 0)) if self.places is None else np.asarray(self.places(states.pose)[0]).reshape(n, -1)
        rows = [
            states.pose.reshape(n, 16),
            np.zeros((n, self.size)),
            nominal,
            states.force,
            states.wrench,
            loads,
            places,
        ]
        return [*rows, np.repeat(self._numbers[None], n, axis=0)]

    def repeated_loads(self, states: States) -> tuple[Array, NDArray[np.bool_]]:
        """Joint loads (n, k) that dry friction repeats itself at, and where there are none."""
        loads = np.zeros((len(states.pose), self.loads))
        for _ in range(1 if self.explicit else MAX_ITERATIONS):
            new = self.find_loads(*self.inputs(states, loads))[0][..., 0]
            change, largest = (np.abs(v).max(axis=1, initial=0.0) for v in (new - loads, new))
            loads, open_states = new, ~(change <= CHANGE_TOLERANCE * largest)
            if not open_states.any():
                break
        return loads, np.zeros_like(open_states) if self.explicit else open_states


def _placed(dynamics: Dynamics, pose: ca.SX, elastic: ca.SX, places: ca.SX) -> ca.SX:
    """Places of legs without a closed form after one step of Newton at a pose."""
    if not dynamics.place_count:
        return places
    return ca.substitute(ca.densify(dynamics.closing(pose, elastic).moved), dynamics.mechanism.places, places)


def _places(mechanism: Mechanism) -> Kernel | None:
    """Places of the legs closed by iterating, as a function of the pose; None if all are in closed form."""
    if not mechanism.implicit_legs:
        return None
    x = mechanism.inputs()
    outputs = port("places", mechanism.places), port("quality", mechanism.quality(mechanism.resting(x)[1]), ())
    kernel = Kernel(lambda: closed(mechanism, Expression("places", (x.pose,), outputs, mechanism.port)))
    return kernel.at(mechanism.numbers.values) if kernel.parameters else kernel


def _interpreted(system: System, states: States) -> Linearised:
    """Joint loads L = g(x, L) of dry friction follow: f_x + f_L (1 - g_L)^-1 g_x."""
    equations, n = system.compiled.derived(_Equations), len(states.pose)
    k, count = equations.size, len(system.actuators)
    if not n:
        return Linearised(*(np.zeros((0, *s)) for s in ((k, k), (k, count), (k, 6), (count, k), (k,))))
    loads, open_states = equations.repeated_loads(states)
    at = equations.inputs(states, loads)
    quality, drift, c = equations.values(*at)
    # CasADi's minimum skips what is not a number, so the quality alone does not show it
    lost = ~(quality[:, 0, 0] > SMALLEST_MARGIN) | ~np.isfinite(drift).all(axis=(1, 2))
    if lost.any():
        first = int(np.argmax(lost))
        place = {"pose": states.pose[first], "elastic": states.elastic[first]}
        _refuse(why_no_answer(system.model, place), first)
    if open_states.any():
        reason = Reason(
            "the friction iteration did not converge: friction coefficients too large for this state", "friction"
        )
        _refuse(reason, int(np.argmax(open_states)))
    *derivatives, f_l, g_x, g_f, g_w, g_l = equations.derivatives(*at)
    follow = [g_x, g_f, g_w]
    if equations.explicit:
        # the one round that finds the loads starts from none
        start = equations.derivatives(*equations.inputs(states, np.zeros_like(loads)))
        follow, g_l = start[4:7], np.zeros_like(g_l)
    if equations.loads:
        unit = np.eye(equations.loads)
        derivatives = [f + f_l @ np.linalg.solve(unit - g_l, g) for f, g in zip(derivatives, follow, strict=True)]
    a, b, e = derivatives
    return Linearised(a, b, e, c, drift[..., 0])


def _refuse(reason: str, state: int) -> NoReturn:
    raise StateError(f"linearise: no answer. {reason}", np.array([state]), [reason])
