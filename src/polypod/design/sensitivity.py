"""How quantities change with the varied numbers: derivatives at one design, and Sobol's indices over the ranges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .evaluate import Evaluator
from .quantities import QUANTITIES
from .study import MOST_DESIGNS, scaled

_STEP = 1e-4
"""Step of central differences as a share of the range: truncation and rounding are about 1e-8 of the quantity."""
EXACT = ("peak force", "rms force")
"""Quantities whose derivatives come from the compiled derivatives of inverse dynamics."""
COUNTED = frozenset({"workspace volume"})
"""Quantities that count points: they jump, and have no derivatives."""


def gradients(evaluator: Evaluator, at: Array, limits: bool = False) -> dict[str, Array]:
    """d(quantity)/d(varied number) (v,) by name at a design (v,), of the worst motion and actuator there.

    Those of forces are exact, d force/d number by the compiled derivatives, at the state and of the actuator that has
    the peak; the others are central differences, all designs in one call. ``COUNTED`` quantities are left out. With
    ``limits`` there are those of the uses of the robot file's limits too.
    """
    result = _differences(evaluator, at)
    wanted = [name for name in evaluator.study.quantities if name in EXACT]
    if wanted and not (np.isnan(result[wanted[0]]).any() and _lost(evaluator, at)):
        result |= _exact(evaluator, at, wanted)
    names = evaluator.columns if limits else evaluator.study.quantities
    return {name: result[name] for name in names if name not in COUNTED}


def _lost(evaluator: Evaluator, at: Array) -> bool:
    """Whether a design has no answer."""
    return bool(evaluator.evaluate(evaluator.designs(at[None])).reason.any())


def _differences(evaluator: Evaluator, at: Array) -> dict[str, Array]:
    step = np.array([_STEP * (max(values) - min(values)) for values in evaluator.bounds])
    shifts = np.diag(np.where(step > 0, step, _STEP))
    designs = evaluator.designs(np.vstack([at + shifts, at - shifts]))
    results, count = evaluator.evaluate(designs), len(at)
    found = {}
    for name in evaluator.columns:
        value = evaluator.quantity(name).worst(results.values[name], axis=1)
        found[name] = (value[:count] - value[count:]) / (2 * shifts.diagonal())
    return found


def _exact(evaluator: Evaluator, at: Array, names: list[str]) -> dict[str, Array]:
    step = 1e-6 * np.array([max(values) - min(values) or 1.0 for values in evaluator.bounds])
    shifted = evaluator.designs(np.vstack([at + np.diag(step), at - np.diag(step)])).values
    # numbers of the robot by varied numbers (v, k): patterns are smooth, and differences of them cost nothing
    chain = (shifted[: len(at)] - shifted[len(at) :]) / (2 * step[:, None])
    columns = tuple(np.flatnonzero(np.abs(chain).max(axis=0) > 0).tolist())
    design, friction = evaluator.designs(at[None]), evaluator.study.friction
    forces, derivatives = design.kernel("inverse_dynamics", friction, 0, 1), design.force_jacobian(columns, friction)
    result: dict[str, Array] = {}
    best = dict.fromkeys(names, -np.inf)
    for case in evaluator.load_cases:
        force = forces(*case.rows(forces))[0][0]
        for name in names:
            if name == "peak force":
                state, actuator = divmod(int(np.abs(force).argmax()), force.shape[1])
                value, states = float(np.abs(force[state, actuator])), slice(state, state + 1)
                weights = np.sign(force[states, actuator])
            else:
                squares = case.shares @ force**2
                actuator, states = int(squares.argmax()), slice(None)
                value = float(np.sqrt(squares[actuator]))
                weights = case.shares * force[:, actuator] / value
            if value > best[name]:
                best[name] = value
                found = derivatives(*case.rows(derivatives, states))
                found = found[0] if isinstance(found, tuple) else found
                result[name] = chain[:, columns] @ (weights @ found[0, :, actuator])
    return result


class Indices(NamedTuple):
    """Sobol's indices (v,) of a quantity: what each number explains alone, and with all others together."""

    first: Array
    total: Array


def sobol(evaluator: Evaluator, count: int = 1024, seed: int = 0) -> dict[str, Indices]:
    """Shares of the variance over the ranges that each varied number explains, by quantity; ``count`` (2 + v) designs.

    A quantity that some design has no value of, or that does not vary, has no indices (NaN).
    """
    if count < 2 or count & (count - 1):
        raise InputError(f"count: must be a power of two, got {count}")
    wanted = count * (2 + len(evaluator.bounds))
    if wanted > MOST_DESIGNS:
        raise InputError(f"count: {count} samples need {wanted} designs; the limit is {MOST_DESIGNS}")
    from scipy.stats import sobol_indices, uniform  # type: ignore[import-untyped, unused-ignore]

    names = evaluator.study.quantities

    def function(shares: Array) -> Array:
        flat = np.moveaxis(shares, 0, -1)
        designs = scaled(evaluator.study, evaluator.bounds, flat.reshape(-1, len(evaluator.bounds)))
        results = evaluator.evaluate(evaluator.designs(designs))
        values = np.stack([QUANTITIES[name].worst(results.values[name], axis=1) for name in names])
        return values.reshape(len(names), *flat.shape[:-1])

    spread = [uniform(0.0, 1.0)] * len(evaluator.bounds)
    with np.errstate(all="ignore"):
        found = sobol_indices(func=function, n=count, dists=spread, rng=np.random.default_rng(seed))
    first, total = (np.reshape(part, (len(names), -1)) for part in (found.first_order, found.total_order))
    return {name: Indices(first[k], total[k]) for k, name in enumerate(names)}
