"""Names drawn as they are written: a ``$`` in one is no mathematics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import light

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def without_mathtext(draw: Callable[..., Figure], *given: Any) -> Figure:
    """A figure whose texts are not read as formulas; powers of ten at a logarithmic axis still are."""
    if light.wanted() and hasattr(figure := draw(*given), "svg"):  # nothing in a light figure is a formula
        return figure
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):
        figure = draw(*given)
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                for label in (*axis.get_majorticklabels(), *axis.get_minorticklabels()):
                    label.set_parse_math(True)
    return figure
