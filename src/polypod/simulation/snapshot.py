"""What is known of a robot at one time of a simulation."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..control.contract import Measurement
from .chart import Layout, poses

_CORNER = np.eye(4)


class Snapshot:
    """A state and what is known of the legs there; see :class:`polypod.simulation.dynamics.Sensed`."""

    __slots__ = ("_layout", "_legs", "determinant", "inner", "limit_margin", "margin", "row", "singularity_bound")

    def __init__(self, row: Array, legs: Array, layout: Layout, inner: Array) -> None:
        """``row`` as :class:`Layout` has it, ``legs`` the Jacobian by rows and the limited quantities.

        ``inner`` are the last numbers of dry friction, then those of legs without a closed form, from which the ones
        that follow are found.
        """
        self.row, self._legs, self._layout, self.inner = row, legs, layout, inner
        self.margin, self.limit_margin, self.singularity_bound, self.determinant = row[-4:].tolist()

    @property
    def state(self) -> Array:
        """x (S,)."""
        return self.row[: self._layout.state_size]

    @property
    def pose(self) -> Array:
        """Pose (4, 4) of the platform frame."""
        return poses(self.row)

    def __getitem__(self, name: str) -> Array:
        """A part of the row by its name in :class:`Layout`."""
        return self.row[self._layout.row[name]]

    @property
    def jacobian(self) -> Array:
        """J (n, m) of the robot's own rates, rotations scaled by its size."""
        n, m = self._layout.actuators, self._layout.dof
        return self._legs[: m * n].reshape(n, m)

    @property
    def limited(self) -> Array:
        """Limited quantities (k,); angles as cosines."""
        return self._legs[self._layout.dof * self._layout.actuators + 1 :]

    def measurement(self) -> Measurement:
        """What sensors see: copies, so that no controller can touch the state."""
        row, parts, pose = self.row.copy(), self._layout.row, _CORNER.copy()
        pose[:3] = row[parts["frame"]].reshape(3, 4)
        return Measurement(
            row[parts["q"]], row[parts["qdot"]], pose, row[parts["twist"]], row[parts["elastic"]],
            row[parts["elastic_rate"]],
        )  # fmt: skip
