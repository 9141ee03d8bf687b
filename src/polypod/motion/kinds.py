"""Kinds: classes that are the checked data of a part of a motion file and, at once, what the part stands for.

There is one list of kinds for each family (time laws, paths, trajectories, wrenches). A new kind is one class with the
line ``kind: Literal["name"] = "name"``, which puts it on the list of its family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, ValidationError, ValidationInfo, WithJsonSchema, model_validator
from pydantic_core import PydanticUndefined

from ..description.quantities import Data
from ..errors import InputError, UnknownNameError, short_repr
from ..files.faults import validation_faults

_FAMILIES: dict[str, dict[str, type[Any]]] = {}


def family_of(kind: str) -> str:
    """What a kind is a kind of (``path``, ``trajectory``, ...); empty if no family has it."""
    return next((what for what, registry in _FAMILIES.items() if kind in registry), "")


class Kind(Data):
    """A part of a motion with a ``kind``.

    A family is a subclass with a ``registry`` of its own; the kinds of a family are the subclasses that state their
    ``kind``. ``prepare`` works out what the fields stand for when they are read, so that what it refuses is a fault of
    the file, at its line; from Python it is an InputError.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    registry: ClassVar[dict[str, type[Any]]] = {}
    what: ClassVar[str] = "part"

    def __init__(self, /, **fields: Any) -> None:
        try:
            self.__pydantic_validator__.validate_python(fields, self_instance=self)
        except ValidationError as error:
            faults = validation_faults(error, fields, None, type(self))
            raise InputError("; ".join(map(str, faults))) from error

    # Marks an __init__ that only validates, as pydantic's own: without it pydantic calls this one for every part of a
    # file, and a fault of a part loses its place in the file, and the folder that relative names start from.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def __pydantic_init_subclass__(cls, **options: Any) -> None:
        super().__pydantic_init_subclass__(**options)
        field = cls.model_fields.get("kind")
        if field is None or field.default is PydanticUndefined:
            return
        old = cls.registry.get(field.default)
        if old is not None and (old.__module__, old.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.what} kind {field.default!r} is already {old.__module__}.{old.__qualname__}")
        cls.registry[field.default] = cls
        _FAMILIES.setdefault(cls.what, cls.registry)

    def __eq__(self, other: object) -> bool:
        """Whether the fields are equal; what was worked out from them, lazily or not, is then equal too."""
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in type(self).model_fields
        )

    @model_validator(mode="after")
    def _prepared(self, info: ValidationInfo) -> Kind:
        self.prepare(FilePath((info.context or {}).get("folder", ".")))
        return self

    def prepare(self, folder: FilePath) -> None:
        """Compute what the fields stand for; called once, when the object is made.

        Parameters
        ----------
        folder : str or Path
            Folder from which relative names of files start.
        """


@dataclass(frozen=True)
class Family:
    """What a field that holds a kind of a family is read by; it stands in the field's annotation.

    ``accepted`` instances are taken as they are; ``read`` turns short forms into mappings; ``elsewhere`` says where a
    kind that is unknown here belongs, if anywhere.
    """

    base: type[Kind]
    accepted: type[Any]
    read: Callable[[Any], Any] = lambda value: value
    elsewhere: Callable[[str], str] = lambda kind: ""

    def parse(self, value: Any, info: ValidationInfo) -> Any:
        """The kind that a mapping stands for."""
        if isinstance(value, self.accepted):
            return value
        value, known, what = self.read(value), tuple(sorted(self.base.registry)), self.base.what
        if not isinstance(value, dict):
            raise ValueError(f"a {what} must be a mapping with a 'kind' ({', '.join(known)}), got {short_repr(value)}")
        kind = value.get("kind")
        if kind is None:
            raise ValueError(f"kind: missing: a {what} needs one of {', '.join(known)}")
        if not isinstance(kind, str) or kind not in known:
            belongs = self.elsewhere(str(kind))
            unknown = UnknownNameError(f"{what} kind", str(kind), known)
            raise ValueError(f"kind: {kind} is {belongs}" if belongs else f"kind: {unknown}")
        return self.base.registry[kind].model_validate(value, context=info.context)

    def class_of(self, value: Any) -> type[Data] | None:
        """The kind that a mapping names, None if there is none; the base of all kinds if it is no mapping."""
        try:
            return self.base.registry.get(str(self.read(value).get("kind")))
        except (ValueError, AttributeError):
            return self.base


def same_parts(one: Any, other: Any) -> bool:
    """Whether two parts of motions are surely the same: one object, or equal fields; what a program can change is not.

    Of a table the fields say the file only: it may have other rows by now.
    """
    return (one is other and _immutable(one, tables=True)) or (one == other and _immutable(one, tables=False))


def _immutable(value: Any, tables: bool) -> bool:
    """Whether nothing of a value can change, and it has no table unless they are allowed."""
    if isinstance(value, Data):
        read = getattr(value, "csv", None) is not None
        fields = (getattr(value, name) for name in type(value).model_fields)
        return (tables or not read) and all(_immutable(part, tables) for part in fields)
    if isinstance(value, tuple):
        return all(_immutable(part, tables) for part in value)
    return value is None or isinstance(value, (str, float, int))


def any_of(family: Family) -> Any:
    """What makes a field hold any kind of a family: goes into its annotation."""
    return BeforeValidator(family.parse), family, WithJsonSchema({"form": family.base.what})
