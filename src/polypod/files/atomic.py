"""Files that appear whole or not at all, and never replace anything automatically."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import InputError
from .leftovers import clear_leftovers, partial_prefix


def umask() -> int:
    """What the user forbids others by default; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def check_target(path: Path, force: bool) -> None:
    """An error for what :func:`atomic_write` would not write, for whoever wants to know before the work is done."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a folder, a device or a pipe; name a file")
    if path.exists() and not force:
        raise InputError(f"{path}: exists; add --force to replace it, or name another")


def atomic_write(path: Path, content: bytes, force: bool = True) -> None:
    """A file that is complete when it appears; an existing one is replaced with ``force`` only."""
    check_target(path, force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(path)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=partial_prefix(path.name), suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(partial, 0o666 & ~umask())
            os.replace(partial, path)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
