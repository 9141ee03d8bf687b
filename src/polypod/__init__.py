"""polypod: kinematics and dynamics of parallel robots, exact and compiled.

>>> import polypod as pp
>>> model = pp.Model(pp.load("kim-ryu"))
>>> model.inverse_kinematics(model.robot.home.matrix).round(4)
array([0.3221, 0.322 , 0.3222, 0.3222, 0.322 , 0.3221])
"""

import sys
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import analysis, control, errors, exchange, export, identification, legs, motion, results, simulation
    from .description import Body, Robot
    from .description.poses import pose
    from .files import dumps, library, load, loads, save
    from .model import Model
    from .simulation.simulate import simulate
    from .view import live

# What is public, and the module it comes from; empty for a module itself. Each is loaded when it is asked for.
_HOME = {
    "Body": "description",
    "Model": "model",
    "Robot": "description",
    "analysis": "",
    "control": "",
    "description": "",
    "dumps": "files",
    "errors": "",
    "exchange": "",
    "export": "",
    "identification": "",
    "legs": "",
    "library": "files",
    "live": "view",
    "load": "files",
    "loads": "files",
    "model": "",
    "motion": "",
    "pose": "description.poses",
    "results": "",
    "save": "files",
    "simulate": "simulation",
    "simulation": "",
}


def __getattr__(name: str) -> object:
    """A public name, loaded on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'polypod' has no attribute {name!r}")
    home = _HOME[name]
    value = getattr(import_module(f".{home}", __name__), name) if home else import_module(f".{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


# CasADi, LLVM and SciPy take half a second to load: 'polypod --version' need not wait for them, but a program that
# imports polypod has them from then on, so that its first model is not late.
if PurePath(next(iter(sys.argv), "")).stem != "polypod":
    __getattr__("Model")


__all__ = [
    "Body",
    "Model",
    "Robot",
    "analysis",
    "control",
    "dumps",
    "errors",
    "exchange",
    "export",
    "identification",
    "legs",
    "library",
    "live",
    "load",
    "loads",
    "motion",
    "pose",
    "results",
    "save",
    "simulate",
    "simulation",
]
