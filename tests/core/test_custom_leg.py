"""A leg kind that the package does not have, from the example: everything derived from it holds."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import polypod as pp
from polypod.description import LegData
from polypod.errors import InputError, RobotFileError, StateError
from polypod.formulations import FORMULATIONS
from polypod.legs import UPS, LegFrame
from polypod.mechanism import Mechanism
from polypod.mechanism.leg_frame import LegInLegFrame
from polypod.mobility.mobility import free_platform_motions
from polypod.symbols.vectors import Frame
from support import states as sample
from support.compare import assert_close, derivative
from support.refusals import refused
from support.robots.user_legs import EXAMPLE, custom_leg
from support.states import SmoothMotion, displaced, mostly_long


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return custom_leg()


@pytest.fixture(scope="module")
def model(example: ModuleType) -> pp.Model:
    return pp.Model(example.hexa())


@pytest.mark.long
def test_the_example_runs(tmp_path: Path) -> None:
    """As its reader runs it: six rows of six angles and six torques."""
    call = [sys.executable, str(EXAMPLE), str(tmp_path)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "custom-leg.png").is_file()
    head, *rows = done.stdout.strip().splitlines()
    assert "torques [N m]" in head
    numbers = np.array([[float(x) for x in row.replace("|", " ").split()] for row in rows])
    assert numbers.shape == (6, 13)
    assert np.isfinite(numbers).all()
    # The motion is periodic: the last row is the first.
    assert np.array_equal(numbers[0, 1:], numbers[-1, 1:])


def test_motors_are_rotary(model: pp.Model) -> None:
    assert {(a.joint, a.unit, a.force_unit, a.rate_unit) for a in model.actuators} == {("motor", "rad", "N m", "rad/s")}
    assert [a.name for a in model.actuators] == [f"leg{k}" for k in range(1, 7)]


def test_rods_that_let_the_platform_turn_are_a_fault(example: ModuleType) -> None:
    """Three cranks with one rod each and three translations stated: nothing holds the rotations."""
    three = example.hexa().model_dump()
    axes = zip("xyz", np.eye(3).tolist(), strict=True)
    dof = [{"name": name, "motion": "translation", "axis": axis} for name, axis in axes]
    robot = pp.Robot.model_validate({**three, "legs": three["legs"][::2], "dof": dof})
    with refused(RobotFileError, "6 3"):
        pp.Model(robot)


@pytest.mark.parametrize("name", mostly_long(pp.library(), ("3-rps", "five-bar", "hexapod", "orthoglide", "staicu")))
def test_joints_leave_the_dof_that_files_state(name: str) -> None:
    """Counted by the twists of all bodies, which the constraints of chains and the places of other legs do not use."""
    robot = pp.load(name)
    assert free_platform_motions(robot).shape == (6, len(robot.dof) or 6)


def test_the_rotor_turns_with_its_crank(example: ModuleType, model: pp.Model) -> None:
    """Each motor's own torque grows by its rotor's inertia times the crank's angular acceleration."""
    s = sample.easy(model, 6)
    without = tuple(leg.model_copy(update={"rotor": 0.0}) for leg in model.robot.legs)
    extra = model.inverse_dynamics(*s[:4]) - pp.Model(
        model.robot.model_copy(update={"legs": without})
    ).inverse_dynamics(*s[:4])
    wanted = 2e-3 * model.accelerations(*s[:3])
    assert_close(extra, wanted, 1e-11, np.abs(model.inverse_dynamics(*s[:4])).max(axis=1))


def test_the_kind_is_registered_and_read_from_files(example: ModuleType, model: pp.Model, tmp_path: Path) -> None:
    assert LegData.registry["RUS"] is example.RUS
    path = tmp_path / "hexa.yaml"
    pp.save(model.robot, path)
    again = pp.load(path)
    assert again == model.robot
    assert isinstance(again.legs[0], example.RUS)
    with refused(RobotFileError, "leg_defaults.rod_length 0 -0.5"):
        pp.loads(path.read_text().replace("rod_length: 0.5", "rod_length: -0.5"))


def test_angles_close_the_leg(model: pp.Model) -> None:
    """By trigonometry: from the angle, crank and rod end at the platform joint."""
    s = sample.easy(model, 20)
    q = model.inverse_kinematics(s.pose)
    for k, leg in enumerate(model.robot.legs):
        h, e = np.array(leg.axis), np.array(leg.start)
        crank = np.outer(np.cos(q[:, k]), e) + np.outer(np.sin(q[:, k]), np.cross(h, e))
        elbow = leg.base + leg.crank_length * crank
        tip = s.pose[:, :3, 3] + s.pose[:, :3, :3] @ leg.platform
        np.testing.assert_allclose(np.linalg.norm(tip - elbow, axis=1), leg.rod_length, rtol=1e-13)
        bodies = model.bodies(s.pose)
        np.testing.assert_allclose(bodies[f"{leg.name}.rod"][:, :3, 3], elbow, atol=1e-14)


def test_derivatives_of_the_angles(model: pp.Model) -> None:
    s = sample.easy(model, 8)
    columns = [
        derivative(lambda h, axis=axis: model.inverse_kinematics(displaced(s.pose, h * np.tile(axis, (8, 1)))), 2e-4)
        for axis in np.eye(6)
    ]
    assert_close(model.jacobian(s.pose), np.stack(columns, axis=-1), 1e-10)
    motion, t = SmoothMotion(model), np.linspace(0, 2, 7)
    wanted = derivative(lambda h: model.rates(*motion(t + h)[:2]), 0.005)
    assert_close(model.accelerations(*motion(t)), wanted, 1e-9)


@pytest.mark.parametrize("formulation", mostly_long(FORMULATIONS, ("virtual-power",)))
def test_torques_do_the_work(formulation: str, model: pp.Model) -> None:
    """Energy balance by quadrature without friction, and against mass matrix and bias with it."""
    motion = SmoothMotion(model)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t, weights = 0.5 + 0.5 * nodes, 0.5 * weights
    pose, twist, acceleration = motion(t)
    torque = model.inverse_dynamics(pose, twist, acceleration, friction=False, formulation=formulation)
    power = np.sum(torque * model.rates(pose, twist), axis=1)
    ends = model.energy(*motion(np.array([0.0, 1.0]))[:2])
    gained = np.diff(ends.kinetic + ends.potential)[0]
    assert abs(weights @ power - gained) < 1e-11 * (weights @ np.abs(power))
    s = sample.easy(model, 10)
    demand = (model.mass_matrix(s.pose) @ s.acceleration[..., None])[..., 0] + model.bias(s.pose, s.twist) - s.wrench
    wanted = np.linalg.solve(np.swapaxes(model.jacobian(s.pose), 1, 2), demand[..., None])[..., 0]
    assert_close(model.inverse_dynamics(*s[:4], formulation=formulation), wanted, 1e-11)


def test_viscous_friction_of_motors_acts_at_the_motors(model: pp.Model) -> None:
    """An actuated hinge: the torque grows by C qdot in its own motor, nothing elsewhere."""
    s = sample.easy(model, 10)
    extra = model.inverse_dynamics(*s[:4]) - model.inverse_dynamics(*s[:4], friction=False)
    wanted = 0.01 * model.rates(s.pose, s.twist)
    assert_close(extra, wanted, 1e-10, np.abs(model.inverse_dynamics(*s[:4])).max(axis=1))


@pytest.mark.long
def test_dry_friction_of_the_motors(model: pp.Model) -> None:
    """Drag and a part of the bearing's load, by two formulations and by the bearings' reactions."""
    dry = pp.description.Friction(viscous=0.01, coulomb=0.005, drag=0.02)
    legs = tuple(leg.model_copy(update={"motor_friction": dry}) for leg in model.robot.legs)
    rough = pp.Model(model.robot.model_copy(update={"legs": legs}))
    s = sample.easy(model, 10)
    torque = rough.inverse_dynamics(*s[:4])
    assert_close(rough.inverse_dynamics(*s[:4], formulation="newton-euler"), torque, 1e-11)
    rates, found = rough.rates(s.pose, s.twist), rough.reactions(*s[:4])
    load = np.stack([np.linalg.norm(joints["motor"].force, axis=1) for joints in found.legs.values()], axis=1)
    own = 0.01 * rates + (0.02 + 0.005 * load) * np.sign(rates)
    without = model.inverse_dynamics(*s[:4], friction=False)
    # The smooth sign of rates over 1e-6 rad/s is off by (1e-6/rate)^2/2.
    assert_close(torque - without, own, 1e-8, np.abs(torque).max(axis=1))


def test_inverse_and_direct_forms(model: pp.Model) -> None:
    s = sample.easy(model, 20)
    torque = model.inverse_dynamics(*s[:4])
    assert_close(model.direct_dynamics(s.pose, s.twist, torque, s.wrench), s.acceleration, 1e-10)
    rng = np.random.default_rng(0)
    guess = displaced(s.pose, 0.002 * rng.normal(size=(20, 6)))
    assert_close(model.forward_kinematics(model.inverse_kinematics(s.pose), guess), s.pose, 1e-11)


def test_reactions_hold_a_still_platform(model: pp.Model) -> None:
    """At rest the rods carry the platform's weight, and the motors' bearings that of the whole robot."""
    found = model.reactions(model.robot.home.matrix, np.zeros(6), np.zeros(6))
    up = sum(joints["spherical"].force for joints in found.legs.values())
    np.testing.assert_allclose(up, [0, 0, 9.81], atol=1e-11)
    ground = sum(joints["motor"].force for joints in found.legs.values())
    np.testing.assert_allclose(ground, [0, 0, 9.81 * (1.0 + 6 * 0.7)], atol=1e-10)


def test_a_pose_out_of_reach_is_reported(example: ModuleType, model: pp.Model) -> None:
    """Straight down by 1 m: from crank's end to platform joint is the rod's length too far."""
    pose = model.robot.home.matrix.copy()
    pose[2, 3] = -1.0
    leg = model.robot.legs[0]
    d = pose[:3, 3] + leg.platform - leg.base
    z = d @ leg.axis
    reach = np.linalg.norm(d - z * np.array(leg.axis))
    excess = np.hypot(reach - leg.crank_length, z) - leg.rod_length
    with refused(StateError, f"leg1 {excess:.6g}", code="leg"):
        model.inverse_kinematics(pose)
    data: dict[str, Any] = model.robot.model_dump()
    data["home"]["position"] = (0.0, 0.0, -1.0)
    with refused(ValueError, "leg1"):
        pp.Robot.model_validate(data)


def test_own_axes_that_are_not_those_of_the_leg_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An axis of the base frame that is not turned with the rest: derivatives would be wrong."""
    right = UPS.leg_frame

    def wrong(self: UPS, tip: Frame) -> LegFrame:
        own = right(self, tip)
        return replace(own, fields={"base": own.fields["base"]})

    monkeypatch.setattr(UPS, "leg_frame", wrong)
    mechanism = Mechanism(pp.load("pedrammehr"))
    with refused(InputError, "leg1 leg_frame() UPS"):
        LegInLegFrame.of(mechanism, mechanism.legs[0])
