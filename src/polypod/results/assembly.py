"""Assembly modes side by side."""

from __future__ import annotations

import numpy as np
import scipy

from ..model import AssemblyModes, Completeness
from ..tables import Table, table
from ..viewer.extras import mode_labels

_COLUMNS = [
    ("mode", ""), ("x", "m"), ("y", "m"), ("z", "m"), ("rot x", "deg"), ("rot y", "deg"), ("rot z", "deg"),
    ("proof", ""), ("limits", ""), ("from home", ""),
]  # fmt: skip


def modes_table(modes: AssemblyModes) -> Table:
    """A row for each assembly mode: its pose, whether it is proven, within limits and reachable from home."""
    rows = []
    for k, pose in enumerate(modes.pose):
        angles = np.degrees(scipy.spatial.transform.Rotation.from_matrix(pose[:3, :3]).as_rotvec())
        rows.append(
            (str(k + 1), *map(float, np.round(pose[:3, 3], 12) + 0.0), *map(float, angles), *mode_labels(modes, k))
        )
    count = len(modes.pose)
    known = f"{count} {'mode' if count == 1 else 'modes'}; {Completeness(int(modes.complete)).meaning}."
    return table("Assembly modes", _COLUMNS, rows, f"rot: rotation vector. {known}")
