"""Logs of a robot: time, actuated coordinates, forces or currents, perhaps the platform's pose.

A CSV file names its columns ``time``, then for every actuator ``NAME.q`` and ``NAME.force`` (or ``NAME.current``),
each with a unit in brackets: ``leg1.q [mm]``, ``leg1.force [N]``. A pose, if measured, is ``x, y, z`` and the angles
``a1, a2, a3`` in the order of the robot's ``euler``. Results of studies and simulations are logs too (xarray).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from ..arrays import Array
from ..description.quantities import LARGEST_NUMBER
from ..errors import InputError
from ..model import Model
from ..motion import MotionFile, Trajectory
from ..motion.tables import TimeTable, check_unit, read_table

if TYPE_CHECKING:
    import xarray as xr


SLOWEST = 1.0
"""Samples farther apart [s] show no motion of a robot."""
GAP = 3.0
"""A step of time longer than this many usual ones is a gap."""
JUMP, LEAST_JUMP = 30.0, 1e-3
"""A coordinate jumps by this many times its usual unevenness, and by this part of its range at least."""
_POSE = ("x", "y", "z", "a1", "a2", "a3")


@dataclass(frozen=True)
class Log:
    """Measured coordinates and forces of a robot over time, in SI units.

    Attributes
    ----------
    name : str
        Name of the log.
    time : ndarray, shape (n,)
        Times [s].
    q : ndarray, shape (n, a)
        Actuated coordinates [m or rad].
    force : ndarray, shape (n, a)
        Actuator forces [N or N m].
    pose : ndarray, shape (n, 4, 4), or None
        Poses of {P} in {B}, if measured.
    good : ndarray of bool, shape (n, a)
        Samples of forces to use.
    starts : tuple of int
        First samples of stretches without a gap or jump.
    notes : tuple of str
        Remarks.
    """

    name: str
    time: Array
    q: Array
    force: Array
    pose: Array | None = None
    good: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    starts: tuple[int, ...] = (0,)
    notes: tuple[str, ...] = ()

    @property
    def stretches(self) -> list[slice]:
        """Samples of every stretch."""
        return [slice(a, b) for a, b in zip(self.starts, (*self.starts[1:], len(self.time)), strict=True)]

    def noted(self, *texts: str) -> Log:
        """The log with further remarks.

        Parameters
        ----------
        *texts : str
            The remarks.

        Returns
        -------
        Log
            The log.
        """
        return replace(self, notes=(*self.notes, *texts))


def read_log(
    model: Model, source: str | Path | xr.Dataset, constants: ArrayLike | Mapping[str, float] | None = None
) -> Log:
    """Read and check a log of a robot.

    Parameters
    ----------
    model : Model
        Model of the robot.
    source : str, Path or xarray.Dataset
        CSV file, or labelled dataset with ``time``, ``q`` and ``force``.
    constants : float, array_like or mapping of str to float, optional
        Factors from currents to forces [N/A or N m/A]: one number, one for each actuator, or by name.

    Returns
    -------
    Log
        The log.
    """
    if hasattr(source, "data_vars"):
        return checked(_of_dataset(model, source), [a.name for a in model.actuators])
    path = Path(source)
    wanted = {f"{a.name}.{what}" for a in model.actuators for what in ("q", "force", "current")}
    table = read_table(path.parent, path.name, wanted | set(_POSE))
    return checked(_of_table(model, table, constants), [a.name for a in model.actuators])


def _of_dataset(model: Model, data: Any) -> Log:
    missing = [name for name in ("time", "q", "force") if name not in data.variables]
    if missing:
        raise InputError(f"log: a dataset with time, q and force is needed, {missing[0]} is missing")
    names = [a.name for a in model.actuators]
    given = [str(n) for n in data["actuator"].values] if "actuator" in data.coords else names
    if sorted(given) != sorted(names):
        raise InputError(f"log: the actuators must be {', '.join(names)}, got {', '.join(given)}")
    order = [given.index(n) for n in names]
    columns = [data[k].transpose("time", ...).values[:, order].astype(float) for k in ("q", "force")]
    pose = data["pose"].values.astype(float) if "pose" in data.variables else None
    return Log(str(data.attrs.get("name", data.attrs.get("motion", "log"))), data["time"].values.astype(float),
               columns[0], columns[1], pose)  # fmt: skip


def _of_table(model: Model, table: TimeTable, constants: Any) -> Log:
    columns = {column.name: (column.quantity, table.values[:, k]) for k, column in enumerate(table.columns)}
    unknown = list(table.others)
    q, force = [], []
    factors = _constants(model, constants)
    for k, a in enumerate(model.actuators):
        if f"{a.name}.q" not in columns:
            raise InputError(_missing(table, f"{a.name}.q", unknown, a.unit))
        q.append(_taken(table, columns, f"{a.name}.q", "angle" if a.unit == "rad" else "length"))
        own = "force" if a.force_unit == "N" else "moment"
        if f"{a.name}.force" in columns and columns[f"{a.name}.force"][0] != "current":
            force.append(_taken(table, columns, f"{a.name}.force", own))
            continue
        current = next((c for c in (f"{a.name}.current", f"{a.name}.force") if c in columns), None)
        if current is None:
            raise InputError(_missing(table, f"{a.name}.force", unknown, a.force_unit))
        if factors is None:
            raise InputError(
                f"log: {table.name}: column {current!r} is a current; its force needs the drive's constant "
                f"[{a.force_unit}/A]: pass constants=",
                code="no_constant",
            )
        force.append(_taken(table, columns, current, "current") * factors[k])
    pose = None
    if all(c in columns for c in _POSE):
        position = np.stack([_taken(table, columns, c, "length") for c in _POSE[:3]], axis=1)
        angles = np.stack([_taken(table, columns, c, "angle") for c in _POSE[3:]], axis=1)
        known: NDArray[np.bool_] = np.asarray(np.isfinite(angles).all(axis=1))
        pose = np.tile(np.eye(4), (len(position), 1, 1))
        pose[:, :3, 3] = np.where(known[:, None], position, np.nan)
        pose[known, :3, :3] = Rotation.from_euler(model.robot.euler, angles[known]).as_matrix()
    else:
        unknown += [c for c in _POSE if c in columns]  # a part of a pose is none
    log = Log(table.name, table.times, np.stack(q, axis=1), np.stack(force, axis=1), pose)
    whole = np.isfinite(log.q).all(axis=1) & (True if pose is None else np.isfinite(pose).all(axis=(1, 2)))
    if not whole.all():
        log = replace(
            log,
            time=log.time[whole],
            q=log.q[whole],
            force=log.force[whole],
            pose=None if pose is None else pose[whole],
        ).noted(f"{int((~whole).sum())} rows with missing coordinates are left out")
    return log.noted(f"columns not used: {', '.join(unknown)}") if unknown else log


def _taken(table: TimeTable, columns: dict[str, tuple[str, Array]], name: str, quantity: str) -> Array:
    stated, values = columns[name]
    check_unit(f"log: {table.name}", name, stated, quantity)
    return values


def _missing(table: TimeTable, name: str, unknown: list[str], unit: str) -> str:
    also = f"; unknown columns: {', '.join(unknown)}" if unknown else ""
    return f"log: {table.name}: column '{name} [{unit}]' is missing{also}"


def _constants(model: Model, given: Any) -> Array | None:
    if given is None:
        return None
    names = [a.name for a in model.actuators]
    if isinstance(given, Mapping):
        missing = [n for n in names if n not in given]
        if missing:
            raise InputError(f"constants: one per actuator is needed, {missing[0]} is missing")
        given = [given[n] for n in names]
    values = np.asarray(given, dtype=float)
    if values.ndim > 1 or values.size not in (1, len(names)) or not (np.isfinite(values) & (values != 0)).all():
        raise InputError(f"constants: must be one non-zero number or {len(names)}, got {given!r}")
    return np.broadcast_to(values.ravel(), (len(names),))


def _named(names: Sequence[str], k: int) -> str:
    return names[k] if names else f"actuator {k + 1}"


def checked(log: Log, names: Sequence[str] = ()) -> Log:
    """A log with its gaps, jumps and saturated forces found and said; errors for what is no log.

    ``names`` are those of the actuators, for what is said.
    """
    n, actuators = log.q.shape
    if log.force.shape != log.q.shape or log.time.shape != (n,):
        raise InputError(
            f"log: {log.name}: time (n,), q and force (n, {actuators}) are needed, got {log.time.shape}, {log.q.shape} "
            f"and {log.force.shape}"
        )
    if n < 50:
        raise InputError(f"log: {log.name}: {n} samples are too few; at least a second of motion at 100 Hz is needed")
    if not (np.isfinite(log.q).all() and np.isfinite(log.time).all()):
        raise InputError(
            f"log: {log.name}: times and coordinates must be finite; leave out rows without them", code="not_finite"
        )
    for what, values in (("coordinates", log.q), ("forces", log.force), ("times", log.time)):
        if np.nanmax(np.abs(values), initial=0.0) > LARGEST_NUMBER:
            got = f"{np.nanmax(np.abs(values)):.4g}"
            raise InputError(f"log: {log.name}: {what} must be at most {LARGEST_NUMBER:g} in SI units, got {got}")
    steps = np.diff(log.time)
    if not (steps > 0).all():
        late = int(np.flatnonzero(~(steps > 0))[0]) + 1
        raise InputError(f"log: {log.name}: time must increase, got {log.time[late]:.9g} s after "
                         f"{log.time[late - 1]:.9g} s (sample {late})")  # fmt: skip
    usual = float(np.median(steps))
    if usual > SLOWEST:
        raise InputError(
            f"log: {log.name}: samples are {usual:.4g} s apart, too far to show the motion; 100 samples per "
            "second are needed: times in ms, us or ns need their unit in the header, such as 'time [ms]'"
        )
    notes, breaks = list(log.notes), set()
    gaps = np.flatnonzero(steps > GAP * usual)
    if len(gaps):
        breaks.update((gaps + 1).tolist())
        longest = int(gaps[np.argmax(steps[gaps])])
        notes.append(
            f"{len(gaps)} {'gap' if len(gaps) == 1 else 'gaps'} in time, the longest {steps[longest]:.4g} s at "
            f"{log.time[longest]:.4g} s (samples are {usual:.4g} s apart): the log is split there"
        )
    jumps = _jumps(log.q, steps, gaps)
    if len(jumps):
        breaks.update((jumps[:, 0] + 1).tolist())
        row, k = jumps[0]
        notes.append(
            f"{len(jumps)} {'jump' if len(jumps) == 1 else 'jumps'} of coordinates, the first of "
            f"{_named(names, k)} by {log.q[row + 1, k] - log.q[row, k]:.3g} at {log.time[row + 1]:.4g} s: the log "
            "is split there; if a sensor has slipped, later values are wrong"
            + ("; if the clock jitters, record when samples were really taken" if len(jumps) > 2 else "")
        )
    good = np.isfinite(log.force)
    if not good.all():
        notes.append(f"{int((~good).sum())} missing values of forces: not used")
    dead = np.array([own.any() and np.ptp(row[own]) == 0.0 for row, own in zip(log.force.T, good.T, strict=True)])
    if dead.all():
        raise InputError(f"log: {log.name}: no force changes in the whole log: is anything connected?")
    if dead.any():
        listed = ", ".join(_named(names, int(k)) for k in np.flatnonzero(dead))
        notes.append(f"forces of {listed} are constant in the whole log: not used; is the channel connected?")
        good = good & ~dead
    saturated = clipped(log.force) & good
    if saturated.any():
        worst = int(saturated.sum(axis=0).argmax())
        notes.append(
            f"{int(saturated.sum())} saturated samples of forces (most of {_named(names, worst)}, at "
            f"{np.nanmax(np.abs(log.force[:, worst])):.4g}): not used"
        )
    return replace(log, good=good & ~saturated, starts=(0, *sorted(breaks)), notes=tuple(notes))


def _jumps(q: Array, steps: Array, gaps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Steps and coordinates (k, 2) where a coordinate leaves its way; across ``gaps`` it may be anywhere."""
    from scipy.ndimage import median_filter

    rate = np.diff(q, axis=0) / steps[:, None]
    off = np.abs(rate - median_filter(rate, size=(5, 1), mode="nearest")) * steps[:, None]
    usual = np.median(off, axis=0)
    extent = np.ptp(q, axis=0)
    off[gaps] = 0.0
    return np.argwhere((off > JUMP * usual) & (off > LEAST_JUMP * extent))


# ----------------------------------------------------------------------------------------------------------------------
# Forces at the limit of a drive: values that stand still at a channel's largest or smallest.

BAND = 8.0
"""A top within so many times a channel's noise is looked at."""
CLIPPED = 4.0
LONG = 16
"""Samples that a top lasts at least, to count as one and not as a peak."""


def clipped(force: Array) -> NDArray[np.bool_]:
    """Samples (n, a) that have a channel's largest or smallest value itself, three samples or more in a row.

    Values in steps repeat themselves everywhere, most often at the top of a curve: there the highest level has up to
    1/(sqrt(2) - 1) = 2.4 times the samples of the next one. A drive at its limit has more than ``CLIPPED`` times.
    """
    found = np.zeros(force.shape, dtype=bool)
    for k, column in enumerate(force.T):
        finite = column[np.isfinite(column)]
        if len(finite) == 0 or np.ptp(finite) == 0:
            continue
        levels, counts = np.unique(finite, return_counts=True)
        in_steps = len(levels) < len(finite) / 2
        for end, next_ in ((-1, -2), (0, 1)):
            at = column == levels[end]
            held = (at[2:] & at[1:-1] & at[:-2]).any()
            if held and (not in_steps or counts[end] > CLIPPED * counts[next_]):
                found[:, k] |= at
    return found


def flat_tops(force: Array) -> NDArray[np.bool_]:
    """Samples (n, a) of flat tops and bottoms under noise: candidates of a drive at its limit.

    Of a peak the middle half of what lies within ``BAND`` times the noise stands 4 sigma above its outer half, as
    of any parabola; of a flat top both are level.
    """
    found = np.zeros(force.shape, dtype=bool)
    for k, column in enumerate(force.T):
        if len(column) < 4 * LONG:
            continue
        # third differences of a smooth curve are noise: their variance is 20 times its
        noise = float(np.median(np.abs(np.diff(column, 3)))) / 0.6745 / np.sqrt(20)
        noise = max(noise, _step(column) / np.sqrt(12))
        if not 0 < BAND * noise < 0.2 * np.ptp(column):
            continue
        for sign in (1.0, -1.0):
            found[:, k] |= _flat(sign * column, noise)
    return found


def _step(column: Array) -> float:
    """Step of a channel (n,) whose values are all on levels; 0 if they are not."""
    levels = np.unique(column[np.isfinite(column)])
    return float(np.diff(levels).min()) if 1 < len(levels) < len(column) / 2 else 0.0


def _flat(x: Array, noise: float) -> NDArray[np.bool_]:
    """Samples (n,) at the level of a flat top, if the longest top is flat."""
    near = np.concatenate([[False], x > x.max() - BAND * noise, [False]])
    edges = np.flatnonzero(np.diff(near.astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    top = x[starts[longest] : ends[longest]]
    quarter = len(top) // 4
    level = float(top[quarter : len(top) - quarter].mean()) if len(top) >= LONG else np.inf
    outer = float(np.concatenate([top[:quarter], top[len(top) - quarter :]]).mean()) if quarter else -np.inf
    return np.asarray(x > level - 4 * noise) if level - outer < noise else np.zeros(len(x), dtype=bool)


# ----------------------------------------------------------------------------------------------------------------------
# Logs made from a model, with noise: to try out a motion and an identification before the machine runs.


def simulated_log(
    model: Model,
    motion: MotionFile | Trajectory,
    *,
    rate: float = 1000.0,
    noise_q: float = 0.0,
    noise_force: float = 0.0,
    repeats: int = 1,
    seed: int = 0,
    name: str = "simulated",
) -> Log:
    """A log of a motion as the model makes it, with white noise.

    Parameters
    ----------
    model : Model
        Model of the robot.
    motion : MotionFile or Trajectory
        The motion; one that starts and ends at rest in the same pose may be repeated.
    rate : float, optional
        Sampling rate [Hz].
    noise_q : float, optional
        Standard deviation of coordinates [m or rad].
    noise_force : float, optional
        Standard deviation of forces [N or N m].
    repeats : int, optional
        How many times the motion is made.
    seed : int, optional
        Random seed.
    name : str, optional
        Name of the log.

    Returns
    -------
    Log
        The log.
    """
    if not rate > 0 or repeats < 1:
        raise InputError(f"rate, repeats: must be greater than 0, got {rate} and {repeats}")
    trajectory = (motion.trajectory if isinstance(motion, MotionFile) else motion).for_model(model)
    count = int(np.floor(trajectory.duration * rate)) * repeats
    time = np.arange(count) / rate
    at = trajectory.at(time % trajectory.duration)
    q, force = model.inverse_kinematics(at.pose), model.inverse_dynamics(at.pose, at.twist, at.acceleration)
    draw = np.random.default_rng(seed)
    return Log(
        name, time, q + noise_q * draw.standard_normal(q.shape), force + noise_force * draw.standard_normal(q.shape)
    )


def save_log(model: Model, log: Log, path: str | Path) -> None:
    """Write a log as a CSV file that ``read_log`` reads.

    Parameters
    ----------
    model : Model
        Model of the robot.
    log : Log
        The log.
    path : str or Path
        File to write.
    """
    header = ["time [s]", *(f"{a.name}.q [{a.unit}]" for a in model.actuators),
              *(f"{a.name}.force [{a.force_unit}]" for a in model.actuators)]  # fmt: skip
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(np.column_stack([log.time, log.q, log.force]).tolist())
