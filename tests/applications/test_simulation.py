"""Simulations against closed forms, other integrators and MuJoCo; events, actuators, results, and bad input."""

from __future__ import annotations

import gc
import importlib.util
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.control import ComputedTorque, Measurement, Springs, scaled_masses
from polypod.description import Drive
from polypod.errors import InputError, UnknownNameError
from polypod.model import ActuatorInfo
from polypod.motion import Published
from polypod.simulation import (
    METHODS,
    InterruptedWarning,
    SimulationError,
    events,
    load_result,
    save_result,
    simulate,
)
from polypod.simulation.chart import numeric_chart
from polypod.simulation.signals import Actuators
from polypod.simulation.system import Stepper, System
from support.command_line import polypod
from support.refusals import names, refused, warned
from support.robots.hexagon import hexagon_modes
from support.states import mostly_long, papers_robots

Array = NDArray[np.float64]
ModelOf = Callable[[str], pp.Model]
ROOT = Path(__file__).parents[2]
CALM = {"limit": "ignore", "singularity": "ignore", "reversal": "ignore"}


def script(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def springs(model: pp.Model, stiffness: float = 2e5, damping: float = 0.0) -> Springs:
    """Springs on which the robot stands at home."""
    home, still = model.robot.home.matrix, np.zeros(6)
    hold = model.inverse_dynamics(home, still, still, friction=False)
    return Springs(stiffness, model.inverse_kinematics(home), damping, hold)


# -- the equations of motion -----------------------------------------------------------------------------------------


def test_a_platform_on_weightless_legs_tumbles_like_a_free_body(model_of: ModelOf) -> None:
    """Several turns of a free body: its centre on a parabola, its rotation by Euler's equations in body axes."""
    light = scaled_masses(model_of("pedrammehr").robot, legs=1e-13)
    model = pp.Model(light)
    body, start = light.platform, light.home.matrix
    twist, g = np.array([0.5, -0.3, 4.0, 3.0, -2.0, 6.0]), np.array(light.gravity)
    result = simulate(
        model, duration=1.5, twist=twist, friction=False, rtol=1e-11, atol=1e-12, output=0.05, events=CALM
    )
    inertia, centre = body.central_inertia, np.array(body.com)

    def euler(_: float, y: Array) -> Array:
        w, q = y[:3], Rotation.from_quat(y[3:])
        spin = 0.5 * (Rotation.from_quat(y[3:]).as_quat()[3] * np.r_[w, 0] + np.r_[np.cross(q.as_quat()[:3], w), 0])
        spin[3] = -0.5 * q.as_quat()[:3] @ w
        return np.r_[np.linalg.solve(inertia, -np.cross(w, inertia @ w)), spin]

    rotation = start[:3, :3]
    times = result.time.values
    first = np.r_[rotation.T @ twist[3:], Rotation.from_matrix(rotation).as_quat()]
    solved = solve_ivp(euler, (0.0, 1.5), first, "DOP853", times, rtol=1e-12, atol=1e-13)
    turned = Rotation.from_quat(solved.y[3:].T).as_matrix()
    assert np.abs(result.pose.values[:, :3, :3] - turned).max() < 1e-7
    arm = rotation @ centre
    begin, speed = start[:3, 3] + arm, twist[:3] + np.cross(twist[3:], arm)
    parabola = begin + times[:, None] * speed + 0.5 * times[:, None] ** 2 * g
    origin = parabola - turned @ centre
    assert np.abs(result.pose.values[:, :3, 3] - origin).max() < 1e-7
    angle = np.linalg.norm(twist[3:]) * 1.5
    assert angle > 3 * np.pi  # the chart was given up and begun anew several times


@pytest.mark.long
def test_example_swing_conserves_energy(tmp_path: Path) -> None:
    numbers = script(ROOT / "examples" / "simulation_swing.py").main(tmp_path)
    assert numbers["duration [s]"] == 10.0
    assert numbers["drift"] < 1e-9
    assert numbers["orthogonality"] < 1e-15
    assert {path.name for path in tmp_path.iterdir()} == {"swing-energies.png", "swing.gif"}


@pytest.mark.parametrize("method", METHODS)
def test_all_methods_reach_the_same_state(model_of: ModelOf, method: str) -> None:
    model = model_of("lopes")
    common: dict[str, Any] = {"duration": 0.1, "twist": [0.1, 0.2, 0.3, 1.0, -0.5, 0.7]}
    exact = simulate(model, springs(model, 2e3), rtol=1e-12, atol=1e-13, **common)
    result = simulate(model, springs(model, 2e3), method=method, step=2e-4, rtol=1e-8, atol=1e-10, **common)
    for name in ("pose", "twist", "work_actuators"):
        got, wanted = result[name].values[-1], exact[name].values[-1]
        assert np.abs(got - wanted).max() < 1e-6 * np.abs(wanted).max()
    assert result.attrs["method"] == method


@pytest.mark.parametrize("name", mostly_long(papers_robots(), ("staicu",)))
def test_compiled_period_is_of_fourth_order_and_equals_rk4_by_hand(name: str, model_of: ModelOf) -> None:
    model = model_of(name)
    system = System(model, True)
    stepper, rng = Stepper(system), np.random.default_rng(1)
    basis = system.dof.basis
    still = np.zeros(6)
    hold = model.inverse_dynamics(model.robot.home.matrix, still, still, friction=False)
    twist = 0.5 * basis @ rng.normal(size=basis.shape[1])
    x, none = system.layout.state(model.robot.home.matrix, twist, np.zeros(0), np.zeros(0)), np.zeros(6)
    h = 1e-3
    base, y = numeric_chart(x)
    friction = stepper.no_friction

    def rate(y: Array, stage: int) -> Array:
        nonlocal friction
        if not stepper.dry:
            return stepper.rate(base, y, hold, none)
        found, friction, _ = stepper.stage_rate(base, y, (hold, none), friction, stage, h)
        return found

    k1 = rate(y, 0)
    k2 = rate(y + h / 2 * k1, 1)
    k3 = rate(y + h / 2 * k2, 2)
    k4 = rate(y + h * k3, 3)
    by_hand = stepper.snapshot(base, y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)).state
    start = stepper.snapshot(base, y)
    end = stepper.period(start, (hold, none), h, 1)
    # loads of dry friction repeat to 1e-8, from different starts; friction moves the robot by 1e-5 m in a step
    assert np.abs(end.state - by_hand).max() < (1e-10 if stepper.dry else 1e-14)
    # dry friction has corners that no order survives
    stepper = Stepper(System(model, False))
    start = stepper.snapshot(base, y)
    ends = [stepper.period(start, (hold, none), 0.02 / n, n).state for n in (2, 4, 8, 64)]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    order = np.log2(errors[0] / errors[1]), np.log2(errors[1] / errors[2])
    assert min(order) > 3.5 or errors[0] < 1e-13


@pytest.mark.long
def test_mujoco_agrees_on_the_closed_loop() -> None:
    """The same robot, controller and step in MuJoCo, whose loops are soft by less than a micrometre."""
    pytest.importorskip("mujoco")
    pytest.importorskip("pinocchio")
    bench = script(ROOT / "bench" / "simulation.py")
    model = pp.Model("pedrammehr")
    controller = ComputedTorque(model, Published(name="pedrammehr-path-3"), friction=False)
    _, ours = bench.ours(model, controller)
    _, theirs, opened = bench.mujoco(model, controller)
    assert opened < 1e-5
    assert abs(ours - theirs) < 0.02 * ours


# -- energy ----------------------------------------------------------------------------------------------------------


def test_energy_audit_adds_up_with_friction_and_wrench(model_of: ModelOf) -> None:
    """Work integrated with the motion: its residual, and friction's part against inverse dynamics."""
    model = model_of("kim-ryu")
    wrench = np.array([3.0, -2.0, 1.0, 0.2, 0.1, -0.3])
    result = simulate(
        model, springs(model, 1e5, 300.0), duration=0.3, twist=[0.2, 0.1, 0, 0, 0, 0.3], method="RK4", step=2.5e-4,
        wrench=lambda t, m: wrench * np.cos(20 * t), output=1e-3,
    )  # fmt: skip
    scale = float(abs(result.work_friction).max())
    assert scale > 1e-3
    assert float(abs(result.energy_residual).max()) < 1e-7 * scale
    pose, twist, force = (result[name].values for name in ("pose", "twist", "force"))
    acting = result.wrench.values
    acceleration = model.direct_dynamics(pose, twist, force, acting)
    lost = force - model.inverse_dynamics(pose, twist, acceleration, acting, friction=False)
    power = (lost * result.qdot.values).sum(axis=1)
    assert (power > -1e-12).all()
    # the trapezoidal rule on a millisecond's grid
    assert abs(np.trapezoid(power, result.time) - float(result.work_friction[-1])) < 1e-3 * scale
    given = (acting * twist).sum(axis=1)
    assert (
        abs(np.trapezoid(given, result.time) - float(result.work_external[-1]))
        < 1e-3 * np.abs(result.work_external).max()
    )


@pytest.mark.long
def test_flexible_robot_stays_in_equilibrium_and_keeps_its_energy() -> None:
    modes = hexagon_modes(3)
    model = pp.Model(pp.load("long").on_modes(modes.with_stiffness(10 * modes.stiffness)))
    home = model.robot.home.matrix
    still = simulate(model, model.static_equilibrium(home).force, duration=0.1)
    assert np.abs(still.twist).max() < 1e-10
    assert np.abs(still.elastic - still.elastic[0]).max() < 1e-10
    free = hexagon_modes(3, damping_ratio=0.0).with_stiffness(10 * modes.stiffness)
    undamped = pp.Model(pp.load("long").on_modes(free))
    q, force = still.q.values[0], model.static_equilibrium(home).force
    hung = Springs(1e6, q, preload=force)
    result = simulate(undamped, hung, duration=0.2, twist=[0.05, 0.02, 0.05, 0, 0, 0.1], rtol=1e-10, atol=1e-12)
    total = result.energy_kinetic + result.energy_potential + result.energy_elastic + result.energy_springs
    assert float(abs(total - total[0]).max()) < 1e-8 * float(result.energy_kinetic.max())
    assert float(result.work_friction[-1]) == 0.0
    damped = simulate(model, hung, duration=0.2, twist=[0.05, 0.02, 0.05, 0, 0, 0.1], rtol=1e-10, atol=1e-12)
    assert float(damped.work_friction[-1]) > 1e-6
    assert float(abs(damped.energy_residual).max()) < 1e-7 * float(damped.work_friction[-1])


# -- events ----------------------------------------------------------------------------------------------------------


def test_limit_stops_where_a_rail_ends(model_of: ModelOf) -> None:
    model = model_of("kim-ryu")
    result = simulate(model, duration=3.0, friction=False)
    (event,) = [e for e in events(result) if e.kind == "limit"][:1]
    leg = model.legs.index(event.leg)
    assert event.time == result.time.values[-1]
    assert abs(result.q.values[-1, leg] - model.limits(model.robot.home.matrix).high[leg]) < 1e-9
    assert "rail reaches" in event.text
    assert result.attrs["ended"].startswith(f"limit at t = {event.time:.6g} s: {event.leg}: rail reaches")
    assert model.limits(result.pose.values[:-1]).ok


@pytest.mark.parametrize("rate", [None, 500.0])
def test_events_are_located_alike_by_all_ways_of_stepping(model_of: ModelOf, rate: float | None) -> None:
    """A singularity approached, found to the integrator's accuracy between samples 2 ms apart, and logged."""
    model, threshold = model_of("pedrammehr"), 0.05
    push = np.array([0.0, 0.0, 0.0, 5.0, -8.0, 20.0])
    chosen = {"singularity": "log"}
    result = simulate(
        model, duration=0.2, wrench=push, rate=rate, events=chosen, singularity=threshold, rtol=1e-10, friction=False
    )
    (event,) = events(result)
    assert result.attrs["ended"] == "duration reached"
    stopped = simulate(model, duration=event.time, wrench=push, rtol=1e-11, friction=False, events=CALM)
    found = model.conditioning(stopped.pose.values[-1]).distance
    assert abs(found - threshold) < 1e-7


def test_reversals_are_logged_with_leg_and_time(model_of: ModelOf) -> None:
    model = model_of("kim-ryu")
    result = simulate(model, springs(model, 1e5), duration=0.1, twist=[0.2, 0.05, 0, 0, 0, 0], method="RK4")
    found = events(result)
    assert found
    for event in found:
        assert event.kind == "reversal"
        before = result.qdot.sel(actuator=event.leg).values[result.time.values < event.time][-1]
        after = result.qdot.sel(actuator=event.leg).values[result.time.values > event.time][0]
        assert before * after < 0
    assert not events(simulate(model, springs(model, 1e5), duration=0.05, twist=[0.2, 0, 0, 0, 0, 0], friction=False))


# -- actuators and sampling ------------------------------------------------------------------------------------------


def test_delay_and_saturation() -> None:
    actuators = Actuators(("a", "b"), [5.0, 1.0], 0.0025)
    actuators.start_from(np.zeros(2))
    given = []
    for k in range(5):
        actuators.command(k * 1e-3, np.array([1.0, 1.0]) * 3 * (k + 1), np.zeros(2))
        given += actuators.pieces(k * 1e-3, (k + 1) * 1e-3)
    ends = [(round(a, 6), round(b, 6)) for a, b, _ in given]
    assert ends == [
        (0, 0.001), (0.001, 0.002), (0.002, 0.0025), (0.0025, 0.003), (0.003, 0.0035), (0.0035, 0.004),
        (0.004, 0.0045), (0.0045, 0.005),
    ]  # fmt: skip
    assert [force.tolist() for _, _, force in given] == [
        [0, 0], [0, 0], [0, 0], [3, 1], [3, 1], [5, 1], [5, 1], [5, 1],
    ]  # fmt: skip


def test_a_delay_within_a_period_is_seen_after_days_too() -> None:
    """What is taken for the same instant is a part of the period, not of the time since the start."""
    actuators, start = Actuators(("a",), [5.0], 0.0002), 1e6
    actuators.start_from(np.zeros(1))
    actuators.command(start, np.ones(1), np.zeros(1))
    ends = [(round(a - start, 6), round(b - start, 6)) for a, b, _ in actuators.pieces(start, start + 1e-3)]
    assert ends == [(0, 0.0002), (0.0002, 0.001)]


def test_drives_give_what_their_file_says_at_a_speed() -> None:
    """Within force, curve and power, either sign; nothing beyond the last speed of the curve."""
    drives = Drive(max_force=5.0, max_power=8.0), Drive(force_speed=((0, 6), (1, 4), (2, 4))), Drive()
    named = tuple(ActuatorInfo(name, name, "j", "m", "N", drive) for name, drive in zip("abc", drives, strict=True))
    actuators = Actuators(named, "drives", 0.0)
    for rate, most in (
        ([0, 0, 0], [5, 6, 9]),
        ([-2, 0.5, 1], [4, 5, 9]),
        ([4, -1.5, 0], [2, 4, 9]),
        ([0, 3, 0], [5, 0, 9]),
    ):
        for sign in (-1, 1):
            given = actuators.saturated(sign * np.full(3, 9.0), np.array(rate, dtype=float))
            np.testing.assert_allclose(given, sign * np.array(most, dtype=float), rtol=1e-14)
    with refused(InputError, "drives"):
        Actuators(named, "motors", 0.0)
    with refused(InputError, "max_force"):
        Actuators(named[2:], "drives", 0.0)


def test_delayed_force_holds_the_start_until_it_arrives(model_of: ModelOf) -> None:
    """Until the first command arrives what holds the robot acts: it does not move; then the command does."""
    model = model_of("lopes")
    command = np.full(6, 5.0)
    result = simulate(model, command, duration=0.02, rate=1000, delay=0.0105, friction=False)
    early = result.sel(time=slice(None, 0.0101))
    assert np.abs(early.twist).max() < 1e-12
    free = simulate(model, command, duration=0.0095, friction=False, rtol=1e-12)
    assert np.abs(result.twist.values[-1] - free.twist.values[-1]).max() < 1e-9
    assert np.array_equal(result.command.values[0], command)


def test_held_force_equals_a_constant_one_and_rate_matters_for_feedback(model_of: ModelOf) -> None:
    model = model_of("lopes")
    held = simulate(model, lambda t, m: np.full(6, 4.0), duration=0.05, rate=300, step=1e-3)
    free = simulate(model, np.full(6, 4.0), duration=0.05, rtol=1e-12, atol=1e-13)
    assert held.time.values[-1] == 0.05
    assert np.abs(held.twist.values[-1] - free.twist.values[-1]).max() < 1e-9
    limited = simulate(model, lambda t, m: np.full(6, 4.0), duration=0.01, rate=1000, saturation=3.0)
    assert (limited.force == 3.0).all()
    assert (limited.command == 4.0).all()


def test_a_users_controller_is_a_plain_function_and_cannot_touch_the_state(model_of: ModelOf) -> None:
    model = model_of("lopes")
    law = springs(model, 5e3, 20.0)
    seen: list[Measurement] = []

    def mine(time: float, measurement: Measurement) -> Array:
        seen.append(measurement)
        force = law(time, measurement)
        for array in measurement:
            array[...] = 0.0
        return force

    ours = simulate(model, mine, duration=0.02, rate=1000, twist=[0, 0, 0.3, 0, 0, 0])
    plain = simulate(model, law, duration=0.02, rate=1000, twist=[0, 0, 0.3, 0, 0, 0])
    assert np.array_equal(ours.twist, plain.twist)
    assert len(seen) == 20


# -- results ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tracked() -> xr.Dataset:
    model = pp.Model("kim-ryu")
    controller = ComputedTorque(model, Published(name="kim-ryu-circle"))
    return simulate(model, controller, duration=0.3, rate=1000)


def test_result_is_labelled_and_survives_a_file(tracked: xr.Dataset, tmp_path: Path) -> None:
    assert tracked.sizes["time"] == 301
    assert tracked.actuator.values.tolist() == [f"leg{k}" for k in range(1, 7)]
    assert tracked.component.values.tolist() == ["x", "y", "z", "rx", "ry", "rz"]
    for name, variable in tracked.data_vars.items():
        if not str(name).startswith(("event_kind", "event_leg", "event_text")):
            assert variable.attrs["units"], name
    path = save_result(tracked, tmp_path / "run.nc")
    back = load_result(path)
    assert back.identical(tracked)
    assert events(back) == events(tracked)
    with refused(InputError, code="exists"):
        save_result(tracked, path)
    save_result(tracked, path, force=True)


def test_output_interval(model_of: ModelOf) -> None:
    model = model_of("lopes")
    thinned = simulate(model, springs(model, 2e3), duration=0.05, rate=1000, output=0.01)
    assert np.allclose(thinned.time, np.arange(6) * 0.01, atol=1e-15)
    grid = simulate(model, springs(model, 2e3), duration=0.05, output=0.01, twist=[0, 0, 0.1, 0, 0, 0])
    assert np.allclose(grid.time, np.arange(6) * 0.01, atol=1e-15)
    every = simulate(model, springs(model, 2e3), duration=0.03, twist=[0, 0, 0.1, 0, 0, 0])
    assert np.abs(every.pose.values[-1] - grid.pose.values[3]).max() < 1e-7
    with refused(InputError, "output"):
        simulate(model, duration=1.0, rate=1000, output=0.0015)


@pytest.mark.parametrize(("duration", "output"), [(0.025, 0.01), (3.0, 0.1), (3.0, None)])
def test_the_last_row_has_the_force_of_its_own_time(model_of: ModelOf, duration: float, output: float | None) -> None:
    """Where the duration is no multiple of the interval, and where an event ends the run between two rows."""
    result = simulate(
        model_of("kim-ryu"), lambda time, seen: np.full(6, time), duration=duration, output=output, friction=False
    )
    assert (result.attrs["ended"] == "duration reached") == (duration < 1.0)
    assert np.array_equal(result.force.values[:, 0], result.time.values)


@pytest.mark.parametrize("duration", [0.045, 3.0])
def test_the_last_row_of_a_sampled_run_has_the_wrench_of_its_own_time(model_of: ModelOf, duration: float) -> None:
    """The force is held from the last sample, the wrench is a function of time."""

    def rising(time: float, seen: Measurement) -> list[float]:
        return [0.0, 0.0, time, 0.0, 0.0, 0.0]

    result = simulate(model_of("kim-ryu"), wrench=rising, duration=duration, rate=100, friction=False)
    assert (result.attrs["ended"] == "duration reached") == (duration < 1.0)
    assert np.array_equal(result.wrench.values[:, 2], result.time.values)


def test_figures_and_animation(tracked: xr.Dataset, tmp_path: Path) -> None:
    from PIL import Image

    from polypod.results.figures import simulation as plots
    from polypod.results.figures.animation import animate

    for draw in (plots.tracking, plots.forces, plots.energies):
        figure = draw(tracked)
        for axes in figure.axes:
            assert "[" in axes.get_ylabel(), "a unit on every axis"
            assert axes.lines
    path = animate(tracked, tmp_path / "run.gif", fps=20, speed=0.5)
    with Image.open(path) as picture:
        assert picture.n_frames == 13
    with refused(InputError, ".gif .webp .mp4 .html"):
        animate(tracked, tmp_path / "run.avi")
    with refused(InputError, "error"):
        plots.tracking(tracked.drop_vars("error"))


@pytest.mark.long
def test_command_line(tmp_path: Path) -> None:
    import json

    run = polypod("simulate", "lopes", "--mass", "1.1", "--out", tmp_path / "run", "--json")
    assert run.exit_code == 0, run.output
    facts = json.loads(run.stdout)
    assert facts["ended"] == "duration reached"
    assert 1e-6 < facts["largest_position_error_m"] < 1e-2
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "checksums.txt", "energies.png", "forces.png", "manifest.json", "simulation.nc", "tracking.png",
    ]  # fmt: skip
    assert load_result(tmp_path / "run" / "simulation.nc").attrs["robot"] == "lopes"
    table = polypod("simulate", "lopes", "--controller", "joint-pd")
    assert "Largest error" in table.stdout
    assert polypod("simulate", "lopes", "--controller", "magic").exit_code == 2


def test_robots_with_cranks_have_angles() -> None:
    """A leg kind of the user's own, actuated by a crank: coordinates in rad, torques in N m, energy kept."""
    from polypod.description import LegData

    known = dict(LegData.registry)
    try:
        model = pp.Model(script(ROOT / "examples" / "custom_leg.py").hexa())
        result = simulate(model, np.zeros(6), duration=0.1, rtol=1e-10, atol=1e-12)
    finally:
        LegData.registry.clear()
        LegData.registry.update(known)
    assert (result.q.attrs["units"], result.force.attrs["units"]) == ("rad", "N m")
    assert float(abs(result.energy_residual).max()) < 1e-9 * float(result.energy_kinetic.max())
    assert float(result.work_friction[-1]) > 0


# -- bad input -------------------------------------------------------------------------------------------------------


def _bad_after(time: float, bad: object) -> Callable[[float, Measurement], object]:
    return lambda t, m: bad if t >= time else np.zeros(6)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.zeros(5), "force 6 5 0.01"),
        (np.r_[0, 0, np.nan, 0, 0, 0], "force leg3 0.01"),
        (np.ones(6) + 1j, "force 6 array([1.+1.j"),
        ("much", "force 6 much 0.01"),
    ],
)
def test_a_bad_controller_is_reported_with_its_time_and_the_result_is_kept(
    model_of: ModelOf, bad: object, message: str
) -> None:
    with refused(SimulationError, message) as caught:
        simulate(model_of("lopes"), _bad_after(0.01, bad), duration=1.0, rate=1000)  # type: ignore[arg-type]
    assert caught.value.time == 0.01
    assert caught.value.result is not None
    assert np.allclose(caught.value.result.time, np.arange(11) * 1e-3, atol=1e-15)
    assert str(caught.value) == caught.value.result.attrs["ended"]


def test_a_controller_that_raises_keeps_the_result(model_of: ModelOf) -> None:
    def fails(time: float, measurement: Measurement) -> Array:
        if time > 0.005:
            raise ZeroDivisionError("division by zero")
        return np.zeros(6)

    with refused(SimulationError, "ZeroDivisionError", time=0.006) as caught:
        simulate(model_of("lopes"), fails, duration=1.0, rate=1000)
    assert caught.value.result is not None
    assert len(caught.value.result.time) == 7


def test_a_controller_that_fails_at_once(model_of: ModelOf) -> None:
    with refused(SimulationError, "nan leg1", time=0.0) as caught:
        simulate(model_of("lopes"), lambda t, m: np.full(6, np.nan), duration=1.0)
    assert caught.value.result is not None
    assert np.array_equal(caught.value.result.pose.values[0], model_of("lopes").robot.home.matrix)


def test_interrupting_keeps_what_there_is(model_of: ModelOf) -> None:
    def pressed(time: float, measurement: Measurement) -> Array:
        if time >= 0.02:
            raise KeyboardInterrupt
        return np.zeros(6)

    with warned(InterruptedWarning, "0.02"):
        result = simulate(model_of("lopes"), pressed, duration=1.0, rate=1000)
    assert result.attrs["ended"] == "interrupted at t = 0.02 s"
    assert len(result.time) == 21


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("method", ["RK4", "DOP853"])
def test_a_state_without_an_answer_ends_with_time_leg_and_result(model_of: ModelOf, method: str, held: bool) -> None:
    """Lopes' platform thrown sideways: a rail is out of reach of its link after 0.19 s, whatever the method."""
    model = model_of("lopes")
    force: Any = np.zeros(6) if held else lambda t, m: np.zeros(6)
    with refused(SimulationError) as caught:
        simulate(model, force, duration=1.0, twist=[5.0, 0, 0, 0, 0, 0], method=method, events=CALM)
    error, result = caught.value, caught.value.result
    assert 0.1 < error.time < 0.2
    assert any(names(str(error), leg) for leg in model.legs)
    assert result is not None
    assert str(error) == result.attrs["ended"]
    # the last state kept has an answer, and a leg is as good as straight there
    last = result.pose.values[-1]
    assert np.isfinite(model.inverse_kinematics(last)).all()
    assert error.time == pytest.approx(result.time.values[-1], abs=2e-3)


def test_forces_too_large_for_the_step_end_with_the_result(model_of: ModelOf) -> None:
    with refused(SimulationError, code="leg") as caught:
        simulate(model_of("kim-ryu"), np.full(6, 1e7), duration=1.0, rate=100, step=0.01, events=CALM)
    assert caught.value.result is not None


def test_models_stay_as_they_are_and_go_with_what_was_compiled_for_them() -> None:
    """Compiled functions are kept for a model, not in it, and do not keep it."""
    model = pp.Model("lopes")
    before = set(vars(model))
    simulate(model, duration=0.01)
    assert set(vars(model)) - {"robot_limits", "joints"} == before  # which are data of its file
    kept, compiled = weakref.ref(model), System(model, True).compiled
    assert System(model, True).compiled is compiled
    del model
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"duration": -1.0}, "duration 0"),
        ({"duration": "1"}, "duration 0 1"),
        ({"duration": float("nan")}, "duration 0"),
        ({"duration": None}, "duration"),
        ({"duration": 1.0, "rate": 0.0}, "rate 0"),
        ({"duration": 1.0, "step": -1e-3}, "step 0"),
        ({"duration": 1.0, "step": 0.0}, "step 0"),
        ({"duration": 1.0, "reference": "kim-ryu-circle"}, "reference polypod.motion.Trajectory"),
        ({"duration": 1.0, "twist": 1j * np.ones(6)}, "twist"),
        ({"duration": 1.0, "delay": -1.0}, "delay 0"),
        ({"duration": 1.0, "delay": 0.01}, "delay"),
        ({"duration": 1.0, "breaks": [2.0]}, "breaks [0 1]"),
        ({"duration": 1.0, "force": [1.0, 2.0]}, "force 6"),
        ({"duration": 1.0, "wrench": np.full(6, np.inf)}, "wrench 6"),
        ({"duration": 1.0, "twist": [1.0]}, "twist 6"),
        ({"duration": 1.0, "pose": 2 * np.eye(4)}, "pose"),
        ({"duration": 1.0, "elastic": [0.0]}, "elastic kim-ryu"),
        ({"duration": 1.0, "saturation": [1.0, 2.0]}, "saturation"),
        ({"duration": 1.0, "events": {"limit": "panic"}}, "events limit stop log ignore panic"),
        ({"duration": 1e9, "rate": 1e6}, "duration 1e+09 20000000"),
    ],
)
def test_bad_arguments(model_of: ModelOf, arguments: dict[str, Any], message: str) -> None:
    with refused(InputError, message):
        simulate(model_of("kim-ryu"), **arguments)


def test_bad_names_and_models(model_of: ModelOf) -> None:
    with refused(UnknownNameError, near="RK45"):
        simulate(model_of("kim-ryu"), duration=1.0, method="RK54")
    with refused(UnknownNameError, what="event"):
        simulate(model_of("kim-ryu"), duration=1.0, events={"limits": "stop"})  # type: ignore[dict-item]
    with refused(InputError, "model polypod.Model"):
        simulate(7, duration=1.0)


def test_bad_starts(model_of: ModelOf) -> None:
    model = model_of("kim-ryu")
    high = model.robot.home.matrix.copy()
    high[2, 3] = 0.3
    with refused(InputError, "pose rail", code="limits"):
        simulate(model, duration=1.0, pose=high)
    away = model.robot.home.matrix.copy()
    away[0, 3] = 5.0
    with refused(InputError, "pose m", code="leg"):
        simulate(model, duration=1.0, pose=away)
    with refused(InputError, "twist", code="not_admissible"):
        simulate(model_of("staicu"), duration=1.0, twist=[1.0, 0, 0, 0, 0, 0])
