"""What an identification changes in a robot file: fields of bodies and friction, with their intervals."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..parameters.paths import value_at
from ..parameters.vector import MOMENTS
from .linear_model import LinearModel
from .new_robot import Change, body_changes, file_value
from .prior import Z95


def changes_of(linear: LinearModel, numbers: Array, covariance: Array) -> list[Change]:
    """Fields of the file that forces show something of, for all legs."""
    entries = linear.to_entries @ numbers
    entry_covariance = linear.to_entries @ covariance @ linear.to_entries.T
    before = np.array([e.value for e in linear.entries])
    place = {(e.path, e.index): k for k, e in enumerate(linear.entries)}
    changes: list[Change] = []
    for path in dict.fromkeys(e.path for e in linear.entries):
        if not any(np.abs(entry_covariance[k, k]) > 0 for k, e in enumerate(linear.entries) if e.path == path):
            continue
        own = [(m, place[path, m]) for m in MOMENTS if (path, m) in place]
        if not own:
            k = place[path, ()]
            half = Z95 * np.sqrt(max(entry_covariance[k, k], 0.0))
            unit = next((n.unit for n in linear.numbers if n.path == path), "")
            changes.append(Change(path, unit, file_value(linear.robot, path), np.array(entries[k]), np.array(half)))
            continue
        body = value_at(linear.robot, path)
        slots, places = [MOMENTS.index(m) for m, _ in own], [k for _, k in own]
        old, new, wide = np.zeros(10), np.zeros(10), np.zeros((10, 10))
        old[slots], new[slots] = before[places], entries[places]
        wide[np.ix_(slots, slots)] = entry_covariance[np.ix_(places, places)]
        shown = _shown(body_changes(path, body, old, new, wide))
        if not wide[1:, 1:].any():
            # a body that does not turn: forces show its mass alone, and the rest of it stays as the file has it
            shown = [change for change in shown if change.path == f"{path}.mass"]
        changes += shown
    return changes


def _shown(changes: list[Change]) -> list[Change]:
    return [c for c in changes if np.any(c.half > 0)]
