"""Identification: inertias and friction of a robot from logs of its coordinates and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..description import Robot
from ..errors import InputError
from ..kernels.threads import one_blas_thread
from ..model import Model
from .base import BaseParameters, base_parameters, listed
from .changes import changes_of
from .fit import Fit
from .linear_model import LinearModel
from .logs import Log, read_log
from .new_robot import Change, with_changes
from .prepared import Prepared, prepared
from .prior import Z95, uncertainties
from .residuals import Whiteness
from .rows import coordinate_noise
from .solution import solve

if TYPE_CHECKING:
    import xarray as xr

WORSE = 1.05
"""Errors of held-out forces that grow by this factor are no chance."""
CORRELATED = 3.0
"""Residuals that are correlated over so many samples are worth a note."""
APART = 4.0
"""Numbers that move by more standard uncertainties of the file's values than this contradict the file."""


@dataclass(frozen=True)
class Forces:
    """Forces of one log (n, a): measured, by the file's numbers before, by the new ones after; marks of those used.

    ``noise`` (a,) is what that of forces and of coordinates leaves of errors, however good the numbers are.
    """

    log: Log
    time: Array
    measured: Array
    before: Array
    after: Array
    good: NDArray[np.bool_]
    noise: Array

    def error(self, predicted: Array) -> Array:
        """Root mean square (a,) of measured less predicted."""
        off = np.where(self.good, self.measured - predicted, 0.0)
        return np.asarray(np.sqrt((off**2).sum(axis=0) / np.maximum(self.good.sum(axis=0), 1)))


@dataclass(frozen=True)
class Identification:
    """What logs say about a robot.

    ``robot`` has the new numbers, with intervals as sources. ``fit`` is by data alone, ``beta`` (r,) and ``deviations``
    (r,) are the base parameters and their standard uncertainties: by data alone, or by data and file where friction
    bends forces. ``numbers`` (k,) and their ``covariance`` (k, k) are by data and file together, of real bodies.
    ``changes`` are the fields of the file. ``constrained`` says that a body had to be held real. ``runs`` and
    ``validation`` have the forces of the logs.
    """

    model: Model
    robot: Robot
    linear: LinearModel
    base: BaseParameters
    fit: Fit
    beta: Array
    deviations: Array
    numbers: Array
    covariance: Array
    prior: Array
    changes: list[Change]
    constrained: bool
    residuals: Whiteness
    runs: list[Forces]
    validation: list[Forces]
    notes: tuple[str, ...]

    @property
    def half_widths(self) -> Array:
        """Half of the 95 % intervals (r,) of the base parameters."""
        return np.asarray(Z95 * self.deviations)

    @property
    def invisible(self) -> list[str]:
        """Base parameters that these logs do not show: uncertain by more than the file's own value is."""
        wide = np.sqrt(np.maximum(np.diag(self.fit.covariance), 0.0))
        own = np.sqrt(np.einsum("ij,j,ij->i", self.base.matrix, self.prior**2, self.base.matrix))
        return [self.base.name(k) for k in np.flatnonzero(~(wide < own)).tolist()]

    def to_dataset(self) -> xr.Dataset:
        """Everything as labelled arrays; forces are those of the last validation log, or of the last run."""
        from .dataset import labelled

        return labelled(self)


def identify(
    model: Model | Robot | str | Path,
    logs: Any,
    validate: Any = (),
    *,
    uncertainty: float | Mapping[str, float] | None = None,
    same_legs: bool = False,
    friction: Sequence[str] = (),
    constants: ArrayLike | Mapping[str, float] | None = None,
    delay: float = 0.0,
    spacing: float | None = None,
    check: bool = True,
) -> Identification:
    """Inertias and friction of a robot from logs; ``validate`` are logs held back to judge the result by.

    Logs are CSV files, labelled datasets with ``time``, ``q`` and ``force``, or :class:`Log`. ``uncertainty`` is the
    relative standard uncertainty of the file's numbers (one, or by path pattern; 0 holds a number). ``friction`` names
    numbers that are zero in the file and are to be found (``legs.*.prismatic_friction.drag``). ``same_legs`` takes one
    number for all legs. ``delay`` [s] is how late forces are, ``spacing`` [s] that of the splines' knots, found if not
    given. ``check`` refuses logs whose channels cannot be what they are named.
    """
    if not isinstance(model, Model):
        model = Model(model)
    sources, held_back = _listed(logs), _listed(validate)
    if not sources:
        raise InputError("logs: at least one log is needed")
    options: dict[str, Any] = {"delay": delay, "spacing": spacing, "check": check}
    ready = [prepared(model, _log(model, source, constants), **options) for source in sources]
    kept = [prepared(model, _log(model, source, constants), **options) for source in held_back]
    linear = LinearModel(model, same_legs=same_legs, open_=_freed(model, friction))
    return identified(linear, ready, kept, uncertainty)


def _freed(model: Model, friction: Sequence[str]) -> Any:
    known = [path for path in model.robot.numbers() if path.rpartition(".")[2] in ("viscous", "coulomb", "drag")]
    for pattern in friction:
        if not any(fnmatchcase(path, pattern) for path in known):
            raise InputError(
                f"friction: {pattern} fits no friction of the robot; there are {', '.join(known[:9])}, ..."
            )
    return lambda path: any(fnmatchcase(path, pattern) for pattern in friction)


def _listed(logs: Any) -> list[Any]:
    return list(logs) if isinstance(logs, (list, tuple)) else [logs]


def _log(model: Model, source: Any, constants: Any) -> Log:
    if isinstance(source, Log):
        from .logs import checked

        return source if len(source.good) else checked(source, [a.name for a in model.actuators])
    return read_log(model, source, constants)


@one_blas_thread
def identified(
    linear: LinearModel,
    runs: list[Prepared],
    held_back: list[Prepared],
    uncertainty: Any = None,
    start: Array | None = None,
) -> Identification:
    """The same from logs that are ready; ``start`` are other values of the numbers (k,) than the file's."""
    base = base_parameters(linear)
    prior, sigma = linear.values if start is None else start, uncertainties(linear, uncertainty)
    found = solve(linear, base, runs, prior, sigma)
    sigma = np.where([s == "not" for s in base.identifiability], 0.0, sigma)
    changes = changes_of(linear, found.numbers, found.covariance)
    robot = with_changes(linear.robot, changes, _note(found.runs, found.goods))
    notes = [f"{run.log.name}: {text}" for run in (*runs, *held_back) for text in run.log.notes]
    result = Identification(
        linear.model, robot, linear, base, found.fit, found.beta, found.deviations, found.numbers, found.covariance,
        sigma, changes, found.constrained, found.residuals,
        [_forces(linear, run, g, found.numbers, found.fit.noise)
         for run, g in zip(found.runs, found.goods, strict=True)],
        [_forces(linear, run, run.good, found.numbers, np.hypot(found.fit.noise, coordinate_noise(linear, run,
         found.numbers))) for run in held_back],
        (*notes, *found.notes, *_disagreements(linear, prior, sigma, found.numbers)),
    )  # fmt: skip
    result = replace(result, notes=(*result.notes, *_doubts(result)))
    unseen = result.invisible
    if unseen:
        text = (
            f"too little motion: {len(unseen)} of {base.count} base parameters are invisible in these logs and stay "
            f"near the file's values: {listed(unseen)}"
        )
        result = replace(result, notes=(*result.notes, text))
    return result


def _disagreements(linear: LinearModel, prior: Array, sigma: Array, numbers: Array) -> list[str]:
    """A note on numbers that data move by more than the file's uncertainty lets them: both then pull at the result."""
    far = np.abs(numbers - prior) / np.where(sigma > 0, sigma, np.inf)
    worst = np.argsort(-far)[:4]
    named = ", ".join(f"{linear.numbers[k].name} (by {far[k]:.1f} times)" for k in worst.tolist() if far[k] > APART)
    if not named:
        return []
    return [
        f"data and file disagree: the file's uncertainty is too small for {named}; state a larger one (uncertainty= "
        "in Python, --uncertainty on the command line), or the file holds these numbers back"
    ]


def _doubts(found: Identification) -> list[str]:
    """Notes where the result is not to be trusted: held-out forces are predicted worse, residuals are not white."""
    notes = []
    for shown in found.validation:
        before, after = (float(np.sqrt((shown.error(x) ** 2).mean())) for x in (shown.before, shown.after))
        if after > WORSE * before:
            notes.append(
                f"{shown.log.name}: the new numbers predict these held-out forces worse than the file's do: do not "
                "use them; something is wrong with the logs, or the model misses what the machine has"
            )
    white = found.residuals
    names = [a.name for k, a in enumerate(found.model.actuators) if white.widening[k] > CORRELATED]
    if names:
        notes.append(
            f"residuals of {', '.join(names)} are not white (correlation times up to {white.widening.max():.0f} "
            "samples): something of the machine is missing in the model or in its motion; intervals are widened"
        )
    return notes


def _forces(linear: LinearModel, run: Prepared, good: NDArray[np.bool_], numbers: Array, noise: Array) -> Forces:
    before, after = (linear.forces(run.motion, p) for p in (linear.values, numbers))
    return Forces(run.log, run.time, run.force, before, after, good, noise)


def _note(runs: list[Prepared], goods: list[NDArray[np.bool_]]) -> str:
    names = ", ".join(run.log.name for run in runs)
    return f"identified from {names} ({sum(int(g.any(axis=1).sum()) for g in goods)} samples)"
