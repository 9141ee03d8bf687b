"""What a paper's study is: claims and errata with a number each, figures and tables, every line made by a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeVar

from ..results.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Verdict(StrEnum):
    """What became of a claim: true, false, true in kind but not in number, or beyond what the paper lets one test."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    DIFFERS = "differs"
    NOT_TESTABLE = "not testable"


@dataclass(frozen=True)
class Measure:
    """A number that was measured, beside the one expected.

    ``expected`` is the paper's, or that of an independent computation; where there is none it is the first value
    found here, and ``reason`` says "recorded". ``tolerance`` is relative to it; ``reason`` says why it is that wide.
    ``relation`` "<=" and ">=" make ``expected`` a bound, without tolerance.
    """

    label: str
    value: float
    unit: str
    expected: float
    tolerance: float
    reason: str
    relation: Literal["=", "<=", ">="] = "="

    @property
    def is_recorded(self) -> bool:
        """Whether the expected number is but the first one found here."""
        return self.reason.startswith("recorded")

    @property
    def holds(self) -> bool:
        """Whether the measured number is the expected one."""
        if self.relation == "=":
            return abs(self.value - self.expected) <= self.tolerance * abs(self.expected)
        return self.value <= self.expected if self.relation == "<=" else self.value >= self.expected


def stated(label: str, value: float, unit: str, expected: str) -> Measure:
    """A measure beside a number known to the digits written: right if it rounds to it."""
    digits = len(expected.partition(".")[2])
    wide = 0.5 * 10.0**-digits / abs(float(expected))
    return Measure(label, value, unit, float(expected), wide, f"stated as {expected}: half a unit of its last digit")


def recorded(label: str, value: float, unit: str, expected: float) -> Measure:
    """A measure without an outside number to compare with: the value first found, guarded against drift."""
    return Measure(label, value, unit, expected, 2e-3, "recorded here; four digits written down")


def at_most(label: str, value: float, unit: str, expected: float, reason: str) -> Measure:
    """A measure with an upper bound."""
    return Measure(label, value, unit, expected, 0.0, reason, "<=")


def at_least(label: str, value: float, unit: str, expected: float, reason: str) -> Measure:
    """A measure with a lower bound."""
    return Measure(label, value, unit, expected, 0.0, reason, ">=")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper: where it stands, what it says, what was measured, and what to think of it."""

    where: str
    statement: str
    paper: str
    measured: tuple[Measure, ...]
    verdict: Verdict
    explanation: str


@dataclass(frozen=True)
class Erratum:
    """An equation wrong as printed: its right form, a proof in a line, and what the slip costs."""

    equation: str
    printed: str
    corrected: str
    proof: str
    effect: str
    measured: tuple[Measure, ...]


Line = TypeVar("Line", bound=Callable[[], object])


@dataclass(frozen=True)
class Drawing:
    """A figure by file name and caption; ``draw`` makes it."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class PaperStudy:
    """The study of one paper. Functions join it by its decorators and run when the study is run.

    ``choices`` says what the paper leaves open and how it was settled.
    """

    name: str
    title: str
    reference: str
    choices: tuple[str, ...] = ()
    claim_makers: list[Callable[[], Claim]] = field(default_factory=list)
    erratum_makers: list[Callable[[], Erratum]] = field(default_factory=list)
    table_makers: list[Callable[[], Table]] = field(default_factory=list)
    drawings: list[Drawing] = field(default_factory=list)

    def claim(self, make: Callable[[], Claim]) -> Callable[[], Claim]:
        """Decorator: a line of the claims table."""
        self.claim_makers.append(make)
        return make

    def erratum(self, make: Callable[[], Erratum]) -> Callable[[], Erratum]:
        """Decorator: a line of the errata table."""
        self.erratum_makers.append(make)
        return make

    def table(self, make: Callable[[], Table]) -> Callable[[], Table]:
        """Decorator: a table of its own."""
        self.table_makers.append(make)
        return make

    def figure(self, name: str, caption: str) -> Callable[[Callable[[], Figure]], Callable[[], Figure]]:
        """Decorator: a figure, by file name and caption."""

        def join(draw: Callable[[], Figure]) -> Callable[[], Figure]:
            self.drawings.append(Drawing(name, caption, draw))
            return draw

        return join

    def claims(self) -> tuple[Claim, ...]:
        """Every line of the claims table."""
        return tuple(make() for make in self.claim_makers)

    def errata(self) -> tuple[Erratum, ...]:
        """Every line of the errata table."""
        return tuple(make() for make in self.erratum_makers)

    def tables(self) -> tuple[Table, ...]:
        """The study's own tables."""
        return tuple(make() for make in self.table_makers)

    def figures(self) -> tuple[tuple[Drawing, Figure], ...]:
        """Every figure, drawn."""
        return tuple((drawing, drawing.draw()) for drawing in self.drawings)
