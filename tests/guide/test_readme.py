"""The README's code runs and prints what the README says; its commands exist; its links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

from polypod.cli import COMMANDS

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_prints_what_is_printed():
    code, output = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", README, re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec", dont_inherit=True), {})
    assert printed.getvalue() == output
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_the_commands_exist():
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    used = set(re.findall(r"^polypod (\w+)", blocks, re.MULTILINE))
    assert used <= set(COMMANDS)
    assert len(used) >= 5


def test_links_and_pictures_are_there():
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", README) if "://" not in t]
    assert targets
    for target in targets:
        path = ROOT / target
        assert path.is_file(), target
        if path.suffix == ".png":
            assert path.stat().st_size < 200_000


def test_the_package_index_gets_no_link_that_leads_nowhere():
    """Absolute below the address of the repository; words alone as long as there is none."""
    published = runpy.run_path(str(ROOT / "setup.py"))["published"]
    at = published(README, "https://example.org/polypod/")
    assert "(https://example.org/polypod/docs/images/live.png)" in at
    assert all(t.startswith("https://") for t in re.findall(r"\]\(([^)]+)\)", at))
    alone = published(README, None)
    assert re.findall(r"\]\(([^)]+)\)", alone) == []
    assert "for\ndesigners, control engineers,\nresearchers, students." in alone
    assert not re.search(r"\(more\)|; more\)", alone)  # words that name a page without its link
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    packed = set(re.sub(r"^(graft|include) |^#.*$", "", manifest, flags=re.MULTILINE).split())
    linked = {target.split("/")[0] for target in re.findall(r"\]\((?!\w+:|#)([^)]+)\)", README)}
    assert linked <= packed  # in the source distribution
    assert published("[a](#b) [c](mailto:d) ![e](https://f)", None) == "[a](#b) [c](mailto:d) ![e](https://f)"


def test_set_up_is_two_commands():
    assert "python3 -m pip install . && polypod run" in README
    assert "python3 -m pip install '.[test]' && python3 -m pytest" in README
