"""States of a simulation in symbols and numbers; rotations by Cayley parameters a about the last accepted one.

A state x is [frame (12), internal (k), twist (6 + k), elastic (N), elastic rate (N), work (3)]: the first three rows of
the platform's pose by rows, the internal coordinates, the twist with their rates, the elastic coordinates, and the work
of actuators, external wrench and friction so far [J]; on a base that moves also the work of the base, and that of the
wrench is done in space.
Integrators see the chart y = [position, a, internal, twist, elastic, elastic rate, work] about a base rotation R0,
where R = cay(a) R0 = (1 + 2/(1 + a.a) (a~ + a~ a~)) R0 and da/dt = (omega - a x omega + (a.omega) a)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..arrays import Array
from ..control.contract import Measurement
from ..lazy import lazy
from ..symbols.vectors import cayley, cross, dot, orthonormalised

WORKS = ("actuators", "external", "friction", "base")
"""The last of a base that moves only."""
MARGINS = ("margin", "limit_margin", "singularity_bound", "determinant")


@dataclass(frozen=True)
class Layout:
    """Where the parts of states, charts and rows of snapshots are, for N elastic modes, n actuators and m degrees of
    freedom, k internal ones among them, on a base that stands still or moves.

    A row is a state followed by actuated coordinates and rates (n each) and the numbers of ``MARGINS``.
    """

    modes: int = 0
    actuators: int = 0
    dof: int = 6
    moving_base: bool = False
    internal: int = 0

    @property
    def works(self) -> tuple[str, ...]:
        """Names of the works in a state."""
        return WORKS if self.moving_base else WORKS[:-1]

    @lazy
    def row(self) -> dict[str, slice]:
        """Parts of a row by name; those of a state come first: frame, twist, elastic, elastic_rate, work."""
        return _slices(**self._state, q=self.actuators, qdot=self.actuators, margins=len(MARGINS))

    @lazy
    def chart(self) -> dict[str, slice]:
        """Parts of a chart by name."""
        _, *rest = self._state.items()
        return _slices(position=3, cayley=3, **dict(rest))

    @lazy
    def state_size(self) -> int:
        """Numbers of a state."""
        return sum(self._state.values())

    @lazy
    def chart_size(self) -> int:
        """Numbers of a chart."""
        return sum(part.stop - part.start for part in self.chart.values())

    @property
    def _state(self) -> dict[str, int]:
        n, k = self.modes, self.internal
        inner = {"internal": k, "twist": 6 + k}
        return {"frame": 12, **inner, "elastic": n, "elastic_rate": n, "work": len(self.works)}

    def chart_of(self, x: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Base rotation (9, by rows) and chart of a state, with a = 0."""
        rotation = ca.vertcat(*[x[4 * i + j] for i in range(3) for j in range(3)])
        return rotation, ca.vertcat(x[3], x[7], x[11], ca.SX.zeros(3), x[self.row["internal"].start :])

    def state_of(self, base: ca.SX, y: ca.SX) -> ca.SX:
        """The state at a chart about a base rotation (9, by rows)."""
        axes = cayley(y[self.chart["cayley"]]) @ ca.reshape(base, 3, 3).T
        return ca.vertcat(ca.vec(ca.horzcat(axes, y[self.chart["position"]]).T), y[self.chart["internal"].start :])

    def place_of(self, x: ca.SX) -> ca.SX:
        """Row-major pose and internal coordinates (16 + k) of a state."""
        return ca.vertcat(pose_of(x), x[self.row["internal"]])

    def state(
        self, pose: Array, twist: Array, elastic: Array, elastic_rate: Array, internal: Array | None = None
    ) -> Array:
        """A state in numbers, without work done yet."""
        inner = np.zeros(self.internal) if internal is None else internal
        return np.concatenate([pose[:3].ravel(), inner, twist, elastic, elastic_rate, np.zeros(len(self.works))])


def _slices(**lengths: int) -> dict[str, slice]:
    ends = np.cumsum([*lengths.values()]).tolist()
    return {name: slice(end - length, end) for (name, length), end in zip(lengths.items(), ends, strict=True)}


def pose_of(x: ca.SX) -> ca.SX:
    """Row-major pose (16) of a state."""
    return ca.vertcat(x[:12], 0, 0, 0, 1)


def cayley_rate(a: ca.SX, omega: ca.SX) -> ca.SX:
    """da/dt of Cayley parameters at an angular velocity in base axes."""
    return 0.5 * (omega - cross(a, omega) + dot(a, omega) * a)


def orthonormal_state(x: ca.SX) -> ca.SX:
    """A state whose rotation is made orthonormal, R -> R (3 - R^T R)/2: the rounding of many steps removed."""
    rows = ca.reshape(x[:12], 4, 3).T
    return ca.vertcat(ca.vec(ca.horzcat(orthonormalised(rows[:, :3]), rows[:, 3]).T), x[12:])


def numeric_chart(x: Array) -> tuple[Array, Array]:
    """Base rotation (9, by rows) and chart, with a = 0, of a state in numbers, as ``Layout.chart_of``."""
    frame = x[:12].reshape(3, 4)
    return np.ascontiguousarray(frame[:, :3]).ravel(), np.concatenate([frame[:, 3], np.zeros(3), x[12:]])


def chart_rotation(base: Array, a: Array) -> Array:
    """The rotation cay(a) R0 (3, 3) at Cayley parameters a (3,) about a base rotation R0 (9, by rows), in numbers."""
    x, y, z = a
    tilde = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    result: Array = (np.eye(3) + (2 / (1 + a @ a)) * (tilde + tilde @ tilde)) @ base.reshape(3, 3)
    return result


def poses(x: Array) -> Array:
    """Poses (..., 4, 4) of states or rows (..., S)."""
    result = np.zeros((*x.shape[:-1], 4, 4))
    result[..., :3, :] = x[..., :12].reshape(*x.shape[:-1], 3, 4)
    result[..., 3, 3] = 1.0
    return result


# ----------------------------------------------------------------------------------------------------------------------
# What is known of a robot at one time of a simulation.

_CORNER = np.eye(4)


class Snapshot:
    """A state and what is known of the legs there; see ``polypod.simulation.dynamics.Sensed``."""

    __slots__ = ("_layout", "_legs", "determinant", "inner", "limit_margin", "margin", "row", "singularity_bound")

    def __init__(self, row: Array, legs: Array, layout: Layout, inner: Array) -> None:
        """``row`` as ``Layout`` has it, ``legs`` the Jacobian by rows and the limited quantities.

        ``inner`` are the last numbers of dry friction, then those of legs without a closed form, from which the ones
        that follow are found.
        """
        self.row, self._legs, self._layout, self.inner = row, legs, layout, inner
        self.margin, self.limit_margin, self.singularity_bound, self.determinant = row[-4:].tolist()

    @property
    def legs(self) -> Array:
        """Jacobian by rows, then the limited quantities."""
        return self._legs

    @property
    def state(self) -> Array:
        """x (S,)."""
        return self.row[: self._layout.state_size]

    @property
    def pose(self) -> Array:
        """Pose (4, 4) of the platform frame."""
        return poses(self.row)

    @property
    def place(self) -> dict[str, Any]:
        """``internal`` as calls of a model take it; empty for a robot without internal coordinates."""
        return {"internal": self["internal"]} if self._layout.internal else {}

    def __getitem__(self, name: str) -> Array:
        """A part of the row by its name in ``Layout``."""
        return self.row[self._layout.row[name]]

    @property
    def jacobian(self) -> Array:
        """J (n, m) in lengths, as of ``polypod.Model.conditioning``."""
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
            row[parts["elastic_rate"]], row[parts["internal"]],
        )  # fmt: skip
