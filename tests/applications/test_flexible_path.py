"""A flexible robot along a motion of its frame: against another integrator, the rigid limit, and what energy says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polypod as pp
from polypod.description import Modes, Plate, Robot
from polypod.errors import InputError, StateError, UnstableBendingError
from polypod.motion import Motion, Poses, Task, Trajectory, make_task
from polypod.plates import plate_modes
from polypod.results import study
from polypod.simulation import follow
from support.compare import assert_close
from support.refusals import refused
from support.robots.hexagon import hexagon_modes
from support.states import displaced
from test_flexible_friction import rough


@pytest.fixture(scope="module")
def model() -> pp.Model:
    return pp.Model(pp.load("long").on_modes(hexagon_modes(3, damping_ratio=0.02)))


def there_and_back(robot: Robot, size: float = 0.05, duration: float = 0.5) -> Trajectory:
    home = robot.home.matrix
    away = displaced(home, size * np.array([1.0, -0.5, 0.8, 1.0, -1.0, 0.7]))
    return Poses.through([home, away, home], [0.0, duration / 2, duration])


def pushing(motion: Motion) -> np.ndarray:
    """A force and a moment that come and go."""
    return np.outer(np.sin(30 * motion.time), [50.0, -30.0, 80.0, 3.0, -2.0, 4.0])


def integrated(model: pp.Model, trajectory: Trajectory, times: np.ndarray, friction: bool, load: bool) -> np.ndarray:
    """Elastic coordinates and rates by DOP853 at 1e-10 of the public inverse dynamics."""
    n = model.modes.count

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        at = trajectory.at(np.array([t]))
        push = pushing(at)[0] if load else None
        state = at.pose[0], at.twist[0], at.acceleration[0], push, friction
        answer = model.inverse_dynamics(*state, elastic=y[:n], elastic_rate=y[n:], full_output=True)
        return np.concatenate([y[n:], answer.elastic_acceleration])

    first = trajectory.at(times[:1])
    start = model.steady_shape(first.pose[0], first.twist[0], first.acceleration[0]).elastic
    begin = np.concatenate([start, np.zeros(n)])
    return solve_ivp(slope, times[[0, -1]], begin, "DOP853", times, rtol=1e-10, atol=1e-13, max_step=1e-3).y.T


@pytest.mark.parametrize("load", [pytest.param(False, marks=pytest.mark.long), True])
def test_against_another_integrator(model: pp.Model, load: bool) -> None:
    trajectory = there_and_back(model.robot, duration=0.25)
    times = trajectory.even_times(11)
    found = follow(model, trajectory, times, pushing if load else None, friction=False)
    wanted = integrated(model, trajectory, times, False, load)
    # steps of 0.4/omega; a quarter of the step, 4^4 less
    assert_close(found.elastic[None], wanted[None, :, :3], 1e-4)
    assert_close(found.elastic_rate[None], wanted[None, :, 3:], 1e-3)
    finer = follow(model, trajectory, times, pushing if load else None, friction=False, step=found.step / 4)
    assert_close(finer.elastic[None], wanted[None, :, :3], 1e-6)
    wrench = pushing(found.motion) if load else None
    at = found.motion.pose, found.motion.twist, found.motion.acceleration, wrench, False
    again = model.inverse_dynamics(*at, elastic=found.elastic, elastic_rate=found.elastic_rate, full_output=True)
    np.testing.assert_array_equal(found.force, again.force)


@pytest.mark.long
def test_dry_friction_along_a_path() -> None:
    """kim-ryu's published friction, iterated within every stage."""
    robot = rough("kim-ryu")
    points = np.array([leg.platform for leg in robot.legs])
    modes = _plate(points)
    model = pp.Model(robot.on_modes(modes), friction_width=1e-2)
    trajectory = there_and_back(robot, 0.02)
    times = trajectory.even_times(11)
    found = follow(model, trajectory, times)
    assert_close(found.elastic[None], integrated(model, trajectory, times, True, False)[None, :, : modes.count], 1e-5)
    without = follow(model, trajectory, times, friction=False)
    assert np.abs(found.force - without.force).max() > 1e-2 * np.abs(found.force).max()


def _plate(points: np.ndarray) -> Modes:
    reach = 1.2 * np.abs(points[:, :2]).max()
    outline = reach * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    return plate_modes(Plate(outline, 0.005, 7e10, 0.3, 2700.0), points, 3, damping_ratio=0.05)


def test_steady_shape_does_not_accelerate(model: pp.Model) -> None:
    rng = np.random.default_rng(0)
    pose, twist, acceleration = displaced(model.robot.home.matrix, 0.02 * rng.normal(size=6)), *rng.normal(size=(2, 6))
    shape, force = model.steady_shape(pose, twist, acceleration)
    answer = model.inverse_dynamics(pose, twist, acceleration, friction=False, elastic=shape, full_output=True)
    assert_close(answer.force[None], force[None], 1e-10)
    # relative to what the springs alone would give
    assert np.abs(answer.elastic_acceleration).max() < 1e-9 * np.abs(model.modes.stiffness * shape).max()


def test_actuator_rates_are_those_of_the_coordinates(model: pp.Model) -> None:
    """qdot and qddot by differences of q along a path with its elastic coordinates."""
    trajectory = there_and_back(model.robot)
    h = 1e-4
    times = 0.07 + h * np.arange(-2, 3)
    times = np.concatenate([[0.0], times])
    path = follow(model, trajectory, times, friction=False, step=2e-5)
    q = model.inverse_kinematics(path.motion.pose, elastic=path.elastic)[1:]
    pose, twist, acceleration = (part[3] for part in path.motion[1:])
    shape = {"elastic": path.elastic[3], "elastic_rate": path.elastic_rate[3]}
    qdot = model.rates(pose, twist, **shape)
    qddot = model.accelerations(pose, twist, acceleration, **shape, elastic_acceleration=path.elastic_acceleration[3])
    # differences of fourth order at 1e-4 s
    assert_close(qdot[None], ((q[0] - 8 * q[1] + 8 * q[3] - q[4]) / (12 * h))[None], 1e-7)
    second = (-q[0] + 16 * q[1] - 30 * q[2] + 16 * q[3] - q[4]) / (12 * h**2)
    assert_close(qddot[None], second[None], 1e-4)


def test_a_shape_that_runs_away_is_reported_with_its_time() -> None:
    """A plate a tenth as thick is too soft for the robot's weight."""
    start = hexagon_modes(3, damping_ratio=0.02)
    soft = pp.Model(pp.load("long").on_modes(start.with_stiffness(0.02 * start.stiffness)))
    trajectory = there_and_back(soft.robot, duration=2.0)
    with refused(StateError, code="too_flexible") as caught:
        follow(soft, trajectory, trajectory.even_times(101), friction=False, elastic=np.array([0.01, 0.0, 0.0]))
    assert 0 < caught.value.time < 2.0


@pytest.mark.long
def test_dry_friction_at_the_usual_width() -> None:
    """Forces settle as the step is halved, and bending takes a small part of them; too long a step is refused."""
    robot = rough("kim-ryu")
    model = pp.Model(robot.on_modes(_plate(np.array([leg.platform for leg in robot.legs]))))
    trajectory = there_and_back(robot, 0.02)
    times = trajectory.even_times(41)
    found = follow(model, trajectory, times)
    finer = follow(model, trajectory, times, step=found.step / 2)
    # at rest, in the middle and at both ends, all joints turn about within the law's width
    assert_close(found.force[None], finer.force[None], 1e-4)
    rigid = model.rigid.inverse_dynamics(found.motion.pose, found.motion.twist, found.motion.acceleration)
    assert np.abs(found.force - rigid).max() < 0.02 * np.abs(rigid).max()
    narrow = pp.Model(model.robot, friction_width=1e-6)
    with refused(InputError, "times friction_width"):
        follow(narrow, trajectory, times)
    with refused(InputError, "step 0.0001"):
        follow(narrow, trajectory, times, step=1e-4)
    with refused(InputError, "friction_width"):
        follow(pp.Model(model.robot, friction_width=0.0), trajectory, times)


@pytest.mark.long
def test_steady_shape_with_friction_does_not_accelerate() -> None:
    robot = rough("kim-ryu")
    model = pp.Model(robot.on_modes(_plate(np.array([leg.platform for leg in robot.legs]))))
    rng = np.random.default_rng(3)
    pose = displaced(robot.home.matrix, 0.01 * rng.normal(size=6))
    twist, acceleration, wrench = 0.3 * rng.normal(size=6), rng.normal(size=6), rng.normal(size=6)
    shape, force = model.steady_shape(pose, twist, acceleration, wrench)
    answer = model.inverse_dynamics(pose, twist, acceleration, wrench, elastic=shape, full_output=True)
    assert_close(answer.force[None], force[None], 1e-9)
    assert np.abs(answer.elastic_acceleration).max() < 1e-8 * np.abs(model.modes.stiffness * shape).max()
    assert np.abs(force - model.steady_shape(pose, twist, acceleration, wrench, friction=False).force).max() > 0.1


@pytest.mark.long
def test_a_frame_that_cannot_follow_exactly() -> None:
    """pedrammehr's heavy pods leave a mode little mass of its own, however stiff the plate."""
    robot = pp.load("pedrammehr")
    model = pp.Model(robot.on_modes(_plate(np.array([leg.platform for leg in robot.legs]))))
    trajectory = there_and_back(robot, 0.01)
    times = trajectory.even_times(21)
    # by hand: the inverse model's elastic equations about the shape at rest
    home, still = robot.home.matrix, np.zeros(6)
    shape = model.static_equilibrium(home).elastic
    step = 1e-6
    rows = [
        (a - b) / (2 * step)
        for a, b in (
            (
                model.inverse_dynamics(home, still, still, elastic=shape + s * e, full_output=True).elastic_acceleration
                for s in (step, -step)
            )
            for e in np.eye(3)
        )
    ]
    growth = np.sqrt(np.linalg.eigvals(np.array(rows).T).astype(complex)).real.max()
    assert growth > 100  # of q'' = G q: flutter, or a stiffness of the wrong sign
    with refused(UnstableBendingError, "vibration") as caught:
        follow(model, trajectory, times)
    assert caught.value.time is not None
    path = follow(model, trajectory, times, vibration=False)
    answer = model.inverse_dynamics(*path.motion[1:], elastic=path.elastic, full_output=True)
    assert_close(path.force[None], answer.force[None], 1e-8)
    done = study(model, Task.of("nod", trajectory, 50.0), certify=False)
    assert "is unstable at" in done.attrs["vibration"]
    assert_close(done.force_part.values.sum(axis=0)[None], done.force.values[None], 1e-12)
    with pytest.raises(UnstableBendingError):
        study(model, Task.of("nod", trajectory, 50.0), vibration=True)


@pytest.mark.long
def test_without_vibration_as_asked(model: pp.Model) -> None:
    """A slow motion bends the platform as steadily as one without vibration."""
    trajectory = there_and_back(model.robot, 0.02, duration=4.0)
    times = trajectory.even_times(41)
    shaking, steady = (follow(model, trajectory, times, vibration=v) for v in (True, False))
    assert_close(steady.elastic[None], shaking.elastic[None], 5e-3)
    assert steady.step == 0.0
    done = study(model, Task.of("slow", trajectory, 10.0), vibration=False, certify=False)
    assert done.attrs["vibration"] == "no, as asked for"


def test_a_mode_that_the_load_does_not_bend() -> None:
    """Without weight nothing bends: zero but for rounding is an answer."""
    robot = pp.load("lopes").model_copy(update={"gravity": (0.0, 0.0, 0.0)})
    points = np.array([leg.platform for leg in robot.legs])
    model = pp.Model(robot.on_modes(_plate(points)))
    rest = model.static_equilibrium(robot.home.matrix)
    assert np.abs(rest.elastic).max() < 1e-12


def test_bad_arguments(model: pp.Model) -> None:
    trajectory = there_and_back(model.robot)
    with refused(InputError, "times"):
        follow(model, trajectory, [0.1])
    with refused(InputError, "step 0"):
        follow(model, trajectory, [0.0, 0.1], step=0.0)
    with refused(InputError, "elastic (3,)"):
        follow(model, trajectory, [0.0, 0.1], elastic=[0.0])
    with refused(InputError, "times 1e+08"):
        follow(model, trajectory, [0.0, 0.1], step=1e-9)
    with refused(InputError, "step 0.01"):
        follow(model, trajectory, [0.0, 0.1], step=0.01)
    with refused(InputError, "times"):
        follow(model, trajectory, "abc")
    with refused(InputError, "trajectory polypod.motion.Trajectory NoneType"):
        follow(model, None, [0.0, 0.1])  # type: ignore[arg-type]
    with refused(InputError, "wrench (2, 6)"):
        follow(model, trajectory, [0.0, 0.1], lambda motion: np.zeros((3, 6)))


def test_long_intervals_are_cut(model: pp.Model) -> None:
    """One interval of more steps than a block gives what many short ones give."""
    trajectory = there_and_back(model.robot)
    one = follow(model, trajectory, [0.0, 0.3], friction=False, step=2.5e-5)
    many = follow(model, trajectory, np.linspace(0.0, 0.3, 13), friction=False, step=2.5e-5)
    assert_close(one.elastic[-1:], many.elastic[-1:], 1e-9)


# --- studies -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_study_of_a_bending_robot(model: pp.Model) -> None:
    """Its parts add up, its power is that of the bending robot, and a stiff plate's is the rigid study."""
    task = Task.of("there and back", there_and_back(model.robot, duration=1.0), 200.0)
    done = study(model, task, certify=False)
    assert_close(done.force_part.values.sum(axis=0)[None], done.force.values[None], 1e-12)
    assert set(done.part.values) == {"inertia", "Coriolis", "gravity", "friction", "external", "bending"}
    assert done.deflection.shape == (len(task.time), 6, 3)
    # work of the actuators = change of all energies + what damping takes
    shape = {"elastic": done.elastic.values, "elastic_rate": done.elastic_rate.values}
    energy = np.sum(model.energy(task.motion.pose, task.motion.twist, **shape), axis=0)
    damped = (model.modes.generalized_damping * done.elastic_rate.values**2).sum(axis=1)
    balance = np.trapezoid(done.power.values.sum(axis=1) - damped, task.time) - (energy[-1] - energy[0])
    # trapezoids at 200 samples per second of powers that vibrate at 30 Hz
    assert abs(balance) < 2e-3 * np.trapezoid(np.abs(done.power.values).sum(axis=1), task.time)
    stiff = pp.Model(model.robot.on_modes(model.modes.with_stiffness(1e4 * model.modes.stiffness)))
    near, rigid = (study(m, task, certify=False) for m in (stiff, model.rigid))
    # a jerk that jumps leaves a vibration of jerk/omega^3, and forces of stiffness times that: as 1/omega
    assert_close(near.force.values[None], rigid.force.values[None], 1e-3)
    for joint in rigid.joint.values:
        one, other = (done.reaction_force.sel(joint=joint).values for done in (near, rigid))
        assert_close(one[None], other[None], 2e-3)


def test_task_without_a_trajectory_is_refused(model: pp.Model) -> None:
    task = make_task(model.rigid, "around-home", rate=50.0)
    with refused(InputError, code="no_trajectory"):
        study(model, Task("samples", task.motion))
