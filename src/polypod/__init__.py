"""polypod: kinematics and dynamics of parallel robots, exact and compiled.

>>> import polypod as pp
>>> model = pp.Model(pp.load("kim-ryu"))
>>> model.inverse_kinematics(model.robot.home.matrix).round(4)
array([0.3221, 0.322 , 0.3222, 0.3222, 0.322 , 0.3221])
"""

from . import errors, legs
from .description import Body, Robot, dumps, library, load, loads, save
from .model import Model

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Flexible platforms are loaded when asked for: they bring finite elements and sparse solvers along."""
    if name == "FlexibleModel":
        from .flexible import FlexibleModel

        return FlexibleModel
    raise AttributeError(f"module 'polypod' has no attribute {name!r}")


__all__ = ["Body", "FlexibleModel", "Model", "Robot", "dumps", "errors", "legs", "library", "load", "loads", "save"]
