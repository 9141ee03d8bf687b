"""Run the studies of papers and write what they find: figures, tables and one page to read."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..results.report.folder import check_target, whole_folder
from ..results.tables import Table, table
from . import names, study
from .contract import Claim, Erratum, Measure, PaperStudy

Step = Callable[[str], None]
PAGE = "report.html"
_MEASURE = [(name, "") for name in ("quantity", "measured", "unit", "relation", "expected", "tolerance", "reason")]


@dataclass(frozen=True)
class Image:
    """A figure by file name and caption, as PNG and SVG."""

    name: str
    caption: str
    png: bytes
    svg: bytes


@dataclass(frozen=True)
class Outcome:
    """All that a study found; claims, errata and tables by the names of the functions that made them."""

    study: PaperStudy
    claims: dict[str, Claim]
    errata: dict[str, Erratum]
    tables: dict[str, Table]
    images: tuple[Image, ...]


def steps(chosen: Iterable[PaperStudy]) -> int:
    """How many steps a run of these studies reports."""
    return sum(len(s.claim_makers) + len(s.erratum_makers) + len(s.table_makers) + len(s.drawings) for s in chosen)


def evaluate(what: PaperStudy, progress: Step = lambda step: None) -> Outcome:
    """Run one study; ``progress`` is told of every line and figure before it is made."""

    def told(name: str) -> None:
        progress(f"{what.name}: {name.replace('_', ' ')}")

    claims, errata, tables = {}, {}, {}
    for claim in what.claim_makers:
        told(claim.__name__)
        claims[claim.__name__] = claim()
    for erratum in what.erratum_makers:
        told(erratum.__name__)
        errata[erratum.__name__] = erratum()
    for make in what.table_makers:
        told(make.__name__)
        tables[make.__name__] = make()
    images = []
    for drawing in what.drawings:
        told(drawing.name)
        figure = drawing.draw()
        png = _bytes(figure, "png")
        figure.set_layout_engine("none")  # where everything is has been settled: finding it again takes half the time
        images.append(Image(drawing.name, drawing.caption, png, _bytes(figure, "svg")))
    return Outcome(what, claims, errata, tables, tuple(images))


def _bytes(figure: object, kind: str) -> bytes:
    import matplotlib as mpl

    buffer = io.BytesIO()
    # the same run gives the same file: no date, no random names
    with mpl.rc_context({"svg.hashsalt": "polypod"}):
        figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)  # type: ignore[attr-defined]
    return buffer.getvalue()


def write_papers(
    chosen: Sequence[str], target: Path, force: bool = False, progress: Step = lambda step: None
) -> list[Outcome]:
    """Run studies by name (all if none is named) and write their folder, whole or not at all."""
    from .page import page

    picked = [study(name) for name in (chosen or names())]
    ours = (PAGE, *names())
    check_target(target, force, ours)  # before minutes of work, not after
    outcomes = [evaluate(one, progress) for one in picked]
    with whole_folder(target, force, ours) as folder:
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
    for name, made in tables.items():
        (folder / f"{name.replace('_', '-')}.csv").write_text(made.csv(), encoding="utf-8")


def claims_table(outcome: Outcome) -> Table:
    """The claims with a row for each number."""
    columns = [(name, "") for name in ("claim", "where", "statement", "paper says")] + _MEASURE
    rows = [
        (key.replace("_", " "), c.where, c.statement, c.paper, *_cells(m), c.verdict.value, c.explanation)
        for key, c in outcome.claims.items()
        for m in c.measured
    ]
    return table("Claims", [*columns, ("verdict", ""), ("explanation", "")], rows)


def errata_table(outcome: Outcome) -> Table:
    """The errata with a row for each number."""
    columns = [(name, "") for name in ("equation", "printed", "corrected", "proof", "effect")] + _MEASURE
    rows = [
        (e.equation, e.printed, e.corrected, e.proof, e.effect, *_cells(m))
        for e in outcome.errata.values()
        for m in e.measured
    ]
    return table("Errata", columns, rows)


def _cells(m: Measure) -> tuple[str, float, str, str, float, float, str]:
    return m.label, m.value, m.unit, m.relation, m.expected, m.tolerance, m.reason
