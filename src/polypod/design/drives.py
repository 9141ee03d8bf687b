"""Drive catalogues: which drives of a table can make the motions of a robot, by what margin, and what limits each.

The judge is that of the verdict (``polypod.limits``). The motor inertia of each drive acts along its own coordinate,
F = F0 + J n^2 qddot with F0 the force without a motor; its mass, on a body of the leg, goes through inverse dynamics,
all drives in one call.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from ..analysis.stiffness import rotor_inertias
from ..arrays import Array
from ..description import Body, Drive
from ..description.paths import get
from ..description.units import UNITS
from ..errors import AS_RIGID, Fault, FileError, InputError, UnknownNameError
from ..files.documents import read
from ..limits import DRIVE_KINDS, KINDS, LimitUse, RobotLimits, left_out_text
from ..limits.limits import ActuatorData
from ..model import Model
from ..motion import Task, make_task
from ..results import study
from ..tables import Table, table

LIFE_EXPONENT = 3.0
"""Of ball screws (ISO 3408-5) and ball bearings (ISO 281)."""
_PER_LIFE = 1e6
"""Revolutions that a dynamic load rating stands for."""


class CatalogueFileError(FileError):
    """A drive catalogue that cannot be used."""

    what = "drive catalogue"


class _Column(NamedTuple):
    """Field of a candidate that a column gives, and the SI units it may have; none of a plain number."""

    field: str
    units: tuple[str, ...] = ()


_NAMES: dict[str, _Column] = {
    "force": _Column("max_force", ("N", "N m")), "rms": _Column("rms_force", ("N", "N m")),
    "speed": _Column("max_speed", ("m/s", "rad/s")), "acceleration": _Column("max_acceleration", ("m/s^2", "rad/s^2")),
    "power": _Column("max_power", ("W",)), "stroke": _Column("max_stroke", ("m", "rad")),
    "lead": _Column("lead", ("m",)), "gear": _Column("gear"), "inertia": _Column("rotor_inertia", ("kg m^2",)),
    "efficiency": _Column("efficiency"), "motor_torque": _Column("max_motor_torque", ("N m",)),
    "rms_motor_torque": _Column("rms_motor_torque", ("N m",)), "motor_speed": _Column("max_motor_speed", ("rad/s",)),
    "mass": _Column("mass", ("kg",)), "price": _Column("price"), "screw_rating": _Column("screw_rating", ("N",)),
    "bearing_rating": _Column("bearing_rating", ("N",)),
}  # fmt: skip
COLUMNS: dict[str, _Column] = _NAMES | {
    "torque": _NAMES["force"], "rms_torque": _NAMES["rms"], "max_torque": _NAMES["force"],
    **{column.field: column for column in _NAMES.values()},
}  # fmt: skip
"""Columns of a catalogue by name, also by the names of robot files."""
_OF_TURNING = {"N m": "N", "rad/s": "m/s", "rad/s^2": "m/s^2", "rad": "m"}
_AT_COORDINATE = ("max_force", "rms_force", "max_speed", "max_acceleration", "max_stroke")
_LIMITS = tuple(KINDS[kind].field for kind in DRIVE_KINDS)


@dataclass(frozen=True)
class Candidate:
    """A drive of a catalogue.

    Attributes
    ----------
    name : str
        Its name.
    drive : Drive
        Its limits, screw or gear, and motor, as a robot file gives them.
    price : float
        Price in the catalogue's currency; NaN if not given.
    mass : float
        Mass [kg]; 0 if not given.
    screw_rating, bearing_rating : float or None
        Dynamic load ratings of its ball screw and of the screw's bearing [N].
    units : mapping of str to str
        Units of the fields that are those of a coordinate, which say whether it pushes or turns.
    """

    name: str
    drive: Drive
    price: float = math.nan
    mass: float = 0.0
    screw_rating: float | None = None
    bearing_rating: float | None = None
    units: Mapping[str, str] | None = None


def load_catalogue(path: str | Path) -> tuple[Candidate, ...]:
    """Read a drive catalogue: CSV with a header such as ``name, force [kN], speed [mm/s], price``.

    Cells are separated by comma, semicolon or tab; an empty cell is a value that the catalogue does not give.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    tuple of Candidate
        The drives, in the order of the file.

    Raises
    ------
    CatalogueFileError
        If the file has faults: all of them, with their lines.
    """
    path = Path(path)
    text = read(path, CatalogueFileError).lstrip("\ufeff")
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if len(lines) < 2:
        raise CatalogueFileError(str(path), [Fault("", _WANTED, 1)])
    mark = max(",;\t", key=lines[0][1].count)
    rows = [[cell.strip() for cell in row] for row in csv.reader([line for _, line in lines], delimiter=mark)]
    columns, faults = _header(rows[0], lines[0][0])
    if faults:
        raise CatalogueFileError(str(path), faults)
    found: list[Candidate] = []
    for (line, _), row in zip(lines[1:], rows[1:], strict=True):
        if len(row) != len(columns):
            text = f"{len(columns)} cells are needed, as in the header, got {len(row)}"
            faults.append(Fault("", f"{text}; leave a cell empty where nothing is given", line))
            continue
        try:
            found.append(_candidate(dict(zip(columns, row, strict=True))))
        except InputError as error:
            faults.append(Fault("", str(error), line))
    names = [one.name for one in found]
    faults += [
        Fault("name", f"{name!r} appears twice", None) for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if faults:
        raise CatalogueFileError(str(path), faults)
    return tuple(found)


_WANTED = (
    "a header and one line per drive are needed, such as 'name, force [kN], speed [mm/s], price'; "
    "the command 'new' writes one to start from"
)


class _Read(NamedTuple):
    """A column that was read: its name, its field, and the factor and unit of its numbers."""

    name: str
    field: str
    factor: float
    unit: str


def _header(cells: list[str], line: int) -> tuple[list[_Read], list[Fault]]:
    columns: list[_Read] = []
    faults: list[Fault] = []
    for cell in cells:
        name, _, rest = (part.strip() for part in cell.partition("["))
        unit, key = rest.rstrip("] ").strip(), re.sub(r"[\s-]+", "_", name.lower())
        if key == "name":
            columns.append(_Read(name, "name", 1.0, ""))
            continue
        if key not in COLUMNS:
            faults.append(Fault("", str(UnknownNameError("column", name, ("name", *_NAMES))), line))
            continue
        field, units = COLUMNS[key]
        if not units:
            percent = field == "efficiency" and unit == "%"
            columns.append(_Read(name, field, 0.01 if percent else 1.0, ""))
            continue
        factor, si = UNITS.get(unit, (0.0, ""))
        if si not in units:
            choices = [one for one, (_, kind) in UNITS.items() if kind in units]
            got = f"has unit [{unit}]" if unit else "has no unit"
            faults.append(Fault("", f"column {name!r} {got}; write '{name} [{choices[0]}]', or one of "
                                f"{', '.join(choices)}", line))  # fmt: skip
            continue
        columns.append(_Read(name, field, factor, si))
    fields = [column.field for column in columns]
    twice = next((field for field in fields if fields.count(field) > 1), None)
    if twice is not None:
        faults.append(Fault("", f"two columns give {twice}; keep one of them", line))
    if not faults and "name" not in fields:
        faults.append(Fault("", f"column 'name' is missing: {_WANTED}", line))
    if not faults and not set(fields) & set(_LIMITS):
        short = [name for name, column in _NAMES.items() if column.field in _LIMITS]
        faults.append(Fault("", f"no column limits a drive; give one of {', '.join(short)}", line))
    return columns, faults


def _candidate(row: Mapping[_Read, str]) -> Candidate:
    """The drive of a row."""
    values: dict[str, Any] = {}
    for column, cell in row.items():
        if column.field == "name":
            values["name"] = cell
        elif cell:
            try:
                values[column.field] = float(cell) * column.factor
            except ValueError:
                raise InputError(
                    f"{column.name}: must be a number in the unit of the header, got {cell!r}; write 1.5, not 1,5"
                ) from None
    if not values.get("name"):
        raise InputError("name: must not be empty; give the drive a name")
    own = {
        name: values.pop(name) for name in ("name", "price", "mass", "screw_rating", "bearing_rating") if name in values
    }
    if any(not (math.isfinite(value) and value >= 0) for name, value in own.items() if name != "name"):
        raise InputError(f"{own['name']}: price, mass and ratings must be finite and at least 0, got {own}")
    if {"screw_rating", "bearing_rating"} & set(own) and "lead" not in values:
        raise InputError(f"{own['name']}: the life of a screw counts its turns; give its lead")
    if not set(values) & set(_LIMITS):
        raise InputError(f"{own['name']}: no cell limits this drive; fill in one of its limits")
    try:
        drive = Drive.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        advice = "; write 0.9, or '[%]' in the header" if first["loc"] == ("efficiency",) else "; correct the cell"
        raise InputError(
            f"{own['name']}: {'.'.join(map(str, first['loc']))}: {first['msg']}, got {first['input']!r}{advice}"
        ) from error
    units = {column.field: column.unit for column, cell in row.items() if column.field in _AT_COORDINATE and cell}
    return Candidate(drive=drive, units=units, **own)


# ----------------------------------------------------------------------------------------------------------------------
# Forces of the motions with each drive, and what is used of its limits.


class DriveFit(NamedTuple):
    """How well a drive fits a robot and its motions.

    Attributes
    ----------
    candidate : Candidate
        The drive.
    use : float
        Largest use of a limit; it fits if this is at most 1.
    limit : str
        The limit that is used most.
    actuator, motion : str
        Where that is.
    by_actuator : ndarray, shape (n,)
        Largest use of a limit for each actuator.
    force, rms, speed, power : float
        Largest force or torque, rms force, speed and power of an actuator, over all motions (SI).
    screw_life, bearing_life : float
        Basic rating life [h] of the ball screw and its bearing of the worst actuator, in the worst motion, repeated
        without pause; NaN if no rating is given.
    """

    candidate: Candidate
    use: float
    limit: str
    actuator: str
    motion: str
    by_actuator: Array
    force: float
    rms: float
    speed: float
    power: float
    screw_life: float
    bearing_life: float

    @property
    def fits(self) -> bool:
        """Whether all limits are kept."""
        return self.use <= 1.0 + 1e-12


@dataclass(frozen=True, eq=False)
class DriveSelection:
    """Drives of a catalogue for a robot and its motions.

    Attributes
    ----------
    fits : tuple of DriveFit
        Every drive on all actuators: those that fit first, the cheapest first, then the others by what they lack.
    chosen : tuple of Candidate or None
        With ``per_leg``, the drive of each actuator; None if some actuator has none that fits.
    mixed : DriveFit or None
        How these fit together.
    actuators : tuple of str
        Names of the actuators.
    units : tuple of str
        Units of their coordinates and forces.
    notes : tuple of str
        What was left out, and why.
    states : tuple of (ndarray, ndarray), shape (T, n)
        Speeds and forces of each motion with the motor of the first drive, for figures.
    """

    fits: tuple[DriveFit, ...]
    chosen: tuple[Candidate, ...] | None
    mixed: DriveFit | None
    actuators: tuple[str, ...]
    units: tuple[str, str]
    notes: tuple[str, ...]
    states: tuple[tuple[Array, Array], ...]

    @property
    def best(self) -> Candidate | None:
        """The cheapest drive that fits; None if none does."""
        return self.fits[0].candidate if self.fits and self.fits[0].fits else None

    def sentence(self) -> str:
        """Which drive to take, in a sentence.

        Returns
        -------
        str
            The sentence.
        """
        if self.chosen is not None and self.mixed is not None and len({one.name for one in self.chosen}) > 1:
            pairs = ", ".join(f"{a} {one.name}" for a, one in zip(self.actuators, self.chosen, strict=True))
            return f"Cheapest per leg: {pairs}."
        first = self.fits[0]
        if first.fits:
            return (
                f"{sum(one.fits for one in self.fits)} of {len(self.fits)} drives fit. Cheapest: "
                f"{first.candidate.name}, which uses {100 * first.use:.0f} % of its {first.limit} in {first.actuator}."
            )
        return (
            f"No drive fits. Closest is {first.candidate.name}: {first.limit} at {100 * first.use:.0f} % in "
            f"{first.actuator} ({first.motion})."
        )

    def table(self) -> Table:
        """One row per drive: price, fit, margin, limiting constraint, what is required, life.

        Returns
        -------
        Table
            The table, SI units.
        """
        q, f = self.units
        lives = [
            name for name in ("screw_life", "bearing_life") if any(not math.isnan(getattr(x, name)) for x in self.fits)
        ]
        columns = [("drive", ""), ("price", ""), ("fits", ""), ("margin", "%"), ("limiting constraint", ""),
                   ("actuator", ""), ("motion", ""), ("peak", f), ("rms", f), ("speed", f"{q}/s"), ("power", "W"),
                   ]  # fmt: skip
        columns += [(name.replace("_", " "), "h") for name in lives]
        rows = []
        listed = [*self.fits, *([self.mixed] if self.mixed is not None and self.mixed.candidate.name == MIXED else [])]
        for one in listed:
            price = "-" if math.isnan(one.candidate.price) else f"{one.candidate.price:g}"
            rows.append((one.candidate.name, price, "yes" if one.fits else "no", 100 * (1 / one.use - 1), one.limit,
                         one.actuator, one.motion, one.force, one.rms, one.speed, one.power,
                         *(getattr(one, name) for name in lives)))  # fmt: skip
        caption = "Margin: by how much force, speed and so on could all grow. Life: 10 % fail earlier."
        return table("Drives", columns, rows, caption)


MIXED = "chosen per leg"


def _not_judged(limits: RobotLimits) -> list[str]:
    """A note on the limits of the robot file that are none of drives."""
    others = {one.quantity: "run judges what is no limit of a drive" for one in limits.without(DRIVE_KINDS).limits}
    return [f"not judged: {left_out_text(others)}"] if others else []


def select_drives(
    model: Model,
    motions: Sequence[Any],
    catalogue: Sequence[Candidate] | str | Path,
    *,
    per_leg: bool = False,
    body: str | None = None,
    rate: float | None = None,
    friction: bool = True,
) -> DriveSelection:
    """Which drives of a catalogue can make the motions of a robot, the cheapest first.

    The motor of a drive replaces that of the robot file: F = F0 + J n^2 qddot with F0 the force without a motor. Limits
    are judged as in the verdict. Life is that of ISO 3408-5 and ISO 281, L = (C/F_m)^3 10^6 revolutions, with the cubic
    mean over the revolutions of the axial force F0 that the screw transmits; preload of the nut is not included.

    Parameters
    ----------
    model : Model
        Model of the robot, not flexible and without redundant actuators.
    motions : sequence
        Motions as ``polypod.motion.make_task`` takes them: names, files, trajectories, None for the robot's own.
    catalogue : sequence of Candidate, str or Path
        The drives, or a catalogue file.
    per_leg : bool, optional
        Whether to choose the cheapest drive that fits for each actuator by itself, too.
    body : str, optional
        Body of each leg that carries the mass of its drive, at its centre of mass: ``lower``. Default: masses are not
        counted.
    rate : float, optional
        Sampling rate [Hz]. Default: that of each motion.
    friction : bool, optional
        Whether friction in the joints is included.

    Returns
    -------
    DriveSelection
        How every drive fits.

    Raises
    ------
    InputError
        If drives push and the actuators turn, or the other way round; if the robot has more actuators than degrees of
        freedom.
    """
    given = load_catalogue(catalogue) if isinstance(catalogue, (str, Path)) else tuple(catalogue)
    if not given:
        raise InputError("catalogue: at least one drive is needed")
    if model.robot.flexible:
        raise InputError(f"robot: {model.robot.name!r} has a flexible platform; {AS_RIGID}")
    if model.robot_limits.redundancy > 0:
        raise InputError(
            f"robot: {model.robot.name!r} has more actuators than degrees of freedom, so that the force of each drive "
            "is not unique; enter the drives in its file and use 'polypod run'"
        )
    for one in given:
        _check_units(model, one)
    tasks = [make_task(model, motion, rate) for motion in (motions or [None])]
    names = [task.name for task in tasks]
    asked = _Asked(model, given, tasks, body, friction)
    fits = [asked.fit(names, [k] * len(model.actuators)) for k in range(len(given))]
    order = sorted(range(len(fits)), key=lambda k: _rank(fits[k]))
    chosen, mixed = None, None
    if per_leg:
        chosen, mixed = _each(asked, names, fits)
    own = asked.rotors([asked.drives[order[0]]] * len(model.actuators))
    states = tuple((motion.qdot, motion.plain + own * motion.qddot) for motion in asked.motions)
    info = model.actuators[0]
    return DriveSelection(
        tuple(fits[k] for k in order), chosen, mixed, tuple(a.name for a in model.actuators),
        (info.unit, info.force_unit), (*asked.notes, *_not_judged(model.robot_limits)), states,
    )  # fmt: skip


def _rank(fit: DriveFit) -> tuple[Any, ...]:
    """Those that fit by price, without a price by their margin; then the others by what they lack."""
    price = fit.candidate.price
    return (not fit.fits, math.isnan(price) and fit.fits, price if fit.fits and not math.isnan(price) else 0.0, fit.use)


def _each(
    asked: _Asked, names: list[str], fits: list[DriveFit]
) -> tuple[tuple[Candidate, ...] | None, DriveFit | None]:
    """The cheapest drive of each actuator; what one weighs is carried by the others, so all are judged together."""
    drives = len(fits)
    worth = sorted(
        range(drives), key=lambda k: (math.isnan(fits[k].candidate.price), fits[k].candidate.price, fits[k].use)
    )
    n = len(fits[0].by_actuator)
    ranks = [next((r for r, k in enumerate(worth) if fits[k].by_actuator[i] <= 1), drives) for i in range(n)]
    while max(ranks) < drives:
        mixed = asked.fit(names, [worth[r] for r in ranks])
        if mixed.fits:
            return tuple(asked.drives[worth[r]] for r in ranks), mixed
        ranks[int(np.argmax(mixed.by_actuator))] += 1
    return None, None


def _check_units(model: Model, one: Candidate) -> None:
    """Raise if a drive pushes and an actuator turns, or the other way round."""
    linear = [a.name for a in model.actuators if a.unit != "rad"]
    drive = one.drive
    motor = [drive.gear, drive.rotor_inertia, drive.max_motor_torque, drive.rms_motor_torque, drive.max_motor_speed]
    if linear and drive.lead is None and any(value is not None for value in motor):
        raise InputError(
            f"catalogue: {one.name}: actuator {linear[0]} moves in a straight line, by a screw; give "
            "its lead, such as 'lead [mm]'"
        )
    if drive.lead is not None and len(linear) < len(model.actuators):
        turning = next(a.name for a in model.actuators if a.unit == "rad")
        raise InputError(f"catalogue: {one.name}: actuator {turning} turns and has no screw; leave its lead empty")
    for field, unit in (one.units or {}).items():
        for actuator in model.actuators:
            turns = unit in _OF_TURNING
            if turns != (actuator.unit == "rad"):
                what = "turns" if actuator.unit == "rad" else "moves in a straight line"
                wanted = "[N m], [rad/s]" if actuator.unit == "rad" else "[N], [mm/s]"
                raise InputError(
                    f"catalogue: {one.name}: {field} is in {unit}, but actuator {actuator.name} {what}; give columns "
                    f"in {wanted}, or motor_torque and motor_speed with lead or gear"
                )


class _Motion(NamedTuple):
    """A motion: times (T,), q, qdot, qddot (T, n), forces without motors (T, n), or (D, T, n) with masses of drives."""

    time: Array
    q: Array
    qdot: Array
    qddot: Array
    plain: Array
    heavy: Array | None


class _Asked:
    """What motions ask of the actuators of a robot."""

    def __init__(
        self, model: Model, drives: Sequence[Candidate], tasks: Sequence[Task], body: str | None, friction: bool
    ) -> None:
        self.model, self.drives, self.notes = model, tuple(drives), list[str]()
        self._tasks, self._friction = tasks, friction
        self.own = rotor_inertias(model)
        self._bodies = self._carriers(body)
        who = [a.leg for a in model.actuators]
        self._counts = np.array([who.count(leg.name) for leg in model.robot.legs], dtype=np.float64)
        without = [one.name for one in drives if one.drive.rotor_inertia is None]
        if without and self.own.any():
            self.notes.append(f"motor inertia of the robot file kept for drives that give none: {', '.join(without)}")
        elif without:
            self.notes.append(f"no motor inertia is counted for {', '.join(without)}: the catalogue gives none")
        self.motions = [self._along(task) for task in tasks]

    def _carriers(self, body: str | None) -> list[str]:
        """Paths of the masses of the bodies that carry the drives, one per leg; none if masses are not counted."""
        robot = self.model.robot
        if body is None:
            if any(one.mass for one in self.drives):
                self.notes.append("masses of drives are not counted; say which body of the legs carries them")
            return []
        paths = []
        for k, leg in enumerate(robot.legs):
            own = getattr(leg, "bodies", None)
            chosen = own.get(body) if isinstance(own, Mapping) else getattr(leg, body, None)
            if not isinstance(chosen, Body):
                known = tuple(own) if isinstance(own, Mapping) else tuple(
                    name for name in type(leg).model_fields if isinstance(getattr(leg, name), Body)
                )  # fmt: skip
                raise InputError(f"body: {UnknownNameError(f'body of {leg.name}', body, known)}")
            paths.append(f"legs.{k}.bodies.{body}.mass" if isinstance(own, Mapping) else f"legs.{k}.{body}.mass")
        return paths

    def _along(self, task: Task) -> _Motion:
        result = study(self.model, task, self._friction, certify=False)
        q, qdot, qddot, force = (result[name].values for name in ("q", "qdot", "qddot", "force"))
        heavy = None
        if self._bodies:
            masses = np.array([one.mass for one in self.drives])
            heavy = self._with_masses(task, masses[:, None] * self._counts, qddot)
        return _Motion(result.time.values, q, qdot, qddot, force - self.own * qddot, heavy)

    def _with_masses(self, task: Task, masses: Array, qddot: Array) -> Array:
        """Forces (D, T, n) without motors, with masses (D, legs) on the bodies that carry the drives."""
        own = [float(get(self.model.robot, path)) for path in self._bodies]
        parameters = {path: (own[k] + masses[:, k])[:, None] for k, path in enumerate(self._bodies)}
        motion = task.motion
        force = self.model.inverse_dynamics(
            motion.pose, motion.twist, motion.acceleration, task.wrench, friction=self._friction, parameters=parameters
        )
        return np.asarray(force - self.own * qddot)

    def rotors(self, chosen: Sequence[Candidate]) -> Array:
        """Motor inertias (n,) at the coordinates, J n^2: of the drives, or of the robot file where they give none."""
        pairs = zip(self.own, chosen, strict=True)
        return np.array([own if c.drive.rotor_inertia is None else float(c.drive.reflected) for own, c in pairs])

    def fit(self, names: Sequence[str], which: list[int]) -> DriveFit:
        """How drives, by number one per actuator, fit all motions."""
        model, chosen = self.model, [self.drives[k] for k in which]
        limits = RobotLimits.of(
            [
                ActuatorData(a.name, a.unit, a.force_unit, one.drive)
                for a, one in zip(model.actuators, chosen, strict=True)
            ]
        )
        own = self.rotors(chosen)
        worst: tuple[float, LimitUse | None, str] = (-1.0, None, "")
        by_actuator = np.zeros(len(chosen))
        actuators = [a.name for a in model.actuators]
        sizes: dict[str, list[float]] = {"force": [], "rms": [], "speed": [], "power": []}
        lives: dict[str, list[float]] = {"screw_rating": [], "bearing_rating": []}
        for name, task, motion in zip(names, self._tasks, self.motions, strict=True):
            plain = self._plain(task, motion, which)
            force = plain + own * motion.qddot
            report = limits.evaluate(
                {"q": motion.q, "qdot": motion.qdot, "qddot": motion.qddot, "force": force}, motion.time
            )
            for use in report.uses(motion.time):
                k = actuators.index(use.where)
                by_actuator[k] = max(by_actuator[k], use.use)
                if use.use > worst[0]:
                    worst = (use.use, use, name)
            sizes["force"].append(float(np.abs(force).max()))
            mean = np.trapezoid(force**2, motion.time, axis=0) / (motion.time[-1] - motion.time[0])
            sizes["rms"].append(float(np.sqrt(mean).max()))
            sizes["speed"].append(float(np.abs(motion.qdot).max()))
            sizes["power"].append(float(np.abs(force * motion.qdot).max()))
            for rating, found in lives.items():
                for k, one in enumerate(chosen):
                    value = getattr(one, rating)
                    if value is not None and one.drive.lead is not None:
                        found.append(life_hours(value, plain[:, k], motion.qdot[:, k], motion.time, one.drive.lead))
        assert worst[1] is not None
        same = len(set(which)) == 1
        price = float(sum(one.price for one in chosen)) if not same else chosen[0].price
        candidate = chosen[0] if same else Candidate(MIXED, chosen[0].drive, price)
        return DriveFit(
            candidate, worst[0], worst[1].quantity, worst[1].where, worst[2], by_actuator,
            **{name: max(values) for name, values in sizes.items()},
            screw_life=min(lives["screw_rating"], default=math.nan),
            bearing_life=min(lives["bearing_rating"], default=math.nan),
        )  # fmt: skip

    def _plain(self, task: Task, motion: _Motion, which: list[int]) -> Array:
        """Forces (T, n) without motors, with the masses of these drives."""
        if motion.heavy is None:
            return motion.plain
        if len(set(which)) == 1:
            return motion.heavy[which[0]]
        names = [a.leg for a in self.model.actuators]
        legs = [leg.name for leg in self.model.robot.legs]
        masses = np.zeros((1, len(legs)))
        for name, k in zip(names, which, strict=True):
            masses[0, legs.index(name)] += self.drives[k].mass
        return self._with_masses(task, masses, motion.qddot)[0]


def life_hours(rating: float, force: Array, speed: Array, time: Array, lead: float) -> float:
    """Basic rating life [h] of a ball screw, or of the ball bearing that holds it, along a motion that is repeated.

    L = (C/F_m)^3 10^6 revolutions (ISO 3408-5, ISO 281) with F_m^3 = integral |F|^3 dn / integral dn over the
    revolutions n = integral |qdot|/lead dt.

    Parameters
    ----------
    rating : float
        Dynamic axial load rating C [N].
    force : ndarray, shape (T,)
        Axial forces [N].
    speed : ndarray, shape (T,)
        Speeds along the screw [m/s].
    time : ndarray, shape (T,)
        Times [s].
    lead : float
        Lead [m per turn].

    Returns
    -------
    float
        Hours that 90 % of such screws reach; infinite if it does not move or carries nothing.

    Examples
    --------
    >>> time = np.linspace(0.0, 1.0, 11)
    >>> hours = life_hours(10e3, np.full(11, 1e3), np.full(11, 0.1), time, 5e-3)  # 10^9 revolutions, 20 a second
    >>> round(hours)
    13889
    """
    turns = np.abs(speed) / lead
    total = float(np.trapezoid(turns, time))
    loaded = float(np.trapezoid(np.abs(force) ** LIFE_EXPONENT * turns, time))
    if not loaded > 0:
        return math.inf
    revolutions = rating**LIFE_EXPONENT / (loaded / total) * _PER_LIFE
    return revolutions / (total / float(time[-1] - time[0])) / 3600.0
