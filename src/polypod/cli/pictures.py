"""Pictures that commands write: whole, names as they are, and nothing replaced but polypod's own pictures."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import InputError

_WRITER = "polypod show"
"""In every picture, by which it is known again."""
_KINDS = ("png", "svg", "pdf")


def check_picture(path: Path, force: bool | None = None) -> None:
    """An error for a file that a picture must not replace: any, without ``force``, that is no picture of polypod's.

    ``force`` is None where a command has no such option.
    """
    if not path.exists() or force or _is_own_picture(path):
        return
    instead = "remove it" if force is None else "add --force to replace it"
    raise InputError(f"{path}: exists and is no picture that polypod wrote; {instead}, or name another")


def write_picture(path: Path, draw: Callable[..., Any], *given: Any, force: bool | None = None) -> None:
    """The figure that ``draw`` makes of what is given, as PNG, SVG or PDF by the name's ending."""
    from ..output.atomic import atomic_write
    from ..results.figures import without_mathtext

    check_picture(path, force)
    kind = path.suffix.lower().lstrip(".")
    kind = kind if kind in _KINDS else "png"
    buffer, writer = io.BytesIO(), {"Software" if kind == "png" else "Creator": _WRITER}
    without_mathtext(draw, *given).savefig(buffer, format=kind, metadata=writer)
    atomic_write(path, buffer.getvalue())


def _is_own_picture(path: Path) -> bool:
    """Whether a file is a picture with the name of its writer in it."""
    if not path.is_file() or path.is_symlink():
        return False
    with path.open("rb") as file:
        return _WRITER.encode() in file.read(1 << 20)
