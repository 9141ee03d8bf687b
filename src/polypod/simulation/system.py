"""A model ready to be stepped in time: what a simulation asks of it, and its compiled rates, snapshots and periods."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..arrays import Array
from ..control.checked import nearest_loss, why_no_answer
from ..errors import InputError
from ..fingerprint import fingerprint
from ..formulations import virtual_power
from ..friction import INSTANT
from ..kernels import COMPILING, CheckedCall, Expression, Iteration, Kernel
from ..lazy import lazy
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism import Mechanism
from ..model import Energy, Model
from ..model.arguments import check_wrench
from ..model.kernels import Kernels, check_rotations
from ..motion import MovingBase
from ..platforms import DegreesOfFreedom
from . import kernels as graphs
from .chart import Layout, Snapshot, chart_rotation
from .dynamics import Dynamics
from .elastic_spectrum import spectral_radius

_NONE = np.zeros(0)
STICK_TIME = 1e-4
"""Time [s] within which joints come to rest where steps vary: a joint stops late by half its square times the
deceleration."""
Graph = Callable[[Dynamics], Expression | Iteration]
_SOURCES = ("simulation/chart.py", "simulation/dynamics.py", "simulation/kernels.py")
Derived = TypeVar("Derived")


class CompiledDynamics:
    """A robot's dynamics in symbols, functions compiled from them, safe in threads.

    ``mechanism`` is the robot with numbers of designs as inputs; by default it is the robot as it is.
    """

    def __init__(
        self, kernels: Kernels, friction: bool, mechanism: Mechanism | None = None, moving_base: bool = False
    ) -> None:
        self._model_kernels, self._friction = kernels, friction
        self._mechanism, self._moving_base = mechanism, moving_base
        self._kernels: dict[Graph, Kernel] = {}
        self._bound: dict[Graph, Kernel] = {}
        self._derived: dict[Any, Any] = {}

    @lazy
    def dynamics(self) -> Dynamics:
        """The robot in symbols."""
        if self._friction:
            check_rotations(self.mechanism)
        return Dynamics(self.mechanism, self._model_kernels.options.dry, self._friction)

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols."""
        known = self._mechanism or self._model_kernels.mechanism
        return known.on_moving_base if self._moving_base else known

    def kernel(self, graph: Graph) -> Kernel:
        """The compiled form of a function of the dynamics with the robot's numbers."""
        with COMPILING:
            if graph not in self._bound:
                kernel = self.without_numbers(graph)
                self._bound[graph] = kernel.at(self.mechanism.numbers.values) if kernel.parameters else kernel
            return self._bound[graph]

    def without_numbers(self, graph: Graph) -> Kernel:
        """The compiled form of a function of the dynamics, made by a function of a module, without its numbers."""
        with COMPILING:
            if graph not in self._kernels:
                name = f"{graph.__module__}.{graph.__qualname__} {self._friction}"
                name += " on a moving base" if self._moving_base else ""
                origin = self._model_kernels.cache_key(name, self._mechanism)
                sources = fingerprint(str(sys.modules[graph.__module__].__file__), *_SOURCES)
                cache_key = origin and origin.extended(sources)
                self._kernels[graph] = self._model_kernels.shared(partial(self._build, graph), cache_key)
            return self._kernels[graph]

    def derived(self, make: Callable[[Dynamics], Derived]) -> Derived:
        """What a function makes of the dynamics, made once."""
        with COMPILING:
            if make not in self._derived:
                self._derived[make] = make(self.dynamics)
            derived: Derived = self._derived[make]
            return derived

    def _build(self, graph: Graph) -> Expression | Iteration:
        return graph(self.dynamics)


def check_model(model: Any) -> None:
    """Raise if it is no model."""
    if not isinstance(model, Model):
        raise InputError(f"model: a polypod.Model is needed, got {type(model).__name__}")


class System:
    """What a simulation asks of a model; poses (n, 4, 4), twists (n, 6), elastic coordinates and rates (n, N)."""

    def __init__(self, model: Model, friction: bool, moving_base: bool = False) -> None:
        check_model(model)
        with COMPILING:
            self.compiled = model.kept(
                (__name__, friction, moving_base),
                lambda: CompiledDynamics(model.kernels, friction, moving_base=moving_base),
            )
        self.model, self.robot, self.friction, self.moving_base = model, model.robot, friction, moving_base
        self.actuators = model.actuators
        self.dof = DegreesOfFreedom(self.robot)
        self.modes = model.modes.count if model.robot.flexible else 0

    @property
    def mechanism(self) -> Mechanism:
        """The robot in symbols, made when first needed."""
        return self.model.kernels.mechanism

    @property
    def limit_ranges(self) -> Array:
        """Lowest and highest values (k, 2) of the limited quantities."""
        return self.mechanism.limit_ranges

    @property
    def explained(self) -> Any:
        """Who says why a state has no answer."""
        return self.model

    def _elastic(self, **given: Array) -> dict[str, Any]:
        """Keywords of a flexible robot's calls; none for a rigid one."""
        return given if self.modes else {}

    def place(self, internal: Array) -> dict[str, Any]:
        """Internal coordinates as calls of the model take them; empty for a robot without."""
        return {"internal": internal} if self.model.internal else {}

    def energy(
        self,
        pose: Array,
        twist: Array,
        elastic: Array,
        elastic_rate: Array,
        base: MovingBase | None = None,
        internal: Array = _NONE,
    ) -> Energy:
        """Energies of n states; on a base that moves those in space."""
        place = self.place(internal)
        if base is None:
            return self.model.energy(pose, twist, **self._elastic(elastic=elastic, elastic_rate=elastic_rate), **place)
        found = self.model.energy(pose, twist, base_twist=base.twist, **place)
        # gravity of the robot file is in space: potential energy of a base that turns and rises
        mechanism = self.mechanism
        kernel = self.model.kernels.custom("first moment", lambda: virtual_power.first_moment(mechanism))
        mass, moment, *_ = kernel(np.ascontiguousarray(pose), *map(np.ascontiguousarray, place.values()))
        gravity = np.array(self.robot.gravity)
        there = np.einsum("nij,nj->ni", base.pose[:, :3, :3], moment) + mass[:, None] * base.pose[:, :3, 3]
        return found._replace(potential=found.potential + (moment - there) @ gravity)

    def static_equilibrium(
        self, pose: Array, wrench: Array | None = None, base: dict[str, Any] | None = None, internal: Array = _NONE
    ) -> tuple[Array, Array]:
        """Elastic coordinates (N,) and actuator forces (n,) at rest in a pose under an external wrench.

        ``base`` is the motion of a base that moves, as calls of a model take it.
        """
        if self.modes:
            elastic, force = self.model.static_equilibrium(pose, wrench)
            return elastic, force
        still = np.zeros(6 + len(self.model.internal))
        return np.zeros(0), self.model.inverse_dynamics(
            pose, still, still, wrench, friction=False, **({} if base is None else base), **self.place(internal)
        )

    def mass_matrix(self, pose: Array, elastic: Array) -> Array:
        """With respect to the degrees of freedom' rates and the elastic rates (m + N, m + N)."""
        return self.model.mass_matrix(pose, **self._elastic(elastic=elastic))

    def deflection(self, elastic: Array) -> Array | None:
        """Displacements (n, legs, 3) [m] of the attachment points, platform axes; None if the platform is rigid."""
        return self.model.deflection(elastic) if self.modes else None

    def fastest_rate(self, pose: Array, elastic: Array) -> float:
        """Largest rate [1/s] of vibration at a pose and shape, which fixed steps must follow; 0 of a rigid platform."""
        return spectral_radius(self.model, pose, elastic) if self.modes else 0.0

    def check_wrench(self, wrench: Array) -> None:
        """Raise for external wrenches (n, 6) that the model cannot take."""
        check_wrench(self.robot, wrench)

    @lazy
    def layout(self) -> Layout:
        """Where the parts of its states are."""
        count, k = self.dof.count, len(self.model.internal)
        return Layout(self.modes, len(self.actuators), count + k, self.moving_base, k)


class Stepper:
    """A system's functions on one state, for one simulation. Not to be shared between threads.

    A state without an answer is a ``polypod.errors.StateError`` that names the leg; the functions that only
    ``try`` a state for an integrator give None there.
    """

    def __init__(self, system: System) -> None:
        self.system, self.layout = system, system.layout
        friction = next((p for p in system.compiled.kernel(graphs.chart_rate).inputs if p.name == "friction"), None)
        self.dry = friction is not None
        # no force known yet, all joints sliding
        self.no_friction: Array = np.zeros(0 if friction is None else friction.length)

    @lazy
    def _snapshot(self) -> CheckedCall:
        return self._call(graphs.snapshot, self._why)

    @lazy
    def _rate(self) -> CheckedCall:
        return self._call(graphs.chart_rate, self._why)

    @lazy
    def _period(self) -> CheckedCall:
        return self._call(graphs.period, lambda *_: "within the period")

    def _call(self, graph: Graph, explain: Callable[..., str]) -> CheckedCall:
        return CheckedCall(self.system.compiled.kernel(graph), SMALLEST_MARGIN, explain)

    def _why(self, base: Array, y: Array, *_: Array) -> str:
        """Which leg fails at a chart."""
        return why_no_answer(self.system.explained, self._pose_and_shape(base, y))

    def nearest_loss(self, base: Array, y: Array) -> str:
        """Which leg is nearest to failing at a chart."""
        return nearest_loss(self.system.explained, self._pose_and_shape(base, y))

    def _pose_and_shape(self, base: Array, y: Array) -> dict[str, Array]:
        parts = self.layout.chart
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = chart_rotation(base, y[parts["cayley"]]), y[parts["position"]]
        return {"pose": pose, "elastic": y[parts["elastic"]], "internal": y[parts["internal"]]}

    def snapshot(self, base: Array, y: Array, friction: Array | None = None) -> Snapshot:
        """State and legs at a chart y about a base rotation; ``friction`` its last numbers if they are known."""
        found = self._snapshot(base, y)
        return self._make_snapshot(found, self._inner(found, friction))

    def try_snapshot(self, base: Array, y: Array) -> Snapshot | None:
        """The same; None where there is no answer."""
        found = self._snapshot.attempt(base, y)
        return None if found is None else self._make_snapshot(found, self._inner(found, None))

    def rate(self, base: Array, y: Array, *acting: Array) -> Array:
        """dy/dt (D,) by itself: joints come to rest within STICK_TIME, and the rate is continuous in y.

        What acts: force, wrench, and the motion (12,) of a base that moves.
        """
        return self._rate(base, y, *acting, *self._instant)[0].copy()

    def try_rate(self, base: Array, y: Array, *acting: Array) -> Array | None:
        """The same; None where there is no answer."""
        found = self._rate.attempt(base, y, *acting, *self._instant)
        return None if found is None else found[0].copy()

    @property
    def _instant(self) -> tuple[Array | float, ...]:
        return (self.no_friction, INSTANT, STICK_TIME) if self.dry else ()

    def stage_rate(
        self, base: Array, y: Array, acting: tuple[Array, ...], friction: Array, stage: int, step: float
    ) -> tuple[Array, Array, float]:
        """dy/dt (D,) at a stage of a step of a robot with dry friction, its numbers, and how long the step may be."""
        rate, _, found, longest, _ = self._rate(base, y, *acting, friction, stage, step)
        return rate.copy(), found.copy(), float(longest[0])

    def period(self, start: Snapshot, acting: tuple[Array, ...], step: float, count: int) -> Snapshot:
        """``count`` RK4 steps of length ``step`` [s] from a state, at constant force and wrench; on a base that moves
        one step, with its motion (36,) at beginning, middle and end."""
        if not start.inner.size:
            return self._make_snapshot(self._period(start.state, *acting, step, count), start.inner)
        found = self._period(start.state, *acting, step, count, start.inner)
        return self._make_snapshot(found, found[2].copy())

    def friction_of(self, snapshot: Snapshot) -> Array:
        """The last numbers of dry friction."""
        return snapshot.inner[: self.no_friction.size]

    def _make_snapshot(self, found: tuple[Array, ...], inner: Array) -> Snapshot:
        return Snapshot(found[0].copy(), found[1].copy(), self.layout, inner)

    def _inner(self, found: tuple[Array, ...], friction: Array | None) -> Array:
        """Numbers from which a period goes on, at a snapshot's results."""
        known = self.no_friction if friction is None else friction
        return np.concatenate([known, *([found[3], np.zeros(1)] if len(found) > 3 else [])])
