"""Figures of studies: drives of a catalogue, and designs of a sweep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..description import Drive
from ..results.figures.force_speed import envelope
from ..results.figures.style import INK, dress, figure, legend
from ..tables import called, practical_unit
from .drives import DriveFit, DriveSelection
from .evaluate import Evaluator
from .results import violations, worst

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_COLOURS = ("#2e6f9e", "#d1495b", "#3d8b5f", "#b8860b", "#7d5ba6", "#2a9d8f", "#8c564b", "#5c6b7a")


def drive_envelopes(selection: DriveSelection, title: str = "") -> Figure:
    """Force against speed that the motions require, with the envelope of every drive; dashed where it does not fit.

    Parameters
    ----------
    selection : DriveSelection
        Result of ``polypod.design.select_drives``.
    title : str, optional
        Headline. Default: none.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    q, f = selection.units
    factor, unit = practical_unit(f"{q}/s")
    fig = figure(7.2, 4.6)
    axes: Any = fig.subplots()
    top = max(float(np.abs(speed).max()) for speed, _ in selection.states) or 1.0
    highest = max(float(np.abs(force).max()) for _, force in selection.states)
    first = selection.fits[0].candidate.name
    for k, (speed, force) in enumerate(selection.states):
        at = np.vstack([np.abs(speed), np.full((1, speed.shape[1]), np.nan)]).T.ravel()
        push = np.vstack([np.abs(force), np.full((1, force.shape[1]), np.nan)]).T.ravel()
        axes.plot(factor * at, push, color="#8a94a3", linewidth=0.8, zorder=1,
                  label=f"required, with the motor of {first}" if k == 0 else None)  # fmt: skip
    right = 1.1 * top
    drawn = [(one, _limits(one)) for one in selection.fits]
    ends = [limit.max_speed for _, limit in drawn if limit.max_speed is not None]
    right = max([right, *(1.05 * end for end in ends if end < 6 * top)])
    for k, (one, limit) in enumerate(drawn):
        found = envelope(limit, right)
        if found is None:
            continue
        at, most = found
        label = one.candidate.name if one.fits else f"{one.candidate.name} (does not fit)"
        axes.plot([*(factor * at), factor * at[-1]], [*most, 0.0], color=_COLOURS[k % len(_COLOURS)],
                  linewidth=1.4, linestyle="-" if one.fits else (0, (4, 2)), label=label)  # fmt: skip
        highest = max(highest, min(float(most.max()), 6 * highest))
        rms = one.candidate.drive.rms_force
        if rms is not None:
            axes.plot([0.0, factor * at[-1]], [rms] * 2, color=_COLOURS[k % len(_COLOURS)], linewidth=0.8,
                      linestyle=(0, (1, 2)), label=f"continuous {called('force', f)}" if k == 0 else None)  # fmt: skip
    axes.plot([0.0], [selection.fits[0].rms], "o", color=INK, markersize=6, clip_on=False, zorder=4,
              label=f"required rms {called('force', f)}")  # fmt: skip
    axes.set_xlim(0.0, factor * right)
    axes.set_ylim(0.0, 1.08 * highest or 1.0)
    dress(axes, f"actuator speed [{unit}]", f"actuator {called('force', f)} [{f}]", title)
    legend(fig, axes, columns=3)
    return fig


def _limits(one: DriveFit) -> Drive:
    """Limits of a drive at the coordinate, those of its motor among them: behind the losses, without acceleration."""
    drive = one.candidate.drive
    force, speed = [drive.max_force], [drive.max_speed]
    if drive.max_motor_torque is not None:
        efficiency = 1.0 if drive.efficiency is None else drive.efficiency
        force.append(drive.max_motor_torque * float(drive.motor_ratio) * efficiency)
    if drive.max_motor_speed is not None:
        speed.append(drive.max_motor_speed / float(drive.motor_ratio))
    least = [min((x for x in values if x is not None), default=math.inf) for values in (force, speed)]
    finite = [x if math.isfinite(x) else None for x in least]
    return drive.model_copy(update={"max_force": finite[0], "max_speed": finite[1]})


# ----------------------------------------------------------------------------------------------------------------------
# Designs of a sweep: quantities against parameters, main effects, and which limits rule designs out.

_KEPT, _BROKEN = "#2e6f9e", "#d99a9f"
_MOST_COLUMNS, _MOST_ROWS, _BINS = 5, 6, 6
_MOST_POINTS = 4000
"""More designs are drawn as a sample of them: points on points show nothing."""


def _parameters(result: xr.Dataset, evaluator: Evaluator) -> list[tuple[str, Any]]:
    """Labels with units and values (D,) of the varied parameters."""
    found = []
    for k, varied in enumerate(evaluator.study.vary[:_MOST_COLUMNS]):
        factor, unit = practical_unit(evaluator.unit(k)) if evaluator.unit(k) else (1.0, "")
        found.append((f"{varied.label} [{unit}]" if unit else varied.label, factor * result["value"].values[:, k]))
    return found


def _quantities(result: xr.Dataset, evaluator: Evaluator) -> list[tuple[str, Any]]:
    """Labels with units and values (D,), at the worst load case, of the quantities that vary: sought ones first."""
    study = evaluator.study
    order = dict.fromkeys((*study.minimise, *study.maximise, *study.target, *study.limits, *study.report))
    found = []
    for name in order:
        own = evaluator.quantity_unit(name)
        factor, unit = practical_unit(own) if own else (1.0, "")
        values = factor * worst(result, name)
        known = values[np.isfinite(values)]
        if len(known) and np.ptp(known) > 1e-9 * np.abs(known).max():
            found.append((f"{name} [{unit}]" if unit else name, values))
    return found[:_MOST_ROWS]


def sweep_scatter(result: xr.Dataset, evaluator: Evaluator) -> Figure:
    """Every quantity against every varied parameter, a point per design; designs that break a limit are pale.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.design.run``.
    evaluator : Evaluator
        Evaluator of the study.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    across, up = _parameters(result, evaluator), _quantities(result, evaluator)
    kept = result["feasible"].values.astype(bool)
    some = np.arange(len(kept))
    if len(some) > _MOST_POINTS:
        some = np.random.default_rng(0).choice(some, _MOST_POINTS, replace=False)
    rows = max(len(up), 1)
    fig = figure(1.0 + 2.2 * len(across), 0.9 + 1.7 * rows)
    cells: Any = fig.subplots(rows, len(across), squeeze=False, sharex="col", sharey="row")
    for i, (name, values) in enumerate(up):
        for k, (label, parameter) in enumerate(across):
            axes = cells[i, k]
            for which, colour, text in ((~kept, _BROKEN, "breaks a limit"), (kept, _KEPT, "within all limits")):
                chosen = some[which[some]]
                axes.plot(parameter[chosen], values[chosen], "o", color=colour, markersize=3.0, alpha=0.8,
                          markeredgewidth=0.0, label=text if len(chosen) else None)  # fmt: skip
            last = i == rows - 1
            dress(axes, label if last else "", name if k == 0 else "")
            axes.tick_params(labelsize=7)
            axes.xaxis.label.set_size(8)
            axes.yaxis.label.set_size(8)
    fig.suptitle(f"{evaluator.study.name}: {int(kept.sum())} of {len(kept)} designs are within all limits", fontsize=9,
                 color=INK)  # fmt: skip
    legend(fig, cells[0, 0], columns=2)
    return fig


def sweep_effects(result: xr.Dataset, evaluator: Evaluator) -> Figure:
    """Main effects: each quantity along the range of each varied parameter, the others at their mean effect.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.design.run``.
    evaluator : Evaluator
        Evaluator of the study.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    up, across = _quantities(result, evaluator), _parameters(result, evaluator)
    columns = min(3, max(len(up), 1))
    rows = -(-max(len(up), 1) // columns)
    fig = figure(0.6 + 2.6 * columns, 0.9 + 2.2 * rows)
    cells: Any = fig.subplots(rows, columns, squeeze=False)
    for cell in cells.ravel()[len(up) :]:
        cell.set_axis_off()
    groups = [_grouped(parameter) for _, parameter in across]
    for (name, values), axes in zip(up, cells.ravel(), strict=False):
        for k, (at, effect) in enumerate(zip((place for place, _ in groups), _effects(groups, values), strict=True)):
            axes.plot(at, effect, "o-", color=_COLOURS[k % len(_COLOURS)], markersize=3.5, linewidth=1.3,
                      label=across[k][0].partition(" [")[0])  # fmt: skip
        dress(axes, "place in the range [%]", name)
        axes.tick_params(labelsize=7)
        axes.xaxis.label.set_size(8)
        axes.yaxis.label.set_size(8)
    fig.suptitle(f"{evaluator.study.name}: main effects of the parameters", fontsize=9, color=INK)
    legend(fig, cells[0, 0], columns=4)
    return fig


def _grouped(parameter: Any) -> tuple[Any, Any]:
    """Places [%] in the range of a parameter, its levels or equal parts, and in which of them each design is."""
    low, high = float(parameter.min()), float(parameter.max())
    levels = np.unique(parameter)
    if len(levels) > 2 * _BINS:
        edges = np.linspace(low, high, _BINS + 1)
        group, places = np.clip(np.digitize(parameter, edges) - 1, 0, _BINS - 1), (edges[1:] + edges[:-1]) / 2
    else:
        group, places = np.searchsorted(levels, parameter), levels
    return 100 * (places - low) / ((high - low) or 1.0), group


def _effects(groups: list[tuple[Any, Any]], values: Any) -> list[Any]:
    """Main effects: the sum of one function of each parameter that comes nearest to the values, by least squares.

    A mean over the designs of a group alone would have in it what other parameters happen to be there.
    """
    known = np.isfinite(values)
    columns = [(group[known, None] == np.arange(len(places))).astype(float) for places, group in groups]
    mean = float(values[known].mean())
    found = np.linalg.lstsq(np.hstack(columns), values[known] - mean, rcond=None)[0]
    ends = np.cumsum([0, *(column.shape[1] for column in columns)])
    result = []
    for k, column in enumerate(columns):
        own, count = found[ends[k] : ends[k + 1]], column.sum(axis=0)
        own = own - (own @ count) / count.sum()
        result.append(np.where(count > 0, mean + own, np.nan))
    return result


def sweep_limits(result: xr.Dataset, evaluator: Evaluator) -> Figure:
    """How many designs each limit, or the lack of an answer, rules out; dark: those that break nothing else.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.design.run``.
    evaluator : Evaluator
        Evaluator of the study.

    Returns
    -------
    Figure
        The figure; ``savefig`` writes it.
    """
    counts = violations(result)
    shown = sorted(counts.items(), key=lambda pair: pair[1])
    kept, total = int(result["feasible"].values.sum()), result.sizes["design"]
    fig = figure(7.2, 1.1 + 0.3 * (len(shown) + 1))
    axes: Any = fig.subplots()
    names = [name for name, _ in shown] or ["no limit is broken"]
    each, alone = ([pair[k] for _, pair in shown] or [0] for k in range(2))
    axes.barh(names, each, color=_BROKEN, label="designs that break it")
    axes.barh(names, alone, color="#d1495b", label="and nothing else")
    axes.set_xlim(0, max(total, 1))
    dress(axes, "designs", "", f"{evaluator.study.name}: {kept} of {total} designs are within all limits")
    legend(fig, axes, columns=2)
    return fig


SWEEP_FIGURES = {"scatter": sweep_scatter, "effects": sweep_effects, "limits": sweep_limits}
"""Figures of a sweep by name."""
