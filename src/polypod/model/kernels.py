"""The functions of a model by name, built and compiled when first used."""

from __future__ import annotations

import hashlib
import inspect
import threading
from functools import cache
from importlib import resources

import casadi as ca

from ..description import Robot
from ..errors import UnknownNameError
from ..formulations import FORMULATIONS, virtual_power
from ..kernels import Expression, Iteration, Kernel
from ..mechanism import Mechanism, kinematics

_PLAIN = {
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
_WITH_FRICTION = {"bias": virtual_power.bias, "direct_dynamics": virtual_power.direct_dynamics}
FUNCTIONS = (*_PLAIN, *_WITH_FRICTION, "inverse_dynamics")


class Kernels:
    """Compiled functions of one robot, safe in threads."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._lock = threading.RLock()
        self._mechanism: Mechanism | None = None
        self._made: dict[tuple[str, bool, str], Kernel] = {}

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols, made when first needed: cached kernels do without."""
        with self._lock:
            if self._mechanism is None:
                self._mechanism = Mechanism(self.robot)
            return self._mechanism

    def get(self, name: str, friction: bool = False, formulation: str = "virtual-power") -> Kernel:
        """The kernel of a function; ``friction`` and ``formulation`` where it takes them."""
        if name not in FUNCTIONS:
            raise UnknownNameError("kernel", name, FUNCTIONS)
        if formulation not in FORMULATIONS:
            raise UnknownNameError("formulation", formulation, tuple(FORMULATIONS))
        friction = friction and name not in _PLAIN
        formulation = formulation if name == "inverse_dynamics" else ""
        key = (name, friction, formulation)
        with self._lock:
            if key not in self._made:
                self._made[key] = Kernel(lambda: self._expression(*key), _recipe(self.robot, key))
            return self._made[key]

    def _expression(self, name: str, friction: bool, formulation: str) -> Expression | Iteration:
        if name in _PLAIN:
            return _PLAIN[name](self.mechanism)
        if name in _WITH_FRICTION:
            return _WITH_FRICTION[name](self.mechanism, friction)
        return FORMULATIONS[formulation](self.mechanism, friction)


def _recipe(robot: Robot, key: tuple[str, bool, str]) -> bytes | None:
    """All that determines a function's graph; None if a leg kind from elsewhere takes part.

    Code outside the package cannot be fingerprinted with certainty (it may call anything), so such robots are
    keyed by the graph itself.
    """
    package = __package__.partition(".")[0]
    if any(type(leg).__module__.partition(".")[0] != package for leg in robot.legs):
        return None
    parts = [robot.model_dump_json(exclude={"title", "reference", "sources"}), repr(key), ca.__version__]
    return "\n".join(parts).encode() + _source_digest()


@cache
def _source_digest() -> bytes:
    """Fingerprint of the code that makes graphs."""
    digest = hashlib.sha256()
    root = resources.files(inspect.getmodule(Robot).__name__.partition(".")[0])  # type: ignore[union-attr]
    for folder in ("symbols", "legs", "mechanism", "formulations", "description"):
        for file in sorted((root / folder).iterdir(), key=lambda f: f.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes())
    return digest.digest()
