"""Results of a study as a labelled dataset: what each design has, whether it keeps the limits, and which binds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..files import dumps
from ..limits import within_all
from ..tables import Table, table
from .evaluate import REASONS, Evaluator
from .quantities import QUANTITIES
from .sensitivity import Indices

if TYPE_CHECKING:
    import xarray as xr

    from .optimise import Optimum
    from .prepared import Prepared


def variable(name: str) -> str:
    """What a quantity is called in a dataset."""
    return name.replace(" ", "_")


def dataset(prepared: Prepared, evaluator: Evaluator, values: dict[str, Array], reason: NDArray[np.int8]) -> xr.Dataset:
    """Quantities (design, motion) with units, the varied numbers (design, varied) and why there is no answer."""
    import xarray as xr

    study = prepared.study
    meanings = "; ".join(f"{k}: {text or 'there is one'}" for k, text in enumerate(REASONS))
    variables: dict[str, Any] = {
        "value": (
            ("design", "varied"),
            prepared.values,
            {"long_name": "value of a varied parameter, in its varied_unit"},
        ),
        "reason": (("design", "motion"), reason, {"long_name": "why there is no result", "meanings": meanings}),
    }
    for name, value in values.items():
        unit = evaluator.quantity_unit(name)
        variables[variable(name)] = (
            ("design", "motion"),
            value,
            {"long_name": evaluator.quantity(name).text, "units": unit},
        )
    coordinates: dict[str, Any] = {
        "varied": [varied.label for varied in study.vary],
        "varied_unit": ("varied", [evaluator.unit(k) for k in range(len(study.vary))]),
        "motion": list(prepared.load_case_names),
    }
    attributes = {
        "title": study.title or study.name,
        "study": study.model_dump_json(),
        "robot": prepared.model.robot.name,
        "robot_file": dumps(prepared.model.robot),
        "fingerprint": prepared.fingerprint(),
    }
    return xr.Dataset(variables, coordinates, attributes)


def worst(result: xr.Dataset, name: str) -> Array:
    """A quantity (D,) of the worst motion; NaN where one has no answer. Uses of limits are worst at their largest."""
    find = QUANTITIES[name].worst if name in QUANTITIES else np.max
    return np.asarray(find(result[variable(name)].values, axis=1))


def judged(result: xr.Dataset, evaluator: Evaluator) -> xr.Dataset:
    """With the shares (design, limit) of the limits used, whether all are kept, and the one that binds, by name.

    A limit binds a design if it has the largest share; a design without an answer is bound by the reason. A limit of
    which the share is not known (NaN) is not kept.
    """
    limits = evaluator.limits
    lost = result["reason"].values.max(axis=1)
    binding = np.array(REASONS)[lost].astype(object)
    kept = lost == 0
    if limits:
        shares = np.stack([evaluator.share(name, worst(result, name)) for name in limits], axis=1)
        labels = [evaluator.label(name) for name in limits]
        result["share"] = (("design", "limit"), shares, {"long_name": "share of the limit that is used", "units": "1"})
        result = result.assign_coords(limit=labels, limit_value=("limit", list(limits.values())))
        largest = np.where(np.isnan(shares), np.inf, shares)
        binding[kept] = np.array(labels, dtype=object)[largest[kept].argmax(axis=1)]
        kept &= (largest <= 1.0).all(axis=1)
    result["feasible"] = ("design", kept, {"long_name": "whether it is within all limits"})
    result["binding"] = ("design", binding.astype(str), {"long_name": "the most used limit"})
    return result


def violations(result: xr.Dataset) -> dict[str, tuple[int, int]]:
    """By limit, and by reason for no answer: how many designs break it, and how many break nothing else."""
    lost = result["reason"].values.max(axis=1)
    numbers = {k: int((lost == k).sum()) for k in range(1, len(REASONS))}
    counts = {REASONS[k]: (count, count) for k, count in numbers.items() if count}
    if "share" in result:
        broken = ~(result["share"].values <= 1.0) & (lost == 0)[:, None]
        alone = broken.sum(axis=1) == 1
        for k, name in enumerate(result["limit"].values.tolist()):
            counts[name] = int(broken[:, k].sum()), int((broken[:, k] & alone).sum())
    return counts


# ----------------------------------------------------------------------------------------------------------------------
# Tables of a study: its designs, how many break which limit, how quantities spread and what they depend on.


def design_table(result: xr.Dataset, evaluator: Evaluator) -> Table:
    """Every design: varied numbers, quantities of the worst motion, whether it keeps the limits, which binds it."""
    study = evaluator.study
    columns = [("design", ""), *((v.label, evaluator.unit(k)) for k, v in enumerate(study.vary))]
    columns += [(name, evaluator.quantity_unit(name)) for name in study.quantities]
    columns += [("feasible", ""), ("binding", "")]
    numbers = np.column_stack([result["value"].values, *(worst(result, name) for name in study.quantities)])
    feasible, binding = result["feasible"].values, result["binding"].values
    rows = [
        (k, *row, "yes" if keeps else "no", str(bound))
        for k, (row, keeps, bound) in enumerate(zip(numbers.tolist(), feasible, binding, strict=True))
    ]
    return table("Designs", columns, rows)


def spread_table(result: xr.Dataset, evaluator: Evaluator) -> Table:
    """Least, median and largest of each quantity over the designs that have an answer, and the best feasible one."""
    rows = []
    feasible = result["feasible"].values.astype(bool)
    for name in evaluator.study.quantities:
        value = worst(result, name)
        known = value[~np.isnan(value)]
        if not len(known):
            rows.append((name, evaluator.quantity_unit(name), *[float("nan")] * 4, "-"))
            continue
        best, number = float("nan"), "-"
        if feasible.any():
            pick = np.nanargmax if QUANTITIES[name].more_is_better else np.nanargmin
            k = int(np.flatnonzero(feasible)[pick(value[feasible])])
            best, number = float(value[k]), str(k)
        rows.append((name, evaluator.quantity_unit(name), *map(float, np.quantile(known, [0, 0.5, 1])), best, number))
    columns = [(c, "") for c in ("quantity", "unit", "least", "median", "largest", "best feasible", "design")]
    return table("Quantities", columns, rows)


def best_table(found: Optimum) -> Table:
    """The best designs of an optimisation: varied parameters and quantities of each."""
    evaluator = found.evaluator
    columns = [("robot", ""), *((v.label, evaluator.unit(k)) for k, v in enumerate(evaluator.study.vary))]
    shown = [name for name in found.quantities if name not in evaluator.judged]
    columns += [(name, evaluator.quantity_unit(name)) for name in shown]
    columns += [("most used limit of the robot", ""), ("use", "1")] if evaluator.judged else []
    rows = [
        (
            found.point_name(k),
            *map(float, found.values[k]),
            *(float(found.quantities[name][k]) for name in shown),
            *_most_used(found, k),
        )
        for k in range(len(found.values))
    ]
    return table("Best designs", columns, rows)


def _most_used(found: Optimum, k: int) -> tuple[Any, ...]:
    """The limit of the robot file that a best design uses most, and by how much."""
    uses = {found.evaluator.label(name): float(found.quantities[name][k]) for name in found.evaluator.judged}
    return max(uses.items(), key=lambda pair: pair[1]) if uses else ()


def limits_text(evaluator: Evaluator) -> str:
    """The sentence "within all N limits" of a study: those that it states, and those of the robot file."""
    own = evaluator.own.limits if evaluator.judged else ()
    count = len(evaluator.study.limits) + len(own)
    if not count and not evaluator.left_out:
        return "within all limits: neither the study nor the robot file gives any"
    text = within_all(count, evaluator.own.not_given if evaluator.judged else (), evaluator.left_out)
    return f"{text}; {evaluator.own.sharing}" if evaluator.own.sharing else text


def nearest_text(result: xr.Dataset) -> str:
    """Which design comes nearest to its limits where none keeps them."""
    largest = result["share"].max("limit", skipna=False).values if "share" in result else np.array([np.nan])
    if np.isnan(largest).all():
        return "No design has an answer."
    k = int(np.nanargmin(largest))
    return f"Closest is design {k}: {result['binding'].values[k]} is {largest[k]:.3g} times its limit."


def violations_table(result: xr.Dataset) -> Table:
    """How many designs break each limit, and how many break nothing else."""
    rows = [(name, count, alone) for name, (count, alone) in violations(result).items()]
    columns = [("limit or reason", ""), ("designs that violate it", ""), ("and nothing else", "")]
    return table("Limits", columns, rows)


def derivative_table(derivatives: dict[str, Array], evaluator: Evaluator) -> Table:
    """Derivatives of the quantities by the varied numbers, SI units."""
    labels = [varied.label for varied in evaluator.study.vary]
    rows = [(name, evaluator.quantity_unit(name), *map(float, found)) for name, found in derivatives.items()]
    units = [f"1/({evaluator.unit(k)})" if evaluator.unit(k) else "" for k in range(len(labels))]
    left = ", ".join(name for name in evaluator.study.quantities if name not in derivatives)
    caption = f"Without {left}, which counts points and has no derivative." if left else ""
    return table("Derivatives", [("quantity", ""), ("unit", ""), *zip(labels, units, strict=True)], rows, caption)


def indices_table(indices: dict[str, Indices], evaluator: Evaluator) -> Table:
    """Sobol's indices, alone and with others together, to two places: they are estimates from samples."""
    labels = [varied.label for varied in evaluator.study.vary]
    columns = [("quantity", ""), *((f"{label}, {kind}", "") for label in labels for kind in ("alone", "total"))]
    rows = [
        (name, *(round(float(x), 2) + 0.0 for pair in zip(found.first, found.total, strict=True) for x in pair))
        for name, found in indices.items()
    ]
    return table("Sobol indices: shares of the variance over the ranges", columns, rows)
