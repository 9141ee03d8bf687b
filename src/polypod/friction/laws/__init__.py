"""Laws of dry friction, one file each: how the direction of a rate is taken. A law is a class and a line in LAWS."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import UnknownNameError
from .contract import FrictionLaw
from .exact import Exact
from .smooth import Smooth

LAWS: dict[str, Callable[[float], FrictionLaw]] = {"smooth": Smooth, "exact": lambda width: Exact()}
"""A law for a width, by the name that ``friction_law`` of a model takes."""

__all__ = ["LAWS", "Exact", "FrictionLaw", "Smooth", "law_of"]


def law_of(name: str | None, width: float) -> FrictionLaw:
    """A law by name; without a name smooth over the width, or exact if it is zero."""
    name = name or ("smooth" if width > 0 else "exact")
    if name not in LAWS:
        raise UnknownNameError("friction_law", name, tuple(LAWS))
    return LAWS[name](width)
