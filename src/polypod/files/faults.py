"""What is wrong with a robot file, in its own words: field, what was got, what is allowed, line.

A validator of several fields starts its message with the field it blames and a colon (``about: unknown name``);
the fault is then reported at that field.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, get_args

import yaml
from pydantic import ValidationError

from ..description.advice import advice
from ..description.leg import LegData
from ..description.quantities import Data, unit_of
from ..description.robot import Robot
from ..errors import Fault, UnknownNameError

Location = tuple[str | int, ...]
Models = Callable[[Location, dict[str, Any]], type[Data]]
_WANTED = {
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be a text",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "model_attributes_type": "must be a mapping",
    "invalid_key": "must be a text, as all names of fields",
}
_NOWHERE = (KeyError, IndexError, TypeError, AttributeError)
"""What looking for a place raises where the schema has no mapping."""
_BLAMED = re.compile(r"([a-z_]\w*(?:\.\w+)*): (.+)", re.DOTALL)


def validation_faults(
    error: ValidationError, document: dict[str, Any], node: yaml.Node | None, models: Models | None = None
) -> list[Fault]:
    """Faults of a document that is no robot; one that stands in ``leg_defaults`` is told there, once.

    ``models`` finds the data class of a mapping at a place of the document; a robot's unless given.
    """
    lines = dict(_lines(node, ()))
    alike: dict[tuple[str | int | None, ...], list[Fault]] = defaultdict(list)
    for details, location in _leaves(error, ()):
        location, message = _words(details, location, document, models or _model_at)
        location = _written(location, lines)
        fault = Fault(".".join(map(str, location)), message, _line(location, lines))
        # equal faults of several legs are one if they stand in one line, or if all legs lack (or have) the same field
        missing = message.startswith(("missing", "unknown")) and location[:1] == ("legs",) and len(location) == 3
        key = location[2:] if location[:1] == ("legs",) else location
        alike[(message, None if missing else fault.line, *key)].append(fault)
    legs = len(document.get("legs") or ()) if isinstance(document.get("legs"), list) else 0
    faults: list[Fault] = []
    for (_, line, *_rest), same in alike.items():
        if len(same) == 1 or (line is None and len(same) < legs):
            faults += same
        else:
            first = same[0]
            others = f" (and in {len(same) - 1} other leg{'s' if len(same) > 2 else ''})"
            shared = first.field.startswith("leg_defaults.")  # each leg's, as anyone sees
            faults.append(Fault(first.field, first.message + ("" if shared else others), first.line))
    return faults


def structure_faults(document: dict[str, Any], node: yaml.Node | None) -> list[Fault]:
    """Faults that must be known before the legs' defaults are spread."""
    faults = list(_repeated_keys(node, ()))
    defaults = document.get("leg_defaults")
    if not (defaults is None or isinstance(defaults, dict)):
        line = _line(("leg_defaults",), dict(_lines(node, ())))
        faults.append(Fault("leg_defaults", f"must be a mapping of fields of a leg, got {_short(defaults)}", line))
    return faults


def line_of(field: str, node: yaml.Node | None) -> int | None:
    """Line of a dotted field (``trajectory.poses.2``) of a document, or of the nearest that holds it."""
    parts = tuple(int(part) if part.isdigit() else part for part in field.split(".")) if field else ()
    return _line(parts, dict(_lines(node, ())))


def _repeated_keys(node: yaml.Node | None, path: Location) -> Iterator[Fault]:
    """YAML lets the last of two equal keys win in silence; here it is a fault."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                field = ".".join(map(str, (*path, key.value)))
                yield Fault(field, f"given twice, here and in line {seen[key.value]}", line)
            seen[key.value] = line
            yield from _repeated_keys(value, (*path, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _repeated_keys(value, (*path, number))


def _leaves(errors: ValidationError, above: Location) -> Iterator[tuple[Any, Location]]:
    """All errors of a validation; a leg's own validation is one error of the robot's, with errors inside."""
    for error in errors.errors():
        location: Location = above + tuple(p for p in error["loc"] if not str(p).startswith("function-"))
        inner = error.get("ctx", {}).get("error")
        if isinstance(inner, ValidationError):
            yield from _leaves(inner, location)
        else:
            yield error, location


def _words(error: Any, location: Location, document: dict[str, Any], models: Models) -> tuple[Location, str]:
    """A pydantic error in the words of a robot file, and the field it is about."""
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        return location, "missing: this field is required"
    if error["type"] == "extra_forbidden":
        known = models(location[:-1], document).file_fields()
        return location, str(UnknownNameError("field", str(location[-1]), known))
    if error["type"] == "value_error":
        blamed = _BLAMED.fullmatch(message)
        if blamed is None:
            return location, message + _angles_meant(location, error["input"])
        parts = tuple(int(part) if part.isdigit() else part for part in blamed[1].split("."))
        return (*location, *parts), blamed[2]
    got = error["ctx"]["text"] if error["type"] == "number_text" else error["input"]
    wanted = _WANTED.get(error["type"], message.replace("Input should be", "must be"))
    unit = _unit_at(location, document, models)
    if error["type"] == "number_text" and "rad" not in unit:
        wanted = _WANTED["float_type"]  # no angle can stand there
    if wanted == "must be a mapping":
        wanted += _fields_of(location, document, models)
    instead = _instead(error["type"], got, unit)
    return location, f"{wanted}, got {_short(got)}{'; ' if instead else ''}{instead}"


def _angles_meant(location: Location, got: Any) -> str:
    """Three angles where home needs a matrix."""
    if location != ("home", "rotation") or not isinstance(got, list) or any(isinstance(row, list) for row in got):
        return ""
    return f"; write 'angles: [{', '.join(map(str, got))}]' instead if angles are meant" if len(got) == 3 else ""


def _instead(kind: str, got: Any, unit: str) -> str:
    """What to write instead of a value, if one can tell."""
    if kind == "string_type" and isinstance(got, (int, float)):
        return f"write it in quotes: '{got}'"
    if kind == "less_than_equal" and unit == "rad" and isinstance(got, (int, float)):
        return f"write '{got:g} deg' if degrees are meant"
    return advice(got, unit) if isinstance(got, str) else ""


def _fields_of(location: Location, document: dict[str, Any], models: Models) -> str:
    """Which fields a mapping has that is no mapping in the file."""
    try:
        field = models(location[:-1], document).model_fields[str(location[-1])]
    except _NOWHERE:
        return ""
    inside = _models(field.annotation)
    return f" of {', '.join(inside[0].file_fields())}" if inside else ""


def _unit_at(location: Location, document: dict[str, Any], models: Models) -> str:
    """Unit of a number, from the nearest field around it that has one."""
    for depth in reversed(range(len(location))):
        try:
            field = models(location[:depth], document).model_fields.get(str(location[depth]))
        except _NOWHERE:
            continue
        if field is not None:
            return unit_of(field)
    return ""


def _model_at(location: Location, document: dict[str, Any]) -> type[Data]:
    """The data class of a mapping at a place of a robot file."""
    model: type[Data] = Robot
    value: Any = document
    for depth, part in enumerate(location):
        value = value[part]
        if location[:1] == ("legs",) and depth == 1:
            legs: Any = document["legs"]
            model = LegData.registry[legs[part]["kind"]]
        elif depth > 0 or part != "legs":
            inside = [] if isinstance(part, int) else _models(model.model_fields[part].annotation)
            model = _meant(inside, value) if inside else model
    return model


def _meant(models: list[type[Data]], value: Any) -> type[Data]:
    """Which of several data classes a mapping is: the one whose ``kind`` it has, or the first."""
    kind = value.get("kind") if isinstance(value, dict) else None
    kinds = (m for m in models if "kind" in m.model_fields)
    return next((m for m in kinds if m.model_fields["kind"].default == kind), models[0])


def _models(annotation: Any) -> list[type[Data]]:
    """The data classes an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, Data):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _written(location: Location, lines: dict[Location, int]) -> Location:
    """Where a leg's field stands in the file: at the leg, or among the defaults."""
    defaults: Location = ("leg_defaults", *location[2:])
    of_leg = location[:1] == ("legs",) and len(location) > 2 and location[:3] not in lines
    return defaults if of_leg and defaults[:2] in lines else location


def _line(location: Location, lines: dict[Location, int]) -> int | None:
    """Line of a field, or of the nearest that holds it."""
    location = _written(location, lines)
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
