"""The numeric face of a robot with a flexible platform."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..description import Robot, load
from ..errors import InputError, StateError, UnknownNameError
from ..formulations.friction import has_dry_friction
from ..kernels import Kernel
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..model.arguments import Argument, Batch, PoseLike, batch, first_not_finite
from ..model.checks import check_poses
from ..model.diagnosis import Errors, check_policy, reasons, report
from ..model.kernels import recipe
from ..symbols.expression import Expression, Iteration
from .dynamics import FlexibleDynamics
from .modes import Modes

Array = NDArray[np.float64]
_NO_WRENCH = np.zeros(6)
_WITH_FRICTION = ("inverse_dynamics", "direct_dynamics", "reactions")
FUNCTIONS = (*_WITH_FRICTION, "inverse_kinematics", "system", "energy", "static_equilibrium", "margins")
# Attachment points of modes and legs come from different files; a tenth of a millimetre on a metre is the same point.
_SAME_POINT = 1e-4


class FlexibleForces(NamedTuple):
    """Actuator forces (..., n) [N] and elastic accelerations (..., N)."""

    force: Array
    elastic_acceleration: Array


class FlexibleAccelerations(NamedTuple):
    """Acceleration of the platform frame (..., 6) and elastic accelerations (..., N)."""

    acceleration: Array
    elastic_acceleration: Array


class FlexibleEnergy(NamedTuple):
    """Kinetic, gravity's and elastic energy [J]; gravity's is -sum m g.r from the base origin."""

    kinetic: Array
    potential: Array
    elastic: Array


class FlexibleSystem(NamedTuple):
    """M (..., 6+N, 6+N), bias (..., 6+N) and J (..., n, 6+N) of M (A, q'') + bias = J^T f, base axes, no friction."""

    mass_matrix: Array
    bias: Array
    jacobian: Array


class Equilibrium(NamedTuple):
    """Elastic coordinates (..., N) at rest under gravity, and the actuator forces (..., n) that hold the robot."""

    elastic: Array
    force: Array


class FlexibleModel:
    """A six-freedom robot whose platform bends in given modes (Long, Khalil and Martinet).

    The state is the pose and twist of the platform's floating frame, base axes, and the elastic coordinates and rates
    (..., N). The modes' mass replaces the rigid platform's; their attachment points must be the legs'. An external
    ``wrench`` acts on the body's own point at the origin, which the deformation displaces. ``errors`` as in
    :class:`polypod.Model`.
    """

    def __init__(self, robot: Robot | str | Path, modes: Modes) -> None:
        self.robot = robot if isinstance(robot, Robot) else load(robot)
        if not isinstance(modes, Modes):
            raise InputError(f"modes: a polypod.flexible.Modes is needed, got {type(modes).__name__}")
        self.modes = modes
        self.legs: tuple[str, ...] = tuple(leg.name for leg in self.robot.legs)
        _check_attachments(self.robot, modes)
        self._lock = threading.RLock()
        self._made: dict[tuple[str, bool], Kernel] = {}
        self._dynamics: FlexibleDynamics | None = None

    def __repr__(self) -> str:
        return f"FlexibleModel({self.robot.name!r}, modes={self.modes.count})"

    def inverse_kinematics(self, pose: PoseLike, elastic: ArrayLike, *, errors: Errors | None = None) -> Array:
        """Actuated coordinates (..., n) [m] of the deformed robot."""
        arguments = [Argument("pose", pose, (4, 4)), Argument("elastic", elastic, (self.modes.count,))]
        return self._call("inverse_kinematics", arguments, False, errors)[0]

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
        return FlexibleForces(*self._call("inverse_dynamics", arguments, friction, errors))

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
        return FlexibleAccelerations(*self._call("direct_dynamics", arguments, friction, errors))

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
    ) -> Array:
        """Force of every leg on the platform at its attachment point (..., n, 3), base axes: f_i of Long (39)."""
        arguments = self._state(pose, twist, elastic, elastic_rate)
        arguments += [Argument("acceleration", acceleration, (6,)), self._wrench(wrench)]
        return self._call("reactions", arguments, friction, errors)[0]

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
        return FlexibleSystem(*self._call("system", self._state(pose, twist, elastic, elastic_rate), False, errors))

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
        return FlexibleEnergy(*self._call("energy", self._state(pose, twist, elastic, elastic_rate), False, errors))

    def static_equilibrium(self, pose: PoseLike, wrench: ArrayLike | None = None) -> Equilibrium:
        """The platform's shape at rest and the forces that hold it: start simulations here, not at zero."""
        if not np.all(self.modes.stiffness > 0):
            raise InputError("static_equilibrium: every mode needs a positive stiffness")
        arguments = [Argument("pose", pose, (4, 4)), self._wrench(wrench)]
        states = self._checked(arguments)
        elastic, force, change, _ = self._kernel("static_equilibrium", False)(*states.rows)
        bad = ~(change <= 1e-10 * np.abs(elastic).max(axis=1, initial=1e-300))
        result = Equilibrium(states.restore(elastic), states.restore(force))
        if bad.any():
            raise StateError(
                f"static_equilibrium: no equilibrium found for {int(bad.sum())} of {len(bad)} poses; the platform is "
                "too soft for its load there, or the pose is out of reach or singular",
                np.flatnonzero(bad),
                result=result,
            )
        return result

    def kernel(self, name: str, friction: bool = False) -> Kernel:
        """The bare compiled function, as :meth:`polypod.Model.kernel`."""
        return self._kernel(name, friction)

    # -- how calls are made ------------------------------------------------------------------------------------------

    def _state(self, pose: PoseLike, twist: ArrayLike, elastic: ArrayLike, rate: ArrayLike) -> list[Argument]:
        n = self.modes.count
        return [
            Argument("pose", pose, (4, 4)),
            Argument("twist", twist, (6,)),
            Argument("elastic", elastic, (n,)),
            Argument("elastic_rate", rate, (n,)),
        ]

    def _wrench(self, wrench: ArrayLike | None) -> Argument:
        if wrench is None:
            return Argument("wrench", _NO_WRENCH, (6,))
        argument = Argument("wrench", wrench, (6,))
        values = batch([argument]).rows[0]
        for part, field, numbers in (("force", "origin_shape", slice(3)), ("moment", "origin_rotation", slice(3, 6))):
            if getattr(self.modes, field) is None and np.any(values[:, numbers] != 0):
                raise InputError(
                    f"wrench: got a {part} at the platform's origin, where the modes have no shape for it, so that its "
                    f"elastic forces are not known; give {field}"
                )
        return argument

    def _checked(self, arguments: list[Argument]) -> Batch:
        states = batch(arguments)
        check_poses(states.rows[0], "pose", bool(states.shape))
        return states

    def _call(self, name: str, arguments: list[Argument], friction: bool, errors: Errors | None) -> list[Array]:
        check_policy(errors)
        states = self._checked(arguments)
        kernel = self._kernel(name, friction)
        outputs = dict(zip((p.name for p in kernel.outputs), kernel(*states.rows), strict=True))
        quality = outputs.pop("quality", None)
        results: list[Array] = list(outputs.values())
        bad = ~np.all([np.isfinite(r).all(axis=tuple(range(1, r.ndim))) for r in results], axis=0)
        if quality is not None:
            bad |= ~(quality > SMALLEST_MARGIN)
        if bad.any():
            first_not_finite(states, arguments)
            for result in results:
                result[bad] = np.nan
        restored = [states.restore(result) for result in results]
        if bad.any():
            report(
                name, bad, lambda index: self._reasons(arguments, states, index), restored, bool(states.shape), errors
            )
        return restored

    def _reasons(self, arguments: list[Argument], states: Batch, index: NDArray[np.int64]) -> list[str]:
        given = {argument.name: row for argument, row in zip(arguments, states.rows, strict=True)}
        chosen = [
            np.ascontiguousarray(np.broadcast_to(given[name], (states.size, *given[name].shape[1:]))[index])
            for name in ("pose", "elastic")
        ]
        margins = self._kernel("margins", False)(*chosen)
        return reasons(Mechanism(self.robot), margins)

    def _kernel(self, name: str, friction: bool) -> Kernel:
        if name not in FUNCTIONS:
            raise UnknownNameError("kernel", str(name), FUNCTIONS)
        friction = friction and name in _WITH_FRICTION
        with self._lock:
            key = (name, friction)
            if key not in self._made:
                made = recipe(self.robot, repr(key).encode() + fingerprint(self.modes))
                self._made[key] = Kernel(partial(self._expression, name, friction), made)
            return self._made[key]

    def _expression(self, name: str, friction: bool) -> Expression | Iteration:
        if self._dynamics is None:
            mechanism = Mechanism(self.robot)
            _check_legs(mechanism)
            self._dynamics = FlexibleDynamics(mechanism, self.modes)
        if friction:
            self.check_friction(self._dynamics.mechanism)
        plain: dict[str, Callable[[], Expression | Iteration]] = {
            "inverse_kinematics": self._dynamics.inverse_kinematics,
            "margins": self._dynamics.margins,
            "system": self._dynamics.system,
            "energy": self._dynamics.energy,
            "static_equilibrium": self._dynamics.static_equilibrium,
        }
        if name in plain:
            return plain[name]()
        made: Any = getattr(self._dynamics, name)
        return made(friction)  # type: ignore[no-any-return]

    def check_friction(self, mechanism: Mechanism) -> None:
        """Raise if the robot has friction that the flexible model cannot have."""
        if has_dry_friction(mechanism):
            raise InputError(
                f"friction: {self.robot.name!r} has dry friction, which the flexible model does not have; pass "
                "friction=False, or load a robot with viscous friction only"
            )
        spherical = [
            getattr(leg.leg, joint.friction).viscous
            for leg in mechanism.legs
            for joint in leg.placement.joints
            if "platform" in (joint.parent, joint.child) and joint.friction
        ]
        if any(spherical) and self.modes.attachment_rotations is None:
            raise InputError(
                "friction: viscous friction in the platform's joints needs the rotation shapes at the attachment "
                "points (attachment_rotations); give them or pass friction=False"
            )


def _check_attachments(robot: Robot, modes: Modes) -> None:
    if robot.freedoms:
        raise InputError(f"robot: {robot.name!r} has {len(robot.freedoms)} freedoms; a flexible platform needs six")
    if len(modes.attachments) != len(robot.legs):
        raise InputError(f"modes: {len(robot.legs)} attachment points are needed, got {len(modes.attachments)}")
    for leg, point in zip(robot.legs, modes.attachments, strict=True):
        off = float(np.linalg.norm(np.array(leg.platform) - point))
        if off > _SAME_POINT * max(1.0, float(np.linalg.norm(leg.platform))):
            raise InputError(
                f"modes: attachment point {point.tolist()} is {off:.3g} m from the platform joint of {leg.name} "
                f"{list(leg.platform)}; give the points in the order of the legs"
            )


def _check_legs(mechanism: Mechanism) -> None:
    for leg in mechanism.legs:
        if leg.uses_axes:
            raise InputError(
                f"robot: {leg.name} ({leg.leg.kind}) turns with the platform's axes; a flexible platform needs legs "
                "that end in spherical joints, which know its attachment point only"
            )


def fingerprint(modes: Modes) -> bytes:
    """All numbers of the modes that dynamics depends on."""
    digest = hashlib.sha256()
    for field in dataclasses.fields(modes):
        value = getattr(modes, field.name)
        digest.update(field.name.encode())
        digest.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
    return digest.digest()
