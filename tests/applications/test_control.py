"""Controllers: their laws in closed form, what they know, what they refuse, and the examples that show them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import polypod as pp
from polypod.control import (
    CONTROLLERS,
    ComputedTorque,
    JointComputedTorque,
    JointPD,
    Measurement,
    Reference,
    Springs,
    controller,
    default_controller,
    sampled_gains,
    scaled_masses,
)
from polypod.errors import InputError, StateError, UnknownNameError
from polypod.motion import Poses, Published
from polypod.simulation import SimulationError, simulate
from support.refusals import refused
from support.robots.hexagon import hexagon_modes
from support.states import basis, displaced, easy, singular_pose

Array = NDArray[np.float64]
ModelOf = Callable[[str], pp.Model]
EXAMPLES = Path(__file__).parents[2] / "examples"
NONE = np.zeros(0)


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rest(model: pp.Model, duration: float = 1.0) -> Reference:
    """Standing at home."""
    home = model.robot.home.matrix
    return Reference(Poses.through([home, home], [0.0, duration]))


def measured(model: pp.Model, pose: Array, twist: Array) -> Measurement:
    return Measurement(model.inverse_kinematics(pose), model.rates(pose, twist), pose, twist, NONE, NONE)


def test_computed_torque_is_inverse_dynamics_of_the_corrected_acceleration(model_of: ModelOf) -> None:
    model, path = model_of("pedrammehr"), Published(name="pedrammehr-path-3")
    kp, kd = np.arange(100.0, 700.0, 100.0), np.arange(10.0, 70.0, 10.0)
    controller = ComputedTorque(model, path, kp, kd)
    wanted, shift = path.at(0.2), np.array([0.01, -0.02, 0.005, 0.1, -0.2, 0.15])
    pose, twist = displaced(wanted.pose, shift), wanted.twist + 0.1
    turn = Rotation.from_matrix(wanted.pose[:3, :3] @ pose[:3, :3].T).as_rotvec()
    error = np.r_[wanted.pose[:3, 3] - pose[:3, 3], turn]
    command = wanted.acceleration + kd * (wanted.twist - twist) + kp * error
    force = controller(0.2, measured(model, pose, twist))
    exact = model.inverse_dynamics(pose, twist, command)
    assert np.abs(force - exact).max() < 1e-11 * np.abs(exact).max()


@pytest.mark.parametrize("controller", [ComputedTorque, JointComputedTorque])
def test_more_actuators_than_degrees_of_dof_share_the_least_forces(
    model_of: ModelOf, controller: type[ComputedTorque] | type[JointComputedTorque]
) -> None:
    """On the wanted motion: J^T f is what the motion needs, and f has no internal part, which J^T does not see."""
    model = model_of("planar-4-rrr")
    path = Published(name="planar-4-rrr-square").for_model(model)
    law, at = controller(model, path, friction=False), path.at(0.3)
    now = measured(model, at.pose, at.twist)
    force = law(0.3, now) if isinstance(law, ComputedTorque) else law.step(law.start(0.3, now), 0.3, now)[0]
    across = model.jacobian(at.pose).T  # generalized forces from the four actuators
    coordinates = np.linalg.pinv(basis(model.robot)) @ at.acceleration
    need = model.mass_matrix(at.pose) @ coordinates + model.bias(at.pose, at.twist, friction=False)
    assert across.shape == (3, 4)
    assert np.abs(force - np.linalg.pinv(across) @ need).max() < 1e-9 * np.abs(force).max()


@pytest.mark.parametrize("controller", [ComputedTorque, JointComputedTorque])
def test_encoders_suffice_for_the_same_force_on_the_path(
    model_of: ModelOf, controller: type[ComputedTorque] | type[JointComputedTorque]
) -> None:
    """On the wanted motion both give the force of inverse dynamics, one of them from q and qdot alone."""
    model, path = model_of("kim-ryu"), Published(name="kim-ryu-circle")
    law, at = controller(model, path), path.at(0.3)
    seen = measured(model, at.pose, at.twist)
    if isinstance(law, JointComputedTorque):
        blind = seen._replace(pose=np.full((4, 4), np.nan), twist=np.full(6, np.nan))
        force = np.asarray(law.step(law.start(0.3, blind), 0.3, blind)[0])
    else:
        force = law(0.3, seen)
    exact = model.inverse_dynamics(at.pose, at.twist, at.acceleration)
    assert np.abs(force - exact).max() < 1e-9 * np.abs(exact).max()


def test_error_decays_as_its_equation_says(model_of: ModelOf) -> None:
    """With the exact model e'' + kd e' + kp e = 0: a critically damped decay e0 (1 + w t) exp(-w t)."""
    model, w = model_of("lopes"), 12.0
    start = displaced(model.robot.home.matrix, np.array([0.05, -0.03, 0.08, 0.0, 0.0, 0.2]))
    controller = ComputedTorque(model, rest(model), w**2, 2 * w)
    result = simulate(model, controller, duration=0.5, pose=start, rtol=1e-11, atol=1e-13)
    t = result.time.values[:, None]
    first = result.error.values[0]
    assert np.abs(first).max() > 0.1
    # the rotation is about one axis, so its vector obeys the same equation
    assert np.abs(result.error.values - (1 + w * t) * np.exp(-w * t) * first).max() < 1e-9


@pytest.mark.long
def test_joint_computed_torque_decays_in_the_joints(model_of: ModelOf) -> None:
    model, w = model_of("lopes"), 12.0
    home = model.robot.home.matrix
    start = displaced(home, np.array([0.05, -0.03, 0.08, 0.1, 0.05, 0.2]))
    controller = JointComputedTorque(model, rest(model), w**2, 2 * w, guess=start)
    result = simulate(model, controller, duration=0.4, pose=start, rate=4000, step=2.5e-4)
    t = result.time.values[:, None]
    q = result.q.values - model.inverse_kinematics(home)
    # forces held for 0.25 ms lag by half of that: relative 1e-3
    assert np.abs(q - (1 + w * t) * np.exp(-w * t) * q[0]).max() < 3e-3 * np.abs(q[0]).max()


@pytest.mark.parametrize("velocity", ["measured", "differences"])
def test_joint_computed_torque_tracks(model_of: ModelOf, velocity: str) -> None:
    model = model_of("pedrammehr")
    controller = JointComputedTorque(model, Published(name="pedrammehr-path-3"), velocity=velocity)  # type: ignore[arg-type]
    result = simulate(model, controller, duration=0.6, rate=1000)
    assert result.attrs["ended"] == "duration reached"
    assert np.abs(result.error).max() < 5e-4


def test_joint_pd_holds_exactly_and_follows(model_of: ModelOf) -> None:
    model = model_of("lopes")
    kp, kd = sampled_gains(model, model.robot.home.matrix, 1000.0)
    still = simulate(model, JointPD(model, rest(model), kp, kd), duration=0.2, rate=1000)
    assert np.abs(still.error).max() < 1e-12
    path = Published(name="lopes-there-and-back")
    moving = simulate(model, JointPD(model, path, kp, kd), duration=path.duration, rate=1000)
    # what gravity compensation leaves over is carried by an error of inertia force / kp
    inertia = np.abs(moving.force.values - still.force.values[0]).max()
    assert np.abs(moving.error).max() < 3 * inertia / kp
    falling = simulate(model, JointPD(model, rest(model), kp, kd, gravity=False), duration=0.2, rate=1000)
    assert np.abs(falling.error).max() > 1e-5


def test_lower_mobility(model_of: ModelOf) -> None:
    """Controllers and simulation of a robot of three degrees of freedom stay in them."""
    model = model_of("staicu")
    motion = Published(name="staicu-path").for_model(model)
    for law in (ComputedTorque(model, motion), JointComputedTorque(model, motion)):
        result = simulate(model, law, duration=0.5, rate=1000)
        assert np.abs(result.error).max() < 5e-4
        x = model.coordinates(result.pose.values)
        assert np.abs(model.motion(x).pose - result.pose.values).max() < 1e-12


def test_reference_table_is_exact_and_rests_after_its_end() -> None:
    path = Published(name="pedrammehr-path-3")
    reference = Reference(path, 1000.0)
    for time in (0.0, 0.123, 0.1234567, 0.6):
        for got, wanted in zip(reference.at(time)[:3], path.at(time)[1:], strict=True):
            assert np.array_equal(got, wanted)
    after = reference.at(0.7)
    assert np.array_equal(after.pose, path.at(0.6).pose)
    assert not after.twist.any()
    assert not after.acceleration.any()
    times = np.array([0.0, 0.1234567, 0.6, 0.7])
    for k, part in enumerate(reference.sampled(times)[1:]):
        assert np.array_equal(part, [reference.at(t)[k] for t in times.tolist()])
    # 0.29 s at 100/s are 28.999999999999996 samples: the end is in the table all the same
    shorter = Reference(Published(name="pedrammehr-path-3", pace=0.6 / 0.29), 100.0)
    assert shorter.trajectory.duration * 100.0 < 29
    assert shorter.times[-1] == shorter.trajectory.duration


# -- no nonsense -----------------------------------------------------------------------------------------------------


def joint_force(law: JointComputedTorque, time: float, seen: Measurement) -> Array:
    return np.asarray(law.step(law.start(time, seen), time, seen)[0])


def test_no_force_at_a_singular_pose(model: pp.Model) -> None:
    """Forces are not determined there: the kernel's number (up to 1e19 N) is no command."""
    pose, _ = singular_pose(model)
    twist = 0.1 * basis(model.robot)[:, 0]
    with refused(StateError, "inverse_dynamics", code="singular") as caught:
        ComputedTorque(model, rest(model))(0.3, measured(model, pose, twist))
    assert caught.value.time == 0.3
    with refused(StateError, code=("not_converged", "singular")) as caught:
        joint_force(JointComputedTorque(model, rest(model), guess=pose), 0.3, measured(model, pose, twist))
    assert caught.value.time == 0.3


def test_no_force_out_of_reach_names_the_leg(model_of: ModelOf) -> None:
    model = model_of("lopes")
    pose = displaced(model.robot.home.matrix, np.array([0.9, 0.0, 0.0, 0.0, 0.0, 0.0]))
    with refused(StateError, code="leg"):
        ComputedTorque(model, rest(model))(0.0, Measurement(NONE, NONE, pose, np.zeros(6), NONE, NONE))


@pytest.mark.long
def test_no_force_from_friction_that_does_not_converge(model_of: ModelOf) -> None:
    """Friction coefficients of metres: loads grow without end."""
    data = model_of("kim-ryu").robot.model_dump()
    for leg in data["legs"]:
        leg["spherical_friction"]["coulomb"] = leg["universal_friction"]["coulomb"] = 3.0
    model = pp.Model(pp.Robot.model_validate(data))
    at = easy(model, 1, seed=25).at(0)
    seen = measured(model, at.pose, at.twist)
    with refused(StateError, code="friction"):
        ComputedTorque(model, rest(model))(0.0, seen)
    with refused(StateError, code="friction"):
        joint_force(JointComputedTorque(model, rest(model), guess=at.pose), 0.0, seen)
    assert np.isfinite(ComputedTorque(model, rest(model), friction=False)(0.0, seen)).all()
    with refused(SimulationError, code="friction", time=0.0):
        simulate(model, np.zeros(6), duration=0.1, twist=at.twist, rate=1000)


def test_no_force_of_a_flexible_robot_names_the_leg() -> None:
    """The third leg lies along the axis of its universal joint."""
    model = pp.Model(pp.load("long").on_modes(hexagon_modes(2)))
    pose, leg = model.robot.home.matrix.copy(), model.robot.legs[2]
    at, axis, arm = (np.array(getattr(leg, name)) for name in ("base", "axis", "platform"))
    pose[:3, 3] = at + 0.8 * axis - pose[:3, :3] @ arm
    still, elastic = np.zeros(6), np.zeros(model.modes.count)
    law = ComputedTorque(model, Reference(Poses.through([pose, pose], [0.0, 1.0])))
    with refused(StateError, "inverse_dynamics leg3", code="leg"):
        law(0.0, Measurement(NONE, NONE, pose, still, elastic, elastic))


def test_encoders_do_not_measure_a_flexible_platform() -> None:
    model = pp.Model(pp.load("long").on_modes(hexagon_modes(2)))
    for make in (JointComputedTorque, lambda m, r: JointPD(m, r, kp=1e5, kd=1e3)):
        with refused(InputError, "long", code="flexible"):
            make(model, rest(model))


def test_a_simulation_ends_with_time_and_leg_where_its_controller_has_no_force(model_of: ModelOf) -> None:
    """A sensor that is 0.9 m off from 10 ms on."""
    model = model_of("lopes")
    law = ComputedTorque(model, rest(model))
    off = np.array([0.9, 0.0, 0.0, 0.0, 0.0, 0.0])

    def misled(time: float, seen: Measurement) -> Array:
        return law(time, seen if time < 0.01 else seen._replace(pose=displaced(seen.pose, off)))

    with refused(SimulationError, "force", code="leg", time=0.01) as caught:
        simulate(model, misled, duration=0.1, rate=1000)
    assert caught.value.time == 0.01
    assert caught.value.result is not None
    assert len(caught.value.result.time) == 11


# -- the registry ----------------------------------------------------------------------------------------------------


def test_every_registered_controller_follows(model_of: ModelOf) -> None:
    path, model = Published(name="lopes-there-and-back"), model_of("lopes")
    for name, kind in CONTROLLERS.items():
        if kind.elastic:
            with refused(InputError, name, code="rigid"):
                controller(name, model, path)
            continue
        result = simulate(model, controller(name, model, path), duration=0.05, rate=1000)
        assert result.attrs["ended"] == "duration reached"
        assert np.abs(result.error).max() < 1e-3
    assert {default_controller(False), default_controller(True)} <= set(CONTROLLERS)
    with refused(UnknownNameError, near="joint-pd"):
        controller("joint-pid", model, path)


def test_springs_force_is_the_slope_of_their_energy() -> None:
    springs = Springs([1.0, 2.0, 3.0], rest=[0.1, 0.2, 0.3], preload=[5.0, -1.0, 0.5])
    q, h = np.array([0.4, 0.1, 0.7]), 1e-4
    seen = Measurement(q, np.zeros(3), np.eye(4), np.zeros(6), NONE, NONE)
    slope = [(springs.energy(q + d) - springs.energy(q - d)) / (2 * h) for d in h * np.eye(3)]
    # central differences of a quadratic are exact but for rounding
    assert np.allclose(springs(0.0, seen), -np.array(slope), rtol=1e-10, atol=0)


def test_bad_arguments(model_of: ModelOf) -> None:
    model, path = model_of("pedrammehr"), Published(name="pedrammehr-path-3")
    with refused(InputError, "kp 6 2"):
        ComputedTorque(model, path, kp=[1.0, 2.0])
    with refused(InputError, "kd 0"):
        ComputedTorque(model, path, kd=-1.0)
    with refused(InputError, "velocity measured differences"):
        JointComputedTorque(model, path, velocity="guessed")  # type: ignore[arg-type]
    with refused(InputError, "rate"):
        Reference(path, 0.0)
    with refused(InputError, "rest"):
        Springs(1.0, rest=[[1.0]])
    with refused(InputError, "preload nan"):
        Springs(1.0, rest=[1.0, 2.0], preload=np.nan)
    with refused(InputError, "preload 2"):
        Springs(1.0, rest=[1.0, 2.0], preload=[1.0, 2.0, 3.0])
    with refused(InputError, "legs 0"):
        scaled_masses(model.robot, legs=0.0)


# -- the examples ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_example_tracking(tmp_path: Path) -> None:
    """Exact model and continuous control: rounding. Sampled: micrometres. The error grows with that of the mass."""
    numbers = example("simulation_tracking").main(tmp_path)
    assert numbers["path 2, exact"] < 1e-12
    assert numbers["path 3, exact"] < 1e-12
    for path in (2, 3):
        errors = [numbers[f"path {path}, 1 kHz, mass {wrong:+.0%}"] for wrong in (0.0, 0.05, 0.1, 0.2, 0.4)]
        assert errors[0] < 1e-4
        assert (np.diff(errors) > 0).all()
        assert 5e-4 < errors[-1] < 5e-3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "tracking-against-mass.png",
        "tracking-exact.png",
        "tracking-forces.png",
        "tracking-mismatch.png",
    ]


@pytest.mark.long
def test_example_friction(tmp_path: Path) -> None:
    numbers = example("simulation_friction").main(tmp_path)
    assert numbers["compensated"] < 5e-5
    assert numbers["not compensated"] > 50 * numbers["compensated"]
    assert numbers["reversals"] == 12  # six sliders, twice in a turn
    # fixed steps cross a jump of friction now and then
    assert numbers["energy residual [J]"] < 1e-6 * numbers["lost [J]"]


@pytest.mark.long
def test_example_flexible(tmp_path: Path) -> None:
    numbers = example("simulation_flexible").main(tmp_path)
    assert numbers["elastic state known: largest error"] < 5e-5
    assert numbers["elastic state ignored: largest error"] > 1e-3
    assert numbers["elastic state ignored: vibration"] > 10 * numbers["elastic state known: vibration"]
    assert numbers["stiff plate: lowest frequency [Hz]"] > 0.5
    assert np.isnan(numbers["published plate: lowest frequency [Hz]"])
