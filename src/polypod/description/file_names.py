"""Files that another file names: below its own folder, or below a folder that the user allows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from ..errors import InputError, short_repr

ALLOW_PATHS = "POLYPOD_ALLOW_PATHS"
"""Environment variable: further folders, separated as in PATH, whose files may be named by files from anywhere."""


def resolve_name(name: str, folder: Path) -> str | Path:
    """What a file in ``folder`` means by the name of a robot or motion: a file's path from there, or a library name.

    Examples
    --------
    >>> resolve_name("hexapod", Path("mine")), resolve_name("lift.yaml", Path("mine")).as_posix()
    ('hexapod', 'mine/lift.yaml')
    """
    path = Path(name)
    return folder / path if path.suffix or path.name != name else name


def check_inside(name: str, folder: Path) -> None:
    """Raise InputError for a path that leaves ``folder`` (absolute, by ``..`` or by a link) and is not allowed."""
    target = os.path.realpath(folder / name)
    allowed = [entry for entry in os.environ.get(ALLOW_PATHS, "").split(os.pathsep) if entry]
    if any(Path(target).is_relative_to(os.path.realpath(place)) for place in (str(folder), *allowed)):
        return
    if os.path.isdir(target) and Path(name).name == name:
        return  # a linked folder that happens to be called like a robot of the library: folders are not read
    raise InputError(
        f"{short_repr(name)} is outside the folder of the file that names it ({short_repr(str(folder))}); name a "
        f"file below that folder, or set {ALLOW_PATHS} to a list of allowed folders, separated by '{os.pathsep}'",
        code="outside_folder",
    )


def _inside(name: str, info: ValidationInfo) -> str:
    folder = (info.context or {}).get("folder")
    if folder is not None:  # only files are read with a folder; a program may name any path
        check_inside(name, Path(folder))
    return name


FileName = Annotated[str, AfterValidator(_inside)]
"""A field of a file that names another file."""
