"""Travel of joints along a motion: angles turned and distances slid, back and forth added up."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..model import Model

SLIDES = ("prismatic", "cylindrical")
"""Kinds of joints that slide along their first axis."""


def joint_travel(model: Model, pose: Array, axes: Array, **shape: Any) -> Array:
    """Travel (n, joints) of every joint since the first of n poses: sum of |step| [rad], of a slide [m].

    ``axes`` (n, joints, 2, 3) are the joints' free directions in base axes, NaN for those that a joint does not have. A
    step is the rotation of the child against the parent from one sample to the next: about the axis of a hinge, about
    that pivot of a universal joint which turns more in all, the whole angle of a spherical joint; of a slide the
    displacement along its axis. A turn back between two samples is not seen. ``shape`` is ``elastic`` of a flexible
    platform.
    """
    bodies = model.bodies(pose, **shape) | {"base": np.broadcast_to(np.eye(4), (len(pose), 4, 4))}
    joints = [(leg.leg.name, joint) for leg in model.kernels.mechanism.placed for joint in leg.placement.joints]
    travel = []
    for k, (leg, joint) in enumerate(joints):
        names = (body if body in ("base", "platform") else f"{leg}.{body}" for body in (joint.parent, joint.child))
        parent, child = (bodies[name] for name in names)
        steps = _steps(parent, child, axes[:, k], joint.kind)
        total = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(np.abs(steps), axis=0)])
        travel.append(total[:, int(total[-1].argmax())])
    return np.stack(travel, axis=1)


def _steps(parent: Array, child: Array, axes: Array, kind: str) -> Array:
    """Steps (n - 1, pivots) of one joint between poses (n, 4, 4) of its bodies."""
    turned = np.swapaxes(parent[:, :3, :3], 1, 2)  # from base axes into those of the parent
    known = np.flatnonzero(~np.isnan(axes).any(axis=(0, 2)))
    own = np.einsum("nij,nkj->nki", turned, axes[:, known])
    middle = 0.5 * (own[1:] + own[:-1])
    if kind in SLIDES:
        place = np.einsum("nij,nj->ni", turned, child[:, :3, 3] - parent[:, :3, 3])
        return np.einsum("nki,ni->nk", middle[:, :1], np.diff(place, axis=0))
    rotation = Rotation.from_matrix(turned @ child[:, :3, :3])
    step = (rotation[1:] * rotation[:-1].inv()).as_rotvec()
    return np.einsum("nki,ni->nk", middle, step) if len(known) else np.linalg.norm(step, axis=1)[:, None]
