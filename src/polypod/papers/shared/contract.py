"""The contract of a paper's study: claims and errata with their numbers, tables and figures, each from a function.

A paper is a folder of ``polypod.papers`` with a file and three modules:

- ``paper.yaml``: all that is said about it: choices, claims, errata and captions, with the numbers to be expected
- ``printed``: its equations in plain arrays, corrected, and as printed where they are wrong, and the numbers they take
- ``cases``: its motions by the library and by its equations, computed once each
- ``study``: the numbers of each claim and erratum, by a function of that name, tables and figures, and ``STUDY``
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from ...pages import template_text
from ...tables import Table
from ...yaml12 import read_yaml

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Verdict(StrEnum):
    """What became of a claim, from the numbers that its statement asks for.

    Confirmed: all of them hold. Refuted: none does. Differs: some do. Not testable: the paper gives nothing to test.
    """

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    DIFFERS = "differs"
    NOT_TESTABLE = "not testable"


@dataclass(frozen=True)
class Measure:
    """A number that was measured, beside the one expected.

    ``expected`` is the paper's, or that of an independent computation. ``tolerance`` is relative to it; ``reason`` says
    why it is that wide. ``relation`` "<=" and ">=" make ``expected`` a bound, without tolerance.
    """

    label: str
    value: float
    unit: str
    expected: float
    tolerance: float
    reason: str
    relation: Literal["=", "<=", ">="] = "="

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


CHECKED = "a second computation, in the tests, gives it too; four digits written down"


def checked(label: str, value: float, unit: str, expected: float) -> Measure:
    """A measure without a number of the paper: a computation that shares nothing with it gives the same."""
    return Measure(label, value, unit, expected, 2e-3, CHECKED)


def at_most(label: str, value: float, unit: str, expected: float, reason: str) -> Measure:
    """A measure with an upper bound."""
    return Measure(label, value, unit, expected, 0.0, reason, "<=")


def at_least(label: str, value: float, unit: str, expected: float, reason: str) -> Measure:
    """A measure with a lower bound."""
    return Measure(label, value, unit, expected, 0.0, reason, ">=")


@dataclass(frozen=True)
class Claim:
    """A statement of the paper: where it stands, what it says, and the numbers that decide it.

    ``asked`` are the numbers as the statement needs them to be: whether they hold is the verdict. ``measured`` are
    numbers beside values known otherwise; all of them hold, whatever the verdict is.
    """

    where: str
    statement: str
    paper: str
    asked: tuple[Measure, ...]
    measured: tuple[Measure, ...]
    explanation: str

    @property
    def verdict(self) -> Verdict:
        """The verdict by the numbers asked for."""
        if not self.asked:
            return Verdict.NOT_TESTABLE
        holds = [measure.holds for measure in self.asked]
        return Verdict.CONFIRMED if all(holds) else Verdict.DIFFERS if any(holds) else Verdict.REFUTED


@dataclass(frozen=True)
class Erratum:
    """An equation wrong as printed: its right form, a proof in a line, and what the slip costs."""

    equation: str
    printed: str
    corrected: str
    proof: str
    effect: str
    measured: tuple[Measure, ...]


@dataclass(frozen=True)
class Drawing:
    """A figure by file name and caption; ``draw`` makes it."""

    name: str
    caption: str
    draw: Callable[[], Figure]


@dataclass(frozen=True)
class PaperStudy:
    """The study of one paper; its functions run when the study is evaluated.

    ``choices`` says what the paper leaves open and what was taken here.
    """

    name: str
    title: str
    reference: str
    choices: tuple[str, ...]
    claims: tuple[Callable[[], Claim], ...]
    errata: tuple[Callable[[], Erratum], ...]
    tables: tuple[Callable[[], Table], ...]
    figures: tuple[Drawing, ...]


# ----------------------------------------------------------------------------------------------------------------------
# A study from its file and its functions.

Values = dict[str, float]
"""Numbers of a claim or an erratum by name."""


def read_study(
    package: str,
    functions: Mapping[str, Any],
    tables: tuple[Callable[[], Table], ...],
    figures: Mapping[str, Callable[[], Figure]],
) -> PaperStudy:
    """The study of a package's ``paper.yaml``.

    The numbers of a claim or an erratum come from the function that has its name, and figures are drawn in the order
    of their captions. Choices may have names of ``functions`` in braces.
    """
    text: Any = read_yaml(template_text(package, "paper.yaml"))[0]
    return PaperStudy(
        text["name"],
        text["title"],
        text["reference"],
        tuple(choice.format_map(functions) for choice in text["choices"]),
        tuple(_line(Claim, name, entry, functions[name]) for name, entry in text["claims"].items()),
        tuple(_line(Erratum, name, entry, functions[name]) for name, entry in text["errata"].items()),
        tables,
        tuple(Drawing(name, caption, figures[name]) for name, caption in text["figures"].items()),
    )


def _line(kind: Callable[..., Any], name: str, entry: dict[str, Any], function: Callable[[], Values]) -> Any:
    """A function of the line's name that makes it: texts as they are, measures with their values."""

    def make() -> Any:
        values = function()
        roles = [role for role in ("asked", "measured") if role in kind.__annotations__]
        measures = {role: [m for row in entry.get(role, ()) for m in _measures(row)] for role in roles}
        labels = [text for role in measures.values() for m in role for text in (m.get("of", ""), m["label"])]
        unused = [value for value in values if value not in labels and not any(f"{{{value}" in text for text in labels)]
        assert not unused, f"{name}: no measure has {', '.join(unused)}"
        found = {role: tuple(_measure(values, **m) for m in all_) for role, all_ in measures.items()}
        return kind(**(entry | found))

    make.__name__ = name
    return make


def _measures(row: dict[str, Any]) -> list[dict[str, Any]]:
    """One measure of each label of a row; other lists of the row have a value for each of them."""
    if not isinstance(row["label"], list):
        return [row]
    shared = {key: value for key, value in row.items() if not isinstance(value, list)}
    columns = {key: value for key, value in row.items() if isinstance(value, list)}
    return [shared | dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _measure(values: Values, label: str, of: str = "", unit: str = "1", **known: Any) -> Measure:
    """The value ``of`` that name (the label, if not said) beside what is known of it; labels may have values in
    braces."""
    value, label = float(values[of or label]), label.format_map(values)
    match known:
        case {"stated": digits}:
            return stated(label, value, unit, digits)
        case {"checked": expected}:
            return checked(label, value, unit, float(expected))
        case {"at_most": bound, "reason": reason}:
            return at_most(label, value, unit, float(bound), reason)
        case {"at_least": bound, "reason": reason}:
            return at_least(label, value, unit, float(bound), reason)
        case {"equals": expected, "within": tolerance, "reason": reason}:
            return Measure(label, value, unit, float(expected), float(tolerance), reason)
    raise ValueError(f"{label}: nothing is known of it")
