"""External wrench on the platform over time: constant or a table, in base or platform axes, at a point."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar, Literal

import casadi as ca
import numpy as np
from pydantic import PrivateAttr

from ..arrays import Array
from ..description.file_names import FileName
from ..description.quantities import Position
from ..errors import InputError
from ..symbols.vectors import cross
from .contract import Motion
from .fields import MaybeTimes, MaybeWrenches, MotionColumn, Wrenches, check_written
from .kinds import Family, Kind, any_of
from .tables import TimeTable, read_table

COLUMNS = (
    *(MotionColumn(name, "force") for name in ("fx", "fy", "fz")),
    *(MotionColumn(name, "moment") for name in ("mx", "my", "mz")),
)


class Wrench(Kind):
    """What acts on the platform besides gravity, [fx fy fz mx my mz]; a kind defines ``components``.

    The force acts at ``point`` of the platform frame; components are along the axes of ``frame``.
    """

    registry: ClassVar[dict[str, type[Any]]] = {}
    what: ClassVar[str] = "wrench"
    frame: Literal["base", "platform"] = "base"
    point: Position = (0.0, 0.0, 0.0)

    piecewise_linear: ClassVar[bool] = False
    """Whether components change linearly between the breaks."""

    @abstractmethod
    def components(self, time: Array) -> Array:
        """Force and moment at the wrench's ``point`` along the axes of its ``frame``.

        Parameters
        ----------
        time : ndarray, shape (...)
            Times [s].

        Returns
        -------
        ndarray, shape (..., 6)
            Components [f; m], in N and N m.
        """

    @property
    def breaks(self) -> Array:
        """Times (m,) [s] where the wrench or its rate jumps, which samples must include."""
        return np.zeros(0)

    def on_clock(self, start: float, duration: float) -> Wrench:
        """The wrench for a motion whose tables start at another time.

        Parameters
        ----------
        start : float
            What the clock of the tables shows at the start of the motion [s].
        duration : float
            Duration of the motion [s].

        Returns
        -------
        Wrench
            The wrench, shifted by that time.
        """
        return self

    def at(self, motion: Motion) -> Array:
        """Wrench at the origin of {P} in base axes along a motion: [R f; R (p x f + m)].

        Parameters
        ----------
        motion : Motion
            Motion of the platform.

        Returns
        -------
        ndarray, shape (..., 6)
            Wrench [f; m], in N and N m.
        """
        local = self.components(motion.time)
        axes = motion.pose[..., :3, :3]
        if self.frame == "platform":
            local = np.concatenate([_rotated(axes, local[..., :3]), _rotated(axes, local[..., 3:])], axis=-1)
        arm = axes @ np.array(self.point)
        moment = local[..., 3:] + np.cross(arm, local[..., :3])
        return np.concatenate([local[..., :3], moment], axis=-1)

    def symbolic(self, components: ca.SX, axes: ca.SX) -> ca.SX:
        """Wrench at the origin of {P} in base axes, in symbols.

        Parameters
        ----------
        components : casadi.SX, shape (6,)
            Components at ``point`` along the axes of ``frame``.
        axes : casadi.SX, shape (3, 3)
            Axes of the platform in {B}.

        Returns
        -------
        casadi.SX, shape (6,)
            Wrench [f; m].
        """
        f, m = components[:3], components[3:]
        if self.frame == "platform":
            f, m = axes @ f, axes @ m
        return ca.vertcat(f, m + cross(axes @ ca.DM(self.point), f))


class ConstantWrench(Wrench):
    """The same ``value`` all the time. A wrench that is a list of six numbers is one.

    The force acts at ``point`` of the platform frame; components are along the axes of ``frame``.
    """

    piecewise_linear: ClassVar[bool] = True
    kind: Literal["constant"] = "constant"
    value: Wrenches

    def prepare(self, folder: FilePath) -> None:
        _rows("value", [self.value])

    def components(self, time: Array) -> Array:
        return np.broadcast_to(np.array(self.value), (*time.shape, 6))


class WrenchTable(Wrench):
    """``values`` at ``times`` with straight lines between them; the first and the last hold outside.

    Or from a ``csv`` with the columns time, fx, fy, fz, mx, my, mz. The force acts at ``point`` of the platform frame;
    components are along the axes of ``frame``.
    """

    piecewise_linear: ClassVar[bool] = True
    kind: Literal["table"] = "table"
    times: MaybeTimes = None
    values: MaybeWrenches = None
    csv: FileName | None = None
    _table: TimeTable | None = PrivateAttr(None)
    _times: Array = PrivateAttr()
    _rows: Array = PrivateAttr()

    def prepare(self, folder: FilePath) -> None:
        written = [name for name in ("times", "values") if getattr(self, name) is not None]
        if self.csv is not None and written:
            raise InputError(f"csv: give csv or {written[0]}, not both")
        if self.csv is not None:
            self._table = read_table(folder, self.csv).select(COLUMNS)
            self._times, self._rows = self._table.times + self._table.start, self._table.values
            return
        if len(written) != 2:
            raise InputError("times: times and values must be given together")
        self._times, self._rows = _array("times", self.times), _rows("values", self.values)
        if self._times.shape != (len(self._rows),) or not (np.diff(self._times) > 0).all():
            count = len(self._rows)
            raise InputError(f"times: must be {count} increasing times, one per row, got {self.times}")

    @property
    def breaks(self) -> Array:
        return self._times

    def on_clock(self, start: float, duration: float) -> Wrench:
        wrench = self.model_copy()
        if self._table is not None:
            wrench._times = self._table.times + (self._table.start - start)
        first, last = float(wrench._times[0]), float(wrench._times[-1])
        if first > duration or last < 0.0:
            since = "" if start == 0.0 or self._table is None else f" (the motion's table starts at {start:.12g} s)"
            field = "times" if self._table is None else f"csv: {self.csv}"
            raise InputError(
                f"{field}: the motion lasts from 0 to {duration:.12g} s, the wrench from {first:.12g} to "
                f"{last:.12g} s{since}; tables of one motion share one clock"
            )
        return wrench

    def components(self, time: Array) -> Array:
        return np.stack([np.interp(time, self._times, column) for column in self._rows.T], axis=-1)


def _rows(name: str, value: Any) -> Array:
    """Rows (n, 6) of forces and moments."""
    check_written(name, value, COLUMNS)
    rows = _array(name, value)
    if rows.ndim != 2 or rows.shape[1] != 6:
        got = f"{rows.shape[1]} columns" if rows.ndim == 2 else f"an array of shape {rows.shape}"
        raise InputError(f"{name}: six numbers fx fy fz mx my mz are needed in each row, got {got}")
    if not np.isfinite(rows).all():
        raise InputError(f"{name}: must be finite")
    return rows


def _array(name: str, value: Any) -> Array:
    try:
        return np.array(value, dtype=np.float64)
    except ValueError:
        counts = [len(row) if isinstance(row, tuple) else 1 for row in value]
        odd = next((k for k, count in enumerate(counts) if count != 6), None)
        got = str(value) if odd is None or name == "times" else f"{counts[odd]} in row {odd + 1}"
        wanted = "a list of numbers is" if name == "times" else "six numbers fx fy fz mx my mz in each row are"
        raise InputError(f"{name}: {wanted} needed, got {got}") from None


def _rotated(axes: Array, vectors: Array) -> Array:
    result: Array = np.einsum("...ij,...j->...i", axes, vectors)
    return result


def _short_form(value: Any) -> Any:
    """Six numbers are a constant wrench; a mapping without a kind is the one whose fields it has."""
    if isinstance(value, (int, float, str)):
        raise ValueError(f"six numbers [fx, fy, fz, mx, my, mz] or a mapping with value, values or csv, got {value!r}")
    if isinstance(value, (list, tuple, np.ndarray)):
        return {"kind": "constant", "value": value}
    if not isinstance(value, dict) or "kind" in value:
        return value
    given = [name for name in ("value", "values", "csv") if name in value]
    if len(given) != 1:
        got = " and ".join(given) or "none"
        raise ValueError(f"{given[-1] if given else 'value'}: one of value, values or csv is needed, got {got}")
    if ("times" in value) != ("values" in value):
        raise ValueError("times: times and values must be given together")
    return {"kind": "constant" if "value" in value else "table", **value}


AnyWrench = Annotated[Wrench, *any_of(Family(Wrench, Wrench, _short_form))]
