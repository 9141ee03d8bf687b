"""The schema at a location of a document: data class, unit, fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

from ..couplings import Coupling
from ..description.element import ElementData
from ..description.leg import LegData
from ..description.quantities import Data, unit_of
from ..description.robot import Robot

Location = tuple[str | int, ...]
Models = Callable[[Location, dict[str, Any]], type[Data]]
"""Gives the data class of the mapping at a location of a document."""

LOOKUP_ERRORS = (KeyError, IndexError, TypeError, AttributeError)
"""What a lookup raises at a location where the schema has no mapping."""


def robot_model_at(location: Location, document: dict[str, Any]) -> type[Data]:
    """The data class of a mapping at a place of a robot file."""
    model: type[Data] = Robot
    value: Any = document
    for depth, part in enumerate(location):
        value = value[part]
        if location[:1] == ("legs",) and depth == 1:
            legs: Any = document["legs"]
            model = LegData.registry[legs[part]["kind"]]
        elif location[:1] == ("elements",) and depth == 1:
            model = ElementData.registry[document["elements"][part]["kind"]]
        elif isinstance(part, int) and location[depth - 1] == "couplings":
            model = Coupling.registry[value.get("kind", "linear")]
        elif depth > 0 or part != "legs":
            # items of lists, and of mappings by name such as a leg's bodies, are of the class found already
            keyed = isinstance(part, int) or (part not in model.model_fields and location[depth - 1] == "bodies")
            inside = [] if keyed else _models(model.model_fields[str(part)].annotation)
            model = _by_kind(inside, value) if inside else model
    return model


def fields_of(location: Location, document: dict[str, Any], models: Models) -> str:
    """Fields of the mapping that a location should have."""
    try:
        field = models(location[:-1], document).model_fields[str(location[-1])]
    except LOOKUP_ERRORS:
        return ""
    inside = _models(field.annotation)
    return f" of {', '.join(inside[0].file_fields())}" if inside else ""


def owner_hint(name: str, here: Location, document: dict[str, Any], models: Models) -> str:
    """Another mapping of the document that may have a field, as a sentence; empty if none may.

    Examples
    --------
    >>> owner_hint("max_force", ("platform",), {"platform": {}, "legs": [{"kind": "UPS"}]}, robot_model_at)
    ' It is a field of legs.'
    """
    for place in _mappings(document, ()):
        try:
            fits = place != here and name in models(place, document).file_fields()
        except LOOKUP_ERRORS:
            continue
        if fits:
            where = ".".join(part for part in place if isinstance(part, str))
            return f" It is a field of {where or 'the file itself: indent it less'}."
    return ""


def _mappings(value: Any, place: Location) -> Iterator[Location]:
    """Places of all mappings of a document; of a list's only the first."""
    if isinstance(value, dict):
        yield place
        for key, item in value.items():
            yield from _mappings(item, (*place, key))
    elif isinstance(value, list) and value:
        yield from _mappings(value[0], (*place, 0))


def unit_at(location: Location, document: dict[str, Any], models: Models) -> str:
    """Unit of a number, from the nearest field around it that has one."""
    for depth in reversed(range(len(location))):
        try:
            field = models(location[:depth], document).model_fields.get(str(location[depth]))
        except LOOKUP_ERRORS:
            continue
        if field is not None:
            return unit_of(field)
    return ""


def _by_kind(models: list[type[Data]], value: Any) -> type[Data]:
    """Which of several data classes a mapping is: the one whose ``kind`` it has, or the first."""
    kind = value.get("kind") if isinstance(value, dict) else None
    kinds = (m for m in models if "kind" in m.model_fields)
    return next((m for m in kinds if m.model_fields["kind"].default == kind), models[0])


def _models(annotation: Any) -> list[type[Data]]:
    """The data classes in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Data):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
