"""Every number of a model against Pinocchio's tree with loops, which shares only the robot's data with it.

Each robot comes twice: as published, and with random bodies on the same geometry, since published bodies are often so
symmetric that a wrong axis or reference point does not show.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import polypod as pp
from polypod.errors import UnphysicalWarning
from support.engines.oracle import Oracle, State, states, with_random_bodies
from support.states import EACH_KIND, papers_robots

# Both sides round in double precision, and the condition of J (below 1e3 in these states) magnifies it: 5e-14 is
# reached. A leg body's mass, centre or tensor changed by 1e-6 moves the forces by over 1e-11, if it does work at all.
TOLERANCE = 1e-12
COUNT = 20
CASES = [(name, bodies) for name in papers_robots() for bodies in ("published", "random")]
# Random bodies hide nothing behind zeros and symmetries.
KEPT = [("lopes", "published"), *((name, "random") for name in EACH_KIND)]


class Case(NamedTuple):
    """A robot by both, and the states they are compared in."""

    model: pp.Model
    oracle: Oracle
    states: list[State]
    batch: State


@cache
def case(name: str, bodies: str) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnphysicalWarning)
        robot = pp.load(name)
    if bodies == "random":
        robot = with_random_bodies(robot, seed=11)
    oracle = Oracle(robot)
    sampled = states(robot, oracle, COUNT, seed=12)
    return Case(pp.Model(robot), oracle, sampled, State(*map(np.array, zip(*sampled, strict=True))))


def assert_equal(got: Any, wanted: list[Any], tolerance: float = TOLERANCE) -> None:
    """Largest difference in each state over its largest wanted value."""
    expected: NDArray[np.float64] = np.array(wanted, dtype=float)
    assert np.shape(got) == expected.shape
    rows = expected.reshape(len(expected), -1)
    errors = np.abs(np.reshape(got, rows.shape) - rows).max(axis=1) / np.abs(rows).max(axis=1)
    assert errors.max() < tolerance, f"state {errors.argmax()} is off by {errors.max():.3g} of its largest value"


@pytest.mark.parametrize(
    ("name", "bodies"), [pytest.param(*case, marks=() if case in KEPT else pytest.mark.long) for case in CASES]
)
class TestAgainstPinocchio:
    def test_actuated_coordinates(self, name: str, bodies: str) -> None:
        model, oracle, sampled, batch = case(name, bodies)
        q, qdot, qddot = zip(*(oracle.actuated(s.pose, s.twist, s.acceleration) for s in sampled), strict=True)
        assert_equal(model.inverse_kinematics(batch.pose), list(q))
        assert_equal(model.rates(batch.pose, batch.twist), list(qdot))
        assert_equal(model.accelerations(batch.pose, batch.twist, batch.acceleration), list(qddot))

    def test_jacobian(self, name: str, bodies: str) -> None:
        model, oracle, sampled, batch = case(name, bodies)
        assert_equal(model.jacobian(batch.pose), [oracle.jacobian(s.pose) for s in sampled])

    def test_inverse_dynamics(self, name: str, bodies: str) -> None:
        model, oracle, sampled, batch = case(name, bodies)
        wanted = [oracle.inverse_dynamics(*s[:4]) for s in sampled]
        assert_equal(model.inverse_dynamics(*batch[:4], friction=False), wanted)

    def test_direct_dynamics(self, name: str, bodies: str) -> None:
        model, oracle, sampled, (pose, twist, _, wrench, force) = case(name, bodies)
        wanted = [oracle.direct_dynamics(s.pose, s.twist, s.force, s.wrench) for s in sampled]
        assert_equal(model.direct_dynamics(pose, twist, force, wrench, friction=False), wanted)

    def test_mass_matrix(self, name: str, bodies: str) -> None:
        model, oracle, sampled, batch = case(name, bodies)
        assert_equal(model.mass_matrix(batch.pose), [oracle.mass_matrix(s.pose) for s in sampled])

    def test_energy(self, name: str, bodies: str) -> None:
        model, oracle, sampled, batch = case(name, bodies)
        kinetic, potential = zip(*(oracle.energy(s.pose, s.twist) for s in sampled), strict=True)
        energy = model.energy(batch.pose, batch.twist)
        assert_equal(energy.kinetic, list(kinetic))
        assert_equal(energy.potential, list(potential))

    def test_single_state(self, name: str, bodies: str) -> None:
        model, oracle, sampled, _ = case(name, bodies)
        for state in sampled[:2]:
            got = model.inverse_dynamics(*state[:4], friction=False)
            assert_equal(got[None], [oracle.inverse_dynamics(*state[:4])])
