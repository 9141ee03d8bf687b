"""Coordinates of lower-mobility robots, and motions they cannot make.

``GeneralizedCoordinates`` is for robots whose degrees of freedom are fixed base axes, ``ConstrainedMotion``
for those that move as their legs let them: what follows from the coordinates is found by a compiled iteration.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description.poses import rotation_vector
from ..errors import InputError
from ..legs.contract import SMALLEST_MARGIN
from ..mechanism.closing import closed
from ..mechanism.dependent_coordinates import constraints
from ..platforms import DegreesOfFreedom
from .kernels import Functions

_DIRECTIONS = ("x", "y", "z", "rotation about x", "rotation about y", "rotation about z")
# Motions come from computations with rounding; a real component is larger than this part of the largest.
_TOLERANCE = 1e-9
# Poses may come from logs, printed with seven digits.
_POSE_TOLERANCE = 5e-7


class GeneralizedCoordinates:
    """Motions of a robot along and about fixed base axes: twist = S u.

    ``home`` is the pose where coordinates are zero: the robot's (4, 4), or one a row (n, 4, 4) that only moves it.
    """

    def __init__(self, dof: DegreesOfFreedom, size: float, home: Array) -> None:
        self.dof, self._size, self._home = dof, size, home

    def motion(self, x: Array, xdot: Array, xddot: Array) -> tuple[Array, Array, Array]:
        """Pose (n, 4, 4), twist and acceleration (n, 6) from coordinates (n, m): p = p_home + S x, R = R(theta) R_home.

        R(theta) = k k^T + cos(theta) (1 - k k^T) + sin(theta) k~ about the axis k of the robot's one rotation.
        """
        dof = self.dof
        m = dof.count
        move = x[:, :m] @ dof.basis.T
        pose = np.broadcast_to(self._home, (len(x), 4, 4)).copy()
        pose[:, :3, 3] += move[:, :3]
        if dof.axis is not None:
            home = dof.home[:3, :3]
            along, across = np.outer(dof.axis, dof.axis), np.cross(dof.axis, np.eye(3)).T
            angle = (move[:, 3:] @ dof.axis)[:, None, None]
            pose[:, :3, :3] = along @ home + np.cos(angle) * (home - along @ home) + np.sin(angle) * (across @ home)
        if x.shape[1] == m:
            return pose, xdot @ dof.basis.T, xddot @ dof.basis.T
        first, second = (np.concatenate([u[:, :m] @ dof.basis.T, u[:, m:]], axis=1) for u in (xdot, xddot))
        return pose, first, second

    def coordinates(self, poses: Array, internal: Array | None = None) -> Array:
        """Coordinates (n, m) of poses (n, 4, 4), and internal ones after them (n, m + k)."""
        dof = self.dof
        move = np.zeros((len(poses), 6))
        move[:, :3] = poses[:, :3, 3] - self._home[..., :3, 3]
        if dof.axis is not None:
            turned = poses[:, :3, :3] @ dof.home[:3, :3].T
            twice = turned[:, (2, 0, 1), (1, 2, 0)] - turned[:, (1, 2, 0), (2, 0, 1)]
            angle = np.arctan2(twice @ dof.axis, np.trace(turned, axis1=1, axis2=2) - 1)
            move[:, 3:] = angle[:, None] * dof.axis
        return _with_internal(move @ dof.inverse.T, internal)

    def exact_poses(self, poses: Array, name: str, batched: bool, internal: Array | None = None) -> Array:
        """Poses that the robot can take, as they are used; an error that names the component that is off."""
        x = self.coordinates(poses, internal)
        near, _, _ = self.motion(x, x, x)
        self._check_poses(poses, near, name, batched)
        return poses

    def nearest_poses(self, poses: Array, internal: Array | None = None) -> tuple[Array, NDArray[np.bool_]]:
        """Poses with the rounding of printed digits removed, and whether the robot can take them."""
        x = self.coordinates(poses, internal)
        near, _, _ = self.motion(x, np.zeros_like(x), np.zeros_like(x))
        with np.errstate(invalid="ignore"):
            close = np.abs(poses - near).max(axis=(1, 2)) <= _POSE_TOLERANCE * max(self._size, 1.0)
        return np.where(close[:, None, None], near, poses), close

    def _check_poses(self, poses: Array, near: Array, name: str, batched: bool) -> None:
        difference = poses - near
        allowed = max(self._size, 1.0)
        if np.abs(difference).max(initial=0.0) <= 0.4 * _POSE_TOLERANCE * allowed:  # then no component below is larger
            return
        off = np.concatenate([difference[:, :3, 3], np.zeros((len(poses), 3))], axis=1)
        off[:, 3:] = rotation_vector(poses[:, :3, :3] @ near[:, :3, :3].transpose(0, 2, 1))
        _raise_if_off(self.dof, off, np.full(len(poses), allowed), name, "be at", batched, ("m", "rad"))

    def check_motion(self, given: Mapping[str, Array], batched: bool) -> None:
        """Raise if a twist or acceleration (n, 6), by name, has a component the robot cannot make."""
        allowed = (self.dof.basis @ self.dof.inverse).T
        for name in ("twist", "acceleration"):
            if name in given:
                rows = given[name][:, :6]
                self._check_rows(rows, rows @ allowed, name, batched)

    def _check_rows(self, rows: Array, possible: Array, name: str, batched: bool) -> None:
        scale = np.maximum(np.abs(rows).max(axis=1, initial=0.0), 1.0)
        units = ("m/s", "rad/s") if name == "twist" else ("m/s^2", "rad/s^2")
        _raise_if_off(self.dof, rows - possible, scale, name, "move along", batched, units)


class ConstrainedMotion(GeneralizedCoordinates):
    """Motions of a robot whose platform does more than its coordinates say, as its legs demand.

    Coordinates are components of the displacement from home, of the origin and of the rotation vector, or those of
    joints.
    """

    def __init__(self, dof: DegreesOfFreedom, size: float, home: Array, kernels: Functions) -> None:
        super().__init__(dof, size, home)
        self._kernels = kernels

    def motion(self, x: Array, xdot: Array, xddot: Array) -> tuple[Array, Array, Array]:
        """The same, with what follows solved from home; NaN where the legs do not allow the coordinates."""
        rows = (np.ascontiguousarray(row, dtype=np.float64) for row in (x, xdot, xddot))
        pose, twist, acceleration, quality = self._kernels.get("motion")(*rows)
        lost = ~(quality > SMALLEST_MARGIN)
        for result in (pose, twist, acceleration):
            result[lost] = np.nan
        return pose, twist, acceleration

    def coordinates(self, poses: Array, internal: Array | None = None) -> Array:
        """Coordinates (n, m) of poses (n, 4, 4), and internal ones after them (n, m + k)."""
        x = self.displacements(poses) @ self.dof.components
        if self.dof.of_joints.any():
            given = (
                []
                if internal is None
                else [np.ascontiguousarray(np.broadcast_to(internal, (len(x), *internal.shape[1:])))]
            )
            joints, quality = self._kernels.get("joint_coordinates")(np.ascontiguousarray(poses), *given)
            x[:, self.dof.of_joints] = np.where((quality > SMALLEST_MARGIN)[:, None], joints, np.nan)
        return _with_internal(x, internal)

    def displacements(self, poses: Array) -> Array:
        """Displacements (n, 6) of poses (n, 4, 4) from home: of the origin, and the rotation vector."""
        rotation = self.dof.home[:3, :3]
        turned = rotation_vector(poses[:, :3, :3] @ rotation.T)
        return np.concatenate([poses[:, :3, 3] - self._home[..., :3, 3], turned], axis=1)

    def exact_poses(self, poses: Array, name: str, batched: bool, internal: Array | None = None) -> Array:
        """Poses that the robot can take, what follows from their coordinates made exact."""
        x = self.coordinates(poses, internal)
        near, _, _ = self.motion(x, np.zeros_like(x), np.zeros_like(x))
        found = np.isfinite(near[:, 0, 0])
        exact = np.where(found[:, None, None], near, poses)
        self._check_poses(poses, exact, name, batched)
        self._check_unreached(poses, x, np.flatnonzero(~found), name, batched)
        return exact

    def _check_unreached(self, poses: Array, x: Array, index: NDArray[np.int64], name: str, batched: bool) -> None:
        """Raise if legs that close do not allow one of the poses whose coordinates no motion from home reaches."""
        if not len(index):
            return
        mechanism = self._kernels.mechanism
        kernel = self._kernels.at(index).custom("constraints", lambda: closed(mechanism, constraints(mechanism)))
        rows = np.broadcast_to(poses, (len(x), 4, 4))[index], x[index, self.dof.count :]
        values, quality = kernel(*(np.ascontiguousarray(row) for row in rows[: len(kernel.inputs)]))
        off = np.abs(values).max(axis=1) > _POSE_TOLERANCE * max(self._size, 1.0)
        bad = index[(quality > SMALLEST_MARGIN) & off]
        if len(bad):
            where = f" of state {bad[0]}" if batched else ""
            raise InputError(
                f"{name}: the legs do not allow the pose{where}, and no pose with its coordinates was found along "
                f"the path from home; the degrees of freedom are {', '.join(self.dof.names)} (use "
                "model.motion for admissible motions)",
                code="not_admissible",
            )

    def check_motion(self, given: Mapping[str, Array], batched: bool) -> None:
        """Raise if a twist or acceleration (n, 6), by name, has a component the robot cannot make at its pose."""
        kernel = self._kernels.get("follow")
        rows = {p.name: given.get(p.name, np.zeros((1, *p.shape))) for p in kernel.inputs}
        count = np.broadcast_shapes(*((len(row),) for row in rows.values()))
        full = {name: np.ascontiguousarray(np.broadcast_to(a, (*count, *a.shape[1:]))) for name, a in rows.items()}
        *possible, quality = kernel(*full.values())
        good = (quality > SMALLEST_MARGIN)[:, None]
        for name, one in zip(("twist", "acceleration"), possible, strict=True):
            if name in given:
                self._check_rows(full[name][:, :6], np.where(good, one, full[name])[:, :6], name, batched)


def _with_internal(x: Array, internal: Array | None) -> Array:
    """Coordinates of the platform (n, m) with internal ones (n or 1, k) after them."""
    if internal is None:
        return x
    count = np.broadcast_shapes((len(x),), (len(internal),))
    return np.concatenate([np.broadcast_to(part, (*count, part.shape[1])) for part in (x, internal)], axis=1)


def generalized_coordinates(
    dof: DegreesOfFreedom, size: float, kernels: Functions, home: Array | None = None
) -> GeneralizedCoordinates:
    """The motions of a robot of fewer than six degrees of freedom, or of designs of it, whose rows have a ``home``
    each."""
    origin = dof.home if home is None else home
    if kernels.mechanism.platform.is_constrained:
        return ConstrainedMotion(dof, size, origin, kernels)
    return GeneralizedCoordinates(dof, size, origin)


def _raise_if_off(
    dof: DegreesOfFreedom, off: Array, scale: Array, name: str, verb: str, batched: bool, units: tuple[str, str]
) -> None:
    tolerance = _TOLERANCE if verb == "move along" else _POSE_TOLERANCE
    over = np.abs(off) > tolerance * scale[:, None]
    if not over.any():
        return
    state, component = np.argwhere(over)[0].tolist()
    where = f" in state {state}" if batched else ""
    amount = f"{off[state, component]:.6g} {units[component >= 3]}"
    raise InputError(
        f"{name}: the robot cannot {verb} {_DIRECTIONS[component]} ({amount}{where}); its degrees "
        f"of freedom are {', '.join(dof.names)} (use model.motion for admissible motions)",
        code="not_admissible",
    )
