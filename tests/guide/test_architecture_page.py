"""The map of the house: its picture is of today's imports, and what it names is there."""

from __future__ import annotations

import re
import sys

from PIL import Image

from support.imports import SOURCE, modules, package_of
from support.layers import ORDER

DOCS = SOURCE.parent.parent / "docs"
sys.path.insert(0, str(DOCS))

import make_architecture  # noqa: E402


def test_the_picture_shows_the_imports_of_today() -> None:
    shown = Image.open(make_architecture.PICTURE).info[make_architecture.KEY].split()
    now = make_architecture.stated(make_architecture.edges()).split()
    assert set(shown) ^ set(now) == set(), "out of date; run: python docs/make_architecture.py"


def test_the_page_has_every_folder_in_order() -> None:
    listed = list(make_architecture.words())
    there = {package_of(name) for name in modules()} - {""}
    assert there - {"__main__"} <= set(listed) <= set(ORDER)
    place = {name: k for k, name in enumerate(listed)}
    later = {(one, other) for one, other in make_architecture.edges() if place[one] < place[other]}
    upwards = {("files", "legs"), ("files", "elements"), ("model", "adapters"), ("model", "results")}
    upwards |= {("description", "files"), ("model", "stages"), ("stages", "exchange")}
    assert later == upwards, "the page names what goes up, and nothing else does"


def test_where_things_are_made_known_is_there() -> None:
    """The last column of the table: a file, and a name in it."""
    rows = [line.split("|") for line in (DOCS / "architecture.md").read_text(encoding="utf-8").splitlines()]
    known = [row[4] for row in rows if len(row) == 6 and ".py`" in row[4]]
    assert len(known) == 18
    missing = set()
    for cell in known:
        name, file = re.fullmatch(r" (?:`(\w+)` in )?`([\w/]+\.py)` ", cell).groups("")
        path = SOURCE / file
        if not path.exists() or not re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")):
            missing.add(f"{file} {name}".strip())
    assert not missing


def test_names_of_the_table_are_in_the_source() -> None:
    """What a file must state, by its name: a word of the folder where it is made known."""
    rows = [line.split("|") for line in (DOCS / "architecture.md").read_text(encoding="utf-8").splitlines()]
    missing = set()
    for row in (row for row in rows if len(row) == 6 and ".py`" in row[4]):
        folder = (SOURCE / re.search(r"[\w/]+\.py", row[4])[0]).parent
        source = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
        for name in re.findall(r"`([A-Za-z_]+)(?:\([\w, ]*\))?`", row[3]):
            if not re.search(rf"\b{name}\b", source):
                missing.add(f"{row[1].strip()}: {name}")
    assert not missing
