"""A robot with new numbers, their 95 % intervals in its sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..description import Body, Robot
from ..description.paths import get, put
from ..errors import InputError
from .linear_model import LinearModel, parts_of


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
        put(data, path, np.asarray(value).tolist())
    for change in changes:
        put(data, change.path, np.asarray(change.after).tolist())
        unit = f" {change.unit}" if change.unit else ""
        fresh[change.path] = f"{note}: ± {_digits(change.half)}{unit} (95 %)"
    # the first pattern that fits counts: new sources stand first, old ones for these numbers go
    kept = {pattern: text for pattern, text in sources.items() if pattern not in fresh}
    data["sources"] = {**fresh, **kept}
    return Robot.model_validate(data)


def _digits(half: Array) -> str:
    if np.ndim(half) == 0:
        return f"{float(half):.3g}"
    symmetric = np.shape(half) == (3, 3)
    flat = np.asarray(half)[np.triu_indices(3)] if symmetric else np.ravel(half)  # xx, xy, xz, yy, yz, zz
    return "[" + ", ".join(f"{float(x):.3g}" for x in flat) + "]"


def file_value(robot: Robot, path: str) -> Array:
    """The file's value at a path as an array."""
    return np.array(get(robot, path), dtype=float)


# ----------------------------------------------------------------------------------------------------------------------
# What the file's numbers are worth: their uncertainty, stated by the user or in the file's sources.

RELATIVE_UNCERTAINTY = 0.5
"""Relative standard uncertainty of a number of the file about which nothing is said: data decide."""
Z95 = 1.959963984540054
_STATED = re.compile(r"±\s*(\[[^\]]*\]|[0-9.eE+-]+)\s*(%)?[^()]*\(95 %\)")


def stated_interval(text: str | None) -> tuple[Array, bool] | None:
    """Half of the 95 % interval that a source states, ``± 0.02 kg (95 %)`` or ``± 5 % (95 %)``; is it in percent?"""
    match = _STATED.search(text or "")
    if match is None:
        return None
    try:
        values = np.array([float(x) for x in match[1].strip("[]").split(",")])
    except ValueError:
        return None
    return values, match[2] is not None


def uncertainties(
    linear: LinearModel, given: float | Mapping[str, float] | None, unknown: Mapping[str, float] | None = None
) -> Array:
    """Standard uncertainty (k,) of every number: relative ones of ``given`` (by path pattern), of sources, or usual.

    A moment's is that part of the body's own scale, m, m l, m l^2, with l its radius of gyration about their
    origin. Friction that the file has as zero is not known at all: its scale is that of ``unknown``, by the law's name.
    """
    if isinstance(given, (int, float)):
        given = {"*": float(given)}
    given = dict(given or {})
    known = {n.path for n in linear.numbers} | {n.key for n in linear.numbers}
    for pattern, value in given.items():
        if not (np.isfinite(value) and value >= 0):
            raise InputError(f"uncertainty: {pattern}: must be a fraction of the value, at least 0, got {value!r}")
        if not any(fnmatchcase(path, pattern) for path in known):
            raise InputError(f"uncertainty: {pattern} matches no parameter; known: {', '.join(sorted(known)[:8])}, ...")
    result, arms = [], dict[str, tuple[float, float]]()
    for n in linear.numbers:
        law = n.path.rpartition(".")[2]
        if not n.moment and n.value == 0.0 and unknown and law in unknown:
            result.append(unknown[law])
            continue
        part = next((v for pattern, v in given.items() if fnmatchcase(n.key, pattern) or fnmatchcase(n.path, pattern)),
                    None)  # fmt: skip
        if part is None:
            part = _of_source(linear, n.path, n.moment)
        result.append(
            (RELATIVE_UNCERTAINTY if part is None else part) * _scale(n.path, n.moment, n.value, linear, arms)
        )
    return np.array(result)


def _of_source(linear: LinearModel, path: str, moment: str) -> float | None:
    """The relative uncertainty that the sources of a number state."""
    robot = linear.robot
    fields = {"m": ("mass",), **dict.fromkeys(("sx", "sy", "sz"), ("com", "mass"))}
    paths = [f"{path}.{f}" for f in fields.get(moment, ("inertia", "com", "mass"))] if moment else [path]
    parts = []
    for one in paths:
        found = stated_interval(robot.source_of(one))
        if found is None:
            return None
        half, percent = found
        value = np.abs(np.array(get(robot, one), dtype=float)).max()
        parts.append(float(half.max() / (100.0 if percent else max(value, 1e-300))) / Z95)
    return float(np.linalg.norm(parts))


def _scale(path: str, moment: str, value: float, linear: LinearModel, arms: dict[str, tuple[float, float]]) -> float:
    if path.startswith("elements."):
        return _element_scale(path, value, linear)
    if not moment:
        drives = {"viscous": 1.0, "drag": 1.0}.get(path.rpartition(".")[2], 0.1)
        return abs(value) if value else drives
    mass, arm = arms[path] if path in arms else arms.setdefault(path, _arm(linear, path))
    return mass * arm ** {"m": 0, "s": 1, "S": 2}[moment[0]]


def _element_scale(path: str, value: float, linear: LinearModel) -> float:
    """Of a number of an element its own size or, of one of several, the largest; of a preload at least what the
    stiffness makes of half its length, of half the robot's size in a slide, or of half a radian."""
    _, number, field, *_ = path.split(".")
    element: Any = linear.robot.elements[int(number)]
    numbers = np.abs(np.array(getattr(element, field), dtype=float))
    size = float((numbers[..., 1] if numbers.ndim and field == "force" else numbers).max())
    if field == "preload":
        way = element.home_length if not element.joint else 1.0
        if element.joint and element.joint_end(linear.robot.legs).kind == "prismatic":
            way = linear.model.size
        size += 0.5 * way * float(np.max(element.stiffness))
    return size or abs(value) or 0.1


def _arm(linear: LinearModel, path: str) -> tuple[float, float]:
    """A body's mass and radius of gyration about the origin of its moments, at least a tenth of the robot's size."""
    body: Any = get(linear.robot, path)
    assert isinstance(body, Body)
    own = {n.moment: n.value for n in linear.numbers if n.path == path}
    second = sum(own.get(moment, 0.0) for moment in ("Sxx", "Syy", "Szz"))
    arm = np.sqrt(max(second / body.mass, 0.0)) if body.mass else 0.0
    return float(body.mass), max(float(arm), 0.1 * linear.model.size)
