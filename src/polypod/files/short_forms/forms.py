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
from ...description.robot import Robot
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


SHARED = ("bodies", "joints", "groups")
"""What a robot file may have beside its legs."""


def _in_words(form: str) -> Any:
    return Field(json_schema_extra={"form": form})


class Group(Data):
    """Bodies, joints, legs and couplings between these that are copied or mirrored together.

    Names get a number in every image: ``plate1``, ``plate2``, and legs go on counting: two copies of ``arm`` in a group
    of two images are ``arm1`` to ``arm4``. Inside a group the names without the group's number mean the same image;
    robot-level bodies are those of all images.
    """

    copies: Copies | None = None
    mirror: Mirror | None = None
    bodies: Annotated[dict[str, Any], _in_words("bodies by name")] = Field(default_factory=dict)
    joints: Annotated[tuple[Any, ...], _in_words("list of joints")] = ()
    legs: Annotated[tuple[Any, ...], _in_words("list of legs")] = ()
    couplings: Annotated[tuple[Any, ...], _in_words("list of couplings")] = ()


def short_fields(model: type[Data]) -> tuple[str, ...]:
    """Fields that short forms add to those of a data class."""
    if issubclass(model, Robot):
        return SHARED
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


def bodies_between(joint: dict[str, Any]) -> list[str]:
    """The bodies that a joint is between; what is no name is a fault later."""
    between = joint.get("between")
    return [name for name in between if isinstance(name, str)] if isinstance(between, (list, tuple)) else []


def is_chain(leg: Any) -> bool:
    """Whether a leg of a document is a general one whose bodies and joints can be read."""
    if not isinstance(leg, dict) or leg.get("kind") != "chain":
        return False
    joints, bodies = leg.get("joints"), leg.get("bodies")
    return isinstance(bodies, dict) and isinstance(joints, list) and all(isinstance(joint, dict) for joint in joints)


def outside_bodies(leg: Any) -> list[str]:
    """Bodies that a general leg's joints hold and that are not its own."""
    if not is_chain(leg):
        return []
    own = ("base", "platform", *leg["bodies"])
    return [name for joint in leg["joints"] for name in bodies_between(joint) if name not in own]


def shared_names(document: dict[str, Any]) -> list[str]:
    """Names of the bodies at robot level and in groups, as the file has them."""
    groups = document.get("groups")
    holders = [document, *(groups if isinstance(groups, list) else [])]
    bodies = [one.get("bodies") for one in holders if isinstance(one, dict)]
    return [name for mapping in bodies if isinstance(mapping, dict) for name in mapping]
