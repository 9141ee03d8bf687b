"""The numeric face of a robot: checked calls on batches of states, compiled underneath."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..assembly import Assembly, AssemblyModes, architecture
from ..description import Robot
from ..description.modes import Modes
from ..errors import (
    AS_RIGID,
    Fault,
    IgnoredWarning,
    ImplausibleWarning,
    InputError,
    RobotFileError,
    UnknownNameError,
    short_repr,
)  # fmt: skip
from ..files import load
from ..files.robot_files import with_file_lines
from ..formulations import newton_euler
from ..formulations.dry_friction import DryFriction
from ..friction.solutions import FrictionSolutions
from ..friction.static_force_range import StaticForceRange
from ..kernels import Iteration, Kernel
from ..lazy import Kept, lazy
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import SIMPLIFICATIONS, Simplification
from ..mechanism.kinematics import body_names
from ..mechanism.verdict import BAD_INPUT
from ..parameters.changed_robots import with_numbers
from ..parameters.paths import parameter_values
from ..platforms import DegreesOfFreedom
from .actuators import ActuatorInfo, actuators_of, undriven_motion
from .arguments import Argument, PoseLike, batch, pose_matrix
from .bounds import ErrorBound, error_bound
from .calls import NOT_ALLOWED, Calls, Function, Parameters, States, first
from .closing import closing
from .derivatives import DerivativeFunctions, Derivatives, Regressor
from .diagnosis import Errors, check_policy
from .elastic import deflection, steady_shape
from .forward import forward_kinematics, forward_kinematics_of_designs
from .friction import friction_solutions, static_force_range
from .generalized_coordinates import GeneralizedCoordinates
from .kernels import Kernels, Options
from .results import (
    Closure,
    Conditioning,
    DirectDynamics,
    Distribution,
    Energy,
    Equilibrium,
    ForwardKinematics,
    InverseDynamics,
    LimitReport,
    PlatformMotion,
    Reactions,
)  # fmt: skip

if TYPE_CHECKING:
    from ..adapters.jax_function import JaxFunction
    from ..adapters.torch_function import TorchFunction

MAX_CONDITION = 1e3
"""Condition number of the Jacobian above which a home pose is suspicious."""
_NEAR_SINGULAR = (
    "Are platform and base similar and parallel, or do two legs share both joints? Move or rotate home, or move joints"
)
_INSTEAD = {"conditioning": "; make singular values of casadi('jacobian') in your own program"}
RIGID_FRICTION_WIDTH, FLEXIBLE_FRICTION_WIDTH = 1e-6, 1e-2
"""Default rates [m/s, rad/s] over which dry friction changes sign: a vibrating platform needs a wider one."""
_NO_POSE = "no pose with these coordinates was found along the path from home; stay closer to home"
_PLAIN = "virtual-power"
_REST = np.zeros(6)
# Functions and the inputs that the methods give, in the order of their arguments.
_POSE = ("pose", "elastic")
_VELOCITY = ("pose", "twist", "elastic", "elastic_rate")
_MOTION = ("pose", "twist", "acceleration", "wrench", "elastic", "elastic_rate")
_SHARES = ("weights", "preload")
_BASE = ("base_twist", "base_acceleration")
_INVERSE_KINEMATICS = Function("inverse_kinematics", *_POSE)
_JACOBIAN = Function("jacobian", *_POSE)
_RATES = Function("rates", *_VELOCITY)
_ACCELERATIONS = Function(
    "accelerations", "pose", "twist", "acceleration", "elastic", "elastic_rate", "elastic_acceleration"
)
_TWIST = Function("twist", "pose", "qdot")
_ACCELERATION = Function("acceleration", "pose", "twist", "qddot")
_BODIES = Function("bodies", *_POSE)
_CONDITIONING = Function("conditioning", *_POSE)
_DIRECT_DYNAMICS = Function("direct_dynamics", "pose", "twist", "force", "wrench", "elastic", "elastic_rate")
_MASS_MATRIX = Function("mass_matrix", *_POSE)
_BIAS = Function("bias", *_VELOCITY)
_ENERGY = Function("energy", *_VELOCITY)
_RATE_MAP = Function("rate_map", "pose")
_FORWARD_KINEMATICS = Function("forward_kinematics", "q", "pose", "elastic")
_INVERSE_DYNAMICS = Function("inverse_dynamics", *_MOTION)
_REACTIONS = Function("reactions", *_MOTION)
_BASE_WRENCH = Function("base_wrench", *_MOTION)
_third: Any = itemgetter(2)


def _conditioning(results: list[Array]) -> Conditioning:
    return Conditioning(*results)


def _energy(results: list[Array]) -> Energy:
    kinetic, potential, *elastic = results
    return Energy(kinetic, potential, elastic[0] if elastic else np.asarray(0.0 * kinetic))  # NaN where there is none


def _inverse_dynamics(results: list[Array]) -> InverseDynamics:
    return InverseDynamics(*_with_elastic(results))


def _direct_dynamics(results: list[Array]) -> DirectDynamics:
    return DirectDynamics(*_with_elastic(results))


def _with_elastic(results: list[Array]) -> list[Array]:
    """Results of dynamics with the elastic accelerations (..., N); N is zero for a rigid platform."""
    return results if len(results) == 2 else [*results, np.zeros((*results[0].shape[:-1], 0))]


class Model(Kept):
    """Kinematics and dynamics of a robot. Immutable, safe in threads; kernels compile when first used.

    Poses are (..., 4, 4) arrays or SciPy ``RigidTransform``; twists, accelerations and wrenches are (..., 6), those of
    the origin of the platform frame in base axes, linear part first; forces and coordinates are (..., n). Leading axes
    are a batch. SI units throughout. Rotation matrices of seven printed digits are accepted and made exact.

    A robot with a flexible platform has N elastic coordinates beside the frame's pose: its calls take ``elastic`` and
    ``elastic_rate`` (..., N), zero if left out, its velocity is u = [twist, elastic rates], and with ``full_output``
    dynamics also returns the elastic accelerations.

    ``errors`` says what to do about states without an answer (out of reach, singular): ``raise`` a StateError that
    carries the other states' results, ``warn`` and return NaN in their rows, or only return NaN (``nan``). By default
    one state raises and a batch warns.

    Dynamic calls take the motion of the base itself, of ships, vehicles and stages below: ``base_twist`` and
    ``base_acceleration`` (..., 6) of the origin of {B} in space, in base axes. Pose, twist and acceleration of the
    platform stay relative to {B}.

    ``parameters`` gives other values to numbers of the robot, by path as ``parameters`` names them: arrays
    (..., *shape) whose leading axes are a batch of designs, broadcast against the states. Functions are compiled for
    a robot's topology, not for its numbers: other numbers compile nothing. ``specialise`` builds the numbers in.

    ``simplify`` names what a simplified model neglects (``polypod.mechanism.simplify``). ``friction_width`` is the
    rate [m/s, rad/s] over which dry friction changes sign smoothly; 0 takes the exact sign. ``friction_law`` names
    another law of that change (``polypod.friction.LAWS``). ``friction_coupling`` ``implicit`` solves for friction
    and reactions together, ``explicit`` takes the reactions without dry friction.
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        *,
        simplify: Simplification | None = None,
        friction_width: float | None = None,
        friction_law: str | None = None,
        friction_coupling: Literal["implicit", "explicit"] = "implicit",
        specialise: bool = False,
    ) -> None:
        super().__init__()
        self.robot = robot if isinstance(robot, Robot) else load(robot)
        if friction_width is None:
            friction_width = FLEXIBLE_FRICTION_WIDTH if self.robot.flexible else RIGID_FRICTION_WIDTH
        if simplify is not None and simplify not in SIMPLIFICATIONS:
            raise UnknownNameError("simplification", simplify, SIMPLIFICATIONS)
        options = Options(simplify, DryFriction.of(friction_width, friction_coupling, friction_law), specialise)
        self.simplify = simplify
        self._choices: dict[str, Any] = {
            "simplify": simplify, "friction_width": friction_width, "friction_law": friction_law,
            "friction_coupling": friction_coupling, "specialise": specialise,
        }  # fmt: skip
        self.legs: tuple[str, ...] = tuple(leg.name for leg in self.robot.legs)
        self._dof = DegreesOfFreedom(self.robot)
        self.dof: tuple[str, ...] = self._dof.names
        with with_file_lines(robot):
            self._kernels = Kernels(self.robot, options)
            self.actuators: tuple[ActuatorInfo, ...] = actuators_of(self._kernels.mechanism)
            self.size = self.robot.platform_size
            self._home = self.robot.home.matrix
            self._calls = Calls(self._kernels, self._dof, self.size)
            self._check_home()
        if self.robot.springs_left_out:
            text = f"robot {self.robot.name!r}: {self.robot.springs_left_out}"
            warnings.warn(text, IgnoredWarning, stacklevel=2)

    def _check_home(self) -> None:
        if len(self.actuators) < self._dof.count:
            raise RobotFileError(f"robot {self.robot.name!r}", [Fault("legs", undriven_motion(self))])
        home = self._conditioning_at_home()
        if home.distance > SMALLEST_MARGIN:
            if home.condition > MAX_CONDITION:
                warnings.warn(
                    f"robot {self.robot.name!r} is nearly singular at home: condition number {home.condition:.4g} "
                    f"(usual: at most {MAX_CONDITION:g}); forces near home are large and unreliable. {_NEAR_SINGULAR}",
                    ImplausibleWarning,
                    stacklevel=3,
                )
            return
        self._explain_a_singular_home()

    def _conditioning_at_home(self) -> Conditioning:
        """``conditioning`` by LAPACK: one pose is not worth a function compiled for it."""
        matrix = self.jacobian(self.robot.home.matrix, errors="nan")[:, : self._dof.count]
        if not np.isfinite(matrix).all():
            return Conditioning(np.array(np.inf), np.array(0.0))
        rows = self._kernels.mechanism.joint_scales(self.size)
        scaled = rows[:, None] * matrix * np.where(self._dof.turns, 1 / self.size, 1.0)
        values = np.linalg.svd(scaled, compute_uv=False)
        smallest = values[-1]
        return Conditioning(np.array(values[0] / smallest if smallest > 0 else np.inf), np.array(smallest))

    def _explain_a_singular_home(self) -> NoReturn:
        seen: list[dict[str, Any]] = []
        for number, leg in enumerate(self.robot.legs):
            data = leg.model_dump(exclude={"name"})
            if data in seen:
                twin = self.legs[seen.index(data)]
                message = f"{leg.name} is identical to {twin}, so too few legs constrain the platform: move its joints"
                raise RobotFileError(f"robot {self.robot.name!r}", [Fault(f"legs.{number}", message)])
            seen.append(data)
        field = "home" if "home" in self.robot.model_fields_set else "legs"
        struts = len(self.robot.legs) == 6 and all(leg.kind == "UPS" for leg in self.robot.legs)
        always = architecture(self.robot) if struts else None
        advice = f"It is {always.text}" if always is not None and always.singular else _NEAR_SINGULAR
        message = (
            f"the home pose is singular: at position {list(self.robot.home.position)} the platform can move with all "
            f"actuators locked ({undriven_motion(self)}). {advice}"
        )
        raise RobotFileError(f"robot {self.robot.name!r}", [Fault(field, message)])

    @property
    def kernels(self) -> Kernels:
        """The compiled functions, and the robot in symbols they are made from."""
        return self._kernels

    @property
    def mobility(self) -> DegreesOfFreedom:
        """The motions the robot can make: twist = basis u."""
        return self._dof

    @lazy
    def rigid(self) -> Model:
        """A model of the same robot on a platform that does not bend; itself if it does not anyway."""
        if not self.robot.flexible:
            return self
        return Model(self.robot.rigid, **self._choices)

    def __reduce__(self) -> tuple[Any, ...]:
        """A model is its robot and its choices; another process builds it from its cache of kernels."""
        return partial(Model, **self._choices), (self.robot,)

    def __repr__(self) -> str:
        modes = f", modes={self.modes.count}" if self.robot.flexible else ""
        return (
            f"Model({self.robot.name!r}, legs={len(self.legs)}, actuators={len(self.actuators)}, "
            f"dof={self._dof.count}{modes})"
        )

    # -- kinematics ----------------------------------------------------------------------------------------------------

    def inverse_kinematics(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Actuated coordinates q (..., n) [m or rad] of a pose."""
        return self._calls.call(_INVERSE_KINEMATICS, (pose, elastic), errors, parameters)

    def jacobian(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """J (..., n, m) with qdot = J u; u is the twist, or its m components along a lower-mobility robot's degrees of
        freedom.

        Components about axes of rotation are those of the angular velocity; a degree of freedom that is a joint's
        coordinate has the joint's rate. ``rate_map`` gives u from the rates of the coordinates that ``motion``
        takes. Of a flexible robot J is (..., n, 6 + N).
        """
        return self._calls.call(_JACOBIAN, (pose, elastic), errors, parameters)

    def rates(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Rates qdot (..., n) [m/s or rad/s] of the actuated coordinates."""
        return self._calls.call(_RATES, (pose, twist, elastic, elastic_rate), errors, parameters)

    def accelerations(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        elastic_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Accelerations qddot (..., n) [m/s^2 or rad/s^2] of the actuated coordinates."""
        values = pose, twist, acceleration, elastic, elastic_rate, elastic_acceleration
        return self._calls.call(_ACCELERATIONS, values, errors, parameters, False, _PLAIN, _third)

    def twist(
        self, pose: PoseLike, qdot: ArrayLike, *, parameters: Parameters | None = None, errors: Errors | None = None
    ) -> Array:
        """Twist (..., 6) of the platform from the rates qdot (..., n) of the actuated coordinates: J u = qdot."""
        self._needs_rigid("twist")
        return self._calls.call(_TWIST, (pose, qdot), errors, parameters)

    def acceleration(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        qddot: ArrayLike,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Acceleration (..., 6) of the platform from accelerations of the coordinates: J udot = qddot - Jdot u."""
        self._needs_rigid("acceleration")
        return self._calls.call(_ACCELERATION, (pose, twist, qddot), errors, parameters)

    def bodies(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, Array]:
        """Pose (..., 4, 4) of the frame of every body, by ``leg.body``; ``platform`` itself included."""

        def by_name(results: list[Array]) -> dict[str, Array]:
            placed = results[0]
            found = {name: placed[..., k, :, :] for k, name in enumerate(body_names(self._kernels.mechanism))}
            own = np.broadcast_to(np.asarray(pose_matrix(pose), dtype=float), (*placed.shape[:-3], 4, 4))
            return {"platform": own.copy(), **found}

        return self._calls.call(_BODIES, (pose, elastic), errors, parameters, False, _PLAIN, by_name)

    @overload
    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: PoseLike | None = None,
        *,
        along: bool = False,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: Literal[False] = False,
    ) -> Array: ...

    @overload
    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: PoseLike | None = None,
        *,
        along: bool = False,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: Literal[True],
    ) -> ForwardKinematics: ...

    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: PoseLike | None = None,
        *,
        along: bool = False,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Array | ForwardKinematics:
        """Pose (..., 4, 4) with the given actuated coordinates, by Newton's iteration from a guess (default: home).

        Several poses have the same coordinates. The one found is on the guess's side of the singularities (det J has
        the guess's sign) and near it: where Newton fails or crosses a singularity, the coordinates' way from those of
        the guess is followed in steps, then Newton starts from poses about the guess. Inverse kinematics of the pose
        gives the coordinates: legs that are closed by iterating are closed anew, from home. A state without an answer
        takes about a millisecond, with such legs about 0.1 s; a pose that was not found may exist. ``full_output``
        returns a ``ForwardKinematics`` with a code (also whether the pose is outside the robot's limits), the
        residual and the number of steps of each state. The pose is a ``RigidTransform`` if the guess is one and every
        state has an answer (a RigidTransform cannot be NaN).

        With ``along`` the rows of q (..., T, n) are a log: the pose of a row is the guess of the next, all in compiled
        code. ``guess`` (..., 4, 4) then is that of the first rows. A row without an answer is skipped: the next starts
        from the last pose found. Logs of one batch are followed side by side.

        With ``parameters`` designs are broadcast against states; Newton's iteration from the guess is all they get.
        """
        start = self._home if guess is None else guess
        if parameters is None and not along and not full_output:
            check_policy(errors)
            found = self._calls.plain(_FORWARD_KINEMATICS, (q, start, elastic))
            if found is not None:
                return found[0]
        self._calls.refuse_elastic("forward_kinematics", {"elastic": elastic})
        if parameters is not None:
            return forward_kinematics_of_designs(self._calls, q, start, elastic, along, parameters, errors, full_output)
        return forward_kinematics(self._calls, q, start, elastic, along, errors, full_output)

    def limits(
        self, pose: PoseLike, *, elastic: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> LimitReport:
        """Leg lengths, rail positions and joint cones that the robot limits, by leg and name."""
        self._calls.refuse_elastic("limits", {"elastic": elastic})
        return self._calls.limits({"pose": pose, "elastic": elastic}, parameters)

    def closing(
        self, pose: PoseLike, *, elastic: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Closure:
        """Whether the legs close at a pose and which does not, by how much: a code a state instead of an error.

        Poses that a platform cannot take by the legs of a design are out of reach of all of them (leg -1).
        """
        self._calls.refuse_elastic("closing", {"elastic": elastic})
        return closing(self._calls, {"pose": pose, "elastic": elastic}, parameters)

    def conditioning(
        self, pose: PoseLike, *, elastic: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Conditioning:
        """Condition number of the Jacobian in lengths, and its smallest singular value, the distance to singularity.

        Gears and screws do not count, rotations are arcs at the platform's size (``Conditioning``).
        """
        return self._calls.call(_CONDITIONING, (pose, elastic), "warn", parameters, False, _PLAIN, _conditioning)

    def null_space(self, pose: PoseLike, *, parameters: Parameters | None = None) -> Array:
        """Actuator forces (..., n, n - m) that do not move the platform: J^T f = 0, orthonormal.

        Of a flexible robot they do not bend it either: m is 6 + N, and there are none unless n is larger.
        """
        matrix = self.jacobian(pose, parameters=parameters)
        lost = np.isnan(matrix).any(axis=(-2, -1), keepdims=True)
        vectors = np.linalg.svd(np.where(lost, 0.0, matrix), full_matrices=True)[0]
        return np.where(lost, np.nan, vectors[..., :, matrix.shape[-1] :])

    def drift_acceleration(self, pose: PoseLike, twist: ArrayLike, *, parameters: Parameters | None = None) -> Array:
        """Acceleration (..., 6) of the platform at constant u (as of ``jacobian``): zero but for what follows."""
        states = self._calls.states([Argument("pose", pose, (4, 4)), Argument("twist", twist, (6,))], parameters)
        drift = np.zeros((states.size, 6))
        if not self._dof.full and parameters is not None:
            possible = states.evaluated(states.functions.get("rates", verdict=True))["verdict"]
            states.note(possible >= BAD_INPUT, NOT_ALLOWED)
        if self._kernels.mechanism.platform.is_constrained:
            _, drift, quality = states.functions.get("follow")(states.rows["pose"], states.rows["twist"], drift)
            states.note(~states.lost & ~(quality > SMALLEST_MARGIN), states.margin_text)
        return states.finalise("drift_acceleration", [drift], None, first)

    @property
    def generalized_coordinates(self) -> GeneralizedCoordinates:
        """The motions of a robot of fewer than six degrees of freedom, on rows of states."""
        return self._calls.own

    def coordinates(self, pose: PoseLike, *, parameters: Parameters | None = None) -> Array:
        """The robot's generalized coordinates x (..., m) of a pose (a lower-mobility robot's; see ``dof``)."""
        self._needs_dof("coordinates")
        states = self._calls.states([Argument("pose", pose, (4, 4))], parameters)
        return states.finalise("coordinates", [states.own.coordinates(states.rows["pose"])], None, first)

    def rate_map(self, pose: PoseLike, *, parameters: Parameters | None = None) -> Array:
        """E (..., m, m) with u = E xdot: from rates of the robot's generalized coordinates to u of Jacobian and mass
        matrix.

        Parameters
        ----------
        pose : (..., 4, 4) or RigidTransform
            Poses that the robot can take.
        parameters : mapping, optional
            Parameters of the robot that differ from its file's.

        Returns
        -------
        (..., m, m) array
            With J and M of ``jacobian`` and ``mass_matrix``, J E and E^T M E are those of the coordinates'
            rates: qdot = J E xdot, T = xdot^T E^T M E xdot / 2. The unit matrix where no more than one coordinate is a
            rotation of the platform.

        Examples
        --------
        >>> import numpy as np, polypod as pp
        >>> model = pp.Model("agile-eye")
        >>> x, xdot = np.array([0.2, -0.1, 0.3]), np.array([1.0, 2.0, 3.0])
        >>> pose, twist, _ = model.motion(x, xdot)
        >>> u = model.rate_map(pose) @ xdot
        >>> bool(np.allclose(model.jacobian(pose) @ u, model.rates(pose, twist)))
        True
        """
        self._needs_dof("rate_map")
        if self._kernels.mechanism.platform.is_constrained:
            return self._calls.call(_RATE_MAP, (pose,), None, parameters)
        states = self._calls.states([Argument("pose", pose, (4, 4))], parameters)
        unit = np.tile(np.eye(self._dof.count), (states.size, 1, 1))
        return states.finalise("rate_map", [unit], None, first)

    def motion(
        self,
        x: ArrayLike,
        xdot: ArrayLike | None = None,
        xddot: ArrayLike | None = None,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> PlatformMotion:
        """Pose, twist and acceleration of the platform from the robot's generalized coordinates (..., m) and their
        rates.

        Coordinates of rotations are components of the rotation vector from home, and ``xdot``, ``xddot`` their time
        derivatives: with two or more rotations not components of the angular velocity (``rate_map``).
        """
        self._needs_dof("motion")
        check_policy(errors)
        shape = (self._dof.count,)
        named = {"x": x, "xdot": xdot, "xddot": xddot}
        given = [Argument(name, np.zeros(shape) if value is None and name != "x" else value, shape)
                 for name, value in named.items()]  # fmt: skip
        states = self._calls.states(given, parameters)
        rows = states.own.motion(*states.rows.values())
        found = np.logical_and.reduce([np.isfinite(row).all(axis=tuple(range(1, row.ndim))) for row in rows])
        states.note(~found, _NO_POSE)
        return states.finalise("motion", rows, errors, lambda results: PlatformMotion(*results))

    # -- dynamics ------------------------------------------------------------------------------------------------------

    @overload
    def inverse_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        formulation: str = "virtual-power",
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: Literal[False] = False,
    ) -> Array: ...

    @overload
    def inverse_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        formulation: str = "virtual-power",
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: Literal[True],
    ) -> InverseDynamics: ...

    def inverse_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        formulation: str = "virtual-power",
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Array | InverseDynamics:
        """Actuator forces (..., n) [N or N m] for a motion, positive along growing coordinates.

        J^T f = M udot + bias - w_ext. ``wrench`` is the external wrench on the platform at the origin of its frame,
        base axes. Of more actuators than degrees of freedom the forces of least norm are given, unless ``distribution``
        says otherwise. ``full_output`` returns an ``InverseDynamics``: the forces, and the elastic accelerations
        of a flexible robot.
        """
        called = _INVERSE_DYNAMICS
        values: tuple[Any, ...] = pose, twist, acceleration, wrench, elastic, elastic_rate
        if distribution is not None:
            called, values = called.with_inputs(*_SHARES), (*values, *self._shares(distribution))
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        answer: Any = _inverse_dynamics if full_output else first
        return self._calls.call(called, values, errors, parameters, friction, formulation, answer)

    @overload
    def direct_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        force: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: Literal[False] = False,
    ) -> Array: ...

    @overload
    def direct_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        force: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: Literal[True],
    ) -> DirectDynamics: ...

    def direct_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        force: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Array | DirectDynamics:
        """Acceleration (..., 6) of the platform from actuator forces (..., n).

        ``full_output`` returns a ``DirectDynamics``: with it the elastic accelerations of a flexible robot.
        """
        called = _DIRECT_DYNAMICS
        values: tuple[Any, ...] = pose, twist, force, wrench, elastic, elastic_rate
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        answer: Any = _direct_dynamics if full_output else first
        return self._calls.call(called, values, errors, parameters, friction, _PLAIN, answer)

    def mass_matrix(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Mass matrix (..., m, m) of the whole robot with respect to u: T = u^T M u / 2; (6 + N) of a flexible one.

        u is that of ``jacobian``; ``rate_map`` gives it from the rates of a robot's generalized coordinates.
        """
        return self._calls.call(_MASS_MATRIX, (pose, elastic), errors, parameters)

    def bias(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Generalized force (..., m) of all but the acceleration: M udot + bias = J^T f + w_ext."""
        called = _BIAS
        values: tuple[Any, ...] = pose, twist, elastic, elastic_rate
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        return self._calls.call(called, values, errors, parameters, friction)

    def gravity(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """The part of the bias (..., m) that is left at rest."""
        return self.bias(pose, _REST, False, elastic=elastic, parameters=parameters, errors=errors)

    def energy(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Energy:
        """Kinetic, potential and elastic energy [J]; the last is that of a flexible platform, else zero."""
        return self._calls.call(
            _ENERGY, (pose, twist, elastic, elastic_rate), errors, parameters, False, _PLAIN, _energy
        )

    def reactions(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Reactions:
        """Wrench of every joint on its child, by leg and joint, with the actuator forces, by Newton-Euler.

        Numbers that inner stresses of an overconstrained robot leave open are NaN and named in ``indeterminate``.
        """

        def by_name(parts: list[Array]) -> Reactions:
            return Reactions.of(
                self._kernels.mechanism, parts[0], parts[1], parts[2], parts[-1], self._open_reactions, friction
            )

        called = _REACTIONS
        values: tuple[Any, ...] = pose, twist, acceleration, wrench, elastic, elastic_rate
        if distribution is not None:
            called, values = called.with_inputs(*_SHARES), (*values, *self._shares(distribution))
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        return self._calls.call(called, values, errors, parameters, friction, _PLAIN, by_name)

    def base_wrench(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Wrench (..., 6) of the robot on its base for a motion, at the origin of {B}, base axes.

        The weight and the external wrench less the rate of momentum of all bodies: what ``reactions(...).base`` is, at
        a fraction of its cost. Friction inside the robot has no part in it unless the platform is flexible.
        """
        called = _BASE_WRENCH
        values: tuple[Any, ...] = pose, twist, acceleration, wrench, elastic, elastic_rate
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        return self._calls.call(called, values, errors, parameters, friction)

    @lazy
    def _open_reactions(self) -> NDArray[np.bool_]:
        """Which numbers (joints, 6) of the joints' wrenches inner stresses leave open: the same in all states."""
        mechanism = self._kernels.mechanism
        if mechanism.platform.elastic or newton_euler.has_closed_form(mechanism):
            return np.zeros((sum(len(leg.placement.joints) for leg in mechanism.placed), 6), dtype=bool)
        kernel = self._kernels.get("reactions")
        still = [Argument(a.name, a.value if a.name != "pose" else self.robot.home.matrix, a.shape)
                 for a in self._calls.arguments(kernel, {})]  # fmt: skip
        wrenches = kernel(*batch(still).rows)[0]
        return np.asarray(np.isnan(wrenches[0]))

    def error_bound(
        self,
        function: str,
        *arguments: Any,
        friction: bool = True,
        parameters: Parameters | None = None,
        **given: Any,
    ) -> ErrorBound:
        """How far the answer of a function at states may be from the exact one by rounding: an ``ErrorBound``.

        ``function`` is the name of a method and ``arguments`` are its states, such as ``model.error_bound(
        "inverse_dynamics", pose, twist, acceleration)``. The bound is 30 roundings over the quality, times the sizes of
        the parts that the answer is the sum of (gravity, rates, accelerations, wrench, each alone): where they cancel,
        the answer is small and its error is not. It counts the rounding of the inputs, taken as exact to 1e-16. How
        far the robot's own numbers are off is another matter (``polypod accuracy``).
        """
        return error_bound(self._calls, function, arguments, friction, parameters, given)

    # -- dry friction --------------------------------------------------------------------------------------------------

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
        return static_force_range(self._rigid_calls(parameters), pose, wrench, parameters, errors)

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
        given = {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench}
        return friction_solutions(self._rigid_calls(parameters), given, parameters, errors)

    def _rigid_calls(self, parameters: Parameters | None) -> Calls:
        """Calls of the model that does not bend."""
        if parameters is not None and self.robot.flexible:
            self._kernels.design(parameters)  # refuses numbers that the modes follow from
        return self.rigid._calls

    # -- assembly modes ------------------------------------------------------------------------------------------------

    def assembly_modes(
        self, q: ArrayLike, *, reach: bool = True, parameters: Parameters | None = None
    ) -> AssemblyModes:
        """All poses with actuated coordinates q (..., n), from the robot's own equations where they are known.

        Six struts (UPS, PUS, RUS, ...) have forty solutions at most (Ronga and Vust 1995), followed from a system
        solved once; Delta robots and five-bar linkages two, planar 3-RRR six, spherical 3-RRR eight, 3-RPS and 3-PRS
        sixteen. Each is certified by Smale's alpha test, and where as many are, complex ones counted, they are proven
        to be all. For other robots Newton's iteration from many guesses gives a set that is not proven complete.

        ``reach`` looks for ways from home to the modes, which takes milliseconds each; without it a mode is unknown to
        be reachable unless its Jacobian's sign already says that it is not.
        """
        if self.robot.flexible:
            raise InputError(f"assembly_modes: {self.robot.name!r} has a flexible platform; {AS_RIGID}")
        states = self._calls.states([Argument("q", q, (len(self.actuators),))], parameters)
        found: tuple[Any, ...] = (
            self._assembly.modes(states.rows["q"], reach) if parameters is None else _modes_of_designs(states, reach)
        )
        restored: list[Any] = [states.restore(array) for array in found]
        return AssemblyModes(*restored)

    @lazy
    def _assembly(self) -> Assembly:
        return Assembly(
            self._kernels, self._dof, self.size, self._calls.own, lambda q: self.forward_kinematics(q, errors="nan")
        )

    # -- flexible platforms --------------------------------------------------------------------------------------------

    @lazy
    def modes(self) -> Modes:
        """The modes that the platform bends in."""
        from ..platforms.modes import modes_of  # finite elements, for flexible platforms only

        return modes_of(self.robot)

    def deflection(self, elastic: ArrayLike) -> Array:
        """Displacement of the attachment points (..., n, 3) [m], platform axes: Phi_d(i) q_e of Long (12)."""
        return deflection(self.modes, elastic)

    def static_equilibrium(
        self, pose: PoseLike, wrench: ArrayLike | None = None, *, parameters: Parameters | None = None
    ) -> Equilibrium:
        """The platform's shape at rest and the forces that hold it: start simulations here, not at zero."""
        given = {"pose": pose, "twist": _REST, "acceleration": _REST, "wrench": wrench}
        return steady_shape("static_equilibrium", self._calls, self.modes, given, False, parameters)

    def steady_shape(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        parameters: Parameters | None = None,
    ) -> Equilibrium:
        """The shape that a motion bends the platform to if it does not vibrate (no elastic rate or acceleration)."""
        given = {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench}
        return steady_shape("steady_shape", self._calls, self.modes, given, friction, parameters)

    # -- numbers, derivatives, symbols -------------------------------------------------------------------------------

    def parameters(self, *paths: str) -> dict[str, Array]:
        """Names and values of the robot's numbers that ``parameters=`` may replace: those named, or all.

        Paths are dotted as in a file's ``sources``, with ``*`` for any part; a leg's name may stand for its number.
        """
        return parameter_values(self.robot, paths)

    @lazy
    def derivative_functions(self) -> DerivativeFunctions:
        """The compiled derivatives."""
        return DerivativeFunctions(self)

    def derivatives(
        self,
        function: str,
        *states: Any,
        wrt: tuple[str, ...] | None = None,
        parameters: Sequence[str] | Parameters = (),
        friction: bool = True,
        errors: Errors | None = None,
        **named: Any,
    ) -> Derivatives:
        """Derivatives of ``inverse_dynamics`` or ``direct_dynamics`` at states, each (..., n, k), compiled.

        ``states`` are the function's arguments in their order. By ``pose`` they are those by a twist on its left: the
        platform displaced by v and turned by omega, base axes. ``wrt`` chooses among the function's inputs; default:
        all but elastic ones. ``parameters`` names numbers of the robot (paths), by which there are derivatives too;
        with values, as in other calls, all are at those designs, by these numbers if ``wrt`` is left out or has
        ``parameters``.
        """
        return self.derivative_functions.call(function, states, named, wrt, parameters, friction, errors)

    def regressor(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Regressor:
        """Y (..., n, k) with Y p = inverse dynamics without dry friction, p moments of all bodies and viscous friction.

        Returns a named tuple: the matrix, the names (k) and the robot's own values (k) of p, those of designs (..., k).
        """
        return self.derivative_functions.regressor(pose, twist, acceleration, errors, parameters)

    def casadi(self, name: str, friction: bool = True, formulation: str = "virtual-power") -> ca.Function:
        """A function as a ``casadi.Function`` of its inputs with the robot's numbers, symbols in and out.

        Functions that iterate (legs without a closed form, ``motion`` of a platform that moves as its legs let it,
        friction that depends on reactions) take numbers and ``MX`` symbols; the others ``SX`` too. Their derivatives
        are those of the solution, of every order.

        Parameters
        ----------
        name : str
            Name of the function, as ``kernel`` takes it.
        friction : bool
            Whether joints have friction.
        formulation : str
            Formulation of ``inverse_dynamics``.

        Returns
        -------
        casadi.Function
            Inputs and outputs have the names of the kernel's; matrices are columns, row by row.
        """
        expression = self._kernels.expression(self._kernels.mechanism, name, friction, formulation)
        if isinstance(expression, Iteration) and expression.equations is None:
            raise InputError(f"casadi: {name!r} is found by an iteration without derivatives{_INSTEAD.get(name, '')}")
        values = self._kernels.mechanism.numbers.values
        return (expression.fixed(values) if expression.parameters else expression).function

    def torch(
        self, name: str, *, parameters: Sequence[str] = (), friction: bool = True, errors: Errors | None = None
    ) -> TorchFunction:
        """``inverse_dynamics`` or ``direct_dynamics`` as a function of PyTorch tensors, batched, with gradients.

        Called with pose, twist, acceleration (force) and wrench, and with ``parameters={path: tensor}`` for the numbers
        named here. Both passes are compiled: the backward one is a vector-Jacobian product, not a Jacobian. It is made
        of the Jacobians of ``derivatives`` for legs that close by iterating, more actuators than degrees of
        freedom, friction that depends on reactions, and flexible robots: these take ``elastic`` and ``elastic_rate``
        too, and their results have the elastic accelerations after the others.

        The gradient by a pose T (4, 4) is the matrix G, zero in its last row, of least norm with
        dL = sum(G * dT) for every rigid displacement dT. So gradients by whatever numbers a program makes T from
        (angles, quaternions, rotation vectors) are exact; that by a twist on the left is [G_p; sum_k R_k x G_k],
        G_p and G_k columns of G. Steps along G itself leave the rigid poses: use ``displaced`` of the function. For a
        robot of fewer than six degrees of freedom T, twist and acceleration must be motions that it can make.
        """
        from ..adapters import Differentiable
        from ..adapters.torch_function import TorchFunction

        return TorchFunction(Differentiable(self, name, parameters, friction, errors))

    def jax(
        self, name: str, *, parameters: Sequence[str] = (), friction: bool = True, errors: Errors | None = "warn"
    ) -> JaxFunction:
        """The same on JAX arrays, as in ``torch``: in ``jit``, ``vmap``, ``grad``; reverse mode, once.

        Without ``jax_enable_x64`` JAX hands over single precision. Inputs without a derivative (those of a platform
        that moves as its legs let it) get a gradient that is not a number.
        """
        from ..adapters import Differentiable
        from ..adapters.jax_function import JaxFunction

        return JaxFunction(Differentiable(self, name, parameters, friction, errors))

    def kernel(self, name: str, friction: bool = True, formulation: str = "virtual-power") -> Kernel:
        """The bare compiled function: only shapes are checked, arrays (n, ...) in and out, for loops of microseconds.

        Outputs end with the quality of each state (below 1e-7: no answer) and, where dry friction is iterated, whether
        it converged.
        """
        return self._kernels.get(name, friction, formulation)

    # -- what a robot must be ------------------------------------------------------------------------------------------

    def _shares(self, distribution: Distribution) -> tuple[Any, Any]:
        """Weights and preload of a distribution, checked."""
        if len(self.actuators) == self._dof.count:
            raise InputError(
                f"distribution: {self.robot.name!r} has as many actuators as degrees of freedom, so its forces "
                "are unique"
            )
        if not isinstance(distribution, Distribution):
            raise InputError(
                "distribution: expected polypod.model.Distribution(weights=..., preload=...), got "
                f"{short_repr(distribution)}"
            )
        weights = distribution.weights
        if weights is not None and (batch([Argument("weights", weights, (len(self.actuators),))]).rows[0] <= 0).any():
            raise InputError(
                f"distribution: weights must be positive, got {short_repr(weights)}; an actuator with a small "
                "weight carries more"
            )
        return weights, distribution.preload

    def _needs_dof(self, name: str) -> None:
        if self._dof.full:
            raise InputError(
                f"{name}: {self.robot.name!r} has six degrees of freedom and no generalized coordinates; use poses"
            )

    def _needs_rigid(self, name: str) -> None:
        if self.robot.flexible:
            raise InputError(
                f"{name}: the generalized coordinates of {self.robot.name!r} do not determine how its platform vibrates"
            )


def _modes_of_designs(states: States, reach: bool) -> AssemblyModes:
    """Assembly modes of designs against rows of coordinates: each is a robot of its own, with equations of its own.

    All have as many rows as the longest.
    """
    assert states.designs is not None
    design, parts = states.designs.design, []
    for k in np.unique(states.which[~states.lost]).tolist():
        index = np.flatnonzero(states.which == k)
        try:
            other = Model(with_numbers(design.robot, {path: design.flat(path)[k] for path in design.values}))
        except RobotFileError as error:
            states.note(states.which == k, f"design {k}: {error}")
            continue
        parts.append((index, other.assembly_modes(states.rows["q"][index], reach=reach)))
    n, most = states.size, max((part.pose.shape[1] for _, part in parts), default=0)
    pose, flags = np.full((n, most, 4, 4), np.nan), np.zeros((3, n, most), dtype=bool)
    whole: list[Any] = [pose, *flags, np.zeros((n, most), dtype=np.int64), np.zeros(n, dtype=np.int64)]
    for index, part in parts:
        for every, own in zip(whole, part, strict=True):
            every[(index, slice(own.shape[1])) if own.ndim > 1 else index] = own
    states.finalise("assembly_modes", [pose], None, first)
    return AssemblyModes(*whole)
