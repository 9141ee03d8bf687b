"""One HTML page of a study: opens from disk, asks nothing of the network, prints well.

The page is its sections in the order of ``SECTIONS``. A new section is a function of a ``Study`` that gives
HTML, or nothing if the study has none of it, and a line there.
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets import robot_of
from ...description import Body, FlexiblePlatform, Robot
from ...model import Model
from ...model.results import suspected_unit_errors
from ...motion import Motion, Task
from ...motion.contract import WholeMotion
from ...pages import figure_html, report_page, table_html
from ...tables import called, practical_unit
from ...viewer import framed, live_page
from ..bearings import bearings
from ..read import actuator_names, actuators_by_unit, limit_report, open_reactions
from ..sizing import actuators, bending, foundation, limits
from ..verdict import limits_of, verdict

if TYPE_CHECKING:
    import xarray as xr


# ----------------------------------------------------------------------------------------------------------------------
# A study in a few numbers, and what a reader must know before trusting them.


def facts(result: xr.Dataset) -> list[tuple[str, str]]:
    """Names and values: how the platform moves, what the actuators must do, how near limits and singularities are."""
    power, report = result.power.values.sum(axis=1), limit_report(result)
    state = "none given" if not report.names else "all kept" if report.ok else f"{_exceeded(result)} exceeded"
    largest = []
    for (unit, push), numbers in actuators_by_unit(result).items():
        force = np.abs(result.force.values[:, numbers]).max(axis=0)
        rates = np.abs(result.qdot.values[:, numbers]).max(axis=0)
        factor, rate = practical_unit(f"{unit}/s")
        most, fastest = (actuator_names(result)[numbers[int(values.argmax())]] for values in (force, rates))
        largest += [(f"Largest {called('force', push)}", f"{_short(force.max())} {push} in {most}")]
        largest += [("Largest actuator speed", f"{_short(factor * rates.max())} {rate} in {fastest}")]
    acceleration = result.acceleration.values
    speed, spin = _longest(result.twist.values[:, :3]), _longest(result.twist.values[:, 3:])
    return [
        *largest,
        ("Largest total power", f"{_short(max(power.max(), 0.0))} W"),
        ("Largest tilt", f"{_short(np.degrees(_tilt(result).max()))} deg from home"),
        ("Platform speed", f"{_short(1e3 * speed)} mm/s, {_short(np.degrees(spin))} deg/s"),
        ("Platform acceleration", f"{_short(_longest(acceleration[:, :3]))} m/s\N{SUPERSCRIPT TWO}"),
        ("Force amplification", f"at most {_short(1.0 / float(result.distance.min()))}"),
        ("Limits", state),
        *_between(result),
        *_bending(result),
    ]  # fmt: skip


def _short(value: float) -> str:
    text = f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return "0" if abs(value) < 1e-9 else text


def _longest(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors, axis=1).max())


def _tilt(result: xr.Dataset) -> np.ndarray:
    """Angle (n,) [rad] between the platform's z axis and where that axis points at home."""
    home = robot_of(result).home.matrix[:3, 2]
    z = result.pose.values[:, :3, 2]
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(z, home), axis=1), z @ home))


def _bending(result: xr.Dataset) -> list[tuple[str, str]]:
    shape = bending(result)
    return [] if shape is None else [("Platform", shape)]


def _between(result: xr.Dataset) -> list[tuple[str, str]]:
    """Whether the motion is proven between its samples, where that was looked at."""
    words = {"yes": "kept, proven", "no": "not proven", "not tried": "not checked"}
    state = "broken" if result.attrs.get("broken_between_samples") else words.get(result.attrs.get("certified", ""), "")
    return [("Limits between samples", state)] if state else []


def _exceeded(result: xr.Dataset) -> str:
    return f"{len(limits(result).rows)} of {len(limit_report(result).names)}"


def notes(result: xr.Dataset) -> list[str]:
    """What a reader must know before trusting the numbers."""
    found = []
    if not limit_report(result).ok:
        found.append(f"The motion exceeds {_exceeded(result)} limits of the robot. See the table.")
        found += [f"Limits in the wrong unit? {text}." for text in suspected_unit_errors(limit_report(result))]
    unphysical = robot_of(result).unphysical
    if unphysical:
        listed = "; ".join(f"{path} {problem}" for path, problem in list(unphysical.items())[:2])
        more = f" and {len(unphysical) - 2} more" if len(unphysical) > 2 else ""
        found.append(f"The robot file disables the inertia check for physically impossible bodies: {listed}{more}.")
    sharing = limits_of(result).sharing
    if sharing:
        found.append(f"The robot has more actuators than degrees of freedom: {sharing}.")
    left_open = open_reactions(result)
    if left_open:
        found.append(
            "Internal forces of this overconstrained robot leave these reactions undetermined (blank): "
            + "; ".join(left_open)
            + "."
        )
    said = [str(result.attrs.get(name, "")) for name in ("held_at_rest", "straight_cables")]
    return found + [f"{text}." for text in said if text] + bending_notes(result) + near_singularity(result)


def bending_notes(result: xr.Dataset) -> list[str]:
    """Sentences if the platform was taken not to vibrate, or bends by more than small-deflection theory is good for."""
    if "deflection" not in result:
        return []
    from ...platforms.modes import large_deflection  # brings finite elements along

    vibrates, _, why = str(result.attrs["vibration"]).partition(", ")
    found = [] if vibrates == "yes" else [f"Vibration of the platform is neglected, {why}."]
    robot = robot_of(result)
    return found + large_deflection(robot, result.deflection.values, robot.platform_size)


def near_singularity(result: xr.Dataset) -> list[str]:
    """A sentence if the motion comes near a singular pose."""
    worst = float(result.condition.max())
    return [f"The path passes near a singularity: condition number up to {worst:.3g}."] if worst > 100 else []


# ----------------------------------------------------------------------------------------------------------------------
# What a study was computed from, in words: files and their hashes, date, masses, stops, loads.


def input_facts(result: xr.Dataset, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the inputs, for people: mm, deg, kg, N."""
    robot, time = robot_of(result), result.time.values
    return [
        ("Robot", _from(robot.name, inputs.get("robot"))),
        ("Motion", _from(str(result.attrs["motion"]), inputs.get("motion"))),
        ("Duration of the motion", f"{time[-1]:.4g} s, {len(time)} samples"),
        ("Computed", datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")),
        *platform_facts(robot),
        ("Legs", _legs(robot)),
        ("Stops", _stops(result)),
        ("Gravity", f"{_numbers(np.array(robot.gravity))} m/s\N{SUPERSCRIPT TWO} in base axes"),
        ("Friction", "included" if result.attrs["friction"] == "yes" else "not included"),
        ("External wrench", _wrench(result)),
    ]


def _from(name: str, source: Any) -> str:
    """A name, and the file and hash it comes from if it is a file's."""
    if not isinstance(source, Mapping) or "sha256" not in source:
        return name
    file = "" if source["name"] == name else f", file {source['name']}"
    return f"{name}{file}, SHA-256 {source['sha256'][:12]}"


def platform_facts(robot: Robot) -> list[tuple[str, str]]:
    """The platform; where it has a payload, each body of it and the whole."""
    if not robot.payloads:
        return [("Platform with payload", _body(robot.platform))]
    facts = [("Platform", _body(robot.platform))]
    for path, load in robot.payloads.items():
        name = load.name or path.removeprefix("payload").removeprefix(".")
        facts.append((f"Payload {name}".strip(), _body(load)))
    return [*facts, ("Platform with payload", _body(robot.loaded_platform))]


def _body(body: Body | FlexiblePlatform) -> str:
    return f"{body.mass:.4g} kg, centre of mass at {_numbers(1e3 * np.array(body.com))} mm in platform axes"


def _legs(robot: Robot) -> str:
    kinds: dict[str, int] = {}
    for leg in robot.legs:
        kinds[leg.kind] = kinds.get(leg.kind, 0) + 1
    return ", ".join(f"{count} of kind {kind}" for kind, count in kinds.items())


def _stops(result: xr.Dataset) -> str:
    """Ranges of the limited quantities by kind, once if all legs have the same."""
    report, kinds = limit_report(result), {}  # type: ignore[var-annotated]
    for k, (_, kind) in enumerate(report.names):
        factor, unit = practical_unit(report.units[k])
        low, high = factor * report.low[k], factor * report.high[k]
        text = f"to {high:.4g} {unit}" if low == 0 and unit == "deg" else f"{low:.4g} to {high:.4g} {unit}"
        kinds.setdefault(kind, {})[text] = None
    return "; ".join(f"{kind} {' or '.join(texts)}" for kind, texts in kinds.items()) or "none in the robot file"


def _wrench(result: xr.Dataset) -> str:
    if "wrench" not in result:
        return "none"
    force, moment = (np.linalg.norm(result.wrench.values[:, part], axis=1).max() for part in (slice(3), slice(3, 6)))
    return f"up to {force:.4g} N and {moment:.4g} N m"


def _numbers(values: Any) -> str:
    return ", ".join(f"{value + 0.0:.4g}" for value in values)


# ----------------------------------------------------------------------------------------------------------------------
# One HTML page of a study: opens from disk, asks nothing of the network, prints well.

__all__ = ["SECTIONS", "Image", "Study", "near_singularity", "notes", "page"]

Image = tuple[str, str, bytes]
"""Name, caption and SVG text of a figure."""
_FIRST = ("geometry", "motion")
"""Figures of the inputs; the others show results."""


@dataclass(frozen=True)
class Study:
    """What a page is made of: a result, its figures, its inputs by name, and the model if it is at hand."""

    result: xr.Dataset
    images: Sequence[Image] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    model: Model | None = None


def page(
    result: xr.Dataset,
    images: Sequence[Image],
    inputs: Mapping[str, Any] | None = None,
    model: Model | None = None,
) -> str:
    """The report as HTML text with its figures inside."""
    robot, study = robot_of(result), Study(result, images, inputs or {}, model)
    return report_page(
        f"{robot.name}: {result.attrs['motion']}",
        [robot.title or robot.name, robot.reference],
        [section(study) for section in SECTIONS],
        "Base axes; forces are positive in the direction of increasing coordinates. All values, in SI units and full "
        "precision, are in results.nc and the CSV files next to this page.",
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
    if "base_pose" in result:  # the page is of a base that stands still
        return ""
    if model is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever computed the result was warned
            model = Model(robot_of(result))
    at: Motion = Motion(*(result[name].values for name in ("time", "pose", "twist", "acceleration")))
    if "internal" in result:
        own = (result[f"internal_{name}"].values for name in ("rate", "acceleration"))
        twist, acceleration = (np.concatenate(pair, axis=1) for pair in zip(at[2:], own, strict=True))
        at = WholeMotion.of(at.time, at.pose, twist, acceleration, result["internal"].values)
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
    shown = limits(result), actuators(result), bearings(result), foundation(result)
    return "\n".join(table_html(table) for table in shown if table.rows)


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
        "<section><h2>Sources of the robot's parameters</h2><div class='wide'>"
        f"<table id='sources'><tbody>{rows}</tbody></table></div></section>"
    )


SECTIONS: tuple[Callable[[Study], str], ...] = (_verdict, _live, _glance, _notes, _inputs, _tables, _figures, _sources)
"""What the page shows, from top to bottom."""


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in pairs)
