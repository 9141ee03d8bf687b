"""What a folder of results holds, file by file: ``checksums.txt``, which ``sha256sum -c`` reads as well."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

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
