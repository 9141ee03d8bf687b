"""Kim and Ryu: the circle and the motion (33) by the library's models and by the paper's equations, each once."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...arrays import Array
from ...description import Friction, Robot
from ...files import load
from ...model import Model
from ...motion import Motion, Published
from ..shared.arrays import Platform, peak
from . import printed as eq
from .printed import KINDS, Parameters, rotation

SAMPLES = 601
SPEEDS = (20, 40, 60)
AXES = ("horizontal", "rail")
"""Choices of alpha_i, the universal joint's axis on the slider: u_i = z x a_i (the library's), or the rail itself."""

MODELS = {
    "exact": {},
    "explicit": {"friction_coupling": "explicit"},
    "slender": {"simplify": "slender-links"},
    "no link inertia": {"simplify": "no-link-inertia"},
}

ANGLES = np.array([0.1, -0.08, 0.15])
"""A general orientation [Psi theta phi] in rad."""


@cache
def robot(axes: str = "horizontal", friction_in: str = "all") -> Robot:
    """The robot with a choice of alpha, and friction in all joints or in one kind of them."""
    base = load("kim-ryu")
    without = {f"{kind}_friction": Friction() for kind in KINDS if friction_in not in ("all", kind)}
    turn = [{"axis": leg.rail_direction} if axes == "rail" else {} for leg in base.legs]  # type: ignore[attr-defined]
    legs = [leg.model_copy(update=without | new) for leg, new in zip(base.legs, turn, strict=True)]
    return Robot.model_validate(base.model_copy(update={"legs": tuple(legs)}).model_dump())


@cache
def model(axes: str = "horizontal", name: str = "exact", friction_in: str = "all") -> Model:
    """A library model of it, the sign of friction taken exactly."""
    return Model(robot(axes, friction_in), friction_width=0.0, **MODELS[name])  # type: ignore[arg-type]


@cache
def parameters(axes: str = "horizontal") -> Parameters:
    """The numbers the equations take."""
    return Parameters.of(robot(axes))


@cache
def motion(rpm: int) -> Motion:
    """The circle at a speed; 0 stands for the motion (33)."""
    trajectory = Published(name="kim-ryu-circle", pace=rpm / 40) if rpm else Published(name="kim-ryu-acceleration")
    return trajectory.at(trajectory.even_times(SAMPLES))


@cache
def general_state() -> Motion:
    """One state that moves and turns in all directions, which the paper's circle does not."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation(np.array([-0.12, 0.05, -0.1])), (-0.06, 0.03, 0.8)
    twist = np.array([0.3, 0.5, -0.4, -1.0, 0.7, 1.3])
    acceleration = np.array([2.0, 3.0, -3.0, -4.0, 6.0, 3.0])
    return Motion(np.zeros(1), pose[None], twist[None], acceleration[None])


@cache
def exact(
    rpm: int, axes: str = "horizontal", name: str = "exact", friction: bool = False, friction_in: str = "all"
) -> Array:
    """Actuator forces (T, 6) by the library [N]."""
    _, pose, twist, acceleration = motion(rpm)
    return model(axes, name, friction_in).inverse_dynamics(pose, twist, acceleration, friction=friction)


@cache
def paper(rpm: int, axes: str = "horizontal") -> Array:
    """Actuator forces (T, 6) by (21)-(29) corrected, without friction [N]."""
    return eq.forces(parameters(axes).only(), motion(rpm)).tau


@cache
def legs(rpm: int, axes: str = "horizontal") -> eq.Legs:
    """Motion of sliders and links by (4)-(19) corrected."""
    return eq.legs(parameters(axes), Platform.of(motion(rpm)))


def link_inertia(rpm: int) -> Array:
    """Share of link inertia in the actuator forces (T, 6) [N]."""
    return exact(rpm) - exact(rpm, name="no link inertia")


def friction_force(rpm: int, kind: str) -> Array:
    """What friction in one kind of joint adds to the actuator forces (T, 6) [N]."""
    return exact(rpm, friction=True, friction_in=kind) - exact(rpm)


def share(part: Array, rpm: int) -> float:
    """Largest part over the largest frictionless force [%]."""
    return 100 * peak(part) / peak(exact(rpm))
