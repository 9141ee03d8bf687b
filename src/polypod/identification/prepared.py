"""A log made ready: the platform's motion along it, forces at the same samples, and which of them to use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from ..arrays import Array
from ..errors import InputError
from ..friction import dry_drives
from ..model import Model
from .channel_checks import (
    correlations,
    exchanged_coordinates,
    milliseconds_hint,
    refuse_wrong_channels,
    swapped_coordinates,
)
from .linear_model import MotionRows
from .logs import Log
from .overdetermined import nearest_poses
from .sampling import evenly_spaced
from .saturation import flat_tops
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
        notes.append(f"{int(lost.sum())} samples have coordinates that the robot cannot take: not used")
    force = log.force[smooth.rows]
    good = log.good[smooth.rows] & ~lost[:, None]
    if len(model.actuators) > model.mobility.count:
        force, good = _moving_part(model, motion, force, good)
        notes.append(
            "forces are taken without their internal part, which moves nothing: more actuators than degrees of freedom"
        )
    slow = _slow(model, smooth) & good
    if slow.any():
        notes.append(
            f"{int(slow.sum())} samples at which a joint with dry friction hardly moves (its direction is in the "
            "noise): not used"
        )
    off = _pose_error(model, log, smooth, motion)
    if off:
        notes.append(off)
    limited = _limited(model, motion, force, good)
    if limited.any():
        worst = int(limited.sum(axis=0).argmax())
        notes.append(
            f"{int(limited.sum())} samples of forces stand still but for noise at the largest or smallest (most of "
            f"{model.actuators[worst].name}, at {np.abs(force[limited[:, worst], worst]).mean():.4g}), where the "
            "file's numbers let them vary: drives at their limits, not used"
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
        raise InputError(f"delay: less than half of the log's {span:.4g} s is needed, got {delay:g} s")
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
            f"log: {log.name}: the robot cannot take {lost.mean():.0%} of these coordinates (the first "
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
        f"the measured pose is {middle:.3g} m (median) from that of the coordinates: offsets of coordinates or "
        "geometry are off; polypod calibrate finds them"
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
            raise InputError(f"log: {log.name}: {found}. Mend the columns; --no-check takes them as they are")
    return notes
