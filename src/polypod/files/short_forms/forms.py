"""What the short forms of a robot file hold, checked."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import AfterValidator, Field, ValidationError, model_validator

from ...arrays import Array
from ...description.leg import LegData
from ...description.paths import Location
from ...description.poses import Pose
from ...description.quantities import Angle, Data, Length, Mass, Moment, Position, Triple
from ...description.shapes import Shapes
from ...errors import short_repr
from ...legs.chain import Chain


def _not_zero(value: Triple) -> Triple:
    if not any(value):
        raise ValueError("a direction must not be zero; any other length is fine, such as [0, 0, 1]; got [0, 0, 0]")
    return value


AnyDirection = Annotated[Triple, AfterValidator(_not_zero), Field(json_schema_extra={"unit": "1"})]
"""A direction whose length does not matter."""


class Copies(Data):
    """Copies of a leg, rotated about an axis of the base frame: ``count`` evenly spaced, or at ``angles``.

    ``about`` is the axis, of any length, ``through`` a point of it. The first of ``count`` is the leg itself;
    ``angles`` lists all of them, so it begins with 0 if the leg itself is meant too.
    """

    count: Annotated[int | None, Field(ge=1, le=100)] = None
    angles: Annotated[tuple[Angle, ...] | None, Field(min_length=1, json_schema_extra={"unit": "rad"})] = None
    about: AnyDirection
    through: Position = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _one_of_both(self) -> Copies:
        if (self.count is None) == (self.angles is None):
            raise ValueError("count: give either count (evenly over a full turn) or a list of angles")
        return self

    @property
    def turns(self) -> list[float]:
        """Angles [rad] of the copies."""
        if self.angles is not None:
            return list(self.angles)
        assert self.count is not None
        return [2 * np.pi * k / self.count for k in range(self.count)]


class Mirror(Data):
    """A leg and its mirror image: ``plane`` is a normal of the plane, of any length, ``through`` a point of it.

    ``name`` is that of the image, if the leg has one.
    """

    plane: AnyDirection
    through: Position = (0.0, 0.0, 0.0)
    name: str = ""


class Pair(Data):
    """Two parallel copies of a body with all its joints, displaced by ``offset`` and by its opposite."""

    offset: Position


class Cylinder(Data):
    """A solid cylinder of ``radius`` along the line between a body's two joints."""

    radius: Length


class Revolution(Data):
    """A body of revolution about the line between its two joints: its moments of inertia about its centre of mass."""

    along: Moment
    across: Moment


class Massive(Data):
    """The mass of a body that has a shape."""

    mass: Mass


class Shaped(Data):
    """Shapes of a body that is stated once for two."""

    shapes: Shapes


def short_fields(model: type[Data]) -> tuple[str, ...]:
    """Fields that short forms add to those of a data class."""
    of_legs = ("copies", "mirror") if issubclass(model, Chain) else ("copies",)
    return of_legs if issubclass(model, LegData) else ()


class ShortFormError(ValueError):
    """A short form that cannot be written out; ``location`` is its place in the document.

    ``form`` is what ``value`` should be if it failed that validation.
    """

    def __init__(
        self, location: Location, problem: str | ValidationError, form: type[Data] | None = None, value: Any = None
    ) -> None:
        super().__init__(str(problem))
        self.location, self.problem, self.form, self.value = location, problem, form, value


Form = TypeVar("Form", bound=Data)


def read_form(form: type[Form], value: Any, location: Location) -> Form:
    """A short form from a file's value; ``ShortFormError`` if it is none."""
    if not isinstance(value, dict):
        raise ShortFormError(location, f"must be a mapping of {', '.join(form.model_fields)}, got {short_repr(value)}")
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise ShortFormError(location, error, form, value) from error


def home_matrix(document: dict[str, Any]) -> Array | None:
    """Home of the platform (4, 4) as a document states it; None if that is no pose."""
    euler = document.get("euler", "ZYX")
    try:
        home = Pose.model_validate(document.get("home") or {})
        return home.with_rotation(euler).matrix if isinstance(euler, str) else None
    except ValueError:
        return None


class _Point(Data):
    at: Position = (0.0, 0.0, 0.0)


def read_point(value: dict[str, Any], location: Location) -> Array:
    """``at`` of a joint, the base's origin if it has none."""
    given = {"at": value["at"]} if "at" in value else {}
    return np.array(read_form(_Point, given, location).at)
