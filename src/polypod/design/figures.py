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

if TYPE_CHECKING:
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
