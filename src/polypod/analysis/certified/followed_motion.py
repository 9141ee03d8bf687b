"""A platform that follows its legs, along a motion of its generalized coordinates: pose, twist and acceleration as
models of time.

What follows, y of E(x, y) = 0, is y0 + S s +- r over an interval: Krawczyk's operator (:mod:`.krawczyk`) in one
variable. Its rates and accelerations solve linear systems with the derivatives of E.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...model import Model
from ...platforms import ConstrainedState
from ...symbols.graph import Graph
from ..displacements import displacement
from .affine import Affine, evaluate_affine
from .displaced import followed
from .equations import Symbols, symbols_of
from .linear_models import LinearModels, constant, solve

_TRIES = 4


class ConstrainedMotionModel:
    """Pose, twist and acceleration of one robot's platform."""

    def __init__(self, model: Model) -> None:
        mechanism = model.kernels.mechanism
        if mechanism.coordinate_joints:
            raise InputError("there are no bounds of platforms whose coordinates are those of joints")
        self._home = model.robot.home.matrix
        state = mechanism.platform.rest(mechanism.inputs())
        assert isinstance(state, ConstrainedState)
        self._chosen, self._others = (np.array(ca.DM(part)) for part in (state.chosen, state.others))
        self._numbers = [Affine.exact(value, (0.0,)) for value in mechanism.numbers.values]
        s: Symbols = symbols_of(mechanism, "coordinates")
        m, k = s.x.numel(), s.y.numel()
        home = ca.SX(ca.DM(np.concatenate([self._home.ravel(), np.zeros(3)])))
        v, vdot, vddot = ca.vertcat(s.x, s.y), ca.SX.sym("vdot", m + k), ca.SX.sym("vddot", m + k)
        equations, derivatives = ca.substitute([s.found.equations, s.derivatives[:k, :]], [s.fixed], [home])
        turning = ca.jtimes(derivatives @ vdot, v, vdot)
        pose, twists = followed(mechanism, s.x, s.y, home)
        twist = twists @ vdot
        moved = pose, twist, twists @ vddot + ca.jtimes(twist, v, vdot)
        self._equations = _graph([v, s.numbers], [equations])
        self._derivatives = _graph([v, s.numbers], [ca.vec(derivatives[:, :m].T), ca.vec(derivatives[:, m:].T)])
        self._turning = _graph([v, vdot, s.numbers], [turning])
        self._moved = _graph([v, vdot, vddot, s.numbers], list(moved))
        self._m, self._k = m, k

    def __call__(self, orders: list[list[Affine]], poses: Array) -> list[list[Affine]]:
        """For coordinates, rates and accelerations (m each), near the poses (n, 4, 4) in the intervals' middles."""
        x, xdot, xddot = orders
        y = self._found(x, poses)
        by_x, by_y = self._by([*x, *y])
        rate = solve(by_y, -by_x.times(LinearModels.stacked(xdot)))[0]
        vdot = [*xdot, *rate.affine]
        (turning,) = evaluate_affine(self._turning, [[*x, *y], vdot, self._numbers])
        right = by_x.times(LinearModels.stacked(xddot)) + LinearModels.stacked(turning)
        vddot = [*xddot, *solve(by_y, -right)[0].affine]
        return evaluate_affine(self._moved, [[*x, *y], vdot, vddot, self._numbers])

    def _by(self, v: list[Affine]) -> tuple[LinearModels, LinearModels]:
        """Derivatives of E by x and by y."""
        by_x, by_y = (LinearModels.stacked(part) for part in evaluate_affine(self._derivatives, [v, self._numbers]))
        return by_x.reshape(self._k, self._m), by_y.reshape(self._k, self._k)

    def _found(self, x: list[Affine], poses: Array) -> list[Affine]:
        """y over the intervals; without a bound where the proof fails."""
        middle = np.stack([one.middle for one in x], axis=-1)
        start = self._displacement(poses, middle)
        at = [Affine.exact(one.middle, (0.0,)) for one in x]
        for _ in range(2):  # what is known of the pose is exact but for rounding
            y0 = [Affine.exact(start[:, k], (0.0,)) for k in range(self._k)]
            (off,) = evaluate_affine(self._equations, [[*at, *y0], self._numbers])
            by_x, by_y = self._by([*at, *y0])
            inverse = _inverse(by_y.middle)
            start = start - (inverse @ LinearModels.stacked(off).middle[..., None])[..., 0]
        slope = np.stack([np.broadcast_to(one.derivatives[0], len(start)) for one in x], axis=-1)
        swing = -(inverse @ by_x.middle @ slope[..., None])[..., 0]
        line = [Affine.exact(start[:, k], (swing[:, k],)) for k in range(self._k)]
        (off,) = evaluate_affine(self._equations, [[*x, *line], self._numbers])
        base = constant(inverse).times(LinearModels.stacked(off)).upper_bound
        reach = 2.0 * base + 1e-12
        for _ in range(_TRIES):
            wide = [Affine.exact(start[:, k], (swing[:, k],), reach[:, k]) for k in range(self._k)]
            _, by_y = self._by([*x, *wide])
            left = (constant(inverse) @ by_y + constant(np.broadcast_to(-np.eye(self._k), inverse.shape))).upper_bound
            near = (base + (left @ reach[..., None])[..., 0]) * (1 + 1e-12)
            proven = np.asarray((near < reach).all(axis=1))
            if proven.all():
                break
            reach = np.where(proven[:, None], reach, 1.5 * near)
        near = np.where(proven[:, None], near, np.inf)
        return [Affine.exact(start[:, k], (swing[:, k],), near[:, k]) for k in range(self._k)]

    def _displacement(self, poses: Array, x: Array) -> Array:
        """w (n, k) of xi = C x + O w, xi the displacement from home."""
        return (displacement(self._home, poses) - x @ self._chosen.T) @ self._others


def _graph(given: list[ca.SX], parts: list[ca.SX]) -> Graph:
    return Graph.of(ca.Function("follow", given, ca.cse([ca.densify(part) for part in parts])))


def _inverse(matrix: Array) -> Array:
    """Inverses (n, k, k); of singular matrices not numbers."""
    good = np.abs(np.linalg.det(matrix)) > 0
    return np.where(
        good[:, None, None], np.linalg.inv(np.where(good[:, None, None], matrix, np.eye(len(matrix[0])))), np.nan
    )
