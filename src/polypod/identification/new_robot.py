"""A robot with new numbers, their 95 % intervals in its sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Body, Robot
from ..parameters.paths import value_at
from .moments import parts_of
from .prior import Z95


class Change(NamedTuple):
    """A field of the file: path, unit, value before and after, half of its 95 % interval (all of the field's shape)."""

    path: str
    unit: str
    before: Array
    after: Array
    half: Array


def body_fields(body: Body, moments: Array) -> dict[str, Array]:
    """mass, com and inertia, about the point and in the axes that the file's body names, of ten moments (..., 10)."""
    mass, first, second = parts_of(moments)
    safe = np.where(mass == 0, 1.0, mass)
    com = first / safe[..., None]
    origin = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    central = origin - _parallel(mass, com)
    axes = np.array(body.frames[body.frame]) if body.frame != "body" else np.eye(3)
    if body.about != "com":
        point = np.zeros(3) if body.about == "origin" else np.array(body.points[body.about])
        central = central + _parallel(mass, com - point)
    inertia = axes.T @ central @ axes
    return {"mass": mass, "com": com, "inertia": 0.5 * (inertia + np.swapaxes(inertia, -1, -2))}


def _parallel(mass: Array, d: Array) -> Array:
    square = (d * d).sum(axis=-1)[..., None, None] * np.eye(3)
    return np.asarray(mass[..., None, None] * (square - d[..., :, None] * d[..., None, :]))


def body_changes(path: str, body: Body, before: Array, after: Array, covariance: Array) -> list[Change]:
    """Fields of a body with moments (10,) and their covariance (10, 10); intervals by the derivatives of the fields."""
    scale = np.maximum(np.abs(after), np.sqrt(np.diag(covariance)))
    step = 1e-6 * np.where(scale > 0, scale, 1.0)
    moved = np.concatenate([after + np.diag(step), after - np.diag(step)])
    fields, file, around = (body_fields(body, m) for m in (after, before, moved))
    units = {"mass": "kg", "com": "m", "inertia": "kg m^2"}
    changes = []
    for name, value in fields.items():
        slope = (around[name][:10] - around[name][10:]) / (2 * step.reshape(10, *(1,) * value.ndim))
        flat = slope.reshape(10, -1)
        half = Z95 * np.sqrt(np.maximum(np.einsum("ia,ij,ja->a", flat, covariance, flat), 0.0)).reshape(value.shape)
        changes.append(Change(f"{path}.{name}", units[name], file[name], value, half))
    return changes


def with_changes(robot: Robot, changes: list[Change], note: str, follows: Mapping[str, Array] | None = None) -> Robot:
    """The robot with the changed fields; each has a source that says from what and how well it is known.

    ``follows`` are values by path that follow from those, without sources of their own.
    """
    data = robot.model_dump(mode="json", exclude_defaults=True)
    data["legs"] = [{"kind": leg.kind, **leg.model_dump(mode="json", exclude_defaults=True)} for leg in robot.legs]
    sources = dict(robot.sources)
    fresh: dict[str, str] = {}
    for path, value in (follows or {}).items():
        _set(data, path, np.asarray(value).tolist())
    for change in changes:
        _set(data, change.path, np.asarray(change.after).tolist())
        unit = f" {change.unit}" if change.unit else ""
        fresh[change.path] = f"{note}: ± {_digits(change.half)}{unit} (95 %)"
    # the first pattern that fits counts: new sources stand first, old ones for these numbers go
    kept = {pattern: text for pattern, text in sources.items() if pattern not in fresh}
    data["sources"] = {**fresh, **kept}
    return Robot.model_validate(data)


def _digits(half: Array) -> str:
    if np.ndim(half) == 0:
        return f"{float(half):.3g}"
    flat = np.asarray(half)
    if flat.ndim == 2:
        flat = flat[np.triu_indices(3)]  # xx, xy, xz, yy, yz, zz
    return "[" + ", ".join(f"{float(x):.3g}" for x in flat) + "]"


def _set(data: Any, path: str, value: Any) -> None:
    *way, last = path.split(".")
    for part in way:
        data = data[int(part)] if isinstance(data, list) else data.setdefault(part, {})
    data[int(last) if isinstance(data, list) else last] = value


def file_value(robot: Robot, path: str) -> Array:
    """The file's value at a path as an array."""
    return np.array(value_at(robot, path), dtype=float)
