"""Shapes of bodies in a robot file: spheres, capsules and plates, drawn, exported and kept apart as they are.

Each is the convex hull of points, grown by a radius: of one point, of two, of three or more in a plane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_serializer, model_validator

from ..arrays import Array
from .quantities import Data, Direction, Length, Position, Triple

FLAT = 1e-6
"""How far corners of a plate may be off its plane, of their largest distance."""


class _Stated(Data):
    """A shape; its kind is always written."""

    kind: str

    @model_serializer(mode="wrap")
    def _with_kind(self, handler: Any) -> dict[str, Any]:
        return {"kind": self.kind, **handler(self)}


class Sphere(_Stated):
    """A sphere of ``radius`` about ``center``, in the frame of its body's ``com``."""

    kind: Literal["sphere"] = "sphere"
    center: Position = (0.0, 0.0, 0.0)
    radius: Length

    @property
    def points(self) -> tuple[Triple, ...]:
        """The point that is grown by ``radius``."""
        return (self.center,)


class Capsule(_Stated):
    """All points within ``radius`` of the line between two ``ends``, in the frame of its body's ``com``."""

    kind: Literal["capsule"] = "capsule"
    ends: Annotated[tuple[Triple, Triple], Field(json_schema_extra={"unit": "m", "form": "2 points"})]
    radius: Length

    @model_validator(mode="after")
    def _has_a_length(self) -> Capsule:
        if self.ends[0] == self.ends[1]:
            raise ValueError(
                f"ends: both are at {list(self.ends[0])}; write {{kind: sphere, center: ..., radius: ...}}"
            )
        return self

    @property
    def points(self) -> tuple[Triple, ...]:
        """The points whose hull is grown by ``radius``."""
        return self.ends


class Plate(_Stated):
    """A convex plate with rounded edges: all points within half the ``thickness`` of the polygon of its ``corners``.

    The corners lie in a plane, in the frame of the body's ``com``, in any order; those inside the polygon of the others
    are left out.
    """

    kind: Literal["plate"] = "plate"
    corners: Annotated[tuple[Triple, ...], Field(min_length=3, json_schema_extra={"unit": "m", "form": "points"})]
    thickness: Length

    @model_validator(mode="after")
    def _is_flat(self) -> Plate:
        points = np.array(self.corners)
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if spread[1] <= FLAT * spread[0]:
            raise ValueError("corners: all lie on a line; write {kind: capsule, ends: [...], radius: ...}")
        if len(points) > 3 and spread[2] > FLAT * spread[0]:
            raise ValueError(
                f"corners: a plate is flat, and these corners are up to {spread[2]:.3g} m off a plane; state several "
                "plates, or capsules between the corners"
            )
        order = hull_around(points)
        self.__dict__["corners"] = tuple(self.corners[k] for k in order)
        return self

    @property
    def points(self) -> tuple[Triple, ...]:
        """The corners in order, whose polygon is grown by ``radius``."""
        return self.corners

    @property
    def radius(self) -> float:
        """Half the thickness [m]."""
        return 0.5 * self.thickness


_KINDS: dict[str, type[Sphere] | type[Capsule] | type[Plate]] = {"sphere": Sphere, "capsule": Capsule, "plate": Plate}
FileShape = Sphere | Capsule | Plate


def _shape(value: Any) -> Any:
    """A shape by its ``kind``."""
    if isinstance(value, _Stated):
        return value
    if not isinstance(value, dict) or value.get("kind") not in _KINDS:
        got = value.get("kind") if isinstance(value, dict) else value
        raise ValueError(
            "a shape must be {kind: sphere, center, radius}, {kind: capsule, ends, radius} or {kind: plate, corners, "
            f"thickness}}, got {got!r}"
        )
    return _KINDS[value["kind"]].model_validate(value)


Shapes = tuple[Annotated[FileShape, BeforeValidator(_shape)], ...]


def mapped(shape: FileShape, move: Callable[[Array], Array]) -> FileShape:
    """A shape with its points (k, 3) moved."""
    points = [[float(x) + 0.0 for x in row] for row in move(np.array(shape.points))]
    if isinstance(shape, Sphere):
        return Sphere.model_validate({"center": points[0], "radius": shape.radius})
    if isinstance(shape, Capsule):
        return Capsule.model_validate({"ends": points, "radius": shape.radius})
    return Plate.model_validate({"corners": points, "thickness": shape.thickness})


class BaseShape(Data):
    """What the base looks like, base frame: ``radius`` of the plate through its joints (half its thickness), or
    ``shapes``; an empty list for nothing."""

    radius: Length | None = None
    shapes: Shapes | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> BaseShape:
        check_one_of_both(self.radius, self.shapes)
        return self


class Floor(Data):
    """A plane that nothing may reach beyond: ``at`` is a point of it, base frame, ``normal`` points to the robot's
    side."""

    at: Position = (0.0, 0.0, 0.0)
    normal: Direction = (0.0, 0.0, 1.0)


def check_one_of_both(radius: float | None, shapes: Shapes | None) -> None:
    """Raise if a body states both its radius and its shapes."""
    if radius is not None and shapes is not None:
        raise ValueError("radius: it is that of the shape between the body's joints; give radius or shapes, not both")


def hull_around(points: Any) -> list[int]:
    """Numbers of the corners, in order, of the convex polygon around points (k, 3) in a plane.

    Examples
    --------
    >>> hull_around([[0, 0, 1], [2, 0, 1], [1, 0.5, 1], [2, 2, 1], [0, 2, 1]])
    [0, 1, 3, 4]
    """
    array = np.array(points, dtype=float)
    middle = array.mean(axis=0)
    plane = np.linalg.svd(array - middle, full_matrices=False)[2][:2]
    found = hull_in_plane((array - middle) @ plane.T)
    start = found.index(min(found))
    found = found[start:] + found[:start]
    return found if found[1] < found[-1] else [found[0], *found[:0:-1]]


def hull_in_plane(flat: Any) -> list[int]:
    """Numbers of the corners of the smallest convex polygon around points (k, 2), counter-clockwise.

    Andrew's monotone chain: SciPy's hull takes a third of a second to load.

    Examples
    --------
    >>> hull_in_plane(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [2.0, 2.0], [0.0, 2.0]]))
    [0, 1, 3, 4]
    """
    near = 1e-12 * float(np.ptp(flat, axis=0).max(initial=0.0)) ** 2
    order = np.lexsort((flat[:, 1], flat[:, 0])).tolist()
    chains = []
    for direction in (order, order[::-1]):
        chain: list[int] = []
        for k in direction:
            while len(chain) > 1 and _turn(flat[chain[-2]], flat[chain[-1]], flat[k]) <= near:
                chain.pop()
            chain.append(k)
        chains.append(chain[:-1])
    return chains[0] + chains[1]


def _turn(a: Any, b: Any, c: Any) -> float:
    """Twice the area of a triangle, positive if its corners (2) are counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
