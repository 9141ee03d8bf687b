"""Patterns: how one number of a study sets numbers of a robot, keeping what is symmetric symmetric.

A pattern takes points (or other numbers) of D designs and a value for each design, and gives the new ones. A new one is
a function and a line in ``PATTERNS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..errors import InputError


class Pattern(NamedTuple):
    """What a value means, its unit (None: that of the numbers), the shape of numbers it is about, and new numbers.

    ``apply`` takes numbers (D, k, ...) of k paths and values (D,); ``read`` the value that numbers (k, ...) have now.
    """

    text: str
    unit: str | None
    shape: tuple[int, ...] | None
    apply: Callable[[Array, Array], Array]
    read: Callable[[Array], float]


def _column(values: Array, like: Array) -> Array:
    return values.reshape(-1, *(1,) * (like.ndim - 1))


def _set(numbers: Array, values: Array) -> Array:
    return np.broadcast_to(_column(values, numbers), numbers.shape)


def _mean(numbers: Array) -> float:
    return float(numbers.mean())


def _radius(points: Array, values: Array) -> Array:
    mean = np.hypot(points[..., 0], points[..., 1]).mean(axis=1)
    factor = (values / mean)[:, None, None]
    return np.concatenate([points[..., :2] * factor, points[..., 2:]], axis=-1)


def _mean_radius(points: Array) -> float:
    return float(np.hypot(points[:, 0], points[:, 1]).mean())


def _pairs(points: Array) -> tuple[NDArray[np.intp], Array]:
    """Points in the order of their azimuth, two of a pair in a row, with azimuths that grow."""
    azimuth = np.arctan2(points[:, 1], points[:, 0])
    order = np.argsort(azimuth)
    if len(order) % 2:
        raise InputError(f"pattern: angle: needs an even number of points, got {len(order)}")
    turns = azimuth[order]
    gaps = np.append(np.diff(turns), turns[0] + 2 * np.pi - turns[-1])
    if gaps[1::2].sum() < gaps[::2].sum():  # the pairs start with the second
        order, turns = np.roll(order, -1), np.append(turns[1:], turns[0] + 2 * np.pi)
    return order, turns


def _angle(points: Array, values: Array) -> Array:
    result = points.copy()
    if not len(points):
        return result
    order, turns = _pairs(points[0])
    radius = np.hypot(points[:, order, 0], points[:, order, 1])
    change = np.arctan2(points[:, order, 1], points[:, order, 0]) - turns
    turned = turns + change - 2 * np.pi * np.round(change / (2 * np.pi))
    middle = np.repeat((turned[:, ::2] + turned[:, 1::2]) / 2, 2, axis=1)
    azimuth = middle + values[:, None] * np.tile([-0.5, 0.5], len(order) // 2)
    result[:, order, 0], result[:, order, 1] = radius * np.cos(azimuth), radius * np.sin(azimuth)
    return result


def _mean_angle(points: Array) -> float:
    _, turns = _pairs(points)
    return float((turns[1::2] - turns[::2]).mean())


def _turn(points: Array, values: Array) -> Array:
    c, s = np.cos(values)[:, None], np.sin(values)[:, None]
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([c * x - s * y, s * x + c * y, z], axis=-1)


def _part(axis: int, shape: tuple[int, ...], text: str) -> Pattern:
    def apply(points: Array, values: Array) -> Array:
        result = points.copy()
        result[..., axis] = values[:, None]
        return result

    return Pattern(text, None, shape, apply, lambda numbers: float(numbers[:, axis].mean()))


PATTERNS = {
    "value": Pattern("the value itself, the same for all of them", None, None, _set, _mean),
    "factor": Pattern("a factor of their values", "1", None, lambda n, v: n * _column(v, n), lambda n: 1.0),
    "radius": Pattern("mean distance from the z axis; angles and heights are kept", "m", (3,), _radius, _mean_radius),
    "angle": Pattern("angle between the two of a pair about the z axis", "rad", (3,), _angle, _mean_angle),
    "turn": Pattern("rotates all of them about the z axis", "rad", (3,), _turn, lambda points: 0.0),
    **{name: _part(axis, (3,), f"the {name} of all of them") for axis, name in enumerate("xyz")},
    "low": _part(0, (2,), "the lower end of ranges"),
    "high": _part(1, (2,), "the upper end of ranges"),
}
"""The patterns by name."""
