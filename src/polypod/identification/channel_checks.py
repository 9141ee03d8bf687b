"""What logs get wrong: units, signs, swapped channels, clocks; found by comparing them with the file's own forces."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.optimize import linear_sum_assignment

from ..arrays import Array
from ..errors import InputError
from ..model import Model

UNITS = 20.0
"""Forces that differ from the file's by this factor are in other units."""
FACTOR = 2.0
"""Forces that differ in all channels by this factor are worth a note."""
SHIFTS = (-50, -30, -20, -12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12, 20, 30, 50)
"""Samples by which forces are tried against coordinates."""


def correlations(measured: Array, predicted: Array) -> Array:
    """Correlation (a, a) of every measured channel with every predicted one, means removed; 0 where one is constant."""
    a, b = (x - x.mean(axis=0) for x in (measured, predicted))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(a.T @ b / np.linalg.norm(a, axis=0)[:, None] / np.linalg.norm(b, axis=0))


def refuse_wrong_channels(name: str, actuators: list[str], measured: Array, predicted: Array) -> list[str]:
    """Raise for forces of wrong sign, of swapped channels or in other units than the file's numbers predict.

    Forces that are all too large or small by a smaller factor are only said: a robot may be heavier than its file.
    """
    seen = correlations(measured, predicted)
    own = np.diag(seen)
    rows, order = linear_sum_assignment(-np.abs(seen))
    changed = [k for k in rows if order[k] != k]
    size = np.abs(seen)[rows, order]
    if changed and size[changed].min() > 0.7 and (size[changed] - np.abs(own)[changed]).min() > 0.1:
        found = ", ".join(f"{actuators[k]}.force looks like the force of {actuators[order[k]]}" for k in changed)
        raise InputError(f"log: {name}: channels seem swapped: {found} (correlation {size[changed].min():.2f} or more, "
                         f"with their own {np.abs(own)[changed].max():.2f} or less). Rename the columns of these "
                         "forces, or of their coordinates if those are swapped")  # fmt: skip
    turned = [actuators[k] for k in range(len(own)) if own[k] < -0.5]
    if turned:
        raise InputError(
            f"log: {name}: forces of {', '.join(turned)} have the wrong sign: they go against what the file's numbers "
            f"give (correlation {own.min():.2f}). Forces are positive along growing coordinates: turn the sign of "
            "these forces, or of their coordinates if those count the other way"
        )
    gain = (measured * predicted).sum(axis=0) / np.maximum((predicted**2).sum(axis=0), 1e-300)
    usual = float(np.median(np.abs(gain)))
    if not 1 / UNITS < usual < UNITS and own.mean() > 0.5:
        raise InputError(
            f"log: {name}: forces are {usual:.3g} times those of the file's numbers; are they, or times, in other "
            "units (mA, kN, ms)? State the unit in the column's header, and --constant for currents"
        )
    if not 1 / FACTOR < usual < FACTOR and own.min() > 0.9:
        return [
            f"forces are {usual:.3g} times those of the file's numbers in all channels: are the drives' constants, "
            "gear ratios and units right? If they are, the robot is as much heavier or lighter than its file says"
        ]
    return []


def milliseconds_hint(measured: Array, by_file: Array, by_milliseconds: Array) -> str:
    """A hint at times that are in ms without saying so: forces (n, a) at rates of 1 kHz fit far better then."""
    size = float(np.linalg.norm(measured - measured.mean(axis=0))) or 1e-300
    own, other = (float(np.linalg.norm(measured - f) / size) for f in (by_file, by_milliseconds))
    if not (own > 0.3 and other < 0.5 * own):
        return ""
    return (f"times seem to be in ms: the file's numbers then give forces to {other:.0%} of their variation, in s only "
            f"to {own:.0%}. Write 'time [ms]' in the header")  # fmt: skip


def swapped_coordinates(model: Model, q: Array) -> str:
    """Which unit, exchange of two coordinates or sign lets the robot close, as a hint; empty if none does."""
    names = [a.name for a in model.actuators]
    some = q[:: max(1, len(q) // 50)][:50]
    scale = np.array([np.pi / 180 if a.unit == "rad" else 1e-3 for a in model.actuators])
    if (model.forward_kinematics(scale * some, full_output=True).status == 0).all():
        return "; in [deg] or [mm] it can: state the unit in the columns' headers"
    for i, j in combinations(range(q.shape[1]), 2):
        order = list(range(q.shape[1]))
        order[i], order[j] = j, i
        if (model.forward_kinematics(some[:, order], full_output=True).status == 0).all():
            return f"; with {names[i]}.q and {names[j]}.q exchanged it does"
    for k in range(q.shape[1]):
        turned = some.copy()
        turned[:, k] *= -1
        if (model.forward_kinematics(turned, full_output=True).status == 0).all():
            return f"; with the sign of {names[k]}.q turned it does"
    return ""


def exchanged_coordinates(model: Model, motion: tuple[Array, Array, Array], measured: Array) -> str:
    """Which exchange or sign of coordinates makes the file's forces fit the measured ones far better; empty if none."""
    names = [a.name for a in model.actuators]
    count = len(names)
    best, text = float(np.diag(correlations(measured, _forces(model, *motion))).mean()), ""
    tried = [(np.eye(count)[[j if k == i else i if k == j else k for k in range(count)]],
              f"{names[i]}.q and {names[j]}.q seem exchanged") for i, j in combinations(range(count), 2)]  # fmt: skip
    tried += [(np.diag(np.where(np.arange(count) == k, -1.0, 1.0)), f"{names[k]}.q seems to have the wrong sign")
              for k in range(count)]  # fmt: skip
    for change, remark in tried:
        forces = _forces(model, *(x @ change.T for x in motion))
        fit = float(np.diag(correlations(measured, forces)).mean())
        if fit > max(best + 0.2, 0.8):
            best, text = fit, f"{remark} (mean correlation of forces {fit:.2f})"
    return text


def _forces(model: Model, q: Array, qdot: Array, qddot: Array) -> Array:
    pose = model.forward_kinematics(q, full_output=True).pose
    lost = ~np.isfinite(pose).all(axis=(1, 2))
    pose[lost] = model.robot.home.matrix
    twist = model.twist(pose, qdot, errors="nan")
    acceleration = model.acceleration(pose, twist, qddot, errors="nan")
    forces = np.asarray(model.inverse_dynamics(pose, twist, acceleration, errors="nan"))
    return np.where(lost[:, None], 0.0, np.nan_to_num(forces))


def lag(rows: Array, force: Array, at: NDArray[np.int64]) -> float | None:
    """By how many samples forces come late against coordinates, if another shift fits them far better; else None.

    ``rows`` (m, a, r) is the regressor at samples ``at`` (m,) of the forces (n, a); the shift with the least squares is
    found among :data:`SHIFTS` and refined by a parabola.
    """
    # single values that stand out pull at shifts; a median over few samples has no phase
    force = median_filter(force, size=(5, 1), mode="nearest")
    inner = (at >= SHIFTS[-1]) & (at < len(force) + SHIFTS[0])
    rows, at = rows[inner], at[inner]
    if len(at) * force.shape[1] < 2 * rows.shape[2]:
        return None
    stacked = rows.reshape(-1, rows.shape[2])
    scale = np.linalg.norm(stacked, axis=0)
    q, _ = np.linalg.qr(stacked / np.where(scale > 0, scale, 1.0))
    shifts = np.array(SHIFTS)
    sides = np.stack([force[at + s].ravel() for s in shifts], axis=1)
    left = (sides**2).sum(axis=0) - ((q.T @ sides) ** 2).sum(axis=0)
    best, still = int(np.argmin(left)), SHIFTS.index(0)
    if best == still or left[best] > 0.7 * left[still]:
        return None
    if not 0 < best < len(shifts) - 1:
        return float(shifts[best])
    bend = np.polyfit(shifts[best - 1 : best + 2].astype(float), left[best - 1 : best + 2], 2)
    return float(-bend[1] / (2 * bend[0]))
