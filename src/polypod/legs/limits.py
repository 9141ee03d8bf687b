"""Limits that several leg kinds share."""

from __future__ import annotations

from typing import Any

import casadi as ca

from ..description import ConeLimit
from ..symbols.vectors import dot, vector
from .contract import Limit


def range_limit(name: str, value: ca.SX, allowed: tuple[Any, Any] | None) -> tuple[Limit, ...]:
    """A length that must stay in a range [m]; none where none is given."""
    return () if allowed is None else (Limit(name, value, *allowed, "m"),)


def cone_limit(name: str, n: ca.SX, cone: ConeLimit | None, axes: ca.SX | None = None) -> tuple[Limit, ...]:
    """A leg direction n that must stay in a cone, fixed to the base or to ``axes`` [rad]."""
    if cone is None:
        return ()
    axis = vector(cone.axis) if axes is None else axes @ vector(cone.axis)
    return (Limit.of_angle(name, dot(n, axis), cone.half_angle),)
