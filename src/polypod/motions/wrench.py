"""External wrench on the platform over time: constant or a table, in base or platform axes, at a point."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, model_validator

from ..description.quantities import Data, Position
from ..errors import InputError
from ..trajectories import Motion
from .parts import Array, MaybeNumbers, MaybeTimes, folder_of
from .tables import table_field


class WrenchData(Data):
    """What acts on the platform besides gravity, [fx fy fz mx my mz].

    A constant ``value``, or ``values`` at ``times`` with straight lines between them (the first and the last hold
    outside), or a ``csv`` with the columns time, fx, fy, fz, mx, my, mz. The force acts at ``point`` of the platform
    frame; components are along the axes of ``frame``.
    """

    value: Annotated[MaybeNumbers, Field(json_schema_extra={"unit": "N, N m"})] = None
    times: MaybeTimes = None
    values: Annotated[MaybeNumbers, Field(json_schema_extra={"unit": "N, N m"})] = None
    csv: str | None = None
    frame: Literal["base", "platform"] = "base"
    point: Position = (0.0, 0.0, 0.0)
    _table: tuple[Array, Array] = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _one_way(cls, value: Any) -> Any:
        if isinstance(value, dict):
            given = [name for name in ("value", "values", "csv") if name in value]
            if len(given) != 1:
                got = " and ".join(given) or "none"
                raise ValueError(f"{given[-1] if given else 'value'}: one of value, values or csv is needed, got {got}")
            if ("times" in value) != ("values" in value):
                raise ValueError("times: times and values go together")
        return value

    @model_validator(mode="after")
    def _build(self, info: ValidationInfo) -> WrenchData:
        field = "csv" if self.csv else "value" if self.value is not None else "values"
        if self.csv is not None:
            _, times, rows = table_field(folder_of(info), self.csv)
        elif self.value is not None:
            times, rows = np.zeros(1), _array("value", [self.value])
        else:
            times, rows = _array("times", self.times), _array("values", self.values)
        if rows.ndim != 2 or rows.shape[1] != 6:
            got = f"{rows.shape[1]} columns" if rows.ndim == 2 else f"an array of shape {rows.shape}"
            raise InputError(f"{field}: six numbers fx fy fz mx my mz are needed in each row, got {got}")
        if times.shape != (len(rows),) or not (np.diff(times) > 0).all():
            raise InputError(f"times: one increasing time for each of {len(rows)} rows is needed, got {self.times}")
        if not np.isfinite(rows).all():
            raise InputError(f"{field}: finite numbers are needed")
        self._table = times, rows
        return self

    def at(self, motion: Motion) -> Array:
        """Wrench (n, 6) at the origin of {P} in base axes along a motion: [R f; R (p x f + m)]."""
        times, rows = self._table
        local = np.stack([np.interp(motion.time, times, column) for column in rows.T], axis=-1)
        axes = motion.pose[..., :3, :3]
        if self.frame == "platform":
            local = np.concatenate([_turned(axes, local[..., :3]), _turned(axes, local[..., 3:])], axis=-1)
        arm = axes @ np.array(self.point)
        moment = local[..., 3:] + np.cross(arm, local[..., :3])
        return np.concatenate([local[..., :3], moment], axis=-1)


def _array(name: str, value: Any) -> Array:
    try:
        return np.array(value, dtype=np.float64)
    except ValueError:
        counts = [len(row) if isinstance(row, list) else 1 for row in value]
        odd = next((k for k, count in enumerate(counts) if count != 6), None)
        got = str(value) if odd is None or name == "times" else f"{counts[odd]} in row {odd + 1}"
        wanted = "a list of numbers is" if name == "times" else "six numbers fx fy fz mx my mz in each row are"
        raise InputError(f"{name}: {wanted} needed, got {got}") from None


def _turned(axes: Array, vectors: Array) -> Array:
    result: Array = np.einsum("...ij,...j->...i", axes, vectors)
    return result


def _constant(value: Any) -> Any:
    if isinstance(value, (int, float, str)):
        raise ValueError(f"six numbers [fx, fy, fz, mx, my, mz] or a mapping with value, values or csv, got {value!r}")
    return {"value": value} if isinstance(value, (list, tuple)) else value


Wrench = Annotated[WrenchData, BeforeValidator(_constant)]
