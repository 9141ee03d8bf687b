"""What a results folder says of itself: the inputs it comes from and the files that were written, with their hashes.

A run of the same inputs (the same robot, motion and options; their files may have been edited) replaces its last
results automatically. Results of other inputs, and files that polypod did not write, stay.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...files.checksums import CHECKSUMS

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
    from ... import __version__

    files = {
        path.relative_to(folder).as_posix(): digest(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    text = json.dumps({"polypod": __version__, "inputs": dict(inputs), "files": files}, indent=2)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def why_kept(folder: Path, inputs: Mapping[str, Any]) -> str:
    """Why a folder's results must not be replaced automatically; empty if they are the last ones of the same inputs."""
    try:
        found = json.loads((folder / NAME).read_text(encoding="utf-8"))
        there, files = dict(found["inputs"]), dict(found["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return "exists"
    for name in dict.fromkeys([*there, *inputs]):
        if _identity(there.get(name)) != _identity(inputs.get(name)):
            return (
                f"holds results of other inputs ({name}: {_text(there.get(name))} there, {_text(inputs.get(name))} now)"
            )
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in (NAME, CHECKSUMS) and files.get(name) != digest(path.read_bytes()):
            return f"holds {name!r}, which was changed since polypod wrote it"
    return ""


def _identity(value: Any) -> Any:
    """What makes an input the same: a file's place, not its content, which is edited between runs."""
    if isinstance(value, Mapping):
        return value.get("path", value.get("name"))
    return value


def _text(value: Any) -> str:
    found = _identity(value)
    return "none" if found is None else "yes" if found is True else "no" if found is False else str(found)
