"""Run the studies of papers and write their results: figures, tables and one page to read."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from ...output.folder import atomic_folder, check_target
from ...pages import figure_html, report_page, table_html, template_text
from ...tables import Table, short, table
from .. import names, study
from .contract import Claim, Erratum, Measure, PaperStudy, Verdict

Progress = Callable[[str], None]
Result = TypeVar("Result")
PAGE = "report.html"
_MEASURE = [
    (name, "")
    for name in ("quantity", "measured", "unit", "relation", "expected", "tolerance", "reason", "role", "holds")
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


def verdict_counts(outcome: Outcome) -> dict[str, Any]:
    """The paper's name, how many of its claims have each verdict, and how many errata and figures there are."""
    verdicts = Counter(claim.verdict for claim in outcome.claims.values())
    counts = {verdict.value: verdicts[verdict] for verdict in Verdict}
    return {"paper": outcome.study.name, **counts, "errata": len(outcome.errata), "figures": len(outcome.images)}


def verdicts_table(outcomes: Sequence[Outcome]) -> Table:
    """Verdicts on the claims of each paper."""
    columns = [(name, "") for name in ("paper", "confirmed", "refuted", "differs", "not testable", "errata", "figures")]
    return table("Claims by verdict", columns, [tuple(verdict_counts(outcome).values()) for outcome in outcomes])


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
    holds = "yes" if m.holds else "no"
    return m.label, m.value, m.unit, m.relation, m.expected, m.tolerance, m.reason, role, holds


# ----------------------------------------------------------------------------------------------------------------------
# One HTML page of the papers' studies: opens from disk, asks nothing of the network, prints well.

_COLOURS = {
    Verdict.CONFIRMED: "#009E73",
    Verdict.REFUTED: "#D55E00",
    Verdict.DIFFERS: "#E69F00",
    Verdict.NOT_TESTABLE: "#777777",
}
_CLAIM_COLUMNS = {"claim": 24, "paper says": 12, "measured": 28, "verdict": 10, "why": 26}
_ERRATUM_COLUMNS = {"equation": 10, "printed": 20, "right": 20, "why": 22, "what it costs": 28}


def page(outcomes: Sequence[Outcome]) -> str:
    """The report as HTML text with its figures inside."""
    links = "".join(f'<a href="#{o.study.name}">{escape(o.study.name)}</a>' for o in outcomes)
    total = sum(len(o.claims) for o in outcomes), sum(len(o.errata) for o in outcomes)
    lead = (
        f"{total[0]} claims and {total[1]} errata of {len(outcomes)} papers, computed again; every number below is "
        "also a test. A verdict follows from the numbers that a statement asks for, marked + where they are so and - "
        "where they are not. A number in brackets is the one the paper or an independent computation gives."
    )
    return report_page(
        "Papers as programs",
        [],
        [f'<p class="lead">{lead}</p><nav>{links}</nav>', *map(_article, outcomes)],
        "SI units; base axes. All numbers are in the CSV files beside this page, with the width and the reason of each "
        "tolerance.",
        template_text(__package__, "page.css"),
    )


def _article(outcome: Outcome) -> str:
    study = outcome.study
    choices = "".join(f"<li>{escape(text)}</li>" for text in study.choices)
    claims = "".join(_claim(claim) for claim in outcome.claims.values())
    errata = "".join(_erratum(erratum) for erratum in outcome.errata.values())
    figures = "".join(figure_html(f"{study.name}-{i.name}", i.caption, i.png, "image/png") for i in outcome.images)
    return f"""
<article id="{escape(study.name)}">
<h2>{escape(study.name)}: {escape(study.title)}</h2>
<p class="lead">{escape(study.reference)}</p>
<section><h3>Choices the paper leaves open</h3><ul>{choices}</ul></section>
{_section("Claims", _CLAIM_COLUMNS, claims)}
{_section("Errata", _ERRATUM_COLUMNS, errata)}
{"".join(map(table_html, outcome.tables.values()))}
<section><h3>Figures</h3>{figures}</section>
</article>"""


def _claim(claim: Claim) -> str:
    verdict = f'<td class="text verdict" style="color:{_COLOURS[claim.verdict]}">{claim.verdict.value}</td>'
    stands = f"{escape(claim.statement)}<br><small>{escape(claim.where)}</small>"
    cells = (
        _text(stands),
        _text(escape(claim.paper)),
        _text(_list(claim.asked, marked=True) + _list(claim.measured)),
        verdict,
        _text(escape(claim.explanation)),
    )
    return f"<tr>{''.join(cells)}</tr>\n"


def _erratum(erratum: Erratum) -> str:
    costs = f"{escape(erratum.effect)}{_list(erratum.measured)}"
    texts = (erratum.equation, erratum.printed, erratum.corrected, erratum.proof)
    return f"<tr>{''.join(_text(escape(text)) for text in texts)}{_text(costs)}</tr>\n"


def _list(measures: Sequence[Measure], marked: bool = False) -> str:
    marks = {True: "+ ", False: "- "} if marked else {True: "", False: ""}
    return "<ul>" + "".join(f"<li>{marks[m.holds]}{_measure(m)}</li>" for m in measures) + "</ul>"


def _measure(m: Measure) -> str:
    unit = "" if m.unit == "1" else f" {m.unit}"
    sign = {"=": "", "<=": "at most ", ">=": "at least "}[m.relation]
    return f"{escape(m.label)}: <b>{shown(m)}</b>{escape(unit)} <span>({sign}{short(m.expected)})</span>"


def shown(m: Measure) -> str:
    """A measured number for reading; rounding errors (below a bound of 1e-9 or less) by that bound."""
    noise = m.relation == "<=" and 0.0 < m.expected <= 1e-9 and m.holds
    return f"below {short(m.expected)}" if noise else short(m.value)


def _text(html: str) -> str:
    return f'<td class="text">{html}</td>'


def _section(title: str, columns: dict[str, int], rows: str) -> str:
    """A table whose columns take given shares of its width [%]."""
    head = "".join(f'<th style="width:{width}%">{column}</th>' for column, width in columns.items())
    table = f'<table class="lines"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<section><h3>{title}</h3><div class="wide">{table}</div></section>'


# ----------------------------------------------------------------------------------------------------------------------
# What a study of a paper came to.


@dataclass(frozen=True)
class Image:
    """A figure by file name and caption, as PNG and SVG."""

    name: str
    caption: str
    png: bytes
    svg: bytes


@dataclass(frozen=True)
class Outcome:
    """Results of a study; claims, errata and tables by the names of their functions."""

    study: PaperStudy
    claims: dict[str, Claim]
    errata: dict[str, Erratum]
    tables: dict[str, Table]
    images: tuple[Image, ...]
