"""Text files and the YAML documents in them; what cannot be used is an error with its line."""

from __future__ import annotations

import stat
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from ..errors import Fault, FileError, near_names
from ..yaml12 import YamlTextError, read_yaml

MAX_BYTES = 200_000_000
"""Largest text file that is read, tables of motions included."""
_KINDS: dict[type, str] = {str: "a text", float: "a number", int: "a number", list: "a list", bool: "a truth value"}


_REASONS: dict[type[Exception], str] = {
    FileNotFoundError: "no such file; check its name and folder",
    IsADirectoryError: "it is a folder; name a file",
    PermissionError: "permission denied; allow this user to read it",
}
"""Why a file cannot be read, and what to do."""


class _NoFileError(OSError):
    """A device, a socket or a pipe: reading it might never end."""


def read(path: Path, error: type[FileError]) -> str:
    """Text of a regular file; one that cannot be read is an ``error`` that says why."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            raise _NoFileError(0, "is a device, a socket or a pipe; name a file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise OSError(0, f"larger than the {MAX_BYTES // 10**6} MB that are allowed")
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as cause:
        line = content[: cause.start].count(b"\n") + 1
        reason = "not UTF-8 text; save it as UTF-8"
        raise error(str(path), [Fault("", f"the file cannot be read: {reason}", line)]) from cause
    except (OSError, ValueError) as cause:  # ValueError: a null character in the name
        reason = _REASONS.get(type(cause)) or getattr(cause, "strerror", None) or str(cause)
        near = _near(path) if isinstance(cause, FileNotFoundError) else []
        hint = _of_library(path, error.what) or (f". Did you mean {' or '.join(map(repr, near))}?" if near else "")
        codes: dict[type[Exception], str] = {
            FileNotFoundError: "not_found",
            _NoFileError: "not_a_file",
            IsADirectoryError: "not_a_file",
        }
        code = codes.get(type(cause), "cannot_read")
        raise error(str(path), [Fault("", f"the file cannot be read: {reason}{hint}", code=code)]) from cause


def _of_library(path: Path, what: str) -> str:
    """That a missing file has the name of a robot of the library, as a sentence; empty if it has not."""
    robot = resources.files(__package__) / "robots" / f"{path}.yaml"
    kind = what.removesuffix(" file")
    return f". {path} is a robot of the library; a {kind} file is needed" if path.name and robot.is_file() else ""


def _near(path: Path) -> list[str]:
    """Files beside a missing one with nearly its name."""
    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return [str(path.with_name(name)) for name in near_names(path.name, names)[:2]]


def parse(text: str, origin: str, error: type[FileError], wanted: str) -> tuple[dict[str, Any], yaml.Node]:
    """A document that is a mapping, and its node; ``wanted`` says what is expected of it."""
    try:
        document, node = read_yaml(text)
    except YamlTextError as cause:
        raise error(origin, cause.faults) from cause
    if node is None or not isinstance(document, dict):
        got = "nothing" if document is None else _KINDS[type(document)]
        raise error(origin, [Fault("", f"a {error.what.removesuffix(' file')} file must be {wanted}, got {got}", 1)])
    return document, node
