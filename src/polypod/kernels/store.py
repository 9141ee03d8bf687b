"""Object code on disk: a folder of the user's own, every file signed with a secret of the user.

Code from the folder is run, so nothing is loaded that another user could have written: folder and files must belong to
this user, be writable by nobody else, be no links, and bear a signature (HMAC-SHA256) made with a secret that is kept
apart from the folder, so that a folder unpacked from elsewhere does not pass either.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

_MAGIC = b"polypod-kernel-5\n"
_HAS_OWNERS = sys.platform != "win32"  # files have an owner and modes
MAX_SIZE = 1 << 30
"""Bytes that the folder may hold; beyond, the files used longest ago go."""
_DAY = 86_400.0
_PRUNE_EVERY = 64


def store_folder() -> Path:
    """Where object code is kept: ``POLYPOD_CACHE``, or the user's cache folder, or without a home one in the temporary.

    A folder relative to where the program is started (XDG_CACHE_HOME or HOME that is not absolute) is never taken: a
    downloaded project could carry one.
    """
    chosen = os.environ.get("POLYPOD_CACHE")
    return Path(chosen) if chosen else _own_folder(platformdirs.user_cache_path)


def _own_folder(place: Callable[..., Path]) -> Path:
    """polypod's folder among the user's caches or data; without a home, one in the temporary folder."""
    with suppress(RuntimeError):  # platformdirs knows no home
        folder = place("polypod", appauthor=False)
        if folder.is_absolute():
            return folder
    if not _HAS_OWNERS:
        raise OSError("no cache folder found for this user; set POLYPOD_CACHE to a folder")
    return Path(tempfile.gettempdir()) / f"polypod-{os.getuid()}"


def _check_owner(status: os.stat_result, what: str, is_kind: bool) -> None:
    """Raise unless a file or folder is this user's alone."""
    if not is_kind:
        raise PermissionError(f"{what} is a link, a device or a pipe; remove it or set POLYPOD_CACHE to a folder")
    if _HAS_OWNERS and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        raise PermissionError(
            f"{what} belongs to another user or is writable by others than user {os.getuid()}; set POLYPOD_CACHE "
            "to a folder of your own"
        )


def _ensure_folder(folder: Path) -> Path:
    """A folder of this user's own, made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = folder.lstat()
    _check_owner(status, str(folder), stat.S_ISDIR(status.st_mode))
    return folder


def _read(path: Path) -> bytes:
    """The content of a regular file of this user's own; anything else (a link, a pipe) is refused, without waiting."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        _check_owner(status, str(path), stat.S_ISREG(status.st_mode))
        return file.read()


def _write(path: Path, content: bytes) -> None:
    """Complete under another name first, so that no reader sees half a file."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=path.stem[:16], suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(partial, path)
    except OSError:
        Path(partial).unlink(missing_ok=True)
        raise


@cache
def _secret() -> bytes:
    """This user's secret, made when first needed and kept beside the user's data, not in the cache."""
    path = _ensure_folder(_own_folder(platformdirs.user_data_path)) / "kernel-secret"
    with suppress(FileNotFoundError):
        return _read(path)
    _write(path, secrets.token_bytes(32))
    return _read(path)


def _signature(content: bytes) -> bytes:
    return hmac.new(_secret(), content, hashlib.sha256).digest()


def load(key: str) -> bytes | None:
    """What was kept under a key; None if it is absent, damaged or not this user's (then it is made anew)."""
    try:
        path = _ensure_folder(store_folder()) / f"{key}.kernel"
        content = _read(path)
        start = len(_MAGIC) + 32
        if content[: len(_MAGIC)] != _MAGIC:
            return None
        rest = content[start:]
        if not hmac.compare_digest(_signature(rest), content[len(_MAGIC) : start]):
            return None
        with suppress(OSError):  # a file system that is read-only
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))  # used now: the last to go
        return rest
    except OSError:
        return None


_writes = 0


def keep(key: str, content: bytes) -> None:
    """Keep something under a key; a warning if it cannot be."""
    global _writes
    try:
        folder = _ensure_folder(store_folder())
        _write(folder / f"{key}.kernel", _MAGIC + _signature(content) + content)
        if _writes % _PRUNE_EVERY == 0:
            prune(folder)
        _writes += 1
    except OSError as error:
        advice = "" if "POLYPOD_CACHE" in str(error) else "; set POLYPOD_CACHE to a folder that can be written"
        warnings.warn(f"could not cache compiled kernels: {error}{advice}", stacklevel=2)


@dataclass(frozen=True)
class Contents:
    """What a store holds: number of kernels and their size [bytes]."""

    kernels: int
    size: int


def _files(folder: Path, ending: str) -> list[tuple[Path, os.stat_result]]:
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(ending) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    found.append((Path(entry.path), entry.stat(follow_symlinks=False)))
    return found


def contents() -> Contents:
    """What the user's store holds."""
    sizes = [status.st_size for _, status in _files(store_folder(), ".kernel")]
    return Contents(len(sizes), sum(sizes))


def clear() -> Contents:
    """Remove every kernel of the user's store; what was removed. Other files stay."""
    gone = contents()
    for ending in (".kernel", ".partial"):
        for path, _ in _files(store_folder(), ending):
            path.unlink(missing_ok=True)
    return gone


def prune(folder: Path, max_size: int = MAX_SIZE) -> None:
    """Remove what was used longest ago beyond ``max_size`` bytes, and left-overs of writes that were cut off."""
    files = sorted(_files(folder, ".kernel"), key=lambda item: item[1].st_atime, reverse=True)
    total = 0
    for path, status in files:
        total += status.st_size
        if total > max_size:
            path.unlink(missing_ok=True)
    for path, status in _files(folder, ".partial"):
        if status.st_mtime < time.time() - _DAY:
            path.unlink(missing_ok=True)
