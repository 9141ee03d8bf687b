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
fields of ``Modes`` under their names, and ``format``.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...arrays import Array
from ...errors import InputError, plain, short_repr
from ...yaml12 import MAX_CHARACTERS, YamlTextError, read_yaml, to_yaml
from .modes import Modes

_Function = TypeVar("_Function")


def load_modes(path: str | Path) -> Modes:
    """Read a mode file (``.yaml``, ``.yml`` or ``.npz``); errors name the file and the field."""
    path = Path(path)
    read = _by_suffix(path, {".npz": _read_archive, ".yaml": _read_text, ".yml": _read_text})
    try:
        if path.exists() and not path.is_file():
            raise InputError("is a folder, a device or a pipe; name a file", code="not_a_file")
        return read(path)
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read: {error.strerror or error}", code="cannot_read") from error
    except InputError as error:
        raise InputError(f"{path}: {error}", code=error.code) from error


def save_modes(modes: Modes, path: str | Path) -> None:
    """Write a mode file that ``load_modes`` reads back to equal modes; whole or not at all."""
    path = Path(path)
    write = _by_suffix(path, {".npz": _write_archive, ".yaml": _write_text, ".yml": _write_text})
    partial = path.with_name(path.name + ".partial")
    write(modes, partial)
    partial.replace(path)


def _by_suffix(path: Path, functions: dict[str, _Function]) -> _Function:
    if path.suffix not in functions:
        raise InputError(f"{path}: unsupported file type {path.suffix!r}; use one of {', '.join(functions)}")
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
        raise InputError(f"a mode file must be a mapping, got {type(data).__name__}")
    for mark, kind in (("trajectory", "motion"), ("legs", "robot")):
        if mark in data:
            raise InputError(f"this is a {kind} file; name a mode file, which has nodes, modes and attachments")
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
        return f"{field}: unknown field; remove it or check its spelling"
    return f"{field}: {plain(error['msg'])}, got {short_repr(error['input'])}"


def _write_text(modes: Modes, path: Path) -> None:
    path.write_text(to_text(modes), encoding="utf-8")


def _read_archive(path: Path) -> Modes:
    known = {field.name: field for field in fields(Modes)}
    data = read_arrays(path, ("format", *known))
    version = str(data.pop("format", "none"))
    if version != FORMAT:
        raise InputError(f"format: must be {FORMAT!r}, got {version!r}")
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


# ----------------------------------------------------------------------------------------------------------------------
# The YAML document of a mode file: its structure, and its tables to and from arrays.

FORMAT: Literal["polypod-modes 1"] = "polypod-modes 1"
TableData = str | list[list[float]]
Triple = tuple[float, float, float]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Mode(_Data):
    """One mode: generalized stiffness, at most one kind of damping, the table of its shape."""

    stiffness: float
    damping_ratio: float | None = None
    damping: float | None = None
    shape: TableData


class Point(_Data):
    """The origin or an attachment point: a node, or shapes of its own with one row for each mode."""

    name: str = ""
    node: int | None = None
    position: Triple | None = None
    shape: list[Triple] | None = None
    rotation: list[Triple] | None = None


class Document(_Data):
    """A whole mode file."""

    format: Literal["polypod-modes 1"]
    title: str = ""
    free: bool = True
    tolerance: float = 1e-6
    reach: float | None = None
    nodes: TableData
    modes: list[Mode] = Field(min_length=1)
    attachments: list[Point] = Field(min_length=1)
    origin: Point | None = None


def from_document(document: Document) -> Modes:
    """Modes from a document whose structure is right; raises for tables that do not fit each other."""
    numbers, columns = _by_node("nodes", document.nodes, (4,))
    row = {number: index for index, number in enumerate(numbers)}
    count = len(document.modes)
    parts = [_in_order(f"modes.{k}.shape", mode.shape, row) for k, mode in enumerate(document.modes)]
    if len({part.shape[1] for part in parts}) > 1:
        raise InputError("modes: only some shapes have rotations; give them for all modes or for none")
    table = np.stack(parts, axis=2)
    shapes, rotations = table[:, :3], table[:, 3:] if table.shape[1] == 6 else None
    names, places, at, turns = [], [], [], []
    for k, point in enumerate(document.attachments):
        where = f"attachments.{k}"
        place, shape, turn = _point(where, point, row, columns[:, :3], shapes, rotations, count)
        if place is None or shape is None:
            missing = "position" if place is None else "shape"
            raise InputError(f"{where}.{missing}: missing; give the number of a node, or position and shape")
        names.append(point.name or f"p{k + 1}")
        places.append(place)
        at.append(shape)
        turns.append(turn)
    if any(turn is None for turn in turns) and any(turn is not None for turn in turns):
        raise InputError("attachments: only some have a rotation shape; give it for all or for none")
    origin: tuple[Any, Any, Any] = (None, None, None)
    if document.origin is not None:
        origin = _origin(document.origin, row, columns[:, :3], shapes, rotations, count)
    return Modes(
        nodes=columns[:, :3],
        masses=columns[:, 3],
        shapes=shapes,
        stiffness=np.array([mode.stiffness for mode in document.modes]),
        damping_ratio=_damping(document.modes, "damping_ratio"),
        damping=_damping(document.modes, "damping"),
        attachments=np.array(places),
        attachment_shapes=np.array(at),
        attachment_rotations=None if turns[0] is None else np.array(turns),
        attachment_names=tuple(names),
        origin_shape=origin[1],
        origin_rotation=origin[2],
        free=document.free,
        tolerance=document.tolerance,
        reach=document.reach,
        title=document.title,
    )


def _origin(
    point: Point, row: dict[int, int], nodes: Array, shapes: Array, rotations: Array | None, count: int
) -> tuple[Array | None, Array | None, Array | None]:
    """Shapes at the origin of {P}, which must be there."""
    if point.node is None and point.shape is None and point.rotation is None:
        raise InputError("origin.node: missing; give the number of a node, or shape and rotation; or leave origin out")
    found = _point("origin", point, row, nodes, shapes, rotations, count)
    away = 0.0 if found[0] is None else float(np.linalg.norm(found[0]))
    if away > 1e-6 * float(np.abs(nodes).max()):
        field = "position" if point.node is None else "node"
        raise InputError(
            f"origin.{field}: is {away:.3g} m from the origin of the platform frame; give what is at the origin, "
            "or leave origin out"
        )
    return found


def _damping(modes: Sequence[Mode], kind: str) -> Array | None:
    given = [getattr(mode, kind) for mode in modes]
    if all(value is None for value in given):
        return None
    if any(value is None for value in given):
        raise InputError(f"modes.{given.index(None)}.{kind}: missing; give it for every mode or for none")
    return np.array(given)


def _point(
    where: str, point: Point, row: dict[int, int], nodes: Array, shapes: Array, rotations: Array | None, count: int
) -> tuple[Array | None, Array | None, Array | None]:
    """Position (3,), shape (3, N) and rotation (3, N) of a point, each None if not given."""
    if point.node is None:
        own = [None if value is None else np.array(value).T for value in (point.shape, point.rotation)]
        for field, value in zip(("shape", "rotation"), own, strict=True):
            if value is not None and value.shape != (3, count):
                raise InputError(f"{where}.{field}: must have {count} rows, one per mode, got {value.shape[-1]}")
        return None if point.position is None else np.array(point.position), own[0], own[1]
    given = [f for f in ("position", "shape", "rotation") if getattr(point, f) is not None]
    if given:
        raise InputError(f"{where}.{given[0]}: node {point.node} already has one; give only one of them")
    if point.node not in row:
        raise InputError(
            f"{where}.node: got {point.node}, which is not in nodes; name one of them ({min(row)} to {max(row)})"
        )
    index = row[point.node]
    return nodes[index], shapes[index], None if rotations is None else rotations[index]


def _by_node(field: str, table: TableData, widths: tuple[int, ...]) -> tuple[list[int], Array]:
    """Node numbers, each once, and the columns after them."""
    try:
        rows = np.loadtxt(io.StringIO(table), ndmin=2) if isinstance(table, str) else np.array(table, dtype=float)
    except ValueError as error:
        reason = re.split(r"[.;] |\.$", str(error))[0]
        raise InputError(
            f"{field}: not a table of numbers ({reason}); rows need as many numbers each", code="not_numbers"
        ) from error
    if rows.ndim != 2 or rows.shape[1] - 1 not in widths or len(rows) == 0:
        allowed = " or ".join(str(width + 1) for width in widths)
        shape = f"{rows.shape[0]} rows of {rows.shape[-1]} columns" if rows.size else "no rows"
        raise InputError(f"{field}: must have rows of {allowed} columns, starting with the node number, got {shape}")
    numbers = rows[:, 0].astype(np.int64) if np.isfinite(rows[:, 0]).all() else np.zeros(len(rows), dtype=np.int64)
    if not np.array_equal(numbers, rows[:, 0]):
        bad = int(np.argmax(numbers != rows[:, 0]))
        raise InputError(f"{field}: row {bad + 1} starts with {rows[bad, 0]}; must be an integer node number")
    values, counts = np.unique(numbers, return_counts=True)
    if counts.max() > 1:
        raise InputError(f"{field}: node {values[counts.argmax()]} is given {counts.max()} times; give it once")
    return numbers.tolist(), rows[:, 1:]


def _in_order(field: str, table: TableData, row: dict[int, int]) -> Array:
    """The columns of a shape table, its rows in the order of the nodes."""
    numbers, columns = _by_node(field, table, (3, 6))
    for lost, wrong in ((set(row) - set(numbers), "has no row"), (set(numbers) - set(row), "is not in nodes")):
        if lost:
            raise InputError(f"{field}: node {min(lost)} {wrong} ({len(lost)} such); one row per node is needed")
    return columns[np.argsort([row[number] for number in numbers])]


def to_text(modes: Modes) -> str:
    """Modes as the text of a mode file; every number is written with all its digits."""
    head: dict[str, Any] = {"format": FORMAT, "title": modes.title, "free": modes.free, "tolerance": modes.tolerance}
    if modes.reach is not None:
        head["reach"] = modes.reach
    lines = [to_yaml(head).rstrip("\n"), "nodes: |  # node, x, y, z [m], mass [kg]"]
    lines += _rows(np.column_stack([modes.nodes, modes.masses]), "  ")
    lines.append("modes:")
    for k in range(modes.count):
        lines.append(f"- stiffness: {modes.stiffness[k].item()!r}")
        for kind, value in (("damping_ratio", modes.damping_ratio), ("damping", modes.damping)):
            if value is not None:
                lines.append(f"  {kind}: {value[k].item()!r}")
        lines.append("  shape: |  # node, displacement x, y, z")
        lines += _rows(modes.shapes[:, :, k], "    ")
    turns = modes.attachment_rotations
    points: list[dict[str, Any]] = []
    for i, name in enumerate(modes.attachment_names):
        own = _shapes(modes.attachment_shapes[i], None if turns is None else turns[i])
        points.append({"name": name, "position": modes.attachments[i].tolist(), **own})
    tail: dict[str, Any] = {"attachments": points}
    origin = _shapes(modes.origin_shape, modes.origin_rotation)
    if origin:
        tail["origin"] = origin
    return "\n".join([*lines, to_yaml(tail, flow=None)])


def _shapes(shape: Array | None, rotation: Array | None) -> dict[str, Any]:
    both = (("shape", shape), ("rotation", rotation))
    return {name: value.T.tolist() for name, value in both if value is not None}


def _rows(table: Array, indent: str) -> list[str]:
    return [f"{indent}{k} {' '.join(map(repr, row))}" for k, row in enumerate(table.tolist(), start=1)]


# ----------------------------------------------------------------------------------------------------------------------
# NumPy archives from anywhere: what their arrays claim to be is looked at before any of them is read.

MAX_BYTES = 1_000_000_000
"""Largest arrays that are read from an archive, together."""
MAX_GROWTH, FREE_BYTES = 100, 10_000_000
"""How many times its own size an archive may grow when it is unpacked, and up to which size this does not count."""
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_arrays(path: Path, known: Collection[str]) -> dict[str, Any]:
    """The arrays of an ``.npz`` file by name; InputError for unknown names, objects, and arrays beyond the limits."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive, path.stat().st_size, known)
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except InputError:
        raise
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(
            f"not a NumPy archive of plain arrays: {error}; write it with numpy.savez",
            code="not_an_archive",
        ) from error


def _check(archive: zipfile.ZipFile, packed: int, known: Collection[str]) -> None:
    """Names, and sizes as the archive's directory and the arrays' headers state them."""
    members = archive.infolist()
    names = [member.filename.removesuffix(".npy") for member in members]
    for name in names:
        if name not in known:
            raise InputError(f"{name}: unknown field; known: {', '.join(known)}")
        if names.count(name) > 1:
            raise InputError(f"{name}: appears twice")
    size = sum(member.file_size for member in members)
    if size > MAX_BYTES:  # a few compressed kilobytes can hold gigabytes
        raise InputError(f"its arrays take {size / 1000000.0:.0f} MB; the limit is {MAX_BYTES / 1000000.0:.0f} MB")
    if size > FREE_BYTES and size > MAX_GROWTH * packed:
        raise InputError(
            f"{packed / 1000000.0:.3g} MB unpack to {size / 1000000.0:.0f} MB; above {FREE_BYTES / 1000000.0:.0f} "
            f"MB the limit is {MAX_GROWTH} times the file's size"
        )
    for name, member in zip(names, members, strict=True):
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(
                f"{name}: compressed by a method that NumPy does not use; save it with numpy.savez_compressed",
                code="compression",
            )
        with archive.open(member) as file:
            claimed = _claimed(file)
        if claimed != member.file_size:
            raise InputError(
                f"{name}: its header announces {claimed} bytes, the file has {member.file_size}; it is cut off or "
                "damaged: write it again"
            )


def _claimed(file: IO[bytes]) -> int:
    """Bytes of a member whose header speaks true: the header's own and those of the array."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise InputError(f"array format {version[0]}.{version[1]} is not supported; use 1.0 or 2.0")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise InputError("arrays of Python objects are not supported")
    return file.tell() + math.prod(shape) * dtype.itemsize
