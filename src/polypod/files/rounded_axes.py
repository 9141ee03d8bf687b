"""Axes that are parallel or perpendicular to the digits with which a file prints them, made exactly so.

A direction whose length is one to rounding is taken as it is. Another was rounded, and its digits say how far it may be
off: half a unit of its last digit in each component. Of axes that agree within that, the one with most digits counts.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..description.paths import Location, dotted, put
from ..description.quantities import ROUNDING

_EXACT = 1e-12
"""How far the length of a direction with all its digits may be from one; turns below are not worth a word."""
_CORNER = 0.5 * np.sqrt(3.0)
"""Units of the last digit by which rounding moves a direction at most."""


@dataclass(frozen=True)
class _Axis:
    """A direction of a file: where it stands, its unit vector, and how far [rad] its digits leave it open."""

    place: Location
    along: Array
    open: float


def align_rounded_axes(document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The document with rounded axes of joints and degrees of freedom made parallel or square, and which were turned
    how far."""
    known: list[_Axis] = []
    remarks = []
    changed = document
    for axis in sorted(_axes(document), key=lambda one: one.open):
        same = next((k for k in known if _off(axis.along, k.along) <= axis.open + k.open), None)
        along = _squared(axis, known) if same is None else same.along * (1.0 if axis.along @ same.along > 0 else -1.0)
        turned = _off(axis.along, along)
        if axis.open == 0.0 or turned < _EXACT:
            along = axis.along
        else:
            changed = copy.deepcopy(document) if changed is document else changed
            put(changed, axis.place, along.tolist())
            how = f"parallel to {dotted(same.place)}" if same is not None else "perpendicular to axes before it"
            remarks.append(f"{dotted(axis.place)} by {np.degrees(turned):.2g} deg ({how})")
        if same is None:
            known.append(_Axis(axis.place, along, axis.open))
    return changed, remarks


def _axes(document: dict[str, Any]) -> Iterator[_Axis]:
    for place, value in _directions(document):
        if not isinstance(value, (list, tuple)) or len(value) != 3:
            continue
        if not all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in value):
            continue
        vector = np.array(value, dtype=float)
        length = float(np.linalg.norm(vector))
        if abs(length - 1.0) <= ROUNDING:
            digits = max(_decimals(part) for part in value)
            yield _Axis(place, vector / length, 0.0 if abs(length - 1.0) < _EXACT else _CORNER * 10.0**-digits)


def _directions(document: dict[str, Any]) -> Iterator[tuple[Location, Any]]:
    """Axes of degrees of freedom and of the joints of chains."""
    for k, coordinate in enumerate(_list(document.get("dof"))):
        if isinstance(coordinate, dict):
            yield ("dof", k, "axis"), coordinate.get("axis")
    for place, holder in _holders(document, ()):
        for n, joint in enumerate(_list(holder.get("joints"))):
            if not isinstance(joint, dict):
                continue
            yield (*place, "joints", n, "axis"), joint.get("axis")
            for i, axis in enumerate(_list(joint.get("axes"))):
                yield (*place, "joints", n, "axes", i), axis


def _holders(value: dict[str, Any], place: Location) -> Iterator[tuple[Location, dict[str, Any]]]:
    """The document itself, its legs and its groups with their legs: what may have joints."""
    yield place, value
    for name in ("legs", "groups"):
        for k, inside in enumerate(_list(value.get(name))):
            if isinstance(inside, dict):
                yield from _holders(inside, (*place, name, k))


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _decimals(number: float) -> int:
    """Digits after the point with which a number was written, but for zeros at its end."""
    mantissa, _, exponent = repr(float(number)).partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    return max(len(fraction) - int(exponent or 0), 0)


def _squared(axis: _Axis, known: list[_Axis]) -> Array:
    """An axis turned perpendicular to those to which its digits allow it."""
    walls = [k.along for k in known if abs(float(axis.along @ k.along)) <= axis.open + k.open]
    if not walls or axis.open == 0.0:
        return axis.along
    left, sizes, _ = np.linalg.svd(np.array(walls).T, full_matrices=False)
    span = left[:, sizes > 1e-6]
    if span.shape[1] == 3:
        return axis.along
    along = axis.along - span @ (span.T @ axis.along)
    along = along / np.linalg.norm(along)
    return np.asarray(along - span @ (span.T @ along))


def _off(a: Array, b: Array) -> float:
    """Angle [rad] between two lines."""
    return float(np.arcsin(min(float(np.linalg.norm(np.cross(a, b))), 1.0)))
