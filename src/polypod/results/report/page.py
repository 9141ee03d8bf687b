"""One HTML page of a study: opens from disk, asks nothing of the network, prints well.

The page is its sections in the order of :data:`SECTIONS`. A new section is a function of a :class:`Study` that gives
HTML, or nothing if the study has none of it, and a line there.
"""

from __future__ import annotations

import base64
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING, Any

from ...datasets import robot_of
from ...model import Model
from ...motion import Motion, Task
from ...tables import Table
from ...view import framed, live_page
from ..bearings import bearings
from ..sizing import actuators, limits
from ..verdict import verdict
from .facts import facts, near_singularity, notes
from .inputs import input_facts

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SECTIONS", "Image", "Study", "near_singularity", "notes", "page", "style", "table_html"]

Image = tuple[str, str, bytes]
"""Name, caption and SVG text of a figure."""
_FIRST = ("geometry", "motion")
"""Figures of the inputs; the others show results."""
_DIGITS = 3


@dataclass(frozen=True)
class Study:
    """What a page is made of: a result, its figures, its inputs by name, and the model if it is at hand."""

    result: xr.Dataset
    images: Sequence[Image] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    model: Model | None = None


def template() -> str:
    """The page without its contents."""
    return (resources.files(__package__) / "template.html").read_text(encoding="utf-8")


def style() -> str:
    """The style sheet of the page, with which other reports look alike."""
    return template().partition("<style>")[2].partition("</style>")[0]


def page(
    result: xr.Dataset, images: Sequence[Image], version: str, inputs: Mapping[str, Any] | None = None,
    model: Model | None = None,
) -> str:  # fmt: skip
    """The report as HTML text with its figures inside."""
    robot, study = robot_of(result), Study(result, images, inputs or {}, model)
    return Template(template()).substitute(
        title=escape(f"{robot.name}: {result.attrs['motion']}"),
        robot_title=escape(robot.title or robot.name),
        reference=escape(robot.reference),
        sections="\n".join(filter(None, (section(study) for section in SECTIONS))),
        version=escape(version),
    )


def _verdict(study: Study) -> str:
    """Whether everything fits, and how much of each limit is used."""
    found = verdict(study.result)
    if not found.uses:
        return f'<p class="note">{escape(found.headline)}</p>'
    kind = "kept" if found.ok else "broken"
    return (
        f"<section id='verdict'><p class='verdict {kind}'>{escape(found.headline)}</p>"
        f"<div class='wide'><table>{found.html_rows()}</table></div>"
        f"<p class='caption'>{escape(found.table.caption)}</p></section>"
    )


def _live(study: Study) -> str:
    """The robot to drag and the motion to play, in a frame."""
    result, model = study.result, study.model
    if model is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever computed the result was warned
            model = Model(robot_of(result))
    at = Motion(*(result[name].values for name in ("time", "pose", "twist", "acceleration")))
    wrench = result.wrench.values if "wrench" in result else None
    shown = framed(live_page(model, Task(result.attrs["motion"], at, wrench), result.attrs["friction"] == "yes"))
    return f'<section id="live">\n{shown}\n</section>'


def _glance(study: Study) -> str:
    return f'<dl id="glance">\n{_pairs(facts(study.result))}\n</dl>'


def _notes(study: Study) -> str:
    return "\n".join(f'<p class="note">{escape(text)}</p>' for text in notes(study.result))


def _inputs(study: Study) -> str:
    rows = "\n".join(
        f"<tr><th class='text'>{escape(name)}</th><td class='text'>{escape(value)}</td></tr>"
        for name, value in input_facts(study.result, study.inputs)
    )
    figures = "\n".join(figure_html(*image) for image in study.images if image[0] in _FIRST)
    robot = escape(str(study.result.attrs["robot_file"]))
    return (
        f"<section id='inputs'><h2>Inputs</h2><table class='facts'><tbody>\n{rows}\n</tbody></table>\n{figures}\n"
        f"<details><summary>The robot as a file</summary><pre>{robot}</pre></details></section>"
    )


def _tables(study: Study) -> str:
    result = study.result
    return "\n".join(table_html(table) for table in (limits(result), actuators(result), bearings(result)) if table.rows)


def _figures(study: Study) -> str:
    shown = "\n".join(figure_html(*image) for image in study.images if image[0] not in _FIRST)
    return f"<section id='figures'><h2>Figures</h2>\n{shown}\n</section>" if shown else ""


def _sources(study: Study) -> str:
    rows = "\n".join(
        f"<tr><td class='text'><code>{escape(path)}</code></td><td class='text'>{escape(text)}</td></tr>"
        for path, text in robot_of(study.result).sources.items()
    )
    if not rows:
        return ""
    return (
        "<section><h2>Where the robot's numbers come from</h2><div class='wide'>"
        f"<table id='sources'><tbody>{rows}</tbody></table></div></section>"
    )


SECTIONS: tuple[Callable[[Study], str], ...] = (_verdict, _live, _glance, _notes, _inputs, _tables, _figures, _sources)
"""What the page shows, from top to bottom."""


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in pairs)


def table_html(table: Table) -> str:
    """A table under its title, in units that people use and three digits."""
    shown = table.practical().html(_DIGITS).replace("<table>", f"<table id='{escape(table.title.lower())}'>", 1)
    caption = f"<p class='caption'>{escape(table.caption)}</p>" if table.caption else ""
    return f"<section><h2>{escape(table.title)}</h2><div class='wide'>{shown}</div>{caption}</section>"


def figure_html(name: str, caption: str, image: bytes, media_type: str = "image/svg+xml") -> str:
    """A figure with its caption; as a picture of its own, so that names inside it cannot clash or run."""
    data = base64.b64encode(image).decode()
    return (
        f'<figure id="{escape(name)}"><div><img alt="{escape(caption)}" src="data:{media_type};base64,{data}"></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
