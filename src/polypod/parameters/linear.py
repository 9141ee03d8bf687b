"""Numbers of elements in which forces are linear: what a regressor has columns for."""

from __future__ import annotations

from .vector import Parameter

FIELDS = ("stiffness", "damping", "preload")


def is_linear_of_element(entry: Parameter) -> bool:
    """Whether forces are linear in a number of an element: of a curve the forces, not the lengths or speeds."""
    if not entry.path.startswith("elements."):
        return False
    field = entry.path.rpartition(".")[2]
    return field in FIELDS or (field == "force" and entry.index[1:] != (0,))
