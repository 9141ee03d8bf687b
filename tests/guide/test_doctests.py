"""Examples in docstrings run and print what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import polypod

SOURCE = Path(polypod.__file__).parent
MODULES = sorted(
    ".".join(("polypod", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)


def test_examples_are_found():
    assert {"polypod", "polypod.results.read", "polypod.motion.files", "polypod.results.study"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0
