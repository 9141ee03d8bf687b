"""Papers as programs: every line of every study's claims and errata has its number, and the report holds them all."""

from __future__ import annotations

import base64
import csv
import importlib
import math
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from polypod import papers
from polypod.errors import InputError, UnknownNameError
from polypod.papers import Claim, Drawing, Erratum, Measure, PaperStudy, Verdict
from polypod.papers.shared.contract import CHECKED, at_least, at_most, checked, read_study, stated
from polypod.papers.shared.report import shown, steps, write_papers
from polypod.results.figures.style import dress, figure
from polypod.tables import table
from support.command_line import polypod
from support.refusals import failed, refused
from support.states import mostly_long

STUDIES = [papers.study(name) for name in papers.names()]
# A second or more each: simulations, and robots that no other line needs.
SLOW = {
    "kim-ryu": ("friction_by_joint", "explicit_friction", "slender_link_on_the_circle", "what_the_slender_link_is"),
    "long": ("acceleration_error", "base_parameters", "damping", "energy", "directions", "attachment_deformation"),
    "lopes": ("cost_of_the_forces", "cost_of_the_matrices", "simplified_forces", "point_masses"),
    "pedrammehr": ("accuracy_on_the_slow_path", "accuracy_on_the_fast_path", "axisymmetric_pods", "friction_is_small"),
    "staicu": ("efficiency", "tensor_of_the_platform"),
}
LINES = [
    pytest.param(
        study.name,
        make,
        id=f"{study.name}-{make.__name__}",
        marks=pytest.mark.long if make.__name__ in SLOW.get(study.name, ()) else (),
    )
    for study in STUDIES
    for make in (*study.claims, *study.errata)
]
# One figure of a paper stands for those drawn the same way; the numbers they show are in its lines.
DRAWINGS = mostly_long(
    [(study.name, d) for study in STUDIES for d in study.figures],
    [(study.name, study.figures[0]) for study in STUDIES],
    lambda case: f"{case[0]}-{case[1].name}",
)

# What is known to be wrong in each paper, by the equation's number (or what the errata call it).
KNOWN_ERRATA = {
    "pedrammehr": (
        "(31),(36)",
        "(49),(51)",
        "(32),(33),(50)",
        "(25)",
        "(21)",
        "(42),(43)",
        "above (40)",
        "S_i",
        "(34)",
    ),
    "kim-ryu": (
        *("(1)", "(3)", "(10)", "(10) kddot", "(23)", "(23) text", "(25)", "(27)", "(28)", "(29)", "(30)", "(34)"),
        *("appendix", "(13)", "(14)", "(19)", "(24)"),
    ),
    "lopes": ("(13)", "(14)", "(46)", "(63)", "(77)", "(78)", "(58)", "(65)", "(81)", "(84)", "Table 2"),
    "staicu": ("text", "(6)", "(13)", "(14)", "(15)", "(18)"),
    "long": ("(12)", "(36)", "(34)", "(6)", "(19)", "(23)", "(32)", "(43)"),
}
NOT_CONFIRMED = {
    "kim-ryu": {
        "differs": ["cost_of_link_inertia", "explicit_friction"],
        "not testable": ["where_the_motions_are"],
    },
    "long": {
        "refuted": ["high_frequencies"],
        "differs": ["base_parameters", "small_deformations"],
        "not testable": ["attachment_deformation", "start_at_rest", "damping", "acceleration_error"],
    },
    "lopes": {
        "refuted": ["links_do_not_turn"],
        "differs": ["cost_of_the_matrices", "cost_of_the_forces"],
        "not testable": ["where_the_path_goes"],
    },
    "pedrammehr": {
        "refuted": ["accuracy_on_the_fast_path", "compact_form", "axisymmetric_pods", "tensors_of_real_bodies"],
        "differs": ["what_the_spin_is_worth"],
        "not testable": ["pods_that_agree", "computing_time"],
    },
    "staicu": {
        "refuted": ["all_reactions", "efficiency"],
        "not testable": ["forces_of_the_figures", "tensor_of_the_links", "tensor_of_the_platform"],
    },
}
FIGURES = {
    "pedrammehr": [f"fig-{n:02}" for n in range(5, 11)],
    "kim-ryu": [f"fig-{n:02}" for n in range(7, 12)],
}


@cache
def line_of(make):
    """A claim or an erratum, with its numbers: several tests look at it."""
    return make()


@pytest.mark.parametrize(("name", "make"), LINES)
def test_every_line_has_its_number(name, make):
    """The numbers decide; that their verdicts are those of a reader is written down here."""
    line = line_of(make)
    assert isinstance(line, (Claim, Erratum))
    if isinstance(line, Claim):
        differing = [verdict for verdict, names in NOT_CONFIRMED[name].items() if make.__name__ in names]
        assert [line.verdict.value] == (differing or ["confirmed"])
    asked = line.asked if isinstance(line, Claim) else ()
    assert asked or line.measured, "a line without a number cannot be wrong"
    assert not any(measure.reason == CHECKED for measure in asked), "what a statement asks for is the paper's"
    for measure in line.measured:
        assert measure.holds, (
            f"{measure.label}: {measure.value!r} {measure.unit}, expected {measure.relation} {measure.expected!r} "
            f"within {measure.tolerance:.2g} ({measure.reason})"
        )
    for measure in (*asked, *line.measured):
        assert measure.reason
        assert measure.tolerance <= 0.5, "half as much again is no reproduction"
    texts = [value for value in vars(line).values() if isinstance(value, str)]
    assert all(texts), "every field of a line says something"


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_lines_that_are_not_confirmed_or_slow_are_there(study):
    claims = {make.__name__ for make in study.claims}
    assert {name for names in NOT_CONFIRMED[study.name].values() for name in names} <= claims
    assert set(SLOW.get(study.name, ())) <= {make.__name__ for make in (*study.claims, *study.errata)}


def test_a_study_is_read_from_its_file(monkeypatch):
    """Texts as they stand, numbers from functions of the lines' names; one without a line of its own is noticed."""
    text = """
      name: one
      title: t
      reference: r
      choices: ["{SAMPLES} samples"]
      figures: {fig-2: "Fig. 2: b.", fig-1: "Fig. 1: a."}
      claims:
        sums: {where: w, statement: s, paper: p, explanation: e, asked: [{label: "of {count}", of: sum, equals: 4,
          within: 0.1, reason: r}], measured: [{label: sum, unit: N, stated: "4.0"}]}
      errata:
        slip: {equation: (1), printed: a, corrected: b, proof: c, effect: d,
          measured: [{label: change, at_least: 1, reason: r}]}
    """
    monkeypatch.setattr("polypod.papers.shared.contract.template_text", lambda package, name: text)
    functions = {"SAMPLES": 7, "sums": lambda: {"sum": 4.01, "count": 2}, "slip": lambda: {"change": 2}}
    drawings = {"fig-1": lambda: 1, "fig-2": lambda: 2}
    study = read_study("any", functions, (), drawings)
    assert (study.name, study.choices) == ("one", ("7 samples",))
    assert [(d.name, d.caption, d.draw()) for d in study.figures] == [
        ("fig-2", "Fig. 2: b.", 2),
        ("fig-1", "Fig. 1: a.", 1),
    ]
    claim, erratum = study.claims[0](), study.errata[0]()
    assert (study.claims[0].__name__, study.errata[0].__name__) == ("sums", "slip")
    assert (claim.where, claim.verdict, erratum.corrected) == ("w", Verdict.CONFIRMED, "b")
    assert claim.asked == (Measure("of 2", 4.01, "1", 4.0, 0.1, "r"),)
    assert claim.measured == (stated("sum", 4.01, "N", "4.0"),)
    assert erratum.measured == (at_least("change", 2.0, "1", 1.0, "r"),)
    for numbers in ({"change": 2, "extra": 1}, {}):
        with pytest.raises((AssertionError, KeyError)):
            read_study("any", functions | {"slip": lambda numbers=numbers: numbers}, (), drawings).errata[0]()


@pytest.mark.parametrize("name", papers.MODULES.values())
def test_every_paper_has_the_same_modules(name):
    for module in ("printed", "cases", "study"):
        assert importlib.import_module(f"polypod.papers.{name}.{module}").__doc__


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_known_erratum_is_there(study):
    equations = [line_of(make).equation for make in study.errata]
    for known in KNOWN_ERRATA[study.name]:
        assert any(known in equation for equation in equations), f"{known} is missing from {equations}"


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_of_the_paper_is_there(name):
    assert [drawing.name for drawing in papers.study(name).figures] == FIGURES[name]


@pytest.mark.parametrize("case", DRAWINGS)
def test_figures_show_finite_curves_with_units(case):
    figure = case[1].draw()
    panels = figure.get_axes()
    assert panels
    for axes in panels:
        lines = axes.get_lines()
        assert lines, "an empty panel"
        assert all(np.isfinite(line.get_ydata()).all() for line in lines)
    for label in [axes.get_ylabel() for axes in panels] + [axes.get_xlabel() for axes in panels]:
        assert not label or re.search(r"\[.+\]", label), f"{label!r} has no unit"
    assert any(axes.get_ylabel() for axes in panels)
    assert any(axes.get_xlabel() for axes in panels)


def test_names_and_unknown_names():
    assert {"kim-ryu", "pedrammehr"} <= set(papers.names())
    with refused(UnknownNameError, what="paper", name="kim-ruy", near="kim-ryu"):
        papers.study("kim-ruy")


def test_a_measure_that_is_off_does_not_hold():
    assert Measure("x", 1.04, "N", 1.0, 0.05, "r").holds
    assert not Measure("x", 1.06, "N", 1.0, 0.05, "r").holds
    assert Measure("x", -1.04, "N", -1.0, 0.05, "r").holds
    assert not Measure("x", 1.04, "N", -1.0, 0.05, "r").holds
    assert not Measure("x", math.nan, "N", 1.0, 0.05, "r").holds
    assert at_most("x", 1.0, "N", 1.0, "r").holds
    assert not at_most("x", 1.0 + 1e-15, "N", 1.0, "r").holds
    assert not at_most("x", math.nan, "N", 1.0, "r").holds
    assert at_least("x", 1.0, "N", 1.0, "r").holds
    assert not at_least("x", 0.9, "N", 1.0, "r").holds


def test_verdicts():
    good, bad = at_most("x", 0.0, "N", 1.0, "r"), at_most("x", 2.0, "N", 1.0, "r")
    for asked, verdict in (
        ((), Verdict.NOT_TESTABLE),
        ((good, good), Verdict.CONFIRMED),
        ((good, bad), Verdict.DIFFERS),
        ((bad,), Verdict.REFUTED),
    ):
        assert Claim("", "", "", asked, (), "").verdict is verdict


def test_rounding_errors_are_shown_by_their_bound():
    assert shown(at_most("x", 3e-16, "1", 1e-12, "rounding")) == "below 1e-12"
    assert shown(at_most("x", 3e-11, "1", 1e-12, "rounding")) == "3e-11"
    assert shown(at_most("x", 0.5, "1", 1.0, "r")) == "0.5"


def test_a_stated_number_is_met_by_what_rounds_to_it():
    assert stated("x", 4.349, "%", "4.3").holds
    assert not stated("x", 4.351, "%", "4.3").holds
    assert stated("x", 20.5, "%", "21").holds
    assert not stated("x", 20.4, "%", "21").holds
    assert checked("x", 1.0, "%", 1.001).holds
    assert not checked("x", 1.0, "%", 1.01).holds


@pytest.fixture
def small(monkeypatch) -> PaperStudy:
    """A study that takes no time, in place of all others."""

    def two_and_two() -> Claim:
        asked = (Measure("sum", 4.0, "1", 5.0, 0.0, "integers"),)
        known = (checked("sum", 4.0, "1", 4.0), at_most("s", 0.0, "N", 1.0, "r"))
        return Claim("p. 1", "2 + 2 = 5", "5", asked, known, "It is 4, & not 5.")

    def a_sign() -> Erratum:
        return Erratum("(1)", "+", "-", "by hand", "twice the term", (stated("change", 2.0, "times", "2"),))

    def own_numbers() -> object:
        return table("Own numbers", [("what", ""), ("how much", "N")], [("a", 1.5)])

    def line() -> object:
        drawn = figure()
        axes = drawn.subplots()
        axes.plot([0.0, 1.0], [0.0, 2.0])
        dress(axes, "time [s]", "force [N]")
        return drawn

    drawings = (Drawing("fig-1", "Fig. 1: a line.", line),)
    choices = ("Nothing is left open.",)
    name, title = "small", "A <small> study"
    study = PaperStudy(name, title, "Nobody, 2000", choices, (two_and_two,), (a_sign,), (own_numbers,), drawings)
    put_in_place(monkeypatch, study)
    return study


def put_in_place(monkeypatch, study: PaperStudy) -> None:
    """A study in place of all others."""
    monkeypatch.setattr("polypod.papers.shared.report.names", lambda: ("small",))
    monkeypatch.setattr("polypod.papers.shared.report.study", lambda name: study)
    monkeypatch.setattr("polypod.papers.names", lambda: ("small",))
    monkeypatch.setattr("polypod.papers.study", lambda name: study)


def test_the_report_folder_holds_every_line(small, tmp_path):
    steps_seen: list[str] = []
    (outcome,) = write_papers((), tmp_path / "out", progress=steps_seen.append)
    assert len(steps_seen) == steps([small]) == 4
    folder = tmp_path / "out"
    assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()) == [
        "checksums.txt", "report.html", "small/claims.csv", "small/errata.csv", "small/figures/fig-1.png",
        "small/figures/fig-1.svg", "small/own-numbers.csv",
    ]  # fmt: skip
    with (folder / "small" / "claims.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [
        (row["claim"], row["quantity"], float(row["measured"]), row["relation"], row["verdict"]) for row in rows
    ] == [
        ("two and two", "sum", 4.0, "=", "refuted"),
        ("two and two", "sum", 4.0, "=", "refuted"),
        ("two and two", "s", 0.0, "<=", "refuted"),
    ]
    assert [(row["role"].partition(" ")[0], row["holds"]) for row in rows] == [
        ("asked", "no"), ("beside", "yes"), ("beside", "yes"),
    ]  # fmt: skip
    with (folder / "small" / "errata.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["printed"], row["corrected"], float(row["measured"]), float(row["expected"])) == ("+", "-", 2.0, 2.0)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "A &lt;small&gt; study" in page
    assert "It is 4, &amp; not 5." in page
    assert "refuted" in page
    assert page.count("<img") == 1
    embedded = base64.b64encode(outcome.images[0].png).decode()
    assert f'src="data:image/png;base64,{embedded}"' in page, "browsers show an image as the type that is stated"
    assert "<li>sum: <b>4</b> <span>(4)</span></li>" in page
    assert "- sum: <b>4</b> <span>(5)</span>" in page
    assert outcome.images[0].png.startswith(b"\x89PNG")
    assert b"<svg" in outcome.images[0].svg


def test_the_page_asks_nothing_of_the_network(small, tmp_path):
    write_papers((), tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for address in re.findall(r"(?:src|href)=[\"']([^\"']*)", page):
        assert address.startswith(("data:", "#")), address
    assert "url(" not in page
    assert "<script" not in page


@pytest.mark.long
def test_the_same_run_gives_the_same_files(small, tmp_path):
    for name in ("one", "two"):
        write_papers((), tmp_path / name)
    for file in sorted(p for p in (tmp_path / "one").rglob("*") if p.is_file()):
        assert file.read_bytes() == (tmp_path / "two" / file.relative_to(tmp_path / "one")).read_bytes(), file.name


def test_nothing_is_replaced_unasked(small, tmp_path):
    target = tmp_path / "out"
    write_papers((), target)
    before = (target / "report.html").stat().st_mtime_ns
    with refused(InputError, "force", code="exists"):
        write_papers((), target)
    assert (target / "report.html").stat().st_mtime_ns == before
    write_papers((), target, force=True)
    (target / "mine.txt").write_text("keep")
    with refused(InputError, "mine.txt", code="foreign_file"):
        write_papers((), target, force=True)
    assert (target / "mine.txt").read_text() == "keep"


def test_a_study_that_fails_leaves_nothing(small, tmp_path, monkeypatch):
    def broken() -> object:
        raise ZeroDivisionError("on purpose")

    put_in_place(monkeypatch, replace(small, figures=(*small.figures, Drawing("fig-2", "never drawn", broken))))
    with pytest.raises(ZeroDivisionError):
        write_papers((), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_command(small, tmp_path):
    result = polypod("papers", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "small" in result.stdout
    assert "report.html" in result.stdout
    again = polypod("papers", "--out", tmp_path / "out")
    assert again.exit_code == 2
    failed(again, "--force")


def test_the_command_knows_its_papers(tmp_path):
    result = polypod("papers", "kim-ruy", "--out", tmp_path / "out")
    assert result.exit_code == 2
    failed(result, "kim-ryu")
    assert not (tmp_path / "out").exists()
