"""One HTML page of a study: opens from disk, asks nothing of the network, prints well."""

from __future__ import annotations

import base64
import warnings
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template

import numpy as np
import xarray as xr

from ...datasets import robot_of
from ...mechanism.samples import platform_size
from ...model import Model
from ...motion import Motion, Task
from ...view import framed, live_page
from ..read import actuators as names
from ..read import groups, limit_report, open_reactions
from ..sizing import actuators, bearings, bending, limits
from ..tables import Table

Image = tuple[str, str, bytes]
"""Name, caption and PNG bytes of a figure."""


def page(result: xr.Dataset, images: Sequence[Image], version: str) -> str:
    """The report as HTML text with its figures inside."""
    robot = robot_of(result)
    template = Template((resources.files(__package__) / "template.html").read_text(encoding="utf-8"))
    tables = [table for table in (limits(result), actuators(result), bearings(result)) if table.rows]
    return template.substitute(
        title=escape(f"{robot.name}: {result.attrs['motion']}"),
        robot_title=escape(robot.title or robot.name),
        reference=escape(robot.reference),
        live=_live(result),
        facts="\n".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in _facts(result)),
        notes="\n".join(f'<p class="note">{escape(text)}</p>' for text in notes(result)),
        tables="\n".join(table_html(table) for table in tables),
        figures="\n".join(figure_html(*image) for image in images),
        sources=_sources(result),
        version=escape(version),
    )


def _live(result: xr.Dataset) -> str:
    """The robot to drag and the motion to play, in a frame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever computed the result was warned
        model = Model(robot_of(result))
    at = Motion(*(result[name].values for name in ("time", "pose", "twist", "acceleration")))
    wrench = result.wrench.values if "wrench" in result else None
    return framed(live_page(model, Task(result.attrs["motion"], at, wrench), result.attrs["friction"] == "yes"))


def notes(result: xr.Dataset) -> list[str]:
    """What a reader must know before trusting the numbers."""
    found = []
    if not limit_report(result).ok:
        found.append(
            f"The motion leaves {_left(result)} limits of the robot: a real machine would stop. See the table."
        )
    unphysical = robot_of(result).unphysical
    if unphysical:
        listed = "; ".join(f"{path} {problem}" for path, problem in list(unphysical.items())[:2])
        more = f" and {len(unphysical) - 2} more" if len(unphysical) > 2 else ""
        found.append(f"The robot file opts out of the check of inertias no real body has: {listed}{more}.")
    left_open = open_reactions(result)
    if left_open:
        found.append(
            "Inner stresses of this overconstrained robot leave these reactions open, so they are blank: "
            + "; ".join(left_open)
            + "."
        )
    return found + bending_notes(result) + near_singularity(result)


def bending_notes(result: xr.Dataset) -> list[str]:
    """Sentences if the platform was taken not to vibrate, or bends by more than small-deflection theory is good for."""
    if "deflection" not in result:
        return []
    from ...platforms.modes import large_deflection  # brings finite elements along

    vibrates, _, why = str(result.attrs["vibration"]).partition(", ")
    found = [] if vibrates == "yes" else [f"The platform is taken not to vibrate, {why}."]
    robot = robot_of(result)
    return found + large_deflection(robot, result.deflection.values, platform_size(robot))


def near_singularity(result: xr.Dataset) -> list[str]:
    """A sentence if the motion comes near a singular pose."""
    worst = float(result.condition.max())
    return [f"The path comes near a singularity: condition number up to {worst:.3g}."] if worst > 100 else []


def _facts(result: xr.Dataset) -> list[tuple[str, str]]:
    force, power, time = result.force.values, result.power.values.sum(axis=1), result.time.values
    condition, report = result.condition.values, limit_report(result)
    state = "none given" if not report.names else "kept" if report.ok else f"{_left(result)} left"
    largest = []
    for (_, unit), numbers in groups(result).items():
        most = numbers[int(np.abs(force[:, numbers]).max(axis=0).argmax())]
        largest.append(f"{np.abs(force[:, most]).max():.5g} {unit} in {names(result)[most]}")
    return [
        ("Motion", f"{result.attrs['motion']}, {time[-1]:.4g} s, {len(time)} samples"),
        ("Largest force", ", ".join(largest)),
        ("Largest total power", f"{power.max():.4g} W"),
        ("Condition number", f"{condition.min():.4g} to {condition.max():.4g}"),
        ("Limits", state),
        ("Friction", "included" if result.attrs["friction"] == "yes" else "left out"),
        *_bending(result),
    ]


def _bending(result: xr.Dataset) -> list[tuple[str, str]]:
    bent = bending(result)
    return [] if bent is None else [("Platform", bent)]


def _left(result: xr.Dataset) -> str:
    return f"{len(limits(result).rows)} of {len(limit_report(result).names)}"


def table_html(table: Table) -> str:
    head = "".join(f"<th>{escape(column.header)}</th>" for column in table.columns)
    body = "\n".join(
        "<tr>"
        + "".join(
            f'<td class="{"number" if isinstance(value, float) else "text"}">{escape(text)}</td>'
            for value, text in zip(row, texts, strict=True)
        )
        + "</tr>"
        for row, texts in zip(table.rows, table.texts(), strict=True)
    )
    caption = f"<p class='caption'>{escape(table.caption)}</p>" if table.caption else ""
    return (
        f"<section><h2>{escape(table.title)}</h2><div class='wide'><table id='{escape(table.title.lower())}'>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{caption}</section>"
    )


def figure_html(name: str, caption: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return (
        f'<figure id="{escape(name)}"><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _sources(result: xr.Dataset) -> str:
    rows = "\n".join(
        f"<tr><td class='text'><code>{escape(path)}</code></td><td class='text'>{escape(text)}</td></tr>"
        for path, text in robot_of(result).sources.items()
    )
    if not rows:
        return ""
    return (
        "<section><h2>Where the robot's numbers come from</h2><div class='wide'>"
        f"<table id='sources'><tbody>{rows}</tbody></table></div></section>"
    )
