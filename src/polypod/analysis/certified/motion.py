"""A whole motion certified between its samples: limits, closing and no singularity at every instant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Array
from ...errors import InputError
from ...model import Model
from ...motion import Task, make_task
from ..workspace.pose_coordinates import PoseCoordinates
from .boxes import certify_box
from .implicit import enclosure_of

_CHUNK = 1 << 13


class CertifiedMotion(NamedTuple):
    """What is proven about a motion whose speeds are bounded at every instant.

    Attributes
    ----------
    time : ndarray, shape (n,)
        Times of the samples [s].
    certain : ndarray of bool, shape (n,)
        Whether the robot is in its workspace from half a sample before each sample to half a sample after it.
    outside : ndarray of bool, shape (n,)
        Whether some pose that such a motion could take then is outside.
    speed, turning : float
        Bounds of the linear [m/s] and angular speed [rad/s].
    proven : bool
        Whether the motion keeps to these speeds by its own formula; otherwise they are assumed. A motion in generalized
        coordinates keeps to bounds of those, the largest of which are stated.
    """

    time: Array
    certain: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    speed: float
    turning: float
    proven: bool = False

    @property
    def ok(self) -> bool:
        """Whether the whole motion is certified."""
        return bool(self.certain.all())

    @property
    def open(self) -> Array:
        """Times [s] of the samples around which nothing is certain."""
        return self.time[~self.certain]


def certify_motion(
    model: Model,
    motion: Any = None,
    rate: float | None = None,
    speed: float | None = None,
    turning: float | None = None,
    most: int = 2_000,
) -> CertifiedMotion:
    """Verify limits, closure and distance to singularities along a whole motion, between samples too.

    In half a sampling interval dt/2 a motion moves no farther from its sample than v dt/2 and rotates no more than w
    dt/2, so boxes of that size around the samples contain it all: boxes of displacements about the poses, or of the
    coordinates of a robot of fewer than six degrees of freedom. An undecided box is halved.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : optional
        Motion, as ``polypod.motion.make_task`` takes it. Default: the robot's own motion.
    rate : float, optional
        Sampling rate [Hz]. Default: that of the motion file.
    speed, turning : float, optional
        Bounds v [m/s] and w [rad/s] of the motion's speeds. Default: those of its formula (``trajectory.peak``) or,
        where it has none, the largest at the samples plus a tenth; the certificate then holds for motions that keep to
        them.
    most : int, optional
        Largest number of parts of a box to examine.

    Returns
    -------
    CertifiedMotion
        What is proven at each sample.
    """
    return certify_samples(model, make_task(model, motion, rate), slice(None), speed, turning, most)


def certify_samples(
    model: Model,
    task: Task,
    samples: slice,
    speed: float | None = None,
    turning: float | None = None,
    most: int = 1,
) -> CertifiedMotion:
    """The same around some of the samples of a motion."""
    time = np.asarray(task.time)
    bounds = _SpeedBounds.of(task, speed, turning)
    half = 0.5 * np.maximum(np.diff(time, prepend=time[:1]), np.diff(time, append=time[-1:]))
    poses, time, half = task.motion.pose[samples], time[samples], half[samples]
    if (bounds.turning * half >= np.pi).any():
        raise InputError(
            "rate: the platform rotates by more than half a turn between samples; increase the sampling rate"
        )
    space = PoseCoordinates(model)
    if space.full:
        about, middle = np.asarray(poses), np.zeros((len(time), 6))
        turn, scale = np.tan(0.5 * bounds.turning * half), np.where(space.turns, 2 * model.size, 1.0)
        size = np.column_stack([bounds.velocity * half[:, None], *[turn] * 3])
    else:
        about, middle = None, np.asarray(model.coordinates(poses))
        scale = np.where(space.turns, model.size, 1.0)
        # the rate of a rotation vector of up to half a turn is at most pi/2 times the angular velocity
        turns = bounds.turning * (1.0 if space.turns.sum() < 2 else 0.5 * np.pi)
        rates = np.where(space.turns, turns, bounds.speed)
        if bounds.own is not None:
            moved = np.abs(np.diff(middle, axis=0))
            if (moved <= bounds.own * np.diff(time)[:, None] * (1 + 1e-9) + 1e-9).all():
                rates = bounds.own
            else:  # the coordinates of the poses are others by whole turns: the path's rates are not theirs
                bounds = bounds._replace(proven=False)
        size = rates * half[:, None]
    size = size * (1 + 1e-12) + 1e-12  # for the rounding of poses and bounds themselves
    enclosure = enclosure_of(space, "about" if space.full else "coordinates")
    certain, outside = np.zeros(len(time), dtype=bool), np.zeros(len(time), dtype=bool)
    for first in range(0, len(time), _CHUNK):
        part = slice(first, first + _CHUNK)
        own = None if about is None else about[part]
        verdict = enclosure(middle[part] - size[part], middle[part] + size[part], own)
        certain[part], outside[part] = verdict.inside, verdict.outside
    for k in np.flatnonzero(~certain & ~outside).tolist() if most > 1 else ():
        pose = None if about is None else about[k]
        certain[k], outside[k], _ = certify_box(enclosure, middle[k] - size[k], middle[k] + size[k], scale, most, pose)
    return CertifiedMotion(time, certain, outside, bounds.speed, bounds.turning, bounds.proven)


class _SpeedBounds(NamedTuple):
    """Of a motion's speeds at every instant: components of v (3,), |v|, |omega|, its robot's generalized coordinates
    (m,)."""

    velocity: Array
    speed: float
    turning: float
    own: Array | None
    proven: bool

    @staticmethod
    def of(task: Task, speed: float | None, turning: float | None) -> _SpeedBounds:
        """Those given, those of the motion's formula, or a tenth more than the largest at the samples."""
        twist = task.motion.twist
        v, w = (float(np.linalg.norm(twist[:, part], axis=1).max(initial=0.0)) for part in (slice(3), slice(3, 6)))
        peak = None if task.trajectory is None else task.trajectory.peak
        if speed is None and turning is None and peak is not None:
            if peak.own is not None:
                return _SpeedBounds(np.full(3, 1.1 * v), 1.1 * v, 1.1 * w, peak.own, True)
            return _SpeedBounds(peak.velocity, float(np.linalg.norm(peak.velocity)), peak.turning, None, True)
        fast, quick = 1.1 * v if speed is None else speed, 1.1 * w if turning is None else turning
        if fast < v or quick < w:
            raise InputError(
                f"speed: the motion reaches {v:.4g} m/s and {w:.4g} rad/s at its samples, more than the given "
                f"bounds {fast:.4g} m/s and {quick:.4g} rad/s",
                code="exceeds_bounds",
            )
        return _SpeedBounds(np.full(3, fast), fast, quick, None, speed is not None and turning is not None)
