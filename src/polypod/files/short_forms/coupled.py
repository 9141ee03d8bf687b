"""Couplings at robot level, each moved into the leg whose joints it couples."""

from __future__ import annotations

from typing import Any

from ...couplings import Coupling
from ...description.paths import Location
from ...errors import UnknownNameError, short_repr
from .forms import ShortFormError

_OWN = ("kind", "name", "joints", "factors")


def distributed(document: dict[str, Any], places: dict[Location, Location]) -> dict[str, Any]:
    """A written-out document without ``couplings`` of its own; ``places`` gets where those of legs stand in the file.

    What cannot be read as a coupling stays in the first leg, for the check of the whole file to say why.
    """
    given, legs = document.get("couplings"), document.get("legs")
    if given is None or not isinstance(legs, list) or not all(isinstance(leg, dict) for leg in legs) or not legs:
        return document
    if not isinstance(given, list):
        raise ShortFormError(("couplings",), f"must be a list of couplings, got {short_repr(given)}")
    names = [leg.get("name") or f"leg{number}" for number, leg in enumerate(legs, 1)]
    own: list[list[Any]] = [list(leg.get("couplings") or ()) for leg in legs]
    for number, coupling in enumerate(given):
        place: Location = ("couplings", number)
        paths = joint_paths(coupling)
        owners = [_owner(path, legs, names, place) for path in paths]
        if len({leg for leg, _ in owners}) > 1:
            apart = " and ".join(dict.fromkeys(names[leg] for leg, _ in owners))
            raise ShortFormError(
                place,
                f"couples joints of {apart}; only joints of one leg can be coupled yet: state the coupled legs as one "
                "leg of kind chain",
            )
        leg = owners[0][0] if owners else 0
        moved = renamed(coupling, dict(zip(paths, (path for _, path in owners), strict=True)))
        places["legs", leg, "couplings", len(own[leg])] = place
        own[leg].append({"name": f"coupling{number + 1}", **moved} if isinstance(moved, dict) else moved)
    rest = {key: value for key, value in document.items() if key != "couplings"}
    written = [{**leg, "couplings": couplings} if couplings else leg for leg, couplings in zip(legs, own, strict=True)]
    return {**rest, "legs": written}


def joint_paths(coupling: Any) -> list[str]:
    """The joints that a coupling's mapping names, in any of its fields."""
    if not isinstance(coupling, dict):
        return []
    kind = Coupling.registry.get(coupling.get("kind", "linear"))
    if kind is None:
        return []
    if kind.model_fields.keys() >= {"joints", "factors"} and "joints" not in coupling:
        return [name for name in coupling if name not in _OWN]
    values = [coupling[name] for name in kind.joint_fields() if name in coupling]
    listed = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [one for one in listed if isinstance(one, str)]


def renamed(coupling: Any, names: dict[str, str]) -> Any:
    """A coupling's mapping with other names of its joints."""
    if not isinstance(coupling, dict):
        return coupling
    kind = Coupling.registry.get(coupling.get("kind", "linear"))
    if kind is None:
        return coupling
    new: dict[str, Any] = {}
    for name, value in coupling.items():
        if name in kind.joint_fields():
            listed = isinstance(value, list)
            new[name] = [names.get(one, one) for one in value] if listed else names.get(str(value), value)
        else:
            new[names.get(str(name), str(name))] = value
    return new


def _owner(path: str, legs: list[Any], names: list[str], place: Location) -> tuple[int, str]:
    """The leg of a joint, and the joint's name there."""
    known = [
        (number, f"{names[number]}.{joint['name']}", str(joint["name"]))
        for number, leg in enumerate(legs)
        for joint in leg.get("joints") or ()
        if isinstance(joint, dict) and "name" in joint
    ]
    for number, full, joint in known:
        for label in (full, joint) if "." in joint else (full,):  # a machine's joints have their leg's name
            if path == label or path.startswith(f"{label}."):
                return number, joint + path[len(label) :]
    other = next((leg for leg, name in zip(legs, names, strict=True) if path.startswith(f"{name}.")), None)
    if other is not None and "joints" not in other:
        raise ShortFormError(
            place,
            f"{path}: a leg of kind {other.get('kind')} has no joints that can be coupled; state it as a chain",
        )
    raise ShortFormError(place, str(UnknownNameError("joint", path, tuple(full for _, full, _ in known))))
