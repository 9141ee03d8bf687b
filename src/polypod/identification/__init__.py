"""Measured data in, a better robot file out: inertias and friction from logs, geometry from measured poses.

``excite`` finds a motion that makes numbers visible, ``identify`` takes logs of it, ``plan`` says where to measure and
``calibrate`` takes the measurements. ``base_parameters`` and ``identifiable`` say beforehand what can be seen at all.
"""

from .base import BaseParameters, base_parameters
from .calibrate import Calibration, Plan, calibrate, identifiable, plan
from .excite import Excitation, excite
from .identify import Identification, identify
from .linear_model import LinearModel
from .logs import Log, read_log, save_log, simulated_log
from .measured import Measurements, measurements, read_measurements

__all__ = [
    "BaseParameters",
    "Calibration",
    "Excitation",
    "Identification",
    "LinearModel",
    "Log",
    "Measurements",
    "Plan",
    "base_parameters",
    "calibrate",
    "excite",
    "identifiable",
    "identify",
    "measurements",
    "plan",
    "read_log",
    "read_measurements",
    "save_log",
    "simulated_log",
]


def __dir__() -> list[str]:
    return sorted(__all__)  # for completion: public names, no imports
