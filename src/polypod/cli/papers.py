"""``polypod papers``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from .frame import Answer, command
from .options import Replace
from .terminal import Progress, err


@command("papers", "papers kim-ryu --out kim-ryu-again")
def papers(
    chosen: Annotated[list[str] | None, typer.Argument(metavar="papers", help="Papers by name; default: all.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Report folder.")] = Path("polypod-papers"),
    force: Replace = False,
) -> Answer:
    from ..papers.shared.report import claims_table, errata_table, verdict_counts, verdicts_table, write_papers

    with _bar(chosen or ()) as progress:
        outcomes = write_papers(chosen or (), out, force, progress)
    listed = [
        verdict_counts(one) | {"claims": claims_table(one).records(), "corrections": errata_table(one).records()}
        for one in outcomes
    ]
    return Answer(
        [verdicts_table(outcomes), f"Report: {out} (open {out / 'report.html'})"],
        {"papers": listed, "folder": str(out)},
    )


@contextmanager
def _bar(chosen: Sequence[str]) -> Iterator[Progress]:
    """A progress bar on a terminal, nothing in a pipe."""
    console = err()
    if not console.is_terminal:
        yield lambda step: None
        return
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as ProgressBar

    from ..papers import names, study
    from ..papers.shared.report import steps

    total = steps(study(name) for name in (chosen or names()))
    parts = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with ProgressBar(*parts, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        begun = count()
        # shown when a step begins, so that a long one (the first use of a robot compiles it) is named while it lasts
        yield lambda step: bar.update(task, completed=next(begun), description=escape(step))
