"""A machine between controller and robot, and controllers for what it does: against closed forms of one joint."""

from __future__ import annotations

import numpy as np
import pytest

import polypod as pp
from polypod.control import Admittance, ComputedTorque, DisturbanceObserver, Integral, JointComputedTorque, JointPD
from polypod.errors import InputError
from polypod.simulation import Machine, simulate_tracking
from support.refusals import refused

RATE = 1000.0


@pytest.fixture(scope="module")
def hexapod() -> pp.Model:
    return pp.Model("hexapod")


def still(model: pp.Model, duration: float = 1.0) -> pp.motion.Trajectory:
    """A motion that stays at home."""
    home = model.robot.home.matrix
    return pp.motion.Poses.through(np.stack([home, home]), [0.0, duration])


def test_a_lag_of_the_drives_is_the_exponential(hexapod: pp.Model) -> None:
    """Forces after a step of the command, and their impulse, in closed form."""
    home = hexapod.robot.home.matrix
    hold = hexapod.inverse_dynamics(home, np.zeros(6), np.zeros(6))
    lag = 3e-3
    run = pp.simulate(
        hexapod, hold + 10.0, duration=0.02, rate=RATE, machine=Machine(lag=lag), progress=False, friction=False
    )
    h = 0.5e-3  # rows are the mean force of the first half of each period: a lag of 3 periods has two parts in each
    t = run.time.values[:-1]
    expected = 10.0 * (1 - np.exp(-t / lag) * (1 - np.exp(-h / lag)) * lag / h)
    assert run["force"].values[:-1] - hold == pytest.approx(np.tile(expected[:, None], 6), rel=1e-9, abs=1e-9)
    impulse = 10.0 * (0.02 - lag * (1 - np.exp(-0.02 / lag)))
    jacobian, mass = hexapod.jacobian(home), hexapod.mass_matrix(home)
    rise = np.linalg.solve(mass, jacobian.T @ np.full(6, impulse))
    assert run["twist"].values[-1, 2] == pytest.approx(rise[2], rel=2e-3)  # the pose moves a little


def test_encoders_show_steps_and_rates_of_steps(hexapod: pp.Model) -> None:
    seen = []

    def controller(time: float, measurement: pp.control.Measurement) -> np.ndarray:
        seen.append((measurement.q.copy(), measurement.qdot.copy()))
        return np.full(6, 100.0)

    step = 1e-4
    run = pp.simulate(
        hexapod, controller, duration=0.02, rate=RATE, machine=Machine(encoder=step), progress=False, friction=False
    )
    q = np.array([one for one, _ in seen])
    assert np.abs(q / step - np.round(q / step)).max() < 1e-9
    assert np.abs(q - run["q"].values[: len(q)]).max() <= step / 2 * (1 + 1e-9)
    assert np.array([one for _, one in seen])[1:] == pytest.approx(np.diff(q, axis=0) * RATE)


def test_samples_jitter_and_the_controller_does_not_know(hexapod: pp.Model) -> None:
    told = []

    def controller(time: float, measurement: pp.control.Measurement) -> np.ndarray:
        told.append(time)
        return np.full(6, 100.0)

    options = {"duration": 0.2, "rate": RATE, "progress": False, "friction": False}
    run = pp.simulate(hexapod, controller, machine=Machine(jitter=1e-4, seed=3), **options)
    assert told == pytest.approx(np.arange(200) / RATE)
    off = run.time.values[1:-1] - told[1:]
    assert 0.8e-4 < off.std() < 1.2e-4
    again = pp.simulate(hexapod, controller, machine=Machine(jitter=1e-4, seed=3), **options)
    assert np.array_equal(run.time, again.time)


def test_ripple_is_a_force_along_the_coordinate(hexapod: pp.Model) -> None:
    hold = hexapod.inverse_dynamics(hexapod.robot.home.matrix, np.zeros(6), np.zeros(6))
    machine = Machine(ripple=2.0, ripple_pitch=0.02)
    run = pp.simulate(hexapod, hold, duration=0.05, rate=RATE, machine=machine, progress=False, friction=False)
    expected = hold + 2.0 * np.sin(2 * np.pi * run["q"].values / 0.02)
    assert run["force"].values[:-1] == pytest.approx(expected[:-1])


def test_machines_that_cannot_be_are_refused(hexapod: pp.Model) -> None:
    with refused(InputError, "ripple_pitch"):
        Machine(ripple=1.0)
    with refused(InputError, "lag -1"):
        Machine(lag=-1.0)
    with refused(InputError, "machine"):
        pp.simulate(hexapod, duration=0.1, machine=Machine(lag=1e-3))
    with refused(InputError, "computed-torque"):
        simulate_tracking(hexapod, None, "computed-torque", machine=Machine(encoder=1e-6))
    found = simulate_tracking(hexapod, None, machine=Machine(encoder=1e-6), duration=0.05, progress=False)
    assert found.attrs["controller"] == "joint-computed-torque"


def test_integral_action_carries_an_unknown_weight(hexapod: pp.Model) -> None:
    """Without it the error is weight/(kp times mass); with it, it goes to zero."""
    model, motion = hexapod, still(hexapod, 3.0)
    options = {"wrench": [0, 0, -100.0, 0, 0, 0], "rate": RATE, "duration": 3.0, "progress": False, "friction": False}
    kp, kd = pp.control.sampled_gains(model, model.robot.home.matrix, RATE)
    plain = JointPD(model, motion, kp / 50, kd / 7)
    left = [np.abs(pp.simulate(model, law, **options)["error"].values[-1]).max() for law in
            (plain, Integral(model, plain, 4 * kp / 50))]  # fmt: skip
    share = np.linalg.solve(model.jacobian(model.robot.home.matrix).T, [0, 0, 100.0, 0, 0, 0])
    assert left[0] > 0.5 * np.abs(share).min() / (kp / 50)
    assert left[1] < 1e-3 * left[0]


def test_an_observer_finds_an_unknown_wrench(hexapod: pp.Model) -> None:
    """The estimate is J^-T w, and the error that the wrench leaves becomes a hundredth."""
    model, motion = hexapod, still(hexapod)
    wrench = np.array([20.0, -10.0, -100.0, 1.0, 0.0, 2.0])
    options = {"wrench": wrench, "rate": RATE, "duration": 1.0, "progress": False, "friction": False}
    plain = JointComputedTorque(model, motion, friction=False)
    observed = DisturbanceObserver(model, plain, bandwidth=60.0, friction=False)
    memories = []

    class Watched:
        reference = observed.reference

        def start(self, time: float, measurement: pp.control.Measurement) -> object:
            return observed.start(time, measurement)

        def step(self, memory: object, time: float, measurement: pp.control.Measurement) -> tuple[np.ndarray, object]:
            force, memory = observed.step(memory, time, measurement)
            memories.append(memory)
            return force, memory

    before = np.abs(pp.simulate(model, plain, **options)["error"].values[-1]).max()
    after = np.abs(pp.simulate(model, Watched(), **options)["error"].values[-1]).max()
    expected = np.linalg.solve(model.jacobian(model.robot.home.matrix).T, wrench)
    assert memories[-1].estimate == pytest.approx(expected, rel=0.02, abs=0.5)
    assert after < 0.01 * before


def test_admittance_gives_way_as_mass_damper_and_spring(hexapod: pp.Model) -> None:
    """The step response of M x'' + D x' + K x = w, in closed form (critically damped)."""
    model, motion = hexapod, still(hexapod)
    m, k, push = 50.0, 5000.0, 30.0
    d = 2 * np.sqrt(m * k)
    wrench = np.array([0, 0, push, 0, 0, 0])
    law = Admittance(model, motion, lambda t, seen: wrench, m, d, k, friction=False)
    run = pp.simulate(model, law, rate=RATE, duration=1.0, progress=False, friction=False)  # the wrench is felt alone
    t, w = run.time.values, np.sqrt(k / m)
    expected = push / k * (1 - (1 + w * t) * np.exp(-w * t))
    moved = run["pose"].values[:, 2, 3] - model.robot.home.matrix[2, 3]
    assert np.abs(moved - expected).max() < 0.02 * push / k
    assert np.abs(run["pose"].values[:, :2, 3] - model.robot.home.matrix[:2, 3]).max() < 1e-6


@pytest.mark.long
def test_friction_by_the_speed_of_the_reference_frees_joints_that_stick() -> None:
    """Reachy Mini's motors stick at reversals: compensated by their own speed the error is a hundred times larger."""
    model = pp.Model("reachy-mini")
    error = {
        how: np.abs(simulate_tracking(model, compensation=how, progress=False)["error"].values).max()
        for how in (True, "reference")
    }
    assert error["reference"] < 0.02 * error[True]
    with refused(InputError, "friction reference"):
        ComputedTorque(model, "reachy-mini-look", friction="desired")  # type: ignore[arg-type]


@pytest.mark.parametrize("controller", [ComputedTorque, JointComputedTorque])
def test_controllers_take_the_motions_that_simulate_takes(hexapod: pp.Model, controller: type) -> None:
    named = controller(hexapod, "hexapod-tour")
    published = controller(hexapod, pp.motion.Published(name="hexapod-tour"))
    assert np.array_equal(named.reference.at(0.3).pose, published.reference.at(0.3).pose)
