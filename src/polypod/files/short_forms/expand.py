"""A document with its short forms written out, and where each part of it stands in the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ...description.leg import parse_leg
from ..schema import Location
from .forms import Copies, Mirror, ShortFormError, home_matrix, read_form
from .inner_forms import write_out
from .isometry import Isometry, reflection, rotation_about, transformed_leg
from .kinds import as_chain


@dataclass(frozen=True)
class Expanded:
    """``document`` without short forms; ``places`` gives for parts of it the part of the file they come from.

    ``remarks`` say which axes of the file were made consistent.
    """

    document: dict[str, Any]
    places: dict[Location, Location]
    remarks: tuple[str, ...] = ()

    def in_file(self, location: Location) -> Location:
        """The place in the file of a place in the document."""
        return _in_file(self.places, location)


def expand(document: dict[str, Any]) -> Expanded:
    """Write out the short forms of a robot file, its ``leg_defaults`` spread already.

    Legs that follow each other with the same ``copies`` are copied together: a b, a b turned, ... What cannot be read
    as a leg stays as it is, for the check of the whole file to say why. Raises :class:`ShortFormError`.
    """
    legs = document.get("legs")
    if not isinstance(legs, list):
        return Expanded(document, {})
    written: list[Any] = []
    places: dict[Location, Location] = {}

    def add(leg: Any, number: int, inner: dict[Location, Location]) -> None:
        here: Location = ("legs", len(written))
        places[here] = ("legs", number)
        places.update({(*here, *part): ("legs", number, *place) for part, place in inner.items()})
        written.append(leg)

    for copies, group in groupby(enumerate(legs), lambda item: _copies(*item)):
        parts = []
        for number, leg in group:
            general, outer = as_chain(leg, ("legs", number), document)
            plain, inner = write_out(general, ("legs", number))
            inner = {**outer, **{part: _in_file(outer, place) for part, place in inner.items()}}
            parts.append((number, plain, inner, _mirror(plain, number)))
        turns: list[Isometry | None] = [None]
        if copies is not None:
            turns = [rotation_about(copies.about, angle, copies.through) for angle in copies.turns]
        for k, image in enumerate(turns):
            for number, leg, inner, mirror in parts:
                for copy in _images(leg, image, mirror, k, len(turns), document):
                    add(copy, number, inner)
    return Expanded({**document, "legs": written}, places)


def _in_file(places: dict[Location, Location], location: Location) -> Location:
    """Where a part of a written-out leg stands in the file."""
    for depth in range(len(location), 0, -1):
        if location[:depth] in places:
            return (*places[location[:depth]], *location[depth:])
    return location


def _copies(number: int, leg: Any) -> Copies | None:
    if not isinstance(leg, dict) or "copies" not in leg:
        return None
    return read_form(Copies, leg["copies"], ("legs", number, "copies"))


def _mirror(leg: Any, number: int) -> Mirror | None:
    if not isinstance(leg, dict) or "mirror" not in leg:
        return None
    location: Location = ("legs", number, "mirror")
    form = read_form(Mirror, leg["mirror"], location)
    if leg.get("kind") != "chain":
        raise ShortFormError(
            location, f"only legs of kind chain have mirror images, this one is {leg.get('kind')}; write the other leg"
        )
    return form


def _images(
    leg: Any, image: Isometry | None, mirror: Mirror | None, number: int, count: int, document: dict[str, Any]
) -> Iterator[Any]:
    """A leg, and its mirror image if it has one, turned by ``image``; named by ``number`` of ``count`` copies."""
    plain = {k: v for k, v in leg.items() if k not in ("copies", "mirror")} if isinstance(leg, dict) else leg
    if image is None and mirror is None:
        yield plain
        return
    home, data = home_matrix(document), None
    with suppress(ValueError, KeyError):
        data = parse_leg(plain)
    if home is None or data is None:
        if number == 0:  # once: the whole file's check says what is wrong
            yield plain
        return
    own, tail = plain.get("name"), str(number + 1) if count > 1 else ""
    sides: list[tuple[Isometry | None, str]] = [(None, f"{own}{tail}")]
    if mirror is not None:
        sides.append((reflection(mirror.plane, mirror.through), f"{mirror.name or f'{own}-mirrored'}{tail}"))
    for reflected, name in sides:
        steps = [one for one in (reflected, image) if one is not None and not one.identity]
        copy = transformed_leg(data, home, steps) if steps else plain
        yield {**copy, "name": name} if own else {k: v for k, v in copy.items() if k != "name"}
