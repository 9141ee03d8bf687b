"""Papers as programs: each paper's figures, claims and errata, computed again and put side by side.

A paper is a folder of this package: ``paper.yaml`` holds what is said about it, and its ``study`` module has a
``STUDY`` with the numbers. A line of ``MODULES`` makes it known.
"""

from __future__ import annotations

from importlib import import_module

from ..errors import UnknownNameError
from .shared.contract import Claim, Drawing, Erratum, Measure, PaperStudy, Verdict

MODULES: dict[str, str] = {
    "kim-ryu": "kim_ryu",
    "long": "long",
    "lopes": "lopes",
    "pedrammehr": "pedrammehr",
    "staicu": "staicu",
}


def names() -> tuple[str, ...]:
    """Names of the studies there are, those of their robots."""
    return tuple(MODULES)


def study(name: str) -> PaperStudy:
    """The study of a paper by name; its module is imported when first asked for."""
    if name not in MODULES:
        raise UnknownNameError("paper", name, names())
    paper = import_module(f".{MODULES[name]}.study", __package__).STUDY
    assert isinstance(paper, PaperStudy)
    return paper


__all__ = ["MODULES", "Claim", "Drawing", "Erratum", "Measure", "PaperStudy", "Verdict", "names", "study"]
