"""Staicu et al.: one second of (5) by the library's model and by the paper's equations, computed once each."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...description import Robot
from ...files import load
from ...model import Model, PlatformMotion
from ...model.reactions import Reactions
from ...trajectories import Coordinates
from ...trajectories.published import staicu_path
from ..arrays import Array, peak
from . import printed as eq
from .data import Parameters

SAMPLES = 1001


@cache
def model() -> Model:
    """The library's model."""
    return Model(load("staicu"))


@cache
def parameters() -> Parameters:
    """The numbers the equations take."""
    return Parameters.of(load("staicu"))


@cache
def times() -> Array:
    """Samples of the second."""
    return staicu_path().times(SAMPLES)


@cache
def path() -> Coordinates:
    """y, z, theta and their derivatives, (5)."""
    return staicu_path().at(times())


@cache
def motion() -> PlatformMotion:
    """The platform's motion on (5)."""
    return model().motion(*path())


@cache
def exact(formulation: str = "virtual-power") -> Array:
    """Actuator forces (T, 3) by the library [N]."""
    return model().inverse_dynamics(*motion(), formulation=formulation)


@cache
def reactions() -> Reactions:
    """Joint reactions on (5)."""
    return model().reactions(*motion())


def error(*printed: str) -> float:
    """Largest force error on (5) of the equations with some lines as printed [N]."""
    return peak(eq.forces(parameters(), path(), frozenset(printed)) - exact())


def work() -> float:
    """Work of the actuators over the second [J], by a Gauss rule: the integrand is smooth, so that it is exact."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    pose, twist, acceleration = model().motion(*staicu_path().at(0.5 * (nodes + 1)))
    power = model().inverse_dynamics(pose, twist, acceleration) * model().rates(pose, twist)
    return float(0.5 * weights @ power.sum(axis=-1))


def other_platform(com: tuple[float, float, float], about: str, frame: str) -> Array:
    """Actuator forces on (5) if J_3 is about another point and in other axes [N]."""
    base = load("staicu").model_dump()
    base["platform"] |= {"com": com, "about": about, "frame": frame, "inertia": (0.0269, 0.0658, 0.0501)}
    return Model(Robot.model_validate(base)).inverse_dynamics(*motion())
