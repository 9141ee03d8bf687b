"""The YAML document of a mode file: its structure, and its tables to and from arrays."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ...arrays import Array
from ...errors import InputError
from ...yaml12 import to_yaml
from .modes import Modes

FORMAT: Literal["polypod-modes 1"] = "polypod-modes 1"
TableData = str | list[list[float]]
Triple = tuple[float, float, float]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


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
        raise InputError("modes: some shapes have rotations and others none; give them for all modes or for none")
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
        raise InputError("attachments: some have a rotation shape and others none; give it for all or for none")
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
            f"origin.{field}: stands {away:.3g} m from the origin of the platform frame; give what is at the origin, "
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
                raise InputError(f"{where}.{field}: got {value.shape[-1]} rows, allowed is {count}, one for each mode")
        return None if point.position is None else np.array(point.position), own[0], own[1]
    given = [f for f in ("position", "shape", "rotation") if getattr(point, f) is not None]
    if given:
        raise InputError(f"{where}.{given[0]}: got it beside node {point.node}, which has its own; allowed is one")
    if point.node not in row:
        raise InputError(f"{where}.node: got {point.node}, which is not in nodes ({min(row)} to {max(row)})")
    index = row[point.node]
    return nodes[index], shapes[index], None if rotations is None else rotations[index]


def _by_node(field: str, table: TableData, widths: tuple[int, ...]) -> tuple[list[int], Array]:
    """Node numbers, each once, and the columns after them."""
    try:
        rows = np.loadtxt(io.StringIO(table), ndmin=2) if isinstance(table, str) else np.array(table, dtype=float)
    except ValueError as error:
        raise InputError(f"{field}: not a table of numbers: {error}") from error
    if rows.ndim != 2 or rows.shape[1] - 1 not in widths or len(rows) == 0:
        allowed = " or ".join(str(width + 1) for width in widths)
        shape = f"{rows.shape[0]} rows of {rows.shape[-1]} columns" if rows.size else "no rows"
        raise InputError(f"{field}: got {shape}, allowed are rows of {allowed} columns, the node's number first")
    numbers = rows[:, 0].astype(np.int64) if np.isfinite(rows[:, 0]).all() else np.zeros(len(rows), dtype=np.int64)
    if not np.array_equal(numbers, rows[:, 0]):
        bad = int(np.argmax(numbers != rows[:, 0]))
        raise InputError(f"{field}: row {bad + 1} starts with {rows[bad, 0]}, allowed is a whole number, the node's")
    values, counts = np.unique(numbers, return_counts=True)
    if counts.max() > 1:
        raise InputError(f"{field}: node {values[counts.argmax()]} is given {counts.max()} times, allowed is once")
    return numbers.tolist(), rows[:, 1:]


def _in_order(field: str, table: TableData, row: dict[int, int]) -> Array:
    """The columns of a shape table, its rows in the order of the nodes."""
    numbers, columns = _by_node(field, table, (3, 6))
    for lost, wrong in ((set(row) - set(numbers), "has no row"), (set(numbers) - set(row), "is not in nodes")):
        if lost:
            raise InputError(f"{field}: node {min(lost)} {wrong} ({len(lost)} such); one row for each node is needed")
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
