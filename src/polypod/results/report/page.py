"""One HTML page of a study: opens from disk, asks nothing of the network, prints well."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template

import numpy as np

from ..sizing import actuators, bearings, bending, limits
from ..study import Study
from ..tables import Table

Image = tuple[str, str, bytes]
"""Name, caption and PNG bytes of a figure."""


def page(study: Study, images: Sequence[Image], version: str) -> str:
    """The report as HTML text with its figures inside."""
    robot = study.robot
    template = Template((resources.files(__package__) / "template.html").read_text(encoding="utf-8"))
    tables = [table for table in (limits(study), actuators(study), bearings(study)) if table.rows]
    return template.substitute(
        title=escape(f"{robot.name}: {study.task.name}"),
        robot_title=escape(robot.title or robot.name),
        reference=escape(robot.reference),
        facts="\n".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in _facts(study)),
        notes="\n".join(f'<p class="note">{escape(text)}</p>' for text in notes(study)),
        tables="\n".join(table_html(table) for table in tables),
        figures="\n".join(figure_html(*image) for image in images),
        sources=_sources(study),
        version=escape(version),
    )


def notes(study: Study) -> list[str]:
    """What a reader must know before trusting the numbers."""
    told = []
    if not study.limits.ok:
        told.append(f"The motion leaves {_left(study)} limits of the robot: a real machine would stop. See the table.")
    unphysical = study.model.robot.unphysical
    if unphysical:
        listed = "; ".join(f"{path} {problem}" for path, problem in list(unphysical.items())[:2])
        more = f" and {len(unphysical) - 2} more" if len(unphysical) > 2 else ""
        told.append(f"The robot file opts out of the check of inertias no real body has: {listed}{more}.")
    if study.indeterminate:
        told.append(
            "Inner stresses of this overconstrained robot leave these reactions open, so they are blank: "
            + "; ".join(study.indeterminate)
            + "."
        )
    return told + bending_notes(study) + near_singularity(study)


def bending_notes(study: Study) -> list[str]:
    """Sentences if the platform was taken not to vibrate, or bends by more than small-deflection theory is good for."""
    if study.bending is None:
        return []
    told = [f"The platform is taken not to vibrate, {study.bending.steady}."] if study.bending.steady else []
    from ...flexible.platforms import large_bending

    return told + large_bending(study.bending.model, study.bending.deflection)


def near_singularity(study: Study) -> list[str]:
    """A sentence if the motion comes near a singular pose."""
    worst = float(study.conditioning.condition.max())
    return [f"The path comes near a singularity: condition number up to {worst:.3g}."] if worst > 100 else []


def _facts(study: Study) -> list[tuple[str, str]]:
    force, power = study.force, study.power.sum(axis=1)
    leg = int(np.abs(force).max(axis=0).argmax())
    condition = study.conditioning.condition
    state = "none given" if not study.limits.names else "kept" if study.limits.ok else f"{_left(study)} left"
    return [
        ("Motion", f"{study.task.name}, {study.time[-1]:.4g} s, {len(study.time)} samples"),
        ("Largest force", f"{np.abs(force).max():.5g} N in {study.model.legs[leg]}"),
        ("Largest total power", f"{power.max():.4g} W"),
        ("Condition number", f"{condition.min():.4g} to {condition.max():.4g}"),
        ("Limits", state),
        ("Friction", "included" if study.friction else "left out"),
        *_bending(study),
    ]


def _bending(study: Study) -> list[tuple[str, str]]:
    bent = bending(study)
    return [] if bent is None else [("Platform", bent)]


def _left(study: Study) -> str:
    return f"{len(limits(study).rows)} of {len(study.limits.names)}"


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


def _sources(study: Study) -> str:
    rows = "\n".join(
        f"<tr><td class='text'><code>{escape(path)}</code></td><td class='text'>{escape(text)}</td></tr>"
        for path, text in study.model.robot.sources.items()
    )
    if not rows:
        return ""
    return (
        "<section><h2>Where the robot's numbers come from</h2><div class='wide'>"
        f"<table id='sources'><tbody>{rows}</tbody></table></div></section>"
    )
