"""Folders that appear whole or not at all, and never replace anything automatically."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...files.atomic import umask
from ...files.checksums import foreign_files, write_checksums
from ...files.leftovers import clear_leftovers, partial_prefix
from .manifest import NAME, why_kept, write_manifest


@contextmanager
def atomic_folder(
    target: Path, force: bool, ours: Collection[str], inputs: Mapping[str, Any] | None = None
) -> Iterator[Path]:
    """A new folder to fill, which takes the name ``target`` when the block ends well.

    If the block fails or is interrupted nothing is left and what was there stays. An existing folder is replaced with
    ``force``, or if it holds the last results of the same ``inputs`` as its manifest states them, and only if it holds
    nothing but ``ours`` (names of what is written here).
    """
    check_target(target, force, ours, inputs)
    created = [folder for folder in [*reversed(target.absolute().parents)] if not folder.exists()]
    partial: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_leftovers(target)
        partial = Path(tempfile.mkdtemp(prefix=partial_prefix(target.name), suffix=".partial", dir=target.parent))
        yield partial
        partial.chmod(0o777 & ~umask())
        if inputs is not None:
            write_manifest(partial, inputs)
        write_checksums(partial)
        check_target(target, force, ours, inputs)
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
        for folder in reversed(created):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def check_target(target: Path, force: bool, ours: Collection[str], inputs: Mapping[str, Any] | None = None) -> None:
    """Raise if ``target`` cannot become a results folder."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InputError(f"output folder {target}: is no folder; name another")
    if not target.exists() or not any(target.iterdir()):
        return
    strange = foreign_files(target, {*ours, NAME})
    if strange:
        raise InputError(f"output folder {target}: holds {strange[0]!r}, which is no result of polypod; name another")
    why = "" if force else "exists" if inputs is None else why_kept(target, inputs)
    if why:
        raise InputError(
            f"output folder {target}: {why}; add --force to replace it, or --out FOLDER to write elsewhere"
        )
