"""Laws of dry friction, one file each: how the direction of a rate is taken. A law is a class and a line in LAWS."""

from .contract import Law
from .exact import Exact
from .smooth import Smooth

LAWS: dict[str, type[Law]] = {"smooth": Smooth, "exact": Exact}

__all__ = ["LAWS", "Exact", "Law", "Smooth", "law_of_width"]


def law_of_width(width: float) -> Law:
    """The law that a model's ``friction_width`` names: smooth over a width, exact for zero."""
    return Smooth(width) if width > 0 else Exact()
