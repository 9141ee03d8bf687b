"""Files that appear whole or not at all, and never replace anything automatically."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from ..errors import InputError
from .safe_names import file_name


def umask() -> int:
    """What the user forbids others by default; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def check_target(path: Path, force: bool) -> None:
    """An error for what ``atomic_write`` would not write, for whoever wants to know before the work is done."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a folder, a device or a pipe; name a file", code="not_a_file")
    if path.exists() and not force:
        raise InputError(f"{path}: exists; add force=True to replace it, or name another", code="exists")


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
        raise InputError(f"{path}: cannot be written: {error.strerror}", code="cannot_write") from error


# ----------------------------------------------------------------------------------------------------------------------
# What a killed process left beside its files: hidden, named after its machine and number, cleared by the next.

_DAY = 86_400.0
_CAN_ASK = os.name != "nt"
"""Whether signal 0 asks if a process runs; on Windows it interrupts the process instead."""


def partial_prefix(name: str) -> str:
    """How the hidden name of a file or folder begins while it is written."""
    return f".{name}-{_machine()}-{os.getpid()}-"


def _machine() -> str:
    return file_name(platform.node() or "machine", "machine").replace("-", "_")


def clear_leftovers(target: Path) -> None:
    """Remove what processes that no longer run began to write for ``target``; results they had set aside come back.

    Of processes that cannot be asked (on other machines, on Windows) what is older than a day.
    """
    start = f".{target.name}-"
    with suppress(OSError):
        for entry in list(target.parent.iterdir()):
            if entry.name.startswith(start) and entry.suffix in (".partial", ".old") and _abandoned(entry, start):
                if entry.suffix == ".old" and not target.exists():
                    entry.rename(target)
                elif entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)


def _abandoned(entry: Path, start: str) -> bool:
    machine, _, rest = entry.name[len(start) :].partition("-")
    number = rest.partition("-")[0]
    if not number.isdigit() or not rest:
        return False
    if machine != _machine() or not _CAN_ASK:
        return entry.lstat().st_mtime < time.time() - _DAY
    return not _runs(int(number))


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
