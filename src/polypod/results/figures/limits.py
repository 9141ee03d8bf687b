"""Places of limited quantities in their ranges: all legs of a kind of limit as one band, those that leave it named."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.results import LimitReport
from .style import COLOURS, DASHES, INK, leg_line

Array = NDArray[np.float64]
_NEAR = 0.05  # of the panel's width and height; worst points that are closer share a label
_LINE = 0.1  # height of a label, of the panel's
_LETTER = 0.0105  # width of a letter, of the panel's


class Worst(NamedTuple):
    """Where the legs of one kind of limit are farthest outside: time [s], place in the range [%]."""

    legs: tuple[str, ...]
    kind: str
    time: float
    place: float


def draw_limits(axes: Any, time: Array, limits: LimitReport) -> None:
    """Lines of one kind of limit by leg, or bands of several kinds; what leaves its range is thick and named."""
    used = 100 * (limits.value - limits.low) / (limits.high - limits.low)
    kinds = list(dict.fromkeys(name for _, name in limits.names))
    axes.axhspan(0.0, 100.0, color="#F0F0F0", zorder=0)
    for number, kind in enumerate(kinds):
        columns = [k for k, (_, name) in enumerate(limits.names) if name == kind]
        if len(kinds) == 1:
            for k in columns:
                axes.plot(time, used[:, k], label=limits.names[k][0], **leg_line(k))
            continue
        low, high = used[:, columns].min(axis=1), used[:, columns].max(axis=1)
        style = {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[number % len(DASHES)]}
        axes.fill_between(time, low, high, color=style["color"], alpha=0.15, linewidth=0)
        axes.plot(time, low, linewidth=1.2, **style)
        axes.plot(time, high, linewidth=1.2, label=f"{kind}, all legs", **style)
    _name(axes, time, limits, used, kinds)


def _name(axes: Any, time: Array, limits: LimitReport, used: Array, kinds: list[str]) -> None:
    """Thick lines outside the range, and at each one's worst place its leg and kind."""
    outside = (used < 0) | (used > 100)
    for k in np.flatnonzero(outside.any(axis=0)).tolist():
        number = k if len(kinds) == 1 else kinds.index(limits.names[k][1])
        line = np.where(outside[:, k], used[:, k], np.nan)
        axes.plot(time, line, color=COLOURS[number % len(COLOURS)], linewidth=3.0, solid_capstyle="round")
    low, high = min(0.0, float(used.min())), max(100.0, float(used.max()))
    height, width = high - low, float(np.ptp(time)) or 1.0
    taken: list[tuple[float, float, float]] = []
    for worst in worst_places(time, limits, used, height, width):
        every = len(worst.legs) == sum(name == worst.kind for _, name in limits.names) > 1
        words = f"{'all legs' if every else ', '.join(worst.legs)}: {worst.kind} {worst.place:.0f} %"
        half = 0.5 * _LETTER * len(words) * width
        x = float(np.clip(worst.time, time[0] + half, max(time[-1] - half, time[0] + half)))
        up = 1.0 if worst.place > 100 else -1.0
        # beyond every line there and beyond earlier labels: the numbers, and their order, tell whose it is
        under = used[np.abs(time - x) <= half]
        y = up * max(float((up * under).max(initial=up * worst.place)), up * worst.place) + up * 0.04 * height
        for centre, other, extent in sorted(taken, key=lambda place: up * place[1]):
            if abs(centre - x) < half + extent and abs(other - y) < _LINE * height:
                y = other + up * _LINE * height
        taken.append((x, y, half))
        axes.text(x, y, words, fontsize=8, color=INK, ha="center", va="bottom" if up > 0 else "top")
    ends = [y + np.sign(y - 50) * 1.1 * _LINE * height for _, y, _ in taken]
    axes.set_ylim(min([low - 0.04 * height, *ends]), max([high + 0.04 * height, *ends]))


def worst_places(time: Array, limits: LimitReport, used: Array, height: float, width: float) -> list[Worst]:
    """Worst places outside [0, 100] %, those of one kind that are close together as one, the least first."""
    found: list[Worst] = []
    excess = np.maximum(used - 100, -used)
    for k in np.argsort(excess.max(axis=0), kind="stable").tolist():
        row = int(excess[:, k].argmax())
        if excess[row, k] <= 0:
            continue
        leg, kind = limits.names[k]
        new = Worst((leg,), kind, float(time[row]), float(used[row, k]))
        same = next((old for old in found if _close(old, new, height, width)), None)
        if same is not None:
            found.remove(same)
            new = new._replace(legs=tuple(sorted((*same.legs, leg))))
        found.append(new)
    return found


def _close(old: Worst, new: Worst, height: float, width: float) -> bool:
    near = abs(old.place - new.place) < _NEAR * height and abs(old.time - new.time) < _NEAR * width
    return near and old.kind == new.kind
