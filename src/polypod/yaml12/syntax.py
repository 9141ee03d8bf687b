"""What is wrong with a text that is not YAML: the line that is meant, and the usual slip behind it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from ..errors import Fault

_NO_SPACE = re.compile(r"\s*(?:- )?[A-Za-z_][\w-]*:[^\s/]")
_MISPLACED = re.compile("expected <block end>|did not find expected (?:key|'-' indicator)")
_TWO_COLONS = re.compile(
    r"\s*(?:- )?(?P<key>[A-Za-z_][\w-]*): +(?P<text>[^\s'\"\[{&*!|>%@`#].*?:(?: .*?)?)(?: #.*)?\s*"
)


def syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    """An error of PyYAML (its own reader's or libyaml's words) as a fault with a line and what to do."""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None) or ""
    mark, opened = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    lines = text.splitlines()
    if context == "while scanning a simple key":  # noticed only at the next key: the line without a colon is meant
        mark = opened or mark
        problem += " after the key"
    elif problem.startswith("mapping values are not allowed"):
        quoted = _quoted(lines[mark.line]) if mark and mark.line < len(lines) else ""
        problem = (
            f"a text with a colon in it needs quotes: {quoted}"
            if quoted
            else "mapping values are not allowed here (is a colon missing in the line before, or the indentation off?)"
        )
    elif "cannot start any token" in problem:
        problem = _strange_start(mark, lines) or problem
    elif context.startswith("while parsing a flow"):
        # at a "flow node" the context is the node that is missing, not the bracket
        where = f" opened in line {opened.line + 1}" if opened and not context.endswith("node") else ""
        problem = f"a bracket or brace{where} is not closed, or a comma is missing, before this line"
    elif context.startswith("while parsing a block") and _MISPLACED.match(problem):
        problem = "this line is indented differently from those it belongs to"
        before = lines[mark.line - 1].partition(" #")[0].strip() if mark and 0 < mark.line <= len(lines) else ""
        if mark and re.fullmatch(
            r"[A-Za-z_]\w* [-+.\d\[].*", before
        ):  # 'mass 30.0' is a text, to which this line cannot belong
            return Fault("", f"not YAML: a colon is missing after {before.split()[0]!r}", mark.line)
    for number in range(mark.line, max(mark.line - 3, -1), -1) if mark else ():
        if number < len(lines) and _NO_SPACE.match(
            lines[number]
        ):  # 'mass:3' is a text, and the lines after it are lost
            return Fault("", "not YAML: a space is missing after the colon", number + 1)
    return Fault("", f"not YAML: {problem}", mark.line + 1 if mark else None)


def _quoted(line: str) -> str:
    """How a line such as 'title: a: b' is written right; empty if it is none."""
    found = _TWO_COLONS.fullmatch(line)
    quote = "'" if found and "'" not in found["text"] else '"'
    return f"{found['key']}: {quote}{found['text']}{quote}" if found else ""


def _strange_start(mark: Any, lines: list[str]) -> str:
    """Which character stands where a value starts, and what to do about it."""
    character = lines[mark.line][mark.column : mark.column + 1] if mark and mark.line < len(lines) else ""
    if character == "\t":
        return "a tab stands where spaces are needed; indent with spaces"
    return f"a text that starts with {character!r} needs quotes" if character else ""
