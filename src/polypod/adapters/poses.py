"""Poses displaced by a twist, in the operations that array libraries share, so that each can differentiate them."""

from __future__ import annotations

from typing import Any

_SMALL = 1e-4
"""Square of an angle [rad^2] below which the sines are series: their next terms are below rounding."""


def displaced(arrays: Any, pose: Any, twist: Any) -> Any:
    """Poses (..., 4, 4) displaced by v and turned by omega, base axes: exp(omega~) R, p + v; ``arrays`` is the library.

    exp(w~) R = R + a w~ R + b w~ w~ R, a = sin(t)/t, b = (1 - cos t)/t^2, t = |w|, smooth at t = 0.
    """
    x, y, z = twist[..., 3], twist[..., 4], twist[..., 5]
    zero = arrays.zeros_like(x)
    rows = [arrays.stack([zero, -z, y], -1), arrays.stack([z, zero, -x], -1), arrays.stack([-y, x, zero], -1)]
    skew, axes = arrays.stack(rows, -2), pose[..., :3, :3]
    square = x * x + y * y + z * z
    small = square < _SMALL
    angle = arrays.sqrt(arrays.where(small, arrays.ones_like(square), square))
    half = arrays.sin(0.5 * angle) / angle
    a = arrays.where(small, 1 - square / 6 * (1 - square / 20), arrays.sin(angle) / angle)[..., None, None]
    b = arrays.where(small, 0.5 - square / 24 * (1 - square / 30), 2 * half * half)[..., None, None]
    swept = skew @ axes
    turned = axes + a * swept + b * (skew @ swept)
    moved = (pose[..., :3, 3] + twist[..., :3])[..., None]
    last = arrays.zeros_like(turned[..., :1, :]) + pose[..., 3:, :3]
    corner = arrays.zeros_like(moved[..., :1, :]) + pose[..., 3:, 3:]
    top, bottom = arrays.concatenate([turned, moved], -1), arrays.concatenate([last, corner], -1)
    return arrays.concatenate([top, bottom], -2)
