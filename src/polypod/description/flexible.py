"""Platforms by their kind: a rigid body, or one that bends in the modes of a plate or of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

from ..arrays import Array
from ..errors import InputError, UnknownNameError, short_repr
from ..yaml12 import Loader
from .body import Body
from .file_names import check_inside
from .modes import Integrals, Modes, Plate, load_modes
from .modes.files import parse_modes, to_text
from .modes.plate import distance
from .quantities import Data, Length, Mass, Number

KINDS = ("rigid", "flexible")
# Points of modes and legs come from different files; a ten-thousandth of the platform's size is the same point.
_SAME_POINT = 1e-4


def _pair(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return value
    raise ValueError(f"a corner must be 2 numbers [x, y] in the plane of the plate, got {short_repr(value)}")


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"must be an integer, got {value!r}")
    return value


Corner = Annotated[tuple[Number, Number], BeforeValidator(_pair)]


class PlateData(Data):
    """A thin plate of uniform thickness in the plane z = 0 of the platform frame; the legs are attached to it.

    ``outline`` are the vertices [x, y] of a simple polygon, the first not repeated. ``modes`` is the number of
    free bending modes, ``damping_ratio`` that of each.
    """

    outline: Annotated[tuple[Corner, ...], Field(json_schema_extra={"unit": "m"})]
    thickness: Length
    young: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "Pa"})]
    poisson: Annotated[Number, Field(gt=-1, lt=0.5, json_schema_extra={"unit": "1"})]
    density: Annotated[Number, Field(gt=0, json_schema_extra={"unit": "kg/m^3"})]
    modes: Annotated[int, BeforeValidator(_whole), Field(ge=1, le=100)] = 10
    damping_ratio: Annotated[Number, Field(ge=0, json_schema_extra={"unit": "1"})] = 0.0

    @model_validator(mode="after")
    def _a_polygon(self) -> PlateData:
        self.plate.moments()
        return self

    @property
    def plate(self) -> Plate:
        """The plate itself."""
        return Plate(np.array(self.outline), self.thickness, self.young, self.poisson, self.density)


def _read_modes(value: Any, info: ValidationInfo) -> Modes:
    if isinstance(value, Modes):
        return value
    if isinstance(value, str):
        folder = (info.context or {}).get("folder")
        if folder is not None:  # only files are read with a folder; a program may name any path
            check_inside(value, Path(folder))
        try:
            return load_modes(Path(folder or ".") / value)
        except InputError as error:
            raise InputError(f"the mode file {error}") from error
    if isinstance(value, dict):
        return parse_modes(value)
    raise ValueError(f"must be the path or the content of a mode file, got {value!r}")


_LOOKS = ("radius", "shapes")
"""Fields of a body that a flexible platform may state, too."""


class FlexiblePlatform(Body):
    """A flexible platform: ``plate``, whose modes are computed, or ``modes``, a mode file next to the robot file.

    Mass, centre of mass and inertia are those of the undeformed body and are computed from either.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kind: Literal["flexible"] = "flexible"
    mass: Mass = 0.0
    plate: PlateData | None = None
    modes: Annotated[Modes | None, PlainValidator(_read_modes), WithJsonSchema({"type": "string"})] = Field(
        default=None, validate_default=False
    )

    @classmethod
    def file_fields(cls) -> tuple[str, ...]:
        """Its inertia is not given but follows."""
        return ("kind", "plate", "modes", *_LOOKS)

    @model_validator(mode="after")
    def _undeformed(self) -> FlexiblePlatform:
        """Fill in the undeformed body."""
        for name in Body.model_fields:
            if name in self.model_fields_set and name not in _LOOKS:
                raise ValueError(
                    f"{name}: is computed from the plate or the modes of a flexible platform; leave it out"
                )
        if (self.plate is None) == (self.modes is None):
            got = "neither" if self.plate is None else "both"
            raise ValueError(f"a flexible platform needs either a plate or modes (a mode file), got {got}")
        self._complete(**self._inertia())
        return self

    def _inertia(self) -> dict[str, Any]:
        if self.plate is not None:
            mass, first, second = self.plate.plate.moments()
        else:
            assert self.modes is not None
            integrals = Integrals.of(self.modes)
            mass, first, second = integrals.mass, integrals.first, integrals.second
        if not mass > 0:
            raise ValueError("modes: the nodes have no mass")
        tensor = np.trace(second) * np.eye(3) - second
        return {"mass": mass, "com": _numbers(first / mass), "inertia": tuple(map(_numbers, tensor)), "about": "origin"}

    @model_serializer(mode="plain")
    def _source(self) -> dict[str, Any]:
        """What a file says of it; modes as a mode file holds them."""
        looks: dict[str, Any] = {} if self.radius is None else {"radius": self.radius}
        if self.shapes is not None:
            looks["shapes"] = [shape.model_dump(mode="json") for shape in self.shapes]
        if self.plate is not None:
            return {"kind": self.kind, "plate": self.plate.model_dump(mode="json", exclude_defaults=True), **looks}
        assert self.modes is not None
        return {"kind": self.kind, "modes": Loader(to_text(self.modes)).get_single_data(), **looks}

    def attachment_faults(self, names: list[str], points: Array) -> list[str]:
        """Why the attachment points (l, 3) [m] in {P} of the legs named are not where the platform can hold them."""
        if self.plate is not None:
            edge = self.plate.plate.outline
            gaps = distance(points[:, :2], edge)
            most = 1e-6 * float(np.ptp(edge, axis=0).max())
            return [
                f"the platform joint {point.tolist()} of {name} is {gap:.4g} m outside the plate's outline; "
                "move the joint, or a corner of the outline"
                for name, point, gap in zip(names, points, gaps, strict=True)
                if gap > most
            ]
        assert self.modes is not None
        ends = self.modes.attachments
        if len(ends) != len(points):
            return [f"{len(points)} attachment points are needed, one per leg, got {len(ends)}"]
        gaps = np.linalg.norm(points - ends, axis=1)
        return [
            f"attachment point {end.tolist()} is {gap:.3g} m from the platform joint of {name} {point.tolist()}; was "
            "the joint moved, or are the points not in the order of the legs?"
            for name, point, end, gap in zip(names, points, ends, gaps, strict=True)
            if gap > _SAME_POINT * float(np.abs(points).max())
        ]


def parse_platform(value: Any, info: ValidationInfo) -> Any:
    """A platform by its ``kind``; a rigid body if it names none."""
    if isinstance(value, Body):
        return value
    if not isinstance(value, dict):
        return Body.model_validate(value)
    if "kind" not in value and {"plate", "modes"} & set(value):
        raise ValueError("kind: missing: write 'kind: flexible' for a platform with a plate or modes")
    kind = value.get("kind", "rigid")
    if kind == "rigid":
        return Body.model_validate({name: item for name, item in value.items() if name != "kind"}, context=info.context)
    if kind != "flexible":
        raise ValueError(f"kind: {UnknownNameError('platform kind', str(kind), KINDS)}")
    return FlexiblePlatform.model_validate(value, context=info.context)


def _numbers(row: Any) -> tuple[float, ...]:
    return tuple(float(number) for number in row)
