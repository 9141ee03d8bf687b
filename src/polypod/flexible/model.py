"""The numeric face of a robot with a flexible platform."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..description import Robot
from ..description.modes import Modes
from ..errors import InputError, StateError
from ..files import load
from ..friction.dry import DryFriction
from ..kernels import Kernel
from ..mechanism import Freedoms
from ..model import Conditioning, LimitReport, Model
from ..model.arguments import Argument, PoseLike, batch
from ..model.calls import Calls
from ..model.diagnosis import Errors
from ..model.reactions import Reactions
from ..trajectories import Motion, Trajectory
from .kernels import FlexibleKernels
from .path import FlexiblePath, follow
from .platforms import modes_of, on_modes
from .results import ActuatorMotion, Equilibrium, FlexibleAccelerations, FlexibleEnergy, FlexibleForces, FlexibleSystem

Array = NDArray[np.float64]
Answered = TypeVar("Answered")
_NO_WRENCH = np.zeros(6)
_REST = np.zeros(6)


class FlexibleModel:
    """A six-freedom robot whose platform bends in given modes (Long, Khalil and Martinet).

    The state is the pose and twist of the platform's floating frame, base axes, and the elastic coordinates and rates
    (..., N). ``robot`` is one whose file has a flexible platform; ``modes`` are another platform for any robot, their
    attachment points the legs'. An external ``wrench`` acts on the body's own point at the origin, which the
    deformation displaces. ``errors``, ``friction_width`` and ``friction_coupling`` as in :class:`polypod.Model`, but
    for the width of 0.01 m/s or rad/s: joints of a platform that vibrates turn about at any instant, and integration
    must resolve that.
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        modes: Modes | None = None,
        *,
        friction_width: float = 1e-2,
        friction_coupling: Literal["implicit", "explicit"] = "implicit",
    ) -> None:
        dry = DryFriction.of(friction_width, friction_coupling)
        given = robot if isinstance(robot, Robot) else load(robot)
        self.robot = given if modes is None else on_modes(given, modes)
        self.modes = modes_of(self.robot)
        self.legs: tuple[str, ...] = tuple(leg.name for leg in self.robot.legs)
        self.kernels = FlexibleKernels(self.robot, self.modes, dry)
        # mean distance of the platform's joints from its origin [m]
        self.size = float(np.mean([np.linalg.norm(leg.platform) for leg in self.robot.legs])) or 1.0
        self._calls = Calls(self.kernels, Freedoms(self.kernels.robot), self.size)

    def __repr__(self) -> str:
        return f"FlexibleModel({self.robot.name!r}, modes={self.modes.count})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A model is its robot and its choices; another process builds it from its cache of kernels."""
        dry = self.kernels.dry
        return _rebuilt, (self.robot, dry.law.width, dry.coupling)

    @cached_property
    def rigid(self) -> Model:
        """The same robot on a platform that does not bend."""
        dry = self.kernels.dry
        return Model(self.kernels.robot, friction_width=dry.law.width, friction_coupling=dry.coupling)

    # -- kinematics ------------------------------------------------------------------------------------------------

    def inverse_kinematics(self, pose: PoseLike, elastic: ArrayLike, *, errors: Errors | None = None) -> Array:
        """Actuated coordinates (..., n) [m] of the deformed robot."""
        q: Array = self._calls.call("inverse_kinematics", self._place(pose, elastic), errors)
        return q

    def jacobian(self, pose: PoseLike, elastic: ArrayLike, *, errors: Errors | None = None) -> Array:
        """Rates of the actuated coordinates for a twist of the frame alone (..., n, 6)."""
        matrix: Array = self._calls.call("jacobian", self._place(pose, elastic), errors)
        return matrix

    def actuators(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        elastic: ArrayLike,
        elastic_rate: ArrayLike,
        acceleration: ArrayLike | None = None,
        elastic_acceleration: ArrayLike | None = None,
        *,
        errors: Errors | None = None,
    ) -> ActuatorMotion:
        """Rates and accelerations of the actuated coordinates; accelerations not given are zero."""
        n = self.modes.count
        bent = np.zeros(n) if elastic_acceleration is None else elastic_acceleration
        arguments = [
            *self._state(pose, twist, elastic, elastic_rate),
            Argument("acceleration", _REST if acceleration is None else acceleration, (6,)),
            Argument("elastic_acceleration", bent, (n,)),
        ]
        found: ActuatorMotion = self._calls.call("actuators", arguments, errors, lambda parts: ActuatorMotion(*parts))
        return found

    def limits(self, pose: PoseLike, elastic: ArrayLike) -> LimitReport:
        """Leg lengths, rail positions and joint cones that the robot limits, by leg and name."""
        states = self._calls.checked(self._place(pose, elastic))
        values = self.kernels.get("limited")(*states.rows)[:, 1:]
        return LimitReport.of(self.kernels.mechanism, states.restore(values))

    def conditioning(self, pose: PoseLike, elastic: ArrayLike) -> Conditioning:
        """Condition number of the frame's Jacobian and its distance to singularity, as :meth:`polypod.Model`'s."""
        scale = np.repeat([1.0, 1 / self.size], 3)
        return Conditioning.of(self.jacobian(pose, elastic, errors="nan") * scale)

    def deflection(self, elastic: ArrayLike) -> Array:
        """Displacement of the attachment points (..., n, 3) [m], platform axes: Phi_d(i) q_e of (12)."""
        rows = batch([Argument("elastic", elastic, (self.modes.count,))])
        bent = np.einsum("iak,nk->nia", self.modes.attachment_shapes, rows.rows[0])
        return rows.restore(bent)

    # -- dynamics --------------------------------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        elastic: ArrayLike,
        elastic_rate: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        errors: Errors | None = None,
    ) -> FlexibleForces:
        """Actuator forces and elastic accelerations for a desired acceleration of the frame, Long (44)-(49)."""
        arguments = self._state(pose, twist, elastic, elastic_rate)
        arguments += [Argument("acceleration", acceleration, (6,)), self._wrench(wrench)]
        return self._dynamics("inverse_dynamics", arguments, friction, errors, lambda parts: FlexibleForces(*parts))

    def direct_dynamics(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        elastic: ArrayLike,
        elastic_rate: ArrayLike,
        force: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        errors: Errors | None = None,
    ) -> FlexibleAccelerations:
        """Acceleration of the frame and elastic accelerations from actuator forces, Long (44), (46)."""
        arguments = self._state(pose, twist, elastic, elastic_rate)
        arguments += [Argument("force", force, (len(self.legs),)), self._wrench(wrench)]
        return self._dynamics("direct_dynamics", arguments, friction, errors, lambda p: FlexibleAccelerations(*p))

    def reactions(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        elastic: ArrayLike,
        elastic_rate: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
        *,
        errors: Errors | None = None,
    ) -> Reactions:
        """Wrench of every joint on its child by leg and joint; ``on_platform`` are the forces f_i of Long (39)."""
        arguments = self._state(pose, twist, elastic, elastic_rate)
        arguments += [Argument("acceleration", acceleration, (6,)), self._wrench(wrench)]

        def named(parts: list[Array]) -> Reactions:
            wrenches, axes, force = parts
            none_open = np.zeros(wrenches.shape[-2:], dtype=bool)
            return Reactions.of(self.kernels.mechanism, wrenches, axes, force, none_open)

        return self._dynamics("reactions", arguments, friction, errors, named)

    def system(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        elastic: ArrayLike,
        elastic_rate: ArrayLike,
        *,
        errors: Errors | None = None,
    ) -> FlexibleSystem:
        """Mass matrix, bias and actuator Jacobian of the whole robot."""
        arguments = self._state(pose, twist, elastic, elastic_rate)
        found: FlexibleSystem = self._calls.call("system", arguments, errors, lambda parts: FlexibleSystem(*parts))
        return found

    def energy(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        elastic: ArrayLike,
        elastic_rate: ArrayLike,
        *,
        errors: Errors | None = None,
    ) -> FlexibleEnergy:
        """Kinetic, gravity's and elastic energy."""
        arguments = self._state(pose, twist, elastic, elastic_rate)
        found: FlexibleEnergy = self._calls.call("energy", arguments, errors, lambda parts: FlexibleEnergy(*parts))
        return found

    def static_equilibrium(self, pose: PoseLike, wrench: ArrayLike | None = None) -> Equilibrium:
        """The platform's shape at rest and the forces that hold it: start simulations here, not at zero."""
        return self._steady("static_equilibrium", pose, _REST, _REST, wrench, False)

    def steady_shape(
        self,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        friction: bool = True,
    ) -> Equilibrium:
        """The shape that a motion bends the platform to if it does not vibrate (no elastic rate or acceleration)."""
        return self._steady("steady_shape", pose, twist, acceleration, wrench, friction)

    def follow(
        self,
        trajectory: Trajectory,
        times: ArrayLike,
        wrench: Callable[[Motion], Array] | None = None,
        friction: bool = True,
        *,
        elastic: ArrayLike | None = None,
        elastic_rate: ArrayLike | None = None,
        step: float | None = None,
        vibration: bool = True,
        progress: Callable[[float], None] = lambda time: None,
    ) -> FlexiblePath:
        """Forces along a motion of the platform frame, and how the platform bends meanwhile (Long, section 6).

        ``wrench`` gives the external wrench (n, 6) for a motion of n states. The platform starts in the shape that the
        first instant's motion bends it to, unless ``elastic`` (N,) says otherwise. The elastic coordinates are
        integrated by RK4 in steps that the robot's fastest mode allows, or of ``step`` [s] at most. ``progress`` is
        told the time reached. A shape that runs away is a :class:`~polypod.errors.StateError` that says when; so is a
        robot whose frame cannot be led exactly, however stiff its platform. Without ``vibration`` the platform has the
        steady shape of every instant, which every robot has.
        """
        start = elastic, elastic_rate
        return follow(self, trajectory, times, wrench, friction, start, step, vibration, progress)

    def kernel(self, name: str, friction: bool = False) -> Kernel:
        """The bare compiled function, as :meth:`polypod.Model.kernel`."""
        return self.kernels.get(name, friction)

    # -- how calls are made ------------------------------------------------------------------------------------------

    def _place(self, pose: PoseLike, elastic: ArrayLike) -> list[Argument]:
        return [Argument("pose", pose, (4, 4)), Argument("elastic", elastic, (self.modes.count,))]

    def _state(self, pose: PoseLike, twist: ArrayLike, elastic: ArrayLike, rate: ArrayLike) -> list[Argument]:
        where, bent = self._place(pose, elastic)
        return [where, Argument("twist", twist, (6,)), bent, Argument("elastic_rate", rate, (self.modes.count,))]

    def _wrench(self, wrench: ArrayLike | None) -> Argument:
        if wrench is None:
            return Argument("wrench", _NO_WRENCH, (6,))
        argument = Argument("wrench", wrench, (6,))
        self.check_wrench(batch([argument]).rows[0])
        return argument

    def check_wrench(self, values: Array) -> None:
        """Raise for wrenches (n, 6) that act where the modes have no shape."""
        for part, field, numbers in (("force", "origin_shape", slice(3)), ("moment", "origin_rotation", slice(3, 6))):
            if getattr(self.modes, field) is None and np.any(values[:, numbers] != 0):
                raise InputError(
                    f"wrench: got a {part} at the platform's origin, where the modes have no shape for it, so that its "
                    f"elastic forces are not known; give {field}"
                )

    def _dynamics(
        self,
        name: str,
        arguments: list[Argument],
        friction: bool,
        errors: Errors | None,
        answer: Callable[[list[Array]], Answered],
    ) -> Answered:
        found: Answered = self._calls.call(name, arguments, errors, answer, friction=friction)
        return found

    def _steady(
        self,
        name: str,
        pose: PoseLike,
        twist: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None,
        friction: bool,
    ) -> Equilibrium:
        if not np.all(self.modes.stiffness > 0):
            raise InputError(f"{name}: every mode needs a positive stiffness")
        arguments = [Argument("pose", pose, (4, 4)), Argument("twist", twist, (6,))]
        arguments += [Argument("acceleration", acceleration, (6,)), self._wrench(wrench)]
        states = self._calls.checked(arguments)
        elastic, force, converged, _ = self.kernels.get("steady_shape", friction)(*states.rows)
        # a shape larger than the platform solves the equations of small deflections and means nothing
        with np.errstate(invalid="ignore"):
            small = np.linalg.norm(self.deflection(elastic), axis=-1).max(axis=-1) < self.size
        bad = ~((converged != 0) & small)
        result = Equilibrium(states.restore(elastic), states.restore(force))
        if bad.any():
            index = np.flatnonzero(bad)
            poses = np.ascontiguousarray(np.broadcast_to(states.rows[0], (states.size, 4, 4))[index])
            raise self._no_shape(name, poses, index, states.size, result)
        return result

    def _no_shape(self, name: str, poses: Array, index: NDArray[np.int64], of: int, result: Equilibrium) -> StateError:
        """Why there is no shape: the undeformed robot is out of reach or singular, or the platform is too soft."""
        reason = "the platform is too soft for its load there: it would bend by more than its own size, or buckles"
        try:
            self._calls.call("inverse_kinematics", self._place(poses, np.zeros(self.modes.count)), "raise")
        except StateError as error:
            reason = error.reasons[0]
        told = f"no shape of the platform found for {len(index)} of {of} poses" if of > 1 else "no shape found"
        return StateError(f"{name}: {told}: {reason}", index, [reason] * len(index), result)


def _rebuilt(robot: Robot, width: float, coupling: Literal["implicit", "explicit"]) -> FlexibleModel:
    return FlexibleModel(robot, friction_width=width, friction_coupling=coupling)
