"""Files that appear whole or not at all, and never replace anything unasked."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import InputError


def write_whole(path: Path, content: bytes, force: bool = True) -> None:
    """A file that is complete when it appears; an existing one is replaced with ``force`` only."""
    if path.exists() and not force:
        raise InputError(f"{path}: exists; add --force to replace it, or name another")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(partial, 0o644)
            os.replace(partial, path)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
