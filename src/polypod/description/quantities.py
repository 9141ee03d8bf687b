"""Numbers of a file: checked, with their unit in the schema.

SI units and radians; a field of one unit also takes a text such as ``60 mm`` or ``15 deg``.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, get_args

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)  # fmt: skip
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from ..errors import InputError, UnknownNameError, short_repr
from ..lazy import lazy
from .units import in_si, list_advice

_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ROUNDING = 1e-3
"""How far the length of a unit vector may be from one. Three digits after the point change it by 0.9e-3 at most."""


LARGEST_NUMBER = 1e15
LONGEST_NAME, LONGEST_PATH = 200, 1000
_NAMED = {"name": LONGEST_NAME, "robot": LONGEST_PATH, "csv": LONGEST_PATH}
"""Fields that are names or paths, of one line, with the most characters they may have."""


def check_text(value: Any, field: str) -> None:
    """Raise for a text, or a name among the keys of a mapping, with characters that steer a terminal or hide others."""
    if isinstance(value, str):
        _check_one(value, _NAMED.get(field))
    elif isinstance(value, dict):
        for key in value:
            if isinstance(key, str):
                _check_one(key, LONGEST_NAME)


def _check_one(text: str, most: int | None) -> None:
    """``most`` characters in one line, if given."""
    if most is not None and len(text) > most:
        raise ValueError(f"at most {most} characters are allowed, got {len(text)}: {text[:40]!r}...")
    strange = next((c for c in text if _steers(c, most is not None)), None)
    if strange is not None:
        raise ValueError(f"the character U+{ord(strange):04X} is not allowed in {short_repr(text)}; remove it")


def _steers(character: str, one_line: bool) -> bool:
    """Whether a character is a control character or changes the direction of what follows."""
    if character in "\n\t":
        return one_line
    return unicodedata.category(character) in ("Cc", "Cs") or character in _DIRECTIONS


class Data(BaseModel):
    """Frozen, validated data; unknown fields are faults, and numbers may be written with a unit."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, validate_default=True, ignored_types=(lazy,), defer_build=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _in_si(cls, value: Any, info: ValidationInfo) -> Any:
        """Texts such as ``60 mm`` in a field of one unit; where the unit depends on more than the field, none."""
        check_text(value, str(info.field_name))
        return in_si(value, field_schemas(cls)[str(info.field_name)].unit)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).model_fields:
            raise InputError(
                f"{name}: robots and motions cannot be changed; make a changed copy, such as "
                "robot.with_(platform={'mass': 60}), or load the file with other values: "
                "polypod.load(FILE, {'platform.mass': 60})",
                code="frozen",
            )
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        """Fields with their values, for ``dict(data)``: without what was derived from them and is kept."""
        return ((name, getattr(self, name)) for name in type(self).model_fields)

    def _complete(self, **fields: Any) -> None:
        """Set fields that validation derives from others, before anybody has the object: from then on it is frozen.

        The only way past pydantic's lock: ``model_copy`` makes another object than the one that ``__init__`` gives.
        """
        self.__dict__.update(fields)

    @classmethod
    def file_fields(cls) -> tuple[str, ...]:
        """Names of the fields that a file may give.

        Returns
        -------
        tuple of str
            Names.
        """
        return tuple(cls.model_fields)

    @classmethod
    def class_of(cls, value: Any) -> type[Data]:
        """The data class of a mapping where this class is stated: this one, or of a family the kind that it names.

        Parameters
        ----------
        value : object
            The mapping as a file has it.

        Returns
        -------
        type
            The class.

        Raises
        ------
        KeyError, TypeError
            If it names no kind of the family.
        """
        return cls


class KindData(Data):
    """Data of a family of kinds: legs, elements, couplings.

    A family is a subclass with ``family="NAME"``; a kind registers itself by subclassing it with ``kind="NAME"``.
    ``default_kind`` is the one of mappings that name none; without one they must.
    """

    registry: ClassVar[dict[str, type[Any]]] = {}
    family: ClassVar[str] = ""
    default_kind: ClassVar[str | None] = None
    kind: str

    def __init_subclass__(cls, family: str | None = None, kind: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if family is not None:
            cls.family, cls.registry = family, {}
        if kind is None:
            return
        old = cls.registry.get(kind)
        if old is not None and (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(
                f"{cls.family} kind {kind!r} is already registered by {old.__module__}.{old.__qualname__}; choose "
                "another name"
            )
        cls.registry[kind] = cls

    @classmethod
    def class_of(cls, value: Any) -> type[Data]:
        """The kind that a mapping names, if any may stand there."""
        if "registry" not in vars(cls):
            return cls
        return cls.registry[value["kind"] if cls.default_kind is None else value.get("kind", cls.default_kind)]

    @classmethod
    def parse(
        cls, value: Any, form: str = "a mapping with a 'kind'", also: Sequence[str] = (), advice: str = ""
    ) -> Any:
        """One of the family from its mapping, by its ``kind``.

        Parameters
        ----------
        value : mapping or KindData
            Its data; what is one of the family already stays as it is.
        form : str, optional
            How it is written, for messages.
        also : sequence of str, optional
            Kinds that files may name besides those registered, for messages.
        advice : str, optional
            What to do about an unknown kind.

        Returns
        -------
        KindData
            One of the family.
        """
        if isinstance(value, cls):
            return value
        a = f"a{'n' * (cls.family[0] in 'aeiou')} {cls.family}"
        if not isinstance(value, dict):
            raise ValueError(f"{a} must be {form}, got {short_repr(value)}")
        kind, known = value.get("kind", cls.default_kind), tuple(dict.fromkeys((*cls.registry, *also)))
        if kind is None:
            raise InputError(f"kind: missing: {a} needs one of {', '.join(known)}", code="missing")
        if not isinstance(kind, str) or kind not in cls.registry:
            raise ValueError(f"kind: {UnknownNameError(f'{cls.family} kind', str(kind), known)}{advice}")
        return cls.registry[kind].model_validate({**value, "kind": kind})

    @model_validator(mode="after")
    def _own_kind(self) -> Self:
        own = next((kind for kind, cls in self.registry.items() if cls is type(self)), self.kind)
        if self.kind != own:
            raise ValueError(f"kind: {type(self).__name__} is the kind {own!r}, got {self.kind!r}")
        return self


def _number(value: Any) -> Any:
    """A truth value is no number, though Python counts with it."""
    if isinstance(value, bool):
        raise ValueError(f"must be a number, got {value}")
    if isinstance(value, str) and "_" in value:  # which Python reads as 1000 if it is 1_000, and YAML as a text
        raise ValueError(f"must be a number, got {short_repr(value)}")
    return value


def list_of(count: int, what: str, rows: bool = False) -> Callable[[Any], Any]:
    """A validator of length: whole lists are reported, not the item that is missing or too many.

    With ``rows`` the items must be lists too.
    """

    def check(value: Any) -> Any:
        value = value.tolist() if isinstance(value, np.ndarray) else value
        wrong = not isinstance(value, (list, tuple)) or len(value) != count
        if wrong or (rows and not all(isinstance(item, (list, tuple, np.ndarray)) for item in value)):
            instead = list_advice(value, count)
            raise ValueError(f"must be {what}, got {short_repr(value)}{'; ' if instead else ''}{instead}")
        return value

    return check


def _not_beyond(value: float) -> float:
    """No number of a machine in SI units is larger; squares and products of larger ones are not finite."""
    if abs(value) > LARGEST_NUMBER:
        raise ValueError(f"at most {LARGEST_NUMBER:g} is allowed, got {value:g}")
    return value


Number = Annotated[float, BeforeValidator(_number), AfterValidator(_not_beyond)]
Triple = Annotated[tuple[Number, Number, Number], BeforeValidator(list_of(3, "3 numbers"))]
Matrix3 = Annotated[tuple[Triple, Triple, Triple], BeforeValidator(list_of(3, "3 rows of 3 numbers", rows=True))]


def _unit_vector(value: Triple) -> Triple:
    """A direction must be of length one to the rounding of its digits, which is removed."""
    length = math.hypot(*value)
    if not abs(length - 1.0) <= ROUNDING:
        kind = "is zero" if length == 0 else f"has length {length:.9g}"
        instead = "" if length == 0 else f"; write {[float(f'{x / length:.9g}') for x in value]}"
        raise ValueError(f"a direction must have length 1, got {list(value)}, which {kind}{instead}")
    if abs(length - 1.0) < 1e-15:  # above the rounding of the division below: a second reading changes nothing
        return value
    return (value[0] / length, value[1] / length, value[2] / length)


def angle_text(text: str, wanted: str) -> float:
    """Radians of a text ``<number> deg``, ``<number> rad`` or ``<number>``; ``wanted`` says what is allowed."""
    number, _, unit = text.strip().partition(" ")
    try:
        return float(number) * {"deg": math.pi / 180.0, "rad": 1.0, "": 1.0}[unit]
    except (ValueError, KeyError):
        # the message is written where the field and its unit are known
        raise PydanticCustomError("number_text", "{wanted}", {"wanted": wanted, "text": text}) from None


def _angle(value: Any) -> Any:
    """Radians as a number, or a text ``<number> deg`` / ``<number> rad``."""
    if not isinstance(value, str):
        return _number(value)
    return angle_text(value, "an angle must be a number in radians or a text such as '15 deg'")


def _half_turn(value: tuple[float, float, float]) -> tuple[float, float, float]:
    """Angles of a pose; larger ones are degrees that lack their unit."""
    for angle in value:
        if abs(angle) > math.pi + 1e-9:
            raise ValueError(
                f"a pose is rotated by at most half a turn (3.1416 rad), got {angle:g} rad; write '{angle:g} deg' "
                "if degrees are meant"
            )
    return value


def _tensor(value: Any) -> Any:
    """Three principal values stand for a diagonal matrix."""
    value = list_of(3, "3 principal moments or 3 rows of 3 numbers")(value)
    if not any(isinstance(row, (list, tuple)) for row in value):
        x, y, z = value
        return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))
    return value


SYMMETRIC = 1e-12
"""Largest difference of opposite entries of an inertia tensor, relative to its largest entry."""
SQUARE = 1e-3
"""Cosine up to which the axes of a universal joint count as square, as printed with three digits."""


def _symmetric(value: Matrix3) -> Matrix3:
    matrix = np.array(value)
    if not np.allclose(matrix, matrix.T, rtol=0, atol=SYMMETRIC * np.abs(matrix).max(initial=1e-300)):
        raise ValueError(f"an inertia tensor must be symmetric, got {matrix.tolist()}")
    return value


def _rotation(value: Matrix3) -> Matrix3:
    """A rotation must be one to the rounding of its digits; the nearest one is taken (polar decomposition)."""
    matrix = np.array(value)
    # a column that is longer by e changes R^T R by 2 e
    if np.abs(matrix.T @ matrix - np.eye(3)).max() > 2 * ROUNDING or np.linalg.det(matrix) < 0:
        raise ValueError(
            f"not a rotation matrix: must have orthonormal columns and determinant +1, got {matrix.tolist()}"
        )
    left, _, right = np.linalg.svd(matrix)
    exact = left @ right
    if np.abs(exact - matrix).max() < 1e-14:  # above the rounding of the decomposition, as for directions
        return value
    x, y, z = (tuple(float(number) for number in row) for row in exact)
    return (x, y, z)  # type: ignore[return-value]


def _ordered(value: tuple[float, float]) -> tuple[float, float]:
    if not value[0] < value[1]:
        raise ValueError(f"the lower limit must come first, got {list(value)}; write {sorted(value)}")
    return value


def _unit(unit: str, form: str = "", **limits: Any) -> Any:
    """Schema of a quantity: its unit, and how it is written where its type does not say."""
    return Field(json_schema_extra={"unit": unit, **({"form": form} if form else {})}, **limits)


def rating(unit: str, form: str = "", **limits: Any) -> Any:
    """Schema of a rating, what a part stands at most: results are compared with it, no model function depends on it."""
    return Field(json_schema_extra={"unit": unit, "rating": "yes", **({"form": form} if form else {})}, **limits)


class FieldSchema(NamedTuple):
    """What the schema states of a field: its unit (empty if none), and whether it is a ``rating``."""

    unit: str
    rating: bool


@cache
def field_schemas(kind: type[BaseModel]) -> dict[str, FieldSchema]:
    """What the schema states of every field of a kind of data."""
    return {name: FieldSchema(unit_of(field), is_rating(field)) for name, field in kind.model_fields.items()}


def unit_of(field: FieldInfo) -> str:
    """Unit that the schema states for a field; empty if it states none."""
    return _entry(field, "unit")


def is_rating(field: FieldInfo) -> bool:
    """Whether a field is a ``rating``."""
    return _entry(field, "rating") == "yes"


def _entry(field: FieldInfo, key: str) -> str:
    """An entry of a field's schema, its own or that of its annotation; empty if there is none."""
    extra = field.json_schema_extra
    return str(extra[key]) if isinstance(extra, dict) and key in extra else _entry_in(field.annotation, key)


def _entry_in(annotation: Any, key: str) -> str:
    for part in getattr(annotation, "__metadata__", ()):
        if isinstance(part, FieldInfo) and _entry(part, key):
            return _entry(part, key)
    return next((text for part in get_args(annotation) if (text := _entry_in(part, key))), "")


def in_either(*units: str) -> Callable[[Any], Any]:
    """A validator of texts in any of several units, for fields whose unit depends on what moves."""

    def convert(value: Any) -> Any:
        for unit in units:
            value = in_si(value, unit)
        return value

    return convert


_TENSOR = _unit("kg m^2", "3 principal moments, or 3 rows of 3 numbers")
Position = Annotated[Triple, _unit("m")]
Acceleration = Annotated[Triple, _unit("m/s^2")]
Direction = Annotated[Triple, AfterValidator(_unit_vector), _unit("1")]
Rotation = Annotated[Matrix3, AfterValidator(_rotation), _unit("1")]
Tensor = Annotated[Matrix3, BeforeValidator(_tensor), AfterValidator(_symmetric), _TENSOR]
Mass = Annotated[Number, _unit("kg", ge=0)]
Moment = Annotated[Number, _unit("kg m^2", ge=0)]
Length = Annotated[Number, _unit("m", gt=0)]
Angle = Annotated[float, BeforeValidator(_angle), _unit("rad")]
Angles = Annotated[
    tuple[Angle, Angle, Angle], BeforeValidator(list_of(3, "3 angles")), AfterValidator(_half_turn), _unit("rad")
]
Range = Annotated[tuple[Number, Number], BeforeValidator(list_of(2, "2 numbers")), AfterValidator(_ordered), _unit("m")]
HalfAngle = Annotated[Angle, Field(gt=0, le=math.pi)]


class FrozenDict(dict[str, Any]):
    """A mapping of a robot's data that cannot be changed, since models keep it."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("robot data are immutable; make a modified copy with model_copy, or a new file")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


Frozen = AfterValidator(FrozenDict)
