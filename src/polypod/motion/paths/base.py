"""The family of paths: what a kind of path is made of, and how one is read."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import SerializeAsAny

from ..contract import Path
from ..fields import MotionColumn, check_written
from ..kinds import Family, Kind, any_of, family_of

_OVER_TIME = ("times", "duration", "frequency", "phase")
"""Fields of paths that are not those of coordinates."""


class PathKind(Kind, Path):
    """Coordinates over time; a kind has ``duration`` and ``shape`` and defines ``evaluate``."""

    registry: ClassVar[dict[str, type[Any]]] = {}
    what: ClassVar[str] = "path"

    def with_columns(self, columns: tuple[MotionColumn, ...]) -> Self:
        for name in type(self).model_fields:
            if name not in _OVER_TIME:
                check_written(name, getattr(self, name), columns)
        return self


def _elsewhere(kind: str) -> str:
    """What a kind of trajectory is where a path is needed."""
    listed = ", ".join(sorted(PathKind.registry))
    return f"a kind of trajectory, not of path; paths: {listed}" * (family_of(kind) == "trajectory")


AnyPath = Annotated[SerializeAsAny[Path], *any_of(Family(PathKind, Path, elsewhere=_elsewhere))]
"""A field that holds a path: a mapping with its kind, or any ``Path`` from Python."""
