"""What the shell completes when the tab key is pressed: robots, motions, parameters of a robot, words of an option."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import PolypodError
from .user_modules import load_module

if TYPE_CHECKING:
    from ..description import Robot

Offer = tuple[str, str]
"""A completed word, and what it is."""


def complete_robot(incomplete: str) -> list[Offer]:
    """Robots for the shell."""
    return list(_names("robots", incomplete))


def complete_motion(incomplete: str) -> list[Offer]:
    """Motions for the shell."""
    return list(_names("motions", incomplete))


def complete_either(incomplete: str) -> list[Offer]:
    """Robots and motions for the shell."""
    return list(dict([*_names("robots", incomplete), *_names("motions", incomplete)]).items())


def complete_setting(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """``PATH=VALUE`` of the robot on the command line, with the value that it has now."""
    robot = _robot(ctx.params)
    if robot is None:
        return []
    return [(f"{path}={_written(robot, path)}", "") for path in _paths(robot, incomplete)]


def complete_path(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """Paths of parameters of the robot on the command line, the last of a list with commas."""
    robot = _robot(ctx.params)
    before, comma, last = incomplete.rpartition(",")
    return [] if robot is None else [(before + comma + path, _written(robot, path)) for path in _paths(robot, last)]


def complete_coordinate(ctx: typer.Context, incomplete: str) -> list[Offer]:
    """``NAME=`` of the coordinates of the robot on the command line."""
    from ..analysis.workspace.pose_coordinates import RIGID

    robot = _robot(ctx.params)
    names = () if robot is None else tuple(coordinate.name for coordinate in robot.dof) or RIGID
    return [(f"{name}=", "") for name in names if name.startswith(incomplete)]


def _names(kind: str, incomplete: str) -> Iterator[Offer]:
    """Names of the library and YAML files here that begin as what is typed, each with what it is."""
    from .catalogue import CATALOGUE

    for entry in CATALOGUE[kind]:
        if entry["name"].startswith(incomplete):
            yield entry["name"], entry["title"]
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    for path in sorted(folder.glob("*.y*ml")) if folder.is_dir() else ():
        if str(path).startswith(incomplete.removeprefix("./")):
            yield str(path), "file"


def _robot(given: dict[str, Any]) -> Robot | None:
    """The robot that the words before name; none if there is none that can be read."""
    from ..files import load
    from ..motion.resolve import robot_and_motion

    named = given.get("robot") or next(iter(given.get("robots") or ()), None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they would stand in the line that is typed
            for path in given.get("with_") or ():
                load_module(Path(path))
            return load(robot_and_motion(named)[0])
    except PolypodError:
        return None


def _paths(robot: Robot, incomplete: str) -> list[str]:
    """Paths that begin as what is typed; of legs those of all, unless one of them is named."""
    from ..files.settings import setting_paths

    return [path for path in setting_paths(robot, incomplete) if path.startswith(incomplete)]


def _written(robot: Robot, path: str) -> str:
    """What a robot has at a path, as ``--set`` takes it: without blanks, nothing if legs differ or nothing is there."""
    from ..files.settings import setting_values

    texts = {str(value).replace("(", "[").replace(")", "]").replace(" ", "") for value in setting_values(robot, path)}
    return texts.pop().replace("None", "") if len(texts) == 1 else ""


def _words(kind: str) -> Callable[[str], list[Offer]]:
    """What completes a word of a registry of the library."""

    def complete(incomplete: str) -> list[Offer]:
        from .catalogue import CHOICES

        return [offer for offer in CHOICES[kind].items() if offer[0].startswith(incomplete)]

    return complete


COMPLETED: dict[str, Callable[..., list[Offer]]] = {
    "robot": complete_robot,
    "robots": complete_robot,
    "motion": complete_motion,
    "path": complete_motion,
    "file": complete_either,
    "settings": complete_setting,
    "parameters": complete_path,
    "sought": complete_path,
    "at": complete_coordinate,
    "controller": _words("controllers"),
    "function": _words("functions"),
    "show": _words("extras"),
    "chosen": _words("papers"),
}
"""What completes an argument or an option, by its name."""
