"""A document with its short forms written out, and where each part of it stands in the file.

Bodies and joints at robot level, and in groups that are copied or mirrored together, belong to all legs: legs that hold
the same bodies, or bodies of each other, or whose joints are coupled, become one leg of kind ``machine`` with all of
them. Other legs stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...couplings import parse_coupling
from ...description.body import Body
from ...description.paths import Location
from ...errors import UnknownNameError, short_repr
from ...legs.chain import ChainJoint
from ...legs.chain.machine import WITHIN
from .coupled import Stated, coupled_legs, distributed, joint_paths, renamed, stated_couplings
from .forms import (
    SHARED,
    Copies,
    Group,
    Mirror,
    ShortFormError,
    bodies_between,
    is_chain,
    outside_bodies,
    read_form,
)
from .isometry import (
    Isometry,
    composed,
    reflection,
    transformed_body,
    transformed_couplings,
    transformed_joint,
)
from .legs import WrittenLeg, in_file, turned, write_out, written_legs

_GROUND = ("base", "platform")
_MERGED = ("kind", "name", "closing", "bodies", "joints", "couplings")
"""Fields of legs that a machine takes over."""


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
        return in_file(self.places, location)


def expand(document: dict[str, Any]) -> Expanded:
    """Write out the short forms of a robot file, its ``leg_defaults`` spread already.

    Legs that follow each other with the same ``copies`` are copied together: a b, a b turned, ... What cannot be read
    as a leg stays as it is, for the check of the whole file to say why. Raises ``ShortFormError``.
    """
    legs = document.get("legs")
    beside = [name for name in SHARED if document.get(name)]
    if not isinstance(legs, list) and not (legs is None and beside):
        return Expanded(document, {})
    written = written_legs(legs or [], ("legs",), document)
    couplings = stated_couplings(document)
    if beside or _hang_on_legs(written) or coupled_legs(couplings, [one.leg for one in written]):
        written, couplings = _merged(document, written, couplings)
    places: dict[Location, Location] = {}
    for number, one in enumerate(written):
        places["legs", number] = one.place
        places |= {("legs", number, *part): (*one.place, *place) for part, place in one.inner.items()}
    rest = {key: value for key, value in document.items() if key not in SHARED and key != "couplings"}
    return Expanded({**rest, "legs": distributed(couplings, [one.leg for one in written], places)}, places)


def _hang_on_legs(written: list[WrittenLeg]) -> bool:
    """Whether a leg holds a body of another one."""
    stated = [one.leg.get("name") for one in written if isinstance(one.leg, dict)]
    names = {name for name in stated if isinstance(name, str)}  # what else stands there, the check of the file refuses
    return any(name.partition(".")[0] in names for one in written for name in outside_bodies(one.leg))


# ----------------------------------------------------------------------------------------------------------------------
# Bodies and joints that belong to all legs.


@dataclass
class _Parts:
    """What stands at robot level after groups are written out, each with its place in the file."""

    bodies: dict[str, tuple[dict[str, Any], Location]] = field(default_factory=dict)
    joints: list[tuple[dict[str, Any], Location]] = field(default_factory=list)
    legs: list[WrittenLeg] = field(default_factory=list)
    couplings: list[Stated] = field(default_factory=list)

    def add_body(self, name: str, body: dict[str, Any], place: Location) -> None:
        if name in _GROUND or set(name) & {".", WITHIN}:
            raise ShortFormError(place, f"{name!r} cannot be the name of a body; use letters, digits, - and _")
        if name in self.bodies:
            raise ShortFormError(place, f"names of shared bodies must be unique, got {name!r} twice")
        self.bodies[name] = body, place


def _merged(
    document: dict[str, Any], written: list[WrittenLeg], couplings: list[Stated]
) -> tuple[list[WrittenLeg], list[Stated]]:
    """The legs of a robot, those that share bodies or are coupled as one; and all couplings that are not of a leg."""
    parts = _Parts(couplings=[*couplings])
    _add_images(parts, document, (), written, document)
    groups = document.get("groups") or []
    if not isinstance(groups, list):
        raise ShortFormError(("groups",), f"must be a list of groups, got {short_repr(groups)}")
    for number, group in enumerate(groups):
        here: Location = ("groups", number)
        form = read_form(Group, group, here)
        legs = written_legs([*form.legs], (*here, "legs"), document)
        _add_images(parts, group, here, legs, document, form.copies, form.mirror)
    return list(_machines(parts)), parts.couplings


def _add_images(
    parts: _Parts,
    scope: dict[str, Any],
    above: Location,
    legs: list[WrittenLeg],
    document: dict[str, Any],
    copies: Copies | None = None,
    mirror: Mirror | None = None,
) -> None:
    """Add all images of what stands at robot level (``above`` is empty) or in a group."""
    bodies, joints = scope.get("bodies") or {}, scope.get("joints") or []
    if not isinstance(bodies, dict) or not all(isinstance(body, dict) for body in bodies.values()):
        raise ShortFormError((*above, "bodies"), "must be a mapping of bodies by name, each a mapping of its fields")
    if not isinstance(joints, list) or not all(isinstance(joint, dict) for joint in joints):
        raise ShortFormError((*above, "joints"), "must be a list of joints, each a mapping of its fields")
    whole, inner = write_out({"kind": "chain", "bodies": bodies, "joints": joints}, above, document)
    sides = [[]] if mirror is None else [[], [reflection(mirror.plane, mirror.through)]]
    turns = [None] if copies is None else turned(copies)
    images = [composed([*side, *([] if turn is None else [turn])]) for turn in turns for side in sides]
    count = len(images)
    for k, image in enumerate(images):

        def numbered(name: str, k: int = k) -> str:
            return f"{name}{k + 1}" if count > 1 else name

        names = {name: numbered(name) for name in whole["bodies"]}
        for one in legs:
            stem = one.stem or ("leg" if above else "")
            if stem and isinstance(one.leg, dict):
                own = one.leg.get("name") or stem
                names[f"{own}."] = f"{stem}{k * one.count + one.number + 1}" if count > 1 else own
        for name, body in whole["bodies"].items():
            place = (*above, *in_file(inner, ("bodies", name)))
            parts.add_body(names[name], _body_image(body, image, place), place)
        for number, joint in enumerate(whole["joints"]):
            place = (*above, *in_file(inner, ("joints", number)))
            new = _joint_image(joint, image, place)
            called = {"name": numbered(str(joint["name"]))} if "name" in joint else {}
            parts.joints.append(({**new, **called, **_renamed(new, names, ())}, place))
        for one in legs:
            parts.legs.append(_leg_image(one, image, names, len(parts.legs)))
        if above:
            _couple_image(parts, stated_couplings(scope, above), image, names, numbered, whole["joints"], legs)


def _couple_image(
    parts: _Parts,
    couplings: list[Stated],
    image: Isometry,
    names: dict[str, str],
    numbered: Callable[[str], str],
    shared: list[dict[str, Any]],
    legs: list[WrittenLeg],
) -> None:
    """Add the couplings of a group in one of its images."""
    own = {str(joint["name"]): joint for joint in shared if "name" in joint}
    for one in legs:
        called = one.leg.get("name") or one.stem or "leg" if isinstance(one.leg, dict) else ""
        for joint in one.leg["joints"] if is_chain(one.leg) else ():
            own[f"{called}.{joint.get('name')}"] = joint
    for number, (coupling, place) in enumerate(couplings):
        for new in _coupling_images(coupling, own, image, place):
            ends = {}
            for path in joint_paths(new):
                leg, dot, rest = path.partition(".")
                inside = dot and f"{leg}." in names
                ends[path] = f"{names[f'{leg}.']}.{rest}" if inside else numbered(leg) + dot + rest
            called = str(new.get("name") or f"coupling{number + 1}") if isinstance(new, dict) else ""
            moved = renamed(new, ends)
            parts.couplings.append(({**moved, "name": numbered(called)} if called else moved, place))


def _coupling_images(coupling: Any, joints: dict[str, Any], image: Isometry, place: Location) -> list[Any]:
    """A coupling between joints by name after an isometry; what cannot be read stays, for the check to say why."""
    if image.determinant > 0 or not isinstance(coupling, dict):
        return [coupling]
    try:
        read = [parse_coupling(coupling)]
    except ValueError:
        return [coupling]
    held = {path for path in joints if any(end == path or end.startswith(f"{path}.") for end in read[0].joints_of())}
    placed = [read_form(ChainJoint, {**joints[path], "name": path}, place) for path in held]
    return [*transformed_couplings(read, placed, image)]


def _body_image(body: dict[str, Any], image: Isometry, place: Location) -> dict[str, Any]:
    return body if image.identity else transformed_body(read_form(Body, body, place), image)


def _joint_image(joint: dict[str, Any], image: Isometry, place: Location) -> dict[str, Any]:
    return joint if image.identity else transformed_joint(read_form(ChainJoint, joint, place), image)


def _leg_image(one: WrittenLeg, image: Isometry, names: dict[str, str], number: int) -> WrittenLeg:
    """A leg of an image of its group, with the names of that image."""
    leg = one.leg
    if not isinstance(leg, dict):
        return one
    if not image.identity:
        if not is_chain(leg):
            problem = f"only legs of kind chain can be in a group with copies, this one is {leg.get('kind')}"
            raise ShortFormError(one.place, problem)
        coupled = stated_couplings(leg, one.place)
        stated = {str(joint.get("name")): joint for joint in leg["joints"]}
        turned = [new for coupling, place in coupled for new in _coupling_images(coupling, stated, image, place)]
        places = [(*one.place, *in_file(one.inner, ("bodies", name))) for name in leg["bodies"]]
        bodies = [_body_image(body, image, at) for body, at in zip(leg["bodies"].values(), places, strict=True)]
        places = [(*one.place, *in_file(one.inner, ("joints", k))) for k in range(len(leg["joints"]))]
        joints = [_joint_image(joint, image, at) for joint, at in zip(leg["joints"], places, strict=True)]
        leg = {**leg, "bodies": dict(zip(leg["bodies"], bodies, strict=True)), "joints": joints}
        leg |= {"couplings": turned} if turned else {}
    own = leg.get("name") or one.stem or "leg"
    leg = {**leg, "name": names.get(f"{own}.") or leg.get("name") or f"leg{number + 1}"}
    if is_chain(leg):
        leg["joints"] = [{**joint, **_renamed(joint, names, tuple(leg["bodies"]))} for joint in leg["joints"]]
    return WrittenLeg(leg, one.place, one.inner, one.stem, one.number, one.count)


def _renamed(joint: dict[str, Any], names: dict[str, str], own: tuple[str, ...]) -> dict[str, Any]:
    """The bodies of a joint by their names in an image of a group."""
    between = joint.get("between")
    if not isinstance(between, (list, tuple)):
        return {}

    def new(name: Any) -> Any:
        if not isinstance(name, str) or name in own:
            return name
        leg, dot, body = name.partition(".")
        return f"{names[f'{leg}.']}.{body}" if dot and f"{leg}." in names else names.get(name, name)

    return {"between": [new(name) for name in between]}


def _machines(parts: _Parts) -> Iterator[WrittenLeg]:
    """Legs on their own as they are; those that share bodies or are coupled, with these and all their joints, as
    one."""
    names = [one.leg.get("name") if isinstance(one.leg, dict) else None for one in parts.legs]
    for number, name in enumerate(names):
        if name is not None and name in names[:number]:
            raise ShortFormError((*parts.legs[number].place, "name"), f"leg names must be unique, got {name!r} twice")
    known = {name: name for name in parts.bodies}
    for one in parts.legs:
        if is_chain(one.leg):
            known |= {f"{one.leg['name']}.{body}": f"{one.leg['name']}{WITHIN}{body}" for body in one.leg["bodies"]}
    joints: list[tuple[dict[str, Any], Location, str]] = []  # with the leg they are of, if any
    for one in parts.legs:
        for k, joint in enumerate(one.leg["joints"]) if is_chain(one.leg) else ():
            place = (*one.place, *in_file(one.inner, ("joints", k)))
            joints.append((_resolved(joint, place, known, one.leg), place, one.leg["name"]))
    joints += [(_resolved(joint, place, known, None), place, "") for joint, place in parts.joints]
    bodies: dict[str, tuple[dict[str, Any], Location, str]] = {k: (*v, "") for k, v in parts.bodies.items()}
    for one in parts.legs:
        for name, body in one.leg["bodies"].items() if is_chain(one.leg) else ():
            place = (*one.place, *in_file(one.inner, ("bodies", name)))
            bodies[f"{one.leg['name']}{WITHIN}{name}"] = body, place, one.leg["name"]
    part = _joined(bodies, joints, coupled_legs(parts.couplings, [one.leg for one in parts.legs], parts.joints))
    for name, (_, place, _) in bodies.items():
        if not any(name in bodies_between(joint) for joint, _, _ in joints):
            problem = "no joint connects this body; name it in the between of a joint, or leave it out"
            raise ShortFormError(place, f"{problem} ({name})")
    owners = {part(f"{WITHIN}{leg}") for *_, leg in (*joints, *bodies.values()) if leg}
    own = [part(f"{WITHIN}{name}") for name in names]
    shared = {part(name) for name in parts.bodies} | {part(_ends(joint)) for joint, _, leg in joints if not leg}
    together = [root for root in dict.fromkeys([*own, *shared]) if root in shared or own.count(root) > 1]
    done: set[str] = set()
    for root, one in zip(own, parts.legs, strict=True):
        if root not in together or root not in owners:
            yield one
        elif root not in done:
            done.add(root)
            yield _machine(root, together, bodies, joints, part, parts.legs)
    yield from (_machine(root, together, bodies, joints, part, parts.legs) for root in together if root not in done)


def _resolved(
    joint: dict[str, Any], place: Location, known: dict[str, str], leg: dict[str, Any] | None
) -> dict[str, Any]:
    """A joint with its bodies by their names in a machine."""
    between = []
    own = {} if leg is None else {body: f"{leg['name']}{WITHIN}{body}" for body in leg["bodies"]}
    for name in joint.get("between", ()) if isinstance(joint.get("between"), (list, tuple)) else ():
        found = name if name in _GROUND else own.get(name) or known.get(name)
        if found is None:
            every = (*_GROUND, *own, *known)
            raise ShortFormError((*place, "between"), str(UnknownNameError("body", str(name), every)))
        if name in own and name in known:
            problem = f"{name!r} is a body of this leg and one at robot level; give one of them another name"
            raise ShortFormError((*place, "between"), problem)
        between.append(found)
    return {**joint, "between": between} if "between" in joint else joint


def _ends(joint: dict[str, Any]) -> str:
    """A body that a joint holds, or the joint itself if it is between base and platform."""
    held = [name for name in bodies_between(joint) if name not in _GROUND]
    return held[0] if held else f"{WITHIN}{WITHIN}{joint.get('name')}"


def _joined(
    bodies: dict[str, Any], joints: list[tuple[dict[str, Any], Location, str]], coupled: list[list[str]]
) -> Callable[[str], str]:
    """Gives the same text for all bodies and legs that hang together, base and platform aside.

    ``coupled`` are legs, and joints that are of none, between which there are couplings.
    """
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.get(name, name) != name:
            name = parent[name]
        return name

    for name, (_, _, leg) in bodies.items():
        if leg:
            parent[root(name)] = root(f"{WITHIN}{leg}")
    for joint, _, leg in joints:
        held = [name for name in bodies_between(joint) if name not in _GROUND] or [_ends(joint)]
        for name in [*held[1:], *([f"{WITHIN}{leg}"] if leg else [])]:
            parent[root(name)] = root(held[0])
    ends = {str(joint.get("name")): _ends(joint) for joint, _, leg in joints if not leg}
    for first, *others in coupled:
        for other in others:
            one, two = (ends.get(name) or f"{WITHIN}{name}" for name in (first, other))
            parent[root(one)] = root(two)
    _join_loose_parts(bodies, joints, parent, root)
    return root


def _join_loose_parts(
    bodies: dict[str, Any],
    joints: list[tuple[dict[str, Any], Location, str]],
    parent: dict[str, str],
    root: Callable[[str], str],
) -> None:
    """Count parts at robot level that hang on the base alone (a crank, a flywheel) with a part that holds the
    platform: every leg ends there."""
    shared = {root(name) for name, (_, _, leg) in bodies.items() if not leg}
    holding = [root(_ends(joint)) for joint, _, _ in joints if "platform" in bodies_between(joint)]
    owners = sorted(dict.fromkeys(holding), key=lambda name: name not in shared)
    held = {root(_ends(joint)) for joint, _, _ in joints}
    for loose in shared - set(holding) if owners else ():
        if loose in held:
            parent[loose] = owners[0]


def _machine(
    root: str,
    together: list[str],
    bodies: dict[str, tuple[dict[str, Any], Location, str]],
    joints: list[tuple[dict[str, Any], Location, str]],
    part: Callable[[str], str],
    legs: list[WrittenLeg],
) -> WrittenLeg:
    """The bodies and joints of legs that hang together as one leg."""
    number = together.index(root)
    name = "machine" if len(together) == 1 else f"machine{number + 1}"
    while name in [one.leg.get("name") for one in legs if isinstance(one.leg, dict)]:
        name += "-"
    closing = {}
    for one in legs:
        if not is_chain(one.leg) or part(f"{WITHIN}{one.leg['name']}") != root:
            continue
        for key, value in one.leg.items():
            if key not in _MERGED:
                problem = UnknownNameError("field of a leg that shares bodies", key, _MERGED)
                raise ShortFormError((*one.place, key), str(problem))
            if key == "closing" and value != "auto":
                closing = {"closing": value}
    inner: dict[Location, Location] = {}
    couplings: list[Any] = []
    for one in legs:
        if is_chain(one.leg) and part(f"{WITHIN}{one.leg['name']}") == root:
            for number, (coupling, place) in enumerate(stated_couplings(one.leg, one.place)):
                inner["couplings", len(couplings)] = place
                couplings.append(_of_machine(coupling, one.leg["name"], number))
    held = {key: (body, place) for key, (body, place, _) in bodies.items() if part(key) == root}
    for key, (_, place) in held.items():
        inner["bodies", key] = place
    own = [(joint, place, leg) for joint, place, leg in joints if part(_ends(joint)) == root]
    new = []
    for k, (joint, place, leg) in enumerate(own):
        inner["joints", k] = place
        new.append({**joint, **({"name": f"{leg}.{joint['name']}"} if leg and "name" in joint else {})})
    own_bodies = {key: body for key, (body, _) in held.items()}
    whole = {"kind": "machine", "name": name, **closing, "bodies": own_bodies, "joints": new}
    whole |= {"couplings": couplings} if couplings else {}
    return WrittenLeg(whole, (), inner, name, 0, 1)


def _of_machine(coupling: Any, leg: str, number: int) -> Any:
    """A leg's own coupling by the names of a machine."""
    if not isinstance(coupling, dict):
        return coupling
    moved = renamed(coupling, {path: f"{leg}.{path}" for path in joint_paths(coupling)})
    return {**moved, "name": f"{leg}.{coupling.get('name') or f'coupling{number + 1}'}"}
