"""One HTML page of the papers' studies: opens from disk, asks nothing of the network, prints well."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...results.report.page import figure_html, style, table_html
from ...tables import short
from .contract import Claim, Erratum, Measure, Verdict
from .outcome import Outcome

_COLOURS = {
    Verdict.CONFIRMED: "#009E73",
    Verdict.REFUTED: "#D55E00",
    Verdict.DIFFERS: "#E69F00",
    Verdict.NOT_TESTABLE: "#777777",
}
_CLAIM_COLUMNS = {"claim": 24, "paper says": 12, "measured": 28, "verdict": 10, "why": 26}
_ERRATUM_COLUMNS = {"equation": 10, "printed": 20, "right": 20, "why": 22, "what it costs": 28}
_MORE = """
  nav a { margin-right: 1.2rem; }
  h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
  table.lines { table-layout: fixed; width: 100%; min-width: 52rem; }
  table.lines th { text-align: left; }
  table.lines td { overflow-wrap: anywhere; }
  td.verdict { font-weight: 600; }
  td ul { margin: 0; padding: 0; list-style: none; }
  td li span { color: #555; white-space: nowrap; }
  article { border-top: 2px solid #222; margin-top: 2.5rem; padding-top: .5rem; }
"""


def page(outcomes: Sequence[Outcome]) -> str:
    """The report as HTML text with its figures inside."""
    from ... import __version__

    links = "".join(f'<a href="#{o.study.name}">{escape(o.study.name)}</a>' for o in outcomes)
    total = sum(len(o.claims) for o in outcomes), sum(len(o.errata) for o in outcomes)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Papers as programs</title>
<link rel="icon" href="data:,">
<style>{style()}{_MORE}</style>
</head>
<body>
<header>
<h1>Papers as programs</h1>
<p class="lead">{total[0]} claims and {total[1]} errata of {len(outcomes)} papers, computed again; every number below is
also a test. A verdict follows from the numbers that a statement asks for, marked + where they are so and - where they
are not. A number in brackets is the one the paper or an independent computation gives. {_recorded(outcomes)}</p>
<nav>{links}</nav>
</header>
{"".join(_article(outcome) for outcome in outcomes)}
<footer>SI units; base axes. All numbers are in the CSV files beside this page, with the width and the reason of each
tolerance. Made by polypod {escape(__version__)}.</footer>
</body>
</html>
"""


def _recorded(outcomes: Sequence[Outcome]) -> str:
    """How many numbers have no outside source, and what that means."""
    measures = [m for o in outcomes for claim in o.claims.values() for m in (*claim.asked, *claim.measured)]
    measures += [m for o in outcomes for erratum in o.errata.values() for m in erratum.measured]
    count = sum(m.is_recorded for m in measures)
    return (
        f"{count} of the {len(measures)} numbers have no outside source and are marked <i>recorded</i>: they are "
        "compared with what polypod computed when they were written down. That guards against change, but proves "
        "nothing."
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
    beside = "<i>recorded</i>" if m.is_recorded else f"({sign}{short(m.expected)})"
    return f"{escape(m.label)}: <b>{shown(m)}</b>{escape(unit)} <span>{beside}</span>"


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
