"""Dry friction at rest: robots that it holds stay, and those that it stops end where an event-driven solution does."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

import polypod as pp
from polypod.control import ComputedTorque, Springs
from polypod.description import Friction
from polypod.export import export_c
from polypod.motion import Motion, Trajectory
from polypod.simulation import EnergyWarning, SimulationError, simulate
from polypod.simulation.dynamics import FrictionIterate
from polypod.simulation.system import System
from support.engines.event_driven import EventDriven
from support.refusals import refused, warned
from support.states import mostly_long
from test_export_c import COMPILER, call, compiled

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
    """Friction that depends on loads in every joint; what it is in motion would not hold, only that at rest."""
    return kim_ryu({"coulomb": 0.9, "static": 1.7, "viscous": 0.001}, {"coulomb": 0.004, "static": 1.7})


@pytest.mark.parametrize("which", ["dragging", pytest.param("loaded", marks=pytest.mark.long)])
def test_a_robot_held_by_friction_does_not_move(which: str, request: pytest.FixtureRequest) -> None:
    """Thousands of steps without drive forces: it stays to rounding, and no energy appears."""
    model = request.getfixturevalue(which)
    result = simulate(model, duration=1.0, rate=1000, output=0.1)
    assert np.abs(result.pose.values - result.pose.values[0]).max() < 1e-12
    assert float(abs(result.energy_residual).max()) < 1e-12
    assert not [name for name in result if name == "event_time"]


def test_loads_are_found_as_soon_as_rounds_leave_too_little(loaded: pp.Model) -> None:
    """Changes that shrink by c/c_before leave c^2/(c_before - c); a change that is small by chance is no such end."""
    dynamics = System(loaded, friction=True).compiled.dynamics

    def found(before: float, change: float, iterations: int = 3) -> bool:
        numbers = ca.SX.zeros(dynamics.friction_size)
        numbers[-2 - dynamics.load_count : -2] = before
        old = ca.SX.ones(dynamics.load_count)
        iterate = FrictionIterate(numbers, ca.SX(1), ca.SX(iterations), ca.SX(1e-3))
        return bool(dynamics._relaxed_loads(old, old + change, iterate).converged)

    assert found(6e-7, 3e-8)  # 1.6e-9 left
    assert not found(6e-7, 3e-7)  # 3e-7
    assert not found(6e-7, 3e-8, iterations=0)  # what changed at another stage says nothing
    assert not found(1.0, 3e-6)  # by chance
    assert found(0.0, 9e-9)


@pytest.mark.parametrize("method", mostly_long(("DOP853", "Radau"), ("Radau",)))
def test_it_is_held_with_variable_steps_too(dragging: pp.Model, method: str) -> None:
    result = simulate(dragging, duration=0.3, method=method)
    assert np.abs(result.pose.values[-1] - result.pose.values[0]).max() < 1e-12
    assert len(result.time) < 1500


@pytest.mark.long
def test_a_joint_that_cannot_hold_by_its_static_friction_slides_with_its_kinetic() -> None:
    """The same joints, static friction 1.1 times kinetic: the robot falls as the exact law of sliding has it."""
    model = kim_ryu({"coulomb": 0.9, "static": 1.1, "viscous": 0.001}, {"coulomb": 0.004, "static": 1.1})
    result = simulate(model, duration=0.01, rate=1000)
    pose, twist = result.pose.values, result.twist.values
    found = pp.Model(model.robot, friction_width=0.0).direct_dynamics(pose[1:], twist[1:], np.zeros(6))
    assert np.linalg.norm(found[0]) > 1.0
    # twists by the trapezium of accelerations at the samples: curvature within 1 ms
    assert np.abs(np.diff(twist[1:], axis=0) - 0.5e-3 * (found[1:] + found[:-1])).max() < 1e-6 * np.abs(twist).max()


def slope(angle: float, friction: dict[str, float]) -> pp.Model:
    """2 kg on a slope, x downwards."""
    data = {
        "name": "slope", "gravity": [9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)], "home": {},
        "dof": [{"name": "x", "motion": "translation", "axis": [1, 0, 0]}],
        "platform": {"mass": 2.0, "inertia": [0.01, 0.01, 0.01]},
        "legs": [{"kind": "chain", "bodies": {}, "joints": [
            {"name": "slide", "kind": "prismatic", "between": ["base", "platform"], "at": [0, 0, 0], "axis": [1, 0, 0],
             "actuated": True, "friction": friction}]}],
    }  # fmt: skip
    return pp.Model(pp.Robot.model_validate(data))


@pytest.mark.parametrize("how", [{"rate": 1000.0}, {}])
@pytest.mark.parametrize("stribeck", [0.0, 0.05])
def test_a_mass_on_a_slope_breaks_away_where_the_closed_form_does(stribeck: float, how: dict[str, Any]) -> None:
    """Held while m g sin(angle) <= static mu N; then m x'' = m g sin(angle) - drag (1 + (s - 1) exp(-(x'/v)^2))."""
    drag, angle = 5.0, np.deg2rad(20.0)
    pull = 2.0 * 9.81 * np.sin(angle)
    more = {"stribeck_speed": stribeck} if stribeck else {}
    held = simulate(slope(angle, {"drag": drag, "static": 1.001 * pull / drag, **more}), duration=0.2, **how)
    assert abs(held.pose.values[-1, 0, 3]) < 1e-15
    static = 0.95 * pull / drag
    result = simulate(slope(angle, {"drag": drag, "static": static, **more}), duration=0.2, **how)
    speed = float(result.twist.values[-1, 0])
    if not stribeck:
        # with variable steps friction falls over a tenth of what it stops within 0.1 ms
        late = 0.0 if how else 3e-4
        assert speed == pytest.approx((pull - drag) / 2.0 * 0.2, rel=1e-12, abs=(pull - drag) / 2.0 * late)
        return
    time = quad(lambda w: 2.0 / (pull - drag * (1 + (static - 1) * np.exp(-((w / stribeck) ** 2)))), 0.0, speed)[0]
    # RK4 in steps of 1 ms; with variable steps the fall is over the root of 0.05^2 + 2.5e-5^2
    assert time == pytest.approx(0.2, rel=1e-6)


def test_inverse_dynamics_and_exported_c_follow_the_stribeck_curve(tmp_path: Path) -> None:
    """Force of a mass on a slope by hand, at rates about the Stribeck speed; direct dynamics gives it back."""
    model = slope(0.3, {"drag": 5.0, "static": 1.4, "stribeck_speed": 0.05, "viscous": 2.0})
    rates = np.array([-0.3, -0.05, 0.01, 0.05, 0.1])
    twist = np.zeros((5, 6))
    twist[:, 0] = rates
    poses, acceleration = np.tile(np.eye(4), (5, 1, 1)), np.tile([0.7, 0, 0, 0, 0, 0], (5, 1))
    force = model.inverse_dynamics(poses, twist, acceleration)
    curve = 5.0 * np.sign(rates) * (1 + 0.4 * np.exp(-((rates / 0.05) ** 2)))
    # the smooth sign over 1e-6 m/s is short by 5e-9 at 0.01 m/s, of 7 N
    assert force[:, 0] == pytest.approx(2.0 * 0.7 - 2.0 * 9.81 * np.sin(0.3) + 2.0 * rates + curve, abs=5e-8)
    back = model.direct_dynamics(poses, twist, force)
    assert back[:, 0] == pytest.approx(acceleration[:, 0], rel=1e-12)
    if COMPILER is None:
        return
    function = compiled(tmp_path, *export_c(model, "inverse_dynamics"))
    for k in range(5):
        rows = [np.ascontiguousarray(a) for a in (poses[k], twist[k], acceleration[k], np.zeros(6))]
        assert call(function, rows, [(1,), ()])[0] == pytest.approx(force[k], rel=1e-14)


def delta(friction: dict[str, float]) -> pp.Model:
    """The library's Delta with friction in its motors only."""
    robot = pp.load("delta")
    legs = []
    for leg in robot.legs:
        joints = [j.model_copy(update={"friction": Friction(**(friction if j.actuated else {}))}) for j in leg.joints]
        legs.append(leg.model_copy(update={"joints": tuple(joints)}))
    return pp.Model(robot.model_copy(update={"legs": tuple(legs)}))


@pytest.mark.long
@pytest.mark.parametrize("stribeck", [0.0, 0.5])
def test_static_and_kinetic_friction_agree_with_an_event_driven_solution(stribeck: float) -> None:
    """Three motors that stop one after another and stay, or go back as soon as static friction lets them."""
    model = delta({"drag": 3.0, "static": 1.5, **({"stribeck_speed": stribeck} if stribeck else {})})
    home, twist = model.robot.home.matrix, np.array([0.3, 0.1, 0.2, 0, 0, 0])
    hold = model.inverse_dynamics(home, STILL, STILL, friction=False)
    force = hold - np.array([5.2, 4.0, 4.0]) * np.sign(model.rates(home, twist))
    basis = np.eye(6)[:, :3]
    events = EventDriven(model, np.full(3, 3.0), lambda t: force, 1.5, stribeck, basis)
    pose, _, times = events.run(home, twist, 0.15)
    assert len(times) == 3
    # a joint is at rest below what friction stops within 1e-3 of a step; with variable steps it is stopped over 0.1 ms
    for how, near in (({"rate": 1000.0}, 1e-7), ({}, 1e-5)):
        result = simulate(model, force, twist=twist, duration=0.15, **how)
        assert np.abs(result.pose.values[-1] - pose).max() < near
        assert float(abs(result.energy_residual).max()) < 1e-9 * float(result.work_friction[-1])
    still = simulate(model, hold + 1.49 * 3.0, duration=0.1, rate=1000)
    assert np.abs(still.pose.values[-1] - home).max() < 1e-12
    moved = simulate(model, hold + 1.51 * 3.0, duration=0.1, rate=1000)
    assert np.abs(moved.pose.values[-1] - home).max() > 1e-5


def test_a_stribeck_speed_without_static_friction_is_a_fault() -> None:
    with refused(ValueError, "stribeck_speed 0.1 static"):
        Friction(drag=1.0, stribeck_speed=0.1)
    with refused(ValueError, "static 1 0.9"):
        Friction(drag=1.0, static=0.9)


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
    with warned(EnergyWarning, "J"):
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


@pytest.mark.long
def test_of_240_runs_none_crosses_a_singularity_unseen(model_of: Any) -> None:
    """Random constant forces, four robots, three kinds of steps, limits not watched.

    The same run with singularities not watched either says by the sign of det J at its rows whether there is one, and
    the watched run must have ended by then.
    """
    rng, counts = np.random.default_rng(240), {"runs": 0, "cross": 0, "seen": 0, "unseen": 0, "no way on": 0}
    for name in ("long", "kim-ryu", "pedrammehr", "lopes"):
        model = model_of(name).rigid
        home = model.robot.home.matrix
        hold = model.inverse_dynamics(home, STILL, STILL, friction=False)
        start = np.linalg.det(model.jacobian(home))
        for factor in rng.uniform(-2.0, 3.0, size=(20, 6)):
            for how in ({"rate": 1000.0}, {"rate": 200.0}, {"output": 0.005}):
                ends: list[tuple[float, bool]] = []
                for action in ("ignore", "stop"):
                    events = {"limit": "ignore", "singularity": action, "reversal": "ignore"}
                    try:
                        result = simulate(model, factor * hold, duration=0.8, friction=False, events=events, **how)
                    except SimulationError as error:
                        result = error.result
                    det = np.linalg.det(model.jacobian(result.pose.values)) * start
                    beyond = np.flatnonzero(~(det > 0))
                    crossed = len(beyond) > 0 and not (action == "stop" and beyond[0] == len(det) - 1)
                    ends.append((float(result.time[beyond[0]] if crossed else result.time[-1]), crossed))
                    stopped = result.attrs["ended"].startswith("singularity")
                (first, crosses), (last, unseen) = ends
                counts["runs"] += 1
                counts["cross"] += crosses
                counts["seen"] += stopped
                counts["unseen"] += unseen or (crosses and last > first + 1e-9 and not stopped)
                counts["no way on"] += not crosses and not stopped and last < 0.8 - 1e-9
    print(counts)
    assert counts["runs"] == 240
    assert counts["cross"] > 100
    assert counts["unseen"] == 0


def test_a_limit_inside_a_long_step_is_seen(model_of: Any) -> None:
    """A rail's end passed and left again between two samples half a second apart."""
    model = model_of("kim-ryu")
    hold = model.inverse_dynamics(model.robot.home.matrix, STILL, STILL, friction=False)
    up = np.array([0.01, 0.02, 1.2, 0.0, 0.0, 0.0])  # inclined: straight up, two rails end at once but for rounding
    fine = simulate(model, 0.4 * hold, twist=up, duration=0.4, rate=1000, friction=False)
    coarse = simulate(model, 0.4 * hold, twist=up, duration=0.4, rate=2.5, friction=False)
    assert fine.attrs["ended"].startswith("limit")
    assert coarse.attrs["ended"] == fine.attrs["ended"]


@pytest.mark.long
@pytest.mark.long
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
