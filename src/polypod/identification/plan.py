"""Where to measure: poses within the workspace that tell the most about a robot's geometry (D-optimal)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..model import Model
from .base import BaseParameters, base_of_rows
from .calibrate import GEOMETRY_UNCERTAINTY
from .geometry import Geometry
from .identifiability import measurement_rows
from .measured import COLUMNS, MeasurementKind
from .prior import Z95
from .sampling import random_poses


@dataclass(frozen=True)
class Plan:
    """Poses to measure at (n, 4, 4), their coordinates q (n, a), and what they will show.

    ``half_widths`` (k,) are those of the 95 % intervals to expect, with the noise stated.
    """

    poses: Array
    q: Array
    base: BaseParameters
    half_widths: Array
    log_determinant: float


def plan(
    model: Model | Robot | str | Path,
    count: int,
    kind: MeasurementKind = "pose",
    *,
    numbers: Sequence[str] = (),
    offsets: bool = True,
    frames: bool = False,
    tool: Any = (0.0, 0.0, 0.0),
    anchor: Any = (0.0, 0.0, 0.0),
    noise: tuple[float, float] = (1e-5, 2e-5),
    candidates: int = 400,
    seed: int = 0,
) -> Plan:
    """The ``count`` poses whose measurements have the largest log det of information about the geometry.

    Chosen from ``candidates`` random poses of the workspace one by one, then exchanged as long as that helps. ``noise``
    is that of lengths [m] and angles [rad].
    """
    model = model if isinstance(model, Model) else Model(model)
    if kind not in COLUMNS:
        raise InputError(f"kind: one of {', '.join(COLUMNS)} is needed, got {kind!r}")
    if not 1 <= count <= candidates:
        raise InputError(f"count: 1 to {candidates} poses can be chosen, got {count}")
    geometry = Geometry(model, tuple(numbers), offsets=offsets, frames=frames)
    poses = random_poses(model, candidates, seed)
    rows = measurement_rows(geometry, poses, kind, tool, anchor)
    each = np.array([noise[int(quantity == "angle")] for _, quantity in COLUMNS[kind]])
    blocks = rows.reshape(candidates, len(each), -1) / each[:, None] * GEOMETRY_UNCERTAINTY
    chosen = _exchanged(blocks, _greedy(blocks, count))
    information = np.eye(blocks.shape[2]) + np.einsum("nck,ncl->kl", blocks[chosen], blocks[chosen])
    half = Z95 * GEOMETRY_UNCERTAINTY * np.sqrt(np.diag(np.linalg.inv(information)))
    seen = base_of_rows(measurement_rows(geometry, poses[chosen], kind, tool, anchor), tuple(geometry.numbers))
    return Plan(poses[chosen], np.asarray(model.inverse_kinematics(poses[chosen])), seen, half,
                float(np.linalg.slogdet(information)[1]))  # fmt: skip


def _gains(blocks: Array, covariance: Any) -> Array:
    """log det(1 + A C A^T) of every candidate (n,)."""
    inner = np.einsum("nck,kl,ndl->ncd", blocks, covariance, blocks, optimize=True)
    return np.asarray(np.linalg.slogdet(np.eye(blocks.shape[1]) + inner)[1])


def _greedy(blocks: Array, count: int) -> list[int]:
    information, chosen = np.eye(blocks.shape[2]), list[int]()
    for _ in range(count):
        gains = _gains(blocks, np.asarray(np.linalg.inv(information)))
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        information = information + blocks[chosen[-1]].T @ blocks[chosen[-1]]
    return chosen


def _exchanged(blocks: Array, chosen: list[int], iterations: int = 3) -> list[int]:
    """Each pose in turn given up for the best of the others, while that helps."""
    chosen = list(chosen)
    whole = np.eye(blocks.shape[2]) + np.einsum("nck,ncl->kl", blocks[chosen], blocks[chosen])
    for _ in range(iterations):
        changed = False
        for place, old in enumerate(chosen):
            without = whole - blocks[old].T @ blocks[old]
            gains = _gains(blocks, np.linalg.inv(without))
            gains[[c for c in chosen if c != old]] = -np.inf
            best = int(np.argmax(gains))
            if best != old and gains[best] > gains[old] + 1e-9:
                chosen[place], changed = best, True
                whole = without + blocks[best].T @ blocks[best]
        if not changed:
            break
    return chosen
