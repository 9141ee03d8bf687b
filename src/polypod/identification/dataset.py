"""An identification as labelled arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets import units
from .prior import Z95

if TYPE_CHECKING:
    import xarray as xr


def labelled(found: Any) -> xr.Dataset:
    """An ``Identification``: parameters, numbers, noise and whiteness by actuator, forces along the log that judges."""
    import xarray as xr

    base, linear = found.base, found.linear
    shown = (found.validation or found.runs)[-1]
    force = units(found.model)[1]
    along: dict[str, Any] = {
        "measured": (("time", "actuator"), shown.measured, {"units": force, "long_name": "measured force"}),
        "before": (("time", "actuator"), shown.before, {"units": force, "long_name": "force by the file's numbers"}),
        "after": (("time", "actuator"), shown.after, {"units": force, "long_name": "force by the new numbers"}),
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
            **along,
        },
        {
            "parameter": list(base.names),
            "parameter_unit": ("parameter", list(base.units)),
            "number": list(linear.names),
            "number_unit": ("number", [n.unit for n in linear.numbers]),
            "actuator": [a.name for a in found.model.actuators],
            "time": ("time", shown.time, {"units": "s"}),
        },
        {"robot": found.robot.name, "log": shown.log.name, "held_out": "yes" if found.validation else "no",
         "notes": "\n".join(found.notes)},
    )  # fmt: skip
