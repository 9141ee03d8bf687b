"""Dry friction at rest: robots that it holds stay, and those that it stops end where an event-driven solution does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import polypod as pp
from event_driven import EventDriven
from polypod.control import ComputedTorque, Springs
from polypod.description import Friction
from polypod.motion import Motion, Trajectory
from polypod.simulation import EnergyWarning, simulate

Array = NDArray[np.float64]
STILL = np.zeros(6)
NONE: dict[str, float] = {}


def kim_ryu(slider: dict[str, float], passive: dict[str, float]) -> pp.Model:
    """kim-ryu with other friction in its sliders, and in its universal and spherical joints."""
    data = pp.load("kim-ryu").model_dump()
    for leg in data["legs"]:
        leg.update(slider_friction=slider, universal_friction=passive, spherical_friction=passive)
    return pp.Model(pp.Robot.model_validate(data))


@pytest.fixture(scope="module")
def dragging() -> pp.Model:
    """60 N a slider, where gravity needs 41 N."""
    return kim_ryu({"drag": 60.0}, NONE)


@pytest.fixture(scope="module")
def loaded() -> pp.Model:
    """Friction that depends on loads in every joint, much of it."""
    return kim_ryu({"coulomb": 1.5, "viscous": 0.001}, {"coulomb": 0.006, "viscous": 0.001})


@pytest.mark.parametrize("which", ["dragging", "loaded"])
def test_a_robot_held_by_friction_does_not_move(which: str, request: pytest.FixtureRequest) -> None:
    """Ten seconds without drive forces at 1 kHz: it stays to rounding, and no energy appears."""
    model = request.getfixturevalue(which)
    result = simulate(model, duration=10.0 if which == "dragging" else 1.0, rate=1000, output=0.1)
    assert np.abs(result.pose.values - result.pose.values[0]).max() < 1e-12
    assert float(abs(result.energy_residual).max()) < 1e-12
    assert not [name for name in result if name == "event_time"]


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_it_is_held_with_variable_steps_too(dragging: pp.Model, method: str) -> None:
    result = simulate(dragging, duration=1.0, method=method)
    assert np.abs(result.pose.values[-1] - result.pose.values[0]).max() < 1e-12
    assert len(result.time) < 5000


def test_a_platform_with_dry_friction_in_its_passive_joints_only_is_held() -> None:
    """The forces that hold it against gravity, and a moment that its joints can bear without moving."""
    model = kim_ryu({"coulomb": 1e-6, "viscous": 0.001}, {"coulomb": 0.02, "viscous": 0.001})
    hold = model.inverse_dynamics(model.robot.home.matrix, STILL, STILL, friction=False)
    result = simulate(model, hold, duration=0.5, rate=1000, wrench=[0, 0, 3.0, 0.5, 0, 0.5])
    assert np.abs(result.pose.values[-1] - result.pose.values[0]).max() < 1e-9
    free = simulate(model, hold, duration=0.1, rate=1000, wrench=[0, 0, 60.0, 0.5, 0, 0.5])
    assert np.abs(free.pose.values[-1] - free.pose.values[0]).max() > 1e-3


@pytest.fixture(scope="module")
def stopped(dragging: pp.Model) -> tuple[Array, Array, Array, Array]:
    """Start twist, force, and where it ends by events: six joints come to rest one after another."""
    home, twist = dragging.robot.home.matrix, np.array([0.0, 0.0, 0.3, 0.1, -0.05, 0.1])
    hold = dragging.inverse_dynamics(home, STILL, STILL, friction=False)
    pose, end, times = EventDriven(dragging, np.full(6, 60.0), lambda t: hold).run(home, twist, 0.05)
    assert len(times) == 7
    assert np.abs(end).max() < 1e-9
    return twist, hold, pose, end


@pytest.mark.parametrize(
    ("how", "near"),
    [
        # a step is cut where a joint comes to rest, to second order in what is left of it
        ({"rate": 1000.0}, 5e-9),
        ({"rate": 250.0, "step": 4e-3}, 2e-8),
        ({"method": "RK4"}, 5e-9),
        # half of (0.1 ms)^2 times 12 m/s^2
        ({"method": "DOP853"}, 1e-7),
    ],
)
def test_stopping_agrees_with_an_event_driven_solution(
    dragging: pp.Model, stopped: tuple[Array, Array, Array, Array], how: dict[str, Any], near: float
) -> None:
    twist, hold, pose, _ = stopped
    result = simulate(dragging, hold, twist=twist, duration=0.05, **how)
    assert np.abs(result.pose.values[-1] - pose).max() < near
    assert np.abs(result.twist.values[-1]).max() < 1e-8
    assert float(abs(result.energy_residual).max()) < 1e-7 * float(result.work_friction[-1])


def test_forces_as_functions_are_cut_like_constant_ones(
    dragging: pp.Model, stopped: tuple[Array, Array, Array, Array]
) -> None:
    twist, hold, pose, _ = stopped
    result = simulate(dragging, lambda t, m: hold, twist=twist, duration=0.05, method="RK4")
    assert np.abs(result.pose.values[-1] - pose).max() < 5e-9


def test_reversals_agree_with_an_event_driven_solution(dragging: pp.Model) -> None:
    """Thrown against forces stronger than friction: joints come to rest and go back at once, or stick in between."""
    home, twist = dragging.robot.home.matrix, np.array([0.02, 0.0, 0.25, 0.1, -0.05, 0.1])
    hold = dragging.inverse_dynamics(home, STILL, STILL, friction=False)
    force = hold - np.array([95.0, 50.0, 95.0, 80.0, 95.0, 70.0]) * np.sign(dragging.rates(home, twist))
    pose, end, times = EventDriven(dragging, np.full(6, 60.0), lambda t: force).run(home, twist, 0.03)
    assert len(times) >= 6
    result = simulate(dragging, force, twist=twist, duration=0.03, rate=1000)
    # six times a rate that friction stops within 1e-3 of a step, for the time that is left
    assert np.abs(result.pose.values[-1] - pose).max() < 5e-8
    assert np.abs(result.twist.values[-1] - end).max() < 1e-5 * np.abs(end).max()


def test_a_dwell_under_computed_torque_has_no_jumps(model_of: Any) -> None:
    """At rest on a goal: the force changes by less than 0.1 N from one sample to the next."""

    class Dwell(Trajectory):
        duration = 0.3

        def evaluate(self, t: Array) -> Motion:
            pose = np.broadcast_to(model.robot.home.matrix, (*t.shape, 4, 4))
            zero = np.zeros((*t.shape, 6))
            return Motion(t, pose, zero, zero)

    model = model_of("kim-ryu")
    off = model.robot.home.matrix.copy()
    off[:3, 3] += [1e-4, 0.0, 1e-4]
    result = simulate(model, ComputedTorque(model, Dwell()), pose=off, duration=0.3, rate=1000)
    jumps = np.abs(np.diff(result.force.values[50:], axis=0))
    assert jumps.max() < 0.1
    assert np.abs(result.twist.values[-1]).max() < 1e-9


def test_energy_from_nowhere_is_a_warning(model_of: Any) -> None:
    """Springs of 200 rad/s in steps of 10 ms."""
    model = model_of("lopes")
    hold = model.inverse_dynamics(model.robot.home.matrix, STILL, STILL, friction=False)
    hung = Springs(1e5, model.inverse_kinematics(model.robot.home.matrix), preload=hold)
    twist = [0.02, 0.0, 0.05, 0.0, 0.1, 0.0]
    with pytest.warns(EnergyWarning, match=r"J appear from nowhere, of .* J that are moved"):
        simulate(model, hung, twist=twist, duration=0.1, method="RK4", step=5e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(model, hung, twist=twist, duration=0.1, method="RK4", step=2e-4)


@pytest.mark.parametrize("how", [{"rate": 1000.0}, {"rate": 200.0}, {}])
def test_no_singularity_is_passed_unseen(how: dict[str, Any], model_of: Any) -> None:
    """Random constant forces on a robot without limits: where det J has another sign, the simulation has ended."""
    model, rng = model_of("long"), np.random.default_rng(7)
    model = model.rigid if model.robot.flexible else model
    home = model.robot.home.matrix
    hold = model.inverse_dynamics(home, STILL, STILL, friction=False)
    start = np.linalg.det(model.jacobian(home))
    seen = 0
    for factor in (2.0, *rng.uniform(-2.0, 3.0, size=(5, 6))):
        result = simulate(model, factor * hold, duration=0.8, friction=False, **how)
        sides = np.linalg.det(model.jacobian(result.pose.values[:-1])) * start
        assert (sides > 0).all()
        seen += result.attrs["ended"].startswith("singularity")
    assert seen


def test_a_limit_inside_a_long_step_is_seen(model_of: Any) -> None:
    """A rail's end passed and left again between two samples half a second apart."""
    model = model_of("kim-ryu")
    hold = model.inverse_dynamics(model.robot.home.matrix, STILL, STILL, friction=False)
    up = np.array([0.0, 0.0, 1.2, 0.0, 0.0, 0.0])
    fine = simulate(model, 0.4 * hold, twist=up, duration=0.4, rate=1000, friction=False)
    coarse = simulate(model, 0.4 * hold, twist=up, duration=0.4, rate=2.5, friction=False)
    assert fine.attrs["ended"].startswith("limit")
    assert coarse.attrs["ended"] == fine.attrs["ended"]


def test_a_delta_with_friction_in_ball_joints_and_motors_is_held() -> None:
    """Rods that spin freely, a platform that follows its legs: held short of equilibrium, and balanced in motion."""
    robot = pp.load("delta")
    legs = []
    for leg in robot.legs:
        joints = [
            joint.model_copy(update={"friction": Friction(drag=0.3 if joint.actuated else 0.002)})
            for joint in leg.joints
        ]
        legs.append(leg.model_copy(update={"joints": tuple(joints)}))
    model = pp.Model(robot.model_copy(update={"legs": tuple(legs)}))
    home = model.robot.home.matrix
    hold = model.inverse_dynamics(home, STILL, STILL, friction=False)
    # 1 % of 17 N m is less than 0.3 N m
    held = simulate(model, 0.99 * hold, duration=0.1, rate=1000)
    assert np.abs(held.pose.values[-1] - home).max() < 1e-12
    moved = simulate(model, 0.9 * hold, duration=0.05, rate=1000, twist=[0.3, 0.1, 0.2, 0, 0, 0])
    assert float(abs(moved.energy_residual).max()) < 1e-8 * float(moved.work_friction[-1])
