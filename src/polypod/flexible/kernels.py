"""The functions of a robot on a flexible platform by name, built and compiled when first used."""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections.abc import Callable
from functools import partial

import numpy as np

from ..description import Robot
from ..description.modes import Modes
from ..errors import InputError, UnknownNameError
from ..friction.dry import DryFriction
from ..friction.joints import friction_of, has_dry_friction
from ..kernels import Expression, Iteration, Kernel
from ..mechanism import Mechanism
from ..model.kernels import recipe
from . import functions
from .dynamics import FlexibleDynamics
from .path_kernel import path_step

_PLAIN: dict[str, Callable[[FlexibleDynamics], Expression | Iteration]] = {
    "inverse_kinematics": functions.inverse_kinematics,
    "actuators": functions.actuators,
    "jacobian": functions.jacobian,
    "margins": functions.margins,
    "limited": functions.limited,
    "system": functions.system,
    "energy": functions.energy,
}
_WITH_FRICTION = ("inverse_dynamics", "direct_dynamics", "reactions", "path_step", "steady_shape")
_INTEGRATED: dict[str, Callable[[FlexibleDynamics, bool, DryFriction], Iteration]] = {
    "path_step": path_step,
    "steady_shape": functions.steady_shape,
}
FUNCTIONS = (*_PLAIN, *_WITH_FRICTION)


class FlexibleKernels:
    """Compiled functions of one robot on one set of modes, safe in threads."""

    names = FUNCTIONS

    def __init__(self, robot: Robot, modes: Modes, dry: DryFriction) -> None:
        """``robot`` is taken without its platform, which the modes replace."""
        self.robot, self.modes, self.dry = robot.rigid, modes, dry
        self._lock = threading.RLock()
        self._dynamics: FlexibleDynamics | None = None
        self._made: dict[tuple[str, bool], Kernel] = {}

    @property
    def dynamics(self) -> FlexibleDynamics:
        """The robot in symbols, made when first needed: cached kernels do without."""
        with self._lock:
            if self._dynamics is None:
                mechanism = Mechanism(self.robot)
                _check_legs(mechanism)
                self._dynamics = FlexibleDynamics(mechanism, self.modes)
            return self._dynamics

    @property
    def mechanism(self) -> Mechanism:
        """Its legs in symbols."""
        return self.dynamics.mechanism

    def get(self, name: str, friction: bool = False) -> Kernel:
        """The kernel of a function; ``friction`` where it takes it."""
        if name not in FUNCTIONS:
            raise UnknownNameError("kernel", str(name), FUNCTIONS)
        key = name, friction and name in _WITH_FRICTION
        with self._lock:
            if key not in self._made:
                self._made[key] = Kernel(partial(self._expression, *key), self.recipe(repr(key)))
            return self._made[key]

    def recipe(self, what: str) -> bytes | None:
        """All that determines a function's graph."""
        return recipe(self.robot, f"{what} {self.dry}".encode() + fingerprint(self.modes))

    def _expression(self, name: str, friction: bool) -> Expression | Iteration:
        dynamics = self.dynamics
        if name in _PLAIN:
            return _PLAIN[name](dynamics)
        if friction:
            self.check_friction()
        if name in _INTEGRATED:
            return _INTEGRATED[name](dynamics, friction, self.dry)
        if friction and has_dry_friction(dynamics.mechanism):
            return dynamics.with_dry_friction(name, self.dry)
        made: Callable[[bool], Expression] = getattr(dynamics, name)
        return made(friction)

    def check_friction(self) -> None:
        """Raise if joints on the platform rub and nothing is known of how it turns there."""
        rubbing = [
            leg.name
            for leg in self.mechanism.legs
            for joint in leg.placement.joints
            if "platform" in (joint.parent, joint.child) and any(friction_of(leg, joint).model_dump().values())
        ]
        if rubbing and self.modes.attachment_rotations is None:
            raise InputError(
                f"friction: that of the platform's joints ({', '.join(rubbing)}) needs the rotation shapes at the "
                "attachment points (attachment_rotations, or rotation in a mode file); give them or pass friction=False"
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
