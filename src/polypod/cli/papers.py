"""``polypod papers``: the papers' figures, claims and errata, computed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from ..tables import table
from .options import Json, Replace
from .terminal import Progress, err, out, report_errors, show_json, show_table

if TYPE_CHECKING:
    from ..papers.shared.report import Outcome

EXAMPLE = "Example: polypod papers kim-ryu --out kim-ryu-again"
DEFAULT = Path("polypod-papers")


def papers(
    chosen: Sequence[str] = (), out: str | Path = DEFAULT, force: bool = False, progress: Progress = lambda step: None
) -> list[Outcome]:
    """Run the studies of papers by name, all without one, and write their folder; returns what they found."""
    from ..papers.shared.report import write_papers

    return write_papers(chosen, Path(out), force, progress)


@report_errors
def command(
    chosen: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Papers by name; all without one.")
    ] = None,
    out_folder: Annotated[Path, typer.Option("--out", "-o", help="Report folder.")] = DEFAULT,
    force: Replace = False,
    json_: Json = False,
) -> None:
    """Figures, claims and errata of the papers the library is built from, with the number that decides each."""
    with _bar(chosen or []) as progress:
        outcomes = papers(chosen or (), out_folder, force, progress)
    if json_:
        show_json({"papers": [_summary(outcome) for outcome in outcomes], "folder": str(out_folder)})
        return
    columns = [(name, "") for name in ("paper", "confirmed", "refuted", "differs", "not testable", "errata", "figures")]
    show_table(table("Claims by verdict", columns, [tuple(_counts(outcome).values()) for outcome in outcomes]))
    out().print(f"\nReport: {escape(str(out_folder))} (open {escape(str(out_folder / 'report.html'))})")


def _counts(outcome: Outcome) -> dict[str, Any]:
    from ..papers import Verdict

    verdicts = Counter(claim.verdict for claim in outcome.claims.values())
    counts = {verdict.value: verdicts[verdict] for verdict in Verdict}
    return {"paper": outcome.study.name, **counts, "errata": len(outcome.errata), "figures": len(outcome.images)}


def _summary(outcome: Outcome) -> dict[str, Any]:
    from ..papers.shared.report import claims_table, errata_table

    return _counts(outcome) | {
        "claims": claims_table(outcome).records(),
        "corrections": errata_table(outcome).records(),
    }


@contextmanager
def _bar(chosen: Sequence[str]) -> Iterator[Progress]:
    """A progress bar on a terminal, nothing in a pipe."""
    console = err()
    if not console.is_terminal:
        yield lambda step: None
        return
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
