"""A model ready to be stepped in time: compiled rates, charts and periods behind one small face."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import cache, cached_property, partial
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..description import Robot
from ..files import dumps
from ..kernels import Call, Expression, Iteration, Kernel
from ..legs import Joint
from ..mechanism import Freedoms, Mechanism
from . import kernels as graphs
from .chart import Layout
from .dynamics import Dynamics

Array = NDArray[np.float64]
Graph = Callable[[Dynamics], Expression | Iteration]


class Place:
    """A state and what is known of the legs there; see :class:`polypod.simulation.dynamics.Sensed`."""

    __slots__ = ("_legs", "_n", "_s", "margin", "room", "row", "safety")

    def __init__(self, row: Array, legs: Array, state: int, actuators: int) -> None:
        self.row, self._legs, self._s, self._n = row, legs, state, actuators
        self.margin, self.room, self.safety = row[-3:].tolist()

    @property
    def state(self) -> Array:
        """x (S,)."""
        return self.row[: self._s]

    @property
    def q(self) -> Array:
        """Actuated coordinates (n,)."""
        return self.row[self._s : self._s + self._n]

    @property
    def qdot(self) -> Array:
        """Their rates (n,)."""
        return self.row[self._s + self._n : -3]

    @property
    def jacobian(self) -> Array:
        """J (n, 6)."""
        return self._legs[: 6 * self._n].reshape(self._n, 6)

    @property
    def limited(self) -> Array:
        """Limited quantities (k,); angles as cosines."""
        return self._legs[6 * self._n + 1 :]


class Energies(NamedTuple):
    """Kinetic, gravity's and elastic energy (n,) [J]."""

    kinetic: Array
    potential: Array
    elastic: Array


class Parts(NamedTuple):
    """What a system is made from.

    ``dynamics`` gives it in symbols; ``recipe`` makes what determines them, or None, and spares making them when
    compiled before. ``energy`` takes poses, twists, elastic coordinates and rates of n states; ``hold`` gives the
    elastic coordinates and actuator forces at rest in a pose; ``deflection`` the displacements (n, legs, 3) [m] of the
    attachment points, platform axes, for elastic coordinates (n, N); a rigid platform has none. ``fastest`` gives the
    largest rates [1/s] of vibration and of dry friction at a pose and shape; ``check_wrench`` raises for external
    wrenches (n, 6) that act where the modes have no shape.
    """

    dynamics: Callable[[], Dynamics]
    recipe: Callable[[], bytes | None]
    mechanism: Callable[[], Mechanism]
    energy: Callable[[Array, Array, Array, Array], Energies]
    hold: Callable[[Array], tuple[Array, Array]]
    deflection: Callable[[Array], Array] | None = None
    fastest: Callable[[Array, Array], tuple[float, float]] = lambda pose, elastic: (0.0, 0.0)
    check_wrench: Callable[[Array], None] | None = None


class System:
    """Compiled functions of a model, safe in threads; :class:`Stepper` calls them."""

    def __init__(self, robot: Robot, modes: int, parts: Parts) -> None:
        self.robot, self.modes, self.parts = robot, modes, parts
        self.legs: tuple[str, ...] = tuple(leg.name for leg in robot.legs)
        self.freedoms = Freedoms(robot)
        self.layout = Layout(modes)
        self._lock = threading.RLock()
        self._kernels: dict[str, Kernel] = {}

    @cached_property
    def robot_file(self) -> str:
        """The robot as text, for results."""
        return dumps(self.robot)

    @cached_property
    def actuated(self) -> tuple[Joint, ...]:
        """The actuated joint of each leg: its slide, or the joint on the base where it has none."""
        found = []
        for leg in self.parts.mechanism().legs:
            joints = leg.placement.joints
            slides = [joint for joint in joints if joint.kind == "prismatic"]
            found.append((slides or [joint for joint in joints if joint.parent == "base"])[0])
        return tuple(found)

    @cached_property
    def units(self) -> tuple[str, str]:
        """Units of actuated coordinates and forces."""
        return ("m", "N") if all(joint.kind == "prismatic" for joint in self.actuated) else ("rad", "N m")

    @cached_property
    def dynamics(self) -> Dynamics:
        """The model in symbols."""
        return self.parts.dynamics()

    @cached_property
    def _recipe(self) -> bytes | None:
        made = self.parts.recipe()
        return None if made is None else made + _source_digest()

    def kernel(self, graph: Graph) -> Kernel:
        """The compiled form of a function of the dynamics."""
        with self._lock:
            name = graph.__name__
            if name not in self._kernels:
                recipe = None if self._recipe is None else name.encode() + self._recipe
                self._kernels[name] = Kernel(partial(self._build, graph), recipe)
            return self._kernels[name]

    def _build(self, graph: Graph) -> Expression | Iteration:
        return graph(self.dynamics)


class Stepper:
    """A system's functions on one state, for one simulation. Not to be shared between threads."""

    def __init__(self, system: System) -> None:
        self.system, self.modes = system, system.modes
        self._size = system.layout.state, len(system.legs)

    @cached_property
    def _place(self) -> Call:
        return Call(self.system.kernel(graphs.place))

    @cached_property
    def _rate(self) -> Call:
        return Call(self.system.kernel(graphs.chart_rate))

    @cached_property
    def _period(self) -> Call:
        return Call(self.system.kernel(graphs.period))

    def place(self, base: Array, y: Array) -> Place:
        """State and legs at a chart y about a base rotation."""
        row, legs = self._place(base, y)
        return Place(row.copy(), legs.copy(), *self._size)

    def rate(self, base: Array, y: Array, force: Array, wrench: Array) -> tuple[Array, float]:
        """dy/dt (D,), and its quality: 0 or not a number where there is no answer."""
        rate, quality = self._rate(base, y, force, wrench)
        return rate.copy(), float(quality[0])

    def period(self, x: Array, force: Array, wrench: Array, step: float, count: int) -> tuple[Place, float]:
        """``count`` RK4 steps of length ``step`` [s] from a state, at constant force and wrench; and their quality."""
        row, legs, quality = self._period(x, force, wrench, step, count)
        return Place(row.copy(), legs.copy(), *self._size), float(quality[0])


@cache
def _source_digest() -> bytes:
    """Fingerprint of the code that makes this package's graphs."""
    root = resources.files(__package__)
    files = ("chart.py", "dynamics.py", "kernels.py", "flexible.py")
    return hashlib.sha256(b"".join((root / name).read_bytes() for name in files)).digest()
