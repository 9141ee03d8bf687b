"""Reactions in the joints over time."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ..read import open_reactions
from ..read import reactions as joint_reactions
from .axes import prefixed
from .style import INK, TIME, dress, figure, leg_line, title

Array = NDArray[np.float64]
_NOTHING = 1e-9  # N or N m; less is rounding
_DIP = 0.15  # of the largest; a jump within a sample that is less is a steep line


def reactions(result: xr.Dataset) -> Figure:
    """Size of the reaction force [N] and moment [N m] in every joint, by joint and leg; of its determined part."""
    every = joint_reactions(result)
    known = {key: pair for key, pair in every.items() if np.isfinite(pair).any()}
    legs = list(map(str, result.leg.values))
    names = list(dict.fromkeys(joint for _, joint in known))
    lost = [joint for joint in dict.fromkeys(joint for _, joint in every) if joint not in names]
    made = figure(7.2, 1.2 + 1.75 * len(names))
    grid = made.subplots(len(names), 2, sharex=True, squeeze=False)
    handles: dict[str, Any] = {}
    dips = 0
    for row, joint in zip(grid, names, strict=True):
        for axes, side, label, unit in zip(row, (0, 1), ("force", "moment"), ("N", "N m"), strict=True):
            sizes = {}
            for k, leg in enumerate(legs):
                vectors = known[leg, joint][side] if (leg, joint) in known else np.full(3, np.nan)
                if np.isfinite(vectors).any():
                    size = np.linalg.norm(np.nan_to_num(vectors), axis=-1)
                    if size.max() >= _NOTHING or np.isfinite(vectors).all():  # an open moment is not a line at zero
                        sizes[k] = size
            largest = max((float(size.max()) for size in sizes.values()), default=0.0)
            for k, size in sizes.items():
                shown = without_dips(size) if side else size
                dips += int(np.isnan(shown).sum())
                handles[legs[k]] = axes.plot(result.time.values, shown, **leg_line(k))[0]
            dress(axes, "", f"{label} [{unit}]", joint)
            axes.set_ylim(0.0, 1.05 * largest if largest >= _NOTHING else 1.0)
            if largest >= _NOTHING:
                prefixed(axes.yaxis, label, unit)
            else:
                text = "zero" if sizes else "left open by inner stresses"
                axes.set_yticks([0.0] if sizes else [])
                axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", fontsize=8, color=INK)
    for axes in grid[-1]:
        axes.set_xlabel(TIME, fontsize=9)
    made.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize=8, frameon=False,
        handlelength=2.8,
    )  # fmt: skip
    note = " (the part that is determined)" if open_reactions(result) else ""
    note += "; gaps: a joint turns about or rests, and dry friction is 0 for an instant" if dips else ""
    note += f"; left open by inner stresses and not drawn: {', '.join(lost)}" if lost else ""
    made.suptitle(fill(title(result, f"joint reactions{note}"), 90), fontsize=10, x=0.01, ha="left", color=INK)
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
