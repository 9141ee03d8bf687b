"""Quality in digits: rounding over the quality of an answer bounds its error, near every edge, by fifty digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polypod as pp
from fuzz.exact import Exact
from polypod.errors import RobotFileError, StateError
from support.refusals import refused

EPS = float(np.finfo(float).eps)
BOUND = 30.0
"""Errors are at most this many roundings over the quality: 0.8 near the edge of reach."""


def judged(model: pp.Model, pose: Any) -> tuple[float, float]:
    """Quality of the forces of a motion at a pose, and their error relative to the largest."""
    rng = np.random.default_rng(1)
    twist, acceleration = 0.1 * rng.normal(size=(2, 6))
    rows = [row[None] for row in (pose, twist, acceleration, np.zeros(6))]
    force, quality = model.kernel("inverse_dynamics", friction=False)(*rows)
    exact = Exact(model.robot).forces(pose, twist, acceleration, np.zeros(6))
    return float(quality[0]), float(np.abs(force[0] - exact).max() / np.abs(exact).max())


def answers(model: pp.Model, pose: Any) -> bool:
    try:
        model.inverse_dynamics(pose, np.zeros(6), np.zeros(6), friction=False)
    except StateError:
        return False
    return True


def at_the_edge_of_reach(gap: float) -> tuple[pp.Model, Any]:
    """A hexaslide whose first link is perpendicular to its rail at home, but for a small part of its length."""
    robot = pp.load("kim-ryu")
    leg, rail = robot.legs[0], np.array(robot.legs[0].rail_direction)
    tip = np.array(robot.home.position) + np.array(leg.platform) - np.array(leg.rail_start)
    off = float(np.linalg.norm(tip - (rail @ tip) * rail))
    short = leg.model_copy(update={"length": off / np.sqrt(1 - gap**2)})
    model = pp.Model(robot.model_copy(update={"name": "edge", "legs": (short, *robot.legs[1:])}))
    return model, robot.home.matrix


@pytest.mark.parametrize("gap", [1e-1, 1e-3])
def test_the_error_at_the_edge_of_reach_is_what_the_quality_says(gap: float) -> None:
    quality, error = judged(*at_the_edge_of_reach(gap))
    assert quality < 2 * gap**2
    assert error < BOUND * EPS / quality


@pytest.mark.parametrize("gap", [1e-5, 1e-6, 1.01e-7])
def test_nothing_is_answered_where_half_the_digits_are_gone(gap: float) -> None:
    """A margin of 1.01e-7 passed with an error of 1.5 %."""
    with refused(RobotFileError, "home", code="singular"):
        at_the_edge_of_reach(gap)


def with_short_leg(length: float) -> tuple[pp.Model, Any]:
    """A hexapod whose first platform joint is almost where its base joint is."""
    robot = pp.load("long")
    first, direction = robot.legs[0], np.array([0.6, 0.0, 0.8])
    tip = np.array(robot.home.position) + np.array(robot.home.rotation) @ np.array(first.platform)
    base = tuple((tip - 0.3 * direction).tolist())
    leg = first.model_copy(update={"base": base, "axis": (0.0, 1.0, 0.0), "length": None})
    pose = robot.home.matrix.copy()
    pose[:3, 3] -= (0.3 - length) * direction
    return pp.Model(robot.model_copy(update={"name": "short", "legs": (leg, *robot.legs[1:])})), pose


def test_the_error_of_a_short_leg_is_what_the_quality_says() -> None:
    quality, error = judged(*with_short_leg(1e-4))
    assert quality < 1e-3
    assert error < BOUND * EPS / quality


def test_a_leg_of_no_length_is_not_answered() -> None:
    """1e-12 m gave forces of 1e36 N without a word."""
    assert not answers(*with_short_leg(1e-12))


@pytest.mark.parametrize(("com", "inertia", "answered"), [(0.3, 1e-2, True), (0.5, 1e-12, False), (5.0, 1e-12, False)])
def test_tiny_inertias_far_from_the_origin_are_not_answered(com: float, inertia: float, answered: bool) -> None:
    """Massless legs; a platform of moments 1e-12 kg m^2 at 5 m passed with an error of 10 %."""
    robot = pp.load("long")
    nothing = pp.Body(mass=0.0)
    legs = tuple(leg.model_copy(update={"lower": nothing, "upper": nothing, "rotor_mass": 0.0, "cross_inertia": 0.0})
                 for leg in robot.legs)  # fmt: skip
    body = pp.Body.model_validate({"mass": 1.0, "com": [0.2, 0.1, com], "inertia": [inertia] * 3})
    model = pp.Model(robot.model_copy(update={"name": "tiny", "platform": body, "legs": legs}))
    pose, still, acceleration = robot.home.matrix, np.zeros(6), np.arange(1.0, 7.0)
    force = model.inverse_dynamics(pose, still, acceleration, friction=False)
    if not answered:
        with pytest.raises(StateError):
            model.direct_dynamics(pose, still, force, friction=False)
    else:
        back = model.direct_dynamics(pose, still, force, friction=False)
        assert np.abs(back - acceleration).max() < 1e-11
