"""Faults of a file, from pydantic's errors: field, what was got, what is allowed, line.

A validator of several fields starts its message with the field it blames and a colon (``about: unknown name``);
the fault is then reported at that field.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from ..description.paths import Location, class_in, dotted, get, place_of, schema_at
from ..description.quantities import Data, unit_of
from ..description.robot import Robot
from ..description.units import advice
from ..errors import Fault, FileError, UnknownNameError, plain, short_repr
from .document_kinds import another_kind
from .documents import parse
from .short_forms import short_fields

Schema = TypeVar("Schema", bound=Data)

LOOKUP_ERRORS = (KeyError, IndexError, TypeError, AttributeError)
"""What a lookup raises at a location where the schema has no mapping."""

_WANTED = {
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "invalid_key": "must be a text, like all field names",
}
_BLAMED = re.compile(r"([a-z_]\w*(?:\.[\w/]+)*): (.+)", re.DOTALL)


_CODES = {"missing": "missing", "extra_forbidden": "unknown"}
"""Codes of faults by pydantic's name of the error."""


def validation_faults(
    error: ValidationError,
    document: dict[str, Any],
    node: yaml.Node | None,
    root: type[Data] = Robot,
    in_file: Callable[[Location], Location] = lambda location: location,
) -> list[Fault]:
    """Faults of a document that failed its validation; one in ``leg_defaults`` is reported there, once.

    ``root`` is the data class of the document. ``in_file`` gives the place in the file of a place in the document.
    """
    lines = dict(_lines(node, ()))
    alike: dict[tuple[str | int | None, ...], dict[Location, Fault]] = defaultdict(dict)
    for details, location in _leaves(error, ()):
        shared = _in_defaults(in_file(location), lines)[:1] == ("leg_defaults",)
        location, message = _message(details, location, document, root, shared)
        leg = location[:2]  # of the legs written out
        location = _in_defaults(in_file(location), lines)
        code = _CODES.get(details["type"]) or str(getattr(details.get("ctx", {}).get("error"), "code", ""))
        fault = Fault(dotted(location), message, _line(location, lines), code)
        # equal faults of several legs are one if they stand in one line, or if all legs lack (or have) the same field
        missing = code in _CODES.values() and location[:1] == ("legs",) and len(location) == 3
        key = location[2:] if location[:1] == ("legs",) else location
        alike[(message, None if missing else fault.line, *key)].setdefault(leg, fault)
    legs = len(document.get("legs") or ()) if isinstance(document.get("legs"), list) else 0
    faults: list[Fault] = []
    for (_, line, *_rest), by_leg in alike.items():
        same = list(by_leg.values())
        if len(same) == 1 or (line is None and len(same) < legs):
            faults += same
        else:
            first = same[0]
            shared = first.field.startswith("leg_defaults.")  # clearly of every leg
            faults.append(replace(first, message=first.message + ("" if shared else and_others(len(same) - 1))))
    return faults


def validated(kind: type[Schema], text: str, origin: str, error: type[FileError], folder: str | Path = ".") -> Schema:
    """The data of a kind that a YAML text states; files it names are below ``folder``.

    Raises ``error`` with every fault and its line.
    """
    first = [name for name, field in kind.model_fields.items() if field.is_required()] or list(kind.model_fields)[:2]
    document, node = parse(text, origin, error, f"a mapping with {', '.join(first)} and more")
    faults = another_kind(document, error.what.removesuffix(" file")) or structure_faults(document, node)
    if faults:
        raise error(origin, faults)
    try:
        return kind.model_validate(document, context={"folder": folder})
    except ValidationError as problem:
        raise error(origin, validation_faults(problem, document, node, kind)) from problem


def structure_faults(document: dict[str, Any], node: yaml.Node | None) -> list[Fault]:
    """Faults that must be known before the legs' defaults are spread."""
    defaults = document.get("leg_defaults")
    if defaults is None or isinstance(defaults, dict):
        return []
    message = f"must be a mapping of leg fields, got {short_repr(defaults)}"
    return [Fault("leg_defaults", message, line_of("leg_defaults", node))]


def line_of(field: str, node: yaml.Node | None) -> int | None:
    """Line of a dotted field (``trajectory.poses.2``) of a document, or of the nearest that holds it."""
    return _line(place_of(field), dict(_lines(node, ())))


def _leaves(errors: ValidationError, above: Location) -> Iterator[tuple[Any, Location]]:
    """All errors of a validation; a leg's own validation is one error of the robot's, with errors inside."""
    for error in errors.errors():
        location: Location = above + tuple(p for p in error["loc"] if not str(p).startswith("function-"))
        inner = error.get("ctx", {}).get("error")
        if isinstance(inner, ValidationError):
            yield from _leaves(inner, location)
        else:
            yield error, location


def _message(
    error: Any, location: Location, document: dict[str, Any], root: type[Data], shared: bool
) -> tuple[Location, str]:
    """The location of the field that an error of pydantic is about, and the message; ``shared``: of leg_defaults."""
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        return location, "missing: this field is required"
    if error["type"] == "extra_forbidden":
        model = schema_at(root, location[:-1], document)
        known = (*model.file_fields(), *short_fields(model))
        unknown = str(UnknownNameError("field", str(location[-1]), known))
        hint = owner_hint(str(location[-1]), location[:-1], document, root)
        return location, unknown + (_of_other_legs(location, document, root) if shared else hint)
    if error["type"] == "value_error":
        blamed = _BLAMED.fullmatch(message)
        if blamed is None:
            return location, message + _angles_meant(location, error["input"])
        return (*location, *place_of(blamed[1])), blamed[2]
    got = error["ctx"]["text"] if error["type"] == "number_text" else _as_written(location, document, error["input"])
    wanted = _WANTED.get(error["type"], plain(message))
    unit = _unit_at(location, document, root)
    if error["type"] == "number_text" and "rad" not in unit:
        wanted = _WANTED["float_type"]  # no angle can stand there
    if wanted == "must be a mapping":
        wanted += _fields_of(location, document, root)
    instead = "" if wanted.startswith("must be a mapping") else _instead(error["type"], got, unit)
    return location, f"{wanted}, got {short_repr(got)}{'; ' if instead else ''}{instead}"


def _fields_of(location: Location, document: dict[str, Any], root: type[Data]) -> str:
    """Fields of the mapping that a location should have."""
    try:
        field = schema_at(root, location[:-1], document).model_fields[str(location[-1])]
    except LOOKUP_ERRORS:
        return ""
    inside = class_in((field.annotation,))
    return f" of {', '.join(inside.file_fields())}" if inside else ""


def owner_hint(name: str, here: Location, document: dict[str, Any], root: type[Data]) -> str:
    """Another mapping of the document that may have a field, as a sentence; empty if none may.

    Examples
    --------
    >>> owner_hint("max_force", ("platform",), {"platform": {}, "legs": [{"kind": "UPS"}]}, Robot)
    ' It is a field of legs.'
    """
    for place in _mappings(document, ()):
        try:
            fits = place != here and name in schema_at(root, place, document).file_fields()
        except LOOKUP_ERRORS:
            continue
        if fits:
            where = ".".join(part for part in place if isinstance(part, str))
            return f" It is a field of {where or 'the file itself: indent it less'}."
    return ""


def _of_other_legs(location: Location, document: dict[str, Any], root: type[Data]) -> str:
    """Why a field of leg_defaults is unknown to the leg at a location: its kind is another one."""
    field, legs = str(location[-1]), document["legs"]
    own = legs[int(location[1])]
    fits = []
    for k, leg in enumerate(legs):
        try:
            fits += [str(leg["kind"])] if field in schema_at(root, ("legs", k), document).file_fields() else []
        except LOOKUP_ERRORS:
            continue
    if not fits:
        return ""
    name = own.get("name") or f"leg{int(location[1]) + 1}"
    kinds = ", ".join(dict.fromkeys(fits))
    return (
        f" leg_defaults are those of all legs, and {name} is of kind {own.get('kind')}: move {field} to the legs of "
        f"kind {kinds}."
    )


def _mappings(value: Any, place: Location) -> Iterator[Location]:
    """Places of all mappings of a document; of a list's only the first."""
    if isinstance(value, dict):
        yield place
        for key, item in value.items():
            yield from _mappings(item, (*place, key))
    elif isinstance(value, list) and value:
        yield from _mappings(value[0], (*place, 0))


def _unit_at(location: Location, document: dict[str, Any], root: type[Data]) -> str:
    """Unit of a number, from the nearest field around it that has one."""
    for depth in reversed(range(len(location))):
        try:
            field = schema_at(root, location[:depth], document).model_fields.get(str(location[depth]))
        except LOOKUP_ERRORS:
            continue
        if field is not None:
            return unit_of(field)
    return ""


def _as_written(location: Location, document: dict[str, Any], checked: Any) -> Any:
    """The value as the file has it: ``181 deg``, where the value checked is in radians."""
    try:
        value = get(document, location)
    except LOOKUP_ERRORS:
        return checked
    return value if isinstance(value, str) and not isinstance(checked, str) else checked


def _angles_meant(location: Location, got: Any) -> str:
    """Advice for three angles where home needs a matrix."""
    if location != ("home", "rotation") or not isinstance(got, list) or any(isinstance(row, list) for row in got):
        return ""
    return f"; write 'angles: [{', '.join(map(str, got))}]' instead if angles are meant" if len(got) == 3 else ""


def _instead(kind: str, got: Any, unit: str) -> str:
    """What to write instead of a value, where that is clear."""
    if kind == "string_type" and isinstance(got, (int, float)):
        return f"write it in quotes: '{got}'"
    if kind == "less_than_equal" and unit == "rad" and isinstance(got, (int, float)):
        return f"write '{got:g} deg' if degrees are meant"
    readable = kind.startswith(("greater_than", "less_than"))  # a number, beyond a bound
    return advice(got, unit) if isinstance(got, str) and not readable else ""


def _in_defaults(location: Location, lines: dict[Location, int]) -> Location:
    """Where a leg's field stands in the file: at the leg, or among the defaults."""
    defaults: Location = ("leg_defaults", *location[2:])
    of_leg = location[:1] == ("legs",) and len(location) > 2 and location[:3] not in lines
    return defaults if of_leg and defaults[:2] in lines else location


def _line(location: Location, lines: dict[Location, int]) -> int | None:
    """Line of a field, or of the nearest that holds it."""
    location = _in_defaults(location, lines)
    return next((lines[location[:n]] for n in range(len(location), -1, -1) if location[:n] in lines), None)


def _lines(node: yaml.Node | None, path: Location) -> Iterator[tuple[Location, int]]:
    """Line of every key and item of a document, by its path."""
    if node is None:
        return
    yield path, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _lines(value, (*path, key.value))
            yield (*path, key.value), key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _lines(value, (*path, number))


# ----------------------------------------------------------------------------------------------------------------------
# Remarks that hold for several legs, said once.


def merge_remarks(remarks: Iterable[tuple[str, str]], legs: Collection[str]) -> list[str]:
    """Remarks as sentences ``field: text``; one that several legs share names the first of them and counts the others.

    ``remarks`` are dotted fields (``leg1.link.mass``) with their texts, ``legs`` the names of the legs.

    Examples
    --------
    >>> merge_remarks([("a.mass", "is zero"), ("b.mass", "is zero"), ("com", "is far")], ["a", "b"])
    ['a.mass: is zero (and in 1 other leg)', 'com: is far']
    """
    alike: dict[tuple[str, str], list[str]] = {}
    for field, text in remarks:
        owner, _, rest = field.partition(".")
        alike.setdefault((rest if owner in legs else field, text), []).append(field)
    return [f"{fields[0]}: {text}{and_others(len(fields) - 1)}" for (_, text), fields in alike.items()]


def merge_sentences(broken: Sequence[str]) -> list[str]:
    """Sentences ``leg: text``; those that differ in the leg only are one, which counts the others.

    Examples
    --------
    >>> merge_sentences(["leg1: length 0.3 m is outside 1 to 2 m", "leg2: length 0.3 m is outside 1 to 2 m"])
    ['leg1: length 0.3 m is outside 1 to 2 m (and in 1 other leg)']
    """
    first: dict[str, list[str]] = {}
    for sentence in broken:
        first.setdefault(sentence.partition(": ")[2], []).append(sentence)
    return [f"{same[0]}{and_others(len(same) - 1)}" for same in first.values()]


def and_others(count: int) -> str:
    """How a message goes on that holds for ``count`` other legs; empty for none."""
    return f" (and in {count} other leg{'s' if count > 1 else ''})" if count else ""
