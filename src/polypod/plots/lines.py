"""Curves of a study over time: forces, speeds and power, shares of the force, conditioning, reactions."""

from __future__ import annotations

from math import ceil
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ..study import Study
from .style import COLOURS, DASHES, INK, dress, figure, leg_line, legend

_TIME = "time [s]"
_NOTHING = 1e-9  # N or N m; less is rounding


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
    # a share below a ten-thousandth of the largest force is a line on the axis, and its place in the legend misleads
    parts = {name: part for name, part in study.parts.items() if np.abs(part).max() > 1e-4 * scale}
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
    missing = [name for name in study.parts if name not in parts]
    note = f"\nnot drawn, below 0.01 % of the largest force: {', '.join(missing)}" if missing else ""
    made.suptitle(f"{_title(study, 'what the forces are for')}{note}", fontsize=10, x=0.01, ha="left", color=INK)
    return made


def conditioning(study: Study) -> Figure:
    """Condition number and distance to singularity along the path, and how much of each limited range is used."""
    limits = study.limits
    made = figure(7.2, 6.6 if limits.names else 4.8)
    rows = made.subplots(3 if limits.names else 2, 1, sharex=True)
    rows[0].plot(study.time, study.conditioning.condition, color=COLOURS[0], linewidth=1.6)
    rows[1].plot(study.time, study.conditioning.distance, color=COLOURS[1], linewidth=1.6)
    for axes, values in zip(rows, study.conditioning, strict=False):
        axes.set_ylim(0.0, 1.1 * float(np.max(values)))
    dress(rows[0], "", "condition number [1]", _title(study, "distance to singularity and to limits"))
    dress(rows[1], "", "smallest singular value [1]")
    if limits.names:
        used = 100 * (limits.value - limits.low) / (limits.high - limits.low)
        for k, (leg, name) in enumerate(limits.names):
            rows[2].plot(study.time, used[:, k], label=f"{leg} {name}", **leg_line(k))
        rows[2].axhspan(0.0, 100.0, color="#F0F0F0", zorder=0)
        dress(rows[2], "", "place in allowed range [%]")
        legend(made, rows[2], 4)
    rows[-1].set_xlabel(_TIME, fontsize=9)
    return made


def reactions(study: Study) -> Figure:
    """Size of the reaction force [N] and moment [N m] in every joint, by joint and leg; of its determined part."""
    known = {key: pair for key, pair in study.reactions.items() if np.isfinite(pair).any()}
    names = list(dict.fromkeys(joint for _, joint in known))
    lost = [joint for joint in dict.fromkeys(joint for _, joint in study.reactions) if joint not in names]
    made = figure(7.2, 1.2 + 1.75 * len(names))
    grid = made.subplots(len(names), 2, sharex=True, squeeze=False)
    handles: dict[str, Any] = {}
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
            factor, prefix = _prefix(largest)
            for k, size in sizes.items():
                handles[study.model.legs[k]] = axes.plot(study.time, size / factor, **leg_line(k))[0]
            dress(axes, "", f"{label} [{prefix}{unit}]", joint)
            axes.set_ylim(0.0, 1.05 * largest / factor if largest >= _NOTHING else 1.0)
            if largest < _NOTHING:
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
    note += f"; left open by inner stresses and not drawn: {', '.join(lost)}" if lost else ""
    made.suptitle(fill(_title(study, f"joint reactions{note}"), 90), fontsize=10, x=0.01, ha="left", color=INK)
    return made


def _prefix(largest: float) -> tuple[float, str]:
    """Factor and letter of the unit that keeps a figure's numbers free of powers of ten."""
    if largest >= 0.1 or largest < _NOTHING:
        return 1.0, ""
    return (1e-3, "m") if largest >= 1e-4 else (1e-6, "µ")


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
