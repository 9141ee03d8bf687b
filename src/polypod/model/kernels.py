"""The functions of a model by name, built and compiled when first used."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import metadata, resources
from pathlib import Path

from ..description import Robot
from ..errors import InputError, UnknownNameError
from ..formulations import FORMULATIONS, newton_euler, virtual_power
from ..friction import dry as dry_friction
from ..friction.dry import DryFriction
from ..friction.joints import Loads, has_dry_friction, loaded_joints
from ..kernels import Expression, Iteration, Kernel
from ..mechanism import Mechanism, Simplification, kinematics

_PLAIN: dict[str, Callable[[Mechanism], Expression | Iteration]] = {
    "inverse_kinematics": kinematics.inverse_kinematics,
    "jacobian": kinematics.jacobian,
    "accelerations": kinematics.accelerations,
    "bodies": kinematics.bodies,
    "margins": kinematics.margins,
    "limited": kinematics.limited,
    "forward_kinematics": kinematics.forward_kinematics,
    "mass_matrix": virtual_power.mass,
    "energy": virtual_power.energy,
}
_WITH_FRICTION = ("bias", "direct_dynamics", "inverse_dynamics", "reactions")
FUNCTIONS = (*_PLAIN, *_WITH_FRICTION)
_SOURCES = ("symbols", "legs", "mechanism", "formulations", "friction", "description", "flexible")
"""Folders whose code makes graphs: a change there makes every kernel anew."""
_PACKAGE = __package__.partition(".")[0]


@dataclass(frozen=True)
class Options:
    """Choices of a model that are not the robot's: what is neglected, how dry friction is treated."""

    simplify: Simplification | None = None
    dry: DryFriction = field(default_factory=DryFriction)


class Kernels:
    """Compiled functions of one robot, safe in threads."""

    def __init__(self, robot: Robot, options: Options) -> None:
        self.robot, self.options = robot, options
        self._lock = threading.RLock()
        self._mechanism: Mechanism | None = None
        self._made: dict[tuple[str, bool, str], Kernel] = {}

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols, made when first needed: cached kernels do without."""
        with self._lock:
            if self._mechanism is None:
                self._mechanism = Mechanism(self.robot, self.options.simplify)
            return self._mechanism

    def get(self, name: str, friction: bool = False, formulation: str = "virtual-power") -> Kernel:
        """The kernel of a function; ``friction`` and ``formulation`` where it takes them."""
        if name not in FUNCTIONS:
            raise UnknownNameError("kernel", name, FUNCTIONS)
        if formulation not in FORMULATIONS:
            raise UnknownNameError("formulation", formulation, tuple(FORMULATIONS))
        friction = friction and name in _WITH_FRICTION
        formulation = formulation if name == "inverse_dynamics" else ""
        key = (name, friction, formulation)
        with self._lock:
            if key not in self._made:
                self._made[key] = Kernel(
                    partial(self._expression, *key), recipe(self.robot, repr((key, self.options)).encode())
                )
            return self._made[key]

    def _expression(self, name: str, friction: bool, formulation: str) -> Expression | Iteration:
        mechanism = self.mechanism
        if name in _PLAIN:
            return _PLAIN[name](mechanism)
        if not friction or not has_dry_friction(mechanism):
            return self._function(name, friction, formulation, None)
        if name == "bias":
            if loaded_joints(mechanism):
                raise InputError(
                    "bias: dry friction depends on reactions and they on the acceleration; pass friction=False"
                )
            return virtual_power.bias(mechanism, friction, Loads(self.options.dry.law))
        acceleration = None
        if name == "direct_dynamics":
            acceleration = lambda x, loads: virtual_power.direct_solution(mechanism, x, True, loads)[0]  # noqa: E731
        make = partial(self._function, name, True, formulation)
        return dry_friction.iterated(mechanism, self.options.dry, make, acceleration)

    def _function(self, name: str, friction: bool, formulation: str, loads: Loads | None) -> Expression:
        if name == "bias":
            return virtual_power.bias(self.mechanism, friction, loads)
        if name == "direct_dynamics":
            return virtual_power.direct_dynamics(self.mechanism, friction, loads)
        if name == "reactions":
            return newton_euler.reactions(self.mechanism, friction, loads)
        return FORMULATIONS[formulation](self.mechanism, friction, loads)


def recipe(robot: Robot, more: bytes) -> bytes | None:
    """All that determines a function's graph; None if a leg kind from elsewhere takes part.

    Code outside the package cannot be fingerprinted with certainty (it may call anything), so such robots are
    keyed by the graph itself.
    """
    if any(type(leg).__module__.partition(".")[0] != _PACKAGE for leg in robot.legs):
        return None
    data = robot.model_dump_json(exclude={"title", "reference", "sources"})
    return b"\n".join([data.encode(), more, metadata.version("casadi").encode(), _source_digest()])


@cache
def _source_digest() -> bytes:
    """Fingerprint of the code that makes graphs."""
    digest = hashlib.sha256()
    root = resources.files(_PACKAGE)
    for folder in _SOURCES:
        for file in sorted(Path(str(root / folder)).rglob("*.py")):
            digest.update(file.read_bytes())
    digest.update((root / "model" / "kernels.py").read_bytes())
    return digest.digest()
