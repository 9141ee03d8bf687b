"""Matrices of Lagrange's equation as numbers, for tests: the package computes forces from them only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

import polypod as pp
from polypod.errors import InputError
from polypod.kernels import Expression, Kernel, port
from polypod.mechanism import Mechanism
from polypod.papers.lopes.study import State, known_coordinates, matrices
from polypod.platforms.motion import pose_of

Array = NDArray[np.float64]


class ParameterVector(NamedTuple):
    """I (..., m, m), V (..., m, m) and G (..., m) of I du/dt + V u + G."""

    inertia: Array
    coriolis: Array
    gravity: Array


def motion_of(mechanism: Mechanism) -> Expression:
    """Pose (4, 4) and twist (6) of the platform from Euler coordinates and their rates."""
    state = State(mechanism, "euler")
    motion = state.platform.motion
    outputs = port("pose", pose_of(motion.frame), (4, 4)), port("twist", ca.vertcat(motion.v, motion.omega))
    return Expression("motion_of", state.inputs, outputs, mechanism.port)


class Lagrangian:
    """Matrices of a model as numbers; friction has no part in them.

    With ``coordinates="base"`` a state is a pose (..., 4, 4) and a twist (..., 6), and a lower-mobility robot's
    matrices are those of its m coordinates. With ``"euler"`` it is x = [p, angles] (..., 6), the angles in the
    robot's ``euler`` convention, and xdot. Leading axes are a batch; states out of reach raise, or give NaN in a batch.
    """

    def __init__(self, model: pp.Model, coordinates: str = "base") -> None:
        self.coordinates = known_coordinates(model.robot, coordinates)
        self._model = model
        self._mechanism = model.kernels.mechanism
        self._kernels: dict[str, Kernel] = {}

    def matrices(self, place: Any, rate: ArrayLike, part: str | None = None) -> ParameterVector:
        """I, V and G of a part (one of ``PARTS``) or of the whole robot; V depends on the rates, I and G do not."""
        kernel = self._kernel(f"matrices {part}", lambda: matrices(self._mechanism, part, self.coordinates))
        return ParameterVector(*self._call(kernel, place, rate))

    def _kernel(self, name: str, build: Callable[[], Expression]) -> Kernel:
        if name not in self._kernels:
            kernel = Kernel(build)
            numbers = self._mechanism.numbers.values
            self._kernels[name] = kernel.at(numbers) if kernel.parameters else kernel
        return self._kernels[name]

    def _call(self, kernel: Kernel, place: Any, rate: ArrayLike) -> list[Array]:
        """The kernel on a batch; the model's own call for rates checks the state."""
        pose, twist = (place, rate) if self.coordinates == "base" else self._euler(place, rate)
        reached = np.isfinite(self._model.rates(pose, twist)).all(axis=-1)
        rows = [pose.as_matrix() if hasattr(pose, "as_matrix") else place, rate]
        arrays = [
            np.broadcast_to(np.asarray(row, dtype=np.float64), reached.shape + port_.shape)
            for row, port_ in zip(rows, kernel.inputs, strict=True)
        ]
        flat = [np.ascontiguousarray(a).reshape(-1, *p.shape) for a, p in zip(arrays, kernel.inputs, strict=True)]
        results = []
        for result in kernel(*flat):
            result[~reached.ravel()] = np.nan
            results.append(result.reshape(reached.shape + result.shape[1:]))
        return results

    def _euler(self, place: ArrayLike, rate: ArrayLike) -> tuple[Array, Array]:
        """Pose and twist of Euler coordinates and their rates."""
        rows = []
        for name, value in (("x", place), ("xdot", rate)):
            row = np.asarray(value, dtype=np.float64)
            if row.shape[-1:] != (6,):
                raise InputError(
                    f"{name}: shape (..., 6) is needed, three of position and three angles, got {row.shape}"
                )
            rows.append(row)
        try:
            x, xdot = np.broadcast_arrays(*rows)
        except ValueError as error:
            raise InputError(
                f"batch axes do not fit together: x {rows[0].shape}, xdot {rows[1].shape}", code="batch_axes"
            ) from error
        kernel = self._kernel("motion", lambda: motion_of(self._mechanism))
        pose, twist = kernel(*(np.ascontiguousarray(a).reshape(-1, 6) for a in (x, xdot)))
        return pose.reshape(*x.shape[:-1], 4, 4), twist.reshape(x.shape)
