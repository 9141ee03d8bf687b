"""Run the studies of papers and write their results: figures, tables and one page to read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from ...results.report.folder import atomic_folder, check_target
from ...tables import Table, table
from .. import names, study
from .contract import Measure, PaperStudy
from .outcome import Image, Outcome
from .page import page

Progress = Callable[[str], None]
Result = TypeVar("Result")
PAGE = "report.html"
_MEASURE = [
    (name, "")
    for name in (
        "quantity",
        "measured",
        "unit",
        "relation",
        "expected",
        "tolerance",
        "reason",
        "source",
        "role",
        "holds",
    )
]


def steps(chosen: Iterable[PaperStudy]) -> int:
    """How many steps a run of these studies reports."""
    return sum(len(s.claims) + len(s.errata) + len(s.tables) + len(s.figures) for s in chosen)


def evaluate(paper: PaperStudy, progress: Progress = lambda step: None) -> Outcome:
    """Run one study; ``progress`` is called with the name of every line and figure before it is computed."""

    def run(function: Callable[[], Result]) -> tuple[str, Result]:
        progress(f"{paper.name}: {function.__name__.replace('_', ' ')}")
        return function.__name__, function()

    claims = dict(map(run, paper.claims))
    errata = dict(map(run, paper.errata))
    tables = dict(map(run, paper.tables))
    images = []
    for drawing in paper.figures:
        progress(f"{paper.name}: {drawing.name}")
        figure = drawing.draw()
        png = _bytes(figure, "png")
        figure.set_layout_engine("none")  # keep the layout of the PNG: computing it again takes half the time
        images.append(Image(drawing.name, drawing.caption, png, _bytes(figure, "svg")))
    return Outcome(paper, claims, errata, tables, tuple(images))


def _bytes(figure: object, kind: str) -> bytes:
    import matplotlib as mpl

    buffer = io.BytesIO()
    # the same run gives the same file: no date, no random names
    with mpl.rc_context({"svg.hashsalt": "polypod"}):
        figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)  # type: ignore[attr-defined]
    return buffer.getvalue()


def write_papers(
    chosen: Sequence[str], target: Path, force: bool = False, progress: Progress = lambda step: None
) -> list[Outcome]:
    """Run studies by name (all if none is named) and write their folder, whole or not at all."""
    studies = [study(name) for name in (chosen or names())]
    ours = (PAGE, *names())
    check_target(target, force, ours)  # before minutes of work, not after
    outcomes = [evaluate(one, progress) for one in studies]
    with atomic_folder(target, force, ours) as folder:
        for outcome in outcomes:
            _write(outcome, folder / outcome.study.name)
        (folder / PAGE).write_text(page(outcomes), encoding="utf-8")
    return outcomes


def _write(outcome: Outcome, folder: Path) -> None:
    (folder / "figures").mkdir(parents=True)
    for image in outcome.images:
        (folder / "figures" / f"{image.name}.png").write_bytes(image.png)
        (folder / "figures" / f"{image.name}.svg").write_bytes(image.svg)
    tables = {"claims": claims_table(outcome), "errata": errata_table(outcome), **outcome.tables}
    for name, one in tables.items():
        (folder / f"{name.replace('_', '-')}.csv").write_text(one.csv(), encoding="utf-8")


def claims_table(outcome: Outcome) -> Table:
    """The claims with a row for each number."""
    columns = [(name, "") for name in ("claim", "where", "statement", "paper says")] + _MEASURE
    rows = [
        (key.replace("_", " "), c.where, c.statement, c.paper, *_cells(m, role), c.verdict.value, c.explanation)
        for key, c in outcome.claims.items()
        for role, measures in (("asked for by the statement", c.asked), ("beside a known value", c.measured))
        for m in measures
    ]
    return table("Claims", [*columns, ("verdict", ""), ("explanation", "")], rows)


def errata_table(outcome: Outcome) -> Table:
    """The errata with a row for each number."""
    columns = [(name, "") for name in ("equation", "printed", "corrected", "proof", "effect")] + _MEASURE
    rows = [
        (e.equation, e.printed, e.corrected, e.proof, e.effect, *_cells(m, "beside a known value"))
        for e in outcome.errata.values()
        for m in e.measured
    ]
    return table("Errata", columns, rows)


def _cells(m: Measure, role: str) -> tuple[str | float, ...]:
    source = "recorded here" if m.is_recorded else "the paper or an independent computation"
    holds = "yes" if m.holds else "no"
    return m.label, m.value, m.unit, m.relation, m.expected, m.tolerance, m.reason, source, role, holds
