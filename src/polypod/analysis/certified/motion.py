"""A whole motion certified between its samples: limits, closing and no singularity at every instant."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...model import Model
from ...motion import make_task
from ..workspace.space import Space
from .boxes import certify_box
from .implicit import enclosure_of

Array = NDArray[np.float64]
_CHUNK = 1 << 13


class CertifiedMotion(NamedTuple):
    """What is certain of a motion whose speeds are at most ``speed`` [m/s] and ``turning`` [rad/s] at every instant.

    ``certain`` (n,): around sample k, from half a sample before it to half a sample after it, the robot is in its
    workspace; ``outside`` (n,): at some pose that such a motion could take then it is not. ``time`` (n,) [s].
    """

    time: Array
    certain: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    speed: float
    turning: float

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
    """Whether a robot keeps limits, closes and stays away from singularities along a whole motion, not at samples only.

    ``motion`` as :func:`polypod.motion.make_task` takes it. In half a sample's time dt/2 a motion goes no farther from
    its sample than v dt/2 and turns no more than w dt/2, so boxes of that size around the samples hold it all: boxes
    of displacements about the poses, or of the coordinates of a robot of fewer than six freedoms.
    ``speed`` v and ``turning`` w are bounds of the motion's speeds; unless given they are a tenth more than the largest
    at the samples, and the certificate holds for motions that keep to them. A box of which nothing is certain is
    halved until ``most`` parts are looked at.
    """
    task = make_task(model, motion, rate)
    poses, time, twist = task.motion.pose, np.asarray(task.time), task.motion.twist
    largest = [float(np.linalg.norm(twist[:, part], axis=1).max(initial=0.0)) for part in (slice(0, 3), slice(3, 6))]
    v, w = (given if given is not None else 1.1 * top for given, top in zip((speed, turning), largest, strict=True))
    if v < largest[0] or w < largest[1]:
        raise InputError(
            f"speed: the motion itself has {largest[0]:.4g} m/s and {largest[1]:.4g} rad/s at its samples, more "
            f"than the bounds {v:.4g} m/s and {w:.4g} rad/s"
        )
    half = 0.5 * np.maximum(np.diff(time, prepend=time[:1]), np.diff(time, append=time[-1:]))
    if (w * half >= np.pi).any():
        raise InputError("rate: the platform turns by more than half a turn between samples; sample more often")
    space = Space(model)
    if space.full:
        about, middle = np.asarray(poses), np.zeros((len(time), 6))
        turn, scale = np.tan(0.5 * w * half), np.where(space.turns, 2 * model.size, 1.0)
    else:
        about, middle = None, np.asarray(model.coordinates(poses))
        # the rate of a rotation vector of up to half a turn is at most pi/2 times the angular velocity
        turn, scale = w * half * (1.0 if space.turns.sum() < 2 else 0.5 * np.pi), np.where(space.turns, model.size, 1.0)
    # widened for the rounding of the poses themselves
    size = np.where(space.turns, turn[:, None], (v * half)[:, None]) + 1e-12
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
    return CertifiedMotion(time, certain, outside, float(v), float(w))
