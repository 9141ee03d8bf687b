"""Folders that appear whole or not at all, and never replace anything unasked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import InputError
from ...files.checksums import strangers, write_checksums
from ...files.leftovers import clear_leftovers, partial_prefix
from ...files.whole import umask


@contextmanager
def whole_folder(target: Path, force: bool, ours: Collection[str]) -> Iterator[Path]:
    """A new folder to fill, which takes the name ``target`` when the block ends well.

    If the block fails or is interrupted nothing is left and what was there stays. An existing folder is replaced
    with ``force`` only, and only if it holds nothing but ``ours`` (names of what is written here).
    """
    check_target(target, force, ours)
    made = [folder for folder in [*reversed(target.absolute().parents)] if not folder.exists()]
    partial: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(target)
        partial = Path(tempfile.mkdtemp(prefix=partial_prefix(target.name), suffix=".partial", dir=target.parent))
        yield partial
        partial.chmod(0o777 & ~umask())
        write_checksums(partial)
        check_target(target, force, ours)
        old = partial.with_suffix(".old")
        if target.exists():
            os.rename(target, old)
        try:
            os.rename(partial, target)
        except BaseException:
            if old.exists():
                os.rename(old, target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise InputError(f"output folder {target}: cannot be written: {error.strerror}") from error
    finally:
        if partial is not None and partial.exists():
            shutil.rmtree(partial, ignore_errors=True)
        for folder in reversed(made):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def check_target(target: Path, force: bool, ours: Collection[str]) -> None:
    """Raise if ``target`` cannot become a results folder."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InputError(f"output folder {target}: is no folder; name another")
    if not target.exists() or not any(target.iterdir()):
        return
    strange = strangers(target, ours)
    if strange:
        raise InputError(f"output folder {target}: holds {strange[0]!r}, which is no result of polypod; name another")
    if not force:
        raise InputError(
            f"output folder {target}: exists; add --force to replace it, or --out FOLDER to write elsewhere"
        )
