"""``polypod compare``: robots side by side along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..errors import InputError
from .file_checks import kind_of
from .options import Json, Replace, WithFriction, check_rate, measured
from .overrides import Settings, with_overrides
from .pictures import write_picture
from .terminal import Progress, out, report_errors, show_json, show_table, working

if TYPE_CHECKING:
    import xarray as xr

    from ..description import Robot
    from ..results.compare import Comparison

EXAMPLE = "Example: polypod compare hexapod lopes around-home, or polypod compare hexapod --set payload.mass=20"


def compare(
    robots: Sequence[str],
    motion: str | None = None,
    rate: float | None = None,
    friction: bool = True,
    settings: Sequence[str] | None = None,
    progress: Progress = lambda step: None,
) -> tuple[Comparison, dict[str, xr.Dataset]]:
    """Study robots along a motion, each along its own if none is named; returns the comparison and the studies.

    ``settings`` are other values of the robots' numbers. One robot is compared with itself as its file has it. Robots
    of one topology share their compiled functions.
    """
    from ..model import Model
    from ..motion import make_task, with_motion_lines
    from ..results import study
    from ..results.compare import compare as compared

    studies: dict[str, xr.Dataset] = {}
    for label, robot in _variants(robots, settings):
        progress(f"{label}: compiling")
        model = Model(robot)
        with with_motion_lines(motion if rate is None else None):
            task = make_task(model, motion, rate)
        with with_motion_lines(motion):
            studies[label] = study(model, task, friction, lambda step, at=label: progress(f"{at}: {step}"))  # type: ignore[misc]
    return compared(studies), studies


def _variants(robots: Sequence[str], settings: Sequence[str] | None) -> list[tuple[str, str | Path | Robot]]:
    """Labels and robots: with settings all of them changed, or a single one as it is and changed."""
    if len(robots) < 2:
        if not (robots and settings):
            raise InputError("compare: name two robots or more, or one with --set PATH=VALUE to compare it with itself")
        label = f"{Path(robots[0]).stem} with {', '.join(text.replace(' ', '') for text in settings)}"
        return [(Path(robots[0]).stem, robots[0]), (label, with_overrides(robots[0], settings))]
    found: list[tuple[str, str | Path | Robot]] = []
    for robot in robots:
        stem = Path(robot).stem
        alike = sum(Path(other).stem == stem for other in robots) > 1
        if robots.count(robot) > 1:
            raise InputError(f"compare: {robot!r} is named twice; name it once, with --set to change it")
        found.append((robot if alike else stem, with_overrides(robot, settings)))
    return found


@report_errors
def command(
    robots: Annotated[
        list[str], typer.Argument(help="Library robots or robot files; the last one may be a motion of all.")
    ],
    motion: Annotated[
        str | None, typer.Option("--motion", "-m", help="Motion of all; each robot's own if not given.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="samples per second.", **measured("Hz"))] = None,
    friction: WithFriction = True,
    picture: Annotated[Path | None, typer.Option("--out", "-o", help="PNG file for overlaid figures.")] = None,
    force: Replace = False,
    settings: Settings = None,
    json_: Json = False,
) -> None:
    """Robots side by side along a motion: forces, power, reactions, strokes, conditioning, what is better."""
    from ..output.atomic import check_target

    check_rate(rate)
    if picture is not None:
        check_target(picture, force)
    if motion is None and kind_of(robots[-1]) == "motion":
        *robots, motion = robots
    with working("comparing") as progress:
        found, studies = compare(robots, motion, rate, friction, settings, progress)
        if picture is not None:
            progress("drawing")
            _draw(studies, picture, force)
    if json_:
        show_json(found.data())
        return
    show_table(found.table.practical())
    out().print()
    for text in found.sentences:
        out().print(escape(text))
    if picture is not None:
        out().print(f"Picture: {escape(str(picture))}")


def _draw(studies: dict[str, xr.Dataset], picture: Path, force: bool) -> None:
    from ..results.figures.comparison import comparison

    write_picture(picture, comparison, studies, force=force)
