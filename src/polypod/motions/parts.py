"""What the parts of a motion file share: registers by ``kind``, lists of numbers, tables from CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, ConfigDict, Field, ValidationInfo

from ..description.quantities import Data, angle_text
from ..errors import UnknownNameError

Array = NDArray[np.float64]
Built = TypeVar("Built")


def _numbers(value: Any) -> Any:
    """Numbers in lists of any depth; an angle may be written ``15 deg``."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (list, tuple)):
        return [_numbers(item) for item in value]
    if isinstance(value, str):
        return angle_text(value, "a number or an angle such as '15 deg' is needed")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"numbers are needed, got {value!r}")
    return float(value)


def _numbers_or_none(value: Any) -> Any:
    return None if value is None else _numbers(value)


Numbers = Annotated[Any, BeforeValidator(_numbers), Field(json_schema_extra={"unit": "m, rad"})]
Velocities = Annotated[Any, BeforeValidator(_numbers), Field(json_schema_extra={"unit": "m/s, rad/s"})]
Accelerations = Annotated[Any, BeforeValidator(_numbers), Field(json_schema_extra={"unit": "m/s^2, rad/s^2"})]
Phases = Annotated[Any, BeforeValidator(_numbers), Field(json_schema_extra={"unit": "rad"})]
Coefficients = Annotated[Any, BeforeValidator(_numbers), Field(json_schema_extra={"unit": "m/s^j, rad/s^j"})]
Seconds = Annotated[float, Field(json_schema_extra={"unit": "s"})]
Times = Annotated[Any, BeforeValidator(_numbers), Field(json_schema_extra={"unit": "s"})]
MaybeNumbers = Annotated[Any, BeforeValidator(_numbers_or_none), Field(json_schema_extra={"unit": "m, rad"})]
MaybeTimes = Annotated[Any, BeforeValidator(_numbers_or_none), Field(json_schema_extra={"unit": "s"})]


class Part(Data, Generic[Built]):
    """A part with a ``kind``; subclass with ``kind="name"`` and say in ``build`` what it stands for.

    It is built when it is read, so that what the trajectories refuse is a fault of the file, at its line.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    registry: ClassVar[dict[str, type[Part[Any]]]]
    what: ClassVar[str] = "part"
    kind: str = ""

    def __init_subclass__(cls, kind: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if kind is not None:
            cls.registry[kind] = cls


def parser(base: type[Part[Any]], elsewhere: Callable[[str], str] = lambda kind: "") -> Callable[..., Any]:
    """A validator that reads a part by its ``kind``; ``elsewhere`` says where an unknown kind belongs, if anywhere."""

    def parse(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, base):
            return value
        known = tuple(base.registry)
        if not isinstance(value, dict):
            raise ValueError(f"a {base.what} is a mapping with a 'kind' ({', '.join(known)}), got {value!r}")
        kind = value.get("kind")
        if kind is None:
            raise ValueError(f"kind: missing: a {base.what} needs one of {', '.join(known)}")
        if not isinstance(kind, str) or kind not in base.registry:
            belongs = elsewhere(str(kind))
            if belongs:
                raise ValueError(f"kind: {kind} is {belongs}")
            raise ValueError(f"kind: {UnknownNameError(f'{base.what} kind', str(kind), known)}")
        return base.registry[kind].model_validate(value, context=info.context)

    return parse


def folder_of(info: ValidationInfo) -> Path:
    """The folder that a file's relative paths start from."""
    return Path((info.context or {}).get("folder", "."))


__all__ = [
    "Accelerations",
    "Coefficients",
    "MaybeNumbers",
    "MaybeTimes",
    "Numbers",
    "Part",
    "Phases",
    "Seconds",
    "Times",
    "Velocities",
    "folder_of",
    "parser",
]
