"""Couplings at robot level, each moved into the leg whose joints it couples, which may be several legs as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...couplings import Coupling
from ...description.paths import Location
from ...errors import UnknownNameError, short_repr
from .forms import ShortFormError

Stated = tuple[Any, Location]
"""A coupling as a file has it, and its place there."""


def stated_couplings(scope: Any, above: Location = ()) -> list[Stated]:
    """The couplings of a document, a group or a leg at ``above``."""
    given = scope.get("couplings") if isinstance(scope, dict) else None
    if given is None:
        return []
    place = (*above, "couplings")
    if not isinstance(given, (list, tuple)):
        raise ShortFormError(place, f"must be a list of couplings, got {short_repr(given)}")
    return [(coupling, (*place, number)) for number, coupling in enumerate(given)]


def coupled_legs(
    couplings: list[Stated], legs: list[Any], joints: Sequence[tuple[dict[str, Any], Location]] = ()
) -> list[list[str]]:
    """The legs, and joints that are of none, between which each coupling is; those of one leg are left out."""
    names = _names(legs)
    own = [str(joint.get("name")) for joint, _ in joints]
    found = []
    for coupling, place in couplings:
        held = []
        for path in joint_paths(coupling):
            alone = next((name for name in own if path == name or path.startswith(f"{name}.")), None)
            held.append(names[_owner(path, legs, names, place, own)[0]] if alone is None else alone)
        if len(set(held)) > 1:
            found.append(list(dict.fromkeys(held)))
    return found


def distributed(couplings: list[Stated], legs: list[Any], places: dict[Location, Location]) -> list[Any]:
    """Written-out legs with the couplings of their joints; ``places`` gets where these stand in the file.

    What cannot be read as a coupling stays in the first leg, for the check of the whole file to say why.
    """
    if not couplings or not legs or not all(isinstance(leg, dict) for leg in legs):
        return legs
    names = _names(legs)
    own: list[list[Any]] = [list(leg.get("couplings") or ()) for leg in legs]
    for number, (coupling, place) in enumerate(couplings):
        paths = joint_paths(coupling)
        owners = [_owner(path, legs, names, place) for path in paths]
        leg = owners[0][0] if owners else 0
        moved = renamed(coupling, dict(zip(paths, (path for _, path in owners), strict=True)))
        places["legs", leg, "couplings", len(own[leg])] = place
        own[leg].append({"name": f"coupling{number + 1}", **moved} if isinstance(moved, dict) else moved)
    return [{**leg, "couplings": its} if its else leg for leg, its in zip(legs, own, strict=True)]


def _names(legs: list[Any]) -> list[str]:
    return [(leg.get("name") if isinstance(leg, dict) else None) or f"leg{k}" for k, leg in enumerate(legs, 1)]


def joint_paths(coupling: Any) -> list[str]:
    """The joints that a coupling's mapping names, in any of its fields."""
    if not isinstance(coupling, dict):
        return []
    kind = Coupling.registry.get(coupling.get("kind", "linear"))
    if kind is None:
        return []
    if kind.model_fields.keys() >= {"joints", "factors"} and "joints" not in coupling:
        return [name for name in coupling if name not in kind.model_fields]
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


def _owner(
    path: str, legs: list[Any], names: list[str], place: Location, others: Sequence[str] = ()
) -> tuple[int, str]:
    """The leg of a joint, and the joint's name there; ``others`` are joints that are of no leg."""
    known = [
        # a machine's joints have their leg's name already
        (number, str(joint["name"]) if leg.get("kind") == "machine" else f"{names[number]}.{joint['name']}", joint)
        for number, leg in enumerate(legs)
        for joint in (leg.get("joints") if isinstance(leg, dict) else None) or ()
        if isinstance(joint, dict) and "name" in joint
    ]
    for number, label, joint in known:
        if path == label or path.startswith(f"{label}."):
            return number, str(joint["name"]) + path[len(label) :]
    other = next((leg for leg, name in zip(legs, names, strict=True) if path.startswith(f"{name}.")), None)
    if isinstance(other, dict) and "joints" not in other:
        raise ShortFormError(
            place,
            f"{path}: a leg of kind {other.get('kind')} has no joints that can be coupled; state it as a chain",
        )
    raise ShortFormError(place, str(UnknownNameError("joint", path, (*(label for _, label, _ in known), *others))))
