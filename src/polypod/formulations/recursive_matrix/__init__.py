"""Recursive matrix relations (Staicu)."""

from .dynamics import inverse_dynamics

__all__ = ["inverse_dynamics"]
