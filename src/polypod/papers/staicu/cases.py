"""Staicu et al.: one second of (5) by the library's model and by the paper's equations, computed once each."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...arrays import Array
from ...description import Robot
from ...files import load
from ...model import Model, PlatformMotion
from ...model.results import Reactions
from ...motion import PUBLISHED, Coordinates, IndependentCoordinates, Path
from ..shared.arrays import peak
from . import printed as eq
from .printed import Parameters

SAMPLES = 1001


@cache
def model() -> Model:
    """The library's model of the robot."""
    return Model(load("staicu"))


@cache
def parameters() -> Parameters:
    """The numbers the equations take."""
    return Parameters.of(load("staicu"))


@cache
def curve() -> Path:
    """y, z, theta over the second, (5)."""
    trajectory = PUBLISHED["staicu-path"].trajectory
    assert isinstance(trajectory, IndependentCoordinates)
    return trajectory.path


@cache
def times() -> Array:
    """Evenly spaced times of the one second of (5) (T,) [s]."""
    return curve().even_times(SAMPLES)


@cache
def path() -> Coordinates:
    """y, z, theta and their derivatives, (5)."""
    return curve().at(times())


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
    """Joint reactions along (5), from Newton-Euler."""
    return model().reactions(*motion())


def error(*printed: str) -> float:
    """Largest force error on (5) of the equations with some lines as printed [N]."""
    return peak(eq.forces(parameters(), path(), frozenset(printed)) - exact())


def work() -> float:
    """Work of the actuators over the second [J], by a Gauss rule: the integrand is smooth, so that it is exact."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    pose, twist, acceleration = model().motion(*curve().at(0.5 * (nodes + 1)))
    power = model().inverse_dynamics(pose, twist, acceleration) * model().rates(pose, twist)
    return float(0.5 * weights @ power.sum(axis=-1))


def other_platform(com: tuple[float, float, float], about: str, frame: str) -> Array:
    """Actuator forces on (5) if J_3 is about another point and in other axes [N]."""
    base = load("staicu").model_dump()
    base["platform"] |= {"com": com, "about": about, "frame": frame, "inertia": (0.0269, 0.0658, 0.0501)}
    return Model(Robot.model_validate(base)).inverse_dynamics(*motion())
