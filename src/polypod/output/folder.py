"""Folders that appear whole or not at all, and never replace anything automatically."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import InputError, Reason
from .atomic import clear_leftovers, partial_prefix, umask


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
        raise InputError(f"output folder {target}: cannot be written: {error.strerror}", code="cannot_write") from error
    finally:
        if partial is not None and partial.exists():
            shutil.rmtree(partial, ignore_errors=True)
        for folder in reversed(created):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


_EXISTS = Reason("exists", "exists")


def check_target(target: Path, force: bool, ours: Collection[str], inputs: Mapping[str, Any] | None = None) -> None:
    """Raise if ``target`` cannot become a results folder."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InputError(f"output folder {target}: is not a folder; name another", code="not_a_folder")
    if not target.exists() or not any(target.iterdir()):
        return
    strange = foreign_files(target, {*ours, NAME})
    if strange:
        raise InputError(
            f"output folder {target}: contains {strange[0]!r}, which is not a polypod result; name another",
            code="foreign_file",
        )
    why = None if force else _EXISTS if inputs is None else why_kept(target, inputs)
    if why:
        message = f"output folder {target}: {why}; add force=True to replace it, or name another folder"
        raise InputError(message, code=why.code)


# ----------------------------------------------------------------------------------------------------------------------
# What a results folder says of itself: the inputs it comes from and the files that were written, with their hashes.
#
# A run of the same inputs (the same robot, motion and options; their files may have been edited) replaces its last
# results automatically. Results of other inputs, and files that polypod did not write, stay.

NAME = "manifest.json"


def digest(data: bytes) -> str:
    """SHA-256 of a file's content, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def provenance(name: str | Path | None) -> dict[str, str]:
    """Where a robot or motion comes from: a file with the hash of its content, or a name of the library."""
    path = None if name is None else Path(name)
    if path is None or not path.is_file():
        return {} if name is None else {"name": str(name)}
    return {"name": path.name, "path": str(path.resolve()), "sha256": digest(path.read_bytes())}


def write_manifest(folder: Path, inputs: Mapping[str, Any]) -> None:
    """Record what all files of a folder are and come from."""
    from .. import __version__

    files = {
        path.relative_to(folder).as_posix(): digest(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    text = json.dumps({"polypod": __version__, "inputs": dict(inputs), "files": files}, indent=2)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def why_kept(folder: Path, inputs: Mapping[str, Any]) -> Reason | None:
    """Why a folder's results must not be replaced automatically; None if they are the last ones of the same inputs."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        there, files = dict(found["inputs"]), dict(found["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return _EXISTS
    for name in dict.fromkeys([*there, *inputs]):
        if _identity(there.get(name)) != _identity(inputs.get(name)):
            change = f"{name}: {_text(there.get(name))} there, {_text(inputs.get(name))} now"
            return Reason(f"contains results of other inputs ({change})", "other_inputs")
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in (NAME, CHECKSUMS) and files.get(name) != digest(path.read_bytes()):
            return Reason(f"contains {name!r}, which was changed after polypod wrote it", "changed_file")
    return None


def _identity(value: Any) -> Any:
    """What makes an input the same: a file's place, not its content, which is edited between runs."""
    if isinstance(value, Mapping):
        return value.get("path", value.get("name"))
    return value


def _text(value: Any) -> str:
    found = _identity(value)
    return "none" if found is None else "yes" if found is True else "no" if found is False else str(found)


# ----------------------------------------------------------------------------------------------------------------------
# What a folder of results holds, file by file: ``checksums.txt``, which ``sha256sum -c`` reads as well.

CHECKSUMS = "checksums.txt"
_PICTURES = (".png", ".svg")


def write_checksums(folder: Path) -> None:
    """List every file of a folder with its SHA-256."""
    lines = [f"{_sha256(path)}  {path.relative_to(folder).as_posix()}" for path in _files(folder)]
    (folder / CHECKSUMS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_checksums(folder: Path) -> dict[str, str]:
    """Digest by file, as a folder's list states them; empty without a list."""
    try:
        text = (folder / CHECKSUMS).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (line.partition("  ") for line in text.splitlines())
    return {name: digest for digest, _, name in pairs if name}


def foreign_files(folder: Path, ours: Collection[str]) -> list[str]:
    """Files and links of a folder that polypod did not write there: not listed.

    Without a list (results of older versions): not in ``ours``, or no picture in one of the folders among them.
    """
    known = read_checksums(folder)
    names = [path.relative_to(folder) for path in _files(folder)]
    if known:
        return sorted(name.as_posix() for name in names if name.as_posix() not in known and name != Path(CHECKSUMS))
    strange = [
        name for name in names if name.parts[0] not in ours or (name.parent.parts and name.suffix not in _PICTURES)
    ]
    return sorted(name.as_posix() for name in strange)


def _files(folder: Path) -> list[Path]:
    """Everything below a folder that is no folder itself; links are not followed."""
    return sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
