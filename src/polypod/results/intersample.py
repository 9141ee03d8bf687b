"""A motion between its samples: what is proven of it there, at every instant, and what is only looked at."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..datasets import QUANTITIES
from ..errors import PolypodError, StateError
from ..limits import DRIVE_KINDS, KINDS, ROUNDING
from ..model import Model
from ..motion import Task, make_task
from ..tables import short
from .verdict import PROOF_TOLERANCE

if TYPE_CHECKING:
    import xarray as xr

    from ..analysis import MotionBounds

_ROUGH = 0.01  # of a force: what it is above the largest at samples by more is worth a word
_HALVINGS = 12
"""How often an interval between samples is halved to find where bodies come nearest."""
SHARED_ANEW = (
    "cables, and redundant actuators that least norm would take beyond their limits, share forces anew at every instant"
)
"""Why forces are not bounded between samples."""
_FINER, _TRIED = (1, 4, 16, 64), 16  # parts of a sampling interval one after the other; boxes tried of the smallest
_LOOKED_AT = 100_000  # samples at most between which a motion is judged more closely than at its own


class IntersampleCheck(NamedTuple):
    """What is known about a motion between its samples.

    Attributes
    ----------
    certified : bool or None
        Whether legs provably close, keep their limits and stay off singular poses; None if that could not be tried.
    text : str
        The same in words.
    broken : tuple of str
        Limits that the motion exceeds between samples.
    warnings : tuple of str
        What to consider.
    bounds : MotionBounds or None
        Proven bounds of what the drives must do at every instant.
    reason : str
        Why there are no bounds.
    """

    certified: bool | None
    text: str
    broken: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    bounds: MotionBounds | None = None
    reason: str = ""


def between(
    model: Model,
    task: Task,
    friction: bool = True,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> IntersampleCheck:
    """What is known between its samples about a motion that the robot can make at them.

    Uses bounds along the motion (``polypod.analysis.bound_motion``), which include forces and limits of the drives; for
    motions or robots without such bounds, boxes around the samples (``polypod.analysis.certify_motion``), refined while
    that may help, which say nothing about forces. If the time is over, limits are known at the samples.

    Parameters
    ----------
    model : Model
        Model of the robot.
    task : Task
        Motion and wrench.
    friction : bool, optional
        Whether friction in the joints is included.
    seconds : float, optional
        Computing time after which the proof is given up [s]. Default: no limit.
    progress : callable, optional
        Called with a text on how far it came.

    Returns
    -------
    IntersampleCheck
        What is proven.
    """
    from ..analysis.certified.bounds import (  # much to import, which results to read have no use for
        BudgetError,
        bound_motion,
    )

    if task.trajectory is None:
        text = "arrays have no values between samples"
        return IntersampleCheck(None, f"meets its limits at the samples; {text}", reason=text)
    try:
        bounds = bound_motion(model, task, friction, seconds, progress)
    except BudgetError as error:
        return IntersampleCheck(
            None, f"meets its limits at the samples; not verified between them: {error}", reason=str(error)
        )
    except PolypodError as error:
        return _by_boxes(model, task, seconds)._replace(reason=str(error))
    bends = "the platform bends" if model.robot.flexible else ""
    found = _kinematics(model, task, bounds.certain, bounds.open, ", platform taken as rigid" if bends else "")
    if bends:
        return found._replace(reason=bends)
    if _shared_anew(model, bounds):
        return found._replace(reason=SHARED_ANEW)
    broken, open_ = _drives(model, bounds)
    if broken and not found.broken:
        found = found._replace(text=f"violates limits between samples: {'; '.join(broken)}")
    return found._replace(broken=(*found.broken, *broken), warnings=(*found.warnings, *open_), bounds=bounds)


def _shared_anew(model: Model, bounds: MotionBounds) -> bool:
    """Whether redundant actuators may share their forces otherwise than by least norm, of which bounds are known."""
    if "tension" in model.robot_limits.kinds:
        return True
    if model.kernels.mechanism.drive_bounds is None:
        return False
    forces = [one for one in model.robot_limits.limits if "force" in KINDS[one.kind].needs]
    held = [one for one in forces if KINDS[one.kind].over == "instant" and one.kind in bounds.upper_bound]
    return any(bounds.upper_bound[one.kind][one.index] > one.high for one in held)


def _by_boxes(model: Model, task: Task, seconds: float | None) -> IntersampleCheck:
    """What boxes around the samples prove of the kinematics."""
    from ..analysis.certified.motion import certify_samples

    rate, began = (len(task.time) - 1) / float(task.time[-1]), monotonic()
    try:
        for finer in _FINER:
            found = certify_samples(model, make_task(model, task.trajectory, rate * finer), slice(None))
            # the next look takes four times as long
            late = seconds is not None and 5 * (monotonic() - began) > seconds
            if found.ok or late or 4 * len(found.time) > _LOOKED_AT:
                break
            if finer == 1:  # a few of the smallest boxes tell whether all of them can be proven
                fine = make_task(model, task.trajectory, rate * _FINER[-1])
                few = slice(0, None, max(1, len(fine.time) // _TRIED))
                if not certify_samples(model, fine, few).ok:
                    break
    except PolypodError as error:
        return IntersampleCheck(None, f"meets its limits at the samples; not verified between them: {error}")
    unbent = ", platform taken as rigid" if model.robot.flexible else ""
    speeds = f"{found.speed:.3g} m/s and {found.turning:.3g} rad/s"
    taken = "" if found.proven else f", assuming speeds of at most {speeds}"
    return _kinematics(model, task, found.ok, found.open, f"{unbent}{taken}")


def _kinematics(model: Model, task: Task, ok: bool, open_: Array, but: str) -> IntersampleCheck:
    """Whether legs close, keep their limits and stay off singular poses; ``open_`` are times where it is not proven."""
    if ok:
        return IntersampleCheck(True, f"meets its kinematic limits, verified between samples{but}")
    assert task.trajectory is not None
    kept = model.joint_ranges(task.trajectory.at(open_).pose)
    if not kept.ok:
        broken = tuple(kept.violations())
        return IntersampleCheck(False, f"violates limits between samples: {'; '.join(broken)}", broken)
    when = f"near t = {open_[0]:.4g} s" + (f" to {open_[-1]:.4g} s" if len(open_) > 1 else "")
    why = "the motion comes too close to where they do not; keep a larger distance"
    if model.kernels.mechanism.implicit_legs:
        why = f"bounds for legs that are closed iteratively are wide, or {why}"
    warning = (
        f"{when} it could not be verified between samples that legs close, stay within their limits and avoid "
        f"singular poses: {why}"
    )
    return IntersampleCheck(False, "meets its limits at the samples", (), (warning,))


def _drives(model: Model, bounds: MotionBounds) -> tuple[list[str], list[str]]:
    """Limits of drives that are broken somewhere, and those of which it is not proven that they are kept."""
    broken, open_ = [], []
    for one in model.robot_limits.limits:
        if one.kind not in bounds.upper_bound:
            continue
        allowed, most = one.high, float(bounds.upper_bound[one.kind][one.index])
        if most <= allowed * (1 + PROOF_TOLERANCE):
            continue
        what, unit = f"{one.quantity} of {one.where}", "of its curve" if one.kind == "force at speed" else one.unit
        observed = float(bounds.observed[one.kind][one.index]) if one.kind in bounds.observed else 0.0
        limit = f"{short(allowed, 6)} {unit}".rstrip()
        if observed > allowed * (1 + 1e-12):
            when = f"at t = {bounds.time[one.kind][one.index]:.6g} s"
            broken.append(f"{what} is {short(observed, 6)} {unit} {when}, {limit} are allowed")
        else:
            open_.append(
                f"it could not be verified that {what} stays within its limit between samples: it is at most "
                f"{short(most, 6)} {unit}, {limit} are allowed"
            )
    return broken, open_


def judged_between(
    result: xr.Dataset,
    model: Model,
    task: Task,
    friction: bool,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda step: None,
) -> xr.Dataset:
    """A study with what is known about its motion between samples.

    Parameters
    ----------
    result : xarray.Dataset
        Result of ``polypod.study``.
    model : Model
        Model of the robot.
    task : Task
        Motion and wrench of the study.
    friction : bool
        Whether friction in the joints is included.
    seconds : float, optional
        Computing time after which the proof is given up [s]. Default: no limit.
    progress : callable, optional
        Called with a text on how far it came.

    Returns
    -------
    xarray.Dataset
        The study with the attribute ``between_samples`` and, where it is proven, ``upper_bound`` of what the drives
        must do at every instant; otherwise forces are also checked half-way between samples.
    """
    found = between(model, task, friction, seconds, progress)
    if found.bounds is None:
        forces: tuple[str, ...] = _half_way(result.force.values, model, task, friction)
        forces = (f"Forces are checked at samples and midpoints only: {found.reason}", *forces)
    else:
        forces = _bounded(result.force.values, model, found.bounds)
        rows = np.stack([found.bounds.upper_bound[name] for name in DRIVE_KINDS])
        known = QUANTITIES["upper_bound"]
        result = result.assign_coords(drive_limit=list(DRIVE_KINDS))
        result["upper_bound"] = (known.dims, rows, {"long_name": known.text, "units": known.unit})
    touching, apart = _apart(model, task)
    texts = (f"The robot {found.text}", *found.warnings, *apart, *forces)
    broken = "; ".join((*found.broken, *touching))
    attributes = {"between_samples": ". ".join(texts) + ".", "broken_between_samples": broken}
    return result.assign_attrs(certified={True: "yes", False: "no", None: "not tried"}[found.certified], **attributes)


def _bounded(force: Array, model: Model, bounds: MotionBounds) -> tuple[str, ...]:
    """A sentence on the proven bounds of forces, beside the largest of samples (n, a)."""
    largest = np.abs(force).max(axis=0)
    above, observed = (
        of["force"] / np.where(largest > 0, largest, np.inf) - 1 for of in (bounds.upper_bound, bounds.observed)
    )
    k, j = int(np.argmax(above)), int(np.argmax(observed))
    if not np.isfinite(above[k]):
        return ()
    names = [actuator.name for actuator in model.actuators]
    text = f"Peak forces between samples: at most {100 * above[k]:.2g} % higher ({names[k]}, verified)"
    above_samples = f"Between samples the force of {names[j]} is {100 * observed[j]:.2g} % higher"
    rough = f"{above_samples}: samples are too few, use a higher sampling rate"
    return (text, rough) if observed[j] > _ROUGH else (text,)


def _apart(model: Model, task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Clearances that are too small between samples though kept at them, and a sentence on what was looked at.

    A distance changes no faster than its nearest points move. With V twice the largest rate at samples and midpoints it
    is at least (d0 + d1 - V dt)/2 between two instants; where that is too little, more instants are looked at.
    """
    bound = model.robot.clearance
    if bound is None or task.trajectory is None or len(task.time) < 2:
        return (), ()
    names, trajectory, required = model.clearances.groups, task.trajectory, bound * (1 - ROUNDING)
    middle = 0.5 * (task.time[1:] + task.time[:-1])
    time = np.empty(len(task.time) + len(middle))
    time[::2], time[1::2] = task.time, middle
    found = np.empty((len(time), len(names)))
    found[::2] = model.clearances.least(task.motion.pose)
    found[1::2] = model.clearances.least(trajectory.at(middle).pose)
    kept = found[::2].min(axis=0, initial=np.inf) >= required
    if not kept.any():
        return (), ()
    rate = 2 * (np.abs(np.diff(found, axis=0)) / np.diff(time)[:, None]).max(axis=0)
    low, high, start, end = time[:-1], time[1:], found[:-1], found[1:]
    least, when = found.min(axis=0), time[found.argmin(axis=0)]
    settled = False
    for _ in range(_HALVINGS):
        doubtful = (0.5 * (start + end - rate * (high - low)[:, None]) < required) & kept & (least >= required)
        which = doubtful.any(axis=1)
        settled = not which.any()
        if settled or 2 * which.sum() > _LOOKED_AT:
            break
        low, high, start, end = low[which], high[which], start[which], end[which]
        centre = 0.5 * (low + high)
        there = model.clearances.least(trajectory.at(centre).pose)
        when = np.where(there.min(axis=0) < least, centre[there.argmin(axis=0)], when)
        least = np.minimum(least, there.min(axis=0))
        low, high = np.concatenate([low, centre]), np.concatenate([centre, high])
        start, end = np.concatenate([start, there]), np.concatenate([there, end])
    broken = tuple(
        f"clearance of {names[k]} is {short(least[k], 6)} m at t = {when[k]:.6g} s, {short(bound, 6)} m are required"
        for k in np.flatnonzero(kept & (least < required)).tolist()
    )
    k = int(np.argmin(least))
    looked = "by twice the rates of the nearest points at samples" if settled else "where it was looked at"
    return broken, (f"Smallest clearance between samples: {short(least[k], 6)} m ({names[k]}, {looked})",)


def _half_way(force: Array, model: Model, task: Task, friction: bool) -> tuple[str, ...]:
    """A sentence on the forces (n, a) of a rigid robot half-way between samples."""
    if task.trajectory is None or model.robot.flexible or len(task.time) < 2:
        return ()
    motion = task.trajectory.at(0.5 * (task.time[1:] + task.time[:-1]))
    wrench = task.wrench if task.wrench is None else 0.5 * (task.wrench[1:] + task.wrench[:-1])
    try:
        there = np.abs(model.inverse_dynamics(*motion[1:], wrench, friction=friction)).max(axis=0)
    except StateError as error:
        return (f"At midpoints between samples there are no forces: {error}",)
    largest = np.abs(force).max(axis=0)
    more = np.where(there > largest, there / np.where(largest > 0, largest, 1.0) - 1.0, 0.0)
    k = int(more.argmax())
    text = (
        f"At midpoints between samples the largest force of {model.actuators[k].name} is {100 * more[k]:.2g} % higher"
    )
    if more[k] > _ROUGH:
        return (f"{text}: samples are too few, use a higher sampling rate",)
    return ("Half-way between samples no force is above the largest",) if more[k] == 0 else (text,)
