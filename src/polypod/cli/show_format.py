"""A robot's parameters and conventions in words, as ``polypod show`` prints them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..tables import short


def owner_and_name(path: str, legs: list[str], dof: list[str]) -> tuple[str, str]:
    """What a parameter belongs to and its name there, by the names of the robot's legs and degrees of freedom.

    Examples
    --------
    >>> [owner_and_name(path, ["A", "B"], []) for path in ("legs.0.slider.mass", "legs.*.length", "gravity")]
    [('A', 'slider.mass'), ('all legs', 'length'), ('robot', 'gravity')]
    """
    part = re.fullmatch(r"(legs|dof)\.(\d+|\*)\.(.+)", path)
    if part and part[1] == "dof":
        return f"degree of freedom {dof[int(part[2])]}", part[3]
    if part:
        return "all legs" if part[2] == "*" else legs[int(part[2])], part[3]
    owner, _, name = path.partition(".")
    return (owner, name) if name else ("robot", owner)


def quantity(value: Any, unit: str, is_range: bool = False) -> str:
    """A value with its unit; a range from its low to its high end, an angle in degrees too.

    Examples
    --------
    >>> quantity((0.7, 1.2), "m", is_range=True), quantity(np.pi / 6, "rad")
    ('0.7 to 1.2 m', '0.5236 rad (30 deg)')
    """
    texts = [_numbers(value, is_range), unit]
    if unit == "rad":
        texts.append(f"({_numbers(np.degrees(value).tolist(), is_range)} deg)")
    return " ".join(text for text in texts if text)


def source_text(text: str, given: bool) -> str:
    """Where a value comes from; one that the file does not give is the schema's default, whatever else is said."""
    return text if given else f"default; {text}" if text else "default"


def euler(convention: str) -> str:
    """What an Euler convention in SciPy's spelling means: the order of turns and the rotation matrix.

    Examples
    --------
    >>> euler("ZYX")
    'about the moving z, then y, then x axis, R = Rz Ry Rx'
    >>> euler("xyz")
    'about the fixed x, then y, then z axis, R = Rz Ry Rx'
    """
    moving = convention.isupper()
    first, second, third = list(convention.lower())
    factors = convention.lower() if moving else convention[::-1]
    product = " ".join(f"R{axis}" for axis in factors)
    return f"about the {'moving' if moving else 'fixed'} {first}, then {second}, then {third} axis, R = {product}"


def _numbers(value: Any, is_range: bool) -> str:
    if np.ndim(value) == 2:
        matrix = np.array(value, dtype=float)
        if np.array_equal(matrix, np.eye(3)):
            return "identity"
        if len(matrix) == 3 == len(matrix.T) and not np.any(matrix - np.diag(np.diag(matrix))):
            return f"diag({', '.join(short(float(v)) for v in np.diag(matrix))})"
        return "; ".join(" ".join(short(float(v)) for v in row) for row in matrix)
    if np.ndim(value) == 1:
        return (" to " if is_range else " ").join(short(float(v)) for v in value)
    return short(value)
