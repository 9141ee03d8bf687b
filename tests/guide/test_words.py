"""The field's words: names and sentences that once had to be translated do not come back.

Each entry is a pattern and the word to use instead. Sources are read as text, so that names, comments, docstrings and
messages all count; the changelog, which names what was renamed, does not.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    path
    for folder, endings in (
        ("src", (".py", ".yaml", ".js", ".html", ".c")),
        ("docs", (".md", ".py")),
        ("examples", (".py",)),
    )
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in endings and "vendor" not in path.parts
] + [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]

WORDS = {
    r"\bfreedoms\b|\bFreedoms?\b|(?<!of)_freedoms?\b|\bfreedoms_": "degrees of freedom, dof",
    r"\b(?:one|two|three|four|five|six|\d|idle|fewer|more|each|every) freedom\b": "degree of freedom",
    r"\bforce_slopes\b|\bload_slopes\b|\b(?:exact|compiled) slopes\b": "derivatives, jacobian",
    r"\bOwnMotion\b|\bown_motion\b|\bOwnCoordinates\b|\bown_rates\b|\bown coordinates\b": "generalized coordinates",
    r"\bOwnAxes\b|\bown_axes\b": "leg frame",
    r"\bcoasting\b": "drift acceleration",
    r"\bholding_range\b|\bmodel\.holding\b": "static force range",
    r"\bClosingCode\b|\bFrictionCode\b": "status",
    r"\brecipes?\b|\bRecipe\b": "closed-form step, cache key",
    r"\bSieve\b|\bsieved?\b|\bFolded\b": "predicate, reduction",
    r"\bwrite_whole\b|\bwhole_folder\b": "atomic write",
    r"\bunit_slips\b|\bwrong_motion\b": "suspected unit errors, unit mismatch",
    r"\balong (?:a|the) way\b|\bplaces along\b": "along the path, grid points",
    r"\bsquare to\b": "perpendicular to",
    r"\baslant\b": "inclined",
    r"\bin haste\b": "unoptimised",
    r"\bmended\b|\bmend (?:it|them|that|this)\b": "fixed, fix",
    r"\btold apart\b": "distinguished",
    r"\bg(?:ive|ives|ave|iving) way\b": "deflect",
    r"\bsamples a second\b": "sampling rate, samples per second",
    r"\b(?:turns a minute|numbers a (?:design|state)|operations a (?:state|leg)|[unm]s a (?:state|pose))\b": "per",
    r"\bunasked\b": "automatically",
    r"\bmoving picture\b": "animation",
    r"\bpolypod cannot say\b": "cannot represent",
    r"\bappear from nowhere\b|\bcrawls at\b|\btoo large to count with\b": "energy balance, stalled, overflow",
    r"\bfrom small to large\b": "the lower limit must come first",
    r"\bproven of its kinematics\b|\bcan make it, between\b": "verified between samples",
}

PAGES = [
    *(
        path
        for path in sorted((ROOT / "docs").glob("*.md"))
        if path.stem not in ("errata", "motion-files", "robot-files")
    ),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "examples").glob("*.*")),
    *sorted((ROOT / "src" / "polypod" / "files" / "templates").glob("*.yaml")),
]
"""What users read, the help of commands (commands.md) included."""
PROSE = {
    r"\bat once\b": "immediately, or in one call: it means both",
    r"\b(?:what|that|which|it) binds\b|\bbinds (?:it|each)\b": "limiting constraint: nothing is bound",
    r"\bbeside\b": "next to, or in addition to: it was used for both",
    r"\binner stress": "internal forces: stresses are not computed",
    r"\bno real body\b": "physically impossible",
    r"\bfor certain\b": "proven",
    r"\bholds? the tru(?:th|e)\b": "contains the true value, coverage",
    r"\bheld[- ](?:back|out)\b": "validation log",
    r"\bfollows? (?:its|their) legs\b|\bas (?:its|their) legs let\b": "dependent coordinates",
    r"\bnumbers of (?:a|the) (?:robot|machine)\b|\brobot's (?:own )?numbers\b": "parameters",
    r"\bfaults?\b": "error: a file has errors, a machine has faults",
    r"\bmeanwhile\b": "at the same time; name what happens",
    r"\bby iterating\b": "by iteration",
    r"\b(?:[Dd]erivatives?|[Gg]radients?) by (?:the )?(?:pose|twist|acceleration|position|parameters|numbers|time)\b": (
        "with respect to"
    ),
    r"\bthat are none\b|\bwhich is none\b": "NaN, is not a",
    r"\bbeliev(?:e|es|ed)\b": "assume: controllers have no beliefs",
    r"\b[Ll]ive pages?\b": "interactive page",
    r"\b(?:file|row|reader|folder|bit|[mun]?s) a (?:command|pose|state|mode|format|paper)\b": "per",
    r"\bgrowing coordinates?\b|\bcoordinate grows\b": "increasing coordinate",
    r"\bas it likes\b|\bhow far off\b": "freely, error",
    r"\bleast norm\b": "minimum norm",
    r"\bdrawn at random\b": "random",
    r"\b(?:re)?compiles nothing\b": "needs no compilation",
    r"\bgo(?:es)? round\b": "makes full turns",
}
"""Words that only pages must not have, each with the word to use and why."""


@cache
def distinct_lines(files: tuple[Path, ...]) -> str:
    """Every line of the files once: docstrings repeat many, and no entry goes beyond a line."""
    lines = (line for path in files for line in path.read_text(encoding="utf-8").splitlines())
    return "\n".join(dict.fromkeys(lines))


@pytest.mark.parametrize(
    ("pattern", "instead", "files"),
    [(*entry, FILES) for entry in WORDS.items()] + [(*entry, PAGES) for entry in PROSE.items()],
    ids=[*WORDS.values(), *PROSE.values()],
)
def test_words_of_the_field(pattern: str, instead: str, files: list[Path]) -> None:
    if not re.search(pattern, distinct_lines(tuple(files))):
        return
    found = [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]!r}"
        for path in files
        for text in [path.read_text(encoding="utf-8")]
        for match in re.finditer(pattern, text)
    ]
    assert not found, f"write {instead}: " + "; ".join(found[:5])


def test_the_list_finds_what_it_is_for() -> None:
    """A sentence of the old dialect is caught by several entries, one of the field's words by none."""
    old = "A robot of six freedoms whose leg gives way, square to its own coordinates, at 200 samples a second."
    new = (
        "A robot with six degrees of freedom whose leg deflects, perpendicular to its axis, at 200 samples per second."
    )
    assert sum(bool(re.search(pattern, old)) for pattern in WORDS) == 5
    assert not any(re.search(pattern, new) for pattern in WORDS | PROSE)
    old = "Derivatives by pose of what follows its legs, at once, at 3 us a state, for certain, beside the file."
    new = "Derivatives with respect to pose, in one call, at 3 us per state, proven, next to the file."
    assert sum(bool(re.search(pattern, old)) for pattern in PROSE) == 6
    assert not any(re.search(pattern, new) for pattern in WORDS | PROSE)
