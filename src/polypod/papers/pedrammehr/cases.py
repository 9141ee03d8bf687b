"""Pedrammehr et al.: the paths driven with several universal joint axes and models, computed once each."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...arrays import Array
from ...description import Body, Robot
from ...errors import UnphysicalWarning
from ...files import load
from ...model import Model
from ...motion import Motion, Published
from ..shared.arrays import Platform, cross, peak_ratio, unit
from . import printed as eq
from .printed import Parameters, compact_forces

SAMPLES = 601
UP = np.array([0.0, 0.0, 1.0])
AXES = ("tangential", "radial", "e_x", "e_y", "next joint")
"""Choices of u_i, which the paper does not give: z x b, b, e_x, e_y, towards the next base joint; all horizontal."""

MODELS = ("printed improved", "printed compact", "corrected improved", "classic")


def axes_of(name: str, bases: Array) -> Array:
    """The universal joints' base axes u (6, 3) of a choice, for base joints (6, 3)."""
    level = bases * np.array([1.0, 1.0, 0.0])
    choices = {
        "tangential": unit(cross(np.broadcast_to(UP, level.shape), level)),
        "radial": unit(level),
        "e_x": np.tile([1.0, 0.0, 0.0], (6, 1)),
        "e_y": np.tile([0.0, 1.0, 0.0], (6, 1)),
        "next joint": unit(np.roll(level, -1, axis=0) - level),
    }
    return choices[name]


@cache
def robot(axes: str, slender: bool = False) -> Robot:
    """The robot with a choice of axes; ``slender`` gives it pods with centres of mass and symmetry on the axis n."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        base = load("pedrammehr")
        chosen = axes_of(axes, np.array([leg.base for leg in base.legs]))  # type: ignore[attr-defined]
        bodies = {
            "lower": Body(mass=3.0, com=(0.4, 0.0, 0.0), inertia=((0.002, 0, 0), (0, 0.01, 0), (0, 0, 0.01))),
            "upper": Body(mass=1.0, com=(-0.6, 0.0, 0.0), inertia=((0.002, 0, 0), (0, 0.005, 0), (0, 0, 0.005))),
        }
        change = bodies if slender else {}
        legs = [leg.model_copy(update={"axis": tuple(u), **change}) for leg, u in zip(base.legs, chosen, strict=True)]
        return Robot.model_validate(base.model_copy(update={"legs": tuple(legs)}).model_dump())


@cache
def model(axes: str, slender: bool = False) -> Model:
    """The library's model of ``robot``."""
    return Model(robot(axes, slender))


@cache
def motion(path: int) -> Motion:
    """One of the three paths at evenly spaced times."""
    trajectory = Published(name=f"pedrammehr-path-{path}")
    return trajectory.at(trajectory.even_times(SAMPLES))


@cache
def parameters(axes: str, slender: bool = False) -> Parameters:
    """The numbers the equations take."""
    return Parameters.of(robot(axes, slender))


@cache
def pods(axes: str, path: int, spin: bool = True) -> eq.Pods:
    """Pod kinematics on a path."""
    return eq.pods(parameters(axes), Platform.of(motion(path)), spin)


@cache
def exact(axes: str, path: int, slender: bool = False, friction: bool = True) -> Array:
    """Actuator forces (T, 6) by the library [N]."""
    _, pose, twist, acceleration = motion(path)
    return model(axes, slender).inverse_dynamics(pose, twist, acceleration, friction=friction)


@cache
def forces(axes: str, path: int, name: str, slender: bool = False) -> Array:
    """Actuator forces (T, 6) by one of the paper's models [N]."""
    p, at = parameters(axes, slender), motion(path)
    if name == "printed compact":
        return compact_forces(p, at)
    return eq.forces(p, at, CHOICES[name])


CHOICES = {
    "printed improved": eq.PRINTED,
    "corrected improved": eq.CORRECTED,
    "classic": eq.CLASSIC,
    "no spin": replace(eq.CORRECTED, spin=False),
    "shifted pods": replace(eq.CORRECTED, shifted_pods=True),
    "shifted platform": replace(eq.CORRECTED, shifted_platform=True),
    "shifted pods, own axes": replace(eq.CORRECTED, shifted_pods=True, leg_frame=True),
    "shifted platform, own axes": replace(eq.CORRECTED, shifted_platform=True, leg_frame=True),
}


def error(axes: str, path: int, name: str, slender: bool = False) -> float:
    """Largest force error of a model on a path over the largest force [%]."""
    truth = exact(axes, path, slender)
    return 100 * peak_ratio(forces(axes, path, name, slender) - truth, truth)


@dataclass(frozen=True)
class Range:
    """Smallest and largest over the choices of axes."""

    low: float
    high: float


def error_range(path: int, name: str, slender: bool = False) -> Range:
    """Range of the errors over the choices of axes [%]."""
    found = [error(axes, path, name, slender) for axes in AXES]
    return Range(min(found), max(found))
