"""A design as a robot of its own: to look at, to write to a file, to differentiate at."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..description import Robot
from ..description.quantities import FrozenDict
from ..files import dumps, loads


def with_numbers(robot: Robot, numbers: Mapping[str, ArrayLike], name: str | None = None) -> Robot:
    """The robot with other numbers by path, checked as if its file gave them."""
    for path, value in numbers.items():
        robot = _replaced(robot, path.split("."), np.asarray(value, dtype=np.float64).tolist())
    robot = robot.model_copy(update={"name": name or robot.name, "title": robot.title, "sources": FrozenDict()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever read the robot was warned
        return loads(dumps(robot), f"robot {robot.name!r}")


def _replaced(data: Any, path: list[str], value: Any) -> Any:
    if not path:
        return _tuples(value)
    first, *rest = path
    if isinstance(data, tuple):
        k = int(first)
        return (*data[:k], _replaced(data[k], rest, value), *data[k + 1 :])
    if isinstance(data, dict):
        return type(data)({**data, first: _replaced(data[first], rest, value)})
    return data.model_copy(update={first: _replaced(getattr(data, first), rest, value)})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
