"""Set-point tables for drives: time, coordinates, rates, accelerations and forces along a motion, at the drive's rate.

A row every 1/rate exactly, as a drive reads them. As CSV with units in the first line, or binary: the mark
``POLYPOD1``, the length of a text (unsigned 64-bit number), the text (JSON: robot, digest, motion, rate, rows, columns
with units; padded with blanks to a multiple of eight bytes), then the rows as doubles, all little-endian.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import AS_RIGID, InputError
from ..files import digest
from ..model import Model
from ..motion import MotionFile, Trajectory, find_motion
from ..tables import table

_MARK = b"POLYPOD1"
_QUANTITIES = ("q", "qdot", "qddot", "force")
MOST_ROWS = 10_000_000


@dataclass(frozen=True)
class SetPoints:
    """A table of set points.

    Attributes
    ----------
    robot, digest : str
        Name of the robot and digest of its data (``polypod.files.digest``).
    motion : str
        Name of the motion.
    rate : float
        Rows per second [Hz].
    columns : tuple of (str, str)
        Name and unit of each column: ``time``, then ``q``, ``qdot``, ``qddot`` and ``force`` of every actuator.
    rows : ndarray, shape (n, 1 + 4 k)
        The numbers.
    """

    robot: str
    digest: str
    motion: str
    rate: float
    columns: tuple[tuple[str, str], ...]
    rows: Array

    @property
    def time(self) -> Array:
        """Times (n,) [s]."""
        return self.rows[:, 0]

    def __getattr__(self, name: str) -> Array:
        if name not in _QUANTITIES:
            raise AttributeError(name)
        count = (self.rows.shape[1] - 1) // len(_QUANTITIES)
        first = 1 + count * _QUANTITIES.index(name)
        return self.rows[:, first : first + count]

    def csv(self) -> str:
        """The table as CSV; the first line has names and units.

        Returns
        -------
        str
            The text, numbers with all their digits.
        """
        return table("Set points", list(self.columns), [tuple(row) for row in self.rows.tolist()]).csv()

    def binary(self) -> bytes:
        """The table as binary data, doubles after a description.

        Returns
        -------
        bytes
            The data, see ``polypod.results.setpoints``.
        """
        about = {
            "robot": self.robot, "sha256": self.digest, "motion": self.motion, "rate": self.rate,
            "rows": len(self.rows), "columns": [list(column) for column in self.columns],
        }  # fmt: skip
        text = json.dumps(about).encode()
        text += b" " * (-len(text) % 8)
        return _MARK + np.uint64(len(text)).astype("<u8").tobytes() + text + self.rows.astype("<f8").tobytes()

    def content(self, path: Path) -> bytes | str:
        """What a file of that name holds: CSV or, for ``.bin``, binary data.

        Parameters
        ----------
        path : Path
            Name of the file.

        Returns
        -------
        bytes or str
            Its content.
        """
        if path.suffix not in (".csv", ".bin"):
            raise InputError(f"set points: a name that ends in .csv or .bin is needed, got {path.name!r}")
        return self.csv() if path.suffix == ".csv" else self.binary()


def setpoints(
    model: Model,
    motion: MotionFile | Trajectory | str | Path | None = None,
    rate: float = 1000.0,
    friction: bool = True,
) -> SetPoints:
    """Set points of all actuators along a motion, at the rate of their drives.

    A row every 1/rate from the beginning, the last at or after the end of the motion, where the robot then stands.

    Parameters
    ----------
    model : Model
        Model of the robot; its platform must be rigid.
    motion : MotionFile, Trajectory, str or Path, optional
        Motion: a motion file or its path, a trajectory or the name of a published motion. Default: the robot's own.
    rate : float, optional
        Rows per second [Hz].
    friction : bool, optional
        Whether forces include friction in the joints.

    Returns
    -------
    SetPoints
        Time, coordinates, rates, accelerations and forces.

    Raises
    ------
    StateError
        If the robot cannot make the motion.

    Examples
    --------
    >>> import polypod as pp
    >>> found = setpoints(pp.Model("kim-ryu"), "kim-ryu-circle", rate=500.0)
    >>> found.rows.shape, found.columns[7]
    ((751, 25), ('qdot leg1', 'm/s'))
    """
    if not np.isfinite(rate) or rate <= 0:
        raise InputError(f"rate: must be a finite number greater than 0 Hz, got {rate:g}")
    if model.robot.flexible:
        raise InputError(f"set points: the platform of {model.robot.name!r} is flexible; {AS_RIGID}", code="flexible")
    file = find_motion(model, motion)
    if file.base is not None or model.internal:
        what = "base that moves" if file.base is not None else "internal coordinates"
        raise InputError(f"set points: {file.name!r} has {what}, for which there is no table; use polypod.study")
    trajectory = file.trajectory.for_model(model)
    count = int(np.ceil(trajectory.duration * rate * (1 - 1e-12))) + 1
    if count > MOST_ROWS:
        raise InputError(f"rate: {rate:g} Hz over {trajectory.duration:g} s are {count} rows, more than {MOST_ROWS}")
    time = np.arange(count) / rate
    there = trajectory.at(np.minimum(time, trajectory.duration))
    wrench = None if file.wrench is None else file.wrench.at(there)
    at = there.pose, there.twist, there.acceleration
    q, qdot = model.inverse_kinematics(there.pose, errors="raise"), model.rates(*at[:2])
    force = model.inverse_dynamics(*at, wrench, friction, errors="raise")
    values = _continuous(model, q, qdot, 1 / rate), qdot, model.accelerations(*at), force
    actuators = model.actuators
    units = {
        "q": [a.unit for a in actuators], "qdot": [a.rate_unit for a in actuators],
        "qddot": [f"{a.unit}/s^2" for a in actuators], "force": [a.force_unit for a in actuators],
    }  # fmt: skip
    columns = [
        (f"{name} {a.name}", unit) for name in _QUANTITIES for a, unit in zip(actuators, units[name], strict=True)
    ]
    rows = np.column_stack([time, *values])
    return SetPoints(model.robot.name, digest(model.robot), file.name, float(rate), (("time", "s"), *columns), rows)


def _continuous(model: Model, q: Array, qdot: Array, step: float) -> Array:
    """Coordinates without jumps of whole turns between rows."""
    turns = np.array([a.unit == "rad" for a in model.actuators])
    jump = np.diff(q, axis=0) - 0.5 * step * (qdot[1:] + qdot[:-1])
    whole = np.where(turns, 2 * np.pi * np.round(jump / (2 * np.pi)), 0.0)
    return q - np.concatenate([np.zeros((1, len(turns))), np.cumsum(whole, axis=0)])


def read_setpoints(path: str | Path) -> SetPoints:
    """Read a binary table of set points.

    Parameters
    ----------
    path : str or Path
        File that ``SetPoints.binary`` wrote.

    Returns
    -------
    SetPoints
        The table.
    """
    data = Path(path).read_bytes()
    if data[:8] != _MARK or len(data) < 16:
        raise InputError(f"{path}: is not a binary table of set points; CSV tables can be read by any program")
    length = int(np.frombuffer(data, "<u8", 1, 8)[0])
    try:
        about: dict[str, Any] = json.loads(data[16 : 16 + length])
        columns = tuple((str(name), str(unit)) for name, unit in about["columns"])
        rows = np.frombuffer(data, "<f8", offset=16 + length).reshape(int(about["rows"]), len(columns)).astype(float)
    except (ValueError, KeyError) as error:
        raise InputError(f"{path}: the table of set points is damaged or incomplete; write it again") from error
    return SetPoints(about["robot"], about["sha256"], about["motion"], float(about["rate"]), columns, rows)
