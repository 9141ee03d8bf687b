"""Robot and forces side by side: a study at a glance."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..study import Study
from .scene import draw_robot
from .style import INK, dress, figure, leg_line


def cover(study: Study) -> Figure:
    """The robot at the largest force, the platform's path, and the actuator forces over time [N]."""
    made = figure(9.0, 3.6, fitted=False)
    peak = int(np.abs(study.force).max(axis=1).argmax())
    left = made.add_axes((0.0, 0.02, 0.42, 0.96), projection="3d")
    draw_robot(left, study, peak)
    right = made.add_axes((0.54, 0.15, 0.44, 0.66))
    for k, leg in enumerate(study.model.legs):
        right.plot(study.time, study.force[:, k], label=leg, **leg_line(k))
    right.axvline(study.time[peak], color=INK, linewidth=0.6)
    dress(right, "time [s]", "actuator force [N]")
    right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8, frameon=False, handlelength=2.8)
    return made
