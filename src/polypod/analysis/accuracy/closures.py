"""All that holds a platform, as equations of its pose and of the robot's numbers.

The actuators hold their coordinates q, legs of fewer than six degrees of freedom their constraints c: F = [q; c] (N) is
[q; 0] in a pose of the robot. The platform is free in all six components x (base axes) here, since a robot that is not
quite the one described takes it out of the degrees of freedom that are stated: F_x x + F_p dp = [dq; 0] to first order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np
import scipy
from numpy.typing import NDArray

from ...arrays import Array
from ...description import Robot
from ...errors import InputError, StateError
from ...kernels import Kernel
from ...legs.contract import SMALLEST_MARGIN
from ...mechanism import Mechanism
from ...mechanism.closing import closed
from ...model import Model
from ...model.port_jacobian import port_jacobian
from ...parameters.design import Design
from ...parameters.paths import value_at
from ...symbols.expression import Expression, port

_NOTHING = 1e-8
"""Length of a row, of those of length about 1, below which it is rounding."""
_SINGULAR = 1e-9
"""Smallest singular value of rows of length 1 below which they leave the platform a motion."""

_ROUNDING = 1e-14
"""Part of the largest component of a displacement below which another one is rounding."""


class ClosureState(NamedTuple):
    """F (k, N) and F_x (k, N, 6) at k poses, ``good`` (k) where the legs reach them.

    ``places`` (k, p) are those of the unknowns of legs that are closed by iterating.
    """

    values: Array
    rows: Array
    good: NDArray[np.bool_]
    places: Array


class Closures:
    """The equations of one robot; numbers of ``paths`` may change. The model itself is not kept.

    ``robot`` is the model's with its legs closed in another way, if given.
    """

    def __init__(self, model: Model, paths: Sequence[str], robot: Robot | None = None) -> None:
        if len(model.actuators) != model.mobility.count:
            raise InputError(
                f"accuracy: {model.robot.name!r} has more actuators than degrees of freedom: they work against "
                "each other"
            )
        self.robot, self.paths = robot or model.robot, tuple(paths)
        self._chain, self._entries = port_jacobian(self.robot, list(paths))
        self._mechanism = Mechanism(
            self.robot, model.simplify, lambda entry: (entry.path, entry.index) in self._entries, free=True
        )
        self._kernels: dict[bool, Kernel] = {}
        self._axes = np.zeros((0, 6))
        self.by_legs = model.mobility.full or self._mechanism.mobility is not None
        """Whether the legs say what the platform does, not the degrees of freedom of the file alone."""
        if not self.by_legs:
            self._axes = scipy.linalg.null_space(model.mobility.basis.T).T

    @property
    def count(self) -> int:
        """Number N of equations."""
        return int(self._kernel(derivatives=False).outputs[0].shape[0]) + len(self._axes)

    def at(self, poses: Array, designs: Mapping[str, Array] | None = None) -> ClosureState:
        """The equations at poses (k, 4, 4), for other numbers (k, ...) by path at each of them if given."""
        numbers, rows = self._mechanism.numbers, bool(designs)
        values = Design(self.robot, designs).rows(numbers) if designs else numbers.values
        kernel = self._kernel(derivatives=False)
        found, by_pose, quality, places = (kernel.at(values, rows=rows) if kernel.parameters else kernel)(poses)
        k, more = len(poses), len(self._axes)
        return ClosureState(
            np.concatenate([found, np.zeros((k, more))], axis=1),
            np.concatenate([by_pose, np.broadcast_to(self._axes, (k, more, 6))], axis=1),
            np.asarray(quality > SMALLEST_MARGIN),
            places,
        )

    def derivatives(self, poses: Array) -> dict[str, Array]:
        """F_p (k, N, size) of every path at poses (k, 4, 4), exact by differentiation, compiled."""
        if not self.paths:
            return {}
        sizes = [int(np.size(value_at(self.robot, path))) for path in self.paths]
        entries = self._mechanism.numbers.entries
        places = [row for e in entries if (row := self._entries.get((e.path, e.index))) is not None]
        if places:
            kernel = self._kernel(derivatives=True).at(self._mechanism.numbers.values)
            found, quality = kernel(poses)
            if not (quality > SMALLEST_MARGIN).all():
                bad = np.flatnonzero(~(quality > SMALLEST_MARGIN))
                raise StateError(f"accuracy: no answer at state {bad[0]}: the pose is out of reach", bad)
            whole = found @ self._chain[places]
        else:
            whole = np.zeros((len(poses), self.count, sum(sizes)))
        parts = np.split(whole, np.cumsum(sizes)[:-1], axis=2)
        return dict(zip(self.paths, parts, strict=True))

    def _kernel(self, derivatives: bool) -> Kernel:
        if derivatives not in self._kernels:
            self._kernels[derivatives] = Kernel(lambda: closed(self._mechanism, self._expression(derivatives)))
        return self._kernels[derivatives]

    def _expression(self, derivatives: bool) -> Expression:
        mechanism = self._mechanism
        x = mechanism.inputs()
        _, legs = mechanism.resting(x)
        values = ca.vertcat(mechanism.coordinates(legs), *[leg.constraint_values for leg in legs])
        quality = port("quality", mechanism.quality(legs), ())
        if derivatives:
            entries = mechanism.numbers.entries
            chosen = [k for k, e in enumerate(entries) if (e.path, e.index) in self._entries]
            by_numbers = ca.jacobian(values, mechanism.numbers.symbols[chosen])
            both = port("derivatives", by_numbers, by_numbers.shape), quality
            return Expression("closure_jacobian", x.place, both, mechanism.port)
        rows = [*[row for leg in legs for row in leg.rows], *[row for leg in legs for row in leg.constraint_rows]]
        by_pose = ca.horzcat(*rows).T
        places = ca.vertcat(*[legs[k].place for k in mechanism.implicit_legs], ca.SX(0, 1))
        outputs = port("values", values), port("rows", by_pose, by_pose.shape), quality, port("places", places)
        return Expression("closures", x.place, outputs, mechanism.port)


class Solver:
    """F_x x = b for all six components, at k poses, NaN where ``singular``; rotations scaled by the robot's size."""

    def __init__(self, model: Model, rows: Array) -> None:
        self._scale = np.r_[np.ones(3), np.full(3, 1 / model.size)]
        scaled = rows * self._scale
        lengths = np.linalg.norm(scaled, axis=2, keepdims=True)
        there = lengths > _NOTHING * np.max(lengths, axis=1, keepdims=True, initial=0.0)
        self._lengths = np.where(there, lengths, 1.0)
        comparable = np.where(there, scaled, 0.0) / self._lengths
        self._left, sizes, self._right = np.linalg.svd(comparable, full_matrices=False)
        self.singular = ~(sizes[:, -1] > _SINGULAR)
        self._sizes = np.where(self.singular[:, None], np.nan, sizes)

    def __call__(self, b: Array) -> tuple[Array, Array]:
        """x (k, 6, c) of right sides (k, N, c), and what is left of them (k, N, c) where legs hold more than six."""
        comparable = b / self._lengths
        inner = self._left.transpose(0, 2, 1) @ comparable
        left = comparable - self._left @ inner
        x = self._right.transpose(0, 2, 1) @ (inner / self._sizes[:, :, None])
        x = np.where(np.abs(x) > _ROUNDING * np.abs(x).max(axis=1, keepdims=True, initial=0.0), x, 0.0)
        return self._scale[:, None] * x, left
