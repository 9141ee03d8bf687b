"""Draws the picture of the packages from the imports in the source: python docs/make_architecture.py

Rows and arrows come from the import graph, words and colours from the list of folders in architecture.md.
"""

from __future__ import annotations

import io
import re
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Curve
from PIL import Image
from PIL.PngImagePlugin import PngInfo

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.imports import imports, modules, package_of  # noqa: E402
from support.layers import KNOWN, between_packages  # noqa: E402

PICTURE = HERE / "images" / "architecture.png"
KEY = "Imports"
"""Under this name the picture carries the imports it was drawn from."""
COLOURS = ("#dbe7f3", "#dcefdc", "#fbe9cf", "#eee0f2", "#f6dddd")
WIDTH, HEIGHT, GAP, STEP = 2.3, 0.9, 0.35, 1.38
Edge = tuple[str, str]


def edges() -> set[Edge]:
    """(importer, imported) for all packages."""
    found = {(package_of(i.importer), package_of(i.imported)) for i in between_packages(imports())}
    return {edge for edge in found if "__main__" not in edge}


def stated(edges: set[Edge]) -> str:
    """The imports as text, as the picture carries them."""
    return " ".join(sorted(f"{a}>{b}" for a, b in edges))


def words() -> dict[str, tuple[str, int]]:
    """Of each folder in the page: a few words, and the number of its section."""
    found, section = {}, -1
    for line in (HERE / "architecture.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            section += 1
        elif match := re.match(r"- `(\w+)`: ([^.:;,]*)", line):
            found[match[1]] = (match[2], section)
    return found


def reduced(edges: set[Edge]) -> set[Edge]:
    """Without the imports that a longer way of imports implies."""
    above: dict[str, set[str]] = {}
    for importer, imported in edges:
        above.setdefault(imported, set()).add(importer)

    def users(name: str) -> set[str]:
        return set().union(*({user} | users(user) for user in above.get(name, ())))

    return {(a, b) for a, b in edges if not any(a in users(user) for user in above[b])}


def rows(names: set[str], edges: set[Edge]) -> dict[str, int]:
    """The row of each package: below all it imports, and as close as can be above those that import it."""
    row = dict.fromkeys(names, 0)
    for _ in names:
        for importer, imported in edges:
            row[importer] = max(row[importer], row[imported] + 1)
    for name in sorted(names, key=lambda name: -row[name]):
        users = [row[importer] for importer, imported in edges if imported == name]
        row[name] = min(users) - 1 if users else row[name]
    return row


class Layout:
    """Places in rows; an arrow over several rows has a place of its own in each, so that it passes between boxes."""

    def __init__(self, names: set[str], edges: set[Edge]) -> None:
        self.row = rows(names, edges)
        self.ways = {}
        for importer, imported in sorted(edges):
            between = range(self.row[imported] + 1, self.row[importer])
            self.ways[importer, imported] = [imported, *(f"{imported}>{importer}@{r}" for r in between), importer]
            self.row.update({f"{imported}>{importer}@{r}": r for r in between})
        self.next: dict[str, list[str]] = {name: [] for name in self.row}
        for way in self.ways.values():
            for one, two in pairwise(way):
                self.next[one].append(two)
                self.next[two].append(one)
        self.levels = [sorted(n for n in self.row if self.row[n] == r) for r in range(max(self.row.values()) + 1)]
        self.x = {name: float(k) for level in self.levels for k, name in enumerate(level)}
        self._arrange()

    def _arrange(self) -> None:
        """Pull every place to the middle of its neighbours, first in order, then at distances that fit."""
        for _ in range(60):
            for level in (*self.levels, *self.levels[::-1]):
                level.sort(key=self._pull)
                for k, name in enumerate(level):
                    self.x[name] = k - (len(level) - 1) / 2
        for _ in range(400):
            for level in (*self.levels, *self.levels[::-1]):
                wanted = np.array([self._pull(name) for name in level])
                self.x.update(zip(level, self._spaced(level, wanted), strict=True))

    def _pull(self, name: str) -> float:
        """Mean place of the neighbours and, weakly, the middle; long arrows pull harder, which makes them straight."""
        places = [0.0, *(self.x[other] for other in self.next[name])]
        weights = [0.3, *(3.0 if "@" in name and "@" in other else 1.0 for other in self.next[name])]
        return float(np.average(places, weights=weights))

    def _spaced(self, level: list[str], wanted: np.ndarray) -> np.ndarray:
        """The places nearest to the wanted ones that keep order and distance (pool adjacent violators)."""
        halves = np.array([0.12 if "@" in name else WIDTH / 2 for name in level])
        offset = np.concatenate([[0.0], np.cumsum(halves[:-1] + halves[1:] + GAP)])
        blocks: list[list[float]] = []
        for value in wanted - offset:
            blocks.append([value, 1.0])
            while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
                (one, m), (two, n) = blocks[-2:]
                blocks[-2:] = [[(one * m + two * n) / (m + n), m + n]]
        return np.concatenate([np.full(int(n), value) for value, n in blocks]) + offset

    def at(self, name: str) -> tuple[float, float]:
        return self.x[name], -STEP * self.row[name]


def draw() -> Figure:
    """The packages as boxes, imports as arrows from the imported to the importer."""
    every = edges()
    names = {package_of(name) for name in modules()} - {"", "__main__"}
    layout = Layout(names, reduced(every - KNOWN))
    text = words()
    halves = {name: WIDTH / 2 if name in names else 0.0 for name in layout.x}
    left = min(x - halves[name] for name, x in layout.x.items()) - 0.2
    right = max(x + halves[name] for name, x in layout.x.items()) + 0.2
    figure = Figure(figsize=(0.78 * (right - left), 0.78 * (STEP * max(layout.row.values()) + HEIGHT + 0.4)))
    axes: Axes = figure.add_axes((0, 0, 1, 1))
    for way in layout.ways.values():
        _arrow(axes, [layout.at(name) for name in way])
    for importer, imported in KNOWN & every:
        _breach(axes, layout.at(imported), layout.at(importer))
    for name in names:
        caption, section = text.get(name, ("", -1))
        _box(axes, layout.at(name), name, caption, COLOURS[section] if section >= 0 else "#ffffff")
    axes.set_xlim(left, right)
    axes.set_ylim(-STEP * max(layout.row.values()) - HEIGHT / 2 - 0.2, HEIGHT / 2 + 0.2)
    axes.set_aspect("equal")
    axes.axis("off")
    return figure


def _box(axes: Axes, at: tuple[float, float], name: str, caption: str, colour: str) -> None:
    x, y = at
    corner = (x - WIDTH / 2, y - HEIGHT / 2)
    style = "round,pad=0,rounding_size=0.1"
    axes.add_patch(
        FancyBboxPatch(
            corner, WIDTH, HEIGHT, boxstyle=style, facecolor=colour, edgecolor="#555555", linewidth=0.9, zorder=3
        )
    )
    lines = textwrap.wrap(caption, 29)
    assert len(lines) <= 2, f"{name}: {caption!r} does not fit in its box; let its first clause be shorter"
    axes.text(x, y + (0.24 if lines else 0), name, ha="center", va="center", fontsize=10, weight="bold", zorder=4)
    axes.text(x, y - 0.14, "\n".join(lines), ha="center", va="center", fontsize=7.2, zorder=4, linespacing=1.15)


def _arrow(axes: Axes, places: list[tuple[float, float]]) -> None:
    """A smooth line down through the places, vertical at each."""
    points = [(places[0][0], places[0][1] - HEIGHT / 2)]
    points += [p for x, y in places[1:-1] for p in ((x, y + HEIGHT / 2), (x, y - HEIGHT / 2))]
    points.append((places[-1][0], places[-1][1] + HEIGHT / 2 + 0.02))
    vertices, codes = [points[0]], [Curve.MOVETO]
    for k, (one, two) in enumerate(pairwise(points)):
        if k % 2:
            vertices.append(two)
            codes.append(Curve.LINETO)
        else:
            half = (one[1] + two[1]) / 2
            vertices += [(one[0], half), (two[0], half), two]
            codes += [Curve.CURVE4] * 3
    axes.add_patch(
        FancyArrowPatch(
            path=Curve(vertices, codes), arrowstyle="-|>", mutation_scale=10, color="#7a7a7a", linewidth=1.0
        )
    )


def _breach(axes: Axes, imported: tuple[float, float], importer: tuple[float, float]) -> None:
    """An import against the order, still to be fixed."""
    line = {"linestyle": (0, (3, 2)), "color": "#c23b3b", "linewidth": 0.9, "connectionstyle": "arc3,rad=0.25"}
    axes.add_patch(
        FancyArrowPatch(imported, importer, arrowstyle="-|>", mutation_scale=9, shrinkA=26, shrinkB=26, **line)
    )


def main() -> None:
    """Write the picture, in few colours: a third of the bytes."""
    drawn = io.BytesIO()
    draw().savefig(drawn, dpi=120)
    about = PngInfo()
    about.add_text(KEY, stated(edges()))
    picture = Image.open(drawn).convert("RGB").quantize(128, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    picture.save(PICTURE, optimize=True, pnginfo=about)


if __name__ == "__main__":
    main()
