"""Positions of joints as arrays: by name, and with angles that go on along a motion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arrays import Array
from ..errors import InputError

Joints = Mapping[str, tuple[str, ...]]
"""Names of joints, and of the components of each."""
_VECTOR = ("x", "y", "z")
_SLIDES = "translation"


def by_joint(values: Array, joints: Joints) -> dict[str, Array]:
    """Components (..., K) of all joints one after another, as (..., k) by joint."""
    found, start = {}, 0
    for name, axes in joints.items():
        found[name] = values[..., start : start + len(axes)]
        start += len(axes)
    return found


def component_names(joints: Joints) -> tuple[str, ...]:
    """``leg.joint`` of every joint with one component, ``leg.joint.component`` of the others."""
    return tuple(name if len(axes) == 1 else f"{name}.{axis}" for name, axes in joints.items() for axis in axes)


def component_units(joints: Joints) -> tuple[str, ...]:
    """Unit of every component, m or rad."""
    return tuple("m" if axis == _SLIDES else "rad" for axes in joints.values() for axis in axes)


def unwrapped(values: Array, joints: Joints, axis: int) -> Array:
    """Positions (..., K) of all joints whose angles do not jump by whole turns along a batch axis.

    A rotation vector r is as good as r + 2 pi k r/|r|: with its direction kept from sample to sample its length is an
    angle with a sign, which goes on as any other.
    """
    batch = values.ndim - 1
    if not -batch <= axis < batch:
        raise InputError(f"unwrap: {axis} is no axis of the batch of poses, which has {batch}")
    axis %= batch
    found = values.copy()
    for name, part in by_joint(found, joints).items():
        if joints[name] == _VECTOR:
            length = np.linalg.norm(part, axis=-1, keepdims=True)
            along = part / np.where(length > 0.0, length, 1.0)
            before = np.take(along, range(along.shape[axis] - 1), axis)
            after = np.take(along, range(1, along.shape[axis]), axis)
            turns = np.where((before * after).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
            first = np.ones_like(np.take(length, range(min(1, length.shape[axis])), axis))
            sign = np.cumprod(np.concatenate([first, turns], axis), axis)
            part[...] = np.unwrap(sign * length, axis=axis) * (sign * along)
            continue
        for k, motion in enumerate(joints[name]):
            if motion != _SLIDES:
                part[..., k] = np.unwrap(part[..., k], axis=axis)
    return found
