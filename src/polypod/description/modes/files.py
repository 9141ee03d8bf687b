"""Mode files: elastic modes in and out, as YAML text or as a NumPy archive.

``.yaml`` holds tables like those a finite-element program prints (Nastran's T1..R3, Ansys' UX..ROTZ)::

    format: polypod-modes 1
    title: my platform
    free: true                # optional; false for shape functions that are not free-free modes
    tolerance: 1.0e-6         # optional; relative, of the check that free modes are orthogonal
    reach: 0.05               # optional [m]; farthest an attachment point may be from a node
    nodes: |                  # one row for each node: its number, x, y, z [m], mass [kg]
      101  0.0  0.0  0.0  0.68
      102  0.1  0.0  0.0  0.68
    modes:
    - stiffness: 35625.55     # generalized; omega^2 for unit generalized mass
      damping_ratio: 0.02     # or damping: the generalized damping; or neither
      shape: |                # one row for each node: its number, displacement x, y, z [, rotation x, y, z]
        101  0.0  0.0  0.12
        102  0.0  0.0  0.11
    attachments:              # in the order of the legs; at a node, or anywhere with shapes of their own
    - {name: p1, node: 102}
    - {name: p2, position: [0.1, 0.2, 0.0], shape: [[0.0, 0.0, 0.1]], rotation: [[0.0, 0.1, 0.0]]}  # a row a mode
    origin: {node: 101}       # optional; the origin of the platform frame, or shape and rotation

All in SI units and platform axes. Tables may be lists of rows too; ``#`` starts a comment. ``.npz`` holds the
fields of :class:`Modes` under their names, and ``format``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError

from ...errors import InputError, short_repr
from ...yaml12 import YamlTextError, read_yaml
from ...yaml12.loader import MAX_CHARACTERS
from .archive import read_arrays
from .modes import Modes
from .tables import FORMAT, Document, from_document, to_text

_Function = TypeVar("_Function")


def load_modes(path: str | Path) -> Modes:
    """Read a mode file (``.yaml``, ``.yml`` or ``.npz``); errors name the file and the field."""
    path = Path(path)
    read = _by_suffix(path, {".npz": _read_archive, ".yaml": _read_text, ".yml": _read_text})
    try:
        if path.exists() and not path.is_file():
            raise InputError("not a regular file")
        return read(path)
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror or error}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def save_modes(modes: Modes, path: str | Path) -> None:
    """Write a mode file that :func:`load_modes` reads back to equal modes; whole or not at all."""
    path = Path(path)
    write = _by_suffix(path, {".npz": _write_archive, ".yaml": _write_text, ".yml": _write_text})
    partial = path.with_name(path.name + ".partial")
    write(modes, partial)
    partial.replace(path)


def _by_suffix(path: Path, functions: dict[str, _Function]) -> _Function:
    if path.suffix not in functions:
        raise InputError(f"{path}: got a name ending in {path.suffix!r}, allowed are {', '.join(functions)}")
    return functions[path.suffix]


def _read_text(path: Path) -> Modes:
    if path.stat().st_size > MAX_CHARACTERS:
        raise InputError(f"larger than {MAX_CHARACTERS // 10**6} MB; write large tables as .npz")
    try:
        return parse_modes(read_yaml(path.read_text(encoding="utf-8"))[0])
    except YamlTextError as error:
        raise InputError(str(error)) from error
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8 text; save it as UTF-8") from error


def parse_modes(data: Any) -> Modes:
    """Modes from the mapping that a mode file holds."""
    if not isinstance(data, dict):
        raise InputError(f"a mode file is a mapping, got {type(data).__name__}")
    for mark, kind in (("trajectory", "motion"), ("legs", "robot")):
        if mark in data:
            raise InputError(f"this is a {kind} file; a mode file has nodes, modes and attachments")
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        raise InputError("; ".join(_fault(e) for e in error.errors())) from error
    return from_document(document)


def _fault(error: Any) -> str:
    field = ".".join(str(p) for p in error["loc"] if not str(p).startswith(("str", "list[")))
    if error["type"] == "missing":
        return f"{field}: missing, this field is required"
    if error["type"] == "extra_forbidden":
        return f"{field}: unknown field; remove it or correct its spelling"
    return f"{field}: {error['msg']}, got {short_repr(error['input'])}"


def _write_text(modes: Modes, path: Path) -> None:
    path.write_text(to_text(modes), encoding="utf-8")


def _read_archive(path: Path) -> Modes:
    known = {field.name: field for field in fields(Modes)}
    data = read_arrays(path, ("format", *known))
    version = str(data.pop("format", "none"))
    if version != FORMAT:
        raise InputError(f"format: got {version!r}, allowed is {FORMAT!r}")
    for name, field in known.items():
        if field.default is MISSING and name not in data:
            raise InputError(f"{name}: missing, this field is required")
    plain: dict[str, Callable[[Any], Any]] = {
        "free": bool, "tolerance": float, "reach": float, "title": str, "attachment_names": tuple,
    }  # fmt: skip
    return Modes(**{name: plain.get(name, np.asarray)(value) for name, value in data.items()})


def _write_archive(modes: Modes, path: Path) -> None:
    data = {field.name: getattr(modes, field.name) for field in fields(modes)}
    with path.open("wb") as file:  # an open file, as a name would get a second suffix
        np.savez_compressed(file, format=FORMAT, **{name: value for name, value in data.items() if value is not None})
