"""Legs of a document without their short forms: copies, mirror images, pairs, rods, directions to other joints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from ...arrays import Array
from ...description.leg import LegData, parse_leg
from ...description.paths import Location
from ...description.shapes import mapped
from ...errors import UnknownNameError, short_repr
from .forms import (
    Copies,
    Cylinder,
    Massive,
    Mirror,
    Pair,
    Revolution,
    Shaped,
    ShortFormError,
    bodies_between,
    home_matrix,
    outside_bodies,
    read_form,
    read_point,
    shared_names,
)
from .isometry import Isometry, Part, floats, reflection, rotation_about, transformed_leg
from .kinds import as_chain


@dataclass(frozen=True)
class WrittenLeg:
    """A leg without short forms: ``place`` is that of its file, ``inner`` places of its parts within the leg there.

    It is copy ``number`` of ``count``, ``stem`` its name without that number.
    """

    leg: Any
    place: Location
    inner: dict[Location, Location]
    stem: str
    number: int
    count: int


def written_legs(legs: list[Any], above: Location, document: dict[str, Any]) -> list[WrittenLeg]:
    """Legs of a list of the document at ``above`` without short forms, each as often as it is copied and mirrored."""
    written = []
    for copies, group in groupby(enumerate(legs), lambda item: _copies(item[1], (*above, item[0]))):
        parts = []
        for number, leg in group:
            here = (*above, number)
            general, outer = as_chain(leg, here, document)
            plain, inner = write_out(general, here, document)
            inner = {**outer, **{part: in_file(outer, place) for part, place in inner.items()}}
            parts.append((here, plain, inner, mirror_of(plain, here)))
        turns: list[Isometry | None] = [None] if copies is None else turned(copies)
        for k, image in enumerate(turns):
            for here, leg, inner, mirror in parts:
                for stem, copy in _images(leg, image, mirror, k, len(turns), document):
                    written.append(WrittenLeg(copy, here, inner, stem, k, len(turns)))
    return written


def in_file(places: dict[Location, Location], location: Location) -> Location:
    """Where a part of a written-out leg stands in the file."""
    for depth in range(len(location), 0, -1):
        if location[:depth] in places:
            return (*places[location[:depth]], *location[depth:])
    return location


def _copies(leg: Any, here: Location) -> Copies | None:
    if not isinstance(leg, dict) or "copies" not in leg:
        return None
    return read_form(Copies, leg["copies"], (*here, "copies"))


def turned(copies: Copies) -> list[Isometry | None]:
    """The rotations of copies."""
    return [rotation_about(copies.about, angle, copies.through) for angle in copies.turns]


def mirror_of(leg: Any, here: Location) -> Mirror | None:
    """The mirror of a general leg, if it has one."""
    if not isinstance(leg, dict) or "mirror" not in leg:
        return None
    location: Location = (*here, "mirror")
    form = read_form(Mirror, leg["mirror"], location)
    if leg.get("kind") != "chain":
        raise ShortFormError(
            location, f"only legs of kind chain can be mirrored, this one is {leg.get('kind')}; write the other leg"
        )
    return form


def _images(
    leg: Any, image: Isometry | None, mirror: Mirror | None, number: int, count: int, document: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """A leg, and its mirror image if it has one, turned by ``image``; named by ``number`` of ``count`` copies.

    Each with its name without the number.
    """
    plain = {k: v for k, v in leg.items() if k not in ("copies", "mirror")} if isinstance(leg, dict) else leg
    own = plain.get("name") if isinstance(plain, dict) else None
    if image is None and mirror is None:
        yield str(own or ""), plain
        return
    home, data = home_matrix(document), _data_of(plain)
    if home is None or data is None:
        if number == 0:  # once: the whole file's check says what is wrong
            yield str(own or ""), plain
        return
    tail = str(number + 1) if count > 1 else ""
    sides: list[tuple[Isometry | None, str]] = [(None, str(own or ""))]
    if mirror is not None:
        sides.append((reflection(mirror.plane, mirror.through), mirror.name or (f"{own}-mirrored" if own else "")))
    for reflected, stem in sides:
        steps = [one for one in (reflected, image) if one is not None and not one.identity]
        copy = transformed_leg(data, home, steps) if steps else plain
        yield stem, {**copy, "name": stem + tail} if own else {k: v for k, v in copy.items() if k != "name"}


def _data_of(leg: Any) -> LegData | Part | None:
    """A leg's data; of a chain that holds bodies of others, without the check whether it hangs together."""
    with suppress(ValueError, KeyError):
        return Part.model_validate(leg) if outside_bodies(leg) else parse_leg(leg)
    return None


# ----------------------------------------------------------------------------------------------------------------------
# Short forms within a general leg: directions to other joints, rods and cylinders, pairs of bodies.

_SHAPES = (
    "must be 3 principal moments, 3 rows of 3 numbers, or a shape between the body's two joints: rod (slender), "
    "{cylinder: {radius: ...}} (solid) or {revolution: {along: ..., across: ...}} (moments of inertia)"
)
_APART = 1e-9
"""Distance [m] up to which two joints are at one point."""


def write_out(leg: Any, location: Location, document: dict[str, Any]) -> tuple[Any, dict[Location, Location]]:
    """A leg with its inner short forms written out, and where moved parts of it stand in the file (within the leg)."""
    if not isinstance(leg, dict) or leg.get("kind") != "chain":
        return leg, {}
    joints, bodies = leg.get("joints"), leg.get("bodies")
    if not isinstance(joints, list) or not all(isinstance(joint, dict) for joint in joints):
        return leg, {}
    if not isinstance(bodies, dict) or not all(isinstance(body, dict) for body in bodies.values()):
        return leg, {}
    inside = _Leg(location, joints, bodies, shared_names(document))
    whole = {**leg, "joints": inside.with_directions(), "bodies": inside.with_inertias()}
    return _with_pairs(whole, location)


class _Leg:
    """Joints and bodies of a leg as the file has them."""

    def __init__(
        self, location: Location, joints: list[dict[str, Any]], bodies: dict[str, dict[str, Any]], shared: list[str]
    ) -> None:
        self._location, self._joints, self._bodies, self._shared = location, joints, bodies, shared

    def with_directions(self) -> list[dict[str, Any]]:
        """The joints with directions for ``{to: joint}`` and ``{across: joint}``."""
        directed = []
        for number, joint in enumerate(self._joints):
            place = (*self._location, "joints", number)
            new = dict(joint)
            for key in ("axis", "guide_normal"):
                if key in joint:
                    new[key] = self._direction(joint[key], number, (*place, key), None)
            axes = joint.get("axes")
            if isinstance(axes, list) and len(axes) == 2:
                first = self._direction(axes[0], number, (*place, "axes", 0), None)
                second = self._direction(axes[1], number, (*place, "axes", 1), first)
                new["axes"] = [first, second]
            if isinstance(joint.get("cone"), dict):
                new["cone"] = {
                    key: self._direction(value, number, (*place, "cone", key), None)
                    if key in ("axis", "direction")
                    else value
                    for key, value in joint["cone"].items()
                }
            directed.append(new)
        return directed

    def _direction(self, value: Any, number: int, place: Location, first: Any) -> Any:
        """A direction in numbers; what is no short form of one stays."""
        if not isinstance(value, dict):
            return value
        if len(value) != 1 or not {"to", "across"} & set(value):
            raise ShortFormError(
                place,
                f"a direction must be 3 numbers, {{to: JOINT}} (from this joint to another at home) or, for the "
                f"second axis of a universal joint, {{across: JOINT}} (perpendicular to the first axis and to the "
                f"line to that joint), got {short_repr(value)}",
            )
        ((how, name),) = value.items()
        other = self._named(name, (*place, how))
        way = self._point(other, place) - self._point(number, place)
        length = float(np.linalg.norm(way))
        if length < _APART:
            raise ShortFormError(
                (*place, how), f"{name!r} is at the point of this joint, so there is no direction between them"
            )
        if how == "to":
            return floats(way / length)
        if first is None:
            raise ShortFormError(place, "across: only for the second axis of a universal joint; write {to: JOINT}")
        square = np.cross(_numbers(first, place), way / length)
        size = float(np.linalg.norm(square))
        if size < 1e-6:
            raise ShortFormError((*place, how), f"the line to {name!r} is along the first axis; give 3 numbers")
        return floats(square / size)

    def _named(self, name: Any, place: Location) -> int:
        names = [joint.get("name") for joint in self._joints]
        if name not in names:
            raise ShortFormError(place, str(UnknownNameError("joint", str(name), tuple(map(str, names)))))
        return names.index(name)

    def _check_bodies(self) -> None:
        """Raise if a joint holds a body that is not there: a misspelt name is why a rod lacks a joint."""
        known = ("base", "platform", *self._bodies, *self._shared)
        for number, joint in enumerate(self._joints):
            given = joint.get("between", [])
            if bodies_between(joint) != given:
                problem = f"must be the names of two bodies, got {short_repr(given)}"
                raise ShortFormError((*self._joint(number), "between"), problem)
            for name in given:
                if name not in known and "." not in name:
                    problem = str(UnknownNameError("body", str(name), known))
                    raise ShortFormError((*self._joint(number), "between"), problem)

    def _point(self, number: int, place: Location) -> Array:
        """Where a joint is (3), for what is measured from it; a slide may leave that out where nothing is."""
        joint = self._joints[number]
        if "at" not in joint:
            raise ShortFormError(
                place, f"it is measured from joint {str(joint.get('name'))!r}, which has no position; give its 'at'"
            )
        return read_point(joint, self._joint(number))

    def _joint(self, number: int) -> Location:
        return (*self._location, "joints", number)

    def with_inertias(self) -> dict[str, dict[str, Any]]:
        """The bodies with tensors for ``inertia: rod`` and its like, and their centre of mass if it is left out."""
        return {name: self._with_inertia(name, body) for name, body in self._bodies.items()}

    def _with_inertia(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        """I = J_along n n^T + J_across (1 - n n^T), n from joint to joint; what is no short form stays."""
        inertia, place = body.get("inertia"), (*self._location, "bodies", name, "inertia")
        if not isinstance(inertia, (str, dict)):
            if "com" not in body and "inertia" in body and body.get("mass") != 0.0:
                raise ShortFormError(
                    place[:-1], "com: missing: the centre of mass at home, base frame; only shapes such as rod imply it"
                )
            return body
        shape, value = next(iter(inertia.items()), ("", None)) if isinstance(inertia, dict) else (inertia, None)
        if shape not in ("rod", "cylinder", "revolution") or (shape == "rod") != isinstance(inertia, str):
            raise ShortFormError(place, f"{_SHAPES}; got {short_repr(inertia)}")
        start, end = self._ends(name)
        length = float(np.linalg.norm(end - start))
        if shape == "revolution":
            form = read_form(Revolution, value, (*place, shape))
            along, across = form.along, form.across
        else:
            mass = read_form(Massive, {key: body[key] for key in ("mass",) if key in body}, place[:-1]).mass
            radius = 0.0 if shape == "rod" else read_form(Cylinder, value, (*place, shape)).radius
            along, across = 0.5 * mass * radius**2, mass * (3 * radius**2 + length**2) / 12
        line = np.outer(end - start, end - start) / length**2
        tensor = across * (np.eye(3) - line) + along * line
        return {"com": floats(0.5 * (start + end)), **body, "inertia": tensor.tolist()}

    def _ends(self, name: str) -> tuple[Array, Array]:
        """The two points where a body has joints."""
        ends: dict[str, Array] = {}
        for number, joint in enumerate(self._joints):
            if name in bodies_between(joint):
                point = self._point(number, (*self._location, "bodies", name, "inertia"))
                if all(np.linalg.norm(point - other) > _APART for other in ends.values()):
                    ends[str(joint.get("name"))] = point
        if len(ends) != 2:
            self._check_bodies()
            listed = f" ({', '.join(ends)})" if ends else ""
            raise ShortFormError(
                (*self._location, "bodies", name, "inertia"),
                f"a rod, cylinder or body of revolution must lie between two joints; {name!r} has joints at "
                f"{len(ends)} point{'' if len(ends) == 1 else 's'}{listed}: give com and inertia as numbers",
            )
        first, second = ends.values()
        return first, second


def _with_pairs(leg: dict[str, Any], location: Location) -> tuple[dict[str, Any], dict[Location, Location]]:
    """Bodies with ``pair`` twice, with every joint that holds one."""
    pairs = {
        name: np.array(read_form(Pair, body["pair"], (*location, "bodies", name, "pair")).offset)
        for name, body in leg["bodies"].items()
        if "pair" in body
    }
    if not pairs:
        return leg, {}
    places: dict[Location, Location] = {}
    bodies: dict[str, Any] = {}
    for name, body in leg["bodies"].items():
        if name not in pairs:
            bodies[name] = body
            continue
        plain = {key: value for key, value in body.items() if key != "pair"}
        com = read_point({"at": plain.get("com", [0.0, 0.0, 0.0])}, (*location, "bodies", name))
        stated = plain.get("shapes")
        shapes = read_form(Shaped, {"shapes": stated}, (*location, "bodies", name)).shapes if stated else ()
        for side, sign in ((1, 1.0), (2, -1.0)):
            offset = sign * pairs[name]
            there = [mapped(one, lambda points, by=offset: points + by).model_dump(mode="json") for one in shapes]  # type: ignore[misc]
            bodies[f"{name}{side}"] = {**plain, "com": floats(com + offset), **({"shapes": there} if there else {})}
            places["bodies", f"{name}{side}"] = ("bodies", name)
    joints: list[dict[str, Any]] = []
    for number, joint in enumerate(leg["joints"]):
        held = [name for name in bodies_between(joint) if name in pairs]
        if not held:
            places["joints", len(joints)] = ("joints", number)
            joints.append(joint)
            continue
        here = (*location, "joints", number)
        if joint.get("actuated"):
            raise ShortFormError(
                (*here, "actuated"), f"both joints of the pair {held[0]!r} would be actuated; write two bodies"
            )
        offsets = [pairs[name] for name in held]
        if any(not np.array_equal(offset, offsets[0]) for offset in offsets):
            raise ShortFormError((*here, "between"), f"the pairs {' and '.join(held)} have different offsets")
        at = read_point(joint, here)
        for side, sign in ((1, 1.0), (2, -1.0)):
            places["joints", len(joints)] = ("joints", number)
            sides = [f"{name}{side}" if name in held else name for name in joint["between"]]
            own = {"name": f"{joint['name']}{side}"} if "name" in joint else {}
            joints.append({**joint, **own, "between": sides, "at": floats(at + sign * offsets[0])})
    return {**leg, "bodies": bodies, "joints": joints}, places


def _numbers(value: Any, place: Location) -> Array:
    """A direction that must be numbers already, here."""
    try:
        return np.array(value, dtype=float).reshape(3)
    except (TypeError, ValueError):
        raise ShortFormError(place, f"the first axis must be 3 numbers, got {short_repr(value)}") from None
