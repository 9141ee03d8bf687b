"""Calibration: a robot's geometry from measured poses, by Gauss and Newton with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..model import Model
from .base import base_of_rows
from .calibration import Calibration
from .geometry import Geometry
from .identifiability import measurement_jacobian, measurement_rows
from .measured import Measurements, read_measurements
from .new_robot import Change, file_value, with_changes
from .overdetermined import nearest_poses
from .prior import Z95
from .sampling import random_poses

if TYPE_CHECKING:
    import xarray as xr

_FAR = 10.0  # sizes of a robot from home, beyond which nothing of it is
GEOMETRY_UNCERTAINTY = 0.02
"""Standard uncertainty [m, rad] of the file's geometry about which nothing is said: measurements decide."""
HUBER = 2.5
"""Residuals beyond this many standard deviations first count by their size, not by its square."""
FAR = 5.0
"""Residuals beyond this many standard deviations do not count once the others are met."""
LEAST = 1e-14
"""Least noise [m, rad]: rounding of poses."""
ROUNDING = 1e-11
"""Derivatives along a direction below this part of the largest are rounding: measurements do not show it."""
ITERATIONS = 60


def calibrate(
    model: Model | Robot | str | Path,
    data: str | Path | xr.Dataset | Measurements,
    *,
    numbers: Sequence[str] = (),
    offsets: bool = True,
    frames: bool = False,
    tool: Any = None,
    anchor: Any = None,
    uncertainty: float = GEOMETRY_UNCERTAINTY,
    robust: bool = True,
) -> Calibration:
    """Points, lengths, directions and offsets of a robot from measured poses.

    ``data`` is a CSV file, a labelled dataset (see :func:`read_measurements`) or :class:`Measurements`. ``numbers``
    choose what is to be found (path patterns); what measurements do not show stays near the file's values, which are
    taken to be uncertain by ``uncertainty`` [m, rad]. ``frames`` finds where the device's frame and its target on the
    platform are. ``robust`` leaves out rows that are off by more than five standard deviations of the others.
    """
    model = model if isinstance(model, Model) else Model(model)
    if not isinstance(data, Measurements):
        data = read_measurements(model, data, tool=tool, anchor=anchor)
    check_uncertainty(model, uncertainty)
    if not frames and data.kind in ("pose", "position"):
        away = float(np.linalg.norm(data.values[:, :3] - model.robot.home.position, axis=1).min())
        if away > _FAR * model.robot.farthest:
            raise InputError(
                f"measurements: every place is {away:.4g} m and more from home, the robot measures "
                f"{model.robot.farthest:.3g} m; in other units, or in the frame of the device (frames=True, --frames)?"
            )
    geometry = Geometry(model, tuple(numbers), offsets=offsets, frames=frames)
    solver = _Solver(geometry, data, uncertainty, robust)
    return solver.result(*solver.run())


FINEST = 1e-9
"""Least uncertainty [m, rad] of a file's geometry: no robot is built more exactly."""


def check_uncertainty(model: Model, uncertainty: float) -> None:
    """An error for what is no uncertainty [m, rad] of a robot's geometry."""
    if not uncertainty >= FINEST:
        raise InputError(f"uncertainty: at least {FINEST:g} m is needed, got {uncertainty:g}; below, none moves")
    if uncertainty > model.robot.farthest:
        raise InputError(
            f"uncertainty: {uncertainty:g} m is more than the robot's size, {model.robot.farthest:.3g} m; write "
            f"{uncertainty / 1e3:g} if {uncertainty:g} mm are meant"
        )


class _Solver:
    def __init__(self, geometry: Geometry, data: Measurements, uncertainty: float, robust: bool) -> None:
        self.geometry, self.data, self.robust = geometry, data, robust
        self.notes: list[str] = []
        self.sigma = np.full(geometry.count, uncertainty)
        self.guess = self._start()
        n, c = data.values.shape
        rows = measurement_jacobian(geometry, data, self.guess, np.zeros(geometry.count), np.eye(4), np.eye(4))[1]
        self.base = base_of_rows(rows.reshape(-1, geometry.count), tuple(geometry.numbers))
        # a row for each combination that poses of this kind could show at all
        if n * c < self._possible():
            need = -(-self._possible() // c)
            raise InputError(
                f"measurements: {n} poses give {n * c} values for {self._possible()} combinations of {geometry.count} "
                f"numbers: at least {need} poses are needed, or fewer numbers (numbers=, --numbers)"
            )

    def _possible(self) -> int:
        poses = random_poses(self.geometry.model, 3 * self.geometry.count, 0)
        rows = measurement_rows(
            self.geometry, poses, self.data.kind, self.data.tool, np.atleast_2d(self.data.anchor)[0]
        )
        return base_of_rows(rows, tuple(self.geometry.numbers)).count

    def _start(self) -> Array:
        """Poses with the readings, by the file's geometry."""
        model, data, zero = self.geometry.model, self.data, np.zeros(self.geometry.count)
        if data.kind == "pose" and not self.geometry.frames:
            guess = np.tile(np.eye(4), (len(data.values), 1, 1))
            guess[:, :3, 3] = data.values[:, :3]
            guess[:, :3, :3] = Rotation.from_rotvec(data.values[:, 3:]).as_matrix()
        else:
            guess = np.tile(model.robot.home.matrix, (len(data.readings), 1, 1))
        pose = self.geometry.poses(data.readings, zero, guess)
        lost = np.flatnonzero(~np.isfinite(pose).all(axis=(1, 2)))
        if len(lost):
            more = self.geometry.equations > 6
            pose[lost] = (nearest_poses(model, data.readings[lost], model.robot.home.matrix) if more else
                          model.forward_kinematics(data.readings[lost], full_output=True).pose)  # fmt: skip
        lost = np.flatnonzero(~np.isfinite(pose).all(axis=(1, 2)))
        if len(lost):
            raise InputError(
                f"measurements: row {lost[0]}: the robot cannot take the readings "
                f"{np.round(data.readings[lost[0]], 6).tolist()}; at home they are "
                f"{np.round(model.inverse_kinematics(model.robot.home.matrix), 6).tolist()}. Units?"
            )
        return pose

    def run(self) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
        """Steps p, covariance, frames, residuals and weights at the end; noise by lengths and angles.

        First all measurements count, far ones by their size (Huber); then those beyond five standard deviations do not.
        """
        geometry, data = self.geometry, self.data
        k, groups = geometry.count, data.groups
        p, base, tool, pose = np.zeros(k), np.eye(4), np.eye(4), self.guess
        moved, weight = np.zeros(k), np.ones(data.values.shape)
        judged, before = not self.robust, (np.inf, np.inf)
        for turn in range(ITERATIONS):
            pose = geometry.poses(data.readings, p, pose)
            if not np.isfinite(pose).all():
                raise InputError("measurements: the geometry found cannot take all readings; are rows mixed up?")
            values, derivatives = measurement_jacobian(geometry, data, pose, p, base, tool)
            residual = data.values - values
            noise = self._noise(residual, weight, groups)
            if self.robust:
                weight = self._weights(residual, groups, judged)
                noise = self._noise(residual, weight, groups)
            scale = np.sqrt(weight) / noise[groups]
            rows = (derivatives * scale[..., None]).reshape(-1, k) * self.sigma
            step, covariance = self._step(rows, (residual * scale).ravel(), moved)
            moved = moved + step
            p, base, tool = self._applied(p, base, tool, step)
            now = float(np.abs(step).max()), float(np.sqrt((weight * residual**2).mean()))
            # Newton's steps and residuals fall until rounding makes them: then they fall no more
            ended = now[0] < 1e-14 or (now[0] < 1e-7 and now[0] > 0.5 * before[0] and now[1] > 0.5 * before[1])
            if judged and ended and turn:
                break
            before = now
            if not judged and (ended or now[0] < 1e-3 * np.sqrt(np.diag(covariance)).max()):
                judged, before = True, (np.inf, np.inf)
        else:
            self.notes.append(
                f"{ITERATIONS} iterations were too few: numbers last moved by up to {now[0]:.2g} m or rad; "
                "intervals may be "
                "too narrow"
            )
        return moved, covariance, base, tool, residual, weight, noise

    def _step(self, rows: Array, side: Array, moved: Array) -> tuple[Array, Array]:
        """The step (k,) and covariance (k, k) by measurements and file, of rows in units of the file's uncertainty.

        In directions that measurements do not show the file alone decides. They are cut off: rounding of the rows, by
        the small noise of good measurements, would outweigh the file there.
        """
        size = len(moved)
        triangle = np.zeros((size + 1, size + 1))
        factor = np.linalg.qr(np.column_stack([rows, side]), mode="r")
        triangle[: len(factor)] = factor
        left, values, right = np.linalg.svd(triangle[:, :size], full_matrices=False)
        values = np.where(values > ROUNDING * values[0], values, 0.0)
        along = (values * (left.T @ triangle[:, size]) - right @ (moved / self.sigma)) / (values**2 + 1)
        spread = right.T / np.sqrt(values**2 + 1) * self.sigma[:, None]
        return right.T @ along * self.sigma, spread @ spread.T

    def _weights(self, residual: Array, groups: NDArray[np.int64], judged: bool) -> Array:
        """Weights (n, c): of far ones less, or none; the usual size of residuals is that by their median."""
        left = max(residual.size - self.base.count, 1) / residual.size
        weight = np.ones_like(residual)
        for where in _moving(residual, groups):
            size = np.abs(residual[:, where])
            size = size / max(1.4826 * float(np.median(size)) / np.sqrt(left), LEAST)
            weight[:, where] = size <= FAR if judged else np.minimum(HUBER / np.maximum(size, 1e-300), 1.0)
        # a measurement that stands out in one value is wrong as a whole
        return np.where(weight.all(axis=1, keepdims=True), weight, 0.0) if judged else weight

    def _noise(self, residual: Array, weight: Array, groups: NDArray[np.int64]) -> Array:
        """Standard deviation of lengths and of angles, from residuals with the numbers' share of the degrees of
        freedom left out."""
        used = int((weight > 0).sum())
        left = max(used - self.base.count, 1) / used
        result = np.full(2, np.nan)
        for where in _moving(residual, groups):
            own = residual[:, where] * np.sqrt(weight[:, where])
            count = max(int((weight[:, where] > 0).sum()), 1)
            result[groups[where[0]]] = max(float(np.sqrt((own**2).sum() / count / left)), LEAST)
        return np.where(np.isnan(result), 1.0, result)

    def _applied(self, p: Array, base: Array, tool: Array, step: Array) -> tuple[Array, Array, Array]:
        p = p + step
        if not self.geometry.frames:
            return p, base, tool
        b, g = step[-12:-6], step[-6:]
        turn = Rotation.from_rotvec(b[3:]).as_matrix()
        new_base, new_tool = np.eye(4), np.eye(4)
        new_base[:3, :3] = turn @ base[:3, :3]
        new_base[:3, 3] = base[:3, 3] + b[:3] + (turn - np.eye(3)) @ base[:3, 3]
        new_tool[:3, :3] = Rotation.from_rotvec(g[3:]).as_matrix() @ tool[:3, :3]
        new_tool[:3, 3] = tool[:3, 3] + g[:3]
        return p, new_base, new_tool

    def result(
        self, p: Array, covariance: Array, base: Array, tool: Array, residual: Array, weight: Array, noise: Array
    ) -> Calibration:
        geometry, data = self.geometry, self.data
        values = geometry.values_at(p)
        deviation = np.sqrt(np.diag(covariance))
        changes = []
        shown = {n.path for n, s in zip(geometry.numbers, self.base.identifiability, strict=True) if s != "not"}
        for path, where, basis in geometry._blocks:
            if path not in shown and not p[where].any():
                continue  # what no measurement shows and no other number has moved stays without a new source
            own = basis @ covariance[where, where] @ basis.T
            half = Z95 * np.sqrt(np.diag(own)).reshape(values[path].shape)
            unit = "" if geometry.numbers[where.start].unit == "rad" and basis.shape[1] == 2 else "m"
            changes.append(Change(path, unit, file_value(geometry.robot, path), values[path], half))
        note = f"calibrated from {len(data.values)} measurements of {data.kind}"
        try:
            robot = with_changes(geometry.robot, changes, note, geometry.following(values))
        except ValidationError as error:
            message = str(error.errors()[0]["msg"])
            raise InputError(
                f"calibrate: the legs of {geometry.robot.name!r} cannot have the geometry found ({message}); choose "
                "the points and lengths that may change: numbers= in Python, --numbers on the command line"
            ) from None
        rows = (weight == 0.0).any(axis=1)
        notes = self.notes.copy()
        if rows.any():
            notes.append(f"{int(rows.sum())} measurements stand out and do not count: rows "
                         f"{', '.join(map(str, np.flatnonzero(rows)[:8]))}")  # fmt: skip
        if geometry.jamming:
            notes.append(
                f"{len(geometry.jamming)} numbers stay as the file has them, since legs that repeat each other's "
                f"constraints could not close if they changed alone: {_listed(geometry.jamming)}"
            )
        together = sum(s == "together" for s in self.base.identifiability)
        if together:
            notes.append(
                f"{self.base.count} combinations of {geometry.count} numbers are seen; {together} numbers are seen "
                "together with others only and stay near the file's values in what is not seen"
            )
        wide = [n.name for n, d, s in zip(geometry.numbers, deviation, self.sigma, strict=True) if d > 0.7 * s]
        if wide:
            notes.append(f"these measurements hardly show: {_listed(wide)}")
        before = (
            data.values
            - measurement_jacobian(geometry, data, self.guess, np.zeros(geometry.count), np.eye(4), np.eye(4))[0]
        )
        present = np.isin([0, 1], data.groups)
        return Calibration(robot, geometry, self.base, p, covariance, residual, before, rows,
                           np.where(present, noise, np.nan), base, tool, changes, tuple(notes))  # fmt: skip


def _moving(residual: Array, groups: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Columns of lengths and of angles, without those that are met exactly while others of the kind are not."""
    middle = np.median(np.abs(residual), axis=0)
    found = []
    for g in np.unique(groups):
        own = np.flatnonzero(groups == g)
        found.append(own[middle[own] >= 1e-6 * middle[own].max()])
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
