"""What measured poses say about a robot's geometry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..description import Robot
from .base import BaseParameters
from .geometry import Geometry
from .new_robot import Change
from .prior import Z95

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Calibration:
    """What measured poses say about a robot's geometry.

    ``steps`` (k,) of the numbers from the file's values with ``covariance`` (k, k), by measurements and file together;
    ``base`` has the combinations that the measurements show. ``residuals`` (n, c) are measured less computed,
    ``outliers`` the rows (n,) that do not count. ``noise`` is that of lengths [m] and angles [rad] (NaN if none).
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
    notes: tuple[str, ...]

    @property
    def offsets(self) -> dict[str, float]:
        """What is to be added to the readings of actuators whose file cannot hold it [m or rad]."""
        values = self.geometry.reading_offsets(self.steps)
        return {self.geometry.model.actuators[k].name: float(values[k]) for k in self.geometry.offsets}

    def to_dataset(self) -> xr.Dataset:
        """Numbers, steps and intervals, residuals, as labelled arrays."""
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
