"""Does it fit, and by how much: what a motion asks of drives, joints and bearings, by what the file allows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import xarray as xr

from ..description import Drive
from ..description.drive import curve_use
from ..lazy import lazy
from ..tables import Table, called, practical_unit, short, table
from .bearings import basic_lives, static_loads
from .read import actuator_names, drives, limit_report, rms

# ----------------------------------------------------------------------------------------------------------------------
# Uses of limits: what a motion asks of drives, joints and bearings, by what the robot file allows.
#
# The use of a limit is 1 at the limit. Within a range (a length, a coordinate) it is the distance from the middle
# by half
# the range; in a cone it is the angle by the half angle.

DRIVE_LIMITS = {
    "force": "max_force", "continuous force": "rms_force", "force at speed": "force_speed", "speed": "max_speed",
    "acceleration": "max_acceleration", "power": "max_power", "stroke": "max_stroke",
}  # fmt: skip
"""What drives are judged by, in the order of the verdict, and the field of a robot file that limits it."""
_ROUNDING = 1e-12
PROOF_TOLERANCE = 1e-9
"""Relative rounding with which a limit that is proven to be reached at most counts as kept."""


@dataclass(frozen=True)
class LimitUse:
    """One limit at its worst, in SI units.

    Attributes
    ----------
    quantity : str
        What is limited.
    where : str
        Actuator, leg or joint.
    value : float
        Value at its worst.
    allowed : float
        What is allowed.
    unit : str
        Unit of both.
    time : float or None
        When [s]; None if it is of the whole motion.
    use : float
        Share of what is allowed; 1 at the limit.
    kept : bool
        Whether the limit holds at the samples.
    least : bool
        Whether it is the lower end of a range.
    proven : bool
        Whether it holds at every instant.
    """

    quantity: str
    where: str
    value: float
    allowed: float
    unit: str
    time: float | None
    use: float
    kept: bool
    least: bool = False
    proven: bool = False


def drive_uses(result: xr.Dataset, given: list[Drive], name: str) -> list[LimitUse]:
    """Uses of one of ``DRIVE_LIMITS`` by all drives that limit it."""
    found = []
    for k, (where, drive) in enumerate(zip(actuator_names(result), given, strict=True)):
        allowed = drive_limit(drive, name)
        if allowed is not None:
            use = _drive_use(result, k, where, drive, name)
            proven = use.kept and _at_most(result, k, name) <= allowed * (1 + PROOF_TOLERANCE)
            found.append(replace(use, proven=proven))
    return found


def drive_limit(drive: Drive, name: str) -> float | None:
    """What a drive allows of one of ``DRIVE_LIMITS``; of a curve of force over speed a use of 1; None: anything."""
    value = getattr(drive, DRIVE_LIMITS[name])
    return value if value is None else 1.0 if name == "force at speed" else float(value)


def _at_most(result: xr.Dataset, k: int, name: str) -> float:
    """What is asked of an actuator at every instant at most, as far as it is proven."""
    return float(result.upper_bound.sel(drive_limit=name)[k]) if "upper_bound" in result else math.inf


def _drive_use(result: xr.Dataset, k: int, where: str, drive: Drive, name: str) -> LimitUse:
    time, force, speed = result.time.values, result.force.values[:, k], result.qdot.values[:, k]
    unit, push = str(result.actuator_unit.values[k]), str(result.force_unit.values[k])
    allowed, label = getattr(drive, DRIVE_LIMITS[name]), called(name, push)
    if name == "continuous force":
        return _use(label, where, float(rms(time, force[:, None])[0]), allowed, push)
    if name == "stroke":
        return _use(name, where, float(np.ptp(result.q.values[:, k])), allowed, unit)
    if name == "force at speed":
        share = curve_use(np.array(allowed), speed, force)
        at = int(share.argmax())
        value, most = float(abs(force[at])), float(share[at])
        # the force where the envelope is met by growing force and speed alike
        met = value / most if most and value else float(np.interp(abs(speed[at]), *np.array(allowed).T))
        return LimitUse(label, where, value, met, push, float(time[at]), most, _holds(most))
    values, unit = {
        "force": (force, push),
        "speed": (speed, f"{unit}/s"),
        "acceleration": (result.qddot.values[:, k], f"{unit}/s^2"),
        "power": (result.power.values[:, k], "W"),
    }[name]
    at = int(np.abs(values).argmax())
    return _use(label, where, float(abs(values[at])), allowed, unit, float(time[at]))


def _use(name: str, where: str, value: float, allowed: float, unit: str, time: float | None = None) -> LimitUse:
    return LimitUse(name, where, value, allowed, unit, time, value / allowed, _holds(value / allowed))


def _holds(share: float) -> bool:
    return share <= 1 + _ROUNDING


def limit_uses(result: xr.Dataset) -> list[LimitUse]:
    """Uses of lengths, coordinates and cones that the robot file limits."""
    report, time = limit_report(result), result.time.values
    proven = result.attrs.get("certified") == "yes"
    middle, half = 0.5 * (report.low + report.high), 0.5 * (report.high - report.low)
    cones = np.array([name.endswith("cone") for _, name in report.names], dtype=bool)
    share = np.where(cones, report.value / report.high, np.abs(report.value - middle) / half)
    found = []
    for k, (leg, name) in enumerate(report.names):
        at = int(share[:, k].argmax())
        value = float(report.value[at, k])
        low = not cones[k] and value < middle[k]
        allowed = float(report.low[k] if low else report.high[k])
        kept, label = bool(report.inside[:, k].all()), name if cones[k] else f"{name} range"
        use = float(share[at, k])
        unit = report.units[k]
        found.append(LimitUse(label, leg, value, allowed, unit, float(time[at]), use, kept, bool(low), kept and proven))
    return found


def bearing_uses(result: xr.Dataset) -> list[LimitUse]:
    """Mean and largest loads of bearings by their dynamic and static ratings; open loads are left out."""
    moving = [_use("bearing", f"{one.leg} {one.joint}", one.load, one.rating, "N") for one in basic_lives(result)]
    still = [
        _use("bearing, static", f"{one.leg} {one.joint}", one.load, one.rating, "N", one.time)
        for one in static_loads(result)
    ]
    return [one for one in (*moving, *still) if not math.isnan(one.value)]


# ----------------------------------------------------------------------------------------------------------------------
# Does it fit, and by how much: what a motion asks of drives, joints and bearings, by what the file allows.


@dataclass(frozen=True)
class Verdict:
    """Use of every limit of a robot along a motion.

    Attributes
    ----------
    uses : tuple of LimitUse
        The limits.
    unjudged : tuple of str
        Quantities that no drive of the robot file limits.
    between : str
        Limits that hold at samples and are exceeded between them, where that was checked.
    """

    uses: tuple[LimitUse, ...]
    unjudged: tuple[str, ...]
    between: str = ""

    @lazy
    def rows(self) -> tuple[LimitUse, ...]:
        """The worst of each quantity, in the order of the verdict."""
        worst: dict[str, LimitUse] = {}
        for one in self.uses:
            if one.quantity not in worst or one.use > worst[one.quantity].use:
                worst[one.quantity] = one
        return tuple(worst.values())

    @property
    def ok(self) -> bool:
        """Whether every limit is kept; true where there is none."""
        return all(one.kept for one in self.uses) and not self.between

    @property
    def proven(self) -> bool:
        """Whether it is proven that every limit is kept at every instant, not at the samples only."""
        return self.ok and all(one.proven for one in self.uses)

    @property
    def worst(self) -> LimitUse | None:
        """The limit that is used most; None where there is none."""
        return max(self.uses, key=lambda one: (not one.kept, one.use), default=None)

    @property
    def headline(self) -> str:
        """The verdict in a sentence."""
        worst = self.worst
        if worst is None:
            return "Nothing to check: the robot file gives no limits (max_force, max_speed, ...)."
        broken = [one.quantity for one in self.rows if not one.kept]
        at = "" if worst.time is None else f" at {worst.time:.3g} s"
        most = f"{worst.quantity} {percent(worst.use)} in {worst.where}{at}"
        if broken:
            return f"Does not fit: {', '.join(broken)} exceed their limits; the worst is {most}."
        if self.between:
            return f"Does not fit: limits are violated between samples: {self.between}."
        when = "at every instant (verified)" if self.proven else "at the samples"
        return f"Fits: all {len(self.uses)} limits are met {when}; the most used is {most}."

    @property
    def table(self) -> Table:
        """The worst of each quantity for people: mm and degrees, per cent."""
        columns = [("limit", ""), ("worst in", ""), ("at", "s"), ("asked", ""), ("allowed", ""), ("unit", ""),
                   ("used", ""), ("verdict", "")]  # fmt: skip
        rows = [_row(one) for one in self.rows]
        notes = ["Use of ranges: 0 % in the middle, 100 % at a stop."] * any(
            one.quantity.endswith(" range") for one in self.rows
        )
        if self.unjudged and self.uses:
            notes.append(f"No limit given for: {', '.join(self.unjudged)}.")
        return table("Verdict", columns, rows, " ".join(notes))

    @property
    def details(self) -> Table:
        """Every limit of every drive, joint and bearing, in SI units."""
        columns = [("limit", ""), ("of", ""), ("at", "s"), ("asked", ""), ("allowed", ""), ("unit", ""),
                   ("use", "1"), ("kept", ""), ("proven", "")]  # fmt: skip
        rows = [
            (one.quantity, one.where, math.nan if one.time is None else one.time, one.value, one.allowed, one.unit,
             one.use, "yes" if one.kept else "no", "yes" if one.proven else "no")
            for one in self.uses
        ]  # fmt: skip
        return table("Use of limits", columns, rows)

    def html_rows(self) -> str:
        """Rows of an HTML table, worst of each quantity; their class is ``kept`` or ``broken``.

        Returns
        -------
        str
            HTML.
        """
        head = "".join(f"<th>{escape(column.header)}</th>" for column in self.table.columns)
        body = "\n".join(
            f'<tr class="{"kept" if one.kept else "broken"}">'
            + "".join(f"<td>{escape(text)}</td>" for text in texts)
            + "</tr>"
            for one, texts in zip(self.rows, self.table.texts(), strict=True)
        )
        return f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"

    def data(self) -> dict[str, Any]:
        """The verdict as JSON data.

        Returns
        -------
        dict
            Data.
        """
        return {
            "ok": self.ok,
            "proven": self.proven,
            "judged": len(self.uses),
            "headline": self.headline,
            "unjudged": list(self.unjudged),
            "uses": self.details.records(),
        }

    def __str__(self) -> str:
        texts = [[column.header for column in self.table.columns], *self.table.texts()]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in texts)
        return "\n".join([self.headline, *(line.rstrip() for line in (lines if self.uses else ()))])

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.headline)}</p><table>{self.html_rows()}</table>"


def percent(use: float) -> str:
    """A share in per cent, as short as it is true: what is beyond a limit never reads 100 %.

    Examples
    --------
    >>> percent(0.1132), percent(1.0004), percent(1.0), percent(3e-17)
    ('11 %', '100.04 %', '100 %', '0 %')
    """
    if 1.0 < use < 1.01:
        return f"{100 * use:.5g} %" if 100 * use > 100.01 else "just over 100 %"
    return f"{100 * use:.0f} %"


def _row(one: LimitUse) -> tuple[Any, ...]:
    factor, unit = practical_unit(one.unit)
    at = math.nan if one.time is None else one.time
    asked, allowed = (
        f"{factor * x:.3g}" if abs(factor * x) < 1e3 else f"{factor * x:.0f}" for x in (one.value, one.allowed)
    )
    allowed = f"at least {allowed}" if one.least else allowed
    return one.quantity, one.where, short(at), asked, allowed, unit, percent(one.use), "kept" if one.kept else "broken"


def verdict(result: xr.Dataset) -> Verdict:
    """What a study asks of the robot, against all limits of its file: drives, ranges, cones, bearings.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.

    Returns
    -------
    Verdict
        Use of every limit.

    Examples
    --------
    >>> from polypod.results import study
    >>> found = verdict(study("hexapod", "around-home"))
    >>> [one.quantity for one in found.rows][:2]
    ['force', 'speed']
    """
    given = drives(result)
    judged = [name for name in DRIVE_LIMITS if any(drive_limit(drive, name) is not None for drive in given)]
    uses = [one for name in judged for one in drive_uses(result, given, name)]
    unit = str(result.force.attrs["units"])
    unjudged = tuple(called(name, unit) for name in DRIVE_LIMITS if name not in judged)
    between = str(result.attrs.get("broken_between_samples", ""))
    return Verdict((*uses, *limit_uses(result), *bearing_uses(result)), unjudged, between)
