"""Calibration: a robot's geometry from measured poses, by Gauss and Newton with exact derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..limits import within_all
from ..model import Model
from .base import BaseParameters, base_of_rows
from .geometry import Geometry
from .measured import COLUMNS, FLOATING, MeasurementKind, Measurements, measurements, predicted, read_measurements
from .new_robot import Z95, Change, file_value, with_changes
from .sampling import nearest_poses, random_poses

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
    parameters: Sequence[str] = (),
    offsets: bool = True,
    frames: bool | None = None,
    tool: Any = None,
    anchor: Any = None,
    direction: Any = None,
    uncertainty: float = GEOMETRY_UNCERTAINTY,
    robust: bool = True,
    validate: str | Path | xr.Dataset | Measurements | None = None,
    noise: float | None = None,
    check: bool = True,
) -> Calibration:
    """Calibrate the geometry of a robot (points, lengths, directions, offsets) from measured poses.

    Parameters that the measurements do not show stay near the values of the file.

    Parameters
    ----------
    model : Model, Robot, str or Path
        The robot: a model, a robot, a library name or a robot file.
    data : str, Path, xarray.Dataset or Measurements
        Measurements: a CSV file or labelled dataset (see ``read_measurements``), or ``Measurements``.
    parameters : sequence of str, optional
        Path patterns of the parameters to find. Default: all geometric parameters.
    offsets : bool, optional
        Whether to find the offsets of the actuators.
    frames : bool, optional
        Whether to find the frame of the measuring device and its target on the platform. Default: for heights and
        gauges, whose zero and direction are never known.
    tool : array_like, shape (3,), optional
        Measured point in the platform frame [m].
    anchor : array_like, shape (3,) or (n, 3), optional
        Fixed point in {B} from which distances are measured [m].
    direction : array_like, shape (3,), optional
        Direction in which a gauge reads, base axes.
    uncertainty : float, optional
        Standard uncertainty of the file's values [m, rad].
    robust : bool, optional
        Whether to leave out rows that are off by more than five standard deviations of the others.
    validate : same as data, optional
        Measurements of the same kind that are kept for validation.
    noise : float, optional
        Standard deviation of the measuring device [m; rad of tilts], which the residuals are judged by.
    check : bool, optional
        Whether to refuse measurements that no geometry explains: what is left of them is a hundredth of the robot or
        more, or more than the file's uncertainty. Exchanged readings are named.

    Returns
    -------
    Calibration
        The calibrated robot, with uncertainties and residuals.

    Raises
    ------
    InputError
        If the robot cannot reach the readings, or no geometry explains the measurements.
    """
    model = model if isinstance(model, Model) else Model(model)
    model.robot.refuse_internal("calibrate")
    if not isinstance(data, Measurements):
        data = read_measurements(model, data, tool=tool, anchor=anchor, direction=direction)
    frames = data.kind in FLOATING if frames is None else frames
    check_uncertainty(model, uncertainty)
    if not frames and data.kind in ("pose", "position"):
        away = float(np.linalg.norm(data.values[:, :3] - model.robot.home.position, axis=1).min())
        if away > _FAR * model.robot.farthest:
            raise InputError(
                f"measurements: every place is {away:.4g} m and more from home, the robot measures "
                f"{model.robot.farthest:.3g} m; in other units, or in the frame of the device (frames=True)?"
            )
    geometry = Geometry(model, tuple(parameters), offsets=offsets, frames=frames)
    if isinstance(validate, (str, Path)) or (validate is not None and not isinstance(validate, Measurements)):
        validate = read_measurements(model, validate, tool=tool, anchor=anchor, direction=direction)
    if validate is not None and validate.kind != data.kind:
        raise InputError(f"validate: measurements of {data.kind} are needed, got {validate.kind}")
    solver = _Solver(geometry, data, uncertainty, robust)
    found = solver.result(*solver.run(), validate, noise)
    if check:
        _refuse_unexplained(found, data, uncertainty)
    return found


UNEXPLAINED = 0.01
"""Residuals of this part of the robot's size [m], or of so many radians, are no noise of a measuring device."""


def _refuse_unexplained(found: Calibration, data: Measurements, uncertainty: float) -> None:
    """An error where no geometry explains the measurements; exchanged readings are named."""
    model = found.geometry.model
    limits = np.array([min(UNEXPLAINED * model.robot.farthest, uncertainty), max(UNEXPLAINED, uncertainty)])
    if not (found.noise > limits).any():
        return
    size = ", ".join(f"{x:.3g} {unit}" for x, unit in zip(found.noise, ("m", "rad"), strict=True) if np.isfinite(x))
    names = _exchanged_readings(found.geometry, data, float(np.median(np.abs(found.before))))
    what = (
        f"the readings of {names[0]} and {names[1]} seem exchanged: rename their columns"
        if names
        else "rows, columns, units or signs of the readings are mixed up, or the robot is another one"
    )
    raise InputError(
        f"measurements: no geometry explains them: {size} (rms) are left after calibration; {what}. check=False takes "
        "them as they are",
        code="swapped" if names else "unexplained",
    )


def _exchanged_readings(geometry: Geometry, data: Measurements, own: float) -> tuple[str, str] | None:
    """Names of two actuators whose exchanged readings agree far better with the file's geometry; None if none do.

    ``own`` is the median of the residuals with the readings as they are.
    """
    if geometry.frames or data.second is not None:
        return None
    model, zero = geometry.model, np.zeros(geometry.count)
    sizes: dict[tuple[int, int], float] = {}
    for i, j in combinations(range(data.readings.shape[1]), 2):
        order = np.arange(data.readings.shape[1])
        order[[i, j]] = j, i
        pose = model.forward_kinematics(data.readings[:, order], full_output=True).pose
        there = np.isfinite(pose).all(axis=(1, 2))
        if there.mean() < 0.8:
            continue
        tried = replace(data.rows(there), readings=data.readings[there][:, order])
        left = tried.values - measurement_jacobian(geometry, tried, pose[there], zero, np.eye(4), np.eye(4))[0]
        sizes[i, j] = float(np.median(np.abs(left)))
    best, *others = sorted(sizes, key=lambda pair: sizes[pair]) or [(0, 0)]
    # as much better than the readings as they are, and clearly better than any other exchange
    if not sizes or sizes[best] > 0.5 * min([own, *(sizes[pair] for pair in others)]):
        return None
    return model.actuators[best[0]].name, model.actuators[best[1]].name


FINEST = 1e-9
"""Least uncertainty [m, rad] of a file's geometry: no robot is built more exactly."""


def check_uncertainty(model: Model, uncertainty: float) -> None:
    """An error for what is no uncertainty [m, rad] of a robot's geometry."""
    if not uncertainty >= FINEST:
        raise InputError(
            f"uncertainty: must be at least {FINEST:g} m, got {uncertainty:g}; below that no parameter changes"
        )
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
        self.guess = self._start_of(geometry, data)
        n, c = data.values.shape
        rows = measurement_jacobian(geometry, data, self.guess, np.zeros(geometry.count), np.eye(4), np.eye(4))[1]
        self.base = base_of_rows(rows.reshape(-1, geometry.count), tuple(geometry.numbers))
        # a row for each combination that poses of this kind could show at all
        if n * c < self._possible():
            need = -(-self._possible() // c)
            raise InputError(
                f"measurements: {n} poses give {n * c} values for {self._possible()} combinations of {geometry.count} "
                f"parameters: at least {need} poses are needed, or fewer parameters (parameters=)"
            )

    def _possible(self) -> int:
        poses = random_poses(self.geometry.model, 3 * self.geometry.count, 0)
        rows = measurement_rows(
            self.geometry,
            poses,
            self.data.kind,
            self.data.tool,
            np.atleast_2d(self.data.anchor)[0],
            self.data.direction,
        )
        return base_of_rows(rows, tuple(self.geometry.numbers)).count

    @staticmethod
    def _start_of(geometry: Geometry, data: Measurements) -> Array:
        """Poses with the readings, by the file's geometry."""
        model, zero, readings = geometry.model, np.zeros(geometry.count), data.all_readings
        if data.kind == "pose" and not geometry.frames:
            guess = np.tile(np.eye(4), (len(data.values), 1, 1))
            guess[:, :3, 3] = data.values[:, :3]
            guess[:, :3, :3] = Rotation.from_rotvec(data.values[:, 3:]).as_matrix()
        else:
            guess = np.tile(model.robot.home.matrix, (len(readings), 1, 1))
        pose = geometry.poses(readings, zero, guess)
        lost = np.flatnonzero(~np.isfinite(pose).all(axis=(1, 2)))
        if len(lost):
            more = geometry.equations > 6
            pose[lost] = (nearest_poses(model, readings[lost], model.robot.home.matrix) if more else
                          model.forward_kinematics(readings[lost], full_output=True).pose)  # fmt: skip
        lost = np.flatnonzero(~np.isfinite(pose).all(axis=(1, 2)))
        if len(lost):
            names = _exchanged_readings(geometry, data, model.robot.farthest)
            if names:
                raise InputError(
                    f"measurements: row {lost[0]}: the robot cannot reach the readings; those of {names[0]} and "
                    f"{names[1]} seem exchanged: rename their columns",
                    code="swapped",
                )
            raise InputError(
                f"measurements: row {lost[0]}: the robot cannot reach the readings "
                f"{np.round(readings[lost[0]], 6).tolist()}; at home they are "
                f"{np.round(model.inverse_kinematics(model.robot.home.matrix), 6).tolist()}. Check the units",
                code="unreachable",
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
            pose = geometry.poses(data.all_readings, p, pose)
            if not np.isfinite(pose).all():
                raise InputError("measurements: the estimated geometry cannot reach all readings; are rows mixed up?")
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
                f"{ITERATIONS} iterations were too few: parameters last changed by up to {now[0]:.2g} m or rad; "
                "intervals may be too narrow"
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

    def validated(self, data: Measurements, p: Array, base: Array, tool: Array) -> Array:
        """Residuals (n, c) of measurements that were kept for validation."""
        start = _Solver._start_of(self.geometry, data)
        pose = self.geometry.poses(data.all_readings, p, start)
        if not np.isfinite(pose).all():
            raise InputError("validate: the calibrated robot cannot reach all readings; are rows mixed up?")
        return np.asarray(data.values - measurement_jacobian(self.geometry, data, pose, p, base, tool)[0])

    def result(
        self,
        p: Array,
        covariance: Array,
        base: Array,
        tool: Array,
        residual: Array,
        weight: Array,
        noise: Array,
        validate: Measurements | None = None,
        expected: float | None = None,
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
                "the points and lengths that may change: parameters="
            ) from None
        rows = (weight == 0.0).any(axis=1)
        notes = self.notes.copy()
        if rows.any():
            notes.append(f"{int(rows.sum())} measurements are outliers and not used: rows "
f"{', '.join(map(str, np.flatnonzero(rows)[:8]))}")  # fmt: skip
        if geometry.jamming:
            notes.append(
                f"{len(geometry.jamming)} parameters keep the file's values, since redundant constraints of the "
                f"legs could not close if they changed alone: {_listed(geometry.jamming)}"
            )
        together = sum(s == "together" for s in self.base.identifiability)
        if together:
            notes.append(
                f"{self.base.count} combinations of {geometry.count} parameters are identifiable; {together} "
                "parameters are identifiable only together with others and stay near the file's values in the "
                "rest"
            )
        wide = [n.name for n, d, s in zip(geometry.numbers, deviation, self.sigma, strict=True) if d > 0.7 * s]
        if wide:
            notes.append(f"hardly identifiable from these measurements: {_listed(wide)}")
        before = (
            data.values
            - measurement_jacobian(geometry, data, self.guess, np.zeros(geometry.count), np.eye(4), np.eye(4))[0]
        )
        present = np.isin([0, 1], data.groups)
        kept = None if validate is None else self.validated(validate, p, base, tool)
        return Calibration(robot, geometry, self.base, p, covariance, residual, before, rows,
                           np.where(present, noise, np.nan), base, tool, changes, kept, expected,
                           tuple(notes))  # fmt: skip


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


# ----------------------------------------------------------------------------------------------------------------------
# What measured poses say about a robot's geometry.


@dataclass(frozen=True)
class Calibration:
    """What measured poses say about a robot's geometry.

    Attributes
    ----------
    robot : Robot
        The calibrated robot.
    geometry : Geometry
        The k parameters that were found.
    base : BaseParameters
        Combinations that the measurements determine.
    steps : ndarray, shape (k,)
        Changes from the values of the file, from measurements and file together.
    covariance : ndarray, shape (k, k)
        Their covariance.
    residuals : ndarray, shape (n, c)
        Measured minus computed values, after calibration.
    before : ndarray, shape (n, c)
        The same before calibration.
    outliers : ndarray of bool, shape (n,)
        Measurements that were left out.
    noise : ndarray, shape (2,)
        Noise of lengths [m] and angles [rad]; NaN if there are none.
    base_frame : ndarray, shape (4, 4)
        {B} in the frame of the measuring device.
    tool_frame : ndarray, shape (4, 4)
        Target of the device in the platform frame.
    changes : list of Change
        Changed fields of the robot file.
    validation : ndarray, shape (v, c), or None
        Measured minus computed values of the measurements for validation.
    expected : float or None
        Noise of the measuring device [m, rad], if it was given.
    notes : tuple of str
        Remarks.
    """

    robot: Robot
    geometry: Geometry
    base: BaseParameters
    steps: Array
    covariance: Array
    residuals: Array
    before: Array
    outliers: NDArray[np.bool_]
    noise: Array
    base_frame: Array
    tool_frame: Array
    changes: list[Change]
    validation: Array | None
    expected: float | None
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What the calibration is worth: errors of the measurements for validation, and residuals against the noise."""
        parts = []
        if self.validation is not None:
            before, after = (float(np.sqrt((x**2).mean())) for x in (self.residuals[~self.outliers], self.validation))
            good = "as good as" if after < 1.5 * before else f"{after / before:.1f} times"
            parts.append(f"residuals of the validation poses are {good} those of the fitted ones ({after:.3g} rms)")
        if self.expected is not None:
            ratio = float(np.nanmax(self.noise[:1] if np.isfinite(self.noise[0]) else self.noise)) / self.expected
            meets = (
                "as expected of the device" if ratio < 1.5 else "more than the device explains: something is missing"
            )
            parts.append(f"noise is {ratio:.2f} times that of the device, {meets}")
        return "; ".join(parts) or "not validated: keep some poses for validation"

    @property
    def offsets(self) -> dict[str, float]:
        """What is to be added to the readings of actuators whose file cannot hold it [m or rad]."""
        values = self.geometry.reading_offsets(self.steps)
        return {self.geometry.model.actuators[k].name: float(values[k]) for k in self.geometry.offsets}

    def to_dataset(self) -> xr.Dataset:
        """Parameters, steps, intervals and residuals as labelled arrays.

        Returns
        -------
        xarray.Dataset
            The arrays.
        """
        import xarray as xr

        numbers = self.geometry.numbers
        return xr.Dataset(
            {
                "file": ("number", [n.value for n in numbers]),
                "step": ("number", self.steps),
                "half_width": ("number", Z95 * np.sqrt(np.diag(self.covariance))),
                "identifiability": ("number", list(self.base.identifiability)),
                "residual": (("row", "value"), self.residuals),
                "outlier": ("row", self.outliers),
                "base_frame": (("i", "j"), self.base_frame),
                "tool_frame": (("i", "j"), self.tool_frame),
            },
            {"number": [n.name for n in numbers], "unit": ("number", [n.unit for n in numbers])},
            {"robot": self.robot.name, "identifiable": self.base.count, "numbers": len(numbers)},
        )


# ----------------------------------------------------------------------------------------------------------------------
# Which geometric numbers measurements show: derivatives of what is measured, and the combinations that they
# determine.


def identifiable(
    model: Model | Robot | str | Path,
    poses: Array,
    kind: MeasurementKind = "pose",
    *,
    parameters: Sequence[str] = (),
    offsets: bool = True,
    frames: bool | None = None,
    tool: Any = (0.0, 0.0, 0.0),
    anchor: Any = (0.0, 0.0, 0.0),
    direction: Any = None,
) -> BaseParameters:
    """Which combinations of geometric parameters measurements at given poses will determine.

    Parameters
    ----------
    model : Model, Robot, str or Path
        The robot: a model, a robot, a library name or a robot file.
    poses : ndarray, shape (n, 4, 4)
        Poses of {P} in {B}.
    kind : str, optional
        What is measured: a kind of ``Measurements``. Of marks, each pose is measured from the one before.
    parameters : sequence of str, optional
        Path patterns of the parameters to find. Default: all geometric parameters.
    offsets : bool, optional
        Whether to find the offsets of the actuators.
    frames : bool, optional
        Whether to find the frame of the measuring device and its target on the platform. Default: for heights and
        gauges.
    tool : array_like, shape (3,), optional
        Measured point in the platform frame [m].
    anchor : array_like, shape (3,) or (n, 3), optional
        Fixed point in {B} from which distances are measured [m].
    direction : array_like, shape (3,), optional
        Direction in which a gauge reads, base axes.

    Returns
    -------
    BaseParameters
        The combinations.
    """
    model = model if isinstance(model, Model) else Model(model)
    model.robot.refuse_internal("identifiable")
    frames = kind in FLOATING if frames is None else frames
    geometry = Geometry(model, tuple(parameters), offsets=offsets, frames=frames)
    return base_of_rows(measurement_rows(geometry, poses, kind, tool, anchor, direction), tuple(geometry.numbers))


def measurement_rows(
    geometry: Geometry, poses: Array, kind: MeasurementKind, tool: Any, anchor: Any, direction: Any = None
) -> Array:
    """Derivatives (n c, k) of what is measured at poses, by all numbers, at the file's values.

    Marks are at all poses: each is measured from the one before.
    """
    pose = np.asarray(poses, dtype=float)
    blank = np.zeros((len(pose), len(COLUMNS[kind]))) if kind in COLUMNS else np.zeros((len(pose), 0))
    readings = np.zeros((len(pose), geometry.readings))
    second = readings if kind == "marks" else None
    data = measurements(
        geometry.model, kind, readings, blank, tool=tool, anchor=anchor, direction=direction, second=second
    )
    if kind == "marks":
        pose = np.concatenate([pose, np.roll(pose, 1, axis=0)])
    return measurement_jacobian(geometry, data, pose, np.zeros(geometry.count), np.eye(4), np.eye(4))[1].reshape(
        -1, geometry.count
    )


def measurement_jacobian(
    geometry: Geometry, data: Measurements, pose: Array, p: Array, base: Array, tool: Array
) -> tuple[Array, Array]:
    """What is seen (n, c) of poses, and its derivatives (n, c, k) by all numbers."""
    values, by_pose, by_base, by_tool = predicted(data, pose, base, tool)
    columns = [by_pose @ geometry.derivatives(pose, p)]
    if geometry.frames:
        columns += [by_base, by_tool]
    each = np.concatenate(columns, axis=2)
    return values, each if data.second is None else each[: len(values)] + each[len(values) :]


# ----------------------------------------------------------------------------------------------------------------------
# Where to measure: poses within the workspace that tell the most about a robot's geometry (D-optimal).


@dataclass(frozen=True)
class Plan:
    """Poses to measure for a calibration, and what they will show.

    Attributes
    ----------
    poses : ndarray, shape (n, 4, 4)
        Poses of {P} in {B}.
    q : ndarray, shape (n, a)
        Their actuated coordinates [m or rad].
    base : BaseParameters
        Combinations that the measurements will determine.
    half_widths : ndarray, shape (k,)
        Half-widths of the 95 % intervals to expect.
    log_determinant : float
        log det of the information.
    limits : str
        Within how many limits of the robot file the robot stands at these poses, and which were not judged.
    """

    poses: Array
    q: Array
    base: BaseParameters
    half_widths: Array
    log_determinant: float
    limits: str = ""


def plan(
    model: Model | Robot | str | Path,
    count: int,
    kind: MeasurementKind = "pose",
    *,
    parameters: Sequence[str] = (),
    offsets: bool = True,
    frames: bool | None = None,
    tool: Any = (0.0, 0.0, 0.0),
    anchor: Any = (0.0, 0.0, 0.0),
    direction: Any = None,
    noise: tuple[float, float] = (1e-5, 2e-5),
    candidates: int = 400,
    seed: int = 0,
) -> Plan:
    """Poses whose measurements have the largest log det of information about the geometry.

    They are chosen one by one from random poses of the workspace, then exchanged as long as that helps.

    Parameters
    ----------
    model : Model, Robot, str or Path
        The robot: a model, a robot, a library name or a robot file.
    count : int
        Number of poses.
    kind : str, optional
        What is measured: a kind of ``Measurements``. Of marks, each pose is measured from the one before.
    parameters : sequence of str, optional
        Path patterns of the parameters to find. Default: all geometric parameters.
    offsets : bool, optional
        Whether to find the offsets of the actuators.
    frames : bool, optional
        Whether to find the frame of the measuring device and its target on the platform.
    tool : array_like, shape (3,), optional
        Measured point in the platform frame [m].
    anchor : array_like, shape (3,) or (n, 3), optional
        Fixed point in {B} from which distances are measured [m].
    direction : array_like, shape (3,), optional
        Direction in which a gauge reads, base axes.
    noise : (float, float), optional
        Noise of lengths [m] and angles [rad].
    candidates : int, optional
        Number of random poses to choose from.
    seed : int, optional
        Random seed.

    Returns
    -------
    Plan
        The poses, and the intervals to expect.
    """
    model = model if isinstance(model, Model) else Model(model)
    model.robot.refuse_internal("plan")
    if kind not in COLUMNS:
        raise InputError(f"kind: one of {', '.join(COLUMNS)} is needed, got {kind!r}")
    if not 1 <= count <= candidates:
        raise InputError(f"count: must be 1 to {candidates} poses, got {count}")
    if kind == "marks":
        raise InputError(
            "kind: a plan chooses single poses, a distance between marks belongs to two; plan for kind 'position' and "
            "measure from each mark to the next"
        )
    frames = kind in FLOATING if frames is None else frames
    geometry = Geometry(model, tuple(parameters), offsets=offsets, frames=frames)
    poses = random_poses(model, candidates, seed)
    rows = measurement_rows(geometry, poses, kind, tool, anchor, direction)
    each = np.array([noise[int(quantity == "angle")] for _, quantity in COLUMNS[kind]])
    blocks = rows.reshape(candidates, len(each), -1) / each[:, None] * GEOMETRY_UNCERTAINTY
    chosen = _exchanged(blocks, _greedy(blocks, count))
    information = np.eye(blocks.shape[2]) + np.einsum("nck,ncl->kl", blocks[chosen], blocks[chosen])
    half = Z95 * GEOMETRY_UNCERTAINTY * np.sqrt(np.diag(np.linalg.inv(information)))
    seen = base_of_rows(
        measurement_rows(geometry, poses[chosen], kind, tool, anchor, direction), tuple(geometry.numbers)
    )
    own, left = model.robot_limits.at_rest()
    kept = within_all(len(own.limits), model.robot_limits.not_given, left) if own.limits or left else ""
    return Plan(poses[chosen], np.asarray(model.inverse_kinematics(poses[chosen])), seen, half,
                float(np.linalg.slogdet(information)[1]), kept)  # fmt: skip


def _gains(blocks: Array, covariance: Any) -> Array:
    """log det(1 + A C A^T) of every candidate (n,)."""
    inner = np.einsum("nck,kl,ndl->ncd", blocks, covariance, blocks, optimize=True)
    return np.asarray(np.linalg.slogdet(np.eye(blocks.shape[1]) + inner)[1])


def _greedy(blocks: Array, count: int) -> list[int]:
    information, chosen = np.eye(blocks.shape[2]), list[int]()
    for _ in range(count):
        gains = _gains(blocks, np.asarray(np.linalg.inv(information)))
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        information = information + blocks[chosen[-1]].T @ blocks[chosen[-1]]
    return chosen


def _exchanged(blocks: Array, chosen: list[int], iterations: int = 3) -> list[int]:
    """Each pose in turn given up for the best of the others, while that helps."""
    chosen = list(chosen)
    whole = np.eye(blocks.shape[2]) + np.einsum("nck,ncl->kl", blocks[chosen], blocks[chosen])
    for _ in range(iterations):
        changed = False
        for place, old in enumerate(chosen):
            without = whole - blocks[old].T @ blocks[old]
            gains = _gains(blocks, np.linalg.inv(without))
            gains[[c for c in chosen if c != old]] = -np.inf
            best = int(np.argmax(gains))
            if best != old and gains[best] > gains[old] + 1e-9:
                chosen[place], changed = best, True
                whole = without + blocks[best].T @ blocks[best]
        if not changed:
            break
    return chosen
