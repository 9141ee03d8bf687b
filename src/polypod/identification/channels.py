"""What measurement adds to the forces of a robot, and what its file does not have, as further unknowns of a fit.

A channel k of measured forces is not the force f_k of the model alone:

    y_k(t) = (1 + g_k) f_k(t - d - d_k) + b_k + sum_j (df_k/dq_j) o_j + (D_k + mu_k |f_k|) sign(qdot_k)
             + c_k qdot_k + s_k (q_k - mean) + noise,

with offset b_k and gain error g_k of the channel, a delay d of all forces and d_k of one, offsets o_j of encoders, and
friction or a spring of the drive that the robot file does not have. Each effect is one column beside the regressor,
linear in its own unknown. Which of them are in the data is decided by a likelihood-ratio test: one after the other is
taken, the most significant first, until none is left whose improvement of the weighted squares, divided by the
correlation time of the residuals, is beyond chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..model import Model
from .fit import Fit, coordinate_jacobian
from .linear_model import LinearModel
from .new_robot import Z95
from .prepared import Prepared
from .sampling import evenly_spaced

Kind = Literal["offset", "gain", "delay", "encoder", "drag", "coulomb", "viscous", "spring"]
CHANNEL: tuple[Kind, ...] = ("offset", "gain", "delay", "encoder")
"""Effects of measurement; the others are of the machine, and its file lacks them."""
IMPROVEMENT = 16.0
"""Weighted squares that one more unknown must take away: chance does so once in 16,000 times (chi^2, one degree)."""
OWN = 1e-6
"""Part of a column that no other explains, below which its unknown cannot be determined."""
NEAR = 0.75
"""Samples within which a delay is taken as linear; more than half of one, so that none goes to and fro."""
ENCODED = 1500
"""Samples at which derivatives by coordinates are taken; in between they are interpolated."""


class Effect(NamedTuple):
    """One unknown: its kind, and the index of its actuator; None for a delay of all."""

    kind: Kind
    actuator: int | None = None


class ChannelError(NamedTuple):
    """An effect as it was found: kind, actuator (empty: all), value with half of its 95 % interval, unit."""

    kind: Kind
    actuator: str
    value: float
    half: float
    unit: str

    def __str__(self) -> str:
        scale, unit = (1e3, "ms") if self.kind == "delay" else (100.0, "%") if self.kind == "gain" else (1.0, self.unit)
        return f"{scale * self.value:.4g} ± {scale * self.half:.2g} {unit}"


def candidates(linear: LinearModel) -> tuple[Effect, ...]:
    """Every effect of a robot; none where forces are projected (more actuators than degrees of freedom)."""
    if linear.redundant:
        return ()
    each = range(len(linear.model.actuators))
    return (Effect("delay"), *(Effect(kind, k) for kind in get_args(Kind) for k in each))


def columns(linear: LinearModel, run: Prepared, p: Array, effects: Sequence[Effect]) -> Iterator[Array]:
    """The column (n, a) of each effect along a log at numbers p (k,), NaN where the model has no force."""
    if not effects:
        return
    smooth, force = run.smooth, linear.forces(run.motion, p)
    rate = _rates(run, force)
    jacobian = _by_encoders(linear, run, p) if any(e.kind == "encoder" for e in effects) else None
    direction = np.sign(smooth.qdot)
    every: dict[str, Array] = {
        "offset": np.ones_like(force),
        "gain": force,
        "delay": -rate,
        "drag": direction,
        "coulomb": np.abs(force) * direction,
        "viscous": smooth.qdot,
        "spring": smooth.q - smooth.q.mean(axis=0),
    }
    for kind, k in effects:
        if k is None:
            yield every[kind]
        elif kind == "encoder":
            assert jacobian is not None
            yield jacobian[:, :, k]
        else:
            found = np.zeros_like(force)
            found[:, k] = every[kind][:, k]
            yield found


def applied(linear: LinearModel, run: Prepared, p: Array, effects: Sequence[Effect], values: Array) -> Array:
    """What effects of given values (e,) add to the forces (n, a) of numbers p (k,)."""
    found = np.zeros_like(run.force)
    for column, value in zip(columns(linear, run, p, effects), values, strict=True):
        found += value * np.nan_to_num(column)
    return found


def _rates(run: Prepared, force: Array) -> Array:
    """Time derivatives (n, a) of the model's forces along every curve of a log."""
    found, start, time = np.zeros_like(force), 0, run.time
    for curve in run.smooth.curves:
        stop = start + curve.inner.stop - curve.inner.start
        if stop - start > 2:
            found[start:stop] = np.gradient(force[start:stop], time[start:stop], axis=0)
        start = stop
    return found


def _by_encoders(linear: LinearModel, run: Prepared, p: Array) -> Array:
    """Derivatives (n, a, a) of forces by coordinates that are all off by the same amount."""
    rows = evenly_spaced(run.motion, ENCODED)
    some = coordinate_jacobian(linear, run, p, rows)[:, :, 0]
    every = np.arange(len(run.motion))
    a = some.shape[1]
    return np.stack([np.interp(every, rows, some[:, i, j]) for i in range(a) for j in range(a)], axis=1).reshape(
        -1, a, a
    )


# ----------------------------------------------------------------------------------------------------------------------
# Which effects are in the data.


def asked_for(fit: Fit, effects: Sequence[Effect], widening: Array, spread: Array, prior: Array,
              known: Sequence[Effect]) -> tuple[Effect, ...]:  # fmt: skip
    """The effects that data ask for, ``known`` ones first, of a fit with the columns of all ``effects``.

    ``widening`` (a,) is the correlation time of the residuals in samples, ``spread`` (r, r) the covariance of the base
    parameters ``prior`` (r,) by the file: what the file knows, an effect need not explain.
    """
    count = len(effects)
    information, side = fit.triangle.T @ fit.triangle, fit.triangle.T @ fit.side
    weight = np.linalg.pinv(spread, rcond=1e-12, hermitian=True)
    information[count:, count:] += weight
    side[count:] += weight @ prior
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    information, side = information / scale / scale[:, None], side / scale
    times = np.array([widening.max() if e.actuator is None else widening[e.actuator] for e in effects])
    most = {"gain": (len(widening) - 1) // 2}
    chosen = [effects.index(e) for e in known]
    inside = [*range(count, len(side)), *chosen]
    while True:
        open_ = [k for k in range(count) if k not in chosen and not _is_full(effects[k], effects, chosen, most)]
        if not open_:
            break
        factor = np.linalg.pinv(information[np.ix_(inside, inside)], rcond=1e-13, hermitian=True)
        across = information[np.ix_(open_, inside)]
        own = 1.0 - np.einsum("ij,jk,ik->i", across, factor, across)
        left = side[open_] - across @ (factor @ side[inside])
        better = np.where(own > OWN, left**2 / np.maximum(own, OWN), 0.0) / times[open_]
        best = int(np.argmax(better))
        if better[best] < IMPROVEMENT:
            break
        chosen.append(open_[best])
        inside.append(open_[best])
    return tuple(effects[k] for k in chosen)


def _is_full(effect: Effect, effects: Sequence[Effect], chosen: list[int], most: dict[str, int]) -> bool:
    """Whether as many of this kind are chosen as may be: gains of half of the channels are a scale of the masses."""
    limit = most.get(effect.kind)
    return limit is not None and sum(effects[k].kind == effect.kind for k in chosen) >= limit


def split(fit: Fit, count: int) -> Fit:
    """What a fit whose first ``count`` columns are effects says about the base parameters alone.

    Of an upper triangle the lower right block is what is left when the first unknowns are eliminated.
    """
    return fit._replace(
        beta=fit.beta[count:],
        covariance=fit.covariance[count:, count:],
        triangle=fit.triangle[count:, count:],
        side=fit.side[count:],
    )


def effect_values(fit: Fit, count: int, beta: Array, covariance: Array) -> tuple[Array, Array]:
    """Values (e,) of the first ``count`` unknowns of a fit and their covariance, with the others beta (r,)."""
    inverse = np.linalg.pinv(fit.triangle[:count, :count], rcond=1e-13)
    across = fit.triangle[:count, count:]
    values = inverse @ (fit.side[:count] - across @ beta)
    return values, inverse @ (np.eye(count) + across @ covariance @ across.T) @ inverse.T


# ----------------------------------------------------------------------------------------------------------------------
# Delays: whole samples are shifts of the measured forces, the rest of half a sample at most is an unknown.


@dataclass(frozen=True)
class Shifts:
    """Samples (a,) by which the measured forces of each channel are taken later than the coordinates."""

    samples: NDArray[np.int64]

    def nearer(self, late: Array) -> Shifts:
        """Shifts nearer to delays (a,) in samples; those that are already within ``NEAR`` of them stay."""
        far = np.abs(late - self.samples) > NEAR
        return Shifts(np.where(far, np.round(late), self.samples).astype(np.int64))

    def of(self, run: Prepared) -> Prepared:
        """A log with its forces taken later; samples for which there is none are not used."""
        if not self.samples.any():
            return run
        force, good, start = run.force.copy(), np.zeros_like(run.good), 0
        for curve in run.smooth.curves:
            stop = start + curve.inner.stop - curve.inner.start
            at = np.arange(start, stop)
            for k, shift in enumerate(self.samples.tolist()):
                late = at + shift
                there = (late >= start) & (late < stop)
                late = np.clip(late, start, max(stop - 1, start))
                force[at, k] = run.force[late, k]
                good[at, k] = run.good[at, k] & run.good[late, k] & there
            start = stop
        return replace(run, force=force, good=good)


def without_reversals(run: Prepared) -> Prepared:
    """A log without the forces of a drive next to a reversal: any delay leaves open which way its friction acts."""
    turned = np.diff(np.sign(run.smooth.qdot), axis=0) != 0
    near = np.zeros_like(run.good)
    near[1:] |= turned
    near[:-1] |= turned
    near[2:] |= turned[:-1]
    near[:-2] |= turned[1:]
    return replace(run, good=run.good & ~near)


def delays(effects: Sequence[Effect], values: Array, shifts: Shifts, period: float) -> Array:
    """The whole delay (a,) of each channel [s]."""
    found = shifts.samples * period
    for (kind, k), value in zip(effects, values, strict=True):
        if kind == "delay":
            found = found + (value if k is None else value * (np.arange(len(found)) == k))
    return np.asarray(found)


# ----------------------------------------------------------------------------------------------------------------------
# Effects as they are reported.


def channel_errors(
    model: Model, effects: Sequence[Effect], values: Array, covariance: Array, shifts: Shifts, period: float
) -> tuple[ChannelError, ...]:
    """The effects that were found, with their 95 % intervals."""
    whole, common = delays(effects, values, shifts, period), [e == Effect("delay") for e in effects]
    own = {e.actuator for e in effects if e.kind == "delay"}
    shared = next((k for k in range(len(whole)) if k not in own), 0)
    found = []
    for i, (kind, k) in enumerate(effects):
        variance = covariance[i, i]
        if kind == "delay":
            value = float(whole[shared if k is None else k])
            if k is not None and any(common):
                both = [i, common.index(True)]
                variance = covariance[np.ix_(both, both)].sum()
        else:
            value = float(values[i])
        half = float(Z95 * np.sqrt(max(variance, 0.0)))
        found.append(
            ChannelError(kind, "" if k is None else model.actuators[k].name, value, half, _unit(model, kind, k))
        )
    return tuple(found)


def _unit(model: Model, kind: Kind, actuator: int | None) -> str:
    if kind == "delay" or actuator is None:
        return "s"
    one = model.actuators[actuator]
    rate = "rad/s" if one.unit == "rad" else "m/s"
    units = {"offset": one.force_unit, "drag": one.force_unit, "encoder": one.unit, "gain": "", "coulomb": ""}
    return units.get(kind, f"{one.force_unit}/({rate})" if kind == "viscous" else f"{one.force_unit}/{one.unit}")


def friction_path(model: Model, actuator: str, law: str) -> str:
    """The path of a drive's friction in the robot file: ``legs.0.prismatic_friction.drag``; empty if it has none."""
    robot, one = model.robot, next(a for a in model.actuators if a.name == actuator)
    leg = next((i for i, own in enumerate(robot.legs) if own.name == one.leg), None)
    if leg is None:
        return ""
    joints = [joint.name for joint in getattr(robot.legs[leg], "joints", ())]
    paths = [f"legs.{leg}.{one.joint}_friction.{law}"]
    if one.joint in joints:
        paths.append(f"legs.{leg}.joints.{joints.index(one.joint)}.friction.{law}")
    known = set(robot.numbers())
    return next((path for path in paths if path in known), "")


def remarks(model: Model, found: Sequence[ChannelError], period: float) -> list[str]:
    """What is to be said about the effects that were found."""
    notes = []
    words = {"offset": "force offset", "gain": "force gain error", "encoder": "encoder offset"}
    for kind, text in words.items():
        own = [f"{e.actuator} {e}" for e in found if e.kind == kind]
        if own:
            notes.append(f"{text} found and taken into account: {', '.join(own)}")
    for error in (e for e in found if e.kind == "delay"):
        what = f"forces of {error.actuator} come" if error.actuator else "forces come"
        side = "after" if error.value > 0 else "before"
        held = abs(error.value + 0.5 * period) < max(0.1 * period, error.half)
        hint = " (half a sampling period: commanded forces that are held)" if held else ""
        notes.append(
            f"{what} {1e3 * abs(error.value):.4g} ± {1e3 * error.half:.2g} ms {side} the coordinates{hint}: "
            "taken into account"
        )
    for law, like in (("drag", "dry friction"), ("coulomb", "dry friction by load"), ("viscous", "viscous friction")):
        lacking = [e for e in found if e.kind == law]
        if not lacking:
            continue
        paths = [friction_path(model, e.actuator, law) for e in lacking]
        named = ", ".join(dict.fromkeys(path for path in paths if path))
        every = len(lacking) == len(model.actuators) and len({path.split(".", 2)[-1] for path in paths}) == 1
        named = f"legs.*.{paths[0].split('.', 2)[-1]}" if every else named
        notes.append(
            f"the robot file lacks {like} of {', '.join(f'{e.actuator} ({e})' for e in lacking)}: it is taken into "
            f"account, and becomes a parameter of the robot with friction {named}"
        )
    own = [f"{e.actuator} ({e})" for e in found if e.kind == "spring"]
    if own:
        notes.append(
            f"forces depend on the position of {', '.join(own)} as no body explains: a spring, cable drag or hose that "
            "the robot file lacks? Taken into account; state it as an element"
        )
    return notes
