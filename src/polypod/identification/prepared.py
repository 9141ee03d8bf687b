"""A log made ready: the platform's motion along it, forces at the same samples, and which of them to use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.ndimage import median_filter
from scipy.optimize import linear_sum_assignment

from ..arrays import Array
from ..errors import InputError
from ..friction import dry_drives
from ..model import Model
from .linear_model import MotionRows
from .logs import Log, flat_tops
from .sampling import evenly_spaced, nearest_poses
from .smoothing import Smooth, smoothed

SLOW = 3.0
"""A joint that moves slower than this many times the noise of its rate has no known direction of friction."""
_LOOKED_AT = 400
COARSE = 8
"""At least so many samples between two knots are followed one by one, and at least each of so many of a log."""


@dataclass(frozen=True)
class Prepared:
    """A log with the platform's motion (n rows), forces and marks of those to use (n, a), at samples of its splines."""

    log: Log
    smooth: Smooth
    motion: MotionRows
    force: Array
    good: NDArray[np.bool_]

    @property
    def time(self) -> Array:
        """Times (n,) [s]."""
        return self.log.time[self.smooth.rows]

    def noted(self, *texts: str) -> Prepared:
        """The run with further remarks."""
        return replace(self, log=self.log.noted(*texts))


def prepared(
    model: Model, log: Log, *, delay: float = 0.0, spacing: float | None = None, check: bool = True
) -> Prepared:
    """Motion by splines and forward kinematics along a log; errors for channels that cannot be what they are named.

    Forces are taken ``delay`` [s] later than coordinates, if a drive reports them late.
    """
    if delay:
        log = _shifted(log, delay)
    smooth = smoothed(log, spacing)
    motion, lost = _motion(model, log, smooth)
    notes = []
    if lost.any():
        notes.append(f"{int(lost.sum())} samples have coordinates that the robot cannot reach: not used")
    force = log.force[smooth.rows]
    good = log.good[smooth.rows] & ~lost[:, None]
    if len(model.actuators) > model.mobility.count:
        force, good = _moving_part(model, motion, force, good)
        notes.append(
            "internal forces, which do not move the robot, are removed: more actuators than degrees of freedom"
        )
    slow = _slow(model, smooth) & good
    if slow.any():
        notes.append(
            f"{int(slow.sum())} samples at which a joint with dry friction hardly moves (its direction is within "
            "the noise): not used"
        )
    off = _pose_error(model, log, smooth, motion)
    if off:
        notes.append(off)
    limited = _limited(model, motion, force, good)
    if limited.any():
        worst = int(limited.sum(axis=0).argmax())
        notes.append(
            f"{int(limited.sum())} samples of forces stay at the largest or smallest value (most of "
            f"{model.actuators[worst].name}, at {np.abs(force[limited[:, worst], worst]).mean():.4g}) where the "
            "predicted forces vary: drives at their limits, not used"
        )
        good = good & ~limited
    if check:
        notes += _check(model, log, smooth, motion, force, good & ~lost[:, None])
    return Prepared(log.noted(*notes), smooth, motion, force, good & ~slow)


def _shifted(log: Log, delay: float) -> Log:
    """A log with the forces that were recorded ``delay`` [s] later, interpolated, and their marks.

    A force is good if both samples it is interpolated between are, in one stretch of the log.
    """
    span = float(log.time[-1] - log.time[0])
    if not abs(delay) < 0.5 * span:
        raise InputError(f"delay: must be less than half of the log's {span:.4g} s, got {delay:g} s")
    at = log.time + delay
    force = np.stack([np.interp(at, log.time, column) for column in log.force.T], axis=1)
    after = np.clip(np.searchsorted(log.time, at), 1, len(at) - 1)
    recorded = (at >= log.time[0]) & (at <= log.time[-1]) & ~np.isin(after, log.starts)
    return replace(log, force=force, good=log.good[after - 1] & log.good[after] & recorded[:, None])


def refined(model: Model, run: Prepared, step: Array) -> Prepared:
    """A log on splines whose coefficients (K, a) are moved."""
    curves, start = [], 0
    for curve in run.smooth.curves:
        own = curve.spline
        moved = BSpline(own.t, own.c + step[start : start + len(own.c)], own.k)
        curves.append(curve._replace(spline=moved))
        start += len(own.c)
    smooth = run.smooth.on(tuple(curves), run.time)
    motion, lost = _motion(model, run.log, smooth, run.motion.pose)
    return replace(run, smooth=smooth, motion=motion, good=run.good & ~lost[:, None])


def _motion(model: Model, log: Log, smooth: Smooth, near: Array | None = None) -> tuple[MotionRows, NDArray[np.bool_]]:
    """Motion and marks of samples that the robot cannot take; ``near`` (n, 4, 4) are poses to start from, if known."""
    if len(model.actuators) > model.mobility.count:
        pose = nearest_poses(model, smooth.q, model.robot.home.matrix if near is None else near)
    elif near is None:
        guess = model.robot.home.matrix
        if log.pose is not None and np.isfinite(log.pose[smooth.rows[0]]).all():
            guess = log.pose[smooth.rows[0]]
        pose = _followed(model, smooth, guess)
    else:
        pose = model.forward_kinematics(smooth.q, near, full_output=True).pose
    lost: NDArray[np.bool_] = np.asarray(~np.isfinite(pose).all(axis=(1, 2)))
    if lost.mean() > 0.5:
        raise InputError(
            f"log: {log.name}: the robot cannot reach {lost.mean():.0%} of these coordinates (the first "
            f"{np.round(smooth.q[0], 6).tolist()}; at home they are "
            f"{np.round(model.inverse_kinematics(model.robot.home.matrix), 6).tolist()})"
            + swapped_coordinates(model, smooth.q)
        )
    pose[lost] = model.robot.home.matrix
    twist = model.twist(pose, smooth.qdot, errors="nan")
    acceleration = model.acceleration(pose, np.nan_to_num(twist), smooth.qddot, errors="nan")
    lost |= ~(np.isfinite(twist).all(axis=1) & np.isfinite(acceleration).all(axis=1))
    return MotionRows(pose, np.nan_to_num(twist), np.nan_to_num(acceleration)), lost


def _followed(model: Model, smooth: Smooth, guess: Array) -> Array:
    """Poses (n, 4, 4) along a log from that of its first sample, NaN where the robot cannot take its coordinates.

    One after the other, each the guess of the next: far fewer than between two knots at first, all others from these.
    """
    step = min(max(smooth.samples // COARSE, 1), COARSE)
    pose = model.forward_kinematics(smooth.q[::step], guess, along=True, full_output=True).pose
    if step > 1 and np.isfinite(pose).all():
        pose = model.forward_kinematics(smooth.q, np.repeat(pose, step, axis=0)[: len(smooth.q)], full_output=True).pose
    if step > 1 and not np.isfinite(pose).all():
        pose = model.forward_kinematics(smooth.q, guess, along=True, full_output=True).pose
    return np.asarray(pose)


def _moving_part(
    model: Model, motion: MotionRows, force: Array, good: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.bool_]]:
    """J (J^T J)^-1 J^T f: the part of forces (n, a) that moves the robot, and marks of samples that have all forces."""
    jacobian = np.asarray(model.jacobian(motion.pose))
    across, _, _ = np.linalg.svd(jacobian, full_matrices=False)
    across = across[:, :, : model.mobility.count]
    whole = np.asarray(good.all(axis=1))
    part = np.einsum("nai,nbi,nb->na", across, across, np.where(whole[:, None], force, 0.0))
    return part, np.broadcast_to(whole[:, None], good.shape).copy()


def _slow(model: Model, smooth: Smooth) -> NDArray[np.bool_]:
    """Samples (n, a) at which an actuated joint with dry friction has no known direction."""
    dry = [one for leg in model.kernels.mechanism.placed for one in dry_drives(leg)]
    return (np.abs(smooth.qdot) < SLOW * smooth.rate_noise) & np.array(dry, dtype=bool)


def _limited(model: Model, motion: MotionRows, force: Array, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Samples (n, a) of flat tops along which the file's numbers would let forces vary by a fifth of their range."""
    found = flat_tops(force) & good
    rows = evenly_spaced(motion, _LOOKED_AT)
    rows = np.union1d(rows, np.flatnonzero(found.any(axis=1))[:: max(int(found.any(axis=1).sum()) // _LOOKED_AT, 1)])
    if not found.any():
        return found
    predicted = np.asarray(model.inverse_dynamics(*motion[rows].arrays, errors="nan"))
    for k in range(force.shape[1]):
        top = predicted[found[rows, k], k]
        if len(top) < 2 or not np.nanstd(top) > 0.2 * np.nanstd(predicted[:, k]):
            found[:, k] = False
    return found


def _pose_error(model: Model, log: Log, smooth: Smooth, motion: MotionRows) -> str:
    if log.pose is None:
        return ""
    off = np.linalg.norm(log.pose[smooth.rows][:, :3, 3] - motion.pose[:, :3, 3], axis=1)
    off = off[np.isfinite(off)]
    middle = float(np.median(off)) if len(off) else 0.0
    if middle < 1e-3 * model.size:
        return ""
    return (
        f"the measured pose is {middle:.3g} m (median) from that computed from the coordinates: coordinate "
        "offsets or geometry are wrong; use polypod calibrate"
    )


def _check(
    model: Model, log: Log, smooth: Smooth, motion: MotionRows, force: Array, good: NDArray[np.bool_]
) -> list[str]:
    """What is to be said about channels that may be wrong; errors for those that are."""
    rows = evenly_spaced(motion, _LOOKED_AT)
    rows = rows[good[rows].all(axis=1)]
    if len(rows) < 10:
        return []
    some: Any = motion[rows]
    predicted, faster = (
        np.nan_to_num(model.inverse_dynamics(some.pose, s * some.twist, s**2 * some.acceleration, errors="nan"))
        for s in (1.0, 1e3)
    )
    text = milliseconds_hint(force[rows], predicted, faster)
    if text:
        raise InputError(f"log: {log.name}: {text}")
    notes = refuse_wrong_channels(log.name, [a.name for a in model.actuators], force[rows], predicted)
    if np.diag(correlations(force[rows], predicted)).mean() < 0.5 and np.ptp(smooth.q, axis=0).min() > 0:
        found = exchanged_coordinates(model, (smooth.q[rows], smooth.qdot[rows], smooth.qddot[rows]), force[rows])
        if found:
            raise InputError(
                f"log: {log.name}: {found}. Fix the columns, or pass check=False to take them as they are",
                code="swapped",
            )
    return notes


# ----------------------------------------------------------------------------------------------------------------------
# What logs get wrong: units, signs, swapped channels, clocks; found by comparing them with the file's own forces.

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
                         "forces, or of their coordinates if those are swapped", code="swapped")  # fmt: skip
    turned = [actuators[k] for k in range(len(own)) if own[k] < -0.5]
    if turned:
        raise InputError(
            f"log: {name}: forces of {', '.join(turned)} have the wrong sign: they oppose the forces predicted "
            f"from the file (correlation {own.min():.2f}). Forces are positive towards increasing coordinates: "
            "change the sign of these forces, or of their coordinates if those have the wrong sign",
            code="wrong_sign",
        )
    gain = (measured * predicted).sum(axis=0) / np.maximum((predicted**2).sum(axis=0), 1e-300)
    usual = float(np.median(np.abs(gain)))
    if not 1 / UNITS < usual < UNITS and own.mean() > 0.5:
        raise InputError(
            f"log: {name}: forces are {usual:.3g} times those of the file's numbers; are they, or times, in other "
            "units (mA, kN, ms)? State the unit in the column's header, and constants= for currents",
            code="units",
        )
    if not 1 / FACTOR < usual < FACTOR and own.min() > 0.9:
        return [
            f"forces are {usual:.3g} times those predicted from the file in all channels: are the drives' "
            "constants, gear ratios and units right? If they are, the robot is that much heavier or lighter than "
            "its file says"
        ]
    return []


def milliseconds_hint(measured: Array, by_file: Array, by_milliseconds: Array) -> str:
    """A hint at times that are in ms without saying so: forces (n, a) at rates of 1 kHz fit far better then."""
    size = float(np.linalg.norm(measured - measured.mean(axis=0))) or 1e-300
    own, other = (float(np.linalg.norm(measured - f) / size) for f in (by_file, by_milliseconds))
    if not (own > 0.3 and other < 0.5 * own):
        return ""
    return (f"times seem to be in ms: with ms the file predicts forces to {other:.0%} of their variation, with s "
f"only to {own:.0%}. Write 'time [ms]' in the header")  # fmt: skip


def swapped_coordinates(model: Model, q: Array) -> str:
    """Which unit, exchange of two coordinates or sign lets the robot close, as a hint; empty if none does."""
    names = [a.name for a in model.actuators]
    some = q[:: max(1, len(q) // 50)][:50]
    scale = np.array([np.pi / 180 if a.unit == "rad" else 1e-3 for a in model.actuators])
    if (model.forward_kinematics(scale * some, full_output=True).status == 0).all():
        return "; in [deg] or [mm] it can: give the unit in the columns' headers"
    for i, j in combinations(range(q.shape[1]), 2):
        order = list(range(q.shape[1]))
        order[i], order[j] = j, i
        if (model.forward_kinematics(some[:, order], full_output=True).status == 0).all():
            return f"; with {names[i]}.q and {names[j]}.q swapped it does"
    for k in range(q.shape[1]):
        turned = some.copy()
        turned[:, k] *= -1
        if (model.forward_kinematics(turned, full_output=True).status == 0).all():
            return f"; with the sign of {names[k]}.q changed it does"
    return ""


def exchanged_coordinates(model: Model, motion: tuple[Array, Array, Array], measured: Array) -> str:
    """Which exchange or sign of coordinates makes the file's forces fit the measured ones far better; empty if none."""
    names = [a.name for a in model.actuators]
    count = len(names)
    best, text = float(np.diag(correlations(measured, _forces(model, *motion))).mean()), ""
    tried = [(np.eye(count)[[j if k == i else i if k == j else k for k in range(count)]],
              f"{names[i]}.q and {names[j]}.q seem swapped") for i, j in combinations(range(count), 2)]  # fmt: skip
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
    lost = np.asarray(~np.isfinite(pose).all(axis=(1, 2)))
    pose[lost] = model.robot.home.matrix
    twist = model.twist(pose, qdot, errors="nan")
    acceleration = model.acceleration(pose, twist, qddot, errors="nan")
    forces = np.asarray(model.inverse_dynamics(pose, twist, acceleration, errors="nan"))
    return np.where(lost[:, None], 0.0, np.nan_to_num(forces))


def lag(rows: Array, force: Array, at: NDArray[np.int64]) -> float | None:
    """By how many samples forces come late against coordinates, if another shift fits them far better; else None.

    ``rows`` (m, a, r) is the regressor at samples ``at`` (m,) of the forces (n, a); the shift with the least squares is
    found among ``SHIFTS`` and refined by a parabola.
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
