"""polypod: kinematics and dynamics of parallel robots, exact and compiled.

>>> import polypod as pp
>>> model = pp.Model(pp.load("kim-ryu"))
>>> model.inverse_kinematics(model.robot.home.matrix).round(4)
array([0.3221, 0.322 , 0.3222, 0.3222, 0.322 , 0.3221])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from . import errors, legs
from .description import Body, Robot, dumps, library, load, loads, save
from .model import Model

__version__ = "0.1.0"


if TYPE_CHECKING:
    from . import control
    from .flexible import FlexibleModel
    from .simulation import simulate


def __getattr__(name: str) -> object:
    """Flexible platforms, simulation and control are loaded when asked for: they bring much of SciPy along."""
    if name == "FlexibleModel":
        from .flexible import FlexibleModel

        return FlexibleModel
    if name == "simulate":
        from .simulation import simulate

        return simulate
    if name == "control":
        return import_module(".control", __name__)
    raise AttributeError(f"module 'polypod' has no attribute {name!r}")


__all__ = [
    "Body",
    "FlexibleModel",
    "Model",
    "Robot",
    "control",
    "dumps",
    "errors",
    "legs",
    "library",
    "load",
    "loads",
    "save",
    "simulate",
]
