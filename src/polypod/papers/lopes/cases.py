"""Lopes: the path P1 -> P2 -> P1 by the library's models and by the paper's equations, computed once each."""

from __future__ import annotations

from functools import cache

from ...arrays import Array
from ...description import Body, Robot
from ...files import load
from ...model import Model
from ...motion import Motion, Published
from ..shared.arrays import peak_ratio
from . import printed as eq
from .printed import Parameters

SAMPLES = 401
HALVES = (0.5, 1.0, 2.0, 4.0)
"""Times for one way in s."""


@cache
def model(simplify: str | None = None) -> Model:
    """The library's model, complete or simplified."""
    return Model(load("lopes"), simplify=simplify)  # type: ignore[arg-type]


@cache
def shared_out() -> Robot:
    """The robot of (86)-(91): links without mass, their end masses on platform and actuators."""
    base, heavier = load("lopes"), parameters().shared_out()
    ixx, iyy, izz = map(float, heavier.I_P)
    platform = base.platform.model_copy(
        update={"mass": heavier.m_p, "inertia": ((ixx, 0.0, 0.0), (0.0, iyy, 0.0), (0.0, 0.0, izz))}
    )
    change = {"slider": Body(mass=heavier.m_a), "link": Body(mass=0.0), "end_masses": None}
    legs = tuple(leg.model_copy(update=change) for leg in base.legs)
    return Robot.model_validate(base.model_copy(update={"platform": platform, "legs": legs}).model_dump())


@cache
def parameters() -> Parameters:
    """The numbers the equations take."""
    return Parameters.of(load("lopes"))


@cache
def motion(half: float = 1.0) -> Motion:
    """There and back, ``half`` s each way."""
    trajectory = Published(name="lopes-there-and-back", pace=1 / half)
    return trajectory.at(trajectory.even_times(SAMPLES))


@cache
def exact(half: float = 1.0, simplify: str | None = None, formulation: str = "virtual-power") -> Array:
    """Actuator forces (T, 6) by the library [N]."""
    _, pose, twist, acceleration = motion(half)
    return model(simplify).inverse_dynamics(pose, twist, acceleration, formulation=formulation)


@cache
def paper(half: float = 1.0, links: str = "complete") -> Array:
    """Actuator forces (T, 6) by the corrected equations [N]; ``lumped`` is (81)-(85), ``shared out`` (86)-(91)."""
    q = parameters()
    chosen = {"complete": q, "lumped": q.lumped(), "shared out": q.shared_out()}[links]
    return eq.forces(chosen, motion(half))


def simplified_error(half: float) -> float:
    """Largest difference of the simplified forces from the complete ones over the largest force [%]."""
    return 100 * peak_ratio(paper(half, "shared out") - paper(half), paper(half))
