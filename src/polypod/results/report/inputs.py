"""What a study was computed from, in words: files and their hashes, date, masses, stops, loads."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...datasets import robot_of
from ...description import Body, FlexiblePlatform, Robot
from ...tables import practical_unit
from ..read import limit_report

if TYPE_CHECKING:
    import xarray as xr


def input_facts(result: xr.Dataset, inputs: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the inputs, for people: mm, deg, kg, N."""
    robot, time = robot_of(result), result.time.values
    return [
        ("Robot", _from(robot.name, inputs.get("robot"))),
        ("Motion", _from(str(result.attrs["motion"]), inputs.get("motion"))),
        ("Length of the motion", f"{time[-1]:.4g} s, {len(time)} samples"),
        ("Computed", datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z")),
        *platform_facts(robot),
        ("Legs", _legs(robot)),
        ("Stops", _stops(result)),
        ("Gravity", f"{_numbers(np.array(robot.gravity))} m/s\N{SUPERSCRIPT TWO} in base axes"),
        ("Friction", "included" if result.attrs["friction"] == "yes" else "left out"),
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
        return [("Platform with its load", _body(robot.platform))]
    facts = [("Platform", _body(robot.platform))]
    for path, load in robot.payloads.items():
        name = load.name or path.removeprefix("payload").removeprefix(".")
        facts.append((f"Payload {name}".strip(), _body(load)))
    return [*facts, ("Platform with its payload", _body(robot.loaded_platform))]


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
