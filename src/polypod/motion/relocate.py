"""Motion files in another folder: names of CSV files follow."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .files import MotionFile


def relocated(motion: MotionFile, source: str | Path | None, target: Path) -> MotionFile:
    """A motion that was read from ``source``, with names of CSV files that hold beside ``target``."""
    if source is None or not Path(source).is_file():
        return motion
    there = os.path.relpath(Path(source).parent, target.parent)
    return motion if there == "." else _moved(motion, Path(there))


def _moved(part: Any, folder: Path) -> Any:
    """Data with the names of CSV files counted from another folder."""
    fields = getattr(type(part), "model_fields", None)
    if fields is None:
        return tuple(_moved(item, folder) for item in part) if isinstance(part, tuple) else part
    values = {name: getattr(part, name) for name in fields}
    changed = {
        name: str(folder / value) if name == "csv" and isinstance(value, str) else _moved(value, folder)
        for name, value in values.items()
    }
    return part.model_copy(update={name: value for name, value in changed.items() if value is not values[name]})
