"""``polypod compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from .frame import Answer, Target, command
from .options import Rate, Replace, Settings, WithFriction, check_rate, with_overrides
from .terminal import working

if TYPE_CHECKING:
    from ..description import Robot


@command("compare", "compare hexapod lopes around-home, or polypod compare hexapod --set payload.mass=20")
def compare(
    robots: Annotated[
        list[str], typer.Argument(help="Library robots or robot files, optionally followed by a motion.")
    ],
    motion: Annotated[
        str | None, typer.Option("--motion", "-m", help="Motion for all robots; default: that of each robot.")
    ] = None,
    rate: Rate = None,
    friction: WithFriction = True,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="PNG, SVG or PDF figure of the curves.")] = None,
    force: Replace = False,
    settings: Settings = None,
) -> Answer:
    from ..file_kinds.checking import kind_of
    from ..results.compare import compare, study_robots
    from ..results.figures.comparison import comparison
    from ..results.figures.picture import write_picture

    check_rate(rate)
    target = None if out is None else Target(out, force)
    if motion is None and kind_of(robots[-1]) == "motion":
        *robots, motion = robots
    with working("comparing") as progress:
        studies = study_robots(_variants(robots, settings), motion, rate, friction, progress)
        found = compare(studies)
        if target is not None:
            progress("drawing")
            write_picture(target.path, comparison, studies, force=force)
    drawn = [] if target is None else [f"Picture: {target}"]
    return Answer([found.table.practical(), *found.sentences, *drawn], found.data(), list(found.notes))


def _variants(robots: Sequence[str], settings: Sequence[str] | None) -> dict[str, str | Path | Robot]:
    """Labels and robots: with settings all of them changed, or a single one as it is and changed."""
    stems = [Path(robot).stem for robot in robots]
    if len(robots) < 2:
        if not (robots and settings):
            raise InputError("compare: name two robots or more, or one with --set PATH=VALUE to compare it with itself")
        label = f"{stems[0]} with {', '.join(text.replace(' ', '') for text in settings)}"
        return {stems[0]: robots[0], label: with_overrides(robots[0], settings)}
    twice = next((robot for robot in robots if robots.count(robot) > 1), None)
    if twice is not None:
        raise InputError(f"compare: {twice!r} is named twice; name it once, with --set to change it")
    labels = [robot if stems.count(stem) > 1 else stem for robot, stem in zip(robots, stems, strict=True)]
    return {label: with_overrides(robot, settings) for label, robot in zip(labels, robots, strict=True)}
