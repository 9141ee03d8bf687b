"""What every element's data share, and the register of element kinds.

An element is a force that acts between two bodies: a spring, a damper, a stop. A kind registers itself by subclassing
``ElementData`` with ``kind="..."``; nothing else is needed for its elements to be read from files.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from ..errors import InputError, UnknownNameError, short_repr
from .dof import leg_and_joint
from .leg import LegData
from .quantities import KindData, Number, Position, in_either, list_of
from .units import OF_HINGES, OF_SLIDES, advice, written_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

COORDINATES = {
    "prismatic": ("translation",),
    "revolute": ("rotation",),
    "cylindrical": ("rotation", "translation"),
    "universal": ("first", "second"),
    "spherical": ("x", "y", "z"),
}
"""Displacements of each kind of joint, in the order in which an element counts them."""
SYMMETRIC = 1e-9
NEAR = 1e-9
"""Length [m] below which two points are one."""


def numbers_in(*units: str) -> Any:
    """A validator of a number or (nested) lists of them, texts in any of ``units``: one error for the whole."""
    convert = in_either(*units)

    def check(value: Any) -> Any:
        found = convert(value.tolist() if isinstance(value, np.ndarray) else value)
        text = next(_texts(found), None)
        if text is not None or isinstance(found, dict):
            instead = advice(text or "", " or ".join(units))
            raise ValueError(f"must be a number, got {short_repr(value)}{'; ' if instead else ''}{instead}")
        return found

    return check


def per_axis(*units: str, what: str = "") -> Any:
    """A number, a list of one for each axis, or a matrix; texts in any of ``units``."""
    form = f"a number, a list with one for each axis, or a matrix{what}"
    return [
        BeforeValidator(numbers_in(*units)),
        AfterValidator(checked_matrix),
        Field(json_schema_extra={"unit": " or ".join(units), "form": form}),
    ]


def checked_matrix(value: Any) -> Any:
    """A matrix must be square and symmetric, without a negative direction; numbers must not be negative."""
    array = np.array(value, dtype=float) if _rectangular(value) else np.zeros((1, 2))
    if array.ndim == 2:
        if array.shape[0] != array.shape[1]:
            raise ValueError(f"a matrix must be square, got {short_repr(value)}")
        if np.abs(array - array.T).max() > SYMMETRIC * np.abs(array).max(initial=1e-300):
            raise ValueError(f"a matrix must be symmetric, got {short_repr(value)}")
        lowest = float(np.linalg.eigvalsh(array)[0])
        if lowest < -SYMMETRIC * np.abs(array).max(initial=1e-300):
            raise ValueError(f"a matrix must not be negative in any direction, got the eigenvalue {lowest:.6g}")
    elif (array < 0).any() or not array.any():
        raise ValueError(f"must be positive (some of several may be 0), got {short_repr(value)}")
    return value


def _rectangular(value: Any) -> bool:
    if not isinstance(value, tuple) or not value or not isinstance(value[0], tuple):
        return True
    return all(isinstance(row, tuple) and len(row) == len(value[0]) for row in value)


PerAxis = Number | tuple[Number, ...] | tuple[tuple[Number, ...], ...]
Stiffness = Annotated[PerAxis, *per_axis("N/m", "N m/rad")]
Damping = Annotated[PerAxis, *per_axis("N s/m", "N m s/rad")]


def curve(over: tuple[str, ...], what: str) -> Any:
    """Points [``what``, force] of a function: straight lines between them and on beyond the ends."""

    def points(value: Any) -> Any:
        if not isinstance(value, (list, tuple)) or not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in value):
            raise ValueError(f"must be points [{what}, force], got {short_repr(value)}")
        first, second = in_either(*over), in_either("N", "N m")
        return tuple((first(x), second(f)) for x, f in value)

    def function(value: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        places = [x for x, _ in value]
        if len(value) < 2:
            raise ValueError(f"at least two points [{what}, force] are needed, got {len(value)}")
        if not all(a < b for a, b in pairwise(places)):
            raise ValueError(f"a curve must be a function: each {what} must exceed the one before, got {places}")
        return value

    schema = Field(json_schema_extra={"unit": f"{over[0]} and N", "form": f"list of [{what}, force]"})
    return [BeforeValidator(points), AfterValidator(function), schema]


Points = Annotated[
    tuple[Position, Position], BeforeValidator(list_of(2, "2 points, one on each body")),
    Field(json_schema_extra={"unit": "m"}),
]  # fmt: skip


class JointEnd(NamedTuple):
    """The joint that an element is in: number of its leg, name, kind."""

    leg: int
    name: str
    kind: str


class BodyEnd(NamedTuple):
    """A body that an element acts on: number of its leg (None for base and platform) and its name there."""

    leg: int | None
    name: str


class ElementData(KindData, family="element"):
    """What acts between two bodies, by their distance or a joint's displacement, and by its rate.

    ``between`` are two bodies, ``base``, ``platform`` or ``LEG.BODY``, and ``at`` a point on each, where these are at
    home, base frame; or ``joint`` is one, ``LEG.JOINT``, in which the element is. Displacements of joints are zero at
    home and grow as the joint's own coordinate does: ``translation`` of a prismatic, ``rotation`` of a revolute,
    ``rotation`` and ``translation`` of a cylindrical, ``first`` and ``second`` angle of a universal joint, and the
    three components of the rotation vector of a spherical one, base axes at home.
    """

    joint_only: ClassVar[bool] = False
    points_only: ClassVar[bool] = False
    measured: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "preload", "rest", "force", "length")
    """Fields whose unit is that of the displacement."""
    name: str = Field(min_length=1)
    joint: str = ""
    between: tuple[str, str] | None = None
    at: Points | None = None
    _written: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _with_units(cls, value: Any, handler: Any) -> Any:
        """Keep the texts of a file until it is known whether they are of a slide or of a hinge."""
        element = handler(value)
        if isinstance(value, dict):
            element._written = {name: value[name] for name in cls.measured if name in value}
        return element

    @model_validator(mode="after")
    def _ends(self) -> ElementData:
        if bool(self.joint) == (self.between is not None):
            raise ValueError("joint: give the joint it is in, or 'between' two bodies with 'at'; one of both")
        if self.joint and self.points_only:
            raise ValueError(f"joint: a {self.kind} acts between two bodies; give 'between' and 'at'")
        if not self.joint and self.joint_only:
            raise ValueError(f"joint: a {self.kind} is in a joint; give joint: LEG.JOINT")
        if self.joint and self.at is not None:
            raise ValueError("at: an element in a joint is where the joint is; leave it out")
        if self.between is not None:
            if self.between[0] == self.between[1]:
                raise ValueError(f"between: must be two different bodies, got {self.between[0]!r} twice")
            self._check_points()
        return self

    def _check_points(self) -> None:
        if self.at is None:
            raise ValueError("at: give the points on both bodies at home, at: [[x, y, z], [x, y, z]]")
        if self.needs_length and self.home_length < NEAR:
            raise ValueError(
                f"at: both points are at {list(self.at[0])} at home, where its length is zero and it has no direction; "
                "move one of them, use a joint, or a bushing"
            )

    @property
    def needs_length(self) -> bool:
        """Whether it acts along the line between its points."""
        return True

    @property
    def home_length(self) -> float:
        """Distance of its points at home [m]."""
        assert self.at is not None
        return float(np.linalg.norm(np.subtract(*self.at)))

    def joint_end(self, legs: Sequence[LegData]) -> JointEnd:
        """The joint that it is in; raises for one that is not there."""
        number, name = leg_and_joint(self.joint, legs)
        kinds = legs[number].joint_kinds()
        if name not in kinds:
            raise UnknownNameError(f"joint of {legs[number].name}", name, tuple(kinds))
        return JointEnd(number, name, kinds[name])

    def body_ends(self, legs: Sequence[LegData]) -> tuple[BodyEnd, BodyEnd]:
        """The bodies that it acts on; raises for one that is not there."""
        assert self.between is not None
        first, second = (_body(name, legs) for name in self.between)
        if first == second:
            raise InputError(f"between: {self.between[0]!r} and {self.between[1]!r} are one body; must be two")
        return first, second

    def axes_of(self, legs: Sequence[LegData]) -> tuple[str, ...]:
        """The displacements that it acts along: those of its joint, or its length."""
        return COORDINATES[self.joint_end(legs).kind] if self.joint else ("length",)

    def check(self, legs: Sequence[LegData]) -> None:
        """Raise for bodies, joints or units that cannot be in a robot with these legs: ``FIELD: what is wrong``."""
        if self.joint:
            try:
                end = self.joint_end(legs)
            except UnknownNameError as error:
                raise InputError(f"joint: {error}") from error
            if end.kind not in COORDINATES:
                raise InputError(f"joint: {self.joint} is a {end.kind} joint and does not move")
        else:
            for body, at in zip(self.body_ends(legs), self.points_at, strict=True):
                self._check_spin(legs, body, at)
        axes = self.axes_of(legs)
        for name, text in self._written.items():
            self._check_units(name, text, axes)
        for name in ("stiffness", "damping", "preload", "rest"):
            value = getattr(self, name, None)
            if value is not None and name in type(self).model_fields:
                self._check_shape(name, value, axes)
        self._written.clear()  # data that were read from texts and from numbers are the same

    @property
    def points_at(self) -> tuple[Any, Any]:
        """Its points at home (3) on the first and on the second body."""
        assert self.at is not None
        return self.at

    def _check_spin(self, legs: Sequence[LegData], end: BodyEnd, at: Any) -> None:
        """Raise for a force that would spin a rod between two spherical joints, whose spin no function knows."""
        lines = {} if end.leg is None else legs[end.leg].spin_lines()
        if end.name not in lines:
            return
        start, stop = lines[end.name]
        along = (stop - start) / np.linalg.norm(stop - start)
        off = float(np.linalg.norm(np.cross(along, np.array(at) - start)))
        if off > NEAR or not self.needs_length:
            raise InputError(
                f"between: {end.name} spins freely between two spherical joints, and this would spin it: it acts "
                f"{1000 * off:.4g} mm beside their line; move it onto the line, or make one of the joints universal"
            )

    def _check_units(self, name: str, text: Any, axes: tuple[str, ...]) -> None:
        slides = [axis in ("length", "translation") for axis in axes]
        items = text if isinstance(text, (list, tuple)) and len(text) == len(axes) > 1 else [text] * len(axes)
        for axis, slide, item in zip(axes, slides, items, strict=True):
            for one in _texts(item):
                unit = written_unit(one)
                if unit in (OF_HINGES if slide else OF_SLIDES):
                    needs = "length and force (m, N, ...)" if slide else "angle and moment (rad, N m, ...)"
                    raise InputError(f"{name}: the {axis} needs units of {needs}, got {one!r}")

    def _check_shape(self, name: str, value: Any, axes: tuple[str, ...]) -> None:
        shape, count = np.shape(value), len(axes)
        if shape == ():
            if count > 1 and "translation" in axes:
                raise InputError(f"{name}: one number cannot be of both {' and '.join(axes)}; give a list")
            return
        wanted = [(count,)] if name in ("preload", "rest") else [(count,), (count, count)]
        if shape not in wanted:
            raise InputError(f"{name}: {count} for {', '.join(axes)} are needed, got {short_repr(value)}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _body(name: str, legs: Sequence[LegData]) -> BodyEnd:
    if name in ("base", "platform"):
        return BodyEnd(None, name)
    known = {leg.label(body): BodyEnd(number, body) for number, leg in enumerate(legs) for body in leg.body_names()}
    having = [name] if name in known else [one for one in known if one.partition(".")[2] == name]
    if len(having) != 1:
        raise InputError(f"between: {UnknownNameError('body', name, ('base', 'platform', *known))}")
    return known[having[0]]


def parse_element(value: Any) -> ElementData:
    """An element from its mapping, by its ``kind``."""
    return ElementData.parse(value)
