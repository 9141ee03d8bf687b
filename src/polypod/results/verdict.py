"""Does it fit, and by how much: what a motion asks of drives, joints and bearings, by what the file allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import xarray as xr

from ..datasets import robot_of
from ..lazy import lazy
from ..limits import KINDS, OPEN, LimitReport, LimitUse, RobotLimits, left_out_text, within_all
from ..limits.limits import ActuatorData, JointData, RangeData
from ..tables import Table, practical_unit, short, table
from .read import actuator_names, drives, limit_report, reactions

PROOF_TOLERANCE = 1e-9
"""Relative rounding with which a limit that is proven to be reached at most counts as kept."""


def limits_of(result: xr.Dataset) -> RobotLimits:
    """The limits of the robot of a study, as its file states them."""
    robot = robot_of(result)
    legs = {leg.name: leg for leg in robot.legs}
    report = limit_report(result)
    ranges = [
        RangeData(leg, name, float(low), float(high), unit, kind == "cone")
        for (leg, name), low, high, unit, kind in zip(
            report.names, report.low, report.high, report.units, report.kinds, strict=True
        )
    ]
    kinds = result.joint_kind.values.tolist() if "joint_kind" in result.coords else []
    joints = [
        JointData(leg, joint, kind, legs[leg].bearing(joint))
        for (leg, joint), kind in zip(reactions(result), kinds, strict=True)
    ]
    units = zip(result.actuator_unit.values.tolist(), result.force_unit.values.tolist(), strict=True)
    actuators = [
        ActuatorData(name, unit, push, drive)
        for name, (unit, push), drive in zip(actuator_names(result), units, drives(result), strict=True)
    ]
    free = sum(coordinate.held is None for coordinate in robot.internal)
    redundancy = len(actuators) - (len(robot.dof) or 6) - free
    pairs = result.pair.values.tolist() if "clearance" in result else []
    return RobotLimits.of(actuators, ranges, joints, robot.platform_limits, redundancy, pairs, robot.clearance)


def judged_limits(result: xr.Dataset) -> LimitReport:
    """The use of every limit along the motion of a study."""
    names = (
        "q",
        "qdot",
        "qddot",
        "force",
        "twist",
        "acceleration",
        "limited",
        "reaction_force",
        "joint_axes",
        "clearance",
    )
    given = {name: result[name].values for name in names if name in result}
    return limits_of(result).evaluate(given, result.time.values)


def limit_uses(result: xr.Dataset) -> list[LimitUse]:
    """Every limit at its worst, with what is proven between samples; loads of joints that are open are left out."""
    report = judged_limits(result)
    at_most = _proven_bounds(result)
    found = []
    for one, kind in zip(report.uses(result.time.values), report.kinds, strict=True):
        if KINDS[kind].of == "joint" and math.isnan(one.value):
            continue
        if KINDS[kind].of == "range":
            proven = one.kept and result.attrs.get("certified") == "yes"
        else:
            allowed = 1.0 if kind == "force at speed" else one.allowed
            proven = one.kept and at_most.get((kind, one.where), math.inf) <= allowed * (1 + PROOF_TOLERANCE)
        found.append(replace(one, proven=proven))
    return found


def _proven_bounds(result: xr.Dataset) -> dict[tuple[str, str], float]:
    """What is asked of drives at every instant at most, as far as it is proven, by kind and actuator."""
    if "upper_bound" not in result:
        return {}
    kinds, names = result.drive_limit.values.tolist(), actuator_names(result)
    rows = result.upper_bound.values
    return {(kind, name): float(rows[i, k]) for i, kind in enumerate(kinds) for k, name in enumerate(names)}


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
    note : str
        Which forces were judged where they are not unique.
    left_out : tuple of str
        Limits that were not judged, and why.
    """

    uses: tuple[LimitUse, ...]
    unjudged: tuple[str, ...]
    between: str = ""
    note: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict)

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
            verb = "exceeds its limit" if len(broken) == 1 else "exceed their limits"
            return f"Does not fit: {', '.join(broken)} {verb}; the worst is {most}."
        if self.between:
            return f"Does not fit: limits are violated between samples: {self.between}."
        when = "at every instant (verified)" if self.proven else "at the samples"
        return f"Fits: {within_all(len(self.uses))} {when}; the most used is {most}."

    @property
    def table(self) -> Table:
        """The worst of each quantity for people: mm and degrees, per cent."""
        columns = [("limit", ""), ("worst in", ""), ("at", "s"), ("required", ""), ("allowed", ""), ("unit", ""),
                   ("used", ""), ("verdict", "")]  # fmt: skip
        rows = [_row(one) for one in self.rows]
        notes = ["Use of ranges: 0 % in the middle, 100 % at a stop."] * any(
            one.quantity.endswith(" range") for one in self.rows
        )
        if self.unjudged and self.uses:
            notes.append(f"No limit given for: {', '.join(self.unjudged)}.")
        if self.left_out:
            notes.append(f"Not judged: {left_out_text(self.left_out)}.")
        if self.note:
            notes.append(f"{self.note[:1].upper()}{self.note[1:]}.")
        return table("Verdict", columns, rows, " ".join(notes))

    @property
    def details(self) -> Table:
        """Every limit of every drive, joint and bearing, in SI units."""
        columns = [("limit", ""), ("of", ""), ("at", "s"), ("required", ""), ("allowed", ""), ("unit", ""),
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
            "left_out": dict(self.left_out),
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
    limits = limits_of(result)
    between = str(result.attrs.get("broken_between_samples", ""))
    uses = tuple(limit_uses(result))
    known = {(one.quantity, one.where) for one in uses}
    left_out = {f"{o.quantity} of {o.where}": OPEN for o in limits.limits if (o.quantity, o.where) not in known}
    return Verdict(uses, limits.not_given, between, limits.sharing, left_out)
