"""Limits that no state keeps but would if their numbers were of another unit: millimetres, degrees."""

from __future__ import annotations

import numpy as np

from ..limits import LimitReport

_FACTORS = {"m": (1e-3, "mm"), "rad": (np.pi / 180.0, "deg")}


def suspected_unit_errors(report: LimitReport) -> list[str]:
    """A sentence for each kind of limit that all states break and that the other unit would keep, with what to write.

    Examples
    --------
    >>> broken = LimitReport((("leg1", "length"),), np.array([0.44]), np.array([334.0]), np.array([484.0]), ("m",))
    >>> suspected_unit_errors(broken)[0].partition(": ")[2]
    '0.44 m is outside 334 to 484 m; write 334 mm and 484 mm, or 0.334 and 0.484, if mm are meant'
    """
    if not report.names:
        return []
    found: dict[str, str] = {}
    values = report.value.reshape(-1, len(report.names))
    for k, (leg, name) in enumerate(report.names):
        factor, unit = _FACTORS.get(report.units[k], (0.0, ""))
        if not unit or not len(values) or name in found:
            continue
        low, high, value = report.low[k], report.high[k], values[:, k]
        outside = ((value < low) | (value > high)).all()
        if outside and ((value >= factor * low) & (value <= factor * high)).all():
            found[name] = (
                f"{leg} {name}: {value[0]:.4g} {report.units[k]} is outside {low:.6g} to {high:.6g} {report.units[k]}; "
                f"write {low:.6g} {unit} and {high:.6g} {unit}, or {factor * low:.6g} and {factor * high:.6g}, if "
                f"{unit} are meant"
            )
    return list(found.values())
