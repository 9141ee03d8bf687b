"""A motion through poses."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, PrivateAttr, model_validator

from ...arrays import Array
from ...description.file_names import FileName
from ...description.poses import rodrigues, rotation_from_angles, rotation_from_vector, rotation_vector
from ...description.quantities import Angles, Data, Position, Triple
from ...description.quantities import Rotation as RotationMatrix
from ...errors import InputError
from ..checks import finite
from ..contract import Motion, MotionExpansion, Peak
from ..fields import MotionColumn, Seconds
from ..laws import QUINTIC, AnyLaw, TimeLaw
from ..paths.points import Through
from ..tables import TimeTable, read_table
from .base import ANGLES, POSITION, Placed, check_convention, make_motion, rotated_frame

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

ROLL_PITCH_YAW = tuple(MotionColumn(name, "angle") for name in ("yaw", "pitch", "roll"))
"""Names of the angles of R = Rz(yaw) Ry(pitch) Rx(roll), in the order ZYX."""


class Waypoint(Data):
    """A pose and when it is reached.

    ``angles`` are in the order of the convention. Instead the ``rotation`` may be given, the axes of the platform as
    columns, or the ``rotation_vector``, along the axis of a turn and as long as its angle.
    """

    time: Seconds
    position: Position
    angles: Angles = (0.0, 0.0, 0.0)
    rotation: RotationMatrix | None = None
    rotation_vector: Annotated[Triple, Field(json_schema_extra={"unit": "rad"})] | None = None

    @model_validator(mode="after")
    def _one_rotation(self) -> Waypoint:
        given = {"angles", "rotation", "rotation_vector"} & self.model_fields_set
        if len(given) > 1:
            got = " and ".join(sorted(given))
            raise ValueError(f"{max(given)}: give only one of angles, rotation and rotation_vector, got {got}")
        return self

    def matrix(self, convention: str) -> Array:
        """Rotation matrix of the waypoint.

        Parameters
        ----------
        convention : str
            Order of its angles, as SciPy's ``Rotation.from_euler`` takes it.

        Returns
        -------
        ndarray, shape (3, 3)
            Rotation from {P} to {B}.
        """
        if self.rotation is not None:
            return np.array(self.rotation)
        if self.rotation_vector is not None:
            return rotation_from_vector(self.rotation_vector)
        return rotation_from_angles(convention, self.angles)


class Poses(Placed):
    """Through poses, with one law between each two, turning about one axis from pose to pose.

    p = p_i + s (p_i+1 - p_i) and R = exp(s [phi_i]x) R_i, with phi_i the rotation vector from pose i to the next in
    base axes: omega = sdot phi_i, alpha = sddot phi_i. With the quintic or the cosine law it rests in every pose; a
    pose given twice in a row is a rest between the two times. Written out, or from a CSV file with the columns time,
    x, y, z and a1, a2, a3 in the order of the convention, or roll, pitch, yaw (R = Rz(yaw) Ry(pitch) Rx(roll)).
    """

    kind: Literal["poses"] = "poses"
    poses: tuple[Waypoint, ...] = ()
    csv: FileName | None = None
    law: AnyLaw = QUINTIC
    convention: str | None = None
    _table: TimeTable | None = PrivateAttr(None)
    _position: Through = PrivateAttr()
    _rotations: Array = PrivateAttr()
    _axes: Array = PrivateAttr()
    _angles: Array = PrivateAttr()

    @classmethod
    def through(cls, poses: ArrayLike | RigidTransform, times: ArrayLike, law: TimeLaw | str = QUINTIC) -> Self:
        """A motion through poses at given times.

        Parameters
        ----------
        poses : array_like or RigidTransform, shape (n, 4, 4)
            Poses of {P} in {B}.
        times : array_like, shape (n,)
            Times [s].
        law : TimeLaw or str, optional
            Time law between poses.

        Returns
        -------
        Poses
            The motion.
        """
        matrices = finite("poses", poses.as_matrix() if hasattr(poses, "as_matrix") else poses, None, 4, 4)
        if (matrices[:, 3] != [0.0, 0.0, 0.0, 1.0]).any():
            raise InputError(f"poses: the last row must be 0 0 0 1, got {matrices[:, 3].tolist()}")
        at = finite("times", times, len(matrices))
        rows = [
            {"time": time, "position": pose[:3, 3].tolist(), "rotation": pose[:3, :3].tolist()}
            for time, pose in zip(at.tolist(), matrices, strict=True)
        ]
        fields: dict[str, Any] = {"poses": rows, "law": law}
        return cls(**fields)

    def prepare(self, folder: FilePath) -> None:
        if bool(self.poses) == (self.csv is not None):
            raise InputError(
                "poses: give poses or csv, not both" if self.poses else "poses: missing; give poses or csv"
            )
        check_convention(self.convention)
        if self.csv is None:
            self._check_times()
        else:
            self._table = self._named(read_table(folder, self.csv))
        self._arrange(self.convention or "xyz")

    def _named(self, table: TimeTable) -> TimeTable:
        """The table with its columns in the order of the coordinates."""
        table = table.select((*POSITION, *ANGLES), (*POSITION, *ROLL_PITCH_YAW))
        if table.columns[3:] == ROLL_PITCH_YAW and self.convention not in (None, "ZYX", "xyz"):
            raise InputError(
                f"csv: {self.csv}: roll, pitch and yaw are the angles of the convention ZYX, got {self.convention}; "
                "name them a1, a2, a3 in the order of the convention"
            )
        turned = float(np.abs(table.values[:, 3:]).max())
        if turned > math.pi + 1e-9:
            raise InputError(
                f"csv: {self.csv}: a pose is rotated by at most half a turn (3.1416 rad), got {turned:g} rad; "
                f"write '{table.columns[3].name} [deg]' in the header if degrees are meant"
            )
        return table

    def _check_times(self) -> None:
        """Faults at the pose that has them."""
        if len(self.poses) < 2:
            raise InputError("poses: at least two poses are needed, a start and an end, got 1")
        times = [pose.time for pose in self.poses]
        if times[0] != 0.0:
            raise InputError(f"poses.0.time: the first pose must be at 0 s, got {times[0]:g}")
        for k, (before, after) in enumerate(pairwise(times), 1):
            if not after > before:
                raise InputError(
                    f"poses.{k}.time: must be later than the pose before, got {after:g} after {before:g} s"
                )

    def _arrange(self, convention: str) -> None:
        """Positions, rotations and the turns between them, angles in the order of ``convention``."""
        if self._table is None:
            times: Any = [pose.time for pose in self.poses]
            positions: Any = [pose.position for pose in self.poses]
            rotations = np.array([pose.matrix(convention) for pose in self.poses])
        else:
            order = "ZYX" if self._table.columns[3:] == ROLL_PITCH_YAW else convention
            times, positions = self._table.times, self._table.values[:, :3]
            rotations = rotation_from_angles(order, self._table.values[:, 3:])
        vectors = rotation_vector(rotations[1:] @ rotations[:-1].swapaxes(-1, -2))
        angles = np.linalg.norm(vectors, axis=-1)
        if (angles > np.pi - 1e-6).any():
            i = int(np.argmax(angles))
            field = "poses" if self._table is None else f"csv: {self.csv}"
            raise InputError(f"{field}: half a turn from {i} to {i + 1} has no unique axis; add a pose between them")
        safe = np.where(angles > 0, angles, 1.0)[:, None]
        self._axes, self._angles = np.where(angles[:, None] > 0, vectors, [1.0, 0.0, 0.0]) / safe, angles
        self._position, self._rotations = Through(points=positions, times=times, law=self.law), rotations

    @property
    def duration(self) -> float:
        return self._position.duration

    @property
    def pieces(self) -> Array:
        return self._position.pieces

    @property
    def clock(self) -> float | None:
        return None if self._table is None else self._table.start

    @property
    def _needs_order(self) -> bool:
        """Whether the poses have angles, whose order must be known."""
        if self._table is not None:
            return self._table.columns[3:] == ANGLES
        return any(any(pose.angles) for pose in self.poses)

    def with_convention(self, convention: str) -> Poses:
        if self.convention is not None or not self._needs_order:
            return self
        motion = self.model_copy(update={"convention": convention})
        motion._arrange(convention)
        return motion

    @property
    def peak(self) -> Peak | None:
        velocity, progress = self._position.peak, self._position.peaks
        return None if velocity is None or progress is None else Peak(velocity, float((self._angles * progress).max()))

    def placed_expansion(self, t: Array, half: Array) -> MotionExpansion | None:
        position, higher = self._position.expansion(t, half), self._position.progress_higher_derivatives(t, half)
        if position is None or higher is None:
            return None
        i, progress = self._position.progress(t)
        angle = np.stack([*progress, *higher])[..., None] * self._angles[i][:, None]
        constants = np.concatenate([self._axes[i], self._rotations[i].reshape(-1, 9)], axis=-1)
        return MotionExpansion(np.concatenate([position, angle], axis=-1), constants, rotated_frame)

    def placed(self, t: Array) -> Motion:
        if self.convention is None and self._needs_order:
            raise InputError("convention: missing: the order of the angles, such as 'ZYX'; for_model uses the robot's")
        i, (s, sdot, sddot) = self._position.progress(t)
        axis, angle = self._axes[i], self._angles[i]
        omega, alpha = (sdot * angle)[..., None] * axis, (sddot * angle)[..., None] * axis
        return make_motion(t, rodrigues(axis, s * angle) @ self._rotations[i], self._position.evaluate(t), omega, alpha)
