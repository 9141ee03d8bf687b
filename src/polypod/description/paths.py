"""Described data by path: ``platform.mass``, ``legs.0.base``, ``legs.leg1.joints.hinge.axis``.

Data are frozen classes, tuples and mappings; the document of a file has the same paths in mappings and lists. A path is
dotted, as ``sources`` of robot files write it, or a ``Location``, the tuple of its parts. Items of lists go by number
or by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from fnmatch import fnmatchcase
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from .drive import TORQUE_NAMES
from .quantities import Data, field_schemas, unit_of

Location = tuple[str | int, ...]


def place_of(path: str) -> Location:
    """The parts of a dotted path, numbers as such."""
    return tuple(int(part) if part.isdecimal() else part for part in path.split(".")) if path else ()


def dotted(place: Iterable[str | int]) -> str:
    """The path of a location."""
    return ".".join(map(str, place))


# ----------------------------------------------------------------------------------------------------------------------
# One value: to get, to put, to replace.


def steps(data: Any, path: str | Location) -> Iterator[tuple[Any, Any, Any]]:
    """The way to a value: at each step the owner, the part of the path, and what the owner has there."""
    for part in (path.split(".") if path else ()) if isinstance(path, str) else path:
        if isinstance(data, (tuple, list)):
            number = isinstance(part, int) or part.isdecimal()
            inside = data[int(part)] if number else {getattr(item, "name", None): item for item in data}[part]
        else:
            inside = data[part] if isinstance(data, dict) else getattr(data, str(part))
        yield data, part, inside
        data = inside


def get(data: Any, path: str | Location) -> Any:
    """The value at a path.

    Examples
    --------
    >>> get({"legs": [{"base": [0.1, 0.2, 0.3]}]}, "legs.0.base")
    [0.1, 0.2, 0.3]
    """
    for _, _, data in steps(data, path):  # noqa: B007, B020  the last is the value
        pass
    return data


def put(document: Any, path: str | Location, value: Any) -> None:
    """Set a value in a document; mappings that are not there yet are made.

    What stands on the path is copied: legs that have a mapping of their defaults in common keep their own.
    """
    *before, last = path.split(".") if isinstance(path, str) else path
    for part in before:
        if isinstance(document, dict) and document.get(part) is None:
            document[part] = {}
        key = int(part) if isinstance(document, list) else part
        document[key] = document = copy(document[key])
    document[int(last) if isinstance(document, list) else last] = value


def replaced(data: Any, path: str | Location, value: Any) -> Any:
    """Frozen data with another value at a path, not checked."""
    if not path:
        return _tuples(value)
    first, *rest = path.split(".") if isinstance(path, str) else path
    inside = replaced(get(data, (first,)), tuple(rest), value)
    if isinstance(data, tuple):
        return (*data[: int(first)], inside, *data[int(first) + 1 :])
    return type(data)({**data, first: inside}) if isinstance(data, dict) else data.model_copy(update={first: inside})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def unit_at(data: Any, path: str) -> str:
    """Unit of the number at a path; empty if its schema states none."""
    unit = ""
    for owner, part, _ in steps(data, path):
        if isinstance(owner, Data):
            unit = field_schemas(type(owner))[part].unit or unit
    return unit


# ----------------------------------------------------------------------------------------------------------------------
# All values.


def walk(data: Any, path: str = "", field: FieldInfo | None = None) -> Iterator[tuple[str, Any, FieldInfo | None]]:
    """Path and value of all that a file may state, None if it is left out, and its field if it is one of a class."""
    inside = _inside(data, file_only=True)
    if inside is None:
        yield path, data, field
    for name, value, own in inside or ():
        yield from walk(value, f"{path}.{name}" if path else str(name), own)


def changed(data: Any, change: Callable[[Any, str], Any], unit: str = "") -> Any:
    """Data with ``change(value, unit)`` for every value, those that follow from others included; not checked."""
    inside = _inside(data, file_only=False)
    if inside is None:
        return change(data, unit)
    new = {name: changed(value, change, unit_of(own) if own else unit) for name, value, own in inside}
    if isinstance(data, Data):
        return data.model_copy(update={name: value for name, value in new.items() if value is not getattr(data, name)})
    return tuple(new.values()) if isinstance(data, tuple) else type(data)(new)


def _inside(data: Any, file_only: bool) -> list[tuple[Any, Any, FieldInfo | None]] | None:
    """Name, value and field of what data are made of; None for a value."""
    if isinstance(data, Data):
        fields = type(data).model_fields
        return [(name, getattr(data, name), fields[name]) for name in (data.file_fields() if file_only else fields)]
    if isinstance(data, dict):
        return [(name, item, None) for name, item in data.items()]
    if isinstance(data, tuple) and any(isinstance(item, Data) for item in data):
        return [(number, item, None) for number, item in enumerate(data)]
    return None


def numbers(data: Any) -> Iterator[str]:
    """Paths of all numbers; a vector or tensor counts as one."""
    for path, value, _ in walk(data):
        several = isinstance(value, tuple) and value != () and not isinstance(value[0], str)
        if several or (isinstance(value, (float, int)) and not isinstance(value, bool)):
            yield path


def left_out(data: Any) -> Iterator[str]:
    """Paths of numbers that the schema has and the file leaves out."""
    for path, value, field in walk(data):
        if value is not None or field is None:
            continue
        if unit_of(field):
            yield path
            continue
        inner = (one for one in get_args(field.annotation) if isinstance(one, type) and issubclass(one, Data))
        for name, own in next(inner, Data).model_fields.items():
            if unit_of(own) and get_origin(own.annotation) is not dict:  # not tables of named points and the like
                yield f"{path}.{name}"


# ----------------------------------------------------------------------------------------------------------------------
# Names for numbers.

_OF_FORCES = {field: name for name, field in TORQUE_NAMES.items()}


def spellings(robot: Any, path: str) -> list[str]:
    """A path with numbers, and with names, of its leg and of that leg's joint, or of its element."""
    head, *parts = path.split(".")
    if head in ("elements", "internal"):
        return [path, dotted((head, getattr(robot, head)[int(parts[0])].name, *parts[1:]))]
    if head != "legs":
        return [path]
    leg = robot.legs[int(parts[0])]
    rest, joint = [parts[1:]], None
    if len(parts) > 2 and parts[1] == "joints":
        joint = leg.joints[int(parts[2])]
        rest.append(["joints", joint.name, *parts[3:]])
    if parts[-1] in _OF_FORCES and _turns(leg, joint):
        # what the file says last: messages take that
        rest = [[*tail[:-1], _OF_FORCES[parts[-1]]] for tail in rest] + rest
    forms = [dotted((head, own, *tail)) for own in (parts[0], leg.name) for tail in rest]
    return [*forms, *(form for form in in_files(robot, path) if form not in forms)]


def in_files(robot: Any, path: str) -> list[str]:
    """A path of a leg that a file states as several, as there; its torque as such last."""
    head, number, *parts = path.split(".")
    leg = robot.legs[int(number)] if head == "legs" else None
    form = [] if leg is None else leg.file_path(parts)
    if leg is None or form[:2] == ["legs", leg.name]:
        return []
    joint = leg.joints[int(parts[1])] if len(parts) > 1 and parts[0] == "joints" else None
    turns = parts[-1] in _OF_FORCES and _turns(leg, joint)
    return [dotted(form), *([dotted((*form[:-1], _OF_FORCES[parts[-1]]))] if turns else [])]


def _turns(leg: Any, joint: Any) -> bool:
    """Whether a limit of force is one of torque: of a leg whose drive turns, or of a joint that does."""
    if joint is not None:
        return bool(joint.kind == "revolute" or joint.actuated == "rotation")
    return bool(getattr(leg, "turns", False))


def spoken(robot: Any, path: str, leg: str = "") -> str:
    """A path as people say it: ``legs.0.joints.1.friction`` is ``leg1 hinge friction``; ``leg`` instead of its name."""
    parts = path.split(".")
    if parts[0] == "legs":
        parts[:2] = [leg or robot.legs[int(parts[1])].name]
        if parts[1:2] == ["joints"]:
            parts[1:3] = [get(robot, tuple(path.split(".")[:4])).name]
    return " ".join(part.replace("_", " ") for part in parts if part != "bodies")


def matching(robot: Any, paths: Iterable[str], pattern: str) -> list[str]:
    """Those of some paths that a pattern matches, with numbers or with names; ``*`` stands for any part."""
    return [path for path in paths if any(fnmatchcase(form, pattern) for form in spellings(robot, path))]


# ----------------------------------------------------------------------------------------------------------------------
# The schema of a document.


def schema_at(root: type[Data], place: Location, document: Any) -> type[Data]:
    """The data class of the mapping at a place of a document of class ``root``; a KeyError where there is none."""
    model, keyed = root, False
    parts: tuple[Any, ...] = ()
    for part in place:
        try:
            document = document[part]
        except (LookupError, TypeError):
            document = None  # written in a short form
        keyed_before, keyed = keyed, False
        if isinstance(part, str) and not keyed_before:
            field = model.model_fields[part]
            parts = (*field.metadata, field.annotation)
            keyed = get_origin(field.annotation) is dict
        if not keyed and not isinstance(document, (list, tuple)):
            inner = class_in(parts, document)
            model = (inner and inner.class_of(document)) or model
    return model


def class_in(parts: Iterable[Any], value: Any = None) -> Any:
    """What an annotation, or one of its parts, is a mapping of: the class whose ``kind`` it has, or the first."""
    found = list(_classes(parts))
    kind = value.get("kind") if isinstance(value, dict) else None
    kinds: list[Any] = [one for one in found if "kind" in getattr(one, "model_fields", ())]
    return next((one for one in kinds if one.model_fields["kind"].default == kind), found[0] if found else None)


def _classes(parts: Iterable[Any]) -> Iterator[Any]:
    """Data classes and families of them, which say of a mapping of which class it is (``class_of``)."""
    for part in parts:
        annotated = getattr(part, "__metadata__", ())  # an annotated class has the class's own attributes too
        if hasattr(part, "class_of") and not annotated:
            yield part
        else:
            yield from _classes((*annotated, *get_args(part)))
