"""Other values for numbers of a robot file, by path: ``platform.mass``, ``legs.*.base``, ``legs.leg1.max_force``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..description.paths import get, in_files, left_out, matching, put, spellings
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
            put(changed, path, copy.deepcopy(value))
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
    given = set(robot.numbers())
    return [get(robot, path) if path in given else None for path in _matching(robot, _known(robot), pattern)]


def _known(robot: Robot) -> list[str]:
    """Paths of all numbers, also of those that the file leaves out."""
    return list(dict.fromkeys((*robot.numbers(), *left_out(robot))))


def _matching(robot: Robot, known: list[str], pattern: str) -> list[str]:
    found = matching(robot, known, pattern)
    if not found:
        # near matches only among fields of the first leg: its neighbours have the same
        near = [path for path in known if not path.startswith("legs.") or path.startswith("legs.0.")]
        named = [form for path in near for form in _named(robot, path)]
        raise UnknownNameError("parameter", pattern, tuple(_general(path, len(robot.legs)) for path in named))
    return found


def _named(robot: Robot, path: str) -> list[str]:
    """A path with its leg's number and names of joints as people write them; limits of torque as those of force too."""
    forms, parts = spellings(robot, path), path.split(".")
    if parts[0] == "legs" and in_files(robot, path):
        return forms[-1:]
    return list({form.rpartition(".")[2]: form for form in forms[: (len(forms) + 1) // 2]}.values())


def _general(path: str, legs: int) -> str:
    return path.replace("legs.0.", "legs.*.", 1) if legs > 1 else path
