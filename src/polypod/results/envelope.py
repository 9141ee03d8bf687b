"""The force that a drive gives at a speed: its limits as one envelope over the speed."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..description import Drive
from ..description.curve import force_at


def envelope(drive: Drive, top: float, count: int = 200) -> tuple[Array, Array] | None:
    """Speeds (k,) and the largest forces (k,) there; None for a drive without limits of force.

    The envelope ends at the largest speed that is allowed, or at ``top`` where none is.
    """
    ends = [x for x in (drive.max_speed, drive.force_speed[-1][0] if drive.force_speed else None) if x is not None]
    if drive.max_force is None and drive.force_speed is None and drive.max_power is None:
        return None
    corners = [point[0] for point in drive.force_speed or ()]
    end = min(ends, default=top)
    speeds = np.unique(np.concatenate([np.linspace(0.0, end, count), [x for x in corners if x <= end]]))
    forces = force_at(drive, speeds)
    seen = np.isfinite(forces)
    return speeds[seen], forces[seen]
