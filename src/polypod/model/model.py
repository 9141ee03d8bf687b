"""The numeric face of a robot: checked calls on batches of states, compiled underneath."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..assembly import Assembly, AssemblyModes, architecture
from ..clearance import Clearance
from ..description import Robot
from ..description.modes import Modes
from ..description.robot import implausibly_far
from ..errors import (
    AS_RIGID,
    Fault,
    ImplausibleWarning,
    InputError,
    Reason,
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
from ..limits import KINDS, LimitReport, RobotLimits, judge
from ..mechanism import SIMPLIFICATIONS, Simplification
from ..mechanism.acting_elements import has_elements, placed_elements
from ..mechanism.joint_motion import joint_names
from ..mechanism.kinematics import body_names
from ..mechanism.verdict import BAD_INPUT
from ..parameters.design import with_numbers
from ..parameters.paths import parameter_values
from ..platforms import DegreesOfFreedom
from ..symbols.bounded import MOST_FREE, UNLIMITED
from .actuators import ActuatorInfo, actuators_of, undriven_motion
from .arguments import Argument, PoseLike, batch, pose_matrix
from .bounds import ErrorBound, error_bound
from .calls import NOT_ALLOWED, Calls, Function, Parameters, States, first
from .clearances import Clearances
from .closing import closing
from .derivatives import DerivativeFunctions, Derivatives, Regressor
from .diagnosis import Errors, check_policy
from .discrete_step import DiscreteStep, casadi_step, discrete_step
from .distribution import CRITERIA, force_bounds, warn_of_tensions
from .elastic import deflection, steady_shape
from .forward import forward_kinematics, forward_kinematics_of_designs
from .friction import friction_solutions, static_force_range
from .generalized_coordinates import GeneralizedCoordinates
from .joints import by_joint, unwrapped
from .kernels import Kernels, Options
from .resting_pose import RestingPose, resting_pose
from .results import (
    Closure,
    Conditioning,
    DirectDynamics,
    Distribution,
    ElementState,
    Energy,
    Equilibrium,
    ForwardKinematics,
    InverseDynamics,
    PlatformMotion,
    Reactions,
)  # fmt: skip

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
_NO_POSE = Reason(
    "no pose with these coordinates was found along the path from home; stay closer to home", "not_converged"
)
_COMES_APART = Reason(
    "no pose with these coordinates and parameters was found, though the robot's own parameters have one: it is "
    "overconstrained, and with other parameters the constraints that follow from others need not hold; load a robot "
    "with these parameters, which says what degrees of freedom it has, or change all legs alike",
    "overconstrained",
)
_PLAIN = "virtual-power"
# Functions and the inputs that the methods give, in the order of their arguments.
_POSE = ("pose", "elastic", "internal")
_VELOCITY = ("pose", "twist", "elastic", "elastic_rate", "internal")
_MOTION = ("pose", "twist", "acceleration", "wrench", "elastic", "elastic_rate", "internal")
_BASE = ("base_twist", "base_acceleration")
_INVERSE_KINEMATICS = Function("inverse_kinematics", *_POSE)
_JACOBIAN = Function("jacobian", *_POSE)
_RATES = Function("rates", *_VELOCITY)
_ACCELERATIONS = Function(
    "accelerations", "pose", "twist", "acceleration", "elastic", "elastic_rate", "elastic_acceleration", "internal"
)
_TWIST = Function("twist", "pose", "qdot", "internal")
_ACCELERATION = Function("acceleration", "pose", "twist", "qddot", "internal")
_BODIES = Function("bodies", *_POSE)
_JOINT_POSITIONS = Function("joint_positions", *_POSE)
_JOINT_RATES = Function("joint_rates", *_VELOCITY)
_CONDITIONING = Function("conditioning", *_POSE)
_DIRECT_DYNAMICS = Function(
    "direct_dynamics", "pose", "twist", "force", "wrench", "elastic", "elastic_rate", "internal"
)
_MASS_MATRIX = Function("mass_matrix", *_POSE)
_BIAS = Function("bias", *_VELOCITY)
_ENERGY = Function("energy", *_VELOCITY)
_ELEMENTS = Function("elements", *_VELOCITY)
_RATE_MAP = Function("rate_map", "pose", "internal")
_FORWARD_KINEMATICS = Function("forward_kinematics", "q", "pose", "elastic", "internal")
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
    """Kinematics and dynamics of a robot, compiled on first use; immutable and thread-safe.

    M(pose) udot + bias = J^T f + w_ext, where u is the platform's twist (or its m components along the robot's degrees
    of freedom), f the actuator forces and w_ext the external wrench.

    Poses are (..., 4, 4) arrays or SciPy ``RigidTransform``. Twists, accelerations and wrenches are (..., 6): those of
    the origin of the platform frame {P}, in base axes, linear part first. Coordinates and forces are (..., n), one for
    each actuator. Leading axes are a batch; one state needs none. SI units and radians throughout. Rotation matrices
    printed to seven digits are accepted and made orthonormal.

    A robot with a flexible platform has N elastic coordinates besides the pose of its frame: its calls take ``elastic``
    and ``elastic_rate`` (..., N), its velocity is u = [twist; elastic rates], and with ``full_output`` dynamics also
    returns the elastic accelerations.

    A robot with k internal coordinates (``internal`` in its file) has these beside the pose: its calls take
    ``internal`` (..., k), zero at home, and twists and accelerations end with their rates: (..., 6 + k).

    Arguments that most methods share:

    - ``errors`` says what to do about states without an answer (out of reach, singular): ``raise`` a ``StateError``
      that carries the results of the other states, ``warn`` and return NaN in their rows, or only return NaN (``nan``).
      By default one state raises and a batch warns.
    - ``parameters`` replaces parameters of the robot, by path as ``Model.parameters`` names them: arrays (..., *shape)
      whose leading axes are a batch of designs, broadcast against the states. Functions are compiled for the robot's
      topology, so new values compile nothing.
    - ``base_twist`` and ``base_acceleration`` (..., 6) are the motion of the base itself (ships, vehicles, stages
      below) at the origin of {B}, in base axes. Pose, twist and acceleration of the platform stay relative to {B}.

    Parameters
    ----------
    robot : Robot, str or Path
        The robot, the name of one in the library, or a robot file.
    simplify : str, optional
        What a simplified model neglects, one of ``polypod.mechanism.SIMPLIFICATIONS``. Default: nothing.
    friction_width : float, optional
        Rate [m/s, rad/s] over which dry friction changes sign smoothly; 0 takes the exact sign. Default: 1e-6, or 1e-2
        for a flexible platform.
    friction_law : str, optional
        Law by which dry friction changes sign, one of ``polypod.friction.LAWS``.
    friction_coupling : {'implicit', 'explicit'}, optional
        ``implicit`` solves for friction and reactions together; ``explicit`` takes the reactions without dry friction.
    specialise : bool, optional
        Compile the robot's parameter values as constants: faster calls, but other values need another compilation.

    Attributes
    ----------
    robot : Robot
        The robot.
    legs : tuple of str
        Names of the legs.
    actuators : tuple of ActuatorInfo
        The n actuators, in the order of coordinates and forces.
    dof : tuple of str
        Names of the m degrees of freedom of the platform.
    internal : tuple of str
        Names of the k internal coordinates.
    size : float
        Mean distance of the platform's joints from the origin of {P} [m].
    simplify : str or None
        What the model neglects.

    Raises
    ------
    RobotFileError
        If the home pose is singular or the actuators leave a motion of the platform free.

    Examples
    --------
    >>> import polypod as pp
    >>> model = pp.Model("kim-ryu")
    >>> model
    Model('kim-ryu', legs=6, actuators=6, dof=6)
    >>> model.inverse_kinematics(model.robot.home.matrix).shape
    (6,)
    """

    def __new__(cls, robot: Any, **choices: Any) -> Any:
        """A model; of a file with ``stages`` the series of its robots (``polypod.series``)."""
        if isinstance(robot, (str, Path)):
            from ..stages.files import is_stages_file

            if is_stages_file(robot):
                from ..stages import series

                return series(robot, **choices)
        return super().__new__(cls)

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
        self.internal: tuple[str, ...] = self._dof.internal
        self._rest = np.zeros(6 + len(self.internal))
        with with_file_lines(robot):
            self._kernels = Kernels(self.robot, options)
            self.actuators: tuple[ActuatorInfo, ...] = actuators_of(self._kernels.mechanism)
            self.size = self.robot.platform_size
            self._home = self.robot.home.matrix
            self._plausible = 16.0 * max(self.robot.farthest, self.size) ** 2
            self._calls = Calls(self._kernels, self._dof, self.size)
            self._check_home()

    def _check_home(self) -> None:
        if len(self.actuators) < self._dof.count + len(self.internal):
            raise RobotFileError(f"robot {self.robot.name!r}", [Fault("legs", undriven_motion(self), code="undriven")])
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
        inner = np.zeros(len(self.internal)) if self.internal else None
        matrix = self.jacobian(self.robot.home.matrix, internal=inner, errors="nan")
        matrix = matrix[:, : self._kernels.mechanism.platform.count]
        if not np.isfinite(matrix).all():
            return Conditioning(np.array(np.inf), np.array(0.0))
        rows = self._kernels.mechanism.joint_scales(self.size)
        scaled = rows[:, None] * matrix * np.where(self._dof.all_turns, 1 / self.size, 1.0)
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
                raise RobotFileError(f"robot {self.robot.name!r}", [Fault(f"legs.{number}", message, code="singular")])
            seen.append(data)
        field = "home" if "home" in self.robot.model_fields_set else "legs"
        struts = len(self.robot.legs) == 6 and all(leg.kind == "UPS" for leg in self.robot.legs)
        always = architecture(self.robot) if struts else None
        advice = f"It is {always.text}" if always is not None and always.singular else _NEAR_SINGULAR
        message = (
            f"the home pose is singular: at position {list(self.robot.home.position)} the platform can move with all "
            f"actuators locked ({undriven_motion(self)}). {advice}"
        )
        raise RobotFileError(f"robot {self.robot.name!r}", [Fault(field, message, code="singular")])

    @property
    def kernels(self) -> Kernels:
        """Compiled functions, and the symbolic mechanism they are built from."""
        return self._kernels

    @property
    def mobility(self) -> DegreesOfFreedom:
        """Motions that the robot can make: twist = basis u."""
        return self._dof

    @property
    def home(self) -> Array:
        """Home pose (4, 4) of {P} in {B}, as the robot file has it."""
        return self.robot.home.matrix

    def plot(self, pose: PoseLike | None = None) -> Figure:
        """A picture of the robot.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (4, 4), optional
            Pose of {P} in {B}. Default: home.

        Returns
        -------
        matplotlib.figure.Figure
            The picture; a notebook shows it, ``savefig`` writes it. ``polypod.view`` makes an interactive one.
        """
        from ..results.figures import robot_picture

        return robot_picture(self, pose)

    @lazy
    def rigid(self) -> Model:
        """Model of the same robot with a rigid platform; the model itself if its platform is rigid."""
        if not self.robot.flexible:
            return self
        return self.alike(self.robot.rigid)

    def alike(self, robot: Robot) -> Model:
        """Model of another robot with the options of this one.

        Parameters
        ----------
        robot : Robot
            The other robot.

        Returns
        -------
        Model
            Its model.
        """
        return Model(robot, **self._choices)

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
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Actuated coordinates q of a pose.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        q : ndarray, shape (..., n)
            Coordinates of the actuators [m or rad].

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.

        Examples
        --------
        >>> import polypod as pp
        >>> model = pp.Model("kim-ryu")
        >>> model.inverse_kinematics(model.robot.home.matrix @ pp.pose(z=0.01)).round(4)
        array([0.3312, 0.3312, 0.3313, 0.3313, 0.3312, 0.3312])
        """
        return self._calls.call(_INVERSE_KINEMATICS, (pose, elastic, internal), errors, parameters)

    def jacobian(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Jacobian J of the actuated coordinates: qdot = J u.

        u is the twist of the platform or, for a robot of fewer than six degrees of freedom, its m components along
        them: those of the angular velocity for axes of rotation, and the joint's rate where a degree of freedom is a
        joint's coordinate. ``rate_map`` gives u from the rates of the coordinates that ``motion`` takes. For a flexible
        robot, u = [twist; elastic rates] and m = 6 + N.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        J : ndarray, shape (..., n, m)
            Derivatives of coordinate rates by velocities, base axes.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        return self._calls.call(_JACOBIAN, (pose, elastic, internal), errors, parameters)

    def rates(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Rates of the actuated coordinates: qdot = J u.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        qdot : ndarray, shape (..., n)
            Rates [m/s or rad/s].

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        return self._calls.call(_RATES, (pose, twist, elastic, elastic_rate, internal), errors, parameters)

    def accelerations(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        elastic_acceleration: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Accelerations of the actuated coordinates: qddot = J udot + Jdot u.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        elastic_acceleration : array_like, shape (..., N), optional
            Accelerations of the elastic coordinates [1/s^2]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        qddot : ndarray, shape (..., n)
            Accelerations [m/s^2 or rad/s^2].

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        values = pose, twist, acceleration, elastic, elastic_rate, elastic_acceleration, internal
        return self._calls.call(_ACCELERATIONS, values, errors, parameters, False, _PLAIN, _third)

    def twist(
        self,
        pose: PoseLike,
        qdot: ArrayLike,
        *,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Twist of the platform from the rates of the actuated coordinates: solves J u = qdot.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        qdot : array_like, shape (..., n)
            Rates of the actuated coordinates [m/s or rad/s].
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        twist : ndarray, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].

        Raises
        ------
        InputError
            If the platform is flexible: its coordinates do not determine how it vibrates.
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        self._needs_rigid("twist")
        return self._calls.call(_TWIST, (pose, qdot, internal), errors, parameters)

    def acceleration(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        qddot: ArrayLike,
        *,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Acceleration of the platform from those of the actuated coordinates: solves J udot = qddot - Jdot u.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        qddot : array_like, shape (..., n)
            Accelerations of the actuated coordinates [m/s^2 or rad/s^2].
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        acceleration : ndarray, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].

        Raises
        ------
        InputError
            If the platform is flexible: its coordinates do not determine how it vibrates.
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        self._needs_rigid("acceleration")
        return self._calls.call(_ACCELERATION, (pose, twist, qddot, internal), errors, parameters)

    def bodies(
        self,
        pose: PoseLike,
        *,
        at_home: Mapping[str, PoseLike] | None = None,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, Array]:
        """Poses of all bodies at a pose of the platform.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        at_home : mapping of str to array_like or RigidTransform, shape (4, 4), optional
            Frames fixed in bodies, by body, where they are in {B} when the robot is at home; an end plate's, for
            example. Default: frames that polypod chooses.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        dict of str to ndarray, shape (..., 4, 4)
            Pose of the frame of every body in {B}, by ``leg.body`` (``body`` alone if it belongs to no leg), and of
            ``platform`` itself.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        UnknownNameError
            If ``at_home`` names a body that the robot does not have.
        """

        def by_name(results: list[Array]) -> dict[str, Array]:
            placed = results[0]
            found = {name: placed[..., k, :, :] for k, name in enumerate(body_names(self._kernels.mechanism))}
            own = np.broadcast_to(np.asarray(pose_matrix(pose), dtype=float), (*placed.shape[:-3], 4, 4))
            frames = {"platform": own.copy(), **found}
            for name, frame in given.items():
                # how far the body has moved from home, after where the frame was there
                frames[name] = frames[name] @ np.linalg.inv(start[name]) @ frame
            return frames

        given = {name: np.asarray(pose_matrix(frame), dtype=float) for name, frame in (at_home or {}).items()}
        for name in given:
            if name not in (known := ("platform", *body_names(self._kernels.mechanism))):
                raise UnknownNameError("body", name, known)
        start = self.bodies(self._home, parameters=parameters) if given else {}

        return self._calls.call(_BODIES, (pose, elastic, internal), errors, parameters, False, _PLAIN, by_name)

    @lazy
    def joints(self) -> dict[str, tuple[str, ...]]:
        """Every joint of every leg as ``leg.joint``, with the names of its coordinates, in the order of the legs."""
        return joint_names(self._kernels.mechanism)

    def joint_positions(
        self,
        pose: PoseLike,
        *,
        unwrap: int | None = None,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, Array]:
        """Positions of all joints, passive ones too, at a pose of the platform.

        A joint's position is its displacement from home, of its second body against its first, plus the ``offset``
        that a file gives a driven joint (over its ``ratio``): zero at home unless the file says otherwise. It has one
        component for a prismatic [m] or revolute [rad] joint, rotation and translation for a cylindrical one, the
        angles about its first and second axis for a universal one, and for a spherical one the rotation vector, in
        base axes at home. A rod between two spherical joints spins as it likes: theirs are the shortest turns of its
        line. A flexible platform counts as its frame {P}, without what it turns at the joint by deflection.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        unwrap : int, optional
            Batch axis along which the poses are those of a motion: angles go on beyond half a turn there instead of
            jumping by a whole one. Default: every angle is within half a turn of home.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        dict of str to ndarray, shape (..., k)
            Positions [m, rad] by ``leg.joint``; ``Model.joints`` has the names of their components.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.

        Examples
        --------
        >>> import polypod as pp
        >>> model = pp.Model("hexapod")
        >>> found = model.joint_positions(model.robot.home.matrix)
        >>> {name: value.shape for name, value in found.items() if name.startswith("leg1.")}
        {'leg1.universal': (2,), 'leg1.prismatic': (1,), 'leg1.spherical': (3,)}
        """

        def by_name(results: list[Array]) -> dict[str, Array]:
            values = results[0]
            if unwrap is not None:
                values = unwrapped(values, self.joints, unwrap)
            return by_joint(values, self.joints)

        return self._calls.call(_JOINT_POSITIONS, (pose, elastic, internal), errors, parameters, False, _PLAIN, by_name)

    def joint_rates(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, Array]:
        """Rates of all joints, passive ones too: derivatives in time of ``joint_positions``.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        dict of str to ndarray, shape (..., k)
            Rates [m/s, rad/s] by ``leg.joint``; of a spherical joint those of its rotation vector.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """

        def by_name(results: list[Array]) -> dict[str, Array]:
            return by_joint(results[0], self.joints)

        values = pose, twist, elastic, elastic_rate, internal
        return self._calls.call(_JOINT_RATES, values, errors, parameters, False, _PLAIN, by_name)

    def clearance(
        self,
        pose: PoseLike,
        *,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Clearance:
        """Smallest distances between the bodies of the robot, and above its floor.

        Shapes are those that drawings have: what the robot file states by ``radius``, ``shapes``, ``base`` and
        ``floor``, else capsules between joints and plates through them. Bodies that a joint holds together are not
        compared. A flexible platform counts as it is without load.

        Parameters
        ----------
        pose : PoseLike
            Poses (..., 4, 4) of the platform.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs. Each design whose
            joints are elsewhere has shapes of its own, which take a tenth of a second.
        errors : {"raise", "warn", "nan"}, optional
            What is done about poses that the legs do not reach.

        Returns
        -------
        Clearance
            ``distance`` (..., P) [m] of P pairs of bodies by ``names``, with the ``points`` where they are nearest.

        Examples
        --------
        >>> import polypod as pp
        >>> model = pp.Model("hexapod")
        >>> found = model.clearance(model.robot.home.matrix)
        >>> len(found.names), bool(found.least > 0)
        (73, True)
        """
        names = self.clearances.function.names
        return self.clearances(
            pose,
            errors,
            parameters,
            points=True,
            answer=lambda found: Clearance(names, found[0], found[1]),
            internal=internal,
        )

    @lazy
    def clearances(self) -> Clearances:
        """The distances between the bodies of the robot, as kernels."""
        return self.rigid.clearances if self.robot.flexible else Clearances(self._calls)

    @overload
    def forward_kinematics(
        self,
        q: ArrayLike,
        guess: PoseLike | None = None,
        *,
        along: bool = False,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
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
        internal: ArrayLike | None = None,
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
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Array | ForwardKinematics:
        """Pose of the platform with given actuated coordinates, by Newton's iteration from a guess.

        Several poses have the same coordinates. The one found is near the guess and on its side of the singularities
        (det J has the sign it has at the guess): where Newton's iteration fails or crosses a singularity, the straight
        line from the coordinates of the guess is followed in steps, and then Newton's iteration starts from poses
        around the guess. Inverse kinematics of the result gives q again, but for a turn of a drive, which a pose does
        not show (a wrist that has turned by 3.3 rad has the pose of -2.98 rad); legs closed by iteration are closed
        anew, from home. A state without an answer takes about a millisecond, or 0.1 s with such legs. A pose that was
        not found may still exist.

        Parameters
        ----------
        q : array_like, shape (..., n)
            Coordinates of the actuators [m or rad].
        guess : array_like or RigidTransform, shape (..., 4, 4), optional
            Pose from which the iteration starts. Default: home.
        along : bool, optional
            Whether the rows of q (..., T, n) are a log: the pose of each row is the guess of the next, and ``guess``
            that of the first. A row without an answer is skipped. Logs of one batch are processed side by side.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Guess for the internal coordinates [m, rad]. Default: home. The result has those found with
            ``full_output``.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path. Designs get Newton's iteration from the guess only.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.
        full_output : bool, optional
            Whether to return a ``ForwardKinematics`` with status, residual and number of steps.

        Returns
        -------
        pose : ndarray or RigidTransform, shape (..., 4, 4)
            Pose of {P} in {B}; a ``RigidTransform`` if the guess is one and every state has an answer. With
            ``full_output`` a ``ForwardKinematics``.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.

        Warns
        -----
        ImplausibleWarning
            If a pose is farther from home than ten times the robot's size: millimetres are probably meant.

        Examples
        --------
        >>> import numpy as np, polypod as pp
        >>> model = pp.Model("kim-ryu")
        >>> pose = model.robot.home.matrix @ pp.pose(z=0.01, yaw=0.1)
        >>> bool(np.allclose(model.forward_kinematics(model.inverse_kinematics(pose)), pose))
        True
        """
        start = self._home if guess is None else guess
        if internal is None and self.internal:
            internal = np.zeros(len(self.internal))
        if parameters is None and not along and not full_output:
            check_policy(errors)
            found = self._calls.plain(_FORWARD_KINEMATICS, (q, start, elastic, internal))
            if found is not None:
                pose = found[0]
                if pose.size == 16:  # one state: what lies near the base is not looked at further
                    item = pose.item
                    x, y, z = item(3), item(7), item(11)
                    if x * x + y * y + z * z < self._plausible:
                        return pose
                self._warn_if_far(pose)
                return pose
        self._calls.refuse_elastic("forward_kinematics", {"elastic": elastic, "internal": internal})
        result: Array | ForwardKinematics
        if parameters is None:
            result = forward_kinematics(self._calls, q, start, (elastic, internal), along, errors, full_output)
        else:
            result = forward_kinematics_of_designs(
                self._calls, q, start, (elastic, internal), along, parameters, errors, full_output
            )
        self._warn_if_far(result.pose if isinstance(result, ForwardKinematics) else result)
        return result

    def _warn_if_far(self, pose: PoseLike) -> None:
        """Poses far beyond the robot are hardly meant: millimetres where metres are needed."""
        position = np.asarray(pose_matrix(pose), dtype=float)[..., :3, 3]
        if 3 * np.fmax.reduce(position * position, axis=None, initial=0.0) < self._plausible:
            return
        far = implausibly_far(self.robot, position)
        if far is not None:
            text = f"forward_kinematics: coordinates q put the platform {far}"
            warnings.warn(text, ImplausibleWarning, stacklevel=3)

    @lazy
    def robot_limits(self) -> RobotLimits:
        """All limits of the robot file as data: of drives, legs, joints and the platform."""
        return RobotLimits.of_robot(self.robot, self._kernels.mechanism, self.actuators, lambda: self.clearances.groups)

    def limits(
        self,
        pose: PoseLike,
        twist: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
        wrench: ArrayLike | None = None,
        *,
        time: ArrayLike | None = None,
        friction: bool = True,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
    ) -> LimitReport:
        """Use of every limit of the robot, by name: 1 where a limit is reached.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of {P} in {B}: adds ranges and cones of legs and joints.
        twist : array_like, shape (..., 6), optional
            Twist [v; omega] of the origin of {P}, base axes: adds speeds of drives, motors and platform.
        acceleration : array_like, shape (..., 6), optional
            Acceleration [vdot; omegadot] of the origin of {P}, base axes: adds forces, powers, accelerations and joint
            loads.
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        time : array_like, shape (T,), optional
            Times [s] of states along the last axis of the batch: adds limits of whole motions (continuous force,
            stroke, bearing life).
        friction : bool, optional
            Whether friction in the joints is included.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform; its poses are judged, not its motion.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]. Default: zero.
        base_acceleration : array_like, shape (..., 6), optional
            Acceleration of the base itself at the origin of {B}, base axes [m/s^2, rad/s^2]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        LimitReport
            Names, values, bounds and uses (..., k), and the limits that were left out, with the reason.
        """
        self._calls.refuse_elastic("limits", {"elastic": elastic, "internal": internal})
        motion = {"twist": twist, "acceleration": acceleration, "wrench": wrench}
        self._check_states(parameters, pose=pose, internal=internal, **motion)
        if elastic is None and not self.robot.flexible:
            moving = {"base_twist": base_twist, "base_acceleration": base_acceleration}
            base = {name: value for name, value in moving.items() if value is not None}
            return judge(
                self,
                pose,
                twist,
                acceleration,
                wrench,
                time=time,
                friction=friction,
                parameters=parameters,
                base=base,
                internal=internal,
            )
        if twist is not None:
            raise InputError(f"limits: {self.robot.name!r} has a flexible platform; {AS_RIGID}, or judge a study of it")
        return self.joint_ranges(pose, elastic=elastic, internal=internal, parameters=parameters)

    def _check_states(self, parameters: Parameters | None, **given: Any) -> None:
        """Raise for arguments of states, by name (None: left out), that are not what they must be."""
        wide = self._rest.shape
        shapes = {"pose": (4, 4), "internal": (len(self.internal),), "twist": wide, "acceleration": wide}
        needed = ("pose", "internal") if self.internal else ("pose",)
        arguments = [Argument(k, v, shapes.get(k, (6,))) for k, v in given.items() if v is not None or k in needed]
        self._calls.states(arguments, parameters)

    def joint_ranges(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
    ) -> LimitReport:
        """Quantities of the legs that the robot limits (leg lengths, rail positions, joint cones), with their ranges.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        LimitReport
            Values and ranges, by leg and name.
        """
        self._calls.refuse_elastic("joint_ranges", {"elastic": elastic, "internal": internal})
        return self._calls.limits({"pose": pose, "elastic": elastic, "internal": internal}, parameters)

    def closing(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
    ) -> Closure:
        """Whether the legs close at a pose and, if not, which leg fails and by how much.

        Poses that the legs of a design do not allow the platform to take are out of reach of all legs (leg -1).

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        Closure
            Status, leg and excess of each state, instead of an error.
        """
        self._calls.refuse_elastic("closing", {"elastic": elastic, "internal": internal})
        return closing(self._calls, {"pose": pose, "elastic": elastic, "internal": internal}, parameters)

    def conditioning(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
    ) -> Conditioning:
        """Condition number of the Jacobian in lengths, and its smallest singular value, the distance to singularity.

        Rows are motions of the actuated joints without gears and screws; rotations are arcs at the platform's size.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        Conditioning
            Condition number and distance to singularity of each state.
        """
        return self._calls.call(
            _CONDITIONING, (pose, elastic, internal), "warn", parameters, False, _PLAIN, _conditioning
        )

    def null_space(
        self, pose: PoseLike, *, internal: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Array:
        """Actuator forces that do not move the platform: an orthonormal basis of J^T f = 0.

        For a flexible robot, they do not bend the platform either: m is 6 + N, and there are none unless n is larger.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        ndarray, shape (..., n, n - m)
            Basis vectors as columns.
        """
        matrix = self.jacobian(pose, internal=internal, parameters=parameters)
        lost = np.isnan(matrix).any(axis=(-2, -1), keepdims=True)
        vectors = np.linalg.svd(np.where(lost, 0.0, matrix), full_matrices=True)[0]
        return np.where(lost, np.nan, vectors[..., :, matrix.shape[-1] :])

    def drift_acceleration(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
    ) -> Array:
        """Acceleration of the platform at constant u (as in ``jacobian``): Bdot u, where twist = B u.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        acceleration : ndarray, shape (..., 6)
            Drift acceleration at the origin of {P}, base axes [m/s^2, rad/s^2]. It is zero unless the legs couple the
            platform's motions.
        """
        given = [*self._calls.place_arguments(pose, internal), Argument("twist", twist, self._rest.shape)]
        states = self._calls.states(given, parameters)
        drift = np.zeros((states.size, len(self._rest)))
        if not self._dof.full and parameters is not None:
            possible = states.evaluated(states.functions.get("rates", verdict=True))["verdict"]
            states.note(possible >= BAD_INPUT, NOT_ALLOWED)
        if self._kernels.mechanism.platform.is_constrained:
            rows = {**states.rows, "acceleration": drift}
            follow = states.functions.get("follow")
            _, drift, quality = follow(*(rows[p.name] for p in follow.inputs))
            states.note(~states.lost & ~(quality > SMALLEST_MARGIN), states.margin_text)
        return states.finalise("drift_acceleration", [drift], None, first)

    @property
    def generalized_coordinates(self) -> GeneralizedCoordinates:
        """Motions of a robot of fewer than six degrees of freedom, on rows of states."""
        return self._calls.own

    def coordinates(
        self, pose: PoseLike, *, internal: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Array:
        """Generalized coordinates x of a pose, for a robot of fewer than six degrees of freedom.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        x : ndarray, shape (..., m)
            Coordinates in the order of ``dof`` [m or rad]; rotations are components of the rotation vector from home.

        Raises
        ------
        InputError
            If the robot has six degrees of freedom.
        """
        self._needs_dof("coordinates")
        states = self._calls.states(self._calls.place_arguments(pose, internal), parameters)
        x = states.own.coordinates(states.rows["pose"], states.rows.get("internal"))
        return states.finalise("coordinates", [x], None, first)

    def rate_map(
        self, pose: PoseLike, *, internal: ArrayLike | None = None, parameters: Parameters | None = None
    ) -> Array:
        """Map E from rates of the generalized coordinates to the velocity u of Jacobian and mass matrix: u = E xdot.

        With J and M of ``jacobian`` and ``mass_matrix``, qdot = J E xdot and T = xdot^T E^T M E xdot / 2.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        E : ndarray, shape (..., m, m)
            The identity where at most one coordinate is a rotation of the platform.

        Raises
        ------
        InputError
            If the robot has six degrees of freedom.

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
            return self._calls.call(_RATE_MAP, (pose, internal), None, parameters)
        states = self._calls.states(self._calls.place_arguments(pose, internal), parameters)
        unit = np.tile(np.eye(self._kernels.mechanism.platform.count), (states.size, 1, 1))
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
        """Pose, twist and acceleration of the platform from generalized coordinates and their rates.

        For robots of fewer than six degrees of freedom. Internal coordinates follow those of the platform in x, and
        their rates and accelerations follow the platform's in the result. Coordinates of rotations are components of
        the rotation vector from home, and ``xdot`` and ``xddot`` their time derivatives: with two or more rotations
        these are not components of the angular velocity (see ``rate_map``).

        Parameters
        ----------
        x : array_like, shape (..., m)
            Generalized coordinates in the order of ``dof`` [m or rad].
        xdot : array_like, shape (..., m), optional
            Their rates. Default: zero.
        xddot : array_like, shape (..., m), optional
            Their accelerations. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        PlatformMotion
            Pose, twist and acceleration of the origin of {P}, base axes.

        Raises
        ------
        InputError
            If the robot has six degrees of freedom.
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        self._needs_dof("motion")
        check_policy(errors)
        shape = (self._kernels.mechanism.platform.count,)
        named = {"x": x, "xdot": xdot, "xddot": xddot}
        given = [Argument(name, np.zeros(shape) if value is None and name != "x" else value, shape)
                 for name, value in named.items()]  # fmt: skip
        states = self._calls.states(given, parameters)
        rows = states.own.motion(*states.rows.values())
        found = np.logical_and.reduce([np.isfinite(row).all(axis=tuple(range(1, row.ndim))) for row in rows])
        apart = np.zeros_like(found)
        known = self._kernels.mechanism.mobility
        if parameters is not None and known is not None and known.redundant and not found.all():
            own = self._calls.own.motion(*(row[~found] for row in states.rows.values()))[0]
            apart[~found] = np.isfinite(own).all(axis=(1, 2))
        states.note(apart, _COMES_APART)
        states.note(~found & ~apart, _NO_POSE)
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
        internal: ArrayLike | None = None,
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
        internal: ArrayLike | None = None,
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
        internal: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Array | InverseDynamics:
        """Actuator forces for a motion: J^T f = M udot + bias - w_ext.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        friction : bool, optional
            Whether friction in the joints is included.
        formulation : str, optional
            Formulation of dynamics: ``virtual-power``, ``newton-euler``, ``lagrange`` or ``recursive-matrix``.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        distribution : Distribution, optional
            How redundant actuators share the load. Default: forces within the limits of their drives, nearest to
            those of least norm; where the load needs more, those that exceed the limits least.
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]. Default: zero.
        base_acceleration : array_like, shape (..., 6), optional
            Acceleration of the base itself at the origin of {B}, base axes [m/s^2, rad/s^2]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.
        full_output : bool, optional
            Whether to return an ``InverseDynamics``, which also has the elastic accelerations of a flexible robot.

        Returns
        -------
        f : ndarray, shape (..., n)
            Forces that the actuators apply [N or N m], positive along growing coordinates. With ``full_output`` an
            ``InverseDynamics``.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.

        Examples
        --------
        Forces that hold the platform at home, one state and a batch of three:

        >>> import numpy as np, polypod as pp
        >>> model = pp.Model("kim-ryu")
        >>> home = model.robot.home.matrix
        >>> model.inverse_dynamics(home, np.zeros(6), np.zeros(6)).shape
        (6,)
        >>> model.inverse_dynamics(home, np.zeros((3, 6)), np.zeros(6)).shape
        (3, 6)
        """
        called = _INVERSE_DYNAMICS
        values: tuple[Any, ...] = pose, twist, acceleration, wrench, elastic, elastic_rate, internal
        if distribution is not None:
            shares = self.distribution_inputs(distribution)
            called, values = called.with_inputs(*shares), (*values, *shares.values())
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        answer: Any = _inverse_dynamics if full_output else first
        found = self._calls.call(called, values, errors, parameters, friction, formulation, answer)
        if errors is None and distribution is None and "tension" in self.robot_limits.kinds:
            warn_of_tensions(self.robot_limits, found.force if full_output else found)
        return found

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
        internal: ArrayLike | None = None,
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
        internal: ArrayLike | None = None,
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
        internal: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
        full_output: bool = False,
    ) -> Array | DirectDynamics:
        """Acceleration of the platform from actuator forces: M udot = J^T f + w_ext - bias.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        force : array_like, shape (..., n)
            Forces that the actuators apply [N or N m], positive along growing coordinates.
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        friction : bool, optional
            Whether friction in the joints is included.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]. Default: zero.
        base_acceleration : array_like, shape (..., 6), optional
            Acceleration of the base itself at the origin of {B}, base axes [m/s^2, rad/s^2]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.
        full_output : bool, optional
            Whether to return a ``DirectDynamics``, which also has the elastic accelerations of a flexible robot.

        Returns
        -------
        acceleration : ndarray, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2]. With ``full_output`` a
            ``DirectDynamics``.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        called = _DIRECT_DYNAMICS
        values: tuple[Any, ...] = pose, twist, force, wrench, elastic, elastic_rate, internal
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        answer: Any = _direct_dynamics if full_output else first
        return self._calls.call(called, values, errors, parameters, friction, _PLAIN, answer)

    def mass_matrix(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Mass matrix M of the whole robot with respect to u: T = u^T M u / 2.

        u is that of ``jacobian``; ``rate_map`` gives it from the rates of generalized coordinates.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        M : ndarray, shape (..., m, m)
            Symmetric and positive definite; m is 6 + N for a flexible robot.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        return self._calls.call(_MASS_MATRIX, (pose, elastic, internal), errors, parameters)

    def bias(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Generalized force of everything but the acceleration: bias = J^T f + w_ext - M udot.

        It contains gravity, springs and other elements, Coriolis and centrifugal terms, friction and, for a flexible
        robot, elastic forces.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        friction : bool, optional
            Whether friction in the joints is included.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]. Default: zero.
        base_acceleration : array_like, shape (..., 6), optional
            Acceleration of the base itself at the origin of {B}, base axes [m/s^2, rad/s^2]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        bias : ndarray, shape (..., m)
            Generalized force, base axes at the origin of {P} [N, N m].

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        called = _BIAS
        values: tuple[Any, ...] = pose, twist, elastic, elastic_rate, internal
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        return self._calls.call(called, values, errors, parameters, friction)

    def gravity(
        self,
        pose: PoseLike,
        *,
        elastic: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Gravity terms: the bias at rest, without friction.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        ndarray, shape (..., m)
            Generalized force, base axes at the origin of {P} [N, N m]; for a flexible robot with its elastic forces.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        return self.bias(
            pose, self._rest, False, elastic=elastic, internal=internal, parameters=parameters, errors=errors
        )

    def energy(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Energy:
        """Kinetic, potential and elastic energy of the whole robot: T = u^T M u / 2, V = -sum m g.r + V_elements.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]; kinetic energy is then that in space.
            Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        Energy
            Energies [J]; the elastic one is that of a flexible platform, zero for others.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        called, values = _ENERGY, (pose, twist, elastic, elastic_rate, internal)
        if base_twist is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, None)  # type: ignore[assignment]
        return self._calls.call(called, values, errors, parameters, False, _PLAIN, _energy)

    def elements(
        self,
        pose: PoseLike,
        twist: ArrayLike | None = None,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> dict[str, ElementState]:
        """Springs, dampers and other elements by name: length or displacement, rate, force, potential and loss.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6), optional
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s]. Default: zero.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        dict of str to ElementState
            Elements of the file, then passive joints with a stiffness (``LEG.JOINT``); empty for a robot without any.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        placed = placed_elements(self._kernels.mechanism)
        if not placed:
            self._check_states(parameters, pose=pose, twist=twist)
            return {}

        def by_name(parts: list[Array]) -> dict[str, ElementState]:
            found, start = {}, 0
            for number, one in enumerate(placed):
                own = slice(start, start := start + len(one.axes))
                s, rate, force = (part[..., own] for part in parts[:3])
                found[one.name] = ElementState(one.axes, s, rate, force, parts[3][..., number], parts[4][..., number])
            return found

        values = pose, self._rest if twist is None else twist, elastic, elastic_rate, internal
        return self._calls.call(_ELEMENTS, values, errors, parameters, False, _PLAIN, by_name)

    def equilibrium(
        self, force: ArrayLike | None = None, wrench: ArrayLike | None = None, start: PoseLike | None = None
    ) -> RestingPose:
        """Where the robot rests: gravity, springs, actuator forces and an external wrench balance.

        Parameters
        ----------
        force : (..., n) of the actuators; zero (they are free) unless given
        wrench : (..., 6) on the platform; zero unless given
        start : poses (..., 4, 4) from which the nearest resting pose is sought; home unless given

        Returns
        -------
        Poses and whether each is stable. A ``StateError`` where nothing holds some motion of the platform. Friction,
        which may hold the robot elsewhere, is left out.
        """
        self.robot.refuse_internal("equilibrium")
        return resting_pose(self, force, wrench, start)

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
        internal: ArrayLike | None = None,
        distribution: Distribution | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Reactions:
        """Wrench of every joint on its child body, with the actuator forces, by Newton-Euler.

        Components that internal stresses of an overconstrained robot leave open are NaN and named in ``indeterminate``.
        Forces of springs and other elements are in ``elements``, also of those in joints: they are not part of a
        joint's reaction. Those of couplings are in ``couplings``, and part of the reactions of the joints they couple,
        as the force of an actuator is.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        friction : bool, optional
            Whether friction in the joints is included.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        distribution : Distribution, optional
            How redundant actuators share the load. Default: forces within the limits of their drives, nearest to
            those of least norm; where the load needs more, those that exceed the limits least.
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]. Default: zero.
        base_acceleration : array_like, shape (..., 6), optional
            Acceleration of the base itself at the origin of {B}, base axes [m/s^2, rad/s^2]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        Reactions
            Reactions by leg and joint, actuator forces, forces of elements, and the wrench on the base.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """

        def by_name(parts: list[Array]) -> Reactions:
            mechanism = self._kernels.mechanism
            couplings = parts[-2] if mechanism.has_couplings else None
            return Reactions.of(
                mechanism,
                parts[0],
                parts[1],
                parts[2],
                parts[-1],
                self._open_reactions(friction, parts[0].ndim > 2),
                friction,
                couplings,
            )

        called = _REACTIONS
        values: tuple[Any, ...] = pose, twist, acceleration, wrench, elastic, elastic_rate, internal
        if distribution is not None:
            shares = self.distribution_inputs(distribution)
            called, values = called.with_inputs(*shares), (*values, *shares.values())
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        found = self._calls.call(called, values, errors, parameters, friction, _PLAIN, by_name)
        if not has_elements(self._kernels.mechanism):
            return found
        acting = self.elements(
            pose,
            twist,
            elastic=elastic,
            elastic_rate=elastic_rate,
            internal=internal,
            parameters=parameters,
            errors="nan",
        )
        return replace(found, elements={name: one.force for name, one in acting.items()})

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
        internal: ArrayLike | None = None,
        base_twist: ArrayLike | None = None,
        base_acceleration: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Array:
        """Wrench of the robot on its base: weight and external wrench minus the rate of momentum of all bodies.

        It equals ``reactions(...).base`` at a fraction of the cost. Friction inside the robot has no part in it unless
        the platform is flexible.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        friction : bool, optional
            Whether friction in the joints is included.
        elastic : array_like, shape (..., N), optional
            Elastic coordinates of a flexible platform. Default: zero.
        elastic_rate : array_like, shape (..., N), optional
            Rates of the elastic coordinates [1/s]. Default: zero.
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has them [m, rad].
        base_twist : array_like, shape (..., 6), optional
            Twist of the base itself at the origin of {B}, base axes [m/s, rad/s]. Default: zero.
        base_acceleration : array_like, shape (..., 6), optional
            Acceleration of the base itself at the origin of {B}, base axes [m/s^2, rad/s^2]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        ndarray, shape (..., 6)
            Wrench [f; m] at the origin of {B}, base axes, in N and N m.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        called = _BASE_WRENCH
        values: tuple[Any, ...] = pose, twist, acceleration, wrench, elastic, elastic_rate, internal
        if base_twist is not None or base_acceleration is not None:
            called, values = called.with_inputs(*_BASE), (*values, base_twist, base_acceleration)
        return self._calls.call(called, values, errors, parameters, friction)

    def _open_reactions(self, friction: bool, several: bool) -> NDArray[np.bool_]:
        """Which numbers (joints, 6) of the joints' wrenches inner stresses leave open: the same in all states.

        The code that is called with ``friction``, of one state or of ``several``, says so, and no other need be
        compiled; that without friction, if with it there is no answer at home.
        """

        def at_home() -> NDArray[np.bool_]:
            mechanism = self._kernels.mechanism
            if mechanism.platform.elastic or newton_euler.has_closed_form(mechanism):
                return np.zeros((sum(len(leg.placement.joints) for leg in mechanism.placed), 6), dtype=bool)
            pose = np.repeat(self.robot.home.matrix[None], 8 if several else 1, axis=0)
            given = {"pose": pose, "internal": np.zeros(len(self.internal))}
            for with_friction in (friction, False):
                kernel = self._kernels.get("reactions", with_friction, verdict=True)
                wrenches, *_, verdict = kernel(*batch(self._calls.arguments(kernel, given)).rows)
                if not verdict.any():
                    break
            return np.asarray(np.isnan(wrenches[0]))

        return self.kept((__name__, "open reactions"), at_home)

    def error_bound(
        self,
        function: str,
        *arguments: Any,
        friction: bool = True,
        parameters: Parameters | None = None,
        **given: Any,
    ) -> ErrorBound:
        """Bound of the rounding error of a function's result.

        The bound is 30 roundings divided by the quality of the state, times the magnitudes of the terms that the result
        is a sum of (gravity, rates, accelerations, wrench, each alone): where they cancel, the result is small but its
        error is not. It includes the rounding of the inputs, taken as exact to 1e-16, but not the uncertainty of the
        robot's parameters (``polypod.analysis.budget``).

        Parameters
        ----------
        function : str
            Name of the method, such as ``inverse_dynamics``.
        *arguments : array_like
            Its states, in the order of the method.
        friction : bool, optional
            Whether friction in the joints is included.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        **given : array_like
            States by name.

        Returns
        -------
        ErrorBound
            Bounds of each result, quality and number of correct digits.

        Raises
        ------
        UnknownNameError
            If the function has no bound or no such argument.
        """
        self.robot.refuse_internal("error_bound")
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
        """Range of each actuator's force within which dry friction holds the robot at rest.

        The other actuators have the forces that hold it without friction. Friction limits that depend on joint loads
        use the loads at the end of the range, where friction is at its limit: each end is exact to 1e-7 of the
        interval.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        StaticForceRange
            Lower and upper force of each actuator, and the joints that may stick.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        self.robot.refuse_internal("static_force_range")
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
        """Number of solutions of friction and the reactions it depends on, for a given motion, with proof.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        FrictionSolutions
            Status, loads of the joints with Coulomb friction, and a bound of contraction.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        self.robot.refuse_internal("friction_solutions")
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
        """All assembly modes (forward-kinematics solutions) for given actuator positions.

        They come from the robot's own equations where these are known. Six struts (UPS, PUS, RUS, ...) have at most
        forty solutions (Ronga and Vust 1995), followed from a system solved once; Delta robots and five-bar linkages
        two, planar 3-RRR six, spherical 3-RRR eight, 3-RPS and 3-PRS sixteen. Each is certified by Smale's alpha test;
        where as many as the bound are certified, complex ones counted, they are proven to be all. For other robots,
        Newton's iteration from many guesses gives a set that is not proven complete.

        Parameters
        ----------
        q : array_like, shape (..., n)
            Coordinates of the actuators [m or rad].
        reach : bool, optional
            Whether to look for a path from home to each mode, which takes milliseconds each. Without it, the sign of
            det J can only prove that a mode is not reachable.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        AssemblyModes
            Poses and what is known about them.

        Raises
        ------
        InputError
            If the platform is flexible.
        """
        self.robot.refuse_internal("assembly_modes")
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
            self._kernels,
            self._dof,
            self.size,
            self._calls.own,
            lambda q: self.forward_kinematics(q, errors="nan"),
            self._within,
        )

    def _within(self, pose: Array) -> NDArray[np.bool_]:
        """Whether poses (n, 4, 4), of other assembly modes too, keep ranges, cones and clearances (n,)."""
        own = self.robot_limits.only(lambda one: set(KINDS[one.kind].needs) <= {"limited", "clearance"})
        pose = np.ascontiguousarray(pose)
        mechanism = self._kernels.mechanism
        given = {"limited": LimitReport.of(mechanism, self._kernels.get("limited")(pose)[:, 1:]).value}
        if "clearance" in own.kinds:
            given["clearance"] = self.clearances.kernel()(pose)[0]
        return np.asarray(own.evaluate(given).inside.all(axis=-1))

    # -- flexible platforms --------------------------------------------------------------------------------------------

    @lazy
    def modes(self) -> Modes:
        """Vibration modes of the platform."""
        from ..platforms.modes import modes_of  # finite elements, for flexible platforms only

        return modes_of(self.robot)

    def deflection(self, elastic: ArrayLike) -> Array:
        """Displacement of the attachment points of a flexible platform: Phi_d(i) q_e, equation (12) of Long et al.

        Parameters
        ----------
        elastic : array_like, shape (..., N)
            Elastic coordinates.

        Returns
        -------
        ndarray, shape (..., n, 3)
            Displacement of each attachment point, platform axes [m].
        """
        return deflection(self.modes, elastic)

    def static_equilibrium(
        self, pose: PoseLike, wrench: ArrayLike | None = None, *, parameters: Parameters | None = None
    ) -> Equilibrium:
        """Shape of a flexible platform at rest and the forces that hold it.

        Start simulations from this shape rather than from zero, which vibrates.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        Equilibrium
            Elastic coordinates and actuator forces.
        """
        given = {"pose": pose, "twist": self._rest, "acceleration": self._rest, "wrench": wrench}
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
        """Shape of a flexible platform in a motion without vibration: elastic rates and accelerations are zero.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        wrench : array_like, shape (..., 6), optional
            External wrench [f; m] on the platform at the origin of {P}, base axes [N, N m]. Default: zero.
        friction : bool, optional
            Whether friction in the joints is included.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.

        Returns
        -------
        Equilibrium
            Elastic coordinates and actuator forces.
        """
        given = {"pose": pose, "twist": twist, "acceleration": acceleration, "wrench": wrench}
        return steady_shape("steady_shape", self._calls, self.modes, given, friction, parameters)

    # -- numbers, derivatives, symbols -------------------------------------------------------------------------------

    def parameters(self, *paths: str) -> dict[str, Array]:
        """Names and values of the robot's parameters, which ``parameters=`` of other methods may replace.

        Parameters
        ----------
        *paths : str
            Dotted paths as in a file's ``sources``, with ``*`` for any part; a leg's name may stand for its index.
            Default: all parameters.

        Returns
        -------
        dict of str to ndarray
            Values by path.

        Examples
        --------
        >>> import polypod as pp
        >>> model = pp.Model("kim-ryu")
        >>> model.parameters("platform.mass", "gravity")
        {'platform.mass': array(10.7673), 'gravity': array([0.  , 0.  , 9.81])}
        """
        return parameter_values(self.robot, paths)

    @lazy
    def derivative_functions(self) -> DerivativeFunctions:
        """Compiled derivatives of dynamics."""
        return DerivativeFunctions(self)

    def step(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        force: ArrayLike,
        dt: float,
        wrench: ArrayLike | None = None,
        *,
        substeps: int = 1,
        friction: bool = True,
        sensitivities: bool = True,
    ) -> DiscreteStep:
        """The state after a time dt at constant forces, and its derivatives by state and forces.

        x_1 = F(x_0, f): steps of RK4 as ``polypod.simulate`` takes them, and delta x_1 = A delta x_0 + B delta f,
        exact derivatives of those steps, from the compiled derivatives of the direct dynamics. For predictive control,
        estimation and linear models in discrete time.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Velocity of the origin of {P}, then angular velocity, base axes.
        force : array_like, shape (..., n)
            Actuator forces, constant during the step.
        dt : float
            Time [s].
        wrench : array_like, shape (..., 6), optional
            External wrench on the platform. Default: none.
        substeps : int, optional
            Steps of RK4 in dt.
        friction : bool, optional
            Whether friction in the joints is included; dry friction is refused.
        sensitivities : bool, optional
            Whether A and B are computed.

        Returns
        -------
        DiscreteStep
            Pose, twist, A (..., 12, 12) and B (..., 12, n).

        Raises
        ------
        InputError
            For a robot with generalized coordinates of its own, a flexible platform or dry friction.
        StateError
            If a state on the way has no answer (out of reach, singular).

        Examples
        --------
        >>> model = Model("hexapod")
        >>> home, still = model.robot.home.matrix, [0.0] * 6
        >>> after = model.step(home, still, model.inverse_dynamics(home, still, still), 0.01)
        >>> after.a.shape, after.b.shape, bool(abs(after.pose - home).max() < 1e-12)
        ((12, 12), (12, 6), True)
        """
        return discrete_step(self, pose, twist, force, dt, wrench, substeps, friction, sensitivities)

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
        """Derivatives of ``inverse_dynamics`` or ``direct_dynamics`` by their inputs and by parameters, compiled.

        Parameters
        ----------
        function : str
            ``inverse_dynamics`` or ``direct_dynamics``.
        *states : array_like
            Its arguments, in its order.
        wrt : tuple of str, optional
            Inputs to differentiate by. Default: all but the elastic ones.
        parameters : sequence of str, or mapping of str to array_like, optional
            Paths of parameters to differentiate by too. A mapping gives their values as in other calls: all derivatives
            are then at those designs, and by these parameters if ``wrt`` is left out or contains ``parameters``.
        friction : bool, optional
            Whether friction in the joints is included.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.
        **named : array_like
            Arguments by name.

        Returns
        -------
        Derivatives
            d(result)/d(input), each (..., n, k). Derivatives by ``pose`` are by a twist on its left: the platform
            displaced by v and rotated by omega, base axes.

        Raises
        ------
        UnknownNameError
            If the function or an input is unknown.
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        return self.derivative_functions.call(function, states, named, wrt, parameters, friction, errors)

    def regressor(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        internal: ArrayLike | None = None,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Regressor:
        """Regressor Y of inverse dynamics without dry friction: f = Y p.

        p contains the mass moments of all bodies and viscous friction.

        Parameters
        ----------
        pose : array_like or RigidTransform, shape (..., 4, 4)
            Pose of the platform frame {P} in the base frame {B}.
        twist : array_like, shape (..., 6)
            Twist [v; omega] of the origin of {P}, base axes [m/s, rad/s].
        acceleration : array_like, shape (..., 6)
            Acceleration [vdot; omegadot] of the origin of {P}, base axes [m/s^2, rad/s^2].
        internal : array_like, shape (..., k), optional
            Internal coordinates of a robot that has such [m, rad]; twist and acceleration end with their rates then.
        parameters : mapping of str to array_like, optional
            Values that replace parameters of the robot, by path; leading axes are a batch of designs.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        Regressor
            Y (..., n, k), the names of p and the robot's values of it.

        Raises
        ------
        StateError
            If a state has no answer (out of reach, singular) and ``errors`` asks for it; carries the other results.
        """
        self._calls.refuse_elastic("regressor", {"internal": internal})
        given = {"pose": pose, "twist": twist, "acceleration": acceleration, "internal": internal}
        return self.derivative_functions.regressor(given, errors, parameters)

    def casadi(self, name: str, friction: bool = True, formulation: str = "virtual-power") -> ca.Function:
        """A function as a ``casadi.Function`` of its inputs, with the robot's parameter values.

        Functions that iterate (legs without a closed form, ``motion`` of a platform that moves as its legs allow,
        friction that depends on reactions) take numbers and ``MX`` symbols; the others also ``SX``. Derivatives are
        those of the solution, of every order.

        Parameters
        ----------
        name : str
            Name of the function, as in ``kernel``, or ``discrete_step``: pose and twist a time after others, as of
            ``step`` with one step of RK4, from pose, twist, force, wrench and time.
        friction : bool, optional
            Whether friction in the joints is included.
        formulation : str, optional
            Formulation of dynamics: ``virtual-power``, ``newton-euler``, ``lagrange`` or ``recursive-matrix``.

        Returns
        -------
        casadi.Function
            Inputs and outputs have the names of the kernel's; matrices are columns, row by row.

        Raises
        ------
        InputError
            If the function is found by an iteration without derivatives.
        """
        if name == "discrete_step":
            return casadi_step(self, friction)
        expression = self._kernels.expression(self._kernels.mechanism, name, friction, formulation)
        if isinstance(expression, Iteration) and expression.equations is None:
            raise InputError(f"casadi: {name!r} is found by an iteration without derivatives{_INSTEAD.get(name, '')}")
        values = self._kernels.mechanism.numbers.values
        return (expression.fixed(values) if expression.parameters else expression).function

    def torch(
        self, name: str, *, parameters: Sequence[str] = (), friction: bool = True, errors: Errors | None = None
    ) -> TorchFunction:
        """``inverse_dynamics`` or ``direct_dynamics`` as a batched, differentiable function of PyTorch tensors.

        Call it with pose, twist, acceleration (or force) and wrench, and with ``parameters={path: tensor}`` for the
        parameters named here. Both passes are compiled; the backward pass is a vector-Jacobian product. It is built
        from the Jacobians of ``derivatives`` for legs that close by iteration, redundant actuators, friction that
        depends on reactions, and flexible robots; the latter also take ``elastic`` and ``elastic_rate`` and return the
        elastic accelerations after the other results.

        The gradient by a pose T (4, 4) is the matrix G of least norm, zero in its last row, with dL = sum(G * dT) for
        every rigid displacement dT, so gradients by whatever T is computed from (angles, quaternions, rotation vectors)
        are exact. The gradient by a twist on the left is [G_p; sum_k R_k x G_k], with G_p and G_k columns of G. Steps
        along G itself leave the rigid poses: use ``displaced`` of the function. For a robot of fewer than six degrees
        of freedom, T, twist and acceleration must be motions that it can make.

        Parameters
        ----------
        name : str
            ``inverse_dynamics`` or ``direct_dynamics``.
        parameters : sequence of str, optional
            Paths of robot parameters that the function takes as tensors.
        friction : bool, optional
            Whether friction in the joints is included.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer. Default: raise for one state,
            warn for a batch.

        Returns
        -------
        TorchFunction
            The function.
        """
        self.robot.refuse_internal("torch")
        from ..adapters import Differentiable
        from ..adapters.torch_function import TorchFunction

        return TorchFunction(Differentiable(self, name, parameters, friction, errors))

    def jax(
        self, name: str, *, parameters: Sequence[str] = (), friction: bool = True, errors: Errors | None = "warn"
    ) -> JaxFunction:
        """``inverse_dynamics`` or ``direct_dynamics`` as a function of JAX arrays, for ``jit``, ``vmap`` and ``grad``.

        As ``torch``; reverse mode, first derivatives only. Without ``jax_enable_x64`` JAX passes single precision.
        Inputs without a derivative (those of a platform that moves as its legs allow) get a gradient of NaN.

        Parameters
        ----------
        name : str
            ``inverse_dynamics`` or ``direct_dynamics``.
        parameters : sequence of str, optional
            Paths of robot parameters that the function takes as arrays.
        friction : bool, optional
            Whether friction in the joints is included.
        errors : str, optional
            ``raise``, ``warn`` or ``nan``: what to do about states without an answer.

        Returns
        -------
        JaxFunction
            The function.
        """
        self.robot.refuse_internal("jax")
        from ..adapters import Differentiable
        from ..adapters.jax_function import JaxFunction

        return JaxFunction(Differentiable(self, name, parameters, friction, errors))

    def kernel(self, name: str, friction: bool = True, formulation: str = "virtual-power") -> Kernel:
        """The bare compiled function, for loops of microseconds: only shapes are checked.

        Parameters
        ----------
        name : str
            Name of the function.
        friction : bool, optional
            Whether friction in the joints is included.
        formulation : str, optional
            Formulation of dynamics: ``virtual-power``, ``newton-euler``, ``lagrange`` or ``recursive-matrix``.

        Returns
        -------
        Kernel
            Function of arrays (n, ...). Its outputs end with the quality of each state (below 1e-7: no answer) and,
            where dry friction is iterated, whether it converged.
        """
        return self._kernels.get(name, friction, formulation)

    # -- what a robot must be ------------------------------------------------------------------------------------------

    def distribution_inputs(self, distribution: Distribution) -> dict[str, Any]:
        """Inputs of functions that a distribution gives, checked: what ``inverse_dynamics`` does with it.

        Parameters
        ----------
        distribution : Distribution
            How redundant actuators share the load.

        Returns
        -------
        dict of str to array_like
            ``weights`` and ``preload`` (None: the default), ``low`` and ``high`` if it has bounds.
        """
        count = len(self.actuators)
        if count == self._dof.count:
            raise InputError(
                f"distribution: {self.robot.name!r} has as many actuators as degrees of freedom, so its forces "
                "are unique; leave it out",
                code="not_redundant",
            )
        if not isinstance(distribution, Distribution):
            raise InputError(
                "distribution: expected pp.Distribution(weights=..., preload=..., bounds=...), got "
                f"{short_repr(distribution)}"
            )
        weights, preload, bounds, criterion = distribution
        if weights is not None and (batch([Argument("weights", weights, (count,))]).rows[0] <= 0).any():
            raise InputError(
                f"distribution: weights must be positive, got {short_repr(weights)}; an actuator with a small "
                "weight carries more"
            )
        if criterion not in CRITERIA:
            raise UnknownNameError("criterion", criterion, CRITERIA)
        if bounds is None:
            if criterion != CRITERIA[0]:
                raise InputError(f"distribution: criterion {criterion!r} needs bounds=(low, high) or bounds='drives'")
            if self._kernels.mechanism.drive_bounds is None:
                return {"weights": weights, "preload": preload}
            bounds = -np.inf, np.inf
        low, high = force_bounds(self.robot_limits, bounds)
        if count - self._dof.count > MOST_FREE:
            raise InputError(
                f"distribution: bounds are for at most {MOST_FREE} more actuators than degrees of freedom, and "
                f"{self.robot.name!r} has {count - self._dof.count} more; leave bounds out",
                code="redundancy",
            )
        if criterion != CRITERIA[0]:
            if preload is not None:
                raise InputError(f"distribution: criterion {criterion!r} replaces the preload; give one of them")
            preload = {"middle": 0.5 * (low + high), "lowest": low, "highest": high}[criterion]
            if (np.abs(preload) >= 0.1 * UNLIMITED).any():
                raise InputError(
                    f"distribution: criterion {criterion!r} needs finite bounds of all actuators, got "
                    f"{short_repr(bounds)}",
                    code="bounds",
                )
        return {"weights": weights, "preload": preload, "low": low, "high": high}

    def _needs_dof(self, name: str) -> None:
        if self._dof.full:
            raise InputError(
                f"{name}: {self.robot.name!r} has six degrees of freedom and no generalized coordinates; use poses",
                code="six_dof",
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
