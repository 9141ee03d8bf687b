"""``python -m bench``: times beside other engines, on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from polypod.cli.frame import report_errors
from polypod.cli.terminal import note, out, show_json, show_table, working
from polypod.tables import Table, table

if TYPE_CHECKING:
    from bench import Row

EXAMPLE = "Example: python -m bench --quick"


@report_errors
def command(
    robots: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROBOT]...", help="Six-degree-of-freedom robots; pedrammehr and kim-ryu without one."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the time, rougher numbers.")] = False,
    figure: Annotated[Path | None, typer.Option("--figure", help="Also draw growth curves to this PNG.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Operations and times of the compiled functions beside Pinocchio and MuJoCo, answers compared first."""
    from bench import ROBOTS, as_json, bench, setting

    chosen = tuple(robots or ROBOTS)
    with working("measuring") as step:
        rows = list(bench(chosen, 0.3 if quick else 3.0, step))
        if figure is not None:
            step("growth curves")
            _draw(chosen[0], figure)
    where = setting()
    if json_:
        show_json(as_json(rows, where))
        return
    for group in dict.fromkeys(row.group for row in rows):
        show_table(_table(group, [row for row in rows if row.group == group]))
    out().print(escape(f"\n{where.processor}, {where.features}; Python {where.python}; {json.dumps(where.versions)}"))
    if any("not installed" in version for version in where.versions.values()):
        note("some peers are missing: python3 -m pip install 'polypod[bench]'")


def _table(group: str, rows: list[Row]) -> Table:
    """Rows of a group; the time of a state in microseconds, of a build in seconds."""
    from bench.rows import BUILDING

    head, unit, scale = ("best time a build", "s", 1.0) if group == BUILDING else ("best time a state", "us", 1e6)
    columns = [
        ("what", ""),
        (head, unit),
        ("median", unit),
        ("operations", ""),
        ("ratio", ""),
        ("difference", ""),
        ("note", ""),
    ]
    lines = [
        (
            row.name,
            "" if row.seconds is None else f"{scale * row.seconds:.4g}",
            "" if row.median is None else f"{scale * row.median:.4g}",
            "" if row.operations is None else f"{row.operations:,}",
            "" if row.ratio is None else f"{row.ratio:.3g}x",
            "" if row.difference is None else f"{row.difference:.1e}",
            row.note,
        )
        for row in rows
    ]
    return table(group, columns, lines)


def _draw(robot: str, path: Path) -> None:
    from bench import growth
    from bench.plots import growth_figure
    from polypod.model import Model

    model = Model(robot)
    picture = growth_figure(growth.batch_growth(model), growth.mode_growth(), growth.compile_growth(model), robot)
    picture.savefig(path)
