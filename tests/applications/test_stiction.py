"""Joints held by dry friction, more of them than the robot has degrees of freedom, against a convex solver's
accelerations."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

import polypod as pp
from polypod.friction import SlidingJoint, friction_iteration
from polypod.simulation import simulate

Array = NDArray[np.float64]
TAU, SIZES = 1e-3, (3, 1, 3, 3, 1, 3, 3, 1, 3)
PARTS = [slice(a, b) for a, b in pairwise(np.cumsum((0, *SIZES)).tolist())]


def solved(rows: Array, limits: Array, mass: Array, push: Array) -> tuple[bool, Array]:
    """Whether iterations from rest end, and the acceleration that they end with."""
    plain = cast(Any, SimpleNamespace(static_exceeds_kinetic=False))
    joints = [
        SlidingJoint(("leg", str(k)), plain, ca.SX.zeros(size), ca.SX.zeros(size), ca.SX(ca.DM(rows[part])))
        for k, (size, part) in enumerate(zip(SIZES, PARTS, strict=True))
    ]
    forces, modes = ca.SX.sym("forces", sum(SIZES)), ca.SX.sym("modes", len(SIZES))
    iterations, tries = ca.SX.sym("iterations"), ca.SX.sym("tries")
    known = [ca.SX(limit) for limit in limits], ca.SX(ca.DM(mass)), ca.SX(ca.DM(push))
    held = friction_iteration(joints, *known, forces, modes, ca.SX(0), iterations, tries, ca.SX(TAU))
    results = [held.forces, held.modes, held.tries, held.converged, held.change]
    function = ca.Function("round", [forces, modes, tries, iterations], results)
    numbers: list[Any] = [np.zeros(sum(SIZES)), np.ones(len(SIZES)), 0.0]
    for k in range(100):
        *numbers, converged, change = function(*numbers, k)
        if converged:
            return True, np.array(change).ravel()
    return False, np.zeros(len(mass))


def cost(a: Array, rows: Array, limits: Array, mass: Array, push: Array) -> float:
    """What friction's law makes least: a.Ma/2 - a.push + sum limit |G a|."""
    slides = rows @ a
    resisting = sum(limit * np.linalg.norm(slides[part]) for limit, part in zip(limits, PARTS, strict=True))
    return float(a @ mass @ a / 2 - a @ push + resisting)


@pytest.mark.parametrize("seed", range(4))
def test_more_joints_than_dof_that_are_about_to_slide_are_solved(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.zeros((sum(SIZES), 3))
    for k, (size, part) in enumerate(zip(SIZES, PARTS, strict=True)):
        ways = 2 if k % 3 == 2 else 1  # slides and hinges go one way, balls two
        rows[part] = rng.standard_normal((size, ways)) @ rng.standard_normal((ways, 3))
    limits, root = rng.uniform(0.02, 0.2, len(SIZES)), rng.standard_normal((3, 3))
    mass = root @ root.T + np.eye(3)
    # what all joints resist with while the robot moves along a line just sets it moving
    line = rng.standard_normal(3)
    slides = [rows[part] @ line for part in PARTS]
    each = zip(limits, PARTS, slides, strict=True)
    at_limit = sum((limit * rows[part].T @ (w / np.linalg.norm(w)) for limit, part, w in each), np.zeros(3))
    for share in (0.9, 0.999, 1.0, 1.001, 1.1, 2.0):
        push = at_limit * share
        converged, a = solved(rows, limits, mass, push)
        assert converged, share
        found = cost(a, rows, limits, mass, push)
        best = minimize(cost, a, (rows, limits, mass, push), "Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-16})
        assert found <= min(best.fun, 0.0) + 1e-9 * np.abs(push).max(), share


def test_joints_that_hold_nearly_the_same_motion_do_not_press_against_each_other_within_a_step() -> None:
    """At later stages of a step what held goes on to hold, but not with more than a joint has."""
    rows = np.array([[1.0, 0.0], [1.0, 1e-4]])
    plain = cast(Any, SimpleNamespace(static_exceeds_kinetic=False))
    rates = 0.0, 1e-4  # that only motions along the second degree of freedom end, ten thousand times as large
    joints = [
        SlidingJoint(("leg", str(k)), plain, ca.SX(rate), ca.SX(0), ca.SX(ca.DM(rows[k : k + 1])))
        for k, rate in enumerate(rates)
    ]
    forces, modes, tries, iterations = (
        ca.SX.sym("forces", 2),
        ca.SX.sym("modes", 2),
        ca.SX.sym("tries"),
        ca.SX.sym("iterations"),
    )
    known = [ca.SX(1), ca.SX(1)], ca.SX.eye(2), ca.SX([1.5, 0.0])
    held = friction_iteration(joints, *known, forces, modes, ca.SX(1), iterations, tries, ca.SX(TAU))
    results = [held.forces, held.modes, held.tries, held.converged]
    function = ca.Function("round", [forces, modes, tries, iterations], results)
    numbers: list[Any] = [[0.75, 0.75], [1.0, 1.0], 0.0]  # both held at the first stage
    for k in range(10):
        *numbers, converged = function(*numbers, k)
    assert converged
    assert np.abs(np.array(numbers[0])).max() <= 2.0


def rubbing_tripod() -> tuple[pp.Model, Array]:
    """3-RPS with Coulomb friction in all nine joints, and the forces that carry its weight."""
    data = pp.load("3-rps").model_dump(exclude_unset=True)
    data["legs"] = [leg.model_dump(exclude_unset=True) | {"kind": "chain"} for leg in pp.load("3-rps").legs]
    for leg in data["legs"]:
        for joint in leg["joints"]:
            joint["friction"] = {"viscous": 0.01, "coulomb": 0.05 if joint["kind"] == "prismatic" else 0.004}
    model = pp.Model(pp.Robot.model_validate(data))
    still = np.zeros(6)
    return model, model.inverse_dynamics(model.robot.home.matrix, still, still, friction=False)


def swaying(weight: Array, seed: int) -> Any:
    """Forces that sway about a weight, each at its own rate, by some hundredths to tenths of it."""
    rng = np.random.default_rng(seed)
    most, rate = 28.0 * 10 ** rng.uniform(-2, -0.5) * rng.uniform(-1, 1, 3), 2 * np.pi * rng.uniform(2, 20, 3)
    return lambda time, _: weight + most * np.sin(rate * time)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::polypod.simulation.errors.EnergyWarning")
def test_balls_near_home_that_hardly_turn_about_one_axis_stop_no_simulation() -> None:
    """Their friction about it decides loads, is shared anew in every round, or presses joints against each other."""
    model, weight = rubbing_tripod()
    for rate, step, seeds in ((200.0, 1e-3, (18, 33)), (1000.0, 2e-4, (26, 39)), (1000.0, 1e-3, (60,))):
        for seed in seeds:
            simulate(model, swaying(weight, seed), duration=0.3, rate=rate, step=step)


@pytest.mark.long
def test_a_robot_with_coulomb_friction_in_every_joint_reverses_without_end() -> None:
    model, weight = rubbing_tripod()
    for seed in range(20):
        run = simulate(model, swaying(weight, seed), duration=0.1, rate=5000.0, step=2e-4)
        moved = np.abs(run.work_actuators).max() + np.abs(run.work_friction).max()
        # 20 nJ: a robot that friction lets go by micrometres only
        assert np.abs(run.energy_residual).max() <= 3e-5 * moved + 2e-8
