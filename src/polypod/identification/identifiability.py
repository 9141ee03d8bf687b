"""Which geometric numbers measurements show: derivatives of what is measured, and the combinations that they
determine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..model import Model
from .base import BaseParameters, base_of_rows
from .geometry import Geometry
from .measured import COLUMNS, MeasurementKind, Measurements, measurements, predicted


def identifiable(
    model: Model | Robot | str | Path,
    poses: Array,
    kind: MeasurementKind = "pose",
    *,
    numbers: Sequence[str] = (),
    offsets: bool = True,
    frames: bool = False,
    tool: Any = (0.0, 0.0, 0.0),
    anchor: Any = (0.0, 0.0, 0.0),
) -> BaseParameters:
    """Which combinations of geometric numbers measurements of a kind at poses (n, 4, 4) will show, in names."""
    model = model if isinstance(model, Model) else Model(model)
    geometry = Geometry(model, tuple(numbers), offsets=offsets, frames=frames)
    return base_of_rows(measurement_rows(geometry, poses, kind, tool, anchor), tuple(geometry.numbers))


def measurement_rows(geometry: Geometry, poses: Array, kind: MeasurementKind, tool: Any, anchor: Any) -> Array:
    """Derivatives (n c, k) of what is measured at poses, by all numbers, at the file's values."""
    pose = np.asarray(poses, dtype=float)
    blank = np.zeros((len(pose), len(COLUMNS[kind]))) if kind in COLUMNS else np.zeros((len(pose), 0))
    data = measurements(geometry.model, kind, np.zeros((len(pose), geometry.readings)), blank, tool=tool, anchor=anchor)
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
    return values, np.concatenate(columns, axis=2)
