"""What the file's numbers are worth: their uncertainty, stated by the user or in the file's sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Body
from ..errors import InputError
from ..parameters.paths import value_at
from .linear_model import LinearModel

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


def uncertainties(linear: LinearModel, given: float | Mapping[str, float] | None) -> Array:
    """Standard uncertainty (k,) of every number: relative ones of ``given`` (by path pattern), of sources, or usual.

    A moment's is that part of the body's own scale, m, m l, m l^2, with l its radius of gyration about the origin.
    """
    if isinstance(given, (int, float)):
        given = {"*": float(given)}
    given = dict(given or {})
    known = {n.path for n in linear.numbers} | {n.key for n in linear.numbers}
    for pattern, value in given.items():
        if not (np.isfinite(value) and value >= 0):
            raise InputError(f"uncertainty: {pattern}: a part of the number, 0 or more, is needed, got {value!r}")
        if not any(fnmatchcase(path, pattern) for path in known):
            raise InputError(f"uncertainty: {pattern} fits no number; numbers are {', '.join(sorted(known)[:8])}, ...")
    result, arms = [], dict[str, tuple[float, float]]()
    for n in linear.numbers:
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
    fields = {"m": ("mass",), "s": ("com", "mass"), "a": ("com", "mass"), "S": ("inertia", "com", "mass")}
    paths = [f"{path}.{f}" for f in fields[moment[0]]] if moment else [path]
    parts = []
    for one in paths:
        found = stated_interval(robot.source_of(one))
        if found is None:
            return None
        half, percent = found
        value = np.abs(np.array(value_at(robot, one), dtype=float)).max()
        parts.append(float(half.max() / (100.0 if percent else max(value, 1e-300))) / Z95)
    return float(np.linalg.norm(parts))


def _scale(path: str, moment: str, value: float, linear: LinearModel, arms: dict[str, tuple[float, float]]) -> float:
    if not moment:
        drives = {"viscous": 1.0, "drag": 1.0}.get(path.rpartition(".")[2], 0.1)
        return abs(value) if value else drives
    mass, arm = arms[path] if path in arms else arms.setdefault(path, _arm(linear, path))
    return mass * arm ** {"m": 0, "s": 1, "a": 1, "S": 2}[moment[0]]


def _arm(linear: LinearModel, path: str) -> tuple[float, float]:
    """A body's mass and its radius of gyration about the origin, at least a tenth of the robot's size."""
    body: Any = value_at(linear.robot, path)
    assert isinstance(body, Body)
    arm = np.sqrt(max(np.trace(body.second_moment) / body.mass, 0.0)) if body.mass else 0.0
    return float(body.mass), max(float(arm), 0.1 * linear.model.size)
