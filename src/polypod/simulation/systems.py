"""Systems of the models there are: rigid robots, and robots with a flexible platform."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..model import Model
from ..model.kernels import recipe
from .dynamics import RigidDynamics
from .system import Energies, Parts, System

if TYPE_CHECKING:
    from ..flexible.model import FlexibleModel

Array = NDArray[np.float64]


_LOCK = threading.Lock()


def system_of(model: Any, friction: bool) -> System:
    """The system of a :class:`polypod.Model` or :class:`polypod.FlexibleModel`, kept as long as the model."""
    if not isinstance(model, Model) and not (hasattr(model, "modes") and hasattr(model, "static_equilibrium")):
        raise InputError(f"model: a polypod.Model or FlexibleModel is needed, got {type(model).__name__}")
    with _LOCK:
        # kept in the model itself, so that both go together
        known: dict[bool, System] = model.__dict__.setdefault("_systems", {})
        if friction not in known:
            make = rigid_system if isinstance(model, Model) else flexible_system
            known[friction] = make(model, friction)
        return known[friction]


def rigid_system(model: Model, friction: bool) -> System:
    """A rigid robot: no modes, no elastic energy."""
    own = model.kernels
    still = np.zeros(6)

    def energy(pose: Array, twist: Array, elastic: Array, elastic_rate: Array) -> Energies:
        kinetic, potential = model.energy(pose, twist)
        return Energies(kinetic, potential, np.zeros_like(kinetic))

    def hold(pose: Array) -> tuple[Array, Array]:
        return np.zeros(0), model.inverse_dynamics(pose, still, still, friction=False)

    parts = Parts(
        lambda: RigidDynamics(own.mechanism, own.options.dry, friction),
        lambda: recipe(model.robot, repr(("simulation", friction, own.options)).encode()),
        lambda: own.mechanism,
        energy,
        hold,
    )
    return System(model.robot, 0, parts)


def flexible_system(model: FlexibleModel, friction: bool) -> System:
    """A robot whose platform bends; it holds itself in the shape of static equilibrium."""
    from ..flexible.linear import fastest, rubbing
    from .flexible import BendingDynamics

    own = model.kernels
    parts = Parts(
        lambda: BendingDynamics(own, friction),
        lambda: own.recipe(repr(("simulation", friction))),
        lambda: own.mechanism,
        lambda *state: Energies(*model.energy(*state)),
        lambda pose: tuple(model.static_equilibrium(pose)),  # type: ignore[arg-type, return-value]
        model.deflection,
        lambda pose, elastic: (fastest(model, pose, elastic), rubbing(model, pose, elastic) if friction else 0.0),
        model.check_wrench,
    )
    return System(model.robot, model.modes.count, parts)
