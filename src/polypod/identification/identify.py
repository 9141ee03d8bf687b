"""Identification: inertias and friction of a robot from logs of its coordinates and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Array
from ..datasets import units
from ..description import Robot
from ..description.paths import get
from ..errors import InputError
from ..kernels.threads import one_blas_thread
from ..model import Model
from ..parameters.vector import MOMENTS, Parameter
from .base import BaseParameters, base_parameters, listed
from .channels import (
    ChannelError,
    Effect,
    Shifts,
    applied,
    asked_for,
    candidates,
    channel_errors,
    columns,
    delays,
    effect_values,
    remarks,
    split,
    without_reversals,
)
from .fit import Fit, coordinate_noise, rows_of, weighted_least_squares
from .linear_model import LinearModel, rest_of
from .logs import Log, read_log
from .new_robot import Z95, Change, body_changes, file_value, uncertainties, with_changes
from .physical import cones, inside, most_likely
from .prepared import Prepared, lag, prepared, refined
from .sampling import evenly_spaced

if TYPE_CHECKING:
    import xarray as xr


# ----------------------------------------------------------------------------------------------------------------------
# Residuals of forces: their size, whether they are white, what stands out.

OUTLIER = 6.0
"""Residuals beyond this many times the channel's usual size (by its median) are outliers."""
FEW_OUTLIERS = 0.005
"""Part of the samples of a held-out log that may be outliers without being a lack of the model."""
LAGS = 20
WHITE = 0.01
"""Residuals of a smaller p-value are not white."""


class Whiteness(NamedTuple):
    """Of each channel (a,): rms, correlation of neighbours, correlation time in samples, p-value of Ljung and Box."""

    rms: Array
    neighbours: Array
    time: Array
    p_value: Array

    @property
    def widening(self) -> Array:
        """By how much intervals widen (a,): the correlation time of residuals that are not white, else 1."""
        return np.where(self.p_value < WHITE, self.time, 1.0)


def whiteness(residual: Array, good: NDArray[np.bool_]) -> Whiteness:
    """Of residuals (n, a); samples that are not good count as zero. By autocorrelations rho_j:

    time tau = 1 + 2 sum rho_j up to the first window of 5 tau (Sokal), Q = n (n + 2) sum rho_j^2/(n - j) over 20 lags.
    """
    from scipy.special import chdtrc

    n = len(residual)
    r, rho = _correlations(residual, good)
    running = 1 + 2 * np.cumsum(rho[1:], axis=0)
    window = np.arange(1, len(running) + 1)[:, None] >= 5 * running
    times = np.array([
        running[int(np.argmax(window[:, k])) if window[:, k].any() else -1, k] for k in range(r.shape[1])
    ])  # fmt: skip
    lags = min(LAGS, len(rho) - 1)
    q = n * (n + 2) * (rho[1 : lags + 1] ** 2 / (n - np.arange(1, lags + 1))[:, None]).sum(axis=0)
    rms = np.sqrt((r**2).sum(axis=0) / np.maximum(good.sum(axis=0), 1))
    return Whiteness(rms, rho[1], np.maximum(times, 1.0), chdtrc(lags, q))


def _correlations(residual: Array, good: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Residuals (n, a) without their mean, and their autocorrelations rho_0 ... (n/2, a)."""
    from scipy.fft import irfft, next_fast_len, rfft

    r = np.where(good, residual, 0.0)
    r = r - np.where(good, r.sum(axis=0) / np.maximum(good.sum(axis=0), 1), 0.0)
    n = len(r)
    size = next_fast_len(n + n // 2, real=True)  # lags up to n/2 do not come round
    spectrum = rfft(np.ascontiguousarray(r.T), size)
    auto = irfft(spectrum.real**2 + spectrum.imag**2, size)[:, : n // 2].T
    with np.errstate(invalid="ignore", divide="ignore"):
        return r, np.nan_to_num(auto / auto[0])


def autocorrelation(residual: Array, good: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Array]:
    """Lags 1 ... (l,) and the autocorrelations (l, a) of residuals (n, a) at them."""
    rho = _correlations(residual, good)[1][1 : LAGS + 1]
    return np.arange(1, len(rho) + 1), rho


def outliers(residual: Array, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Good samples whose residual stands out of its channel."""
    # the usual size of many residuals is that of some of them
    some = slice(None, None, max(len(residual) // 10_000, 1))
    masked = np.where(good, residual, np.nan)[some]
    middle = np.nanmedian(masked, axis=0)
    size = 1.4826 * np.nanmedian(np.abs(masked - middle), axis=0)
    return good & (np.abs(residual - middle) > OUTLIER * size)


# ----------------------------------------------------------------------------------------------------------------------
# Identification: inertias and friction of a robot from logs of its coordinates and forces.

WORSE = 1.05
"""Errors of held-out forces that grow by this factor are no chance."""
CORRELATED = 3.0
"""Residuals that are correlated over so many samples are worth a note."""
EXPLAINED = 1.3
"""Held-out forces are explained if their errors are at most so many times the noise in every channel."""
ROUNDS = 5
"""Times that effects of channels are looked for again."""
APART = 4.0
"""Numbers that move by more standard uncertainties of the file's values than this contradict the file."""


@dataclass(frozen=True)
class Forces:
    """Forces of one log (n, a): measured, by the file's numbers before, by the new ones after; marks of those used.

    ``after`` has the errors of the channels in it; ``measured`` is taken later by the whole samples of their delays.
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

    @property
    def without_outliers(self) -> Forces:
        """The same without outliers of the new numbers, as a fit leaves them out, unless they are many: one sample on
        the other side of a reversal of dry friction is off by twice that friction."""
        found = outliers(self.measured - self.after, self.good)
        few = found.sum(axis=0) <= FEW_OUTLIERS * self.good.sum(axis=0)
        return replace(self, good=self.good & ~(found & few))


class Verdict(NamedTuple):
    """What an identification is worth: whether forces are explained, by errors of the worst channel over its noise.

    ``held_out`` says whether they are of a log that was held back; those of a fitted log prove little.
    """

    explained: bool
    ratio: float
    held_out: bool

    def __str__(self) -> str:
        size = f"errors are {self.ratio:.2f} times the noise in the worst channel"
        if not self.held_out:
            return f"of the fitted forces {size}; not validated: keep a log for validation"
        if self.explained:
            return f"forces of the validation log are explained: {size}"
        return (
            f"forces of the validation log are not explained: {size}, so the model lacks an effect of the machine and "
            "intervals may be too narrow"
        )


@dataclass(frozen=True)
class Identification:
    """What logs say about a robot's inertias and friction.

    Attributes
    ----------
    model : Model
        Model of the robot before.
    robot : Robot
        Robot with the new values, with intervals as sources.
    linear : LinearModel
        Forces as a linear function of the k parameters.
    base : BaseParameters
        The r base parameters.
    fit : Fit
        Fit of the data alone.
    beta, deviations : ndarray, shape (r,)
        Base parameters and their standard uncertainties: from data alone, or from data and file where friction makes
        forces nonlinear.
    numbers : ndarray, shape (k,)
        Parameters from data and file together, physically consistent.
    covariance : ndarray, shape (k, k)
        Their covariance.
    prior : ndarray, shape (k,)
        Standard uncertainties of the file's values.
    changes : list of Change
        Changed fields of the robot file.
    constrained : bool
        Whether a body had to be constrained to be physical.
    residuals : Whiteness
        How white the residuals are.
    runs, validation : list of Forces
        Measured and computed forces of the logs and of the validation logs.
    channels : tuple of ChannelError
        Offsets, gains and delays of force channels, offsets of encoders, and effects that the robot file lacks, as far
        as the data ask for them, with their 95 % intervals.
    notes : tuple of str
        Remarks.
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
    channels: tuple[ChannelError, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether forces are explained down to their noise."""
        shown = (self.validation or self.runs)[-1].without_outliers
        ratio = float(np.max(shown.error(shown.after) / np.maximum(shown.noise, 1e-300)))
        return Verdict(bool(ratio <= EXPLAINED), ratio, bool(self.validation))

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
        """Everything as labelled arrays; forces are those of the last validation log, or of the last run.

        Returns
        -------
        xarray.Dataset
            The arrays.
        """

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
    channel_errors: bool = True,
) -> Identification:
    """Identify inertias and friction of a robot from logs of coordinates and forces.

    Parameters
    ----------
    model : Model, Robot, str or Path
        The robot: a model, a robot, a library name or a robot file.
    logs : str, Path, xarray.Dataset, Log or sequence of these
        Logs: CSV files, labelled datasets with ``time``, ``q`` and ``force``, or ``Log``.
    validate : same, optional
        Logs held back to validate the result.
    uncertainty : float or mapping of str to float, optional
        Relative standard uncertainty of the file's values, one number or by path pattern; 0 fixes a parameter.
    same_legs : bool, optional
        Whether all legs share the same parameters.
    friction : sequence of str, optional
        Friction parameters that are zero in the file and are to be found (``legs.*.prismatic_friction.drag``).
    constants : float, array_like or mapping of str to float, optional
        Factors from currents to forces [N/A or N m/A]: one number, one for each actuator, or by name.
    delay : float, optional
        Delay of the forces [s].
    spacing : float, optional
        Distance of the spline knots [s]. Default: found from the data.
    check : bool, optional
        Whether to refuse logs whose channels cannot be what they are named.
    channel_errors : bool, optional
        Whether to estimate offsets, gain errors and delays of force channels and offsets of encoders, as far as the
        data ask for them (a likelihood-ratio test), and to look for friction and springs that the robot file lacks.
        Not for robots with more actuators than degrees of freedom.

    Returns
    -------
    Identification
        The identified robot, with uncertainties and residuals.

    Raises
    ------
    InputError
        If there is no log, or a log does not fit the robot.
    """
    if not isinstance(model, Model):
        model = Model(model)
    model.robot.refuse_internal("identify")
    sources, held_back = _listed(logs), _listed(validate)
    if not sources:
        raise InputError("logs: at least one log is needed")
    options: dict[str, Any] = {"delay": delay, "spacing": spacing, "check": check}
    ready = [prepared(model, _log(model, source, constants), **options) for source in sources]
    kept = [prepared(model, _log(model, source, constants), **options) for source in held_back]
    linear = LinearModel(model, same_legs=same_legs, open_=_freed(model, friction))
    return identified(linear, ready, kept, uncertainty, effects=channel_errors)


def _freed(model: Model, friction: Sequence[str]) -> Any:
    known = [path for path in model.robot.numbers() if path.rpartition(".")[2] in ("viscous", "coulomb", "drag")]
    for pattern in friction:
        if not any(fnmatchcase(path, pattern) for path in known):
            raise InputError(
                f"friction: {pattern} matches no friction of the robot; known: {', '.join(known[:9])}, ..."
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
    effects: bool = True,
) -> Identification:
    """The same from logs that are ready; ``start`` are other values of the numbers (k,) than the file's."""
    base = base_parameters(linear)
    prior, sigma = linear.values if start is None else start, uncertainties(linear, uncertainty, _friction_scale(runs))
    late, shifts = _late(linear, base, runs, correct=effects)
    found, shifts = _with_effects(linear, base, runs, prior, sigma, shifts) if effects else (
        solve(linear, base, runs, prior, sigma), shifts)  # fmt: skip
    held_back = [shifts.of(without_reversals(run)) if effects else run for run in held_back]
    period = _period(runs)
    channels = channel_errors(linear.model, found.effects, *found.effect_values, shifts, period)
    sigma = np.where([s == "not" for s in base.identifiability], 0.0, sigma)
    changes = changes_of(linear, found.numbers, found.covariance)
    robot = with_changes(linear.model.robot, changes, _note(found.runs, found.goods))
    notes = [f"{run.log.name}: {text}" for run in (*runs, *held_back) for text in run.log.notes]
    result = Identification(
        linear.model, robot, linear, base, found.fit, found.beta, found.deviations, found.numbers, found.covariance,
        sigma, changes, found.constrained, found.residuals,
        [_forces(linear, run, g, found, found.fit.noise) for run, g in zip(found.runs, found.goods, strict=True)],
        [_forces(linear, run, run.good, found, np.hypot(found.fit.noise, coordinate_noise(linear, run, found.numbers)))
         for run in held_back],
        channels,
        (*notes, *late, *found.notes, *remarks(linear.model, channels, period),
         *_disagreements(linear, prior, sigma, found.numbers)),
    )  # fmt: skip
    result = replace(result, notes=(*result.notes, *_doubts(result)))
    unseen = result.invisible
    if unseen:
        text = (
            f"too little motion: {len(unseen)} of {base.count} base parameters are not identifiable from these "
            f"logs and stay near the file's values: {listed(unseen)}"
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
        f"data and file disagree: the file's uncertainty is too small for {named}; state a larger one "
        "(uncertainty=), or the file holds these numbers back"
    ]


def _doubts(found: Identification) -> list[str]:
    """Notes where the result is not to be trusted: held-out forces are predicted worse, residuals are not white."""
    notes = []
    for shown in found.validation:
        before, after = (float(np.sqrt((shown.error(x) ** 2).mean())) for x in (shown.before, shown.after))
        if after > WORSE * before:
            notes.append(
                f"{shown.log.name}: the new parameters predict these held-out forces worse than the file's do: do "
                "not use them; the logs are wrong, or the model misses an effect of the machine"
            )
    white = found.residuals
    names = [a.name for k, a in enumerate(found.model.actuators) if white.widening[k] > CORRELATED]
    if names:
        notes.append(
            f"residuals of {', '.join(names)} are not white (correlation times up to {white.widening.max():.0f} "
            "samples): the model or its motion misses an effect of the machine; intervals are widened"
        )
    return notes


def _forces(linear: LinearModel, run: Prepared, good: NDArray[np.bool_], found: Solution, noise: Array) -> Forces:
    before, after = (linear.forces(run.motion, p) for p in (linear.values, found.numbers))
    after = after + applied(linear, run, found.numbers, found.effects, found.effect_values[0])
    return Forces(run.log, run.time, run.force, before, after, good, noise)


def _friction_scale(runs: list[Prepared]) -> dict[str, float]:
    """How large friction that the file does not have may be: of the size of the forces themselves."""
    force = max(float(np.nanmax(np.abs(run.force), initial=0.0)) for run in runs)
    rate = max(float(np.abs(run.smooth.qdot).max(initial=0.0)) for run in runs)
    return {"drag": force, "coulomb": 1.0, "viscous": force / max(rate, 1e-300)}


def _period(runs: list[Prepared]) -> float:
    return float(np.median(np.diff(runs[0].log.time)))


def _with_effects(
    linear: LinearModel, base: BaseParameters, runs: list[Prepared], prior: Array, sigma: Array, shifts: Shifts
) -> tuple[Solution, Shifts]:
    """The fit with the effects of channels that data ask for, and the whole samples by which forces are late.

    Found one after the other from the fit without them: what is left then shows the next. A delay is linear within half
    a sample only, so that the measured forces are shifted by whole samples in between.
    """
    every, late = candidates(linear), (Effect("delay"),)
    effects: tuple[Effect, ...] = late if shifts.samples.any() else ()
    period, spread = _period(runs), (base.matrix * sigma) @ (base.matrix * sigma).T
    runs = [without_reversals(run) for run in runs]
    for turn in range(ROUNDS):
        found = solve(linear, base, [shifts.of(run) for run in runs], prior, sigma, effects)
        if not every or turn == ROUNDS - 1:
            break
        data = [rows_of(linear, base, run, good, found.numbers, found.fit.noise,
                        columns(linear, run, found.numbers, every))
                for run, good in zip(found.runs, found.goods, strict=True)]  # fmt: skip
        noise = [run.smooth.noise for run in found.runs]
        fit = weighted_least_squares(data, noise, noise=found.fit.noise)
        known = late if shifts.samples.any() else ()
        asked = asked_for(fit, every, found.residuals.widening, spread, base.values(prior), known)
        now = shifts.nearer(delays(effects, found.effect_values[0], shifts, period) / period)
        if set(asked) == set(effects) and np.array_equal(now.samples, shifts.samples):
            break
        effects, shifts = asked, now
    return found, shifts


def _note(runs: list[Prepared], goods: list[NDArray[np.bool_]]) -> str:
    names = ", ".join(run.log.name for run in runs)
    return f"identified from {names} ({sum(int(g.any(axis=1).sum()) for g in goods)} samples)"


# ----------------------------------------------------------------------------------------------------------------------
# Numbers that logs and file together say: iterations of friction with reactions, of coordinates, and of outliers.

ITERATIONS = 8
"""Most iterations of Gauss-Newton."""
CONVERGED = 0.05
"""Base parameters that move by this part of their standard uncertainty have converged, or would with the next step,
which is about as much smaller as this one is than the last."""


class Solution(NamedTuple):
    """What ``solve`` finds; see ``polypod.identification.Identification``.

    ``runs`` are the logs on coordinates that fit forces too, ``goods`` the samples used, ``notes`` what is to be said.
    """

    fit: Fit
    beta: Array
    deviations: Array
    numbers: Array
    covariance: Array
    constrained: bool
    residuals: Whiteness
    runs: list[Prepared]
    goods: list[NDArray[np.bool_]]
    notes: list[str]
    effects: tuple[Effect, ...]
    effect_values: tuple[Array, Array]


def solve(
    linear: LinearModel,
    base: BaseParameters,
    runs: list[Prepared],
    prior: Array,
    sigma: Array,
    effects: tuple[Effect, ...] = (),
) -> Solution:
    """Base parameters and numbers from logs, with the file's values ``prior`` (k,) and their uncertainty (k,).

    ``effects`` of channels are further unknowns; ``effect_values`` are their values and covariance.
    """
    every_sigma, sigma = sigma, np.where([s == "not" for s in base.identifiability], 0.0, sigma)
    notes: list[str] = []
    count = len(effects)
    dof = linear.model.mobility.count if linear.redundant else None
    goods, noise = [run.good for run in runs], None
    coordinates = [run.smooth.noise for run in runs]
    numbers, beta, moved, marked = prior, base.values(prior), np.inf, 0
    for turn in range(ITERATIONS):
        data = [rows_of(linear, base, run, good, numbers, noise, columns(linear, run, numbers, effects))
                for run, good in zip(runs, goods, strict=True)]  # fmt: skip
        whole = weighted_least_squares(data, coordinates, noise=noise, dof=dof)
        fit, noise = split(whole, count), whole.noise
        coordinates = [old if new is None else new for old, new in zip(coordinates, fit.coordinates, strict=True)]
        numbers, _, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
        # where friction bends forces, straight lines hold where numbers are, not where data alone would have them
        now = base.values(numbers) if linear.loaded else fit.beta
        last, moved = moved, _moved(now - beta, now, fit)
        beta = now
        # the first round knows no noise: whether coordinates are to be sought is seen in the second
        converged = turn > 0 and (moved <= CONVERGED or moved**2 <= CONVERGED * last)
        if not converged:
            runs = [run if step is None else refined(linear.model, run, step)
                    for run, step in zip(runs, fit.steps, strict=True)]  # fmt: skip
        values = effect_values(whole, count, base.values(numbers), np.zeros((base.count, base.count)))[0]
        left = [run.force - linear.forces(run.motion, numbers) - applied(linear, run, numbers, effects, values)
                for run in runs]  # fmt: skip
        marks = [outliers(one, g) for one, g in zip(left, goods, strict=True)]
        fresh = sum(int(m.sum()) for m in marks)
        if converged and fresh == 0:
            break
        marked += fresh
        goods = [g & ~m for g, m in zip(goods, marks, strict=True)]
    else:
        notes.append(
            f"{ITERATIONS} iterations were too few: base parameters last changed by {moved:.2g} of their standard "
            f"uncertainty, with {fresh} new outliers; intervals may be too narrow"
        )
    if marked:
        notes.append(f"{marked} outliers of forces (beyond 6 times the usual residual): not used")
    if not all(g.any() for g in goods):
        raise InputError("logs: no sample of forces is left to use")
    white = _whiteness(left, goods)
    if (white.widening > 1).any():
        # this only widens intervals: weights by channel hardly move the values
        whole = weighted_least_squares(data, coordinates, white.widening, noise=noise, dof=dof)
        fit = split(whole, count)
    real = cones(linear, base, every_sigma)
    numbers, covariance, constrained = most_likely(fit.triangle, fit.side, base, prior, sigma, real)
    beta, wide = fit.beta, fit.covariance
    loose, spread, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
    together = base.matrix @ spread @ base.matrix.T
    if linear.loaded:
        # forces bend with the numbers: straight lines hold where numbers are, not where data alone would have them
        beta, wide = base.values(loose), together
    if constrained:
        moving = [c.across_flat(prior, sigma > 0) for c in real if (sigma[c.places] > 0).any()]
        paths = dict.fromkeys(linear.numbers[c.places[0]].path for c in moving if not inside([c], loose))
        more = f" and {len(paths) - 4} more" if len(paths) > 4 else ""
        notes.append(
            "parameters are constrained to be physical (real bodies, friction above zero); unconstrained least "
            f"squares would not be for {', '.join(list(paths)[:4])}{more}"
        )
    deviations = np.sqrt(np.maximum(np.diag(wide), 0.0))
    found = effect_values(whole, count, base.values(numbers), together)
    return Solution(fit, beta, deviations, numbers, covariance, constrained, white, runs, goods, notes, effects, found)


def _moved(step: Array, beta: Array, fit: Fit) -> float:
    """The largest step of a base parameter by its standard uncertainty; steps that are rounding do not count."""
    wide = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    beyond = np.abs(step) > 1e-12 * np.abs(beta)
    return float(np.max(np.abs(step)[beyond] / np.maximum(wide[beyond], 1e-300), initial=0.0))


def _late(linear: LinearModel, base: BaseParameters, runs: list[Prepared], correct: bool) -> tuple[list[str], Shifts]:
    """Notes on forces that are late, and the shift that all logs agree in if it is to be corrected."""
    notes, found = [], []
    for run in runs:
        rows = evenly_spaced(run.motion, max(1000, 2 * len(base.independent)))
        columns = linear.derivatives(run.motion[rows], linear.values, base.independent)
        sound = np.isfinite(columns).all(axis=(1, 2))
        columns, at = columns[sound], run.smooth.rows[rows][sound]
        force, half = np.nan_to_num(run.log.force), len(at) // 2
        shift = lag(columns, force, at)
        if shift is None:
            continue
        step = float(np.median(np.diff(run.log.time)))
        first, second = ((lag(columns[part], force, at[part]) or 0.0) for part in (slice(half), slice(half, None)))
        if abs(second - first) > max(0.5 * abs(shift), 1.0):
            notes.append(
                f"{run.log.name}: forces lag the coordinates by {first * step:.4g} s in the first half and "
                f"{second * step:.4g} s in the second (the clocks run at different rates): synchronise them first"
            )
            continue
        found.append(round(shift))
        if not correct:
            notes.append(
                f"{run.log.name}: forces come {abs(shift) * step:.4g} s {'after' if shift > 0 else 'before'} the "
                f"coordinates (clocks do not match): pass delay={shift * step:.4g}"
            )
    agree = correct and len(found) == len(runs) and len(set(found)) == 1 and not linear.redundant
    return notes, Shifts(np.full(len(linear.model.actuators), found[0] if agree else 0, dtype=np.int64))


def _whiteness(left: list[Array], goods: list[NDArray[np.bool_]]) -> Whiteness:
    longest = max(range(len(left)), key=lambda k: len(left[k]))
    return whiteness(left[longest], goods[longest])


# ----------------------------------------------------------------------------------------------------------------------
# What an identification changes in a robot file: fields of bodies and friction, with their intervals.


def changes_of(linear: LinearModel, numbers: Array, covariance: Array) -> list[Change]:
    """Fields of the file that forces show something of, for all legs."""
    entries = linear.to_entries @ numbers
    entry_covariance = linear.to_entries @ covariance @ linear.to_entries.T
    found = entries, entry_covariance
    before = np.array([e.value for e in linear.entries])
    place = {(e.path, e.index): k for k, e in enumerate(linear.entries)}
    changes: list[Change] = []
    for path in dict.fromkeys(e.path for e in linear.entries):
        if not any(np.abs(entry_covariance[k, k]) > 0 for k, e in enumerate(linear.entries) if e.path == path):
            continue
        if path.startswith("elements."):
            owner, _, field = path.rpartition(".")
            stands = field == "preload" and get(linear.model.robot, owner).preload is None
            change = _rest_change(linear, owner, *found) if stands else _field_change(linear, path, *found)
            changes.append(change)
            continue
        own = [(m, place[path, m]) for m in MOMENTS if (path, m) in place]
        if not own:
            k = place[path, ()]
            half = Z95 * np.sqrt(max(entry_covariance[k, k], 0.0))
            unit = next((n.unit for n in linear.numbers if n.path == path), "")
            changes.append(Change(path, unit, file_value(linear.robot, path), np.array(entries[k]), np.array(half)))
            continue
        body = get(linear.robot, path)
        slots, places = [MOMENTS.index(m) for m, _ in own], [k for _, k in own]
        old, new, wide = np.zeros(10), np.zeros(10), np.zeros((10, 10))
        old[slots], new[slots] = before[places], entries[places]
        wide[np.ix_(slots, slots)] = entry_covariance[np.ix_(places, places)]
        shown = _shown(body_changes(path, body, old, new, wide))
        moving = np.flatnonzero(np.abs(linear.to_entries[places]).max(axis=0) * np.diag(covariance) > 0)
        if all(linear.numbers[k].moment == "m" for k in moving):
            # a body that does not turn: forces show its mass alone, and the rest of it stays as the file has it
            shown = [change for change in shown if change.path == f"{path}.mass"]
        changes += shown
    return changes


def _field_change(linear: LinearModel, path: str, entries: Array, covariance: Array) -> Change:
    """A field of an element, a number or several: what forces are not linear in stays as the file has it."""
    before = file_value(linear.robot, path)
    after, half = before.copy(), np.zeros(before.shape)
    for k, entry in enumerate(linear.entries):
        if entry.path == path:
            index = _index(entry)
            after[index], half[index] = entries[k], Z95 * np.sqrt(max(covariance[k, k], 0.0))
    units = dict.fromkeys(n.unit for n in linear.numbers if n.path == path or n.path.startswith(f"{path}."))
    return Change(path, " or ".join(units), before, after, half)


def _index(entry: Parameter) -> tuple[int, ...]:
    """Index of a number of an element in its field; moments, which have names, are of bodies."""
    assert not isinstance(entry.index, str)
    return entry.index


def _rest_change(linear: LinearModel, owner: str, entries: Array, covariance: Array) -> Change:
    """The rest of a spring, for which its preload stands; its interval by derivatives."""
    spring = get(linear.model.robot, owner)
    own = [k for k, e in enumerate(linear.entries) if e.path in (f"{owner}.stiffness", f"{owner}.preload")]

    def rest(values: Array) -> Array:
        fields = {name: file_value(linear.robot, f"{owner}.{name}") for name in ("stiffness", "preload")}
        for k in own:
            fields[linear.entries[k].path.rpartition(".")[2]][_index(linear.entries[k])] = values[k]
        return rest_of(spring, linear.robot, fields["stiffness"], fields["preload"])

    derivatives = []
    for k in own:
        step = np.zeros(len(entries))
        step[k] = 1e-6 * max(abs(float(entries[k])), float(np.sqrt(covariance[k, k])))
        derivatives.append((rest(entries + step) - rest(entries - step)) / (2 * step[k] or 1.0))
    variance = np.einsum("i...,ij,j...->...", derivatives, covariance[np.ix_(own, own)], derivatives)
    name = "length" if spring.length is not None else "rest"
    turns = bool(spring.joint) and spring.axes_of(linear.robot.legs) != ("translation",)
    half = np.asarray(Z95 * np.sqrt(np.maximum(variance, 0.0)))
    unit = "rad" if turns else "m"
    return Change(f"{owner}.{name}", unit, np.array(getattr(spring, name), dtype=float), rest(entries), half)


def _shown(changes: list[Change]) -> list[Change]:
    return [c for c in changes if np.any(c.half > 0)]


# ----------------------------------------------------------------------------------------------------------------------
# An identification as labelled arrays.


def labelled(found: Any) -> xr.Dataset:
    """An ``Identification``: parameters, numbers, noise and whiteness by actuator, forces along the log that judges."""
    import xarray as xr

    base, linear = found.base, found.linear
    shown = (found.validation or found.runs)[-1]
    force = units(found.model)[1]
    along: dict[str, Any] = {
        "measured": (("time", "actuator"), shown.measured, {"units": force, "long_name": "measured force"}),
        "before": (
            ("time", "actuator"),
            shown.before,
            {"units": force, "long_name": "force predicted with the file's parameters"},
        ),
        "after": (
            ("time", "actuator"),
            shown.after,
            {"units": force, "long_name": "force predicted with the new parameters"},
        ),
        "used": (("time", "actuator"), shown.good.astype(np.int8), {"long_name": "sample used"}),
    }
    white = found.residuals
    return xr.Dataset(
        {
            "base_value": ("parameter", found.beta),
            "base_file": ("parameter", base.values(linear.values)),
            "base_half_width": ("parameter", found.half_widths),
            "value": ("number", found.numbers),
            "file": ("number", linear.values),
            "half_width": ("number", Z95 * np.sqrt(np.maximum(np.diag(found.covariance), 0.0))),
            "identifiability": ("number", list(base.identifiability)),
            "noise": ("actuator", found.fit.noise),
            "rms": ("actuator", white.rms),
            "neighbours": ("actuator", white.neighbours),
            "correlation_time": ("actuator", white.time),
            "white_p_value": ("actuator", white.p_value),
            "error_before": ("actuator", shown.error(shown.before)),
            "error_after": ("actuator", shown.error(shown.after)),
            "channel_value": ("channel", [e.value for e in found.channels]),
            "channel_half_width": ("channel", [e.half for e in found.channels]),
            **along,
        },
        {
            "parameter": list(base.names),
            "parameter_unit": ("parameter", list(base.units)),
            "number": list(linear.names),
            "number_unit": ("number", [n.unit for n in linear.numbers]),
            "actuator": [a.name for a in found.model.actuators],
            "channel": [f"{e.kind} {e.actuator or 'all'}" for e in found.channels],
            "time": ("time", shown.time, {"units": "s"}),
        },
        {"robot": found.robot.name, "log": shown.log.name, "held_out": "yes" if found.validation else "no",
         "verdict": str(found.verdict), "notes": "\n".join(found.notes)},
    )  # fmt: skip
