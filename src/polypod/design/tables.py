"""Tables of a study: its designs, how many break which limit, how quantities spread and what they depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..tables import Table, table
from .evaluate import Evaluator
from .quantities import QUANTITIES
from .results import violations, worst
from .sensitivity import Indices

if TYPE_CHECKING:
    import xarray as xr


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
            pick = np.nanargmax if QUANTITIES[name].reduce == "least" else np.nanargmin
            k = int(np.flatnonzero(feasible)[pick(value[feasible])])
            best, number = float(value[k]), str(k)
        rows.append((name, evaluator.quantity_unit(name), *map(float, np.quantile(known, [0, 0.5, 1])), best, number))
    columns = [(c, "") for c in ("quantity", "unit", "least", "median", "largest", "best feasible", "design")]
    return table("Quantities", columns, rows)


def violations_table(result: xr.Dataset) -> Table:
    """How many designs break each limit, and how many break nothing else."""
    rows = [(name, count, alone) for name, (count, alone) in violations(result).items()]
    columns = [("limit or reason", ""), ("designs that break it", ""), ("and nothing else", "")]
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
