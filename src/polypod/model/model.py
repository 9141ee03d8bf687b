"""The numeric face of a robot: checked calls on batches of states, compiled underneath."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from ..description import Robot
from ..errors import Fault, ImplausibleWarning, InputError, RobotFileError, UnknownNameError
from ..files import load
from ..files.robot_files import with_file_lines
from ..formulations.dry_friction import DryFriction
from ..kernels import Iteration, Kernel
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import SIMPLIFICATIONS, Simplification
from ..parameters.paths import parameter_values
from ..platforms import DegreesOfFreedom
from .actuators import ActuatorInfo, actuators_of, undriven_motion
from .adapters import Differentiable
from .architecture import architecture
from .arguments import PoseLike
from .assembly import AssemblyCalls
from .bounds import BoundCalls
from .calls import Calls
from .derivatives import Derivatives, derivative_functions
from .diagnosis import Errors
from .dynamics import DynamicCalls
from .elastic import ElasticCalls
from .friction_calls import FrictionCalls
from .kernels import Kernels, Options
from .kinematics import KinematicCalls
from .model_part import Parameters
from .results import Conditioning

if TYPE_CHECKING:
    from .adapters.jax_function import JaxFunction
    from .adapters.torch_function import TorchFunction

MAX_CONDITION = 1e3
"""Condition number of the Jacobian above which a home pose is suspicious."""
_NEAR_SINGULAR = (
    "Are platform and base similar and parallel, or do two legs share both joints? Move or rotate home, or move joints"
)
_INSTEAD = {"conditioning": "; make singular values of casadi('jacobian') in your own program"}
RIGID_FRICTION_WIDTH, FLEXIBLE_FRICTION_WIDTH = 1e-6, 1e-2
"""Default rates [m/s, rad/s] over which dry friction changes sign: a vibrating platform needs a wider one."""


class Model(ElasticCalls, KinematicCalls, AssemblyCalls, DynamicCalls, FrictionCalls, BoundCalls):
    """Kinematics and dynamics of a robot. Immutable, safe in threads; kernels compile when first used.

    Poses are (..., 4, 4) arrays or SciPy ``RigidTransform``; twists, accelerations and wrenches are (..., 6), those of
    the origin of the platform frame in base axes, linear part first; forces and coordinates are (..., n). Leading axes
    are a batch. SI units throughout. Rotation matrices of seven printed digits are accepted and made exact.

    A robot with a flexible platform has N elastic coordinates beside the frame's pose: its calls take ``elastic`` and
    ``elastic_rate`` (..., N), zero if left out, its velocity is u = [twist, elastic rates], and dynamics returns named
    tuples with the elastic accelerations.

    ``errors`` says what to do about states without an answer (out of reach, singular): ``raise`` a StateError that
    carries the other states' results, ``warn`` and return NaN in their rows, or only return NaN (``nan``). By default
    one state raises and a batch warns.

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
        self.robot = robot if isinstance(robot, Robot) else load(robot)
        if friction_width is None:
            friction_width = FLEXIBLE_FRICTION_WIDTH if self.robot.flexible else RIGID_FRICTION_WIDTH
        if simplify is not None and simplify not in SIMPLIFICATIONS:
            raise UnknownNameError("simplification", simplify, SIMPLIFICATIONS)
        options = Options(simplify, DryFriction.of(friction_width, friction_coupling, friction_law), specialise)
        self.simplify = simplify
        self._choices = {
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
            self._calls = Calls(self._kernels, self._dof, self.size)
            self._check_home()

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
        return Model(self.robot.rigid, **self._choices)  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Any, ...]:
        """A model is its robot and its choices; another process builds it from its cache of kernels."""
        return partial(Model, **self._choices), (self.robot,)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        modes = f", modes={self.modes.count}" if self.robot.flexible else ""
        return (
            f"Model({self.robot.name!r}, legs={len(self.legs)}, actuators={len(self.actuators)}, "
            f"dof={self._dof.count}{modes})"
        )

    # -- numbers, derivatives, symbols -------------------------------------------------------------------------------

    def parameters(self, *paths: str) -> dict[str, Array]:
        """Names and values of the robot's numbers that ``parameters=`` may replace: those named, or all.

        Paths are dotted as in a file's ``sources``, with ``*`` for any part; a leg's name may stand for its number.
        """
        return parameter_values(self.robot, paths)

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
        return derivative_functions(self).call(function, states, named, wrt, parameters, friction, errors)

    def regressor(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        *,
        parameters: Parameters | None = None,
        errors: Errors | None = None,
    ) -> Any:
        """Y (..., n, k) with Y p = inverse dynamics without dry friction, p moments of all bodies and viscous friction.

        Returns a named tuple: the matrix, the names (k) and the robot's own values (k) of p, those of designs (..., k).
        """
        return derivative_functions(self).regressor(pose, twist, acceleration, errors, parameters)

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
        from .adapters.torch_function import TorchFunction

        return TorchFunction(Differentiable(self, name, parameters, friction, errors))

    def jax(
        self, name: str, *, parameters: Sequence[str] = (), friction: bool = True, errors: Errors | None = "warn"
    ) -> JaxFunction:
        """The same on JAX arrays, as in ``torch``: in ``jit``, ``vmap``, ``grad``; reverse mode, once.

        Without ``jax_enable_x64`` JAX hands over single precision. Inputs without a derivative (those of a platform
        that moves as its legs let it) get a gradient that is not a number.
        """
        from .adapters.jax_function import JaxFunction

        return JaxFunction(Differentiable(self, name, parameters, friction, errors))

    def kernel(self, name: str, friction: bool = True, formulation: str = "virtual-power") -> Kernel:
        """The bare compiled function: only shapes are checked, arrays (n, ...) in and out, for loops of microseconds.

        Outputs end with the quality of each state (below 1e-7: no answer) and, where dry friction is iterated, whether
        it converged.
        """
        return self._kernels.get(name, friction, formulation)
