"""Which kind of file a document is, by the fields that only such files have: robot, motion, study, tolerances."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from ..errors import Fault


class DocumentKind(NamedTuple):
    """Fields of which a file of a kind has one at least, and how one is used."""

    marks: frozenset[str]
    text: str
    used: str


DOCUMENT_KINDS = {
    "motion": DocumentKind(
        frozenset({"trajectory"}), "a motion file has a trajectory", "commands take ROBOT before MOTION"
    ),
    "study": DocumentKind(
        frozenset({"vary"}),
        "a study file has vary",
        "'polypod sweep' and 'polypod optimise' take it; the command 'new' writes one",
    ),
    "machine": DocumentKind(
        frozenset({"stages"}), "a machine file has stages", "pp.series(FILE) and 'polypod check' take it"
    ),
    "robot": DocumentKind(
        frozenset({"platform", "legs"}), "a robot file has platform and legs", "'polypod run' takes it"
    ),
    "tolerance": DocumentKind(
        frozenset({"parameters", "actuators", "encoder_step", "backlash", "growth"}),
        "a tolerance file has numbers, actuators, encoder_step, backlash or growth",
        "'polypod accuracy ROBOT TOLERANCES' takes it; the command 'new' writes one",
    ),
}
"""The kinds by name, in the order in which they are asked for."""


def document_kind(document: Collection[Any]) -> str | None:
    """Kind of a file by its fields; None if it has none of those that mark one."""
    fields = {name for name in document if isinstance(name, str)}
    return next((name for name, kind in DOCUMENT_KINDS.items() if fields & kind.marks), None)


def another_kind(document: Collection[Any], wanted: str) -> list[Fault]:
    """The fault of a document that is of another kind than ``wanted``: what it is, and what was needed."""
    kind = document_kind(document)
    if kind is None or kind == wanted or wanted not in DOCUMENT_KINDS:
        return []
    fields = {name for name in document if isinstance(name, str)}
    if fields & DOCUMENT_KINDS[wanted].marks:
        return []  # a file of the right kind with a field too many
    found, needed = DOCUMENT_KINDS[kind], DOCUMENT_KINDS[wanted]
    return [Fault("", f"this is a {kind} file ({found.used}); {needed.text} ({needed.used})", 1, "another_kind")]
