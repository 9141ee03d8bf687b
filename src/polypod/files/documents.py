"""YAML documents as data and as nodes, whose lines messages point at."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from ..errors import Fault, FileError

_KINDS: dict[type, str] = {str: "text", float: "number", int: "number"}


def read(path: Path, error: type[FileError]) -> str:
    """Text of a file; one that cannot be read is an ``error`` that says why."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        reason = cause.strerror if isinstance(cause, OSError) else "not UTF-8 text; save it as UTF-8"
        near = _near(path) if isinstance(cause, FileNotFoundError) else []
        hint = f". Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise error(str(path), [Fault("", f"the file cannot be read: {reason}{hint}")]) from cause


_GLUED = re.compile(r"\s*(?:- )?[A-Za-z_][\w-]*:[^\s/]")


_TWO_COLONS = re.compile(
    r"\s*(?:- )?(?P<key>[A-Za-z_][\w-]*): +(?P<text>[^\s'\"\[{&*!|>%@`#].*?:(?: .*?)?)(?: #.*)?\s*"
)


def _colon_in_text(mark: Any, text: str) -> str:
    """How a line such as 'title: a: b' is written right; empty if it is none."""
    lines = text.splitlines()
    found = _TWO_COLONS.fullmatch(lines[mark.line]) if mark.line < len(lines) else None
    quote = "'" if found and "'" not in found["text"] else '"'
    return f"{found['key']}: {quote}{found['text']}{quote}" if found else ""


def _syntax_fault(error: yaml.YAMLError, text: str) -> Fault:
    """Where a document stops being YAML, and the usual slip behind it."""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None) or ""
    mark = getattr(error, "problem_mark", None)
    if context == "while scanning a simple key":  # found out only at the next key: the line without a colon is meant
        mark = getattr(error, "context_mark", mark)
        problem += " after the key"
    elif problem == "mapping values are not allowed here" and mark and (text_ := _colon_in_text(mark, text)):
        problem = f"a text with a colon in it needs quotes: {text_}"
    elif problem == "mapping values are not allowed here":
        problem += " (is a colon missing in the line before, or the indentation off?)"
    elif "cannot start any token" in problem and "\\t" in problem:
        problem = "a tab stands where spaces are needed; indent with spaces"
    elif context.startswith("while parsing a flow"):
        opened = getattr(error, "context_mark", None)
        where = f" opened in line {opened.line + 1}" if opened else ""
        problem = f"a bracket or brace{where} is not closed, or a comma is missing, before this line"
    elif problem.startswith("expected <block end>"):
        problem = "this line is indented differently from those it belongs to"
    lines = text.splitlines()
    for number in range(mark.line, max(mark.line - 3, -1), -1) if mark else ():
        if number < len(lines) and _GLUED.match(lines[number]):  # 'mass:3' is a text, and the lines after it are lost
            return Fault("", "not YAML: a space is missing after the colon", number + 1)
    return Fault("", f"not YAML: {problem}", mark.line + 1 if mark else None)


def _near(path: Path) -> list[str]:
    """Files beside a missing one with nearly its name."""
    names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    return [str(path.with_name(name)) for name in get_close_matches(path.name, names, n=2, cutoff=0.7)]


def parse(text: str, origin: str, error: type[FileError], wanted: str) -> tuple[dict[str, Any], yaml.Node]:
    """A document that is a mapping, and its node; ``wanted`` says what is expected of it."""
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        document = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as cause:
        raise error(origin, [_syntax_fault(cause, text)]) from cause
    if node is None or not isinstance(document, dict):
        got = "nothing" if document is None else f"a {_KINDS.get(type(document), type(document).__name__)}"
        raise error(origin, [Fault("", f"a {error.what} file is {wanted}, got {got}", 1)])
    return document, node
