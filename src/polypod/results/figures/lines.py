"""Curves of a study over time: forces, speeds and power, shares of the force, conditioning, reactions."""

from __future__ import annotations

from math import ceil
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ...model.results import LimitReport
from ..study import Study
from .axes import PREFIXES, power_of, prefixed
from .limits import draw_limits
from .style import COLOURS, DASHES, INK, dress, figure, leg_line, legend

Array = NDArray[np.float64]
_TIME = "time [s]"
_NOTHING = 1e-9  # N or N m; less is rounding
_DIP = 0.15  # of the largest; a jump within a sample that is less is a steep line
_NEGLIGIBLE = 5e-3  # of the largest force


def forces(study: Study) -> Figure:
    """Actuator force of each leg over time [N]."""
    made = figure(7.2, 4.2)
    axes = made.subplots()
    for k, leg in enumerate(study.model.legs):
        axes.plot(study.time, study.force[:, k], label=leg, **leg_line(k))
    axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(axes, _TIME, "actuator force [N]", _title(study, "actuator forces"))
    legend(made, axes)
    return made


def speeds(study: Study) -> Figure:
    """Speed [m/s] and power [W] of each actuator over time."""
    made = figure(7.2, 5.6)
    above, below = made.subplots(2, 1, sharex=True)
    for k, leg in enumerate(study.model.legs):
        above.plot(study.time, study.qdot[:, k], label=leg, **leg_line(k))
        below.plot(study.time, study.power[:, k], **leg_line(k))
    for axes in (above, below):
        axes.axhline(0.0, color=INK, linewidth=0.6)
    dress(above, "", "actuator speed [m/s]", _title(study, "speed and power"))
    dress(below, _TIME, "actuator power [W]")
    legend(made, above)
    return made


def shares(study: Study) -> Figure:
    """What each leg's force is for: inertia, Coriolis, gravity, friction, external wrench [N]."""
    legs = study.model.legs
    made, grid = _grid(len(legs), share_y=True)
    scale = max(float(np.abs(study.force).max()), 1e-300)
    # less is a line on the axis, as thick as what it shows, and its place in the legend misleads
    peaks = {name: float(np.abs(part).max()) for name, part in study.parts.items()}
    parts = {name: part for name, part in study.parts.items() if peaks[name] > _NEGLIGIBLE * scale}
    for k, (leg, axes) in enumerate(zip(legs, grid, strict=False)):
        # the total as a broad band behind: a part that is nearly all of it stays visible
        axes.plot(study.time, study.force[:, k], label="total", color="#CFCFCF", linewidth=4.5, solid_capstyle="butt")
        for number, (name, part) in enumerate(parts.items()):
            style = {"color": COLOURS[number], "linestyle": DASHES[number], "linewidth": 1.3}
            axes.plot(study.time, part[:, k], label=name, **style)
        axes.axhline(0.0, color=INK, linewidth=0.5)
        dress(axes, _TIME, "force [N]", leg)
    _inner_labels_off(grid, len(legs))
    legend(made, grid[0])
    missing = [f"{name} ({_size(peaks[name], 'N')})" for name in study.parts if name not in parts]
    note = f"\nnot drawn, below {100 * _NEGLIGIBLE:g} % of the largest force: {', '.join(missing)}" if missing else ""
    made.suptitle(f"{_title(study, 'what the forces are for')}{note}", fontsize=10, x=0.01, ha="left", color=INK)
    return made


def conditioning(study: Study) -> Figure:
    """Condition number and distance to singularity along the path, and how much of each limited range is used."""
    limits = study.limits
    made = figure(7.2, 7.0 if limits.names else 4.8)
    ratios = [1, 1, 1.4][: 3 if limits.names else 2]
    rows = made.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    rows[0].plot(study.time, study.conditioning.condition, color=COLOURS[0], linewidth=1.6)
    rows[1].plot(study.time, study.conditioning.distance, color=COLOURS[1], linewidth=1.6)
    for axes, values in zip(rows, study.conditioning, strict=False):
        axes.set_ylim(0.0, 1.1 * float(np.max(values)))
    dress(rows[0], "", "condition number [1]", _title(study, "distance to singularity and to limits"))
    dress(rows[1], "", "distance to\nsingularity [1]")
    if limits.names:
        draw_limits(rows[2], study.time, limits)
        dress(rows[2], "", f"{_kind(limits)}place\nin allowed range [%]")
        legend(made, rows[2], 6)
    rows[-1].set_xlabel(_TIME, fontsize=9)
    return made


def _kind(limits: LimitReport) -> str:
    """What is limited and a colon, if it is one kind of quantity."""
    kinds = {name for _, name in limits.names}
    return f"{kinds.pop()}: " if len(kinds) == 1 else ""


def reactions(study: Study) -> Figure:
    """Size of the reaction force [N] and moment [N m] in every joint, by joint and leg; of its determined part."""
    known = {key: pair for key, pair in study.reactions.items() if np.isfinite(pair).any()}
    names = list(dict.fromkeys(joint for _, joint in known))
    lost = [joint for joint in dict.fromkeys(joint for _, joint in study.reactions) if joint not in names]
    made = figure(7.2, 1.2 + 1.75 * len(names))
    grid = made.subplots(len(names), 2, sharex=True, squeeze=False)
    handles: dict[str, Any] = {}
    dips = 0
    for row, joint in zip(grid, names, strict=True):
        for axes, side, label, unit in zip(row, (0, 1), ("force", "moment"), ("N", "N m"), strict=True):
            sizes = {}
            for k, leg in enumerate(study.model.legs):
                vectors = known[leg, joint][side] if (leg, joint) in known else np.full(3, np.nan)
                if np.isfinite(vectors).any():
                    size = np.linalg.norm(np.nan_to_num(vectors), axis=-1)
                    if size.max() >= _NOTHING or np.isfinite(vectors).all():  # an open moment is not a line at zero
                        sizes[k] = size
            largest = max((float(size.max()) for size in sizes.values()), default=0.0)
            for k, size in sizes.items():
                shown = without_dips(size) if side else size
                dips += int(np.isnan(shown).sum())
                handles[study.model.legs[k]] = axes.plot(study.time, shown, **leg_line(k))[0]
            dress(axes, "", f"{label} [{unit}]", joint)
            axes.set_ylim(0.0, 1.05 * largest if largest >= _NOTHING else 1.0)
            if largest >= _NOTHING:
                prefixed(axes.yaxis, label, unit)
            else:
                text = "zero" if sizes else "left open by inner stresses"
                axes.set_yticks([0.0] if sizes else [])
                axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", fontsize=8, color=INK)
    for axes in grid[-1]:
        axes.set_xlabel(_TIME, fontsize=9)
    made.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize=8, frameon=False,
        handlelength=2.8,
    )  # fmt: skip
    note = " (the part that is determined)" if study.indeterminate else ""
    note += "; gaps: a joint turns about or rests, and dry friction is 0 for an instant" if dips else ""
    note += f"; left open by inner stresses and not drawn: {', '.join(lost)}" if lost else ""
    made.suptitle(fill(_title(study, f"joint reactions{note}"), 90), fontsize=10, x=0.01, ha="left", color=INK)
    return made


def without_dips(size: Array) -> Array:
    """Sizes (n,) with no number at single samples, first and last included, far below their neighbours.

    Dry friction's moment turns about within a sample; a line down to it and up again says nothing of its size. What
    passes zero in more than one sample stays.
    """
    if len(size) < 3:
        return size
    beside = np.minimum(np.append(np.inf, size[:-1]), np.append(size[1:], np.inf))
    return np.where((size < 0.5 * beside) & (beside - size > _DIP * size.max()), np.nan, size)


def _size(value: float, unit: str) -> str:
    """A number with the prefix that suits it."""
    if value == 0.0:
        return "none"
    power = power_of(value)
    return f"{value / 10.0**power:.2g} {PREFIXES.get(power, f'1e{power} ')}{unit}"


def _title(study: Study, what: str) -> str:
    return f"{study.robot.name}, {study.task.name}: {what}"


def _grid(count: int, share_y: bool) -> tuple[Figure, list[Any]]:
    columns = min(count, 3)
    rows = ceil(count / columns)
    made = figure(7.2, 1.0 + 2.1 * rows)
    grid = made.subplots(rows, columns, sharex=True, sharey=share_y, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.set_visible(False)
    return made, grid


def _inner_labels_off(grid: list[Any], count: int) -> None:
    columns = min(count, 3)
    for k, axes in enumerate(grid[:count]):
        if k % columns:
            axes.set_ylabel("")
        if k + columns < count:
            axes.set_xlabel("")
