"""A motion between its samples: what is proven of it there, and the forces half-way."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import PolypodError, StateError
from ..model import Model
from ..motion import Task

if TYPE_CHECKING:
    import xarray as xr

_ROUGH = 0.01  # of a force: what half-way is above the largest by more is worth a word
_LOOKED_AT = 100_000  # samples at most between which a motion is judged more closely than at its own


class Between(NamedTuple):
    """What is known of a motion between its samples.

    ``certified``: whether it is proven that legs close, keep their limits and stay off singular poses; None if that
    could not be tried. ``broken``: limits that it breaks there. ``text`` says so, ``warnings`` what to think of.
    """

    certified: bool | None
    text: str
    broken: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def between(model: Model, task: Task) -> Between:
    """What is certain of a motion between its samples, which it makes; looked at more closely while that may help."""
    from ..analysis import certify_motion  # much to import, which results to read have no use for

    count, duration = len(task.time), float(task.time[-1])
    try:
        if task.trajectory is None:
            return Between(None, "can make it at its samples; bare arrays have nothing between them")
        for finer in (1, 4, 16, 64):
            found = certify_motion(model, task.trajectory, (count - 1) * finer / duration, most=1)
            if found.ok or 4 * len(found.time) > _LOOKED_AT:
                break
    except PolypodError as error:
        return Between(None, f"can make it at its samples; nothing is proven between them: {error}")
    if found.ok:
        unbent = ", the platform unbent" if model.robot.flexible else ""
        speeds = f"{found.speed:.3g} m/s and {found.turning:.3g} rad/s"
        taken = "" if found.proven else f", taking for granted that it is nowhere faster than {speeds}"
        return Between(True, f"can make it, between the samples too (proven of its kinematics{unbent}{taken})")
    kept = model.limits(task.trajectory.at(found.open).pose)
    if not kept.ok:
        broken = tuple(kept.violations())
        return Between(False, f"keeps its limits at its samples and breaks them between: {'; '.join(broken)}", broken)
    open_ = f"near t = {found.open[0]:.4g} s" + (f" to {found.open[-1]:.4g} s" if len(found.open) > 1 else "")
    warning = (
        f"{open_} it is not proven between samples that legs close, keep their limits and stay off singular poses: the "
        "motion comes too near to where they do not; keep a larger distance"
    )
    return Between(False, "can make it at its samples", (), (warning,))


def judged_between(result: xr.Dataset, model: Model, task: Task, friction: bool) -> xr.Dataset:
    """A study with what is known of its motion between samples, in words: ``between_samples`` among its attributes.

    Forces are looked at half-way too; nothing is proven of them.
    """
    found = between(model, task)
    forces = _half_way(result.force.values, model, task, friction)
    texts = (f"The robot {found.text}", *found.warnings, *forces)
    attributes = {"between_samples": ". ".join(texts) + ".", "broken_between_samples": "; ".join(found.broken)}
    return result.assign_attrs(certified={True: "yes", False: "no", None: "not tried"}[found.certified], **attributes)


def _half_way(force: Array, model: Model, task: Task, friction: bool) -> tuple[str, ...]:
    """A sentence on the forces (n, a) of a rigid robot half-way between samples."""
    if task.trajectory is None or model.robot.flexible or len(task.time) < 2:
        return ()
    motion = task.trajectory.at(0.5 * (task.time[1:] + task.time[:-1]))
    wrench = task.wrench if task.wrench is None else 0.5 * (task.wrench[1:] + task.wrench[:-1])
    try:
        there = np.abs(model.inverse_dynamics(*motion[1:], wrench, friction=friction)).max(axis=0)
    except StateError as error:
        return (f"Half-way between samples there are no forces: {error}",)
    largest = np.abs(force).max(axis=0)
    more = np.where(there > largest, there / np.where(largest > 0, largest, 1.0) - 1.0, 0.0)
    k = int(more.argmax())
    text = f"Half-way between samples the largest force of {model.actuators[k].name} is {100 * more[k]:.2g} % more"
    if more[k] > _ROUGH:
        return (f"{text}: samples are too few, give a higher --rate",)
    return ("Half-way between samples no force is above the largest",) if more[k] == 0 else (text,)
