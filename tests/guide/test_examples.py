"""Every file of examples is in the gallery with its figure, and run by a test: here the one that no other file runs."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from make_images import EXAMPLES  # noqa: E402


def test_every_example_is_in_the_gallery_and_a_test():
    """The gallery's sections name the file and show the picture that make_images.py keeps of it."""
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"examples/([\w-]+)\.\w+[^#]*?\]\(images/([\w-]+\.png)\)", page))
    names = {path.stem for path in (ROOT / "examples").iterdir() if path.is_file()}
    assert shown == EXAMPLES
    assert set(shown) == names
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    tests.append((ROOT / "tests" / "support" / "robots" / "user_legs.py").read_text(encoding="utf-8"))
    for name in names:
        assert (ROOT / "docs" / "images" / shown[name]).is_file()
        assert any(re.search(rf"\"{name}(\.\w+)?\"", text) for text in tests), f"no test runs {name}"


@pytest.mark.long
def test_identification_of_a_heavier_platform(tmp_path):
    """The forces of the log held back err by their noise (0.002 N m), and intervals of 95 % hold the nine truths."""
    found = runpy.run_path(str(ROOT / "examples" / "identify.py"))["main"](tmp_path, tries=20)
    assert found["largest error before"] > 0.02
    assert found["largest error after"] < 0.0022
    assert found["base parameters"] == 9
    assert found["intervals that contain the true value"] >= 7  # of nine; 95 % of many
    assert [path.name for path in tmp_path.iterdir()] == ["identify.png"]
