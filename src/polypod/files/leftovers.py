"""What a killed process left beside its files: hidden, named after its machine and number, cleared by the next."""

from __future__ import annotations

import os
import platform
import shutil
import time
from contextlib import suppress
from pathlib import Path

from .safe_names import file_name

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
