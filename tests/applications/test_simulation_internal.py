"""Simulations of robots with internal coordinates, and of machines in stages as one robot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import polypod as pp
from polypod.errors import InputError
from polypod.files import loads
from polypod.motion import loads_motion
from polypod.results.simulated import simulated_limits, tracking_summary
from support.refusals import refused
from support.robots.internal import planar

Array = NDArray[np.float64]
TWO_MASSES = """name: two masses
platform: {mass: 3.0, inertia: [0.1, 0.1, 0.1]}
gravity: [0, 0, -9.81]
dof: [x]
internal: [ballast.slide]
legs:
- name: rail
  kind: chain
  bodies: {}
  joints:
  - {name: motor, kind: prismatic, between: [base, platform], at: [0, 0, 0], axis: [1, 0, 0], actuated: true,
     rotor: 0.5}
- name: ballast
  kind: chain
  bodies: {weight: {mass: 2.0, com: [0, 0, 0.1]}}
  joints:
  - {name: slide, kind: prismatic, between: [platform, weight], at: [0, 0, 0.1], axis: [0.6, 0, 0.8], actuated: true}
"""


@pytest.mark.parametrize("how", [{"rate": 1000}, {}])
def test_two_masses_move_as_by_hand(how: dict[str, Any]) -> None:
    """(M + J + m) x'' + 0.6 m s'' = F, 0.6 m x'' + m s'' = T - 0.8 m g: parabolas, which RK4 integrates exactly."""
    model = pp.Model(loads(TWO_MASSES))
    force = np.array([4.0, 16.0])
    mass = np.array([[5.5, 1.2], [1.2, 2.0]])
    rates = np.linalg.solve(mass, force - [0.0, 0.8 * 2.0 * 9.81])
    start = np.array([0.2, -0.1])
    twist = np.r_[start[0], np.zeros(5), start[1]]
    found = pp.simulate(model, force, duration=0.5, twist=twist, internal=[0.03], progress=False, **how)
    t = found["time"].values
    np.testing.assert_allclose(found["pose"].values[:, 0, 3], start[0] * t + 0.5 * rates[0] * t**2, atol=1e-12)
    np.testing.assert_allclose(found["internal"].values[:, 0], 0.03 + start[1] * t + 0.5 * rates[1] * t**2, atol=1e-12)
    np.testing.assert_allclose(found["internal_rate"].values[:, 0], start[1] + rates[1] * t, atol=1e-12)
    assert np.abs(found["energy_residual"].values).max() < 1e-12


def test_a_planar_robot_moves_as_scipy_says() -> None:
    """State [x, y, yaw, rail] by direct dynamics alone; nothing of the simulation's charts."""
    model, force = planar(), np.array([1.0, 0.2, -0.1, 0.05])

    def derivative(_: float, state: Array) -> Array:
        x, xdot = state[:4], state[4:]
        there = model.motion(x, xdot)
        change = model.direct_dynamics(there.pose, there.twist, force, internal=x[3:])
        return np.r_[xdot, change[[0, 1, 5, 6]]]

    wanted = solve_ivp(derivative, (0.0, 0.1), np.zeros(8), rtol=1e-11, atol=1e-13).y[:, -1]
    found = pp.simulate(model, force, duration=0.1, rate=1000, progress=False)
    pose = found["pose"].values[-1]
    own = np.r_[pose[:2, 3], np.arctan2(pose[1, 0], pose[0, 0]), found["internal"].values[-1]]
    np.testing.assert_allclose(own, wanted[:4], atol=1e-9)  # RK4 at 1 ms
    assert np.abs(found["energy_residual"].values).max() < 1e-6 * found["energy_kinetic"].values.max()


MOTION = """name: sway
rate: 50
trajectory: {kind: coordinates, path: {kind: sine, amplitude: [30 mm, 20 mm, 10 deg], frequency: 1, duration: 0.3}}
internal: {kind: sine, amplitude: [40 mm], frequency: 2, duration: 0.3}
"""
LAWS = [("computed-torque", 5e-5), ("joint-computed-torque", 5e-5), ("joint-pd", 0.05)]


@pytest.mark.parametrize(("law", "error"), LAWS)
def test_controllers_follow_it(law: str, error: float) -> None:
    """Computed torque of an exact model leaves what is held for a period: a tenth of a millimetre is far more."""
    found = pp.simulation.simulate_tracking(planar(), loads_motion(MOTION), law, progress=False)
    assert np.abs(found["error"].values).max() < error
    assert np.abs(found["internal_error"].values).max() < error
    assert tracking_summary(found)["completed"]
    wanted = 0.04 * np.sin(4 * np.pi * found["time"].values)
    met = found["internal"].values[:, 0] + found["internal_error"].values[:, 0]
    np.testing.assert_allclose(met, wanted, atol=1e-12)


def test_legs_of_iterated_machines_on_a_moving_base() -> None:
    """An engine of variable stroke closes by iteration; on a base that heaves the work of all adds up."""
    model = pp.Model(str(Path(__file__).parents[1] / "data" / "hostile_machines" / "engine.yaml"))
    base = loads_motion(
        "name: b\ntrajectory: {kind: euler, path: {kind: sine, amplitude: [20 mm, 0, 50 mm, 0, 5 deg, 0], "
        "frequency: 2, duration: 1}}\n"
    ).trajectory
    lost = []
    for rate in (1000, 2000):
        found = pp.simulate(model, [20.0, 1.0], duration=0.05, rate=rate, base=base, progress=False)
        lost.append(np.abs(found["energy_residual"].values).max() / np.abs(found["energy_kinetic"].values).max())
    assert lost[1] < 1e-6
    assert lost[1] < 0.1 * lost[0]  # the error of RK4, of fourth order; what is wrong would stay


@pytest.mark.long
def test_a_machine_in_stages_follows_a_motion() -> None:
    motion = """name: shift
trajectory: {kind: euler, path: {kind: sine, amplitude: [10 mm, 0, 0, 0, 0, 0], frequency: 2, duration: 0.2},
  relative_to: home}
internal: {kind: sine, amplitude: [5 mm], frequency: 2, duration: 0.2}
"""
    found = pp.simulate("hexapod-on-rail", loads_motion(motion), progress=False)
    assert "within all" in simulated_limits(found)
    assert np.abs(found["error"].values).max() < 2e-5
    assert np.abs(found["internal_error"].values).max() < 2e-5
    assert np.abs(found["energy_residual"].values).max() < 1e-9


def test_what_is_refused() -> None:
    model = planar()
    for wrong in ({"internal": [0.0, 0.0]}, {"twist": np.zeros(6)}, {"pose": np.tile(np.eye(4), (2, 1, 1))}):
        with pytest.raises(InputError):
            pp.simulate(model, np.zeros(4), duration=0.1, rate=1000, progress=False, **wrong)
    with refused(InputError, "five-bar", code="no_internal"):
        pp.simulate(pp.Model("five-bar"), np.zeros(2), duration=0.1, internal=[0.0], progress=False)
