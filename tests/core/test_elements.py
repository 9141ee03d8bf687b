"""Springs and other elements against the engine of constraints, closed forms, energies, and bad input."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

import polypod as pp
from core.test_chain import ROBOTS, Case, check, moving
from core.test_flexible_dynamics import random_modes
from polypod.errors import InputError
from polypod.formulations import FORMULATIONS
from polypod.mechanism import Mechanism
from support.chain_functions import Functions
from support.refusals import refused
from support.robots.sprung_chains import with_elements
from support.states import mostly_long

# One of every kind of closing: closed forms, Newton, constrained platforms, reversed joints, rods that spin.
DEFAULT = ("hinge", "slider-crank", "ankle")


@cache
def case(name: str, seed: int = 1) -> Case:
    return moving(with_elements(ROBOTS[name](seed), seed, everywhere="UPS" not in name), seed + 1)


@cache
def functions(name: str, seed: int = 1) -> Functions:
    return Functions(pp.Robot.model_validate(case(name, seed).data))


@pytest.mark.parametrize("name", mostly_long(ROBOTS, DEFAULT))
def test_forces_are_the_engines(name: str) -> None:
    c, function = case(name), functions(name)
    wanted = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"], friction=True)
    margin = float(function("inverse_kinematics", **c.given)["quality"])
    check(function("inverse_dynamics", True, **c.given)["force"], wanted, 1e-10 + 1e-13 / margin)


@pytest.mark.parametrize("name", mostly_long(("3-PRS", "tricept", "6-CRS", "6-RUS"), ("3-PRS",)))
def test_accelerations_and_reactions_are_the_engines(name: str) -> None:
    c, function = case(name), functions(name)
    force = c.engine.inverse_dynamics(c.place, c.motion, c.given["wrench"])
    wanted = c.engine.direct_dynamics(c.place, c.motion.velocity, 1.1 * force, c.given["wrench"], False)
    margin = float(function("inverse_kinematics", **c.given)["quality"])
    tolerance = 1e-10 + 1e-13 / margin
    check(function("direct_dynamics", **c.given, force=1.1 * force)["acceleration"], wanted, tolerance)
    reactions = c.engine.reactions(c.place, c.motion, c.given["wrench"], force)
    size = max(np.abs(wrench).max() for wrench in reactions.values())
    found = iter(function("reactions", **c.given)["wrenches"])
    for number, leg in enumerate(function.mechanism.legs):
        stated = {joint["name"]: joint for joint in c.data["legs"][number]["joints"]}
        for joint in leg.placement.joints:
            second = leg.leg._plan.group[stated[joint.name]["between"][1]]
            sign = 1 if second == joint.child else -1
            check(next(found), sign * reactions[number, joint.name], tolerance, size)


@pytest.mark.parametrize("name", mostly_long(ROBOTS, ("slider-crank",)))
def test_every_formulation_that_applies(name: str) -> None:
    c, function = case(name), functions(name)
    wanted = function("inverse_dynamics", True, **c.given)["force"]
    for formulation in FORMULATIONS:
        try:
            found = function("inverse_dynamics", True, formulation, **c.given)["force"]
        except InputError:
            assert formulation == "recursive-matrix"
            continue
        check(found, wanted, 1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# A hexapod with an element of every kind, by the model's own functions.


def hexapod_data() -> dict[str, Any]:
    robot = pp.files.load("hexapod")
    home, top = robot.home.matrix, []
    for leg in robot.legs:
        top.append(home[:3, 3] + home[:3, :3] @ np.array(leg.platform))
    near = (top[0] + np.array([0.01, 0.02, -0.1])).tolist()
    bottom = (np.array([0.01, 0.02, 0.1]) + robot.legs[3].base).tolist()
    elements: list[dict[str, Any]] = [
        {"kind": "gas spring", "name": "gas", "between": ["base", "platform"], "at": [[0.1, 0, 0], [0.05, 0, 0.4]],
         "force": [["300 mm", "500 N"], [0.6, 400.0], [1.0, 350.0]], "damping": "30 N s/m"},
        {"kind": "spring", "name": "cross", "joint": "leg1.universal", "stiffness": [12.0, 15.0], "damping": 0.3},
        {"kind": "spring", "name": "ball", "joint": "leg2.spherical", "rest": [0.1, 0.2, -0.1],
         "stiffness": [[12, 1, 0], [1, 15, 2], [0, 2, 8]], "damping": 0.3},
        {"kind": "stop", "name": "stop", "joint": "leg3.prismatic", "stiffness": "10 N/mm", "damping": 100.0,
         "range": ["-1 mm", "1 mm"]},
        {"kind": "spring", "name": "legs", "between": ["leg1.upper", "leg4.lower"], "stiffness": 3000.0,
         "at": [near, bottom], "length": 0.1, "damping": 20.0},
        {"kind": "bushing", "name": "bush", "between": ["leg5.upper", "platform"], "at": [0.1, 0.2, 0.4],
         "stiffness": [1e3, 2e3, 3e3, 4, 5, 6], "damping": [1, 2, 3, 0.4, 0.5, 0.6]},
        {"kind": "constant force", "name": "weight", "between": ["base", "platform"],
         "at": [[0, 0, 0], [0.1, 0.2, 0.4]], "force": 100.0, "direction": [0, 0, 1]},
        {"kind": "damper", "name": "damper", "between": ["platform", "base"], "at": [[0, 0.1, 0.4], [0, 0.2, 0]],
         "force": [[0, 0], ["0.1 m/s", 20], [1, 40]]},
    ]  # fmt: skip
    return {**robot.model_dump(), "elements": elements}


@cache
def hexapod() -> pp.Model:
    return pp.Model(pp.Robot.model_validate(hexapod_data()))


def moved(pose: Any, twist: Any) -> Any:
    result = np.array(pose)
    result[:3, 3] += twist[:3]
    result[:3, :3] = Rotation.from_rotvec(twist[3:]).as_matrix() @ result[:3, :3]
    return result


@cache
def state() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    pose = moved(hexapod().robot.home.matrix, np.r_[rng.uniform(-0.03, 0.03, 3), rng.uniform(-0.1, 0.1, 3)])
    return pose, 0.3 * rng.normal(size=6), rng.normal(size=6)


def test_the_gradient_of_the_potential_is_the_force_at_rest() -> None:
    model, (pose, _, _) = hexapod(), state()
    steps = np.concatenate([1e-5 * np.eye(6), -1e-5 * np.eye(6)])
    energy = model.energy(np.array([moved(pose, step) for step in steps]), np.zeros(6)).potential
    gradient = (energy[:6] - energy[6:]) / 2e-5
    # differences of 1e-5 have an error of their square times the third derivative
    np.testing.assert_allclose(gradient, model.gravity(pose), rtol=0, atol=1e-6 * np.abs(gradient).max())


def test_power_goes_into_energy_or_loss() -> None:
    """d(kinetic + potential)/dt = force . rates - loss along a motion."""
    model, (pose, twist, acceleration) = hexapod(), state()
    force = model.inverse_dynamics(pose, twist, acceleration, friction=False)
    power = force @ model.rates(pose, twist) - sum(one.loss for one in model.elements(pose, twist).values())
    h = 1e-5
    at = [moved(pose, s * h * twist) for s in (1, -1)]
    energy = [model.energy(x, twist + s * h * acceleration) for x, s in zip(at, (1, -1), strict=True)]
    change = sum(np.array(energy[0]) - np.array(energy[1])) / (2 * h)
    assert change == pytest.approx(power, rel=1e-6)
    assert all(one.loss >= 0 for one in model.elements(pose, twist).values())


@pytest.mark.long
def test_direct_dynamics_gives_back_the_motion() -> None:
    model, (pose, twist, acceleration) = hexapod(), state()
    force = model.inverse_dynamics(pose, twist, acceleration)
    np.testing.assert_allclose(model.direct_dynamics(pose, twist, force), acceleration, rtol=0, atol=1e-11)
    for formulation in FORMULATIONS:
        other = model.inverse_dynamics(pose, twist, acceleration, formulation=formulation)
        np.testing.assert_allclose(other, force, rtol=0, atol=1e-11 * np.abs(force).max())


@pytest.mark.long
def test_reactions_balance_the_platform() -> None:
    """Legs, elements, gravity and inertia on the platform add up; elements' forces are there by name."""
    model, (pose, twist, acceleration) = hexapod(), state()
    found = model.reactions(pose, twist, acceleration)
    elements = model.elements(pose, twist)
    assert found.elements.keys() == elements.keys()
    robot, points = model.robot, np.array([[0.05, 0, 0.4], [0.1, 0.2, 0.4], [0, 0.1, 0.4]])
    home = robot.home.matrix
    now = pose[:3, 3] + (points - home[:3, 3]) @ home[:3, :3] @ pose[:3, :3].T
    gas, damper = elements["gas"].force[0], elements["damper"].force[0]
    lines = [now[0] - [0.1, 0, 0], now[2] - [0, 0.2, 0]]
    push = gas * lines[0] / np.linalg.norm(lines[0]) + damper * lines[1] / np.linalg.norm(lines[1]) + [0, 0, 100.0]
    size = np.linalg.norm(elements["bush"].force[:3])  # its axes turn with leg5.upper: its size is that in base axes
    body = robot.platform
    arm = pose[:3, :3] @ np.array(body.com)
    omega, alpha = twist[3:], acceleration[3:]
    centre = acceleration[:3] + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
    left = body.mass * (centre - np.array(robot.gravity)) - push - found.on_platform.sum(axis=0)
    assert np.linalg.norm(left) == pytest.approx(size, rel=1e-9)


@pytest.mark.long
def test_derivatives_are_those_of_differences() -> None:
    model, (pose, twist, acceleration) = hexapod(), state()
    chosen = {"elements.legs.stiffness": 3000.0, "elements.gas.temperature_factor": 1.0}
    found = model.derivatives("inverse_dynamics", pose, twist, acceleration, parameters=tuple(chosen))
    h = 1e-6

    def force(x: Any, v: Any, **more: Any) -> Any:
        return model.inverse_dynamics(x, v, acceleration, **more)

    by_pose = [(force(moved(pose, h * e), twist) - force(moved(pose, -h * e), twist)) / (2 * h) for e in np.eye(6)]
    by_twist = [(force(pose, twist + h * e) - force(pose, twist - h * e)) / (2 * h) for e in np.eye(6)]
    by_numbers = []
    for path, value in chosen.items():
        step = 1e-4 * value
        up, down = (force(pose, twist, parameters={path: value + s * step}) for s in (1, -1))
        by_numbers.append((up - down) / (2 * step))
    for got, wanted in ((found.pose, by_pose), (found.twist, by_twist), (found.parameters, by_numbers)):
        np.testing.assert_allclose(got, np.array(wanted).T, rtol=0, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.long
def test_the_regressor_has_stiffness_and_damping() -> None:
    """Y p is the force for the numbers in which it is linear: here all but the rests of the ball and of the stop."""
    data = hexapod_data()
    data["elements"] = [one for one in data["elements"] if one["kind"] != "stop"]
    model = pp.Model(pp.Robot.model_validate(data))
    pose, twist, acceleration = state()
    found = model.regressor(pose, twist, acceleration)
    assert sum(name.startswith("elements.") for name in found.names) > 20
    force = model.inverse_dynamics(pose, twist, acceleration)
    np.testing.assert_allclose(found.matrix @ found.values, force, rtol=0, atol=1e-10 * np.abs(force).max())


# ----------------------------------------------------------------------------------------------------------------------
# Closed forms.


def slide(elements: Any = (), **joint: Any) -> pp.Model:
    """2 kg on a vertical slide, driven."""
    joints = [{"name": "slide", "kind": "prismatic", "between": ["base", "platform"], "axis": [0, 0, 1],
               "at": [0, 0, 0.3], "actuated": True, **joint}]  # fmt: skip
    data = {"name": "slide", "platform": {"mass": 2.0, "inertia": [0.01, 0.01, 0.01]}, "elements": list(elements),
            "home": {"position": [0, 0, 0.3]}, "dof": [{"name": "z", "motion": "translation", "axis": [0, 0, 1]}],
            "legs": [{"kind": "chain", "name": "leg", "bodies": {}, "joints": joints}]}  # fmt: skip
    return pp.Model(pp.Robot.model_validate(data))


SPRING = {"kind": "spring", "name": "k", "joint": "leg.slide", "stiffness": 800.0, "damping": 3.0}


def test_spring_and_mass() -> None:
    model = slide([SPRING])
    motion = model.motion([0.1], [0.5], [0.7])
    force = model.inverse_dynamics(*motion)
    assert force == pytest.approx([2 * (0.7 + 9.81) + 800 * 0.1 + 3 * 0.5], rel=1e-13)
    rest = model.equilibrium()
    assert rest.stable
    assert rest.pose[2, 3] == pytest.approx(0.3 - 2 * 9.81 / 800, rel=1e-12)
    modes = pp.analysis.natural_modes(model, stiffness=0.0)
    assert modes.frequency == pytest.approx([np.sqrt(800 / 2) / (2 * np.pi)], rel=1e-9)


def test_a_spring_between_points_is_the_joints_own() -> None:
    """Along the slide a spring of free length 0.2 m is one in the joint with its rest there."""
    line = {"kind": "spring", "name": "k", "between": ["base", "platform"], "at": [[0, 0, 0], [0, 0, 0.3]],
            "stiffness": 800.0, "length": 0.2}  # fmt: skip
    own = {"kind": "spring", "name": "k", "joint": "leg.slide", "stiffness": 800.0, "rest": -0.1}
    loaded = {"kind": "spring", "name": "k", "joint": "leg.slide", "stiffness": 800.0, "preload": 80.0}
    forces = [slide([one]).inverse_dynamics(*slide().motion([0.1])) for one in (line, own, loaded)]
    assert np.array(forces) == pytest.approx(2 * 9.81 + 800 * 0.2, rel=1e-13)


def test_a_moving_base_changes_nothing_of_an_element() -> None:
    """Forces between bodies know no base: they add the same whatever way it moves."""
    base = {"base_twist": [0.3, -0.2, 0.1, 0.5, -0.4, 0.2], "base_acceleration": [1.0, 2.0, -1.0, 0.3, 0.2, -0.1]}
    motion = slide().motion([0.1], [0.5], [0.7])
    for formulation in ("virtual-power", "newton-euler"):
        more = [
            slide([SPRING]).inverse_dynamics(*motion, formulation=formulation, **moved_base)
            - slide().inverse_dynamics(*motion, formulation=formulation, **moved_base)
            for moved_base in ({}, base)
        ]
        assert np.array(more) == pytest.approx(800 * 0.1 + 3 * 0.5, rel=1e-11)


def pendulum(elements: Any) -> pp.Model:
    """1.5 kg at 0.4 m below a hinge about y, driven."""
    joints = [{"name": "hinge", "kind": "revolute", "between": ["base", "platform"], "axis": [0, 1, 0],
               "at": [0, 0, 1.0], "actuated": True}]  # fmt: skip
    data = {"name": "pendulum", "platform": {"mass": 1.5, "inertia": [0.01, 0.02, 0.01]},
            "home": {"position": [0, 0, 0.6]}, "dof": [{"name": "angle", "joint": "leg.hinge"}],
            "elements": list(elements),
            "legs": [{"kind": "chain", "name": "leg", "bodies": {}, "joints": joints}]}  # fmt: skip
    return pp.Model(pp.Robot.model_validate(data))


@pytest.mark.parametrize("angle", [-1.2, 0.0, 0.7])
def test_pendulum_with_a_spring(angle: float) -> None:
    """A spring from a point 0.5 m beside the hinge to the mass: its torque is the derivative of its energy."""
    k, free, c = 60.0, 0.3, 4.0
    model = pendulum([
        {"kind": "spring", "name": "k", "between": ["base", "platform"], "at": [[0.5, 0, 1], [0, 0, 0.6]],
         "stiffness": k, "length": free, "damping": c},
        {"kind": "spring", "name": "torsion", "joint": "leg.hinge", "stiffness": "5 N m/rad", "rest": "10 deg"},
    ])  # fmt: skip
    rate, change = 0.8, -0.6
    motion = model.motion([angle], [rate], [change])
    x, z = -0.4 * np.sin(angle), -0.4 * np.cos(angle)
    dx, dz = -0.4 * np.cos(angle), 0.4 * np.sin(angle)
    length = np.hypot(x - 0.5, z)
    slope = ((x - 0.5) * dx + z * dz) / length
    torque = (0.02 + 1.5 * 0.16) * change + 1.5 * 9.81 * dz + (k * (length - free) + c * slope * rate) * slope
    torque += 5 * (angle - np.deg2rad(10))
    assert model.inverse_dynamics(*motion) == pytest.approx([torque], rel=1e-12, abs=1e-12)


def test_a_zero_length_spring_balances_a_pendulum_everywhere() -> None:
    """k a b = m g l: a spring of free length 0 from a point a above the hinge to the arm at b holds any angle."""
    k = 1.5 * 9.81 * 0.4 / (0.3 * 0.4)
    model = pendulum([
        {"kind": "spring", "name": "k", "between": ["base", "platform"], "at": [[0, 0, 1.3], [0, 0, 0.6]],
         "stiffness": k, "length": 0.0},
    ])  # fmt: skip
    angles = np.linspace(-2.5, 2.5, 11)[:, None]
    force = model.inverse_dynamics(*model.motion(angles))
    assert np.abs(force).max() < 1e-13 * 1.5 * 9.81


def test_four_bar_with_a_torsion_spring() -> None:
    """Torque at the crank: the spring's moment times its hinge's rate over the crank's, by the law of cosines."""
    a, b, c, d = 0.2, 0.5, 0.4, 0.6  # crank, coupler, rocker, ground
    start = 1.0

    def rocker(crank: float) -> float:
        point = np.array([a * np.cos(crank), a * np.sin(crank)])
        line = np.array([d, 0.0]) - point
        e = np.linalg.norm(line)
        return float(np.arctan2(-line[1], -line[0]) - np.arccos((c * c + e * e - b * b) / (2 * c * e)))

    crank0, angle0 = start, rocker(start)
    at_crank = [a * np.cos(crank0), 0, a * np.sin(crank0)]
    at_rocker = [d + c * np.cos(angle0), 0, c * np.sin(angle0)]
    light = {"mass": 1e-9, "inertia": [1e-12, 1e-12, 1e-12]}
    turn = [0, -1, 0]  # positive from x to z
    joints = [
        {"name": "crank", "kind": "revolute", "between": ["base", "platform"], "axis": turn, "at": [0, 0, 0],
         "actuated": True},
        {"name": "one", "kind": "revolute", "between": ["platform", "coupler"], "axis": turn, "at": at_crank},
        {"name": "two", "kind": "revolute", "between": ["coupler", "rocker"], "axis": turn, "at": at_rocker},
        {"name": "ground", "kind": "revolute", "between": ["base", "rocker"], "axis": turn, "at": [d, 0, 0],
         "stiffness": 3.0},
    ]  # fmt: skip
    data = {"name": "four-bar", "platform": light, "gravity": [0, 0, 0], "home": {"position": [0, 0, 0]},
            "dof": [{"name": "crank", "joint": "leg.crank"}],
            "legs": [{"kind": "chain", "name": "leg", "bodies": {"coupler": light, "rocker": light},
                      "joints": joints}]}  # fmt: skip
    model = pp.Model(pp.Robot.model_validate(data))
    for move in (-0.3, 0.4):
        h = 1e-6
        ratio = (rocker(start + move + h) - rocker(start + move - h)) / (2 * h)
        turned = rocker(start + move) - angle0
        found = model.elements(model.motion([move]).pose)["leg.ground"]
        assert found.displacement == pytest.approx([turned], rel=1e-9)
        torque = model.inverse_dynamics(*model.motion([move]))
        assert torque == pytest.approx([3.0 * turned * ratio], rel=1e-8)


# ----------------------------------------------------------------------------------------------------------------------
# Simulation.


def test_a_mass_bounces_off_a_stop() -> None:
    """Dropped from 50 mm onto a stop of 50 N/mm it rises as high again; events say when it meets the stop."""
    stop = {"kind": "stop", "name": "floor", "joint": "leg.slide", "stiffness": "50 N/mm"}
    model = slide([stop], range=[-0.05, 1.0])
    fall = np.sqrt(2 * 0.05 / 9.81)
    result = pp.simulate(model, duration=2.5 * fall, rtol=1e-10, atol=1e-12, output=1e-4)
    z = result.pose.values[:, 2, 3]
    assert z.max() == pytest.approx(0.3, abs=1e-9)
    deepest = (2 * 9.81 + np.sqrt((2 * 9.81) ** 2 + 4 * 25e3 * 2 * 9.81 * 0.05)) / (2 * 25e3)
    assert 0.25 - z.min() == pytest.approx(deepest, rel=1e-4)
    assert np.abs(result.energy_residual.values).max() < 1e-7
    events = [(float(t), str(k)) for t, k in zip(result.event_time.values, result.event_kind.values, strict=True)]
    assert events[0][1] == "contact"
    assert events[0][0] == pytest.approx(fall, rel=1e-6)


def test_a_damped_stop_takes_energy_and_never_pulls() -> None:
    stop = {"kind": "stop", "name": "floor", "joint": "leg.slide", "stiffness": "50 N/mm", "damping": 300.0,
            "ramp": "1 mm"}  # fmt: skip
    model = slide([stop], range=[-0.05, 1.0])
    result = pp.simulate(model, duration=0.4, rtol=1e-10, atol=1e-12)
    assert np.abs(result.energy_residual.values).max() < 1e-7
    assert (np.diff(result.energy_kinetic.values + result.energy_potential.values) < 1e-9).all()
    pose, twist = result.pose.values, result.twist.values
    floor = model.elements(pose, twist)["floor"]
    assert (floor.force >= 0).all()
    assert floor.force.max() > 100
    inside = pose[:, 2, 3] > 0.25
    assert (floor.force[inside] == 0).all()


def test_a_universal_joint_stops_about_both_axes() -> None:
    """A pendulum in two directions swings into stops of its joint's own ranges: events, and no energy from nowhere."""
    joints = [
        {"name": "one", "kind": "revolute", "between": ["base", "ring"], "axis": [0, 1, 0], "at": [0, 0, 1.0],
         "actuated": True},
        {"name": "two", "kind": "revolute", "between": ["ring", "platform"], "axis": [1, 0, 0], "at": [0, 0, 1.0],
         "actuated": True},
    ]  # fmt: skip
    cross = {"name": "cross", "kind": "universal", "between": ["base", "platform"], "axes": [[0, 1, 0], [1, 0, 0]],
             "at": [0, 0, 1.0], "ranges": {"first": [-0.2, 0.5], "second": [-0.5, 0.1]}}  # fmt: skip
    stop = {"kind": "stop", "name": "stop", "joint": "held.cross", "stiffness": [40.0, 60.0], "damping": 0.05}
    ring = {"ring": {"mass": 0.01, "com": [0, 0, 1.0], "inertia": [1e-5, 1e-5, 1e-5]}}
    data = {"name": "pendulum", "platform": {"mass": 1.5, "inertia": [0.01, 0.02, 0.01]}, "elements": [stop],
            "home": {"position": [0, 0, 0.6]},
            "dof": [{"name": "one", "joint": "leg.one"}, {"name": "two", "joint": "leg.two"}],
            "legs": [{"kind": "chain", "name": "leg", "bodies": ring, "joints": joints},
                     {"kind": "chain", "name": "held", "bodies": {}, "joints": [cross]}]}  # fmt: skip
    model = pp.Model(pp.Robot.model_validate(data))
    for first, second in ((-0.25, 0.0), (0.0, 0.2), (-0.3, 0.3)):
        found = model.elements(model.motion([first, second]).pose)["stop"]
        wanted = [-40.0 * min(first + 0.2, 0.0), -60.0 * max(second - 0.1, 0.0)]
        np.testing.assert_allclose(found.force, wanted, rtol=0, atol=1e-12)
    result = pp.simulate(model, pose=model.motion([0.4, -0.4]).pose, duration=1.5, rtol=1e-9, atol=1e-11)
    assert np.abs(result.energy_residual.values).max() < 1e-6
    assert (np.diff(result.energy_kinetic.values + result.energy_potential.values) < 1e-8).all()
    assert [str(kind) for kind in result.event_kind.values][:2] == ["contact", "contact"]


def test_an_oscillation_has_the_frequency_and_decay_of_the_closed_form() -> None:
    model = slide([{**SPRING, "preload": -2 * 9.81}])
    result = pp.simulate(model, pose=model.motion([0.02]).pose, duration=0.5, rtol=1e-11, atol=1e-13)
    t, z = result.time.values, result.pose.values[:, 2, 3] - 0.3
    decay, omega = 3.0 / 4, np.sqrt(800 / 2 - (3 / 4) ** 2)
    wanted = 0.02 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(z, wanted, rtol=0, atol=1e-9)


# ----------------------------------------------------------------------------------------------------------------------
# Robots without elements, bad input.


def test_robots_without_elements_have_the_same_operations() -> None:
    """The graph of a robot is node for node that of one whose class knows no elements: none of them is reached."""
    mechanism = Mechanism(pp.files.load("hexapod"))
    assert "elements" not in mechanism.numbers.structure
    from polypod.mechanism.acting_elements import ActingElements

    platform, legs = mechanism.resting(mechanism.inputs())
    none = ActingElements.of(mechanism, platform, legs)
    assert none.elements == []
    assert none.overcoming_platform is None
    assert all(none.overcoming_leg(k) is None for k in range(6))


@pytest.mark.parametrize("function", ["inverse_dynamics", "direct_dynamics", "energy", "reactions", "stiffness"])
def test_robots_without_elements_have_the_same_graphs(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever elements could do is replaced by an error: none of it is asked for, and every number is the same."""
    from polypod.mechanism import acting_elements

    def graph() -> str:
        expression = model_kernels().expression(Mechanism(pp.files.load("hexapod")), function, True)
        ports = [*expression.inputs, *([] if expression.parameters is None else [expression.parameters])]
        inputs = [port.symbols for port in ports]
        return str(ca.Function("f", inputs, [port.symbols for port in expression.outputs]).serialize())

    def model_kernels() -> Any:
        return pp.Model("hexapod").kernels

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("an element was asked for")

    known = graph()
    for name in ("_State", "PlacedElement", "ActingElement", "Push"):
        monkeypatch.setattr(acting_elements, name, refuse)
    assert graph() == known


def test_six_gas_springs_cost_little() -> None:
    """At most 1.15 times the operations of inverse dynamics without them."""
    robot = pp.files.load("hexapod")
    home, elements = robot.home.matrix, []
    for k, leg in enumerate(robot.legs, 1):
        top = home[:3, 3] + home[:3, :3] @ (0.8 * np.array(leg.platform))
        elements.append({"kind": "gas spring", "name": f"gas{k}", "between": ["base", "platform"], "damping": 30.0,
                         "at": [(0.8 * np.array(leg.base)).tolist(), top.tolist()],
                         "force": [[0.3, 500.0], [0.6, 400.0]]})  # fmt: skip
    sprung = pp.Robot.model_validate({**robot.model_dump(), "elements": elements})
    plain, more = (pp.Model(one).casadi("inverse_dynamics").n_instructions() for one in (robot, sprung))
    assert plain < more <= 1.15 * plain


BAD: list[tuple[dict[str, Any], str]] = [
    ({"between": ["base", "base"]}, "between"),
    ({"at": [[0, 0, 1], [0, 0, 1]]}, "at"),
    ({"between": ["base", "leg9.upper"]}, "between"),
    ({"at": None}, "at"),
    ({"stiffness": "5 N m/rad"}, "stiffness"),
    ({"stiffness": -3.0}, "stiffness"),
    ({"stiffness": [1.0, 2.0]}, "stiffness"),
    ({"stiffness": [[1.0, 2.0], [0.0, 1.0]]}, "stiffness"),
    ({"length": 0.1, "preload": 3.0}, "preload"),
    ({"joint": "leg1.prismatic"}, "joint"),
    ({"kind": "bungee"}, "kind"),
    ({"kind": "gas spring", "stiffness": None, "force": [[0.3, 500], [0.3, 400]]}, "force"),
    ({"kind": "gas spring", "stiffness": None, "force": [[0.3, 500]]}, "force"),
    ({"kind": "damper", "stiffness": None, "force": [[0, 0], [1, -2]]}, "force"),
    ({"kind": "stop", "between": None, "at": None, "joint": "leg1.universal"}, "range"),
    ({"kind": "stop", "between": None, "at": None, "joint": "leg1.universal", "range": [-0.1, 0.1]}, "range"),
    ({"kind": "stop", "between": None, "at": None, "joint": "leg1.universal", "range": [[0.1, -0.1], [0, 1]]}, "range"),
    ({"kind": "stop", "between": None, "at": None, "joint": "leg1.spherical", "range": [-0.1, 0.1]}, "joint"),
    ({"kind": "stop", "between": None, "at": None, "joint": "leg1.prismatic", "stiffness": 0.0}, "stiffness"),
    ({"kind": "stop", "between": None, "at": None, "joint": "leg1.prismatic", "damping": -1.0}, "damping"),
    ({"between": None, "at": None, "joint": "leg1.elbow"}, "joint"),
    ({"kind": "stop"}, "joint"),
    ({"kind": "gas spring", "stiffness": None, "force": [["0.3 m", "500 N m"], ["0.5 m", "400 N m"]]}, "force"),
    ({"kind": "gas spring", "stiffness": None, "force": [["0.3 rad", 500], ["0.5 rad", 400]]}, "force"),
    ({"kind": "gas spring", "stiffness": None, "force": [[0.5, 500], [0.3, 400]]}, "force"),
    ({"length": "5 N"}, "length"),
    ({"damping": "3 N/m"}, "damping"),
    ({"between": None, "at": None, "joint": "leg1.prismatic", "stiffness": "5 N m/rad"}, "stiffness"),
    ({"between": None, "at": None, "joint": "leg1.universal", "rest": [0.1, 0.2, 0.3]}, "rest"),
]


@pytest.mark.parametrize(("change", "field"), BAD)
def test_bad_elements_are_refused(change: dict[str, Any], field: str) -> None:
    element = {"kind": "spring", "name": "k", "between": ["base", "platform"], "at": [[0, 0, 0], [0, 0, 0.4]],
               "stiffness": 100.0, **change}  # fmt: skip
    element = {name: value for name, value in element.items() if value is not None}
    with pytest.raises(ValidationError) as caught:
        pp.Robot.model_validate({**pp.files.load("hexapod").model_dump(), "elements": [element]})
    error = caught.value.errors()[0]
    where = ".".join(map(str, error["loc"])) + " " + error["msg"]
    assert "elements" in where
    assert field in where


def test_a_stop_needs_a_range() -> None:
    data = pp.files.load("hexapod").model_dump()
    for leg in data["legs"]:
        leg["length"] = None
    stop = {"kind": "stop", "name": "end", "joint": "leg1.prismatic", "stiffness": 1e6}
    with refused(ValidationError, "range"):
        pp.Robot.model_validate({**data, "elements": [stop]})
    pp.Robot.model_validate({**data, "elements": [{**stop, "range": [-0.01, 0.01]}]})


def test_names_are_unique_and_files_stay_the_same() -> None:
    data = hexapod_data()
    robot = pp.Robot.model_validate(data)
    assert pp.files.loads(pp.files.dumps(robot)) == robot
    twice = deepcopy(data)
    twice["elements"][1]["name"] = twice["elements"][0]["name"]
    with refused(ValidationError, "unique"):
        pp.Robot.model_validate(twice)


def test_a_rod_that_spins_takes_forces_on_its_line_only() -> None:
    data = ROBOTS["6-SPS"](1)
    leg = data["legs"][0]
    name, (body, *_) = leg.get("name", "leg1"), leg["bodies"]
    beside = {"kind": "spring", "name": "k", "between": ["base", f"{name}.{body}"], "at": [[0, 0, 0], [0.3, 0.1, 0.2]],
              "stiffness": 10.0}  # fmt: skip
    with refused(ValidationError, "spins"):
        pp.Robot.model_validate({**data, "elements": [beside]})


@pytest.mark.long
def test_a_flexible_platform_takes_elements_at_its_attachment_points() -> None:
    """Its power is that of the forces; elsewhere its shape is not known, and the element is refused by name."""
    robot = pp.files.load("hexapod")
    home, modes = robot.home.matrix, random_modes(robot, 3)
    top = (home[:3, 3] + home[:3, :3] @ robot.attachments[0]).tolist()
    element = {"kind": "spring", "name": "k", "between": ["base", "platform"], "at": [[0, 0, -1], top],
               "stiffness": 1000.0, "damping": 5.0}  # fmt: skip
    cross = {"kind": "spring", "name": "u", "joint": "leg2.universal", "stiffness": 40.0}
    made = pp.Robot.model_validate({**robot.model_dump(), "elements": [element, cross]})
    model, (pose, twist, acceleration) = pp.Model(made.on_modes(modes)), state()
    rng = np.random.default_rng(3)
    e, edot = 1e-3 * rng.normal(size=3), 0.1 * rng.normal(size=3)
    shape = {"elastic": e, "elastic_rate": edot}
    force = model.inverse_dynamics(pose, twist, acceleration, friction=False, full_output=True, **shape)
    back = model.direct_dynamics(pose, twist, force.force, friction=False, full_output=True, **shape)
    np.testing.assert_allclose(back.acceleration, acceleration, rtol=0, atol=1e-10)
    h, energies = 1e-6, []
    for s in (h, -h):
        near = moved(pose, s * twist)
        rates = {"elastic": e + s * edot, "elastic_rate": edot + s * force.elastic_acceleration}
        energies.append(sum(model.energy(near, twist + s * acceleration, **rates)))
    power = force.force @ model.rates(pose, twist, **shape) - model.elements(pose, twist, **shape)["k"].loss
    plain = pp.Model(robot.on_modes(modes))
    given = plain.inverse_dynamics(pose, twist, acceleration, friction=False, full_output=True, **shape)
    before = []
    for s in (h, -h):
        near = moved(pose, s * twist)
        rates = {"elastic": e + s * edot, "elastic_rate": edot + s * given.elastic_acceleration}
        before.append(sum(plain.energy(near, twist + s * acceleration, **rates)))
    # what the modes' own damping takes is the same with and without the elements
    lost = given.force @ plain.rates(pose, twist, **shape) - (before[0] - before[1]) / (2 * h)
    assert (energies[0] - energies[1]) / (2 * h) == pytest.approx(power - lost, rel=1e-6)
    elsewhere = {**element, "at": [[0, 0, -1], (np.array(top) + 0.01).tolist()]}
    bad = pp.Robot.model_validate({**robot.model_dump(), "elements": [elsewhere]}).on_modes(modes)
    with refused(InputError, "k platform"):
        pp.Model(bad).inverse_dynamics(home, np.zeros(6), np.zeros(6))


def test_rotation_vectors_and_their_rates() -> None:
    from scipy.linalg import expm

    from polypod.mechanism.acting_elements import inverse_left_jacobian, rotation_vector

    r = ca.SX.sym("r", 3, 3)
    v = ca.SX.sym("v", 3)
    log, left = ca.Function("log", [r], [rotation_vector(r)]), ca.Function("left", [v], [inverse_left_jacobian(v)])
    for size in (0.0, 1e-9, 1e-3, 0.0099, 0.0101, 0.5, 2.5):
        wanted = size * np.array([2.0, -1.0, 2.0]) / 3
        got = np.array(log(Rotation.from_rotvec(wanted).as_matrix())).ravel()
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-15 + 3e-15 * size)
        tilde = np.cross(np.eye(3), wanted)
        whole = expm(np.block([[tilde, np.eye(3)], [np.zeros((3, 6))]]))[:3, 3:]
        np.testing.assert_allclose(np.array(left(wanted)) @ whole, np.eye(3), rtol=0, atol=1e-13)
