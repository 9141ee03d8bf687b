"""Other values for numbers of a robot file, by path: ``platform.mass``, ``legs.*.base``, ``legs.leg1.max_force``."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, get_args, get_origin

from ..description.drive import TORQUE_NAMES
from ..description.quantities import Data, unit_of
from ..description.robot import Robot
from ..errors import InputError, UnknownNameError
from ..yaml12 import YamlTextError, read_yaml


def parse_setting(text: str) -> tuple[str, Any]:
    """Path and value of a text ``PATH=VALUE``; the value is written as in a robot file.

    Examples
    --------
    >>> parse_setting("legs.*.base = [300 mm, 0, 0]")
    ('legs.*.base', ['300 mm', 0, 0])
    """
    path, equals, value = (part.strip() for part in text.partition("="))
    if not path or not equals or not value:
        raise InputError(
            f"settings: PATH=VALUE is needed, such as platform.mass=60 or 'length=[0.3, 0.5]', got {text!r}"
        )
    try:
        return path, read_yaml(value)[0]
    except YamlTextError as error:
        raise InputError(
            f"settings: {path}: {value!r} is not a value of a robot file: {error.faults[0].message}"
        ) from error


def with_settings(document: dict[str, Any], robot: Robot, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A robot's written-out document with other values; ``robot`` is the robot that it describes as it is.

    Paths are those of the robot's numbers, ``*`` for any part, a leg's (or joint's) name for its number; also those of
    numbers that the file leaves out.
    """
    changed = copy.deepcopy(document)
    known = _known(robot)
    for pattern, value in settings.items():
        paths = _matching(robot, known, pattern)
        for path in paths:
            _put(changed, path.split("."), copy.deepcopy(value))
        if changed.get("sources"):
            whole = all(fnmatchcase(path, pattern) for path in paths)  # by numbers, as sources name legs
            new = dict.fromkeys([pattern] if whole else paths, "set for this run")
            changed["sources"] = new | {path: text for path, text in changed["sources"].items() if path not in new}
    return changed


def setting_paths(robot: Robot, start: str = "") -> list[str]:
    """Paths of all numbers of a robot, those of its legs as ``legs.*``, or of one leg if ``start`` names it.

    Joints of chains go by their names.
    """
    one = start.split(".")
    chosen = one[1] if len(one) > 2 and one[0] == "legs" else "*"
    paths: dict[str, None] = {}
    for path in _known(robot):
        form = spellings(robot, path)[-1]  # with names
        parts = form.split(".")
        if parts[0] != "legs" or chosen == "*":
            paths[".".join(["legs", "*", *parts[2:]]) if parts[0] == "legs" else form] = None
        elif chosen in (parts[1], path.split(".")[1]):
            paths[".".join(["legs", chosen, *parts[2:]])] = None
    return list(paths)


def setting_values(robot: Robot, pattern: str) -> list[Any]:
    """What a robot has at the paths that a pattern matches; None where its file leaves a number out."""
    return [_value(robot, path.split(".")) for path in _matching(robot, _known(robot), pattern)]


def _value(value: Any, parts: list[str]) -> Any:
    for part in parts:
        if value is None:
            return None
        value = (
            getattr(value, part) if isinstance(value, Data) else value[part if isinstance(value, dict) else int(part)]
        )
    return value


def _known(robot: Robot) -> list[str]:
    """Paths of all numbers, also of those that the file leaves out."""
    return list(dict.fromkeys((*robot.numbers(), *_left_out(robot, ""))))


def _matching(robot: Robot, known: list[str], pattern: str) -> list[str]:
    found = [path for path in known if any(fnmatchcase(form, pattern) for form in spellings(robot, path))]
    if not found:
        # near matches only among fields of the first leg: its neighbours have the same
        near = [path for path in known if not path.startswith("legs.") or path.startswith("legs.0.")]
        named = [_named(robot, path) for path in near]
        raise UnknownNameError("parameter", pattern, tuple(_general(path, len(robot.legs)) for path in named))
    return found


def _named(robot: Robot, path: str) -> str:
    """A path with its leg's number and the names of joints and limits as people write them."""
    forms = spellings(robot, path)
    return forms[(len(forms) - 1) // 2]


def _general(path: str, legs: int) -> str:
    return path.replace("legs.0.", "legs.*.", 1) if legs > 1 else path


def spellings(robot: Robot, path: str) -> list[str]:
    """A path with numbers, and with names, of its leg and of that leg's joint, or of its element."""
    parts = path.split(".")
    if parts[0] == "elements":
        return [path, ".".join(["elements", robot.elements[int(parts[1])].name, *parts[2:]])]
    if parts[0] != "legs":
        return [path]
    leg = robot.legs[int(parts[1])]
    heads = [["legs", own] for own in (parts[1], leg.name)]
    rest = [parts[2:]]
    if len(parts) > 3 and parts[2] == "joints":
        joints: Any = getattr(leg, "joints", ())
        rest.append(["joints", joints[int(parts[3])].name, *parts[4:]])
    if parts[-1] in _OF_FORCES and _turns(leg, parts):
        rest += [[*tail[:-1], _OF_FORCES[parts[-1]]] for tail in rest[:]]
        rest = [*rest[len(rest) // 2 :], *rest[: len(rest) // 2]]  # what the file says last: messages take that
    return [".".join(head + tail) for head in heads for tail in rest]


_OF_FORCES = {field: name for name, field in TORQUE_NAMES.items()}


def _turns(leg: Any, parts: list[str]) -> bool:
    """Whether a limit of force at a path is one of torque: of a leg whose drive turns, or of a joint that does."""
    if len(parts) > 3 and parts[2] == "joints":
        joint = leg.joints[int(parts[3])]
        return joint.kind == "revolute" or joint.actuated == "rotation"
    return bool(getattr(leg, "turns", False))


def _left_out(value: Any, path: str) -> Iterator[str]:
    """Paths of numbers that the schema has and the file leaves out."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _left_out(item, f"{path}.{name}")
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _left_out(item, f"{path}.{number}")
    elif isinstance(value, Data):
        for name in value.file_fields():
            inside, field = getattr(value, name), type(value).model_fields[name]
            here = f"{path}.{name}" if path else name
            if inside is not None:
                yield from _left_out(inside, here)
            elif unit_of(field):
                yield here
            else:
                inner = next(
                    (c for c in get_args(field.annotation) if isinstance(c, type) and issubclass(c, Data)), None
                )
                yield from (f"{here}.{name}" for name in _numbers_of(inner))


def _numbers_of(model: type[Data] | None) -> list[str]:
    """Fields of a data class that are numbers; tables of named points and the like are not."""
    fields = {} if model is None else model.model_fields
    return [name for name, field in fields.items() if unit_of(field) and get_origin(field.annotation) is not dict]


def _put(document: Any, parts: list[str], value: Any) -> None:
    """Set a value in a document; mappings that are not there yet are made."""
    for part in parts[:-1]:
        if isinstance(document, list):
            document = document[int(part)]
        else:
            if document.get(part) is None:
                document[part] = {}
            document = document[part]
    if isinstance(document, list):
        document[int(parts[-1])] = value
    else:
        document[parts[-1]] = value
