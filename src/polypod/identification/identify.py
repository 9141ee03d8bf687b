"""Identification: inertias and friction of a robot from logs of its coordinates and forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..description import Robot
from ..errors import InputError
from ..model import Model
from ..parameters.numbers import MOMENTS
from ..parameters.paths import value_at
from .base import BaseParameters, base_parameters
from .fit import Fit, Triangles, together, triangles, weighted
from .logs import Log, read_log
from .numbers import LinearModel
from .physical import cones, most_likely
from .prepared import Prepared, prepared
from .prior import Z95, uncertainties
from .residuals import Whiteness, outliers, whiteness
from .rewritten import Change, body_changes, file_value, with_changes
from .suspects import lag, motion_rows

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
Source = "str | Path | xr.Dataset | Log"
ROUNDS = 8
"""At most so many rounds of friction with reactions, and of outliers."""


@dataclass(frozen=True)
class Forces:
    """Forces of one log (n, a): measured, by the file's numbers before, by the new ones after; marks of those used."""

    log: Log
    time: Array
    measured: Array
    before: Array
    after: Array
    good: NDArray[np.bool_]

    def error(self, predicted: Array) -> Array:
        """Root mean square (a,) of measured less predicted."""
        off = np.where(self.good, self.measured - predicted, 0.0)
        return np.asarray(np.sqrt((off**2).sum(axis=0) / np.maximum(self.good.sum(axis=0), 1)))


@dataclass(frozen=True)
class Identification:
    """What logs say about a robot.

    ``robot`` has the new numbers, with intervals as sources. ``fit`` is by data alone, in base parameters; ``numbers``
    (k,) and their ``covariance`` (k, k) are by data and file together, of real bodies. ``changes`` are the fields of
    the file. ``held`` says that a body had to be held real. ``runs`` and ``validation`` have the forces of the logs.
    """

    model: Model
    robot: Robot
    linear: LinearModel
    base: BaseParameters
    fit: Fit
    numbers: Array
    covariance: Array
    prior: Array
    changes: list[Change]
    held: bool
    residuals: Whiteness
    runs: list[Forces]
    validation: list[Forces]
    notes: tuple[str, ...]

    @property
    def half_widths(self) -> Array:
        """Half of the 95 % intervals (r,) of the base parameters, by data alone."""
        return Z95 * np.sqrt(np.maximum(np.diag(self.fit.covariance), 0.0))

    @property
    def invisible(self) -> list[str]:
        """Base parameters that these logs do not show: uncertain by more than the file's own value is."""
        wide = np.sqrt(np.maximum(np.diag(self.fit.covariance), 0.0))
        own = np.sqrt(np.einsum("ij,j,ij->i", self.base.matrix, self.prior**2, self.base.matrix))
        return [name for name, w, o in zip(self.base.names, wide, own, strict=True) if not w < o]

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
    linear = LinearModel(model, same_legs=same_legs, open_=_opened(model, friction))
    return identified(linear, ready, kept, uncertainty)


def _opened(model: Model, friction: Sequence[str]) -> Any:
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

        return source if len(source.good) else checked(source)
    return read_log(model, source, constants)


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
    sigma = np.where([s == "not" for s in base.sight], 0.0, sigma)
    constraints = cones(linear, base)
    notes = [f"{run.log.name}: {text}" for run in (*runs, *held_back) for text in run.log.notes]
    notes += _late(linear, base, runs)
    goods = [run.good for run in runs]
    numbers, marked = prior, 0
    for turn in range(ROUNDS):
        data = _reduced(linear, base, runs, goods, numbers)
        fit = weighted(data)
        last = numbers
        numbers, _, _ = most_likely(fit.triangle, fit.side, base, prior, sigma, [])
        predicted = [linear.forces(run.motion, numbers) for run in runs]
        marks = [outliers(run.force - p, g) for run, p, g in zip(runs, predicted, goods, strict=True)]
        fresh = sum(int(m.sum()) for m in marks)
        settled = not linear.loaded or _settled(base, last, numbers, fit)
        if turn and fresh == 0 and settled:
            break
        if fresh == 0 and not linear.loaded:
            break
        marked += fresh
        goods = [g & ~m for g, m in zip(goods, marks, strict=True)]
    if marked:
        notes.append(f"{marked} outliers of forces (beyond 6 times the usual residual): not used")
    if not all(g.any() for g in goods):
        raise InputError("logs: no sample of forces is left to use")
    white = _whiteness(runs, predicted, goods)
    # what follows only widens intervals: weights by channel hardly move the values
    fit = weighted(data, white.spread)
    numbers, covariance, held = most_likely(fit.triangle, fit.side, base, prior, sigma, constraints)
    changes = _changes(linear, base, numbers, covariance)
    note = _note(runs, goods)
    robot = with_changes(linear.robot, changes, note)
    result = Identification(
        linear.model, robot, linear, base, fit, numbers, covariance, sigma, changes, held, white,
        [_forces(linear, run, g, numbers) for run, g in zip(runs, goods, strict=True)],
        [_forces(linear, run, run.good, numbers) for run in held_back], tuple(notes),
    )  # fmt: skip
    unseen = result.invisible
    if unseen:
        listed = "; ".join(unseen[:4]) + (f"; and {len(unseen) - 4} more" if len(unseen) > 4 else "")
        text = (
            f"too little motion: {len(unseen)} of {base.count} base parameters are invisible in these logs and stay "
            f"near the file's values: {listed}"
        )
        result = replace(result, notes=(*result.notes, text))
    if held:
        result = replace(
            result, notes=(*result.notes, "numbers were held where real bodies and friction can have them")
        )
    return result


def _reduced(
    linear: LinearModel, base: BaseParameters, runs: list[Prepared], goods: list[NDArray[np.bool_]], numbers: Array
) -> Triangles:
    parts = []
    for run, good in zip(runs, goods, strict=True):
        parts.append(triangles(linear, base, run.motion, run.force, good, numbers))
    return together(parts)


def _settled(base: BaseParameters, last: Array, now: Array, fit: Fit) -> bool:
    wide = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    moved = np.abs(base.values(now) - base.values(last))
    return bool((moved <= 0.02 * wide + 1e-12 * np.abs(base.values(now))).all())


def _late(linear: LinearModel, base: BaseParameters, runs: list[Prepared]) -> list[str]:
    notes = []
    for run in runs:
        rows = motion_rows(run.motion, 2 * len(base.independent))
        columns = linear.slopes(run.motion[rows], linear.values, base.independent)
        sound = np.isfinite(columns).all(axis=(1, 2))
        shift = lag(columns[sound], np.nan_to_num(run.log.force), run.smooth.rows[rows][sound])
        if shift is not None:
            step = float(np.median(np.diff(run.log.time)))
            notes.append(
                f"{run.log.name}: forces come {shift * step:.4g} s after the coordinates (clocks do not match): pass "
                f"delay={shift * step:.4g} (--delay on the command line)"
            )
    return notes


def _whiteness(runs: list[Prepared], predicted: list[Array], goods: list[NDArray[np.bool_]]) -> Whiteness:
    longest = max(range(len(runs)), key=lambda k: len(runs[k].motion))
    return whiteness(runs[longest].force - predicted[longest], goods[longest])


def _forces(linear: LinearModel, run: Prepared, good: NDArray[np.bool_], numbers: Array) -> Forces:
    before, after = (linear.forces(run.motion, p) for p in (linear.values, numbers))
    return Forces(run.log, run.time, run.force, before, after, good)


def _note(runs: list[Prepared], goods: list[NDArray[np.bool_]]) -> str:
    names = ", ".join(run.log.name for run in runs)
    return f"identified from {names} ({sum(int(g.any(axis=1).sum()) for g in goods)} samples)"


def _changes(linear: LinearModel, base: BaseParameters, numbers: Array, covariance: Array) -> list[Change]:
    """Fields of the file that forces show something of, for all legs."""
    entries = linear.spread @ numbers
    spread = linear.spread @ covariance @ linear.spread.T
    before = np.array([e.value for e in linear.entries])
    place = {(e.path, e.index): k for k, e in enumerate(linear.entries)}
    changes: list[Change] = []
    for path in dict.fromkeys(e.path for e in linear.entries):
        if not any(np.abs(spread[k, k]) > 0 for k, e in enumerate(linear.entries) if e.path == path):
            continue
        own = [(m, place[path, m]) for m in MOMENTS if (path, m) in place]
        if not own:
            k = place[path, ()]
            half = Z95 * np.sqrt(max(spread[k, k], 0.0))
            unit = next((n.unit for n in linear.numbers if n.path == path), "")
            changes.append(Change(path, unit, file_value(linear.robot, path), np.array(entries[k]), np.array(half)))
            continue
        body = value_at(linear.robot, path)
        slots, places = [MOMENTS.index(m) for m, _ in own], [k for _, k in own]
        old, new, wide = np.zeros(10), np.zeros(10), np.zeros((10, 10))
        old[slots], new[slots] = before[places], entries[places]
        wide[np.ix_(slots, slots)] = spread[np.ix_(places, places)]
        changes += _shown(body_changes(path, body, old, new, wide))
    return changes


def _shown(changes: list[Change]) -> list[Change]:
    return [c for c in changes if np.any(c.half > 0)]
