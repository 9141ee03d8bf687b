"""Tests go through the faces of packages: what is inside them may move without a test to change.

A test outside this folder imports ``polypod``, one of its packages, a module beside these, or one that the guide and
the examples import. Files that were there before the rule still name inner modules; none may be added, and one that no
longer does goes from the list.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from support.imports import SOURCE

TESTS = Path(__file__).parents[1]
FREE = ("inside", "support", "fuzz")
"""Folders of white-box tests, and of what tests share."""
OLD = TESTS / "data" / "inner_imports.txt"


def inner_modules(text: str) -> set[str]:
    """Modules inside packages that a test imports, or takes names from."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name for name in found if name.count(".") > 1 and is_module(name)} - published()


@cache
def published() -> set[str]:
    """Modules that the guide and the examples import: users have them by these names."""
    root = SOURCE.parents[1]
    pages = [*(root / "docs").glob("*.md"), *(root / "examples").glob("*.py"), root / "README.md"]
    texts = (path.read_text(encoding="utf-8") for path in pages)
    return {name for text in texts for name in re.findall(r"from (polypod[\w.]+) import", text)}


def is_module(name: str) -> bool:
    package, _, rest = name.partition(".")
    return package == "polypod" and (SOURCE / rest.replace(".", "/")).with_suffix(".py").is_file()


def test_tests_go_through_the_faces_of_packages() -> None:
    naming = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if path.relative_to(TESTS).parts[0] not in FREE and inner_modules(path.read_text(encoding="utf-8"))
    }
    old = set(OLD.read_text(encoding="utf-8").split())
    assert not naming - old, "import from the package, or move what needs its inside to tests/inside"
    assert not old - naming, f"they go through faces now: take them from {OLD.name}"


def test_the_rule_sees_inner_modules_and_no_faces() -> None:
    text = "import polypod as pp\nfrom polypod.errors import InputError\nfrom polypod.results import study\n"
    assert not inner_modules(text)
    inner = "def test():\n    from polypod.results.verdict import judged_limits\n    import polypod.model.calls\n"
    assert inner_modules(text + inner) == {"polypod.results.verdict", "polypod.model.calls"}
