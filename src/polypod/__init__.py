"""polypod: kinematics and dynamics of parallel robots, exact and compiled.

>>> import polypod as pp
>>> model = pp.Model(pp.load("kim-ryu"))
>>> model.inverse_kinematics(model.robot.home.matrix).round(4)
array([0.3221, 0.322 , 0.3222, 0.3222, 0.322 , 0.3221])
"""

import sys
from html import escape
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import (
        analysis,
        control,
        datasets,
        design,
        errors,
        exchange,
        export,
        fastest,
        files,
        identification,
        legs,
        motion,
        online,
        results,
        simulation,
        tables,
        viewer,
    )
    from .description import Body, Robot
    from .description.poses import pose
    from .files import dumps, library, load, loads, save
    from .model import Distribution, Model
    from .results import figures as plots
    from .results.figures import animate
    from .results.study import study
    from .simulation.gym import gym
    from .simulation.simulate import simulate
    from .stages import series
    from .viewer import view

# Public names, and the module that each comes from; empty for a module itself. Each is loaded when it is asked for.
_PLOTS = "results.figures"
_MODULE_OF = {
    "Body": "description",
    "Distribution": "model",
    "Model": "model",
    "Robot": "description",
    "analysis": "",
    "animate": "results.figures",
    "control": "",
    "datasets": "",
    "description": "",
    "design": "",
    "dumps": "files",
    "errors": "",
    "exchange": "",
    "export": "",
    "fastest": "",
    "files": "",
    "gym": "simulation.gym",
    "identification": "",
    "legs": "",
    "library": "files",
    "load": "files",
    "loads": "files",
    "model": "",
    "motion": "",
    "online": "",
    "plots": "",
    "pose": "description.poses",
    "results": "",
    "save": "files",
    "series": "stages",
    "simulate": "simulation",
    "simulation": "",
    "study": "results",
    "tables": "",
    "view": "viewer",
    "viewer": "",
}


def __getattr__(name: str) -> object:
    """A public name, loaded on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'polypod' has no attribute {name!r}")
    module = _MODULE_OF[name]
    if module:
        value: object = getattr(import_module(f".{module}", __name__), name)
    else:
        value = import_module(f".{_PLOTS if name == 'plots' else name}", __name__)
    globals()[name] = value
    if name in ("Model", "Robot"):
        _show_in_notebooks()
    return value


def _show_in_notebooks() -> None:
    """A robot or model at the end of a notebook's cell is a live page, of which the packages below know nothing."""
    from .description import Robot
    from .errors import PolypodError
    from .model import Model

    def shown(self: Model | Robot) -> str:
        from .viewer import view

        try:
            return view(self)._repr_html_()
        except PolypodError as error:  # a robot that cannot move; a cell's output must not fail
            return f"<p>{escape(repr(self))}: {escape(str(error))}</p>"

    for kind in (Robot, Model):
        if not hasattr(kind, "_repr_html_"):
            kind._repr_html_ = shown  # type: ignore[union-attr]


def __dir__() -> list[str]:
    return sorted({*_MODULE_OF, *(name for name in globals() if name.startswith("__"))})  # for completion: no helpers


# CasADi, LLVM and SciPy take half a second to load: 'polypod --version' need not wait for them, but a program that
# imports polypod has them from then on, so that its first model is not late. '-m' is what 'python -m polypod' has here.
if PurePath(next(iter(sys.argv), "")).stem not in ("polypod", "-m"):
    __getattr__("Model")


__all__ = [
    "Body",
    "Distribution",
    "Model",
    "Robot",
    "analysis",
    "animate",
    "control",
    "datasets",
    "design",
    "dumps",
    "errors",
    "exchange",
    "export",
    "fastest",
    "files",
    "gym",
    "identification",
    "legs",
    "library",
    "load",
    "loads",
    "motion",
    "online",
    "plots",
    "pose",
    "results",
    "save",
    "series",
    "simulate",
    "simulation",
    "study",
    "tables",
    "view",
    "viewer",
]
