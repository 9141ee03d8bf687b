"""Paths: coordinates over time with exact first and second derivatives; one class a kind."""

from .base import PathKind
from .combined import Piecewise, Stack, Sum
from .harmonics import Circle, Sine
from .points import Line, Spline, Through
from .polynomials import ConstantAccelerations, Hermite, Polynomial, Rest
from .rounded import GCode, Rounded

__all__ = [
    "Circle",
    "ConstantAccelerations",
    "GCode",
    "Hermite",
    "Line",
    "PathKind",
    "Piecewise",
    "Polynomial",
    "Rest",
    "Rounded",
    "Sine",
    "Spline",
    "Stack",
    "Sum",
    "Through",
]
