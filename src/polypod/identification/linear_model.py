"""The numbers of a robot in which actuator forces are linear: moments of bodies, other inertias, friction.

f = Y(motion, loads) T p. The entries of the parameter port that forces are linear in are T p: a number p may stand for
one entry, for the same entry of all legs (``same_legs``), or for a moment of a rod that spins freely between its
joints, of which only what is symmetric about its line counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..formulations import derivatives as formulas
from ..formulations.dry_friction import DryFriction, converged_loads, load_jacobian
from ..friction import Loads, has_dry_friction, loaded_joints
from ..kernels import Kernel
from ..lazy import lazy
from ..mechanism import Mechanism
from ..mechanism.closing import closed
from ..model import Model
from ..parameters.paths import value_at
from ..parameters.vector import Parameter
from .naming import Naming, is_friction, is_linear


@dataclass(frozen=True)
class MotionRows:
    """States of a platform as rows: pose (N, 4, 4), twist and acceleration (N, 6), base axes."""

    pose: Array
    twist: Array
    acceleration: Array

    def __len__(self) -> int:
        return len(self.pose)

    def __getitem__(self, rows: Any) -> MotionRows:
        return MotionRows(*(np.ascontiguousarray(a[rows]) for a in (self.pose, self.twist, self.acceleration)))

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """Pose, twist, acceleration."""
        return self.pose, self.twist, self.acceleration


class LinearModel:
    """Forces of a robot as a linear function of its inertial and friction numbers (not a linear model of motion).

    All ten moments of every body with mass count, also those that are zero in the file; friction and other
    inertias count where the file states them, or where ``open_`` (a function of the path) says so. ``same_legs`` takes
    one number for all legs.
    """

    def __init__(
        self,
        model: Model,
        *,
        same_legs: bool = False,
        friction: bool = True,
        open_: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.model, self.robot, self.same_legs = model, model.robot, same_legs
        if self.robot.flexible:
            raise InputError(
                f"robot: {self.robot.name!r} has a flexible platform: its forces depend on the deflection of every "
                f"mode and its rates, which coordinates of actuators do not show; in motions slow enough {AS_RIGID}"
            )
        self._dry: DryFriction = model.kernels.options.dry

        def is_free(entry: Parameter) -> bool:
            if isinstance(entry.index, str):
                return value_at(self.robot, entry.path).mass > 0
            return open_(entry.path)

        self.mechanism = Mechanism(self.robot, model.simplify, is_free)
        if self.redundant and self.loaded:
            raise InputError(
                f"robot: {self.robot.name!r} has more actuators than degrees of freedom and friction that depends "
                "on reactions: "
                "these depend on the internal forces, which the file's numbers do not give; state friction without "
                "load (drag, viscous)"
            )
        entries = self.mechanism.numbers.entries
        self.chosen = [k for k, e in enumerate(entries) if is_linear(e) and (friction or not is_friction(e))]
        self.entries = [entries[k] for k in self.chosen]
        self.numbers, self.to_entries = Naming(self.mechanism, self.entries, same_legs).numbers()
        self._some: dict[tuple[int, ...], Kernel] = {}

    # -- values ------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the numbers for people."""
        return tuple(n.name for n in self.numbers)

    @property
    def values(self) -> Array:
        """The file's values of p (k,)."""
        return np.array([n.value for n in self.numbers])

    def port_values(self, p: Array) -> Array:
        """The parameter port of functions of :attr:`mechanism` for numbers p (k,) or (D, k)."""
        port = np.broadcast_to(self.mechanism.numbers.values, (*p.shape[:-1], len(self.mechanism.numbers.entries)))
        port = port.copy()
        port[..., self.chosen] = p @ self.to_entries.T
        return port

    # -- functions ---------------------------------------------------------------------------------------------------

    @property
    def redundant(self) -> bool:
        """Whether there are more actuators than degrees of freedom: forces then are those of the least norm."""
        return bool(self.mechanism.redundant)

    @lazy
    def loaded(self) -> bool:
        """Whether friction depends on reactions."""
        return bool(loaded_joints(self.mechanism))

    def _kernel(self, chosen: list[int]) -> Kernel:
        mechanism, columns = self.mechanism, self.mechanism.numbers.symbols[chosen]
        dry = has_dry_friction(mechanism)

        def build() -> Any:
            loads = Loads.symbols(mechanism, self._dry.law) if dry else None
            return closed(mechanism, formulas.regressor(mechanism, columns, loads))

        kernel = self.model.kernels.shared(build, self.model.kernels.cache_key(f"regressor {chosen}", mechanism))
        return kernel.at(mechanism.numbers.values)

    def columns(self, motion: MotionRows, loads: Array, which: tuple[int, ...]) -> Array:
        """Columns ``which`` of Y T (N, n, c), by a function of these alone; NaN where there is no answer."""
        needed, part = self._needed(which)
        key = tuple(self.chosen[k] for k in needed)
        if key not in self._some:
            self._some[key] = self._kernel(list(key))
        matrix, quality = self._some[key](*motion.arrays, *((loads,) if self.loaded else ()))
        if part is not None:
            matrix = matrix @ part
        bad = ~(quality > 0)
        if bad.any():
            matrix[bad] = np.nan
        return np.asarray(matrix)

    @lazy
    def _loads_kernel(self) -> Kernel:
        mechanism = self.mechanism
        cache_key = self.model.kernels.cache_key("converged_loads", mechanism)
        return self.model.kernels.shared(lambda: closed(mechanism, converged_loads(mechanism, self._dry)), cache_key)

    def loads(self, motion: MotionRows, p: Array) -> Array:
        """Reactions (N, l) that friction of joints depends on, for numbers p; (N, 0) if none does."""
        if not self.loaded:
            return np.zeros((len(motion), 0))
        outputs = self._loads_kernel.at(self.port_values(p))(*motion.arrays, np.zeros((len(motion), 6)))
        return np.asarray(outputs[0])

    def _derivatives_kernel(self, chosen: list[int]) -> Kernel:
        mechanism, columns = self.mechanism, self.mechanism.numbers.symbols[chosen]
        cache_key = self.model.kernels.cache_key(f"load_jacobian {chosen}", mechanism)
        return self.model.kernels.shared(
            lambda: closed(mechanism, load_jacobian(mechanism, columns, self._dry)), cache_key
        )

    def derivatives(self, motion: MotionRows, p: Array, which: tuple[int, ...] | None = None) -> Array:
        """d(force)/dp (N, n, c) at numbers p, of those in ``which``: reactions that friction depends on move along.

        df/dp = Y + df/dL (1 - dg/dL)^-1 dg/dp, where loads L = g(L, p). Without such friction it is Y.
        """
        which = tuple(range(len(self.numbers))) if which is None else which
        loads = self.loads(motion, p)
        columns = self.columns(motion, loads, which)
        if not self.loaded:
            return columns
        needed, part = self._needed(which)
        kernel = self._derivatives_kernel([self.chosen[k] for k in needed]).at(self.port_values(p))
        own, by_numbers, force = kernel(*motion.arrays, np.zeros((1, 6)), loads)
        if part is not None:
            by_numbers = by_numbers @ part
        return np.asarray(columns + force @ np.linalg.solve(np.eye(loads.shape[1]) - own, by_numbers))

    def _needed(self, which: tuple[int, ...]) -> tuple[NDArray[np.int64], Array | None]:
        """Entries that numbers stand for, and their part of T; None if that is the unit matrix."""
        needed = np.flatnonzero(np.abs(self.to_entries[:, list(which)]).max(axis=1) > 0)
        part = self.to_entries[needed][:, list(which)]
        same = part.shape[0] == part.shape[1] and np.array_equal(part, np.eye(len(part)))
        return needed, None if same else part

    def regressor(self, motion: MotionRows, loads: Array) -> Array:
        """Y T (N, n, k): forces are its product with p. NaN where there is no answer."""
        return self.columns(motion, loads, tuple(range(len(self.numbers))))

    @lazy
    def _forces_kernel(self) -> Kernel:
        mechanism, kernels = self.mechanism, self.model.kernels
        cache_key = kernels.cache_key("forces of linear numbers", mechanism)
        return kernels.shared(lambda: kernels.expression(mechanism, "inverse_dynamics", True), cache_key)

    def forces(self, motion: MotionRows, p: Array) -> Array:
        """Actuator forces (N, n) for numbers p (k,), (D, N, n) for (D, k): inverse dynamics with friction."""
        given = [*motion.arrays, np.zeros((len(motion), 6))]
        if self.redundant:
            # least norm: all actuators alike, no preload
            actuators = len(self.model.actuators)
            given += [np.ones((1, actuators)), np.zeros((1, actuators))]
        return np.asarray(self._forces_kernel.at(self.port_values(p))(*given)[0])
