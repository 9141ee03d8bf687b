"""Simulations on a base that moves: against closed forms, another gravity and Lagrange's equation in space."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polypod as pp
from polypod.arrays import Array
from polypod.errors import InputError
from polypod.motion import Euler, Sine, loads_motion
from polypod.simulation import simulate_tracking
from support.command_line import polypod
from support.refusals import refused
from support.robots.hexagon import hexagon_modes

DURATION = 0.5
SHIP = """
name: ship
rate: 50
trajectory: {kind: euler, relative_to: home, path: {kind: sine, duration: 0.5, frequency: 2,
  amplitude: [0.01, 0, 0.005, 0, 0.02, 0]}}
base: {kind: euler, path: {kind: sine, duration: 0.5, frequency: 2, amplitude: [0, 0.1, 0.05, 0.2, 0.1, 0]}}
"""
SLIDE = """
name: slide
gravity: [0, 0, -9.81]
dof: [x]
home: {position: [0.5, 0, 0]}
platform: {mass: 2, inertia: [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}
legs:
  - kind: chain
    bodies: {}
    joints:
      - {name: slide, kind: prismatic, between: [base, platform], at: [0, 0, 0], axis: [1, 0, 0], actuated: true}
"""
CENTRIFUGE = """
kind: axis
position: {kind: rest, point: [0, 0, 0], duration: 0.5}
axis: [0, 0, 1]
angle: {kind: polynomial, coefficients: [0, 4], duration: 0.5}
"""
PENDULUM = """
name: double pendulum
gravity: [0, 0, -9.81]
dof: [arm.shoulder, arm.elbow]
home: {position: [0, 0.3, -0.4]}
platform: {mass: 0.8, com: [0, -0.15, 0], inertia: [0.01, 0.001, 0.01]}
legs:
- name: arm
  kind: chain
  bodies:
    upper: {mass: 1.3, com: [0, 0, -0.2], inertia: [0.02, 0.02, 0.001]}
  joints:
  - {name: shoulder, kind: revolute, between: [base, upper], at: [0, 0, 0], axis: [1, 0, 0], actuated: true}
  - {name: elbow, kind: revolute, between: [upper, platform], at: [0, 0, -0.4], axis: [1, 0, 0], actuated: true}
"""


def axis_motion(text: str) -> Any:
    """A trajectory as a motion file has it under ``base``."""
    rest = "{kind: coordinates, path: {kind: rest, point: [0], duration: 0.5}}"
    lines = "\n".join(f"  {line}" for line in text.strip().splitlines())
    return loads_motion(f"name: base\ntrajectory: {rest}\nbase:\n{lines}\n").base


@pytest.mark.parametrize("method", ["RK4", "DOP853"])
def test_a_free_mass_on_a_centrifuge(method: str) -> None:
    """r'' = w^2 r: r = r0 cosh(w t); the base does the work of the angular momentum it gives, w d(m w r^2)."""
    model, w, r0, m = pp.Model(pp.loads(SLIDE)), 4.0, 0.5, 2.0
    result = pp.simulate(model, duration=DURATION, base=axis_motion(CENTRIFUGE), method=method, step=1e-3)
    r, t = result.pose.values[:, 0, 3], result.time.values
    tolerance = {"RK4": 1e-10, "DOP853": 1e-8}[method]
    np.testing.assert_allclose(r, r0 * np.cosh(w * t), rtol=tolerance)
    work = m * w**2 * (r**2 - r0**2)
    np.testing.assert_allclose(result.work_base.values, work, atol=1e-7)
    spin = 0.1 * w**2 / 2
    np.testing.assert_allclose(
        result.energy_kinetic.values, m / 2 * ((r0 * w * np.sinh(w * t)) ** 2 + (w * r) ** 2) + spin, rtol=1e-7
    )
    np.testing.assert_allclose(result.base_pose.values[-1, :2, 0], [np.cos(w * t[-1]), np.sin(w * t[-1])], atol=1e-12)


def test_a_base_that_only_accelerates_is_another_gravity(model_of: Any) -> None:
    """The relative motion to rounding; the energy balance in space closes too."""
    model, a = model_of("hexapod"), np.array([1.5, -0.5, 2.0])
    coefficients = [[0.0] * 6, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0], [*(0.5 * a).tolist(), 0.0, 0.0, 0.0]]
    base = axis_motion(f"{{kind: euler, path: {{kind: polynomial, coefficients: {coefficients}, duration: 0.5}}}}")
    gravity = np.array(model.robot.gravity) - a
    force = model.inverse_dynamics(model.home, np.zeros(6), np.zeros(6)) + np.arange(6.0)
    given: dict[str, Any] = {"duration": 0.1, "rate": 200.0, "step": 2e-3}
    moving = pp.simulate(model, force, base=base, **given)
    still = pp.simulate(model, force, parameters={"gravity": gravity}, **given)
    np.testing.assert_allclose(moving.pose.values, still.pose.values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(moving.twist.values, still.twist.values, rtol=0, atol=1e-11)
    assert np.abs(moving.energy_residual.values).max() < 1e-9 * np.ptp(moving.work_base.values)


def lagrange(base: Any, gravity: Array) -> Any:
    """q'' of the pendulum from its Lagrangian in space: positions of all bodies as functions of time and angles.

    The base heaves and sways by sines and rolls about x: everything stays in the plane x = 0.
    """
    t, q, rate = ca.SX.sym("t"), ca.SX.sym("q", 2), ca.SX.sym("rate", 2)
    wave = ca.sin(2 * ca.pi * base.path.frequency * t)
    sway, heave, roll = (float(base.path.amplitude[k]) * wave for k in (1, 2, 5))

    def turn(angle: ca.SX) -> ca.SX:
        return ca.vertcat(ca.horzcat(ca.cos(angle), -ca.sin(angle)), ca.horzcat(ca.sin(angle), ca.cos(angle)))

    origin, upper, lower = ca.vertcat(sway, heave), turn(roll + q[0]), turn(roll + q[0] + q[1])
    elbow = origin + upper @ ca.DM([0, -0.4])
    tip = elbow + lower @ ca.DM([0.3, 0])
    bodies = [
        (1.3, 0.02, origin + upper @ ca.DM([0, -0.2]), roll + q[0]),
        (0.8, 0.01, elbow + lower @ ca.DM([0.15, 0]), roll + q[0] + q[1]),
    ]
    both, speeds = ca.vertcat(t, q), ca.vertcat(1, rate)
    lagrangian = ca.SX(0)
    for mass, inertia, place, angle in bodies:
        v, w = ca.jtimes(place, both, speeds), ca.jtimes(angle, both, speeds)
        lagrangian += 0.5 * mass * ca.dot(v, v) + 0.5 * inertia * w**2 + mass * float(gravity[2]) * place[1]
    momentum = ca.gradient(lagrangian, rate)
    rest = ca.gradient(lagrangian, q) - ca.jtimes(momentum, both, speeds)
    force = ca.SX.sym("force", 2)
    change = ca.solve(ca.jacobian(momentum, rate), rest + force)
    relative = turn(-roll) @ (tip - origin)
    return ca.Function("change", [t, q, rate, force], [change]), ca.Function("tip", [t, q], [relative])


def test_a_double_pendulum_on_a_ship_is_that_of_lagrange_in_space() -> None:
    """Motion, forces that drift it and the balance of energies, with all sorts of integrators."""
    model = pp.Model(pp.loads(PENDULUM))
    base = Euler(path=Sine(amplitude=[0, 0.15, 0.1, 0, 0, 0.3], frequency=2.0, duration=DURATION), convention="ZYX")
    change, tip = lagrange(base, np.array(model.robot.gravity))
    force = np.array([0.5, -0.8])
    known = solve_ivp(
        lambda t, y: np.r_[y[2:], np.asarray(change(t, y[:2], y[2:], force)).ravel()],
        (0, DURATION), np.zeros(4), method="DOP853", rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    wanted = np.asarray(tip(DURATION, known.y[:2, -1])).ravel()
    assert np.linalg.norm(wanted - [0.3, -0.4]) > 0.05
    for given, tolerance in (({"rate": 100.0, "step": 1e-3}, 1e-9), ({"method": "DOP853"}, 1e-7)):
        result = pp.simulate(model, force, duration=DURATION, base=base, events={"limit": "ignore"}, **given)
        np.testing.assert_allclose(result.pose.values[-1, 1:3, 3], wanted, rtol=0, atol=tolerance)
        assert np.abs(result.energy_residual.values).max() < 1e-6 * np.ptp(result.work_base.values)


def test_a_controller_that_knows_the_base_and_one_that_does_not(model_of: Any) -> None:
    """Computed torque that knows follows; one that does not is off by what the base adds over its stiffness."""
    model = model_of("hexapod")
    motion = loads_motion(SHIP)
    errors = {}
    for known in (True, False):
        result = simulate_tracking(model, motion, rate=500.0, base_known=known)
        errors[known] = np.abs(result.error.values).max()
        assert result.attrs["moving_base"] == ("known" if known else "unknown")
        assert np.abs(result.energy_residual.values).max() < 1e-7 * np.ptp(result.work_base.values)
    # forces are held for 2 ms: what is left is linear in that
    assert errors[True] < 2e-4
    assert errors[False] > 20 * errors[True]
    joints = simulate_tracking(model, motion, "joint-computed-torque", rate=500.0)
    assert np.abs(joints.error.values).max() < 2e-4
    held = simulate_tracking(model, motion, "joint-pd", rate=500.0)
    assert held.attrs["moving_base"] == "unknown"


def test_commands_and_refusals(model_of: Any, tmp_path: Path) -> None:
    """The command says whether the controller knows; what cannot be is refused by name."""
    file = tmp_path / "ship.yaml"
    file.write_text(SHIP)
    done = polypod("simulate", "hexapod", str(file), "--base-unknown", "--rate", "200")
    assert done.exit_code == 0, done.output
    assert "on a moving base that the controller does not know" in " ".join(done.output.split())
    model, base = model_of("hexapod"), loads_motion(SHIP).base
    with refused(InputError, "base", code="too_short"):
        pp.simulate(model, duration=2.0, base=base)
    with refused(InputError, "base", code="twice"):
        pp.simulate(model, file, base=base)
    with refused(InputError, "base"):
        pp.simulate(model, np.zeros((3, 6)), duration=0.1, rate=100.0, base=base)
    with refused(InputError, "base", code="flexible"):
        pp.simulate(pp.Model(pp.load("long").on_modes(hexagon_modes(1))), duration=0.1, base=base)
