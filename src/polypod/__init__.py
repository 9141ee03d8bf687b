"""polypod: kinematics and dynamics of parallel robots, exact and compiled.

>>> import polypod as pp
>>> model = pp.Model(pp.load("kim-ryu"))
>>> model.inverse_kinematics(model.robot.home.matrix).round(4)
array([0.3235, 0.3235, 0.3235, 0.3235, 0.3235, 0.3235])
"""

from . import errors, legs
from .description import Body, Robot, dumps, library, load, loads, save
from .model import Model

__version__ = "0.1.0"
__all__ = ["Body", "Model", "Robot", "dumps", "errors", "legs", "library", "load", "loads", "save"]
