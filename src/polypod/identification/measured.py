"""What a measuring device sees of a pose (poses, positions, tilts, distances, heights, a gauge); tables of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description.poses import skew
from ..errors import InputError
from ..model import Model
from ..motion.tables import check_unit, read_columns

if TYPE_CHECKING:
    import xarray as xr

MeasurementKind = Literal["pose", "position", "tilt", "distance", "height", "gauge", "marks"]
COLUMNS: dict[MeasurementKind, tuple[tuple[str, str], ...]] = {
    "pose": tuple(zip(("x", "y", "z", "a1", "a2", "a3"), ("length",) * 3 + ("angle",) * 3, strict=True)),
    "position": tuple((a, "length") for a in "xyz"),
    "tilt": (("tilt_x", "angle"), ("tilt_y", "angle")),
    "distance": (("distance", "length"),),
    "height": (("height", "length"),),
    "gauge": (("gauge", "length"),),
    "marks": (("apart", "length"),),
}
"""Columns of each kind and what they measure. Distances may come with the anchor's place in ``anchor_x`` and so on,
distances between marks with the readings at the second mark in ``NAME.q2``."""
FLOATING: tuple[MeasurementKind, ...] = ("height", "gauge")
"""Kinds whose zero and direction are never known: a bed lies somewhere, a gauge is set to zero anywhere."""
_ANCHOR = ("anchor_x", "anchor_y", "anchor_z")


@dataclass(frozen=True)
class Measurements:
    """Readings of the actuators with what was measured, of one kind.

    Attributes
    ----------
    kind : str
        ``pose``: x, y, z and the rotation vector; ``position``: x, y, z; ``tilt``: inclination of the platform's x and
        y axes against the horizontal; ``distance``: from the tool point to the anchor, as by a double ball-bar;
        ``height``: of a bed that the tool point touches, above the base frame; ``gauge``: of a dial gauge at the tool
        point that reads along ``direction`` while the platform moves along a straight edge; ``marks``: between two
        marks that the tool point made or touches.
    readings : ndarray, shape (n, a)
        Actuated coordinates [m or rad].
    values : ndarray, shape (n, c)
        Measured values [m, rad].
    anchor : ndarray, shape (3,) or (n, 3)
        Fixed point of distances in {B} [m].
    tool : ndarray, shape (3,)
        Measured point in the platform frame [m].
    up : ndarray, shape (3,)
        The vertical, base axes.
    direction : ndarray, shape (3,)
        Direction of a gauge, base axes.
    second : ndarray, shape (n, a), or None
        Actuated coordinates at the second mark [m or rad].
    """

    kind: MeasurementKind
    readings: Array
    values: Array
    anchor: Array = field(default_factory=lambda: np.zeros(3))
    tool: Array = field(default_factory=lambda: np.zeros(3))
    up: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    direction: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    second: Array | None = None

    def __post_init__(self) -> None:
        if self.kind not in COLUMNS:
            raise InputError(f"kind: one of {', '.join(COLUMNS)} is needed, got {self.kind!r}")
        n, wide = len(self.readings), len(COLUMNS[self.kind])
        if self.readings.ndim != 2 or self.values.shape != (n, wide):
            raise InputError(f"measurements: readings (n, a) and values (n, {wide}) of a {self.kind} are needed, got "
                             f"{self.readings.shape} and {self.values.shape}")  # fmt: skip
        if not (np.isfinite(self.readings).all() and np.isfinite(self.values).all()):
            raise InputError("measurements: readings and values must be finite")
        if (self.second is not None) != (self.kind == "marks"):
            raise InputError(
                f"second: readings at the second mark belong to measurements of marks, and only to these; got "
                f"{'none' if self.second is None else 'some'} with {self.kind}"
            )
        if self.second is not None and (self.second.shape != self.readings.shape or not np.isfinite(self.second).all()):
            raise InputError(
                f"second: finite readings {self.readings.shape} at the second mark are needed, got {self.second.shape}"
            )
        if self.direction.shape != (3,) or not np.linalg.norm(self.direction) > 0:
            raise InputError(f"direction: a vector of three numbers, not all zero, is needed, got {self.direction}")

    @property
    def all_readings(self) -> Array:
        """Readings of all poses that are measured, those at second marks last."""
        return self.readings if self.second is None else np.concatenate([self.readings, self.second])

    def rows(self, chosen: Any) -> Measurements:
        """The measurements of some poses.

        Parameters
        ----------
        chosen : array_like of int or bool, or slice
            Which poses: indices, a mask (n,) or a slice.

        Returns
        -------
        Measurements
            The chosen readings and values, in the order chosen.
        """
        second = None if self.second is None else self.second[chosen]
        anchor = self.anchor[chosen] if self.anchor.ndim == 2 else self.anchor
        return replace(self, readings=self.readings[chosen], values=self.values[chosen], second=second, anchor=anchor)

    @property
    def groups(self) -> NDArray[np.int64]:
        """Which kind of noise each value has: 0 for lengths, 1 for angles (c,)."""
        return np.array([int(quantity == "angle") for _, quantity in COLUMNS[self.kind]], dtype=np.int64)


def predicted(data: Measurements, pose: Array, base: Array, tool: Array) -> tuple[Array, Array, Array, Array]:
    """What the device would see of poses (n, 4, 4), and its derivatives by pose, base frame and tool frame (n, c, 6)
    each; of marks poses and derivatives are those of the first marks, then those of the second (2 n).

    The device sees B T G: its own frame ``base`` B, the platform's pose T, its point and axes ``tool`` G (4, 4 each).
    """
    left, turn = base[:3, :3], pose[:, :3, :3]
    point = data.tool + tool[:3, 3]
    arm = turn @ point
    place = (pose[:, :3, 3] + arm) @ left.T + base[:3, 3]
    axes = left @ turn @ tool[:3, :3]
    # derivatives of place and turn of what is seen, by displacement and turn of the platform
    by_pose = np.zeros((len(pose), 6, 6))
    by_pose[:, :3, :3] = left
    by_pose[:, :3, 3:] = -left @ skew(arm)
    by_pose[:, 3:, 3:] = left
    by_base = np.zeros((len(pose), 6, 6))
    by_base[:, :3, :3] = by_base[:, 3:, 3:] = np.eye(3)
    by_base[:, :3, 3:] = -skew(place)
    by_tool = np.zeros((len(pose), 6, 6))
    by_tool[:, :3, :3] = by_tool[:, 3:, 3:] = left @ turn
    values, rows = _values(data, place, axes)
    return values, rows @ by_pose, rows @ by_base, rows @ by_tool


def _values(data: Measurements, place: Array, axes: Array) -> tuple[Array, Array]:
    """Values (n, c) and their derivatives by place and turn (n, c, 6)."""
    n = len(place)
    if data.kind == "pose":
        off = Rotation.from_matrix(axes) * Rotation.from_rotvec(data.values[:, 3:]).inv()
        # near zero the rotation vector of R R_measured^T has the unit slope
        near = np.concatenate([place, data.values[:, 3:] + off.as_rotvec()], axis=1)
        return near, np.broadcast_to(np.eye(6), (n, 6, 6))
    if data.kind == "position":
        return place, np.broadcast_to(np.eye(6)[:3], (n, 3, 6))
    if data.kind == "tilt":
        rows = np.zeros((n, 2, 6))
        values = np.empty((n, 2))
        for k in range(2):
            axis = axes[:, :, k]
            rise = axis @ data.up
            values[:, k] = np.arcsin(np.clip(rise, -1, 1))
            rows[:, k, 3:] = np.cross(axis, data.up) / np.sqrt(np.maximum(1 - rise**2, 1e-12))[:, None]
        return values, rows
    if data.kind in ("height", "gauge"):
        along = data.up if data.kind == "height" else data.direction / np.linalg.norm(data.direction)
        rows = np.zeros((n, 1, 6))
        rows[:, 0, :3] = along
        return (place @ along)[:, None], rows
    if data.kind == "marks":
        first, second = place[: n // 2], place[n // 2 :]
        apart = np.concatenate([first - second, second - first])
        length = np.linalg.norm(apart, axis=1)
        rows = np.zeros((n, 1, 6))
        rows[:, 0, :3] = apart / length[:, None]
        return length[: n // 2, None], rows
    apart = place - data.anchor
    length = np.linalg.norm(apart, axis=1)
    rows = np.zeros((n, 1, 6))
    rows[:, 0, :3] = apart / length[:, None]
    return length[:, None], rows


def read_measurements(model: Model, source: str | Path | xr.Dataset, **options: Any) -> Measurements:
    """Read measurements of a robot.

    Parameters
    ----------
    model : Model
        Model of the robot.
    source : str, Path or xarray.Dataset
        CSV file with ``NAME.q`` of every actuator and the columns of a kind, with units in brackets; or labelled
        dataset with ``q`` (n, a), and ``pose`` (n, 4, 4) or the columns of a kind (n,), in SI units.
    **options
        ``tool``, ``anchor`` and ``direction`` of ``Measurements``.

    Returns
    -------
    Measurements
        The measurements.
    """
    if hasattr(source, "data_vars"):
        return _of_dataset(model, source, options)
    path = Path(source)
    columns, values = read_columns(path)
    names = [column.name for column in columns]

    def taken(name: str, quantity: str) -> Array:
        place = names.index(name)
        check_unit(f"measurements: {path.name}", name, columns[place].quantity, quantity)
        return values[:, place]

    wanted = [(f"{a.name}.q", "angle" if a.unit == "rad" else "length") for a in model.actuators]
    missing = [name for name, _ in wanted if name not in names]
    if missing:
        raise InputError(f"measurements: {path.name}: column {missing[0]!r} is missing; got {', '.join(names)}")
    kind = _kind(names, path.name)
    found = np.stack([taken(*column) for column in COLUMNS[kind]], axis=1)
    if kind == "pose":
        found[:, 3:] = Rotation.from_euler(model.robot.euler, found[:, 3:]).as_rotvec()
    if all(c in names for c in _ANCHOR):
        options["anchor"] = np.stack([taken(c, "length") for c in _ANCHOR], axis=1)
    readings = np.stack([taken(*column) for column in wanted], axis=1)
    if kind == "marks":
        missing = [f"{name}2" for name, _ in wanted if f"{name}2" not in names]
        if missing:
            raise InputError(
                f"measurements: {path.name}: column {missing[0]!r} is missing: the reading at the second mark; got "
                f"{', '.join(names)}"
            )
        options["second"] = np.stack([taken(f"{name}2", quantity) for name, quantity in wanted], axis=1)
    return measurements(model, kind, readings, found, **options)


def _kind(names: Sequence[str], where: str) -> MeasurementKind:
    """The kind of measurement whose columns are all there."""
    kind = next((k for k, own in COLUMNS.items() if all(c in names for c, _ in own)), None)
    if kind is None:
        kinds = "; ".join(f"{k}: {', '.join(c for c, _ in own)}" for k, own in COLUMNS.items())
        raise InputError(
            f"measurements: {where}: columns of one kind are needed ({kinds}), got {', '.join(names)}",
            code="mixed_columns",
        )
    return kind


def _of_dataset(model: Model, data: Any, options: dict[str, Any]) -> Measurements:
    if "q" not in data.variables:
        raise InputError("measurements: a dataset needs q, the readings of the actuators")
    names = [a.name for a in model.actuators]
    given = [str(n) for n in data["actuator"].values] if "actuator" in data.coords else names
    if sorted(given) != sorted(names):
        raise InputError(f"measurements: the actuators must be {', '.join(names)}, got {', '.join(given)}")
    readings = data["q"].transpose(..., "actuator").values if "actuator" in data["q"].dims else data["q"].values
    order = [given.index(n) for n in names]
    readings = np.asarray(readings, dtype=float)[:, order]
    if "q2" in data.variables:
        second = data["q2"].transpose(..., "actuator").values if "actuator" in data["q2"].dims else data["q2"].values
        options = options | {"second": np.asarray(second, dtype=float)[:, order]}
    if "pose" in data.variables:
        pose = np.asarray(data["pose"].values, dtype=float)
        turn = Rotation.from_matrix(pose[:, :3, :3]).as_rotvec()
        return measurements(model, "pose", readings, np.concatenate([pose[:, :3, 3], turn], axis=1), **options)
    kind = _kind([str(name) for name in data.variables], "dataset")
    found = np.stack([np.asarray(data[c].values, dtype=float) for c, _ in COLUMNS[kind]], axis=1)
    if kind == "pose":
        found[:, 3:] = Rotation.from_euler(model.robot.euler, found[:, 3:]).as_rotvec()
    if all(c in data.variables for c in _ANCHOR):
        options = options | {"anchor": np.stack([data[c].values for c in _ANCHOR], axis=1)}
    return measurements(model, kind, readings, found, **options)


def measurements(model: Model, kind: MeasurementKind, readings: Array, values: Array, **options: Any) -> Measurements:
    """Measurements of a robot; tilts are relative to its own vertical.

    Parameters
    ----------
    model : Model
        Model of the robot.
    kind : str
        What was measured: ``pose``, ``position``, ``tilt``, ``distance``, ``height``, ``gauge`` or ``marks``.
    readings : ndarray, shape (n, a)
        Actuated coordinates [m or rad].
    values : ndarray, shape (n, c)
        Measured values [m, rad].
    **options
        ``tool``, ``anchor``, ``direction`` and ``second`` of ``Measurements``.

    Returns
    -------
    Measurements
        The measurements.
    """
    readings, count = np.asarray(readings, dtype=float), len(model.actuators)
    if readings.shape != (len(readings), count):
        raise InputError(f"measurements: readings (n, {count}) of the actuators are needed, got {readings.shape}")
    gravity = np.array(model.robot.gravity)
    size = np.linalg.norm(gravity)
    up = -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])
    given = {k: np.asarray(v, dtype=float) for k, v in options.items() if v is not None}
    return Measurements(kind, readings, np.asarray(values, dtype=float), up=up, **given)
