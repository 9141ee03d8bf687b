"""A figure as a picture file: whole, names as they are."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...output.atomic import atomic_write
from .light import without_mathtext

_KINDS = ("png", "svg", "pdf")


def write_picture(path: str | Path, draw: Callable[..., Any], *given: Any, force: bool = False) -> None:
    """The figure that ``draw`` makes of what is given, as PNG, SVG or PDF by the name's ending (PNG by any other).

    An existing file is replaced with ``force`` only.
    """
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    buffer = io.BytesIO()
    without_mathtext(draw, *given).savefig(buffer, format=kind if kind in _KINDS else "png")
    atomic_write(path, buffer.getvalue(), force)
